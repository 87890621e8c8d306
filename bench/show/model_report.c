#include "bench/show/profile.h"

#include "analysis/tables/units.h"

void model_report(const struct tape *t, enum program_kind kind, FILE *out)
{
    const struct plan *plan = tape_planned(t);
    int64_t parameters = tape_parameter_elements(t);
    char bytes[UNITS_TEXT], planned[UNITS_TEXT];
    units_format(bytes, (double)parameters * (double)dtype_size(tape_config(t)->dtype), UNITS_BINARY, "B");
    units_format(planned, (double)plan->arena, UNITS_BINARY, "B");
    fprintf(out, "\n%s: %lld parameters (%s), %d entries, %s planned\n", program_name(kind),
            (long long)parameters, bytes, tape_entry_count(t), planned);
    fprintf(out, "  %-40s %12s %8s\n", "memory at the peak", "bytes", "share");
    for (enum category c = 0; c < MEMORY_CATEGORIES; c++) {
        units_format(bytes, (double)plan->at_peak[c], UNITS_BINARY, "B");
        if (plan->at_peak[c])
            fprintf(out, "  %-40s %12s %6.1f %%\n", category_name(c), bytes,
                    100 * (double)plan->at_peak[c] / (double)plan->peak);
    }
}
