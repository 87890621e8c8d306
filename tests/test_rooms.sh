#!/bin/sh
# The house's rule: which room may include which (bench -> models -> graphs -> kernels, bench -> analysis), and that
# there are no other rooms. An arrow reaches as far as its chain goes: bench may include kernels too.
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

# Every break of the rule below directory $1, one line each. A quoted include names its room: "graphs/csr.h".
breaks()
{
    for path in "$1"/*/; do
        room=$(basename "$path")
        case $room in
        build | results) continue ;;
        esac
        rooms=$(allowed "$room" | tr ' ' '|')
        if [ -z "$rooms" ]; then
            echo "$room: no such room"
            continue
        fi
        find "$path" -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' | sort |
            xargs -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
            grep -vE "#[[:space:]]*include[[:space:]]*\"($rooms)/"
    done
}

# plant ROOM LINE: what the rule says of a house in which one file of ROOM holds that line
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
plant()
{
    rm -rf "${house:?}"/*
    mkdir -p "$house/$1"
    echo "$2" >"$house/$1/planted.c"
    breaks "$house" | sed "s|^$house/*||; s|//*|/|g"
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
check 'an include of a library is none' "$(plant analysis '#include <jansson.h>')" ''
tap_end
