/* The FLOPs of a profile, by disassembling the executed instructions. */
#ifndef GTMARK_BENCH_DISASSEMBLY_H
#define GTMARK_BENCH_DISASSEMBLY_H

#include "bench/flops/callgrind.h"

struct executed_flops {
    int64_t flops;
    int register_bytes; /* widest register of an instruction with FLOPs */
};

/* Whether objdump is installed; otherwise a message. */
bool disassembly_available(struct message *error);

/*
 * The sum of executions times FLOPs of the instruction (opcodes.h). False with a message, also if an executed
 * instruction cannot be disassembled, or if code that belongs to no file could have done more than a
 * thousandth of the sum.
 */
bool disassembly_flops(const struct executions *e, struct executed_flops *out, struct message *error);

#endif
