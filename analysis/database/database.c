/* Opening a store, and its schema, which is derived from the lists of axes and of head fields. */
#include "analysis/database/database.h"

#include "analysis/record/file.h"
#include "analysis/record/schema.h"
#include "analysis/statistics/allocate.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

enum {
    APPLICATION = 0x67746d6b, /* "gtmk", in the header of the file */
    BUSY = 20000,             /* ms to wait for another process */
    LENGTH_MOST = 1 << 28     /* bytes of a text */
};

const struct field_column axis_columns[] = {
#define AXIS(id, flag, group, name, ...) {flag, SCHEMA_PATH_OF(group, name)},
#define OTHER(name, ...)                 {#name, #name},
#include "analysis/record/axes.def"
};
const size_t axis_columns_count = sizeof axis_columns / sizeof *axis_columns;

const struct field_column number_columns[] = {
    {"median", "forward.time.median"},          {"low", "forward.time.range_low"},
    {"high", "forward.time.range_high"},        {"ping", "forward.time.state.ping"},
    {"memory", "forward.memory.planned"},       {"flops", "forward.flops.analytic"},
    {"throughput", "forward.throughput"},       {"gflops", "forward.gflops"},
    {"efficiency", "forward.roofline.percent"},
};
const size_t number_columns_count = sizeof number_columns / sizeof *number_columns;

bool database_failed(sqlite3 *db, char *error)
{
    const char *path = sqlite3_db_filename(db, "main");
    snprintf(error, MESSAGE_SIZE, "%.300s: %.150s", path ? path : "the store",
             sqlite3_errcode(db) == SQLITE_INTERRUPT ? "stopped: it took longer than --timeout"
                                                     : sqlite3_errmsg(db));
    return false;
}

bool database_run(sqlite3 *db, const char *sql, char *error)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || database_failed(db, error);
}

sqlite3_stmt *database_prepare(sqlite3 *db, const char *sql, char *error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        database_failed(db, error);
    return statement;
}

static const char *column_type(const char *path)
{
    const struct field *field = schema_find(path);
    return field->type == FIELD_COUNT ? "INTEGER" : field->type == FIELD_REAL ? "REAL" : "TEXT";
}

/* The statements that make the tables, to be freed. */
static char *schema_sql(void)
{
    char *sql;
    size_t size;
    FILE *out = open_text(&sql, &size);
    fputs("CREATE TABLE machines (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
          "CREATE TABLE files (id INTEGER PRIMARY KEY, hash TEXT NOT NULL,"
          " samples INTEGER NOT NULL, path TEXT NOT NULL, machine INTEGER NOT NULL REFERENCES machines",
          out);
    for (size_t i = 0; i < schema_head_count; i++)
        if (schema_head[i].kind == VALUE_TEXT)
            fprintf(out, ", \"%s\" TEXT", schema_head[i].name);
    fputs(
        ");CREATE INDEX files_machine ON files(machine);CREATE INDEX files_hash ON files(hash);"
        "CREATE UNIQUE INDEX files_run ON files(run);"
        "CREATE TABLE tags (file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE, key TEXT NOT NULL,"
        " value TEXT NOT NULL, PRIMARY KEY (file, key)) WITHOUT ROWID;"
        "CREATE TABLE rows (id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,"
        " status TEXT NOT NULL, work TEXT, configuration INTEGER NOT NULL",
        out);
    for (size_t i = 0; i < axis_columns_count; i++)
        fprintf(out, ", \"%s\" %s", axis_columns[i].name, column_type(axis_columns[i].path));
    fputs(");CREATE INDEX rows_file ON rows(file);CREATE INDEX rows_work ON rows(work);"
          "CREATE TABLE texts (\"row\" INTEGER PRIMARY KEY REFERENCES rows ON DELETE CASCADE, json TEXT NOT "
          "NULL);"
          "CREATE TABLE programs (\"row\" INTEGER NOT NULL REFERENCES rows ON DELETE CASCADE,"
          " program TEXT NOT NULL, noisy TEXT",
          out);
    for (size_t i = 0; i < number_columns_count; i++)
        fprintf(out, ", %s %s", number_columns[i].name, column_type(number_columns[i].path));
    fputs(", PRIMARY KEY (\"row\", program)) WITHOUT ROWID;"
          "CREATE VIEW latest AS SELECT machine, program, configuration, started AS date, \"row\" FROM ("
          "SELECT f.machine, p.program, r.configuration, f.started, p.\"row\", ROW_NUMBER() OVER"
          " (PARTITION BY f.machine, p.program, r.configuration ORDER BY f.started DESC, r.id DESC) AS place"
          " FROM programs p JOIN rows r ON r.id = p.\"row\" JOIN files f ON f.id = r.file"
          " WHERE r.status = 'ok') WHERE place = 1;",
          out);
    fclose(out);
    return sql;
}

static bool get_number(sqlite3 *db, const char *sql, int64_t *number, char *error)
{
    sqlite3_stmt *s = database_prepare(db, sql, error);
    bool good = s && (sqlite3_step(s) == SQLITE_ROW || database_failed(db, error));
    if (good)
        *number = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return good;
}

/* Whether the database is a store of this version; with `create` an empty one becomes a store. */
static bool check_schema(sqlite3 *db, bool create, char *error)
{
    char mark[96], *sql = schema_sql();
    int64_t application = 0, version = 0, tables = 0;
    int wanted = (int)(checksum_of(sql, strlen(sql)) & 0x7fffffff); /* changes with the schema */
    bool good = get_number(db, "PRAGMA application_id", &application, error) &&
                get_number(db, "PRAGMA user_version", &version, error) &&
                get_number(db, "SELECT COUNT(*) FROM sqlite_master", &tables, error);
    if (good && create && application == 0 && tables == 0) {
        snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION,
                 wanted);
        good = database_run(db, sql, error) && database_run(db, mark, error);
    } else if (good && (application != APPLICATION || version != wanted)) {
        snprintf(error, MESSAGE_SIZE, "%.300s: %s", sqlite3_db_filename(db, "main"),
                 application == APPLICATION
                     ? "made by another version of gtmark; remove it and import the result files again"
                 : tables == 0 ? "nothing was imported yet"
                               : "not a store of result files");
        good = false;
    }
    free(sql);
    return good;
}

/* Opens a file by its path, whatever that looks like: SQLite gives names such as ":memory:" a meaning. */
static sqlite3 *open_path(const char *path, int mode, char *error)
{
    sqlite3 *db = NULL;
    if (!file_is_regular(path, error))
        return NULL;
    char *name = format_text("%s%s", *path == '/' ? "" : "./", path);
    int status = sqlite3_open_v2(name, &db, mode, NULL);
    free(name);
    if (status != SQLITE_OK) {
        snprintf(error, MESSAGE_SIZE, "%.300s: %.150s", path, sqlite3_errstr(status));
        sqlite3_close(db);
        return NULL;
    }
    sqlite3_busy_timeout(db, BUSY);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MOST);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return db;
}

sqlite3 *database_create(const char *path, char *error)
{
    sqlite3 *db = open_path(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error);
    if (db &&
        database_run(db, "PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536; BEGIN IMMEDIATE", error) &&
        check_schema(db, true, error) && database_run(db, "COMMIT", error))
        return db;
    sqlite3_close(db);
    return NULL;
}

static int64_t milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int is_late(void *deadline)
{
    return milliseconds() > (intptr_t)deadline;
}

/* Undoes what a killed importer had not committed: a read-only connection may not. */
static void undo_unfinished(const char *path)
{
    char ignored[MESSAGE_SIZE];
    sqlite3 *db = open_path(path, SQLITE_OPEN_READWRITE, ignored);
    if (db)
        database_run(db, "SELECT 1 FROM sqlite_master", ignored);
    sqlite3_close(db);
}

sqlite3 *database_open(const char *path, double timeout, char *error)
{
    enum { STEPS = 10000 }; /* of SQLite's machine between two looks at the clock */
    if (access(path, R_OK) != 0) {
        snprintf(error, MESSAGE_SIZE, "%.300s: %s; `import FILE.jsonl ...` makes a store", path,
                 strerror(errno));
        return NULL;
    }
    sqlite3 *db = open_path(path, SQLITE_OPEN_READONLY, error);
    if (db && sqlite3_exec(db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL) == SQLITE_READONLY)
        undo_unfinished(path);
    if (db && check_schema(db, false, error)) {
        intptr_t deadline = (intptr_t)milliseconds() + (intptr_t)(timeout * 1000);
        sqlite3_progress_handler(db, STEPS, is_late, (void *)deadline); /* the number, not its address */
        return db;
    }
    sqlite3_close(db);
    return NULL;
}
