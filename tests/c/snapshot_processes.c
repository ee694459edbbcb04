/*
 * Snapshots and other processes: a forked child of a locked process is not locked; while another process holds
 * memory of the device, nothing is restored; bytes come back across all of it.
 *
 * run:
 * run: CANNERY_SCHEDULE=lazy
 * run: CANNERY_PROFILE=A3
 */
#define _GNU_SOURCE
#include "expect.h"

static unsigned char sent[4 * MIB], received[4 * MIB];

/* In the child: waits for its turn, one byte a turn. */
static void turn(int from)
{
    char byte;

    HOLDS(read(from, &byte, 1) == 1);
}

static void child(int from_parent, int to_parent)
{
    void *block = NULL;
    int32_t device = 0;

    /* Refused at once, not kept waiting for an unlock that never comes here. */
    SAME(507033, aclrtGetDevice(&device));
    HOLDS(aclGetRecentErrMsg() != NULL);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&block, 64 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    HOLDS(write(to_parent, "1", 1) == 1);
    turn(from_parent);
    OK(aclrtFree(block));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    HOLDS(write(to_parent, "2", 1) == 1);
    turn(from_parent);
    exit(0);
}

int main(void)
{
    const char *words[] = {"process ", "device 0", NULL};
    int there[2], back[2], status;
    void *block = NULL;
    pid_t made;

    fill_bytes(sent, sizeof sent, 3);
    HOLDS(pipe(there) == 0 && pipe(back) == 0);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&block, sizeof sent, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(block, sizeof sent, sent, sizeof sent, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtSnapShotProcessLock(getpid(), NULL));
    made = fork();
    HOLDS(made >= 0);
    if (made == 0) {
        alarm(60);
        child(there[0], back[1]);
    }
    OK(aclrtSnapShotProcessBackup(getpid(), NULL));
    turn(back[0]);
    SAME(507909, aclrtSnapShotProcessRestore(getpid(), NULL));
    expect_words(words, __FILE__, __LINE__);
    HOLDS(write(there[1], "1", 1) == 1);
    turn(back[0]);
    OK(aclrtSnapShotProcessRestore(getpid(), NULL));
    OK(aclrtSnapShotProcessUnlock(getpid(), NULL));
    HOLDS(write(there[1], "2", 1) == 1);
    status = wait_for(made, 60);
    HOLDS(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(aclrtMemcpy(received, sizeof received, block, sizeof received, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(sent, received, sizeof sent) == 0);
    OK(aclrtFree(block));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
