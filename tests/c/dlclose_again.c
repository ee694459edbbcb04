/*
 * The library opened by hand, used, closed with memory live and threads about,
 * and opened again: nothing crashes, then or at exit.
 *
 * flags: -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "expect.h"

typedef int (*init_function)(const char *);
typedef int (*device_function)(int);
typedef int (*malloc_function)(void **, size_t, int);
typedef int (*free_function)(void *);

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);

    HOLDS(found != NULL);
    return found;
}

static void *use(void *library)
{
    device_function set, reset;
    malloc_function allocate;
    free_function release;
    void *block = NULL, *kept = NULL;
    int round;

    *(void **)&set = symbol(library, "aclrtSetDevice");
    *(void **)&reset = symbol(library, "aclrtResetDevice");
    *(void **)&allocate = symbol(library, "aclrtMalloc");
    *(void **)&release = symbol(library, "aclrtFree");
    SAME(0, set(0));
    SAME(0, allocate(&kept, 100, 0));
    for (round = 0; round < 100; round++) {
        SAME(0, allocate(&block, (size_t)round * 10000 + 1, 0));
        SAME(0, release(block));
    }
    if (pthread_self() != 0 && (size_t)kept % 128 == 0) {
        SAME(0, release(kept));
    }
    SAME(0, reset(0));
    return NULL;
}

int main(int argc, char **argv)
{
    /* Without the linker's help: the library is not needed by this program. */
    const char *prefix = getenv("CANNERY_PREFIX");
    char name[4096];
    int round, code;

    HOLDS(argc == 1 && argv[0] != NULL && prefix != NULL);
    snprintf(name, sizeof name, "%s/lib64/libascendcl.so", prefix);
    for (round = 0; round < 20; round++) {
        int mode = round % 3 == 0 ? RTLD_NOW | RTLD_GLOBAL : round % 3 == 1 ? RTLD_LAZY : RTLD_NOW | RTLD_DEEPBIND;
        void *library = dlopen(name, mode);
        init_function init, finalize;
        pthread_t thread;

        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        *(void **)&init = symbol(library, "aclInit");
        *(void **)&finalize = symbol(library, "aclFinalize");
        code = init(NULL);
        HOLDS(code == 0);
        use(library);
        HOLDS(pthread_create(&thread, NULL, use, library) == 0);
        HOLDS(pthread_join(thread, NULL) == 0);
        code = finalize(NULL);
        HOLDS(code == 0);
        SAME(0, dlclose(library));
        if (round == 10) {
            sleep_ms(600); /* helpers of the library run meanwhile */
        }
    }
    sleep_ms(600);
    return 0;
}
