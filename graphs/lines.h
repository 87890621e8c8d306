/*
 * The lines of a text file, plain or compressed with gzip, one at a time in linear time.
 *
 * Lines end with LF or CR LF; the last may have no end. A byte order mark of UTF-8 is skipped. A NUL byte
 * means that this is not a text file.
 */
#ifndef GTMARK_GRAPHS_LINES_H
#define GTMARK_GRAPHS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graphs/container.h"
#include "graphs/words.h"
#include "kernels/cancel.h"

enum { LINES_LONGEST = 1 << 20 };

/* Set the first members and call lines_open; the others are its own. */
struct text_lines {
    const char *path;
    struct cancel cancel;
    char *error; /* of error_size bytes: what is wrong, once something is */
    size_t error_size;

    int64_t number;  /* of the last line, from 1 */
    int64_t longest; /* bytes of a line that are accepted: LINES_LONGEST, or what the reader sets */
    bool failed;
    const struct container *container; /* what it is, if it is known not to be text; else null */
    bool done;                         /* the whole file is in the block */
    void *file;
    struct archive *entry; /* whose bytes lines_bytes reads; null: those of the file */
    char *block;           /* `size` bytes */
    int64_t size, at, end; /* at .. end - 1: read, but not taken yet */
};

/* False with an error that begins with the path if there is no such regular file, or it cannot be read. */
bool lines_open(struct text_lines *l);

/*
 * The next line, [*line, *end) without its end, which stays until the next call. False at the end of the
 * file; also, with l->failed and an error, if the file is no text, cannot be read or is damaged, a line is
 * too long or has a NUL byte, or reading is cancelled.
 */
bool lines_next(struct text_lines *l, const char **line, const char **end);

/* The words of the next line that has any; otherwise as lines_next. */
bool lines_next_words(struct text_lines *l, struct words *w);

/* Just opened: of a .npz archive the file of this name is read. False, without an error, if it has none. */
bool lines_open_array(struct text_lines *l, const char *name);

/*
 * For a file that is no text: its next bytes, as many as `size` if there are. How many there were; -1, with
 * an error, as above.
 */
int64_t lines_bytes(struct text_lines *l, void *bytes, int64_t size);

/* Both return false, with an error: "PATH: ..." and, of the last line, "PATH:LINE: ...". */
bool lines_fail(struct text_lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool lines_refuse(struct text_lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Closing again, or what was never opened, does nothing. */
void lines_close(struct text_lines *l);

#endif
