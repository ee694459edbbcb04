/*
 * What forwards a call to the runtime.
 *
 * A linker finds a name only in the libraries that it was told of, so a program that
 * names nothing but this library needs the names here. Each is a jump to the
 * function of the same name in libascendcl.so, of whichever maker is loaded, with every
 * argument as it came: the runtime lives there alone.
 *
 * The includer defines FUNCTIONS(F) as F(number, name) for each name, numbered from 0,
 * and COUNT.
 */
#ifndef CANNERY_COMPANIONS_FORWARD_H
#define CANNERY_COMPANIONS_FORWARD_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Where the jumps lead. */
__attribute__((visibility("hidden"))) void *cannery_targets[COUNT];

#if defined(__x86_64__)
#define JUMP(number) "endbr64\n\tjmp *cannery_targets + 8 * " #number "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(number)                                  \
    "hint #34\n\tadrp x16, cannery_targets + 8 * " #number \
    "\n\tldr x16, [x16, :lo12:cannery_targets + 8 * " #number "]\n\tbr x16\n"
#else
#error "no forwarding for this machine"
#endif

#define FORWARD(number, name)                                             \
    __asm__("\t.text\n\t.globl " #name "\n\t.type " #name ", %function\n" \
            "\t.balign 16\n" #name ":\n\t" JUMP(number) "\t.size " #name ", . - " #name "\n");
FUNCTIONS(FORWARD)

/* A runtime that is loaded may lack a function, as an older one does. */
static void lacking(void)
{
    fputs("libascendcl.so lacks a function that was called through a library beside it\n", stderr);
    abort();
}

__attribute__((constructor)) static void find_targets(void)
{
#define NAME(number, name) #name,
    static const char *const names[COUNT] = {FUNCTIONS(NAME)};
    /* It is loaded: this library needs it. */
    void *runtime = dlopen("libascendcl.so", RTLD_LAZY | RTLD_LOCAL);
    size_t i;

    for (i = 0; i < COUNT; i++) {
        void *found = runtime != NULL ? dlsym(runtime, names[i]) : NULL;

        if (found == NULL) {
            void (*absent)(void) = lacking;

            found = *(void **)&absent;
        }
        cannery_targets[i] = found;
    }
}

#endif
