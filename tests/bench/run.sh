#!/bin/bash
# A whole `mcbench run` on a driver that is the simulator (sim_cuda.c) with libraries of its kind (sim_vendor.c): what is computed,
# verified and written. Every launch lasts 10 us. Arguments: mcbench, the source directory, json_get.
mcbench=$1
source "$2/tests/expect.sh"
tiled=$2/specs/spmm_l8r8_tiled.lua
specs="$2/specs/spmm_l8r8.lua $2/specs/spmm_l8r8_f16.lua"
json_get=$3
if ! "$mcbench" run $specs -m "$2/tests" 2>&1 | grep -q 'no .smtx or .mtx file'; then complain 'no folder of matrices is no error'; fi
cd "$work" || exit 1
mkdir matrices
# 6 row blocks; K = 70 is no multiple of 8; the second row block is empty
printf '6, 70, 12\n0 3 3 5 9 11 12\n0 7 69 1 2 10 11 12 13 5 64 33\n' >matrices/b.smtx
printf '2, 16, 3\n0 1 3\n4 0 9\n' >matrices/a.smtx

run() { timeout 60 "$mcbench" run $specs -m matrices --peers none "$@"; }
lines() { check "$1 lines with '$2' in $3, want $4" [ "$(grep -c -- "$2" "$3")" = "$4" ]; }
field() { head -"$2" "$1" | tail -1 >line.json; "$json_get" line.json "$3"; }

# Two specs, two matrices, two N, four variants of each spec: every one is exact, two of each output type are finalists
expect 0 '' run --n 16,40 --variants 0,17,60,92 --finalists 2 --rounds 5 -o all.jsonl
grep -q WRONG "$work/stderr" && complain 'a right variant is called wrong'
lines '' '"kind":"machine"' all.jsonl 1
lines '' '"kind":"ceilings"' all.jsonl 1
lines '' '"kind":"quick"' all.jsonl 4
check 'two or, with the pick, three results of each spec' [ "$(($(grep -c '"kind":"result"' all.jsonl) - 16))" -lt 9 ]
lines '' '"kind":"note"' all.jsonl 0
check 'quick times of all variants' [ "$(field all.jsonl 3 us)" = 8 ]
check 'smaller shapes come first' [ "$(field all.jsonl 3 matrix)" = a.smtx ]
check 'M of the dilated matrix' [ "$(field all.jsonl 3 m)" = 16 ]
check 'the end counts the matrices' [ "$(tail -1 all.jsonl >line.json; "$json_get" line.json matrices)" = 2 ]
lines '' '"picked":true' all.jsonl 8 # one a problem and output type
expect 0 '4 problems' "$mcbench" summary all.jsonl
least() { # MATRIX N CONTENDER: whether its least estimate is picked
    grep "\"result\",\"matrix\":\"$1\",.*\"n\":$2,.*\"contender\":\"$3\"" all.jsonl |
        sed 's/.*"estimate":\([^,]*\),"picked":\([a-z]*\).*/\1 \2/' | sort -g | head -1 | cut -d' ' -f2
}
for n in 16 40; do check 'the pick has the least estimate' [ "$(least b.smtx $n 'mcgen s8 s8 f16')" = true ]; done
expect 0 "Speed of the estimate's pick" "$mcbench" summary all.jsonl
expect 0 'of the floor' "$mcbench" summary all.jsonl

# Of each type of results the one that the estimate picks, and the two best; others are neither packed nor loaded
picks() { grep '"picked":true' "$1" | sed 's/.*"matrix":"\([^"]*\)".*"n":\([0-9]*\).*"variant":"\([^"]*\)".*/\1 \2 \3/' | sort; }
expect 0 '8 variants generated' run --n 16,40 --variants 0,17,60,92 --best 1 --rounds 5 -o best.jsonl
check 'the same picks' [ "$(picks best.jsonl)" = "$(picks all.jsonl)" ]
lines 'nothing but these: ' '"kind":"result"' best.jsonl 8
lines '' '"kind":"note"' best.jsonl 0
lines 'the run tells it: ' '"best":1' best.jsonl 1
expect 0 "Of each problem's variants only the 1 that the estimate puts first" "$mcbench" summary best.jsonl
expect 0 '' run --n 16,40 --variants 0,17,60,92 --best 2 --rounds 5 -o best.jsonl
check 'quick times of two of each type' [ "$(field best.jsonl 3 us)" = 4 ]
check 'the best of all' [ "$(picks best.jsonl)" = "$(picks all.jsonl)" ]
expect 0 '' run --n 16 --variants 0,17,60,92 --best 99 --rounds 5 -o best.jsonl
check 'all, where there are no more' [ "$(field best.jsonl 3 us)" = 8 ]
expect 0 '8 could not run' run --n 16 --variants 0,17,60,92 --set n=24 --best 1 --rounds 5 -o best.jsonl
lines 'all are tried, where none has an estimate: ' '"kind":"note"' best.jsonl 16

# The libraries
expect 0 '' run --peers all --n 16 --variants default -o peers.jsonl
lines '' '"kind":"note"' peers.jsonl 0
lines 'f16 and bf16 have the rows of SpMM: ' 'B by rows' peers.jsonl 4
for peer in 'cublaslt f16' 'cublaslt bf16' 'cublaslt s8' 'cublaslt e4m3 fast f16' 'cusparse csr f16' 'cusparse bsr f16' 'cusparse blocked-ell f16' 'cusparse blocked-ell s8'; do
    lines '' "\"contender\":\"$peer\"" peers.jsonl $([ "$peer" = 'cusparse csr f16' ] && echo 6 || echo 2) # CSR has three algorithms
done

# A kernel that stages B: another packed format, tensor maps, launches that may overlap
expect 0 '' timeout 60 "$mcbench" run "$tiled" -m matrices --peers none --n 16,144 --variants 0,7 -o tiled.jsonl
lines '' '"kind":"result"' tiled.jsonl 8
lines '' '"kind":"note"' tiled.jsonl 0
lines 'what passes through shared memory has a floor: ' '"shared":0.0,' tiled.jsonl 0

# Settings that the types do not show make another contender
expect 0 '' timeout 60 "$mcbench" run "$tiled" -m matrices --peers none --n 16 --variants 0 --filter a.smtx --set overlap=off --set out=f32 -o set.jsonl
lines '' '"contender":"mcgen s8 s8 f32 overlap=off"' set.jsonl 1

# Other types of operands: values in two planes, two elements of B to a byte, an odd N
for spec in l16r16 l12r4 l4r4; do
    expect 0 '' timeout 60 "$mcbench" run "$2/specs/spmm_$spec.lua" -m matrices --peers none --n 16,33 --variants 0,5 -o types.jsonl
    lines '' '"kind":"result"' types.jsonl 8
    lines '' '"kind":"note"' types.jsonl 0
done
first=$("$(dirname "$mcbench")/mcgen" --arch sm_90 --list-variants "$2/specs/spmm_l4r4.lua" | head -1 | cut -d' ' -f2)
lines 'a spec without arch is read for the GPU: ' "\"variant\":\"$first\"" types.jsonl 4
expect 0 '' timeout 60 "$mcbench" run "$2/specs/spmm_l4r4.lua" -m matrices --peers none --n 16 --variants "$first" -o named.jsonl
lines 'and its variants are named: ' "\"variant\":\"$first\"" named.jsonl 2
printf 'op = "spmm"\nstaging = "tma"\n' >bare.lua # which the usual sm_80 has not
expect 0 '' timeout 60 "$mcbench" run bare.lua -m matrices --peers none --n 16 --variants default -o bare.jsonl
lines 'also where no other arch will do: ' '"kind":"result"' bare.jsonl 2
expect 0 'exact' "$(dirname "$mcbench")/mcrun" spmm bare.lua matrices/a.smtx --n 64 --device cuda:0
expect 0 'other types than the first' timeout 60 "$mcbench" run $specs "$2/specs/spmm_l4r4.lua" -m matrices --peers none --n 16 --variants default -o types.jsonl

# A GPU that was not measured: choices say whose costs they go by, the log too
for text in 'why        estimated: .*, as on an NVIDIA H200$' '^mcrun: Simulated GPU was not measured: estimates go by rates and costs of an NVIDIA H200'; do
    check "$text" grep -q "$text" <(MCGEN_CACHE=off MCGEN_RECORDS=$work/none.jsonl "$(dirname "$mcbench")/mcrun" plan "$2/specs/spmm_l8r8.lua" matrices/a.smtx --n 64 --device cuda:0 2>&1)
done

# SDDMM: the matrices are masks, the sizes are K's; sums and outputs in every order of C, by the GPU's helper kernels
sampled=$2/specs/sddmm_l8r8.lua
sddmm() { timeout 60 "$mcbench" run "$sampled" -m matrices --peers none --rounds 5 -o sddmm.jsonl "$@"; }
expect 0 '' sddmm --k 16,70 --variants 0,5,19 --finalists 2
check 'the two fastest, the pick and the peers' [ "$(grep -c '"kind":"result"' sddmm.jsonl)" -ge 8 ]
lines '' '"kind":"note"' sddmm.jsonl 0
check 'M of the dilated mask' [ "$(field sddmm.jsonl 3 m)" = 16 ]
check "N is the mask's" [ "$(field sddmm.jsonl 3 n)" = 16 ]
check 'K is the size' [ "$(field sddmm.jsonl 3 k)" = 16 ]
check 'the operator is named' [ "$(grep -c '"op":"sddmm"' sddmm.jsonl)" -ge 12 ]
lines 'a pick for each problem: ' '"picked":true' sddmm.jsonl 4
expect 0 'K = 70' "$mcbench" summary sddmm.jsonl
expect 0 'sddmm, V = 8, K = 16' "$mcbench" plot sddmm.jsonl
expect 1 'results of spmm and of sddmm: give them apart' "$mcbench" summary all.jsonl sddmm.jsonl
for settings in 'out=f16 scale=tensor k=33' 'out=bf16 scale=row order=srbcrs16 mask=values' \
    'out=f32 scale=column order=srbcrs32 mask=values vec=4' 'lhs=s16 rhs=s16 out=f16 scale=row' 'lhs=u4 rhs=s4 vec=2'; do
    # shellcheck disable=SC2046
    expect 0 '' sddmm --k 33 --variants default $(printf -- ' --set %s' $settings)
    lines "$settings: " '"kind":"result"' sddmm.jsonl 2
    lines "$settings: " '"kind":"note"' sddmm.jsonl 0
done
printf 'op = "sddmm"\nmask = "values"\norder = "srbcrs16"\n' >weighted.lua # outputs of several kinds in one run
printf 'op = "sddmm"\nmask = "values"\n' >values.lua
expect 0 '' timeout 60 "$mcbench" run "$sampled" weighted.lua values.lua -m matrices --peers none --k 33 --variants default --set out=f32 --set scale=tensor -o sddmm.jsonl
lines '' '"kind":"result"' sddmm.jsonl 6
lines '' '"kind":"note"' sddmm.jsonl 0
expect 0 '' sddmm --k 64 --variants default --cold
lines '' '"kind":"note"' sddmm.jsonl 0
expect 0 '' sddmm --k 64 --variants default --set method=window --set k=64 --set window=8
lines 'windows: ' '"kind":"result"' sddmm.jsonl 2
lines 'windows: ' '"kind":"note"' sddmm.jsonl 0
expect 2 'the sizes of family sddmm are those of --k' sddmm --n 64
expect 0 "another family than the first variant's" timeout 60 "$mcbench" run $specs "$sampled" -m matrices --peers none --n 16 --variants default -o mixed.jsonl
printf '2, 16, 0\n0 0 0\n\n' >matrices/empty.smtx
expect 1 'LEFT OUT: matrices/empty.smtx: the mask is empty' sddmm --k 16 --variants default
rm matrices/empty.smtx
# The libraries: dense with B by columns, and the mask in every format of the sparse one, in f16 and f32
for vec in 8 4 2; do
    expect 0 '' sddmm --peers all --k 33 --variants default --vec $vec
    lines '' '"kind":"note"' sddmm.jsonl 0
    lines 'all have the columns of SDDMM: ' 'B by columns' sddmm.jsonl 8
    for peer in 'cublaslt f16' 'cublaslt bf16' 'cublaslt s8' 'cublaslt e4m3 fast f16' 'cusparse csr f16' 'cusparse bsr f16' 'cusparse csr f32' 'cusparse bsr f32'; do
        lines "V = $vec: " "\"contender\":\"$peer\"" sddmm.jsonl 2
    done
done
expect 0 'cusparse bsr f32' "$mcbench" summary sddmm.jsonl
# A reference that is wrong stops the run: the CPU computes some of its sums again
export SIM_CUDA_SKIP=sampled_sums
expect 1 "mcbench's own sum of row" sddmm --k 16 --variants default
export SIM_CUDA_SKIP=sddmm_
expect 1 '2 results of our variants were wrong' sddmm --k 16 --variants default
unset SIM_CUDA_SKIP

# Cold L2: launches rotate over several sets of operands
expect 0 '' run --n 16 --variants default --cold -o cold.jsonl
check 'several sets when cold' [ "$(field cold.jsonl 4 sets)" -gt 3 ]
check 'a graph holds whole turns of them' [ $(($(field cold.jsonl 4 launches) % $(field cold.jsonl 4 sets))) = 0 ]
check 'one set when warm' [ "$(field all.jsonl 4 sets)" = 1 ]

# With a kernel between there are two launches for each that counts, and one is subtracted
check 'a launch lasts 10 us' [ "$(field all.jsonl 4 us)" = 10.0000 ]
expect 0 '' run --n 16 --variants default --filter a.smtx --between -o between.jsonl
check 'a launch behind another kernel lasts 10 us' [ "$(field between.jsonl 4 us)" = 10.0000 ]
expect 0 'an ordinary kernel before each launch' "$mcbench" summary between.jsonl

# A kernel that writes nothing is wrong everywhere, is not timed, and fails the run
export SIM_CUDA_SKIP=spmm_
expect 1 '8 results of our variants were wrong' run --n 16,40 --variants default -o wrong.jsonl
lines '' 'elements are wrong' wrong.jsonl 8
lines '' '"kind":"result"' wrong.jsonl 0
check 'said on stderr' grep -q '2 WRONG' "$work/stderr"
unset SIM_CUDA_SKIP

# A launch that the driver refuses takes one variant out of the race
export SIM_CUDA_REFUSE=spmm_s8s8s32_
expect 0 '' run --n 16 --variants default --filter a.smtx -o refused.jsonl
lines '' 'cuLaunchKernel: FAILURE' refused.jsonl 1
lines '' '"kind":"result"' refused.jsonl 1
check 'said on stderr' grep -q '1 could not run' "$work/stderr"
unset SIM_CUDA_REFUSE

# What the next layer takes: 8 bits, C's own scale and zero point, scales of B's columns, activations
for output in '--set out=s8' '--set out=u8 --set c_scale=tensor --set zero=tensor --set act=gelu' '--set out=f16 --set b_scale=column --set bias=row --set act=silu'; do
    expect 0 '' timeout 60 "$mcbench" run "$2/specs/spmm_l8r8_f16.lua" $output -m matrices --peers none --n 17 --variants default -o next.jsonl
    check "results with $output" [ "$(grep -c '"kind":"result"' next.jsonl)" = 2 ]
done

# What cannot be read or run is left out, loudly
printf '2, 4, 9\n0 1 2\n0 1\n' >matrices/bad.smtx
expect 1 'LEFT OUT' run --n 16 --variants default -o some.jsonl
check 'the others are measured' [ "$(grep -c '"kind":"result"' some.jsonl)" = 4 ]
expect 1 'no variant can be measured; the first: sum = exact: mcbench knows results modulo 2^32 only' \
    run --n 16 --variants default --set sum=exact --set out=f32 --set scale=row
expect 1 'no variant can be measured; the first: out = s4: mcbench knows results of whole bytes only' \
    run --n 16 --variants default --set out=s4 --set scale=row
expect 1 'no variant can be measured; the first: out = e4m3: mcbench has no kernel that compares such results' \
    run --n 16 --variants default --set out=e4m3 --set scale=row
expect 1 'no variant can be measured; the first: residual = f16: mcbench has none to add' \
    run --n 16 --variants default --set out=f16 --set scale=row --set residual=f16
expect 1 'no variant can be measured; the first: the kernel is made for m = 24' run --n 16 --variants default --set m=24
expect 0 '' run --n 16 --variants default --seconds 1 --filter a.smtx
expect 1 'absent/out.jsonl: No such file' run --n 16 --filter a.smtx -o absent/out.jsonl
finish
