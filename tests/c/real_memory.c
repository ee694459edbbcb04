/*
 * Real memory, not a stub: large blocks that cost nothing until they are
 * touched, small ones apart from each other, bytes that arrive.
 *
 * cases: C38
 * run: CANNERY_HBM_BYTES=8G
 */
#define _GNU_SOURCE
#include "expect.h"

int main(void)
{
    void *large = NULL, *a = NULL, *b = NULL, *c = NULL;
    unsigned char bytes[4096], back[4096];
    size_t all, before;
    long resident;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    all = device_free();
    SAME(8 * GIB, all);
    resident = status_kib("VmRSS");
    OK(aclrtMalloc(&large, 3 * GIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset((char *)large + 3 * GIB - 1, 1, 0xab, 1));
    OK(aclrtMemcpy(back, 1, (char *)large + 3 * GIB - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(0xab, back[0]);
    /* One huge page may have come with the byte. */
    HOLDS(status_kib("VmRSS") - resident < 6 * 1024);

    before = device_free();
    OK(aclrtMalloc(&a, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&b, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&c, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    HOLDS((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0 && (uintptr_t)c % 64 == 0);
    HOLDS(llabs((char *)a - (char *)b) >= 4128 && llabs((char *)b - (char *)c) >= 4128);
    SAME(before - 3 * 4160, device_free());

    fill_bytes(bytes, sizeof bytes, 38);
    OK(aclrtMemcpy(b, 4096, bytes, 4096, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemset(a, 4096, 0xff, 4096));
    OK(aclrtMemcpy(c, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemset(b, 4096, 0xff, 4096));
    OK(aclrtMemcpy(back, 4096, c, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(bytes, back, sizeof bytes) == 0);

    OK(aclrtFree(a));
    OK(aclrtFree(b));
    OK(aclrtFree(c));
    OK(aclrtFree(large));
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
