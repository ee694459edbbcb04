// The memory of an engine that can sleep: addresses are reserved once, memory is mapped under them on
// demand, taken away to let others have it, and mapped again at the same addresses on waking. What matters
// is saved in pinned host memory meanwhile; scratch memory is not. All pointers stay valid through it.
//
// Checks every code and every byte, and that the device is as free at the end as it was in the beginning.
//
// It is run as
//   cannery run -- sleeping_engine
//   cannery run --profile A3 --hbm 512M --huge 448M -- sleeping_engine
//   cannery run --profile 950 --hbm 512M --huge 448M -- sleeping_engine
//   cannery run --profile 310P --hbm 512M --huge 448M --pin off -- sleeping_engine
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

void check(aclError code, const char *call) {
    if (code != ACL_SUCCESS) {
        const char *text = aclGetRecentErrMsg();
        throw std::runtime_error(std::string(call) + ": " + (text != nullptr ? text : "no text"));
    }
}

void require(bool holds, const char *what) {
    if (!holds) {
        throw std::logic_error(std::string("not true: ") + what);
    }
}

std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    check(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), "aclrtGetMemInfo");
    return free;
}

aclrtPhysicalMemProp pages_of_device(std::uint32_t device) {
    aclrtPhysicalMemProp prop{};
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop.memAttr = ACL_MEM_HUGE;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    return prop;
}

// Memory of one kind: a range of addresses, with memory under its first part.
class Pool {
public:
    enum class Asleep { Kept, Dropped };

    Pool(std::size_t most, Asleep asleep) : most_(most), asleep_(asleep), prop_(pages_of_device(0)) {
        check(aclrtMemGetAllocationGranularity(&prop_, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &unit_),
              "aclrtMemGetAllocationGranularity");
        void *base = nullptr;
        check(aclrtReserveMemAddress(&base, most_, 0, nullptr, 0), "aclrtReserveMemAddress");
        base_ = static_cast<char *>(base);
    }
    ~Pool() {
        forget();
        aclrtReleaseMemAddress(base_);
    }
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    // First fit; grows the mapped part when nothing fits.
    void *allocate(std::size_t size) {
        size = (size + 511) / 512 * 512;
        auto hole = std::find_if(holes_.begin(), holes_.end(), [&](auto &h) { return h.second >= size; });
        if (hole == holes_.end()) {
            grow(size);
            hole = std::prev(holes_.end());
        }
        const auto [at, length] = *hole;
        holes_.erase(hole);
        if (length > size) {
            holes_.emplace(at + size, length - size);
        }
        blocks_.emplace(at, size);
        return base_ + at;
    }

    void release(void *block) {
        const auto found = blocks_.find(static_cast<std::size_t>(static_cast<char *>(block) - base_));
        require(found != blocks_.end(), "released blocks were allocated");
        give(found->first, found->second);
        blocks_.erase(found);
    }

    // Everything that is mapped goes back to the device. Addresses and blocks stay.
    void sleep() {
        if (asleep_ == Asleep::Kept && mapped() > 0) {
            check(aclrtMallocHost(&saved_, mapped()), "aclrtMallocHost");
            check(aclrtMemcpy(saved_, mapped(), base_, mapped(), ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
        }
        std::swap(sizes_, lengths_asleep_);
        std::size_t at = 0;
        for (const std::size_t size : lengths_asleep_) {
            check(aclrtUnmapMem(base_ + at), "aclrtUnmapMem");
            at += size;
        }
    }

    void wake() {
        for (const std::size_t size : std::exchange(lengths_asleep_, {})) {
            map_more(size);
        }
        if (saved_ != nullptr) {
            check(aclrtMemcpy(base_, mapped(), saved_, mapped(), ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
            check(aclrtFreeHost(std::exchange(saved_, nullptr)), "aclrtFreeHost");
        }
    }

    std::size_t mapped() const {
        std::size_t sum = 0;
        for (const std::size_t size : sizes_) {
            sum += size;
        }
        return sum;
    }

private:
    void grow(std::size_t size) {
        const std::size_t from = mapped();
        std::size_t more = size;
        if (!holes_.empty()) {
            const auto &[at, length] = *holes_.rbegin();
            more -= at + length == from ? length : 0;
        }
        more = (more + unit_ - 1) / unit_ * unit_;
        require(from + more <= most_, "the addresses suffice");
        map_more(more);
        give(from, more);
    }

    // The handle is freed at once: the memory lives as long as it is mapped.
    void map_more(std::size_t size) {
        aclrtDrvMemHandle memory = nullptr;
        char *at = base_ + mapped();
        check(aclrtMallocPhysical(&memory, size, &prop_, 0), "aclrtMallocPhysical");
        const aclError code = aclrtMapMem(at, size, 0, memory, 0);
        aclrtFreePhysical(memory);
        check(code, "aclrtMapMem");
        sizes_.push_back(size);
    }

    // Makes a part a hole, one with its neighbours.
    void give(std::size_t at, std::size_t length) {
        auto next = holes_.lower_bound(at);
        if (next != holes_.end() && next->first == at + length) {
            length += next->second;
            next = holes_.erase(next);
        }
        if (next != holes_.begin()) {
            const auto before = std::prev(next);
            if (before->first + before->second == at) {
                before->second += length;
                return;
            }
        }
        holes_.emplace(at, length);
    }

    void forget() {
        std::size_t at = 0;
        for (const std::size_t size : sizes_) {
            aclrtUnmapMem(base_ + at);
            at += size;
        }
        if (saved_ != nullptr) {
            aclrtFreeHost(saved_);
        }
    }

    std::size_t most_;
    Asleep asleep_;
    aclrtPhysicalMemProp prop_;
    std::size_t unit_ = 0;
    char *base_ = nullptr;
    std::vector<std::size_t> sizes_;            // of the mappings, one after the other
    std::vector<std::size_t> lengths_asleep_;   // the same while asleep
    std::map<std::size_t, std::size_t> holes_;  // offset and length
    std::map<std::size_t, std::size_t> blocks_;
    void *saved_ = nullptr;
};

std::vector<unsigned char> random_bytes(std::size_t size, unsigned seed) {
    std::mt19937 engine(seed);
    std::vector<unsigned char> bytes(size);
    for (auto &byte : bytes) {
        byte = static_cast<unsigned char>(engine());
    }
    return bytes;
}

void holds(void *block, const std::vector<unsigned char> &bytes) {
    std::vector<unsigned char> found(bytes.size());
    check(aclrtMemcpy(found.data(), found.size(), block, found.size(), ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    require(found == bytes, "the block holds its bytes");
}

void engine() {
    const std::size_t base = free_bytes();
    {
        Pool weights(256 * MiB, Pool::Asleep::Kept);
        Pool scratch(256 * MiB, Pool::Asleep::Dropped);
        std::vector<std::pair<void *, std::vector<unsigned char>>> layers;
        for (unsigned layer = 0; layer < 12; layer++) {
            auto bytes = random_bytes(3 * MiB + layer * 12345, layer + 1);
            void *block = weights.allocate(bytes.size());
            check(aclrtMemcpy(block, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE),
                  "aclrtMemcpy");
            layers.emplace_back(block, std::move(bytes));
        }
        std::cout << "  awake     " << weights.mapped() / MiB << " MiB of weights mapped at " << layers[0].first << '\n';
        for (unsigned round = 0; round < 5; round++) {
            std::vector<void *> blocks;
            for (unsigned i = 0; i < 20; i++) {
                void *block = scratch.allocate((i + round) % 7 * 300000 + 1);
                check(aclrtMemset(block, 1, static_cast<int>(i), 1), "aclrtMemset");
                blocks.push_back(block);
            }
            for (void *block : blocks) {
                scratch.release(block);
            }
            require(free_bytes() == base - weights.mapped() - scratch.mapped(), "what is mapped is what is used");
            weights.sleep();
            scratch.sleep();
            require(free_bytes() == base, "an engine that sleeps holds nothing");
            // Somebody else uses the card meanwhile.
            void *other = nullptr;
            check(aclrtMalloc(&other, 64 * MiB, ACL_MEM_MALLOC_HUGE_ONLY), "aclrtMalloc");
            check(aclrtMemset(other, 64 * MiB, 0xee, 64 * MiB), "aclrtMemset");
            check(aclrtFree(other), "aclrtFree");
            scratch.wake();
            weights.wake();
            for (const auto &[block, bytes] : layers) {
                holds(block, bytes);
            }
        }
        std::cout << "  slept     5 times; " << layers.size() << " blocks at the same addresses, all bytes equal\n";
    }
    require(free_bytes() == base, "all memory is back");
    std::cout << "  gone      " << base / MiB << " MiB free, as in the beginning\n";
}

}  // namespace

int main() {
    try {
        check(aclInit(nullptr), "aclInit");
        check(aclrtSetDevice(0), "aclrtSetDevice");
        std::cout << "An engine that sleeps, on " << aclrtGetSocName() << '\n';
        engine();
        check(aclrtResetDevice(0), "aclrtResetDevice");
        check(aclFinalize(), "aclFinalize");
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
