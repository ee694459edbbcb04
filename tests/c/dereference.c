/*
 * Host code that dereferences a device pointer: a fault on a PCIe card, as on
 * hardware; plain memory where host and device are one.
 *
 * run:
 * run: CANNERY_PROFILE=310P CANNERY_MODE=rc
 * run: CANNERY_PROFILE=310B CANNERY_MODE=rc
 * run: CANNERY_PROFILE=950
 */
#define _GNU_SOURCE
#include <setjmp.h>

#include "expect.h"

static sigjmp_buf out;
static void *volatile fault_at;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    fault_at = info->si_addr;
    siglongjmp(out, 1);
}

static int faults(volatile unsigned char *at, int writing)
{
    fault_at = NULL;
    if (sigsetjmp(out, 1) != 0) {
        return 1;
    }
    if (writing) {
        *at = 9;
    } else {
        (void)*at;
    }
    return 0;
}

int main(void)
{
    const char *mode = getenv("CANNERY_MODE");
    int rc = mode != NULL && strcmp(mode, "rc") == 0;
    unsigned char *device = NULL, *large = NULL, back[64];
    struct sigaction action;
    aclrtRunMode run;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    HOLDS(sigaction(SIGSEGV, &action, NULL) == 0);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtGetRunMode(&run));
    SAME(rc ? ACL_DEVICE : ACL_HOST, run);
    OK(aclrtMalloc((void **)&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&large, 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
    OK(aclrtMemset(device, 64, 5, 64));
    OK(aclrtMemset(large, 4 * MIB, 6, 4 * MIB));
    if (rc) {
        HOLDS(!faults(device, 0) && !faults(large + 4 * MIB - 1, 1));
        SAME(5, device[63]);
        SAME(9, large[4 * MIB - 1]);
        device[0] = 7;
        OK(aclrtMemcpy(back, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST));
        SAME(7, back[0]);
        memcpy(large, device, 64);
        SAME(7, large[0]);
    } else {
        HOLDS(faults(device, 0) && fault_at == device);
        HOLDS(faults(device + 63, 1) && fault_at == device + 63);
        HOLDS(faults(large + 12345, 0) && fault_at == large + 12345);
        OK(aclrtMemcpy(back, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST));
        SAME(5, back[63]);
    }
    OK(aclrtFree(device));
    OK(aclrtFree(large));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
