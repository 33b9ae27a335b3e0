"""Specs, their kernels, and the simulator."""

import shutil
import subprocess

import numpy
import pytest

import mcgen

ADD_ONE = """.version 7.0
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 a, .param .u32 n)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    .reg .pred %p;
    ld.param.u64 %rd0, [a];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p, %r1, %r0;
    @%p ret;
    mad.wide.u32 %rd1, %r1, 4, %rd0;
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


def test_shipped_specs_generate():
    found = mcgen.specs()
    assert "spmm_l8r8" in found and "op" in found["spmm_l8r8"]
    kernel = mcgen.generate("spmm_l8r8", n=256)
    assert kernel.ptx.startswith("//") and kernel.contract["entry"] in kernel.ptx and "n=256" in kernel.fields
    assert len(kernel.hash) == 16


@pytest.mark.skipif(shutil.which("mcgen") is None, reason="no program mcgen in PATH")
def test_the_program_makes_the_same():
    made = subprocess.run(["mcgen", "spmm_l8r8", "--arch", "sm_80"], capture_output=True, text=True, check=True).stdout
    assert made == mcgen.generate("spmm_l8r8").ptx


def test_specs_as_text_and_dict():
    text = 'op = "spmm" lhs = "s8" rhs = "s8" vec = 8 warps = {4, 2} tile_n = 64'
    fields = {"op": "spmm", "lhs": "s8", "rhs": "s8", "vec": 8, "warps": [4, 2], "tile_n": 64}
    spec = mcgen.Spec(text)
    assert len(spec) == 2 and spec.fields(0) != spec.fields(1)
    assert spec.generate().fields == mcgen.generate(fields).fields
    with pytest.raises(IndexError):
        spec.generate(2)


def test_errors_say_where():
    with pytest.raises(mcgen.UsageError, match="vec: 3 is not one of"):
        mcgen.generate("spmm_l8r8", vec=3)
    with pytest.raises(mcgen.UsageError, match=r"mine.lua:1"):
        mcgen.Spec('op = "spmm', name="mine.lua")
    with pytest.raises(mcgen.FileError):
        mcgen.generate("no/such.lua")


def test_simulator_runs_and_counts():
    a = numpy.arange(40, dtype="int32")
    launched = mcgen.simulate(ADD_ONE, "add_one", 1, 64, [a, 40])
    assert (a == numpy.arange(1, 41)).all()
    assert launched.counts["global_store_bytes"] == 160
    assert [line["global_sectors"] for line in launched.lines if line["kind"] == "stores"] == [5]


def test_simulator_finds_faults():
    a = numpy.arange(40, dtype="int32")
    with pytest.raises(mcgen.Fault, match="ends 4 bytes past") as caught:
        mcgen.simulate(ADD_ONE, "add_one", 1, 64, [a, 50])
    assert caught.value.kind == "bounds" and "ld.global" in ADD_ONE.splitlines()[caught.value.line - 1]
    racing = ADD_ONE.replace("mad.wide.u32 %rd1, %r1, 4, %rd0;", "mov.u64 %rd1, %rd0;")
    with pytest.raises(mcgen.Fault) as caught:
        mcgen.simulate(racing, "add_one", 1, 64, [a, 40], order="seeded", seed=3)
    assert caught.value.kind == "race"
    with pytest.raises(mcgen.Fault) as caught:
        mcgen.simulate("nonsense", "add_one", 1, 64, [])
    assert caught.value.kind == "parse"
    with pytest.raises(ValueError, match="1 arguments, the kernel has 2"):
        mcgen.simulate(ADD_ONE, "add_one", 1, 64, [a])
