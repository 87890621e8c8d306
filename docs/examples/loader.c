/*
 * A function that is no op: a loader of records with a cache, which reports the sections of its time, and the
 * share of records that it has already (docs/plugins.md).
 */
#include <stdlib.h>

#include <gtmark_plugin.h>

enum { RECORDS = 1000, RECORD = 64, CACHED = 100 };

struct loader {
    int next, cached[CACHED]; /* the record in each place of the cache, plus 1 */
    double sum;
    unsigned char records[RECORDS][RECORD];
};

static const char *begin(const struct gtmark_call *call, void **state)
{
    (void)call;
    *state = calloc(1, sizeof(struct loader));
    return *state ? NULL : "no memory";
}

/* Loads 8 records, each of them twice. */
static const char *load(const struct gtmark_call *call)
{
    struct loader *l = call->state;
    for (int i = 0; i < 16; i++) {
        int record = (l->next + i / 2) % RECORDS, *place = &l->cached[record % CACHED];
        call->record(call, "hit_rate", *place == record + 1, GTMARK_MEAN);
        if (*place == record + 1)
            continue;
        call->enter(call, "read", "from memory");
        call->record(call, "read_bytes", RECORD, GTMARK_SUM);
        *place = record + 1;
        call->enter(call, "decode", NULL);
        for (int k = 0; k < RECORD; k++)
            l->sum += l->records[record][k];
        call->leave(call, "decode");
        call->leave(call, "read");
    }
    l->next += 8;
    return NULL;
}

static const struct gtmark_entry entries[] = {
    {.op = "function", .variant = "loader", .device = "cpu", .setup = begin, .run = load, .teardown = free}};
GTMARK_PLUGIN(entries);
