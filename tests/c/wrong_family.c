/*
 * Released by a function of another family: an error, and the memory stays as
 * it was; the right function still works.
 *
 * cases: C20 C16
 */
#define _GNU_SOURCE
#include "acl/ops/acl_dvpp.h"
#include "expect.h"
#include "hi_dvpp.h"

enum { FAMILIES = 5 };

static int release(int family, void *memory)
{
    switch (family) {
    case 0:
        return aclrtFree(memory);
    case 1:
        return aclrtFreeHost(memory);
    case 2:
        return acldvppFree(memory);
    case 3:
        return (int)hi_mpi_dvpp_free(memory);
    default:
        return aclrtFreeWithDevSync(memory);
    }
}

int main(void)
{
    void *memory[FAMILIES] = {NULL};
    unsigned char bytes[4096], back[4096];
    char *heap = (char *)malloc(4096);
    int maker, by;
    size_t all;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    all = device_free();
    OK(aclrtMalloc(&memory[0], 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMallocHost(&memory[1], 4096));
    OK(acldvppMalloc(&memory[2], 4096));
    OK((int)hi_mpi_dvpp_malloc(0, &memory[3], 4096));
    OK(aclrtMallocCached(&memory[4], 4096, ACL_MEM_MALLOC_NORMAL_ONLY));

    for (maker = 0; maker < FAMILIES; maker++) {
        fill_bytes(bytes, sizeof bytes, (unsigned)maker);
        OK(aclrtMemcpy(memory[maker], 4096, bytes, 4096, ACL_MEMCPY_DEFAULT));
    }
    for (maker = 0; maker < FAMILIES; maker++) {
        for (by = 0; by < FAMILIES; by++) {
            if (by != maker && !(maker % 4 == 0 && by % 4 == 0)) {
                CODE(ACL_ERROR_RT_PARAM_INVALID, release(by, memory[maker]));
            }
        }
        fill_bytes(bytes, sizeof bytes, (unsigned)maker);
        OK(aclrtMemcpy(back, 4096, memory[maker], 4096, ACL_MEMCPY_DEFAULT));
        HOLDS(memcmp(bytes, back, sizeof bytes) == 0);
    }
    memset(heap, 5, 4096);
    for (by = 0; by < FAMILIES; by++) {
        CODE(ACL_ERROR_RT_PARAM_INVALID, release(by, heap));
        CODE(ACL_ERROR_RT_PARAM_INVALID, release(by, bytes));
        CODE(ACL_ERROR_INVALID_PARAM, release(by, NULL));
    }
    SAME(5, heap[4095]);
    free(heap);
    for (maker = 0; maker < FAMILIES; maker++) {
        OK(release(maker, memory[maker]));
        CODE(ACL_ERROR_RT_PARAM_INVALID, release(maker, memory[maker]));
    }
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
