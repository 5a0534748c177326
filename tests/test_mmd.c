/* test_mmd.c - the path kernel's scale, the statistic and its mean over a test set: oracle and slow sums. */
#include "onecontext.h"
#include "oracle.h"
#include "score/score.h"
#include "truths.h"

#include <time.h>

/* Squared L2 distance, written out interval by interval. */
static double slow_distance2(size_t times, size_t d, const double *t, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < times; i++)
        for (size_t end = i; end <= i + 1; end++)
            for (size_t k = 0; k < d; k++) sum += (t[i + 1] - t[i]) / 2 * pow(x[end * d + k] - y[end * d + k], 2);
    return sum;
}

static double slow_mean(const sk_samples *s, int a, int b)
{
    double sum = 0;
    for (size_t i = 0; i < s->paths[a]; i++)
        for (size_t j = 0; j < s->paths[b]; j++)
            sum += exp(-slow_distance2(s->times, s->d, s->t, s->path[a][i], s->path[b][j]) / s->eta);
    return sum / (double)(s->paths[a] * s->paths[b]);
}

static double slow_mmd2(const sk_samples *s)
{
    return slow_mean(s, 0, 0) + slow_mean(s, 1, 1) - 2 * slow_mean(s, 0, 1);
}

static double fast_mmd2(const sk_samples *s)
{
    double *space = calloc(sk_mmd_space(s), sizeof *space);
    double value = sk_mmd2(ctx, s, space);
    free(space);
    return value;
}

static void pointers(const sock_data *data, const double **out)
{
    const double *t;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) sock_data_trajectory(data, j, &t, &out[j]);
}

static void test_mmd__oracle(void **state)
{
    (void)state;
    json_t *root = oracle_load("mmd.json");
    sock_data *train = read_data(ctx, "mmd_train.csv", "group", "x0,x1");
    sock_data *test = read_data(ctx, "mmd_test.csv", "group", "x0,x1");
    sock_data *model = read_data(ctx, "mmd_model.csv", "group", "x0,x1");
    const double *first[16], *second[16], *t, *x;
    double eta = 0;
    size_t pairs = 0, count;
    assert_int_equal(sk_mmd_eta(ctx, train, &eta, &pairs), SOCK_OK);
    assert_int_equal(pairs, 10);
    assert_close(eta, json_number_value(json_object_get(root, "eta_median")), 1e-12, 0);
    sock_data_trajectory(test, 0, &t, &x);
    pointers(model, first);
    pointers(test, second);
    sk_samples s = {5, 2, t, eta, {sock_data_trajectories(model), sock_data_trajectories(test)}, {first, second}};
    double *distances = oracle_numbers(root, "l2sq_model_test", &count);
    assert_int_equal(count, s.paths[0] * s.paths[1]);
    for (size_t i = 0; i < count; i++) /* the slow distance of this file is the oracle's */
        assert_close(slow_distance2(5, 2, t, first[i / s.paths[1]], second[i % s.paths[1]]), distances[i], 1e-12, 0);
    assert_close(fast_mmd2(&s), json_number_value(json_object_get(root, "mmd2_biased")), 1e-12, 0);
    free(distances);
    sock_data_free(model);
    sock_data_free(test);
    sock_data_free(train);
    json_decref(root);
}

/* Several panels of rows, paths far from the origin (cancellation), irregular times. */
static void prop_mmd__statistic_is_the_slow_sum(void **state)
{
    (void)state;
    enum { P = 150, M = 3, T = 7, D = 2 };
    static double x[(P + M) * T * D];
    const double *first[P], *second[M], t[T] = {0, 0.1, 0.15, 0.5, 0.6, 1.7, 2};
    for (int offset = 0; offset <= 1000; offset += 1000) {
        sk_normals((sk_key){2, SK_PURPOSE_TEST}, 0, 0, 0, (P + M) * T * D, x);
        for (size_t i = 0; i < (P + M) * T * D; i++) x[i] = 0.7 * x[i] + offset;
        for (size_t i = 0; i < P; i++) first[i] = x + i * T * D;
        for (size_t i = 0; i < M; i++) second[i] = x + (P + i) * T * D;
        sk_samples s = {T, D, t, 3.5, {P, M}, {first, second}}, self = {T, D, t, 3.5, {P, P}, {first, first}};
        assert_close(fast_mmd2(&s), slow_mmd2(&s), 1e-12, 0);
        assert_close(fast_mmd2(&self), 0, 1e-13, 1); /* a sample against itself */
    }
}

/* A lost path: its kernel with the others is 0, with itself 1. P = 2 of which one is lost, one test path at distance 0
 * of the other: (1 + 1)/4 + 1 - 2 (1 + 0)/2 = 1/2. */
static void test_mmd__a_lost_path_is_infinitely_far(void **state)
{
    (void)state;
    const double t[2] = {0, 1}, good[2] = {0.3, 0.4}, lost[2] = {0.3, NAN}, huge[2] = {0.3, 1e160};
    const double *far[2] = {lost, huge};
    for (size_t i = 0; i < 2; i++) {
        const double *first[2] = {good, far[i]}, *second[1] = {good};
        sk_samples s = {2, 1, t, 1, {2, 1}, {first, second}};
        assert_close(fast_mmd2(&s), 0.5, 1e-15, 0);
    }
}

/* Large, but with finite squares: as far as they are. */
static void test_mmd__a_huge_path_is_not_lost_while_its_square_is_finite(void **state)
{
    (void)state;
    const double t[2] = {0, 1}, good[2] = {0.3, 0.4}, huge[2] = {0.3, 1e100}, *first[2] = {good, huge},
                 *second[1] = {good};
    sk_samples s = {2, 1, t, 1e200, {2, 1}, {first, second}};
    assert_close(fast_mmd2(&s), slow_mmd2(&s), 1e-12, 0);
    assert_true(slow_mmd2(&s) < 0.4); /* 1/2 (1 - exp(-1/2)), where a lost one has 1/2 */
}

static void test_grids__trapezoid_weights_integrate_lines(void **state)
{
    (void)state;
    const double t[4] = {-1, 0, 0.5, 3};
    double w[4], length = 0, line = 0;
    sk_trapezoid_weights(4, t, w);
    for (int i = 0; i < 4; i++) {
        length += w[i];
        line += w[i] * (2 * t[i] + 1);
    }
    assert_close(length, 4, 1e-15, 0);
    assert_close(line, (9 + 3) - (1 - 1), 1e-15, 0);
}

/* Grids are compared from the start; a point alone has no label; starts split a grid. */
static void test_grids__labels_by_grid_and_start(void **state)
{
    (void)state;
    const size_t length[5] = {3, 3, 1, 3, 2};
    const double t[12] = {0, 1, 2, 5, 6, 7, 0, 0, 1, 2.5, 0, 1};
    const double x[12] = {1, 2, 3, 9, 8, 7, 0, 1, 1, 1, 1, 5};
    size_t label[5], labels;
    sock_data *data = NULL;
    assert_true(sock_data_from_arrays(ctx, 1, 5, length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sk_label_trajectories(ctx, data, false, label, &labels), SOCK_OK);
    assert_int_equal(labels, 3);
    assert_true(label[0] == 0 && label[1] == 0 && label[2] == SIZE_MAX && label[3] == 1 && label[4] == 2);
    assert_int_equal(sk_label_trajectories(ctx, data, true, label, &labels), SOCK_OK);
    assert_int_equal(labels, 4);
    assert_true(label[0] == 0 && label[1] == 1 && label[2] == SIZE_MAX && label[3] == 2 && label[4] == 3);
    sock_data_free(data);
}

/* The slack of a span of 10^9 is 1, to the bit: up to that, and not beyond. */
static void test_grids__a_grid_may_be_off_by_its_slack(void **state)
{
    (void)state;
    const size_t length[4] = {2, 2, 2, 2};
    const double t[8] = {0, 1e9, 0, 1e9 + 1, 0, 1e9 + 1.5, 0, 1e9 - 1}, x[8] = {0};
    size_t label[4], labels;
    sock_data *data = NULL;
    assert_true(1e-9 * 1e9 == 1);
    assert_true(sock_data_from_arrays(ctx, 1, 4, length, t, x, NULL, NULL, NULL, &data) >= 0);
    assert_int_equal(sk_label_trajectories(ctx, data, false, label, &labels), SOCK_OK);
    assert_true(labels == 2 && label[0] == 0 && label[1] == 0 && label[2] == 1 && label[3] == 0);
    sock_data_free(data);
}

/* Labels by their definition: each trajectory against one of every label so far, the newest first. */
static size_t slow_labels(const sock_data *data, bool by_start, size_t *label)
{
    size_t found = 0, example[400];
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *s, *t, *x, *y;
        size_t length = sock_data_trajectory(data, j, &t, &y);
        label[j] = SIZE_MAX;
        if (length < 2) continue;
        for (size_t c = found; c-- > 0 && label[j] == SIZE_MAX;) {
            bool same = sock_data_trajectory(data, example[c], &s, &x) == length;
            for (size_t k = 0; same && k < length; k++)
                same = fabs((s[k] - s[0]) - (t[k] - t[0])) <= 1e-9 * (s[length - 1] - s[0]);
            for (size_t k = 0; same && by_start && k < 2; k++) same = x[k] == y[k];
            if (same) label[j] = c;
        }
        if (label[j] == SIZE_MAX) example[label[j] = found++] = j;
    }
    return found;
}

/* Few grids, moved in time and disturbed by less and by more than the slack; starts from a few, with both zeros. */
static void prop_grids__labels_are_those_of_the_definition(void **state)
{
    (void)state;
    enum { N = 400, LONGEST = 4 };
    static const double disturbed[] = {0, 3e-10, 7e-10, 1.3e-9, 2e-9, 1e-6}, starts[] = {0, -0.0, 1, -1};
    size_t length[N], label[N], wanted[N], found;
    double t[N * LONGEST], x[N * LONGEST * 2], u[4 * N];
    for (uint64_t seed = 0; seed < 20; seed++) {
        sock_data *data = NULL;
        size_t points = 0;
        sk_uniforms((sk_key){seed, SK_PURPOSE_TEST}, 0, 0, 0, 4 * (size_t)N, u);
        for (size_t j = 0; j < N; j++) {
            double span = pow(10, floor(40 * u[0]) - 20) * (1 + floor(3 * u[4 * j])),
                   shift = floor(3 * u[4 * j + 1]) * span;
            length[j] = 1 + (size_t)(LONGEST * u[4 * j + 2]);
            for (size_t k = 0; k < length[j]; k++, points++) {
                double place = (double)k + disturbed[(size_t)(6 * u[4 * j + 3])] * (double)(length[j] - 1) * (k > 0);
                t[points] = shift + span * place;
                x[2 * points] = starts[(points + j) % 4];
                x[2 * points + 1] = starts[j % 3];
            }
        }
        assert_true(sock_data_from_arrays(ctx, 2, N, length, t, x, NULL, NULL, NULL, &data) >= 0);
        for (int by_start = 0; by_start < 2; by_start++) {
            assert_int_equal(sk_label_trajectories(ctx, data, by_start, label, &found), SOCK_OK);
            assert_int_equal(found, slow_labels(data, by_start, wanted));
            assert_memory_equal(label, wanted, sizeof label);
        }
        sock_data_free(data);
    }
}

/* Processor time of labels and MMD where each of n trajectories has times of its own, all of one span. */
static double seconds_of_grids(const sock_model *model, size_t n)
{
    size_t *length = calloc(n, sizeof *length), *label = calloc(n, sizeof *label), found;
    double *t = calloc(3 * n, sizeof *t), *x = calloc(3 * n, sizeof *x);
    sock_data *data = NULL;
    sk_mmd_result result;
    for (size_t j = 0; j < n; j++) {
        length[j] = 3;
        t[3 * j + 1] = (double)(j + 1) / (double)(n + 1), t[3 * j + 2] = 1;
        x[3 * j + 1] = x[3 * j + 2] = (double)(j % 7);
    }
    assert_true(sock_data_from_arrays(ctx, 1, n, length, t, x, NULL, NULL, NULL, &data) >= 0);
    clock_t start = clock();
    assert_int_equal(sk_label_trajectories(ctx, data, false, label, &found), SOCK_OK);
    assert_int_equal(found, n);
    assert_int_equal(sk_mmd(ctx, model, data, &(sk_mmd_spec){.eta = 1, .paths = 1, .step = 1}, &result), SOCK_OK);
    assert_int_equal(result.starts, n);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    sock_data_free(data);
    free(length), free(label), free(t), free(x);
    return seconds;
}

/* 16 times the grids may take 16 times as long, or 64 times where caches are small and the machine is busy, but not the
 * 256 times of comparing all pairs. A ratio, since under Valgrind all of it is slow. */
static void test_mmd__time_grows_with_the_number_of_grids_not_its_square(void **state)
{
    (void)state;
    enum { FEW = 4000, TIMES = 16 };
    truth ou = truth_of(ctx, "ou");
    const int threads = sock_threads(ctx);
    assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK); /* new ones for each grid are what would take the time */
    seconds_of_grids(ou.model, FEW);                     /* the first one also fetches pages and code */
    const double few = seconds_of_grids(ou.model, FEW), many = seconds_of_grids(ou.model, TIMES * (size_t)FEW);
    assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
    if (many > 4 * TIMES * few) fail_msg("%d grids take %g s, %d times as many %g s", FEW, few, TIMES, many);
    truth_free(ou);
}

/* Medians of odd and even numbers of pairs, against a sort. */
static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void prop_mmd__eta_is_the_median_over_pairs(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 12; n++) {
        sys_instance *ou = NULL;
        sock_data *data = NULL;
        double distance[66], eta = 0;
        size_t count = 0, pairs = 0;
        assert_int_equal(sys_new(ctx, sys_find("ou"), n, &ou), SOCK_OK);
        ou->trajectories[SYS_TRAIN] = n;
        assert_int_equal(sys_generate(ctx, ou, SYS_TRAIN, &data), SOCK_OK);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++) {
                const double *t, *x, *y;
                sock_data_trajectory(data, i, &t, &x);
                size_t times = sock_data_trajectory(data, j, &t, &y);
                distance[count++] = slow_distance2(times, 1, t, x, y);
            }
        qsort(distance, count, sizeof *distance, ascending);
        assert_int_equal(sk_mmd_eta(ctx, data, &eta, &pairs), SOCK_OK);
        assert_int_equal(pairs, count);
        assert_close(eta, (distance[(count - 1) / 2] + distance[count / 2]) / 2, 1e-13, 0);
        sock_data_free(data);
        sys_free(ou);
    }
}

/* n trajectories of two points; four in a row share their times and the next four have others; every seventh is a
 * single point. */
static sock_data *many_grids(size_t n)
{
    size_t *length = calloc(n, sizeof *length), points = 0;
    double *t = calloc(2 * n, sizeof *t), *x = calloc(2 * n, sizeof *x);
    sock_data *data = NULL;
    for (size_t j = 0; j < n; j++) {
        length[j] = j % 7 == 6 ? 1 : 2;
        t[points] = (double)(j % 3);
        t[points + 1] = t[points] + 1 + (double)(j / 4);
        x[points] = sin(0.3 * (double)j), x[points + 1] = cos((double)(j * j % 101));
        points += length[j];
    }
    assert_true(sock_data_from_arrays(ctx, 1, n, length, t, x, NULL, NULL, NULL, &data) >= 0);
    free(length), free(t), free(x);
    return data;
}

/* Of the trajectories with two points 4000 are taken: number i (from 0) of u where a mark at a multiple of u / 4000
 * lies in (i, i + 1]. */
static void prop_mmd__eta_is_over_4000_trajectories_at_most(void **state)
{
    (void)state;
    static const size_t usable[] = {3999, 4000, 4001, 4500, 9000};
    for (size_t run = 0; run < sizeof usable / sizeof usable[0]; run++) {
        size_t n = 0, count = 0, taken = 0, pairs = 0, last[4] = {0}, u = usable[run];
        for (size_t two = 0; two < u; n++) two += n % 7 != 6;
        sock_data *data = many_grids(n);
        double *distance = calloc(4 * n, sizeof *distance), eta = 0;
        for (size_t j = 0, i = 0, group = 0, members = 0; j < n; j++) {
            if (j / 4 != group) group = j / 4, members = 0;
            if (j % 7 == 6) continue;
            const bool mark = u <= 4000 || floor((double)(i + 1) * 4000 / (double)u + 1e-9) >
                                               floor((double)i * 4000 / (double)u + 1e-9);
            i++;
            if (!mark) continue;
            const double *t, *x, *y;
            sock_data_trajectory(data, j, &t, &x);
            for (size_t m = 0; m < members; m++) {
                sock_data_trajectory(data, last[m], &t, &y);
                distance[count++] = slow_distance2(2, 1, t, x, y);
            }
            last[members++] = j;
            taken++;
        }
        assert_int_equal(taken, SK_MIN(u, (size_t)4000));
        qsort(distance, count, sizeof *distance, ascending);
        assert_int_equal(sk_mmd_eta(ctx, data, &eta, &pairs), SOCK_OK);
        assert_int_equal(pairs, count);
        assert_close(eta, (distance[(count - 1) / 2] + distance[count / 2]) / 2, 1e-12, 0);
        free(distance);
        sock_data_free(data);
    }
}

/* Through the front door: the mean over distinct starts, of paths that sock_simulate gives for the same seed. Two test
 * trajectories share a start and a grid, a third has another grid, a fourth is a single point. */
static void test_mmd__score_is_the_mean_over_distinct_starts(void **state)
{
    (void)state;
    enum { P = 30 };
    const size_t length[4] = {3, 4, 3, 1};
    const double t[11] = {0, 0.5, 1, 0, 0.1, 0.2, 0.3, 0, 0.5, 1, 0};
    const double x[11] = {1, 0.5, 0.7, 1, 0.9, 1.1, 0.8, 1, 0.2, -0.4, 3};
    truth ou = truth_of(ctx, "ou");
    sock_data *test = NULL, *train = NULL;
    sock_options *opts = sock_options_new(ctx);
    sock_scores s;
    double eta = 0, expected = 0, out[P * 4];
    size_t pairs;
    assert_true(sock_data_from_arrays(ctx, 1, 4, length, t, x, NULL, NULL, NULL, &test) >= 0);
    assert_int_equal(sys_generate(ctx, ou.instance, SYS_TRAIN, &train), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "30"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-step", "0.02"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "seed", "9"), SOCK_OK);
    assert_int_equal(sk_mmd_eta(ctx, train, &eta, &pairs), SOCK_OK);
    const double *test_path[2][2] = {{x, x + 7}, {x + 3, NULL}}, *model_path[P];
    for (size_t cell = 0; cell < 2; cell++) {
        sock_simulation spec = {.starts = 1, .x0 = x, .paths = P, .step = 0.02, .seed = 9, .first_start = cell};
        spec.times = cell ? 4 : 3;
        spec.t = cell ? t + 3 : t;
        assert_int_equal(sock_simulate(ctx, ou.model, &spec, out, NULL, NULL), SOCK_OK);
        for (size_t i = 0; i < P; i++) model_path[i] = out + i * spec.times;
        sk_samples samples = {spec.times, 1, spec.t, eta, {P, cell ? 1 : 2}, {model_path, test_path[cell]}};
        expected += slow_mmd2(&samples) / 2;
    }
    for (int threads = 1; threads <= 2; threads++) {
        assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
        assert_int_equal(sock_score(ctx, ou.model, test, train, ou.model, opts, &s), SOCK_OK);
        assert_int_equal(s.mmd_starts, 2);
        assert_close(s.mmd_eta, eta, 1e-15, 0);
        assert_close(s.mmd2.value, expected, 1e-12, 0);
        assert_true(s.mmd2_truth.valid && s.mmd2_truth.value == s.mmd2.value); /* the model is the truth */
    }
    sock_options_free(opts);
    sock_data_free(train);
    sock_data_free(test);
    truth_free(ou);
}

/* A path that blows up is counted, and the score stays a number; without a common grid there is no scale, and it says
 * so. */
static void explosive(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)d;
    for (size_t i = 0; i < count; i++) f[i] = 100 * x[i] * x[i];
}

static void test_mmd__lost_paths_and_missing_scales_are_told(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    sock_model *model = wrap_fields(ctx, 1, explosive, ou.instance->system->diffusion, ou.instance);
    sock_data *test = NULL, *train = NULL, *irregular = NULL;
    sock_options *opts = sock_options_new(ctx);
    const size_t length[2] = {2, 2};
    const double t[4] = {0, 1, 0, 2}, x[4] = {0, 0, 1, 1};
    sock_scores s;
    assert_int_equal(sys_generate(ctx, ou.instance, SYS_TEST, &test), SOCK_OK);
    assert_int_equal(sys_generate(ctx, ou.instance, SYS_TRAIN, &train), SOCK_OK);
    assert_true(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &irregular) >= 0);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "10"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-step", "0.01"), SOCK_OK);
    assert_int_equal(sock_score(ctx, model, test, train, NULL, opts, &s), SOCK_PARTIAL);
    assert_true(!s.loglik_moments.valid && s.loglik.valid); /* its moments are lost, too */
    assert_true(s.mmd2.valid && s.mmd_lost > 100 && s.mmd2.value > 0 && s.mmd2.value <= 2);
    assert_int_equal(sock_score(ctx, ou.model, test, irregular, NULL, opts, &s), SOCK_PARTIAL);
    assert_non_null(strstr(s.mmd2.reason, "share their times"));
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "0"), SOCK_OK);
    assert_int_equal(sock_score(ctx, ou.model, test, train, NULL, opts, &s), SOCK_OK);
    assert_false(s.mmd2.valid);
    sock_options_free(opts);
    sock_data_free(irregular);
    sock_data_free(train);
    sock_data_free(test);
    sock_model_free(model);
    truth_free(ou);
}

/* ---- Cells ---- */

enum { CELLS = 5, CELL_PATHS = 3 };

/* Two grids and three starts of two states: A1 B1 A2 (a point) B2 A1 A3 A1. The cells are A1 A2 A3 B1 B2. */
static const double grid_a[3] = {0, 0.5, 2}, grid_b[2] = {0, 1};
static const size_t cell_times[CELLS] = {3, 3, 3, 2, 2}, cell_start[CELLS] = {1, 2, 3, 1, 2};
static const size_t cell_members[CELLS] = {3, 1, 1, 1, 1}, cell_member[CELLS][3] = {{0, 5, 7}, {2}, {6}, {1}, {4}};

static sock_data *eight_trajectories(void)
{
    static const size_t length[8] = {3, 2, 3, 1, 2, 3, 3, 3}, start[8] = {1, 1, 2, 1, 2, 1, 3, 1};
    double t[20], x[40];
    size_t points = 0;
    sock_data *data = NULL;
    for (size_t j = 0; j < 8; j++)
        for (size_t i = 0; i < length[j]; i++, points++) {
            t[points] = (double)j + (length[j] == 3 ? grid_a[i] : grid_b[i]);
            x[2 * points] = (double)start[j] + sin((double)(i * (j + 1)));
            x[2 * points + 1] = -0.5 * (double)start[j] + sin((double)(2 * i * (j + 1)));
        }
    assert_true(sock_data_from_arrays(ctx, 2, 8, length, t, x, NULL, NULL, NULL, &data) >= 0);
    return data;
}

/* Path p of start number c at time t, in state k; the last paths of cells 1 and 4 are lost, at their end or begin. */
static double made_up(size_t c, size_t p, size_t i, size_t k, const double *x0, const double *t, size_t times)
{
    if (p == CELL_PATHS - 1 && k == 1 && ((c == 1 && i == times - 1) || (c == 4 && i == 0))) return (double)NAN;
    return x0[k] + sin((double)(c + 1) * (t[i] - t[0]) * (double)(p + 1 + k));
}

/* Asked for anything else it fails: other threads than the first cannot assert. */
static sock_status make_up(void *user, const sock_path_request *q, double *out)
{
    size_t *calls = user;
    const size_t c = q->start;
    if (c >= CELLS || q->seed != 77 || q->d != 2 || q->paths != CELL_PATHS || q->times != cell_times[c] ||
        q->members != cell_members[c] || memcmp(q->member, cell_member[c], q->members * sizeof *q->member) != 0 ||
        q->x0[0] != (double)cell_start[c] || q->x0[1] != -0.5 * (double)cell_start[c])
        return SOCK_EINPUT;
    for (size_t i = 0; i < q->times; i++)
        if (q->t[i] - q->t[0] != (q->times == 3 ? grid_a[i] : grid_b[i])) return SOCK_EINPUT;
    for (size_t p = 0; p < q->paths; p++)
        for (size_t i = 0; i < q->times; i++)
            for (size_t k = 0; k < 2; k++) out[(p * q->times + i) * 2 + k] = made_up(c, p, i, k, q->x0, q->t, q->times);
    calls[c]++;
    return SOCK_OK;
}

/* The kernel of a lost path with another one is 0, with itself 1. */
static double slow_cell(const sock_data *data, size_t c, double eta)
{
    double x[6][6] = {{0}}, sum = 0;
    const double *t = cell_times[c] == 3 ? grid_a : grid_b;
    const size_t rows = CELL_PATHS + cell_members[c], times = cell_times[c];
    const double x0[2] = {(double)cell_start[c], -0.5 * (double)cell_start[c]};
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < 2 * times; i++) {
            const double *own, *unused;
            if (r < CELL_PATHS) {
                x[r][i] = made_up(c, r, i / 2, i % 2, x0, t, times);
                continue;
            }
            sock_data_trajectory(data, cell_member[c][r - CELL_PATHS], &unused, &own);
            x[r][i] = own[i];
        }
    for (size_t r = 0; r < rows; r++)
        for (size_t q = 0; q < rows; q++) {
            const double v = (r < CELL_PATHS ? 1.0 / CELL_PATHS : -1 / (double)cell_members[c]) *
                             (q < CELL_PATHS ? 1.0 / CELL_PATHS : -1 / (double)cell_members[c]);
            const double distance = slow_distance2(times, 2, t, x[r], x[q]);
            sum += r == q ? v : isnan(distance) ? 0 : v * exp(-distance / eta);
        }
    return sum;
}

static void test_mmdcells__each_start_on_each_grid_is_asked_for_once(void **state)
{
    (void)state;
    sock_data *data = eight_trajectories();
    const sk_mmd_spec spec = {.eta = 2, .paths = CELL_PATHS, .seed = 77};
    for (int threads = 1; threads <= 2; threads++) {
        size_t calls[CELLS] = {0};
        double expected = 0;
        sk_mmd_result result;
        assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
        assert_int_equal(sk_mmd_of_paths(ctx, make_up, calls, data, &spec, &result), SOCK_OK);
        for (size_t c = 0; c < CELLS; c++) {
            assert_int_equal(calls[c], 1);
            expected += slow_cell(data, c, 2) / CELLS;
        }
        assert_true(result.starts == CELLS && result.lost == 2);
        assert_close(result.value, expected, 1e-13, 0);
    }
    sock_data_free(data);
}

static sock_status drifting_paths(void *user, const sock_path_request *q, double *out)
{
    (void)user;
    for (size_t i = 0; i < q->paths * q->times; i++)
        out[i] = q->x0[0] + (double)(i / q->times) * (q->t[i % q->times] - q->t[0]) * 0.01;
    return SOCK_OK;
}

/* So many starts that each thread has its share: bit for bit what one thread finds. */
static void prop_mmdcells__the_value_does_not_depend_on_threads(void **state)
{
    (void)state;
    enum { N = 4000 };
    static size_t length[N];
    static double t[2 * N], x[2 * N];
    sock_data *data = NULL;
    const sk_mmd_spec spec = {.eta = 0.1, .paths = 40};
    sk_mmd_result result[2];
    for (size_t j = 0; j < N; j++) {
        length[j] = 2;
        t[2 * j + 1] = 1;
        x[2 * j] = (double)j, x[2 * j + 1] = (double)j + sin((double)j);
    }
    assert_true(sock_data_from_arrays(ctx, 1, N, length, t, x, NULL, NULL, NULL, &data) >= 0);
    for (int threads = 1; threads <= 2; threads++) {
        assert_int_equal(sock_set_threads(ctx, threads), SOCK_OK);
        assert_int_equal(sk_mmd_of_paths(ctx, drifting_paths, NULL, data, &spec, &result[threads - 1]), SOCK_OK);
    }
    assert_true(result[0].starts == N && result[1].starts == N && result[0].value == result[1].value);
    sock_data_free(data);
}

static int count_simulations(void *user, const char *stage, double fraction)
{
    *(size_t *)user += strcmp(stage, "simulate") == 0 && fraction == 0;
    return 0;
}

static void still_field(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)x;
    memset(f, 0, count * d * sizeof *f);
}

/* A model simulates the starts of a grid in one go; what the simulation refuses is refused. */
static void test_mmdcells__a_model_is_simulated_once_for_each_grid(void **state)
{
    (void)state;
    sock_data *data = eight_trajectories();
    sock_model *model = wrap_fields(ctx, 2, still_field, NULL, NULL);
    const double low[2] = {1, -2}, high[2] = {2.5, 2};
    sk_mmd_spec spec = {.eta = 2, .paths = CELL_PATHS, .seed = 77, .step = 0.1};
    sk_mmd_result result;
    size_t simulations = 0;
    sock_set_monitor(ctx, count_simulations, &simulations);
    assert_int_equal(sk_mmd(ctx, model, data, &spec, &result), SOCK_OK);
    sock_set_monitor(ctx, NULL, NULL);
    assert_int_equal(simulations, 2);
    assert_true(result.starts == CELLS && result.lost == 0);
    spec.bounds = SOCK_BOUNDS_CLIP, spec.lower = low, spec.upper = high;
    assert_int_equal(sk_mmd(ctx, model, data, &spec, &result), SOCK_EUSAGE); /* the third start is at 3 */
    sock_model_free(model);
    sock_data_free(data);
}

/* ---- Paths from elsewhere ---- */

/* A source that asks the simulator for the same paths, and notes whose they are. */
typedef struct simulator {
    const sock_model *model;
    double step;
    size_t members;
    sock_status answer;
} simulator;

static sock_status simulated(void *user, const sock_path_request *q, double *out)
{
    simulator *s = user;
    sock_context *own = sock_context_new();
    sock_simulation spec = {.starts = 1,
                            .x0 = q->x0,
                            .paths = q->paths,
                            .times = q->times,
                            .t = q->t,
                            .step = s->step,
                            .seed = q->seed,
                            .first_start = q->start};
    sock_status status = sock_simulate(own, s->model, &spec, out, NULL, NULL);
    s->members += q->members;
    sock_context_free(own);
    return s->answer < 0 ? s->answer : status;
}

/* The same paths have the same score, whoever made them; bounds are kept; a path that is lost counts as lost. */
static void test_score_paths__is_the_score_of_the_model_with_these_paths(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    sock_model *bad = wrap_fields(ctx, 1, explosive, ou.instance->system->diffusion, ou.instance);
    const sock_model *const models[2] = {ou.model, bad};
    sock_data *test = NULL, *train = NULL;
    sock_options *opts = sock_options_new(ctx);
    ou.instance->trajectories[SYS_TEST] = 7;
    assert_int_equal(sys_generate(ctx, ou.instance, SYS_TEST, &test), SOCK_OK);
    assert_int_equal(sys_generate(ctx, ou.instance, SYS_TRAIN, &train), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "20"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-step", "0.02"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "seed", "4"), SOCK_OK);
    assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK);
    for (int i = 0; i < 2; i++) {
        simulator source = {.model = models[i], .step = 0.02};
        sock_scores a, b;
        assert_int_equal(sock_score(ctx, models[i], test, train, ou.model, opts, &a), i ? SOCK_PARTIAL : SOCK_OK);
        assert_int_equal(sock_score_paths(ctx, simulated, &source, test, train, ou.model, opts, &b), SOCK_OK);
        assert_close(b.mmd2.value, a.mmd2.value, 1e-13, 0);
        assert_close(b.mmd2_truth.value, a.mmd2_truth.value, 1e-13, 0);
        assert_true(b.mmd_lost == a.mmd_lost && b.mmd_eta == a.mmd_eta && b.mmd_starts == 7);
        assert_true(b.intervals == a.intervals && b.points == a.points);
        assert_int_equal(source.members, 7);
        assert_false(b.loglik.valid || b.perplexity.valid || b.loglik_moments.valid || b.re_f.valid || b.re_a.valid);
        assert_non_null(strstr(b.re_f.reason, "paths alone"));
    }
    sock_options_free(opts);
    sock_data_free(train);
    sock_data_free(test);
    sock_model_free(bad);
    truth_free(ou);
}

static sock_status two_and_half(void *user, const sock_path_request *q, double *out)
{
    for (size_t i = 0; i < q->paths * q->times * q->d; i++) out[i] = *(const double *)user;
    return SOCK_OK;
}

/* Paths at 2.5 with an upper bound of 1 are paths at 1; the failure of a source is the failure of the call. */
static void test_score_paths__bounds_and_failures(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    sock_data *test = NULL;
    sock_options *opts = sock_options_new(ctx);
    double high = 2.5, bound = 1;
    sock_scores a, b;
    simulator failing = {.model = ou.model, .step = 0.1, .answer = SOCK_ENUMERIC};
    ou.instance->trajectories[SYS_TEST] = 3;
    assert_int_equal(sys_generate(ctx, ou.instance, SYS_TEST, &test), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "2"), SOCK_OK);
    assert_int_equal(sock_score_paths(ctx, two_and_half, &bound, test, test, NULL, opts, &a), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "bounds", "clip"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "upper", "1"), SOCK_OK);
    assert_int_equal(sock_score_paths(ctx, two_and_half, &high, test, test, NULL, opts, &b), SOCK_OK);
    assert_close(b.mmd2.value, a.mmd2.value, 1e-15, 0);
    assert_int_equal(sock_score_paths(ctx, simulated, &failing, test, test, NULL, opts, &b), SOCK_ENUMERIC);
    assert_int_equal(sock_score_paths(ctx, NULL, NULL, test, test, NULL, opts, &b), SOCK_EUSAGE);
    assert_int_equal(sock_score_paths(ctx, two_and_half, &high, test, NULL, NULL, opts, &b), SOCK_OK);
    assert_false(b.mmd2.valid);
    sock_options_free(opts);
    sock_data_free(test);
    truth_free(ou);
}

/* Paths from elsewhere take no steps; the truth's would take 10^8, and has no score. */
static void test_score_paths__a_truth_out_of_reach_leaves_the_rest(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    const size_t length[2] = {2, 2};
    const double t[4] = {0, 1e5, 0, 1e5}, x[4] = {0, 1, 0.5, 2};
    sock_data *test = NULL;
    double level = 1;
    sock_scores s;
    assert_int_equal(sock_data_from_arrays(ctx, 1, 2, length, t, x, NULL, NULL, NULL, &test), SOCK_OK);
    assert_true(sock_score_paths(ctx, two_and_half, &level, test, test, ou.model, NULL, &s) >= 0);
    assert_true(s.mmd2.valid && !s.mmd2_truth.valid);
    assert_non_null(strstr(s.mmd2_truth.reason, "a path takes 1e+08 inner steps"));
    sock_data_free(test);
    truth_free(ou);
}

static void test_score__survives_every_failed_allocation(void **state)
{
    (void)state;
    truth ou = truth_of(ctx, "ou");
    sock_data *test = NULL;
    sock_options *opts = sock_options_new(ctx);
    sock_scores s;
    sock_status status = SOCK_ENOMEM;
    ou.instance->trajectories[SYS_TEST] = 3;
    assert_int_equal(sys_generate(ctx, ou.instance, SYS_TEST, &test), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-paths", "3"), SOCK_OK);
    assert_int_equal(sock_options_set(ctx, opts, "mmd-step", "0.05"), SOCK_OK);
    for (int run = 0; run < 4; run++, status = SOCK_ENOMEM) { /* all from the k-th on, or that one alone */
        for (long k = 1; k < 200 && status == SOCK_ENOMEM; k++) {
            simulator source = {.model = ou.model, .step = 0.05};
            (run % 2 ? sk_fail_one_allocation : sk_fail_allocation)(ctx, k);
            status = run < 2 ? sock_score(ctx, ou.model, test, test, ou.model, opts, &s)
                             : sock_score_paths(ctx, simulated, &source, test, test, NULL, opts, &s);
            sk_fail_allocation(ctx, 0);
            assert_true(status == SOCK_OK || status == SOCK_ENOMEM);
        }
        assert_int_equal(status, SOCK_OK);
    }
    sock_options_free(opts);
    sock_data_free(test);
    truth_free(ou);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mmd__oracle),
        cmocka_unit_test(prop_mmd__statistic_is_the_slow_sum),
        cmocka_unit_test(test_mmd__a_lost_path_is_infinitely_far),
        cmocka_unit_test(test_mmd__a_huge_path_is_not_lost_while_its_square_is_finite),
        cmocka_unit_test(test_grids__trapezoid_weights_integrate_lines),
        cmocka_unit_test(test_grids__labels_by_grid_and_start),
        cmocka_unit_test(test_grids__a_grid_may_be_off_by_its_slack),
        cmocka_unit_test(prop_grids__labels_are_those_of_the_definition),
        cmocka_unit_test(test_mmd__time_grows_with_the_number_of_grids_not_its_square),
        cmocka_unit_test(prop_mmd__eta_is_the_median_over_pairs),
        cmocka_unit_test(prop_mmd__eta_is_over_4000_trajectories_at_most),
        cmocka_unit_test(test_mmd__score_is_the_mean_over_distinct_starts),
        cmocka_unit_test(test_mmd__lost_paths_and_missing_scales_are_told),
        cmocka_unit_test(test_mmdcells__each_start_on_each_grid_is_asked_for_once),
        cmocka_unit_test(prop_mmdcells__the_value_does_not_depend_on_threads),
        cmocka_unit_test(test_mmdcells__a_model_is_simulated_once_for_each_grid),
        cmocka_unit_test(test_score_paths__is_the_score_of_the_model_with_these_paths),
        cmocka_unit_test(test_score_paths__bounds_and_failures),
        cmocka_unit_test(test_score_paths__a_truth_out_of_reach_leaves_the_rest),
        cmocka_unit_test(test_score__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
