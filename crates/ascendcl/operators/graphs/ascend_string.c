/*
 * ge::AscendString: a text that programs hand to graph and transfer libraries.
 *
 * The class is 16 bytes, and what ends its life is in the programs themselves: two
 * words, of which the second one is NULL where nothing has to be released. So the
 * first is a copy of the text that stays for ever; equal texts share one.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

struct ascend_string {
    const char *text;
    void *nothing_to_release;
};

static int in_order(const void *left, const void *right)
{
    return strcmp(left, right);
}

static const char *kept(const char *text)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void *texts;
    const char *found = "";
    void **node;

    pthread_mutex_lock(&lock);
    node = tfind(text, &texts, in_order);
    if (node == NULL) {
        char *copy = strdup(text);

        node = copy != NULL ? tsearch(copy, &texts, in_order) : NULL;
    }
    if (node != NULL)
        found = *(const char **)node;
    pthread_mutex_unlock(&lock);
    return found;
}

/* AscendString(const char *) */
PUBLIC void _ZN2ge12AscendStringC1EPKc(struct ascend_string *self, const char *text)
{
    self->text = text != NULL ? kept(text) : NULL;
    self->nothing_to_release = NULL;
}

/* const char *GetString() const */
PUBLIC const char *_ZNK2ge12AscendString9GetStringEv(const struct ascend_string *self)
{
    return self->text != NULL ? self->text : "";
}

/* bool operator<(const AscendString &) const */
PUBLIC bool _ZNK2ge12AscendStringltERKS0_(const struct ascend_string *self,
                                          const struct ascend_string *other)
{
    return strcmp(_ZNK2ge12AscendString9GetStringEv(self),
                  _ZNK2ge12AscendString9GetStringEv(other)) < 0;
}
