#include "bench/row/cold_start.h"

#include <math.h>

#include "analysis/record/row.h"
#include "analysis/statistics/statistics.h"
#include "analysis/tables/units.h"
#include "bench/base/clock.h"
#include "bench/row/workload.h"
#include "bench/time/sample.h"
#include "models/encodings/compute.h"

enum { TIMES = 5 };

/* No cold start begins after this many seconds. */
static const double patience = 10;

/* Computes the encoding of a new graph. False with a message. */
static bool encode_anew(struct workload *w, struct encoding *e, struct message *error)
{
    static const struct sampling no_deadline = {0};
    struct encoding_options with = {.threads = w->config.threads,
                                    .cancel = {sampling_cancelled, &no_deadline}};
    if (w->config.parts.pe.kind == ENCODING_NONE)
        return true;
    w->config.encoding = e;
    return encoding_compute(&w->config.parts.pe, &w->batch, &with, e, error->text, sizeof error->text);
}

/* Records, loads and runs `forward`; stores the time after each step from at[COLD_START_UPLOAD] on. */
static bool answer(const struct workload *w, double limit, double *at, struct message *error)
{
    struct recording r = workload_record(w, PROGRAM_FORWARD);
    bool fits = (double)tape_plan(r.tape)->arena <= limit;
    at[COLD_START_UPLOAD] = clock_now();
    bool room = fits && tape_layout(r.tape);
    if (room) {
        tape_init(r.tape);
        tape_wait(r.tape);
        at[COLD_START_FORWARD] = clock_now();
        tape_run(r.tape);
        tape_wait(r.tape);
        at[COLD_START_TOTAL] = clock_now();
    }
    tape_free(r.tape);
    struct fault f = device_fault(&w->options->device);
    if (f.kind)
        return complain(error, "%s: %s: %s", w->options->device.name, f.where, f.words);
    return room || complain(error, "no memory for a run");
}

/* One cold start; stores the seconds of step s in seconds[s][n]. False with a message. */
static bool start_once(const struct options *o, const struct config *c,
                       double seconds[COLD_START_STEPS][TIMES], int n, struct message *error)
{
    struct workload w;
    struct encoding e = {0};
    device_recover(&o->device);
    double limit = workload_limit(o), at[COLD_START_STEPS] = {clock_now()};
    if (!workload_generate(&w, o, c, error))
        return false;
    at[COLD_START_ENCODING] = clock_now();
    bool encoded = encode_anew(&w, &e, error);
    at[COLD_START_RECORD] = clock_now();
    bool answered = encoded && answer(&w, limit, at, error);
    for (int s = 0; s < COLD_START_TOTAL && answered; s++)
        seconds[s][n] = at[s + 1] - at[s];
    seconds[COLD_START_TOTAL][n] = at[COLD_START_TOTAL] - at[0];
    encoding_free(&e);
    workload_close(&w);
    return answered;
}

struct cold_start cold_start_measure(const struct options *o, const struct config *c)
{
    struct cold_start s = {.done = true, .encoded = c->parts.pe.kind != ENCODING_NONE};
    double seconds[COLD_START_STEPS][TIMES], begin = clock_now();
    int n = 0;
    for (; s.done && (n == 0 || (n < TIMES && clock_now() - begin < patience)); n++)
        s.done = start_once(o, c, seconds, n, &s.missing);
    for (int i = 0; i < COLD_START_STEPS && s.done; i++)
        s.seconds[i] = summarize(seconds[i], (size_t)n).median;
    return s;
}

void cold_start_write(struct row *row, const struct cold_start *s)
{
    if (*s->missing.text)
        row_omit(row, "cold_start", s->missing.text);
    if (!s->done)
        return;
    row->cold_start.graph = s->seconds[COLD_START_GRAPH];
    row->cold_start.encoding = s->encoded ? s->seconds[COLD_START_ENCODING] : NAN;
    row->cold_start.record = s->seconds[COLD_START_RECORD];
    row->cold_start.upload = s->seconds[COLD_START_UPLOAD];
    row->cold_start.forward = s->seconds[COLD_START_FORWARD];
    row->cold_start.total = s->seconds[COLD_START_TOTAL];
}

void cold_start_print(const struct cold_start *s, FILE *out)
{
    static const char *const steps[COLD_START_STEPS] = {"graph",  "encoding", "record",
                                                        "upload", "forward",  "total"};
    if (!s->done)
        return;
    fprintf(out, "\n  %-40s %12s %8s\n", "cold start", "time", "share");
    for (int i = 0; i < COLD_START_STEPS; i++) {
        char text[UNITS_TEXT];
        if (i == COLD_START_ENCODING && !s->encoded)
            continue;
        units_format(text, s->seconds[i], UNITS_SI, "s");
        fprintf(out, "  %-40s %12s %6.1f %%\n", steps[i], text,
                100 * s->seconds[i] / s->seconds[COLD_START_TOTAL]);
    }
}
