#include "bench/audit/audit.h"

#include <stdio.h>
#include <string.h>

#include "bench/audit/operands.h"
#include "kernels/plugin_rows.h"

static void add_row(struct audited_rows *rows, const struct kernel *k, bool wanted)
{
    bool has_reference = !op_info(k->op)->exchange && k->op != OP_function;
    if (!wanted || !has_reference || rows->count == ROWS_MAX)
        return;
    struct audited_row *row = &rows->row[rows->count++];
    row->op = k->op;
    row->dtype = k->dtype;
    row->on_device = plugin_on_device(k);
    snprintf(row->variant, sizeof row->variant, "%s", k->variant);
}

void audited_rows_list(const char *library, const bool ops[OPS], struct audited_rows *rows)
{
    bool any = !memchr(ops, true, OPS * sizeof *ops);
    struct message *error = &rows->error;
    struct plugin *p = library ? plugin_open(library, error->text, sizeof error->text) : NULL;
    struct opened_device device = {0};
    rows->failed = library && !p;
    if (p && !plugin_row(p, 0))
        complain(error, "%.300s: has models, and no kernels", library);
    for (int i = 0; p && plugin_row(p, i); i++) {
        const struct kernel *k = plugin_row(p, i);
        bool on_device = plugin_on_device(k);
        if (on_device && !device.context && !*error->text) {
            device = operands_device();
            if (!device.context)
                complain(error, "%.200s: entries for \"cuda\" need a GPU: %s", library, device.why);
        }
        if (!on_device || device.context)
            add_row(rows, k, any || ops[k->op]);
    }
    for (enum op op = 0; !library && op < OPS; op++)
        add_row(rows, backend_kernel(backend_cpu(), op, F32, NULL), any || ops[op]);
    rows->failed = rows->failed || (rows->count == 0 && *error->text);
    operands_device_close(&device);
}
