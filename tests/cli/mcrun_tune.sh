#!/bin/bash
# mcrun tune on the simulator. Arguments: mcrun, the source directory, json_get.
mcrun=$1 json_get=$3
source "$2/tests/expect.sh"
specs=$2/specs
spec=$specs/spmm_l8r8.lua
cd "$work" || exit 1
export MCGEN_CACHE_DIR=$work/cache MCGEN_RECORDS=$work/records.jsonl
unset MCGEN_TUNER MCGEN_TUNING
json() { check "$1: $2 is $("$json_get" "$1" "$2"), want $3" test "$("$json_get" "$1" "$2")" = "$3"; }
tune() { "$mcrun" tune --device sim --candidates 3 "$@"; }
records() { grep -c . records.jsonl; }
# One large enough that a kernel takes the simulator a while: a worker has a millisecond at least
"$mcrun" matrix-gen --rows 32 --cols 256 --sparsity 0.4 -o large.smtx || exit 1
"$mcrun" matrix-gen --rows 5 --cols 90 --sparsity 0.6 -o m.smtx || exit 1
printf '%%%%MatrixMarket matrix coordinate pattern general\n13 20 4\n1 1\n2 1\n9 20\n13 3\n' >m.mtx

# Names that no terminal should see, and that are no UTF-8: tables and JSON have ? there, and all are tuned
red=$'red\e[31m.smtx' latin=$'caf\xe9.smtx'
cp m.smtx "$red"
cp m.smtx "$latin"
tune "$spec" "$red" "$latin" --n 16 >table 2>err
check 'one is tuned, the other one is the same' test "$(grep -Ec 'N 16 +(tuned|known) ' table)" = 2
check 'no control character' test "$(tr -d '\n' <table | tr -dc '\001-\037' | wc -c)" = 0
check 'question marks' grep -q 'red?\[31m.smtx' table
tune "$spec" "$red" "$latin" --n 24 --json >lines 2>err
check 'a line each' test "$(wc -l <lines)" = 2
check 'UTF-8' grep -q '"matrix": "caf?.smtx"' lines
rm -f records.jsonl

# Without a place for records nothing is measured; a failure leaves no empty file
expect 1 'no place for records: --records, MCGEN_RECORDS, XDG_DATA_HOME and HOME name none' env -u MCGEN_RECORDS -u XDG_DATA_HOME -u HOME "$mcrun" tune "$spec" m.smtx --n 16 --device sim --candidates 3
tune "$spec" large.smtx --n 512 --seconds 0.000001 >table 2>&1
check 'no file of records' test ! -e records.jsonl
tune "$spec" missing.smtx --n 16 >table 2>&1
check 'no file of records' test ! -e records.jsonl

# A table, a line a problem; the records are there for the next one, which measures nothing, but --again does, and --cold is another problem
expect 0 'N 32' tune "$spec" m.smtx --n 16,32
check 'both are tuned' test "$(grep -c ' tuned  ' "$work/stdout")" = 2
check 'the fields are told' grep -q 'spmm_l8r8.lua  stride=' "$work/stdout"
check 'costs are instructions' grep -q 'default instructions     best instructions    gain' "$work/stdout"
check 'no microseconds' test "$(grep -cw us "$work/stdout")" = 0
check 'two records' test "$(records)" = 2
expect 0 'known           0' tune "$spec" m.smtx --n 16,32
check 'nothing was measured' test "$(grep -c ' known           0 ' "$work/stdout")" = 2
check 'the fields are told from the record' grep -q 'spmm_l8r8.lua  stride=' "$work/stdout"
expect 0 ' tuned  ' tune "$spec" m.smtx --n 16 --again
expect 0 ' tuned  ' tune "$spec" m.smtx --n 16 --cold
expect 0 'known           0' tune "$spec" m.smtx --n 16 --cold
expect 0 'tuned  ' tune --op spmm --lhs s8 --rhs s8 --vec 8 m.smtx --n 16 --candidates 1
expect 0 'tuned  ' tune --op spmm --lhs f16 --rhs f16 --out f16 --vec 8 m.smtx --n 16 --candidates 1
expect 0 'spmm' tune --op spmm --lhs s16 --rhs s16 --vec 8 m.smtx --n 16 --dry-run

# B by columns. Kernels that read it so are measured where their spec is named, else those that read rows; a plan
# has both records to go by
columns=(large.smtx --n 64 --b-major column --records columns.jsonl)
usual=(--op spmm --lhs s8 --rhs s8 --out f16 --vec 8 --set scale=row --set c_major=column)
expect 0 'spmm_l8r8_expand.lua' tune "$specs/spmm_l8r8_expand.lua" "${columns[@]}" --candidates 1
expect 0 'tuned  ' tune "${usual[@]}" "${columns[@]}" --candidates 1
check 'two records' test "$(grep -c . columns.jsonl)" = 2
check 'one by columns' test "$(grep -c '"b_major":"column"' columns.jsonl)" = 1
expect 0 'measured: the fastest in the record of this problem' "$mcrun" plan --device sim "${usual[@]}" "${columns[@]}"
expect 0 'measured: the fastest in the record of this problem' "$mcrun" plan --device sim "$specs/spmm_l8r8_expand.lua" "${columns[@]}"
check 'nothing is transposed' test "$(grep -c '^transpose' "$work/stdout")" = 0
tune "$specs/sddmm_l8r8.lua" m.smtx --k 64 --b-major column >table 2>&1
check 'an SDDMM has no b_major' grep -q 'failed    b_major is set, which only an SpMM has' table

tune "$specs/spmm_l8r8_f16.lua" m.smtx m.mtx --json >lines 2>err || complain 'tune --json failed'
head -1 lines >first.json
tail -1 lines >second.json
check 'two lines' test "$(grep -c . lines)" = 2
json first.json verdict tuned
json first.json problem.matrix m.smtx
json first.json problem.m 40
json first.json problem.n 256
json first.json wrong 0
json first.json spec spmm_l8r8_f16.lua
json second.json problem.m 16
check 'nothing of the progress in what is no terminal' test ! -s err
check 'the whole fields are there' test -n "$("$json_get" first.json fields | grep 'out=f16 scale=row')"
check 'no microseconds in JSON' test "$(grep -c '_us"' first.json)" = 0
expect 0 ' instructions  best of ' "$mcrun" records list --gpu simulator
"$mcrun" records list --gpu simulator --json >records.json
check 'records list: instructions' test "$("$json_get" records.json 0.instructions)" = "$("$json_get" records.json 0.candidates.0.2)"
check 'records list: no microseconds' test "$(grep -c '"us"' records.json)" = 0
check 'the file has its schema' grep -q '"schema":1.*"us":' records.jsonl
# Matrices without vectors: a later plan takes the record, by the spec and by all of them, and so does a run
"$mcrun" matrix-gen --law power --rows 90 --cols 90 --degree 5 -o graph.mtx || exit 1
for single in 'spmm spmm_csr_f16 f16 f16 n' 'spmm spmm_csr_tf32 tf32 f32 n' 'spmm spmm_csr_f32 f32 f32 n' 'spmm spmm_csr_f32_vector f32 f32 n' 'sddmm sddmm_panels_f16 f16 f16 k'; do
    read -r op name type out size <<<"$single"
    length=64
    [ "$name" = spmm_csr_f32_vector ] && length=1
    expect 0 ' tuned  ' tune "$specs/$name.lua" graph.mtx --$size $length
    expect 0 'why        measured' "$mcrun" plan "$specs/$name.lua" graph.mtx --$size $length --device sim
    expect 0 'why        measured' "$mcrun" plan --op $op --lhs $type --rhs $type --out $out --vec 1 graph.mtx --$size $length --device sim
    expect 0 'recorded ' "$mcrun" $op "$specs/$name.lua" graph.mtx --$size $length --device sim --variants tuned
    expect 0 'known           0' tune "$specs/$name.lua" graph.mtx --$size $length
done
# A worker finds what this process finds
tune "$spec" m.smtx --n 72 --json >worker.json
tune "$spec" m.smtx --n 72 --json --again --in-process >own.json
for member in fields tuned best_instructions default_instructions measured; do
    check "$member differs" test -n "$("$json_get" worker.json $member)"
    check "$member differs" test "$("$json_get" worker.json $member)" = "$("$json_get" own.json $member)"
done
check 'what was measured is recorded' grep -q '"recorded": true' own.json
# A file of records that takes nothing more
full=$(trap '' XFSZ; ulimit -f 0; tune "$spec" m.smtx --n 80 --json --in-process 2>&1; echo "exit status $?")
check 'it is tuned, not recorded, and said' grep -q '"recorded": false.*records of 1 problem could not be written.*exit status 1' <<<"${full//$'\n'/ }"
# The SDDMM, open shapes, a matrix in a published format, another type
expect 0 ' tuned  ' tune "$specs/sddmm_l8r8.lua" m.smtx --k 64
expect 0 ' tuned  ' tune "$specs/sddmm_l8r8.lua" m.smtx --k 64 --set out=f16 --set scale=tensor --set mask=values --set order=srbcrs16
expect 0 ' tuned  ' tune "$spec" m.smtx --n 16 --open
"$mcrun" pack "$spec" m.smtx --format bcrs --out packed >/dev/null || complain 'pack failed'
expect 0 ' tuned  ' tune "$spec" packed --n 24
expect 0 ' tuned  ' tune --in-process --vec 2 --set lhs=u4 "$spec" m.smtx --n 8
expect 0 'spmm_l8r8_tiled.lua' tune "$spec" "$specs/spmm_l8r8_tiled.lua" m.smtx --n 64 --dry-run --candidates 1000 --set out=s32 --set scale=none
expect 0 ' tuned  ' tune m.smtx "$spec" "$specs/spmm_l8r8_f16.lua" --n 8 --set out=f16 --set scale=row

# --dry-run runs nothing and records nothing
before=$(records)
expect 0 '(default)' tune "$spec" m.smtx --n 40 --dry-run --candidates 1000
check 'a candidate a line, the best first' test "$(sed -n 1p "$work/stdout" | cut -c39-51)" != "$(sed -n '$p' "$work/stdout" | cut -c39-51)"
tune "$spec" m.smtx --n 40 --dry-run --json | head -1 >dry.json
json dry.json spec spmm_l8r8.lua
json dry.json problem.n 40
check 'no new record' test "$(records)" = "$before"

# --shapes
cat >shapes.txt <<END
# rows columns sparsity sizes
  64   128     0.9      16,32
40     90      .5       8      cv=0.1 seed=7   # seed by hand

END
expect 0 'shapes.txt:3' tune "$spec" --shapes shapes.txt
check 'three problems' test "$(grep -c ' tuned  ' "$work/stdout")" = 3
expect 0 'known           0' tune "$spec" --shapes shapes.txt
expect 0 ' tuned  ' tune "$spec" --shapes shapes.txt --seed 5
check 'a line that says its seed stays' test "$(grep -c 'known           0' "$work/stdout")" = 1
refuse() { printf '%b' "$1" >bad.txt; expect 1 "bad.txt:$2" tune "$spec" --shapes bad.txt; }
refuse '64 128 0.9 16\n65 128 0.9 16\n' '2: the number of rows, 65, is not a multiple of vec = 8'
refuse '64 128 1.5 16' "1: the sparsity is out of range: '1.5' is not in 0 to 1"
refuse '64 128 dense 16' "1: the sparsity must be a number, not 'dense'"
refuse '64 128 0.9' '1: the file ends where a size must be'
refuse '# sizes\n64 128 0.9 16,\n' '2: the line ends where a size must be'
refuse '64 128 0.9 16,0' "1: a size is out of range: '0'"
refuse '64 -1 0.9 16' '1: the number of columns is negative'
refuse '64 128 0.9 16 16' "1: '16': only seed=S and cv=X may follow"
refuse '64 128 0.9 16 cv=9' "1: cv is out of range: '9' is not in 0 to 4"
refuse '# nothing\n' '2: there is no shape'
refuse '' '1: the file is empty'
expect 1 'absent.txt' tune "$spec" --shapes absent.txt
expect 2 'with --shapes, sizes are in the file' tune "$spec" --shapes shapes.txt --n 8
expect 2 "wants either a MATRIX or --shapes: 'm.smtx'" tune "$spec" m.smtx --shapes shapes.txt

# What makes no sense
expect 2 'wants a MATRIX, or --shapes' tune "$spec"
expect 1 'no spec says how many products a batch has' tune "$spec" m.smtx --set batch=on
expect 2 'wants a SPEC, or --op, --lhs, --rhs and --vec' tune m.smtx
expect 2 'without a SPEC --rhs is missing' tune m.smtx --op spmm --lhs s8 --vec 8
expect 2 'without a SPEC --out is missing' tune --op quantise --lhs f16 --shapes tokens.txt
expect 2 '--op goes without a SPEC' tune "$spec" m.smtx --op spmm
expect 2 '--set tile_n: only fields that say what is computed' tune "$spec" m.smtx --set tile_n=64
expect 2 '--set order: only fields' tune "$spec" m.smtx --set order=paper
expect 2 "--n: '16,x' is no list of sizes" tune "$spec" m.smtx --n 16,x
expect 2 "--n: '' is no list" tune "$spec" m.smtx --n ''
expect 2 'an SpMM is tuned for sizes --n' tune "$spec" m.smtx --k 16
expect 2 'an SDDMM is tuned for sizes --k' tune "$specs/sddmm_l8r8.lua" m.smtx --n 16
expect 2 'rhs is "s4", the first spec' tune "$spec" "$specs/spmm_l8r4.lua" m.smtx
expect 2 '--worker and --in-process exclude' tune "$spec" m.smtx --worker x --in-process
expect 2 '--dilate and --union exclude' tune "$spec" m.smtx --dilate --union
expect 2 "tune-worker: takes no arguments" "$mcrun" tune-worker x
expect 1 'absent.smtx' tune "$spec" absent.smtx
expect 1 'absent.lua' tune absent.lua m.smtx
mkdir directory
expect 1 'records could not be appended' tune "$spec" m.smtx --records directory
expect 1 '/proc/none: No such file or directory: records could not be appended' tune "$spec" m.smtx --records /proc/none/records.jsonl
# A problem that cannot be tuned is a line, and the exit status tells; the others are tuned
tune "$spec" m.smtx --n 8,12 --set ldb=11 >table 2>err
check 'exit 1' test $? = 1
check 'the second one failed' grep -q 'N 12 .*failed .*ldb is 11' table
check 'the first one is tuned' grep -q 'N 8 .*tuned' table
check 'it is said' grep -q '1 of 2 problems could not be tuned' err

tune "$spec" large.smtx --n 512 --seconds 0.000001 >table 2>err
check 'no time, no record: exit 1' test $? = 1
check 'what to do is told' grep -q 'N 512 .*failed .*no kernel was measured: 1e-06 seconds are too few' table

printf '3, 4, 2\n0 1 2 2\n9 0\n' >malformed.smtx
tune "$spec" malformed.smtx packed m.smtx --vec 4 --n 8 --json >lines 2>err
check 'exit 1' test $? = 1
head -1 lines >first.json
sed -n 2p lines >second.json
json first.json verdict failed
check 'the malformed one has its place' grep -q 'malformed.smtx:3: a column index is out of range' first.json
check 'the wrong vec is told' grep -q 'packed holds vectors of 8 elements' second.json
check 'the third one is tuned' test "$(sed -n 3p lines | grep -c '"verdict": "tuned"')" = 1
check 'all is said' grep -q '2 of 3 problems could not be tuned' err

# A worker that is none: in this process, and said
expect 0 'tuning in this process: /nonexistent: No such file' tune "$spec" m.smtx --n 48 --worker /nonexistent
check 'tuned all the same' grep -q ' tuned ' "$work/stdout"
# A worker starts none
MCGEN_TUNE_WORKER=1 expect 0 ' tuned  ' tune "$spec" m.smtx --n 48 --again --worker /nonexistent
check 'a worker tunes by itself' test ! -s "$work/stderr"
MCGEN_TUNER=/bin/true expect 0 ' tuned  ' tune "$spec" m.smtx --n 48 --again --in-process
check 'in-process is no matter of MCGEN_TUNER' test ! -s "$work/stderr"

# Ends
await() { for _ in $(seq 300); do if "$@" >/dev/null 2>&1; then return 0; fi; sleep 0.05; done; complain "never: $*"; }
child() { # of tuner $1: its worker
    local pid
    for pid in $(cat "/proc/$1/task/$1/children" 2>&-); do
        if grep -qa tune-worker "/proc/$pid/cmdline" 2>&-; then echo "$pid"; return 0; fi
    done
    return 1
}
slow=("$mcrun" tune --device sim "$spec" large.smtx --n 512 --records ends.jsonl)
# The worker dies, ready or not: the tuning goes on, and can be stopped
gone() { ! kill -0 "$worker" 2>&-; }
"${slow[@]}" >table 2>err & tuner=$!
await child $tuner
worker=$(child $tuner)
kill -SEGV "$worker"
await gone
sleep 0.2
kill -TERM $tuner
wait $tuner
check "stopped, not $?" test $? = 1
check 'stopped, and not ended' grep -q 'mcrun: stopped: 0 of 1 problems' err
# The tuner is killed while its worker stands still: neither is left
set -m
rm -f ends.jsonl
"${slow[@]}" >table 2>err & tuner=$!
set +m
await child $tuner
worker=$(child $tuner)
kill -STOP "$worker"
group() { cut -d' ' -f5 "/proc/$1/stat"; }
check 'a process group of its own: Ctrl-C is not for the worker' test "$(group "$worker")" = "$worker"
kill -INT $tuner
sleep 0.2
check 'the first Ctrl-C waits for the worker' kill -0 $tuner
kill -INT $tuner
wait $tuner
check "the second one ends it: $?" test $? = 130
await gone
# A terminal's Ctrl-C: the line on it is rewritten, and what is known is kept
if command -v script >/dev/null; then
    rm -f ends.jsonl
    mkfifo keys
    echo "exec '$mcrun' tune --device sim '$spec' large.smtx m.smtx --n 512 --records ends.jsonl" >command
    set -m # without job control what runs in the background ignores SIGINT; no shell stays between that would end by it
    script -qefc "exec bash command" screen <keys >/dev/null &
    terminal=$!
    set +m
    exec 7>keys
    await grep -q 'best' screen
    printf '\003' >&7
    wait $terminal
    check "a stopped tuning exits with 1, not $?" test $? = 1
    exec 7>&-
    check 'instructions' grep -qa ', best [0-9]* instructions' screen
    check 'the line is rewritten' grep -qa $'\r\e\[K1 of 2  large.smtx N 512: verify [0-9]* of ' screen
    check 'the stopped one has its line' grep -qa 'large.smtx .* stopped ' screen
    check 'it is said what was kept' grep -qa 'stopped: 0 of 2 problems are tuned, of 1 more the best so far is kept; records: .*/ends.jsonl' screen
    check 'one record' test "$(grep -c . ends.jsonl)" = 1
    expect 0 'spmm' "$mcrun" records list --records ends.jsonl
fi
finish
