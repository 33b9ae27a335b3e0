"""Models pruned and converted."""

import pytest

torch = pytest.importorskip("torch")
import mcgen.nn as sparse  # noqa: E402
from mcgen.prune import GradualPruning, convert, prune  # noqa: E402


def model(device="cpu", dtype=torch.float16):
    torch.manual_seed(1)
    layers = [torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)]
    return torch.nn.Sequential(*layers).to(dtype).to(device)


def zero_vectors(weight, vec=8):
    return 1 - (weight.reshape(weight.shape[0] // vec, vec, -1) != 0).any(1).float().mean().item()


def test_prune_keeps_what_it_must():
    net = model(dtype=torch.float32)
    before = [p.clone() for p in net.parameters()]
    masks = prune(net, 0.75, keep=["2"])
    assert set(masks) == {"0"} and abs(zero_vectors(net[0].weight) - 0.75) < 0.01  # 10 outputs are no multiple of 8
    assert torch.equal(net[2].weight, before[2]) and torch.equal(net[4].weight, before[4])
    assert torch.equal(net[0].weight[masks["0"]], before[0][masks["0"]])
    scores = before[0].abs().reshape(16, 8, 64).sum(1)
    kept = masks["0"].reshape(16, 8, 64)[:, 0]
    assert scores[kept].min() >= scores[~kept].max()


def test_gradual_pruning_holds_zeros():
    net = model(dtype=torch.float32)
    pruning = GradualPruning(net, 0.8, steps=20, every=5)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    seen = []
    for _ in range(25):
        optimizer.zero_grad()
        net(torch.randn(8, 64)).square().mean().backward()
        optimizer.step()
        pruning.step()
        seen.append(zero_vectors(net[0].weight))
    assert seen == sorted(seen) and seen[0] < 0.01 and abs(seen[-1] - 0.8) < 0.01
    with pytest.raises(ValueError):
        GradualPruning(net, 0.5, steps=10, start=0.6)


@pytest.mark.parametrize("weight", [None, "s8"])
def test_convert(device, weight):
    net = model(device)
    prune(net, 0.7, keep=["2"])
    x = torch.randn(16, 64, generator=torch.Generator().manual_seed(2)).half().to(device)
    with torch.no_grad():
        want = net(x)
    reports = {r.name: r for r in convert(net, x, weight=weight, faster_by=0.0)}
    assert set(reports) == {"0", "2"}
    assert reports["0"].taken and isinstance(net[0], sparse.SparseLinear) and reports["0"].tokens == 16
    assert not reports["2"].taken and "less than 0.5" in reports["2"].reason and isinstance(net[2], torch.nn.Linear)
    assert reports["0"].error < (0.02 if weight else 1e-3) and "sparse" in str(reports["0"])
    assert (reports["0"].dense is None) == (device == "cpu")
    with torch.no_grad():
        assert (net(x) - want).abs().max() < 0.05


def test_convert_undoes_what_does_not_run(device):
    encoder = torch.nn.TransformerEncoderLayer(32, 2, 64, batch_first=True).half().eval().to(device)
    prune(encoder, 0.7)
    x = torch.randn(2, 8, 32).half().to(device)
    with torch.no_grad():
        want = encoder(x)
    reports = convert(encoder, x, faster_by=0.0)
    with torch.no_grad():
        assert (encoder(x) - want).abs().max() < 0.02
    for report in reports:
        assert report.taken == isinstance(encoder.get_submodule(report.name), sparse.SparseLinear)
    with pytest.raises(ValueError, match="one layer"):
        convert(torch.nn.Linear(16, 16), x)


def test_convert_of_f32_and_of_shared_layers(device):
    shared = torch.nn.Linear(64, 64)
    net = torch.nn.Sequential(shared, torch.nn.ReLU(), shared, torch.nn.Linear(64, 10)).to(device)
    prune(net, 0.6)
    x = torch.randn(8, 64, device=device)
    convert(net, x, weight="s8", faster_by=0.0)
    assert net[0] is net[2] and isinstance(net[0], sparse.SparseLinear) and net(x).dtype == torch.float32
