/* levels.c - Newton's method for large matrices (pd of hundreds and more), by levels of principal features.
 *
 * In the coordinates x (pairs x q) with the dual point y = (2/n)(B x - z), only G = B'B and c = B'z enter:
 *
 *     S = (2/n) T(c - G x),  Q = S_+ / (2 lambda),  rho = P Q - x  (zero at the solution),  gap = rho' G rho / n,
 *     J = (x'G x - z'z)/n + |S_+|^2 / (4 lambda),   Newton: (I + K G/(n lambda)) dx = rho,  K = P dPi T,
 *
 * T and P being unpack and pack. Along a line S is linear in the step, so a line search needs no products.
 *
 *   1. Features are sorted by energy, pairs by their larger index: the leading p' features are a problem of their own,
 *      with the leading columns, that costs (p'/p)^3. Levels p' = 24, 48, ..., p; on the first, lambda comes down by
 *      decades from where a cold start is safe; each level starts from the one before, padded with zeros.
 *   2. At each level: S, its eigendecomposition, Q, rho. Stop when the gap is small: 1e-4 below the last level.
 *   3. H = pairs whose entry on the diagonal of G exceeds eps n lambda (a hyperbolic cross: a few hundred of
 * thousands). In the Newton system G is replaced by its block on H. That only changes the rate: residuals are exact.
 *   4. Preconditioner: K by a diagonal kappa, the mean over the blocks of (U o U) Omega (U o U)', so that one Cholesky
 *      factor of G_HH + n lambda diag(1/kappa) serves all blocks. Conjugate gradients in the inner product of G; G
 * times the preconditioned residual is n lambda (r - zeta)/kappa and costs nothing. K in single precision: the
 * direction is only wanted to a few per cent.
 *   5. dx outside H from one more K; one exact product G dx; Armijo on J.
 *   6. At the end the certificate, with the full operator in double precision. If it disappoints, the tolerance and eps
 *      are tightened, the products go to double precision, and the last level goes on.
 *
 * Cost per Newton step: one eigendecomposition of size p'd, one product of 4 n q pairs flop; per step of conjugate
 * gradients 8 (p'd)^2 min(r, p'd - r) + 2 h^2 pairs. */
#include "panels.h"

#include <math.h>
#include <string.h>

enum { COARSEST = 24, CG_MOST = 200, HALVINGS = 30, SLOW = 8, EXACT_PAIRS = 400 };
static const double KAPPA_FLOOR = 0.003, COLD_LAMBDA = 1e-3, LEVEL_TOLERANCE = 1e-4;

/* Everything for one level at one lambda; arrays are sized for the last level once. */
typedef struct level {
    sock_context *ctx;
    const sk_psd_prepared *prepared;
    sk_psd_panels *panels;
    sk_psd_inner *full;
    sk_psd_effort *effort;
    size_t n, d, pairs, p, q, D;
    double lambda, eps;
    bool single;
    unsigned *first, *second; /* all pairs, in order */
    double *c_all, *c;        /* pairs x q: of the last level, of this one */
    double *x, *gx, *rho, *dx, *gdx, *sigma;
    /* S at x and at a trial */
    double *e, *values, *e_trial, *values_trial, *q_matrix;
    size_t positive;
    double objective, gap;
    /* The cross H */
    size_t h;
    unsigned *h_first, *h_second;
    size_t *h_place;
    double *g, *factor, *w;                 /* h x h, h x h, h: n lambda / kappa */
    double *r, *zeta, *gzeta, *v, *gv, *av; /* pairs x h */
    /* K in single precision */
    float *e32, *m32, *t32, *u32;
} level;

static void level_clear(level *v)
{
    void *const all[] = {v->first,    v->second,  v->c_all,    v->c,       v->x,      v->gx,      v->rho,
                         v->dx,       v->gdx,     v->sigma,    v->e,       v->values, v->e_trial, v->values_trial,
                         v->q_matrix, v->h_first, v->h_second, v->h_place, v->g,      v->factor,  v->w,
                         v->r,        v->zeta,    v->gzeta,    v->v,       v->gv,     v->av,      v->e32,
                         v->m32,      v->t32,     v->u32};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
    sk_psd_panels_free(v->panels);
}

static sock_status level_new(level *v)
{
    size_t p = v->prepared->p, q = p * (p + 1) / 2, D = p * v->d, length = v->pairs * q;
    double **const vectors[] = {&v->c_all, &v->c, &v->x, &v->gx, &v->rho, &v->dx, &v->gdx, &v->sigma};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = sk_doubles(v->ctx, length, 1))) return SOCK_ENOMEM;
    double **const matrices[] = {&v->e, &v->e_trial, &v->q_matrix};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        if (!(*matrices[i] = sk_doubles(v->ctx, D, D))) return SOCK_ENOMEM;
    float **const singles[] = {&v->e32, &v->m32, &v->t32, &v->u32};
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        if (!(*singles[i] = sk_alloc(v->ctx, D * D, sizeof(float)))) return SOCK_ENOMEM;
    v->values = sk_doubles(v->ctx, D, 1);
    v->values_trial = sk_doubles(v->ctx, D, 1);
    v->first = sk_alloc(v->ctx, q, sizeof *v->first);
    v->second = sk_alloc(v->ctx, q, sizeof *v->second);
    if (!v->values || !v->values_trial || !v->first || !v->second) return SOCK_ENOMEM;
    for (size_t b = 0, j = 0; b < p; b++)
        for (size_t a = 0; a <= b; a++, j++) {
            v->first[j] = (unsigned)a;
            v->second[j] = (unsigned)b;
        }
    return sk_psd_panels_new(v->ctx, v->prepared, v->pairs, &v->panels);
}

/* ---- Step 2 ---- */

/* Eigendecomposition of S for gx into e, values; the objective. */
static sock_status split(level *v, const double *gx, double xgx, double *e, double *values, double *objective)
{
    double start = sk_seconds(), scale = 2 / (double)v->n, s2 = 0;
    for (size_t i = 0; i < v->pairs * v->q; i++) v->sigma[i] = scale * (v->c[i] - gx[i]);
    sk_psd_unpack(v->p, v->d, v->q, v->first, v->second, v->sigma, e);
    SK_TRY(sk_eigen_solve(v->ctx, v->full->eigen, v->D, e, v->D, values));
    for (size_t i = 0; i < v->D; i++)
        if (values[i] > 0) s2 += values[i] * values[i];
    *objective = xgx / (double)v->n + s2 / (4 * v->lambda);
    v->effort->eigen += sk_seconds() - start;
    v->effort->eigendecompositions++;
    return SOCK_OK;
}

static double dot(const level *v, const double *a, const double *b) { return sk_dot(v->pairs * v->q, a, b); }

/* rho = P Q - x from the eigendecomposition in e. */
static void residual(level *v)
{
    v->positive = 0;
    while (v->positive < v->D && v->values[v->D - 1 - v->positive] > 0) v->positive++;
    sk_psd_positive_part(v->ctx, v->D, v->e, v->values, v->positive, 1 / (2 * v->lambda), v->q_matrix);
    sk_psd_pack(v->p, v->d, v->q, v->first, v->second, v->q_matrix, v->rho);
    sk_axpy(v->pairs * v->q, -1, v->x, v->rho);
}

/* v->gap = rho' G rho / n with G on H. */
static void gap_on_cross(level *v)
{
    for (size_t pair = 0; pair < v->pairs; pair++)
        for (size_t j = 0; j < v->h; j++) v->r[pair * v->h + j] = v->rho[pair * v->q + v->h_place[j]];
    sk_gemm(v->ctx, SK_PLAIN, SK_PLAIN, v->pairs, v->h, v->h, 1, v->r, v->h, v->g, v->h, 0, v->av, v->h);
    v->gap = fmax(sk_dot(v->pairs * v->h, v->r, v->av), 0) / (double)v->n;
}

static sock_status measure(void *arg)
{
    residual(arg);
    gap_on_cross(arg);
    return SOCK_OK;
}

/* ---- Step 3 ---- */

static void cross_clear(level *v)
{
    void **const all[] = {(void **)&v->h_first, (void **)&v->h_second, (void **)&v->h_place, (void **)&v->g,
                          (void **)&v->factor,  (void **)&v->w,        (void **)&v->r,       (void **)&v->zeta,
                          (void **)&v->gzeta,   (void **)&v->v,        (void **)&v->gv,      (void **)&v->av};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sk_free(*all[i]);
        *all[i] = NULL;
    }
}

static sock_status cross_allocate(level *v)
{
    double **const vectors[] = {&v->r, &v->zeta, &v->gzeta, &v->v, &v->gv, &v->av};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = sk_doubles(v->ctx, v->pairs, v->h))) return SOCK_ENOMEM;
    v->g = sk_doubles(v->ctx, v->h, v->h);
    v->factor = sk_doubles(v->ctx, v->h, v->h);
    v->w = sk_doubles(v->ctx, v->h, 1);
    return v->g && v->factor && v->w ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status cross_new(level *v)
{
    double start = sk_seconds(), least = v->q <= EXACT_PAIRS ? 0 : v->eps * (double)v->n * v->lambda;
    cross_clear(v);
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
    v->effort->prepare += sk_seconds() - start;
    return SOCK_OK;
}

/* ---- Step 4 ---- */

/* kappa_ab = A Omega A' with A (p x D) the mean over blocks of the squared entries of the eigenvectors; then the factor
 * of G_HH + diag(n lambda / kappa). Omega is 1 between positive eigenvalues and v_i / (v_i - v_j) across zero. */
static sock_status precondition_new(void *arg)
{
    level *v = arg;
    size_t p = v->p, D = v->D, split_at = D - v->positive, r = v->positive;
    double *a = sk_doubles(v->ctx, p, D), *nu = sk_doubles(v->ctx, r, split_at), *m = sk_doubles(v->ctx, p, split_at),
           *kappa = sk_doubles(v->ctx, p, p), *sum = sk_doubles(v->ctx, p, 1);
    sock_status status = a && nu && m && kappa && sum ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    for (size_t j = 0; j < D; j++)
        for (size_t k = 0; k < v->d; k++)
            for (size_t b = 0; b < p; b++) {
                double entry = v->e[j * D + k * p + b];
                a[b * D + j] += entry * entry / (double)v->d;
            }
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < split_at; j++) {
            double top = v->values[split_at + i];
            nu[i * split_at + j] = top / (top - fmin(v->values[j], 0));
        }
    for (size_t b = 0; b < p; b++)
        for (size_t j = split_at; j < D; j++) sum[b] += a[b * D + j];
    sk_gemm(v->ctx, SK_PLAIN, SK_PLAIN, p, split_at, r, 1, a + split_at, D, nu, split_at, 0, m, split_at);
    sk_gemm(v->ctx, SK_PLAIN, SK_TRANSPOSED, p, p, split_at, 1, m, split_at, a, D, 0, kappa, p);
    memcpy(v->factor, v->g, v->h * v->h * sizeof *v->g);
    for (size_t j = 0; j < v->h; j++) {
        size_t f = v->h_first[j], s = v->h_second[j];
        double value = sum[f] * sum[s] + kappa[f * p + s] + kappa[s * p + f];
        v->w[j] = (double)v->n * v->lambda / fmax(value, KAPPA_FLOOR);
        v->factor[j * v->h + j] += v->w[j];
    }
    SK_GO(sk_cholesky(v->ctx, v->h, v->factor, v->h));
out:
    sk_free(a);
    sk_free(nu);
    sk_free(m);
    sk_free(kappa);
    sk_free(sum);
    return status;
}

/* zeta = (G + W)^-1 W r and G zeta = W (r - zeta), for pairs begin .. end. */
static sock_status precondition_pairs(void *arg, size_t begin, size_t end, int worker)
{
    level *v = arg;
    size_t h = v->h;
    double *zeta = v->zeta + begin * h;
    (void)worker;
    for (size_t pair = begin; pair < end; pair++)
        for (size_t j = 0; j < h; j++) v->zeta[pair * h + j] = v->w[j] * v->r[pair * h + j];
    sk_solve_lower_right(v->ctx, SK_TRANSPOSED, end - begin, h, v->factor, h, zeta, h);
    sk_solve_lower_right(v->ctx, SK_PLAIN, end - begin, h, v->factor, h, zeta, h);
    for (size_t pair = begin; pair < end; pair++)
        for (size_t j = 0; j < h; j++) {
            size_t e = pair * h + j;
            v->gzeta[e] = v->w[j] * (v->r[e] - v->zeta[e]);
        }
    return SOCK_OK;
}

static sock_status precondition(level *v)
{
    size_t share = (v->pairs + (size_t)sk_workers(v->ctx) - 1) / (size_t)sk_workers(v->ctx);
    return sk_parallel_for(v->ctx, v->pairs, share, precondition_pairs, v);
}

/* T in single precision: h entries a pair, both triangles of every block. */
static void unpack32(const level *v, const double *in, float *s)
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

/* out = P (M + M') for the listed entries. */
static void pack32(const level *v, size_t h, const unsigned *first, const unsigned *second, const float *m, double *out)
{
    size_t p = v->p, ld = v->D;
    for (size_t l = 0; l < v->d; l++)
        for (size_t k = 0; k <= l; k++, out += h) {
            double outer = k < l ? SK_ROOT_TWO : 1, mixed = outer * SK_ROOT_HALF;
            const float *upper = m + k * p * ld + l * p, *lower = m + l * p * ld + k * p;
            for (size_t j = 0; j < h; j++) {
                size_t a = first[j], b = second[j];
                double ab = (double)upper[a * ld + b] + (double)lower[b * ld + a];
                double ba = (double)upper[b * ld + a] + (double)lower[a * ld + b];
                out[j] = a == b ? outer * ab : mixed * (ab + ba);
            }
        }
}

/* K's products are cut by rows and by columns here, not inside BLAS: threads that are waited for asleep get along with
 * other work on the machine. */
typedef struct k_job {
    level *v;
    size_t begin, count, split_at; /* the side of the spectrum in use: rows begin .. begin+count-1 of e32 */
    bool complement;
} k_job;

enum { ROWS_AT_A_TIME = 64, COLUMNS_AT_A_TIME = 128 };

/* Rows of u = Omega o (block H E') E, each from its own row of the block. */
static sock_status k_rows(void *arg, size_t first, size_t last, int worker)
{
    const k_job *j = arg;
    level *v = j->v;
    size_t D = v->D, rows = last - first;
    const float *block = v->e32 + (j->begin + first) * D;
    float *u = v->u32 + first * D, *t = v->t32 + first * D;
    (void)worker;
    sk_gemm_f32(v->ctx, SK_PLAIN, SK_PLAIN, rows, D, D, 1, block, D, v->m32, D, 0, u, D);
    sk_gemm_f32(v->ctx, SK_PLAIN, SK_TRANSPOSED, rows, D, D, 1, u, D, v->e32, D, 0, t, D);
    for (size_t i = 0; i < rows; i++) {
        double vi = v->values[j->begin + first + i];
        for (size_t k = 0; k < D; k++) {
            double bottom = fabs(vi - v->values[k]);
            bool same = (k >= j->split_at) == !j->complement;
            t[i * D + k] *= (float)(same ? 0.5 : bottom > 0 ? fabs(vi) / bottom : 0);
        }
    }
    sk_gemm_f32(v->ctx, SK_PLAIN, SK_PLAIN, rows, D, D, 1, t, D, v->e32, D, 0, u, D);
    return SOCK_OK;
}

/* Columns of M = block' u, or of H/2 - block' u: M + M' is the answer. */
static sock_status k_columns(void *arg, size_t first, size_t last, int worker)
{
    const k_job *j = arg;
    level *v = j->v;
    size_t D = v->D;
    (void)worker;
    if (j->complement)
        for (size_t i = 0; i < D; i++)
            for (size_t k = first; k < last; k++) v->m32[i * D + k] *= 0.5f;
    sk_gemm_f32(v->ctx, SK_TRANSPOSED, SK_PLAIN, D, last - first, j->count, j->complement ? -1 : 1,
                v->e32 + j->begin * D, D, v->u32 + first, D, j->complement ? 1 : 0, v->m32 + first, D);
    return SOCK_OK;
}

/* out = P dPi T in, with the output on the given entries (H or all of them); `in` on H. */
static sock_status k_product(level *v, const double *in, size_t h, const unsigned *first, const unsigned *second,
                             double *out)
{
    size_t D = v->D, split_at = D - v->positive;
    bool complement = 2 * v->positive > D;
    k_job j = {.v = v,
               .begin = complement ? 0 : split_at,
               .count = complement ? split_at : v->positive,
               .split_at = split_at,
               .complement = complement};
    unpack32(v, in, v->m32);
    SK_TRY(sk_parallel_for(v->ctx, j.count, ROWS_AT_A_TIME, k_rows, &j));
    SK_TRY(sk_parallel_for(v->ctx, D, COLUMNS_AT_A_TIME, k_columns, &j));
    pack32(v, h, first, second, v->m32, out);
    return SOCK_OK;
}

/* Conjugate gradients for the part of dx on H, in v->dx (padded); v->gzeta is left holding G dx / (n lambda) on H. */
static sock_status cg(level *v, double forcing)
{
    size_t h = v->h, length = v->pairs * h;
    double inverse = 1 / ((double)v->n * v->lambda);
    double *dx = sk_doubles(v->ctx, v->pairs, h), *gdx = sk_doubles(v->ctx, v->pairs, h);
    sock_status status = dx && gdx ? SOCK_OK : SOCK_ENOMEM;
    if (status < 0) goto out;
    for (size_t pair = 0; pair < v->pairs; pair++)
        for (size_t j = 0; j < h; j++) v->r[pair * h + j] = v->rho[pair * v->q + v->h_place[j]];
    SK_GO(precondition(v));
    memcpy(v->v, v->zeta, length * sizeof *v->v);
    memcpy(v->gv, v->gzeta, length * sizeof *v->gv);
    double rz = sk_dot(length, v->r, v->gzeta), target = forcing * forcing * rz;
    for (int step = 0; step < CG_MOST && rz > target && rz > 0; step++) {
        SK_GO(k_product(v, v->gv, h, v->h_first, v->h_second, v->av));
        v->effort->cg_steps++;
        for (size_t i = 0; i < length; i++) v->av[i] = v->v[i] + inverse * v->av[i];
        double curvature = sk_dot(length, v->av, v->gv);
        if (!(curvature > 0)) break;
        double alpha = rz / curvature;
        sk_axpy(length, alpha, v->v, dx);
        sk_axpy(length, alpha, v->gv, gdx);
        sk_axpy(length, -alpha, v->av, v->r);
        SK_GO(precondition(v));
        double next = sk_dot(length, v->r, v->gzeta), beta = next / rz;
        for (size_t i = 0; i < length; i++) {
            v->v[i] = v->zeta[i] + beta * v->v[i];
            v->gv[i] = v->gzeta[i] + beta * v->gv[i];
        }
        rz = next;
        SK_GO(sk_progress(v->ctx, "diffusion problem", -1));
    }
    /* Step 5: everywhere dx = rho - K G dx / (n lambda); on H the solution itself. */
    SK_GO(k_product(v, gdx, v->q, v->first, v->second, v->dx));
    for (size_t i = 0; i < v->pairs * v->q; i++) v->dx[i] = v->rho[i] - inverse * v->dx[i];
    for (size_t pair = 0; pair < v->pairs; pair++)
        for (size_t j = 0; j < h; j++) v->dx[pair * v->q + v->h_place[j]] = dx[pair * h + j];
out:
    sk_free(dx);
    sk_free(gdx);
    return status;
}

/* ---- Step 5 ---- */

static sock_status product(level *v, const double *x, double *out)
{
    double start = sk_seconds();
    SK_TRY(sk_psd_panels_gram(v->ctx, v->panels, v->p, x, v->single, out));
    v->effort->products += sk_seconds() - start;
    v->effort->products_count++;
    return SOCK_OK;
}

/* x + tau dx with enough descent: x, gx, e, values, objective move there. */
static sock_status line_search(level *v, bool *moved)
{
    size_t length = v->pairs * v->q;
    SK_TRY(product(v, v->dx, v->gdx));
    double n = (double)v->n, slope = -2 / n * dot(v, v->rho, v->gdx), tau = 1;
    double xgx = dot(v, v->x, v->gx), cross = dot(v, v->x, v->gdx), dgd = dot(v, v->dx, v->gdx);
    double rounding = (v->single ? 1e-9 : 1e-14) * (1 + fabs(v->objective));
    *moved = false;
    for (int halving = 0; slope < 0 && halving < HALVINGS; halving++, tau /= 2) {
        double objective, xgx_trial = xgx + 2 * tau * cross + tau * tau * dgd;
        sk_axpy(length, tau, v->gdx, v->gx);
        SK_TRY(split(v, v->gx, xgx_trial, v->e_trial, v->values_trial, &objective));
        if (objective <= v->objective + 1e-4 * tau * slope + rounding) {
            sk_axpy(length, tau, v->dx, v->x);
            double *e = v->e, *values = v->values;
            v->e = v->e_trial, v->values = v->values_trial, v->e_trial = e, v->values_trial = values;
            v->objective = objective;
            *moved = true;
            return SOCK_OK;
        }
        sk_axpy(length, -tau, v->gdx, v->gx);
        if (-tau * slope < rounding) break;
    }
    return SOCK_OK;
}

/* Steps 2 to 5 at this level until the gap on the cross is below tolerance. */
static sock_status newton(level *v, double tolerance)
{
    bool moved = true;
    double first = 0;
    SK_TRY(split(v, v->gx, dot(v, v->x, v->gx), v->e, v->values, &v->objective));
    for (int step = 0;; step++) {
        SK_TRY(sk_psd_alone(v->ctx, measure, v));
        double gap = v->gap, primal = 1 - v->objective + gap; /* |z|^2 = n */
        if (step == 0) first = gap;
        if (gap <= tolerance * primal || !moved || sk_psd_exhausted(v->full)) return SOCK_OK;
        if (step && step % SLOW == 0 && v->eps > 0 && v->h < v->q) {
            v->eps = v->eps < 1e-6 ? 0 : 0.03 * v->eps;
            SK_TRY(cross_new(v));
        }
        double start = sk_seconds(), forcing = fmin(0.05, fmax(sqrt(sqrt(gap / first)), 0.02));
        for (size_t i = 0; i < v->D * v->D; i++) v->e32[i] = (float)v->e[i];
        SK_TRY(sk_psd_alone(v->ctx, precondition_new, v));
        SK_TRY(cg(v, forcing));
        v->effort->linear += sk_seconds() - start;
        SK_TRY(line_search(v, &moved));
    }
}

/* ---- Steps 1 and 6 ---- */

/* Opens the level of the leading p features: x is padded, c and gx are made. */
static sock_status enter(level *v, size_t p)
{
    size_t q = p * (p + 1) / 2, q_all = v->prepared->p * (v->prepared->p + 1) / 2;
    for (size_t pair = v->pairs; pair-- > 0;) { /* rows get longer: from the last one */
        memmove(v->x + pair * q, v->x + pair * v->q, v->q * sizeof *v->x);
        memset(v->x + pair * q + v->q, 0, (q - v->q) * sizeof *v->x);
    }
    for (size_t pair = 0; pair < v->pairs; pair++) memcpy(v->c + pair * q, v->c_all + pair * q_all, q * sizeof *v->c);
    v->p = p;
    v->q = q;
    v->D = p * v->d;
    v->single = q > EXACT_PAIRS;
    return cross_new(v);
}

/* The solution without the constraint: (G + n lambda) x = c, on the first level, where H is everything. */
static sock_status unconstrained(void *arg)
{
    level *v = arg;
    memcpy(v->factor, v->g, v->h * v->h * sizeof *v->g);
    for (size_t j = 0; j < v->h; j++) v->factor[j * v->h + j] += (double)v->n * v->lambda;
    SK_TRY(sk_cholesky(v->ctx, v->h, v->factor, v->h));
    memcpy(v->x, v->c, v->pairs * v->q * sizeof *v->x);
    sk_solve_lower_right(v->ctx, SK_TRANSPOSED, v->pairs, v->h, v->factor, v->h, v->x, v->h);
    sk_solve_lower_right(v->ctx, SK_PLAIN, v->pairs, v->h, v->factor, v->h, v->x, v->h);
    return SOCK_OK;
}

/* On the first level lambda comes down by decades. */
static sock_status first_level(level *v, size_t p, double tolerance)
{
    double goal = v->lambda;
    v->eps = 0;
    v->lambda = fmax(goal, COLD_LAMBDA);
    SK_TRY(enter(v, p));
    SK_TRY(sk_psd_alone(v->ctx, unconstrained, v));
    SK_TRY(product(v, v->x, v->gx));
    while (v->lambda > 2 * goal) {
        SK_TRY(newton(v, 1e-3));
        v->lambda = v->lambda > 20 * goal ? v->lambda / 10 : goal;
    }
    v->lambda = goal;
    return newton(v, tolerance);
}

/* The dual point of x in all rows, and the certificate there. */
static sock_status certify(level *v, const double *z, sk_psd_point *at)
{
    double start = sk_seconds();
    sk_psd_effort kept = *v->effort;
    SK_TRY(sk_psd_panels_rows(v->ctx, v->panels, v->p, v->x, at->y));
    sk_axpy(v->pairs * v->n, -1, z, at->y);
    sk_scale(v->pairs * v->n, 2 / (double)v->n, at->y);
    sk_psd_map through_phi = v->full->map, *map = &v->full->map;
    map->panels = v->panels; /* half the work of going through Phi and W, a hundredth when rows have many nodes */
    map->x = v->sigma;
    map->h = v->q;
    map->first = v->first;
    map->second = v->second;
    sock_status status = sk_psd_evaluate(v->ctx, v->full, at);
    *map = through_phi;
    if (status < 0) return status;
    *v->effort = kept; /* booked as certificate, not as work of the method */
    v->effort->certificate += sk_seconds() - start;
    return SOCK_OK;
}

static sock_status run(level *v, const double *z, sk_psd_point *at)
{
    size_t p_all = v->prepared->p, p = SK_MIN((size_t)COARSEST, p_all);
    if (p_all * 2 <= COARSEST * 3) p = p_all;
    double start = sk_seconds();
    SK_TRY(sk_psd_panels_columns(v->ctx, v->panels, p_all, z, v->c_all));
    v->effort->products += sk_seconds() - start;
    double tolerance = v->full->tolerance;
    SK_TRY(first_level(v, p, p == p_all ? 0.5 * tolerance : LEVEL_TOLERANCE));
    while (p < p_all) {
        p = p * 3 < p_all ? 2 * p : p_all;
        v->eps = 1e-2;
        SK_TRY(enter(v, p));
        SK_TRY(product(v, v->x, v->gx));
        SK_TRY(newton(v, p == p_all ? 0.5 * tolerance : fmax(LEVEL_TOLERANCE, tolerance)));
    }
    for (int attempt = 0; attempt < 4; attempt++) {
        SK_TRY(certify(v, z, at));
        if (sk_psd_done(v->full, at) || sk_psd_exhausted(v->full)) break;
        if (attempt == 3) break;
        tolerance *= 0.3;
        if (attempt || tolerance < 1e-8) {
            v->single = false;
            SK_TRY(product(v, v->x, v->gx));
        }
        v->eps = attempt > 1 ? 0 : 0.1 * v->eps;
        SK_TRY(cross_new(v));
        SK_TRY(newton(v, 0.5 * tolerance));
    }
    return sk_psd_done(v->full, at) ? SOCK_OK : SOCK_NOT_CONVERGED;
}

sock_status sk_psd_levels(sock_context *ctx, const sk_psd_prepared *prepared, sk_psd_inner *full, sk_psd_point *point)
{
    level v = {.ctx = ctx,
               .prepared = prepared,
               .full = full,
               .effort = full->effort,
               .n = prepared->n,
               .d = full->map.d,
               .pairs = full->map.pairs,
               .lambda = full->lambda};
    sock_status status = level_new(&v);
    if (status >= 0) status = run(&v, full->t, point);
    level_clear(&v);
    return status;
}
