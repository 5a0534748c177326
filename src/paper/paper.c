/* paper.c - the paper's protocol: two grid searches one after the other.
 *
 *   1. Data: training and validation set; without the latter a fifth of the groups is held out.
 *   2. Drift: for each eta one system, solved for all lambdas; the pair whose Euler likelihood on the validation data
 *      is largest, a taken as the constant covariance of its residuals on the training steps.
 *   3. Diffusion: residuals of that drift; for each eta one convex problem along the lambdas, large to small; the pair
 *      with the largest Euler likelihood, now with its own a.
 *   4. A best pair on the edge of its grid makes the grid grow, a few times; then it is told.
 *   5. The drift once more, a being the one just found; when another is better, the diffusion once more, around the eta
 *      it had.
 *   6. The chosen pairs are fitted again to all data, training and validation.
 *
 * The paper does not say its grids. Those here keep the time within bounds: where the full system of the drift has no
 * small rank and many rows, the grid is searched with landmarks; where a has many unknowns, with a part of the groups,
 * fewer places and a looser gap. What was done is told; step 6 has all rows and the full gap.
 *
 * Cost: (etas) drift systems and (etas x lambdas) convex problems of p = 100 features. */
#include "paper/paperstate.h"

#include <math.h>
#include <string.h>

/* ---- Step 1: data ---- */

static sock_status take_data(sk_paper *p)
{
    const sk_tune_spec *spec = p->spec;
    if (spec->validation) {
        SK_TRY(sk_data_join(p->ctx, spec->data, spec->validation, true, NULL, &p->all_own));
        p->train = spec->data;
        p->held = spec->validation;
        p->all = p->all_own;
    } else {
        if (spec->data->groups < 2)
            return sk_fail(p->ctx, SOCK_EINPUT,
                           "%s: the paper's protocol holds out a fifth of the groups and there is only one; give "
                           "--validation",
                           spec->data->source);
        size_t parts = SK_MIN(spec->data->groups, 5);
        SK_TRY(sock_data_split(p->ctx, spec->data, parts, 0, spec->seed, &p->train_own, &p->held_own));
        p->train = p->train_own;
        p->held = p->held_own;
        p->all = spec->data;
    }
    SK_TRY(sk_rule_new(p->ctx, p->train, "trapezoid", &p->rule));
    return sk_median_distance(p->ctx, p->train->d, p->train->points, p->train->x, &p->distance);
}

static void release(sk_paper *p)
{
    sock_data_free(p->train_own);
    sock_data_free(p->held_own);
    sock_data_free(p->all_own);
    sk_rule_free(p->rule);
    sk_rule_free(p->part_rule);
    sock_data_free(p->part);
    sock_model_free(p->base);
}

/* Every so many-th group, so that SK_PAPER_MANY_ROWS intervals or fewer are left; all, where they are few or of one
 * piece. */
static sock_status take_part(sk_paper *p)
{
    const sock_data *data = p->train;
    size_t every = (p->rule->n + SK_PAPER_MANY_ROWS - 1) / SK_PAPER_MANY_ROWS, count = 0;
    if (!p->large || every < 2 || data->groups < 10 * every) return SOCK_OK;
    size_t *keep = sk_alloc(p->ctx, data->trajectories, sizeof *keep);
    if (!keep) return SOCK_ENOMEM;
    for (size_t g = 0; g < data->groups; g += every)
        for (size_t m = data->group_first[g]; m < data->group_first[g + 1]; m++) keep[count++] = data->member[m];
    sock_status status = sk_data_subset(p->ctx, data, keep, count, &p->part);
    sk_free(keep);
    return status < 0 ? status : sk_rule_new(p->ctx, p->part, "trapezoid", &p->part_rule);
}

/* How many unknowns Q has in a row, and with it the grid. */
static sock_status measure_diffusion(sk_paper *p)
{
    sk_kernel *kernel = NULL;
    size_t d = p->train->d, blocks = p->spec->diagonal_only ? 1 : d, count = 100;
    if (strcmp(p->spec->diffusion, "auto") != 0) {
        sock_status status = SOCK_OK;
        sk_features *map = NULL;
        SK_TRY(sk_paper_kernel(p, "diffusion", p->spec->diffusion, "", (double)NAN, p->rule, &kernel));
        if (!sk_kernel_is_implicit(kernel) && !sk_kernel_is_matrix(kernel)) {
            status = sk_features_new(p->ctx, "diffusion", kernel, d, p->rule->nodes, p->rule->x, &map);
            if (status >= 0) count = sk_features_count(map);
            sk_features_free(map);
        } else
            count = 1000 / blocks; /* as many as the diffusion keeps of an implicit kernel */
        sk_kernel_free(kernel);
        if (status < 0) return status;
    }
    p->diffusion = sk_paper_grid_of(count * blocks, &p->large);
    return take_part(p);
}

static void found_clear(sk_paper_found *f)
{
    sk_drift_term_free(f->drift);
    sk_diffusion_term_free(f->diffusion);
    sk_free(f->kernel);
    *f = (sk_paper_found){0};
}

/* ---- Steps 2 to 6 ---- */

/* base: this drift and, where there is one, this diffusion, both copied. */
static sock_status set_base(sk_paper *p, const sk_paper_found *drift, const sk_paper_found *a)
{
    sock_model *model = NULL;
    sk_drift_term *f = NULL;
    sk_diffusion_term *term = NULL;
    sock_status status = sk_model_new(p->ctx, p->train->d, (const char *const *)p->train->state, &model);
    if (status >= 0) status = sk_drift_term_copy(p->ctx, drift->drift, &f);
    if (status >= 0) status = sk_model_add_drift(p->ctx, model, f);
    if (status >= 0 && a) status = sk_diffusion_term_copy(p->ctx, a->diffusion, &term);
    if (status >= 0 && a) status = sk_model_add_diffusion(p->ctx, model, term);
    if (status < 0) {
        sock_model_free(model);
        return status;
    }
    sock_model_free(p->base);
    p->base = model;
    return SOCK_OK;
}

static bool same_place(const sk_paper_place *one, const sk_paper_place *other)
{
    return one->l == other->l && (one->eta == other->eta || (isnan(one->eta) && isnan(other->eta)));
}

/* Steps 2 to 5. */
static sock_status search_pairs(sk_paper *p, sk_paper_found *drift, sk_paper_found *a)
{
    const sk_tune_spec *spec = p->spec;
    sk_paper_found other = {0};
    sock_status status;
    SK_GO(sk_paper_search_grid(p, spec->drift, sk_paper_try_drift, &sk_paper_drift_grid, drift));
    SK_GO(set_base(p, drift, NULL));
    SK_GO(sk_paper_search_grid(p, spec->diffusion, sk_paper_try_diffusion, p->diffusion, a));
    if (sk_paper_out_of_time(p)) goto out;
    SK_GO(set_base(p, drift, a));
    p->round = 1;
    SK_GO(sk_paper_search_grid(p, spec->drift, sk_paper_try_drift, &sk_paper_drift_grid, &other));
    bool same = same_place(&drift->best, &other.best);
    found_clear(drift);
    *drift = other;
    other = (sk_paper_found){0};
    if (same || sk_paper_out_of_time(p)) goto out;
    SK_GO(set_base(p, drift, NULL));
    const sk_paper_grid near = sk_paper_grid_near(p->diffusion, a->best.eta, p->distance);
    found_clear(a);
    SK_GO(sk_paper_search_grid(p, spec->diffusion, sk_paper_try_diffusion, &near, a));
out:
    found_clear(&other);
    return status;
}

sock_status sk_tune_paper(sock_context *ctx, const sk_tune_spec *spec, sock_model **out, sk_tune_outcome *told)
{
    sk_paper p = {.ctx = ctx, .spec = spec, .start = sk_seconds(), .told = told};
    sk_paper_found drift = {0}, a = {0};
    sock_model *model = NULL;
    sock_status status;
    SK_GO(take_data(&p));
    SK_GO(sk_model_new(ctx, p.train->d, (const char *const *)p.train->state, &p.base));
    SK_GO(measure_diffusion(&p));
    SK_GO(sk_paper_score_constant(&p));
    SK_GO(search_pairs(&p, &drift, &a));
    SK_GO(sk_paper_refit(&p, &drift, &a, &model));
    SK_GO(sk_paper_describe(&p, &drift, &a));
    *out = model;
    model = NULL;
    sk_begin(ctx); /* a convex problem on the way may have left a caveat */
    if (p.limited)
        status =
            sk_fail(ctx, SOCK_LIMITED, "the budget of %g s ended the search early: %zu steps of a grid were left out",
                    spec->budget, p.skipped);
out:
    if (status < 0) sk_tune_outcome_clear(told);
    sock_model_free(model);
    found_clear(&drift);
    found_clear(&a);
    release(&p);
    return status;
}
