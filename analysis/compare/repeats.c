#include "analysis/compare/repeats.h"

#include <math.h>

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

struct repeats repeats_find(const struct rows *rows)
{
    struct repeats r = {0};
    struct match_rule rule = match_rule(&rows, 1, NULL);
    for (size_t i = 0; i < rows_count(rows); i++)
        for (size_t k = 0; k < i; k++) {
            const struct row *a = rows_at(rows, k), *b = rows_at(rows, i);
            for (size_t p = 0; p < TIMED && match(&rule, a, b); p++)
                if (is_timed(a, program_name(p)) && is_timed(b, program_name(p)))
                    judge(&r, a, b, program_name(p));
        }
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
