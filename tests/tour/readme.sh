#!/usr/bin/env bash
# What README.md shows is true: its PTX is what its spec makes, its C compiles, its way from a weight to a product runs.
# readme.sh SOURCE_FOLDER MCGEN MCRUN TOUR_REFERENCE CC
. "$1/tests/expect.sh"
root=$1 mcgen=$2 mcrun=$3 reference=$4 cc=$5
readme=$root/README.md
cd "$work" || exit 1
export MCGEN_RECORDS=$work/records.jsonl

# block LANGUAGE: the README's first block of it.
block() { awk -v begin="^\`\`\`$1\$" '$0 ~ /^```$/ && inside { exit } inside { print } $0 ~ begin { inside = 1 }' "$readme"; }

# contained EXCERPT TEXT: the lines of EXCERPT are in TEXT, neighbours as neighbours, in the same order; dots stand for lines that were left out.
contained() {
    awk 'FNR == NR { text = text $0 "\n"; next }
        function find() { if (piece == "") return
            at = index(text, "\n" piece)
            if (!at) { printf "not there:\n%s", piece; wrong = 1; exit }
            text = substr(text, at + length(piece)); piece = "" }
        /^ *\.\.\.$/ { find(); next }
        { piece = piece $0 "\n"; lines++ }
        END { if (!wrong) find(); exit wrong || !lines }' "$2" "$1"
}

block ptx >excerpt.ptx
block lua >spec.lua
check 'an excerpt of 12 to 20 lines' test "$(wc -l <excerpt.ptx)" -ge 12 -a "$(wc -l <excerpt.ptx)" -le 20
"$mcgen" "$root/specs/spmm_l8r8_f16.lua" >shipped.ptx
"$mcgen" spec.lua >own.ptx
missing=$(contained excerpt.ptx shipped.ptx)
check "the excerpt is what spmm_l8r8_f16 emits: $missing" contained excerpt.ptx shipped.ptx
check 'the spec of the README is spmm_l8r8_f16' cmp <(grep -v '^// Made by' own.ptx) <(grep -v '^// Made by' shipped.ptx)
sed '5s/$/ /' excerpt.ptx >other.ptx
check 'one blank more would be noticed' test -n "$(contained other.ptx shipped.ptx)"

{
    printf '%s\n' '#include <mcrt.h>' 'int main(void) {' 'mc_context *context; mc_matrix *matrix; mc_plan *plan; mc_diag *diag = NULL; void *stream = NULL;' \
        'mc_dense_config weights = {0}; mc_plan_config problem = {0}; mc_args args = {0};'
    block c
    echo 'return 0; }'
} >lines.c
check 'five lines of C' test "$(block c | wc -l)" = 5
expect 0 '' "$cc" -std=c11 -Wall -Werror -fsyntax-only -I"$root/runtime" -I"$root/gen" lines.c

"$reference" weight 64 96 1 w.npy
"$reference" integers 96 256 2 x.npy
awk '/^From a trained weight/ { getline; inside = 1; next } inside && !/^    / { exit } inside { sub(/  +#.*/, ""); print }' "$readme" >lines
check 'five lines of commands' test "$(wc -l <lines)" = 5
PATH=$(dirname "$mcrun"):$PATH
while read -r line; do
    case $line in mcrun\ plan* | mcrun\ tune* | mcrun\ spmm*) line+=" --device sim" ;; esac
    expect 0 '' bash -c "$line"
done <lines
check 'a product of 64 x 256' grep -qaF "(64, 256)" y.npy
finish
