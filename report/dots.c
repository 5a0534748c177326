/* dots.c - see dots.h. */
#include "dots.h"

#include "evidence.h"

#include <math.h>
#include <stdio.h>

static json_t *entry_of(json_t *list, size_t k)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        if (info_count(entry, "every") == 1 && info_count(entry, "index") == (long long)k) return entry;
    }
    return NULL;
}

sock_status dots_of(sock_context *ctx, const fig_input *in, size_t k, char field, dots *out)
{
    json_t *list = NULL;
    char shift[] = "f_shift", se[] = "f_se";
    shift[0] = se[0] = field;
    *out = (dots){0};
    const sock_status status = evidence_moments(ctx, in, &list);
    json_t *entry = status >= 0 ? entry_of(list, k) : NULL;
    json_t *x = json_object_get(entry, "x"), *miss = json_object_get(entry, shift), *error = json_object_get(entry, se);
    for (size_t i = 0; i < json_array_size(x) && out->count < DOTS_MOST; i++) {
        json_t *m = json_array_get(miss, i), *e = json_array_get(error, i);
        if (!json_is_number(m) || !json_is_number(e)) continue;
        out->x[out->count] = json_number_value(json_array_get(x, i));
        out->shift[out->count] = json_number_value(m);
        out->se[out->count++] = json_number_value(e);
    }
    return status;
}

double dots_height(const dots *d, size_t i, size_t count, const double *x, const double *y)
{
    size_t right = 1;
    while (right + 1 < count && x[right] < d->x[i]) right++;
    const double share = (d->x[i] - x[right - 1]) / (x[right] - x[right - 1]);
    return y[right - 1] + share * (y[right] - y[right - 1]) + d->shift[i];
}
