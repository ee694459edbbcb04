/*
 * Uploads batches while the ones before them are still being worked on: two
 * pinned buffers that take turns, a copy stream and a work stream, events in
 * both directions. Then what goes wrong without them: a source overwritten or
 * released while its copy is queued.
 *
 * cases: C10 C11
 * run: CANNERY_SCHEDULE=fifo
 * run: CANNERY_SCHEDULE=eager
 * run: CANNERY_SCHEDULE=lazy
 * run: CANNERY_SCHEDULE=random:1
 * run: CANNERY_SCHEDULE=random:2
 * run: CANNERY_SCHEDULE=random:3
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "expect.h"

enum { BUFFERS = 2, BATCHES = 50, SIZE = 64 * 1024 };

/* A host function that waits until it is let go. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int open;
};

static void gate_wait(void *data)
{
    struct gate *gate = data;

    pthread_mutex_lock(&gate->lock);
    while (!gate->open) {
        pthread_cond_wait(&gate->changed, &gate->lock);
    }
    pthread_mutex_unlock(&gate->lock);
}

static void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = 1;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

/* Batch i is the bytes of seed i; the device keeps all of them in turn. */
static void pipeline(void)
{
    static unsigned char expected[SIZE], got[SIZE];
    aclrtStream copies, work;
    aclrtEvent uploaded[BUFFERS], used[BUFFERS];
    void *host[BUFFERS], *device[BUFFERS], *all;
    size_t i;

    OK(aclrtCreateStream(&copies));
    OK(aclrtCreateStreamWithConfig(&work, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    OK(aclrtMalloc(&all, (size_t)BATCHES * SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    for (i = 0; i < BUFFERS; i++) {
        OK(aclrtMallocHost(&host[i], SIZE));
        OK(aclrtMalloc(&device[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtCreateEventExWithFlag(&uploaded[i], ACL_EVENT_SYNC));
        OK(aclrtCreateEventExWithFlag(&used[i], ACL_EVENT_SYNC));
    }
    for (i = 0; i < BATCHES; i++) {
        const size_t at = i % BUFFERS;
        char *place = (char *)all + i * SIZE;

        /* The source must have been read before it is written again. An event
         * that was never recorded counts as reached: the first turns go on. */
        OK(aclrtSynchronizeEvent(uploaded[at]));
        fill_bytes(host[at], SIZE, (unsigned)i);
        OK(aclrtStreamWaitEvent(copies, used[at]));
        OK(aclrtMemcpyAsync(device[at], SIZE, host[at], SIZE, ACL_MEMCPY_HOST_TO_DEVICE, copies));
        OK(aclrtRecordEvent(uploaded[at], copies));
        OK(aclrtStreamWaitEvent(work, uploaded[at]));
        OK(aclrtMemcpyAsync(place, SIZE, device[at], SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, work));
        OK(aclrtMemsetAsync(device[at], SIZE, 0, SIZE, work));
        OK(aclrtRecordEvent(used[at], work));
    }
    OK(aclrtSynchronizeStream(work));
    for (i = 0; i < BATCHES; i++) {
        const char *place = (const char *)all + i * SIZE;

        fill_bytes(expected, SIZE, (unsigned)i);
        OK(aclrtMemcpy(got, SIZE, place, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
        HOLDS(memcmp(got, expected, SIZE) == 0);
    }
    for (i = 0; i < BUFFERS; i++) {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;

        OK(aclrtQueryEventStatus(used[i], &status));
        SAME(ACL_EVENT_RECORDED_STATUS_COMPLETE, status);
        OK(aclrtDestroyEvent(uploaded[i]));
        OK(aclrtDestroyEvent(used[i]));
        OK(aclrtFree(device[i]));
        OK(aclrtFreeHost(host[i]));
    }
    OK(aclrtFree(all));
    OK(aclrtDestroyStream(work));
    OK(aclrtDestroyStream(copies));
}

/* The source changes, or is released, while the copy stands behind a gate. */
static void careless(int release)
{
    static unsigned char late[SIZE], got[SIZE];
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    aclrtStream stream;
    void *host, *other = NULL, *device;

    OK(aclrtCreateStream(&stream));
    OK(aclrtMallocHost(&host, SIZE));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    fill_bytes(host, SIZE, 1000);
    OK(aclrtLaunchHostFunc(stream, gate_wait, &gate));
    OK(aclrtMemcpyAsync(device, SIZE, host, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    fill_bytes(late, SIZE, release ? 1000 : 2000);
    if (release) {
        /* The copy keeps the bytes; the next owner's are none of its business. */
        OK(aclrtFreeHost(host));
        OK(aclrtMallocHost(&other, SIZE));
        memset(other, 0, SIZE);
    } else {
        memcpy(host, late, SIZE);
    }
    gate_open(&gate);
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(got, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(got, late, SIZE) == 0);
    OK(aclrtFreeHost(release ? other : host));
    OK(aclrtFree(device));
    OK(aclrtDestroyStream(stream));
}

int main(void)
{
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    pipeline();
    careless(0);
    careless(1);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
