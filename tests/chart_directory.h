/* For tests of charts: a directory for them, their scripts and titles, and times. */
#ifndef GTMARK_TESTS_CHART_DIRECTORY_H
#define GTMARK_TESTS_CHART_DIRECTORY_H

#include "analysis/charts/charts.h"
#include "analysis/record/record.h"
#include "analysis/record/row.h"
#include "analysis/record/schema.h"

#include <stdbool.h>

struct chart_directory {
    char directory[64], prefix[96]; /* the prefix contains a quote, to be escaped in scripts */
};

/* For cmocka: a struct chart_directory. */
int make_directory(void **state);
int remove_directory(void **state);

/* For cmocka: from now on scripts are written, and no images. */
int hide_gnuplot(void **state);

/* Draws what `add` adds, or chart_add over an axis. */
enum chart_result draw_added(chart_adder *add, const struct record *record, const char *prefix,
                             char *message);
enum chart_result draw_charts(const struct record *record, const struct field *axis, const char *prefix,
                              char *message);

bool on_path(const char *program);

/* Sets the time of a program: seven turns, spread evenly over +- the share. */
void set_time(struct row *row, const char *path, double seconds, double spread);

/* The content of the file PREFIX and `end`, to be freed, or null. */
char *content(const struct chart_directory *p, const char *end);

void assert_title(const struct chart_directory *p, const char *end, const char *wanted);
void assert_in(const char *text, const char *wanted);

#endif
