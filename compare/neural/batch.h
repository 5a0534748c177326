/* batch.h - the loss of a batch of trajectories and its gradient. */
#ifndef NN_BATCH_H
#define NN_BATCH_H

#include "latent.h"
#include "series.h"

/* Samples that go through the network together. A batch is cut into pieces of so many, whatever the number of threads,
 * and the pieces are summed in order: the result does not depend on who computed it. */
enum { NN_PIECE = 8 };

typedef struct nn_batch {
    sock_context *ctx;
    const nn_settings *settings;
    const nn_net *net;
    const nn_series *series;
    size_t count;         /* trajectories in the batch */
    const size_t *member; /* their numbers in the series */
    uint64_t epoch;       /* part of the random stream of the noise */
    double *space;        /* of each worker: nn_pass_space of NN_PIECE rows */
    double *gradient;     /* of each piece: net->parameters numbers; piece 0 holds the sum in the end */
    double *loss;         /* of each piece; loss[0]: the sum */
    const double *theta;
} nn_batch;

/* Pieces that a batch of so many has. */
size_t nn_batch_pieces(size_t count);

/* loss[0]: the mean over all points and coordinates of the batch of |yhat - y|^2, yhat one simulated path for each
 * trajectory; gradient: its derivative by theta. */
sock_status nn_batch_run(nn_batch *batch);

/* ---- Training as part of a search ---- */

/* Work done by all candidates together, for the monitor. */
typedef struct nn_progress {
    atomic_size_t done;
    size_t total;
} nn_progress;

/* What an epoch of these settings counts in it. */
size_t nn_epoch_work(const nn_settings *settings);

/* nn_train that counts its epochs into a progress of others. */
sock_status nn_train_counted(sock_context *ctx, const nn_settings *settings, const sock_data *train,
                             nn_progress *progress, nn_model **out);

#endif
