#!/bin/sh
# Builds a copy of the tree without each package that it can do without, and without all of them, and runs a row of each.
# Half an hour or so; less with ccache. The compiler is a script that does not find what the probe looks for.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
unset MAKEFLAGS MAKELEVEL MFLAGS

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/bin"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp -p --parents -t "$work/tree"
cat >"$work/bin/gcc" <<END
#!/bin/sh
for file; do
    case \$file in */program.c) ! grep -qE "\$GTMARK_ABSENT" "\$file" || exit 1 ;; esac
done
exec ${CC:-gcc} "\$@"
END
chmod +x "$work/bin/gcc"

# built WORDS SETTING...: what goes wrong where programs with one of these words (a regular expression) do not compile
built()
{
    words=$1
    shift
    (cd "$work/tree" && rm -f build/probed && GTMARK_ABSENT=$words make CC="$work/bin/gcc" CUDA=0 "$@" &&
        build/bench_node_scaling --nodes 50 --hidden 16 --heads 2 --layers 1 --budget 0.1 --warmup 1 --no-roofline \
            --no-charts) >"$work/log" 2>&1 ||
        tail -n 20 "$work/log"
}

all=
while read -r name word; do
    all=$all${all:+|}$word
    check "without $name" "$(built "$word" </dev/null)" ''
done <<'END'
SQLite sqlite3
CBLAS cblas_sgemm
LAPACK dsyevr_
ARPACK dsaupd_
MPI mpi[.]h
METIS metis[.]h
cmocka cmocka
END
check 'without all of them' "$(built "$all")" ''
check 'with none of those that a variable leaves out' "$(built nothing BLAS=none MPI=0 METIS=0)" ''
tap_end
