/*
 * The operators that released programs link, each of them refusing.
 *
 * Cannery runs memory, not operators. Programs that bind every name at their start
 * need the names; a call answers 207000 (or NULL, or 0) and leaves a text with the
 * operator's name. The library is searched last, so that a real operator library in
 * front of it takes the calls.
 */
#include <stddef.h>

#include "names.h"

#define PUBLIC __attribute__((visibility("default")))
#define NOT_SUPPORTED 207000

/* Leaves the text. Another maker's runtime has no such function. */
extern int cannery_refuse_operator(const char *function) __attribute__((weak));

static int refuse(const char *function)
{
    if (&cannery_refuse_operator != NULL)
        cannery_refuse_operator(function);
    return NOT_SUPPORTED;
}

/* The arguments belong to the caller and are not looked at. */
#define CODE(name) PUBLIC int name(void); int name(void) { return refuse(#name); }
#define NIL(name) PUBLIC void *name(void); void *name(void) { refuse(#name); return NULL; }
/* NULL is all that a program can have to destroy: the functions that create gave that. */
#define END(name) \
    PUBLIC int name(const void *object); \
    int name(const void *object) { return object != NULL ? refuse(#name) : 0; }

CODES(CODE)
NOTHING(NIL)
ENDS(END)
