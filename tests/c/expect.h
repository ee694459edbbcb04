/*
 * What the programs of this folder share. A failed expectation ends the process
 * with exit code 1 and a line that says what, where, and the library's own text.
 */
#ifndef CANNERY_TESTS_EXPECT_H
#define CANNERY_TESTS_EXPECT_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

/* Ends the process unless `call` returns `expected`. Takes the pending text away. */
#define CODE(expected, call) expect_code((call), (expected), #call, __FILE__, __LINE__)
#define OK(call) CODE(ACL_SUCCESS, call)

/* Ends the process unless the condition holds. */
#define HOLDS(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            fflush(stderr);                                                   \
            _exit(1);                                                         \
        }                                                                     \
    } while (0)

/* Ends the process unless two numbers are equal. */
#define SAME(expected, got) \
    expect_same((unsigned long long)(expected), (unsigned long long)(got), #got, __FILE__, __LINE__)

static inline void expect_code(int got, int expected, const char *call, const char *file, int line)
{
    const char *text = got != ACL_SUCCESS ? aclGetRecentErrMsg() : NULL;

    if (got == expected) {
        return;
    }
    fprintf(stderr, "%s:%d: %s returned %d, expected %d\n%s\n", file, line, call, got, expected,
            text != NULL ? text : "(no text)");
    fflush(stderr);
    _exit(1);
}

static inline void expect_same(unsigned long long expected, unsigned long long got, const char *what,
                               const char *file, int line)
{
    if (expected != got) {
        fprintf(stderr, "%s:%d: %s is %llu, expected %llu\n", file, line, what, got, expected);
        fflush(stderr);
        _exit(1);
    }
}

/* Fails unless the text that is pending holds every one of the words (NULL ends them). Reads it. */
static inline void expect_words(const char *const *words, const char *file, int line)
{
    const char *text = aclGetRecentErrMsg();
    size_t i;

    for (i = 0; words[i] != NULL; i++) {
        if (text == NULL || strstr(text, words[i]) == NULL) {
            fprintf(stderr, "%s:%d: the text lacks '%s':\n%s\n", file, line, words[i],
                    text != NULL ? text : "(no text)");
            fflush(stderr);
            _exit(1);
        }
    }
}

/* Seconds of a clock that only goes forward. */
static inline double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void sleep_ms(long milliseconds)
{
    struct timespec rest;

    rest.tv_sec = milliseconds / 1000;
    rest.tv_nsec = milliseconds % 1000 * 1000000L;
    while (nanosleep(&rest, &rest) != 0) {
    }
}

/* Bytes that do not repeat soon and differ for each seed. */
static inline void fill_bytes(void *buffer, size_t size, unsigned seed)
{
    unsigned char *bytes = (unsigned char *)buffer;
    uint64_t state = (uint64_t)seed * 0x9E3779B97F4A7C15u + 1u;
    size_t i;

    for (i = 0; i < size; i++) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        bytes[i] = (unsigned char)((state * 0x2545F4914F6CDD1Du) >> 56);
    }
}

/* Free bytes of all pages of the current device. */
static inline size_t device_free(void)
{
    size_t free_bytes = 0, total = 0;

    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    HOLDS(free_bytes <= total);
    return free_bytes;
}

/* A number of /proc/self/status in KiB, or -1. */
static inline long status_kib(const char *name)
{
    char line[256];
    long number = -1;
    FILE *status = fopen("/proc/self/status", "r");

    HOLDS(status != NULL);
    while (fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
            number = strtol(line + strlen(name) + 1, NULL, 10);
        }
    }
    fclose(status);
    return number;
}

/* Waits for a child for so many seconds, then kills it. Its wait status, or -1 when it was killed. */
static inline int wait_for(pid_t child, double limit)
{
    double until = seconds_now() + limit;
    int status = 0;

    while (seconds_now() < until) {
        if (waitpid(child, &status, WNOHANG) == child) {
            return status;
        }
        sleep_ms(1);
    }
    kill(child, 9);
    waitpid(child, &status, 0);
    return -1;
}

#endif
