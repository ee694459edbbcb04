/*
 * One byte too far: the requested size, the reserved size, and what lies
 * beyond.
 *
 * cases: C49
 */
#define _GNU_SOURCE
#include "expect.h"

int main(void)
{
    void *base = NULL, *block = NULL, *next = NULL;
    char *d;
    unsigned char host[200], back[200];
    size_t size = 0;

    memset(host, 0x11, sizeof host);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&next, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(next, 100, 0x22, 100));
    d = (char *)block;
    OK(aclrtMemGetAddressRange(d, &base, &size));
    HOLDS(base == block);
    SAME(160, size);

    OK(aclrtMemset(d, 100, 0, 100));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(d, 100, 0, 101));
    OK(aclrtMemset(d, 104, 0, 104));
    OK(aclrtMemset(d, 160, 0, 160));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(d, 161, 0x33, 161));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(d, 50, host, 60, ACL_MEMCPY_HOST_TO_DEVICE));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(d + 90, 10, host, 11, ACL_MEMCPY_HOST_TO_DEVICE));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(d + 90, 200, host, 71, ACL_MEMCPY_HOST_TO_DEVICE));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(back, 200, d + 90, 71, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(d + 90, 70, host, 70, ACL_MEMCPY_HOST_TO_DEVICE));

    /* Lengths that wrap around. */
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(d + 10, SIZE_MAX, 0, SIZE_MAX - 5));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(d + 10, SIZE_MAX, next, SIZE_MAX - 5, ACL_MEMCPY_DEFAULT));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemFlush(d + 10, SIZE_MAX - 5));

    /* The neighbour has seen nothing of it. */
    OK(aclrtMemcpy(back, 200, next, 100, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size = 0; size < 100; size++) {
        SAME(0x22, back[size]);
    }
    OK(aclrtMemcpy(back, 200, d, 160, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(0, back[89]);
    SAME(0x11, back[90]);
    SAME(0x11, back[159]);
    OK(aclrtFree(next));
    OK(aclrtFree(block));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
