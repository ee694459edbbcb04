/*
 * Moves many separate buffers with one call, as a key-value cache is moved
 * between host and device: 64 blocks of different sizes, in and out again.
 */
#include "check.h"

enum { BLOCKS = 64, UNIT = 16 * 1024 };

int main(void)
{
    void *host[BLOCKS], *back[BLOCKS], *device[BLOCKS];
    size_t sizes[BLOCKS];
    size_t first_of_attr = 0; /* attribute 0 applies from block 0 on: to all */
    size_t fail_index = 0;
    size_t total = 0;
    size_t i;
    aclrtMemcpyBatchAttr attr;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));

    for (i = 0; i < BLOCKS; i++) {
        sizes[i] = (i + 1) * UNIT - i; /* odd sizes too */
        total += sizes[i];
        host[i] = host_bytes(sizes[i]);
        fill_random(host[i], sizes[i], i);
        OK(aclrtMallocHost(&back[i], sizes[i]));
        memset(back[i], 0, sizes[i]);
        OK(aclrtMalloc(&device[i], sizes[i], ACL_MEM_MALLOC_HUGE_FIRST));
    }

    memset(&attr, 0, sizeof attr);
    attr.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    attr.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attr.dstLoc.id = 0;
    OK(aclrtMemcpyBatch(device, sizes, host, sizes, BLOCKS, &attr, &first_of_attr, 1, &fail_index));
    REQUIRE(fail_index == SIZE_MAX);

    memset(&attr, 0, sizeof attr);
    attr.srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attr.srcLoc.id = 0;
    attr.dstLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    OK(aclrtMemcpyBatch(back, sizes, device, sizes, BLOCKS, &attr, &first_of_attr, 1, &fail_index));
    REQUIRE(fail_index == SIZE_MAX);
    for (i = 0; i < BLOCKS; i++) {
        REQUIRE(memcmp(host[i], back[i], sizes[i]) == 0);
    }

    /* A block that is not where its attribute says is named, and nothing moves. */
    {
        void *wrong[2], *source[2];

        wrong[0] = back[0];
        wrong[1] = host[1];
        source[0] = device[0];
        source[1] = back[1];
        memset(back[0], 0x77, sizes[0]);
        EXPECT(ACL_ERROR_RT_PARAM_INVALID,
               aclrtMemcpyBatch(wrong, sizes, source, sizes, 2, &attr, &first_of_attr, 1, &fail_index));
        REQUIRE(fail_index == 1);
        for (i = 0; i < sizes[0]; i++) {
            REQUIRE(((unsigned char *)back[0])[i] == 0x77);
        }
    }

    for (i = 0; i < BLOCKS; i++) {
        OK(aclrtFree(device[i]));
        OK(aclrtFreeHost(back[i]));
        free(host[i]);
    }
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    printf("batch_copy: %d blocks, %lu bytes, in and out with one call each\n", BLOCKS, (unsigned long)total);
    return 0;
}
