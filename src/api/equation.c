/* equation.c - "dx/dt = 1.02*x - 0.98*x^3": the drift of named features. */
#include "api/equation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TERMS = 12 };

/* The features of pivots and random cosines are exact but say nothing to a reader. */
static bool has_names(const sk_drift_term *term)
{
    if (!term->map || sk_features_pivots(term->map)) return false;
    return sk_features_count(term->map) <= 400;
}

static sock_status append(sock_context *ctx, char **text, double value, const char *label, bool first)
{
    bool one = strcmp(label, "1") == 0;
    char *longer = sk_format(ctx, "%s%s%.4g%s%s", *text,
                             first       ? (value < 0 ? "-" : "")
                             : value < 0 ? " - "
                                         : " + ",
                             fabs(value), one ? "" : "*", one ? "" : label);
    if (!longer) return SOCK_ENOMEM;
    sk_free(*text);
    *text = longer;
    return SOCK_OK;
}

/* Component k: coefficient by coefficient, the largest contribution first. done: p flags of the caller's, all false. */
static sock_status component(sock_context *ctx, const sock_model *model, const sk_drift_term *term, size_t k,
                             bool *done, char **out)
{
    size_t p = sk_features_count(term->map), d = term->d, shown = 0, left = 0;
    char *text = sk_format(ctx, "d%s/dt = ", model->state[k]);
    if (!text) return SOCK_ENOMEM;
    sock_status status = SOCK_OK;
    for (; status >= 0 && shown < MOST_TERMS; shown++) {
        size_t next = p;
        for (size_t j = 0; j < p; j++) {
            double size = fabs(term->weight[j * d + k]);
            if (!done[j] && size > 0 && (next == p || size > fabs(term->weight[next * d + k]))) next = j;
        }
        if (next == p) break;
        done[next] = true;
        double weight = 1;
        char *label = sk_features_label(ctx, term->map, (const char *const *)model->state, next, &weight);
        status = label ? append(ctx, &text, weight * term->weight[next * d + k], label, shown == 0) : SOCK_ENOMEM;
        sk_free(label);
    }
    for (size_t j = 0; j < p; j++) left += !done[j] && term->weight[j * d + k] != 0;
    if (status >= 0 && (left || !shown)) {
        char *longer = left ? sk_format(ctx, "%s + %zu smaller terms", text, left) : sk_format(ctx, "%s0", text);
        if (longer) sk_free(text);
        if (longer) text = longer;
        if (!longer) status = SOCK_ENOMEM;
    }
    if (status < 0) {
        sk_free(text);
        return status;
    }
    *out = text;
    return SOCK_OK;
}

sock_status sk_equation_add(sock_context *ctx, const sock_model *model, json_t *info)
{
    const sk_drift_term *term = model->drift_terms == 1 ? model->drift[0] : NULL;
    if (!term || !has_names(term)) {
        json_object_set_new(info, "equation", json_null());
        return SOCK_OK;
    }
    json_t *list = json_array();
    size_t p = sk_features_count(term->map);
    bool *done = sk_alloc(ctx, p, sizeof *done);
    sock_status status = done ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < model->d; k++) {
        char *text = NULL;
        memset(done, 0, p * sizeof *done);
        status = component(ctx, model, term, k, done, &text);
        if (status >= 0) json_array_append_new(list, json_string(text));
        sk_free(text);
    }
    sk_free(done);
    json_object_set_new(info, "equation", list);
    return status;
}
