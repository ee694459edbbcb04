/*
 * A daemon: forked, in a session of its own, all descriptors closed before the
 * start. The library writes to no descriptor that the program opens later.
 *
 * run:
 * run: CANNERY_LOG=debug
 * run: CANNERY_LIMITS=lock=64K
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "expect.h"

int main(void)
{
    char name[] = "daemon.out.XXXXXX", line[64];
    int result = mkstemp(name), n, status;
    pid_t child;

    HOLDS(result >= 0);
    unlink(name);
    HOLDS(fcntl(result, F_DUPFD, 60) == 60);
    child = fork();
    HOLDS(child >= 0);
    if (child == 0) {
        void *device = NULL, *host = NULL;
        int files[3], round;

        setsid();
        for (n = 0; n < 50; n++) {
            close(n);
        }
        /* These become descriptors 0, 1 and 2. */
        for (n = 0; n < 3; n++) {
            files[n] = open("/proc/self/fd/60", O_RDWR | O_APPEND);
            if (files[n] != n) {
                _exit(2);
            }
        }
        for (round = 0; round < 3; round++) {
            if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0) {
                _exit(3);
            }
            if (aclrtMalloc(&device, MIB, ACL_MEM_MALLOC_HUGE_FIRST) != 0 || aclrtMallocHost(&host, MIB) != 0) {
                _exit(4);
            }
            memset(host, 1, MIB);
            if (aclrtMemcpy(device, MIB, host, MIB, ACL_MEMCPY_HOST_TO_DEVICE) != 0) {
                _exit(5);
            }
            if (aclrtFree(device) != 0 || aclrtFreeHost(host) != 0 || aclrtResetDevice(0) != 0 || aclFinalize() != 0) {
                _exit(6);
            }
        }
        /* What the program says on descriptor 1 comes through unharmed. */
        HOLDS(write(1, "done\n", 5) == 5);
        _exit(0);
    }
    status = wait_for(child, 20);
    if (status != 0) {
        fprintf(stderr, "the daemon ended with status %#x\n", status);
        return 1;
    }
    /* Descriptors 0 and 1 belong to the program: only diagnostics, on 2, may come before. */
    n = (int)lseek(60, -5, SEEK_END);
    HOLDS(n >= 0 && read(60, line, 5) == 5 && memcmp(line, "done\n", 5) == 0);
    return 0;
}
