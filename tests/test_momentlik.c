/* test_momentlik.c - the likelihood by moments, where the moments are known: densities written out, equations of the
 * second moments solved slowly, and what it says where there is no density. */
#include "la/la.h"
#include "onecontext.h"
#include "score/score.h"
#include "truths.h"
#include "tune/policy.h"

enum { TRAJECTORIES = 9, LENGTH = 8, STEPS = TRAJECTORIES * (LENGTH - 1) };

/* Trajectories of d states with gaps between 0.05 and `longest`; states are uniform on (low, high). */
static sock_data *irregular(size_t d, double longest, double low, double high)
{
    size_t length[TRAJECTORIES];
    double t[TRAJECTORIES * LENGTH], u[TRAJECTORIES * LENGTH], *x = calloc(TRAJECTORIES * LENGTH * d, sizeof *x);
    sock_data *data = NULL;
    sk_uniforms((sk_key){5, SK_PURPOSE_TEST}, 0, 0, 0, TRAJECTORIES * LENGTH, u);
    sk_uniforms((sk_key){5, SK_PURPOSE_TEST}, 1, 0, 0, TRAJECTORIES * LENGTH * d, x);
    for (size_t i = 0; i < TRAJECTORIES * LENGTH; i++)
        t[i] = i % LENGTH ? t[i - 1] + 0.05 + (longest - 0.05) * u[i] : 0;
    for (size_t i = 0; i < TRAJECTORIES * LENGTH * d; i++) x[i] = low + (high - low) * x[i];
    for (size_t j = 0; j < TRAJECTORIES; j++) length[j] = LENGTH;
    assert_true(sock_data_from_arrays(ctx, d, TRAJECTORIES, length, t, x, NULL, NULL, NULL, &data) >= 0);
    free(x);
    return data;
}

/* The moments of a step of length h from y: m (d) and s (d x d), by another way. */
typedef void (*moments_fn)(const double *y, double h, double *m, double *s);

/* log N(y; m, S), by elimination in the augmented matrix. d <= 3. */
static double log_normal(size_t d, const double *y, const double *m, const double *s)
{
    double a[3][4], sum = -0.5 * (double)d * log(2 * acos(-1)), form = 0, u[3];
    for (size_t k = 0; k < d; k++) {
        for (size_t l = 0; l < d; l++) a[k][l] = s[k * d + l];
        a[k][d] = y[k] - m[k];
    }
    for (size_t k = 0; k < d; k++) {
        sum -= 0.5 * log(a[k][k]);
        for (size_t l = k + 1; l < d; l++) {
            const double factor = a[l][k] / a[k][k];
            for (size_t j = k; j <= d; j++) a[l][j] -= factor * a[k][j];
        }
    }
    for (size_t k = d; k-- > 0;) {
        u[k] = a[k][d];
        for (size_t l = k + 1; l < d; l++) u[k] -= a[k][l] * u[l];
        u[k] /= a[k][k];
    }
    for (size_t k = 0; k < d; k++) form += (y[k] - m[k]) * u[k];
    return sum - 0.5 * form;
}

static double slow_sum(const sock_data *data, moments_fn moments, double delta)
{
    const size_t d = sock_data_dim(data);
    double sum = 0, m[3], s[9];
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        const size_t length = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i + 1 < length; i++) {
            moments(x + i * d, t[i + 1] - t[i], m, s);
            for (size_t k = 0; k < d; k++) s[k * d + k] += delta;
            sum += log_normal(d, x + (i + 1) * d, m, s);
        }
    }
    return sum;
}

static void check(const sock_model *model, const sock_data *data, moments_fn moments, double delta)
{
    sk_loglik l, first = {0};
    for (int threads = 1; threads <= 2; threads++) {
        assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
        assert_int_equal(sk_moment_likelihood(ctx, model, data, delta, &l), SOCK_OK);
        assert_int_equal(l.intervals, STEPS);
        assert_int_equal(l.singular + l.broken + l.unsettled, 0);
        assert_close(l.value, slow_sum(data, moments, delta), 1e-8, STEPS);
        if (threads == 1) first = l;
        assert_true(l.value == first.value);
    }
}

/* ---- Processes whose moments are known ---- */

/* dx = -x dt + dW: the transition is Gaussian, so this is the exact likelihood. */
static void ou_moments(const double *y, double h, double *m, double *s)
{
    m[0] = y[0] * exp(-h);
    s[0] = -expm1(-2 * h) / 2;
}

static void prop_momentlik__ou_has_its_exact_density(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    sock_data *data = irregular(1, 3, -1, 1);
    check(ou.model, data, ou_moments, 0);
    check(ou.model, data, ou_moments, 0.3);
    sock_data_free(data);
    truth_free(ou);
}

/* dx = x dt + 0.3 x dW: mean and variance are closed; a is quadratic, which the points still integrate exactly. */
static void gbm_moments(const double *y, double h, double *m, double *s)
{
    m[0] = y[0] * exp(h);
    s[0] = m[0] * m[0] * expm1(0.09 * h);
}

static void prop_momentlik__gbm_has_its_exact_moments(void **state)
{
    (void)state;
    truth gbm = truth_of(ctx, "gbm");
    sock_data *data = irregular(1, 1, 0.5, 2);
    check(gbm.model, data, gbm_moments, 0);
    sock_data_free(data);
    truth_free(gbm);
}

/* dx = v dt, dv = 0.7 dW: a is singular everywhere and Euler's step has no density, but the exact one is Gaussian. */
static void coasting_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[2 * i] = x[2 * i + 1], f[2 * i + 1] = 0;
}

static void coasting_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)d, (void)x;
    for (size_t i = 0; i < 4 * count; i++) a[i] = i % 4 == 3 ? 0.49 : 0;
}

static void coasting_moments(const double *y, double h, double *m, double *s)
{
    m[0] = y[0] + h * y[1], m[1] = y[1];
    s[0] = 0.49 * h * h * h / 3, s[1] = s[2] = 0.49 * h * h / 2, s[3] = 0.49 * h;
}

static void prop_momentlik__noise_that_enters_through_another_state(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 2, coasting_drift, coasting_diffusion, NULL);
    sock_data *data = irregular(2, 2, -1, 1);
    sk_loglik l;
    check(model, data, coasting_moments, 0);
    assert_int_equal(sk_log_likelihood(ctx, model, data, 0, &l), SOCK_OK);
    assert_int_equal(l.singular, STEPS);
    sock_data_free(data);
    sock_model_free(model);
}

/* x on the right of 0 with f = 1 - x and a = 3 x there: what the fields are on the left is nobody's business. The mean
 * goes to 1, and S' = 3 m - 2 S. */
static double square_root_left;

static void square_root_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = x[i] >= 0 ? 1 - x[i] : square_root_left;
}

static void square_root_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) a[i] = 3 * fmax(x[i], 0);
}

static void square_root_moments(const double *y, double h, double *m, double *s)
{
    m[0] = 1 + (y[0] - 1) * exp(-h);
    s[0] = 3 * (-expm1(-2 * h) / 2 + (y[0] - 1) * (exp(-h) - exp(-2 * h)));
}

static void prop_momentlik__bounds_are_kept(void **state)
{
    (void)state;
    const double zero = 0;
    sock_model *model = wrap_fields(ctx, 1, square_root_drift, square_root_diffusion, NULL);
    sock_data *data = irregular(1, 1.5, 0.01, 0.6);
    sk_loglik free, left;
    square_root_left = 60;
    assert_int_equal(sk_moment_likelihood(ctx, model, data, 0, &free), SOCK_OK);
    assert_true(fabs(free.value - slow_sum(data, square_root_moments, 0)) > 1 || free.unsettled + free.broken);
    assert_int_equal(sock_model_set_bounds(ctx, model, &zero, NULL), SOCK_OK);
    check(model, data, square_root_moments, 0);
    square_root_left = -60;
    assert_int_equal(sk_moment_likelihood(ctx, model, data, 0, &left), SOCK_OK);
    assert_close(left.value, slow_sum(data, square_root_moments, 0), 1e-8, STEPS);
    sock_data_free(data);
    sock_model_free(model);
}

/* f = B x, a = K + (g.x)^2 A in three dimensions. With M = E x x':  m' = B m, M' = B M + M B' + K + (g' M g) A. */
static const double B[9] = {-0.5, 1, 0.2, -1, -0.3, 0.1, 0.4, 0, -0.8}, G[3] = {0.6, -0.4, 0.5};
static const double A[9] = {1, 0.3, 0, 0.3, 0.5, -0.2, 0, -0.2, 0.4};

static double k_entry(size_t i) { return i == 0 ? 0.2 : i == 4 ? 0.1 : 0; } /* the third state has none of its own */

static void linear_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < 3 * count; i++) {
        const double *y = x + i / 3 * 3, *row = B + i % 3 * 3;
        f[i] = row[0] * y[0] + row[1] * y[1] + row[2] * y[2];
    }
}

static void quadratic_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)d;
    for (size_t i = 0; i < 9 * count; i++) {
        const double *y = x + i / 9 * 3, gx = G[0] * y[0] + G[1] * y[1] + G[2] * y[2];
        a[i] = k_entry(i % 9) + gx * gx * A[i % 9];
    }
}

/* z: m (3), M (9). */
static void moment_rates(const double *z, double *rate)
{
    double gmg = 0;
    for (size_t i = 0; i < 9; i++) gmg += G[i / 3] * z[3 + i] * G[i % 3];
    for (size_t i = 0; i < 12; i++) rate[i] = i < 3 ? 0 : k_entry(i - 3) + gmg * A[i - 3];
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            rate[i] += B[i * 3 + j] * z[j];
            for (size_t l = 0; l < 3; l++) {
                rate[3 + i * 3 + l] += B[i * 3 + j] * z[3 + j * 3 + l];
                rate[3 + l * 3 + i] += B[i * 3 + j] * z[3 + l * 3 + j];
            }
        }
}

static void linear_moments(const double *y, double h, double *m, double *s)
{
    enum { MANY = 400 };
    double z[12], k[4][12], at[12];
    for (size_t i = 0; i < 12; i++) z[i] = i < 3 ? y[i] : y[(i - 3) / 3] * y[(i - 3) % 3];
    for (int step = 0; step < MANY; step++) {
        moment_rates(z, k[0]);
        for (int stage = 1; stage < 4; stage++) {
            const double node = (stage == 3 ? 1 : 0.5) * h / MANY;
            for (size_t i = 0; i < 12; i++) at[i] = z[i] + node * k[stage - 1][i];
            moment_rates(at, k[stage]);
        }
        for (size_t i = 0; i < 12; i++) z[i] += h / MANY / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    memcpy(m, z, 3 * sizeof *m);
    for (size_t i = 0; i < 9; i++) s[i] = z[3 + i] - z[i / 3] * z[i % 3];
}

static void prop_momentlik__linear_drift_and_quadratic_noise_have_their_exact_moments(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 3, linear_drift, quadratic_diffusion, NULL);
    sock_data *data = irregular(3, 1.5, -1, 1);
    check(model, data, linear_moments, 0);
    check(model, data, linear_moments, 0.01);
    sock_data_free(data);
    sock_model_free(model);
}

/* f = -x^3 without noise: m = y / sqrt(1 + 2 h y^2), and delta is all of the variance. */
static void cubic_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = -x[i] * x[i] * x[i];
}

static void cubic_moments(const double *y, double h, double *m, double *s)
{
    m[0] = y[0] / sqrt(1 + 2 * h * y[0] * y[0]);
    s[0] = 0;
}

static void prop_momentlik__without_noise_the_mean_is_the_solution_of_the_ode(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, 1, cubic_drift, NULL, NULL);
    sock_data *data = irregular(1, 2, -2, 2);
    sk_loglik l;
    check(model, data, cubic_moments, 0.1);
    assert_int_equal(sk_moment_likelihood(ctx, model, data, 0, &l), SOCK_OK);
    assert_int_equal(l.singular, STEPS);
    sock_data_free(data);
    sock_model_free(model);
}

/* Six independent Ornstein-Uhlenbeck processes, du_k = -r_k u_k dt + s_k dW, r_k = (k + 1) / 4 and s_k = 1 / (k + 1),
 * seen in a mirror: x = H u, H = I - 2 v v' / |v|^2. The density of x is the product of theirs. */
enum { SIX = 6 };
static double mirror(size_t k, size_t l) /* v = (1, 2, .. 6), |v|^2 = 91 */
{
    return (k == l) - 2.0 * (double)((k + 1) * (l + 1)) / 91;
}

/* H diag(entry) H at row k, column l. */
static double mirrored(size_t k, size_t l, double (*entry)(size_t))
{
    double sum = 0;
    for (size_t j = 0; j < SIX; j++) sum += mirror(k, j) * entry(j) * mirror(j, l);
    return sum;
}

static double relaxation(size_t k) { return -(double)(k + 1) / 4; }
static double variance(size_t k) { return 1 / (double)((k + 1) * (k + 1)); }

static void mirrored_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) {
        f[i] = 0;
        for (size_t l = 0; l < d; l++) f[i] += mirrored(i % d, l, relaxation) * x[i / d * d + l];
    }
}

static void mirrored_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = mirrored(i % (d * d) / d, i % d, variance);
}

static void prop_momentlik__independent_states_in_a_mirror_have_the_product_of_their_densities(void **state)
{
    (void)state;
    sock_model *model = wrap_fields(ctx, SIX, mirrored_drift, mirrored_diffusion, NULL);
    sock_data *data = irregular(SIX, 1, -1, 1);
    sk_loglik l;
    double sum = 0;
    for (size_t j = 0; j < TRAJECTORIES; j++) {
        const double *t, *x;
        const size_t length = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i + 1 < length; i++)
            for (size_t k = 0; k < SIX; k++) {
                const double r = relaxation(k), h = t[i + 1] - t[i], s = variance(k) * expm1(2 * r * h) / (2 * r);
                double from = 0, to = 0, m;
                for (size_t n = 0; n < SIX; n++) {
                    from += mirror(k, n) * x[i * SIX + n];
                    to += mirror(k, n) * x[(i + 1) * SIX + n];
                }
                m = from * exp(r * h);
                sum += log_normal(1, &to, &m, &s);
            }
    }
    assert_int_equal(sk_moment_likelihood(ctx, model, data, 0, &l), SOCK_OK);
    assert_int_equal(l.singular + l.broken + l.unsettled, 0);
    assert_close(l.value, sum, 1e-7, fabs(sum)); /* where an interval counts as settled */
    sock_data_free(data);
    sock_model_free(model);
}

/* ---- Short steps ---- */

/* The difference to Euler's log density for a residual of 0.7 standard deviations. */
static double difference(const sock_model *model, double h)
{
    const size_t length = 2;
    const double t[2] = {0, h}, y = 0.6, x[2] = {y, y + h * (y - y * y * y) + 0.7 * 0.5 * sqrt(h)};
    sock_data *data = NULL;
    sk_loglik euler, moments;
    assert_true(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sk_log_likelihood(ctx, model, data, 0, &euler), SOCK_OK);
    assert_int_equal(sk_moment_likelihood(ctx, model, data, 0, &moments), SOCK_OK);
    sock_data_free(data);
    return moments.value - euler.value;
}

/* With c = f f' + f'' a / 2 the mean is y + h f + h^2 c / 2 + O(h^3) and the variance h a (1 + h f') + O(h^3), all at
 * y: for a residual of r standard deviations the log density changes by h f' (r^2 - 1) / 2 + h^1.5 r c / (2 sigma) +
 * O(h^2).
 */
static void prop_momentlik__short_steps_are_eulers_to_first_order(void **state)
{
    (void)state;
    truth well = truth_of(ctx, "doublewell"); /* dx = (x - x^3) dt + 0.5 dW */
    const double y = 0.6, f = y - y * y * y, f1 = 1 - 3 * y * y, f2 = -6 * y, c = f * f1 + f2 * 0.25 / 2;
    for (double h = 0.01; h > 1e-5; h /= 4) {
        const double rest = difference(well.model, h) - h * f1 * (0.49 - 1) / 2;
        assert_close(rest / pow(h, 1.5), 0.7 * c / (2 * 0.5), 5 * sqrt(h), 0);
    }
    truth_free(well);
}

/* ---- Where there is none ---- */

static void square_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = x[i] * x[i];
}

static void fast_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = -300 * x[i];
}

static void one_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = i % (d * d) % (d + 1) ? 0 : 1;
}

static void zero_field(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)x;
    memset(f, 0, count * d * sizeof *f);
}

/* ---- How many substeps ---- */

/* f = rate x, a = I in any dimension, and who asked for what. */
typedef struct counted {
    double rate;
    size_t points;
    bool was_finite;
} counted;

static void counted_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    counted *c = user;
    c->points += count;
    for (size_t i = 0; i < count * d; i++) {
        c->was_finite = c->was_finite && isfinite(x[i]);
        f[i] = c->rate * x[i];
    }
}

static double runge_kutta(double z) { return 1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))); }

/* The log density of d equal states after n substeps: the method in closed form. False: a variance below 0. */
static bool slow_density(size_t d, const double y[2], double h, double rate, size_t n, double *out)
{
    const double r1 = runge_kutta(rate * h / (double)n), r2 = runge_kutta(2 * rate * h / (double)n);
    double m = y[0], s = 0;
    for (size_t k = 0; k < n; k++) {
        m *= r1;
        s = r2 * s + (r2 - 1) / (2 * rate);
    }
    *out = s < 0 ? 0 : (double)d * log_normal(1, &y[1], &m, &s);
    return s >= 0;
}

/* The rule as it is written at the head of momentlik.c. *substeps: all of them. False: not settled. */
static bool slow_settling(size_t d, const double y[2], double h, double rate, size_t *substeps, double *out)
{
    const size_t most = d <= 3 ? 64 : 16;
    double before = 0, now = 0;
    bool good_before = false, good;
    for (size_t n = 1;; n *= 2, before = now, good_before = good) {
        *substeps += n;
        good = slow_density(d, y, h, rate, n, &now);
        const double move = fabs(now - before) / ((double)d + fabs(now));
        *out = now + (now - before) / 15;
        if (good && good_before && move <= 1e-7) return true;
        if (n == most) return good && good_before && move <= 1e-2;
    }
}

/* Trajectories of two points: y[j] and its gap h[j], the same in each of d states. */
static void check_settling(size_t d, size_t n, double (*y)[2], const double *h, double rate)
{
    size_t length[64], substeps = 0, bad = 0;
    double t[128], x[128 * 4], term[64];
    counted of = {.rate = rate, .was_finite = true};
    sock_model *model = wrap_fields(ctx, d, counted_drift, one_diffusion, &of);
    sock_data *data = NULL;
    sk_loglik l;
    for (size_t j = 0; j < n; j++) {
        length[j] = 2;
        t[2 * j] = 0, t[2 * j + 1] = h[j];
        for (size_t k = 0; k < 2 * d; k++) x[2 * d * j + k] = y[j][k / d];
    }
    assert_true(sock_data_from_arrays(ctx, d, n, length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
    assert_int_equal(sk_moment_terms(ctx, model, data, 0, term), SOCK_OK);
    for (size_t j = 0; j < n; j++) {
        double expected;
        const bool settled = slow_settling(d, y[j], h[j], rate, &substeps, &expected);
        if (settled)
            assert_close(term[j], expected, 1e-11, (double)d);
        else
            assert_true(isinf(term[j]) && term[j] < 0);
        bad += !settled;
    }
    assert_int_equal(of.points, 4 * (2 * d + 1) * substeps);
    assert_int_equal(sk_moment_likelihood(ctx, model, data, 0, &l), SOCK_OK);
    assert_true(l.unsettled == bad && l.intervals == n && l.singular == 0 && l.broken == 0);
    sock_data_free(data);
    sock_model_free(model);
}

/* From steps that settle at once, through variances below 0 in the first tries, to those that never do; long and short
 * ones in turn. Of the last ones with growth some are near enough at the end and some are not. */
static void prop_momentlik__substeps_are_doubled_until_the_density_rests(void **state)
{
    (void)state;
    enum { N = 45 };
    for (size_t d = 1; d <= 4; d++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double y[N][2], h[N];
            for (size_t j = 0; j < N; j++) {
                h[j] = 0.02 * pow(sign > 0 ? 1.19 : 1.22, (double)(7 * j % N));
                const double s = expm1(2 * sign * h[j]) / (2 * sign);
                y[j][0] = 1e-3 * (double)j;
                y[j][1] = y[j][0] * exp(sign * h[j]) + 0.7 * sqrt(s);
            }
            check_settling(d, N, y, h, sign);
        }
}

/* A first log density of 0 is no reason to stop at one substep. */
static void test_momentlik__one_substep_alone_is_never_enough(void **state)
{
    (void)state;
    const double h = 0.1, s = (1 - runge_kutta(-2 * h)) / 2;
    double y[1][2] = {{0.5, 0.5 * runge_kutta(-h) + sqrt(-s * log(2 * acos(-1) * s))}};
    double l;
    assert_true(slow_density(1, y[0], h, -1, 1, &l) && fabs(l) < 1e-14);
    check_settling(1, 1, y, &h, -1);
}

static void counted_coasting(void *user, size_t count, size_t d, const double *x, double *f)
{
    ((counted *)user)->points += count;
    coasting_drift(NULL, count, d, x, f);
}

/* The covariance of dx = v dt, dv = 0.7 dW is cubic in time: one Runge-Kutta step has it exactly, though S of its third
 * stage has an eigenvalue below 0. So 1 + 2 substeps, of four stages with five points each, are all. */
static void test_momentlik__indefinite_stages_keep_the_order(void **state)
{
    (void)state;
    const size_t length = 2;
    const double t[2] = {0, 0.8}, x[4] = {0.3, -0.5, 0.2, 0.1};
    counted of = {0};
    double m[2], s[4], term;
    sock_data *data = NULL;
    sock_model *model = wrap_fields(ctx, 2, counted_coasting, coasting_diffusion, &of);
    assert_true(sock_data_from_arrays(ctx, 2, 1, &length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sk_moment_terms(ctx, model, data, 0, &term), SOCK_OK);
    coasting_moments(x, 0.8, m, s);
    assert_close(term, log_normal(2, x + 2, m, s), 1e-12, 1);
    assert_int_equal(of.points, 4 * 3 * 5);
    sock_data_free(data);
    sock_model_free(model);
}

/* x' = x^2 from 2 is infinite at 1/2, from -1 it never is. A time constant of 1/300 is too stiff for a step of 1. */
static void test_momentlik__what_cannot_be_had_has_a_reason(void **state)
{
    (void)state;
    const size_t length[2] = {2, 2};
    const double t[4] = {0, 1, 0, 1}, x[4] = {2, 3, -1, -0.5};
    sock_model *bursts = wrap_fields(ctx, 1, square_drift, one_diffusion, NULL);
    sock_model *fast = wrap_fields(ctx, 1, fast_drift, one_diffusion, NULL);
    sock_model *still = wrap_fields(ctx, 1, square_drift, zero_field, NULL);
    sock_data *data = NULL;
    sock_scores s;
    assert_true(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sock_score(ctx, bursts, data, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    assert_true(s.loglik.valid && s.perplexity_raw.valid && !s.loglik_moments.valid && s.loglik_moments.failed);
    assert_non_null(strstr(s.loglik_moments.reason, "not finite on"));
    assert_non_null(strstr(sock_message(ctx), "loglik_moments could not be computed"));
    assert_int_equal(sock_score(ctx, fast, data, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    assert_non_null(strstr(s.loglik_moments.reason, "too fast to be followed on"));
    assert_non_null(strstr(s.perplexity_moments_raw.reason, "too fast to be followed on"));
    assert_int_equal(sock_score(ctx, still, data, NULL, NULL, NULL, &s), SOCK_PARTIAL);
    assert_non_null(strstr(s.loglik_moments.reason, "not finite on 1 of 2"));
    sock_data_free(data);
    sock_model_free(still);
    sock_model_free(fast);
    sock_model_free(bursts);
}

static void counted_square(void *user, size_t count, size_t d, const double *x, double *f)
{
    counted *c = user;
    c->points += count;
    for (size_t i = 0; i < count * d; i++) c->was_finite = c->was_finite && isfinite(x[i]);
    square_drift(NULL, count, d, x, f);
}

/* One that bursts between two that do not: theirs are what they are alone, and the model is never asked beyond the
 * finite numbers. */
static void test_momentlik__a_lost_interval_leaves_its_neighbours_alone(void **state)
{
    (void)state;
    const size_t length[3] = {2, 2, 2};
    const double t[6] = {0, 1, 0, 1, 0, 1}, x[6] = {-1, -0.5, 2, 3, -2, -0.8};
    counted of = {.was_finite = true};
    sock_model *model = wrap_fields(ctx, 1, counted_square, one_diffusion, &of);
    double term[3], alone;
    for (size_t j = 0; j < 3; j++) {
        sock_data *all = NULL, *one = NULL;
        assert_true(sock_data_from_arrays(ctx, 1, 3, length, t, x, NULL, NULL, NULL, &all) >= 0);
        assert_true(sock_data_from_arrays(ctx, 1, 1, length, t + 2 * j, x + 2 * j, NULL, NULL, NULL, &one) >= 0);
        assert_int_equal(sk_moment_terms(ctx, model, all, 0, term), SOCK_OK);
        assert_int_equal(sk_moment_terms(ctx, model, one, 0, &alone), SOCK_OK);
        assert_true(j == 1 ? isinf(term[j]) && term[j] < 0 && isinf(alone) : term[j] == alone && isfinite(alone));
        sock_data_free(one), sock_data_free(all);
    }
    assert_true(of.was_finite);
    sock_model_free(model);
}

/* Where there is no density, or no finite number, 16 substeps are the last. */
static void test_momentlik__what_has_no_density_is_given_up(void **state)
{
    (void)state;
    const size_t length = 2;
    const double t[2] = {0, 1}, x[2] = {0.5, 0.6};
    sock_data *data = NULL;
    assert_true(sock_data_from_arrays(ctx, 1, 1, &length, t, x, NULL, NULL, NULL, &data) >= 0);
    for (int broken = 0; broken < 2; broken++) {
        counted of = {.rate = broken ? (double)NAN : 1};
        sock_model *model = wrap_fields(ctx, 1, counted_drift, broken ? one_diffusion : NULL, &of);
        sk_loglik l;
        assert_int_equal(sk_moment_likelihood(ctx, model, data, 0, &l), SOCK_OK);
        assert_true(l.broken == (size_t)broken && l.singular == (size_t)!broken && l.unsettled == 0 && l.value == 0);
        assert_int_equal(of.points, 4 * 3 * (1 + 2 + 4 + 8 + 16));
        sock_model_free(model);
    }
    sock_data_free(data);
}

static void test_momentlik__many_dimensions_are_left_out(void **state)
{
    (void)state;
    enum { D = SK_MOMENTS_MOST_DIM + 1 };
    for (size_t d = D - 1; d <= D; d++) {
        const size_t length = 2;
        const double t[2] = {0, 0.5};
        double x[2 * D] = {0};
        sock_model *model = wrap_fields(ctx, d, zero_field, one_diffusion, NULL);
        sock_data *data = NULL;
        sock_scores s;
        assert_true(sock_data_from_arrays(ctx, d, 1, &length, t, x, NULL, NULL, NULL, &data) >= 0);
        assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, &s), SOCK_OK);
        assert_true(s.loglik_moments.valid == (d < D));
        if (d < D) assert_close(s.loglik_moments.value, s.loglik.value, 1e-12, 0);
        if (d == D) assert_non_null(strstr(s.perplexity_moments.reason, "up to 20 dimensions"));
        sock_data_free(data);
        sock_model_free(model);
    }
}

/* PM of the truth is 100, and PM PM'_truth = 100 PM'. */
static void prop_momentlik__perplexities_fit_together(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou"), well = truth_of(ctx, "doublewell");
    sock_data *data = irregular(1, 1, -1, 1);
    sock_scores own, other;
    assert_int_equal(sock_score(ctx, ou.model, data, NULL, ou.model, NULL, &own), SOCK_OK);
    assert_int_equal(sock_score(ctx, well.model, data, NULL, ou.model, NULL, &other), SOCK_OK);
    assert_true(own.perplexity_moments.value == 100);
    assert_true(other.loglik_moments_truth.value == own.loglik_moments.value);
    assert_close(other.perplexity_moments.value,
                 100 * exp((own.loglik_moments.value - other.loglik_moments.value) / STEPS), 1e-13, 0);
    assert_close(other.perplexity_moments.value * own.perplexity_moments_raw.value,
                 100 * other.perplexity_moments_raw.value, 1e-12, 0);
    sock_data_free(data);
    truth_free(well);
    truth_free(ou);
}

static sock_status score_once(sock_context *c, void *arg)
{
    sk_loglik l;
    void **of = arg;
    return sk_moment_likelihood(c, of[0], of[1], 0, &l);
}

static void test_momentlik__every_allocation_may_fail(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    sock_data *data = irregular(1, 1, -1, 1);
    void *of[] = {ou.model, data};
    assert_true(for_each_allocation(ctx, score_once, of) >= 4);
    sock_data_free(data);
    truth_free(ou);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_momentlik__ou_has_its_exact_density),
        cmocka_unit_test(prop_momentlik__gbm_has_its_exact_moments),
        cmocka_unit_test(prop_momentlik__noise_that_enters_through_another_state),
        cmocka_unit_test(prop_momentlik__bounds_are_kept),
        cmocka_unit_test(prop_momentlik__linear_drift_and_quadratic_noise_have_their_exact_moments),
        cmocka_unit_test(prop_momentlik__independent_states_in_a_mirror_have_the_product_of_their_densities),
        cmocka_unit_test(prop_momentlik__without_noise_the_mean_is_the_solution_of_the_ode),
        cmocka_unit_test(prop_momentlik__short_steps_are_eulers_to_first_order),
        cmocka_unit_test(prop_momentlik__substeps_are_doubled_until_the_density_rests),
        cmocka_unit_test(test_momentlik__one_substep_alone_is_never_enough),
        cmocka_unit_test(test_momentlik__indefinite_stages_keep_the_order),
        cmocka_unit_test(test_momentlik__what_cannot_be_had_has_a_reason),
        cmocka_unit_test(test_momentlik__a_lost_interval_leaves_its_neighbours_alone),
        cmocka_unit_test(test_momentlik__what_has_no_density_is_given_up),
        cmocka_unit_test(test_momentlik__many_dimensions_are_left_out),
        cmocka_unit_test(prop_momentlik__perplexities_fit_together),
        cmocka_unit_test(test_momentlik__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
