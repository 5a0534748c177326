/* test_model.c - models in memory and in files: what is saved comes back bit for bit, hostile files are refused, the
 * fields are what their formulas say. */
#define _GNU_SOURCE
#include "la/la.h"
#include "model/model.h"
#include "test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct fixture {
    sock_context *ctx;
    sock_options *opts;
    char folder[64], path[96], other[96];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->ctx = sock_context_new();
    f->opts = sock_options_new(f->ctx);
    assert_int_equal(sock_options_set(f->ctx, f->opts, "tune", "no"), SOCK_OK);
    snprintf(f->folder, sizeof f->folder, "model-XXXXXX");
    if (!mkdtemp(f->folder)) return -1;
    snprintf(f->path, sizeof f->path, "%s/a.sock", f->folder);
    snprintf(f->other, sizeof f->other, "%s/b.sock", f->folder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    unlink(f->path);
    unlink(f->other);
    int left = rmdir(f->folder); /* fails when something else was left behind */
    sock_options_free(f->opts);
    sock_context_free(f->ctx);
    free(f);
    return left;
}

static void good(const fixture *f, sock_status status)
{
    if (status < 0) fail_msg("%s", sock_message(f->ctx));
}

static void normals(uint64_t stream, size_t count, double *out)
{
    sk_normals((sk_key){11, SK_PURPOSE_TEST}, stream, 0, 0, count, out);
}

/* Six short trajectories of dx = -x dt + 0.3 dW in d coordinates. */
static sock_data *make_data(fixture *f, size_t d)
{
    enum { PATHS = 6, POINTS = 7 };
    size_t length[PATHS];
    double *t = calloc(PATHS * POINTS, sizeof *t), *x = calloc(PATHS * POINTS * d, sizeof *x);
    normals(1, PATHS * POINTS * d, x);
    for (size_t j = 0; j < PATHS; j++) {
        length[j] = POINTS;
        for (size_t i = 0; i < POINTS; i++) {
            double *now = x + (j * POINTS + i) * d;
            t[j * POINTS + i] = 0.1 * (double)i;
            for (size_t k = 0; i && k < d; k++) now[k] = 0.9 * (now - d)[k] + 0.3 * sqrt(0.1) * now[k];
        }
    }
    sock_data *data = NULL;
    good(f, sock_data_from_arrays(f->ctx, d, PATHS, length, t, x, NULL, NULL, NULL, &data));
    free(t), free(x);
    return data;
}

static sock_model *fit(fixture *f, const sock_data *data, const char *drift, const char *form, const char *path)
{
    sock_model *model = NULL;
    good(f, sock_options_set(f->ctx, f->opts, "drift", drift));
    good(f, sock_options_set(f->ctx, f->opts, "drift-form", form));
    good(f, sock_options_set(f->ctx, f->opts, "drift-path", path));
    good(f, sock_fit(f->ctx, data, f->opts, &model));
    return model;
}

static unsigned char *read_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    assert_true(*size < 1 << 20);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- Models made by hand ---- */

static sk_features *features(fixture *f, const char *text, size_t d, size_t count, const double *x)
{
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    good(f, sk_kernel_parse(f->ctx, "test", text, &kernel));
    good(f, sk_kernel_resolve(f->ctx, "test", kernel, d, count, x));
    good(f, sk_features_new(f->ctx, "test", kernel, d, count, x, &map));
    sk_kernel_free(kernel);
    return map;
}

/* A term with random V; diagonal: column j belongs to component j mod d and is zero elsewhere. */
static void add_diffusion(fixture *f, sock_model *model, sk_features *map, size_t rank, bool diagonal)
{
    size_t d = model->d, p = sk_features_count(map);
    sk_diffusion_term *term = sk_alloc(f->ctx, 1, sizeof *term);
    *term = (sk_diffusion_term){.d = d, .map = map, .rank = rank, .v = sk_doubles(f->ctx, d * p, rank)};
    normals(20 + rank, d * p * rank, term->v);
    if (diagonal) {
        term->owner = sk_alloc(f->ctx, rank, sizeof *term->owner);
        for (size_t j = 0; j < rank; j++) {
            term->owner[j] = j % d;
            for (size_t row = 0; row < d * p; row++)
                if (row / p != j % d) term->v[row * rank + j] = 0;
        }
    }
    good(f, sk_model_add_diffusion(f->ctx, model, term));
}

/* A drift of features with random weights, a full and a diagonal term, a floor. */
static sock_model *model_by_hand(fixture *f, size_t d)
{
    double x[60];
    normals(3, 60, x);
    sock_model *model = NULL;
    good(f, sk_model_new(f->ctx, d, NULL, &model));
    sk_drift_term *term = sk_alloc(f->ctx, 1, sizeof *term);
    term->d = d;
    term->map = features(f, "poly:degree=2", d, 60 / d, x);
    term->weight = sk_doubles(f->ctx, sk_features_count(term->map), d);
    normals(4, sk_features_count(term->map) * d, term->weight);
    good(f, sk_model_add_drift(f->ctx, model, term));
    add_diffusion(f, model, features(f, "fourier:p=9,eta=1.5,seed=4", d, 60 / d, x), 4, false);
    add_diffusion(f, model, features(f, "nystrom:m=5,of=gauss,eta=1+affine", d, 60 / d, x), 5, true);
    model->floor = 0.125;
    json_t *info = json_pack("{s:s}", "made", "by hand");
    good(f, sk_model_set_info(f->ctx, model, info, NULL));
    json_decref(info);
    return model;
}

/* a(x) at one point from the definition: floor I + sum over terms of B B', B_k = phi' V_k. */
static void slow_diffusion(fixture *f, const sock_model *model, const double *x, double *a)
{
    size_t d = model->d;
    for (size_t i = 0; i < d * d; i++) a[i] = i % (d + 1) == 0 ? model->floor : 0;
    for (size_t q = 0; q < model->diffusion_terms; q++) {
        const sk_diffusion_term *term = model->diffusion[q];
        size_t p = sk_features_count(term->map), r = term->rank;
        double *phi = calloc(p, sizeof *phi);
        good(f, sk_features_eval(f->ctx, term->map, 1, x, phi, p));
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++)
                for (size_t j = 0; j < r; j++) {
                    double bk = 0, bl = 0;
                    for (size_t i = 0; i < p; i++) {
                        bk += phi[i] * term->v[(k * p + i) * r + j];
                        bl += phi[i] * term->v[(l * p + i) * r + j];
                    }
                    a[k * d + l] += bk * bl;
                }
        free(phi);
    }
}

/* ---- Round trips ---- */

static void check_same_fields(fixture *f, const sock_model *one, const sock_model *two)
{
    enum { COUNT = 301 };
    size_t d = sock_model_dim(one);
    assert_int_equal(sock_model_dim(two), d);
    assert_int_equal(sock_model_has_diffusion(two), sock_model_has_diffusion(one));
    double *x = calloc(COUNT * d, sizeof *x), *u = calloc(COUNT * d * d, sizeof *u),
           *v = calloc(COUNT * d * d, sizeof *v);
    normals(5, COUNT * d, x);
    good(f, sock_model_drift(f->ctx, one, COUNT, x, u));
    good(f, sock_model_drift(f->ctx, two, COUNT, x, v));
    assert_memory_equal(u, v, COUNT * d * sizeof *u);
    double largest = 0;
    for (size_t i = 0; i < COUNT * d; i++) largest = fmax(largest, fabs(u[i]));
    assert_true(largest > 0);
    if (sock_model_has_diffusion(one)) {
        good(f, sock_model_diffusion(f->ctx, one, COUNT, x, u));
        good(f, sock_model_diffusion(f->ctx, two, COUNT, x, v));
        assert_memory_equal(u, v, COUNT * d * d * sizeof *u);
    }
    free(x), free(u), free(v);
}

static void check_round_trip(fixture *f, sock_model *model)
{
    sock_model *loaded = NULL;
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    check_same_fields(f, model, loaded);
    for (size_t k = 0; k < sock_model_dim(model); k++)
        assert_string_equal(sock_model_name(loaded, k), sock_model_name(model, k));
    assert_string_equal(loaded->info, model->info);
    assert_true(loaded->floor == model->floor);
    /* saved again, it is the same file: nothing was lost or reordered on the way */
    size_t first_size, second_size;
    good(f, sock_model_save(f->ctx, loaded, f->other));
    unsigned char *first = read_bytes(f->path, &first_size), *second = read_bytes(f->other, &second_size);
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    free(first), free(second);
    sock_model_free(loaded);
}

static void prop_model__every_drift_term_comes_back(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *drift, *form, *path;
        size_t d;
    } row[] = {
        {"gauss", "implicit", "exact", 1},
        {"gauss:eta=0.7", "implicit", "exact", 2},
        {"gauss:eta=1.1,scale=2.5", "implicit", "pivoted", 2},
        {"gauss:eta=0.5", "nystrom", "auto", 2},
        {"poly:degree=3", "implicit", "exact", 2},
        {"poly:degree=3", "implicit", "pivoted", 2},
        {"poly:degree=2", "explicit", "auto", 3},
        {"linear", "explicit", "auto", 2},
        {"affine", "explicit", "auto", 2},
        {"constant", "explicit", "auto", 2},
        {"fourier:p=20,eta=0.9,seed=3", "auto", "auto", 2},
        {"nystrom:m=8", "auto", "auto", 2},
        {"nystrom:m=6,of=poly,degree=2,seed=5", "auto", "auto", 2},
        {"linear+poly:degree=2,scale=0.5+constant", "explicit", "auto", 2},
        {"gauss:eta=0.8+gauss:eta=2+affine:scale=0.1", "implicit", "exact", 2},
        {"gauss:eta=0.8+linear", "implicit", "pivoted", 2},
        {"fourier:p=11+nystrom:m=4+linear", "auto", "auto", 2},
        {"gauss:eta=0.8,B=[2 1;1 2]", "auto", "auto", 2},
        {"gauss:B=[1 0;0 0]+linear:B=[0.1 0.2;0.2 0.7]", "auto", "auto", 2},
        {"curlfree:eta=0.9", "auto", "auto", 2},
        {"curlfree:eta=0.9+gauss:eta=1,B=[0.5]", "auto", "auto", 1},
        {"divfree:eta=1.2,scale=0.3", "auto", "auto", 3},
        {"curlfree:eta=0.5+divfree+affine:B=[1 0;0 1]", "auto", "auto", 2},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        sock_data *data = make_data(f, row[i].d);
        sock_model *model = fit(f, data, row[i].drift, row[i].form, row[i].path);
        check_round_trip(f, model);
        sock_model_free(model);
        sock_data_free(data);
    }
}

/* f of a sum of terms is the sum, and an average of models is a model. */
static void prop_model__terms_add(void **state)
{
    fixture *f = *state;
    sock_data *data = make_data(f, 2);
    sock_model *one = fit(f, data, "gauss:eta=0.7", "implicit", "exact"),
               *two = fit(f, data, "affine", "explicit", "auto");
    double x[40], u[40], v[40], sum[40];
    normals(6, 40, x);
    good(f, sock_model_drift(f->ctx, one, 20, x, u));
    good(f, sock_model_drift(f->ctx, two, 20, x, v));
    good(f, sk_model_add_drift(f->ctx, one, two->drift[0]));
    two->drift_terms = 0; /* its term has moved */
    good(f, sock_model_drift(f->ctx, one, 20, x, sum));
    for (int i = 0; i < 40; i++) assert_close(sum[i], u[i] + v[i], 1e-14, fabs(u[i]) + fabs(v[i]));
    check_round_trip(f, one);
    sock_model_free(one), sock_model_free(two);
    sock_data_free(data);
}

static void test_model__a_diffusion_is_its_definition(void **state)
{
    fixture *f = *state;
    static const size_t dims[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        enum { COUNT = 270 }; /* more than one block */
        size_t d = dims[i];
        sock_model *model = model_by_hand(f, d);
        double *x = calloc(COUNT * d, sizeof *x), *a = calloc(COUNT * d * d, sizeof *a), slow[25], values[5];
        normals(7, COUNT * d, x);
        good(f, sock_model_diffusion(f->ctx, model, COUNT, x, a));
        for (size_t j = 0; j < COUNT; j += 13) {
            slow_diffusion(f, model, x + j * d, slow);
            assert_all_close(d * d, a + j * d * d, slow, 1e-13);
            for (size_t k = 0; k < d; k++)
                for (size_t l = 0; l < k; l++) assert_true(a[(j * d + k) * d + l] == a[(j * d + l) * d + k]);
            good(f, sk_eigh(f->ctx, d, a + j * d * d, d, values));
            assert_true(values[0] >= model->floor * (1 - 1e-13) - 1e-14 * values[d - 1]);
        }
        check_round_trip(f, model);
        sock_model_free(model);
        free(x), free(a);
    }
}

/* ---- Square roots ---- */

/* |s s - a| <= tolerance |a|, s symmetric, no negative eigenvalue. */
static void check_root(fixture *f, size_t d, const double *a, const double *s)
{
    double size = 0, values[5], copy[25];
    for (size_t i = 0; i < d * d; i++) size = fmax(size, fabs(a[i]));
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            double sum = 0;
            for (size_t j = 0; j < d; j++) sum += s[k * d + j] * s[j * d + l];
            assert_true(fabs(sum - a[k * d + l]) <= 1e-14 * (double)d * size);
            assert_true(s[k * d + l] == s[l * d + k]);
        }
    memcpy(copy, s, d * d * sizeof *s);
    good(f, sk_eigh(f->ctx, d, copy, d, values));
    assert_true(values[0] >= -1e-15 * (double)d * sqrt(size));
}

static void prop_model__sigma_sigma_is_a(void **state)
{
    fixture *f = *state;
    static const size_t dims[] = {1, 2, 3, 5};
    static const double scale[] = {1, 1e-140, 1e140};
    for (int i = 0; i < 4; i++)
        for (size_t rank = 0; rank <= dims[i]; rank++)
            for (int q = 0; q < 3; q++) {
                size_t d = dims[i];
                double b[25], a[25] = {0}, s[25];
                normals(30 + rank, d * rank, b);
                for (size_t k = 0; k < d; k++)
                    for (size_t l = 0; l < d; l++)
                        for (size_t j = 0; j < rank; j++) a[k * d + l] += scale[q] * b[k * rank + j] * b[l * rank + j];
                good(f, sk_square_roots(f->ctx, d, 1, a, s));
                check_root(f, d, a, s);
                good(f, sk_square_roots(f->ctx, d, 1, a, a)); /* in place */
                assert_memory_equal(a, s, d * d * sizeof *a);
            }
}

/* Eigenvalues below 0 count as 0: the root is that of the positive part. */
static void test_model__root_of_the_positive_part(void **state)
{
    fixture *f = *state;
    double c = cos(0.4), s = sin(0.4);
    double two[4], three[9] = {0}, root2[4], root3[9];
    static const double value[][2] = {{2, -0.5}, {-0.5, 2}, {-1, -3}, {0.25, 0}, {1, -1}};
    for (int i = 0; i < 5; i++) {
        double v = value[i][0], w = value[i][1], rv = sqrt(fmax(v, 0)), rw = sqrt(fmax(w, 0));
        two[0] = c * c * v + s * s * w;
        two[1] = two[2] = c * s * (v - w);
        two[3] = s * s * v + c * c * w;
        double expected[4] = {c * c * rv + s * s * rw, c * s * (rv - rw), c * s * (rv - rw), s * s * rv + c * c * rw};
        three[0] = two[0], three[1] = three[3] = two[1], three[4] = two[3], three[8] = 4;
        good(f, sk_square_roots(f->ctx, 2, 1, two, root2));
        good(f, sk_square_roots(f->ctx, 3, 1, three, root3));
        double embedded[4] = {root3[0], root3[1], root3[3], root3[4]};
        for (int j = 0; j < 4; j++) {
            /* with an eigenvalue 0, rounding of size eps in a is sqrt(eps) in its root */
            double tolerance = w == 0 ? 1e-7 : 1e-14;
            assert_close(root2[j], expected[j], tolerance, 1);
            assert_close(embedded[j], expected[j], tolerance, 1);
        }
        assert_close(root3[8], 2, 1e-14, 1);
    }
}

static void test_model__sigma_is_the_root_of_a(void **state)
{
    fixture *f = *state;
    sock_model *model = model_by_hand(f, 2);
    double x[60], a[120], sigma[120], root[120];
    normals(8, 60, x);
    good(f, sock_model_diffusion(f->ctx, model, 30, x, a));
    good(f, sock_model_sigma(f->ctx, model, 30, x, sigma));
    good(f, sk_square_roots(f->ctx, 2, 30, a, root));
    assert_memory_equal(sigma, root, sizeof sigma);
    for (int i = 0; i < 30; i++) check_root(f, 2, a + 4 * i, sigma + 4 * i);
    sock_model_free(model);
}

/* ---- Wrapped models ---- */

static void double_it(void *user, size_t count, size_t d, const double *x, double *out)
{
    for (size_t i = 0; i < count * d; i++) out[i] = *(const double *)user * x[i];
}

static void squares(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user;
    memset(out, 0, count * d * d * sizeof *out);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) out[(i * d + k) * d + k] = x[i * d + k] * x[i * d + k];
}

static void test_model__wrapped_functions(void **state)
{
    fixture *f = *state;
    enum { COUNT = 1000 };
    double factor = 2, *x = calloc(COUNT * 3, sizeof *x), *out = calloc(COUNT * 9, sizeof *out);
    static const char *const names[] = {"u", "v", "w"};
    sock_model *model = NULL, *drift_only = NULL;
    normals(9, COUNT * 3, x);
    good(f, sock_model_wrap(f->ctx, 3, names, double_it, squares, &factor, &model));
    good(f, sock_model_wrap(f->ctx, 3, NULL, double_it, NULL, &factor, &drift_only));
    assert_string_equal(sock_model_name(model, 2), "w");
    assert_string_equal(sock_model_name(drift_only, 2), "x2");
    assert_null(sock_model_name(model, 3));
    good(f, sock_model_drift(f->ctx, model, COUNT, x, out));
    for (size_t i = 0; i < COUNT * 3; i++) assert_true(out[i] == 2 * x[i]);
    good(f, sock_model_sigma(f->ctx, model, COUNT, x, out));
    for (size_t i = 0; i < COUNT * 3; i++) assert_close(out[i / 3 * 9 + i % 3 * 4], fabs(x[i]), 1e-14, 1e-300);
    assert_int_equal(sock_model_has_diffusion(drift_only), 0);
    assert_int_equal(sock_model_diffusion(f->ctx, drift_only, COUNT, x, out), SOCK_EUSAGE);
    assert_int_equal(sock_model_save(f->ctx, model, f->path), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "cannot be saved"));
    assert_int_equal(access(f->path, F_OK), -1);
    sock_model_free(model), sock_model_free(drift_only);
    free(x), free(out);
}

static void no_numbers(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d * d; i++) out[i] = NAN;
}

static void test_model__a_root_of_nan_is_a_failure(void **state)
{
    fixture *f = *state;
    for (size_t d = 1; d <= 4; d++) {
        double factor = 1, x[4] = {0}, out[16];
        sock_model *model = NULL;
        good(f, sock_model_wrap(f->ctx, d, NULL, double_it, no_numbers, &factor, &model));
        assert_int_equal(sock_model_sigma(f->ctx, model, 1, x, out), SOCK_ENUMERIC);
        assert_non_null(strstr(sock_message(f->ctx), "not finite"));
        sock_model_free(model);
    }
}

static void identity_kernel(void *user, size_t d, const double *x, const double *y, double *out)
{
    (void)user;
    double square = 0;
    for (size_t k = 0; k < d; k++) square += (x[k] - y[k]) * (x[k] - y[k]);
    for (size_t k = 0; k < d * d; k++) out[k] = k % (d + 1) == 0 ? exp(-0.5 * square) : 0;
}

static void test_model__a_callback_kernel_evaluates_and_is_not_saved(void **state)
{
    fixture *f = *state;
    sock_data *data = make_data(f, 2);
    sock_model *own = NULL, *plain = fit(f, data, "gauss:eta=1", "implicit", "exact");
    good(f, sock_options_set(f->ctx, f->opts, "drift-path", "auto"));
    good(f, sock_options_set(f->ctx, f->opts, "drift-form", "auto"));
    good(f, sock_options_set_drift_kernel(f->ctx, f->opts, identity_kernel, NULL));
    good(f, sock_fit(f->ctx, data, f->opts, &own));
    double x[40], u[40], v[40];
    normals(10, 40, x);
    good(f, sock_model_drift(f->ctx, own, 20, x, u));
    good(f, sock_model_drift(f->ctx, plain, 20, x, v));
    assert_all_close(40, u, v, 1e-10);
    assert_int_equal(sock_model_save(f->ctx, own, f->path), SOCK_EUSAGE);
    assert_int_equal(access(f->path, F_OK), -1);
    sock_model_free(own), sock_model_free(plain);
    sock_data_free(data);
}

/* ---- Evaluation ---- */

static void prop_model__threads_change_nothing(void **state)
{
    fixture *f = *state;
    enum { COUNT = 3000 };
    sock_data *data = make_data(f, 3);
    sock_model *models[3] = {fit(f, data, "gauss:eta=1", "implicit", "exact"),
                             fit(f, data, "curlfree:eta=1", "auto", "auto"), model_by_hand(f, 3)};
    double *x = calloc(COUNT * 3, sizeof *x), *one = calloc(COUNT * 9, sizeof *one),
           *many = calloc(COUNT * 9, sizeof *many);
    normals(12, COUNT * 3, x);
    for (int i = 0; i < 3; i++)
        for (int threads = 2; threads <= 5; threads += 3) {
            sock_set_threads(f->ctx, 1);
            good(f, sock_model_drift(f->ctx, models[i], COUNT, x, one));
            sock_set_threads(f->ctx, threads);
            good(f, sock_model_drift(f->ctx, models[i], COUNT, x, many));
            assert_memory_equal(one, many, COUNT * 3 * sizeof *one);
            if (!sock_model_has_diffusion(models[i])) continue;
            sock_set_threads(f->ctx, 1);
            good(f, sock_model_sigma(f->ctx, models[i], COUNT, x, one));
            sock_set_threads(f->ctx, threads);
            good(f, sock_model_sigma(f->ctx, models[i], COUNT, x, many));
            assert_memory_equal(one, many, COUNT * 9 * sizeof *one);
        }
    for (int i = 0; i < 3; i++) sock_model_free(models[i]);
    sock_data_free(data);
    free(x), free(one), free(many);
}

static void test_model__bad_points_are_refused(void **state)
{
    fixture *f = *state;
    sock_data *data = make_data(f, 2);
    good(f, sock_options_set(f->ctx, f->opts, "diffusion", "none"));
    sock_model *model = fit(f, data, "linear", "auto", "auto");
    double x[4] = {1, 2, 3, INFINITY}, out[4] = {7, 7, 7, 7};
    assert_int_equal(sock_model_drift(f->ctx, model, 2, x, out), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(f->ctx), "point 1, coordinate x1"));
    assert_true(out[0] == 7);
    x[3] = NAN;
    assert_int_equal(sock_model_drift(f->ctx, model, 2, x, out), SOCK_EINPUT);
    assert_int_equal(sock_model_drift(f->ctx, model, 2, NULL, out), SOCK_EUSAGE);
    assert_int_equal(sock_model_drift(f->ctx, NULL, 2, x, out), SOCK_EUSAGE);
    assert_int_equal(sock_model_drift(f->ctx, model, 0, NULL, NULL), SOCK_OK);
    assert_int_equal(sock_model_sigma(f->ctx, model, 1, x, out), SOCK_EUSAGE);
    sock_model_free(NULL);
    sock_model_free(model);
    sock_data_free(data);
}

/* ---- The file ---- */

/* A file taken apart: its header and the description inside as JSON, the numbers as bytes. */
typedef struct file_parts {
    json_t *header, *model;
    unsigned char *data;
    size_t size;
} file_parts;

static file_parts take_apart(const char *path)
{
    file_parts p;
    size_t size;
    unsigned char *bytes = read_bytes(path, &size);
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--) length = length << 8 | bytes[i];
    assert_true(length <= size - 8);
    p.header = json_loadb((const char *)bytes + 8, length, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(p.header);
    p.size = size - 8 - length;
    p.data = malloc(p.size + 64);
    memcpy(p.data, bytes + 8 + length, p.size);
    free(bytes);
    json_t *metadata = json_object_get(p.header, "__metadata__");
    p.model = json_loads(json_string_value(json_object_get(metadata, "model")), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(p.model);
    return p;
}

static void put_together(const char *path, file_parts *p)
{
    json_t *metadata = json_object_get(p->header, "__metadata__");
    if (p->model && json_is_object(metadata) && json_object_get(metadata, "model")) {
        char *text = json_dumps(p->model, JSON_COMPACT | JSON_ENCODE_ANY);
        json_object_set_new(metadata, "model", json_string(text));
        free(text);
    }
    char *text = json_dumps(p->header, JSON_COMPACT | JSON_ENCODE_ANY);
    uint64_t length = strlen(text);
    unsigned char *bytes = malloc(8 + length + p->size);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, text, length);
    memcpy(bytes + 8 + length, p->data, p->size);
    write_bytes(path, bytes, 8 + length + p->size);
    free(text), free(bytes), free(p->data);
    json_decref(p->header), json_decref(p->model);
}

/* What the format asks for, by a reader that shares nothing with ours: length, JSON, metadata of strings, offsets that
 * tile the data in order, data on a multiple of 8. */
static void test_model__the_file_is_safetensors(void **state)
{
    fixture *f = *state;
    sock_model *model = model_by_hand(f, 2);
    good(f, sock_model_save(f->ctx, model, f->path));
    file_parts p = take_apart(f->path);
    size_t size, arrays = 0, reached = 0;
    unsigned char *bytes = read_bytes(f->path, &size);
    assert_int_equal(bytes[8], '{');
    assert_int_equal((size - p.size) % 8, 0);
    const char *key;
    json_t *value, *metadata = json_object_get(p.header, "__metadata__");
    json_object_foreach(metadata, key, value) assert_true(json_is_string(value));
    json_object_foreach(p.header, key, value)
    {
        if (value == metadata) continue;
        const char *dtype = NULL;
        json_int_t rows, cols, begin, end;
        assert_int_equal(json_unpack(value, "{s:s, s:[I,I], s:[I,I]!}", "dtype", &dtype, "shape", &rows, &cols,
                                     "data_offsets", &begin, &end),
                         0);
        assert_string_equal(dtype, "F64");
        assert_int_equal(end - begin, 8 * rows * cols);
        assert_int_equal(begin, reached);
        reached = (size_t)end;
        arrays++;
    }
    assert_int_equal(reached, p.size);
    assert_int_equal(arrays, 8); /* weight; omega, phase, v; landmarks, factor, v, owner */
    free(bytes), free(p.data);
    json_decref(p.header), json_decref(p.model);
    sock_model_free(model);
}

static void prop_model__equal_fits_give_equal_files(void **state)
{
    fixture *f = *state;
    static const char *const kernel[] = {"gauss", "fourier:p=30", "nystrom:m=7", "curlfree"};
    for (int i = 0; i < 4; i++) {
        sock_data *data = make_data(f, 2);
        sock_model *one = fit(f, data, kernel[i], "auto", "auto"), *two = fit(f, data, kernel[i], "auto", "auto");
        size_t first_size, second_size;
        good(f, sock_model_save(f->ctx, one, f->path));
        good(f, sock_model_save(f->ctx, two, f->other));
        unsigned char *first = read_bytes(f->path, &first_size), *second = read_bytes(f->other, &second_size);
        assert_int_equal(first_size, second_size);
        assert_memory_equal(first, second, first_size);
        free(first), free(second);
        sock_model_free(one), sock_model_free(two);
        sock_data_free(data);
    }
}

/* ---- Hostile files ---- */

static void refused(fixture *f, const char *reason)
{
    sock_model *model = NULL;
    sock_status status = sock_model_load(f->ctx, f->path, &model);
    if (status != SOCK_EINPUT || model) fail_msg("%s: status %d, message '%s'", reason, status, sock_message(f->ctx));
    if (!strstr(sock_message(f->ctx), f->path) || !strstr(sock_message(f->ctx), reason))
        fail_msg("'%s' does not name the file and '%s'", sock_message(f->ctx), reason);
}

static void save_victim(fixture *f, size_t d)
{
    sock_model *model = model_by_hand(f, d);
    good(f, sock_model_save(f->ctx, model, f->path));
    sock_model_free(model);
}

/* The bytes of a good file; from here on f->path is a file in memory, so that thousands can be written. */
static unsigned char *take_to_memory(fixture *f, size_t *size, int *handle)
{
    save_victim(f, 1);
    unsigned char *bytes = read_bytes(f->path, size);
    unlink(f->path);
    *handle = memfd_create("victim", MFD_CLOEXEC);
    assert_true(*handle >= 0);
    snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", *handle);
    return bytes;
}

static void put_in_memory(int handle, const unsigned char *bytes, size_t size)
{
    assert_int_equal(ftruncate(handle, 0), 0);
    assert_int_equal(pwrite(handle, bytes, size, 0), size);
}

static void test_model__truncated_anywhere(void **state)
{
    fixture *f = *state;
    size_t size;
    int handle;
    unsigned char *bytes = take_to_memory(f, &size, &handle);
    for (size_t cut = 0; cut < size; cut++) {
        put_in_memory(handle, bytes, cut);
        refused(f, "not a valid model file");
    }
    memcpy(bytes + size, "more", 4);
    put_in_memory(handle, bytes, size + 4);
    refused(f, "belong to no array");
    close(handle);
    free(bytes);
}

/* Any byte changed in the header: the file is refused, or what it holds can be evaluated. */
static void test_model__damaged_anywhere(void **state)
{
    fixture *f = *state;
    size_t size;
    int handle;
    unsigned char *bytes = take_to_memory(f, &size, &handle);
    static const unsigned char bad[] = {0, '"', '9', 0xff};
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < sizeof bad; j++) {
            unsigned char old = bytes[i];
            sock_model *model = NULL;
            double x = 0.5, out = 0;
            bytes[i] = bad[j];
            put_in_memory(handle, bytes, size);
            sock_status status = sock_model_load(f->ctx, f->path, &model);
            if (status >= 0)
                status = sock_model_drift(f->ctx, model, 1, &x, &out);
            else
                assert_int_equal(status, SOCK_EINPUT);
            sock_model_free(model);
            bytes[i] = old;
        }
    close(handle);
    free(bytes);
}

static void raw(fixture *f, uint64_t length, const char *text, const char *reason)
{
    unsigned char bytes[512];
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, text, strlen(text));
    write_bytes(f->path, bytes, 8 + strlen(text));
    refused(f, reason);
}

static void test_model__broken_headers(void **state)
{
    fixture *f = *state;
    static const char none[] = "{\"__metadata__\":{}}", twice[] = "{\"__metadata__\":{},\"__metadata__\":{}}";
    raw(f, (uint64_t)1 << 63, none, "beyond the file");
    raw(f, UINT64_MAX, none, "beyond the file");
    raw(f, UINT64_MAX - 7, none, "beyond the file");
    raw(f, sizeof none, none, "beyond the file");
    raw(f, 0, none, "header");
    raw(f, 1, none, "header");
    raw(f, 5, none, "not a JSON object");
    raw(f, 2, "[]", "not a JSON object");
    raw(f, 2, "{}", "__metadata__");
    raw(f, 19, "{\"__metadata__\":12}", "__metadata__");
    raw(f, sizeof none - 1, none, "not written by sock");
    raw(f, sizeof twice - 1, twice, "not a JSON object");
    raw(f, 4, "\"\xff\xfe\"", "not a JSON object");
    char deep[401];
    memset(deep, '[', 400);
    deep[400] = 0;
    raw(f, 400, deep, "not a JSON object");
}

/* What to do to the parts of a good file, and what the refusal says. */
typedef struct damage {
    const char *name; /* of the array or key that is hit */
    void (*hit)(file_parts *p, const char *name);
    const char *reason;
} damage;

static json_t *entry(file_parts *p, const char *name)
{
    json_t *found = json_object_get(p->header, name);
    if (!found) fail_msg("the file has no array %s", name);
    return found;
}

static json_int_t offset(file_parts *p, const char *name, size_t end)
{
    return json_integer_value(json_array_get(json_object_get(entry(p, name), "data_offsets"), end));
}

static void drop_array(file_parts *p, const char *name) /* its bytes go too, so that the rest stays valid */
{
    json_int_t begin = offset(p, name, 0), end = offset(p, name, 1);
    memmove(p->data + begin, p->data + end, p->size - (size_t)end);
    p->size -= (size_t)(end - begin);
    json_object_del(p->header, name);
    const char *key;
    json_t *value;
    json_object_foreach(p->header, key, value)
    {
        if (strcmp(key, "__metadata__") == 0 || offset(p, key, 0) < end) continue;
        json_int_t from = offset(p, key, 0) - (end - begin), to = offset(p, key, 1) - (end - begin);
        json_object_set_new(value, "data_offsets", json_pack("[I,I]", from, to));
    }
}

static void add_array(file_parts *p, const char *name)
{
    memset(p->data + p->size, 0, 8);
    json_object_set_new(p->header, name,
                        json_pack("{s:s, s:[i,i], s:[I,I]}", "dtype", "F64", "shape", 1, 1, "data_offsets",
                                  (json_int_t)p->size, (json_int_t)p->size + 8));
    p->size += 8;
}

static void wrong_dtype(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "dtype", json_string("F32"));
}

static void swap_shape(file_parts *p, const char *name)
{
    json_t *shape = json_object_get(entry(p, name), "shape");
    json_t *rows = json_incref(json_array_get(shape, 0)), *cols = json_incref(json_array_get(shape, 1));
    json_array_set_new(shape, 0, cols);
    json_array_set_new(shape, 1, rows);
}

static void one_more_row(file_parts *p, const char *name)
{
    json_t *shape = json_object_get(entry(p, name), "shape");
    json_array_set_new(shape, 0, json_integer(json_integer_value(json_array_get(shape, 0)) + 1));
}

static void huge_shape(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "shape", json_pack("[I,I]", (json_int_t)1 << 62, (json_int_t)4));
}

static void negative_shape(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "shape", json_pack("[i,i]", -1, -1));
}

static void flat_shape(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "shape", json_pack("[I]", offset(p, name, 1) / 8));
}

static void overlap(file_parts *p, const char *name)
{
    json_int_t length = offset(p, name, 1) - offset(p, name, 0);
    json_object_set_new(entry(p, name), "data_offsets", json_pack("[I,I]", (json_int_t)0, length));
}

static void hole(file_parts *p, const char *name)
{
    (void)name;
    memmove(p->data + 8, p->data, p->size);
    p->size += 8;
    const char *key;
    json_t *value;
    json_object_foreach(p->header, key, value)
    {
        if (strcmp(key, "__metadata__") == 0) continue;
        json_object_set_new(value, "data_offsets", json_pack("[I,I]", offset(p, key, 0) + 8, offset(p, key, 1) + 8));
    }
}

static void beyond(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "data_offsets", json_pack("[I,I]", offset(p, name, 0), INT64_MAX));
}

static void backwards(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "data_offsets", json_pack("[I,I]", offset(p, name, 1), offset(p, name, 0)));
}

static void put_number(file_parts *p, const char *name, double value)
{
    memcpy(p->data + offset(p, name, 0), &value, 8);
}

static void put_nan(file_parts *p, const char *name) { put_number(p, name, NAN); }
static void put_infinity(file_parts *p, const char *name) { put_number(p, name, -INFINITY); }
static void put_half(file_parts *p, const char *name) { put_number(p, name, 0.5); }
static void put_nine(file_parts *p, const char *name) { put_number(p, name, 9); }
static void put_minus(file_parts *p, const char *name) { put_number(p, name, -1); }

static void drop_key(file_parts *p, const char *name) { json_object_del(p->model, name); }
static void text_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_string("1")); }
static void zero_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_integer(0)); }
static void three_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_integer(3)); }
static void minus_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_real(-0.5)); }
static void false_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_false()); }
static void list_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_pack("[i]", 3)); }

static void same_names(file_parts *p, const char *name)
{
    json_object_set_new(p->model, name, json_pack("[s,s]", "x", "x"));
}
static void empty_name(file_parts *p, const char *name)
{
    json_object_set_new(p->model, name, json_pack("[s,s]", "x", ""));
}
static void number_name(file_parts *p, const char *name)
{
    json_object_set_new(p->model, name, json_pack("[s,i]", "x", 1));
}

static void metadata(file_parts *p, const char *key, json_t *value)
{
    json_object_set_new(json_object_get(p->header, "__metadata__"), key, value);
    if (strcmp(key, "model") != 0) return;
    json_decref(p->model); /* put_together would write it over the value */
    p->model = NULL;
}

static void other_format(file_parts *p, const char *name) { metadata(p, name, json_string("pt")); }
static void other_version(file_parts *p, const char *name) { metadata(p, name, json_string("999")); }
static void not_text(file_parts *p, const char *name) { metadata(p, name, json_integer(1)); }

static void nonsense(file_parts *p, const char *name) { metadata(p, name, json_string("{nonsense")); }

/* The text of term 0 of the drift, in a file whose drift is a kernel expansion or a feature map. */
static void set_text(file_parts *p, const char *key, const char *text)
{
    json_object_set_new(json_array_get(json_object_get(p->model, "drift"), 0), key, json_string(text));
}

static void features_nonsense(file_parts *p, const char *name) { set_text(p, "features", name); }
static void kernel_nonsense(file_parts *p, const char *name) { set_text(p, "kernel", name); }

static void drop_features(file_parts *p, const char *name)
{
    json_object_del(json_array_get(json_object_get(p->model, name), 0), "features");
}

static void drop_diagonal(file_parts *p, const char *name)
{
    json_object_del(json_array_get(json_object_get(p->model, name), 1), "diagonal");
}

static void drop_term(file_parts *p, const char *name) { json_array_remove(json_object_get(p->model, name), 0); }

static void run_damage(fixture *f, size_t count, const damage *list, void (*save)(fixture *f, size_t d))
{
    save(f, 2);
    assert_int_equal(rename(f->path, f->other), 0); /* saved once: a safe save waits for the disk */
    for (size_t i = 0; i < count; i++) {
        file_parts p = take_apart(f->other);
        list[i].hit(&p, list[i].name);
        put_together(f->path, &p);
        refused(f, list[i].reason);
    }
}

static void test_model__damaged_arrays(void **state)
{
    static const damage list[] = {
        {"drift.0.weight", drop_array, "drift.0.weight"},
        {"diffusion.0.v", drop_array, "diffusion.0.v"},
        {"diffusion.1.owner", drop_array, "diffusion.1.owner"},
        {"diffusion.0.map.0.omega", drop_array, "not a valid model file"},
        {"diffusion.1.map.0.factor", drop_array, "not a valid model file"},
        {"drift.1.weight", add_array, "belongs to no term"},
        {"drift.0.map.0.omega", add_array, "not a valid model file"},
        {"stranger", add_array, "belongs to no term"},
        {"drift.0.weight", wrong_dtype, "dtype is not F64 in drift.0.weight"},
        {"drift.0.weight", swap_shape, "wrong shape in drift.0.weight"},
        {"diffusion.0.v", swap_shape, "wrong shape in diffusion.0.v"},
        {"diffusion.1.map.0.landmarks", swap_shape, "not a valid model file"},
        {"drift.0.weight", one_more_row, "do not agree with the shape"},
        {"drift.0.weight", huge_shape, "shape"},
        {"drift.0.weight", negative_shape, "shape"},
        {"drift.0.weight", flat_shape, "shape"},
        {"diffusion.0.v", overlap, "overlap or leave a hole"},
        {"drift.0.weight", hole, "overlap or leave a hole"},
        {"drift.0.weight", beyond, "data_offsets"},
        {"drift.0.weight", backwards, "data_offsets"},
        {"drift.0.weight", put_nan, "not finite"},
        {"diffusion.0.v", put_infinity, "not finite"},
        {"diffusion.1.owner", put_half, "belongs to no component"},
        {"diffusion.1.owner", put_nine, "belongs to no component"},
        {"diffusion.1.owner", put_minus, "belongs to no component"},
        {"diffusion.1.map.0.factor", put_minus, "diagonal"},
    };
    run_damage(*state, sizeof list / sizeof list[0], list, save_victim);
}

static void test_model__damaged_description(void **state)
{
    static const damage list[] = {
        {"d", drop_key, "d and state"},
        {"d", zero_key, "d and state"},
        {"d", three_key, "d and state"},
        {"d", minus_key, "d and state"},
        {"d", text_key, "d and state"},
        {"state", drop_key, "d and state"},
        {"state", same_names, "two states have the name in x"},
        {"state", empty_name, "state name"},
        {"state", number_name, "state name"},
        {"drift", drop_key, "not a list"},
        {"diffusion", text_key, "not a list"},
        {"drift", list_key, "features"},
        {"drift", drop_features, "features"},
        {"drift", drop_term, "belongs to no term"},
        {"diffusion", drop_term, "not a valid model file"},
        {"diffusion", drop_diagonal, "diagonal"},
        {"floor", drop_key, "floor"},
        {"floor", minus_key, "floor"},
        {"floor", text_key, "floor"},
        {"has_diffusion", drop_key, "has_diffusion"},
        {"has_diffusion", false_key, "has_diffusion"},
        {"has_diffusion", text_key, "has_diffusion"},
        {"format", other_format, "not written by sock"},
        {"format", not_text, "not written by sock"},
        {"format_version", other_version, "format version '999' is not known"},
        {"model", nonsense, "not JSON"},
        {"info", nonsense, "not JSON"},
        {"model", not_text, "not JSON"},
        {"", features_nonsense, "not a valid model file"},
        {"gauss:eta=1", features_nonsense, "not a valid model file"},
        {"poly:degree=3", features_nonsense, "wrong shape in drift.0.weight"},
        {"poly:degree=0", features_nonsense, "degree"},
        {"pivoted(", features_nonsense, "not a valid model file"},
        {"pivoted(gauss:eta=1)", features_nonsense, "not a valid model file"},
        {"no such kernel", features_nonsense, "unknown kernel 'no'"},
    };
    run_damage(*state, sizeof list / sizeof list[0], list, save_victim);
}

static void save_expansion(fixture *f, size_t d)
{
    sock_data *data = make_data(f, d);
    sock_model *model = fit(f, data, "gauss:eta=1", "implicit", "exact");
    good(f, sock_model_save(f->ctx, model, f->path));
    sock_model_free(model);
    sock_data_free(data);
}

static void test_model__damaged_kernels(void **state)
{
    static const damage list[] = {
        {"", kernel_nonsense, "name is missing"},
        {"gauss", kernel_nonsense, "no eta"},
        {"gauss:eta=0", kernel_nonsense, "eta is '0'"},
        {"gauss:eta=1+curlfree", kernel_nonsense, "no eta"},
        {"gauss:eta=1,B=[1 0 0;0 1 0;0 0 1]", kernel_nonsense, "B"},
        {"gauss:eta=1,B=[1 2;2 1]", kernel_nonsense, "semi-definite"},
        {"fourier:p=3,eta=1", kernel_nonsense, "fourier"},
        {"nystrom:m=3,eta=1", kernel_nonsense, "fourier or nystrom"},
        {"callback", kernel_nonsense, "unknown kernel 'callback'"},
        {"gauss:eta=1;rm", kernel_nonsense, "eta is"},
        {"drift.0.centre", drop_array, "drift.0.centre"},
        {"drift.0.weight", drop_array, "drift.0.weight"},
        {"drift.0.centre", swap_shape, "drift.0.centre"},
        {"drift.0.weight", swap_shape, "drift.0.weight"},
    };
    run_damage(*state, sizeof list / sizeof list[0], list, save_expansion);
}

static void test_model__unusual_paths(void **state)
{
    fixture *f = *state;
    sock_model *model = NULL;
    assert_int_equal(sock_model_load(f->ctx, f->path, &model), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(f->ctx), f->path));
    assert_int_equal(sock_model_load(f->ctx, f->folder, &model), SOCK_EINPUT);
    assert_int_equal(sock_model_load(f->ctx, NULL, &model), SOCK_EUSAGE);
    assert_null(model);
    model = model_by_hand(f, 1);
    assert_int_equal(sock_model_save(f->ctx, model, f->folder), SOCK_EIO);
    assert_int_equal(sock_model_save(f->ctx, model, "no/such/folder/model.sock"), SOCK_EIO);
    assert_non_null(strstr(sock_message(f->ctx), "no/such/folder/model.sock"));
    assert_int_equal(sock_model_save(f->ctx, model, "/dev/full"), SOCK_EIO);
    assert_int_equal(sock_model_save(f->ctx, NULL, f->path), SOCK_EUSAGE);
    sock_model_free(model);
}

/* ---- Every allocation fails once ---- */

typedef struct attempt {
    fixture *f;
    const sock_model *model;
} attempt;

static sock_status try_save(sock_context *ctx, void *arg)
{
    const attempt *a = arg;
    return sock_model_save(ctx, a->model, a->f->path);
}

static sock_status try_load(sock_context *ctx, void *arg)
{
    const attempt *a = arg;
    sock_model *model = NULL;
    sock_status status = sock_model_load(ctx, a->f->path, &model);
    assert_true((status >= 0) == (model != NULL));
    sock_model_free(model);
    return status;
}

static sock_status try_eval(sock_context *ctx, void *arg)
{
    const attempt *a = arg;
    double x[9] = {0.5, 1, 2}, out[27];
    SK_TRY(sock_model_drift(ctx, a->model, 3, x, out));
    return sock_model_sigma(ctx, a->model, 3, x, out);
}

static sock_status try_info(sock_context *ctx, void *arg)
{
    const attempt *a = arg;
    char *text = NULL;
    SK_TRY(sock_model_info(ctx, a->model, &text));
    sock_string_free(text);
    return SOCK_OK;
}

static void test_model__every_allocation_may_fail(void **state)
{
    fixture *f = *state;
    sock_model *model = model_by_hand(f, 3);
    attempt a = {f, model};
    assert_true(for_each_allocation(f->ctx, try_save, &a) > 5);
    assert_true(for_each_allocation(f->ctx, try_load, &a) > 10);
    assert_true(for_each_allocation(f->ctx, try_eval, &a) > 3);
    assert_true(for_each_allocation(f->ctx, try_info, &a) > 0);
    save_expansion(f, 2);
    assert_true(for_each_allocation(f->ctx, try_load, &a) > 5);
    sock_model_free(model);
}

static sock_status try_wrap(sock_context *ctx, void *arg)
{
    (void)arg;
    sock_model *model = NULL;
    SK_TRY(sock_model_wrap(ctx, 2, NULL, double_it, squares, NULL, &model));
    sock_model_free(model);
    return SOCK_OK;
}

static void test_model__wrapping_may_run_out_of_memory(void **state)
{
    fixture *f = *state;
    assert_true(for_each_allocation(f->ctx, try_wrap, NULL) > 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(prop_model__every_drift_term_comes_back),
        TEST(prop_model__terms_add),
        TEST(test_model__a_diffusion_is_its_definition),
        TEST(prop_model__sigma_sigma_is_a),
        TEST(test_model__root_of_the_positive_part),
        TEST(test_model__sigma_is_the_root_of_a),
        TEST(test_model__wrapped_functions),
        TEST(test_model__a_root_of_nan_is_a_failure),
        TEST(test_model__a_callback_kernel_evaluates_and_is_not_saved),
        TEST(prop_model__threads_change_nothing),
        TEST(test_model__bad_points_are_refused),
        TEST(test_model__the_file_is_safetensors),
        TEST(prop_model__equal_fits_give_equal_files),
        TEST(test_model__truncated_anywhere),
        TEST(test_model__damaged_anywhere),
        TEST(test_model__broken_headers),
        TEST(test_model__damaged_arrays),
        TEST(test_model__damaged_description),
        TEST(test_model__damaged_kernels),
        TEST(test_model__unusual_paths),
        TEST(test_model__every_allocation_may_fail),
        TEST(test_model__wrapping_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
