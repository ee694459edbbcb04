/*
 * Streams that wait for each other. Through events that were never recorded
 * nothing waits; through notifies that only the other one would record both
 * stand for ever, and so does a function that waits for its own stream. The
 * program is told in time and ends as usual.
 *
 * cases: C55
 * run: CANNERY_SCHEDULE=fifo
 * run: CANNERY_SCHEDULE=eager
 * run: CANNERY_SCHEDULE=lazy
 * run: CANNERY_SCHEDULE=random:1
 */
#define _GNU_SOURCE
#include "expect.h"

static void unrecorded_events(void)
{
    aclrtStream a, b;
    aclrtEvent first, second;
    int i;

    OK(aclrtCreateStream(&a));
    OK(aclrtCreateStream(&b));
    OK(aclrtCreateEventExWithFlag(&first, ACL_EVENT_SYNC));
    OK(aclrtCreateEventExWithFlag(&second, ACL_EVENT_SYNC));
    for (i = 0; i < 20; i++) {
        OK(aclrtStreamWaitEvent(a, second));
        OK(aclrtRecordEvent(first, a));
        OK(aclrtStreamWaitEvent(b, first));
        OK(aclrtRecordEvent(second, b));
    }
    OK(aclrtSynchronizeStreamWithTimeout(a, 10000));
    OK(aclrtSynchronizeStreamWithTimeout(b, 10000));
    OK(aclrtDestroyEvent(first));
    OK(aclrtDestroyEvent(second));
    OK(aclrtDestroyStream(a));
    OK(aclrtDestroyStream(b));
}

static void notifies(void)
{
    aclrtStream a, b;
    aclrtNotify first, second;
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;

    OK(aclrtCreateStream(&a));
    OK(aclrtCreateStream(&b));
    OK(aclrtCreateNotify(&first, ACL_NOTIFY_DEFAULT));
    OK(aclrtCreateNotify(&second, ACL_NOTIFY_DEFAULT));
    OK(aclrtWaitAndResetNotify(second, a, 0));
    OK(aclrtRecordNotify(first, a));
    OK(aclrtWaitAndResetNotify(first, b, 0));
    OK(aclrtRecordNotify(second, b));
    CODE(507046, aclrtSynchronizeStreamWithTimeout(a, 50));
    CODE(507046, aclrtSynchronizeStreamWithTimeout(b, 50));
    CODE(507046, aclrtSynchronizeDeviceWithTimeout(50));
    OK(aclrtStreamQuery(a, &status));
    SAME(ACL_STREAM_STATUS_NOT_READY, status);
    /* One of them is cut, the other one cannot go on by itself: both. */
    OK(aclrtStreamAbort(a));
    OK(aclrtDestroyStreamForce(b));
    OK(aclrtSynchronizeStreamWithTimeout(a, 10000));
    OK(aclrtDestroyNotify(first));
    OK(aclrtDestroyNotify(second));
    OK(aclrtDestroyStream(a));
    OK(aclrtSynchronizeDeviceWithTimeout(10000));
}

static void wait_for_own_stream(void *stream)
{
    (void)aclrtSynchronizeStream(stream);
}

int main(void)
{
    aclrtStream stream;
    void *host, *device;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    unrecorded_events();
    notifies();

    OK(aclrtMallocHost(&host, KIB));
    OK(aclrtMalloc(&device, KIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtCreateStream(&stream));
    OK(aclrtMemcpyAsync(device, KIB, host, KIB, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtLaunchHostFunc(stream, wait_for_own_stream, stream));
    CODE(507046, aclrtSynchronizeStreamWithTimeout(stream, 100));
    /* The function is still inside; the process ends all the same. */
    OK(aclFinalize());
    return 0;
}
