/*
 * Release after the device was reset: an error both times, the card is whole,
 * pinned memory lives on.
 *
 * cases: C17
 */
#define _GNU_SOURCE
#include "expect.h"

int main(void)
{
    void *device = NULL, *host = NULL, *fresh = NULL;
    unsigned char bytes[64];
    size_t all;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    all = device_free();
    OK(aclrtMalloc(&device, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, MIB));
    memset(host, 0x3c, MIB);
    OK(aclrtResetDevice(0));

    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device));
    SAME(0x3c, ((unsigned char *)host)[MIB - 1]);
    OK(aclrtSetDevice(0));
    SAME(all, device_free());
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(bytes, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(all, device_free());

    /* The place may be used again, by a new block. */
    OK(aclrtMalloc(&fresh, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(fresh, MIB, host, MIB, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(bytes, 64, (char *)fresh + MIB - 64, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(0x3c, bytes[63]);
    OK(aclrtFree(fresh));
    OK(aclrtFreeHost(host));
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
