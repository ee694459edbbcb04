/*
 * libhccl.so: the one function of the collective communication library that
 * programs call while they only allocate memory.
 *
 * It chooses how collectives would be computed. No collective is built here (a
 * program that uses one does not link), so there is nothing that the choice
 * could change, and it is accepted.
 */
#include <stdint.h>

#define PUBLIC __attribute__((visibility("default")))

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
