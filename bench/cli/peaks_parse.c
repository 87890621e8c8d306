/* Rates are those of any working set: all memory is DRAM. */
#include "bench/cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/result_file.h"
#include "analysis/statistics/allocate.h"
#include "bench/base/quantity.h"

enum { PEAK, DRAM, TENSOR_TF32, TENSOR_BF16, RATES };

static const struct {
    const char *name;
    enum quantity_kind kind;
} rates[RATES] = {[PEAK] = {"peak=", QUANTITY_FLOP_PER_SECOND},
                  [DRAM] = {"dram=", QUANTITY_BYTES_PER_SECOND},
                  [TENSOR_TF32] = {"tf32=", QUANTITY_FLOP_PER_SECOND},
                  [TENSOR_BF16] = {"bf16=", QUANTITY_FLOP_PER_SECOND}};

/*
 * Published rates of GPUs, as in `rates`: TFLOP/s of f32 outside tensor cores, GB/s, and TFLOP/s of tensor
 * cores in TF32 and BF16 for dense matrices, from NVIDIA's data sheets of each (V100 2020, A100 2022, H100
 * 2023, L40S 2023, H200 2024).
 */
static const struct {
    const char *name;
    double rate[RATES];
} published[] = {
    {"V100", {15.7, 900}},
    {"A100-40GB", {19.5, 1555, 156, 312}},
    {"A100", {19.5, 2039, 156, 312}},
    {"L40S", {91.6, 864, 183, 362}},
    {"H100-PCIe", {51.2, 2000, 378, 756}},
    {"H100", {66.9, 3350, 494.7, 989.4}},
    {"H200", {66.9, 4800, 494.7, 989.4}},
};

/* The rate with which the text begins; RATES if there is none. */
static int rate_of(const char *text)
{
    int i = 0;
    while (i < RATES && strncmp(text, rates[i].name, strlen(rates[i].name)) != 0)
        i++;
    return i;
}

static void add_peaks(struct given_peaks *g, const struct calibration *c)
{
    g->list = grow(g->list, (size_t)g->count, sizeof *g->list);
    g->list[g->count++] = *c;
}

/* GFLOP/s in a unit of the rates, and GB/s in that of DRAM's. */
static void add_rates(struct given_peaks *g, const char *source, const double rate[RATES], double gflops,
                      double gbs)
{
    double gb = gbs * rate[DRAM];
    struct calibration c = {
        .peak = gflops * rate[PEAK], .tf32 = gflops * rate[TENSOR_TF32], .bf16 = gflops * rate[TENSOR_BF16]};
    snprintf(c.cpu, sizeof c.cpu, "%s", source);
    c.level[MEMORY_DRAM] = c.sweep[c.points++] = (struct bandwidth){INT64_MAX, INT64_MAX, gb, gb, gb, gb};
    add_peaks(g, &c);
}

/* Those of arithmetic and memory and, perhaps, of tensor cores, once each. */
static bool read_rates(const char *text, struct given_peaks *g)
{
    double rate[RATES] = {0};
    bool good = true;
    char *copy = copied(text), *next = copy;
    for (char *item; good && (item = strsep(&next, ",")) != NULL;) {
        int i = rate_of(item);
        good = i < RATES && rate[i] == 0 &&
               quantity_parse(item + strlen(rates[i].name), rates[i].kind, &rate[i]) && rate[i] > 0;
    }
    free(copy);
    if (!good || !(rate[PEAK] > 0) || !(rate[DRAM] > 0))
        return false;
    add_rates(g, "given", rate, 1e-9, 1e-9);
    return true;
}

static bool find_published(const char *text, struct given_peaks *g)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (strcasecmp(text, published[i].name) == 0) {
            char source[64];
            snprintf(source, sizeof source, "published for %s", published[i].name);
            add_rates(g, source, published[i].rate, 1e3, 1);
            return true;
        }
    return false;
}

static bool add_calibration(void *given, const struct value *json)
{
    struct calibration c;
    bool good = calibration_read(json, &c);
    if (good)
        add_peaks(given, &c);
    return good;
}

static bool add_link(void *links, const struct value *json)
{
    struct link l;
    bool good = link_read(json, &l);
    if (good)
        links_add(links, &l);
    return good;
}

/* Adds each entry of an array of a result file, or of the kept calibrations. False with the reason. */
static bool read_file(const char *path, const char *array, bool (*add)(void *to, const struct value *json),
                      void *to, char why[MESSAGE_SIZE])
{
    struct record *record = record_load(path, why);
    struct value *file = record ? NULL : value_load(path, why);
    bool read = record || file, good = read, any = false;
    const struct value *list = value_get(record ? record_head(record) : file, array);
    for (struct walk w = value_walk(list); good && walk_next(&w); any = true)
        good = add(to, w.value);
    if (read && !good)
        snprintf(why, MESSAGE_SIZE, "one of its %s is not well-formed", array);
    else if (read && !any)
        snprintf(why, MESSAGE_SIZE, "the file has no %s", array);
    record_free(record);
    value_free(file);
    return good && any;
}

bool peaks_parse(const char *text, struct given_peaks *g, struct message *error)
{
    char why[MESSAGE_SIZE] = "a rate is missing, given twice or not a number with its unit";
    given_peaks_free(g);
    if (find_published(text, g))
        return true;
    g->file = rate_of(text) == RATES ? text : NULL;
    return (g->file ? read_file(text, "calibrations", add_calibration, g, why) : read_rates(text, g)) ||
           complain(
               error,
               "--peaks %.150s: neither measure, nor a result file with calibrations, nor "
               "peak=60GFLOP/s,dram=20GB/s, nor link=400Gb/s,2us, nor V100, A100, A100-40GB, L40S, H100, "
               "H100-PCIe or H200 (%.200s)",
               text, why);
}

static bool read_link_rates(const char *text, struct links *all)
{
    const char *comma = strchr(text, ',');
    char rate[64];
    double alpha, beta;
    if (!comma || (size_t)(comma - text) >= sizeof rate)
        return false;
    snprintf(rate, sizeof rate, "%.*s", (int)(comma - text), text);
    if (!quantity_parse(rate, QUANTITY_LINK_RATE, &beta) ||
        !quantity_parse_or_zero(comma + 1, QUANTITY_SECONDS, &alpha))
        return false;
    struct link given = link_given(alpha, beta);
    links_add(all, &given);
    return true;
}

bool link_parse(const char *text, struct links *all, struct message *error)
{
    char why[MESSAGE_SIZE];
    links_free(all);
    return read_link_rates(text, all) || read_file(text, "links", add_link, all, why) ||
           complain(error,
                    "--peaks link=%.150s: neither a rate and a latency, as 400Gb/s,2us, nor a result file "
                    "of several ranks (%.200s)",
                    text, why);
}

void given_peaks_keep_largest(struct given_peaks *g)
{
    int most = 0;
    for (int i = 1; i < g->count; i++)
        most = g->list[i].threads >= g->list[most].threads ? i : most;
    g->list[0] = g->list[most];
    g->count = 1;
}

bool given_peaks_have(const struct given_peaks *g, int threads)
{
    bool have = !g->file;
    for (int i = 0; i < g->count; i++)
        have = have || g->list[i].threads == threads;
    return have;
}

void given_peaks_free(struct given_peaks *g)
{
    free(g->list);
    *g = (struct given_peaks){0};
}
