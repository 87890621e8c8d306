#!/bin/sh
# Which room may include which (bench -> models -> graphs -> kernels, bench -> analysis), that there are no other rooms,
# and the order of the folders inside a room. The relation is transitive: bench may include kernels too.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

# The rooms that sources of room $1 may include.
allowed()
{
    case $1 in
    kernels) echo kernels ;;
    graphs) echo graphs kernels ;;
    models) echo models graphs kernels ;;
    analysis) echo analysis ;;
    bench) echo bench models graphs kernels analysis ;;
    tests) echo tests bench models graphs kernels analysis ;;
    esac
}

# The folders of room $1, of which each may include those to its left; those between bars may not include each other.
folders()
{
    case $1 in
    analysis) echo 'statistics record tables database fits charts compare findings report' ;;
    models) echo 'tape parallel encodings layers' ;;
    bench) echo 'base machine time flops|show|audit cli row sweep' ;;
    esac
}

sources()
{
    find "$@" -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' | sort
}

# Every include below directory $1 that goes against the order of folders, one line each, and every folder of
# sources that has no place in it. Files that stand in the room itself may include any.
disorder()
{
    for room in analysis models bench; do
        left=
        for level in $(folders "$room"); do
            for folder in $(echo "$level" | tr '|' ' '); do
                sources "$1/$room/$folder" 2>/dev/null |
                    xargs -r grep -HnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*\"$room/" |
                    grep -vE "#[[:space:]]*include[[:space:]]*\"$room/($left$folder)/"
            done
            left="$left$level|"
        done
        for path in "$1/$room"/*/; do
            folder=$(basename "$path")
            [ -z "$(sources "$path" 2>/dev/null)" ] || echo "|$left" | grep -qF "|$folder|" ||
                echo "$room/$folder: no such folder"
        done
    done
}

# Every break of the rule below directory $1, one line each. A quoted include names its room: "graphs/csr.h".
breaks()
{
    for path in "$1"/*/; do
        room=$(basename "$path")
        case $room in
        build | docs | results) continue ;;
        esac
        rooms=$(allowed "$room" | tr ' ' '|')
        if [ -z "$rooms" ]; then
            echo "$room: no such room"
            continue
        fi
        sources "$path" |
            xargs -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
            grep -vE "#[[:space:]]*include[[:space:]]*\"($rooms)/"
    done
}

# plant FOLDER LINE [RULE]: what the rule (breaks) says of a house in which one file of FOLDER holds that line
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
plant()
{
    rm -rf "${house:?}"/*
    mkdir -p "$house/$1"
    echo "$2" >"$house/$1/planted.c"
    "${3:-breaks}" "$house" | sed "s|^$house/*||; s|//*|/|g"
}

check 'every include keeps to the rule' "$(breaks .)" ''
check 'an include upwards is found' "$(plant graphs '#include "models/tape/tape.h"')" \
    'graphs/planted.c:1:#include "models/tape/tape.h"'
check 'an include of ours in analysis is found' "$(plant analysis '# include "kernels/mat.h"')" \
    'analysis/planted.c:1:# include "kernels/mat.h"'
check 'an include in a subdirectory is found' "$(plant kernels/cpu '#include "graphs/csr.h"')" \
    'kernels/cpu/planted.c:1:#include "graphs/csr.h"'
check 'an include that names no room is found' "$(plant kernels '#include "mat.h"')" \
    'kernels/planted.c:1:#include "mat.h"'
check 'another room is found' "$(plant utils '')" 'utils: no such room'
check 'an include downwards is none' "$(plant bench '#include "kernels/mat.h"')" ''
check 'an include of a library is none' "$(plant analysis '#include <zlib.h>')" ''

# order FOLDER LINE
order()
{
    plant "$1" "$2" disorder
}

check 'every include keeps to the order of the folders' "$(disorder .)" ''
check 'an include to the right is found' "$(order bench/base '#include "bench/cli/axes.h"')" \
    'bench/base/planted.c:1:#include "bench/cli/axes.h"'
check 'an include of the folder beside is found' "$(order bench/show '#include "bench/flops/counters.h"')" \
    'bench/show/planted.c:1:#include "bench/flops/counters.h"'
check 'in models, too' "$(order models/tape ' # include "models/layers/layers.h"')" \
    'models/tape/planted.c:1: # include "models/layers/layers.h"'
check 'in analysis, too' "$(order analysis/record '#include "analysis/fits/law.h"')" \
    'analysis/record/planted.c:1:#include "analysis/fits/law.h"'
check 'an include of a file in no folder is found' "$(order bench/row '#include "bench/row.h"')" \
    'bench/row/planted.c:1:#include "bench/row.h"'
check 'a folder without a place is found' "$(order bench/utils '')" 'bench/utils: no such folder'
check 'an include to the left is none' "$(order bench/row '#include "bench/time/sample.h"')" ''
check 'an include of the same folder is none' "$(order bench/flops '#include "bench/flops/executed.h"')" ''
check 'an include of another room is none' "$(order bench/base '#include "analysis/compare/match.h"')" ''
check 'a main may include any folder' "$(order bench '#include "bench/sweep/harness.h"')" ''
tap_end
