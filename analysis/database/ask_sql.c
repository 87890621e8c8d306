/* A user's statement: the connection is read-only, and `authorize` allows nothing but reading. */
#include "analysis/database/ask.h"
#include "analysis/database/database.h"

/* SQLite asks about everything a statement would do. No ATTACH, PRAGMA, transaction or change; no code is
 * loaded. */
static int authorize(void *unused, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
    (void)unused, (void)first, (void)database, (void)trigger;
    bool reads = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
                 (action == SQLITE_FUNCTION && sqlite3_stricmp(second, "load_extension") != 0);
    return reads ? SQLITE_OK : SQLITE_DENY;
}

/* Returns false. */
static bool refuse_sql(const char *reason, char *error)
{
    snprintf(error, MESSAGE_SIZE, "--sql: %.300s", reason);
    return false;
}

static sqlite3_stmt *prepare_reading(sqlite3 *db, const char *sql, char *error)
{
    sqlite3_stmt *s = NULL;
    const char *rest = "";
    sqlite3_set_authorizer(db, authorize, NULL);
    int status = sqlite3_prepare_v2(db, sql, -1, &s, &rest);
    if (status == SQLITE_AUTH || (s && !sqlite3_stmt_readonly(s)))
        refuse_sql("SELECT statements only: nothing else is allowed here", error);
    else if (status != SQLITE_OK)
        refuse_sql(sqlite3_errmsg(db), error);
    else if (!s || rest[strspn(rest, " \t\r\n;")])
        refuse_sql("needs one SELECT statement", error);
    else
        return s;
    sqlite3_finalize(s);
    return NULL;
}

/* Prints a result as a table; returns SQLite's status, SQLITE_ROW if it has too many lines. */
static int print_result(const struct asking *how, sqlite3_stmt *s)
{
    enum { LINES_MAX = 10000 };
    struct answer a;
    int status = answer_read(&a, s, LINES_MAX);
    struct grid g = {.columns = a.columns, .all = true};
    for (size_t c = 0; c < a.columns; c++)
        grid_add(&g, "%s", sqlite3_column_name(s, (int)c));
    for (size_t i = 0; i < a.count * a.columns; i++)
        grid_add(&g, "%s", a.cells[i] ? a.cells[i] : "-");
    if (status == SQLITE_DONE)
        grid_print(&g, how->format == FORMAT_MARKDOWN ? TABLE_MARKDOWN : TABLE_TERMINAL, how->out);
    grid_free(&g);
    answer_free(&a);
    return status;
}

static bool print_sql(const struct asking *how, sqlite3 *db, sqlite3_stmt *s, char *error)
{
    bool table = how->format != FORMAT_CSV;
    size_t lines = 0;
    if (table && sqlite3_column_count(s) > GRID_COLUMNS)
        return refuse_sql("a table has at most 64 columns; --format csv has any number", error);
    int status = table ? print_result(how, s) : answer_csv(how->out, s, true, &lines);
    if (status == SQLITE_DONE)
        return true;
    if (status == SQLITE_INTERRUPT)
        return refuse_sql("stopped: it took longer than --timeout", error);
    return refuse_sql(status == SQLITE_ROW ? "more than 10000 rows: add LIMIT, or --format csv"
                                           : sqlite3_errmsg(db),
                      error);
}
_Static_assert(GRID_COLUMNS == 64, "the message of too many columns");

bool ask_sql(const struct asking *how, const char *sql, char *error)
{
    sqlite3 *db = database_open(how->store, how->timeout, error);
    sqlite3_stmt *s = db ? prepare_reading(db, sql, error) : NULL;
    bool good = s && print_sql(how, db, s, error);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return good;
}
