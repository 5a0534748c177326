/* test_matrixkernel.c - matrix-valued kernels: their defining derivatives by finite differences, symmetry, positive
 * definiteness, sums. */
#include "kernel/kernel.h"
#include "la/la.h"
#include "onecontext.h"

#include <string.h>

enum { MAX_D = 4 };

static sk_kernel *parse(const char *text)
{
    sk_kernel *kernel = NULL;
    if (sk_kernel_parse(ctx, "drift", text, &kernel) < 0) fail_msg("%s", sock_message(ctx));
    return kernel;
}

static void normals(uint64_t stream, size_t count, double *x)
{
    sk_normals((sk_key){.seed = 2, .purpose = SK_PURPOSE_TEST}, stream, 0, 0, count, x);
}

/* field = K(x, y) c */
static void column_field(const sk_kernel *kernel, size_t d, const double *x, const double *y, const double *c,
                         double *field)
{
    double block[MAX_D * MAX_D];
    sk_kernel_matrix_block(kernel, d, 1, x, 1, y, block, d);
    for (size_t k = 0; k < d; k++) {
        field[k] = 0;
        for (size_t l = 0; l < d; l++) field[k] += block[k * d + l] * c[l];
    }
}

/* slope[k * d + l] = d field_k / d x_l, central differences of fourth order: error about 1e-11. */
static void field_slopes(const sk_kernel *kernel, size_t d, const double *x, const double *y, const double *c,
                         double *slope)
{
    const double h = 1e-3, place[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    memset(slope, 0, d * d * sizeof *slope);
    for (size_t l = 0; l < d; l++)
        for (int s = 0; s < 4; s++) {
            double moved[MAX_D], field[MAX_D];
            memcpy(moved, x, d * sizeof *x);
            moved[l] += place[s] * h;
            column_field(kernel, d, moved, y, c, field);
            for (size_t k = 0; k < d; k++) slope[k * d + l] += weight[s] * field[k] / (12 * h);
        }
}

static void prop_curlfree_columns_are_gradients(void **state)
{
    (void)state;
    sk_kernel *kernel = parse("curlfree:eta=1.3,scale=2");
    for (size_t d = 2; d <= MAX_D; d++)
        for (uint64_t draw = 0; draw < 10; draw++) {
            double point[3 * MAX_D], slope[MAX_D * MAX_D], trace = 0;
            normals(draw, 3 * d, point);
            field_slopes(kernel, d, point, point + d, point + 2 * d, slope);
            for (size_t k = 0; k < d; k++) {
                trace += fabs(slope[k * d + k]);
                for (size_t l = 0; l < k; l++) assert_close(slope[k * d + l], slope[l * d + k], 1e-9, 1);
            }
            assert_true(trace > 1e-3); /* not the zero field */
        }
    sk_kernel_free(kernel);
}

static void prop_divfree_columns_have_no_divergence(void **state)
{
    (void)state;
    sk_kernel *kernel = parse("divfree:eta=0.9,scale=2");
    for (size_t d = 2; d <= MAX_D; d++)
        for (uint64_t draw = 0; draw < 10; draw++) {
            double point[3 * MAX_D], slope[MAX_D * MAX_D], trace = 0, largest = 0;
            normals(100 + draw, 3 * d, point);
            field_slopes(kernel, d, point, point + d, point + 2 * d, slope);
            for (size_t k = 0; k < d; k++) trace += slope[k * d + k];
            for (size_t i = 0; i < d * d; i++) largest = fmax(largest, fabs(slope[i]));
            assert_close(trace, 0, 1e-9, 1);
            assert_true(largest > 1e-3);
        }
    sk_kernel_free(kernel);
}

/* Second derivatives of phi(u) = exp(-|u|^2 / (2 eta^2)) by differences: K_cf = -Hessian, K_df = Hessian - Laplacian I.
 */
static void test_matrixkernel__is_made_of_second_derivatives(void **state)
{
    (void)state;
    enum { D = 3 };
    const double h = 1e-3;
    sk_kernel *curlfree = parse("curlfree:eta=0.8"), *divfree = parse("divfree:eta=0.8"),
              *gauss = parse("gauss:eta=0.8");
    double point[2 * D], hessian[D * D], cf[D * D], df[D * D], laplace = 0;
    normals(50, 2 * D, point);
    for (size_t k = 0; k < D; k++)
        for (size_t l = 0; l < D; l++) {
            double sum = 0;
            for (int a = -1; a <= 1; a += 2)
                for (int b = -1; b <= 1; b += 2) {
                    double moved[D], value[D * D];
                    memcpy(moved, point, sizeof moved);
                    moved[k] += a * h;
                    moved[l] += b * h;
                    sk_kernel_matrix_block(gauss, D, 1, moved, 1, point + D, value, D);
                    sum += a * b * value[0];
                }
            hessian[k * D + l] = sum / (4 * h * h);
        }
    for (size_t k = 0; k < D; k++) laplace += hessian[k * D + k];
    sk_kernel_matrix_block(curlfree, D, 1, point, 1, point + D, cf, D);
    sk_kernel_matrix_block(divfree, D, 1, point, 1, point + D, df, D);
    for (size_t k = 0; k < D; k++)
        for (size_t l = 0; l < D; l++) {
            assert_close(cf[k * D + l], -hessian[k * D + l], 1e-5, 1);
            assert_close(df[k * D + l], hessian[k * D + l] - (k == l ? laplace : 0), 1e-5, 1);
        }
    sk_kernel_free(curlfree), sk_kernel_free(divfree), sk_kernel_free(gauss);
}

/* A kernel of the user's own: K = (x.y + 1) (user) I + x y' (positive definite as a sum of feature products). */
static void own_kernel(void *user, size_t d, const double *x, const double *y, double *out)
{
    double xy = 1;
    for (size_t k = 0; k < d; k++) xy += x[k] * y[k];
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) out[k * d + l] = x[k] * y[l] + (k == l ? xy * *(const double *)user : 0);
}

/* K(x, y) = K(y, x)' and the block Gram of points has no negative eigenvalue. */
static void check_positive_definite(const sk_kernel *kernel, size_t d)
{
    enum { N = 12 };
    double x[N * MAX_D], gram[N * MAX_D * N * MAX_D], values[N * MAX_D];
    const size_t n = N * d;
    normals(60, N * d, x);
    sk_kernel_matrix_block(kernel, d, N, x, N, x, gram, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) assert_close(gram[i * n + j], gram[j * n + i], 1e-15, 1);
    assert_int_equal(sk_eigh(ctx, n, gram, n, values), SOCK_OK);
    assert_true(values[0] >= -1e-13 * values[n - 1]);
    assert_true(values[n - 1] > 0);
}

static void prop_block_gram_is_symmetric_and_positive(void **state)
{
    (void)state;
    const char *const text[] = {"curlfree:eta=1", "divfree:eta=1", "gauss:eta=1",
                                "curlfree:eta=2+divfree:eta=0.5+linear"};
    for (size_t d = 2; d <= MAX_D; d++)
        for (size_t t = 0; t < 4; t++) {
            sk_kernel *kernel = parse(text[t]);
            check_positive_definite(kernel, d);
            sk_kernel_free(kernel);
        }
    sk_kernel *kernel = parse("gauss:eta=1,B=[2 1;1 1]+poly:degree=2,B=[1 -1;-1 1]+affine");
    check_positive_definite(kernel, 2);
    sk_kernel_free(kernel);
    double half = 0.5;
    assert_int_equal(sk_kernel_from_callback(ctx, own_kernel, &half, &kernel), SOCK_OK);
    check_positive_definite(kernel, 3);
    sk_kernel_free(kernel);
}

/* Block (i, j) stands at rows i d and columns j d; the sum of k_q B_q, terms without B times the identity. */
static void test_matrixkernel__separable_sums_are_the_formula(void **state)
{
    (void)state;
    enum { D = 2, NX = 3, NY = 4, LD = NY * D + 1 };
    const double b1[] = {2, 1, 1, 1}, b2[] = {1, -1, -1, 1};
    sk_kernel *kernel = parse("gauss:eta=0.6,scale=3,B=[2 1;1 1]+poly:degree=3,B=[1 -1;-1 1]+affine:scale=0.5");
    double x[NX * D], y[NY * D], out[NX * D * LD], expected[NX * D * LD];
    normals(70, NX * D, x);
    normals(71, NY * D, y);
    for (size_t i = 0; i < NX * D * LD; i++) out[i] = expected[i] = -9;
    for (size_t i = 0; i < NX; i++)
        for (size_t j = 0; j < NY; j++) {
            const double *a = x + i * D, *b = y + j * D;
            double square = pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2), xy = a[0] * b[0] + a[1] * b[1];
            for (size_t k = 0; k < D; k++)
                for (size_t l = 0; l < D; l++)
                    expected[(i * D + k) * LD + j * D + l] = 3 * exp(-square / 0.72) * b1[k * D + l] +
                                                             pow(xy + 1, 3) * b2[k * D + l] +
                                                             (k == l ? 0.5 * (xy + 1) : 0);
        }
    sk_kernel_matrix_block(kernel, D, NX, x, NY, y, out, LD);
    assert_all_close(NX * D * LD, out, expected, 1e-14);
    sk_kernel_free(kernel);
}

static void test_matrixkernel__scalar_kernels_stand_on_the_diagonal(void **state)
{
    (void)state;
    enum { D = 3, N = 5 };
    sk_kernel *kernel = parse("gauss:eta=0.6+linear:scale=2");
    double x[N * D], full[N * D * N * D], scalar[N * N], *space = sk_doubles(ctx, sk_kernel_space(D, N), 1);
    normals(72, N * D, x);
    sk_kernel_matrix_block(kernel, D, N, x, N, x, full, N * D);
    sk_kernel_block(ctx, kernel, D, N, x, N, x, scalar, N, space);
    for (size_t i = 0; i < N * D; i++)
        for (size_t j = 0; j < N * D; j++)
            assert_close(full[i * N * D + j], i % D == j % D ? scalar[i / D * N + j / D] : 0, 1e-14, 1);
    sk_kernel_free(kernel);
    sk_free(space);
}

static void test_matrixkernel__calls_the_users_function(void **state)
{
    (void)state;
    enum { D = 3 };
    double x[D], y[D], out[D * D], expected[D * D], weight = 0.25;
    sk_kernel *kernel = NULL, *copy = NULL;
    normals(73, D, x);
    normals(74, D, y);
    assert_int_equal(sk_kernel_from_callback(ctx, own_kernel, &weight, &kernel), SOCK_OK);
    assert_int_equal(sk_kernel_copy(ctx, kernel, &copy), SOCK_OK);
    assert_true(sk_kernel_is_matrix(copy) && !sk_kernel_is_closed(copy));
    own_kernel(&weight, D, x, y, expected);
    sk_kernel_matrix_block(copy, D, 1, x, 1, y, out, D);
    assert_all_close(D * D, out, expected, 1e-15);
    sk_begin(ctx);
    assert_int_equal(sk_kernel_resolve(ctx, "drift", kernel, 65, 0, NULL), SOCK_EUSAGE);
    sk_kernel_free(kernel), sk_kernel_free(copy);
}

static void test_matrixkernel__far_points_give_numbers(void **state)
{
    (void)state;
    const char *const text[] = {"curlfree:eta=1", "divfree:eta=1", "curlfree:eta=1e-100", "divfree:eta=1e100"};
    const double x[] = {1e200, 3, -1e300, 0, 0, 0, 1e-100, 0};
    double out[8 * 8];
    for (size_t t = 0; t < 4; t++) {
        sk_kernel *kernel = parse(text[t]);
        sk_kernel_matrix_block(kernel, 2, 4, x, 4, x, out, 8);
        for (size_t i = 0; i < 64; i++) assert_true(isfinite(out[i]));
        sk_kernel_free(kernel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_curlfree_columns_are_gradients),
        cmocka_unit_test(prop_divfree_columns_have_no_divergence),
        cmocka_unit_test(test_matrixkernel__is_made_of_second_derivatives),
        cmocka_unit_test(prop_block_gram_is_symmetric_and_positive),
        cmocka_unit_test(test_matrixkernel__separable_sums_are_the_formula),
        cmocka_unit_test(test_matrixkernel__scalar_kernels_stand_on_the_diagonal),
        cmocka_unit_test(test_matrixkernel__calls_the_users_function),
        cmocka_unit_test(test_matrixkernel__far_points_give_numbers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
