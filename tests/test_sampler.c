/* test_sampler.c - the fast fields are those of the model, whatever it is made of; a point's value does not depend on
 * its place in the block; so paths do not depend on their company. */
#include "model/sampler.h"
#include "onecontext.h"
#include "simulate/euler.h"
#include "truths.h"

enum { D = 2, BLOCK = SK_EULER_BLOCK };

static sock_options *options_of(const char *const *pairs)
{
    sock_options *opts = sock_options_new(ctx);
    assert_true(sock_options_set(ctx, opts, "tune", "no") >= 0);
    for (; *pairs; pairs += 2)
        if (sock_options_set(ctx, opts, pairs[0], pairs[1]) < 0) fail_msg("%s", sock_message(ctx));
    return opts;
}

/* A model of the 2-D dense system; wrapped: with the true drift as functions. */
static sock_model *fit_dense(const truth *dense, const char *const *pairs, bool wrapped)
{
    sock_data *train = NULL;
    sock_model *model = NULL;
    sock_options *opts = options_of(pairs);
    dense->instance->trajectories[SYS_TRAIN] = 12;
    assert_int_equal(sys_generate(ctx, dense->instance, SYS_TRAIN, &train), SOCK_OK);
    sock_status status =
        wrapped ? sock_fit_diffusion(ctx, train, dense->model, opts, &model) : sock_fit(ctx, train, opts, &model);
    if (status < 0) fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
    sock_data_free(train);
    return model;
}

static const char *const cases[][7] = {
    {"drift", "gauss:eta=0.8", "diffusion", "gauss:eta=0.8", NULL}, /* one piece for both */
    {"drift", "gauss:eta=0.8", "diffusion", "gauss:eta=1.7", "diagonal", "yes", NULL},
    {"drift", "poly:degree=2", "diffusion", "fourier:p=20,eta=1,seed=3", NULL},
    {"drift", "fourier:p=30,eta=1,seed=3", "diffusion", "affine", "diagonal", "yes", NULL},
    {"drift", "curlfree:eta=1", "diffusion", "nystrom:m=15,of=gauss,eta=1", NULL},
    {"drift", "gauss:eta=0.8", "diffusion", "none", NULL},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void random_numbers(uint64_t seed, size_t count, double *x)
{
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 0, 0, 0, count, x);
}

static void random_points(uint64_t seed, size_t count, double *x) { random_numbers(seed, count * D, x); }

/* Of f and a of a whole block, for any d. */
typedef struct fields {
    double *x, *f, *g, *a, *b; /* BLOCK x d, or x d x d */
} fields;

static fields new_fields(size_t d)
{
    return (fields){sk_doubles(ctx, BLOCK, d), sk_doubles(ctx, BLOCK, d), sk_doubles(ctx, BLOCK, d),
                    sk_doubles(ctx, BLOCK, d * d), sk_doubles(ctx, BLOCK, d * d)};
}

static void free_fields(fields *v) { sk_free(v->x), sk_free(v->f), sk_free(v->g), sk_free(v->a), sk_free(v->b); }

static void check_fields(const sock_model *model, double tolerance)
{
    const size_t d = model->d;
    fields v = new_fields(d);
    sk_sampler *sampler = NULL;
    assert_int_equal(sk_sampler_new(ctx, model, &sampler), SOCK_OK);
    double *space = sk_doubles(ctx, sk_sampler_space(sampler, BLOCK), 1);
    random_numbers(1, BLOCK * d, v.x);
    for (size_t count = 1; count <= BLOCK; count += 127) {
        bool noisy = model->has_diffusion;
        assert_int_equal(sk_model_evaluate(ctx, model, count, v.x, v.f, NULL), SOCK_OK);
        if (noisy) assert_int_equal(sk_model_evaluate(ctx, model, count, v.x, NULL, v.a), SOCK_OK);
        sk_sampler_fields(ctx, sampler, count, v.x, v.g, noisy ? v.b : NULL, space);
        assert_all_close(count * d, v.g, v.f, tolerance);
        if (noisy) assert_all_close(count * d * d, v.b, v.a, tolerance);
    }
    sk_free(space);
    sk_sampler_free(sampler);
    free_fields(&v);
}

/* One point of the block, moved to every other place: the same bits. */
static void check_places(const sock_model *model)
{
    const size_t d = model->d;
    const bool noisy = model->has_diffusion;
    fields v = new_fields(d);
    sk_sampler *sampler = NULL;
    assert_int_equal(sk_sampler_new(ctx, model, &sampler), SOCK_OK);
    double *space = sk_doubles(ctx, sk_sampler_space(sampler, BLOCK), 1);
    for (size_t place = 0; place < BLOCK; place++) {
        random_numbers(4 + place, BLOCK * d, v.x);
        for (size_t k = 0; k < d; k++) v.x[place * d + k] = k % 2 ? -0.7 : 0.3;
        sk_sampler_fields(ctx, sampler, BLOCK, v.x, v.f, noisy ? v.a : NULL, space);
        if (place == 0) {
            memcpy(v.g, v.f, sizeof(double) * d);
            if (noisy) memcpy(v.b, v.a, sizeof(double) * d * d);
        }
        assert_memory_equal(v.f + place * d, v.g, sizeof(double) * d);
        if (noisy) assert_memory_equal(v.a + place * d * d, v.b, sizeof(double) * d * d);
    }
    sk_free(space);
    sk_sampler_free(sampler);
    free_fields(&v);
}

static void prop_sampler__fields_are_those_of_the_model(void **state)
{
    (void)state;
    truth dense = truth_of(ctx, "dense");
    for (size_t i = 0; i < CASES; i++) {
        sock_model *model = fit_dense(&dense, cases[i], false);
        check_fields(model, 1e-8);
        sock_model_free(model);
    }
    sock_model *half = fit_dense(&dense, cases[0], true); /* functions for f, terms for a */
    check_fields(half, 1e-8);
    sock_model_free(half);
    check_fields(dense.model, 1e-15);
    truth_free(dense);
}

/* Several terms of each kind: a sum of models. */
static void prop_sampler__terms_add_up(void **state)
{
    (void)state;
    truth dense = truth_of(ctx, "dense");
    sock_model *sum = NULL;
    assert_int_equal(sk_model_new(ctx, D, NULL, &sum), SOCK_OK);
    for (size_t i = 0; i < 4; i++) {
        sock_model *model = fit_dense(&dense, cases[i], false);
        sk_drift_term *drift = NULL;
        sk_diffusion_term *diffusion = NULL;
        assert_int_equal(sk_drift_term_copy(ctx, model->drift[0], &drift), SOCK_OK);
        assert_int_equal(sk_diffusion_term_copy(ctx, model->diffusion[0], &diffusion), SOCK_OK);
        assert_int_equal(sk_model_add_drift(ctx, sum, drift), SOCK_OK);
        assert_int_equal(sk_model_add_diffusion(ctx, sum, diffusion), SOCK_OK);
        sock_model_free(model);
    }
    sum->floor = 0.25;
    check_fields(sum, 1e-8);
    sock_model_free(sum);
    truth_free(dense);
}

/* A factor that is singular to rounding, with coefficients that do not favour any direction: L^-T would lose all
 * digits, and must not be used. */
static void test_sampler__a_singular_factor_stays_with_the_evaluation(void **state)
{
    (void)state;
    enum { POINTS = 60 };
    double x[POINTS * D];
    sk_kernel *kernel = NULL;
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    sock_model *model = NULL;
    random_points(2, POINTS, x);
    assert_int_equal(sk_kernel_parse(ctx, "diffusion", "gauss:eta=5", &kernel), SOCK_OK);
    *term = (sk_diffusion_term){.d = D, .rank = 3};
    assert_int_equal(sk_features_pivoted(ctx, kernel, D, POINTS, x, 1e-15, POINTS, false, &term->map, NULL, NULL),
                     SOCK_OK);
    size_t rows = D * sk_features_count(term->map);
    term->v = sk_doubles(ctx, rows, term->rank);
    sk_normals((sk_key){3, SK_PURPOSE_TEST}, 0, 0, 0, rows * term->rank, term->v);
    assert_int_equal(sk_model_new(ctx, D, NULL, &model), SOCK_OK);
    assert_int_equal(sk_model_add_diffusion(ctx, model, term), SOCK_OK);
    double f[POINTS * D], g[POINTS * D], a[POINTS * D * D], b[POINTS * D * D];
    sk_sampler *sampler = NULL;
    assert_int_equal(sk_sampler_new(ctx, model, &sampler), SOCK_OK);
    double *space = sk_doubles(ctx, sk_sampler_space(sampler, POINTS) + sk_model_space(model, POINTS), 1);
    sk_model_fields(ctx, model, POINTS, x, f, a, space);
    sk_sampler_fields(ctx, sampler, POINTS, x, g, b, space);
    assert_all_close(POINTS * D * D, b, a, 1e-9);
    sk_free(space);
    sk_sampler_free(sampler);
    sock_model_free(model);
    sk_kernel_free(kernel);
}

static void prop_sampler__a_value_does_not_depend_on_its_place(void **state)
{
    (void)state;
    truth dense = truth_of(ctx, "dense");
    for (size_t c = 0; c < CASES; c++) {
        sock_model *model = fit_dense(&dense, cases[c], false);
        check_places(model);
        sock_model_free(model);
    }
    truth_free(dense);
}

/* In many dimensions a is summed in another order: affine f, and an affine a, full and diagonal. */
static sk_features *affine_map(size_t d)
{
    sk_features *map = NULL;
    assert_int_equal(sk_features_import(ctx, "affine", d, NULL, 0, &map), SOCK_OK);
    return map;
}

static sk_diffusion_term *random_diffusion(size_t d, size_t rank, bool diagonal)
{
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    *term = (sk_diffusion_term){.d = d, .rank = rank, .map = affine_map(d)};
    const size_t p = sk_features_count(term->map);
    term->v = sk_doubles(ctx, d * p, rank);
    random_numbers(5 + diagonal, d * p * rank, term->v);
    if (!diagonal) return term;
    term->owner = sk_alloc(ctx, rank, sizeof *term->owner);
    for (size_t j = 0; j < rank; j++) term->owner[j] = j * d / rank; /* columns of one owner stand together, */
    for (size_t i = 0; i < d * p * rank; i++)                        /* and have numbers in its block alone */
        if (i / (p * rank) != term->owner[i % rank]) term->v[i] = 0;
    return term;
}

static void prop_sampler__many_dimensions(void **state)
{
    (void)state;
    enum { MANY = 17, PATHS = 5 };
    sock_model *model = NULL;
    sk_drift_term *drift = sk_alloc(ctx, 1, sizeof *drift);
    *drift = (sk_drift_term){.d = MANY, .map = affine_map(MANY)};
    drift->weight = sk_doubles(ctx, MANY + 1, MANY);
    random_numbers(9, (MANY + 1) * MANY, drift->weight);
    assert_int_equal(sk_model_new(ctx, MANY, NULL, &model), SOCK_OK);
    assert_int_equal(sk_model_add_drift(ctx, model, drift), SOCK_OK);
    assert_int_equal(sk_model_add_diffusion(ctx, model, random_diffusion(MANY, 40, false)), SOCK_OK);
    assert_int_equal(sk_model_add_diffusion(ctx, model, random_diffusion(MANY, 2 * MANY, true)), SOCK_OK);
    model->floor = 0.25;
    check_fields(model, 1e-12);
    check_places(model);
    static double all[2 * PATHS * 2 * MANY], alone[PATHS * 2 * MANY];
    double x0[2 * MANY], t[2] = {0, 0.01};
    random_numbers(10, 2 * MANY, x0);
    sock_simulation spec = {.starts = 2, .x0 = x0, .paths = PATHS, .times = 2, .t = t, .seed = 4};
    assert_int_equal(sock_simulate(ctx, model, &spec, all, NULL, NULL), SOCK_OK);
    spec = (sock_simulation){.starts = 1, .x0 = x0 + MANY, .paths = PATHS, .times = 2, .t = t, .seed = 4};
    spec.first_start = 1;
    assert_int_equal(sock_simulate(ctx, model, &spec, alone, NULL, NULL), SOCK_OK);
    assert_memory_equal(alone, all + PATHS * 2 * MANY, sizeof alone);
    sock_model_free(model);
}

/* The paths of the second of two starts are the same simulated alone, with fewer paths, by another number of threads:
 * they then stand at other places of other blocks. */
static void prop_sampler__paths_do_not_depend_on_company(void **state)
{
    (void)state;
    enum { EACH = 3 * D, MANY = 150, FEW = 5 };
    static double all[2 * MANY * EACH], alone[FEW * EACH];
    truth dense = truth_of(ctx, "dense");
    for (size_t c = 0; c <= CASES; c++) {
        sock_model *model = fit_dense(&dense, cases[c % CASES], c == CASES);
        double x0[2 * D] = {0.4, -0.3, 0.1, 0.9}, t[3] = {0, 0.1, 0.3};
        sock_simulation spec = {.starts = 2, .x0 = x0, .paths = MANY, .times = 3, .t = t, .seed = 4};
        assert_int_equal(sock_set_threads(ctx, 2), SOCK_OK);
        assert_int_equal(sock_simulate(ctx, model, &spec, all, NULL, NULL), SOCK_OK);
        spec = (sock_simulation){.starts = 1, .x0 = x0 + D, .paths = FEW, .times = 3, .t = t, .seed = 4};
        spec.first_start = 1;
        assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
        assert_int_equal(sock_simulate(ctx, model, &spec, alone, NULL, NULL), SOCK_OK);
        assert_memory_equal(alone, all + MANY * EACH, sizeof alone);
        sock_model_free(model);
    }
    truth_free(dense);
}

static sock_status make_and_free(sock_context *c, void *arg)
{
    sk_sampler *sampler = NULL;
    sock_status status = sk_sampler_new(c, arg, &sampler);
    sk_sampler_free(sampler);
    return status;
}

static void test_sampler__survives_every_failed_allocation(void **state)
{
    (void)state;
    truth dense = truth_of(ctx, "dense");
    sock_model *model = fit_dense(&dense, cases[0], false);
    assert_true(for_each_allocation(ctx, make_and_free, model) > 8);
    sock_model_free(model);
    truth_free(dense);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_sampler__fields_are_those_of_the_model),
        cmocka_unit_test(prop_sampler__terms_add_up),
        cmocka_unit_test(test_sampler__a_singular_factor_stays_with_the_evaluation),
        cmocka_unit_test(prop_sampler__a_value_does_not_depend_on_its_place),
        cmocka_unit_test(prop_sampler__many_dimensions),
        cmocka_unit_test(prop_sampler__paths_do_not_depend_on_company),
        cmocka_unit_test(test_sampler__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
