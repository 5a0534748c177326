/* relerr.c - relative errors of f and a over all points of the test set (paper, section on metrics):
 * RE_g = |G^ - G|_F / |G|_F, where row i of G is g at point i. */
#include "model/modelinputs.h"
#include "score.h"

enum { BLOCK = 256 };

typedef struct error_job {
    sock_context *ctx;
    const sock_model *model, *truth;
    const sock_data *data;
    size_t *input, *input_truth; /* where their inputs stand in the data */
    bool with_a;
    double *space;
    size_t space_each;
    sk_field_errors *part; /* one for each block, added in order */
} error_job;

static void add_squares(size_t n, const double *value, const double *truth, double *difference, double *norm)
{
    for (size_t i = 0; i < n; i++) {
        *difference += (value[i] - truth[i]) * (value[i] - truth[i]);
        *norm += truth[i] * truth[i];
    }
}

static sock_status error_range(void *arg, size_t begin, size_t end, int worker)
{
    const error_job *job = arg;
    const size_t d = job->data->d, count = end - begin;
    double *f = job->space + (size_t)worker * job->space_each, *f_true = f + BLOCK * d, *a = f_true + BLOCK * d;
    double *a_true = a + BLOCK * d * d, *x = a_true + BLOCK * d * d;
    double *space = x + BLOCK * SK_MAX(sk_model_in(job->model), sk_model_in(job->truth));
    sk_field_errors *part = &job->part[begin / BLOCK];
    sk_inputs_join(job->model, job->input, job->data, begin, end, x);
    sk_model_fields(job->ctx, job->model, count, x, f, job->with_a ? a : NULL, space);
    sk_inputs_join(job->truth, job->input_truth, job->data, begin, end, x);
    sk_model_fields(job->ctx, job->truth, count, x, f_true, job->with_a ? a_true : NULL, space);
    add_squares(count * d, f, f_true, &part->f_difference, &part->f_truth);
    if (job->with_a) add_squares(count * d * d, a, a_true, &part->a_difference, &part->a_truth);
    return SOCK_OK;
}

sock_status sk_relative_errors(sock_context *ctx, const sock_model *model, const sock_model *truth,
                               const sock_data *data, sk_field_errors *out)
{
    const size_t d = data->d, blocks = data->points / BLOCK + 1;
    error_job job = {.ctx = ctx, .model = model, .truth = truth, .data = data};
    sock_status status = SOCK_ENOMEM;
    job.with_a = model->has_diffusion && truth->has_diffusion;
    job.space_each = 2 * BLOCK * (d + d * d) + BLOCK * SK_MAX(sk_model_in(model), sk_model_in(truth));
    job.space_each += SK_MAX(sk_model_space(model, BLOCK), sk_model_space(truth, BLOCK));
    job.space = sk_doubles(ctx, (size_t)sk_workers(ctx), job.space_each);
    job.part = sk_alloc(ctx, blocks, sizeof *job.part);
    if (!job.space || !job.part) goto out;
    SK_GO(sk_inputs_find(ctx, model, data, &job.input));
    SK_GO(sk_inputs_find(ctx, truth, data, &job.input_truth));
    SK_GO(sk_parallel_for(ctx, data->points, BLOCK, error_range, &job));
    *out = (sk_field_errors){0};
    for (size_t i = 0; i < blocks; i++) {
        out->f_difference += job.part[i].f_difference;
        out->f_truth += job.part[i].f_truth;
        out->a_difference += job.part[i].a_difference;
        out->a_truth += job.part[i].a_truth;
    }
out:
    sk_free(job.input);
    sk_free(job.input_truth);
    sk_free(job.part);
    sk_free(job.space);
    return status;
}
