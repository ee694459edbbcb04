/*
 * Idle queries are identical: with nothing between, with pairs between, with a
 * thousand odd sizes between, and long after the last release.
 *
 * cases: C44
 * run:
 * run: CANNERY_HBM_BYTES=64M
 * run: CANNERY_PROFILE=310P CANNERY_MODE=rc
 */
#define _GNU_SOURCE
#include "expect.h"

enum { BLOCKS = 1000 };

static void *blocks[BLOCKS];

static void odd_sizes(int host)
{
    size_t i;

    for (i = 0; i < BLOCKS; i++) {
        size_t size = i * 37 % 4000 + 1;

        if (host) {
            OK(aclrtMallocHost(&blocks[i], size));
        } else {
            OK(aclrtMalloc(&blocks[i], size, (aclrtMemMallocPolicy)(i % 3 == 1 ? 0 : 2)));
        }
    }
    for (i = 0; i < BLOCKS; i++) {
        size_t at = i * 7 % BLOCKS; /* another order */

        OK(host ? aclrtFreeHost(blocks[at]) : aclrtFree(blocks[at]));
    }
}

int main(void)
{
    size_t all;
    void *block = NULL;
    int round;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    all = device_free();
    for (round = 0; round < 20; round++) {
        SAME(all, device_free());
        OK(aclrtMalloc(&block, 3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
        HOLDS(device_free() < all);
        OK(aclrtFree(block));
        SAME(all, device_free());
        odd_sizes(0);
        SAME(all, device_free());
        odd_sizes(1);
        SAME(all, device_free());
    }
    sleep_ms(1200);
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclrtSetDevice(0));
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
