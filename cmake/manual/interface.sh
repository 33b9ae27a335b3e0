#!/bin/sh
# What the programs take, as a table for manual.awk and completion.awk, read off their own --help, which they print from
# the tables that they parse by. interface.sh MCGEN MCRUN MCBENCH PTXSIM
# The table's rows, their columns with tabs between; "-" is nothing:
#   usage PROGRAM COMMAND OPERANDS SUMMARY      COMMAND is "-" where it is the program itself
#   option PROGRAM COMMAND LETTER NAME ARGUMENT HELP
#   word PROGRAM COMMAND WORD HELP              what the first operand can be
#   exit PROGRAM TEXT                           exit statuses
#   family NAME SUMMARY
#   field FAMILY NAME VALUES DEFAULT DOC        VALUES as the help has them
#   spec NAME
set -eu

# parse PROGRAM COMMAND: one help text on standard input.
parse() {
    awk -v program="$1" -v command="$2" '
    function some(text) { return text == "" ? "-" : text }
    function row(kind, first, second) { printf "%s\t%s\t%s\t%s\t%s\n", kind, program, command, some(first), some(second) }
    function flush(   count, part, letter) {
        if (left == "") return
        if (left !~ /^-/) row("word", left, help)
        else {
            letter = ""
            if (left ~ /^-[^-]/) {
                letter = substr(left, 2, 1)
                left = substr(left, left ~ /^-., / ? 5 : 3)
            }
            sub(/^ +/, "", left)
            count = split(left, part, / /)
            if (part[1] !~ /^--/) row("option", letter, "-\t" some(part[1]) "\t" help)
            else row("option", letter, substr(part[1], 3) "\t" some(count > 1 ? part[2] : "") "\t" help)
        }
        left = ""
    }
    NR == 1 {
        operands = $0
        sub(/^usage: [a-z]+ /, "", operands)
        if (command != "-") sub(/^[a-z-]+ */, "", operands)
        sub(/ *\[options\] */, "", operands)
        next
    }
    /^Exit status: / { flush(); sub(/^Exit status: /, ""); printf "exit\t%s\t%s\n", program, $0; next }
    /^$/ {
        flush()
        if (!said) row("usage", operands, summary)
        said = 1
        if (entries) done = 1
        next
    }
    !said { summary = summary (summary == "" ? "" : " ") $0; next }
    done { next }
    /^  [^ ]/ {
        flush()
        entries = 1
        left = substr($0, 3)
        help = ""
        if (match(left, /  +/)) { help = substr(left, RSTART + RLENGTH); left = substr(left, 1, RSTART - 1) }
        next
    }
    /^          / { sub(/^ +/, ""); help = help (help == "" ? "" : " ") $0 }
    END { flush() }'
}

# fields FAMILY: the help of a family on standard input.
fields() {
    awk -v family="$1" '
    function flush() { if (name != "") printf "field\t%s\t%s\t%s\t%s\t%s\n", family, name, values, standard, doc; name = "" }
    /^  [a-z]/ {
        flush()
        name = $1
        values = $0
        sub(/^ +[^ ]+ +/, "", values)
        standard = values
        sub(/; default .*/, "", values)
        sub(/.*; default /, "", standard)
        doc = ""
        next
    }
    name != "" { sub(/^ +/, ""); doc = doc (doc == "" ? "" : " ") $0 }
    END { flush() }'
}

# A help text is taken whole before it is parsed, so that a program that fails ends the script.
for program in "$1" "$2" "$3" "$4"; do
    name=${program##*/}
    help=$("$program" --help)
    echo "$help" | parse "$name" -
    [ "$program" != "$1" ] || continue
    for command in $(echo "$help" | sed -n '/^$/,/^$/s/^  \([a-z][a-z-]*\)  .*/\1/p'); do
        text=$("$program" "$command" --help)
        echo "$text" | parse "$name" "$command"
    done
done

help=$("$1" --help)
echo "$help" | sed -n '/^Kernel families/,$s/^  \([a-z0-9_]*\) *\(.*\)/family	\1	\2/p'
for family in $(echo "$help" | sed -n '/^Kernel families/,$s/^  \([a-z0-9_]*\) .*/\1/p'); do
    text=$("$1" --help "$family")
    echo "$text" | fields "$family"
done
specs=$("$1" --list-specs)
echo "$specs" | sed 's/^/spec	/'
