"""Element types, and which arrays hold elements of them."""

from ._library import description

VALUES = {row["name"]: row["value"] for row in description()["types"]}
"""Each type's number in C, by its name: "s8", "f16" ..."""

NAMES = {row["value"]: row["name"] for row in description()["types"]}
BITS = {row["name"]: row["bits"] for row in description()["types"]}
BYTES = {row["name"]: row["bytes"] for row in description()["types"]}
"""Bytes of an element; 0: two of them share a byte, the one of the lower index in its low half."""


def held(name: str, count: int) -> int:
    """How many elements an array has that holds COUNT of the type NAME: two of 4 bits are one byte."""
    return (count + 1) // 2 if BYTES[name] == 0 else count


def size(name: str, count: int) -> int:
    """Bytes of COUNT elements."""
    return held(name, count) * (BYTES[name] or 1)


_SPECIAL = {"bf16": ("bfloat16", "uint16"), "e4m3": ("float8_e4m3fn", "uint8"), "e5m2": ("float8_e5m2", "uint8"),
            "s4": ("uint8", "int8"), "u4": ("uint8",), "tf32": ("float32",), "tf32rz": ("float32",),
            "s12": ("int16",), "u12": ("uint16",)}
_WORDS = {"s": "int", "u": "uint", "f": "float"}


def dtypes(name: str) -> tuple:
    """Names of the dtypes, of NumPy or PyTorch, that an array of such elements may have."""
    return _SPECIAL.get(name) or (_WORDS[name[0]] + name[1:],)


def of_dtype(dtype) -> str:
    """The element type of a dtype of NumPy or PyTorch."""
    text = str(dtype).replace("torch.", "")
    for name in VALUES:
        if dtypes(name)[0] == text and name not in ("tf32", "tf32rz", "s4", "u4", "s12", "u12"):
            return name
    raise TypeError(f"no element type is {text}")
