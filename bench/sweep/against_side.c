#include "analysis/statistics/allocate.h"
#include "bench/sweep/against.h"

#include "analysis/record/result_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/child.h"

enum { WORDS_MAX = 16 }; /* at least those that are added to the user's */

/* Whether a flag, and the word after it, are not passed on to the two builds; then also how many words. */
static bool is_own(const char *word, const char *next, bool check, int *words)
{
    static const char *const own[] = {"--runs=",       "--warmup=", /* of checked runs only */
                                      "--against=",    "--format=",   "--budget=",         "--no-check",
                                      "--no-roofline", "--no-charts", "--repetitions=",    "--peaks=measure",
                                      "--gate=",       "--turns=",    "--ceilings=measure"};
    for (size_t i = check ? 0 : 2; i < sizeof own / sizeof *own; i++) {
        size_t length = strcspn(own[i], "=");
        if (strncmp(word, own[i], length) != 0 || (word[length] && word[length] != '='))
            continue;
        const char *only = own[i][length] ? own[i] + length + 1 : "";
        const char *value = word[length] ? word + length + 1 : next;
        if (*only && strcmp(value, only) != 0)
            continue;
        *words = own[i][length] && !word[length] ? 2 : 1;
        return true;
    }
    return false;
}

/* The command line of a run, null-terminated: the user's flags, then those that make it short and silent. */
static const char **words_of(const struct side *s, const char *file, bool check, const char *budget)
{
    const char *const timed[] = {"--no-check"}, *const checked[] = {"--runs", "1", "--warmup", "0"};
    /* --turns: --repetitions as builds of the version before call it too */
    const char *const both[] = {"--turns", "1",        "--no-roofline", "--no-charts", "--output",
                                file,      "--budget", budget,          NULL};
    const char **words = allocate((size_t)s->argc + WORDS_MAX, sizeof *words);
    size_t n = 0;
    words[n++] = s->program;
    for (int i = 1, own; i < s->argc; i += own)
        if (!is_own(s->argv[i], i + 1 < s->argc ? s->argv[i + 1] : "", check, &own)) {
            words[n++] = s->argv[i];
            own = 1;
        }
    memcpy(words + n, check ? checked : timed, check ? sizeof checked : sizeof timed);
    n += (check ? sizeof checked : sizeof timed) / sizeof *words;
    memcpy(words + n, both, sizeof both);
    return words;
}

struct record *side_run(const struct side *s, bool check, double budget, struct message *error)
{
    char file[PATH_MAX + 16], log[PATH_MAX + 16], seconds[32], why[MESSAGE_SIZE];
    snprintf(file, sizeof file, "%s/rows.json", s->scratch);
    snprintf(log, sizeof log, "%s/log", s->scratch);
    snprintf(seconds, sizeof seconds, "%g", budget);
    const char **words = words_of(s, file, check, seconds);
    pid_t child;
    bool started = child_start(&child, words, log, NULL, error);
    int status = started ? child_attend(child) : 0;
    free(words);
    bool ran = started && ((WIFEXITED(status) && WEXITSTATUS(status) == 1) ||
                           child_succeeded(s->program, status, error) || child_explain(log, error));
    if (!ran)
        return NULL;
    struct record *record = record_load(file, why);
    if (!record)
        complain(error, "%s left no rows: %.300s", s->program, why);
    unlink(file);
    return record;
}
