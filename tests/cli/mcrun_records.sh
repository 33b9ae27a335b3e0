#!/bin/bash
# mcrun records: what it prints, and that no line is lost. Arguments: mcrun, the source directory, json_get.
mcrun=$1 get=$3
source "$2/tests/expect.sh"
export HOME=$work/home
unset MCGEN_RECORDS XDG_DATA_HOME
cd "$work" || exit 1

# record M MICROSECONDS HASH TIME: a line.
record() {
    printf '{"schema":1,"gpu":"NVIDIA H200","problem":{"op":"spmm","lhs":"s8","rhs":"s8","out":"f16","scale":"row","align":16,"vec":8,'
    printf '"m":%d,"n":256,"k":512,"ldb":256,"ldc":256,"vectors":1000,"lengths":[1,2,3,4,5],"spread":1.5},' "$1"
    printf '"cold":false,"generator":"0123456789abcdef","driver":"580.95.05","capability":90,"time":%d,"us":%s,' "$4" "$2"
    printf '"spec":"spmm_l8r8.lua","fields":"op=spmm arch=sm_90 tile_n=64","candidates":[["%s","timed",%s]]}\n' "$3" "$2"
}

# Words, operands, options.
expect 2 "wants list|export|import|merge" "$mcrun" records
expect 2 "records: 'print' is not one of list|export|import|merge" "$mcrun" records print
expect 2 "records export: wants --out FILE" "$mcrun" records export
expect 2 "records export: takes no files" "$mcrun" records export a.jsonl --out b.jsonl
expect 2 "records import: wants files" "$mcrun" records import
expect 2 "records list: writes no --out" "$mcrun" records list --out b.jsonl
expect 2 "--shipped goes with export" "$mcrun" records list --shipped
expect 0 "" "$mcrun" records list
expect 1 "a.jsonl: No such file or directory" "$mcrun" records list a.jsonl

# Two files, of which one has a line that is none.
{ record 512 2.5 00000000000000aa 100; record 1024 4 00000000000000bb 100; } >a.jsonl
{ record 512 2.25 00000000000000cc 90; echo '{"schema":1}'; record 2048 9 00000000000000dd 90; } >b.jsonl
expect 0 "2.500 us  best of 1  generator 0123456789abcdef  spmm_l8r8.lua" "$mcrun" records list a.jsonl
expect 0 "NVIDIA H200  spmm s8 x s8 -> f16, vec 8, m 1024 n 256 k 512, 1000 vectors" "$mcrun" records list a.jsonl
expect 0 "mcrun: b.jsonl:2: passed over: gpu is missing" "$mcrun" records list b.jsonl
expect 0 "3 records written to out.jsonl" "$mcrun" records merge a.jsonl b.jsonl --out out.jsonl
check "three lines" test "$(wc -l <out.jsonl)" = 3
expect 0 "3 records written to again.jsonl" "$mcrun" records merge b.jsonl out.jsonl a.jsonl --out again.jsonl
check "the same, in any order" cmp out.jsonl again.jsonl
"$mcrun" records list --json out.jsonl >out.json
check "both candidates of one problem" test "$("$get" out.json 2.candidates.1.0)" = 00000000000000aa
check "the faster one is taken" test "$("$get" out.json 2.us)" = 2.2500

sed 's/tile_n=64/tile_x=64/' a.jsonl >gone.jsonl
expect 0 "best of 1  generator 0123456789abcdef, whose kernel is no more  spmm_l8r8.lua" "$mcrun" records list gone.jsonl

# Filters
lists() { # WANT OPTION...: so many records of out.jsonl
    local want=$1 got
    shift
    got=$("$mcrun" records list out.jsonl "$@" | grep -c 'NVIDIA')
    check "$*: $got records, want $want" test "$got" = "$want"
}
lists 3
lists 3 --op spmm --lhs s8 --rhs s8 --vec 8 --n 256 --k 512
lists 0 --op sddmm
lists 1 --m 512
lists 2 --m 512,1024
lists 0 --m 512 --n 128
lists 3 --gpu h200
lists 0 --gpu simulator
lists 3 --spec spmm_l8r8
lists 3 --spec spmm_l8r8.lua
lists 0 --spec spmm
lists 3 --where out=f16 --where scale=row
lists 0 --where out=f16,bf16 --where scale=column
lists 3 --where out=f16,bf16 --where shapes=fixed
lists 0 --cold
check "nothing is an empty list" test "$("$mcrun" records list out.jsonl --op sddmm --json)" = '[]'
"$mcrun" records list out.jsonl --m 2048 --json >one.json
check "the filter counts in JSON" test "$("$get" one.json 0.problem.m)" = 2048
expect 2 "records: lhs: 's7' is not one of s8, u8" "$mcrun" records list --lhs s7
expect 2 "records: m: 'x' is not a number" "$mcrun" records list --m x
expect 2 "records: n: '8,' is not a number" "$mcrun" records list --n 8,
expect 2 "records: --where: no problem has a member 'tile_n'" "$mcrun" records list --where tile_n=64
expect 2 "--where: 'out' is not field=value" "$mcrun" records list --where out
expect 2 "records export: filters go with list" "$mcrun" records export --out x.jsonl --op spmm
expect 0 "shipped NVIDIA H200  spmm s8 x s8 -> f16" "$mcrun" records list --op spmm --gpu h200 --where out=f16

# To ship: the fastest ones alone.
expect 0 "3 records written to brief.jsonl" "$mcrun" records merge out.jsonl --brief --out brief.jsonl
"$mcrun" records list --json brief.jsonl >brief.json
check "the chosen kernel" test "$("$get" brief.json 2.us)" = 2.2500
expect 2 "records: --brief goes with export and merge" "$mcrun" records list --brief out.jsonl

# Measured again by the next generator: the earlier record goes, that of another problem stays.
record 512 9 00000000000000ee 200 | sed 's/0123456789abcdef/fedcba9876543210/' >next.jsonl
expect 0 "4 records written to both.jsonl" "$mcrun" records merge out.jsonl next.jsonl --out both.jsonl
expect 0 "3 records written to latest.jsonl" "$mcrun" records merge out.jsonl next.jsonl --latest --out latest.jsonl
check "the later generator's, though slower" grep -q '"m":512.*fedcba9876543210.*"us":9,' latest.jsonl
check "the earlier one's is gone" test "$(grep -c '"m":512' latest.jsonl)" = 1
check "others stay" test "$(grep -c 0123456789abcdef latest.jsonl)" = 2
expect 2 "records: --latest goes with export and merge" "$mcrun" records list --latest out.jsonl
sed 's/"time":200/"time":100/' next.jsonl >even.jsonl
expect 0 "3 records written to even.out" "$mcrun" records merge even.jsonl out.jsonl --latest --out even.out

# One's own file: made with its folders, for nobody else.
expect 0 "3 records new or better, added to $HOME/.local/share/mcgen/records.jsonl" "$mcrun" records import out.jsonl
expect 0 "0 records new or better" "$mcrun" records import a.jsonl b.jsonl
check "mode 600" test "$(stat -c %a "$HOME/.local/share/mcgen/records.jsonl")" = 600
check "mode 700" test "$(stat -c %a "$HOME/.local/share/mcgen")" = 700
expect 0 "own     NVIDIA H200" "$mcrun" records list
expect 0 "3 records written to exported.jsonl" "$mcrun" records export --out exported.jsonl
check "export and merge agree" cmp out.jsonl exported.jsonl
expect 0 "\"records\": 2" "$mcrun" records import --json --records mine.jsonl a.jsonl

# Nowhere to put them.
expect 1 "no place for records" env -u HOME "$mcrun" records import a.jsonl
expect 1 "/proc/nowhere" "$mcrun" records import --records /proc/nowhere/r.jsonl a.jsonl
expect 1 "/proc/nowhere" "$mcrun" records merge a.jsonl --out /proc/nowhere/r.jsonl
MCGEN_RECORDS=$work/named.jsonl expect 0 "added to $work/named.jsonl" "$mcrun" records import a.jsonl
finish
