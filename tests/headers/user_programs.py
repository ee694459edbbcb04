"""Small programs as users write them, and programs that must not compile."""

# Language, name, text. Each must compile without a warning.
GOOD = (
    (
        "c",
        "codes as case labels, an enum variable, the log macro",
        """
#include "acl/acl.h"
const char *what(aclError ret) {
    switch (ret) {
        case ACL_SUCCESS: return "fine";
        case ACL_ERROR_RT_MEMORY_ALLOCATION: return "out of memory";
        case ACL_ERROR_RT_PARAM_INVALID: return "argument";
        default: return "other";
    }
}
aclError copy_in(void *dst, const void *src, size_t size) {
    aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE;
    aclError ret = aclrtMemcpy(dst, size, src, size, kind);
    if (ret != ACL_SUCCESS) {
        ACL_APP_LOG(ACL_ERROR, "copy of %zu bytes failed: %d", size, ret);
        ACL_APP_LOG(ACL_ERROR, "no arguments");
    }
    return ret == ACL_SUCCESS ? ACL_SUCCESS : ret;
}
""",
    ),
    (
        "c++",
        "auto from a code, the same program in C++",
        """
#include "acl/acl.h"
const char *what(aclError ret) {
    switch (ret) {
        case ACL_SUCCESS: return "fine";
        case ACL_ERROR_RT_MEMORY_ALLOCATION: return "out of memory";
        default: return "other";
    }
}
aclError copy_in(void *dst, const void *src, size_t size) {
    aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE;
    auto ret = ACL_SUCCESS;
    ret = aclrtMemcpy(dst, size, src, size, kind);
    if (ret != ::ACL_SUCCESS) {
        ACL_APP_LOG(ACL_ERROR, "copy of %zu bytes failed: %d", size, ret);
        ACL_APP_LOG(ACL_ERROR, "no arguments");
    }
    return ret == ACL_SUCCESS ? ACL_SUCCESS : ret;
}
aclrtMemMallocPolicy outside() { return static_cast<aclrtMemMallocPolicy>(12345); }
""",
    ),
    (
        "c",
        "allocation with a configuration, members of unnamed unions",
        """
#include "acl/acl_rt.h"
aclError configured(void **ptr, size_t size) {
    aclrtMallocAttribute attribute = {ACL_RT_MEM_ATTR_MODULE_ID, {33}};
    aclrtMallocConfig config = {&attribute, 1};
    return aclrtMallocWithCfg(ptr, size, ACL_MEM_MALLOC_HUGE_FIRST, &config);
}
uint32_t blocks(const aclmdlRITaskParams *params) { return params->kernelTaskParams.numBlocks; }
""",
    ),
    (
        "c",
        "media memory by both interfaces",
        """
#include "hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"
int both(void **first, void **second) {
    if (acldvppMalloc(first, 4096) != ACL_SUCCESS) {
        return 1;
    }
    return hi_mpi_dvpp_malloc(0, second, 4096);
}
""",
    ),
    (
        "c",
        "Cannery's own functions",
        """
#include <stdlib.h>
#include "cannery/cannery.h"
char *machine(void) {
    size_t needed = 0;
    char *text = 0;
    if (cannery_info(0, 0, &needed) == 0 && (text = malloc(needed)) != 0) {
        (void)cannery_info(text, needed, 0);
    }
    return text;
}
""",
    ),
)

# Must fail to compile, and the message must hold the word: what the headers promise to catch.
BAD = (
    (
        "c",
        "wrong log argument",
        "expects argument of type",
        """
#include "acl/acl.h"
void f(void) { ACL_APP_LOG(ACL_INFO, "%s", 3); }
""",
    ),
    (
        "c++",
        "number as an enum",
        "invalid conversion",
        """
#include "acl/acl.h"
void f(void *d) { (void)aclrtMemcpy(d, 1, d, 1, 3); }
""",
    ),
)

# Wrong facts of each kind: shows that the assertions of the spec programs can fail.
WRONG_FACTS = (
    ("value", '_Static_assert(ACL_MEMCPY_HOST_TO_DEVICE == 2, "x");'),
    ("constant type", '_Static_assert(_Generic((ACL_EVENT_SYNC), int32_t: 1, default: 0), "x");'),
    ("code", '_Static_assert(ACL_ERROR_RT_MEMORY_ALLOCATION == 207002, "x");'),
    ("size", '_Static_assert(sizeof(aclrtMemUsageInfo) == 104, "x");'),
    ("offset", '_Static_assert(offsetof(aclrtMemLocation, type) == 0, "x");'),
    (
        "member type",
        '_Static_assert(_Generic(&((aclrtMemLocation *)0)->id, int32_t *: 1, default: 0), "x");',
    ),
    (
        "signature",
        ('_Static_assert(_Generic(&aclrtMalloc, aclError (*)(void **, size_t, int64_t): 1, default: 0), "x");'),
    ),
    (
        "callback",
        ('_Static_assert(_Generic((aclrtCallback *)0, void (**)(int): 1, default: 0), "x");'),
    ),
)
