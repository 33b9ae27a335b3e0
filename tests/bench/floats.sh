#!/usr/bin/env bash
# `mcbench run` with floats, on a driver that is the simulator, with libraries of its kind. Arguments: mcbench, the source directory, mcgen.
mcbench=$1 specs=$2/specs mcgen=$3
source "$2/tests/expect.sh"
cd "$work" || exit 1
mkdir matrices
# 6 row blocks; K = 70 is no multiple of 8; the second row block is empty
printf '6, 70, 12\n0 3 3 5 9 11 12\n0 7 69 1 2 10 11 12 13 5 64 33\n' >matrices/b.smtx
printf '2, 16, 3\n0 1 3\n4 0 9\n' >matrices/a.smtx
run() { timeout 120 "$mcbench" run -m matrices --rounds 5 -o lines.jsonl "$@"; } # ARGUMENTS
lines() { check "$1: $3 lines with '$2'" [ "$(grep -c -- "$2" lines.jsonl)" = "$3" ]; }
all_right() { # WHAT CONTENDERS...: each has results on both matrices, and nothing else is to say
    lines "$1" '"kind":"note"' 0
    for contender in "${@:2}"; do
        check "$1: $contender on both" [ "$(grep "\"contender\":\"$contender\"" lines.jsonl | grep -o '"matrix":"[^"]*"' | sort -u | wc -l)" = 2 ]
    done
}

# The libraries multiply the same values, in 16 bits and in f32, and other matrices of whole blocks.
for type in f16 bf16; do
    for vec in 2 8 16; do
        expect 0 '' run "$specs/spmm_$type.lua" --vec $vec --n 40 --variants default
        all_right "spmm $type, V = $vec" "mcgen $type $type $type" 'cublaslt f16' 'cublaslt bf16' "cusparse csr $type" \
            "cusparse bsr $type" "cusparse blocked-ell $type" 'cusparse csr f32' 'cusparse blocked-ell f32' \
            "cusparse uniform blocked-ell 8x8 $type" "cusparse uniform blocked-ell 16x16 $type"
    done
done
expect 0 'faster than every cuSPARSE format' "$mcbench" summary lines.jsonl
# Matrices without vectors: each algorithm of CSR and COO, no blocks of their own, and such that join them; f32 also where ours are of tf32.
each() { # WHAT TYPE: its algorithms, on both matrices
    for algorithm in csr_alg{1,2,3} coo_alg{1,2,3,4}; do
        lines "$1" "\"contender\":\"cusparse ${algorithm%_*} $2\",\"detail\":\"$algorithm, " 2
    done
}
for type in f16 bf16; do
    expect 0 '' run "$specs/spmm_csr_f16.lua" --set lhs=$type --set rhs=$type --set out=$type --n 40 --variants default
    all_right "single nonzeros of $type" "mcgen $type $type $type" 'cublaslt f16' "cusparse csr $type" "cusparse uniform blocked-ell 8x8 $type" \
        "cusparse bsr 4x4 $type" "cusparse bsr 8x8 $type" 'cusparse bsr 4x4 f32' 'cusparse bsr 8x8 f32'
    each "single nonzeros of $type" $type
    each "single nonzeros of $type in f32" f32
    lines "single nonzeros of $type" 'cusparse \(bsr [fb]\|blocked-ell\)' 0
    check 'what is prepared is told of ours and of each algorithm' [ "$(grep '"contender":"\(mcgen\|cusparse\)' lines.jsonl | grep -vc '"prepare_us":[0-9]')" = 0 ]
    lines 'and nothing is for a dense product' '"cublaslt .*prepare_us' 0
    lines 'ours is packed on the device, too' '"contender":"mcgen .*"prepare_us":[0-9].*"device_prepare_us":[0-9].*"device_matrix_us":[0-9]' 2
    lines 'and nobody else is' '"device_' 2
done
expect 0 '' run "$specs/spmm_csr_f16.lua" --set reorder=degree --n 40 --variants default --peers none
lines 'reordered, it is packed on the host' '"contender":"mcgen .*"prepare_us"' 2
lines 'alone' '"device_' 0
expect 0 'cuSPARSE has no spmm of tf32: it multiplies the same values in f32' \
    run "$specs/spmm_csr_tf32.lua" --n 40 --variants default
all_right 'single nonzeros of tf32' 'mcgen tf32 tf32 f32' 'cublaslt tf32'
each 'single nonzeros of tf32' f32
lines 'single nonzeros of tf32' 'cusparse .* f16' 0
# f32 on both sides, and one column, a product by a vector, for which the library has calls of its own, also in 16 bits.
expect 0 'ours' run "$specs/spmm_csr_f32.lua" --n 40 --variants default
check 'of f32 nothing lacks' [ "$(grep -c 'multiplies the same values' "$work/stderr")" = 0 ]
all_right 'single nonzeros of f32' 'mcgen f32 f32 f32' 'cublaslt f32' 'cusparse bsr 4x4 f32' 'cusparse bsr 8x8 f32'
each 'single nonzeros of f32' f32
lines 'f32: columns are no vector' 'cusparse spmv\|plain read' 0
lines 'no tensor cores: ' '"mma":0.0}' 2
# Packed columns may have 16 bits, or a place beside them.
expect 0 'ours' run "$specs/spmm_csr_f32_vector.lua" --n 1 --set share=2 --set warps=4 --peers none --filter a.smtx
expect 0 'ours' run "$specs/spmm_csr_f32_vector.lua" --n 1 --set share=8 --set warps=4 --set columns=sorted --peers none --filter a.smtx
for settings in '' '--set lhs=f16 --set rhs=f16 --set out=f16' '--set lhs=bf16 --set rhs=bf16 --set out=bf16'; do
    type=$(sed 's/.*out=//' <<<"${settings:-f32}")
    # shellcheck disable=SC2086
    expect 0 '' run "$specs/spmm_csr_f32.lua" $settings --n 1 --variants default --set tile_n=1 --set lanes=8
    all_right "a vector of $type" "mcgen $type $type $type tile_n=1 lanes=8" "cusparse spmv bsr 4x4 $type" "cusparse spmv bsr 8x8 $type"
    each "a vector of $type" "$type"
    lines "beside a vector of $type" '"contender":"plain read","detail":"[0-9]* bytes read, [0-9]* written, [0-9]* thread blocks"' 4
    for of in $type f32; do
        for algorithm in csr_alg{1,2} coo_alg{1,2}; do
            lines "a vector of $of" "\"contender\":\"cusparse spmv ${algorithm%_*} $of\",\"detail\":\"$algorithm, " 2
        done
    done
done
expect 0 '' "$mcbench" summary lines.jsonl --over 'plain read'
expect 0 'ours' run "$specs/spmm_csr_f32.lua" --n 1 --variants default --peers none --cold --filter a.smtx
check 'cold, the plain kernel rotates over the same operands' [ "$(grep -o '"sets":[0-9]*' lines.jsonl | sort -u | wc -l) $(grep -c '"kind":"result"' lines.jsonl)" = '1 3' ]
check 'several of them' [ "$(grep -o '"sets":[0-9]*' lines.jsonl | head -1 | cut -d: -f2)" -gt 1 ]
# each has row_ptr (3), col_idx (3), values (3), B (16), and what says who takes which rows, in pieces of 256 bytes; C has 2 elements
check 'what it reads and writes' grep -q '"plain read","detail":"1280 bytes read, 8 written, 1 thread blocks"' lines.jsonl
expect 0 '' run "$specs/spmm_tf32.lua" --vec 4 --n 40 --variants default
all_right 'vectors of tf32' 'mcgen tf32 tf32 f32' 'cusparse csr f32' 'cusparse blocked-ell f32'
lines 'vectors of tf32' 'cusparse coo' 0
expect 0 '' run "$specs/sddmm_f16.lua" --set lhs=tf32 --set rhs=tf32 --set out=f32 --k 40 --variants default
all_right 'masks of tf32' 'mcgen tf32 tf32 f32' 'cusparse csr f32' 'cusparse bsr f32'
for vec in 2 8; do
    expect 0 '' run "$specs/sddmm_f16.lua" --vec $vec --k 33 --variants default
    all_right "sddmm f16, V = $vec" 'mcgen f16 f16 f16' 'cublaslt f16' 'cusparse csr f16' 'cusparse bsr f16' \
        'cusparse csr f32' 'cusparse bsr f32'
    expect 0 'cuSPARSE has no sddmm of bf16: it multiplies the same values in f32' \
        run "$specs/sddmm_bf16.lua" --vec $vec --k 33 --variants default
    all_right "sddmm bf16, V = $vec" 'mcgen bf16 bf16 bf16' 'cublaslt bf16' 'cusparse csr f32' 'cusparse bsr f32'
    lines "sddmm bf16, V = $vec" 'cusparse [a-z]* bf16' 0
done

# A matrix whose zeros would take too many bytes: cuSPARSE has it, the dense product is left out. Files of MatrixMarket.
mkdir large
printf '%%%%MatrixMarket matrix coordinate pattern general\n%% wide\n2000 540000 3\n1 8\n700 600\n2000 540000\n' >large/wide.mtx
expect 0 'cusparse    10.00 us  ours' run "$specs/spmm_csr_f16.lua" -m large --n 8 --variants default \
    --contenders 'cublaslt f16,cublaslt s8,cusparse csr f16,uniform'
lines 'a large matrix' '"matrix":"wide.mtx","m":2000,"n":8,"k":540000,.*"contender":"cusparse csr f16"' 3
lines 'its dense product' '"text":"cublaslt f16: with its zeros A takes 2.01 GiB, more than 1"' 1
lines 'its dense product' '"text":"cublaslt s8: with its zeros A takes 1.01 GiB, more than 1"' 1
lines 'one of its size' 'uniform blocked-ell [0-9x]* f16: with its zeros A takes more than 1 GiB' 2
lines 'no other result' '"kind":"result"' 4
printf '%%%%MatrixMarket matrix coordinate pattern general\n5000 40000 3\n1 8\n700 600\n5000 40000\n' >large/wide.mtx
expect 0 '' run "$specs/sddmm_f16.lua" -m large --k 16 --variants default --peers cublaslt --contenders 'cublaslt f16'
lines 'the dense product of a large mask' '"text":"cublaslt f16: with its zeros C takes 2.98 GiB, more than 1"' 1
mkdir packed
gzip -c matrices/a.smtx >packed/a.smtx.gz
expect 0 '' run "$specs/spmm_csr_f16.lua" -m packed --n 8 --variants default --peers none
lines 'a compressed file' '"kind":"result","matrix":"a.smtx.gz"' 1

# Outputs, sizes and variants.
out() { # SPEC SETTINGS...
    expect 0 '' run "$specs/$1.lua" --peers none --variants default "${@:2}"
    lines "$*" '"kind":"result"' 2
    lines "$*" '"kind":"note"' 0
}
out spmm_f16 --n 17 --set out=f32
out spmm_f16 --n 17 --set out=bf16 --set scale=row --set bias=column --set act=gelu
out spmm_bf16 --n 16 --set out=s8 --set scale=column --set bias=row --set c_scale=tensor
out spmm_bf16 --n 16 --set out=u8 --set scale=tensor --set act=relu --set zero=tensor --set b_scale=column
out spmm_s8f16 --n 17
out spmm_s8f16 --n 40 --set lhs=u8 --set rhs=bf16 --set out=f32 --vec 16
out spmm_s8f16_tiled --n 40 --set window=64
out sddmm_f16 --k 70 --set out=f32 --set scale=column --set mask=values --set order=srbcrs32
out sddmm_bf16 --k 70 --set out=f16 --set order=srbcrs16 --vec 4 --set layout=rows
out sddmm_bf16 --k 70 --set out=s8 --set scale=row
expect 0 '' run "$specs/spmm_f16.lua" --peers none --n 16,40 --variants 0,9,33 --finalists 2
lines 'quick times of all' '"kind":"quick"' 4
expect 0 '' run "$specs/sddmm_f16.lua" --peers none --k 64,128 --variants 0,9,20
lines 'quick times of all' '"kind":"quick"' 4

# A kernel that writes nothing is wrong, and one that is wrong in some columns.
export SIM_CUDA_SKIP=spmm_
expect 1 '2 results of our variants were wrong' run "$specs/spmm_f16.lua" --peers none --n 16 --variants default
export SIM_CUDA_SKIP=sddmm_
expect 1 '2 results of our variants were wrong' run "$specs/sddmm_f16.lua" --peers none --k 16 --variants default
export SIM_CUDA_SKIP=sampled_reals
expect 1 "mcbench's own sum of row" run "$specs/sddmm_f16.lua" --peers none --k 16 --variants default
unset SIM_CUDA_SKIP
mkdir old
hash=$("$mcgen" --arch sm_90 --list-variants "$specs/spmm_f16.lua" | head -1 | cut -d' ' -f2)
against() { # SED: the default kernel against what SED makes of its PTX
    "$mcgen" --arch sm_90 "$specs/spmm_f16.lua" | sed "$1" >old/"$hash".ptx
    run "$specs/spmm_f16.lua" --peers none --n 64 --variants default --against old
}
expect 0 'ours' against ''
lines 'the same PTX is right' '"kind":"note"' 0
expect 1 'results of our variants were wrong' against '/mma.sync.*{%acc4, .*%this_value0/d' 
check 'only that one is wrong' [ "$(grep -c '"kind":"note"' lines.jsonl)" = 2 ]
lines 'and the kernel itself is right' '"contender":"mcgen f16 f16 f16"' 2
finish
