/* The fields of an encoding. */
#include "analysis/record/row.h"
#include "analysis/record/schema.h"
#include "bench/row/fields.h"
#include "bench/row/program_fields.h"

static void fields_eigenpairs(struct row *row, const struct encoded *encoded)
{
    const struct encoding *e = &encoded->encoding;
    row_set_count(row, "encoding.nullity", e->nullity);
    row_set_count(row, "encoding.iterated", e->iterated);
    row_set_count(row, "encoding.iterations", e->iterations);
    row_set_real(row, "encoding.residual", e->residual);
    row_set_real(row, "encoding.excess", e->excess);
    if (encoded->missed >= 0)
        row_set_count(row, "encoding.displaced", encoded->missed);
    else if (*encoded->not_compared.text)
        row_omit(row, "encoding.displaced", encoded->not_compared.text);
}

static void fields_executed(struct row *row, const struct encoded *e)
{
    static const char *const fields[] = {"encoding.executed", "encoding.executed_source",
                                         "encoding.executed_isa", "encoding.executed_threads",
                                         "encoding.executed_differences"};
    if (*e->uncounted.text)
        row_omit(row, fields[0], e->uncounted.text);
    if (!e->counted)
        return;
    row_set_count(row, fields[0], e->executed.flops);
    row_set_text(row, fields[1], e->executed.source);
    row_set_text(row, fields[2], e->executed.isa);
    row_set_count(row, fields[3], e->executed.threads);
    row_set_text(row, fields[4], e->executed.differences);
}

void fields_encoding(struct row *row, const struct encoded *encoded, const struct encoding_config *c,
                     bool uploaded)
{
    const struct encoding *e = &encoded->encoding;
    row_set_text(row, "encoding.where", uploaded ? "host, then uploaded" : "host");
    bool nothing = e->iterated == 0 && e->nullity > 0;
    row_set_text(row, "encoding.method", nothing ? "null space only, no solver ran" : e->method);
    row_set_count(row, "encoding.peak", e->peak);
    row_set_count_or_null(row, "encoding.flops", e->cost.flops);
    row_set_count_or_null(row, "encoding.bytes", e->cost.bytes);
    row_set_text(row, "encoding.flops_label", e->flops_label);
    fields_executed(row, encoded);
    if (*encoded->checked.text)
        row_set_text(row, "encoding.checked", encoded->checked.text);
    else
        row_omit(row, "encoding.checked", *encoded->check.missing ? encoded->check.missing : "not converged");
    if (!encoding_without_pairs(c))
        fields_eigenpairs(row, encoded);
}

void fields_encoding_bound(struct row *row, const struct encoding_bound *b, int64_t storage)
{
    row_set_count(row, "encoding.storage", storage);
    row_set_count_or_null(row, "encoding.bound.flops", b->flops);
    row_set_count_or_null(row, "encoding.bound.bytes", b->bytes);
    row_set_count_or_null(row, "encoding.bound.peak", b->peak);
    row_set_text(row, "encoding.bound.label", b->label);
}
