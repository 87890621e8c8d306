/* The statistics of a series of samples, as fields of a row. */
#include "analysis/record/row.h"

#include "analysis/record/schema.h"
#include "analysis/statistics/robust.h"
#include "analysis/statistics/statistics.h"

#include <math.h>

/* Sets a statistic, or null with the reason. */
static void set_statistic(struct row *row, const char *group, const char *name, double value,
                          const char *reason)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.%s", group, name);
    if (isfinite(value))
        row_set_real(row, path, value);
    else
        row_set_null(row, path, reason);
}

static void set_intervals(struct row *row, const char *group, const double *samples, const struct summary *s)
{
    struct interval ranks = median_interval_ranks(samples, s->n);
    bool few = s->n < AUTOCORRELATION_MIN;
    set_statistic(row, group, "ci95_low", few ? s->ci95_low : ranks.low, "not a finite number");
    set_statistic(row, group, "ci95_high", few ? s->ci95_high : ranks.high, "not a finite number");
    set_statistic(row, group, "independent", few ? NAN : ranks.independent, "needs 6 samples");
}

static void set_trend(struct row *row, const char *group, const double *samples, size_t n)
{
    char path[SCHEMA_PATH];
    struct drift drift = drift_find(samples, n);
    set_statistic(row, group, "drift", drift.change, "needs 10 samples");
    set_statistic(row, group, "drift_p", drift.p, "needs 10 samples");
    snprintf(path, sizeof path, "%s.slow_start", group);
    row_set_count(row, path, (int64_t)slow_start_find(samples, n).runs);
}

void row_set_samples(struct row *row, const char *group, const double *samples, size_t n)
{
    struct summary s = summarize(samples, n);
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.samples", group);
    row_set_reals(row, path, samples, n);
    snprintf(path, sizeof path, "%s.n", group);
    row_set_count(row, path, (int64_t)s.n);
    set_statistic(row, group, "mean", s.mean, "not a finite number");
    set_statistic(row, group, "std", s.std, "needs 2 samples");
    set_statistic(row, group, "min", s.min, "not a finite number");
    set_statistic(row, group, "max", s.max, "not a finite number");
    set_statistic(row, group, "median", s.median, "not a finite number");
    set_statistic(row, group, "p95", s.p95, "needs 20 samples");
    set_statistic(row, group, "p99", s.p99, "needs 100 samples");
    set_intervals(row, group, samples, &s);
    set_statistic(row, group, "cv", s.cv, "needs 2 samples and a mean that is not 0");
    snprintf(path, sizeof path, "%s.outliers", group);
    row_set_count(row, path, (int64_t)s.outliers);
    set_trend(row, group, samples, n);
}
