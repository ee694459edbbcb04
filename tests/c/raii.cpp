/*
 * C++ as users write it: owning handles, containers, static objects whose
 * constructors and destructors call the library before and after main,
 * thread_local ones that release when their thread ends, exceptions on the way.
 *
 * cases: C53 C38
 * run:
 * run: CANNERY_HBM_BYTES=256M
 * run: CANNERY_PROFILE=950
 * run: CANNERY_PROFILE=310P CANNERY_MODE=rc
 */
#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "expect.h"

namespace {

struct Error : std::runtime_error {
    Error(const char *what, int code)
        : std::runtime_error(std::string(what) + ": " + text()), code(code) {}
    static std::string text()
    {
        const char *words = aclGetRecentErrMsg();
        return words != nullptr ? words : "";
    }
    int code;
};

void check(int code, const char *what)
{
    if (code != ACL_SUCCESS) {
        throw Error(what, code);
    }
}

/* Device memory with an owner. */
class DeviceBuffer {
public:
    DeviceBuffer() = default;
    explicit DeviceBuffer(std::size_t size) : size_(size)
    {
        check(aclrtMalloc(&data_, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    }
    DeviceBuffer(DeviceBuffer &&other) noexcept { swap(other); }
    DeviceBuffer &operator=(DeviceBuffer other) noexcept
    {
        swap(other);
        return *this;
    }
    ~DeviceBuffer()
    {
        if (data_ != nullptr) {
            HOLDS(aclrtFree(data_) == ACL_SUCCESS);
        }
    }
    void swap(DeviceBuffer &other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    void upload(const void *from, std::size_t bytes)
    {
        check(aclrtMemcpy(data_, size_, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "upload");
    }
    void download(void *to, std::size_t bytes) const
    {
        check(aclrtMemcpy(to, bytes, data_, bytes, ACL_MEMCPY_DEVICE_TO_HOST), "download");
    }
    std::size_t size() const { return size_; }

private:
    void *data_ = nullptr;
    std::size_t size_ = 0;
};

struct FreeHost {
    void operator()(void *memory) const { HOLDS(aclrtFreeHost(memory) == ACL_SUCCESS); }
};
template <typename T> using Pinned = std::unique_ptr<T[], FreeHost>;

template <typename T> Pinned<T> make_pinned(std::size_t count)
{
    void *memory = nullptr;
    check(aclrtMallocHost(&memory, count * sizeof(T)), "aclrtMallocHost");
    return Pinned<T>(static_cast<T *>(memory));
}

/* Pinned memory for standard containers. */
template <typename T> struct PinnedAllocator {
    using value_type = T;
    PinnedAllocator() = default;
    template <typename U> PinnedAllocator(const PinnedAllocator<U> &) {}
    T *allocate(std::size_t count)
    {
        void *memory = nullptr;
        if (aclrtMallocHost(&memory, count * sizeof(T)) != ACL_SUCCESS) {
            throw std::bad_alloc();
        }
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, std::size_t) { FreeHost()(memory); }
    bool operator==(const PinnedAllocator &) const { return true; }
    bool operator!=(const PinnedAllocator &) const { return false; }
};

/* Lives from before main to after it. */
struct Session {
    Session()
    {
        check(aclInit(nullptr), "aclInit");
        check(aclrtSetDevice(0), "aclrtSetDevice");
        kept = DeviceBuffer(1000);
    }
    ~Session()
    {
        kept = DeviceBuffer();
        HOLDS(aclrtResetDevice(0) == ACL_SUCCESS);
        HOLDS(aclFinalize() == ACL_SUCCESS);
    }
    DeviceBuffer kept;
} session;

/* Destroyed before the session, as it was made after it. */
std::vector<DeviceBuffer> pool;

thread_local std::unique_ptr<DeviceBuffer> scratch;

void containers()
{
    std::vector<float, PinnedAllocator<float>> values;
    for (int i = 0; i < 100000; i++) {
        values.push_back(static_cast<float>(i)); /* grows many times */
    }
    DeviceBuffer device(values.size() * sizeof(float));
    device.upload(values.data(), values.size() * sizeof(float));
    std::vector<float> back(values.size());
    device.download(back.data(), back.size() * sizeof(float));
    HOLDS(std::equal(values.begin(), values.end(), back.begin()));
    auto pinned = make_pinned<int>(1000);
    std::fill(pinned.get(), pinned.get() + 1000, 7);
    SAME(7, pinned[999]);
}

/* A shortage travels up as an exception; what was taken on the way is given back. */
void unwinding()
{
    const std::size_t before = device_free();
    bool thrown = false;
    try {
        std::vector<DeviceBuffer> all;
        for (;;) {
            all.emplace_back(std::max<std::size_t>(before / 10, MIB));
        }
    } catch (const Error &error) {
        thrown = true;
        SAME(ACL_ERROR_RT_MEMORY_ALLOCATION, error.code);
        HOLDS(std::string(error.what()).find("207001") != std::string::npos);
    }
    HOLDS(thrown);
    SAME(before, device_free());
}

void threads()
{
    const std::size_t before = device_free();
    std::mutex lock;
    std::vector<DeviceBuffer> shared;
    std::vector<std::thread> workers;
    for (int n = 0; n < 8; n++) {
        workers.emplace_back([&, n] {
            check(aclrtSetDevice(0), "aclrtSetDevice");
            for (int round = 0; round < 300; round++) {
                scratch = std::make_unique<DeviceBuffer>(static_cast<std::size_t>(round * 97 + n + 1));
                std::vector<unsigned char> bytes(scratch->size(), static_cast<unsigned char>(n)), back(bytes.size());
                scratch->upload(bytes.data(), bytes.size());
                scratch->download(back.data(), back.size());
                HOLDS(bytes == back);
                const std::lock_guard<std::mutex> guard(lock);
                shared.push_back(std::move(*scratch));
                if (shared.size() > 20) {
                    shared.erase(shared.begin(), shared.begin() + 10);
                }
            }
            check(aclrtResetDevice(0), "aclrtResetDevice");
        });
    }
    for (auto &worker : workers) {
        worker.join();
    }
    shared.clear();
    SAME(before, device_free());
}

} // namespace

int main()
{
    containers();
    unwinding();
    threads();
    for (int n = 0; n < 100; n++) {
        pool.emplace_back(static_cast<std::size_t>(n) * 1000 + 1);
    }
    std::reverse(pool.begin(), pool.end());
    scratch = std::make_unique<DeviceBuffer>(100);
    return 0;
}
