/* noisespread.c - bands of a model that was fitted along a filter, from the rows that were fitted.
 *
 *   1. f: the law of its weights from innovation rows, which are whitened by S + shift and have the noise S.
 *   2. All drifts of the search, scored about the model as in a sweep of the fit, which has tried a part of them. The
 *      one that was taken may be the simplest within some nats, so the others count with their laws too.
 *   3. a: the information of the filter's likelihood about V, less what R takes of it (filtertangent.h). a is fitted
 *      given f, so what a step of f by a standard deviation does to it is added: at long steps that is as much as the
 *      rest. With L the factor of the drift's weights,
 *
 *          information = F_VV - F_VR F_RR^-1 F_RV,    V also moves by (that)^-1 (F_VL - F_VR F_RR^-1 F_RL) z.
 *
 *   4. And f moves with R and V: z does not have the covariance 1, that of given R and a, but M^-1, what elimination of
 *      R and V leaves of F_LL and of the penalties of the weights (1 less what the means of the steps say, where that
 * is less than 1). Where an AR(1) may as well be one with noise, this is most of it.
 *
 *   5. The law of a step is a Gaussian that is followed in substeps. What simulated steps say beyond it moves V as a
 *      step of f does: an error of one size, of a tenth of a in a double well at h = 0.5, that counts as a standard
 *      deviation. */
#include "noise/noisespread.h"
#include "noise/noiserules.h"

#include "diffusion/diffusionspread.h"
#include "drift/driftspread.h"
#include "model/bandrules.h"
#include "noise/filtertangent.h"
#include "noise/stepends.h"
#include "tune/policy.h"
#include "tune/searchspread.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { PIECE = 2048 }; /* steps whose features are in memory at once; speed only */

/* The runs that are looked at; they stand for `times` as many steps. */
typedef struct looking {
    const sk_measured *m;
    const sk_noise_fit *fit;
    sock_model *model;
    sk_series series, some; /* some: owns what was copied */
    double times;
    sk_frozen *z;
} looking;

static void looking_clear(looking *w)
{
    sk_frozen_free(w->z);
    sk_series_clear(&w->some);
}

/* ---- Runs ---- */

/* Every stride-th piece of the series, runs cut into pieces of at most `piece` steps. */
static sock_status copy_pieces(sock_context *ctx, const sk_series *all, size_t piece, size_t stride, sk_series *out)
{
    const size_t d = all->d, most = all->runs + all->steps / piece;
    size_t *first = sk_alloc(ctx, most / stride + 2, sizeof *first), seen = 0;
    double *y = sk_doubles(ctx, all->steps, d), *next = sk_doubles(ctx, all->steps, d);
    double *h = sk_doubles(ctx, all->steps, 1);
    *out = (sk_series){d, 0, 0, first, y, next, h, {first, y, next, h}};
    if (!first || !y || !next || !h) return SOCK_ENOMEM;
    for (size_t r = 0; r < all->runs; r++)
        for (size_t from = all->first[r], end = all->first[r + 1], count; from < end; from += count) {
            count = SK_MIN(end - from, piece);
            if (seen++ % stride) continue;
            memcpy(y + out->steps * d, all->y + from * d, count * d * sizeof *y);
            memcpy(next + out->steps * d, all->next + from * d, count * d * sizeof *y);
            memcpy(h + out->steps, all->h + from, count * sizeof *h);
            first[out->runs++] = out->steps;
            out->steps += count;
        }
    first[out->runs] = out->steps;
    return SOCK_OK;
}

/* Steps that can be afforded: each weight of the drift that moves is a pass, whose laws are kept. */
static size_t most_steps(const looking *w)
{
    const sk_drift_term *term = w->model->drift[0];
    const size_t d = w->series.d, size = sk_features_count(term->map) * d;
    double moving = 1;
    for (size_t i = 0; i < size; i++) moving += term->weight[i] != 0;
    return sk_band_measured_steps(d, moving);
}

/* About `most` steps at most, of pieces of runs; w is as it was before. */
static sock_status begin_with(looking *w, size_t piece, size_t most)
{
    const sk_measured *m = w->m;
    const sk_filter_spec spec = sk_noisy_spec(m, &w->fit->now);
    w->series = m->series;
    const size_t stride = (m->series.steps + most - 1) / most;
    if (stride > 1) {
        SK_TRY(copy_pieces(m->ctx, &m->series, piece, stride, &w->some));
        w->series = w->some;
    }
    w->times = (double)m->series.steps / (double)w->series.steps;
    return sk_frozen_new(m->ctx, &w->series, &spec, &w->z);
}

static sock_status begin(looking *w)
{
    w->series = w->m->series;
    return begin_with(w, w->series.steps + 1, most_steps(w)); /* whole runs */
}

/* ---- The drift ---- */

/* White of all steps such that rows by it have G as their squares: C' (S + shift)^-1, C C' = S. */
static sock_status noise_white(const looking *w, double *out)
{
    const sk_frozen *z = w->z;
    assert(z);
    const size_t d = w->series.d, d2 = d * d;
    double s[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], c[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    for (size_t i = 0; i < w->series.steps; i++) {
        const double *white = z->white + i * d2;
        for (size_t k = 0; k < d2; k++) s[k] = z->pass.cov[i * d2 + k] + (z->spec.noise ? z->spec.noise[k] : 0);
        if (z->pass.lost[i] || sk_factor_copy(d, 0, s, c)) continue; /* white is 0 where a law is lost */
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++) {
                double sum = 0; /* of c_la W_lb, W = white' white */
                for (size_t l = 0; l < d; l++)
                    for (size_t e = 0; e < d; e++) sum += c[l * d + a] * white[e * d + l] * white[e * d + b];
                out[(i * d + a) * d + b] = sum;
            }
    }
    return SOCK_OK;
}

/* The rows of the steps begin .. end-1, whole runs, into the sums of H and of G. */
static sock_status add_piece(const looking *w, const sk_features *map, const double *white, size_t begin, size_t end,
                             sk_drift_sums *const *sums)
{
    sock_context *ctx = w->m->ctx;
    assert(w->z);
    const size_t p = sk_features_count(map), rows = (end - begin) * w->z->times, d2 = w->series.d * w->series.d;
    sk_innovations in = sk_frozen_innovations(w->z, begin, end, 0);
    sk_rule *rule = NULL;
    double *psi = NULL;
    sock_status status;
    SK_GO(sk_frozen_rule(ctx, w->z, begin, end, true, &rule));
    psi = sk_doubles_unset(ctx, rows, p);
    SK_GO(psi ? sk_occupation_features(ctx, rule, map, 0, rows, psi, p) : SOCK_ENOMEM);
    SK_GO(sk_drift_sums_add_innovations(ctx, sums[0], &in, psi));
    in.white = white + begin * d2;
    SK_GO(sk_drift_sums_add_innovations(ctx, sums[1], &in, psi));
out:
    sk_rule_free(rule);
    sk_free(psi);
    return status;
}

static sock_status add_pieces(const looking *w, const sk_features *map, sk_drift_sums *const *sums)
{
    const sk_series *s = &w->series;
    double *white = sk_doubles(w->m->ctx, s->steps, s->d * s->d);
    sock_status status = white ? noise_white(w, white) : SOCK_ENOMEM;
    for (size_t r = 0, end; status >= 0 && r < s->runs; r = end) {
        for (end = r + 1; end < s->runs && s->first[end] - s->first[r] < PIECE;) end++;
        status = add_piece(w, map, white, s->first[r], s->first[end], sums);
    }
    sk_free(white);
    return status;
}

/* A constant that is asked: what the rows say of its weights is Psi' (t - Psi w). */
static sock_status ask_constant(sock_context *ctx, const sk_guess *guess, const double *w, const sk_drift_sums *sums,
                                sk_drift_spread *spread)
{
    const size_t p = sums->p, d = sums->d, order = p * d;
    SK_TRY(sk_drift_spread_ask(ctx, spread, guess->constant, guess->counts, w));
    for (size_t k = 0; k < d; k++) {
        const size_t at = k * p + guess->constant;
        double pull = sums->g[at];
        for (size_t i = 0; i < order; i++)
            pull -= sums->h[SK_MAX(at, i) * order + SK_MIN(at, i)] * w[i % p * d + i / p];
        spread->pull[at] = guess->counts[k] ? pull : 0;
    }
    return SOCK_OK;
}

/* The law of the weights of a term from these sums; t: how they were found. */
static sock_status factor_of(const looking *w, const sk_drift_term *term, const sk_trial *t, sk_drift_sums *const *sums,
                             sk_factor **out)
{
    sock_context *ctx = w->m->ctx;
    const size_t p = sums[0]->p, d = sums[0]->d, order = p * d;
    const double ridge = w->times * (double)sums[0]->rows[0] * t->l * sk_drift_sums_unit(sums[0]);
    double *lambda = sk_doubles(ctx, order, 1);
    sk_drift_spread *spread = NULL;
    sk_guess guess = {0};
    sock_status status = lambda ? sk_drift_spread_new(ctx, p, d, SK_JOINT, &spread) : SOCK_ENOMEM;
    if (status >= 0 && t->learned) status = sk_guess_constant(ctx, term->map, d, term->weight, w->m->units, d, &guess);
    if (status >= 0 && guess.counts) status = ask_constant(ctx, &guess, term->weight, sums[0], spread);
    if (status >= 0) {
        memcpy(spread->h, sums[0]->h, order * order * sizeof *spread->h);
        memcpy(spread->g, sums[1]->h, order * order * sizeof *spread->g);
        sk_drift_spread_multiply(spread, w->times);
        for (size_t i = 0; i < order; i++) lambda[i] = ridge;
        if (t->learned) status = sk_drift_spread_learned(ctx, spread, term->weight, lambda);
    }
    if (status >= 0) status = sk_drift_spread_factor(ctx, spread, lambda, out);
    sk_drift_spread_free(spread);
    sk_guess_clear(&guess);
    sk_free(lambda);
    return status;
}

static sock_status drift_law(const looking *w, const sk_drift_term *term, const sk_trial *t, sk_factor **out)
{
    sock_context *ctx = w->m->ctx;
    const size_t p = sk_features_count(term->map);
    sk_drift_sums *sums[2] = {NULL, NULL};
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < 2; i++) status = sk_drift_sums_new(ctx, p, term->d, 0, SK_JOINT, &sums[i]);
    if (status >= 0) status = add_pieces(w, term->map, sums);
    if (status >= 0) status = factor_of(w, term, t, sums, out);
    sk_drift_sums_free(sums[0]);
    sk_drift_sums_free(sums[1]);
    return status;
}

/* ---- Candidates ---- */

/* Every candidate after its folds about the model, with how much it is to be believed. None where a filter pass of all
 * rows is too large. */
typedef struct rivals {
    sk_trial *trial[SK_MOST];
    double pi[SK_MOST];
    size_t others; /* that are believed and are not f */
} rivals;

static void rivals_clear(rivals *r)
{
    for (size_t c = 0; c < SK_MOST; c++) sk_trial_free(r->trial[c]);
}

static sock_status sweep_all(const looking *w, rivals *r)
{
    const sk_measured *m = w->m;
    const sk_filter_spec spec = sk_noisy_spec(m, &w->fit->now);
    const bool some = w->series.steps < m->series.steps;
    sk_sweep sweep = {.all = true};
    sk_frozen *z = NULL;
    size_t best;
    if (some && !sk_noise_keeps_pass(sk_noise_bytes(m, w->fit->now.substeps.count))) return SOCK_OK;
    if (some) SK_TRY(sk_frozen_new(m->ctx, &m->series, &spec, &z));
    for (size_t c = 0; c < m->list->drifts; c++) sweep.alive[c] = true;
    const sock_status status = sk_noise_drifts(m, some ? z : w->z, &sweep, r->trial, &best);
    sk_frozen_free(z);
    return status;
}

static sock_status compete(const looking *w, rivals *r)
{
    const sk_candidates *list = w->m->list;
    SK_TRY(sweep_all(w, r));
    const sk_field_trials all = {list->drifts, w->m->rows->clusters, list->drift, r->trial, 0};
    if (r->trial[w->fit->f]) sk_drift_weights(&all, r->pi);
    for (size_t c = 0; c < list->drifts; c++) r->others += c != w->fit->f && r->pi[c] > 0;
    return SOCK_OK;
}

/* f takes what they leave. */
static sock_status put_candidates(const looking *w, const rivals *r, sk_spread *spread)
{
    size_t at = 0;
    spread->share[0] = spread->pi[0] = 1;
    for (size_t c = 0; c < SK_MOST; c++) {
        if (c == w->fit->f || !(r->pi[c] > 0)) continue;
        spread->pi[0] -= r->pi[c];
        spread->pi[1 + at] = r->pi[c];
        SK_TRY(sk_trial_drift_term(w->m->ctx, r->trial[c], r->trial[c]->folds, 1, &spread->other[at]));
        SK_TRY(drift_law(w, spread->other[at], r->trial[c], &spread->other_law[at]));
        at++;
    }
    spread->pi[0] = fmax(spread->pi[0], 0);
    return SOCK_OK;
}

/* ---- The diffusion ---- */

/* Directions: numbers of V (systems one after the other), of R, columns of the drift's factor, and last the finer law.
 */
typedef struct directions {
    sk_diffusion_spread *spread;
    size_t v, r, f, moves, all; /* moves: f and the true law */
    double *dr;                 /* (v + r) x d x d: moves of R */
    double *mean, *covariance;  /* moves x steps x d (x d) */
    double *information;        /* all x all, lower */
    double *seen;               /* f: of F_LL on the diagonal, what the means of the steps say */
} directions;

static void directions_clear(directions *t)
{
    sk_diffusion_spread_free(t->spread);
    sk_free(t->dr);
    sk_free(t->mean);
    sk_free(t->covariance);
    sk_free(t->information);
    sk_free(t->seen);
}

/* R_kk, and R_kl of a full R; each in a unit of its own size. */
static sock_status list_noise(const looking *w, directions *t)
{
    const size_t d = w->series.d;
    const double *noise = w->fit->now.noise;
    const bool full = w->m->mode == SK_NOISE_FULL;
    t->r = !noise ? 0 : full ? d * (d + 1) / 2 : d;
    t->dr = sk_doubles(w->m->ctx, SK_MAX(t->v + t->r, 1), d * d);
    if (!t->dr) return SOCK_ENOMEM;
    double *at = t->dr + t->v * d * d;
    for (size_t k = 0; noise && k < d; k++)
        for (size_t l = full ? 0 : k; l <= k; l++, at += d * d)
            at[k * d + l] = at[l * d + k] = sqrt(noise[k * (d + 1)] * noise[l * (d + 1)]);
    return SOCK_OK;
}

static sock_status directions_new(const looking *w, const sk_diffusion_term *term, const sk_factor *f, directions *t)
{
    sock_context *ctx = w->m->ctx;
    const size_t d = w->series.d;
    SK_TRY(sk_diffusion_spread_new(ctx, term, SK_BAND_UNKNOWNS, &t->spread));
    if (!t->spread) return SOCK_OK;
    for (size_t i = 0; i < sk_diffusion_spread_systems(t->spread); i++)
        t->v += sk_diffusion_spread_unknowns(t->spread, i);
    SK_TRY(list_noise(w, t));
    t->f = f->rank;
    t->moves = t->f + 1;
    t->all = t->v + t->r + t->moves;
    t->mean = sk_doubles(ctx, t->moves * w->series.steps, d);
    t->covariance = sk_doubles(ctx, t->moves * w->series.steps, d * d);
    t->information = sk_doubles(ctx, t->all, t->all);
    t->seen = sk_doubles(ctx, t->f, 1);
    return t->mean && t->covariance && t->information && t->seen ? SOCK_OK : SOCK_ENOMEM;
}

/* model: f moves by `share` of column c of a factor of weights of features. */
static sock_status move_drift(const looking *w, const sk_features *map, const sk_factor *f, size_t c, double share,
                              sock_model *model)
{
    sock_context *ctx = w->m->ctx;
    double *z = sk_doubles(ctx, f->groups, f->rank), *move = sk_doubles(ctx, sk_features_count(map), w->series.d);
    sock_status status = z && move ? SOCK_OK : SOCK_ENOMEM;
    for (size_t g = 0; status >= 0 && g < f->groups; g++) z[g * f->rank + c] = share;
    if (status >= 0) sk_factor_move(f, z, move);
    if (status >= 0) status = sk_add_weights(ctx, map, move, model);
    if (status >= 0) status = sk_join_drifts(ctx, model);
    sk_free(z);
    sk_free(move);
    return status;
}

/* mean and covariance: what another filter says of the steps beyond the frozen one, over share. */
static sock_status follow(const looking *w, const sk_filter_spec *spec, double share, double *mean, double *covariance)
{
    const size_t d = w->series.d, d2 = d * d;
    sk_pass pass = {0};
    sock_status status = sk_pass_new(w->m->ctx, &w->series, true, &pass);
    if (status >= 0) status = sk_filter(w->m->ctx, &w->series, spec, &pass);
    for (size_t i = 0; status >= 0 && i < w->series.steps; i++) {
        if (pass.lost[i] || w->z->pass.lost[i]) continue;
        for (size_t k = i * d; k < (i + 1) * d; k++) mean[k] = (pass.mean[k] - w->z->pass.mean[k]) / share;
        for (size_t k = i * d2; k < (i + 1) * d2; k++) covariance[k] = (pass.cov[k] - w->z->pass.cov[k]) / share;
    }
    sk_pass_clear(&pass);
    return status;
}

/* With f moved by `share` of column c of a factor. */
static sock_status follow_column(const looking *w, const sk_features *map, const sk_factor *f, size_t c, double share,
                                 double *mean, double *covariance)
{
    sk_noisy moved = {0};
    sock_status status = sk_noisy_copy(w->m, &w->fit->now, &moved);
    if (status >= 0) status = move_drift(w, map, f, c, share, moved.model);
    const sk_filter_spec spec = sk_noisy_spec(w->m, &moved);
    if (status >= 0) status = follow(w, &spec, share, mean, covariance);
    sk_noisy_clear(&moved);
    return status;
}

/* Starts of every stride-th step: m (d for each), p and h. */
static void take_starts(const looking *w, size_t stride, double *m, double *p, double *h)
{
    const sk_series *s = &w->series;
    const size_t d = s->d, d2 = d * d;
    for (size_t run = 0, i = 0; run < s->runs; run++)
        for (; i < s->first[run + 1]; i++) {
            if (i % stride) continue;
            memcpy(m + i / stride * d, w->z->pass.m + (i + run) * d, d * sizeof *m);
            memcpy(p + i / stride * d2, w->z->pass.p + (i + run) * d2, d2 * sizeof *p);
            h[i / stride] = s->h[i];
        }
}

/* Every so manieth step simulated, each for all of them. Steps of one substep are short: there is nothing to see. */
static sock_status follow_ends(const looking *w, const directions *t)
{
    const sk_filter_spec spec = sk_noisy_spec(w->m, &w->fit->now);
    const size_t d = w->series.d, d2 = d * d, steps = w->series.steps, stride = (steps - 1) / SK_BAND_ENDS + 1;
    const size_t n = (steps - 1) / stride + 1;
    double *mean = t->mean + t->f * steps * d, *covariance = t->covariance + t->f * steps * d2;
    double *space = sk_doubles(w->m->ctx, n, 2 * d + 2 * d2 + 1);
    if (!space) return SOCK_ENOMEM;
    double *p = space + n * d, *h = p + n * d2, *ends = h + n, *spread = ends + n * d;
    const sk_step_starts starts = {
        n, SK_BAND_PATHS, SK_BAND_FINER * spec.flow.substeps.count, space, p, h, spec.flow.low, spec.flow.high};
    take_starts(w, stride, space, p, h);
    sock_status status = SOCK_OK;
    if (spec.flow.substeps.count > 1) status = sk_step_ends(w->m->ctx, w->model, &starts, ends, spread);
    for (size_t i = 0; status >= 0 && spec.flow.substeps.count > 1 && i < steps; i += stride) {
        const double each = (double)steps / (double)n;
        bool finite = !w->z->pass.lost[i];
        for (size_t k = 0; k < d2; k++) finite = finite && isfinite(spread[i / stride * d2 + k]);
        for (size_t k = 0; finite && k < d; k++)
            mean[i * d + k] = each * (ends[i / stride * d + k] - w->z->pass.mean[i * d + k]);
        for (size_t k = 0; finite && k < d2; k++)
            covariance[i * d2 + k] = each * (spread[i / stride * d2 + k] - w->z->pass.cov[i * d2 + k]);
    }
    sk_free(space);
    return status;
}

/* Differences over a small part of a standard deviation to one side: the frozen pass is the other end. */
static sock_status follow_drift(const looking *w, const sk_features *map, const sk_factor *f, directions *t)
{
    const size_t d = w->series.d, steps = w->series.steps;
    for (size_t c = 0; c < t->f; c++) {
        double *mean = t->mean + c * steps * d, *covariance = t->covariance + c * steps * d * d;
        SK_TRY(sk_progress(w->m->ctx, "bands", -1));
        SK_TRY(follow_column(w, map, f, c, SK_BAND_MOVE, mean, covariance));
    }
    return SOCK_OK;
}

/* T such that a step's variance is T (I a) T'. F with the spread of propagators within the step is not quite it: F is
 * multiplied by what is left, C_V C^-1, where V = C_V C_V' and F (I a) F' = C C'. */
static void find_turn(const sk_frozen *z, size_t i, double *turn)
{
    const size_t d = z->series->d, d2 = d * d;
    const double *f = z->average + i * d2;
    double t[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], c[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    double own[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    memcpy(turn, f, d2 * sizeof *turn);
    sk_small_product(d, f, z->diffusion + i * d2, false, t);
    sk_small_product(d, t, f, true, own);
    if (sk_factor_copy(d, 1e-12, own, c) || sk_factor_copy(d, 1e-12, z->own + i * d2, own)) return;
    memcpy(t, f, d2 * sizeof *t);
    for (size_t j = 0; j < d; j++) /* t := C^-1 F */
        for (size_t k = 0; k < d; k++) {
            for (size_t l = 0; l < k; l++) t[k * d + j] -= c[k * d + l] * t[l * d + j];
            t[k * d + j] /= c[k * (d + 1)];
        }
    sk_small_product(d, own, t, false, turn);
}

/* out = T a T' for each of `count` moves of I a in step i. */
static void to_the_end(const sk_frozen *z, size_t i, size_t count, const double *a, double *out)
{
    const size_t d = z->series->d, d2 = d * d;
    double turn[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM], t[SK_NOISE_MOST_DIM * SK_NOISE_MOST_DIM];
    find_turn(z, i, turn);
    for (size_t u = 0; u < count; u++) {
        sk_small_product(d, turn, a + u * d2, false, t);
        sk_small_product(d, t, turn, true, out + u * d2);
    }
}

/* Moves of the variance of each step of a run: steps x (v + r) x d x d, zero on entry. */
static sock_status slopes_of_run(const looking *w, const directions *t, size_t run, double *dv)
{
    sock_context *ctx = w->m->ctx;
    const size_t d2 = w->series.d * w->series.d, first = w->series.first[run], end = w->series.first[run + 1];
    sk_rule *rule = NULL;
    SK_TRY(sk_frozen_rule(ctx, w->z, first, end, false, &rule));
    sock_status status = SOCK_OK;
    for (size_t i = 0, at = 0; status >= 0 && i < sk_diffusion_spread_systems(t->spread); i++) {
        const size_t q = sk_diffusion_spread_unknowns(t->spread, i);
        double *some = sk_doubles(ctx, (end - first) * q, d2);
        status = some ? sk_diffusion_spread_slopes(ctx, t->spread, i, rule, some) : SOCK_ENOMEM;
        for (size_t s = 0; status >= 0 && s < end - first; s++)
            to_the_end(w->z, first + s, q, some + s * q * d2, dv + (s * (t->v + t->r) + at) * d2);
        at += q;
        sk_free(some);
    }
    sk_rule_free(rule);
    return status;
}

/* Rows of all directions in a run, and their products. */
static sock_status add_run(const looking *w, directions *t, size_t run)
{
    sock_context *ctx = w->m->ctx;
    const size_t d = w->series.d, d2 = d * d, first = w->series.first[run], n = w->series.first[run + 1] - first;
    const size_t rows = sk_tangent_rows(d), own = t->v + t->r, steps = w->series.steps;
    double *dv = sk_doubles(ctx, n * own, d2), *y = sk_doubles(ctx, n * rows, t->all);
    sock_status status = dv && y ? slopes_of_run(w, t, run, dv) : SOCK_ENOMEM;
    if (status >= 0) status = sk_tangent_run(ctx, w->z, run, own, dv, t->r ? t->dr : NULL, y, t->all);
    for (size_t i = 0; status >= 0 && i < n; i++)
        for (size_t c = 0; c < t->moves; c++) {
            const size_t at = c * steps + first + i;
            double *row = y + i * rows * t->all + own + c; /* the mean's d numbers, then the variance's */
            sk_tangent_row(w->z, first + i, t->mean + at * d, t->covariance + at * d2, row, t->all);
            for (size_t k = 0; c < t->f && k < d; k++) t->seen[c] += row[k * t->all] * row[k * t->all];
        }
    if (status >= 0) sk_syrk(ctx, SK_TRANSPOSED, t->all, n * rows, 1, y, t->all, 1, t->information, t->all);
    sk_free(dv);
    sk_free(y);
    return status;
}

/* What R takes: information := F - F_R F_RR^-1 F_R' outside the rows of R, by eliminating them one by one. */
static void eliminate(const directions *t)
{
    double *m = t->information;
    const size_t all = t->all;
    sk_symmetrise(all, m, all);
    for (size_t e = t->v; e < t->v + t->r; e++) {
        const double pivot = m[e * all + e];
        for (size_t i = 0; pivot > 0 && i < all; i++) {
            const double share = m[i * all + e] / pivot;
            for (size_t j = 0; i != e && j < all; j++) m[i * all + j] -= share * m[e * all + j];
        }
    }
}

static sock_status typical_of(const looking *w, size_t part, double *out)
{
    const size_t d = w->series.d, n = w->series.steps;
    double *value = sk_doubles_unset(w->m->ctx, n, 1);
    if (!value) return SOCK_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const double *a = w->z->diffusion + i * d * d;
        value[i] = part ? a[(part - 1) * (d + 1)] : sk_norm(d * d, a);
    }
    *out = sk_median(n, value);
    sk_free(value);
    return SOCK_OK;
}

/* One penalty for each system of V. */
static sock_status penalties(const looking *w, const directions *t, double *mu)
{
    const sk_trial *trial = w->fit->diffusion[w->fit->a];
    for (size_t i = 0; i < sk_diffusion_spread_systems(t->spread); i++) {
        double typical;
        SK_TRY(typical_of(w, trial->diagonal ? i + 1 : 0, &typical));
        mu[i] = sk_polish_penalty(w->m->series.steps, trial->l, trial->lambda_scale, typical);
    }
    return SOCK_OK;
}

/* inner (groups rank x moves) = R' X of the law of V, X the corner of V and the moves. */
static void corner_of(const looking *w, const directions *t, const sk_factor *f, double *inner)
{
    for (size_t e = 0; e < f->count; e++)
        for (size_t a = 0; a < f->rank; a++)
            sk_axpy(t->moves, w->times * f->value[e * f->rank + a], t->information + e * t->all + t->v + t->r,
                    inner + (f->group[e] * f->rank + a) * t->moves);
}

/* m (f x f) = M, of which `inner` is what V takes. */
static void left_of_f(const looking *w, const directions *t, size_t rows, const double *inner, double *m)
{
    for (size_t i = 0; i < t->f; i++)
        for (size_t j = 0; j < t->f; j++) {
            const double *own = t->information + (t->v + t->r + i) * t->all + t->v + t->r;
            m[i * t->f + j] = w->times * own[j];
            if (i == j) m[i * t->f + i] += fmax(1 - w->times * t->seen[i], 0);
        }
    sk_gemm(w->m->ctx, SK_TRANSPOSED, SK_PLAIN, t->f, t->f, rows, -1, inner, t->moves, inner, t->moves, 1, m, t->f);
}

/* turn (f x f) with turn turn' = M^-1; what R and V leave nearly nothing of is known that little. */
static sock_status turn_of_f(const looking *w, const directions *t, size_t rows, const double *inner, double *turn)
{
    sock_context *ctx = w->m->ctx;
    double *m = sk_doubles(ctx, t->f, t->f), *values = sk_doubles(ctx, t->f, 1);
    sock_status status = m && values ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) left_of_f(w, t, rows, inner, m);
    if (status >= 0) status = sk_eigh(ctx, t->f, m, t->f, values);
    for (size_t e = 0; status >= 0 && e < t->f; e++)
        for (size_t i = 0; i < t->f; i++) turn[i * t->f + e] = m[e * t->f + i] / sqrt(sk_band_known(values[e]));
    sk_free(m);
    sk_free(values);
    return status;
}

/* The columns of a factor, turned. */
static sock_status turn_factor(sock_context *ctx, const double *turn, sk_factor *f)
{
    double *value = sk_doubles(ctx, SK_MAX(f->count, 1), SK_MAX(f->rank, 1));
    if (!value) return SOCK_ENOMEM;
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, f->count, f->rank, f->rank, 1, f->value, f->rank, turn, f->rank, 0, value,
            f->rank);
    sk_free(f->value);
    f->value = value;
    return SOCK_OK;
}

/* inner's columns of f become those of the turned law; that of the true law is as it is. */
static sock_status turn_corner(sock_context *ctx, const directions *t, size_t rows, const double *turn, double *inner)
{
    double *turned = sk_doubles(ctx, SK_MAX(rows, 1), SK_MAX(t->f, 1));
    if (!turned) return SOCK_ENOMEM;
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, rows, t->f, t->f, 1, inner, t->moves, turn, t->f, 0, turned, t->f);
    for (size_t i = 0; i < rows; i++) memcpy(inner + i * t->moves, turned + i * t->f, t->f * sizeof *inner);
    sk_free(turned);
    return SOCK_OK;
}

/* The law of the drift given R and V becomes that beside them, and V also moves with f: R R' X turn. */
static sock_status join_laws(const looking *w, const directions *t, sk_factor *drift, sk_factor *f)
{
    sock_context *ctx = w->m->ctx;
    const size_t rank = f->rank, rows = f->groups * rank;
    double *inner = sk_doubles(ctx, SK_MAX(rows, 1), t->moves), *more = sk_doubles(ctx, SK_MAX(f->count, 1), t->moves),
           *turn = sk_doubles(ctx, SK_MAX(t->f, 1), SK_MAX(t->f, 1));
    sock_status status = inner && more && turn ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) corner_of(w, t, f, inner);
    if (status >= 0 && t->f) status = turn_of_f(w, t, rows, inner, turn);
    if (status >= 0 && t->f) status = turn_factor(ctx, turn, drift);
    if (status >= 0 && t->f) status = turn_corner(ctx, t, rows, turn, inner);
    for (size_t e = 0; status >= 0 && e < f->count; e++)
        for (size_t a = 0; a < rank; a++)
            sk_axpy(t->moves, f->value[e * rank + a], inner + (f->group[e] * rank + a) * t->moves, more + e * t->moves);
    if (status >= 0) status = sk_factor_widen(ctx, f, t->moves, more);
    sk_free(inner);
    sk_free(turn);
    sk_free(more);
    return status;
}

/* The laws of V and, beside it and R, of a drift. */
static sock_status both_laws(const looking *w, const sk_features *map, sk_factor *drift, directions *t, sk_factor **out)
{
    double mu[SK_NOISE_MOST_DIM] = {0};
    SK_TRY(follow_drift(w, map, drift, t));
    if (map == w->model->drift[0]->map) SK_TRY(follow_ends(w, t)); /* of other drifts f alone is asked */
    for (size_t r = 0; r < w->series.runs; r++) SK_TRY(add_run(w, t, r));
    eliminate(t);
    for (size_t i = 0, at = 0; i < sk_diffusion_spread_systems(t->spread); i++) {
        sk_diffusion_spread_put(t->spread, i, t->information + at * (t->all + 1), t->all);
        at += sk_diffusion_spread_unknowns(t->spread, i);
    }
    SK_TRY(penalties(w, t, mu));
    SK_TRY(sk_diffusion_spread_factor(w->m->ctx, t->spread, w->times, mu, out));
    return join_laws(w, t, drift, *out);
}

/* The last term is the floor where there are two. */
static sock_status diffusion_law(const looking *w, const sk_features *map, sk_factor *drift, sk_factor **out)
{
    directions t = {0};
    sock_status status = directions_new(w, w->model->diffusion[0], drift, &t);
    if (status >= 0 && t.spread) status = both_laws(w, map, drift, &t, out);
    directions_clear(&t);
    return status;
}

/* The other drifts beside R and V: those of few columns, for each is a pass of the filter. */
static sock_status turn_each(const looking *few, sk_spread *spread)
{
    size_t taken = 0;
    for (size_t i = 0; i < spread->others; i++) {
        sk_factor *unused = NULL;
        if (!sk_band_has_room(spread->other_law[i]->rank, taken)) continue;
        taken += spread->other_law[i]->rank;
        const sock_status status = diffusion_law(few, spread->other[i]->map, spread->other_law[i], &unused);
        sk_factor_free(unused);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

/* They count little, and are many columns: fewer steps, also of a long run, do for them. */
static sock_status turn_others(const looking *w, sk_spread *spread)
{
    looking few = {.m = w->m, .fit = w->fit, .model = w->model};
    const double substeps = (double)w->fit->now.substeps.count;
    const size_t most = sk_band_other_steps(substeps);
    sock_status status;
    if (!spread->others) return SOCK_OK;
    status = begin_with(&few, SK_BAND_PIECE, SK_MIN(most, w->series.steps));
    if (status >= 0) status = turn_each(&few, spread);
    looking_clear(&few);
    return status;
}

/* ---- All of it ---- */

static sock_status look(looking *w, rivals *r)
{
    sock_context *ctx = w->m->ctx;
    sock_model *model = w->model;
    SK_TRY(begin(w));
    SK_TRY(compete(w, r));
    SK_TRY(sk_spread_new(ctx, model->d, model->d, 1, r->others, 1, &model->spread));
    SK_TRY(drift_law(w, model->drift[0], w->fit->drift[w->fit->f], &model->spread->drift[0]));
    SK_TRY(put_candidates(w, r, model->spread));
    model->spread->diffusion_share[0] = 1;
    SK_TRY(diffusion_law(w, model->drift[0]->map, model->spread->drift[0], &model->spread->diffusion[0]));
    SK_TRY(turn_others(w, model->spread));
    return sk_spread_at_data(ctx, w->m->rows, w->m->rows, model);
}

sock_status sk_noise_spread(const sk_measured *m, const sk_noise_fit *fit)
{
    sock_model *model = fit->now.model;
    looking w = {.m = m, .fit = fit, .model = model};
    rivals r = {0};
    SK_TRY(sk_join_drifts(m->ctx, model));
    if (model->drift_terms != 1 || model->diffusion_terms > 2) return SOCK_OK; /* a part of a step was taken last */
    const sock_status status = look(&w, &r);
    rivals_clear(&r);
    looking_clear(&w);
    if (status >= 0) return SOCK_OK;
    sk_spread_free(model->spread);
    model->spread = NULL;
    if (status == SOCK_ENUMERIC) sk_begin(m->ctx); /* a model without bands is a model */
    return sk_tolerate(status);
}
