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

import itertools
import threading
import weakref

import torch

from . import _call, types
from .context import Context, shared_context
from .operators import OPERATORS
from .plan import Plan, Problem

_DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32, "s8": torch.int8,
           "u8": torch.uint8, "s16": torch.int16, "s32": torch.int32, "s64": torch.int64, "s4": torch.uint8,
           "u4": torch.uint8, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
for _name in ("u16", "u32"):
    if hasattr(torch, f"uint{_name[1:]}"):
        _DTYPES[_name] = getattr(torch, f"uint{_name[1:]}")
_DTYPES["s12"], _DTYPES["u12"] = torch.int16, _DTYPES.get("u16", torch.int16)

_DLPACK = {torch.float16: (2, 16), torch.bfloat16: (4, 16), torch.float32: (2, 32), torch.int8: (0, 8), torch.uint8: (1, 8),
           torch.int16: (0, 16), torch.int32: (0, 32), torch.int64: (0, 64), torch.float8_e4m3fn: (10, 8),
           torch.float8_e5m2: (12, 8)}  # code and bits
_DLPACK.update({getattr(torch, f"uint{b}"): (1, b) for b in (16, 32) if hasattr(torch, f"uint{b}")})

_families = {}  # weak references by key
_keys = itertools.count(1)
_lock = threading.Lock()

_COLUMNS, _BY_COLUMNS, _TENSOR = 1, 0, 1  # mc_major, mc_layout, mc_per


def context_of(device) -> Context:
    """The shared context for tensors on DEVICE."""
    device = torch.device(device)
    if device.type == "cpu":
        return shared_context("sim")
    index = torch.cuda.current_device() if device.index is None else device.index
    return shared_context(f"cuda:{index}")


_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", lambda index: 0)


def _stream(device) -> int:
    return _raw_stream(device.index) if device.type == "cuda" else 0


class Family:
    """An operator on a matrix, with the members of its problem (mcgen.Problem) but for sizes and batch, which come with
    the tensors: each new one gets a plan of its own, kept as long as the family. `key` is what ops take."""

    def __init__(self, op, matrix=None, *, context=None, **members):
        self.operator, self.matrix, self.members = OPERATORS[op], matrix, members
        self.context = context or (matrix.context if matrix is not None else shared_context())
        self.sizes = self._sizes()
        self._known = {} if matrix is None else {self.operator.matrix["rows"]: matrix.rows,
                                                 self.operator.matrix["cols"]: matrix.cols}
        numbers = {self.operator.member(name).name: self.operator.member(name).number(v) for name, v in members.items()}
        self._numbers = numbers
        fixed = {n for o in self.operator.operands for n in (o.ld, o.stride)} | {"batch", *self.sizes}
        if fixed & set(numbers):
            raise ValueError(f"{', '.join(sorted(fixed & set(numbers)))}: tensors bring these, without gaps")
        self.inputs = [o for o in self.operator.operands if not (o.out and not o.in_place)]
        self._arrays = [o for o in self.inputs if o.kind != "factor" and self.has(o)]
        self._plans = {}
        self.key = next(_keys)
        _families[self.key] = weakref.ref(self)
        weakref.finalize(self, _families.pop, self.key, None)
        self._calls, self._take = {}, None
        self._quick = None  # of the newest sizes: a _Quick, whose call may run instead
        self._names = [o.name for o in self.inputs if self.has(o) and not self._is_computed(o)]
        arrays = [f"values[{self._names.index(o.name)}].shape" for o in self._arrays]
        self._shapes = eval(f"lambda values: {arrays[0] if len(arrays) == 1 else '(' + ', '.join(arrays) + ')'}")

    def _sizes(self):
        """The members that dense operands' shapes give."""
        names = dict.fromkeys(n for o in self.operator.operands if o.kind == "dense" for n in (o.rows, o.cols))
        known = () if self.matrix is None else (self.operator.matrix["rows"], self.operator.matrix["cols"])
        return [n for n in names if n not in known]

    def has(self, operand) -> bool:
        """Whether the family's problems have OPERAND: by its only_if, or a factor by what there is one for."""
        if operand.kind == "factor":
            return operand.count > 0 or self._numbers.get(operand.per, 0) != 0
        return operand.only_if is None or self._numbers.get(operand.only_if, 0) >= max(operand.least, 1)

    def type_of(self, operand) -> str:
        """The element type of OPERAND."""
        if operand.type is None:
            return "f32"
        if self.operator.matrix and operand.type == self.operator.matrix["type"]:
            return self.matrix.type
        return types.NAMES[self._numbers.get(operand.type, 0)]

    def turned(self, operand) -> bool:
        """Whether OPERAND is stored by columns."""
        by_layout = operand.by_layout and self._numbers.get("layout", _BY_COLUMNS) == _BY_COLUMNS
        return by_layout or (operand.major is not None and self._numbers.get(operand.major, 0) == _COLUMNS)

    def measure(self, tensors) -> tuple:
        """The sizes, in the order of `sizes`, and the batch (0: none) that TENSORS bring, a dict by operand's name."""
        found, batch = dict(self._known), 0
        for operand in self._arrays:
            tensor = tensors.get(operand.name)
            if not isinstance(tensor, torch.Tensor):
                raise TypeError(f"{self.operator.name}: {operand.name} is no tensor, or missing")
            if tensor.dim() not in (2, 3) or (tensor.dim() == 3 and not operand.stride):
                raise ValueError(f"{self.operator.name}: {operand.name} has {tensor.dim()} dimensions")
            if tensor.dim() == 3:
                if batch and tensor.shape[0] != batch:
                    raise ValueError(f"{self.operator.name}: batches of {batch} and of {tensor.shape[0]}")
                batch = tensor.shape[0]
            if operand.kind != "dense":
                continue
            rows, cols = tensor.shape[-2:]
            if types.BYTES[self.type_of(operand)] == 0:
                cols = cols * 2
            if self.turned(operand):
                rows, cols = cols, rows
            for name, size in ((operand.rows, rows), (operand.cols, cols)):
                if name in found and found[name] != size:
                    raise ValueError(f"{self.operator.name}: {operand.name} is {tuple(tensor.shape)}; {name} of it is {size}, "
                                     f"must be {found[name]}")
                found[name] = size
        return tuple(found.get(name, 0) for name in self.sizes) + (batch,)

    def plan(self, sizes) -> Plan:
        """The plan for SIZES, as measure gives them."""
        plan = self._plans.get(sizes)
        if plan is None:
            with _lock:
                plan = self._plans.get(sizes) or self._make(sizes)
                self._plans[sizes] = plan
        return plan

    def _make(self, sizes, kind=Plan):
        members = dict(zip(self.sizes, sizes[:-1]))
        if sizes[-1]:
            members["batch"] = sizes[-1]
        return kind(self.operator.name, self.matrix, context=self.context, **{**self.members, **members})

    def tune(self, sizes, **options) -> dict:
        """Tunes the problem of SIZES, as measure gives them (mcgen.Problem.tune). Later calls have the fastest kernel."""
        result = self._make(sizes, Problem).tune(**options)
        self._plans.pop(sizes, None)
        self._calls.clear()
        self._quick = None
        return result

    def _values(self, sizes) -> dict:
        """All sizes by their names."""
        values = dict(zip(self.sizes, sizes[:-1]))
        if self.matrix is not None:
            values[self.operator.matrix["rows"]], values[self.operator.matrix["cols"]] = self.matrix.rows, self.matrix.cols
        return values

    def _dense_shape(self, operand, sizes):
        values = self._values(sizes)
        rows, cols = values[operand.rows], values[operand.cols]
        if self.turned(operand):
            rows, cols = cols, rows
        return (rows, (cols + 1) // 2 if types.BYTES[self.type_of(operand)] == 0 else cols)

    def shape(self, operand, sizes) -> tuple:
        """The shape of any output, for SIZES, which may be symbolic."""
        one = self._dense_shape(operand, sizes) if operand.kind == "dense" else \
            self._factor_shape(operand, sizes) if operand.kind == "factor" else self._sampled_shape(operand, sizes)
        return one if isinstance(sizes[-1], int) and sizes[-1] == 0 else (sizes[-1], *one)

    def _factor_shape(self, operand, sizes):
        values = self._values(sizes)
        per = self._numbers.get(operand.per, 0)
        return (1, operand.count or (1, 1, values.get("m"), values.get("n"))[per])

    def _sampled_shape(self, operand, sizes):
        """That of one product's vectors. In strides it is known by a plan, of whatever sizes."""
        if self._numbers.get("order", 0) == 0:
            return (self.matrix.vectors, self.matrix.vec)
        if not self._plans and not all(isinstance(s, int) for s in sizes):
            raise ValueError(f"{self.operator.name}: call the family once before it is traced with sizes that are open")
        plan = next(iter(self._plans.values())) if self._plans else self.plan(sizes)
        return next(o for o in plan.operands if o.name == operand.name).shape[-2:]

    def _is_computed(self, operand):
        return operand.computed is not None and self._numbers.get(operand.computed, 0) != 0

    def outputs(self) -> list:
        """The operands that a call returns, the output first."""
        others = [o for o in self.operator.operands if self._is_computed(o) and self.has(o)]
        return ([self.operator.out] if not self.operator.out.in_place else []) + others

    def __call__(self, *values, out=None, **given):
        """The direct call: tensors and numbers by their operands' names, or all of them in the operands' order, which is
        the quickest. Returns as the op does, but for outputs that the family has not, which are left out."""
        if given or len(values) != len(self._names):
            values = self._named(values, given)
        quick = self._quick
        if out is not None and quick is not None and quick.run(values, out):
            _changed(out)
            return out
        results = self.execute(values, out)
        return results[0] if len(results) == 1 else tuple(results)

    def _named(self, values, given):
        """The operands in their order, the first ones being VALUES."""
        names = self._names[len(values):]
        if set(names) != set(given) or len(values) > len(self._names):
            raise TypeError(f"{self.operator.name} wants {', '.join(self._names)}; "
                            f"{', '.join(n for n in names if n not in given) or 'none'} missing, "
                            f"{', '.join(n for n in given if n not in names) or 'none'} too much")
        return [*values, *(given[n] for n in names)]

    def execute(self, values, out=None) -> list:
        """Executes the plan for VALUES, tensors and numbers in the order of the operands. Returns the outputs. What has to be
        looked at is looked at once for tensors of the same shapes: then this is a lookup, the outputs' memory, a launch."""
        key = self._shapes(values)
        quick = self._quick
        if out is None and quick is not None and key == quick.key:
            made = torch.empty(quick.shape, dtype=quick.dtype, device=quick.device)
            if quick.run(values, made):
                return [made]
        run = self._calls.get(key)
        if run is None:
            call = _Call(self, dict(zip(self._names, values)))
            run = self._calls[key] = call.compile()
            self._quick, call.values = call.quick(key), None
        try:
            return run(values, out)
        except AttributeError:
            for name, value in zip(self._names, values):
                if not isinstance(value, (torch.Tensor, int, float)):
                    raise TypeError(f"{self.operator.name}: {name} is {value!r}, must be a tensor or a number") from None
            raise


_changed = getattr(torch.autograd.graph, "increment_version", lambda tensor: None)


class _Quick:
    """A call of the newest sizes in C: run(values, out) says whether it ran."""

    def __init__(self, run, key, shape, dtype, device):
        self.run, self.key, self.shape, self.dtype, self.device = run, key, shape, dtype, device


class _Call:
    """A family's call with tensors of certain shapes: its plan, what else tensors must be, what outputs are."""

    def __init__(self, family, given):
        if len(given) != len(family._names):
            raise TypeError(f"{family.operator.name} wants {', '.join(family._names)}")
        sizes = family.measure(given)
        self.family, self.plan = family, family.plan(sizes)
        self.device = _device_of(family, given)
        self.is_cpu = self.device.type == "cpu"
        if self.is_cpu != self.plan.context.is_simulator or (not self.is_cpu and self.plan.context.index != self.device.index):
            raise ValueError(f"tensors on {self.device}, and a family on {self.plan.context.device}")
        self.outputs = [(o.name, family.shape(o, sizes), _DTYPES[family.type_of(o)]) for o in family.outputs()]
        operands = {o.name: o for o in self.plan.operands}
        self.inputs = [(n, operands[n], _DTYPES[operands[n].type]) for n in family._names]
        taken = [o.name for o in self.plan._taken]
        self.by_value = [operands[n].by_value for n in family._names]
        self.values = list(given.values())
        order = list(family._names) + [name for name, _, _ in self.outputs]
        self.places = [order.index(n) for n in taken]
        for (name, operand, _), value in zip(self.inputs, given.values()):
            if operand.by_value and not isinstance(value, (int, float)):
                raise TypeError(f"{family.operator.name}: {name} is a {type(value).__name__}, must be a number")
            if not operand.by_value and not isinstance(value, torch.Tensor):
                raise TypeError(f"{family.operator.name}: {name} is a {type(value).__name__}, must be a tensor")
            array = next((o for o in family._arrays if o.name == name), None)
            if array is not None and not self._fits(array, operand, value, sizes[-1]):
                raise ValueError(f"{family.operator.name}: {name} is {tuple(value.shape)}, must be {operand.shape}")

    @staticmethod
    def _fits(array, operand, tensor, batch):
        """Whether TENSOR has the shape that the plan's OPERAND has."""
        cols = (operand.cols + 1) // 2 if types.BYTES[operand.type] == 0 else operand.cols
        shape = tuple(tensor.shape)
        return shape == (operand.rows, cols) or bool(batch and array.stride and shape == (batch, operand.rows, cols))

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
                 "device": self.device, "raw_stream": _raw_stream, "simulate": self._simulate}
        if into:
            text.append(f"    {', '.join(into)}, = values")
        arguments, arrays = [], {o.name for o in self.family._arrays}
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
                names["changed"] = _changed
                text.append(f"    changed(v{i})")
        if self.outputs:
            names["changed"] = _changed
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
        forms = tuple(None if shapes[i] is None else (*_DLPACK[dtypes[i]], shapes[i]) for i in self.places)
        run = _call.Quick(self.plan._launch, exchange, self.device.index, len(self.inputs), tuple(self.places), forms).run
        return _Quick(run, key, *self.outputs[0][1:], self.device)

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


def family_of(key) -> Family:
    """The family with KEY; ValueError where it is gone."""
    found = _families.get(key)
    family = found() if found is not None else None
    if family is None:
        raise ValueError(f"there is no family {key}: a family must live as long as calls of it")
    return family


def _device_of(family, given):
    for value in given.values():
        if isinstance(value, torch.Tensor):
            return value.device
    raise TypeError(f"{family.operator.name}: no tensor was given")


# -- Ops ---------------------------------------------------------------------------------------------------------------


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

    def _tensor(self, operand, letters):
        return f"Tensor({next(letters)}!)" if operand.in_place else "Tensor"

    def arguments(self) -> str:
        letters = iter("abcdefghij")
        texts = [f"{self._tensor(o, letters)} {o.name}" for o in self.required] + ["int family"]
        for o in self.optional:
            mutable = f"({next(letters)}!)" if o.in_place else ""
            texts.append(f"Tensor{mutable}? {o.name}=None")
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
        for name in family._names:
            operand = next(o for o in self.operator.operands if o.name == name)
            place = self.names.index(name)
            place += self._has_value(operand) and family._numbers.get(operand.per, 0) == _TENSOR
            takes.append(f"args[{place}]")
            used.add(place)
        idle = tuple((i, self.defaults[i]) for i in range(len(self.names)) if i not in used)
        return eval(f"lambda args: [{', '.join(takes)}]"), idle

    def _bound(self, args, kwargs):
        """The family, and what its calls take."""
        if kwargs:
            args = list(args) + [kwargs.get(n, d) for n, d in zip(self.names[len(args):], self.defaults[len(args):])]
        elif len(args) < len(self.names):
            args = args + self.defaults[len(args):]
        family = family_of(args[self.key_place])
        if family.operator is not self.operator:
            raise ValueError(f"family {family.key} is of {family.operator.name}, not of {self.operator.name}")
        if family._take is None:
            family._take, family._idle = self._taker(family)
        for i, default in family._idle:
            if args[i] is not default and args[i] != default:
                raise ValueError(f"{family.operator.name}: the family has no {self.names[i]}, but {', '.join(family._names)}")
        values = family._take(args)
        return family, values

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
        quick = family._quick
        if quick is not None and quick.run(values, out):
            _changed(out)
        else:
            family.execute(values, out)

    def fake(self, *args, **kwargs):
        family, values = self._bound(args, kwargs)
        sizes = family.measure(dict(zip(family._names, values)))
        like = next(v for v in values if isinstance(v, torch.Tensor))
        results = [like.new_empty(family.shape(o, sizes), dtype=_DTYPES[family.type_of(o)]) for o in family.outputs()]
        return self._returned(family, results, lambda: like.new_empty(0, dtype=torch.float32))

    def fake_out(self, *args, out, **kwargs):
        pass

    def register(self, library):
        library.define(self.schema())
        name = self.operator.name
        for key in ("CPU", "CUDA"):
            library.impl(name, self.run, key)
        torch.library.register_fake(f"mcgen::{name}", self.fake, lib=library)
        if self.operator.out.in_place or self.computed:
            return
        library.define(self.out_schema())
        for key in ("CPU", "CUDA"):
            library.impl(f"{name}.out", self.run_out, key)
        torch.library.register_fake(f"mcgen::{name}.out", self.fake_out, lib=library)


_library = torch.library.Library("mcgen", "DEF")
OPS = {name: _Op(operator) for name, operator in OPERATORS.items()}
for _op in OPS.values():
    _op.register(_library)
