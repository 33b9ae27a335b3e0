"""torch.ops.mcgen.*: schemas, fake tensors, compile, export, graphs."""

import pytest

torch = pytest.importorskip("torch")
import mcgen  # noqa: E402
import mcgen.torch as ops  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(torch.library, "opcheck"), reason="PyTorch is too old")


def pruned(rows, cols, dtype=torch.float16, vec=8, keep=0.3, seed=1):
    generator = torch.Generator().manual_seed(seed)
    mask = (torch.rand(rows // vec, cols, generator=generator) < keep).repeat_interleave(vec, 0)
    return (torch.randn(rows, cols, generator=generator) * mask).to(dtype)


@pytest.fixture(scope="module")
def matrix(context):
    return mcgen.Matrix.from_dense(pruned(64, 96), context=context)


@pytest.fixture(scope="module")
def x(device):
    return torch.randn(40, 96, generator=torch.Generator().manual_seed(2)).half().to(device)


def families(matrix, context, device):
    """A family of each operator, and what its op takes besides the key."""
    random = torch.Generator().manual_seed(3)

    def tensor(*shape, dtype=torch.float16):
        return torch.randn(*shape, generator=random).to(dtype).to(device)

    f16 = dict(lhs="f16", rhs="f16", out="f16")
    vectors = matrix.vectors
    return {
        "spmm": (ops.Family("spmm", matrix, rhs="f16", out="f16"), (tensor(96, 40),)),
        "sddmm": (ops.Family("sddmm", matrix, **f16, order="bcrs"), (tensor(64, 40), tensor(96, 40))),
        "spmmt": (ops.Family("spmmt", matrix, **f16), (tensor(vectors, 8), tensor(64, 40))),
        "quantise": (ops.Family("quantise", context=context, lhs="f16", out="s8", scale="row", computed=True),
                     (tensor(40, 96),)),
        "softmax": (ops.Family("softmax", matrix, lhs="f16", out="f16"), (tensor(vectors, 8),)),
        "softmax_grad": (ops.Family("softmax_grad", matrix, **f16), (tensor(vectors, 8), tensor(vectors, 8))),
    }


@pytest.mark.parametrize("a_major", ["row", "column"])
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_gemm_however_operands_lie(a_major, layout, context, device):
    random = torch.Generator().manual_seed(6)
    a, b = (torch.randint(-9, 9, shape, generator=random, dtype=torch.int8) for shape in ((40, 67), (67, 35)))
    family = ops.Family("gemm", context=context, lhs="s8", rhs="s8", out="s32", a_major=a_major, layout=layout)
    given = (a.t().contiguous() if a_major == "column" else a, b if layout == "rows" else b.t().contiguous())
    c = torch.ops.mcgen.gemm(*(t.to(device) for t in given), family.key)
    assert torch.equal(c.cpu(), a.int() @ b.int())


@pytest.mark.parametrize("major", ["row", "column"])
def test_gemm_with_scales_of_blocks(major, context, device):
    random = torch.Generator().manual_seed(7)
    a, b = (torch.randint(-3, 4, shape, generator=random).float() for shape in ((70, 304), (304, 144)))
    a_blocks, b_blocks = (2.0 ** torch.randint(-2, 3, shape, generator=random) for shape in ((70, 3), (2, 3)))
    family = ops.Family("gemm", context=context, lhs="e4m3", rhs="e4m3", out="f32", sums="promoted", block_scales="on",
                        a_blocks_major=major)
    e4m3 = torch.float8_e4m3fn
    of_a = a_blocks.t().contiguous() if major == "column" else a_blocks
    sides = (a.to(e4m3).to(device), b.t().contiguous().to(e4m3).to(device))
    c = torch.ops.mcgen.gemm(*sides, family.key, a_blocks=of_a.to(device), b_blocks=b_blocks.to(device))
    scaled = a * a_blocks.repeat_interleave(128, 1)[:, :304]
    scaled_b = b * b_blocks.t().repeat_interleave(128, 0)[:304].repeat_interleave(128, 1)[:, :144]
    assert torch.equal(c.cpu(), scaled @ scaled_b)
    with pytest.raises(ValueError, match="a_blocks has . blocks of k, must have 3|m of it is"):
        family(a=sides[0], b=sides[1], a_blocks=torch.ones(70, 2), b_blocks=b_blocks)


def test_every_operator_has_an_op():
    assert set(ops.OPS) == set(mcgen.OPERATORS)
    for name in mcgen.OPERATORS:
        assert hasattr(torch.ops.mcgen, name)


@pytest.mark.parametrize("name", ["spmm", "sddmm", "spmmt", "quantise", "softmax", "softmax_grad"])
def test_opcheck(name, matrix, context, device):
    family, tensors = families(matrix, context, device)[name]
    op = getattr(torch.ops.mcgen, name)
    torch.library.opcheck(op.default, (*tensors, family.key))
    results = op(*tensors, family.key)
    direct = family(**{o.name: t for o, t in zip(ops.OPS[name].required, tensors)})
    first, second = (r[0] if isinstance(r, (tuple, list)) else r for r in (results, direct))
    assert torch.equal(first, second) and first.numel() > 0


def test_results_and_out(matrix, x):
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", b_major="column", c_major="column")
    y = torch.ops.mcgen.spmm(x, family.key)
    want = x.cpu().double() @ pruned(64, 96).double().t()
    assert (y.cpu().double() - want).abs().max() < 0.02
    out = torch.empty_like(y)
    torch.ops.mcgen.spmm.out(x, family.key, out=out)
    assert torch.equal(out, y)
    for tokens in (40, 24, 40):  # the quick way is of the newest sizes
        part, again = x[:tokens].clone(), torch.full_like(y[:tokens], 7)
        assert family(part, out=again) is again and torch.equal(again, y[:tokens])
        assert torch.equal(family(b=part, out=torch.full_like(again, 7)), again)
    with pytest.raises(ValueError, match="must be torch.float16"):
        family(x, out=out.float())
    with pytest.raises(ValueError, match="contiguous"):
        family(torch.empty(80, 96, device=x.device).half()[::2], out=out)
    with pytest.raises(TypeError, match="has torch.float32"):
        family(x.float(), out=out)
    with pytest.raises(TypeError, match="b missing"):
        family(out=out)
    torch.library.opcheck(torch.ops.mcgen.spmm.out, (x, family.key), dict(out=torch.empty_like(y)))


@pytest.mark.parametrize("tokens", [1, 40])
def test_f32_without_tensor_cores(tokens, context, device):
    weight = pruned(48, 96, torch.float32, vec=1, keep=0.1)
    family = ops.Family("spmm", mcgen.Matrix.from_dense(weight, 1, context=context), rhs="f32", out="f32")
    b = torch.randn(96, tokens, generator=torch.Generator().manual_seed(4)).to(device)
    y = torch.ops.mcgen.spmm(b, family.key)
    most = weight.double().abs() @ b.cpu().double().abs()
    assert y.dtype == torch.float32
    assert ((y.cpu().double() - weight.double() @ b.cpu().double()).abs() <= 96 * 2.0**-24 * most).all()
    torch.library.opcheck(torch.ops.mcgen.spmm.default, (b, family.key))


def test_the_bits_of_the_c_library(matrix, x):
    """What the op gives is what a plan with NumPy arrays gives."""
    numpy = pytest.importorskip("numpy")
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", c_major="column", b_major="column")
    plan = mcgen.Plan("spmm", matrix, rhs="f16", out="f16", c_major="column", b_major="column", n=40)
    c = plan(b=x.cpu().numpy())
    assert (numpy.asarray(torch.ops.mcgen.spmm(x, family.key).cpu()) == c).all()


def test_compile_with_dynamic_tokens(matrix, x, device):
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", b_major="column", c_major="column")
    backend = "aot_eager" if device == "cpu" else "inductor"
    compiled = torch.compile(lambda t: torch.ops.mcgen.spmm(t, family.key) + 1, fullgraph=True, dynamic=True,
                             backend=backend)
    for tokens in (40, 24, 8):
        part = x[:tokens].clone()
        assert torch.equal(compiled(part), torch.ops.mcgen.spmm(part, family.key) + 1)


def test_autocast(matrix, x, device):
    """Floating-point tensors are cast to what the family takes; factors, which are f32, stay."""
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", b_major="column", c_major="column", bias="row")
    bias = torch.randn(64, device=device)
    want = torch.ops.mcgen.spmm(x, family.key, bias=bias)
    with torch.autocast(device, dtype=torch.float16):
        assert torch.equal(torch.ops.mcgen.spmm(x.float(), family.key, bias=bias), want)
        assert torch.equal(torch.ops.mcgen.spmm(x.double(), family.key, bias=bias.half().float()),
                           torch.ops.mcgen.spmm(x, family.key, bias=bias.half().float()))
        leaf = x.float().requires_grad_(True)
        torch.ops.mcgen.spmm(leaf, family.key, bias=bias).backward(want)
    assert leaf.grad.dtype == torch.float32 and leaf.grad.abs().sum() > 0
    with pytest.raises(TypeError, match="must be torch.float16"):
        torch.ops.mcgen.spmm(x.float(), family.key, bias=bias)


def test_export(matrix, x):
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", b_major="column", c_major="column")

    class Module(torch.nn.Module):
        def forward(self, t):
            return torch.ops.mcgen.spmm(t, family.key)

    tokens = torch.export.Dim("tokens", min=2, max=512)
    exported = torch.export.export(Module(), (x,), dynamic_shapes=({0: tokens},))
    part = x[:24].clone()
    assert torch.equal(exported.module()(part), torch.ops.mcgen.spmm(part, family.key))


def test_wrong_calls(matrix, x):
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", b_major="column", c_major="column")
    with pytest.raises((TypeError, RuntimeError), match="float32|torch.float32"):
        torch.ops.mcgen.spmm(x.float(), family.key)
    with pytest.raises(ValueError, match="there is no family 987654"):
        torch.ops.mcgen.spmm(x, 987654)
    with pytest.raises(ValueError, match="is of spmm, not of spmmt"):
        torch.ops.mcgen.spmmt(x, x, family.key)
    with pytest.raises((ValueError, mcgen.Error)):
        torch.ops.mcgen.spmm(x[:, :50].contiguous(), family.key)


def test_wrong_shapes_and_factors(matrix, x, device):
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", b_major="column", c_major="column")
    wide = torch.zeros(16, 100, device=device).half()
    with pytest.raises(ValueError, match="k of it is 100, must be 96"):
        family(wide)
    with pytest.raises(ValueError, match="4 dimensions"):
        family(torch.zeros(2, 3, 16, 96, device=device).half())
    with pytest.raises(ValueError, match="has no bias"):
        torch.ops.mcgen.spmm(x, family.key, bias=torch.zeros(64, device=device))
    with pytest.raises(ValueError, match="has no scale_value"):
        torch.ops.mcgen.spmm(x, family.key, scale_value=5.0)
    biased = ops.Family("spmm", matrix, rhs="f16", out="f16", b_major="column", c_major="column", bias="row")
    for _ in range(2):
        with pytest.raises(TypeError, match="bias is"):
            torch.ops.mcgen.spmm(x, biased.key)
        biased(x, torch.zeros(64, device=device))
    with pytest.raises(ValueError, match=r"bias is \(32,\)"):
        biased(x, torch.zeros(32, device=device))
    with pytest.raises(ValueError, match="ldc: tensors bring these"):
        ops.Family("spmm", matrix, rhs="f16", out="f16", ldc=128)
    given = ops.Family("spmm", matrix, rhs="f16", out="f16", given_values=True)
    with pytest.raises(ValueError, match="values is"):
        given(torch.zeros(8, matrix.vectors + 5, device=device).half(), torch.zeros(96, 16, device=device).half())


def test_batches(matrix, context, device):
    """Of a batch all operands are: a tensor of one product beside others of several would be read past its end."""
    family = ops.Family("sddmm", matrix, lhs="f16", rhs="f16", out="f16", order="bcrs")
    a, b = torch.randn(3, 64, 32, device=device).half(), torch.randn(3, 96, 32, device=device).half()
    c = torch.ops.mcgen.sddmm(a, b, family.key)
    assert c.shape == (3, matrix.vectors, 8)
    assert torch.equal(c[1], torch.ops.mcgen.sddmm(a[1].contiguous(), b[1].contiguous(), family.key))
    with pytest.raises(ValueError, match="b is "):
        torch.ops.mcgen.sddmm(a, b[0].contiguous(), family.key)
    with pytest.raises(ValueError, match="batches of 3 and of 2"):
        torch.ops.mcgen.sddmm(a, b[:2].contiguous(), family.key)


def test_written_tensors_have_new_versions(matrix, x):
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", b_major="column", c_major="column")
    y = torch.ops.mcgen.spmm(x, family.key)
    for write in (lambda: torch.ops.mcgen.spmm.out(x, family.key, out=y), lambda: family(x, out=y)):
        before = y._version
        write()
        assert y._version > before


def test_rows_with_spans(context, device):
    x = torch.randint(-9, 9, (5, 20), generator=torch.Generator().manual_seed(7)).half()
    family = ops.Family("slide24", context=context, lhs="f16", out="f16", pattern="6:8")
    y = torch.ops.mcgen.slide24(x.to(device), family.key).cpu()
    groups = torch.nn.functional.pad(x, (0, 4)).unflatten(1, (3, 8)).unfold(2, 4, 2)
    assert torch.equal(y, groups.reshape(5, 36))


def test_optimise_in_place(context, device):
    weight = torch.randn(64, 8).half().to(device)
    before, gradient = weight.clone(), torch.randn(64, 8).half().to(device)
    family = ops.Family("optimise", context=context, lhs="f16", out="f16", rule="sgd")
    names = [o.name for o in family.operator.operands if family.has(o)]
    first = torch.zeros(64, 8, device=device)
    hyper = torch.zeros(next(o.count for o in family.operator.operands if o.name == "hyper"), device=device)
    assert "hyper" in names
    torch.ops.mcgen.optimise(gradient, first, weight, family.key, hyper=hyper)
    assert torch.equal(weight, before)  # a rate of 0


@pytest.mark.skipif("not torch.cuda.is_available()")
def test_cuda_graph_and_streams(matrix, x, device):
    if device == "cpu":
        pytest.skip("on the simulator")
    family = ops.Family("spmm", matrix, rhs="f16", out="f16", b_major="column", c_major="column")
    want = torch.ops.mcgen.spmm(x, family.key)
    given = x.clone()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = torch.ops.mcgen.spmm(given, family.key)
    given.copy_(x * 2)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, want * 2)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        again = torch.ops.mcgen.spmm(x, family.key)
    stream.synchronize()
    assert torch.equal(again, want)
