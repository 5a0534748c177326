/* test_la.c - every function of the gate against plain loops; factorisations by their defining identities. */
#include "la/la.h"
#include "test.h"

#include <float.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const sk_key key = {2026, SK_PURPOSE_TEST};
static uint64_t streams = 0; /* each array of random numbers has its own */

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

static double *numbers(size_t count)
{
    double *x = malloc((count + 1) * sizeof *x);
    sk_normals(key, ++streams, 0, 0, count, x);
    return x;
}

static double *copy_of(size_t count, const double *x)
{
    double *copy = malloc((count + 1) * sizeof *copy);
    memcpy(copy, x, count * sizeof *copy);
    return copy;
}

static double entry(const double *a, size_t lda, sk_op op, size_t i, size_t j)
{
    return op == SK_PLAIN ? a[i * lda + j] : a[j * lda + i];
}

/* C := alpha op(A) op(B) + beta C; beta = 0 does not look at C. */
static void slow_gemm(sk_op op_a, sk_op op_b, size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
                      const double *b, size_t ldb, double beta, double *c, size_t ldc)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++) sum += entry(a, lda, op_a, i, l) * entry(b, ldb, op_b, l, j);
            c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
        }
}

static const size_t shapes[][3] = {{1, 1, 1},       {3, 5, 4},   {17, 2, 9},  {40, 33, 1}, {5, 7, 0},
                                   {150, 130, 120}, {1, 19, 13}, {2, 37, 21}, {3, 50, 61}, {4, 9, 17}};

enum { SHAPES = sizeof shapes / sizeof *shapes, PAD = 3 };

/* All four pairs of operations, with rows longer than needed (what lies between them must not change). */
static void test_la__gemm_is_the_slow_product(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++)
        for (int ops = 0; ops < 4; ops++)
            for (int with_beta = 0; with_beta < 3; with_beta++) {
                size_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2], most = m + n + k;
                sk_op op_a = ops & 1 ? SK_TRANSPOSED : SK_PLAIN, op_b = ops & 2 ? SK_TRANSPOSED : SK_PLAIN;
                size_t lda = (op_a == SK_PLAIN ? k : m) + PAD, ldb = (op_b == SK_PLAIN ? n : k) + PAD, ldc = n + PAD;
                double *a = numbers(most * lda), *b = numbers(most * ldb), *c = numbers(m * ldc);
                double *expected = copy_of(m * ldc, c), beta = with_beta == 2 ? 1 : with_beta ? -0.5 : 0;
                if (!with_beta) c[0] = NAN; /* beta 0 forgets what was there */
                sk_gemm(ctx, op_a, op_b, m, n, k, 1.5, a, lda, b, ldb, beta, c, ldc);
                slow_gemm(op_a, op_b, m, n, k, 1.5, a, lda, b, ldb, beta, expected, ldc);
                assert_all_close(m * ldc, c, expected, 1e-14);
                free(a), free(b), free(c), free(expected);
            }
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, 0, 3, 2, 1, NULL, 2, NULL, 3, 0, NULL, 3);
}

static void test_la__gemm_f32_is_the_slow_product(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        size_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
        double *a = numbers(m * k), *b = numbers(n * k), *expected = calloc(m * n, sizeof *expected);
        float *fa = malloc((m * k + 1) * sizeof *fa), *fb = malloc((n * k + 1) * sizeof *fb);
        float *fc = calloc(m * n, sizeof *fc);
        for (size_t i = 0; i < m * k; i++) a[i] = (double)(fa[i] = (float)a[i]);
        for (size_t i = 0; i < n * k; i++) b[i] = (double)(fb[i] = (float)b[i]);
        sk_gemm_f32(ctx, SK_PLAIN, SK_TRANSPOSED, m, n, k, 2, fa, k, fb, k, 0, fc, n);
        slow_gemm(SK_PLAIN, SK_TRANSPOSED, m, n, k, 2, a, k, b, k, 0, expected, n);
        double *c = malloc(m * n * sizeof *c);
        for (size_t i = 0; i < m * n; i++) c[i] = (double)fc[i];
        assert_all_close(m * n, c, expected, 1e-6);
        free(a), free(b), free(c), free(fa), free(fb), free(fc), free(expected);
    }
}

/* The lower triangle only: above it nothing changes. */
static void test_la__syrk_is_the_lower_triangle_of_the_product(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++)
        for (int o = 0; o < 2; o++) {
            size_t n = shapes[s][0], k = shapes[s][2], ldc = n + PAD;
            sk_op op = o ? SK_TRANSPOSED : SK_PLAIN, other = o ? SK_PLAIN : SK_TRANSPOSED;
            size_t lda = (o ? n : k) + PAD;
            double *a = numbers((n + k) * lda), *c = numbers(n * ldc);
            double *expected = copy_of(n * ldc, c), *before = copy_of(n * ldc, c);
            sk_syrk(ctx, op, n, k, -2, a, lda, 0.25, c, ldc);
            slow_gemm(op, other, n, n, k, -2, a, lda, a, lda, 0.25, expected, ldc);
            for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++) expected[i * ldc + j] = before[i * ldc + j];
            assert_all_close(n * ldc, c, expected, 1e-14);
            free(a), free(c), free(expected), free(before);
        }
}

static void test_la__gemv_is_the_slow_product(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++)
        for (int o = 0; o < 2; o++)
            for (int with_beta = 0; with_beta < 3; with_beta++) {
                size_t m = shapes[s][0], n = shapes[s][2], lda = n + PAD, rows = o ? n : m, cols = o ? m : n;
                sk_op op = o ? SK_TRANSPOSED : SK_PLAIN;
                double *a = numbers(m * lda), *x = numbers(cols), *y = numbers(rows), beta = with_beta ? 3 : 0;
                double *expected = copy_of(rows, y);
                if (!with_beta && rows) y[0] = NAN;
                sk_gemv(ctx, op, m, n, -1.5, a, lda, x, beta, y);
                slow_gemm(op, SK_PLAIN, rows, 1, cols, -1.5, a, lda, x, 1, beta, expected, 1);
                assert_all_close(rows, y, expected, 1e-14);
                free(a), free(x), free(y), free(expected);
            }
}

static void test_la__symmetrise_copies_the_lower_triangle_up(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 100; n += 25) {
        size_t lda = n + PAD;
        double *a = numbers(n * lda), *before = copy_of(n * lda, a);
        sk_symmetrise(n, a, lda);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < lda; j++)
                assert_true(a[i * lda + j] == (j > i && j < n ? before[j * lda + i] : before[i * lda + j]));
        free(a), free(before);
    }
}

static void test_la__restore_lower_copies_the_upper_triangle_down(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 100; n += 25) {
        size_t lda = n + PAD;
        double *a = numbers(n * lda), *before = copy_of(n * lda, a);
        sk_restore_lower(n, a, lda);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < lda; j++)
                assert_true(a[i * lda + j] == (j < i ? before[j * lda + i] : before[i * lda + j]));
        free(a), free(before);
    }
}

static void test_la__transpose_swaps_rows_and_columns(void **state)
{
    (void)state;
    for (size_t rows = 0; rows <= 40; rows += 5)
        for (size_t cols = 0; cols <= 33; cols += 11) {
            size_t lda = cols + PAD, ldb = rows + PAD;
            double *a = numbers(rows * lda), *b = numbers(cols * ldb), *before = copy_of(cols * ldb, b);
            sk_transpose(rows, cols, a, lda, b, ldb);
            for (size_t j = 0; j < cols; j++)
                for (size_t i = 0; i < ldb; i++)
                    assert_true(b[j * ldb + i] == (i < rows ? a[i * lda + j] : before[j * ldb + i]));
            free(a), free(b), free(before);
        }
}

/* Lengths around and beyond the pieces that go to BLAS. */
static void test_la__vectors(void **state)
{
    (void)state;
    const size_t lengths[] = {0, 1, 7, 8191, 8192, 8193, 50000};
    for (size_t l = 0; l < 7; l++) {
        size_t n = lengths[l];
        double *x = numbers(n), *y = numbers(n), *z = copy_of(n, y), dot = 0, square = 0, size = 0;
        for (size_t i = 0; i < n; i++) {
            dot += x[i] * y[i];
            size += fabs(x[i] * y[i]);
            square += x[i] * x[i];
        }
        assert_close(sk_dot(n, x, y), dot, 1e-14, size);
        assert_close(sk_norm(n, x), sqrt(square), 1e-13, 0);
        sk_axpy(n, 0.75, x, y);
        for (size_t i = 0; i < n; i++) assert_close(y[i], z[i] + 0.75 * x[i], 4 * DBL_EPSILON, 1);
        sk_scale(n, -0.5, z);
        sk_scale(n, 1 / 0.75, x);
        for (size_t i = 0; i < n; i++) /* y = z0 + 0.75 x0 again from the scaled ones */
            assert_close(-2 * z[i] + 0.75 * 0.75 * x[i], y[i], 1e-14, 1);
        free(x), free(y), free(z);
    }
}

static void test_la__norm_neither_overflows_nor_underflows(void **state)
{
    (void)state;
    const double scales[] = {1e-320, 1e-300, 1e-160, 1e-125, 1, 1e149, 1e160, 1e300};
    for (int s = 0; s < 8; s++) {
        double x[20000], exact = scales[s] < 1e-310 ? 1e-3 : 1e-13; /* subnormal numbers have few digits */
        for (size_t i = 0; i < 20000; i++) x[i] = (i % 2 ? 3 : -4) * scales[s];
        assert_close(sk_norm(2, x), 5 * scales[s], exact, 0);
        assert_close(sk_norm(20000, x), 500 * scales[s], exact, 0);
    }
    assert_true(isnan(sk_norm(3, (double[]){1, NAN, 2})) && isinf(sk_norm(3, (double[]){1, -INFINITY, 2})));
    assert_true(sk_norm(2, (double[]){0, -0.0}) == 0 && sk_norm(0, NULL) == 0);
}

/* Sums do not depend on the number of threads, to the bit. */
static void prop_dot_is_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    double *x = numbers(100000), *y = numbers(100000), first = 0;
    for (int threads = 1; threads <= 4; threads++) {
        sock_set_threads(ctx, threads);
        double dot = sk_dot(100000, x, y);
        if (threads == 1) first = dot;
        assert_memory_equal(&dot, &first, sizeof dot);
    }
    sock_set_threads(ctx, 2);
    free(x), free(y);
}

/* ---- Cholesky and triangles ---- */

static const size_t orders[] = {1, 2, 5, 32, 75, 200};

enum { ORDERS = sizeof orders / sizeof *orders };

/* Lower triangle of G G' + n I; above it rubbish that nobody may read. */
static double *positive(size_t n, size_t lda)
{
    double *g = numbers(n * n), *a = numbers(n * lda);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = i == j ? (double)n : 0;
            for (size_t k = 0; k < n; k++) sum += g[i * n + k] * g[j * n + k];
            a[i * lda + j] = sum;
        }
        for (size_t j = i + 1; j < n; j++) a[i * lda + j] = NAN;
    }
    free(g);
    return a;
}

static void test_la__cholesky_gives_back_the_matrix(void **state)
{
    (void)state;
    for (size_t o = 0; o < ORDERS; o++) {
        size_t n = orders[o], lda = n + PAD;
        double *a = positive(n, lda), *l = copy_of(n * lda, a);
        assert_int_equal(sk_cholesky(ctx, n, l, lda), SOCK_OK);
        for (size_t i = 0; i < n; i++) {
            assert_true(l[i * lda + i] > 0);
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;
                for (size_t k = 0; k <= j; k++) sum += l[i * lda + k] * l[j * lda + k];
                assert_close(sum, a[i * lda + j], 1e-14 * (double)n, sqrt(a[i * lda + i] * a[j * lda + j]));
            }
            for (size_t j = i + 1; j < n; j++) assert_true(isnan(l[i * lda + j])); /* untouched */
            for (size_t j = n; j < lda; j++) assert_true(l[i * lda + j] == a[i * lda + j]);
        }
        free(a), free(l);
    }
    assert_int_equal(sk_cholesky(ctx, 0, NULL, 1), SOCK_OK);
}

/* A large one goes by panels. L = D + u v' below the diagonal has a product that costs n^2 to write down: the factor
 * must come back, and what stands above it must stay. */
static void test_la__a_large_cholesky_gives_back_its_factor(void **state)
{
    (void)state;
    const size_t n = 2311, lda = n + PAD;
    double *a = malloc(n * lda * sizeof *a), *u = numbers(n), *v = numbers(n), *sum = malloc(n * sizeof *sum);
    for (size_t k = 0; k < n; k++) sum[k] = (k ? sum[k - 1] : 0) + v[k] * v[k];
    for (size_t k = 0; k < n; k++) u[k] *= 0.02; /* a factor that rounding leaves alone */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < lda; j++) { /* (L L')_ij = sum over k < j of u_i v_k u_j v_k + L_ij d_j */
            const double before = j && j <= i ? u[i] * u[j] * sum[j - 1] : 0, d = 2 + cos((double)j);
            a[i * lda + j] = j > i ? (double)NAN : j == i ? before + d * d : before + u[i] * v[j] * d;
        }
    assert_int_equal(sk_cholesky(ctx, n, a, lda), SOCK_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < lda; j++) {
            if (j > i)
                assert_true(isnan(a[i * lda + j]));
            else
                assert_close(a[i * lda + j], j == i ? 2 + cos((double)j) : u[i] * v[j], 1e-9, 1);
        }
    a[1800 * lda + 1800] = -1;
    assert_int_equal(sk_cholesky(ctx, n, a, lda), SOCK_ENUMERIC);
    free(a), free(u), free(v), free(sum);
}

static void test_la__a_large_cholesky_can_be_interrupted(void **state)
{
    (void)state;
    const size_t n = 2100;
    double *a = calloc(n * n, sizeof *a);
    for (size_t i = 0; i < n; i++) a[i * n + i] = 4;
    sock_cancel(ctx);
    sk_begin(ctx);
    assert_int_equal(sk_cholesky(ctx, n, a, n), SOCK_ECANCELLED);
    assert_string_equal(sock_message(ctx), "interrupted during a factorisation");
    sock_cancel_reset(ctx);
    sk_begin(ctx);
    for (size_t i = 0; i < n; i++) a[i * n + i] = 4;
    assert_int_equal(sk_cholesky(ctx, n, a, n), SOCK_OK);
    assert_true(a[n * n - 1] == 2);
    free(a);
}

static void test_la__cholesky_refuses_what_is_not_positive_definite(void **state)
{
    (void)state;
    for (size_t o = 1; o < ORDERS; o++) {
        size_t n = orders[o];
        const double spoil[] = {-1, 0, NAN, -INFINITY};
        for (size_t s = 0; s < 4; s++)
            for (size_t place = 0; place < n; place += n / 2) {
                double *a = positive(n, n);
                a[place * n + place] = spoil[s];
                sk_begin(ctx);
                assert_int_equal(sk_cholesky(ctx, n, a, n), SOCK_ENUMERIC);
                assert_string_equal(sock_message(ctx), "");
                free(a);
            }
        double *a = positive(n, n);
        a[(n - 1) * n] = NAN; /* below the diagonal */
        assert_int_equal(sk_cholesky(ctx, n, a, n), SOCK_ENUMERIC);
        free(a);
    }
}

/* All four solves with L, by multiplying back; and the solve with A. */
static void test_la__triangular_solves_multiply_back(void **state)
{
    (void)state;
    for (size_t o = 0; o < ORDERS; o++)
        for (int mode = 0; mode < 4; mode++) {
            size_t n = orders[o], m = 1 + o * 3, ldl = n + PAD;
            sk_op op = mode & 1 ? SK_TRANSPOSED : SK_PLAIN;
            bool right = mode & 2;
            size_t rows = right ? m : n, cols = right ? n : m, ldb = cols + PAD;
            double *l = positive(n, ldl), *b = numbers(rows * ldb), *x = copy_of(rows * ldb, b);
            assert_int_equal(sk_cholesky(ctx, n, l, ldl), SOCK_OK);
            if (right)
                sk_solve_lower_right(ctx, op, m, n, l, ldl, x, ldb);
            else
                sk_solve_lower(ctx, op, n, m, l, ldl, x, ldb);
            for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++) l[i * ldl + j] = 0; /* for the slow product */
            double *back = copy_of(rows * ldb, b);
            if (right)
                slow_gemm(SK_PLAIN, op, m, n, n, 1, x, ldb, l, ldl, 0, back, ldb);
            else
                slow_gemm(op, SK_PLAIN, n, m, n, 1, l, ldl, x, ldb, 0, back, ldb);
            assert_all_close(rows * ldb, back, b, 1e-13);
            free(l), free(b), free(x), free(back);
        }
}

static void test_la__cholesky_solve_solves(void **state)
{
    (void)state;
    for (size_t o = 0; o < ORDERS; o++) {
        size_t n = orders[o], m = 4;
        double *a = positive(n, n), *l = copy_of(n * n, a), *b = numbers(n * m), *x = copy_of(n * m, b);
        assert_int_equal(sk_cholesky(ctx, n, l, n), SOCK_OK);
        sk_cholesky_solve(ctx, n, m, l, n, x, m);
        sk_symmetrise(n, a, n);
        double *back = copy_of(n * m, b);
        slow_gemm(SK_PLAIN, SK_PLAIN, n, m, n, 1, a, n, x, m, 0, back, m);
        assert_all_close(n * m, back, b, 1e-13);
        free(a), free(l), free(b), free(x), free(back);
    }
}

/* ---- Eigenvalues ---- */

/* |V V' - I| for the rows of V (k x n). */
static void rows_are_orthonormal(size_t k, size_t n, const double *v, size_t ldv)
{
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t l = 0; l < n; l++) sum += v[i * ldv + l] * v[j * ldv + l];
            assert_close(sum, i == j, 1e-14 * (double)(n + 1), 1);
        }
}

static void test_la__eigen_rows_are_orthonormal_eigenvectors(void **state)
{
    (void)state;
    sk_eigen *space = NULL;
    assert_int_equal(sk_eigen_new(ctx, 200, &space), SOCK_OK); /* one space for all the orders */
    for (size_t o = 0; o < ORDERS; o++)
        for (int own = 0; own < 2; own++) {
            size_t n = orders[o], lda = n + PAD;
            double *a = numbers(n * lda), *v = copy_of(n * lda, a), *values = numbers(n), trace = 0, sum = 0;
            for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++) v[i * lda + j] = NAN; /* the lower triangle is enough */
            sk_symmetrise(n, a, lda);
            assert_int_equal(own ? sk_eigh(ctx, n, v, lda, values) : sk_eigen_solve(ctx, space, n, v, lda, values),
                             SOCK_OK);
            double scale = fmax(fabs(values[0]), fabs(values[n - 1]));
            for (size_t e = 0; e < n; e++) {
                assert_true(e == 0 || values[e] >= values[e - 1]);
                for (size_t i = 0; i < n; i++) { /* A v = value v */
                    double product = 0;
                    for (size_t j = 0; j < n; j++) product += a[i * lda + j] * v[e * lda + j];
                    assert_close(product, values[e] * v[e * lda + i], 1e-14 * (double)(n + 1), scale);
                }
                trace += a[e * lda + e];
                sum += values[e];
            }
            assert_close(sum, trace, 1e-14 * (double)(n + 1), scale);
            rows_are_orthonormal(n, n, v, lda);
            free(a), free(v), free(values);
        }
    assert_int_equal(sk_eigen_solve(ctx, space, 0, NULL, 1, NULL), SOCK_OK);
    sk_eigen_free(space);
    sk_eigen_free(NULL);
}

static void test_la__eigen_knows_the_second_difference(void **state)
{
    (void)state;
    enum { N = 30 };
    double a[N * N] = {0}, values[N];
    for (size_t i = 0; i < N; i++) {
        a[i * N + i] = 2;
        if (i) a[i * N + i - 1] = -1;
    }
    assert_int_equal(sk_eigh(ctx, N, a, N, values), SOCK_OK);
    for (size_t k = 0; k < N; k++)
        assert_close(values[k], 2 - 2 * cos(3.14159265358979323846 * (double)(k + 1) / (N + 1)), 1e-14, 4);
}

static void test_la__eigen_and_svd_refuse_what_is_not_finite(void **state)
{
    (void)state;
    const double spoil[] = {NAN, INFINITY, -INFINITY};
    for (size_t s = 0; s < 3; s++)
        for (size_t n = 1; n <= 9; n += 4) {
            double *a = numbers(n * n), values[9];
            a[(n - 1) * n] = spoil[s];
            sk_begin(ctx);
            assert_int_equal(sk_eigh(ctx, n, a, n, values), SOCK_ENUMERIC);
            assert_non_null(strstr(sock_message(ctx), "not finite"));
            sk_begin(ctx);
            assert_int_equal(sk_svd(ctx, n, n, a, n, values, NULL, 0, NULL, 0), SOCK_ENUMERIC);
            assert_non_null(strstr(sock_message(ctx), "not finite"));
            free(a);
        }
}

static void test_la__sizes_beyond_the_library_are_refused(void **state)
{
    (void)state;
    sk_eigen *space = NULL;
    const size_t sizes[] = {40000, (size_t)1 << 31, SIZE_MAX};
    for (size_t i = 0; i < 3; i++) {
        sk_begin(ctx);
        assert_int_equal(sk_eigen_new(ctx, sizes[i], &space), SOCK_ENOMEM);
        assert_non_null(strstr(sock_message(ctx), "more than the linear algebra library can hold"));
        assert_null(space);
    }
    assert_int_equal(sk_cholesky(ctx, (size_t)1 << 31, NULL, (size_t)1 << 31), SOCK_ENOMEM);
    assert_int_equal(sk_qr(ctx, (size_t)1 << 31, 1, NULL, 1, NULL, 1), SOCK_ENOMEM);
    assert_int_equal(sk_svd(ctx, (size_t)1 << 31, 1, NULL, 1, NULL, NULL, 0, NULL, 0), SOCK_ENOMEM);
}

/* ---- QR and SVD ---- */

static const size_t tall[][2] = {{1, 1}, {4, 1}, {5, 5}, {40, 13}, {130, 70}};

static void test_la__qr_gives_back_the_matrix(void **state)
{
    (void)state;
    for (size_t s = 0; s < 5; s++) {
        size_t m = tall[s][0], n = tall[s][1], lda = n + PAD, ldr = n + 1;
        double *a = numbers(m * lda), *q = copy_of(m * lda, a), *r = numbers(n * ldr), *t = calloc(n * m, sizeof *t);
        assert_int_equal(sk_qr(ctx, m, n, q, lda, r, ldr), SOCK_OK);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++) assert_true(r[i * ldr + j] == 0);
        double *back = copy_of(m * lda, a);
        slow_gemm(SK_PLAIN, SK_PLAIN, m, n, n, 1, q, lda, r, ldr, 0, back, lda);
        assert_all_close(m * lda, back, a, 1e-14 * (double)n + 1e-14);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) t[j * m + i] = q[i * lda + j];
        rows_are_orthonormal(n, m, t, m);
        free(a), free(q), free(r), free(t), free(back);
    }
    assert_int_equal(sk_qr(ctx, 3, 0, NULL, 1, NULL, 1), SOCK_OK);
}

static void check_svd(size_t m, size_t n)
{
    size_t k = SK_MIN(m, n), lda = n + PAD, ldu = k + 1, ldvt = n + 2;
    double *a = numbers(m * lda), *spoilt = copy_of(m * lda, a), *only = numbers(k), *s = numbers(k);
    double *u = numbers(m * ldu), *vt = numbers(k * ldvt), *ut = calloc(k * m, sizeof *ut);
    assert_int_equal(sk_svd(ctx, m, n, spoilt, lda, s, u, ldu, vt, ldvt), SOCK_OK);
    memcpy(spoilt, a, m * lda * sizeof *a);
    assert_int_equal(sk_svd(ctx, m, n, spoilt, lda, only, NULL, 0, NULL, 0), SOCK_OK);
    assert_all_close(k, only, s, 1e-13);
    for (size_t i = 0; i < k; i++) assert_true(s[i] >= 0 && (i == 0 || s[i] <= s[i - 1]));
    rows_are_orthonormal(k, n, vt, ldvt);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < k; j++) ut[j * m + i] = u[i * ldu + j];
    rows_are_orthonormal(k, m, ut, m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++) sum += u[i * ldu + l] * s[l] * vt[l * ldvt + j];
            assert_close(sum, a[i * lda + j], 1e-14 * (double)(m + n), s[0]);
        }
    free(a), free(spoilt), free(only), free(s), free(u), free(vt), free(ut);
}

static void test_la__svd_gives_back_the_matrix(void **state)
{
    (void)state;
    for (size_t s = 0; s < 5; s++) {
        check_svd(tall[s][0], tall[s][1]);
        check_svd(tall[s][1], tall[s][0]);
    }
    assert_int_equal(sk_svd(ctx, 0, 3, NULL, 3, NULL, NULL, 0, NULL, 0), SOCK_OK);
}

/* ---- Calls that an interrupt need not wait for ---- */

enum { LONG = 720 };

/* The second difference, LONG x LONG, in a wider memory; eigenvalues 2 - 2 cos(pi k / (LONG + 1)). */
static double *second_difference(size_t lda)
{
    double *a = calloc(LONG * lda, sizeof *a);
    for (size_t i = 0; i < LONG; i++) {
        a[i * lda + i] = 2;
        if (i) a[i * lda + i - 1] = a[(i - 1) * lda + i] = -1;
    }
    return a;
}

static double its_eigenvalue(size_t k) { return 2 - 2 * cos(3.14159265358979323846 * (double)(k + 1) / (LONG + 1)); }

static void test_la__long_eigen_is_that_of_a_known_matrix(void **state)
{
    (void)state;
    const size_t lda = LONG + PAD;
    double *a = second_difference(lda), *values = numbers(LONG);
    assert_int_equal(sk_eigh(ctx, LONG, a, lda, values), SOCK_OK);
    for (size_t e = 0; e < LONG; e++) {
        const double *v = a + e * lda;
        assert_close(values[e], its_eigenvalue(e), 1e-13, 4);
        for (size_t i = 1; i + 1 < LONG; i++) assert_close(2 * v[i] - v[i - 1] - v[i + 1], values[e] * v[i], 1e-12, 1);
        assert_close(sk_dot(LONG, v, v), 1, 1e-12, 1);
    }
    free(a), free(values);
}

static void check_long_svd(size_t m, size_t n)
{
    const size_t lda = n + PAD, ldu = LONG + 1, ldvt = n + 2;
    double *square = second_difference(LONG), *a = calloc(m * lda, sizeof *a), *spoilt, *s = numbers(LONG);
    double *u = numbers(m * ldu), *vt = numbers(LONG * ldvt), *only = numbers(LONG);
    for (size_t i = 0; i < LONG; i++) memcpy(a + i * lda, square + i * LONG, LONG * sizeof *a);
    spoilt = copy_of(m * lda, a);
    assert_int_equal(sk_svd(ctx, m, n, spoilt, lda, s, u, ldu, vt, ldvt), SOCK_OK);
    memcpy(spoilt, a, m * lda * sizeof *a);
    assert_int_equal(sk_svd(ctx, m, n, spoilt, lda, only, NULL, 0, NULL, 0), SOCK_OK);
    for (size_t k = 0; k < LONG; k++) {
        assert_close(s[k], its_eigenvalue(LONG - 1 - k), 1e-13, 4);
        assert_close(only[k], s[k], 1e-13, 4);
    }
    for (size_t i = 0; i < m; i += 37)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < LONG; l++) sum += u[i * ldu + l] * s[l] * vt[l * ldvt + j];
            assert_close(sum, a[i * lda + j], 1e-12, 4);
        }
    free(square), free(a), free(spoilt), free(s), free(u), free(vt), free(only);
}

static void test_la__long_svd_gives_back_the_matrix(void **state)
{
    (void)state;
    check_long_svd(LONG, LONG + 30);
    check_long_svd(LONG + 30, LONG);
}

static void test_la__long_qr_gives_back_the_matrix(void **state)
{
    (void)state;
    const size_t m = LONG + 50, lda = LONG + PAD, ldr = LONG + 1;
    double *square = second_difference(LONG), *a = numbers(m * lda), *q, *r = numbers(LONG * ldr);
    for (size_t i = 0; i < LONG; i++) memcpy(a + i * lda, square + i * LONG, LONG * sizeof *a);
    q = copy_of(m * lda, a);
    assert_int_equal(sk_qr(ctx, m, LONG, q, lda, r, ldr), SOCK_OK);
    for (size_t i = 0; i < LONG; i++)
        for (size_t j = 0; j < i; j++) assert_true(r[i * ldr + j] == 0);
    for (size_t i = 0; i < m; i += 37)
        for (size_t j = 0; j < LONG; j++) {
            double sum = 0;
            for (size_t l = 0; l <= j; l++) sum += q[i * lda + l] * r[l * ldr + j];
            assert_close(sum, a[i * lda + j], 1e-12, 4);
        }
    free(square), free(a), free(q), free(r);
}

static int stop_now(void *user, const char *stage, double fraction)
{
    (void)stage;
    assert_true(fraction == -1);
    return ++*(int *)user == 1;
}

/* It comes back at once, from where it began, and the next call works; what the first one has is cleared by itself. */
static void test_la__an_interrupt_does_not_wait_for_lapack(void **state)
{
    (void)state;
    enum { LARGE = 1400 };
    double *a = calloc((size_t)LARGE * LARGE, sizeof *a), *values = numbers(LARGE);
    int asked = 0;
    for (size_t i = 0; i < LARGE; i++)
        for (size_t j = 0; j <= i; j++) a[i * LARGE + j] = cos((double)(i * j));
    sock_set_monitor(ctx, stop_now, &asked);
    sk_begin(ctx);
    const clock_t begin = clock();
    assert_int_equal(sk_eigh(ctx, LARGE, a, LARGE, values), SOCK_ECANCELLED);
    assert_true(clock() - begin < CLOCKS_PER_SEC / 2);
    sock_set_monitor(ctx, NULL, NULL);
    assert_string_equal(sock_message(ctx), "interrupted during an eigendecomposition");
    sk_begin(ctx);
    assert_int_equal(sk_svd(ctx, LARGE, LARGE, a, LARGE, values, NULL, 0, NULL, 0), SOCK_ECANCELLED);
    assert_string_equal(sock_message(ctx), "interrupted during a singular value decomposition");
    sk_begin(ctx);
    assert_int_equal(sk_qr(ctx, LARGE, LARGE, a, LARGE, a, LARGE), SOCK_ECANCELLED);
    assert_string_equal(sock_message(ctx), "interrupted during a QR factorisation");
    assert_true(a[LARGE] == cos(0) && a[LARGE + 1] == cos(1));
    sock_cancel_reset(ctx);
    sk_begin(ctx);
    free(a), free(values);
    a = second_difference(LONG), values = numbers(LONG);
    assert_int_equal(sk_eigh(ctx, LONG, a, LONG, values), SOCK_OK);
    assert_close(values[0], its_eigenvalue(0), 1e-13, 4);
    free(a), free(values);
}

/* The library under it gives its memory back at exit, which such a call would notice. */
static void test_la__a_process_that_left_a_call_exits_as_ever(void **state)
{
    (void)state;
    enum { LARGE = 1400, ANSWER = 7 };
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        double *a = calloc((size_t)LARGE * LARGE, sizeof *a), *values = numbers(LARGE);
        for (size_t i = 0; i < LARGE; i++)
            for (size_t j = 0; j <= i; j++) a[i * LARGE + j] = cos((double)(i * j));
        sock_cancel(ctx);
        exit(sk_eigh(ctx, LARGE, a, LARGE, values) == SOCK_ECANCELLED ? ANSWER : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == ANSWER);
}

/* ---- Failing allocations ---- */

static sock_status all_that_allocate(sock_context *context, void *arg)
{
    (void)arg;
    double a[] = {4, 0, 1, 3}, values[2], r[4], u[4], vt[4];
    SK_TRY(sk_eigh(context, 2, a, 2, values));
    SK_TRY(sk_qr(context, 2, 2, a, 2, r, 2));
    return sk_svd(context, 2, 2, a, 2, values, u, 2, vt, 2);
}

static void test_la__every_failed_allocation_comes_back(void **state)
{
    (void)state;
    assert_int_equal(for_each_allocation(ctx, all_that_allocate, NULL), 7);
}

/* M (M^-1 v) = v where the first pivot is zero and rows must change places; a singular one is refused. */
static void prop_small__elimination_is_undone_by_the_product(void **state)
{
    (void)state;
    const double m[16] = {0, 2, -1, 3, 1, -2, 0.5, 4, -3, 1, 2, 0.25, 2, 0, 7, -1}, v[4] = {1, -2, 0.5, 3};
    double lu[16], x[4];
    size_t pivot[4];
    memcpy(lu, m, sizeof m), memcpy(x, v, sizeof v);
    assert_true(sk_eliminate(4, 1e-3, lu, pivot));
    sk_unwind(4, lu, pivot, x);
    for (size_t i = 0; i < 4; i++) {
        double product = 0;
        for (size_t j = 0; j < 4; j++) product += m[i * 4 + j] * x[j];
        assert_close(product, v[i], 1e-14, 10);
    }
    double singular[4] = {1, 2, 2, 4};
    assert_false(sk_eliminate(2, 1e-3, singular, pivot));
}

/* In five dimensions each sum of the factor has several terms. */
static void prop_small__factor_of_five_dimensions(void **state)
{
    (void)state;
    enum { D = 5 };
    double a[D * D], c[D * D];
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) a[i * D + j] = 1 / (double)(1 + i + j) + (i == j ? 0.1 * (double)(i + 1) : 0);
    assert_int_equal(sk_factor_copy(D, 1e-14, a, c), 0);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double product = 0;
            for (size_t k = 0; k < D; k++) product += c[i * D + k] * c[j * D + k];
            assert_close(product, a[i * D + j], 1e-14, 1);
        }
}

/* C C' = A for a semi-definite A of rank 2 in three dimensions, with one zero column; the eigenvalues by rotations. */
static void prop_small__factor_and_eigenvectors_give_the_matrix_back(void **state)
{
    (void)state;
    const double b[6] = {1, 2, -1, 0.5, 3, 1}; /* A = B B', B 3 x 2 */
    double a[9], c[9], v[9], diagonal[9];
    for (size_t i = 0; i < 9; i++) a[i] = b[i / 3 * 2] * b[i % 3 * 2] + b[i / 3 * 2 + 1] * b[i % 3 * 2 + 1];
    assert_int_equal(sk_factor_copy(3, 1e-14, a, c), 1);
    assert_true(c[1] == 0 && c[2] == 0 && c[5] == 0 && c[8] == 0);
    memcpy(diagonal, a, sizeof a);
    sk_jacobi(3, diagonal, v);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            double product = 0, spectral = 0, unit = 0;
            for (size_t k = 0; k < 3; k++) {
                product += c[i * 3 + k] * c[j * 3 + k];
                spectral += diagonal[k * 3 + k] * v[k * 3 + i] * v[k * 3 + j];
                unit += v[i * 3 + k] * v[j * 3 + k];
            }
            assert_close(product, a[i * 3 + j], 1e-14, 10);
            assert_close(spectral, a[i * 3 + j], 1e-14, 10);
            assert_close(unit, i == j, 1e-14, 1);
        }
    for (double unit = 1e-200; unit < 1e201; unit *= 1e200) { /* whose squares no double holds */
        double other[9], w[9];
        for (size_t i = 0; i < 9; i++) other[i] = unit * a[i];
        sk_jacobi(3, other, w);
        for (size_t i = 0; i < 9; i++) {
            assert_close(other[i] / unit, diagonal[i], 1e-14, 10);
            assert_close(w[i], v[i], 1e-14, 1);
        }
    }
    a[8] -= 1; /* indefinite: the last pivot is lost, and what comes out is finite */
    assert_int_equal(sk_factor_copy(3, 0, a, c), 1);
    a[0] = (double)NAN;
    assert_int_equal(sk_factor_copy(3, 0, a, c), 0);
    assert_true(isnan(c[0]) && isnan(c[8]));
}

/* The short way gives the same bits, also where a pivot is lost. */
static void prop_small__factor_of_a_diagonal_matrix(void **state)
{
    (void)state;
    static const double own[] = {2, 0, 0.3, -1, 7};
    double a[25] = {0}, plain[25], copied[25];
    for (size_t k = 0; k < 5; k++) a[k * 6] = own[k];
    assert_true(sk_is_diagonal(5, a));
    memcpy(plain, a, sizeof a);
    assert_int_equal(sk_factor_small(5, 1e-14, plain), 2);
    assert_int_equal(sk_factor_copy(5, 1e-14, a, copied), 2);
    assert_memory_equal(plain, copied, sizeof plain);
    a[21] = 1e-300;
    assert_false(sk_is_diagonal(5, a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_small__elimination_is_undone_by_the_product),
        cmocka_unit_test(prop_small__factor_of_five_dimensions),
        cmocka_unit_test(prop_small__factor_of_a_diagonal_matrix),
        cmocka_unit_test(prop_small__factor_and_eigenvectors_give_the_matrix_back),
        cmocka_unit_test(test_la__gemm_is_the_slow_product),
        cmocka_unit_test(test_la__gemm_f32_is_the_slow_product),
        cmocka_unit_test(test_la__syrk_is_the_lower_triangle_of_the_product),
        cmocka_unit_test(test_la__gemv_is_the_slow_product),
        cmocka_unit_test(test_la__symmetrise_copies_the_lower_triangle_up),
        cmocka_unit_test(test_la__restore_lower_copies_the_upper_triangle_down),
        cmocka_unit_test(test_la__transpose_swaps_rows_and_columns),
        cmocka_unit_test(test_la__vectors),
        cmocka_unit_test(test_la__norm_neither_overflows_nor_underflows),
        cmocka_unit_test(prop_dot_is_the_same_for_any_number_of_threads),
        cmocka_unit_test(test_la__cholesky_gives_back_the_matrix),
        cmocka_unit_test(test_la__a_large_cholesky_gives_back_its_factor),
        cmocka_unit_test(test_la__a_large_cholesky_can_be_interrupted),
        cmocka_unit_test(test_la__cholesky_refuses_what_is_not_positive_definite),
        cmocka_unit_test(test_la__triangular_solves_multiply_back),
        cmocka_unit_test(test_la__cholesky_solve_solves),
        cmocka_unit_test(test_la__eigen_rows_are_orthonormal_eigenvectors),
        cmocka_unit_test(test_la__eigen_knows_the_second_difference),
        cmocka_unit_test(test_la__eigen_and_svd_refuse_what_is_not_finite),
        cmocka_unit_test(test_la__sizes_beyond_the_library_are_refused),
        cmocka_unit_test(test_la__qr_gives_back_the_matrix),
        cmocka_unit_test(test_la__svd_gives_back_the_matrix),
        cmocka_unit_test(test_la__long_eigen_is_that_of_a_known_matrix),
        cmocka_unit_test(test_la__long_svd_gives_back_the_matrix),
        cmocka_unit_test(test_la__long_qr_gives_back_the_matrix),
        cmocka_unit_test(test_la__an_interrupt_does_not_wait_for_lapack),
        cmocka_unit_test(test_la__a_process_that_left_a_call_exits_as_ever),
        cmocka_unit_test(test_la__every_failed_allocation_comes_back),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
