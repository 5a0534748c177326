/* polish.c - L-BFGS on the quasi-likelihood of polish.h, in the unknown W.
 *
 *   1. Metric: L L' is the expected curvature at the start, one p x p block for all columns of W. Polynomial features
 *      differ by orders of magnitude; with the metric the steps do not depend on their scales (mu = 0).
 *   2. Direction: two-loop recursion over the last MEMORY steps from H0 = gamma (L L')^-1, gamma = s'y / y'(L L')^-1 y.
 *   3. Step length by bisection on the weak Wolfe conditions, so that curvature stays positive.
 *   4. Stop when a step gains less than `enough` nats, or when even the plain direction gains nothing.
 *
 * Each step: about one gradient and p^2 d rank for the metric. The metric itself: n p^2, once. */
#include "diffusion/polish.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MEMORY = 8 }; /* more steps or fewer to the same minimum: speed only */
enum { TRIALS = 30, STEPS = 60 };

static const double armijo = 1e-4, wolfe = 0.9; /* speed only */
static const double first_length = 0.1;         /* of the first step relative to W, without a metric; speed only */
static const double enough = 1e-9;              /* nats */

typedef struct point {
    double value;
    double *w, *g;
} point;

typedef struct descent {
    sock_context *ctx;
    sk_polish_space *space;
    size_t p, width, count; /* count = p width */
    size_t rank;
    const size_t *owner; /* rank, or NULL */
    double *metric;      /* L, p x p */
    bool plain;          /* no metric */
    point now, trial;
    double *direction, *scaled;
    double *s[MEMORY], *y[MEMORY], rho[MEMORY], share[MEMORY];
    size_t used, next;
    double gamma;
} descent;

static sock_status descent_init(descent *t)
{
    double **whole[] = {&t->now.w, &t->now.g, &t->trial.w, &t->trial.g, &t->direction, &t->scaled};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) *whole[i] = sk_doubles(t->ctx, t->p, t->width);
    for (size_t i = 0; i < MEMORY; i++) {
        t->s[i] = sk_doubles(t->ctx, t->p, t->width);
        t->y[i] = sk_doubles(t->ctx, t->p, t->width);
        if (!t->s[i] || !t->y[i]) return SOCK_ENOMEM;
    }
    t->metric = sk_doubles(t->ctx, t->p, t->p);
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (!*whole[i]) return SOCK_ENOMEM;
    return t->metric ? SOCK_OK : SOCK_ENOMEM;
}

static void descent_clear(descent *t)
{
    void *owned[] = {t->now.w, t->now.g, t->trial.w, t->trial.g, t->direction, t->scaled, t->metric};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) sk_free(owned[i]);
    for (size_t i = 0; i < MEMORY; i++) {
        sk_free(t->s[i]);
        sk_free(t->y[i]);
    }
    sk_polish_space_free(t->space);
}

/* ---- Steps 1 and 2: direction ---- */

/* Of columns with one feature each, all others stay 0: P x, with P the projection on what may move. */
static void keep_owned(const descent *t, double *x)
{
    for (size_t a = 0; t->owner && a < t->p; a++)
        for (size_t j = 0; j < t->width; j++)
            if (t->owner[j % t->rank] != a) x[a * t->width + j] = 0;
}

/* x := P (L L')^-1 x. */
static void apply_metric(const descent *t, double *x)
{
    if (!t->plain) sk_cholesky_solve(t->ctx, t->p, t->width, t->metric, t->p, x, t->width);
    keep_owned(t, x);
}

static void two_loops(descent *t)
{
    double *r = t->direction;
    for (size_t i = 0; i < t->count; i++) r[i] = -t->now.g[i];
    for (size_t j = 0; j < t->used; j++) {
        size_t i = (t->next + MEMORY - 1 - j) % MEMORY;
        t->share[i] = t->rho[i] * sk_dot(t->count, t->s[i], r);
        sk_axpy(t->count, -t->share[i], t->y[i], r);
    }
    apply_metric(t, r);
    sk_scale(t->count, t->gamma, r);
    for (size_t j = t->used; j-- > 0;) {
        size_t i = (t->next + MEMORY - 1 - j) % MEMORY;
        sk_axpy(t->count, t->share[i] - t->rho[i] * sk_dot(t->count, t->y[i], r), t->s[i], r);
    }
}

/* Without memory: one step of Fisher scoring; when there is no metric either, the length is a guess. */
static void plain_direction(descent *t)
{
    t->used = 0;
    t->gamma = 1;
    two_loops(t);
    double length = sk_norm(t->count, t->direction);
    if (t->plain && length > 0) sk_scale(t->count, first_length * sk_norm(t->count, t->now.w) / length, t->direction);
}

static void remember(descent *t)
{
    size_t i = t->next;
    for (size_t j = 0; j < t->count; j++) {
        t->s[i][j] = t->trial.w[j] - t->now.w[j];
        t->y[i][j] = t->trial.g[j] - t->now.g[j];
    }
    double curvature = sk_dot(t->count, t->s[i], t->y[i]);
    memcpy(t->scaled, t->y[i], t->count * sizeof(double));
    apply_metric(t, t->scaled);
    double size = sk_dot(t->count, t->y[i], t->scaled);
    if (!(curvature > 0) || !(size > 0) || !isfinite(1 / curvature) || !isfinite(1 / size)) return;
    t->rho[i] = 1 / curvature;
    t->gamma = curvature / size;
    t->next = (i + 1) % MEMORY;
    t->used = SK_MIN(t->used + 1, (size_t)MEMORY);
}

/* ---- Step 3: length ---- */

static sock_status evaluate(const descent *t, point *x)
{
    SK_TRY(sk_polish_evaluate(t->space, x->w, &x->value, x->g));
    keep_owned(t, x->g);
    return SOCK_OK;
}

/* trial = now + tau direction. After TRIALS a point with enough descent will do; *moved tells. */
static sock_status line_search(descent *t, bool *moved)
{
    double slope = sk_dot(t->count, t->direction, t->now.g), low = 0, high = INFINITY, tau = 1;
    *moved = false;
    const double least = DBL_EPSILON * fabs(t->now.value); /* below it a descent cannot be told from none */
    for (int trial = 0; slope < -least && trial < TRIALS; trial++) {
        for (size_t i = 0; i < t->count; i++) t->trial.w[i] = t->now.w[i] + tau * t->direction[i];
        SK_TRY(evaluate(t, &t->trial));
        bool descends = t->trial.value < t->now.value && t->trial.value <= t->now.value + armijo * tau * slope;
        bool flat = descends && sk_dot(t->count, t->direction, t->trial.g) >= wolfe * slope;
        *moved = descends;
        if (flat || (descends && trial >= TRIALS / 2)) return SOCK_OK; /* any such point will do: speed only */
        if (descends)
            low = tau;
        else
            high = tau;
        tau = isinf(high) ? 2 * tau : (low + high) / 2; /* speed only */
    }
    return SOCK_OK;
}

/* ---- Step 4: the loop ---- */

static sock_status run(descent *t, size_t max_steps)
{
    bool moved;
    sock_status status = sk_polish_metric(t->space, t->metric);
    t->plain = status == SOCK_ENUMERIC;
    if (status < 0 && !t->plain) return status;
    for (size_t step = 0; step < max_steps; step++) {
        if (sk_cancelled(t->ctx)) return sk_fail(t->ctx, SOCK_ECANCELLED, "interrupted");
        bool remembers = t->used > 0;
        if (remembers)
            two_loops(t);
        else
            plain_direction(t);
        SK_TRY(line_search(t, &moved));
        if (!moved && !remembers) return SOCK_OK;
        if (!moved) {
            t->used = 0;
            continue;
        }
        double gained = t->now.value - t->trial.value;
        remember(t);
        point swap = t->now;
        t->now = t->trial;
        t->trial = swap;
        if (gained < enough) return SOCK_OK;
    }
    return SOCK_OK;
}

static sock_status check_problem(sock_context *ctx, const sk_polish_problem *problem)
{
    if (!(problem->eps >= 0) || !(problem->mu >= 0) || isinf(problem->eps) || isinf(problem->mu))
        return sk_fail(ctx, SOCK_EUSAGE, "polish: eps is %g and mu is %g; both must be finite and >= 0", problem->eps,
                       problem->mu);
    return SOCK_OK;
}

sock_status sk_polish(sock_context *ctx, const sk_polish_problem *problem, size_t rank, double *u, size_t max_steps,
                      double *before, double *after)
{
    SK_TRY(check_problem(ctx, problem));
    size_t width = problem->d * rank;
    descent t = {.ctx = ctx, .p = problem->p, .width = width, .count = problem->p * width};
    t.rank = rank;
    t.owner = problem->owner;
    sock_status status = SOCK_OK;
    SK_GO(sk_polish_space_new(ctx, problem, rank, &t.space));
    SK_GO(descent_init(&t));
    sk_polish_from_u(problem, rank, u, t.now.w);
    SK_GO(evaluate(&t, &t.now));
    double start = t.now.value;
    if (isfinite(start)) SK_GO(run(&t, max_steps ? max_steps : STEPS));
    if (t.now.value < start) sk_polish_to_u(problem, rank, t.now.w, u);
    if (before) *before = start;
    if (after) *after = t.now.value;
out:
    descent_clear(&t);
    return status;
}
