"""A dense MLP in PyTorch, fp16 and fp8, captured in a graph: what tests/gpu/mlp.c is held against.

python3 mlp.py ACTIVATION TOKENS INPUTS HIDDEN OUTPUTS

fp8: e4m3 with a scale for each tensor, given; x and h are converted in the graph, as there."""
import sys
import torch
import torch.nn.functional as F

REPLAYS, ROUNDS = 100, 15
activation = {"relu": F.relu, "gelu": F.gelu}[sys.argv[1]]
tokens, inputs, hidden, outputs = map(int, sys.argv[2:6])
torch.manual_seed(1)


def half(*shape):
    return (torch.rand(*shape, device="cuda") - 0.5).half()


x, w1, w2, b1, b2 = half(tokens, inputs), half(hidden, inputs), half(outputs, hidden), half(hidden), half(outputs)
one = torch.ones((), device="cuda")
e4m3 = torch.float8_e4m3fn
w1_8, w2_8 = w1.to(e4m3), w2.to(e4m3)


def fp16():
    return F.linear(activation(F.linear(x, w1, b1)), w2, b2)


def fp16_fused():
    h = torch._addmm_activation(b1, x, w1.t(), use_gelu=activation is F.gelu)
    return torch.addmm(b2, h, w2.t())


def fp8():
    h = torch._scaled_mm(x.to(e4m3), w1_8.t(), one, one, bias=b1, out_dtype=torch.float16, use_fast_accum=True)
    return torch._scaled_mm(activation(h).to(e4m3), w2_8.t(), one, one, bias=b2, out_dtype=torch.float16, use_fast_accum=True)


def time(f):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            f()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = f()
    times = []
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(ROUNDS + 1):
        begin.record()
        for _ in range(REPLAYS):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / REPLAYS)
    times = sorted(times[1:])
    return times[ROUNDS // 2], times[ROUNDS // 4], times[ROUNDS * 3 // 4], kept


for f in fp16, fp16_fused, fp8:
    try:
        us, low, high, _ = time(f)
        print(f"{f.__name__:10} {tokens} tokens  {us:.2f} us a pass ({low:.2f} to {high:.2f})")
    except RuntimeError as error:
        print(f"{f.__name__:10} {tokens} tokens  {str(error).splitlines()[0]}")
