"""Specs to PTX: what the program mcgen does."""

import ctypes
import json
import os
import pathlib
from ctypes import POINTER, byref, c_bool, c_char_p, c_size_t, c_uint64, c_void_p
from typing import Any

from ._library import Handle, mcgen


class _Setting(ctypes.Structure):
    _fields_ = [("field", c_char_p), ("value", c_char_p)]


class _Builtin(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p)]


def _owned(function, *arguments) -> str:
    """The text that a C function allocates."""
    library = mcgen()
    pointer = library.function(function, c_void_p, *[kind for kind, _ in arguments])(*[v for _, v in arguments])
    if not pointer:
        raise MemoryError
    text = ctypes.string_at(pointer).decode()
    free = ctypes.CDLL(None).free
    free.argtypes = [c_void_p]
    free(pointer)
    return text


def specs() -> dict[str, str]:
    """The shipped specs: their texts by their names ("spmm_l8r8")."""
    rows = mcgen().function("mc_builtin_specs", POINTER(_Builtin))()
    found, i = {}, 0
    while rows[i].name:
        found[rows[i].name.decode().removesuffix(".lua")] = rows[i].text.decode()
        i += 1
    return found


class Kernel:
    """A generated kernel.

    ptx        its text
    contract   how it is launched and what its arguments are, a dict (docs/runtime.md: `mcgen --describe --json`)
    fields     all fields of its variant, "op=spmm arch=sm_90 ..."
    hash       of these and of the generator, 16 hex digits"""

    def __init__(self, handle):
        library = mcgen()
        text = library.function("mc_kernel_ptx", c_char_p, c_void_p)(handle)
        self.ptx = text.decode()
        self.contract = json.loads(_owned("mc_kernel_describe", (c_void_p, handle), (c_bool, True)))
        self.fields = library.function("mc_kernel_fields", c_char_p, c_void_p)(handle).decode()
        self.hash = f"{library.function('mc_kernel_hash', c_uint64, c_void_p)(handle):016x}"

    def __repr__(self):
        return f"Kernel({self.fields})"


class Spec(Handle):
    """A kernel spec: a set of variants.

    SPEC is the name of a shipped one ("spmm_l8r8"), a path, the text of one (it has a "=" in it), or a dict of fields,
    whose lists are candidates. SETTINGS replace fields. arch: such as "sm_90", where the spec names none; else sm_80.
    UsageError with every error in it, each as "file:line: field: what is wrong"."""

    def __init__(self, spec: str | os.PathLike[str] | dict[str, Any], *, name: str = "spec.lua", **settings: Any) -> None:
        library = mcgen()
        rows = (_Setting * len(settings))(*[_Setting(k.encode(), _word(v).encode()) for k, v in settings.items()])
        handle = c_void_p()
        if isinstance(spec, dict):
            spec = "".join(f"{key} = {_lua(value)}\n" for key, value in spec.items())
        if isinstance(spec, str) and "=" in spec:
            data = spec.encode()
            library.checked("mc_spec_read_text", c_char_p, c_char_p, c_size_t, c_void_p, c_size_t, c_void_p)(
                name.encode(), data, len(data), rows, len(settings), byref(handle))
        else:
            path = str(pathlib.Path(spec)) if isinstance(spec, pathlib.Path) else spec
            library.checked("mc_spec_read", c_char_p, c_void_p, c_size_t, c_void_p)(
                path.encode(), rows, len(settings), byref(handle))
        self._handle = handle.value

    def __len__(self):
        """How many variants there are."""
        return mcgen().function("mc_spec_variant_count", c_size_t, c_void_p)(self._handle)

    @property
    def default(self) -> int:
        """The variant of every list's first value, or 0 where that one is not legal."""
        return mcgen().function("mc_spec_default", c_size_t, c_void_p)(self._handle)

    def fields(self, variant: int | str, all: bool = False) -> str:
        """"warps=4 stages=6 ..." of one variant: the fields that the spec leaves to tuning, or all."""
        return _owned("mc_spec_variant_text", (c_void_p, self._handle), (c_size_t, self._index(variant)), (c_bool, all))

    def _index(self, variant) -> int:
        if not 0 <= variant < len(self):
            raise IndexError(f"variant {variant} of {len(self)}")
        return variant

    def generate(self, variant: int | str | None = None) -> Kernel:
        """The kernel of VARIANT; None: the default."""
        handle = c_void_p()
        index = self.default if variant is None else self._index(variant)
        mcgen().checked("mc_kernel_generate", c_void_p, c_size_t, c_void_p)(self._handle, index, byref(handle))
        try:
            return Kernel(handle)
        finally:
            mcgen().function("mc_kernel_destroy", None, c_void_p)(handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            mcgen().function("mc_spec_destroy", None, c_void_p)(self._handle)
            self._handle = None


def _word(value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _lua(value) -> str:
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(_lua(v) for v in value) + "}"
    if isinstance(value, bool) or isinstance(value, str):
        return json.dumps(_word(value))
    return str(value)


def generate(spec: str | os.PathLike[str] | dict[str, Any], variant: int | str | None = None, **settings: Any) -> Kernel:
    """The kernel of a spec's VARIANT (None: the default): generate("spmm_l8r8", n=256).ptx. help(mcgen.Spec) says what
    SPEC and SETTINGS may be."""
    return Spec(spec, **settings).generate(variant)


__all__ = ["Spec", "Kernel", "generate", "specs"]
