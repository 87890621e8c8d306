/* What a profile's instructions are: their FLOPs, by disassembling those that were executed. */
#ifndef GTMARK_BENCH_DISASSEMBLY_H
#define GTMARK_BENCH_DISASSEMBLY_H

#include "bench/callgrind.h"

struct executed_flops {
    int64_t flops;
    int register_bytes; /* the widest register of an instruction that did some */
};

/* Whether there is a disassembler; else a message. */
bool disassembly_available(struct message *error);

/*
 * Executions times FLOPs per instruction (opcodes.h), summed. False with a message, also where an executed
 * instruction is in no file or cannot be disassembled: nothing is left out silently.
 */
bool disassembly_flops(const struct executions *e, struct executed_flops *out, struct message *error);

#endif
