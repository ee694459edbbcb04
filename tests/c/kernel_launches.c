/*
 * Kernels in a shared object: loaded from its file and from its bytes, launched
 * in every way, in stream order, over more than a million random bytes.
 *
 * kernels: arithmetic
 * run: CANNERY_SCHEDULE=fifo
 * run: CANNERY_SCHEDULE=eager
 * run: CANNERY_SCHEDULE=lazy
 * run: CANNERY_SCHEDULE=random:1
 * run: CANNERY_SCHEDULE=random:2
 * run: CANNERY_PROFILE=310B CANNERY_MODE=rc
 * run: CANNERY_PROFILE=950
 * tool: "" asan
 */
#define _GNU_SOURCE
#include "expect.h"

#define COUNT ((uint32_t)300007)
#define BYTES (COUNT * sizeof(uint32_t))

static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    void *bytes;

    HOLDS(file != NULL);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*size);
    HOLDS(bytes != NULL && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

static void *upload(const void *bytes, size_t size)
{
    void *device = NULL;

    OK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(device, size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE));
    return device;
}

struct add_args {
    void *x, *y, *z;
    uint32_t n;
};

/* What the test has on host and device. */
static uint32_t *host_x, *host_y, *result;
static void *x, *y, *z;

static void check(uint32_t bias)
{
    uint32_t i;

    OK(aclrtMemcpy(result, BYTES, z, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    for (i = 0; i < COUNT; i++) {
        if (result[i] != host_x[i] + host_y[i] + bias) {
            fprintf(stderr, "element %u is %u\n", i, result[i]);
            _exit(1);
        }
    }
    OK(aclrtMemset(z, BYTES, 0xee, BYTES));
}

/* Every launch that takes values, with a number of blocks that divides nothing. */
static void every_launch(aclrtFuncHandle add, aclrtStream stream)
{
    struct add_args args = {x, y, z, COUNT};
    void *pointers[4] = {&args.x, &args.y, &args.z, &args.n};
    void *on_device = upload(&args, sizeof args);
    aclrtArgsHandle list = NULL;
    aclrtParamHandle parameter = NULL;
    void *nowhere = NULL, *handle_memory, *memory;
    size_t handle_size = 0, size = 0;

    OK(aclrtLaunchKernel(add, 7, on_device, sizeof args, stream));
    OK(aclrtSynchronizeStream(stream));
    check(0);
    OK(aclrtLaunchKernelV2(add, 1, on_device, sizeof args, NULL, stream));
    OK(aclrtSynchronizeStream(stream));
    check(0);
    OK(aclrtFree(on_device));

    OK(aclrtLaunchKernelWithHostArgs(add, 13, stream, NULL, &args, sizeof args, NULL, 0));
    memset(&args, 0xff, sizeof args); /* they were copied */
    OK(aclrtSynchronizeStream(stream));
    check(0);
    args.x = x, args.y = y, args.z = z, args.n = COUNT;

    OK(aclrtLaunchKernelWithArgsArray(add, 64, stream, NULL, pointers));
    OK(aclrtSynchronizeStream(stream));
    check(0);

    /* A list, first with a wrong destination that is corrected. */
    OK(aclrtKernelArgsInit(add, &list));
    OK(aclrtKernelArgsAppend(list, &args.x, sizeof args.x, &parameter));
    OK(aclrtKernelArgsAppend(list, &args.y, sizeof args.y, &parameter));
    OK(aclrtKernelArgsAppend(list, &nowhere, sizeof nowhere, &parameter));
    CODE(107000, aclrtLaunchKernelWithConfig(add, 3, stream, NULL, list, NULL));
    OK(aclrtKernelArgsParaUpdate(list, parameter, &args.z, sizeof args.z));
    OK(aclrtKernelArgsAppend(list, &args.n, sizeof args.n, &parameter));
    OK(aclrtKernelArgsFinalize(list));
    CODE(107000, aclrtKernelArgsAppend(list, &args.n, sizeof args.n, &parameter));
    OK(aclrtLaunchKernelWithConfig(add, 3, stream, NULL, list, NULL));
    OK(aclrtSynchronizeStream(stream));
    check(0);

    /* The same in memory of the program. */
    OK(aclrtKernelArgsGetHandleMemSize(add, &handle_size));
    OK(aclrtKernelArgsGetMemSize(add, sizeof args, &size));
    HOLDS(handle_size > 0 && size >= sizeof args);
    handle_memory = malloc(handle_size);
    memory = malloc(size);
    OK(aclrtKernelArgsInitByUserMem(add, handle_memory, memory, size));
    OK(aclrtKernelArgsAppend(handle_memory, &args.x, sizeof args.x, &parameter));
    OK(aclrtKernelArgsAppend(handle_memory, &args.y, sizeof args.y, &parameter));
    OK(aclrtKernelArgsAppend(handle_memory, &args.z, sizeof args.z, &parameter));
    OK(aclrtKernelArgsAppend(handle_memory, &args.n, sizeof args.n, &parameter));
    HOLDS(memcmp(memory, &args, 3 * sizeof(void *)) == 0);
    OK(aclrtKernelArgsFinalize(handle_memory));
    OK(aclrtLaunchKernelWithConfig(add, 5, stream, NULL, handle_memory, NULL));
    OK(aclrtSynchronizeStream(stream));
    check(0);
    free(memory);
    free(handle_memory);
}

/* A table that travels with the launch. */
static void placeholders(aclrtFuncHandle gather, aclrtStream stream)
{
    enum { N = 300 };
    struct {
        void *out, *table;
        uint64_t n;
        uint32_t content[N];
    } args;
    aclrtPlaceHolderInfo where = {8, 24};
    aclrtArgsHandle list = NULL;
    aclrtParamHandle parameter = NULL, place = NULL;
    void *buffer = NULL, *again = NULL;
    uint32_t got[N];

    memset(&args, 0, sizeof args);
    args.out = z;
    args.n = N;
    fill_bytes(args.content, sizeof args.content, 11);
    OK(aclrtLaunchKernelWithHostArgs(gather, N, stream, NULL, &args, sizeof args, &where, 1));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(got, sizeof got, z, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(got, args.content, sizeof got) == 0);

    where.addrOffset = sizeof args - 4;
    CODE(107000, aclrtLaunchKernelWithHostArgs(gather, 1, stream, NULL, &args, sizeof args, &where, 1));
    where.addrOffset = 8, where.dataOffset = sizeof args;
    CODE(107000, aclrtLaunchKernelWithHostArgs(gather, 1, stream, NULL, &args, sizeof args, &where, 1));

    OK(aclrtKernelArgsInit(gather, &list));
    OK(aclrtKernelArgsAppend(list, &args.out, 8, &parameter));
    OK(aclrtKernelArgsAppendPlaceHolder(list, &place));
    OK(aclrtKernelArgsAppend(list, &args.n, 4, &parameter));
    OK(aclrtKernelArgsGetPlaceHolderBuffer(list, place, sizeof got, &buffer));
    OK(aclrtKernelArgsGetPlaceHolderBuffer(list, place, 8, &again));
    HOLDS(buffer == again);
    CODE(107000, aclrtKernelArgsGetPlaceHolderBuffer(list, parameter, 8, &again));
    fill_bytes(buffer, sizeof got, 12);
    OK(aclrtKernelArgsFinalize(list));
    OK(aclrtLaunchKernelWithConfig(gather, N, stream, NULL, list, NULL));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(got, sizeof got, z, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(got, buffer, sizeof got) == 0);
    OK(aclrtMemset(z, BYTES, 0xee, BYTES));
}

/* Launches among copies and fills, all in order; two streams, one waiting for the other. */
static void order(aclrtFuncHandle step, aclrtStream stream)
{
    struct {
        void *at;
        uint64_t factor, addend;
    } args = {NULL, 3, 0};
    uint32_t *pinned = NULL, expected = 5;
    aclrtStream other = NULL;
    aclrtEvent event = NULL;
    void *cell = NULL;
    uint32_t i;

    OK(aclrtMalloc(&cell, 4, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMallocHost((void **)&pinned, 8));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    pinned[0] = 5;
    args.at = cell;
    OK(aclrtMemcpyAsync(cell, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    for (i = 0; i < 200; i++) {
        args.addend = i;
        OK(aclrtLaunchKernelWithHostArgs(step, 1, stream, NULL, &args, sizeof args, NULL, 0));
        expected = expected * 3 + i;
    }
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtStreamWaitEvent(other, event));
    args.factor = 7;
    for (i = 0; i < 200; i++) {
        args.addend = i;
        OK(aclrtLaunchKernelWithHostArgs(step, 1, other, NULL, &args, sizeof args, NULL, 0));
        expected = expected * 7 + i;
    }
    OK(aclrtMemcpyAsync(pinned + 1, 4, cell, 4, ACL_MEMCPY_DEVICE_TO_HOST, other));
    OK(aclrtSynchronizeStream(other));
    SAME(expected, pinned[1]);
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyStream(other));
    OK(aclrtFreeHost(pinned));
    OK(aclrtFree(cell));
}

static void attributes(aclrtFuncHandle facts, aclrtStream stream)
{
    enum { BLOCKS = 5, SCRATCH = 1000 };
    aclrtLaunchKernelAttr list[3];
    aclrtLaunchKernelCfg cfg = {list, 3};
    uint64_t got[4 * (BLOCKS + 2)];
    void *args = z;
    uint32_t i;

    memset(list, 0, sizeof list);
    list[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE;
    list[0].value.dynUBufSize = SCRATCH;
    list[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET;
    list[1].value.blockDimOffset = 2;
    list[2].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    list[2].value.timeout = 60;
    OK(aclrtMemset(z, BYTES, 0, BYTES));
    OK(aclrtLaunchKernelWithHostArgs(facts, BLOCKS, stream, &cfg, &args, sizeof args, NULL, 0));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(got, sizeof got, z, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(0, got[0]);
    SAME(0, got[7]);
    for (i = 2; i < BLOCKS + 2; i++) {
        SAME(BLOCKS, got[4 * i]);
        SAME(0, got[4 * i + 1]);
        SAME(SCRATCH, got[4 * i + 2]);
        SAME(SCRATCH * (i + 1), got[4 * i + 3]);
    }
    list[2].id = 99;
    CODE(107000, aclrtLaunchKernelWithHostArgs(facts, 1, stream, &cfg, &args, sizeof args, NULL, 0));
    cfg.attrs = NULL;
    CODE(100000, aclrtLaunchKernelWithHostArgs(facts, 1, stream, &cfg, &args, sizeof args, NULL, 0));
    OK(aclrtMemset(z, BYTES, 0xee, BYTES));
}

/* Variables live on the device; each load has its own. */
static void variables(aclrtBinHandle one, aclrtBinHandle two, aclrtFuncHandle add, aclrtStream stream)
{
    struct add_args args = {x, y, z, COUNT};
    uint32_t bias[4] = {9, 9, 9, 9}, calls = 0, other_calls = 77;
    void *at = NULL, *calls_at = NULL, *other = NULL;
    size_t size = 0;
    aclrtFuncHandle count = NULL;

    OK(aclrtBinaryGetGlobal(one, "bias", &at, &size));
    SAME(sizeof bias, size);
    OK(aclrtBinaryGetGlobal(one, "calls", &calls_at, NULL));
    OK(aclrtBinaryGetGlobal(two, "calls", &other, NULL));
    OK(aclrtMemcpy(at, sizeof bias, bias, sizeof bias, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemset(calls_at, 4, 0, 4));
    OK(aclrtLaunchKernelWithHostArgs(add, 21, stream, NULL, &args, sizeof args, NULL, 0));
    OK(aclrtBinaryGetFunction(one, "count", &count));
    OK(aclrtLaunchKernelWithHostArgs(count, 3, stream, NULL, NULL, 0, NULL, 0));
    OK(aclrtSynchronizeStream(stream));
    check(9);
    OK(aclrtMemcpy(&calls, 4, calls_at, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(&other_calls, 4, other, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(24, calls);
    SAME(0, other_calls);
    CODE(107042, aclrtBinaryGetGlobal(one, "no_such_variable", &at, &size));
    CODE(107042, aclrtBinaryGetGlobal(one, "add", &at, &size));
    CODE(100000, aclrtBinaryGetGlobal(one, "bias", NULL, NULL));
    CODE(107000, aclrtFree(at));
}

static void facts_of(aclrtBinHandle binary, aclrtFuncHandle add)
{
    char name[16] = "untouched";
    aclrtBinHandle back = NULL;
    size_t count = 0, offset = 0, size = 0;
    void *code = NULL, *vector = z, *image = NULL;
    int64_t value = -1;

    OK(aclrtGetFunctionName(add, 4, name));
    HOLDS(strcmp(name, "add") == 0);
    CODE(107000, aclrtGetFunctionName(add, 3, name));
    OK(aclrtFunctionGetBinary(add, &back));
    HOLDS(back == binary);
    OK(aclrtFunctionGetParamCount(add, &count));
    SAME(4, count);
    OK(aclrtFunctionGetParamInfo(add, 3, &offset, &size));
    SAME(24, offset);
    SAME(4, size);
    CODE(107000, aclrtFunctionGetParamInfo(add, 4, &offset, &size));
    OK(aclrtGetFunctionAttribute(add, ACL_FUNC_ATTR_KERNEL_TYPE, &value));
    SAME(ACL_KERNEL_TYPE_AICORE, value);
    OK(aclrtBinaryGetDevAddress(binary, &image, &size));
    OK(aclrtGetFunctionAddr(add, &code, &vector));
    HOLDS(vector == NULL);
    HOLDS((uintptr_t)code > (uintptr_t)image && (uintptr_t)code < (uintptr_t)image + size);
}

int main(void)
{
    size_t size = 0, before, lazy_size = 0;
    void *bytes = read_file("arithmetic.so", &size), *address = z;
    aclrtBinHandle from_file = NULL, from_data = NULL, from_description = NULL, lazy = NULL;
    aclrtBinary description;
    aclrtFuncHandle add = NULL, step = NULL, gather = NULL, facts = NULL, threads = NULL, none = NULL;
    aclrtBinaryLoadOption option;
    aclrtBinaryLoadOptions options = {&option, 1};
    aclrtStream stream = NULL;
    const char *profile = getenv("CANNERY_PROFILE");

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    before = device_free();

    CODE(107009, aclrtBinaryLoadFromFile("no_such_file.so", NULL, &from_file));
    CODE(107000, aclrtBinaryLoadFromFile("/etc/passwd", NULL, &from_file));
    CODE(107000, aclrtBinaryLoadFromData(bytes, size / 2, NULL, &from_file));
    HOLDS(from_file == NULL);
    OK(aclrtBinaryLoadFromFile("arithmetic.so", NULL, &from_file));
    OK(aclrtBinaryLoadFromData(bytes, size, NULL, &from_data));
    description = aclrtCreateBinary(bytes, size);
    OK(aclrtBinaryLoad(description, &from_description));
    OK(aclrtDestroyBinary(description));
    CODE(107017, aclrtDestroyBinary(description));
    memset(&option, 0, sizeof option);
    option.type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD;
    option.value.isLazyLoad = 1;
    OK(aclrtBinaryLoadFromData(bytes, size, &options, &lazy));
    OK(aclrtBinaryGetDevAddress(lazy, &address, &lazy_size));
    HOLDS(address == NULL && lazy_size > 0);
    OK(aclrtBinaryGetFunction(lazy, "add", &add));
    OK(aclrtBinaryGetDevAddress(lazy, &address, &lazy_size));
    HOLDS(address != NULL);
    memset(bytes, 0, size);
    free(bytes);

    host_x = malloc(BYTES), host_y = malloc(BYTES), result = malloc(BYTES);
    fill_bytes(host_x, BYTES, 1);
    fill_bytes(host_y, BYTES, 2);
    x = upload(host_x, BYTES), y = upload(host_y, BYTES), z = upload(host_y, BYTES);

    CODE(507027, aclrtBinaryGetFunction(from_file, "no_such_kernel", &none));
    HOLDS(none == NULL);
    OK(aclrtBinaryGetFunction(from_file, "add", &add));
    OK(aclrtBinaryGetFunction(from_data, "step", &step));
    OK(aclrtBinaryGetFunction(from_description, "gather", &gather));
    OK(aclrtBinaryGetFunction(from_data, "facts", &facts));
    every_launch(add, stream);
    every_launch(add, NULL);
    placeholders(gather, stream);
    order(step, stream);
    attributes(facts, stream);
    variables(from_file, from_data, add, stream);
    facts_of(from_file, add);

    OK(aclrtBinaryGetFunction(from_file, "threads", &threads));
    {
        dim3 grid = {3, 2, 2}, block = {4, 3, 1};
        void *out = z, *pointers[1] = {&out};
        uint32_t got[144], i;
        int simt = profile != NULL && strcmp(profile, "950") == 0;

        CODE(simt ? 0 : 207000,
             aclrtLaunchSIMTKernelWithArgsArray(threads, grid, block, 0, stream, NULL, pointers));
        if (simt) {
            CODE(107000, aclrtLaunchKernelWithHostArgs(threads, 1, stream, NULL, &out, 8, NULL, 0));
            OK(aclrtSynchronizeStream(stream));
            OK(aclrtMemcpy(got, sizeof got, z, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
            for (i = 0; i < 144; i++) {
                SAME(i / 12 * 1000 + i % 12, got[i]);
            }
        }
    }

    /* What is queued runs although its binary is unloaded meanwhile. */
    {
        struct add_args args = {x, y, z, COUNT};

        OK(aclrtLaunchKernelWithHostArgs(step == NULL ? NULL : add, 4, stream, NULL, &args, sizeof args, NULL, 0));
        OK(aclrtBinaryUnLoad(from_file));
        CODE(107017, aclrtLaunchKernelWithHostArgs(add, 4, stream, NULL, &args, sizeof args, NULL, 0));
        CODE(107017, aclrtBinaryUnLoad(from_file));
        OK(aclrtSynchronizeStream(stream));
        check(9);
    }
    OK(aclrtBinaryUnLoad(from_data));
    OK(aclrtBinaryUnLoad(from_description));
    OK(aclrtBinaryUnLoad(lazy));
    OK(aclrtFree(x));
    OK(aclrtFree(y));
    OK(aclrtFree(z));
    SAME(before, device_free());
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    free(host_x);
    free(host_y);
    free(result);
    return 0;
}
