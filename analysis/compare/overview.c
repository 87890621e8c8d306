#include "analysis/compare/compare.h"

#include "analysis/record/result_file.h"
#include "analysis/tables/wrap.h"

/* Most rows of a file that are shown one by one; columns of the first cell, and at most of those of machines.
 */
enum {
    ROWS_SHOWN = 8,
    LABEL_WIDTH = 20,
    NARROWEST = 4,
    WIDEST = 22,
    CELL_TEXT = 2 * UNITS_TEXT + 4,
    VERSIONS_TEXT = 128,
    DIGITS = 7
};

/* The files of one processor or GPU in one directory. */
struct host {
    char directory[AXES_TEXT], name[AXES_TEXT], brand[AXES_TEXT], versions[VERSIONS_TEXT];
    bool compared; /* it has a row that another has too */
};

struct section {
    char name[AXES_TEXT];
    struct comparison c;
    size_t host[COMPARED_MAX]; /* of each file */
};

struct overview {
    size_t hosts, sections;
    int width; /* of the cells of machines */
    struct host host[COMPARED_MAX];
    struct section *section;
};

/* Programs that share a line. */
struct block {
    size_t first, last;
    const char *title[2]; /* if only the last, or both, were timed */
};

static const struct block blocks[] = {
    {TIMED_FORWARD, TIMED_STEP, {"training step", "inference / training step"}},
    {TIMED_KERNEL, TIMED_KERNEL, {"", "ops alone"}},
    {TIMED_ENCODING, TIMED_ENCODING, {"", "encoding"}},
};

static void split_path(const char *path, char directory[AXES_TEXT], char name[AXES_TEXT])
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    snprintf(directory, AXES_TEXT, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    snprintf(name, AXES_TEXT, "%.*s", (int)record_name_length(base), base);
}

/* The host of a file, which is added if it is new; hosts if there is no room. */
static size_t host_of(struct overview *o, const struct compared *file)
{
    char directory[AXES_TEXT], name[AXES_TEXT];
    size_t h = 0;
    split_path(file->path, directory, name);
    while (h < o->hosts &&
           (strcmp(o->host[h].directory, directory) != 0 || strcmp(o->host[h].name, file->name) != 0))
        h++;
    if (h == COMPARED_MAX)
        return h;
    struct host *host = &o->host[h];
    if (h == o->hosts) {
        o->hosts++;
        memcpy(host->directory, directory, AXES_TEXT);
        memcpy(host->name, file->name, AXES_TEXT);
        memcpy(host->brand, *file->brand ? file->brand : file->name, AXES_TEXT);
    }
    char short_version[DIGITS + 1];
    snprintf(short_version, sizeof short_version, "%s",
             value_text_or(record_head(file->record), "commit", "unknown"));
    if (!strstr(host->versions, short_version))
        append(host->versions, VERSIONS_TEXT, "%s%s", *host->versions ? ", " : "", short_version);
    return h;
}

static bool load_section(struct overview *o, const char *name, const char *const *paths, size_t count,
                         const char *const *ignored, char *error)
{
    const char *same[COMPARED_MAX];
    struct section *s = &o->section[o->sections];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        char directory[AXES_TEXT], other[AXES_TEXT];
        split_path(paths[i], directory, other);
        if (strcmp(other, name) != 0)
            continue;
        if (n == COMPARED_MAX) {
            snprintf(error, MESSAGE_SIZE, "%.200s: at most %d files of a name", name, COMPARED_MAX);
            return false;
        }
        same[n++] = paths[i];
    }
    o->sections++;
    snprintf(s->name, AXES_TEXT, "%s", name);
    if (!comparison_load(&s->c, same, n, ignored, error))
        return false;
    for (size_t f = 0; f < n; f++) {
        struct rows *matched = comparison_rows(&s->c, f);
        s->host[f] = host_of(o, &s->c.files[f]);
        if (s->host[f] < COMPARED_MAX)
            o->host[s->host[f]].compared |= rows_count(matched) > 0;
        else
            snprintf(error, MESSAGE_SIZE, "at most %d machines", COMPARED_MAX);
        rows_free(matched);
        if (s->host[f] == COMPARED_MAX)
            return false;
    }
    return true;
}

static bool load(struct overview *o, const char *const *paths, size_t count, const char *const *ignored,
                 char *error)
{
    for (size_t i = 0; i < count; i++) {
        char directory[AXES_TEXT], name[AXES_TEXT];
        bool known = false;
        split_path(paths[i], directory, name);
        for (size_t s = 0; s < o->sections; s++)
            known = known || strcmp(o->section[s].name, name) == 0;
        if (!known && !load_section(o, name, paths, count, ignored, error))
            return false;
    }
    return true;
}

/* Rows of one work in several files of a machine are several runs of it. */
static void share_rows(struct overview *o)
{
    for (size_t s = 0; s < o->sections; s++)
        for (size_t f = 0; f < o->section[s].c.count; f++) {
            struct rows *also = rows_new_view();
            for (size_t k = 0; k < o->sections; k++)
                for (size_t g = 0; g < o->section[k].c.count && k != s; g++)
                    for (size_t i = 0; o->section[k].host[g] == o->section[s].host[f] &&
                                       i < rows_count(o->section[k].c.files[g].rows);
                         i++)
                        rows_append(also, rows_at(o->section[k].c.files[g].rows, i));
            o->section[s].c.files[f].also = also;
        }
}

static void print_hosts(FILE *out, const struct overview *o, const char *build)
{
    struct wrap w;
    wrap_begin(&w, out);
    for (size_t h = 0; h < o->hosts; h++)
        fprintf(w.lines, "%c  %s: %s, version%s %s\n", (int)('A' + h), o->host[h].name, o->host[h].directory,
                strchr(o->host[h].versions, ',') ? "s" : "", o->host[h].versions);
    fprintf(
        w.lines,
        "This build is version %.*s. Times are medians; - is not measured. * marks the best of a row where "
        "others are slower by the intervals of the ratios. A mean is the geometric mean of times over the "
        "fastest machine's (1.00); its * is for faster in at least half of the rows and slower in none.\n",
        DIGITS, build);
    wrap_end(&w);
    putc('\n', out);
}

static int blanks_beside(const char *text, int width)
{
    int columns = (int)units_width(text);
    return columns < width ? width - columns : 0;
}

/* The cells of a line, of machines that are compared. */
static void print_cells(FILE *out, const struct overview *o, const char *label, char cells[][CELL_TEXT])
{
    fprintf(out, "%s%*s", label, blanks_beside(label, LABEL_WIDTH), "");
    for (size_t h = 0; h < o->hosts; h++)
        if (o->host[h].compared)
            fprintf(out, " %*s%s", blanks_beside(cells[h], o->width - 1), "", cells[h]);
    putc('\n', out);
}

static void print_machines(FILE *out, struct overview *o)
{
    char titles[COMPARED_MAX][CELL_TEXT];
    int compared = 0;
    for (size_t h = 0; h < o->hosts; h++)
        compared += o->host[h].compared;
    int room = compared > 0 ? (screen_width(out) - LABEL_WIDTH) / compared : WIDEST;
    o->width = room > WIDEST ? WIDEST : room < NARROWEST ? NARROWEST : room;
    for (size_t h = 0; h < o->hosts; h++)
        snprintf(titles[h], CELL_TEXT, "%c %.*s", (int)('A' + h), o->width - 3, o->host[h].brand);
    print_cells(out, o, "", titles);
}

/* Fills the cell of a file, or leaves it. */
typedef void fill(const struct comparison *c, size_t line, size_t program, size_t file,
                  char cell[UNITS_TEXT]);

static void fill_time(const struct comparison *c, size_t line, size_t program, size_t file,
                      char cell[UNITS_TEXT])
{
    char text[UNITS_TEXT];
    if (isnan(comparison_time(c, file, line, program)))
        return;
    units_format(text, comparison_time(c, file, line, program), UNITS_SI, "s");
    snprintf(cell, UNITS_TEXT, "%s%.60s", compare_is_best(c, line, program, file) ? "*" : "", text);
}

/* Whether each file that timed the program in some line did so in this one. */
static bool all_timed(const struct comparison *c, size_t line, size_t program)
{
    for (size_t f = 0; f < c->count; f++)
        for (size_t i = 0; i < comparison_lines(c) && !(comparison_time(c, f, line, program) > 0); i++)
            if (comparison_time(c, f, i, program) > 0)
                return false;
    return true;
}

/* The geometric mean of the times in lines that all have, in seconds; NAN without any. *lines: how many. */
static double mean_time(const struct comparison *c, size_t program, size_t file, size_t *lines)
{
    double sum = 0;
    *lines = 0;
    for (size_t line = 0; line < comparison_lines(c); line++)
        if (all_timed(c, line, program) && comparison_time(c, file, line, program) > 0) {
            sum += log(comparison_time(c, file, line, program));
            ++*lines;
        }
    return *lines > 0 ? exp(sum / (double)*lines) : NAN;
}

/* Whether a file is faster than another in at least half of the lines, and slower in none. */
static bool beats(const struct comparison *c, size_t program, size_t file, size_t other)
{
    size_t faster = 0, judged = 0;
    for (struct pair p = {.program = program, .file = file, .base = other}; p.line < comparison_lines(c);
         p.line++) {
        if (!comparison_row(c, file, p.line) || !comparison_row(c, other, p.line))
            continue;
        struct verdict v = comparison_judge(c, &p);
        if (v.kind == VERDICT_SLOWER)
            return false;
        faster += v.kind == VERDICT_FASTER;
        judged += isfinite(v.low);
    }
    return judged > 0 && 2 * faster >= judged;
}

static void fill_mean(const struct comparison *c, size_t line, size_t program, size_t file,
                      char cell[UNITS_TEXT])
{
    double least = INFINITY;
    bool best = true;
    size_t lines, own_lines;
    double own = mean_time(c, program, file, &own_lines);
    (void)line;
    for (size_t f = 0; f < c->count; f++) {
        double mean = mean_time(c, program, f, &lines);
        least = fmin(least, mean);
        best = best && (f == file || isnan(mean) || beats(c, program, file, f));
    }
    if (!isnan(own))
        snprintf(cell, UNITS_TEXT, "%s%.2f", best ? "*" : "", own / least);
}

/* The cell of a file, with both programs of the block if there are two. */
static void fill_cell(char text[CELL_TEXT], const struct section *s, const struct block *b, size_t line,
                      size_t file, fill *put)
{
    char cells[2][UNITS_TEXT] = {"-", "-"};
    for (size_t p = b->first; p <= b->last; p++)
        if (s->c.timed[p])
            put(&s->c, line, p, file, cells[p - b->first]);
    bool both = b->last > b->first && s->c.timed[b->first];
    if (both && (strcmp(cells[0], "-") != 0 || strcmp(cells[1], "-") != 0))
        snprintf(text, CELL_TEXT, "%s / %s", cells[0], cells[1]);
    else
        snprintf(text, CELL_TEXT, "%s", cells[both ? 0 : b->last - b->first]);
}

static void print_programs(FILE *out, const struct overview *o, const struct section *s,
                           const struct block *b, size_t line, const char *label, fill *put)
{
    char cells[COMPARED_MAX][CELL_TEXT];
    for (size_t h = 0; h < o->hosts; h++)
        strcpy(cells[h], "-");
    for (size_t f = 0; f < s->c.count; f++)
        fill_cell(cells[s->host[f]], s, b, line, f, put);
    print_cells(out, o, label, cells);
}

/* "bench_node_scaling: gps, 6 layers: inference / training step" */
static void print_block_title(FILE *out, const struct section *s, const struct block *b,
                              const struct field *const *varying, size_t axes)
{
    static const char *const told[] = {"model", "attention", "nodes", "batch", "layers"};
    char text[AXES_TEXT] = "";
    const struct field *fixed[sizeof told / sizeof *told];
    size_t n = 0;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        size_t k = 0;
        while (k < axes && varying[k] != schema_find(told[i]))
            k++;
        if (k == axes)
            fixed[n++] = schema_find(told[i]);
    }
    axes_describe_all(comparison_any(&s->c, 0), fixed, n, text);
    bool both = s->c.timed[b->first];
    fprintf(out, "%s (%s): %s\n", s->name, text, b->title[both]);
}

static void print_block(FILE *out, const struct overview *o, const struct section *s, const struct block *b)
{
    const struct field *axes[AXES_MAX];
    size_t n = compare_axes(&s->c, axes), lines = comparison_lines(&s->c);
    char label[AXES_TEXT], describing[AXES_TEXT];
    print_block_title(out, s, b, axes, n);
    for (size_t line = 0; line < lines && lines <= ROWS_SHOWN; line++) {
        axes_describe_all(comparison_any(&s->c, line), axes, n, describing);
        snprintf(label, sizeof label, "  %.200s", *describing ? describing : "only row");
        print_programs(out, o, s, b, line, label, fill_time);
    }
    size_t common = 0;
    for (size_t f = 0; f < s->c.count && common == 0; f++)
        mean_time(&s->c, b->last, f, &common);
    snprintf(label, sizeof label, "  mean of %zu", common);
    if (common > 1)
        print_programs(out, o, s, b, 0, label, fill_mean);
}

static void print_sections(FILE *out, const struct overview *o)
{
    for (size_t s = 0; s < o->sections; s++)
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks && comparison_lines(&o->section[s].c) > 0; b++)
            if (o->section[s].c.timed[blocks[b].first] || o->section[s].c.timed[blocks[b].last])
                print_block(out, o, &o->section[s], &blocks[b]);
}

static void print_rest(FILE *out, const struct overview *o)
{
    for (size_t i = 0; i < o->sections; i++) {
        char *flips;
        size_t size;
        FILE *text = open_text(&flips, &size);
        compare_flips(text, &o->section[i].c);
        fclose(text);
        if (size > 0)
            fprintf(out, "%s: %s", o->section[i].name, flips);
        free(flips);
    }
    for (size_t i = 0; i < o->sections; i++) {
        const struct section *s = &o->section[i];
        for (size_t f = 0; f < s->c.count; f++) {
            struct rows *matched = comparison_rows(&s->c, f);
            char why[AXES_TEXT] = "no other machine has it";
            bool alone = rows_count(matched) == 0;
            rows_free(matched);
            if (alone && s->c.count > 1)
                match_explain(&s->c.rule, s->c.files[f == 0].rows, rows_at(s->c.files[f].rows, 0), why);
            if (alone)
                fprintf(out, "not compared: %c, %s: %s\n", (int)('A' + s->host[f]), s->name, why);
        }
    }
}

bool overview_print(FILE *out, const char *const *paths, size_t count, const char *const *ignored,
                    const char *build, char *error)
{
    struct overview *o = allocate(1, sizeof *o);
    struct section *sections = allocate(count + 1, sizeof *sections);
    o->section = sections;
    bool good = load(o, paths, count, ignored, error);
    if (good) {
        share_rows(o);
        print_hosts(out, o, build);
        print_machines(out, o);
        print_sections(out, o);
        putc('\n', out);
        print_rest(out, o);
    }
    for (size_t s = 0; s < o->sections; s++) {
        for (size_t f = 0; f < sections[s].c.count; f++)
            rows_free((struct rows *)sections[s].c.files[f].also);
        comparison_free(&sections[s].c);
    }
    free(sections);
    free(o);
    return good;
}
