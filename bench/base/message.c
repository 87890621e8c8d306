#include "bench/base/message.h"

#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <unistd.h>

#include "analysis/record/plain.h"

bool complain(struct message *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(m->text, sizeof m->text, format, list);
    va_end(list);
    return false;
}

int refuse(struct message *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(m->text, sizeof m->text, format, list);
    va_end(list);
    return EXIT_USAGE;
}

bool complain_of(const struct refusal *list, size_t count, struct message *m)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].applies)
            return complain(m, "%s", list[i].line);
    return true;
}

/* Messages quote user input, which must neither break the line nor control the terminal. */
int message_fail(const char *program, const struct message *m, int status)
{
    fprintf(stderr, "%s: ", program);
    plain_put(stderr, m->text);
    putc('\n', stderr);
    return status;
}

bool message_begin(const char *program)
{
    uselocale(newlocale(LC_ALL_MASK, "C", NULL));
    struct message error = {"stdout: is closed"};
    return fcntl(STDOUT_FILENO, F_GETFD) >= 0 || message_fail(program, &error, false);
}

int message_flush(const char *program, FILE *out, int status)
{
    struct message error = {"stdout: cannot be written"};
    bool written = fflush(out) == 0 && !ferror(out);
    return status == EXIT_GOOD && !written ? message_fail(program, &error, EXIT_MISSED) : status;
}
