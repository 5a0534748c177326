/* featurescreen.c - matching pursuit in blocks, for all equations at once. Euler's rows are enough to choose by: psi =
 * h phi(y), t = next - y, weights 1 / (h a_kk) of the current model.
 *
 *   1. Correlations c_jk = sum w_ik psi_ij e_ik of all features with what is left of the target, e = t at first: one
 *      product for each block of rows. The best of c_jk^2 / sum w_ik psi_ij^2 join the list of equation k.
 *   2. Learned weights on the list, e = t - psi w. Go to 1, SK_PURSUITS times.
 *
 * Cost: n p d for each pursuit; memory: some rows of p features, and a few arrays of p x d. */
#include "tune/featurescreen.h"

#include "drift/driftsums.h"
#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 512 };

typedef struct pursuit {
    sock_context *ctx;
    const sk_views *views;
    const sk_transitions *rows;
    const sk_features *map;
    size_t p, d, each;
    size_t *list;          /* d x each */
    double *weight;        /* p x d: the solution so far */
    double *corr, *square; /* p x d */
    double *psi;           /* AT_ONCE x p */
    double *a;             /* AT_ONCE x d x d */
    double *variance;      /* AT_ONCE x d: (h a)_kk */
    double *t;             /* AT_ONCE x d: targets */
    double *e;             /* AT_ONCE x d */
    sk_drift_sums *sums;
} pursuit;

static void clear(pursuit *w)
{
    sk_free(w->weight);
    sk_free(w->corr);
    sk_free(w->square);
    sk_free(w->psi);
    sk_free(w->a);
    sk_free(w->variance);
    sk_free(w->t);
    sk_free(w->e);
    sk_drift_sums_free(w->sums);
}

static sock_status allocate(pursuit *w)
{
    sock_context *ctx = w->ctx;
    w->weight = sk_doubles(ctx, w->p, w->d);
    w->corr = sk_doubles(ctx, w->p, w->d);
    w->square = sk_doubles(ctx, w->p, w->d);
    w->psi = sk_doubles_unset(ctx, AT_ONCE, w->p);
    w->a = sk_doubles_unset(ctx, AT_ONCE, w->d * w->d);
    w->variance = sk_doubles_unset(ctx, AT_ONCE, w->d);
    w->t = sk_doubles_unset(ctx, AT_ONCE, w->d);
    w->e = sk_doubles_unset(ctx, AT_ONCE, w->d);
    if (!w->weight || !w->corr || !w->square || !w->psi || !w->a || !w->variance || !w->t || !w->e) return SOCK_ENOMEM;
    for (size_t i = 0; i < w->d * w->each; i++) w->list[i] = SIZE_MAX;
    return SOCK_OK;
}

/* ---- Rows ---- */

/* psi, targets and variances of `count` rows. Without a model the variances are the same for all. */
static sock_status load(const pursuit *w, size_t begin, size_t count)
{
    const sk_transitions *rows = w->rows;
    const sk_view_spec *spec = sk_views_spec(w->views);
    const size_t d = w->d;
    const double *y = rows->y + begin * d, *next = rows->next + begin * d, *h = rows->h + begin;
    const double *node = rows->left + begin * rows->in;
    SK_TRY(sk_progress(w->ctx, "features", -1));
    SK_TRY(sk_features_eval(w->ctx, w->map, count, node, w->psi, w->p));
    if (spec->model) SK_TRY(spec->fields(w->ctx, spec->model, count, node, NULL, w->a));
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < w->p; j++) w->psi[i * w->p + j] *= h[i];
        for (size_t k = 0; k < d; k++) {
            w->t[i * d + k] = next[i * d + k] - y[i * d + k];
            w->variance[i * d + k] =
                spec->model ? h[i] * w->a[(i * d + k) * d + k] : sk_views_typical(w->views)->part[k];
        }
    }
    return SOCK_OK;
}

/* The rows as a view that sums can be made of. */
static sk_view as_view(const pursuit *w, size_t count)
{
    sk_view v = {.n = count, .d = w->d, .t = w->t, .part = w->variance, .precision = w->a};
    v.spec.weighted = true;
    v.typical = sk_views_typical(w->views);
    return v;
}

/* ---- Step 1 ---- */

static double row_weight(const pursuit *w, size_t i, size_t k)
{
    return 1 / (w->variance[i * w->d + k] + SK_VARIANCE_SHARE * sk_views_typical(w->views)->mean);
}

static void correlate_rows(pursuit *w, size_t count, bool first)
{
    const size_t p = w->p, d = w->d;
    memcpy(w->e, w->t, count * d * sizeof *w->e);
    if (!first) sk_gemm(w->ctx, SK_PLAIN, SK_PLAIN, count, d, p, -1, w->psi, p, w->weight, d, 1, w->e, d);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) w->e[i * d + k] *= row_weight(w, i, k);
    sk_gemm(w->ctx, SK_TRANSPOSED, SK_PLAIN, p, d, count, 1, w->psi, p, w->e, d, 1, w->corr, d);
    if (!first) return;
    for (size_t i = 0; i < count * p; i++) w->psi[i] *= w->psi[i];
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) w->e[i * d + k] = row_weight(w, i, k);
    sk_gemm(w->ctx, SK_TRANSPOSED, SK_PLAIN, p, d, count, 1, w->psi, p, w->e, d, 1, w->square, d);
}

static sock_status correlate(pursuit *w, bool first)
{
    memset(w->corr, 0, w->p * w->d * sizeof *w->corr);
    for (size_t at = 0; at < w->rows->n; at += AT_ONCE) {
        const size_t count = SK_MIN(AT_ONCE, w->rows->n - at);
        SK_TRY(load(w, at, count));
        correlate_rows(w, count, first);
    }
    return SOCK_OK;
}

/* The best feature that is not in the list of equation k; p: none is left. */
static size_t best_feature(const pursuit *w, size_t k, const bool *taken)
{
    size_t best = w->p;
    double most = 0;
    for (size_t j = 0; j < w->p; j++) {
        const double c = w->corr[j * w->d + k], square = w->square[j * w->d + k];
        const double gain = square > 0 ? c * c / square : 0;
        if (!taken[j] && gain > most) {
            most = gain;
            best = j;
        }
    }
    return best;
}

/* `more` features join each list. */
static sock_status extend(pursuit *w, size_t from, size_t more)
{
    bool *taken = sk_alloc(w->ctx, w->p, sizeof *taken);
    if (!taken) return SOCK_ENOMEM;
    for (size_t k = 0; k < w->d; k++) {
        size_t *list = w->list + k * w->each;
        memset(taken, 0, w->p * sizeof *taken);
        for (size_t i = 0; i < from; i++)
            if (list[i] != SIZE_MAX) taken[list[i]] = true;
        for (size_t i = from; i < from + more; i++) {
            const size_t best = best_feature(w, k, taken);
            if (best == w->p) break;
            list[i] = best;
            taken[best] = true;
        }
    }
    sk_free(taken);
    return SOCK_OK;
}

/* ---- Step 2 ---- */

static sock_status solve(pursuit *w)
{
    sk_drift_sums_free(w->sums);
    w->sums = NULL;
    SK_TRY(sk_drift_sums_listed(w->ctx, w->p, w->d, 0, w->each, w->list, &w->sums));
    for (size_t at = 0; at < w->rows->n; at += AT_ONCE) {
        const size_t count = SK_MIN(AT_ONCE, w->rows->n - at);
        SK_TRY(load(w, at, count));
        const sk_view v = as_view(w, count);
        SK_TRY(sk_drift_sums_add(w->ctx, w->sums, &v, w->psi));
    }
    sk_drift_sums_close(w->sums);
    memset(w->weight, 0, w->p * w->d * sizeof *w->weight);
    return sk_drift_sums_learned(w->ctx, w->sums, 0, w->weight, NULL);
}

static int by_place(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

sock_status sk_screen_features(sock_context *ctx, const sk_views *views, const sk_features *map, size_t each,
                               size_t *list)
{
    const sk_transitions *rows = sk_transitions_in_memory(sk_views_rows(views));
    pursuit w = {.ctx = ctx, .views = views, .rows = rows, .map = map, .d = rows->d, .each = each, .list = list};
    w.p = sk_features_count(map);
    const size_t more = (each + SK_PURSUITS - 1) / SK_PURSUITS;
    sock_status status = allocate(&w);
    for (size_t from = 0; status >= 0 && from < each; from += more) {
        if (from) status = solve(&w);
        if (status >= 0) status = correlate(&w, from == 0);
        if (status >= 0) status = extend(&w, from, SK_MIN(more, each - from));
    }
    for (size_t k = 0; status >= 0 && k < w.d; k++) qsort(list + k * each, each, sizeof *list, by_place);
    clear(&w);
    return status;
}
