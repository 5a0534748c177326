/* test_systems.c - the known systems: laws of the data against closed forms, shapes of the paper's data sets,
 * independence of the sets, and the way through truth.json. */
#define _GNU_SOURCE
#include "systems/systems.h"

#include "base/base.h"
#include "onecontext.h"

#include <string.h>
#include <unistd.h>

static sys_instance *instance_of(const char *name, uint64_t seed)
{
    sys_instance *instance = NULL;
    assert_int_equal(sys_new(ctx, sys_find(name), seed, &instance), SOCK_OK);
    return instance;
}

static sock_data *generate(const sys_instance *instance, sys_set set)
{
    sock_data *data = NULL;
    assert_int_equal(sys_generate(ctx, instance, set, &data), SOCK_OK);
    return data;
}

static const double *states(const sock_data *data, size_t j)
{
    const double *t, *x;
    sock_data_trajectory(data, j, &t, &x);
    return x;
}

/* Counts, times and starts as the paper gives them. */
static void test_systems__sets_have_the_papers_shape(void **state)
{
    (void)state;
    const struct {
        const char *name;
        size_t d, points, train, validation, test;
        double h, box;
    } expected[] = {{"gbm", 1, 101, 70, 10, 20, 0.01, 1},           {"expdyn", 1, 11, 42, 6, 12, 0.1, 1},
                    {"dense", 2, 11, 70, 10, 20, 0.1, 1},           {"lorenz96", 10, 101, 70, 10, 20, 0.01, 0.5},
                    {"lorenz96-20", 20, 101, 40, 5, 10, 0.01, 0.5}, {"sir", 3, 101, 70, 50, 80, 1, 0}};
    for (size_t s = 0; s < sizeof expected / sizeof expected[0]; s++) {
        sys_instance *instance = instance_of(expected[s].name, 1);
        size_t count[SYS_SETS] = {expected[s].train, expected[s].validation, expected[s].test};
        for (int set = 0; set < SYS_SETS; set++) {
            sock_data *data = generate(instance, (sys_set)set);
            assert_int_equal(sock_data_dim(data), expected[s].d);
            assert_int_equal(sock_data_trajectories(data), count[set]);
            for (size_t j = 0; j < count[set]; j++) {
                const double *t, *x;
                assert_int_equal(sock_data_trajectory(data, j, &t, &x), expected[s].points);
                for (size_t i = 0; i < expected[s].points; i++) assert_close(t[i], expected[s].h * (double)i, 1e-12, 1);
                for (size_t k = 0; expected[s].box > 0 && k < expected[s].d; k++)
                    assert_true(fabs(x[k]) <= expected[s].box);
            }
            sock_data_free(data);
        }
        sys_free(instance);
    }
}

/* E x_t = x_0 e^{mu t}; Var x_t = x_0^2 e^{2 mu t} (e^{sigma^2 t} - 1). The ratios x_1 / x_0 are 4000 independent
 * draws; the bands are five standard errors (that of the deviation is 1.6%), and the step's bias is below 1e-4. */
static void test_systems__gbm_has_its_moments(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    sys_instance *gbm = instance_of("gbm", 3);
    gbm->trajectories[SYS_TRAIN] = COUNT;
    sock_data *data = generate(gbm, SYS_TRAIN);
    double mean = 0, square = 0, log_mean = 0, log_square = 0;
    for (size_t j = 0; j < COUNT; j++) {
        const double *x = states(data, j);
        double ratio = x[100] / x[0];
        mean += ratio / COUNT;
        square += ratio * ratio / COUNT;
        log_mean += log(ratio) / COUNT;
        log_square += log(ratio) * log(ratio) / COUNT;
    }
    double deviation = exp(1.0) * sqrt(exp(0.09) - 1);
    assert_close(mean, exp(1.0), 5 * deviation / sqrt(COUNT), 0);
    assert_close(sqrt(square - mean * mean), deviation, 0.08, 0);
    assert_close(log_mean, 1 - 0.045, 5 * 0.3 / sqrt(COUNT) / 0.955, 0);
    assert_close(log_square - log_mean * log_mean, 0.09, 5 * sqrt(2.0 / COUNT), 0);
    sock_data_free(data);
    sys_free(gbm);
}

/* x_t = x_0 e^{-t} + N(0, (1 - e^{-2t})/2), at an early and at a late time. */
static void test_systems__ou_has_its_variance(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    sys_instance *ou = instance_of("ou", 5);
    ou->trajectories[SYS_TEST] = COUNT;
    sock_data *data = generate(ou, SYS_TEST);
    for (size_t point = 10; point <= 100; point += 90) {
        double t = 0.05 * (double)point, mean = 0, variance = 0, expected = (1 - exp(-2 * t)) / 2;
        for (size_t j = 0; j < COUNT; j++) {
            const double *x = states(data, j);
            double noise = x[point] - x[0] * exp(-t);
            mean += noise / COUNT;
            variance += noise * noise / COUNT;
        }
        assert_true(fabs(mean) < 5 * sqrt(expected / COUNT));
        assert_close(variance, expected, 5 * sqrt(2.0 / COUNT), 0);
    }
    sock_data_free(data);
    sys_free(ou);
}

/* sigma(x) by unit vectors through the noise function; sigma sigma' must be the diffusion. */
static void prop_systems__diffusion_is_sigma_sigma_transposed(void **state)
{
    (void)state;
    for (size_t s = 0; s < sys_count(); s++) {
        const sys_system *system = sys_at(s);
        if (!system->noise) continue;
        sys_instance *instance = instance_of(system->name, 11);
        size_t d = system->d;
        double x[SYS_MAX_DIM], sigma[SYS_MAX_DIM * SYS_MAX_DIM], a[SYS_MAX_DIM * SYS_MAX_DIM];
        sk_normals((sk_key){s, SK_PURPOSE_TEST}, 0, 0, 0, d, x);
        for (size_t k = 0; k < d; k++) { /* row k: column k of sigma */
            double unit[SYS_MAX_DIM] = {0};
            unit[k] = 1;
            system->noise(instance, x, unit, sigma + k * d);
        }
        system->diffusion(instance, 1, d, x, a);
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++) {
                double sum = 0;
                for (size_t m = 0; m < d; m++) sum += sigma[m * d + k] * sigma[m * d + l];
                assert_close(a[k * d + l], sum, 1e-14, 1);
            }
        sys_free(instance);
    }
}

/* Lorenz 96 written out with indices from 1 to 10, as in the paper. */
static void test_systems__lorenz96_drift_runs_round(void **state)
{
    (void)state;
    sys_instance *lorenz = instance_of("lorenz96", 0);
    double x[10], f[10], y[14];
    sk_normals((sk_key){1, SK_PURPOSE_TEST}, 0, 0, 0, 10, x);
    for (int i = -1; i <= 11; i++) y[i + 1] = x[(i + 9) % 10];
    lorenz->system->drift(lorenz, 1, 10, x, f);
    for (int i = 1; i <= 10; i++) assert_close(f[i - 1], (y[i + 2] - y[i - 1]) * y[i] - y[i + 1] + 8, 1e-14, 1);
    sys_free(lorenz);
}

static void test_systems__dense_draws_its_matrix_from_the_seed(void **state)
{
    (void)state;
    sys_instance *one = instance_of("dense", 1), *again = instance_of("dense", 1), *two = instance_of("dense", 2);
    assert_int_equal(sys_parameters(one->system), 7);
    for (size_t i = 1; i < 7; i++) {
        assert_true(one->parameter[i] > -1 && one->parameter[i] < 1);
        assert_true(one->parameter[i] == again->parameter[i]);
        assert_true(one->parameter[i] != two->parameter[i]);
    }
    sys_free(two);
    sys_free(again);
    sys_free(one);
}

/* Proportions of 200 people: whole numbers of people, S falls, R grows, the sum is 1; the first state is given. Early
 * growth: E I_t = I_0 e^{(beta - alpha) t} as long as S is close to 1 (t = 1: within 1%). */
static void test_systems__sir_is_an_epidemic(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    sys_instance *sir = instance_of("sir", 4);
    sir->trajectories[SYS_TRAIN] = COUNT;
    sock_data *data = generate(sir, SYS_TRAIN);
    double infected = 0;
    for (size_t j = 0; j < COUNT; j++) {
        const double *x = states(data, j);
        assert_true(x[0] == 199.0 / 200 && x[1] == 1.0 / 200 && x[2] == 0);
        for (size_t i = 0; i < 101; i++, x += 3) {
            assert_close(x[0] + x[1] + x[2], 1, 1e-15, 1);
            for (int k = 0; k < 3; k++) assert_true(x[k] >= 0 && fabs(200 * x[k] - round(200 * x[k])) < 1e-9);
            if (i) assert_true(x[0] <= x[-3] && x[2] >= x[-1]);
        }
        infected += 200 * states(data, j)[4] / COUNT;
    }
    /* a linear birth and death process: variance (b + a)/(b - a) e^{ct} (e^{ct} - 1) with c = b - a */
    double c = 0.6 - 1.0 / 14, mean = exp(c), variance = (0.6 + 1.0 / 14) / c * mean * (mean - 1);
    assert_close(infected, mean, (5 * sqrt(variance / COUNT)) / mean + 0.01, 0);
    sock_data_free(data);
    sys_free(sir);
}

/* The truth of SIR keeps S + I + R: 1'f = 0 and a 1 = 0; and a is that of the two reactions. */
static void prop_systems__sir_truth_conserves_people(void **state)
{
    (void)state;
    sys_instance *sir = instance_of("sir", 0);
    const double x[3] = {0.6, 0.3, 0.1};
    double f[3], a[9];
    sir->system->drift(sir, 1, 3, x, f);
    sir->system->diffusion(sir, 1, 3, x, a);
    assert_close(f[0] + f[1] + f[2], 0, 1e-16, 1);
    for (int k = 0; k < 3; k++) assert_close(a[3 * k] + a[3 * k + 1] + a[3 * k + 2], 0, 1e-18, 1);
    assert_close(a[0], 0.6 * 0.6 * 0.3 / 200, 1e-15, 0);
    assert_close(a[8], 0.3 / 14 / 200, 1e-15, 0);
    assert_true(sir->system->approximate);
    sys_free(sir);
}

static void test_systems__amyloid_has_few_irregular_visits(void **state)
{
    (void)state;
    sys_instance *amyloid = instance_of("amyloid", 6);
    const size_t count[SYS_SETS] = {208, 29, 61};
    for (int set = 0; set < SYS_SETS; set++) assert_int_equal(amyloid->trajectories[set], count[set]);
    amyloid->trajectories[SYS_TRAIN] = 5000;
    sock_data *data = generate(amyloid, SYS_TRAIN);
    double points = 0;
    for (size_t j = 0; j < 5000; j++) {
        const double *t, *x;
        size_t length = sock_data_trajectory(data, j, &t, &x);
        assert_in_range(length, 2, 6);
        points += (double)length;
        assert_true(x[0] >= 1 && x[0] <= 2.2);
        for (size_t i = 1; i < length; i++) assert_true(t[i] - t[i - 1] > 0.99 && t[i] - t[i - 1] < 3.61);
    }
    assert_close(points / 5000, 2.96, 5 * 1.1 / sqrt(5000.0) / 2.96, 0); /* standard deviation of a count: 1.10 */
    assert_non_null(strstr(amyloid->system->title, "SIMULATED"));
    sock_data_free(data);
    sys_free(amyloid);
}

/* How many of the first trajectories have the same states. */
static size_t alike(const sock_data *a, const sock_data *b, size_t trajectories)
{
    size_t same = 0;
    for (size_t j = 0; j < trajectories; j++) {
        const double *t, *x, *y;
        size_t length = sock_data_trajectory(a, j, &t, &x);
        if (sock_data_trajectory(b, j, &t, &y) == length)
            same += memcmp(x, y, length * sock_data_dim(a) * sizeof *x) == 0;
    }
    return same;
}

/* The same for any number of threads and of trajectories; new numbers for another seed or set. */
static void test_systems__numbers_depend_on_seed_set_and_index_alone(void **state)
{
    (void)state;
    for (size_t s = 0; s < sys_count(); s++) {
        sys_instance *one = instance_of(sys_at(s)->name, 8), *other = instance_of(sys_at(s)->name, 9);
        one->trajectories[SYS_TRAIN] = one->trajectories[SYS_TEST] = other->trajectories[SYS_TRAIN] = 5;
        assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
        sock_data *alone = generate(one, SYS_TRAIN);
        assert_int_equal(sock_set_threads(ctx, 2), SOCK_OK);
        sock_data *test = generate(one, SYS_TEST), *reseeded = generate(other, SYS_TRAIN);
        one->trajectories[SYS_TRAIN] = 9;
        sock_data *more = generate(one, SYS_TRAIN);
        assert_int_equal(alike(alone, more, 5), 5);
        size_t chance = sys_at(s)->noise ? 0 : 1; /* two epidemics that end at once are alike */
        assert_true(alike(alone, test, 5) <= chance && alike(alone, reseeded, 5) <= chance);
        sock_data_free(more);
        sock_data_free(reseeded);
        sock_data_free(test);
        sock_data_free(alone);
        sys_free(other);
        sys_free(one);
    }
}

static void test_systems__box_can_be_changed(void **state)
{
    (void)state;
    sys_instance *wide = instance_of("lorenz96", 1), *plain = instance_of("lorenz96", 1);
    wide->trajectories[SYS_TEST] = plain->trajectories[SYS_TEST] = 3;
    wide->box = 2;
    sock_data *a = generate(wide, SYS_TEST), *b = generate(plain, SYS_TEST);
    for (size_t j = 0; j < 3; j++)
        for (size_t k = 0; k < 10; k++) assert_close(states(a, j)[k], 4 * states(b, j)[k], 1e-15, 1);
    sock_data_free(b);
    sock_data_free(a);
    sys_free(plain);
    sys_free(wide);
}

static void temporary(char *path)
{
    strcpy(path, "/tmp/sock_truth_XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static void test_truthfile__gives_the_same_instance_back(void **state)
{
    (void)state;
    char path[64];
    temporary(path);
    sys_instance *dense = instance_of("dense", 77), *back = NULL;
    dense->box = 0.3;
    dense->parameter[0] = 0.1 + 0.2;
    assert_int_equal(sys_save(ctx, dense, path), SOCK_OK);
    assert_int_equal(sys_load(ctx, path, 0, &back), SOCK_OK);
    assert_ptr_equal(back->system, dense->system);
    assert_true(back->seed == 77 && back->box == 0.3);
    assert_memory_equal(back->parameter, dense->parameter, sizeof dense->parameter);
    sock_model *model = NULL;
    const double x[2] = {0.5, -2};
    double f[2], a[4], expected[4];
    assert_int_equal(sys_truth(ctx, back, &model), SOCK_OK);
    assert_int_equal(sock_model_drift(ctx, model, 1, x, f), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, model, 1, x, a), SOCK_OK);
    dense->system->diffusion(dense, 1, 2, x, expected);
    assert_memory_equal(f, x, sizeof f);
    assert_memory_equal(a, expected, sizeof a);
    sock_model_free(model);
    sys_free(back);
    sys_free(dense);
    unlink(path);
}

static void test_truthfile__a_name_takes_the_seed(void **state)
{
    (void)state;
    sys_instance *by_name = NULL, *expected = instance_of("dense", 12);
    assert_int_equal(sys_load(ctx, "dense", 12, &by_name), SOCK_OK);
    assert_memory_equal(by_name->parameter, expected->parameter, sizeof expected->parameter);
    sys_free(expected);
    sys_free(by_name);
}

static void test_truthfile__bad_files_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {{"{", "line 1"},
               {"{}", "not a known system"},
               {"[1]", "not a known system"},
               {"{\"system\": \"gbn\"}", "'gbn' is not a known system"},
               {"{\"system\": 7}", "not a known system"},
               {"{\"system\": \"gbm\", \"seed\": 1.5}", "seed must be a whole number >= 0"},
               {"{\"system\": \"gbm\", \"seed\": 1}", "box must be a number >= 0"},
               {"{\"system\": \"gbm\", \"seed\": 1, \"box\": \"1\"}", "box must be a number >= 0"},
               {"{\"system\": \"gbm\", \"seed\": 1, \"box\": 1e999}", "line 1"},
               {"{\"system\": \"gbm\", \"seed\": 1, \"box\": 1}", "the number 'mu' of system gbm"},
               {"{\"system\": \"gbm\", \"seed\": 1, \"box\": 1, \"parameters\": {\"mu\": \"1\"}}", "the number 'mu'"},
               {"{\"system\": \"gbm\",\n \"system\": \"gbm\"}", "line 2"},
               {"{\"system\": \"gbm\"}", "seed"},
               {"{\"system\": \"gbm\", \"seed\": -1}", "seed"},
               {"{\"system\": \"gbm\", \"seed\": 1, \"box\": -1}", "box"},
               {"{\"system\": \"gbm\", \"seed\": 1, \"box\": 1, \"parameters\": {\"mu\": 1}}", "'sigma'"},
               {"{\"system\": \"gbm\", \"seed\": 1, \"box\": 1, \"parameters\": {\"mu\": 1, \"sigma\": 1, \"nu\": 1}}",
                "3 entries"}};
    char path[64];
    temporary(path);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        FILE *file = fopen(path, "w");
        fputs(bad[i].text, file);
        fclose(file);
        sys_instance *out = NULL;
        assert_int_equal(sys_load(ctx, path, 0, &out), SOCK_EINPUT);
        assert_null(out);
        assert_non_null(strstr(sock_message(ctx), path));
        assert_non_null(strstr(sock_message(ctx), bad[i].says));
    }
    unlink(path);
    sys_instance *out = NULL;
    assert_int_equal(sys_load(ctx, path, 0, &out), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(ctx), path));
}

typedef struct attempt {
    const sys_instance *instance;
    const char *path;
} attempt;

static sock_status try_save(sock_context *context, void *arg)
{
    const attempt *a = arg;
    return sys_save(context, a->instance, a->path);
}

static sock_status try_load(sock_context *context, void *arg)
{
    const attempt *a = arg;
    sys_instance *out = NULL;
    sock_status status = sys_load(context, a->path, 0, &out);
    assert_true((status >= 0) == (out != NULL));
    sys_free(out);
    return status;
}

static void test_truthfile__every_allocation_may_fail(void **state)
{
    (void)state;
    sys_instance *dense = NULL;
    char path[64];
    temporary(path);
    assert_int_equal(sys_new(ctx, sys_find("dense"), 3, &dense), SOCK_OK);
    attempt a = {dense, path};
    assert_true(for_each_allocation(ctx, try_save, &a) >= 2);
    assert_true(for_each_allocation(ctx, try_load, &a) >= 3);
    unlink(path);
    sys_free(dense);
}

/* E x_t = mu + (x_0 - mu) e^{-theta t}; frequencies stay in [0, 1], populations that died out are dead. */
static void test_systems__stay_within_their_bounds(void **state)
{
    (void)state;
    static const char *const name[] = {"cir", "feller", "logistic", "lotka-volterra", "wright-fisher"};
    for (size_t s = 0; s < 5; s++) {
        sys_instance *instance = instance_of(name[s], 8);
        instance->trajectories[SYS_TRAIN] = 400;
        sock_data *data = generate(instance, SYS_TRAIN);
        const size_t d = sock_data_dim(data), points = instance->system->points;
        double mean = 0, expected = 0;
        size_t dead = 0;
        for (size_t j = 0; j < 400; j++) {
            const double *x = states(data, j);
            for (size_t i = 0; i < points * d; i++) assert_true(x[i] >= 0 && (s < 4 || x[i] <= 1));
            for (size_t k = 0; k < d; k++)
                assert_true(x[k] >= instance->system->low - 0.02 && x[k] <= instance->system->high);
            for (size_t i = 1; s == 1 && i < points; i++) assert_true(x[i - 1] > 0 || x[i] == 0);
            dead += x[(points - 1) * d] == 0;
            mean += x[(points - 1) * d] / 400;
            expected += (s == 0 ? 1 + (x[0] - 1) * exp(-5) : x[0] * exp(1)) / 400;
        }
        if (s == 0) assert_close(mean, expected, 5 * sqrt(0.5 / 400), 1);
        if (s == 1) assert_true(fabs(mean - expected) < 5 * sqrt(12.0 / 400) && dead > 60 && dead < 200);
        sock_model *truth = NULL;
        double lower[2], upper[2];
        assert_int_equal(sys_truth(ctx, instance, &truth), SOCK_OK);
        assert_int_equal(sock_model_bounds(truth, lower, upper), 1);
        assert_true(lower[d - 1] == 0 && (s == 4 ? upper[0] == 1 : isinf(upper[0])));
        sock_model_free(truth);
        sock_data_free(data);
        sys_free(instance);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_systems__sets_have_the_papers_shape),
        cmocka_unit_test(test_systems__gbm_has_its_moments),
        cmocka_unit_test(test_systems__ou_has_its_variance),
        cmocka_unit_test(prop_systems__diffusion_is_sigma_sigma_transposed),
        cmocka_unit_test(test_systems__lorenz96_drift_runs_round),
        cmocka_unit_test(test_systems__dense_draws_its_matrix_from_the_seed),
        cmocka_unit_test(test_systems__sir_is_an_epidemic),
        cmocka_unit_test(prop_systems__sir_truth_conserves_people),
        cmocka_unit_test(test_systems__amyloid_has_few_irregular_visits),
        cmocka_unit_test(test_systems__numbers_depend_on_seed_set_and_index_alone),
        cmocka_unit_test(test_systems__box_can_be_changed),
        cmocka_unit_test(test_truthfile__gives_the_same_instance_back),
        cmocka_unit_test(test_truthfile__a_name_takes_the_seed),
        cmocka_unit_test(test_truthfile__bad_files_are_refused_by_name),
        cmocka_unit_test(test_truthfile__every_allocation_may_fail),
        cmocka_unit_test(test_systems__stay_within_their_bounds),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
