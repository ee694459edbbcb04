// The memory of an NPU, from C++: every resource is owned by an object, so that
// nothing leaks whichever way a function is left. Failures are exceptions that
// carry the code and the runtime's own text.
//
// It holds on every kind of product, and is run as
//   cannery run -- ./mission
//   cannery run --profile 950 -- ./mission
//   cannery run --profile A3 -- ./mission
//   cannery run --profile 910 -- ./mission
//   cannery run --profile 310P -- ./mission
//   cannery run --profile 310B --mode rc --hbm 4G -- ./mission
//   cannery run --devices 2 --hbm 64M --huge 32M --pin off -- ./mission

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/dvpp/hi_dvpp.h"
#include "cannery/cannery.h"

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

struct AclError : std::runtime_error {
    AclError(const char *call, int failure)
        : std::runtime_error(describe(call, failure)), code(failure) {}

    static std::string describe(const char *call, int failure) {
        const char *text = aclGetRecentErrMsg();
        std::ostringstream out;
        out << call << " returned " << failure << ": " << (text != nullptr ? text : "(no text)");
        return out.str();
    }

    int code;
};

void check(int code, const char *call) {
    if (code != ACL_SUCCESS) {
        throw AclError(call, code);
    }
}

void require(bool condition, const char *what) {
    if (!condition) {
        throw std::logic_error(std::string("not true: ") + what);
    }
}

// A library that is initialised, and a device that is set, for as long as it lives.
class Device {
public:
    explicit Device(std::int32_t id) : id_(id) {
        check(aclInit(nullptr), "aclInit");
        const int code = aclrtSetDevice(id_);
        if (code != ACL_SUCCESS) {
            aclFinalize();
            check(code, "aclrtSetDevice");
        }
    }
    ~Device() {
        aclrtResetDevice(id_);
        aclFinalize();
    }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

private:
    std::int32_t id_;
};

// Owners: a pointer and the function that gives it back.
struct FreeDevice {
    void operator()(void *block) const { aclrtFree(block); }
};
struct FreeHost {
    void operator()(void *block) const { aclrtFreeHost(block); }
};
struct FreeMedia {
    void operator()(void *block) const { hi_mpi_dvpp_free(block); }
};
using DeviceBlock = std::unique_ptr<void, FreeDevice>;
using PinnedBlock = std::unique_ptr<void, FreeHost>;
using MediaBlock = std::unique_ptr<void, FreeMedia>;

DeviceBlock device_block(std::size_t size) {
    void *block = nullptr;
    check(aclrtMallocCached(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMallocCached");
    return DeviceBlock(block);
}

PinnedBlock pinned_block(std::size_t size) {
    void *block = nullptr;
    check(aclrtMallocHost(&block, size), "aclrtMallocHost");
    return PinnedBlock(block);
}

MediaBlock media_block(std::size_t size) {
    void *block = nullptr;
    check(hi_mpi_dvpp_malloc(0, &block, size), "hi_mpi_dvpp_malloc");
    return MediaBlock(block);
}

std::vector<unsigned char> random_bytes(std::size_t size) {
    std::mt19937_64 engine(size);
    std::vector<unsigned char> bytes(size);
    for (auto &byte : bytes) {
        byte = static_cast<unsigned char>(engine());
    }
    return bytes;
}

template <typename... Parts>
void tell(const char *what, const Parts &...parts) {
    std::cout << "  " << std::left << std::setw(22) << what;
    (std::cout << ... << parts) << '\n';
}

// Prints a long text in lines of a width that can be read.
void tell_wrapped(const std::string &text) {
    constexpr std::size_t width = 92;
    std::istringstream words(text);
    std::string word;
    std::size_t column = 0;
    while (words >> word) {
        if (column > 0 && column + 1 + word.size() > width) {
            std::cout << '\n';
            column = 0;
        }
        const std::string gap = column == 0 ? "    " : " ";
        std::cout << gap << word;
        column += gap.size() + word.size();
    }
    std::cout << '\n';
}

void round_trip() {
    const auto sent = random_bytes(MiB);
    std::vector<unsigned char> received(MiB);
    const DeviceBlock device = device_block(MiB);
    tell("cached device memory", "1 MiB at ", device.get());
    check(aclrtMemcpy(device.get(), MiB, sent.data(), MiB, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    check(aclrtMemFlush(device.get(), MiB), "aclrtMemFlush");
    check(aclrtMemInvalidate(device.get(), MiB), "aclrtMemInvalidate");
    check(aclrtMemcpy(received.data(), MiB, device.get(), MiB, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    require(sent == received, "the bytes come back as they went");
    tell("in, flush, back", MiB, " bytes, all equal");
}

void pinned_memory() {
    const auto sent = random_bytes(MiB);
    const PinnedBlock pinned = pinned_block(MiB);
    const DeviceBlock device = device_block(MiB);
    auto *bytes = static_cast<unsigned char *>(pinned.get());
    std::copy(sent.begin(), sent.end(), bytes);
    check(aclrtMemcpy(device.get(), MiB, bytes, MiB, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    std::fill(bytes, bytes + MiB, static_cast<unsigned char>(0));
    check(aclrtMemcpy(bytes, MiB, device.get(), MiB, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    require(std::equal(sent.begin(), sent.end(), bytes), "pinned memory holds what the device had");
    tell("pinned host memory", "1 MiB, there and back");
}

void media_memory() {
    try {
        const MediaBlock media = media_block(MiB);
        require(reinterpret_cast<std::uintptr_t>(media.get()) % 128 == 0, "128-byte alignment");
        tell("media memory", "1 MiB, 128-byte aligned");
    } catch (const AclError &error) {
        if (error.code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
            throw;
        }
        tell("media memory", "not on this product");
    }
}

// Fills the device, lets it refuse, and gives everything back by leaving.
void out_of_memory() {
    std::size_t free_before = 0;
    std::size_t free_after = 0;
    std::size_t total = 0;
    check(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total), "aclrtGetMemInfo");
    {
        std::vector<DeviceBlock> blocks;
        const std::size_t size = total / 7;
        try {
            for (;;) {
                blocks.push_back(device_block(size));
            }
        } catch (const AclError &error) {
            require(error.code == ACL_ERROR_RT_MEMORY_ALLOCATION, "the refusal is 207001");
            require(!blocks.empty(), "something fits");
            std::cout << "\nOut of memory after " << blocks.size() << " blocks of a seventh of the device\n";
            tell_wrapped(error.what());
        }
    }
    check(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total), "aclrtGetMemInfo");
    require(free_before == free_after, "all memory is back");
}

// A number of the library's statistics: JSON, with the totals outermost.
long statistic(const std::string &json, const std::string &name) {
    const std::string key = "\"" + name + "\":";
    int depth = 0;
    for (std::size_t i = 0; i < json.size(); i++) {
        depth += (json[i] == '{') - (json[i] == '}');
        if (depth == 1 && json.compare(i, key.size(), key) == 0) {
            return std::strtol(json.c_str() + i + key.size(), nullptr, 10);
        }
    }
    throw std::logic_error("the statistics lack " + name);
}

void what_happened() {
    std::size_t needed = 0;
    check(cannery_stats(nullptr, 0, &needed), "cannery_stats");
    std::vector<char> text(needed);
    check(cannery_stats(text.data(), text.size(), &needed), "cannery_stats");
    const std::string json(text.data());
    const long leaked = statistic(json, "live_blocks");
    std::cout << "\nWhat happened\n";
    tell("allocations", statistic(json, "allocations"), ", freed ", statistic(json, "frees"), ", refused ",
         statistic(json, "failed_allocations"));
    tell("peak", statistic(json, "peak_bytes") / static_cast<long>(MiB), " MiB");
    tell("leaks", leaked == 0 ? std::string("none") : std::to_string(leaked) + " blocks");
    require(leaked == 0 && statistic(json, "allocations") == statistic(json, "frees"), "no block is left");
}

}  // namespace

int main() {
    try {
        {
            const Device device(0);
            std::cout << "The mission in C++, on " << aclrtGetSocName() << '\n';
            round_trip();
            pinned_memory();
            media_memory();
            out_of_memory();
        }
        what_happened();
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
