/* squareroot.c - sigma(x) = U sqrt(S) U' from a(x) = U S U' (paper, after Theorem 4). */
#include "model/model.h"

#include <math.h>
#include <string.h>

typedef struct root_job {
    sock_context *ctx;
    size_t d;
    const double *a;
    double *out, *space;
    sk_eigen **eigen; /* one for each worker */
} root_job;

/* d = 2 has a closed form: sqrt(A) = (A + sqrt(det A) I) / sqrt(tr A + 2 sqrt(det A)). */
static void root2(const double *a, double *out)
{
    double trace = a[0] + a[3], det = a[0] * a[3] - a[1] * a[1];
    double s = sqrt(det > 0 ? det : 0), t = sqrt(trace + 2 * s > 0 ? trace + 2 * s : 0);
    double inverse = t > 0 ? 1 / t : 0, off = a[1] * inverse;
    double first = (a[0] + s) * inverse, last = (a[3] + s) * inverse;
    out[0] = first;
    out[1] = out[2] = off;
    out[3] = last;
}

static sock_status root_general(const root_job *job, size_t i, int worker)
{
    size_t d = job->d;
    double *u = job->space + (size_t)worker * (d * d + d), *values = u + d * d;
    memcpy(u, job->a + i * d * d, d * d * sizeof(double));
    SK_TRY(sk_eigen_solve(job->ctx, job->eigen[worker], d, u, d, values));
    for (size_t j = 0; j < d; j++) sk_scale(d, sqrt(sqrt(values[j] > 0 ? values[j] : 0)), u + j * d);
    sk_syrk(job->ctx, SK_TRANSPOSED, d, d, 1, u, d, 0, job->out + i * d * d, d);
    sk_symmetrise(d, job->out + i * d * d, d);
    return SOCK_OK;
}

static sock_status root_range(void *argument, size_t begin, size_t end, int worker)
{
    const root_job *job = argument;
    size_t d = job->d;
    for (size_t i = begin; i < end; i++) {
        if (d == 1)
            job->out[i] = sqrt(job->a[i] > 0 ? job->a[i] : 0);
        else if (d == 2)
            root2(job->a + 4 * i, job->out + 4 * i);
        else
            SK_TRY(root_general(job, i, worker));
    }
    return SOCK_OK;
}

sock_status sk_square_roots(sock_context *ctx, size_t d, size_t count, const double *a, double *out)
{
    size_t workers = (size_t)sk_workers(ctx);
    root_job job = {.ctx = ctx, .d = d, .a = a, .out = out};
    sock_status status = SOCK_OK;
    job.eigen = sk_alloc(ctx, workers, sizeof *job.eigen);
    job.space = sk_doubles(ctx, workers, d * d + d);
    if (!job.eigen || !job.space) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t w = 0; d > 2 && w < workers; w++) SK_GO(sk_eigen_new(ctx, d, &job.eigen[w]));
    SK_GO(sk_parallel_for(ctx, count, 128, root_range, &job));
out:
    for (size_t w = 0; job.eigen && w < workers; w++) sk_eigen_free(job.eigen[w]);
    sk_free(job.eigen);
    sk_free(job.space);
    return status;
}
