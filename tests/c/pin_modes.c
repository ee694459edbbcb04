/*
 * Pinned host memory is really locked, and what happens when the limit forbids
 * it: auto works and says so once, strict refuses with a text, off locks nothing.
 *
 * run: CANNERY_PIN=auto
 * run: CANNERY_PIN=strict
 * run: CANNERY_PIN=off
 * run: CANNERY_PIN=auto CANNERY_LIMITS=lock=64K
 * run: CANNERY_PIN=strict CANNERY_LIMITS=lock=64K
 * run: CANNERY_PIN=strict CANNERY_LIMITS=lock=1M
 * run: CANNERY_PIN=off CANNERY_LIMITS=lock=64K
 */
#define _GNU_SOURCE
#include "expect.h"

int main(void)
{
    static const char *const words[] = {"207001", "limit", "ulimit -l", "CANNERY_PIN=auto", NULL};
    const char *mode = getenv("CANNERY_PIN"), *limits = getenv("CANNERY_LIMITS");
    int strict = strcmp(mode, "strict") == 0, off = strcmp(mode, "off") == 0;
    size_t limit = limits == NULL ? 0 : strstr(limits, "1M") != NULL ? MIB : 64 * KIB;
    void *small = NULL, *large = NULL, *again = NULL;
    long before, with_small, with_large;
    int code;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    before = status_kib("VmLck");
    OK(aclrtMallocHost(&small, 4000));
    memset(small, 1, 4000);
    with_small = status_kib("VmLck");
    HOLDS(off ? with_small == before : with_small >= before + 4);

    code = aclrtMallocHost(&large, 4 * MIB);
    if (strict && limit > 0) {
        HOLDS(code == ACL_ERROR_RT_MEMORY_ALLOCATION && large == NULL);
        expect_words(words, __FILE__, __LINE__);
        SAME(with_small, status_kib("VmLck"));
        /* What was refused has taken nothing: small memory still comes. */
        OK(aclrtFreeHost(small));
        OK(aclrtMallocHost(&small, 4000));
        memset(small, 1, 4000);
    } else {
        OK(code);
        memset(large, 2, 4 * MIB);
        with_large = status_kib("VmLck");
        if (off || limit > 0) {
            HOLDS(with_large - before <= (long)(limit / KIB));
        } else {
            HOLDS(with_large >= with_small + 4 * 1024);
        }
        /* Released memory is kept for reuse: the next request needs no system call. */
        OK(aclrtFreeHost(large));
        OK(aclrtMallocHost(&again, 4 * MIB));
        HOLDS(again == large);
        SAME(2, ((unsigned char *)again)[4 * MIB - 1]);
        OK(aclrtFreeHost(again));
    }
    HOLDS(limit == 0 || status_kib("VmLck") - before <= (long)(limit / KIB));
    OK(aclrtFreeHost(small));
    sleep_ms(1100);
    /* A while after the last release nothing is locked any more. */
    SAME(before, status_kib("VmLck"));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
