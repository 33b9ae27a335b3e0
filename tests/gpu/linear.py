"""How long mcgen.nn.SparseLinear takes beside nn.Linear in f16 and its compiled form: all in CUDA graphs, all from f16 to f16
token by token, conversions included; eager calls and host time beside. Run by hand, with PyTorch and a GPU:

    python linear.py [tune] [OUTPUTS INPUTS SPARSITY TOKENS...]        4096 11008 .9 64 2048

tune: our layers measure kernels for each number of tokens first.
A line: tokens; microseconds of nn.Linear, of it compiled, of ours with weights of f16, s8 and s4 inside, and how many times ours
are as fast as the faster one of these two; eager: the same calls without graphs; host: microseconds until a call returns, beyond those of Plan.run."""

import statistics
import sys
import time

import torch

import mcgen
import mcgen.nn
import mcgen.torch
from mcgen.prune import graph_time


def eager(function, *arguments, calls=50, rounds=9):
    times = []
    for _ in range(2 + rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            function(*arguments)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e6 / calls)
    return statistics.median(times[2:])


def host(function, calls=20000):
    """Host time of one call, the least of some rounds."""
    best = float("inf")
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(calls // 10):
            function()
        best = min(best, (time.perf_counter() - begin) * 1e6 / (calls // 10))
        torch.cuda.synchronize()
    return best


def host_times():
    """Of a tiny product: what bare launches, direct calls and ops cost the host."""
    torch.manual_seed(1)
    layer = mcgen.nn.SparseLinear.from_linear(torch.nn.Linear(64, 64, bias=False).half().cuda(), sparsity=0.5)
    x, out = torch.randn(16, 64, device="cuda").half(), torch.empty(64, 16, device="cuda").half()
    family = mcgen.torch.Family("spmm", layer.prepare().matrix, rhs="f16", out="f16")
    b = x.t().contiguous()
    family(b=b)
    plan = family.plan(family.measure({"b": b}))
    stream = torch.cuda.current_stream().cuda_stream
    at_b, at_out = b.data_ptr(), out.data_ptr()
    bare = host(lambda: plan.run(at_b, at_out, 0, stream))
    direct = host(lambda: family(b, out=out))
    into = host(lambda: torch.ops.mcgen.spmm.out(b, family.key, out=out))
    op = host(lambda: torch.ops.mcgen.spmm(b, family.key))
    empty = host(lambda: torch.empty(64, 16, dtype=torch.float16, device="cuda"))
    print(f"host us: plan.run {bare:.2f}; beyond it: direct call {direct - bare:.2f}, op with out {into - bare:.2f}, "
          f"op {op - bare:.2f} (torch.empty {empty:.2f})")


def main():
    arguments = sys.argv[1:]
    tune = arguments[:1] == ["tune"]
    numbers = arguments[tune:] or ["4096", "11008", ".9", "64", "2048"]
    outputs, inputs, sparsity = int(numbers[0]), int(numbers[1]), float(numbers[2])
    torch.manual_seed(1)
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, f"{outputs} x {inputs}, {sparsity}")
    dense = torch.nn.Linear(inputs, outputs).half().cuda()
    compiled = torch.compile(dense)
    ours = {w: mcgen.nn.SparseLinear.from_linear(dense, sparsity=sparsity, weight=w) for w in ("f16", "s8", "s4")}
    with torch.no_grad():
        for tokens in map(int, numbers[3:]):
            x = torch.randn(tokens, inputs, device="cuda").half()
            for weight, layer in ours.items():
                if tune:
                    layer.tune(tokens)
                want = torch.nn.functional.linear(x.double(), layer.to_dense().double(), layer.bias.double())
                error = ((layer(x).double() - want).norm() / want.norm()).item()
                assert error < (1e-3 if weight == "f16" else 2e-2), error
            peers = {"nn.Linear": dense, "compiled": compiled, **ours}
            us = {name: graph_time(f, x, calls=20, rounds=15) for name, f in peers.items()}
            calls = {name: eager(f, x) for name, f in peers.items()}
            best = min(us["nn.Linear"], us["compiled"])
            print(f"{tokens:5d} tokens, us: " + ", ".join(f"{n} {t:.1f}" for n, t in us.items()) +
                  "; times as fast: " + ", ".join(f"{n} {best / us[n]:.2f}" for n in ours) + "; eager: " +
                  ", ".join(f"{n} {t:.1f}" for n, t in calls.items()))
        host_times()


if __name__ == "__main__":
    main()
