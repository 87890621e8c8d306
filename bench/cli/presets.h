/* Published models as configurations: the values of all axes that describe a model and its graphs, and those
 * parts of a model that have no axis (encoders of features, head, loss). */
#ifndef GTMARK_BENCH_PRESETS_H
#define GTMARK_BENCH_PRESETS_H

#include "graphs/graph.h"
#include "models/layers/config.h"

/* Where a number of parameters is from: published as such, or the sum over the published configuration. */
enum preset_status { PRESET_EXACT, PRESET_DERIVED };

struct preset {
    const char *name;
    struct model_config parts;
    struct graph_config graph; /* of these graphs a step takes at most about two seconds */
    int64_t batch;             /* graphs, as published */
    int64_t parameters;        /* as published */
    enum preset_status status;
    const char *source;
    const char *left_out; /* what was published and is not in the configuration */
};

/* All presets; the last has no name. */
extern const struct preset presets[];

/* The preset of an axis value or a configuration; null for 0, "none". */
const struct preset *preset_at(int64_t index);

/* The names of the axis: "none" and those of the presets; null past the last. */
const char *preset_choice(int index);

/* Those of all presets as a list of values, without those that are to be planned (--device meta). */
enum { PRESET_NAMES = 512, PRESET_LARGE = 40000000 /* parameters */ };
void preset_names(char text[PRESET_NAMES]);

void preset_describe(const struct preset *p, char *text, size_t size);

#endif
