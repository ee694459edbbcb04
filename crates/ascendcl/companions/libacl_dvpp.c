/*
 * libacl_dvpp.so: media memory, first generation.
 *
 * Programs link these two names from this library. The runtime lives in
 * libascendcl.so alone (a process must never hold two), so they forward to it.
 */
#include <stddef.h>
#include <stdint.h>

#define PUBLIC __attribute__((visibility("default")))

/* Which pair of functions a block belongs to; each frees only its own. */
enum { GENERATION = 1 };

extern int32_t cannery_dvpp_malloc(void **block, size_t size, int generation);
extern int32_t cannery_dvpp_free(void *block, int generation);

PUBLIC int32_t acldvppMalloc(void **devPtr, size_t size)
{
    return cannery_dvpp_malloc(devPtr, size, GENERATION);
}

PUBLIC int32_t acldvppFree(void *devPtr)
{
    return cannery_dvpp_free(devPtr, GENERATION);
}
