#!/bin/bash
# mcrun matrix-gen, matrix-info, devices. Arguments: mcrun, the source directory, json_get.
mcrun=$1 json_get=$3
source "$2/tests/expect.sh"
cd "$work" || exit 1

# json FILE PATH WANT
json() { check "$1: $2 is $("$json_get" "$1" "$2"), want $3" test "$("$json_get" "$1" "$2")" = "$3"; }

check 'matrix-gen -o' "$mcrun" matrix-gen --rows 40 --cols 500 --sparsity 0.9 --seed 5 -o m.smtx
"$mcrun" matrix-gen --m 320 --vec 8 --cols 500 --sparsity 0.9 --seed 5 >same.smtx
check 'standard output, and --m with --vec, give the same file' cmp m.smtx same.smtx
"$mcrun" matrix-gen --rows 40 --cols 500 --sparsity 0.9 --seed 6 -o other.smtx
check 'another seed gives another matrix' test "$(cksum <m.smtx)" != "$(cksum <other.smtx)"
echo kept >appended.smtx
"$mcrun" matrix-gen --rows 1 --cols 1 --sparsity 0 >>appended.smtx
check 'standard output is appended to' test "$(head -1 appended.smtx)" = kept
"$mcrun" matrix-gen --m 512 --vec 8 --cols 512 --sparsity 0.8 --law band --band 64 -o band.smtx || exit 1
expect 0 '6606, sparsity 0.7984' "$mcrun" matrix-info band.smtx
expect 2 'sparsity is 0.9: a band of 64 columns leaves' "$mcrun" matrix-gen --m 512 --vec 8 --cols 512 --sparsity 0.9 --law band --band 64
check 'matrix-gen --law' "$mcrun" matrix-gen --rows 64 --cols 4000 --sparsity 0.9 --law realistic --cv 0.4 -o real.smtx

# Each law of graphs and meshes, told apart by what it makes; the same as .mtx
while read -r facts law; do
    "$mcrun" matrix-gen --law $law -o law.smtx || fail "matrix-gen --law $law"
    expect 0 "${facts//_/ }" "$mcrun" matrix-info law.smtx
    "$mcrun" matrix-gen --law $law -o law.mtx
    # A .smtx of the .mtx: rows and columns of its lines, counted from 0
    awk 'NR == 2 { rows = $1; printf "%d, %d, %d\n0", $1, $2, $3 } NR > 2 { length_of[$1]++; columns = columns " " $2 - 1 }
        END { for (i = 1; i <= rows; i++) printf " %d", sum += length_of[i]; print "\n" substr(columns, 2) }' law.mtx >back.smtx
    check "--law $law as .mtx" cmp law.smtx back.smtx
done <<'END'
nonzeros_____1793, power --rows 300 --cols 200 --degree 6
row_length___1_to_12, bipartite --rows 300 --cols 900 --degree 6 --exponent 2
row_length___4_to_9, mesh --grid 9x5
row_length___12_to_21, mesh --grid 4x5x6 --dof 3 --stencil star
shape________360_x_360 mesh --grid 4x5x6 --dof 3
nonzeros_____2048, blocks --rows 64 --cols 128 --sparsity 0.75
nonzeros_____144, blocks --rows 12 --cols 12 --sparsity 0 --block 5x7
nonzeros_____800, heavy --rows 101 --cols 500 --degree 4
row_length___0_to_13, band --rows 500 --cols 500 --band 30 --fill 0.2
END
"$mcrun" matrix-gen --law band --rows 50 --cols 50 --fill 0 -o law.smtx
expect 0 'nonzeros     0,' "$mcrun" matrix-info law.smtx
expect 1 'Is a directory' "$mcrun" matrix-gen --law mesh --grid 3x3 -o /

# Facts of a matrix that was counted by hand: rows of 3, 0, 1, 2 in 8 columns
printf '4, 8, 6\n0 3 3 4 6\n0 2 4 2 2 7\n' >hand.smtx
"$mcrun" matrix-info hand.smtx --vec 2 --json >hand.json
while read -r path want; do json hand.json "$path" "$want"; done <<'END'
rows 4
cols 8
nonzeros 6
sparsity 0.8125
row_length.min 0
row_length.max 3
row_length.mean 1.5000
row_length.cv 0.7454
row_length.empty 1
union.vec 2
union.vectors 5
union.fill 0.6000
union.slots 64
union.padding 0.9219
summed 0
panels.0.rows 8
panels.0.columns 4
panels.1.rows 16
panels.1.panels 1
panels.1.most_columns 4
panels.1.reuse 1.5000
hrpb.0.rows 16
hrpb.0.bricks 1
hrpb.0.alpha 0.0938
hrpb.0.intensity 48.0000
hrpb.0.load 1.0000
hrpb.0.synergy low
hrpb.2.rows 64
hrpb.2.beta 1.0000
END
expect 0 'panels of  8  1 with 4 columns, at most 4 in one; 1.50 nonzeros a column' "$mcrun" matrix-info hand.smtx
expect 0 'HRPB         1 bricks of 16 x 4, alpha 0.0938, OI 48.0, synergy low' "$mcrun" matrix-info hand.smtx
"$mcrun" matrix-gen --law heavy --rows 1000 --cols 900000 --degree 1 -o thin.smtx
expect 0 'nonzeros     1998, sparsity 0.99999778' "$mcrun" matrix-info thin.smtx
"$mcrun" matrix-gen --law mesh --grid 6x6x6 --dof 3 -o beam.smtx
expect 0 'OI 207.1, synergy high' "$mcrun" matrix-info beam.smtx
# Each nonzero a vector, as mcrun spmm reads the file; and what a dense array has of vectors
expect 0 'vectors      6 of 2 x 1, fill 1.0000' "$mcrun" matrix-info hand.smtx --vec 2 --dilate
expect 2 'matrix-info: --dilate goes with --vec' "$mcrun" matrix-info hand.smtx --dilate
"$mcrun" matrix-info hand.smtx --vec 2 --dilate --json >dilated.json
json dilated.json dilated.vectors 6
expect 0 'nonzeros     3, sparsity 0.6667' "$mcrun" matrix-info "$2/tests/cli/eye3.npy"
expect 0 'not vector-sparse: 2.0 values stand there for each nonzero' "$mcrun" matrix-info "$2/tests/cli/eye3.npy" --vec 2
expect 0 'row length   0 to 3, mean 1.50, cv 0.745, 1 rows empty' "$mcrun" matrix-info hand.smtx
expect 0 'vectors      5 of 2 x 1, fill 0.6000' "$mcrun" matrix-info hand.smtx --vec 2
"$mcrun" matrix-info hand.smtx --json >plain.json
check 'no vectors without --vec' test "$("$json_get" plain.json union)" = 'no such value'
printf '0, 0, 0\n0\n\n' >empty.smtx
expect 0 'shape        0 x 0' "$mcrun" matrix-info empty.smtx --vec 8
expect 0 '0 blocks of 16 columns, the fullest panel has 0, 0.00 of the mean' "$mcrun" matrix-info empty.smtx

# One matrix in five ways: symmetric and compressed, with entries to add up, or all of it told; as arrays
printf '%%%%MatrixMarket matrix coordinate real symmetric\n%% c\n3 3 4\n1 1 0.5\n3 1 -2\n3 1 -1\n3 2 8\n' | gzip -n >half.mtx.gz
printf '%%%%MatrixMarket matrix coordinate integer general\r\n3 3 5\r\n1 3 -3\r\n2 3 8\r\n3 1 -3\r\n3 2 8\r\n1 1 1\r\n' | sed 's/1 1 1/1 1 .5/; s/integer/real/' >all.mtx
printf '%%%%MatrixMarket matrix array real symmetric\n3 3\n.5\n0\n-3\n0\n8\n0\n' >array.mtx
for file in half.mtx.gz all.mtx array.mtx; do
    expect 0 "A of $file" "$mcrun" spmm "$2/specs/spmm_f16.lua" "$file" --vec 1 --n 8 --device sim --out "$file.npy"
    check "$file: the same product" cmp "$file.npy" half.mtx.gz.npy
done
expect 0 'nonzeros     5, sparsity 0.4444' "$mcrun" matrix-info half.mtx.gz
expect 0 '1 entries added to others in their place' "$mcrun" matrix-info half.mtx.gz
gzip -kn hand.smtx
expect 0 'vectors    6 of 8 x 1' "$mcrun" spmm "$2/specs/spmm_l8r8.lua" hand.smtx.gz --n 8 --device sim
head -c 40 hand.smtx.gz >short.smtx.gz
expect 1 'short.smtx.gz: the compressed bytes end early' "$mcrun" matrix-info short.smtx.gz

"$mcrun" matrix-info real.smtx --json >real.json
check 'the realistic law varies row lengths' test "$("$json_get" real.json row_length.cv | tr -d .)" -gt 02000

# Full disks
expect 1 'No space left' "$mcrun" matrix-gen --rows 4 --cols 4 --sparsity 0 -o /dev/full
expect 1 'absent/m.smtx' "$mcrun" matrix-gen --rows 4 --cols 4 --sparsity 0 -o absent/m.smtx
for command in 'matrix-gen --rows 4 --cols 4 --sparsity 0' 'matrix-info hand.smtx --json' 'devices' '--help'; do
    "$mcrun" $command >/dev/full 2>err
    check "$command > /dev/full fails" test $? = 1
    check "$command > /dev/full says why" grep -q 'mcrun: standard output: No space left' err
done

"$mcrun" devices --json >devices.json
json devices.json 0.device sim
json devices.json 0.name 'PTX simulator'
expect 0 'PTX simulator' "$mcrun" devices
finish
