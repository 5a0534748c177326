/* levels.c - Newton's method for large matrices (pd of hundreds and more), by levels of principal features.
 *
 * In the coordinates x (pairs x q) with the dual point y = (2/n)(B x - z), only G = B'B and c = B'z enter:
 *
 *     S = (2/n) T(c - G x),  Q = S_+ / (2 lambda),  rho = P Q - x  (zero at the solution),  gap = rho' G rho / n,
 *     J = (x'G x - z'z)/n + |S_+|^2 / (4 lambda),   Newton: (I + K G/(n lambda)) dx = rho,  K = P dPi T,
 *
 * T and P being unpack and pack. Along a line S is linear in the step, so a line search needs no products.
 *
 * Several problems over the same rows (the coordinates of a diagonal a) are solved together: G, its block on H and the
 * passes over the rows are shared, everything else (S, K, steps, stopping, certificate) is each one's own; those that
 * have arrived drop out.
 *
 *   1. Features are sorted by energy, pairs by their larger index: the leading p' features are a problem of their own,
 *      with the leading columns, that costs (p'/p)^3. Levels p' = 24, 48, ..., p; on the first, lambda comes down by
 *      decades from where a cold start is safe; each level starts from the one before, padded with zeros.
 *   2. At each level: S, its eigendecomposition, Q, rho. Stop when the gap is small: 1e-4 below the last level.
 *   3. H = pairs whose entry on the diagonal of G exceeds eps n lambda (a hyperbolic cross: a few hundred of
 *      thousands). In the Newton system G is replaced by its block on H. That only changes the rate: residuals are
 *      exact.
 *   4. The direction by preconditioned conjugate gradients: levelsystem.c.
 *   5. One exact product G dx; Armijo on J.
 *   6. At the end the certificate, with the full operator in double precision. If it disappoints, the tolerance and eps
 *      are tightened, the products go to double precision, and the last level goes on.
 *
 * Cost per Newton step: one eigendecomposition of size p'd, one product of 4 n q pairs flop, and step 4. */
#include "levels.h"

#include <math.h>
#include <string.h>

enum { COARSEST = 24, HALVINGS = 30, SLOW = 8, EXACT_PAIRS = 400 };
static const double COLD_LAMBDA = 1e-3, LEVEL_TOLERANCE = 1e-4;

/* ---- Work space ---- */

static void part_clear(sk_part *part)
{
    void *const all[] = {part->c_all,  part->c,     part->x,       part->gx,           part->e,
                         part->values, part->kappa, part->e_trial, part->values_trial, part->q_matrix,
                         part->e32,    part->m32,   part->t32,     part->u32};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
}

static void level_clear(sk_level *v)
{
    sk_level_cross_clear(v);
    for (size_t i = 0; v->part && i < v->parts; i++) part_clear(&v->part[i]);
    void *const all[] = {v->part, v->active, v->first, v->second, v->rho, v->dx, v->gdx, v->y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
    sk_psd_panels_free(v->panels);
}

static sock_status part_new(const sk_level *v, sk_part *part)
{
    size_t p = v->prepared->p, length = v->pairs * (p * (p + 1) / 2), D = p * v->d;
    double **const vectors[] = {&part->c_all, &part->c, &part->x, &part->gx};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = sk_doubles(v->ctx, length, 1))) return SOCK_ENOMEM;
    double **const matrices[] = {&part->e, &part->e_trial, &part->q_matrix};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        if (!(*matrices[i] = sk_doubles(v->ctx, D, D))) return SOCK_ENOMEM;
    float **const singles[] = {&part->e32, &part->m32, &part->t32, &part->u32};
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        if (!(*singles[i] = sk_alloc(v->ctx, D * D, sizeof(float)))) return SOCK_ENOMEM;
    part->values = sk_doubles(v->ctx, D, 1);
    part->values_trial = sk_doubles(v->ctx, D, 1);
    part->kappa = sk_doubles(v->ctx, p, p);
    return part->values && part->values_trial && part->kappa ? SOCK_OK : SOCK_ENOMEM;
}

static sock_status level_new(sk_level *v, sk_psd_inner *const *full, sk_psd_point *const *point)
{
    size_t p = v->prepared->p, q = p * (p + 1) / 2, columns = v->parts * v->pairs;
    v->part = sk_alloc(v->ctx, v->parts, sizeof *v->part);
    v->active = sk_alloc(v->ctx, v->parts, sizeof *v->active);
    v->rho = sk_doubles(v->ctx, columns, q);
    v->dx = sk_doubles(v->ctx, columns, q);
    v->gdx = sk_doubles(v->ctx, columns, q);
    v->y = sk_doubles(v->ctx, columns, v->n);
    v->first = sk_alloc(v->ctx, q, sizeof *v->first);
    v->second = sk_alloc(v->ctx, q, sizeof *v->second);
    if (!v->part || !v->active || !v->rho || !v->dx || !v->gdx || !v->y || !v->first || !v->second) return SOCK_ENOMEM;
    for (size_t i = 0; i < v->parts; i++) {
        v->part[i].full = full[i];
        v->part[i].at = point[i];
        SK_TRY(part_new(v, &v->part[i]));
    }
    for (size_t b = 0, j = 0; b < p; b++)
        for (size_t a = 0; a <= b; a++, j++) {
            v->first[j] = (unsigned)a;
            v->second[j] = (unsigned)b;
        }
    return sk_psd_panels_new(v->ctx, v->prepared, columns, &v->panels);
}

/* ---- The active parts ---- */

typedef struct each_job {
    sk_level *v;
    sk_part_fn fn;
} each_job;

static sock_status each_range(void *arg, size_t begin, size_t end, int worker)
{
    const each_job *j = arg;
    (void)worker;
    for (size_t at = begin; at < end; at++) SK_TRY(j->fn(j->v, at));
    return SOCK_OK;
}

static sock_status each_alone(void *arg) { return each_range(arg, 0, 1, 0); }

sock_status sk_level_each(sk_level *v, sk_part_fn fn)
{
    each_job j = {v, fn};
    return v->count == 1 ? sk_psd_alone(v->ctx, each_alone, &j) : sk_parallel_for(v->ctx, v->count, 1, each_range, &j);
}

static void activate_unfinished(sk_level *v)
{
    v->count = 0;
    for (size_t i = 0; i < v->parts; i++)
        if (!v->part[i].finished) v->active[v->count++] = &v->part[i];
}

/* Leaves out active[at]; what stands side by side moves up. Only rho matters between steps. */
static void drop(sk_level *v, size_t at)
{
    size_t length = v->pairs * v->q, behind = --v->count - at;
    memmove(v->active + at, v->active + at + 1, behind * sizeof(sk_part *));
    memmove(v->rho + at * length, v->rho + (at + 1) * length, behind * length * sizeof *v->rho);
}

/* gdx = G dx where H is everything, so that G is known. */
static sock_status by_gram(void *arg)
{
    sk_level *v = arg;
    sk_gemm(v->ctx, SK_PLAIN, SK_PLAIN, v->count * v->pairs, v->q, v->q, 1, v->dx, v->q, v->g, v->q, 0, v->gdx, v->q);
    return SOCK_OK;
}

/* gdx = G dx, by the rows or by G itself, whichever is less work. */
static sock_status product(sk_level *v)
{
    double start = sk_seconds();
    sk_psd_shape shape = {v->p, v->count * v->pairs};
    if (v->h < v->q || v->q > 2 * v->n)
        SK_TRY(sk_psd_panels_gram(v->ctx, v->panels, shape, v->dx, v->single, v->gdx));
    else
        SK_TRY(v->q <= EXACT_PAIRS ? sk_psd_alone(v->ctx, by_gram, v) : by_gram(v));
    for (size_t at = 0; at < v->count; at++) v->active[at]->products_count++;
    v->effort.products += sk_seconds() - start;
    return SOCK_OK;
}

/* gx of the active parts anew from x. */
static sock_status product_of_x(sk_level *v)
{
    size_t length = v->pairs * v->q;
    for (size_t at = 0; at < v->count; at++) memcpy(v->dx + at * length, v->active[at]->x, length * sizeof *v->dx);
    SK_TRY(product(v));
    for (size_t at = 0; at < v->count; at++) memcpy(v->active[at]->gx, v->gdx + at * length, length * sizeof *v->dx);
    return SOCK_OK;
}

/* ---- Step 2 ---- */

static double dot(const sk_level *v, const double *a, const double *b) { return sk_dot(v->pairs * v->q, a, b); }

/* Eigendecomposition of S at part->gx into e, values; the objective. work: pairs x q. */
static sock_status split(const sk_level *v, sk_part *part, double xgx, double *work, double *e, double *values,
                         double *objective)
{
    double scale = 2 / (double)v->n, s2 = 0;
    for (size_t i = 0; i < v->pairs * v->q; i++) work[i] = scale * (part->c[i] - part->gx[i]);
    sk_psd_unpack(v->p, v->d, v->q, v->first, v->second, work, e);
    SK_TRY(sk_eigen_solve(v->ctx, part->full->eigen, v->D, e, v->D, values));
    for (size_t i = 0; i < v->D; i++)
        if (values[i] > 0) s2 += values[i] * values[i];
    *objective = xgx / (double)v->n + s2 / (4 * v->lambda);
    part->eigendecompositions++;
    return SOCK_OK;
}

static sock_status begin(sk_level *v, size_t at)
{
    sk_part *part = v->active[at];
    part->moved = true;
    return split(v, part, dot(v, part->x, part->gx), v->rho + at * v->pairs * v->q, part->e, part->values,
                 &part->objective);
}

/* rho = P Q - x from the eigendecomposition in e; gap = rho' G rho / n with G on H. */
static sock_status measure(sk_level *v, size_t at)
{
    sk_part *part = v->active[at];
    size_t h = v->h, D = v->D;
    double *rho = v->rho + at * v->pairs * v->q, *r = v->r + at * v->pairs * h, *gr = v->av + at * v->pairs * h;
    part->positive = 0;
    while (part->positive < D && part->values[D - 1 - part->positive] > 0) part->positive++;
    sk_psd_positive_part(v->ctx, D, part->e, part->values, part->positive, 1 / (2 * v->lambda), part->q_matrix);
    sk_psd_pack(v->p, v->d, v->q, v->first, v->second, part->q_matrix, rho);
    sk_axpy(v->pairs * v->q, -1, part->x, rho);
    sk_level_restrict(v, v->pairs, rho, r);
    sk_gemm(v->ctx, SK_PLAIN, SK_PLAIN, v->pairs, h, h, 1, r, h, v->g, h, 0, gr, h);
    part->gap = fmax(sk_dot(v->pairs * h, r, gr), 0) / (double)v->n;
    return SOCK_OK;
}

static sock_status timed_each(sk_level *v, sk_part_fn fn)
{
    double start = sk_seconds();
    SK_TRY(sk_level_each(v, fn));
    v->effort.eigen += sk_seconds() - start;
    return SOCK_OK;
}

/* ---- Step 5 ---- */

/* x + tau dx with enough descent: x, gx, e, values, objective move there. */
static sock_status line_search(sk_level *v, size_t at)
{
    sk_part *part = v->active[at];
    size_t length = v->pairs * v->q;
    double *rho = v->rho + at * length;
    const double *dx = v->dx + at * length, *gdx = v->gdx + at * length;
    double n = (double)v->n, slope = -2 / n * dot(v, rho, gdx), tau = 1;
    double xgx = dot(v, part->x, part->gx), cross = dot(v, part->x, gdx), dgd = dot(v, dx, gdx);
    double rounding = (v->single ? 1e-9 : 1e-14) * (1 + fabs(part->objective));
    part->moved = false;
    for (int halving = 0; slope < 0 && halving < HALVINGS; halving++, tau /= 2) {
        double objective, xgx_trial = xgx + 2 * tau * cross + tau * tau * dgd;
        sk_axpy(length, tau, gdx, part->gx);
        SK_TRY(split(v, part, xgx_trial, rho, part->e_trial, part->values_trial, &objective));
        if (objective <= part->objective + 1e-4 * tau * slope + rounding) {
            sk_axpy(length, tau, dx, part->x);
            double *e = part->e, *values = part->values;
            part->e = part->e_trial, part->values = part->values_trial;
            part->e_trial = e, part->values_trial = values;
            part->objective = objective;
            part->moved = true;
            return SOCK_OK;
        }
        sk_axpy(length, -tau, gdx, part->gx);
        if (-tau * slope < rounding) break;
    }
    return SOCK_OK;
}

/* Parts below the tolerance, stuck or out of budget leave the active ones. */
static void leave(sk_level *v, double tolerance)
{
    for (size_t at = v->count; at-- > 0;) {
        const sk_part *part = v->active[at];
        double primal = 1 - part->objective + part->gap; /* |z|^2 = n */
        if (part->gap <= tolerance * primal || !part->moved || sk_psd_exhausted(part->full)) drop(v, at);
    }
}

/* Steps 2 to 5 at this level until the gaps of the unfinished parts on the cross are below tolerance. */
static sock_status newton(sk_level *v, double tolerance)
{
    activate_unfinished(v);
    SK_TRY(timed_each(v, begin));
    for (int step = 0;; step++) {
        SK_TRY(timed_each(v, measure));
        for (size_t at = 0; step == 0 && at < v->count; at++) v->active[at]->first_gap = v->active[at]->gap;
        leave(v, tolerance);
        if (!v->count) return SOCK_OK;
        if (step && step % SLOW == 0 && v->eps > 0 && v->h < v->q) {
            v->eps = v->eps < 1e-6 ? 0 : 0.03 * v->eps;
            SK_TRY(sk_level_cross(v));
        }
        for (size_t at = 0; at < v->count; at++) {
            sk_part *part = v->active[at];
            part->forcing = fmin(0.05, fmax(sqrt(sqrt(part->gap / part->first_gap)), 0.02));
        }
        SK_TRY(sk_level_directions(v));
        SK_TRY(product(v));
        SK_TRY(timed_each(v, line_search));
    }
}

/* ---- Steps 1 and 6 ---- */

/* Opens the level of the leading p features: x is padded, c is made. */
static sock_status enter(sk_level *v, size_t p)
{
    size_t q = p * (p + 1) / 2, q_all = v->prepared->p * (v->prepared->p + 1) / 2;
    for (size_t i = 0; i < v->parts; i++) {
        sk_part *part = &v->part[i];
        for (size_t pair = v->pairs; pair-- > 0;) { /* rows get longer: from the last one */
            memmove(part->x + pair * q, part->x + pair * v->q, v->q * sizeof *part->x);
            memset(part->x + pair * q + v->q, 0, (q - v->q) * sizeof *part->x);
        }
        for (size_t pair = 0; pair < v->pairs; pair++)
            memcpy(part->c + pair * q, part->c_all + pair * q_all, q * sizeof *part->c);
    }
    v->p = p;
    v->q = q;
    v->D = p * v->d;
    v->single = q > EXACT_PAIRS;
    return sk_level_cross(v);
}

/* The start on the first level, where H is everything: (G + n lambda) x = c. */
static sock_status unconstrained(void *arg)
{
    sk_level *v = arg;
    size_t h = v->h;
    memcpy(v->factor, v->g, h * h * sizeof *v->g);
    for (size_t j = 0; j < h; j++) v->factor[j * h + j] += (double)v->n * v->lambda;
    SK_TRY(sk_cholesky(v->ctx, h, v->factor, h));
    for (size_t i = 0; i < v->parts; i++) {
        double *x = v->part[i].x;
        memcpy(x, v->part[i].c, v->pairs * h * sizeof *x);
        sk_solve_lower_right(v->ctx, SK_TRANSPOSED, v->pairs, h, v->factor, h, x, h);
        sk_solve_lower_right(v->ctx, SK_PLAIN, v->pairs, h, v->factor, h, x, h);
    }
    return SOCK_OK;
}

/* On the first level lambda comes down by decades. */
static sock_status first_level(sk_level *v, size_t p, double tolerance)
{
    double goal = v->lambda;
    v->eps = 0;
    v->lambda = fmax(goal, COLD_LAMBDA);
    SK_TRY(enter(v, p));
    SK_TRY(sk_psd_alone(v->ctx, unconstrained, v));
    activate_unfinished(v);
    SK_TRY(product_of_x(v));
    while (v->lambda > 2 * goal) {
        SK_TRY(newton(v, 1e-3));
        v->lambda = v->lambda > 20 * goal ? v->lambda / 10 : goal;
    }
    v->lambda = goal;
    return newton(v, tolerance);
}

/* y = (2/n)(B x - z), in all rows. */
static sock_status dual_point(sk_level *v, size_t at)
{
    sk_part *part = v->active[at];
    size_t length = v->pairs * v->n;
    double *y = v->y + at * length;
    sk_axpy(length, -1, part->full->t, y);
    sk_scale(length, 2 / (double)v->n, y);
    memcpy(part->at->y, y, length * sizeof *y);
    return SOCK_OK;
}

/* From R*(y) in gdx to Q, packed, in gdx. */
static sock_status certify_matrix(sk_level *v, size_t at)
{
    sk_part *part = v->active[at];
    double *packed = v->gdx + at * v->pairs * v->q;
    sk_psd_unpack(v->p, v->d, v->q, v->first, v->second, packed, part->at->e);
    SK_TRY(sk_psd_split(v->ctx, part->full, part->at));
    sk_psd_pack(v->p, v->d, v->q, v->first, v->second, part->at->q, packed);
    return SOCK_OK;
}

static sock_status certify_value(sk_level *v, size_t at)
{
    sk_part *part = v->active[at];
    memcpy(part->at->rq, v->y + at * v->pairs * v->n, v->pairs * v->n * sizeof *v->y);
    return sk_psd_measure(v->ctx, part->full, part->at);
}

/* The dual points of the unfinished parts in all rows and the certificates there, in double precision: as
 * sk_psd_evaluate, in three passes over the rows. Those that pass are finished. */
static sock_status certify(sk_level *v)
{
    double start = sk_seconds();
    activate_unfinished(v);
    size_t length = v->pairs * v->q;
    sk_psd_shape shape = {v->p, v->count * v->pairs};
    each_job matrices = {v, certify_matrix};
    for (size_t at = 0; at < v->count; at++) memcpy(v->dx + at * length, v->active[at]->x, length * sizeof *v->dx);
    SK_TRY(sk_psd_panels_rows(v->ctx, v->panels, shape, v->dx, v->y));
    SK_TRY(sk_level_each(v, dual_point));
    SK_TRY(sk_psd_panels_columns(v->ctx, v->panels, shape, v->y, v->gdx));
    SK_TRY(sk_parallel_for(v->ctx, v->count, 1, each_range, &matrices)); /* one large matrix: with all threads */
    SK_TRY(sk_psd_panels_rows(v->ctx, v->panels, shape, v->gdx, v->y));
    SK_TRY(sk_level_each(v, certify_value));
    for (size_t at = 0; at < v->count; at++) {
        sk_part *part = v->active[at];
        part->finished = sk_psd_done(part->full, part->at) || sk_psd_exhausted(part->full);
    }
    v->effort.certificate += sk_seconds() - start;
    return SOCK_OK;
}

/* Step 6: until every part is certified, or four times. */
static sock_status finish(sk_level *v, double tolerance)
{
    for (int attempt = 0;; attempt++) {
        SK_TRY(certify(v));
        activate_unfinished(v);
        if (!v->count || attempt == 3) return SOCK_OK;
        tolerance *= 0.3;
        if (attempt || tolerance < 1e-8) {
            v->single = false;
            SK_TRY(product_of_x(v));
        }
        v->eps = attempt > 1 ? 0 : 0.1 * v->eps;
        SK_TRY(sk_level_cross(v));
        SK_TRY(newton(v, 0.5 * tolerance));
    }
}

/* c = B'z of the last level. */
static sock_status right_sides(sk_level *v)
{
    size_t p = v->prepared->p, q = p * (p + 1) / 2, rows = v->pairs * v->n;
    double start = sk_seconds();
    for (size_t i = 0; i < v->parts; i++) memcpy(v->y + i * rows, v->part[i].full->t, rows * sizeof *v->y);
    SK_TRY(sk_psd_panels_columns(v->ctx, v->panels, (sk_psd_shape){p, v->parts * v->pairs}, v->y, v->gdx));
    for (size_t i = 0; i < v->parts; i++)
        memcpy(v->part[i].c_all, v->gdx + i * v->pairs * q, v->pairs * q * sizeof *v->gdx);
    v->effort.products += sk_seconds() - start;
    return SOCK_OK;
}

static sock_status run(sk_level *v, double tolerance)
{
    size_t p_all = v->prepared->p, p = SK_MIN((size_t)COARSEST, p_all);
    if (p_all * 2 <= COARSEST * 3) p = p_all;
    SK_TRY(right_sides(v));
    SK_TRY(first_level(v, p, p == p_all ? 0.5 * tolerance : LEVEL_TOLERANCE));
    while (p < p_all) {
        p = p * 3 < p_all ? 2 * p : p_all;
        v->eps = SK_LEVEL_EPS;
        SK_TRY(enter(v, p));
        activate_unfinished(v);
        SK_TRY(product_of_x(v));
        SK_TRY(newton(v, p == p_all ? 0.5 * tolerance : fmax(LEVEL_TOLERANCE, tolerance)));
    }
    return finish(v, tolerance);
}

/* Each part gets its own counts and its share of the seconds, which were spent on all together. */
static void book(const sk_level *v, const sk_psd_effort *before)
{
    double share = 1 / (double)v->parts;
    for (size_t i = 0; i < v->parts; i++) {
        const sk_part *part = &v->part[i];
        sk_psd_effort *effort = part->full->effort;
        *effort = before[i]; /* without what the certificate booked */
        effort->prepare += share * v->effort.prepare;
        effort->eigen += share * v->effort.eigen;
        effort->products += share * v->effort.products;
        effort->linear += share * v->effort.linear;
        effort->certificate += share * v->effort.certificate;
        effort->eigendecompositions += part->eigendecompositions;
        effort->products_count += part->products_count;
        effort->cg_steps += part->cg_steps;
    }
}

sock_status sk_psd_levels(sock_context *ctx, const sk_psd_prepared *prepared, size_t parts, sk_psd_inner *const *full,
                          sk_psd_point *const *point)
{
    sk_level v = {.ctx = ctx,
                  .prepared = prepared,
                  .n = prepared->n,
                  .d = full[0]->map.d,
                  .pairs = full[0]->map.pairs,
                  .parts = parts,
                  .lambda = full[0]->lambda};
    sk_psd_effort *before = sk_alloc(ctx, parts, sizeof *before);
    sock_status status = before ? level_new(&v, full, point) : SOCK_ENOMEM;
    if (status < 0) goto out;
    for (size_t i = 0; i < parts; i++) before[i] = *full[i]->effort;
    SK_GO(run(&v, full[0]->tolerance));
    book(&v, before);
    for (size_t i = 0; i < parts; i++)
        if (!sk_psd_done(full[i], point[i])) status = SOCK_NOT_CONVERGED;
out:
    level_clear(&v);
    sk_free(before);
    return status;
}
