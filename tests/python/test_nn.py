"""SparseLinear, SparseMLP and attention, against PyTorch in float64 over the same stored values."""

import copy
import io
import pickle

import pytest

torch = pytest.importorskip("torch")
import mcgen.nn as sparse  # noqa: E402

EPSILON = {torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8}


def linear(dtype=torch.float16, bias=True, device="cpu", inputs=96, outputs=64):
    torch.manual_seed(1)
    return torch.nn.Linear(inputs, outputs, bias=bias).to(dtype).to(device)


def draw(*shape, dtype=torch.float16, device="cpu", seed=2):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype).to(device)


def within(got, want, magnitudes, dtype, terms):
    """GOT is WANT rounded to DTYPE once, from f32 sums of TERMS products, whose magnitudes add up to MAGNITUDES: each
    addition of the sum is off by 2^-23 of these at the most (f32, truncated by the tensor core)."""
    bound = EPSILON[dtype] * want.abs() + (terms + 2) * 2.0 ** -23 * magnitudes + 2.0 ** -24
    return bool(((got.double() - want).abs() <= bound).all())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("bias", [True, False])
def test_forward(device, dtype, bias):
    layer = sparse.SparseLinear.from_linear(linear(dtype, bias, device), sparsity=0.7)
    x = draw(3, 5, 96, dtype=dtype, device=device)
    with torch.no_grad():
        y = layer(x)
    weight = layer.to_dense().double()
    want = torch.nn.functional.linear(x.double(), weight, layer.bias.double() if bias else None)
    magnitudes = x.double().abs() @ weight.abs().t() + (layer.bias.abs() if bias else 0)
    assert y.dtype == dtype and y.shape == (3, 5, 64) and within(y, want, magnitudes, dtype, 96)
    assert abs(layer.sparsity - 0.7) < 0.01 and "sparsity=0.7" in repr(layer)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gradients(device, dtype):
    layer = sparse.SparseLinear.from_linear(linear(dtype, True, device), sparsity=0.6)
    x = draw(24, 96, dtype=dtype, device=device).requires_grad_(True)
    dy = draw(24, 64, dtype=dtype, device=device, seed=3)
    layer(x).backward(dy)
    weight = layer.to_dense().double().requires_grad_(True)
    x64 = x.detach().double().requires_grad_(True)
    torch.nn.functional.linear(x64, weight).backward(dy.double())
    assert within(x.grad, x64.grad, dy.double().abs() @ weight.detach().abs(), dtype, 64)
    counts = (layer.row_ptr[1:] - layer.row_ptr[:-1]).long()
    row = torch.repeat_interleave(torch.arange(8, device=counts.device), counts)

    def vectors(dense):
        return dense.reshape(8, 8, 96)[row, :, layer.col_idx.long()]

    magnitudes = dy.double().abs().t() @ x64.detach().abs()
    assert within(layer.values.grad, vectors(weight.grad), vectors(magnitudes), dtype, 24)
    assert torch.allclose(layer.bias.grad, dy.float().sum(0))


def test_training_moves_the_weight(device):
    layer = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.6)
    x, target = draw(32, 96, device=device), draw(32, 64, device=device, seed=5)
    optimizer = torch.optim.SGD(layer.parameters(), 0.5)
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = ((layer(x).float() - target.float()) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]
    with torch.no_grad():
        want = torch.nn.functional.linear(x.double(), layer.to_dense().double(), layer.bias.double())
        assert (layer(x).double() - want).abs().max() < 0.02


@pytest.mark.parametrize("tokens", [1, 17, 64])
@pytest.mark.parametrize("weight", ["s8", "s4"])
def test_integer_weights(device, tokens, weight):
    layer = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5, weight=weight)
    assert layer.weight_type == weight and f"weight={weight}" in repr(layer)
    x = draw(tokens, 96, device=device)
    y = layer(x)
    scale = (x.float().abs().amax(1, keepdim=True) / 127).clamp(min=2.0 ** -126)
    q = (x.float() * (1 / scale)).round().clamp(-128, 127).double()
    want = (q * scale.double()) @ layer.to_dense().double().t() + layer.bias.double()
    assert (y.double() - want).abs().max() < 2e-3 and not y.requires_grad
    dense = torch.nn.functional.linear(x.double(), layer.to_dense().double(), layer.bias.double())
    assert (y.double() - dense).abs().max() < 0.05
    pruned = torch.where(layer.to_dense() != 0, linear(device=device).weight, 0)
    assert (layer.to_dense() - pruned).abs().max() <= layer.weight_scale.max() / 2 + 1e-6


def test_copies_state_and_pickles(device):
    layer = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5)
    x = draw(8, 96, device=device)
    with torch.no_grad():
        y = layer(x)
        assert torch.equal(copy.deepcopy(layer)(x), y)
        assert torch.equal(pickle.loads(pickle.dumps(layer))(x), y)
        other = sparse.SparseLinear.from_linear(linear(device=device, bias=True), sparsity=0.5)
        other.values.data.zero_()
        file = io.BytesIO()
        torch.save(layer.state_dict(), file)
        file.seek(0)
        other.load_state_dict(torch.load(file, weights_only=True))
        assert torch.equal(other(x), y)
        assert layer.to(torch.bfloat16)(x.bfloat16()).dtype == torch.bfloat16
        assert layer.bias.dtype == torch.float32 and layer.col_idx.dtype == torch.int32


def test_compile_and_autocast(device):
    layer = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5)
    x = draw(8, 96, device=device)
    with torch.no_grad():
        y = layer(x)
        compiled = torch.compile(layer, fullgraph=True, backend="aot_eager" if device == "cpu" else "inductor")
        assert torch.equal(compiled(x), y)
        with torch.autocast(device, dtype=torch.float16):
            assert torch.equal(layer(x.float()), y)


def test_values_through_data(device):
    layer = sparse.SparseLinear.from_linear(linear(device=device, bias=False), sparsity=0.5)
    x = draw(8, 96, device=device)
    with torch.no_grad():
        y = layer(x)
        layer.values.data.mul_(-1)
        assert torch.equal(layer.eval()(x), -y)
    layer.train().values.data.mul_(-1)
    assert torch.equal(layer(x), y)


@pytest.mark.parametrize("bias", [True, False])
def test_compiled_training(device, bias):
    """Forward and backward as graphs, in which the values are an operand: they learn as eager ones do."""
    backend = "aot_eager" if device == "cpu" else "inductor"
    eager = sparse.SparseLinear.from_linear(linear(device=device, bias=bias), sparsity=0.5)
    layer = copy.deepcopy(eager)
    eager(draw(8, 96, device=device)), layer(draw(8, 96, device=device))
    compiled = torch.compile(layer, fullgraph=True, backend=backend, dynamic=True if bias else None)
    for step in range(3):
        x = draw(8, 96, device=device, seed=step).requires_grad_(True)
        dy = draw(8, 64, device=device, seed=9 + step)
        results = []
        for of, module in ((eager, eager), (compiled, layer)):
            x.grad = None
            module.zero_grad()
            of(x).backward(dy)
            results.append([x.grad] + [p.grad.clone() for p in module.parameters()])
            with torch.no_grad():
                for p in module.parameters():
                    p -= 0.1 * p.grad.to(p.dtype)
        for first, second in zip(*results):
            assert ((first.double() - second.double()).norm() / first.double().norm()) < 1e-3


def test_values_that_are_others(device):
    """Whatever way the weight changes, the next call has it."""
    x = draw(8, 96, device=device)
    for weight in ("f16", "s8"):
        layer = sparse.SparseLinear.from_linear(linear(device=device, bias=False), sparsity=0.5, weight=weight).eval()
        with torch.no_grad():
            y = layer(x)
            layer.values.neg_()
            assert torch.equal(layer(x), -y)
            if weight == "f16":
                layer.values = torch.nn.Parameter(layer.values.detach() * 2)
                assert torch.equal(layer(x), -2 * y)
                other = {"values": torch.zeros_like(layer.values)}
                assert not torch.func.functional_call(layer, other, (x,)).any()
                assert torch.equal(layer(x), -2 * y)
    if device == "cpu":  # another tensor where the one before lay
        memory = sparse.SparseLinear.from_linear(linear(bias=False), sparsity=0.5).eval()
        array = memory.values.detach().numpy().copy()
        with torch.no_grad():
            memory.values = torch.nn.Parameter(torch.from_numpy(array))
            y = memory(x)
            array *= -1
            memory.values = torch.nn.Parameter(torch.from_numpy(array))
            assert torch.equal(memory(x), -y)
    with torch.inference_mode():
        made = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5)
        assert torch.equal(made(x), sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5)(x))


@pytest.mark.parametrize("weight", ["f16", "s8", "s4"])
def test_nothing(device, weight):
    """No tokens; and no weights."""
    layer = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5, weight=weight)
    x = torch.empty(2, 0, 96, dtype=torch.float16, device=device, requires_grad=weight == "f16")
    y = layer(x)
    assert y.shape == (2, 0, 64) and y.dtype == torch.float16
    if weight == "f16":
        y.sum().backward()
        assert x.grad.shape == x.shape and not layer.values.grad.any()
    empty = sparse.SparseLinear.from_linear(linear(device=device), sparsity=1.0, weight=weight)
    with torch.no_grad():
        assert torch.equal(empty(draw(8, 96, device=device)), empty.bias.half().expand(8, 64))


def test_four_bits_as_eight(device):
    """Weights of s4 by the kernels of s8: the same bits, new values and compiled code too."""
    layer = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5, weight="s4")
    x = draw(8, 96, device=device)
    with torch.no_grad():
        y = layer(x)
        kernels = layer.prepare()
        assert kernels.chosen[8] in (kernels.forward, kernels.wide)
        for family in (kernels.forward, kernels.widen()):
            kernels.chosen[8] = family
            assert torch.equal(layer(x), y)
        layer.values.copy_(layer.values.flip(0))
        changed = layer(x)
        kernels.chosen[8] = kernels.forward
        assert torch.equal(layer(x), changed) and not torch.equal(changed, y)
        assert torch.equal(torch.compile(layer, fullgraph=True, backend="aot_eager")(x), changed)


@pytest.mark.parametrize("weight", ["f16", "s8"])
def test_open_shapes(device, weight):
    """One kernel for all numbers of tokens, with the same results."""
    open_, fixed = (sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5, weight=weight, shapes=shapes)
                    for shapes in ("open", "fixed"))
    for tokens in (8, 24, 17):
        x = draw(tokens, 96, device=device)
        with torch.no_grad():
            assert (open_(x).double() - fixed(x).double()).abs().max() < 2e-3
    fields = [p.info()["fields"] for p in open_.prepare().forward._plans.values()]
    assert len(fields) == 3 and all("n=open" in f for f in fields)
    if weight == "f16":
        x = draw(8, 96, device=device).requires_grad_(True)
        open_(x).sum().backward()
        assert x.grad.shape == x.shape and open_.values.grad.shape == open_.values.shape


def test_gradients_that_there_are_not(device):
    x = draw(8, 96, device=device).requires_grad_(True)
    layer = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5)
    layer.values.requires_grad_(False)
    layer(x.detach()).sum().backward()
    assert torch.equal(layer.bias.grad, torch.full_like(layer.bias, 8))
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g, = torch.autograd.grad(layer(x).float().square().sum(), x, create_graph=True)
        g.float().square().sum().backward()
    integers = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5, weight="s8")
    with pytest.raises(RuntimeError, match="has no gradient"):
        integers(x).sum().backward()


def test_types_keep_scales_and_outputs_keep_types(device):
    layer = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5, weight="s8")
    before = layer.weight_scale.clone(), layer.bias.clone()
    x = draw(8, 96, device=device)
    y = layer(x)
    assert layer(x.float()).dtype == torch.float32 and torch.equal(layer(x.float()), y.float())
    layer.bfloat16()
    assert torch.equal(layer.weight_scale, before[0]) and torch.equal(layer.bias, before[1])
    assert layer(x.bfloat16()).dtype == torch.bfloat16
    with pytest.raises(ValueError, match="must have 96 features"):
        layer(x[:, :50])


def test_mlp(device):
    up = sparse.SparseLinear.from_linear(linear(device=device), sparsity=0.5)
    down = sparse.SparseLinear.from_linear(linear(device=device, inputs=64, outputs=96), sparsity=0.5)
    x = draw(16, 96, device=device)
    with torch.no_grad():
        y = sparse.SparseMLP(up, down)(x)
        assert torch.equal(y, down(torch.relu(up(x))))


@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_attention(device, batch):
    q, k, v = (draw(*batch, 64, 32, device=device, seed=s) for s in (1, 2, 3))
    allowed = (torch.rand(8, 64, generator=torch.Generator().manual_seed(4)) < 0.3).repeat_interleave(8, 0)
    allowed[:, 0] = True
    allowed[8:16] = False
    mask = sparse.AttentionMask(allowed, device=device)
    y = sparse.sparse_attention(q, k, v, mask)
    scores = (q.double() @ k.double().transpose(-1, -2)) / 32 ** 0.5
    weights = torch.softmax(scores.masked_fill(~allowed.to(device), float("-inf")), -1).nan_to_num(0)
    assert y.shape == (*batch, 64, 32)
    assert (y.double() - weights @ v.double()).abs().max() < 4e-3
    assert (y[..., 8:16, :] == 0).all()


def test_wrong_layers():
    with pytest.raises(ValueError, match="rows a multiple of 16"):
        sparse.SparseLinear.from_linear(linear(outputs=72), vec=16)
    with pytest.raises(ValueError, match="weight is 's7'"):
        sparse.SparseLinear.from_linear(linear(), sparsity=0.5, weight="s7")
    with pytest.raises(ValueError, match="sparsity is 2"):
        sparse.SparseLinear.from_linear(linear(), sparsity=2)
