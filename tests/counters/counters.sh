#!/usr/bin/env bash
# On a GPU, with NVIDIA's profiler: what its counters say of every launch of `counters`, in the form of sm_90.txt.
#   counters.sh COUNTERS SPEC [FORM] >sm_90.txt
# FORM: only those whose names begin so ("spmm": the generated kernels). All take six minutes.
# The counters are those of operations that reach shared memory's data stage (op_ld, op_st, op_atom; the metric without
# _op_ counts others, too, at least one a warp), and of sectors that the first-level cache is asked for, hit or miss.
set -euo pipefail
run=("$1" "$2" cuda:0 "${@:3:1}")
names="shared_ld=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld
shared_st=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st
shared_atom=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom
shared_copy=smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts
global_ld=l1tex__t_sectors_pipe_lsu_mem_global_op_ld
global_st=l1tex__t_sectors_pipe_lsu_mem_global_op_st
global_atom=l1tex__t_sectors_pipe_lsu_mem_global_op_atom
global_red=l1tex__t_sectors_pipe_lsu_mem_global_op_red
global_copy=smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts"
if ! ncu --launch-count 1 --metrics sm__cycles_active.sum "$1" "$2" cuda:0 ld.b32 2>&1 | grep -q sm__cycles; then
    echo "SKIPPED: no ncu that can read a GPU's counters" >&2
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
metrics=$(sed 's/.*=//; s/$/.sum/' <<<"$names" | paste -sd,)
ncu --csv --page raw --clock-control none --cache-control none --metrics "$metrics" --log-file "$folder/csv" \
    "${run[@]}" >"$folder/launches"
echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader), ncu $(ncu --version | sed -n 's/^Version //p')"
grep '^"' "$folder/csv" | awk -v names="$names" -v launches="$folder/launches" '
# A line a name and measure: its value in every launch. Compare-and-swap loops load, too: atomics are both.
BEGIN {
    FS = "\",\""
    count = split(names, pair, "\n")
    for (i = 1; i <= count; i++) {
        split(pair[i], part, "=")
        metric[part[1]] = part[2] ".sum"
    }
}
/^"ID"/ { for (i = 1; i <= NF; i++) {
    gsub(/"/, "", $i)
    column[$i] = i
} }
/^"[0-9]/ {
    if ((getline line <launches) <= 0) exit 1
    n = split(line, word, " ")
    for (i = 2; i <= n; i++) {
        value = number(metric[word[i]])
        if (word[i] == "shared_atom") value += number(metric["shared_ld"])
        key = word[1] " " word[i]
        if (!(key in row)) order[++keys] = key
        row[key] = row[key] " " value
    }
}
function number(name,   text) {
    text = $column[name]
    gsub(/[",]/, "", text)
    return text + 0
}
END { for (i = 1; i <= keys; i++) print order[i] row[order[i]] }'
