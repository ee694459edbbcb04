/*
 * Limits on the address space (ulimit -v): either everything works in a smaller
 * window, or the start is refused with a text that names the limit. Nothing in
 * between: no crash, no hang, no success that breaks later.
 *
 * run: CANNERY_HBM_BYTES=64M
 * run: CANNERY_HBM_BYTES=1G CANNERY_DEVICES=2
 * run: CANNERY_HBM_BYTES=64M CANNERY_PROFILE=310P CANNERY_MODE=rc
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "expect.h"

/* Exit codes of a child: it worked, or it was refused properly. */
enum { WORKED = 10, REFUSED = 11 };

static int refused(int code)
{
    const char *text = aclGetRecentErrMsg();

    if (code == ACL_SUCCESS) {
        return 0;
    }
    if (text == NULL || strstr(text, "ulimit -v") == NULL) {
        fprintf(stderr, "code %d, text: %s\n", code, text != NULL ? text : "(none)");
        _exit(1);
    }
    return 1;
}

static void child(size_t limit)
{
    const struct rlimit space = {limit, limit};
    void *device = NULL, *host = NULL;
    unsigned char bytes[4096], back[4096];
    int round;

    HOLDS(setrlimit(RLIMIT_AS, &space) == 0);
    alarm(20);
    if (refused(aclInit(NULL)) || refused(aclrtSetDevice(0))) {
        /* And it stays a clean refusal. */
        HOLDS(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
        HOLDS(aclGetRecentErrMsg() != NULL && device == NULL);
        exit(REFUSED);
    }
    if (refused(aclrtMallocHost(&host, 4096))) {
        HOLDS(host == NULL);
        exit(REFUSED);
    }
    for (round = 0; round < 50; round++) {
        fill_bytes(bytes, sizeof bytes, (unsigned)round);
        memcpy(host, bytes, sizeof bytes);
        OK(aclrtMalloc(&device, 4096 + (size_t)round * 100000, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemcpy(device, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclrtMemcpy(back, 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
        HOLDS(memcmp(bytes, back, sizeof bytes) == 0);
        OK(aclrtFree(device));
    }
    OK(aclrtFreeHost(host));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    exit(WORKED);
}

int main(void)
{
    size_t limit;
    int worked = 0, refusals = 0;

    for (limit = 32 * MIB; limit <= (size_t)64 << 40; limit *= 2) {
        pid_t made = fork();
        int status;

        HOLDS(made >= 0);
        if (made == 0) {
            child(limit);
        }
        status = wait_for(made, 30);
        if (WIFEXITED(status) && WEXITSTATUS(status) == WORKED) {
            worked++;
        } else if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED) {
            refusals++;
            /* More space never makes it worse. */
            HOLDS(worked == 0);
        } else {
            fprintf(stderr, "with %zu MiB of address space the child ended with status %#x\n", limit / MIB, status);
            return 1;
        }
    }
    HOLDS(worked >= 5 && refusals >= 1);
    return 0;
}
