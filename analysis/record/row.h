/*
 * A row: one configuration and its measurements, in the fields of schema.def; and sequences of rows.
 *
 * What was not measured is absent: a count is COUNT_ABSENT, a real NAN, a text or list null, never 0. Where
 * the user asked for it, or could have expected it, a reason stands under the path of the field or of its
 * group ("step": "not asked for").
 *
 * Fields have paths, "step.time.median", where users type or read them. Functions that take a path abort if
 * the schema has no such field of this type: a programming error. Texts are copied, and bytes that are not
 * UTF-8 become question marks. A real that is not finite is absent, with that reason.
 */
#ifndef GTMARK_ANALYSIS_ROW_H
#define GTMARK_ANALYSIS_ROW_H

#include "analysis/record/row_struct.h"
#include "analysis/record/schema.h"
#include "analysis/statistics/states.h"

#include <math.h>

/* --- members by the fields of the schema */

static inline const char **field_text(const struct row *row, const struct field *f)
{
    return (const char **)((char *)row + f->offset);
}

static inline int64_t *field_count(const struct row *row, const struct field *f)
{
    return (int64_t *)((char *)row + f->offset);
}

static inline double *field_real(const struct row *row, const struct field *f)
{
    return (double *)((char *)row + f->offset);
}

static inline struct items *field_items(const struct row *row, const struct field *f)
{
    return (struct items *)((char *)row + f->offset);
}

/* A count as a real; NAN if it is absent. */
static inline double count_real(int64_t count)
{
    return count == COUNT_ABSENT ? NAN : (double)count;
}

/* Makes a field absent. */
void field_clear(struct row *row, const struct field *f);

/* Whether the row has a field. */
bool row_has_field(const struct row *row, const struct field *f);

/* A real, or a count, rounded; false, with *value unchanged, if the row has none. */
bool field_number(const struct row *row, const struct field *f, double *value);

/* An order of rows by a field: negative, 0 if it is the same in both or absent in both, positive. */
int row_order(const struct row *a, const struct row *b, const struct field *f);

/* --- rows */

/* What has times in a row, as "step.time.median": the benchmarks' programs in order, and the encoding. */
enum { TIMED_FORWARD, TIMED_STEP, TIMED_KERNEL, TIMED_ENCODING, TIMED };
const char *program_name(size_t kind);

struct row *row_new(void); /* all fields are absent */
struct row *row_copy(const struct row *row);
void row_free(struct row *row); /* null is allowed */

/* A copy of a list that lives as long as the row. */
struct items row_keep_items(struct row *row, const void *list, size_t n, enum field_type type);
/* The same of a list and one item more. */
struct items row_add_item(struct row *row, struct items list, const void *item, enum field_type type);

/* A copy of a text, in UTF-8, that lives as long as the row; null, absent, of an empty one. */
const char *row_keep(struct row *row, const char *text);

void row_set_text(struct row *row, const char *path, const char *value);
void row_set_count(struct row *row, const char *path, int64_t value);
void row_set_real(struct row *row, const char *path, double value);

/* Makes a field or all fields of a group absent, with one reason; null: without one. */
void row_omit(struct row *row, const char *path, const char *reason);

/* The same of a program and a field or group in it ("roofline"), and of a member of the row. */
void row_omit_of(struct row *row, size_t program, const char *path, const char *reason);
void row_put_reason(struct row *row, const void *member, const char *reason);

/* Sets a count, which exceeds 63 bits if it is negative, or a number, if it is finite; else that is the
 * reason why it is absent. */
void row_put_count(struct row *row, int64_t *member, int64_t value);
void row_put_real(struct row *row, double *member, double value);

/* Adds a reason to what is absent, or to what `checked` says; the path must not have one yet. */
void row_explain(struct row *row, const char *path, const char *reason);

/* The times of a program, "step.time", or of a phase, "step.backward.time"; aborts if it is neither. */
struct row_times *row_times(const struct row *row, const char *group);

/*
 * Sets the samples of some turns, in seconds, and the statistics of those reported, in a group such as
 * "step.time"; at least one sample in every turn.
 */
void row_set_times(struct row *row, const char *group, const struct turns *t, const struct reported *r);

/* The same for a part of every sample, in a group such as "step.backward.time"; `r` is from
 * reported_part. The turns themselves are those of the whole. */
void row_set_part_times(struct row *row, const char *group, const struct turns *t, const struct reported *r);

/* The turns of such times, with their probes if they have them; *n of them, to be freed. Null without any. */
struct turn *row_turns(const struct row_times *times, size_t *n);

/* The same as row_set_times for turns of one sample each, without probes. */
void row_set_samples(struct row *row, const char *group, const double *samples, size_t n);

/* Sets the fields that follow from others, to be called when all others are set. */
void row_derive(struct row *row);

/* The same for times, and for what follows from their samples, with or without drifts. */
void row_derive_times(struct row *row, struct row_times *time);
void row_derive_samples(struct row *row, struct row_times *time, bool drifts);

/* The member of a part of the probes. */
double *row_state(struct row_times *time, int part);

/* Sets the statistics of the reported turns. */
void row_report_times(struct row_times *time, const struct turns *t, const struct reported *r);

/* The fields of a program, in the order of program_name; null for the encoding, which is none. */
struct row_program *row_program(const struct row *row, size_t kind);

/* The times of a program or of the encoding. */
struct row_times *row_timed(const struct row *row, size_t kind);

/* A real, or a count, rounded; false, with *value unchanged, if there is no row or such a field, or it is
 * absent. */
bool row_get_real(const struct row *row, const char *path, double *value);

/* The value of a metric of a program: hit_rate of "kernel". False if the row has none. */
bool row_get_metric(const struct row *row, const char *program, const char *metric, double *value);

/* Whether the row has the field, or any field of the group. */
bool row_has(const struct row *row, const char *path);

/* Whether the field has the same value in both, or is absent in both. */
bool row_same(const struct row *a, const struct row *b, const char *path);

/* Why a field is absent: its reason, else the nearest one above, else why the row is not ok or only planned;
 * null if there is none. */
const char *row_reason(const struct row *row, const char *path);

bool row_is_ok(const struct row *row);

/* Not run: on --device meta, for whichever device. */
bool row_is_planned(const struct row *row);

/* Why a time has no roofline if no turn was in one state of the machine. */
#define ROW_STATELESS "the machine was disturbed, or its state changed, in every repetition"

/* Why the range of a time is wide, or rests on few turns (time.noisy, "~" in tables); null if neither holds.
 */
const char *row_noisy(const struct row *row, size_t kind);

/* Whether both were reported in states of one machine, and in none that is the same; for times of turns in a
 * common state, disjoint ranges are a difference in that state. False for rows of different devices or
 * numbers of threads, whose processors are another state by themselves, and for rows without probes. */
bool row_states_differ(const struct row *a, size_t of_a, const struct row *b, size_t of_b);

/* How much longer a part of the probes took beside the time of b than beside that of a: of PROBE_FMA, above 1
 * if the cores' clock was lower. NAN for rows of different devices or numbers of threads; 1 if only one of
 * them has probes. */
double row_state_ratio(const struct row *a, size_t of_a, const struct row *b, size_t of_b, int part);

/* Why results of a row that is ok were not checked; null if they were, or if no program ran. */
const char *row_unchecked(const struct row *row);

/* Whether all eigenvectors of the row's encoding are of eigenvalue 0, indicators of components: its time is
 * that of no solver, and tells nothing of how such encodings grow or compare. */
bool row_solved_nothing(const struct row *row);

/* Whether the row is well-formed, with a known status; if not, error[MESSAGE_SIZE] says why. */
bool row_validate(const struct row *row, char *error);

/*
 * A row as JSON: dotted paths are nested objects, of the fields that the row has; "absent" is an object
 * beside them, of the reasons. The first adds the members of an object, without its brackets, after a bracket
 * or a comma; the second reads an object, text[size], with its id: members that are no fields are ignored,
 * and what is wrong is the row's flaw. Null with a message if it is no JSON.
 */
struct buffer; /* value_text.h */
void row_put_members(const struct row *row, struct buffer *out);
struct row_line {
    char *kind, *run; /* texts beside the fields, to be freed; null: none */
};
struct row *row_read(const char *text, size_t size, struct row_line *line, char *error);
void row_line_free(struct row_line *line);

/*
 * A sequence of rows. One from rows_new owns its rows; a view refers to rows of others, which must outlive
 * it, and may contain null.
 */
struct rows;

struct rows *rows_new(void);
struct rows *rows_new_view(void);
void rows_free(struct rows *rows); /* null is allowed */

size_t rows_count(const struct rows *rows);
struct row *rows_at(const struct rows *rows, size_t i); /* null beyond the end */

void rows_append(struct rows *rows, struct row *row);
void rows_insert(struct rows *rows, size_t i, struct row *row); /* before row i, or at the end */
void rows_replace(struct rows *rows, size_t i, struct row *row);

/* Removes row i and returns it to the caller. */
struct row *rows_take(struct rows *rows, size_t i);

#endif
