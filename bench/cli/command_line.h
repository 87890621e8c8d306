/* The command line, the same for every benchmark, read with one table of flags. */
#ifndef GTMARK_BENCH_COMMAND_LINE_H
#define GTMARK_BENCH_COMMAND_LINE_H

#include <stdio.h>

#include "bench/cli/config.h"
#include "bench/cli/options.h"
#include "kernels/backend.h"

/*
 * Sets the defaults, reads the arguments of main, and plans the run of an action that looks at rows; false
 * with a message. world: all ranks that were started; null: this process alone. The caller frees with
 * options_free.
 */
bool options_parse(const struct bench *b, const struct ranks *world, int argc, char **argv, struct options *o,
                   struct message *error);

void options_help(const struct bench *b, FILE *out);

/* --- what is refused of a command line: a message that names flags, values and what is allowed */

/* Whether the flags, as they are given, agree. */
bool flags_are_possible(const struct options *o, struct message *error);

/* Whether the plan is possible: it as a whole, and each configuration. A sweep may have some that it skips
 * (config_is_skipped), unless it has no others; a sweep over presets may have none. */
bool plan_is_possible(const struct options *o, struct message *error);

/* Of the plan: whether files can be read, unless they are too large for the memory, which makes rows of its
 * own; and whether some model takes each table. */
bool files_are_readable(const struct options *o, struct message *error);

/* --- output of --list models, --list presets, --list graphs and --list ops */

struct model;

/* `others`: those of a plug-in. */
void list_models(FILE *out, const struct model *others);
void list_presets(FILE *out);
void list_graphs(FILE *out);

/* Ops with their mathematics, FLOPs and the variants on the backend. */
void list_ops(FILE *to, const struct backend *b);

/* --- --plugin FILE: kernels and models of others, beside those of the host (docs/plugins.md) */

/* The library that a command line names, before it is read; null: none. */
const char *plugin_named(int argc, char **argv);

/* Opens the library, if given, adds its rows to those of the device, reads --model. False with a message. */
bool plugin_attach(struct options *o, struct message *error);

/* The library and what a configuration runs of it: "mine.so 0123456789abcdef: model=gps2, spmm=mine", with
 * the hash of its bytes. "" if it runs nothing of it. */
enum { PLUGIN_TEXT = 512 };
void plugin_describe(const struct options *o, const struct config *c, char text[PLUGIN_TEXT]);

#endif
