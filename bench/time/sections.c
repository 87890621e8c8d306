#include "bench/time/sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "bench/base/clock.h"

static void blame(struct sections *s, const char *what, const char *name, const char *how)
{
    if (!*s->fault.text)
        complain(&s->fault, "%s %.40s %s", what, name, how);
}

/* A name that is none is blamed. */
static bool is_good_name(struct sections *s, const char *what, const char *name)
{
    size_t length = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") : 0;
    if (length > 0 && length < SECTION_NAME && !name[length])
        return true;
    blame(s, what, name ? name : "", "has a name that is not 1 to 31 of a-z, 0-9, _ and -");
    return false;
}

static void open_section(struct sections *s, const char *name, const char *metadata, double now)
{
    if (s->depth == SECTIONS_DEEP) {
        blame(s, "section", name, "is within 8 others, which is the most");
        return;
    }
    s->list = grow(s->list, (size_t)s->count, sizeof *s->list);
    struct section *next = &s->list[s->count];
    next->entry = s->entry;
    next->parent = s->open;
    strcpy(next->name, name);
    snprintf(next->metadata, sizeof next->metadata, "%s", metadata ? metadata : "");
    s->open = s->count++;
    s->depth++;
    next->begin = now;
}

static void close_section(struct sections *s, const char *name, double now)
{
    struct section *open = s->open < 0 ? NULL : &s->list[s->open];
    if (!open || strcmp(open->name, name) != 0) {
        blame(s, "section", name, open ? "is closed before one within it" : "is closed, and not open");
        return;
    }
    open->end = now;
    s->open = open->parent;
    s->depth--;
}

static void add_value(struct sections *s, const char *name, double value, bool mean)
{
    int i = 0;
    while (i < s->metric_count && strcmp(s->metrics[i].name, name) != 0)
        i++;
    if (i == METRICS_MAX) {
        blame(s, "metric", name, "is one too many: there are at most 64");
        return;
    }
    struct metric *m = &s->metrics[i];
    if (i == s->metric_count) {
        *m = (struct metric){.mean = mean};
        strcpy(m->name, name);
        s->metric_count++;
    }
    if (!isfinite(value))
        blame(s, "metric", name, "is not finite");
    else if (m->mean != mean)
        blame(s, "metric", name, "is recorded both as a sum and as a mean");
    m->sum += value;
    m->count++;
}

static void take(struct sections *s, enum plugin_report what, const char *name, const char *metadata,
                 double value, double now)
{
    bool of_section = what == PLUGIN_ENTER || what == PLUGIN_LEAVE;
    if (what == PLUGIN_END && s->open >= 0)
        blame(s, "section", s->list[s->open].name, "is not closed");
    if (what == PLUGIN_END || *s->fault.text || !is_good_name(s, of_section ? "section" : "metric", name))
        return;
    if (what == PLUGIN_ENTER)
        open_section(s, name, metadata, now);
    else if (what == PLUGIN_LEAVE)
        close_section(s, name, now);
    else
        add_value(s, name, value, what == PLUGIN_MEAN);
}

/* The time of a section is that of a clock which stands still in reports, until the call ends. */
static void hear(void *context, enum plugin_report what, const char *name, const char *metadata, double value)
{
    struct sections *s = context;
    double now = s->now = fmax(s->now, clock_now() - s->reporting);
    take(s, what, name, metadata, value, now);
    s->reporting = what == PLUGIN_END ? 0 : clock_now() - now + s->look;
}

void sections_begin(struct sections *s, struct plugin *p)
{
    *s = (struct sections){.open = -1, .look = INFINITY, .listener = {hear, s}};
    for (int i = 0; i < 100; i++) {
        double before = clock_now();
        s->look = fmin(s->look, clock_now() - before);
    }
    plugin_listen(p, &s->listener);
}

void sections_end(struct sections *s, struct plugin *p)
{
    plugin_listen(p, NULL);
    free(s->list);
}

void sections_clear(struct sections *s)
{
    s->count = s->entry = 0;
}

bool sections_possible(const struct tape *t)
{
    int i = 0;
    while (i < tape_entry_count(t) && !plugin_is_row(tape_entry(t, i)->kernel))
        i++;
    return i < tape_entry_count(t);
}
