/*
 * Files of this process may have no byte at all (ulimit -f 0), or none may be opened any more (ulimit -n): what
 * needs a file is refused with the documented code and a text that names the limit; no signal ends the
 * program, and everything else works.
 *
 * run: CANNERY_LOG=info
 * kernels: first
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/resource.h>

#include "expect.h"

#include "acl/acl_tdt_queue.h"

/* The kernel's signal for a file that grows too long ends the program unless the runtime holds it back. */
static void everything_else_works(void)
{
    unsigned char *sent = malloc(MIB), *received = malloc(MIB);
    void *block = NULL;

    HOLDS(sent != NULL && received != NULL);
    fill_bytes(sent, MIB, 7);
    OK(aclrtMalloc(&block, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(block, MIB, sent, MIB, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(received, MIB, block, MIB, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(sent, received, MIB) == 0);
    OK(aclrtFree(block));
    free(sent);
    free(received);
}

static void refuse_files(const char *limit)
{
    const char *words[] = {limit, NULL};
    acltdtQueueAttr *attr = acltdtCreateQueueAttr();
    aclrtNotify notify = NULL;
    aclrtEvent event = NULL;
    aclrtIpcEventHandle shared;
    aclrtBinHandle binary = NULL;
    uint32_t queue = 0;
    void *block = NULL;
    char key[128];
    int code;

    HOLDS(attr != NULL);
    SAME(507899, acltdtCreateQueue(attr, &queue));
    expect_words(words, __FILE__, __LINE__);
    OK(aclrtCreateNotify(&notify, 0));
    SAME(507899, aclrtNotifyGetExportKey(notify, key, sizeof key, 0));
    expect_words(words, __FILE__, __LINE__);
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    SAME(507899, aclrtIpcGetEventHandle(event, &shared));
    expect_words(words, __FILE__, __LINE__);
    OK(aclrtMalloc(&block, 2 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    code = aclrtIpcMemGetExportKey(block, 2 * MIB, key, 65, 0);
    HOLDS(code == 507899 || code == 207001);
    expect_words(words, __FILE__, __LINE__);
    OK(aclrtFree(block));
    code = aclrtBinaryLoadFromFile("./first.so", NULL, &binary);
    if (strcmp(limit, "ulimit -n") == 0) {
        SAME(107009, code);
        expect_words(words, __FILE__, __LINE__);
    } else {
        /* Reading needs no room. */
        OK(code);
        OK(aclrtBinaryUnLoad(binary));
    }
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyNotify(notify));
    OK(acltdtDestroyQueueAttr(attr));
}

/* The bytes of a file. */
static void *contents(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    void *bytes = malloc(MIB);

    HOLDS(file != NULL && bytes != NULL);
    *length = fread(bytes, 1, MIB, file);
    HOLDS(*length > 0 && fclose(file) == 0);
    return bytes;
}

static void too_long(void)
{
    const char *words[] = {"ulimit -f", NULL};
    struct rlimit none = {0, 0};
    size_t length = 0;
    void *bytes = contents("./first.so", &length);
    aclrtBinHandle binary = NULL;

    /* What the runtime says goes to a file, too. */
    HOLDS(freopen("said.log", "w", stderr) != NULL);
    SAME(0, setrlimit(RLIMIT_FSIZE, &none));
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    refuse_files("ulimit -f");
    SAME(107000, aclrtBinaryLoadFromData(bytes, length, NULL, &binary));
    expect_words(words, __FILE__, __LINE__);
    everything_else_works();
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    free(bytes);
    exit(0);
}

static void too_many(void)
{
    struct rlimit few = {64, 64};
    int last;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    SAME(0, setrlimit(RLIMIT_NOFILE, &few));
    while ((last = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) {
    }
    refuse_files("ulimit -n");
    everything_else_works();
    /* With one descriptor more, and one to pass on, it works again. */
    for (last = 40; last < 64; last++) {
        close(last);
    }
    {
        acltdtQueueAttr *attr = acltdtCreateQueueAttr();
        uint32_t queue = 0;

        OK(acltdtCreateQueue(attr, &queue));
        OK(acltdtDestroyQueue(queue));
        OK(acltdtDestroyQueueAttr(attr));
    }
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    exit(0);
}

static void in_a_child(void (*body)(void))
{
    pid_t made = fork();
    int status;

    HOLDS(made >= 0);
    if (made == 0) {
        body();
    }
    status = wait_for(made, 60);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "signal %d ended the program\n", WTERMSIG(status));
    }
    HOLDS(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    in_a_child(too_long);
    in_a_child(too_many);
    return 0;
}
