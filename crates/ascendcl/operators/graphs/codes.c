/*
 * C++ functions about graphs that have a code to refuse with, and registers of operators.
 *
 * A call answers 207000 and leaves a text with the function's name. Registers are filled
 * when a program is loaded: they accept everything and keep nothing, because nobody asks.
 */
#include <stddef.h>

#include "../names.h"

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
/* Registers, and the end of what was never made. */
#define EMPTY(name) PUBLIC void name(void); void name(void) {}

GRAPH_CODES(CODE)
INERT(EMPTY)
