/*
 * Touching more device memory than the machine has: the call is refused with a
 * text while everything else goes on, instead of the system ending the process.
 *
 * run: CANNERY_HBM_BYTES=1T
 * run: CANNERY_HBM_BYTES=1T CANNERY_PROFILE=310P CANNERY_MODE=rc
 * alone: it looks at the memory of the machine
 */
#define _GNU_SOURCE
#include "expect.h"

int main(void)
{
    static const char *const words[] = {"207001", "available", NULL};
    void *large = NULL, *small = NULL, *host = (void *)0x77;
    unsigned char byte = 0;
    long resident;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&large, 300 * GIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&small, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    resident = status_kib("VmRSS");
    HOLDS(aclrtMemset(large, 300 * GIB, 1, 300 * GIB) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_words(words, __FILE__, __LINE__);
    HOLDS(status_kib("VmRSS") - resident < 65536);

    /* Piece by piece it comes to the same, long before the machine is full; not done to the end. */
    OK(aclrtMemset(large, 512 * MIB, 1, 512 * MIB));
    OK(aclrtMemset(small, MIB, 2, MIB));
    OK(aclrtMemcpy(&byte, 1, (char *)small + MIB - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(2, byte);
    HOLDS(aclrtMallocHost(&host, 300 * GIB) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_words(words, __FILE__, __LINE__);
    HOLDS(host == (void *)0x77);
    /* Reading untouched memory brings nothing in either. */
    OK(aclrtMemcpy(&byte, 1, (char *)large + 200 * GIB, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtFree(large));
    OK(aclrtFree(small));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
