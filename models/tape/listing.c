/* One line per entry: outputs <- inputs with their shapes; (+) marks an accumulated output. */
#include "models/tape/listing.h"

static int print_operands(char *text, int size, const struct entry *e, bool outputs)
{
    const struct op_info *info = op_info(e->op);
    int used = 0;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (!operand_is_mat(o) || o->carried || operand_writes(o) != outputs)
            continue;
        const struct mat *m = operand_mat(o, e->args);
        if (!mat_present(*m) || used >= size)
            continue;
        used += snprintf(text + used, (size_t)(size - used), "%s%s%s %lldx%lld", used ? ", " : "", o->name,
                         m->acc ? "(+)" : "", (long long)m->rows, (long long)m->cols);
    }
    return used;
}

void entry_shapes(const struct entry *e, char *text, int size)
{
    text[0] = '\0';
    int used = print_operands(text, size, e, true);
    char inputs[256] = "";
    if (print_operands(inputs, sizeof inputs, e, false) > 0 && used < size)
        snprintf(text + used, (size_t)(size - used), " <- %s", inputs);
}

void tape_list(struct tape *t, FILE *out)
{
    tape_plan(t);
    fprintf(out, "%-4s %-9s %-24s %-26s %-8s %15s %13s %13s  %s\n", "#", "phase", "span", "op", "variant",
            "FLOPs", "bytes", "live bytes", "shapes");
    for (int i = 0; i < tape_entry_count(t); i++) {
        const struct entry *e = tape_entry(t, i);
        char text[512];
        entry_shapes(e, text, sizeof text);
        fprintf(out, "%-4d %-9s %-24s %-26s %-8s %15lld %13lld %13lld  %s\n", i, phase_name(e->phase),
                e->span, e->form, e->kernel->variant, (long long)e->flops, (long long)e->bytes,
                (long long)tape_live_bytes(t, i), text);
    }
}
