#include "analysis/database/database.h"

#include "analysis/record/scan.h"
#include "analysis/statistics/allocate.h"
#include "analysis/tables/csv.h"

/* A value as a text in UTF-8, to be freed; null for null. */
static char *read_value_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? scan_clean(text) : NULL;
}

int answer_read(struct answer *a, sqlite3_stmt *statement, size_t most)
{
    int status;
    *a = (struct answer){.columns = (size_t)sqlite3_column_count(statement)};
    while ((status = sqlite3_step(statement)) == SQLITE_ROW && a->count < most) {
        a->cells = grow(a->cells, a->count, a->columns * sizeof *a->cells);
        for (size_t c = 0; c < a->columns; c++)
            a->cells[a->count * a->columns + c] = read_value_text(statement, (int)c);
        a->count++;
    }
    return status;
}

void answer_free(struct answer *a)
{
    for (size_t i = 0; i < a->count * a->columns; i++)
        free(a->cells[i]);
    free(a->cells);
    *a = (struct answer){0};
}

const char *answer_cell(const struct answer *a, size_t line, size_t column)
{
    const char *cell = a->cells[line * a->columns + column];
    return cell ? cell : "";
}

/* Writes a text as a value of CSV, without control characters but line breaks. */
static void put_plain(FILE *out, const char *text)
{
    char *plain;
    size_t size;
    FILE *lines = open_text(&plain, &size);
    for (;;) {
        size_t length = strcspn(text, "\n");
        plain_put_part(lines, text, length);
        text += length;
        if (!*text)
            break;
        putc(*text++, lines);
    }
    fclose(lines);
    csv_text(out, plain);
    free(plain);
}

int answer_csv(FILE *out, sqlite3_stmt *statement, bool names, size_t *lines)
{
    int status, columns = sqlite3_column_count(statement);
    for (int c = 0; c < columns && names; c++) {
        fputs(c ? "," : "", out);
        put_plain(out, sqlite3_column_name(statement, c));
    }
    fputs(names ? "\n" : "", out);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int c = 0; c < columns; c++) {
            char *text = read_value_text(statement, c);
            fputs(c ? "," : "", out);
            if (text)
                put_plain(out, text);
            free(text);
        }
        putc('\n', out);
        ++*lines;
    }
    return status;
}
