#!/bin/sh
# What the GPU's kernels do for each op, as a table in Markdown: by the counters of the emulated device, which executes them
# from PTX (tests/emulator/counters.h), and by what ptxas said when it compiled them.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/compiled.sh
build=${GTMARK_BUILD:-build}
work=$(mktemp -d) || exit 1
trap 'rm -r "$work"' EXIT

GTMARK_COUNTERS=$work/counters "$build/emulated/tests/test_counters" \
    >"$work/said" 2>&1 && [ -s "$work/counters" ] || { cat "$work/said" >&2 && exit 1; }
compiled_kernels | sort -V >"$work/compiled"
nvcc=$(sed -n 's/^CUDA_NVCC *:= *//p' "$build/cuda.mk")

cat <<END
# What the GPU's kernels do for each op

Counted without a GPU, by \`make gpu-counters\` on $(date -u +%F) at $(git describe --always --dirty --abbrev=12), with nvcc $("$nvcc" --version | sed -n 's/.*, V//p'). Each
op runs once, without options, with $(sed 1q "$work/counters"):
the PTX of its kernels is executed and counted. What libraries do (products) is not counted.

- FLOPs: those executed, over those of the op's formula; more where sums are done twice, or functions have many terms
- sectors: those of 32 bytes that warps touched in device memory, over the fewest for their bytes
- passes: those over the banks of shared memory, over those without conflicts
- lanes: active in an instruction of a warp, on average, of 32
- 64-bit: the share of instructions that compute with 64-bit integers, of which a GPU makes two or more each
- mma: the share of instructions that multiply matrices on tensor cores
- longest kernel: that with the most instructions; its threads in a block, static shared memory, and by GPU registers
  of a thread and occupancy: warps that fit into a multiprocessor, of 64. No kernel of any op spills registers, or a
  line below says so

| op | variant | FLOPs | sectors | passes | lanes | 64-bit | mma | longest kernel | threads | shared | GPU: registers, occupancy |
|---|---|--:|--:|--:|--:|--:|--:|---|--:|--:|---|
END

# Limits of a multiprocessor: "Technical specifications per compute capability" in the CUDA C++ Programming Guide.
awk '
    function blocks_for(gpu, registers, threads, shared,    warps, blocks, memory)
    {
        warps = int((threads + 31) / 32)
        memory = (gpu == "sm_80" ? 164 : 228) * 1024
        blocks = min(32, int(64 / warps))
        blocks = min(blocks, int(int(65536 / (256 * int((registers * 32 + 255) / 256)) / 4) * 4 / warps))
        return min(blocks, int(memory / (1024 + 128 * int((shared + 127) / 128))))
    }
    function min(a, b) { return a < b ? a : b }
    function over(a, b) { return b == 0 ? "" : sprintf("%.2f", a / b) }
    function on_gpus(name,    text, g, warps, each)
    {
        warps = int((threads[name] + 31) / 32)
        for (g = 1; g <= gpus; g++) {
            each = registers[gpu[g], name]
            text = text (g > 1 ? "; " : "") gpu[g] ": " (each == "" ? "not known" : each ", " \
                int(100 * blocks_for(gpu[g], each, threads[name], shared[name]) * warps / 64) " %")
        }
        return text
    }
    function end_op()
    {
        if (op != "")
            print "| " op " | " over(sum[9], sum[0]) " | " over(sum[11], sum[12]) " | " over(sum[13], sum[14]) " | " \
                sprintf("%.1f", sum[8] / sum[7]) " | " int(100 * sum[10] / sum[7]) " % | " int(100 * sum[15] / sum[7]) " % | " longest " | " \
                threads[longest] " | " shared[longest] " | " on_gpus(longest) " |"
        delete sum
        most = 0
    }
    NR == FNR {
        if (!($1 in known))
            gpu[++gpus] = $1
        known[$1] = 1
        registers[$1, $2] = $3
        if ($5 > 0)
            spills = spills "\n" $2 " spills " $5 " bytes on " $1
        next
    }
    FNR == 1 { next }
    op != $1 " | " $2 { end_op(); op = $1 " | " $2 }
    {
        threads[$4] = $5
        shared[$4] = $6
        sum[0] = $3
        for (n = 7; n <= 15; n++)
            sum[n] += $n
        if ($7 > most) {
            most = $7
            longest = $4
        }
    }
    END { end_op(); print spills }' "$work/compiled" "$work/counters" | c++filt |
    sed 's/(anonymous namespace):://g; s/_GLOBAL__N__[0-9a-z_]*:://g; s/([^()|]*)\( |\)/\1/; s/| void /| /'
