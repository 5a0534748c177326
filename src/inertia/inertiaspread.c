/* inertiaspread.c - bands of a model of order 2, from the rows that were fitted.
 *
 *   1. f: the law of the weights of the force from rows that are whitened by S + shift and have the noise S.
 *   2. a: the information of the innovations' variances about V, F_uv = 1/2 sum tr(S^-1 dS_u S^-1 dS_v), dS the rows
 *      (occupation/lift.h) of da / dV at the nodes. With measurement noise that is the law given R, which comes from
 *      products of neighbours: V = F_VV^-1 (g - F_VR (R' - R)), g the score of the squares, so that with L L' =
 * F_VV^-1, b_k = L' F_Vk, s_k the error of R_kk and x_k = L' cov(g, R'_kk), what the same squares have said to R_kk,
 *
 *          cov V = L (1 + sum_k s_k^2 b_k b_k' - b_k x_k' - x_k b_k') L'.
 *   3. Free motion is certain: its share is 0, and it is a part of every candidate. */
#include "inertia/inertiafit.h"

#include "diffusion/diffusionspread.h"
#include "drift/driftspread.h"
#include "la/la.h"
#include "model/bandrules.h"
#include "tune/policy.h"
#include "tune/rules.h"
#include "tune/searchspread.h"

#include <math.h>
#include <string.h>

typedef struct looking {
    const sk_inertial *w;
    const sk_inertial_fit *fit;
    sk_inertial_rows rows;
    sk_drift_spread *force;
    sk_diffusion_spread *kicks;
    size_t system, unknowns; /* of V, in work */
    double *information;     /* (unknowns + noisy)^2 */
    size_t noisy;            /* unknowns of R behind those of V: d, or 0 without noise */
    double *error, *pull;    /* d, n x d: of R, inertianoise.c */
    double *cross, *common;  /* all unknowns of V x d: F_VR, cov(g, R') */
    size_t crossed;          /* of all unknowns, before those of the system in work */
} looking;

static const sk_trial *force_of(const looking *l) { return l->fit->drift[l->fit->f]; }
static const sk_trial *kicks_of(const looking *l) { return l->fit->diffusion[l->fit->a]; }

/* ---- The force ---- */

/* Sums as those of the fit; of a learned force in several dimensions the features alone that have a weight (p x d). */
static sock_status new_sums(looking *l, const double *weight)
{
    const sk_trial *t = force_of(l);
    sock_context *ctx = l->w->ctx;
    if (t->learned && t->d > 1) return sk_drift_spread_listed(ctx, t->p, t->d, weight, &l->force);
    if (!sk_bands_affordable(t->p, t->d, t->d > 1))
        return sk_fail(ctx, SOCK_ENUMERIC, "bands: too many weights"); /* a model without bands is a model */
    return sk_drift_spread_new(ctx, t->p, t->d, t->d > 1 ? SK_JOINT : SK_APART, &l->force);
}

/* white' white. */
static void precisions(const sk_inertial_rows *r, size_t begin, size_t n, double *out)
{
    const size_t d = r->d;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d * d; k++) {
            const double *white = r->white + (begin + i) * d * d;
            double sum = 0;
            for (size_t m = 0; m < d; m++) sum += white[m * d + k / d] * white[m * d + k % d];
            out[i * d * d + k] = sum;
        }
}

static sock_status add_force_rows(void *arg, size_t begin, size_t end, size_t fold)
{
    looking *l = arg;
    const size_t d = l->rows.d, n = end - begin, p = force_of(l)->p;
    double *psi = sk_doubles_unset(l->w->ctx, n, p), *precision = sk_doubles_unset(l->w->ctx, n, d * d);
    (void)fold;
    sock_status status = psi && precision ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_inertial_means(l->w, &l->rows, force_of(l)->map, begin, end, psi);
    if (status >= 0) {
        precisions(&l->rows, begin, n, precision);
        const sk_view view = {.n = n,
                              .d = d,
                              .t = l->rows.pass->e + begin * d,
                              .integral = l->rows.pass->s + begin * d * d,
                              .precision = precision};
        status = sk_drift_spread_add(l->w->ctx, l->force, &view, psi);
    }
    sk_free(psi);
    sk_free(precision);
    return status;
}

/* The law of weights (p x d) in the units of the rows. */
static sock_status force_law(looking *l, sk_factor **out)
{
    const sk_trial *t = force_of(l);
    const double *weight = t->solution + t->folds * t->size;
    sk_guess guess = {0};
    double *lambda = sk_doubles(l->w->ctx, t->size, 1);
    sock_status status = lambda ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && t->learned)
        status = sk_guess_constant(l->w->ctx, t->map, t->d, weight, l->w->sets.units, t->d, &guess);
    if (status >= 0) status = new_sums(l, guess.counts ? guess.kept : weight);
    if (status >= 0 && guess.counts)
        status = sk_drift_spread_ask(l->w->ctx, l->force, guess.constant, guess.counts, NULL);
    if (status >= 0) status = sk_inertial_each(l->w, add_force_rows, l);
    if (status >= 0 && t->learned) status = sk_drift_spread_learned(l->w->ctx, l->force, weight, lambda);
    for (size_t i = 0; status >= 0 && !t->learned && i < t->size; i++)
        lambda[i] = sk_drift_spread_ridge(l->force, t->l);
    if (status >= 0) status = sk_drift_spread_factor(l->w->ctx, l->force, lambda, out);
    if (l->force) l->force->counts = NULL; /* the guess goes */
    sk_guess_clear(&guess);
    sk_free(lambda);
    return status;
}

/* ---- The diffusion ---- */

/* da / dV at the nodes of some steps, averaged over the points of each: (n 3) x unknowns x d x d. */
static sock_status slopes_at(const looking *l, size_t begin, size_t n, double *out)
{
    const size_t d = l->rows.d, points = 2 * d, nodes = n * SK_LIFT_NODES;
    double *weight = sk_doubles_unset(l->w->ctx, nodes * points + nodes, 1);
    sk_rule *rule = NULL;
    if (!weight) return SOCK_ENOMEM;
    for (size_t i = 0; i < nodes * points; i++) weight[i] = 1 / (double)points;
    for (size_t i = 0; i < nodes; i++) weight[nodes * points + i] = 1;
    sock_status status =
        sk_rule_nodes(l->w->ctx, nodes, points, 2 * d, l->rows.pass->node + begin * SK_LIFT_NODES * points * 2 * d,
                      weight, weight + nodes * points, &rule);
    if (status >= 0) status = sk_diffusion_spread_slopes(l->w->ctx, l->kicks, l->system, rule, out);
    sk_rule_free(rule);
    sk_free(weight);
    return status;
}

/* C^-1 dS C^-1' / sqrt 2 of one unknown, C C' the variance of the row. */
static void standardise(size_t d, const double *c, double *ds)
{
    for (int side = 0; side < 2; side++) {
        for (size_t j = 0; j < d; j++) /* columns: C^-1 */
            for (size_t k = 0; k < d; k++) {
                for (size_t m = 0; m < k; m++) ds[k * d + j] -= c[k * d + m] * ds[m * d + j];
                ds[k * d + j] /= c[k * d + k];
            }
        for (size_t k = 0; k < d; k++)
            for (size_t j = 0; j < k; j++) {
                const double kept = ds[k * d + j];
                ds[k * d + j] = ds[j * d + k];
                ds[j * d + k] = kept;
            }
    }
    sk_scale(d * d, sqrt(0.5), ds);
}

/* Moves of the variance of one step by all unknowns; own: by those of V. */
static void take_step(const looking *l, size_t step, const double *own, double *ds)
{
    const size_t d = l->rows.d, d2 = d * d;
    memcpy(ds, own, l->unknowns * d2 * sizeof *ds);
    memset(ds + l->unknowns * d2, 0, l->noisy * d2 * sizeof *ds);
    for (size_t k = 0; k < l->noisy; k++) {
        ds[(l->unknowns + k) * d2 + k * (d + 1)] = l->rows.noise[step];
        for (size_t u = 0; u < l->unknowns; u++)
            l->common[(l->crossed + u) * l->noisy + k] += own[u * d2 + k * (d + 1)] * l->pull[step * d + k];
    }
}

static sock_status add_kick_rows(void *arg, size_t begin, size_t end, size_t fold)
{
    looking *l = arg;
    const size_t d = l->rows.d, n = end - begin, width = l->unknowns * d * d, all = l->unknowns + l->noisy;
    const sk_lift lift = sk_lift_part(&l->rows.lift, begin, end);
    sock_context *ctx = l->w->ctx;
    double *at = sk_doubles_unset(ctx, n * SK_LIFT_NODES, width), *row = sk_doubles_unset(ctx, n, width);
    double *c = sk_doubles(ctx, 1 + all, d * d), *ds = c ? c + d * d : NULL;
    (void)fold;
    sock_status status = at && row && c ? slopes_at(l, begin, n, at) : SOCK_ENOMEM;
    if (status >= 0) status = sk_lift_spreads(ctx, &lift, width, at, 1, row);
    for (size_t i = 0; status >= 0 && i < n; i++) {
        if (l->rows.pass->begins[begin + i] || sk_factor_copy(d, 0, l->rows.spread + (begin + i) * d * d, c)) continue;
        take_step(l, begin + i, row + i * width, ds);
        for (size_t u = 0; u < all; u++) standardise(d, c, ds + u * d * d);
        sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, all, all, d * d, 1, ds, d * d, ds, d * d, 1, l->information, all);
    }
    sk_free(at);
    sk_free(row);
    sk_free(c);
    return status;
}

static sock_status inform(looking *l, size_t system)
{
    l->system = system;
    l->unknowns = sk_diffusion_spread_unknowns(l->kicks, system);
    const size_t all = l->unknowns + l->noisy;
    l->information = sk_doubles(l->w->ctx, all, all);
    const sock_status status = l->information ? sk_inertial_each(l->w, add_kick_rows, l) : SOCK_ENOMEM;
    if (status >= 0) sk_diffusion_spread_put(l->kicks, system, l->information, all);
    for (size_t u = 0; status >= 0 && l->noisy && u < l->unknowns; u++)
        memcpy(l->cross + (l->crossed + u) * l->noisy, l->information + u * all + l->unknowns,
               l->noisy * sizeof *l->cross);
    l->crossed += l->unknowns;
    sk_free(l->information);
    l->information = NULL;
    return status;
}

/* ---- R is not known either ---- */

static sock_status take_noise(looking *l)
{
    sock_context *ctx = l->w->ctx;
    const size_t d = l->rows.d;
    double r[SK_SECOND_MOST_DIM];
    size_t all = 0;
    if (!l->fit->now.noise) return SOCK_OK;
    for (size_t i = 0; i < sk_diffusion_spread_systems(l->kicks); i++) all += sk_diffusion_spread_unknowns(l->kicks, i);
    l->noisy = d;
    l->error = sk_doubles(ctx, d, 1);
    l->pull = sk_doubles(ctx, l->rows.n, d);
    l->cross = sk_doubles(ctx, all, d);
    l->common = sk_doubles(ctx, all, d);
    if (!l->error || !l->pull || !l->cross || !l->common) return SOCK_ENOMEM;
    SK_TRY(sk_inertial_noise(l->w, &l->rows, l->fit->now.noise, r, l->error, l->pull));
    for (size_t k = 0; k < d; k++)
        if (!isfinite(l->error[k])) return sk_fail(ctx, SOCK_ENUMERIC, "bands: R has no error");
    return SOCK_OK;
}

/* out (rank) = L' times column k of a table of unknowns, those of a group. */
static void project(const sk_factor *f, size_t group, const double *table, size_t width, size_t k, double *out)
{
    memset(out, 0, f->rank * sizeof *out);
    for (size_t e = 0; e < f->count; e++)
        if (f->group[e] == group) sk_axpy(f->rank, table[e * width + k], f->value + e * f->rank, out);
}

/* m (rank x rank) = 1 + ..., and the root of it: m = root root'. space: 2 rank. */
static sock_status root_of_group(const looking *l, const sk_factor *f, size_t group, double *m, double *space)
{
    const size_t rank = f->rank;
    double *b = space, *x = space + rank;
    memset(m, 0, rank * rank * sizeof *m);
    for (size_t i = 0; i < rank; i++) m[i * (rank + 1)] = 1;
    for (size_t k = 0; k < l->noisy; k++) {
        project(f, group, l->cross, l->noisy, k, b);
        project(f, group, l->common, l->noisy, k, x);
        for (size_t i = 0; i < rank; i++)
            for (size_t j = 0; j < rank; j++)
                m[i * rank + j] += l->error[k] * l->error[k] * b[i] * b[j] - b[i] * x[j] - x[i] * b[j];
    }
    SK_TRY(sk_eigh(l->w->ctx, rank, m, rank, space));
    for (size_t e = 0; e < rank; e++) sk_scale(rank, sqrt(sk_band_known(space[e])), m + e * rank);
    return SOCK_OK;
}

/* The law of V given R becomes that beside R: its columns are turned, group after group. */
static sock_status turn(const looking *l, sk_factor *f)
{
    const size_t rank = f->rank;
    double *root = sk_doubles(l->w->ctx, rank + 3, rank), *space = root ? root + rank * rank : NULL;
    sock_status status = root ? SOCK_OK : SOCK_ENOMEM;
    for (size_t g = 0; status >= 0 && g < f->groups; g++) {
        status = root_of_group(l, f, g, root, space);
        for (size_t e = 0; status >= 0 && e < f->count; e++) {
            if (f->group[e] != g) continue;
            memcpy(space, f->value + e * rank, rank * sizeof *space);
            for (size_t c = 0; c < rank; c++) f->value[e * rank + c] = sk_dot(rank, space, root + c * rank);
        }
    }
    sk_free(root);
    return status;
}

/* The law of V (d p x rank) in the units of the rows; NULL: none. */
static sock_status kicks_law(looking *l, sk_factor **out)
{
    const sk_trial *t = kicks_of(l);
    double mu[SK_SECOND_MOST_DIM] = {0};
    sk_diffusion_term *term = NULL;
    SK_TRY(sk_trial_diffusion_term(l->w->ctx, t, t->folds, 1, &term));
    sock_status status = sk_diffusion_spread_new(l->w->ctx, term, SK_BAND_UNKNOWNS, &l->kicks);
    if (status >= 0 && l->kicks) status = take_noise(l);
    for (size_t i = 0; status >= 0 && l->kicks && i < sk_diffusion_spread_systems(l->kicks); i++) {
        const double typical = l->rows.typical[t->diagonal ? i + 1 : 0];
        mu[i] = t->learned ? 0 : sk_polish_penalty(l->rows.n, t->l, t->lambda_scale, typical);
        status = inform(l, i);
    }
    if (status >= 0 && l->kicks) status = sk_diffusion_spread_factor(l->w->ctx, l->kicks, 1, mu, out);
    if (status >= 0 && *out && l->noisy) status = turn(l, *out);
    sk_diffusion_term_free(term);
    return status;
}

/* ---- In the units of the data ---- */

/* Weights of d components become those of the velocities among 2d, each in its unit (d). */
static void widen_force(sk_factor *f, size_t d, const double *unit)
{
    for (size_t e = 0; e < f->count; e++) {
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a model has d >= 1
        const size_t j = f->entry[e] / d, k = f->entry[e] % d;
        f->entry[e] = j * 2 * d + d + k;
        f->group[e] = f->groups > 1 ? d + k : 0;
        sk_scale(f->rank, unit[k], f->value + e * f->rank);
    }
    if (f->groups > 1) f->groups = 2 * d;
}

/* V of d rows of blocks becomes that of 2d. */
static void widen_kicks(sk_factor *f, size_t d, size_t block, const double *unit)
{
    for (size_t e = 0; e < f->count; e++) {
        sk_scale(f->rank, unit[f->entry[e] / block], f->value + e * f->rank);
        f->entry[e] += d * block;
    }
}

/* Free motion does not move. */
static sock_status certain(sock_context *ctx, sk_factor **out) { return sk_factor_new(ctx, 1, 1, 1, out); }

/* What the filter knows of position and velocity, in the units of the data: n x 2d. */
static sock_status states_of(const looking *l, double **out)
{
    const sk_units *units = l->w->sets.units;
    const size_t d = l->rows.d, w = 2 * d;
    *out = sk_doubles_unset(l->w->ctx, l->rows.n, w);
    if (!*out) return SOCK_ENOMEM;
    for (size_t i = 0; i < l->rows.n * w; i++) {
        const size_t k = i % w;
        const double scale = (units ? units->scale[k % d] : 1) * (k < d ? 1 : l->w->clock);
        (*out)[i] = (units && k < d ? units->centre[k] : 0) + scale * l->rows.pass->m[i];
    }
    return SOCK_OK;
}

static sock_status look(looking *l, sock_model *model)
{
    const size_t d = l->rows.d;
    const sk_units *units = l->w->sets.units;
    double force[SK_SECOND_MOST_DIM], kick[SK_SECOND_MOST_DIM], *states = NULL;
    for (size_t k = 0; k < d; k++) {
        const double speed = (units ? units->scale[k] : 1) * l->w->clock;
        force[k] = speed * l->w->clock;
        kick[k] = speed * sqrt(l->w->clock);
    }
    sk_spread *s = model->spread;
    s->share[1] = s->pi[1] = s->diffusion_share[0] = 1;
    SK_TRY(certain(l->w->ctx, &s->drift[0]));
    SK_TRY(force_law(l, &s->drift[1]));
    widen_force(s->drift[1], d, force);
    SK_TRY(kicks_law(l, &s->diffusion[0]));
    const sk_diffusion_term *term = model->diffusion[0];
    if (s->diffusion[0]) widen_kicks(s->diffusion[0], d, sk_features_count(term->map) * term->rank, kick);
    SK_TRY(states_of(l, &states));
    const sk_transitions points = {
        .n = l->rows.n, .d = 2 * d, .in = 2 * d, .y = states, .left = states, .right = states};
    const sock_status status = sk_spread_at_data(l->w->ctx, &points, &points, model);
    sk_free(states);
    return status;
}

sock_status sk_inertial_spread(const sk_inertial *w, const sk_inertial_fit *fit, sock_model *model)
{
    looking l = {.w = w, .fit = fit};
    if (model->drift_terms != 2) return SOCK_OK; /* parts of steps */
    SK_TRY(sk_spread_new(w->ctx, model->d, model->d, 2, 0, 1, &model->spread));
    sock_status status = sk_inertial_rows_new(w, &fit->pass, fit->now.noise, &l.rows);
    if (status >= 0) status = look(&l, model);
    sk_inertial_rows_clear(&l.rows);
    sk_drift_spread_free(l.force);
    sk_diffusion_spread_free(l.kicks);
    sk_free(l.error);
    sk_free(l.pull);
    sk_free(l.cross);
    sk_free(l.common);
    if (status >= 0) return SOCK_OK;
    sk_spread_free(model->spread);
    model->spread = NULL;
    if (status == SOCK_ENUMERIC) sk_begin(w->ctx); /* a model without bands is a model */
    return sk_tolerate(status);
}
