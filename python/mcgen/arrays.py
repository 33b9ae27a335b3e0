"""What is taken for an array: NumPy, PyTorch, DeviceArray, whatever has DLPack, and plain memory that can be written
(array.array, memoryview); and where it lies."""

import ctypes
import functools
import math
from typing import Any

from . import types
from ._library import Handle

_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_CUDA_HOST = 1, 2, 3


class View:
    """An array as its memory: `address`, on the host or on a GPU (`device`: None, or its number), `shape`, `strides` in
    elements (None: C order without gaps), the dtype's name, `owner`, which keeps it alive, and `readonly`."""

    __slots__ = ("address", "device", "shape", "strides", "dtype", "owner", "readonly")

    def __init__(self, address, device, shape, strides, dtype, owner, readonly=False):
        self.address, self.device, self.shape = address, device, tuple(shape)
        self.strides, self.dtype, self.owner, self.readonly = strides, dtype, owner, readonly

    @property
    def count(self) -> int:
        """Its elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Its bytes, by the dtype's name."""
        bits = int("".join(c for c in self.dtype.split("_")[0] if c.isdigit()) or 8)
        return self.count * bits // 8

    @property
    def contiguous(self) -> bool:
        """Whether elements lie in C order without gaps."""
        if self.strides is None:
            return True
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides)):
            if size > 1 and stride != step:
                return False
            step *= size
        return True


def _of_interface(array) -> View:
    about = array.__array_interface__
    dtype = array.dtype
    strides = about.get("strides")
    if strides is not None:
        strides = tuple(s // dtype.itemsize for s in strides)
    if not dtype.isnative:
        raise TypeError("an array of the other byte order cannot be taken")
    return View(about["data"][0], None, about["shape"], strides, dtype.name, array, about["data"][1])


def _of_tensor(tensor) -> View:
    device = tensor.device.index if tensor.device.type == "cuda" else None
    if tensor.device.type not in ("cpu", "cuda"):
        raise TypeError(f"a tensor on {tensor.device} cannot be taken")
    return View(tensor.data_ptr(), device, tensor.shape, tensor.stride(), str(tensor.dtype)[6:], tensor)


class _DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _DLDevice), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_DLPACK_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}


@functools.lru_cache(maxsize=None)
def _capsule_pointer():
    function = ctypes.pythonapi.PyCapsule_GetPointer
    function.restype, function.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return function


def _of_dlpack(array) -> View:
    capsule = array.__dlpack__()
    tensor = ctypes.cast(_capsule_pointer()(capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents
    if tensor.device.type not in (_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_CUDA_HOST) or tensor.lanes != 1:
        raise TypeError("an array on this kind of device, or of vectors, cannot be taken")
    shape = tensor.shape[:tensor.ndim]
    strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else None
    dtype = _DLPACK_CODES.get(tensor.code, "?") + str(tensor.bits)
    device = tensor.device.id if tensor.device.type == _DLPACK_CUDA else None
    return View((tensor.data or 0) + tensor.byte_offset, device, shape, strides, dtype, (array, capsule))


_BUFFER_CODES = {"b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32", "q": "int64",
                 "l": "int64", "e": "float16", "f": "float32", "d": "float64", "?": "bool"}


def _of_buffer(array) -> View:
    memory = memoryview(array)
    if not memory.c_contiguous or memory.readonly:
        raise ValueError("memory that can be written is wanted, in C order and without gaps")
    dtype = _BUFFER_CODES.get(memory.format, memory.format)
    address = ctypes.addressof((ctypes.c_char * memory.nbytes).from_buffer(memory)) if memory.nbytes else 0
    return View(address, None, memory.shape, None, dtype, memory)


def view(array: Any) -> View:
    """ARRAY's memory. Nothing is copied; the view keeps ARRAY alive."""
    if isinstance(array, View):
        return array
    if hasattr(array, "__mcgen_view__"):
        return array.__mcgen_view__()
    if hasattr(array, "data_ptr") and hasattr(array, "stride"):
        return _of_tensor(array)
    if hasattr(array, "__array_interface__"):
        return _of_interface(array)
    if hasattr(array, "__dlpack__"):
        return _of_dlpack(array)
    try:
        memoryview(array)
    except TypeError:
        pass
    else:
        return _of_buffer(array)
    raise TypeError(f"a {type(array).__name__} is no array: neither NumPy's, nor a tensor, nor has it DLPack or memory")


def check_dtype(found: View, element: str, name: str) -> None:
    """TypeError where FOUND has no elements of the type ELEMENT."""
    allowed = types.dtypes(element)
    if found.dtype not in allowed:
        raise TypeError(f"{name} has {found.dtype}, must be {' or '.join(allowed)} ({element})")


class DeviceArray(Handle):
    """Memory on a context's device with elements of one type, in C order.

    array.numpy() copies it to the host; array.write(other) fills it. It is freed with the last reference to it."""

    def __init__(self, context, shape, element):
        self.context, self.shape, self.type = context, tuple(shape), element
        self.bytes = types.size(element, math.prod(self.shape))
        self.address = context._allocate(self.bytes)

    def __mcgen_view__(self) -> View:
        return View(self.address, self.context, self.shape, None, types.dtypes(self.type)[0], self)

    def write(self, array: Any) -> "DeviceArray":
        """Copies ARRAY's bytes, which lie on the host in C order, to the device; waits until it is done."""
        found = view(array)
        if found.device is not None or not found.contiguous:
            raise ValueError("an array on the host is wanted, in C order and without gaps")
        check_dtype(found, self.type, "the array")
        if found.count * (types.BYTES[self.type] or 1) != self.bytes:
            raise ValueError(f"the array has {found.shape}, must have as many bytes as {self.shape} of {self.type}")
        self.context._write(self.address, found.address, self.bytes)
        return self

    def numpy(self) -> Any:
        """A copy on the host. Types that NumPy has not come as unsigned integers; of 4 bits two to a byte, flat."""
        import numpy

        packed = types.BYTES[self.type] == 0
        names = types.dtypes(self.type)
        dtype = names[-1] if self.type in ("bf16", "e4m3", "e5m2") else names[0]
        result = numpy.empty(self.bytes if packed else self.shape, dtype)
        self.context._read(self.address, result.__array_interface__["data"][0], self.bytes)
        return result

    def __del__(self):
        if getattr(self, "address", 0):
            self.context._free(self.address)
            self.address = 0

    def __repr__(self):
        return f"DeviceArray(shape={self.shape}, type={self.type!r}, device={self.context.device!r})"
