#!/bin/sh
# Sandboxes: where system calls are refused, /sys is empty and /proc says little, a row is what it is elsewhere, what cannot be
# had is absent with its reason, and no warning is made up or said twice. And a machine with two kinds of processors.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${GTMARK_BUILD:-build}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086 # words
${CC:-cc} -std=gnu11 -Wall -Wextra -Werror tests/sandbox/refuse.c -o "$work/refuse" || exit 1

# row COMMAND...: runs a benchmark by this command; its row, why some of its fields are absent, and warnings that come twice
# or that tell of a machine which this is not
row()
{
    "$@" "$build/bench_node_scaling" --nodes 50 --hidden 16 --heads 2 --layers 1 --phase step --runs 2 --warmup 1 \
        --threads 2 --no-roofline --no-charts --count counters --output "$work/result.jsonl" --format csv \
        --columns status,step.time.n,step.memory.planned,step.flops.analytic 2>"$work/errors" | tail -n 1
    sed -n 's/^{"kind":"row".*"absent":{\([^}]*\)}.*/\1/p' "$work/result.jsonl" |
        grep -oE '"(noise.load|step.memory.resident|step.flops.executed|step.time.lost)":"[^"]*"'
    tr '\n' ' ' <"$work/errors" | sed 's/  */ /g; s/ \(warning\|note\):/\n\1:/g' >"$work/lines"
    sort "$work/lines" | uniq -d
    grep ' nan' "$work/lines"
    rm -f "$work/result.jsonl"
}

ok=$(row env | head -n 1)
check 'a row' "${ok%%,*}" ok
# 1 is EPERM, 38 is ENOSYS.
check 'system calls that are not permitted' "$(row "$work/refuse" 1)" "$ok
\"step.flops.executed\":\"no hardware counters: Operation not permitted\""
check 'system calls that do not exist' "$(row "$work/refuse" 38)" "$ok
\"step.flops.executed\":\"no hardware counters: Function not implemented\""
check 'no AMX where it is not granted' "$("$work/refuse" 1 "$build/bench_node_scaling" --version | grep '^cpu backend')" \
    "$("$build/bench_node_scaling" --version | sed -n '/^cpu backend/{s/ and amx//;p}')"
check 'an audit where system calls are refused' \
    "$("$work/refuse" 38 "$build/audit" --own --op add --budget 0 2>&1 | grep -vE ' (pass|absent|note) ')" ''

# The set of the baseline is the one that needs no CPUID, and OpenBLAS does.
if ${CC:-cc} -shared -fPIC -Wall -Wextra -Werror tests/sandbox/no_cpuid.c -o "$work/no_cpuid.so" 2>/dev/null &&
    LD_PRELOAD=$work/no_cpuid.so true; then
    no_cpuid="env LD_PRELOAD=$work/no_cpuid.so"
    # shellcheck disable=SC2086 # words
    check 'CPUID is a fault' "$($no_cpuid "$build/bench_node_scaling" --version | grep '^cpu'; row $no_cpuid)" \
        "cpu backend: OpenMP and SIMD, compiled for base
$(GTMARK_ISA=base row env | head -n 1)
\"step.flops.executed\":\"no hardware counters of FLOPs are known for this processor\""
else
    echo "ok $((checked += 1)) # SKIP CPUID is a fault: this processor or kernel has no such state"
fi

# Mounts that nothing else sees. gVisor's /proc knows little of the machine, and of processes no times of the scheduler.
cat >"$work/gvisor" <<'END'
mount -t tmpfs none "$1" && mkdir "$1/real" && mount --rbind /proc "$1/real" && mount -t tmpfs none /sys &&
    mount -t tmpfs none /proc || exit
printf 'processor\t: 0\nmodel name\t: unknown\n\n' >/proc/cpuinfo
grep -E '^Mem(Total|Free|Available)' "$1/real/meminfo" >/proc/meminfo
echo "$load" >/proc/loadavg
printf 'cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0\n' >/proc/stat
mkdir /proc/self
for name in exe status fd; do ln -s "$1/real/self/$name" /proc/self; done
mount -o remount,ro /proc || exit
shift
exec "$@"
END
cat >"$work/hybrid" <<'END'
mount -t tmpfs none /sys && mkdir -p /sys/devices/cpu_core /sys/devices/cpu_atom || exit
echo "$1" >/sys/devices/cpu_core/cpus
echo "$2" >/sys/devices/cpu_atom/cpus
shift 2
exec "$@"
END
mkdir "$work/mount"
user=
unshare -m true 2>/dev/null || user=-r
# alone SCRIPT ARGUMENT...
alone()
{
    script=$1
    shift
    # shellcheck disable=SC2086 # words
    unshare $user -m sh "$work/$script" "$@"
}
# kinds VARIABLE PROCESSOR...: on which kinds of processors threads run by default, and how many, where the first of these
# are Intel's P cores and the second its E cores
kinds()
{
    env "$1" unshare $user -m sh "$work/hybrid" "$2" "$3" "$build/bench_node_scaling" --device meta --nodes 20 \
        --hidden 8 --heads 1 --layers 1 --phase forward --format json |
        sed -n 's/.*"processor": ".*, \(cpu_[a-z]*\|several kinds\)".*/\1/p; s/.*"cores": \([0-9]*\).*/\1/p'
}

if ! alone gvisor "$work/mount" true 2>/dev/null; then
    for what in 'a sandbox that says little' 'processors of two kinds' 'all processors of two kinds'; do
        echo "ok $((checked += 1)) # SKIP $what: mounts are not allowed"
    done
    tap_end
fi
export load='0.00 0.00 0.00 0/0 0'
check 'a sandbox that says little' "$(row alone gvisor "$work/mount" "$work/refuse" 38)" "$ok
\"noise.load\":\"the kernel does not say (/proc/loadavg)\"
\"step.memory.resident\":\"the kernel does not say, or cannot reset its high-water mark (/proc/self)\"
\"step.flops.executed\":\"no hardware counters: Function not implemented\"
\"step.time.lost\":\"the kernel does not say how long threads wait (/proc/self/schedstat)\""
# Of a load that it has not, with as many cores as the row has threads, nothing is told.
load='0.00 0.00 0.00 2/9 9'
check 'a sandbox that says one processor' "$(row alone gvisor "$work/mount" >"$work/row"; head -n 1 "$work/row"; grep ' cores' "$work/lines")" "$ok"

processors=$(taskset -cp $$ 2>/dev/null | sed 's/.*: //')
first=${processors%%[-,]*} last=${processors##*[-,]}
if [ "$first" = "$last" ]; then
    for what in 'processors of two kinds' 'all processors of two kinds'; do
        echo "ok $((checked += 1)) # SKIP $what: there is one processor"
    done
else
    check 'processors of two kinds' "$(kinds A=1 "$first" "$((first + 1))-$last")" "cpu_core
1"
    check 'all processors of two kinds' "$(kinds OMP_PROC_BIND=false "$first" "$((first + 1))-$last" | head -n 1)" \
        'several kinds'
fi
tap_end
