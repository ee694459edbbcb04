/*
 * A release that failed must not forget the block.
 *
 * cases: C19
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "expect.h"

static void *device;

static void *work(void *argument)
{
    CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtFreeWithDevSync(device));
    OK(aclrtSetDevice(0));
    HOLDS(device_free() == *(size_t *)argument);
    OK(aclrtFreeWithDevSync(device));
    OK(aclrtResetDevice(0));
    return NULL;
}

int main(void)
{
    pthread_t worker;
    size_t all, rest;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    all = device_free();
    OK(aclrtMalloc(&device, MIB, ACL_MEM_MALLOC_NORMAL_ONLY));
    rest = device_free();
    SAME(all - MIB - 64, rest);
    HOLDS(pthread_create(&worker, NULL, work, &rest) == 0);
    HOLDS(pthread_join(worker, NULL) == 0);
    SAME(all, device_free());
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device));
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
