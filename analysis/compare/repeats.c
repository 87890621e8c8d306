#include "analysis/compare/repeats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/compare/match.h"
#include "analysis/compare/verdict.h"
#include "analysis/record/schema.h"

static bool is_timed(const struct row *row, const char *program)
{
    char path[SCHEMA_PATH];
    double median;
    snprintf(path, sizeof path, "%s.time.median", program);
    return row_is_ok(row) && row_get_real(row, path, &median);
}

static void judge(struct repeats *r, const struct row *a, const struct row *b, const char *program)
{
    struct verdict v = verdict_rows(a, b, program, verdict_samples, verdict_limits_default());
    r->pairs++;
    r->differ += v.kind == VERDICT_FASTER || v.kind == VERDICT_SLOWER;
    r->unclear += v.kind == VERDICT_UNCLEAR;
    double ratio = fmax(v.ratio, 1 / v.ratio);
    if (v.kind != VERDICT_UNCLEAR && (!r->row || ratio > r->widest)) {
        r->widest = ratio;
        r->row = b;
        r->program = program;
    }
}

static int by_work(const void *a, const void *b, void *work)
{
    return row_order(*(const struct row *const *)a, *(const struct row *const *)b, work);
}

struct repeats repeats_find(const struct rows *rows)
{
    struct repeats r = {0};
    const struct field *work = schema_find("work");
    struct match_rule rule = match_rule(&rows, 1, NULL);
    size_t n = rows_count(rows);
    const struct row **sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        abort();
    for (size_t i = 0; i < n; i++)
        sorted[i] = rows_at(rows, i);
    qsort_r(sorted, n, sizeof *sorted, by_work, (void *)(uintptr_t)work);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k-- > 0 && row_order(sorted[k], sorted[i], work) == 0;)
            for (size_t p = 0; p < TIMED && match(&rule, sorted[k], sorted[i]); p++)
                if (is_timed(sorted[k], program_name(p)) && is_timed(sorted[i], program_name(p)))
                    judge(&r, sorted[k], sorted[i], program_name(p));
    free(sorted);
    return r;
}

void repeats_print(FILE *out, const struct repeats *r)
{
    int64_t nodes = 0;
    const char *work = "";
    if (r->pairs == 0)
        return;
    fprintf(out, "The same work was measured more than once: of %zu pair%s of times ", r->pairs,
            r->pairs == 1 ? "" : "s");
    if (!r->row) {
        fputs("none could be compared (noisy, or in different states of the machine).\n", out);
        return;
    }
    row_get_count(r->row, "nodes", &nodes);
    row_get_text(r->row, "work", &work);
    fprintf(
        out,
        "%zu agree, %zu differ and %zu cannot be judged; the widest ratio is %.3f (%s of %s, %lld nodes).\n",
        r->pairs - r->differ - r->unclear, r->differ, r->unclear, r->widest, r->program, work,
        (long long)nodes);
}
