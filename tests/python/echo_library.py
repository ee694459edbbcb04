"""A stand-in for libascendcl.so that tells how it was called.

Every function of the contract that the Python module uses is generated from
`spec/functions.jsonl`: it notes its arguments, writes a number of its own to
each output, and returns a code that the test chooses. So a test sees what
arrives on the C side, also for functions that a runtime does not have.
"""

import ctypes
import json
import os
import subprocess
from pathlib import Path

SPEC = Path(__file__).resolve().parents[2] / "spec"

# The first output of a call gets this number, the next ones the numbers after it.
FIRST_OUTPUT = 71

# Lists that C takes as an array and a count: how many bytes an item has.
ARRAYS = {
    ("aclrtNotifyBatchReset", "notifies"): ("num", 8),
    ("aclrtNotifySetImportPid", "pid"): ("num", 4),
    ("aclrtIpcMemSetImportPid", "pid"): ("num", 4),
    ("aclrtMemSetPidToShareableHandle", "pid"): ("pidNum", 4),
    ("aclrtMemUceRepair", "memUceInfoArray"): ("arraySize", 128),
    ("aclrtLaunchKernelWithHostArgs", "placeHolderArray"): ("placeHolderNum", 8),
}

# Structures that C reads: their size, or pointer-and-count structures with the size of an item.
READ = {"aclrtStreamAttrValue": 16}
COUNTED = {"aclrtMallocConfig": 12, "aclrtLaunchKernelCfg": 20, "aclrtBinaryLoadOptions": 20}

# Structures that C writes.
WRITTEN = {
    "aclCANNPackageVersion": 512,
    "aclrtUtilizationInfo": 24,
    "aclrtUuid": 16,
    "aclrtPtrAttributes": 28,
    "aclrtStreamAttrValue": 16,
}

SCALARS = {"int32_t", "uint32_t", "int64_t", "uint64_t", "size_t", "hi_u32", "hi_u64", "hi_s32", "aclFloat16"}


def rows(name):
    """The rows of a spec file."""
    with (SPEC / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def functions():
    """The prototypes that rows of the Python contract name, by C name."""
    wanted = {row["c_function"] for row in rows("pyacl.jsonl")}
    return {row["name"]: row for row in rows("functions.jsonl") if row["name"] in wanted}


def plain(c_type):
    """A C type without qualifiers and stars."""
    return c_type.replace("const", "").replace("*", "").strip()


class Writer:
    """Generates the C source."""

    def __init__(self):
        self.enums = {row["enum"] for row in rows("enums.jsonl")}
        kinds = {row["name"]: row for row in rows("structs.jsonl")}
        self.handles = {name for name, row in kinds.items() if row["kind"] == "opaque" and row["size"] == 8}
        self.callbacks = {name for name, row in kinds.items() if row["kind"] == "fnptr"}

    def c_type(self, spec_type):
        """The type with which the echo is compiled: the same size and passing."""
        name, stars = plain(spec_type), spec_type.count("*")
        if name in self.handles or name in self.callbacks:
            name, stars = "void", stars + 1
        elif name in self.enums or name in ("aclError", "hi_s32"):
            name = "int32_t"
        elif name == "aclFloat16":
            name = "uint16_t"
        elif name == "hi_u32":
            name = "uint32_t"
        elif name == "hi_u64":
            name = "uint64_t"
        elif name not in SCALARS and name not in ("float", "char"):
            name = "void"
        return name + " " + "*" * stars

    def note(self, function, param, count):
        """The statement for one parameter."""
        name, spec_type = param["name"], param["type"]
        base, stars = plain(spec_type), spec_type.count("*")
        value = f"p{count}"
        array = ARRAYS.get((function, name))
        if array:
            number = next(i for i, other in enumerate(self.params) if other["name"] == array[0])
            return f"note_bytes({value}, (size_t)p{number} * {array[1]});"
        if base in COUNTED and stars == 1 and param["dir"] == "in":
            return f"note_counted({value}, {COUNTED[base]});"
        if base == "aclrtPhysicalMemProp":
            return f"note_prop({value});"
        if base in READ and stars == 1 and param["dir"] == "in":
            return f"note_bytes({value}, {READ[base]});"
        if base in WRITTEN and stars == 1:
            return f"fill({value}, {WRITTEN[base]});"
        if stars == 1 and base == "char":
            return f"note_text({value});" if param["dir"] == "in" else f"put_text({value});"
        if base == "float":
            return f"put_float({value});" if stars else f"note_float({value});"
        is_handle = base in self.handles
        if param["dir"] != "in" and (stars == 2 or (stars == 1 and base not in ("void", "aclrtGroupInfo"))):
            kind = "uint64_t" if is_handle or stars == 2 else self.c_type(base)
            return f"if (code == 0) *({kind} *){value} = ({kind})next_output(); else next_output();"
        cast = "(uint64_t)(intptr_t)" if stars or is_handle or base in self.callbacks else "(uint64_t)(int64_t)"
        return f"note_number({cast}{value});"

    def function(self, row):
        """One function."""
        self.params = [param for param in row["params"] if param["type"] != "..."]
        declared = [f"{self.c_type(param['type'])} p{i}" for i, param in enumerate(self.params)]
        notes = [self.note(row["name"], param, i) for i, param in enumerate(self.params)]
        returns = row["returns"]
        answer = {"void": "", "float": "return 1.5f;", "const char *": 'return code ? 0 : "echo text";'}.get(
            returns, f"return ({self.c_type(returns)})(intptr_t)(code ? code : answer);"
        )
        if returns in ("aclError", "hi_s32"):
            answer = "return code;"
        body = "\n    ".join([f'begin("{row["name"]}");', *notes, answer])
        variadic = ", ..." if any(param["type"] == "..." for param in row["params"]) else ""
        return (
            f"{self.c_type(returns) if returns != 'void' else 'void'} {row['name']}"
            f"({', '.join(declared) or 'void'}{variadic})\n{{\n    {body}\n}}\n"
        )

    def source(self):
        """The whole library."""
        parts = [PRELUDE % {"first": FIRST_OUTPUT}]
        special = {"aclAppLog", "aclrtLaunchCallback", "aclGetCannAttributeList", "aclrtGetMemUceInfo"}
        special |= {"aclrtGetGroupInfoDetail"}
        parts += [self.function(row) for name, row in functions().items() if name not in special]
        return "\n".join([*parts, SPECIAL])


PRELUDE = """
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static __thread char log_text[65536];
static __thread int outputs;
static int code;
static int answer = 5;

/* For the test: the code that calls return from now on, and the last call. */
void echo_code(int value) { code = value; }
void echo_answer(int value) { answer = value; }
const char *echo_last(void) { return log_text; }

static void add(const char *text)
{
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%%s", text);
}
static void begin(const char *name) { log_text[0] = 0; outputs = 0; add(name); }
static uint64_t next_output(void) { return (uint64_t)(%(first)d + outputs++); }
static void note_number(uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, " %%llu", (unsigned long long)value);
    add(text);
}
static void note_float(float value) { char text[64]; snprintf(text, sizeof text, " %%g", value); add(text); }
static void note_text(const char *value) { add(" '"); add(value ? value : "NULL"); add("'"); }
static void note_bytes(const void *value, size_t size)
{
    add(" <");
    for (size_t i = 0; value && i < size; i++) {
        char text[4];
        snprintf(text, sizeof text, "%%02x", ((const unsigned char *)value)[i]);
        add(text);
    }
    add(value ? ">" : "NULL>");
}
static void note_prop(const void *value)
{
    unsigned char copy[32];
    memcpy(copy, value, sizeof copy);
    memset(copy + 20, 0, 4); /* between two fields: may hold anything */
    note_bytes(copy, sizeof copy);
}
static void note_counted(const void *value, size_t item)
{
    struct { const void *items; size_t count; } list = {0, 0};
    if (value) memcpy(&list, value, sizeof list);
    note_bytes(value ? list.items : 0, list.count * item);
}
static void fill(void *value, size_t size)
{
    for (size_t i = 0; code == 0 && i < size; i++) ((unsigned char *)value)[i] = (unsigned char)(i %% 16 + 1);
    outputs++;
}
static void put_text(char *value) { if (code == 0) strcpy(value, "echo text"); outputs++; }
static void put_float(float *value) { if (code == 0) *value = 1.5f; outputs++; }
"""

SPECIAL = r"""
void aclAppLog(int32_t level, const char *func, const char *file, uint32_t line, const char *fmt, ...)
{
    char text[1024];
    va_list arguments;
    begin("aclAppLog");
    note_number((uint64_t)level);
    note_text(func);
    note_text(strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
    note_number(line);
    va_start(arguments, fmt);
    vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    note_text(text);
}
int32_t aclrtLaunchCallback(void (*function)(void *), void *data, int32_t block, void *stream)
{
    if (code == 0) function(data);
    begin("aclrtLaunchCallback");
    note_number((uint64_t)block);
    note_number((uint64_t)(uintptr_t)stream);
    return code;
}
int32_t aclGetCannAttributeList(const int32_t **list, size_t *count)
{
    static const int32_t attributes[] = {3, 1, 4};
    begin("aclGetCannAttributeList");
    *list = attributes;
    *count = 3;
    return code;
}
int32_t aclrtGetMemUceInfo(int32_t device, void *array, size_t size, size_t *count)
{
    begin("aclrtGetMemUceInfo");
    note_number((uint64_t)device);
    note_number(size);
    for (size_t i = 0; i < size * 16; i++) ((uint64_t *)array)[i] = i;
    *count = size < 2 ? size : 2;
    return code;
}
int32_t aclrtGetGroupInfoDetail(const void *info, int32_t group, int32_t attr, void *value, size_t room, size_t *size)
{
    begin("aclrtGetGroupInfoDetail");
    note_number((uint64_t)(uintptr_t)info);
    note_number((uint64_t)group);
    note_number((uint64_t)attr);
    if (room < 8) return -1;
    ((int32_t *)value)[0] = 8;
    ((int32_t *)value)[1] = 9;
    *size = 8;
    return code;
}
"""


def build(directory):
    """Compiles the echo as libascendcl.so into `directory`."""
    source = Path(directory) / "echo.c"
    source.write_text(Writer().source(), encoding="utf-8")
    compiler = os.environ.get("CC", "cc").split()
    flags = ["-std=gnu11", "-shared", "-fPIC", "-Wno-int-conversion", "-Wl,-soname,libascendcl.so"]
    library = Path(directory) / "libascendcl.so"
    subprocess.run([*compiler, *flags, "-o", str(library), str(source)], check=True)
    return library


class Echo:
    """The library that tells how it was called."""

    def __init__(self):
        self.library = ctypes.CDLL("libascendcl.so")
        self.library.echo_last.restype = ctypes.c_char_p

    def last(self):
        """The last call: name and arguments."""
        return self.library.echo_last().decode()

    def code(self, value):
        """What calls return from now on."""
        self.library.echo_code(value)
