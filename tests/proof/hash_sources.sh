#!/usr/bin/env bash
# Prints a hash of SOURCEs, 16 digits: of their contents without comments, empty lines, indentation, and the lines that include other
# files, whatever their names and their order. So moving a file changes nothing, and neither does explaining it better.
#   hash_sources.sh SOURCE...
set -euo pipefail

# C without comments; strings and character constants stay as they are.
bare() {
    awk '{
        line = ""
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1); two = substr($0, i, 2)
            if (inside == "*") { if (two == "*/") { inside = ""; i++; line = line " " } }
            else if (inside != "") { line = line c; if (c == "\\") line = line substr($0, ++i, 1); else if (c == inside) inside = "" }
            else if (two == "/*") { inside = "*"; i++ }
            else if (two == "//") break
            else { line = line c; if (c == "\"" || c == "\047") inside = c }
        }
        if (inside != "*") inside = ""
        gsub(/[ \t]+/, " ", line); gsub(/^ | $/, "", line)
        if (line != "" && line !~ /^#include /) print line
    }' "$1"
}
for source in "$@"; do bare "$source" | sha256sum; done | sort | sha256sum | cut -c1-16
