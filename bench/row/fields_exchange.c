#include "bench/row/fields_exchange.h"

#include <math.h>

#include "bench/row/program_fields.h"

struct value_of {
    const char *field;
    double value;
};

/* All of them, or null with the reason. */
static void set_all(struct row *row, enum program_kind kind, const struct value_of *v, int n,
                    const char *missing)
{
    for (int i = 0; i < n; i++)
        if (missing)
            program_omit(row, kind, v[i].field, missing);
        else
            program_set_real(row, kind, v[i].field, v[i].value);
}

static void set_predicted(struct row *row, enum program_kind kind, const struct program_result *p)
{
    const struct forecast *f = &p->forecast;
    const struct value_of of_exchange[] = {{"exchange.predicted", f->alone}},
                          of_run[] = {{"exchange.predicted_run", f->run},
                                      {"exchange.predicted_exposed", f->exposed}};
    const char *missing = *f->missing.text ? f->missing.text : f->bytes == 0 ? "nothing is exchanged" : NULL;
    set_all(row, kind, of_exchange, 1, missing);
    set_all(row, kind, of_run, 2,
            !f->known       ? f->missing.text
            : p->samples    ? "what runs has no ceilings of several ranks"
            : isnan(f->run) ? "no ceilings (--ceilings)"
                            : NULL);
    if (missing)
        program_omit(row, kind, "exchange.link", missing);
    else
        program_set_text(row, kind, "exchange.link", f->link.text);
}

void fields_exchange(struct row *row, enum program_kind kind, const struct program_result *p)
{
    const struct exchange *e = &p->exchange;
    const struct value_of measured[] = {{"exchange.time", e->alone},
                                        {"exchange.exposed", e->exposed},
                                        {"exchange.bandwidth", 1e-9 * e->bandwidth}};
    program_set_count(row, kind, "exchange.bytes", p->samples ? e->sent : p->forecast.bytes);
    set_all(row, kind, measured, 3,
            !p->samples    ? "planned only (--device meta)"
            : e->sent == 0 ? "nothing is exchanged"
                           : NULL);
    set_predicted(row, kind, p);
}
