/* Names of processors, by processors.def, and of GPUs. */
#include "analysis/record/record.h"

/* "Zen 4" for "family 25, model 17, AMD EPYC, stepping 1"; null if it is not known. */
static const char *processor_name(const char *cpuid)
{
    static const struct {
        int family, first, last;
        const char *name;
    } known[] = {
#define PROCESSOR(family, first, last, name) {family, first, last, name},
#include "analysis/record/processors.def"
#undef PROCESSOR
    };
    int family, model;
    if (sscanf(cpuid, "family %d, model %d", &family, &model) != 2)
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].family == family && known[i].first <= model && model <= known[i].last)
            return known[i].name;
    return NULL;
}

/* The GPU that a result file is of, if it is of one. */
static bool gpu_text(const struct value *head, char text[PROCESSOR_TEXT])
{
    const char *gpu = NULL;
    if (!value_get_text(value_at(value_get(head, "devices"), 0), "name", &gpu))
        return false;
    snprintf(text, PROCESSOR_TEXT, "%s", gpu);
    return true;
}

void processor_short(const struct value *head, char text[PROCESSOR_TEXT])
{
    int length = 0;
    const char *cpuid = record_processor(head), *name = processor_name(cpuid);
    sscanf(cpuid, "family %*d, model %*d%n", &length);
    if (!gpu_text(head, text))
        snprintf(text, PROCESSOR_TEXT, "%.*s", name ? PROCESSOR_TEXT : length, name ? name : cpuid);
}

void processor_text(const struct value *head, char text[PROCESSOR_TEXT])
{
    const char *cpuid = record_processor(head), *name = processor_name(cpuid);
    if (!gpu_text(head, text))
        snprintf(text, PROCESSOR_TEXT, name ? "%s (%.200s)" : "%s%.200s", name ? name : "", cpuid);
}
