/* grammar.c - kernels from text and back. The parser walks the text once, from left to right; a number is taken whole
 * before the next sign is looked at, so the '+' of 1e+5 is no sum. What it accepts is what sk_kernel_format writes. */
#include "base/nearest.h"
#include "kernel/family.h"
#include "la/la.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const key_name[SK_KEYS] = {"eta", "degree", "p", "m", "of", "seed", "scale", "B", "in", "bounds"};

static const char number_range[] = "a number > 0 (1e-100 to 1e100)";

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

/* Names of a set of keys, separated by ", ". */
static const char *list_keys(char *buffer, size_t size, unsigned keys)
{
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < SK_KEYS; i++) {
        if (!(keys & SK_BIT(i))) continue;
        int n = snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", key_name[i]);
        used = SK_MIN(used + (size_t)n, size - 1);
    }
    return buffer;
}

static sock_status bad_value(const parser *s, sk_key_name key, const char *at, const char *allowed)
{
    return sk_fail(s->ctx, SOCK_EUSAGE, "%s: %s is '%.*s'; allowed: %s", s->option, key_name[key], shown(at), at,
                   allowed);
}

/* ---- Values ---- */

/* The name of a family of that kind. */
static sock_status parse_family(parser *s, sk_kind kind, const sk_family **out)
{
    char names[SK_NAMES], meant[SK_MEANT_ROOM];
    size_t n = word_length(s->at);
    for (const sk_family *const *row = sk_families; *row; row++)
        if (sk_family_is(*row, kind) && word_is(s->at, n, (*row)->name)) {
            *out = *row;
            s->at += n;
            return SOCK_OK;
        }
    sk_kernel_names(kind, ", ", names);
    if (!n)
        return sk_fail(s->ctx, SOCK_EUSAGE, "%s: a kernel's name is missing at character %zu; allowed: %s", s->option,
                       place(s, s->at), names);
    sk_nearest near = sk_nearest_to(s->at, n);
    for (const sk_family *const *row = sk_families; *row; row++)
        if (sk_family_is(*row, kind)) sk_nearest_try(&near, (*row)->name);
    return sk_fail(s->ctx, SOCK_EUSAGE, "%s: unknown kernel '%.*s' at character %zu%s; allowed: %s", s->option,
                   (int)SK_MIN(n, 40), s->at, place(s, s->at), sk_meant(&near, meant), names);
}

static sock_status parse_positive(parser *s, sk_key_name key, double *out)
{
    const char *end;
    double value = sk_parse_double(s->at, &end);
    if (end == s->at || !at_end_of_value(end) || !(value >= 1e-100 && value <= 1e100))
        return bad_value(s, key, s->at, number_range);
    *out = value;
    s->at = end;
    return SOCK_OK;
}

static sock_status parse_count(parser *s, sk_key_name key, uint64_t low, uint64_t high, uint64_t *out)
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

static sock_status parse_in(parser *s, sk_term *term)
{
    static const char word[] = "root";
    if (strncmp(s->at, word, sizeof word - 1) != 0 || !at_end_of_value(s->at + sizeof word - 1))
        return bad_value(s, SK_KEY_IN, s->at, word);
    term->root = true;
    s->at += sizeof word - 1;
    return SOCK_OK;
}

static sock_status parse_sides(parser *s, sk_term *term)
{
    const size_t n = strspn(s->at, "lub-.");
    if (!n || n > SK_MOST_SIDES || !at_end_of_value(s->at + n))
        return bad_value(
            s, SK_KEY_BOUNDS, s->at,
            "a letter for each of at most 64 states: l (lower), u (upper), b (both), - (none) or . (left out)");
    memcpy(term->sides, s->at, n);
    term->sides[n] = 0;
    s->at += n;
    return SOCK_OK;
}

static sock_status parse_value(parser *s, sk_key_name key, sk_term *term)
{
    uint64_t number = 0;
    switch (key) {
    case SK_KEY_ETA: return parse_positive(s, key, &term->eta);
    case SK_KEY_SCALE: return parse_positive(s, key, &term->scale);
    case SK_KEY_SEED: return parse_count(s, key, 0, UINT64_MAX, &term->seed);
    case SK_KEY_DEGREE:
        SK_TRY(parse_count(s, key, 1, SK_MAX_DEGREE, &number));
        term->degree = (size_t)number;
        return SOCK_OK;
    case SK_KEY_P:
    case SK_KEY_M:
        SK_TRY(parse_count(s, key, 1, SK_MAX_FEATURES, &number));
        term->p = (size_t)number;
        return SOCK_OK;
    case SK_KEY_OF: {
        SK_TRY(parse_family(s, SK_KIND_CLOSED, &term->of));
        return at_end_of_value(s->at) ? SOCK_OK : bad_value(s, key, s->at, "a kernel's name");
    }
    case SK_KEY_IN: return parse_in(s, term);
    case SK_KEY_BOUNDS: return parse_sides(s, term);
    default: return parse_matrix(s, term);
    }
}

/* ---- Terms and sums ---- */

static sock_status unknown_key(const parser *s, const sk_family *family)
{
    char names[96], meant[SK_MEANT_ROOM];
    size_t n = word_length(s->at);
    sk_nearest near = sk_nearest_to(s->at, n);
    for (size_t key = 0; key < SK_KEYS; key++)
        if (family->keys & SK_BIT(key)) sk_nearest_try(&near, key_name[key]);
    list_keys(names, sizeof names, family->keys);
    if (!n)
        return sk_fail(s->ctx, SOCK_EUSAGE, "%s: a parameter's name is missing at character %zu; %s takes: %s",
                       s->option, place(s, s->at), family->name, names);
    return sk_fail(s->ctx, SOCK_EUSAGE, "%s: %s has no parameter '%.*s'%s; allowed: %s", s->option, family->name,
                   (int)SK_MIN(n, 40), s->at, sk_meant(&near, meant), names);
}

static sock_status parse_key(parser *s, sk_term *term, unsigned *seen)
{
    size_t n = word_length(s->at), key = 0;
    while (key < SK_KEYS && !((term->family->keys & SK_BIT(key)) && word_is(s->at, n, key_name[key]))) key++;
    if (key == SK_KEYS) return unknown_key(s, term->family);
    if (*seen & SK_BIT(key))
        return sk_fail(s->ctx, SOCK_EUSAGE, "%s: %s is given twice, again at character %zu", s->option, key_name[key],
                       place(s, s->at));
    if (s->at[n] != '=')
        return sk_fail(s->ctx, SOCK_EUSAGE, "%s: '=' is missing behind %s at character %zu", s->option, key_name[key],
                       place(s, s->at + n));
    *seen |= SK_BIT(key);
    s->at += n + 1;
    return parse_value(s, (sk_key_name)key, term);
}

/* The parameters of a family that takes `of` are its own and those of the kernel it stands for. */
static sock_status check_of(const parser *s, const sk_term *term, unsigned seen)
{
    const unsigned foreign = seen & (SK_BIT(SK_KEY_ETA) | SK_BIT(SK_KEY_DEGREE)) & ~sk_term_base(term)->keys;
    if (!sk_family_takes(term->family, SK_KEY_OF) || !foreign) return SOCK_OK;
    return sk_fail(s->ctx, SOCK_EUSAGE, "%s: %s of %s has no parameter '%s'", s->option, term->family->name,
                   term->of->name, foreign & SK_BIT(SK_KEY_ETA) ? "eta" : "degree");
}

/* Bounds mean nothing to a kernel that does not know them. */
static sock_status check_bounded(const parser *s, const sk_term *term, unsigned seen)
{
    if (term->b && term->root)
        return sk_fail(s->ctx, SOCK_EUSAGE, "%s: %s takes in=root or B, not both", s->option, term->family->name);
    if (!(seen & SK_BIT(SK_KEY_BOUNDS)) || sk_term_is_bounded(term)) return SOCK_OK;
    return sk_fail(s->ctx, SOCK_EUSAGE, "%s: %s takes bounds with in=root only", s->option, term->family->name);
}

static sock_status parse_term(parser *s, sk_term *term)
{
    unsigned seen = 0;
    *term = (sk_term){.of = &sk_gauss_family, .eta = (double)NAN, .scale = 1, .degree = 2};
    skip_spaces(s);
    SK_TRY(parse_family(s, SK_KIND_NAMED, &term->family));
    term->p = term->family->p;
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
                       s->option, shown(s->at), s->at, place(s, s->at), term->family->name);
    SK_TRY(check_bounded(s, term, seen));
    return check_of(s, term, seen);
}

/* Rates stand alone, roots with roots of the same states. */
static sock_status check_roots(const parser *s, const sk_kernel *kernel)
{
    const sk_term *first = &kernel->term[0];
    for (size_t i = 1; i < kernel->terms; i++) {
        const sk_term *t = &kernel->term[i];
        if (t->family->separate || first->family->separate)
            return sk_fail(s->ctx, SOCK_EUSAGE, "%s: rates cannot be added to other kernels", s->option);
        if (t->root != first->root || strcmp(t->sides, first->sides) != 0)
            return sk_fail(s->ctx, SOCK_EUSAGE,
                           "%s: of a sum all terms have in=root, with the same bounds, or none has", s->option);
    }
    return SOCK_OK;
}

/* Features instead of a formula: such terms join with what has features too, and with nothing else. */
static sock_status check_sum(const parser *s, const sk_kernel *kernel)
{
    const char *mapped = NULL, *unmapped = NULL;
    char names[SK_NAMES];
    for (size_t i = 0; i < kernel->terms; i++) {
        const sk_term *t = &kernel->term[i];
        if (sk_family_is(t->family, SK_KIND_MAPPED))
            mapped = t->family->name;
        else if (!sk_family_is(t->family, SK_KIND_EXPLICIT) || t->b)
            unmapped = t->b ? "a term with B" : t->family->name;
    }
    if (!mapped || !unmapped) return SOCK_OK;
    return sk_fail(s->ctx, SOCK_EUSAGE,
                   "%s: %s has features and %s has none, so they cannot be added; allowed beside "
                   "%s: %s (without B)",
                   s->option, mapped, unmapped, mapped, sk_kernel_names(SK_KIND_EXPLICIT, ", ", names));
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
    SK_GO(check_roots(&s, kernel));
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

static void put_key(writer *w, sk_key_name key)
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

static void put_count(writer *w, sk_key_name key, uint64_t value)
{
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%llu", (unsigned long long)value);
    put_key(w, key);
    put(w, buffer);
}

static void put_matrix(writer *w, size_t n, const double *b)
{
    put_key(w, SK_KEY_B);
    for (size_t i = 0; i < n * n; i++) {
        put(w, i == 0 ? "[" : i % n ? " " : ";");
        put_number(w, b[i]);
    }
    put(w, "]");
}

static void put_term(writer *w, const sk_term *term)
{
    const sk_family *family = term->family;
    w->first = true;
    put(w, family->name);
    if (sk_family_takes(family, SK_KEY_P)) put_count(w, SK_KEY_P, term->p);
    if (sk_family_takes(family, SK_KEY_M) && term->p) put_count(w, SK_KEY_M, term->p);
    if (sk_family_takes(family, SK_KEY_OF)) put_key(w, SK_KEY_OF), put(w, term->of->name);
    if (sk_term_needs_eta(term) && isfinite(term->eta)) put_key(w, SK_KEY_ETA), put_number(w, term->eta);
    if (sk_family_takes(sk_term_base(term), SK_KEY_DEGREE)) put_count(w, SK_KEY_DEGREE, term->degree);
    if (sk_family_takes(family, SK_KEY_SEED)) put_count(w, SK_KEY_SEED, term->seed);
    if (term->scale != 1) put_key(w, SK_KEY_SCALE), put_number(w, term->scale);
    if (term->b) put_matrix(w, term->b_dim, term->b);
    if (term->root) put_key(w, SK_KEY_IN), put(w, "root");
    if (term->sides[strspn(term->sides, "l")]) put_key(w, SK_KEY_BOUNDS), put(w, term->sides);
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
