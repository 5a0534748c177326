/* worklevels.c - the convex problem of the sums, all on the card. With y(x) = svec of S_+ / (2 lambda) and
 * S = (2/n) (c - G x), the dual problem is: minimise
 *
 *     J(x) = (<x, G x> - zz) / n + |S_+|^2 / (4 lambda),        P = (<y, G y> - 2 <c, y> + zz) / n + |S_+|^2 / (4
 * lambda),
 *
 * whose gradient vanishes where x = y, and gap = P + J.
 *
 *   1. Start: where the caller says; or the solution for the leading half of the axes of the features, which begins
 *      like problems of few features at (G + n lambda 1)^-1 c.
 *   2. Newton: (1 + K G / (n lambda)) dx = y - x, K the derivative of the projection between svecs, by conjugate
 * gradients in the inner product of G with n lambda (G + n lambda 1)^-1 in front; then halved until J falls.
 *   3. Until the gap is below the tolerance, or nothing falls any more.
 *
 * Cost of a step: an eigendecomposition of order pd, and four products of that order with 2 pairs q^2 for each of the
 * conjugate gradients. */
#define _POSIX_C_SOURCE 200809L
#include "work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_GRADIENTS = 200, MOST_HALVES = 14 };

/* Half of the features solve the problem first, unless there are fewer; to this gap, beyond which only all of them get
 * further. Speed only. */
enum { LEAST_FEATURES = 16 };
#define SOLVED_BY_FEW 3e-4

typedef struct point { /* x, and what follows */
    double *x, *gx, *y, *gy, *e, *mu;
    double objective, primal, gap;
} point;

typedef struct problem {
    card *card;
    engine *e;
    const sk_device_gram *of;
    size_t q, pairs, length, order;
    const double *g;
    double *own, *inverse, *c, *one, *two; /* own: g, where the sums are gone; one, two: of the order pd */
    double *r, *z, *gz, *v, *gv, *av, *dx;
    point at, next;
    double *host; /* eigenvalues */
    size_t steps, decompositions, gradients;
    double factor, eigen, directions; /* seconds */
} problem;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void list_arrays(problem *p, double **out[24], size_t count[24], size_t *n)
{
    const size_t len = p->length, square = p->q * p->q, wide = p->order * p->order, own = p->g ? 0 : square;
    double **const of_length[] = {&p->c,      &p->r,       &p->z,      &p->gz,     &p->v,    &p->gv,
                                  &p->av,     &p->dx,      &p->at.x,   &p->at.gx,  &p->at.y, &p->at.gy,
                                  &p->next.x, &p->next.gx, &p->next.y, &p->next.gy};
    double **const of_order[] = {&p->one, &p->two, &p->at.e, &p->next.e};
    *n = 0;
    for (size_t i = 0; i < 16; i++, (*n)++) out[*n] = of_length[i], count[*n] = len;
    for (size_t i = 0; i < 4; i++, (*n)++) out[*n] = of_order[i], count[*n] = wide;
    out[*n] = &p->own, count[(*n)++] = own;
    out[*n] = &p->inverse, count[(*n)++] = square;
    out[*n] = &p->at.mu, count[(*n)++] = p->order;
    out[*n] = &p->next.mu, count[(*n)++] = p->order;
}

static void close_problem(problem *p)
{
    double **list[24];
    size_t count[24], n;
    list_arrays(p, list, count, &n);
    for (size_t i = 0; i < n; i++) engine_free(p->e, *list[i]);
    free(p->host);
}

static double bytes_of(problem *p)
{
    double **list[24], bytes = 0;
    size_t count[24], n;
    list_arrays(p, list, count, &n);
    for (size_t i = 0; i < n; i++) bytes += 8.0 * (double)count[i];
    /* The eigendecomposition has work space of its own, and the inverse is made in another matrix. */
    return bytes + 8.0 * (3.0 * (double)p->order * (double)p->order + 1.1 * (double)p->q * (double)p->q) + 2e8;
}

/* Without c, nor a G of its own. */
static int open_problem(problem *p)
{
    double **list[24];
    size_t count[24], n;
    list_arrays(p, list, count, &n);
    for (size_t i = 0; i < n; i++) *list[i] = engine_new(p->e, count[i] * sizeof(double));
    p->host = malloc(p->order * sizeof *p->host);
    if (!p->host) return engine_fail(p->e, SK_DEVICE_MEMORY, "the host has no memory");
    if (!p->g) p->g = p->own;
    return engine_asked(p->e);
}

static void times_g(const problem *p, const double *x, double *out)
{
    engine_gemm(p->e, 0, 0, p->q, p->pairs, p->q, 1, p->g, p->q, x, p->q, 0, out, p->q);
}

static element_args matrix_of(const problem *p, double *m)
{
    element_args a = {.of.matrix = {.p = p->of->p, .d = p->of->d, .q = p->q, .scale = 1, .m = m}};
    return a;
}

/* Everything at x. */
static void evaluate(problem *p, point *at)
{
    const size_t order = p->order, wide = order * order;
    const double n = (double)p->of->n;
    element_args a = matrix_of(p, at->e);
    double q2 = 0;
    times_g(p, at->x, at->gx);
    a.of.matrix.v = p->c;
    a.of.matrix.minus = at->gx;
    a.of.matrix.scale = 2 / n;
    engine_each(p->e, EACH_UNPACK, wide, &a);
    engine_state(p->e);
    const double before = seconds();
    engine_eigen(p->e, order, at->e, at->mu); /* which waits for its end */
    p->eigen += seconds() - before;
    p->decompositions++;
    a = matrix_of(p, p->one);
    a.of.matrix.v = at->e;
    a.of.matrix.mu = at->mu;
    a.of.matrix.scale = 1 / (2 * p->of->lambda);
    engine_each(p->e, EACH_COLUMNS, wide, &a);
    engine_gemm(p->e, 0, 1, order, order, order, 1, p->one, order, at->e, order, 0, p->two, order);
    a = matrix_of(p, at->y);
    a.of.matrix.minus = p->two;
    engine_each(p->e, EACH_PACK, p->length, &a);
    times_g(p, at->y, at->gy);
    engine_get(p->e, p->host, at->mu, order * sizeof *p->host);
    if (engine_state(p->e) != SK_DEVICE_DONE) return;
    for (size_t i = 0; i < order; i++) q2 += p->host[i] > 0 ? p->host[i] * p->host[i] / (4 * p->of->lambda) : 0;
    at->objective = (engine_dot(p->e, p->length, at->x, at->gx) - p->of->zz) / n + q2;
    at->primal =
        (engine_dot(p->e, p->length, at->y, at->gy) - 2 * engine_dot(p->e, p->length, p->c, at->y) + p->of->zz) / n +
        q2;
    at->gap = at->primal + at->objective;
}

/* out = K w. */
static void derivative(problem *p, const double *w, double *out)
{
    const size_t order = p->order, wide = order * order;
    const double *e = p->at.e;
    element_args a = matrix_of(p, p->one);
    a.of.matrix.v = w;
    engine_each(p->e, EACH_UNPACK, wide, &a);
    engine_gemm(p->e, 1, 0, order, order, order, 1, e, order, p->one, order, 0, p->two, order);
    engine_gemm(p->e, 0, 0, order, order, order, 1, p->two, order, e, order, 0, p->one, order);
    a = matrix_of(p, p->one);
    a.of.matrix.mu = p->at.mu;
    engine_each(p->e, EACH_OMEGA, wide, &a);
    engine_gemm(p->e, 0, 0, order, order, order, 1, e, order, p->one, order, 0, p->two, order);
    engine_gemm(p->e, 0, 1, order, order, order, 1, p->two, order, e, order, 0, p->one, order);
    a = matrix_of(p, out);
    a.of.matrix.minus = p->one;
    engine_each(p->e, EACH_PACK, p->length, &a);
}

/* z = n lambda (G + n lambda 1)^-1 r, and G z = n lambda (r - z). */
static void precondition(problem *p)
{
    const double nl = (double)p->of->n * p->of->lambda;
    const size_t bytes = p->length * sizeof(double);
    engine_gemm(p->e, 0, 0, p->q, p->pairs, p->q, 1, p->inverse, p->q, p->r, p->q, 0, p->z, p->q);
    engine_copy(p->e, p->gz, p->r, bytes);
    engine_axpy(p->e, p->length, -1, p->z, p->gz);
    engine_scale(p->e, p->length, nl, p->gz);
}

/* Step 2: dx. */
static void direction(problem *p, double forcing)
{
    const double nl = (double)p->of->n * p->of->lambda;
    const size_t len = p->length, bytes = len * sizeof(double);
    engine_copy(p->e, p->r, p->at.y, bytes);
    engine_axpy(p->e, len, -1, p->at.x, p->r);
    precondition(p);
    engine_copy(p->e, p->v, p->z, bytes);
    engine_copy(p->e, p->gv, p->gz, bytes);
    engine_zero(p->e, p->dx, bytes);
    double rz = engine_dot(p->e, len, p->r, p->gz);
    const double first = rz;
    for (int i = 0; i < MOST_GRADIENTS && rz > forcing * forcing * first && !work_stops(p->card); i++) {
        derivative(p, p->gv, p->av);
        engine_scale(p->e, len, 1 / nl, p->av);
        engine_axpy(p->e, len, 1, p->v, p->av);
        p->gradients++;
        const double step = rz / engine_dot(p->e, len, p->gv, p->av);
        if (!isfinite(step)) break;
        engine_axpy(p->e, len, step, p->v, p->dx);
        engine_axpy(p->e, len, -step, p->av, p->r);
        precondition(p);
        const double now = engine_dot(p->e, len, p->r, p->gz), back = now / rz;
        engine_scale(p->e, len, back, p->v);
        engine_axpy(p->e, len, 1, p->z, p->v);
        engine_scale(p->e, len, back, p->gv);
        engine_axpy(p->e, len, 1, p->gz, p->gv);
        rz = now;
    }
}

/* False where nothing falls. */
static int move(problem *p)
{
    double length = 1;
    for (int i = 0; i < MOST_HALVES && !work_stops(p->card); i++, length /= 2) {
        engine_copy(p->e, p->next.x, p->at.x, p->length * sizeof(double));
        engine_axpy(p->e, p->length, length, p->dx, p->next.x);
        evaluate(p, &p->next);
        if (!(p->next.objective <= p->at.objective) && !(p->next.gap < p->at.gap)) continue;
        const point before = p->at;
        p->at = p->next;
        p->next = before;
        return 1;
    }
    return 0;
}

/* n lambda (G + n lambda 1)^-1. */
static void make_inverse(problem *p)
{
    const double nl = (double)p->of->n * p->of->lambda;
    element_args a = {.of.matrix = {.q = p->q, .v = p->g, .scale = nl, .m = p->inverse}};
    engine_state(p->e);
    const double before = seconds();
    engine_each(p->e, EACH_SHIFTED, p->q * p->q, &a);
    engine_cholesky(p->e, p->q, p->inverse);
    engine_invert(p->e, p->q, p->inverse);
    a.of.matrix = (each_matrix){.q = p->q, .scale = nl, .m = p->inverse};
    engine_each(p->e, EACH_MIRROR, p->q * p->q, &a);
    p->factor += seconds() - before;
}

/* x = (G + n lambda 1)^-1 c: the solution where Q need not be positive semi-definite. */
static void start_unconstrained(problem *p)
{
    engine_gemm(p->e, 0, 0, p->q, p->pairs, p->q, 1 / ((double)p->of->n * p->of->lambda), p->inverse, p->q, p->c, p->q,
                0, p->at.x, p->q);
}

static void solve(problem *p)
{
    double first = 0;
    evaluate(p, &p->at);
    while (p->steps < p->of->most && !work_stops(p->card) && !(p->at.gap <= p->of->tolerance * p->at.primal)) {
        const double norm = sqrt(fabs(p->at.gap));
        if (!(first > 0)) first = norm;
        const double before = seconds();
        direction(p, fmax(fmin(0.1, sqrt(norm / first)), 0.02));
        engine_state(p->e);
        p->directions += seconds() - before;
        p->steps++;
        if (!move(p)) break;
    }
}

static void open_of(problem *p, card *c, const sk_device_gram *of)
{
    *p = (problem){.card = c, .e = c->engine, .of = of, .q = of->p * (of->p + 1) / 2, .pairs = of->d * (of->d + 1) / 2};
    p->length = p->q * p->pairs;
    p->order = of->p * of->d;
}

/* ---- A start from fewer features ---- */

/* The same problem on the leading axes of the features. */
typedef struct part {
    sk_device_gram of;
    problem few;
    double *turn, *axes, *lengths, *product; /* q x products of the axes; p x p; p; G turn */
    unsigned *one, *other;
} part;

static void close_part(const problem *p, part *t)
{
    double *const all[] = {t->turn, t->axes, t->lengths, t->product};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) engine_free(p->e, all[i]);
    engine_free(p->e, t->one);
    engine_free(p->e, t->other);
    close_problem(&t->few);
}

static double bytes_of_part(const problem *p, part *t)
{
    return bytes_of(&t->few) + 8.0 * (2.0 * (double)p->q * (double)t->few.q + (double)p->of->p * (double)p->of->p);
}

/* G and c of the axes: those of the sum of squares of the rows' matrices, the largest first. */
static void make_part(const problem *p, part *t)
{
    const size_t features = p->of->p, few = t->few.q;
    engine *e = p->e;
    work_pairs(e, features, &t->one, &t->other);
    t->axes = engine_new(e, features * features * sizeof(double));
    t->lengths = engine_new(e, features * sizeof(double));
    t->turn = engine_new(e, p->q * few * sizeof(double));
    t->product = engine_new(e, p->q * few * sizeof(double));
    element_args a = {.of.turn = {features, p->q, t->one, t->other, p->g, t->axes}};
    engine_each(e, EACH_SQUARES, features * features, &a);
    engine_eigen(e, features, t->axes, t->lengths);
    a.of.turn = (each_turn){features, p->q, t->one, t->other, t->axes, t->turn};
    engine_each(e, EACH_TURN, p->q * few, &a);
    engine_gemm(e, 0, 0, p->q, few, p->q, 1, p->g, p->q, t->turn, p->q, 0, t->product, p->q);
    engine_gemm(e, 1, 0, few, few, p->q, 1, t->turn, p->q, t->product, p->q, 0, t->few.own, few);
    engine_gemm(e, 1, 0, few, p->pairs, p->q, 1, t->turn, p->q, p->c, p->q, 0, t->few.c, few);
}

/* x of all features, from the solution on the axes. */
static void start_from_few(problem *p, part *t)
{
    if (open_problem(&t->few) != SK_DEVICE_DONE) return;
    make_part(p, t);
    make_inverse(&t->few);
    start_unconstrained(&t->few);
    solve(&t->few);
    engine_gemm(p->e, 0, 0, p->q, p->pairs, t->few.q, 1, t->turn, p->q, t->few.at.x, t->few.q, 0, p->at.x, p->q);
    p->steps += t->few.steps;
    p->decompositions += t->few.decompositions;
    p->gradients += t->few.gradients;
    p->factor += t->few.factor;
    p->eigen += t->few.eigen;
    p->directions += t->few.directions;
}

static void give(const problem *p, sk_device_answer *answer)
{
    const size_t bytes = p->length * sizeof(double);
    engine_get(p->e, answer->x0, p->at.x, bytes);
    engine_get(p->e, answer->gx0, p->at.gx, bytes);
    engine_get(p->e, answer->x, p->at.y, bytes);
    engine_get(p->e, answer->gx, p->at.gy, bytes);
    engine_get(p->e, answer->values, p->at.mu, p->order * sizeof(double));
    engine_get(p->e, answer->e, p->at.e, p->order * p->order * sizeof(double));
    answer->steps = p->steps;
    answer->decompositions = p->decompositions;
    answer->gradients = p->gradients;
    answer->factor = p->factor;
    answer->eigen = p->eigen;
    answer->directions = p->directions;
}

int work_levels(void *state, const sk_device_gram *of, sk_device_answer *answer)
{
    card *c = state;
    problem p;
    part t = {.of = *of};
    const int from_few = !answer->warm && of->p >= LEAST_FEATURES;
    open_of(&p, c, of);
    p.g = of->sums ? work_sums_gram(of->sums) : NULL;
    t.of.p = of->p / 2;
    t.of.tolerance = fmax(of->tolerance, SOLVED_BY_FEW);
    open_of(&t.few, c, &t.of);
    engine_begin(p.e);
    if (engine_need(p.e, bytes_of(&p) + (from_few ? bytes_of_part(&p, &t) : 0), "levels") == SK_DEVICE_DONE &&
        open_problem(&p) == SK_DEVICE_DONE) {
        if (p.g == p.own) engine_put(p.e, p.own, of->g, p.q * p.q * sizeof(double));
        engine_put(p.e, p.c, of->c, p.length * sizeof(double));
        engine_aside(p.e);
        make_inverse(&p);
        engine_back(p.e);
        if (answer->warm)
            engine_put(p.e, p.at.x, answer->x0, p.length * sizeof(double));
        else if (from_few)
            start_from_few(&p, &t);
        engine_join(p.e);
        if (!answer->warm && !from_few) start_unconstrained(&p);
        solve(&p);
        give(&p, answer);
    }
    const int end = engine_state(p.e);
    close_part(&p, &t);
    close_problem(&p);
    return end;
}
