/*
 * libllm_datadist.so: adxl::AdxlEngine, which moves memory between machines.
 *
 * Transfers between processes are not built: connecting and transferring refuse. What
 * a program does with memory of its own works without them, so starting an engine and
 * telling it of memory are accepted; an engine keeps nothing.
 */
#include <stddef.h>

#define PUBLIC __attribute__((visibility("default")))
#define NOT_SUPPORTED 207000

extern int cannery_refuse_operator(const char *function) __attribute__((weak));

static int refuse(const char *function)
{
    if (&cannery_refuse_operator != NULL)
        cannery_refuse_operator(function);
    return NOT_SUPPORTED;
}

PUBLIC void _ZN4adxl10AdxlEngineC1Ev(void *self)
{
    (void)self; /* its one member is touched by nobody else */
}

PUBLIC void _ZN4adxl10AdxlEngineD1Ev(void *self)
{
    (void)self;
}

/* Initialize(name, options) */
PUBLIC int _ZN4adxl10AdxlEngine10InitializeERKN2ge12AscendStringERKSt3mapIS2_S2_St4lessIS2_ESaISt4pairIS3_S2_EEE(
    void *self, const void *name, const void *options)
{
    (void)self;
    (void)name;
    (void)options;
    return 0;
}

/* Finalize() */
PUBLIC void _ZN4adxl10AdxlEngine8FinalizeEv(void *self)
{
    (void)self;
}

/* RegisterMem(description, kind, handle): the handle is that of the description's place
 * in memory, the first word of it. */
PUBLIC int _ZN4adxl10AdxlEngine11RegisterMemERKNS_7MemDescENS_7MemTypeERPv(
    void *self, void *const *description, int kind, void **handle)
{
    (void)self;
    (void)kind;
    *handle = *description;
    return 0;
}

/* DeregisterMem(handle) */
PUBLIC int _ZN4adxl10AdxlEngine13DeregisterMemEPv(void *self, void *handle)
{
    (void)self;
    (void)handle;
    return 0;
}

#define REFUSES(name) PUBLIC int name(void); int name(void) { return refuse(#name); }

REFUSES(_ZN4adxl10AdxlEngine7ConnectERKN2ge12AscendStringEi)
REFUSES(_ZN4adxl10AdxlEngine10DisconnectERKN2ge12AscendStringEi)
REFUSES(_ZN4adxl10AdxlEngine12TransferSyncERKN2ge12AscendStringENS_10TransferOpERKSt6vectorINS_14TransferOpDescESaIS7_EEi)
