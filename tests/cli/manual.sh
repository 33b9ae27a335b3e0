#!/usr/bin/env bash
# The manual pages and completions say what the programs take: each option of each --help is in the page, under its
# command, and offered by bash, zsh and fish. manual.sh FOLDER MCGEN MCRUN MCBENCH PTXSIM, FOLDER has what was made of them.
set -u
folder=$(cd "$1" && pwd)
bin=$(cd "$(dirname "$2")" && pwd)
. "$(dirname "$0")/../expect.sh"

# Options of a help text on standard input, as -o and --out, one a line.
options() { grep -oE '^  (-[a-zA-Z]\b)?(, )?(--[a-z-]+)?' | grep -oE -- '--?[a-zA-Z][a-z-]*'; }
commands() { sed -n '/^$/,/^$/s/^  \([a-z][a-z-]*\)  .*/\1/p'; }
breaks=$' \t\n"\'><=;|&(:' # what bash splits words at
# offers SHELL LINE: what is offered at the end of the line, one a line.
offers() { "offers_$1" "$2" | sed 's/ *$//'; }
offers_bash() {
    bash -c 'compopt() { :; }; . "$1"; COMP_LINE=$2 COMP_POINT=${#2} COMPREPLY=() COMP_WORDBREAKS=$4
        "_$3"; printf "%s\n" "${COMPREPLY[@]}"' - "$folder/${1%% *}" "$1" "${1%% *}" "$breaks"
}
offers_fish() { fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$folder/${1%% *}.fish" "$1" | cut -f1; }
# zsh has no way to ask: functions in place of its own print what they are given.
offers_zsh() {
    zsh -f -c '_arguments() { shift; for rule; do rule=${rule#\*}; print -r -- "${${rule%%\[*}%=}"; done }
        _describe() { print -rl -- "${(@)${(P)2}%%:*}"; }
        compadd() { shift; print -rl -- "$@"; }
        words=(${=2}) CURRENT=$(( ${#words} + 1 )); . "$1"' - "$folder/_${1%% *}" "$1"
}
# has LIST WORD...: each word is a line of the list.
has() {
    local list=$1 word
    shift
    for word; do grep -qxF -- "$word" <<<"$list" || { echo "no $word" >&2 && return 1; }; done
}
shells=(bash)
for shell in zsh fish; do
    if command -v $shell >/dev/null; then shells+=("$shell"); else echo "SKIPPED: completion for $shell, which is not installed"; fi
done

# page PROGRAM [COMMAND]: the part of its manual that is about the program itself, or the command, as plain text.
page() {
    sed 's/\\-/-/g; s/\\f[BIR]//g' "$folder/$1.1" | awk -v head="${2+.SS $1 $2}" '
        /^\.S[SH]/ { inside = head == "" ? /^\.SH OPTIONS/ : $0 == head || index($0, head " ") == 1 } inside'
}

# described PROGRAM [COMMAND]: each option is in the manual, with its text, and is offered.
described() {
    local help wanted option shell
    help=$("$bin/$1" ${2+"$2"} --help)
    mapfile -t wanted < <(options <<<"$help")
    check "$*: more than one option" [ "${#wanted[@]}" -gt 1 ]
    for option in "${wanted[@]}"; do
        check "$*: $option is in the manual" grep -qE -- "^(-[a-zA-Z], )?$option( |,|\$)" <(page "$@")
    done
    for shell in "${shells[@]}"; do
        check "$*: $shell offers all options" has "$(offers "$shell" "$* -"; [ "$shell" != fish ] || offers "$shell" "$* --")" "${wanted[@]}"
    done
    text=$(options_text <<<"$help")
    check "$*: the texts of the options are in the manual" contains "$(page "$@" | tr -s '\n ' ' ')" "$text"
}
# The first line of each option's text.
options_text() { sed -nE 's/^  -.{20,26}  ?([^ -].*)/\1/p' | head -3; }
contains() {
    local line
    while read -r line; do [[ $1 == *"$line"* ]] || { echo "no '$line'" >&2 && return 1; }; done <<<"$2"
}

described mcgen
described ptxsim run
for program in mcrun mcbench; do
    mapfile -t names < <("$bin/$program" --help | commands)
    check "$program has commands" [ "${#names[@]}" -ge 4 ]
    for name in "${names[@]}"; do described "$program" "$name"; done
    for shell in "${shells[@]}"; do check "$shell offers the commands of $program" has "$(offers "$shell" "$program ")" "${names[@]}"; done
done

# Fields and specs.
for family in spmm sddmm quantise softmax softmax_grad spmmt; do
    fields=$("$bin/mcgen" --help $family | sed -n '/^Fields/,$s/^  \([a-z_]\{1,\}\) .*/\1/p')
    check "$family has fields" [ "$(wc -l <<<"$fields")" -gt 10 ]
    for field in $fields; do
        check "$family: $field is in the manual" \
            grep -qx "$field" <(sed 's/\\f[BIR]//g' "$folder/mcgen.1" | awk -v head=".SS op = \\(dq$family\\(dq" '/^\.S/ { inside = $0 == head } inside')
    done
    # shellcheck disable=SC2086
    check "$family: its fields are offered" has "$(offers bash "mcgen --set ")" ${fields//$'\n'/= }=
done
mapfile -t specs < <("$bin/mcgen" --list-specs | grep ^spmm_)
for shell in "${shells[@]}"; do
    if [ "$shell" != zsh ]; then check "$shell offers the shipped specs" has "$(offers "$shell" "mcgen spmm_")" "${specs[@]}"; fi
done
for spec in "${specs[@]}"; do check "$spec is in the manual" grep -q "fB$spec\\\\" "$folder/mcgen.1"; done

# Values, in fish, and in bash.
if command -v fish >/dev/null; then
    check "fish offers families" has "$(offers fish "mcgen --help s")" spmm sddmm
    check "fish offers the values of a field" has "$(offers fish "mcgen --set staging=t")" staging=tma
fi
offer() { check "bash offers '$2' for '$1'" [ "$(offers bash "$1" | paste -sd' ')" = "$2" ]; }
cd "$work" && touch a.smtx b.npy && mkdir folder
offer "mcgen --set stagi" "staging="
offer "mcgen --set staging=t" "tma"
offer "mcrun spmm --set warps=4,1" "4,1 4,11 4,12 4,13 4,15 4,16 4,18"
offer "mcgen --set=staging=t" "tma"
breaks=' ' offer "mcgen --set=staging=t" "--set=staging=tma"
breaks=' ' offer "mcgen --set staging=tma,a" "staging=tma,async"
offer "mcgen --arch sm_9" "sm_90 sm_90a"
offer "mcgen --help s" "spmm sddmm softmax softmax_grad spmmt slide24"
offer "mcgen --variant " ""
offer "mcrun spmm --variants " "all best tuned"
offer "mcrun sddmm --format=b" "bcrs"
offer "mcrun spmm spmm_l8r8 a." "a.smtx"
offer "mcrun spmm --b b" "b.npy"
offer "mcrun prune --activations b" "b.npy"
offer "mcrun prune --activation-scale p" "percentile="
offer "mcrun matrix-info fol" "folder"
offer "mcrun cache pr" "prune"
offer "mcrun mat" "matrix-gen matrix-info"
offer "mcrun help qu" "quantise"
offer "mcrun spmm -n" "-n"
offer "mcrun spmm -n 2" ""
offer "mcrun --v" "--version"
offer "mcrun nothing -" ""

# The pages are well-formed, and are not empty where it matters.
if command -v mandoc >/dev/null; then
    for program in mcgen mcrun mcbench ptxsim; do expect 0 "" mandoc -T lint -W warning "$folder/$program.1"; done
elif command -v man >/dev/null; then
    for program in mcgen mcrun mcbench ptxsim; do check "$program.1 is plain" [ -z "$(man --warnings -l "$folder/$program.1" 2>&1 >/dev/null)" ]; done
else echo "SKIPPED: what man says of the pages, as there is none"; fi
for program in mcgen mcrun mcbench ptxsim; do
    check "$program.1 tells exit statuses" grep -A4 '^\.SH "EXIT STATUS"' "$folder/$program.1"
    check "$program.1 has no mark of its template" [ -z "$(grep '@' "$folder/$program.1")" ]
done
finish
