#!/usr/bin/env bash
# A shared library exports what its headers declare, at one version, and nothing else. symbols.sh LIBRARY VERSION HEADER...; VERSION "-": none.
set -euo pipefail
library=$1
version=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
suffix=@@$version
[ "$version" != - ] || suffix=
for header; do awk -f "$here/declared.awk" "$header"; done | sed "s/\$/$suffix/" | sort >"$work/declared"
[ "$(wc -l <"$work/declared")" -ge 5 ] || { echo "$*: hardly a declaration was found"; exit 1; }
# Neither the name of the version itself, nor what a sanitizer adds.
nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" && $3 !~ /^__/ { print $3 }' | sort >"$work/exported"
diff -u --label declared --label exported "$work/declared" "$work/exported" || {
    echo "$(basename "$library") does not export what $* declare: see its version script (.map)"
    exit 1
}
echo "$(basename "$library"): $(wc -l <"$work/exported") functions, as declared"
