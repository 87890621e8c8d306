/*
 * Texts of charts: the title, the machine, the work, what is left out, the names of series. All are
 * without markup.
 */
#ifndef GTMARK_ANALYSIS_CHART_TEXT_H
#define GTMARK_ANALYSIS_CHART_TEXT_H

#include "analysis/charts/series.h"
#include "analysis/record/record.h"

enum { CHART_TEXT = 2048 };

/* "12.3 ms"; "5.11k graphs/s", "0.362 graphs/s" */
void chart_value(char text[UNITS_TEXT], double y, const struct chart *c);

/* "step, grid graph"; the subject of the title if the quantity has no label and the series no group. */
void chart_label(char text[CHART_TEXT], const struct series *s);

/*
 * The machine: "AMD EPYC 7B13, cpu, 2 threads", from the record (null: left out) and the first row that is
 * ok.
 */
void chart_machine(char text[CHART_TEXT], const struct record *record, const struct rows *rows);

/* The work: the axes that do not vary and say that something is there, from the first row that is ok. */
void chart_work(char text[CHART_TEXT], const struct rows *rows);

/* What is drawn: "Time of a training step and of inference over nodes", "Memory of encodings, 500 nodes". Of
 * at least one series. */
void chart_title(char text[CHART_TEXT], const struct chart *c, const struct series_set *set,
                 const struct field *axis);

/* "left out: 5000 nodes (oom)"; "" if all rows are drawn in a chart of this field. */
void chart_left_out(char text[CHART_TEXT], const struct rows *rows, const struct field *axis, bool encodings);

#endif
