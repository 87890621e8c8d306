/*
 * The file is {"calibrations": [...]}, for each set of conditions one for each state of the machine. It is a
 * cache: what cannot be read, or is not a calibration, is measured again.
 */
#include "bench/machine/calibration.h"

/* A file with an array of calibrations; empty if there are none. To be freed. */
static struct value *load(const char *path)
{
    char ignored[MESSAGE_SIZE];
    struct value *file = value_load(path, ignored);
    if (value_kind(value_get(file, "calibrations")) == VALUE_ARRAY)
        return file;
    value_free(file);
    file = value_new_object();
    value_set(file, "calibrations", value_new_array());
    return file;
}

int calibration_load(const char *path, const struct calibration *conditions,
                     struct calibration list[CALIBRATION_STATES])
{
    struct value *file = load(path);
    int count = 0;
    for (struct walk w = value_walk(value_get(file, "calibrations"));
         count < CALIBRATION_STATES && walk_next(&w);)
        count +=
            calibration_read(w.value, &list[count]) && calibration_same_conditions(&list[count], conditions);
    value_free(file);
    return count;
}

bool calibration_save(const char *path, const struct calibration *list, int count, struct message *error)
{
    struct calibration other;
    struct value *old = load(path), *file = value_new_object(), *all = value_new_array();
    for (struct walk w = value_walk(value_get(old, "calibrations")); walk_next(&w);)
        if (calibration_read(w.value, &other) && !calibration_same_conditions(&other, list))
            value_append(all, value_copy(w.value));
    for (int i = 0; i < count; i++)
        value_append(all, calibration_json(&list[i]));
    value_set(file, "calibrations", all);
    bool saved = value_save(file, path, 1, error->text);
    value_free(old);
    value_free(file);
    return saved;
}
