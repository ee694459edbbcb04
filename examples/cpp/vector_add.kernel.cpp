// The kernel of vector_add.cpp: z = x + y, each block its own part.
//
//     c++ -shared -fPIC -O2 -I$PREFIX/include -o vector_add.kernel.so vector_add.kernel.cpp
#include <algorithm>

#include "cannery/kernel.h"

struct Arguments {
    CANNERY_ARG(const float *) x;
    CANNERY_ARG(const float *) y;
    CANNERY_ARG(float *) z;
    CANNERY_ARG(uint32_t) count;
};

CANNERY_PARAMETERS(vector_add, sizeof(float *), sizeof(float *), sizeof(float *), sizeof(uint32_t));

CANNERY_KERNEL(vector_add)
{
    const auto *a = static_cast<const Arguments *>(args);
    // Pointers in the arguments are device pointers; CANNERY_GM makes them usable.
    const float *x = CANNERY_GM(a->x);
    const float *y = CANNERY_GM(a->y);
    float *z = CANNERY_GM(a->z);
    const uint32_t part = (a->count + block_count - 1) / block_count;
    const uint32_t first = std::min(block_index * part, a->count);
    const uint32_t end = std::min(first + part, a->count);

    for (uint32_t i = first; i < end; ++i) {
        z[i] = x[i] + y[i];
    }
}
