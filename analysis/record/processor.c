#include "analysis/record/processor.h"

#include "analysis/record/record.h"

#include <stdio.h>

const char *processor_name(const char *cpuid)
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

void processor_short(const char *cpuid, char text[PROCESSOR_TEXT])
{
    int length = 0;
    const char *name = processor_name(cpuid);
    sscanf(cpuid, "family %*d, model %*d%n", &length);
    snprintf(text, PROCESSOR_TEXT, "%.*s", name ? PROCESSOR_TEXT : length, name ? name : cpuid);
}

void processor_text(const struct value *head, char text[PROCESSOR_TEXT])
{
    const char *cpuid = record_processor(head), *name = processor_name(cpuid);
    snprintf(text, PROCESSOR_TEXT, name ? "%s (%.200s)" : "%s%.200s", name ? name : "", cpuid);
}
