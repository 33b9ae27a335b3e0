"""Sparse matrices of V x 1 nonzero vectors."""

import ctypes
from array import array
from ctypes import byref, c_int, c_int64, c_uint64, c_void_p
from typing import Any

from . import arrays, types
from ._library import Handle, mcrt, record
from .context import Context, shared_context, word

_config = record("mc_matrix_config", ("type", c_int), ("vec", c_int), ("rows", c_int64), ("cols", c_int64),
                 ("row_ptr", c_void_p), ("col_idx", c_void_p), ("values", c_void_p), ("patterns", c_int64),
                 ("span", c_int))
_dense = record("mc_dense_config", ("type", c_int), ("vec", c_int), ("rows", c_int64), ("cols", c_int64), ("ld", c_int64),
                ("data", c_void_p), ("span", c_int))
_device_dense = record("mc_device_dense_config", ("type", c_int), ("vec", c_int), ("rows", c_int64), ("cols", c_int64),
                       ("major", c_int), ("ld", c_int64), ("data", c_uint64), ("mask", c_uint64), ("mask_ld", c_int64))
_info = record("mc_matrix_info", ("type", c_int), ("vec", c_int), ("rows", c_int64), ("cols", c_int64),
               ("vectors", c_int64), ("device_bytes", c_int64))
_values = record("mc_device_values", ("from_", c_int), ("address", c_uint64), ("ld", c_int64))

FROM = {"vectors": 0, "rows": 1, "columns": 2}


def _on_host(array, name):
    found = arrays.view(array)
    if found.device is not None or not found.contiguous:
        raise ValueError(f"{name} must lie on the host, in C order and without gaps")
    return found


def _indices(array, name):
    found = _on_host(array, name)
    if found.dtype != "int32" or len(found.shape) != 1:
        raise TypeError(f"{name} has {found.dtype} in {len(found.shape)} dimensions, must be a vector of int32")
    return found


class Matrix(Handle):
    """A matrix of `vec` x 1 nonzero vectors on a context's device: row blocks of `vec` rows, each with the columns where
    it has vectors. Make one by Matrix.from_dense or Matrix.from_bcrs.

    rows, cols, vectors, vec, type   its shape, its vectors, what its elements are
    """

    def __init__(self, handle, context):
        self._handle, self.context, self.version, self.patterns = handle, context, 0, 0
        found = _info()
        mcrt.checked("mc_matrix_get_info", c_void_p, c_void_p)(handle, byref(found))
        self.rows, self.cols, self.vectors, self.vec = found.rows, found.cols, found.vectors, found.vec
        self.type = types.NAMES[found.type]

    @classmethod
    def _make(cls, function, context, config, *more):
        handle = c_void_p()
        context = context or shared_context()
        parameters = [c_void_p] * (3 + len(more))
        mcrt.checked(function, *parameters)(context._handle, byref(config), *more, byref(handle))
        return cls(handle, context)

    @classmethod
    def from_dense(cls, dense: Any, vec: int = 8, *, type: str | None = None, mask: Any = None,
                   span: int = 0, context: Context | None = None, stream: int = 0) -> "Matrix":
        """The vectors of DENSE, rows x cols in C order, that are not all zero; or those where MASK, of as many elements
        of uint8 or bool, has one that is not zero. rows is a multiple of VEC (1, 2, 4, 8 or 16).

        DENSE may lie on the host, or on the context's GPU, where MASK must then lie, too; work on a GPU is put on STREAM
        and waited for. MASK goes with a GPU; on the host, multiply by it. TYPE: of the elements; None: as the dtype.
        SPAN, of a matrix on the host with a VEC of 1: it is for gemm24, and has at most SPAN - 2 of each SPAN neighbours
        of a row, as 6 of 8 (docs/sparse24.md); 0: 2 of 4."""
        found = arrays.view(dense)
        element = type or types.of_dtype(found.dtype)
        arrays.check_dtype(found, element, "the matrix")
        if len(found.shape) != 2 or not found.contiguous:
            raise ValueError(f"a matrix of two dimensions in C order is wanted, not {found.shape}")
        context = context or shared_context()
        _on_device(found, context, "the matrix")
        cols = found.shape[1] * (2 if types.BYTES[element] == 0 else 1)
        shape = dict(type=types.VALUES[element], vec=vec, rows=found.shape[0], cols=cols)
        if found.device is None:
            if mask is not None:
                raise ValueError("a mask goes with a matrix on the GPU: on the host multiply by it")
            return cls._make("mc_matrix_from_dense", context, _dense(data=found.address, span=span, **shape))
        if span:
            raise ValueError("a span goes with a matrix on the host")
        config = _device_dense(data=found.address, **shape)
        if mask is not None:
            of_mask = arrays.view(mask)
            _on_device(of_mask, context, "the mask", host=False)
            if of_mask.shape != found.shape or of_mask.dtype not in ("uint8", "bool") or not of_mask.contiguous:
                raise ValueError(f"the mask must be uint8 or bool of {found.shape}, in C order")
            config.mask = of_mask.address
        return cls._make("mc_matrix_from_device_dense", context, config, stream)

    @classmethod
    def from_bcrs(cls, rows: int, cols: int, row_ptr: Any, col_idx: Any, values: Any = None, vec: int = 8, *,
                  type: str | None = None, patterns: int = 0, span: int = 0, context: Context | None = None) -> "Matrix":
        """A matrix in BCRS: ROW_PTR [rows / vec + 1] and COL_IDX [vectors] of int32 say where each row block has vectors,
        in ascending order; VALUES [vectors, vec] are theirs (None: zeros, for a mask). All lie on the host.
        PATTERNS: the matrix has so many, one for each product of a batch (mcrt.h). SPAN: as from_dense has it."""
        offsets, columns = _indices(row_ptr, "row_ptr"), _indices(col_idx, "col_idx")
        if offsets.shape[0] != rows // vec + 1:
            raise ValueError(f"row_ptr has {offsets.shape[0]} elements, must have {rows // vec + 1}")
        found = _on_host(values, "values") if values is not None else None
        element = type or (types.of_dtype(found.dtype) if found else "f32")
        if found is not None:
            arrays.check_dtype(found, element, "values")
            if found.count * (2 if types.BYTES[element] == 0 else 1) != columns.shape[0] * vec:
                raise ValueError(f"values has {found.shape}, must be {columns.shape[0]} vectors of {vec}")
        if columns.shape[0] < _last(offsets):
            raise ValueError(f"col_idx has {columns.shape[0]} elements, row_ptr counts {_last(offsets)}")
        config = _config(type=types.VALUES[element], vec=vec, rows=rows, cols=cols, row_ptr=offsets.address,
                         col_idx=columns.address, values=found.address if found else None, patterns=patterns,
                         span=span)
        made = cls._make("mc_matrix_create", context, config)
        made.patterns = patterns
        return made

    def read(self) -> tuple[array, array, bytearray]:
        """The matrix in BCRS, with its newest values: row_ptr and col_idx, of int32, and values, bytes that can be written,
        as arrays of the standard library. What new values were put on streams for must be done."""
        row_ptr = array("i", bytes(4 * (self.rows // self.vec + 1)))
        col_idx = array("i", bytes(4 * max(self.vectors, 1)))
        values = bytearray(max(types.size(self.type, self.vectors * self.vec), 1))
        into = [(ctypes.c_char * memoryview(a).nbytes).from_buffer(a) for a in (row_ptr, col_idx, values)]
        mcrt.checked("mc_matrix_read", *[c_void_p] * 4)(self._handle, *into)
        return row_ptr, col_idx[:self.vectors], values[:types.size(self.type, self.vectors * self.vec)]

    def strided_rows(self, order: int) -> int:
        """Rows of its elements in strides of ORDER slots (16 or 32)."""
        known = self.__dict__.setdefault("_rows", {})
        if order not in known:
            row_ptr = self.read()[0]
            known[order] = sum(-(-(b - a) // order) for a, b in zip(row_ptr, row_ptr[1:])) * self.vec
        return known[order]

    def set_values(self, values: Any, layout: str = "vectors", *, stream: int = 0) -> None:
        """New values for the same vectors, in place in what all plans of the matrix read.

        LAYOUT: how they lie: "vectors" [vectors, vec]; "rows" [rows, cols] or "columns" [cols, rows], of which the nonzero
        vectors' elements alone are read. From the host (vectors) or, on STREAM and without waiting, from the GPU. No
        execution of a plan of the matrix may overlap it on another stream."""
        found = arrays.view(values)
        arrays.check_dtype(found, self.type, "values")
        _on_device(found, self.context, "values")
        self.version += 1
        wanted = {"vectors": (self.vectors, self.vec), "rows": (self.rows, self.cols), "columns": (self.cols, self.rows)}
        if types.BYTES[self.type] == 0:
            wanted = {name: (rows, cols // 2) for name, (rows, cols) in wanted.items()}
        which = word(FROM, layout, "layout")
        if found.shape != wanted[layout] or not found.contiguous:
            raise ValueError(f"values are {found.shape}, must be {wanted[layout]} in C order")
        if found.device is None:
            if layout != "vectors":
                raise ValueError("from the host come vectors")
            mcrt.checked("mc_matrix_set_values", c_void_p, c_void_p, c_void_p)(self._handle, found.address, stream)
            return
        config = _values(from_=which, address=found.address)
        mcrt.checked("mc_matrix_set_device_values", c_void_p, c_void_p, c_void_p)(self._handle, byref(config), stream)

    def __del__(self):
        if getattr(self, "_handle", None):
            mcrt.function("mc_matrix_destroy", None, c_void_p)(self._handle)
            self._handle = None

    def __repr__(self):
        return f"Matrix({self.rows} x {self.cols}, {self.vectors} vectors of {self.vec}, {self.type!r})"


def _on_device(found, context, name, host=True):
    """ValueError where FOUND lies on another device than CONTEXT's; or, without HOST, on the host."""
    if not (found.device is None and host) and found.device not in (context, context.index) or \
            (found.device is None and not host):
        raise ValueError(f"{name} lies elsewhere than on {context.device}")


def _last(offsets):
    count = offsets.shape[0]
    return (ctypes.c_int32 * count).from_address(offsets.address)[count - 1]


__all__ = ["Matrix"]
