/*
 * Helpers of the examples: every return code is looked at, every copy is
 * compared on random bytes, and a failure says what, where and why.
 */
#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

/* Ends the program unless `call` returns `expected`. */
#define EXPECT(expected, call) check_code((call), (expected), #call, __FILE__, __LINE__)

/* Ends the program unless `call` succeeds. */
#define OK(call) EXPECT(ACL_SUCCESS, call)

/* Ends the program unless `condition` holds. */
#define REQUIRE(condition)                                                       \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            exit(EXIT_FAILURE);                                                  \
        }                                                                        \
    } while (0)

static inline void check_code(int code, int expected, const char *call, const char *file, int line)
{
    /* Reading takes the pending text away, also that of an expected refusal. */
    const char *text = code != ACL_SUCCESS ? aclGetRecentErrMsg() : NULL;

    if (code == expected) {
        return;
    }
    fprintf(stderr, "%s:%d: %s returned %d, expected %d\n%s\n", file, line, call, code, expected,
            text != NULL ? text : "(no text)");
    exit(EXIT_FAILURE);
}

/* Fills a buffer with bytes that do not repeat (xorshift64*). */
static inline void fill_random(void *buffer, size_t size, uint64_t seed)
{
    unsigned char *bytes = buffer;
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1u;
    size_t i;

    for (i = 0; i < size; i++) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        bytes[i] = (unsigned char)((state * 0x2545F4914F6CDD1Du) >> 56);
    }
}

/* malloc that does not fail. */
static inline void *host_bytes(size_t size)
{
    void *buffer = malloc(size);

    if (buffer == NULL) {
        fprintf(stderr, "no host memory for %lu bytes\n", (unsigned long)size);
        exit(EXIT_FAILURE);
    }
    return buffer;
}

#endif
