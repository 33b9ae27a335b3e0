"""Contexts, matrices, plans and arrays, with NumPy."""

import numpy
import pytest

import mcgen


def pruned(rows, cols, dtype="int8", vec=8, seed=1, keep=0.3):
    random = numpy.random.default_rng(seed)
    mask = numpy.repeat(random.random((rows // vec, cols)) < keep, vec, axis=0)
    if dtype.startswith("float"):
        return (random.standard_normal((rows, cols)) * mask).astype(dtype)
    return (random.integers(-100, 100, (rows, cols)) * mask).astype(dtype)


class OnlyDLPack:
    """An array that is nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("vec", [1, 2, 4, 8, 16])
def test_product_is_exact(context, vec):
    weight = pruned(64, 80, vec=vec)
    matrix = mcgen.Matrix.from_dense(weight, vec, context=context)
    b = numpy.random.default_rng(2).integers(-128, 128, (80, 72)).astype("int8")
    plan = mcgen.Plan("spmm", matrix, rhs="s8", out="s32", n=72)
    assert (plan(b=b) == weight.astype(int) @ b.astype(int)).all()
    assert plan.info()["origin"] in ("measured", "near", "estimated", "default")


@pytest.mark.parametrize("n", [1, 33])
def test_f32_without_tensor_cores(context, n):
    """Nothing is rounded before it is multiplied: sums of f32 alone are. A vector is a product of one column."""
    weight, random = pruned(40, 50, "float32", vec=1), numpy.random.default_rng(3)
    b = random.standard_normal((50, n)).astype("float32")

    def check(found, a):
        most = numpy.abs(a.astype("float64")) @ numpy.abs(b.astype("float64"))
        assert found.dtype == numpy.float32
        assert (numpy.abs(found - a.astype("float64") @ b.astype("float64")) <= 50 * 2.0**-24 * most).all()

    matrix = mcgen.Matrix.from_dense(weight, 1, context=context)
    assert matrix.type == "f32"
    plan = mcgen.Plan("spmm", matrix, rhs="f32", out="f32", n=n)
    check(plan(b=b), weight)
    row_ptr, col_idx, values = matrix.read()
    assert bytes(values) == weight[weight != 0].tobytes()
    again = mcgen.Matrix.from_bcrs(40, 50, row_ptr, col_idx, weight[weight != 0], 1, context=context)
    assert (mcgen.Plan("spmm", again, rhs="f32", out="f32", n=n)(b=b) == plan(b=b)).all()
    matrix.set_values((weight[weight != 0] * numpy.float32(1.1)).reshape(-1, 1))
    check(plan(b=b), weight * numpy.float32(1.1))
    with pytest.raises(TypeError, match=r"b has float16, must be float32 \(f32\)"):
        plan(b=b.astype("float16"))


def csr(rows, cols, dtype="float32", density=0.1):
    weight = pruned(rows, cols, dtype, vec=1, keep=density)
    row_ptr = numpy.concatenate([[0], numpy.cumsum((weight != 0).sum(1))]).astype("int32")
    return weight, (row_ptr, numpy.nonzero(weight)[1].astype("int32"), weight[weight != 0])


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_csr_on_the_device(context, kind):
    """Copied there, or read where it lies, and copied later: the same product."""
    weight, host = csr(40, 50, kind)
    lent = [context.array(a) for a in host]
    members = dict(rhs=mcgen.types.of_dtype(kind), out="f32", n=16)
    b = numpy.random.default_rng(9).standard_normal((50, 16)).astype(kind)
    copied, borrowed = (mcgen.Matrix.from_bcrs(40, 50, *lent, vec=1, context=context),
                        mcgen.Matrix.borrow(40, 50, *lent, context=context))
    assert not copied.borrowed and borrowed.borrowed and borrowed.vectors == host[1].size
    first = mcgen.Plan("spmm", borrowed, **members)
    with pytest.raises(mcgen.Error, match="mc_matrix_settle"):
        borrowed.read()
    want = weight.astype("float64") @ b.astype("float64")
    for plan in (first, mcgen.Plan("spmm", copied, **members)):
        assert numpy.allclose(plan(b=b), want, atol=1e-2)
    before = first(b=b)
    borrowed.settle()
    assert not borrowed.borrowed and bytes(borrowed.read()[2]) == host[2].tobytes()
    assert (first(b=b) == before).all()
    assert numpy.allclose(mcgen.Plan("spmm", borrowed, **members)(b=b), want, atol=1e-2)


def test_csr_that_cannot_be_taken(context):
    host = csr(40, 50)[1]
    lent = [context.array(a) for a in host]
    with pytest.raises(ValueError, match="col_idx lies elsewhere than row_ptr"):
        mcgen.Matrix.from_bcrs(40, 50, lent[0], *host[1:], vec=1)
    with pytest.raises(ValueError, match="row_ptr lies elsewhere"):
        mcgen.Matrix.borrow(40, 50, *host, context=context)
    with pytest.raises(ValueError, match="values are wanted"):
        mcgen.Matrix.borrow(40, 50, *lent[:2], None, context=context)
    with pytest.raises(ValueError, match="row_ptr has 41 elements, must have 42"):
        mcgen.Matrix.borrow(41, 50, *lent, context=context)
    with pytest.raises(TypeError, match="row_ptr has int64 in 1 dimensions, must be a vector of int32"):
        mcgen.Matrix.borrow(40, 50, host[0].astype("int64"), *lent[1:], context=context)
    with pytest.raises(ValueError, match="a span goes with a matrix on the host"):
        mcgen.Matrix.from_bcrs(40, 50, *lent, vec=1, span=8, context=context)
    with pytest.raises(ValueError, match=r"col_idx has 3 elements, row_ptr counts \d+"):
        mcgen.Matrix.from_bcrs(40, 50, lent[0], context.array(host[1][:3].copy()), context.array(host[2][:3].copy()), vec=1,
                               context=context)
    nothing = numpy.zeros(0, "int32")
    for rows, vec in ((-1, 1), (-8, 8), (40, 0), (40, -8)):
        for empty in (nothing, context.array(nothing)):
            with pytest.raises(ValueError, match=f"rows is {rows} and vec {vec}"):
                mcgen.Matrix.from_bcrs(rows, 50, empty, empty, vec=vec, context=context)
    wrong = host[1].copy()
    wrong[7] = 50
    borrowed = mcgen.Matrix.borrow(40, 50, lent[0], context.array(wrong), lent[2], context=context)
    with pytest.raises(mcgen.Error, match="column"):
        borrowed.settle()
    assert borrowed.borrowed


def test_never_slower_than_dense(context):
    weight = pruned(32, 2048, "float16", keep=0.7)
    matrix = mcgen.Matrix.from_dense(weight, context=context)
    b = numpy.random.default_rng(5).standard_normal((2048, 40)).astype("float16")
    members = dict(rhs="f16", out="f32", n=40)
    plans = [mcgen.Plan("spmm", matrix, dense=dense, **members) for dense in (None, "never", "if-faster")]
    assert [p.info()["dense"] for p in plans] == [False, False, True] or context.device != "PTX simulator"
    for plan in plans:
        assert numpy.allclose(plan(b=b), weight.astype("float64") @ b.astype("float64"), atol=1e-2)
    info = plans[2].info()
    assert info["dense_reason"] and info["dense_bytes"] == weight.nbytes and info["sparse_microseconds"] > 0
    with pytest.raises(ValueError, match="dense is 'always', must be one of None, 'never', 'if-faster'"):
        mcgen.Plan("spmm", matrix, dense="always", **members)
    with pytest.raises(mcgen.Error, match="dense is set, which an SDDMM has not"):
        mcgen.Plan("sddmm", matrix, dense="if-faster", lhs="f16", rhs="f16", out="f32", k=16)


def in_halves(values):
    """Two neighbours of a row in a byte, the first one in its low half."""
    return numpy.ascontiguousarray(values[:, ::2] & 15 | values[:, 1::2] << 4).astype("uint8")


@pytest.mark.parametrize("a_major, layout, operands", [("row", "columns", []), ("column", "columns", ["a"]),
                                                       ("row", "rows", ["b"]), ("column", "rows", ["a", "b"])])
@pytest.mark.parametrize("kind, stored", [("s8", numpy.ascontiguousarray), ("s4", in_halves)])
def test_operands_that_are_transposed_first(context, kind, stored, a_major, layout, operands):
    random = numpy.random.default_rng(4)
    a, b = random.integers(-8, 8, (34, 70), "int8"), random.integers(-8, 8, (70, 42), "int8")
    plan = mcgen.Plan("gemm", context=context, lhs=kind, rhs=kind, out="s32", m=34, n=42, k=70, a_major=a_major, layout=layout)
    given = dict(a=stored(a.T if a_major == "column" else a), b=stored(b if layout == "rows" else b.T))
    assert numpy.array_equal(plan(**given), a.astype("int32") @ b.astype("int32"))
    assert [found["operand"] for found in plan.passes()] == operands
    assert sum(found["bytes"] for found in plan.passes()) == plan.workspace


def test_scales_of_blocks(context):
    random = numpy.random.default_rng(8)
    a, b = random.integers(0, 2, (33, 208)), random.integers(0, 2, (208, 130))
    a_blocks, b_blocks = (2.0 ** random.integers(-2, 3, shape).astype("float32") for shape in ((33, 2), (2, 2)))
    plan = mcgen.Plan("gemm", context=context, lhs="e4m3", rhs="e4m3", out="f32", m=33, n=130, k=208, sums="promoted",
                      block_scales=True)
    one = 0x38  # 1 in e4m3
    given = dict(a=(a * one).astype("uint8"), b=numpy.ascontiguousarray(b.T * one).astype("uint8"), b_blocks=b_blocks)
    of_a = a_blocks.repeat(128, 1)[:, :208]
    of_b = b_blocks.repeat(128, 0)[:130].repeat(128, 1)[:, :208]
    assert numpy.array_equal(plan(**given, a_blocks=a_blocks), (a * of_a) @ (b * of_b.T))
    with pytest.raises(ValueError, match=r"a_blocks has \(2, 33\), must be \(33, 2\) of f32"):
        plan(**given, a_blocks=a_blocks.T.copy())


def six_of_eight(rows, cols, seed=1):
    random = numpy.random.default_rng(seed)
    weight = random.integers(1, 4, (rows, cols)).astype("float16")
    for row in weight:
        for first in range(0, cols, 8):
            row[first + random.permutation(min(8, cols - first))[:2]] = 0
    return weight


@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_weights_of_six_of_eight(context, layout):
    weight, b = six_of_eight(40, 100), numpy.random.default_rng(2).integers(-3, 4, (100, 48)).astype("float16")
    matrix = mcgen.Matrix.from_dense(weight, 1, span=8, context=context)
    plan = mcgen.Plan("gemm24", matrix, rhs="f16", out="f32", n=48, layout=layout)
    given = b if layout == "rows" else b.T.copy()
    assert matrix.cols == 100 and plan.workspace > 0
    assert [p["operand"] for p in plan.passes()] == ["b"] * (1 if layout == "columns" else 2)
    assert (plan(b=given) == weight.astype("float32") @ b.astype("float32")).all()
    row_ptr, col_idx, values = matrix.read()
    again = mcgen.Matrix.from_bcrs(40, 100, numpy.array(row_ptr), numpy.array(col_idx),
                                   numpy.frombuffer(values, "float16").reshape(-1, 1), 1, span=8, context=context)
    assert (mcgen.Plan("gemm24", again, rhs="f16", out="f32", n=48, layout=layout)(b=given) == plan(b=given)).all()
    with pytest.raises(mcgen.Error, match="spans have more than 4 of 6 elements, the first one is row 0"):
        mcgen.Matrix.from_dense(numpy.ones((2, 12), "float16"), 1, span=6, context=context)


def test_bcrs_and_new_values(context):
    weight = pruned(32, 40, seed=3)
    blocks = weight.reshape(4, 8, 40)
    row, col = blocks.any(1).nonzero()
    values = numpy.ascontiguousarray(blocks[row, :, col])
    row_ptr = numpy.searchsorted(row, numpy.arange(5)).astype("int32")
    matrix = mcgen.Matrix.from_bcrs(32, 40, row_ptr, col.astype("int32"), values, context=context)
    assert (matrix.vectors, matrix.type, matrix.rows, matrix.cols) == (len(col), "s8", 32, 40)
    b = numpy.arange(40 * 16, dtype="int64").astype("int8").reshape(40, 16)
    plan = mcgen.Plan("spmm", matrix, rhs="s8", out="s32", n=16)
    assert (plan(b=b) == weight.astype(int) @ b.astype(int)).all()
    matrix.set_values(-(values // 2))
    halved = -(blocks // 2)
    assert (plan(b=b) == (halved * blocks.any(1, keepdims=True)).reshape(32, 40).astype(int) @ b.astype(int)).all()


def test_memory_of_all_kinds(context):
    weight = pruned(16, 24, "float16")
    matrix = mcgen.Matrix.from_dense(weight, context=context)
    b = numpy.random.default_rng(4).standard_normal((24, 32)).astype("float16")
    plan = mcgen.Plan("spmm", matrix, rhs="f16", out="f32", n=32)
    want = plan(b=b)
    assert abs(want - weight.astype("f8") @ b.astype("f8")).max() < 1e-2
    assert (plan(b=OnlyDLPack(b)) == want).all()
    on_device = context.array(b)
    made = plan(b=on_device)
    assert isinstance(made, mcgen.DeviceArray) and (made.numpy() == want).all()
    into = numpy.empty((16, 32), "float32")
    assert plan(b=b, c=into) is into and (into == want).all()
    made.write(numpy.zeros((16, 32), "float32"))
    plan.run(on_device.address, made.address, 0, 0)
    context.synchronize()
    assert (made.numpy() == want).all()


def test_factors_by_value_and_by_row(context):
    weight = pruned(16, 24)
    matrix = mcgen.Matrix.from_dense(weight, context=context)
    b = numpy.random.default_rng(5).integers(-50, 50, (24, 32)).astype("int8")
    exact = weight.astype(int) @ b.astype(int)
    plan = mcgen.Plan("spmm", matrix, rhs="s8", out="f32", n=32, scale="tensor")
    assert (plan(b=b, scale=0.5) == exact * 0.5).all()
    scales = numpy.arange(1, 17, dtype="float32")
    plan = mcgen.Plan("spmm", matrix, rhs="s8", out="f32", n=32, scale="row", bias="row")
    assert (plan(b=b, scale=scales, bias=scales) == exact * scales[:, None] + scales[:, None]).all()


def test_softmax_has_two_outputs(context):
    mask = mcgen.Matrix.from_dense(pruned(32, 60, "float32", keep=0.5), context=context)
    plan = mcgen.Plan("softmax", mask, lhs="f32", out="f32", lse="row")
    x = numpy.random.default_rng(6).standard_normal((mask.vectors, 8)).astype("float32")
    lse, c = plan(x=x)
    assert lse.size == 32 and c.shape == (mask.vectors, 8) and 0 < c.min() and c.max() <= 1


@pytest.mark.parametrize("wrong, kind, text", [
    (dict(op="spnn"), ValueError, "there is no operator 'spnn'"),
    (dict(op="spmm", foo=1), ValueError, "spmm has no member 'foo'"),
    (dict(op="spmm", rhs="s7"), ValueError, "rhs is 's7', must be"),
    (dict(op="spmm", rhs="s8", out="f64", n=8), ValueError, "out is 'f64'"),
    (dict(op="spmm", rhs="s8", out="s32", n=8, specs=["no_such"]), mcgen.UsageError, "no_such"),
    (dict(op="spmm", rhs="s8", out="s32", n=8, tuning="maybe"), ValueError, "tuning is 'maybe'")])
def test_wrong_problems(context, wrong, kind, text):
    matrix = mcgen.Matrix.from_dense(pruned(16, 24), context=context)
    wrong = dict(wrong)
    with pytest.raises(kind, match=text):
        mcgen.Plan(wrong.pop("op"), matrix, **wrong)


def test_wrong_operands(context):
    matrix = mcgen.Matrix.from_dense(pruned(16, 24), context=context)
    plan = mcgen.Plan("spmm", matrix, rhs="s8", out="s32", n=32)
    good = numpy.zeros((24, 32), "int8")
    with pytest.raises(ValueError, match=r"b has \(24, 16\)"):
        plan(b=good[:, :16].copy())
    with pytest.raises(ValueError, match="without gaps"):
        plan(b=numpy.zeros((24, 64), "int8")[:, ::2])
    with pytest.raises(TypeError, match="b has float32, must be int8"):
        plan(b=good.astype("float32"))
    with pytest.raises(TypeError, match="b is missing"):
        plan()
    with pytest.raises(TypeError, match="no operand 'd'"):
        plan(b=good, d=good)
    with pytest.raises(TypeError, match="is no array"):
        plan(b=[1, 2])
    with pytest.raises(mcgen.CannotError, match="b is missing"):
        plan.run(0, 0, 0, 0)
    with pytest.raises(TypeError, match="arguments"):
        plan.run(0)


def test_wrong_matrices(context):
    with pytest.raises(mcgen.FormatError):
        mcgen.Matrix.from_bcrs(16, 8, numpy.array([0, 1, 1], "int32"), numpy.array([9], "int32"), context=context)
    with pytest.raises(ValueError, match="row_ptr has 2 elements, must have 3"):
        mcgen.Matrix.from_bcrs(16, 8, numpy.array([0, 1], "int32"), numpy.array([0], "int32"), context=context)
    with pytest.raises(ValueError, match="col_idx has 1 elements, row_ptr counts 5"):
        mcgen.Matrix.from_bcrs(16, 8, numpy.array([0, 1, 5], "int32"), numpy.array([0], "int32"), context=context)
    with pytest.raises(mcgen.Error):
        mcgen.Matrix.from_dense(pruned(16, 24), vec=3, context=context)


def test_context_and_records(context, tmp_path):
    said = []
    own = mcgen.Context("sim", cache="mem", records=str(tmp_path / "r.jsonl"), log=lambda level, text: said.append(level))
    assert own.is_simulator and own.info()["device"] == "PTX simulator"
    matrix = mcgen.Matrix.from_dense(pruned(16, 24), context=own)
    problem = mcgen.Problem("spmm", matrix, rhs="s8", out="s32", n=32)
    stages = set()
    result = problem.tune(candidates=2, worker="", progress=lambda about: stages.add(about["stage"]))
    assert result["measured"] > 0 and result["wrong"] == 0 and result["recorded"] and "time" in stages
    assert mcgen.Plan("spmm", matrix, rhs="s8", out="s32", n=32).info()["origin"] == "measured"
    assert own.export_records(tmp_path / "out.jsonl") == 1 and "detail" in said
    other = mcgen.Context("sim", cache="mem", records="")
    assert other.import_records(tmp_path / "out.jsonl") == 1
    with pytest.raises(mcgen.Error):
        mcgen.Context("cuda:99")
    with pytest.raises(ValueError, match="cache is 'disk'"):
        mcgen.Context("sim", cache="disk")


def test_importing_wants_nothing():
    import subprocess
    import sys

    code = "import sys; import mcgen; assert not {'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_handles_are_not_copied(context):
    import copy
    import gc
    import pickle

    matrix = mcgen.Matrix.from_dense(pruned(16, 24), context=context)
    plan = mcgen.Plan("spmm", matrix, rhs="s8", out="s32", n=32)
    for handle in (context, matrix, plan, mcgen.Spec("spmm_l8r8"), mcgen.Simulator(), context.empty((3,), "s8")):
        for copies in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="neither copied nor pickled"):
                copies(handle)
    b, c = context.array(numpy.ones((24, 32), "int8")), context.array(numpy.zeros((16, 32), "int32"))
    run = mcgen.Plan("spmm", mcgen.Matrix.from_dense(pruned(16, 24), context=context), rhs="s8", out="s32", n=32).run
    gc.collect()
    run(b.address, c.address, 0, 0)
    context.synchronize()
    assert c.numpy().any()


def test_arrays_that_cannot_be_taken(context):
    matrix = mcgen.Matrix.from_dense(pruned(16, 24), context=context)
    plan = mcgen.Plan("spmm", matrix, rhs="s8", out="s32", n=32)
    b = numpy.ones((24, 32), "int8")
    with pytest.raises(ValueError, match="read-only"):
        plan(b=b, c=numpy.frombuffer(bytes(16 * 32 * 4), "int32").reshape(16, 32))
    with pytest.raises(ValueError, match=r"b has \(32, 24\)"):
        plan(b=numpy.ascontiguousarray(b.T))
    with pytest.raises(TypeError, match="byte order"):
        mcgen.Matrix.from_dense(pruned(16, 24, "float16").astype(">f2"), context=context)
    fours = mcgen.Matrix.from_dense(numpy.full((16, 12), 0x21, "uint8"), type="s4", context=context)
    assert (fours.rows, fours.cols) == (16, 24)
    other = mcgen.Context("sim", cache="mem", records="")
    with pytest.raises(ValueError, match="elsewhere"):
        mcgen.Matrix.from_dense(other.array(pruned(16, 24)), context=context)
