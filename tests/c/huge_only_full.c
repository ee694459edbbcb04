/*
 * HUGE_ONLY when the huge pages are used up: a refusal with the numbers and the
 * way out, and nothing changed by it.
 *
 * cases: C01
 * run: CANNERY_HBM_BYTES=72M CANNERY_HUGE_BYTES=8M
 */
#define _GNU_SOURCE
#include "expect.h"

static void pool(aclrtMemAttr attribute, size_t free_expected, size_t total_expected)
{
    size_t free_bytes = 0, total = 0;

    OK(aclrtGetMemInfo(attribute, &free_bytes, &total));
    SAME(free_expected, free_bytes);
    SAME(total_expected, total);
}

int main(void)
{
    static const char *const words[] = {"207001", "3145728", "4194304", "2097152", "8388608", "67108864",
                                        "HUGE_FIRST", NULL};
    void *a = NULL, *b = (void *)0x77, *c = NULL;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    pool(ACL_HBM_MEM_HUGE, 8 * MIB, 8 * MIB);
    OK(aclrtMalloc(&a, 5 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
    pool(ACL_HBM_MEM_HUGE, 2 * MIB, 8 * MIB);

    HOLDS(aclrtMalloc(&b, 3 * MIB, ACL_MEM_MALLOC_HUGE_ONLY) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_words(words, __FILE__, __LINE__);
    HOLDS(b == (void *)0x77);
    pool(ACL_HBM_MEM_HUGE, 2 * MIB, 8 * MIB);

    OK(aclrtMalloc(&c, 3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    pool(ACL_HBM_MEM_HUGE, 2 * MIB, 8 * MIB);
    pool(ACL_HBM_MEM_NORMAL, 61 * MIB - 64, 64 * MIB);

    OK(aclrtFree(a));
    OK(aclrtMalloc(&b, 3 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
    pool(ACL_HBM_MEM_HUGE, 4 * MIB, 8 * MIB);
    OK(aclrtFree(b));
    OK(aclrtFree(c));
    pool(ACL_HBM_MEM, 72 * MIB, 72 * MIB);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
