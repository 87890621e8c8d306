#include "tests/silence.h"

#include <fcntl.h>
#include <unistd.h>

struct silence silence_begin(FILE *err)
{
    fflush(stdout);
    struct silence s = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(err ? fileno(err) : null, STDERR_FILENO);
    close(null);
    return s;
}

void silence_end(const struct silence *s)
{
    fflush(stdout);
    dup2(s->out, STDOUT_FILENO);
    dup2(s->err, STDERR_FILENO);
    close(s->out);
    close(s->err);
}
