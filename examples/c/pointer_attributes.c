/*
 * Asks the runtime what a pointer is: device memory, pinned host memory, plain
 * host memory, or a block that is gone.
 */
#include "check.h"

#define MIB ((size_t)1 << 20)

static aclrtPtrAttributes attributes_of(const void *pointer)
{
    aclrtPtrAttributes attributes;

    memset(&attributes, 0xFF, sizeof attributes);
    OK(aclrtPointerGetAttributes(pointer, &attributes));
    return attributes;
}

int main(void)
{
    char plain[64];
    void *small = NULL, *large = NULL, *pinned = NULL, *heap = host_bytes(MIB);
    unsigned char *sent = host_bytes(4 * MIB), *received = host_bytes(4 * MIB);
    aclrtPtrAttributes found;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&small, 1000, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMalloc(&large, 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
    OK(aclrtMallocHost(&pinned, MIB));

    found = attributes_of(small);
    REQUIRE(found.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);
    REQUIRE(found.location.id == 0);
    REQUIRE(found.pageSize == 4096);

    found = attributes_of(large);
    REQUIRE(found.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);
    REQUIRE(found.pageSize == 2 * MIB);

    /* Any address inside a block answers for the block. */
    found = attributes_of((const char *)large + 3 * MIB + 5);
    REQUIRE(found.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);

    found = attributes_of(pinned);
    REQUIRE(found.location.type == ACL_MEM_LOCATION_TYPE_HOST);

    /* Memory that the runtime did not give out: its answer is not an error. */
    REQUIRE(attributes_of(plain).location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    REQUIRE(attributes_of(heap).location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);

    /* The answers are worth relying on: the direction of a copy follows them. */
    fill_random(sent, 4 * MIB, 7);
    OK(aclrtMemcpy(large, 4 * MIB, sent, 4 * MIB, ACL_MEMCPY_DEFAULT));
    OK(aclrtMemcpy(received, 4 * MIB, large, 4 * MIB, ACL_MEMCPY_DEFAULT));
    REQUIRE(memcmp(sent, received, 4 * MIB) == 0);

    OK(aclrtFree(small));
    OK(aclrtFree(large));
    OK(aclrtFreeHost(pinned));
    REQUIRE(attributes_of(small).location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    REQUIRE(attributes_of(large).location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);

    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    free(received);
    free(sent);
    free(heap);
    printf("pointer_attributes: device, pinned, plain and freed memory told apart\n");
    return 0;
}
