#include "bench/machine/ceilings.h"

#include <stdlib.h>

#include "bench/base/paths.h"
#include "bench/machine/calibration.h"
#include "bench/machine/machine.h"

/* Makes room for one more calibration. */
static struct calibration *next(struct ceilings *c)
{
    c->list = realloc(c->list, ((size_t)c->count + 1) * sizeof *c->list);
    if (!c->list)
        abort();
    return &c->list[c->count];
}

static void get(struct ceilings *c, const struct ceilings_request *r, int threads)
{
    char path[PATH_MAX];
    struct message note = {0};
    bool kept = paths_default("calibration", path, &note);
    struct calibration_request request = {.peak = r->peak,
                                          .threads = threads,
                                          .path = kept ? path : NULL,
                                          .refresh = r->calibrate,
                                          .seconds = CALIBRATION_SECONDS};
    if (calibration_get(&request, next(c), &note))
        c->count++;
    if (*note.text)
        fprintf(stderr, "note: %s\n", note.text);
}

static void get_kept(struct ceilings *c, const struct ceilings_request *r, int threads)
{
    char path[PATH_MAX];
    if (place_name("calibration", path) && calibration_kept(path, r->peak, threads, next(c)))
        c->count++;
}

static void each(struct ceilings *c, const struct ceilings_request *r,
                 void (*take)(struct ceilings *, const struct ceilings_request *, int))
{
    *c = (struct ceilings){.missing = r->unwanted   ? r->unwanted
                                      : !r->peak    ? "this device has no calibration"
                                      : take == get ? "the calibration failed"
                                                    : "no calibration yet; a run makes one"};
    for (int i = 0; i < r->count && !r->unwanted && r->peak; i++) {
        int threads = machine_threads(r->threads[i]);
        if (!ceilings_for(c, threads))
            take(c, r, threads);
    }
}

void ceilings_get(struct ceilings *c, const struct ceilings_request *r)
{
    each(c, r, get);
}

void ceilings_kept(struct ceilings *c, const struct ceilings_request *r)
{
    each(c, r, get_kept);
}

void ceilings_free(struct ceilings *c)
{
    free(c->list);
    *c = (struct ceilings){0};
}

const struct calibration *ceilings_for(const struct ceilings *c, int threads)
{
    for (int i = 0; i < c->count; i++)
        if (c->list[i].threads == threads)
            return &c->list[i];
    return NULL;
}

struct value *ceilings_json(const struct ceilings *c)
{
    struct value *list = value_new_array();
    for (int i = 0; i < c->count; i++)
        value_append(list, calibration_json(&c->list[i]));
    return list;
}
