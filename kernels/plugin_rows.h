/*
 * Kernels of others: the entries of a shared library (gtmark_plugin.h) as rows of a backend's table. A row is
 * run as ours are; its call must have the row in call.kernel.
 */
#ifndef GTMARK_KERNELS_PLUGIN_ROWS_H
#define GTMARK_KERNELS_PLUGIN_ROWS_H

#include "kernels/backend.h"

struct plugin;

/* What calls report (gtmark_plugin.h), and their ends. */
enum plugin_report { PLUGIN_ENTER, PLUGIN_LEAVE, PLUGIN_SUM, PLUGIN_MEAN, PLUGIN_END };

/* Hears of them: the name of a section or metric; metadata or a value; null and 0 where there is none. */
struct plugin_listener {
    void (*hear)(void *context, enum plugin_report what, const char *name, const char *metadata,
                 double value);
    void *context;
};

/*
 * Opens a library and checks its entries: ops that we have, of types and devices that we run, no variant
 * twice. One with models (models/layers/model.h) needs none. Null with a message. A library stays loaded.
 */
struct plugin *plugin_open(const char *path, char *error, size_t error_size);

/* Removes the rows. */
void plugin_close(struct plugin *p);

/*
 * The chain of backends from b on, with the rows of the plug-in for its device below it, which thus are no
 * default of any op that b has. It lives as long as the plug-in. Null with a message if there is none, or if
 * a variant of an op is already in b.
 */
const struct backend *plugin_below(struct plugin *p, const struct backend *b, char *error, size_t error_size);

/* What an entry has reported as wrong, or has done wrong, with its name; null: nothing. After that no entry
 * computes anything, until plugin_recover. Null for no plug-in. */
const char *plugin_fault(const struct plugin *p);
void plugin_recover(struct plugin *p);

/* Notes as a fault that calls have changed the modes of arithmetic of this many threads of OpenMP, which are
 * then reset. */
void plugin_settle(struct plugin *p, int threads);

/* Whether a kernel is a row of a plug-in that has a fault. */
bool plugin_failed(const struct kernel *k);

/* Who hears of them from now on; null: nobody. It must live until the next call. */
void plugin_listen(struct plugin *p, const struct plugin_listener *l);

/* Before the runs of a function, and after them: what its entry does there. Null, or why it cannot run.
 * Kernels of others and of ours have nothing to do. */
const char *plugin_setup(const struct kernel *k, const void *args);
void plugin_teardown(const struct kernel *k);

/* The i-th row; null past the last. */
const struct kernel *plugin_row(const struct plugin *p, int i);

/* The models that the library exports; null: none. */
const void *plugin_models(const struct plugin *p);

/* Whether a kernel is such a row. */
bool plugin_is_row(const struct kernel *k);

/* The library that has it; null for a kernel of ours. */
const char *plugin_path(const struct kernel *k);

/* Whether it is one for a GPU. */
bool plugin_on_device(const struct kernel *k);

/* The flags of a row's entry (GTMARK_ALLOCATES, ...); none for a kernel of ours. */
int plugin_flags(const struct kernel *k);

/* Why a row cannot be called with these arguments, in its own words; null if it can, and for kernels of ours.
 */
const char *plugin_refuses(const struct kernel *k, const void *args);

#endif
