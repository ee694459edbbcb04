/*
 * Direct file I/O into and out of pinned memory.
 *
 * cases: C50
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "expect.h"

/* A file on a file system that takes O_DIRECT; the folder of the program is one, if any is. */
static int open_direct(const char *program)
{
    char name[4096];
    int file;

    snprintf(name, sizeof name, "%s.direct", program);
    file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
    if (file < 0 && errno == EINVAL) {
        file = open("/var/tmp/cannery-direct", O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
        unlink("/var/tmp/cannery-direct");
        return file;
    }
    unlink(name);
    return file;
}

int main(int argc, char **argv)
{
    void *host = NULL, *odd = NULL, *device = NULL, *mapped = NULL;
    unsigned char *bytes, expected[8192];
    int file, ends[2];

    HOLDS(argc > 0);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtMallocHost(&host, MIB));
    OK(aclrtMallocHost(&odd, 4096));
    HOLDS((uintptr_t)host % 4096 == 0 && (uintptr_t)odd % 4096 == 0);
    file = open_direct(argv[0]);
    HOLDS(file >= 0);
    bytes = (unsigned char *)host;
    fill_bytes(bytes, MIB, 50);
    memcpy(expected, bytes, sizeof expected);
    SAME(MIB, write(file, bytes, MIB));
    memset(bytes, 0, MIB);
    SAME(4096, pread(file, bytes, 4096, 0));
    SAME(4096, pread(file, odd, 4096, 4096));
    HOLDS(memcmp(bytes, expected, 4096) == 0);
    HOLDS(memcmp(odd, expected + 4096, 4096) == 0);
    SAME(8192, pwrite(file, bytes + 4096, 8192, 4096));

    /* From the file to the device and back, without a relay. */
    SAME(MIB, pread(file, bytes, MIB, 0));
    OK(aclrtMalloc(&device, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(device, MIB, bytes, MIB, ACL_MEMCPY_HOST_TO_DEVICE));
    memset(bytes, 0, MIB);
    OK(aclrtMemcpy(bytes, MIB, device, MIB, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(bytes, expected, 4096) == 0);

    /* The program's own memory, registered. */
    mapped = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    HOLDS(mapped != MAP_FAILED);
    OK(aclrtHostRegisterV2(mapped, MIB, ACL_HOST_REG_MAPPED));
    SAME(MIB, pread(file, mapped, MIB, 0));
    OK(aclrtMemcpy(device, MIB, mapped, MIB, ACL_MEMCPY_HOST_TO_DEVICE));
    memset(mapped, 0, MIB);
    OK(aclrtMemcpy(mapped, MIB, device, MIB, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(mapped, bytes, MIB) == 0);
    SAME(4096, pwrite(file, (char *)mapped + 4096, 4096, 0));
    OK(aclrtHostUnregister(mapped));
    munmap(mapped, MIB);

    HOLDS(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    SAME(4096, write(ends[0], expected, 4096));
    memset(bytes, 0, 4096);
    SAME(4096, recv(ends[1], bytes, 4096, MSG_WAITALL));
    HOLDS(memcmp(bytes, expected, 4096) == 0);

    OK(aclrtFree(device));
    OK(aclrtFreeHost(odd));
    OK(aclrtFreeHost(host));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
