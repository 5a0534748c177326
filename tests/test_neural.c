/* test_neural.c - the neural rivals from the inside: layers, the four fields, the path and the loss, each against a
 * slow computation from its formula, and every gradient against central differences. */
#include "compare/neural/batch.h"
#include "onecontext.h"

enum { D = 2, H = 5, L = 2, ROWS = 3, STEPS = 4, MOST = 2000 };

/* Numbers of their own for each stream. */
static void draw(uint64_t stream, size_t count, double *out)
{
    sk_normals((sk_key){70, SK_PURPOSE_TEST}, stream, 0, 0, count, out);
}

/* ---- Layers ---- */

static void slow_linear(const nn_linear *l, const double *theta, const double *x, double *y)
{
    const double *w = theta + l->at;
    for (size_t o = 0; o < l->out; o++) {
        y[o] = w[l->in * l->out + o];
        for (size_t i = 0; i < l->in; i++) y[o] += x[i] * w[i * l->out + o];
    }
}

static double slow_lipswish(double u) { return 0.909 * u / (1 + exp(-u)); }

static void slow_chain(const nn_chain *c, const double *theta, const double *x, double *y)
{
    double in[4 * H], out[4 * H];
    memcpy(in, x, c->layer[0].in * sizeof *x);
    for (size_t j = 0; j < c->count; j++) {
        slow_linear(&c->layer[j], theta, in, out);
        for (size_t i = 0; i < c->layer[j].out; i++) in[i] = c->curved[j] ? slow_lipswish(out[i]) : out[i];
    }
    memcpy(y, in, c->layer[c->count - 1].out * sizeof *y);
}

static void test_layers__lipswish_and_its_slope(void **state)
{
    (void)state;
    const double u[7] = {-800, -3, -0.1, 0, 0.2, 4, 800};
    double x[7], slope[7];
    memcpy(x, u, sizeof u);
    nn_lipswish(7, x, slope);
    for (size_t i = 0; i < 7; i++) {
        assert_close(x[i], u[i] < -700 ? 0 : slow_lipswish(u[i]), 1e-14, 1e-300);
        assert_close(slope[i], (slow_lipswish(u[i] + 1e-5) - slow_lipswish(u[i] - 1e-5)) / 2e-5, 1e-9, 1);
    }
    assert_close(slope[3], 0.909 / 2, 1e-15, 0);
}

/* The start is uniform on +-1/sqrt(in): within the bounds, with their mean and spread. */
static void test_layers__start_is_uniform(void **state)
{
    (void)state;
    enum { IN = 49, OUT = 40, COUNT = (IN + 1) * OUT };
    static double theta[COUNT];
    size_t size = 0;
    double mean = 0, square = 0;
    nn_linear layer = nn_linear_place(IN, OUT, &size);
    assert_int_equal(size, COUNT);
    nn_linear_start(&layer, (sk_key){5, SK_PURPOSE_NEURAL}, theta);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(fabs(theta[i]) < 1.0 / 7);
        mean += theta[i] / COUNT;
        square += theta[i] * theta[i] / COUNT;
    }
    assert_true(fabs(mean) < 4 * (1.0 / 7) / sqrt(3.0 * COUNT));
    assert_close(square, 1.0 / (3 * 49), 0.1, 0);
}

/* Adam written out from its paper, for one parameter. */
static void test_adam__is_the_recursion(void **state)
{
    (void)state;
    double mean[1] = {0}, square[1] = {0}, theta[1] = {2}, m = 0, v = 0, expected = 2;
    nn_adam adam = {.rate = 0.1, .count = 1, .mean = mean, .square = square};
    for (int t = 1; t <= 5; t++) {
        const double g = 3 - t * t;
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        expected -= 0.1 * (m / (1 - pow(0.9, t))) / (sqrt(v / (1 - pow(0.999, t))) + 1e-8);
        nn_adam_step(&adam, &g, theta);
        assert_close(theta[0], expected, 1e-14, 0);
    }
}

/* ---- The network's clock ---- */

static void test_series__times_and_places(void **state)
{
    (void)state;
    const double t[3] = {10, 11, 14};
    double s[3];
    nn_network_times(NN_TIMES_UNIT, 8, 3, t, s);
    assert_true(s[0] == 0 && s[1] == 0.5 && s[2] == 1);
    nn_network_times(NN_TIMES_OWN, 8, 3, t, s);
    assert_true(s[0] == 0 && s[1] == 0.125 && s[2] == 0.5);
    assert_int_equal(nn_steps_until(1, 0.05), 20);
    assert_int_equal(nn_steps_until(1.01, 0.05), 21);
    assert_int_equal(nn_steps_until(0, 0.05), 1);
    for (int i = 0; i <= 100; i++) { /* the place gives the time back, within the nodes there are */
        nn_place p = nn_place_of(0.01 * i, 0.05, 20);
        assert_true(p.node < 20 && p.weight > -1e-12 && p.weight < 1 + 1e-12);
        assert_close(0.05 * ((double)p.node + p.weight), 0.01 * i, 1e-14, 1);
    }
}

/* Through the points, with the slope of the interval before each, and smooth; a line stays a line. */
static void test_series__spline(void **state)
{
    (void)state;
    enum { N = 5 };
    const double s[N] = {0, 0.1, 0.35, 0.6, 1}, e = 1e-6;
    double y[2 * N], x[3], before[3], after[3];
    draw(1, N, y);
    for (size_t i = N; i-- > 0;) y[2 * i] = y[i], y[2 * i + 1] = 3 - 2 * s[i]; /* noise, and a line */
    for (size_t i = 0; i < N; i++) {
        nn_spline(2, N, s, y, 1, &s[i], 3, x);
        assert_close(x[0], s[i], 0, 0);
        assert_close(x[1], y[2 * i], 1e-14, 1);
        if (i == 0 || i + 1 == N) continue;
        const double around[2] = {s[i] - e, s[i] + e}, slope = (y[2 * i] - y[2 * i - 2]) / (s[i] - s[i - 1]);
        nn_spline(2, N, s, y, 1, &around[0], 3, before);
        nn_spline(2, N, s, y, 1, &around[1], 3, after);
        assert_close((x[1] - before[1]) / e, slope, 1e-3, 1);
        assert_close((after[1] - x[1]) / e, slope, 1e-3, 1);
    }
    for (double at = 0; at <= 1; at += 0.07) {
        nn_spline(2, N, s, y, 1, &at, 3, x);
        assert_close(x[2], 3 - 2 * at, 1e-14, 1);
    }
}

/* ---- Fields ---- */

typedef struct bench {
    nn_net net;
    nn_pass pass;
    double theta[MOST], gradient[MOST], *space;
} bench;

static void bench_make(nn_kind kind, nn_control control, bench *b)
{
    nn_net_make(kind, control, D, H, L, &b->net);
    assert_true(b->net.parameters <= MOST);
    nn_net_start(&b->net, 3, b->theta);
    b->space = calloc(nn_pass_space(&b->net, ROWS, STEPS), sizeof *b->space);
    nn_pass_lay(ctx, &b->net, ROWS, STEPS, b->space, &b->pass);
    b->pass.theta = b->theta;
    b->pass.step = 0.2;
    memset(b->gradient, 0, sizeof b->gradient);
    draw(2, ROWS * (D + 1), b->pass.x0);
    draw(3, ROWS * STEPS * H, b->pass.noise);
    if (b->net.controlled) draw(4, ROWS * STEPS * (D + 1), b->pass.control);
}

/* f and g at one point, from the formulas of latent.h. */
static void slow_fields(const bench *b, double t, const double *z, const double *X, double *f, double *g)
{
    const nn_net *n = &b->net;
    double in[2 * H + 1], tz[H + 1], left[H], c[H];
    tz[0] = t;
    memcpy(tz + 1, z, H * sizeof *z);
    memcpy(left, z, sizeof left);
    if (n->controlled && n->kind != NN_LSDE) slow_linear(&n->time_state, b->theta, tz, left);
    memcpy(in, n->controlled || n->kind == NN_LSDE ? left : tz,
           (n->controlled ? H : n->drift.layer[0].in) * sizeof *in);
    if (n->controlled) slow_linear(&n->control, b->theta, X, in + H);
    slow_chain(&n->drift, b->theta, in, c);
    for (size_t i = 0; i < H && n->kind == NN_GSDE; i++) c[i] *= z[i];
    if (n->kind == NN_GSDE)
        slow_linear(&n->gate, b->theta, c, f);
    else
        memcpy(f, c, sizeof c);
    slow_chain(&n->diffusion, b->theta, n->kind == NN_SDE ? tz : &t, g);
    for (size_t i = 0; i < H && (n->kind == NN_LNSDE || n->kind == NN_GSDE); i++) g[i] *= z[i];
}

static void set_states(bench *b)
{
    draw(5, (STEPS + 1) * ROWS * (H + 1), b->pass.state);
    for (size_t k = 0; k <= STEPS; k++)
        for (size_t r = 0; r < ROWS; r++) b->pass.state[(k * ROWS + r) * (H + 1)] = 0.2 * (double)k;
}

/* Calls fn for each kind, without control and with it. */
static void for_each_net(void (*fn)(bench *b))
{
    static bench b;
    for (int kind = 0; kind < NN_KINDS; kind++)
        for (int controlled = 0; controlled < 2; controlled++) {
            bench_make((nn_kind)kind, controlled ? NN_CONTROL_PATH : NN_CONTROL_NONE, &b);
            fn(&b);
            free(b.space);
        }
}

static void fields_are_their_formulas(bench *b)
{
    nn_pass *p = &b->pass;
    double f[H], g[H];
    set_states(b);
    nn_fields_begin(p);
    for (size_t k = 0; k < STEPS; k++) {
        nn_fields_at(p, k);
        for (size_t r = 0; r < ROWS; r++) {
            const double *s = p->state + (k * ROWS + r) * (H + 1);
            slow_fields(b, s[0], s + 1, p->control + (k * ROWS + r) * (D + 1), f, g);
            assert_all_close(H, p->f + r * H, f, 1e-13);
            assert_all_close(H, p->g + r * H, g, 1e-13);
        }
    }
}

static void test_fields__are_their_formulas(void **state)
{
    (void)state;
    for_each_net(fields_are_their_formulas);
}

/* A linear function of all f and g, with random weights. */
static double field_functional(bench *b, const double *cf, const double *cg)
{
    double sum = 0;
    nn_fields_begin(&b->pass);
    for (size_t k = 0; k < STEPS; k++) {
        nn_fields_at(&b->pass, k);
        for (size_t i = 0; i < ROWS * H; i++)
            sum += cf[k * ROWS * H + i] * b->pass.f[i] + cg[k * ROWS * H + i] * b->pass.g[i];
    }
    return sum;
}

static double central_difference(bench *b, double *x, const double *cf, const double *cg)
{
    const double kept = *x, e = 1e-5;
    *x = kept + e;
    double up = field_functional(b, cf, cg);
    *x = kept - e;
    double down = field_functional(b, cf, cg);
    *x = kept;
    return (up - down) / (2 * e);
}

static void fields_have_their_gradient(bench *b)
{
    enum { N = STEPS * ROWS * H };
    double cf[N], cg[N], dz[N], expected[MOST], expected_dz[N];
    nn_pass *p = &b->pass;
    set_states(b);
    draw(6, N, cf);
    draw(7, N, cg);
    field_functional(b, cf, cg);
    for (size_t k = 0; k < STEPS; k++) {
        nn_fields_slots(p, k);
        memcpy(p->df, cf + k * ROWS * H, ROWS * H * sizeof *cf);
        memcpy(p->dg, cg + k * ROWS * H, ROWS * H * sizeof *cg);
        memset(p->dz, 0, ROWS * H * sizeof *dz);
        nn_fields_back(p, k);
        memcpy(dz + k * ROWS * H, p->dz, ROWS * H * sizeof *dz);
    }
    nn_fields_gradient(p, b->gradient);
    for (size_t i = 0; i < b->net.parameters; i++) expected[i] = central_difference(b, &b->theta[i], cf, cg);
    for (size_t i = 0; i < N; i++)
        expected_dz[i] = central_difference(b, &p->state[i / H * (H + 1) + 1 + i % H], cf, cg);
    assert_all_close(b->net.parameters, b->gradient, expected, 1e-8);
    assert_all_close(N, dz, expected_dz, 1e-8);
}

static void prop_fields__gradient_is_the_central_difference(void **state)
{
    (void)state;
    for_each_net(fields_have_their_gradient);
}

/* ---- The path ---- */

static void path_is_euler_maruyama(bench *b)
{
    const nn_pass *p = &b->pass;
    double z[H], f[H], g[H], y[D];
    nn_path_forward(&b->pass);
    for (size_t r = 0; r < ROWS; r++) {
        slow_linear(&b->net.encoder, b->theta, p->x0 + r * (D + 1), z);
        for (size_t k = 0; k <= STEPS; k++) {
            slow_linear(&b->net.readout, b->theta, z, y);
            assert_all_close(D, p->yhat + (k * ROWS + r) * D, y, 1e-13);
            if (k == STEPS) break;
            slow_fields(b, 0.2 * (double)k, z, p->control + (k * ROWS + r) * (D + 1), f, g);
            for (size_t i = 0; i < H; i++) z[i] += 0.2 * f[i] + sqrt(0.2) * g[i] * p->noise[(r * STEPS + k) * H + i];
        }
    }
}

static void test_path__is_euler_maruyama(void **state)
{
    (void)state;
    for_each_net(path_is_euler_maruyama);
}

/* ---- The loss ---- */

/* Eleven trajectories (two pieces, one of them not full) of several lengths, with irregular times. */
static sock_data *irregular_data(void)
{
    enum { COUNT = 11 };
    size_t length[COUNT], points = 0;
    double t[COUNT * 8], x[COUNT * 8 * D];
    sock_data *data = NULL;
    for (size_t j = 0; j < COUNT; j++) {
        length[j] = 2 + j % 5;
        for (size_t i = 0; i < length[j]; i++) t[points++] = (double)j + 0.3 * (double)i + 0.02 * (double)(i * i);
    }
    draw(8, points * D, x);
    assert_true(sock_data_from_arrays(ctx, D, COUNT, length, t, x, NULL, NULL, NULL, &data) >= 0);
    return data;
}

typedef struct loss_bench {
    nn_settings settings;
    nn_net net;
    nn_series series;
    nn_batch batch;
    double theta[MOST], gradient[2 * MOST], loss[2], *space;
    size_t member[11];
} loss_bench;

static void loss_make(const sock_data *data, nn_kind kind, nn_control control, nn_times times, loss_bench *b)
{
    b->settings = nn_default_settings(kind);
    b->settings.control = control;
    b->settings.times = times;
    b->settings.step = 0.25;
    b->settings.width = H;
    nn_net_make(kind, control, D, H, 1, &b->net);
    nn_net_start(&b->net, 8, b->theta);
    assert_int_equal(nn_series_make(ctx, &b->settings, b->net.controlled, data, &b->series), SOCK_OK);
    b->space = calloc(2 * nn_pass_space(&b->net, NN_PIECE, b->series.steps), sizeof *b->space);
    for (size_t i = 0; i < 11; i++) b->member[i] = (7 * i + 3) % 11;
    b->batch =
        (nn_batch){ctx, &b->settings, &b->net, &b->series, 11, b->member, 5, b->space, b->gradient, b->loss, b->theta};
}

static void loss_free(loss_bench *b)
{
    nn_series_clear(&b->series);
    free(b->space);
}

/* The path of one trajectory alone, by its stream of noise; yhat at a time by interpolation between the nodes. */
static double slow_loss(const sock_data *data, const loss_bench *b)
{
    enum { MOST_STEPS = 8 };
    double sum = 0, space[20000], s[8];
    size_t points = 0;
    for (size_t j = 0; j < 11; j++) {
        const double *t, *y;
        nn_pass p;
        const size_t n = sock_data_trajectory(data, j, &t, &y), steps = b->series.steps;
        assert_true(nn_pass_space(&b->net, 1, steps) <= 20000 && steps <= MOST_STEPS);
        nn_pass_lay(ctx, &b->net, 1, steps, space, &p);
        p.theta = b->theta;
        p.step = 0.25;
        p.x0[0] = 0;
        memcpy(p.x0 + 1, y, D * sizeof *y);
        sk_normals((sk_key){b->settings.seed, SK_PURPOSE_NEURAL}, 2, (uint64_t)5 << 32 | j, 0, steps * H, p.noise);
        nn_network_times(b->settings.times, b->series.span, n, t, s);
        for (size_t k = 0; k < steps && b->net.controlled; k++) {
            double time = 0.25 * (double)k, seen = fmin(time, s[n - 1]), *x = p.control + k * (D + 1);
            nn_spline(D, n, s, y, 1, &seen, D + 1, x);
            x[0] = time;
            if (b->settings.control == NN_CONTROL_START) memcpy(x + 1, y, D * sizeof *y);
        }
        nn_path_forward(&p);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < D; k++) {
                size_t node = (size_t)fmin(floor(s[i] / 0.25), (double)(steps - 1));
                double w = (s[i] - 0.25 * (double)node) / 0.25;
                double value = p.yhat[node * D + k] + w * (p.yhat[(node + 1) * D + k] - p.yhat[node * D + k]);
                sum += pow(value - y[i * D + k], 2);
            }
        points += n;
    }
    return sum / (double)(points * D);
}

static void test_loss__is_the_mean_squared_error_of_one_path_each(void **state)
{
    (void)state;
    static loss_bench b;
    sock_data *data = irregular_data();
    for (int kind = 0; kind < NN_KINDS; kind++)
        for (int control = 0; control < 3; control++)
            for (int times = 0; times < 2; times++) {
                loss_make(data, (nn_kind)kind, (nn_control)control, (nn_times)times, &b);
                assert_int_equal(nn_batch_run(&b.batch), SOCK_OK);
                assert_close(b.loss[0], slow_loss(data, &b), 1e-12, 0);
                loss_free(&b);
            }
    sock_data_free(data);
}

static double loss_at(loss_bench *b, size_t i, double value)
{
    const double kept = b->theta[i];
    b->theta[i] = value;
    assert_int_equal(nn_batch_run(&b->batch), SOCK_OK);
    b->theta[i] = kept;
    return b->loss[0];
}

static void prop_loss__gradient_is_the_central_difference(void **state)
{
    (void)state;
    static loss_bench b;
    static double gradient[MOST], expected[MOST];
    sock_data *data = irregular_data();
    assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
    for (int kind = 0; kind < NN_KINDS; kind++)
        for (int control = 0; control < 3; control += 2) {
            loss_make(data, (nn_kind)kind, (nn_control)control, NN_TIMES_OWN, &b);
            assert_int_equal(nn_batch_run(&b.batch), SOCK_OK);
            memcpy(gradient, b.gradient, sizeof gradient);
            for (size_t i = 0; i < b.net.parameters; i++) {
                const double e = 1e-5, x = b.theta[i];
                expected[i] = (loss_at(&b, i, x + e) - loss_at(&b, i, x - e)) / (2 * e);
            }
            assert_all_close(b.net.parameters, gradient, expected, 1e-8);
            loss_free(&b);
        }
    sock_data_free(data);
}

/* ---- Sizes ---- */

/* The published models with d = 1, H = 32, L = 1, their X(t) among them; and what is left without it. */
static void test_counts__are_those_of_the_original(void **state)
{
    (void)state;
    const size_t controlled[NN_KINDS] = {7585, 7649, 8737, 8737}, free_of_it[NN_KINDS] = {7585, 6529, 7617, 7617};
    for (int kind = 0; kind < NN_KINDS; kind++) {
        nn_settings s = nn_default_settings((nn_kind)kind);
        assert_int_equal(nn_parameter_count(&s, 1), free_of_it[kind]);
        s.control = NN_CONTROL_START;
        assert_int_equal(nn_parameter_count(&s, 1), controlled[kind]);
        s.control = NN_CONTROL_PATH;
        assert_int_equal(nn_parameter_count(&s, 1), controlled[kind]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers__lipswish_and_its_slope),
        cmocka_unit_test(test_layers__start_is_uniform),
        cmocka_unit_test(test_adam__is_the_recursion),
        cmocka_unit_test(test_series__times_and_places),
        cmocka_unit_test(test_series__spline),
        cmocka_unit_test(test_fields__are_their_formulas),
        cmocka_unit_test(prop_fields__gradient_is_the_central_difference),
        cmocka_unit_test(test_path__is_euler_maruyama),
        cmocka_unit_test(test_loss__is_the_mean_squared_error_of_one_path_each),
        cmocka_unit_test(prop_loss__gradient_is_the_central_difference),
        cmocka_unit_test(test_counts__are_those_of_the_original),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
