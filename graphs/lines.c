/* zlib passes uncompressed data unchanged, so both kinds of file are read in blocks through it. */
#include "graphs/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "graphs/archive.h"
#include "kernels/arithmetic.h"

enum { BLOCK = 1 << 20, AT_ONCE = 1 << 30 /* of zlib */ };

static bool fail(struct text_lines *l, bool line, const char *format, va_list arguments)
{
    char number[32] = "";
    if (line && l->number > 0)
        snprintf(number, sizeof number, ":%" PRId64, l->number);
    int length = snprintf(l->error, l->error_size, "%.200s%s: ", l->path, number);
    if (length < (int)l->error_size)
        vsnprintf(l->error + length, l->error_size - (size_t)length, format, arguments);
    l->failed = true;
    return false;
}

bool lines_fail(struct text_lines *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(l, false, format, arguments);
    va_end(arguments);
    return false;
}

bool lines_refuse(struct text_lines *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(l, true, format, arguments);
    va_end(arguments);
    return false;
}

/* Looks at the first bytes, and skips a byte order mark. An error is found again when they are read. */
static void look(struct text_lines *l)
{
    static const char mark[] = "\xef\xbb\xbf";
    char head[CONTAINER_HEAD];
    int got = gzread(l->file, head, sizeof head);
    l->container = container_find(head, (size_t)max_of(got, 0));
    gzrewind(l->file);
    if (got >= (int)strlen(mark) && memcmp(head, mark, strlen(mark)) == 0)
        gzread(l->file, head, (unsigned)strlen(mark));
}

bool lines_open(struct text_lines *l)
{
    struct stat about;
    if (stat(l->path, &about) != 0)
        return lines_fail(l, "%s", strerror(errno));
    if (!S_ISREG(about.st_mode))
        return lines_fail(l, "%s", S_ISDIR(about.st_mode) ? "is a directory" : "is not a regular file");
    errno = ENOMEM; /* the meaning if zlib does not set errno */
    l->file = gzopen(l->path, "rb");
    if (!l->file)
        return lines_fail(l, "%s", strerror(errno));
    gzbuffer(l->file, BLOCK / 4);
    look(l);
    l->longest = LINES_LONGEST;
    l->size = BLOCK;
    l->block = malloc(BLOCK);
    return l->block || lines_fail(l, "no memory");
}

/* Reports zlib's error, if any, at the end of the data; zlib's text begins with the path. */
static bool check_end(struct text_lines *l)
{
    int code;
    const char *text = gzerror(l->file, &code);
    size_t path = strlen(l->path);
    if (code == Z_OK || code == Z_STREAM_END)
        return true;
    l->number++;
    return lines_refuse(l, "%s", strncmp(text, l->path, path) == 0 && text[path] ? text + path + 2 : text);
}

/* Doubles the block, which is full of one line. */
static bool grow(struct text_lines *l)
{
    l->number++;
    if (l->size >= l->longest)
        return lines_refuse(l, "the line is longer than %" PRId64 " MiB", l->longest >> 20);
    int64_t size = min_of(2 * l->size, l->longest);
    char *block = realloc(l->block, (size_t)size);
    if (!block)
        return lines_refuse(l, "no memory for a line of more than %" PRId64 " MiB", l->size >> 20);
    l->block = block;
    l->size = size;
    l->number--;
    return true;
}

/* Moves the line that has begun to the front of the block, and reads on. */
static bool refill(struct text_lines *l)
{
    if (l->at > 0)
        memmove(l->block, l->block + l->at, (size_t)(l->end - l->at));
    l->end -= l->at;
    l->at = 0;
    if (is_cancelled(l->cancel))
        return lines_fail(l, "stopped while reading");
    if (l->end == l->size && !grow(l))
        return false;
    int got = gzread(l->file, l->block + l->end, (unsigned)min_of(l->size - l->end, AT_ONCE));
    if (got <= 0 && !check_end(l))
        return false;
    l->done = got <= 0;
    l->end += max_of(got, 0);
    return true;
}

bool lines_next(struct text_lines *l, const char **line, const char **end)
{
    const char *from, *newline;
    if (l->container)
        return lines_fail(l, "%s", l->container->said);
    for (;;) {
        from = l->block + l->at;
        newline = memchr(from, '\n', (size_t)(l->end - l->at));
        if (newline || (l->done && l->at < l->end))
            break;
        if (l->done || !refill(l))
            return false;
    }
    const char *stop = newline ? newline : l->block + l->end;
    l->at = stop - l->block + (newline != NULL);
    l->number++;
    if (memchr(from, '\0', (size_t)(stop - from)))
        return lines_refuse(l, "the line has a NUL byte: this is not a text file");
    *line = from;
    *end = stop > from && stop[-1] == '\r' ? stop - 1 : stop;
    return true;
}

bool lines_next_words(struct text_lines *l, struct words *w)
{
    const char *line, *end;
    while (lines_next(l, &line, &end)) {
        *w = words_of(line, end);
        words_skip_blanks(w);
        if (w->at < w->end)
            return true;
    }
    return false;
}

bool lines_open_array(struct text_lines *l, const char *name)
{
    if (!l->container || !l->container->npz)
        return true;
    gzrewind(l->file);
    l->entry = archive_find(l->file, name);
    return l->entry;
}

int64_t lines_bytes(struct text_lines *l, void *bytes, int64_t size)
{
    int64_t count = 0;
    while (count < size) {
        if (is_cancelled(l->cancel)) {
            lines_fail(l, "stopped while reading");
            return -1;
        }
        int most = (int)min_of(size - count, AT_ONCE);
        char *to = (char *)bytes + count;
        int got = l->entry ? archive_read(l->entry, to, most) : gzread(l->file, to, (unsigned)most);
        if (got < 0 && l->entry)
            lines_fail(l, "an array in it is damaged or cut");
        if (got <= 0)
            return !l->failed && (l->entry || check_end(l)) ? count : -1;
        count += got;
    }
    return count;
}

void lines_close(struct text_lines *l)
{
    free(l->block);
    archive_free(l->entry);
    if (l->file)
        gzclose_r(l->file);
    l->block = NULL;
    l->file = NULL;
    l->entry = NULL;
}
