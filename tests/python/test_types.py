"""The public interface is annotated, for those who check types (py.typed)."""

import importlib
import inspect
import subprocess
import sys

import pytest

import mcgen

USER = """
import mcgen

matrix: mcgen.Matrix = mcgen.Matrix.from_bcrs(8, 4, memoryview(b""), memoryview(b""), None, 8, type="f16")
plan = mcgen.Plan("spmm", matrix, rhs="f16", out="f16", n=16)
name: str = plan.info()["fields"]
kernel: mcgen.Kernel = mcgen.generate("spmm_l8r8", arch="sm_90")
row_ptr, col_idx, values = matrix.read()
size: int = len(values)
matrix.set_values(1, layout=2)
"""


def public():
    modules = [mcgen]
    try:
        modules += [importlib.import_module(f"mcgen.{name}") for name in ("nn", "prune", "torch", "family", "plan")]
    except ImportError:
        pass
    for module in modules:
        for name, found in vars(module).items():
            if name not in getattr(module, "__all__", ()) and getattr(found, "__module__", "") != module.__name__:
                continue
            if name.startswith("_"):
                continue
            if inspect.isfunction(found):
                yield name, found
            elif inspect.isclass(found):
                for method, function in vars(found).items():
                    function = getattr(function, "__func__", getattr(function, "fget", function))
                    if inspect.isfunction(function) and (not method.startswith("_") or method == "__call__"):
                        yield f"{name}.{method}", function


def test_everything_is_annotated():
    missing = []
    for name, function in public():
        signature = inspect.signature(function)
        parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
        if any(p.annotation is p.empty for p in parameters) or signature.return_annotation is signature.empty:
            missing.append(f"{name}{signature}")
    assert not missing, "\n".join(missing)


def test_mypy(tmp_path):
    """A program's mistake is seen, and nothing else."""
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER)
    found = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "user.py"], cwd=tmp_path,
                           capture_output=True, text=True)
    lines = [line for line in found.stdout.splitlines() if "user.py" in line and "error" in line]
    assert len(lines) == 1 and "user.py:10" in lines[0] and 'expected "str"' in lines[0], found.stdout + found.stderr
