#!/usr/bin/env bash
# Variants assemble for every architecture without spills: all of the gather kernel's, some of the ring kernel's (ring: staging tma,
# async: staging async, ahead: queues), some of the gather kernel's through shared memory (shared) and with 4-bit mma (int4), some of the ring's for a B of 16 bits (wide) and of floats of 8 and 32 (fp8, tf32), some of the SDDMM (sddmm); of a folder of specs the default kernels with
# every V (defaults), and of those of floats some variants, outputs and residuals with every V, by rows and by columns (floats).
# assemble.sh MCGEN SPEC [ring | ahead | async | shared | int4 | wide | fp8 | tf32 | sddmm | quantise | softmax | softmax_grad | optimise | values | spmmt | gemm | gemm_split | gemm_stream | gemm24_stream | gemm24 | gemm_mma | gemm24_mma | pattern | pack_strided | pack_windowed | pack_panels | pack_csr | compress24 | slide24 | panels | csr | sampled_csr | sampled_panels], or assemble.sh MCGEN FOLDER defaults | floats; exits 77 without ptxas.
set -u
export MCGEN_ARCH=sm_80 # whatever GPU is here
mcgen=$1
spec=$2
ptxas=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
if ! [ -x "$ptxas" ]; then
    echo "SKIPPED: no ptxas here, nothing was assembled"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keys=$(dirname "$mcgen")/ptx_keys
export mcgen spec ptxas work

# generate ARCH VARIANT NAME SETTINGS...
generate() {
    local out=$work/$1-$2-$3
    "$mcgen" --arch "$1" --variant "$2" "${@:4}" "$spec" -o "$out.ptx" 2>"$out.failed" || echo "failed: $* of $spec" >>"$out.failed"
}

# assemble PTX: a file whose name begins with the architecture
assemble() {
    local out=${1%.ptx} arch frame=0 spills='0 bytes spill stores, 0 bytes spill loads'
    arch=$(basename "$out" | cut -d- -f1)
    # For sm_120 ptxas 13 gives ring kernels a frame of 8 bytes, without spills.
    [ "$arch" = sm_120 ] && frame='[08]'
    # Candidates of quantise keep up to 64 bytes there: the fastest one of long rows, which clusters share, does.
    [[ $out = *-token ]] && frame='([0-9]|[1-5][0-9]|6[0-4])' spills=
    "$ptxas" -v -arch="$arch" "$out.ptx" -o "$out.cubin" >"$out.log" 2>&1 &&
        grep -Eq "^ *$frame bytes stack frame, $spills" "$out.log" || {
        echo "failed: $(basename "$out"): $(grep -m 1 '^//   op=' "$out.ptx")"
        cat "$out.log"
    } >"$out.failed"
    rm -f "$out.cubin"
}
export -f generate assemble

# output N: one of the 27 outputs that are not s32, every other one with an activation
output() {
    local outs=(f16 bf16 f32) scales=(tensor row column) biases=(none row column) acts=(relu none)
    echo "--set out=${outs[$1 % 3]} --set scale=${scales[$1 / 3 % 3]} --set bias=${biases[$1 / 9 % 3]} --set act=${acts[$1 % 2]}"
}

# chained N: an output for the next layer, with all that it may have
chained() {
    local outs=(s8 f16 u8 bf16 s8 f32 u8) scales=(row column tensor) biases=(row none column) acts=(gelu silu gelu_tanh relu) own=
    local out=${outs[$1 % 7]}
    [[ $out = ?8 ]] && own=" --set c_scale=tensor --set zero=tensor"
    echo "--set out=$out --set scale=${scales[$1 % 3]} --set bias=${biases[$1 / 2 % 3]} --set act=${acts[$1 % 4]} --set b_scale=column$own"
}

# in_pairs N: an output of 4 bits
in_pairs() { chained "$1" | sed "s/out=[a-z0-9]*/out=$([ $(($1 % 2)) = 0 ] && echo s4 || echo u4)/"; }

# added N: an output with a residual
added() {
    local types=(f16 f32 bf16)
    if [ $(($1 % 2)) = 0 ]; then output "$1"; else chained "$1"; fi | sed "s/$/ --set residual=${types[$1 % 3]}/"
}

# columns N: the same of a column-major C
columns() { added "$1" | sed 's/$/ --set c_major=column/'; }

[ -d "$spec" ] || count=$("$mcgen" --list-variants "$spec" | wc -l)
fixed="--set m=512 --set n=256 --set k=4608 --set ldb=256 --set ldc=256"

gather_list() {
    local digits=("--set lhs=u16 --set vec=4" "--set lhs=s16 --set vec=2 --set digits=offset"
        "--set lhs=s16 --set vec=4 --set digits=offset --set stacking=off"
        "--set lhs=s16 --set rhs=u16 --set vec=2 --set digits=offset --set tile_n=64 --set sum=exact --set out=s64")
    local arch i first=0 exact="--set sum=exact --set out=s64" exact_count tall_count columns_count
    # shellcheck disable=SC2086
    exact_count=$("$mcgen" $exact --list-variants "$spec" | wc -l)
    tall_count=$("$mcgen" --set vec=16 --list-variants "$spec" | wc -l)
    columns_count=$("$mcgen" --set c_major=column --set out=f32 --set scale=row --list-variants "$spec" | wc -l)
    for arch in sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; do
        for ((i = 0; i < count; i++)); do echo "$arch $i open"; done
        for ((i = 0; i < count; i += 7)); do echo "$arch $i fixed $fixed"; done
        for ((i = 0; i < count; i += 4)); do echo "$arch $i output $(output "$i")"; done
        for ((i = 2; i < count; i += 7)); do echo "$arch $i chained $(chained "$((i + first))")"; done
        for ((i = first % 5; i < count; i += 5)); do echo "$arch $i added $(added "$((i + first))")"; done
        for ((i = first; i < count; i += 7)); do echo "$arch $i pairs $(in_pairs "$((i + first))")"; done
        for ((i = first; i < columns_count; i += 9)); do echo "$arch $i columns $(columns "$((i + first))")"; done
        for ((i = first; i < columns_count; i += 13)); do echo "$arch $i columns-odd $(columns "$i") --set n=129 --set align=1"; done
        for ((i = first; i < count; i += 13)); do echo "$arch $i pairs-odd $(in_pairs "$i") --set n=129 --set align=1"; done
        for ((i = first; i < count; i += 13)); do echo "$arch $i added-odd $(added "$i") --set n=129 --set align=1"; done
        for ((i = first; i < count; i += 13)); do echo "$arch $i added-fixed $(added "$i") $fixed --set ldr=256"; done
        for ((i = 1; i < count; i += 13)); do echo "$arch $i chained-odd $(chained "$((i + first))") --set n=129 --set align=1"; done
        for ((i = 3; i < count; i += 11)); do echo "$arch $i output-odd $(output "$i") --set n=129 --set align=1"; done
        for ((i = 5; i < count; i += 11)); do echo "$arch $i output-fixed $(output "$((i + 1))") $fixed"; done
        for ((i = 0; i < count; i += 7)); do echo "$arch $i odd --set n=129 --set align=1"; done
        for ((i = 1; i < count; i += 6)); do echo "$arch $i half --set n=256 --set ldc=256"; done
        for ((i = first; i < exact_count; i += 12)); do echo "$arch $i exact $exact"; done
        for ((i = first; i < tall_count; i += 13)); do echo "$arch $i tall --set vec=16"; done
        for ((i = first; i < tall_count; i += 13)); do echo "$arch $i tall-added $(added "$i") --set vec=16"; done
        echo "$arch 0 tall-s16s16 --set vec=16 --set lhs=s16 --set rhs=s16 --set tile_n=64 --set stride=32"
        echo "$arch 0 tall-u16s4 --set vec=16 --set lhs=u16 --set rhs=s4 --set mma=int8 --set tile_n=128 --set stride=64"
        echo "$arch 0 tall-exact $exact --set vec=16 --set lhs=u16 --set rhs=u16 --set tile_n=64 --set stride=32"
        echo "$arch 0 exact-s16s16 $exact --set lhs=s16 --set rhs=s16 --set tile_n=64 --set stride=64"
        echo "$arch 0 digits ${digits[first % 4]} --set stride=64"
        echo "$arch 0 exact-s16u8 $exact --set lhs=s16 --set rhs=u8 --set tile_n=128 --set stride=64"
        first=$((first + 1))
    done
    for ((i = 0; i < count; i += 7)); do echo "sm_90a $i open"; done
}

# Architectures differ in what they have: each takes another part of the list.
ring_list() {
    local arch i first=0 all tall_count
    for arch in sm_90 sm_90a sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        tall_count=$("$mcgen" --arch "$arch" --set vec=16 --set out=f16 --set scale=row --set b_scale=column --list-variants "$spec" | wc -l)
        for ((i = first; i < all; i += 4)); do echo "$arch $i open"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i output $(output "$((i + first))")"; done
        for ((i = first; i < all; i += 7)); do echo "$arch $i chained $(chained "$((i + first))")"; done
        for ((i = first; i < all; i += 7)); do echo "$arch $i added $(added "$((i + first))")"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i pairs $(in_pairs "$((i + first))")"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i sums --set out=s32 --set scale=none $fixed"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i odd --set n=129 --set ldc=129"; done
        for ((i = first; i < tall_count; i += 13)); do echo "$arch $i tall --set vec=16 $(chained "$i")"; done
        echo "$arch 0 tall-s16s8 --set vec=16 --set lhs=s16 --set tile_n=128 --set warps=7 $(output "$((5 * first))")"
        first=$((first + 1))
    done
    echo "sm_90 0 stacked --set lhs=u16 --set vec=4 --set tile_n=128 --set warps=16"
    echo "sm_100 0 stacked --set lhs=s16 --set vec=2 --set digits=offset --set tile_n=128 --set warps=16"
    echo "sm_90 0 narrow --set tile_n=32 --set warps=15 --set window=64 --set stages=12"
    echo "sm_120 0 narrow --set tile_n=32 --set warps=1 --set window=128 --set stages=2"
}

# Queues of strides, with as many warps as they leave registers for.
ahead_list() {
    local arch i first=0 all tma wide="--set warps=11 --set split=1" narrow="--set warps=16 --set tile_n=32"
    local async="--set staging=async --set overlap=off --set prefetch_l2=off"
    for arch in sm_90 sm_90a sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        for ((i = first; i < all; i += 61)); do echo "$arch $i open"; done
        for ((i = first; i < all; i += 97)); do echo "$arch $i output $(output "$((i + first))")"; done
        for ((i = first; i < all; i += 97)); do echo "$arch $i added $(added "$((i + first))")"; done
        tma="--set resident=on,off --set depth=4 --set window=64 --set stages=2"
        for i in 0 1 2 3; do
            echo "$arch $i wide $tma $wide --set tile_n=128 $(added "$((i + first))")"
            echo "$arch $i s16 $tma $wide --set tile_n=64 --set lhs=s16 --set rhs=s16"
            echo "$arch $i s4 $tma $wide --set tile_n=128 --set rhs=s4 $(output "$((i + first))")"
            echo "$arch $i tall $tma $wide --set tile_n=64 --set vec=16 $(added "$((i + first))")"
            echo "$arch $i narrow $tma $narrow --set split=1 --set vec=$((2 * (1 + i % 2))) $(added "$((i + first))")"
            echo "$arch $i f16 $tma $wide --set tile_n=64 --set lhs=f16 --set rhs=f16 --set out=f16 --set vec=$((1 << i))"
            echo "$arch $i f16-narrow $tma $narrow --set split=1 --set lhs=f16 --set rhs=f16 --set out=f16 --set vec=8"
            echo "$arch $i f16-tall $tma $wide --set tile_n=32 --set lhs=f16 --set rhs=f16 --set out=f16 --set vec=16"
            echo "$arch $i fp8 $tma $wide --set tile_n=64 --set lhs=e4m3 --set rhs=e5m2 --set out=f16 --set vec=$((1 << i))"
            echo "$arch $i tf32 $tma --set warps=7 --set split=1 --set tile_n=32 --set lhs=tf32 --set rhs=tf32 --set out=f32 --set vec=$((1 << i))"
        done
        first=$((first + 1))
    done
    for arch in sm_80 sm_86 sm_89; do
        for i in 0 1 2 3; do
            echo "$arch $i async $async --set tile_n=32,64 --set warps=4,16 --set window=64 --set stages=2 --set depth=4 --set resident=on $(output "$i")"
            echo "$arch $i always $async --set tile_n=32,64 --set warps=4,16 --set window=64 --set stages=2 --set depth=4,2 --set resident=always --set split=4 $(added "$i")"
            echo "$arch $i async-f16 $async --set tile_n=32 --set warps=4,16 --set window=64 --set stages=2 --set depth=4 --set resident=on --set lhs=f16 --set rhs=f16 --set out=f16 --set vec=$((1 << i))"
        done
    done
}

shared_list() {
    local arch i first=0
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for ((i = first; i < count; i += 3)); do echo "$arch $i open"; done
        for ((i = first; i < count / 2; i += 5)); do echo "$arch $i late --set prefetch=off --set padding=off $fixed"; done
        for ((i = first; i < count / 2; i += 5)); do echo "$arch $i digits --set lhs=s16 --set rhs=u16 --set tile_n=64,32"; done
        for ((i = first; i < count; i += 9)); do echo "$arch $i paper --set order=paper"; done
        for ((i = first; i < count; i += 5)); do echo "$arch $i chained $(chained "$i")"; done
        for ((i = first; i < count; i += 9)); do echo "$arch $i added $(added "$i")"; done
        for ((i = first; i < count; i += 9)); do echo "$arch $i pairs $(in_pairs "$i")"; done
        for ((i = first; i < count; i += 9)); do echo "$arch $i direct --set order=paper --set staging=direct $(output "$i")"; done
        first=$(((first + 1) % 3))
    done
}

async_list() {
    local arch i first=0 all words="--set align=4 --set out=s32 --set scale=none"
    for arch in sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        for ((i = first % 2; i < all; i += 2)); do echo "$arch $i open"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i output $(output "$((i + first))")"; done
        for ((i = first; i < all; i += 7)); do echo "$arch $i chained $(chained "$((i + first))")"; done
        for ((i = first; i < all; i += 7)); do echo "$arch $i added $(added "$((i + first))")"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i pairs $(in_pairs "$((i + first))")"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i sums --set out=s32 --set scale=none $fixed"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i words $words --set n=129 --set ldb=132"; done
        first=$((first + 1))
    done
    echo "sm_86 0 narrow --set tile_n=32 --set warps=15 --set window=64 --set stages=12"
}

wide_list() {
    local arch i first=0 all async="--set staging=async --set overlap=off --set window=128 --set stages=3"
    for arch in sm_90 sm_90a sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        for ((i = 2 * first; i < all; i += 9)); do echo "$arch $i open"; done
        echo "$arch $first output $(output "$((5 * first))")"
        echo "$arch $first chained $(chained "$((3 * first))")"
        echo "$arch $first added $(added "$((first + 1))")"
        echo "$arch $first pairs $(in_pairs "$((first + 1))")"
        echo "$arch 0 odd --set n=129 --set ldc=129 --set window=64 --set vec=2 --set warps=8,15 --set split=1,4"
        first=$((first + 1))
    done
    for arch in sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; do
        echo "$arch 0 async $async --set warps=16 --set split=1"
        echo "$arch 0 words $async --set align=4 --set out=s32 --set scale=none --set n=129 --set ldb=130 --set lhs=s8 --set resident=off"
    done
}

# Of a 4-bit B: natively, and where ptxas makes several instructions of a 4-bit mma.
int4_list() {
    local arch i first=0 lhs=(s4 u8 s12 u16) shuffle=(on off)
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for ((i = first; i < count; i += 13)); do
            echo "$arch $i int4 --set mma=int4 --set lhs=${lhs[i % 4]} --set shuffle=${shuffle[i / 4 % 2]}"
            echo "$arch $i odd --set mma=int4 --set lhs=${lhs[(i + 1) % 4]} --set vec=4 --set n=129 --set align=1 $(output "$i")"
        done
        first=$((first + 1))
    done
}

# Floats of 8 bits in the ring: as many warps as there are registers for.
fp8_list() {
    local arch i first=0 all types=(e4m3 e5m2) async="--set staging=async --set overlap=off --set window=128 --set stages=3"
    for arch in sm_90 sm_90a sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        for ((i = first; i < all; i += 9)); do echo "$arch $i open"; done
        for ((i = first; i < all; i += 27)); do echo "$arch $i output $(output "$((i + first))")"; done
        for ((i = first; i < all; i += 27)); do echo "$arch $i chained --set lhs=${types[first % 2]} $(chained "$((i + first))")"; done
        for ((i = first; i < all; i += 27)); do echo "$arch $i added --set rhs=${types[first % 2]} $(added "$((i + first))")"; done
        for ((i = first; i < 40; i += 9)); do echo "$arch $i tall --set vec=16 $(chained "$i")"; done
        echo "$arch 0 columns --set c_major=column --set vec=4"
        echo "$arch 0 most --set tile_n=128 --set warps=15 --set vec=2 $(added "$first")"
        echo "$arch 0 tall-most --set tile_n=128 --set warps=7 --set vec=16 $(added "$first")"
        first=$((first + 1))
    done
    for arch in sm_89 sm_90 sm_100 sm_120; do
        echo "$arch 0 async $async --set tile_n=128 --set warps=16 --set vec=1"
        echo "$arch 0 tall-async $async --set tile_n=128 --set warps=8 --set vec=16 --set lhs=e5m2"
        echo "$arch 0 words $async --set align=4 --set out=f32 --set n=129 --set ldb=132 --set tile_n=64 --set warps=16 --set vec=16"
    done
}

# tf32 in the ring.
tf32_list() {
    local arch i first=0 all async="--set staging=async --set overlap=off --set window=128 --set stages=3"
    for arch in sm_90 sm_90a sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        for ((i = first; i < all; i += 5)); do echo "$arch $i open"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i output $(output "$((i + first))")"; done
        for ((i = first; i < all; i += 9)); do echo "$arch $i added --set vec=2 $(added "$((i + first))")"; done
        for ((i = first; i < 20; i += 9)); do echo "$arch $i tall --set vec=16 $(chained "$i")"; done
        echo "$arch 0 columns --set c_major=column --set vec=4"
        echo "$arch 0 tall-most --set warps=15 --set vec=16 $(added "$first")"
        first=$((first + 1))
    done
    for arch in sm_80 sm_86 sm_89 sm_90 sm_100 sm_120; do
        echo "$arch 0 async $async --set warps=16 --set vec=1"
        echo "$arch 0 tall-async $async --set warps=16 --set vec=16"
        echo "$arch 0 words $async --set align=4 --set n=129 --set ldb=130 --set warps=16"
    done
}

# Of a spec with a 4-bit B, multiplied as 8 bits.
halves_list() {
    local arch i first=0 all set targets="sm_80 sm_86 sm_89 sm_90 sm_100 sm_120"
    grep -q '"tma"' "$spec" && targets="sm_90 sm_90a sm_100 sm_120"
    for arch in $targets; do
        for set in rhs=s4 rhs=u4 lhs=s16; do
            all=$("$mcgen" --arch "$arch" --set mma=int8 --set $set --list-variants "$spec" | wc -l)
            for ((i = first; i < all; i += 19)); do echo "$arch $i $set --set mma=int8 --set $set"; done
            first=$((first + 1))
        done
        echo "$arch 0 tile --set mma=int8 --set tile_n=256 --set warps=4 --set split=2 --set k=200000"
    done
}

# Every pair of widths, with other shapes, reads and outputs on each architecture.
sddmm_list() {
    local arch lhs rhs tile floats i=0 j=0 fixed="--set k=250 --set lda=256 --set ldb=256"
    local more=("--set prefetch=off" "$fixed --set groups=8 --set order=srbcrs16" "--set align=1 --set vec=4 --set order=srbcrs32"
        "--set out=f16 --set scale=column --set mask=values --set vec=2" "$fixed --set out=bf16 --set scale=row --set groups=1"
        "--set out=f32 --set scale=tensor --set mask=values --set order=srbcrs16 --set groups=8 --set tile_k=128")
    local a_panels=("--set lhs_in=shared" "--set prefetch_lhs=on --set k=1024 --set lda=1024 --set ldb=1024" "--set lhs_in=shared --set prefetch_lhs=on --set reads=lines")
    local reals=("--set groups=2" "--set layout=rows --set vec=2" "--set k=256 --set lda=256 --set ldb=256 --set tile_k=256 --set groups=2" "--set mask=values --set order=srbcrs32 --set vec=4")
    local singles=("--set vec=1" "--set layout=rows --set groups=1 --set vec=2" "--set k=64 --set lda=64 --set ldb=64" "--set mask=values --set order=srbcrs32 --set vec=4")
    local -A line=([u8]=256 [s4]=512 [u16]=128)
    local windows=("--set window=256 --set warps=16" "--set window=128 --set warps=12 --set order=srbcrs16 --set out=f32 --set scale=column --set mask=values"
        "--set rhs=s4 --set window=512 --set warps=8" "--set lhs=s16 --set rhs=s16 --set k=128 --set window=256 --set warps=8 --set groups=2"
        "--set lhs=s16 --set window=256 --set warps=8 --set vec=2")
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        echo "$arch 0 window$i --set method=window --set k=256 --set tile_k=256 ${windows[i % 5]}"
        echo "$arch 0 rows --set layout=rows --set tile_k=128 --set lhs=s16 --set rhs=s16"
        for floats in f16 bf16; do
            echo "$arch 0 $floats --set lhs=$floats --set rhs=$floats --set out=$floats --set groups=4 --set tile_k=128 ${reals[j % 4]}"
            echo "$arch 0 $floats.lines --set lhs=$floats --set rhs=$floats --set out=f32 --set groups=2 --set tile_k=128 --set reads=lines --set lhs_in=shared --set scale=row"
            echo "$arch 0 $floats.window --set lhs=$floats --set rhs=$floats --set out=$floats --set method=window --set k=256 --set tile_k=256 --set window=128 --set warps=12 --set groups=2"
            echo "$arch 0 $floats.dense --set lhs=$floats --set rhs=$floats --set out=$floats --set method=dense --set k=256 --set reads=chunks --set groups=4 --set tile_k=256 --set prefetch=on --set warps=4"
            echo "$arch 0 $floats.narrow --set lhs=$floats --set rhs=$floats --set out=f32 --set method=window --set k=32 --set tile_k=32 --set window=128 --set warps=12 --set groups=2 --set lda=32 --set ldb=32"
            j=$((j + 1))
        done
        echo "$arch 0 tf32 --set lhs=tf32 --set rhs=tf32 --set out=f32 --set groups=2 --set tile_k=64 ${singles[j / 2 % 4]}"
        echo "$arch 0 tf32.lines --set lhs=tf32 --set rhs=tf32 --set out=f16 --set groups=2 --set tile_k=64 --set reads=lines --set lhs_in=shared --set scale=row"
        echo "$arch 0 tf32.tall --set vec=16 --set lhs=tf32 --set rhs=tf32 --set out=f32 --set groups=2 --set tile_k=64 --set mask=values --set order=srbcrs32"
        echo "$arch 0 tf32.window --set lhs=tf32 --set rhs=tf32 --set out=bf16 --set method=window --set k=128 --set tile_k=128 --set window=128 --set warps=12 --set groups=2"
        echo "$arch 0 tf32.dense --set lhs=tf32 --set rhs=tf32 --set out=f32 --set method=dense --set k=128 --set reads=chunks --set groups=4 --set tile_k=256 --set prefetch=on --set warps=4"
        local bytes= # results of 8 bits: from sm_89 on
        [ $j -le 4 ] || bytes=e4m3
        for floats in "e4m3 e4m3" "e4m3 e5m2" "e5m2 e4m3" "e5m2 e5m2"; do
            lhs=${floats% *} rhs=${floats#* }
            echo "$arch 0 $lhs$rhs --set lhs=$lhs --set rhs=$rhs --set out=f16 --set groups=2 --set tile_k=128 ${singles[i % 4]}"
            echo "$arch 0 $lhs$rhs.window --set lhs=$lhs --set rhs=$rhs --set out=f32 --set method=window --set k=256 --set tile_k=256 --set window=128 --set warps=8 --set groups=2"
            echo "$arch 0 $lhs$rhs.dense --set lhs=$lhs --set rhs=$rhs --set out=f16 --set method=dense --set k=256 --set reads=chunks --set groups=4 --set tile_k=256 --set prefetch=on --set warps=4"
        done
        echo "$arch 0 e4m3.lines --set lhs=e4m3 --set rhs=e4m3 --set out=${bytes:-f32} --set groups=2 --set tile_k=256 --set reads=lines --set lhs_in=shared"
        echo "$arch 0 e5m2.tall --set vec=16 --set lhs=e5m2 --set rhs=e5m2 --set out=${bytes:-f16} --set groups=2 --set tile_k=128 --set mask=values --set order=srbcrs32"
        echo "$arch 0 tall --set vec=16 --set groups=2 --set lhs=u8 --set rhs=s4 --set out=s8 --set scale=row --set tile_k=256 ${a_panels[i % 3]}"
        echo "$arch 0 tall.floats --set vec=16 --set groups=2 --set lhs=f16 --set rhs=f16 --set out=u8 --set scale=row --set order=srbcrs32 --set tile_k=128 --set mask=values"
        echo "$arch 0 tall.window --set vec=16 --set method=window --set k=256 --set tile_k=256 --set window=128 --set warps=12"
        echo "$arch 0 tall.dense --set vec=16 --set method=dense --set k=256 --set order=srbcrs16 --set groups=4 --set tile_k=256 --set prefetch=on --set reads=chunks --set warps=4"
        echo "$arch 0 single --set vec=1 --set groups=8 --set lhs=s16 --set out=f16 --set scale=column --set tile_k=128"
        echo "$arch 0 single.window --set vec=1 --set method=window --set k=256 --set tile_k=256 --set window=128 --set warps=16 --set out=f32 --set scale=row"
        echo "$arch 0 single.dense --set vec=1 --set method=dense --set k=256 --set out=f16 --set scale=row --set groups=4 --set tile_k=256 --set prefetch=on --set reads=chunks --set warps=4"
        echo "$arch 0 rows4 --set layout=rows --set tile_k=64 --set rhs=s4 --set groups=8 --set prefetch=off"
        for lhs in s8 u4 s16; do
            for rhs in u8 s4 u16; do
                echo "$arch 0 $lhs$rhs --set lhs=$lhs --set rhs=$rhs --set tile_k=256 --set groups=4 --set warps=4 ${more[i % 6]}"
                [ $((i % 2)) = 1 ] || echo "$arch 0 $lhs$rhs.lines --set lhs=$lhs --set rhs=$rhs --set reads=lines ${more[i / 2 % 6]} --set groups=2 --set tile_k=${line[$rhs]}"
                [ $((i % 2)) = 0 ] || echo "$arch 0 $lhs$rhs.lhs --set lhs=$lhs --set rhs=$rhs ${a_panels[i / 2 % 3]} --set groups=2 --set tile_k=${line[$rhs]}"
                i=$((i + 1))
            done
        done
    done
}

# Scales a token and of the tensor, computed; in clusters, where there are any. Elements that stay as they are.
quantise_list() {
    local arch i first=0 zeros=(none row) layouts=(columns rows) outs=(u8 s4 u4 s8) ins=(f16 bf16 f32) moved=(s8 s16 s32 f16) all one clusters
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        for ((i = 7 * first; i < all; i += 97)); do echo "$arch $i token"; done
        one="--set keep=0 --set words=1 --set rounding=convert --set tile=64 --set warps=4,8 --set hold=1,2"
        clusters="--set cluster=4"
        [[ $arch = sm_8* ]] && clusters=
        for ((i = 0; i < 4; i++)); do
            echo "$arch 0 types$i --set lhs=${ins[(i + first) % 3]} --set out=${outs[i]} --set zero=${zeros[(i + first) % 2]} --set layout=${layouts[first % 2]} $clusters --set words=1 --set rounding=convert"
            echo "$arch 0 moved$i --set scales=given --set scale=none --set lhs=${moved[i]} --set out=${moved[i]} --set layout=${layouts[(i / 2 + first) % 2]} --set keep=0 --set words=1 --set rounding=convert --set tile=32 --set warps=8 --set hold=2"
            [ $i != $((first % 4)) ] || echo "$arch 0 halves$i --set scales=given --set scale=none --set lhs=s4 --set out=s4 --set layout=${layouts[first % 2]} --set keep=0 --set words=1 --set rounding=convert --set tile=$((32 << first % 3)) --set warps=4 --set hold=$((1 + first % 2))"
            echo "$arch 0 tensor$i $one --set scale=tensor --set lhs=${ins[(i + first) % 3]} --set out=${outs[i]} --set layout=${layouts[i % 2]}"
        done
        first=$((first + 1))
    done
}

# Every type, V and order once in each arch; the most warps and units among them.
softmax_list() {
    local arch i vec ins=(f32 f16 bf16 s32) outs=(f32 f16 bf16 s8 u8 s16 u16) orders=(bcrs srbcrs16 srbcrs32) vecs=(1 2 4 8 16) first=0
    local schedules=("4 4" "8 2" "16 2" "2 4") units=("4 4 16" "8 4 8" "4 16 8" "2 8 4")
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for ((i = first; i < first + 14; i++)); do
            # shellcheck disable=SC2086
            set -- ${schedules[i % 4]}
            echo "$arch 0 types$i --set warps=$1 --set hold=$2 --set vec=${vecs[i % 5]} --set order=${orders[i % 3]} --set lhs=${ins[i / 2 % 4]} --set out=${outs[i % 7]} --set mask=values --set lse=row"
            # shellcheck disable=SC2086
            set -- ${units[i % 4]}
            echo "$arch 0 approx$i --set exp=approx --set warps=$1 --set hold=$2 --set unit=$3 --set vec=${vecs[i % 5]} --set order=${orders[i / 2 % 3]} --set lhs=${ins[i % 3]} --set out=${outs[i % 7]}"
        done
        for ((i = first; i < first + 14; i++)); do
            # shellcheck disable=SC2086
            set -- ${units[i % 4]}
            echo "$arch 0 once$i --set exp=approx --set exchange=once --set warps=$1 --set hold=$2 --set unit=$3 --set vec=${vecs[(i + 2) % 5]} --set order=${orders[i / 2 % 3]} --set lhs=${ins[i % 3]} --set out=${outs[i % 7]} --set mask=$([ $((i % 5)) = 0 ] && echo values || echo pattern)"
        done
        for vec in 2 4 8 16; do
            # shellcheck disable=SC2086
            set -- ${units[vec % 3]}
            echo "$arch 0 pairs$vec --set warps=$1 --set hold=$2 --set unit=$3 --set vec=$vec --set order=${orders[(first + vec) % 3]} --set lhs=${ins[first % 4]} --set out=$([ $((vec % 4)) = 0 ] && echo u4 || echo s4)"
        done
        first=$((first + 5))
    done
}

# Every type with each way to lie, by units, digits and heights in turn.
values_list() {
    local arch i first=0 vecs=(1 2 4 8 16) froms=(vectors rows columns) holds=(1 2 4)
    local kinds=("f16 element" "tf32 rounded" "e4m3 element" "s8 byte" "s4 half" "u12 byte" "s16 byte balanced" "s12 half offset" "s16 half" "tf32 element" "u4 byte")
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for ((i = first; i < first + 11; i++)); do
            # shellcheck disable=SC2086
            set -- ${kinds[i % 11]}
            echo "$arch 0 types$i --set lhs=$1 --set unit=$2 --set digits=${3:-top-signed} --set vec=${vecs[i % 5]} --set from=${froms[(i + first / 3) % 3]} --set hold=${holds[i % 3]}"
        done
        echo "$arch 0 packed24 --set lhs=s4 --set unit=half --set vec=1 --set group=2048 --set from=${froms[first % 3]}"
        first=$((first + 4))
    done
}

softmax_grad_list() {
    local arch i types=(f32 f16 bf16) orders=(bcrs srbcrs16 srbcrs32) vecs=(1 2 4 8 16) first=0
    local schedules=("4 4 16" "8 2 16" "16 2 16" "2 4 16" "1 8 8" "8 4 8" "4 8 16" "4 16 4")
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for ((i = first; i < first + 24; i++)); do
            # shellcheck disable=SC2086
            set -- ${schedules[i % 8]}
            echo "$arch 0 types$i --set warps=$1 --set hold=$2 --set unit=$3 --set vec=${vecs[i % 5]} --set order=${orders[i % 3]} --set lhs=${types[i / 3 % 3]} --set rhs=${types[i / 9 % 3]} --set out=${types[(i + 1) % 3]}"
        done
        first=$((first + 5))
    done
}

# Every rule and type in each arch, with the most that threads hold among them.
optimise_list() {
    local arch i rules=(sgd nesterov adam adamw) reals=(f16 bf16 f32) holds=(1 2 4) first=0
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for ((i = first; i < first + 12; i++)); do
            echo "$arch 0 types$i --set rule=${rules[i % 4]} --set lhs=${reals[i % 3]} --set out=${reals[i / 3 % 3]} --set unit=4 --set hold=${holds[i / 4 % 3]} --set align=$((i % 2 ? 16 : 1))"
            echo "$arch 0 master$i --set rule=${rules[i % 4]} --set lhs=${reals[i / 2 % 3]} --set out=${reals[i % 2]} --set master=on --set unit=8 --set hold=2 --set warps=$((i % 2 ? 4 : 8))"
        done
        first=$((first + 5))
    done
}

# All shares of a tile, types, V and outputs; of each arch another part of them.
spmmt_list() {
    local arch i all first=0 sides=(f16 bf16) outs=(f16 f32 bf16) vecs=(8 16 4 1 2)
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        for ((i = first; i < all; i += 7)); do
            echo "$arch $i shares"
        done
        for ((i = 0; i < 5; i++)); do
            echo "$arch 0 types$i --set lhs=${sides[(i + first) % 2]} --set rhs=${sides[(i + first) % 2]} --set out=${outs[(i + first) % 3]} --set vec=${vecs[i]} --set slots=$((16 << (i + first) % 2))"
        done
        first=$((first + 1))
    done
}

# Every element both ways to lie, and the other steps.
pattern_list() {
    local arch i first=0 vecs=(1 2 4 8 16) holds=(1 2) majors=(row column) elements=(b4 b8 b16 b32 f8 f16 f32)
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for ((i = first; i < first + 7; i++)); do
            echo "$arch 0 find$i --set element=${elements[i % 7]} --set major=${majors[i % 2]} --set vec=${vecs[i % 5]} --set hold=${holds[i / 2 % 2]}"
        done
        echo "$arch 0 ranged --set element=b16 --set range=some --set major=${majors[first % 2]} --set vec=${vecs[first % 5]} --set hold=2"
        for i in list columns number places; do echo "$arch 0 $i --set step=$i --set hold=4"; done
        first=$((first + 3))
    done
}

# Products: variants, pairs of types, and what becomes of sums. LDA: a setting that dense ones have.
gemm_list() { product_list "--set lda=4608" && blocks_list; }
gemm24_list() { product_list; }
product_list() { # LDA
    local lda=${1:-} i all types=("bf16 bf16" "e4m3 e5m2" "e5m2 e4m3" "s8 u8" "u8 s8" "f16 f16") stores=(pairs single) outs=(f16 f32 bf16)
    all=$("$mcgen" --list-variants "$spec" | wc -l)
    for ((i = 0; i < all; i += 5)); do echo "sm_90a $i open"; done
    for ((i = 2; i < all; i += 17)); do echo "sm_90a $i fixed --set m=512 --set n=256 --set k=4608 $lda --set ldb=4608 --set ldc=256"; done
    for ((i = 0; i < 18; i++)); do
        # shellcheck disable=SC2086
        set -- ${types[i % 6]}
        echo "sm_90a 0 types$i --set lhs=$1 --set rhs=$2 --set out=${outs[i / 6]} --set scale=row --set bias=column"
        echo "sm_90a 0 output$i --set store=tensor $(output "$i")"
        echo "sm_90a 0 chained$i --set store=${stores[i % 2]} $(chained "$i")"
        echo "sm_90a 0 added$i --set store=pairs $(added "$i") --set tile_n=128"
    done
    for ((i = 0; i < 4; i++)); do echo "sm_90a 0 pairs$i --set store=pairs $(in_pairs "$i")"; done
    for i in f32 f16; do echo "sm_90a 0 words-$i --set lhs=tf32rz --set rhs=tf32rz --set tile_n=128 --set out=$i --set store=tensor"; done
    echo "sm_90a 0 rows --set layout=rows"
    echo "sm_90a 0 rows-wide --set layout=rows --set tile_n=192 --set consumers=2 --set out=f32"
    for ((i = 0; i < all; i += 23)); do echo "sm_90a $i batch --set batch=on"; done
    for i in 0 1 2; do echo "sm_90a 0 batch-added$i --set batch=on --set store=${stores[i % 2]} $(added "$i") --set tile_n=128"; done
    echo "sm_90a 0 batch-rows --set batch=on --set layout=rows --set once=on"
}

# Scales of blocks: tiles, both layouts of A's, and what else a consumer does.
blocks_list() {
    local i columns=(128 64 32) majors=(row column) stores=(tensor pairs single) outs=(bf16 f16 f32)
    local blocks="--set lhs=e4m3 --set rhs=e4m3 --set sums=promoted --set block_scales=on --set group=4"
    for ((i = 0; i < 6; i++)); do
        echo "sm_90a 0 blocks$i $blocks --set a_blocks_major=${majors[i % 2]} --set tile_m=128 --set consumers=2 --set stages=4 --set turns=off --set tile_n=${columns[i % 3]} --set store=${stores[i / 2]} --set out=${outs[i % 3]}"
        echo "sm_90a 0 blocks-high$i $blocks --set a_blocks_major=${majors[i / 3]} --set tile_m=256 --set consumers=2 --set stages=3 --set turns=off --set tile_n=${columns[1 + i % 2]} --set store=pairs --set align=16 $(added "$i")"
        echo "sm_90a 0 blocks-split$i $blocks --set a_blocks_major=${majors[i % 2]} --set tile_m=64 --set consumers=1 --set stages=3 --set split=$((2 << i % 3)) --set tile_n=16 --set store=pairs --set out=${outs[i / 2]}"
    done
    for i in 0 1; do
        echo "sm_90a 0 blocks-turns$i $blocks --set a_blocks_major=${majors[i]} --set tile_m=$((64 << i)) --set consumers=2 --set turns=on --set stages=3 --set tile_n=$((128 >> i)) --set out=bf16"
        echo "sm_90a 0 blocks-one$i $blocks --set a_blocks_major=${majors[i]} --set tile_m=64 --set consumers=1 --set turns=off --set stages=6 --set tile_n=$((64 >> i)) --set out=f16"
    done
}

# The same with k split: variants, types and outputs with every split, and what stands around the loop.
gemm_split_list() {
    local i all types=("bf16 bf16" "e4m3 e5m2" "s8 u8" "f16 f16") outs=(f16 f32 bf16) splits=(2 4 8 1) columns=(8 16 24 32 64) stores=(pairs single)
    local tiles=("64 1" "128 1" "128 2" "256 2")
    all=$("$mcgen" --list-variants "$spec" | wc -l)
    for ((i = 0; i < all; i += 7)); do echo "sm_90a $i open"; done
    for ((i = 3; i < all; i += 41)); do echo "sm_90a $i fixed --set m=4096 --set n=16 --set k=4608 --set lda=4608 --set ldb=4608 --set ldc=16"; done
    for ((i = 0; i < 20; i++)); do
        # shellcheck disable=SC2086
        set -- ${types[i % 4]} ${tiles[i / 4 % 4]}
        echo "sm_90a 0 types$i --set lhs=$1 --set rhs=$2 --set tile_m=$3 --set consumers=$4 --set stages=3 --set split=${splits[i / 3 % 4]} --set tile_n=${columns[i % 5]} --set out=${outs[i / 5 % 3]} --set scale=row --set bias=column"
        echo "sm_90a 0 chained$i --set tile_m=$3 --set consumers=$4 --set stages=3 --set split=${splits[i % 4]} --set tile_n=${columns[i / 2 % 5]} --set store=${stores[i % 2]} $(chained "$i")"
        echo "sm_90a 0 added$i --set tile_m=$3 --set consumers=$4 --set stages=3 --set split=${splits[i / 2 % 4]} --set tile_n=${columns[i / 3 % 5]} --set store=pairs $(added "$i")"
    done
    for ((i = 0; i < 4; i++)); do
        echo "sm_90a 0 tensor$i --set store=tensor --set tile_m=128 --set consumers=$((1 + i % 2)) --set stages=3 --set split=${splits[i]} --set tile_n=$((i < 2 ? 64 : 32)) $(output "$i")"
        echo "sm_90a 0 ahead$i --set overlap=$([ $((i % 2)) = 0 ] && echo on || echo wait) --set early=$([ $((i / 2)) = 0 ] && echo on || echo off) --set once=on --set split=${splits[i]}"
    done
    echo "sm_90a 0 rows --set layout=rows --set tile_n=64 --set stages=3 --set split=4"
    for ((i = 5; i < all; i += 61)); do echo "sm_90a $i batch --set batch=on --set overlap=on --set early=on"; done
}

# With the last tiles dealt out along k: variants, types and outputs, by few and many sums a thread.
gemm_stream_list() {
    local i all types=("bf16 bf16" "e4m3 e5m2" "s8 u8" "f16 f16") outs=(f16 f32 bf16) stores=(pairs single) tiles=("64 64 1" "128 256 2" "192 128 3" "256 128 2" "64 16 1")
    all=$("$mcgen" --list-variants "$spec" | wc -l)
    for ((i = 0; i < all; i += 3)); do echo "sm_90a $i open"; done
    echo "sm_90a 1 fixed --set m=4096 --set n=4096 --set k=4608 --set lda=4608 --set ldb=4608 --set ldc=4096"
    for ((i = 0; i < 20; i++)); do
        # shellcheck disable=SC2086
        set -- ${types[i % 4]} ${tiles[i % 5]}
        echo "sm_90a 0 types$i --set lhs=$1 --set rhs=$2 --set tile_m=$3 --set tile_n=$4 --set consumers=$5 --set stages=3 --set store=pairs --set out=${outs[i / 5 % 3]} --set scale=row --set bias=column"
        echo "sm_90a 0 chained$i --set tile_m=$3 --set tile_n=$4 --set consumers=$5 --set stages=3 --set store=${stores[i % 2]} $(chained "$i")"
        [ "$4" = 256 ] || echo "sm_90a 0 added$i --set tile_m=$3 --set tile_n=$4 --set consumers=$5 --set stages=3 --set store=pairs $(added "$i")"
    done
    for ((i = 0; i < 4; i++)); do echo "sm_90a 0 output$i $(output "$i")"; done
    for ((i = 0; i < 4; i++)); do echo "sm_90a 0 turns$i --set turns=on --set tile_m=$((64 << i % 2)) --set tile_n=$((256 >> i % 2)) --set stages=3 --set store=pairs $(chained "$i")"; done
    for i in fast promoted; do echo "sm_90a 0 sums-$i --set lhs=e4m3 --set rhs=e4m3 --set tile_m=128 --set tile_n=128 --set sums=$i"; done
    echo "sm_90a 0 rows --set layout=rows --set tile_n=64 --set stages=3 --set overlap=on --set once=on"
    echo "sm_90a 0 words --set lhs=tf32rz --set rhs=tf32rz --set out=f32 --set tile_n=128"
}
gemm24_stream_list() {
    local i all outs=(f16 f32 bf16)
    all=$("$mcgen" --list-variants "$spec" | wc -l)
    for ((i = 0; i < all; i++)); do echo "sm_90a $i open"; done
    for ((i = 0; i < 6; i++)); do
        echo "sm_90a 0 output$i --set out=${outs[i % 3]} --set store=pairs --set scale=row --set bias=column"
        echo "sm_90a 0 chained$i --set store=pairs $(chained "$i")"
    done
    echo "sm_90a 0 bytes --set lhs=e4m3 --set rhs=e5m2 --set overlap=on --set once=on"
}

# The same by mma.sync: of each arch another part of the variants, types and outputs, at rows that begin anywhere.
gemm_mma_list() {
    local arch i all copy first=0 types=("bf16 bf16" "s8 u8" "tf32 tf32" "f16 f16" "u8 u8" "e4m3 e5m2" "e5m2 e4m3") outs=(f16 f32 bf16) stores=(pairs single)
    local copies=(16 4 8 1) parts=("64 64" "64 32" "32 64" "32 32") spans=(128 64) fours=("s4 s4" "s4 u4" "u4 s4" "u4 u4")
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        for ((i = first; i < all; i += 29)); do echo "$arch $i open"; done
        for ((i = first; i < all; i += 101)); do echo "$arch $i fixed --set m=512 --set n=256 --set k=4608 --set lda=4608 --set ldb=4608 --set ldc=256"; done
        for ((i = first; i < first + 14; i++)); do
            # shellcheck disable=SC2086
            set -- ${types[i % 7]} ${parts[i % 4]}
            [[ $arch = sm_8[06] && $1 = e* ]] && continue
            [[ $1 = e* ]] && set -- $1 $2 64 32 # where ptxas makes several instructions of one, more would spill
            copy=${copies[i % 4]}
            [[ $1 = tf32 && $copy = 1 ]] && copy=4
            echo "$arch 0 types$i --set lhs=$1 --set rhs=$2 --set warp_m=$3 --set warp_n=$4 --set span=${spans[i % 2]} --set copy=$copy --set out=${outs[i % 3]} --set scale=row --set bias=column"
        done
        for ((i = first; i < first + 6; i++)); do
            echo "$arch 0 output$i $(output "$i") --set copy=${copies[i % 4]}"
            echo "$arch 0 chained$i --set store=${stores[i % 2]} $(chained "$i")"
            echo "$arch 0 added$i $(added "$i")"
        done
        echo "$arch 0 pairs $(in_pairs $first)"
        for i in 0 1 2 3; do
            # shellcheck disable=SC2086
            set -- ${fours[(i + first) % 4]} ${parts[i]}
            [[ $arch != sm_8? && "$3 $4" = "64 64" ]] && set -- "$1" "$2" 32 32 # which are refused where ptxas makes others of an mma
            echo "$arch 0 fours$i --set lhs=$1 --set rhs=$2 --set out=s32 --set warp_m=$3 --set warp_n=$4 --set span=${spans[i % 2]} --set copy=${copies[(i + first) % 4]} --set store=${stores[i % 2]}"
        done
        echo "$arch 0 fours-scaled --set lhs=s4 --set rhs=u4 --set scale=row --set bias=column --set act=gelu"
        echo "$arch 0 fours-odd --set lhs=u4 --set rhs=s4 --set out=s32 --set k=4607 --set lda=4608 --set copy=4"
        echo "$arch $first batch --set batch=on"
        echo "$arch 0 batch-added --set batch=on $(added $first) --set copy=${copies[first % 4]}"
        for i in 0 1 2 3; do
            # shellcheck disable=SC2086
            set -- ${parts[i]}
            echo "$arch 0 rows$i --set layout=rows --set warp_m=$1 --set warp_n=$2 --set copy=${copies[(i + first) % 4]} --set out=${outs[i % 3]}"
            echo "$arch 0 cut$i --set lhs=tf32rz --set rhs=tf32rz --set warp_m=$1 --set warp_n=$2 --set copy=${copies[i % 3]} --set out=f32"
            echo "$arch 0 words$i --set layout=rows --set lhs=tf32 --set rhs=tf32 --set warp_m=$1 --set warp_n=$2 --set copy=${copies[i % 3]} --set out=f32"
        done
        first=$((first + 3))
    done
}

# 2:4 products by mma.sp. 8-bit floats have one on sm_89 and sm_120.
gemm24_mma_list() {
    local arch i all first=0 copies=(16 4 8 1) types=("s8 u8" "bf16 bf16" "u8 s8" "f16 f16") outs=(f16 f32 bf16)
    local fours=("s4 s4" "s4 u4" "u4 s4" "u4 u4") warps=(64 32)
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        all=$("$mcgen" --arch "$arch" --list-variants "$spec" | wc -l)
        for ((i = first; i < all; i += 23)); do echo "$arch $i open"; done
        for ((i = first; i < first + 4; i++)); do
            # shellcheck disable=SC2086
            set -- ${types[i % 4]}
            echo "$arch 0 types$i --set lhs=$1 --set rhs=$2 --set copy=${copies[i / 2 % 4]} --set out=${outs[i % 3]} --set scale=row --set bias=column"
            echo "$arch 0 chained$i $(chained "$i")"
            echo "$arch 0 added$i $(added "$i") --set tile_n=64 --set stages=2"
        done
        for ((i = 0; i < 4; i++)); do
            # shellcheck disable=SC2086
            set -- ${fours[(i + first) % 4]}
            echo "$arch 0 fours$i --set lhs=$1 --set rhs=$2 --set out=s32 --set copy=${copies[i]} --set warp_m=${warps[i % 2]}"
        done
        echo "$arch 0 fours-scaled --set lhs=u4 --set rhs=s4 --set scale=row --set bias=column --set act=gelu"
        echo "$arch 0 rows --set layout=rows --set copy=${copies[first % 4]}"
        echo "$arch $first batch --set batch=on"
        for i in tf32 tf32rz; do echo "$arch 0 words-$i --set lhs=$i --set rhs=$i --set out=f32 --set copy=${copies[first % 3]}"; done
        if [[ $arch = sm_89 || $arch = sm_120 ]]; then
            for i in "e4m3 e5m2" "e5m2 e4m3" "e5m2 e5m2"; do
                # shellcheck disable=SC2086
                set -- $i
                echo "$arch 0 $1$2 --set lhs=$1 --set rhs=$2"
            done
        fi
        first=$((first + 3))
    done
}

pack_strided_list() {
    local arch kind
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for kind in none:32 none:64 bytes:32 halves:32 halves:64; do
            echo "$arch 0 plain.$kind --set ones=${kind%:*} --set group=${kind#*:} --set hold=4"
            echo "$arch 0 shuffled.$kind --set index=shuffled --set ones=${kind%:*} --set group=${kind#*:} --set hold=8"
        done
    done
}

# Every element in every mode and layout.
# Every pattern in each arch, with types, rows and what is known of them in turn.
slide24_list() {
    local arch span i=0 types=(f16 s8 bf16 e4m3 s16 u8 e5m2) holds=(4 2 8 1) switches=(on off off) shapes=("" "--set n=4096 --set lda=4096 --set ldc=6144" "--set align=1" "--set m=77 --set n=129 --set lda=130 --set ldc=201")
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for ((span = 4; span <= 64; span += 2, i++)); do
            echo "$arch 0 p$i ${shapes[i / 2 % 4]} --set lhs=${types[i % 7]} --set out=${types[i % 7]} --set pattern=$((span - 2)):$span --set hold=${holds[i / 3 % 4]} --set warps=$((i % 2 ? 4 : 8)) --set batch=${switches[i % 3]}"
        done
    done
}

compress24_list() {
    local arch element mode layout
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for element in f16 bf16 e4m3 e5m2 s8 u8 f32 s4 u4; do
            for layout in packed24 natural cutlass-sm80 cutlass-sm90; do
                [[ $element.$layout = [su]4.cutlass-sm90 ]] && continue
                for mode in strict prune; do
                    echo "$arch 0 $element.$mode.$layout --set element=$element --set mode=$mode --set layout=$layout"
                done
            done
            echo "$arch 0 $element.copy --set element=$element --set mode=copy"
            [ $element = f32 ] || echo "$arch 0 $element.pattern --set element=$element --set source=pattern"
        done
    done
}

has_floats() { grep -qE '^[lr]hs *= *"(b?f16|tf32|e[45]m[23])"' "$spec"; }

# real N ARCH: an output that floats have: plain, or by turns all the others
real() {
    local outs=(f32 f16 bf16) residuals=(f16 bf16 f32)
    [[ $2 = sm_8[06] ]] || outs+=(e4m3 e5m2)
    case $(($1 % 4)) in
    0) echo "--set out=${outs[$1 / 4 % ${#outs[@]}]} --set residual=${residuals[$1 / 4 % 3]}" ;;
    1) echo "--set out=${outs[$1 / 4 % ${#outs[@]}]} --set bias=column --set act=silu" ;;
    2) chained "$1" ;;
    3) added "$1" ;;
    esac
}

# sampled N ARCH: the same of an SDDMM
sampled() {
    local outs=(f32 f16 bf16 s8 u8) scales=(row tensor column)
    [[ $2 = sm_8[06] ]] || outs+=(e4m3 e5m2)
    echo "--set out=${outs[$1 % ${#outs[@]}]} --set scale=${scales[$1 % 3]}$([ $(($1 % 2)) = 0 ] || echo " --set mask=values")"
}

# one_of N ARCH SETTINGS...: one of the variants
one_of() {
    local all
    all=$("$mcgen" --arch "$2" "${@:3}" --list-variants "$spec" | wc -l)
    [ "$all" = 0 ] || echo "$2 $((37 * $1 % all)) $(basename "$spec" .lua)-$1 ${*:3}"
}

# Of each spec of floats and V the default kernel and another variant by columns, of V = 16, 4 and 1 one by rows; more of V = 16.
floats_list() {
    local arch vec i name targets="sm_80 sm_89 sm_90 sm_100 sm_120"
    has_floats && [[ $(basename "$spec") = spmm_* || $(basename "$spec") = sddmm_* ]] || return 0
    grep -qE '^vec *= *1( |$)' "$spec" && return 0 # panels have a list of their own, and the SDDMM's are sddmm_f16's
    name=$(basename "$spec" .lua)
    grep -q '"tma"' "$spec" && targets="sm_90 sm_100 sm_120"
    for arch in $targets; do
        for vec in 16 8 4 2 1; do
            turn=$((turn + 1))
            # shellcheck disable=SC2046
            if [[ $name = sddmm* ]]; then
                one_of $turn "$arch" --set vec=$vec $(sampled $turn "$arch")
                continue
            fi
            echo "$arch 0 $name-$vec-columns --set vec=$vec --set c_major=column"
            # shellcheck disable=SC2046
            one_of $turn "$arch" --set vec=$vec --set c_major=column $(real $turn "$arch")
            [[ $vec = [82] ]] && continue
            turn=$((turn + 1))
            # shellcheck disable=SC2046
            one_of $turn "$arch" --set vec=$vec $(real $turn "$arch")
        done
        [[ $name = sddmm* ]] && continue
        for ((i = 0; i < 3; i++)); do
            turn=$((turn + 1))
            # shellcheck disable=SC2046
            one_of $turn "$arch" --set vec=16 --set c_major=column $(real $turn "$arch")
        done
        echo "$arch 4 $name-f32 --set vec=16 --set c_major=column --set out=f32"
        grep -qE '"(tma|async)"' "$spec" && continue # these have no beta
        for vec in 16 8 1; do
            echo "$arch $vec $name-beta$vec --set vec=$vec --set residual=f16 --set beta=tensor"
        done
    done
}

defaults_list() {
    local arch vec targets="sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120"
    grep -qE '"tma"|^overlap *= *"on"' "$spec" && targets="sm_90 sm_90a sm_100 sm_120" # overlap, too, is of sm_90 and later
    grep -qE '^arch *= *"sm_90a"' "$spec" && targets=sm_90a
    for arch in $targets; do
        "$mcgen" "$spec" --arch "$arch" --describe 2>&1 | grep -q 'wants sm_' && continue # its mma
        if ! "$mcgen" "$spec" --set vec=8 --describe >/dev/null 2>&1; then # it knows no V
            echo "$arch 0 $(basename "$spec")"
            continue
        fi
        for vec in 16 8 4 2 1; do
            [ $vec = 16 ] && grep -q '^mma *= *"int4"' "$spec" && continue # which has up to 8 rows
            [ $vec -lt 8 ] && grep -Eq '^staging *= *"(expand|fragments)"' "$spec" && continue # which has at least 8
            # For sm_120 ptxas 13 spills 40 bytes of a ring kernel of 16 warps of integers with V below 8.
            [ "$arch" = sm_120 ] && [ $vec != 8 ] && grep -q '"tma"' "$spec" && ! has_floats && continue
            echo "$arch 0 $(basename "$spec")-$vec --set vec=$vec"
        done
    done
}

# Of panels all variants, for most architectures each fifth one, with outputs and types in turn.
panels_list() {
    local arch i step turn=0 pairs=("s8 s8" "u8 s8" "s16 s8" "s8 s4" "bf16 bf16" "e4m3 e4m3" "s8 f16") lhs rhs
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        [[ $arch = sm_90 || $arch = sm_120 ]] && step=1 || step=5
        for ((i = turn % step; i < count; i += step)); do
            turn=$((turn + 1))
            echo "$arch $i plain"
            # shellcheck disable=SC2046
            echo "$arch $i real $(real $turn "$arch")"
        done
        grep -q '"hrpb"' "$spec" && continue # it has no beta, and tf32 alone
        for ((i = 0; i < 4; i++)); do
            echo "$arch $((i * 19 % count)) beta$i --set out=f$((16 << i % 2)) --set residual=f$((16 << i / 2)) --set beta=tensor"
        done
        grep -q tf32 "$spec" && continue
        for lhs in "${pairs[@]}"; do
            rhs=${lhs#* } lhs=${lhs% *} turn=$((turn + 1))
            echo "$arch $((turn * 5 % (count / 4))) $lhs.$rhs --set lhs=$lhs --set rhs=$rhs --set tile_n=64 --set out=f16 --set scale=tensor"
        done
    done
}

# Of kernels without tensor cores likewise; and with CSR alone.
csr_list() {
    local arch i step turn=0 type
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        [[ $arch = sm_90 || $arch = sm_120 ]] && step=2 || step=11
        for ((i = turn % step; i < count; i += step)); do
            turn=$((turn + 1))
            echo "$arch $i plain"
            # shellcheck disable=SC2046
            echo "$arch $i real $(real $turn "$arch" | sed 's/--set out=[su]4/--set out=s8/')"
            for type in f16 bf16; do # whose loads have more elements
                [ $((turn % 4)) != 0 ] || echo "$arch $((i % 20)) $i$type --set lhs=$type --set rhs=$type"
            done
            [ $((turn % 9)) != 0 ] || echo "$arch $i beta --set residual=f32 --set beta=tensor"
            [ $((turn % 7)) != 0 ] || echo "$arch $((i / 2 * 2 % (count / 2))) undealt --set deal=false --set share=2"
        done
    done
}

# Of the SDDMM's likewise; with k fixed, and with other shares of lanes.
sampled_csr_list() {
    local arch i step turn=0 type more=("--set k=128 --set lda=128 --set ldb=128" "--set lanes=32 --set tile_k=512 --set ahead=2" "--set lanes=1 --set tile_k=32 --set ahead=2"
        "--set align=1 --set k=100" "--set lanes=4 --set tile_k=32 --set ahead=8 --set k=32 --set lda=40 --set ldb=64" "--set batch=true")
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        [[ $arch = sm_90 || $arch = sm_120 ]] && step=2 || step=11
        for ((i = turn % step; i < count; i += step)); do
            turn=$((turn + 1))
            echo "$arch $i plain"
            echo "$arch $i sampled $(sampled $turn "$arch")"
            echo "$arch 0 more$i ${more[turn % 6]} $(sampled $((turn / 2)) "$arch")"
            for type in f16 bf16; do # whose loads have more elements
                echo "$arch $((i % 30)) $i$type --set lhs=$type --set rhs=$type"
                [ $((turn % 4)) != 0 ] || echo "$arch 0 $i$type.more --set lhs=$type --set rhs=$type ${more[turn / 4 % 6]}"
            done
        done
    done
}

# Of the SDDMM's in panels likewise.
sampled_panels_list() {
    local arch i step turn=0 type more=("--set k=128 --set lda=128 --set ldb=128" "--set k=32 --set lda=40 --set ldb=32 --set ahead=4 --set tile_k=64"
        "--set align=1 --set k=100" "--set k=500 --set lda=512 --set ldb=512 --set panel=8" "--set k=7 --set share=16" "--set batch=true")
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        [[ $arch = sm_8* ]] || echo "$arch 0 overlap --set overlap=on --set scale=row --set mask=values"
        [[ $arch = sm_90 || $arch = sm_120 ]] && step=2 || step=11
        for ((i = turn % step; i < count; i += step)); do
            turn=$((turn + 1))
            echo "$arch $i plain"
            echo "$arch $i sampled $(sampled $turn "$arch")"
            echo "$arch 0 more$i ${more[turn % 6]} $(sampled $((turn / 2)) "$arch")"
            for type in bf16 tf32 e4m3 e5m2; do # whose operands have more registers
                [ $((turn % 2)) != 0 ] || echo "$arch $((i % 9)) $i$type --set lhs=$type --set rhs=$type --set tile_k=64 --set panel=8"
                [ $((turn % 4)) != 0 ] || echo "$arch 0 $i$type.more --set lhs=$type --set rhs=$type --set panel=8 --set tile_k=64 ${more[turn / 4 % 6]}"
            done
        done
    done
}

# All that there are.
pack_windowed_list() {
    local arch padding ones tile
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        echo "$arch 0 choose"
        for padding in banks zeros words; do
            for ones in off on; do
                [ $padding$ones = wordson ] && continue
                for tile in 32 64 128; do
                    echo "$arch 0 $padding$ones$tile --set task=place --set padding=$padding --set ones=$ones --set tile=$tile"
                done
            done
        done
    done
}

# All that there are.
pack_panels_list() {
    local arch step panel
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for step in count sums list; do echo "$arch 0 $step --set step=$step"; done
        for panel in 8 16; do
            for step in rank measure deal write; do echo "$arch 0 $step$panel --set step=$step --set panel=$panel"; done
            echo "$arch 0 nonzeros$panel --set step=write --set values=nonzeros --set panel=$panel"
        done
    done
}

pack_csr_list() {
    local arch step segmented
    for arch in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120; do
        for step in count deal copy; do
            for segmented in false true; do echo "$arch 0 $step$segmented --set step=$step --set segmented=$segmented"; done
        done
    done
}

specs=("$spec") turn=0
[ -d "$spec" ] && specs=("$spec"/*.lua)
for spec in "${specs[@]}"; do
    "${3:-gather}_list" >"$work/part"
    xargs -r -P "$(nproc)" -L 1 bash -c 'generate "$@"' _ <"$work/part"
    cat "$work/part" >>"$work/list"
done

# What was assembled by this ptxas and this script before is not assembled again (docs/proofs.md).
mode=${MCGEN_PROOFS:-check}
store=${MCGEN_PROOFS_STORE:-$(dirname "$0")/../proofs}/assemble/$(basename "$2" .lua)-${3:-gather}
export LC_ALL=C
touch "$work/proved"
if [ -f "$store" ] && [ "$mode" != all ]; then grep -xE '[0-9a-f]{16}' "$store" | sort >"$work/proved"; fi
find "$work" -name '*.ptx' | "$keys" "$("$ptxas" --version | tail -1) $(declare -f assemble)" "${MCGEN_PROOFS_SAMPLE:-}" |
    sort >"$work/keys" || exit 1
join -v 1 "$work/keys" "$work/proved" >"$work/missing"
join "$work/keys" "$work/proved" | grep ' again ' >"$work/again"
if [ "$mode" = require ] && [ -s "$work/missing" ]; then
    cut -d' ' -f3 "$work/missing" | head -20 | while read -r ptx; do echo "no proof: $(basename "$ptx"): $(grep -m 1 '^//   op=' "$ptx")"; done
    echo "$(wc -l <"$work/missing") kernels were not assembled by $("$ptxas" --version | tail -1) before: tools/prove, and commit what it wrote"
    exit 1
fi
cat "$work/missing" "$work/again" | cut -d' ' -f3 | xargs -P "$(nproc)" -I '{}' bash -c 'assemble "$@"' _ '{}'

logs=$(find "$work" -name '*.log' | wc -l)
made=$(wc -l <"$work/keys")
cat "$work"/*.failed 2>/dev/null | head -60
bad=$(find "$work" -name '*.failed' -size +0 | wc -l)
echo "$logs of $made assembled, $((made - logs)) were before (${count:-default} variants, $(cut -d" " -f1 "$work/list" | sort -u | wc -l) architectures), $bad with errors or spills;" \
    "most registers: $(grep -oh 'Used [0-9]* registers' "$work"/*.log 2>/dev/null | sort -t' ' -k2 -n | tail -1)"
[ "$bad" = 0 ] && [ "$made" = "$(wc -l <"$work/list")" ] && [ "$logs" = "$(cat "$work/missing" "$work/again" | wc -l)" ] || exit 1
if [ "$mode" = prove ]; then
    mkdir -p "$(dirname "$store")"
    { echo "# mcgen proofs 1: assemble.sh $(basename "$2") ${3:-gather}"; cut -d' ' -f1 "$work/keys" | sort -u; } >"$store.$$"
    if cmp -s "$store.$$" "$store"; then rm "$store.$$"; touch "$store"; else mv "$store.$$" "$store"; fi
fi
