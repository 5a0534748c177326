/* test_inertia.c - the filter over position and velocity against what is known in closed form, and its rows against
 * what they are rows of. */
#include "onecontext.h"
#include "score/inertia.h"
#include "truths.h"
#include "tune/policy.h"

enum { STEPS = 40 };

/* One run of STEPS steps of length h. */
typedef struct path {
    double y[STEPS], next[STEPS], h[STEPS], reach[2];
    size_t first[2];
    sk_series series;
    sk_inertia_pass pass;
} path;

static void path_init(path *p, double h, const double *position)
{
    for (size_t i = 0; i < STEPS; i++) {
        p->y[i] = position[i];
        p->next[i] = position[i + 1];
        p->h[i] = h;
    }
    p->first[0] = 0, p->first[1] = STEPS;
    p->reach[0] = p->reach[1] = 1e-4;
    p->series = (sk_series){1, STEPS, 1, p->first, p->y, p->next, p->h, {0}};
    assert_int_equal(sk_inertia_pass_new(ctx, &p->series, true, &p->pass), SOCK_OK);
}

static void run_filter(path *p, const sock_model *model, const double *noise)
{
    const sk_inertia_spec spec = {.model = model, .noise = noise, .reach = p->reach};
    assert_int_equal(sk_inertia(ctx, &p->series, &spec, &p->pass), SOCK_OK);
}

/* F = w[0] + w[1] x + w[2] v, a = w[3] + w[4] x^2 + w[5] v^2. */
static void force(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double *w = user;
    (void)d;
    for (size_t i = 0; i < count; i++) {
        f[2 * i] = x[2 * i + 1];
        f[2 * i + 1] = w[0] + w[1] * x[2 * i] + w[2] * x[2 * i + 1];
    }
}

static void kicks(void *user, size_t count, size_t d, const double *x, double *a)
{
    const double *w = user;
    (void)d;
    for (size_t i = 0; i < count; i++) {
        a[4 * i] = a[4 * i + 1] = a[4 * i + 2] = 0;
        a[4 * i + 3] = w[3] + w[4] * x[2 * i] * x[2 * i] + w[5] * x[2 * i + 1] * x[2 * i + 1];
    }
}

/* A path of a harmonic oscillator with noise, by small Euler steps. */
static void oscillate(double h, uint64_t seed, double *position)
{
    enum { INNER = 50 };
    double x = 0.7, v = -0.3, z[INNER];
    for (size_t i = 0; i <= STEPS; i++) {
        position[i] = x;
        sk_normals((sk_key){seed, 0}, 0, i, 0, INNER, z);
        for (size_t k = 0; k < INNER; k++) {
            const double dt = h / INNER;
            x += dt * v;
            v += dt * (-x - 0.5 * v) + sqrt(dt) * z[k];
        }
    }
}

/* ---- Free motion ---- */

/* Neighbouring second differences share noise: the filter's variance falls from 2/3 to a h^3 (2 + sqrt 3) / 6. */
static void test_inertia__free_motion_has_the_gain_and_variance_of_closed_form(void **state)
{
    (void)state;
    double w[6] = {0, 0, 0, 1, 0, 0}, position[STEPS + 1];
    const double h = 0.1, limit = (2 + sqrt(3)) / 6;
    path p;
    sock_model *model = wrap_fields(ctx, 2, force, kicks, w);
    oscillate(h, 1, position);
    path_init(&p, h, position);
    run_filter(&p, model, NULL);
    assert_close(limit, 0.622008, 1e-6, 1);
    assert_close(p.pass.s[1], 2.0 / 3 * h * h * h, 1e-12, 1e-9);
    assert_close(p.pass.s[11] / (h * h * h), limit, 1e-4, 1);
    assert_close(p.pass.gain[2 * 11], 1, 1e-12, 1);
    assert_close(p.pass.gain[2 * 11 + 1] * h, 3 - sqrt(3), 1e-4, 1);
    assert_int_equal(p.pass.begins[0], 1);
    assert_int_equal(p.pass.begins[1], 0);
    sk_inertia_pass_clear(&p.pass);
    sock_model_free(model);
}

/* ---- A linear force: the exact Kalman filter ---- */

static void product(const double *a, const double *b, double *out)
{
    const double c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                         a[2] * b[1] + a[3] * b[3]};
    memcpy(out, c, sizeof c);
}

/* V' = J V + V J' + diag(0, a). */
static void lyapunov(const double *j, double a, const double *v, double *out)
{
    double jv[4];
    product(j, v, jv);
    out[0] = 2 * jv[0], out[1] = out[2] = jv[1] + jv[2], out[3] = 2 * jv[3] + a;
}

/* E and the spread of a step, by small Runge-Kutta steps. */
static void exact_step(const double *j, double a, double h, double *e, double *v)
{
    enum { INNER = 200 };
    const double dt = h / INNER;
    double one[4] = {1, 0, 0, 1}, small[4] = {1, 0, 0, 1}, power[4] = {1, 0, 0, 1};
    for (int n = 1; n <= 8; n++) {
        product(power, j, power);
        for (int k = 0; k < 4; k++) {
            power[k] *= dt / n;
            small[k] += power[k];
        }
    }
    memcpy(e, one, sizeof one);
    memset(v, 0, 4 * sizeof *v);
    for (int i = 0; i < INNER; i++) {
        double k1[4], k2[4], k3[4], k4[4], t[4];
        product(e, small, e);
        lyapunov(j, a, v, k1);
        for (int k = 0; k < 4; k++) t[k] = v[k] + dt / 2 * k1[k];
        lyapunov(j, a, t, k2);
        for (int k = 0; k < 4; k++) t[k] = v[k] + dt / 2 * k2[k];
        lyapunov(j, a, t, k3);
        for (int k = 0; k < 4; k++) t[k] = v[k] + dt * k3[k];
        lyapunov(j, a, t, k4);
        for (int k = 0; k < 4; k++) v[k] += dt / 6 * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]);
    }
}

/* Largest errors of e, against its size, and of S, relative. */
static void against_kalman(double h, double *worst_e, double *worst_s)
{
    double w[6] = {0, -1, -0.5, 1, 0, 0}, position[STEPS + 1], e[4], v[4];
    const double j[4] = {0, 1, -1, -0.5}, noise = 1e-4;
    path p;
    sock_model *model = wrap_fields(ctx, 2, force, kicks, w);
    oscillate(h, 2, position);
    path_init(&p, h, position);
    run_filter(&p, model, &noise);
    exact_step(j, 1, h, e, v);
    const double speed = (position[1] - position[0]) / h;
    double m[2] = {position[1], speed + h / 2 * (-position[1] - 0.5 * speed)}, square = 0;
    double c[4] = {noise, noise / h, noise / h, h / 3 + 2 * noise / (h * h)};
    *worst_e = *worst_s = 0;
    for (size_t i = 1; i < STEPS; i++) {
        const double mp[2] = {e[0] * m[0] + e[1] * m[1], e[2] * m[0] + e[3] * m[1]};
        const double turned[4] = {e[0], e[2], e[1], e[3]};
        double cp[4];
        product(e, c, cp);
        product(cp, turned, cp);
        for (int k = 0; k < 4; k++) cp[k] += v[k];
        const double s = cp[0] + noise, r = position[i + 1] - mp[0], k[2] = {cp[0] / s, cp[2] / s};
        *worst_e = fmax(*worst_e, fabs(p.pass.e[i] - r));
        *worst_s = fmax(*worst_s, fabs(p.pass.s[i] / s - 1));
        square += r * r / STEPS;
        assert_close(p.pass.term[i], -0.5 * (log(2 * 3.14159265358979323846 * s) + r * r / s), 2e-2, 1);
        for (int a = 0; a < 2; a++) {
            m[a] = mp[a] + k[a] * r;
            for (int b = 0; b < 2; b++) c[2 * a + b] = cp[2 * a + b] - k[a] * k[b] * s;
        }
    }
    *worst_e /= sqrt(square);
    sk_inertia_pass_clear(&p.pass);
    sock_model_free(model);
}

static void test_inertia__a_linear_force_has_the_exact_law_to_fourth_order(void **state)
{
    (void)state;
    double e[3], s[3];
    against_kalman(0.05, &e[0], &s[0]);
    against_kalman(0.1, &e[1], &s[1]);
    against_kalman(0.2, &e[2], &s[2]);
    assert_true(e[0] < 1e-5 && e[1] < 1e-4 && e[2] < 1e-3);
    assert_true(s[0] < 1e-5 && s[1] < 1e-4 && s[2] < 1e-3);
    assert_true(e[1] / e[0] > 8 && s[1] / s[0] > 8); /* halving the step: 16 and more, but for the start */
}

/* ---- States given all positions ---- */

enum { SEEN = 12, UNKNOWN = 2 * SEEN };
static const double spring[4] = {0, 1, -1, -0.5}, strength = 0.8;

/* Precision and right side of all states of a linear oscillator at once, given y with variance r; of the first state
 * nothing is known but its position. */
static void joint_law(const double *t, const double *y, double r, double *precision, double *mean)
{
    memset(precision, 0, UNKNOWN * UNKNOWN * sizeof *precision);
    memset(mean, 0, UNKNOWN * sizeof *mean);
    for (size_t i = 0; i < SEEN; i++) {
        precision[2 * i * (UNKNOWN + 1)] += 1 / r;
        mean[2 * i] += y[i] / r;
        if (i + 1 == SEEN) break;
        double e[4], q[4];
        exact_step(spring, strength, t[i + 1] - t[i], e, q);
        const double det = q[0] * q[3] - q[1] * q[2], q1[4] = {q[3] / det, -q[1] / det, -q[2] / det, q[0] / det};
        const double b[8] = {-e[0], -e[1], 1, 0, -e[2], -e[3], 0, 1}; /* s_next - E s */
        for (size_t k = 0; k < 16; k++)
            for (size_t l = 0; l < 4; l++)
                precision[(2 * i + k / 4) * UNKNOWN + 2 * i + k % 4] +=
                    b[l / 2 * 4 + k / 4] * q1[l] * b[l % 2 * 4 + k % 4];
    }
}

static void against_joint_law(double r, double tolerance)
{
    double w[6] = {0, -1, -0.5, 0, 0, 0}, long_path[STEPS + 1], t[SEEN], y[SEEN], mean[UNKNOWN], sd[UNKNOWN];
    double precision[UNKNOWN * UNKNOWN], known[UNKNOWN], unit[UNKNOWN];
    const size_t length = SEEN;
    w[3] = strength;
    oscillate(0.1, 6, long_path);
    for (size_t i = 0; i < SEEN; i++) { /* steps of 0.1 and, in the middle, one of 0.2 */
        const size_t at = i + (i > 5);
        t[i] = 0.1 * (double)at;
        y[i] = long_path[at] + (i % 2 ? sqrt(r) : -sqrt(r));
    }
    sock_data *data = NULL;
    sock_model *model = wrap_fields(ctx, 2, force, kicks, w);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 1, &length, t, y, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_model_set_order(ctx, model, 2), SOCK_OK);
    if (r > 0) {
        model->structure->noise = sk_doubles(ctx, 2, 2);
        memset(model->structure->noise, 0, 4 * sizeof *model->structure->noise);
        model->structure->noise[0] = r;
    }
    assert_int_equal(sock_smooth(ctx, model, data, mean, sd), SOCK_OK);
    joint_law(t, y, r > 0 ? r : 1e-11, precision, known);
    assert_int_equal(sk_cholesky(ctx, UNKNOWN, precision, UNKNOWN), SOCK_OK);
    sk_cholesky_solve(ctx, UNKNOWN, 1, precision, UNKNOWN, known, 1);
    for (size_t k = 0; k < UNKNOWN; k++) {
        memset(unit, 0, sizeof unit);
        unit[k] = 1;
        sk_cholesky_solve(ctx, UNKNOWN, 1, precision, UNKNOWN, unit, 1);
        const double spread = sqrt(unit[k]), at_all = r > 0 || k % 2;
        if (at_all) assert_close((mean[k] - known[k]) / spread, 0, tolerance, 1);
        if (at_all) assert_close(sd[k] / spread, 1, tolerance, 1);
        if (!at_all) assert_close(mean[k], y[k / 2], 1e-12, 1);
        if (!at_all) assert_close(sd[k], 0, 1e-12, 1);
    }
    sock_data_free(data);
    sock_model_free(model);
}

static void test_inertia__smoothed_states_are_those_of_the_joint_law(void **state)
{
    (void)state;
    against_joint_law(1e-3, 1e-3);
    against_joint_law(1e-5, 1e-3);
    against_joint_law(0, 1e-3);
}

/* Of one point the position alone is known, of two the velocity, to what the noise of a step leaves of it. */
static void test_inertia__short_trajectories_are_smoothed(void **state)
{
    (void)state;
    double w[6] = {0, 0, 0, 1, 0, 0}, mean[6], sd[6];
    const size_t length[] = {1, 2};
    const double t[] = {0, 0, 0.5}, y[] = {3, 1, 2};
    sock_data *data = NULL;
    sock_model *model = wrap_fields(ctx, 2, force, kicks, w);
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, y, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_model_set_order(ctx, model, 2), SOCK_OK);
    assert_int_equal(sock_smooth(ctx, model, data, mean, sd), SOCK_OK);
    assert_true(mean[0] == 3 && sd[0] == 0 && isnan(mean[1]) && isnan(sd[1]));
    assert_close(mean[3], 2, 1e-9, 1); /* free motion: v = dx / h +- sqrt(a h / 3) at both ends */
    assert_close(mean[5], 2, 1e-9, 1);
    assert_close(sd[3], sqrt(0.5 / 3), 1e-5, 1);
    assert_close(sd[5], sqrt(0.5 / 3), 1e-5, 1);
    sock_data_free(data);
    sock_model_free(model);
}

/* ---- Rows ---- */

/* On a path that the model itself predicts all innovations are 0, so that gains that change with the force do not
 * show: what is left of the derivative of e is the row. */
static void test_inertia__rows_are_derivatives_of_the_prediction(void **state)
{
    (void)state;
    double w[6] = {0.2, -0.5, -1, 1, 0, 0}, position[STEPS + 1], at[STEPS * 3 * 3], row[STEPS * 3];
    const double h = 0.1, noise = 1e-4, step = 1e-5;
    path p;
    sock_model *model = wrap_fields(ctx, 2, force, kicks, w);
    position[0] = 1, position[1] = 0.96;
    for (size_t i = 2; i <= STEPS; i++) position[i] = 0;
    path_init(&p, h, position);
    for (size_t i = 1; i < STEPS; i++) { /* each step moves the next observation onto its prediction */
        run_filter(&p, model, &noise);
        p.next[i] += -p.pass.e[i];
        if (i + 1 < STEPS) p.y[i + 1] = p.next[i];
    }
    run_filter(&p, model, &noise);
    for (size_t i = 0; i < STEPS; i++) assert_close(p.pass.e[i], 0, 1e-12, 1);
    for (size_t i = 0; i < STEPS * 3; i++) {
        const double *one = p.pass.node + i * 4, *other = one + 2;
        at[3 * i] = 1, at[3 * i + 1] = (one[0] + other[0]) / 2, at[3 * i + 2] = (one[1] + other[1]) / 2;
    }
    const sk_lift lift = sk_inertia_lift(&p.series, &p.pass);
    assert_int_equal(sk_lift_means(ctx, &lift, 3, at, row), SOCK_OK);
    for (size_t j = 0; j < 3; j++) {
        double up[STEPS], largest = 0, worst = 0;
        w[j] += step;
        run_filter(&p, model, &noise);
        memcpy(up, p.pass.e, sizeof up);
        w[j] -= 2 * step;
        run_filter(&p, model, &noise);
        w[j] += step;
        for (size_t i = 1; i < STEPS; i++) {
            worst = fmax(worst, fabs((p.pass.e[i] - up[i]) / (2 * step) - row[3 * i + j]));
            largest = fmax(largest, fabs(row[3 * i + j]));
        }
        assert_true(worst <= (j ? 1e-2 : 1e-5) * largest);
    }
    sk_inertia_pass_clear(&p.pass);
    sock_model_free(model);
}

static void test_inertia__rows_of_the_spread_give_its_variance_and_no_lags(void **state)
{
    (void)state;
    double w[6] = {0.2, -0.5, -1, 1, 0.05, 0.1}, position[STEPS + 1], a[3 * STEPS], r[3 * STEPS];
    const double noise = 1e-4;
    path p;
    sock_model *model = wrap_fields(ctx, 2, force, kicks, w);
    oscillate(0.1, 3, position);
    path_init(&p, 0.1, position);
    p.h[7] = 0.25, p.h[20] = 0.04; /* steps need not be alike */
    run_filter(&p, model, &noise);
    const sk_lift lift = sk_inertia_lift(&p.series, &p.pass);
    assert_int_equal(sk_lift_spreads(ctx, &lift, 1, p.pass.a, 3, a), SOCK_OK);
    assert_int_equal(sk_lift_noise(ctx, &lift, 3, r), SOCK_OK);
    for (size_t i = 1; i < STEPS; i++) {
        const double s = p.pass.s[i];
        assert_close((a[i] + noise * r[i]) / s, 1, 1e-12, 1);
        for (size_t l = 1; l < 3; l++) assert_close((a[l * STEPS + i] + noise * r[l * STEPS + i]) / s, 0, 1e-12, 1);
    }
    for (size_t l = 1; l < 3; l++) assert_true(fabs(r[l * STEPS + 10]) > 0.05); /* but for their sum they are not 0 */
    assert_true(a[0] == 0 && r[0] == 0 && a[STEPS + 1] == 0 && a[2 * STEPS + 2] == 0); /* no such pairs */
    sk_inertia_pass_clear(&p.pass);
    sock_model_free(model);
}

/* ---- Trouble ---- */

static void lose(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) {
        f[2 * i] = x[2 * i + 1];
        f[2 * i + 1] = x[2 * i] > 1 ? (double)INFINITY : 0;
    }
}

static void test_inertia__a_law_that_is_lost_begins_again(void **state)
{
    (void)state;
    double w[6] = {0, 0, 0, 1, 0, 0}, position[STEPS + 1];
    path p;
    sock_model *model = wrap_fields(ctx, 2, lose, kicks, w);
    for (size_t i = 0; i <= STEPS; i++) position[i] = i == 20 ? 1.5 : 0.1 * (double)(i % 3);
    path_init(&p, 0.1, position);
    run_filter(&p, model, NULL);
    assert_int_equal(p.pass.lost[20], 1);
    assert_int_equal(p.pass.begins[20], 1);
    assert_true(p.pass.term[20] == SK_STEP_LEAST);
    assert_int_equal(p.pass.lost[30], 0);
    assert_true(isfinite(p.pass.term[30]) && p.pass.term[30] > SK_STEP_LEAST);
    sk_inertia_pass_clear(&p.pass);
    sock_model_free(model);
}

/* ---- Two dimensions ---- */

static void two_forces(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++, x += 4, f += 4) {
        f[0] = x[2], f[1] = x[3];
        f[2] = -x[0] - 0.5 * x[2];
        f[3] = -2 * x[1] - 0.2 * x[3] * x[3] * x[3];
    }
}

static void two_kicks(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++, x += 4, a += 16) {
        memset(a, 0, 16 * sizeof *a);
        a[10] = 1;
        a[15] = 0.5 + 0.1 * x[1] * x[1];
    }
}

static void first_force(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++, x += 2, f += 2) f[0] = x[1], f[1] = -x[0] - 0.5 * x[1];
}

static void first_kick(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)d, (void)x;
    for (size_t i = 0; i < count; i++, a += 4) a[0] = a[1] = a[2] = 0, a[3] = 1;
}

/* Coordinates that know nothing of each other: the first is filtered as it would be alone. */
static void test_inertia__two_coordinates_apart_are_two_filters(void **state)
{
    (void)state;
    double one[STEPS + 1], other[STEPS + 1], y[2 * STEPS], next[2 * STEPS], reach[4] = {1e-4, 1e-4, 1e-4, 1e-4};
    const double both_noise[4] = {1e-4, 0, 0, 2e-4};
    path p;
    sk_inertia_pass pass;
    sock_model *both = wrap_fields(ctx, 4, two_forces, two_kicks, NULL);
    sock_model *alone = wrap_fields(ctx, 2, first_force, first_kick, NULL);
    oscillate(0.1, 4, one);
    oscillate(0.1, 5, other);
    path_init(&p, 0.1, one);
    run_filter(&p, alone, both_noise);
    for (size_t i = 0; i < STEPS; i++) {
        y[2 * i] = one[i], y[2 * i + 1] = other[i];
        next[2 * i] = one[i + 1], next[2 * i + 1] = other[i + 1];
    }
    const sk_series series = {2, STEPS, 1, p.first, y, next, p.h, {0}};
    const sk_inertia_spec spec = {.model = both, .noise = both_noise, .reach = reach};
    assert_int_equal(sk_inertia_pass_new(ctx, &series, true, &pass), SOCK_OK);
    assert_int_equal(sk_inertia(ctx, &series, &spec, &pass), SOCK_OK);
    for (size_t i = 1; i < STEPS; i++) {
        assert_close(pass.e[2 * i], p.pass.e[i], 1e-9, 1);
        assert_close(pass.s[4 * i], p.pass.s[i], 1e-9, 1e-6);
        assert_close(pass.s[4 * i + 1], 0, 1e-15, 1);
        assert_close(pass.carry[4 * i + 1], 0.1, 1e-15, 1); /* kinematic rows */
    }
    sk_inertia_pass_clear(&pass);
    sk_inertia_pass_clear(&p.pass);
    sock_model_free(both);
    sock_model_free(alone);
}

/* With gains of any size innovations are sums of the errors of single observations, and their covariances of all lags
 * can be added up one by one. (At the best gains all lags are 0, whatever the rows of lag 2 say.) */
static void test_inertia__noise_rows_are_covariances_at_any_gain(void **state)
{
    (void)state;
    enum { N = 8 };
    unsigned char begins[N] = {1};
    double h[N], carry[4 * N], onward[6 * N] = {0}, gain[2 * N], row[SK_LIFT_LAGS * N], e[N][N + 1] = {{0}};
    double x[N + 1] = {0}, v[N + 1] = {0}; /* what is wrong in the state, for each error of an observation */
    for (size_t i = 0; i < N; i++) {
        const double u = (double)i, own[] = {1 - 0.03 * u, 0.2 + 0.01 * u, -0.3 + 0.05 * u, 0.9 - 0.02 * u};
        h[i] = 0.2 + 0.01 * u;
        memcpy(carry + 4 * i, own, sizeof own);
        gain[2 * i] = 0.4 + 0.05 * u;
        gain[2 * i + 1] = 2 - 0.3 * u;
    }
    x[1] = -1, v[1] = -1 / h[0], v[0] = 1 / h[0];
    for (size_t i = 1; i < N; i++)
        for (size_t r = 0; r <= N; r++) {
            const double *c = carry + 4 * i, x_new = c[0] * x[r] + c[1] * v[r], v_new = c[2] * x[r] + c[3] * v[r];
            e[i][r] = x_new + (r == i + 1);
            x[r] = x_new - gain[2 * i] * e[i][r];
            v[r] = v_new - gain[2 * i + 1] * e[i][r];
        }
    const sk_lift lift = {N, begins, h, carry, onward, gain};
    assert_int_equal(sk_lift_noise(ctx, &lift, SK_LIFT_LAGS, row), SOCK_OK);
    for (size_t l = 0; l < SK_LIFT_LAGS; l++)
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t r = 0; i > l && r <= N; r++) sum += e[i][r] * e[i - l][r];
            assert_close(row[l * N + i], sum, 1e-12, 1);
        }
}

/* ---- The filter as it is written, in plain loops: two coordinates that have to do with each other ---- */

enum { D = 2, W = 4, RUNS = 4, ROWS = 11 };

static void coupled_force(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++, x += W, f += W) {
        f[0] = x[2], f[1] = x[3];
        f[2] = -1.2 * x[0] + 0.4 * x[1] - 0.5 * x[2] + 0.3 * x[3] - 0.1 * x[0] * x[0] * x[0];
        f[3] = 0.7 * x[0] - 2 * x[1] + 0.2 * x[2] - 0.2 * x[3] * x[3] * x[3];
    }
}

static void coupled_kicks(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++, x += W, a += W * W) {
        memset(a, 0, W * W * sizeof *a);
        a[10] = 0.8 + 0.3 * x[0] * x[0];
        a[11] = a[14] = 0.2 + 0.1 * x[3];
        a[15] = 0.5 + 0.2 * x[1] * x[2] + 0.3 * x[1] * x[1] + 0.3 * x[2] * x[2];
    }
}

/* What stands for one step. */
typedef struct plain_step {
    double node[3][W][W], f[3][D], a[3][D * D];
    double end[W], cov[W][W], e[D], s[D][D], gain[W][D], term;
} plain_step;

typedef struct plain_filter {
    const sk_inertia_spec *spec;
    double m[W], p[W][W];
} plain_filter;

/* F and a, averaged over the points about z; they stay in node. */
static void plain_mean(const plain_filter *k, const double *z, const double *root, double (*node)[W], double *f,
                       double *a)
{
    memset(f, 0, D * sizeof *f);
    if (a) memset(a, 0, D * D * sizeof *a);
    for (size_t q = 0; q < W; q++) {
        double *x = node[q], fx[W], ax[W * W];
        memcpy(x, z, W * sizeof *x);
        for (size_t l = 0; l < D; l++) x[D + l] += (q < D ? 1 : -1) * sqrt(D) * root[l * D + q % D];
        for (size_t l = 0; l < W; l++) x[l] = fmin(fmax(x[l], k->spec->low[l]), k->spec->high[l]);
        coupled_force(NULL, 1, W, x, fx);
        coupled_kicks(NULL, 1, W, x, ax);
        for (size_t l = 0; l < D; l++) f[l] += fx[D + l] / W;
        for (size_t l = 0; a && l < D * D; l++) a[l] += ax[(D + l / D) * W + D + l % D] / W;
    }
}

/* The root of P_vv + t a. */
static void plain_root(const plain_filter *k, double t, const double *a, double *root)
{
    const double c0 = k->p[2][2] + t * a[0], c1 = k->p[3][2] + t * a[2], c2 = k->p[3][3] + t * a[3];
    root[0] = sqrt(c0), root[1] = 0, root[2] = c1 / root[0], root[3] = sqrt(c2 - root[2] * root[2]);
}

/* exp(t J), J about z. */
static void plain_exponential(const plain_filter *k, const double *z, double t, double out[W][W])
{
    double j[W][W] = {{0}}, power[W][W] = {{0}}, next[W][W], up[W], down[W], x[W];
    for (size_t l = 0; l < W; l++) {
        for (int side = 0; side < 2; side++) {
            memcpy(x, z, sizeof x);
            x[l] += side ? -k->spec->reach[l] : k->spec->reach[l];
            for (size_t i = 0; i < W; i++) x[i] = fmin(fmax(x[i], k->spec->low[i]), k->spec->high[i]);
            coupled_force(NULL, 1, W, x, side ? down : up);
        }
        for (size_t i = 0; i < D; i++) j[D + i][l] = (up[D + i] - down[D + i]) / (2 * k->spec->reach[l]);
        power[l][l] = 1;
    }
    j[0][2] = j[1][3] = 1;
    memcpy(out, power, sizeof power);
    for (int n = 1; n < 30; n++) {
        for (size_t a = 0; a < W * W; a++) {
            next[a / W][a % W] = 0;
            for (size_t b = 0; b < W; b++) next[a / W][a % W] += power[a / W][b] * j[b][a % W] * t / n;
        }
        memcpy(power, next, sizeof power);
        for (size_t a = 0; a < W * W; a++) out[a / W][a % W] += power[a / W][a % W];
    }
}

/* The mean at the end, and the middle of the step. */
static void plain_mean_path(const plain_filter *k, double h, plain_step *o, double *middle, double *root)
{
    double rate[4][D], z[3][W], node[W][W];
    plain_root(k, 0, o->a[0], root);
    plain_mean(k, k->m, root, node, rate[0], o->a[0]);
    for (size_t n = 0; n < 3; n++) {
        const double share = n < 2 ? h / 2 : h;
        for (size_t l = 0; l < D; l++) {
            z[n][l] = k->m[l] + share * (n ? z[n - 1][D + l] : k->m[D + l]);
            z[n][D + l] = k->m[D + l] + share * rate[n][l];
        }
        plain_mean(k, z[n], root, node, rate[n + 1], NULL);
    }
    for (size_t l = 0; l < D; l++) {
        o->end[l] = k->m[l] + h / 6 * (k->m[D + l] + 2 * z[0][D + l] + 2 * z[1][D + l] + z[2][D + l]);
        o->end[D + l] = k->m[D + l] + h / 6 * (rate[0][l] + 2 * rate[1][l] + 2 * rate[2][l] + rate[3][l]);
    }
    memcpy(middle, z[1], sizeof z[1]);
}

static void plain_predict(const plain_filter *k, double h, plain_step *o)
{
    double middle[W], root[3][D * D], whole[W][W], half[W][W];
    plain_mean_path(k, h, o, middle, root[0]);
    plain_mean(k, k->m, root[0], o->node[0], o->f[0], o->a[0]);
    plain_root(k, h / 2, o->a[0], root[1]);
    plain_mean(k, middle, root[1], o->node[1], o->f[1], o->a[1]);
    plain_root(k, h, o->a[0], root[2]);
    plain_mean(k, o->end, root[2], o->node[2], o->f[2], o->a[2]);
    plain_exponential(k, middle, h, whole);
    plain_exponential(k, middle, h / 2, half);
    for (size_t r = 0; r < W; r++)
        for (size_t s = 0; s < W; s++) {
            double sum = 0;
            for (size_t i = 0; i < W * W; i++) sum += whole[r][i / W] * k->p[i / W][i % W] * whole[s][i % W];
            for (size_t i = 0; i < D * D; i++) {
                const size_t u = i / D, v = i % D;
                sum += h / 6 * whole[r][D + u] * o->a[0][i] * whole[s][D + v];
                sum += 4 * h / 6 * half[r][D + u] * o->a[1][i] * half[s][D + v];
                sum += h / 6 * (r == D + u) * o->a[2][i] * (s == D + v);
            }
            o->cov[r][s] = sum;
        }
}

/* The observation y: e, S, gain, density, and the law after it. */
static void plain_observe(plain_filter *k, const double *y, plain_step *o)
{
    const double zero[D * D] = {0}, *noise = k->spec->noise ? k->spec->noise : zero;
    double inverse[D][D], quadratic = 0, left[W][W];
    for (size_t i = 0; i < D * D; i++) o->s[i / D][i % D] = o->cov[i / D][i % D] + noise[i];
    const double det = o->s[0][0] * o->s[1][1] - o->s[0][1] * o->s[1][0];
    inverse[0][0] = o->s[1][1] / det, inverse[1][1] = o->s[0][0] / det;
    inverse[0][1] = inverse[1][0] = -o->s[0][1] / det;
    for (size_t l = 0; l < D; l++) o->e[l] = y[l] - o->end[l];
    for (size_t i = 0; i < D * D; i++) quadratic += o->e[i / D] * inverse[i / D][i % D] * o->e[i % D];
    o->term = fmax(-1000, -log(2 * 3.14159265358979324) - 0.5 * log(det) - 0.5 * quadratic);
    for (size_t r = 0; r < W; r++) {
        for (size_t l = 0; l < D; l++) o->gain[r][l] = o->cov[r][0] * inverse[0][l] + o->cov[r][1] * inverse[1][l];
        k->m[r] = o->end[r] + o->gain[r][0] * o->e[0] + o->gain[r][1] * o->e[1];
        for (size_t s = 0; s < W; s++) left[r][s] = (r == s) - (s < D ? o->gain[r][s % D] : 0);
    }
    for (size_t l = 0; l < D; l++) { /* no further than three widths of the box from its middle */
        const double wide = k->spec->high[l] - k->spec->low[l], middle = (k->spec->high[l] + k->spec->low[l]) / 2;
        k->m[l] = fmin(fmax(k->m[l], middle - 3 * wide), middle + 3 * wide);
    }
    for (size_t r = 0; r < W; r++)
        for (size_t s = 0; s < W; s++) {
            double sum = 0;
            for (size_t i = 0; i < W * W; i++) sum += left[r][i / W] * o->cov[i / W][i % W] * left[s][i % W];
            for (size_t i = 0; i < D * D; i++) sum += o->gain[r][i / D] * noise[i] * o->gain[s][i % D];
            k->p[r][s] = sum;
        }
}

/* Two points: the velocity is their difference and what the force has done to it. */
static void plain_start(plain_filter *k, const double *y, const double *next, double h, plain_step *o)
{
    const double zero[D * D] = {0}, *r = k->spec->noise ? k->spec->noise : zero;
    double node[W][W], f[D];
    for (size_t l = 0; l < D; l++) k->m[l] = next[l], k->m[D + l] = (next[l] - y[l]) / h;
    plain_mean(k, k->m, zero, node, f, NULL);
    for (size_t l = 0; l < D; l++) k->m[D + l] += h / 2 * f[l];
    for (size_t t = 0; t < 3; t++) plain_mean(k, k->m, zero, o->node[t], o->f[t], o->a[t]);
    for (size_t i = 0; i < D * D; i++) {
        const size_t u = i / D, v = i % D;
        k->p[u][v] = r[i];
        k->p[u][D + v] = k->p[D + u][v] = r[i] / h;
        k->p[D + u][D + v] = o->a[0][i] * h / 3 + 2 * r[i] / (h * h);
    }
}

static void assert_alike(size_t count, const double *one, const double *other)
{
    for (size_t i = 0; i < count; i++) assert_close(one[i], other[i], 1e-7, 1);
}

static void assert_step(const sk_inertia_pass *pass, size_t i, double h, bool begins, const plain_filter *k,
                        const plain_step *o)
{
    const double carry[] = {1, h, 0, 1}, onward[] = {h, 1, h / 2, 1, 0, 1};
    assert_int_equal(pass->begins[i], begins);
    assert_int_equal(pass->lost[i], 0);
    assert_alike(3 * W * W, pass->node + i * 3 * W * W, &o->node[0][0][0]);
    assert_alike(3 * D, pass->f + i * 3 * D, &o->f[0][0]);
    assert_alike(3 * D * D, pass->a + i * 3 * D * D, &o->a[0][0]);
    assert_alike(W, pass->m + i * W, k->m);
    assert_alike(4, pass->carry + 4 * i, carry);
    assert_alike(6, pass->onward + 6 * i, onward);
    for (size_t l = 0; l < D; l++)
        assert_close(pass->gain[2 * i + l], (o->gain[D * l][0] + o->gain[D * l + 1][1]) / 2, 1e-8, 1);
    assert_close(pass->term[i], o->term, 1e-7, 1);
    if (begins) return;
    assert_alike(D, pass->e + i * D, o->e);
    assert_alike(D * D, pass->s + i * D * D, &o->s[0][0]);
}

/* Runs of different lengths, one without a step, steps that are not alike, a full R and none; in the last, narrow, box
 * the model is looked at on its walls and a position is brought back. */
static void test_inertia__two_coordinates_as_it_is_written(void **state)
{
    (void)state;
    static const size_t first[RUNS + 1] = {0, 6, 6, 10, 11};
    double y[D * ROWS], next[D * ROWS], h[ROWS], reach[] = {1e-3, 2e-3, 1.5e-3, 2.5e-3};
    const double noise[] = {2e-3, 5e-4, 5e-4, 1e-3}, low[] = {-9, -9, -20, -20}, high[] = {9, 9, 20, 20};
    const double inner[] = {-0.1, -0.15, -0.8, -0.9}, outer[] = {0.15, 0.1, 0.7, 1};
    for (size_t i = 0; i < ROWS; i++) {
        const bool begins = i == 0 || i == 6 || i == 10;
        for (size_t l = 0; l < D; l++) {
            y[D * i + l] = begins ? 0.2 * cos((double)(i + l)) : next[D * (i - 1) + l];
            next[D * i + l] = y[D * i + l] + 0.15 * sin((double)(2 * i + 3 * l)) + (i == 4);
        }
        h[i] = 0.15 + 0.03 * (double)(i % 4);
    }
    const sk_series series = {D, ROWS, RUNS, first, y, next, h, {0}};
    sock_model *model = wrap_fields(ctx, W, coupled_force, coupled_kicks, NULL);
    for (int turn = 0; turn < 3; turn++) {
        const sk_inertia_spec spec = {.model = model,
                                      .noise = turn ? noise : NULL,
                                      .reach = reach,
                                      .low = turn < 2 ? low : inner,
                                      .high = turn < 2 ? high : outer};
        sk_inertia_pass pass;
        plain_filter k = {.spec = &spec};
        assert_int_equal(sk_inertia_pass_new(ctx, &series, true, &pass), SOCK_OK);
        assert_int_equal(sk_inertia(ctx, &series, &spec, &pass), SOCK_OK);
        for (size_t i = 0; i < ROWS; i++) {
            const bool begins = i == 0 || i == 6 || i == 10;
            plain_step o = {.term = 0};
            if (begins) {
                plain_start(&k, y + D * i, next + D * i, h[i], &o);
            } else {
                plain_predict(&k, h[i], &o);
                plain_observe(&k, next + D * i, &o);
            }
            assert_step(&pass, i, h[i], begins, &k, &o);
        }
        sk_inertia_pass_clear(&pass);
    }
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inertia__free_motion_has_the_gain_and_variance_of_closed_form),
        cmocka_unit_test(test_inertia__a_linear_force_has_the_exact_law_to_fourth_order),
        cmocka_unit_test(test_inertia__smoothed_states_are_those_of_the_joint_law),
        cmocka_unit_test(test_inertia__short_trajectories_are_smoothed),
        cmocka_unit_test(test_inertia__rows_are_derivatives_of_the_prediction),
        cmocka_unit_test(test_inertia__rows_of_the_spread_give_its_variance_and_no_lags),
        cmocka_unit_test(test_inertia__noise_rows_are_covariances_at_any_gain),
        cmocka_unit_test(test_inertia__a_law_that_is_lost_begins_again),
        cmocka_unit_test(test_inertia__two_coordinates_apart_are_two_filters),
        cmocka_unit_test(test_inertia__two_coordinates_as_it_is_written),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
