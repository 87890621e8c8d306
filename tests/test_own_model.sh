#!/bin/sh
# A model of one's own: docs/examples/model.c, compiled away from the checkout with what is installed, goes through every
# phase as the models of the suite do; a wrong kernel is found in it; what does not fit is one line. A program links the
# library.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=$(realpath "${GTMARK_BUILD:-build}")
mpirun=$PWD/tests/mpirun.sh

if ! pkg-config --version >/dev/null 2>&1; then
    echo 'ok 1 # SKIP a model of others: no pkg-config (make setup)'
    echo '1..1'
    exit
fi

house=$(mktemp -d) || exit 1
trap 'rm -rf "$house"' EXIT
mkdir "$house/away"
# setup WORD...: an installation in the house, or its end
setup()
{
    prefix=$house/usr DESTDIR='' bench/install.sh "$@" 2>&1
}
check 'an installation' "$(setup install "$build")" "Installed in $house/usr."
export PKG_CONFIG_PATH="$house/usr/lib/pkgconfig" LD_LIBRARY_PATH="$house/usr/lib" PATH="$house/usr/bin:$PATH"
cflags=$(pkg-config --cflags gtmark)
cp docs/examples/model.c tests/plugins/program.c "$house/away"
# Scores are multiplied by what they should be divided by.
sed 's/s \/= sqrt/s *= sqrt/; s/"mine"/"wrong"/' docs/examples/kernel.c >"$house/away/wrong.c"
cd "$house/away" || exit 1
# shellcheck disable=SC2086 # flags
{
    cc -Wall -Wextra -Werror -shared -fPIC $cflags model.c -o model.so
    cc -shared -fPIC -fopenmp $cflags model.c wrong.c -lm -o both.so
    cc -shared -fPIC $cflags -UGTMARK_ID -DGTMARK_ID=0-0 model.c -o other.so
    cc -Wall -Wextra -Werror $cflags program.c $(pkg-config --libs gtmark) -o program
} >compiled 2>&1
check 'model and program are compiled' "$(cat compiled)" ''
check 'a program with the library' "$(./program)" 5
check 'no library has a name that benchmarks export, which it would find there' \
    "$(nm -D --defined-only "$build/bench_model" | sed -n 's/.* [TDBR] //p' | sort >exported
    ldd "$build/bench_model" "$build"/mpi/*.so 2>/dev/null | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | sort -u |
        xargs nm -D --defined-only 2>/dev/null | sed -n 's/.* [TDBRWV] \([^@]*\).*/\1/p' | sort -u | comm -12 - exported | sed '/^_/d')" ''

# rows PROGRAM WORD...: its exit status, and of each row status, check, plug-in without the hash, parameters
rows()
{
    "$@" --hidden 16 --heads 2 --layers 2 --runs 1 --warmup 0 --no-roofline --no-charts --output rows.jsonl >said 2>&1
    echo $?
    grep '"status"' rows.jsonl | while IFS= read -r row; do
        for key in status checked plugin parameters; do
            echo "$row" | grep -oE "\"$key\":(\"[^\"]*\"|[0-9]+)" | head -n 1
        done | sed 's/^[^:]*://; s/[0-9a-f]\{16\}:/HASH:/' | tr -d '"' | paste -s -d ' '
    done
}
mine='--plugin model.so --model gps_serial --nodes 20'
# A layer of width d: GIN 2 (d^2 + d), attention 4 (d^2 + d), FFN 4 d^2 + 3 d, three norms 6 d.
parameters=$((17 * 16 + 2 * (10 * 256 + 15 * 16) + 17))
named="model.so HASH: model=gps_serial $parameters"
# shellcheck disable=SC2086 # flags
{
    check 'inference and a training step are compared with double' "$(rows bench_node_scaling $mine)" "0
ok whole $named"
    check 'so is a step that recomputes' "$(rows bench_node_scaling $mine --phase step --checkpoint layer)" "0
ok whole $named"
    check 'its profile has its layers' "$(rows bench_node_scaling $mine --profile; grep -c '^attention.qkv linear  *2 ' said)" \
        "0
ok whole $named
2"
    check 'a wrong kernel is found, and named' \
        "$(rows bench_node_scaling --plugin both.so --model gps_serial --nodes 20 --impl sparse_attention=wrong
        tr -s '\n ' ' ' <said | grep -o 'wrong: sparse_attention.*: the error is')" \
        "1
wrong whole both.so HASH: model=gps_serial, sparse_attention=wrong $parameters
wrong: sparse_attention=wrong of both.so, y of layer1.attention: the error is"
    check 'planned only, it adds nodes once, and layers side by side in each' \
        "$(rows bench_node_scaling --plugin model.so --model gps_sparse,gps_serial --nodes 20 --device meta --phase forward
        echo $(($(grep -o '"analytic":[0-9]*' rows.jsonl | cut -d : -f 2 | paste -s -d -)))
        grep -o '"work":"[0-9a-f]*"' rows.jsonl | sort -u | wc -l)" \
        "0
ok none $parameters
ok none $named
320
2"
    if grep -q '^MPI_FLAGS *:= *-' "$build/config.mk"; then
        check 'two ranks divide its nodes' \
            "$(GTMARK_BUILD=$build rows "$mpirun" 2 "$build/bench_node_scaling" $mine --ranks 2 --parallel halo)" \
            "0
ok whole $named"
    fi
}

# refused PROGRAM WORD...: its last line, and its exit status
refused()
{
    "$@" >said 2>&1
    status=$?
    tail -n 1 said
    echo $status
}
check 'another version' "$(refused bench_model --plugin other.so --model gps_serial | sed 's/GTMARK_ID=[0-9-]*/GTMARK_ID=ID/')" \
    'bench_model: --plugin other.so: its models are of version 0-0: compile it with the headers of this one, and -D GTMARK_ID=ID (docs/plugins.md)
2'
check 'no such model' "$(refused bench_model --plugin model.so --model gps_serials | grep -o -e '--model gps_serials: ' -e '^2')" \
    '--model gps_serials: 
2'
check 'branches that it would not have' "$(refused bench_model --plugin model.so --model gps_serial --mpnn gcn)" \
    'bench_model: --model gps_serial: takes no --attention and --mpnn: its line in the plug-in has them
2'
check 'an audit of models' "$(refused gtmark-audit model.so)" 'gtmark-audit: model.so: has models, and no kernels
2'
cd "$OLDPWD" || exit 1
check 'removing leaves nothing' "$(setup uninstall; ls "$house")" away
tap_end
