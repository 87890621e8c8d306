/*
 * The record and its file.
 *
 * A save makes PATH.PID.tmp in the same directory (rename is atomic only within a file system), flushes it to
 * the disk before the rename, and checks every step: a full disk shows only in fflush, fsync or fclose.
 */
#include "analysis/record/record.h"

#include "analysis/record/schema.h"
#include "analysis/record/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

json_t *record_new(const char *benchmark, const char *command, json_t *context)
{
    time_t now = time(NULL);
    struct tm utc;
    char started[32];
    gmtime_r(&now, &utc);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_t *record = json_pack("{s:i, s:s, s:o, s:s}", "schema", SCHEMA_VERSION, "benchmark", benchmark,
                               "command", json_text(command), "started", started);
    if (!record || json_object_update(record, context) != 0 ||
        json_object_set_new(record, "rows", json_array()) != 0) {
        fprintf(stderr, "record_new: no memory\n");
        abort();
    }
    json_decref(context);
    return record;
}

bool record_put(json_t *record, size_t index, bool replace, json_t *row, char *error)
{
    if (!row_validate(row, error)) {
        json_decref(row);
        return false;
    }
    json_t *rows = json_object_get(record, "rows");
    if (replace)
        json_array_set_new(rows, index, row);
    else
        json_array_insert_new(rows, index, row);
    return true;
}

bool record_add(json_t *record, json_t *row, char *error)
{
    return record_put(record, json_array_size(json_object_get(record, "rows")), false, row, error);
}

static bool head_is_sound(const json_t *record, char *error)
{
    if (json_integer_value(json_object_get(record, "schema")) != SCHEMA_VERSION) {
        snprintf(error, MESSAGE_SIZE, "schema: is not version %d", SCHEMA_VERSION);
        return false;
    }
    for (size_t i = 0; i < schema_head_count; i++) {
        const json_t *value = json_object_get(record, schema_head[i].name);
        if (!value && schema_head[i].optional)
            continue;
        if (!value || json_typeof(value) != schema_head[i].type) {
            snprintf(error, MESSAGE_SIZE, "%s: missing, or not of its type", schema_head[i].name);
            return false;
        }
    }
    return true;
}

/* Whether what stands beside the rows is sound, and every row is so to `row_is_sound`. */
static bool validate(const json_t *record, bool row_is_sound(const json_t *row, char *error), char *error)
{
    if (!json_is_object(record)) {
        snprintf(error, MESSAGE_SIZE, "not a result file: no JSON object");
        return false;
    }
    const json_t *rows = json_object_get(record, "rows");
    if (!head_is_sound(record, error))
        return false;
    if (!json_is_array(rows)) {
        snprintf(error, MESSAGE_SIZE, "rows: missing, or not an array");
        return false;
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        char wrong[MESSAGE_SIZE];
        if (!row_is_sound(json_array_get(rows, i), wrong)) {
            snprintf(error, MESSAGE_SIZE, "row %zu: %.*s", i + 1, MESSAGE_SIZE / 2, wrong);
            return false;
        }
    }
    return true;
}

bool record_validate(const json_t *record, char *error)
{
    return validate(record, row_validate, error);
}

bool record_write(const json_t *record, FILE *out)
{
    return json_dumpf(record, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0 && putc('\n', out) != EOF;
}

bool record_write_line(const json_t *record, const json_t *row, FILE *out)
{
    json_t *head = json_copy((json_t *)record), *line = json_copy((json_t *)row);
    json_object_del(head, "rows");
    json_object_del(head, "fits");
    bool good = json_object_set_new(line, "record", head) == 0 && row_write(line, out);
    json_decref(line);
    return good;
}

/* Says what the system refused; returns false for the caller to pass on. */
static bool system_error(char *error, const char *path)
{
    snprintf(error, MESSAGE_SIZE, "%.300s: cannot be written: %s", path, strerror(errno));
    return false;
}

/* Opens the file beside `path`, whose name is allocated into *beside; null with a message if that fails. */
static FILE *open_beside(const char *path, char **beside, char *error)
{
    struct stat there;
    if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        snprintf(error, MESSAGE_SIZE, "%.300s: is not a regular file",
                 path); /* a rename would replace /dev/null */
        return NULL;
    }
    if (asprintf(beside, "%s.%ld.tmp", path, (long)getpid()) < 0) {
        snprintf(error, MESSAGE_SIZE, "%s: no memory", path);
        return NULL;
    }
    int fd = open(*beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        system_error(error, path);
        free(*beside);
    }
    return file;
}

bool record_save(const json_t *record, const char *path, char *error)
{
    char *beside;
    FILE *file = open_beside(path, &beside, error);
    if (!file)
        return false;
    bool good = record_write(record, file) && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (!good)
        system_error(error, path);
    if (fclose(file) != 0 && good)
        good = system_error(error, path);
    if (good && rename(beside, path) != 0)
        good = system_error(error, path);
    if (!good)
        unlink(beside);
    free(beside);
    return good;
}

/* What a process that was killed left beside the file: PATH.PID.tmp of a PID that is no more. */
static void clear_leftovers(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    size_t length = strlen(name);
    DIR *all = directory ? opendir(directory) : NULL;
    for (struct dirent *e; all && (e = readdir(all)) != NULL;) {
        char *end;
        if (strncmp(e->d_name, name, length) != 0 || e->d_name[length] != '.')
            continue;
        long pid = strtol(e->d_name + length + 1, &end, 10);
        if (pid > 0 && pid <= INT_MAX && strcmp(end, ".tmp") == 0 && kill((pid_t)pid, 0) != 0 &&
            errno == ESRCH)
            unlinkat(dirfd(all), e->d_name, 0);
    }
    if (all)
        closedir(all);
    free(directory);
}

bool record_can_save(const char *path, char *error)
{
    char *beside;
    FILE *file = open_beside(path, &beside, error);
    if (!file)
        return false;
    fclose(file);
    unlink(beside);
    free(beside);
    clear_leftovers(path);
    return true;
}

static json_t *load(const char *path, bool row_is_sound(const json_t *row, char *error), char *error)
{
    json_error_t problem;
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(error, MESSAGE_SIZE, "%.300s: cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    json_t *record = json_loadf(file, JSON_REJECT_DUPLICATES, &problem);
    fclose(file);
    if (!record) {
        snprintf(error, MESSAGE_SIZE, "%.200s: not JSON: line %d: %s", path, problem.line, problem.text);
        return NULL;
    }
    char wrong[MESSAGE_SIZE];
    if (!validate(record, row_is_sound, wrong)) {
        snprintf(error, MESSAGE_SIZE, "%.200s: %.*s", path, MESSAGE_SIZE / 2, wrong);
        json_decref(record);
        return NULL;
    }
    return record;
}

json_t *record_load(const char *path, char *error)
{
    return load(path, row_validate, error);
}

json_t *record_load_any(const char *path, char *error)
{
    return load(path, row_validate_status, error);
}

bool record_keep(const char *path, char *error)
{
    char ignored[MESSAGE_SIZE], *kept;
    struct stat there;
    if (stat(path, &there) != 0)
        return true;
    json_t *record = record_load(path, ignored);
    bool empty = record && json_array_size(json_object_get(record, "rows")) == 0;
    json_decref(record);
    if (empty || there.st_size == 0)
        return true;
    if (asprintf(&kept, "%s~", path) < 0) {
        snprintf(error, MESSAGE_SIZE, "%s: no memory", path);
        return false;
    }
    unlink(kept);
    /* Not every file system has hard links, nor may everybody link to another user's file. */
    bool good = link(path, kept) == 0 || rename(path, kept) == 0 || system_error(error, kept);
    free(kept);
    return good;
}
