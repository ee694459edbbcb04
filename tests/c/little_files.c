/*
 * A limit for the length of files: what needs a longer one is refused, with a text that names the
 * limit; the signal of the system does not end the program.
 *
 * run:
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "expect.h"

int main(void)
{
    const char *words[] = {"ulimit -f", "65536", NULL};
    struct rlimit limit = {65536, 65536};
    aclrtPhysicalMemProp prop;
    aclrtDrvMemHandle handle = NULL;
    void *block = NULL;

    SAME(0, setrlimit(RLIMIT_FSIZE, &limit));
    memset(&prop, 0, sizeof prop);
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    SAME(207001, aclrtMallocPhysical(&handle, 2 * MIB, &prop, 0));
    expect_words(words, __FILE__, __LINE__);
    SAME(207001, aclrtMemAllocManaged(&block, 2 * MIB, 1));
    expect_words(words, __FILE__, __LINE__);
    OK(aclrtMalloc(&block, 4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(block, 4 * MIB, 1, 4 * MIB));
    OK(aclrtFree(block));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
