/*
 * Threads with small stacks: the start, allocation, release and failing calls
 * with their texts fit in.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "expect.h"

static void *work(void *argument)
{
    void *block = NULL;
    int round;

    OK(aclrtSetDevice(0));
    for (round = 0; round < 200; round++) {
        OK(aclrtMalloc(&block, (size_t)round * 5000 + 1, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemset(block, 1, 1, 1));
        OK(aclrtFree(block));
        OK(aclrtMallocHost(&block, 100));
        OK(aclrtFreeHost(block));
        HOLDS(aclrtFree(block) == ACL_ERROR_RT_PARAM_INVALID);
        HOLDS(aclGetRecentErrMsg() != NULL);
        HOLDS(aclrtMalloc(&block, (size_t)1 << 45, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_MEMORY_ALLOCATION);
        HOLDS(aclGetRecentErrMsg() != NULL);
    }
    OK(aclrtResetDevice(0));
    return argument;
}

static void run(size_t stack)
{
    pthread_attr_t small;
    pthread_t thread;
    int round;

    HOLDS(pthread_attr_init(&small) == 0);
    HOLDS(pthread_attr_setstacksize(&small, stack) == 0);
    for (round = 0; round < 3; round++) {
        HOLDS(pthread_create(&thread, &small, work, NULL) == 0);
        HOLDS(pthread_join(thread, NULL) == 0);
    }
}

int main(void)
{
    /* The first call of all starts everything, here on 64 KiB. */
    run(64 * KIB);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    /* What comes after that needs less. */
    run(16 * KIB);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
