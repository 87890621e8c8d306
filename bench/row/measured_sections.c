/* Sections of one name within the same ones are added up in each run, of which the median is their time. */

#include "analysis/statistics/allocate.h"
#include "bench/row/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/statistics.h"

enum { NAME = SECTIONS_DEEP * SECTION_NAME + 128, SECTIONS_MAX = 256 };

/* All calls of a section. */
struct total {
    char name[NAME];
    const char *metadata;
    double *seconds; /* in each run */
    int64_t calls;   /* in all runs */
};

struct totals {
    const struct tape *tape;
    const char *program;
    struct total *list;
    size_t count;
    int runs;
};

static void name_section(const struct totals *all, const struct sections *s, int i, char name[NAME])
{
    const struct section *own = &s->list[i];
    if (own->parent >= 0)
        name_section(all, s, own->parent, name);
    else
        snprintf(name, NAME, "%s.%s", all->program, tape_entry(all->tape, own->entry)->span);
    size_t used = strlen(name);
    snprintf(name + used, NAME - used, ".%s", own->name);
}

static struct total *total_of(struct totals *all, const char name[NAME])
{
    size_t i = 0;
    while (i < all->count && strcmp(all->list[i].name, name) != 0)
        i++;
    if (i < all->count)
        return &all->list[i];
    all->list = grow(all->list, all->count++, sizeof *all->list);
    all->list[i] = (struct total){.seconds = allocate((size_t)all->runs, sizeof(double))};
    memcpy(all->list[i].name, name, NAME);
    return &all->list[i];
}

/* False if they have too many names. */
static bool add_run(struct totals *all, const struct sections *s, struct row *row, int run)
{
    for (int i = 0; i < s->count && all->count <= SECTIONS_MAX; i++) {
        char name[NAME];
        name_section(all, s, i, name);
        struct total *total = total_of(all, name);
        total->metadata = row_keep(row, s->list[i].metadata);
        total->seconds[run] += s->list[i].end - s->list[i].begin;
        total->calls++;
    }
    return all->count <= SECTIONS_MAX;
}

static void write_section(struct row *row, const struct total *t, int runs)
{
    const char *name = t->name, *metadata = t->metadata ? t->metadata : "";
    double calls = (double)t->calls / runs, seconds = summarize(t->seconds, (size_t)runs).median;
    row->sections.name = row_add_item(row, row->sections.name, &name, FIELD_TEXTS);
    row->sections.metadata = row_add_item(row, row->sections.metadata, &metadata, FIELD_TEXTS);
    row->sections.calls = row_add_item(row, row->sections.calls, &calls, FIELD_REALS);
    row->sections.seconds = row_add_item(row, row->sections.seconds, &seconds, FIELD_REALS);
}

static void write_metric(struct row *row, const struct metric *m, const char *program, int runs)
{
    char text[2 * SECTION_NAME];
    const char *name = text;
    double value = m->sum / (double)(m->mean ? m->count : runs);
    snprintf(text, sizeof text, "%s.%s", program, m->name);
    row->metrics.name = row_add_item(row, row->metrics.name, &name, FIELD_TEXTS);
    row->metrics.value = row_add_item(row, row->metrics.value, &value, FIELD_REALS);
}

static void write_all(const struct totals *all, const struct sections *s, struct row *row)
{
    for (size_t i = 0; i < all->count; i++)
        write_section(row, &all->list[i], all->runs);
    for (int i = 0; i < s->metric_count; i++)
        write_metric(row, &s->metrics[i], all->program, all->runs);
    if (all->count > 0 || s->metric_count > 0)
        row->sections.runs = all->runs;
}

static void next_entry(void *context, int entry)
{
    ((struct sections *)context)->entry = entry + 1;
}

void sections_measure(struct tape *t, struct plugin *p, int runs, const char *program, struct row *row,
                      struct message *fault)
{
    struct totals all = {.tape = t, .program = program, .runs = runs};
    struct sections s;
    sections_begin(&s, p);
    for (int run = 0; run < runs && !*s.fault.text; run++) {
        sections_clear(&s);
        tape_run_marked(t, next_entry, &s);
        if (!add_run(&all, &s, row, run))
            complain(&s.fault, "there are more than %d sections of different names", SECTIONS_MAX);
    }
    *fault = s.fault;
    if (!*fault->text)
        write_all(&all, &s, row);
    sections_end(&s, p);
    for (size_t i = 0; i < all.count; i++)
        free(all.list[i].seconds);
    free(all.list);
}
