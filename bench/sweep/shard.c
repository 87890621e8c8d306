/* R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17 (1969): the costliest
 * part is at most 4/3 - 1/(3 N) times that of the best division. */

#include "analysis/statistics/allocate.h"
#include "bench/sweep/resume.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "bench/base/members.h"
#include "bench/cli/config.h"
#include "bench/sweep/estimate.h"
#include "kernels/ranks.h"
#include "kernels/rng.h"

struct costed {
    double cost;
    int64_t row;
};

struct load {
    double cost;
    int64_t rows;
};

static int costliest_first(const void *a, const void *b)
{
    const struct costed *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost) - (x->cost > y->cost)
                              : (x->row > y->row) - (x->row < y->row);
}

/* What a row counts whose cost is not known. */
static double mean_cost(const double *cost, int64_t count)
{
    double sum = 0;
    int64_t known = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(cost[i])) {
            sum += cost[i];
            known++;
        }
    return known > 0 ? sum / (double)known : 1;
}

void shard_divide(const double *cost, int64_t count, int of, int *part)
{
    struct costed *item = allocate((size_t)count, sizeof *item);
    struct load *all = allocate((size_t)of, sizeof *all);
    double mean = mean_cost(cost, count);
    for (int64_t i = 0; i < count; i++)
        item[i] = (struct costed){isnan(cost[i]) ? mean : cost[i], i};
    qsort(item, (size_t)count, sizeof *item, costliest_first);
    for (int64_t i = 0; i < count; i++) {
        int least = 0;
        for (int p = 1; p < of; p++)
            if (all[p].cost < all[least].cost ||
                (all[p].cost == all[least].cost && all[p].rows < all[least].rows))
                least = p;
        part[item[i].row] = least;
        all[least].cost += item[i].cost;
        all[least].rows++;
    }
    free(item);
    free(all);
}

double *shard_costs(const struct options *o)
{
    const double most = 0x1p63;
    double *cost = allocate((size_t)o->plan.count, sizeof *cost);
    struct options planned = *o;
    planned.mem_limit = most / 2; /* what is free here must not matter */
    for (int64_t i = 0; i < o->plan.count; i++) {
        struct estimate e = estimate_row(&planned, &o->plan.list[i], NULL);
        cost[i] = e.known ? 0 : NAN;
        for (enum program_kind p = 0; p < PROGRAMS; p++)
            cost[i] += e.program[p].flops < 0 ? most : (double)e.program[p].flops;
        cost[i] += e.encoding;
    }
    return cost;
}

static void hash_sweep(const struct options *o, char hash[17])
{
    char *works;
    size_t size;
    FILE *out = open_text(&works, &size);
    for (int64_t i = 0; i < o->plan.count; i++)
        fputs(o->plan.list[i].work, out);
    fclose(out);
    snprintf(hash, 17, "%016" PRIx64, rng_key(0, works));
    free(works);
}

bool shard_choose(struct options *o, struct message *error)
{
    struct shard_options *s = &o->shard;
    struct run_plan *plan = &o->plan;
    int64_t count = plan->count;
    if (!s->of)
        return true;
    if (o->world && o->world->count > 1)
        return complain(error, "--shard %d/%d: not with %d ranks", s->index, s->of, o->world->count);
    if (s->of > count)
        return complain(error, "--shard %d/%d: there are only %lld rows", s->index, s->of, (long long)count);
    double *cost = shard_costs(o);
    int *part = allocate((size_t)count, sizeof *part);
    shard_divide(cost, count, s->of, part);
    hash_sweep(o, s->sweep);
    s->rows = count;
    plan->count = 0;
    for (int64_t i = 0; i < count; i++)
        if (part[i] == s->index - 1) {
            plan->list[plan->count] = plan->list[i];
            plan->list[plan->count].index = plan->count;
            plan->count++;
        }
    free(cost);
    free(part);
    return true;
}

struct value *shard_value(const struct options *o)
{
    static const struct member members[] = {{MEMBER(shard_options, INT, index)},
                                            {MEMBER(shard_options, INT, of)},
                                            {MEMBER(shard_options, COUNT, rows)},
                                            {MEMBER(shard_options, TEXT, sweep)},
                                            {.name = NULL}};
    struct value *shard = value_new_object();
    members_write(members, &o->shard, shard);
    return shard;
}
