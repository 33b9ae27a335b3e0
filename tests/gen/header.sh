#!/usr/bin/env bash
# mcgen --header: headers of all shipped specs stand in one file of C17 and of C++17, and say what the PTX and --describe --json say.
# header.sh MCGEN CC [CXX]
set -u
mcgen=$1
cc=$2
cxx=${3:-}
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1
strict=(-Wall -Wextra -Wshadow -Wconversion -pedantic -Werror -fsyntax-only)

# -- Compilers ------------------------------------------------------------------------------------------------------
for spec in $("$mcgen" --list-specs); do
    expect 0 "" "$mcgen" --header --name "$spec" "$spec" -o "$spec.h"
    echo "#include \"$spec.h\"" >>all.c
done
check "the headers are no C17" "$cc" -std=c17 "${strict[@]}" all.c
if [ -n "$cxx" ]; then check "the headers are no C++17" "$cxx" -std=c++17 "${strict[@]}" -x c++ all.c; fi

# -- What is in them ------------------------------------------------------------------------------------------------
cat >ptx.c <<'C'
#include <stdio.h>
#include "kernel.h"
int main(void) {
    fputs(k_ptx, stdout);
    return sizeof k_ptx > 1 ? 0 : 1;
}
C
# says EXPRESSION...: the compiler finds each to be true of kernel.h.
says() {
    echo '#include "kernel.h"' >says.c
    for expression in "$@"; do echo "_Static_assert($expression, \"\");" >>says.c; done
    check "not so: $*" "$cc" -std=c17 -fsyntax-only says.c
}
for spec in spmm_l8r8 spmm_l8r8_tiled sddmm_l8r8; do
    cp "$spec.h" kernel.h
    sed -i "s/\b${spec}_/k_/g" kernel.h
    "$mcgen" "$spec" -o kernel.ptx
    check "ptx.c does not compile" "$cc" -std=c17 ptx.c -o ptx
    check "$spec: the string is not the PTX" cmp kernel.ptx <(./ptx)
    says "sizeof k_ENTRY == sizeof \"$(sed -n 's/^.visible .entry \([a-z0-9_]*\).*/\1/p' kernel.ptx)\"" \
        "k_PARAMS == $(grep -c '^ *\.param' kernel.ptx)"
done
cp spmm_l8r8.h kernel.h
sed -i 's/\bspmm_l8r8_/k_/g' kernel.h
says 'k_GRID_X(1) == 1' 'k_GRID_X(9) == 2' 'k_GRID_Y(128) == 1' 'k_GRID_Y(129) == 2' 'k_GRID_Z == 1' 'k_BLOCK_X == 128' \
    'k_PARAM_row_ptr == 0' 'k_PARAM_ldc == 7' 'k_SHARED_STATIC == 16896' 'k_PASSES == 1'
expect 0 "" "$mcgen" --header --name k --set m=64 --set n=256 spmm_l8r8 -o kernel.h
says 'k_GRID_X(64) == 8'
expect 0 "" "$mcgen" --header --name k spmm_l8r8_tiled -o kernel.h
says 'k_LDB_MULTIPLE == 16' 'k_MAP_b_map_BOX_ROWS > 0'
expect 0 "" "$mcgen" --header --name k gemm_f16 -o kernel.h
says 'k_GRID_X(1, 1) == 1' 'k_GRID_X(128, 257) == 2' 'k_GRID_X(129, 257) == 4' 'k_GRID_X(4096, 4096) == 512' 'k_GRID_Y == 1' 'k_N_MULTIPLE == 8'
strange='a "what??<\.lua'
printf 'op = "spmm"\n' >"$strange"
expect 0 "" "$mcgen" --header --name k "$strange" -o kernel.h
check "a strange name breaks the string" "$cc" -std=c17 ptx.c -o ptx
check "a strange name changes the PTX" cmp <("$mcgen" "$strange") <(./ptx)

# -- Names ----------------------------------------------------------------------------------------------------------
expect 0 "#define spmm_s8s8s32_v8_k32_n128_w4_s4_BLOCK_X 128" "$mcgen" --header spmm_l8r8
expect 0 "k_ptx[]" "$mcgen" --header --name k --fields "op=spmm"
expect 2 "--name: 'a-b' cannot begin names of C" "$mcgen" --header --name a-b spmm_l8r8
expect 2 "--name: '' cannot begin names of C" "$mcgen" --header --name "" spmm_l8r8
expect 2 "--name goes with --header" "$mcgen" --name k spmm_l8r8
expect 2 "only one of" "$mcgen" --header --describe spmm_l8r8
expect 2 "--json goes with" "$mcgen" --header --json spmm_l8r8
finish
