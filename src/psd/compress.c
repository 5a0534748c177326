/* compress.c - exact reductions before any iteration: they change nothing but the cost.
 *
 *   1. Features. Q* lives in the row space of Phi: phi := E' phi / scale with E the eigenvectors of Phi' Phi (or the
 *      right singular vectors of Phi), by falling eigenvalue, null directions dropped.
 *   2. Columns. Entry (a, b) of svec(M_i) is at most sqrt(energy_ab) over all rows; those that cannot change the
 *      objective by a hundredth of the tolerance are left out.
 *   3. Rows. B = U diag(s) V' with the small s dropped; the problem in y = U' b has B' = C' with C = diag(s) V', its
 *      Hessian without the constraint is diagonal, and z enters only as U' z. Through B'B or BB', whichever is smaller.
 *
 * Leaving out s_j changes the objective by at most z_j^2/n * s_j^2/(n lambda), which sets the threshold: s_j^2 < drop
 * n, drop = tolerance lambda / 100. Gram matrices know s^2 only down to 1e-16 of the largest; when lambda and tolerance
 * ask for more, both steps go by QR and SVD instead. Whatever is left out, the caller certifies with the full rows.
 *
 * Cost: nodes p^2 + 9 p^3;  n h^2 + 9 min(n, h)^3 with h <= p (p + 1)/2 columns. */
#include "psdinner.h"

#include <math.h>
#include <string.h>

static const double GRAM_LIMIT = 2e-15; /* what a Gram matrix can tell from rounding */

/* ---- Step 1 ---- */

/* vectors (p x p): row i the i-th direction by falling energy; *kept of them. By the Gram matrix. */
static sock_status directions_by_gram(sock_context *ctx, const sk_psd_prepared *prepared, double *vectors, size_t *kept)
{
    size_t p = prepared->p_given;
    double *gram = sk_doubles(ctx, p, p), *values = sk_doubles(ctx, p, 1), scale = prepared->phi_scale;
    sock_status status = gram && values ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    sk_syrk(ctx, SK_TRANSPOSED, p, prepared->nodes, 1 / (scale * scale), prepared->given, prepared->given_ld, 0, gram,
            p);
    SK_GO(sk_psd_leading(ctx, p, gram, 4e-15, values, vectors, kept));
out:
    sk_free(gram);
    sk_free(values);
    return status;
}

/* The same by QR and SVD of Phi: singular values, not their squares, down to rounding. */
static sock_status directions_by_svd(sock_context *ctx, const sk_psd_prepared *prepared, double *vectors, size_t *kept)
{
    size_t p = prepared->p_given, nodes = prepared->nodes, rows = SK_MAX(nodes, p);
    double *copy = sk_doubles(ctx, rows, p), *r = sk_doubles(ctx, p, p), *u = sk_doubles(ctx, p, p),
           *s = sk_doubles(ctx, p, 1);
    sock_status status = copy && r && u && s ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    for (size_t a = 0; a < nodes; a++) /* rows beyond nodes stay zero */
        for (size_t j = 0; j < p; j++)
            copy[a * p + j] = prepared->given[a * prepared->given_ld + j] / prepared->phi_scale;
    SK_GO(sk_qr(ctx, rows, p, copy, p, r, p));
    SK_GO(sk_svd(ctx, p, p, r, p, s, u, p, vectors, p));
    *kept = 0;
    for (size_t i = 0; i < p; i++)
        if (s[i] > 1e-14 * s[0]) *kept = i + 1;
out:
    sk_free(copy);
    sk_free(r);
    sk_free(u);
    sk_free(s);
    return status;
}

/* energy_ab >= sum_i B_i,ab^2, by Cauchy-Schwarz inside a row: sum_k omega_k phi_ka^2 phi_kb^2, twice that for a < b,
 * omega_k = sum_i |W_ik| sum_k |W_ik|. */
static sock_status pair_energies(sock_context *ctx, const sk_psd_prepared *prepared, double *energy)
{
    size_t p = prepared->p, nodes = prepared->nodes;
    double *omega = sk_doubles(ctx, nodes, 1), *square = sk_doubles(ctx, nodes, p), *gram = sk_doubles(ctx, p, p);
    sock_status status = omega && square && gram ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    for (size_t i = 0; i < prepared->n; i++) {
        double sum = 0;
        for (size_t e = prepared->row[i]; e < prepared->row[i + 1]; e++) sum += fabs(prepared->weight[e]);
        for (size_t e = prepared->row[i]; e < prepared->row[i + 1]; e++)
            omega[prepared->node[e]] += sum * fabs(prepared->weight[e]);
    }
    for (size_t k = 0; k < nodes; k++) {
        double root = sqrt(omega[k]);
        for (size_t a = 0; a < p; a++) square[k * p + a] = root * prepared->phi[k * p + a] * prepared->phi[k * p + a];
    }
    sk_syrk(ctx, SK_TRANSPOSED, p, nodes, 1, square, p, 0, gram, p);
    for (size_t b = 0; b < p; b++)
        for (size_t a = 0; a <= b; a++) energy[b * (b + 1) / 2 + a] = gram[b * p + a] * (a < b ? 2 : 1);
out:
    sk_free(omega);
    sk_free(square);
    sk_free(gram);
    return status;
}

sock_status sk_psd_reduce_features(sock_context *ctx, sk_psd_prepared *prepared, bool accurate)
{
    size_t p = prepared->p_given, kept = 0;
    double *vectors = sk_doubles(ctx, p, p), *rotation = NULL, *phi = NULL, *energy = NULL;
    sock_status status = vectors ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    SK_GO((accurate ? directions_by_svd : directions_by_gram)(ctx, prepared, vectors, &kept));
    kept = SK_MAX(kept, 1);
    rotation = sk_doubles(ctx, p, kept);
    phi = sk_doubles(ctx, prepared->nodes, kept);
    energy = sk_doubles(ctx, kept * (kept + 1) / 2, 1);
    if (!rotation || !phi || !energy) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t a = 0; a < p; a++)
        for (size_t i = 0; i < kept; i++) rotation[a * kept + i] = vectors[i * p + a];
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, prepared->nodes, kept, p, 1 / prepared->phi_scale, prepared->given,
            prepared->given_ld, rotation, kept, 0, phi, kept);
    sk_free(prepared->rotation);
    sk_free(prepared->phi);
    sk_free(prepared->pair_energy);
    prepared->rotation = rotation;
    prepared->phi = phi;
    prepared->pair_energy = energy;
    prepared->p = kept;
    prepared->accurate = accurate;
    prepared->drop = INFINITY; /* compressed rows, if any, belong to the old features */
    rotation = phi = energy = NULL;
    status = pair_energies(ctx, prepared, prepared->pair_energy);
out:
    sk_free(vectors);
    sk_free(rotation);
    sk_free(phi);
    sk_free(energy);
    return status;
}

/* ---- Step 2 ---- */

static double drop_for(double lambda, double tolerance) { return fmin(1e-2 * tolerance * lambda, 1e-6); }

static size_t select_pairs(const sk_psd_prepared *prepared, double drop, unsigned *first, unsigned *second)
{
    size_t count = 0;
    double least = 0.1 * drop * (double)prepared->n;
    for (size_t b = 0, j = 0; b < prepared->p; b++)
        for (size_t a = 0; a <= b; a++, j++)
            if (prepared->pair_energy[j] > least) {
                if (first) {
                    first[count] = (unsigned)a;
                    second[count] = (unsigned)b;
                }
                count++;
            }
    return count;
}

size_t sk_psd_compressed_size(const sk_psd_prepared *prepared, double lambda, double tolerance)
{
    double drop = drop_for(lambda, tolerance);
    return SK_MIN(prepared->n, select_pairs(prepared, fmax(drop, GRAM_LIMIT), NULL, NULL));
}

typedef struct rows_job {
    const sk_psd_prepared *prepared;
    double *b;
    double *scratch; /* workers x 2 h: svec of the two nodes seen last, which the next row often needs again */
} rows_job;

static void node_svec(const sk_psd_prepared *prepared, size_t node, double *out)
{
    const double *phi = prepared->phi + node * prepared->p;
    for (size_t j = 0; j < prepared->h; j++) {
        size_t a = prepared->first[j], b = prepared->second[j];
        out[j] = (a == b ? 1 : SK_ROOT_TWO) * phi[a] * phi[b];
    }
}

/* Rows begin .. end of B (n x h). */
static sock_status fill_rows(void *arg, size_t begin, size_t end, int worker)
{
    const rows_job *w = arg;
    const sk_psd_prepared *prepared = w->prepared;
    size_t h = prepared->h, seen[2] = {SIZE_MAX, SIZE_MAX}, place = 0;
    double *scratch = w->scratch + 2 * h * (size_t)worker;
    for (size_t i = begin; i < end; i++) {
        double *row = w->b + i * h;
        for (size_t e = prepared->row[i]; e < prepared->row[i + 1]; e++) {
            size_t node = prepared->node[e];
            if (seen[place] != node) place = 1 - place;
            double *svec = scratch + place * h;
            if (seen[place] != node) node_svec(prepared, node, svec);
            seen[place] = node;
            double weight = prepared->weight[e];
            for (size_t j = 0; j < h; j++) row[j] += weight * svec[j];
        }
    }
    return SOCK_OK;
}

/* ---- Step 3 ---- */

static sock_status allocate_compressed(sock_context *ctx, sk_psd_prepared *prepared, size_t m)
{
    prepared->m = m;
    prepared->c = sk_doubles(ctx, m, prepared->h);
    prepared->s2 = sk_doubles(ctx, m, 1);
    return prepared->c && prepared->s2 ? SOCK_OK : SOCK_ENOMEM;
}

/* Squared singular values below this share of the largest are left out. */
static double least_share(const sk_psd_prepared *prepared, double trace)
{
    return fmax(prepared->drop * (double)prepared->n / trace, 1e-15);
}

static double trace(size_t k, const double *gram)
{
    double sum = 0;
    for (size_t i = 0; i < k; i++) sum += gram[i * k + i];
    return sum;
}

/* n >= h: B'B = V diag(s2) V', C = diag(s) V', U = B V diag(1/s). B becomes `left`. */
static sock_status compress_columns(sock_context *ctx, sk_psd_prepared *prepared, double **b)
{
    size_t h = prepared->h, n = prepared->n, m = 0;
    double *gram = sk_doubles(ctx, h, h), *values = sk_doubles(ctx, h, 1), *v = sk_doubles(ctx, h, h);
    sock_status status = gram && values && v ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    sk_syrk(ctx, SK_TRANSPOSED, h, n, 1, *b, h, 0, gram, h);
    SK_GO(sk_psd_leading(ctx, h, gram, least_share(prepared, trace(h, gram)), values, v, &m));
    SK_GO(allocate_compressed(ctx, prepared, m));
    prepared->mix = sk_doubles(ctx, h, m);
    if (!prepared->mix) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t j = 0; j < m; j++) {
        double s = sqrt(values[j]);
        prepared->s2[j] = values[j];
        for (size_t e = 0; e < h; e++) {
            prepared->c[j * h + e] = s * v[j * h + e];
            prepared->mix[e * m + j] = v[j * h + e] / s;
        }
    }
    prepared->left = *b;
    prepared->k = h;
    *b = NULL;
out:
    sk_free(gram);
    sk_free(values);
    sk_free(v);
    return status;
}

/* n < h: BB' = U diag(s2) U', C = U' B. */
static sock_status compress_outer(sock_context *ctx, sk_psd_prepared *prepared, const double *b)
{
    size_t h = prepared->h, n = prepared->n, m = 0;
    double *gram = sk_doubles(ctx, n, n), *values = sk_doubles(ctx, n, 1), *u = sk_doubles(ctx, n, n);
    sock_status status = gram && values && u ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    sk_syrk(ctx, SK_PLAIN, n, h, 1, b, h, 0, gram, n);
    SK_GO(sk_psd_leading(ctx, n, gram, least_share(prepared, trace(n, gram)), values, u, &m));
    SK_GO(allocate_compressed(ctx, prepared, m));
    prepared->left = sk_doubles(ctx, n, m);
    prepared->k = m;
    if (!prepared->left) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t j = 0; j < m; j++) prepared->s2[j] = values[j];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) prepared->left[i * m + j] = u[j * n + i];
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, m, h, n, 1, u, n, b, h, 0, prepared->c, h);
out:
    sk_free(gram);
    sk_free(values);
    sk_free(u);
    return status;
}

/* Either shape, by the SVD itself: small singular values to rounding. b is destroyed. */
static sock_status compress_svd(sock_context *ctx, sk_psd_prepared *prepared, double *b)
{
    size_t h = prepared->h, n = prepared->n, k = SK_MIN(n, h), m = 0;
    double *u = sk_doubles(ctx, n, k), *vt = sk_doubles(ctx, k, h), *s = sk_doubles(ctx, k, 1);
    sock_status status = u && vt && s ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    SK_GO(sk_svd(ctx, n, h, b, h, s, u, k, vt, h));
    while (m < k && s[m] > 1e-15 * s[0] && s[m] > 0) m++;
    SK_GO(allocate_compressed(ctx, prepared, m));
    prepared->left = sk_doubles(ctx, n, m);
    prepared->k = m;
    if (!prepared->left) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t i = 0; i < n; i++) memcpy(prepared->left + i * m, u + i * k, m * sizeof *u);
    for (size_t j = 0; j < m; j++) {
        prepared->s2[j] = s[j] * s[j];
        for (size_t e = 0; e < h; e++) prepared->c[j * h + e] = s[j] * vt[j * h + e];
    }
out:
    sk_free(u);
    sk_free(vt);
    sk_free(s);
    return status;
}

static void forget_compressed(sk_psd_prepared *prepared)
{
    sk_free(prepared->left);
    sk_free(prepared->mix);
    sk_free(prepared->c);
    sk_free(prepared->s2);
    sk_free(prepared->first);
    sk_free(prepared->second);
    prepared->left = prepared->mix = prepared->c = prepared->s2 = NULL;
    prepared->first = prepared->second = NULL;
    prepared->drop = INFINITY;
    prepared->m = prepared->h = prepared->k = 0;
}

static sock_status make_compressed(sock_context *ctx, sk_psd_prepared *prepared, double drop)
{
    size_t q = prepared->p * (prepared->p + 1) / 2;
    double *b = NULL;
    sock_status status = SOCK_OK;
    prepared->first = sk_alloc(ctx, q, sizeof *prepared->first);
    prepared->second = sk_alloc(ctx, q, sizeof *prepared->second);
    if (!prepared->first || !prepared->second) return SOCK_ENOMEM;
    prepared->drop = drop;
    prepared->h = select_pairs(prepared, drop, prepared->first, prepared->second);
    double bytes = 8.0 * (double)prepared->h * (double)(prepared->n + 3 * prepared->h);
    SK_TRY(sk_memory_check(ctx, bytes, "the compressed diffusion rows", "fewer features"));
    b = sk_doubles(ctx, prepared->n, prepared->h);
    if (!b) return SOCK_ENOMEM;
    rows_job job = {prepared, b, sk_doubles(ctx, 2 * (size_t)sk_workers(ctx), prepared->h)};
    if (!job.scratch) {
        status = SOCK_ENOMEM;
        goto out;
    }
    size_t grain = (double)prepared->row[prepared->n] * (double)prepared->h < 4e6 ? prepared->n : 64;
    status = sk_parallel_for(ctx, prepared->n, grain, fill_rows, &job);
    sk_free(job.scratch);
    if (status < 0) goto out;
    if (drop == 0)
        SK_GO(compress_svd(ctx, prepared, b));
    else if (prepared->n >= prepared->h)
        SK_GO(compress_columns(ctx, prepared, &b));
    else
        SK_GO(compress_outer(ctx, prepared, b));
out:
    sk_free(b);
    return status;
}

sock_status sk_psd_compress(sock_context *ctx, sk_psd_prepared *prepared, double lambda, double tolerance, bool force)
{
    double needed = force ? 0 : fmax(drop_for(lambda, tolerance), GRAM_LIMIT), start = sk_seconds();
    if (prepared->drop <= needed) return SOCK_OK;
    /* Two decades in hand when the caller did not say how far down lambda will go. */
    double smallest = prepared->lambda_min > 0 ? fmin(prepared->lambda_min, lambda) : 0.01 * lambda;
    double drop = force ? 0 : fmax(drop_for(smallest, tolerance), GRAM_LIMIT);
    forget_compressed(prepared);
    if (drop == 0 && !prepared->accurate) SK_TRY(sk_psd_reduce_features(ctx, prepared, true));
    sock_status status = make_compressed(ctx, prepared, drop);
    if (status < 0) forget_compressed(prepared);
    prepared->seconds += sk_seconds() - start;
    return status;
}

sock_status sk_psd_project_rows(sock_context *ctx, const sk_psd_prepared *prepared, size_t pairs, const double *z,
                                double *y)
{
    size_t n = prepared->n, k = prepared->k, m = prepared->m;
    double *inner = prepared->mix ? sk_doubles(ctx, pairs, k) : y;
    if (!inner) return SOCK_ENOMEM;
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, pairs, k, n, 1, z, n, prepared->left, k, 0, inner, k);
    if (!prepared->mix) return SOCK_OK;
    sk_gemm(ctx, SK_PLAIN, SK_PLAIN, pairs, m, k, 1, inner, k, prepared->mix, m, 0, y, m);
    sk_free(inner);
    return SOCK_OK;
}

sock_status sk_psd_expand_rows(sock_context *ctx, const sk_psd_prepared *prepared, size_t pairs, const double *y,
                               double *z)
{
    size_t n = prepared->n, k = prepared->k, m = prepared->m;
    double *inner = NULL;
    if (prepared->mix) {
        inner = sk_doubles(ctx, pairs, k);
        if (!inner) return SOCK_ENOMEM;
        sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, pairs, k, m, 1, y, m, prepared->mix, m, 0, inner, k);
    }
    sk_gemm(ctx, SK_PLAIN, SK_TRANSPOSED, pairs, n, k, 1, inner ? inner : y, k, prepared->left, k, 0, z, n);
    sk_free(inner);
    return SOCK_OK;
}

void sk_psd_prepared_free(sk_psd_prepared *prepared)
{
    if (!prepared) return;
    forget_compressed(prepared);
    double *const all[] = {prepared->rotation, prepared->phi, prepared->weight, prepared->root_weight,
                           prepared->pair_energy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
    sk_free(prepared->row);
    sk_free(prepared->node);
    sk_free(prepared);
}
