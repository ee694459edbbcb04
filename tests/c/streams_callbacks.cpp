/*
 * Callbacks as a C++ program uses them: a thread that runs the callbacks of
 * several streams, and host functions that carry closures and fulfil promises,
 * while other threads submit, wait and ask.
 *
 * run: CANNERY_SCHEDULE=fifo
 * run: CANNERY_SCHEDULE=eager
 * run: CANNERY_SCHEDULE=lazy
 * run: CANNERY_SCHEDULE=random:1
 * tool: "" asan
 */
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <pthread.h>

#include "expect.h"

namespace {

constexpr size_t SIZE = 10000;

class Stream {
public:
    Stream() { OK(aclrtCreateStream(&handle_)); }
    ~Stream() { OK(aclrtDestroyStream(handle_)); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    operator aclrtStream() const { return handle_; }
    void wait() const { OK(aclrtSynchronizeStream(handle_)); }

    /* Runs a closure in stream order. */
    void then(std::function<void()> work) const
    {
        auto *closure = new std::function<void()>(std::move(work));
        OK(aclrtLaunchHostFunc(handle_, run, closure));
    }

    static void run(void *data)
    {
        std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()> *>(data));
        (*work)();
    }

private:
    aclrtStream handle_ = nullptr;
};

struct DeviceFree {
    void operator()(void *block) const { OK(aclrtFree(block)); }
};
struct HostFree {
    void operator()(void *block) const { OK(aclrtFreeHost(block)); }
};

std::unique_ptr<void, DeviceFree> device(size_t size)
{
    void *block = nullptr;
    OK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return std::unique_ptr<void, DeviceFree>(block);
}

std::unique_ptr<void, HostFree> pinned(size_t size)
{
    void *block = nullptr;
    OK(aclrtMallocHost(&block, size));
    return std::unique_ptr<void, HostFree>(block);
}

/* A thread that runs the callbacks of the streams that are given to it. */
class Reporter {
public:
    Reporter() : thread_([this] { loop(); }) {}
    ~Reporter()
    {
        stop_ = true;
        thread_.join();
    }
    uint64_t id() { return static_cast<uint64_t>(thread_.native_handle()); }
    std::thread::id thread() const { return thread_.get_id(); }

private:
    void loop()
    {
        while (!stop_) {
            /* 107012: nothing subscribed yet; 507012: nothing came in time. */
            const aclError code = aclrtProcessReport(20);
            if (code != ACL_SUCCESS) {
                HOLDS(code == 107012 || code == 507012);
                (void)aclGetRecentErrMsg();
                std::this_thread::yield();
            }
        }
    }

    std::atomic<bool> stop_{false};
    std::thread thread_;
};

/* Counts on one thread only, so it needs no lock. */
struct Tally {
    std::thread::id thread;
    std::vector<int> order;
};
struct Entry {
    Tally *tally;
    int number;
};

void note(void *data)
{
    auto *entry = static_cast<Entry *>(data);
    HOLDS(std::this_thread::get_id() == entry->tally->thread);
    entry->tally->order.push_back(entry->number);
}

void reports()
{
    constexpr int STREAMS = 4, EACH = 100;
    Reporter reporter;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<Tally> tallies(STREAMS);
    std::vector<std::vector<Entry>> entries(STREAMS);

    for (int s = 0; s < STREAMS; s++) {
        streams.push_back(std::make_unique<Stream>());
        OK(aclrtSubscribeReport(reporter.id(), *streams[s]));
        tallies[s].thread = reporter.thread();
        for (int i = 0; i < EACH; i++) {
            entries[s].push_back({&tallies[s], i});
        }
    }
    for (int i = 0; i < EACH; i++) {
        for (int s = 0; s < STREAMS; s++) {
            const auto block = s % 2 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK;
            OK(aclrtLaunchCallback(note, &entries[s][i], block, *streams[s]));
        }
    }
    for (int s = 0; s < STREAMS; s++) {
        if (s % 2 == 0) {
            /* The stream does not wait for those; a last one tells that they ran. */
            static Entry last[STREAMS];
            last[s] = {&tallies[s], EACH};
            OK(aclrtLaunchCallback(note, &last[s], ACL_CALLBACK_BLOCK, *streams[s]));
        }
        streams[s]->wait();
        SAME(s % 2 ? EACH : EACH + 1, tallies[s].order.size());
        for (size_t i = 0; i < tallies[s].order.size(); i++) {
            SAME(i, tallies[s].order[i]);
        }
        OK(aclrtUnSubscribeReport(reporter.id(), *streams[s]));
    }
}

/* Each thread: up, a closure that changes the bytes, down again. */
void closures()
{
    aclrtContext context = nullptr;
    OK(aclrtGetCurrentContext(&context));
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; t++) {
        threads.emplace_back([context, t] {
            OK(aclrtSetCurrentContext(context));
            Stream stream;
            auto host = pinned(SIZE);
            auto block = device(SIZE);
            auto *bytes = static_cast<unsigned char *>(host.get());
            std::vector<unsigned char> expected(SIZE);
            const auto caller = std::this_thread::get_id();

            fill_bytes(expected.data(), SIZE, t);
            memcpy(bytes, expected.data(), SIZE);
            for (int round = 0; round < 50; round++) {
                std::promise<int> promise;
                auto done = promise.get_future();

                OK(aclrtMemcpyAsync(block.get(), SIZE, bytes, SIZE, ACL_MEMCPY_HOST_TO_DEVICE, stream));
                stream.then([bytes] { memset(bytes, 0, SIZE); });
                OK(aclrtMemcpyAsync(bytes, SIZE, block.get(), SIZE, ACL_MEMCPY_DEVICE_TO_HOST, stream));
                stream.then([bytes, caller, round, &promise] {
                    HOLDS(std::this_thread::get_id() != caller);
                    for (size_t i = 0; i < SIZE; i++) {
                        bytes[i] ^= static_cast<unsigned char>(round);
                    }
                    promise.set_value(round);
                });
                for (auto &byte : expected) {
                    byte ^= static_cast<unsigned char>(round);
                }
                stream.wait();
                SAME(round, done.get());
                HOLDS(memcmp(bytes, expected.data(), SIZE) == 0);
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
}

} // namespace

int main()
{
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    reports();
    closures();
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
