/*
 * The memory of an NPU, from C: cached device memory, copies, flush and
 * invalidate, pinned host memory, media memory, page policies, and running out
 * of memory. Checks every return code and every byte.
 *
 * It holds on every kind of product, and is run as
 *   cannery run -- ./mission
 *   cannery run --profile 950 -- ./mission
 *   cannery run --profile A3 -- ./mission
 *   cannery run --profile 910 -- ./mission
 *   cannery run --profile 310P -- ./mission
 *   cannery run --profile 310B --mode rc --hbm 4G -- ./mission
 *   cannery run --devices 2 --hbm 64M --huge 32M --pin off -- ./mission
 */
#include <stdarg.h>

#include "check.h"

#include "acl/dvpp/hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"
#include "cannery/cannery.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* One aligned line of the story. */
static void tell(const char *what, const char *format, ...)
{
    va_list arguments;

    printf("  %-22s", what);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

/* Prints a long text in lines of a width that can be read. */
static void tell_wrapped(const char *text)
{
    const int width = 92;
    int column = 0;

    while (*text != '\0') {
        int length = (int)strcspn(text, " \n");

        if (column > 0 && column + 1 + length > width) {
            column = 0;
            putchar('\n');
        }
        column += printf("%s%.*s", column == 0 ? "    " : " ", length, text);
        text += length;
        text += strspn(text, " \n");
    }
    putchar('\n');
}

static size_t free_bytes(aclrtMemAttr attribute)
{
    size_t free_now = 0, total = 0;

    OK(aclrtGetMemInfo(attribute, &free_now, &total));
    return free_now;
}

/* Sends random bytes to the device and fetches them again. */
static void round_trip(void *device, size_t size)
{
    void *sent = host_bytes(size), *received = host_bytes(size);

    fill_random(sent, size, (uint64_t)size);
    memset(received, 0, size);
    OK(aclrtMemcpy(device, size, sent, size, ACL_MEMCPY_HOST_TO_DEVICE));
    tell("copy in", "%lu random bytes", (unsigned long)size);
    OK(aclrtMemFlush(device, size));
    OK(aclrtMemInvalidate(device, size));
    tell("flush, invalidate", "cache and memory hold the same");
    OK(aclrtMemcpy(received, size, device, size, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(memcmp(sent, received, size) == 0);
    tell("copy back", "%lu bytes, all equal", (unsigned long)size);
    free(received);
    free(sent);
}

static void pinned_memory(aclrtRunMode mode)
{
    void *pinned = NULL, *device = NULL;
    unsigned char *copy = host_bytes(MIB);

    OK(aclrtMallocHost(&pinned, MIB));
    /* Where host and device share memory, the alignment is not promised. */
    REQUIRE(mode == ACL_DEVICE || (uintptr_t)pinned % 64 == 0);
    OK(aclrtMalloc(&device, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    fill_random(pinned, MIB, 2);
    memcpy(copy, pinned, MIB);
    OK(aclrtMemcpy(device, MIB, pinned, MIB, ACL_MEMCPY_HOST_TO_DEVICE));
    memset(pinned, 0, MIB);
    OK(aclrtMemcpy(pinned, MIB, device, MIB, ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(memcmp(pinned, copy, MIB) == 0);
    OK(aclrtFree(device));
    OK(aclrtFreeHost(pinned));
    free(copy);
    tell("pinned host memory", "1 MiB, there and back");
}

static void media_memory(void)
{
    void *block = NULL;
    int code = acldvppMalloc(&block, MIB);

    if (code == ACL_SUCCESS) {
        REQUIRE((uintptr_t)block % 128 == 0);
        EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(block));
        OK(acldvppFree(block));
        tell("media memory, v1", "1 MiB, freed only by its own function");
    } else {
        EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, code);
        tell("media memory, v1", "not on this product");
    }
    code = hi_mpi_dvpp_malloc(0, &block, MIB);
    if (code == ACL_SUCCESS) {
        REQUIRE((uintptr_t)block % 128 == 0);
        EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(block));
        OK(hi_mpi_dvpp_free(block));
        tell("media memory, v2", "1 MiB, freed only by its own function");
    } else {
        EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, code);
        tell("media memory, v2", "not on this product");
    }
}

/* Allocates once and tells from which page pool the memory was taken. */
static void show_policy(const char *name, aclrtMemMallocPolicy policy, size_t size, int huge_expected)
{
    const size_t huge = free_bytes(ACL_HBM_MEM_HUGE), normal = free_bytes(ACL_HBM_MEM_NORMAL);
    void *block = NULL;
    size_t huge_taken, normal_taken;

    OK(aclrtMallocCached(&block, size, policy));
    huge_taken = huge - free_bytes(ACL_HBM_MEM_HUGE);
    normal_taken = normal - free_bytes(ACL_HBM_MEM_NORMAL);
    printf("  %-12s%14lu%16lu%16lu\n", name, (unsigned long)size, (unsigned long)huge_taken,
           (unsigned long)normal_taken);
    REQUIRE(huge_expected ? huge_taken >= size && normal_taken == 0
                          : normal_taken >= size && huge_taken == 0);
    OK(aclrtFree(block));
    REQUIRE(free_bytes(ACL_HBM_MEM_HUGE) == huge && free_bytes(ACL_HBM_MEM_NORMAL) == normal);
}

static void page_policies(void)
{
    const aclrtMemMallocPolicy unknown = (aclrtMemMallocPolicy)99;

    printf("\nPage policies: what a request takes from each pool, in bytes\n");
    printf("  %-12s%14s%16s%16s\n", "policy", "asked", "2 MiB pages", "4 KiB pages");
    show_policy("HUGE_FIRST", ACL_MEM_MALLOC_HUGE_FIRST, MIB - 64, 0);
    show_policy("HUGE_FIRST", ACL_MEM_MALLOC_HUGE_FIRST, MIB + 64, 1);
    show_policy("unknown (99)", unknown, 2 * MIB - 1, 0);
    show_policy("unknown (99)", unknown, 2 * MIB, 1);
}

static void out_of_memory(void)
{
    size_t free_before = 0, total = 0;
    void *block = NULL;
    const char *text;
    int code;

    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
    code = aclrtMallocCached(&block, total + GIB, ACL_MEM_MALLOC_HUGE_FIRST);
    text = aclGetRecentErrMsg();
    printf("\nOut of memory: %lu bytes asked of a device that has %lu\n", (unsigned long)(total + GIB),
           (unsigned long)total);
    tell("code", "%d, and the text:", code);
    REQUIRE(code == ACL_ERROR_RT_MEMORY_ALLOCATION && text != NULL);
    tell_wrapped(text);
    REQUIRE(block == NULL && free_bytes(ACL_HBM_MEM) == free_before);
}

/* A number of the library's statistics: JSON, with the totals outermost. */
static long statistic(const char *json, const char *name)
{
    char key[64];
    int depth = 0;

    snprintf(key, sizeof key, "\"%s\":", name);
    for (; *json != '\0'; json++) {
        depth += (*json == '{') - (*json == '}');
        if (depth == 1 && strncmp(json, key, strlen(key)) == 0) {
            return strtol(json + strlen(key), NULL, 10);
        }
    }
    fprintf(stderr, "the statistics lack %s\n", name);
    exit(EXIT_FAILURE);
}

static void what_happened(void)
{
    char *json;
    size_t needed = 0;
    long leaked;

    OK(cannery_stats(NULL, 0, &needed));
    json = host_bytes(needed);
    OK(cannery_stats(json, needed, &needed));
    leaked = statistic(json, "live_blocks");
    printf("\nWhat happened\n");
    tell("allocations", "%ld, freed %ld, refused %ld", statistic(json, "allocations"),
         statistic(json, "frees"), statistic(json, "failed_allocations"));
    tell("peak", "%ld KiB", statistic(json, "peak_bytes") / (long)KIB);
    if (leaked == 0) {
        tell("leaks", "none");
    } else {
        tell("leaks", "%ld blocks, %ld bytes", leaked, statistic(json, "live_bytes"));
    }
    REQUIRE(leaked == 0 && statistic(json, "allocations") == statistic(json, "frees"));
    free(json);
}

int main(void)
{
    aclrtRunMode mode = ACL_HOST;
    uint32_t devices = 0;
    void *device = NULL;

    OK(aclInit(NULL));
    OK(aclrtGetDeviceCount(&devices));
    OK(aclrtSetDevice(0));
    OK(aclrtGetRunMode(&mode));
    printf("The mission in C, on %s\n", aclrtGetSocName());
    tell("init", "device 0 of %u, %s", (unsigned)devices,
         mode == ACL_HOST ? "host and device memory separate" : "host and device share memory");

    OK(aclrtMallocCached(&device, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    REQUIRE((uintptr_t)device % 64 == 0);
    tell("cached device memory", "1 MiB at %p", device);
    round_trip(device, MIB);
    OK(aclrtFree(device));
    tell("free", "and a second time: refused");
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(device));
    pinned_memory(mode);
    media_memory();

    page_policies();
    out_of_memory();

    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    what_happened();
    return 0;
}
