"""Gradients of ops, as their operators name them, against PyTorch's in float64 over the same stored values."""

import pytest

torch = pytest.importorskip("torch")
import mcgen  # noqa: E402
import mcgen.gradient as gradients  # noqa: E402
import mcgen.nn as sparse  # noqa: E402
import mcgen.torch as ops  # noqa: E402
from test_nn import draw, within  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(torch.library, "opcheck"), reason="PyTorch is too old")
M, K, N, VEC = 64, 96, 40, 8
ORDERS = {"bcrs": 0, "srbcrs16": 16, "srbcrs32": 32}


def make_pattern(vec=VEC):
    """A bool tensor, with an empty row block, a full one, and one of more than 32 vectors."""
    keep = torch.rand(M // vec, K, generator=torch.Generator().manual_seed(4)) < 0.3
    keep[1], keep[2] = False, True
    return keep.repeat_interleave(vec, 0)


@pytest.fixture(scope="module")
def case(context):
    pattern = make_pattern()
    weight = draw(M, K) * pattern
    return mcgen.Matrix.from_dense(weight, context=context), weight, pattern


def on(device, *shape, seed=2, dtype=torch.float16):
    return draw(*shape, seed=seed, dtype=dtype, device=device).requires_grad_(True)


def scatter(values, matrix, order):
    """The dense tensor, f64, of VALUES in ORDER."""
    row_ptr, col_idx, _ = matrix.read()
    values = values.detach().cpu().double()
    dense = torch.zeros(*values.shape[:-2], matrix.rows, matrix.cols, dtype=torch.float64)
    base = 0
    for block in range(len(row_ptr) - 1):
        count = row_ptr[block + 1] - row_ptr[block]
        for i in range(count):
            column = col_idx[row_ptr[block] + i]
            rows = slice(block * matrix.vec, (block + 1) * matrix.vec)
            if order == 0:
                dense[..., rows, column] = values[..., row_ptr[block] + i, :]
            else:
                at = (base + i // order) * matrix.vec
                dense[..., rows, column] = values[..., at:at + matrix.vec, i % order]
        base += -(-count // order) if order else 0
    return dense


def reference(function, *tensors):
    """FUNCTION of the tensors in f64 on the CPU, these, and what backward of `dy` gives."""
    leaves = [t.detach().cpu().double().requires_grad_(True) for t in tensors]
    return function(*leaves), leaves


def test_a_matrix_is_read_back(case, context):
    matrix, weight, pattern = case
    row_ptr, col_idx, values = matrix.read()
    assert len(row_ptr) == M // VEC + 1 and len(col_idx) == matrix.vectors == row_ptr[-1]
    dense = scatter(torch.frombuffer(values, dtype=torch.float16).reshape(-1, VEC), matrix, 0)
    assert torch.equal(dense, weight.double())
    empty = mcgen.Matrix.from_dense(torch.zeros(16, 8, dtype=torch.float16), context=context)
    assert empty.read()[1:] == (type(col_idx)("i"), bytearray())


@pytest.mark.parametrize("majors", ["row", "column"])
def test_spmm(case, device, majors):
    matrix, weight, _ = case
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", bias="row", b_major=majors, c_major=majors)
    turn = majors == "column"
    b = on(device, *((N, K) if turn else (K, N)))
    bias = torch.randn(M, device=device, requires_grad=True)
    y = torch.ops.mcgen.spmm(b, family.key, bias=bias)
    dy = draw(*y.shape, seed=3, device=device)
    y.backward(dy)
    d = dy.cpu().double().t() if turn else dy.cpu().double()
    got = b.grad.cpu().t() if turn else b.grad.cpu()
    assert within(got, weight.double().t() @ d, weight.double().t().abs() @ d.abs(), torch.float16, M)
    assert torch.equal(bias.grad.cpu(), dy.cpu().float().sum(0 if turn else 1)) or \
        torch.allclose(bias.grad.cpu().double(), d.sum(1))


def test_values_that_change(case, device, context):
    """A matrix's newest values are those of the gradient."""
    _, weight, pattern = case
    matrix = mcgen.Matrix.from_dense(weight, context=context)
    family = ops.Family("spmm", matrix, rhs="f16", out="f16")
    b, dy = on(device, K, N), draw(M, N, seed=3, device=device)
    torch.ops.mcgen.spmm(b, family.key).backward(dy)
    twice = torch.frombuffer(matrix.read()[2], dtype=torch.float16).reshape(-1, VEC) * 2
    matrix.set_values(twice)
    before, b.grad = b.grad.clone(), None
    torch.ops.mcgen.spmm(b, family.key).backward(dy)
    assert (b.grad.float() - 2 * before.float()).abs().max() < 0.02


@pytest.mark.parametrize("order", ["bcrs", "srbcrs32"])
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_sddmm(case, device, order, layout):
    matrix, _, pattern = case
    family = ops.Family("sddmm", matrix, lhs="f16", rhs="f16", out="f16", order=order, layout=layout)
    a, b = on(device, M, 32), on(device, *((K, 32) if layout == "columns" else (32, K)), seed=5)
    c = torch.ops.mcgen.sddmm(a, b, family.key)
    dc = draw(*c.shape, seed=6, device=device)
    c.backward(dc)
    dense = scatter(dc, matrix, ORDERS[order])
    keys = b.detach().cpu().double() if layout == "columns" else b.detach().cpu().double().t()
    got = b.grad.cpu() if layout == "columns" else b.grad.cpu().t()
    assert within(a.grad.cpu(), dense @ keys, dense.abs() @ keys.abs(), torch.float16, K)
    queries = a.detach().cpu().double()
    assert within(got, dense.t() @ queries, dense.t().abs() @ queries.abs(), torch.float16, M)


def test_spmmt_and_given_values(case, device):
    matrix, _, pattern = case
    values, b = on(device, matrix.vectors, VEC), on(device, M, N, seed=5)
    turned = ops.Family("spmmt", matrix, lhs="f16", rhs="f16", out="f16")
    c = torch.ops.mcgen.spmmt(values, b, turned.key)
    dc = draw(K, N, seed=6, device=device)
    c.backward(dc)
    a, dc64, b64 = scatter(values, matrix, 0), dc.cpu().double(), b.detach().cpu().double()
    assert within(b.grad.cpu(), a @ dc64, a.abs() @ dc64.abs(), torch.float16, K)
    want, magnitudes = b64 @ dc64.t(), b64.abs() @ dc64.abs().t()
    got = scatter(values.grad, matrix, 0)
    assert within(got[pattern].float(), want[pattern], magnitudes[pattern], torch.float16, N)
    given = ops.Family("spmm", matrix, rhs="f16", out="f16", given_values=True)
    strided = torch.ops.mcgen._reorder(values.detach(), given.key, 32, False).requires_grad_(True)
    assert torch.equal(torch.ops.mcgen._reorder(strided.detach(), given.key, 32, True), values)
    b = on(device, K, N, seed=5)
    dy = draw(M, N, seed=3, device=device)
    torch.ops.mcgen.spmm(b, given.key, values=strided).backward(dy)
    d, b64 = dy.cpu().double(), b.detach().cpu().double()
    assert within(b.grad.cpu(), a.t() @ d, a.t().abs() @ d.abs(), torch.float16, M)
    got, want = scatter(strided.grad, matrix, 32), d @ b64.t()
    assert within(got[pattern].float(), want[pattern], (d.abs() @ b64.t().abs())[pattern], torch.float16, N)


@pytest.mark.parametrize("scale", [None, 0.25])
def test_softmax(case, device, scale):
    matrix, _, pattern = case
    family = ops.Family("softmax", matrix, lhs="f16", out="f16", order="srbcrs32", lse="row",
                        scale="none" if scale is None else "tensor")
    plain = ops.Family("sddmm", matrix, lhs="f16", rhs="f16", out="f16", order="srbcrs32")
    x = torch.ops.mcgen.sddmm(draw(M, 32, device=device), draw(K, 32, seed=5, device=device), plain.key)
    x.requires_grad_(True)
    p, lse = torch.ops.mcgen.softmax(x, family.key, **({} if scale is None else {"scale_value": scale}))
    assert not lse.requires_grad
    dp = draw(*p.shape, seed=6, device=device)
    p.backward(dp)
    dense = scatter(x, matrix, 32).requires_grad_(True)
    scores = (dense * (scale or 1)).masked_fill(~pattern, float("-inf"))
    torch.softmax(scores, -1).nan_to_num(0).backward(scatter(dp, matrix, 32))
    got = scatter(x.grad, matrix, 32)
    # p and its gradient's parts are rounded to f16; sums of K products of these
    bound = 2.0 ** -10 * (scale or 1) * (1 + scatter(dp, matrix, 32).abs().amax(-1, keepdim=True)) + 2.0 ** -23
    assert bool(((got - dense.grad.nan_to_num(0)).abs() <= bound).all())


@pytest.mark.parametrize("batch", [(), (2,)])
def test_attention(device, batch):
    pattern = make_pattern()
    mask = sparse.AttentionMask(pattern, device=device)
    q, k, v = on(device, *batch, M, 32), on(device, *batch, K, 32, seed=5), on(device, *batch, K, 32, seed=6)
    y = sparse.sparse_attention(q, k, v, mask)
    dy = draw(*y.shape, seed=7, device=device)
    y.backward(dy)

    def dense(q, k, v):
        scores = (q @ k.transpose(-1, -2) / 32 ** 0.5).masked_fill(~pattern, float("-inf"))
        return torch.softmax(scores, -1).nan_to_num(0) @ v

    want, leaves = reference(dense, q, k, v)
    want.backward(dy.cpu().double())
    for got, leaf in zip((q, k, v), leaves):
        wanted = leaf.grad.nan_to_num(0)
        assert got.grad.shape == got.shape
        assert ((got.grad.cpu().double() - wanted).norm() / wanted.norm()) < 3e-3


def test_compiled_with_gradients(case, device):
    matrix, _, _ = case
    family = ops.Family("sddmm", matrix, lhs="f16", rhs="f16", out="f16", order="srbcrs32")
    a, b = on(device, M, 32), on(device, K, 32, seed=5)

    def loss(a, b):
        return torch.ops.mcgen.sddmm(a, b, family.key).float().square().sum()

    loss(a, b).backward()
    want = a.grad.clone(), b.grad.clone()
    a.grad = b.grad = None
    torch.compile(loss, fullgraph=True, backend="aot_eager" if device == "cpu" else "inductor")(a, b).backward()
    assert torch.equal(a.grad, want[0]) and torch.equal(b.grad, want[1])


def test_gradients_that_there_are_not(case, device):
    matrix, _, _ = case
    b = on(device, K, N)
    relu = ops.Family("spmm", matrix, rhs="f16", out="f16", bias="row", scale="tensor", activation="relu")
    y = torch.ops.mcgen.spmm(b, relu.key, bias=torch.zeros(M, device=device), scale_value=1.0)
    with pytest.raises(RuntimeError, match="spmm has no gradient with .*activation"):
        y.sum().backward()
    f16 = dict(lhs="f16", rhs="f16", out="f16")
    last = ops.Family("softmax_grad", matrix, **f16)
    p = on(device, matrix.vectors, VEC)
    with pytest.raises(RuntimeError, match="softmax_grad has no gradient of p"):
        torch.ops.mcgen.softmax_grad(p, p.detach(), last.key).sum().backward()
    second = ops.Family("spmm", matrix, rhs="f16", out="f16")  # a gradient of an SpMM is a product, and has one
    y = torch.ops.mcgen.spmm(b, second.key)
    g, = torch.autograd.grad(y.float().square().sum(), b, create_graph=True)
    g.float().square().sum().backward()
    assert b.grad.shape == b.shape and gradients.order_of(second, second.operator.operand("values")) == 32


def test_what_is_kept(case, device, context):
    """Outputs may be written to where no gradient reads them; values may not change between call and backward."""
    _, weight, _ = case
    matrix = mcgen.Matrix.from_dense(weight, context=context)
    family = ops.Family("spmm", matrix, rhs="f16", out="f16")
    b = on(device, K, N)
    y = torch.ops.mcgen.spmm(b, family.key)
    assert [t.shape for t in y.grad_fn.saved_tensors] == []
    torch.relu_(y).sum().backward()
    assert b.grad.abs().sum() > 0
    y = torch.ops.mcgen.spmm(b, family.key)
    matrix.set_values(torch.frombuffer(matrix.read()[2], dtype=torch.float16).reshape(-1, VEC) * 2)
    with pytest.raises(RuntimeError, match="got new values between the call and its backward"):
        y.sum().backward()


def test_without_vectors(device, context):
    matrix = mcgen.Matrix.from_dense(torch.zeros(16, 24, dtype=torch.float16), context=context)
    family = ops.Family("spmm", matrix, rhs="f16", out="f16")
    b = on(device, 24, 8)
    y = torch.ops.mcgen.spmm(b, family.key)
    y.sum().backward()
    assert not y.any() and not b.grad.any() and b.grad.shape == b.shape


def test_keys_that_are_not_skipped(case, device):
    """Views that are negated, and tensors without data, go through the dispatcher."""
    matrix, _, _ = case
    family = ops.Family("spmm", matrix, rhs="f16", out="f16")
    b = on(device, K, N).detach()
    y = torch.ops.mcgen.spmm(b, family.key)
    assert torch.equal(torch.ops.mcgen.spmm(torch._neg_view(b), family.key), -y)
    assert torch.ops.mcgen.spmm(b.to("meta"), family.key).shape == y.shape


def test_opcheck(case, device):
    matrix, _, _ = case
    family = ops.Family("sddmm", matrix, lhs="f16", rhs="f16", out="f16", order="srbcrs32")
    torch.library.opcheck(torch.ops.mcgen.sddmm.default, (on(device, M, 32), on(device, K, 32, seed=5), family.key))
    product = ops.Family("spmm", matrix, rhs="f16", out="f16")
    torch.library.opcheck(torch.ops.mcgen.spmm.default, (on(device, K, N), product.key))
    torch.library.opcheck(torch.ops.mcgen._own_values.default, (draw(1, device=device), product.key))
    torch.library.opcheck(torch.ops.mcgen._reorder.default, (draw(matrix.vectors, VEC, device=device), product.key, 32, False))
