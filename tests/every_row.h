/* Tests of every row of every table on the CPU: of ref, of the oracle, and of all instruction sets of cpu. */
#ifndef GTMARK_TESTS_EVERY_ROW_H
#define GTMARK_TESTS_EVERY_ROW_H

#include "bench/audit/operands.h"

enum { TF32_BITS = 11 };

typedef void visitor(const struct backend *b, const struct kernel *k, const struct operands *inputs,
                     const struct operands *oracle);

/*
 * Calls `visit` for the rows of the op in the type of the inputs that support their options; bits: TF32_BITS,
 * or 0 for the others. GTMARK_SMALL=1: of the instruction sets, the best.
 */
void visit_bits(enum op op, int bits, visitor *visit, const struct operands *inputs,
                const struct operands *oracle);
void visit_all(enum op op, visitor *visit, const struct operands *inputs, const struct operands *oracle);

/* Identifies the kernel and the sample; until the next call. */
const char *row_label(const struct backend *b, const struct kernel *k, const struct sample *s);

/* A copy of the inputs on which the kernel ran; the test fails if it wrote outside of its operands. */
struct operands *row_run(const struct operands *inputs, const struct backend *b, const struct kernel *k,
                         int threads, int64_t row0, int64_t row1);

/* A visitor: the row's error beside the oracle is allowed, and 1 to 3 threads give the same bits. */
void check_row(const struct backend *b, const struct kernel *k, const struct operands *inputs,
               const struct operands *oracle);

#endif
