#include "analysis/charts/figure.h"

#include "analysis/charts/gnuplot.h"
#include "analysis/record/message.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool figure_look(const char *plots_dir, const char *name, char look[PATH_MAX])
{
    char program[PATH_MAX];
    if (plots_dir)
        return snprintf(look, PATH_MAX, "%s/%s", plots_dir, name) < PATH_MAX && access(look, R_OK) == 0;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    for (char *slash; (slash = strrchr(program, '/'));) {
        *slash = '\0';
        if (snprintf(look, PATH_MAX, "%s/analysis/plots/%s", program, name) < PATH_MAX &&
            access(look, R_OK) == 0)
            return true;
    }
    snprintf(look, PATH_MAX, "analysis/plots/%s", name);
    return access(look, R_OK) == 0;
}

static bool write_figure(const struct figure *f, const void *what, const char *path, const char *pictures,
                         const char *look)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return false;
    fputs("reset\nset encoding utf8\n", out);
    gnuplot_put_text(out, "prefix", pictures);
    f->write(out, what);
    fputs("load ", out);
    gnuplot_put_string(out, look);
    putc('\n', out);
    bool good = !ferror(out);
    return fclose(out) == 0 && good;
}

enum chart_result figure_draw(const struct figure *f, const void *what, const char *plots_dir,
                              const char *prefix, char *message)
{
    char look[PATH_MAX], pictures[PATH_MAX], path[PATH_MAX];
    if (!figure_look(plots_dir, f->look, look)) {
        snprintf(message, MESSAGE_SIZE, "charts skipped: analysis/plots/%s was not found", f->look);
        return CHART_SKIPPED;
    }
    errno = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s_%s.gp", prefix, f->name) >= PATH_MAX ||
        snprintf(pictures, sizeof pictures, "%s_%s", prefix, f->name) >= PATH_MAX ||
        !write_figure(f, what, path, pictures, look)) {
        snprintf(message, MESSAGE_SIZE, "charts: %.400s: cannot be written: %.60s", path, strerror(errno));
        return CHART_FAILED;
    }
    const char *script = path;
    switch (gnuplot_run(&script, 1)) {
    case GNUPLOT_MISSING:
        snprintf(message, MESSAGE_SIZE, "charts skipped: gnuplot is not installed");
        return CHART_SKIPPED;
    case GNUPLOT_FAILED:
        snprintf(message, MESSAGE_SIZE, "charts: gnuplot failed on %.400s", path);
        return CHART_FAILED;
    case GNUPLOT_DONE:
        break;
    }
    snprintf(message, MESSAGE_SIZE, "chart: %.400s.png (and .svg)", pictures);
    return CHART_DRAWN;
}
