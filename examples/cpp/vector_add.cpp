// Vector addition with a kernel of our own: loads vector_add.kernel.so (built from
// vector_add.kernel.cpp), launches it between two queued copies, and compares.
//
//     vector_add vector_add.kernel.so
//
// cannery run -- vector_add
// cannery run --schedule eager -- vector_add
// cannery run --schedule random:7 -- vector_add
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include "acl/acl.h"

namespace {

constexpr uint32_t COUNT = 300'007;
constexpr size_t BYTES = COUNT * sizeof(float);
constexpr uint32_t BLOCKS = 24;

void check(aclError code, const char *what)
{
    if (code != ACL_SUCCESS) {
        const char *text = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s returned %d\n%s\n", what, code, text != nullptr ? text : "no text");
        std::exit(EXIT_FAILURE);
    }
}

struct DeviceFree {
    void operator()(void *block) const { check(aclrtFree(block), "aclrtFree"); }
};
struct HostFree {
    void operator()(void *block) const { check(aclrtFreeHost(block), "aclrtFreeHost"); }
};
using Device = std::unique_ptr<float, DeviceFree>;
using Pinned = std::unique_ptr<float[], HostFree>;

Device device_floats()
{
    void *block = nullptr;
    check(aclrtMalloc(&block, BYTES, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    return Device(static_cast<float *>(block));
}

Pinned pinned_floats()
{
    void *block = nullptr;
    check(aclrtMallocHost(&block, BYTES), "aclrtMallocHost");
    return Pinned(static_cast<float *>(block));
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s KERNELS.so\n", argv[0]);
        return EXIT_FAILURE;
    }
    aclrtStream stream = nullptr;
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle vector_add = nullptr;

    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
    check(aclrtBinaryLoadFromFile(argv[1], nullptr, &binary), "aclrtBinaryLoadFromFile");
    check(aclrtBinaryGetFunction(binary, "vector_add", &vector_add), "aclrtBinaryGetFunction");
    {
        Pinned x = pinned_floats(), y = pinned_floats(), z = pinned_floats();
        Device on_x = device_floats(), on_y = device_floats(), on_z = device_floats();
        std::mt19937 random(1);
        std::uniform_real_distribution<float> any(-1000, 1000);

        for (uint32_t i = 0; i < COUNT; ++i) {
            x[i] = any(random);
            y[i] = any(random);
        }
        // Everything is queued; the launch copies its arguments.
        float *a = on_x.get(), *b = on_y.get(), *c = on_z.get();
        uint32_t count = COUNT;
        void *arguments[] = {&a, &b, &c, &count};
        check(aclrtMemcpyAsync(a, BYTES, x.get(), BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream), "copy of x");
        check(aclrtMemcpyAsync(b, BYTES, y.get(), BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream), "copy of y");
        check(aclrtLaunchKernelWithArgsArray(vector_add, BLOCKS, stream, nullptr, arguments), "launch");
        check(aclrtMemcpyAsync(z.get(), BYTES, c, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, stream), "copy of z");
        check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        for (uint32_t i = 0; i < COUNT; ++i) {
            if (z[i] != x[i] + y[i]) {
                std::fprintf(stderr, "element %u is %g, not %g\n", i, z[i], x[i] + y[i]);
                return EXIT_FAILURE;
            }
        }
    }
    std::printf("vector_add: %u sums in %u blocks, all right\n", COUNT, BLOCKS);
    check(aclrtBinaryUnLoad(binary), "aclrtBinaryUnLoad");
    check(aclrtDestroyStream(stream), "aclrtDestroyStream");
    check(aclrtResetDevice(0), "aclrtResetDevice");
    check(aclFinalize(), "aclFinalize");
    return EXIT_SUCCESS;
}
