/*
 * Managed memory: host and device use one address; where the bytes are charged,
 * and that everything comes back.
 *
 * run:
 * run: CANNERY_SCHEDULE=random:11
 */
#define _GNU_SOURCE
#include <dirent.h>

#include "expect.h"

#define SIZE (6 * MIB)

static const char *const size_words[] = {"aclrtMemManagedAdvise", "107000", "2097152", NULL};

static aclrtMemManagedLocation place(aclrtMemManagedLocationType type, int id)
{
    aclrtMemManagedLocation location;

    location.type = type;
    location.id = id;
    return location;
}

static int attribute(aclrtMemManagedRangeAttribute kind, const void *address, size_t size)
{
    int value = 77;

    OK(aclrtMemManagedGetAttr(kind, address, size, &value, sizeof value));
    return value;
}

static int open_files(void)
{
    DIR *list = opendir("/proc/self/fd");
    int count = 0;

    HOLDS(list != NULL);
    while (readdir(list) != NULL) {
        count++;
    }
    closedir(list);
    return count;
}

static void one_round(aclrtStream stream, unsigned seed)
{
    const aclrtMemManagedLocation host = place(ACL_MEM_LOCATIONTYPE_HOST, 0);
    const aclrtMemManagedLocation device = place(ACL_MEM_LOCATIONTYPE_DEVICE, 0);
    unsigned char *managed = NULL, *expected = (unsigned char *)malloc(SIZE);
    size_t before = device_free();
    aclrtPtrAttributes attributes;
    void *block = NULL;
    size_t i;

    HOLDS(expected != NULL);
    OK(aclrtMemAllocManaged((void **)&managed, SIZE - 5, ACL_RT_MEM_ATTACH_GLOBAL));
    OK(aclrtPointerGetAttributes(managed + SIZE - 1, &attributes));
    SAME(ACL_MEM_LOCATION_TYPE_MANAGED, attributes.location.type);
    SAME(before, device_free());

    /* The host writes, the device copies, at the same address. */
    fill_bytes(managed, SIZE, seed);
    memcpy(expected, managed, SIZE);
    SAME(before, device_free());
    OK(aclrtMalloc(&block, SIZE, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMemcpyAsync(block, SIZE, managed, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtMemsetAsync(managed, SIZE, 0x11, SIZE, stream));
    OK(aclrtSynchronizeStream(stream));
    for (i = 0; i < SIZE; i++) {
        HOLDS(managed[i] == 0x11);
    }
    OK(aclrtMemcpyAsync(managed, SIZE, block, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
    HOLDS(memcmp(managed, expected, SIZE) == 0);
    OK(aclrtFree(block));
    SAME(before - SIZE, device_free());

    /* Back to the host, a part of it. */
    OK(aclrtMemManagedPrefetchAsync(managed, 4 * MIB, host, 0, stream));
    OK(aclrtSynchronizeStream(stream));
    SAME(before - 2 * MIB, device_free());
    SAME(-1, attribute(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed, 4 * MIB));
    OK(aclrtMemManagedAdvise(managed, 4 * MIB, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    SAME(-2, attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, SIZE));
    OK(aclrtMemManagedAdvise(managed, SIZE, ACL_MEM_ADVISE_SET_ACCESSED_BY, device));
    SAME(0, attribute(ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, managed, SIZE));
    SAME(107000, aclrtMemManagedAdvise(managed, MIB, ACL_MEM_ADVISE_SET_READ_MOSTLY, host));
    expect_words(size_words, __FILE__, __LINE__);
    HOLDS(memcmp(managed, expected, SIZE) == 0);

    OK(aclrtFree(managed));
    CODE(107000, aclrtFree(managed));
    SAME(before, device_free());
    free(expected);
}

static void the_host_cannot_use_it_afterwards(void)
{
    volatile unsigned char *managed = NULL;
    pid_t child;
    int status;

    OK(aclrtMemAllocManaged((void **)(uintptr_t)&managed, 64, ACL_RT_MEM_ATTACH_GLOBAL));
    managed[63] = 5;
    SAME(5, managed[63]);
    OK(aclrtFree((void *)(uintptr_t)managed));
    child = fork();
    HOLDS(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(managed[63] == 5 ? 3 : 4);
    }
    status = wait_for(child, 20);
    HOLDS(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void)
{
    aclrtStream stream = NULL;
    unsigned round;
    int files;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    one_round(stream, 1);
    files = open_files();
    for (round = 2; round < 10; round++) {
        one_round(stream, round);
    }
    SAME(files, open_files());
    the_host_cannot_use_it_afterwards();
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
