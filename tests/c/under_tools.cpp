/*
 * A program with several threads, as sanitizers and Valgrind see it: the window
 * moves out of their way, nothing is reported about the library, and all works.
 *
 * run: CANNERY_DEVICES=1
 * run: CANNERY_HBM_BYTES=64M
 * run: CANNERY_HBM_BYTES=64M CANNERY_PROFILE=310P CANNERY_MODE=rc
 * tool: asan tsan valgrind
 */
#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "expect.h"

namespace {

std::mutex lock;
std::vector<void *> handed;

void work(unsigned number, int rounds)
{
    std::vector<unsigned char> from(5000), back(5000);
    OK(aclrtSetDevice(0));
    for (int round = 0; round < rounds; round++) {
        void *device = nullptr, *other = nullptr, *pinned = nullptr;
        const std::size_t size = 100 + (number * 977 + static_cast<unsigned>(round) * 131) % 4900;
        std::fill(from.begin(), from.end(), static_cast<unsigned char>(number + 1));
        OK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMallocCached(&other, size + (round % 10 == 0 ? MIB : 0), ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMallocHost(&pinned, size));
        OK(aclrtMemcpy(device, size, from.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclrtMemcpy(other, size, device, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
        OK(aclrtMemset(device, size, 0xee, size));
        OK(aclrtMemcpy(pinned, size, other, size, ACL_MEMCPY_DEVICE_TO_HOST));
        OK(aclrtMemcpy(back.data(), back.size(), pinned, size, ACL_MEMCPY_HOST_TO_HOST));
        HOLDS(std::equal(from.begin(), from.begin() + static_cast<long>(size), back.begin()));
        aclrtPtrAttributes attributes;
        OK(aclrtPointerGetAttributes(device, &attributes));
        CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(static_cast<char *>(device) + 1));
        OK(aclrtFreeHost(pinned));
        OK(aclrtFree(device));
        const std::lock_guard<std::mutex> guard(lock);
        handed.push_back(other);
        if (handed.size() > 8) {
            OK(aclrtFree(handed.front()));
            handed.erase(handed.begin());
        }
    }
    OK(aclrtResetDevice(0));
}

} // namespace

int main()
{
    std::vector<std::thread> threads;
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    const std::size_t all = device_free();
    for (unsigned n = 0; n < 4; n++) {
        threads.emplace_back(work, n, 150);
    }
    for (auto &thread : threads) {
        thread.join();
    }
    for (void *block : handed) {
        OK(aclrtFree(block));
    }
    SAME(all, device_free());
    sleep_ms(700); /* the library tidies up meanwhile */
    SAME(all, device_free());
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
