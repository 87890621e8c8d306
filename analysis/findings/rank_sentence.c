/*
 * How efficient ranks are (analysis/record/rank_scaling.h), of the most ranks and, of several ways, the best.
 * Ranks that share cores show nothing. Without measured rows, which way is predicted to be best.
 */
#include "analysis/findings/sentences.h"

#include "analysis/record/rank_scaling.h"

/* The ratio of times, with its interval. */
static bool judge(const struct scaling *s, size_t kind, struct verdict *v)
{
    struct verdict_limits limits = verdict_within;
    limits.machines = true; /* states of one thread and of several are not compared */
    if (!(s->row->ranks.load <= 1) || !is_settled(s->base, kind) || !is_settled(s->row, kind))
        return false;
    *v = row_verdict(s->base, kind, s->row, kind, limits);
    return !isnan(v->low) && !v->few;
}

/* "On 4 ranks (halo), each with as many nodes, a training step takes ..." */
static void print(FILE *out, const struct scaling *s, size_t kind, const struct verdict *v)
{
    static const char *const shares[GROWTHS] = {"", ", each with as many graphs",
                                                ", each with as many nodes"};
    const char *way = s->row->ranks.parallel ? s->row->ranks.parallel : "data";
    fprintf(out,
            "On %lld ranks (--parallel %s)%s, %s takes %.2f [%.2f, %.2f] times what one rank takes%s: an "
            "efficiency of %.0f %% [%.0f, %.0f].",
            (long long)s->ranks, way, shares[s->growth], subject_of(kind), v->ratio, v->low, v->high,
            s->growth != GROWS_NOT ? " for its share" : "", 100 * scaling_efficiency(s, 1, v->ratio),
            100 * scaling_efficiency(s, 1, v->high), 100 * scaling_efficiency(s, 1, v->low));
}

static double print_measured(FILE *out, const struct rows *rows, size_t kind)
{
    struct verdict best = {0}, v;
    const struct scaling *most = NULL;
    size_t n;
    struct scaling *all = scalings_find(rows, &n);
    for (struct scaling *s = all; s < all + n; s++)
        if (judge(s, kind, &v) &&
            (!most || s->ranks > most->ranks ||
             (s->ranks == most->ranks &&
              scaling_efficiency(s, 1, v.ratio) > scaling_efficiency(most, 1, best.ratio)))) {
            most = s;
            best = v;
        }
    double weight = most ? (double)most->ranks : 0;
    if (most)
        print(out, most, kind, &best);
    free(all);
    return weight;
}

/* The first that ways_write has to say. */
static double print_planned(FILE *out, const struct rows *rows)
{
    char *text;
    size_t size;
    FILE *memory = open_text(&text, &size);
    ways_write(memory, rows);
    fclose(memory);
    bool any = *text;
    fprintf(out, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
    return any;
}

double sentence_ranks(FILE *out, const struct facts *facts, struct basis *basis)
{
    double weight = print_measured(out, facts->rows, TIMED_STEP);
    weight = weight > 0 ? weight : print_measured(out, facts->rows, TIMED_FORWARD);
    basis->rows = weight > 0 ? 2 : 0;
    return weight > 0 ? weight : print_planned(out, facts->rows);
}
