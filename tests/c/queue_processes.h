/*
 * What the programs about queues between processes share: children that start
 * before the runtime does, and a pair of pipes to talk to them.
 */
#ifndef CANNERY_TESTS_QUEUE_PROCESSES_H
#define CANNERY_TESTS_QUEUE_PROCESSES_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "expect.h"

#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"

#define IPC_BROKEN 507022
#define QUEUE_EMPTY 207013
#define UNKNOWN_QUEUE 100032
#define NO_PERMISSION 207006

struct child {
    pid_t pid;
    int in, out; /* of the parent: from and to the child */
};

/* The other side's pipes, in a child. */
static int from_parent, to_parent;

static inline struct child start(void (*run)(void))
{
    int down[2], up[2];
    struct child child;

    HOLDS(pipe(down) == 0 && pipe(up) == 0);
    fflush(stdout);
    child.pid = fork();
    HOLDS(child.pid >= 0);
    if (child.pid == 0) {
        close(down[1]);
        close(up[0]);
        from_parent = down[0];
        to_parent = up[1];
        run();
        exit(0);
    }
    close(down[0]);
    close(up[1]);
    child.in = up[0];
    child.out = down[1];
    return child;
}

static inline void tell(int pipe, unsigned number)
{
    HOLDS(write(pipe, &number, sizeof number) == sizeof number);
}

static inline unsigned hear(int pipe)
{
    unsigned number = 0;

    HOLDS(read(pipe, &number, sizeof number) == sizeof number);
    return number;
}

/* Waits for a child that must be content. */
static inline void finish(struct child child)
{
    int status = wait_for(child.pid, 60);

    HOLDS(status == 0);
    close(child.in);
    close(child.out);
}

static inline void kill_now(struct child child)
{
    int status;

    HOLDS(kill(child.pid, 9) == 0);
    HOLDS(waitpid(child.pid, &status, 0) == child.pid);
    close(child.in);
    close(child.out);
}

static inline void use_device(void)
{
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
}

/* Sends so many bytes of a seed through a queue. */
static inline int put_bytes(uint32_t queue, size_t size, unsigned seed, int timeout)
{
    unsigned char *bytes = malloc(size);
    int code;

    HOLDS(bytes != NULL);
    fill_bytes(bytes, size, seed);
    code = acltdtEnqueueData(queue, bytes, size, &seed, sizeof seed, timeout, 0);
    free(bytes);
    return code;
}

/* Takes a message and checks that it is whole: its user data is the seed of its bytes. */
static inline int get_bytes(uint32_t queue, size_t *size, unsigned *seed, int timeout)
{
    static unsigned char got[4 << 20], want[4 << 20];
    int code = acltdtDequeueData(queue, got, sizeof got, size, seed, sizeof *seed, timeout);

    if (code == ACL_SUCCESS) {
        fill_bytes(want, *size, *seed);
        HOLDS(memcmp(got, want, *size) == 0);
    }
    return code;
}

/* A private runtime directory for this program and its children. */
static inline const char *private_directory(void)
{
    static char path[64];

    if (path[0] == '\0') {
        strcpy(path, "/tmp/cannery-test-XXXXXX");
        HOLDS(mkdtemp(path) != NULL);
        HOLDS(setenv("CANNERY_RUNTIME_DIR", path, 1) == 0);
    }
    return path;
}

/* Files of queues and channels in the runtime directory. */
static inline int files(void)
{
    int count = 0;
    struct dirent *entry;
    DIR *directory = opendir(private_directory());

    HOLDS(directory != NULL);
    while ((entry = readdir(directory)) != NULL) {
        if (strncmp(entry->d_name, "queue-", 6) == 0 || strncmp(entry->d_name, "channel-", 8) == 0) {
            count++;
        }
    }
    closedir(directory);
    return count;
}

/* Removes the directory: what this process still has in it (its card) too. */
static inline void remove_directory(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -r %s", private_directory());
    HOLDS(system(command) == 0);
}

#endif
