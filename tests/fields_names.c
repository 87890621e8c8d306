/* Names in statements about fields: see tests/fields.def. */
#include "tests/fields_names.h"

#include "analysis/record/schema.h"
#include "bench/machine/machine.h"
#include "tests/test.h"

#include <fnmatch.h>
#include <math.h>
#include <time.h>

static bool begins(const char *path, const char *group, const char *rest)
{
    size_t length = strlen(group);
    return strncmp(path, group, length) == 0 && path[length] == '.' &&
           fnmatch(rest, path + length + 1, 0) == 0;
}

bool field_matches(const char *path, const char *pattern, struct field_match *match)
{
    static const struct field_match groups[] = {
        {"P", "forward"},
        {"P", "step"},
        {"P", "kernel"},
        {"M", "forward"},
        {"M", "step"},
        {"S", "step.backward"},
        {"S", "step.optimizer"},
        {"S", "step.recompute"},
        {"T", "forward.time"},
        {"T", "step.time"},
        {"T", "kernel.time"},
        {"T", "encoding.time"},
        {"T", "step.backward.time"},
        {"T", "step.optimizer.time"},
        {"T", "step.recompute.time"},
    };
    *match = (struct field_match){"", ""};
    if (pattern[1] != '.')
        return fnmatch(pattern, path, 0) == 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (*groups[i].letter == *pattern && begins(path, groups[i].group, pattern + 2)) {
            *match = groups[i];
            return true;
        }
    return false;
}

static const struct operand_value unknown;

/* The value of a flag of the run. */
static struct operand_value given(const struct field_view *v, struct memory *m, const char *name)
{
    char flag[64], word[256];
    snprintf(flag, sizeof flag, "--%s ", name);
    const char *at = strstr(v->of->run->words, flag), *text = word;
    if (!at)
        return unknown;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(at + strlen(flag), " "), at + strlen(flag));
    char *end;
    double number = strtod(word, &end);
    return *end == '\0' ? value_of_numbers(m, &number, 1) : value_of_texts(m, &text, 1);
}

static struct operand_value value_at_path(const struct row *row, struct memory *m, const char *path)
{
    const struct field *f = schema_find(path);
    if (!f)
        fail_msg("no field %s", path);
    double number;
    if (!row_has_field(row, f))
        return unknown;
    if (f->type == FIELD_TEXT)
        return value_of_texts(m, field_text(row, f), 1);
    if (field_number(row, f, &number))
        return value_of_numbers(m, &number, 1);
    const struct items *items = field_items(row, f);
    if (f->type == FIELD_TEXTS)
        return value_of_texts(m, items->texts, items->count);
    if (f->type == FIELD_REALS)
        return value_of_numbers(m, items->reals, items->count);
    double *numbers = calloc(items->count + 1, sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < items->count; i++)
        numbers[i] = (double)items->counts[i];
    struct operand_value v = value_of_numbers(m, numbers, items->count);
    free(numbers);
    return v;
}

static const struct row *row_of(const struct field_runs *all, const char *label)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].run->label, label) == 0)
            return all->list[i].record ? row_at(all->list[i].record, 0) : NULL;
    fail_msg("no run %s", label);
    return NULL;
}

/* Seconds of a time such as 2026-01-31T12:00:00Z since 1970. */
static double seconds_of(const char *text)
{
    struct tm utc = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return end && !*end ? (double)timegm(&utc) : NAN;
}

/* Seconds from the start of the run to that of the row. */
static double waited(const struct field_view *v)
{
    const char *began;
    if (!v->row->started || !value_get_text(record_head(v->of->record), "started", &began))
        return NAN;
    return seconds_of(v->row->started) - seconds_of(began);
}

static struct operand_value of_run(const struct field_view *v, struct memory *m, const char *name)
{
    const char *label = v->of->run->label;
    if (strcmp(name, "label") == 0)
        return value_of_texts(m, &label, 1);
    const struct {
        const char *name;
        double value;
    } facts[] = {{"planted", v->of->run->planted}, {"row", (double)v->place},
                 {"seconds", v->of->seconds},      {"waited", waited(v)},
                 {"cores", machine_cores()},       {"cpu", v->of->cpu},
                 {"resident", v->of->resident}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i].name, name) == 0)
            return value_of_numbers(m, &facts[i].value, 1);
    fail_msg("no run.%s", name);
    return unknown;
}

static struct operand_value of_graph(const struct field_view *v, struct memory *m, const char *name)
{
    enum { MOST = 300 }; /* nodes: larger ones take long */
    struct operand_value nodes = given(v, m, "nodes");
    bool ragged = strcmp(v->row->batching, "ragged") == 0;
    return nodes.known && nodes.number[0] <= MOST && ragged
               ? graph_derived(v->row, m, (int64_t)nodes.number[0], name)
               : unknown;
}

/* A field of the group that the pattern's letter stands for, or what follows from it. */
static struct operand_value in_group(const struct row *row, struct memory *m, const char *group,
                                     const char *rest)
{
    char full[2 * SCHEMA_PATH];
    const char *phase = strrchr(group, '.');
    snprintf(full, sizeof full, "%s.%s", group, rest);
    if (phase && strcmp(rest, "name") == 0)
        return value_of_texts(m, (const char *[]){phase + 1}, 1);
    if (schema_find(full))
        return value_at_path(row, m, full);
    char *last = strrchr(full, '.');
    *last = '\0';
    return field_derived(row, m, full, last + 1);
}

struct operand_value field_named(const void *context, struct memory *m, const char *name, size_t length)
{
    const struct field_view *v = context;
    const struct row *row = v->row;
    char word[SCHEMA_PATH];
    const char *path = word;
    assert_true(length < sizeof word);
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    if (strcmp(path, "it") == 0)
        return value_at_path(row, m, v->path);
    if (strncmp(path, "given.", 6) == 0)
        return given(v, m, path + 6);
    if (strncmp(path, "run.", 4) == 0)
        return of_run(v, m, path + 4);
    if (strncmp(path, "drawn.", 6) == 0)
        return of_graph(v, m, path + 6);
    if (strchr(path, ':')) {
        char *colon = strchr(word, ':');
        *colon = '\0';
        row = row_of(v->all, word);
        path = colon + 1;
    }
    bool lettered = *v->match.letter && path[0] == *v->match.letter && path[1] == '.';
    return !row       ? unknown
           : lettered ? in_group(row, m, v->match.group, path + 2)
                      : value_at_path(row, m, path);
}
