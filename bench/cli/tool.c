#include "bench/cli/tool.h"

#include <errno.h> /* program_invocation_short_name */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/result_file.h"
#include "analysis/statistics/allocate.h"
#include "bench/base/build.h"

struct record **tool_load(int count, char **files, struct message *error)
{
    struct record **records = allocate((size_t)count, sizeof *records);
    int broken = 0;
    for (int i = 0; i < count; i++) {
        struct message why;
        records[i] = record_load(files[i], why.text);
        if (records[i])
            continue;
        if (broken++ > 0)
            message_fail(program_invocation_short_name, error, EXIT_USAGE);
        *error = why;
    }
    if (!broken)
        return records;
    tool_free(records, count);
    return NULL;
}

void tool_free(struct record **records, int count)
{
    for (int i = 0; records && i < count; i++)
        record_free(records[i]);
    free(records);
}

int tool_main(const struct syntax *unnamed, struct tool_options *o, tool_run *run, int argc, char **argv)
{
    struct syntax named = *unnamed, *s = &named;
    struct message error;
    named.name = program_invocation_short_name;
    if (!message_begin(named.name))
        return EXIT_MISSED;
    signal(SIGXFSZ, SIG_IGN); /* exceeding `ulimit -f` then fails as a write to a full disk does */
    int status = EXIT_GOOD, count = syntax_read(s, o, argc, argv, &error);
    if (count < 0) {
        status = EXIT_USAGE;
    } else if (o->help) {
        syntax_help(s, stdout);
    } else if (o->version) {
        build_version(s->name, stdout);
    } else if (count >= s->fewest) {
        status = run(o, count, argv + 1, &error);
    } else {
        complain(&error, "needs %s; usage: %s [FLAGS] %s; see --help", s->needs, s->name, s->operands);
        status = EXIT_USAGE;
    }
    return status == EXIT_GOOD ? message_flush(s->name, stdout, status)
                               : message_fail(s->name, &error, status);
}
