/*
 * Parameters and inputs: named storages, and the ops of the init program that fill them.
 *
 * Each is keyed by its full name, so its values do not depend on what else the model declares.
 */
#include <math.h>
#include <string.h>

#include "kernels/rng.h"
#include "models/tape/tape_internal.h"

static struct mat declare(struct tape *t, enum category category, const char *name, enum dtype dtype,
                          int64_t rows, int64_t cols)
{
    return tape_storage(t, category, dtype, rows, cols, span_path(t, name));
}

/* The random stream of a declared matrix. */
static uint64_t key_of(const struct tape *t, struct mat m)
{
    return rng_key(t->config.seed, t->storages[m.storage].name);
}

uint64_t tape_key(struct tape *t, const char *name)
{
    return rng_key(t->config.seed, span_path(t, name));
}

/* The stream of a declared matrix from its first row on. */
static uint64_t key_from(const struct tape *t, struct mat m, struct row_range rows)
{
    return rng_from(key_of(t, m), (uint64_t)(rows.first * m.cols));
}

/* The type of parameters: what AdamW moves is F32 on a tape in BF16. */
static enum dtype parameter_dtype(const struct tape *t)
{
    return t->config.training ? tape_wide(t) : t->config.dtype;
}

/* What ops read of a parameter: a copy in BF16 where it is wider. */
static struct mat read_parameter(struct tape *t, struct mat m)
{
    if (m.dtype == t->config.dtype)
        return m;
    struct mat y =
        tape_storage(t, MEMORY_PARAMETERS, t->config.dtype, m.rows, m.cols, t->storages[m.storage].name);
    t->storages[y.storage].is_copy = true;
    t->storages[m.storage].copy = y.storage;
    tape_record_in(t, &t->init, OP_cast, &(struct cast_args){.y = y, .x = m});
    return y;
}

struct mat tape_uniform(struct tape *t, enum category category, const char *name, enum dtype dtype,
                        struct row_range rows, int64_t cols, double bound)
{
    struct mat m = declare(t, category, name, dtype, rows.count, cols);
    struct uniform_args uniform = {.y = m, .key = key_from(t, m, rows), .bound = bound};
    tape_record_in(t, &t->init, OP_uniform, &uniform);
    return m;
}

struct mat param(struct tape *t, const char *name, int64_t rows, int64_t cols, int64_t fan_in)
{
    double bound = 1 / sqrt((double)fan_in);
    return read_parameter(
        t, tape_uniform(t, MEMORY_PARAMETERS, name, parameter_dtype(t), all_rows(rows), cols, bound));
}

struct mat tape_constant(struct tape *t, enum category category, const char *name, enum dtype dtype,
                         int64_t rows, int64_t cols, double value)
{
    struct mat m = declare(t, category, name, dtype, rows, cols);
    tape_record_in(t, &t->init, OP_fill, &(struct fill_args){.y = m, .value = value});
    return m;
}

struct mat param_constant(struct tape *t, const char *name, int64_t rows, int64_t cols, double value)
{
    return read_parameter(t,
                          tape_constant(t, MEMORY_PARAMETERS, name, parameter_dtype(t), rows, cols, value));
}

struct mat state(struct tape *t, const char *name, int64_t rows, int64_t cols, double value)
{
    return tape_constant(t, MEMORY_STATE, name, tape_wide(t), rows, cols, value);
}

struct mat input_orthogonal(struct tape *t, const char *name, int64_t rows, int64_t cols,
                            enum features features)
{
    struct mat m = declare(t, MEMORY_GRAPH, name, t->config.dtype, rows, cols);
    struct orthogonal_args orthogonal = {.y = m, .key = key_of(t, m), .features = (int)features};
    tape_record_in(t, &t->init, OP_orthogonal, &orthogonal);
    return m;
}

static struct mat declare_copy(struct tape *t, enum category category, const char *name, enum dtype dtype,
                               int64_t rows, int64_t cols, const void *from)
{
    struct mat m = tape_storage(t, category, dtype, rows, cols, arena_text(t->metadata, name, strlen(name)));
    t->storages[m.storage].from = from;
    return m;
}

struct mat input_copy(struct tape *t, const char *name, enum dtype dtype, int64_t rows, int64_t cols,
                      const void *from)
{
    return declare_copy(t, MEMORY_GRAPH, name, dtype, rows, cols, from);
}

/* Floats, in the tape's type. */
static struct mat declare_reals(struct tape *t, enum category category, const char *name, int64_t rows,
                                int64_t cols, const float *from)
{
    struct mat m = declare_copy(t, category, name, t->config.dtype, rows, cols, from);
    t->storages[m.storage].converted = m.dtype != F32;
    return m;
}

struct mat input_reals(struct tape *t, const char *name, int64_t rows, int64_t cols, const float *from)
{
    return declare_reals(t, MEMORY_GRAPH, name, rows, cols, from);
}

struct mat input_encoding(struct tape *t, const char *name, int64_t rows, int64_t cols, const float *from)
{
    return declare_reals(t, MEMORY_ENCODINGS, name, rows, cols, from);
}

struct mat input_encoding_bounds(struct tape *t, const char *name, int64_t rows, const int64_t *from)
{
    return declare_copy(t, MEMORY_ENCODINGS, name, I64, rows + 1, 1, from);
}

struct mat input_encoding_index(struct tape *t, const char *name, int64_t rows, int64_t cols,
                                const int64_t *from)
{
    return declare_copy(t, MEMORY_ENCODINGS, name, I64, rows, cols, from);
}

struct mat tape_matrix(struct tape *t, int64_t rows, int64_t cols)
{
    return tape_storage(t, MEMORY_ACTIVATIONS, t->config.dtype, rows, cols, NULL);
}

struct mat tape_stack(struct tape *t, int64_t first, int64_t rest, int64_t cols)
{
    struct mat m = tape_matrix(t, first + rest, cols);
    t->storages[m.storage].split = rest > 0 ? first : 0;
    return m;
}

void tape_keep(struct tape *t, struct mat m)
{
    t->storages[m.storage].keep = true;
    if (t->kept_count == KEPT_MOST)
        tape_contract("more than %d matrices are kept", KEPT_MOST);
    t->kept[t->kept_count++] = m;
}

static bool declared_in(const struct storage *s, enum category category)
{
    return s->category == category && !s->alias && !s->is_copy;
}

static int count_of(const struct tape *t, enum category category)
{
    int count = 0;
    for (int i = 1; i < t->storage_count; i++)
        count += declared_in(&t->storages[i], category);
    return count;
}

/* The index-th storage of a category, in order of declaration. */
static struct mat nth(const struct tape *t, enum category category, int index, const char **name)
{
    for (int i = 1; i < t->storage_count; i++) {
        const struct storage *s = &t->storages[i];
        if (!declared_in(s, category) || index-- > 0)
            continue;
        if (name)
            *name = s->name;
        struct mat m = {.rows = s->rows, .cols = s->cols, .ld = s->cols, .dtype = s->dtype, .storage = i};
        return tape_view(t, m);
    }
    tape_contract("index of %s out of range", category_name(category));
}

int tape_parameter_count(const struct tape *t)
{
    return count_of(t, MEMORY_PARAMETERS);
}

struct mat tape_parameter(const struct tape *t, int index, const char **name)
{
    return nth(t, MEMORY_PARAMETERS, index, name);
}

int tape_input_count(const struct tape *t)
{
    return count_of(t, MEMORY_GRAPH) + count_of(t, MEMORY_ENCODINGS);
}

struct mat tape_input(const struct tape *t, int index, const char **name)
{
    int before = count_of(t, MEMORY_GRAPH);
    return index < before ? nth(t, MEMORY_GRAPH, index, name)
                          : nth(t, MEMORY_ENCODINGS, index - before, name);
}

int64_t tape_parameter_elements(const struct tape *t)
{
    int64_t elements = 0;
    for (int i = 1; i < t->storage_count; i++)
        if (declared_in(&t->storages[i], MEMORY_PARAMETERS))
            elements += t->storages[i].rows * t->storages[i].cols;
    return elements;
}

/* Rows that are listed have the values that the ops give them, which know consecutive ones only. */
static struct mat listed_reals(struct tape *t, const char *name, struct row_range rows, int64_t cols)
{
    float *value = arena_alloc(t->metadata, (size_t)(rows.count * cols) * sizeof *value), *at = value;
    uint64_t key = tape_key(t, name);
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t k = 0; k < cols; k++)
            *at++ = (float)rng_int24(key, (uint64_t)(rows.list[i] * cols + k)) * 0x1p-23F;
    return input_reals(t, name, rows.count, cols, value);
}

struct mat input_uniform(struct tape *t, const char *name, struct row_range rows, int64_t cols)
{
    return rows.list ? listed_reals(t, name, rows, cols)
                     : tape_uniform(t, MEMORY_GRAPH, name, t->config.dtype, rows, cols, 1);
}

/* An integer from `first` on, as op uniform_index has it. */
static int64_t integer_at(uint64_t key, int64_t position, int first, int limit)
{
    return first + (int64_t)((rng_bits(key, (uint64_t)position) >> 32) * (uint64_t)limit >> 32);
}

static struct mat listed_index(struct tape *t, const char *name, struct row_range rows, int64_t cols,
                               int limit)
{
    int64_t *value = arena_alloc(t->metadata, (size_t)(rows.count * cols) * sizeof *value), *at = value;
    uint64_t key = tape_key(t, name);
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t k = 0; k < cols; k++)
            *at++ = integer_at(key, rows.list[i] * cols + k, 0, limit);
    return input_copy(t, name, I64, rows.count, cols, value);
}

const int64_t *drawn_types(struct tape *t, const char *name, struct row_range rows, const int *sizes,
                           int tables)
{
    int64_t *value = arena_alloc(t->metadata, (size_t)(rows.count * tables) * sizeof *value);
    for (int n = 0, first = 0; n < tables; first += sizes[n++]) {
        uint64_t key = rng_bits(tape_key(t, name), (uint64_t)n);
        for (int64_t i = 0; i < rows.count; i++)
            value[i * tables + n] =
                integer_at(key, rows.list ? rows.list[i] : rows.first + i, first, sizes[n]);
    }
    return value;
}

struct mat input_index(struct tape *t, const char *name, struct row_range rows, int64_t cols, int limit)
{
    if (rows.list)
        return listed_index(t, name, rows, cols, limit);
    struct mat m = declare(t, MEMORY_GRAPH, name, I64, rows.count, cols);
    struct uniform_index_args uniform = {.y = m, .key = key_from(t, m, rows), .limit = limit};
    tape_record_in(t, &t->init, OP_uniform_index, &uniform);
    return m;
}

/* Columns have keys of their own, those of the positions in the stream of the name. */
struct mat input_types(struct tape *t, const char *name, struct row_range rows, const int *sizes, int tables)
{
    if (rows.list)
        return input_copy(t, name, I64, rows.count, tables, drawn_types(t, name, rows, sizes, tables));
    struct mat m = declare(t, MEMORY_GRAPH, name, I64, rows.count, tables);
    for (int n = 0, first = 0; n < tables; first += sizes[n++]) {
        uint64_t key = rng_bits(key_of(t, m), (uint64_t)n);
        struct uniform_index_args uniform = {.y = mat_cols(m, n, 1),
                                             .key = rng_from(key, (uint64_t)rows.first),
                                             .first = first,
                                             .limit = sizes[n]};
        tape_record_in(t, &t->init, OP_uniform_index, &uniform);
    }
    return m;
}
