/* stepends.c - see stepends.h. All paths of all steps go side by side; an inner step of length dt is
 *
 *     x' = x + dt f(x) + C z sqrt(dt),   x <- x' + dt (f(x') - f(x)) / 2,   C C' = a(x). */
#include "noise/stepends.h"

#include "la/la.h"
#include "simulate/simulate.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-12; /* share of the diagonal of a law: pivots below are 0 */

typedef struct swarm {
    const sk_step_starts *s;
    const sock_model *model;
    size_t d, count;            /* count: n paths */
    double *x, *at, *f, *ahead; /* count x d; at: x within the box */
    double *a, *z;              /* count x d x d, count x d */
} swarm;

static void swarm_clear(swarm *w)
{
    double *const all[] = {w->x, w->at, w->f, w->ahead, w->a, w->z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
}

static sock_status swarm_new(sock_context *ctx, const sock_model *model, const sk_step_starts *s, swarm *w)
{
    const size_t d = model->d, count = s->n * s->paths;
    *w = (swarm){s,
                 model,
                 d,
                 count,
                 sk_doubles(ctx, count, d),
                 sk_doubles(ctx, count, d),
                 sk_doubles(ctx, count, d),
                 sk_doubles(ctx, count, d),
                 sk_doubles(ctx, count, d * d),
                 sk_doubles(ctx, count, d)};
    return w->x && w->at && w->f && w->ahead && w->a && w->z ? SOCK_OK : SOCK_ENOMEM;
}

/* Normal numbers of inner step i; those of the starts are of step `inner`. */
static void take_normals(swarm *w, size_t i)
{
    sk_normals_bulk((sk_key){0, SK_PURPOSE_DRAW}, 1, i, 0, w->count * w->d, w->z);
}

static sock_status begin(sock_context *ctx, swarm *w)
{
    const size_t d = w->d, d2 = d * d;
    double *c = sk_doubles(ctx, d, d);
    if (!c) return SOCK_ENOMEM;
    take_normals(w, w->s->inner);
    for (size_t q = 0; q < w->count; q++) {
        const size_t i = q / w->s->paths;
        memcpy(w->x + q * d, w->s->m + i * d, d * sizeof *w->x);
        if (!w->s->p) continue;
        if (q % w->s->paths == 0) sk_factor_copy(d, ROUNDING, w->s->p + i * d2, c);
        for (size_t k = 0; k < d; k++) w->x[q * d + k] += sk_dot(k + 1, c + k * d, w->z + q * d);
    }
    sk_free(c);
    return SOCK_OK;
}

static sock_status fields(sock_context *ctx, swarm *w, double *f, double *a)
{
    for (size_t q = 0; q < w->count * w->d; q++)
        w->at[q] = fmin(fmax(w->x[q], w->s->low[q % w->d]), w->s->high[q % w->d]);
    return sk_model_evaluate(ctx, w->model, w->count, w->at, f, a);
}

static sock_status advance(sock_context *ctx, swarm *w, size_t step)
{
    const size_t d = w->d;
    take_normals(w, step);
    SK_TRY(fields(ctx, w, w->f, w->a));
    for (size_t q = 0; q < w->count; q++) {
        const double dt = w->s->h[q / w->s->paths] / (double)w->s->inner;
        for (size_t k = 0; k < d; k++) w->x[q * d + k] += dt * w->f[q * d + k];
        sk_add_noise(d, 1, sqrt(dt), w->a + q * d * d, w->z + q * d, d, w->x + q * d);
    }
    SK_TRY(fields(ctx, w, w->ahead, NULL));
    for (size_t q = 0; q < w->count * d; q++)
        w->x[q] += w->s->h[q / d / w->s->paths] / (double)w->s->inner * (w->ahead[q] - w->f[q]) / 2;
    return SOCK_OK;
}

static void moments(const swarm *w, double *mean, double *cov)
{
    const size_t d = w->d, d2 = d * d, paths = w->s->paths;
    memset(mean, 0, w->s->n * d * sizeof *mean);
    memset(cov, 0, w->s->n * d2 * sizeof *cov);
    for (size_t q = 0; q < w->count; q++) sk_axpy(d, 1 / (double)paths, w->x + q * d, mean + q / paths * d);
    for (size_t q = 0; q < w->count; q++) {
        const double *m = mean + q / paths * d, *x = w->x + q * d;
        for (size_t k = 0; k < d2; k++)
            cov[q / paths * d2 + k] += (x[k / d] - m[k / d]) * (x[k % d] - m[k % d]) / (double)(paths - 1);
    }
}

sock_status sk_step_ends(sock_context *ctx, const sock_model *model, const sk_step_starts *s, double *mean, double *cov)
{
    swarm w;
    sock_status status = swarm_new(ctx, model, s, &w);
    if (status >= 0) status = begin(ctx, &w);
    for (size_t i = 0; status >= 0 && i < s->inner; i++) {
        status = sk_progress(ctx, "bands", -1);
        if (status >= 0) status = advance(ctx, &w, i);
    }
    if (status >= 0) moments(&w, mean, cov);
    swarm_clear(&w);
    return status;
}
