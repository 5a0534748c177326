/* test_scaling.c - units of the coordinates: when they are taken, which, and the model in the user's units. */
#include "searchcases.h"
#include "tune/scaling.h"

#include "onecontext.h"

/* Trajectories of 4, 1 and 3 points; the last point of each is the left end of no step. x(k): coordinate k. */
enum { POINTS = 8, TRAJECTORIES = 3 };
static const size_t lengths[TRAJECTORIES] = {4, 1, 3};
static const size_t left_ends[] = {0, 1, 2, 5, 6};
enum { LEFT_ENDS = sizeof left_ends / sizeof *left_ends };

static sock_data *data_of(size_t d, const double *size, double shift)
{
    double t[POINTS], x[2 * POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        t[i] = (double)i;
        for (size_t k = 0; k < d; k++) x[i * d + k] = size[k] * (cos((double)(3 * i + 5 * k)) + shift);
    }
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, d, TRAJECTORIES, lengths, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static double deviation(size_t k)
{
    double mean = 0, square = 0;
    for (size_t j = 0; j < LEFT_ENDS; j++) mean += cos((double)(3 * left_ends[j] + 5 * k)) / LEFT_ENDS;
    for (size_t j = 0; j < LEFT_ENDS; j++) square += pow(cos((double)(3 * left_ends[j] + 5 * k)) - mean, 2) / LEFT_ENDS;
    return sqrt(square);
}

static sk_tune_spec spec_of(const char *drift, const char *diffusion)
{
    return (sk_tune_spec){.drift = drift, .diffusion = diffusion, .scaling = true};
}

/* NULL: as they are. */
static sk_units *chosen(const sk_tune_spec *spec, size_t d, const double *size, double shift)
{
    sock_data *data = data_of(d, size, shift);
    sk_units *units = NULL;
    if (sk_scaling_choose(ctx, spec, data, &units) < 0) fail_msg("%s", sock_message(ctx));
    sock_data_free(data);
    return units;
}

static double mean(size_t k)
{
    double sum = 0;
    for (size_t j = 0; j < LEFT_ENDS; j++) sum += cos((double)(3 * left_ends[j] + 5 * k)) / LEFT_ENDS;
    return sum;
}

static void test_scaling__zero_and_unit_are_mean_and_deviation_of_left_ends(void **state)
{
    (void)state;
    static const double size[] = {100, 0.02}, fine[] = {1, 2};
    const sk_tune_spec spec = spec_of("auto", "auto");
    sk_units *units = chosen(&spec, 2, size, 0.5);
    for (size_t k = 0; k < 2; k++) {
        assert_close(units->scale[k], size[k] * deviation(k), 1e-13, 0);
        assert_close(units->centre[k], size[k] * (mean(k) + 0.5), 1e-13, 0);
    }
    sk_units_free(units);
    units = chosen(&spec, 1, size, 1e6);
    assert_close(units->scale[0], 100 * deviation(0), 1e-9, 0);
    sk_units_free(units);
    units = chosen(&spec, 2, fine, 0);
    assert_close(units->scale[1], 2 * deviation(1), 1e-13, 0);
    sk_units_free(units);
}

/* The states' own zero: 0 where the data are near it, else the round number near them; that of the data where a kernel
 * is named. */
static void test_scaling__own_zero_moves_with_the_data(void **state)
{
    (void)state;
    static const double size[] = {1, 2}, shift[] = {0, 300, -40, 0.5},
                        zero[][2] = {{0, 0}, {300, 600}, {-40, -80}, {0, 0}};
    static const char *const kernels[][2] = {{"auto", "auto"}, {"linear", "auto"}, {"auto", "linear"}};
    for (size_t s = 0; s < 4; s++)
        for (size_t i = 0; i < 3; i++) {
            const sk_tune_spec spec = spec_of(kernels[i][0], kernels[i][1]);
            sk_units *units = chosen(&spec, 2, size, shift[s]);
            for (size_t k = 0; k < 2; k++)
                assert_close(units->centre[k] + units->scale[k] * units->zero[k], i ? 0 : zero[s][k], 1e-13, 1000);
            sk_units_free(units);
        }
}

/* A state that ends at 0 has its zero there, however far its mean is. */
static void test_scaling__the_zero_of_a_bounded_state_is_its_bound(void **state)
{
    (void)state;
    static const double size[] = {1, 2}, lower[] = {-INFINITY, 0};
    sk_tune_spec spec = spec_of("auto", "auto");
    spec.lower = lower;
    sk_units *units = chosen(&spec, 2, size, 300);
    assert_close(units->centre[0] + units->scale[0] * units->zero[0], 300, 1e-13, 1000);
    assert_close(units->centre[1] + units->scale[1] * units->zero[1], 0, 1e-13, 1000);
    sk_units_free(units);
}

/* Whatever is named; and they can be switched off. */
static void test_scaling__the_same_whatever_the_user_named(void **state)
{
    (void)state;
    static const double size[] = {100, 0.02};
    static const char *const kernels[][2] = {{"auto", "auto"},
                                             {"gauss:eta=2", "auto"},
                                             {"auto", "gauss:eta=2"},
                                             {"gauss", "affine"},
                                             {"gauss:eta=2", "affine"}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        sk_tune_spec spec = spec_of(kernels[i][0], kernels[i][1]);
        sk_units *units = chosen(&spec, 2, size, 0);
        for (size_t k = 0; k < 2; k++) {
            assert_close(units->scale[k], size[k] * deviation(k), 1e-13, 0);
            assert_close(units->centre[k], size[k] * mean(k), 1e-13, 0);
        }
        sk_units_free(units);
        spec.scaling = false;
        assert_null(chosen(&spec, 2, size, 0));
    }
}

/* A coordinate that stands still has its size as unit, or 1. */
static void test_scaling__of_what_does_not_move(void **state)
{
    (void)state;
    const sk_tune_spec spec = spec_of("auto", "auto");
    for (int c = 0; c < 3; c++) {
        const double value = c == 0 ? 3e4 : c == 1 ? -3e4 : 0;
        double t[POINTS], x[2 * POINTS];
        sk_units *units = NULL;
        for (size_t i = 0; i < POINTS; i++) {
            t[i] = (double)i;
            x[2 * i] = 1000 * cos((double)(3 * i));
            x[2 * i + 1] = value * (1 + (i % 2 ? 3e-16 : 0));
        }
        sock_data *data = NULL;
        assert_int_equal(sock_data_from_arrays(ctx, 2, TRAJECTORIES, lengths, t, x, NULL, NULL, NULL, &data), SOCK_OK);
        assert_int_equal(sk_scaling_choose(ctx, &spec, data, &units), SOCK_OK);
        assert_close(units->scale[0], 1000 * deviation(0), 1e-13, 0);
        assert_close(units->scale[1], value != 0 ? 3e4 : 1, 1e-15, 0);
        sk_units_free(units);
        sock_data_free(data);
    }
}

/* Moves of more than 1e-12 of the size count. */
static void test_scaling__of_what_hardly_moves(void **state)
{
    (void)state;
    static const double size[] = {1e-3};
    const sk_tune_spec spec = spec_of("auto", "auto");
    sk_units *units = chosen(&spec, 1, size, 1e11);
    assert_true(units->scale[0] < 1e-2 && units->scale[0] > 1e-4);
    sk_units_free(units);
    units = chosen(&spec, 1, size, 1e13);
    assert_close(units->scale[0], 1e10, 1e-6, 0);
    sk_units_free(units);
}

static void test_scaling__numbers_without_squares_are_refused(void **state)
{
    (void)state;
    static const struct {
        double size[2];
        bool fine;
    } cases[] = {{{1e149, 1}, true},   {{1e152, 1}, false},     {{1, 1e-148}, true},
                 {{1, 1e-152}, false}, {{1e200, 1e200}, false}, {{1e-149, 1e-149}, true}};
    const sk_tune_spec spec = spec_of("auto", "auto");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sock_data *data = data_of(2, cases[i].size, 0);
        sk_units *units = NULL;
        const sock_status status = sk_scaling_choose(ctx, &spec, data, &units);
        assert_int_equal(status, cases[i].fine ? SOCK_OK : SOCK_EINPUT);
        assert_int_equal(units != NULL, cases[i].fine);
        if (!cases[i].fine) assert_non_null(strstr(sock_message(ctx), "too large or too small to be squared"));
        sk_units_free(units);
        sock_data_free(data);
    }
}

/* Affine drift; full and diagonal diffusions; floor. */
static sock_model *model_of(case_search *c, double floor)
{
    static const double l = 1e-2, share[] = {0.5, 0.5}, one = 1;
    sk_search *s = &c->s;
    sock_model *model = NULL;
    case_candidate(c, SK_DRIFT, "poly:degree=2", 0);
    case_candidate(c, SK_DIFFUSION, "affine", 0);
    case_candidate(c, SK_DIFFUSION, "affine", 0)->diagonal = true;
    const sk_diffusion_options options = {s->rows->folds, &l, 1, 1e-9, true, {false, false}, 0};
    assert_int_equal(sk_renew_views(s), SOCK_OK);
    assert_int_equal(sk_try_drift(ctx, s->views, s->list.drift, 3, &s->drift[0]), SOCK_OK);
    assert_int_equal(sk_search_remains(s, s->views, s->drift, &s->remains), SOCK_OK);
    for (size_t i = 0; i < 2; i++)
        assert_true(sk_try_diffusion(ctx, s->remains, &s->list.diffusion[i], &options, &s->diffusion[i]) >= 0);
    const sk_held_model held = {{1, s->drift, &one}, {2, s->diffusion, share}, 0};
    assert_int_equal(sk_held_model_without(ctx, &held, 3, NULL, &model), SOCK_OK);
    model->floor = floor;
    return model;
}

/* f_k(x) = s_k f'_k((x - c) / s), a_kl(x) = s_k s_l a'_kl((x - c) / s), the floor among them. */
static void prop_restored_model_is_the_scaled_one_in_other_units(void **state)
{
    (void)state;
    static double scale[] = {4, 0.25}, centre[] = {300, -7}, zero[] = {0, 0};
    static const double x[] = {300 + 1.5, -7 - 0.3}, scaled[] = {1.5 / 4, -0.3 / 0.25};
    const sk_units units = {centre, scale, zero};
    for (int floored = 0; floored < 2; floored++) {
        case_search *c = case_search_new(ctx, 2, 60, 5, 0);
        sock_model *model = model_of(c, floored ? 0.125 : 0);
        sk_tune_outcome told = {0};
        double f[2], a[4], new_f[2], new_a[4];
        assert_int_equal(sk_model_evaluate(ctx, model, 1, scaled, f, a), SOCK_OK);
        assert_int_equal(sk_scaling_finish(ctx, &units, model, &told), SOCK_OK);
        assert_int_equal(sk_model_evaluate(ctx, model, 1, x, new_f, new_a), SOCK_OK);
        for (size_t k = 0; k < 4; k++) {
            assert_close(new_a[k], scale[k / 2] * scale[k % 2] * a[k], 1e-12, 1e-3);
            if (k < 2) assert_close(new_f[k], scale[k] * f[k], 1e-12, 1e-3);
        }
        assert_true(model->floor == 0);
        assert_int_equal(model->diffusion_terms, floored ? 3 : 2);
        assert_int_equal(told.scale.count, 2);
        assert_int_equal(told.floor.count, 2);
        for (size_t k = 0; k < 2; k++) {
            assert_true(told.scale.value[k] == scale[k] && told.centre.value[k] == centre[k]);
            assert_true(told.floor.value[k] == (floored ? 0.125 : 0) * scale[k] * scale[k]);
        }
        sk_tune_outcome_clear(&told);
        sock_model_free(model);
        case_search_free(c);
    }
}

static void test_scaling__without_units_the_model_stays(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 2, 60, 5, 0);
    sock_model *model = model_of(c, 0.125);
    sk_tune_outcome told = {0};
    static const double x[] = {1.5, -0.3};
    double f[2], a[4], new_f[2], new_a[4];
    assert_int_equal(sk_model_evaluate(ctx, model, 1, x, f, a), SOCK_OK);
    assert_int_equal(sk_scaling_finish(ctx, NULL, model, &told), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, model, 1, x, new_f, new_a), SOCK_OK);
    assert_memory_equal(f, new_f, sizeof f);
    assert_memory_equal(a, new_a, sizeof a);
    assert_true(model->floor == 0.125 && !told.scale.value);
    assert_true(told.floor.count == 2 && told.floor.value[0] == 0.125 && told.floor.value[1] == 0.125);
    sk_tune_outcome_clear(&told);
    sock_model_free(model);
    case_search_free(c);
}

typedef struct unscaled {
    case_search *c;
    const sock_data *data;
} unscaled;

static sock_status choose_and_finish(sock_context *context, void *arg)
{
    const unscaled *w = arg;
    const sk_tune_spec spec = spec_of("auto", "affine");
    const sk_held_model held = sk_chosen(&w->c->s, &w->c->s.choice);
    sk_tune_outcome told = {0};
    sock_model *model = NULL;
    sk_units *units = NULL;
    sock_status status;
    SK_GO(sk_scaling_choose(context, &spec, w->data, &units));
    SK_GO(sk_held_model_without(context, &held, 3, NULL, &model));
    model->floor = 0.5;
    SK_GO(sk_scaling_finish(context, units, model, &told));
out:
    sk_units_free(units);
    sock_model_free(model);
    sk_tune_outcome_clear(&told);
    return status;
}

static void test_scaling__survives_failed_allocations(void **state)
{
    (void)state;
    static const double size[] = {100, 0.02};
    case_search *c = case_search_new(ctx, 2, 60, 5, 0);
    sock_data *data = data_of(2, size, 0);
    sock_model_free(model_of(c, 0));
    c->s.choice = (sk_choice){.drift_share = {1}, .share = {0.5, 0.5}};
    unscaled w = {c, data};
    assert_true(for_single_allocations(ctx, choose_and_finish, &w) > 10);
    sock_data_free(data);
    case_search_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scaling__zero_and_unit_are_mean_and_deviation_of_left_ends),
        cmocka_unit_test(test_scaling__own_zero_moves_with_the_data),
        cmocka_unit_test(test_scaling__the_zero_of_a_bounded_state_is_its_bound),
        cmocka_unit_test(test_scaling__the_same_whatever_the_user_named),
        cmocka_unit_test(test_scaling__of_what_does_not_move),
        cmocka_unit_test(test_scaling__of_what_hardly_moves),
        cmocka_unit_test(test_scaling__numbers_without_squares_are_refused),
        cmocka_unit_test(prop_restored_model_is_the_scaled_one_in_other_units),
        cmocka_unit_test(test_scaling__without_units_the_model_stays),
        cmocka_unit_test(test_scaling__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
