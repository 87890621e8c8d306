/* What to distrust: rows of all records, by reason, and what to do about it. */
#include "analysis/findings/sentences.h"

#include "analysis/statistics/disturbance.h"

enum doubt { NOT_OK, UNCHECKED, LOADED, ABOVE_ROOF, UNSOLVED, DOUBTS };

/* What is said of rows, after their number, and after the first one's reason in brackets. A row that is in
 * doubt for its time may still support findings of memory. */
static const struct {
    const char *one, *several, *remedy;
} words[DOUBTS] = {
    [NOT_OK] = {"is not ok", "are not ok", ""},
    [UNCHECKED] = {"was not checked", "were not checked", ""},
    [LOADED] = {"lost over 5 % of its time to other programs",
                "lost over 5 % of their time to other programs",
                ": alone they take at most the lower end of their ranges"},
    [ABOVE_ROOF] = {"is faster than its peak rate", "are faster than their peak rates",
                    ": measure them again (--peaks measure)"},
    [UNSOLVED] = {"is an encoding of eigenvalue 0 alone", "are encodings of eigenvalue 0 alone",
                  ", which needs no solver: left out of findings"},
};

struct tally {
    size_t count[DOUBTS], rows, most;
    const char *reason[DOUBTS]; /* the first */
    size_t where;               /* the record with most of them */
};

static void add_doubt(struct tally *t, enum doubt doubt, const char *reason)
{
    if (t->count[doubt]++ == 0)
        t->reason[doubt] = reason;
}

/* Why the encoding of a row was not checked; null if it was, or if there is none. */
static const char *encoding_unchecked(const struct row *row)
{
    bool timed = !isnan(row->encoding.time.median);
    return timed && !row->encoding.checked ? row_reason(row, "encoding.checked") : NULL;
}

static bool add_row(struct tally *t, const struct row *row)
{
    const char *unchecked = row_unchecked(row);
    bool loaded = false, fault = has_text(row->forward.roofline.fault) ||
                                 has_text(row->step.roofline.fault) || has_text(row->kernel.roofline.fault);
    if (!row_is_ok(row)) {
        add_doubt(t, NOT_OK, row->reason ? row->reason : "");
        return true;
    }
    for (size_t p = 0; p < TIMED; p++)
        loaded = loaded || (row_timed(row, p)->median > 0 && row_range(row, p).lost > DISTURBANCE_HEAVY);
    unchecked = unchecked ? unchecked : encoding_unchecked(row);
    if (unchecked)
        add_doubt(t, UNCHECKED, unchecked);
    if (loaded)
        add_doubt(t, LOADED, "");
    if (fault)
        add_doubt(t, ABOVE_ROOF, "");
    if (row_solved_nothing(row))
        add_doubt(t, UNSOLVED, "");
    return unchecked || loaded || fault || row_solved_nothing(row);
}

/* How many of the rows, where a sentence begins or goes on. */
static void put_count_of_rows(FILE *out, size_t count, size_t rows, bool begins)
{
    if (rows == 1)
        fputs(begins ? "The row " : "; it ", out);
    else if (count == rows)
        fprintf(out, begins ? "All %zu rows " : "; all %zu ", rows);
    else if (begins)
        fprintf(out, "Of %zu rows, %zu ", rows, count);
    else
        fprintf(out, "; %zu ", count);
}

bool sentence_doubts(FILE *out, const struct facts *facts, const char *const *names, size_t n)
{
    struct tally t = {0};
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        size_t here = 0;
        for (size_t k = 0; k < rows_count(facts[i].rows); k++)
            here += add_row(&t, rows_at(facts[i].rows, k));
        t.rows += rows_count(facts[i].rows);
        t.where = here > t.most ? i : t.where;
        t.most = here > t.most ? here : t.most;
    }
    for (int d = 0; d < DOUBTS; d++) {
        if (t.count[d] == 0)
            continue;
        put_count_of_rows(out, t.count[d], t.rows, !any);
        fputs(t.count[d] == 1 ? words[d].one : words[d].several, out);
        if (*t.reason[d]) {
            fputs(" (", out);
            plain_put(out, t.reason[d]);
            fputs(t.count[d] > 1 ? ", ...)" : ")", out);
        }
        fputs(words[d].remedy, out);
        any = true;
    }
    if (any && n > 1) {
        fprintf(out, "; %zu of these %s in ", t.most, t.most == 1 ? "is" : "are");
        plain_put(out, names[t.where]);
    }
    fputs(any ? ".\n" : "", out);
    return any;
}
