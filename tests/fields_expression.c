/* Statements about fields: a recursive descent over their text. */
#include "tests/fields_expression.h"

#include "tests/test.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>

struct block {
    struct block *next;
    double bytes[];
};

static void *allocate(struct memory *m, size_t bytes)
{
    struct block *b = calloc(1, sizeof *b + bytes + 8);
    assert_non_null(b);
    b->next = m->blocks;
    m->blocks = b;
    return b->bytes;
}

static void free_all(struct memory *m)
{
    for (struct block *b = m->blocks; b; b = m->blocks) {
        m->blocks = b->next;
        free(b);
    }
}

struct operand_value value_of_numbers(struct memory *m, const double *numbers, size_t count)
{
    struct operand_value v = {.known = true, .count = count, .number = allocate(m, count * sizeof *v.number)};
    if (count > 0)
        memcpy(v.number, numbers, count * sizeof *numbers);
    return v;
}

struct operand_value value_of_texts(struct memory *m, const char *const *texts, size_t count)
{
    struct operand_value v = {
        .known = true, .is_text = true, .count = count, .text = allocate(m, count * sizeof *v.text)};
    for (size_t i = 0; i < count; i++) {
        char *copy = allocate(m, strlen(texts[i]) + 1);
        v.text[i] = strcpy(copy, texts[i]);
    }
    return v;
}

static const struct operand_value unknown;

struct reader {
    const char *at, *statement;
    name_value *names;
    const void *context;
    struct memory memory;
    char *why;
    size_t size;
};

static struct operand_value one(struct reader *r, double number)
{
    return value_of_numbers(&r->memory, &number, 1);
}

static bool take(struct reader *r, const char *word)
{
    while (*r->at == ' ')
        r->at++;
    size_t length = strlen(word);
    bool is_word = isalpha((unsigned char)*word);
    if (strncmp(r->at, word, length) != 0 || (is_word && isalnum((unsigned char)r->at[length])))
        return false;
    r->at += length;
    return true;
}

static void must(const struct reader *r, bool good)
{
    if (!good)
        fail_msg("%s: not understood at '%s'", r->statement, r->at);
}

/* --- functions */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear between order statistics. */
static double quantile_of(struct reader *r, struct operand_value v, double p)
{
    struct operand_value sorted = value_of_numbers(&r->memory, v.number, v.count);
    qsort(sorted.number, v.count, sizeof *sorted.number, ascending);
    double place = p * ((double)v.count - 1), below = floor(place), above = ceil(place);
    return sorted.number[(size_t)below] * (1 - (place - below)) +
           sorted.number[(size_t)above] * (place - below);
}

static double sum_of(struct operand_value v)
{
    long double sum = 0;
    for (size_t i = 0; i < v.count; i++)
        sum += v.number[i];
    return (double)sum;
}

static double std_of(struct operand_value v)
{
    double mean = sum_of(v) / (double)v.count, squares = 0;
    for (size_t i = 0; i < v.count; i++)
        squares += pow(v.number[i] - mean, 2);
    return sqrt(squares / ((double)v.count - 1));
}

static struct operand_value at_largest(struct reader *r, struct operand_value v, struct operand_value by)
{
    size_t largest = 0;
    for (size_t i = 0; i < by.count; i++)
        largest = by.number[i] > by.number[largest] ? i : largest;
    if (largest >= v.count)
        return unknown;
    return v.is_text ? value_of_texts(&r->memory, v.text + largest, 1) : one(r, v.number[largest]);
}

static struct operand_value those_where(struct reader *r, struct operand_value v, struct operand_value texts,
                                        struct operand_value pattern)
{
    struct operand_value chosen = value_of_numbers(&r->memory, v.number, v.count);
    chosen.count = 0;
    for (size_t i = 0; i < v.count && i < texts.count; i++)
        if (fnmatch(pattern.text[0], texts.text[i], 0) == 0)
            chosen.number[chosen.count++] = v.number[i];
    return chosen;
}

static double combine(char operator, double a, double b)
{
    switch (operator) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    case 'l':
        return fmax(a, b);
    case 's':
        return fmin(a, b);
    default:
        return pow(a, b);
    }
}

static struct operand_value joined(struct reader *r, struct operand_value a, struct operand_value b)
{
    char *text = allocate(&r->memory, strlen(a.text[0]) + strlen(b.text[0]) + 2);
    sprintf(text, "%s %s", a.text[0], b.text[0]);
    return value_of_texts(&r->memory, (const char *const *)&text, 1);
}

/* Item by item; a single one goes with every item of a list. */
static struct operand_value combined(struct reader *r, char operator, struct operand_value a,
                                     struct operand_value b)
{
    if (!a.known || !b.known || a.count == 0 || b.count == 0)
        return unknown;
    if (a.is_text)
        return joined(r, a, b);
    must(r, !b.is_text && (a.count == b.count || a.count == 1 || b.count == 1));
    struct operand_value longer = a.count > b.count ? a : b,
                         v = value_of_numbers(&r->memory, longer.number, longer.count);
    for (size_t i = 0; i < v.count; i++)
        v.number[i] = combine(operator, a.number[a.count == 1 ? 0 : i], b.number[b.count == 1 ? 0 : i]);
    return v;
}

static struct operand_value indices(struct reader *r, size_t count)
{
    struct operand_value v = value_of_numbers(&r->memory, NULL, 0);
    v.number = allocate(&r->memory, count * sizeof *v.number);
    for (; v.count < count; v.count++)
        v.number[v.count] = (double)v.count + 1;
    return v;
}

/* Of one list, a number. */
static double reduced(struct reader *r, int which, struct operand_value v)
{
    switch (which) {
    case 0:
        return sum_of(v);
    case 1:
        return (double)v.count;
    case 2:
        return quantile_of(r, v, 0);
    case 3:
        return quantile_of(r, v, 1);
    case 4:
        return quantile_of(r, v, 0.5);
    case 5:
        return sum_of(v) / (double)v.count;
    default:
        return std_of(v);
    }
}

static struct operand_value call(struct reader *r, const char *name, size_t length, struct operand_value *a,
                                 int n)
{
    static const struct {
        const char *name;
        int arguments;
    } functions[] = {{"sum", 1},    {"count", 1},   {"least", 1}, {"most", 1},     {"median", 1},
                     {"mean", 1},   {"std", 1},     {"index", 1}, {"quantile", 2}, {"at", 2},
                     {"larger", 2}, {"smaller", 2}, {"power", 2}, {"where", 3}};
    enum { FUNCTIONS = sizeof functions / sizeof *functions, STD = 6 };
    int which = 0;
    while (which < FUNCTIONS &&
           (strlen(functions[which].name) != length || strncmp(functions[which].name, name, length) != 0))
        which++;
    must(r, which < FUNCTIONS && n == functions[which].arguments);
    for (int i = 0; i < n; i++)
        if (!a[i].known || (a[i].count == 0 && which > 1))
            return unknown;
    if (which <= STD)
        return which < STD || a[0].count > 1 ? one(r, reduced(r, which, a[0])) : unknown;
    switch (which) {
    case STD + 1:
        return indices(r, a[0].count);
    case STD + 2:
        return one(r, quantile_of(r, a[0], a[1].number[0]));
    case STD + 3:
        return at_largest(r, a[0], a[1]);
    case FUNCTIONS - 1:
        return those_where(r, a[0], a[1], a[2]);
    default:
        return combined(r, "lsp"[which - STD - 4], a[0], a[1]);
    }
}

/* --- grammar */

static struct operand_value read_sum(struct reader *r);

static struct operand_value read_text(struct reader *r)
{
    const char *end = strchr(r->at, '\'');
    must(r, end != NULL);
    char *text = allocate(&r->memory, (size_t)(end - r->at) + 1);
    memcpy(text, r->at, (size_t)(end - r->at));
    r->at = end + 1;
    return value_of_texts(&r->memory, (const char *const *)&text, 1);
}

static struct operand_value read_name(struct reader *r)
{
    const char *name = r->at;
    struct operand_value a[3];
    int n = 0;
    while (isalnum((unsigned char)*r->at) || (*r->at && strchr("._:-", *r->at)))
        r->at++;
    size_t length = (size_t)(r->at - name);
    must(r, length > 0);
    if (*r->at != '(')
        return r->names(r->context, &r->memory, name, length);
    r->at++;
    do {
        must(r, n < 3);
        a[n++] = read_sum(r);
    } while (take(r, ","));
    must(r, take(r, ")"));
    return call(r, name, length, a, n);
}

static struct operand_value read_primary(struct reader *r)
{
    if (take(r, "(")) {
        struct operand_value v = read_sum(r);
        must(r, take(r, ")"));
        return v;
    }
    if (take(r, "'"))
        return read_text(r);
    if (!isdigit((unsigned char)*r->at))
        return read_name(r);
    char *end;
    double number = strtod(r->at, &end);
    r->at = end;
    return one(r, number);
}

static struct operand_value read_product(struct reader *r)
{
    struct operand_value v = read_primary(r);
    for (;;)
        if (take(r, "*"))
            v = combined(r, '*', v, read_primary(r));
        else if (take(r, "/"))
            v = combined(r, '/', v, read_primary(r));
        else
            return v;
}

static struct operand_value read_sum(struct reader *r)
{
    struct operand_value v = read_product(r);
    for (;;)
        if (take(r, "+ "))
            v = combined(r, '+', v, read_product(r));
        else if (take(r, "- "))
            v = combined(r, '-', v, read_product(r));
        else
            return v;
}

enum { AT_MOST, AT_LEAST, BELOW, ABOVE, NEAR, EQUAL, OTHER, RELATIONS };

static bool compared(int relation, double a, double b)
{
    bool equal = fabs(a - b) <= (relation == NEAR ? 1e-2 : 1e-9) * fmax(fabs(a), fabs(b));
    bool below = relation == AT_MOST || relation == BELOW, above = relation == AT_LEAST || relation == ABOVE;
    if (relation == OTHER)
        return !equal;
    return (equal && relation != BELOW && relation != ABOVE) || (below && a < b) || (above && a > b);
}

static bool holds(struct reader *r, int relation, struct operand_value a, struct operand_value b)
{
    bool good = a.is_text == b.is_text && (a.count == b.count || a.count == 1 || b.count == 1);
    size_t n = a.count > b.count ? a.count : b.count;
    if (!good)
        snprintf(r->why, r->size, "%zu and %zu items", a.count, b.count);
    for (size_t i = 0; i < n && good; i++) {
        size_t x = a.count == 1 ? 0 : i, y = b.count == 1 ? 0 : i;
        if (a.is_text)
            good = (fnmatch(b.text[y], a.text[x], FNM_EXTMATCH) == 0) == (relation == EQUAL);
        else
            good = compared(relation, a.number[x], b.number[y]);
        if (!good && a.is_text)
            snprintf(r->why, r->size, "'%s', '%s'", a.text[x], b.text[y]);
        else if (!good)
            snprintf(r->why, r->size, "%.12g, %.12g (%zu of %zu)", a.number[x], b.number[y], i + 1, n);
    }
    return good;
}

static int read_comparison(struct reader *r)
{
    static const char *const relations[RELATIONS] = {"<=", ">=", "<", ">", "~", "=", "!="};
    int result = 1, links = 0;
    struct operand_value a = read_sum(r);
    for (;; links++) {
        int relation = 0;
        while (relation < RELATIONS && !take(r, relations[relation]))
            relation++;
        if (relation == RELATIONS)
            break;
        struct operand_value b = read_sum(r);
        if (!a.known || !b.known || a.count == 0 || b.count == 0)
            result = result == 0 ? 0 : -1;
        else if (!holds(r, relation, a, b))
            result = 0;
        a = b;
    }
    must(r, links > 0);
    return result;
}

/* False is stronger than not known, and that than true. */
static int read_all(struct reader *r)
{
    int result = read_comparison(r);
    while (take(r, "and")) {
        int next = read_comparison(r);
        result = result == 0 || next == 0 ? 0 : result == -1 || next == -1 ? -1 : 1;
    }
    return result;
}

int statement_holds(const char *statement, name_value *names, const void *context, char *why, size_t size)
{
    struct reader r = {statement, statement, names, context, {NULL}, why, size};
    int result = read_all(&r);
    if (take(&r, "if")) {
        char unused[1];
        r.why = unused;
        r.size = sizeof unused;
        if (read_all(&r) != 1)
            result = -1;
    }
    must(&r, *r.at == '\0');
    free_all(&r.memory);
    return result;
}
