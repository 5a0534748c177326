/* noisecases.h - the model of the oracle cases noise_*.json:
 * f = (x2, -x1 + x2/2 - 0.3 x1^2 x2), a = [[0.1 + 0.05 x1^2, 0.02], [0.02, 0.08 + 0.04 x2^2]], no box. */
#ifndef SK_NOISECASES_H
#define SK_NOISECASES_H

#include "occupation/transitions.h"
#include "onecontext.h"
#include "oracle.h"
#include "score/filter.h"
#include "truths.h"

static inline void oracle_drift(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++, x += d, f += d) {
        f[0] = x[1];
        f[1] = -x[0] + 0.5 * x[1] - 0.3 * x[0] * x[0] * x[1];
    }
}

static inline void oracle_diffusion(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    for (size_t i = 0; i < count; i++, x += d, a += d * d) {
        a[0] = 0.1 + 0.05 * x[0] * x[0];
        a[1] = a[2] = 0.02;
        a[3] = 0.08 + 0.04 * x[1] * x[1];
    }
}

static const double oracle_reach[] = {1e-3, 2e-3};

/* The trajectories of noise_filter.json and the filter that they went through. */
typedef struct example {
    json_t *root, *list;
    sock_data *data;
    sk_series series;
    double *noise;
    sock_model *model;
    sk_filter_spec spec;
} example;

static inline void example_init(example *e)
{
    double t[64], x[128];
    size_t length[2], at = 0;
    e->root = oracle_load("noise_filter.json");
    e->list = json_object_get(e->root, "trajectories");
    for (size_t j = 0; j < 2; j++) {
        json_t *one = json_array_get(e->list, j);
        oracle_flatten(json_object_get(one, "y"), x, 2 * at);
        length[j] = oracle_flatten(json_object_get(one, "t"), t, at) - at;
        at += length[j];
    }
    e->data = NULL;
    assert_true(sock_data_from_arrays(ctx, 2, 2, length, t, x, NULL, NULL, NULL, &e->data) >= 0);
    assert_int_equal(sk_series_of_data(ctx, e->data, &e->series), SOCK_OK);
    e->noise = oracle_numbers(e->root, "R", NULL);
    e->model = wrap_fields(ctx, 2, oracle_drift, oracle_diffusion, NULL);
    e->spec = (sk_filter_spec){e->model, e->noise, {{2, false}, oracle_reach, NULL, NULL}, NULL};
}

static inline void example_clear(example *e)
{
    sock_model_free(e->model);
    sk_series_clear(&e->series);
    sock_data_free(e->data);
    free(e->noise);
    json_decref(e->root);
}

static inline void compare(json_t *at, const char *key, const double *value)
{
    size_t count;
    double *expected = oracle_numbers(at, key, &count);
    assert_all_close(count, value, expected, 1e-11);
    free(expected);
}

/* One trajectory a cluster, clusters in folds in turn. */
static inline sk_transitions *transitions_of(const sock_data *data, size_t folds)
{
    const size_t n = data->points - data->trajectories;
    sk_split split = {
        n,   folds, data->trajectories, calloc(n, sizeof(size_t)), calloc(n, sizeof(size_t)), calloc(n, sizeof(size_t)),
        NULL};
    sk_transitions *rows = NULL;
    for (size_t j = 0, i = 0; j < data->trajectories; j++)
        for (size_t k = data->first[j]; k + 1 < data->first[j + 1]; k++, i++) {
            split.point[i] = k;
            split.fold[i] = j % folds;
            split.cluster[i] = j;
        }
    assert_int_equal(sk_transitions_new(ctx, data, &split, NULL, &rows), SOCK_OK);
    free(split.point);
    free(split.fold);
    free(split.cluster);
    return rows;
}

#endif
