"""Problems without the sizes that tensors bring."""

import itertools
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import torch

from . import types
from .context import Context, shared_context
from .family_call import Call
from .matrix import Matrix
from .operators import OPERATORS, Operand
from .plan import Plan, Problem
from .tensors import changed

_families = {}  # weak references by key
_keys = itertools.count(1)
_lock = threading.Lock()

_COLUMNS, _BY_COLUMNS = 1, 0  # mc_major, mc_layout


class Family:
    """An operator on a matrix, with the members of its problem (mcgen.Problem) but for sizes and batch, which come with
    the tensors: each new one gets a plan of its own, kept as long as the family. `key` is what ops take. `dense`: as a
    problem has it, for each plan."""

    def __init__(self, op: str, matrix: Matrix | None = None, *, context: Context | None = None, dense: str | None = None,
                 **members: str | int | bool) -> None:
        self.operator, self.matrix, self.members, self.dense = OPERATORS[op], matrix, members, dense
        self.context = context or (matrix.context if matrix is not None else shared_context())
        self._known = {} if matrix is None else {self.operator.matrix["rows"]: matrix.rows,
                                                 self.operator.matrix["cols"]: matrix.cols}
        self.sizes = self._sizes()
        numbers = {self.operator.member(name).name: self.operator.member(name).number(v) for name, v in members.items()}
        self.numbers = numbers
        fixed = {n for o in self.operator.operands for n in (o.ld, o.stride)} | {"batch", *self.sizes}
        if fixed & set(numbers):
            raise ValueError(f"{', '.join(sorted(fixed & set(numbers)))}: tensors bring these, without gaps")
        self.inputs = [o for o in self.operator.operands if not (o.out and not o.in_place)]
        self.arrays = [o for o in self.inputs if o.kind != "factor" and self.has(o)]
        self._plans = {}
        self.key = next(_keys)
        _families[self.key] = weakref.ref(self)
        weakref.finalize(self, _families.pop, self.key, None)
        self._calls, self._take, self._gradients = {}, None, None
        self._quick = None  # of the newest sizes: a Quick, whose call may run instead
        self.names = [o.name for o in self.inputs if self.has(o) and not self._is_computed(o)]
        arrays = [f"values[{self.names.index(o.name)}].shape" for o in self.arrays]
        self._shapes = eval(f"lambda values: {arrays[0] if len(arrays) == 1 else '(' + ', '.join(arrays) + ')'}")

    def _sizes(self):
        """The members that dense operands' shapes give."""
        names = dict.fromkeys(n for o in self.operator.operands if o.kind == "dense" for n in (o.rows, o.cols))
        return [n for n in names if n not in self._known]

    def has(self, operand: Operand) -> bool:
        """Whether the family's problems have OPERAND: by its only_if, or a factor by what there is one for."""
        if operand.kind == "factor":
            return operand.count > 0 or self.numbers.get(operand.per, 0) != 0
        return operand.only_if is None or self.numbers.get(operand.only_if, 0) >= max(operand.least, 1)

    def type_of(self, operand: Operand) -> str:
        """The element type of OPERAND."""
        if operand.type is None:
            return "f32"
        if self.operator.matrix and operand.type == self.operator.matrix["type"]:
            return self.matrix.type
        return types.NAMES[self.numbers.get(operand.type, 0)]

    def turned(self, operand: Operand) -> bool:
        """Whether OPERAND is stored by columns."""
        by_layout = operand.by_layout and self.numbers.get("layout", _BY_COLUMNS) == _BY_COLUMNS
        return by_layout or (operand.major is not None and self.numbers.get(operand.major, 0) == _COLUMNS)

    def measure(self, tensors: dict[str, Any]) -> tuple[int, ...]:
        """The sizes, in the order of `sizes`, and the batch (0: none) that TENSORS bring, a dict by operand's name."""
        found, batch = dict(self._known), 0
        for operand in self.arrays:
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
            for name, size, block in ((operand.rows, rows, operand.row_block), (operand.cols, cols, operand.col_block)):
                if block:
                    self._check_blocks(operand, size, name, -(-found[name] // block))
                    continue
                if name in found and found[name] != size:
                    raise ValueError(f"{self.operator.name}: {operand.name} is {tuple(tensor.shape)}; {name} of it is {size}, "
                                     f"must be {found[name]}")
                found[name] = size
        return tuple(found.get(name, 0) for name in self.sizes) + (batch,)

    def _check_blocks(self, operand, size, name, wanted):
        if size != wanted:
            raise ValueError(f"{self.operator.name}: {operand.name} has {size} blocks of {name}, must have {wanted}")

    def plan(self, sizes: tuple[int, ...]) -> Plan:
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
        return kind(self.operator.name, self.matrix, context=self.context, dense=self.dense,
                    **{**self.members, **members})

    @property
    def plans(self) -> dict[tuple[int, ...], Plan]:
        """The plans that there are, by their sizes."""
        return self._plans

    def drop(self, sizes: tuple[int, ...]) -> None:
        """Forgets the plan for SIZES, if there is one; a later call makes it anew."""
        self._plans.pop(sizes, None)
        self._calls.clear()
        self._quick = None

    def tune(self, sizes: tuple[int, ...], **options: Any) -> dict[str, Any]:
        """Tunes the problem of SIZES, as measure gives them (mcgen.Problem.tune). Later calls have the fastest kernel."""
        result = self._make(sizes, Problem).tune(**options)
        self.drop(sizes)
        return result

    def _values(self, sizes) -> dict:
        """All sizes by their names."""
        return {**self._known, **dict(zip(self.sizes, sizes[:-1]))}

    def _dense_shape(self, operand, sizes):
        values = self._values(sizes)
        rows, cols = values[operand.rows], values[operand.cols]
        if operand.spread:  # spans as groups of four that overlap by two
            span = self.numbers["pattern"]
            cols = -(-cols // span) * (span // 2 - 1) * 4
        if self.turned(operand):
            rows, cols = cols, rows
        return (rows, types.held(self.type_of(operand), cols))

    def shape(self, operand: Operand, sizes: Sequence[Any]) -> tuple[Any, ...]:
        """The shape of any output, for SIZES, which may be symbolic."""
        one = self._dense_shape(operand, sizes) if operand.kind == "dense" else \
            self._factor_shape(operand, sizes) if operand.kind == "factor" else self._sampled_shape(operand, sizes)
        return one if isinstance(sizes[-1], int) and sizes[-1] == 0 else (sizes[-1], *one)

    def _factor_shape(self, operand, sizes):
        values = self._values(sizes)
        per = self.numbers.get(operand.per, 0)
        return (1, operand.count or (1, 1, values.get("m"), values.get("n"))[per])

    def _sampled_shape(self, operand, sizes):
        """That of one product's vectors: bcrs, or strides of so many slots. With patterns a plan knows it."""
        order = self.numbers.get("order", 0)
        if order and self.matrix.patterns:
            plan = self.plan(sizes)
            return next(o for o in plan.operands if o.name == operand.name).shape[-2:]
        return (self.matrix.strided_rows(order), order) if order else (self.matrix.vectors, self.matrix.vec)

    def _is_computed(self, operand):
        return operand.computed is not None and self.numbers.get(operand.computed, 0) != 0

    def outputs(self) -> list[Operand]:
        """The operands that a call returns, the output first."""
        others = [o for o in self.operator.operands if self._is_computed(o) and self.has(o)]
        return ([self.operator.out] if not self.operator.out.in_place else []) + others

    def __call__(self, *values: Any, out: torch.Tensor | None = None, **given: Any) -> Any:
        """The direct call: tensors and numbers by their operands' names, or all of them in the operands' order, which is
        the quickest. Returns as the op does, but for outputs that the family has not, which are left out."""
        if given or len(values) != len(self.names):
            values = self._named(values, given)
        results = self.execute(values, out)
        return results[0] if len(results) == 1 else tuple(results)

    def _named(self, values, given):
        """The operands in their order, the first ones being VALUES."""
        names = self.names[len(values):]
        if set(names) != set(given) or len(values) > len(self.names):
            raise TypeError(f"{self.operator.name} wants {', '.join(self.names)}; "
                            f"{', '.join(n for n in names if n not in given) or 'none'} missing, "
                            f"{', '.join(n for n in given if n not in names) or 'none'} too much")
        return [*values, *(given[n] for n in names)]

    def execute(self, values: Sequence[Any], out: torch.Tensor | None = None) -> list[torch.Tensor]:
        """Executes the plan for VALUES, tensors and numbers in the order of the operands. Returns the outputs. What has to be
        looked at is looked at once for tensors of the same shapes: then this is a lookup, the outputs' memory, a launch."""
        quick = self._quick
        if quick is not None and (out is not None or self._shapes(values) == quick.key):
            made = torch.empty(quick.shape, dtype=quick.dtype, device=quick.device) if out is None else out
            if quick.run(values, made):
                if out is not None:
                    changed(out)
                return [made]
        key = self._shapes(values)
        run = self._calls.get(key)
        if run is None:
            call = Call(self, dict(zip(self.names, values)))
            run = self._calls[key] = call.compile()
            self._quick, call.values = call.quick(key), None
        try:
            return run(values, out)
        except AttributeError:
            for name, value in zip(self.names, values):
                if not isinstance(value, (torch.Tensor, int, float)):
                    raise TypeError(f"{self.operator.name}: {name} is {value!r}, must be a tensor or a number") from None
            raise


def family_of(key: int) -> Family:
    """The family with KEY; ValueError where it is gone."""
    found = _families.get(key)
    family = found() if found is not None else None
    if family is None:
        raise ValueError(f"there is no family {key}: a family must live as long as calls of it")
    return family
