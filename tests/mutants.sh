#!/bin/sh
# Do rows and tests notice a fault in the code? Each mutant of tests/mutants.txt is planted in a copy of the tree
# (build/mutants/tree, with a build of its own), where its row and its tests then run.
#
#     tests/mutants.sh                        all mutants
#     tests/mutants.sh NAME...                these
#     GTMARK_PART=2/4 tests/mutants.sh        the second of four parts
#     tests/mutants.sh --check                  whether all mutants apply and all rows are accepted: builds nothing
#
# One line of TAP for each: not ok if it is caught by something else than the list says. From the environment: CC, and
# GTMARK_BUILD, the build directory of that compiler.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${CC:=gcc}" "${GTMARK_BUILD:=build}" "${GTMARK_MUTANTS:=tests/mutants.txt}"
home=build/mutants tree=build/mutants/tree build=$GTMARK_BUILD

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
field=$(printf '\037')

# mutants: the list, one line each, with the fields in the order of `read` below
mutants()
{
    awk -v OFS="$field" '
        function put() {
            if (name)
                print name, file, through, caught, old, new, row, size, tests, why
            name = through = old = new = row = size = tests = why = ""
        }
        { text = substr($0, length($1) + 2) }
        $1 == "mutant" { put(); name = $2; file = $3; caught = $4 }
        $1 == "through" { through = text }
        $1 == "old" { old = text }
        $1 == "new" { new = text }
        $1 == "row" { row = text }
        $1 == "tests" || $1 == "large" { size = $1; tests = text }
        $1 == "why" { why = text }
        END { put() }' "$GTMARK_MUTANTS"
}

# replaced FILE OLD NEW: the file with OLD, which must occur exactly once, replaced by NEW
replaced()
{
    OLD=$2 NEW=$3 LC_ALL=C awk -v ORS= '
        { text = text $0 "\n" }
        END {
            old = ENVIRON["OLD"]
            at = index(text, old)
            rest = substr(text, at + length(old))
            if (!old || !at || index(rest, old))
                exit 1
            print substr(text, 1, at - 1) ENVIRON["NEW"] rest
        }' "$1"
}

# unsound: what is wrong with the current mutant
unsound()
{
    replaced "$file" "$old" "$new" >/dev/null || echo "'$old' does not occur exactly once in $file"
    [ "$old" != "$new" ] || echo 'changes nothing'
    # shellcheck disable=SC2046 # words
    [ -z "$row" ] || [ ! -x "$build/${row%% *}" ] || $(command_line) --dry-run 2>&1 >/dev/null | grep "^${row%% *}: "
    case $caught:$row:$tests in
    both:?*:?* | row:?*:* | tests:*:?*) [ -z "$why" ] || echo 'caught, and yet a reason why not' ;;
    none:*) [ "$why" ] || echo 'no reason why it may survive' ;;
    *) echo "'$caught' by row '$row' and tests '$tests': both, row, tests or none, and what does so" ;;
    esac
}

# command_line: the current mutant's row, small where it does not say otherwise
command_line()
{
    line=$row
    for default in '--nodes 67' '--hidden 40' '--heads 4' '--layers 2' '--threads 2'; do
        case " $row " in
        *" ${default% *} "*) ;;
        *) line="$line $default" ;;
        esac
    done
    echo "$build/$line --runs 2 --repetitions 1 --warmup 0 --no-roofline --no-charts"
}

# inside TIME COMMAND...: runs it in the tree, for at most this time
inside()
{
    (cd "$tree" && exec env -u MAKEFLAGS -u MAKELEVEL -u GTMARK_SOAK -u GTMARK_SMALL -u GTMARK_PART \
        GTMARK_BUILD="$build" OMP_WAIT_POLICY=passive timeout -k 9 "$@") </dev/null >"$work/log" 2>&1
}

# built FLAG... TARGET...
built()
{
    inside 1h make CC="$CC" CUDA=0 "$@"
}

row_passes()
{
    # shellcheck disable=SC2046 # words
    inside 5m $(command_line) --output "$work/row.json"
}

# test_passes NAME
test_passes()
{
    case $1 in
    *.sh) inside 10m "tests/test_$1" ;;
    *) inside 10m env $([ "$size" = large ] || echo GTMARK_SMALL=1) "$build/tests/test_$1" ;;
    esac
}

# programs: what the current mutant's row and tests run
programs()
{
    [ -z "$row" ] || echo "$build/${row%% *}"
    for name_of_test in $tests; do
        case $name_of_test in
        *.sh) echo all plugins ;;
        *) echo "$build/tests/test_$name_of_test" ;;
        esac
    done
}

# refresh: the sources of the tree, with their times, so that make builds what has changed since
refresh()
{
    mkdir -p "$tree" || exit 1
    find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp -p --parents -t "$tree"
    # shellcheck disable=SC2046 # the files of a mutant that was interrupted
    [ ! -e "$home/planted" ] || (cd "$tree" && touch $(cat ../planted))
}

# plant, and remove again, the current mutant and the objects made from it
plant()
{
    echo "$file $through" >"$home/planted"
    rm -rf "$work/objects" && mkdir "$work/objects"
    (cd "$tree" && grep -rlF --include='*.d' " ${through:-$file}" "$build/obj" | sed 's/\.d$/.o/' |
        xargs cp -p --parents -t "$work/objects")
    cp -p "$tree/$file" "$work/source"
    replaced "$work/source" "$old" "$new" >"$tree/$file"
}
remove()
{
    cp -p "$work/source" "$tree/$file"
    cp -rp "$work/objects/." "$tree"
    # shellcheck disable=SC2046 # words
    (cd "$tree" && rm -f "$build/libgtmark.a" $(programs) ../planted)
}

# outcome: what catches the current mutant, as the list says it
outcome()
{
    by_row='' by_test=''
    if ! built ${through:+-o "$file" -W "$through"} $(programs); then
        echo 'nothing, since it does not compile:'
        grep -m 5 error "$work/log"
        return
    fi
    [ -z "$row" ] || row_passes || by_row=row
    for test in $tests; do
        test_passes "$test" || by_test=tests
    done
    case $by_row:$by_test in
    row:tests) echo both ;;
    *) echo "${by_row:-${by_test:-none}}" ;;
    esac
}

# failing: the rows and tests that fail without a mutant
failing()
{
    : >"$work/seen"
    while IFS=$field read -r name file through caught old new row size tests why; do
        if [ "$row" ] && ! grep -qxF "$(command_line)" "$work/seen"; then
            command_line >>"$work/seen"
            row_passes || { command_line && tail -n 5 "$work/log"; }
        fi
        for test in $tests; do
            grep -qxF "$size $test" "$work/seen" && continue
            echo "$size $test" >>"$work/seen"
            test_passes "$test" || { echo "test_$test" && grep -A 5 '^not ok\|ERROR\|^\[' "$work/log" | head -n 20; }
        done
    done <"$work/chosen"
}

mutants >"$work/list"
if [ "${1:-}" = --check ]; then
    while IFS=$field read -r name file through caught old new row size tests why; do
        check "$name applies" "$(unsound)" ''
    done <"$work/list"
    check 'every mutant has its own name' "$(cut -d "$field" -f 1 "$work/list" | sort | uniq -d)" ''
    tap_end
fi

number=0
while IFS= read -r line; do
    number=$((number + 1))
    name=${line%%"$field"*}
    case " $* " in
    '  ') in_part $number && printf '%s\n' "$line" ;;
    *" $name "*) printf '%s\n' "$line" ;;
    esac
done <"$work/list" >"$work/chosen"

for name; do
    cut -d "$field" -f 1 "$work/list" | grep -qxF "$name" || { echo "gtmark: no mutant '$name'" >&2 && exit 2; }
done
mkdir -p "$home" || exit 1
exec 9>"$home/lock"
flock -n 9 || { echo 'gtmark: mutants are being run already' >&2 && exit 1; }
refresh
while IFS=$field read -r name file through caught old new row size tests why; do
    programs
done <"$work/chosen" | sort -u >"$work/programs"
# shellcheck disable=SC2046 # words
check 'without a mutant, everything is built' "$(built $(cat "$work/programs") || tail -n 20 "$work/log")" ''
check 'without a mutant, rows and tests pass' "$([ $differ = 1 ] || failing)" ''
[ $differ = 0 ] || tap_end

while IFS=$field read -r name file through caught old new row size tests why; do
    plant
    check "$(printf '%-32s caught by %s' "$name" "$caught")" "$(outcome)" "$caught"
    remove
    [ -z "$why" ] || echo "# $name: $why"
done <"$work/chosen"
echo "# $number mutants in all; of these, $(cut -d "$field" -f 4 "$work/chosen" | sort | uniq -c |
    awk '{ printf "%s%d by %s", (NR > 1 ? ", " : ""), $1, $2 }')"
tap_end
