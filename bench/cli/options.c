#include "bench/cli/options.h"

#include <stdlib.h>

#include "bench/machine/machine.h"
#include "kernels/peak.h"
#include "kernels/plugin_rows.h"

const char *bench_values(const struct bench *b, enum axis a)
{
    return a == b->axis ? b->values : b->also[a] ? b->also[a] : axis_info(a)->standard;
}

struct peaks_request options_peaks(const struct options *o)
{
    const struct axis_values *threads = &o->axes[AXIS_THREADS];
    return (struct peaks_request){.peak = peak_of(o->device.backend),
                                  .device = o->device.backend->device && !o->device.meta ? &o->device : NULL,
                                  .no_peaks = !o->roofline     ? "not asked for (--no-roofline)"
                                              : o->device.meta ? "planned only (--device meta)"
                                                               : NULL,
                                  .threads = threads->values,
                                  .count = threads->count,
                                  .calibrate = o->calibrate,
                                  .given = &o->peaks};
}

struct peaks options_kept_peaks(const struct options *o)
{
    struct peaks_request request = options_peaks(o);
    return peaks_kept(&request);
}

bool options_print_profile(const struct options *o)
{
    return o->profile && !o->summed && (!o->bench->whole || o->output.all);
}

double options_host_memory(const struct options *o)
{
    return o->mem_limit > 0 ? o->mem_limit : (double)machine_memory_free();
}

void options_free(struct options *o)
{
    device_close(&o->device);
    record_free(o->baseline);
    value_free(o->tags);
    given_peaks_free(&o->peaks);
    links_free(&o->links);
    free(o->kernels);
    plugin_close(o->plugin.opened);
    free(o->plan.list);
    for (enum axis a = 0; a < AXES; a++)
        axis_values_free(&o->axes[a]);
}
