#!/usr/bin/env bash
# tools/matrices, with the small ones of its list; the documentation has the whole list. Arguments: mcrun, the source directory.
mcrun=$1 matrices=$2/tools/matrices
source "$2/tests/expect.sh"
cd "$work" || exit 1
"$matrices" --list >table
check '20 matrices' [ "$(wc -l <table)" = 20 ]
while IFS= read -r row; do check "documented: $row" grep -qxF -- "$row" "$2/docs/unstructured.md"; done <table
check 'nothing else is documented as one' [ "$(grep -c '^| `[a-z0-9_]*` | [0-9]* x [0-9]* | [0-9]* | `--law' "$2/docs/unstructured.md")" = 20 ]
check 'sizes as wanted' [ "$(awk '$4 < 2000 || $4 > 300000 || $8 < 50000 || $8 > 4000000' table | wc -l)" = 0 ]
small="graph_2k graph_peers ratings mesh2_box3 band_full blocks_6 heavy_row" # a law each
# shellcheck disable=SC2086
expect 0 '' "$matrices" "$mcrun" made $small
check 'those named are made' [ "$(ls -A made | wc -l)" = 7 ]
# Their elements, too, are the same on every machine
check 'to the last element' [ "$(cat made/*.smtx | sha256sum | cut -d' ' -f1)" = 5a9dd8b78d194fb52584637e7eb362b6068a10270221f07800f1e58e71cc326b ]
echo '3, 3, 0' >made/graph_2k.smtx
expect 1 'graph_2k.smtx is another matrix: 3, 3, 0, where 2000, 2000, 60039 was expected' "$matrices" "$mcrun" made graph_2k heavy_row
expect 1 'mesh2_box2 could not be made' "$matrices" false made mesh2_box2
check 'and leaves nothing' [ "$(ls -A made | wc -l)" = 7 ]
expect 2 'no matrix is named graph_3k' "$matrices" "$mcrun" made graph_3k
expect 2 'tools/matrices MCRUN FOLDER' "$matrices" "$mcrun"
expect 2 'tools/matrices MCRUN FOLDER' "$matrices" --lists made
finish
