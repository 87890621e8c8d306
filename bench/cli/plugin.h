/* --plugin FILE: kernels of others, beside those of the host (docs/plugins.md). */
#ifndef GTMARK_BENCH_PLUGIN_H
#define GTMARK_BENCH_PLUGIN_H

#include "bench/cli/config.h"

/* Opens the library, if one is given, and adds its rows to those of the device. False with a message. */
bool plugin_attach(struct options *o, struct message *error);

/*
 * The library and the variants of it that a configuration runs: "mine.so 0123456789abcdef: spmm=mine", with
 * the hash of its bytes. "" if it runs none.
 */
enum { PLUGIN_TEXT = 512 };
void plugin_describe(const struct options *o, const struct config *c, char text[PLUGIN_TEXT]);

#endif
