/*
 * Kernels that a model repeats: launches are captured, with their arguments, and
 * run each time the model does; also where the stream has an allocator, whose
 * memory the model must not use.
 *
 * kernels: arithmetic
 * run: CANNERY_SCHEDULE=fifo
 * run: CANNERY_SCHEDULE=eager
 * run: CANNERY_SCHEDULE=lazy
 * run: CANNERY_SCHEDULE=random:1
 * tool: "" asan valgrind
 */
#define _GNU_SOURCE
#include "expect.h"

static int blocks_asked;

static void *no_block(aclrtAllocator allocator, size_t size)
{
    (void)allocator;
    (void)size;
    ++blocks_asked;
    return NULL;
}

static void no_release(aclrtAllocator allocator, aclrtAllocatorBlock block)
{
    (void)allocator;
    (void)block;
}

static void *no_address(aclrtAllocatorBlock block)
{
    (void)block;
    return NULL;
}

int main(void)
{
    struct {
        void *at;
        uint64_t factor, addend;
    } args = {NULL, 3, 1};
    aclrtBinHandle binary = NULL;
    aclrtFuncHandle step = NULL;
    aclrtStream stream = NULL;
    aclrtAllocatorDesc descriptor;
    aclmdlRI model = NULL;
    uint32_t expected = 5, got = 0, i;
    size_t before;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    before = device_free();
    OK(aclrtBinaryLoadFromFile("arithmetic.so", NULL, &binary));
    OK(aclrtBinaryGetFunction(binary, "step", &step));
    OK(aclrtMalloc(&args.at, 4, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMemcpy(args.at, 4, &expected, 4, ACL_MEMCPY_HOST_TO_DEVICE));

    descriptor = aclrtAllocatorCreateDesc();
    OK(aclrtAllocatorSetObjToDesc(descriptor, &blocks_asked));
    OK(aclrtAllocatorSetAllocFuncToDesc(descriptor, no_block));
    OK(aclrtAllocatorSetFreeFuncToDesc(descriptor, no_release));
    OK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(descriptor, no_address));
    OK(aclrtAllocatorRegister(stream, descriptor));
    CODE(207001, aclrtLaunchKernelWithHostArgs(step, 1, stream, NULL, &args, sizeof args, NULL, 0));
    SAME(1, blocks_asked);

    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtLaunchKernelWithHostArgs(step, 1, stream, NULL, &args, sizeof args, NULL, 0));
    args.factor = 7;
    OK(aclrtLaunchKernelWithHostArgs(step, 2, stream, NULL, &args, sizeof args, NULL, 0));
    OK(aclmdlRICaptureEnd(stream, &model));
    SAME(1, blocks_asked);
    memset(&args.factor, 0xff, 16);
    OK(aclrtMemcpy(&got, 4, args.at, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(expected, got);
    for (i = 0; i < 50; i++) {
        OK(aclmdlRIExecuteAsync(model, stream));
        expected = expected * 3 + 1;
        expected = expected * 7 + 1;
        expected = expected * 7 + 1;
    }
    /* What was captured stays, whatever is unloaded. */
    OK(aclrtBinaryUnLoad(binary));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(&got, 4, args.at, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(expected, got);
    OK(aclmdlRIDestroy(model));
    OK(aclrtAllocatorUnregister(stream));
    OK(aclrtAllocatorDestroyDesc(descriptor));
    OK(aclrtFree(args.at));
    SAME(before, device_free());
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
