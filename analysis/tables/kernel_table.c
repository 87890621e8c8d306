#include "analysis/tables/table.h"

#include "analysis/record/row_range.h"
#include "analysis/statistics/allocate.h"

struct timed_kernel {
    const struct table_line *line;
    size_t index;
    char work[AXES_TEXT]; /* the axes but the variant */
    const char *variant;
    double percent, median; /* NAN: not known */
    bool is_default, is_noisy;
    const struct timed_kernel *faster; /* than this one, the fastest; null: none */
};

struct timed_kernels {
    struct timed_kernel *list;
    size_t count;
};

static struct timed_kernel kernel_of(const struct table *t, const struct table_line *line, size_t index)
{
    const struct row *row = line->row;
    struct timed_kernel k = {.line = line,
                             .index = index,
                             .variant = row->variant ? row->variant : "",
                             .percent = row->kernel.roofline.percent,
                             .median = row->kernel.time.median,
                             .is_noisy = row_noisy(row, TIMED_KERNEL)};
    const struct field *axes[AXES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < t->axes_count; i++)
        if (strcmp(t->axes[i]->path, "variant") != 0)
            axes[n++] = t->axes[i];
    axes_describe_all(row, axes, n, k.work);
    return k;
}

static int by_work_and_index(const void *a, const void *b)
{
    const struct timed_kernel *x = a, *y = b;
    int order = strcmp(x->work, y->work);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static double times_slower(const struct timed_kernel *k)
{
    return k->faster ? k->median / k->faster->median : 0;
}

/* Rows that are not ok, then default kernels by their share, those whose time is uncertain last; none for
 * those without one, and other kernels. */
static double furthest_rank(const struct timed_kernel *k)
{
    static const double uncertain = 1e9;
    return !row_is_ok(k->line->row)              ? -1
           : k->is_default && !isnan(k->percent) ? k->percent + (k->is_noisy ? uncertain : 0)
                                                 : INFINITY;
}

/* Those with a faster one, the slowest first. */
static double slowest_rank(const struct timed_kernel *k)
{
    return k->faster ? -times_slower(k) : INFINITY;
}

typedef double rank_of(const struct timed_kernel *k);

static int by_rank(const void *a, const void *b, void *rank)
{
    rank_of *of = *(rank_of **)rank;
    const struct timed_kernel *x = a, *y = b;
    return of(x) != of(y) ? (of(x) > of(y)) - (of(x) < of(y)) : (x->index > y->index) - (x->index < y->index);
}

/* Finds the default and the faster ones among the kernels of one work. */
static void compare_kernels(struct timed_kernel *k, size_t n)
{
    k[0].is_default = true;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            bool judges = k[i].is_default || strcmp(k[j].variant, "ref") == 0;
            if (judges && (!k[i].faster || k[j].median < k[i].faster->median) &&
                row_verdict(k[i].line->row, TIMED_KERNEL, k[j].line->row, TIMED_KERNEL, verdict_within)
                        .kind == VERDICT_FASTER)
                k[i].faster = &k[j];
        }
}

static struct timed_kernels kernels_of(const struct table *t, const struct table_line *lines, size_t n)
{
    struct timed_kernels all = {allocate(n + 1, sizeof *all.list), n};
    for (size_t i = 0; i < n; i++)
        all.list[i] = kernel_of(t, &lines[i], i);
    qsort(all.list, n, sizeof *all.list, by_work_and_index);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(all.list[i].work, all.list[end].work) == 0;)
            end++;
        compare_kernels(&all.list[i], end - i);
    }
    return all;
}

/* Those that have a rank, by it; *n of them, to be freed. */
static struct timed_kernel *ranked(const struct timed_kernels *all, rank_of *rank, size_t *n)
{
    struct timed_kernel *list = allocate(all->count + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; i < all->count; i++)
        if (isfinite(rank(&all->list[i])))
            list[(*n)++] = all->list[i];
    qsort_r(list, *n, sizeof *list, by_rank, &rank);
    return list;
}

static void put_part_title(const struct table *t, const char *title)
{
    fprintf(t->out, t->style == TABLE_MARKDOWN ? "\n%s\n\n" : "%s\n", title);
}

/* Without those whose time is uncertain, unless that leaves none. */
static void print_furthest(struct table *t, const struct timed_kernel *far, size_t n, size_t most)
{
    size_t all = n;
    while (n > 0 && far[n - 1].is_noisy)
        n--;
    bool some = n > 0 && row_is_ok(far[n - 1].line->row), known = some && n < all;
    n = some ? n : all;
    struct table_line lines[KERNEL_TABLE_MOST];
    size_t ok = 0, shown = n < most ? n : most;
    char title[128];
    for (size_t i = 0; i < n; i++)
        ok += row_is_ok(far[i].line->row);
    for (size_t i = 0; i < shown; i++)
        lines[i] = *far[i].line;
    snprintf(title, sizeof title, "default kernels furthest from their roofline, %zu of %zu%s%s",
             shown < n - ok ? 0 : shown - (n - ok), ok, known ? " whose time is known" : "",
             ok < n ? ", after rows that are not ok" : "");
    put_part_title(t, title);
    table_print(t, lines, shown);
}

static void print_slower(struct table *t, const struct timed_kernel *slower, size_t n)
{
    struct grid g = {.columns = 5};
    char title[160];
    if (n == 0) {
        put_part_title(t, "no kernel is certainly slower than the reference, and no default than another");
        return;
    }
    snprintf(title, sizeof title,
             "kernels slower than the reference, and defaults slower than another, %zu of %zu",
             n < KERNEL_TABLE_MOST ? n : KERNEL_TABLE_MOST, n);
    put_part_title(t, title);
    grid_add_texts(&g, "op", "kernel", "time", "slower than", "by", NULL);
    for (size_t i = 0; i < n && i < KERNEL_TABLE_MOST; i++) {
        grid_add_texts(&g, slower[i].work, slower[i].variant, NULL);
        grid_add_value(&g, slower[i].median, UNITS_SI, "s");
        grid_add(&g, "%s", slower[i].faster->variant);
        grid_add(&g, "%.2fx", times_slower(&slower[i]));
    }
    grid_print(&g, t->style, t->out);
    grid_free(&g);
}

void kernel_table_print(struct table *t, const struct table_line *lines, size_t n)
{
    struct timed_kernels all = kernels_of(t, lines, n);
    size_t far_count, slower_count;
    struct timed_kernel *far = ranked(&all, furthest_rank, &far_count),
                        *slower = ranked(&all, slowest_rank, &slower_count);
    if (n <= KERNEL_TABLE_MOST || far_count == 0) {
        table_print(t, lines, n);
    } else {
        print_furthest(t, far, far_count, KERNEL_TABLE_MOST);
        print_slower(t, slower, slower_count);
        fprintf(t->out, "%zu rows in all: --all\n", n);
    }
    free(slower);
    free(far);
    free(all.list);
}
