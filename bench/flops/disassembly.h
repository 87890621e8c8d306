/* What a profile's instructions are: their FLOPs, by disassembling those that were executed. */
#ifndef GTMARK_BENCH_DISASSEMBLY_H
#define GTMARK_BENCH_DISASSEMBLY_H

#include "bench/flops/callgrind.h"

struct executed_flops {
    int64_t flops;
    int register_bytes; /* the widest register of an instruction that did some */
};

/* Whether there is a disassembler; else a message. */
bool disassembly_available(struct message *error);

/*
 * Executions times FLOPs per instruction (opcodes.h), summed. False with a message, also where an executed
 * instruction cannot be disassembled, and where code that is in no file could have done more than a
 * thousandth of the sum: nothing that matters is left out.
 */
bool disassembly_flops(const struct executions *e, struct executed_flops *out, struct message *error);

#endif
