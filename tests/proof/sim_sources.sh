#!/usr/bin/env bash
# Writes OUTPUT, a header of hashes: of the simulator's sources that every kernel reaches (SIM_CORE), and of those that
# an instruction's executor adds to them (SIM_SOURCES_name, for each executor that ops.def names).
#   sim_sources.sh NM FOLDER OUTPUT OBJECT...
# Who calls whom is read off the object files. The core is what functions of the public interface reach, not counting
# the references of the instruction table; a file that neither the interface nor an executor reaches belongs to it, and
# so does every header. A source's name does not matter. An object called F.c.o belongs to source F.c of FOLDER.
set -euo pipefail
nm=$1 folder=$2 output=$3
shift 3

# "executor SYMBOL", "defines FILE SYMBOL", "wants FILE SYMBOL"
symbols() {
    sed -nE 's/^(ONE|BY_TYPE)\(.*, (\w+), [^,]*\)$/executor sim_\2/p' "$folder/ops.def"
    "$nm" -A "$@" | sed -E 's/^([^ ]*): *([0-9a-f]{8,})? *([A-Za-z]) /\1 \3 /' | awk -v folder="$folder" '
        { file = $1; sub(/.*\.dir\//, "", file); sub(/\.o$/, "", file); file = folder "/" file }
        $2 == "U" { print "wants", file, $3 }
        $2 ~ /^[A-TV-Z]$/ { print "defines", file, $3 }'
}

# "core FILE", "name FILE..." for each executor
classes() {
    awk '
    $1 == "executor" { executor[$2] }
    $1 == "defines" { home[$3] = $2; files[$2]; if ($3 ~ /^ptxsim_/) public[$2] }
    $1 == "wants" { files[$2]; wants[$2] = wants[$2] " " $3; if ($3 in executor) { if (!(($2, $3) in seen)) uses[$2]++; seen[$2, $3] } }
    function visit(file, into,    list, i, n) {
        if (file in into) return
        into[file]
        n = split(wants[file], list, " ")
        for (i = 1; i <= n; i++)
            if (list[i] in home && !(file == table && list[i] in executor)) visit(home[list[i]], into)
    }
    END {
        for (name in executor) count++
        for (file in uses) if (uses[file] == count) table = file
        if (table == "") print "sim_sources.sh: no object has the instruction table: all sources count as core" >"/dev/stderr"
        for (file in public) visit(file, core)
        for (name in executor) if (name in home) visit(home[name], known)
        for (file in files) if (file in core || !(file in known)) { print "core", file; core[file] }
        for (name in executor) {
            delete reached
            if (name in home) visit(home[name], reached)
            line = substr(name, 5)
            for (file in reached) if (!(file in core)) line = line " " file
            print line
        }
    }'
}

# hash FILE...: of their contents, in an order that does not depend on their names
hash() {
    if [ $# = 0 ]; then echo "0x0"; else echo "0x$("$(dirname "$0")/hash_sources.sh" "$@")"; fi
}

list=$(symbols "$@" | classes | sort)
mapfile -t core < <(sed -n 's/^core //p' <<<"$list")
mapfile -t headers < <(find "$folder" -name '*.h')
declare -A hashes
{
    echo "#define SIM_CORE UINT64_C($(hash "${core[@]}" "${headers[@]}"))"
    while read -r name files; do
        # shellcheck disable=SC2086
        [ -n "${hashes[_$files]:-}" ] || hashes[_$files]=$(hash $files)
        echo "#define SIM_SOURCES_$name UINT64_C(${hashes[_$files]})"
    done < <(grep -v '^core ' <<<"$list")
} >"$output.new"
cmp -s "$output.new" "$output" || cp "$output.new" "$output"
rm "$output.new"
