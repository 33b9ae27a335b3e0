"""torch.ops.mcgen.*: an op for each operator of the C library, made from its description.

A family is an operator on a matrix, with all members of its problem but the sizes that tensors bring:

    family = mcgen.torch.Family("spmm", matrix, rhs="f16", out="f16")
    y = family(b=x)                                         # the direct call
    y = torch.ops.mcgen.spmm(x, family.key)                 # through the dispatcher: torch.compile, export, streams

Ops take plain tensors and the family's key. Tensors on a GPU are read and written where they lie, on PyTorch's current
stream, and calls may be captured in CUDA graphs once each size has had its plan (the first call of a size makes it).
Tensors on the CPU run on the simulator.

An op's arguments are: the tensors that its operator always has, the key, then the others: of a factor (scale, bias ...) a
tensor or, where there is one for all, NAME_value. It returns its output; outputs besides (lse, computed scales) come with
it in a tuple, empty where the family has none; what is changed in place is no output. OP.out writes into `out`, and returns
nothing."""

import torch

from . import gradient
from .family import Family, family_of
from .gradient import gradients_of, refuse
from .operators import OPERATORS
from .tensors import DTYPES, context_of

_TENSOR = 1  # mc_per
_OWN = (torch._C.DispatchKey.CPU, torch._C.DispatchKey.CUDA)  # what is left where nobody traces or transforms


class _Op:
    """The op of an operator: its schema, and what is behind it."""

    def __init__(self, operator):
        self.operator = operator
        given = [o for o in operator.operands if (not o.out or o.in_place) and not (o.computed and o.computed == o.per)]
        self.required = [o for o in given if o.kind != "factor" and o.only_if is None]
        self.optional = [o for o in given if o not in self.required]
        self.computed = [o for o in operator.operands if o.computed]
        self.key_place = len(self.required)
        self.returns = (0 if operator.out.in_place else 1) + len(self.computed)
        self.names = [o.name for o in self.required] + ["family"]
        for o in self.optional:
            self.names += [o.name] + ([f"{o.name}_value"] if self._has_value(o) else [])

        self.defaults = tuple([1.0 if n.endswith("_value") else None for n in self.names])

    @staticmethod
    def _has_value(operand):
        """Whether there may be one OPERAND for all, which is passed by value."""
        return operand.kind == "factor" and operand.count == 0

    @staticmethod
    def _tensor(operand, letters):
        return f"Tensor({next(letters)}!)" if operand.in_place else "Tensor"

    def arguments(self) -> str:
        letters = iter("abcdefghij")
        texts = [f"{self._tensor(o, letters)} {o.name}" for o in self.required] + ["int family"]
        for o in self.optional:
            texts.append(f"{self._tensor(o, letters)}? {o.name}=None")
            if self._has_value(o):
                texts.append(f"float {o.name}_value=1.0")
        return ", ".join(texts)

    def schema(self) -> str:
        result = "Tensor" if self.returns == 1 else "(" + ", ".join(["Tensor"] * self.returns) + ")"
        return f"{self.operator.name}({self.arguments()}) -> {result}"

    def out_schema(self) -> str:
        return f"{self.operator.name}.out({self.arguments()}, *, Tensor(z!) out) -> ()"

    def _taker(self, family):
        """What takes FAMILY's operands out of the op's arguments, of a factor its tensor or its value; and the places and
        defaults of those that the family has no use for."""
        takes, used = [], {self.key_place}
        for name in family.names:
            operand = next(o for o in self.operator.operands if o.name == name)
            place = self.names.index(name)
            place += self._has_value(operand) and family.numbers.get(operand.per, 0) == _TENSOR
            takes.append(f"args[{place}]")
            used.add(place)
        idle = tuple((i, self.defaults[i]) for i in range(len(self.names)) if i not in used)
        return eval(f"lambda args: [{', '.join(takes)}]"), idle

    def _whole(self, args, kwargs):
        """All arguments in their places, defaults too."""
        if kwargs:
            return (*args, *(kwargs.get(n, d) for n, d in zip(self.names[len(args):], self.defaults[len(args):])))
        return args if len(args) == len(self.names) else args + self.defaults[len(args):]

    def _bound(self, args, kwargs):
        """The family, and what its calls take."""
        args = self._whole(args, kwargs)
        family = family_of(args[self.key_place])
        if family.operator is not self.operator:
            raise ValueError(f"family {family.key} is of {family.operator.name}, not of {self.operator.name}")
        if family._take is None:
            family._take, family._idle = self._taker(family)
        for i, default in family._idle:
            if args[i] is not default and args[i] != default:
                raise ValueError(f"{family.operator.name}: the family has no {self.names[i]}, but {', '.join(family.names)}")
        return family, family._take(args)

    def _returned(self, family, results, empty):
        if len(results) == self.returns:
            return results[0] if self.returns == 1 else tuple(results) if results else None
        made = dict(zip([o.name for o in family.outputs()], results))
        names = ([] if self.operator.out.in_place else [self.operator.out.name]) + [o.name for o in self.computed]
        return tuple(made[n] if n in made else empty() for n in names)

    def run(self, *args, **kwargs):
        family, values = self._bound(args, kwargs)
        results = family.execute(values)
        return self._returned(family, results, lambda: torch.empty(0, device=args[0].device))

    def run_out(self, *args, out, **kwargs):
        family, values = self._bound(args, kwargs)
        family.execute(values, out)

    def fake(self, *args, **kwargs):
        family, values = self._bound(args, kwargs)
        sizes = family.measure(dict(zip(family.names, values)))
        like = next(v for v in values if isinstance(v, torch.Tensor))
        results = [like.new_empty(family.shape(o, sizes), dtype=DTYPES[family.type_of(o)]) for o in family.outputs()]
        return self._returned(family, results, lambda: like.new_empty(0, dtype=torch.float32))

    def fake_out(self, *args, out, **kwargs):
        pass

    def cast(self, *args, **kwargs):
        """Under autocast: floating-point tensors get the types of the family's operands."""
        args = list(self._whole(args, kwargs))
        family = family_of(args[self.key_place])
        for i, (name, value) in enumerate(zip(self.names, args)):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                dtype = DTYPES[family.type_of(self.operator.operand(name))]
                args[i] = value.to(dtype) if dtype.is_floating_point else value
        key = torch._C.DispatchKey
        keys = torch._C.DispatchKeySet(key.AutocastCPU) | torch._C.DispatchKeySet(key.AutocastCUDA)
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return getattr(torch.ops.mcgen, self.operator.name)(*args)

    def setup(self, ctx, inputs, output):
        """Before backward: keeps what the gradients that are wanted read, and what they must find unchanged."""
        family, values = self._bound(inputs, {})
        ctx.family = family  # lives as long as its calls
        ctx.version = family.matrix.version if family.matrix is not None else 0
        ctx.wanted = [n for n, value in zip(self.names, inputs) if isinstance(value, torch.Tensor) and value.requires_grad]
        results = output if isinstance(output, tuple) else (output,)
        given = dict(zip(family.names, values))
        given[self.operator.out.name] = results[0]
        read = {i["from"] for row in self.operator.gradients if row["of"] in ctx.wanted for i in row["inputs"]}
        ctx.numbers = {n: v for n, v in given.items() if not isinstance(v, torch.Tensor)}
        ctx.shapes = {n: v.shape for n, v in given.items() if isinstance(v, torch.Tensor)}
        ctx.kept = [n for n, v in given.items() if n in read and isinstance(v, torch.Tensor)]
        ctx.save_for_backward(*(given[n] for n in ctx.kept))
        ctx.mark_non_differentiable(*results[1:])

    def backward(self, ctx, gradient, *others):
        wanted = [n for n, w in zip(self.names, ctx.needs_input_grad[1:]) if w]
        refuse(ctx.family, wanted)
        if ctx.family.matrix is not None and ctx.family.matrix.version != ctx.version:
            raise RuntimeError(f"{self.operator.name}: the matrix got new values between the call and its backward")
        given = {**ctx.numbers, **dict(zip(ctx.kept, ctx.saved_tensors)), None: gradient.contiguous()}
        found = gradients_of(ctx.family)
        return (None, *(found[n](given, ctx.shapes[n]) if n in wanted else None for n in self.names))

    def autograd_kernel(self):
        """What PyTorch calls first, gradients or none. Where there is nothing to differentiate or to trace the op runs at
        once: torch.library.register_autograd would have it dispatched a second time, which takes 5 us."""
        op = getattr(torch.ops.mcgen, self.operator.name).default
        below = torch._C._after_autograd_keyset

        class Differentiable(torch.autograd.Function):
            @staticmethod
            def forward(ctx, keyset, *args):
                with torch._C._AutoDispatchBelowAutograd():
                    results = op.redispatch(keyset & below, *args)
                self.setup(ctx, args, results)
                return results

            @staticmethod
            def backward(ctx, *gradients):
                return self.backward(ctx, *gradients)

        def kernel(keyset, *args, **kwargs):
            args = self._whole(args, kwargs)
            if torch.is_grad_enabled() and torch._C._any_requires_grad(*args):
                return Differentiable.apply(keyset, *args)
            if (keyset & below).highestPriorityTypeId() in _OWN and torch._C._len_torch_dispatch_stack() == 0:
                return self.run(*args)
            with torch._C._AutoDispatchBelowAutograd():
                return op.redispatch(keyset & below, *args)

        return kernel

    def register(self, library):
        library.define(self.schema())
        name = self.operator.name
        for key in ("CPU", "CUDA"):
            library.impl(name, self.run, key)
        torch.library.register_fake(f"mcgen::{name}", self.fake, lib=library)
        if not self.operator.out.in_place:
            for key in ("AutocastCPU", "AutocastCUDA"):
                library.impl(name, self.cast, key)
            library.impl(name, self.autograd_kernel(), "Autograd", with_keyset=True)
        if self.operator.out.in_place or self.computed:
            return
        library.define(self.out_schema())
        for key in ("CPU", "CUDA"):
            library.impl(f"{name}.out", self.run_out, key)
        torch.library.register_fake(f"mcgen::{name}.out", self.fake_out, lib=library)


def call_op(family: Family, values: dict) -> torch.Tensor:
    """The output of the op for VALUES, FAMILY's operands by their names."""
    op, given = OPS[family.operator.name], dict(values)
    required = [given.pop(o.name) for o in op.required]
    named = {n if isinstance(v, torch.Tensor) else f"{n}_value": v for n, v in given.items()}
    result = getattr(torch.ops.mcgen, family.operator.name)(*required, family.key, **named)
    return result[0] if isinstance(result, (tuple, list)) else result


_library = torch.library.Library("mcgen", "DEF")
OPS = {name: _Op(operator) for name, operator in OPERATORS.items()}
for _op in OPS.values():
    _op.register(_library)
gradient.register(_library)

__all__ = ["Family", "OPS", "context_of", "family_of"]
