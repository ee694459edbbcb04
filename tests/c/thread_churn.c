/*
 * Two thousand short threads that allocate: no thread leaves anything behind,
 * neither device memory nor host memory, and the last figures are exact.
 *
 * cases: C53
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "expect.h"

enum { THREADS = 2000, AT_A_TIME = 8, HANDED = 64 };

static void *handed[HANDED];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument)
{
    size_t number = (size_t)argument;
    void *blocks[20] = {NULL}, *pinned = NULL, *other;
    size_t n;

    OK(aclrtSetDevice(0));
    for (n = 0; n < 20; n++) {
        OK(aclrtMalloc(&blocks[n], (number * 31 + n * 977) % 70000 + 1, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    OK(aclrtMallocHost(&pinned, number % 9000 + 1));
    OK(aclrtMemset(blocks[0], 1, 7, 1));
    OK(aclrtMemcpy(pinned, 1, blocks[0], 1, ACL_MEMCPY_DEVICE_TO_HOST));
    SAME(7, *(unsigned char *)pinned);
    OK(aclrtFreeHost(pinned));
    /* One block outlives the thread: another thread releases it. */
    pthread_mutex_lock(&lock);
    other = handed[number % HANDED];
    handed[number % HANDED] = blocks[0];
    pthread_mutex_unlock(&lock);
    if (other != NULL) {
        OK(aclrtFree(other));
    }
    for (n = 1; n < 20; n++) {
        OK(aclrtFree(blocks[n]));
    }
    OK(aclrtResetDevice(0));
    return NULL;
}

int main(void)
{
    pthread_t threads[AT_A_TIME];
    size_t all, n, first;
    long resident = 0;

    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    all = device_free();
    for (first = 0; first < THREADS; first += AT_A_TIME) {
        for (n = 0; n < AT_A_TIME; n++) {
            HOLDS(pthread_create(&threads[n], NULL, work, (void *)(first + n)) == 0);
        }
        for (n = 0; n < AT_A_TIME; n++) {
            HOLDS(pthread_join(threads[n], NULL) == 0);
        }
        if (first == 200) {
            resident = status_kib("VmRSS");
        }
    }
    HOLDS(status_kib("Threads") <= 3);
    for (n = 0; n < HANDED; n++) {
        if (handed[n] != NULL) {
            OK(aclrtFree(handed[n]));
        }
    }
    SAME(all, device_free());
    sleep_ms(1100);
    if (status_kib("VmRSS") - resident > 4096) {
        fprintf(stderr, "resident: %ld KiB after 200 threads, %ld KiB after all\n", resident, status_kib("VmRSS"));
        return 1;
    }
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
