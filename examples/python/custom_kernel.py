"""A kernel of your own: a spec as a dict, its variants, the PTX and how it is launched; and PTX that nobody generated, run and
counted on the simulator. Wants NumPy, and no GPU.

    python custom_kernel.py [FILE.ptx]     writes the generated kernel there"""

import pathlib
import sys

import numpy

import mcgen

# Lists are candidates; everything else is fixed. help(mcgen.Spec) says what else a spec may be.
spec = mcgen.Spec({"op": "spmm", "arch": "sm_90", "lhs": "s8", "rhs": "s8", "out": "f16", "scale": "row", "vec": 8,
                   "tile_n": [128, 64], "warps": [4, 2], "n": 256})
print(f"{len(spec)} variants:", *(spec.fields(i) for i in range(len(spec))), sep="\n  ")

kernel = spec.generate(0)
contract = kernel.contract
print("entry     ", contract["entry"])
print("parameters", ", ".join(p["name"] for p in contract["params"]))
print("block     ", contract["block"], " registers and the rest are in its first lines:")
print(*kernel.ptx.splitlines()[:6], sep="\n")
if len(sys.argv) > 1:
    pathlib.Path(sys.argv[1]).write_text(kernel.ptx)

# The same kernel, chosen by a plan that has no other spec to choose from: written to a file, as an application would keep it.
path = pathlib.Path("custom_kernel.lua")
path.write_text('op = "spmm"\nlhs = "s8"\nrhs = "s8"\nout = "f32"\nscale = "tensor"\ntile_n = 64\n')
try:
    weight = numpy.kron(numpy.eye(4, dtype="int8"), numpy.full((8, 8), 3, "int8"))
    matrix = mcgen.Matrix.from_dense(weight, context=mcgen.Context("sim"))
    plan = mcgen.Plan("spmm", matrix, rhs="s8", out="f32", scale="tensor", n=64, specs=[path])
    y = plan(b=numpy.ones((32, 64), "int8"), scale=0.5)
    assert (y == 12).all() and plan.info()["spec"].endswith("custom_kernel.lua")
finally:
    path.unlink()

# PTX by hand. A fault names its line: without the guard the threads past the end would be found out.
SCALE = """.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 by, .param .u32 count)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    .reg .f32 %f<2>;
    .reg .pred %past;
    ld.param.u64 %rd0, [x];
    ld.param.f32 %f0, [by];
    ld.param.u32 %r0, [count];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %past, %r1, %r0;
    @%past ret;
    mad.wide.u32 %rd1, %r1, 4, %rd0;
    ld.global.f32 %f1, [%rd1];
    mul.rn.f32 %f1, %f1, %f0;
    st.global.f32 [%rd1], %f1;
    ret;
}
"""
x = numpy.arange(100, dtype="float32")
launched = mcgen.simulate(SCALE, "scale", 1, 128, [x, 0.5, 100])
assert (x == numpy.arange(100) / 2).all()
for line in launched.lines:
    if line["global_sectors"]:
        print(f"line {line['line']}: {line['kind']}, {line['global_sectors']} sectors of 32 bytes")
try:
    mcgen.simulate(SCALE.replace("@%past ret;", ""), "scale", 1, 128, [x, 0.5, 100])
except mcgen.Fault as fault:
    print("without its guard:", fault)
