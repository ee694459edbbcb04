/*
 * Memory goes back: half a GiB touched in many sizes, and one second after the
 * last release the resident set is within 8 MB of where it began.
 *
 * run:
 * run: CANNERY_PROFILE=310P CANNERY_MODE=rc
 * run: CANNERY_PIN=off
 * alone: it measures memory and time
 */
#define _GNU_SOURCE
#include "expect.h"

enum { MOST = 40000 };

static void *blocks[MOST];
static int is_host[MOST];

int main(void)
{
    long baseline, peak, after;
    size_t touched = 0;
    unsigned seed = 1;
    int count = 0, round, n;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMallocHost(&blocks[0], 64));
    OK(aclrtFreeHost(blocks[0]));
    sleep_ms(1000);
    baseline = status_kib("VmRSS");
    for (round = 0; round < 2; round++) {
        count = 0;
        touched = 0;
        while (touched < 512 * MIB && count < MOST) {
            size_t size;

            seed = seed * 1103515245u + 12345u;
            /* From 64 bytes to 16 MiB, every magnitude alike. */
            size = ((size_t)64 << (seed >> 8) % 19) + (seed >> 16 & 63);
            is_host[count] = (seed >> 28) % 4 == 0;
            if (is_host[count]) {
                OK(aclrtMallocHost(&blocks[count], size));
            } else {
                OK(aclrtMalloc(&blocks[count], size, (aclrtMemMallocPolicy)(seed >> 24) % 3));
            }
            OK(aclrtMemset(blocks[count], size, count, size));
            touched += size;
            count++;
        }
        peak = status_kib("VmRSS");
        HOLDS(peak - baseline > 400 * 1024);
        for (n = 0; n < count; n++) {
            int at = (int)((long)n * 7919 % count); /* a prime: every block once */

            if (blocks[at] == NULL) {
                continue;
            }
            OK(is_host[at] ? aclrtFreeHost(blocks[at]) : aclrtFree(blocks[at]));
            blocks[at] = NULL;
        }
        for (n = 0; n < count; n++) {
            if (blocks[n] != NULL) {
                OK(is_host[n] ? aclrtFreeHost(blocks[n]) : aclrtFree(blocks[n]));
            }
        }
        sleep_ms(1000);
        after = status_kib("VmRSS");
        if (after - baseline > 8 * 1000) {
            fprintf(stderr, "resident: %ld KiB before, %ld at most, %ld one second after\n", baseline, peak, after);
            return 1;
        }
    }
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
