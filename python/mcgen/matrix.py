"""Sparse matrices of V x 1 nonzero vectors."""

import ctypes
from array import array
from ctypes import byref, c_bool, c_int, c_int64, c_uint64, c_void_p
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
_device = record("mc_device_matrix_config", ("type", c_int), ("vec", c_int), ("rows", c_int64), ("cols", c_int64),
                 ("row_ptr", c_uint64), ("col_idx", c_uint64), ("values", c_uint64), ("patterns", c_int64))
_csr = record("mc_csr_config", ("type", c_int), ("rows", c_int64), ("cols", c_int64), ("nonzeros", c_int64),
              ("row_ptr", c_uint64), ("col_idx", c_uint64), ("values", c_uint64))
_info = record("mc_matrix_info", ("type", c_int), ("vec", c_int), ("rows", c_int64), ("cols", c_int64),
               ("vectors", c_int64), ("device_bytes", c_int64), ("borrowed", c_bool))
_values = record("mc_device_values", ("from_", c_int), ("address", c_uint64), ("ld", c_int64))

FROM = {"vectors": 0, "rows": 1, "columns": 2}


class _Bcrs:
    """Arrays of a matrix in BCRS, all on the host or all on a GPU (`device`: None, or as a View has it)."""

    def __init__(self, rows, vec, row_ptr, col_idx, values, element):
        self.offsets, self.columns = _indices(row_ptr, "row_ptr"), _indices(col_idx, "col_idx")
        self.values = _whole(values, "values") if values is not None else None
        self.device = self.offsets.device
        for name, found in (("col_idx", self.columns), ("values", self.values)):
            if found is not None and found.device != self.device:
                raise ValueError(f"{name} lies elsewhere than row_ptr")
        if rows < 0 or vec < 1:
            raise ValueError(f"rows is {rows} and vec {vec}: a matrix has 0 rows or more, and vectors of 1 or more")
        if self.offsets.shape[0] != rows // vec + 1:
            raise ValueError(f"row_ptr has {self.offsets.shape[0]} elements, must have {rows // vec + 1}")
        self.count = self.columns.shape[0]
        self.type = element or (types.of_dtype(self.values.dtype) if self.values else "f32")
        if self.values is not None:
            arrays.check_dtype(self.values, self.type, "values")
            if self.values.count * (2 if types.BYTES[self.type] == 0 else 1) != self.count * vec:
                raise ValueError(f"values has {self.values.shape}, must be {self.count} vectors of {vec}")

    def addresses(self, none=None):
        """Members of a configuration. NONE: the address of values that are not there."""
        return dict(row_ptr=self.offsets.address, col_idx=self.columns.address,
                    values=self.values.address if self.values else none)


def _whole(array, name):
    found = arrays.view(array)
    if not found.contiguous:
        raise ValueError(f"{name} must lie in C order and without gaps")
    return found


def _indices(array, name):
    found = _whole(array, name)
    if found.dtype != "int32" or len(found.shape) != 1:
        raise TypeError(f"{name} has {found.dtype} in {len(found.shape)} dimensions, must be a vector of int32")
    return found


class Matrix(Handle):
    """A matrix of `vec` x 1 nonzero vectors on a context's device: row blocks of `vec` rows, each with the columns where
    it has vectors. Make one by Matrix.from_dense, Matrix.from_bcrs or
    Matrix.borrow.

    rows, cols, vectors, vec, type   its shape, its vectors, what its elements are
    """

    def __init__(self, handle, context):
        self._handle, self.context, self.version, self.patterns = handle, context, 0, 0
        found = self._ask()
        self.rows, self.cols, self.vectors, self.vec = found.rows, found.cols, found.vectors, found.vec
        self.type = types.NAMES[found.type]

    def _ask(self):
        found = _info()
        mcrt.checked("mc_matrix_get_info", c_void_p, c_void_p)(self._handle, byref(found))
        return found

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
                  type: str | None = None, patterns: int = 0, span: int = 0, context: Context | None = None,
                  stream: int = 0) -> "Matrix":
        """A matrix in BCRS: ROW_PTR [rows / vec + 1] and COL_IDX [vectors] of int32 say where each row block has vectors,
        in ascending order; VALUES [vectors, vec] are theirs (None: zeros, for a mask). With a VEC of 1 that is CSR.
        All lie on the host, or all on the context's GPU, where they are copied and checked by work that is put on STREAM
        and waited for. PATTERNS: the matrix has so many, one for each product of a batch (mcrt.h). SPAN, on the host: as
        from_dense has it."""
        given = _Bcrs(rows, vec, row_ptr, col_idx, values, type)
        context = context or shared_context()
        shape = dict(type=types.VALUES[given.type], vec=vec, rows=rows, cols=cols, patterns=patterns)
        last = _last(given.offsets, context, stream)
        if given.count < last:
            raise ValueError(f"col_idx has {given.count} elements, row_ptr counts {last}")
        if given.device is None:
            made = cls._make("mc_matrix_create", context, _config(span=span, **shape, **given.addresses()))
        elif span:
            raise ValueError("a span goes with a matrix on the host")
        else:
            made = cls._make("mc_matrix_from_device", context, _device(**shape, **given.addresses(0)), stream)
        made.patterns = patterns
        return made

    @classmethod
    def borrow(cls, rows: int, cols: int, row_ptr: Any, col_idx: Any, values: Any, *, type: str | None = None,
               context: Context | None = None) -> "Matrix":
        """A matrix that reads CSR where it lies on the context's GPU: nothing is copied, launched, waited for, or checked
        of what the arrays hold. ROW_PTR [rows + 1] and COL_IDX [nonzeros] of int32, columns in ascending order inside a
        row; VALUES [nonzeros] of float32, float16 or bfloat16. The matrix keeps the arrays alive; executions read what
        they hold by then.

        Its plans are of the spmm, by kernels that take CSR as it comes (docs/unstructured.md, "A first call without
        conversion"). Once `settle` has been called, plans that are made are as those of any other matrix."""
        given = _Bcrs(rows, 1, row_ptr, col_idx, values, type)
        context = context or shared_context()
        for name, found in (("row_ptr", given.offsets), ("col_idx", given.columns), ("values", given.values)):
            if found is None:
                raise ValueError("values are wanted: they are read where they lie")
            _on_device(found, context, name, host=False)
        made = cls._make("mc_matrix_borrow", context, _csr(type=types.VALUES[given.type], rows=rows, cols=cols,
                                                           nonzeros=given.count, **given.addresses()))
        made._lent = given  # plans that are there go on reading these arrays
        return made

    @property
    def borrowed(self) -> bool:
        """Whether it reads the arrays that `borrow` was given, and `settle` has not been called."""
        return self._ask().borrowed

    def settle(self, *, stream: int = 0) -> None:
        """Makes a borrowed matrix one of copies, as from_bcrs makes it of the same arrays, by work that is put on STREAM
        and waited for; another thread may do so. Plans that are there go on as they were. Error, and the matrix stays
        borrowed, where the arrays are no matrix. Of any other matrix nothing is done."""
        mcrt.checked("mc_matrix_settle", c_void_p, c_void_p)(self._handle, stream)

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


def _last(offsets, context, stream):
    """The last element of OFFSETS, which lie on the host or on CONTEXT's GPU."""
    at, last = offsets.address + 4 * (offsets.shape[0] - 1), ctypes.c_int32()
    if offsets.device is None:
        return ctypes.c_int32.from_address(at).value
    _on_device(offsets, context, "row_ptr")
    context.synchronize(stream)
    context._read(at, byref(last), 4)
    return last.value


__all__ = ["Matrix"]
