"""Modules of PyTorch whose weights are sparse: SparseLinear, SparseMLP, and attention under a mask.

Weights are made of `vec` x 1 vectors: `vec` neighbouring outputs share the inputs that they read. Tensors on a GPU take our
kernels there, tensors on the CPU the simulator."""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from . import torch as _ops
from .gradient import as_given, gradients_of
from .matrix import Matrix
from .tensors import stream_of

_FLOATS = {torch.float16: "f16", torch.bfloat16: "bf16"}


def vector_mask(weight: torch.Tensor, sparsity: float, vec: int = 8) -> torch.Tensor:
    """Where WEIGHT [rows, cols] keeps its vectors of VEC x 1 with the greatest sums of magnitudes, so that SPARSITY of them
    are zero: a bool tensor of WEIGHT's shape."""
    rows, cols = weight.shape
    if rows % vec:
        raise ValueError(f"{rows} rows are no multiple of {vec}")
    if not 0 <= sparsity <= 1:
        raise ValueError(f"sparsity is {sparsity}, must be 0 to 1")
    scores = weight.detach().abs().float().reshape(rows // vec, vec, cols).sum(1)
    keep = scores.numel() - round(sparsity * scores.numel())
    mask = torch.zeros(scores.numel(), dtype=torch.bool, device=weight.device)
    mask[scores.flatten().topk(keep).indices] = True
    return mask.reshape(scores.shape).repeat_interleave(vec, 0)


def _bcrs(mask, vec):
    """row_ptr, col_idx and the places [vectors] of MASK's vectors, block by block."""
    blocks = mask.reshape(mask.shape[0] // vec, vec, mask.shape[1]).any(1)
    row, col = blocks.nonzero(as_tuple=True)
    row_ptr = torch.zeros(blocks.shape[0] + 1, dtype=torch.int32, device=mask.device)
    row_ptr[1:] = blocks.sum(1).cumsum(0)
    return row_ptr, col.to(torch.int32), row


def _vectors(weight, row, col, vec):
    """WEIGHT's vectors [vectors, vec] at row blocks ROW and columns COL."""
    return weight.reshape(weight.shape[0] // vec, vec, weight.shape[1])[row, :, col].contiguous()


_MOST = {"s8": 127, "s4": 7}


def _pair(values):
    """Elements of 4 bits, two to a byte, the first in its low half."""
    return ((values[:, 0::2] & 15) | (values[:, 1::2] << 4)).to(torch.uint8)


def _unpair(pairs):
    signed = pairs.view(torch.int8)
    return torch.stack((signed << 4 >> 4, signed >> 4), 2).reshape(pairs.shape[0], 2 * pairs.shape[1])


def _identity(values):
    """What a later _is_still compares VALUES with; None: nobody can."""
    return None if values.is_inference() else (weakref.ref(values), values.data_ptr(), values._version)


def _is_still(values, before) -> bool:
    """Whether VALUES are those of BEFORE, and nobody wrote to them."""
    return before is not None and before[0]() is values and before[1:] == (values.data_ptr(), values._version)


class _Kernels:
    """What a SparseLinear has on one device: its matrix and the families of its steps."""

    def __init__(self, layer):
        values = layer.values.detach()
        self.context = _ops.context_of(values.device)
        self.kind, self.layer = layer.weight_type, weakref.ref(layer)
        self.matrix = self._matrix(layer, self.kind, values)
        self.packed = _identity(layer.values)
        shapes = dict(shapes=layer.shapes)
        self.members = dict(c_major="column", bias="row" if layer.bias is not None else "none", **shapes)
        if self.kind in _MOST:
            out = _FLOATS[layer.activations]
            self.quantise = _ops.Family("quantise", context=self.context, lhs=out, out="s8", scale="row", computed=True,
                                        **shapes)
            self.members.update(rhs="s8", out=out, scale="row", b_scale="column")
            self.forward = _ops.Family("spmm", self.matrix, **self.members)
            self.wide, self.chosen = None, {}
            return
        self.members.update(rhs=self.kind, out=self.kind, b_major="column")
        self.forward = _ops.Family("spmm", self.matrix, **self.members)
        same = dict(lhs=self.kind, rhs=self.kind, out=self.kind, **shapes)
        self.to_input = _ops.Family("spmmt", self.matrix, **same)
        self.to_values = _ops.Family("sddmm", self.matrix, order="bcrs", **same)
        # compiled and trained: the values are an operand, so that PyTorch sees what becomes of them
        self.given = _ops.Family("spmm", self.matrix, given_values=True, **self.members)
        gradients_of(self.given)

    def _matrix(self, layer, kind, values):
        host = [t.detach().cpu().contiguous() for t in (layer.row_ptr, layer.col_idx, values)]
        return Matrix.from_bcrs(layer.out_features, layer.in_features, *host, layer.vec, type=kind, context=self.context)

    def take_values(self, values, always, tokens):
        """New VALUES of the layer go into the packed matrix: ALWAYS, or where PyTorch knows that they changed. It does not
        know of what is done to a tensor's .data. TOKENS: of the call, whose plan has to be there before."""
        if not always and not values.is_inference() and _is_still(values, self.packed):
            return
        values, packed = values.detach(), _identity(values)
        self.product(tokens).plan((tokens, 0))
        self._put(self.forward, values)
        if self.kind == "s4" and self.wide is not None:
            self._put(self.wide, _unpair(values).contiguous())
        self.packed = packed

    @staticmethod
    def _put(family, values):
        """VALUES become those of FAMILY's matrix: on the device where plans have packed it, else on the host."""
        family.matrix.set_values(values if family.plans else values.cpu(), stream=stream_of(values.device))

    def product(self, tokens):
        """The family that multiplies weights of integers by TOKENS tokens: of 4 bits as they are or, where that is faster,
        as 8 bits. Compiled code takes what was chosen before."""
        if self.kind != "s4":
            return self.forward
        if tokens not in self.chosen and not torch.compiler.is_compiling():
            self.chosen[tokens] = self._faster(tokens)
        return self.chosen.get(tokens, self.forward)

    def widen(self):
        """The family of the same weights in 8 bits."""
        if self.wide is None:
            layer = self.layer()
            self.wide = _ops.Family("spmm", self._matrix(layer, "s8", _unpair(layer.values.detach())), **self.members)
        return self.wide

    def _faster(self, tokens):
        both, sizes = (self.forward, self.widen()), (tokens, 0)
        times = [family.plan(sizes).info()["microseconds"] or float("inf") for family in both]
        taken = times[1] < times[0]
        both[not taken].drop(sizes)
        return both[taken]


class _Product(torch.autograd.Function):
    """y = x W^T + bias for x [tokens, inputs], and its gradients: dx = dy W by spmmt, dW where W has vectors by sddmm."""

    @staticmethod
    def forward(context, x, values, bias, kernels):
        context.save_for_backward(x, values)
        context.kernels, context.has_bias = kernels, bias is not None
        return _forward_float(kernels, x, bias)

    @staticmethod
    @once_differentiable
    def backward(context, dy):
        x, values = context.saved_tensors
        kernels, turned = context.kernels, dy.t().contiguous()
        dx = d_values = d_bias = None
        if context.needs_input_grad[0]:
            dx = torch.ops.mcgen.spmmt(values.detach(), turned, kernels.to_input.key).t()
        if context.needs_input_grad[1]:
            d_values = torch.ops.mcgen.sddmm(turned, x.t().contiguous(), kernels.to_values.key)
            d_values = d_values.reshape(values.shape)
        if context.has_bias and context.needs_input_grad[2]:
            d_bias = dy.float().sum(0)
        return dx, d_values, d_bias, None


class _NoGradient(torch.autograd.Function):
    """y, which was computed of x by integers: backward fails."""

    @staticmethod
    def forward(context, x, bias, y):
        return y.view_as(y)

    @staticmethod
    def backward(context, dy):
        raise RuntimeError("a SparseLinear with weights of integers has no gradient")


def _forward_float(kernels, x, bias):
    if torch.compiler.is_compiling():
        return torch.ops.mcgen.spmm(x, kernels.forward.key, bias=bias)
    return kernels.forward.execute([x] if bias is None else [x, bias.detach()])[0]


class SparseLinear(nn.Module):
    """y = x W^T + bias, with a W of VEC x 1 vectors.

    Make one by SparseLinear.from_linear. x is [..., in_features], y [..., out_features], token by token as of nn.Linear.
    Parameters and buffers: values [vectors, vec] (of s4 [vectors, vec / 2], two to a byte), row_ptr [out_features / vec + 1]
    and col_idx [vectors] (BCRS), bias, f32 [out_features], and of a weight of integers weight_scale, f32 [out_features].

    A weight of f16 or bf16 is trained as any other: its gradient is that of its vectors. One of s8 or s4 multiplies
    activations that are quantised to s8 on the way, with a scale for each token, and has no gradient: backward through it fails.

    x may have another type than the weight: it is cast, and y back. Values of f32 are refused: keep the layer in f16 or bf16.
    Before torch.compile or torch.export, and before a CUDA graph is captured, run the layer once with each number of
    tokens that there will be."""

    def __init__(self, in_features: int, out_features: int, row_ptr: torch.Tensor, col_idx: torch.Tensor, values: torch.Tensor,
                 bias: torch.Tensor | None = None, weight_scale: torch.Tensor | None = None, *, vec: int = 8,
                 activations: torch.dtype = torch.float16, shapes: str = "fixed") -> None:
        super().__init__()
        self.shapes = shapes
        self.in_features, self.out_features, self.vec, self.activations = in_features, out_features, vec, activations
        self.register_buffer("row_ptr", row_ptr)
        self.register_buffer("col_idx", col_idx)
        if weight_scale is None:
            self.values = nn.Parameter(values)
        else:
            self.register_buffer("values", values)
        self.register_buffer("weight_scale", weight_scale)
        self.bias = nn.Parameter(bias.detach().float(), weight_scale is None) if bias is not None else None
        self._kernels = None

    @classmethod
    def from_linear(cls, linear: nn.Linear, mask: torch.Tensor | None = None, *, sparsity: float | None = None, vec: int = 8,
                    weight: str | None = None, activations: torch.dtype | None = None, shapes: str = "fixed") -> "SparseLinear":
        """A sparse layer of LINEAR's weight, where MASK, a bool tensor of its shape, is true; or where the greatest vectors
        are, SPARSITY of them being left out; or where the weight is not zero.

        WEIGHT: "f16", "bf16", or "s8" or "s4" (rounded, with a scale for each output; s4 wants a VEC from 2 on); None:
        LINEAR's type, f16 of an f32. ACTIVATIONS: of a weight of integers, the dtype of x and y; None: LINEAR's, f16 of an f32.
        SHAPES: "fixed", a kernel made for each number of tokens (compiled when it comes first, then on disk), or "open", one
        that takes any."""
        dense = linear.weight.detach()
        if mask is None:
            mask = vector_mask(dense, sparsity, vec) if sparsity is not None else dense != 0
        if mask.shape != dense.shape or dense.shape[0] % vec:
            raise ValueError(f"the mask is {tuple(mask.shape)}, must be {tuple(dense.shape)}, rows a multiple of {vec}")
        row_ptr, col_idx, row = _bcrs(mask, vec)
        values = _vectors(torch.where(mask, dense, torch.zeros_like(dense)), row, col_idx.long(), vec)
        own = dense.dtype if dense.dtype in _FLOATS else torch.float16
        scale = None
        if weight in _MOST:
            largest = torch.where(mask, dense, torch.zeros_like(dense)).abs().float().amax(1)
            most = _MOST[weight]
            scale = torch.where(largest > 0, largest / most, torch.ones_like(largest))
            values = (values.float() / scale.reshape(-1, vec)[row]).round().clamp(-most, most).to(torch.int8)
            values = values if weight == "s8" else _pair(values)
        elif weight in (None, "f16", "bf16"):
            values = values.to({None: own, "f16": torch.float16, "bf16": torch.bfloat16}[weight])
        else:
            raise ValueError(f"weight is {weight!r}, must be 'f16', 'bf16', 's8' or 's4'")
        return cls(linear.in_features, linear.out_features, row_ptr, col_idx, values,
                   linear.bias.detach() if linear.bias is not None else None, scale, vec=vec,
                   activations=activations or (own if scale is not None else values.dtype), shapes=shapes)

    @property
    def weight_type(self) -> str:
        """f16, bf16, s8 or s4."""
        return _FLOATS.get(self.values.dtype, "s8" if self.values.shape[1] == self.vec else "s4")

    @property
    def sparsity(self) -> float:
        """The part of vectors that are zero."""
        return 1 - self.values.shape[0] * self.vec / (self.in_features * self.out_features)

    def to_dense(self) -> torch.Tensor:
        """W [out_features, in_features]: of s8, its integers times their scales, in f32."""
        counts = (self.row_ptr[1:] - self.row_ptr[:-1]).long()
        row = torch.repeat_interleave(torch.arange(counts.numel(), device=counts.device), counts)
        values = self.values.detach()
        if values.shape[1] != self.vec:
            values = _unpair(values)
        if self.weight_scale is not None:
            values = values.float() * self.weight_scale.reshape(-1, self.vec)[row]
        blocks = values.new_zeros(counts.numel(), self.vec, self.in_features)
        blocks[row, :, self.col_idx.long()] = values
        return blocks.reshape(self.out_features, self.in_features)

    def prepare(self) -> "_Kernels":
        """Makes what the layer needs on its device, if it is not there."""
        if self._kernels is None:
            self._kernels = _Kernels(self)
        return self._kernels

    def tune(self, tokens: int, **options: Any) -> dict[str, Any]:
        """Measures kernels for TOKENS tokens (mcgen.Problem.tune), and takes the fastest from then on."""
        kernels, sizes = self.prepare(), (tokens, 0)
        result = kernels.forward.tune(sizes, **options)
        if kernels.kind == "s4":
            kernels.chosen.pop(tokens, None)
            wide = kernels.widen().tune(sizes, **options)
            result = min(result, wide, key=lambda r: r["microseconds"] or float("inf"))
        return result

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kernels = self._kernels if self._kernels is not None else self.prepare()
        if x.shape[-1] != self.in_features:
            raise ValueError(f"x is {tuple(x.shape)}, must have {self.in_features} features")
        own = self.activations if self.weight_scale is not None else self.values.dtype
        if x.numel() == 0:
            return (x.sum() + self.values.sum() * 0).to(x.dtype).expand(*x.shape[:-1], self.out_features)
        tokens = x.reshape(-1, self.in_features).to(own).contiguous().resolve_neg()
        if self.weight_scale is not None:
            y = self._forward_integer(kernels, tokens)
        else:
            y = self._forward_float(kernels, tokens)
        y = y.reshape(*x.shape[:-1], self.out_features)
        return y if x.dtype == own or torch.is_autocast_enabled(x.device.type) else y.to(x.dtype)

    def _forward_integer(self, kernels, x):
        bias = self.bias.detach() if self.bias is not None else None
        if torch.compiler.is_compiling():
            q, scales, _ = torch.ops.mcgen.quantise(x.detach(), kernels.quantise.key)
            key = kernels.product(x.shape[0]).key
            y = torch.ops.mcgen.spmm(q, key, scale=self.weight_scale, bias=bias, b_scale=scales.reshape(-1))
        else:
            kernels.take_values(self.values, False, x.shape[0])
            q, scales = kernels.quantise.execute([x.detach()])
            scales = scales.reshape(-1)
            values = [q, self.weight_scale, scales] if bias is None else [q, self.weight_scale, bias, scales]
            y = kernels.product(x.shape[0]).execute(values)[0]
        learns = x.requires_grad or (self.bias is not None and self.bias.requires_grad)
        return _NoGradient.apply(x, self.bias, y) if torch.is_grad_enabled() and learns else y

    def _forward_float(self, kernels, x):
        learns = torch.is_grad_enabled() and (x.requires_grad or self.values.requires_grad or
                                              (self.bias is not None and self.bias.requires_grad))
        if torch.compiler.is_compiling():
            if not learns:
                return _forward_float(kernels, x, self.bias)
            values = as_given(self.values, kernels.given)
            return torch.ops.mcgen.spmm(x, kernels.given.key, values=values, bias=self.bias)
        kernels.take_values(self.values, self.training and torch.is_grad_enabled(), x.shape[0])
        if learns:
            return _Product.apply(x, self.values, self.bias, kernels)
        return _forward_float(kernels, x, self.bias)

    def train(self, mode: bool = True) -> "SparseLinear":
        if self._kernels is not None:
            self._kernels.packed = None  # values may have been written through .data
        return super().train(mode)

    def _apply(self, function, recurse=True):
        """Bias and scales stay f32, and keep their bits, whatever type the layer gets."""
        self._kernels = None
        kept = {name: t.detach().clone() for name, t in (("bias", self.bias), ("weight_scale", self.weight_scale))
                if t is not None}
        super()._apply(function, recurse)
        for name, before in kept.items():
            now = getattr(self, name)
            if now.dtype != torch.float32:
                now.data = before.to(now.device)
        if self.weight_scale is not None and function(torch.empty(0)).dtype in _FLOATS:
            self.activations = function(torch.empty(0)).dtype
        return self

    def _load_from_state_dict(self, *args, **kwargs):
        self._kernels = None
        super()._load_from_state_dict(*args, **kwargs)

    def __getstate__(self):
        return {**self.__dict__, "_kernels": None}

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}, "
                f"weight={self.weight_type}, vec={self.vec}, sparsity={self.sparsity:.3f}")


class SparseMLP(nn.Module):
    """down(activation(up(x))) with two SparseLinear and an activation of PyTorch."""

    def __init__(self, up: nn.Module, down: nn.Module,
                 activation: Callable[[torch.Tensor], torch.Tensor] = nn.functional.relu) -> None:
        super().__init__()
        self.up, self.down, self.activation = up, down, activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.activation(self.up(x)))


class AttentionMask:
    """Which keys each query attends to: a bool tensor [queries, keys], of which VEC neighbouring queries share theirs (any
    of a group's is all's). For queries, keys and values of f16 or bf16 on DEVICE. Made once, used in every call."""

    def __init__(self, mask: torch.Tensor, *, vec: int = 8, dtype: torch.dtype = torch.float16,
                 device: torch.device | str | None = None) -> None:
        kind = _FLOATS[dtype]
        context = _ops.context_of(device or mask.device)
        if mask.shape[0] % vec:
            raise ValueError(f"{mask.shape[0]} queries are no multiple of {vec}")
        row_ptr, col_idx, _ = _bcrs(mask.cpu(), vec)
        self.shape, self.dtype = tuple(mask.shape), dtype
        self.matrix = Matrix.from_bcrs(*mask.shape, row_ptr, col_idx, None, vec, type=kind, context=context)
        self.scores = _ops.Family("sddmm", self.matrix, lhs=kind, rhs=kind, out=kind, order="srbcrs32")
        self.weights = _ops.Family("softmax", self.matrix, lhs=kind, out=kind, order="srbcrs32", scale="tensor",
                                   exp="approx" if not context.is_simulator else "polynomial")
        self.mix = _ops.Family("spmm", self.matrix, rhs=kind, out=kind, given_values=True)


def sparse_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: AttentionMask,
                     scale: float | None = None) -> torch.Tensor:
    """softmax(scale * q k^T) v where MASK, an AttentionMask, has keys; a query without any gives zeros. q is [..., queries,
    depth], k and v [..., keys, depth]; scale: 1 / sqrt(depth). Differentiable in q, k and v."""
    queries, keys = mask.shape
    if q.shape[-2] != queries or k.shape[-2] != keys or v.shape[-2] != keys:
        raise ValueError(f"q, k, v are of {q.shape[-2]}, {k.shape[-2]}, {v.shape[-2]}; the mask is {queries} x {keys}")
    if q.shape[-1] != k.shape[-1] or not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(f"q, k and v are {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}")
    batch, depth = q.shape[:-2], q.shape[-1]
    flat = [t.reshape(-1, *t.shape[-2:]).contiguous() for t in (q, k, v)]
    if flat[0].shape[0] == 1:
        flat = [t[0] for t in flat]
    s = torch.ops.mcgen.sddmm(flat[0], flat[1], mask.scores.key)
    p, _ = torch.ops.mcgen.softmax(s, mask.weights.key, scale_value=depth ** -0.5 if scale is None else scale)
    y = torch.ops.mcgen.spmm(flat[2], mask.mix.key, values=p)
    return y.reshape(*batch, queries, v.shape[-1])


__all__ = ["AttentionMask", "SparseLinear", "SparseMLP", "sparse_attention", "vector_mask"]
