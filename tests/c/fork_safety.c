/*
 * Fork after the start: calls in the child answer at once with 507033 and a
 * text, aclInit starts it afresh with memory of its own on the same card, and the parent is
 * unharmed. Fork before the start is nothing special.
 *
 * cases: C37
 * run:
 * run: CANNERY_PROFILE=310P CANNERY_MODE=rc
 * run: CANNERY_PIN=off
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>

#include "expect.h"

extern char **environ;

static void *device, *host;
static unsigned char bytes[4096], back[4096];

static int refused(int code)
{
    static const char *const words[] = {"507033", "fork", "aclInit", NULL};

    expect_words(words, __FILE__, __LINE__);
    return code == 507033;
}

static void child_without_init(void)
{
    void *none = (void *)0x77;
    size_t free_bytes = 7, total = 7;

    alarm(1); /* "at once" */
    HOLDS(refused(aclrtMalloc(&none, MIB, ACL_MEM_MALLOC_HUGE_FIRST)));
    HOLDS(refused(aclrtMallocHost(&none, MIB)));
    HOLDS(refused(aclrtSetDevice(0)));
    HOLDS(refused(aclrtFree(device)));
    HOLDS(refused(aclrtFreeHost(host)));
    HOLDS(refused(aclrtMemcpy(back, 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_HOST)));
    HOLDS(refused(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total)));
    HOLDS(none == (void *)0x77 && free_bytes == 7 && total == 7);
    alarm(0);
}

static void use(unsigned seed)
{
    void *own = NULL, *pinned = NULL;

    OK(aclrtMalloc(&own, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, 4096));
    fill_bytes(pinned, 4096, seed);
    OK(aclrtMemcpy(own, 4096, pinned, 4096, ACL_MEMCPY_HOST_TO_DEVICE));
    memset(pinned, 0, 4096);
    OK(aclrtMemcpy(pinned, 4096, own, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    fill_bytes(back, 4096, seed);
    HOLDS(memcmp(back, pinned, 4096) == 0);
    OK(aclrtFree(own));
    OK(aclrtFreeHost(pinned));
}

static void *use_in_thread(void *argument)
{
    OK(aclrtSetDevice(0));
    use(4);
    return argument;
}

static void child_afresh(size_t all)
{
    pthread_t thread;
    unsigned i;

    child_without_init();
    OK(aclInit(NULL));
    CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtMemset(device, 4096, 0, 4096));
    OK(aclrtSetDevice(0));
    SAME(all, device_free());
    /* The parent's blocks are not the child's. */
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device));
    CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeHost(host));
    for (i = 0; i < 100; i++) {
        use(i);
    }
    HOLDS(pthread_create(&thread, NULL, use_in_thread, NULL) == 0);
    HOLDS(pthread_join(thread, NULL) == 0);
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
}

static void in_child(void (*body)(size_t), size_t argument)
{
    pid_t child = fork();
    int status;

    HOLDS(child >= 0);
    if (child == 0) {
        body(argument);
        exit(0); /* with everything that runs at exit */
    }
    status = wait_for(child, 20);
    if (status != 0) {
        fprintf(stderr, "the child ended with status %#x\n", status);
        _exit(1);
    }
}

static void before_start(size_t unused)
{
    (void)unused;
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    use(3);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
}

static void only_exit(size_t unused)
{
    (void)unused;
}

static void grandchild(size_t all)
{
    child_afresh(all);
    in_child(before_start, 0);
    /* A forked child of a child that had started. */
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    in_child(child_afresh, all);
}

static void without_init(size_t unused)
{
    (void)unused;
    child_without_init();
}

int main(void)
{
    char *const command[] = {(char *)"true", NULL};
    size_t all, rest;
    pid_t spawned;

    in_child(before_start, 0);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    all = device_free();
    OK(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&host, 4096));
    fill_bytes(bytes, sizeof bytes, 37);
    memcpy(host, bytes, sizeof bytes);
    OK(aclrtMemcpy(device, 4096, bytes, 4096, ACL_MEMCPY_HOST_TO_DEVICE));
    rest = device_free();

    in_child(without_init, 0);
    in_child(only_exit, 0);
    /* What the parent holds is taken from the child's card, too. */
    in_child(child_afresh, rest);
    in_child(grandchild, rest);
    SAME(0, system("true"));
    HOLDS(posix_spawnp(&spawned, "true", NULL, NULL, command, environ) == 0);
    SAME(0, wait_for(spawned, 10));

    SAME(rest, device_free());
    OK(aclrtMemcpy(back, 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(bytes, back, 4096) == 0 && memcmp(bytes, host, 4096) == 0);
    OK(aclrtFree(device));
    OK(aclrtFreeHost(host));
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
