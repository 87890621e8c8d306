#!/bin/sh
# tests/gpu.sh from end to end, on the emulated device: every part ends well, and the archive has their results.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

said=$(tests/gpu.sh --emulated)
check 'it ends well' $? 0
check 'with every part' "$(echo "$said" | grep -c '^--- ')" 14
archive=$(echo "$said" | sed -n 's/^To send: //p')
for file in environment.log ops.log canonical.jsonl batches.jsonl dense.jsonl sparse.jsonl presets.jsonl report.html; do
    check "$file is in the archive" "$(tar -tf "$archive" "gpu/$file")" "gpu/$file"
done
check 'rows are ok' "$(grep -c '"status":"ok"' build/gpu/canonical.jsonl)" 2
tap_end
