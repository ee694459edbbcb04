/*
 * Every direction with every kind: the synchronous copy goes by the addresses,
 * and a refused copy leaves the destination as it was.
 *
 * cases: C08
 * run:
 * run: CANNERY_PROFILE=310P CANNERY_MODE=rc
 */
#define _GNU_SOURCE
#include "expect.h"

enum { HEAP, PINNED, DEVICE, UNMAPPED, PLACES, SIZE = 4096 };

int main(void)
{
    unsigned char *to[PLACES] = {NULL}, *from[PLACES] = {NULL}, was[SIZE], sent[SIZE], back[SIZE];
    int dst, src, kind;
    void *gone = NULL;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    to[HEAP] = (unsigned char *)malloc(SIZE);
    from[HEAP] = (unsigned char *)malloc(SIZE);
    OK(aclrtMallocHost((void **)&to[PINNED], SIZE));
    OK(aclrtMallocHost((void **)&from[PINNED], SIZE));
    OK(aclrtMalloc((void **)&to[DEVICE], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&from[DEVICE], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&gone, 8 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(gone));
    to[UNMAPPED] = from[UNMAPPED] = (unsigned char *)gone + 4 * MIB;

    for (dst = 0; dst < PLACES; dst++) {
        for (src = 0; src < PLACES; src++) {
            for (kind = ACL_MEMCPY_HOST_TO_HOST; kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE; kind++) {
                int expected = dst == UNMAPPED || src == UNMAPPED ? ACL_ERROR_RT_PARAM_INVALID : ACL_SUCCESS;

                fill_bytes(was, SIZE, (unsigned)(dst * 100 + kind));
                fill_bytes(sent, SIZE, (unsigned)(src * 1000 + kind));
                if (dst != UNMAPPED) {
                    OK(aclrtMemcpy(to[dst], SIZE, was, SIZE, ACL_MEMCPY_DEFAULT));
                }
                if (src != UNMAPPED) {
                    OK(aclrtMemcpy(from[src], SIZE, sent, SIZE, ACL_MEMCPY_DEFAULT));
                }
                if (dst == UNMAPPED && src == UNMAPPED) {
                    /* One and the same address: nothing to do. */
                    OK(aclrtMemcpy(to[dst], SIZE, from[src], SIZE, (aclrtMemcpyKind)kind));
                    CODE(expected, aclrtMemcpy(to[dst], SIZE, from[src] + 1, SIZE, (aclrtMemcpyKind)kind));
                    continue;
                }
                CODE(expected, aclrtMemcpy(to[dst], SIZE, from[src], SIZE, (aclrtMemcpyKind)kind));
                if (dst != UNMAPPED) {
                    OK(aclrtMemcpy(back, SIZE, to[dst], SIZE, ACL_MEMCPY_DEFAULT));
                    HOLDS(memcmp(back, expected == ACL_SUCCESS ? sent : was, SIZE) == 0);
                }
            }
            for (kind = -1; kind <= 9; kind += 8) { /* -1 and 7 */
                CODE(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(to[dst], SIZE, from[src], SIZE, (aclrtMemcpyKind)kind));
            }
        }
    }
    OK(aclrtFreeHost(to[PINNED]));
    OK(aclrtFreeHost(from[PINNED]));
    OK(aclrtFree(to[DEVICE]));
    OK(aclrtFree(from[DEVICE]));
    free(to[HEAP]);
    free(from[HEAP]);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
