#include "analysis/charts/figure.h"

#include "analysis/charts/gnuplot.h"
#include "analysis/charts/style.h"
#include "analysis/record/message.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
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

static bool write_script(const struct figure *f, const char *path, const char *prefix)
{
    char pictures[PATH_MAX];
    FILE *out = path_of(pictures, prefix, f, "") ? fopen(path, "w") : NULL;
    if (!out)
        return false;
    fputs("reset\nset encoding utf8\n", out);
    gnuplot_put_path(out, "prefix", pictures);
    f->write(out, f->what);
    fprintf(out, "%s%s%s", style_frame, f->style, style_draw);
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
static bool are_whole(const struct figure *figures, size_t n, const char *prefix, char path[PATH_MAX])
{
    static const char *const endings[][2] = {{".png", "IEND"}, {".svg", "</svg>"}};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2; k++) {
            char script[PATH_MAX];
            if (!path_of(script, prefix, &figures[i], ".gp") ||
                !path_of(path, prefix, &figures[i], endings[k][0]) || !is_whole(path, script, endings[k][1]))
                return false;
        }
    return true;
}

static enum chart_result run(const struct figure *figures, size_t n, const char *const *scripts,
                             const char *prefix, char *message)
{
    char picture[PATH_MAX];
    enum gnuplot_result result = gnuplot_run(scripts, n);
    if (result == GNUPLOT_MISSING)
        return skip(message, "gnuplot is not installed");
    if (!are_whole(figures, n, prefix, picture) || result == GNUPLOT_FAILED) {
        snprintf(message, MESSAGE_SIZE, "charts: gnuplot failed on %.400s", picture);
        return CHART_FAILED;
    }
    size_t used = (size_t)snprintf(message, MESSAGE_SIZE, "chart%s:", n > 1 ? "s" : "");
    for (size_t i = 0; i < n && used < MESSAGE_SIZE; i++)
        used += (size_t)snprintf(message + used, MESSAGE_SIZE - used, " %s_%s.png", prefix, figures[i].name);
    if (used < MESSAGE_SIZE)
        snprintf(message + used, MESSAGE_SIZE - used, " (and .svg)");
    return CHART_DRAWN;
}

enum chart_result figures_draw(const struct figure *figures, size_t n, const char *prefix, char *message)
{
    char paths[FIGURES_MAX][PATH_MAX];
    const char *scripts[FIGURES_MAX];
    for (size_t i = 0; i < n; i++) {
        scripts[i] = paths[i];
        if (!path_of(paths[i], prefix, &figures[i], ".gp") || !write_script(&figures[i], paths[i], prefix)) {
            snprintf(message, MESSAGE_SIZE, "charts: %.400s: cannot be written: %.60s", paths[i],
                     strerror(errno));
            return CHART_FAILED;
        }
    }
    return n ? run(figures, n, scripts, prefix, message) : skip(message, "no row has a value to draw");
}
