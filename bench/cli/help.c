/* What --help prints: the axes and the table of flags, by their groups. */
#include "bench/cli/flags.h"

#include <errno.h> /* program_invocation_name */

static void help_line(FILE *out, const char *name, const char *argument, const char *help)
{
    char left[40];
    snprintf(left, sizeof left, "--%s %s", name, argument ? argument : "");
    fprintf(out, "  %-22s %s\n", left, help);
}

static void help_axes(const struct bench *b, FILE *out)
{
    fprintf(out, "\nAxes: comma lists of values and ranges (100,500  1k-16k*2  2-16+2); every combination is "
                 "a row.\n");
    for (int a = AXES - 1; a >= 0; a--) {
        const struct axis_info *axis = axis_info((enum axis)a);
        char help[160];
        snprintf(help, sizeof help, "%s (default %s)", axis->help, bench_values(b, (enum axis)a));
        help_line(out, axis->name, "LIST", help);
    }
}

void options_help(const struct bench *b, FILE *out)
{
    static const char *const headings[FLAG_GROUPS] = {"Where",  "What",  "Samples", "Output",
                                                      "Limits", "Gates", "About"};
    fprintf(out, "%s: %s\n", b->name, b->doc);
    help_axes(b, out);
    for (enum flag_group g = 0; g < FLAG_GROUPS; g++) {
        fprintf(out, "%s:\n", headings[g]);
        for (int i = 0; flag_at(i); i++)
            if (flag_at(i)->group == g)
                help_line(out, flag_at(i)->name, flag_at(i)->argument, flag_at(i)->help);
    }
    fprintf(out,
            "Examples: the default sweep; some sizes, closely; FLOPs and memory of any size, nothing runs\n"
            "  %1$s\n"
            "  %1$s --nodes '1k-4k*2' %2$s\n"
            "  %1$s --device meta --nodes '100-1M*10'\n"
            "Exit status: 0 all rows good, 1 a row failed or missed a gate, 2 the command line is wrong,\n"
            "130 or 143 after SIGINT or SIGTERM.\n",
            program_invocation_name, b->kernels ? "--op linear,attention" : "--phase step --profile");
}
