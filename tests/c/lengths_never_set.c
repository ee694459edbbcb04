/*
 * Lists whose length was never set: they are refused before they are read, and nothing is taken.
 *
 * run:
 * run: CANNERY_PROFILE=A3
 * run: CANNERY_PROFILE=950
 */
#define _GNU_SOURCE
#include "expect.h"

/* No list has so many entries, and no machine the memory for them. */
static const size_t lengths[] = {65537, (size_t)1 << 40, SIZE_MAX};

static void refused(int got, const char *length)
{
    const char *words[3];

    words[0] = length;
    words[1] = "at most 65536";
    words[2] = NULL;
    SAME(107000, got);
    expect_words(words, __FILE__, __LINE__);
}

int main(void)
{
    aclrtMallocAttribute attribute;
    aclrtMallocConfig config;
    aclrtBinaryLoadOption option;
    aclrtBinaryLoadOptions options;
    aclrtMemAccessDesc access;
    aclrtBinHandle binary = NULL;
    void *block = NULL;
    size_t i, before;

    memset(&attribute, 0, sizeof attribute);
    memset(&option, 0, sizeof option);
    memset(&access, 0, sizeof access);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    before = device_free();
    for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        config.attrs = &attribute;
        config.numAttrs = lengths[i];
        refused(aclrtMallocWithCfg(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config), "cfg->numAttrs");
        refused(aclrtMallocForTaskScheduler(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config), "cfg->numAttrs");
        refused(aclrtMallocHostWithCfg(&block, 64, &config), "cfg->numAttrs");
        options.options = &option;
        options.numOpt = lengths[i];
        refused(aclrtBinaryLoadFromFile("none.so", &options, &binary), "options->numOpt");
        refused(aclrtBinaryLoadFromData("none", 4, &options, &binary), "options->numOpt");
        refused(aclrtMemSetAccess(&access, 64, &access, lengths[i]), "count");
    }
    HOLDS(block == NULL && binary == NULL);
    SAME(before, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
