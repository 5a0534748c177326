/* grammar.c - kernels from text and back. The parser walks the text once, from left to right; a number is taken whole
 * before the next sign is looked at, so the '+' of 1e+5 is no sum. What it accepts is what sk_kernel_format writes. */
#include "kernel/terms.h"
#include "la/la.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum key { KEY_ETA, KEY_DEGREE, KEY_P, KEY_M, KEY_OF, KEY_SEED, KEY_SCALE, KEY_B, KEYS };

static const char *const key_name[KEYS] = {"eta", "degree", "p", "m", "of", "seed", "scale", "B"};

#define BIT(key) (1u << (key))

static const struct family_row {
    const char *name;
    bool closed;
    unsigned keys;
} family_table[] = {
    [SK_GAUSS] = {"gauss", true, BIT(KEY_ETA) | BIT(KEY_SCALE) | BIT(KEY_B)},
    [SK_POLY] = {"poly", true, BIT(KEY_DEGREE) | BIT(KEY_SCALE) | BIT(KEY_B)},
    [SK_LINEAR] = {"linear", true, BIT(KEY_SCALE) | BIT(KEY_B)},
    [SK_AFFINE] = {"affine", true, BIT(KEY_SCALE) | BIT(KEY_B)},
    [SK_CONSTANT] = {"constant", true, BIT(KEY_SCALE) | BIT(KEY_B)},
    [SK_FOURIER] = {"fourier", false, BIT(KEY_P) | BIT(KEY_ETA) | BIT(KEY_SEED) | BIT(KEY_SCALE)},
    [SK_NYSTROM] = {"nystrom", false,
                    BIT(KEY_M) | BIT(KEY_OF) | BIT(KEY_ETA) | BIT(KEY_DEGREE) | BIT(KEY_SEED) | BIT(KEY_SCALE)},
    [SK_CURLFREE] = {"curlfree", false, BIT(KEY_ETA) | BIT(KEY_SCALE)},
    [SK_DIVFREE] = {"divfree", false, BIT(KEY_ETA) | BIT(KEY_SCALE)},
    [SK_CALLBACK] = {"callback", false, 0},
};

enum { NAMED = SK_CALLBACK }; /* families of the grammar: all rows before the user's own */

static const char number_range[] = "a number > 0 (1e-100 to 1e100)";

const char *sk_family_name(sk_family family) { return family_table[family].name; }

bool sk_family_is_closed(sk_family family) { return family_table[family].closed; }

sk_family sk_term_base(const sk_term *term) { return term->family == SK_NYSTROM ? term->of : term->family; }

bool sk_term_needs_eta(const sk_term *term) { return (family_table[sk_term_base(term)].keys & BIT(KEY_ETA)) != 0; }

/* ---- Words and failures ---- */

typedef struct parser {
    sock_context *ctx;
    const char *option, *text, *at;
} parser;

static size_t place(const parser *s, const char *at) { return (size_t)(at - s->text) + 1; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t word_length(const char *at)
{
    size_t n = 0;
    while (is_letter(at[n]) || (n && is_digit(at[n]))) n++;
    return n;
}

static bool word_is(const char *at, size_t n, const char *name) { return strlen(name) == n && !strncmp(at, name, n); }

/* For messages: the text up to the next sign, and not more than fits in a line. */
static int shown(const char *at)
{
    size_t n = strcspn(at, ",+");
    return (int)SK_MIN(n, 40);
}

static void skip_spaces(parser *s)
{
    while (*s->at == ' ') s->at++;
}

static bool at_end_of_value(const char *at) { return !*at || *at == ',' || *at == '+' || *at == ' '; }

/* Names of the families or keys of a set, separated by ", ". */
static const char *list_names(char *buffer, size_t size, size_t count, const char *(*name)(size_t), unsigned set)
{
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(set & BIT(i))) continue;
        const char *word = name(i);
        size_t n = strlen(word);
        assert(used + n + 3 <= size);
        if (used) memcpy(buffer + used, ", ", 2), used += 2;
        memcpy(buffer + used, word, n + 1);
        used += n;
    }
    (void)size;
    return buffer;
}

static const char *name_of_family(size_t i) { return family_table[i].name; }
static const char *name_of_key(size_t i) { return key_name[i]; }

static unsigned closed_families(void)
{
    unsigned set = 0;
    for (unsigned i = 0; i < NAMED; i++)
        if (family_table[i].closed) set |= BIT(i);
    return set;
}

static sock_status bad_value(const parser *s, enum key key, const char *at, const char *allowed)
{
    return sk_fail(s->ctx, SOCK_EUSAGE, "%s: %s is '%.*s'; allowed: %s", s->option, key_name[key], shown(at), at,
                   allowed);
}

/* ---- Values ---- */

static sock_status parse_family(parser *s, unsigned set, const char *what, sk_family *out)
{
    char names[128];
    size_t n = word_length(s->at);
    for (unsigned i = 0; i < NAMED; i++)
        if ((set & BIT(i)) && word_is(s->at, n, family_table[i].name)) {
            *out = (sk_family)i;
            s->at += n;
            return SOCK_OK;
        }
    list_names(names, sizeof names, NAMED, name_of_family, set);
    if (!n)
        return sk_fail(s->ctx, SOCK_EUSAGE, "%s: a kernel's name is missing at character %zu; allowed: %s", s->option,
                       place(s, s->at), names);
    return sk_fail(s->ctx, SOCK_EUSAGE, "%s: unknown %s '%.*s' at character %zu; allowed: %s", s->option, what,
                   (int)SK_MIN(n, 40), s->at, place(s, s->at), names);
}

static sock_status parse_positive(parser *s, enum key key, double *out)
{
    const char *end;
    double value = sk_parse_double(s->at, &end);
    if (end == s->at || !at_end_of_value(end) || !(value >= 1e-100 && value <= 1e100))
        return bad_value(s, key, s->at, number_range);
    *out = value;
    s->at = end;
    return SOCK_OK;
}

static sock_status parse_count(parser *s, enum key key, uint64_t low, uint64_t high, uint64_t *out)
{
    const char *p = s->at;
    uint64_t value = 0;
    bool fits = is_digit(*p);
    for (; is_digit(*p); p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        fits = fits && value <= (UINT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    if (!fits || !at_end_of_value(p) || value < low || value > high) {
        char allowed[80];
        snprintf(allowed, sizeof allowed, "a whole number from %llu to %llu", (unsigned long long)low,
                 (unsigned long long)high);
        return bad_value(s, key, s->at, allowed);
    }
    *out = value;
    s->at = p;
    return SOCK_OK;
}

static sock_status bad_matrix(const parser *s, const char *at, const char *reason)
{
    return sk_fail(s->ctx, SOCK_EUSAGE,
                   "%s: B at character %zu %s; allowed: [b11 b12;b21 b22], symmetric, positive "
                   "semi-definite, of the order of the state",
                   s->option, place(s, at), reason);
}

/* Numbers of [a b;c d] into *values, row after row; every row as long as the first. */
static sock_status read_matrix(parser *s, double **values, size_t *rows, size_t *cols)
{
    size_t capacity = 0, count = 0, row_start = 0;
    const char *begin = s->at;
    *rows = *cols = 0;
    if (*s->at++ != '[') return bad_matrix(s, begin, "does not start with '['");
    for (;;) {
        skip_spaces(s);
        if (*s->at == ';' || *s->at == ']') {
            if (!*rows) *cols = count;
            if (count == row_start || count - row_start != *cols)
                return bad_matrix(s, begin, "has rows of unequal length");
            ++*rows;
            row_start = count;
            if (*s->at++ == ']') return SOCK_OK;
            continue;
        }
        const char *end;
        double value = sk_parse_double(s->at, &end);
        if (end == s->at || !isfinite(value) || (*end != ' ' && *end != ';' && *end != ']'))
            return bad_matrix(s, begin, "holds something that is not a number, or has no ']'");
        SK_TRY(sk_grow(s->ctx, values, &capacity, count + 1, sizeof **values));
        (*values)[count++] = value;
        s->at = end;
    }
}

/* B must be symmetric and positive semi-definite to rounding (1e-12 of its largest eigenvalue); it is made symmetric
 * exactly. */
static sock_status check_matrix(parser *s, const char *begin, size_t n, double *b)
{
    double largest = 0;
    for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(b[i]));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            if (!(fabs(b[i * n + j] - b[j * n + i]) <= 1e-12 * largest))
                return bad_matrix(s, begin, "is not symmetric");
            if (b[i * n + j] != b[j * n + i]) b[i * n + j] = b[j * n + i] = 0.5 * b[i * n + j] + 0.5 * b[j * n + i];
        }
    double *copy = sk_doubles(s->ctx, n, n), *values = sk_doubles(s->ctx, n, 1);
    sock_status status = copy && values ? SOCK_OK : SOCK_ENOMEM;
    if (status == SOCK_OK) {
        memcpy(copy, b, n * n * sizeof *b);
        status = sk_eigh(s->ctx, n, copy, n, values);
    }
    if (status == SOCK_OK && !(values[0] >= -1e-12 * fmax(values[n - 1], 0)))
        status = bad_matrix(s, begin, "is not positive semi-definite");
    sk_free(copy);
    sk_free(values);
    return status;
}

static sock_status parse_matrix(parser *s, sk_term *term)
{
    const char *begin = s->at;
    size_t rows, cols;
    SK_TRY(read_matrix(s, &term->b, &rows, &cols));
    if (!at_end_of_value(s->at)) return bad_matrix(s, begin, "is followed by something");
    if (rows != cols) return bad_matrix(s, begin, "is not square");
    term->b_dim = rows;
    return check_matrix(s, begin, rows, term->b);
}

static sock_status parse_value(parser *s, enum key key, sk_term *term)
{
    uint64_t number = 0;
    switch (key) {
    case KEY_ETA: return parse_positive(s, key, &term->eta);
    case KEY_SCALE: return parse_positive(s, key, &term->scale);
    case KEY_SEED: return parse_count(s, key, 0, UINT64_MAX, &term->seed);
    case KEY_DEGREE:
        SK_TRY(parse_count(s, key, 1, SK_MAX_DEGREE, &number));
        term->degree = (size_t)number;
        return SOCK_OK;
    case KEY_P:
    case KEY_M:
        SK_TRY(parse_count(s, key, 1, SK_MAX_FEATURES, &number));
        term->p = (size_t)number;
        return SOCK_OK;
    case KEY_OF: {
        SK_TRY(parse_family(s, closed_families(), "kernel", &term->of));
        return at_end_of_value(s->at) ? SOCK_OK : bad_value(s, key, s->at, "a kernel's name");
    }
    default: return parse_matrix(s, term);
    }
}

/* ---- Terms and sums ---- */

static sock_status unknown_key(const parser *s, const char *family, unsigned keys)
{
    char names[64];
    size_t n = word_length(s->at);
    list_names(names, sizeof names, KEYS, name_of_key, keys);
    if (!n)
        return sk_fail(s->ctx, SOCK_EUSAGE, "%s: a parameter's name is missing at character %zu; %s takes: %s",
                       s->option, place(s, s->at), family, names);
    return sk_fail(s->ctx, SOCK_EUSAGE, "%s: %s has no parameter '%.*s'; allowed: %s", s->option, family,
                   (int)SK_MIN(n, 40), s->at, names);
}

static sock_status parse_key(parser *s, sk_term *term, unsigned *seen)
{
    const struct family_row *row = &family_table[term->family];
    size_t n = word_length(s->at), key = 0;
    while (key < KEYS && !((row->keys & BIT(key)) && word_is(s->at, n, key_name[key]))) key++;
    if (key == KEYS) return unknown_key(s, row->name, row->keys);
    if (*seen & BIT(key))
        return sk_fail(s->ctx, SOCK_EUSAGE, "%s: %s is given twice, again at character %zu", s->option, key_name[key],
                       place(s, s->at));
    if (s->at[n] != '=')
        return sk_fail(s->ctx, SOCK_EUSAGE, "%s: '=' is missing behind %s at character %zu", s->option, key_name[key],
                       place(s, s->at + n));
    *seen |= BIT(key);
    s->at += n + 1;
    return parse_value(s, (enum key)key, term);
}

/* The parameters of nystrom are its own and those of the kernel it stands for. */
static sock_status check_nystrom(const parser *s, const sk_term *term, unsigned seen)
{
    unsigned foreign = seen & (BIT(KEY_ETA) | BIT(KEY_DEGREE)) & ~family_table[term->of].keys;
    if (term->family != SK_NYSTROM || !foreign) return SOCK_OK;
    return sk_fail(s->ctx, SOCK_EUSAGE, "%s: nystrom of %s has no parameter '%s'", s->option,
                   family_table[term->of].name, foreign & BIT(KEY_ETA) ? "eta" : "degree");
}

static sock_status parse_term(parser *s, sk_term *term)
{
    unsigned seen = 0;
    *term = (sk_term){.of = SK_GAUSS, .eta = (double)NAN, .scale = 1, .degree = 2};
    skip_spaces(s);
    SK_TRY(parse_family(s, BIT(NAMED) - 1, "kernel", &term->family));
    if (term->family == SK_FOURIER) term->p = 100;
    if (*s->at == ':') {
        do {
            s->at++;
            SK_TRY(parse_key(s, term, &seen));
        } while (*s->at == ',');
    }
    skip_spaces(s);
    if (*s->at && *s->at != '+')
        return sk_fail(s->ctx, SOCK_EUSAGE,
                       "%s: '%.*s' at character %zu is not understood behind %s; allowed: a "
                       "parameter (:key=value,...), + and another kernel, or the end",
                       s->option, shown(s->at), s->at, place(s, s->at), family_table[term->family].name);
    return check_nystrom(s, term, seen);
}

/* fourier and nystrom have features instead of a formula: they join with what has features too, and with nothing else.
 */
static sock_status check_sum(const parser *s, const sk_kernel *kernel)
{
    const char *mapped = NULL, *unmapped = NULL;
    for (size_t i = 0; i < kernel->terms; i++) {
        const sk_term *t = &kernel->term[i];
        const char *name = family_table[t->family].name;
        if (t->family == SK_FOURIER || t->family == SK_NYSTROM)
            mapped = name;
        else if (!family_table[t->family].closed || t->family == SK_GAUSS || t->b)
            unmapped = t->b ? "a term with B" : name;
    }
    if (!mapped || !unmapped) return SOCK_OK;
    return sk_fail(s->ctx, SOCK_EUSAGE,
                   "%s: %s has features and %s has none, so they cannot be added; allowed beside "
                   "%s: poly, linear, affine, constant, fourier, nystrom (without B)",
                   s->option, mapped, unmapped, mapped);
}

sock_status sk_kernel_parse(sock_context *ctx, const char *option, const char *text, sk_kernel **out)
{
    parser s = {.ctx = ctx, .option = option, .text = text, .at = text};
    size_t capacity = 0;
    sock_status status = SOCK_OK;
    sk_kernel *kernel = sk_alloc(ctx, 1, sizeof *kernel);
    if (!kernel) return SOCK_ENOMEM;
    for (;;) {
        SK_GO(sk_grow(ctx, &kernel->term, &capacity, kernel->terms + 1, sizeof *kernel->term));
        kernel->terms++;
        SK_GO(parse_term(&s, &kernel->term[kernel->terms - 1]));
        if (!*s.at) break;
        s.at++; /* the + */
    }
    SK_GO(check_sum(&s, kernel));
out:
    if (status < 0)
        sk_kernel_free(kernel);
    else
        *out = kernel;
    return status;
}

/* ---- Making, copying, freeing ---- */

sock_status sk_kernel_from_terms(sock_context *ctx, size_t count, const sk_term *terms, sk_kernel **out)
{
    sk_kernel *kernel = sk_alloc(ctx, 1, sizeof *kernel);
    if (!kernel) return SOCK_ENOMEM;
    kernel->term = sk_alloc(ctx, count, sizeof *kernel->term);
    if (!kernel->term) goto fail;
    for (; kernel->terms < count; kernel->terms++) {
        const sk_term *from = &terms[kernel->terms];
        sk_term *to = &kernel->term[kernel->terms];
        *to = *from;
        if (!from->b) continue;
        to->b = sk_doubles(ctx, from->b_dim, from->b_dim);
        if (!to->b) goto fail;
        memcpy(to->b, from->b, from->b_dim * from->b_dim * sizeof *to->b);
    }
    *out = kernel;
    return SOCK_OK;
fail:
    sk_kernel_free(kernel);
    return SOCK_ENOMEM;
}

sock_status sk_kernel_from_callback(sock_context *ctx, sock_matrix_kernel_fn fn, void *user, sk_kernel **out)
{
    assert(fn);
    const sk_term term = {
        .family = SK_CALLBACK, .eta = (double)NAN, .scale = 1, .degree = 2, .callback = fn, .callback_user = user};
    return sk_kernel_from_terms(ctx, 1, &term, out);
}

sock_status sk_kernel_copy(sock_context *ctx, const sk_kernel *kernel, sk_kernel **out)
{
    return sk_kernel_from_terms(ctx, kernel->terms, kernel->term, out);
}

void sk_kernel_free(sk_kernel *kernel)
{
    if (!kernel) return;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a kernel with terms has the array
    for (size_t i = 0; i < kernel->terms; i++) sk_free(kernel->term[i].b);
    sk_free(kernel->term);
    sk_free(kernel);
}

/* ---- Writing ---- */

typedef struct writer {
    sock_context *ctx;
    char *text;
    size_t length, capacity;
    bool failed, first; /* first: the next parameter is the term's first */
} writer;

static void put(writer *w, const char *text)
{
    size_t n = strlen(text);
    if (w->failed || sk_grow(w->ctx, &w->text, &w->capacity, w->length + n + 1, 1) < 0) {
        w->failed = true;
        return;
    }
    memcpy(w->text + w->length, text, n + 1);
    w->length += n;
}

static void put_key(writer *w, enum key key)
{
    put(w, w->first ? ":" : ",");
    put(w, key_name[key]);
    put(w, "=");
    w->first = false;
}

static void put_number(writer *w, double value)
{
    char buffer[32];
    sk_print_double(buffer, value);
    put(w, buffer);
}

static void put_count(writer *w, enum key key, uint64_t value)
{
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%llu", (unsigned long long)value);
    put_key(w, key);
    put(w, buffer);
}

static void put_matrix(writer *w, size_t n, const double *b)
{
    put_key(w, KEY_B);
    for (size_t i = 0; i < n * n; i++) {
        put(w, i == 0 ? "[" : i % n ? " " : ";");
        put_number(w, b[i]);
    }
    put(w, "]");
}

static void put_term(writer *w, const sk_term *term)
{
    w->first = true;
    put(w, family_table[term->family].name);
    if (term->family == SK_FOURIER) put_count(w, KEY_P, term->p);
    if (term->family == SK_NYSTROM) {
        if (term->p) put_count(w, KEY_M, term->p);
        put_key(w, KEY_OF);
        put(w, family_table[term->of].name);
    }
    if (sk_term_needs_eta(term) && isfinite(term->eta)) put_key(w, KEY_ETA), put_number(w, term->eta);
    if (sk_term_base(term) == SK_POLY) put_count(w, KEY_DEGREE, term->degree);
    if (family_table[term->family].keys & BIT(KEY_SEED)) put_count(w, KEY_SEED, term->seed);
    if (term->scale != 1) put_key(w, KEY_SCALE), put_number(w, term->scale);
    if (term->b) put_matrix(w, term->b_dim, term->b);
}

char *sk_kernel_format(sock_context *ctx, const sk_kernel *kernel)
{
    writer w = {.ctx = ctx};
    for (size_t i = 0; i < kernel->terms; i++) {
        if (i) put(&w, "+");
        put_term(&w, &kernel->term[i]);
    }
    if (!w.failed) return w.text;
    sk_free(w.text);
    return NULL;
}

/* ---- What a kernel is ---- */

bool sk_kernel_is_matrix(const sk_kernel *kernel)
{
    for (size_t i = 0; i < kernel->terms; i++) {
        sk_family family = kernel->term[i].family;
        if (kernel->term[i].b || family == SK_CURLFREE || family == SK_DIVFREE || family == SK_CALLBACK) return true;
    }
    return false;
}

bool sk_kernel_is_closed(const sk_kernel *kernel)
{
    for (size_t i = 0; i < kernel->terms; i++)
        if (!family_table[kernel->term[i].family].closed || kernel->term[i].b) return false;
    return true;
}

bool sk_kernel_has_features(const sk_kernel *kernel)
{
    for (size_t i = 0; i < kernel->terms; i++) {
        sk_family family = kernel->term[i].family;
        bool exact = family_table[family].closed && family != SK_GAUSS;
        if (kernel->term[i].b || !(exact || family == SK_FOURIER)) return false;
    }
    return true;
}

bool sk_kernel_is_implicit(const sk_kernel *kernel)
{
    bool gauss = false;
    for (size_t i = 0; i < kernel->terms; i++) gauss = gauss || kernel->term[i].family == SK_GAUSS;
    return gauss && sk_kernel_is_closed(kernel);
}
