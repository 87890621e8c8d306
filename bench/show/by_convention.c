#include "bench/show/profile.h"

#include <string.h>

#include "analysis/tables/grid.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"

enum { OP_WIDTH = 26 }; /* columns of the longest name */

static bool is_chosen(unsigned chosen, enum convention c)
{
    return c == CONVENTION_FULL || (chosen >> c & 1);
}

/* "12.1 G -0.4 %": FLOPs and how much they differ from full. */
static void add_cell(struct grid *table, int64_t flops, int64_t full)
{
    char text[UNITS_TEXT];
    if (flops < 1000)
        snprintf(text, sizeof text, "%lld", (long long)flops);
    else
        units_format(text, (double)flops, UNITS_SI, "");
    if (flops < 0)
        grid_add(table, "-");
    else if (flops == full || full <= 0)
        grid_add(table, "%s", text);
    else
        grid_add(table, "%s %+.1f %%", text, 100 * ((double)flops - (double)full) / (double)full);
}

/* The line of an op, or with OPS of all. Whether any chosen convention differs from full there. */
static bool add_counts(struct grid *table, const struct tape *t, unsigned chosen, enum op op)
{
    int64_t full = convention_total(CONVENTION_FULL, t, op), flops[CONVENTIONS];
    bool any = op == OPS, differs = false;
    for (enum convention c = 0; c < CONVENTIONS; c++) {
        flops[c] = is_chosen(chosen, c) ? convention_total(c, t, op) : full;
        any = any || flops[c] != 0;
        differs = differs || flops[c] != full;
    }
    if (!any)
        return false;
    grid_add(table, "%-*s", OP_WIDTH, op == OPS ? "total" : op_info(op)->name);
    for (enum convention c = 0; c < CONVENTIONS; c++)
        if (is_chosen(chosen, c))
            add_cell(table, flops[c], full);
    grid_add(table, "-");
    return differs;
}

static void print_reasons(const bool differs[OPS], FILE *out)
{
    char text[1024] = "";
    for (enum op op = 0; op < OPS; op++)
        if (differs[op] && convention_reason(op)) {
            char line[512];
            snprintf(line, sizeof line, "%s: %s", op_info(op)->name, convention_reason(op));
            wrap_text(out, line, 0, 4);
        } else if (differs[op]) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", op_info(op)->name);
        }
    if (*text) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, ": counted by full and simple only");
        wrap_text(out, text, 0, 4);
    }
}

void conventions_print(const struct tape *t, unsigned chosen, const char *title, FILE *out)
{
    struct grid table = {.columns = 2}; /* the op and, as the last is left-aligned, one that is left out */
    bool differs[OPS];
    for (enum convention c = 0; c < CONVENTIONS; c++)
        table.columns += is_chosen(chosen, c);
    grid_add(&table, "%-*s", OP_WIDTH, "op");
    for (enum convention c = 0; c < CONVENTIONS; c++)
        if (is_chosen(chosen, c))
            grid_add(&table, "%s", convention_name(c));
    grid_add(&table, "-");
    for (enum op op = 0; op < OPS; op++)
        differs[op] = add_counts(&table, t, chosen, op);
    add_counts(&table, t, chosen, OPS);
    fprintf(out, "\nFLOPs of %s, as counted by others, and the difference from full\n", title);
    grid_print(&table, TABLE_TERMINAL, out);
    grid_free(&table);
    for (enum convention c = 0; c < CONVENTIONS; c++)
        if (is_chosen(chosen, c)) {
            int at = fprintf(out, "%s: ", convention_name(c));
            wrap_text(out, convention_doc(c), at, 4);
        }
    print_reasons(differs, out);
}
