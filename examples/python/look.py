"""Pictures: a pattern, the variants of a spec and how much PTX each is, where a kernel's instructions and sectors go, line by
line, and a roofline. Wants NumPy and matplotlib, and no GPU.

    python look.py [FOLDER]     pattern.svg, variants.svg, lines.svg, roofline.svg"""

import pathlib
import sys

import matplotlib
import numpy

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

import mcgen  # noqa: E402

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
random = numpy.random.default_rng(1)
ROWS, COLS, N = 256, 512, 64
blocks = random.random((ROWS // 8, COLS)) < 0.1 + 0.1 * random.random((ROWS // 8, 1))
weight = random.integers(-8, 8, (ROWS, COLS)).astype("int8") * numpy.repeat(blocks, 8, axis=0)

# The pattern: a row block's vectors, and how many each has.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=[3, 1])
left.imshow(blocks, aspect="auto", cmap="Greys", interpolation="none")
left.set(title="vectors of 8 x 1", xlabel="column", ylabel="row block")
right.barh(range(len(blocks)), blocks.sum(1))
right.set(title="vectors a row block", ylim=(len(blocks) - 0.5, -0.5))
figure.tight_layout()
figure.savefig(folder / "pattern.svg")

# A plan, and the variants that one spec has.
matrix = mcgen.Matrix.from_dense(weight, context=mcgen.Context("sim", cache="mem", records=""))
b = random.integers(-128, 128, (COLS, N)).astype("int8")
plan = mcgen.Plan("spmm", matrix, rhs="s8", out="s32", n=N)
assert (plan(b=b) == weight.astype(int) @ b.astype(int)).all()
print("chosen:", plan.info()["fields"])
spec = mcgen.Spec("spmm_l8r8", arch="sm_90")
sizes = [len(spec.generate(i).ptx.splitlines()) for i in range(min(len(spec), 24))]
names = [spec.fields(i) for i in range(len(sizes))]
figure, axes = plt.subplots(figsize=(9, 5))
axes.barh(range(len(sizes)), sizes, color=["C1" if i == spec.default else "C0" for i in range(len(sizes))])
axes.set_yticks(range(len(sizes)), names, fontsize=6)
axes.set(title="lines of PTX of each variant (the default in another colour)", ylim=(len(sizes) - 0.5, -0.5))
figure.tight_layout()
figure.savefig(folder / "variants.svg")

# Counts by line, of a kernel written by hand that reads a column of a row-major matrix: each lane another sector.
COLUMN = """.version 7.0
.target sm_80
.address_size 64
.visible .entry column(.param .u64 a, .param .u64 c, .param .u32 ld)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    ld.param.u64 %rd0, [a];
    ld.param.u64 %rd1, [c];
    ld.param.u32 %r0, [ld];
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r2, %r1, %r0;
    mad.wide.u32 %rd2, %r2, 4, %rd0;
    ld.global.u32 %r3, [%rd2];
    mad.wide.u32 %rd3, %r1, 4, %rd1;
    st.global.u32 [%rd3], %r3;
    ret;
}
"""
a, c = numpy.arange(128 * 64, dtype="int32"), numpy.zeros(128, "int32")
launched = mcgen.simulate(COLUMN, "column", 1, 128, [a, c, 64])
assert (c == a.reshape(128, 64)[:, 0]).all()
text = COLUMN.splitlines()
figure, axes = plt.subplots(figsize=(9, 3.5))
lines = launched.lines
axes.barh(range(len(lines)), [line["warp_instructions"] for line in lines], color="C0", label="warp instructions")
axes.barh(range(len(lines)), [line["global_sectors"] for line in lines], color="C3", alpha=0.6, label="global sectors")
axes.set_yticks(range(len(lines)), [text[line["line"] - 1].strip() for line in lines], fontsize=7, family="monospace")
axes.set(title="where sectors go: 128 for a column that is read, 16 for one that is written", ylim=(len(lines) - 0.5, -0.5))
axes.legend()
figure.tight_layout()
figure.savefig(folder / "lines.svg")

# The roofline of an SpMM on an H200: operations a byte against what bytes (4.8 TB/s) and int8 mma (1,979 TOPS) allow.
vectors = int(blocks.sum())
operations = 2 * vectors * 8 * N
moved = vectors * (8 + 4) + COLS * N + 4 * ROWS * N
intensity = numpy.logspace(-1, 4, 100)
figure, axes = plt.subplots(figsize=(6, 4))
axes.loglog(intensity, numpy.minimum(4.8 * intensity, 1979), "k")
axes.loglog([operations / moved], [min(4.8 * operations / moved, 1979)], "o", label=f"{ROWS} x {COLS}, n = {N}")
for n in (256, 1024, 4096):
    at = 2 * vectors * 8 * n / (vectors * 12 + COLS * n + 4 * ROWS * n)
    axes.loglog([at], [min(4.8 * at, 1979)], "o", label=f"n = {n}")
axes.set(xlabel="operations a byte", ylabel="TOPS at the most", title="roofline: s8 x s8 on an H200")
axes.legend()
figure.tight_layout()
figure.savefig(folder / "roofline.svg")
print(*(f"{folder}/{name}.svg" for name in ("pattern", "variants", "lines", "roofline")))
