/* test_view.c - what a model says of a block of transitions: moments, weights, typical sizes; the same numbers for any
 * cut into blocks, kept or made on each visit. */
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The number in the middle; the values are sorted. */
static double median(size_t count, double *value)
{
    qsort(value, count, sizeof *value, ascending);
    return value[count / 2];
}

/* F = 1 + M + M^2/2, M = h/2 J; I a by the sigma points is exact for a quadratic a, which has mean
 * y + h (1 + 2 F) f / 3 and covariance h F a F' there; weights from h a. */
static void test_view__has_the_models_moments(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++)
        for (int diagonal = 0; diagonal < 2; diagonal++) {
            bool flat = diagonal;
            case_bench b = case_bench_new(ctx, d, flat, false);
            const sk_view *p = b.v;
            for (size_t i = 0; i < p->n; i++) {
                double h = p->h[i], f[3], a[9], jacobian[9] = {0}, expected[9];
                const double *y = p->y + i * d;
                case_drift(NULL, 1, d, y, f);
                case_diffusion(&flat, 1, d, y, a);
                for (size_t k = 0; k < d; k++) {
                    jacobian[k * d + k] -= 1;
                    jacobian[k * d + (k + 1) % d] += 0.3;
                    assert_true(p->t[i * d + k] == p->next[i * d + k] - y[k]);
                }
                const double *left = p->left + i * d * d;
                for (size_t k = 0; k < d * d; k++) {
                    bool own = k % (d + 1) == 0;
                    size_t r = k / d;
                    double next = y[r], spread = 0, square = 0;
                    for (size_t m = 0; m < d; m++) {
                        next += h * (2 * left[r * d + m] + (r == m)) * f[m] / 3;
                        square += jacobian[r * d + m] * jacobian[m * d + k % d];
                        for (size_t n = 0; n < d; n++) spread += h * left[r * d + m] * a[m * d + n] * left[r * d + n];
                    }
                    double mean = own ? 0.4 + 0.1 * (next * next + spread) : a[k];
                    expected[k] = 0.5 * h * (a[k] + mean);
                    assert_close(left[k], own + 0.5 * h * jacobian[k] + h * h / 8 * square, 1e-9, 1);
                }
                assert_all_close(d * d, p->integral + i * d * d, expected, 1e-12);
                double product[9] = {0}, square = 0; /* P (h a + 0.1 median) = 1 */
                for (size_t k = 0; k < d * d; k++) {
                    for (size_t m = 0; m < d; m++)
                        product[k] += p->precision[i * d * d + k / d * d + m] *
                                      (h * a[m * d + k % d] + (m == k % d ? 0.1 * p->typical->mean : 0));
                    assert_close(product[k], k % (d + 1) == 0, 1e-11, 1);
                    square += h * a[k] * h * a[k];
                }
                assert_close(p->size[i], sqrt(square), 1e-13, 0);
                for (size_t k = 0; k < d; k++) assert_close(p->part[i * d + k], h * a[k * d + k], 1e-13, 0);
            }
            case_bench_clear(&b);
        }
}

/* A full a with weights of its diagonal alone: the others count as zero. */
static void test_view__diagonal_weights_leave_the_rest_of_a_out(void **state)
{
    (void)state;
    sk_transitions *rows = case_rows(ctx, 2, false);
    sock_model *model = case_model(ctx, 2, NULL);
    const sk_view_spec look = case_look(model, true);
    sk_views *views = case_views(ctx, rows, &look);
    const sk_view *v = case_view(ctx, views, 1);
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < 4; k++) {
            const double variance = v->part[i * 2 + k / 2] + 0.1 * v->typical->mean;
            assert_close(v->precision[4 * i + k], k % 3 ? 0 : 1 / variance, 1e-13, 1);
        }
    sk_views_give(views, v);
    sk_views_free(views);
    sock_model_free(model);
    sk_transitions_free(rows);
}

static void test_view__without_weights_all_rows_count_alike(void **state)
{
    (void)state;
    sk_transitions *rows = case_rows(ctx, 2, false);
    sock_model *model = case_model(ctx, 2, NULL);
    sk_view_spec look = case_look(model, false);
    look.weighted = false;
    sk_views *views = case_views(ctx, rows, &look);
    for (size_t b = 0; b < rows->blocks; b++) {
        const sk_view *v = case_view(ctx, views, b);
        for (size_t i = 0; i < v->n; i++) {
            const double *w = v->precision + 4 * i;
            assert_true(w[0] == w[3] && w[1] == 0 && w[2] == 0);
            assert_close(w[0], 1 / v->typical->mean, 1e-14, 0);
        }
        sk_views_give(views, v);
    }
    sk_views_free(views);
    sock_model_free(model);
    sk_transitions_free(rows);
}

/* Without a model: a is the covariance of the increments per unit of time, F = 1, and the rule the left point. */
static void test_view__without_a_model_a_is_that_of_the_increments(void **state)
{
    (void)state;
    enum { D = 2 };
    sk_transitions *rows = case_rows(ctx, D, true);
    const sk_view_spec look = case_look(NULL, false);
    sk_views *views = case_views(ctx, rows, &look);
    double a[D * D] = {0};
    for (size_t i = 0; i < rows->n; i++)
        for (size_t k = 0; k < D * D; k++)
            a[k] += (rows->next[i * D + k / D] - rows->y[i * D + k / D]) *
                    (rows->next[i * D + k % D] - rows->y[i * D + k % D]) / rows->h[i] / (double)rows->n;
    assert_false(sk_views_spec(views)->conditional);
    for (size_t b = 0; b < rows->blocks; b++) {
        const sk_view *v = case_view(ctx, views, b);
        assert_int_equal(v->rule->nodes, v->n);
        for (size_t i = 0; i < v->n; i++) {
            double expected[D * D];
            for (size_t k = 0; k < D * D; k++) {
                expected[k] = v->h[i] * a[k];
                assert_true(v->left[i * D * D + k] == (k % (D + 1) == 0));
            }
            assert_all_close(D * D, v->integral + i * D * D, expected, 1e-13);
            for (size_t k = 0; k < D; k++) assert_close(v->part[i * D + k], expected[k * D + k], 1e-13, 0);
        }
        sk_views_give(views, v);
    }
    sk_views_free(views);
    sk_transitions_free(rows);
}

/* A model, but no conditional quadrature: I a = h a(y). */
static void test_view__of_the_left_point_integrates_what_is_there(void **state)
{
    (void)state;
    sk_transitions *rows = case_rows(ctx, 2, false);
    sock_model *model = case_model(ctx, 2, NULL);
    sk_view_spec look = case_look(model, false);
    look.conditional = false;
    sk_views *views = case_views(ctx, rows, &look);
    const sk_view *v = case_view(ctx, views, 2);
    assert_int_equal(v->rule->nodes, v->n);
    for (size_t i = 0; i < v->n; i++) {
        double a[4];
        case_diffusion(NULL, 1, 2, v->y + 2 * i, a);
        for (size_t k = 0; k < 4; k++) assert_close(v->integral[4 * i + k], v->h[i] * a[k], 1e-14, 1);
    }
    sk_views_give(views, v);
    sk_views_free(views);
    sock_model_free(model);
    sk_transitions_free(rows);
}

static void check_part(const sk_view *v, const sk_view *all)
{
    const size_t d = v->d, d2 = d * d, at = v->begin, one = sizeof(double), node = all->rule->row[at];
    assert_ptr_equal(v->y, v->of->y + at * d);
    assert_ptr_equal(v->next, v->of->next + at * d);
    assert_ptr_equal(v->h, v->of->h + at);
    assert_ptr_equal(v->cluster, v->of->cluster + at);
    assert_memory_equal(v->t, all->t + at * d, v->n * d * one);
    assert_memory_equal(v->left, all->left + at * d2, v->n * d2 * one);
    assert_memory_equal(v->integral, all->integral + at * d2, v->n * d2 * one);
    assert_memory_equal(v->precision, all->precision + at * d2, v->n * d2 * one);
    assert_memory_equal(v->part, all->part + at * d, v->n * d * one);
    assert_memory_equal(v->size, all->size + at, v->n * one);
    assert_memory_equal(v->inverse, all->inverse + at * d2, v->n * d2 * one);
    assert_memory_equal(v->offset, all->offset + at, v->n * one);
    assert_memory_equal(v->rule->x, all->rule->x + node * d, v->rule->nodes * d * one);
    assert_memory_equal(v->typical->part, all->typical->part, d * one);
    assert_true(v->typical->mean == all->typical->mean && v->typical->size == all->typical->size);
}

/* A row's numbers do not depend on the block it stands in, nor on whether views are kept. */
static void prop_view_of_a_block_is_a_part_of_the_whole(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++)
        for (int kept = 0; kept < 2; kept++) {
            sk_transitions *rows = case_rows(ctx, d, true);
            case_cut(ctx, rows, 7);
            assert_int_equal(rows->blocks, 9);
            case_bench b = case_bench_of(ctx, rows, false, kept ? 0 : 1);
            assert_int_equal(sk_views_kept(b.views), kept);
            assert_ptr_equal(sk_views_rows(b.views), rows);
            assert_int_equal(sk_views_spec(b.views)->diagonal, d == 1);
            size_t seen = 0;
            for (size_t block = 0; block < 9; block++) {
                const sk_view *v = case_view(ctx, b.views, block);
                assert_true(v->begin == seen && v->folds == 2 && v->fold == seen / 20);
                check_part(v, b.v);
                seen += v->n;
                sk_views_give(b.views, v);
            }
            assert_int_equal(seen, rows->n);
            case_bench_clear(&b);
        }
}

/* Views of more bytes than are allowed are not kept; the usual limit is 64 MB. */
static void test_view__are_kept_where_they_are_small(void **state)
{
    (void)state;
    const double row = 8 * (3 * (1 + 3) + 4 + 4 + 4); /* d = 1: nodes with state, weight, number; eight arrays */
    for (int more = 0; more < 2; more++) {
        sk_transitions *rows = case_rows(ctx, 1, false);
        case_bench b = case_bench_of(ctx, rows, true, (double)rows->n * row - more);
        assert_int_equal(sk_views_kept(b.views), !more);
        case_bench_clear(&b);
    }
}

/* Medians of tr(h a) / d, |h a|_F and (h a)_kk over the rows that move. */
static void prop_typical_sizes_are_medians(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        sk_transitions *rows = case_rows(ctx, d, false);
        for (size_t i = 0; i < 40; i += 3) /* at rest */
            memcpy(rows->next + i * d, rows->y + i * d, d * sizeof(double));
        case_bench b = case_bench_of(ctx, rows, false, 0);
        const sk_view *v = b.v;
        double *value = sk_doubles(ctx, v->n, 1);
        for (size_t which = 0; which < d + 2; which++) {
            size_t count = 0;
            for (size_t i = 0; i < v->n; i++) {
                if (i < 40 && i % 3 == 0) continue;
                value[count] = which == 1 ? v->size[i] : which > 1 ? v->part[i * d + which - 2] : 0;
                for (size_t k = 0; !which && k < d; k++) value[count] += v->part[i * d + k] / (double)d;
                count++;
            }
            const double typical = which == 0   ? v->typical->mean
                                   : which == 1 ? v->typical->size
                                                : v->typical->part[which - 2];
            assert_close(typical, median(count, value), 1e-13, 0);
        }
        sk_free(value);
        case_bench_clear(&b);
    }
}

static void test_view__typical_value_has_a_way_out(void **state)
{
    (void)state;
    double y[] = {1, 2, 3, 4, 5, 6}, next[] = {2, 2, 3, 5, 5, 7}, rest[] = {1, 2, 3, 4, 5, 6}, out;
    const double value[] = {9, 1, 2, 3, 7, 5}, zeros[] = {0, 8, 9, 0, 9, 5}, every[] = {9, 2, 7};
    sk_transitions t = {.n = 6, .d = 1, .y = y, .next = next, .in = 1, .left = y, .right = next};
    assert_int_equal(sk_typical_value(ctx, &t, 1, value, &out), SOCK_OK);
    assert_true(out == 5); /* of 9, 3, 5 */
    assert_int_equal(sk_typical_value(ctx, &t, 1, zeros, &out), SOCK_OK);
    assert_true(out == 5); /* of 0, 0, 5 the middle is 0: the largest */
    assert_int_equal(sk_typical_value(ctx, &t, 2, every, &out), SOCK_OK);
    assert_true(out == 9); /* rows 0, 2, 4: the first alone moves */
    t.next = rest;
    assert_int_equal(sk_typical_value(ctx, &t, 1, value, &out), SOCK_OK);
    assert_true(out == 5); /* nothing moves: of all six */
}

/* Of many rows, every second one stands for all. */
static void test_view__typical_sizes_of_many_rows_are_those_of_some(void **state)
{
    (void)state;
    enum { N = SK_TYPICAL_ROWS + 10 };
    sock_data *data = case_data(ctx, N, 1, N, 2);
    sk_transitions *rows = case_transitions(ctx, data, 1, 0);
    sock_model *model = case_model(ctx, 1, NULL);
    const sk_view_spec look = case_look(model, false);
    sk_views *views = case_views(ctx, rows, &look);
    const sk_view *v = case_view(ctx, views, 0);
    double *value = sk_doubles(ctx, N / 2, 1);
    for (size_t i = 0; i < N / 2; i++) {
        case_diffusion(NULL, 1, 1, rows->y + 2 * i, &value[i]);
        value[i] *= rows->h[2 * i];
    }
    assert_close(v->typical->mean, median(N / 2, value), 1e-13, 0);
    sk_free(value);
    sk_views_give(views, v);
    sk_views_free(views);
    sock_model_free(model);
    sk_transitions_free(rows);
    sock_data_free(data);
}

static void test_view__ends_are_those_of_its_rows(void **state)
{
    (void)state;
    case_bench b = case_bench_new(ctx, 2, false, false);
    const sk_view *v = case_view(ctx, b.views, 1);
    sk_rule *ends = NULL;
    assert_int_equal(sk_view_ends(ctx, v, &ends), SOCK_OK);
    assert_int_equal(ends->n, 20);
    for (size_t i = 0; i < v->n; i++) {
        assert_memory_equal(ends->x + 4 * i, b.rows->y + 2 * (20 + i), 2 * sizeof(double));
        assert_memory_equal(ends->x + 4 * i + 2, b.rows->next + 2 * (20 + i), 2 * sizeof(double));
    }
    sk_rule_free(ends);
    sk_views_give(b.views, v);
    case_bench_clear(&b);
}

typedef struct visits {
    size_t count, last;
} visits;

static sock_status visit(sock_context *c, void *arg, const sk_view *v)
{
    visits *seen = arg;
    assert_int_equal(v->begin, 7 * seen->count);
    if (seen->count++ < seen->last) return SOCK_OK;
    return sk_fail(c, SOCK_ENUMERIC, "enough");
}

static void test_view__each_is_visited_once_in_order_until_one_fails(void **state)
{
    (void)state;
    for (int kept = 0; kept < 2; kept++)
        for (size_t last = 4; last <= 9; last += 5) {
            sock_data *data = case_data(ctx, 63, 1, 9, 1);
            sk_transitions *rows = case_transitions(ctx, data, 1, 0);
            case_cut(ctx, rows, 7);
            case_bench b = case_bench_of(ctx, rows, false, kept ? 0 : 1);
            visits seen = {0, last};
            sock_set_threads(ctx, kept ? 2 : 1); /* views that are not kept are visited on all threads */
            assert_int_equal(sk_views_each(ctx, b.views, visit, &seen), last < 9 ? SOCK_ENUMERIC : SOCK_OK);
            assert_int_equal(seen.count, last < 9 ? 5 : 9);
            case_bench_clear(&b);
            sock_data_free(data);
        }
}

typedef struct making {
    const sk_transitions *rows;
    const sock_model *model;
    double keep;
} making;

static sock_status nothing(sock_context *c, void *arg, const sk_view *v)
{
    sk_rule *ends = NULL;
    (void)arg;
    sock_status status = sk_view_ends(c, v, &ends);
    sk_rule_free(ends);
    return status;
}

static sock_status look_once(sock_context *c, void *arg)
{
    const making *m = arg;
    sk_view_spec look = case_look(m->model, false);
    sk_views *views = NULL;
    look.keep = m->keep;
    sock_status status = sk_views_new(c, m->rows, &look, &views);
    if (status >= 0) status = sk_views_each(c, views, nothing, NULL);
    sk_views_free(views);
    return status;
}

static void test_view__survives_every_failed_allocation(void **state)
{
    (void)state;
    sk_transitions *rows = case_rows(ctx, 2, false);
    sock_model *model = case_model(ctx, 2, NULL);
    sock_set_threads(ctx, 1);
    for (int blind = 0; blind < 2; blind++)
        for (double keep = 0; keep < 2; keep++)
            assert_true(for_each_allocation(ctx, look_once, &(making){rows, blind ? NULL : model, keep}) > 50);
    sock_model_free(model);
    sk_transitions_free(rows);
}

/* The process of the cases, but a is negative from the left end of two steps on: user has two states. */
static void broken_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    const double *bad = user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d * d; k++) {
            bool hit = memcmp(x + i * d, bad, d * sizeof *x) == 0 || memcmp(x + i * d, bad + d, d * sizeof *x) == 0;
            a[i * d * d + k] = k % (d + 1) ? 0 : hit ? -100 : 0.5;
        }
}

/* Rows 401 and 1001 (from 1) stand in blocks of two workers, the latter deeper in its own, so by the clock it may have
 * the last word. Kept views are all looked at when they are made, others when they are taken. */
static void test_view__the_first_indefinite_row_is_named_by_any_number_of_threads(void **state)
{
    (void)state;
    enum { N = 1200, D = 8, EACH = 5 };
    double bad[2 * D];
    sock_data *data = case_data(ctx, N, D, EACH, 3);
    sk_transitions *rows = case_transitions(ctx, data, 3, 3);
    memcpy(bad, rows->y + 400 * D, D * sizeof *bad);
    memcpy(bad + D, rows->y + 1000 * D, D * sizeof *bad);
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(ctx, D, NULL, case_drift, broken_diffusion, bad, &model), SOCK_OK);
    for (int weighted = 0; weighted < 2; weighted++) /* found with the weights, and with the covariances of the score */
        for (int threads = 1; threads <= 2; threads++)
            for (int round = 0; round < 5; round++) {
                sk_view_spec look = {
                    .fields = case_fields, .model = model, .weighted = weighted, .eps = 1e-3, .keep = round == 4};
                sk_views *views = NULL;
                sock_set_threads(ctx, threads);
                sk_begin(ctx);
                sock_status status = sk_views_new(ctx, rows, &look, &views);
                if (round == 4) {
                    assert_int_equal(status, SOCK_OK);
                    status = sk_views_each(ctx, views, nothing, NULL);
                }
                assert_int_equal(status, SOCK_ENUMERIC);
                assert_non_null(strstr(sock_message(ctx), "the covariance of step 401 is not positive definite"));
                sk_views_free(views);
            }
    sock_model_free(model);
    sk_transitions_free(rows);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view__has_the_models_moments),
        cmocka_unit_test(test_view__diagonal_weights_leave_the_rest_of_a_out),
        cmocka_unit_test(test_view__without_weights_all_rows_count_alike),
        cmocka_unit_test(test_view__without_a_model_a_is_that_of_the_increments),
        cmocka_unit_test(test_view__of_the_left_point_integrates_what_is_there),
        cmocka_unit_test(prop_view_of_a_block_is_a_part_of_the_whole),
        cmocka_unit_test(test_view__are_kept_where_they_are_small),
        cmocka_unit_test(prop_typical_sizes_are_medians),
        cmocka_unit_test(test_view__typical_value_has_a_way_out),
        cmocka_unit_test(test_view__typical_sizes_of_many_rows_are_those_of_some),
        cmocka_unit_test(test_view__ends_are_those_of_its_rows),
        cmocka_unit_test(test_view__each_is_visited_once_in_order_until_one_fails),
        cmocka_unit_test(test_view__the_first_indefinite_row_is_named_by_any_number_of_threads),
        cmocka_unit_test(test_view__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
