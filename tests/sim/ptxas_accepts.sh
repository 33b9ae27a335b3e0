#!/bin/sh
# ptxas_accepts.sh TEST[=MODULE]...: the kernels that each test prints when it is called with `dump` (and MODULE) are valid
# PTX.
ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
if [ ! -x "$ptxas" ]; then
    echo "SKIPPED: no ptxas, so nobody but us has looked at the test kernels"
    exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0
for test in "$@"; do
    program=${test%=*} module=${test#"${test%=*}"}
    name=$(basename "$test")
    "$program" dump ${module#=} >"$dir/$name.ptx" || exit 1
    arch=$(sed -n 's/^\.target \(sm_[0-9]*a*\).*/\1/p' "$dir/$name.ptx" | head -1)
    if "$ptxas" -arch="$arch" "$dir/$name.ptx" -o "$dir/$name.cubin"; then
        echo "$name: $(grep -c '\.entry' "$dir/$name.ptx") kernels accepted for $arch"
    else
        failed=1
    fi
done
exit $failed
