/*
 * What operator libraries tell programs about the host: their log, and the thread.
 *
 * There is no such log: no level of it is on, and there is nothing to be written out.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

/* int CheckLogLevel(int module, int level): whether a line would be kept. */
PUBLIC int _Z13CheckLogLevelii(int module, int level)
{
    (void)module;
    (void)level;
    return 0;
}

/* void DlogFlush() */
PUBLIC void _Z9DlogFlushv(void)
{
}

/* The number of the thread, as the system counts. */
PUBLIC int mmGetTid(void)
{
    return (int)syscall(SYS_gettid);
}
