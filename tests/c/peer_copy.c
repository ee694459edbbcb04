/*
 * Copies to another card: refused until access is switched on, for the current
 * card to the other one, or in both directions for what is queued, where the
 * product asks for it.
 *
 * cases: C47
 * run: CANNERY_DEVICES=2
 * run: CANNERY_DEVICES=2 CANNERY_PROFILE=310P
 */
#define _GNU_SOURCE
#include "expect.h"

int main(void)
{
    void *a = NULL, *b = NULL;
    unsigned char bytes[4096], back[4096];
    int can = 0;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&a, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    fill_bytes(bytes, sizeof bytes, 47);
    OK(aclrtMemcpy(a, 4096, bytes, 4096, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtSetDevice(1));
    OK(aclrtMalloc(&b, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(b, 4096, 0, 4096));
    OK(aclrtDeviceCanAccessPeer(&can, 1, 0));
    SAME(1, can);

    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(b, 4096, a, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtDeviceEnablePeerAccess(0, 0));
    /* Twice is once. */
    OK(aclrtDeviceEnablePeerAccess(0, 0));
    OK(aclrtMemcpy(back, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(0, back[0]);
    OK(aclrtMemcpy(b, 4096, a, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemcpy(back, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(bytes, back, sizeof bytes) == 0);
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(b, 4096, a, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, NULL));
    OK(aclrtMemset(b, 4096, 0, 4096));
    OK(aclrtSetDevice(0));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(b, 4096, a, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtDeviceEnablePeerAccess(1, 0));
    OK(aclrtMemcpy(b, 4096, a, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemcpy(back, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(bytes, back, sizeof bytes) == 0);

    OK(aclrtDeviceDisablePeerAccess(1));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceDisablePeerAccess(1));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(a, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtFree(a));
    OK(aclrtFree(b)); /* any current device */
    OK(aclrtResetDevice(0));
    OK(aclrtResetDevice(0));
    OK(aclrtResetDevice(1));
    OK(aclFinalize());
    return 0;
}
