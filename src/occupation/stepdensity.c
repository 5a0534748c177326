/* stepdensity.c - the log density of many steps at once: eight of them side by side, one in each lane of a vector.
 *
 *   1. C = F A F' + eps I, lower triangle.
 *   2. C = L D L': no roots; a pivot that is not positive marks the step.
 *   3. log det C = sum log D, |e|^2 in C^-1 and tr C^-1 by forward substitution with L.
 *   4. The inverse, where it is asked for: L^-T D^-1 L^-1.
 *
 * In one dimension each is a few operations, and the compiler puts them side by side.
 *
 * Cost for a step: 2 d^3 for C (d^2 where A is diagonal) and d^3/2 for the rest; in scalar code the matrices of d = 10
 * are too small for a processor to be busy. A lane never looks at its neighbours, so a step's number does not depend on
 * who stands beside it. */
#include "occupation/view.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, AT_ONCE = 256 };

typedef double lane __attribute__((vector_size(LANES * sizeof(double)), aligned(LANES * sizeof(double))));

size_t sk_scores_space(size_t d) { return LANES * (4 * d * d + 4 * d + 1); }

typedef struct job {
    const sk_view *v;
    const double *e, *integral; /* row i of all steps; e NULL: 0 */
    double floor, least;        /* on the diagonal of A: floor h, and what no row has less of */
    double *score;              /* row 0 is step begin */
    double *inverse;            /* row i of all steps, or NULL */
    size_t begin, end;
} job;

/* Where things stand in the work space. */
typedef struct table {
    lane *left, *a, *c, *l;         /* d x d */
    lane *pivot, *weight, *v, *res; /* d: D, 1 / D, work, residuals */
    lane *sum;                      /* 1 */
} table;

static table table_of(size_t d, double *space)
{
    lane *base = (lane *)(void *)space;
    table t = {.left = base, .a = base + d * d, .c = base + 2 * d * d, .l = base + 3 * d * d};
    t.pivot = base + 4 * d * d;
    t.weight = t.pivot + d;
    t.v = t.weight + d;
    t.res = t.v + d;
    t.sum = t.res + d;
    return t;
}

/* Steps first .. first+LANES-1 into lanes; beyond the end the last step once more. Answers whether every A is diagonal.
 */
static bool load(const job *w, size_t first, const table *t)
{
    size_t d = w->v->d, d2 = d * d;
    bool diagonal = true;
    for (size_t s = 0; s < LANES; s++) {
        size_t i = SK_MIN(first + s, w->end - 1);
        const double *left = w->v->left + i * d2, *a = w->integral + i * d2;
        double floor = w->floor * w->v->h[i] + w->least;
        for (size_t k = 0; k < d2; k++) {
            bool own = k % (d + 1) == 0;
            t->left[k][s] = left[k];
            t->a[k][s] = a[k] + (own ? floor : 0);
            diagonal = diagonal && (own || a[k] == 0);
        }
        for (size_t k = 0; k < d; k++) t->res[k][s] = w->e ? w->e[i * d + k] : 0;
    }
    return diagonal;
}

/* Step 1: t->l is F A on the way. */
static inline __attribute__((always_inline)) void covariances(size_t d, double eps, bool diagonal, const table *t)
{
    for (size_t r = 0; r < d; r++)
        for (size_t k = 0; k < d; k++) {
            lane sum = t->left[r * d + k] * t->a[k * d + k];
            if (!diagonal) {
                sum = sum - sum;
                for (size_t j = 0; j < d; j++) sum += t->left[r * d + j] * t->a[j * d + k];
            }
            t->l[r * d + k] = sum;
        }
    for (size_t r = 0; r < d; r++)
        for (size_t k = 0; k <= r; k++) {
            lane sum = t->l[r * d] * t->left[k * d];
            for (size_t j = 1; j < d; j++) sum += t->l[r * d + j] * t->left[k * d + j];
            t->c[r * d + k] = r == k ? sum + eps : sum;
        }
}

/* Step 2: t->l is L, t->c is L D below the diagonal. */
static inline __attribute__((always_inline)) void factorise(size_t d, const table *t, bool *bad)
{
    for (size_t k = 0; k < d; k++) {
        for (size_t r = k; r < d; r++) {
            lane sum = t->c[r * d + k];
            for (size_t j = 0; j < k; j++) sum -= t->c[r * d + j] * t->l[k * d + j];
            t->c[r * d + k] = sum;
        }
        lane pivot = t->c[k * d + k];
        for (size_t s = 0; s < LANES; s++)
            if (!(pivot[s] > 0)) {
                bad[s] = true;
                pivot[s] = 1;
            }
        t->pivot[k] = pivot;
        t->weight[k] = 1 / pivot;
        for (size_t r = k + 1; r < d; r++) t->l[r * d + k] = t->c[r * d + k] * t->weight[k];
    }
}

/* Step 3: t->sum = e' C^-1 e + eps tr C^-1. t->a becomes L^-1 (lower, with its diagonal of ones). */
static inline __attribute__((always_inline)) void quadratics(size_t d, double eps, const table *t)
{
    lane sum = t->pivot[0] - t->pivot[0], zero = sum;
    for (size_t r = 0; r < d; r++) {
        lane v = t->res[r];
        for (size_t j = 0; j < r; j++) v -= t->l[r * d + j] * t->v[j];
        t->v[r] = v;
        sum += v * v * t->weight[r];
    }
    for (size_t col = 0; col < d; col++)
        for (size_t r = col; r < d; r++) {
            lane v = r == col ? zero + 1 : zero;
            for (size_t j = col; j < r; j++) v -= t->l[r * d + j] * t->a[j * d + col];
            t->a[r * d + col] = v;
            sum += eps * (v * v * t->weight[r]);
        }
    *t->sum = sum;
}

/* Step 4, into both triangles of t->c. */
static inline __attribute__((always_inline)) void inverses(size_t d, const table *t)
{
    for (size_t r = 0; r < d; r++)
        for (size_t k = 0; k <= r; k++) {
            lane sum = t->a[r * d + r] * t->a[r * d + k] * t->weight[r];
            for (size_t m = r + 1; m < d; m++) sum += t->a[m * d + r] * t->a[m * d + k] * t->weight[m];
            t->c[r * d + k] = t->c[k * d + r] = sum;
        }
}

static inline __attribute__((always_inline)) void compute(const job *w, bool diagonal, const table *t, bool *bad)
{
    size_t d = w->v->d;
    covariances(d, w->v->spec.eps, diagonal, t);
    factorise(d, t, bad);
    quadratics(d, w->v->spec.eps, t);
    if (w->inverse) inverses(d, t);
}

static void compute_plain(const job *w, bool diagonal, const table *t, bool *bad) { compute(w, diagonal, t, bad); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void compute_avx2(const job *w, bool diagonal, const table *t, bool *bad)
{
    compute(w, diagonal, t, bad);
}

__attribute__((target("avx512f"))) static void compute_avx512(const job *w, bool diagonal, const table *t, bool *bad)
{
    compute(w, diagonal, t, bad);
}
#endif

static void store(const job *w, size_t first, const table *t, const bool *bad)
{
    size_t d = w->v->d, d2 = d * d;
    double *log_pivot = (double *)t->pivot;
    sk_vlog(LANES * d, log_pivot, log_pivot);
    for (size_t s = 0; s < LANES && first + s < w->end; s++) {
        double log_det = 0;
        for (size_t k = 0; k < d; k++) log_det += log_pivot[k * LANES + s];
        double value = -0.5 * ((double)d * log(6.283185307179586) + log_det + (*t->sum)[s]);
        w->score[first + s - w->begin] = bad[s] ? -(double)INFINITY : w->v->spec.density + value;
        for (size_t k = 0; w->inverse && k < d2; k++) w->inverse[(first + s) * d2 + k] = t->c[k][s];
    }
}

/* ---- One dimension ---- */

/* Steps first .. end-1 of the job, at most AT_ONCE: the operations of compute(), in their order, without the lanes. */
static void some_scalars(const job *w, size_t first, size_t end)
{
    const sk_view *v = w->v;
    const double eps = v->spec.eps, constant = log(6.283185307179586);
    double pivot[AT_ONCE] = {0}, sum[AT_ONCE];
    bool good[AT_ONCE];
    const size_t n = end - first, whole = (n + LANES - 1) / LANES * LANES;
    for (size_t s = 0; s < n; s++) {
        const size_t i = first + s;
        const double left = v->left[i], e = w->e ? w->e[i] : 0;
        const double c = left * (w->integral[i] + (w->floor * v->h[i] + w->least)) * left + eps;
        good[s] = c > 0;
        pivot[s] = good[s] ? c : 1;
        const double inverse = 1 / pivot[s];
        sum[s] = e * e * inverse + eps * inverse;
        if (w->inverse) w->inverse[i] = inverse;
    }
    for (size_t s = n; s < whole; s++) pivot[s] = 1;
    sk_vlog(whole, pivot, pivot);
    for (size_t s = 0; s < n; s++) {
        const double value = v->spec.density + -0.5 * (constant + pivot[s] + sum[s]);
        w->score[first + s - w->begin] = good[s] ? value : -(double)INFINITY;
    }
}

static void run_scalars(const job *w)
{
    for (size_t i = w->begin; i < w->end; i += AT_ONCE) some_scalars(w, i, SK_MIN(i + AT_ONCE, w->end));
}

/* ---- Any dimension ---- */

static void run(const job *w, double *space)
{
    if (w->v->d == 1) {
        run_scalars(w);
        return;
    }
    table t = table_of(w->v->d, space);
    void (*widest)(const job *, bool, const table *, bool *) = compute_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        widest = compute_avx512;
    else if (__builtin_cpu_supports("avx2"))
        widest = compute_avx2;
#endif
    for (size_t i = w->begin; i < w->end; i += LANES) {
        bool bad[LANES] = {false}, diagonal = load(w, i, &t);
        widest(w, diagonal, &t, bad);
        store(w, i, &t, bad);
    }
}

void sk_view_scores(const sk_view *v, size_t begin, size_t end, const double *e, const double *integral, double floor,
                    double *score, double *space)
{
    run(&(job){.v = v, .e = e, .integral = integral, .floor = floor, .score = score, .begin = begin, .end = end},
        space);
}

void sk_view_inverses(const sk_view *v, size_t begin, size_t end, double *offset, double *inverse, double *space)
{
    const double least = SK_JUDGE_SHARE * v->typical->mean;
    run(&(job){.v = v,
               .integral = v->integral,
               .least = least,
               .score = offset,
               .inverse = inverse,
               .begin = begin,
               .end = end},
        space);
}

void sk_view_quick_scores(const sk_view *v, size_t begin, size_t end, size_t stride, const double *e, double *score)
{
    const size_t d = v->d;
    for (size_t i = begin; i < end; i++, e += stride) {
        const double *inverse = v->inverse + i * d * d;
        double quadratic = 0;
        for (size_t k = 0; k < d; k++) {
            double sum = 0;
            for (size_t l = 0; l < d; l++) sum += inverse[k * d + l] * e[l];
            quadratic += sum * e[k];
        }
        score[i - begin] = v->offset[i] - 0.5 * quadratic;
    }
}

/* The same numbers for a diagonal C, in d steps instead of d^3. */
static double diagonal_density(size_t d, const double *c, const double *e, double eps)
{
    double logdet = 0, quadratic = 0;
    for (size_t k = 0; k < d; k++) {
        const double own = c[k * (d + 1)], v = e[k] / sqrt(own);
        if (!(own > 0)) return -(double)INFINITY;
        logdet += log(own);
        quadratic += v * v;
    }
    for (size_t k = 0; eps > 0 && k < d; k++) {
        const double v = 1 / sqrt(c[k * (d + 1)]);
        quadratic += eps * v * v;
    }
    return -0.5 * ((double)d * log(6.283185307179586) + logdet + quadratic);
}

double sk_log_density(size_t d, const double *c, const double *e, double eps, double *space)
{
    if (sk_is_diagonal(d, c)) return diagonal_density(d, c, e, eps);
    double *l = space, *v = space + d * d;
    double logdet = 0, quadratic = 0;
    for (size_t k = 0; k < d; k++)
        for (size_t r = k; r < d; r++) {
            double sum = c[r * d + k];
            for (size_t j = 0; j < k; j++) sum -= l[r * d + j] * l[k * d + j];
            if (r == k && !(sum > 0)) return -(double)INFINITY;
            l[r * d + k] = r == k ? sqrt(sum) : sum / l[k * d + k];
            if (r == k) logdet += log(sum);
        }
    for (size_t r = 0; r < d; r++) { /* |L^-1 e|^2 */
        double sum = e[r];
        for (size_t j = 0; j < r; j++) sum -= l[r * d + j] * v[j];
        v[r] = sum / l[r * d + r];
        quadratic += v[r] * v[r];
    }
    for (size_t col = 0; eps > 0 && col < d; col++) /* eps tr C^-1 = eps |L^-1|^2 */
        for (size_t r = col; r < d; r++) {
            double sum = r == col;
            for (size_t j = col; j < r; j++) sum -= l[r * d + j] * v[j];
            v[r] = sum / l[r * d + r];
            quadratic += eps * v[r] * v[r];
        }
    return -0.5 * ((double)d * log(6.283185307179586) + logdet + quadratic);
}
