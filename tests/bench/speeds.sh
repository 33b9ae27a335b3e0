#!/usr/bin/env bash
# tools/speeds, on a driver that is the simulator, where every launch lasts 10 us. Arguments: mcbench, the source directory.
mcbench=$1 speeds=$2/tools/speeds
source "$2/tests/expect.sh"
cd "$work" || exit 1
mkdir matrices
printf '2, 16, 3\n0 1 3\n4 0 9\n' >matrices/a.smtx
small=(-- --variants default --rounds 5)
expect 0 'spmm_f16_v8, over cublaslt f16' "$speeds" "$mcbench" matrices out "${small[@]}"
"$speeds" "$mcbench" matrices again cuda:0 "${small[@]}" --limit 1 >table
for name in 'spmm_f16_v8, over cublaslt f16' 'spmm_bf16_v8, over cublaslt bf16' 'spmm_f16_v16, over cublaslt f16' 'spmm_e4m3_v8, over cublaslt f16' 'sddmm_f16_v8, over cublaslt f16'; do
    check "$name" grep -qx "$name" table
done
check 'two sizes of each SpMM' [ "$(grep -c '^mcgen .*=off  .* 1.00 (  2)' table)" = 4 ]
check 'of either spec' [ "$(grep -c '^mcgen .*, spmm_.*_tiled .* 1.00 (  2)' table)" = 4 ]
check 'one of the SDDMM' [ "$(grep -c '^mcgen f16 f16 f16 k=256 lda=256 ldb=256  .* 1.00 (  1)' table)" = 1 ]
check 'V = 16' grep -q '"kind":"machine".*"vec":16' out/spmm_f16_v16.jsonl
expect 1 'File exists' "$speeds" "$mcbench" matrices out
expect 2 'tools/speeds [--rows NAMES] MCBENCH' "$speeds" "$mcbench" matrices
expect 2 'tools/speeds [--rows NAMES] MCBENCH' "$speeds" "$mcbench" matrices new cuda:0 more
expect 2 'tools/speeds [--rows NAMES] MCBENCH' "$speeds" --rows , "$mcbench" matrices new
expect 2 'no row is named spmm_f16_v9' "$speeds" --rows main,spmm_f16_v9 "$mcbench" matrices new
"$speeds" --rows spmm_tf32_v8,spmm_s8f16_v8,sddmm_f16_64 "$mcbench" matrices named "${small[@]}" >table
check 'rows by name' [ "$(grep -c ', over ' table) $(ls named | wc -l)" = '3 6' ]
printf '2, 4, 9\n0 1 2\n0 1\n' >matrices/bad.smtx
status=0
"$speeds" "$mcbench" matrices bad "${small[@]}" >table 2>errors || status=$?
check 'a matrix that was left out fails' [ $status = 1 ]
check 'and is named' grep -q 'LEFT OUT: matrices/bad.smtx' errors
check 'the other is measured' [ "$(grep -c '^mcgen [^,]* 1.00' table)" = 5 ]
finish
