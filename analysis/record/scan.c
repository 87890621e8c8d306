/* Recursive descent. Functions return false after the first error and record its place and reason. */
#include "analysis/record/scan.h"

#include "analysis/record/plain.h"
#include "analysis/statistics/allocate.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>

/* A member's name as in the text, without its quotes; `plain` is unescaped. */
struct name {
    const char *start;
    size_t length;
    char *plain; /* null if there are no escapes */
};

struct scanner {
    const char *text, *at, *end;
    struct spans *numbers;
    scan_member *member; /* null: tells none */
    void *context;
    char path[SCAN_PATH]; /* of the open member */
    size_t path_length;
    bool only_numbers;  /* in the last array */
    struct name *names; /* of all open objects */
    size_t name_count;
    int depth;
    const char *wrong, *place; /* the first error */
};

static bool fail(struct scanner *s, const char *place, const char *wrong)
{
    s->place = place;
    s->wrong = wrong;
    return false;
}

static void note(struct scanner *s, const char *begin, double value, bool whole)
{
    struct spans *spans = s->numbers;
    spans->list = grow(spans->list, spans->count, sizeof *spans->list);
    spans->list[spans->count++] =
        (struct span){(size_t)(begin - s->text), (size_t)(s->at - s->text), value, whole};
}

static void skip_space(struct scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n'))
        s->at++;
}

/* Skips a character, if it is the next. */
static bool take(struct scanner *s, char c)
{
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

/* Appends digits to a number, which stays above 2^60 once it is. */
static bool take_digits(struct scanner *s, uint64_t *number)
{
    const char *begin = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (*number < 1ULL << 60)
            *number = 10 * *number + (uint64_t)(*s->at - '0');
    return s->at > begin;
}

size_t scan_character(const char *at, const char *end, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* smallest code of each length */
    if (at == end)
        return 0;
    unsigned char first = (unsigned char)*at;
    size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    uint32_t c = length == 1 ? first : first & (0x7fU >> length);
    if (length == 0 || (size_t)(end - at) < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | ((unsigned char)at[i] & 0x3f);
    }
    bool surrogate = c >= 0xd800 && c < 0xe000;
    *code = c;
    return c < least[length] || c > 0x10ffff || surrogate ? 0 : length;
}

char *scan_clean(const char *text)
{
    char *copy = copied(text), *end = copy + strlen(copy);
    uint32_t code;
    for (char *at = copy; at < end;) {
        size_t length = scan_character(at, end, &code);
        if (!length)
            *at = '?';
        at += length ? length : 1;
    }
    return copy;
}

/* The value of the four digits after \u; -1 if invalid. */
static int scan_hex(struct scanner *s)
{
    int code = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = s->at < s->end && *s->at ? strchr(digits, *s->at) : NULL;
        if (!digit)
            return -1;
        code = code << 4 | (int)((digit - digits) & 15);
    }
    return code;
}

static bool scan_escape(struct scanner *s)
{
    const char *begin = s->at++;
    if (s->at == s->end || !strchr("\"\\/bfnrtu", *s->at) || !*s->at)
        return fail(s, begin, "invalid escape");
    if (*s->at++ != 'u')
        return true;
    int code = scan_hex(s);
    if (code < 0)
        return fail(s, begin, "\\u needs four hexadecimal digits");
    if (code == 0)
        return fail(s, begin, "NUL in a string");
    if (code < 0xd800 || code >= 0xe000)
        return true;
    bool paired = code < 0xdc00 && take(s, '\\') && take(s, 'u');
    int second = paired ? scan_hex(s) : -1;
    return (second >= 0xdc00 && second < 0xe000) || fail(s, begin, "unpaired surrogate");
}

/* Scans a string; *escaped: it contains escapes. */
static bool scan_text(struct scanner *s, bool *escaped)
{
    const char *begin = s->at;
    uint32_t code;
    *escaped = false;
    if (!take(s, '"'))
        return fail(s, begin, "expected a string");
    while (s->at < s->end && *s->at != '"') {
        size_t length = (unsigned char)*s->at < 0x80 ? 1 : scan_character(s->at, s->end, &code);
        if (length == 0)
            return fail(s, s->at, "invalid UTF-8");
        if ((unsigned char)*s->at < ' ')
            return fail(s, s->at, "control character in a string");
        if (*s->at != '\\')
            s->at += length;
        else if (!scan_escape(s))
            return false;
        else
            *escaped = true;
    }
    return take(s, '"') || fail(s, begin, "unterminated string");
}

bool scan_is_integer(const char *number)
{
    return !strpbrk(number, ".eE");
}

/*
 * The value of a sound number of digits * 10^scale. If both are doubles, which few digits are, one operation
 * rounds as strtod does, and takes much less time (Clinger, "How to read floating point numbers accurately",
 * PLDI 1990). False if it is out of range.
 */
static bool value_of_number(const char *text, size_t length, bool whole, uint64_t digits, int64_t scale,
                            double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char copy[SCAN_NUMBER + 1];
    if (digits < 1ULL << 53 && scale >= -22 && scale <= 22) {
        *value = scale < 0 ? (double)digits / power[-scale] : (double)digits * power[scale];
        *value = *text == '-' ? -*value : *value;
        return true;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    *value = strtod(copy, NULL);
    return whole ? (errno = 0, strtoll(copy, NULL, 10), errno != ERANGE) : !isinf(*value);
}

static bool scan_number(struct scanner *s)
{
    const char *begin = s->at, *point;
    uint64_t digits = 0, exponent = 0;
    double value;
    take(s, '-');
    bool sound = take(s, '0') || take_digits(s, &digits), whole = true, less = false;
    int64_t scale = 0;
    if (sound && take(s, '.')) {
        whole = false;
        point = s->at;
        sound = take_digits(s, &digits);
        scale = point - s->at;
    }
    if (sound && (take(s, 'e') || take(s, 'E'))) {
        whole = false;
        if (!take(s, '+'))
            less = take(s, '-');
        sound = take_digits(s, &exponent);
    }
    size_t length = (size_t)(s->at - begin);
    if (!sound)
        return fail(s, begin, "invalid number");
    if (length > SCAN_NUMBER)
        return fail(s, begin, "number with too many digits");
    scale += less ? -(int64_t)exponent : (int64_t)exponent;
    if (!value_of_number(begin, length, whole, digits, scale, &value))
        return fail(s, begin, whole ? "integer out of range" : "real number out of range");
    note(s, begin, value, whole);
    return true;
}

static bool scan_word(struct scanner *s, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(s->end - s->at) < length || strncmp(s->at, word, length) != 0)
        return fail(s, s->at, "expected a value");
    s->at += length;
    return true;
}

static bool scan_value(struct scanner *s);

static bool scan_array(struct scanner *s)
{
    scan_member *member = s->member;
    bool numbers = true;
    s->only_numbers = true;
    skip_space(s);
    if (take(s, ']'))
        return true;
    s->member = NULL;
    do {
        skip_space(s);
        numbers = numbers && s->at < s->end && (*s->at == '-' || (*s->at >= '0' && *s->at <= '9'));
        if (!scan_value(s))
            return false;
        skip_space(s);
    } while (take(s, ','));
    s->member = member;
    s->only_numbers = numbers;
    return take(s, ']') || fail(s, s->at, "expected , or ] in an array");
}

static int by_name(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    const char *p = x->plain ? x->plain : x->start, *q = y->plain ? y->plain : y->start;
    int order = memcmp(p, q, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Removes the names of an object, except the `first` ones before it. False on a duplicate. */
static bool close_names(struct scanner *s, size_t first)
{
    size_t count = s->name_count - first;
    const char *twice = NULL;
    if (count == 0)
        return true;
    struct name *names = s->names + first;
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count && !twice; i++)
        if (by_name(&names[i - 1], &names[i]) == 0)
            twice = names[i].start > names[i - 1].start ? names[i].start : names[i - 1].start;
    for (size_t i = 0; i < count; i++)
        free(names[i].plain);
    s->name_count = first;
    return !twice || fail(s, twice, "duplicate key");
}

char *scan_unquoted(const char *begin, const char *end)
{
    size_t length = (size_t)(end - begin);
    if (!memchr(begin, '\\', length))
        return copied_part(begin + 1, length - 2);
    cJSON *text = cJSON_ParseWithLength(begin, length);
    char *plain = text ? copied(text->valuestring) : NULL;
    cJSON_Delete(text);
    return plain;
}

static bool scan_name(struct scanner *s)
{
    const char *begin = s->at;
    bool escaped;
    if (!scan_text(s, &escaped))
        return false;
    struct name name = {.start = begin + 1, .length = (size_t)(s->at - begin) - 2};
    if (escaped) {
        name.plain = scan_unquoted(begin, s->at);
        name.length = strlen(name.plain);
    }
    s->names = grow(s->names, s->name_count, sizeof *s->names);
    s->names[s->name_count++] = name;
    return true;
}

/* Adds the last name to the path. */
static void extend_path(struct scanner *s)
{
    const struct name *name = &s->names[s->name_count - 1];
    size_t before = s->path_length, dot = before > 0;
    s->path_length += dot + name->length;
    if (s->path_length >= SCAN_PATH)
        return;
    memset(s->path + before, '.', dot);
    memcpy(s->path + before + dot, name->plain ? name->plain : name->start, name->length);
}

/* Tells the open member, whose numbers are those after the first so many. */
static void tell_member(struct scanner *s, const char *begin, size_t first)
{
    const struct span *list = s->numbers->list; /* null before the first number */
    struct scanned value = {SCANNED_OTHER, begin, s->at, first ? list + first : list,
                            s->numbers->count - first};
    value.kind = *begin == '"'                       ? SCANNED_TEXT
                 : *begin == '{'                     ? SCANNED_OBJECT
                 : *begin == '[' && s->only_numbers  ? SCANNED_NUMBERS
                 : *begin != '[' && value.count == 1 ? SCANNED_NUMBER
                                                     : SCANNED_OTHER;
    s->numbers->count = first;
    if (s->path_length >= SCAN_PATH)
        return;
    s->path[s->path_length] = '\0';
    s->member(s->context, s->path, &value);
}

static bool scan_members(struct scanner *s)
{
    size_t path = s->path_length, first = s->numbers->count;
    skip_space(s);
    if (take(s, '}'))
        return true;
    do {
        skip_space(s);
        if (!scan_name(s))
            return false;
        skip_space(s);
        if (!take(s, ':'))
            return fail(s, s->at, "expected : after a key");
        skip_space(s);
        const char *begin = s->at;
        extend_path(s);
        if (!scan_value(s))
            return false;
        if (s->member)
            tell_member(s, begin, first);
        s->path_length = path;
        skip_space(s);
    } while (take(s, ','));
    return take(s, '}') || fail(s, s->at, "expected , or } in an object");
}

static bool scan_object(struct scanner *s)
{
    size_t first = s->name_count;
    bool sound = scan_members(s);
    return close_names(s, first) && sound;
}

static bool scan_value(struct scanner *s)
{
    bool escaped, sound;
    char c = s->at < s->end ? *s->at : '\0';
    if (c == '"')
        return scan_text(s, &escaped);
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(s);
    if (c != '{' && c != '[')
        return scan_word(s, c == 't' ? "true" : c == 'f' ? "false" : "null");
    if (s->depth == SCAN_DEPTH)
        return fail(s, s->at, "nested too deeply");
    s->depth++;
    s->at++;
    sound = c == '{' ? scan_object(s) : scan_array(s);
    s->depth--;
    return sound;
}

bool scan_json(const char *text, size_t size, struct spans *numbers, scan_member *member, void *context,
               char *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
    struct scanner s = {.text = text,
                        .at = text,
                        .end = text + size,
                        .numbers = numbers,
                        .member = member,
                        .context = context};
    if (size >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0)
        s.at += strlen(mark);
    skip_space(&s);
    bool wide = size > 1 && (!text[0] != !text[1] || memcmp(text, "\xff\xfe", 2) == 0 ||
                             memcmp(text, "\xfe\xff", 2) == 0);
    bool sound = wide ? fail(&s, text, "text in UTF-16: save it as UTF-8") : scan_value(&s);
    skip_space(&s);
    if (sound && s.at < s.end)
        sound = fail(&s, s.at, "unexpected data after the value");
    free(s.names);
    if (sound)
        return true;
    int line = 1;
    for (const char *at = text; at < s.place; at++)
        line += *at == '\n';
    snprintf(error, MESSAGE_SIZE, "not JSON: line %d: %s%s", line, s.wrong,
             s.place == s.end ? " at the end of the text" : "");
    return false;
}
