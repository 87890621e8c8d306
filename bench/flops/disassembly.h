/* The FLOPs of profiles, by disassembling the executed instructions. */
#ifndef GTMARK_BENCH_DISASSEMBLY_H
#define GTMARK_BENCH_DISASSEMBLY_H

#include <stdint.h>
#include <stdio.h>

#include "bench/base/message.h"

/* --- profiles of callgrind with --dump-instr=yes: how often each instruction was executed */

struct execution {
    int object;       /* index of the object file of the instruction */
    uint64_t address; /* in the object file, without the load address */
    int profile;      /* in which it was counted */
    int64_t count;
};

struct executions {
    char **objects; /* paths; null for unused indices */
    int object_count;
    struct execution *list; /* by object, address and profile; each once */
    size_t count;
};

/* Adds a profile to those read before, which one process wrote: object files have the same numbers in all.
 * False with a message, and nothing to free, if it is incomplete or has an unexpected line. */
bool callgrind_read(FILE *in, int profile, struct executions *out, struct message *error);

/* Sorts the list, after the last profile. */
void executions_sort(struct executions *e);
void executions_free(struct executions *e);

struct executed_flops {
    int64_t flops;
    int register_bytes; /* widest register of an instruction with FLOPs */
};

/*
 * For each of `profiles` profiles the sum of executions times FLOPs of the instruction. False
 * with a message, also if an executed instruction cannot be disassembled, or if over a thousandth of the
 * executed instructions belong to no file.
 */
bool disassembly_flops(const struct executions *e, int profiles, struct executed_flops *out,
                       struct message *error);

/*
 * FLOPs of one execution of an x86 instruction, by its name.
 *
 * An addition, subtraction, multiplication, division, square root, or an approximation of a reciprocal or of
 * its square root is 1 per lane; a fused multiply-add 2; a horizontal addition 1 per lane of its result; a
 * dot product 2 per lane. A scalar instruction has one lane, a packed one as many as its widest register
 * holds, regardless of masks. Comparisons, minima, maxima, conversions, roundings, logic and moves are 0, as
 * is all integer arithmetic.
 */

struct opcode {
    int flops;
    int register_bytes; /* widest register in the operands: 64, 32, 16; 0 without any */
};

/* `instruction` as objdump prints it in AT&T syntax: "vfmadd231ps (%rax),%ymm1,%ymm2". */
struct opcode opcode_of(const char *instruction);

/*
 * The instruction and its address in a line of `objdump -d --no-show-raw-insn`; null if the line has none.
 */
const char *opcode_in_line(const char *line, uint64_t *address);

#endif
