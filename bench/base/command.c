#include "bench/base/command.h"

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
    return text;
}
