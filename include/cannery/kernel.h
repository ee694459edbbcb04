/**
 * Kernels for Cannery: functions of a shared object that the compiler of this machine builds.
 *
 *     cc -shared -fPIC -O2 -o vector_add.so vector_add.c
 *
 * A program loads them with aclrtBinaryLoadFromFile or aclrtBinaryLoadFromData, finds them by name with
 * aclrtBinaryGetFunction, and launches them with the aclrtLaunchKernel functions. They run in stream
 * order, on a thread of the runtime, one block after another. docs/kernels.md tells the whole story.
 *
 *     typedef struct {
 *         CANNERY_ARG(const float *) x;
 *         CANNERY_ARG(float *) y;
 *         CANNERY_ARG(uint32_t) n;
 *     } scale_args;
 *
 *     CANNERY_PARAMETERS(scale, sizeof(float *), sizeof(float *), sizeof(uint32_t));
 *
 *     CANNERY_KERNEL(scale)
 *     {
 *         const scale_args *a = (const scale_args *)args;
 *         const float *x = CANNERY_GM(a->x);
 *         float *y = CANNERY_GM(a->y);
 *         uint32_t i;
 *
 *         for (i = block_index; i < a->n; i += block_count) {
 *             y[i] = 2 * x[i];
 *         }
 *     }
 */
#ifndef CANNERY_KERNEL_H_
#define CANNERY_KERNEL_H_

#include <stddef.h>
#include <stdint.h>
#include "declare.h"

#ifdef __cplusplus
#define CANNERY_KERNEL_C extern "C"
extern "C" {
#else
#define CANNERY_KERNEL_C extern
#endif

/** Version of what a kernel and the runtime tell each other. */
#define CANNERY_KERNEL_VERSION 1

/** Most parameters of a kernel. */
#define CANNERY_PARAMETERS_MAX 128

/** What a kernel may know of its launch, besides its block. */
typedef struct cannery_launch {
    uint32_t size;             /**< bytes of this structure */
    uint32_t device;           /**< device of the stream, as the program counts devices */
    uint64_t variables;        /**< distance from a variable to its copy on the device: CANNERY_VAR */
    void *scratch;             /**< memory for the block, the same for all of them, one after another */
    uint64_t scratch_size;     /**< its bytes: what ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE asked for */
    uint32_t grid[3];          /**< blocks in x, y, z */
    uint32_t block[3];         /**< threads of a block (SIMT kernels; others: 1) */
    uint32_t block_index[3];   /**< which block this is */
    uint32_t thread_index[3];  /**< which thread of the block this is */
} cannery_launch;

/**
 * Entry of a kernel.
 *
 * @param args the arguments of the launch, readable as they are; pointers in them are device pointers
 * @param block_index number of the block, from 0 (or the block number offset of the launch) on
 * @param block_count number of blocks of the launch
 * @param distance what takes a device pointer to where this machine has the memory: CANNERY_GM adds it
 * @param launch more about the launch; gone when the kernel returns
 *
 * A kernel that needs neither may leave the last parameters out.
 */
typedef void (*cannery_kernel)(const void *args, uint32_t block_index, uint32_t block_count,
                               intptr_t distance, const cannery_launch *launch);

/** What a binary says of a kernel: a variable with the kernel's name and `_cannery_info` behind it. */
typedef struct cannery_kernel_info {
    uint32_t version; /**< CANNERY_KERNEL_VERSION */
    uint32_t kind;    /**< 0: called for each block, 1: called for each thread of each block (SIMT) */
    uint32_t sizes[CANNERY_PARAMETERS_MAX + 1]; /**< bytes of each parameter; 0 behind the last one */
} cannery_kernel_info;

#define CANNERY_KERNEL_EXPORT __attribute__((visibility("default")))
#define CANNERY_MAYBE __attribute__((unused))

/** Begins the definition of a kernel; its parameters have the names that stand here. */
#define CANNERY_KERNEL(name)                                                                    \
    CANNERY_KERNEL_C CANNERY_KERNEL_EXPORT void name(                                           \
        const void *args, uint32_t block_index, uint32_t block_count, intptr_t cannery_distance, \
        const cannery_launch *launch);                                                          \
    void name(const void *args CANNERY_MAYBE, uint32_t block_index CANNERY_MAYBE,               \
              uint32_t block_count CANNERY_MAYBE, intptr_t cannery_distance CANNERY_MAYBE,      \
              const cannery_launch *launch CANNERY_MAYBE)

/**
 * Says how many bytes each parameter of a kernel has. Needed for launches with an array of arguments
 * and for aclrtFunctionGetParamCount and -Info. Each parameter begins at a multiple of 8.
 */
#define CANNERY_PARAMETERS(name, ...) CANNERY_DESCRIBE(name, 0, __VA_ARGS__)

/** As CANNERY_PARAMETERS, for a SIMT kernel: it is called for each thread of each block. */
#define CANNERY_SIMT_PARAMETERS(name, ...) CANNERY_DESCRIBE(name, 1, __VA_ARGS__)

#define CANNERY_DESCRIBE(name, kind, ...)                                                       \
    CANNERY_KERNEL_C CANNERY_KERNEL_EXPORT const cannery_kernel_info name##_cannery_info;       \
    const cannery_kernel_info name##_cannery_info = {CANNERY_KERNEL_VERSION, kind, {__VA_ARGS__}}

/** A member of a structure of arguments: begins at a multiple of 8, as launches lay them out. */
#define CANNERY_ARG(type) __attribute__((aligned(8))) type

/**
 * A variable of which each device has a copy in its memory: `CANNERY_VARIABLE float table[4] = {...};`
 * What stands here is its initial value there. It must not be const.
 */
#define CANNERY_VARIABLE \
    __attribute__((section("cannery_variables"), visibility("protected"), used))

#ifdef __cplusplus
}

namespace cannery {

/** Takes a pointer by a distance in bytes. */
template <typename T>
inline T *moved(T *pointer, uint64_t distance)
{
    return reinterpret_cast<T *>(reinterpret_cast<uint64_t>(pointer) + distance);
}

} // namespace cannery

#define CANNERY_GM(p) (::cannery::moved((p), static_cast<uint64_t>(cannery_distance)))
#define CANNERY_VAR(variable) (::cannery::moved(&(variable), launch->variables))

extern "C" {
#else
/** Inside a kernel: where this machine has what the device pointer `p` points to. */
#define CANNERY_GM(p) ((__typeof__(0 ? (p) : (p)))((uintptr_t)(p) + (uintptr_t)cannery_distance))
/** Inside a kernel: pointer to the copy of a CANNERY_VARIABLE that the device of the launch has. */
#define CANNERY_VAR(variable) \
    ((__typeof__(&(variable)))((uintptr_t)&(variable) + (uintptr_t)launch->variables))
#endif

/*
 * Host and device code in one source. A program (or a library of it) that holds kernels and device
 * variables itself registers them before main; then aclrtGetFuncBySymbol, aclrtGetSymbolAddress and
 * their kin know them by their addresses. Only Cannery's libascendcl.so exports these functions.
 */

/** Registers a kernel that stands in the program; see CANNERY_REGISTER_KERNEL. */
CANNERY_API int32_t cannery_register_kernel(const void *symbol, const char *name,
                                            const cannery_kernel_info *info, const void *variables,
                                            const void *end);
/** Registers a device variable of the program; see CANNERY_REGISTER_VARIABLE. */
CANNERY_API int32_t cannery_register_variable(const void *symbol, size_t size, const void *variables,
                                              const void *end);
/** Forgets a kernel or variable of a library that is being unloaded. */
CANNERY_API void cannery_unregister(const void *symbol);

/* Ends of the section with the variables of this program or library; NULL where it has none. */
extern char __start_cannery_variables[] __attribute__((weak, visibility("hidden")));
extern char __stop_cannery_variables[] __attribute__((weak, visibility("hidden")));

/** After CANNERY_KERNEL and CANNERY_PARAMETERS: the program knows the kernel by its address. */
#define CANNERY_REGISTER_KERNEL(name)                                                           \
    __attribute__((constructor)) static void name##_cannery_register(void)                      \
    {                                                                                           \
        cannery_register_kernel((const void *)(uintptr_t)name, #name, &name##_cannery_info,     \
                                __start_cannery_variables, __stop_cannery_variables);           \
    }                                                                                           \
    __attribute__((destructor)) static void name##_cannery_unregister(void)                     \
    {                                                                                           \
        cannery_unregister((const void *)(uintptr_t)name);                                      \
    }                                                                                           \
    struct cannery_end_of_statement

/** After CANNERY_VARIABLE: the program knows the device variable by its address. */
#define CANNERY_REGISTER_VARIABLE(name)                                                         \
    __attribute__((constructor)) static void name##_cannery_register(void)                      \
    {                                                                                           \
        cannery_register_variable(&name, sizeof name, __start_cannery_variables,                \
                                  __stop_cannery_variables);                                    \
    }                                                                                           \
    __attribute__((destructor)) static void name##_cannery_unregister(void)                     \
    {                                                                                           \
        cannery_unregister(&name);                                                              \
    }                                                                                           \
    struct cannery_end_of_statement

#ifdef __cplusplus
}
#endif

#endif /* CANNERY_KERNEL_H_ */
