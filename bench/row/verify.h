#ifndef GTMARK_BENCH_VERIFY_H
#define GTMARK_BENCH_VERIFY_H

#include "bench/row/workload.h"
#include "models/layers/check.h"

struct checked {
    struct check check;  /* over all programs of the row */
    char how[512];       /* what was compared, and how */
    char unchecked[128]; /* programs not checked, and why; empty if all were */
    bool by_rows;        /* some program was checked by rows of its ops, not as a whole */
};

/*
 * Whether what timed runs left is finite: parameters, output and loss; of a single op its results; and
 * whether all ranks have the same parameters. If the last run was cancelled (`whole` false), only the
 * parameters. To be called after every block of samples, before the program is initialised again. False with
 * a message that names the tensor.
 */
bool still_finite(const struct recording *r, bool whole, struct message *error);

/*
 * Checks one program after its timing: its initial state; the whole program against the FP64 reference in
 * double, if that is predicted to take at most --check-budget seconds and fits the memory; otherwise, and in
 * a lower precision beside it, rows of its ops, within as long (0: all 66 of every op, however long); and
 * every entry of AdamW. The program is loaded, and in its initial state afterwards.
 */
void verify(struct checked *v, const struct workload *w, enum program_kind kind, struct recording *r);

/* Sets in a row how its programs were checked, and the largest error; `encoded` null: without an encoding. */
void verify_write(struct row *row, const struct checked *v, const struct encoded *encoded);

/* Seconds that this takes at most, beside runs of the program itself, of a program with these FLOPs. */
double verify_seconds(const struct check_options *o, const struct config *c, double flops);

#endif
