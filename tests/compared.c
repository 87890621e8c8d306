#include "tests/compared.h"
#include "analysis/record/result_file.h"

#include "tests/files.h"
#include "tests/synthetic.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

struct row *timed_row(int64_t nodes, double forward, double step)
{
    double x[SAMPLES];
    struct row *row = good_row(nodes);
    const double seconds[] = {forward, step};
    for (int p = 0; p < 2; p++) {
        make_series(x, SAMPLES, 0.005, 0.5, (uint64_t)nodes * 2 + (uint64_t)p);
        for (int i = 0; i < SAMPLES; i++)
            x[i] *= seconds[p];
        row_set_samples(row, p ? "step.time" : "forward.time", x, SAMPLES);
    }
    return row;
}

struct record *machine(const char *cpu, const int64_t *nodes, double slower)
{
    struct record *record = empty_record();
    value_set_text(value_get(record_head(record), "host"), "cpu", cpu);
    for (; *nodes; nodes++)
        add_row(record, timed_row(*nodes, 1e-5 * (double)*nodes, 4e-5 * (double)*nodes * slower));
    return record;
}

void save(const struct house *h, const char *name, struct record *record)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    if (!record_save(record, path, error))
        fail_msg("%s", error);
    record_free(record);
}

const int64_t three[] = {100, 200, 500, 0};

void assert_says(const char *out, const char *text)
{
    if (!strstr(out, text))
        fail_msg("'%s' is not in\n%s", text, out);
}

char *compare_missed(const struct house *h, const char *words, int status, const char *missed)
{
    struct ended e = program_run(h, words, NULL);
    if (e.status != status)
        fail_msg("%s: status %d, not %d\n%s%s", words, e.status, status, e.out, e.err);
    assert_says(e.err, missed);
    free(e.err);
    return e.out;
}

char *compare(const struct house *h, const char *words, int status)
{
    return compare_missed(h, words, status, "");
}

size_t occurrences(const char *out, const char *text)
{
    char *joined = unwrapped(out);
    size_t n = 0;
    for (const char *at = joined; (at = strstr(at, text)) != NULL; at++)
        n++;
    free(joined);
    return n;
}
