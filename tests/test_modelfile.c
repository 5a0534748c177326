/* test_modelfile.c - models in files: what is saved comes back bit for bit, in the format that it claims to be. */
#define _GNU_SOURCE
#include "modelcases.h"
#include "modelparts.h"

static void prop_modelfile__every_drift_term_comes_back(void **state)
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

/* What the format asks for, by a reader that shares nothing with ours: length, JSON, metadata of strings, offsets that
 * tile the data in order, data on a multiple of 8. */
static void test_modelfile__the_file_is_safetensors(void **state)
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

static void prop_modelfile__equal_fits_give_equal_files(void **state)
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

static void test_modelfile__unusual_paths(void **state)
{
    fixture *f = *state;
    sock_model *model = NULL;
    assert_int_equal(sock_model_load(f->ctx, f->path, &model), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(f->ctx), f->path));
    assert_int_equal(sock_model_load(f->ctx, f->folder, &model), SOCK_EINPUT);
    assert_int_equal(sock_model_load(f->ctx, NULL, &model), SOCK_EUSAGE);
    assert_int_equal(sock_model_load(f->ctx, f->path, NULL), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "must not be NULL"));
    assert_int_equal(sock_model_load(NULL, f->path, &model), SOCK_EUSAGE);
    assert_null(model);
    model = model_by_hand(f, 1);
    assert_int_equal(sock_model_save(f->ctx, model, f->folder), SOCK_EIO);
    assert_int_equal(sock_model_save(f->ctx, model, "no/such/folder/model.sock"), SOCK_EIO);
    assert_non_null(strstr(sock_message(f->ctx), "no/such/folder/model.sock"));
    assert_int_equal(sock_model_save(f->ctx, model, "/dev/full"), SOCK_EIO);
    assert_int_equal(sock_model_save(f->ctx, NULL, f->path), SOCK_EUSAGE);
    assert_int_equal(sock_model_save(f->ctx, model, NULL), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "must not be NULL"));
    assert_int_equal(sock_model_save(NULL, model, f->path), SOCK_EUSAGE);
    assert_int_equal(access(f->path, F_OK), -1);
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

static void test_modelfile__every_allocation_may_fail(void **state)
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

/* The list of arrays grows at the 65th, which may be of a map or the V of a diffusion. */
static void test_modelfile__many_terms(void **state)
{
    fixture *f = *state;
    for (size_t extra = 0; extra < 3; extra++) {
        double x[60];
        normals(3, 60, x);
        sock_model *model = NULL;
        good(f, sk_model_new(f->ctx, 2, NULL, &model));
        for (size_t i = 0; i <= extra; i++) {
            sk_drift_term *term = sk_alloc(f->ctx, 1, sizeof *term);
            *term = (sk_drift_term){.d = 2, .map = features(f, "linear", 2, 30, x), .weight = sk_doubles(f->ctx, 2, 2)};
            normals(4 + i, 4, term->weight);
            good(f, sk_model_add_drift(f->ctx, model, term));
        }
        for (size_t i = 0; i < 23; i++)
            add_diffusion(f, model, features(f, "fourier:p=2,eta=1,seed=4", 2, 30, x), 1, false);
        attempt a = {f, model};
        assert_true(for_each_allocation(f->ctx, try_save, &a) > 20);
        check_round_trip(f, model);
        sock_model_free(model);
    }
}

/* No columns in V: a = floor I; no centres: f = 0. Several arrays without numbers lie at one place, and the file may
 * be shorter than their rows are many. */
static void test_modelfile__empty_arrays(void **state)
{
    fixture *f = *state;
    sock_model *model = NULL, *loaded = NULL;
    double x[60], out[4];
    normals(3, 60, x);
    good(f, sk_model_new(f->ctx, 2, NULL, &model));
    sk_drift_term *term = sk_alloc(f->ctx, 1, sizeof *term);
    *term = (sk_drift_term){.d = 2, .centre = sk_doubles(f->ctx, 0, 2), .weight = sk_doubles(f->ctx, 0, 2)};
    good(f, sk_kernel_parse(f->ctx, "test", "gauss:eta=1", &term->kernel));
    good(f, sk_model_add_drift(f->ctx, model, term));
    add_diffusion(f, model, features(f, "affine", 2, 30, x), 0, false);
    model->floor = 0.5;
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    good(f, sock_model_drift(f->ctx, loaded, 1, x, out));
    assert_true(out[0] == 0 && out[1] == 0);
    good(f, sock_model_diffusion(f->ctx, loaded, 1, x, out));
    assert_true(out[0] == 0.5 && out[1] == 0 && out[2] == 0 && out[3] == 0.5);
    sock_model_free(model), sock_model_free(loaded);
}

/* Data that never change: the best a is 0, in many dimensions a V of many rows. */
static void test_modelfile__a_model_of_constant_data_loads(void **state)
{
    fixture *f = *state;
    enum { D = 40, POINTS = 5 };
    double t[POINTS], x[POINTS * D], a[D * D];
    const size_t length = POINTS;
    for (size_t i = 0; i < POINTS; i++) t[i] = 0.1 * (double)i;
    for (size_t i = 0; i < POINTS * D; i++) x[i] = 1;
    sock_data *data = NULL;
    sock_model *model = NULL, *loaded = NULL;
    good(f, sock_data_from_arrays(f->ctx, D, 1, &length, t, x, NULL, NULL, NULL, &data));
    good(f, sock_options_set(f->ctx, f->opts, "drift", "constant"));
    good(f, sock_options_set(f->ctx, f->opts, "diffusion", "affine"));
    good(f, sock_fit(f->ctx, data, f->opts, &model));
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    good(f, sock_model_diffusion(f->ctx, loaded, 1, x, a));
    for (size_t i = 0; i < D * D; i++) assert_true(a[i] == 0);
    sock_model_free(model), sock_model_free(loaded);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(prop_modelfile__every_drift_term_comes_back),
        MODEL_TEST(test_modelfile__the_file_is_safetensors),
        MODEL_TEST(prop_modelfile__equal_fits_give_equal_files),
        MODEL_TEST(test_modelfile__unusual_paths),
        MODEL_TEST(test_modelfile__every_allocation_may_fail),
        MODEL_TEST(test_modelfile__many_terms),
        MODEL_TEST(test_modelfile__empty_arrays),
        MODEL_TEST(test_modelfile__a_model_of_constant_data_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
