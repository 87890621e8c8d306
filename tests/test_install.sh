#!/bin/sh
# What `make install` installs works wherever it is called from, and uninstall removes it. The script that does it is
# called without make, which might build.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
unset PREFIX DESTDIR prefix exec_prefix bindir libdir includedir datarootdir datadir mandir docdir bashcompletiondir INSTALL \
    INSTALL_PROGRAM INSTALL_DATA

build=${GTMARK_BUILD:-build}
house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
mkdir -p "$house/away" "$house/results" "$house/stage/usr/bin"
bin=$house/stage/usr/bin share=$house/stage/usr/share
record=$PWD/results/xeon-avx512-2core/bench_layer_scaling.jsonl

# setup WORDS...: the output and the exit status of the script
setup()
{
    DESTDIR=$house/stage prefix=/usr bench/install.sh "$@" 2>&1
    echo $?
}

# skipped NAME: instead of a check
skipped()
{
    checked=$((checked + 1))
    echo "ok $checked # SKIP $1"
}

# away COMMAND...: the output and the exit status of a command in another directory
away()
{
    (cd "$house/away" && "$@" 2>&1 && echo $?)
}

check 'an installation' "$(setup install "$build")" "Installed in $house/stage/usr.
0"
names=$(ls bench/*.c | sed 's|bench/||; s|\.c$||; /^bench_/!s/^/gtmark-/' | sort)
check 'every program is installed' "$(ls "$bin" | sort)" "$names"
check 'and has a man page' "$(ls "$share/man/man1" | sed 's/\.1$//' | sort)" "$names"
check 'and completion' "$(ls "$share/bash-completion/completions" | sort)" "$names"

# A plug-in outside of the checkout
cp "$share/doc/gtmark/examples/kernel.c" "$house/away/mine.c"
check 'a plug-in is compiled with what is installed' \
    "$(away cc -O2 -fopenmp -shared -fPIC -I "$house/stage/usr/include" mine.c -lm -o mine.so && away "$bin/gtmark-audit" --budget 0 mine.so | grep -c ' pass \| note ')" \
    '0
6'

# Programs
ln -s "$bin/gtmark-plot" "$house/link"
cp "$bin/gtmark-plot" "$house/copy"
if gnuplot --version >/dev/null 2>&1; then
    check 'a program draws charts through a link' "$(away ../link "$record" linked)" \
        'charts: linked_{time,memory,flops}.svg, .png
0'
    check 'a copy draws charts' "$(away ../copy "$record" copied)" \
        'charts: copied_{time,memory,flops}.svg, .png
0'
    check 'the charts exist' "$(ls "$house/away" | grep -c "\.png$")" 6
else
    skipped 'charts of installed programs: no gnuplot'
fi
check 'a program goes by its installed name' "$("$bin/gtmark-compare" one.json 2>&1)" \
    'gtmark-compare: needs two result files at least; usage: gtmark-compare [FLAGS] BASELINE.jsonl OTHER.jsonl ...; see --help'
away "$bin/bench_node_scaling" --nodes 8 --hidden 16 --heads 2 --layers 1 --runs 1 --warmup 0 --no-check \
    --no-roofline >"$house/log"
check 'a folder results that is not of a checkout is left alone' "$(ls "$house/results")" ''
check 'results are in the current directory' "$(ls "$house/away/results/local")" bench_node_scaling.jsonl

# Libraries
if ! readelf --version >/dev/null 2>&1; then
    skipped 'where installed programs look for libraries: no readelf'
elif grep -q -e '^HAVE_CUDA *:= *1' -e '^MPI_FLAGS *:= *-' "$build/cuda.mk" "$build/config.mk"; then
    check 'the libraries of CUDA and MPI are looked for where they are installed' \
        "$(make -n -o "$build/probed" -o "$build/config.mk" -o "$build/cuda.mk" prefix=/usr install 2>/dev/null |
            grep -e "-o $build/installed/bench_model" | grep -o "rpath,[^']*")" 'rpath,/usr/lib/gtmark'
else
    check 'installed programs look for libraries nowhere else' \
        "$(for program in "$bin"/*; do readelf -d "$program"; done | grep -E 'R(UN)?PATH')" ''
fi

# Man pages
if groff --version >/dev/null 2>&1; then
    check 'man pages have no mistakes' "$(for page in "$share"/man/man1/*; do groff -man -ww -z "$page" 2>&1; done)" ''
    groff -man -Tascii -P-cbou "$share/man/man1/bench_node_scaling.1" >"$house/page"
    check 'a man page has every flag' "$(grep -o '^ \{7\}--[a-z-]*' "$house/page" | tr -d ' ' | sort)" \
        "$("$bin/bench_node_scaling" --help | grep -o '^  --[a-z-]*' | tr -d ' ' | sort)"
    check 'and its sections' "$(grep '^[A-Z]' "$house/page" | sed 1d | tr '\n' ' ')" \
        'NAME SYNOPSIS OPTIONS EXAMPLES EXIT STATUS SEE ALSO '
    groff -man -Tascii -P-cbou "$share/man/man1/gtmark-compare.1" >"$house/page"
    check 'so has that of a tool' "$(grep '^[A-Z]' "$house/page" | sed 1d | tr '\n' ' ')" \
        'NAME SYNOPSIS OPTIONS NOTES EXAMPLES EXIT STATUS SEE ALSO '
else
    skipped 'man pages: no groff'
fi

# offered NAME WORD: what completion makes of the word
offered()
{
    bash -c '. "$1/$2"; f=$(complete -p "$2" | sed "s|.*-F \([^ ]*\).*|\1|"); $f "$2" "$3"; echo "${COMPREPLY[@]}"' - \
        "$share/bash-completion/completions" "$1" "$2" 2>&1
}

if bash -c : 2>/dev/null; then
    check 'completion of a flag' "$(offered bench_node_scaling --node)" '--nodes'
    check 'completion of a flag of a tool' "$(offered gtmark-compare --fa)" '--fail-on'
    check 'no completion of a file' "$(offered gtmark-plot bench)" ''
else
    skipped 'completion: no bash'
fi

# Removing
check 'an installation over another' "$(setup install "$build" | tail -n 1)" 0
echo >"$share/doc/gtmark/mine"
check 'removing' "$(setup uninstall)" 0
check 'leaves what is not of gtmark' "$(cd "$house/stage" && find . ! -type d -o -empty | sort)" './usr/bin
./usr/share/doc/gtmark/mine'
check 'what is not there cannot be removed' "$(setup uninstall)" \
    "gtmark: $house/stage/usr/share/gtmark/installed: no such file: nothing is installed there
2"
rm -r "$share"
check 'what fails half-way' "$(INSTALL_DATA='install --nonsense' setup install "$build")" \
    "gtmark: install: unrecognized option '--nonsense'; PREFIX=DIR chooses another place
2"
check 'leaves nothing' "$(cd "$house/stage" && find . -mindepth 1 | sort | tr '\n' ' ')" './usr ./usr/bin '
check 'a place that cannot be written is one line' \
    "$(prefix=/proc/gtmark bench/install.sh install "$build" 2>&1 | sed 's/:.*;/: ...;/')" \
    'gtmark: ...; PREFIX=DIR chooses another place'
check 'a relative place is refused' "$(prefix=usr bench/install.sh install "$build" 2>&1)" \
    'gtmark: usr: not an absolute path'
tap_end
