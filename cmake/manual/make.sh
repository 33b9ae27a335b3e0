#!/bin/sh
# Makes the manual pages and the completions of the programs in FOLDER, of what they say themselves.
# make.sh FOLDER VERSION DATE MCGEN MCRUN MCBENCH PTXSIM
set -eu
folder=$1 version=$2 date=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
table=$folder/interface.txt
sh "$here/interface.sh" "$@" >"$table"
for program in mcgen mcrun mcbench ptxsim; do
    awk -f "$here/manual.awk" -v program=$program -v version="$version" -v date="$date" "$table" "$here/$program.1.in" \
        >"$folder/$program.1"
    {
        awk -f "$here/completion.awk" -f "$here/bash.awk" -v program=$program "$table"
        sed "s/@program@/$program/g" "$here/completion.bash"
    } >"$folder/$program"
    awk -f "$here/completion.awk" -f "$here/zsh.awk" -v program=$program "$table" >"$folder/_$program"
    awk -f "$here/completion.awk" -f "$here/fish.awk" -v program=$program "$table" >"$folder/$program.fish"
done
