#!/usr/bin/env bash
# Writes OUTPUT, a header with the hash of SOURCEs: PROOF_SOURCES.
#   proof_sources.sh OUTPUT SOURCE...
set -euo pipefail
hash=$("$(dirname "$0")/hash_sources.sh" "${@:2}")
echo "#define PROOF_SOURCES UINT64_C(0x$hash)" >"$1"
