/*
 * Who holds the memory: the text of a shortage and the usage by component.
 *
 * cases: C56
 * run: CANNERY_HBM_BYTES=64M CANNERY_HUGE_BYTES=0
 */
#define _GNU_SOURCE
#include "expect.h"

static void *with_module(size_t size, uint16_t module)
{
    aclrtMallocAttribute attribute;
    aclrtMallocConfig config;
    void *block = NULL;

    memset(&attribute, 0, sizeof attribute);
    attribute.attr = ACL_RT_MEM_ATTR_MODULE_ID;
    attribute.value.moduleId = module;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(aclrtMallocWithCfg(&block, size, ACL_MEM_MALLOC_NORMAL_ONLY, &config));
    return block;
}

int main(void)
{
    static const char *const words[] = {"aclrtMallocWithCfg", "12 block", "33554432", NULL};
    aclrtMemUsageInfo rows[8];
    void *weights, *cache[10], *work, *none = NULL;
    size_t count = 0, i;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    weights = with_module(20 * MIB, 3);
    for (i = 0; i < 10; i++) {
        cache[i] = with_module(2 * MIB, 5);
    }
    work = with_module(8 * MIB, 7);
    OK(aclrtFree(work));
    work = with_module(8 * MIB, 7);

    HOLDS(aclrtMalloc(&none, 32 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_words(words, __FILE__, __LINE__);

    OK(aclrtGetMemUsageInfo(0, rows, 8, &count));
    SAME(3, count);
    SAME(20 * MIB, rows[0].curMemSize);
    SAME(20 * MIB, rows[1].curMemSize);
    SAME(8 * MIB, rows[2].curMemSize);
    SAME(8 * MIB, rows[2].memPeakSize);
    for (i = 0; i < 10; i++) {
        OK(aclrtFree(cache[i]));
    }
    OK(aclrtGetMemUsageInfo(0, rows, 8, &count));
    SAME(2, count);
    SAME(20 * MIB, rows[0].curMemSize);
    SAME(8 * MIB, rows[1].curMemSize);
    OK(aclrtFree(work));
    OK(aclrtFree(weights));
    OK(aclrtGetMemUsageInfo(0, rows, 8, &count));
    SAME(0, count);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
