/* One of two binaries whose kernels have the same names. */
#include "cannery/kernel.h"

#ifndef NUMBER
#define NUMBER 1
#endif

CANNERY_VARIABLE uint32_t number = NUMBER;

typedef struct {
    CANNERY_ARG(uint32_t *) at;
} which_args;

CANNERY_KERNEL(which)
{
    const which_args *a = (const which_args *)args;

    *CANNERY_GM(a->at) = 10 * *CANNERY_VAR(number) + NUMBER;
}

/* Follows a device pointer as it is. */
CANNERY_KERNEL(crash)
{
    const which_args *a = (const which_args *)args;

    *a->at = 1;
}
