/* In front of the library (LD_PRELOAD): counts the calls of its functions, or times them. See torch_speed.py.
 *
 * COUNT, FUNCTIONS(F): the functions, as F(number, name) each.
 * TIMED: 0 counts every call, whatever its arguments; 1 also adds up how long the calls take. Timed
 * functions take up to six arguments, none of them a structure or a float.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <x86intrin.h>

#define NAME(number, name) #name,
static const char *const names[COUNT] = {FUNCTIONS(NAME)};

unsigned long meter_calls[COUNT];
void *meter_real[COUNT];

static unsigned long spent;

unsigned long now(void)
{
    unsigned aside;

    return __rdtscp(&aside);
}

#if TIMED
typedef long function(long, long, long, long, long, long);

static long timed(int number, long a, long b, long c, long d, long e, long f)
{
    unsigned long begin = now();
    long result = ((function *)meter_real[number])(a, b, c, d, e, f);

    spent += now() - begin;
    meter_calls[number]++;
    return result;
}

#define FRONT(number, name)                                  \
    long name(long a, long b, long c, long d, long e, long f) \
    {                                                        \
        return timed(number, a, b, c, d, e, f);              \
    }
#else
#define FRONT(number, name)                                                          \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"      \
            "lock incq meter_calls + 8 * " #number "(%rip)\n"                        \
            "jmp *meter_real + 8 * " #number "(%rip)\n");
#endif
FUNCTIONS(FRONT)

__attribute__((constructor)) static void find(void)
{
    void *library = dlopen("libascendcl.so", RTLD_LAZY);

    for (int i = 0; i < COUNT; i++)
        if ((meter_real[i] = dlsym(library, names[i])) == NULL)
            abort();
}

int functions(void)
{
    return COUNT;
}

const char *name_of(int number)
{
    return names[number];
}

unsigned long calls_of(int number)
{
    return meter_calls[number];
}

unsigned long calls(void)
{
    unsigned long sum = 0;

    for (int i = 0; i < COUNT; i++)
        sum += meter_calls[i];
    return sum;
}

unsigned long ticks(void)
{
    return spent;
}

static long nothing(long a, long b, long c, long d, long e, long f)
{
    return a + b + c + d + e + f;
}

/* What a thousand measurements of a function that does nothing show, as the timed functions are measured. */
unsigned long own_ticks(void)
{
    unsigned long sum = 0;
    long (*volatile call)(long, long, long, long, long, long) = nothing;

    for (int i = 0; i < 1000; i++) {
        unsigned long begin = now();

        call(1, 2, 3, 4, 5, 6);
        sum += now() - begin;
    }
    return sum;
}
