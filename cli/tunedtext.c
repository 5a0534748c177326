/* tunedtext.c - see tunedtext.h. */
#include "tunedtext.h"

#include <stdbool.h>
#include <stdio.h>

enum { MOST_EQUATIONS = 10 };

static const char *text_of(json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static double number_of(json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static bool is_true(json_t *object, const char *key) { return json_is_true(json_object_get(object, key)); }

/* "share 37 %", and "below 1 %" for what would round to nothing. */
static void print_share(double share)
{
    if (share < 0.005)
        printf(", share below 1 %%");
    else
        printf(", share %.0f %%", 100 * share);
}

/* Name, share in an average, penalty (with full: in units of the kernel, too). */
static void print_part(json_t *part, bool many, bool full)
{
    json_t *l = json_object_get(part, "l"), *lambda = json_object_get(part, "lambda");
    printf("%s", text_of(part, "kernel"));
    if (many) print_share(number_of(part, "share"));
    if (json_is_number(l)) printf(", penalty l = %.0e", json_number_value(l));
    if (full && json_is_number(lambda)) printf(", lambda %.6g", json_number_value(lambda));
}

static void print_list(json_t *equations, int width)
{
    size_t i;
    json_t *entry;
    json_array_foreach(equations, i, entry)
    {
        if (i == MOST_EQUATIONS) break;
        printf("%*s%s\n", width, "", json_string_value(entry));
    }
    if (json_array_size(equations) > MOST_EQUATIONS)
        printf("%*sand %zu more equations: see --json\n", width, "", json_array_size(equations) - MOST_EQUATIONS);
}

/* That of f; of an average with kernels that have none, that of the others; or how to come by one. */
static void print_equations(json_t *info, int width)
{
    json_t *part = json_object_get(info, "equation_part");
    print_list(json_object_get(info, "equation"), width);
    if (json_array_size(part)) {
        printf("%*sno equation, since not all of its kernels have one; that of the polynomials alone (%.0f %%):\n",
               width, "", 100 * number_of(info, "equation_part_share"));
        print_list(part, width);
    } else if (!json_is_array(json_object_get(info, "equation")) && json_array_size(json_object_get(info, "drifts"))) {
        printf("%*sno equation, since its kernels have none; --drift poly:degree=3 would give one\n", width, "");
    }
}

/* One kernel, or the average of those that did nearly as well. */
static void print_drift(json_t *info, int width, bool full)
{
    size_t i;
    json_t *entry, *list = json_object_get(info, "drifts");
    const bool many = json_array_size(list) > 1;
    json_array_foreach(list, i, entry)
    {
        printf("%-*s", width, i ? "" : "drift");
        print_part(entry, many, full);
        printf(", %.1f degrees of freedom", number_of(entry, "dof"));
        if (!full && i + 1 == json_array_size(list)) printf(", %s quadrature", text_of(info, "quadrature"));
        putchar('\n');
    }
    if (!json_array_size(list)) { /* the paper's protocol has one */
        json_t *l = json_object_get(info, "drift_l");
        printf("%-*s%s", width, "drift", text_of(info, "drift"));
        if (json_is_number(l)) printf(", penalty l = %.0e", json_number_value(l));
        printf(", %.1f degrees of freedom", number_of(info, "drift_dof"));
        if (!full) printf(", %s quadrature", text_of(info, "quadrature"));
        putchar('\n');
    }
    print_equations(info, width);
    if (!full) return;
    printf("%*s%s quadrature, rank %.0f", width, "", text_of(info, "quadrature"), number_of(info, "drift_rank"));
    if (many) printf("; %.1f degrees of freedom on average", number_of(info, "drift_dof"));
    putchar('\n');
}

/* Part of a on the diagonal alone; one number when all states have the same. */
static void print_floor(json_t *floor, int width)
{
    size_t k, d = json_array_size(floor);
    double first = json_number_value(json_array_get(floor, 0));
    bool same = true;
    if (!(first > 0)) return;
    for (k = 0; k < d; k++) same = same && json_number_value(json_array_get(floor, k)) == first;
    printf("%*splus the floor", width, "");
    for (k = 0; k < (same ? 1 : d); k++) printf("%s %.3g", k ? "," : "", json_number_value(json_array_get(floor, k)));
    printf(" on the diagonal of a\n");
}

/* Each part of a is the answer of a convex problem of its own. */
static void print_certificates(json_t *info, int width, bool full)
{
    size_t i;
    json_t *part, *list = json_object_get(info, "diffusions");
    if (!full) {
        printf("%-*srelative duality gap %.2g of the convex problem%s%s\n", width, "certificate",
               number_of(info, "relative_gap"), json_array_size(list) > 1 ? "s, the largest" : "",
               is_true(info, "converged") ? "" : ": NOT within the tolerance");
        return;
    }
    json_array_foreach(list, i, part)
    {
        printf("%-*srelative duality gap %.2g", width, i ? "" : "certificate", number_of(part, "relative_gap"));
        if (json_array_size(list) > 1) printf(" of %s", text_of(part, "kernel"));
        printf("%s%s\n", is_true(part, "polished") ? ", before the polish" : "",
               is_true(part, "converged") ? "" : ": NOT within the tolerance");
    }
}

/* One kernel, or the average of those that did nearly as well. */
static void print_diffusion(json_t *info, int width, bool full)
{
    size_t i;
    json_t *entry, *list = json_object_get(info, "diffusions");
    json_array_foreach(list, i, entry)
    {
        printf("%-*s", width, i ? "" : "diffusion");
        print_part(entry, json_array_size(list) > 1, full);
        printf("%s\n", is_true(entry, "polished") ? ", polished" : "");
    }
    print_floor(json_object_get(info, "floor"), width);
    print_certificates(info, width, full);
}

static void print_scale(json_t *info, int width)
{
    size_t k;
    json_t *scale = json_object_get(info, "scale");
    if (!json_is_array(scale)) return;
    printf("%-*sstates were searched in units of", width, "units");
    for (k = 0; k < json_array_size(scale); k++)
        printf("%s %.3g", k ? "," : "", json_number_value(json_array_get(scale, k)));
    printf("; eta is in these units, all else in those of the data\n");
}

static void print_calibration(json_t *info, int width)
{
    json_t *value = json_object_get(info, "calibration");
    if (json_is_number(value))
        printf("%-*s%.3g: squared residuals of held-out steps over what a says; near 1 is good\n", width, "calibration",
               json_number_value(value));
}

static void print_search(json_t *info, int width, bool full)
{
    size_t i;
    json_t *left = json_object_get(info, "left_out");
    double size = number_of(info, "steps") * number_of(info, "d"), folds = number_of(info, "folds");
    printf("%-*s%.4f nats a step and dimension, ", width, "score", number_of(info, "score") / size);
    if (folds > 1)
        printf("held out in %.0f folds", folds);
    else
        printf("on held-out data");
    printf("; constant coefficients %.4f\n", number_of(info, "score_constant") / size);
    if (full) print_calibration(info, width);
    printf("%-*s%zu fits%s; %s\n", width, "search", json_array_size(json_object_get(info, "search")),
           *text_of(info, "preset") ? " of the paper's protocol" : "",
           full ? "--json lists them" : "sock fit --search-log FILE writes them");
    if (!is_true(info, "limited")) return;
    printf("%-*s%.0f fits", width, "left out", number_of(info, "skipped"));
    for (i = 0; i < json_array_size(left); i++)
        printf("%s%s", i ? ", " : "; stages ", json_string_value(json_array_get(left, i)));
    printf(": the budget was spent\n");
}

void tuned_print(json_t *info, int width, bool full)
{
    size_t i;
    json_t *entry;
    print_drift(info, width, full);
    print_diffusion(info, width, full);
    print_scale(info, width);
    print_search(info, width, full);
    json_array_foreach(json_object_get(info, "warnings"), i, entry)
    {
        printf("%-*s%s\n", width, "warning", json_string_value(entry));
    }
}
