#!/usr/bin/env bash
# Every legal variant assembles for every architecture without spills. assemble.sh MCGEN SPEC; exits 77 without ptxas.
set -u
mcgen=$1
spec=$2
ptxas=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
if ! [ -x "$ptxas" ]; then
    echo "SKIPPED: no ptxas here, nothing was assembled"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export mcgen spec ptxas work

# one ARCH VARIANT NAME SETTINGS...
one() {
    local arch=$1 variant=$2 out=$work/$1-$2-$3
    shift 3
    "$mcgen" --arch "$arch" --variant "$variant" "$@" "$spec" -o "$out.ptx" &&
        "$ptxas" -v -arch="$arch" "$out.ptx" -o "$out.cubin" >"$out.log" 2>&1 &&
        grep -q '0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' "$out.log" || {
        echo "failed: $arch variant $variant $*"
        cat "$out.log"
    } >"$out.failed"
    rm -f "$out.ptx" "$out.cubin"
}
export -f one

# output N: one of the 27 outputs that are not s32
output() {
    local outs=(f16 bf16 f32) scales=(tensor row column) biases=(none row column)
    echo "--set out=${outs[$1 % 3]} --set scale=${scales[$1 / 3 % 3]} --set bias=${biases[$1 / 9 % 3]}"
}

count=$("$mcgen" --list-variants "$spec" | wc -l)
fixed="--set m=512 --set n=256 --set k=4608 --set ldb=256 --set ldc=256"
{
    for arch in sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; do
        for ((i = 0; i < count; i++)); do echo "$arch $i open"; done
        for ((i = 0; i < count; i += 7)); do echo "$arch $i fixed $fixed"; done
        for ((i = 0; i < count; i += 4)); do echo "$arch $i output $(output "$i")"; done
        for ((i = 3; i < count; i += 11)); do echo "$arch $i output-odd $(output "$i") --set n=129 --set align=1"; done
        for ((i = 5; i < count; i += 11)); do echo "$arch $i output-fixed $(output "$((i + 1))") $fixed"; done
        for ((i = 0; i < count; i += 7)); do echo "$arch $i odd --set n=129 --set align=1"; done
        for ((i = 1; i < count; i += 6)); do echo "$arch $i half --set n=256 --set ldc=256"; done
    done
    for ((i = 0; i < count; i += 7)); do echo "sm_90a $i open"; done
} >"$work/list"
xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' _ <"$work/list"
logs=$(find "$work" -name '*.log' | wc -l)
cat "$work"/*.failed 2>/dev/null | head -60
bad=$(find "$work" -name '*.failed' -size +0 | wc -l)
echo "$logs of $(wc -l <"$work/list") assembled ($count variants, 7 architectures), $bad with errors or spills;" \
    "most registers: $(grep -oh 'Used [0-9]* registers' "$work"/*.log | sort -t' ' -k2 -n | tail -1)"
[ "$bad" = 0 ] && [ "$logs" = "$(wc -l <"$work/list")" ]
