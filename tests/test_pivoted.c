/* test_pivoted.c - pivoted Cholesky: rank, residual, the stopping rules, failures. */
#include "la/la.h"
#include "test.h"

static const sk_key key = {2026, SK_PURPOSE_TEST};

static sock_context *ctx;

static int open_context(void **state)
{
    (void)state;
    ctx = sock_context_new();
    return ctx ? sock_set_threads(ctx, 2) : -1;
}

static int close_context(void **state)
{
    (void)state;
    sock_context_free(ctx);
    return 0;
}

typedef struct matrix {
    size_t n, calls;
    double *a, *diagonal;
    size_t fail_at; /* this call fails; 0 = none */
    double spoil;   /* added to entry 1 of every column */
} matrix;

static sock_status column_of(void *arg, size_t pivot, double *column)
{
    matrix *m = arg;
    if (++m->calls == m->fail_at) return sk_fail(ctx, SOCK_EINPUT, "no column %zu", pivot);
    memcpy(column, m->a + pivot * m->n, m->n * sizeof *column);
    column[1 % m->n] += m->spoil;
    return SOCK_OK;
}

static matrix matrix_of(size_t n)
{
    return (matrix){.n = n, .a = calloc(n * n, sizeof(double)), .diagonal = calloc(n, sizeof(double))};
}

static void note_diagonal(matrix *m)
{
    for (size_t i = 0; i < m->n; i++) m->diagonal[i] = m->a[i * m->n + i];
}

static void drop(matrix *m)
{
    free(m->a);
    free(m->diagonal);
}

/* G G' with G n x rank: rank exactly `rank`, to rounding. */
static matrix low_rank(size_t n, size_t rank, uint64_t stream)
{
    matrix m = matrix_of(n);
    double *g = malloc(n * rank * sizeof *g);
    sk_normals(key, stream, 0, 0, n * rank, g);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < rank; k++) m.a[i * n + j] += g[i * rank + k] * g[j * rank + k];
    note_diagonal(&m);
    free(g);
    return m;
}

/* exp(-(x - y)^2 / (2 eta^2)) on n points of [0, 1]. */
static matrix gaussian(size_t n, double eta)
{
    matrix m = matrix_of(n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double gap = ((double)i - (double)j) / (double)n / eta;
            m.a[i * n + j] = exp(-gap * gap / 2);
        }
    note_diagonal(&m);
    return m;
}

static sk_pivoted *factor(matrix *m, double tolerance, size_t max_rank, bool give_up_early)
{
    sk_pivoted *p = NULL;
    assert_int_equal(sk_pivoted_cholesky(ctx, m->n, m->diagonal, column_of, m, tolerance, max_rank, give_up_early, &p),
                     SOCK_OK);
    assert_int_equal(p->n, m->n);
    return p;
}

/* The identities that hold whenever it stops: the error E = A - F'F has the stated diagonal, is positive semi-definite
 * (so |E_ij|^2 <= E_ii E_jj), and vanishes in the pivots' rows; pivots differ, and F is triangular in their order. */
static void is_a_partial_factor(const matrix *m, const sk_pivoted *p)
{
    double largest = 0;
    for (size_t i = 0; i < m->n; i++) largest = fmax(largest, m->diagonal[i]);
    double rounding = 1e-13 * largest;
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            double error = m->a[i * m->n + j];
            for (size_t k = 0; k < p->rank; k++) error -= p->factor[k * m->n + i] * p->factor[k * m->n + j];
            if (i == j) assert_close(error, p->residual[i], 1e-13, largest);
            assert_true(fabs(error) <= sqrt(p->residual[i] * p->residual[j]) + rounding * 10);
        }
    for (size_t k = 0; k < p->rank; k++) {
        assert_true(p->pivot[k] < m->n && p->residual[p->pivot[k]] == 0);
        for (size_t l = 0; l < k; l++) {
            assert_true(p->pivot[k] != p->pivot[l]);
            assert_true(p->factor[k * m->n + p->pivot[l]] == 0);
        }
        assert_true(p->factor[k * m->n + p->pivot[k]] > 0);
        if (k) /* the largest residual is taken first, so the pivots' entries do not grow */
            assert_true(p->factor[k * m->n + p->pivot[k]] <= p->factor[(k - 1) * m->n + p->pivot[k - 1]]);
    }
    for (size_t i = 0; i < m->n; i++) assert_true(p->residual[i] >= 0);
}

static void test_pivoted__finds_the_exact_rank(void **state)
{
    (void)state;
    for (size_t rank = 1; rank <= 90; rank += rank < 5 ? 1 : 17) {
        matrix m = low_rank(100, rank, rank);
        sk_pivoted *p = factor(&m, 1e-11, 100, false);
        assert_int_equal(p->rank, rank);
        assert_int_equal(m.calls, rank); /* a column a rank, no more */
        assert_true(p->complete);
        is_a_partial_factor(&m, p);
        sk_pivoted_free(p);
        drop(&m);
    }
}

static void test_pivoted__stops_at_the_tolerance(void **state)
{
    (void)state;
    matrix m = gaussian(150, 0.1);
    size_t before = 0;
    for (double tolerance = 1e-1; tolerance > 1e-10; tolerance /= 10) {
        sk_pivoted *p = factor(&m, tolerance, 150, false);
        double worst = 0, last = p->factor[(p->rank - 1) * 150 + p->pivot[p->rank - 1]];
        for (size_t i = 0; i < 150; i++) worst = fmax(worst, p->residual[i]);
        assert_true(p->complete && worst <= tolerance);
        assert_true(last * last > tolerance); /* and not a column later than needed */
        assert_true(p->rank >= before && p->rank < 60);
        before = p->rank;
        is_a_partial_factor(&m, p);
        sk_pivoted_free(p);
    }
    drop(&m);
}

static void test_pivoted__stops_at_the_largest_rank(void **state)
{
    (void)state;
    matrix m = gaussian(60, 0.02);
    for (size_t most = 0; most <= 20; most += 10) {
        sk_pivoted *p = factor(&m, 1e-12, most, false);
        assert_int_equal(p->rank, most);
        assert_false(p->complete);
        is_a_partial_factor(&m, p);
        sk_pivoted_free(p);
    }
    sk_pivoted *whole = factor(&m, 0, 1000, false); /* more than n is n */
    assert_true(whole->rank <= 60);
    is_a_partial_factor(&m, whole);
    sk_pivoted_free(whole);
    drop(&m);
}

/* A flat spectrum: after a quarter of the allowed columns it is plain that the tolerance is out of reach. */
static void test_pivoted__gives_up_early_on_a_flat_spectrum(void **state)
{
    (void)state;
    matrix m = matrix_of(1000);
    for (size_t i = 0; i < 1000; i++) m.a[i * 1000 + i] = 1 + 1e-3 * (double)i;
    note_diagonal(&m);
    sk_pivoted *p = factor(&m, 1e-10, 500, true);
    assert_false(p->complete);
    assert_true(p->rank <= 128);
    sk_pivoted_free(p);
    p = factor(&m, 1e-10, 500, false);
    assert_false(p->complete);
    assert_int_equal(p->rank, 500);
    sk_pivoted_free(p);
    drop(&m);
}

/* A spectrum that decays steadily and reaches the tolerance in time: not given up, the same as without the rule. */
static void test_pivoted__does_not_give_up_on_a_decaying_spectrum(void **state)
{
    (void)state;
    matrix m = gaussian(600, 0.006);
    sk_pivoted *patient = factor(&m, 1e-8, 500, false), *hasty = factor(&m, 1e-8, 500, true);
    assert_true(patient->complete && patient->rank > 192); /* long enough for the rule to have had its say */
    assert_true(hasty->complete);
    assert_int_equal(hasty->rank, patient->rank);
    assert_memory_equal(hasty->pivot, patient->pivot, patient->rank * sizeof *patient->pivot);
    assert_memory_equal(hasty->factor, patient->factor, patient->rank * 600 * sizeof *patient->factor);
    sk_pivoted_free(patient);
    sk_pivoted_free(hasty);
    drop(&m);
}

static void test_pivoted__zero_and_empty_matrices_have_rank_zero(void **state)
{
    (void)state;
    matrix m = matrix_of(10);
    sk_pivoted *p = factor(&m, 1e-10, 10, true);
    assert_true(p->rank == 0 && p->complete);
    sk_pivoted_free(p);
    drop(&m);
    m = matrix_of(0);
    p = factor(&m, 1e-10, 10, true);
    assert_true(p->rank == 0 && p->complete);
    sk_pivoted_free(p);
    drop(&m);
    sk_pivoted_free(NULL);
}

static void fails(matrix *m, sock_status expected, const char *message)
{
    sk_pivoted *p = NULL;
    sk_begin(ctx);
    assert_int_equal(sk_pivoted_cholesky(ctx, m->n, m->diagonal, column_of, m, 1e-10, m->n, false, &p), expected);
    assert_null(p);
    assert_non_null(strstr(sock_message(ctx), message));
}

static void test_pivoted__bad_numbers_and_failing_columns_come_back(void **state)
{
    (void)state;
    matrix m = low_rank(20, 5, 1);
    m.fail_at = 3;
    fails(&m, SOCK_EINPUT, "no column");
    assert_int_equal(m.calls, 3);
    m.fail_at = 0;
    m.spoil = NAN;
    fails(&m, SOCK_ENUMERIC, "not finite");
    m.spoil = INFINITY;
    fails(&m, SOCK_ENUMERIC, "not finite");
    m.spoil = 0;
    const double bad[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        m.diagonal[7] = bad[i];
        fails(&m, SOCK_ENUMERIC, "on its diagonal");
    }
    drop(&m);
}

static void test_pivoted__can_be_cancelled(void **state)
{
    (void)state;
    matrix m = low_rank(20, 5, 1);
    sock_cancel(ctx);
    fails(&m, SOCK_ECANCELLED, "pivoted Cholesky");
    sock_cancel_reset(ctx);
    drop(&m);
}

static sock_status factor_once(sock_context *context, void *arg)
{
    matrix *m = arg;
    sk_pivoted *p = NULL;
    SK_TRY(sk_pivoted_cholesky(context, m->n, m->diagonal, column_of, m, 1e-10, m->n, false, &p));
    sk_pivoted_free(p);
    return SOCK_OK;
}

static void test_pivoted__every_failed_allocation_comes_back(void **state)
{
    (void)state;
    matrix m = low_rank(20, 15, 1);
    assert_true(for_each_allocation(ctx, factor_once, &m) >= 8);
    drop(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pivoted__finds_the_exact_rank),
        cmocka_unit_test(test_pivoted__stops_at_the_tolerance),
        cmocka_unit_test(test_pivoted__stops_at_the_largest_rank),
        cmocka_unit_test(test_pivoted__gives_up_early_on_a_flat_spectrum),
        cmocka_unit_test(test_pivoted__does_not_give_up_on_a_decaying_spectrum),
        cmocka_unit_test(test_pivoted__zero_and_empty_matrices_have_rank_zero),
        cmocka_unit_test(test_pivoted__bad_numbers_and_failing_columns_come_back),
        cmocka_unit_test(test_pivoted__can_be_cancelled),
        cmocka_unit_test(test_pivoted__every_failed_allocation_comes_back),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
