"""Plans: one problem, and the kernel for it, ready to be launched."""

import ctypes
import functools
from collections.abc import Callable, Sequence
from ctypes import byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

from . import _call, arrays, types
from ._errors import error_of
from ._library import Handle, contents, description, mcrt, record
from .context import TUNINGS, Context, shared_context, word
from .matrix import Matrix
from .operators import OPERATORS

_info = record("mc_plan_info", ("origin", c_int), ("microseconds", c_double), ("spec", c_char_p), ("fields", c_char_p),
               ("hash", c_uint64), ("jit_log", c_char_p), ("c_elements", c_int64), ("reason", c_char_p),
               ("distance", c_double), ("transpose_fields", c_char_p), ("transpose_microseconds", c_double),
               ("dense", c_bool), ("dense_measured", c_bool), ("dense_reason", c_char_p), ("dense_microseconds", c_double),
               ("sparse_microseconds", c_double), ("dense_bytes", c_int64))
_pass_info = record("mc_pass_info", ("operand", c_char_p), ("fields", c_char_p), ("microseconds", c_double), ("bytes", c_size_t))
_operand_info = record("mc_operand_info", ("name", c_char_p), ("in_", c_bool), ("out", c_bool), ("wanted", c_bool),
                       ("by_value", c_bool), ("type", c_int), ("rows", c_int64), ("cols", c_int64), ("ld", c_int64),
                       ("products", c_int64), ("stride", c_int64), ("bytes", c_int64), ("align", c_uint))
_PROGRESS = ctypes.CFUNCTYPE(c_bool, c_void_p, c_void_p)
_tune_config = record("mc_tune_config", ("candidates", c_size_t), ("seconds", c_double), ("again", c_bool),
                      ("cold", c_bool), ("worker", c_char_p), ("progress", _PROGRESS), ("progress_user", c_void_p))
_tune_result = record("mc_tune_result", ("measured", c_size_t), ("wrong", c_size_t), ("failed", c_size_t),
                      ("known", c_size_t), ("microseconds", c_double), ("standard", c_double), ("complete", c_bool),
                      ("recorded", c_bool))
_progress = record("mc_tune_progress", ("stage", c_char_p), ("done", c_size_t), ("total", c_size_t), ("best", c_double),
                   ("best_fields", c_char_p), ("seconds", c_double), ("left", c_double))

DENSE = {None: 0, "never": 0, "if-faster": 1}
ORIGINS = ("measured", "near", "estimated", "default")


class _Head(ctypes.Structure):
    """The beginning of mc_plan_config; what follows is written by the members' places."""

    _fields_ = [("size", c_size_t), ("op", c_int), ("matrix", c_void_p)]


class PlanOperand:
    """An operand of a plan: `name`; `shape`, of one product [rows, cols] as it is stored, behind the number of products
    in a batch; `type`; `wanted`: it is handed over as an array; `by_value`: as a number; `out`, `into`: it is written,
    it is read."""

    def __init__(self, found):
        self.name = found.name.decode()
        self.type = types.NAMES[found.type]
        self.wanted, self.by_value, self.out, self.into = found.wanted, found.by_value, found.out, found.in_
        self.rows, self.cols, self.ld = found.rows, found.cols, found.ld
        self.products, self.stride, self.bytes, self.align = found.products, found.stride, found.bytes, found.align

    @property
    def shape(self) -> tuple[int, ...]:
        one = (self.rows, self.cols)
        return (self.products, *one) if self.products > 1 else one

    @property
    def dense(self) -> bool:
        """Whether rows and products follow each other without gaps."""
        return self.ld in (0, self.cols) and (self.products == 1 or self.stride == self.rows * self.ld)

    def takes(self, shape: Sequence[int]) -> bool:
        """Whether an array of SHAPE, without gaps, is the operand: one of 4 bits has half as many columns, of bytes."""
        one = (self.rows, types.held(self.type, self.cols))
        return self.dense and shape in (one, (self.products, *one)) and (self.products == 1 or len(shape) == 3)

    def __repr__(self):
        kind = "value" if self.by_value else f"{self.type}{list(self.shape)}" if self.wanted else "not wanted"
        return f"{self.name}: {kind}{' (out)' if self.out else ''}"


class _Owned(Handle):
    """A plan of C, and what it was made with: destroyed with the last who can execute it."""

    def __init__(self, address, *made_with):
        self.address, self.made_with = address, made_with
        self.destroy = mcrt.function("mc_plan_destroy", None, c_void_p)

    def __del__(self):
        self.destroy(self.address)


class Problem(Handle):
    """A problem as mc_plan_config has it: an operator's name, its matrix, and members by their names, with words for
    choices: Problem("spmm", matrix, rhs="f16", out="f16", n=256). A member may be called as in C, too (b, c_order ...).
    specs: names of shipped specs or paths of others, of which the kernel is then one. tuning: as a context has it.
    dense: "never", or "if-faster": never slower than dense, a dense kernel and the matrix with its zeros in memory where
    that is faster (docs/choice.md)."""

    def __init__(self, op: str, matrix: Matrix | None = None, *, context: Context | None = None, specs: Sequence[str] = (),
                 tuning: str | None = None, dense: str | None = None, **members: str | int | bool) -> None:
        if op not in OPERATORS:
            raise ValueError(f"there is no operator {op!r}, but {', '.join(OPERATORS)}")
        self.operator, self.matrix = OPERATORS[op], matrix
        self.context = context or (matrix.context if matrix is not None else shared_context())
        whole = bytearray(description()["config_bytes"])
        head = _Head.from_buffer(whole)
        head.size, head.op = len(whole), self.operator.value
        head.matrix = matrix._handle if matrix is not None else None
        del head
        for name, value in members.items():
            self.operator.member(name).put(whole, value)
        self._specs = (c_char_p * len(specs))(*[str(s).encode() for s in specs]) if specs else None
        self._put_tail(whole, specs, tuning, dense)
        self._bytes = (ctypes.c_char * len(whole)).from_buffer(whole)

    def _put_tail(self, whole, specs, tuning, dense):
        places = description()["config_places"]
        whole[places["tuning"]:places["tuning"] + 4] = word(TUNINGS, tuning, "tuning").to_bytes(4, "little")
        whole[places["dense"]:places["dense"] + 4] = word(DENSE, dense, "dense").to_bytes(4, "little")
        if specs:
            address = ctypes.addressof(self._specs)
            whole[places["specs"]:places["specs"] + 8] = address.to_bytes(8, "little")
            whole[places["spec_count"]:places["spec_count"] + 8] = len(specs).to_bytes(8, "little")

    def tune(self, *, candidates: int = 0, seconds: float = 0.0, again: bool = False, cold: bool = False,
             worker: str | None = None, progress: Callable[..., object] | None = None) -> dict[str, Any]:
        """Measures kernels for the problem, verified ones only, and appends what came of it to the context's records.

        candidates: at most (0: 40); seconds: at most (0: no limit); again: also those that the records have; cold:
        with operands that are not in the L2 cache; worker: the program that runs candidates ("": this process; None:
        what MCGEN_TUNER says); progress: called with a dict, returns False to stop.
        Returns measured, wrong, failed, known, microseconds, standard, complete, recorded."""

        def report(user, about):
            found = ctypes.cast(about, _progress.pointer).contents
            return progress(contents(found)) is not False

        config = _tune_config(candidates=candidates, seconds=seconds, again=again, cold=cold,
                              worker=None if worker is None else worker.encode(),
                              progress=_PROGRESS(report) if progress else _PROGRESS())
        result = _tune_result()
        mcrt.checked("mc_tune", *[c_void_p] * 4)(self.context._handle, self._bytes, byref(config), byref(result))
        return contents(result)


@functools.lru_cache(maxsize=None)
def _functions():
    names = ("mc_execute", "mc_diag_create", "mc_diag_destroy", "mc_diag_text")
    return tuple(mcrt.address(name) for name in names)


class Plan(Problem):
    """A problem with its kernel, loaded, and its matrix, packed: Plan("spmm", matrix, rhs="f16", out="f16", n=256).

    plan(b=b, scale=0.5) executes it on arrays that it makes the outputs of, plan.run on memory that is there. Operands
    are those of plan.operands, by their names. help(mcgen.Problem) says what it is made of.

    CannotError where there is no kernel for the problem."""

    def __init__(self, op: str, matrix: Matrix | None = None, **members: Any) -> None:
        super().__init__(op, matrix, **members)
        handle = c_void_p()
        mcrt.checked("mc_plan_create", *[c_void_p] * 3)(self.context._handle, self._bytes, byref(handle))
        self._handle = handle.value
        owned = _Owned(self._handle, self.context, self.matrix)
        self.operands = [self._operand(i) for i in range(len(self.operator.operands))]
        self.workspace = mcrt.function("mc_plan_workspace", c_size_t, c_void_p)(self._handle)
        """Bytes that an execution wants besides."""
        self._taken = [o for o in self.operands if o.wanted or o.by_value]
        self._launch = _call.Launch(_functions(), self._handle, owned, error_of, tuple((o.name, o.by_value) for o in self._taken))
        self.run = self._launch.run
        self.names = tuple(o.name for o in self._taken)
        """The operands in the order of run(address or value..., workspace, stream), which puts an execution on the stream
        and returns: at the least host time, and without a look at shapes and types."""

    def _operand(self, index) -> PlanOperand:
        found = _operand_info()
        mcrt.checked("mc_plan_get_operand", c_void_p, c_size_t, c_void_p)(self._handle, index, byref(found))
        return PlanOperand(found)

    def info(self) -> dict[str, Any]:
        """origin ("measured", "near", "estimated", "default"), microseconds, spec, fields, hash, jit_log, c_elements,
        reason, distance, transpose_fields of the first operand that is transposed first and transpose_microseconds of all
        of them, and of dense="if-faster" dense, dense_reason, dense_microseconds, sparse_microseconds, dense_measured,
        dense_bytes."""
        found = _info()
        mcrt.checked("mc_plan_get_info", c_void_p, c_void_p)(self._handle, byref(found))
        values = contents(found)
        values["origin"] = ORIGINS[values["origin"]]
        values["hash"] = f"{values['hash']:016x}"
        return values

    def passes(self) -> list[dict[str, Any]]:
        """operand, fields, microseconds and bytes of each kernel that an execution launches ahead, to transpose an operand
        that kernels cannot read as it lies."""
        get = mcrt.function("mc_plan_get_pass", c_int, c_void_p, c_size_t, c_void_p, c_void_p)
        found, passes = _pass_info(), []
        while get(self._handle, len(passes), byref(found), None) == 0:
            passes.append(contents(found))
        return passes

    def __call__(self, *, stream: int = 0, **given: Any) -> Any:
        """Executes the plan on arrays, and returns what it writes: one array, or a tuple in the operands' order.

        Arrays lie on the host (NumPy; they are copied there and back, and waited for) or on the device (DeviceArray,
        tensors, DLPack; STREAM is then what the execution is put on). An output that is handed over is written in
        place; one that is not is made, beside the others: NumPy arrays where all inputs are on the host, else
        DeviceArrays."""
        return _executed(self, given, stream)

    def __repr__(self):
        return f"Plan({self.operator.name}, {', '.join(map(repr, self._taken))}: {self.info()['fields']})"


def _checked(plan, operand, array):
    """ARRAY's view. TypeError and ValueError where it cannot be OPERAND."""
    found = arrays.view(array)
    arrays.check_dtype(found, operand.type, operand.name)
    if operand.out and found.readonly:
        raise ValueError(f"{operand.name} is written, and the array is read-only")
    flat = len(found.shape) == 1 and found.count * (types.BYTES[operand.type] or 1) == operand.bytes
    if not found.contiguous or not (flat or operand.takes(found.shape)):
        raise ValueError(f"{operand.name} has {found.shape}, must be {operand.shape} of {operand.type}"
                         f"{'' if operand.dense else f', {operand.ld} elements from row to row'}, without gaps")
    if found.device not in (None, plan.context, plan.context.index):
        raise ValueError(f"{operand.name} lies on another device than the plan's, {plan.context.device}")
    return found


def _staged(plan, operand, found):
    """A DeviceArray with the elements of FOUND, a view."""
    made = plan.context.empty(_shape_of(operand), operand.type)
    plan.context._write(made.address, found.address, min(made.bytes, operand.bytes))
    return made


def _shape_of(operand):
    if operand.dense:
        return operand.shape
    bits = types.BITS[operand.type]
    return (operand.bytes * 8 // (4 if bits == 4 else 8 * types.BYTES[operand.type]),)


def _executed(plan, given, stream):
    """See Plan.__call__."""
    known = {o.name for o in plan.operands}
    for name in given:
        if name not in known:
            raise TypeError(f"{plan.operator.name} has no operand {name!r}, but {', '.join(sorted(known))}")
    values, back, results, held = [], [], [], []
    inputs = [arrays.view(given[o.name]) for o in plan.operands if o.wanted and o.into and given.get(o.name) is not None]
    on_host = all(v.device is None for v in inputs) and (inputs != [] or plan.context.is_simulator)
    for operand in plan._taken:
        array = given.get(operand.name)
        if operand.by_value:
            if array is None:
                raise TypeError(f"{operand.name} is missing, a number")
            values.append(float(array))
            continue
        if array is None and operand.into and operand.bytes > 0:
            raise TypeError(f"{operand.name} is missing: {operand!r}")
        if array is None:
            made = plan.context.empty(_shape_of(operand), operand.type)
            values.append(made.address), held.append(made)
            results.append((operand, made, None))
            continue
        found = _checked(plan, operand, array)
        if found.device is None:
            made = _staged(plan, operand, found)
            values.append(made.address), held.append(made)
            if operand.out:
                back.append((made, found, operand))
        else:
            values.append(found.address), held.append(found)
        if operand.out:
            results.append((operand, None, array))
    space = plan.context.empty((plan.workspace,), "u8") if plan.workspace else None
    plan.run(*values, space.address if space else 0, stream)
    if back or on_host or space:
        plan.context.synchronize(stream)
    for made, found, operand in back:
        plan.context._read(made.address, found.address, operand.bytes)
    outputs = tuple(array if made is None else made.numpy() if on_host else made for _, made, array in results)
    return outputs[0] if len(outputs) == 1 else outputs


__all__ = ["Problem", "Plan", "PlanOperand"]
