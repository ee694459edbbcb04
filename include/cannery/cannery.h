/**
 * What Cannery tells about itself: three functions beside the standard interface.
 *
 * Only Cannery's libascendcl.so exports them. A program that also runs with another library
 * looks them up with dlsym, or is linked for Cannery alone.
 *
 * All of them write text in UTF-8 and may be called from any thread, before aclInit as well.
 */
#ifndef CANNERY_CANNERY_H_
#define CANNERY_CANNERY_H_

#include <stddef.h>
#include <stdint.h>
#include "declare.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Describes the emulated machine and the settings in force, as a JSON object.
 *
 * A buffer that is too small gets as much of the text as fits, always with a terminating zero;
 * `needed` then tells the size to ask again with. To learn the size alone, pass NULL and 0.
 *
 * @param[out] buf receives the text; may be NULL when size is 0
 * @param[in] size capacity of buf in bytes, terminating zero included
 * @param[out] needed receives the bytes that the whole text needs, terminating zero included;
 *        may be NULL
 * @return 0, or an aclError whose text aclGetRecentErrMsg has
 */
CANNERY_API int32_t cannery_info(char *buf, size_t size, size_t *needed);

/**
 * Describes the cards of this user and the processes that use them, as a JSON object.
 *
 * For each machine that has processes, and for the one of the settings in force: its devices, their
 * bytes in use, and what each process holds. Asks every process that is not stopped, and waits for
 * their answers for at most a second. The process that calls does not become a user of a card.
 *
 * @param[out] buf receives the text; may be NULL when size is 0
 * @param[in] size capacity of buf in bytes, terminating zero included
 * @param[out] needed receives the bytes that the whole text needs, terminating zero included;
 *        may be NULL
 * @return 0, or an aclError whose text aclGetRecentErrMsg has
 */
CANNERY_API int32_t cannery_cards(char *buf, size_t size, size_t *needed);

/**
 * Counts what this process did with memory, as a JSON object.
 *
 * For each device and memory family: allocations, frees, live and peak bytes. The numbers are
 * exact at the moment of the call; other threads may change them right after.
 *
 * @param[out] buf receives the text; may be NULL when size is 0
 * @param[in] size capacity of buf in bytes, terminating zero included
 * @param[out] needed receives the bytes that the whole text needs, terminating zero included;
 *        may be NULL
 * @return 0, or an aclError whose text aclGetRecentErrMsg has
 */
CANNERY_API int32_t cannery_stats(char *buf, size_t size, size_t *needed);

#ifdef __cplusplus
}
#endif

#endif /* CANNERY_CANNERY_H_ */
