"""Whole models of PyTorch: weights pruned in vectors, and layers replaced where that is faster."""

import dataclasses
import fnmatch
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from . import nn as sparse


def _layers(model, keep, vec):
    """The nn.Linear of MODEL by their names: those whose rows are whole vectors, and that no pattern of KEEP names."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and not any(fnmatch.fnmatchcase(name, k) for k in keep):
            if module.out_features % vec == 0:
                yield name, module


def prune(model: nn.Module, sparsity: float = 0.9, *, vec: int = 8, keep: Sequence[str] = ()) -> dict[str, torch.Tensor]:
    """Sets SPARSITY of the VEC x 1 vectors of each nn.Linear's weight to zero, those with the least sums of magnitudes, in
    place. KEEP: names, or patterns such as "head.*", of layers that stay as they are; so do those whose outputs are no
    multiple of VEC. Returns the masks (bool tensors) by the layers' names."""
    masks = {}
    with torch.no_grad():
        for name, layer in _layers(model, keep, vec):
            masks[name] = sparse.vector_mask(layer.weight, sparsity, vec)
            layer.weight.mul_(masks[name])
    return masks


class GradualPruning:
    """Prunes while a model is trained: from sparsity START to END over STEPS calls of step(), one after each step of the
    optimiser, with new masks every EVERY of them; the sparsity follows a cubic curve, steep at first (Zhu and Gupta, "To
    prune, or not to prune", 2017). Weights outside of the masks are held at zero. vec, keep: as of prune."""

    def __init__(self, model: nn.Module, end: float = 0.9, *, steps: int, start: float = 0.0, every: int = 10, vec: int = 8,
                 keep: Sequence[str] = ()) -> None:
        if not 0 <= start <= end <= 1 or steps < 1 or every < 1:
            raise ValueError("0 <= start <= end <= 1, steps and every from 1 on")
        self.model, self.start, self.end, self.steps, self.every = model, start, end, steps, every
        self.vec, self.keep, self.count, self.masks = vec, tuple(keep), 0, {}

    def sparsity(self, count: int) -> float:
        """That after COUNT steps."""
        left = 1 - min(count, self.steps) / self.steps
        return self.end + (self.start - self.end) * left ** 3

    def step(self) -> None:
        """Zeroes what is outside of the masks, which are new ones every few calls until all steps are done."""
        if self.count % self.every == 0 and self.count < self.steps or self.count == self.steps:
            self.masks = prune(self.model, self.sparsity(self.count), vec=self.vec, keep=self.keep)
        else:
            with torch.no_grad():
                for name, mask in self.masks.items():
                    self.model.get_submodule(name).weight.mul_(mask)
        self.count += 1


@dataclasses.dataclass
class Report:
    """What convert made of a layer: times in microseconds, of `tokens` tokens, in CUDA graphs (None: on a CPU nothing is
    timed); `error` is |sparse - pruned dense| / |pruned dense| of the outputs; `taken`: it was replaced."""

    name: str
    shape: tuple
    sparsity: float
    tokens: int
    dense: float | None
    sparse: float | None
    error: float | None
    taken: bool
    reason: str

    def __str__(self):
        times = f"{self.dense:8.1f} {self.sparse:8.1f} us  {self.dense / self.sparse:5.2f}x" if self.sparse else " " * 26
        error = f"{self.error:.1e}" if self.error is not None else " " * 7
        return (f"{self.name:30} {self.shape[0]:6} x {self.shape[1]:<6} {self.sparsity:5.2f} zero {self.tokens:6} tokens "
                f"{times}  {error}  {'sparse' if self.taken else 'dense'}: {self.reason}")


def _run(model, example):
    with torch.no_grad():
        return model(*example) if isinstance(example, tuple) else model(example)


def _replace(model, layer, made):
    """Every place where MODEL has LAYER gets MADE."""
    for parent in list(model.modules()):
        for child, module in list(parent._modules.items()):
            if module is layer:
                parent._modules[child] = made


def _inputs(model, example, names):
    """What the layers NAMES get when MODEL is called with EXAMPLE, a tensor or a tuple of arguments."""
    found, hooks = {}, []
    for name in names:
        def keep(module, arguments, named, name=name):
            found.setdefault(name, (arguments[0] if arguments else named["input"]).detach())

        hooks.append(model.get_submodule(name).register_forward_pre_hook(keep, with_kwargs=True))
    try:
        _run(model, example)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def graph_time(function: Callable[[torch.Tensor], object], x: torch.Tensor, calls: int = 10, rounds: int = 9) -> float:
    """Microseconds of FUNCTION(X) in a CUDA graph of CALLS: the median of ROUNDS."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        function(x)
    stream.synchronize()
    graph, times = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for _ in range(calls):
            function(x)
    for _ in range(2 + rounds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000 / calls)
    return statistics.median(times[2:])


def _try_layer(name, layer, x, vec, weight, tune, faster_by) -> tuple:
    """The sparse layer, and what is to be said of it."""
    made = sparse.SparseLinear.from_linear(layer, vec=vec, weight=weight)
    tokens = x.reshape(-1, layer.in_features).shape[0]
    x = x.to(made.activations).reshape(tokens, -1).contiguous()
    half = nn.Linear(layer.in_features, layer.out_features, layer.bias is not None).to(layer.weight.device, x.dtype)
    half.load_state_dict({k: v.to(x.dtype) for k, v in layer.state_dict().items()})
    with torch.no_grad():
        if tune:
            made.tune(tokens)
        want = half(x).double()
        error = ((made(x).double() - want).norm() / want.norm().clamp(min=1e-30)).item()
        times = (graph_time(half, x), graph_time(made, x)) if x.is_cuda else (None, None)
    faster = times[0] is None or times[0] >= faster_by * times[1]
    reason = "not timed on a CPU" if times[0] is None else "faster" if faster else "not faster"
    return made, Report(name, tuple(layer.weight.shape), made.sparsity, tokens, *times, error, faster, reason)


def convert(model: nn.Module, example: Any, *, vec: int = 8, weight: str | None = None, keep: Sequence[str] = (),
            tune: bool = False, least_sparsity: float = 0.5, faster_by: float = 1.0) -> list[Report]:
    """Replaces each pruned nn.Linear of MODEL by a SparseLinear where that is faster, in place, and returns a Report of each.

    EXAMPLE: what the model is called with (a tensor, or a tuple of arguments), of the number of tokens that it will have.
    WEIGHT: as of SparseLinear.from_linear. TUNE: kernels are measured first, seconds a layer. A layer with fewer zero
    vectors than LEAST_SPARSITY stays dense, and one that is not FASTER_BY times as fast. Layers of f32 are compared, and
    replaced, in f16: a SparseLinear casts its input, and its output back. After each replacement the model is run on EXAMPLE;
    where that fails the layer stays dense, and the report says why. KEEP: as of prune."""
    if isinstance(model, nn.Linear):
        raise ValueError("the model is one layer: SparseLinear.from_linear makes another one of it")
    reports, layers = [], dict(_layers(model, keep, vec))
    inputs = _inputs(model, example, layers)
    for name, layer in layers.items():
        blocks = (layer.weight.detach() != 0).reshape(layer.out_features // vec, vec, -1).any(1)
        zero = 1 - blocks.float().mean().item()
        if name not in inputs or zero < least_sparsity:
            reason = "the example does not reach it" if name not in inputs else f"less than {least_sparsity} of it is zero"
            reports.append(Report(name, tuple(layer.weight.shape), zero, 0, None, None, None, False, reason))
            continue
        made, report = _try_layer(name, layer, inputs[name], vec, weight, tune, faster_by)
        reports.append(report)
        if report.taken:
            _replace(model, layer, made.train(layer.training))
            try:
                _run(model, example)
            except Exception as error:  # whoever looks at the layer's weight, for one
                _replace(model, made, layer)
                report.taken, report.reason = False, f"the model does not run with it: {type(error).__name__}: {error}"
    return reports


__all__ = ["GradualPruning", "Report", "convert", "prune"]
