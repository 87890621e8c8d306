#!/bin/sh
# The long tests, in parts of less than an hour each: tests/soak.sh [PART]... (`make soak` builds what they need)
#
# Without arguments: every part that has not passed yet with these sources, so that an interrupted soak goes on where it
# stopped. PART...: these parts, in any case. What has passed, and in how many seconds, is kept in build/soak. From the
# environment: GTMARK_BUILD, GTMARK_EMULATED (the tests of the emulated GPU, if there is one).
set -u
cd "$(dirname "$0")/.." || exit 1
build=${GTMARK_BUILD:-build} emulated=${GTMARK_EMULATED:-}

foreign=$(command -v qemu-aarch64-static >/dev/null && echo aarch64)
all="tests kills ${emulated:+emulator gpu generations} $foreign fuzzers gates absent recipes-1 recipes-2 mutants-1 mutants-2 mutants-3 mutants-4"
sources=$({ git rev-parse HEAD && git diff HEAD; } | cksum | cut -d ' ' -f 1)
passed=build/soak/$sources
mkdir -p "$passed" || exit 1

# Of `tests`, those that kill a program hundreds of times.
killing='test_kills test_resume'

# programs PART: arguments of tests/run.sh
programs()
{
    case $1 in
    tests)
        for source in tests/test_*.c; do
            name=$(basename "$source" .c)
            case " $killing " in *" $name "*) ;; *) echo "$build/tests/$name" ;; esac
        done
        ;;
    kills)
        for name in $killing; do echo "$build/tests/$name"; done
        echo tests/mpi_kills.sh
        ;;
    emulator) echo "$emulated" ;;
    gpu) echo tests/gpu_emulated.sh ;;
    generations) echo tests/generations.sh ;;
    fuzzers) echo tests/test_fuzz.sh ;;
    gates) echo tests/gates.sh ;;
    absent) echo tests/absent.sh ;;
    recipes-*) echo "GTMARK_PART=${1#*-}/2 tests/recipes.sh" ;;
    mutants-*) echo "GTMARK_PART=${1#*-}/4 tests/mutants.sh" ;;
    esac
}

for part; do
    case " $all " in
    *" $part "*) ;;
    *) echo "gtmark: soak has no part '$part': $all" >&2 && exit 2 ;;
    esac
done
# shellcheck disable=SC2086 # words
[ $# -gt 0 ] && rm -f $(printf "$passed/%s " "$@") || set -- $all

for part; do
    [ -e "$passed/$part" ] && continue
    echo "soak: $part"
    start=$(date +%s)
    # shellcheck disable=SC2046 # words
    case $part in
    aarch64) tests/foreign.sh aarch64 ;;
    *) tests/run.sh GTMARK_BUILD="$build" GTMARK_SOAK=1 $(programs "$part") ;;
    esac && echo $(($(date +%s) - start)) >"$passed/$part"
done

failed=0
for part; do
    if [ -e "$passed/$part" ]; then
        printf 'soak: %-10s passed in %5d s\n' "$part" "$(cat "$passed/$part")"
    else
        printf 'soak: %-10s FAILED; again with make soak PART=%s\n' "$part" "$part"
        failed=1
    fi
done
exit $failed
