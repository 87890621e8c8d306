#include "analysis/tables/below.h"

#include "analysis/record/row_range.h"
#include "analysis/statistics/allocate.h"
#include "analysis/statistics/disturbance.h"
#include "analysis/tables/wrap.h"

static struct note *find_note(struct notes *n, const char *text)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->list[i].text, text) == 0)
            return &n->list[i];
    n->list = grow(n->list, n->count, sizeof *n->list);
    n->list[n->count] = (struct note){format_text("%s", text), format_text("%s", ""), 0};
    return &n->list[n->count++];
}

void notes_add(struct notes *n, const char *text, const char *row)
{
    struct note *note = find_note(n, text);
    if (!row || !*row || note->count++ >= NOTES_ROWS)
        return;
    char *rows = format_text("%s%s%s", note->rows, *note->rows ? "; " : "", row);
    free(note->rows);
    note->rows = rows;
}

void notes_print(struct notes *n, FILE *out, int width)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct note *note = &n->list[i];
        char more[32] = "";
        if (note->count > NOTES_ROWS)
            snprintf(more, sizeof more, "; %zu more", note->count - NOTES_ROWS);
        char *line = format_text(note->count ? "%s (%s%s)" : "%s", note->text, note->rows, more);
        wrap_within(out, line, width, 4);
        free(line);
    }
    notes_free(n);
}

void notes_free(struct notes *n)
{
    for (size_t i = 0; i < n->count; i++) {
        free(n->list[i].text);
        free(n->list[i].rows);
    }
    free(n->list);
    *n = (struct notes){0};
}

static const double least_lost = 0.001; /* that is worth a word */

static void count_time(struct below *b, const struct row_times *time)
{
    double seconds = time->mean * count_real(time->n);
    if (seconds > 0 && time->lost >= 0) {
        b->sampled += seconds;
        b->lost += time->lost * seconds;
    }
    if (time->other_repetitions != COUNT_ABSENT)
        b->left_out += time->other_repetitions;
}

void below_add(struct below *b, const struct row *row, const char *name, bool kept)
{
    const char *unchecked = row_unchecked(row);
    char text[MESSAGE_SIZE];
    if (row->reason && *row->reason) {
        snprintf(text, sizeof text, "%s: %.480s", row->status ? row->status : "?", row->reason);
        notes_add(&b->reasons, text, name);
    }
    if (unchecked) {
        snprintf(text, sizeof text, "unchecked: %.480s", unchecked);
        notes_add(&b->reasons, text, name);
    }
    for (size_t i = 0; i < row->metrics.name.count && i < row->metrics.value.count; i++) {
        snprintf(text, sizeof text, "%.100s %.4g", row->metrics.name.texts[i], row->metrics.value.reals[i]);
        notes_add(&b->notes, text, name);
    }
    for (size_t kind = 0; kind < TIMED; kind++) {
        count_time(b, row_timed(row, kind));
        b->loaded += row_timed(row, kind)->median > 0 && row_range(row, kind).lost > DISTURBANCE_HEAVY;
    }
    b->kept += kept;
}

void below_add_noisy(struct below *b, const char *reason)
{
    if (!b->noisy[0])
        b->noisy[0] = reason;
    else if (strcmp(b->noisy[0], reason) != 0)
        b->noisy[1] = reason;
}

/* "up to 1.5 % of the time went to other programs (waits of all threads together); 3 turns left out (the
 * machine was in another state)" */
static void print_conditions(const struct below *b, FILE *out, int width)
{
    char lost[96] = "", left_out[96] = "", kept[64] = "", text[256];
    bool was_lost =
        b->lost >= least_lost * b->sampled && b->sampled > 0 && b->loaded == 0; /* else it is said */
    if (was_lost)
        snprintf(lost, sizeof lost,
                 "up to %.1f %% of the time went to other programs (waits of all threads together)",
                 100 * b->lost / b->sampled);
    if (b->left_out > 0)
        snprintf(left_out, sizeof left_out, "%s%lld repetition%s left out (the machine was in another state)",
                 was_lost ? "; " : "", (long long)b->left_out, b->left_out == 1 ? "" : "s");
    if (b->kept > 0)
        snprintf(kept, sizeof kept, "%s%zu row%s kept from an earlier run",
                 was_lost || b->left_out > 0 ? "; " : "", b->kept, b->kept == 1 ? "" : "s");
    snprintf(text, sizeof text, "%s%s%s", lost, left_out, kept);
    if (*text)
        wrap_within(out, text, width, 4);
}

static void print_ranges(const struct below *b, FILE *out, int width)
{
    char text[MESSAGE_SIZE];
    snprintf(text, sizeof text, "~ %.400s%s", b->noisy[0] ? b->noisy[0] : "", b->noisy[1] ? "; ..." : "");
    if (b->noisy[0])
        wrap_within(out, text, width, 4);
    snprintf(text, sizeof text,
             "%zu time%s lost over 5 %% to other programs: alone %s at most the lower end of %s range",
             b->loaded, b->loaded == 1 ? "" : "s", b->loaded == 1 ? "it is" : "they are",
             b->loaded == 1 ? "its" : "their");
    if (b->loaded > 0)
        wrap_within(out, text, width, 4);
}

void below_print(struct below *b, FILE *out, int width, bool markdown)
{
    char *text;
    size_t size;
    FILE *lines = open_text(&text, &size);
    notes_print(&b->reasons, lines, width);
    print_ranges(b, lines, width);
    print_conditions(b, lines, width);
    notes_print(&b->notes, lines, width);
    fclose(lines);
    fprintf(out, "%s%s", markdown && size > 0 ? "\n" : "", text);
    free(text);
    *b = (struct below){0};
}
