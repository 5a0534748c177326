/* levelsystem.c - steps 3 and 4 of levels.c: the Newton systems (I + K G/(n lambda)) dx = rho of the active parts.
 *
 *   1. G by its block on H, which all parts share.
 *   2. Preconditioner: K by a diagonal kappa, the mean over parts and blocks of (U o U) Omega (U o U)', so that one
 *      Cholesky factor of G_HH + n lambda diag(1/kappa) serves all blocks of all parts.
 *   3. Conjugate gradients in the inner product of G, each part with steps of its own; G times the preconditioned
 *      residual is n lambda (r - zeta)/kappa and costs nothing. Each thread takes its share of the parts from the first
 *      step to the last, in step, so that one pass over the factor serves them all; a single part uses all threads.
 *   4. K in single precision: the direction is only wanted to a few per cent.
 *   5. dx outside H from one more K.
 *
 * Cost per step of conjugate gradients and part: 8 D^2 min(r, D - r) + 2 h^2 pairs flop, D = p d. */
#include "levels.h"

#include <math.h>
#include <string.h>

enum { CG_MOST = 200, EXACT_PAIRS = 400, ROWS_AT_A_TIME = 64, COLUMNS_AT_A_TIME = 128, SMALL_ORDER = 200 };
static const double KAPPA_FLOOR = 0.003;

/* ---- Step 1 ---- */

void sk_level_cross_clear(sk_level *v)
{
    void **const all[] = {(void **)&v->h_first, (void **)&v->h_second, (void **)&v->h_place, (void **)&v->g,
                          (void **)&v->factor,  (void **)&v->w,        (void **)&v->r,       (void **)&v->zeta,
                          (void **)&v->gzeta,   (void **)&v->v,        (void **)&v->gv,      (void **)&v->av,
                          (void **)&v->dx_h,    (void **)&v->gdx_h};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sk_free(*all[i]);
        *all[i] = NULL;
    }
}

static sock_status cross_allocate(sk_level *v)
{
    double **const vectors[] = {&v->r, &v->zeta, &v->gzeta, &v->v, &v->gv, &v->av, &v->dx_h, &v->gdx_h};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = sk_doubles(v->ctx, v->parts * v->pairs, v->h))) return SOCK_ENOMEM;
    v->g = sk_doubles(v->ctx, v->h, v->h);
    v->factor = sk_doubles(v->ctx, v->h, v->h);
    v->w = sk_doubles(v->ctx, v->h, 1);
    return v->g && v->factor && v->w ? SOCK_OK : SOCK_ENOMEM;
}

size_t sk_level_pairs(const sk_psd_prepared *prepared, double lambda, double eps)
{
    const size_t q = prepared->p * (prepared->p + 1) / 2;
    const double least = q <= EXACT_PAIRS ? 0 : eps * (double)prepared->n * lambda;
    size_t count = 0;
    for (size_t j = 0; j < q; j++) count += prepared->pair_energy[j] >= least;
    return count;
}

sock_status sk_level_cross(sk_level *v)
{
    double start = sk_seconds(), least = v->q <= EXACT_PAIRS ? 0 : v->eps * (double)v->n * v->lambda;
    sk_level_cross_clear(v);
    v->h_first = sk_alloc(v->ctx, v->q, sizeof *v->h_first);
    v->h_second = sk_alloc(v->ctx, v->q, sizeof *v->h_second);
    v->h_place = sk_alloc(v->ctx, v->q, sizeof *v->h_place);
    if (!v->h_first || !v->h_second || !v->h_place) return SOCK_ENOMEM;
    v->h = 0;
    for (size_t j = 0; j < v->q; j++)
        if (v->prepared->pair_energy[j] >= least) {
            v->h_first[v->h] = v->first[j];
            v->h_second[v->h] = v->second[j];
            v->h_place[v->h++] = j;
        }
    double bytes = 8 * (2 + (double)sk_workers(v->ctx)) * (double)v->h * (double)v->h;
    SK_TRY(
        sk_memory_check(v->ctx, bytes, "the Gram matrix of the diffusion rows", "fewer features or a larger lambda"));
    SK_TRY(cross_allocate(v));
    SK_TRY(sk_psd_panels_block(v->ctx, v->panels, v->h, v->h_first, v->h_second, v->g));
    v->effort.prepare += sk_seconds() - start;
    return SOCK_OK;
}

void sk_level_restrict(const sk_level *v, size_t pairs, const double *full, double *x)
{
    for (size_t pair = 0; pair < pairs; pair++)
        for (size_t j = 0; j < v->h; j++) x[pair * v->h + j] = full[pair * v->q + v->h_place[j]];
}

/* ---- Step 2 ---- */

/* kappa_ab = A Omega A' with A (p x D) the mean over blocks of the squared entries of the eigenvectors. Omega is 1
 * between positive eigenvalues and v_i / (v_i - v_j) across zero. */
static sock_status kappa_of_part(sk_level *v, size_t at)
{
    sk_part *part = v->active[at];
    size_t p = v->p, D = v->D, r = part->positive, split_at = D - r;
    double *a = sk_doubles(v->ctx, p, D), *nu = sk_doubles(v->ctx, r, split_at), *m = sk_doubles(v->ctx, p, split_at),
           *sum = sk_doubles(v->ctx, p, 1), *kappa = part->kappa;
    sock_status status = a && nu && m && sum ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    for (size_t i = 0; i < D * D; i++) part->e32[i] = (float)part->e[i];
    for (size_t j = 0; j < D; j++)
        for (size_t k = 0; k < v->d; k++)
            for (size_t b = 0; b < p; b++) {
                double entry = part->e[j * D + k * p + b];
                a[b * D + j] += entry * entry / (double)v->d;
            }
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < split_at; j++) {
            double top = part->values[split_at + i];
            nu[i * split_at + j] = top / (top - fmin(part->values[j], 0));
        }
    for (size_t b = 0; b < p; b++)
        for (size_t j = split_at; j < D; j++) sum[b] += a[b * D + j];
    sk_gemm(v->ctx, SK_PLAIN, SK_PLAIN, p, split_at, r, 1, a + split_at, D, nu, split_at, 0, m, split_at);
    sk_gemm(v->ctx, SK_PLAIN, SK_TRANSPOSED, p, p, split_at, 1, m, split_at, a, D, 0, kappa, p);
    for (size_t b = 0; b < p; b++)
        for (size_t c = 0; c <= b; c++) kappa[b * p + c] += kappa[c * p + b] + sum[b] * sum[c];
out:
    sk_free(a);
    sk_free(nu);
    sk_free(m);
    sk_free(sum);
    return status;
}

static sock_status factorise(void *arg)
{
    sk_level *v = arg;
    memcpy(v->factor, v->g, v->h * v->h * sizeof *v->g);
    for (size_t j = 0; j < v->h; j++) {
        size_t entry = v->h_second[j] * v->p + v->h_first[j];
        double value = 0;
        for (size_t i = 0; i < v->count; i++) value += v->active[i]->kappa[entry] / (double)v->count;
        v->w[j] = (double)v->n * v->lambda / fmax(value, KAPPA_FLOOR);
        v->factor[j * v->h + j] += v->w[j];
    }
    return sk_cholesky(v->ctx, v->h, v->factor, v->h);
}

/* zeta = (G + W)^-1 W r and G zeta = W (r - zeta), for rows begin .. end. */
static sock_status precondition_rows(void *arg, size_t begin, size_t end, int worker)
{
    sk_level *v = arg;
    size_t h = v->h;
    double *zeta = v->zeta + begin * h;
    (void)worker;
    for (size_t row = begin; row < end; row++)
        for (size_t j = 0; j < h; j++) v->zeta[row * h + j] = v->w[j] * v->r[row * h + j];
    sk_solve_lower_right(v->ctx, SK_TRANSPOSED, end - begin, h, v->factor, h, zeta, h);
    sk_solve_lower_right(v->ctx, SK_PLAIN, end - begin, h, v->factor, h, zeta, h);
    for (size_t row = begin; row < end; row++)
        for (size_t j = 0; j < h; j++) {
            size_t e = row * h + j;
            v->gzeta[e] = v->w[j] * (v->r[e] - v->zeta[e]);
        }
    return SOCK_OK;
}

/* ---- Step 4 ---- */

/* T in single precision: h entries a pair, both triangles of every block. */
static void unpack32(const sk_level *v, const double *in, float *s)
{
    size_t p = v->p, ld = v->D;
    memset(s, 0, ld * ld * sizeof *s);
    for (size_t l = 0; l < v->d; l++)
        for (size_t k = 0; k <= l; k++, in += v->h) {
            double outer = k < l ? SK_ROOT_HALF : 1, mixed = outer * SK_ROOT_HALF;
            for (size_t j = 0; j < v->h; j++) {
                size_t a = v->h_first[j], b = v->h_second[j];
                float value = (float)((a == b ? outer : mixed) * in[j]);
                s[(k * p + a) * ld + l * p + b] = s[(k * p + b) * ld + l * p + a] = value;
                s[(l * p + a) * ld + k * p + b] = s[(l * p + b) * ld + k * p + a] = value;
            }
        }
}

/* Which entries of the answer are wanted: H or all. */
typedef struct entries {
    size_t h;
    const unsigned *first, *second;
} entries;

/* out = P (M + M') for the listed entries. */
static void pack32(const sk_level *v, entries list, const float *m, double *out)
{
    size_t p = v->p, ld = v->D;
    for (size_t l = 0; l < v->d; l++)
        for (size_t k = 0; k <= l; k++, out += list.h) {
            double outer = k < l ? SK_ROOT_TWO : 1, mixed = outer * SK_ROOT_HALF;
            const float *upper = m + k * p * ld + l * p, *lower = m + l * p * ld + k * p;
            for (size_t j = 0; j < list.h; j++) {
                size_t a = list.first[j], b = list.second[j];
                double ab = (double)upper[a * ld + b] + (double)lower[b * ld + a];
                double ba = (double)upper[b * ld + a] + (double)lower[a * ld + b];
                out[j] = a == b ? outer * ab : mixed * (ab + ba);
            }
        }
}

/* K's products are cut by rows and by columns here, not inside BLAS: threads that are waited for asleep get along with
 * other work on the machine. */
typedef struct k_job {
    sk_level *v;
    sk_part *part;
    size_t begin, count, split_at; /* the side of the spectrum in use: rows begin .. begin+count-1 of e32 */
    bool complement;
} k_job;

/* Rows of u = Omega o (block H E') E, each from its own row of the block. */
static sock_status k_rows(void *arg, size_t first, size_t last, int worker)
{
    const k_job *j = arg;
    const sk_part *part = j->part;
    size_t D = j->v->D, rows = last - first;
    const float *block = part->e32 + (j->begin + first) * D;
    float *u = part->u32 + first * D, *t = part->t32 + first * D;
    (void)worker;
    sk_gemm_f32(j->v->ctx, SK_PLAIN, SK_PLAIN, rows, D, D, 1, block, D, part->m32, D, 0, u, D);
    sk_gemm_f32(j->v->ctx, SK_PLAIN, SK_TRANSPOSED, rows, D, D, 1, u, D, part->e32, D, 0, t, D);
    for (size_t i = 0; i < rows; i++) {
        double vi = part->values[j->begin + first + i];
        for (size_t k = 0; k < D; k++) {
            double bottom = fabs(vi - part->values[k]);
            bool same = (k >= j->split_at) == !j->complement;
            t[i * D + k] *= (float)(same ? 0.5 : bottom > 0 ? fabs(vi) / bottom : 0);
        }
    }
    sk_gemm_f32(j->v->ctx, SK_PLAIN, SK_PLAIN, rows, D, D, 1, t, D, part->e32, D, 0, u, D);
    return SOCK_OK;
}

/* Columns of M = block' u, or of H/2 - block' u: M + M' is the answer. */
static sock_status k_columns(void *arg, size_t first, size_t last, int worker)
{
    const k_job *j = arg;
    const sk_part *part = j->part;
    size_t D = j->v->D;
    (void)worker;
    if (j->complement)
        for (size_t i = 0; i < D; i++)
            for (size_t k = first; k < last; k++) part->m32[i * D + k] *= 0.5f;
    sk_gemm_f32(j->v->ctx, SK_TRANSPOSED, SK_PLAIN, D, last - first, j->count, j->complement ? -1 : 1,
                part->e32 + j->begin * D, D, part->u32 + first, D, j->complement ? 1 : 0, part->m32 + first, D);
    return SOCK_OK;
}

/* out = P dPi T in, with the output on the given entries; `in` on H. */
static sock_status k_product(sk_level *v, sk_part *part, const double *in, entries list, double *out)
{
    size_t D = v->D, split_at = D - part->positive;
    bool complement = 2 * part->positive > D, small = D < SMALL_ORDER;
    k_job j = {.v = v,
               .part = part,
               .begin = complement ? 0 : split_at,
               .count = complement ? split_at : part->positive,
               .split_at = split_at,
               .complement = complement};
    unpack32(v, in, part->m32);
    SK_TRY(sk_parallel_for(v->ctx, j.count, small ? D : ROWS_AT_A_TIME, k_rows, &j));
    SK_TRY(sk_parallel_for(v->ctx, D, small ? D : COLUMNS_AT_A_TIME, k_columns, &j));
    pack32(v, list, part->m32, out);
    return SOCK_OK;
}

/* ---- Step 3 ---- */

/* One step of active[at]: K, the step length, the new residual. */
static sock_status cg_step(sk_level *v, size_t at)
{
    sk_part *part = v->active[at];
    size_t length = v->pairs * v->h, from = at * length;
    double *direction = v->v + from, *g_direction = v->gv + from, *image = v->av + from;
    double inverse = 1 / ((double)v->n * v->lambda);
    SK_TRY(k_product(v, part, g_direction, (entries){v->h, v->h_first, v->h_second}, image));
    part->cg_steps++;
    for (size_t i = 0; i < length; i++) image[i] = direction[i] + inverse * image[i];
    double curvature = sk_dot(length, image, g_direction);
    part->running = curvature > 0;
    if (!part->running) return SOCK_OK;
    double alpha = part->rz / curvature;
    sk_axpy(length, alpha, direction, v->dx_h + from);
    sk_axpy(length, alpha, g_direction, v->gdx_h + from);
    sk_axpy(length, -alpha, image, v->r + from);
    return SOCK_OK;
}

/* The next direction of active[at] from the preconditioned residual; the first when first. */
static void cg_turn(sk_level *v, size_t at, bool first)
{
    sk_part *part = v->active[at];
    size_t length = v->pairs * v->h, from = at * length;
    double next = sk_dot(length, v->r + from, v->gzeta + from), beta = first ? 0 : next / part->rz;
    for (size_t i = from; i < from + length; i++) {
        v->v[i] = v->zeta[i] + beta * v->v[i];
        v->gv[i] = v->gzeta[i] + beta * v->gv[i];
    }
    part->rz = next;
    if (first) part->target = part->forcing * part->forcing * next;
    part->running = next > part->target && next > 0;
}

/* Step 5: everywhere dx = rho - K G dx / (n lambda); on H the solution itself. */
static sock_status extend(sk_level *v, size_t at)
{
    size_t h = v->h, from = at * v->pairs;
    double *dx = v->dx + from * v->q, inverse = 1 / ((double)v->n * v->lambda);
    SK_TRY(k_product(v, v->active[at], v->gdx_h + from * h, (entries){v->q, v->first, v->second}, dx));
    for (size_t i = 0; i < v->pairs * v->q; i++) dx[i] = v->rho[from * v->q + i] - inverse * dx[i];
    for (size_t pair = 0; pair < v->pairs; pair++)
        for (size_t j = 0; j < h; j++) dx[pair * v->q + v->h_place[j]] = v->dx_h[(from + pair) * h + j];
    return SOCK_OK;
}

/* The parts begin .. end of the active ones, in step. Rows of a part that is done already stay as they are; taking them
 * along in the triangular solves costs next to nothing. */
static sock_status cg(void *arg, size_t begin, size_t end, int worker)
{
    sk_level *v = arg;
    size_t from = begin * v->pairs, rows = (end - begin) * v->pairs, length = rows * v->h;
    size_t workers = (size_t)sk_workers(v->ctx), share = (rows + workers - 1) / workers;
    (void)worker;
    sk_level_restrict(v, rows, v->rho + from * v->q, v->r + from * v->h);
    memset(v->dx_h + from * v->h, 0, length * sizeof *v->dx_h);
    memset(v->gdx_h + from * v->h, 0, length * sizeof *v->gdx_h);
    for (int step = 0; step <= CG_MOST; step++) {
        bool any = false;
        for (size_t at = begin; at < end; at++)
            if (step && v->active[at]->running) SK_TRY(cg_step(v, at));
        if (workers > 1)
            SK_TRY(sk_parallel_for(v->ctx, rows, share, precondition_rows, v));
        else
            SK_TRY(precondition_rows(v, from, from + rows, 0));
        for (size_t at = begin; at < end; at++) {
            if (!step || v->active[at]->running) cg_turn(v, at, !step);
            any = any || v->active[at]->running;
        }
        if (!any) break;
        SK_TRY(sk_progress(v->ctx, "diffusion problem", -1));
    }
    for (size_t at = begin; at < end; at++) SK_TRY(extend(v, at));
    return SOCK_OK;
}

sock_status sk_level_directions(sk_level *v)
{
    double start = sk_seconds();
    size_t workers = (size_t)sk_workers(v->ctx);
    SK_TRY(sk_level_each(v, kappa_of_part));
    SK_TRY(sk_psd_alone(v->ctx, factorise, v));
    SK_TRY(sk_parallel_for(v->ctx, v->count, (v->count + workers - 1) / workers, cg, v));
    v->effort.linear += sk_seconds() - start;
    return SOCK_OK;
}
