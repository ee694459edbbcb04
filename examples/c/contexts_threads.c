/*
 * A context belongs to a thread only after the thread has chosen it. A worker
 * without one is refused; with the main thread's context it shares its memory;
 * with a context of its own it works beside it.
 */
#include <pthread.h>

#include "check.h"

#define MIB ((size_t)1 << 20)
enum { WORKERS = 4, ROUNDS = 50 };

static aclrtContext shared;

struct job {
    uint64_t seed;
    void *handed_over; /* device memory that the worker leaves to main */
};

static void round_trips(uint64_t seed)
{
    unsigned char *sent = host_bytes(MIB), *received = host_bytes(MIB);
    int round;

    for (round = 0; round < ROUNDS; round++) {
        const size_t size = MIB - (size_t)round * 1000;
        void *device = NULL;

        fill_random(sent, size, seed * ROUNDS + (uint64_t)round);
        memset(received, 0, size);
        OK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
        OK(aclrtMemcpy(device, size, sent, size, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclrtMemcpy(received, size, device, size, ACL_MEMCPY_DEVICE_TO_HOST));
        REQUIRE(memcmp(sent, received, size) == 0);
        OK(aclrtFree(device));
    }
    free(received);
    free(sent);
}

static void *work(void *argument)
{
    struct job *job = argument;
    unsigned char *sent = host_bytes(MIB);
    void *nothing = NULL;
    aclrtContext own = NULL, current = NULL;

    /* A new thread has no context, whatever main has set. */
    EXPECT(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&nothing, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    REQUIRE(nothing == NULL);

    /* The shared context: memory made here outlives this thread. */
    OK(aclrtSetCurrentContext(shared));
    OK(aclrtMalloc(&job->handed_over, MIB, ACL_MEM_MALLOC_HUGE_FIRST));
    fill_random(sent, MIB, job->seed);
    OK(aclrtMemcpy(job->handed_over, MIB, sent, MIB, ACL_MEMCPY_HOST_TO_DEVICE));
    round_trips(job->seed);

    /* A context of this thread's own, which becomes the current one. */
    OK(aclrtCreateContext(&own, 0));
    OK(aclrtGetCurrentContext(&current));
    REQUIRE(current == own);
    round_trips(job->seed + 1000);
    OK(aclrtDestroyContext(own));

    free(sent);
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    struct job jobs[WORKERS];
    unsigned char *expected = host_bytes(MIB), *received = host_bytes(MIB);
    int i;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtGetCurrentContext(&shared));

    for (i = 0; i < WORKERS; i++) {
        jobs[i].seed = (uint64_t)i + 1;
        jobs[i].handed_over = NULL;
        REQUIRE(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
    }
    for (i = 0; i < WORKERS; i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
    }
    for (i = 0; i < WORKERS; i++) {
        fill_random(expected, MIB, jobs[i].seed);
        OK(aclrtMemcpy(received, MIB, jobs[i].handed_over, MIB, ACL_MEMCPY_DEVICE_TO_HOST));
        REQUIRE(memcmp(expected, received, MIB) == 0);
        OK(aclrtFree(jobs[i].handed_over));
    }

    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    free(received);
    free(expected);
    printf("contexts_threads: %d threads, %d round trips each, memory handed over\n", WORKERS, 2 * ROUNDS);
    return 0;
}
