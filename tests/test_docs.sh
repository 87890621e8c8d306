#!/bin/sh
# What the documentation says is so: its commands work, what stands below them is what they print, the ratios of the
# README are published ones, and the workflow for continuous integration lets no change pass that needs more memory.
#
# Commands are indented lines that begin with build/, cc, make, tests/, jq, python3 or sqlite3. They run in a folder that
# the programs, linked there, take for the checkout, with the results of a small sweep. A benchmark that would measure gets
# --dry-run, or, where that is refused, is only asked for a list; with a plug-in it runs, on little. Programs that are not
# installed are skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
root=$PWD build=$(realpath "${GTMARK_BUILD:-build}")

house=$(mktemp -d "$build/docs.XXXXXX") || exit 1
trap 'rm -rf "$house"' EXIT
mkdir -p "$house/results/local" "$house/build" "$house/OLD" "$house/old"
ln -s "$root/kernels" "$root/graphs" "$root/models" "$root/docs" "$house"
ln "$build/id" "$house/build"
for main in bench/*.c; do
    ln "$build/$(basename "$main" .c)" "$house/build"
done
ln -s "$house/build" "$house/OLD" && ln -s "$house/build" "$house/old"
for machine in results/[!l]*/; do
    ln -s "$root/$machine" "$house/results"
done

# in_house COMMAND: what it prints, and its exit status
in_house()
{
    (cd "$house" && SLURM_ARRAY_TASK_ID=1 sh -c "$1" 2>&1 </dev/null)
}

small='build/bench_node_scaling --hidden 8 --heads 1 --layers 1 --runs 3 --no-charts --no-roofline'
in_house "$small --nodes 8,9" >"$house/said"
cp "$house/results/local/bench_node_scaling.jsonl" "$house/results/local/bench_node_scaling.jsonl~"
cp "$house/results/local/bench_node_scaling.jsonl" "$house/results/local/bench_model.jsonl"
for part in 1 2 3; do
    in_house "$small --nodes 8,9,10 --shard $part/3 --output shard-$part.jsonl" >"$house/said"
done

# commands PAGE: its commands, one a line, without prompts, remarks and breaks
commands()
{
    sed -n '/^    /{:more; /\\$/{N; s/\\\n */ /; b more}; s/^    //; s/^\$ //; s/  *# .*//; p}' "$1" |
        grep -E '^([A-Z_a-z]+=[^ ]* (&& )?)?(build/|cc |make( |$)|tests/|jq |python3 |sqlite3 )'
}

# no_goals WORD...: those that are no targets of make, up to &&
no_goals()
{
    for word; do
        case $word in
        make | *=*) ;;
        '&&') break ;;
        *) grep -qE "^(\.PHONY:.* |##   )$word( |\$)" Makefile || echo "no target $word" ;;
        esac
    done
}

# can_run COMMAND: whether its program was built, or is installed
can_run()
{
    case $1 in
    build/bench_rank_scaling*) grep -q '^MPI_FLAGS *:= *-' "$build/config.mk" ;;
    build/query*) grep -q '^SQLITE *:= *-' "$build/config.mk" ;;
    *build/*) ;;
    python3*) python3 -c 'import pandas' 2>/dev/null ;;
    *) command -v "${1%% *}" >/dev/null ;;
    esac
}

# fault COMMAND: what is wrong with it; nothing if it works
fault()
{
    case $1 in
    make*)
        # shellcheck disable=SC2086 # words of a command
        no_goals $1
        return
        ;;
    tests/*)
        [ -x "${1%% *}" ] || echo 'no such program'
        return
        ;;
    esac
    can_run "$1" || return
    case $1 in
    *build/bench_*--find*=latency*) in_house "$1 --list models" >"$house/said" ;;
    *build/bench_*--device\ meta* | *build/bench_*--list* | *build/bench_*--dry-run*) in_house "$1" >"$house/said" ;;
    *build/bench_*--plugin*) in_house "$1 --nodes 20 --hidden 16 --runs 1 --warmup 0 --no-roofline --no-charts --output plug-in.jsonl" >"$house/said" ;;
    *build/bench_*) in_house "$1 --dry-run" >"$house/said" ;;
    *build/audit*) in_house "$1 --budget 0" >"$house/said" ;;
    *) in_house "$1" >"$house/said" ;;
    esac || echo "exit status $?: $(cat "$house/said")"
}

# faults PAGE: those of its commands
faults()
{
    commands "$1" | while read -r command; do
        found=$(fault "$command")
        [ -z "$found" ] || echo "$command: $found"
    done
}

# unprinted PAGE: lines below a command with a prompt that it does not print
unprinted()
{
    awk '/^    \$ / { command = substr($0, 7); next }
         !/^    /   { command = "" }
         command != "" && !/^    \.\.\.$/ { print command "\t" substr($0, 5) }' "$1" |
        while IFS='	' read -r command line; do
            ! can_run "$command" || in_house "$command" | grep -qxF -e "$line" || echo "$line"
        done
}

# unmeasured PAGE: ratios of the rows "| model of width D | nodes | inference | training step |" that no row of the
# comparison with PyTorch has as its least
unmeasured()
{
    awk -F ' *[|] *' '
        function least(text, ratio, n, parts, i) {
            n = split(text, parts, ", ")
            ratio = parts[1] + 0
            for (i = 2; i <= n; i++)
                if (parts[i] + 0 < ratio)
                    ratio = parts[i] + 0
            return ratio
        }
        FNR == 1 { page = page + 1 }
        page == 1 && $2 ~ /^[0-9]+$/ { measured[$2, $3, least($(NF - 3))] = 1 }
        page == 2 && NF == 6 && $3 ~ /^[0-9]+$/ {
            if (!measured[$3, "forward", $4 + 0] || !measured[$3, "step", $5 + 0])
                print $2 ", " $3 " nodes: " $4 ", " $5
        }' results/epyc-zen5-2core/pytorch.md "$1"
}

# unknown PAGE: flags that neither our programs and scripts have nor the others that pages name, and fields of a result
# file (`a.b`, where a field begins with `a.`) that docs/fields.md lacks; an object's own fields are not listed.
unknown()
{
    grep -oE -e '--[a-z][a-z-]+' "$1" | sort -u | grep -vxFf "$house/flags"
    grep -oE '`[A-Za-z]+(\.[a-z_0-9]+)+`' "$1" | tr -d '`' | sort -u | awk '
        NR == FNR { known[$0]; for (name = $0; sub(/\.[^.]*$/, "", name);) part[name]; next }
        {
            name = $0
            sub(/^step\.(backward|optimizer|recompute)/, "S", name)
            sub(/^([PS]|encoding)\.time/, "T", name)
            first = parent = name
            sub(/\..*/, "", first)
            sub(/\.[^.]*$/, "", parent)
        }
        (first in part) && !(name in known) && !(name in part) && !(parent in known)' "$house/fields" -
}
{
    for main in bench/*.c; do
        in_house "build/$(basename "$main" .c) --help"
    done
    cat tests/[!t]*.sh tests/*.py
    echo --array --cflags --depth --exclude-libs --libs --pre-layernorm --tool
} | grep -oE -e '--[a-z][a-z-]+' >"$house/flags"
sed -nE 's/^\|( `--[^|]*\|)? `([^`]*)`.*/\2/p' docs/fields.md >"$house/fields"

for page in README.md docs/*.md docs/validation/*.md; do
    check "flags and fields of $page" "$(unknown "$page")" ''
done
for page in README.md docs/*.md; do
    check "commands of $page" "$(faults "$page")" ''
    check "what commands of $page print" "$(unprinted "$page")" ''
done
check 'other programs read the two rows of a file' "$(commands docs/files.md | grep -v build/ | while read -r command; do
    ! can_run "$command" || [ "$(in_house "$command" | grep -cE '^.?[89].*[0-9]|[0-9] +row$')" = 2 ] || echo "$command"
done)" ''
check 'there are commands' "$(($(commands README.md | wc -l) > 9 && $(commands docs/guide.md | wc -l) > 20))" 1
check 'ratios of the README' "$(unmeasured README.md)" ''

# The workflow of the guide, and a baseline in which everything took less memory.
baseline=$(commands docs/guide.md | grep -e '--output plan.jsonl')
fixed=$(sed -n 's/^ *\(GTMARK_ISA\): /\1=/p' docs/guide.md)
gate=$(sed -n 's/^ *- run: \(build.* --baseline .*\)/\1/p' docs/guide.md)
in_house "$baseline" >"$house/said"
check 'the workflow lets a good change pass' "$(in_house "$fixed $gate" >"$house/said"; echo $?)" 0
sed -i '2,$s/"planned":[0-9]*/"planned":1/' "$house/plan.jsonl"
check 'and none that needs more memory' "$(in_house "$fixed $gate" >"$house/said"; echo $?)" 1

sed -E 's/^( +100 +~?)[0-9]/\19/; s/^(\|.*\| 100 \| )[0-9]/\19/' README.md >"$house/README.md"
echo 'With --unheard-of, `P.time.middle` and `encoding.colour`, of `torch.add`.' >>"$house/README.md"
check 'flags and fields that do not exist are found' "$(unknown "$house/README.md" | tr '\n' ' ')" '--unheard-of P.time.middle encoding.colour '
printf '    %s\n' 'build/plot --nothing  # five' 'make nothing' tests/none.sh '$ build/plot --help' 1.2.3 >>"$house/README.md"
check 'commands that fail are found' "$(faults "$house/README.md" | sed 's/[ :].*//')" 'build/plot
make
tests/none.sh'
check 'lines that are not printed are found' "$(unprinted "$house/README.md" | sed 's/^ *\(100\) .*/\1/')" '100
1.2.3'
check 'ratios that nobody measured are found' "$(unmeasured "$house/README.md" | wc -l)" 2
tap_end
