/*
 * libacl_tdt_channel.so: empty on purpose.
 *
 * Programs that use the functions for data channels name this library when they
 * link, or open it and look the functions up through its handle. Those that
 * exist are in libascendcl.so, on which this library depends: the loader finds
 * them there by either way.
 */
typedef int nothing_is_defined_here; /* ISO C wants one declaration */
