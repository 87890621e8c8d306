#include "tests/sweeps.h"
#include "tests/test.h"

static bool parse(const struct bench *b, const char *words, struct options *o, struct message *error)
{
    char text[256], *rest = text, *argv[32] = {"test"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", words);
    for (char *word; argc < 31 && (word = strsep(&rest, " ")) != NULL;)
        if (*word)
            argv[argc++] = word;
    return options_parse(b, NULL, argc, argv, o, error);
}

struct options options_of(const struct bench *b, const char *words)
{
    struct options o;
    struct message error;
    if (!parse(b, words, &o, &error))
        fail_msg("%s: %s", words, error.text);
    return o;
}

void refused(const struct bench *b, const char *words, const char *wanted)
{
    struct options o;
    struct message error = {""};
    if (parse(b, words, &o, &error) || !strstr(error.text, wanted))
        fail_msg("%s: '%s', not '%s'", words, error.text, wanted);
    options_free(&o);
}

void axis_sweep(enum axis a, char words[SWEEP_WORDS])
{
    const struct axis_info *axis = axis_info(a);
    bool narrow = axis->max < 16;
    int n = snprintf(words, SWEEP_WORDS, "--device=meta --%s=", axis->name);
    if (axis->choice)
        n += snprintf(words + n, SWEEP_WORDS - (size_t)n, "%s,%s", axis->choice(0), axis->choice(1));
    else
        n += snprintf(words + n, SWEEP_WORDS - (size_t)n, "%g,%g", narrow ? axis->min : 8,
                      narrow ? axis->max : 16);
    snprintf(words + n, SWEEP_WORDS - (size_t)n, "%s",
             a == AXIS_SOLVER              ? " --pe=lap:4"
             : a == AXIS_ATTENTION_DROPOUT ? " --attention=unfused"
             : a == AXIS_EXPANDER          ? " --attention=exphormer"
                                           : "");
}
