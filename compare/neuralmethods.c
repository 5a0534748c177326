/* neuralmethods.c - the neural rivals in the table of methods. They have no drift and diffusion of the data, so they
 * score themselves, by their paths alone. Width and layers that are left open are chosen by MMD^2 on the validation
 * data, as the paper does, over a small grid. */
#include "compare/compare.h"
#include "compare/neural/neural.h"

#include "base/base.h"
#include "base/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const cmp_parameter parameters[] = {
    {"control", "none", CMP_CHOICE, 0, 0, "none|start|path",
     "X(t) in the drift of lsde, lnsde, gsde; path SEES THE TEST TRAJECTORY it is scored on"},
    {"times", "unit", CMP_CHOICE, 0, 0, "unit|own", "unit: equal steps on [0, 1], as the original; own: the data's"},
    {"width", "auto", CMP_COUNT, 1, NN_MOST_WIDTH, "auto, or a whole number from 1 to 1024",
     "H; auto: 16, 32 or 64 by validation, 32 without validation data"},
    {"layers", "auto", CMP_COUNT, 1, NN_MOST_DEPTH, "auto, or a whole number from 1 to 8",
     "L; auto: 1 or 2 by validation, 1 without validation data"},
    {"epochs", "200", CMP_COUNT, 1, 1e6, "a whole number from 1 to 10^6", "passes over the training data"},
    {"batch", "16", CMP_COUNT, 1, 1e6, "a whole number from 1 to 10^6", "trajectories in a batch"},
    {"rate", "0.001", CMP_NUMBER, 1e-12, 1, "a number from 1e-12 to 1", "step of Adam"},
    {"step", "0.05", CMP_NUMBER, 1e-4, 1, "a number from 1e-4 to 1", "of Euler-Maruyama, the longest span being 1"},
    {NULL, NULL, CMP_TEXT, 0, 0, NULL, NULL}};

enum { GRID_MOST = 6 };

static nn_settings settings_of(const cmp_spec *spec, const cmp_case *c, nn_kind kind)
{
    nn_settings s = nn_default_settings(kind);
    s.control = cmp_spec_is(spec, "control", "path")    ? NN_CONTROL_PATH
                : cmp_spec_is(spec, "control", "start") ? NN_CONTROL_START
                                                        : NN_CONTROL_NONE;
    s.times = cmp_spec_is(spec, "times", "own") ? NN_TIMES_OWN : NN_TIMES_UNIT;
    s.epochs = (size_t)cmp_spec_number(spec, "epochs");
    s.batch = (size_t)cmp_spec_number(spec, "batch");
    s.rate = cmp_spec_number(spec, "rate");
    s.step = cmp_spec_number(spec, "step");
    s.seed = sk_option_count(c->options, "seed");
    return s;
}

/* The values of a parameter: the one that was given, or all candidates, or without validation data the default. */
static size_t candidates_of(const cmp_spec *spec, const char *key, bool validated, size_t fallback, size_t count,
                            const size_t *open, size_t *out)
{
    const double given = cmp_spec_number(spec, key);
    out[0] = isnan(given) ? fallback : (size_t)given;
    if (!isnan(given) || !validated) return 1;
    memcpy(out, open, count * sizeof *out);
    return count;
}

/* All pairs of width and layers. */
static size_t fill_grid(const cmp_spec *spec, const cmp_case *c, const nn_settings *s, size_t *width, size_t *layers)
{
    static const size_t widths[] = {16, 32, 64}, depths[] = {1, 2};
    size_t w[3], l[2], count = 0;
    const size_t nw = candidates_of(spec, "width", c->validation, s->width, 3, widths, w);
    const size_t nl = candidates_of(spec, "layers", c->validation, s->layers, 2, depths, l);
    for (size_t i = 0; i < nw; i++)
        for (size_t j = 0; j < nl; j++, count++) {
            width[count] = w[i];
            layers[count] = l[j];
        }
    return count;
}

static sock_status train(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, nn_kind kind, size_t *candidates,
                         nn_model **out)
{
    nn_settings s = settings_of(spec, c, kind);
    size_t width[GRID_MOST], layers[GRID_MOST];
    nn_grid grid = {.count = fill_grid(spec, c, &s, width, layers), .width = width, .layers = layers};
    *candidates = grid.count;
    if (grid.count > 1) return nn_tune(ctx, &s, c->train, c->validation, c->options, &grid, out);
    s.width = width[0];
    s.layers = layers[0];
    return nn_train(ctx, &s, c->train, out);
}

static void describe(const nn_model *model, size_t candidates, cmp_row *row)
{
    static const char *const control[] = {"none", "start", "path"};
    const nn_settings *s = &model->settings;
    snprintf(row->settings, sizeof row->settings,
             "width %zu, layers %zu%s, %zu parameters, control %s, times %s, epochs %zu, batch %zu, rate %g, step %g",
             s->width, s->layers, candidates > 1 ? " (by validation MMD)" : "", nn_parameter_count(s, model->d),
             control[s->control], s->times == NN_TIMES_OWN ? "own" : "unit", s->epochs, s->batch, s->rate, s->step);
    const bool leak = s->control == NN_CONTROL_PATH && s->kind != NN_SDE;
    snprintf(row->kernels, sizeof row->kernels, "H %zu, L %zu of %zu candidate%s%s", s->width, s->layers, candidates,
             candidates > 1 ? "s" : "", leak ? ", LEAK: sees the test path" : "");
    row->leaks = leak;
    if (leak)
        snprintf(row->note, sizeof row->note, "LEAK: the paths are controlled by the test trajectory they predict");
}

/* Scores the trained model, or says in which epoch it was lost. */
static sock_status score(sock_context *ctx, const cmp_case *c, const nn_model *model, cmp_row *row)
{
    char why[160];
    nn_source source = {ctx, model, c->test};
    if (!model->diverged)
        return sock_score_paths(ctx, nn_paths, &source, c->test, c->train, c->truth, c->options, &row->scores);
    snprintf(why, sizeof why, "%s diverged in epoch %zu of %zu: the loss or its gradient is not finite",
             nn_kind_name(model->settings.kind), model->diverged, model->settings.epochs);
    cmp_scores_missing(&row->scores, why);
    return sk_fail(ctx, SOCK_PARTIAL, "%s", why);
}

static sock_status run(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, nn_kind kind, cmp_row *row)
{
    nn_model *model = NULL;
    size_t candidates = 1;
    const double wall = sk_seconds(), cpu = cmp_cpu_seconds();
    SK_TRY(train(ctx, spec, c, kind, &candidates, &model));
    row->wall_seconds = sk_seconds() - wall;
    row->cpu_seconds = cmp_cpu_seconds() - cpu;
    describe(model, candidates, row);
    sock_status status = score(ctx, c, model, row);
    nn_model_free(model);
    return status;
}

#define RUN(name, kind)                                                                                                \
    static sock_status name(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, cmp_row *row)                  \
    {                                                                                                                  \
        return run(ctx, spec, c, kind, row);                                                                           \
    }
RUN(run_sde, NN_SDE)
RUN(run_lsde, NN_LSDE)
RUN(run_lnsde, NN_LNSDE)
RUN(run_gsde, NN_GSDE)

const cmp_method cmp_neural_methods[] = {
    {"neural-sde", "neural", "Neural SDE: latent dz = f(t, z) dt + g(t, z) dW, MSE", parameters, NULL, run_sde},
    {"lsde", "neural", "Neural Langevin-type SDE: latent dz = f(z) dt + g(t) dW, MSE", parameters, NULL, run_lsde},
    {"lnsde", "neural", "Neural linear noise SDE: latent dz = f(t, z) dt + g(t) z dW, MSE", parameters, NULL,
     run_lnsde},
    {"gsde", "neural", "Neural geometric SDE: latent dz / z = f(t, z) dt + g(t) dW, MSE", parameters, NULL, run_gsde},
    {NULL, NULL, NULL, NULL, NULL, NULL}};
