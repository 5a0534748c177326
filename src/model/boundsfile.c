/* boundsfile.c - the bounds of a model in its file: d numbers each, null where a state has none; and which of them are
 * never left again. */
#include "model/modelfile.h"

#include <math.h>

void sk_save_bounds(const sk_structure *s, json_t *description)
{
    json_t *lower = json_array(), *upper = json_array(), *absorbing = s->absorbing ? json_array() : NULL;
    for (size_t k = 0; k < s->d; k++) {
        const double low = s->lower ? s->lower[k] : -(double)INFINITY, high = s->upper ? s->upper[k] : (double)INFINITY;
        json_array_append_new(lower, isfinite(low) ? json_real(low) : json_null());
        json_array_append_new(upper, isfinite(high) ? json_real(high) : json_null());
        if (absorbing) json_array_append_new(absorbing, json_integer((json_int_t)s->absorbing[k]));
    }
    json_object_set_new(description, "lower", lower);
    json_object_set_new(description, "upper", upper);
    if (absorbing) json_object_set_new(description, "absorbing", absorbing);
}

static sock_status load_bound(const sk_loading *l, json_t *list, double absent, double *out)
{
    for (size_t k = 0; k < l->model->d; k++) {
        json_t *value = json_array_get(list, k);
        if (!json_is_number(value) && !json_is_null(value))
            return sk_bad_model(l, "a bound is not a number or null", NULL);
        out[k] = json_is_null(value) ? absent : json_number_value(value);
    }
    return SOCK_OK;
}

static sock_status load_absorbing(sk_loading *l, json_t *list)
{
    const size_t d = l->model->d;
    if (!list) return SOCK_OK;
    if (json_array_size(list) != d) return sk_bad_model(l, "absorbing is not a list of a number for each state", NULL);
    unsigned *absorbing = l->model->structure->absorbing = sk_alloc(l->ctx, d, sizeof *absorbing);
    if (!absorbing) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        const json_t *value = json_array_get(list, k);
        if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > 3)
            return sk_bad_model(l, "absorbing holds something other than 0, 1, 2 and 3", NULL);
        absorbing[k] = (unsigned)json_integer_value(value);
    }
    return SOCK_OK;
}

sock_status sk_load_bounds(sk_loading *l, json_t *description)
{
    const size_t d = l->model->d;
    json_t *lower = json_object_get(description, "lower"), *upper = json_object_get(description, "upper");
    if (!lower && !upper) return SOCK_OK;
    if (json_array_size(lower) != d || json_array_size(upper) != d)
        return sk_bad_model(l, "lower and upper are not lists of a bound for each state", NULL);
    double *bound = sk_doubles(l->ctx, d, 2);
    sock_status status = bound ? load_bound(l, lower, -(double)INFINITY, bound) : SOCK_ENOMEM;
    if (status >= 0) status = load_bound(l, upper, (double)INFINITY, bound + d);
    for (size_t k = 0; status >= 0 && k < d; k++)
        if (!(bound[k] < bound[d + k])) status = sk_bad_model(l, "a lower bound is not below the upper one", NULL);
    if (status >= 0) status = sk_model_set_bounds(l->ctx, l->model, bound, bound + d);
    if (status >= 0) status = load_absorbing(l, json_object_get(description, "absorbing"));
    sk_free(bound);
    return status;
}
