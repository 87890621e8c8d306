#include "analysis/compare/compare.h"

#include "analysis/record/profile.h"

struct change {
    const char *op;
    double before, after; /* seconds; 0 if one lacks it */
};

static int largest_first(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    double dx = fabs(x->after - x->before), dy = fabs(y->after - y->before);
    return (dx < dy) - (dx > dy);
}

static struct change *change_of(struct change *list, size_t *n, const char *op)
{
    size_t i = 0;
    while (i < *n && strcmp(list[i].op, op) != 0)
        i++;
    if (i == *n)
        list[(*n)++] = (struct change){op, 0, 0};
    return &list[i];
}

/* At most three ops, without those that make less than a twentieth of the largest difference. */
static void print_changes(FILE *out, struct change *list, size_t n)
{
    enum { MOST = 3 };
    char text[UNITS_TEXT];
    qsort(list, n, sizeof *list, largest_first);
    for (size_t i = 0; i < n && i < MOST; i++) {
        double change = list[i].after - list[i].before, largest = list[0].after - list[0].before;
        if (fabs(change) < fabs(largest) / 20)
            break;
        units_format(text, fabs(change), UNITS_SI, "s");
        fprintf(out, "%s%s %c%s", i ? ", " : "", list[i].op, change < 0 ? '-' : '+', text);
        if (list[i].before > 0 && list[i].after > 0)
            fprintf(out, " (%.3gx)", list[i].after / list[i].before);
    }
    putc('\n', out);
}

static void print_pair(FILE *out, const struct comparison *c, const struct pair *pair,
                       const struct profile *a, const struct profile *b)
{
    size_t n = 0, before, after;
    char name[AXES_TEXT];
    const struct field *varying[AXES_MAX];
    const struct rows *rows = c->files[c->lead].rows;
    struct profile_group *from = profile_groups(a, PROFILE_OP, PROFILE_AS_RUN, &before);
    struct profile_group *to = profile_groups(b, PROFILE_OP, PROFILE_AS_RUN, &after);
    struct change *list = allocate(before + after + 1, sizeof *list);
    for (size_t i = 0; i < before; i++)
        change_of(list, &n, from[i].key)->before = from[i].seconds;
    for (size_t i = 0; i < after; i++)
        change_of(list, &n, to[i].key)->after = to[i].seconds;
    axes_describe_all(comparison_row(c, c->lead, pair->line), varying, axes_varying(rows, varying), name);
    fprintf(out, "%c, %s%s%s, by op: ", c->files[pair->file].letter, compare_program(pair->program),
            *name ? ", " : "", name);
    print_changes(out, list, n);
    free(list);
    free(from);
    free(to);
}

void compare_profiles(FILE *out, const struct comparison *c)
{
    for (struct pair p = {0}; comparison_next(c, &p);) {
        struct profile a, b = {0};
        enum verdict_kind kind = comparison_judge(c, &p).kind;
        if (!verdict_differs(kind) || !profile_read(&a, comparison_row(c, 0, p.line), p.program))
            continue;
        if (profile_read(&b, comparison_row(c, p.file, p.line), p.program) && a.runs > 0 && b.runs > 0)
            print_pair(out, c, &p, &a, &b);
        profile_free(&a);
        profile_free(&b);
    }
}
