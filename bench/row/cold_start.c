#include "bench/row/cold_start.h"

#include <string.h>

#include "analysis/record/row.h"
#include "analysis/statistics/statistics.h"
#include "analysis/tables/units.h"
#include "bench/base/clock.h"
#include "bench/row/measure.h"
#include "bench/time/sample.h"

enum { TIMES = 5 };

/* After so many seconds the way is not begun again. */
static const double patience = 10;

/* The parts of the way. */
enum part { GRAPH, ENCODING, RECORD, UPLOAD, FORWARD, TOTAL, PARTS };

static const char *const fields[PARTS] = {"first_answer.graph",   "first_answer.encoding",
                                          "first_answer.record",  "first_answer.upload",
                                          "first_answer.forward", "first_answer.total"};

/* The encoding of a new graph, as the program gets it. False with a line in error. */
static bool encode_anew(struct config *c, const struct batch *b, struct encoding *e, char *error, size_t size)
{
    static const struct sampling never_late = {0};
    struct computing with = {.threads = c->threads, .cancel = {sampling_cancelled, &never_late}};
    c->encoding = c->parts.pe.kind == ENCODING_NONE ? NULL : e;
    return !c->encoding || encoding_compute(&c->parts.pe, b, &with, e, error, size);
}

/* From the encoded graph on; the clock after each part into at[RECORD + 1] and so on. False without memory.
 */
static bool answer(const struct options *o, const struct config *c, const struct batch *b, double limit,
                   double *at)
{
    struct recording r = config_record(c, o, b, PROGRAM_FORWARD, o->device.backend, F32);
    bool fits = (double)tape_plan(r.tape)->arena <= limit;
    at[UPLOAD] = clock_now();
    bool room = fits && tape_layout(r.tape);
    if (room) {
        tape_init(r.tape);
        tape_wait(r.tape);
        at[FORWARD] = clock_now();
        tape_run(r.tape);
        tape_wait(r.tape);
        at[TOTAL] = clock_now();
    }
    tape_free(r.tape);
    return room;
}

/* Goes the way once; the seconds of part p into seconds[p][n]. False with a line in error. */
static bool go(const struct options *o, struct config c, double seconds[PARTS][TIMES], int n, char *error,
               size_t size)
{
    struct batch b;
    struct encoding e = {0};
    double limit = program_limit(o), at[PARTS] = {clock_now()};
    if (!batch_generate(&b, &c.graph, error, size))
        return false;
    at[ENCODING] = clock_now();
    bool encoded = encode_anew(&c, &b, &e, error, size);
    at[RECORD] = clock_now();
    bool answered = encoded && answer(o, &c, &b, limit, at);
    if (encoded && !answered)
        snprintf(error, size, "no memory for it");
    for (int p = GRAPH; p < TOTAL && answered; p++)
        seconds[p][n] = at[p + 1] - at[p];
    seconds[TOTAL][n] = at[TOTAL] - at[GRAPH];
    encoding_free(&e);
    batch_free(&b);
    return answered;
}

void cold_start_measure(json_t *row, const struct options *o, const struct config *c)
{
    double seconds[PARTS][TIMES], start = clock_now();
    char error[MESSAGE_SIZE];
    int n = 0;
    for (; n == 0 || (n < TIMES && clock_now() - start < patience); n++)
        if (!go(o, *c, seconds, n, error, sizeof error)) {
            row_set_null(row, "first_answer", error);
            return;
        }
    for (int p = 0; p < PARTS; p++)
        if (p == ENCODING && c->parts.pe.kind == ENCODING_NONE)
            row_set_null(row, fields[p], "none asked for (--pe)");
        else
            row_set_real(row, fields[p], summarize(seconds[p], (size_t)n).median);
}

void cold_start_print(const json_t *row, FILE *out)
{
    double seconds, total;
    if (!row_get_real(row, fields[TOTAL], &total))
        return;
    fprintf(out, "\n  %-40s %12s %8s\n", "from nothing to the first answer", "time", "share");
    for (int p = 0; p < PARTS; p++) {
        char text[UNITS_TEXT];
        if (!row_get_real(row, fields[p], &seconds))
            continue;
        units_format(text, seconds, UNITS_SI, "s");
        fprintf(out, "  %-40s %12s %6.1f %%\n", strchr(fields[p], '.') + 1, text, 100 * seconds / total);
    }
}
