/*
 * Pinned memory for an ordinary user, where the kernel itself sets the limit
 * (ulimit -l), some of it already used by the program.
 *
 * run: CANNERY_PIN=auto CANNERY_LOG=error
 * run: CANNERY_PIN=strict CANNERY_LOG=error
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>

#include "expect.h"

enum { BLOCKS = 24 };

static void child(size_t limit, size_t used, int strict)
{
    static const char *const words[] = {"207001", "limit", "ulimit -l", NULL};
    const struct rlimit lock = {limit, limit};
    void *own = NULL, *pinned[BLOCKS] = {NULL};
    int n, refused = 0;

    HOLDS(setrlimit(RLIMIT_MEMLOCK, &lock) == 0);
    if (getuid() == 0) {
        HOLDS(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    }
    if (used > 0) {
        own = mmap(NULL, used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        HOLDS(own != MAP_FAILED && mlock(own, used) == 0);
    }
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    for (n = 0; n < BLOCKS; n++) {
        int code = aclrtMallocHost(&pinned[n], 200000);

        if (code == ACL_ERROR_RT_MEMORY_ALLOCATION && strict) {
            expect_words(words, __FILE__, __LINE__);
            HOLDS(pinned[n] == NULL);
            refused++;
            continue;
        }
        OK(code);
        memset(pinned[n], n, 200000);
    }
    HOLDS(status_kib("VmLck") <= (long)(limit / KIB));
    if (strict) {
        /* The blocks take 256 KiB each, 6 MiB in all. */
        HOLDS(limit >= 8 * MIB ? refused == 0 : refused > 0);
        HOLDS(limit < MIB || refused < BLOCKS);
    }
    for (n = 0; n < BLOCKS; n++) {
        if (pinned[n] != NULL) {
            SAME(n, ((unsigned char *)pinned[n])[199999]);
            OK(aclrtFreeHost(pinned[n]));
        }
    }
    sleep_ms(1100);
    SAME(used / KIB, status_kib("VmLck"));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    exit(0);
}

int main(void)
{
    static const size_t limits[][2] = {{0, 0}, {64, 0}, {64, 64}, {2048, 0}, {2048, 1024}, {8192, 0}};
    int strict = strcmp(getenv("CANNERY_PIN"), "strict") == 0;
    struct rlimit now;
    size_t n;

    HOLDS(getrlimit(RLIMIT_MEMLOCK, &now) == 0);
    for (n = 0; n < sizeof limits / sizeof limits[0]; n++) {
        pid_t made;
        int status;

        if (limits[n][0] * KIB > now.rlim_max) {
            continue;
        }
        made = fork();
        HOLDS(made >= 0);
        if (made == 0) {
            child(limits[n][0] * KIB, limits[n][1] * KIB, strict);
        }
        status = wait_for(made, 30);
        if (status != 0) {
            fprintf(stderr, "limit %zu KiB, %zu KiB used: status %#x\n", limits[n][0], limits[n][1], status);
            return 1;
        }
    }
    return 0;
}
