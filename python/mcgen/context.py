"""Contexts: a device, its kernels, the cache and the records of tuning."""

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import Any

from . import arrays, types
from ._library import Handle, contents, mcrt, record

_LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
_config = record("mc_context_config", ("device", c_char_p), ("cuda_context", c_void_p), ("cache", c_int),
                 ("cache_directory", c_char_p), ("cache_bytes", c_uint64), ("cache_files", c_uint64), ("tuning", c_int),
                 ("records", c_char_p), ("log", _LOG), ("log_user", c_void_p), ("allocate", c_void_p),
                 ("release", c_void_p), ("memory_user", c_void_p))
_info = record("mc_context_info", ("device", c_char_p), ("driver", c_char_p), ("capability", c_int),
               ("cache_directory", c_char_p), ("records", c_char_p), ("kernels_loaded", c_uint64),
               ("kernels_compiled", c_uint64), ("kernels_from_cache", c_uint64))

CACHES = {None: 0, "rw": 1, "ro": 2, "mem": 3, "off": 4}
TUNINGS = {None: 0, "replay": 1, "off": 2, "tune": 3}


def _text(value):
    return None if value is None else str(value).encode()


def word(words, value, name):
    """The number of VALUE in WORDS; ValueError, with them all, where it is none."""
    if value not in words:
        raise ValueError(f"{name} is {value!r}, must be one of {', '.join(repr(w) for w in words)}")
    return words[value]


class Context(Handle):
    """A device, the kernels loaded there, the cache on disk and the records of tuning.

    device            "auto" (cuda:0 where there is a GPU, else the simulator), "cuda:I" or "sim"
    cache             "rw", "ro", "mem" or "off"; None: what MCGEN_CACHE says, else "rw"
    cache_directory   None: the usual one (docs/cache.md)
    tuning            "replay" (records, else the model), "off", or "tune": a problem without a record is tuned first,
                      which takes seconds; None: what MCGEN_TUNING says, else "replay"
    records           the file of records that tuning appends to; None: the usual one, "": none
    log               called with "note" or "detail" and a message; None: what MCGEN_LOG asks for, on standard error

    CannotError where there is no such device. A context may be used from several threads."""

    def __init__(self, device: str = "auto", *, cache: str | None = None, cache_directory: str | None = None,
                 tuning: str | None = None, records: str | None = None, log: Callable[[str, str], object] | None = None) -> None:
        self._handle = c_void_p()
        self._log = _LOG(lambda user, level, text: log(("note", "detail")[level], text.decode(errors="replace"))) \
            if log is not None else _LOG()
        config = _config(device=_text(device), cache=word(CACHES, cache, "cache"), cache_directory=_text(cache_directory),
                         tuning=word(TUNINGS, tuning, "tuning"), records=_text(records), log=self._log)
        mcrt.checked("mc_context_create", c_void_p, c_void_p)(byref(config), byref(self._handle))
        self._memory = mcrt.checked("mc_memory_create", c_void_p, c_size_t, c_void_p)
        self._free_memory = mcrt.function("mc_memory_destroy", None, c_void_p, c_uint64)
        self._copy_in = mcrt.checked("mc_memory_write", c_void_p, c_uint64, c_void_p, c_size_t)
        self._copy_out = mcrt.checked("mc_memory_read", c_void_p, c_uint64, c_void_p, c_size_t)
        self._destroy = mcrt.function("mc_context_destroy", None, c_void_p)
        info = self.info()
        self.device = info["device"]
        """What the device calls itself: "NVIDIA H200", "PTX simulator"."""
        self.is_simulator = info["capability"] == 0
        self.index = None if self.is_simulator else int(device[5:]) if str(device).startswith("cuda:") else 0
        """The number of the GPU; None: the simulator."""

    def info(self) -> dict[str, Any]:
        """device, driver, capability (90 for 9.0; 0: the simulator), cache_directory, records, and how many kernels
        were loaded, compiled and found in the cache since the context was created."""
        found = _info()
        mcrt.checked("mc_context_get_info", c_void_p, c_void_p)(self._handle, byref(found))
        return contents(found)

    def _allocate(self, size) -> int:
        address = c_uint64()
        self._memory(self._handle, max(size, 1), byref(address))
        return address.value

    def _free(self, address):
        if self._handle:
            self._free_memory(self._handle, address)

    def _write(self, address, data, size):
        if size > 0:
            self._copy_in(self._handle, address, data, size)

    def _read(self, address, data, size):
        if size > 0:
            self._copy_out(self._handle, address, data, size)

    def empty(self, shape: Sequence[int], type: str) -> arrays.DeviceArray:
        """Memory on the device for SHAPE elements of TYPE ("f16", "s8" ...), with whatever is in it."""
        return arrays.DeviceArray(self, shape, type)

    def array(self, array: Any, type: str | None = None) -> arrays.DeviceArray:
        """A copy of ARRAY, which lies on the host, on the device. TYPE: what its elements are; None: as its dtype."""
        found = arrays.view(array)
        element = type or types.of_dtype(found.dtype)
        shape = found.shape
        if types.BYTES[element] == 0:
            shape = (*shape[:-1], 2 * shape[-1])
        return self.empty(shape, element).write(array)

    def synchronize(self, stream: int = 0) -> None:
        """Waits for all that was put on STREAM (a CUstream's address; 0: the default one)."""
        mcrt.checked("mc_synchronize", c_void_p, c_void_p)(self._handle, stream)

    def import_records(self, path: str | os.PathLike[str]) -> int:
        """Adds the records of the file at PATH to the context's own. Returns how many were new or better."""
        count = c_size_t()
        mcrt.checked("mc_records_import", c_void_p, c_char_p, c_void_p)(self._handle, _text(path), byref(count))
        return count.value

    def export_records(self, path: str | os.PathLike[str]) -> int:
        """Writes the context's own records to PATH. Returns how many there are."""
        count = c_size_t()
        mcrt.checked("mc_records_export", c_void_p, c_char_p, c_void_p)(self._handle, _text(path), byref(count))
        return count.value

    def __del__(self):
        if getattr(self, "_handle", None):
            self._destroy(self._handle)
            self._handle = c_void_p()

    def __repr__(self):
        return f"Context({self.device!r})"


_lock = threading.Lock()


@functools.lru_cache(maxsize=None)
def _shared(device) -> Context:
    return Context(device)


def shared_context(device: str = "auto") -> Context:
    """A context for DEVICE that all who ask for it share: what matrices and plans get where none is named."""
    with _lock:
        return _shared(device)


__all__ = ["Context", "shared_context"]
