/*
 * Signals while copies run, and handlers that interrupt allocations: bytes and
 * figures are right, and no call answers with an error because of them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/time.h>

#include "expect.h"

static volatile sig_atomic_t hits;

static void hit(int number)
{
    (void)number;
    hits++;
}

static void *work(void *argument)
{
    unsigned seed = (unsigned)(size_t)argument;
    size_t size = 6 * MIB + seed;
    unsigned char *from = (unsigned char *)malloc(size), *back = (unsigned char *)malloc(size);
    int round;

    HOLDS(from != NULL && back != NULL);
    OK(aclrtSetDevice(0));
    for (round = 0; round < 25; round++) {
        void *device = NULL, *other = NULL, *pinned = NULL;

        fill_bytes(from, size, seed + (unsigned)round);
        OK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMalloc(&other, size, ACL_MEM_MALLOC_NORMAL_ONLY));
        OK(aclrtMallocHost(&pinned, size));
        OK(aclrtMemcpy(device, size, from, size, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclrtMemcpy(other, size, device, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
        OK(aclrtMemcpy(pinned, size, other, size, ACL_MEMCPY_DEVICE_TO_HOST));
        OK(aclrtMemcpy(back, size, pinned, size, ACL_MEMCPY_HOST_TO_HOST));
        HOLDS(memcmp(from, back, size) == 0);
        OK(aclrtFreeHost(pinned));
        OK(aclrtFree(other));
        OK(aclrtFree(device));
    }
    free(from);
    free(back);
    return NULL;
}

int main(void)
{
    struct itimerval every = {{0, 300}, {0, 300}};
    struct sigaction action;
    pthread_t threads[2];
    size_t all, n;

    memset(&action, 0, sizeof action);
    action.sa_handler = hit; /* without SA_RESTART */
    HOLDS(sigaction(SIGALRM, &action, NULL) == 0);
    HOLDS(sigaction(SIGPROF, &action, NULL) == 0);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    all = device_free();
    HOLDS(setitimer(ITIMER_REAL, &every, NULL) == 0);
    HOLDS(setitimer(ITIMER_PROF, &every, NULL) == 0);
    for (n = 0; n < 2; n++) {
        HOLDS(pthread_create(&threads[n], NULL, work, (void *)(n * 1000 + 7)) == 0);
    }
    for (n = 0; n < 2; n++) {
        HOLDS(pthread_join(threads[n], NULL) == 0);
    }
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_REAL, &every, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    HOLDS(hits > 100);
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
