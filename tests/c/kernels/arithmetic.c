/* Kernels for the programs of the folder above. */
#include "cannery/kernel.h"

#include <string.h>

typedef struct {
    CANNERY_ARG(const uint32_t *) x;
    CANNERY_ARG(const uint32_t *) y;
    CANNERY_ARG(uint32_t *) z;
    CANNERY_ARG(uint32_t) n;
} add_args;

CANNERY_VARIABLE uint32_t bias[4] = {0, 0, 0, 0};
CANNERY_VARIABLE uint32_t calls = 0;

/* z = x + y + bias, each block its own elements. */
CANNERY_PARAMETERS(add, sizeof(void *), sizeof(void *), sizeof(void *), sizeof(uint32_t));
CANNERY_KERNEL(add)
{
    const add_args *a = (const add_args *)args;
    const uint32_t *x = CANNERY_GM(a->x);
    const uint32_t *y = CANNERY_GM(a->y);
    uint32_t *z = CANNERY_GM(a->z);
    const uint32_t *b = *CANNERY_VAR(bias);
    uint32_t i;

    for (i = block_index; i < a->n; i += block_count) {
        z[i] = x[i] + y[i] + b[i % 4];
    }
    ++*CANNERY_VAR(calls);
}

typedef struct {
    CANNERY_ARG(uint32_t *) at;
    CANNERY_ARG(uint32_t) factor;
    CANNERY_ARG(uint32_t) addend;
} step_args;

/* at = at * factor + addend: shows the order in which launches ran. */
CANNERY_PARAMETERS(step, sizeof(void *), sizeof(uint32_t), sizeof(uint32_t));
CANNERY_KERNEL(step)
{
    const step_args *a = (const step_args *)args;
    uint32_t *at = CANNERY_GM(a->at);

    *at = *at * a->factor + a->addend;
}

typedef struct {
    CANNERY_ARG(uint32_t *) out;
    CANNERY_ARG(const uint32_t *) table;
    CANNERY_ARG(uint32_t) n;
} gather_args;

/* out[block] = table[block]: the table came with the launch, behind a placeholder. */
CANNERY_PARAMETERS(gather, sizeof(void *), sizeof(void *), sizeof(uint32_t));
CANNERY_KERNEL(gather)
{
    const gather_args *a = (const gather_args *)args;

    if (block_index < a->n) {
        CANNERY_GM(a->out)[block_index] = CANNERY_GM(a->table)[block_index];
    }
}

/* Fills its scratch memory and adds it up; tells the facts of its launch. */
typedef struct {
    CANNERY_ARG(uint64_t *) out;
} facts_args;

CANNERY_KERNEL(facts)
{
    const facts_args *a = (const facts_args *)args;
    uint64_t *out = CANNERY_GM(a->out);
    unsigned char *scratch = (unsigned char *)launch->scratch;
    uint64_t i, sum = 0;

    memset(scratch, (int)block_index + 1, launch->scratch_size);
    for (i = 0; i < launch->scratch_size; i++) {
        sum += scratch[i];
    }
    out[4 * block_index + 0] = block_count;
    out[4 * block_index + 1] = launch->device;
    out[4 * block_index + 2] = launch->scratch_size;
    out[4 * block_index + 3] = sum;
}

/* No arguments at all. */
CANNERY_KERNEL(count)
{
    ++*CANNERY_VAR(calls);
}

typedef struct {
    CANNERY_ARG(uint32_t *) out;
} threads_args;

/* Each thread notes who it is. */
CANNERY_SIMT_PARAMETERS(threads, sizeof(void *));
CANNERY_KERNEL(threads)
{
    const threads_args *a = (const threads_args *)args;
    const uint32_t *grid = launch->grid, *block = launch->block;
    const uint32_t *b = launch->block_index, *t = launch->thread_index;
    uint32_t in_grid = b[0] + grid[0] * (b[1] + grid[1] * b[2]);
    uint32_t in_block = t[0] + block[0] * (t[1] + block[1] * t[2]);
    uint32_t index = in_grid * block[0] * block[1] * block[2] + in_block;

    (void)block_count;
    CANNERY_GM(a->out)[index] = block_index * 1000 + in_block;
}
