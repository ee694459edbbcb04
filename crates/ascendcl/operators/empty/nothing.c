/*
 * A library of operators without any: it is named by programs, and the names that they
 * take from it are in the library that it needs (refuse.c).
 */
typedef int nothing_is_defined_here; /* ISO C wants one declaration */
