/* test_faults.c - every public call that works: its k-th allocation fails, alone or with all that follow, or its
 * monitor says stop at the k-th call, for k = 1, 2, ... until it gets through. Each time the status is the one that
 * belongs to it, with a message; the result is untouched; nothing leaks (the sanitizers look); and the same call, let
 * alone, then does its work as ever.
 *
 * Which k: with SOCK_TRUST=1 in the environment every one, in both ways (as long as the call's share of TRUST_SECONDS
 * lasts, then each twice the one before); else all up to 40 (20 stops), then each 1.6 times the one before, the two
 * ways in turn. */
#define _GNU_SOURCE
#include "arrowtable.h"
#include "test.h"

#include "model/model.h"
#include "report/report.h"

#include <time.h>
#include <unistd.h>

enum { TIMES = 6, PATHS = 3 };

typedef struct world {
    sock_context *ctx;
    sock_options *plain, *tuned;
    sock_data *data;
    sock_model *model, *poly, *truth, *noisy, *banded;
    char folder[64], csv[96], npy[96], saved[96], out[96], points[96];
    long runs;
} world;

typedef sock_status (*call_fn)(world *w);

/* ---- The calls: each makes its result, checks that it is there exactly on success, and frees it ---- */

static sock_status done(sock_status status, const void *result)
{
    assert_int_equal(status >= 0, result != NULL);
    return status;
}

static sock_status keep_data(sock_status status, sock_data *data)
{
    status = done(status, data);
    sock_data_free(data);
    return status;
}

static sock_status keep_model(sock_status status, sock_model *model)
{
    status = done(status, model);
    sock_model_free(model);
    return status;
}

static sock_status keep_text(sock_status status, char *text)
{
    status = done(status, text);
    sock_string_free(text);
    return status;
}

static sock_status call_read_csv(world *w)
{
    sock_data *data = NULL;
    sock_status status = sock_data_read(w->ctx, w->csv, w->plain, &data);
    return keep_data(status, data);
}

static sock_status call_read_npy(world *w)
{
    sock_data *data = NULL;
    sock_status status = sock_data_read(w->ctx, w->npy, w->plain, &data);
    return keep_data(status, data);
}

static void write_csv(const char *path);
static void must(const world *w, sock_status status);

static sock_status call_read_files(world *w)
{
    char other[96];
    const char *const paths[] = {w->csv, other};
    snprintf(other, sizeof other, "%s/other.csv", w->folder);
    write_csv(other);
    sock_data *data = NULL;
    sock_status status = sock_data_read_files(w->ctx, 2, paths, w->plain, &data);
    remove(other);
    return keep_data(status, data);
}

/* A folder that is there is never replaced. */
static void remove_folder(const char *folder)
{
    static const char *const names[] = {"x.npy", "t.npy", "first.npy", "group.npy", "names.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    remove(folder);
}

/* A stream, and a search with as few candidates as there can be. */
static sock_status stream_options(world *w, sock_options **out)
{
    static const char *const set[][2] = {{"stream", "yes"}, {"drift", "linear"}, {"diffusion", "constant"}};
    sock_options *opts = *out = sock_options_new(w->ctx);
    sock_status status = opts ? sock_options_set(w->ctx, opts, "scratch", w->folder) : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < sizeof set / sizeof *set; i++)
        status = sock_options_set(w->ctx, opts, set[i][0], set[i][1]);
    return status;
}

static sock_status call_fit_files(world *w)
{
    const char *const path = w->csv;
    sock_model *model = NULL;
    sock_options *opts = NULL;
    sock_status status = stream_options(w, &opts);
    if (status >= 0) status = sock_fit_files(w->ctx, 1, &path, opts, &model);
    sock_options_free(opts);
    return keep_model(status, model);
}

static sock_status planned(world *w, char *plan, size_t room)
{
    const char *const path = w->csv;
    sock_options *opts = NULL;
    snprintf(plan, room, "%s/made.plan", w->folder);
    remove(plan);
    sock_status status = stream_options(w, &opts);
    if (status >= 0) status = sock_plan_files(w->ctx, 1, &path, opts, plan);
    assert_int_equal(access(plan, F_OK) == 0, status >= 0); /* whole or not there */
    sock_options_free(opts);
    return status;
}

static sock_status call_plan_alone(world *w)
{
    char plan[512];
    const sock_status status = planned(w, plan, sizeof plan);
    remove(plan);
    return status;
}

/* The plan, and the fit by it. */
static sock_status call_plan(world *w)
{
    const char *const path = w->csv;
    char plan[512] = "";
    sock_model *model = NULL;
    sock_options *by = sock_options_new(w->ctx);
    sock_status status = by ? planned(w, plan, sizeof plan) : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(w->ctx, by, "plan", plan);
    if (status >= 0) status = sock_options_set(w->ctx, by, "scratch", w->folder);
    if (status >= 0) status = sock_fit_files(w->ctx, 1, &path, by, &model);
    sock_options_free(by);
    remove(plan);
    return keep_model(status, model);
}

/* The first pass by the plan of the world, and its sums put together. */
static sock_status call_pass(world *w)
{
    const char *const path = w->csv;
    char plan[512], part[512], next[512];
    const char *const parts[] = {part};
    int done = 1;
    snprintf(plan, sizeof plan, "%s/faults.plan", w->folder);
    snprintf(part, sizeof part, "%s/part.sums", w->folder);
    snprintf(next, sizeof next, "%s/next.sums", w->folder);
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? sock_options_set(w->ctx, opts, "scratch", w->folder) : SOCK_ENOMEM;
    if (status >= 0) status = sock_pass(w->ctx, plan, NULL, 1, &path, opts, 1, 1, part);
    if (status >= 0) status = sock_merge(w->ctx, plan, 1, parts, next, w->out, &done);
    if (status >= 0) assert_int_equal(done, 0);
    sock_options_free(opts);
    remove(part);
    remove(next);
    return status;
}

static void make_plan(world *w)
{
    const char *const path = w->csv;
    char plan[512];
    sock_options *opts = NULL;
    snprintf(plan, sizeof plan, "%s/faults.plan", w->folder);
    must(w, stream_options(w, &opts));
    must(w, sock_plan_files(w->ctx, 1, &path, opts, plan));
    sock_options_free(opts);
}

static sock_status call_convert(world *w)
{
    char folder[400];
    const char *const path = w->csv;
    sock_data *data = NULL;
    snprintf(folder, sizeof folder, "%s.traj", w->out);
    sock_status status = sock_data_convert(w->ctx, 1, &path, w->plain, 0, folder);
    if (status >= 0) status = sock_data_read(w->ctx, folder, w->plain, &data);
    remove_folder(folder);
    return keep_data(status, data);
}

static void make_table(arrow_table *table)
{
    static const int32_t at[] = {0, 1, 2, 3, 4};
    static const double t[] = {0, 1, 0, 1}, x[] = {1, 2, 3, 5};
    static const int64_t rows[] = {4};
    arrow_buffers(table, 0, arrow_column(table, "u", "traj"), 4, 0, 3, NULL, at, "aabb");
    arrow_buffers(table, 0, arrow_column(table, "g", "t"), 4, 0, 2, NULL, t, NULL);
    arrow_buffers(table, 0, arrow_column(table, "g", "x"), 4, 0, 2, NULL, x, NULL);
    arrow_finish(table, 1, rows);
}

static sock_status call_arrow_convert(world *w)
{
    char folder[400];
    arrow_table table = {0};
    make_table(&table);
    snprintf(folder, sizeof folder, "%s.traj", w->out);
    struct ArrowArrayStream stream = arrow_stream(&table);
    const sock_status status = sock_data_convert_arrow_stream(w->ctx, &stream, w->plain, 0, folder);
    assert_int_equal(table.streams_released, 1);
    assert_int_equal(table.tables_released, (int)table.next);
    remove_folder(folder);
    return status;
}

static sock_status call_arrow(world *w)
{
    arrow_table table = {0};
    sock_data *data = NULL;
    make_table(&table);
    struct ArrowArrayStream stream = arrow_stream(&table);
    const sock_status status = sock_data_from_arrow_stream(w->ctx, &stream, w->plain, &data);
    assert_int_equal(table.streams_released, 1);
    assert_int_equal(table.tables_released, (int)table.next);
    return keep_data(status, data);
}

static sock_status call_from_arrays(world *w)
{
    static const size_t length[] = {3, 2}, group[] = {7, 9};
    static const double t[] = {0, 1, 2, 0, 1}, x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const char *const names[] = {"a", "b"};
    sock_data *data = NULL;
    sock_status status = sock_data_from_arrays(w->ctx, 2, 2, length, t, x, names, group, NULL, &data);
    return keep_data(status, data);
}

static sock_status call_from_named(world *w)
{
    static const size_t length[] = {3, 2};
    static const double t[] = {0, 1, 2, 0, 1}, x[] = {1, 2, 3, 4, 5};
    static const char *const ids[] = {"M01", "M02"};
    sock_data *data = NULL;
    sock_status status = sock_data_from_named_arrays(w->ctx, 1, 2, ids, length, t, x, NULL, NULL, NULL, &data);
    return keep_data(status, data);
}

static sock_status call_split(world *w)
{
    sock_data *rest = NULL, *held = NULL;
    sock_status status = sock_data_split(w->ctx, w->data, 2, 0, 1, &rest, &held);
    assert_int_equal(rest != NULL, held != NULL);
    sock_data_free(rest);
    return keep_data(status, held);
}

static sock_status call_time_unit(world *w)
{
    sock_data *copy = NULL;
    sock_status status = sock_data_split(w->ctx, w->data, 2, 0, 1, NULL, &copy);
    if (status >= 0) status = sock_data_set_time_unit(w->ctx, copy, "day");
    return keep_data(status, copy);
}

static sock_status call_split_time(world *w)
{
    sock_data *rest = NULL, *held = NULL;
    sock_status status = sock_data_split_time(w->ctx, w->data, 3, 1, &rest, &held);
    assert_int_equal(rest != NULL, held != NULL);
    sock_data_free(rest);
    return keep_data(status, held);
}

static sock_status call_join(world *w)
{
    sock_data *both = NULL;
    sock_status status = sock_data_join(w->ctx, w->data, w->data, w->plain, &both);
    return keep_data(status, both);
}

static sock_status call_write(world *w) { return sock_data_write(w->ctx, w->data, w->out); }

static sock_status call_points(world *w)
{
    static const char *const names[] = {"x"};
    double *x = NULL;
    size_t count = 0;
    sock_status status = sock_points_read(w->ctx, w->points, 1, names, &count, &x);
    status = done(status, x);
    sock_array_free(x);
    return status;
}

static sock_status call_summary(world *w)
{
    char *text = NULL;
    sock_status status = sock_data_summary(w->ctx, w->data, &text);
    return keep_text(status, text);
}

static sock_status call_order(world *w)
{
    double statistic[8], left[8];
    int second[8];
    assert_true(sock_data_dim(w->data) <= 8);
    return sock_data_order(w->ctx, w->data, statistic, left, second);
}

static sock_status fit_with(world *w, const char *drift, const char *path, const char *diffusion)
{
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(w->ctx, opts, "tune", "no");
    if (status >= 0) status = sock_options_set(w->ctx, opts, "drift", drift);
    if (status >= 0) status = sock_options_set(w->ctx, opts, "drift-path", path);
    if (status >= 0) status = sock_options_set(w->ctx, opts, "diffusion", diffusion);
    if (status >= 0) status = sock_fit(w->ctx, w->data, opts, &model);
    sock_options_free(opts);
    return keep_model(status, model);
}

static sock_status call_fit_gauss(world *w) { return fit_with(w, "gauss", "exact", "gauss"); }
static sock_status call_fit_fourier(world *w) { return fit_with(w, "fourier:p=5,eta=1", "auto", "fourier:p=4,eta=1"); }
static sock_status call_fit_nystrom(world *w) { return fit_with(w, "nystrom:m=4", "auto", "poly:degree=2"); }

static sock_status call_fit_tuned(world *w)
{
    sock_model *model = NULL;
    sock_status status = sock_fit(w->ctx, w->data, w->tuned, &model);
    return keep_model(status, model);
}

/* A whole search, with as few candidates as there can be. */
static sock_status call_search(world *w)
{
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? sock_options_set(w->ctx, opts, "drift", "linear") : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(w->ctx, opts, "diffusion", "linear");
    if (status >= 0) status = sock_fit(w->ctx, w->data, opts, &model);
    sock_options_free(opts);
    return keep_model(status, model);
}

static sock_status call_search_paper(world *w)
{
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? sock_options_set(w->ctx, opts, "preset", "paper") : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set_validation(w->ctx, opts, w->data);
    if (status >= 0) status = sock_fit(w->ctx, w->data, opts, &model);
    sock_options_free(opts);
    return keep_model(status, model);
}

static sock_status call_drift_system(world *w)
{
    size_t n = sock_data_intervals(w->data);
    double *L = calloc(n * n, sizeof *L), *dy = calloc(n, sizeof *dy), *alpha = calloc(n, sizeof *alpha);
    sock_status status = sock_drift_system(w->ctx, w->data, w->plain, L, dy, alpha);
    free(L), free(dy), free(alpha);
    return status;
}

static sock_status call_fit_diffusion(world *w)
{
    sock_model *model = NULL;
    sock_status status = sock_fit_diffusion(w->ctx, w->data, w->model, w->plain, &model);
    return keep_model(status, model);
}

static sock_status call_diffusion_system(world *w)
{
    size_t n = sock_data_intervals(w->data);
    double *z = calloc(n, sizeof *z), *beta = calloc(n, sizeof *beta);
    sock_certificate certificate;
    sock_status status = sock_diffusion_system(w->ctx, w->data, w->model, w->plain, z, beta, &certificate);
    free(z), free(beta);
    return status;
}

static sock_status call_save(world *w) { return sock_model_save(w->ctx, w->model, w->out); }

static sock_status call_load(world *w)
{
    sock_model *model = NULL;
    sock_status status = sock_model_load(w->ctx, w->saved, &model);
    return keep_model(status, model);
}

static sock_status call_fields(world *w)
{
    static const double x[] = {0, 0.5, 1};
    double out[3];
    sock_status status = sock_model_drift(w->ctx, w->model, 3, x, out);
    if (status >= 0) status = sock_model_diffusion(w->ctx, w->model, 3, x, out);
    return status >= 0 ? sock_model_sigma(w->ctx, w->model, 3, x, out) : status;
}

static sock_status call_info(world *w)
{
    char *text = NULL;
    sock_status status = sock_model_info(w->ctx, w->model, &text);
    return keep_text(status, text);
}

static sock_status call_words(world *w)
{
    char *text = NULL;
    sock_status status = sock_model_summary(w->ctx, w->model, &text);
    return keep_text(status, text);
}

static void half(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) out[i * d + k] = 0.5 + 0 * x[i * d + k];
}

static sock_status call_wrap(world *w)
{
    static const char *const names[] = {"x"};
    sock_model *model = NULL;
    sock_status status = sock_model_wrap(w->ctx, 1, names, half, half, NULL, &model);
    return keep_model(status, model);
}

/* A function of the state and of an input: its points have two numbers. */
static void with_input(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) out[i] = 0.5 + 0 * x[i * (d + 1)];
}

/* Of two states, the second a velocity. */
static void kicks(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    for (size_t i = 0; i < count * d * d; i++) a[i] = i % 4 == 3 ? 0.5 + 0 * x[i / 4] : 0;
}

static sock_status call_second_order(world *w)
{
    static const char *const names[] = {"q", "v_q"};
    sock_model *model = NULL;
    sock_status status = sock_model_wrap(w->ctx, 2, names, half, kicks, NULL, &model);
    double mean[2 * TIMES * PATHS], sd[2 * TIMES * PATHS];
    if (status >= 0) status = sock_model_set_order(w->ctx, model, 2);
    if (status >= 0) status = sock_smooth(w->ctx, model, w->data, mean, sd);
    sock_model_free(model);
    return status;
}

static sock_status call_inputs(world *w)
{
    static const char *const names[] = {"x"}, *const inputs[] = {"u"};
    static const double x[] = {0, 0.5, 1}, u[] = {1, 2, 3};
    double f[3], a[3];
    sock_model *model = NULL;
    sock_status status = sock_model_wrap(w->ctx, 1, names, with_input, with_input, NULL, &model);
    if (status >= 0) status = sock_model_set_inputs(w->ctx, model, 1, inputs, NULL);
    if (status >= 0) status = sock_model_evaluate_at(w->ctx, model, 3, x, u, f, a);
    if (status >= 0) status = sock_model_sigma_at(w->ctx, model, 3, x, u, a);
    sock_model_free(model);
    return status;
}

static sock_status call_simulate(world *w)
{
    static const double x0[] = {0, 1}, t[] = {0, 0.5, 1};
    double out[2 * 40 * 3], lost[2 * 40];
    sock_simulation spec = {.starts = 2, .x0 = x0, .paths = 40, .times = 3, .t = t, .step = 0.1};
    return sock_simulate(w->ctx, w->model, &spec, out, lost, NULL);
}

static sock_status call_score(world *w)
{
    sock_scores scores;
    return sock_score(w->ctx, w->model, w->data, w->data, w->truth, w->plain, &scores);
}

static sock_status call_score_files(world *w)
{
    sock_scores scores;
    const char *const path = w->csv;
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? sock_options_set(w->ctx, opts, "scratch", w->folder) : SOCK_ENOMEM;
    if (status >= 0) status = sock_score_files(w->ctx, w->model, 1, &path, w->truth, opts, &scores);
    sock_options_free(opts);
    return status;
}

/* More rows than are described whole; made by the first call. */
static const char *many_rows(const world *w)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/many.csv", w->folder);
    FILE *file = fopen(path, "wx");
    if (!file) return path;
    fputs("traj,t,x\n", file);
    for (int j = 0; j < 21; j++)
        for (int i = 0; i < 100; i++)
            fprintf(file, "%d,%g,%g\n", j, i + 0.01 * (i % 3), (i * 7 + j * 13) % 101 + 0.1 * j);
    fclose(file);
    return path;
}

static sock_status call_info_files(world *w)
{
    const char *const path = many_rows(w);
    char *text = NULL;
    sock_options *opts = NULL;
    sock_status status = stream_options(w, &opts);
    if (status >= 0) status = sock_options_set(w->ctx, opts, "search-rows", "1000");
    if (status >= 0) status = sock_info_files(w->ctx, 1, &path, opts, &text);
    if (status >= 0) assert_non_null(strstr(text, "sample_steps"));
    sock_options_free(opts);
    sock_string_free(text);
    return status;
}

static sock_status call_holds(world *w)
{
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? sock_options_set(w->ctx, opts, "lower", "-1e9") : SOCK_ENOMEM;
    if (status >= 0) status = sock_model_holds(w->ctx, w->model, w->data, opts);
    sock_options_free(opts);
    return status;
}

static sock_status call_smooth(world *w)
{
    double mean[TIMES * PATHS], sd[TIMES * PATHS];
    return sock_smooth(w->ctx, w->noisy, w->data, mean, sd);
}

static sock_status call_score_noise(world *w)
{
    sock_scores scores;
    return sock_score(w->ctx, w->noisy, w->data, w->data, w->truth, w->plain, &scores);
}

static sock_status call_write_file(world *w) { return sock_write_file(w->ctx, w->out, "text", 4); }

static sock_status call_bounds(world *w)
{
    double lower[2], upper[2];
    sock_bounds mode;
    return sock_simulation_bounds(w->ctx, w->plain, 2, &mode, lower, upper);
}

static sock_status call_set_bounds(world *w)
{
    const double lower[] = {-100, -100, -100, -100};
    sock_model *model = NULL;
    sock_status status = sock_model_load(w->ctx, w->saved, &model);
    if (status >= 0) status = sock_model_set_bounds(w->ctx, model, lower, NULL);
    sock_model_free(model);
    return status;
}

static sock_status call_options(world *w)
{
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(w->ctx, opts, "drift", "gauss:eta=2+poly:degree=2");
    if (status >= 0) status = sock_options_set(w->ctx, opts, "state", "a,b,c");
    if (status >= 0) status = sock_options_set(w->ctx, opts, "lower", "none,0");
    sock_options_free(opts);
    return status;
}

static sock_status call_fit_validation(world *w)
{
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? sock_options_set(w->ctx, opts, "budget", "1e-9") : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set_validation(w->ctx, opts, w->data);
    if (status >= 0) status = sock_fit(w->ctx, w->data, opts, &model);
    sock_options_free(opts);
    return keep_model(status, model);
}

static void near_ones(void *user, size_t d, const double *x, const double *y, double *out)
{
    (void)user, (void)d;
    out[0] = exp(-(x[0] - y[0]) * (x[0] - y[0]));
}

static sock_status fit_driven(world *w, const sock_options *opts)
{
    static const char *const names[] = {"x", "u"};
    static const size_t length[] = {12, 12, 12, 12};
    double t[48], x[96];
    for (size_t i = 0; i < 48; i++) {
        t[i] = 0.1 * (double)(i % 12);
        x[2 * i] = sin((double)(7 * i)) + 0.1 * (double)i;
        x[2 * i + 1] = cos((double)(3 * i));
    }
    sock_data *data = NULL;
    sock_model *model = NULL;
    sock_status status = sock_data_from_arrays(w->ctx, 2, 4, length, t, x, names, NULL, opts, &data);
    if (status >= 0) status = sock_fit(w->ctx, data, opts, &model);
    sock_data_free(data);
    return keep_model(status, model);
}
static sock_status call_fit_inputs(world *w)
{
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? sock_options_set(w->ctx, opts, "budget", "1e-9") : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set(w->ctx, opts, "input", "u");
    if (status >= 0) status = fit_driven(w, opts);
    sock_options_free(opts);
    return status;
}
static sock_status call_fit_callback(world *w)
{
    sock_model *model = NULL;
    sock_options *opts = sock_options_new(w->ctx);
    sock_status status = opts ? sock_options_set(w->ctx, opts, "tune", "no") : SOCK_ENOMEM;
    if (status >= 0) status = sock_options_set_drift_kernel(w->ctx, opts, near_ones, NULL);
    if (status >= 0) status = sock_fit(w->ctx, w->data, opts, &model);
    sock_options_free(opts);
    return keep_model(status, model);
}

static sock_status call_terms(world *w)
{
    char *text = NULL;
    sock_status status = sock_model_terms(w->ctx, w->poly, &text);
    return keep_text(status, text);
}

static sock_status rest(void *user, const sock_path_request *request, double *out)
{
    (void)user;
    for (size_t i = 0; i < request->paths * request->times; i++) out[i] = request->x0[0];
    return SOCK_OK;
}

static sock_status call_score_paths(world *w)
{
    sock_scores scores;
    return sock_score_paths(w->ctx, rest, NULL, w->data, w->data, w->truth, w->plain, &scores);
}

static sock_status call_bands(world *w)
{
    double x = 0.3, low = 0, high = 0;
    sock_model *draw = NULL;
    sock_status status = sock_model_bands(w->ctx, w->banded, 1, &x, 0.9,
                                          &(sock_bands){.f_low = &low, .f_high = &high, .sigma_high = &high});
    if (status >= 0)
        status =
            sock_model_bands_at(w->ctx, w->banded, 1, &x, NULL, 0.9, &(sock_bands){.a_low = &low, .a_high = &high});
    if (status >= 0) status = sock_model_draw(w->ctx, w->banded, 1, 2, &draw);
    sock_model_free(draw);
    return status;
}

static sock_status call_uncertain(world *w)
{
    const double x0 = 0.5, t[] = {0, 0.1};
    double out[6];
    const sock_simulation spec = {.starts = 1, .x0 = &x0, .paths = 3, .times = 2, .t = t, .uncertain = 1};
    return sock_simulate(w->ctx, w->banded, &spec, out, NULL, NULL);
}

static sock_status call_check_scores(world *w)
{
    sock_step_scores scores;
    SK_TRY(sock_check_scores(w->ctx, w->model, w->data, w->plain, &scores));
    sock_step_scores_free(&scores);
    return SOCK_OK;
}

static sock_status call_check(world *w)
{
    sock_checks checks;
    char *text = NULL;
    SK_TRY(sock_check(w->ctx, w->model, w->data, w->plain, &checks));
    sock_status status = sock_checks_json(w->ctx, &checks, &text);
    return keep_text(status, text);
}

static sock_status call_explain(world *w)
{
    char *text = NULL;
    const sock_status status = sock_explain(w->ctx, w->poly, w->data, NULL, NULL, &text);
    return keep_text(status, text);
}

static sock_status call_evidence(world *w)
{
    char *text = NULL;
    const sock_status status = sock_evidence(w->ctx, w->model, w->data, &text);
    return keep_text(status, text);
}

static sock_status call_features(world *w)
{
    char *text = NULL;
    const sock_status status = sock_model_features(w->ctx, w->model, &text);
    return keep_text(status, text);
}

static sock_status call_explain_draws(world *w)
{
    char *text = NULL;
    const sock_status status = sock_explain(w->ctx, w->banded, NULL, NULL, NULL, &text);
    return keep_text(status, text);
}

static sock_status call_report(world *w)
{
    rep_settings settings = {
        .truth = w->truth, .truth_name = "half", .test = w->data, .model_path = "m", .data_path = "d"};
    return rep_write(w->ctx, w->model, w->data, &settings, w->out);
}

/* All figures that this model has. */
static sock_status call_figures(world *w)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && rep_figure_name(i); i++)
        if (!rep_figure_lack(w->model, w->data, rep_figure_name(i)))
            status = rep_figure(w->ctx, w->model, w->data, NULL, rep_figure_name(i), w->out);
    return status;
}

/* What takes no context, or no memory and no time, is not here. */
static const struct call {
    const char *name;
    call_fn fn;
    bool only_long;
} calls[] = {
    {"sock_data_read (CSV)", call_read_csv, false},
    {"sock_data_read (.npy)", call_read_npy, false},
    {"sock_data_read_files", call_read_files, false},
    {"sock_data_convert", call_convert, false},
    {"sock_data_from_arrow_stream", call_arrow, false},
    {"sock_data_convert_arrow_stream", call_arrow_convert, false},
    {"sock_data_from_arrays", call_from_arrays, false},
    {"sock_data_from_named_arrays", call_from_named, false},
    {"sock_data_split", call_split, false},
    {"sock_data_split_time", call_split_time, false},
    {"sock_data_set_time_unit", call_time_unit, false},
    {"sock_data_join", call_join, false},
    {"sock_data_write", call_write, false},
    {"sock_points_read", call_points, false},
    {"sock_data_summary", call_summary, false},
    {"sock_data_order", call_order, false},
    {"sock_info_files", call_info_files, true},
    {"sock_fit, gauss", call_fit_gauss, false},
    {"sock_fit, fourier", call_fit_fourier, false},
    {"sock_fit, nystrom", call_fit_nystrom, false},
    {"sock_fit, tuned", call_fit_tuned, false},
    {"sock_fit, the whole search", call_search, true},
    {"sock_fit_files, a stream", call_fit_files, true},
    {"sock_plan_files", call_plan, true},
    {"sock_pass, sock_merge", call_pass, true},
    {"sock_fit, the paper's search", call_search_paper, true},
    {"sock_drift_system", call_drift_system, false},
    {"sock_fit_diffusion", call_fit_diffusion, false},
    {"sock_diffusion_system", call_diffusion_system, false},
    {"sock_model_save", call_save, false},
    {"sock_model_load", call_load, false},
    {"sock_model_drift, _diffusion, _sigma", call_fields, false},
    {"sock_model_info", call_info, false},
    {"sock_model_summary", call_words, false},
    {"sock_model_wrap", call_wrap, false},
    {"sock_model_set_order, sock_smooth", call_second_order, false},
    {"sock_model_set_inputs, _evaluate_at, _sigma_at", call_inputs, false},
    {"sock_simulate", call_simulate, false},
    {"sock_score", call_score, false},
    {"sock_score of a model with noise", call_score_noise, false},
    {"sock_score_files", call_score_files, true},
    {"sock_model_holds", call_holds, false},
    {"sock_smooth", call_smooth, false},
    {"sock_evidence", call_evidence, false},
    {"sock_model_features", call_features, false},
    {"sock_explain", call_explain, false},
    {"sock_explain, draws", call_explain_draws, true},
    {"sock_write_file", call_write_file, false},
    {"sock_simulation_bounds", call_bounds, false},
    {"sock_model_set_bounds", call_set_bounds, false},
    {"sock_options_new, _set", call_options, false},
    {"sock_options_set_validation, sock_fit", call_fit_validation, false},
    {"sock_fit, input", call_fit_inputs, false},
    {"sock_options_set_drift_kernel, sock_fit", call_fit_callback, false},
    {"sock_model_terms", call_terms, false},
    {"sock_score_paths", call_score_paths, false},
    {"sock_model_bands, _bands_at, _draw", call_bands, false},
    {"sock_simulate, uncertain", call_uncertain, false},
    {"sock_check, sock_checks_json", call_check, false},
    {"sock_check_scores", call_check_scores, false},
    {"rep_write", call_report, false},
    {"rep_figure", call_figures, false},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* ---- The world they work on ---- */

static void must(const world *w, sock_status status)
{
    if (status < 0) fail_msg("%s", sock_message(w->ctx));
}

static void write_text(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_csv(const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("traj,t,x\n", file);
    for (int j = 0; j < PATHS; j++)
        for (int i = 0; i < TIMES; i++)
            fprintf(file, "%d,%g,%.3f\n", j, 0.1 * i, (0.3 * j + 1) * pow(0.9, i) + 0.1 * ((i * 7 + j * 3) % 5));
    assert_int_equal(fclose(file), 0);
}

static void write_npy(const char *path)
{
    char bytes[128 + 48] = "\x93NUMPY\x01";
    bytes[8] = 118;
    memset(bytes + 10, ' ', 118);
    memcpy(bytes + 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 59);
    bytes[127] = '\n';
    static const double x[] = {1, 2, 4, 0, 1, 3};
    memcpy(bytes + 128, x, sizeof x);
    write_text(path, bytes, sizeof bytes);
}

static int make_world(void **state)
{
    world *w = calloc(1, sizeof *w);
    w->ctx = sock_context_new();
    snprintf(w->folder, sizeof w->folder, "/tmp/sock-faults-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    snprintf(w->csv, sizeof w->csv, "%s/d.csv", w->folder);
    snprintf(w->npy, sizeof w->npy, "%s/d.npy", w->folder);
    snprintf(w->saved, sizeof w->saved, "%s/m.sock", w->folder);
    snprintf(w->out, sizeof w->out, "%s/out", w->folder);
    snprintf(w->points, sizeof w->points, "%s/p.csv", w->folder);
    write_csv(w->csv), write_npy(w->npy), write_text(w->points, "x\n1\n2\n", 6);
    must(w, sock_set_threads(w->ctx, 2));
    w->plain = sock_options_new(w->ctx), w->tuned = sock_options_new(w->ctx);
    static const char *const set[][2] = {{"tune", "no"}, {"dt", "0.1"}, {"mmd-paths", "20"}, {"mmd-step", "0.05"}};
    for (size_t i = 0; i < 4; i++) must(w, sock_options_set(w->ctx, w->plain, set[i][0], set[i][1]));
    must(w, sock_options_set(w->ctx, w->tuned, "budget", "1e-9"));
    must(w, sock_data_read(w->ctx, w->csv, w->plain, &w->data));
    must(w, sock_fit(w->ctx, w->data, w->plain, &w->model));
    must(w, sock_fit(w->ctx, w->data, w->tuned, &w->banded));
    assert_int_equal(sock_model_has_bands(w->banded), 1);
    must(w, sock_model_save(w->ctx, w->model, w->saved));
    must(w, sock_options_set(w->ctx, w->plain, "drift", "poly:degree=2"));
    must(w, sock_fit(w->ctx, w->data, w->plain, &w->poly));
    must(w, sock_options_set(w->ctx, w->plain, "drift", "auto"));
    must(w, sock_model_wrap(w->ctx, 1, NULL, half, half, NULL, &w->truth));
    must(w, sock_fit(w->ctx, w->data, w->plain, &w->noisy));
    w->noisy->structure->noise = sk_doubles(w->ctx, 1, 1);
    w->noisy->structure->noise[0] = 0.01;
    make_plan(w);
    *state = w;
    return 0;
}

static int free_world(void **state)
{
    world *w = *state;
    const char *const files[] = {w->csv, w->npy, w->saved, w->out, w->points};
    for (size_t i = 0; i < 5; i++) unlink(files[i]);
    char plan[512];
    snprintf(plan, sizeof plan, "%s/faults.plan", w->folder);
    unlink(plan);
    remove(many_rows(w));
    assert_int_equal(rmdir(w->folder), 0); /* and nothing else was left there */
    sock_data_free(w->data);
    sock_model_free(w->model), sock_model_free(w->poly), sock_model_free(w->truth), sock_model_free(w->noisy);
    sock_model_free(w->banded);
    sock_options_free(w->plain), sock_options_free(w->tuned);
    sock_context_free(w->ctx);
    free(w);
    return 0;
}

static bool thorough(void) { return getenv("SOCK_TRUST") != NULL; }

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* When the time of a call is over that has its share of what is left of `seconds` since `begin`; 0: never. */
static double end_of_share(double begin, double seconds, size_t calls_left)
{
    const double now = seconds_now();
    return seconds > 0 ? now + fmax(0, begin + seconds - now) / (double)calls_left : 0;
}

/* Half of TRUST_SECONDS for each of the two long tests; 0 where it is not set. */
static double given_seconds(void)
{
    const char *text = getenv("TRUST_SECONDS");
    return text && thorough() ? 0.5 * strtod(text, NULL) : 0;
}

static long next_place(long k, long all, double end)
{
    if (end > 0 && seconds_now() > end) return 2 * k;
    return k < (is_slow_run() ? all / 4 : all) || thorough() ? k + 1 : (long)((double)k * 1.6);
}

/* ---- Memory ---- */

/* The call with its k-th allocation failing. false: it makes fewer than k (in two threads not always as many). */
static bool fails_at(world *w, const struct call *c, long k, bool alone)
{
    const long before = sk_allocations(w->ctx);
    (alone ? sk_fail_one_allocation : sk_fail_allocation)(w->ctx, k);
    const sock_status status = c->fn(w);
    sk_fail_allocation(w->ctx, 0);
    const bool reached = sk_allocations(w->ctx) - before >= k;
    w->runs += reached;
    if (reached ? status != SOCK_ENOMEM || !strstr(sock_message(w->ctx), "memory") : status < 0)
        fail_msg("%s: allocation %ld %s: status %d, '%s'", c->name, k, reached ? "failed" : "was not made", status,
                 sock_message(w->ctx));
    return reached;
}

static void test_faults__an_allocation_fails(void **state)
{
    world *w = *state;
    const double begin = seconds_now(), given = given_seconds();
    for (size_t c = 0; c < CALLS; c++) {
        if (calls[c].only_long && !thorough()) continue;
        const long runs = w->runs;
        for (int alone = 0; alone <= thorough(); alone++) {
            bool turn = alone;
            const double end = end_of_share(begin, given, 2 * (CALLS - c) - (size_t)alone);
            for (long k = 1; fails_at(w, &calls[c], k, turn); k = next_place(k, 40, end))
                turn = thorough() ? alone : !turn;
        }
        must(w, calls[c].fn(w));
        if (thorough()) print_message("%s: %ld\n", calls[c].name, w->runs - runs);
    }
    print_message("%ld runs with a failed allocation\n", w->runs);
}

typedef struct tally {
    sock_context *ctx;
    const char *stage;
    long allocations; /* when the stage is told for the first time */
} tally;

static int count_until(void *user, const char *stage, double fraction)
{
    (void)fraction;
    tally *c = user;
    if (!c->allocations && strstr(stage, c->stage)) c->allocations = sk_allocations(c->ctx);
    return 0;
}

/* The table of a search that is thrown away, that inputs are chosen with, and of one that ends with its plan: rows that
 * were lost must be told there too. One thread, so that the k-th is always the same; each alone, since all that follow
 * would be noticed later. */
static void every_one_before(world *w, const struct call *c, const char *stage)
{
    tally until = {w->ctx, stage, 0};
    must(w, sock_set_threads(w->ctx, 1));
    sock_set_monitor(w->ctx, count_until, &until);
    const long before = sk_allocations(w->ctx);
    must(w, c->fn(w));
    sock_set_monitor(w->ctx, NULL, NULL);
    assert_true(until.allocations > before);
    for (long k = 1; k <= until.allocations - before; k++)
        if (!fails_at(w, c, k, true)) fail_msg("%s: allocation %ld was not made again", c->name, k);
}

static void test_faults__an_allocation_for_a_table_fails(void **state)
{
    every_one_before(*state, &(struct call){"sock_fit, input", call_fit_inputs, false}, "inputs");
    every_one_before(*state, &(struct call){"sock_plan_files", call_plan_alone, false}, "screen: diffusion");
}

/* ---- Interrupts ---- */

typedef struct watch {
    long seen, stop_at;
} watch;

static int stop_at(void *user, const char *stage, double fraction)
{
    watch *v = user;
    assert_non_null(stage);
    assert_true(fraction == -1 || (fraction >= 0 && fraction <= 1));
    return ++v->seen == v->stop_at;
}

static void test_faults__the_monitor_says_stop(void **state)
{
    world *w = *state;
    long runs = 0;
    const double begin = seconds_now(), given = given_seconds();
    for (size_t c = 0; c < CALLS; c++) {
        if (calls[c].only_long && !thorough()) continue;
        watch v = {0, 0};
        sock_set_monitor(w->ctx, stop_at, &v);
        must(w, calls[c].fn(w));
        const long count = v.seen;
        const double end = end_of_share(begin, given, CALLS - c);
        for (long k = 1; k <= count; k = next_place(k, 20, end)) {
            v = (watch){0, k};
            sock_status status = calls[c].fn(w);
            runs++;
            bool stopped = v.seen >= k;
            if (stopped && (status != SOCK_ECANCELLED || !strstr(sock_message(w->ctx), "interrupted")))
                fail_msg("%s: stopped at call %ld of %ld: status %d, '%s'", calls[c].name, k, count, status,
                         sock_message(w->ctx));
            if (stopped && v.seen > k + 2) fail_msg("%s: went on after the stop", calls[c].name);
            sock_cancel_reset(w->ctx);
        }
        sock_set_monitor(w->ctx, NULL, NULL);
        must(w, calls[c].fn(w));
    }
    print_message("%ld runs with a stop\n", runs);
}

/* ---- Places that cannot be written ---- */

static void test_faults__a_full_disk(void **state)
{
    world *w = *state;
    char big[8192] = "x"; /* more than a buffer, and less: the failure comes from the write, and from the flush */
    assert_int_equal(sock_write_file(w->ctx, "/dev/full", big, sizeof big), SOCK_EIO);
    assert_int_equal(sock_write_file(w->ctx, "/dev/full", big, 10), SOCK_EIO);
    assert_non_null(strstr(sock_message(w->ctx), "No space left"));
    assert_int_equal(sock_data_write(w->ctx, w->data, "/dev/full"), SOCK_EIO);
    assert_int_equal(sock_model_save(w->ctx, w->model, "/dev/full"), SOCK_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_faults__an_allocation_fails, make_world, free_world),
        cmocka_unit_test_setup_teardown(test_faults__an_allocation_for_a_table_fails, make_world, free_world),
        cmocka_unit_test_setup_teardown(test_faults__the_monitor_says_stop, make_world, free_world),
        cmocka_unit_test_setup_teardown(test_faults__a_full_disk, make_world, free_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
