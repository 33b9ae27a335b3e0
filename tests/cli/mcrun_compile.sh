#!/bin/bash
# mcrun compile: which compiler is taken, and what is said where there is none. The driver is the simulator (tests/bench), a GPU for sm_90, and
# ptxas is a script. Arguments: mcrun, the source directory.
mcrun=$1
source "$2/tests/expect.sh"
spec=$2/specs/spmm_l8r8.lua
cd "$work" || exit 1
mkdir bin tmp
export TMPDIR=$work/tmp
PATH=/usr/bin:/bin # without the real ptxas

# -- No ptxas -------------------------------------------------------------------------------------------------------
expect 0 'k.cubin  ' "$mcrun" compile "$spec" --arch sm_90 -o k.cubin
check 'not the PTX for sm_90' grep -aq "^\.target sm_90$" k.cubin # the simulator's machine code is PTX
expect 0 'for sm_90,' "$mcrun" compile spmm_l8r8 -o named.cubin
check 'a name is not its file' cmp <(grep -av "^// Made by" k.cubin) <(grep -av "^// Made by" named.cubin)
expect 0 'for sm_90a' "$mcrun" compile spmm_l8r8 --arch sm_90a -o k.cubin
cp k.cubin before
expect 1 'nothing here makes a cubin for sm_80: device 0 is no GPU of that kind, and there is no ptxas on PATH' \
    "$mcrun" compile spmm_l8r8 --arch sm_80 -o k.cubin
LD_LIBRARY_PATH='' expect 1 'no ptxas on PATH' "$mcrun" compile spmm_l8r8 -o k.cubin
check 'a failure changed the output' cmp before k.cubin
expect 1 'sm_90a: the driver keeps what it makes of setmaxnreg to itself, and there is no ptxas on PATH' \
    "$mcrun" compile gemm_f16 -o k.cubin

# -- ptxas ----------------------------------------------------------------------------------------------------------
cat >bin/ptxas <<'S'
#!/bin/bash
# ptxas -arch=TARGET -o FILE -
[ "$2 $4" = '-o -' ] || exit 9
if [ "$1" = -arch=sm_89 ]; then echo 'ptxas: no such target' >&2; exit 255; fi
{ echo "$1"; cat; } >"$3"
S
chmod +x bin/ptxas
PATH=$work/bin:$PATH
expect 0 'for sm_80, entry spmm_' "$mcrun" compile spmm_l8r8 --arch sm_80 -o k.cubin
check 'ptxas got another target' grep -q '^-arch=sm_80$' k.cubin
check 'ptxas got other PTX' cmp <(tail -n +2 k.cubin) <("$3" --arch sm_80 spmm_l8r8)
expect 0 '' "$mcrun" compile spmm_l8r8 --arch sm_90 -o k.cubin
check 'ptxas although the GPU is for sm_90' test "$(grep -ac "^-arch" k.cubin)" = 0
expect 0 '' "$mcrun" compile gemm_f16 -o k.cubin
check 'setmaxnreg by the linker' grep -q '^-arch=sm_90a$' k.cubin
LD_LIBRARY_PATH='' expect 0 'for sm_80' "$mcrun" compile spmm_l8r8 -o k.cubin
expect 0 '' "$mcrun" compile spmm_l8r8 --arch sm_80 --set tile_n=32 --variant 3 -o k.cubin
check 'settings are lost' grep -q 'tile_n=32' k.cubin
cp k.cubin before
expect 1 'ptxas failed on the kernel for sm_89' "$mcrun" compile spmm_l8r8 --arch sm_89 -o k.cubin
check "what ptxas said is lost" grep -q 'no such target' stderr
check 'a failure changed the output' cmp before k.cubin
check 'files are left' test -z "$(ls tmp)"

# -- Usage ----------------------------------------------------------------------------------------------------------
cp "$spec" own.lua
expect 2 'compile: --out is missing' "$mcrun" compile own.lua
expect 2 'compile: --out own.lua would overwrite the spec' "$mcrun" compile own.lua -o own.lua
expect 2 "no target" "$mcrun" compile own.lua --arch sm_75 -o k.cubin
expect 1 'no/k.cubin' "$mcrun" compile own.lua -o no/k.cubin
finish
