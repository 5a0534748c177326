/* test_mmdnoise.c - MMD where the model's data have errors of measurement: paths are observed as the data are, so the
 * true model is at its null level; paths without errors, and with those of another R, are not. */
#include "base/base.h"
#include "onecontext.h"
#include "score/score.h"
#include "truths.h"

enum { D = 2, SETS = 16, PATHS = 60, POINTS = 11, ALL = PATHS * POINTS, COMPANIONS = 40 };

static const double H = 0.2, SCALE = 1, R[] = {0.05, 0.03, 0.03, 0.04};

static void relax(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i];
}

static void flat(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = 0.2 * (i % (d * d) % (d + 1) == 0);
}

/* Paths of the true model from these starts, with errors. */
static void observe(const sock_model *model, const double *x0, uint64_t seed, double *y)
{
    const double c[] = {sqrt(R[0]), R[1] / sqrt(R[0]), sqrt(R[3] - R[1] * R[1] / R[0])};
    double t[POINTS], z[D];
    for (size_t i = 0; i < POINTS; i++) t[i] = H * (double)i;
    const sock_simulation s = {
        .starts = PATHS, .x0 = x0, .paths = 1, .times = POINTS, .t = t, .step = H / 5, .seed = seed};
    assert_int_equal(sock_simulate(ctx, model, &s, y, NULL, NULL), SOCK_OK);
    for (size_t i = 0; i < ALL; i++) {
        sk_normals((sk_key){seed + 7000, 0}, i, 0, 0, D, z);
        y[i * D] += c[0] * z[0];
        y[i * D + 1] += c[1] * z[0] + c[2] * z[1];
    }
}

static sock_data *data_of(const double *y)
{
    static double t[ALL];
    size_t length[PATHS];
    sock_data *data = NULL;
    for (size_t i = 0; i < ALL; i++) t[i] = H * (double)(i % POINTS);
    for (size_t j = 0; j < PATHS; j++) length[j] = POINTS;
    assert_int_equal(sock_data_from_arrays(ctx, D, PATHS, length, t, y, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

/* Starts are spread so wide that a first observation says all of them that is known: N(y_0, R). companions: first
 * points are those of `like`, and the rest is made anew from that law. */
static sock_data *make(const sock_model *model, uint64_t seed, const sock_data *like)
{
    static double x0[PATHS * D], y[ALL * D];
    const double c[] = {sqrt(R[0]), R[1] / sqrt(R[0]), sqrt(R[3] - R[1] * R[1] / R[0])};
    for (size_t j = 0; j < PATHS; j++) {
        double z[D];
        sk_normals((sk_key){seed + 5000, 0}, j, 0, 0, D, z);
        const double *first = like ? like->x + j * POINTS * D : NULL;
        x0[j * D] = first ? first[0] + c[0] * z[0] : 4 * z[0];
        x0[j * D + 1] = first ? first[1] + c[1] * z[0] + c[2] * z[1] : 4 * z[1];
    }
    observe(model, x0, seed, y);
    for (size_t j = 0; like && j < PATHS; j++) memcpy(y + j * POINTS * D, like->x + j * POINTS * D, D * sizeof *y);
    return data_of(y);
}

static double mmd_of(const sock_model *model, const sock_data *data, const double *noise)
{
    sk_mmd_result result;
    const sk_mmd_spec spec = {
        .eta = SCALE, .step = H / 5, .most_steps = 1e6, .paths = COMPANIONS, .seed = 5, .noise = noise};
    assert_int_equal(sk_mmd(ctx, model, data, &spec, &result), SOCK_OK);
    assert_int_equal(result.starts, PATHS);
    assert_int_equal(result.lost, 0);
    return result.value;
}

/* A mean over data sets in its standard errors. */
static double in_errors(const double *value)
{
    double sum = 0, square = 0;
    for (size_t s = 0; s < SETS; s++) {
        sum += value[s] / SETS;
        square += value[s] * value[s] / SETS;
    }
    return sum / sqrt((square - sum * sum) / (SETS - 1));
}

static void test_mmdnoise__the_truth_is_at_its_null_level_with_its_noise_alone(void **state)
{
    (void)state;
    const double wide[] = {0.2, 0, 0, 0.2}, plain[] = {0.05, -0.03, -0.03, 0.04};
    double above[SETS], without[SETS], loud[SETS], other[SETS];
    sock_model *model = wrap_fields(ctx, D, relax, flat, NULL);
    for (uint64_t s = 0; s < SETS; s++) {
        sock_data *data = make(model, 100 + s, NULL), *null = make(model, 900 + s, data);
        const double with = mmd_of(model, data, R);
        above[s] = with - mmd_of(model, null, R);
        without[s] = mmd_of(model, data, NULL) - with;
        loud[s] = mmd_of(model, data, wide) - with;
        other[s] = mmd_of(model, data, plain) - with;
        sock_data_free(null);
        sock_data_free(data);
    }
    sock_model_free(model);
    assert_true(fabs(in_errors(above)) < 2.5);
    assert_true(in_errors(without) > 5 && in_errors(loud) > 5 && in_errors(other) > 4);
}

/* Memory that fails anywhere is told. */
static void test_mmdnoise__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, D, relax, flat, NULL);
    sock_data *data = make(model, 1, NULL);
    const sk_mmd_spec spec = {.eta = SCALE, .step = H, .most_steps = 1e6, .paths = 2, .noise = R};
    sk_mmd_result result = {0};
    sock_status status = SOCK_ENOMEM;
    for (long k = 1; k < 100 && status == SOCK_ENOMEM; k++) {
        sk_fail_one_allocation(ctx, k);
        status = sk_mmd(ctx, model, data, &spec, &result);
        sk_fail_allocation(ctx, 0);
    }
    assert_int_equal(status, SOCK_OK);
    assert_in_range((size_t)(1e6 * result.value), 1, 999999);
    sock_data_free(data);
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mmdnoise__the_truth_is_at_its_null_level_with_its_noise_alone),
        cmocka_unit_test(test_mmdnoise__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
