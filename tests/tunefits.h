/* tunefits.h - tuned fits for the tests that meet them as users do: options by pairs, exact Ornstein-Uhlenbeck paths, a
 * small set in two dimensions, and what a model says of itself. */
#ifndef SK_TUNEFITS_H
#define SK_TUNEFITS_H

#include "data/data.h"
#include "model/model.h"
#include "test.h"

#include <jansson.h>

static sock_context *ctx;

#include "modelinfo.h"

static inline int setup(void **state)
{
    (void)state;
    ctx = sock_context_new();
    return ctx ? 0 : -1;
}

static inline int teardown(void **state)
{
    (void)state;
    sock_context_free(ctx);
    return 0;
}

/* key, value, key, value, ..., NULL */
static inline sock_options *options(const char *const *pairs)
{
    sock_options *opts = sock_options_new(ctx);
    for (; pairs && *pairs; pairs += 2)
        if (sock_options_set(ctx, opts, pairs[0], pairs[1]) < 0) fail_msg("%s", sock_message(ctx));
    return opts;
}

static inline sock_model *fit(const sock_data *data, const char *const *pairs)
{
    sock_options *opts = options(pairs);
    sock_model *model = NULL;
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
    return model;
}

static inline bool warns(const sock_model *model, const char *words)
{
    json_t *info = info_of(model), *entry;
    size_t i;
    bool found = false;
    json_array_foreach(json_object_get(info, "warnings"), i, entry)
    {
        found = found || strstr(json_string_value(entry), words);
    }
    json_decref(info);
    return found;
}

/* Whether the key is there and its text begins so. */
static inline bool tells(const sock_model *model, const char *key, const char *begins)
{
    json_t *info = info_of(model);
    const char *text = json_string_value(json_object_get(info, key));
    const bool found = text && strncmp(text, begins, strlen(begins)) == 0;
    json_decref(info);
    return found;
}

/* trajectories x points in d dimensions, spaced h; x is taken over. */
static inline sock_data *data_of(size_t d, size_t trajectories, size_t points, double h, double *x)
{
    size_t *length = calloc(trajectories, sizeof *length);
    double *t = calloc(trajectories * points, sizeof *t);
    sock_data *data = NULL;
    for (size_t j = 0; j < trajectories; j++) length[j] = points;
    for (size_t i = 0; i < trajectories * points; i++) t[i] = h * (double)(i % points);
    if (sock_data_from_arrays(ctx, d, trajectories, length, t, x, NULL, NULL, NULL, &data) < 0)
        fail_msg("%s", sock_message(ctx));
    free(length), free(t), free(x);
    return data;
}

/* Exact steps of dx = -x dt + dW from N(0, 1/2); groups of `members` share their start. */
static inline double *ou_paths(size_t d, size_t trajectories, size_t points, double h, size_t members, uint64_t seed)
{
    double *x = calloc(trajectories * points * d, sizeof *x), keep = exp(-h), noise = sqrt(0.5 * (1 - keep * keep));
    sk_normals((sk_key){seed, SK_PURPOSE_TEST}, 40, 0, 0, trajectories * points * d, x);
    for (size_t j = 0; j < trajectories; j++)
        for (size_t i = 0; i < points * d; i++) {
            double *at = x + j * points * d + i;
            if (i >= d)
                *at = keep * at[-(ptrdiff_t)d] + noise * *at;
            else
                *at = j % members ? x[(j - j % members) * points * d + i] : sqrt(0.5) * *at;
        }
    return x;
}

/* Without full matrices a, the polish and half of the folds, which take most of the time in two dimensions. */
#define QUICK "diagonal", "yes", "polish", "no", "folds", "3"
static const char *const quick[] = {QUICK, NULL};

enum { SMALL_PATHS = 12, SMALL_POINTS = 9 };

/* Two coordinates, coupled. */
static inline sock_data *small_set(void)
{
    double *x = ou_paths(2, SMALL_PATHS, SMALL_POINTS, 0.1, 1, 5);
    for (size_t i = 0; i < SMALL_PATHS * SMALL_POINTS; i++) x[2 * i + 1] = 0.8 * x[2 * i + 1] + 0.4 * x[2 * i];
    return data_of(2, SMALL_PATHS, SMALL_POINTS, 0.1, x);
}

#endif
