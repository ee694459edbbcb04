/*
 * Memory that is never touched costs nothing: cards full of blocks, pinned
 * memory apart, on a machine that has a fraction of it.
 *
 * run: CANNERY_DEVICES=16
 * run: CANNERY_HBM_BYTES=1T
 * run: CANNERY_PROFILE=950 CANNERY_DEVICES=8
 */
#define _GNU_SOURCE
#include "expect.h"

int main(void)
{
    long before;
    uint32_t devices = 0, device;
    double started = seconds_now();

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    before = status_kib("VmRSS");
    OK(aclrtGetDeviceCount(&devices));
    for (device = 0; device < devices; device++) {
        size_t rest, count = 0;
        void *block = NULL;

        OK(aclrtSetDevice((int)device));
        while (aclrtMalloc(&block, GIB, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) {
            count++;
        }
        (void)aclGetRecentErrMsg();
        rest = device_free();
        HOLDS(rest < 3 * GIB && count >= 60);
        /* The first and the last byte of the last block are there all the same. */
        OK(aclrtMemset(block, GIB, 1, 1));
        OK(aclrtMemset((char *)block + GIB - 1, 1, 1, 1));
    }
    if (status_kib("VmRSS") - before > 100 * 1024) {
        fprintf(stderr, "%ld KiB became resident\n", status_kib("VmRSS") - before);
        return 1;
    }
    HOLDS(seconds_now() - started < 20);
    for (device = 0; device < devices; device++) {
        OK(aclrtResetDeviceForce((int)device));
    }
    OK(aclFinalize());
    return 0;
}
