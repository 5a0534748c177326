/* guards.c - what the search found must be a clear gain over constant coefficients and over a plain model (linear or
 * affine drift, constant a), or those are taken. */
#include "data/samples.h"
#include "tune/identical.h"
#include "tune/searchstate.h"

#include <math.h>
#include <string.h>

/* ---- Constant coefficients ---- */

/* A constant a is that of the highest likelihood: least squares with the weights of the search is a few percent off
 * where steps differ much in length or residuals have long tails. */
static sock_status sharpen(sk_search *s, sk_side_fit *t)
{
    static const double one = 1;
    const sk_mixture drift = {1, &t->f, &one};
    double gain;
    sk_few few;
    if (!s->spec->polish || !sk_polish_has_room(t->a->diagonal ? 1 : s->rows->d)) return SOCK_OK;
    sock_status status = sk_few_new(s, t->remains, &drift, &few);
    if (status >= 0) status = sk_polish_trial(s, "constant", few.remains, t->remains, &t->a, &gain);
    sk_few_clear(&few);
    return status;
}

/* The same for any kernels that the user named. free: without a penalty on the drift. */
static sock_status fit_constants(sk_search *s, bool free)
{
    static const double one = 1, zero = 0;
    sk_tune_spec blind = *s->spec;
    sk_side_fit t = {0};
    double *cluster = sk_doubles(s->ctx, s->rows->clusters, 1);
    const size_t skipped = s->rows->d > SK_MANY_DIMENSIONS ? sk_constant_grid.count - 1 : 0; /* a score is n d^3 */
    const sk_diffusion_options options = {.folds = s->rows->folds,
                                          .l = sk_constant_grid.l + skipped,
                                          .lambdas = sk_constant_grid.count - skipped,
                                          .tolerance = SK_TOLERANCE,
                                          .solve_all = true};
    sock_status status = cluster ? SOCK_OK : SOCK_ENOMEM;
    blind.drift = blind.diffusion = "constant";
    if (status < 0) goto out;
    sk_candidates_clear(&s->constants);
    SK_GO(sk_candidates_new(s->ctx, &blind, s->rows, false, &s->constants));
    s->constants.drift[0].free = free;
    SK_GO(sk_side_drift(s, &s->constants.drift[0], false, &t));
    SK_GO(sk_side_remains(s, &t));
    SK_GO(sk_try_diffusion(s->ctx, t.remains, &s->constants.diffusion[0], &options, &t.a));
    SK_GO(sharpen(s, &t));
    const sk_held_model model = {{1, &t.f, &one}, {1, &t.a, &one}, 0};
    SK_GO(sk_euler_score(s->ctx, s->rows, &s->sets.look, &model, 1, &zero, &s->constant_euler, cluster));
    s->constant_score = t.a->score;
    sk_replace(&s->constant_drift, t.f);
    sk_replace(&s->constant_diffusion, t.a);
    t.f = t.a = NULL;
out:
    sk_side_fit_clear(&t);
    sk_free(cluster);
    return status;
}

sock_status sk_constant_score(sk_search *s)
{
    SK_TRY(fit_constants(s, false));
    s->told_constant = s->constant_score;
    return SOCK_OK;
}

sock_status sk_free_constants(sk_search *s) { return fit_constants(s, true); }

/* ---- A plain model for comparison ---- */

bool sk_free_choice(const sk_search *s)
{
    return strcmp(s->spec->drift, "auto") == 0 && strcmp(s->spec->diffusion, "auto") == 0;
}

/* Where the plain model's drift and diffusion stand in the list: the drift of the final model if it is plain, else the
 * affine one; a constant a, diagonal if that of the final model is. SK_MOST: not there. */
static void plain_places(const sk_search *s, size_t chosen, bool diagonal, size_t *drift, size_t *diffusion)
{
    *drift = *diffusion = SK_MOST;
    for (size_t i = 0; i < s->list.drifts; i++)
        if (s->list.drift[i].roles & SK_ROLE_AFFINE) *drift = i;
    if (s->list.drift[chosen].roles & SK_ROLE_PLAIN) *drift = chosen;
    for (size_t i = 0; i < s->list.diffusions; i++) {
        const sk_candidate *c = &s->list.diffusion[i];
        if ((c->roles & SK_ROLE_PLAIN) && c->diagonal == (diagonal && s->rows->d > 1)) *diffusion = i;
    }
}

/* Their places, and the model of both. */
typedef struct plain {
    const sk_stage *stage;
    size_t i, j;
    sk_side_fit fit;
} plain;

/* Drift and diffusion, held out, under the model (NULL: none), in place of those before. */
static sock_status plain_pass(sk_search *s, plain *p, bool diagonal)
{
    const sk_diffusion_options options = {.folds = s->rows->folds,
                                          .l = p->stage->grid.l,
                                          .lambdas = p->stage->grid.count,
                                          .tolerance = sk_search_tolerance(s, p->stage->care),
                                          .solve_all = true};
    SK_TRY(sk_side_drift(s, &s->list.drift[p->i], diagonal, &p->fit));
    SK_TRY(sk_side_remains(s, &p->fit));
    sk_replace(&p->fit.a, NULL);
    return sk_try_diffusion(s->ctx, p->fit.remains, &s->list.diffusion[p->j], &options, &p->fit.a);
}

static sock_status plain_fit(sk_search *s, plain *p)
{
    sk_side_fit *t = &p->fit;
    SK_TRY(plain_pass(s, p, s->list.diffusion[p->j].diagonal));
    SK_TRY(sk_model_of_two(s, t->f, t->a, &t->model));
    SK_TRY(plain_pass(s, p, t->a->diagonal));
    if (sk_worth_sharpening(s->final_score - t->a->score)) SK_TRY(sharpen(s, t));
    sk_search_log(s, "plain", "both", s->list.drift[p->i].name, t->f->l, t->a->score, false,
                  t->f->seconds + t->a->seconds);
    return SOCK_OK;
}

/* ---- Gains ---- */

/* Whether the final model gains what is needed over another by the moments of these steps; some: of all. */
static sock_status gains_on(sk_search *s, const sk_transitions *rows, const sk_held_model *other, size_t tried,
                            bool some, bool *enough)
{
    const sk_held_model final = sk_chosen(s, &s->choice);
    double ours = 0, theirs = 0, *cluster = sk_doubles(s->ctx, 2, rows->clusters);
    sock_status status = cluster ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sk_moment_score(s->ctx, rows, &s->sets.look, &final, &ours, cluster);
    if (status >= 0) status = sk_moment_score(s->ctx, rows, &s->sets.look, other, &theirs, cluster + rows->clusters);
    if (status >= 0) {
        const double error = sk_paired_error(rows->clusters, cluster, cluster + rows->clusters);
        *enough = isfinite(ours) && ours - theirs >= (some ? sk_needed_of_some : sk_needed_gain)(error, tried);
    }
    sk_free(cluster);
    return status;
}

/* Every so manieth row. */
static sock_status thin_rows(sock_context *ctx, const sk_transitions *rows, size_t stride, sk_transitions **out)
{
    const size_t count = (rows->n + stride - 1) / stride;
    size_t *keep = sk_alloc(ctx, count, sizeof *keep);
    if (!keep) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) keep[i] = i * stride;
    const sock_status status = sk_transitions_subset(ctx, rows, count, keep, out);
    sk_free(keep);
    return status;
}

/* The same by the moments of the steps. Euler's likelihood asks too much where steps are long: a pull that brings the
 * state home within one step overshoots in it, and the truth itself is refused. Asked only then, since it is expensive,
 * and of long data on the rows of the search; Euler has the last word where it would be too expensive. Some of the
 * steps are enough where they say so beyond doubt. */
static sock_status gains_by_moments(sk_search *s, const sk_held_model *other, size_t tried, bool *enough)
{
    const sk_transitions *rows = sk_on_all_rows(s) ? s->sets.search : s->rows;
    sk_transitions *some = NULL;
    if (!sk_moments_affordable(rows->n, rows->d)) return SOCK_OK;
    const size_t stride = sk_moments_stride(rows->n);
    sock_status status = SOCK_OK;
    if (stride > 1) status = thin_rows(s->ctx, rows, stride, &some);
    if (some) status = gains_on(s, some, other, tried, true, enough);
    sk_transitions_free(some);
    if (status < 0 || *enough) return status;
    return gains_on(s, rows, other, tried, false, enough);
}

/* What the final model gains over a plain one by either likelihood, and whether that is enough by both. */
static sock_status gains_enough(sk_search *s, sk_trial *f, sk_trial *a, size_t tried, bool *enough)
{
    static const double one = 1, zero = 0;
    const size_t clusters = s->rows->clusters;
    const sk_held_model model = {{1, &f, &one}, {1, &a, &one}, 0};
    double euler = 0, *cluster = sk_doubles(s->ctx, clusters, 1), *final_euler = s->final_cluster + clusters;
    if (!cluster) return SOCK_ENOMEM;
    sock_status status = sk_euler_score(s->ctx, s->rows, &s->sets.look, &model, 1, &zero, &euler, cluster);
    if (status >= 0) {
        double gain = s->final_score - a->score, error = sk_paired_error(clusters, s->final_cluster, a->cluster);
        *enough = gain >= sk_needed_gain(error, tried);
        const bool first = s->richer_error == 0;
        if (first && !*enough) s->richer_error = error;
        error = sk_paired_error(clusters, final_euler, cluster);
        gain = -euler;
        for (size_t u = 0; u < clusters; u++) gain += final_euler[u];
        const bool refused = *enough && !(gain >= sk_needed_gain(error, tried));
        *enough = *enough && !refused;
        if (first && refused) s->richer_error = (double)NAN;
        if (refused) status = gains_by_moments(s, &model, tried, enough);
    }
    sk_free(cluster);
    return status;
}

static size_t models_tried(const sk_search *s, bool plain_one)
{
    return sk_models_tried(plain_one, s->list.drifts, s->list.diffusions);
}

/* ---- The guards ---- */

void sk_keep_rivals(sk_search *s)
{
    bool kept = false;
    for (size_t i = 0; i < SK_MOST; i++) kept = kept || s->rival[i];
    for (size_t i = 0; !kept && i < SK_MOST; i++) {
        s->rival[i] = s->drift[i];
        s->drift[i] = NULL;
    }
}

/* A final model that is no clear gain over a linear or affine drift with a constant a gives way to those (*taken). */
static sock_status prefer_plain(sk_search *s, const sk_stage *stage, bool *taken)
{
    plain p = {.stage = stage};
    bool enough = true;
    plain_places(s, s->choice.drift, s->diffusion[s->best_diffusion]->diagonal, &p.i, &p.j);
    if (p.i == SK_MOST || p.j == SK_MOST || sk_search_leave_out(s, "plain")) return SOCK_OK;
    sock_status status = plain_fit(s, &p);
    if (status >= 0) status = gains_enough(s, p.fit.f, p.fit.a, models_tried(s, false), &enough);
    if (status >= 0 && !enough) {
        *taken = true;
        sk_keep_rivals(s);
        sk_replace(&s->drift[s->best_drift = p.i], p.fit.f);
        sk_replace(&s->diffusion[s->best_diffusion = p.j], p.fit.a);
        s->judged[p.j] = p.fit.a->score;
        p.fit.f = p.fit.a = NULL;
        sk_choose_one(s->best_drift, s->best_diffusion, &s->choice);
        status = sk_choose_floor(s, p.fit.remains, &s->choice);
    }
    sk_side_fit_clear(&p.fit);
    if (status == SOCK_ENUMERIC) sk_begin(s->ctx); /* a plain model that cannot be had is no news */
    return sk_tolerate(status);
}

/* They are all of the list then, and all of the model. */
void sk_fall_back(sk_search *s)
{
    if (s->fell_back)
        sk_candidates_clear(&s->list); /* older constants */
    else
        s->given_up = s->list;
    s->list = s->constants;
    s->constants = (sk_candidates){0};
    sk_clear_trials(s->drift);
    sk_clear_trials(s->diffusion);
    s->drift[0] = s->constant_drift;
    s->diffusion[0] = s->constant_diffusion;
    s->judged[0] = s->constant_score;
    s->constant_drift = s->constant_diffusion = NULL;
    s->best_drift = s->best_diffusion = 0;
    sk_choose_one(0, 0, &s->choice);
    memset(s->unpolished, 0, sizeof s->unpolished);
    s->fell_back = true;
    s->calibration = (double)NAN; /* that of the model given up */
}

void sk_take_back(sk_search *s)
{
    s->constant_drift = s->drift[0];
    s->constant_diffusion = s->diffusion[0];
    s->drift[0] = s->diffusion[0] = NULL;
    s->constants = s->list;
    s->list = s->given_up;
    s->given_up = (sk_candidates){0};
    s->fell_back = false;
}

/* Constant coefficients are all that the data support where the model is worse; or no clear gain over them. plain: it
 * is a plain one. */
static sock_status prefer_constant(sk_search *s, bool plain_one)
{
    bool enough = false;
    if (!sk_worse_than_constant(s->final_score, s->constant_score))
        SK_TRY(gains_enough(s, s->constant_drift, s->constant_diffusion, models_tried(s, plain_one), &enough));
    if (enough) return SOCK_OK;
    sk_keep_rivals(s);
    sk_fall_back(s);
    return SOCK_OK;
}

/* What they are shown, by name. */
static sock_status note_richer(sk_search *s)
{
    sk_free(s->richer);
    s->richer_error = 0; /* nothing refused it yet */
    s->richer =
        sk_format(s->ctx, "%s with %s", s->list.drift[s->choice.drift].name, s->list.diffusion[s->best_diffusion].name);
    s->richer_score = s->fell_back ? s->constant_score : s->final_score;
    return s->richer ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_stage_guards(sk_search *s, const sk_stage *stage)
{
    bool plain_one = false;
    SK_TRY(note_richer(s));
    SK_TRY(sk_join_identical(s, &s->choice)); /* not before: the second pass wants them all */
    if (!sk_free_choice(s)) return SOCK_OK;
    SK_TRY(prefer_plain(s, stage, &plain_one));
    return prefer_constant(s, plain_one);
}
