/* bands.c - see bands.h. Blocks of points, in parallel. */
#include "model/bands.h"
#include "model/bandrules.h"
#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_AT_ONCE = 256 };

double sk_normal_reach(double level) { return -sk_normal_quantile((1 - level) / 2); }

size_t sk_pick_share(size_t n, const double *share, double u)
{
    size_t last = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(share[i] > 0)) continue;
        last = i;
        u -= share[i];
        if (u < 0) return i;
    }
    return last;
}

bool sk_spread_has_diffusion(const sk_spread *s)
{
    for (size_t i = 0; i < s->diffusions; i++)
        if (s->diffusion[i]) return true;
    return false;
}

/* ---- Work in blocks ---- */

typedef struct job {
    sock_context *ctx;
    const sock_model *model;
    const double *x, *field;
    double *var;
} job;

/* ---- The drift ---- */

static sock_status features_at(sock_context *ctx, const sk_features *map, size_t count, const double *x, double **phi)
{
    const size_t p = sk_features_count(map);
    double *out = sk_doubles_unset(ctx, count, p), *space = sk_doubles_unset(ctx, sk_features_space(map, count), 1);
    if (out && space) sk_features_block(ctx, map, count, x, out, p, space);
    sk_free(space);
    if (!space) {
        sk_free(out);
        return SOCK_ENOMEM;
    }
    *phi = out;
    return out ? SOCK_OK : SOCK_ENOMEM;
}

/* How f moves with each z of the factor: out ((count d) x rank, zero on entry) = phi_k' L. Numbers of one component
 * stand together. */
static sock_status drift_rows(sock_context *ctx, const sk_drift_term *term, const sk_factor *f, size_t count,
                              const double *x, double *out)
{
    const size_t d = term->d, p = sk_drift_term_size(term);
    double *phi = sk_doubles_unset(ctx, count, p), *some = sk_doubles_unset(ctx, count, SK_MAX(f->count, 1));
    sock_status status = phi && some ? sk_drift_term_basis(ctx, term, count, x, phi) : SOCK_ENOMEM;
    for (size_t begin = 0, end; status >= 0 && begin < f->count; begin = end) {
        const size_t k = f->entry[begin] % d;
        for (end = begin; end < f->count && f->entry[end] % d == k;) end++;
        for (size_t i = 0; i < count; i++)
            for (size_t e = begin; e < end; e++) some[i * (end - begin) + e - begin] = phi[i * p + f->entry[e] / d];
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, f->rank, end - begin, 1, some, end - begin, f->value + begin * f->rank,
                f->rank, 1, out + k * f->rank, d * f->rank);
    }
    sk_free(phi);
    sk_free(some);
    return status;
}

static sock_status add_within(sock_context *ctx, const sk_drift_term *term, const sk_factor *f, double share,
                              size_t count, const double *x, double *var)
{
    double *rows = sk_doubles(ctx, count * term->d, SK_MAX(f->rank, 1));
    sock_status status = rows ? drift_rows(ctx, term, f, count, x, rows) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count * term->d; i++)
        var[i] += share * sk_dot(f->rank, rows + i * f->rank, rows + i * f->rank);
    sk_free(rows);
    return status;
}

/* f += the terms that are a part of every candidate. */
static sock_status add_certain(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *f)
{
    for (size_t i = 0; i < model->spread->drifts; i++) {
        if (model->spread->share[i] > 0) continue;
        double *space = sk_doubles_unset(ctx, sk_drift_term_space(model->drift[i], count), 1);
        if (!space) return SOCK_ENOMEM;
        sk_drift_term_add(ctx, model->drift[i], count, x, f, space);
        sk_free(space);
    }
    return SOCK_OK;
}

/* Candidate j as a drift of its own, at points. */
static sock_status candidate_at(sock_context *ctx, const sock_model *model, size_t j, size_t count, const double *x,
                                double *f)
{
    const sk_spread *s = model->spread;
    const sk_drift_term *term = j < s->drifts ? model->drift[j] : s->other[j - s->drifts];
    double *space = sk_doubles_unset(ctx, sk_drift_term_space(term, count), 1);
    if (!space) return SOCK_ENOMEM;
    memset(f, 0, count * s->d * sizeof *f);
    sk_drift_term_add(ctx, term, count, x, f, space);
    if (j < s->drifts) sk_scale(count * s->d, 1 / s->share[j], f);
    sk_free(space);
    return add_certain(ctx, model, count, x, f);
}

static sock_status add_between(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                               const double *f, double *var)
{
    const sk_spread *s = model->spread;
    double *other = sk_doubles_unset(ctx, count, s->d);
    sock_status status = other ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < s->drifts + s->others; j++) {
        if (!(s->pi[j] > 0)) continue;
        status = candidate_at(ctx, model, j, count, x, other);
        for (size_t i = 0; status >= 0 && i < count * s->d; i++)
            var[i] += s->pi[j] * (other[i] - f[i]) * (other[i] - f[i]);
    }
    sk_free(other);
    return status;
}

static sock_status drift_range(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const job *w = argument;
    const sk_spread *s = w->model->spread;
    const size_t d = s->d;
    double *var = w->var + begin * d;
    memset(var, 0, (end - begin) * d * sizeof *var);
    const double own = sk_spread_own(s), *x = w->x + begin * s->in;
    for (size_t i = 0; i < s->drifts; i++)
        SK_TRY(add_within(w->ctx, w->model->drift[i], s->drift[i], own * s->share[i], end - begin, x, var));
    for (size_t j = 0; j < s->others; j++)
        if (s->other_law[j])
            SK_TRY(add_within(w->ctx, s->other[j], s->other_law[j], s->pi[s->drifts + j], end - begin, x, var));
    return add_between(w->ctx, w->model, end - begin, x, w->field + begin * d, var);
}

/* ---- Simultaneous bands of the drift ---- */

typedef struct drawing {
    sock_context *ctx;
    const sock_model *model;
    size_t count;
    const double *x, *f, *sd;
    double **rows;      /* drifts + others: (count d) x rank; NULL where there is no law */
    double **candidate; /* drifts + others: count x d; NULL where pi is 0 */
} drawing;

static void drawing_clear(const drawing *w)
{
    const sk_spread *s = w->model->spread;
    for (size_t i = 0; w->rows && i < s->drifts + s->others; i++) sk_free(w->rows[i]);
    for (size_t j = 0; w->candidate && j < s->drifts + s->others; j++) sk_free(w->candidate[j]);
    sk_free(w->rows);
    sk_free(w->candidate);
}

static sock_status prepare(const drawing *w)
{
    const sk_spread *s = w->model->spread;
    for (size_t i = 0; i < s->drifts + s->others; i++) {
        const sk_factor *f = sk_spread_law(s, i);
        const sk_drift_term *term = i < s->drifts ? w->model->drift[i] : s->other[i - s->drifts];
        if (!f) continue;
        w->rows[i] = sk_doubles(w->ctx, w->count * s->d, SK_MAX(f->rank, 1));
        if (!w->rows[i]) return SOCK_ENOMEM;
        SK_TRY(drift_rows(w->ctx, term, f, w->count, w->x, w->rows[i]));
    }
    for (size_t j = 0; j < s->drifts + s->others; j++) {
        if (!(s->pi[j] > 0)) continue;
        w->candidate[j] = sk_doubles_unset(w->ctx, w->count, s->d);
        if (!w->candidate[j]) return SOCK_ENOMEM;
        SK_TRY(candidate_at(w->ctx, w->model, j, w->count, w->x, w->candidate[j]));
    }
    return SOCK_OK;
}

/* Draw number b of one model as in draw.c: candidate j by pi, the law of term c by share. */
static sock_status largest_deviation(const drawing *w, size_t b, double *out)
{
    const sk_spread *s = w->model->spread;
    const sk_key key = {0, SK_PURPOSE_DRAW};
    double u[2];
    sk_uniforms(key, b, 0, 0, 2, u);
    size_t j, c;
    sk_spread_pick(s, u, &j, &c);
    const sk_factor *f = sk_spread_law(s, c);
    double *z = sk_doubles_unset(w->ctx, f->groups, SK_MAX(f->rank, 1));
    if (!z) return SOCK_ENOMEM;
    sk_normals(key, b, 1, 0, f->groups * f->rank, z);
    *out = 0;
    for (size_t i = 0; i < w->count * s->d; i++) {
        const size_t group = f->groups > 1 ? i % s->d : 0;
        const double move = sk_dot(f->rank, w->rows[c] + i * f->rank, z + group * f->rank);
        if (w->sd[i] > 0) *out = fmax(*out, fabs(w->candidate[j][i] - w->f[i] + move) / w->sd[i]);
    }
    sk_free(z);
    return SOCK_OK;
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sock_status drawing_new(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                               const double *f, const double *sd, drawing *w)
{
    const size_t all = model->spread->drifts + model->spread->others;
    *w = (drawing){
        ctx, model, count, x, f, sd, sk_alloc(ctx, all, sizeof *w->rows), sk_alloc(ctx, all, sizeof *w->candidate)};
    return w->rows && w->candidate ? prepare(w) : SOCK_ENOMEM;
}

/* Of the model and, after it, its peers: draws of which, about f of the model. */
static sock_status deviations(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                              const double *f, const double *sd, double *sup)
{
    const size_t all = 1 + model->spread->peers;
    drawing *w = sk_alloc(ctx, all, sizeof *w);
    sock_status status = w ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < all; i++)
        status = drawing_new(ctx, i ? model->spread->peer[i - 1] : model, count, x, f, sd, &w[i]);
    for (size_t b = 0; status >= 0 && b < SK_SUP_DRAWS; b++) {
        double u;
        size_t at = 0;
        sk_uniforms((sk_key){0, SK_PURPOSE_DRAW}, b, 0, 3, 1, &u);
        const sock_model *who = sk_spread_who(model, u);
        while (w[at].model != who) at++;
        status = largest_deviation(&w[at], b, &sup[b]);
    }
    for (size_t i = 0; w && i < all; i++)
        if (w[i].model) drawing_clear(&w[i]);
    sk_free(w);
    return status;
}

sock_status sk_drift_sup(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *sup)
{
    const size_t d = model->spread->d;
    double *f = sk_doubles(ctx, count, d), *sd = sk_doubles(ctx, count, d);
    sock_status status = f && sd ? sk_model_evaluate(ctx, model, count, x, f, NULL) : SOCK_ENOMEM;
    if (status >= 0) status = sk_drift_variance(ctx, model, count, x, f, sd);
    for (size_t i = 0; status >= 0 && i < count * d; i++) sd[i] = sqrt(sd[i]);
    if (status >= 0) status = deviations(ctx, model, count, x, f, sd, sup);
    if (status >= 0) qsort(sup, SK_SUP_DRAWS, sizeof *sup, rising);
    sk_free(f);
    sk_free(sd);
    return status;
}

/* ---- The diffusion ---- */

/* One term as a model of its own at some points. */
typedef struct own_part {
    double *phi; /* count x p */
    double *b;   /* count x d x rank: phi' V / sqrt(share) */
    double *a;   /* count x d x d: B B' and the floor */
} own_part;

static void own_clear(own_part *o)
{
    sk_free(o->phi);
    sk_free(o->b);
    sk_free(o->a);
}

/* a (count x d x d) += what every part has beside its term: the floor. */
static sock_status add_floor(sock_context *ctx, const sock_model *model, size_t count, const double *x, double *a)
{
    const size_t d = model->d;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) a[(i * d + k) * d + k] += model->floor;
    for (size_t i = model->spread->diffusions; i < model->diffusion_terms; i++) {
        double *space = sk_doubles_unset(ctx, sk_diffusion_term_space(model->diffusion[i], count), 1);
        if (!space) return SOCK_ENOMEM;
        sk_diffusion_term_add(ctx, model->diffusion[i], count, x, a, space);
        sk_free(space);
    }
    return SOCK_OK;
}

static bool same_owner(const sk_diffusion_term *term, size_t c, size_t k, size_t l)
{
    return !term->owner || (k == l && term->owner[c] == k);
}

static sock_status own_at(sock_context *ctx, const sock_model *model, size_t i, size_t count, const double *x,
                          own_part *o)
{
    const sk_diffusion_term *term = model->diffusion[i];
    const size_t d = term->d, r = term->rank, p = sk_features_count(term->map);
    const double scale = 1 / sqrt(model->spread->diffusion_share[i]);
    *o = (own_part){.b = sk_doubles_unset(ctx, count, d * r), .a = sk_doubles(ctx, count, d * d)};
    if (!o->b || !o->a) return SOCK_ENOMEM;
    SK_TRY(features_at(ctx, term->map, count, x, &o->phi));
    for (size_t k = 0; k < d; k++)
        sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, r, p, scale, o->phi, p, term->v + k * p * r, r, 0, o->b + k * r, d * r);
    for (size_t n = 0; n < count; n++)
        for (size_t k = 0; k < d * d; k++)
            for (size_t c = 0; c < r; c++)
                if (same_owner(term, c, k / d, k % d))
                    o->a[n * d * d + k] += o->b[(n * d + k / d) * r + c] * o->b[(n * d + k % d) * r + c];
    return add_floor(ctx, model, count, x, o->a);
}

/* d a_kl / dV at each point, count x (numbers of the factor). */
static void gradients(const sk_diffusion_term *term, const sk_factor *f, const own_part *o, size_t count, size_t k,
                      size_t l, double *g)
{
    const size_t d = term->d, r = term->rank, p = sk_features_count(term->map);
    for (size_t n = 0; n < count; n++)
        for (size_t e = 0; e < f->count; e++) {
            const size_t row = f->entry[e] / r, c = f->entry[e] % r, own = row / p;
            double sum = own == k ? o->b[(n * d + l) * r + c] : 0;
            if (own == l) sum += o->b[(n * d + k) * r + c];
            g[n * f->count + e] = same_owner(term, c, k, l) ? sum * o->phi[n * p + row % p] : 0;
        }
}

/* v_kl at each point, count; space: count x (count of the factor + rank). */
static void within_of(sock_context *ctx, const sk_diffusion_term *term, const sk_factor *f, const own_part *o,
                      size_t count, size_t k, size_t l, double *space, double *v)
{
    double *g = space, *rows = space + count * f->count;
    gradients(term, f, o, count, k, l, g);
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, count, f->rank, f->count, 1, g, f->count, f->value, f->rank, 0, rows, f->rank);
    for (size_t n = 0; n < count; n++) v[n] = sk_dot(f->rank, rows + n * f->rank, rows + n * f->rank);
}

static double square(double x) { return x * x; }

/* What part i adds to the variance of a_kl at a point, v being its own; lead: its share among those that have a law. */
static double variance_of(bool diagonal, double share, double lead, double v, double own, double a)
{
    if (!diagonal) return lead * v + share * square(own - a);
    if (!(a > 0)) return 0;
    own = sk_band_own_a(own, a);
    return lead * v / square(own) + share * square(log(own / a));
}

static sock_status add_part(const job *w, size_t i, double known, size_t begin, size_t count)
{
    const sk_spread *s = w->model->spread;
    const sk_diffusion_term *term = w->model->diffusion[i];
    const sk_factor *f = s->diffusion[i];
    const size_t d = s->d;
    own_part o = {0};
    double *v = sk_doubles(w->ctx, count, 1), *space = sk_doubles(w->ctx, count, f ? f->count + f->rank : 1);
    sock_status status = v && space ? own_at(w->ctx, w->model, i, count, w->x + begin * s->in, &o) : SOCK_ENOMEM;
    for (size_t kl = 0; status >= 0 && kl < d * d; kl++) {
        if (f) within_of(w->ctx, term, f, &o, count, kl / d, kl % d, space, v);
        for (size_t n = 0; n < count; n++) {
            const size_t at = (begin + n) * d * d + kl;
            w->var[at] += variance_of(kl % (d + 1) == 0, s->diffusion_share[i], f ? s->diffusion_share[i] / known : 0,
                                      v[n], o.a[n * d * d + kl], w->field[at]);
        }
    }
    own_clear(&o);
    sk_free(v);
    sk_free(space);
    return status;
}

static sock_status diffusion_range(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const job *w = argument;
    const sk_spread *s = w->model->spread;
    double known = 0;
    for (size_t i = 0; i < s->diffusions; i++)
        if (s->diffusion[i]) known += s->diffusion_share[i];
    memset(w->var + begin * s->d * s->d, 0, (end - begin) * s->d * s->d * sizeof *w->var);
    for (size_t i = 0; i < s->diffusions; i++) SK_TRY(add_part(w, i, known, begin, end - begin));
    return SOCK_OK;
}

/* ---- Of either field, with the peers of the model ---- */

/* From what we say to what a peer says; on the diagonal of a in its logarithm, and false where that cannot be. */
static bool is_apart(const sk_spread *s, bool of_a, size_t i, double peer, double own, double *out)
{
    const bool diagonal = of_a && i % (s->d * s->d) % (s->d + 1) == 0;
    if (diagonal && !(own > 0)) return false;
    *out = diagonal ? log(sk_band_own_a(peer, own) / own) : peer - own;
    return true;
}

static sock_status variance(const job *w, size_t count, bool of_a);

/* var = alone var + sum_p weight_p (var_p + (field_p - field)^2). */
static sock_status add_peers(const job *w, size_t count, bool of_a)
{
    const sk_spread *s = w->model->spread;
    const size_t size = count * s->d * (of_a ? s->d : 1);
    double *field = sk_doubles(w->ctx, size, 1), *own = sk_doubles(w->ctx, size, 1), apart;
    sock_status status = field && own ? SOCK_OK : SOCK_ENOMEM;
    sk_scale(size, sk_spread_alone(s), w->var);
    for (size_t p = 0; status >= 0 && p < s->peers; p++) {
        const job peer = {w->ctx, s->peer[p], w->x, field, own};
        memset(field, 0, size * sizeof *field);
        status = sk_model_evaluate(w->ctx, s->peer[p], count, w->x, of_a ? NULL : field, of_a ? field : NULL);
        if (status >= 0) status = variance(&peer, count, of_a);
        for (size_t i = 0; status >= 0 && i < size; i++)
            if (is_apart(s, of_a, i, field[i], w->field[i], &apart))
                w->var[i] += s->weight[p] * (own[i] + square(apart));
    }
    sk_free(field);
    sk_free(own);
    return status;
}

static sock_status variance(const job *w, size_t count, bool of_a)
{
    job own = *w;
    SK_TRY(sk_parallel_for(w->ctx, count, POINTS_AT_ONCE, of_a ? diffusion_range : drift_range, &own));
    return w->model->spread->peers ? add_peers(w, count, of_a) : SOCK_OK;
}

sock_status sk_drift_variance(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                              const double *f, double *var)
{
    return variance(&(job){ctx, model, x, f, var}, count, false);
}

sock_status sk_diffusion_variance(sock_context *ctx, const sock_model *model, size_t count, const double *x,
                                  const double *a, double *var)
{
    return variance(&(job){ctx, model, x, a, var}, count, true);
}
