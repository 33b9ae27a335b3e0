#!/usr/bin/env bash
# tools/graphs: every table measured, on a driver that is the simulator, with libraries of its kind; what it refuses. Arguments: the folder of
# mcrun and mcbench, tools/graphs.
bin=$1 graphs=$2
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1
export MCGEN_ARCH=sm_90a GRAPHS_OPTIONS='--variants default --rounds 5'
mkdir of
"$bin/mcrun" matrix-gen --law power --rows 101 --cols 90 --degree 4 -o of/power.smtx || exit 1
expect 2 "'f64' is no table: f32 f16" "$graphs" "$bin" of out f32 f64
for name in '' f32_cold spmv_f16_cold_cold spmv_x_cold 'f32 f16'; do
    expect 2 "'$name' is no table: f32 f16" "$graphs" "$bin" of out "$name"
done
check 'nothing is left' test ! -e out
expect 2 'tools/graphs BIN FOLDER OUT' "$graphs" "$bin" of
mkdir out && touch out/file && echo 'of last week' >out/f32.txt && cp out/f32.txt out/f32.jsonl
expect 1 'none' "$graphs" "$bin" none out f32
check 'no table of an earlier measurement is left' test ! -e out/f32.txt -a ! -e out/f32.jsonl
expect 1 'cannot' "$graphs" "$bin" of out/file/below f32
expect 0 'Speed over the fastest verified plain read' "$graphs" "$bin" of out
for table in f32 f16 bf16 tf32 f16_similarity bf16_similarity tf32_similarity hrpb sddmm_f16 sddmm_f32 spmv_f32 spmv_f16 spmv_f32_cold spmv_f16_cold; do
    check "$table has results" grep -q '"kind":"result"' "out/$table.jsonl"
    check "$table is right" test "$(grep -c '"kind":"note"' "out/$table.jsonl")" = 0
    check "$table has speeds" grep -q '^mcgen' "out/$table.txt"
done
finish
