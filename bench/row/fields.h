/* The fields of a row of the configuration, its encoding, its ranks, exchange between them, and the GPU. */
#ifndef GTMARK_BENCH_FIELDS_H
#define GTMARK_BENCH_FIELDS_H

#include "analysis/record/axes.h"
#include "bench/row/encode.h"
#include "models/encodings/bound.h"

/* The work, and the device it runs on. */
void fields_config(struct row *row, const struct config *c, const struct options *o);

/* The nodes of a row and the values of all axes that vary: "500 nodes, 2 layers". */
void fields_describe(const struct options *o, const struct config *c, char text[AXES_TEXT]);

/* A program of the row: "step at 500 nodes, 2 layers". */
enum { TITLE_TEXT = AXES_TEXT + 32 };
void fields_title(const struct options *o, const struct config *c, enum program_kind kind,
                  char text[TITLE_TEXT]);

/* A computed encoding and its cost, without its time. */
void fields_encoding(struct row *row, const struct encoded *e, const struct encoding_config *c,
                     bool uploaded);

/* What is known of an encoding without computing it: bounds, and its stored bytes. */
void fields_encoding_bound(struct row *row, const struct encoding_bound *b, int64_t storage);

struct result;
struct program_result;

/* What each of several ranks has of the batch. */
void fields_ranks(struct row *row, const struct result *r);

/* The clocks, throttling and energy of the GPU. */
void fields_gpu(struct row *row, enum program_kind kind, const struct program_result *p);

/* What several ranks exchange: measured, and predicted. */
void fields_exchange(struct row *row, enum program_kind kind, const struct program_result *p);

#endif
