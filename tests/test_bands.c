/* test_bands.c - bands, draws and the file of a model that tells how far it can be trusted: on a model made by hand,
 * whose bands are known, and on one that was searched. */
#define _GNU_SOURCE
#include "api/equation.h"
#include "model/bands.h"
#include "model/draw.h"
#include "modelparts.h"
#include "tune/scaling.h"
#include "tunecases.h"

enum { POINTS = 20 };

/* ---- A model by hand: f = 0.6 (2 + x) + 0.4 (1 + 3 x), a = 0.7 * 4 + 0.3 * 1 and a floor of 0.5 ---- */

static sk_features *map_of(fixture *f, const char *kernel, size_t d)
{
    sk_kernel *k = case_kernel(f->ctx, kernel);
    sk_features *map = NULL;
    good(f, sk_features_new(f->ctx, "kernel", k, d, 0, NULL, &map));
    sk_kernel_free(k);
    return map;
}

static sk_drift_term *line(fixture *f, double slope, double constant)
{
    sk_drift_term *term = sk_alloc(f->ctx, 1, sizeof *term);
    term->d = 1;
    term->map = map_of(f, "affine", 1);
    term->weight = sk_doubles(f->ctx, 2, 1);
    term->weight[0] = slope;
    term->weight[1] = constant;
    return term;
}

static sk_diffusion_term *constant(fixture *f, double v)
{
    sk_diffusion_term *term = sk_alloc(f->ctx, 1, sizeof *term);
    term->d = term->rank = 1;
    term->map = map_of(f, "constant", 1);
    term->v = sk_doubles(f->ctx, 1, 1);
    term->v[0] = v;
    return term;
}

/* One number of its own for each entry. */
static sk_factor *diagonal(fixture *f, size_t count, const double *sd)
{
    sk_factor *factor = NULL;
    good(f, sk_factor_new(f->ctx, count, count, 1, &factor));
    for (size_t i = 0; i < count; i++) {
        factor->entry[i] = i;
        factor->value[i * (count + 1)] = sd[i];
    }
    return factor;
}

static sock_model *by_hand(fixture *f)
{
    static const double first[] = {0.1, 0.2}, second[] = {0.3, 0.05}, v = 0.04, u = 0.03;
    sock_model *model = NULL;
    good(f, sk_model_new(f->ctx, 1, NULL, &model));
    good(f, sk_model_add_drift(f->ctx, model, line(f, 0.6, 1.2)));
    good(f, sk_model_add_drift(f->ctx, model, line(f, 1.2, 0.4)));
    good(f, sk_model_add_diffusion(f->ctx, model, constant(f, 2 * sqrt(0.7))));
    good(f, sk_model_add_diffusion(f->ctx, model, constant(f, sqrt(0.3))));
    model->floor = 0.5;
    good(f, sk_spread_new(f->ctx, 1, 1, 2, 1, 2, &model->spread));
    sk_spread *s = model->spread;
    s->share[0] = 0.6, s->share[1] = 0.4;
    s->pi[0] = 0.5, s->pi[1] = 0.2, s->pi[2] = 0.3;
    s->drift[0] = diagonal(f, 2, first);
    s->drift[1] = diagonal(f, 2, second);
    s->other[0] = line(f, 0, 3);
    s->diffusion_share[0] = 0.7, s->diffusion_share[1] = 0.3;
    s->diffusion[0] = diagonal(f, 1, &v);
    s->diffusion[1] = diagonal(f, 1, &u);
    s->lower[0] = -1, s->upper[0] = 3;
    for (size_t i = 0; i < SK_SUP_DRAWS; i++) s->sup[i] = 1 + 0.01 * (double)i;
    return model;
}

/* var f, as the header has it. */
static double drift_variance(double x)
{
    const double f = 0.6 * (2 + x) + 0.4 * (1 + 3 * x);
    const double within = 0.6 * (0.01 * x * x + 0.04) + 0.4 * (0.09 * x * x + 0.0025);
    return within + 0.5 * pow(2 + x - f, 2) + 0.2 * pow(1 + 3 * x - f, 2) + 0.3 * pow(3 - f, 2);
}

static void test_bands__are_within_and_between(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f);
    const double x[] = {-2, 0, 0.5, 3.5}, z = 1.1 * 1.6448536269514722, a = 0.7 * 4 + 0.3 + 0.5;
    /* dV = 0.04 moves a_0 = 4.5 by 2 * 2 * 0.04; dV = 0.03 moves a_1 = 1.5 by 2 * 0.03 */
    const double within = 0.7 * pow(0.16 / 4.5, 2) + 0.3 * pow(0.06 / 1.5, 2);
    const double between = 0.7 * pow(log(4.5 / a), 2) + 0.3 * pow(log(1.5 / a), 2), sd = sqrt(within + between);
    double low[4], high[4], a_low[4], a_high[4], s_low[4], s_high[4];
    int outside[4];
    good(f, sock_model_bands(f->ctx, model, 4, x, 0.9,
                             &(sock_bands){low, high, a_low, a_high, s_low, s_high, outside, 0}));
    for (size_t i = 0; i < 4; i++) {
        const double mean = 0.6 * (2 + x[i]) + 0.4 * (1 + 3 * x[i]), half = z * sqrt(drift_variance(x[i]));
        assert_close(low[i], mean - half, 1e-12, 1);
        assert_close(high[i], mean + half, 1e-12, 1);
        assert_close(a_low[i], a * exp(-z * sd), 1e-12, 0);
        assert_close(a_high[i], a * exp(z * sd), 1e-12, 0);
        assert_close(s_low[i], sqrt(a * exp(-z * sd)), 1e-12, 0);
        assert_close(s_high[i], sqrt(a * exp(z * sd)), 1e-12, 0);
        assert_int_equal(outside[i], i == 0 || i == 3);
    }
    sock_model_free(model);
}

/* The 360th of 400 rising numbers, in standard deviations. */
static void test_bands__that_hold_the_whole_curve_are_those_of_the_draws(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f);
    const double x = 0.5, mean = 0.6 * 2.5 + 0.4 * 2.5;
    double low, high;
    good(f,
         sock_model_bands(f->ctx, model, 1, &x, 0.9, &(sock_bands){.f_low = &low, .f_high = &high, .simultaneous = 1}));
    assert_close(high, mean + 1.1 * 4.59 * sqrt(drift_variance(x)), 1e-12, 1);
    assert_close(low, mean - 1.1 * 4.59 * sqrt(drift_variance(x)), 1e-12, 1);
    sock_model_free(model);
}

static void test_bands__refuse_what_they_cannot_tell(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f), *draw = NULL;
    const double x = 0.5, bad = NAN;
    double low;
    const sock_bands out = {.f_low = &low};
    assert_int_equal(sock_model_bands(f->ctx, model, 1, &x, 1, &out), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "level is 1; allowed: a number between 0 and 1"));
    assert_int_equal(sock_model_bands(f->ctx, model, 1, &bad, 0.5, &out), SOCK_EINPUT);
    for (size_t i = 0; i < 2; i++) {
        sk_factor_free(model->spread->diffusion[i]);
        model->spread->diffusion[i] = NULL;
    }
    good(f, sock_model_bands(f->ctx, model, 1, &x, 0.5, &out));
    assert_int_equal(sock_model_bands(f->ctx, model, 1, &x, 0.5, &(sock_bands){.a_low = &low}), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "has those of f alone"));
    sk_spread_free(model->spread);
    model->spread = NULL;
    sk_model_take_info(model, sk_strdup(f->ctx, "{\"bands_reason\":\"no reason\"}"), NULL);
    assert_int_equal(sock_model_bands(f->ctx, model, 1, &x, 0.5, &out), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "how far it can be trusted: no reason"));
    assert_int_equal(sock_model_draw(f->ctx, model, 1, 0, &draw), SOCK_EUSAGE);
    assert_int_equal(sock_model_has_bands(model), 0);
    sock_model_free(model);
}

/* A relative error beyond 1: the width of log a grows with its logarithm, and at 1 both formulas agree. */
static void test_bands__of_a_that_is_hardly_known(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f);
    const double x = 0, a = 3.6, z = 1.1 * 1.6448536269514722, times = 1e4;
    const double within = 0.7 * pow(times * 0.16 / 4.5, 2) + 0.3 * pow(times * 0.06 / 1.5, 2);
    const double var = within + 0.7 * pow(log(4.5 / a), 2) + 0.3 * pow(log(1.5 / a), 2);
    double low, high;
    for (size_t i = 0; i < 2; i++) {
        sk_factor *factor = model->spread->diffusion[i];
        for (size_t j = 0; j < factor->count * factor->rank; j++) factor->value[j] *= times;
    }
    good(f, sock_model_bands(f->ctx, model, 1, &x, 0.9, &(sock_bands){.a_low = &low, .a_high = &high}));
    assert_close(high, a * exp(z * sqrt(1 + log(var))), 1e-10, 1);
    assert_close(low, a * exp(-z * sqrt(1 + log(var))), 1e-10, 1);
    sock_model_free(model);
}

/* A part without a law leaves its share of within to the others. */
static void test_bands__go_on_without_the_law_of_one_part(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f);
    const double x = 0, a = 3.6, z = 1.1 * 1.6448536269514722;
    const double var = pow(0.06 / 1.5, 2) + 0.7 * pow(log(4.5 / a), 2) + 0.3 * pow(log(1.5 / a), 2);
    double high;
    sk_factor_free(model->spread->diffusion[0]);
    model->spread->diffusion[0] = NULL;
    good(f, sock_model_bands(f->ctx, model, 1, &x, 0.9, &(sock_bands){.a_high = &high}));
    assert_close(high, a * exp(z * sqrt(var)), 1e-12, 0);
    sock_model_free(model);
}

static void test_normal_quantile__is_that_of_the_tables(void **state)
{
    (void)state;
    assert_close(sk_normal_reach(0.5), 0.67448975019608171, 1e-14, 0);
    assert_close(sk_normal_reach(0.9), 1.6448536269514722, 1e-14, 0);
    assert_close(sk_normal_reach(0.999), 3.2905267314918945, 1e-13, 0);
}

static void test_pick_share__follows_the_shares(void **state)
{
    (void)state;
    const double share[] = {0.2, 0, 0.5, 0.3, 0};
    assert_int_equal(sk_pick_share(5, share, 0.1), 0);
    assert_int_equal(sk_pick_share(5, share, 0.3), 2);
    assert_int_equal(sk_pick_share(5, share, 0.69), 2);
    assert_int_equal(sk_pick_share(5, share, 0.71), 3);
    assert_int_equal(sk_pick_share(5, share, 1 - 1e-17), 3);
}

/* ---- Draws ---- */

/* Mean and variance of f over draws, and how many a are below zero. */
static size_t draw_many(fixture *f, const sock_model *model, size_t draws, size_t points, const double *x, double *var,
                        double *log_var)
{
    const size_t d = model->d;
    double *at = calloc(points * d, sizeof *at), *a = calloc(points * d * d, sizeof *a);
    double *f0 = calloc(points * d, sizeof *f0), *a0 = calloc(points * d * d, sizeof *a0);
    size_t below = 0;
    good(f, sk_model_evaluate(f->ctx, model, points, x, f0, a0));
    for (size_t b = 0; b < draws; b++) {
        sock_model *draw = NULL;
        good(f, sock_model_draw(f->ctx, model, 5, b, &draw));
        good(f, sk_model_evaluate(f->ctx, draw, points, x, at, a));
        for (size_t i = 0; i < points * d; i++) var[i] += pow(at[i] - f0[i], 2) / (double)draws;
        for (size_t i = 0; i < points * d; i++) {
            const size_t k = i / d * d * d + i % d * (d + 1);
            below += !(a[k] >= 0);
            log_var[i] += pow(log(a[k] / a0[k]), 2) / (double)draws;
        }
        sock_model_free(draw);
    }
    free(at), free(a), free(f0), free(a0);
    return below;
}

static void prop_draws_have_the_variance_of_the_bands(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f);
    const double x[] = {-1, 0.2, 2};
    double var[3] = {0}, log_var[3] = {0}, a[3], told[3];
    assert_int_equal(draw_many(f, model, 4000, 3, x, var, log_var), 0);
    good(f, sk_model_evaluate(f->ctx, model, 3, x, NULL, a));
    good(f, sk_diffusion_variance(f->ctx, model, 3, x, a, told));
    for (size_t i = 0; i < 3; i++) {
        assert_close(var[i], drift_variance(x[i]), 0.1, 0);
        assert_close(log_var[i], told[i], 0.1, 0);
    }
    sock_model_free(model);
}

/* The candidate that is not in f with a law of its own, and noise on what is seen: a fit with noise. */
static sock_model *with_noise(fixture *f)
{
    static const double law[] = {0.5, 0.4};
    sock_model *model = by_hand(f);
    model->spread->other_law[0] = diagonal(f, 2, law);
    model->structure->noise = sk_doubles(f->ctx, 1, 1);
    model->structure->noise[0] = 0.04;
    return model;
}

/* It has its pi of within, and the terms of f have the rest. */
static double variance_with_law(double x)
{
    const double within = 0.6 * (0.01 * x * x + 0.04) + 0.4 * (0.09 * x * x + 0.0025);
    return drift_variance(x) - 0.3 * within + 0.3 * (0.25 * x * x + 0.16);
}

static void prop_a_law_of_a_candidate_counts_in_bands_and_draws(void **state)
{
    fixture *f = *state;
    sock_model *model = with_noise(f), *loaded = NULL;
    const double x[] = {-1, 0.2, 2}, centre = 3, scale = 10;
    double var[3] = {0}, log_var[3] = {0}, field[3], told[3], again[3], far[3], sup[2][SK_SUP_DRAWS];
    good(f, sk_model_evaluate(f->ctx, model, 3, x, field, NULL));
    good(f, sk_drift_variance(f->ctx, model, 3, x, field, told));
    draw_many(f, model, 4000, 3, x, var, log_var);
    for (size_t i = 0; i < 3; i++) {
        assert_close(told[i], variance_with_law(x[i]), 1e-12, 0);
        assert_close(var[i], told[i], 0.1, 0);
        far[i] = centre + scale * x[i];
    }
    good(f, sk_drift_sup(f->ctx, model, 3, x, sup[0]));
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    good(f, sk_drift_variance(f->ctx, loaded, 3, x, field, again));
    assert_memory_equal(again, told, sizeof told);
    assert_close(loaded->structure->noise[0], 0.04, 0, 0);
    good(f, sk_drift_sup(f->ctx, loaded, 3, x, sup[1]));
    assert_memory_equal(sup[0], sup[1], sizeof sup[0]);
    for (size_t i = 0; i < 2; i++) { /* the terms, as the search does it, and their spread */
        good(f, sk_features_set_units(f->ctx, model->drift[i]->map, &centre, &scale));
        sk_scale(2, scale, model->drift[i]->weight);
    }
    good(f, sk_spread_rescale(f->ctx, &centre, &scale, model));
    good(f, sk_model_evaluate(f->ctx, model, 3, far, field, NULL));
    good(f, sk_drift_variance(f->ctx, model, 3, far, field, again));
    for (size_t i = 0; i < 3; i++) assert_close(again[i], scale * scale * told[i], 1e-12, 0);
    sock_model_free(model), sock_model_free(loaded);
}

/* f = 5 - x and a = 1.44 + 0.3, each with an error. */
static sock_model *peer_of(fixture *f)
{
    static const double law[] = {0.2, 0.7}, v = 0.05;
    sock_model *model = NULL;
    good(f, sk_model_new(f->ctx, 1, NULL, &model));
    good(f, sk_model_add_drift(f->ctx, model, line(f, -1, 5)));
    good(f, sk_model_add_diffusion(f->ctx, model, constant(f, 1.2)));
    model->floor = 0.3;
    good(f, sk_spread_new(f->ctx, 1, 1, 1, 0, 1, &model->spread));
    sk_spread *s = model->spread;
    s->share[0] = s->pi[0] = s->diffusion_share[0] = 1;
    s->drift[0] = diagonal(f, 2, law);
    s->diffusion[0] = diagonal(f, 1, &v);
    s->lower[0] = -1, s->upper[0] = 3;
    return model;
}

/* The model by hand with a weight of 0.5, one like it, and another. */
static sock_model *with_peers(fixture *f)
{
    sock_model *model = by_hand(f);
    good(f, sk_spread_add_peer(f->ctx, model->spread, 0.2, by_hand(f)));
    good(f, sk_spread_add_peer(f->ctx, model->spread, 0.3, peer_of(f)));
    assert_close(sk_spread_alone(model->spread), 0.5, 1e-15, 0);
    return model;
}

static double variance_with_peers(double x)
{
    const double gap = 5 - x - (0.6 * (2 + x) + 0.4 * (1 + 3 * x));
    return 0.7 * drift_variance(x) + 0.3 * (0.04 * x * x + 0.49 + gap * gap);
}

static void prop_peers_count_in_bands_and_draws(void **state)
{
    fixture *f = *state;
    sock_model *model = with_peers(f), *alone = by_hand(f), *loaded = NULL;
    const double x[] = {-1, 0.2, 2};
    double var[3] = {0}, log_var[3] = {0}, field[3], a[3], told[3], log_told[3], own[3], again[3], sup[2][SK_SUP_DRAWS];
    good(f, sk_model_evaluate(f->ctx, model, 3, x, field, a));
    good(f, sk_drift_variance(f->ctx, model, 3, x, field, told));
    good(f, sk_diffusion_variance(f->ctx, model, 3, x, a, log_told));
    good(f, sk_diffusion_variance(f->ctx, alone, 3, x, a, own));
    assert_int_equal(draw_many(f, model, 6000, 3, x, var, log_var), 0);
    for (size_t i = 0; i < 3; i++) {
        const double within = pow(2 * 1.2 * 0.05 / 1.74, 2), between = pow(log(1.74 / a[i]), 2);
        assert_close(told[i], variance_with_peers(x[i]), 1e-12, 0);
        assert_close(log_told[i], 0.7 * own[i] + 0.3 * (within + between), 1e-12, 0);
        assert_close(var[i], told[i], 0.1, 0);
        assert_close(log_var[i], log_told[i], 0.1, 0);
    }
    good(f, sk_drift_sup(f->ctx, model, 3, x, sup[0]));
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    good(f, sk_drift_variance(f->ctx, loaded, 3, x, field, again));
    assert_memory_equal(again, told, sizeof told);
    good(f, sk_diffusion_variance(f->ctx, loaded, 3, x, a, again));
    assert_memory_equal(again, log_told, sizeof told);
    good(f, sk_drift_sup(f->ctx, loaded, 3, x, sup[1]));
    assert_memory_equal(sup[0], sup[1], sizeof sup[0]);
    sock_model_free(model), sock_model_free(alone), sock_model_free(loaded);
}

static double normal_below(double x, double mean, double sd) { return 0.5 * erfc((mean - x) / (sd * sqrt(2))); }

/* The band of a is that of the mixture: outside its ends there is a twentieth each, by the laws of model and peers, and
 * it reaches to the model's own a. */
static void prop_bands_of_a_are_quantiles_of_the_mixture(void **state)
{
    fixture *f = *state;
    sock_model *model = with_peers(f), *alone = by_hand(f);
    const double x = 0.2, sd = SK_BAND_FACTOR * 2 * 1.2 * 0.05 / 1.74;
    double a, own, low, high;
    good(f, sk_model_evaluate(f->ctx, model, 1, &x, NULL, &a));
    good(f, sk_diffusion_variance(f->ctx, alone, 1, &x, &a, &own));
    good(f, sock_model_bands(f->ctx, model, 1, &x, 0.9, &(sock_bands){.a_low = &low, .a_high = &high}));
    own = SK_BAND_FACTOR * sqrt(own);
    assert_close(0.7 * normal_below(log(low), log(a), own) + 0.3 * normal_below(log(low), log(1.74), sd), 0.05, 1e-9,
                 1);
    assert_close(0.7 * normal_below(log(high), log(a), own) + 0.3 * normal_below(log(high), log(1.74), sd), 0.95, 1e-9,
                 1);
    good(f, sk_spread_add_peer(f->ctx, model->spread, 0.499, peer_of(f))); /* next to nothing for a itself */
    good(f, sock_model_bands(f->ctx, model, 1, &x, 0.9, &(sock_bands){.a_low = &low, .a_high = &high}));
    assert_true(low <= a && a <= high);
    sock_model_free(model), sock_model_free(alone);
}

/* A law that moves nothing, as that of a drift that is 0, is an empty array, which has no shape in JSON. */
static void test_bands__a_peer_without_numbers_is_read_back(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f), *peer = peer_of(f), *loaded = NULL;
    sk_factor_free(peer->spread->drift[0]);
    good(f, sk_factor_new(f->ctx, 0, 0, 1, &peer->spread->drift[0]));
    good(f, sk_spread_add_peer(f->ctx, model->spread, 0.3, peer));
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    assert_int_equal(loaded->spread->peer[0]->spread->drift[0]->count, 0);
    sock_model_free(model), sock_model_free(loaded);
}

/* 400 draws of f at one point, in standard deviations: their mean square is 1, and three in ten are of the peer that is
 * far away. */
static void prop_deviations_of_peers_are_those_of_their_draws(void **state)
{
    fixture *f = *state;
    sock_model *model = with_peers(f);
    const double x = -1;
    double sup[SK_SUP_DRAWS], sum = 0;
    size_t far = 0;
    good(f, sk_drift_sup(f->ctx, model, 1, &x, sup));
    for (size_t i = 0; i < SK_SUP_DRAWS; i++) sum += sup[i] * sup[i] / SK_SUP_DRAWS;
    for (size_t i = 0; i < SK_SUP_DRAWS; i++) far += sup[i] * sqrt(variance_with_peers(x)) > 4;
    assert_close(sum, 1, 0.15, 0);
    assert_close((double)far / SK_SUP_DRAWS, 0.3, 0.2, 0);
    sock_model_free(model);
}

static void test_bands__of_peers_follow_the_units(void **state)
{
    fixture *f = *state;
    sock_model *model = with_peers(f), *draw = NULL;
    double centre = 3, scale = 10, x = 0.2, far = 5, field, told, a, log_told, again, there;
    good(f, sk_model_evaluate(f->ctx, model, 1, &x, &field, &a));
    good(f, sk_drift_variance(f->ctx, model, 1, &x, &field, &told));
    good(f, sk_diffusion_variance(f->ctx, model, 1, &x, &a, &log_told));
    good(f, sk_scaling_restore(f->ctx, &(sk_units){.centre = &centre, .scale = &scale}, model));
    good(f, sk_model_evaluate(f->ctx, model, 1, &far, &field, &a));
    good(f, sk_drift_variance(f->ctx, model, 1, &far, &field, &again));
    assert_close(again, scale * scale * told, 1e-12, 0);
    good(f, sk_diffusion_variance(f->ctx, model, 1, &far, &a, &again));
    assert_close(again, log_told, 1e-12, 0);
    for (uint64_t b = 0; b < 20; b++) { /* a of any draw is near that of one of them, in the new units */
        good(f, sock_model_draw(f->ctx, model, 1, b, &draw));
        good(f, sk_model_evaluate(f->ctx, draw, 1, &far, NULL, &there));
        assert_true(there > 100 && there < 600);
        sock_model_free(draw);
    }
    sock_model_free(model);
}

/* Path k of every start is the one that draw k makes of it, whatever the threads. */
static void prop_uncertain_paths_are_those_of_the_draws(void **state)
{
    enum { STARTS = 2, PATHS = 3, TIMES = 4 };
    fixture *f = *state;
    sock_model *model = by_hand(f);
    const double x0[STARTS] = {0.5, 1}, t[TIMES] = {0, 0.1, 0.3, 0.4};
    double out[STARTS * PATHS * TIMES], again[STARTS * PATHS * TIMES], one[STARTS * (PATHS + 1) * TIMES];
    double lost[STARTS * PATHS];
    sock_simulation_report report;
    sock_simulation spec = {
        .starts = STARTS, .x0 = x0, .paths = PATHS, .times = TIMES, .t = t, .seed = 9, .uncertain = 1};
    for (int threads = 1; threads < 4; threads += 2) {
        good(f, sock_set_threads(f->ctx, threads));
        good(f, sock_simulate(f->ctx, model, &spec, threads > 1 ? again : out, lost, &report));
        assert_int_equal(report.paths, STARTS * PATHS);
        for (size_t i = 0; i < STARTS * PATHS; i++) assert_true(isinf(lost[i]));
    }
    assert_memory_equal(out, again, sizeof out);
    spec.uncertain = 0;
    for (size_t k = 0; k < PATHS; k++) {
        sock_model *draw = NULL;
        good(f, sock_model_draw(f->ctx, model, spec.seed, k, &draw));
        good(f, sock_simulate(f->ctx, draw, &spec, one, NULL, NULL));
        for (size_t s = 0; s < STARTS; s++)
            assert_all_close(TIMES, out + (s * PATHS + k) * TIMES, one + (s * PATHS + k) * TIMES, 1e-12);
        sock_model_free(draw);
    }
    assert_true(fabs(out[TIMES - 1] - one[TIMES - 1]) > 1e-3); /* draws differ */
    sk_spread_free(model->spread);
    model->spread = NULL;
    spec.uncertain = 1;
    assert_int_equal(sock_simulate(f->ctx, model, &spec, out, NULL, NULL), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "simulate: this model does not tell how far it can be trusted"));
    sock_model_free(model);
}

/* Of f = 2.2 + 1.8 x = 0.6 (2 + x) + 0.4 (1 + 3 x), and of the constant a. */
static void test_terms__have_standard_errors(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f);
    char *text = NULL;
    good(f, sock_model_terms(f->ctx, model, &text));
    json_t *terms = json_loads(text, 0, NULL), *drift = json_object_get(terms, "drift");
    const double slope = 0.6 * (0.01 + pow(1 - 1.8, 2)) + 0.4 * (0.09 + pow(3 - 1.8, 2));
    const double level = 0.6 * (0.04 + pow(2 - 1.6, 2)) + 0.4 * (0.0025 + pow(1 - 1.6, 2));
    const double a = 0.7 * (pow(0.16, 2) + pow(4.5 - 3.6, 2)) + 0.3 * (pow(0.06, 2) + pow(1.5 - 3.6, 2));
    const struct {
        json_t *term;
        double value;
    } told[] = {{json_array_get(drift, 0), slope},
                {json_array_get(drift, 1), level},
                {json_array_get(json_object_get(terms, "diffusion"), 0), a}};
    for (size_t i = 0; i < 3; i++)
        assert_close(json_real_value(json_array_get(json_object_get(told[i].term, "se"), 0)), 1.1 * sqrt(told[i].value),
                     1e-12, 0);
    json_decref(terms);
    sock_string_free(text);
    sock_model_free(model);
}

/* -1.3 (x - 300) + 0.5 = -1.3 (x - 300.4): the errors of the slope, and of the root from that of the value there. */
static void test_errors__of_a_line_are_those_of_slope_and_root(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f);
    const double origin = 300, sd[] = {0.1, 0.2}, away = 0.5 / 1.3;
    sk_record record;
    sk_record_init(&record);
    sk_spread_free(model->spread);
    sk_drift_term_free(model->drift[1]);
    model->drift_terms = 1;
    model->drift[0]->weight[0] = -1.3;
    model->drift[0]->weight[1] = 0.5;
    good(f, sk_features_set_units(f->ctx, model->drift[0]->map, &origin, NULL));
    good(f, sk_spread_new(f->ctx, 1, 1, 1, 0, 0, &model->spread));
    model->spread->share[0] = model->spread->pi[0] = 1;
    model->spread->drift[0] = diagonal(f, 2, sd);
    good(f, sk_equation_add(f->ctx, model, &record));
    assert_string_equal(record.equation.text[0], "dx0/dt = -1.3*(x0 - 300.385)");
    assert_int_equal(record.errors.list[0].count, 2);
    assert_close(record.errors.list[0].value[0], 1.1 * 0.1, 1e-9, 0);
    assert_close(record.errors.list[0].value[1], 1.1 * sqrt(0.04 + 0.01 * away * away) / 1.3, 1e-9, 0);
    sk_record_clear(&record);
    sock_model_free(model);
}

/* ---- A searched model ---- */

static sock_model *searched(fixture *f, size_t d, double unit)
{
    sock_data *plain = case_data(f->ctx, 240, d, 20, 3), *data = NULL;
    double *x = calloc(plain->points * d, sizeof *x), *t = calloc(plain->points, sizeof *t);
    size_t *length = calloc(plain->trajectories, sizeof *length), at = 0;
    sock_model *model = NULL;
    for (size_t j = 0; j < plain->trajectories; j++) {
        const double *t0, *x0;
        length[j] = sock_data_trajectory(plain, j, &t0, &x0);
        for (size_t i = 0; i < length[j]; i++, at++) {
            t[at] = t0[i];
            for (size_t k = 0; k < d; k++) x[at * d + k] = unit * x0[i * d + k];
        }
    }
    good(f, sock_data_from_arrays(f->ctx, d, plain->trajectories, length, t, x, NULL, NULL, NULL, &data));
    sock_options *opts = sock_options_new(f->ctx);
    if (d > 1 || unit != 1) {
        good(f, sock_options_set(f->ctx, opts, "drift", "poly:degree=2"));
        good(f, sock_options_set(f->ctx, opts, "diffusion", "affine"));
    }
    good(f, sock_fit(f->ctx, data, opts, &model));
    sock_options_free(opts);
    sock_data_free(plain), sock_data_free(data);
    free(x), free(t), free(length);
    assert_int_equal(sock_model_has_bands(model), 1);
    return model;
}

typedef struct ends {
    double x[2 * POINTS], f[4 * POINTS], a[8 * POINTS], sigma[8 * POINTS];
} ends;

static void bands_of(fixture *f, const sock_model *model, double unit, ends *e)
{
    const size_t d = model->d;
    sk_normals((sk_key){8, SK_PURPOSE_TEST}, d, 0, 0, POINTS * d, e->x);
    for (size_t i = 0; i < POINTS * d; i++) e->x[i] *= unit;
    good(f, sock_model_bands(f->ctx, model, POINTS, e->x, 0.9,
                             &(sock_bands){e->f, e->f + POINTS * d, e->a, e->a + POINTS * d * d, e->sigma,
                                           e->sigma + POINTS * d * d, NULL, 0}));
}

static void test_bands__of_a_search_hold_its_fields(void **state)
{
    fixture *f = *state;
    for (size_t d = 1; d < 3; d++) {
        sock_model *model = searched(f, d, 1);
        ends e;
        double field[2 * POINTS], a[4 * POINTS], sigma[4 * POINTS];
        bands_of(f, model, 1, &e);
        good(f, sk_model_evaluate(f->ctx, model, POINTS, e.x, field, a));
        good(f, sk_square_roots(f->ctx, d, POINTS, a, sigma));
        for (size_t i = 0; i < POINTS * d; i++) assert_true(e.f[i] < field[i] && field[i] < e.f[POINTS * d + i]);
        for (size_t i = 0; i < POINTS * d * d; i++) {
            assert_true(e.a[i] <= a[i] && a[i] <= e.a[POINTS * d * d + i]);
            assert_true(e.sigma[i] <= sigma[i] && sigma[i] <= e.sigma[POINTS * d * d + i]);
        }
        sock_model_free(model);
    }
}

/* The variance of f is that of the bands, 4000 draws at 20 points; no a is below zero. */
static void prop_draws_of_a_search_have_its_variance(void **state)
{
    fixture *f = *state;
    sock_model *model = searched(f, 1, 1);
    double x[POINTS], field[POINTS], told[POINTS], a[POINTS], told_a[POINTS], var[POINTS] = {0}, log_var[POINTS] = {0};
    for (size_t i = 0; i < POINTS; i++) x[i] = -1 + 0.1 * (double)i;
    good(f, sk_model_evaluate(f->ctx, model, POINTS, x, field, a));
    good(f, sk_drift_variance(f->ctx, model, POINTS, x, field, told));
    good(f, sk_diffusion_variance(f->ctx, model, POINTS, x, a, told_a));
    assert_int_equal(draw_many(f, model, 4000, POINTS, x, var, log_var), 0);
    for (size_t i = 0; i < POINTS; i++) {
        assert_close(var[i], told[i], 0.1, 0);
        assert_close(log_var[i], told_a[i], 0.1, 0);
    }
    sock_model_free(model);
}

/* States in other units: the search is the same, and the bands follow. */
static void prop_bands_follow_the_units(void **state)
{
    fixture *f = *state;
    sock_set_threads(f->ctx, 1);
    for (size_t d = 1; d < 3; d++) {
        sock_model *large = searched(f, d, 1024), *larger = searched(f, d, 1048576);
        const double close = d == 1 ? 1e-6 : 1e-3; /* in several dimensions the fit itself hangs on rounding */
        ends e, g;
        bands_of(f, large, 1024, &e);
        bands_of(f, larger, 1048576, &g);
        for (size_t i = 0; i < 2 * POINTS * d; i++) assert_close(g.f[i] / 1024, e.f[i], close, 1e3);
        for (size_t i = 0; i < 2 * POINTS * d * d; i++) {
            assert_close(g.a[i] / 1048576, e.a[i], close, 1e5);
            assert_close(g.sigma[i] / 1024, e.sigma[i], close, 1e3);
        }
        sock_model_free(large), sock_model_free(larger);
    }
}

/* ---- The file ---- */

static void test_bands__are_the_same_from_a_file(void **state)
{
    fixture *f = *state;
    for (size_t d = 1; d < 3; d++) {
        sock_model *model = searched(f, d, 1), *loaded = NULL, *one = NULL, *two = NULL;
        ends e, g;
        size_t size;
        double left[2], right[2];
        good(f, sock_model_save(f->ctx, model, f->path));
        good(f, sock_model_load(f->ctx, f->path, &loaded));
        unsigned char *bytes = read_bytes(f->path, &size);
        assert_non_null(memmem(bytes, size, "\"format_version\":\"2\"", 20));
        free(bytes);
        bands_of(f, model, 1, &e);
        bands_of(f, loaded, 1, &g);
        assert_memory_equal(&e, &g, sizeof(double) * POINTS * d); /* the points, and then each */
        assert_memory_equal(e.f, g.f, sizeof(double) * 2 * POINTS * d);
        assert_memory_equal(e.a, g.a, sizeof(double) * 2 * POINTS * d * d);
        assert_memory_equal(e.sigma, g.sigma, sizeof(double) * 2 * POINTS * d * d);
        assert_memory_equal(model->spread->sup, loaded->spread->sup, SK_SUP_DRAWS * sizeof(double));
        good(f, sock_model_draw(f->ctx, model, 3, 1, &one));
        good(f, sock_model_draw(f->ctx, loaded, 3, 1, &two));
        good(f, sock_model_drift(f->ctx, one, 1, e.x, left));
        good(f, sock_model_drift(f->ctx, two, 1, e.x, right));
        assert_memory_equal(left, right, d * sizeof *left);
        sock_model_free(model), sock_model_free(loaded), sock_model_free(one), sock_model_free(two);
    }
}

/* A state whose noise is taken out: its bands are zero, also after a file. */
static void test_bands__of_a_silent_state_are_zero(void **state)
{
    fixture *f = *state;
    sock_model *model = searched(f, 2, 1), *loaded = NULL;
    const bool quiet[] = {true, false};
    ends e;
    good(f, sk_floor_as_term(f->ctx, NULL, model));
    for (size_t i = 0; i < model->diffusion_terms; i++) {
        sk_diffusion_term *term = model->diffusion[i];
        memset(term->v, 0, sk_features_count(term->map) * term->rank * sizeof *term->v);
    }
    sk_spread_silence(model, quiet);
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    bands_of(f, loaded, 1, &e);
    for (size_t i = 0; i < 2 * POINTS * 4; i++) {
        assert_true((e.a[i] != 0) == (i % 4 == 3));
        assert_true((e.sigma[i] != 0) == (i % 4 == 3));
    }
    for (size_t i = 0; i < POINTS; i++) assert_true(e.a[4 * i + 3] < e.a[4 * (POINTS + i) + 3]);
    sock_model_free(model), sock_model_free(loaded);
}

/* What the file of a model says its version is. */
static void check_version(fixture *f, const sock_model *model, const char *version)
{
    sock_model *loaded = NULL;
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    file_parts p = take_apart(f->path);
    json_t *metadata = json_object_get(p.header, "__metadata__");
    assert_string_equal(json_string_value(json_object_get(metadata, "format_version")), version);
    put_together(f->other, &p);
    sock_model_free(loaded);
}

/* Version 2 is for what the first programs refuse: a spread, an origin, some monomials. */
static void test_bands__make_a_file_of_version_two_as_all_that_is_new(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f);
    const double zero = 0, far = 300, unit = 2;
    const size_t keep[] = {0, 2};
    sk_features *some = NULL;
    check_version(f, model, "2");
    sk_spread_free(model->spread);
    model->spread = NULL;
    check_version(f, model, "1");
    sk_features **map = &model->drift[0]->map;
    good(f, sk_features_set_units(f->ctx, *map, &zero, &unit));
    check_version(f, model, "1");
    good(f, sk_features_set_units(f->ctx, *map, &far, &unit));
    check_version(f, model, "2");
    sk_features_free(*map);
    *map = map_of(f, "affine", 1);
    check_version(f, model, "1");
    sk_features *all = map_of(f, "poly:degree=2", 1);
    good(f, sk_features_select(f->ctx, all, 2, keep, &some)); /* as many as there are weights */
    sk_features_free(all);
    sk_features_free(*map);
    *map = some;
    check_version(f, model, "2");
    sock_model_free(model);
}

/* A landmark's factor is no factor of a spread. */
static void test_bands__pivots_stay_version_one(void **state)
{
    fixture *f = *state;
    sock_data *data = make_data(f, 2);
    good(f, sock_options_set(f->ctx, f->opts, "bands", "no"));
    sock_model *model = fit(f, data, "gauss:eta=0.7", "nystrom", "auto");
    check_version(f, model, "1");
    sock_model_free(model);
    sock_data_free(data);
}

/* A coefficient that is rounding is no term, and has no error: the errors are those of the terms shown. */
static void test_bands__errors_are_those_of_the_terms_shown(void **state)
{
    fixture *f = *state;
    sock_model *model = by_hand(f);
    sk_record record;
    sk_record_init(&record);
    model->drift[0]->weight[1] = 0.4 + 1e-13;
    model->drift[1]->weight[1] = -0.4;
    good(f, sk_equation_add(f->ctx, model, &record));
    assert_string_equal(record.equation.text[0], "dx0/dt = 1.8*x0");
    assert_int_equal(record.errors.count, 1);
    assert_int_equal(record.errors.list[0].count, 1);
    /* slopes 1 +- 0.1 and 3 +- 0.3 with shares 0.6 and 0.4 */
    assert_close(record.errors.list[0].value[0], 1.1 * sqrt(0.6 * 1.01 + 0.4 * 9.09 - 1.8 * 1.8), 1e-12, 0);
    sk_record_clear(&record);
    sock_model_free(model);
}

static json_t *array_of(const file_parts *p, const char *name)
{
    json_t *array = json_object_get(p->header, name);
    assert_non_null(array);
    return array;
}

static double *numbers_of(const file_parts *p, const char *name)
{
    json_t *offsets = json_object_get(array_of(p, name), "data_offsets");
    return (double *)(void *)(p->data + json_integer_value(json_array_get(offsets, 0)));
}

static void swap_shape(file_parts *p)
{
    json_t *shape = json_object_get(array_of(p, "diffusion.0.entry"), "shape");
    json_array_append(shape, json_array_get(shape, 0));
    json_array_remove(shape, 0);
}

static void far_entry(file_parts *p) { numbers_of(p, "drift.0.entry")[0] = 2; }
static void double_entry(file_parts *p) { numbers_of(p, "drift.0.entry")[0] = 1; }
static void half_entry(file_parts *p) { numbers_of(p, "diffusion.1.entry")[0] = 0.5; }
static void far_group(file_parts *p) { numbers_of(p, "drift.1.entry")[1] = 1; }
static void falling(file_parts *p) { numbers_of(p, "spread.0.sup")[7] = 0; }

static json_t *spread_of(const file_parts *p) { return json_object_get(p->model, "spread"); }
static void bad_pi(file_parts *p) { json_array_set_new(json_object_get(spread_of(p), "pi"), 0, json_real(0.6)); }
static void below(file_parts *p) { json_array_set_new(json_object_get(spread_of(p), "share"), 0, json_real(-0.6)); }
static void short_list(file_parts *p) { json_array_remove(json_object_get(spread_of(p), "share"), 0); }
static void no_number(file_parts *p) { json_array_set_new(json_object_get(spread_of(p), "lower"), 0, json_true()); }
static void no_object(file_parts *p) { json_object_set_new(p->model, "spread", json_integer(3)); }
static void too_many(file_parts *p)
{
    for (int i = 0; i < 2; i++) json_array_append_new(json_object_get(spread_of(p), "diffusion_share"), json_real(0.1));
}
static void forgotten(file_parts *p) { json_object_del(p->model, "spread"); }
static void first_version(file_parts *p)
{
    json_object_set_new(json_object_get(p->header, "__metadata__"), "format_version", json_string("1"));
}

static json_t *peer_in(const file_parts *p, size_t i)
{
    return json_array_get(json_object_get(spread_of(p), "peers"), i);
}
static json_t *description_of(const file_parts *p)
{
    return json_object_get(json_object_get(peer_in(p, 1), "model"), "description");
}
static void heavy(file_parts *p) { json_object_set_new(peer_in(p, 0), "weight", json_real(0.71)); }
static void weightless(file_parts *p) { json_object_set_new(peer_in(p, 0), "weight", json_real(0)); }
static void unweighed(file_parts *p) { json_object_del(peer_in(p, 1), "weight"); }
static void no_model(file_parts *p) { json_object_del(peer_in(p, 1), "model"); }
static void no_list(file_parts *p) { json_object_set_new(spread_of(p), "peers", json_integer(2)); }
static void crowd(file_parts *p)
{
    for (int i = 0; i < 9; i++) json_array_append(json_object_get(spread_of(p), "peers"), peer_in(p, 0));
}
static void stranger(file_parts *p)
{
    json_array_set_new(json_object_get(description_of(p), "state"), 0, json_string("who"));
}
static void secretive(file_parts *p) { json_object_del(description_of(p), "spread"); }
static void in_company(file_parts *p)
{
    json_t *list = json_pack("[O]", peer_in(p, 0));
    json_t *copy = json_deep_copy(list);
    json_object_set_new(json_object_get(description_of(p), "spread"), "peers", copy);
    json_decref(list);
}

typedef struct damage {
    void (*fn)(file_parts *p);
    const char *message;
} damage;

/* The model's file with one damage at a time; the model goes. */
static void refuse_each(fixture *f, sock_model *model, size_t count, const damage *damages)
{
    sock_model *loaded = NULL;
    good(f, sock_model_save(f->ctx, model, f->path));
    for (size_t i = 0; i < count; i++) {
        file_parts p = take_apart(f->path);
        damages[i].fn(&p);
        put_together(f->other, &p);
        assert_int_equal(sock_model_load(f->ctx, f->other, &loaded), SOCK_EINPUT);
        if (!strstr(sock_message(f->ctx), damages[i].message)) fail_msg("%zu: %s", i, sock_message(f->ctx));
    }
    sock_model_free(model);
}

static void test_bands__of_damaged_peers_are_refused(void **state)
{
    static const damage damages[] = {{heavy, "the weights of peers are not positive numbers whose sum is at most 1"},
                                     {weightless, "the weights of peers are not positive"},
                                     {unweighed, "the weights of peers are not positive"},
                                     {no_model, "there is no description"},
                                     {no_list, "peers is not a list of at most 8"},
                                     {crowd, "peers is not a list of at most 8"},
                                     {stranger, "a peer is no model like it"},
                                     {secretive, "an array that belongs to no term"},
                                     {in_company, "a peer is no model like it"}};
    refuse_each(*state, with_peers(*state), sizeof damages / sizeof *damages, damages);
}

static void test_bands__of_a_damaged_file_are_refused(void **state)
{
    static const damage damages[] = {
        {swap_shape, "wrong shape"},
        {far_entry, "a factor moves a number that is not there, or moves one twice in drift"},
        {double_entry, "moves one twice"},
        {half_entry, "moves one twice in diffusion"},
        {far_group, "moves one twice"},
        {falling, "the deviations of the draws do not rise"},
        {bad_pi, "the shares do not add up to 1 in pi"},
        {below, "a share is not positive in share"},
        {short_list, "a list has a wrong length in share"},
        {no_number, "a number is not a number in lower"},
        {no_object, "spread is not an object"},
        {too_many, "spread does not agree with the terms"},
        {forgotten, "an array that belongs to no term"},
        {first_version, "an array that belongs to no term"}};
    refuse_each(*state, by_hand(*state), sizeof damages / sizeof *damages, damages);
}

/* ---- Memory ---- */

typedef struct trying {
    const sock_model *model;
    const char *path;
} trying;

static sock_status everything(sock_context *ctx, void *arg)
{
    const trying *t = arg;
    const double x = 0.3;
    double low, sup[SK_SUP_DRAWS];
    sock_model *draw = NULL, *loaded = NULL;
    sock_status status = sock_model_bands(ctx, t->model, 1, &x, 0.9, &(sock_bands){.f_low = &low, .sigma_low = &low});
    if (status >= 0) status = sk_drift_sup(ctx, t->model, 1, &x, sup);
    if (status >= 0) status = sock_model_draw(ctx, t->model, 1, 2, &draw);
    if (status >= 0) status = sock_model_save(ctx, t->model, t->path);
    if (status >= 0) status = sock_model_load(ctx, t->path, &loaded);
    sock_model_free(draw);
    sock_model_free(loaded);
    return status;
}

static void test_bands__survive_every_failed_allocation(void **state)
{
    fixture *f = *state;
    sock_set_threads(f->ctx, 1);
    sock_model *model = with_noise(f);
    assert_true(for_single_allocations(f->ctx, everything, &(trying){model, f->path}) > 40);
    sock_model_free(model);
    model = with_peers(f);
    assert_true(for_single_allocations(f->ctx, everything, &(trying){model, f->path}) > 100);
    sock_model_free(model);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_bands__are_within_and_between),
        WITH_FIXTURE(test_bands__that_hold_the_whole_curve_are_those_of_the_draws),
        WITH_FIXTURE(test_bands__refuse_what_they_cannot_tell),
        WITH_FIXTURE(test_bands__of_a_that_is_hardly_known),
        WITH_FIXTURE(test_bands__go_on_without_the_law_of_one_part),
        cmocka_unit_test(test_normal_quantile__is_that_of_the_tables),
        cmocka_unit_test(test_pick_share__follows_the_shares),
        WITH_FIXTURE(prop_draws_have_the_variance_of_the_bands),
        WITH_FIXTURE(prop_a_law_of_a_candidate_counts_in_bands_and_draws),
        WITH_FIXTURE(prop_peers_count_in_bands_and_draws),
        WITH_FIXTURE(prop_bands_of_a_are_quantiles_of_the_mixture),
        WITH_FIXTURE(test_bands__a_peer_without_numbers_is_read_back),
        WITH_FIXTURE(prop_deviations_of_peers_are_those_of_their_draws),
        WITH_FIXTURE(test_bands__of_peers_follow_the_units),
        WITH_FIXTURE(prop_uncertain_paths_are_those_of_the_draws),
        WITH_FIXTURE(test_terms__have_standard_errors),
        WITH_FIXTURE(test_errors__of_a_line_are_those_of_slope_and_root),
        WITH_FIXTURE(test_bands__of_a_search_hold_its_fields),
        WITH_FIXTURE(prop_draws_of_a_search_have_its_variance),
        WITH_FIXTURE(prop_bands_follow_the_units),
        WITH_FIXTURE(test_bands__are_the_same_from_a_file),
        WITH_FIXTURE(test_bands__of_a_silent_state_are_zero),
        WITH_FIXTURE(test_bands__make_a_file_of_version_two_as_all_that_is_new),
        WITH_FIXTURE(test_bands__pivots_stay_version_one),
        WITH_FIXTURE(test_bands__errors_are_those_of_the_terms_shown),
        WITH_FIXTURE(test_bands__of_damaged_peers_are_refused),
        WITH_FIXTURE(test_bands__of_a_damaged_file_are_refused),
        WITH_FIXTURE(test_bands__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
