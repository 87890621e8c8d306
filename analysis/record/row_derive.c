/* The fields that schema.def calls derived. What lacks a source is absent. */
#include "analysis/record/row.h"

#include <math.h>
#include <string.h>

static double ratio(double a, double b)
{
    double value = a / b;
    return isfinite(value) ? value : NAN;
}

void row_derive_times(struct row_times *t)
{
    const struct items *turns = &t->turn_medians;
    t->range_low = t->range_high = NAN;
    for (size_t i = 0; i < turns->count; i++) {
        t->range_low = fmin(t->range_low, turns->list[i].real); /* of NAN and a number, the number */
        t->range_high = fmax(t->range_high, turns->list[i].real);
    }
    t->range_confidence = turns->count > 0 ? 1 - exp2(1 - (double)turns->count) : NAN;
    t->cv = ratio(t->std, fabs(t->mean));
    t->turns = t->turn_medians.list ? (int64_t)t->turn_medians.count : COUNT_ABSENT;
    t->other_turns =
        t->blocks.list && t->turn_medians.list ? (int64_t)t->blocks.count - t->turns : COUNT_ABSENT;
}

static void derive_memory(struct row_program *p, const struct row *row)
{
    double planned = count_real(p->memory.planned);
    p->memory.per_graph = ratio(planned, count_real(row->batch));
    p->memory.per_node = ratio(planned, count_real(row->graph.nodes));
    p->memory.efficiency = ratio(count_real(p->memory.peak_live), planned);
}

static void derive_program(struct row_program *p, const struct row *row)
{
    double flops = count_real(p->flops.analytic), bytes = count_real(p->bytes), median = p->time.median;
    row_derive_times(&p->time);
    derive_memory(p, row);
    p->intensity = ratio(flops, bytes);
    p->gflops = ratio(1e-9 * flops, median);
    p->bandwidth = ratio(1e-9 * bytes, median);
    p->throughput = ratio(count_real(row->batch), median);
    p->nodes_per_second = ratio(count_real(row->graph.nodes), median);
    p->edges_per_second = ratio(count_real(row->graph.edges), median);
    p->launch.per_entry = ratio(p->launch.median, count_real(p->launch.entries));
    p->bound.ratio = ratio(median, p->bound.time);
    p->communication.error = ratio(p->communication.predicted, p->communication.time) - 1;
}

/* Without checkpoints nothing is recomputed. */
static void derive_step(struct row_program *step)
{
    double again = step->recompute.flops == COUNT_ABSENT ? 0 : (double)step->recompute.flops;
    step->model_gflops = ratio(1e-9 * (count_real(step->flops.analytic) - again), step->time.median);
    row_derive_times(&step->backward.statistics);
    row_derive_times(&step->optimizer.statistics);
    row_derive_times(&step->recompute.statistics);
}

/* Runs after which computing the encoding is less than 1 % of the total: once < 0.01 (once + runs each). */
static int64_t break_even(const struct row *row, const struct row_program *p)
{
    double runs = ratio(99 * row->encoding.time.median, p->time.median);
    return runs < 0x1p62 ? (int64_t)runs + 1 : COUNT_ABSENT;
}

void row_derive(struct row *row)
{
    for (size_t p = 0; p < TIMED - 1; p++)
        derive_program(row_program(row, p), row);
    derive_step(&row->step);
    row_derive_times(&row->encoding.time);
    row->graph.degree_mean = ratio(count_real(row->graph.edges), count_real(row->graph.nodes));
    row->graph.padding_waste = 1 - ratio(count_real(row->graph.pairs), count_real(row->graph.padded_pairs));
    row->encoding.break_even_forward = break_even(row, &row->forward);
    row->encoding.break_even_step = break_even(row, &row->step);
}
