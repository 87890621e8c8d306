/*
 * Command lines made up by libFuzzer. A line of the input is an argument: a first byte from 128 chooses
 * a flag or an axis, which the rest follows after an equals sign, or nothing where there is no more; another
 * line is the argument as it stands. --dry-run at the end keeps the parser from devices and files.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/command_line.h"
#include "bench/cli/config.h"
#include "bench/cli/flags.h"

enum { ARGUMENTS_MAX = 24, INPUT_MAX = 4096, FLAG_TEXT = 32, COMBINATIONS_TRIED = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

static const struct bench bench = {.name = "fuzz", .doc = "", .axis = AXIS_NODES, .values = "8"};
static const struct bench kernels = {
    .name = "fuzz", .doc = "", .axis = AXIS_NODES, .values = "8", .kernels = true};

/* The name of a flag; null beyond them. */
static const char *name_of(int index)
{
    struct flag flags[FLAGS_MAX];
    int count = 0;
    flags_all(&bench, flags);
    while (flags[count].name)
        count++;
    return index >= 0 && index < count ? flags[index].name : NULL;
}

/* To be freed. */
static char *argument_of(const char *line)
{
    const char *name = name_of((unsigned char)*line - 128);
    size_t length = strlen(line) + FLAG_TEXT;
    char *text = malloc(length);
    require(text != NULL, "memory");
    if (name)
        snprintf(text, length, "--%s%s%s", name, line[1] ? "=" : "", line + 1);
    else
        snprintf(text, length, "%s", line);
    return text;
}

static void check_axes(const struct options *o)
{
    for (enum axis a = 0; a < AXES; a++) {
        const struct axis_info *axis = axis_info(a);
        const struct axis_values *v = &o->axes[a];
        require(v->count > 0 && v->count <= AXIS_VALUES_MAX, "an axis has values");
        for (int i = 0; i < v->count; i++) {
            if (axis->kind == AXIS_TEXT)
                require(axis->allowed(axis_text(v, v->values[i])), "a text that is allowed");
            else if (axis->kind == AXIS_NAME)
                require(axis->choice((int)v->values[i]) != NULL, "a choice that there is");
            else
                require(v->values[i] >= axis->min && v->values[i] <= axis->max, "a number in range");
        }
    }
}

static bool reads_files(const struct options *o)
{
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    for (int i = 0; i < graphs->count; i++)
        if (graph_is_file(axis_text(graphs, graphs->values[i])))
            return true;
    return false;
}

static void check_configurations(const struct options *o)
{
    struct message error = {""};
    int64_t count = config_count(o);
    require(count > 0, "there is a configuration");
    if (reads_files(o) || count > COMBINATIONS_TRIED)
        return;
    require(config_check_all(o, &error) || *error.text, "what is wrong is said");
    for (int64_t i = 0; i < count; i++) {
        struct config c = config_at(o, i);
        require(c.threads > 0 && c.graph.nodes > 0 && c.parts.ffn > 0, "the configuration has sizes");
    }
}

static void check_line(int argc, char **argv)
{
    for (int i = 0; i < 2; i++) {
        struct options o;
        struct message error = {""};
        bool good = options_parse(i ? &kernels : &bench, argc, argv, &o, &error);
        require(good || *error.text, "what is wrong is said");
        require(memchr(error.text, '\0', MESSAGE_SIZE) != NULL, "the message ends");
        if (good) {
            check_axes(&o);
            check_configurations(&o);
        }
        options_free(&o);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[INPUT_MAX], *rest = text, *argv[ARGUMENTS_MAX + 3] = {(char *)"fuzz"};
    if (size >= sizeof text || memchr(data, '\0', size))
        return -1;
    memcpy(text, data, size);
    text[size] = '\0';
    int argc = 1;
    for (char *line; argc <= ARGUMENTS_MAX && (line = strsep(&rest, "\n")) != NULL;)
        argv[argc++] = argument_of(line);
    argv[argc++] = strdup("--dry-run");
    check_line(argc, argv);
    for (int i = 1; i < argc; i++)
        free(argv[i]);
    return 0;
}
