/*
 * What is this pointer: host memory of every kind, blocks, their insides, their
 * ends, and what is left of them.
 *
 * cases: C28
 * run:
 * run: CANNERY_PROFILE=310P CANNERY_MODE=rc
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "expect.h"

static int page;

static int what(const void *address)
{
    aclrtPtrAttributes attributes;

    memset(&attributes, 0x77, sizeof attributes);
    OK(aclrtPointerGetAttributes(address, &attributes));
    page = (int)attributes.pageSize;
    if (attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE) {
        SAME(0, attributes.location.id);
    }
    return (int)attributes.location.type;
}

int main(void)
{
    static char data[64];
    char stack[64], *heap = (char *)malloc(64);
    void *map, *shared, *file_map, *device = NULL, *huge = NULL, *host = NULL;
    aclrtPtrAttributes untouched;
    FILE *file = tmpfile();

    HOLDS(file != NULL && ftruncate(fileno(file), 4096) == 0);
    map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    file_map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    HOLDS(map != MAP_FAILED && shared != MAP_FAILED && file_map != MAP_FAILED);

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMalloc(&huge, 4096, ACL_MEM_MALLOC_HUGE_ONLY));
    OK(aclrtMallocHost(&host, 100000));

    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what(heap));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what(stack));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what(data));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what(map));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what(shared));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what(file_map));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what((void *)&what));

    SAME(ACL_MEM_LOCATION_TYPE_HOST, what(host));
    SAME(ACL_MEM_LOCATION_TYPE_HOST, what((char *)host + 99999));
    SAME(ACL_MEM_LOCATION_TYPE_DEVICE, what(device));
    SAME(4096, page);
    SAME(ACL_MEM_LOCATION_TYPE_DEVICE, what((char *)device + 1000));
    SAME(ACL_MEM_LOCATION_TYPE_DEVICE, what((char *)device + 4096 + 31)); /* the last byte, with the tail */
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what((char *)device + 4096 + 32));
    SAME(ACL_MEM_LOCATION_TYPE_DEVICE, what(huge));
    SAME(2 * MIB, page);
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what((char *)huge + 2 * MIB));

    OK(aclrtFree(device));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what(device));
    OK(aclrtFreeHost(host));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what(host));

    memset(&untouched, 0x77, sizeof untouched);
    CODE(ACL_ERROR_INVALID_PARAM, aclrtPointerGetAttributes(NULL, &untouched));
    SAME(0x77777777, untouched.pageSize);
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what((void *)-1));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what((void *)1));

    OK(aclrtResetDevice(0));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, what(huge));
    OK(aclFinalize());
    free(heap);
    fclose(file);
    return 0;
}
