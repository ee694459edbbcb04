/**
 * How the headers of Cannery declare things.
 */
#ifndef CANNERY_DECLARE_H_
#define CANNERY_DECLARE_H_

/** Marks an exported function. */
#if defined(__GNUC__)
#define CANNERY_API __attribute__((visibility("default")))
#else
#define CANNERY_API
#endif

/** The name that programs know for the same mark. */
#ifndef ACL_FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY CANNERY_API
#endif

/** Lets the compiler check a printf format against its arguments. */
#if defined(__GNUC__)
#define CANNERY_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CANNERY_PRINTF(text, first)
#endif

/**
 * Defines a return code.
 *
 * It must work as a case label, which in C takes an enumerator; in C++ it must be an int, so
 * that `auto ret = ACL_SUCCESS` and overloads do what a program expects.
 */
#ifdef __cplusplus
#define CANNERY_CODE(name, value) static const int name = value
#else
#define CANNERY_CODE(name, value) enum { name = value }
#endif

#endif /* CANNERY_DECLARE_H_ */
