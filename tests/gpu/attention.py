"""Attention in PyTorch, f16, captured in a graph: what tests/gpu/attention.c is held against.

python3 attention.py [LENGTH [BATCH [HEADS [DEPTH]]]]       (4096 8 4 64)

Dense, without a mask: scaled_dot_product_attention by cuDNN and by flash attention. Sparse: FlexAttention with blocks of 128 x 128 that
are kept at random, and the diagonal's, at the sparsities .9 and .95 (other masks than those of attention.c: it has no 8 x 1 vectors).
A line: microseconds of a pass, the median of 15 rounds of replays and its quarters, and megabytes that PyTorch had at most."""
import sys
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

REPLAYS, ROUNDS, BLOCK = 100, 15, 128
length, batch, heads, depth = (list(map(int, sys.argv[1:5])) + [4096, 8, 4, 64][len(sys.argv) - 1:])[:4]
torch.manual_seed(1)
q, k, v = (torch.randn(batch, heads, length, depth, device="cuda").half() for _ in range(3))


def dense(backend):
    def run():
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v)
    return run


def flex(sparsity):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    count = length // BLOCK
    kept = (torch.rand(count, count, device="cuda") < 1 - sparsity) | torch.eye(count, device="cuda", dtype=torch.bool)
    mask = create_block_mask(lambda b, h, row, col: kept[row // BLOCK, col // BLOCK], None, None, length, length, device="cuda")
    compiled = torch.compile(flex_attention)
    return lambda: compiled(q, k, v, block_mask=mask)


def time(f):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            f()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
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
    return times[ROUNDS // 2], times[ROUNDS // 4], times[ROUNDS * 3 // 4], torch.cuda.max_memory_allocated() / 1e6, kept


for name, make in (("cuDNN", lambda: dense(SDPBackend.CUDNN_ATTENTION)), ("flash", lambda: dense(SDPBackend.FLASH_ATTENTION)),
                   ("flex .9", lambda: flex(.9)), ("flex .95", lambda: flex(.95))):
    try:
        us, low, high, megabytes, _ = time(make())
        print(f"{name:9} batch {batch}, heads {heads}, length {length}, d {depth}: {us:.1f} us ({low:.1f} to {high:.1f}), {megabytes:.0f} MB")
    except Exception as error:  # a backend that this PyTorch or GPU lacks
        print(f"{name:9} {str(error).splitlines()[0]}")
