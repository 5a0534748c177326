/* mmd.c - maximum mean discrepancy between simulated and observed paths (paper, section on metrics).
 *
 * Kernel on paths of one time grid: K(x, y) = exp(-|x - y|^2 / eta), |.|^2 the integral of the squared distance by the
 * trapezoid rule. Two samples, P simulated paths and M observed ones from one start:
 *
 *     MMD^2 = v' K v,   v_i = 1/P for a simulated path, -1/M for an observed one      (biased V-statistic, squared)
 *
 *  1. Every path becomes a row z = sqrt(w) (x - c), w the trapezoid weights, c the mean of the observed paths; then
 *     |x - y|^2 = |z|^2 + |z'|^2 - 2 z.z', and centring keeps the differences free of cancellation.
 *  2. Panels of rows: one matrix product, one exponential each.
 *  3. The mean over the distinct starts of the test set. Cost: (P + M)^2 times d operations a start. */
#include "score.h"

#include "data/samples.h"
#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { PANEL = 64 };

/* ---- The statistic ---- */

size_t sk_mmd_space(const sk_samples *s)
{
    size_t rows = s->paths[0] + s->paths[1], cols = s->times * s->d;
    return rows * cols + 2 * rows + s->times + cols + (size_t)PANEL * rows;
}

typedef struct prepared {
    size_t rows, cols;
    double *z, *norm, *v, *panel; /* rows x cols, rows, rows, PANEL x rows */
} prepared;

/* Step 1. A path that is not finite (or whose square nearly is not) gets norm infinity and a row of zeros. */
static void prepare(const sk_samples *s, double *space, prepared *p)
{
    const size_t d = s->d, cols = s->times * d, rows = s->paths[0] + s->paths[1];
    *p = (prepared){rows, cols, space, space + rows * cols, NULL, NULL};
    p->v = p->norm + rows;
    double *root = p->v + rows, *centre = root + s->times;
    p->panel = centre + cols;
    sk_trapezoid_weights(s->times, s->t, root);
    for (size_t i = 0; i < s->times; i++) root[i] = sqrt(root[i]);
    memset(centre, 0, cols * sizeof *centre);
    for (size_t m = 0; m < s->paths[1]; m++)
        for (size_t c = 0; c < cols; c++) centre[c] += s->path[1][m][c] / (double)s->paths[1];
    for (size_t r = 0; r < rows; r++) {
        bool second = r >= s->paths[0];
        const double *x = second ? s->path[1][r - s->paths[0]] : s->path[0][r];
        double *z = p->z + r * cols;
        for (size_t c = 0; c < cols; c++) z[c] = root[c / d] * (x[c] - centre[c]);
        p->norm[r] = sk_dot(cols, z, z);
        p->v[r] = second ? -1 / (double)s->paths[1] : 1 / (double)s->paths[0];
        if (p->norm[r] < 1e300) continue;
        p->norm[r] = INFINITY;
        memset(z, 0, cols * sizeof *z);
    }
}

/* Step 2: rows begin .. end - 1 against all rows before end; below the diagonal counts twice. */
static double panel_sum(sock_context *ctx, const prepared *p, double eta, size_t begin, size_t end)
{
    double total = 0;
    sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, end - begin, end, p->cols, -2, p->z + begin * p->cols, p->cols, p->z, p->cols,
            0, p->panel, p->rows);
    for (size_t r = begin; r < end; r++) {
        double *k = p->panel + (r - begin) * p->rows, sum = 0;
        for (size_t c = 0; c < r; c++) k[c] = -fmax(k[c] + p->norm[r] + p->norm[c], 0) / eta;
        sk_vexp(r, k, k);
        for (size_t c = 0; c < r; c++) sum += p->v[c] * k[c];
        total += p->v[r] * (2 * sum + p->v[r]); /* K(x, x) = 1 */
    }
    return total;
}

double sk_mmd2(sock_context *ctx, const sk_samples *samples, double *space)
{
    prepared p;
    double sum = 0;
    prepare(samples, space, &p);
    for (size_t begin = 0; begin < p.rows; begin += PANEL)
        sum += panel_sum(ctx, &p, samples->eta, begin, SK_MIN(begin + PANEL, p.rows));
    return sum;
}

/* ---- eta: the median over pairs of training trajectories ---- */

static double distance2(const sock_data *data, const double *w, size_t i, size_t j)
{
    const double *x = data->x + data->first[i] * data->d, *y = data->x + data->first[j] * data->d;
    const size_t times = data->first[i + 1] - data->first[i];
    double sum = 0;
    for (size_t k = 0; k < times; k++) {
        double square = 0;
        for (size_t l = 0; l < data->d; l++, x++, y++) square += (*x - *y) * (*x - *y);
        sum += w[k] * square;
    }
    return sum;
}

typedef struct pair_job {
    const sock_data *data;
    const size_t *label, *chosen, *offset; /* offset[i]: where the distances of chosen[i] to earlier ones begin */
    const double *weight;                  /* points: trapezoid weights of each trajectory */
    double *distance;
} pair_job;

static sock_status pair_range(void *arg, size_t begin, size_t end, int worker)
{
    const pair_job *job = arg;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        size_t at = job->offset[i], a = job->chosen[i];
        for (size_t j = 0; j < i; j++)
            if (job->label[job->chosen[j]] == job->label[a])
                job->distance[at++] = distance2(job->data, job->weight + job->data->first[a], a, job->chosen[j]);
    }
    return SOCK_OK;
}

/* The trajectories that stand for all, and how many earlier ones of its grid each has. */
static size_t choose_trajectories(const sock_data *data, const size_t *label, size_t *seen, size_t *chosen,
                                  size_t *offset, size_t *pairs)
{
    size_t usable = 0, count = 0, at = 0;
    for (size_t j = 0; j < data->trajectories; j++) usable += label[j] != SIZE_MAX;
    *pairs = 0;
    for (size_t j = 0; j < data->trajectories; j++) {
        if (label[j] == SIZE_MAX) continue;
        if (!sk_mmd_stands_for_all(at++, usable)) continue;
        offset[count] = *pairs;
        *pairs += seen[label[j]]++;
        chosen[count++] = j;
    }
    return count;
}

sock_status sk_mmd_eta(sock_context *ctx, const sock_data *train, double *eta, size_t *pairs)
{
    const size_t n = train->trajectories;
    sock_status status = SOCK_ENOMEM;
    size_t labels, *index = sk_alloc(ctx, n, 4 * sizeof *index), *label = index, *seen, *chosen, *offset;
    double *weight = sk_doubles(ctx, train->points, 1), *distance = NULL;
    if (!index || !weight) goto out;
    seen = label + n, chosen = seen + n, offset = chosen + n;
    SK_GO(sk_label_trajectories(ctx, train, false, label, &labels));
    size_t count = choose_trajectories(train, label, seen, chosen, offset, pairs);
    for (size_t j = 0; j < n; j++)
        sk_trapezoid_weights(train->first[j + 1] - train->first[j], train->t + train->first[j],
                             weight + train->first[j]);
    if (!(distance = sk_doubles(ctx, *pairs, 1))) {
        status = SOCK_ENOMEM;
        goto out;
    }
    pair_job job = {train, label, chosen, offset, weight, distance};
    SK_GO(sk_parallel_for(ctx, count, 16, pair_range, &job));
    if (*pairs) *eta = sk_median(*pairs, distance);
out:
    sk_free(distance);
    sk_free(weight);
    sk_free(index);
    return status;
}
