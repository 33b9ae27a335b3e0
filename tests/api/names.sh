#!/usr/bin/env bash
# No two of the static libraries define one name: who links with them gets each function once, and the one that was meant. names.sh LIBRARY...
set -euo pipefail
names=$(for library; do nm --defined-only --extern-only "$library"; done | awk 'NF == 3 && $3 !~ /^__/ { print $3 }' | sort)
[ "$(wc -l <<<"$names")" -gt 300 ] || { echo "hardly a name was found"; exit 1; }
twice=$(uniq -d <<<"$names")
[ -z "$twice" ] || { echo "defined twice: $twice"; exit 1; }
echo "$(wc -l <<<"$names") names, each once"
