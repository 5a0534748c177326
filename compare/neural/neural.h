/* neural.h - the neural rivals: Neural SDE, and the stable Neural LSDE, LNSDE and GSDE (Oh, Lim and Kim, ICLR 2024), as
 * the paper uses them: a latent SDE whose linear readout is fitted to the data by the mean squared error, trained by
 * Adam through the steps of Euler-Maruyama. docs/neural.md has the formulas.
 *
 * What comes out is no drift and diffusion of the data but a source of paths, to be scored by sock_score_paths. */
#ifndef NN_NEURAL_H
#define NN_NEURAL_H

#include "sock.h"

typedef enum nn_kind { NN_SDE, NN_LSDE, NN_LNSDE, NN_GSDE, NN_KINDS } nn_kind;

/* What X(t) the drift of lsde, lnsde and gsde sees. */
typedef enum nn_control {
    NN_CONTROL_NONE,  /* none: the equations of the paper */
    NN_CONTROL_START, /* (t, y(0)) */
    NN_CONTROL_PATH   /* (t, y(t)), a spline through the observed points. It SEES THE TEST TRAJECTORY it predicts */
} nn_control;

/* Which time the network sees; the longest training trajectory ends at 1 in both. */
typedef enum nn_times {
    NN_TIMES_UNIT, /* n equal steps on [0, 1], whatever the data's times are: as the original does */
    NN_TIMES_OWN   /* the data's own, counted from the start, in units of the longest training span */
} nn_times;

typedef struct nn_settings {
    nn_kind kind;
    nn_control control;
    nn_times times;
    size_t width, layers; /* H and L */
    size_t epochs, batch;
    double rate; /* of Adam */
    double step; /* of Euler-Maruyama, in the network's time */
    uint64_t seed;
} nn_settings;

enum { NN_MOST_DEPTH = 8, NN_MOST_WIDTH = 1024 }; /* bounds of layers and width */

/* The original's: H = 32, L = 1, 200 epochs, batches of 16, rate 1e-3, step 0.05, no control, unit times. */
nn_settings nn_default_settings(nn_kind kind);

/* "neural-sde", "lsde", "lnsde", "gsde". */
const char *nn_kind_name(nn_kind kind);

/* Parameters of a model as the original counts them (with its unused layer). */
size_t nn_parameter_count(const nn_settings *settings, size_t d);

/* A trained model. loss: the mean squared error of each epoch, over its batches. */
typedef struct nn_model {
    nn_settings settings;
    size_t d, parameters;
    double *theta;
    double span;     /* NN_TIMES_OWN: the data's time that is 1 */
    double *loss;    /* epochs numbers; 0 from a divergence on */
    size_t diverged; /* the epoch, from 1, in which the loss or the gradient left the finite numbers; 0: none */
} nn_model;

/* Trains. The numbers do not depend on the number of threads beyond rounding. A run that diverges is a result, see
 * `diverged`. SOCK_EUSAGE for settings out of bounds, SOCK_EINPUT when no trajectory has two points. Progress by
 * epochs. */
sock_status nn_train(sock_context *ctx, const nn_settings *settings, const sock_data *train, nn_model **out);
void nn_model_free(nn_model *model);

/* A source of paths for sock_score_paths: `user` is an nn_source. With NN_CONTROL_PATH, `observed` is the data that is
 * scored on, whose trajectories control the paths in turn. */
typedef struct nn_source {
    sock_context *ctx;
    const nn_model *model;
    const sock_data *observed;
} nn_source;
sock_status nn_paths(void *user, const sock_path_request *request, double *out);

/* Trains one model for each pair of width and layers and keeps the one whose paths have the least MMD^2 on the
 * validation data (options of sock_score; NULL: defaults). Candidates are trained in parallel. */
typedef struct nn_grid {
    size_t count;
    const size_t *width, *layers; /* count numbers each */
    double *mmd2;                 /* count numbers, or NULL: each candidate's score; NaN: diverged or lost */
    size_t *diverged;             /* the same: the epoch, or 0 */
} nn_grid;
sock_status nn_tune(sock_context *ctx, const nn_settings *settings, const sock_data *train, const sock_data *validation,
                    const sock_options *opts, const nn_grid *grid, nn_model **out);

#endif
