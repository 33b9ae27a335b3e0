#!/bin/bash
# mcrun optimise on the simulator. Arguments: mcrun, the source directory.
mcrun=$1 specs=$2/specs
source "$2/tests/expect.sh"
cd "$work" || exit 1
export XDG_DATA_HOME=$work XDG_CACHE_HOME=$work
sgd() { "$mcrun" optimise "$specs/optimise_sgd.lua" --device sim "$@"; }
adam() { "$mcrun" optimise "$specs/optimise_adam.lua" --device sim "$@"; }

expect 0 'usage: mcrun optimise SPEC' "$mcrun" optimise --help
expect 0 'hyper: f32, 8 of them (random)' "$mcrun" optimise --help
expect 0 'write here what second becomes' "$mcrun" optimise --help
expect 0 'verdict    exact' sgd --m 33 --n 8
expect 0 'verdict    exact' adam --m 1 --n 1000 --repeat 2
expect 0 'verdict    exact' adam --m 17 --n 8 --specialise
expect 0 'G random, hyper random, master random, first random, second random, W random' adam --m 4 --n 8
expect 0 '"verdict": "exact"' sgd --m 16 --n 8 --set rule=nesterov --set align=1 --json
expect 0 'exact' sgd --m 300 --n 8 --variants all --set warps=4,8
expect 0 'exact' "$mcrun" optimise "$specs/optimise_adam.lua" --m 30 --n 8 --device sim:reversed --variants best

# Two steps: what the first one leaves is what the second one begins with. Files of what a kernel has not are refused.
expect 0 'exact' adam --m 20 --n 8 --out w.npy --out-master a.npy --out-first m.npy --out-second v.npy
check 'w.npy is 20 x 8 of f16' grep -aqF "'descr': '<f2', 'fortran_order': False, 'shape': (20, 8)" w.npy
check 'v.npy is 20 x 8 of f32' grep -aqF "'descr': '<f4', 'fortran_order': False, 'shape': (20, 8)" v.npy
expect 0 'master of a.npy' adam --m 20 --n 8 --w w.npy --master a.npy --first m.npy --second v.npy --out w2.npy --out-second v2.npy
check 'a step changes the weight' sh -c '! cmp -s w.npy w2.npy'
check 'and the moments' sh -c '! cmp -s v.npy v2.npy'
expect 0 'exact' sgd --first m.npy --w w.npy --out w3.npy
expect 1 '--master: the kernel takes none' sgd --master a.npy
expect 1 '--out-second: the kernel computes none' sgd --m 4 --n 8 --out-second v3.npy
expect 2 'N is 9 by --n, but 8 by w.npy' adam --n 9 --w w.npy
expect 2 'optimise: --out w.npy would overwrite w.npy, which is read' sgd --w w.npy --out w.npy

# What there are no kernels for
expect 2 'a weight of f32 is its own master' adam --m 4 --n 8 --set out=f32
expect 2 '"lion" is not one of' sgd --m 4 --n 8 --set rule=lion

# A record is what a plan goes by
printf '40 16 0.5 8\n' >shapes.txt
expect 0 'optimise_adam.lua' "$mcrun" tune "$specs/optimise_adam.lua" --shapes shapes.txt --device sim --in-process --candidates 3
expect 0 'optimise' "$mcrun" records list
finish
