/*
 * gnuplot as a child process, found in PATH, without a shell. Its standard output is redirected to our
 * standard error, because ours contains results.
 */
#include "analysis/charts/gnuplot.h"

#include "analysis/statistics/allocate.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

static enum gnuplot_result start(char *script, char **environment, pid_t *child)
{
    posix_spawn_file_actions_t files;
    *child = 0;
    if (posix_spawn_file_actions_init(&files) != 0)
        return GNUPLOT_FAILED;
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (fcntl(STDERR_FILENO, F_GETFD) < 0) /* closed: otherwise messages could end up in a picture */
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    int error =
        posix_spawnp(child, "gnuplot", &files, NULL, (char *[]){"gnuplot", script, NULL}, environment);
    posix_spawn_file_actions_destroy(&files);
    *child = error ? 0 : *child;
    /* PATH may name folders of other users, or files */
    return error == ENOENT || error == EACCES || error == ENOTDIR ? GNUPLOT_MISSING
           : error                                                ? GNUPLOT_FAILED
                                                                  : GNUPLOT_DONE;
}

static enum gnuplot_result wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return GNUPLOT_FAILED;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? GNUPLOT_DONE : GNUPLOT_FAILED;
}

/* Our environment with a UTF-8 locale, so that gnuplot can write every character; the caller frees it. */
static char **utf8_environment(void)
{
    size_t n = 0, kept = 1;
    while (environ[n])
        n++;
    char **copy = allocate(n + 2, sizeof *copy);
    copy[0] = "LC_ALL=C.UTF-8";
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", strlen("LC_ALL=")) != 0)
            copy[kept++] = environ[i];
    return copy;
}

/* A path that gnuplot takes for a file: "|name" and "<name" would be commands, "-name" an option. */
static const char *current_directory(const char *path)
{
    return *path == '/' ? "" : "./";
}

enum gnuplot_result gnuplot_run(const char *const *scripts, size_t n)
{
    pid_t *children = allocate(n + 1, sizeof *children);
    char **environment = utf8_environment();
    enum gnuplot_result result = GNUPLOT_DONE;
    for (size_t i = 0; result == GNUPLOT_DONE && i < n; i++) {
        char *path = format_text("%s%s", current_directory(scripts[i]), scripts[i]);
        result = start(path, environment, &children[i]);
        free(path);
    }
    for (size_t i = 0; i < n; i++)
        if (children[i] && wait_for(children[i]) != GNUPLOT_DONE)
            result = GNUPLOT_FAILED;
    free(children);
    free(environment);
    return result;
}

/* Inside double quotes, where only the quote, the backslash and the backquote mean anything. */
static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++)
        if (strchr("\"\\`", *text))
            fprintf(out, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", out);
        else
            putc((unsigned char)*text < ' ' ? ' ' : *text, out);
}

void gnuplot_put_string(FILE *out, const char *text)
{
    putc('"', out);
    put_escaped(out, text);
    putc('"', out);
}

void gnuplot_put_text(FILE *out, const char *variable, const char *text)
{
    fprintf(out, "%s = ", variable);
    gnuplot_put_string(out, text);
    putc('\n', out);
}

void gnuplot_put_element(FILE *out, const char *array, size_t i, const char *text)
{
    char element[64];
    snprintf(element, sizeof element, "%s[%zu]", array, i);
    gnuplot_put_text(out, element, text);
}

void gnuplot_put_tick(FILE *out, bool first, const char *label, double at)
{
    fputs(first ? "\"" : ", \"", out);
    for (; *label; label++) {
        put_escaped(out, (char[]){*label, '\0'});
        fputs(*label == '%' ? "%" : "", out);
    }
    fprintf(out, "\" %.15g", at);
}

void gnuplot_put_label(FILE *out, double x, double y, const char *format, ...)
{
    char text[GNUPLOT_LABEL];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(out, "%.15g %.15g \"", x, y);
    for (const char *c = text; *c; c++) /* a hint comes out between quotes, as it is */
        putc(*c == '"' || *c == '\\' ? '\'' : (unsigned char)*c < ' ' ? ' ' : *c, out);
    fputs("\"\n", out);
}

void gnuplot_put_path(FILE *out, const char *variable, const char *path)
{
    fprintf(out, "%s = \"%s", variable, current_directory(path));
    for (; *path; path++)
        if ((unsigned char)*path < ' ')
            fprintf(out, "\\%03o", (unsigned)*path);
        else
            put_escaped(out, (char[]){*path, '\0'});
    fputs("\"\n", out);
}

void gnuplot_escape(char *escaped, size_t size, const char *text)
{
    size_t used = 0;
    for (; *text && used + 2 < size; text++) {
        if (strchr("_^{}@&~\\", *text))
            escaped[used++] = '\\';
        escaped[used++] = (unsigned char)*text < ' ' ? ' ' : *text;
    }
    escaped[used] = '\0';
}
