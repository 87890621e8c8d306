/* --plugin FILE: kernels and models of others, beside those of the host (docs/plugins.md). */
#ifndef GTMARK_BENCH_PLUGIN_H
#define GTMARK_BENCH_PLUGIN_H

#include "bench/cli/config.h"

/* The library that a command line names, before it is read; null: none. */
const char *plugin_named(int argc, char **argv);

/* Opens the library, if given, adds its rows to those of the device, reads --model. False with a message. */
bool plugin_attach(struct options *o, struct message *error);

/*
 * The library and what a configuration runs of it: "mine.so 0123456789abcdef: model=gps2, spmm=mine", with
 * the hash of its bytes. "" if it runs nothing of it.
 */
enum { PLUGIN_TEXT = 512 };
void plugin_describe(const struct options *o, const struct config *c, char text[PLUGIN_TEXT]);

#endif
