/*
 * A JSON value: the head of a record, and every other JSON file that gtmark reads or writes.
 *
 * A tree that owns its children; setters take ownership of the value. Getters take paths: "host.cpu" is the
 * member "cpu" of the member "host". They accept null and values that are no objects, as objects without
 * members. Keys of setters are literal.
 *
 * Counts are exact 64-bit integers; most other JSON readers hold doubles, exact up to 2^53. A real is written
 * with 15 significant digits and always as a real, "5.0"; one that is not finite becomes null. When read, a
 * number without point and exponent is a count; numbers are written back unchanged. Bytes of a text that are
 * not UTF-8 become question marks. Out of memory: abort.
 *
 * Functions that can fail write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_VALUE_H
#define GTMARK_ANALYSIS_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/record/plain.h"

struct value;

enum value_kind { VALUE_NULL, VALUE_FLAG, VALUE_COUNT, VALUE_REAL, VALUE_TEXT, VALUE_ARRAY, VALUE_OBJECT };

struct value *value_new_null(void);
struct value *value_new_flag(bool flag);
struct value *value_new_count(int64_t count);
struct value *value_new_real(double real);
struct value *value_new_text(const char *text);
struct value *value_new_array(void);
struct value *value_new_object(void);
struct value *value_copy(const struct value *v);
void value_free(struct value *v); /* null is allowed */

/* VALUE_NULL also for a null pointer. */
enum value_kind value_kind(const struct value *v);

/* Same kind and value; members in any order. A count never equals a real, nor a null pointer anything. */
bool value_equal(const struct value *a, const struct value *b);

/* Sets a member of an object, replacing one with the same name. */
void value_set(struct value *object, const char *key, struct value *v);
void value_set_null(struct value *object, const char *key);
void value_set_flag(struct value *object, const char *key, bool flag);
void value_set_count(struct value *object, const char *key, int64_t count);
void value_set_real(struct value *object, const char *key, double real);
void value_set_text(struct value *object, const char *key, const char *text);
void value_remove(struct value *object, const char *key); /* if it exists */

void value_append(struct value *array, struct value *v); /* to an array */

/* Members of an object or elements of an array; 0 for other values. */
size_t value_size(const struct value *v);

/* Borrowed; null if there is none. To visit long arrays use walk_next, not indices. */
struct value *value_get(const struct value *object, const char *path);
struct value *value_at(const struct value *array, size_t index);

/* Readers: return false and leave the result unchanged if there is no such value or it is of another kind. */
bool value_get_count(const struct value *object, const char *path, int64_t *count);
bool value_get_real(const struct value *object, const char *path,
                    double *real); /* also of a count, rounded */
bool value_get_text(const struct value *object, const char *path, const char **text);
const char *value_text_or(const struct value *object, const char *path, const char *otherwise);
bool value_copy_text(const struct value *object, const char *path, char *text, size_t size); /* that fits */
bool value_read_count(const struct value *v, int64_t *count);
bool value_read_real(const struct value *v, double *real);
bool value_read_text(const struct value *v, const char **text);

/* Visits elements or members: for (struct walk w = value_walk(v); walk_next(&w);) use(w.key, w.value); */
struct walk {
    const char *key; /* null in an array */
    struct value *value;
    struct value *next; /* internal */
    bool named;
};
struct walk value_walk(const struct value *v);
bool walk_next(struct walk *w);

/* Parses a whole text or file; null on error, including text that is not strict JSON (scan.h). */
struct value *value_parse(const char *text, char *error);
struct value *value_load(const char *path, char *error);

/* Writes the value, no final newline: on one line, or with `indent` spaces per level. False on failure. */
bool value_write(const struct value *v, FILE *out);
bool value_write_indented(const struct value *v, int indent, FILE *out);

/* The same on one line, as a text for the caller to free. */
char *value_print(const struct value *v);

/* Saves to a file that holds a complete document at every moment. */
bool value_save(const struct value *v, const char *path, int indent, char *error);

/* A real as written in JSON: "5.0", "1e-9". */
enum { VALUE_REAL_TEXT = 32 };
void value_format_real(char text[VALUE_REAL_TEXT], double real);

#endif
