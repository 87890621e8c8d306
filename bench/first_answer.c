#include "bench/first_answer.h"

#include <string.h>

#include "analysis/row.h"
#include "analysis/statistics.h"
#include "analysis/units.h"
#include "bench/clock.h"

enum { TIMES = 5 };

/* The parts of the way; where an encoding is asked for, its part comes between graph and recording. */
enum part { GRAPH, RECORD, UPLOAD, FORWARD, TOTAL, PARTS };

static const char *const fields[PARTS] = {"first_answer.graph", "first_answer.record", "first_answer.upload",
                                          "first_answer.forward", "first_answer.total"};

/* Goes the way once; the seconds of part p into seconds[p][n]. False where there is no memory. */
static bool go(const struct options *o, const struct config *c, double seconds[PARTS][TIMES], int n)
{
    char error[MESSAGE_SIZE];
    struct batch b;
    double at[PARTS] = {clock_now()};
    if (!batch_generate(&b, &c->graph, error, sizeof error))
        return false;
    at[1] = clock_now();
    struct recording r = config_record(c, o, &b, PROGRAM_FORWARD, o->device.backend, F32);
    tape_plan(r.tape);
    at[2] = clock_now();
    bool room = tape_layout(r.tape);
    if (room) {
        tape_init(r.tape);
        tape_wait(r.tape);
        at[3] = clock_now();
        tape_run(r.tape);
        tape_wait(r.tape);
        at[4] = clock_now();
    }
    for (int p = GRAPH; p < TOTAL; p++)
        seconds[p][n] = at[p + 1] - at[p];
    seconds[TOTAL][n] = at[TOTAL] - at[0];
    tape_free(r.tape);
    batch_free(&b);
    return room;
}

void first_answer_measure(json_t *row, const struct options *o, const struct config *c)
{
    double seconds[PARTS][TIMES];
    for (int n = 0; n < TIMES; n++)
        if (!go(o, c, seconds, n)) {
            row_set_null(row, "first_answer", "no memory for it");
            return;
        }
    for (int p = 0; p < PARTS; p++)
        row_set_real(row, fields[p], summarize(seconds[p], TIMES).median);
}

void first_answer_print(const json_t *row, FILE *out)
{
    double seconds, total;
    if (!row_get_real(row, fields[TOTAL], &total))
        return;
    fprintf(out, "\n  %-40s %12s %8s\n", "from nothing to the first answer", "time", "share");
    for (int p = 0; p < PARTS; p++) {
        char text[UNITS_TEXT];
        row_get_real(row, fields[p], &seconds);
        units_format(text, seconds, UNITS_SI, "s");
        fprintf(out, "  %-40s %12s %6.1f %%\n", strchr(fields[p], '.') + 1, text, 100 * seconds / total);
    }
}
