/* The other process of the sharing rows: imports and closes the keys that come on its standard input,
 * and prints how many nanoseconds each batch took.
 *
 * usage: importer PATH_OF_LIBASCENDCL
 *
 * A batch is a line with a number, and so many lines with a key. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 256
#define KEY 65

typedef int (*init_function)(const char *config);
typedef int (*set_device_function)(int32_t device);
typedef int (*import_function)(void **at, const char *key, uint64_t flags);
typedef int (*close_function)(const char *key);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return pointer;
}

static void done(int code, const char *call)
{
    if (code != 0) {
        fprintf(stderr, "%s answered %d\n", call, code);
        exit(1);
    }
}

int main(int count, char **arguments)
{
    static char keys[MOST][KEY + 2];
    init_function init;
    set_device_function set_device;
    import_function import;
    close_function close_key;
    void *library;
    char line[32];

    if (count != 2)
        return 2;
    library = must(dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL));
    /* The conversion that POSIX prescribes for functions. */
    *(void **)&init = must(dlsym(library, "aclInit"));
    *(void **)&set_device = must(dlsym(library, "aclrtSetDevice"));
    *(void **)&import = must(dlsym(library, "aclrtIpcMemImportByKey"));
    *(void **)&close_key = must(dlsym(library, "aclrtIpcMemClose"));
    done(init(NULL), "aclInit");
    done(set_device(0), "aclrtSetDevice");
    while (fgets(line, sizeof line, stdin) != NULL) {
        int i, number = atoi(line);
        double begun;

        if (number < 1 || number > MOST)
            return 2;
        for (i = 0; i < number; i++) {
            if (fgets(keys[i], sizeof keys[i], stdin) == NULL)
                return 1;
            keys[i][strcspn(keys[i], "\n")] = '\0';
        }
        begun = now();
        for (i = 0; i < number; i++) {
            void *at = NULL;

            done(import(&at, keys[i], 0), "aclrtIpcMemImportByKey");
            done(close_key(keys[i]), "aclrtIpcMemClose");
        }
        printf("%.0f\n", now() - begun);
        fflush(stdout);
    }
    return 0;
}
