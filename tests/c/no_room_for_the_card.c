/*
 * A process whose files may have no byte (ulimit -f 0) when it starts cannot share its cards with other processes: it
 * works alone, and the warning says why and what to do.
 *
 * run: CANNERY_LOG=warn
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <unistd.h>

#include "expect.h"

int main(void)
{
    struct rlimit limit;
    char said[8192];
    ssize_t bytes;
    int ends[2], errors;
    void *block = NULL;

    SAME(0, getrlimit(RLIMIT_FSIZE, &limit));
    limit.rlim_cur = 0;
    SAME(0, setrlimit(RLIMIT_FSIZE, &limit));
    SAME(0, pipe(ends));
    errors = dup(2);
    HOLDS(errors >= 0 && dup2(ends[1], 2) == 2);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&block, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(block));
    HOLDS(dup2(errors, 2) == 2);
    close(ends[1]);
    bytes = read(ends[0], said, sizeof said - 1);
    HOLDS(bytes > 0);
    said[bytes] = 0;
    HOLDS(strstr(said, "raise the limit (ulimit -f)") != NULL);
    HOLDS(strstr(said, "CANNERY_RUNTIME_DIR") == NULL);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
