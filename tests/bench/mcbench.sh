#!/bin/bash
# mcbench without a GPU: usage, errors, and tables and plots of recorded results. Arguments: mcbench, the source directory, mcgen.
mcbench=$1 mcgen=$3
source "$2/tests/expect.sh"
spec=$2/specs/spmm_l8r8.lua
sample=$2/tests/bench/sample.jsonl
cd "$work" || exit 1
mkdir matrices empty
printf '2, 16, 3\n0 1 3\n4 0 9\n' >matrices/m.smtx

expect 0 'usage: mcbench COMMAND' "$mcbench" --help
expect 0 ", generator $("$mcgen" --version | sed 's/.* //')" "$mcbench" --version
for command in run summary plot fit; do
    expect 0 "usage: mcbench $command" "$mcbench" "$command" --help
    expect 2 'mcbench: --wrong: unknown or ambiguous option (mcbench' "$mcbench" "$command" --wrong
    expect 2 "$command: wants" "$mcbench" "$command"
done
expect 2 'mcbench: wants a command' "$mcbench"
expect 2 "mcbench: unknown command 'sumary'" "$mcbench" sumary

# What is wrong with a run is said before a GPU is asked for
expect 2 'run: --matrices is missing' "$mcbench" run "$spec"
expect 2 "--n: '256,x' is not a list" "$mcbench" run "$spec" -m matrices --n 256,x
expect 2 "--n: '0' is not a list" "$mcbench" run "$spec" -m matrices --n 0
expect 2 "--n: '' is not a list" "$mcbench" run "$spec" -m matrices --n ''
expect 2 "--n: '1,' is not a list" "$mcbench" run "$spec" -m matrices --n 1,
expect 2 '--n: more than 16' "$mcbench" run "$spec" -m matrices --n 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
expect 2 'run: --matrices and --shapes do not go together' "$mcbench" run "$spec" -m matrices --shapes tiny
expect 2 "--shapes: 'huge' is not one of layers|tiny" "$mcbench" run "$spec" --shapes huge
expect 2 'run: --values is for --shapes' "$mcbench" run "$spec" -m matrices --values normal
expect 2 'run: --sparsity is for --shapes' "$mcbench" run "$spec" -m matrices --sparsity 0.5
expect 2 "--sparsity: '2'" "$mcbench" run "$spec" --shapes tiny --sparsity 2
expect 2 "--values: 'odd' is not one of normal|uniform" "$mcbench" run "$spec" --shapes tiny --values odd
expect 1 'layers: no shape with 5x5' "$mcbench" run "$spec" --shapes layers --filter 5x5
expect 2 "--k: '0' is not a list" "$mcbench" run "$spec" -m matrices --k 0
expect 2 "--peers: 'magma' is not one of" "$mcbench" run "$spec" -m matrices --peers magma
expect 2 "--rounds: '4' is not a whole number from 5" "$mcbench" run "$spec" -m matrices --rounds 4
expect 2 'no_such' "$mcbench" run "$spec" -m matrices --set no_such=1
expect 2 '9999' "$mcbench" run "$spec" -m matrices --variants 9999
expect 1 'absent.lua' "$mcbench" run absent.lua -m matrices
expect 1 'absent: cannot be read' "$mcbench" run "$spec" -m absent
expect 1 'empty: no .smtx or .mtx file' "$mcbench" run "$spec" -m empty
expect 1 'matrices: no .smtx or .mtx file with nothing' "$mcbench" run "$spec" -m matrices --filter nothing
expect 1 'the simulator has no time to measure' "$mcbench" run "$spec" -m matrices --device sim
if "$mcbench" run "$spec" -m matrices --out none.jsonl 2>&1 | grep -q 'no CUDA driver'; then
    expect 1 'mcbench: no CUDA driver: libcuda.so.1' "$mcbench" run "$spec" -m matrices
    check 'no results without a GPU' [ ! -e none.jsonl ]
fi

# Tables
expect 0 'Sample <GPU> & Co (sm_90, 1980 MHz before), driver 580.1, CUDA 13.0, cuBLASLt 130100' "$mcbench" summary "$sample"
"$mcbench" summary "$sample" >table
squeeze() { tr -s ' ' <table; }
has() { check "no line '$1'" grep -qxF -- "$1" <(squeeze); }
has '3 problems, 1 notes of contenders that could not take part or were wrong'
has 'sparsity 0.7 0.95'
# 10 / 5 and 12.5 / 25 make 1; the slower of two algorithms and the slower variant do not count
has 'mcgen s8 s8 s32 1.00 ( 2) 4.00 ( 1) '
has 'cusparse csr f16 0.36 ( 2) -'
has 'mcgen s8 s8 s32 2.00 ( 1) 4.00 ( 1) '
has 'mcgen s8 s8 s32 0.50 ( 1) -'
has 'mcgen s8 s8 s32 0.46 of the floor; the 1 above 20 us: 0.40, least 0.40, 1 below 0.60'
# At .7 the picks are bbbb twice: 5 / 6 and 25 / 25
has 'mcgen s8 s8 s32 0.91 (0.83) 1.00 (1.00) 0.94 (0.83)'
has 'mcgen s8 s8 s32: 2 variants are the best of some problem'
has ' 2 bbbb warps=8'
has 'mcgen s8 s8 s32: slower than cuSPARSE on'
has ' N 512 25.00 us, cusparse csr f16 24.00 us one.smtx'
# A spec has rows of its own only beside another of the same types
check 'a row of the only spec' [ "$(grep -c ', one' table)" = 0 ]
sed 's/s32, one","variant":"aaaa"/s32, two","variant":"aaaa"/' "$sample" >two.jsonl
"$mcbench" summary two.jsonl >table
has 'mcgen s8 s8 s32 1.00 ( 2) 4.00 ( 1) '
has 'mcgen s8 s8 s32, one 0.91 ( 2) 4.00 ( 1) '
has 'mcgen s8 s8 s32, two 2.00 ( 1) -'
# Another base: 40 / 5 and 24 / 25 make 2.77
"$mcbench" summary "$sample" --over 'cusparse csr f16' >table
has 'Speed over the fastest verified cusparse csr f16, geometric means (problems)'
has 'mcgen s8 s8 s32 2.77 ( 2) -'
check 'the base is no row' [ "$(grep -c '^cusparse csr f16 .*(' table)" = 0 ]
expect 0 'Speed over cusparse csr f16 (the line' "$mcbench" plot "$sample" --over 'cusparse csr f16'
expect 0 'Speed over cuBLASLt fp16 (the line' "$mcbench" plot "$sample"
expect 1 "mcbench: --over: there are no results of 'cublaslt f8'" "$mcbench" summary "$sample" --over 'cublaslt f8'
"$mcbench" summary "$sample" --speeds >table
has 'mcgen s8 s8 s32 1.00 ( 2) 4.00 ( 1) '
check 'speeds alone' [ "$(grep -c 'floor\|best of some' table)" = 0 ]
# Over a library: on each problem the fastest of its contenders, but those of another matrix. 12 / 10, 20 / 25 and 3 / 2.
cat >over.jsonl <<'END'
{"kind":"machine","gpu":"G","driver":"","capability":90,"cuda":13000,"cublaslt":1,"cusparse":1,"cold":false,"vec":1,"rounds":15,"sm_mhz":1}
END
over() { # MATRIX N CONTENDER US PREPARE_US
    printf '{"kind":"result","matrix":"%s","m":8,"n":%s,"k":8,"vec":1,"class":0.99,"op":"spmm","contender":"%s","us":%s,"prepare_us":%s}\n' "$@" >>over.jsonl
}
over a.mtx 32 'mcgen f16 f16 f16' 10 100
over a.mtx 32 'cusparse csr f16' 14 1
over a.mtx 32 'cusparse csr f16' 12 40
over a.mtx 32 'cusparse coo f32' 13 10
over a.mtx 32 'cusparse uniform blocked-ell 8x8 f16' 2 1
over a.mtx 32 'cusparselt f16' 1 1
over a.mtx 128 'mcgen f16 f16 f16' 25 100
over a.mtx 128 'cusparse coo f32' 20 10
over b.mtx 32 'mcgen f16 f16 f16' 2 100
over b.mtx 32 'cusparse csr f16' 3 10
over b.mtx 128 'mcgen f16 f16 f16' 5 100 # which nobody else has
"$mcbench" summary over.jsonl --over cusparse >table
has 'Speed over the fastest verified cusparse by N, geometric means (problems, least)'
has 'N 32 128 all'
has 'mcgen f16 f16 f16 1.34 ( 2, least 1.20) 0.80 ( 1, least 0.80) 1.13 ( 3, least 0.80)'
has 'mcgen f16 f16 f16: below 0.90 of cusparse on 1 of 3 problems; the least'
has ' 0.80 N 128 25.00 us, cusparse coo f32 20.00 us a.mtx'
has ' 1.20 0.80 a.mtx'
has ' 1.50 - b.mtx'
has 'cusparse uniform blocked-ell 8x8 f16 6.00 ( 1) '
# 10 and a tenth of 100 are 20; 13 and 1 are 14, which is less than 14.1 and 16
"$mcbench" summary over.jsonl --over cusparse --products 10 --speeds >table
has 'Times have their share of what is prepared once, for 10 products; ours is packed on the device, where its format can be'
has 'mcgen f16 f16 f16 0.48 ( 2, least 0.33) 0.60 ( 1, least 0.60) 0.52 ( 3, least 0.33)'
has 'mcgen f16 f16 f16: below 0.90 of cusparse on 3 of 3 problems; the least, and the others'
has ' 0.33 N 32 12.00 us, cusparse csr f16 4.00 us b.mtx'
has ' 0.70 N 32 20.00 us, cusparse coo f32 14.00 us a.mtx'
check 'no matrices among speeds alone' [ "$(grep -c 'over cusparse by N$' table)" = 0 ]
"$mcbench" summary over.jsonl --over 'cusparse csr' --speeds >table
has ' 1.20 N 32 10.00 us, cusparse csr f16 12.00 us a.mtx'
"$mcbench" summary over.jsonl --over 'cusparse uniform' --speeds >table
has ' 0.20 N 32 10.00 us, cusparse uniform blocked-ell 8x8 f16 2.00 us a.mtx'
# Ours on the device, where that was measured: 10 and a tenth of 20, or of 20 and 10, or of 100; what is packed on the host alone stays
sed '/"n":32.*mcgen/s/"prepare_us"/"device_prepare_us":20,"device_matrix_us":10,&/' over.jsonl >there.jsonl
packed() { # SPEED WORDS OPTIONS...
    "$mcbench" summary there.jsonl --over cusparse --products 10 "${@:3}" >table
    has "Times have their share of what is prepared once, for 10 products; ours is packed $2"
    check "$2: $1" grep -q "^mcgen f16 f16 f16 $1 ( 2, least " <(squeeze)
    has ' 0.60 N 128 35.00 us, cusparse coo f32 21.00 us a.mtx'
}
packed 1.08 'on the device, where its format can be'
packed 1.08 'on the device, where its format can be' --packed device
packed 0.93 "on the device, where its format can be, out of CSR's arrays there" --packed arrays
packed 0.48 'on the host' --packed host
expect 2 'summary: --packed is for --products' "$mcbench" summary there.jsonl --packed host
expect 2 "--packed: 'gpu' is not one of device|arrays|host" "$mcbench" summary there.jsonl --products 10 --packed gpu
expect 1 "--over: there are no results of 'cuspar'" "$mcbench" summary over.jsonl --over cuspar
expect 1 '--products: no result tells what was prepared before it' "$mcbench" summary "$sample" --products 10
expect 2 "--products: '0'" "$mcbench" summary over.jsonl --products 0
expect 0 'Speed over cusparse (the line' "$mcbench" plot over.jsonl --over cusparse
# Many columns, and few; an N between them counts in neither
cat >bands.jsonl <<'END'
{"kind":"machine","gpu":"G","driver":"","capability":90,"cuda":13000,"cublaslt":1,"cusparse":1,"cusparselt":1000,"cold":false,"vec":1,"rounds":15,"sm_mhz":1,"shapes":"layers","values":"normal"}
END
line() { # N CONTENDER US
    printf '{"kind":"result","matrix":"8x8","m":8,"n":%s,"k":8,"vec":1,"class":0,"op":"gemm","contender":"%s","us":%s}\n' "$@" >>bands.jsonl
}
for n in 8 64 256 512 8192; do
    line $n 'mcgen f16 f16 f16' 10
    line $n 'cublaslt f16' $((n < 512 ? 5 : 20))
    line $n 'cublaslt f16' 100
done
line 8192 'cusparselt f16' 2.5
"$mcbench" summary bands.jsonl >table
has ' N >= 512 N <= 64'
has ' cublaslt f16 2.00 ( 2, least 2.00) 0.50 ( 2, least 0.50)'
has ' cusparselt f16 0.25 ( 1, least 0.25) -'
has 'N 8 64 256 512 8192'
has '8x8 10.00 10.00 10.00 10.00 10.00'
has 'cublaslt f16 over mcgen f16 f16 f16'
has '8x8 0.50 0.50 0.50 2.00 2.00'
has '8x8 - - - - 0.25'
check 'the library of 2:4 is named' grep -q 'cuSPARSE 1, cuSPARSELt 1000;' table
"$mcbench" summary bands.jsonl --json >table
has '{"kind":"band","op":"gemm","ours":"mcgen f16 f16 f16","peer":"cublaslt f16","least_n":512,"ratio":2.0,"worst":2.0,"problems":2}'
has '{"kind":"band","op":"gemm","ours":"mcgen f16 f16 f16","peer":"cublaslt f16","most_n":64,"ratio":0.5,"worst":0.5,"problems":2}'
check 'a line for each pair and band' [ "$(wc -l <table)" = 3 ]
check 'of sets of shapes alone' [ "$("$mcbench" summary "$sample" | grep -c 'N <= 64')" = 0 ]
# Two runs are not mixed: each has its own denominators
expect 0 '6 problems' "$mcbench" summary "$sample" "$sample"

# The fit, of records of the simulator's tuning. Of N kernels one is the pick: if each in turn is the fastest, the pick takes twice as
# long as the best but for that one.
mcrun=$(dirname "$mcgen")/mcrun
printf '64 64 0.5 16\n128 64 0.7 32\n192 64 0.5 64\n256 64 0.7 64\n' >shapes
expect 2 'fit: wants RECORDS' "$mcbench" fit
expect 1 'nothing.jsonl' "$mcbench" fit nothing.jsonl
: >nothing.jsonl
expect 1 'no record has times of two kernels that there are' "$mcbench" fit nothing.jsonl
"$mcrun" tune --op spmm --vec 8 --lhs s8 --rhs s8 --out f16 --set scale=row --shapes shapes --candidates 1 --device sim --in-process --records made.jsonl >/dev/null 2>&1
fit() { "$mcbench" fit "$@"; }
line() { grep "^all" table | tr -s ' ' | cut -d' ' -f2-4; }
number='[0-9.e+-]*'
sed "s/\"timed\",$number/\"timed\",4/g" made.jsonl >even.jsonl
fit --keep even.jsonl >table
check 'all times alike' [ "$(line)" = '4 1.000 1.000' ]
head -1 even.jsonl >one.jsonl
count=$(grep -o '"timed"' one.jsonl | wc -l) picked=0
for ((i = 1; i <= count; i++)); do
    sed "s/\"timed\",4/\"timed\",2/$i" one.jsonl >uneven.jsonl
    fit --keep uneven.jsonl >table
    case $(line) in
    '1 1.000 1.000') picked=$((picked + 1)) ;;
    '1 2.000 2.000') ;;
    *) complain "$i of $count: $(line)" ;;
    esac
done
check "of $count kernels one is the pick, not $picked" [ "$count" -gt 1 ] && check 'one is the pick' [ "$picked" = 1 ]
fit --keep --hold-out 64x64,256x64 --picks even.jsonl >table
check 'those that are named are held out' [ "$(grep -cE '^(fitted|held out) +2 ' table)" = 2 ]
check 'and so is their line' [ "$(grep -c ', held out: ' table)" = 2 ]
fit --hold-out 64x64 made.jsonl >fitted
fit --keep --hold-out 64x64 made.jsonl >table
echo '64 64 0.5 16' >half
"$mcrun" tune --op gemm24 --lhs f16 --rhs f16 --shapes half --candidates 1 --device sim --in-process --records early.jsonl >/dev/null 2>&1
check 'kernels that begin early are timed' grep -q 'early=on' early.jsonl
fit --keep early.jsonl >early
check 'and fitted to' grep -qE '^all +1 ' early
check 'every cost is printed' [ "$(grep -c '^ *\.[a-z0-9_]* = .*,' fitted)" = "$(grep -c '^    X(' "$2/gen/ops/spmm/costs.h")" ]
error() { grep '^fitted' "$1" | tr -s ' ' | cut -d' ' -f5; }
check "the fit's error $(error fitted) is less than $(error table)" [ "$(printf '%s\n' "$(error fitted)" "$(error table)" | sort -g | head -1)" != "$(error table)" ]
sed 's/"gpu":"PTX simulator"/"gpu":"another"/' one.jsonl >another.jsonl
fit --keep one.jsonl another.jsonl >table
check 'records of two GPUs share the costs' [ "$(grep -c '^all  *2 ' table)" = 1 ]
fit --keep --gpu another one.jsonl another.jsonl >table
check 'records of one of them' [ "$(grep -c '^all  *1 ' table)" = 1 ]
check 'two costs alone' [ "$(fit --only held,ring_step made.jsonl | grep -o '^ *\.[a-z0-9_]*' | tr -d ' \n')" = .held.ring_step ]
expect 2 'there are no costs of another' "$mcbench" fit --from another one.jsonl
"$mcrun" tune "$2/specs/quantise_s8.lua" --shapes shapes --candidates 2 --device sim --in-process --records other.jsonl >/dev/null 2>&1
fit other.jsonl >fitted
check 'records of quantise are fitted' [ "$(grep -c '^all  *4 ' fitted)" = 1 ]
check 'its costs are printed' [ "$(grep -c '^ *\.[a-z0-9_]* = .*,' fitted)" = "$(grep -c '^    X(' "$2/gen/ops/quantise/costs.h")" ]
expect 1 'records of spmm and of quantise: a file each' "$mcbench" fit one.jsonl other.jsonl

# Plots
"$mcbench" plot "$sample" >plot.svg || complain 'plot failed'
svg() { check "$1 lines of '$2', want $3" [ "$(grep -c "$2" plot.svg)" = "$3" ]; }
svg boxes 'fill-opacity' 5 # N = 256: ours at .7 and .95, csr at .7; N = 512: ours and csr at .7
svg panels 'V = 8, N = ' 2
svg roots '</svg>' 1
# The box of one value at speed 2 lies where twice the base does; the axis goes from 1/4 to 8
check 'the median of ours at N = 256, .7 lies at y = 112' grep -q 'y1="112.0" y2="112.0" class="median"' plot.svg
check 'the base lies at y = 168' grep -q 'y1="168.0" y2="168.0" class="base"' plot.svg
if command -v xmllint >/dev/null; then check 'well-formed' xmllint --noout plot.svg; fi

# SDDMM: a problem of the same shape but for K is another one, and sizes are K's
sed 's/"cold":false/"op":"sddmm","cold":false/; s/"n":512,"k":64/"n":256,"k":512/' "$sample" >sddmm.jsonl
"$mcbench" summary sddmm.jsonl >table
has '3 problems, 1 notes of contenders that could not take part or were wrong'
has 'K = 64'
has 'mcgen s8 s8 s32 0.50 ( 1) -'
has ' K 512 25.00 us, cusparse csr f16 24.00 us one.smtx'
expect 1 'results of spmm and of sddmm: give them apart' "$mcbench" summary "$sample" sddmm.jsonl
"$mcbench" plot sddmm.jsonl "$sample" >plot.svg || complain 'plot failed'
svg 'panels of both operators' 'V = 8, [NK] = ' 4
svg 'panels of SDDMM' 'sddmm, V = 8, K = ' 2

# What is no result
expect 1 'absent.jsonl' "$mcbench" summary absent.jsonl
head -2 "$sample" >empty.jsonl
expect 1 'there are no results' "$mcbench" summary empty.jsonl
echo 'not json' >bad.jsonl
expect 1 'bad.jsonl:1: not JSON' "$mcbench" plot bad.jsonl
echo '{"us":1}' >bad.jsonl
expect 1 'bad.jsonl:1: a line without kind' "$mcbench" summary bad.jsonl
(cat "$sample"; echo '{"kind":"result","matrix":"x","contender":"y","us":0}') >bad.jsonl
expect 1 'bad.jsonl:16: a result without matrix, contender or us' "$mcbench" summary bad.jsonl
finish
