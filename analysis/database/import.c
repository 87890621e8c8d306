/* Files are imported in batches: all of a batch are parsed at once, in threads, and written in one
 * transaction. */
#include "analysis/database/import.h"

#include "analysis/database/database.h"
#include "analysis/record/axes.h"
#include "analysis/record/file.h"
#include "analysis/record/result_file.h"
#include "analysis/tables/units.h"

enum { BATCH = 32, HASH_TEXT = 64, MACHINE_TEXT = 512 };

enum statement {
    FIND_HASH,
    FIND_RUN,
    DROP_FILE,
    ADD_MACHINE,
    FIND_MACHINE,
    ADD_FILE,
    ADD_TAG,
    ADD_ROW,
    ADD_TEXT,
    ADD_PROGRAM,
    STATEMENTS
};

/* Columns before the texts of the head, the axes, and the numbers. */
enum { FILE_COLUMNS = 5, ROW_COLUMNS = 5, PROGRAM_COLUMNS = 3 };

struct importer {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    bool failed; /* the store could not be written: nothing more is done */
    char *error; /* why */
};

/* A result file. */
struct source {
    const char *path;
    char hash[HASH_TEXT];
    bool readable, known, good; /* known: the store has it; good: its runs were read */
    struct file_runs runs;
    char error[MESSAGE_SIZE]; /* if it is not readable, or neither known nor a record */
};

/* "INSERT INTO table VALUES (?,?,?)" for all columns. */
static sqlite3_stmt *prepare_insert(sqlite3 *db, const char *table, size_t columns, char *error)
{
    char sql[512];
    size_t used = (size_t)snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", table);
    for (size_t i = 1; i < columns && used < sizeof sql; i++)
        used += (size_t)snprintf(sql + used, sizeof sql - used, ",?");
    if (used + 2 > sizeof sql)
        abort();
    strcpy(sql + used, ")");
    return database_prepare(db, sql, error);
}

static bool prepare_all(struct importer *im, char *error)
{
    static const char *const texts[STATEMENTS] = {
        [FIND_HASH] = "SELECT id, samples FROM files WHERE hash = ?",
        [FIND_RUN] = "SELECT id, samples FROM files WHERE run = ?",
        [DROP_FILE] = "DELETE FROM files WHERE id = ?",
        [ADD_MACHINE] = "INSERT OR IGNORE INTO machines(name) VALUES (?)",
        [FIND_MACHINE] = "SELECT id, 0 FROM machines WHERE name = ?",
        [ADD_TAG] = "INSERT INTO tags VALUES (?,?,?)",
        [ADD_TEXT] = "INSERT INTO texts VALUES (?,?)",
    };
    size_t heads = 0;
    for (size_t i = 0; i < schema_head_count; i++)
        heads += schema_head[i].kind == VALUE_TEXT;
    im->statements[ADD_FILE] = prepare_insert(im->db, "files", FILE_COLUMNS + heads, error);
    im->statements[ADD_ROW] = prepare_insert(im->db, "rows", ROW_COLUMNS + axis_columns_count, error);
    im->statements[ADD_PROGRAM] =
        prepare_insert(im->db, "programs", PROGRAM_COLUMNS + number_columns_count, error);
    for (size_t i = 0; i < STATEMENTS; i++) {
        if (texts[i])
            im->statements[i] = database_prepare(im->db, texts[i], error);
        if (!im->statements[i])
            return false;
    }
    return true;
}

/* Binds a text, which may be null, until the statement has run. */
static void bind_text(struct importer *im, enum statement s, int at, const char *text)
{
    sqlite3_bind_text(im->statements[s], at, text, -1, SQLITE_STATIC);
}

static void bind_count(struct importer *im, enum statement s, int at, int64_t count)
{
    sqlite3_bind_int64(im->statements[s], at, count);
}

/* Binds a field of a row, counts exactly; leaves it null, and returns false, if it is absent. */
static bool bind_field(struct importer *im, enum statement s, int at, const struct row *row,
                       const struct field *f)
{
    if (!f || !row_has_field(row, f))
        return false;
    if (f->type == FIELD_TEXT)
        bind_text(im, s, at, *field_text(row, f));
    else if (f->type == FIELD_COUNT)
        bind_count(im, s, at, *field_count(row, f));
    else if (f->type == FIELD_REAL)
        sqlite3_bind_double(im->statements[s], at, *field_real(row, f));
    return true;
}

/* Runs a statement up to its first result; whether it has one, of which it reads two numbers if `found` is
 * not null. */
static bool run_bound(struct importer *im, enum statement s, int64_t found[2])
{
    if (im->failed)
        return false;
    int status = sqlite3_step(im->statements[s]);
    for (int i = 0; i < 2 && status == SQLITE_ROW && found; i++)
        found[i] = sqlite3_column_int64(im->statements[s], i);
    im->failed = status != SQLITE_ROW && status != SQLITE_DONE;
    if (im->failed)
        database_failed(im->db, im->error);
    sqlite3_reset(im->statements[s]);
    sqlite3_clear_bindings(im->statements[s]);
    return status == SQLITE_ROW;
}

static void hash_source(struct source *s)
{
    size_t size;
    char *text = file_is_regular(s->path, s->error) ? file_read(s->path, &size, s->error) : NULL;
    s->readable = text; /* a pipe could not be read again */
    if (text)
        snprintf(s->hash, HASH_TEXT, "%016llx", (unsigned long long)checksum_of(text, size));
    free(text);
}

static bool is_known(struct importer *im, const struct source *s)
{
    bind_text(im, FIND_HASH, 1, s->hash);
    return run_bound(im, FIND_HASH, NULL);
}

static int64_t hash_configuration(const struct row *row)
{
    char text[(AXES_MAX + 1) * AXES_TEXT];
    axes_text(row, schema_find("work"), text);
    size_t used = strlen(text);
    for (size_t i = 0; i < axis_columns_count && i < AXES_MAX; i++) {
        char value[AXES_TEXT];
        axes_text(row, schema_find(axis_columns[i].path), value);
        used += (size_t)snprintf(text + used, sizeof text - used, "\n%.*s", AXES_TEXT - 2, value);
    }
    return (int64_t)checksum_of(text, used);
}

/* "family 26, model 2, AMD EPYC, stepping 1; 2 cores; 23.5 GiB", after the names of its GPUs. */
static void name_machine(const struct value *head, char name[MACHINE_TEXT])
{
    const char *gpu;
    int64_t cores = 0, memory = 0;
    char size[UNITS_TEXT];
    size_t used = 0;
    value_get_count(head, "host.cores", &cores);
    value_get_count(head, "host.memory", &memory);
    for (struct walk w = value_walk(value_get(head, "devices")); walk_next(&w);)
        if (value_get_text(w.value, "name", &gpu) && used < MACHINE_TEXT / 2)
            used += (size_t)snprintf(name + used, MACHINE_TEXT - used, "%.100s; ", gpu);
    used += (size_t)snprintf(name + used, MACHINE_TEXT - used, "%.100s", record_processor(head));
    if (cores > 0)
        used += (size_t)snprintf(name + used, MACHINE_TEXT - used, "; %lld cores", (long long)cores);
    units_format(size, (double)memory, UNITS_BINARY, "B");
    if (memory > 0)
        snprintf(name + used, MACHINE_TEXT - used, "; %s", size);
}

static int64_t machine_of(struct importer *im, const struct value *head)
{
    char name[MACHINE_TEXT];
    int64_t found[2] = {0};
    name_machine(head, name);
    bind_text(im, ADD_MACHINE, 1, name);
    run_bound(im, ADD_MACHINE, NULL);
    bind_text(im, FIND_MACHINE, 1, name);
    run_bound(im, FIND_MACHINE, found);
    return found[0];
}

/* Binds the numbers of a program, or of the encoding, whose memory, which is not planned, is its peak;
 * whether there are any. */
static bool bind_numbers(struct importer *im, const struct row *row, size_t kind)
{
    bool any = false;
    for (size_t i = 0; i < number_columns_count; i++) {
        char path[SCHEMA_PATH];
        bool peak = kind == TIMED_ENCODING && strcmp(number_columns[i].name, "memory") == 0;
        snprintf(path, sizeof path, "%s%s", program_name(kind),
                 peak ? ".peak" : strchr(number_columns[i].path, '.'));
        any = bind_field(im, ADD_PROGRAM, PROGRAM_COLUMNS + 1 + (int)i, row, schema_find(path)) || any;
    }
    return any;
}

/* Adds a program of a row, if it has any number. */
static void put_program(struct importer *im, int64_t id, const struct row *row, size_t program)
{
    bind_count(im, ADD_PROGRAM, 1, id);
    bind_text(im, ADD_PROGRAM, 2, program_name(program));
    bind_text(im, ADD_PROGRAM, 3, row_noisy(row, program)); /* null: it is not */
    if (bind_numbers(im, row, program))
        run_bound(im, ADD_PROGRAM, NULL);
}

static void put_row(struct importer *im, int64_t file, const struct row *row)
{
    bind_count(im, ADD_ROW, 2, file); /* 1, the id, stays null: SQLite chooses it */
    bind_text(im, ADD_ROW, 3, row->status);
    bind_text(im, ADD_ROW, 4, row->work);
    bind_count(im, ADD_ROW, 5, hash_configuration(row));
    for (size_t i = 0; i < axis_columns_count; i++)
        bind_field(im, ADD_ROW, 1 + ROW_COLUMNS + (int)i, row, schema_find(axis_columns[i].path));
    run_bound(im, ADD_ROW, NULL);
    int64_t id = sqlite3_last_insert_rowid(im->db);
    bind_count(im, ADD_TEXT, 1, id);
    struct buffer json = {0};
    buffer_char(&json, '{');
    row_put_members(row, &json);
    buffer_put(&json, "}", 2);
    bind_text(im, ADD_TEXT, 2, json.text);
    run_bound(im, ADD_TEXT, NULL);
    free(json.text);
    for (size_t p = 0; p < TIMED; p++)
        put_program(im, id, row, p);
}

static void put_tags(struct importer *im, int64_t file, const struct value *tags)
{
    const char *text;
    for (struct walk w = value_walk(tags); walk_next(&w);) {
        if (!value_read_text(w.value, &text))
            continue;
        bind_count(im, ADD_TAG, 1, file);
        bind_text(im, ADD_TAG, 2, w.key);
        bind_text(im, ADD_TAG, 3, text);
        run_bound(im, ADD_TAG, NULL);
    }
}

/* Adds the texts of a record's head; the columns before these are bound. */
static int64_t put_head(struct importer *im, const struct value *head)
{
    int column = FILE_COLUMNS;
    for (size_t i = 0; i < schema_head_count; i++)
        if (schema_head[i].kind == VALUE_TEXT)
            bind_text(im, ADD_FILE, ++column, value_text_or(head, schema_head[i].name, NULL));
    run_bound(im, ADD_FILE, NULL);
    return sqlite3_last_insert_rowid(im->db);
}

/* How much was measured: a run that was continued has more. */
static int64_t count_samples(const struct rows *rows)
{
    int64_t all = (int64_t)rows_count(rows);
    for (size_t i = 0; i < rows_count(rows); i++)
        for (size_t p = 0; p < TIMED; p++)
            all += (int64_t)row_timed(rows_at(rows, i), p)->samples.count;
    return all;
}

/* Adds a run, unless the store has more of it. */
static bool put_run(struct importer *im, const struct source *from, const struct record *record)
{
    const struct value *head = record_head(record);
    const struct rows *rows = record_rows(record);
    int64_t there[2], samples = count_samples(rows), machine = machine_of(im, head);
    char *path = scan_clean(from->path);
    bind_text(im, FIND_RUN, 1, value_text_or(head, "run", ""));
    bool known = run_bound(im, FIND_RUN, there), more = !known || samples >= there[1];
    if (known && more) {
        bind_count(im, DROP_FILE, 1, there[0]);
        run_bound(im, DROP_FILE, NULL);
    }
    if (more) {
        bind_text(im, ADD_FILE, 2, from->hash);
        bind_count(im, ADD_FILE, 3, samples);
        bind_text(im, ADD_FILE, 4, path);
        bind_count(im, ADD_FILE, 5, machine);
        int64_t file = put_head(im, head);
        put_tags(im, file, value_get(head, "tags"));
        for (size_t i = 0; i < rows_count(rows); i++)
            put_row(im, file, rows_at(rows, i));
    }
    free(path);
    return more;
}

/* Reads the files of a batch that the store does not have. */
static void read_batch(struct importer *im, struct source *batch, size_t n)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < n; i++)
        hash_source(&batch[i]);
    for (size_t i = 0; i < n; i++)
        batch[i].known = batch[i].readable && is_known(im, &batch[i]);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < n; i++)
        if (batch[i].readable && !batch[i].known)
            batch[i].good = runs_load(batch[i].path, &batch[i].runs, NULL, batch[i].error);
}

/* Adds the runs of a file; false if the store has all of them. */
static bool put_runs(struct importer *im, const struct source *s, struct import_tally *tally)
{
    bool any = false;
    for (size_t i = 0; i < s->runs.count; i++)
        if (put_run(im, s, s->runs.list[i])) {
            tally->rows += rows_count(record_rows(s->runs.list[i]));
            any = true;
        }
    return any;
}

static void put_source(struct importer *im, const struct source *s, FILE *warnings,
                       struct import_tally *tally)
{
    if (!s->known && !s->good) {
        fputs("skipped: ", warnings);
        plain_put(warnings, s->error);
        putc('\n', warnings);
        tally->broken++;
    } else if (s->known || is_known(im, s) || !put_runs(im, s, tally)) { /* it may be twice in a batch */
        tally->known++;
    } else {
        tally->files++;
    }
}

/* Imports a batch; if the store cannot be written, nothing of it. */
static bool import_batch(struct importer *im, char *const *files, size_t n, FILE *warnings,
                         struct import_tally *tally, char *error)
{
    struct source batch[BATCH] = {{.path = NULL}};
    for (size_t i = 0; i < n; i++)
        batch[i].path = files[i];
    bool good = database_run(im->db, "BEGIN IMMEDIATE", error);
    if (good)
        read_batch(im, batch, n);
    for (size_t i = 0; i < n && good; i++)
        put_source(im, &batch[i], warnings, tally);
    for (size_t i = 0; i < n; i++)
        runs_free(&batch[i].runs);
    return good && !im->failed && database_run(im->db, "COMMIT", error);
}

bool import_files(const char *store, char *const *files, size_t count, FILE *warnings,
                  struct import_tally *tally, char *error)
{
    struct importer im = {.db = database_create(store, error), .error = error};
    *tally = (struct import_tally){.opened = im.db != NULL};
    bool good = im.db && prepare_all(&im, error);
    for (size_t i = 0; i < count && good; i += BATCH)
        good = import_batch(&im, files + i, count - i < BATCH ? count - i : BATCH, warnings, tally, error);
    for (size_t i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(im.statements[i]);
    sqlite3_close(im.db); /* undoes a transaction that failed */
    return good;
}
