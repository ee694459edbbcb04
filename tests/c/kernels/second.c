/* The other one of first.c. */
#define NUMBER 2
#include "first.c"
