/* searchspread.c - after the last stage: how far the chosen model can be trusted, from its rows under that model.
 * Trials are only read, and no number of the fit changes.
 *
 *   1. the law of the weights of every drift in the model, that of V of every diffusion;
 *   2. the drifts that it was chosen among, with their weights;
 *   3. the range of the data, and how far draws of f are from it at worst. */
#include "tune/searchspread.h"

#include "data/samples.h"
#include "diffusion/diffusionspread.h"
#include "drift/driftspread.h"
#include "model/bandrules.h"
#include "model/bands.h"
#include "tune/stepsurplus.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The rows that are looked at, seen under the model; they stand for `times` as many. Of some of these steps are
 * followed, each for `each` of them. */
typedef struct looking {
    const sk_search *s;
    const sock_model *model;
    sk_transitions *some; /* NULL: all rows are looked at */
    const sk_transitions *rows;
    double times;
    bool diagonal;
    sk_views *views;
    sk_transitions *few; /* NULL: none are followed */
    sk_views *few_views;
    double each;
    double *surplus;     /* of few: d x d for each */
    sk_sampler *sampler; /* of the model, for them */
} looking;

/* ---- Rows ---- */

static sock_status take_some(looking *w)
{
    const sk_transitions *all = sk_transitions_in_memory(w->s->rows);
    const size_t stride = sk_band_row_stride(all->n), count = (all->n + stride - 1) / stride;
    w->rows = all;
    w->times = (double)w->s->rows->n / (double)count;
    if (stride == 1) return SOCK_OK;
    size_t *keep = sk_alloc(w->s->ctx, count, sizeof *keep);
    if (!keep) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) keep[i] = i * stride;
    const sock_status status = sk_transitions_subset(w->s->ctx, all, count, keep, &w->some);
    w->rows = w->some;
    sk_free(keep);
    return status;
}

/* ---- Zeros that are guesses ---- */

static const double ROUNDING = 1e-9; /* of a zero from the units and back */

/* Whether that of coordinate k is one: not the zero of the data, nor a bound. */
static bool is_guess(const sk_units *units, const double *origin, size_t k)
{
    const double zero = units->centre[k] + units->scale[k] * units->zero[k];
    return origin[k] == units->zero[k] && fabs(zero) > ROUNDING * (fabs(units->centre[k]) + units->scale[k]);
}

void sk_guess_clear(sk_guess *guess)
{
    sk_free(guess->counts);
    sk_free(guess->kept);
    *guess = (sk_guess){0};
}

/* Features with a weight that have a power of such a coordinate make their components count; one with the constant
 * does not. */
static bool find_components(const sk_features *map, size_t d, const double *w, const sk_units *units,
                            size_t coordinates, unsigned *power, sk_guess *out)
{
    const size_t p = sk_features_count(map), in = sk_features_dim(map);
    const double *origin = sk_features_origin(map);
    bool any = false;
    out->constant = p;
    for (size_t j = 0; j < p; j++) {
        double size;
        unsigned degree = 0;
        bool guess = false;
        sk_features_monomial(map, j, power, &size);
        for (size_t k = 0; k < in; k++) degree += power[k];
        for (size_t k = 0; k < SK_MIN(in, coordinates); k++) guess = guess || (power[k] && is_guess(units, origin, k));
        if (!degree) out->constant = j;
        for (size_t k = 0; k < d; k++) out->counts[k] = out->counts[k] || (guess && w[j * d + k] != 0);
    }
    for (size_t k = 0; k < d; k++) {
        out->counts[k] = out->counts[k] && out->constant < p && w[out->constant * d + k] == 0;
        any = any || out->counts[k];
    }
    return any;
}

sock_status sk_guess_constant(sock_context *ctx, const sk_features *map, size_t d, const double *w,
                              const sk_units *units, size_t coordinates, sk_guess *out)
{
    const size_t p = sk_features_count(map);
    *out = (sk_guess){0};
    if (!units || !sk_features_polynomial(map) || !sk_features_origin(map)) return SOCK_OK;
    unsigned *power = sk_alloc(ctx, sk_features_dim(map), sizeof *power);
    out->counts = sk_alloc(ctx, d, sizeof *out->counts);
    out->kept = sk_doubles(ctx, p, d);
    const bool good = power && out->counts && out->kept;
    const bool any = good && find_components(map, d, w, units, coordinates, power, out);
    for (size_t i = 0; any && i < p * d; i++) out->kept[i] = i / d == out->constant && out->counts[i % d] ? 1 : w[i];
    sk_free(power);
    if (!any) sk_guess_clear(out);
    return good ? SOCK_OK : SOCK_ENOMEM;
}

/* ---- Drifts ---- */

static sock_status add_rows(sock_context *ctx, const sk_trial *t, const sk_view *v, sk_drift_spread *sums)
{
    enum { AT_ONCE = 256 };
    double *psi = sk_doubles_unset(ctx, v->n, t->p);
    sock_status status = psi ? SOCK_OK : SOCK_ENOMEM;
    for (size_t at = 0; status >= 0 && at < v->n; at += AT_ONCE)
        status = sk_occupation_features(ctx, v->rule, t->map, at, SK_MIN(at + AT_ONCE, v->n), psi + at * t->p, t->p);
    if (status >= 0) status = sk_drift_spread_add(ctx, sums, v, psi);
    sk_free(psi);
    return status;
}

static sock_status add_all_rows(const looking *w, const sk_trial *t, sk_drift_spread *sums)
{
    for (size_t b = 0; b < w->rows->blocks; b++) {
        const sk_view *v = NULL;
        SK_TRY(sk_progress(w->s->ctx, "bands", -1));
        SK_TRY(sk_views_take(w->s->ctx, w->views, b, &v));
        const sock_status status = add_rows(w->s->ctx, t, v, sums);
        sk_views_give(w->views, v);
        if (status < 0) return status;
    }
    sk_drift_spread_multiply(sums, w->times);
    return SOCK_OK;
}

/* The penalty of each weight, component after component. */
static sock_status penalties(sock_context *ctx, const sk_trial *t, const sk_drift_spread *sums, double *lambda)
{
    if (t->learned) return sk_drift_spread_learned(ctx, sums, t->solution + t->folds * t->size, lambda);
    for (size_t i = 0; i < t->size; i++) lambda[i] = sk_drift_spread_ridge(sums, t->l);
    return SOCK_OK;
}

/* Sums as those of the fit, without the features that a learned drift has no weight for (p x d) where components are
 * apart. */
static sock_status new_sums(const looking *w, const sk_trial *t, bool screened, const double *weight,
                            sk_drift_spread **out)
{
    sock_context *ctx = w->s->ctx;
    const sk_coupling coupling = sk_drift_coupling(t->p, t->d, w->diagonal, t->learned);
    if (t->learned && t->d > 1 && (screened || coupling == SK_APART))
        return sk_drift_spread_listed(ctx, t->p, t->d, weight, out);
    if (!sk_bands_affordable(t->p, t->d, coupling == SK_JOINT))
        return sk_fail(ctx, SOCK_ENUMERIC, "bands: too many weights"); /* a model without bands is a model */
    return sk_drift_spread_new(ctx, t->p, t->d, coupling, out);
}

static sock_status drift_law(const looking *w, const sk_trial *t, bool screened, sk_factor **out)
{
    sock_context *ctx = w->s->ctx;
    sk_drift_spread *sums = NULL;
    sk_guess guess = {0};
    const sk_transitions *rows = w->s->rows;
    const double *solution = t->solution + t->folds * t->size;
    double *lambda = sk_doubles(ctx, t->size, 1);
    sock_status status = lambda ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && t->learned)
        status = sk_guess_constant(ctx, t->map, t->d, solution, w->s->sets.units, rows->in, &guess);
    if (status >= 0) status = new_sums(w, t, screened, guess.counts ? guess.kept : solution, &sums);
    if (status >= 0 && guess.counts) status = sk_drift_spread_ask(ctx, sums, guess.constant, guess.counts, solution);
    if (status >= 0) status = add_all_rows(w, t, sums);
    if (status >= 0) status = penalties(ctx, t, sums, lambda);
    if (status >= 0) status = sk_drift_spread_factor(ctx, sums, lambda, out);
    sk_drift_spread_free(sums);
    sk_guess_clear(&guess);
    sk_free(lambda);
    return status;
}

static sock_status drift_laws(const looking *w, sk_spread *spread)
{
    const sk_search *s = w->s;
    for (size_t i = 0, at = 0; i < s->list.drifts; i++) {
        if (!(s->choice.drift_share[i] > 0)) continue;
        spread->share[at] = s->choice.drift_share[i];
        SK_TRY(drift_law(w, s->drift[i], s->list.drift[i].screened, &spread->drift[at++]));
    }
    return SOCK_OK;
}

/* ---- Candidates ---- */

/* The drifts that f was chosen among: those of the last sweep. */
static sk_field_trials candidates(const sk_search *s)
{
    sk_field_trials t = sk_drift_trials(s);
    for (size_t i = 0; i < SK_MOST; i++)
        if (s->rival[i]) t.trial = s->rival;
    if (t.trial == s->rival) t.count = SK_MOST;
    return t;
}

static bool is_part(const sk_search *s, const sk_field_trials *t, size_t i)
{
    return t->trial == s->drift && s->choice.drift_share[i] > 0;
}

/* The others get terms; those that are in f have one. */
static sock_status put_candidates(const looking *w, const sk_field_trials *t, const double *pi, sk_spread *spread)
{
    size_t part = 0, other = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (is_part(w->s, t, i)) {
            spread->pi[part++] = pi[i];
        } else if (pi[i] > 0) {
            spread->pi[spread->drifts + other] = pi[i];
            SK_TRY(sk_trial_drift_term(w->s->ctx, t->trial[i], t->trial[i]->folds, 1, &spread->other[other++]));
        }
    }
    return SOCK_OK;
}

/* ---- Diffusions ---- */

static sock_status information(const looking *w, sk_diffusion_spread *sums, const sk_typical **typical)
{
    for (size_t b = 0; b < w->rows->blocks; b++) {
        const sk_view *v = NULL;
        SK_TRY(sk_progress(w->s->ctx, "bands", -1));
        SK_TRY(sk_views_take(w->s->ctx, w->views, b, &v));
        *typical = v->typical;
        const double eps = (v->d > 1 ? SK_JITTER_MANY : SK_JITTER_ONE) * v->typical->mean;
        const sock_status status = sk_diffusion_spread_add(w->s->ctx, sums, v, eps);
        sk_views_give(w->views, v);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

/* I f over the rows of a view, n x d. */
static sock_status drift_integral(const looking *w, const sk_view *v, double *out)
{
    const sk_rule *rule = v->rule;
    const size_t d = v->d;
    double *f = sk_doubles_unset(w->s->ctx, rule->nodes, d);
    sock_status status = f ? sk_model_evaluate(w->s->ctx, w->model, rule->nodes, rule->x, f, NULL) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < v->n; i++)
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++) sk_axpy(d, rule->weight[e], f + e * d, out + i * d);
    sk_free(f);
    return status;
}

static sock_status surplus_of(const looking *w, const sk_view *v, double *out)
{
    double *drift = sk_doubles(w->s->ctx, v->n, v->d);
    sock_status status = drift ? drift_integral(w, v, drift) : SOCK_ENOMEM;
    const sk_surplus_rows rows = {v->n, v->d, v->y, v->h, drift, v->integral, v->left, w->sampler};
    if (status >= 0) status = sk_step_surplus(w->s->ctx, w->model, &rows, out);
    sk_free(drift);
    return status;
}

/* Every so manieth row, once for all parts: what the rule makes of its step. Not in many dimensions, where following is
 * dear, nor with inputs. */
static sock_status follow_steps(looking *w)
{
    sock_context *ctx = w->s->ctx;
    const size_t d = w->rows->d, stride = sk_band_step_stride(w->rows->n);
    const size_t count = (w->rows->n + stride - 1) / stride;
    if (d > SK_MANY_DIMENSIONS || w->rows->in != d) return SOCK_OK;
    size_t *keep = sk_alloc(ctx, count, sizeof *keep);
    w->surplus = sk_doubles(ctx, count, d * d);
    w->each = (double)w->rows->n / (double)count;
    sock_status status = keep && w->surplus ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < count; i++) keep[i] = i * stride;
    if (status >= 0) status = sk_transitions_subset(ctx, w->rows, count, keep, &w->few);
    if (status >= 0) status = sk_search_views(w->s, w->few, w->model, w->diagonal, &w->few_views);
    if (status >= 0) status = sk_surplus_sampler(ctx, w->model, w->few->n, w->few->y, &w->sampler);
    double *at = w->surplus;
    for (size_t b = 0; status >= 0 && b < w->few->blocks; b++) {
        const sk_view *v = NULL;
        status = sk_views_take(ctx, w->few_views, b, &v);
        if (status < 0) break;
        status = surplus_of(w, v, at);
        at += v->n * d * d;
        sk_views_give(w->few_views, v);
    }
    sk_free(keep);
    return status;
}

static sock_status add_surplus(const looking *w, sk_diffusion_spread *sums)
{
    const double *at = w->surplus;
    for (size_t b = 0; w->few && b < w->few->blocks; b++) {
        const sk_view *v = NULL;
        SK_TRY(sk_views_take(w->s->ctx, w->few_views, b, &v));
        const double eps = (v->d > 1 ? SK_JITTER_MANY : SK_JITTER_ONE) * v->typical->mean;
        const sock_status status = sk_diffusion_spread_surplus(w->s->ctx, sums, v, eps, at, w->each);
        at += v->n * v->d * v->d;
        sk_views_give(w->few_views, v);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

/* term: the part as a model of its own. */
static sock_status diffusion_law(const looking *w, const sk_trial *t, const sk_diffusion_term *term, sk_factor **out)
{
    sock_context *ctx = w->s->ctx;
    const sk_typical *typical = NULL;
    sk_diffusion_spread *sums = NULL;
    double *mu = sk_doubles(ctx, t->d, 1);
    sock_status status = mu ? sk_diffusion_spread_new(ctx, term, SK_BAND_UNKNOWNS, &sums) : SOCK_ENOMEM;
    if (status >= 0 && sums) status = information(w, sums, &typical);
    if (status >= 0 && sums) status = add_surplus(w, sums);
    assert(status < 0 || !sums || typical);
    for (size_t k = 0; status >= 0 && typical && !t->learned && k < sk_diffusion_spread_systems(sums); k++)
        mu[k] = sk_polish_penalty(w->s->rows->n, t->l, t->lambda_scale, t->diagonal ? typical->part[k] : typical->size);
    if (status >= 0 && sums) status = sk_diffusion_spread_factor(ctx, sums, w->times, mu, out);
    sk_diffusion_spread_free(sums);
    sk_free(mu);
    return status;
}

static sock_status diffusion_laws(const looking *w, sk_spread *spread)
{
    const sk_search *s = w->s;
    for (size_t i = 0, at = 0; i < s->list.diffusions; i++) {
        const double share = s->choice.share[i];
        sk_diffusion_term *term = NULL;
        if (!(share > 0)) continue;
        SK_TRY(sk_diffusion_term_copy(s->ctx, w->model->diffusion[at], &term));
        sk_scale(s->diffusion[i]->d * s->diffusion[i]->p * term->rank, 1 / sqrt(share), term->v);
        spread->diffusion_share[at] = share;
        const sock_status status = diffusion_law(w, s->diffusion[i], term, &spread->diffusion[at++]);
        sk_diffusion_term_free(term);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

/* ---- Range, and draws at the data ---- */

static void find_range(const sk_transitions *rows, sk_spread *spread)
{
    const size_t in = rows->in, d = rows->d;
    if (rows->range) memcpy(spread->lower, rows->range, d * sizeof *rows->range);
    if (rows->range) memcpy(spread->upper, rows->range + d, d * sizeof *rows->range);
    if (rows->range) return;
    for (size_t k = 0; k < in; k++) spread->lower[k] = spread->upper[k] = rows->left[k];
    for (size_t i = 0; i < rows->n * in; i++) {
        spread->lower[i % in] = fmin(spread->lower[i % in], fmin(rows->left[i], rows->right[i]));
        spread->upper[i % in] = fmax(spread->upper[i % in], fmax(rows->left[i], rows->right[i]));
    }
}

/* Where the middle of each state's values ends, low and high (d each). */
static sock_status find_middle(sock_context *ctx, const sk_transitions *rows, double *low, double *high)
{
    const size_t n = rows->n, d = rows->d, tail = sk_band_tail(n);
    double *some = sk_doubles_unset(ctx, n, 1);
    if (!some) return SOCK_ENOMEM;
    for (size_t k = 0; k < d; k++) {
        for (size_t i = 0; i < n; i++) some[i] = rows->y[i * d + k];
        low[k] = sk_select(n, some, tail);
        high[k] = sk_select(n, some, n - 1 - tail);
    }
    sk_free(some);
    return SOCK_OK;
}

/* Left ends in the middle of the data, evenly taken, with their inputs. Answers how many. */
static size_t take_points(const sk_transitions *rows, const double *low, const double *high, double *z)
{
    const size_t d = rows->d, in = rows->in, stride = sk_band_point_stride(rows->n);
    size_t count = 0;
    for (size_t i = 0; i < rows->n && count < SK_BAND_POINTS; i += stride) {
        bool inside = true;
        for (size_t k = 0; k < d; k++) inside = inside && rows->y[i * d + k] >= low[k] && rows->y[i * d + k] <= high[k];
        if (inside) memcpy(z + count++ * in, rows->left + i * in, in * sizeof *z);
    }
    return count;
}

sock_status sk_spread_at_data(sock_context *ctx, const sk_transitions *all, const sk_transitions *rows,
                              const sock_model *model)
{
    const size_t d = rows->d;
    double *z = sk_doubles(ctx, SK_BAND_POINTS, rows->in), *ends = sk_doubles(ctx, 2, d);
    sock_status status = z && ends ? find_middle(ctx, rows, ends, ends + d) : SOCK_ENOMEM;
    find_range(all, model->spread);
    if (status >= 0) status = sk_drift_sup(ctx, model, take_points(rows, ends, ends + d, z), z, model->spread->sup);
    sk_free(z);
    sk_free(ends);
    return status;
}

/* ---- All of it ---- */

static sock_status look(looking *w, sock_model *model)
{
    const sk_search *s = w->s;
    const sk_field_trials t = candidates(s);
    double pi[SK_MOST];
    size_t others = 0;
    sk_drift_weights(&t, pi);
    for (size_t i = 0; i < t.count; i++) others += pi[i] > 0 && !is_part(s, &t, i);
    SK_TRY(sk_spread_new(s->ctx, model->d, sk_model_in(model), model->drift_terms, others, model->diffusion_terms,
                         &model->spread));
    SK_TRY(take_some(w));
    SK_TRY(sk_search_views(s, w->rows, model, w->diagonal, &w->views));
    SK_TRY(drift_laws(w, model->spread));
    SK_TRY(put_candidates(w, &t, pi, model->spread));
    SK_TRY(follow_steps(w));
    SK_TRY(diffusion_laws(w, model->spread));
    return sk_spread_at_data(s->ctx, s->rows, w->rows, model);
}

sock_status sk_search_spread(const sk_search *s, sock_model *model)
{
    looking w = {.s = s, .model = model, .diagonal = sk_all_diagonal(s, &s->choice)};
    if (!s->spec->bands || (s->limited && model->d > SK_MANY_DIMENSIONS)) return SOCK_OK;
    sock_status status = look(&w, model);
    sk_views_free(w.few_views);
    sk_transitions_free(w.few);
    sk_free(w.surplus);
    sk_sampler_free(w.sampler);
    sk_views_free(w.views);
    sk_transitions_free(w.some);
    if (status >= 0) return SOCK_OK;
    sk_spread_free(model->spread);
    model->spread = NULL;
    if (status == SOCK_ENUMERIC) sk_begin(s->ctx); /* a model without bands is a model */
    return sk_tolerate(status);
}
