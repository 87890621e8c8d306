#include "tests/refusals.h"
#include "tests/test.h"

#include <ctype.h>

/* One printable line, with a newline at the end only. */
static bool is_one_line(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + 1 < length; i++)
        if (iscntrl((unsigned char)text[i]))
            return false;
    return length > 1 && text[length - 1] == '\n';
}

void refuses(const struct house *h, const char *words, const char *const *more, const char *names,
             const char *allowed)
{
    char *before = house_list(h);
    struct ended e = program_run(h, words, more);
    char *after = house_list(h);
    bool same = strcmp(before, after) == 0;
    if (e.status != 2 || *e.out || !is_one_line(e.err) || !strstr(e.err, names) ||
        (allowed && !strstr(e.err, allowed)) || !same) {
        print_error("%s\n", words);
        for (; more && *more; more++)
            print_error("argument: '%s'\n", *more);
        fail_msg("status %d, stdout '%s', stderr '%s', wanted '%s' and '%s'%s", e.status, e.out, e.err, names,
                 allowed ? allowed : "", same ? "" : "; files changed");
    }
    free(before);
    free(after);
    ended_free(&e);
}
