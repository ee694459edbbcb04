/*
 * libacl_dvpp_mpi.so: media memory, second generation.
 *
 * Programs link these two names from this library. The runtime lives in
 * libascendcl.so alone (a process must never hold two), so they forward to it.
 */
#include <stddef.h>
#include <stdint.h>

#define PUBLIC __attribute__((visibility("default")))

/* Which pair of functions a block belongs to; each frees only its own. */
enum { GENERATION = 2 };

extern int32_t cannery_dvpp_malloc(void **block, size_t size, int generation);
extern int32_t cannery_dvpp_free(void *block, int generation);

/* The device number is reserved: the block comes from the current device. */
PUBLIC int32_t hi_mpi_dvpp_malloc(uint32_t dev_id, void **dev_ptr, uint64_t size)
{
    (void)dev_id;
    return cannery_dvpp_malloc(dev_ptr, (size_t)size, GENERATION);
}

PUBLIC int32_t hi_mpi_dvpp_free(void *dev_ptr)
{
    return cannery_dvpp_free(dev_ptr, GENERATION);
}
