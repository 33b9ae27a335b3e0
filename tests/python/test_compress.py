"""mcrun compress against PyTorch's conversion to the layout of CUTLASS for sm_80, in every byte."""

import shutil
import subprocess

import pytest

torch = pytest.importorskip("torch")
import numpy as np  # noqa: E402

conversions = pytest.importorskip("torch.sparse._semi_structured_conversions")

MCRUN = shutil.which("mcrun")
pytestmark = pytest.mark.skipif(MCRUN is None, reason="SKIPPED: there is no mcrun")
SHAPES = [(32, 64), (64, 128), (96, 192), (256, 64)]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.int8]


def matrix(rows, cols, dtype, full, seed=1):
    """Each group of four, of f32 of two, has as many nonzeros as it may have, or without FULL perhaps fewer."""
    generator = torch.Generator().manual_seed(seed)
    size, kept = (2, 1) if dtype == torch.float32 else (4, 2)
    order = torch.rand(rows, cols // size, size, generator=generator).argsort(-1)
    least = torch.full((rows, cols // size, 1), kept)
    if not full:
        least = torch.randint(0, kept + 1, least.shape, generator=generator)
    values = torch.randint(1, 100, order.shape, generator=generator) * torch.randint(0, 2, order.shape, generator=generator).mul(2).sub(1)
    return torch.where(order < least, values, 0).reshape(rows, cols).to(dtype)


def save(path, tensor):
    np.save(path, tensor.view(torch.int16).numpy().view("V2") if tensor.dtype == torch.bfloat16 else tensor.numpy())


def load(path, dtype):
    array = np.load(path)
    return torch.from_numpy(array.view(np.int16).copy()).view(dtype) if dtype == torch.bfloat16 else torch.from_numpy(array)


def run(*arguments, where):
    made = subprocess.run([MCRUN, "compress", *arguments, "--layout", "cutlass-sm80"], cwd=where, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_byte(tmp_path, shape, dtype):
    dense = matrix(*shape, dtype, full=True)
    save(tmp_path / "w.npy", dense)
    run("w.npy", "--out", "w", where=tmp_path)
    values, meta = conversions.sparse_semi_structured_from_dense_cutlass(dense)
    ours, our_meta = load(tmp_path / "w.values.npy", dtype), load(tmp_path / "w.meta.npy", meta.dtype)
    assert our_meta.dtype == meta.dtype and our_meta.shape == meta.shape
    assert torch.equal(our_meta, meta)
    assert torch.equal(ours, values)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_reads_the_other(tmp_path, shape, dtype):
    """Where a group has room to spare, the codes differ, and the matrix is the same."""
    dense = matrix(*shape, dtype, full=False)
    save(tmp_path / "w.npy", dense)
    run("w.npy", "--out", "w", where=tmp_path)
    values, meta = load(tmp_path / "w.values.npy", dtype), load(tmp_path / "w.meta.npy", torch.int16)
    assert torch.equal(conversions.sparse_semi_structured_to_dense_cutlass(values, meta), dense)
    values, meta = conversions.sparse_semi_structured_from_dense_cutlass(dense)
    save(tmp_path / "t.values.npy", values)
    save(tmp_path / "t.meta.npy", meta)
    run("t", "--decompress", "--out", "back.npy", where=tmp_path)
    assert torch.equal(load(tmp_path / "back.npy", dtype), dense)
