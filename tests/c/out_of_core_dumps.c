/*
 * Device memory stays out of core dumps: every mapping of it says so. A dump of
 * a 64 GiB card would fill the disk.
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/stat.h>

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

/* A process with a quarter of a GiB of touched device memory that ends with a core file. */
static void dump(void)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    void *device = NULL;

    setrlimit(RLIMIT_CORE, &all);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&device, 256 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(device, 256 * MIB, 1, 256 * MIB));
    abort();
}

/* The core file, where the system writes one into the working directory. */
static void real_dump(void)
{
    char folder[] = "core-XXXXXX", name[64];
    struct stat file;
    pid_t made;

    HOLDS(mkdtemp(folder) != NULL);
    made = fork();
    HOLDS(made >= 0);
    if (made == 0) {
        HOLDS(chdir(folder) == 0);
        dump();
    }
    wait_for(made, 60);
    snprintf(name, sizeof name, "%s/core", folder);
    if (stat(name, &file) != 0) {
        snprintf(name, sizeof name, "%s/core.%d", folder, (int)made);
    }
    if (stat(name, &file) == 0) {
        unlink(name);
        /* What the file occupies, not its length: it has holes. */
        if ((size_t)file.st_blocks * 512 > 64 * MIB) {
            fprintf(stderr, "the core file takes %lld KiB\n", (long long)file.st_blocks / 2);
            _exit(1);
        }
    }
    HOLDS(rmdir(folder) == 0);
}

int main(void)
{
    void *device = NULL;
    size_t size;

    real_dump();

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
