#!/usr/bin/env bash
# The tests of the Python package in a build tree. tree.sh BUILD_FOLDER PYTHON. MCGEN_TEST_PYTHON names another Python, which has
# pytest and NumPy, and PyTorch where its tests are to run.
here=$(cd "$(dirname "$0")" && pwd)
build=$1 python=${MCGEN_TEST_PYTHON:-$2}
"$python" -c 'import pytest, numpy' 2>/dev/null || {
    echo "SKIPPED: $python has no pytest or no NumPy"
    exit 77
}
"$python" -c 'import torch' 2>/dev/null || echo "SKIPPED: the tests with PyTorch: $python has none"
export MCGEN_LIBRARIES=$build/runtime:$build/gen:$build/sim PYTHONPATH=$build/python PATH=$build/bin:$PATH PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider "$here"
