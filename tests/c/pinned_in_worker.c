/*
 * Pinned host memory in a worker thread: the device that main chose does not
 * carry over; release works from any thread.
 *
 * cases: C05
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>

#include "expect.h"

static void *from_main, *from_worker;

static void *work(void *argument)
{
    static const char *const words[] = {"copier", "aclrtSetDevice", NULL};
    void *nothing = (void *)0x77;

    prctl(PR_SET_NAME, "copier");
    HOLDS(aclrtMallocHost(&nothing, MIB) == ACL_ERROR_RT_CONTEXT_NULL);
    expect_words(words, __FILE__, __LINE__);
    HOLDS(nothing == (void *)0x77);
    OK(aclrtSetDevice(0));
    OK(aclrtMallocHost(&from_worker, MIB));
    memset(from_worker, 3, MIB);
    OK(aclrtFreeHost(from_main));
    OK(aclrtResetDevice(0));
    return argument;
}

int main(void)
{
    pthread_t worker;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMallocHost(&from_main, MIB));
    memset(from_main, 1, MIB);
    HOLDS(pthread_create(&worker, NULL, work, NULL) == 0);
    HOLDS(pthread_join(worker, NULL) == 0);
    SAME(3, ((unsigned char *)from_worker)[MIB - 1]);
    OK(aclrtFreeHost(from_worker));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(from_worker));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
