#!/bin/sh
# compile.sh FOLDER: makes FOLDER/NAME.ptx of each NAME.cu here. Exits with 77, which CTest takes for "skipped", where there is no
# nvcc.
here=$(cd "$(dirname "$0")" && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$nvcc" ]; then
    echo "SKIPPED: no nvcc, so that only its stored PTX is tested"
    exit 77
fi
cd "$here" || exit 1
for source in *.cu; do
    arch=$(sed -n 's#^// for \(sm_[0-9a]*\):.*#\1#p' "$source")
    "$nvcc" -std=c++17 -arch="${arch:-sm_90}" -ptx -o "$1/${source%.cu}.ptx" "$source" || exit 1
done
