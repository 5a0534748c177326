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

/* d = 2 has a closed form. With det A >= 0, sqrt(A) = (A + sqrt(det A) I) / sqrt(tr A + 2 sqrt(det A)); a negative
 * eigenvalue v counts as 0, which leaves sqrt(w) (A - v I) / (w - v) of the other one, w. Scaled by the largest entry,
 * so that the determinant neither overflows nor underflows. */
static void root2(const double *a, double *out)
{
    double size = fmax(fmax(fabs(a[0]), fabs(a[3])), fabs(a[1]));
    double p = size > 0 ? a[0] / size : 0, q = size > 0 ? a[1] / size : 0, r = size > 0 ? a[3] / size : 0;
    double half = 0.5 * (p + r), radius = hypot(0.5 * (p - r), q), det = p * r - q * q;
    double shift, factor;
    if (det >= 0 && half >= 0) {
        shift = sqrt(det);
        factor = half > 0 ? 1 / sqrt(2 * (half + shift)) : 0;
    } else {
        shift = radius - half;
        factor = half + radius > 0 ? sqrt(half + radius) / (2 * radius) : 0;
    }
    factor *= sqrt(size);
    out[0] = (p + shift) * factor;
    out[1] = out[2] = q * factor;
    out[3] = (r + shift) * factor;
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

/* A state without noise has none in the root either, to the last digit. */
static void keep_zeros(size_t d, const double *a, double *out)
{
    for (size_t k = 0; k < d; k++) {
        bool zero = true;
        for (size_t l = 0; l < d; l++) zero = zero && a[k * d + l] == 0;
        for (size_t l = 0; zero && l < d; l++) out[k * d + l] = out[l * d + k] = 0;
    }
}

static sock_status root_range(void *argument, size_t begin, size_t end, int worker)
{
    const root_job *job = argument;
    size_t d = job->d;
    for (size_t i = begin * d * d; i < end * d * d; i++)
        if (!isfinite(job->a[i]))
            return sk_fail(job->ctx, SOCK_ENUMERIC, "the diffusion at point %zu is not finite: it has no square root",
                           i / (d * d));
    for (size_t i = begin; i < end; i++) {
        if (d == 1)
            job->out[i] = sqrt(job->a[i] > 0 ? job->a[i] : 0);
        else if (d == 2)
            root2(job->a + 4 * i, job->out + 4 * i);
        else
            SK_TRY(root_general(job, i, worker));
        if (d > 2) keep_zeros(d, job->a + i * d * d, job->out + i * d * d);
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
