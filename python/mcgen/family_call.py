"""A family's call with tensors of certain shapes: what has to be looked at is looked at once, here."""

import torch

from . import _call
from .tensors import DLPACK, DTYPES, changed, raw_stream


class Quick:
    """A call of the newest sizes in C: run(values, out) says whether it ran."""

    def __init__(self, run, key, shape, dtype, device):
        self.run, self.key, self.shape, self.dtype, self.device = run, key, shape, dtype, device


class Call:
    """A family's call with tensors of certain shapes: its plan, what else tensors must be, what outputs are."""

    def __init__(self, family, given):
        sizes = family.measure(given)
        self.family, self.plan = family, family.plan(sizes)
        self.device = device_of(family, given)
        self.is_cpu = self.device.type == "cpu"
        if self.is_cpu != self.plan.context.is_simulator or (not self.is_cpu and self.plan.context.index != self.device.index):
            raise ValueError(f"tensors on {self.device}, and a family on {self.plan.context.device}")
        self.outputs = [(o.name, family.shape(o, sizes), DTYPES[family.type_of(o)]) for o in family.outputs()]
        operands = {o.name: o for o in self.plan.operands}
        self.inputs = [(n, operands[n], DTYPES[operands[n].type]) for n in family.names]
        taken = [o.name for o in self.plan._taken]
        self.by_value = [operands[n].by_value for n in family.names]
        self.values = list(given.values())
        order = list(family.names) + [name for name, _, _ in self.outputs]
        self.places = [order.index(n) for n in taken]
        arrays = {o.name for o in family.arrays}
        for (name, operand, _), value in zip(self.inputs, given.values()):
            if operand.by_value and not isinstance(value, (int, float)):
                raise TypeError(f"{family.operator.name}: {name} is a {type(value).__name__}, must be a number")
            if not operand.by_value and not isinstance(value, torch.Tensor):
                raise TypeError(f"{family.operator.name}: {name} is a {type(value).__name__}, must be a tensor")
            if name in arrays and not operand.takes(tuple(value.shape)):
                raise ValueError(f"{family.operator.name}: {name} is {tuple(value.shape)}, must be {operand.shape}")

    def refuse(self, name, dtype, tensor):
        """Says why TENSOR cannot be the operand NAME."""
        op = self.family.operator.name
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{op}: {name} is a {type(tensor).__name__}, must be a tensor")
        if tensor.device != self.device:
            raise ValueError(f"{op}: {name} is on {tensor.device}, the others on {self.device}")
        if tensor.dtype != dtype:
            raise TypeError(f"{op}: {name} has {tensor.dtype}, must be {dtype}")
        if not tensor.is_contiguous():
            raise ValueError(f"{op}: {name} must be contiguous")
        wanted = next(o for n, o, _ in self.inputs if n == name)
        raise ValueError(f"{op}: {name} is {tuple(tensor.shape)}, must be {wanted.shape}")

    def compile(self):
        """run(values, out), for these operands alone, as a function without loops: it is called for each token. What it does:

            refuses tensors of other types, devices and layouts; makes the outputs; launches; returns a list of the outputs"""
        index = self.device.index
        text, into = ["def run(values, out):"], [f"v{i}" for i in range(len(self.inputs))]
        names = {"refuse": self.refuse, "check_out": self.check_out, "empty": torch.empty, "launch": self.plan.run,
                 "device": self.device, "raw_stream": raw_stream, "simulate": self._simulate}
        if into:
            text.append(f"    {', '.join(into)}, = values")
        arguments, arrays = [], {o.name for o in self.family.arrays}
        for i, (name, operand, dtype) in enumerate(self.inputs):
            arguments.append(f"v{i}" if self.by_value[i] else f"v{i}.data_ptr()")
            if self.by_value[i]:
                continue
            names[f"t{i}"] = dtype
            where = "v{0}.is_cpu" if self.is_cpu else "v{0}.get_device() == " + str(index)
            size = f" or v{i}.numel() != {operand.cols}" if name not in arrays else ""
            text.append(f"    if v{i}.dtype is not t{i} or not v{i}.is_contiguous() or not ({where.format(i)}){size}:")
            text.append(f"        refuse({name!r}, t{i}, v{i})")
        for i, (name, shape, dtype) in enumerate(self.outputs):
            names[f"s{i}"], names[f"u{i}"] = tuple(shape), dtype
            made = f"empty(s{i}, dtype=u{i}, device=device)"
            text.append(f"    r{i} = {made if i else f'{made} if out is None else check_out(out)'}")
            arguments.append(f"r{i}.data_ptr()")
        results = "[" + ", ".join(f"r{i}" for i in range(len(self.outputs))) + "]"
        for i, (name, _, _) in enumerate(self.inputs):
            if next(o for o in self.family.inputs if o.name == name).in_place:
                names["changed"] = changed
                text.append(f"    changed(v{i})")
        if self.outputs:
            names["changed"] = changed
            text.append("    if out is not None: changed(out)")
        if self.is_cpu:
            text.append(f"    simulate(values, {results})")
        else:
            space = "0"
            if self.plan.workspace:
                names["byte"], space = torch.uint8, "space.data_ptr()"
                text.append(f"    space = empty({self.plan.workspace}, dtype=byte, device=device)")
            taken = "".join(arguments[i] + ", " for i in self.places)
            text.append(f"    launch({taken}{space}, raw_stream({index}))")
        text.append(f"    return {results}")
        exec("\n".join(text), names)
        return names["run"]

    def quick(self, key):
        """What runs the call in C with an output that is handed over, and says whether it did; None: there is no such thing."""
        exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
        if self.is_cpu or exchange is None or self.plan.workspace or len(self.outputs) != 1:
            return None
        shapes = [None if b else tuple(v.shape) for v, b in zip(self.values, self.by_value)] + [tuple(self.outputs[0][1])]
        dtypes = [dtype for _, _, dtype in self.inputs] + [self.outputs[0][2]]
        forms = tuple(None if shapes[i] is None else (*DLPACK[dtypes[i]], shapes[i]) for i in self.places)
        run = _call.Quick(self.plan._launch, exchange, self.device.index, len(self.inputs), tuple(self.places), forms).run
        return Quick(run, key, *self.outputs[0][1:], self.device)

    def check_out(self, out):
        """OUT, if it can be the output."""
        name, shape, dtype = self.outputs[0]
        if out.dtype is not dtype or not out.is_contiguous() or out.shape != shape or out.device != self.device:
            raise ValueError(f"{self.family.operator.name}: {name} must be {dtype}{list(shape)} on {self.device}, contiguous")
        return out

    def _simulate(self, values, results):
        """On the simulator: the plan copies there and back."""
        given = dict(zip([name for name, _, _ in self.inputs], values))
        given.update(zip([name for name, _, _ in self.outputs], results))
        self.plan(**{n: v.detach() if isinstance(v, torch.Tensor) else v for n, v in given.items()
                     if n in {o.name for o in self.plan._taken}})


def device_of(family, given):
    """The device of what is GIVEN, a dict."""
    for value in given.values():
        if isinstance(value, torch.Tensor):
            return value.device
    raise TypeError(f"{family.operator.name}: no tensor was given")
