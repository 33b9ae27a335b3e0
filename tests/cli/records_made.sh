#!/bin/bash
# tools/records, on the simulator: every problem of a list is measured, and what was not measured stays.
# Arguments: mcrun, the source directory.
mcrun=$1 source=$2
source "$source/tests/expect.sh"
export HOME=$work
cd "$work" || exit 1
mkdir matrices
for i in 1 2 3; do "$mcrun" matrix-gen --m 64 --vec 8 --cols 64 --sparsity 0.8 --seed $i -o matrices/$i.smtx >/dev/null; done
options='--op spmm --vec 8 --lhs s8 --rhs s8 --out f16 --set scale=row'
printf '# rows columns sparsity n\n64 64 0.8 8,16\n32 64 0.5 8\n' >small.shapes
printf '# %s\n\nsmall.shapes %s\nmatrices/[12].smtx %s --n 16\n' comment "$options" "$options" >list
make() { # LIST OLD OUT DEVICE...
    "$source/tools/records" "$mcrun" "$1" . "$2" "${@:3}" -- --candidates 1 --in-process
}

expect 0 "5 records written to first/measured.jsonl" make list none.jsonl first sim sim:reversed
check "all of them are shipped" test "$(wc -l <first/shipped.jsonl)" = 5
check "both devices took part" test -s first/sim.jsonl -a -s first/simreversed.jsonl

# One problem of the earlier records is measured again; a generator before this one made the others.
sed 's/"generator":"[0-9a-f]*"/"generator":"0123456789abcdef"/; s/"time":[0-9]*/"time":1/' first/measured.jsonl >old.jsonl
cp old.jsonl kept.jsonl
printf 'matrices/1.smtx %s --n 16\n' "$options" >one
expect 0 "1 records written to second/measured.jsonl" make one old.jsonl second sim
check "no problem is lost" test "$(wc -l <second/shipped.jsonl)" = 5
check "one record is new" test "$(grep -vc 0123456789abcdef second/shipped.jsonl)" = 1
check "the old records are left alone" cmp old.jsonl kept.jsonl

# What goes wrong
expect 1 "not every problem was measured" make list none.jsonl failed sim:nonsense
printf 'matrices/1.smtx --op spmm\n' >bad
expect 1 "not every problem was measured" make bad old.jsonl bad.out sim
check "the earlier records stay" test "$(wc -l <bad.out/shipped.jsonl)" = 5
expect 1 "first" make list none.jsonl first sim
printf 'matrices/x*.smtx %s\n' "$options" >bad
expect 1 "no matrices/x*.smtx" make bad none.jsonl absent sim
expect 2 "MCRUN LIST DATA RECORDS OUT DEVICE" "$source/tools/records" "$mcrun" list

# The project's own list: each line is one that `mcrun tune` takes.
while read -r files line; do
    case $files in '' | '#'*) continue ;; *.shapes) files=$source/records/problems/$files ;; *) files= ;; esac
    if [ -n "$files" ]; then expect 0 "" "$mcrun" tune $line --shapes "$files" --dry-run
    else expect 0 "" "$mcrun" tune $line matrices/1.smtx --dry-run; fi
done <"$source/records/problems/list"
finish
