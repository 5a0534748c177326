/* training.c - from data to a trained model.
 *
 * Problem: min over theta of the mean squared error between the data and one simulated path for each trajectory.
 *  1. The parameters at their random start.
 *  2. An epoch: the trajectories in a new random order, cut into batches; for each batch new noise, loss and gradient
 *     (batch.c), one step of Adam.
 *  3. A loss or a gradient that is not finite ends the training: diverged.
 * Cost of an epoch, sde: trajectories x steps x 18 products of a row with an H x H matrix. */
#include "batch.h"

#include <math.h>
#include <string.h>

nn_settings nn_default_settings(nn_kind kind)
{
    return (nn_settings){
        .kind = kind, .width = 32, .layers = 1, .epochs = 200, .batch = 16, .rate = 1e-3, .step = 0.05};
}

const char *nn_kind_name(nn_kind kind)
{
    static const char *const names[NN_KINDS] = {"neural-sde", "lsde", "lnsde", "gsde"};
    return names[kind];
}

size_t nn_parameter_count(const nn_settings *s, size_t d)
{
    nn_net net;
    nn_net_make(s->kind, s->control, d, s->width, s->layers, &net);
    return net.parameters + net.unused;
}

void nn_model_free(nn_model *model)
{
    if (!model) return;
    sk_free(model->theta);
    sk_free(model->loss);
    sk_free(model);
}

static sock_status check_settings(sock_context *ctx, const nn_settings *s)
{
    if (s->width < 1 || s->width > NN_MOST_WIDTH)
        return sk_fail(ctx, SOCK_EUSAGE, "neural: width is %zu; allowed: 1 to %d", s->width, NN_MOST_WIDTH);
    if (s->layers < 1 || s->layers > NN_MOST_DEPTH)
        return sk_fail(ctx, SOCK_EUSAGE, "neural: layers is %zu; allowed: 1 to %d", s->layers, NN_MOST_DEPTH);
    if (s->epochs < 1 || s->epochs >= UINT32_MAX || s->batch < 1)
        return sk_fail(ctx, SOCK_EUSAGE, "neural: %zu epochs with batches of %zu; both must be at least 1", s->epochs,
                       s->batch);
    if (!(s->rate > 0 && isfinite(s->rate)))
        return sk_fail(ctx, SOCK_EUSAGE, "neural: rate is %g; allowed: a number > 0", s->rate);
    if (!(s->step >= 1e-6 && s->step <= 1))
        return sk_fail(ctx, SOCK_EUSAGE, "neural: step is %g; allowed: 1e-6 to 1", s->step);
    return SOCK_OK;
}

static bool all_finite(size_t count, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs(x[i]);
    return isfinite(sum);
}

/* ---- The epochs ---- */

typedef struct trainer {
    sock_context *ctx;
    nn_model *model;
    nn_progress *progress;
    nn_net net;
    nn_series series;
    nn_batch batch;
    nn_adam adam;
    size_t *order;
} trainer;

static void trainer_clear(trainer *t)
{
    nn_series_clear(&t->series);
    sk_free(t->batch.space);
    sk_free(t->batch.gradient);
    sk_free(t->batch.loss);
    sk_free(t->adam.mean);
    sk_free(t->adam.square);
    sk_free(t->order);
}

static sock_status trainer_make(trainer *t, const sock_data *train)
{
    sock_context *ctx = t->ctx;
    const nn_settings *s = &t->model->settings;
    nn_net_make(s->kind, s->control, sock_data_dim(train), s->width, s->layers, &t->net);
    SK_TRY(nn_series_make(ctx, s, t->net.controlled, train, &t->series));
    const size_t most = SK_MIN(s->batch, t->series.count), pieces = nn_batch_pieces(most), count = t->net.parameters;
    const size_t space = nn_pass_space(&t->net, NN_PIECE, t->series.steps), workers = (size_t)sk_workers(ctx);
    const double bytes = 8 * ((double)space * (double)workers + (double)(pieces + 4) * (double)count);
    SK_TRY(sk_memory_check(ctx, bytes, "training a neural model", "a smaller width or batch, or fewer threads"));
    t->batch = (nn_batch){.ctx = ctx, .settings = s, .net = &t->net, .series = &t->series};
    t->batch.space = sk_doubles(ctx, workers, space);
    t->batch.gradient = sk_doubles(ctx, pieces, count);
    t->batch.loss = sk_doubles(ctx, pieces, 1);
    t->adam = (nn_adam){.rate = s->rate, .count = count};
    t->adam.mean = sk_doubles(ctx, count, 1);
    t->adam.square = sk_doubles(ctx, count, 1);
    t->order = sk_alloc(ctx, t->series.count, sizeof *t->order);
    t->model->theta = sk_doubles(ctx, count, 1);
    if (!t->batch.space || !t->batch.gradient || !t->batch.loss || !t->adam.mean || !t->adam.square || !t->order ||
        !t->model->theta)
        return SOCK_ENOMEM;
    t->model->d = t->net.d;
    t->model->parameters = count;
    t->model->span = t->series.span;
    return SOCK_OK;
}

/* Step 2; *diverged: step 3. */
static sock_status run_epoch(trainer *t, size_t epoch, bool *diverged)
{
    enum { STREAM_ORDER = 1 };
    const nn_settings *s = &t->model->settings;
    double sum = 0;
    sk_shuffle((sk_key){s->seed, SK_PURPOSE_NEURAL}, STREAM_ORDER, epoch, t->series.count, t->order);
    for (size_t first = 0; first < t->series.count; first += s->batch) {
        nn_batch *b = &t->batch;
        b->count = SK_MIN(s->batch, t->series.count - first);
        b->member = t->order + first;
        b->epoch = epoch;
        b->theta = t->model->theta;
        SK_TRY(nn_batch_run(b));
        *diverged = !isfinite(b->loss[0]) || !all_finite(t->net.parameters, b->gradient);
        if (*diverged) return SOCK_OK;
        nn_adam_step(&t->adam, b->gradient, t->model->theta);
        sum += b->loss[0] * (double)b->count;
    }
    t->model->loss[epoch] = sum / (double)t->series.count;
    return SOCK_OK;
}

/* Products with H x H matrices, which is nearly all of it. */
size_t nn_epoch_work(const nn_settings *s) { return s->width * s->width * (s->layers + 2); }

static sock_status tell_epoch(trainer *t)
{
    const nn_settings *s = &t->model->settings;
    size_t done = atomic_fetch_add(&t->progress->done, nn_epoch_work(s));
    return sk_progress(t->ctx, nn_kind_name(s->kind), (double)done / (double)t->progress->total);
}

static sock_status run_epochs(trainer *t)
{
    const nn_settings *s = &t->model->settings;
    bool diverged = false;
    nn_net_start(&t->net, s->seed, t->model->theta);
    for (size_t epoch = 0; epoch < s->epochs && !diverged; epoch++) {
        SK_TRY(tell_epoch(t));
        SK_TRY(run_epoch(t, epoch, &diverged));
        if (diverged) t->model->diverged = epoch + 1;
    }
    return SOCK_OK;
}

sock_status nn_train_counted(sock_context *ctx, const nn_settings *settings, const sock_data *train,
                             nn_progress *progress, nn_model **out)
{
    SK_TRY(check_settings(ctx, settings));
    sock_status status = SOCK_ENOMEM;
    trainer t = {.ctx = ctx, .progress = progress, .model = sk_alloc(ctx, 1, sizeof *t.model)};
    if (!t.model) return SOCK_ENOMEM;
    t.model->settings = *settings;
    if (!(t.model->loss = sk_doubles(ctx, settings->epochs, 1))) goto out;
    SK_GO(trainer_make(&t, train));
    SK_GO(run_epochs(&t));
    *out = t.model;
    t.model = NULL;
out:
    trainer_clear(&t);
    nn_model_free(t.model);
    return status;
}

sock_status nn_train(sock_context *ctx, const nn_settings *settings, const sock_data *train, nn_model **out)
{
    nn_progress progress = {.total = nn_epoch_work(settings) * settings->epochs};
    atomic_init(&progress.done, 0);
    sk_begin(ctx);
    return nn_train_counted(ctx, settings, train, &progress, out);
}
