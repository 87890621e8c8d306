#!/bin/sh
# Names and circles: no function name stands in two files of bench, models or analysis (kernels' files may each have their
# own `pack`), no struct name in two headers, and no units (x.c with x.h) include each other in a circle.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

# repeated: of the lines "NAME FILE" on stdin, those whose name stands in more than one file: "NAME: FILE FILE..."
repeated()
{
    sort -u | awk '{ files[$1] = files[$1] " " $2; count[$1]++ }
                   END { for (name in count) if (count[name] > 1) print name ":" files[name] }' | sort
}

# The functions defined below directory $1: the brace of a body stands alone, the first line of its head at the margin.
# Names in capitals are macros.
functions()
{
    find "$1" -name '*.c' -exec awk '
        /^[A-Za-z_].*\(/ { head = $0 }
        /^\{/ {
            gsub(/__attribute__\(\(.*\)\)\)? */, "", head)
            sub(/\(.*/, "", head)
            sub(/.*[ *]/, "", head)
            if (head ~ /[a-z]/ && head != "main")
                print head, FILENAME
        }' {} +
}

# Functions of the tree $1 that stand twice in a room.
repeated_functions()
{
    for room in bench models analysis; do
        [ ! -d "$1/$room" ] || functions "$1/$room" | repeated
    done
}

# Structs of the tree $1 that stand in two headers.
repeated_structs()
{
    find "$1/kernels" "$1/graphs" "$1/models" "$1/analysis" "$1/bench" -name '*.h' 2>/dev/null |
        xargs -r awk '/^struct [a-z0-9_]+ \{/ { print $2, FILENAME }' | repeated
}

# The units, with a source and a header, of each circle of includes below $1, as tsort names them.
circles()
{
    (cd "$1" && find graphs models analysis bench -name '*.[ch]' 2>/dev/null |
        xargs -r awk '/^#include "/ {
            from = FILENAME; sub(/\.[ch]$/, "", from)
            to = $2; gsub(/"/, "", to)
            if (sub(/\.h$/, "", to) && to != from)
                print from, to
        }' | while read -r from to; do
            [ ! -f "$from.c" ] || [ ! -f "$from.h" ] || [ ! -f "$to.c" ] || echo "$from $to"
        done | tsort 2>&1 >/dev/null | sed -n 's/^tsort: \([^-].*\)/\1/p' | sort)
}

house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
# plant FILE TEXT
plant()
{
    mkdir -p "$(dirname "$house/$1")"
    printf '%b' "$2" >"$house/$1"
}

check 'no function name stands twice in a room' "$(repeated_functions .)" ''
check 'no struct name stands in two headers' "$(repeated_structs .)" ''
check 'no units include each other in a circle' "$(circles .)" ''

plant bench/base/a.c 'static int *twice(int a,\n                  int b)\n{\n}\n'
plant bench/row/b.c '__attribute__((format(printf, 1, 2))) static bool twice(const char *f, ...)\n{\n}\n'
plant models/tape/c.c 'void twice(void)\n{\n}\n'
check 'a function of two files is found, in its room' "$(repeated_functions "$house" | sed "s|$house/||g")" \
    'twice: bench/base/a.c bench/row/b.c'
plant bench/base/a.h 'struct pair {\n'
plant graphs/b.h 'struct pair {\n'
check 'a struct of two headers is found' "$(repeated_structs "$house" | sed "s|$house/||g")" 'pair: bench/base/a.h graphs/b.h'
plant bench/base/a.h '#include "bench/row/b.h"\n'
plant bench/row/b.h '#include "bench/base/c.h"\n'
plant bench/base/c.h ''
plant bench/base/c.c '#include "bench/base/a.h"\n'
check 'a circle is found' "$(circles "$house" | tr '\n' ' ')" 'bench/base/a bench/base/c bench/row/b '
tap_end
