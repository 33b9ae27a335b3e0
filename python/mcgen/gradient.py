"""Gradients of operands, as the C library names them (mc_describe): another operator computes each of them, on a matrix of
the same pattern; or it is the sum of the output's gradient, of what is only added."""

import torch

from .family import Family, family_of
from .matrix import Matrix
from .operators import OPERATORS
from .tensors import DTYPES

_GIVEN_VALUES = 32  # the order of an operand of kind "values": mc_order's MC_ORDER_SRBCRS32


def order_of(family, operand) -> int:
    """The mc_order in which OPERAND, "sampled" or "values", lies."""
    return _GIVEN_VALUES if operand.kind == "values" else family.numbers.get("order", 0)


# -- Orders


def _places(matrix, order, device):
    """Where the vectors' elements lie in an array in strides of ORDER slots: int64 [vectors, vec]."""
    known = matrix.__dict__.setdefault("_places", {})
    if (order, device) not in known:
        row_ptr = torch.frombuffer(matrix.read()[0], dtype=torch.int32).long()
        counts = row_ptr[1:] - row_ptr[:-1]
        strides = (counts + order - 1) // order
        first = strides.cumsum(0) - strides
        block = torch.repeat_interleave(torch.arange(counts.numel()), counts)
        slot = torch.arange(matrix.vectors) - row_ptr[:-1][block]
        row = ((first[block] + slot // order) * matrix.vec)[:, None] + torch.arange(matrix.vec)
        known[order, device] = (row * order + slot[:, None] % order).to(device)
    return known[order, device]


def _reordered_shape(values, family, order, back):
    matrix = family_of(family).matrix
    shape = (matrix.vectors, matrix.vec) if back else (matrix.strided_rows(order), order)
    return (*values.shape[:-2], *shape)


def _reorder(values, family, order, back):
    places, shape = _places(family_of(family).matrix, order, values.device), _reordered_shape(values, family, order, back)
    flat = values.reshape(*values.shape[:-2], -1)
    if back:
        return flat[..., places]
    made = flat.new_zeros(*flat.shape[:-1], shape[-2] * shape[-1])
    made[..., places.reshape(-1)] = flat
    return made.reshape(shape)


def as_given(values, family):
    """VALUES [vectors, vec] as FAMILY takes given ones."""
    return torch.ops.mcgen._reorder(values, family.key, _GIVEN_VALUES, False)


def _own_values(like, family):
    """The matrix's own, [vectors, vec], on LIKE's device."""
    matrix = family_of(family).matrix
    kept = matrix.__dict__.get("_own")
    if kept is None or kept[0] != matrix.version or kept[1].device != like.device:
        if like.is_cuda:
            torch.cuda.synchronize(like.device)
        dtype, values = DTYPES[matrix.type], matrix.read()[2]
        values = torch.frombuffer(values, dtype=dtype) if values else torch.empty(0, dtype=dtype)
        kept = matrix._own = (matrix.version, values.reshape(matrix.vectors, matrix.vec).to(like.device))
    return kept[1].clone()


def register(library):
    """What gradients want besides operators, as ops, so that they can be traced."""
    library.define("_reorder(Tensor values, int family, int order, bool back) -> Tensor")
    library.define("_own_values(Tensor like, int family) -> Tensor")
    for key in ("CPU", "CUDA"):
        library.impl("_reorder", _reorder, key)
        library.impl("_own_values", _own_values, key)

    @torch.library.register_fake("mcgen::_reorder", lib=library)
    def _(values, family, order, back):
        return values.new_empty(_reordered_shape(values, family, order, back))

    def setup(ctx, inputs, output):
        ctx.family, ctx.order, ctx.back = inputs[1:]
        ctx.owner = family_of(ctx.family)

    def backward(ctx, gradient):
        return torch.ops.mcgen._reorder(gradient, ctx.family, ctx.order, not ctx.back), None, None, None

    torch.library.register_autograd("mcgen::_reorder", backward, setup_context=setup, lib=library)

    @torch.library.register_fake("mcgen::_own_values", lib=library)
    def _(like, family):
        matrix = family_of(family).matrix
        return like.new_empty((matrix.vectors, matrix.vec), dtype=DTYPES[matrix.type])


# -- One gradient


class Gradient:
    """The gradient of one operand of FAMILY's calls, by ROW of its operator's gradients."""

    def __init__(self, family, row):
        self.family, self.row, self.by = family, row, OPERATORS[row["by"]]
        self.of = family.operator.operand(row["of"])
        self.sources = {i["name"]: i for i in row["inputs"]}
        members = {name: family.numbers[name] for name in row["same"] if name in family.numbers}
        if "shapes" in family.members:
            members["shapes"] = family.members["shapes"]
        if row["set"]:
            members[row["set"]] = True
        typed = [(self.by.operand(name), self._type(i)) for name, i in self.sources.items()]
        typed.append((self.by.out, family.type_of(self.of)))
        members.update({o.type: t for o, t in typed if o.type and not self._is_matrix_type(o)})
        if self.by.out.kind == "sampled" and "order" not in row["same"]:
            members["order"] = order_of(family, self.of)
        wanted = next((t for o, t in typed if self._is_matrix_type(o)), None)
        self.other = Family(self.by.name, self._matrix(wanted), context=family.context, **members)

    def _is_matrix_type(self, operand):
        return self.by.matrix is not None and operand.type == self.by.matrix["type"]

    def _source(self, of_input):
        """The operand that it comes from; its output's gradient is as the output."""
        operator = self.family.operator
        return operator.out if of_input["from"] is None else operator.operand(of_input["from"])

    def _type(self, of_input):
        return self.family.type_of(self._source(of_input))

    def _matrix(self, wanted):
        """FAMILY's, or one of the same pattern whose elements are of type WANTED (None: of any)."""
        matrix = self.family.matrix
        if wanted is None or wanted == matrix.type:
            return matrix
        known = matrix.__dict__.setdefault("_typed", {})
        if wanted not in known:
            row_ptr, col_idx, _ = matrix.read()
            known[wanted] = Matrix.from_bcrs(matrix.rows, matrix.cols, row_ptr, col_idx, None, matrix.vec, type=wanted,
                                             context=matrix.context)
        return known[wanted]

    def _order(self, tensor, before, after):
        """A sampled TENSOR, from one order to another."""
        if before == after:
            return tensor
        key = self.family.key
        if before:
            tensor = torch.ops.mcgen._reorder(tensor, key, before, True)
        return torch.ops.mcgen._reorder(tensor, key, after, False) if after else tensor

    def _input(self, name, given):
        """What the other operator gets as its operand NAME. GIVEN: this one's operands, None: its output's gradient."""
        source, target = self.sources[name], self.by.operand(name)
        operand = self._source(source)
        tensor = given.get(source["from"])
        if operand.kind == "values" and not self.family.has(operand):
            own = torch.ops.mcgen._own_values(given[None].detach(), self.family.key)
            return self._order(own, 0, order_of(self.other, target))
        if operand.kind in ("sampled", "values"):
            return self._order(tensor, order_of(self.family, operand), order_of(self.other, target))
        if operand.kind == "factor":
            return tensor
        turned = self.family.turned(operand) ^ source["transposed"] ^ self.other.turned(target)
        return tensor.transpose(-1, -2).contiguous() if turned else tensor.contiguous()

    def __call__(self, given, shape):
        """The gradient, of SHAPE. GIVEN: what it reads of the call's operands and its output, by their names; None: the
        output's gradient."""
        values = {name: self._input(name, given) for name in self.other.names}
        batch = max((v.dim() == 3 and v.shape[0] for v in values.values() if isinstance(v, torch.Tensor)), default=0)
        if batch and any(not o.stride for o in self.other.arrays):  # an operator without batches
            results = [self._run({n: v[i] if isinstance(v, torch.Tensor) and v.dim() == 3 else v for n, v in values.items()})
                       for i in range(batch)]
            made = torch.stack(results)
        else:
            made = self._run(values)
        out = self.by.out
        if out.kind == "sampled":
            return self._order(made, order_of(self.other, out), order_of(self.family, self.of))
        turned = self.other.turned(out) ^ self.row["transposed"] ^ self.family.turned(self.of)
        return made.transpose(-1, -2) if turned else made

    def _run(self, values):
        from .torch import call_op

        return call_op(self.other, values)


class _Added:
    """The gradient of an operand that is added to the output: a factor's is a sum."""

    def __init__(self, family, row):
        self.family, self.of = family, family.operator.operand(row["of"])

    def __call__(self, given, shape):
        gradient = given[None]
        if self.of.kind != "factor":
            return gradient.to(DTYPES[self.family.type_of(self.of)])
        words = self.family.operator.member(self.of.per).words
        by_row = self.family.numbers[self.of.per] == words["row"]
        summed = -1 if by_row != self.family.turned(self.family.operator.out) else -2
        made = gradient.float().sum((summed, 0) if gradient.dim() == 3 else summed)
        return made.reshape(shape)


def gradients_of(family) -> dict:
    """What computes gradients of FAMILY's operands, by their names."""
    if family._gradients is None:
        operator = family.operator
        rows = {row["of"]: row for row in operator.gradients}
        family._gradients = {n: (_Added if r["by"] is None else Gradient)(family, r) for n, r in rows.items()
                             if family.has(operator.operand(n))}
    return family._gradients


def refuse(family, names):
    """Raises RuntimeError where operands NAMES of FAMILY have no gradient."""
    operator = family.operator
    hindered = [m for m in operator.plain if family.numbers.get(m, 0)]
    if hindered:
        raise RuntimeError(f"{operator.name} has no gradient with {', '.join(hindered)}")
    known = {row["of"] for row in operator.gradients}
    for name in names:
        if name not in known:
            raise RuntimeError(f"{operator.name} has no gradient of {name}")
