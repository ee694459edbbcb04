/*
 * Device memory stays out of core dumps: every mapping of it says so. A dump of
 * a 64 GiB card would fill the disk.
 */
#define _GNU_SOURCE
#include "expect.h"

/* Walks the mappings: how large is what would be dumped? Fails for device addresses. */
static size_t dumped(const void *device)
{
    char line[512];
    unsigned long from = 0, until = 0;
    size_t total = 0;
    int seen = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");

    HOLDS(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin, end;

        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
            from = begin;
            until = end;
            continue;
        }
        if (strncmp(line, "VmFlags:", 8) == 0) {
            int left_out = strstr(line, " dd") != NULL;

            if ((uintptr_t)device >= from && (uintptr_t)device < until) {
                HOLDS(left_out);
                seen = 1;
            }
            total += left_out ? 0 : until - from;
        }
    }
    fclose(maps);
    HOLDS(seen);
    return total;
}

int main(void)
{
    void *device = NULL;
    size_t size;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&device, 16 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(device, 16 * MIB, 1, 16 * MIB));
    /* Neither the window nor its alias nor the tables: what is left is an ordinary program. */
    size = dumped(device);
    if (size > 256 * MIB) {
        fprintf(stderr, "%zu MiB would be dumped\n", size / MIB);
        return 1;
    }
    OK(aclrtFree(device));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
