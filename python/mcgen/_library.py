"""The shared libraries beside this file, their functions, and statuses made exceptions."""

import ctypes
import functools
import json
import os
import pathlib
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p

from ._errors import error_of


def _find(name: str) -> str:
    """Beside this file in a wheel; in a build tree where MCGEN_LIBRARIES says (folders, as PATH has them)."""
    folders = [pathlib.Path(__file__).parent / "lib"]
    folders += [pathlib.Path(f) for f in os.environ.get("MCGEN_LIBRARIES", "").split(os.pathsep) if f]
    for folder in reversed(folders):
        if (folder / name).exists():
            return str(folder / name)
    return name


class Library:
    """A shared library of ours: functions that return a status raise what it says."""

    def __init__(self, name: str):
        self.dll = ctypes.CDLL(_find(name))
        self._fetch("mc_diag_create", c_void_p)
        self._fetch("mc_diag_destroy", None, c_void_p)
        self._fetch("mc_diag_text", c_char_p, c_void_p)

    def _fetch(self, name, result, *arguments):
        function = getattr(self.dll, name)
        function.restype = result
        function.argtypes = arguments
        return function

    @functools.lru_cache(maxsize=None)
    def function(self, name, result, *arguments):
        """A function that returns no status."""
        return self._fetch(name, result, *arguments)

    @functools.lru_cache(maxsize=None)
    def checked(self, name, *arguments):
        """A function whose last parameter is a diag, which is added here."""
        function = self._fetch(name, c_int, *arguments, c_void_p)

        def call(*values):
            diag = self.dll.mc_diag_create()
            try:
                status = function(*values, diag)
                if status != 0:
                    raise error_of(status, self.dll.mc_diag_text(diag).decode(errors="replace"))
            finally:
                self.dll.mc_diag_destroy(diag)

        return call

    def address(self, name) -> int:
        """Where a function is."""
        return ctypes.cast(getattr(self.dll, name), c_void_p).value


mcrt = Library("libmcrt.so.1")
"""Contexts, matrices, plans: mcrt.h."""


@functools.lru_cache(maxsize=None)
def mcgen() -> Library:
    """Specs and PTX: mcgen.h."""
    return Library("libmcgen.so.1")


@functools.lru_cache(maxsize=None)
def description() -> dict:
    """All element types, members of problems and operators, as mc_describe says (mc_describe.h)."""
    describe = mcrt.function("mc_describe", c_size_t, c_void_p, c_size_t)
    room = describe(None, 0) + 1
    text = ctypes.create_string_buffer(room)
    describe(text, room)
    return json.loads(text.value)


class Handle:
    """What owns a handle of C: one object, which is neither copied nor pickled."""

    def _refuse(self, *_):
        raise TypeError(f"a {type(self).__name__} can be neither copied nor pickled: make another one")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _refuse


def record(name, *fields):
    """A C struct that begins with its size. Field types are those of ctypes."""
    kind = type(name, (ctypes.Structure,), {"_fields_": [("size", c_size_t), *fields]})

    def made(**values):
        return kind(size=ctypes.sizeof(kind), **values)

    made.pointer = POINTER(kind)
    return made


def contents(found) -> dict:
    """A record's members by their names."""
    values = {name: getattr(found, name) for name, _ in found._fields_ if name != "size"}
    return {name: v.decode() if isinstance(v, bytes) else v for name, v in values.items()}


__all__ = ["Library", "mcrt", "mcgen", "Handle", "contents", "description", "record", "byref", "c_uint64"]
