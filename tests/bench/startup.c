/* What a fresh C process pays: loads a library, initialises it, sets device 0,
 * and prints what that took, as one line of JSON.
 *
 * usage: startup PATH_OF_LIBASCENDCL
 *
 * Resident memory is read from smaps_rollup, which is exact; VmRSS of status
 * is counted per thread in batches. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int (*init_function)(const char *config);
typedef int (*set_device_function)(int32_t device);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static long resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL)
        return -1;
    while (kib < 0 && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "Rss: %ld kB", &kib);
    fclose(file);
    return kib;
}

static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return pointer;
}

int main(int count, char **arguments)
{
    init_function init;
    set_device_function set_device;
    void *library;
    double begun, loaded, initialised, set;
    long before, after;

    if (count != 2)
        return 2;
    before = resident_kib();
    begun = now();
    library = must(dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL));
    /* The conversion that POSIX prescribes for functions. */
    *(void **)&init = must(dlsym(library, "aclInit"));
    *(void **)&set_device = must(dlsym(library, "aclrtSetDevice"));
    loaded = now();
    if (init(NULL) != 0) {
        fprintf(stderr, "aclInit failed\n");
        return 1;
    }
    initialised = now();
    if (set_device(0) != 0) {
        fprintf(stderr, "aclrtSetDevice failed\n");
        return 1;
    }
    set = now();
    after = resident_kib();
    printf("{\"load_ns\": %.0f, \"init_ns\": %.0f, \"set_device_ns\": %.0f, "
           "\"before_kib\": %ld, \"after_kib\": %ld}\n",
           loaded - begun, initialised - loaded, set - initialised, before, after);
    return 0;
}
