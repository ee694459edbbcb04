/*
 * ge::Graph: a graph of operators. It can be named, and everything that would fill or
 * compile it is refused.
 */
#include <stddef.h>

#define PUBLIC __attribute__((visibility("default")))

/* Graph(const char *): what ends its life is in the programs, and releases nothing
 * where both words are NULL. */
PUBLIC void _ZN2ge5GraphC1EPKc(void *self[2], const char *name)
{
    (void)name;
    self[0] = NULL;
    self[1] = NULL;
}

/* A std::map as libstdc++ lays it out, with nothing in it: the root of its tree, with a node that stands
 * for the end. */
struct map {
    char compare[8];
    int colour;
    void *parent;
    void *left;
    void *right;
    size_t count;
};

/* StatusFactory::Instance(): a map from codes to their texts, which programs fill when they are loaded
 * and which nothing here reads. Its functions are in the programs themselves. */
PUBLIC void *_ZN2ge13StatusFactory8InstanceEv(void)
{
    static struct map texts = {.left = &texts.colour, .right = &texts.colour};

    return &texts;
}
