#include "bench/sweep/against_side.h"
#include "analysis/record/result_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/child.h"
#include "bench/cli/syntax.h"

enum { WORDS_MAX = 16 }; /* at least those that are added to the user's */

/* Whether a flag, and the word after it, are not passed on to the two builds; then also how many words. */
static bool is_own(const char *word, const char *next, bool check, int *words)
{
    static const char *const own[] = {
        "--runs=",     "--warmup=", /* of checked runs only */
        "--against=",  "--format=", "--budget=",          "--no-check", "--no-roofline",
        "--no-charts", "--turns=",  "--ceilings=measure", "--gate="};
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

/* All flags, as a build lists them; to be freed. Empty if it does not. */
static char *help_of(const char *program)
{
    static const char *const flags[] = {"--help-all", "--help"}; /* the first before there was one help */
    char *text = NULL;
    size_t size = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const char *const words[] = {program, flags[i], NULL};
        struct message unused;
        pid_t child;
        int output;
        if (!child_start(&child, words, NULL, &output, &unused))
            break;
        FILE *in = fdopen(output, "r");
        bool any = in && getdelim(&text, &size, '\0', in) > 0;
        if (in)
            fclose(in);
        if (child_succeeded(program, child_attend(child), &unused) && any)
            return text;
    }
    free(text);
    return strdup("");
}

static bool is_listed(const char *help, const char *name)
{
    char line[80];
    snprintf(line, sizeof line, "\n  --%s ", name);
    return strstr(help, line) != NULL;
}

/* What earlier builds have in the place of a flag with this value; null: the same, or nothing. */
static const struct hint *earlier(const char *flag, const char *value)
{
    char now[128];
    const struct hint *h = hints;
    snprintf(now, sizeof now, "now --%s %.*s", flag, (int)strcspn(value, "=") + 1, value);
    while (h->name && strncmp(h->instead, now, strlen(now)) != 0)
        h++;
    return h->name ? h : NULL;
}

/* The word of a build for the user's i-th, to be freed, and how many of the user's words it stands for; null
 * with a message. */
static char *translate(const struct side *user, int i, const char *program, char **help, int *words,
                       struct message *error)
{
    const char *word = user->argv[i];
    int length = (int)strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : i + 1 < user->argc ? user->argv[i + 1] : "";
    char flag[64];
    snprintf(flag, sizeof flag, "%.*s", length, word);
    bool passed = strncmp(flag, "--", 2) == 0 && !is_own(word, value, false, words);
    const struct hint *h = passed ? earlier(flag + 2, value) : NULL;
    if (h && !*help)
        *help = help_of(program);
    *words = 1;
    if (!h || (!is_listed(*help, h->name) && is_listed(*help, flag + 2)))
        return strdup(word);
    if (!is_listed(*help, h->name)) {
        complain(error, "--against %.200s: it has neither %s nor --%s", program, flag, h->name);
        return NULL;
    }
    *words = word[length] ? 1 : 2;
    char *text = NULL;
    return asprintf(&text, "--%s=%s", h->name, value + strcspn(value, "=") + 1) < 0 ? NULL : text;
}

bool side_translate(const struct side *user, const char *program, struct side *to, struct message *error)
{
    char *help = NULL;
    bool good = true;
    *to = (struct side){program, 0, calloc((size_t)user->argc + 1, sizeof *to->argv), user->scratch};
    if (!to->argv)
        abort();
    for (int i = 0, words; i < user->argc && good; i += words) {
        char *word = translate(user, i, program, &help, &words, error);
        good = word != NULL;
        to->argv[to->argc] = word;
        to->argc += good;
    }
    free(help);
    return good;
}

void side_free(struct side *s)
{
    for (int i = 0; i < s->argc; i++)
        free(s->argv[i]);
    free(s->argv);
}

/* The command line of a run, null-terminated: the user's flags, then those that make it short and silent. */
static const char **words_of(const struct side *s, const char *file, bool check, const char *budget)
{
    const char *const timed[] = {"--no-check"}, *const checked[] = {"--runs", "1", "--warmup", "0"};
    const char *const both[] = {"--turns", "1",        "--no-roofline", "--no-charts", "--output",
                                file,      "--budget", budget,          NULL};
    const char **words = calloc((size_t)s->argc + WORDS_MAX, sizeof *words);
    size_t n = 0;
    if (!words)
        abort();
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
