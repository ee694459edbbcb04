/*
 * Objects that describe the arguments of operators: tensors, scalars, lists.
 *
 * They can be made and ended. So a program gets as far as the call of the operator
 * itself, whose refusal names it. A scalar gives back what it holds, because programs
 * read it before they call; nothing can be read from the others.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#define BAD_ARGUMENT 100000
#define MARK 0x6f70657261746f72u

/* The largest type: two numbers of 64 bits. */
enum { LARGEST = 16, UNDEFINED = -1 };

struct object {
    uint64_t mark;
    int32_t type;
    unsigned char value[LARGEST];
};

extern size_t aclDataTypeSize(int type);

static struct object *make(void)
{
    struct object *object = calloc(1, sizeof *object);

    if (object != NULL) {
        object->mark = MARK;
        object->type = UNDEFINED;
    }
    return object;
}

/* NULL needs nothing; what is no object, or was ended before, is told from one by its mark. */
static int end(struct object *object)
{
    if (object == NULL)
        return 0;
    if (object->mark != MARK)
        return BAD_ARGUMENT;
    object->mark = 0;
    free(object);
    return 0;
}

/* The arguments belong to the caller and are not looked at. */
#define MAKES(name) PUBLIC void *name(void); void *name(void) { return make(); }
#define ENDS(name) PUBLIC int name(struct object *object); int name(struct object *object) { return end(object); }

MAKES(aclCreateIntArray)
MAKES(aclCreateTensor)
MAKES(aclCreateTensorList)
ENDS(aclDestroyIntArray)
ENDS(aclDestroyScalar)
ENDS(aclDestroyTensor)
ENDS(aclDestroyTensorList)

/* aclCreateScalar(value, type): NULL without a value, and for a type whose size is not known. */
PUBLIC void *aclCreateScalar(const void *value, int type)
{
    size_t size = aclDataTypeSize(type);
    struct object *object;

    if (value == NULL || size == 0 || size > LARGEST)
        return NULL;
    object = make();
    if (object != NULL) {
        object->type = type;
        memcpy(object->value, value, size);
    }
    return object;
}

/* const void *aclScalar::GetData() const */
PUBLIC const void *_ZNK9aclScalar7GetDataEv(const struct object *self)
{
    return self->value;
}

/* aclDataType aclScalar::GetDataType() const */
PUBLIC int _ZNK9aclScalar11GetDataTypeEv(const struct object *self)
{
    return self->type;
}
