#!/usr/bin/env bash
# docs/api.md is what tools/api-reference makes of the headers, and has every function of theirs. reference.sh SOURCES
set -euo pipefail
cd "$1"
diff -u docs/api.md <(tools/api-reference) || { echo "docs/api.md is not up to date: tools/api-reference >docs/api.md"; exit 1; }
for name in $(awk -f tests/api/declared.awk runtime/mcrt.h runtime/mc_describe.h gen/mc_status.h); do
    grep -q "^###.*\b$name\b" docs/api.md || { echo "docs/api.md says nothing of $name"; exit 1; }
done
echo "docs/api.md: $(grep -c '^### ' docs/api.md) entries"
