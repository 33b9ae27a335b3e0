"""The simulator of PTX: runs any PTX on the CPU, and stops at the first thing that a GPU would get wrong."""

import ctypes
import functools
import numbers
import threading
from collections.abc import Sequence
from ctypes import byref, c_char, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

from . import arrays
from ._library import Handle, _find


class _Dim(ctypes.Structure):
    _fields_ = [("x", c_uint), ("y", c_uint), ("z", c_uint)]


class _Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("order", c_int), ("max_instructions", c_uint64), ("seed", c_uint64),
                ("threads", c_uint), ("no_races", c_int), ("landing", c_int)]


class _Side(ctypes.Structure):
    _fields_ = [("line", c_int), ("block", _Dim), ("thread", _Dim)]


class _Fault(ctypes.Structure):
    _fields_ = [("status", c_int), ("line", c_int), ("in_kernel", c_int), ("block", _Dim), ("thread", _Dim),
                ("race", c_int), ("other", _Side), ("address", c_uint64), ("message", c_char * 256)]


class _Counts(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in ("warp_instructions", "thread_instructions", "mma", "barriers",
                                              "global_load_bytes", "global_store_bytes", "bulk_bytes")]


class _Line(ctypes.Structure):
    _fields_ = [("line", c_int), ("kind", c_int)] + [
        (name, c_uint64) for name in ("warp_instructions", "thread_instructions", "shared_requests", "shared_wavefronts",
                                      "shared_ideal", "global_requests", "global_sectors", "global_bytes", "bulk_bytes",
                                      "mma_products", "mma_nonzero")]


ORDERS = {"in order": 0, "reversed": 1, "seeded": 2}
FAULTS = ("ok", "nomem", "invalid", "parse", "unsupported", "bounds", "align", "uninit", "race", "barrier", "trap", "limit",
          "async")


class Fault(Exception):
    """What a kernel did wrong: `kind` (one of mcgen.simulate.FAULTS), `line` of the PTX (0: none), and the message, which
    says the block and the thread. The other line of a race is `other`."""

    def __init__(self, kind, line, other, message):
        super().__init__(message)
        self.kind, self.line, self.other = kind, line, other


@functools.lru_cache(maxsize=None)
def _library():
    dll = ctypes.CDLL(_find("libptxsim.so.0"))
    signatures = {
        "ptxsim_create": (c_int, c_void_p, c_void_p), "ptxsim_destroy": (None, c_void_p),
        "ptxsim_fault_of": (ctypes.POINTER(_Fault), c_void_p), "ptxsim_fault_text": (c_char_p, c_void_p),
        "ptxsim_counts_of": (ctypes.POINTER(_Counts), c_void_p), "ptxsim_line_count": (c_size_t, c_void_p),
        "ptxsim_line_at": (ctypes.POINTER(_Line), c_void_p, c_size_t), "ptxsim_class_text": (c_char_p, c_int),
        "ptxsim_alloc": (c_int, c_void_p, c_size_t, c_void_p), "ptxsim_free": (c_int, c_void_p, c_uint64),
        "ptxsim_write": (c_int, c_void_p, c_uint64, c_void_p, c_size_t),
        "ptxsim_read": (c_int, c_void_p, c_uint64, c_void_p, c_size_t),
        "ptxsim_module_load": (c_int, c_void_p, c_char_p, c_void_p), "ptxsim_module_unload": (c_int, c_void_p, c_void_p),
        "ptxsim_module_function": (c_int, c_void_p, c_void_p, c_char_p, c_void_p),
        "ptxsim_function_params": (c_size_t, c_void_p, c_void_p, c_size_t),
        "ptxsim_launch": (c_int, c_void_p, c_void_p, _Dim, _Dim, c_size_t, c_void_p)}
    for name, (result, *arguments) in signatures.items():
        function = getattr(dll, name)
        function.restype, function.argtypes = result, arguments
    return dll


def _dim(value) -> _Dim:
    values = (value,) if isinstance(value, int) else tuple(value)
    return _Dim(*(values + (1, 1, 1))[:3])


class Launched:
    """What a launch counted. `counts`: warp_instructions, thread_instructions, mma, barriers, global_load_bytes,
    global_store_bytes, bulk_bytes. `lines`: for each line of PTX with instructions a dict of line, kind ("mma", "loads" ...)
    and what it did (ptxsim.h: ptxsim_line)."""

    def __init__(self, counts, lines):
        self.counts, self.lines = counts, lines


class Simulator(Handle):
    """A GPU of its own, on the CPU.

    order: "in order", "reversed" or "seeded" (by SEED): how warps take turns. races: look for them. threads: that run
    blocks (0: as many as there are processors). max_instructions: of a launch, 0: 2^40."""

    def __init__(self, *, order: str = "in order", seed: int = 0, races: bool = True, threads: int = 0,
                 max_instructions: int = 0) -> None:
        from .context import word

        self._dll, handle = _library(), c_void_p()
        options = _Options(ctypes.sizeof(_Options), word(ORDERS, order, "order"), max_instructions, seed, threads, not races)
        if self._dll.ptxsim_create(byref(options), byref(handle)) != 0:
            raise MemoryError
        self._handle, self._lock = handle, threading.Lock()

    def _check(self, status):
        if status == 0:
            return
        if status == 1:
            raise MemoryError
        fault = self._dll.ptxsim_fault_of(self._handle).contents
        raise Fault(FAULTS[status], fault.line, fault.other.line,
                    self._dll.ptxsim_fault_text(self._handle).decode(errors="replace"))

    def run(self, ptx: str, entry: str, grid: int | Sequence[int], block: int | Sequence[int], arguments: Any, *,
            shared: int = 0) -> Launched:
        """Runs the kernel ENTRY of PTX on GRID thread blocks of BLOCK threads (numbers, or up to three).

        ARGUMENTS, one a parameter: arrays on the host, which are copied there, and back when it is done; numbers. SHARED: bytes
        of dynamic shared memory. Raises Fault."""
        with self._lock:
            return self._run(ptx, entry, grid, block, arguments, shared)

    def _run(self, ptx, entry, grid, block, arguments, shared):
        module, function = c_void_p(), c_void_p()
        text = ptx if isinstance(ptx, bytes) else ptx.encode()
        self._check(self._dll.ptxsim_module_load(self._handle, text, byref(module)))
        moved = []
        try:
            self._check(self._dll.ptxsim_module_function(self._handle, module, entry.encode(), byref(function)))
            values = self._values(function, arguments, moved)
            pointers = (c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
            self._check(self._dll.ptxsim_launch(self._handle, function, _dim(grid), _dim(block), shared, pointers))
            for address, view, size in moved:
                if not view.readonly:
                    self._dll.ptxsim_read(self._handle, address, view.address, size)
            return self._launched()
        finally:
            for address, _, _ in moved:
                self._dll.ptxsim_free(self._handle, address)
            self._dll.ptxsim_module_unload(self._handle, module)

    def _values(self, function, arguments, moved):
        sizes = (c_size_t * 64)()
        count = self._dll.ptxsim_function_params(function, sizes, 64)
        if count != len(arguments):
            raise ValueError(f"{len(arguments)} arguments, the kernel has {count} parameters")
        return [self._value(argument, sizes[i], moved) for i, argument in enumerate(arguments)]

    def _value(self, argument, size, moved):
        if isinstance(argument, numbers.Integral):
            argument = int(argument)
            return (c_char * size).from_buffer(bytearray(argument.to_bytes(size, "little", signed=argument < 0)))
        if isinstance(argument, numbers.Real):
            argument = float(argument)
            kind = ctypes.c_float if size == 4 else ctypes.c_double
            return kind(argument)
        view, address = arrays.view(argument), c_uint64()
        if view.device is not None or not view.contiguous:
            raise ValueError("an array on the host is wanted, in C order and without gaps")
        length = view.bytes
        self._check(self._dll.ptxsim_alloc(self._handle, length, byref(address)))
        moved.append((address.value, view, length))
        self._check(self._dll.ptxsim_write(self._handle, address, view.address, length))
        return address

    def _launched(self) -> Launched:
        counts = self._dll.ptxsim_counts_of(self._handle).contents
        lines = []
        for i in range(self._dll.ptxsim_line_count(self._handle)):
            row = self._dll.ptxsim_line_at(self._handle, i).contents
            line = {name: getattr(row, name) for name, _ in _Line._fields_}
            line["kind"] = self._dll.ptxsim_class_text(row.kind).decode()
            lines.append(line)
        return Launched({name: getattr(counts, name) for name, _ in _Counts._fields_}, lines)

    def __del__(self):
        if getattr(self, "_handle", None):
            self._dll.ptxsim_destroy(self._handle)
            self._handle = None


def simulate(ptx: str, entry: str, grid: int | Sequence[int], block: int | Sequence[int], arguments: Any, *, shared: int = 0,
             **options: Any) -> Launched:
    """Runs one kernel on a simulator of its own: help(mcgen.Simulator) says of what, help(mcgen.Simulator.run) how."""
    return Simulator(**options).run(ptx, entry, grid, block, arguments, shared=shared)
