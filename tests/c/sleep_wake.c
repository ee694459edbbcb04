/*
 * An engine that sleeps: fifty rounds of memory that is mapped, filled, saved, taken away and had again at
 * the same addresses end where they began, to the byte; so do the mappings and descriptors of the process.
 * A second pool stacked beside it lives through all of them. Then the card is filled up again and again.
 *
 * cases: C32
 * run: CANNERY_HBM_BYTES=256M CANNERY_HUGE_BYTES=224M
 * run: CANNERY_HBM_BYTES=256M CANNERY_HUGE_BYTES=224M CANNERY_PROFILE=950
 * run: CANNERY_HBM_BYTES=256M CANNERY_HUGE_BYTES=224M CANNERY_PROFILE=310P
 */
#define _GNU_SOURCE
#include <dirent.h>

#include "expect.h"

enum { RANGES = 8, ROUNDS = 50, PARTS = 4 };

#define RANGE (4 * MIB)
#define PART (RANGE / 2)

static const aclrtPhysicalMemProp huge_pages = {
    ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_MEM_HUGE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, 0};

static unsigned char *kept[RANGES], *back;

/* Lines of /proc/self/maps. */
static long mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    long lines = 0;
    int c;

    HOLDS(maps != NULL);
    while ((c = fgetc(maps)) != EOF) {
        lines += c == '\n';
    }
    fclose(maps);
    return lines;
}

static long descriptors(void)
{
    DIR *open_files = opendir("/proc/self/fd");
    long count = 0;

    HOLDS(open_files != NULL);
    while (readdir(open_files) != NULL) {
        count++;
    }
    closedir(open_files);
    return count;
}

/* Maps `bytes` of fresh memory at an address; the handle is freed at once, so it goes with the mapping. */
static void map_at(void *at, size_t bytes)
{
    aclrtDrvMemHandle handle = NULL;

    OK(aclrtMallocPhysical(&handle, bytes, &huge_pages, 0));
    OK(aclrtMapMem(at, bytes, 0, handle, 0));
    OK(aclrtFreePhysical(handle));
}

static void wake(void **ranges)
{
    int i;

    for (i = 0; i < RANGES; i++) {
        map_at(ranges[i], PART);
        map_at((char *)ranges[i] + PART, PART);
        OK(aclrtMemcpy(ranges[i], RANGE, kept[i], RANGE, ACL_MEMCPY_HOST_TO_DEVICE));
    }
}

static void go_to_sleep(void **ranges)
{
    int i;

    for (i = 0; i < RANGES; i++) {
        OK(aclrtMemcpy(kept[i], RANGE, ranges[i], RANGE, ACL_MEMCPY_DEVICE_TO_HOST));
        OK(aclrtUnmapMem(ranges[i]));
        OK(aclrtUnmapMem((char *)ranges[i] + PART));
    }
}

/* Everything that was saved is there again, and is changed a little. */
static void work(void **ranges, int round)
{
    int i;

    for (i = 0; i < RANGES; i++) {
        unsigned char *there = (unsigned char *)ranges[i] + (size_t)round * 4096;

        OK(aclrtMemcpy(back, RANGE, ranges[i], RANGE, ACL_MEMCPY_DEVICE_TO_HOST));
        HOLDS(memcmp(back, kept[i], RANGE) == 0);
        OK(aclrtMemset(there, 4096, round + i, 4096));
        memset(kept[i] + (size_t)round * 4096, (unsigned char)(round + i), 4096);
    }
}

/* The second pool: the same idea, with its own addresses and its own memory. */
static void second_pool_holds(void *pool)
{
    size_t i;

    OK(aclrtMemcpy(back, PARTS * PART, pool, PARTS * PART, ACL_MEMCPY_DEVICE_TO_HOST));
    for (i = 0; i < PARTS * PART; i++) {
        HOLDS(back[i] == (unsigned char)(i * 7));
    }
}

/* Fills the card, is refused, gives everything back; ten times. */
static void full_again_and_again(size_t base)
{
    static aclrtDrvMemHandle handles[4096];
    void *addresses = NULL;
    int round;

    OK(aclrtReserveMemAddress(&addresses, 1 * GIB, 0, NULL, 0));
    for (round = 0; round < 10; round++) {
        static const char *const words[] = {"EL0004", "aclrtMallocPhysical", "device 0", "4194304", NULL};
        aclrtDrvMemHandle none = NULL;
        size_t count = 0, i;
        int code;

        while ((code = aclrtMallocPhysical(&handles[count], RANGE, &huge_pages, 0)) == ACL_SUCCESS) {
            OK(aclrtMapMem((char *)addresses + count * RANGE, RANGE, 0, handles[count], 0));
            count++;
            HOLDS(count < 4096);
        }
        SAME(ACL_ERROR_RT_MEMORY_ALLOCATION, code);
        expect_words(words, __FILE__, __LINE__);
        HOLDS(count > 8);
        CODE(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocPhysical(&none, RANGE, &huge_pages, 0));
        HOLDS(none == NULL);
        for (i = 0; i < count; i++) {
            OK(aclrtFreePhysical(handles[i]));
        }
        for (i = 0; i < count; i++) {
            OK(aclrtUnmapMem((char *)addresses + i * RANGE));
        }
        SAME(base, device_free());
    }
    OK(aclrtReleaseMemAddress(addresses));
}

int main(void)
{
    void *ranges[RANGES], *pool = NULL;
    size_t base, i;
    long maps5 = 0, files5 = 0, resident5 = 0;
    int round;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    back = malloc(PARTS * PART > RANGE ? PARTS * PART : RANGE);
    HOLDS(back != NULL);
    for (i = 0; i < RANGES; i++) {
        OK(aclrtReserveMemAddress(&ranges[i], RANGE, 0, NULL, 0));
        OK(aclrtMallocHost((void **)&kept[i], RANGE));
        fill_bytes(kept[i], RANGE, (unsigned)i + 1);
    }
    base = device_free();
    OK(aclrtReserveMemAddress(&pool, PARTS * PART, 0, NULL, 0));
    for (i = 0; i < PARTS; i++) {
        map_at((char *)pool + i * PART, PART);
    }
    for (i = 0; i < PARTS * PART; i++) {
        back[i] = (unsigned char)(i * 7);
    }
    OK(aclrtMemcpy(pool, PARTS * PART, back, PARTS * PART, ACL_MEMCPY_HOST_TO_DEVICE));
    SAME(base - PARTS * PART, device_free());
    for (round = 1; round <= ROUNDS; round++) {
        wake(ranges);
        SAME(base - PARTS * PART - RANGES * RANGE, device_free());
        work(ranges, round);
        go_to_sleep(ranges);
        SAME(base - PARTS * PART, device_free());
        second_pool_holds(pool);
        if (round == 5) {
            maps5 = mappings();
            files5 = descriptors();
            resident5 = status_kib("VmRSS");
        }
    }
    SAME(maps5, mappings());
    SAME(files5, descriptors());
    HOLDS(status_kib("VmRSS") < resident5 + 2048);
    for (i = 0; i < PARTS; i++) {
        OK(aclrtUnmapMem((char *)pool + i * PART));
    }
    OK(aclrtReleaseMemAddress(pool));
    full_again_and_again(base);
    SAME(base, device_free());
    for (i = 0; i < RANGES; i++) {
        OK(aclrtReleaseMemAddress(ranges[i]));
        OK(aclrtFreeHost(kept[i]));
    }
    free(back);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
