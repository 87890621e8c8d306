#include "analysis/charts/figure.h"

#include "analysis/charts/gnuplot.h"
#include "analysis/record/plain.h"
#include "analysis/statistics/allocate.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

static enum chart_result skip(char *message, const char *why)
{
    snprintf(message, MESSAGE_SIZE, "charts skipped: %s", why);
    return CHART_SKIPPED;
}

/* "PREFIX_name.gp"; false if it is too long. */
static bool path_of(char path[PATH_MAX], const char *prefix, const struct figure *f, const char *ending)
{
    errno = ENAMETOOLONG;
    return snprintf(path, PATH_MAX, "%s_%s%s", prefix, f->name, ending) < PATH_MAX;
}

void figures_add(struct figures *f, const char *name, const char *style,
                 void (*write)(FILE *out, const void *what), const void *what)
{
    struct figure *one = &f->list[f->count++];
    size_t size;
    if (f->count > FIGURES_MAX)
        abort();
    snprintf(one->name, sizeof one->name, "%s", name);
    FILE *out = open_text(&one->script, &size);
    fputs("reset\nset encoding utf8\nhints = 0\n", out);
    write(out, what);
    fprintf(out, "%s%s", style_frame, style);
    fclose(out);
}

void figures_keep(struct figures *f, size_t n)
{
    while (f->count > n)
        free(f->list[--f->count].script);
}

void figures_free(struct figures *f)
{
    figures_keep(f, 0);
}

static bool write_script(const struct figure *f, const char *path, const char *prefix)
{
    char pictures[PATH_MAX];
    FILE *out = path_of(pictures, prefix, f, "") ? fopen(path, "w") : NULL;
    if (!out)
        return false;
    gnuplot_put_path(out, "prefix", pictures);
    fprintf(out, "%s%s", f->script, style_draw);
    bool good = !ferror(out);
    return fclose(out) == 0 && good;
}

static bool is_older(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec < b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec < b->st_mtim.tv_nsec;
}

/* Whether a picture was written after its script, and to its end. */
static bool is_whole(const char *path, const char *script, const char *end)
{
    char tail[32] = "";
    struct stat picture, source;
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    size_t length = fseek(in, -16, SEEK_END) == 0 ? fread(tail, 1, sizeof tail, in) : 0;
    bool whole = memmem(tail, length, end, strlen(end)) && fstat(fileno(in), &picture) == 0 &&
                 stat(script, &source) == 0 && !is_older(&picture, &source);
    fclose(in);
    return whole;
}

/* False, with the path of the first picture that is not whole. */
static bool are_whole(const struct figures *f, const char *prefix, char path[PATH_MAX])
{
    static const char *const endings[][2] = {{".png", "IEND"}, {".svg", "</svg>"}};
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < 2; k++) {
            char script[PATH_MAX];
            if (!path_of(script, prefix, &f->list[i], ".gp") ||
                !path_of(path, prefix, &f->list[i], endings[k][0]) || !is_whole(path, script, endings[k][1]))
                return false;
        }
    return true;
}

/* "charts: PREFIX_{time,memory}.svg, .png" */
static void name_files(char *message, const struct figures *f, const char *prefix)
{
    snprintf(message, MESSAGE_SIZE, "chart%s: %.400s_%s", f->count > 1 ? "s" : "", prefix,
             f->count > 1 ? "{" : "");
    for (size_t i = 0; i < f->count; i++)
        append(message, MESSAGE_SIZE, "%s%s", i > 0 ? "," : "", f->list[i].name);
    append(message, MESSAGE_SIZE, "%s.svg, .png", f->count > 1 ? "}" : "");
}

enum chart_result figures_draw(const struct figures *f, const char *prefix, char *message)
{
    char paths[FIGURES_MAX][PATH_MAX], picture[PATH_MAX];
    const char *scripts[FIGURES_MAX];
    if (f->count == 0)
        return skip(message, "no row has a value to draw");
    for (size_t i = 0; i < f->count; i++) {
        scripts[i] = paths[i];
        if (!path_of(paths[i], prefix, &f->list[i], ".gp") || !write_script(&f->list[i], paths[i], prefix)) {
            snprintf(message, MESSAGE_SIZE, "charts: %.400s: cannot be written: %.60s", paths[i],
                     strerror(errno));
            return CHART_FAILED;
        }
    }
    enum gnuplot_result result = gnuplot_run(scripts, f->count);
    if (result == GNUPLOT_MISSING)
        return skip(message, "gnuplot is not installed");
    if (!are_whole(f, prefix, picture) || result == GNUPLOT_FAILED) {
        snprintf(message, MESSAGE_SIZE, "charts: gnuplot failed on %.400s", picture);
        return CHART_FAILED;
    }
    name_files(message, f, prefix);
    return CHART_DRAWN;
}

/* --- in memory: a child finds the files without a name as /dev/fd/N */

struct unnamed {
    FILE *script, *svg;
    char path[32];
};

static bool open_unnamed(struct unnamed *u, const struct figure *f)
{
    *u = (struct unnamed){tmpfile(), tmpfile(), ""};
    if (!u->script || !u->svg)
        return false;
    snprintf(u->path, sizeof u->path, "/dev/fd/%d", fileno(u->script));
    fprintf(u->script, "%soutput = \"/dev/fd/%d\"\n%s", f->script, fileno(u->svg), style_page);
    return fflush(u->script) == 0;
}

/* The SVG, to be freed; null: not whole. */
static char *close_unnamed(struct unnamed *u)
{
    char *text = NULL;
    size_t size = 0;
    bool whole = u->svg && getdelim(&text, &size, '\0', u->svg) > 0 && strstr(text, "</svg>");
    if (u->script)
        fclose(u->script);
    if (u->svg)
        fclose(u->svg);
    if (!whole)
        free(text);
    return whole ? text : NULL;
}

enum chart_result figures_svg(const struct figures *f, char *svg[FIGURES_MAX])
{
    struct unnamed files[FIGURES_MAX];
    const char *scripts[FIGURES_MAX];
    bool open = true;
    for (size_t i = 0; i < f->count; i++) {
        open = open_unnamed(&files[i], &f->list[i]) && open;
        scripts[i] = files[i].path;
    }
    enum gnuplot_result result = open ? gnuplot_run(scripts, f->count) : GNUPLOT_FAILED;
    for (size_t i = 0; i < f->count; i++)
        svg[i] = close_unnamed(&files[i]);
    return result == GNUPLOT_MISSING ? CHART_SKIPPED : result == GNUPLOT_DONE ? CHART_DRAWN : CHART_FAILED;
}
