/* equations.c - fields that are polynomials, as equations and as a table of coefficients.
 *
 * Terms stand in the order of what they contribute where the data are: |coefficient| times the root mean square of the
 * monomial over the data. In an equation those below a thousandth of the largest are counted, not shown. */
#define _GNU_SOURCE
#include "driven.h"
#include "facts.h"
#include "memtext.h"
#include "svg.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that stand for names are those below the space, which no text of a fit has. */
enum { MASK = 1, MASKED_MOST = 8 };
enum { TERMS_MOST = 8, ROWS_MOST = 200, STATES_SHOWN = 12, LARGEST = 20, COLUMNS_MOST = 21, FULL_MOST = 3 };

/* Of the largest contribution: what is no larger is what rounding leaves of nothing. */
static const double ROUNDING = 1e-12;

typedef struct term {
    json_t *json; /* term, powers, coefficients */
    double size;  /* contribution */
} term;

/* Monomials are of x_k - origin_k; 0 for models whose polynomials are about the zero of the data. */
static double origin_of(const rep_facts *f, size_t k)
{
    return json_number_value(json_array_get(json_object_get(f->terms, "origin"), k));
}

/* Root mean square of (u - origin)^power of an input over the data. */
static double input_weight(const rep_facts *f, size_t input, double origin, double power)
{
    const size_t m = sock_model_inputs(f->model);
    double sum = 0, count = 0;
    for (size_t j = 0; j < sock_data_trajectories(f->data); j++) {
        const double *t;
        const size_t length = sock_data_trajectory(f->data, j, &t, NULL);
        double *u = driven_inputs(f->model, f->data, j, f->failed);
        for (size_t i = 0; u && i < length; i++) sum += pow(u[i * m + input] - origin, 2 * power), count++;
        free(u);
    }
    return count > 0 ? sqrt(sum / count) : 1;
}

/* Root mean square of the monomial over the data; of its inputs each for itself. */
static double weight_of(const rep_facts *f, json_t *json)
{
    json_t *powers = json_object_get(json, "powers");
    double sum = 0;
    for (size_t i = 0; i < f->points; i++) {
        double product = 1;
        for (size_t k = 0; k < f->d; k++)
            product *=
                pow(f->point[i * f->d + k] - origin_of(f, k), (double)json_integer_value(json_array_get(powers, k)));
        sum += product * product;
    }
    double weight = f->points ? sqrt(sum / (double)f->points) : 1;
    for (size_t k = f->d; k < json_array_size(powers); k++) {
        const double power = (double)json_integer_value(json_array_get(powers, k));
        if (power > 0) weight *= input_weight(f, k - f->d, origin_of(f, k), power);
    }
    return weight;
}

/* Of coordinate k, a state or behind them an input. */
static const char *name_of(const rep_facts *f, size_t k)
{
    return k < f->d ? sock_model_name(f->model, k) : sock_model_input_name(f->model, k - f->d);
}

static double coefficient(json_t *json, size_t v)
{
    return json_number_value(json_array_get(json_object_get(json, "coefficients"), v));
}

static int by_size(const void *a, const void *b)
{
    const term *x = a, *y = b;
    return (x->size < y->size) - (x->size > y->size);
}

/* The terms of value v (or, v = values, by the largest of all), the largest first. NULL when out of memory. */
static term *sorted_terms(const rep_facts *f, json_t *list, size_t v, size_t values, size_t *count)
{
    term *terms = calloc(json_array_size(list) + 1, sizeof *terms);
    size_t i;
    json_t *json;
    *count = 0;
    json_array_foreach(list, i, json)
    {
        double largest = 0;
        for (size_t c = v < values ? v : 0; c < (v < values ? v + 1 : values); c++)
            largest = fmax(largest, fabs(coefficient(json, c)));
        if (terms && largest > 0) terms[(*count)++] = (term){json, largest * weight_of(f, json)};
    }
    if (terms) qsort(terms, *count, sizeof *terms, by_size);
    while (terms && *count && terms[*count - 1].size <= ROUNDING * terms[0].size) (*count)--;
    return terms;
}

/* x, or (x - 300). */
static void put_state(FILE *out, const rep_facts *f, size_t k)
{
    const double origin = origin_of(f, k);
    fputs(origin != 0 ? "(<var>" : "<var>", out);
    page_text(out, name_of(f, k));
    fputs("</var>", out);
    if (origin != 0) fprintf(out, " %s %.15g)", origin < 0 ? "+" : "\xe2\x88\x92", fabs(origin));
}

/* x<sup>2</sup> y, in the states' names. */
static void put_monomial(FILE *out, const rep_facts *f, json_t *json)
{
    json_t *powers = json_object_get(json, "powers");
    for (size_t k = 0, any = 0; k < json_array_size(powers); k++) {
        const long long power = (long long)json_integer_value(json_array_get(powers, k));
        if (!power) continue;
        if (any++) fputs("\xe2\x80\x89\xc2\xb7\xe2\x80\x89", out);
        put_state(out, f, k);
        if (power > 1) fprintf(out, "<sup>%lld</sup>", power);
    }
}

/* By its powers: a state may have the name 1. */
static int is_constant(json_t *json)
{
    json_t *powers = json_object_get(json, "powers");
    size_t k = json_array_size(powers);
    while (k && json_integer_value(json_array_get(powers, k - 1)) == 0) k--;
    return !k;
}

/* Two digits tell an error; 0: not told. */
static double error_of(json_t *json, size_t v)
{
    char text[40];
    snprintf(text, sizeof text, "%.2g", json_number_value(json_array_get(json_object_get(json, "se"), v)));
    return strtod(text, NULL);
}

typedef struct big_term {
    json_t *json;
    size_t k;
    double size; /* contribution in standard deviations of the state, in a unit of time */
} big_term;

static int by_big_size(const void *a, const void *b)
{
    const big_term *x = a, *y = b;
    return (x->size < y->size) - (x->size > y->size);
}

static void put_sum(FILE *out, const rep_facts *f, json_t *list, size_t v, size_t values)
{
    size_t count = 0, shown = 0;
    term *terms = sorted_terms(f, list, v, values, &count);
    for (; terms && shown < count && shown < TERMS_MOST && terms[shown].size >= 1e-3 * terms[0].size; shown++) {
        const double c = coefficient(terms[shown].json, v);
        if (shown)
            fputs(c < 0 ? " \xe2\x88\x92 " : " + ", out);
        else if (c < 0)
            fputs("\xe2\x88\x92", out);
        const double se = error_of(terms[shown].json, v);
        const int alone = count == 1 && is_constant(terms[shown].json) && c >= 0;
        if (se > 0 && !alone) fputc('(', out);
        if (se > 0)
            page_measured(out, fabs(c), se);
        else
            page_number(out, fabs(c));
        if (se > 0 && !alone) fputc(')', out);
        if (!is_constant(terms[shown].json)) fputs("\xe2\x80\x89", out);
        put_monomial(out, f, terms[shown].json);
    }
    if (!terms) *f->failed = 1;
    if (!shown) fputc('0', out);
    if (shown < count)
        fprintf(out, " <small>and %zu smaller term%s</small>", count - shown, count - shown == 1 ? "" : "s");
    free(terms);
}

/* The state has noise of its own. */
static int has_noise(const rep_facts *f, size_t k)
{
    const sk_texts *quiet = &f->record.quiet;
    if (k < f->d - f->seen) return 0; /* a position of order 2 */
    for (size_t i = 0; i < quiet->count; i++)
        if (strcmp(quiet->text[i], sock_model_name(f->model, k)) == 0) return 0;
    return sock_model_has_diffusion(f->model);
}

/* The next number of an equation that is a coefficient: not part of a name, not a power, and, with `outside`, not in
 * brackets, where the zero of a state may stand. Its length; 0: there is none. */
static size_t next_number(const char *text, int outside, const char **at)
{
    int depth = 0;
    for (const char *p = text; p < *at; p++) depth += (*p == '(') - (*p == ')');
    for (const char *p = *at; *p; p++) {
        const char before = (char)(p > text ? p[-1] : ' ');
        char *end;
        depth += (*p == '(') - (*p == ')');
        if (!(*p >= '0' && *p <= '9') || !strchr(" (-=", before) || (outside && depth)) continue;
        strtod(p, &end);
        *at = p;
        return (size_t)(end - p);
    }
    return 0;
}

static size_t count_numbers(const char *text, int outside)
{
    size_t count = 0, length;
    for (const char *at = text; (length = next_number(text, outside, &at)) > 0; at += length) count++;
    return count;
}

/* With a dot for * and raised powers, as people write. */
static void put_formula(FILE *out, const rep_facts *f, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const int power = text[i] == '^' && i + 1 < length && text[i + 1] >= '0' && text[i + 1] <= '9';
        if (power) {
            const size_t digits = strspn(text + i + 1, "0123456789");
            fprintf(out, "<sup>%.*s</sup>", (int)digits, text + i + 1);
            i += digits;
        } else if (text[i] >= MASK && text[i] < MASK + MASKED_MOST) {
            page_text(out, sock_model_name(f->model, (size_t)(text[i] - MASK)));
        } else if (text[i] == '-') { /* of a sum: no name here has one */
            fputs("\xe2\x88\x92", out);
        } else if (text[i] == '*') {
            fputs("\xe2\x80\x89\xc2\xb7\xe2\x80\x89", out);
        } else {
            svg_escape_bytes(out, text + i, 1);
        }
    }
}

/* The words of the fit with the standard error of each coefficient beside it. */
static void put_with_errors(FILE *out, const rep_facts *f, const char *text, int outside, const sk_numbers *errors)
{
    const char *done = text;
    size_t i = 0, length;
    for (const char *at = text; (length = next_number(text, outside, &at)) > 0; at += length, done = at, i++) {
        const int told = errors->value[i] > 0;
        put_formula(out, f, done, (size_t)(at - done));
        if (!told && length == 1 && strncmp(at, "1*", 2) == 0) { /* 1 v is v */
            at++;
            continue;
        }
        if (told)
            fputc('(', out), page_measured(out, strtod(at, NULL), errors->value[i]), fputc(')', out);
        else
            page_number(out, strtod(at, NULL));
    }
    put_formula(out, f, done, strlen(done));
}

/* Signs of formulas, or letters beyond ASCII, in a name. */
static int is_plain(const char *name)
{
    for (const char *p = name; *p; p++)
        if (strchr("*^ (-=", *p) || (unsigned char)*p > 126) return 0;
    return 1;
}

/* The state whose name, with signs of formulas in it, stands here; the longest. d: none. */
static size_t name_at(const rep_facts *f, const char *at)
{
    size_t found = f->d, most = 0;
    for (size_t k = 0; k < f->d; k++) {
        const char *name = sock_model_name(f->model, k);
        const size_t length = strlen(name);
        if (is_plain(name) || length <= most || strncmp(at, name, length) != 0) continue;
        found = k, most = length;
    }
    return found;
}

/* Names that would be read as formulas are bytes that no text has, MASK + k. NULL: out of memory, or such a name
 * is not among the first states. */
static char *mask_names(const rep_facts *f, const char *text)
{
    char *made = malloc(strlen(text) + 1), *to = made;
    while (made && *text) {
        const size_t k = name_at(f, text);
        if (k >= MASKED_MOST && k < f->d) {
            free(made);
            return NULL;
        }
        *to++ = (char)(k < f->d ? MASK + (int)k : *text);
        text += k < f->d ? strlen(sock_model_name(f->model, k)) : 1;
    }
    if (made) *to = 0;
    return made;
}

/* The words of the fit for state k, with the standard errors of the coefficients in their order. */
static void put_told(FILE *out, const rep_facts *f, size_t k, const char *words, const sk_number_lists *errors)
{
    char *masked = mask_names(f, words);
    const char *text = masked ? masked : words;
    const int known = k < errors->count && errors->list[k].count > 0;
    const size_t count = known ? errors->list[k].count : 0;
    const int whole = count_numbers(text, 0) == count;
    if (known && masked && (whole || count_numbers(text, 1) == count)) {
        put_with_errors(out, f, text, !whole, &errors->list[k]);
        if (has_noise(f, k)) fputs(" + noise", out);
        free(masked);
        return;
    }
    free(masked);
    page_text(out, words);
    if (has_noise(f, k)) fputs(" + noise", out);
    size_t told = 0;
    for (size_t i = 0; known && i < errors->list[k].count; i++) /* a centre that was set has none */
        if (errors->list[k].value[i] > 0)
            fprintf(out, "%s\xc2\xb1 %.2g", told++ ? ", " : " <small>(errors ", errors->list[k].value[i]);
    if (told) fputs(")</small>", out);
}

static void put_drift(FILE *out, const rep_facts *f, json_t *list)
{
    for (size_t k = 0; k < f->d && k < STATES_SHOWN; k++) {
        fputs("<p>", out);
        if (f->record.equation.count == f->d) {
            put_told(out, f, k, f->record.equation.text[k], &f->record.errors);
        } else {
            fputs("d<var>", out);
            page_text(out, sock_model_name(f->model, k));
            fputs("</var>/d<var>t</var> = ", out);
            put_sum(out, f, list, k, f->d);
            if (has_noise(f, k)) fputs(" + noise", out);
        }
        fputs("</p>\n", out);
    }
    if (f->d > STATES_SHOWN)
        fprintf(out, "<p><small>and %zu more equations: see the table</small></p>\n", f->d - STATES_SHOWN);
}

/* Variance and covariance of the noise: all of few states, of more the diagonal. */
static void put_diffusion(FILE *out, const rep_facts *f, json_t *list)
{
    const size_t values = f->d * (f->d + 1) / 2;
    for (size_t k = 0, v = 0; k < f->d; k++)
        for (size_t l = k; l < f->d; l++, v++) {
            if ((k != l && f->d > FULL_MOST) || k >= STATES_SHOWN || k < f->d - f->seen) continue;
            fputs("<p><var>a</var>", out);
            if (f->d > 1) {
                fputs("<sub>", out);
                page_text(out, sock_model_name(f->model, k));
                if (k != l) fputs(", ", out), page_text(out, sock_model_name(f->model, l));
                fputs("</sub>", out);
            }
            fputs(" = ", out);
            put_sum(out, f, list, v, values);
            fputs("</p>\n", out);
        }
}

/* An average with kernels that have no formula: the texts of the information, of its other parts alone. */
static void put_part(FILE *out, const rep_facts *f)
{
    const sk_texts *part = &f->record.equation_part;
    fputs("<p><small>The drift is an average with Gaussian kernels, which have no formula. Its polynomials alone (",
          out);
    page_share(out, f->record.equation_part_share);
    fputs(") are:</small></p>\n", out);
    for (size_t k = 0; k < part->count && k < STATES_SHOWN; k++) {
        fputs("<p>", out);
        put_told(out, f, k, part->text[k], &f->record.equation_part_errors);
        fputs("</p>\n", out);
    }
}

/* Some field has more than one term. */
static int has_sum(const rep_facts *f)
{
    return json_array_size(json_object_get(f->terms, "drift")) > 1 ||
           json_array_size(json_object_get(f->terms, "diffusion")) > 1;
}

static void put_no_formula(FILE *out, const rep_facts *f)
{
    const sk_part *lead = sk_record_drift(&f->record);
    fputs("<p>The drift has no formula", out);
    if (lead && lead->kernel) fputs(" (kernel <code>", out), page_text(out, lead->kernel), fputs("</code>)", out);
    fprintf(out, ": it is the %s below.</p>\n", f->d == 1 ? "curve" : "field");
}

/* Few are on the first screen; many, and those of a of several states, in folds. */
void equation_write(FILE *out, const rep_facts *f)
{
    json_t *drift = json_object_get(f->terms, "drift"), *diffusion = json_object_get(f->terms, "diffusion");
    const int part = f->record.equation_part.count > 0, many = f->d > FULL_MOST, of_f = json_is_array(drift) || part;
    const int of_a = json_is_array(diffusion), apart = f->d > 1; /* a of one state stands beneath f */
    if (of_f && many) fprintf(out, "<details><summary>The %zu equations, with errors</summary>\n", f->d);
    if (of_f || (of_a && !apart)) fputs("<div class=\"equations\">\n", out);
    if (json_is_array(drift))
        put_drift(out, f, drift);
    else if (part)
        put_part(out, f);
    if (of_a && !apart) put_diffusion(out, f, diffusion);
    if (of_f || (of_a && !apart)) fputs("</div>\n", out);
    if (of_f && many) fputs("</details>\n", out);
    if (!of_f) put_no_formula(out, f);
    words_signs(out, f);
    words_size(out, f);
    if (!of_a || !apart) return;
    fputs("<details><summary>The noise: its variances and covariances</summary>\n<div class=\"equations\">\n", out);
    put_diffusion(out, f, diffusion);
    fprintf(out,
            "</div>\n<p class=\"note\"><var>a</var> is the variance of the noise in a unit of time (a covariance where "
            "two states are named)%s.</p>\n</details>\n",
            has_sum(f) ? "; the terms that matter most where the data are stand first" : "");
}

/* ---- The largest terms of all equations ---- */

static void put_big(FILE *out, const rep_facts *f, const big_term *t)
{
    const double c = coefficient(t->json, t->k), se = error_of(t->json, t->k);
    fputs("<tr><th scope=\"row\">", out);
    page_text(out, sock_model_name(f->model, t->k));
    fputs("</th><td class=\"text\">", out);
    if (is_constant(t->json)) fputc('1', out);
    put_monomial(out, f, t->json);
    fputs("</td><td>", out);
    if (se > 0)
        page_measured(out, c, se);
    else
        page_number(out, c);
    fputs("</td><td>", out);
    page_number(out, t->size);
    fputs("</td></tr>\n", out);
}

void equation_largest(FILE *out, const rep_facts *f, const double *sd)
{
    json_t *list = json_object_get(f->terms, "drift"), *json;
    const size_t all = json_array_size(list);
    size_t i, used = 0;
    big_term *terms = all ? calloc(all * f->d, sizeof *terms) : NULL;
    if (all && !terms) *f->failed = 1;
    if (!terms) return;
    json_array_foreach(list, i, json)
    {
        const double weight = weight_of(f, json);
        for (size_t k = 0; k < f->d; k++)
            if (coefficient(json, k) != 0)
                terms[used++] = (big_term){json, k, fabs(coefficient(json, k)) * weight / sd[k]};
    }
    qsort(terms, used, sizeof *terms, by_big_size);
    fputs(
        "<details><summary>The largest terms</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\">"
        "<thead><tr><th scope=\"col\">drift of</th><th scope=\"col\">term</th><th scope=\"col\">coefficient</th><th "
        "scope=\"col\">moves it by</th></tr></thead><tbody>\n",
        out);
    for (i = 0; i < used && i < LARGEST && terms[i].size > ROUNDING * terms[0].size; i++) put_big(out, f, &terms[i]);
    fputs("</tbody></table></div>\n<p class=\"note\">moves it by: standard deviations of the state in a unit of time, "
          "as a root "
          "mean square over the data</p></details>\n",
          out);
    free(terms);
}

/* ---- The table ---- */

static void put_heads(FILE *out, const rep_facts *f, int is_a)
{
    fputs("<tr><th scope=\"col\">term</th>", out);
    for (size_t k = 0; k < f->d; k++)
        for (size_t l = k; l < (is_a ? f->d : k + 1); l++) {
            fprintf(out, "<th scope=\"col\"><var>%s</var><sub>", is_a ? "a" : "f");
            page_text(out, sock_model_name(f->model, k));
            if (k != l) fputs(", ", out), page_text(out, sock_model_name(f->model, l));
            fputs("</sub></th>", out);
        }
    fputs("</tr>\n", out);
}

static int put_rows(FILE *out, const rep_facts *f, json_t *list, size_t values)
{
    size_t count = 0;
    term *terms = sorted_terms(f, list, values, values, &count);
    double most[COLUMNS_MOST] = {0};
    for (size_t i = 0; terms && i < count; i++) {
        const double weight = weight_of(f, terms[i].json);
        for (size_t v = 0; v < values; v++) most[v] = fmax(most[v], fabs(coefficient(terms[i].json, v)) * weight);
    }
    for (size_t i = 0; terms && i < count && i < ROWS_MOST; i++) {
        fputs("<tr><th scope=\"row\">", out);
        if (is_constant(terms[i].json)) fputc('1', out);
        put_monomial(out, f, terms[i].json);
        fputs("</th>", out);
        const double weight = weight_of(f, terms[i].json);
        for (size_t v = 0; v < values; v++) {
            const double c = coefficient(terms[i].json, v);
            const int told = fabs(c) * weight > ROUNDING * most[v];
            fputs("<td>", out);
            if (told) page_number(out, c);
            if (told && error_of(terms[i].json, v) > 0) {
                fputs(" \xc2\xb1 ", out);
                page_number(out, error_of(terms[i].json, v));
            }
            fputs("</td>", out);
        }
        fputs("</tr>\n", out);
    }
    free(terms);
    return terms != NULL;
}

/* Powers of x - origin, origins, then a column for each value; all digits. */
static int put_file(FILE *out, const rep_facts *f, json_t *list, int is_a)
{
    memtext text;
    size_t i;
    json_t *json;
    FILE *csv = memtext_open(&text);
    if (!csv) return 0;
    const size_t in = f->d + sock_model_inputs(f->model);
    for (size_t k = 0; k < in; k++) fprintf(csv, "power_%zu,", k + 1);
    for (size_t k = 0; k < in; k++)
        if (origin_of(f, k) != 0) fprintf(csv, "origin_%zu,", k + 1);
    for (size_t k = 0, v = 0; k < f->d; k++)
        for (size_t l = k; l < (is_a ? f->d : k + 1); l++, v++)
            fprintf(csv, is_a ? "%sa_%zu_%zu" : "%sf_%zu", v ? "," : "", k + 1, l + 1);
    fputc('\n', csv);
    json_array_foreach(list, i, json)
    {
        json_t *powers = json_object_get(json, "powers");
        for (size_t k = 0; k < in; k++) fprintf(csv, "%lld,", (long long)json_integer_value(json_array_get(powers, k)));
        for (size_t k = 0; k < in; k++)
            if (origin_of(f, k) != 0) fprintf(csv, "%.17g,", origin_of(f, k));
        const size_t values = json_array_size(json_object_get(json, "coefficients"));
        for (size_t v = 0; v < values; v++) fprintf(csv, "%s%.17g", v ? "," : "", coefficient(json, v));
        fputc('\n', csv);
    }
    const int good = memtext_close(csv, &text) == 0;
    if (good)
        page_link(out, &(page_file){.name = is_a ? "diffusion-terms.csv" : "drift-terms.csv",
                                    .type = "text/csv",
                                    .bytes = text.text,
                                    .size = text.size});
    free(text.text);
    return good;
}

int equation_table(FILE *out, const rep_facts *f)
{
    static const char *const keys[] = {"drift", "diffusion"};
    int good = 1;
    for (int is_a = 0; good && is_a < 2; is_a++) {
        json_t *list = json_object_get(f->terms, keys[is_a]);
        const size_t values = is_a ? f->d * (f->d + 1) / 2 : f->d;
        if (!json_array_size(list)) continue;
        fprintf(out, "<h3>%s</h3>\n", is_a ? "Diffusion" : "Drift");
        if (values <= COLUMNS_MOST) {
            fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\"><thead>\n", out);
            put_heads(out, f, is_a);
            fputs("</thead><tbody>\n", out);
            good = put_rows(out, f, list, values);
            fputs("</tbody></table></div>\n", out);
        }
        if (json_array_size(list) > ROWS_MOST || values > COLUMNS_MOST)
            fputs("<p class=\"note\">The whole table is in the file.</p>\n", out);
        fputs("<p class=\"files\">", out);
        good = put_file(out, f, list, is_a) && good;
        fputs("</p>\n", out);
    }
    return good;
}
