/*
 * Sequences of calls that programs outside build on: a pool of events that are used
 * again, a second stream beside each stream, one context for all threads, staging
 * memory that is returned when its event is complete, a pool that grows by mapping,
 * copies between cards by the one that is current.
 *
 * run: CANNERY_DEVICES=2
 * run: CANNERY_DEVICES=2 CANNERY_SCHEDULE=eager
 * run: CANNERY_DEVICES=2 CANNERY_SCHEDULE=lazy
 * run: CANNERY_DEVICES=2 CANNERY_SCHEDULE=random:1
 * run: CANNERY_DEVICES=2 CANNERY_SCHEDULE=random:2
 * run: CANNERY_DEVICES=2 CANNERY_PROFILE=310P
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "expect.h"

enum { EVENTS = 4, ROUNDS = 60, THREADS = 4 };
static const size_t SIZE = (1 << 20) + 77;

static int complete(aclrtEvent event)
{
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;

    OK(aclrtQueryEventStatus(event, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

/* Events are recorded, waited for by another stream, asked, reset, and taken again. */
static void events_are_used_again(void)
{
    aclrtEvent events[EVENTS];
    aclrtStream first, second;
    unsigned char *in[EVENTS], *out[EVENTS];
    void *there[EVENTS];
    int round, i;

    OK(aclrtCreateStream(&first));
    OK(aclrtCreateStream(&second));
    for (i = 0; i < EVENTS; i++) {
        OK(aclrtCreateEvent(&events[i]));
        OK(aclrtMallocHost((void **)&in[i], SIZE));
        OK(aclrtMallocHost((void **)&out[i], SIZE));
        OK(aclrtMalloc(&there[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (round = 0; round < ROUNDS; round++) {
        aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_NOT_READY;

        i = round % EVENTS;
        if (round >= EVENTS) {
            /* As a pool does: what is complete is reset once nobody waits for it any more. */
            while (!complete(events[i])) {
            }
            OK(aclrtQueryEventWaitStatus(events[i], &waited));
            if (waited != ACL_EVENT_WAIT_STATUS_COMPLETE) {
                OK(aclrtSynchronizeStream(second));
            }
            OK(aclrtResetEvent(events[i], first));
            OK(aclrtSynchronizeStream(second));
            HOLDS(memcmp(in[i], out[i], SIZE) == 0);
            memset(out[i], 0, SIZE);
        }
        fill_bytes(in[i], SIZE, (unsigned)round + 1);
        OK(aclrtMemcpyAsync(there[i], SIZE, in[i], SIZE, ACL_MEMCPY_HOST_TO_DEVICE, first));
        OK(aclrtRecordEvent(events[i], first));
        OK(aclrtStreamWaitEvent(second, events[i]));
        OK(aclrtMemcpyAsync(out[i], SIZE, there[i], SIZE, ACL_MEMCPY_DEVICE_TO_HOST, second));
    }
    OK(aclrtSynchronizeDevice());
    for (i = 0; i < EVENTS; i++) {
        HOLDS(memcmp(in[i], out[i], SIZE) == 0);
        OK(aclrtDestroyEvent(events[i]));
        OK(aclrtFree(there[i]));
        OK(aclrtFreeHost(in[i]));
        OK(aclrtFreeHost(out[i]));
    }
    OK(aclrtDestroyStream(first));
    OK(aclrtDestroyStream(second));
}

/* A stream beside a stream: each step of the one lies between two events of the other; events end
 * when they are complete, also before the last wait was looked at. */
static void a_stream_beside_a_stream(void)
{
    aclrtEvent pending[2 * ROUNDS];
    aclrtStream main_one, beside;
    unsigned char *bytes = malloc(SIZE), *back = malloc(SIZE);
    void *a, *b;
    int count = 0, round, i, kept;

    OK(aclrtCreateStream(&main_one));
    OK(aclrtCreateStream(&beside));
    OK(aclrtMalloc(&a, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&b, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    for (round = 0; round < ROUNDS / 3; round++) {
        fill_bytes(bytes, SIZE, (unsigned)round + 1000);
        /* Pageable memory: the call returns when the copy is done. */
        OK(aclrtMemcpyAsync(a, SIZE, bytes, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, main_one));
        OK(aclrtCreateEvent(&pending[count]));
        OK(aclrtRecordEvent(pending[count], main_one));
        OK(aclrtStreamWaitEvent(beside, pending[count++]));
        OK(aclrtMemcpyAsync(b, SIZE, a, SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, beside));
        OK(aclrtCreateEvent(&pending[count]));
        OK(aclrtRecordEvent(pending[count], beside));
        OK(aclrtStreamWaitEvent(main_one, pending[count++]));
        for (i = kept = 0; i < count; i++) {
            if (complete(pending[i])) {
                OK(aclrtDestroyEvent(pending[i]));
            } else {
                pending[kept++] = pending[i];
            }
        }
        count = kept;
        OK(aclrtMemcpyAsync(back, SIZE, b, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, main_one));
        OK(aclrtSynchronizeStream(main_one));
        HOLDS(memcmp(bytes, back, SIZE) == 0);
    }
    for (i = 0; i < count; i++) {
        OK(aclrtSynchronizeEvent(pending[i]));
        OK(aclrtDestroyEvent(pending[i]));
    }
    OK(aclrtDestroyStream(main_one));
    OK(aclrtDestroyStream(beside));
    OK(aclrtFree(a));
    OK(aclrtFree(b));
    free(bytes);
    free(back);
}

/* Threads take the context of the first one; what one made another one frees. */
static aclrtContext shared;
static void *made[THREADS];

static void *in_a_thread(void *data)
{
    size_t i = (size_t)data;
    unsigned char *bytes = malloc(SIZE), *back = malloc(SIZE);

    OK(aclrtSetCurrentContext(shared));
    OK(aclrtMalloc(&made[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    fill_bytes(bytes, SIZE, (unsigned)i + 7);
    OK(aclrtMemcpy(made[i], SIZE, bytes, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(back, SIZE, made[i], SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(bytes, back, SIZE) == 0);
    free(bytes);
    free(back);
    return NULL;
}

static void one_context_for_all(void)
{
    pthread_t threads[THREADS];
    size_t i;

    OK(aclrtGetCurrentContext(&shared));
    for (i = 0; i < THREADS; i++) {
        SAME(0, pthread_create(&threads[i], NULL, in_a_thread, (void *)i));
    }
    for (i = 0; i < THREADS; i++) {
        SAME(0, pthread_join(threads[i], NULL));
        OK(aclrtFree(made[i]));
    }
}

/* A pool that grows: the granularity is asked before a device is set, all free memory is reserved,
 * each piece is mapped behind the one before it; in the end all are unmapped, then all released. */
static void a_pool_that_grows(void)
{
    aclrtPhysicalMemProp kind = {0};
    aclrtDrvMemHandle handles[8];
    size_t granularity = 0, grown = 0, free_bytes = 0, total = 0, after = 0, at[8];
    unsigned char *bytes, *back;
    void *pool = NULL;
    int i;

    kind.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    kind.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    kind.memAttr = ACL_HBM_MEM_HUGE;
    kind.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    OK(aclrtMemGetAllocationGranularity(&kind, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &granularity));
    OK(aclrtSetDevice(0));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    for (i = 0; i < 8; i++) {
        size_t piece = granularity * ((size_t)i + 1);

        OK(aclrtMallocPhysical(&handles[i], piece, &kind, 0));
        if (pool == NULL) {
            OK(aclrtReserveMemAddress(&pool, free_bytes, 0, NULL, 1));
        }
        OK(aclrtMapMem((char *)pool + grown, piece, 0, handles[i], 0));
        at[i] = grown;
        grown += piece;
    }
    bytes = malloc(grown);
    back = malloc(grown);
    fill_bytes(bytes, grown, 99);
    OK(aclrtMemcpy(pool, grown, bytes, grown, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(back, grown, pool, grown, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(bytes, back, grown) == 0);
    for (i = 0; i < 8; i++) {
        OK(aclrtUnmapMem((char *)pool + at[i]));
    }
    for (i = 0; i < 8; i++) {
        OK(aclrtFreePhysical(handles[i]));
    }
    OK(aclrtReleaseMemAddress(pool));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
    SAME(free_bytes, after);
    free(bytes);
    free(back);
}

/* The card that is current enables its access to the other one and copies, out of itself or into itself. */
static void copies_by_the_current_card(void)
{
    unsigned char *bytes = malloc(SIZE), *back = malloc(SIZE);
    void *here[2];
    int card, can = 0;

    for (card = 0; card < 2; card++) {
        OK(aclrtSetDevice(card));
        OK(aclrtMalloc(&here[card], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (card = 0; card < 2; card++) {
        int other = 1 - card;

        OK(aclrtSetDevice(card));
        OK(aclrtDeviceCanAccessPeer(&can, card, other));
        SAME(1, can);
        OK(aclrtDeviceEnablePeerAccess(other, 0));
        fill_bytes(bytes, SIZE, (unsigned)card + 50);
        OK(aclrtMemcpy(here[card], SIZE, bytes, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclrtMemcpy(here[other], SIZE, here[card], SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
        OK(aclrtMemset(here[card], SIZE, 0, SIZE));
        OK(aclrtMemcpy(here[card], SIZE, here[other], SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE));
        OK(aclrtMemcpy(back, SIZE, here[card], SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
        HOLDS(memcmp(bytes, back, SIZE) == 0);
        OK(aclrtDeviceDisablePeerAccess(other));
    }
    for (card = 0; card < 2; card++) {
        OK(aclrtFree(here[card]));
    }
    free(bytes);
    free(back);
}

int main(void)
{
    OK(aclInit(NULL));
    /* Before any device, and remembered for all of them. */
    OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
    a_pool_that_grows();
    events_are_used_again();
    a_stream_beside_a_stream();
    one_context_for_all();
    copies_by_the_current_card();
    OK(aclrtSetDevice(1));
    OK(aclrtResetDeviceForce(1));
    OK(aclrtResetDeviceForce(0));
    OK(aclFinalize());
    return 0;
}
