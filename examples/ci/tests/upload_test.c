/* Sends random bytes to the device through a stream and back; the exit code is the verdict. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

#define SIZE ((size_t)1 << 20)

#define CHECK(call)                                                                       \
    do {                                                                                  \
        aclError code = (call);                                                           \
        if (code != ACL_SUCCESS) {                                                        \
            const char *text = aclGetRecentErrMsg();                                      \
            fprintf(stderr, "%s: %d %s\n", #call, (int)code, text ? text : "no text");    \
            return EXIT_FAILURE;                                                          \
        }                                                                                 \
    } while (0)

int main(void)
{
    uint8_t *sent, *received;
    void *device, *there, *back;
    aclrtStream stream;
    uint32_t count = 0, state = 1;

    CHECK(aclInit(NULL));
    CHECK(aclrtGetDeviceCount(&count));
    CHECK(aclrtSetDevice((int32_t)count - 1));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMallocHost(&there, SIZE));
    CHECK(aclrtMallocHost(&back, SIZE));
    CHECK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    sent = there;
    received = back;
    for (size_t i = 0; i < SIZE; i++) {
        state = state * 1664525u + 1013904223u;
        sent[i] = (uint8_t)(state >> 24);
    }
    memset(received, 0, SIZE);
    CHECK(aclrtMemcpyAsync(device, SIZE, sent, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK(aclrtMemcpyAsync(received, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK(aclrtSynchronizeStream(stream));
    if (memcmp(sent, received, SIZE) != 0) {
        fprintf(stderr, "the bytes did not come back as they went\n");
        return EXIT_FAILURE;
    }
    CHECK(aclrtFree(device));
    CHECK(aclrtFreeHost(there));
    CHECK(aclrtFreeHost(back));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice((int32_t)count - 1));
    CHECK(aclFinalize());
    return EXIT_SUCCESS;
}
