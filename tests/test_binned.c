/* test_binned.c - binned moments of steps beside a model: slow sums, true models that miss nothing however long steps
 * are and however noisy data, and shifts that are found at their size. */
#include "check/binned.h"
#include "onecontext.h"
#include "truths.h"
#include "tune/policy.h"

#include "base/base.h"
#include "data/data.h"
#include "score/score.h"

#include <math.h>
#include <string.h>

#define THETA 0.7
#define NOISE 0.5 /* a */

typedef struct shift {
    double f, a;
} shift;

static void ou_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    for (size_t i = 0; i < count * d; i++) f[i] = ((shift *)user)->f - THETA * x[i];
}

static void ou_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = i % (d * d) % (d + 1) ? 0 : NOISE + ((shift *)user)->a;
}

/* Exact steps of dx = -theta x dt + sqrt(a) dW, observed with noise of that standard deviation. */
static sock_data *ou_data(size_t paths, size_t points, double h, double noise, uint64_t seed)
{
    const size_t n = paths * points;
    double *t = calloc(n, sizeof *t), *x = calloc(n, sizeof *x), *z = calloc(2 * n, sizeof *z);
    size_t *length = calloc(paths, sizeof *length);
    sock_data *data = NULL;
    sk_normals((sk_key){seed, 0}, 0, 0, 0, 2 * n, z);
    const double keep = exp(-THETA * h), sd = sqrt(NOISE / (2 * THETA) * (1 - keep * keep));
    for (size_t j = 0; j < paths; j++) {
        double state = sqrt(NOISE / (2 * THETA)) * z[j * points];
        length[j] = points;
        for (size_t i = 0; i < points; i++) {
            const size_t at = j * points + i;
            if (i) state = keep * state + sd * z[at];
            t[at] = h * (double)i, x[at] = state + noise * z[n + at];
        }
    }
    assert_int_equal(sock_data_from_arrays(ctx, 1, paths, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    free(t), free(x), free(z), free(length);
    return data;
}

static sk_binned_all make(const sock_model *model, const sock_data *data)
{
    sk_binned_all all;
    if (sk_binned_make(ctx, model, data, NULL, 1, &all) < 0) fail_msg("%s", sock_message(ctx));
    return all;
}

/* ---- The raw moments ---- */

static void test_binned__raw_moments_are_slow_sums(void **state)
{
    (void)state;
    shift none = {0, 0};
    sock_model *model = wrap_fields(ctx, 1, ou_drift, ou_diffusion, &none);
    sock_data *data = ou_data(3, 200, 0.3, 0, 5);
    sk_binned_all all = make(model, data);
    for (size_t w = 0; w < all.count; w++) {
        const sk_binned *b = &all.of[w];
        size_t seen = 0;
        for (size_t i = 0; i < b->bins; i++) seen += b->bin[i].n;
        assert_int_equal(seen, b->steps);
        assert_int_equal(b->steps, 3 * (199 / b->every));
        assert_true(fabs(b->h - 0.3 * (double)b->every) < 1e-12);
        /* The first bin holds the n smallest starts. */
        double sum = 0, gone = 0, square = 0, law = 0, largest = -1e9;
        const double keep = exp(-THETA * b->h), var = NOISE / (2 * THETA) * (1 - keep * keep);
        size_t n = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < 3; j++)
                for (size_t i = 0; i + b->every < 200; i += b->every) {
                    const double x = data->x[200 * j + i], y = data->x[200 * j + i + b->every];
                    if (!(x < (b->bin[0].x + b->bin[1].x) / 2)) continue; /* most of it: refined below */
                    if (!pass) n++, largest = fmax(largest, x), sum += x, gone += y - x;
                    if (pass)
                        square += pow(y - x - gone / (double)n, 2),
                            law += var + pow((keep - 1) * x - gone / (double)n, 2);
                }
        if (n != b->bin[0].n) continue; /* the edge of the bin is not the middle between the two means */
        assert_true(fabs(b->bin[0].x - sum / (double)n) < 1e-12);
        assert_true(fabs(b->bin[0].raw_f - gone / (double)n / b->h) < 1e-12);
        assert_true(fabs(b->bin[0].raw_a - square / (double)n / b->h) < 1e-12);
        assert_true(fabs(b->bin[0].model_a - law / (double)n / b->h) < 2e-3 * fabs(law)); /* the flow's substeps */
    }
    sk_binned_clear(&all);
    sock_data_free(data);
    sock_model_free(model);
}

/* ---- True models ---- */

typedef struct total {
    double f, a; /* shifts by their weights */
    double f_se, a_se;
    double chi_f, chi_a, bins;
} total;

static total add_up(const sk_binned *b)
{
    total t = {0};
    double wf = 0, wa = 0;
    for (size_t i = 0; i < b->bins; i++) {
        const sk_bin *bin = &b->bin[i];
        if (isnan(bin->f)) continue; /* far from the medians of the inputs */
        const double uf = 1 / (bin->f_se * bin->f_se), ua = (double)bin->n;
        t.f += uf * bin->f, wf += uf, t.a += ua * bin->a, wa += ua, t.a_se += pow(ua * bin->a_se, 2);
        t.chi_f += pow(bin->f / bin->f_se, 2), t.chi_a += pow(bin->a / bin->a_se, 2), t.bins += 1;
    }
    t.f /= wf, t.f_se = 1 / sqrt(wf), t.a /= wa, t.a_se = sqrt(t.a_se) / wa;
    return t;
}

static sock_model *noisy_model(shift *s, double noise)
{
    sock_model *model = wrap_fields(ctx, 1, ou_drift, ou_diffusion, s);
    if (noise > 0) {
        model->structure->noise = sk_doubles(ctx, 1, 1);
        assert_non_null(model->structure->noise);
        model->structure->noise[0] = noise * noise;
    }
    return model;
}

static const struct {
    double h, noise;
} scenes[] = {{0.05, 0}, {1, 0}, {2.5, 0}, {0.05, 0.3}, {0.5, 0.3}};
enum { SCENES = sizeof scenes / sizeof *scenes };

static void prop_binned__a_true_model_misses_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        shift none = {0, 0};
        sock_model *model = noisy_model(&none, scenes[s].noise);
        sock_data *data = ou_data(40, 401, scenes[s].h, scenes[s].noise, 11 + s);
        sk_binned_all all = make(model, data);
        for (size_t w = 0; w < all.count; w++) {
            const total t = add_up(&all.of[w]);
            const double most = t.bins + 4 * sqrt(2 * t.bins);
            if (!(t.chi_f < most && t.chi_a < most && fabs(t.f) < 4 * t.f_se && fabs(t.a) < 4 * t.a_se))
                fail_msg("h %g, noise %g, every %zu: chi %g and %g of %g, f %g +- %g, a %g +- %g", scenes[s].h,
                         scenes[s].noise, all.of[w].every, t.chi_f, t.chi_a, t.bins, t.f, t.f_se, t.a, t.a_se);
        }
        sk_binned_clear(&all);
        sock_data_free(data);
        sock_model_free(model);
    }
}

/* ---- Shifts ---- */

static void prop_binned__a_shift_is_found_at_its_size(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        shift wrong = {0.3, -0.05};
        sock_model *model = noisy_model(&wrong, scenes[s].noise);
        sock_data *data = ou_data(40, 401, scenes[s].h, scenes[s].noise, 31 + s);
        sk_binned_all all = make(model, data);
        const total t =
            add_up(&all.of[0]); /* what is missed: the data less the model; a shifted f also adds its square */
        const double square = scenes[s].noise > 0 ? 0.02 : 0.03 * scenes[s].h;
        if (!(fabs(t.f + 0.3) < 4 * t.f_se + 0.01 && fabs(t.a - 0.05) < 4 * t.a_se + square + 0.1))
            fail_msg("h %g, noise %g: f %g +- %g, a %g +- %g", scenes[s].h, scenes[s].noise, t.f, t.f_se, t.a, t.a_se);
        sk_binned_clear(&all);
        sock_data_free(data);
        sock_model_free(model);
    }
}

static void test_binned__an_a_too_small_is_found_at_its_size(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCENES; s++) {
        shift wrong = {0, -0.1};
        sock_model *model = noisy_model(&wrong, scenes[s].noise);
        sock_data *data = ou_data(60, 401, scenes[s].h, scenes[s].noise, 51 + s);
        sk_binned_all all = make(model, data);
        const total t = add_up(&all.of[0]);
        if (!(fabs(t.a - 0.1) < 4 * t.a_se + 0.015))
            fail_msg("h %g, noise %g: a %g +- %g", scenes[s].h, scenes[s].noise, t.a, t.a_se);
        sk_binned_clear(&all);
        sock_data_free(data);
        sock_model_free(model);
    }
}

/* With noise the filter carries what it missed on from step to step: without 1 / (1 - c^2) the shift would come out
 * twice as large. Raw moments, which noise rules, do not see it at all. */
static void test_binned__what_the_filter_carries_on_counts_once(void **state)
{
    (void)state;
    shift wrong = {0, -0.3};
    sock_model *model = noisy_model(&wrong, 0.3);
    sock_data *data = ou_data(400, 401, 0.05, 0.3, 72);
    sk_binned_all all = make(model, data);
    const total t = add_up(&all.of[0]);
    if (!(fabs(t.a - 0.3) < 3 * t.a_se && t.a_se < 0.02)) fail_msg("a %g +- %g", t.a, t.a_se);
    sk_binned_clear(&all);
    sock_data_free(data);
    sock_model_free(model);
}

static void test_binned__too_few_points_have_no_bins(void **state)
{
    (void)state;
    shift none = {0, 0};
    sock_model *model = wrap_fields(ctx, 1, ou_drift, ou_diffusion, &none);
    sock_data *data = ou_data(1, 5, 0.1, 0, 3);
    sk_binned_all all = make(model, data);
    assert_int_equal(all.count, 0);
    sk_binned_clear(&all);
    char *text = NULL;
    assert_int_equal(sock_evidence(ctx, model, data, &text), SOCK_OK);
    assert_non_null(strstr(text, "\"moments\": []"));
    sock_string_free(text);
    assert_int_equal(sock_evidence(ctx, model, NULL, &text), SOCK_EUSAGE);
    sock_data_free(data);
    sock_model_free(model);
}

/* ---- Planes ---- */

/* Two processes of ou_data side by side, with noise and without. */
static sock_data *plane_data(size_t paths, size_t points, double h, double noise)
{
    sock_data *one = ou_data(paths, points, h, noise, 3310), *other = ou_data(paths, points, h, noise, 3311),
              *both = NULL;
    const size_t n = paths * points;
    double *x = calloc(2 * n, sizeof *x);
    size_t *length = calloc(paths, sizeof *length);
    for (size_t j = 0; j < paths; j++) length[j] = points;
    for (size_t i = 0; i < n; i++) x[2 * i] = one->x[i], x[2 * i + 1] = 10 * other->x[i];
    assert_int_equal(sock_data_from_arrays(ctx, 2, paths, length, one->t, x, NULL, NULL, NULL, &both), SOCK_OK);
    free(x), free(length);
    sock_data_free(one), sock_data_free(other);
    return both;
}

/* Of plane_data: the second state is ten times as large. shift: two numbers. */
static void plane_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    for (size_t i = 0; i < count * d; i++) f[i] = ((shift *)user)[i % d].f - THETA * x[i];
}

static void plane_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)x;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count * d; i++)
        a[i / d * d * d + i % d * (d + 1)] = (i % d ? 100 : 1) * NOISE + ((shift *)user)[i % d].a;
}

static void prop_boxes__hold_all_points_in_even_shares(void **state)
{
    (void)state;
    enum { MOST = 3000 };
    static double x[3 * MOST];
    static size_t order[MOST], place[MOST], hits[MOST];
    for (size_t turn = 0; turn < 20; turn++) {
        const size_t n = 5 + turn * turn * 7, pair[2] = {2, 0};
        sk_normals((sk_key){3312, 0}, turn, 0, 0, 3 * n, x);
        for (size_t i = 0; i < 3 * n && turn % 3 == 0; i++) x[i] = round(2 * x[i]); /* ties */
        size_t good = 0, seen = 0;
        for (size_t i = 0; i < n; i++) place[i] = i % 11 == 5 ? SIZE_MAX : 0, good += place[i] == 0;
        const size_t boxes = sk_boxes_place(n, 3, x, pair, order, place);
        assert_true(good < 4 * SK_BINNED_LEAST ? boxes == 0 : boxes > 3);
        memset(hits, 0, sizeof hits);
        for (size_t i = 0; boxes && i < n; i++) {
            assert_true((place[i] == SIZE_MAX) == (i % 11 == 5));
            if (place[i] == SIZE_MAX) continue;
            assert_true(place[i] < boxes);
            hits[place[i]]++, seen++;
        }
        assert_true(!boxes || seen == good);
        const size_t least = SK_MAX(good / SK_BINNED_BOXES, (size_t)SK_BINNED_LEAST);
        for (size_t b = 0; b < boxes; b++) assert_true(hits[b] >= least && hits[b] < 2 * least + 1);
    }
}

/* A true model misses nothing in a plane; shifts of the one state and of the other are found at their sizes, each
 * alone. */
static void prop_binned__planes_find_shifts_of_either_state(void **state)
{
    (void)state;
    static const double noises[] = {0, 0.3};
    for (size_t s = 0; s < 4; s++) {
        shift wrong[2] = {{s % 2 ? 0.3 : 0, 0}, {0, s % 2 ? -10 : 0}};
        sock_model *model = wrap_fields(ctx, 2, plane_drift, plane_diffusion, wrong);
        const double noise = noises[s / 2];
        if (noise > 0) {
            model->structure->noise = sk_doubles(ctx, 2, 2);
            model->structure->noise[0] = noise * noise, model->structure->noise[3] = 100 * noise * noise;
        }
        sock_data *data = plane_data(40, 201, noise > 0 ? 0.2 : 0.4, noise);
        sk_binned_all all = make(model, data);
        assert_int_equal(all.planes, 1);
        const sk_boxed *p = &all.plane[0];
        assert_true(p->boxes >= 20 && p->boxes <= SK_BINNED_BOXES);
        for (size_t w = 0; w < 2; w++) {
            sk_binned side = {.bins = p->boxes, .bin = sk_alloc(ctx, p->boxes, sizeof *side.bin)};
            for (size_t b = 0; b < p->boxes; b++) side.bin[b] = p->bin[2 * b + w];
            const total t = add_up(&side);
            const double most = t.bins + 4 * sqrt(2 * t.bins), f = -wrong[w].f, a = -wrong[w].a, unit = w ? 10 : 1;
            if (!(fabs(t.f - f) < 4 * t.f_se + 0.01 * unit &&
                  fabs(t.a - a) < 4 * t.a_se + 0.03 * unit * unit + (f != 0)))
                fail_msg("state %zu of scene %zu: f %g +- %g, a %g +- %g", w, s, t.f, t.f_se, t.a, t.a_se);
            if (!(s % 2) && !(t.chi_f < most && t.chi_a < most))
                fail_msg("chi %g and %g of %g", t.chi_f, t.chi_a, t.bins);
            if (f != 0) assert_true(fabs(t.f) > 5 * t.f_se);
            if (a != 0) assert_true(fabs(t.a) > 5 * t.a_se);
            sk_free(side.bin);
        }
        sk_binned_clear(&all);
        sock_data_free(data);
        sock_model_free(model);
    }
}

/* ---- Inputs ---- */

#define PULL 3.0 /* dx = (u - 3 x) dt + sqrt(a) dW */

static void pulled(void *user, size_t count, size_t d, const double *z, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = z[2 * i + 1] - PULL * z[2 * i];
}

static void even_noise(void *user, size_t count, size_t d, const double *z, double *a)
{
    (void)user, (void)d, (void)z;
    for (size_t i = 0; i < count; i++) a[i] = NOISE;
}

static sock_model *pulled_model(void)
{
    static const char *const x[] = {"x"}, *const u[] = {"u"}, *const hold[] = {"linear"};
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, 1, x, pulled, even_noise, NULL, &model), SOCK_OK);
    assert_int_equal(sock_model_set_inputs(ctx, model, 1, u, hold), SOCK_OK);
    return model;
}

/* Mean of the end of a step from x while u goes from u0 to u1; its variance is a (1 - e^(-2 PULL h)) / (2 PULL). */
static double pulled_mean(double x, double u0, double u1, double h)
{
    const double keep = exp(-PULL * h), gone = (1 - keep) / PULL, slope = (u1 - u0) / h;
    return keep * x + u0 * gone + slope * (h - gone) / PULL;
}

/* Exact paths. Columns x, w (which the model does not know) and u, which swings. */
static sock_data *pulled_data(size_t points, double h)
{
    static const char *const names[] = {"x", "w", "u"};
    sock_options *opts = sock_options_new(ctx);
    sock_data *data = NULL;
    double *t = calloc(points, sizeof *t), *x = calloc(3 * points, sizeof *x), *z = calloc(points, sizeof *z);
    const double sd = sqrt(NOISE * -expm1(-2 * PULL * h) / (2 * PULL));
    assert_int_equal(sock_options_set(ctx, opts, "input", "w,u"), SOCK_OK);
    sk_normals((sk_key){91, 0}, 0, 0, 0, points, z);
    for (size_t i = 0; i < points; i++) {
        t[i] = h * (double)i, x[3 * i + 1] = 40, x[3 * i + 2] = 4 * sin(2 * t[i]);
        if (i) x[3 * i] = pulled_mean(x[3 * i - 3], x[3 * i - 1], x[3 * i + 2], h) + sd * z[i];
    }
    assert_int_equal(sock_data_from_arrays(ctx, 3, 1, &points, t, x, names, NULL, opts, &data), SOCK_OK);
    sock_options_free(opts);
    free(t), free(x), free(z);
    return data;
}

static void test_binned__moments_of_ends_follow_the_inputs(void **state)
{
    (void)state;
    enum { STEPS = 30 };
    sock_model *model = pulled_model();
    sock_data *data = pulled_data(STEPS + 1, 0.2);
    const double *x = data->x, *u = data->u, var = NOISE * -expm1(-2 * PULL * 0.2) / (2 * PULL);
    size_t start[STEPS];
    double mean[STEPS], own[STEPS];
    for (size_t i = 0; i < STEPS; i++) start[i] = STEPS - 1 - i;
    assert_int_equal(sk_moment_laws(ctx, model, data, STEPS, start, mean, own), SOCK_OK);
    for (size_t i = 0; i < STEPS; i++) {
        const size_t at = start[i];
        assert_close(mean[i], pulled_mean(x[at], u[2 * at + 1], u[2 * at + 3], 0.2), 1e-5, 1);
        assert_close(own[i], var, 1e-4, var);
    }
    sock_data_free(data);
    sock_model_free(model);
}

/* Steps of 0.3 take three fifths of the way back: Euler's h a is more than twice the variance of an end. */
static void prop_binned__a_true_model_with_an_input_misses_nothing(void **state)
{
    (void)state;
    sock_model *model = pulled_model();
    sock_data *data = pulled_data(8001, 0.3);
    sk_binned_all all = make(model, data);
    assert_int_equal(all.count, 1);
    const total t = add_up(&all.of[0]);
    const double most = t.bins + 4 * sqrt(2 * t.bins);
    if (!(t.bins > 5 && t.chi_f < most && t.chi_a < most && fabs(t.f) < 4 * t.f_se && fabs(t.a) < 4 * t.a_se))
        fail_msg("chi %g and %g of %g, f %g +- %g, a %g +- %g", t.chi_f, t.chi_a, t.bins, t.f, t.f_se, t.a, t.a_se);
    sk_binned_clear(&all);
    sock_data_free(data);
    sock_model_free(model);
}

/* One path under u = 0, where its median is, then under 9 and under -9: x is about 3 and -3 there, where no step had an
 * input as low, or as high. A dot there would be the model's word; what the steps themselves say stays. */
static void test_binned__no_dot_where_an_input_never_had_its_median(void **state)
{
    (void)state;
    enum { N = 4001 };
    static const char *const names[] = {"x", "u"};
    static double t[N], x[2 * N], z[N];
    const size_t points = N;
    const double h = 0.05, sd = sqrt(NOISE * -expm1(-2 * PULL * h) / (2 * PULL));
    sock_options *opts = sock_options_new(ctx);
    sock_data *data = NULL;
    sock_model *model = pulled_model();
    sk_binned_all all;
    sk_normals((sk_key){92, 0}, 0, 0, 0, N, z);
    for (size_t i = 0; i < N; i++) {
        t[i] = h * (double)i, x[2 * i + 1] = i < N / 2 ? 0 : i < 3 * N / 4 ? 9 : -9;
        if (i) x[2 * i] = pulled_mean(x[2 * i - 2], x[2 * i - 1], x[2 * i + 1], h) + sd * z[i];
    }
    assert_int_equal(sock_options_set(ctx, opts, "input", "u"), SOCK_OK);
    assert_int_equal(sock_data_from_arrays(ctx, 2, 1, &points, t, x, names, NULL, opts, &data), SOCK_OK);
    all = make(model, data);
    size_t near = 0, far[2] = {0};
    for (size_t b = 0; b < all.of[0].bins; b++) {
        const sk_bin *bin = &all.of[0].bin[b];
        if (fabs(bin->x) > 2.5)
            assert_true(isnan(bin->f) && isnan(bin->a) && isnan(bin->f_se) && isfinite(bin->raw_a)), far[bin->x < 0]++;
        if (fabs(bin->x) < 0.5) assert_true(isfinite(bin->f) && isfinite(bin->a_se)), near++;
    }
    assert_true(near > 2 && far[0] > 2 && far[1] > 2);
    sk_binned_clear(&all);
    sock_data_free(data);
    sock_options_free(opts);
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_binned__raw_moments_are_slow_sums),
                                       cmocka_unit_test(prop_binned__a_true_model_misses_nothing),
                                       cmocka_unit_test(prop_binned__a_shift_is_found_at_its_size),
                                       cmocka_unit_test(test_binned__an_a_too_small_is_found_at_its_size),
                                       cmocka_unit_test(test_binned__what_the_filter_carries_on_counts_once),
                                       cmocka_unit_test(test_binned__too_few_points_have_no_bins),
                                       cmocka_unit_test(prop_boxes__hold_all_points_in_even_shares),
                                       cmocka_unit_test(prop_binned__planes_find_shifts_of_either_state),
                                       cmocka_unit_test(test_binned__moments_of_ends_follow_the_inputs),
                                       cmocka_unit_test(prop_binned__a_true_model_with_an_input_misses_nothing),
                                       cmocka_unit_test(test_binned__no_dot_where_an_input_never_had_its_median)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
