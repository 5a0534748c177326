/* test_model.c - models in memory: the fields are what their formulas say, terms add, functions can be wrapped; what is
 * known of the state is kept, copied, compared and never lost in a file. */
#define _GNU_SOURCE
#include "la/la.h"
#include "model/modelfields.h"
#include "modelcases.h"

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

/* ---- Fields: one struct for where and what ---- */

/* f and a together, each alone, by blocks on one thread and through the short forms: the same numbers, and nothing that
 * was not wanted is touched. */
static void prop_fields__every_way_gives_the_same(void **state)
{
    fixture *f = *state;
    enum { COUNT = 600, D = 3, BLOCK = 256 };
    sock_model *model = model_by_hand(f, D);
    double *x = calloc(COUNT * D, sizeof *x), *drift = calloc(COUNT * D, sizeof *drift),
           *diffusion = calloc(COUNT * D * D, sizeof *diffusion), *other = calloc(COUNT * D * D, sizeof *other),
           *space = calloc(sk_model_space(model, BLOCK), sizeof *space);
    normals(13, COUNT * D, x);
    good(f, sk_fields_eval(f->ctx, model, &(sk_fields){.count = COUNT, .x = x, .f = drift, .a = diffusion}));
    for (size_t i = 0; i < COUNT; i += 97) { /* by the definition */
        double slow[D * D];
        slow_diffusion(f, model, x + i * D, slow);
        assert_all_close(D * D, diffusion + i * D * D, slow, 1e-13);
    }
    good(f, sk_fields_eval(f->ctx, model, &(sk_fields){.count = COUNT, .x = x, .f = other}));
    assert_memory_equal(other, drift, COUNT * D * sizeof *drift);
    good(f, sk_fields_eval(f->ctx, model, &(sk_fields){.count = COUNT, .x = x, .a = other}));
    assert_memory_equal(other, diffusion, COUNT * D * D * sizeof *diffusion);
    for (size_t i = 0; i < COUNT; i += BLOCK) {
        const size_t count = SK_MIN(BLOCK, COUNT - i);
        memset(other, 0x55, COUNT * D * D * sizeof *other);
        sk_fields_block(f->ctx, model, &(sk_fields){.count = count, .x = x + i * D, .a = other}, space);
        assert_memory_equal(other, diffusion + i * D * D, count * D * D * sizeof *other);
        assert_memory_equal(other + count * D * D, other + count * D * D + 1, 5 * sizeof *other); /* untouched */
        sk_model_fields(f->ctx, model, count, x + i * D, other, NULL, space);
        assert_memory_equal(other, drift + i * D, count * D * sizeof *other);
    }
    double *again = calloc(COUNT * D, sizeof *again);
    good(f, sk_model_evaluate(f->ctx, model, COUNT, x, again, other));
    assert_memory_equal(again, drift, COUNT * D * sizeof *drift);
    assert_memory_equal(other, diffusion, COUNT * D * D * sizeof *diffusion);
    sock_model_free(model);
    free(x), free(drift), free(diffusion), free(other), free(space), free(again);
}

/* ---- Structure: what is known of the state ---- */

static sk_structure *some_structure(fixture *f, size_t d)
{
    static const char *const names[] = {"u", "v", "w"};
    sk_structure *s = NULL;
    good(f, sk_structure_new(f->ctx, d, names, &s));
    return s;
}

/* Everything that can be known. */
static void know_all(fixture *f, sk_structure *s)
{
    s->lower = sk_doubles(f->ctx, s->d, 1); /* 0 */
    s->upper = sk_doubles(f->ctx, s->d, 1);
    s->noise = sk_doubles(f->ctx, s->d, s->d);
    s->input = sk_alloc(f->ctx, 2, sizeof *s->input);
    for (size_t k = 0; k < s->d; k++) s->upper[k] = 3 + (double)k, s->noise[k * s->d + k] = 0.5;
    s->input[0] = (sk_input){.name = sk_strdup(f->ctx, "dose"), .hold = SK_HOLD_PREVIOUS};
    s->input[1] = (sk_input){.name = sk_strdup(f->ctx, "light"), .hold = SK_HOLD_LINEAR};
    s->inputs = 2;
    s->order = 2;
}

static void test_structure__nothing_is_known_but_the_names(void **state)
{
    fixture *f = *state;
    sock_model *model = model_by_hand(f, 2);
    const sk_structure *s = model->structure;
    assert_int_equal(s->d, 2);
    assert_string_equal(s->state[1], "x1");
    assert_true(!s->lower && !s->upper && !s->inputs && !s->input && s->order == 1 && !s->noise);
    assert_true(sk_structure_is_plain(s));
    sock_model_free(model);
}

/* A copy is equal and stands on its own; one that differs in a single thing is not, either way round. */
static void test_structure__copies_are_equal_and_changes_are_seen(void **state)
{
    fixture *f = *state;
    sk_structure *s = some_structure(f, 3), *plain = NULL, *copy = NULL;
    good(f, sk_structure_copy(f->ctx, s, &plain));
    assert_true(sk_structure_equal(s, plain) && sk_structure_is_plain(plain));
    know_all(f, s);
    assert_false(sk_structure_equal(s, plain) || sk_structure_is_plain(s));
    for (int change = 0; change < 10; change++) {
        good(f, sk_structure_copy(f->ctx, s, &copy));
        assert_true(sk_structure_equal(s, copy) && sk_structure_equal(copy, s));
        switch (change) {
        case 0: copy->lower[1] = -1; break;
        case 1: copy->upper[2] = INFINITY; break;
        case 2: copy->noise[5] = 0.1; break;
        case 3: copy->order = 1; break;
        case 4: copy->input[1].hold = SK_HOLD_PREVIOUS; break;
        case 5: copy->input[0].name[0] = 'r'; break;
        case 6: sk_free(copy->input[--copy->inputs].name); break;
        case 7: copy->state[2][0] = 'z'; break;
        case 8: sk_free(copy->noise), copy->noise = NULL; break;
        default: sk_free(copy->lower), copy->lower = NULL; break;
        }
        assert_false(sk_structure_equal(s, copy) || sk_structure_equal(copy, s));
        sk_structure_free(copy);
    }
    sk_structure *smaller = some_structure(f, 2);
    assert_false(sk_structure_equal(plain, smaller) || sk_structure_equal(smaller, plain));
    sk_structure_free(s), sk_structure_free(plain), sk_structure_free(smaller);
    sk_structure_free(NULL);
}

/* Each thing by itself is more than names; bounds that are all infinite and a noise of 0 are nothing. */
static void test_structure__plain_is_names_alone(void **state)
{
    fixture *f = *state;
    for (int known = 0; known < 5; known++) {
        sk_structure *s = some_structure(f, 2), *empty = some_structure(f, 2), *all = some_structure(f, 2);
        know_all(f, all);
        if (known == 0) s->lower = all->lower, all->lower = NULL;
        if (known == 1) s->upper = all->upper, all->upper = NULL;
        if (known == 2) s->noise = all->noise, all->noise = NULL;
        if (known == 3) s->input = all->input, s->inputs = 2, all->input = NULL, all->inputs = 0;
        if (known == 4) s->order = 2;
        assert_false(sk_structure_is_plain(s) || sk_structure_equal(s, empty));
        for (size_t k = 0; s->lower && k < 2; k++) s->lower[k] = -INFINITY;
        for (size_t k = 0; s->upper && k < 2; k++) s->upper[k] = INFINITY;
        for (size_t k = 0; s->noise && k < 4; k++) s->noise[k] = 0;
        assert_int_equal(sk_structure_is_plain(s), known < 3);
        assert_int_equal(sk_structure_equal(s, empty), known < 3);
        sk_structure_free(s), sk_structure_free(empty), sk_structure_free(all);
    }
}

/* R comes back, in a file that says that it holds more than older programs know; without it nothing changes. */
static void test_structure__noise_is_saved(void **state)
{
    fixture *f = *state;
    sock_model *model = model_by_hand(f, 2), *loaded = NULL;
    const double noise[] = {0.5, 0.1, 0.1, 0.25};
    double back[4];
    assert_int_equal(sock_model_noise(model, back), 0);
    assert_true(back[0] == 0 && back[3] == 0);
    model->structure->noise = sk_doubles(f->ctx, 2, 2);
    memcpy(model->structure->noise, noise, sizeof noise);
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    assert_int_equal(sock_model_noise(loaded, back), 1);
    assert_memory_equal(back, noise, sizeof noise);
    sock_model_free(loaded);
    model->structure->noise[1] = 0.2; /* not symmetric */
    good(f, sock_model_save(f->ctx, model, f->path));
    assert_int_equal(sock_model_load(f->ctx, f->path, &loaded), SOCK_EINPUT);
    assert_non_null(strstr(sock_message(f->ctx), "it is no covariance matrix in noise.R"));
    model->structure->noise[1] = model->structure->noise[2] = 0.5; /* an eigenvalue below 0 */
    good(f, sock_model_save(f->ctx, model, f->path));
    assert_int_equal(sock_model_load(f->ctx, f->path, &loaded), SOCK_EINPUT);
    sock_model_free(model);
}

/* Bounds come back too; a is taken inside, f is not. */
static void test_structure__bounds_are_saved(void **state)
{
    fixture *f = *state;
    sock_model *model = model_by_hand(f, 2), *loaded = NULL;
    const double lower[] = {0.25, -(double)INFINITY}, upper[] = {(double)INFINITY, 1.5};
    double low[2], high[2], a[4], inside[4], g[2], here[2];
    assert_int_equal(sock_model_bounds(model, low, high), 0);
    assert_true(isinf(low[0]) && low[0] < 0 && isinf(high[1]) && high[1] > 0);
    const double out[] = {-1, 2}, in[] = {0.25, 1.5};
    good(f, sock_model_drift(f->ctx, model, 1, out, here));
    good(f, sock_model_set_bounds(f->ctx, model, lower, upper));
    model->structure->absorbing = sk_alloc(f->ctx, 2, sizeof *model->structure->absorbing);
    model->structure->absorbing[1] = SK_ABSORBS_UPPER;
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    assert_true(sk_structure_equal(loaded->structure, model->structure));
    assert_int_equal(sock_model_bounds(loaded, low, high), 1);
    assert_memory_equal(low, lower, sizeof low);
    assert_memory_equal(high, upper, sizeof high);
    assert_true(sk_structure_absorbs(loaded->structure, in) && !sk_structure_absorbs(loaded->structure, out));
    good(f, sock_model_diffusion(f->ctx, loaded, 1, out, a));
    good(f, sock_model_diffusion(f->ctx, loaded, 1, in, inside));
    assert_memory_equal(a, inside, sizeof a);
    good(f, sock_model_drift(f->ctx, loaded, 1, out, g));
    assert_memory_equal(g, here, sizeof g);
    const double crossed[] = {2, 2};
    assert_int_equal(sock_model_set_bounds(f->ctx, model, crossed, upper), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(f->ctx), "lower must be below upper"));
    sock_model_free(loaded), sock_model_free(model);
}

/* The order has a place, and says what the file's version is: programs that do not know it name the reason. */
static void test_structure__is_never_lost_in_a_file(void **state)
{
    fixture *f = *state;
    sock_model *model = model_by_hand(f, 2), *loaded = NULL;
    model->structure->order = 2;
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    assert_true(sk_structure_equal(loaded->structure, model->structure));
    sock_model_free(loaded), loaded = NULL;
    model->structure->order = 1;
    good(f, sock_model_save(f->ctx, model, f->path));
    good(f, sock_model_load(f->ctx, f->path, &loaded));
    assert_true(sk_structure_equal(loaded->structure, model->structure));
    size_t size;
    unsigned char *bytes = read_bytes(f->path, &size);
    assert_non_null(memmem(bytes, size, "\"format_version\":\"1\"", 20));
    assert_null(memmem(bytes, size, "order", 5));
    free(bytes);
    sock_model_free(model), sock_model_free(loaded);
}

static sock_status try_structure(sock_context *ctx, void *arg)
{
    sk_structure *copy = NULL;
    SK_TRY(sk_structure_copy(ctx, arg, &copy));
    sk_structure_free(copy);
    return SOCK_OK;
}

static void test_structure__copying_may_run_out_of_memory(void **state)
{
    fixture *f = *state;
    sk_structure *s = some_structure(f, 3);
    know_all(f, s);
    assert_true(for_each_allocation(f->ctx, try_structure, s) == 11);
    sk_structure_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(prop_model__terms_add),
        MODEL_TEST(test_model__a_diffusion_is_its_definition),
        MODEL_TEST(prop_model__sigma_sigma_is_a),
        MODEL_TEST(test_model__root_of_the_positive_part),
        MODEL_TEST(test_model__sigma_is_the_root_of_a),
        MODEL_TEST(test_model__wrapped_functions),
        MODEL_TEST(test_model__a_root_of_nan_is_a_failure),
        MODEL_TEST(test_model__a_callback_kernel_evaluates_and_is_not_saved),
        MODEL_TEST(prop_model__threads_change_nothing),
        MODEL_TEST(test_model__bad_points_are_refused),
        MODEL_TEST(test_model__wrapping_may_run_out_of_memory),
        MODEL_TEST(prop_fields__every_way_gives_the_same),
        MODEL_TEST(test_structure__nothing_is_known_but_the_names),
        MODEL_TEST(test_structure__copies_are_equal_and_changes_are_seen),
        MODEL_TEST(test_structure__plain_is_names_alone),
        MODEL_TEST(test_structure__noise_is_saved),
        MODEL_TEST(test_structure__bounds_are_saved),
        MODEL_TEST(test_structure__is_never_lost_in_a_file),
        MODEL_TEST(test_structure__copying_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
