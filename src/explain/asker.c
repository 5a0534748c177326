/* asker.c - see explain.h. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 256 }; /* speed only */

sock_status sk_asker_new(sock_context *ctx, const sock_model *model, const double *lower, const double *upper,
                         const double *u, sk_asker **out)
{
    sk_asker *ask = sk_alloc(ctx, 1, sizeof *ask);
    if (!ask) return SOCK_ENOMEM;
    *ask = (sk_asker){ctx, model, model->d, sk_model_in(model), lower, upper, NULL, NULL};
    ask->z = sk_doubles(ctx, AT_ONCE, ask->in);
    ask->space = sk_doubles_unset(ctx, sk_model_space(model, AT_ONCE), 1);
    if (!ask->z || !ask->space) {
        sk_asker_free(ask);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0; i < AT_ONCE && ask->in > ask->d; i++)
        memcpy(ask->z + i * ask->in + ask->d, u, (ask->in - ask->d) * sizeof *u);
    *out = ask;
    return SOCK_OK;
}

void sk_asker_free(sk_asker *ask)
{
    if (!ask) return;
    sk_free(ask->z);
    sk_free(ask->space);
    sk_free(ask);
}

void sk_ask(const sk_asker *ask, size_t count, const double *x, double *f, double *a)
{
    const size_t d = ask->d, in = ask->in;
    for (size_t begin = 0; begin < count; begin += AT_ONCE) {
        const size_t n = SK_MIN(count - begin, AT_ONCE);
        for (size_t i = 0; i < n; i++) memcpy(ask->z + i * in, x + (begin + i) * d, d * sizeof *x);
        sk_model_fields(ask->ctx, ask->model, n, ask->z, f ? f + begin * d : NULL, a ? a + begin * d * d : NULL,
                        ask->space);
    }
}

double sk_not_rounding(const sk_asker *ask, size_t k, double x)
{
    return fabs(x) < 1e-13 * (ask->upper[k] - ask->lower[k]) ? 0 : x;
}
