/*
 * Host memory of the program that the device may reach: which ranges can be
 * registered, the two addresses of the memory, queued copies without a wait,
 * memory that is given back too early, a forked child.
 *
 * cases: C25 C26 C40
 * run:
 * run: CANNERY_PIN=off
 * run: CANNERY_SCHEDULE=random:7
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "expect.h"

#define SIZE (4 * MIB)

static const char *const page_words[] = {"aclrtHostRegister", "107000", "multiple of 4096", NULL};
static const char *const overlap_words[] = {"aclrtHostRegister", "507910", "overlaps", NULL};
static const char *const alias_words[] = {"aclrtMemcpy", "107000", "device address", "host address", NULL};
static const char *const gone_words[] = {"aclrtMemcpy", "107000", "aclrtHostUnregister", NULL};

/* Like CODE, but leaves the text for its words. */
#define REFUSED(expected, words, call)                                        \
    do {                                                                      \
        SAME(expected, call);                                                 \
        expect_words(words, __FILE__, __LINE__);                              \
    } while (0)

static unsigned char *map(void *at, size_t size)
{
    void *got = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    HOLDS(got != MAP_FAILED && (at == NULL || got == at));
    return (unsigned char *)got;
}

static int kind_of(const void *address)
{
    aclrtPtrAttributes attributes;

    OK(aclrtPointerGetAttributes(address, &attributes));
    return (int)attributes.location.type;
}

static void which_ranges(void)
{
    unsigned char *base = map(NULL, MIB + 8 * KIB);
    void *alias = NULL;

    REFUSED(107000, page_words, aclrtHostRegister(base + 64, MIB, ACL_HOST_REGISTER_MAPPED, &alias));
    REFUSED(107000, page_words, aclrtHostRegister(base, MIB + 1, ACL_HOST_REGISTER_MAPPED, &alias));
    HOLDS(alias == NULL);
    OK(aclrtHostRegister(base, MIB, ACL_HOST_REGISTER_MAPPED, &alias));
    REFUSED(507910, overlap_words,
            aclrtHostRegister(base + 4096, 4096, ACL_HOST_REGISTER_MAPPED, &alias));
    CODE(100000, aclrtHostRegister(NULL, 4096, ACL_HOST_REGISTER_MAPPED, &alias));
    CODE(100000, aclrtHostRegister(base, 0, ACL_HOST_REGISTER_MAPPED, &alias));
    CODE(507911, aclrtHostUnregister(base + 4096));
    OK(aclrtHostUnregister(base));
    CODE(507911, aclrtHostUnregister(base));
    munmap(base, MIB + 8 * KIB);
}

static void two_addresses(aclrtStream stream)
{
    unsigned char *base = map(NULL, SIZE), *expected = (unsigned char *)malloc(SIZE);
    void *alias = NULL, *again = NULL, *device = NULL;
    pid_t child;
    int status;

    HOLDS(expected != NULL);
    fill_bytes(base, SIZE, 40);
    memcpy(expected, base, SIZE);
    OK(aclrtMalloc(&device, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtHostRegister(base, SIZE, ACL_HOST_REGISTER_MAPPED, &alias));
    OK(aclrtHostGetDevicePointer(base, &again, 0));
    HOLDS(alias == again && alias != (void *)base);
    SAME(ACL_MEM_LOCATION_TYPE_HOST, kind_of(base + SIZE - 1));

    /* Copies take the host address, and do not wait. */
    OK(aclrtMemcpyAsync(device, SIZE, base, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
    memset(base, 0, SIZE);
    OK(aclrtMemcpyAsync(base, SIZE, device, SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    HOLDS(memcmp(base, expected, SIZE) == 0);
    REFUSED(107000, alias_words, aclrtMemcpy(device, 64, alias, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    REFUSED(107000, alias_words,
            aclrtMemcpyAsync(alias, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));

    /* What runs on the device takes the device address. */
    OK(aclrtValueWrite((char *)alias + 4096, 0x0807060504030201u, 0, stream));
    OK(aclrtValueWait((char *)alias + 4096, 0x0807060504030201u, ACL_STREAM_WAIT_VALUE_EQ, stream));
    OK(aclrtSynchronizeStream(stream));
    SAME(1, base[4096]);
    SAME(8, base[4103]);
    HOLDS(memcmp(base + 4104, expected + 4104, SIZE - 4104) == 0);

    /* The CPU cannot use it. */
    child = fork();
    HOLDS(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        _exit(*(volatile unsigned char *)alias == 255 ? 3 : 4);
    }
    status = wait_for(child, 20);
    HOLDS(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS));

    OK(aclrtHostUnregister(base));
    CODE(107000, aclrtMemcpy(device, 64, alias, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, kind_of(base));
    OK(aclrtFree(device));
    munmap(base, SIZE);
    free(expected);
}

static void given_back_too_early(aclrtStream stream)
{
    unsigned char *base = map(NULL, 64 * KIB);
    void *device = NULL, *alias = NULL;

    OK(aclrtMalloc(&device, 64 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtHostRegister(base, 64 * KIB, ACL_HOST_REGISTER_MAPPED, &alias));
    munmap(base, 64 * KIB);
    REFUSED(107000, gone_words, aclrtMemcpy(device, 4096, base, 4096, ACL_MEMCPY_HOST_TO_DEVICE));
    REFUSED(107000, gone_words,
            aclrtMemcpyAsync(device, 4096, base, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    HOLDS(map(base, 64 * KIB) == base);
    REFUSED(507910, overlap_words,
            aclrtHostRegister(base, 64 * KIB, ACL_HOST_REGISTER_MAPPED, &alias));
    OK(aclrtHostUnregister(base));
    OK(aclrtHostRegister(base, 64 * KIB, ACL_HOST_REGISTER_MAPPED, &alias));
    OK(aclrtHostUnregister(base));
    munmap(base, 64 * KIB);
    OK(aclrtFree(device));
}

static void in_a_child(void)
{
    unsigned char *base = map(NULL, MIB);
    pid_t child;
    int status;

    OK(aclrtHostRegisterV2(base, MIB, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED));
    child = fork();
    HOLDS(child >= 0);
    if (child == 0) {
        CODE(507033, aclrtHostUnregister(base));
        OK(aclInit(NULL));
        OK(aclrtSetDevice(0));
        /* Nothing is registered in the new process, and everything can be. */
        SAME(ACL_MEM_LOCATION_TYPE_UNREGISTERED, kind_of(base));
        CODE(507911, aclrtHostUnregister(base));
        OK(aclrtHostRegisterV2(base, MIB, ACL_HOST_REG_MAPPED));
        OK(aclrtHostUnregister(base));
        _exit(0);
    }
    status = wait_for(child, 20);
    SAME(0, status);
    SAME(ACL_MEM_LOCATION_TYPE_HOST, kind_of(base));
    OK(aclrtHostUnregister(base));
    munmap(base, MIB);
}

int main(void)
{
    aclrtStream stream = NULL;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    which_ranges();
    two_addresses(stream);
    given_back_too_early(stream);
    in_a_child();
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
