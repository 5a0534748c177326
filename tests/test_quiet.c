/* test_quiet.c - states without noise of their own: who they are, and that a is exactly zero there. */
#include "onecontext.h"
#include "tune/quiet.h"

#include <jansson.h>

enum { PATHS = 12, POINTS = 101, INNER = 10 };

typedef struct world {
    double own;  /* noise of x itself */
    double unit; /* x is rounded to multiples of it; 0: not */
    double h;
} world;

/* dx = v dt + own dW, dv = (-x - v/2) dt + 0.7 dW, dc = dt; three states, the last a clock. */
static sock_data *oscillator(const world *w)
{
    size_t length[PATHS], n = (size_t)PATHS * POINTS;
    double *t = calloc(n, sizeof *t), *state = calloc(3 * n, sizeof *state), x = 0, v = 0, z[2];
    for (size_t i = 0; i < n; i++) {
        length[i / POINTS] = POINTS;
        t[i] = w->h * (double)(i % POINTS);
        if (i % POINTS == 0) x = cos((double)i), v = sin((double)i);
        state[3 * i] = w->unit > 0 ? w->unit * rint(x / w->unit) : x;
        state[3 * i + 1] = v;
        state[3 * i + 2] = t[i] + (double)(i / POINTS);
        for (size_t j = 0; j < INNER; j++) {
            const double s = w->h / INNER, before = v;
            sk_normals((sk_key){31, SK_PURPOSE_TEST}, i * INNER + j, 0, 0, 2, z);
            v += s * (-x - 0.5 * v) + sqrt(s) * 0.7 * z[0];
            x += s * 0.5 * (before + v) + sqrt(s) * w->own * z[1];
        }
    }
    static const char *const names[] = {"x", "v", "clock"};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, 3, PATHS, length, t, state, names, NULL, NULL, &data), SOCK_OK);
    free(t), free(state);
    return data;
}

static sock_model *fit_with(const sock_data *data, const char *drift, json_t **info)
{
    sock_options *opts = sock_options_new(ctx);
    sock_model *model = NULL;
    char *text = NULL;
    sock_options_set(ctx, opts, "drift", drift);
    sock_options_set(ctx, opts, "diffusion", "constant");
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sock_model_info(ctx, model, &text), SOCK_OK);
    *info = json_loads(text, 0, NULL);
    sock_string_free(text);
    sock_options_free(opts);
    return model;
}

static sock_model *fit(const sock_data *data, json_t **info) { return fit_with(data, "affine", info); }

/* Which states the record calls quiet, as a string of their names. */
static const char *quiet_of(json_t *info)
{
    static char names[64];
    json_t *list = json_object_get(info, "quiet");
    names[0] = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        strcat(names, i ? "," : "");
        strcat(names, json_string_value(json_array_get(list, i)));
    }
    return names;
}

static void test_quiet__zero_to_the_last_digit(void **state)
{
    (void)state;
    json_t *info = NULL;
    sock_data *data = oscillator(&(world){.h = 0.02});
    sock_model *model = fit(data, &info);
    const double at[] = {0.3, -0.4, 5};
    double a[9], sigma[9];
    assert_string_equal(quiet_of(info), "x,clock");
    assert_int_equal(sock_model_diffusion(ctx, model, 1, at, a), SOCK_OK);
    assert_int_equal(sock_model_sigma(ctx, model, 1, at, sigma), SOCK_OK);
    for (size_t k = 0; k < 9; k++) {
        if (k == 4) continue;
        assert_true(a[k] == 0);
        assert_true(sigma[k] == 0);
    }
    assert_close(a[4], 0.49, 0.1, 0);
    json_t *floor = json_object_get(info, "floor");
    assert_true(json_number_value(json_array_get(floor, 0)) == 0 && json_number_value(json_array_get(floor, 2)) == 0);
    sock_scores scores;
    assert_int_equal(sock_score(ctx, model, data, NULL, NULL, NULL, &scores), SOCK_PARTIAL);
    assert_true(!scores.loglik.valid);
    assert_non_null(strstr(scores.loglik.reason, "x has no noise of its own"));
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data);
}

/* Bands of a and sigma are zero where a is, to the last digit, in every draw too; those of f are not, and hold dx = v
 * dt.
 */
static void test_quiet__bands_are_zero_too(void **state)
{
    (void)state;
    json_t *info = NULL;
    sock_data *data = oscillator(&(world){.h = 0.02});
    sock_model *model = fit(data, &info), *draw = NULL;
    const double at[] = {0.3, -0.4, 5};
    double f[6], a[18], sigma[18], drawn[9];
    assert_int_equal(
        sock_model_bands(
            ctx, model, 1, at, 0.9,
            &(sock_bands){
                .f_low = f, .f_high = f + 3, .a_low = a, .a_high = a + 9, .sigma_low = sigma, .sigma_high = sigma + 9}),
        SOCK_OK);
    for (size_t i = 0; i < 18; i++)
        if (i % 9 != 4) assert_true(a[i] == 0 && sigma[i] == 0);
    assert_true(a[4] < 0.49 && a[13] > 0.49 && sigma[4] < 0.7 && sigma[13] > 0.7);
    for (size_t k = 0; k < 2; k++) assert_true(isfinite(f[k]) && isfinite(f[3 + k]) && f[k] < f[3 + k]);
    assert_true(f[0] < -0.4 && f[3] > -0.4 && f[3] - f[0] < 0.1);
    assert_true(f[2] == 1 && f[5] == 1);
    assert_int_equal(sock_model_draw(ctx, model, 1, 0, &draw), SOCK_OK);
    assert_int_equal(sock_model_diffusion(ctx, draw, 1, at, drawn), SOCK_OK);
    for (size_t i = 0; i < 9; i++) assert_true((drawn[i] == 0) == (i != 4));
    json_decref(info);
    sock_model_free(model), sock_model_free(draw);
    sock_data_free(data);
}

/* f of a clock is its rate in every kernel, in draws and after a file; that of the others is what it was, which knows
 * of the clock. */
static void test_quiet__a_clock_moves_at_its_rate(void **state)
{
    (void)state;
    static const char *const drifts[] = {"affine", "gauss:eta=4", "auto"};
    sock_data *data = oscillator(&(world){.h = 0.02});
    const double at[] = {0.3, -0.4, 5, -0.2, 0.1, 77};
    double f[6], drawn[6];
    for (size_t i = 0; i < sizeof drifts / sizeof *drifts; i++) {
        json_t *info = NULL;
        sock_model *model = fit_with(data, drifts[i], &info), *draw = NULL, *again = NULL;
        assert_string_equal(json_string_value(json_array_get(json_object_get(info, "clock"), 0)), "dclock/dt = 1");
        assert_int_equal(json_array_size(json_object_get(info, "clock")), 1);
        assert_int_equal(sock_model_drift(ctx, model, 2, at, f), SOCK_OK);
        assert_true(f[2] == 1 && f[5] == 1);
        assert_close(f[0], -0.4, 0.05, 1);
        for (uint64_t number = 0; number < 4; number++) {
            assert_int_equal(sock_model_draw(ctx, model, 1, number, &draw), SOCK_OK);
            assert_int_equal(sock_model_drift(ctx, draw, 2, at, drawn), SOCK_OK);
            assert_true(drawn[2] == 1 && drawn[5] == 1 && drawn[0] != f[0]);
            sock_model_free(draw);
        }
        assert_int_equal(sock_model_save(ctx, model, "clock.sock"), SOCK_OK);
        assert_int_equal(sock_model_load(ctx, "clock.sock", &again), SOCK_OK);
        remove("clock.sock");
        assert_int_equal(sock_model_drift(ctx, again, 2, at, drawn), SOCK_OK);
        assert_memory_equal(f, drawn, sizeof f);
        json_decref(info);
        sock_model_free(model), sock_model_free(again);
    }
    sock_data_free(data);
}

/* Rounding and long steps do not make noise; a hundredth of the noise of v does. */
static void test_quiet__who_is(void **state)
{
    (void)state;
    static const struct {
        world w;
        const char *quiet;
    } cases[] = {{{.h = 0.1}, "x,clock"},
                 {{.h = 0.02, .unit = 1e-3}, "x,clock"},
                 {{.h = 0.02, .own = 0.05}, "clock"},
                 {{.h = 0.02, .own = 0.7}, "clock"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *info = NULL;
        sock_data *data = oscillator(&cases[i].w);
        sock_model *model = fit(data, &info);
        if (strcmp(quiet_of(info), cases[i].quiet) != 0)
            fail_msg("case %zu: '%s', not '%s'", i, quiet_of(info), cases[i].quiet);
        json_decref(info);
        sock_model_free(model);
        sock_data_free(data);
    }
}

static void test_quiet__rule(void **state)
{
    (void)state;
    sk_quiet_squares s = {.residual = 2.5, .passed_on = 2, .increment = 0, .apart = 1.75};
    assert_true(sk_is_quiet(&s));
    s.apart = 1.7500001; /* 3/4 of 2 should go, half of that must */
    assert_false(sk_is_quiet(&s));
    s.apart = 0.5;
    s.residual *= 1 + 1e-9;
    assert_false(sk_is_quiet(&s));
    s.increment = 1;
    assert_true(sk_is_quiet(&s));
    s = (sk_quiet_squares){.residual = 1.0000001e-6, .increment = 1};
    assert_false(sk_is_quiet(&s));
    s.grain = 1e-4; /* a third of its square is twice what two roundings make */
    assert_false(sk_is_quiet(&s));
    s.pairs = 5;
    s.next = -0.2500001e-6;
    assert_true(sk_is_quiet(&s));
    s.next = -0.2499999e-6;
    assert_false(sk_is_quiet(&s));
    s.next = -0.5e-6;
    s.pairs = 4;
    assert_false(sk_is_quiet(&s));
    s.pairs = 5;
    assert_true(sk_is_quiet(&s));
    assert_true(sk_is_quiet(&(sk_quiet_squares){0})); /* it never moves */
}

/* ---- The measure itself, on steps made for it ---- */

enum { D = 3, STEPS = 15 };

/* f_k = sum_l j_kl x_l + bend x_k^2, a the same everywhere. */
typedef struct field {
    double j[D * D], a[D * D], bend;
} field;

static void field_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    const field *w = user;
    for (size_t i = 0; i < count * d; i++) {
        f[i] = w->bend * x[i] * x[i];
        for (size_t l = 0; l < d; l++) f[i] += w->j[i % d * d + l] * x[i / d * d + l];
    }
}

static void field_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)x;
    for (size_t i = 0; i < count; i++) memcpy(a + i * d * d, ((field *)user)->a, d * d * sizeof *a);
}

/* One step of Runge and Kutta. */
static void ahead(field *w, const double *x, double h, double *next)
{
    double k[4][D], y[D];
    for (int stage = 0; stage < 4; stage++) {
        for (size_t l = 0; l < D; l++) y[l] = x[l] + (stage == 0 ? 0 : stage == 3 ? h : h / 2) * k[(stage + 3) % 4][l];
        field_drift(w, 1, D, stage ? y : x, k[stage]);
    }
    for (size_t l = 0; l < D; l++) next[l] = x[l] + h / 6 * (k[0][l] + 2 * k[1][l] + 2 * k[2][l] + k[3][l]);
}

/* int_0^h r a r' ds, r row k of exp(J s) to third order, without k and the states that are quiet. */
static double noise_of_others(const field *w, const double *x, double h, size_t k, const bool *quiet)
{
    enum { NODES = 400 };
    double j[D * D], power[3][D], sum = 0;
    for (size_t i = 0; i < D * D; i++) j[i] = w->j[i] + (i % (D + 1) ? 0 : 2 * w->bend * x[i / D]);
    for (size_t l = 0; l < D; l++) power[0][l] = j[k * D + l];
    for (int p = 1; p < 3; p++)
        for (size_t l = 0; l < D; l++)
            power[p][l] = power[p - 1][0] * j[l] + power[p - 1][1] * j[D + l] + power[p - 1][2] * j[2 * D + l];
    for (int q = 0; q < NODES; q++) {
        const double s = h * (q + 0.5) / NODES;
        double r[D];
        for (size_t l = 0; l < D; l++)
            r[l] = l == k || quiet[l] ? 0 : power[0][l] * s + power[1][l] * s * s / 2 + power[2][l] * s * s * s / 6;
        for (size_t i = 0; i < D * D; i++) sum += r[i / D] * w->a[i] * r[i % D] * h / NODES;
    }
    return sum;
}

typedef struct ask {
    field w;
    double grain;         /* of the tested state */
    double excess;        /* its residuals, as a multiple of what is allowed */
    size_t tested, clock; /* clock: its residuals are 0; D: there is none */
    bool known[D];        /* who is quiet when the tested state is looked at for the last time */
    size_t steps;
    bool wild; /* one more step, far off, that is passed over */
} ask;

/* Residuals of the others that say all of `e`, that of the tested state: (h / 2) sum_l J_kl e_l = e. */
static void say_before(const ask *q, double h, double e, double *next)
{
    double square = 0;
    for (size_t l = 0; l < D; l++)
        if (l != q->tested && l != q->clock) square += pow(q->w.j[q->tested * D + l], 2);
    for (size_t l = 0; l < D; l++) {
        if (l == q->tested) next[l] += e;
        if (l != q->tested && l != q->clock) next[l] += e * q->w.j[q->tested * D + l] / (h / 2 * square);
    }
}

/* Whether the tested state is told. Trajectories of one and of two steps. */
static bool is_told(const ask *q)
{
    field w = q->w;
    size_t length[STEPS + 1], steps = 0, paths = 0, points = 0;
    double t[2 * STEPS + 4], x[(2 * STEPS + 4) * D], size = 0;
    bool skip[2 * STEPS + 4] = {0}, found;
    for (int turn = 0; turn < 40; turn++) { /* the second steps begin where the first ended: a fixed point */
        double allowed = 0;
        steps = paths = points = 0;
        while (steps < q->steps) {
            const size_t inner = SK_MIN(1 + paths % 2, q->steps - steps);
            length[paths++] = inner + 1;
            for (size_t l = 0; l < D; l++) x[points * D + l] = sin((double)(3 * paths + 5 * l));
            t[points] = 0;
            for (size_t i = 0; i < inner; i++, points++, steps++) {
                const double h = 0.1 + 0.01 * (double)(steps % 7), *y = x + points * D;
                double *next = x + (points + 1) * D;
                t[points + 1] = t[points] + h;
                ahead(&w, y, h, next);
                say_before(q, h, steps % 2 ? -size : size, next);
                allowed += (1.25 * noise_of_others(&w, y, h, q->tested, q->known) +
                            1e-6 * pow(next[q->tested] - y[q->tested], 2) + q->grain * q->grain / 3) /
                           (double)q->steps;
            }
            points++;
        }
        size = sqrt(q->excess * allowed);
    }
    if (q->wild) {
        length[paths++] = 2;
        skip[points] = true;
        for (size_t l = 0; l < D; l++) x[points * D + l] = 0.1, x[(points + 1) * D + l] = 50;
        t[points] = 0, t[points + 1] = 0.3;
    }
    sock_data *data = NULL;
    sock_model *model = NULL;
    double grain[D] = {0}, floor[D] = {1, 1, 1};
    sk_tune_outcome told = {.floor = {D, floor}, .grain = {q->grain > 0 ? D : 0, grain}};
    grain[q->tested] = q->grain;
    assert_int_equal(sock_data_from_arrays(ctx, D, paths, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_model_wrap(ctx, D, NULL, field_drift, field_diffusion, &w, &model), SOCK_OK);
    assert_int_equal(sk_silence(ctx, model, data, q->wild ? skip : NULL, &told), SOCK_OK);
    found = told.quiet && told.quiet[q->tested];
    for (size_t l = 0; l < D; l++) assert_int_equal(floor[l] == 0, told.quiet && told.quiet[l]);
    if (q->clock < D && q->steps >= STEPS) assert_true(told.quiet && told.quiet[q->clock]);
    sk_free(told.quiet);
    sock_model_free(model);
    sock_data_free(data);
    return found;
}

/* A tenth of a thousandth more or less than is allowed decides: every weight of the step, of the law of the noise and
 * of the allowances is in it. */
static void prop_the_threshold_is_sharp(void **state)
{
    (void)state;
    const field full = {
        {-0.5, 1.1, 0.7, -1.2, 0.4, 0.9, 0.6, -0.8, -0.3}, {1, 0.2, 0.1, 0.2, 0.8, 0.3, 0.1, 0.3, 1.4}, 0.15};
    field diagonal = full, torn = full;
    for (size_t i = 0; i < D * D; i++) diagonal.a[i] = i % (D + 1) ? 0 : full.a[i];
    torn.a[5] = torn.a[7] = -1; /* the noises of 1 and 2 all but cancel in what they do to 0 */
    const ask cases[] = {{.w = full, .clock = D},
                         {.w = full, .clock = D, .tested = 2},
                         {.w = diagonal, .clock = D, .tested = 1},
                         {.w = full, .clock = D, .grain = 0.4},
                         {.w = full, .clock = D, .wild = true},
                         {.w = full, .clock = 0, .tested = 1, .known = {true}},
                         {.w = torn, .clock = 2, .known = {false, false, true}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask q = cases[i];
        q.steps = STEPS;
        for (int side = 0; side < 2; side++) {
            q.excess = side ? 1 + 2e-4 : 1 - 2e-4;
            if (is_told(&q) == (side == 1)) fail_msg("case %zu, %g", i, q.excess);
        }
    }
    ask few = cases[0];
    few.steps = STEPS - 1;
    few.excess = 0.5;
    assert_false(is_told(&few));
}

static void rest(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)x;
    memset(f, 0, count * d * sizeof *f);
}

static void unit(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count * d; i++) a[i / d * d * d + i % d * (d + 1)] = 1;
}

/* Long data are looked at in every so many-th pair of steps: others may do what they like. */
static void test_quiet__a_part_of_the_steps_stands_for_all(void **state)
{
    (void)state;
    static const struct {
        size_t d, steps, every;
    } cases[] = {{2, 39999, 1}, {2, 40000, 2}, {40, 623, 1}, {40, 624, 2}, {60, 399, 1}, {60, 400, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const size_t d = cases[c].d, points = cases[c].steps + 1, length[1] = {points};
        double *t = calloc(points, sizeof *t), *x = calloc(points * d, sizeof *x);
        for (size_t i = 0; i < points; i++) {
            t[i] = (double)i;
            for (size_t k = 1; k < d; k++) x[i * d + k] = (double)(i * i % 7);
            x[i * d] = i > 2 ? 1 : 0; /* it moves in the third step alone */
        }
        sock_data *data = NULL;
        sock_model *model = NULL;
        sk_tune_outcome told = {0};
        assert_int_equal(sock_data_from_arrays(ctx, d, 1, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
        assert_int_equal(sock_model_wrap(ctx, d, NULL, rest, unit, NULL, &model), SOCK_OK);
        assert_int_equal(sk_silence(ctx, model, data, NULL, &told), SOCK_OK);
        assert_int_equal(told.quiet && told.quiet[0], cases[c].every == 2);
        sk_free(told.quiet);
        sock_model_free(model), sock_data_free(data);
        free(t), free(x);
    }
}

/* ---- States with noise, which look quiet to sums of squares ---- */

enum { DAYS = 120 };

/* dx = j x dt + a^(1/2) dW over steps of a day, and of eleven now and then; `jumps`: the last state is a whole number
 * that goes up or down by one at random, in one step of seven. */
static bool is_silenced(field *w, uint64_t seed, bool jumps, double gap)
{
    const size_t length[1] = {DAYS};
    double t[DAYS] = {0}, x[DAYS * D] = {0}, z[D + 1], floor[D] = {1, 1, 1}, grain[D] = {0, 0, 1};
    for (size_t i = 1; i < DAYS; i++) {
        const double h = i % 20 == 7 ? gap : 1, *before = x + (i - 1) * D;
        double y[D], rate[D];
        t[i] = t[i - 1] + h;
        memcpy(y, before, sizeof y);
        for (int inner = 0; inner < 100; inner++) {
            sk_normals((sk_key){seed, SK_PURPOSE_TEST}, i * 100 + (size_t)inner, 0, 0, D, z);
            field_drift(w, 1, D, y, rate);
            for (size_t l = 0; l < D; l++) y[l] += h / 100 * rate[l] + sqrt(h / 100 * w->a[l * (D + 1)]) * z[l];
        }
        memcpy(x + i * D, y, sizeof y);
        sk_normals((sk_key){seed + 1, SK_PURPOSE_TEST}, i, 0, 0, 2, z);
        if (jumps) x[i * D + 2] = before[2] + (fabs(z[0]) > 1.48 ? copysign(1, z[1]) : 0);
    }
    sk_tune_outcome told = {.floor = {D, floor}, .grain = {jumps ? D : 0, grain}};
    sock_data *data = NULL;
    sock_model *model = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, D, 1, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    assert_int_equal(sock_model_wrap(ctx, D, NULL, field_drift, field_diffusion, w, &model), SOCK_OK);
    assert_int_equal(sk_silence(ctx, model, data, NULL, &told), SOCK_OK);
    const bool found = told.quiet;
    sk_free(told.quiet);
    sock_model_free(model), sock_data_free(data);
    return found;
}

/* Noise of its own is never taken away: not after gaps, over which flows of third order and single steps of the drift
 * run off, not from whole numbers that seldom change. */
static void prop_noise_is_kept(void **state)
{
    (void)state;
    field pulled = {{-1.3, 0.4, -0.1, -0.6, -1, -0.7, 0.3, -0.5, -0.9}, {300, 0, 0, 0, 80, 0, 0, 0, 10}, 0};
    field coupled = {{-0.1, 0.3, 0, 0, -0.2, 0.3, 0, 0, -0.1}, {0.1, 0, 0, 0, 0.4, 0, 0, 0, 0.15}, 0};
    for (uint64_t seed = 3400; seed < 3430; seed++) {
        assert_false(is_silenced(&pulled, seed, false, 1));
        assert_false(is_silenced(&pulled, seed, false, 11));
        assert_false(is_silenced(&coupled, seed, false, 1));
        assert_false(is_silenced(&coupled, seed, true, 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_noise_is_kept),
        cmocka_unit_test(test_quiet__zero_to_the_last_digit),
        cmocka_unit_test(test_quiet__bands_are_zero_too),
        cmocka_unit_test(test_quiet__a_clock_moves_at_its_rate),
        cmocka_unit_test(test_quiet__who_is),
        cmocka_unit_test(test_quiet__rule),
        cmocka_unit_test(prop_the_threshold_is_sharp),
        cmocka_unit_test(test_quiet__a_part_of_the_steps_stands_for_all),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
