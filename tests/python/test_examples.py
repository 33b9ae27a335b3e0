"""The examples, as they stand."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"
WANTS = {"quickstart.py": [], "custom_kernel.py": [], "look.py": ["matplotlib"], "prune_and_quantise.py": ["sklearn", "torch"]}


@pytest.mark.skipif(not EXAMPLES.exists(), reason="no sources beside the tests")
@pytest.mark.parametrize("name, arguments, says", [
    ("quickstart.py", ["DEVICE"], "exact"), ("custom_kernel.py", [], "without its guard"),
    ("look.py", ["."], "roofline.svg"), ("prune_and_quantise.py", ["TORCH", "6"], "sparse, weights of 8 bits")])
def test_example(name, arguments, says, device, tmp_path):
    for module in WANTS[name]:
        pytest.importorskip(module)
    words = {"DEVICE": "sim" if device == "cpu" else "cuda:0", "TORCH": device}
    command = [sys.executable, str(EXAMPLES / name), *(words.get(a, a) for a in arguments)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0 and says in run.stdout, run.stdout + run.stderr


@pytest.mark.skipif(not EXAMPLES.exists(), reason="no sources beside the tests")
def test_there_is_no_other():
    assert {p.name for p in EXAMPLES.glob("*.py")} == set(WANTS)
