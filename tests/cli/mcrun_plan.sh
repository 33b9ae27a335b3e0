#!/bin/bash
# mcrun plan on the simulator. Arguments: mcrun, the source directory, json_get, mcgen.
mcrun=$1 json_get=$3
source "$2/tests/expect.sh"
specs=$2/specs
spec=$specs/spmm_l8r8.lua
cd "$work" || exit 1
export MCGEN_CACHE_DIR=$work/cache MCGEN_RECORDS=$work/records.jsonl
unset MCGEN_TUNER MCGEN_TUNING
json() { check "$1: $2 is $("$json_get" "$1" "$2"), want $3" test "$("$json_get" "$1" "$2")" = "$3"; }
plan() { "$mcrun" plan --device sim "$@"; }
"$mcrun" matrix-gen --rows 16 --cols 128 --sparsity 0.8 -o m.smtx || exit 1

# An estimate is of a GPU; that of the cache has the same reason
for _ in 1 2; do
    expect 0 'why        estimated: the least estimate of ' plan "$spec" m.smtx --n 64
    check 'an estimate is a GPU'\''s' grep -q '^estimate   [0-9.]* us on a GPU$' "$work/stdout"
done
check 'nothing is recorded' test ! -e records.jsonl
expect 0 'why        estimated' plan --op spmm --lhs s8 --rhs s8 --vec 8 --out f16 --set scale=row m.smtx
check 'the problem is told' grep -q '^problem    spmm s8 x s8 -> f16, vec 8, m 128 n 256 k 128, ' "$work/stdout"
expect 0 'why        estimated: the least estimate of ' plan "$specs/sddmm_l8r8.lua" m.smtx --k 64
for types in "s16 s16" "bf16 bf16" "tf32 tf32"; do # what fits all types, by rows, too
    for layout in columns rows; do
        expect 0 'why        estimated' plan --op sddmm --lhs ${types% *} --rhs ${types#* } --vec 8 --out f32 --set scale=tensor --set layout=$layout m.smtx --k 64
    done
done
expect 0 'fields     op=spmm' plan --op spmm --lhs tf32 --rhs tf32 --vec 8 --out f32 m.smtx
expect 0 'spmm_csr_f32' plan --op spmm --lhs f32 --rhs f32 --vec 1 --out f32 m.smtx --n 1
expect 2 'there is no mma for "f32" here' plan --op spmm --lhs f32 --rhs f32 --vec 8 --out f32 m.smtx
expect 0 'sddmm_csr_f32.lua' plan --op sddmm --lhs f32 --rhs f32 --vec 1 --out f32 m.smtx --k 64
expect 2 'there is no mma for "f32" here' plan --op sddmm --lhs f32 --rhs f32 --vec 8 --out f32 m.smtx --k 64
expect 0 'problem    quantise' plan "$specs/quantise_s8_given.lua" m.smtx --n 64
printf '0, 4, 0\n0\n\n' >none.smtx
expect 0 'kernel     none: C has no elements' plan "$spec" none.smtx --n 8
expect 1 '--ptx: C has no elements' plan "$spec" none.smtx --n 8 --ptx none.ptx
check 'no PTX' test ! -e none.ptx

# A B by columns: two kernels, and what they want of memory
expect 0 'workspace  8192 bytes' plan "$spec" m.smtx --n 50 --b-major column
check 'the transpose' grep -q '^transpose  op=quantise .*lhs=s8 out=s8 scale=none .* m=50 n=128 lda=128 ldc=64$' "$work/stdout"
check 'the product' grep -q '^fields     op=spmm .*n=50 k=128 ldb=64 ' "$work/stdout"
plan "$spec" m.smtx --n 50 --b-major column --json >columns.json
json columns.json problem.b_major column
json columns.json workspace_bytes 8192
check 'the transpose in JSON' grep -q '"transposes": \[{"operand": "b", "fields": "op=quantise ' columns.json
expect 0 'fields     ' plan "$spec" m.smtx --n 50 --b-major row
check 'one kernel' test "$(grep -c 'transpose\|workspace' "$work/stdout")" = 0
expect 0 'workspace  4096 bytes' plan "$specs/spmm_l4r4.lua" m.smtx --n 50 --b-major column
check 'of 4 bits' grep -q '^transpose  op=quantise .*lhs=s4 out=s4 scale=none .* m=50 n=128 lda=128 ldc=64$' "$work/stdout"
expect 0 'workspace  3200 bytes' plan "$specs/gemm_s4_mma.lua" m.smtx --n 50 --b-layout rows
check 'B of 4 bits' grep -q '^transpose  op=quantise .*lhs=s4 out=s4 scale=none .* m=128 n=50 lda=50 ldc=128$' "$work/stdout"
expect 2 'b_major is set, which only an SpMM has' plan "$specs/sddmm_l8r8.lua" m.smtx --k 64 --b-major column
expect 2 "--b-major: 'rows' is not one of row|column" plan "$spec" m.smtx --n 50 --b-major rows
expect 0 'workspace  6400 bytes' plan "$specs/gemm_s8.lua" m.smtx --n 50 --b-layout rows
check 'of B' grep -q '^           of b, before the kernel' "$work/stdout"
check 'B by columns' grep -q '^fields     op=gemm .* n=50 k=128 lda=128 ldb=128 ' "$work/stdout"
plan --op gemm --lhs e4m3 --rhs e4m3 m.smtx --n 50 --b-layout rows --a-major column --json >both.json
check 'both' grep -q '"transposes": \[{"operand": "a", .*{"operand": "b", "fields": "op=quantise ' both.json
expect 0 'layout=rows' plan --op gemm --lhs f16 --rhs f16 m.smtx --n 48 --b-layout rows
check 'read as it lies' test "$(grep -c 'transpose\|workspace' "$work/stdout")" = 0

# Never slower than dense: which is taken, both estimates, and what the matrix takes either way
"$mcrun" matrix-gen --rows 4 --cols 2048 --sparsity 0.3 -o full.smtx || exit 1
"$mcrun" matrix-gen --rows 4 --cols 2048 --sparsity 0.98 -o empty.smtx || exit 1
halves() { plan --op spmm --lhs f16 --rhs f16 --out f16 --vec 8 --n 40 "$@"; }
expect 0 'dense      taken: gemm should be faster, by estimates' halves full.smtx --dense if-faster
check 'both estimates' grep -q '^           estimate: dense [0-9.]* us, sparse [0-9.]* us on a GPU$' "$work/stdout"
check 'both sizes' grep -q '^memory     131072 bytes for the matrix with its zeros, [0-9]* packed$' "$work/stdout"
check 'the dense kernel' grep -q '^fields     op=gemm .* m=32 n=40 k=2048 lda=2048 ldb=40 ldc=40 ' "$work/stdout"
expect 0 'dense      not taken: gemm should be slower, by estimates' halves empty.smtx --dense if-faster
check 'the sparse kernel' grep -q '^fields     op=spmm ' "$work/stdout"
expect 0 'dense      not taken: there is no dense kernel for this: ' plan "$spec" full.smtx --n 40 --dense if-faster
for never in "" "--dense never"; do
    expect 0 'fields     op=spmm' halves full.smtx $never
    check 'nothing of it' test "$(grep -c '^dense\|^memory' "$work/stdout")" = 0
done
halves full.smtx --dense if-faster --json >dense.json
check 'taken, in JSON' grep -q '"taken": true' dense.json
json dense.json dense.dense_bytes 131072
check 'estimates in JSON' grep -q '"dense_estimate_us": [0-9.]*, "sparse_estimate_us": [0-9.]*}' dense.json
halves full.smtx --b-major column --dense if-faster --json >dense.json
json dense.json problem.b_major column
check 'a B by columns is read as it lies' test "$(grep -c 'op=gemm .*layout=rows' dense.json)" = 0
check 'and not transposed' test "$(grep -c '"transposes"\|workspace' dense.json)" = 0
expect 2 'dense is set, which an SDDMM has not' plan "$specs/sddmm_l8r8.lua" m.smtx --k 64 --dense if-faster
expect 2 "--dense: 'always' is not one of never|if-faster" halves full.smtx --dense always

# Measured, and near; on the simulator instructions and no time
"$mcrun" tune --device sim --candidates 3 "$spec" m.smtx --n 64 >/dev/null || complain 'tune failed'
plan "$spec" m.smtx --n 64,72 --json >lines
check 'two problems' test "$(wc -l <lines)" = 2
head -1 lines >measured.json
tail -1 lines >near.json
json measured.json origin measured
json measured.json reason 'the fastest in the record of this problem'
json measured.json problem.n 64
check 'instructions' grep -q '"measured_instructions": [0-9]*}' measured.json
check 'no microseconds' test "$(grep -c '_us"' measured.json)" = 0
json near.json origin near
json near.json distance 0.1699
check 'what is near is told' grep -q 'the record of a problem 0.17 away, spmm s8 x s8 -> s32, vec 8, m 128 n 64 k 128' near.json
expect 0 'measured   ' plan "$spec" m.smtx --n 64
check 'a count' grep -q '^measured   [0-9]* instructions$' "$work/stdout"
expect 0 'why        estimated' env MCGEN_TUNING=off "$mcrun" plan --device sim "$spec" m.smtx --n 64
expect 0 'why        near' env MCGEN_TUNING=tune "$mcrun" plan --device sim "$spec" m.smtx --n 72
expect 0 'why        estimated' plan "$spec" m.smtx --n 64 --records other.jsonl
check 'no file of records comes of it' test ! -e other.jsonl

# The kernel's PTX is what mcrun runs, and exact
expect 0 'kernel     ' plan "$spec" m.smtx --n 64 --ptx kernel.ptx
plan "$spec" m.smtx --n 64 --ptx kernel.ptx >told
fields=$(sed -n 's/^fields     //p' told) hash=$(sed -n 's/^kernel     \([0-9a-f]*\) .*/\1/p' told)
check 'mcgen makes the same PTX of the fields' cmp kernel.ptx <("$4" --fields "$fields")
expect 0 "\"hash\": \"$hash\"" "$4" --describe --json --fields "$fields"
sets=()
for field in ${fields#op=spmm}; do sets+=(--set "$field"); done
expect 0 'verdict    exact' "$mcrun" spmm "$spec" m.smtx --n 64 "${sets[@]}" --device sim --ptx kernel.ptx
expect 2 'plan: --ptx is for one problem, these are 2' plan "$spec" m.smtx --n 64,72 --ptx kernel.ptx
expect 2 "plan: --ptx m.smtx would overwrite m.smtx, which is read" plan "$spec" m.smtx --n 64 --ptx m.smtx
expect 1 '/proc/none' plan "$spec" m.smtx --n 64 --ptx /proc/none/k.ptx

# mcrun runs what the records say, whatever spec it is of, and only that
tuned() { "$mcrun" "$@" --device sim --variants tuned; }
expect 0 "kernel     $hash  op=spmm" tuned spmm "$spec" m.smtx --n 64 --out tuned.npy
check 'it is exact' grep -q '^verdict    exact$' "$work/stdout"
check 'what was recorded' grep -q '^recorded   [0-9]* instructions$' "$work/stdout"
"$mcrun" spmm "$spec" m.smtx --n 64 --device sim --out default.npy >/dev/null
check 'the same product' cmp tuned.npy default.npy
tuned spmm "$spec" m.smtx --n 64 --json >tuned.json
json tuned.json variant.hash "$hash"
json tuned.json verdict exact
check 'instructions are called so' grep -q '"recorded_instructions": ' tuned.json
expect 0 'verdict    exact' tuned spmm "$specs/spmm_l8r8_shared.lua" m.smtx --n 64
expect 1 'no record of this problem on PTX simulator: spmm s8 x s8 -> s32, vec 8, m 128 n 72 k 128' tuned spmm "$spec" m.smtx --n 72
expect 1 '(mcrun tune measures it)' tuned spmm "$specs/spmm_l8r8_f16.lua" m.smtx --n 64
expect 1 'no record of this problem' tuned spmm "$spec" m.smtx --n 64 --records other.jsonl
sed 's/tile_n=/no_such=/g' records.jsonl >odd.jsonl
expect 1 'the record of this problem has no kernel that this generator makes' tuned spmm "$spec" m.smtx --n 64 --records odd.jsonl
"$mcrun" tune --device sim --candidates 2 "$specs/sddmm_l8r8.lua" m.smtx --k 64 --cold >/dev/null || complain 'tune failed'
expect 0 'instructions, with cold operands' tuned sddmm "$specs/sddmm_l8r8.lua" m.smtx --k 64
check 'exact' grep -q '^verdict    exact$' "$work/stdout"
"$mcrun" matrix-gen --rows 8 --cols 64 --sparsity 0 -o x.smtx
"$mcrun" tune --device sim --candidates 2 "$specs/quantise_s8_given.lua" x.smtx --n 64 >/dev/null || complain 'tune failed'
expect 0 'verdict    exact' tuned quantise "$specs/quantise_s8_given.lua" --m 8 --n 64
"$mcrun" tune --device sim --candidates 2 "$spec" m.smtx --n 40 --open >/dev/null || complain 'tune failed'
expect 0 'verdict    exact' tuned spmm "$spec" m.smtx --n 40
expect 2 '--variants tuned and --variant exclude each other' tuned spmm "$spec" m.smtx --variant 1
expect 2 '--variants tuned and --ptx exclude each other' tuned spmm "$spec" m.smtx --ptx kernel.ptx
expect 2 'several specs go with --variants best alone' tuned spmm "$spec" "$specs/spmm_l8r8_shared.lua" m.smtx
expect 2 '--records goes with --variants tuned' "$mcrun" spmm "$spec" m.smtx --records records.jsonl

# What makes no sense
expect 2 'plan: wants a MATRIX, or --shapes' plan "$spec"
expect 2 'plan: wants a SPEC, or --op, --lhs, --rhs and --vec' plan m.smtx
expect 2 'plan: without a SPEC --vec is missing' plan m.smtx --op spmm --lhs s8 --rhs s8
expect 2 'plan: an SpMM is planned for sizes --n' plan "$spec" m.smtx --k 16
expect 2 '--set tile_n: only fields that say what is computed' plan "$spec" m.smtx --set tile_n=64
expect 2 'out: "c.npy" is not one of' plan "$spec" m.smtx --out c.npy
expect 1 'absent.smtx' plan "$spec" absent.smtx
expect 1 '' plan "$spec" m.smtx --device cuda:99
expect 2 'unknown or ambiguous option' plan "$spec" m.smtx --dry-run
printf '# rows columns sparsity sizes\n64 128 0.9 16,32\n' >shapes.txt
expect 0 'shapes.txt:2' plan "$spec" --shapes shapes.txt
finish
