#include "bench/row/passes.h"

#include <math.h>

#include "analysis/statistics/statistics.h"
#include "analysis/tables/units.h"
#include "bench/base/clock.h"
#include "bench/row/workload.h"
#include "bench/time/sample.h"
#include "models/encodings/compute.h"

enum { TIMES = 5 };

static const struct {
    const char *name;
    size_t offset; /* of its median in a row */
} steps[COLD_START_STEPS] = {
    [COLD_START_GRAPH] = {"graph", offsetof(struct row, cold_start.graph)},
    [COLD_START_ENCODING] = {"encoding", offsetof(struct row, cold_start.encoding)},
    [COLD_START_RECORD] = {"record", offsetof(struct row, cold_start.record)},
    [COLD_START_UPLOAD] = {"upload", offsetof(struct row, cold_start.upload)},
    [COLD_START_FORWARD] = {"forward", offsetof(struct row, cold_start.forward)},
    [COLD_START_TOTAL] = {"total", offsetof(struct row, cold_start.total)},
};

/* No cold start begins after this many seconds. */
static const double patience = 10;

/* Computes the encoding of a new graph. False with a message. */
static bool encode_anew(struct workload *w, struct encoding *e, struct message *error)
{
    static const struct sampling no_deadline = {0};
    struct encoding_options with = {.threads = w->config.threads,
                                    .cancel = {sampling_cancelled, &no_deadline}};
    if (!encoding_any(&w->config.parts.pe))
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

bool cold_start_measure(const struct options *o, const struct config *c, double seconds[COLD_START_STEPS],
                        struct message *reason)
{
    double all[COLD_START_STEPS][TIMES], begin = clock_now();
    int n = 0;
    for (; n == 0 || (n < TIMES && clock_now() - begin < patience); n++)
        if (!start_once(o, c, all, n, reason))
            return false;
    for (int i = 0; i < COLD_START_STEPS; i++)
        seconds[i] = summarize(all[i], (size_t)n).median;
    if (!encoding_any(&c->parts.pe))
        seconds[COLD_START_ENCODING] = NAN;
    return true;
}

void cold_start_write(struct row *row, const double seconds[COLD_START_STEPS])
{
    for (int i = 0; i < COLD_START_STEPS; i++)
        *(double *)((char *)row + steps[i].offset) = seconds[i];
}

void cold_start_print(const struct row *row, FILE *out)
{
    if (isnan(row->cold_start.total))
        return;
    fprintf(out, "\n  %-40s %12s %8s\n", "cold start", "time", "share");
    for (int i = 0; i < COLD_START_STEPS; i++) {
        char text[UNITS_TEXT];
        double seconds = *(const double *)((const char *)row + steps[i].offset);
        if (isnan(seconds))
            continue;
        units_format(text, seconds, UNITS_SI, "s");
        fprintf(out, "  %-40s %12s %6.1f %%\n", steps[i].name, text, 100 * seconds / row->cold_start.total);
    }
}
