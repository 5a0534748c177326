/* angles.c - states that jump between the ends of their range, as an angle does that is cut at a full turn.
 *
 * Most steps are short; some are nearly as long as the range, none in between; once the range is taken from the long
 * ones they are as short as the others; and the states are met all over the range, so that it is no switch between two
 * levels. A counter that is reset looks the same, and the sentence allows for it. */
#include "data/courses.h"

#include "data/datarules.h"

#include <math.h>

typedef struct range {
    const sock_data *data;
    size_t k; /* of this state */
    double low, width;
    size_t steps;
    double *step; /* their sizes */
} range;

static void measure(range *r)
{
    const sock_data *data = r->data;
    double high = -(double)INFINITY;
    r->low = (double)INFINITY;
    for (size_t i = 0; i < data->points; i++) {
        r->low = fmin(r->low, data->x[i * data->d + r->k]);
        high = fmax(high, data->x[i * data->d + r->k]);
    }
    r->width = high - r->low;
    r->steps = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++)
            r->step[r->steps++] = fabs(data->x[(i + 1) * data->d + r->k] - data->x[i * data->d + r->k]);
}

/* Points in the middle half of the range. */
static size_t within(const range *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->data->points; i++)
        count += fabs((r->data->x[i * r->data->d + r->k] - r->low) / r->width - 0.5) < 0.25;
    return count;
}

static sock_status keep(sock_context *ctx, const range *r, size_t count, sk_courses *out)
{
    SK_TRY(sk_grow(ctx, &out->angle, &out->capacity, out->angles + 1, sizeof *out->angle));
    char *text =
        sk_format(ctx, "%s goes from one end of its range to the other in a single step, %zu times by about %.3g",
                  r->data->state[r->k], count, r->width);
    if (!text) return SOCK_ENOMEM;
    out->angle[out->angles++] = (sk_angle){r->k, text};
    return SOCK_OK;
}

/* Jumps between the ends of the range; 0: it is none of an angle. */
static size_t jumps(range *r)
{
    size_t far = 0, between = 0, closed = 0;
    measure(r);
    if (!(r->width > 0) || !isfinite(r->width) || !r->steps) return 0;
    const double usual = sk_median(r->steps, r->step) / r->width;
    if (!sk_angle_is_seen(usual)) return 0;
    for (size_t i = 0; i < r->steps; i++) {
        const double size = r->step[i] / r->width;
        far += sk_angle_jumps(size);
        between += sk_angle_between(size);
        closed += sk_angle_closes(size, usual);
    }
    return sk_angle_found(far, between, closed, within(r), r->data->points) ? far : 0;
}

sock_status sk_angles_find(sock_context *ctx, const sock_data *data, sk_courses *out)
{
    range r = {.data = data, .step = sk_doubles_unset(ctx, SK_MAX(data->points, 1), 1)};
    sock_status status = r.step ? SOCK_OK : SOCK_ENOMEM;
    for (r.k = 0; status >= 0 && r.k < data->d; r.k++) {
        const size_t count = jumps(&r);
        if (count) status = keep(ctx, &r, count, out);
    }
    sk_free(r.step);
    return status;
}
