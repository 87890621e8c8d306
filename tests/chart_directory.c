#include "tests/chart_directory.h"

#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#include <glob.h>
#include <unistd.h>

int make_directory(void **state)
{
    struct chart_directory *p = calloc(1, sizeof *p);
    snprintf(p->directory, sizeof p->directory, "/tmp/gtmark-chart-XXXXXX");
    if (!mkdtemp(p->directory))
        return -1;
    snprintf(p->prefix, sizeof p->prefix, "%s/it's", p->directory); /* a quote, to be escaped in scripts */
    *state = p;
    return 0;
}

int hide_gnuplot(void **state)
{
    (void)state;
    return setenv("PATH", "/nonexistent", 1);
}

int remove_directory(void **state)
{
    struct chart_directory *p = *state;
    char pattern[96];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*", p->directory);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            unlink(found.gl_pathv[i]);
        globfree(&found);
    }
    int result = rmdir(p->directory);
    free(p);
    return result;
}

char *content(const struct chart_directory *p, const char *end)
{
    char path[160], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s%s", p->prefix, end);
    FILE *f = fopen(path, "r");
    if (f && getdelim(&text, &size, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

static enum chart_result draw_all(struct figures *f, const char *prefix, char *message)
{
    enum chart_result result = figures_draw(f, prefix, message);
    figures_free(f);
    return result;
}

enum chart_result draw_added(chart_adder *add, const struct record *record, const char *prefix, char *message)
{
    struct figures f = {0};
    add(&f, record, NULL);
    return draw_all(&f, prefix, message);
}

enum chart_result draw_charts(const struct record *record, const struct field *axis, const char *prefix,
                              char *message)
{
    struct figures f = {0};
    chart_add(&f, record, axis);
    return draw_all(&f, prefix, message);
}

bool on_path(const char *program)
{
    char directories[4096], *rest = directories, *directory, path[4200];
    snprintf(directories, sizeof directories, "%s", getenv("PATH") ? getenv("PATH") : "");
    while ((directory = strsep(&rest, ":"))) {
        snprintf(path, sizeof path, "%s/%s", directory, program);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

void set_time(struct row *row, const char *path, double seconds, double spread)
{
    double samples[REPORTED_MIN];
    for (int i = 0; i < REPORTED_MIN; i++)
        samples[i] = seconds * (1 + spread * (i - REPORTED_MIN / 2) / (double)(REPORTED_MIN / 2));
    row_set_samples(row, path, samples, REPORTED_MIN);
}

void assert_in(const char *text, const char *wanted)
{
    if (!text || !strstr(text, wanted))
        fail_msg("no %s in\n%.3000s", wanted, text ? text : "(nothing)");
}

/* The title of a script, its lines joined by a blank; to be freed. */
static char *title_of(const char *script)
{
    const char *line = strstr(script, "title[1] = \""), *next = strstr(script, "title[2] = \"");
    char *title = NULL;
    size_t size, start = strlen("title[1] = \"");
    FILE *out = open_memstream(&title, &size);
    assert_true(line && out);
    fprintf(out, "%.*s", (int)strcspn(line + start, "\n") - 1, line + start);
    if (next)
        fprintf(out, " %.*s", (int)strcspn(next + start, "\n") - 1, next + start);
    fclose(out);
    return title;
}

void assert_title(const struct chart_directory *p, const char *end, const char *wanted)
{
    char *script = content(p, end);
    assert_non_null(script);
    char *title = title_of(script);
    assert_string_equal(title, wanted);
    free(title);
    free(script);
}
