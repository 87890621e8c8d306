#include "bench/command.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing in it is special to a shell. */
static bool is_plain(const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=,.:/@%";
    return *word && !word[strspn(word, plain)];
}

static void put_word(const char *word, FILE *out)
{
    if (is_plain(word)) {
        fputs(word, out);
        return;
    }
    putc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            putc(*word, out);
    putc('\'', out);
}

static bool is_utf8(const char *text)
{
    json_t *string = json_string(text);
    json_decref(string);
    return string != NULL;
}

char *command_text(int argc, char *const *argv)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    for (int i = 0; i < argc; i++) {
        if (i)
            putc(' ', out);
        put_word(argv[i], out);
    }
    if (fclose(out) != 0)
        abort();
    if (!is_utf8(text))
        for (char *c = text; *c; c++)
            if ((unsigned char)*c >= 0x80)
                *c = '?';
    return text;
}
