/*
 * One stream writes a value to the device, another one reads it back. Without an event between them
 * nothing makes the second one wait; most orders hide it.
 *
 * usage: race ordered|code|crash|hang
 *
 * `ordered` has the event. The others have not, and a wrong value makes them end with exit code 3,
 * crash, or never end. What is printed tells the value, so that two runs can be compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"

enum { SIZE = 64, OLD = 17, NEW = 42, STEPS = 3 };

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != ACL_SUCCESS) {                                                               \
            const char *text = aclGetRecentErrMsg();                                               \
            fprintf(stderr, "%s: %s\n", #call, text ? text : "no text");                           \
            exit(9);                                                                               \
        }                                                                                          \
    } while (0)

int main(int count, char **words)
{
    const char *mode = count == 2 ? words[1] : "";
    aclrtStream writer, reader;
    aclrtEvent written;
    unsigned char *source, *target, *spare;
    void *device;
    int step;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&writer));
    OK(aclrtCreateStream(&reader));
    OK(aclrtCreateEvent(&written));
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost((void **)&source, SIZE)); /* pinned, so that copies are queued */
    OK(aclrtMallocHost((void **)&target, SIZE));
    OK(aclrtMallocHost((void **)&spare, SIZE));
    memset(source, OLD, SIZE);
    OK(aclrtMemcpy(device, SIZE, source, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
    memset(source, NEW, SIZE);

    OK(aclrtMemcpyAsync(device, SIZE, source, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, writer));
    OK(aclrtRecordEvent(written, writer));
    if (strcmp(mode, "ordered") == 0) {
        OK(aclrtStreamWaitEvent(reader, written));
    }
    /* Work that keeps the reader busy: the wrong order is the rarer one. */
    for (step = 1; step < STEPS; step++) {
        OK(aclrtMemcpyAsync(spare, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, reader));
    }
    OK(aclrtMemcpyAsync(target, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, reader));
    OK(aclrtSynchronizeDevice());

    printf("read %d\n", target[SIZE - 1]);
    fflush(stdout);
    if (target[SIZE - 1] != NEW) {
        fprintf(stderr, "that is the old value\n");
        if (strcmp(mode, "crash") == 0) abort();
        while (strcmp(mode, "hang") == 0) pause();
        return 3;
    }
    return 0;
}
