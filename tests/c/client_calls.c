/*
 * The calls of released programs, step by step and in their order: a framework that
 * starts, makes tensors, copies, records, captures, shares them with another process,
 * runs out of memory, and ends; then one that grows segments by mapping.
 *
 * run:
 * run: CANNERY_SCHEDULE=lazy
 * run: CANNERY_SCHEDULE=random:1
 * run: CANNERY_SCHEDULE=random:2
 * run: CANNERY_SCHEDULE=random:3
 * flags: -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "expect.h"

enum { BLOCK = 2 << 20, KEY = 65, SYNC_AND_TIME = 0x9, FOR_RELEASE = 0x2, SHARED = 0x40 };

static unsigned char sent[BLOCK], got[BLOCK];

/* What goes to another process. */
struct shared {
    char key[KEY];
    aclrtIpcEventHandle event;
    uint64_t handle;
};

static void put(void *device, unsigned seed)
{
    fill_bytes(sent, BLOCK, seed);
    OK(aclrtMemcpy(device, 2 * (size_t)BLOCK, sent, BLOCK, ACL_MEMCPY_HOST_TO_DEVICE));
}

static void holds(const void *device, unsigned seed)
{
    fill_bytes(sent, BLOCK, seed);
    OK(aclrtMemcpy(got, BLOCK, device, BLOCK, ACL_MEMCPY_DEVICE_TO_HOST));
    HOLDS(memcmp(got, sent, BLOCK) == 0);
}

/* Collectives never succeed in silence. */
static void collective(void *library)
{
    static const char *const words[] = {"HcclAllReduce", "memory, not collectives", NULL};
    int32_t (*reduce)(void);

    *(void **)&reduce = dlsym(library, "HcclAllReduce");
    HOLDS(reduce != NULL);
    SAME(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, reduce());
    expect_words(words, __FILE__, __LINE__);
}

/* Names that are looked up through the handle of another library. */
static void start(void)
{
    static const char *const through_compiler[] = {
        "aclrtGetSysParamOpt", "aclrtSetSysParamOpt", "aclrtCtxSetSysParamOpt",
        "aclSetCompileopt", "aclGetCompileopt", "aclGetCompileoptSize",
    };
    size_t (*option_size)(int);
    int (*option)(int, char *, size_t);
    aclCANNPackageVersion version;
    char value[64];
    void *compiler, *collectives;
    int32_t device = -1;
    uint32_t count = 0;
    size_t i;

    OK(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version));
    HOLDS(strncmp(version.version, "8.5.", 4) == 0);
    HOLDS(aclGetRecentErrMsg() == NULL);
    CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    OK(aclInit(NULL));
    OK(aclrtGetDeviceCount(&count));
    SAME(1, count);
    HOLDS(strcmp(aclrtGetSocName(), "Ascend910B3") == 0);
    compiler = dlopen("libacl_op_compiler.so", RTLD_LAZY);
    HOLDS(compiler != NULL);
    for (i = 0; i < sizeof through_compiler / sizeof *through_compiler; i++) {
        HOLDS(dlsym(compiler, through_compiler[i]) != NULL);
    }
    *(void **)&option_size = dlsym(compiler, "aclGetCompileoptSize");
    *(void **)&option = dlsym(compiler, "aclGetCompileopt");
    SAME(sizeof "disable", option_size(10));
    OK(option(10, value, option_size(10)));
    HOLDS(strcmp(value, "disable") == 0);
    collectives = dlopen("libhccl.so", RTLD_LAZY);
    HOLDS(collectives != NULL && dlsym(collectives, "HcclSetConfig") != NULL);
    collective(collectives);
    OK(aclrtSetDevice(0));
}

static void first_tensor(aclrtStream *stream)
{
    uint64_t actual = 0;
    int64_t option = -1;

    OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &option));
    SAME(0, option);
    OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0));
    OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0));
    OK(aclrtSetOpExecuteTimeOutV2(547000000, &actual));
    OK(aclrtCreateStreamWithConfig(stream, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    OK(aclrtSetStreamFailureMode(*stream, 1));
}

static void copies(aclrtStream stream)
{
    void *first, *second, *pinned;

    OK(aclrtMallocAlign32(&first, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocAlign32(&second, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
    put(first, 1);
    OK(aclrtMemcpyAsync(second, BLOCK, first, BLOCK, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
    holds(second, 1);
    OK(aclrtMallocHost(&pinned, BLOCK));
    fill_bytes(pinned, BLOCK, 2);
    OK(aclrtMemcpyAsync(first, BLOCK, pinned, BLOCK, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
    holds(first, 2);
    /* Pageable memory is read before the call returns. */
    fill_bytes(sent, BLOCK, 3);
    OK(aclrtMemcpyAsync(first, BLOCK, sent, BLOCK, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    memset(sent, 0, BLOCK);
    OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
    holds(first, 3);
    OK(aclrtFreeHost(pinned));
    OK(aclrtFree(first));
    OK(aclrtFree(second));
}

/* A block that another stream uses goes back to the cache when an event says so. */
static void events(aclrtStream stream)
{
    aclrtStream others[32];
    aclrtEvent start_event, end_event, release;
    aclrtEventRecordedStatus status;
    aclrtStreamStatus idle;
    void *block, *pinned;
    float milliseconds = -1;
    size_t i;

    for (i = 0; i < 32; i++) {
        OK(aclrtCreateStreamWithConfig(&others[i], 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
        OK(aclrtSetStreamFailureMode(others[i], 1));
    }
    OK(aclrtMallocAlign32(&block, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&pinned, BLOCK));
    OK(aclrtCreateEventExWithFlag(&start_event, SYNC_AND_TIME));
    OK(aclrtCreateEventExWithFlag(&end_event, SYNC_AND_TIME));
    OK(aclrtCreateEventExWithFlag(&release, FOR_RELEASE));
    fill_bytes(pinned, BLOCK, 4);
    OK(aclrtRecordEvent(start_event, stream));
    OK(aclrtMemcpyAsync(block, BLOCK, pinned, BLOCK, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    OK(aclrtRecordEvent(end_event, stream));
    OK(aclrtStreamWaitEvent(others[0], end_event));
    OK(aclrtMemcpyAsync(pinned, BLOCK, block, BLOCK, ACL_MEMCPY_DEVICE_TO_HOST, others[0]));
    OK(aclrtRecordEvent(release, others[0]));
    do {
        OK(aclrtQueryEventStatus(release, &status));
    } while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtSynchronizeEvent(end_event));
    OK(aclrtEventElapsedTime(&milliseconds, start_event, end_event));
    HOLDS(milliseconds >= 0);
    OK(aclrtStreamQuery(others[0], &idle));
    fill_bytes(sent, BLOCK, 4);
    HOLDS(memcmp(pinned, sent, BLOCK) == 0);
    OK(aclrtSynchronizeDeviceWithTimeout(-1));
    OK(aclrtDestroyEvent(start_event));
    OK(aclrtDestroyEvent(end_event));
    OK(aclrtDestroyEvent(release));
    for (i = 0; i < 32; i++) {
        OK(aclrtDestroyStreamForce(others[i]));
    }
    OK(aclrtFreeHost(pinned));
    OK(aclrtFree(block));
}

static void shortage(void)
{
    size_t free_bytes, total;
    void *block = NULL;

    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    CODE(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMallocAlign32(&block, total + BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    HOLDS(block == NULL);
    SAME(free_bytes, device_free());
}

/* A graph of copies, replayed over new bytes. */
static void graph(aclrtStream stream)
{
    aclmdlRICaptureStatus status;
    aclmdlRI model = NULL, same = NULL;
    aclrtStreamAttrValue value;
    uint32_t id = 0;
    void *first, *second;
    unsigned seed;

    memset(&value, 0, sizeof value);
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &value));
    OK(aclrtMallocAlign32(&first, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocAlign32(&second, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    put(second, 5);
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    OK(aclmdlRICaptureGetInfo(stream, &status, &model));
    SAME(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, status);
    OK(aclmdlRIGetId(model, &id));
    OK(aclrtMemcpyAsync(second, BLOCK, first, BLOCK, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    OK(aclmdlRICaptureEnd(stream, &same));
    HOLDS(same == model);
    holds(second, 5);
    for (seed = 6; seed < 10; seed++) {
        put(first, seed);
        OK(aclmdlRIExecuteAsync(model, stream));
        OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
        holds(second, seed);
    }
    OK(aclmdlRIDestroy(model));
    OK(aclrtFree(first));
    OK(aclrtFree(second));
}

static int stop;

static void *reports(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        aclrtProcessReport(20); /* a timeout is its usual end */
    }
    return NULL;
}

static void note(void *data)
{
    memcpy(got, data, BLOCK);
}

static void host_function(aclrtStream stream)
{
    pthread_t thread;
    void *pinned, *block;

    OK(aclrtMallocHost(&pinned, BLOCK));
    OK(aclrtMallocAlign32(&block, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    put(block, 11);
    HOLDS(pthread_create(&thread, NULL, reports, NULL) == 0);
    OK(aclrtSubscribeReport((uint64_t)thread, stream));
    OK(aclrtMemcpyAsync(pinned, BLOCK, block, BLOCK, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtLaunchCallback(note, pinned, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
    OK(aclrtUnSubscribeReport((uint64_t)thread, stream));
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    fill_bytes(sent, BLOCK, 11);
    HOLDS(memcmp(got, sent, BLOCK) == 0);
    OK(aclrtFreeHost(pinned));
    OK(aclrtFree(block));
}

static aclrtPhysicalMemProp physical(void)
{
    aclrtPhysicalMemProp prop;

    memset(&prop, 0, sizeof prop);
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    return prop;
}

/* The probe comes before any device is set; then a range larger than the card is filled by pieces. */
static void probe(void)
{
    void *range;

    OK(aclrtReserveMemAddress(&range, 512, 0, NULL, 1));
    OK(aclrtReleaseMemAddress(range));
}

static void expandable(void)
{
    aclrtPhysicalMemProp prop = physical();
    aclrtDrvMemHandle pieces[3], other;
    size_t free_bytes, total, before = device_free();
    unsigned char *range;
    size_t i;

    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    OK(aclrtReserveMemAddress((void **)&range, total + total / 8, 0, NULL, 1));
    SAME(before, device_free());
    for (i = 0; i < 3; i++) {
        OK(aclrtMallocPhysical(&pieces[i], BLOCK, &prop, 0));
        OK(aclrtMapMem(range + i * BLOCK, BLOCK, 0, pieces[i], 0));
        put(range + i * BLOCK, 20 + (unsigned)i);
    }
    SAME(before - 3 * (size_t)BLOCK, device_free());
    /* A piece in the middle gives way to another one; the others keep their bytes. */
    OK(aclrtUnmapMem(range + BLOCK));
    OK(aclrtFreePhysical(pieces[1]));
    OK(aclrtMallocPhysical(&other, BLOCK, &prop, 0));
    OK(aclrtMapMem(range + BLOCK, BLOCK, 0, other, 0));
    put(range + BLOCK, 30);
    holds(range, 20);
    holds(range + BLOCK, 30);
    holds(range + 2 * BLOCK, 22);
    pieces[1] = other;
    for (i = 0; i < 3; i++) {
        OK(aclrtUnmapMem(range + i * BLOCK));
        OK(aclrtFreePhysical(pieces[i]));
    }
    OK(aclrtReleaseMemAddress(range));
    SAME(before, device_free());
}

/* The other process: reads what it was told of, and answers. */
static void consumer(int in, int out)
{
    struct shared shared;
    aclrtDrvMemHandle handle;
    aclrtEvent event;
    aclrtStream stream;
    void *block, *range;
    char answer = 'y';

    SAME(sizeof shared, read(in, &shared, sizeof shared));
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    OK(aclrtIpcOpenEventHandle(shared.event, &event));
    OK(aclrtStreamWaitEvent(stream, event));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtIpcMemImportByKey(&block, shared.key, 1));
    holds(block, 40);
    OK(aclrtIpcMemClose(shared.key));
    OK(aclrtDestroyEvent(event));
    OK(aclrtMemImportFromShareableHandle(shared.handle, 0, &handle));
    OK(aclrtReserveMemAddress(&range, BLOCK, 0, NULL, 1));
    OK(aclrtMapMem(range, BLOCK, 0, handle, 0));
    holds(range, 41);
    put(range, 42);
    OK(aclrtUnmapMem(range));
    OK(aclrtFreePhysical(handle));
    OK(aclrtReleaseMemAddress(range));
    SAME(1, write(out, &answer, 1));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    _exit(0);
}

static void sharing(aclrtStream stream, int to, int from, pid_t child)
{
    aclrtPhysicalMemProp prop = physical();
    struct shared shared;
    aclrtDrvMemHandle handle;
    aclrtEvent event;
    void *block, *range;
    char answer = 0;

    memset(&shared, 0, sizeof shared);
    OK(aclrtMallocAlign32(&block, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
    put(block, 40);
    OK(aclrtIpcMemGetExportKey(block, BLOCK, shared.key, KEY, 1));
    OK(aclrtCreateEventExWithFlag(&event, SHARED));
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtIpcGetEventHandle(event, &shared.event));
    OK(aclrtMallocPhysical(&handle, BLOCK, &prop, 0));
    OK(aclrtReserveMemAddress(&range, BLOCK, 0, NULL, 1));
    OK(aclrtMapMem(range, BLOCK, 0, handle, 0));
    put(range, 41);
    OK(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 1, &shared.handle));
    OK(aclrtSynchronizeStream(stream));
    SAME(sizeof shared, write(to, &shared, sizeof shared));
    SAME(1, read(from, &answer, 1));
    SAME('y', answer);
    SAME(0, wait_for(child, 60));
    holds(range, 42);
    holds(block, 40);
    OK(aclrtDestroyEvent(event));
    OK(aclrtUnmapMem(range));
    OK(aclrtFreePhysical(handle));
    OK(aclrtReleaseMemAddress(range));
    OK(aclrtIpcMemClose(shared.key));
    OK(aclrtFree(block));
}

/* Operators never succeed in silence, and say which they were. */
static void operators(void)
{
    static const char *const words[] = {"MatMul", "memory, not operators", NULL};
    int (*execute)(const char *);

    *(void **)&execute = dlsym(RTLD_DEFAULT, "aclopCompileAndExecute");
    HOLDS(execute != NULL);
    SAME(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, execute("MatMul"));
    expect_words(words, __FILE__, __LINE__);
}

int main(void)
{
    aclrtStream stream;
    int to[2], from[2];
    size_t all;
    pid_t child;

    HOLDS(pipe(to) == 0 && pipe(from) == 0);
    child = fork();
    HOLDS(child >= 0);
    if (child == 0) {
        consumer(to[0], from[1]);
    }
    probe();
    start();
    first_tensor(&stream);
    all = device_free();
    copies(stream);
    events(stream);
    shortage();
    graph(stream);
    host_function(stream);
    expandable();
    sharing(stream, to[1], from[0], child);
    operators();
    SAME(all, device_free());
    OK(aclrtSynchronizeDeviceWithTimeout(-1));
    OK(aclrtDestroyStreamForce(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
