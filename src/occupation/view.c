/* view.c - see view.h. */
#include "occupation/view.h"
#include "data/samples.h"
#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sk_views {
    const sk_transitions *rows;
    sk_view_spec spec;
    sk_typical typical;
    double *blind;  /* d x d: a where there is no model */
    sk_view **kept; /* one for each block, or NULL */
};

static void view_free(sk_view *v)
{
    if (!v) return;
    sk_rule_free(v->rule);
    sk_free(v->t);
    sk_free(v->left);
    sk_free(v->integral);
    sk_free(v->precision);
    sk_free(v->part);
    sk_free(v->size);
    sk_free(v->inverse);
    sk_free(v->offset);
    sk_transitions_free(v->own);
    sk_free(v);
}

/* ---- Typical sizes ---- */

sock_status sk_typical_value(sock_context *ctx, const sk_transitions *t, size_t stride, const double *value,
                             double *out)
{
    size_t rows = (t->n + stride - 1) / stride, count = 0;
    double *copy = sk_doubles_unset(ctx, rows, 1);
    if (!copy) return SOCK_ENOMEM;
    for (size_t i = 0; i < rows; i++)
        if (sk_transitions_moves(t, i * stride)) copy[count++] = value[i];
    if (!count) {
        memcpy(copy, value, rows * sizeof *copy);
        count = rows;
    }
    double middle = count ? sk_select(count, copy, count / 2) : 0;
    *out = count && !(middle > 0) ? sk_select(count, copy, count - 1) : middle;
    sk_free(copy);
    return SOCK_OK;
}

/* Covariance of the increments per unit of time: the a of a model that knows nothing. */
static void constant_covariance(const sk_transitions *t, double *a)
{
    const size_t d = t->d;
    memset(a, 0, d * d * sizeof *a);
    for (size_t i = 0; i < t->n; i++) {
        const double *y = t->y + i * d, *next = t->next + i * d;
        for (size_t k = 0; k < d * d; k++)
            a[k] += (next[k / d] - y[k / d]) * (next[k % d] - y[k % d]) / (t->h[i] * (double)t->n);
    }
}

/* (h a)_kk into part (d), |h a|_F answered. */
static double row_sizes(size_t d, double h, const double *a, double *part)
{
    double square = 0;
    for (size_t k = 0; k < d; k++) part[k] = h * a[k * d + k];
    for (size_t k = 0; k < d * d; k++) square += h * a[k] * h * a[k];
    return sqrt(square);
}

/* a (d x d each) at the left ends of every stride-th row, a few at a time; its sizes into columns of count numbers:
 * mean, size, part 0, part 1, ... */
static sock_status sizes_of_rows(sock_context *ctx, const sk_views *v, size_t stride, size_t count, double *sizes)
{
    enum { AT_ONCE = 1024 };
    const sk_transitions *t = sk_transitions_in_memory(v->rows);
    const size_t d = t->d, in = t->in;
    double *x = sk_doubles(ctx, AT_ONCE, in), *a = sk_doubles(ctx, AT_ONCE, d * d), *part = sk_doubles(ctx, d, 1);
    sock_status status = x && a && part ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < count; at += AT_ONCE) {
        const size_t rows = SK_MIN(AT_ONCE, count - at);
        for (size_t i = 0; i < rows; i++) memcpy(x + i * in, t->left + (at + i) * stride * in, in * sizeof *x);
        for (size_t i = 0; v->blind && i < rows; i++) memcpy(a + i * d * d, v->blind, d * d * sizeof *a);
        if (!v->blind) status = v->spec.fields(ctx, v->spec.model, rows, x, NULL, a);
        for (size_t i = 0; status >= 0 && i < rows; i++) {
            sizes[count + at + i] = row_sizes(d, t->h[(at + i) * stride], a + i * d * d, part);
            for (size_t k = 0; k < d; k++) {
                sizes[(2 + k) * count + at + i] = part[k];
                sizes[at + i] += part[k] / (double)d;
            }
        }
    }
    sk_free(x);
    sk_free(a);
    sk_free(part);
    return status;
}

static sock_status find_typical(sock_context *ctx, sk_views *v)
{
    const sk_transitions *t = sk_transitions_in_memory(v->rows);
    const size_t stride = sk_typical_stride(t->n), count = (t->n + stride - 1) / stride;
    double *sizes = sk_doubles(ctx, t->d + 2, count);
    sock_status status = sizes ? sizes_of_rows(ctx, v, stride, count, sizes) : SOCK_ENOMEM;
    if (status >= 0) status = sk_typical_value(ctx, t, stride, sizes, &v->typical.mean);
    if (status >= 0) status = sk_typical_value(ctx, t, stride, sizes + count, &v->typical.size);
    for (size_t k = 0; status >= 0 && k < t->d; k++)
        status = sk_typical_value(ctx, t, stride, sizes + (2 + k) * count, &v->typical.part[k]);
    if (!(v->typical.mean > 0)) v->typical.mean = v->spec.eps > 0 ? v->spec.eps : 1;
    sk_free(sizes);
    return status;
}

/* ---- One view ---- */

static sock_status allocate(sock_context *ctx, size_t n, size_t d, sk_view **out)
{
    sk_view *v = sk_alloc(ctx, 1, sizeof *v);
    if (!v) return SOCK_ENOMEM;
    v->n = n;
    v->d = d;
    v->t = sk_doubles_unset(ctx, n, d);
    v->left = sk_doubles_unset(ctx, n, d * d);
    v->integral = sk_doubles_unset(ctx, n, d * d);
    v->precision = sk_doubles_unset(ctx, n, d * d);
    v->part = sk_doubles_unset(ctx, n, d);
    v->size = sk_doubles_unset(ctx, n, 1);
    v->inverse = sk_doubles_unset(ctx, n, d * d);
    v->offset = sk_doubles_unset(ctx, n, 1);
    if (!v->t || !v->left || !v->integral || !v->precision || !v->part || !v->size || !v->inverse || !v->offset) {
        view_free(v);
        return SOCK_ENOMEM;
    }
    *out = v;
    return SOCK_OK;
}

static void transpose(size_t d, double *a)
{
    for (size_t r = 0; r < d; r++)
        for (size_t k = 0; k < r; k++) {
            const double kept = a[r * d + k];
            a[r * d + k] = a[k * d + r];
            a[k * d + r] = kept;
        }
}

/* h/2 J of every row into left, J by central differences of f over the reach, with respect to the states. It comes
 * column by column, which in many dimensions lie too far apart to be written there at once. */
static sock_status slopes(sock_context *ctx, const double *reach, sk_view *v)
{
    const size_t n = v->n, d = v->d, in = v->of->in;
    double *x = sk_doubles_unset(ctx, n, in), *up = sk_doubles_unset(ctx, n, d), *down = sk_doubles_unset(ctx, n, d);
    sock_status status = x && up && down ? SOCK_OK : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < d; k++) {
        for (int side = 0; side < 2 && status >= 0; side++) {
            memcpy(x, v->of->left + v->begin * in, n * in * sizeof *x);
            for (size_t i = 0; i < n; i++) x[i * in + k] += side ? -reach[k] : reach[k];
            status = v->spec.fields(ctx, v->spec.model, n, x, side ? down : up, NULL);
        }
        for (size_t i = 0; status >= 0 && i < n; i++)
            for (size_t j = 0; j < d; j++) {
                double slope = (up[i * d + j] - down[i * d + j]) / (2 * reach[k]);
                v->left[(i * d + k) * d + j] = 0.5 * v->h[i] * slope;
            }
    }
    for (size_t i = 0; status >= 0 && i < n; i++) transpose(d, v->left + i * d * d);
    sk_free(x);
    sk_free(up);
    sk_free(down);
    return status;
}

/* F of every row; f and a at the left ends become what the nodes of the rule are made of. */
static sock_status left_factors(sock_context *ctx, const double *reach, sk_view *v, double *f, double *a)
{
    const size_t d = v->d;
    double *space = sk_doubles_unset(ctx, 2, d * d);
    sock_status status = space ? slopes(ctx, reach, v) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < v->n; i++)
        sk_long_step(d, v->left + i * d * d, f + i * d, a + i * d * d, space);
    sk_free(space);
    return status;
}

/* I a, a few rows at a time: a at all nodes would be the largest array of all. */
static sock_status integrate_nodes(sock_context *ctx, sk_view *v)
{
    enum { AT_ONCE = 32 };
    const sk_rule *rule = v->rule;
    const size_t d = v->d, each = rule->nodes / rule->n; /* nodes of a row stand together */
    double *a = sk_doubles_unset(ctx, AT_ONCE * each, d * d);
    sock_status status = a ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < v->n; at += AT_ONCE) {
        size_t last = SK_MIN(at + AT_ONCE, v->n), first = rule->row[at], count = rule->row[last] - first;
        status = v->spec.fields(ctx, v->spec.model, count, rule->x + first * rule->in, NULL, a);
        for (size_t i = at; status >= 0 && i < last; i++) {
            double *out = v->integral + i * d * d;
            memset(out, 0, d * d * sizeof *out);
            for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++)
                for (size_t k = 0; k < d * d; k++) out[k] += rule->weight[e] * a[(e - first) * d * d + k];
        }
    }
    sk_free(a);
    return status;
}

static sock_status integrate(sock_context *ctx, sk_view *v)
{
    bool done = false;
    if (v->spec.integral) SK_TRY(v->spec.integral(ctx, v->spec.model, v->rule, v->integral, &done));
    return done ? SOCK_OK : integrate_nodes(ctx, v);
}

/* to -= factor row. */
static inline void take_row(size_t d, double factor, const double *row, double *restrict to)
{
    for (size_t c = 0; c < d; c++) to[c] -= factor * row[c];
}

/* Inverse of a small symmetric positive definite matrix, in place; false when it is not definite. space: d^2. */
static bool invert(size_t d, double *a, double *space)
{
    for (size_t k = 0; k < d; k++) { /* space = L, lower */
        for (size_t i = k; i < d; i++) {
            double sum = a[i * d + k];
            for (size_t j = 0; j < k; j++) sum -= space[i * d + j] * space[k * d + j];
            if (i == k && !(sum > 0)) return false;
            space[i * d + k] = i == k ? sqrt(sum) : sum / space[k * d + k];
        }
    }
    for (size_t i = 0; i < d; i++) { /* rows of L^-1, all columns at once, */
        for (size_t c = 0; c < d; c++) a[i * d + c] = i == c;
        for (size_t j = 0; j < i; j++) take_row(d, space[i * d + j], a + j * d, a + i * d);
        for (size_t c = 0; c < d; c++) a[i * d + c] /= space[i * d + i];
    }
    for (size_t i = d; i-- > 0;) { /* then of L^-T L^-1 */
        for (size_t j = i + 1; j < d; j++) take_row(d, space[j * d + i], a + j * d, a + i * d);
        for (size_t c = 0; c < d; c++) a[i * d + c] /= space[i * d + i];
    }
    return true;
}

/* The same of a diagonal one. */
static bool invert_diagonal(size_t d, double *a)
{
    for (size_t k = 0; k < d; k++) {
        double *own = a + k * (d + 1), root = sqrt(*own);
        if (!(*own > 0)) return false;
        *own = 1 / root / root;
    }
    return true;
}

/* The same where the matrix may be that of the row before, `last`, whose inverse is `inverse` if it was good: all are
 * where there is no model. */
static bool invert_again(size_t d, double *a, const double *inverse, bool good, double *last, double *space)
{
    const size_t bytes = d * d * sizeof *a;
    if (inverse && good && memcmp(a, last, bytes) == 0) {
        memcpy(a, inverse, bytes);
        return true;
    }
    memcpy(last, a, bytes);
    return invert(d, a, space);
}

/* Row weights from h a: the drift's precisions, and the sizes that weight the rows of the diffusion. a: at the left
 * ends. *bad: the first row whose matrix is not definite, or n. */
static sock_status weigh(sock_context *ctx, sk_view *v, const double *a, size_t *bad)
{
    const size_t d = v->d;
    const double typical = v->typical->mean;
    double *space = sk_doubles(ctx, d, d), *last = sk_doubles(ctx, d, d);
    sock_status status = space && last ? SOCK_OK : SOCK_ENOMEM;
    bool good = false; /* that there is an inverse of `last`, the one before this */
    *bad = v->n;
    for (size_t i = 0; status >= 0 && i < v->n; i++) {
        double *w = v->precision + i * d * d;
        v->size[i] = row_sizes(d, v->h[i], a + i * d * d, v->part + i * d);
        for (size_t k = 0; k < d * d; k++) {
            bool own = k % (d + 1) == 0;
            w[k] =
                (v->spec.diagonal && !own ? 0 : v->h[i] * a[i * d * d + k]) + (own ? SK_VARIANCE_SHARE * typical : 0);
            if (!v->spec.weighted) w[k] = own ? typical : 0; /* the same for all rows */
        }
        if (v->spec.diagonal || !v->spec.weighted)
            good = invert_diagonal(d, w);
        else
            good = invert_again(d, w, i ? w - d * d : NULL, good, last, space);
        if (!good && *bad == v->n) *bad = i;
    }
    sk_free(space);
    sk_free(last);
    return status;
}

/* C^-1 and log det C of every row. */
static sock_status score_covariances(sock_context *ctx, sk_view *v, size_t *bad)
{
    double *space = sk_doubles(ctx, sk_scores_space(v->d), 1);
    if (!space) return SOCK_ENOMEM;
    sk_view_inverses(v, 0, v->n, v->offset, v->inverse, space);
    sk_free(space);
    for (size_t i = v->n; i-- > 0;)
        if (!isfinite(v->offset[i])) *bad = SK_MIN(*bad, i);
    return SOCK_OK;
}

static sock_status fill_blind(sock_context *ctx, const sk_views *views, sk_view *v, double *a)
{
    const size_t d2 = v->d * v->d;
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < d2; k++) {
            a[i * d2 + k] = views->blind[k];
            v->left[i * d2 + k] = k % (v->d + 1) == 0;
            v->integral[i * d2 + k] = v->h[i] * views->blind[k];
        }
    return sk_rule_conditional(ctx, v->of, v->begin, v->begin + v->n, NULL, NULL, &v->rule);
}

static sock_status fill_model(sock_context *ctx, const sk_views *views, sk_view *v, double *a)
{
    const bool conditional = v->spec.conditional;
    const size_t d2 = v->d * v->d;
    double *f = sk_doubles_unset(ctx, v->n, v->d), *b = sk_doubles_unset(ctx, v->n, d2);
    sock_status status =
        f && b ? v->spec.fields(ctx, v->spec.model, v->n, v->of->left + v->begin * v->of->in, f, a) : SOCK_ENOMEM;
    if (status >= 0) {
        memcpy(b, a, v->n * d2 * sizeof *b);
        status = left_factors(ctx, views->rows->reach, v, f, b);
    }
    if (status >= 0)
        status = sk_rule_conditional(ctx, v->of, v->begin, v->begin + v->n, conditional ? f : NULL,
                                     conditional ? b : NULL, &v->rule);
    if (status >= 0) status = integrate(ctx, v);
    sk_free(f);
    sk_free(b);
    return status;
}

/* *bad: the first row (of all) whose covariance is not positive definite, or n of all. */
static sock_status make(sock_context *ctx, const sk_views *views, size_t b, size_t *bad, sk_view **out)
{
    const sk_transitions *t = views->rows;
    const size_t begin = t->block[b], n = t->block[b + 1] - begin, d = t->d;
    const sk_transitions *rows = t;
    size_t first = n, at = begin;
    sk_view *v = NULL;
    double *a = sk_doubles_unset(ctx, n, d * d);
    sock_status status = a ? allocate(ctx, n, d, &v) : SOCK_ENOMEM;
    if (status >= 0) status = sk_transitions_block(ctx, t, b, &v->own, &rows, &at);
    if (status >= 0) {
        v->spec = views->spec;
        v->typical = &views->typical;
        v->self = v;
        v->of = rows;
        v->begin = at;
        v->folds = t->folds;
        v->fold = sk_transitions_fold(t, begin);
        v->y = rows->y + at * d, v->next = rows->next + at * d, v->h = rows->h + at, v->cluster = rows->cluster + at;
        status = (views->blind ? fill_blind : fill_model)(ctx, views, v, a);
    }
    if (status >= 0) {
        memcpy(v->t, v->rule->dy, n * d * sizeof *v->t);
        status = weigh(ctx, v, a, &first);
    }
    if (status >= 0) status = score_covariances(ctx, v, &first);
    *bad = status >= 0 && first < n ? begin + first : t->n;
    sk_free(a);
    if (status < 0)
        view_free(v);
    else
        *out = v;
    return status;
}

/* ---- All views ---- */

/* States that move as one, without noise of their own, may leave a matrix that no floor of ours makes regular. */
static sock_status not_definite(sock_context *ctx, size_t i)
{
    return sk_fail(
        ctx, SOCK_ENUMERIC,
        "the covariance of step %zu is not positive definite: the states may always move together; leave one "
        "of them out, or give --no-tune",
        i + 1);
}

/* All at once; the first bad row is the first for any number of threads. */
typedef struct making {
    sock_context *ctx;
    const sk_views *views;
    size_t *bad; /* one for each block */
} making;

static sock_status make_some(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const making *m = argument;
    for (size_t b = begin; b < end; b++) SK_TRY(make(m->ctx, m->views, b, &m->bad[b], &m->views->kept[b]));
    return SOCK_OK;
}

static sock_status keep_all(sock_context *ctx, sk_views *v)
{
    const size_t blocks = v->rows->blocks;
    making m = {ctx, v, sk_alloc(ctx, blocks, sizeof *m.bad)};
    v->kept = sk_alloc(ctx, blocks, sizeof *v->kept);
    sock_status status = m.bad && v->kept ? sk_parallel_for(ctx, blocks, 1, make_some, &m) : SOCK_ENOMEM;
    for (size_t b = 0; status >= 0 && b < blocks; b++)
        if (m.bad[b] < v->rows->n) status = not_definite(ctx, m.bad[b]);
    sk_free(m.bad);
    return status;
}

static bool worth_keeping(const sk_transitions *t, const sk_view_spec *spec)
{
    const double d = (double)t->d, nodes = spec->conditional ? 1 + 2 * d : 1;
    const double most = spec->keep > 0 ? spec->keep : SK_KEPT_BYTES;
    return !t->store && 8 * (double)t->n * (nodes * (d + 3) + 4 * d * d + 4 * d + 4) <= most;
}

sock_status sk_views_new(sock_context *ctx, const sk_transitions *t, const sk_view_spec *spec, sk_views **out)
{
    sk_views *v = sk_alloc(ctx, 1, sizeof *v);
    if (!v) return SOCK_ENOMEM;
    v->rows = t;
    v->spec = *spec;
    v->spec.conditional = spec->conditional && spec->model;
    v->spec.diagonal = spec->diagonal || t->d == 1;
    v->typical.part = sk_doubles(ctx, t->d, 1);
    v->blind = spec->model ? NULL : sk_doubles(ctx, t->d, t->d);
    sock_status status = v->typical.part && (v->blind || spec->model) ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && v->blind) constant_covariance(sk_transitions_in_memory(t), v->blind);
    if (status >= 0) status = find_typical(ctx, v);
    if (status >= 0 && worth_keeping(t, &v->spec)) status = keep_all(ctx, v);
    if (status < 0) {
        sk_views_free(v);
        return status;
    }
    *out = v;
    return SOCK_OK;
}

void sk_views_free(sk_views *views)
{
    if (!views) return;
    for (size_t b = 0; views->kept && b < views->rows->blocks; b++) view_free(views->kept[b]);
    sk_free(views->kept);
    sk_free(views->typical.part);
    sk_free(views->blind);
    sk_free(views);
}

const sk_transitions *sk_views_rows(const sk_views *views) { return views->rows; }
const sk_view_spec *sk_views_spec(const sk_views *views) { return &views->spec; }
const sk_typical *sk_views_typical(const sk_views *views) { return &views->typical; }
bool sk_views_kept(const sk_views *views) { return views->kept != NULL; }

sock_status sk_views_take(sock_context *ctx, const sk_views *views, size_t b, const sk_view **out)
{
    size_t bad = views->rows->n;
    sk_view *v = views->kept ? views->kept[b] : NULL;
    if (!v) SK_TRY(make(ctx, views, b, &bad, &v));
    if (bad < views->rows->n) {
        view_free(v);
        return not_definite(ctx, bad);
    }
    *out = v;
    return SOCK_OK;
}

void sk_views_give(const sk_views *views, const sk_view *view)
{
    if (!views->kept) view_free(view->self);
}

sock_status sk_view_ends(sock_context *ctx, const sk_view *v, sk_rule **out)
{
    return sk_rule_ends(ctx, v->of, v->begin, v->begin + v->n, out);
}

typedef struct visiting {
    const sk_views *views;
    sk_view_fn work;
    void *arg;
} visiting;

static sock_status visit(sock_context *ctx, void *argument, size_t b)
{
    const visiting *w = argument;
    const sk_view *v = NULL;
    SK_TRY(sk_views_take(ctx, w->views, b, &v));
    const sock_status status = w->work(ctx, w->arg, v);
    sk_views_give(w->views, v);
    return status;
}

sock_status sk_views_each(sock_context *ctx, const sk_views *views, sk_view_fn work, void *arg)
{
    visiting w = {views, work, arg};
    return sk_blocks_each(ctx, views->rows, !views->kept, visit, &w);
}
