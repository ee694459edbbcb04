/*
 * Every way in which a process ends while memory is live: the exit code is the
 * program's own, nothing hangs, and nothing is left behind.
 *
 * cases: C37
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "expect.h"

static void *live(void)
{
    void *device = NULL, *host = NULL;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&device, 3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(device, 3 * MIB, 1, 3 * MIB));
    OK(aclrtMallocHost(&host, MIB));
    memset(host, 1, MIB);
    return device;
}

static void *endless(void *argument)
{
    OK(aclrtSetDevice(0));
    for (;;) {
        void *block = NULL;

        OK(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtFree(block));
    }
    return argument;
}

static void *exits(void *argument)
{
    exit(*(int *)argument);
}

static void *late;

static void at_exit(void)
{
    /* The library still works while exit handlers run. */
    void *more = NULL;

    OK(aclrtMalloc(&more, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(more));
    OK(aclrtFree(late));
}

static void end(int way)
{
    static int code = 43;
    pthread_t thread;
    int n;

    late = live();
    for (n = 0; n < 2 && way < 6; n++) {
        HOLDS(pthread_create(&thread, NULL, endless, NULL) == 0);
    }
    sleep_ms(5);
    switch (way) {
    case 0:
        exit(40);
    case 1:
        _exit(41);
    case 2:
        quick_exit(42);
    case 3: /* from another thread */
        HOLDS(pthread_create(&thread, NULL, exits, &code) == 0);
        for (;;) {
            pause();
        }
    case 4: /* with a handler that uses the library */
        HOLDS(atexit(at_exit) == 0);
        exit(44);
    case 5:
        OK(aclFinalize());
        exit(45);
    case 6:
        OK(aclrtResetDeviceForce(0));
        OK(aclFinalize());
        exit(46);
    case 7: /* main ends, the process with its last thread */
        pthread_exit(NULL);
    case 8:
        abort();
    case 9:
        kill(getpid(), SIGKILL);
        break;
    default:
        kill(getpid(), SIGTERM);
        break;
    }
    for (;;) {
        pause();
    }
}

static int expected(int status, int way)
{
    switch (way) {
    case 7:
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    case 8:
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    case 9:
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    case 10:
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
    default:
        return WIFEXITED(status) && WEXITSTATUS(status) == 40 + way;
    }
}

/* Entries of ours: other programs come and go there as they like. */
static int entries(const char *name)
{
    DIR *folder = opendir(name);
    struct dirent *entry;
    int count = 0;

    if (folder == NULL) {
        return 0;
    }
    while ((entry = readdir(folder)) != NULL) {
        count += strstr(entry->d_name, "cannery") != NULL;
    }
    closedir(folder);
    return count;
}

int main(void)
{
    const struct rlimit no_core = {0, 0};
    int way, before = entries("/dev/shm");

    setrlimit(RLIMIT_CORE, &no_core);
    for (way = 0; way <= 10; way++) {
        pid_t child = fork();
        int status;

        HOLDS(child >= 0);
        if (child == 0) {
            end(way);
        }
        status = wait_for(child, 20);
        if (!expected(status, way)) {
            fprintf(stderr, "way %d ended with status %#x\n", way, status);
            return 1;
        }
    }
    SAME(before, entries("/dev/shm"));
    /* A process that comes later finds a whole card. */
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    HOLDS(device_free() == 64 * GIB);
    return 0;
}
