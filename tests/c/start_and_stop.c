/*
 * A service that starts and stops the device all day: nothing piles up, neither
 * memory nor mappings nor descriptors nor threads.
 *
 * run:
 * run: CANNERY_DEVICES=4 CANNERY_PIN=off
 * run: CANNERY_PROFILE=310P CANNERY_MODE=rc
 */
#define _GNU_SOURCE
#include <dirent.h>

#include "expect.h"

static int lines(const char *name)
{
    FILE *file = fopen(name, "r");
    int count = 0, byte;

    HOLDS(file != NULL);
    while ((byte = fgetc(file)) != EOF) {
        count += byte == '\n';
    }
    fclose(file);
    return count;
}

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    HOLDS(folder != NULL);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static void round_trip(int round, uint32_t devices)
{
    void *device = NULL, *host = NULL, *left = NULL;
    uint32_t n;

    OK(aclInit(NULL));
    for (n = 0; n < devices; n++) {
        aclrtContext context = NULL;

        OK(aclrtSetDevice((int)n));
        OK(aclrtMalloc(&device, 3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMalloc(&left, 100000, ACL_MEM_MALLOC_HUGE_FIRST)); /* goes with the reset */
        OK(aclrtMallocHost(&host, 70000));
        memset(host, round, 70000);
        OK(aclrtMemcpy(device, 70000, host, 70000, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclrtCreateContext(&context, (int)n));
        OK(aclrtDestroyContext(context));
        OK(aclrtFreeHost(host));
        OK(aclrtFree(device));
        CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device));
        OK(round % 2 == 0 ? aclrtResetDevice((int)n) : aclrtResetDeviceForce((int)n));
    }
    OK(aclFinalize());
}

int main(void)
{
    uint32_t devices = 0;
    int round, maps, files;
    long resident, size;

    OK(aclrtGetDeviceCount(&devices));
    for (round = 0; round < 200; round++) {
        round_trip(round, devices);
    }
    maps = lines("/proc/self/maps");
    files = descriptors();
    resident = status_kib("VmRSS");
    size = status_kib("VmSize");
    for (round = 0; round < 3000; round++) {
        round_trip(round, devices);
    }
    HOLDS(lines("/proc/self/maps") - maps <= 8);
    SAME(files, descriptors());
    SAME(size, status_kib("VmSize"));
    HOLDS(status_kib("Threads") <= 3);
    if (status_kib("VmRSS") - resident > 4096) {
        fprintf(stderr, "resident: %ld KiB after 200 rounds, %ld KiB after 3200\n", resident, status_kib("VmRSS"));
        return 1;
    }
    return 0;
}
