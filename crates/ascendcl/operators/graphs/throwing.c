/*
 * C++ functions about graphs, each of them refusing with an exception.
 *
 * They give objects, references or nothing, so no value could tell a program that
 * nothing was done. What they throw is a std::runtime_error, made through the C++
 * library that the program has: this library must also load into programs without one.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "../names.h"

#define PUBLIC __attribute__((visibility("default")))

extern int cannery_refuse_operator(const char *function) __attribute__((weak));

/* Room for any std::runtime_error: a table of functions and its text. */
enum { ROOM = 64, LONGEST = 512 };

/* The C++ library of the caller. */
struct cxx {
    void *(*allocate)(size_t);
    void (*construct)(void *, const char *);
    void (*destroy)(void *);
    void *kind;
    void (*throw_it)(void *, void *, void (*)(void *));
    char *(*readable)(const char *, char *, size_t *, int *);
};

/* A function at the address of an object: ISO C has no cast for it. */
#define TAKE(place, library, name) (*(void **)&(place) = dlsym(library, name))

static int find(struct cxx *cxx)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);

    if (library == NULL)
        return 0;
    TAKE(cxx->allocate, library, "__cxa_allocate_exception");
    TAKE(cxx->construct, library, "_ZNSt13runtime_errorC1EPKc");
    TAKE(cxx->destroy, library, "_ZNSt13runtime_errorD1Ev");
    TAKE(cxx->throw_it, library, "__cxa_throw");
    TAKE(cxx->readable, library, "__cxa_demangle");
    cxx->kind = dlsym(library, "_ZTISt13runtime_error");
    return cxx->allocate != NULL && cxx->construct != NULL && cxx->destroy != NULL
           && cxx->throw_it != NULL && cxx->readable != NULL && cxx->kind != NULL;
}

static void refuse(const char *function) __attribute__((noreturn));
static void refuse(const char *function)
{
    struct cxx cxx;
    char text[LONGEST];
    void *error;
    char *readable;

    if (&cannery_refuse_operator != NULL)
        cannery_refuse_operator(function);
    if (!find(&cxx)) {
        fprintf(stderr, "%s: not there, and no C++ library to say so: Cannery runs memory, not operators\n", function);
        abort();
    }
    readable = cxx.readable(function, NULL, NULL, NULL);
    snprintf(text, sizeof text, "%.400s: nothing was done: Cannery runs memory, not operators",
             readable != NULL ? readable : function);
    free(readable);
    error = cxx.allocate(ROOM);
    cxx.construct(error, text);
    cxx.throw_it(error, cxx.kind, cxx.destroy);
    abort(); /* not reached */
}

#define THROW(name) PUBLIC void name(void); void name(void) { refuse(#name); }

THROWS(THROW)
