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

/* Name, share in an average, penalty, freedom. */
static void print_part(json_t *part, bool many)
{
    json_t *l = json_object_get(part, "l");
    printf("%s", text_of(part, "kernel"));
    if (many) printf(", share %.0f %%", 100 * number_of(part, "share"));
    if (json_is_number(l)) printf(", penalty l = %.0e", json_number_value(l));
    printf(", %.1f degrees of freedom", number_of(part, "dof"));
}

/* One kernel, or the average of those that did nearly as well. */
static void print_drift(json_t *info, int width)
{
    size_t i;
    json_t *entry, *equations = json_object_get(info, "equation"), *l = json_object_get(info, "drift_l");
    json_t *list = json_object_get(info, "drifts");
    json_array_foreach(list, i, entry)
    {
        printf("%-*s", width, i ? "" : "drift");
        print_part(entry, json_array_size(list) > 1);
        if (i + 1 == json_array_size(list)) printf(", %s quadrature", text_of(info, "quadrature"));
        putchar('\n');
    }
    if (!json_array_size(list)) { /* the paper's protocol has one */
        printf("%-*s%s", width, "drift", text_of(info, "drift"));
        if (json_is_number(l)) printf(", penalty l = %.0e", json_number_value(l));
        printf(", %.1f degrees of freedom, %s quadrature\n", number_of(info, "drift_dof"), text_of(info, "quadrature"));
    }
    json_array_foreach(equations, i, entry)
    {
        if (i == MOST_EQUATIONS) break;
        printf("%*s%s\n", width, "", json_string_value(entry));
    }
    if (json_array_size(equations) > MOST_EQUATIONS)
        printf("%*sand %zu more equations: see --json\n", width, "", json_array_size(equations) - MOST_EQUATIONS);
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

/* One kernel, or the average of those that did nearly as well. */
static void print_diffusion(json_t *info, int width)
{
    size_t i;
    json_t *entry, *list = json_object_get(info, "diffusions");
    json_array_foreach(list, i, entry)
    {
        printf("%-*s%s", width, i ? "" : "diffusion", text_of(entry, "kernel"));
        if (json_array_size(list) > 1) printf(", share %.0f %%", 100 * number_of(entry, "share"));
        printf(", penalty l = %.0e%s\n", number_of(entry, "l"), is_true(entry, "polished") ? ", polished" : "");
    }
    print_floor(json_object_get(info, "floor"), width);
    printf("%-*srelative duality gap %.2g of the convex problem%s\n", width, "certificate",
           number_of(info, "relative_gap"), is_true(info, "converged") ? "" : ": NOT within the tolerance");
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

static void print_search(json_t *info, int width)
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
    printf("%-*s%zu fits%s; sock fit --search-log FILE writes them\n", width, "search",
           json_array_size(json_object_get(info, "search")),
           *text_of(info, "preset") ? " of the paper's protocol" : "");
    if (!is_true(info, "limited")) return;
    printf("%-*s%.0f fits", width, "left out", number_of(info, "skipped"));
    for (i = 0; i < json_array_size(left); i++)
        printf("%s%s", i ? ", " : "; stages ", json_string_value(json_array_get(left, i)));
    printf(": the budget was spent\n");
}

void tuned_print(json_t *info, int width)
{
    size_t i;
    json_t *entry;
    print_drift(info, width);
    print_diffusion(info, width);
    print_scale(info, width);
    print_search(info, width);
    json_array_foreach(json_object_get(info, "warnings"), i, entry)
    {
        printf("%-*s%s\n", width, "warning", json_string_value(entry));
    }
}
