/* databoxes.c - see databoxes.h. */
#include "databoxes.h"

#include "evidence.h"

#include <math.h>
#include <stdlib.h>

static json_t *plane_of(json_t *list, size_t u, size_t v)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        json_t *index = json_object_get(entry, "index");
        if (json_integer_value(json_array_get(index, 0)) == (json_int_t)u &&
            json_integer_value(json_array_get(index, 1)) == (json_int_t)v)
            return entry;
    }
    return NULL;
}

static double number_at(json_t *list, size_t i)
{
    json_t *value = json_array_get(list, i);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static double of_state(json_t *entry, const char *key, size_t which, size_t i)
{
    return number_at(json_array_get(json_object_get(entry, key), which), i);
}

/* swapped: the other state is the first. */
static box read_box(json_t *entry, size_t i, size_t swapped)
{
    box b = {.f_correlation = number_at(json_object_get(entry, "f_correlation"), i),
             .reach = number_at(json_object_get(entry, "reach"), i),
             .chance = number_at(json_object_get(entry, "chance"), i)};
    for (size_t w = 0; w < 2; w++) {
        b.f[w] = of_state(entry, "f_shift", w ^ swapped, i), b.f_se[w] = of_state(entry, "f_se", w ^ swapped, i);
        b.a[w] = of_state(entry, "a_shift", w ^ swapped, i), b.a_se[w] = of_state(entry, "a_se", w ^ swapped, i);
    }
    return b;
}

sock_status boxes_of(sock_context *ctx, const fig_input *in, size_t u, size_t v, boxes *out)
{
    const size_t d = sock_model_dim(in->model);
    json_t *list = NULL;
    *out = (boxes){0};
    const sock_status status = evidence_planes(ctx, in, &list);
    if (status < 0) return status;
    const size_t swapped = u > v;
    json_t *entry = plane_of(list, swapped ? v : u, swapped ? u : v), *centre = json_object_get(entry, "centre");
    const size_t all = json_array_size(centre) < BOXES_MOST ? json_array_size(centre) : BOXES_MOST;
    out->centre = all ? calloc(all * d, sizeof *out->centre) : NULL;
    if (all && !out->centre) return SOCK_ENOMEM;
    for (size_t i = 0; i < all; i++) {
        const box b = read_box(entry, i, swapped);
        if (!isfinite(b.f[0] + b.f[1] + b.f_se[0] + b.f_se[1] + b.f_correlation + b.reach)) continue;
        for (size_t k = 0; k < d; k++) out->centre[out->count * d + k] = number_at(json_array_get(centre, i), k);
        out->at[out->count++] = b;
    }
    return SOCK_OK;
}

void boxes_clear(boxes *b)
{
    free(b->centre);
    *b = (boxes){0};
}

void boxes_covariance(const box *b, double out[3])
{
    out[0] = b->f_se[0] * b->f_se[0], out[2] = b->f_se[1] * b->f_se[1];
    out[1] = b->f_correlation * b->f_se[0] * b->f_se[1];
}

int boxes_off(const box *b)
{
    double c[3];
    boxes_covariance(b, c);
    const double det = c[0] * c[2] - c[1] * c[1];
    const double square = (c[2] * b->f[0] * b->f[0] - 2 * c[1] * b->f[0] * b->f[1] + c[0] * b->f[1] * b->f[1]) / det;
    return det > 0 && square > b->reach;
}
