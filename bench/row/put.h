/* Members of a row that may have no value: then they are absent, with a reason. */
#ifndef GTMARK_BENCH_PUT_H
#define GTMARK_BENCH_PUT_H

#include "analysis/record/row.h"

/* Says why a member, which is absent, is so. */
void put_reason(struct row *row, const void *member, const char *reason);

/* Sets a count; negative: it exceeds 63 bits. */
void put_count(struct row *row, int64_t *member, int64_t value);

/* Sets a number, if it is finite. */
void put_real(struct row *row, double *member, double value);

/* Says why a program, or a group of its fields ("roofline"), is absent. */
void put_program_reason(struct row *row, size_t program, const char *group, const char *reason);

#endif
