/*
 * Every memory function that needs a device, called before one is set: 107002
 * with a text, outputs as they were, no crash.
 *
 * cases: C04
 * run:
 * run: CANNERY_PROFILE=310P CANNERY_MODE=rc
 */
#define _GNU_SOURCE
#include "acl/ops/acl_dvpp.h"
#include "expect.h"
#include "hi_dvpp.h"

#define NOTHING ((void *)0x5a5a)

static void *place = NOTHING;
static size_t free_bytes = 7, total = 7;
static char host[256], other[256];
static char *address = (char *)0x12c000000000; /* where device memory begins, none yet */

static int call(int number, const char **name)
{
#define CALL(n, expression) \
    case n:                 \
        *name = #expression; \
        return (int)(expression)
    switch (number) {
        CALL(0, aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
        CALL(1, aclrtMalloc(&place, 64, ACL_MEM_MALLOC_HUGE_FIRST));
        CALL(2, aclrtMallocAlign32(&place, 64, ACL_MEM_MALLOC_HUGE_FIRST));
        CALL(3, aclrtMallocCached(&place, 64, ACL_MEM_MALLOC_HUGE_FIRST));
        CALL(4, aclrtMallocWithCfg(&place, 64, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
        CALL(5, aclrtMallocForTaskScheduler(&place, 64, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
        CALL(6, aclrtMallocHost(&place, 64));
        CALL(7, aclrtMallocHostWithCfg(&place, 64, NULL));
        CALL(8, acldvppMalloc(&place, 64));
        CALL(9, hi_mpi_dvpp_malloc(0, &place, 64));
        CALL(10, aclrtFreeWithDevSync(address));
        CALL(11, aclrtFreeHostWithDevSync(host));
        CALL(12, aclrtMemcpy(host, 64, other, 64, ACL_MEMCPY_HOST_TO_HOST));
        CALL(13, aclrtMemcpy(address, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE));
        CALL(14, aclrtMemset(address, 64, 1, 64));
        CALL(15, aclrtMemFlush(address, 64));
        CALL(16, aclrtMemInvalidate(address, 64));
        CALL(17, aclrtMemcpy2d(host, 8, address, 8, 8, 2, ACL_MEMCPY_DEVICE_TO_HOST));
        CALL(18, aclrtSynchronizeDevice());
        CALL(19, aclrtDeviceEnablePeerAccess(1, 0));
    default:
        return -1;
    }
#undef CALL
}

static void all_refused(void)
{
    const char *name = NULL;
    int number, code;

    for (number = 0; (code = call(number, &name)) != -1; number++) {
        const char *text = aclGetRecentErrMsg();

        if (code != ACL_ERROR_RT_CONTEXT_NULL || text == NULL || strstr(text, "aclrtSetDevice") == NULL) {
            fprintf(stderr, "%s returned %d, text: %s\n", name, code, text != NULL ? text : "(none)");
            _exit(1);
        }
        HOLDS(place == NOTHING && free_bytes == 7 && total == 7);
        HOLDS(host[0] == 0 && host[63] == 0);
    }
    HOLDS(number == 20);
}

int main(void)
{
    memset(other, 9, sizeof other);
    /* Also before aclInit: the calls start the runtime, and still there is no device. */
    all_refused();
    OK(aclInit(NULL));
    all_refused();
    OK(aclrtSetDevice(0));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    HOLDS(free_bytes > 0 && free_bytes <= total);
    OK(aclrtResetDevice(0));
    free_bytes = total = 7;
    all_refused();
    OK(aclFinalize());
    return 0;
}
