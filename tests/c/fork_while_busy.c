/*
 * Two hundred forks out of a process whose threads allocate and release all the
 * time: no child hangs, whatever a thread held at that moment.
 *
 * cases: C37
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "expect.h"

enum { THREADS = 4, FORKS = 200 };

static volatile int stop;

static void *churn(void *argument)
{
    unsigned seed = (unsigned)(size_t)argument + 1;
    void *blocks[32] = {NULL};
    void *pinned[8] = {NULL};

    OK(aclrtSetDevice(0));
    while (!stop) {
        unsigned at;

        seed = seed * 1103515245u + 12345u;
        at = seed >> 16 & 31;
        if (blocks[at] != NULL) {
            OK(aclrtFree(blocks[at]));
            blocks[at] = NULL;
        } else {
            OK(aclrtMalloc(&blocks[at], (seed >> 8 & 0x3ffff) + 1, ACL_MEM_MALLOC_HUGE_FIRST));
            OK(aclrtMemset(blocks[at], 1, (int)seed, 1));
        }
        if (pinned[at & 7] != NULL) {
            OK(aclrtFreeHost(pinned[at & 7]));
            pinned[at & 7] = NULL;
        } else {
            OK(aclrtMallocHost(&pinned[at & 7], (seed >> 12 & 0xffff) + 1));
        }
        /* A failing call makes a text: that too must not matter. */
        HOLDS(aclrtFree((void *)(size_t)seed) != ACL_SUCCESS);
    }
    return NULL;
}

static void child(int number)
{
    void *block = NULL;

    /* An odd child answers at once; an even one starts afresh and works. */
    alarm(20);
    SAME(507033, aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    HOLDS(aclGetRecentErrMsg() != NULL);
    if (number % 2 == 0) {
        OK(aclInit(NULL));
        OK(aclrtSetDevice(0));
        OK(aclrtMalloc(&block, 3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemset(block, 3 * MIB, 1, 3 * MIB));
        OK(aclrtFree(block));
        OK(aclrtMallocHost(&block, 4096));
        OK(aclrtFreeHost(block));
        OK(aclrtResetDevice(0));
        OK(aclFinalize());
    }
    exit(0);
}

int main(void)
{
    pthread_t threads[THREADS];
    size_t n, all;
    int number;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    all = device_free();
    for (n = 0; n < THREADS; n++) {
        HOLDS(pthread_create(&threads[n], NULL, churn, (void *)n) == 0);
    }
    for (number = 0; number < FORKS; number++) {
        pid_t made = fork();
        int status;

        HOLDS(made >= 0);
        if (made == 0) {
            child(number);
        }
        status = wait_for(made, 30);
        if (status != 0) {
            fprintf(stderr, "child %d ended with status %#x\n", number, status);
            _exit(1);
        }
    }
    stop = 1;
    for (n = 0; n < THREADS; n++) {
        HOLDS(pthread_join(threads[n], NULL) == 0);
    }
    HOLDS(device_free() < all);
    OK(aclrtResetDeviceForce(0));
    OK(aclrtSetDevice(0));
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
