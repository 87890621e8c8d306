/* The FLOPs of profiles, by disassembling the executed instructions. */
#ifndef GTMARK_BENCH_DISASSEMBLY_H
#define GTMARK_BENCH_DISASSEMBLY_H

#include "bench/flops/callgrind.h"

struct executed_flops {
    int64_t flops;
    int register_bytes; /* widest register of an instruction with FLOPs */
};

/*
 * For each of `profiles` profiles the sum of executions times FLOPs of the instruction (opcodes.h). False
 * with a message, also if an executed instruction cannot be disassembled, or if over a thousandth of the
 * executed instructions belong to no file.
 */
bool disassembly_flops(const struct executions *e, int profiles, struct executed_flops *out,
                       struct message *error);

#endif
