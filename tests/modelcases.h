/* modelcases.h - models fitted and made by hand, their files, and a folder of their own for each test. */
#ifndef SK_MODELCASES_H
#define SK_MODELCASES_H

#include "model/model.h"
#include "test.h"

#include <string.h>
#include <unistd.h>

typedef struct fixture {
    sock_context *ctx;
    sock_options *opts;
    char folder[64], path[96], other[96];
} fixture;

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
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

static inline void good(const fixture *f, sock_status status)
{
    if (status < 0) fail_msg("%s", sock_message(f->ctx));
}

static inline void normals(uint64_t stream, size_t count, double *out)
{
    sk_normals((sk_key){11, SK_PURPOSE_TEST}, stream, 0, 0, count, out);
}

/* Six short trajectories of dx = -x dt + 0.3 dW in d coordinates. */
static inline sock_data *make_data(fixture *f, size_t d)
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

static inline sock_model *fit(fixture *f, const sock_data *data, const char *drift, const char *form, const char *path)
{
    sock_model *model = NULL;
    good(f, sock_options_set(f->ctx, f->opts, "drift", drift));
    good(f, sock_options_set(f->ctx, f->opts, "drift-form", form));
    good(f, sock_options_set(f->ctx, f->opts, "drift-path", path));
    good(f, sock_fit(f->ctx, data, f->opts, &model));
    return model;
}

static inline unsigned char *read_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    assert_true(*size < 1 << 20);
    fclose(file);
    return bytes;
}

static inline void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- Models made by hand ---- */

static inline sk_features *features(fixture *f, const char *text, size_t d, size_t count, const double *x)
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
static inline void add_diffusion(fixture *f, sock_model *model, sk_features *map, size_t rank, bool diagonal)
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
static inline sock_model *model_by_hand(fixture *f, size_t d)
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

/* ---- Round trips ---- */

static inline void check_same_fields(fixture *f, const sock_model *one, const sock_model *two)
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

static inline void check_round_trip(fixture *f, sock_model *model)
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

#define MODEL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
