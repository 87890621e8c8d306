#!/usr/bin/env python3
"""Functions in Python as a plug-in of gtmark (docs/plugins.md):

    python3 tests/golden/python_plugin.py mine.py mine.so && build/audit --patience 60 mine.so

mine.py has a function for each kernel: @kernel("spmm", "mine"); call["x"] is a matrix, None if it is absent, and
numpy.asarray takes it without a copy. The library contains the source of mine.py, and starts this Python in the process
that opens it.
"""
import contextlib, ctypes, json, os, subprocess, sys, sysconfig, timeit
from ctypes import CFUNCTYPE, c_char_p, c_double, c_int32, c_int64, c_uint32, c_void_p

F32, F64, I32, I64 = 1, 2, 4, 8
ALLOCATES, STARTS_THREADS = 1, 2
SUM, MEAN = 1, 2
ELEMENTS = {F32: ("<f4", ctypes.c_float), F64: ("<f8", c_double), I32: ("<i4", c_int32), I64: ("<i8", c_int64)}


class View(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("data", c_void_p), ("rows", c_int64), ("cols", c_int64), ("ld", c_int64),
                ("type", c_int32), ("accumulate", c_int32)]


class Matrix:
    def __init__(self, view):
        self.data, self.rows, self.cols, self.ld = view.data, view.rows, view.cols, view.ld
        self.accumulate, (typestr, self.element) = bool(view.accumulate), ELEMENTS[view.type]
        size = ctypes.sizeof(self.element)
        self.__array_interface__ = {"version": 3, "shape": (self.rows, self.cols), "typestr": typestr,
                                    "data": (self.data, False), "strides": (self.ld * size, size)}

    def row(self, i):
        """Row i as an array of ctypes."""
        return (self.element * self.cols).from_address(self.data + i * self.ld * ctypes.sizeof(self.element))


class Attribute(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("real", c_double), ("whole", c_int64)]


RECORD = CFUNCTYPE(None, c_void_p, c_char_p, c_double, c_int32)


class Call(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("threads", c_int32), ("scratch", c_void_p), ("matrices", ctypes.POINTER(View)),
                ("attributes", ctypes.POINTER(Attribute)), ("matrix_count", c_int32), ("attribute_count", c_int32),
                ("stream", c_void_p), ("team", c_void_p), ("enter", CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)),
                ("leave", CFUNCTYPE(None, c_void_p, c_char_p)),
                ("record", RECORD), ("state", c_void_p)]

    def __getitem__(self, name):
        for m in self.matrices[:self.matrix_count]:
            if m.name == name.encode():
                return Matrix(m) if m.rows else None
        raise KeyError(name)

    def attribute(self, name):
        return next(a for a in self.attributes[:self.attribute_count] if a.name == name.encode())


    @contextlib.contextmanager
    def section(self, name, metadata=""):
        self.enter(ctypes.addressof(self), name.encode(), metadata.encode())
        try:
            yield
        finally:
            self.leave(ctypes.addressof(self), name.encode())

    def metric(self, name, value, mean=False):
        self.record(ctypes.addressof(self), name.encode(), value, MEAN if mean else SUM)


CALLED = CFUNCTYPE(c_void_p, ctypes.POINTER(Call))
kernels = []  # the entries, and the functions that C calls, in their order


def called(function, seconds=None):
    """function(call) for C: returns its text or what it raised, null if neither. `seconds`, of an empty one,
    are a metric."""
    said = ctypes.create_string_buffer(200)

    def call_it(call):
        try:
            text = function(call.contents) or ""
            if seconds is not None:
                call.contents.metric("python_call_seconds", seconds, mean=True)
        except BaseException as e:  # sys.exit too
            text = f"{type(e).__name__}: {e}"
        said.value = text.encode()[:199]
        return ctypes.addressof(said) if text else None
    return CALLED(call_it)


def empty_call():
    """Seconds of a call of a function that does nothing, the fastest of some."""
    empty = called(lambda call: None, 0)
    call = ctypes.byref(Call(record=ctypes.cast(ctypes.pythonapi.Py_IsInitialized, RECORD)))  # a function of C
    return min(timeit.repeat(lambda: empty(call), number=100, repeat=10)) / 100


def kernel(op, variant, types=F32, flags=ALLOCATES, supports=lambda call: None, options=""):
    """Of a function: it computes the op, with these options ("mask,dropout"); `supports` says in words why it cannot.
    Python itself allocates."""
    def add(function):
        kernels.append(({"op": op, "variant": variant, "types": types, "flags": flags, "options": options},
                        called(function, empty_call()), called(supports)))
        return function
    return add


def start(source, file, address):
    """In the library: runs the source and gives it the addresses of the functions."""
    exec(compile(source, file, "exec"), {"__name__": "plugin", "__file__": file})
    table = (c_void_p * (2 * len(kernels))).from_address(address)
    for i, (_, *functions) in enumerate(kernels):
        table[2 * i:2 * i + 2] = [ctypes.cast(f, c_void_p).value for f in functions]


LIBRARY = """#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <gtmark_plugin.h>
_Static_assert(%(sizes)s, "python_plugin.py is of another gtmark_plugin.h");
static struct gtmark_entry entries[] = {%(entries)s};
static const char *(*functions[%(count)d][2])(const struct gtmark_call *call);
void Py_InitializeEx(int signals), *PyEval_SaveThread(void);
int PyRun_SimpleStringFlags(const char *code, void *flags);
__attribute__((constructor)) static void start(void)
{
    char address[64];
    snprintf(address, sizeof address, "address = %%llu", (unsigned long long)(uintptr_t)functions);
    dlopen(%(libpython)s, RTLD_NOW | RTLD_GLOBAL); /* where extensions look for its symbols */
    setenv("PYTHONHOME", %(home)s, 1);
    Py_InitializeEx(0);
    unsetenv("PYTHONHOME");
    if (PyRun_SimpleStringFlags(address, NULL) || PyRun_SimpleStringFlags(%(code)s, NULL))
        exit(1); /* it has printed why */
    PyEval_SaveThread(); /* so that threads of Python run between the calls */
    for (int i = 0; i < %(count)d; i++) {
        entries[i].run = functions[i][0];
        entries[i].supports = functions[i][1];
    }
}
GTMARK_PLUGIN(entries);
"""


def text(value):
    return json.dumps(value, ensure_ascii=False)


def make(file, library):
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    with open(file, encoding="utf-8") as f:
        source = f.read()
    exec(compile(source, file, "exec"), {"__name__": "plugin", "__file__": os.path.abspath(file)})
    libdir, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME")
    if not name or not os.path.exists(f"{libdir}/{name}"):
        sys.exit(f"{sys.executable}: has no libpython (apt install libpython3-dev, or --enable-shared)")
    values = {
        "sizes": " && ".join(f"sizeof(struct gtmark_{name}) == {ctypes.sizeof(struct)}" for name, struct in
                             (("matrix", View), ("attribute", Attribute), ("call", Call))),
        "entries": ", ".join('{.op = %s, .variant = %s, .device = "cpu", .types = %d, .flags = %d, .options = %s}' %
                             (text(e["op"]), text(e["variant"]), e["types"], e["flags"],
                              text(e["options"]) if e["options"] else "NULL") for e, *_ in kernels),
        "count": len(kernels), "libpython": text(f"{libdir}/{name}"), "home": text(sys.base_prefix),
        "code": text(f"import sys; sys.path[:] = {sys.path!r}; import python_plugin; "
                     f"python_plugin.start({source!r}, {os.path.abspath(file)!r}, address)")}
    include = os.environ.get("GTMARK_INCLUDE", os.path.join(here, "../../kernels"))
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-I", include, "-x", "c", "-", "-x", "none",
                    f"-L{libdir}", f"-Wl,-rpath,{libdir}", f"-l:{name}", "-o", library],
                   input=(LIBRARY % values).encode(), check=True)
    print(f"{library}: {len(kernels)} kernels; a call takes {empty_call() * 1e6:.1f} us if its function is empty")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    import python_plugin  # as which the file imports it
    python_plugin.make(*sys.argv[1:])
