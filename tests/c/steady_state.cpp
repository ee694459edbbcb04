/*
 * Good enough to delete a home-made pool: growing sizes with a random live set
 * never fail while the live bytes are below 90 % of the card, blocks are
 * aligned and keep their bytes, and everything comes back.
 *
 * cases: C53
 * run: CANNERY_HBM_BYTES=1G CANNERY_HUGE_BYTES=0
 * run: CANNERY_HBM_BYTES=1G CANNERY_HUGE_BYTES=1G
 * run: CANNERY_HBM_BYTES=1G CANNERY_HUGE_BYTES=0 CANNERY_PROFILE=950
 */
#include <cstdlib>
#include <random>
#include <vector>

#include "expect.h"

namespace {

struct Block {
    unsigned char *data;
    std::size_t size;
    std::size_t charged;
    unsigned mark;
};

std::vector<Block> live;
std::size_t charged;
std::mt19937 random_numbers(53);

void check(const Block &block)
{
    unsigned head = 0, tail = 0;
    OK(aclrtMemcpy(&head, 4, block.data, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(&tail, 4, block.data + block.size - 4, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(block.mark, head);
    SAME(block.mark, tail);
}

void release(std::size_t at)
{
    check(live[at]);
    OK(aclrtFree(live[at].data));
    charged -= live[at].charged;
    live[at] = live.back();
    live.pop_back();
}

void allocate(std::size_t size, aclrtMemMallocPolicy policy, std::size_t step)
{
    void *memory = nullptr;
    const std::size_t before = device_free();
    OK(aclrtMalloc(&memory, size, policy));
    HOLDS(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
    Block block{static_cast<unsigned char *>(memory), size, before - device_free(),
                static_cast<unsigned>(random_numbers())};
    /* Nobody pays for more than the block and its rounding. */
    HOLDS(block.charged >= size && block.charged <= size + 64 + step);
    charged += block.charged;
    OK(aclrtMemcpy(block.data, 4, &block.mark, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(block.data + size - 4, 4, &block.mark, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    live.push_back(block);
}

} // namespace

int main()
{
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    const std::size_t all = device_free();
    const char *huge = std::getenv("CANNERY_HUGE_BYTES");
    const bool in_huge = huge != nullptr && strcmp(huge, "0") != 0;
    const auto policy = in_huge ? ACL_MEM_MALLOC_HUGE_ONLY : ACL_MEM_MALLOC_NORMAL_ONLY;
    const std::size_t step = in_huge ? 2 * MIB : 64;
    SAME(1 * GIB, all);
    for (unsigned round = 0; round < 10000; round++) {
        /* 1.0, 1.1, 1.2 ... MiB, and small ones between. */
        std::size_t size = MIB + round % 100 * (MIB / 10);
        if (!in_huge && round % 3 == 0) {
            size = 8 + random_numbers() % 100000;
        }
        while (charged + size + step + 64 > all / 10 * 9) {
            release(random_numbers() % live.size());
        }
        allocate(size, policy, step);
        /* A random live set: three in ten stay. */
        if (random_numbers() % 10 >= 3) {
            release(random_numbers() % live.size());
        }
    }
    while (!live.empty()) {
        release(live.size() - 1);
    }
    SAME(all, device_free());

    /* Pairs: a million of 64 KiB. */
    for (int pair = 0; pair < 1000000; pair++) {
        void *memory = nullptr;
        if (aclrtMalloc(&memory, 64 * KIB, policy) != ACL_SUCCESS || aclrtFree(memory) != ACL_SUCCESS) {
            CODE(ACL_SUCCESS, 1);
        }
    }
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
