#!/usr/bin/env bash
# The wheel: built twice, in two folders, to the same bytes; then installed into an empty environment, where its tests run without
# compilers and without anything of the build. Run by .ci/run, and by hand; wants pip's packages.
#   wheel.sh [TORCH]     what pip installs beside, torch==2.11.0 if it is left out; "": no PyTorch; a folder: an environment of the same Python
#                        that has pytest, NumPy and PyTorch, whose packages are found behind the wheel's, so that nothing is installed twice
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
torch=${1-torch==2.11.0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/tools/wheel" "$work/first" >/dev/null
mkdir -p "$work/copy/build-wheel"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -c) | tar -x -C "$work/copy"
ln -s "$root"/build-wheel/{venv,dependencies} "$work/copy/build-wheel/"
SOURCE_DATE_EPOCH=$(cd "$root" && git log -1 --format=%ct) "$work/copy/tools/wheel" "$work/second" >/dev/null
cmp "$work"/first/*.whl "$work"/second/*.whl || { echo "the wheel is not reproducible"; exit 1; }
wheel=$(echo "$work"/first/*.whl)
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes, the same from another folder"

"${MCGEN_TEST_PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q "$wheel"
clean=(env -i HOME="$work" PATH="$work/venv/bin:/nowhere" PYTHONDONTWRITEBYTECODE=1)
(cd "$work" && "${clean[@]}" python -c 'import mcgen; print("imported with nothing beside:", ", ".join(mcgen.OPERATORS))')
(cd "$work" && "${clean[@]}" mcgen spmm_l8r8 >/dev/null && "${clean[@]}" mcrun --version)
if [ -d "$torch" ]; then
    purelib='import sysconfig; print(sysconfig.get_path("purelib"))'
    "$torch/bin/python" -c "$purelib" >"$("$work/venv/bin/python" -c "$purelib")/beside.pth"
    (cd "$work" && "${clean[@]}" python -c 'import mcgen, pytest, numpy, torch, sys; assert mcgen.__file__.startswith(sys.prefix)')
else
    "$work/venv/bin/pip" install -q pytest numpy ${torch:+"$torch"}
fi
mkdir -p "$work/tree/tests" "$work/tree/examples"
cp -r "$here" "$work/tree/tests/"
cp -r "$root/examples/python" "$work/tree/examples/"
(cd "$work" && "${clean[@]}" python -m pytest -q -p no:cacheprovider tree/tests/python)
