/*
 * Kernel binaries come and go: files that change while they are loaded, many
 * rounds of loading that leave nothing behind, threads that launch and load at
 * once, and a kernel that crashes.
 *
 * kernels: first second
 * run: CANNERY_SCHEDULE=fifo
 * run: CANNERY_SCHEDULE=eager
 * run: CANNERY_SCHEDULE=random:1
 * alone: counts open files and mappings of the process
 */
#define _GNU_SOURCE
#include "expect.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

static void copy_file(const char *from, const char *to)
{
    char command[300], beside[100];

    /* As a compiler does it: written beside, then renamed. */
    snprintf(beside, sizeof beside, "%s.new", to);
    snprintf(command, sizeof command, "cp %s %s && mv %s %s", from, beside, beside, to);
    HOLDS(system(command) == 0);
}

static unsigned entries(const char *path, int lines)
{
    unsigned count = 0;

    if (lines) {
        FILE *file = fopen(path, "r");
        int c;

        HOLDS(file != NULL);
        while ((c = getc(file)) != EOF) {
            count += c == '\n';
        }
        fclose(file);
    } else {
        DIR *folder = opendir(path);

        HOLDS(folder != NULL);
        while (readdir(folder) != NULL) {
            count++;
        }
        closedir(folder);
    }
    return count;
}

static uint32_t which(aclrtBinHandle binary, aclrtStream stream)
{
    aclrtFuncHandle function = NULL;
    void *cell = NULL;
    uint32_t got = 0;

    OK(aclrtBinaryGetFunction(binary, "which", &function));
    OK(aclrtMalloc(&cell, 4, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, &cell, sizeof cell, NULL, 0));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(&got, 4, cell, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtFree(cell));
    return got;
}

static void changed_file(aclrtStream stream)
{
    char name[64];
    aclrtBinHandle old = NULL, again = NULL, new = NULL, last = NULL;

    snprintf(name, sizeof name, "plugin.%d.so", (int)getpid());
    copy_file("first.so", name);
    OK(aclrtBinaryLoadFromFile(name, NULL, &old));
    OK(aclrtBinaryLoadFromFile(name, NULL, &again));
    HOLDS(old != again);
    SAME(11, which(old, stream));
    copy_file("second.so", name);
    OK(aclrtBinaryLoadFromFile(name, NULL, &new));
    SAME(22, which(new, stream));
    SAME(11, which(old, stream));
    SAME(11, which(again, stream));
    OK(aclrtBinaryUnLoad(old));
    SAME(11, which(again, stream));
    OK(aclrtBinaryUnLoad(again));
    OK(aclrtBinaryUnLoad(new));
    OK(aclrtBinaryLoadFromFile(name, NULL, &last));
    SAME(22, which(last, stream));
    OK(aclrtBinaryUnLoad(last));
    HOLDS(unlink(name) == 0);
}

struct bytes {
    unsigned char *start;
    size_t size;
};

static struct bytes read_file(const char *path)
{
    struct bytes bytes = {NULL, 0};
    FILE *file = fopen(path, "rb");

    HOLDS(file != NULL);
    fseek(file, 0, SEEK_END);
    bytes.size = (size_t)ftell(file);
    rewind(file);
    bytes.start = malloc(bytes.size);
    HOLDS(bytes.start != NULL && fread(bytes.start, 1, bytes.size, file) == bytes.size);
    fclose(file);
    return bytes;
}

static struct bytes contents[2];

static void round_of(aclrtStream stream, unsigned round)
{
    const struct bytes *bytes = &contents[round % 2];
    aclrtBinHandle binary = NULL;

    OK(aclrtBinaryLoadFromData(bytes->start, bytes->size, NULL, &binary));
    SAME(round % 2 ? 22 : 11, which(binary, stream));
    OK(aclrtBinaryUnLoad(binary));
}

static void *loader(void *argument)
{
    aclrtStream stream = NULL;
    unsigned round;

    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    for (round = 0; round < 40; round++) {
        round_of(stream, round + (argument != NULL));
    }
    OK(aclrtDestroyStream(stream));
    return NULL;
}

static void crash(void)
{
    const struct rlimit no_core = {0, 0};
    aclrtBinHandle binary = NULL;
    aclrtFuncHandle function = NULL;
    void *cell = NULL;

    setrlimit(RLIMIT_CORE, &no_core);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtBinaryLoadFromFile("first.so", NULL, &binary));
    OK(aclrtBinaryGetFunction(binary, "crash", &function));
    OK(aclrtMalloc(&cell, 4, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtLaunchKernelWithHostArgs(function, 1, NULL, NULL, &cell, sizeof cell, NULL, 0));
    OK(aclrtSynchronizeStream(NULL));
    _exit(0);
}

int main(void)
{
    aclrtStream stream = NULL;
    pthread_t threads[2];
    unsigned files, mappings, round;
    size_t before;
    int status;
    pid_t child;

    child = fork();
    if (child == 0) {
        crash();
    }
    status = wait_for(child, 60);
    HOLDS(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);

    contents[0] = read_file("first.so");
    contents[1] = read_file("second.so");
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    for (round = 0; round < 20; round++) {
        round_of(stream, round);
    }
    before = device_free();
    files = entries("/proc/self/fd", 0);
    mappings = entries("/proc/self/maps", 1);
    for (round = 0; round < 300; round++) {
        round_of(stream, round);
    }
    SAME(files, entries("/proc/self/fd", 0));
    SAME(before, device_free());
    /* The system may join or split a few by itself. */
    HOLDS(entries("/proc/self/maps", 1) <= mappings + 8);
    changed_file(stream);
    SAME(files, entries("/proc/self/fd", 0));

    HOLDS(pthread_create(&threads[0], NULL, loader, NULL) == 0);
    HOLDS(pthread_create(&threads[1], NULL, loader, contents) == 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    SAME(files, entries("/proc/self/fd", 0));
    SAME(before, device_free());
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    free(contents[0].start);
    free(contents[1].start);
    return 0;
}
