#include "bench/cli/syntax.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "analysis/tables/wrap.h"
#include "bench/base/quantity.h"
#include "bench/base/suggest.h"

static void set(const struct argument *a, const void *value, size_t size)
{
    memcpy((char *)a->options + a->flag->field, value, size);
}

static bool read_whole(const struct argument *a, struct message *error)
{
    const struct flag *f = a->flag;
    double number;
    if (!parse_number(a->value, true, f->min, f->max, &number))
        return complain(error, "--%s %.200s: %s from %.0f to %.0f", f->name, a->value, f->what, f->min,
                        f->max);
    int whole = (int)number;
    set(a, &whole, sizeof whole);
    return true;
}

static bool read_share(const struct argument *a, struct message *error)
{
    char number[32] = "";
    size_t length = strlen(a->value);
    bool percent = length > 0 && a->value[length - 1] == '%';
    double share;
    if (length < sizeof number)
        memcpy(number, a->value, length - percent);
    if (!parse_number(number, false, 0, percent ? 100 : 1, &share))
        return complain(error, "--%s %.200s: %s from 0 to 1, or from 0%% to 100%%", a->flag->name, a->value,
                        a->flag->what);
    share /= percent ? 100 : 1;
    set(a, &share, sizeof share);
    return true;
}

/* A number without a unit is in seconds, and has no suffix: "1m" for a million would look like a minute. */
static bool read_seconds(const struct argument *a, struct message *error)
{
    const struct flag *f = a->flag;
    double seconds;
    bool bare = !a->value[strspn(a->value, "0123456789.eE+-")] &&
                parse_number(a->value, false, f->min, f->max, &seconds);
    if (!bare &&
        !(quantity_parse(a->value, QUANTITY_SECONDS, &seconds) && seconds >= f->min && seconds <= f->max))
        return complain(error, "--%s %.200s: seconds, from %.10g to %.10g, or %s", f->name, a->value, f->min,
                        f->max, quantity_allowed(QUANTITY_SECONDS));
    set(a, &seconds, sizeof seconds);
    return true;
}

static bool read_size(const struct argument *a, struct message *error)
{
    double size;
    if (!quantity_parse(a->value, QUANTITY_BYTES, &size))
        return complain(error, "--%s %.200s: %s", a->flag->name, a->value, quantity_allowed(QUANTITY_BYTES));
    set(a, &size, sizeof size);
    return true;
}

static bool read_choice(const struct argument *a, struct message *error)
{
    const char *const *choices = a->flag->choices;
    struct suggestion s = {a->value, strlen(a->value), NULL, 0};
    char names[256] = "", nearest[SUGGESTION_TEXT];
    for (int i = 0; choices[i]; i++) {
        size_t used = strlen(names);
        if (strcmp(a->value, choices[i]) == 0) {
            int choice = a->flag->value + i;
            set(a, &choice, sizeof choice);
            return true;
        }
        suggest_offer(&s, choices[i]);
        snprintf(names + used, sizeof names - used, "%s%s",
                 !i               ? ""
                 : choices[i + 1] ? ", "
                                  : " or ",
                 choices[i]);
    }
    return complain(error, "--%s %.200s: %s%s", a->flag->name, a->value, names,
                    suggest_text(&s, "", nearest));
}

static bool read_list(const struct argument *a, struct message *error)
{
    char *copy = copied(a->value), *next = copy;
    bool good = true;
    for (char *item; good && (item = strsep(&next, ",")) != NULL;)
        good = a->flag->read(&(struct argument){a->flag, a->options, item}, error);
    free(copy);
    return good;
}

static bool read_value(const struct argument *a, struct message *error)
{
    bool on = a->flag->kind == FLAG_ON;
    switch (a->flag->kind) {
    case FLAG_ON:
    case FLAG_OFF:
        set(a, &on, sizeof on);
        return true;
    case FLAG_SET:
        set(a, &a->flag->value, sizeof a->flag->value);
        return true;
    case FLAG_WHOLE:
        return read_whole(a, error);
    case FLAG_SHARE:
        return read_share(a, error);
    case FLAG_SECONDS:
        return read_seconds(a, error);
    case FLAG_SIZE:
        return read_size(a, error);
    case FLAG_CHOICE:
        return read_choice(a, error);
    case FLAG_PATH:
        set(a, &a->value, sizeof a->value);
        return *a->value || complain(error, "--%s: needs %s", a->flag->name, a->flag->what);
    case FLAG_LIST:
        return read_list(a, error);
    case FLAG_OTHER:
        break;
    }
    return a->flag->read(a, error);
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return name && strlen(name) == length && strncmp(name, text, length) == 0;
}

/* By its name, or that of the version before. */
static const struct flag *flag_named(const struct syntax *s, const char *name, size_t length)
{
    for (const struct flag *f = s->flags; f->name; f++)
        if (is_name(f->name, name, length) || is_name(f->former, name, length))
            return f;
    return NULL;
}

/* Whether a word is this flag, with hyphens or with underscores. */
static bool is_flag(const char *name, const char *word, size_t length)
{
    size_t i = 0;
    while (i < length && (name[i] == word[i] || (name[i] == '-' && word[i] == '_')))
        i++;
    return i == length && !name[i];
}

/* Whether the program has the flag with which a text begins, and the choice that follows it. */
static bool takes_flag(const struct syntax *s, const char *text)
{
    size_t length = strcspn(text, " ;,)");
    const struct flag *f = flag_named(s, text, length);
    if (!f || f->kind != FLAG_CHOICE)
        return f != NULL;
    const char *const *choice = f->choices;
    while (*choice && strncmp(*choice, text + length + 1, strlen(*choice)) != 0)
        choice++;
    return *choice != NULL;
}

static bool say_unknown(const struct syntax *s, const char *text, size_t length, struct message *error)
{
    size_t dashes = strspn(text, "-");
    for (const struct hint *h = hints; h->name; h++) {
        const char *flag = strstr(h->instead, "--");
        if (is_flag(h->name, text + dashes, length - dashes) && (!flag || takes_flag(s, flag + 2)))
            return complain(error, "%.*s: %s", (int)length, text, h->instead);
    }
    struct suggestion near = {text + dashes, length - dashes, NULL, 0};
    char nearest[SUGGESTION_TEXT];
    for (const struct flag *f = s->flags; f->name; f++)
        suggest_offer(&near, f->name);
    return complain(error, "%.*s: no such flag; see --help%s", length < 200 ? (int)length : 200, text,
                    suggest_text(&near, "--", nearest));
}

struct reading {
    const struct syntax *syntax;
    void *options;
    char **next, **end;
    bool given[FLAGS_MAX], renamed[FLAGS_MAX]; /* renamed: by the name of the version before */
};

/* Reads a flag, whose value follows an equals sign or is the next argument. */
static bool read_flag(struct reading *r, struct message *error)
{
    const char *text = *r->next++;
    if (strcmp(text, "-h") == 0)
        text = "--help";
    else if (strcmp(text, "-o") == 0 && flag_named(r->syntax, "output", strlen("output")))
        text = "--output";
    size_t length = strcspn(text, "=");
    const struct flag *f = strncmp(text, "--", 2) == 0 ? flag_named(r->syntax, text + 2, length - 2) : NULL;
    if (!f)
        return say_unknown(r->syntax, text, length, error);
    struct argument a = {.flag = f, .options = r->options};
    bool *given = &r->given[f - r->syntax->flags];
    r->renamed[f - r->syntax->flags] |= is_name(f->former, text + 2, length - 2);
    if (text[length] && !f->argument)
        return complain(error, "--%s: takes no value", f->name);
    if (f->argument && !text[length] && r->next == r->end)
        return complain(error, "--%s: needs a value; see --help", f->name);
    if (f->argument)
        a.value = text[length] ? text + length + 1 : *r->next++;
    if (!read_value(&a, error))
        return false;
    if (*given && !f->repeats)
        return complain(error, "--%s: given twice", f->name);
    return *given = true;
}

int syntax_read(const struct syntax *s, void *options, int argc, char **argv, struct message *error)
{
    struct reading r = {.syntax = s, .options = options, .next = argv + (argc > 0), .end = argv + argc};
    int operands = 0;
    bool flags = true; /* until "--" */
    while (r.next < r.end) {
        if (flags && strcmp(*r.next, "--") == 0) {
            flags = false;
            r.next++;
            continue;
        }
        if (flags && **r.next == '-') {
            if (!read_flag(&r, error))
                return -1;
            continue;
        }
        if (operands == s->most) {
            complain(error, "%.300s: %s", *r.next, s->operands ? s->limit : "not a flag; see --help");
            return -1;
        }
        argv[++operands] = *r.next++;
    }
    for (size_t i = 0; s->flags[i].name; i++)
        if (r.renamed[i])
            fprintf(stderr, "--%s: now called --%s\n", s->flags[i].former, s->flags[i].name);
    return operands;
}

static void help_line(const struct flag *f, FILE *out)
{
    enum { INDENT = 25 };
    char left[40], text[512];
    snprintf(left, sizeof left, "--%s %s", f->name, f->argument ? f->argument : "");
    snprintf(text, sizeof text, "%s%s%s%s", f->help, f->standard ? " (default " : "",
             f->standard ? f->standard : "", f->standard ? ")" : "");
    int at = fprintf(out, "  %-22s ", left);
    wrap_text(out, text, at, INDENT);
}

void syntax_help(const struct syntax *s, FILE *out)
{
    fprintf(out, "%s: %s\n", s->name, s->doc);
    fprintf(out, "usage: %s [FLAGS]%s%s\n\n", s->name, s->operands ? " " : "",
            s->operands ? s->operands : "");
    for (int group = 0; group == 0 || (s->headings && s->headings[group]); group++) {
        if (s->headings)
            fprintf(out, "%s\n", s->headings[group]);
        for (const struct flag *f = s->flags; f->name; f++)
            if (f->group == group && !f->unlisted)
                help_line(f, out);
    }
    fputs(s->notes ? s->notes : "", out);
    fputs(s->examples ? "Examples:\n" : "", out);
    for (const char *const *example = s->examples; example && *example; example++)
        fprintf(out, "  %s %s\n", s->name, *example);
    if (s->status)
        fprintf(out, "Exit status: %s", s->status);
}
