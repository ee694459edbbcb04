/*
 * Mapped memory beyond that of the machine: writing it, and reading it, which brings its pages in as well,
 * is refused with a text while everything else goes on.
 *
 * run: CANNERY_HBM_BYTES=1T
 * alone: it looks at the memory of the machine
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "expect.h"

#define LARGE (300 * GIB)

static void refused(int code)
{
    static const char *const words[] = {"207001", "available", NULL};

    SAME(ACL_ERROR_RT_MEMORY_ALLOCATION, code);
    expect_words(words, __FILE__, __LINE__);
}

int main(void)
{
    aclrtPhysicalMemProp device = {
        ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_HBM_MEM_HUGE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, 0};
    aclrtPhysicalMemProp host = device;
    aclrtDrvMemHandle handle = NULL;
    void *large = NULL, *hosts = NULL, *block = NULL, *program;
    unsigned char byte = 0;
    long resident;
    int i;

    host.memAttr = ACL_DDR_MEM_HUGE;
    host.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtReserveMemAddress(&large, 3 * LARGE, 0, NULL, 0));
    for (i = 0; i < 2; i++) {
        OK(aclrtMallocPhysical(&handle, LARGE, &device, 0));
        OK(aclrtMapMem((char *)large + i * LARGE, LARGE, 0, handle, 0));
        OK(aclrtFreePhysical(handle));
    }
    OK(aclrtReserveMemAddress(&hosts, LARGE, 0, NULL, 0));
    OK(aclrtMallocPhysical(&handle, LARGE, &host, 0));
    OK(aclrtMapMem(hosts, LARGE, 0, handle, 0));
    OK(aclrtFreePhysical(handle));
    OK(aclrtMalloc(&block, 100 * GIB, ACL_MEM_MALLOC_HUGE_FIRST));
    program = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    HOLDS(program != MAP_FAILED);
    resident = status_kib("VmRSS");

    refused(aclrtMemset(large, LARGE, 1, LARGE));
    refused(aclrtMemset((char *)large + GIB, 2 * LARGE, 1, 2 * LARGE - GIB));
    refused(aclrtMemset(hosts, LARGE, 1, LARGE));
    refused(aclrtMemcpy((char *)large + LARGE, LARGE, large, LARGE, ACL_MEMCPY_DEVICE_TO_DEVICE));
    refused(aclrtMemcpy(program, LARGE, large, LARGE, ACL_MEMCPY_DEVICE_TO_HOST));
    refused(aclrtMemcpy(block, 100 * GIB, large, 100 * GIB, ACL_MEMCPY_DEVICE_TO_DEVICE));
    refused(aclrtMemsetAsync(large, LARGE, 1, LARGE, NULL));
    OK(aclrtSynchronizeDevice());
    HOLDS(status_kib("VmRSS") - resident < 65536);

    OK(aclrtMemset((char *)large + 200 * GIB, 64 * MIB, 3, 64 * MIB));
    OK(aclrtMemcpy(&byte, 1, (char *)large + 200 * GIB + 64 * MIB - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(3, byte);
    OK(aclrtUnmapMem(large));
    OK(aclrtUnmapMem((char *)large + LARGE));
    OK(aclrtUnmapMem(hosts));
    OK(aclrtReleaseMemAddress(large));
    OK(aclrtReleaseMemAddress(hosts));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
