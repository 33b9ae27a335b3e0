#!/bin/bash
# mcrun prune: from a dense weight to a fast product without foreign code. Arguments: mcrun, the source directory, json_get.
mcrun=$1 json_get=$3
source "$2/tests/expect.sh"
specs=$2/specs
cd "$work" || exit 1
json() { check "$1: $2 is $("$json_get" "$1" "$2"), want $3" test "$("$json_get" "$1" "$2")" = "$3"; }

# A weight of 61 x 90, as a product gives one
"$mcrun" matrix-gen --rows 61 --cols 64 --sparsity 0.2 -o w.smtx
"$mcrun" spmm "$specs/spmm_l8r8_f16.lua" w.smtx --vec 2 --union --n 90 --out w.npy --device sim >/dev/null || exit 1
prune() { "$mcrun" prune w.npy "$@"; }

expect 0 'kept       144 of 720 vectors of 8 x 1, sparsity 0.8000' prune --sparsity 0.8 --out p
expect 0 'shape      62 x 90, and 2 empty rows' prune --sparsity 0.8 --out again
check 'the same twice' diff -r p again
check 'scales of 64 rows' grep -aqF "'descr': '<f4', 'fortran_order': False, 'shape': (64,)" p/scale.npy
expect 0 'values     A of p, B random, scale of p/scale.npy' "$mcrun" spmm "$specs/spmm_l8r8_f16.lua" p --n 24 --scale p/scale.npy --device sim
expect 0 'verdict    exact' "$mcrun" spmm "$specs/spmm_l8r8_f16.lua" p --n 24 --scale p/scale.npy --device sim
expect 0 'verdict    within bounds' "$mcrun" spmm "$specs/spmm_s8f16.lua" p --n 24 --scale p/scale.npy --device sim
prune --sparsity 0.5 --vec 4 --quantise s4 --per tensor --criterion l2 --out q --json >q.json
json q.json vec 4
json q.json vectors 720
json q.json type s4
json q.json scales 1
check 'less is kept, and more is lost' test "$(awk -v a="$("$json_get" q.json error)" -v b="$("$json_get" q.json error_unquantised)" 'BEGIN { print (a > b && b > 0 && a < 1) }')" = 1
expect 0 'verdict    exact' "$mcrun" spmm "$specs/spmm_l4r4.lua" q --vec 4 --n 16 --device sim

# A mask, activations
"$mcrun" matrix-gen --rows 62 --cols 90 --sparsity 0.99 -o mask.smtx
expect 0 'tokens, 0.' prune --mask mask.smtx --out m
"$mcrun" quantise "$specs/dequantise_f16.lua" --tokens 5 --features 90 --set layout=rows --set scale=tensor --set lhs=f16 --out x.npy --device sim >/dev/null
expect 0 'of a product with 62 tokens' prune --sparsity 0.5 --activations w.npy --out n --vec 2 --force
expect 2 'activations have 5 features, the matrix 90 columns' prune --sparsity 0.5 --activations x.npy --out o

# The scale of activations from samples goes into quantise and spmm as it is: the product is off by what prune said.
floats() { tail -c +129 "$1" | od -An -v -tf4 | tr -s ' ' '\n' | sed '/^$/d'; }
f32() { "$mcrun" quantise "$specs/dequantise_f16.lua" --set layout=rows --set scale=none --set lhs=$1 --set out=f32 --device sim "${@:2}" >/dev/null || exit 1; }
"$mcrun" quantise "$specs/dequantise_f16.lua" --tokens 90 --features 90 --set layout=rows --set scale=tensor --set lhs=f16 --out x90.npy --device sim >/dev/null
f32 f16 --x x90.npy --out x32.npy
f32 f16 --x w.npy --out w32.npy
told() { sed -n '/"activations"/,/}/s/^ *"'$1'": \([^,]*\),*$/\1/p' "$2"; } # all digits, of a member of "activations"
awk_close() { awk -v a="$1" -v b="$2" 'BEGIN { print (a > 0 && a - b < 1e-6 && b - a < 1e-6) }'; }
off_by() { # off_by Y: sqrt(sum (y - w x')^2 / sum (w x')^2), of 62 rows, 90 features, 90 tokens
    { floats w32.npy; floats x32.npy; floats "$1"; } | awk '
        NR <= 5580 { w[NR - 1] = $1; next } NR <= 13680 { x[NR - 5581] = $1; next } { y[NR - 13681] = $1 }
        END {
            for (i = 0; i < 62; i++) for (t = 0; t < 90; t++) {
                sum = 0
                for (j = 0; j < 90; j++) sum += w[i * 90 + j] * x[t * 90 + j]
                off += (y[i * 90 + t] - sum) ^ 2; all += sum ^ 2
            }
            printf "%.9g\n", sqrt(off / all)
        }'
}
product() { # product TYPE [OPTIONS]: of quantised weights and activations, by the files that prune wrote
    local type=$1 bias=() zero=()
    case $type in u*) bias=(--set bias=row --bias used/activation_bias.npy) zero=(--set zero=row --zero used/activation_zero.npy) ;; esac
    rm -rf used
    prune --sparsity 0.5 --activations x32.npy --activation-type "$@" --out used --json >used.json || complain "prune $*"
    expect 0 'verdict    exact' "$mcrun" quantise "$specs/quantise_s8_given.lua" --set lhs=f32 --set out=$type --x x32.npy --scale used/activation_scale.npy "${zero[@]}" --out b.npy --device sim
    expect 0 'verdict    exact' "$mcrun" spmm "$specs/spmm_l8r8_f16.lua" used --set rhs=$type --set out=f32 --set b_scale=column --b b.npy --scale used/scale.npy --b-scale used/activation_scale.npy \
        "${bias[@]}" --out y.npy --device sim
    check "$*: off by $(off_by y.npy), prune said $(told error used.json)" test "$(awk_close "$(off_by y.npy)" "$(told error used.json)")" = 1
}
product s8
product u8 --activation-scale percentile=99
json used.json activations.by percentile
check 'part of the values saturates' test "$(awk -v p="$(told saturated used.json)" 'BEGIN { print (p > 0 && p < .03) }')" = 1
product s4 --activation-scale least-squares
check 'no zero point of s4' test ! -e used/activation_zero.npy
least=$(told squared_error used.json)
prune --sparsity 0.5 --activations x32.npy --activation-type s4 --out absmax --json >absmax.json
check 'least squares gain' test "$(awk -v a="$least" -v b="$(told squared_error absmax.json)" 'BEGIN { print (a > 0 && a < b) }')" = 1
"$mcrun" quantise "$specs/quantise_s8_tensor.lua" --set lhs=f32 --set out=u4 --set zero=tensor --x x32.npy --out b.npy --out-scale s.npy --out-zero z.npy --device sim >/dev/null
expect 0 'zero point ' prune --sparsity 0.5 --activations x32.npy --activation-type u4 --out four
check "absmax is the kernel's" cmp s.npy four/activation_scale.npy
check "and so is the zero point" cmp z.npy four/activation_zero.npy
expect 2 "'token' is not one of absmax|percentile=P|least-squares: a scale that is written is one for all tokens" prune --sparsity 0.5 --activations x32.npy --activation-scale token --out o
expect 2 "'0' is not a percentage" prune --sparsity 0.5 --activations x32.npy --activation-scale percentile=0 --out o
expect 2 "'nan' is not a percentage" prune --sparsity 0.5 --activations x32.npy --activation-scale percentile=nan --out o
expect 2 "'' is not a percentage" prune --sparsity 0.5 --activations x32.npy --activation-scale percentile= --out o
expect 2 '--activation-scale and --activation-type go with --activations' prune --sparsity 0.5 --activation-type u8 --out o
head -c 128 x32.npy >nan.npy && head -c 32400 /dev/zero | tr '\0' '\377' >>nan.npy
expect 1 'nan.npy: activation [0][0] is ' prune --sparsity 0.5 --activations nan.npy --out o

# A tensor of a .safetensors file: eight bytes with the header's length, the header, the data
tensors() { local n=${#2}; printf "\\x$(printf %02x $((n & 255)))\\x$(printf %02x $((n >> 8)))\\0\\0\\0\\0\\0\\0%s%b" "$2" "$3" >"$1"; }
tensors t.safetensors '{"b":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},"up.w":{"dtype":"I8","shape":[2,3],"data_offsets":[3,9]}}' '\7\7\7\1\0\2\0\3\0'
expect 0 'kept       2 of 3 vectors of 2 x 1' "$mcrun" prune t.safetensors:up.w --sparsity 0.3 --vec 2 --out st
expect 0 'values     A of t.safetensors:up.w, B random' "$mcrun" spmm "$specs/spmm_l8r8.lua" t.safetensors:up.w --n 4 --device sim
expect 0 'nonzeros     3, sparsity 0.5000' "$mcrun" matrix-info t.safetensors --vec 2
expect 1 't.safetensors: b is no matrix' "$mcrun" matrix-info t.safetensors:b
expect 2 't.safetensors: there is no w; its matrices are up.w' "$mcrun" prune t.safetensors:w --sparsity 0.3 --out no
cp t.safetensors kept
expect 2 '--out t.safetensors would overwrite t.safetensors:up.w, which is read' "$mcrun" spmm "$specs/spmm_l8r8.lua" t.safetensors:up.w --n 4 --out t.safetensors --device sim
expect 2 'would overwrite t.safetensors:up.w, which is read' "$mcrun" prune t.safetensors:up.w --sparsity 0.3 --out . --force
check 'the tensors are as they were' cmp t.safetensors kept

# What lies where the output goes is not overwritten while it is read, nor where it is read-only
mkdir in && cp w.npy in/scale.npy
expect 2 'prune: --out in would overwrite in/scale.npy, which is read' "$mcrun" prune in/scale.npy --sparsity 0.5 --out in --force
check 'the weight is there' cmp w.npy in/scale.npy
expect 2 'prune: --out in would overwrite in/scale.npy, which is read' prune --sparsity 0.5 --activations in/scale.npy --out in --force
cp -r p locked && chmod 444 locked/values.npy
expect 1 'locked/values.npy: it is read-only' prune --sparsity 0.5 --out locked --force
check 'all as it was' diff -r p locked
expect 2 '--out p/values.npy would overwrite p, which is read' "$mcrun" spmm "$specs/spmm_l8r8.lua" p --n 8 --out p/values.npy --device sim
expect 2 '--quantise goes with the values of a .mtx, .npy, .safetensors or BSR MATRIX' "$mcrun" spmm "$specs/spmm_l8r8.lua" p --n 8 --quantise --device sim
expect 0 'A random, B random' "$mcrun" spmm "$specs/spmm_l8r8.lua" p --n 8 --random-values --device sim

# What is refused, and leaves nothing
expect 2 'prune: --out is missing' prune --sparsity 0.5
expect 2 'wants either --sparsity or --mask' prune --out o
expect 2 'wants either --sparsity or --mask' prune --out o --sparsity 0.5 --mask mask.smtx
expect 2 '--criterion goes with --sparsity' prune --out o --mask mask.smtx --criterion l2
expect 2 'would overwrite w.npy, which is read' prune --sparsity 0.5 --out w.npy
expect 1 'missing.npy: No such file' "$mcrun" prune missing.npy --sparsity 0.5 --out o
expect 1 'p is not empty: --force replaces its files' prune --sparsity 0.5 --out p
check 'nothing is left' test ! -e o
finish
