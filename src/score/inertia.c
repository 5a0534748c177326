/* inertia.c - see inertia.h. Cost of a step: 8d + 4d + 4d evaluations of the model, and about 60 d^3. */
#include "score/inertia.h"

#include "la/la.h"
#include "model/sampler.h"
#include "tune/policy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { TERMS = 6 }; /* of the exponential, after scaling: rounding */

static const double LOG_2PI = 1.83787706640934548356;

/* ---- Passes ---- */

void sk_inertia_pass_clear(sk_inertia_pass *pass)
{
    for (size_t i = 0; i < 2; i++) sk_free(pass->own[i]);
    *pass = (sk_inertia_pass){0};
}

sock_status sk_inertia_pass_new(sock_context *ctx, const sk_series *s, bool rows, sk_inertia_pass *out)
{
    const size_t d = s->d, n = s->steps, points = SK_LIFT_NODES * 2 * d;
    const size_t size[] = {1, d, d * d, 2 * d, points * 2 * d, 3 * d, 3 * d * d, 4, 6, 2};
    double **part[] = {&out->term, &out->e, &out->s,     &out->m,      &out->node,
                       &out->f,    &out->a, &out->carry, &out->onward, &out->gain};
    size_t each = 0;
    const size_t parts = rows ? 10 : 3;
    for (size_t i = 0; i < parts; i++) each += size[i];
    *out = (sk_inertia_pass){0};
    double *at = sk_doubles(ctx, n, each);
    unsigned char *flags = sk_alloc(ctx, n, 2);
    out->own[0] = at;
    out->own[1] = flags;
    if (!at || !flags) {
        sk_inertia_pass_clear(out);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0; i < parts; at += n * size[i], i++) *part[i] = at;
    out->begins = flags;
    out->lost = flags + n;
    return SOCK_OK;
}

sk_lift sk_inertia_lift(const sk_series *s, const sk_inertia_pass *p)
{
    return (sk_lift){s->steps, p->begins, s->h, p->carry, p->onward, p->gain};
}

/* Middle, spread and box of coordinate k: of positions, or of differences over the step. */
static void measure(const sk_series *s, size_t k, sk_frame *out)
{
    const bool speed = k >= s->d;
    double mean = 0, square = 0, low = INFINITY, high = -(double)INFINITY;
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < s->steps; i++) {
            const double *y = s->y + i * s->d, *next = s->next + i * s->d;
            const double one = speed ? (next[k - s->d] - y[k - s->d]) / s->h[i] : next[k];
            if (turn) square += (one - mean) * (one - mean) / (double)s->steps;
            if (turn) continue;
            mean += one / (double)s->steps;
            low = fmin(low, one);
            high = fmax(high, one);
        }
    const double deviation = sqrt(square), size = fmax(fabs(low), fabs(high));
    out->reach[k] = SK_INERTIA_REACH * (deviation > 0 ? deviation : size > 0 ? size : 1);
    out->low[k] = low - SK_INERTIA_MARGIN * (high - low);
    out->high[k] = high + SK_INERTIA_MARGIN * (high - low);
}

sock_status sk_inertia_frame_new(sock_context *ctx, const sk_series *s, sk_frame *out)
{
    double *numbers = sk_doubles(ctx, 3, 2 * s->d);
    if (!numbers) return SOCK_ENOMEM;
    *out = (sk_frame){numbers, numbers + 2 * s->d, numbers + 4 * s->d};
    for (size_t k = 0; k < 2 * s->d; k++) measure(s, k, out);
    return SOCK_OK;
}

/* ---- Work space of a thread ---- */

/* Runs that go together. Arrays are SK_LANES times what the comment says. */
typedef struct group {
    sk_lanes l; /* laws of 2d */
    size_t d;
    double *mean, *middle, *end; /* 2d: where the model is evaluated, the middle of the step, its end */
    double *rate[4];             /* d: F of the four stages */
    double *root;                /* 3 x d x d: of the spread of v at the nodes */
    double *f, *a;               /* 3 x d, 3 x d x d: at the nodes, averaged */
    double *slope;               /* d x 2d: F_x and F_v */
    double *x, *fx, *ax;         /* 4d points: 2d, 2d, 4d^2 */
    double *space, *memory;
    double *w[6]; /* 2d x 2d each, of one lane */
} group;

typedef struct job {
    sock_context *ctx;
    const sk_series *series;
    const sk_inertia_spec *spec;
    const sk_inertia_pass *out;
    const sk_sampler *sampler;
    group *group;
} job;

static sock_status group_new(const job *j, group *g)
{
    const size_t d = j->series->d, w = 2 * d, points = 4 * d;
    const size_t size[] = {SK_LANES * w,
                           SK_LANES * w * w,
                           SK_LANES,
                           SK_LANES * w,
                           SK_LANES * w,
                           SK_LANES * w,
                           SK_LANES * d,
                           SK_LANES * d,
                           SK_LANES * d,
                           SK_LANES * d,
                           SK_LANES * 3 * d * d,
                           SK_LANES * 3 * d,
                           SK_LANES * 3 * d * d,
                           SK_LANES * d * w,
                           SK_LANES * points * w,
                           SK_LANES * points * w,
                           SK_LANES * points * w * w,
                           w * w,
                           w * w,
                           w * w,
                           w * w,
                           w * w,
                           w * w,
                           0};
    double **part[] = {&g->l.m,     &g->l.p,     &g->l.h,  &g->mean, &g->middle, &g->end,   &g->rate[0], &g->rate[1],
                       &g->rate[2], &g->rate[3], &g->root, &g->f,    &g->a,      &g->slope, &g->x,       &g->fx,
                       &g->ax,      &g->w[0],    &g->w[1], &g->w[2], &g->w[3],   &g->w[4],  &g->w[5],    &g->space};
    const size_t parts = sizeof size / sizeof *size;
    size_t all = sk_sampler_space(j->sampler, SK_LANES * points);
    for (size_t i = 0; i < parts; i++) all += size[i];
    double *at = g->memory = sk_doubles(j->ctx, all, 1);
    if (!at) return SOCK_ENOMEM;
    for (size_t i = 0; i < parts; at += size[i], i++) *part[i] = at;
    g->d = d;
    return SOCK_OK;
}

/* ---- The model at points ---- */

/* Inside the box. */
static void keep_in(const job *j, size_t count, double *x)
{
    const size_t w = 2 * j->series->d;
    for (size_t i = 0; j->spec->low && i < count * w; i++)
        x[i] = fmin(fmax(x[i], j->spec->low[i % w]), j->spec->high[i % w]);
}

static void evaluate(const job *j, const group *g, size_t count, bool spread)
{
    keep_in(j, count, g->x);
    sk_sampler_fields(j->ctx, j->sampler, count, g->x, g->fx, spread ? g->ax : NULL, g->space);
}

/* The 2d points around z (2d): v +- sqrt(d) times the columns of root (d x d). */
static void place(size_t d, const double *z, const double *root, double *x)
{
    const double r = sqrt((double)d);
    for (size_t q = 0; q < 2 * d; q++, x += 2 * d) {
        memcpy(x, z, 2 * d * sizeof *x);
        for (size_t k = 0; k < d; k++) x[d + k] += (q < d ? r : -r) * root[k * d + q % d];
    }
}

/* Means over the 2d points of each of `count` sets: F (d), and a (d x d) where it is wanted; the next set's are `apart`
 * numbers further on. */
static void average(const group *g, size_t count, double *f, size_t f_apart, double *a, size_t a_apart)
{
    const size_t d = g->d, w = 2 * d;
    for (size_t i = 0; i < count; i++) {
        memset(f + i * f_apart, 0, d * sizeof *f);
        if (a) memset(a + i * a_apart, 0, d * d * sizeof *a);
        for (size_t q = 0; q < w; q++) {
            const double *fx = g->fx + (i * w + q) * w + d, *ax = g->ax + (i * w + q) * w * w;
            sk_axpy(d, 1 / (double)w, fx, f + i * f_apart);
            for (size_t k = 0; a && k < d; k++)
                sk_axpy(d, 1 / (double)w, ax + (d + k) * w + d, a + i * a_apart + k * d);
        }
    }
}

/* F of one stage at z (lanes x 2d), averaged over the spread of v at the beginning; first: a too. */
static void stage(const job *j, const group *g, const double *z, bool first, double *rate)
{
    const size_t d = g->d, w = 2 * d;
    for (size_t i = 0; i < g->l.count; i++) place(d, z + i * w, g->root + i * 3 * d * d, g->x + i * w * w);
    evaluate(j, g, g->l.count * w, first);
    average(g, g->l.count, rate, d, first ? g->a : NULL, 3 * d * d);
}

/* to = from + share h (velocity, rate), velocity that of `at`. */
static void advance(const group *g, double share, const double *at, const double *rate, double *to)
{
    const size_t d = g->d;
    for (size_t i = 0; i < g->l.count; i++)
        for (size_t k = 0; k < d; k++) {
            const double h = share * g->l.h[i], *m = g->l.m + i * 2 * d;
            const double v = at[i * 2 * d + d + k];
            to[i * 2 * d + k] = m[k] + h * v;
            to[i * 2 * d + d + k] = m[d + k] + h * rate[i * d + k];
        }
}

/* The mean at the end, by Runge and Kutta; the middle is that of the second stage. The velocity of the second and third
 * stage stand in middle and mean. */
static void follow_mean(const job *j, const group *g)
{
    const size_t d = g->d, w = 2 * d;
    stage(j, g, g->l.m, true, g->rate[0]);
    advance(g, 0.5, g->l.m, g->rate[0], g->end);
    stage(j, g, g->end, false, g->rate[1]);
    advance(g, 0.5, g->end, g->rate[1], g->middle);
    stage(j, g, g->middle, false, g->rate[2]);
    advance(g, 1, g->middle, g->rate[2], g->mean);
    stage(j, g, g->mean, false, g->rate[3]);
    for (size_t i = 0; i < g->l.count; i++)
        for (size_t k = 0; k < d; k++) {
            const double *m = g->l.m + i * w, h = g->l.h[i];
            const double v1 = m[d + k], v2 = g->end[i * w + d + k], v3 = g->middle[i * w + d + k],
                         v4 = g->mean[i * w + d + k];
            const size_t at = i * d + k;
            const double rate = g->rate[0][at] + 2 * g->rate[1][at] + 2 * g->rate[2][at] + g->rate[3][at];
            g->end[i * w + k] = m[k] + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
            g->end[i * w + d + k] = m[d + k] + h / 6 * rate;
        }
}

/* F_x and F_v in the middle, by central differences. */
static void find_slopes(const job *j, const group *g)
{
    const size_t d = g->d, w = 2 * d;
    const double *reach = j->spec->reach;
    assert(w > 0);
    for (size_t i = 0; i < g->l.count; i++)
        for (size_t k = 0; k < 2 * w; k++) {
            double *x = g->x + (i * 2 * w + k) * w;
            memcpy(x, g->middle + i * w, w * sizeof *x);
            x[k % w] += k < w ? reach[k] : -reach[k - w];
        }
    evaluate(j, g, g->l.count * 2 * w, false);
    for (size_t i = 0; i < g->l.count; i++)
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < w; l++) {
                const double *up = g->fx + (i * 2 * w + l) * w + d, *down = g->fx + (i * 2 * w + w + l) * w + d;
                g->slope[(i * d + k) * w + l] = (up[k] - down[k]) / (2 * reach[l]);
            }
}

/* The root of P_vv + t a. */
static void spread_of_speed(const group *g, size_t i, double t, double *root)
{
    const size_t d = g->d, w = 2 * d;
    double *c = g->w[0];
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++)
            c[k * d + l] = g->l.p[i * w * w + (d + k) * w + d + l] + (t > 0 ? t * g->a[i * 3 * d * d + k * d + l] : 0);
    sk_factor_copy(d, 1e-14, c, root);
}

/* F and a at the middle and at the end. */
static void look_at_nodes(const job *j, const group *g)
{
    const size_t d = g->d, w = 2 * d, d2 = d * d;
    for (size_t i = 0; i < g->l.count; i++)
        for (size_t t = 1; t < 3; t++) {
            double *root = g->root + (i * 3 + t) * d2;
            spread_of_speed(g, i, g->l.h[i] * (double)t / 2, root);
            place(d, (t == 1 ? g->middle : g->end) + i * w, root, g->x + (i * 2 + t - 1) * w * w);
        }
    evaluate(j, g, g->l.count * 2 * w, true);
    for (size_t i = 0; i < g->l.count; i++) { /* two sets of a lane stand together */
        group part = *g;
        part.fx += i * 2 * w * w;
        part.ax += i * 2 * w * w * w;
        memcpy(g->f + i * 3 * d, g->rate[0] + i * d, d * sizeof *g->f);
        average(&part, 2, g->f + i * 3 * d + d, d, g->a + i * 3 * d2 + d2, d2);
    }
}

/* ---- The law at the end of a step ---- */

/* out = exp(t J) of lane i, J = [[0, 1], [F_x, F_v]]; work: three matrices. */
static void exponential(const group *g, size_t i, double t, double *const *work, double *out)
{
    const size_t d = g->d, w = 2 * d;
    double *a = work[0], *power = work[1], *next = work[2], size = 0;
    int halvings = 0;
    memset(a, 0, w * w * sizeof *a);
    for (size_t k = 0; k < d; k++) a[k * w + d + k] = t;
    for (size_t k = 0; k < d * w; k++) a[d * w + k] = t * g->slope[i * d * w + k];
    for (size_t k = 0; k < w * w; k++) size = fmax(size, fabs(a[k]) * (double)w);
    for (; size > 0.5 && halvings < 60 /* rounding */; size /= 2) halvings++;
    for (size_t k = 0; k < w * w; k++) a[k] = ldexp(a[k], -halvings);
    memcpy(power, a, w * w * sizeof *a);
    memcpy(out, a, w * w * sizeof *a);
    for (size_t k = 0; k < w; k++) out[k * (w + 1)] += 1;
    for (int n = 2; n <= TERMS; n++) {
        sk_small_product(w, power, a, false, next);
        for (size_t k = 0; k < w * w; k++) power[k] = next[k] / n;
        sk_axpy(w * w, 1, power, out);
    }
    for (; halvings > 0; halvings--) {
        sk_small_product(w, out, out, false, next);
        memcpy(out, next, w * w * sizeof *out);
    }
}

/* p += g c a c', c the columns of v of e (NULL: those of 1). */
static void add_node(const group *g, double weight, const double *e, const double *a, double *p)
{
    const size_t d = g->d, w = 2 * d;
    for (size_t r = 0; r < w; r++)
        for (size_t s = 0; s < w; s++)
            for (size_t k = 0; k < d; k++)
                for (size_t l = 0; l < d; l++) {
                    const double one = e ? e[r * w + d + k] : r == d + k, other = e ? e[s * w + d + l] : s == d + l;
                    p[r * w + s] += weight * one * a[k * d + l] * other;
                }
}

/* P- of lane i into cov; w[0] = E, w[1] = exp(h J / 2). */
static void find_spread(const group *g, size_t i, double *cov)
{
    const size_t d = g->d, w = 2 * d, d2 = d * d;
    const double h = g->l.h[i], *a = g->a + i * 3 * d2;
    exponential(g, i, h / 2, g->w + 2, g->w[1]);
    sk_small_product(w, g->w[1], g->w[1], false, g->w[0]);
    sk_small_product(w, g->w[0], g->l.p + i * w * w, false, g->w[2]);
    sk_small_product(w, g->w[2], g->w[0], true, cov);
    add_node(g, h / 6, g->w[0], a, cov);
    add_node(g, 4 * h / 6, g->w[1], a + d2, cov);
    add_node(g, h / 6, NULL, a + 2 * d2, cov);
    sk_small_mean(w, cov);
}

static double noise_of(const job *j, size_t k, size_t l)
{
    return j->spec->noise ? j->spec->noise[k * j->series->d + l] : 0;
}

/* ---- What is kept ---- */

static void keep_nodes(const job *j, const group *g, size_t i, size_t step)
{
    const size_t d = g->d, w = 2 * d;
    const double *centre[] = {g->l.m + i * w, g->middle + i * w, g->end + i * w};
    if (!j->out->node) return;
    for (size_t t = 0; t < 3; t++) {
        double *node = j->out->node + (step * 3 + t) * w * w;
        place(d, centre[t], g->root + (i * 3 + t) * d * d, node);
        keep_in(j, w, node);
    }
    memcpy(j->out->f + step * 3 * d, g->f + i * 3 * d, 3 * d * sizeof(double));
    memcpy(j->out->a + step * 3 * d * d, g->a + i * 3 * d * d, 3 * d * d * sizeof(double));
}

/* Transition and gain of the rows of the step; gain: 2d x d, whole: w[0] and w[1] are exp(h J) and exp(h J / 2). */
static void keep_rows(const job *j, const group *g, size_t i, size_t step, const double *gain)
{
    const size_t d = g->d;
    const double h = g->l.h[i];
    if (!j->out->carry) return;
    double *e = j->out->carry + 4 * step, *c = j->out->onward + 6 * step, *k = j->out->gain + 2 * step;
    const double free_e[] = {1, h, 0, 1}, free_c[] = {h, 1, h / 2, 1, 0, 1};
    memcpy(e, free_e, sizeof free_e);
    memcpy(c, free_c, sizeof free_c);
    if (d == 1 && !j->spec->kinematic) {
        memcpy(e, g->w[0], 4 * sizeof *e);
        c[0] = g->w[0][1], c[1] = g->w[0][3], c[2] = g->w[1][1], c[3] = g->w[1][3];
    }
    k[0] = k[1] = 0;
    for (size_t l = 0; l < d; l++) {
        k[0] += gain[l * d + l] / (double)d;
        k[1] += gain[(d + l) * d + l] / (double)d;
    }
}

/* The law of the state at a point. */
static void keep_law(const job *j, const group *g, size_t i, size_t point)
{
    const size_t w = 2 * g->d;
    if (!j->spec->laws) return;
    memcpy(j->spec->laws->m + point * w, g->l.m + i * w, w * sizeof *g->l.m);
    memcpy(j->spec->laws->p + point * w * w, g->l.p + i * w * w, w * w * sizeof *g->l.p);
}

/* What the smoother needs of a step; w[0] = exp(h J). */
static void keep_transition(const job *j, const group *g, size_t i, size_t step, const double *cov)
{
    const size_t w = 2 * g->d;
    const sk_pass *laws = j->spec->laws;
    if (!laws) return;
    memcpy(laws->mean + step * w, g->end + i * w, w * sizeof *cov);
    memcpy(laws->cov + step * w * w, cov, w * w * sizeof *cov);
    memcpy(laws->slope + step * w * w, g->w[0], w * w * sizeof *cov);
}

/* A law that is lost tells nothing of the states before. */
static void note_lost(const job *j, size_t step, bool lost)
{
    j->out->lost[step] = lost;
    if (j->spec->laws) j->spec->laws->lost[step] = lost;
}

/* ---- Observations ---- */

static void clip_position(const job *j, double *m)
{
    for (size_t k = 0; j->spec->low && k < j->series->d; k++) {
        const double middle = (j->spec->low[k] + j->spec->high[k]) / 2, wide = j->spec->high[k] - j->spec->low[k];
        m[k] = fmin(fmax(m[k], middle - SK_INERTIA_CLIP * wide), middle + SK_INERTIA_CLIP * wide);
    }
}

/* Lane i begins with the two points of a step. */
static void start(const job *j, group *g, size_t i, size_t step)
{
    const size_t d = g->d, w = 2 * d;
    const double *y = j->series->y + step * d, *next = j->series->next + step * d, h = j->series->h[step];
    double *m = g->l.m + i * w, *p = g->l.p + i * w * w, *f = g->f + i * 3 * d, *a = g->a + i * 3 * d * d;
    for (size_t k = 0; k < d; k++) {
        m[k] = next[k];
        m[d + k] = (next[k] - y[k]) / h;
    }
    for (int turn = 0; turn < 2; turn++) { /* the second: where the rows begin */
        memcpy(g->x, m, w * sizeof *m);
        evaluate(j, g, 1, true);
        for (size_t k = 0; k < d; k++) {
            if (!turn && isfinite(g->fx[d + k])) m[d + k] += h / 2 * g->fx[d + k];
            for (size_t t = 0; t < 3; t++) {
                f[t * d + k] = g->fx[d + k];
                memcpy(a + (t * d + k) * d, g->ax + (d + k) * w + d, d * sizeof *a);
            }
        }
    }
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            const double r = noise_of(j, k, l);
            p[k * w + l] = r;
            p[k * w + d + l] = p[(d + k) * w + l] = r / h;
            p[(d + k) * w + d + l] = a[k * d + l] * h / 3 + 2 * r / (h * h);
        }
    memset(g->root + i * 3 * d * d, 0, 3 * d * d * sizeof *g->root);
    memcpy(g->middle + i * w, m, w * sizeof *m);
    memcpy(g->end + i * w, m, w * sizeof *m);
    g->l.h[i] = h;
    memset(g->w[2], 0, w * w * sizeof *m);
    memset(g->w[0], 0, w * w * sizeof *m);
    memset(g->w[1], 0, w * w * sizeof *m);
    keep_nodes(j, g, i, step);
    keep_rows(j, g, i, step, g->w[2]);
    j->out->begins[step] = 1;
    if (j->out->m) memcpy(j->out->m + step * w, m, w * sizeof *m);
}

/* Lane i begins with its first point: the velocity is that of the step at its beginning, the spread as for a start. */
static void start_early(const job *j, group *g, size_t i, size_t step)
{
    const size_t d = g->d, w = 2 * d;
    const double *y = j->series->y + step * d, *next = j->series->next + step * d, h = j->series->h[step];
    double *m = g->l.m + i * w, *p = g->l.p + i * w * w;
    for (size_t k = 0; k < d; k++) {
        m[k] = y[k];
        m[d + k] = (next[k] - y[k]) / h;
    }
    memcpy(g->x, m, w * sizeof *m);
    evaluate(j, g, 1, true);
    memset(p, 0, w * w * sizeof *p);
    for (size_t k = 0; k < d; k++) {
        if (isfinite(g->fx[d + k])) m[d + k] -= h / 2 * g->fx[d + k];
        for (size_t l = 0; l < d; l++) {
            p[k * w + l] = noise_of(j, k, l);
            p[(d + k) * w + d + l] = g->ax[(d + k) * w + d + l] * h / 3 + 2 * noise_of(j, k, l) / (h * h);
        }
    }
    g->l.h[i] = h;
}

/* What two points say of the velocity is said by the second when it is observed: until then next to nothing is known.
 */
static void forget_speed(const job *j, const group *g)
{
    const size_t d = g->d, w = 2 * d;
    for (size_t i = 0; i < g->l.count; i++) {
        for (size_t k = 0; k < d; k++) sk_scale(d, SK_INERTIA_VAGUE, g->l.p + i * w * w + (d + k) * w + d);
        keep_law(j, g, i, j->series->first[g->l.run[i]] + g->l.run[i]);
    }
}

/* e and S of a step, and the factor of S (c); false: lost. */
static bool innovate(const job *j, const group *g, size_t i, size_t step, const double *cov, double *c)
{
    const size_t d = g->d, w = 2 * d;
    double *e = j->out->e + step * d, *s = j->out->s + step * d * d;
    for (size_t k = 0; k < d; k++) {
        e[k] = j->series->next[step * d + k] - g->end[i * w + k];
        for (size_t l = 0; l < d; l++) s[k * d + l] = cov[k * w + l] + noise_of(j, k, l);
    }
    if (!sk_all_finite(w, g->end + i * w) || !sk_all_finite(w * w, cov)) return false;
    return sk_factor_copy(d, 0, s, c) == 0 && sk_all_finite(d * d, c);
}

static double log_density(size_t d, const double *e, const double *c, double *u)
{
    double sum = -0.5 * (double)d * LOG_2PI;
    for (size_t k = 0; k < d; k++) {
        u[k] = (e[k] - sk_dot(k, c + k * d, u)) / c[k * d + k];
        sum -= 0.5 * u[k] * u[k] + log(c[k * d + k]);
    }
    return fmax(sum, SK_STEP_LEAST);
}

/* m and P after the observation; gain: 2d x d. */
static void update(const job *j, const group *g, size_t i, const double *e, const double *gain, const double *cov)
{
    const size_t d = g->d, w = 2 * d;
    double *m = g->l.m + i * w, *p = g->l.p + i * w * w, *rest = g->w[0], *t = g->w[1];
    for (size_t k = 0; k < w; k++) {
        m[k] = g->end[i * w + k] + sk_dot(d, gain + k * d, e);
        for (size_t l = 0; l < w; l++) rest[k * w + l] = (k == l) - (l < d ? gain[k * d + l] : 0);
    }
    clip_position(j, m);
    sk_small_product(w, rest, cov, false, t);
    sk_small_product(w, t, rest, true, p);
    for (size_t k = 0; j->spec->noise && k < w * w; k++)
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++) p[k] += gain[k / w * d + a] * noise_of(j, a, b) * gain[k % w * d + b];
    sk_small_mean(w, p);
}

static void observe(const job *j, group *g, size_t i, size_t step)
{
    const size_t d = g->d, w = 2 * d;
    double *cov = g->w[3], *c = g->w[4], *gain = g->w[5], *e = j->out->e + step * d;
    find_spread(g, i, cov);
    keep_transition(j, g, i, step, cov);
    j->out->begins[step] = 0;
    if (!innovate(j, g, i, step, cov, c)) {
        memset(e, 0, d * sizeof *e);
        memset(j->out->s + step * d * d, 0, d * d * sizeof *e);
        note_lost(j, step, true);
        j->out->term[step] = SK_STEP_LEAST;
        start(j, g, i, step);
        return;
    }
    note_lost(j, step, false);
    j->out->term[step] = log_density(d, e, c, g->w[2]);
    for (size_t k = 0; k < w; k++) { /* row k of K solves S K_k' = row k of P-_x */
        memcpy(gain + k * d, cov + k * w, d * sizeof *cov);
        sk_small_solve(d, c, gain + k * d);
    }
    keep_nodes(j, g, i, step);
    keep_rows(j, g, i, step, gain);
    update(j, g, i, e, gain, cov);
    if (j->out->m) memcpy(j->out->m + step * w, g->l.m + i * w, w * sizeof *e);
}

/* ---- Runs ---- */

static void follow(const void *argument, size_t begin, size_t end, int worker)
{
    const job *j = argument;
    group *g = &j->group[worker];
    const sk_series *s = j->series;
    const size_t d = g->d;
    const bool early = j->spec->laws;
    g->l.count = end - begin;
    for (size_t i = 0; i < g->l.count; i++) {
        const size_t step = s->first[begin + i];
        g->l.run[i] = begin + i;
        if (step == s->first[begin + i + 1]) continue; /* no step */
        (early ? start_early : start)(j, g, i, step);
        j->out->lost[step] = 0;
        j->out->term[step] = 0;
    }
    for (size_t k = early ? 0 : 1;; k++) {
        sk_lanes_close_up(s, 2 * d, k, &g->l);
        if (!g->l.count) break;
        for (size_t i = 0; i < g->l.count; i++) spread_of_speed(g, i, 0, g->root + i * 3 * d * d);
        follow_mean(j, g);
        find_slopes(j, g);
        look_at_nodes(j, g);
        if (!k) forget_speed(j, g);
        for (size_t i = 0; i < g->l.count; i++) {
            const size_t step = s->first[g->l.run[i]] + k;
            observe(j, g, i, step);
            keep_law(j, g, i, step + g->l.run[i] + 1);
        }
    }
}

sock_status sk_inertia(sock_context *ctx, const sk_series *series, const sk_inertia_spec *spec,
                       const sk_inertia_pass *out)
{
    const size_t workers = (size_t)sk_workers(ctx);
    sk_sampler *sampler = NULL;
    job j = {ctx, series, spec, out, NULL, sk_alloc(ctx, workers, sizeof *j.group)};
    sock_status status = SOCK_ENOMEM;
    if (!j.group) return SOCK_ENOMEM;
    SK_GO(sk_sampler_new(ctx, spec->model, &sampler));
    j.sampler = sampler;
    for (size_t i = 0; i < workers; i++) SK_GO(group_new(&j, &j.group[i]));
    SK_GO(sk_series_follow(ctx, series, follow, &j));
out:
    for (size_t i = 0; i < workers; i++) sk_free(j.group[i].memory);
    sk_free(j.group);
    sk_sampler_free(sampler);
    return status;
}
