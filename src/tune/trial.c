/* trial.c - what trials have in common: what they say of rows, terms of a model, residuals. */
#include "tune/trial.h"

#include "data/samples.h"
#include "tune/policy.h"
#include "tune/tally.h"

#include <math.h>
#include <string.h>

void sk_candidate_clear(sk_candidate *candidate)
{
    sk_free(candidate->name);
    sk_kernel_free(candidate->kernel);
    *candidate = (sk_candidate){0};
}

void sk_trial_free(sk_trial *t)
{
    if (!t) return;
    sk_features_free(t->map);
    sk_free(t->cluster);
    sk_free(t->by_l);
    sk_free(t->solution);
    sk_free(t->held);
    sk_free(t->picks.feature);
    sk_free(t);
}

/* ---- Features ---- */

/* An input that does not count has a unit so large that it is 0 for a kernel. */
static const double WIDE = 1e60;

/* ---- Inputs ---- */

static bool uses(const sk_candidate *c, size_t k) { return !c->use || c->use[k]; }

static bool uses_all(const sk_candidate *c, size_t inputs)
{
    for (size_t k = 0; k < inputs; k++)
        if (!uses(c, k)) return false;
    return true;
}

/* Whether the powers of a monomial are those that a candidate may have; power: of the states first. */
static bool is_allowed(const sk_candidate *c, size_t inputs, const unsigned *power)
{
    for (size_t k = 0; k < inputs; k++)
        if ((power[k] && !uses(c, k)) || (power[k] > 1 && c->flat && c->flat[k])) return false;
    return true;
}

/* x alone has no map of some of its features; x and 1 has. */
static sock_status with_constant(sock_context *ctx, size_t in, sk_features **map)
{
    sk_kernel *affine = NULL;
    sk_features *made = NULL;
    sock_status status = sk_kernel_parse(ctx, "input", "affine", &affine);
    if (status >= 0) status = sk_features_new(ctx, "input", affine, in, 0, NULL, &made);
    sk_kernel_free(affine);
    if (status < 0) return status;
    sk_features_free(*map);
    *map = made;
    return SOCK_OK;
}

/* The places of the monomials that a candidate may have; homogeneous: without the constant. power: work space. */
static size_t list_allowed(const sk_transitions *rows, const sk_candidate *c, const sk_features *map, bool homogeneous,
                           unsigned *power, size_t *keep)
{
    size_t count = 0;
    for (size_t j = 0; j < sk_features_count(map); j++) {
        double weight;
        unsigned degree = 0;
        sk_features_monomial(map, j, power, &weight);
        for (size_t k = 0; k < rows->in; k++) degree += power[k];
        if ((degree || !homogeneous) && is_allowed(c, rows->in - rows->d, power + rows->d)) keep[count++] = j;
    }
    return count;
}

/* A polynomial kernel's map is left with the monomials that are allowed. */
static sock_status leave_allowed(sock_context *ctx, const sk_transitions *rows, const sk_candidate *c,
                                 sk_features **map)
{
    const size_t in = rows->in, p = sk_features_count(*map);
    const bool homogeneous = p == in;
    if (in == rows->d || !sk_features_polynomial(*map) || (homogeneous && uses_all(c, in - rows->d))) return SOCK_OK;
    if (homogeneous) SK_TRY(with_constant(ctx, in, map));
    size_t *keep = sk_alloc(ctx, p + 1, sizeof *keep);
    unsigned *power = sk_alloc(ctx, in, sizeof *power);
    sk_features *some = NULL;
    sock_status status = keep && power ? SOCK_OK : SOCK_ENOMEM;
    const size_t count = status >= 0 ? list_allowed(rows, c, *map, homogeneous, power, keep) : 0;
    if (status >= 0 && count < p) status = sk_features_select(ctx, *map, count, keep, &some);
    sk_free(keep);
    sk_free(power);
    if (status < 0 || !some) return status;
    sk_features_free(*map);
    *map = some;
    return SOCK_OK;
}

/* Pivoted features on points whose other inputs are 0, in units that make them so. */
static sock_status pivot_without(sock_context *ctx, const sk_transitions *rows, const sk_candidate *c, double tolerance,
                                 sk_features **out)
{
    const size_t in = rows->in, d = rows->d;
    sk_transitions some = *rows;
    double *scale = sk_doubles(ctx, in, 1);
    some.left = sk_doubles_unset(ctx, rows->n, in);
    sock_status status = some.left && scale ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < rows->n * in; i++)
        some.left[i] = i % in < d || uses(c, i % in - d) ? rows->left[i] : 0;
    for (size_t k = 0; status >= 0 && k < in; k++) scale[k] = k < d || uses(c, k - d) ? 1 : WIDE;
    if (status >= 0) status = sk_pivoted_map(ctx, c->kernel, &some, tolerance, c->max_rank, out);
    if (status >= 0) status = sk_features_set_units(ctx, *out, NULL, scale);
    sk_free(some.left);
    sk_free(scale);
    return status;
}

/* Pivoted features of roots: pivots are taken in the units of the bounds; the letters say which inputs count. */
static sock_status pivot_roots(sock_context *ctx, const sk_transitions *rows, const sk_candidate *c, double tolerance,
                               sk_features **out)
{
    const sk_bounds *b = rows->bounds;
    sk_transitions some = *rows;
    some.left = sk_doubles_unset(ctx, rows->n, rows->in);
    if (!some.left) return SOCK_ENOMEM;
    sk_bounds_units(b, rows->n, rows->left, some.left);
    sock_status status = sk_pivoted_map(ctx, c->kernel, &some, tolerance, c->max_rank, out);
    if (status >= 0) status = sk_features_set_units(ctx, *out, b->origin, b->scale);
    sk_free(some.left);
    return status;
}

/* ---- Maps ---- */

sock_status sk_pivoted_map(sock_context *ctx, const sk_kernel *kernel, const sk_transitions *rows, double tolerance,
                           size_t max_rank, sk_features **out)
{
    const size_t d = rows->in, stride = sk_pivot_stride(rows->n), count = (rows->n + stride - 1) / stride;
    double *some = stride > 1 ? sk_doubles_unset(ctx, count, d) : NULL;
    if (stride > 1 && !some) return SOCK_ENOMEM;
    for (size_t i = 0; some && i < count; i++) memcpy(some + i * d, rows->left + i * stride * d, d * sizeof *some);
    sock_status status = sk_features_pivoted(ctx, kernel, d, count, some ? some : rows->left, tolerance,
                                             SK_MIN(max_rank, count), false, out, NULL, NULL);
    sk_free(some);
    return status;
}

/* In the units of the rows that are given. */
static sock_status make_features(sock_context *ctx, const sk_transitions *rows, const sk_candidate *c,
                                 sk_features **out)
{
    const bool drift = c->field == SK_DRIFT;
    const double tolerance = drift ? SK_DRIFT_PIVOT : SK_DIFFUSION_PIVOT;
    if (sk_kernel_is_implicit(c->kernel) && sk_kernel_is_bounded(c->kernel) && rows->bounds)
        return pivot_roots(ctx, rows, c, tolerance, out);
    if (sk_kernel_is_implicit(c->kernel) && !uses_all(c, rows->in - rows->d))
        return pivot_without(ctx, rows, c, tolerance, out);
    if (sk_kernel_is_implicit(c->kernel)) return sk_pivoted_map(ctx, c->kernel, rows, tolerance, c->max_rank, out);
    SK_TRY(sk_features_new(ctx, drift ? "drift" : "diffusion", c->kernel, rows->in, rows->n, rows->left, out));
    if (sk_kernel_is_bounded(c->kernel) && rows->bounds)
        return sk_features_set_units(ctx, *out, rows->bounds->origin, rows->bounds->scale);
    SK_TRY(leave_allowed(ctx, rows, c, out));
    return c->own_zero ? sk_features_set_units(ctx, *out, rows->zero, NULL) : SOCK_OK;
}

sock_status sk_left_in_data_units(sock_context *ctx, const sk_transitions *rows, double **left)
{
    const size_t in = rows->in;
    *left = sk_doubles_unset(ctx, rows->n, in);
    if (!*left) return SOCK_ENOMEM;
    for (size_t i = 0; i < rows->n * in; i++) (*left)[i] = rows->left[i] * rows->scale[i % in];
    return SOCK_OK;
}

/* Features of points in the units of the data; and from then on, of rows. */
static sock_status features_of_data(sock_context *ctx, const sk_transitions *rows, const sk_candidate *c,
                                    sk_features **out)
{
    sk_transitions some = *rows;
    double *inverse = sk_doubles_unset(ctx, rows->in, 1);
    sock_status status = inverse ? sk_left_in_data_units(ctx, rows, &some.left) : SOCK_ENOMEM;
    for (size_t k = 0; status >= 0 && k < rows->in; k++) inverse[k] = 1 / rows->scale[k];
    if (status >= 0) status = make_features(ctx, &some, c, out);
    if (status >= 0) status = sk_features_set_units(ctx, *out, NULL, inverse);
    if (some.left != rows->left) sk_free(some.left);
    sk_free(inverse);
    return status;
}

sock_status sk_candidate_map(sock_context *ctx, const sk_transitions *all, const sk_candidate *c, sk_features **out)
{
    const sk_transitions *rows = sk_transitions_in_memory(all);
    return (c->in_data_units ? features_of_data : make_features)(ctx, rows, c, out);
}

/* Whether a monomial holds no state but k. */
static bool is_own(size_t d, const unsigned *power, size_t k)
{
    for (size_t m = 0; m < d; m++)
        if (m != k && power[m]) return false;
    return true;
}

/* The features of component k into pick (NULL: they are only counted); answers how many. power: as many as the map has
 * coordinates. */
static size_t own_features(const sk_features *map, size_t d, size_t k, unsigned *power, size_t *pick)
{
    double weight;
    size_t found = 0;
    for (size_t j = 0; j < sk_features_count(map); j++) {
        sk_features_monomial(map, j, power, &weight);
        if (!is_own(d, power, k)) continue;
        if (pick) pick[found] = j;
        found++;
    }
    return found;
}

sock_status sk_own_picks(sock_context *ctx, const sk_features *map, size_t d, sk_picks *out)
{
    unsigned *power = sk_alloc(ctx, sk_features_dim(map), sizeof *power);
    sk_picks picks = {.d = d, .p = sk_features_count(map)};
    if (power) picks.each = own_features(map, d, 0, power, NULL);
    picks.feature = power ? sk_alloc(ctx, d * picks.each, sizeof *picks.feature) : NULL;
    for (size_t k = 0; picks.feature && k < d; k++) own_features(map, d, k, power, picks.feature + k * picks.each);
    sk_free(power);
    *out = picks;
    return picks.feature ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_trial_new(sock_context *ctx, const sk_transitions *rows, const sk_candidate *candidate, size_t lambdas,
                         const double *grid, sk_trial **out)
{
    sk_trial *t = sk_alloc(ctx, 1, sizeof *t);
    if (!t) return SOCK_ENOMEM;
    *t = (sk_trial){.field = candidate->field, .d = rows->d, .folds = rows->folds, .learned = candidate->learned};
    t->rows = rows;
    t->diagonal = candidate->diagonal && t->d > 1;
    t->lambdas = lambdas;
    t->grid = grid;
    t->converged = true;
    sock_status status = sk_candidate_map(ctx, rows, candidate, &t->map);
    if (status >= 0 && candidate->own && t->diagonal) status = sk_own_picks(ctx, t->map, t->d, &t->picks);
    if (status >= 0) {
        t->p = sk_features_count(t->map);
        t->size = t->field == SK_DRIFT ? t->p * t->d : sk_trial_systems(t) * sk_trial_order(t) * sk_trial_order(t);
        t->cluster = sk_doubles(ctx, rows->clusters, 1);
        t->by_l = sk_doubles(ctx, lambdas, 1);
        t->solution = sk_doubles(ctx, t->folds + 1, t->size);
        if (!t->cluster || !t->by_l || !t->solution) status = SOCK_ENOMEM;
    }
    if (status < 0) {
        sk_trial_free(t);
        return status;
    }
    *out = t;
    return SOCK_OK;
}

sock_status sk_tolerate(sock_status status) { return status == SOCK_ENUMERIC ? SOCK_OK : status; }

size_t sk_trial_systems(const sk_trial *t) { return t->diagonal ? t->d : 1; }
size_t sk_trial_order(const sk_trial *t) { return t->picks.each ? t->picks.each : t->diagonal ? t->p : t->p * t->d; }

uint64_t sk_trial_rates(const sk_trial *t)
{
    const size_t order = sk_trial_order(t), systems = sk_trial_systems(t);
    uint64_t bits = 0;
    if (!t->map) return t->remembered_rates;
    if (!t->learned || !sk_features_separate(t->map) || t->p > 8 * sizeof bits) return 0;
    for (size_t i = 0; i < t->folds * systems * order; i++) {
        const size_t own = i % order;
        if (t->solution[i / order / systems * t->size + i / order % systems * order * order + own * (order + 1)] > 0)
            bits |= (uint64_t)1 << own % t->p;
    }
    return bits;
}

sock_status sk_trial_integrate(sock_context *ctx, const sk_trial *t, const double *q, size_t n, const double *b,
                               double *out)
{
    if (!t->picks.each) return sk_svec_integrate(ctx, t->d, t->p, t->diagonal, q, n, b, out);
    sk_svec_integrate_picked(&t->picks, q, n, b, out);
    return SOCK_OK;
}

/* The features with a weight in any fit; the last one, 1, where there is none. Answers how many. */
static size_t used_features(const sk_trial *t, size_t *keep)
{
    size_t found = 0;
    for (size_t j = 0; j < t->p; j++) {
        bool used = false;
        for (size_t f = 0; f <= t->folds; f++)
            for (size_t k = 0; k < t->d; k++) used = used || t->solution[f * t->size + j * t->d + k] != 0;
        if (used || (j + 1 == t->p && !found)) keep[found++] = j;
    }
    return found;
}

sock_status sk_trial_shrink(sock_context *ctx, sk_trial *t)
{
    size_t *keep = sk_alloc(ctx, t->p, sizeof *keep);
    sk_features *map = NULL;
    if (!keep) return SOCK_ENOMEM;
    const size_t count = used_features(t, keep), d = t->d, old = t->size;
    sock_status status = sk_features_select(ctx, t->map, count, keep, &map);
    for (size_t f = 0; status >= 0 && f <= t->folds; f++)
        for (size_t j = 0; j < count; j++)
            memmove(t->solution + (f * count + j) * d, t->solution + f * old + keep[j] * d, d * sizeof(double));
    if (status >= 0) {
        sk_features_free(t->map);
        t->map = map;
        t->p = count;
        t->size = count * d;
    }
    sk_free(keep);
    return status;
}

/* ---- What it says ---- */

/* Rows of features or of their products that are in memory at once. */
enum { AT_ONCE = 256 };

/* out += share times psi w, psi the features of rows of the view, for the fits first .. last: (last - first + 1) x n x
 * d. The features of a row are made once for all. */
static sock_status add_drifts(sock_context *ctx, const sk_trial *t, double share, const sk_view *v, size_t first,
                              size_t last, double *out)
{
    double *psi = sk_doubles_unset(ctx, AT_ONCE, t->p);
    sock_status status = psi ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < v->n; at += AT_ONCE) {
        const size_t rows = SK_MIN(AT_ONCE, v->n - at);
        status = sk_occupation_features(ctx, v->rule, t->map, at, at + rows, psi, t->p);
        for (size_t f = first; status >= 0 && f <= last; f++)
            sk_gemm(ctx, SK_PLAIN, SK_PLAIN, rows, t->d, t->p, share, psi, t->p, t->solution + f * t->size, t->d, 1,
                    out + ((f - first) * v->n + at) * t->d, t->d);
    }
    sk_free(psi);
    return status;
}

/* Whether what is held is of the view's rows. */
static bool holds(const sk_trial *t, const sk_view *v) { return t->held && t->rows == v->of; }

static sock_status hold_drift(sock_context *ctx, const sk_trial *t, const sk_view *v, double *out)
{
    memset(out, 0, v->n * t->d * sizeof *out);
    if (!holds(t, v)) return add_drifts(ctx, t, 1, v, v->fold, v->fold, out);
    sk_axpy(v->n * t->d, 1, t->held + (v->fold * v->of->n + v->begin) * t->d, out);
    return SOCK_OK;
}

static sock_status hold_diffusion(sock_context *ctx, const sk_trial *t, const sk_view *v, double *out)
{
    const size_t d2 = t->d * t->d;
    const double *q = t->solution + v->fold * t->size;
    if (holds(t, v)) {
        memcpy(out, t->held + v->begin * d2, v->n * d2 * sizeof *out);
        return SOCK_OK;
    }
    double *b = sk_doubles_unset(ctx, AT_ONCE, t->p * (t->p + 1) / 2);
    sock_status status = b ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < v->n; at += AT_ONCE) {
        const size_t rows = SK_MIN(AT_ONCE, v->n - at);
        status = sk_svec_rows(ctx, t->map, v->rule, at, at + rows, b, NULL);
        if (status >= 0) status = sk_trial_integrate(ctx, t, q, rows, b, out + at * d2);
    }
    sk_free(b);
    return status;
}

sock_status sk_trial_held(sock_context *ctx, const sk_trial *t, const sk_view *v, double *out)
{
    return (t->field == SK_DRIFT ? hold_drift : hold_diffusion)(ctx, t, v, out);
}

/* ---- Terms ---- */

sock_status sk_trial_drift_term(sock_context *ctx, const sk_trial *t, size_t f, double share, sk_drift_term **out)
{
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = t->d;
    term->weight = sk_doubles_unset(ctx, t->p, t->d);
    sock_status status = term->weight ? sk_features_copy(ctx, t->map, &term->map) : SOCK_ENOMEM;
    if (status < 0) {
        sk_drift_term_free(term);
        return status;
    }
    for (size_t j = 0; j < t->size; j++) term->weight[j] = share * t->solution[f * t->size + j];
    *out = term;
    return SOCK_OK;
}

/* Q = V V' up to eigenvalues that do not show. */
static const double INVISIBLE = 1e-12;

/* The row of V where feature i of system s stands. */
static size_t place_of(const sk_trial *t, size_t s, size_t i)
{
    if (t->picks.each) return s * t->p + t->picks.feature[s * t->picks.each + i];
    return (t->diagonal ? s * t->p : 0) + i;
}

/* Columns of every system side by side. */
static sock_status put_columns(sock_context *ctx, const sk_trial *t, size_t f, double share, sk_diffusion_term *term)
{
    const size_t order = sk_trial_order(t), systems = sk_trial_systems(t), d = t->d;
    size_t *rank = sk_alloc(ctx, systems, sizeof *rank);
    double **u = sk_alloc(ctx, systems, sizeof *u);
    sock_status status = rank && u ? SOCK_OK : SOCK_ENOMEM;
    term->rank = 0;
    for (size_t s = 0; status >= 0 && s < systems; s++) {
        const double *q = t->solution + f * t->size + s * order * order;
        status = sk_leading_factor(ctx, order, q, order, INVISIBLE, &u[s], &rank[s]);
        term->rank += rank[s];
    }
    size_t width = SK_MAX(term->rank, 1), column = 0;
    if (status >= 0) {
        term->rank = width; /* a = 0 is one column of zeros */
        term->v = sk_doubles(ctx, d * t->p, width);
        term->owner = t->diagonal ? sk_alloc(ctx, width, sizeof *term->owner) : NULL;
        if (!term->v || (t->diagonal && !term->owner)) status = SOCK_ENOMEM;
    }
    for (size_t s = 0; status >= 0 && s < systems; s++)
        for (size_t j = 0; j < rank[s]; j++, column++) {
            for (size_t i = 0; i < order; i++)
                term->v[place_of(t, s, i) * width + column] = sqrt(share) * u[s][i * rank[s] + j];
            if (term->owner) term->owner[column] = s;
        }
    for (size_t s = 0; u && s < systems; s++) sk_free(u[s]);
    sk_free(u);
    sk_free(rank);
    return status;
}

sock_status sk_trial_diffusion_term(sock_context *ctx, const sk_trial *t, size_t f, double share,
                                    sk_diffusion_term **out)
{
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = t->d;
    sock_status status = sk_features_copy(ctx, t->map, &term->map);
    if (status >= 0) status = put_columns(ctx, t, f, share, term);
    if (status < 0) {
        sk_diffusion_term_free(term);
        return status;
    }
    *out = term;
    return SOCK_OK;
}

/* ---- Residuals ---- */

struct sk_remains {
    const sk_views *views;
    sk_mixture drift; /* its lists are our own: */
    sk_trial **trial;
    double *share;
    bool correct;
    double **e, **z; /* one for each block, or NULL: made when a block is taken. z is e where nothing is corrected */
};

/* e ((folds + 1) x n x d) += share times I f of every fold's fit. */
static sock_status add_integrals(sock_context *ctx, const sk_trial *t, double share, const sk_view *v, double *e)
{
    if (!holds(t, v)) return add_drifts(ctx, t, share, v, 0, v->folds, e);
    for (size_t f = 0; f <= v->folds; f++)
        sk_axpy(v->n * t->d, share, t->held + (f * v->of->n + v->begin) * t->d, e + f * v->n * t->d);
    return SOCK_OK;
}

/* e of one view: the integrals of every fold's drift, then what is left. */
static sock_status residuals_of(sock_context *ctx, const sk_mixture *drift, const sk_view *v, double *e)
{
    const size_t size = v->n * v->d;
    memset(e, 0, (v->folds + 1) * size * sizeof *e);
    for (size_t i = 0; i < drift->count; i++)
        if (drift->share[i] > 0) SK_TRY(add_integrals(ctx, drift->trial[i], drift->share[i], v, e));
    for (size_t f = 0; f <= v->folds; f++) sk_residuals(v, 0, v->n, 1, e + f * size);
    return SOCK_OK;
}

static sock_status fill(sock_context *ctx, const sk_remains *r, const sk_view *v, double **e, double **z)
{
    const size_t count = (v->folds + 1) * v->n * v->d;
    *e = sk_doubles_unset(ctx, count, 1);
    *z = *e;
    if (!*e) return SOCK_ENOMEM;
    SK_TRY(residuals_of(ctx, &r->drift, v, *e));
    if (!r->correct) return SOCK_OK;
    *z = sk_doubles_unset(ctx, count, 1);
    if (!*z) return SOCK_ENOMEM;
    memcpy(*z, *e, count * sizeof **z);
    return sk_residuals_correct(ctx, v, v->folds + 1, *z);
}

static void drop(double *e, double *z)
{
    if (z != e) sk_free(z);
    sk_free(e);
}

typedef struct filling {
    sock_context *ctx;
    sk_remains *r;
} filling;

static sock_status fill_some(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const filling *w = argument;
    for (size_t b = begin; b < end; b++) {
        const sk_view *v = NULL;
        SK_TRY(sk_views_take(w->ctx, w->r->views, b, &v));
        sock_status status = fill(w->ctx, w->r, v, &w->r->e[b], &w->r->z[b]);
        sk_views_give(w->r->views, v);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

sock_status sk_remains_new(sock_context *ctx, const sk_views *views, const sk_mixture *drift, bool correct,
                           sk_remains **out)
{
    const size_t blocks = sk_views_rows(views)->blocks;
    sk_remains *r = sk_alloc(ctx, 1, sizeof *r);
    if (!r) return SOCK_ENOMEM;
    r->views = views;
    r->correct = correct;
    r->trial = sk_alloc(ctx, drift->count, sizeof *r->trial);
    r->share = sk_doubles(ctx, drift->count, 1);
    r->drift = (sk_mixture){drift->count, r->trial, r->share};
    sock_status status = r->trial && r->share ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < drift->count; i++) {
        r->trial[i] = drift->trial[i];
        r->share[i] = drift->share[i];
    }
    if (status >= 0 && sk_views_kept(views)) {
        r->e = sk_alloc(ctx, blocks, sizeof *r->e);
        r->z = sk_alloc(ctx, blocks, sizeof *r->z);
        filling w = {ctx, r};
        status = r->e && r->z ? sk_parallel_for(ctx, blocks, 1, fill_some, &w) : SOCK_ENOMEM;
    }
    if (status < 0) {
        sk_remains_free(r);
        return status;
    }
    *out = r;
    return SOCK_OK;
}

void sk_remains_free(sk_remains *r)
{
    if (!r) return;
    for (size_t b = 0; r->e && r->z && b < sk_views_rows(r->views)->blocks; b++) drop(r->e[b], r->z[b]);
    sk_free(r->e);
    sk_free(r->z);
    sk_free(r->trial);
    sk_free(r->share);
    sk_free(r);
}

const sk_views *sk_remains_views(const sk_remains *r) { return r->views; }
bool sk_remains_corrected(const sk_remains *r) { return r->correct; }

sock_status sk_remains_take(sock_context *ctx, const sk_remains *r, size_t b, sk_block *out)
{
    double *e = r->e ? r->e[b] : NULL, *z = r->e ? r->z[b] : NULL;
    SK_TRY(sk_views_take(ctx, r->views, b, &out->view));
    sock_status status = r->e ? SOCK_OK : fill(ctx, r, out->view, &e, &z);
    if (status < 0) {
        drop(e, z);
        sk_views_give(r->views, out->view);
        return status;
    }
    out->e = out->own[0] = e;
    out->z = out->own[1] = z;
    return SOCK_OK;
}

void sk_remains_give(const sk_remains *r, const sk_block *block)
{
    if (!r->e) drop(block->own[0], block->own[1]);
    sk_views_give(r->views, block->view);
}

/* ---- Held-out score of a diffusion ---- */

static sock_status score_block(sock_context *ctx, const sk_block *block, const sk_trial *t, const sk_tally *cluster,
                               double *score)
{
    const sk_view *v = block->view;
    double *integral = sk_doubles_unset(ctx, v->n, v->d * v->d), *space = sk_doubles(ctx, sk_scores_space(v->d), 1);
    double *value = sk_doubles_unset(ctx, v->n, 1);
    sock_status status = integral && space && value ? sk_trial_held(ctx, t, v, integral) : SOCK_ENOMEM;
    if (status >= 0) sk_view_scores(v, 0, v->n, block->e + v->fold * v->n * v->d, integral, 0, value, space);
    for (size_t i = 0; status >= 0 && !cluster->low && i < v->n; i++) *score += value[i];
    if (status >= 0) sk_tally_take(ctx, cluster, 0, v->n, v->cluster, value);
    sk_free(integral);
    sk_free(space);
    sk_free(value);
    return status;
}

typedef struct judging {
    const sk_remains *remains;
    const sk_trial *trial;
    sk_tally tally;
    double score; /* of plain sums */
} judging;

static sock_status judge(sock_context *ctx, void *arg, size_t b)
{
    judging *w = arg;
    sk_block block;
    SK_TRY(sk_remains_take(ctx, w->remains, b, &block));
    const bool held = block.view->fold < block.view->folds;
    const sock_status status = held ? score_block(ctx, &block, w->trial, &w->tally, &w->score) : SOCK_OK;
    sk_remains_give(w->remains, &block);
    return status;
}

sock_status sk_held_score(sock_context *ctx, const sk_remains *r, const sk_trial *t, double *cluster, double *score)
{
    const sk_transitions *rows = sk_views_rows(r->views);
    judging w = {.remains = r, .trial = t};
    const bool apart = !sk_views_kept(r->views);
    sock_status status = sk_tally_new(ctx, apart, rows->clusters, cluster, &w.tally);
    if (status >= 0) status = sk_blocks_each(ctx, rows, apart, judge, &w);
    if (status >= 0) sk_tally_over_all(ctx, rows, &w.tally);
    *score = w.score;
    for (size_t u = 0; apart && u < rows->clusters; u++) *score += cluster[u];
    sk_tally_clear(&w.tally);
    return status;
}
