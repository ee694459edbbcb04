/*
 * libhccl.so: the collective communication library.
 *
 * No collective is built. HcclSetConfig, which programs call while they only allocate
 * memory, chooses how collectives would be computed: there is nothing that the choice
 * could change, and it is accepted. Everything else that released programs link refuses:
 * a call answers 207000 and leaves a text with the function's name.
 */
#include <stddef.h>
#include <stdint.h>

#include "../operators/names.h"

#define PUBLIC __attribute__((visibility("default")))
#define NOT_SUPPORTED 207000

/* Leaves the text. Another maker's runtime has no such function. */
extern int cannery_refuse_operator(const char *function) __attribute__((weak));

static int32_t refuse(const char *function)
{
    if (&cannery_refuse_operator != NULL)
        cannery_refuse_operator(function);
    return NOT_SUPPORTED;
}

/* The choice: one 8-byte value, whose meaning depends on `config`. */
union value {
    int64_t number;
};

PUBLIC int32_t HcclSetConfig(int32_t config, union value value)
{
    (void)config;
    (void)value;
    return 0;
}

/* The arguments belong to the caller and are not looked at. */
#define REFUSES(name) PUBLIC int32_t name(void); int32_t name(void) { return refuse(#name); }

COLLECTIVES(REFUSES)
