/* widths.c - the width and the number of layers by validation, as the paper does: each candidate is trained, its paths
 * are scored by MMD^2 on the validation data, the least wins. A candidate that diverged cannot win; when all did, the
 * first of them is the result, and says so. */
#include "batch.h"

#include <math.h>

typedef struct search {
    sock_context *ctx;
    const nn_settings *settings;
    const sock_data *train;
    const nn_grid *grid;
    nn_model **model;
    nn_progress progress;
} search;

static nn_settings candidate(const search *s, size_t i)
{
    nn_settings settings = *s->settings;
    settings.width = s->grid->width[i];
    settings.layers = s->grid->layers[i];
    return settings;
}

static sock_status train_range(void *arg, size_t begin, size_t end, int worker)
{
    search *s = arg;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const nn_settings settings = candidate(s, i);
        SK_TRY(nn_train_counted(s->ctx, &settings, s->train, &s->progress, &s->model[i]));
    }
    return SOCK_OK;
}

/* MMD^2 of a candidate; NaN when it diverged, in training or on its way to a score. */
static sock_status judge(const search *s, const nn_model *model, const sock_data *validation, const sock_options *opts,
                         double *mmd2)
{
    sock_scores scores;
    nn_source source = {s->ctx, model, validation};
    *mmd2 = (double)NAN;
    if (model->diverged) return SOCK_OK;
    SK_TRY(sock_score_paths(s->ctx, nn_paths, &source, validation, s->train, NULL, opts, &scores));
    if (scores.mmd2.valid && !scores.mmd_lost) *mmd2 = scores.mmd2.value;
    return SOCK_OK;
}

static sock_status judge_all(const search *s, const sock_data *validation, const sock_options *opts, size_t *best)
{
    double least = (double)INFINITY;
    *best = 0;
    for (size_t i = 0; i < s->grid->count; i++) {
        double mmd2;
        SK_TRY(judge(s, s->model[i], validation, opts, &mmd2));
        if (s->grid->mmd2) s->grid->mmd2[i] = mmd2;
        if (s->grid->diverged) s->grid->diverged[i] = s->model[i]->diverged;
        if (mmd2 < least) {
            least = mmd2;
            *best = i;
        }
    }
    return SOCK_OK;
}

sock_status nn_tune(sock_context *ctx, const nn_settings *settings, const sock_data *train, const sock_data *validation,
                    const sock_options *opts, const nn_grid *grid, nn_model **out)
{
    sock_status status = SOCK_ENOMEM;
    size_t best = 0;
    sk_begin(ctx);
    if (!grid->count) return sk_fail(ctx, SOCK_EUSAGE, "neural: the grid of widths and layers is empty");
    search s = {.ctx = ctx, .settings = settings, .train = train, .grid = grid};
    if (!(s.model = sk_alloc(ctx, grid->count, sizeof *s.model))) return SOCK_ENOMEM;
    atomic_init(&s.progress.done, 0);
    for (size_t i = 0; i < grid->count; i++) {
        const nn_settings each = candidate(&s, i);
        s.progress.total += nn_epoch_work(&each) * each.epochs;
    }
    SK_GO(sk_parallel_for(ctx, grid->count, 1, train_range, &s));
    SK_GO(judge_all(&s, validation, opts, &best));
    *out = s.model[best];
    s.model[best] = NULL;
    status = SOCK_OK;
out:
    for (size_t i = 0; i < grid->count; i++) nn_model_free(s.model[i]);
    sk_free(s.model);
    return status;
}
