"""What PyTorch and the C library know alike: element types, devices, streams."""

import torch

from .context import Context, shared_context

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32,
          "tf32rz": torch.float32, "s8": torch.int8, "u8": torch.uint8, "s16": torch.int16, "s32": torch.int32,
          "s64": torch.int64, "s4": torch.uint8, "u4": torch.uint8, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
for _name in ("u16", "u32"):
    if hasattr(torch, f"uint{_name[1:]}"):
        DTYPES[_name] = getattr(torch, f"uint{_name[1:]}")
DTYPES["s12"], DTYPES["u12"] = torch.int16, DTYPES.get("u16", torch.int16)

# DLPack's code and bits.
DLPACK = {torch.float16: (2, 16), torch.bfloat16: (4, 16), torch.float32: (2, 32), torch.int8: (0, 8), torch.uint8: (1, 8),
           torch.int16: (0, 16), torch.int32: (0, 32), torch.int64: (0, 64), torch.float8_e4m3fn: (10, 8),
           torch.float8_e5m2: (12, 8)}
DLPACK.update({getattr(torch, f"uint{b}"): (1, b) for b in (16, 32) if hasattr(torch, f"uint{b}")})


def context_of(device: torch.device | str) -> Context:
    """The shared context for tensors on DEVICE."""
    device = torch.device(device)
    if device.type == "cpu":
        return shared_context("sim")
    index = torch.cuda.current_device() if device.index is None else device.index
    return shared_context(f"cuda:{index}")


raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", lambda index: 0)


def stream_of(device: torch.device) -> int:
    """PyTorch's current stream on DEVICE; 0: a CPU has none."""
    return raw_stream(device.index) if device.type == "cuda" else 0


# Says that a tensor was written to, as in-place operations do.
changed = getattr(torch.autograd.graph, "increment_version", lambda tensor: None)
