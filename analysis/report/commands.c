#include "analysis/report/commands.h"

#include "analysis/record/axes.h"

#include <stdlib.h>
#include <string.h>

/* A field of rows and the flag that sets it. */
struct setter {
    const char *flag, *field;
};

#define AXIS(id, flag, field, kind, place, standard, pace, work, dump, unit, symbol, help, meaning)          \
    {flag, field},
static const struct setter setters[] = {
#include "analysis/record/axes.def"
    {"op", "op"},
    {"device", "device"},
    {"seed", "seed"},
};
enum { SETTERS = sizeof setters / sizeof *setters };

static const struct setter *setter_of(const struct field *axis)
{
    for (size_t i = 0; i < SETTERS; i++)
        if (strcmp(setters[i].field, axis->path) == 0)
            return &setters[i];
    return NULL;
}

/* Whether another of these axes, a name, determines axis i, as a model does its attention. */
static bool is_determined(const struct rows *rows, const struct field *const *axes, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (k != i && axes[k]->type == FIELD_TEXT && setter_of(axes[k]) &&
            axes_determine(rows, axes[k], axes[i]) && (k < i || !axes_determine(rows, axes[i], axes[k])))
            return true;
    return false;
}

size_t command_axes(const struct rows *rows, const struct field *axes[AXES_MAX])
{
    const struct field *varying[AXES_MAX];
    size_t n = axes_varying(rows, varying), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (setter_of(varying[i]) && !is_determined(rows, varying, n, i))
            axes[kept++] = varying[i];
    return kept;
}

/* The length of the word at the beginning of a shell's command line, with its quotes. */
static size_t word_length(const char *text)
{
    size_t n = 0;
    for (bool quoted = false; text[n] && (quoted || text[n] != ' '); n++) {
        if (text[n] == '\'')
            quoted = !quoted;
        else if (text[n] == '\\' && !quoted && text[n + 1])
            n++;
    }
    return n;
}

/* Whether a word is this flag; *joined: with its value, "--nodes=500". */
static bool is_flag(const char *word, size_t length, const char *flag, bool *joined)
{
    size_t n = strlen(flag);
    if (length < n + 2 || strncmp(word, "--", 2) != 0 || strncmp(word + 2, flag, n) != 0)
        return false;
    *joined = length > n + 2;
    return !*joined || word[n + 2] == '=';
}

/* Words of the command to leave out from this one on: 0, 1, or 2 for a flag and its value. */
static int words_to_drop(const char *word, size_t length, const struct field *const *axes, size_t n)
{
    bool joined = false;
    if (is_flag(word, length, "resume", &joined))
        return 1;
    if ((length == 2 && strncmp(word, "-o", 2) == 0) || is_flag(word, length, "output", &joined))
        return joined ? 1 : 2;
    for (size_t i = 0; i < n; i++)
        if (is_flag(word, length, setter_of(axes[i])->flag, &joined))
            return joined ? 1 : 2;
    return 0;
}

static void put_shell_word(FILE *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
    if (*text && !text[strspn(text, plain)]) {
        fputs(text, out);
        return;
    }
    putc('\'', out);
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, out);
    putc('\'', out);
}

char *command_of_row(const struct record *record, const struct row *row, const struct field *const *axes,
                     size_t n)
{
    size_t size = 0;
    const char *command = "";
    char *text = NULL, value[AXES_TEXT];
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    value_get_text(record_head(record), "command", &command);
    for (int drop = 0; *(command += strspn(command, " ")); drop -= drop > 0) {
        size_t length = word_length(command);
        if (drop == 0)
            drop = words_to_drop(command, length, axes, n);
        if (drop == 0)
            fprintf(out, "%s%.*s", ftell(out) > 0 ? " " : "", (int)length, command);
        command += length;
    }
    for (size_t i = 0; i < n; i++) {
        axes_text(row, axes[i], value);
        if (!*value)
            continue;
        fprintf(out, " --%s ", setter_of(axes[i])->flag);
        put_shell_word(out, value);
    }
    fclose(out);
    return text;
}
