/*
 * The limits of a batch of copies: 4096 items and not one more; one bad item
 * and nothing moves.
 *
 * cases: C29
 * run:
 * run: CANNERY_PROFILE=950
 * run: CANNERY_PROFILE=310P
 * run: CANNERY_PROFILE=310B
 */
#define _GNU_SOURCE
#include "expect.h"

enum { MOST = 4096, STEP = 64 };

static void *dsts[MOST + 1], *srcs[MOST + 1];
static size_t sizes[MOST + 1], room[MOST + 1];
static unsigned char from[(MOST + 1) * STEP], back[(MOST + 1) * STEP];

static int is_product_without(const char *soc)
{
    return strstr(soc, "310") != NULL;
}

int main(void)
{
    aclrtMemcpyBatchAttr attr;
    size_t first = 0, fail = 7, i;
    void *device = NULL;

    memset(&attr, 0, sizeof attr);
    attr.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attr.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMalloc(&device, sizeof from, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(device, sizeof from, 0, sizeof from));
    fill_bytes(from, sizeof from, 29);
    for (i = 0; i <= MOST; i++) {
        /* Not in order, so that every item must find its own place. */
        size_t to = i < MOST ? (i * 1231) % MOST : i;

        dsts[i] = (char *)device + to * STEP;
        srcs[i] = from + to * STEP;
        sizes[i] = room[i] = STEP;
    }

    if (is_product_without(aclrtGetSocName())) {
        CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpyBatch(dsts, room, srcs, sizes, MOST, &attr, &first, 1, &fail));
        CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             aclrtMemcpyBatchV2(dsts, room, srcs, sizes, MOST, &attr, &first, 1));
    } else {
        CODE(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyBatch(dsts, room, srcs, sizes, MOST + 1, &attr, &first, 1, &fail));
        SAME(SIZE_MAX, fail);
        dsts[17] = back; /* said to be device memory */
        CODE(ACL_ERROR_RT_PARAM_INVALID,
             aclrtMemcpyBatch(dsts, room, srcs, sizes, MOST, &attr, &first, 1, &fail));
        SAME(17, fail);
        dsts[17] = (char *)device + (17 * 1231) % MOST * STEP;
        OK(aclrtMemcpy(back, sizeof back, device, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));
        for (i = 0; i < sizeof back; i++) {
            SAME(0, back[i]);
        }
        OK(aclrtMemcpyBatch(dsts, room, srcs, sizes, MOST, &attr, &first, 1, &fail));
        SAME(SIZE_MAX, fail);
        OK(aclrtMemcpy(back, sizeof back, device, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));
        HOLDS(memcmp(back, from, MOST * STEP) == 0);
        SAME(0, back[MOST * STEP]);
        OK(aclrtMemset(device, sizeof from, 0, sizeof from));
        OK(aclrtMemcpyBatchV2(dsts, room, srcs, sizes, MOST, &attr, &first, 1));
        OK(aclrtMemcpy(back, sizeof back, device, sizeof back, ACL_MEMCPY_DEVICE_TO_HOST));
        HOLDS(memcmp(back, from, MOST * STEP) == 0);
    }
    OK(aclrtFree(device));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
