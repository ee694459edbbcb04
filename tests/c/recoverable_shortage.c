/*
 * A shortage that a release cures at once: nothing of the freed block is held
 * back, whichever of the blocks it was.
 *
 * cases: C02
 * run: CANNERY_HBM_BYTES=64M CANNERY_HUGE_BYTES=0
 * run: CANNERY_HBM_BYTES=64M CANNERY_HUGE_BYTES=0 CANNERY_PROFILE=950
 */
#define _GNU_SOURCE
#include "expect.h"

#define MOST 64

int main(void)
{
    void *blocks[MOST] = {NULL}, *again = NULL;
    int count = 0, round, code;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    for (round = 0; round < 3; round++) {
        count = 0;
        while ((code = aclrtMalloc(&blocks[count], 4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY)) == ACL_SUCCESS) {
            count++;
            HOLDS(count < MOST);
        }
        CODE(ACL_ERROR_RT_MEMORY_ALLOCATION, code);
        HOLDS(blocks[count] == NULL);
        /* 15 blocks with their tails, or 16 without. */
        HOLDS(count == 15 || count == 16);

        int which;
        for (which = 0; which < count; which++) {
            OK(aclrtFree(blocks[which]));
            OK(aclrtMalloc(&again, 4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY));
            blocks[which] = again;
            CODE(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&again, 4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY));
        }
        while (count > 0) {
            OK(aclrtFree(blocks[--count]));
            blocks[count] = NULL;
        }
        SAME(64 * MIB, device_free());
    }
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
