/*
 * Streams and memory of two devices: a copy on the other device's stream is
 * refused and changes nothing; each device works with its own, at the same
 * time, and is waited for by itself.
 *
 * cases: C07
 * run: CANNERY_DEVICES=2
 * run: CANNERY_DEVICES=2 CANNERY_SCHEDULE=lazy
 * run: CANNERY_DEVICES=2 CANNERY_SCHEDULE=random:5
 */
#define _GNU_SOURCE
#include "expect.h"

enum { SIZE = 4096 };

int main(void)
{
    static unsigned char got[SIZE], before[SIZE];
    aclrtStream stream[2];
    aclrtEvent event[2];
    void *device[2], *host[2];
    int i;

    memset(before, 0xAA, SIZE);
    OK(aclInit(NULL));
    for (i = 0; i < 2; i++) {
        OK(aclrtSetDevice(i));
        OK(aclrtCreateStream(&stream[i]));
        OK(aclrtCreateEventWithFlag(&event[i], ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
        OK(aclrtMalloc(&device[i], SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemset(device[i], SIZE, 0xAA, SIZE));
        OK(aclrtMallocHost(&host[i], SIZE));
        fill_bytes(host[i], SIZE, (unsigned)i);
    }

    /* Device 1 is current: the stream of device 0 takes nothing. */
    CODE(107003, aclrtMemcpyAsync(device[1], SIZE, host[1], SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream[0]));
    CODE(107003, aclrtMemsetAsync(device[1], SIZE, 0, SIZE, stream[0]));
    CODE(107003, aclrtRecordEvent(event[1], stream[0]));
    CODE(107003, aclrtDestroyStream(stream[0]));
    OK(aclrtMemcpy(got, SIZE, device[1], SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(got, before, SIZE) == 0);

    for (i = 0; i < 2; i++) {
        OK(aclrtSetDevice(i));
        OK(aclrtMemcpyAsync(device[i], SIZE, host[i], SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream[i]));
        OK(aclrtRecordEvent(event[i], stream[i]));
    }
    /* Waiting needs no device in particular. */
    OK(aclrtSynchronizeStream(stream[0]));
    OK(aclrtSynchronizeEvent(event[1]));
    for (i = 0; i < 2; i++) {
        OK(aclrtSetDevice(i));
        OK(aclrtMemcpy(got, SIZE, device[i], SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
        HOLDS(memcmp(got, host[i], SIZE) == 0);
        OK(aclrtDestroyEvent(event[i]));
        OK(aclrtDestroyStream(stream[i]));
        OK(aclrtFree(device[i]));
        OK(aclrtFreeHost(host[i]));
    }
    OK(aclrtResetDeviceForce(0));
    OK(aclrtResetDeviceForce(1));
    OK(aclFinalize());
    return 0;
}
