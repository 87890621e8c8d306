#include "analysis/database/answer.h"

#include "analysis/record/plain.h"
#include "analysis/record/scan.h"
#include "analysis/tables/csv.h"

#include <stdlib.h>
#include <string.h>

/* The value as a text to be freed, null for null: UTF-8, and no control characters but line breaks. */
static char *read_cell_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    char *clean = text ? scan_clean(text) : NULL, *plain = NULL;
    size_t size;
    FILE *out = text ? open_memstream(&plain, &size) : NULL;
    if (text && (!clean || !out))
        abort();
    for (const char *at = clean; text; at++) {
        size_t length = strcspn(at, "\n");
        plain_put_part(out, at, length);
        at += length;
        if (!*at)
            break;
        putc('\n', out);
    }
    free(clean);
    if (out && fclose(out) != 0)
        abort();
    return plain;
}

int answer_read(struct answer *a, sqlite3_stmt *statement, size_t most)
{
    int status;
    *a = (struct answer){.columns = (size_t)sqlite3_column_count(statement)};
    while ((status = sqlite3_step(statement)) == SQLITE_ROW && a->count < most) {
        a->cells = realloc(a->cells, (a->count + 1) * a->columns * sizeof *a->cells);
        if (!a->cells)
            abort();
        for (size_t c = 0; c < a->columns; c++)
            a->cells[a->count * a->columns + c] = read_cell_text(statement, (int)c);
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

int answer_csv(FILE *out, sqlite3_stmt *statement, bool names, size_t *lines)
{
    int status, columns = sqlite3_column_count(statement);
    for (int c = 0; c < columns && names; c++) {
        fputs(c ? "," : "", out);
        csv_text(out, sqlite3_column_name(statement, c));
    }
    fputs(names ? "\n" : "", out);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int c = 0; c < columns; c++) {
            char *text = read_cell_text(statement, c);
            fputs(c ? "," : "", out);
            if (text)
                csv_text(out, text);
            free(text);
        }
        putc('\n', out);
        ++*lines;
    }
    return status;
}
