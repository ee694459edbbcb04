// Capture once, run often: a pipeline over two streams becomes a model, which is run
// with new data each time, and whose last copy is then pointed somewhere else, while
// a run is waiting for just that.
//
// Run as
//   cannery run -- ./graph
//   cannery run --schedule eager -- ./graph
//   cannery run --schedule lazy -- ./graph
//   cannery run --schedule random:7 -- ./graph

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr std::size_t SIZE = (std::size_t{2} << 20) + 123;

void check(int code, const char *call) {
    if (code != ACL_SUCCESS) {
        const char *text = aclGetRecentErrMsg();
        throw std::runtime_error(std::string(call) + " returned " + std::to_string(code) + ": " +
                                 (text != nullptr ? text : "(no text)"));
    }
}
#define CHECK(call) check((call), #call)

void require(bool condition, const char *what) {
    if (!condition) {
        throw std::logic_error(std::string("not true: ") + what);
    }
}

std::vector<unsigned char> random_bytes() {
    static std::mt19937_64 generator(2026);
    std::vector<unsigned char> bytes(SIZE);
    for (auto &byte : bytes) {
        byte = static_cast<unsigned char>(generator());
    }
    return bytes;
}

// One thing of the library, given back when it leaves its scope.
template <typename Handle>
class Owned {
public:
    Owned(Handle handle, aclError (*release)(Handle)) : handle_(handle), release_(release) {}
    ~Owned() { release_(handle_); }
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;
    Handle get() const { return handle_; }

private:
    Handle handle_;
    aclError (*release_)(Handle);
};

void *device_memory() {
    void *memory = nullptr;
    CHECK(aclrtMalloc(&memory, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

void *pinned_memory() {
    void *memory = nullptr;
    CHECK(aclrtMallocHost(&memory, SIZE));
    return memory;
}

aclrtStream stream() {
    aclrtStream made = nullptr;
    CHECK(aclrtCreateStream(&made));
    return made;
}

aclrtEvent event(std::uint32_t flag) {
    aclrtEvent made = nullptr;
    CHECK(aclrtCreateEventWithFlag(&made, flag));
    return made;
}

// Work of `to` that is queued from now on comes after what `from` has.
void follow(aclrtStream from, aclrtStream to) {
    Owned<aclrtEvent> reached(event(ACL_EVENT_SYNC), aclrtDestroyEvent);
    CHECK(aclrtRecordEvent(reached.get(), from));
    CHECK(aclrtStreamWaitEvent(to, reached.get()));
}

void pipeline() {
    Owned<aclrtStream> main(stream(), aclrtDestroyStream);
    Owned<aclrtStream> side(stream(), aclrtDestroyStream);
    Owned<aclrtStream> updates(stream(), aclrtDestroyStream);
    Owned<void *> input(pinned_memory(), aclrtFreeHost);
    Owned<void *> output(pinned_memory(), aclrtFreeHost);
    Owned<void *> elsewhere(pinned_memory(), aclrtFreeHost);
    Owned<void *> first(device_memory(), aclrtFree);
    Owned<void *> second(device_memory(), aclrtFree);
    // Recorded by the program, waited for by each run.
    Owned<aclrtEvent> parameters(event(ACL_EVENT_EXTERNAL), aclrtDestroyEvent);

    std::memset(output.get(), 0, SIZE);
    CHECK(aclmdlRICaptureBegin(main.get(), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    CHECK(aclrtMemcpyAsync(first.get(), SIZE, input.get(), SIZE, ACL_MEMCPY_HOST_TO_DEVICE, main.get()));
    follow(main.get(), side.get());
    CHECK(aclrtMemcpyAsync(second.get(), SIZE, first.get(), SIZE, ACL_MEMCPY_DEVICE_TO_DEVICE, side.get()));
    follow(side.get(), main.get());
    CHECK(aclrtStreamWaitEvent(main.get(), parameters.get()));
    CHECK(aclrtResetEvent(parameters.get(), main.get()));
    aclrtTaskGrp last = nullptr;
    CHECK(aclmdlRICaptureTaskGrpBegin(main.get()));
    CHECK(aclrtMemcpyAsync(output.get(), SIZE, second.get(), SIZE, ACL_MEMCPY_DEVICE_TO_HOST, main.get()));
    CHECK(aclmdlRICaptureTaskGrpEnd(main.get(), &last));
    aclmdlRI captured = nullptr;
    CHECK(aclmdlRICaptureEnd(main.get(), &captured));
    Owned<aclmdlRI> model(captured, aclmdlRIDestroy);

    CHECK(aclrtSynchronizeStream(main.get()));
    require(std::vector<unsigned char>(SIZE) ==
                std::vector<unsigned char>(static_cast<unsigned char *>(output.get()),
                                           static_cast<unsigned char *>(output.get()) + SIZE),
            "a capture runs nothing");

    for (int round = 0; round < 6; ++round) {
        const auto bytes = random_bytes();
        std::memcpy(input.get(), bytes.data(), SIZE);
        void *to = round % 2 == 0 ? output.get() : elsewhere.get();
        // The run first. It stands at the event until the copy behind that has its new parameters.
        CHECK(aclmdlRIExecuteAsync(model.get(), main.get()));
        CHECK(aclmdlRICaptureTaskUpdateBegin(updates.get(), last));
        CHECK(aclrtMemcpyAsync(to, SIZE, second.get(), SIZE, ACL_MEMCPY_DEVICE_TO_HOST, updates.get()));
        CHECK(aclmdlRICaptureTaskUpdateEnd(updates.get()));
        CHECK(aclrtRecordEvent(parameters.get(), updates.get()));
        CHECK(aclrtSynchronizeStream(main.get()));
        require(std::memcmp(to, bytes.data(), SIZE) == 0, "the run used its new parameters");
    }
    std::cout << "6 runs of one model, 6 updates, " << SIZE << " bytes each\n";
}

}  // namespace

int main() {
    try {
        CHECK(aclInit(nullptr));
        CHECK(aclrtSetDevice(0));
        pipeline();
        CHECK(aclrtResetDevice(0));
        CHECK(aclFinalize());
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
