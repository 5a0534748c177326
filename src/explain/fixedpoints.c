/* fixedpoints.c - see explain.h. On a line f is looked at on a grid, and the middle of each change of its sign is where
 * Newton's method starts; in several dimensions it starts at points all over the range. Lengths are shares of the
 * range, so that units do not matter. */
#include "explain/explain.h"

#include "explain/explainrules.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

#define DIFFERENCE 1e-5 /* of the range: central differences of smooth fields lose a part in 1e10 */
#define SETTLED 1e-12   /* of the range: a last step */
#define BESIDE 1e-3     /* of the range: so near a root a slope should hold, */
#define FLAT 1e-2       /* or it is this little beside the mean slope */
#define NEARLY 1e-6     /* and what must be reached where rounding ends it earlier */

typedef struct newton {
    const sk_asker *ask;
    double *x, *f, *step;     /* d each */
    double *jacobian, *spoil; /* d x d */
    double *points, *at;      /* 2 d x d: differences */
    size_t *pivot;            /* d */
    double *all;
} newton;

static sock_status newton_new(const sk_asker *ask, newton *w)
{
    const size_t d = ask->d;
    *w = (newton){.ask = ask};
    w->all = sk_doubles(ask->ctx, d, 3 + 6 * d);
    w->pivot = sk_alloc(ask->ctx, d, sizeof *w->pivot);
    if (!w->all || !w->pivot) {
        sk_free(w->all);
        sk_free(w->pivot);
        return SOCK_ENOMEM;
    }
    double *room = w->all;
    double **const part[] = {&w->x, &w->f, &w->step};
    for (size_t i = 0; i < 3; i++, room += d) *part[i] = room;
    w->jacobian = room;
    w->spoil = room + d * d;
    w->points = room + 2 * d * d;
    w->at = room + 4 * d * d;
    return SOCK_OK;
}

static void newton_clear(newton *w)
{
    sk_free(w->all);
    sk_free(w->pivot);
}

static double width(const sk_asker *ask, size_t k) { return ask->upper[k] - ask->lower[k]; }

/* J_ij = df_i / dx_j at x. */
static void differentiate(newton *w)
{
    const size_t d = w->ask->d;
    for (size_t j = 0; j < d; j++)
        for (int side = 0; side < 2; side++) {
            double *point = w->points + (2 * j + (size_t)side) * d;
            memcpy(point, w->x, d * sizeof *point);
            point[j] += (side ? -1 : 1) * DIFFERENCE * width(w->ask, j);
        }
    sk_ask(w->ask, 2 * d, w->points, w->at, NULL);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            w->jacobian[i * d + j] =
                (w->at[2 * j * d + i] - w->at[(2 * j + 1) * d + i]) / (2 * DIFFERENCE * width(w->ask, j));
}

/* x moves by a step of at most a quarter of the range in each state, and never out of it. Answers how long the whole
 * step would have been; NaN: there is none. */
static double step_once(newton *w)
{
    const size_t d = w->ask->d;
    double size = 0, longest = 0;
    sk_ask(w->ask, 1, w->x, w->f, NULL);
    for (size_t k = 0; k < d; k++) longest = fmax(longest, fabs(w->f[k]));
    if (longest == 0) return 0;
    differentiate(w);
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) {
            w->spoil[k * d + l] = w->jacobian[k * d + l] * width(w->ask, l) / width(w->ask, k);
            size = fmax(size, fabs(w->spoil[k * d + l]));
        }
    for (size_t k = 0; k < d; k++) w->step[k] = w->f[k] / width(w->ask, k);
    if (!isfinite(size) || !sk_eliminate(d, 1e-13 * size, w->spoil, w->pivot)) return NAN;
    sk_unwind(d, w->spoil, w->pivot, w->step);
    longest = 0;
    for (size_t k = 0; k < d; k++) longest = fmax(longest, fabs(w->step[k]));
    const double share = longest > 0.25 ? 0.25 / longest : 1;
    for (size_t k = 0; k < d; k++) {
        const double to = w->x[k] - share * w->step[k] * width(w->ask, k);
        w->x[k] = fmin(fmax(to, w->ask->lower[k]), w->ask->upper[k]);
    }
    return isfinite(longest) ? longest : (double)NAN;
}

/* From w->x. A point at an end of the range that would go on outwards has a long step left, and is none. */
static bool newton_run(newton *w)
{
    double left = 1;
    for (int i = 0; i < SK_EXPLAIN_NEWTON && left > SETTLED; i++) {
        left = step_once(w);
        if (isnan(left)) return false;
    }
    if (!(left <= NEARLY)) return false;
    differentiate(w);
    return true;
}

/* ---- A line ---- */

/* Fixed points by changes of sign between the points of a grid that has the ends. */
static sock_status find_on_line(const sk_asker *ask, double *x, double *f, sk_fixed *out)
{
    const size_t n = SK_EXPLAIN_SCAN;
    double most = 0;
    for (size_t i = 0; i <= n; i++) x[i] = ask->lower[0] + width(ask, 0) * (double)i / (double)n;
    sk_ask(ask, n + 1, x, f, NULL);
    for (size_t i = 0; i <= n; i++) most = fmax(most, fabs(f[i]));
    for (size_t i = 0; i <= n; i++) f[i] = fabs(f[i]) <= 1e-13 * most ? 0 : f[i];
    for (size_t i = 0; i <= n; i++) {
        const bool beside = (i > 0 && f[i - 1] == 0) || (i < n && f[i + 1] == 0);
        out->lines = out->lines || (f[i] == 0 && beside);
        if (f[i] == 0 && !beside) out->x[out->count++] = x[i];
        if (i == n || !((f[i] < 0 && f[i + 1] > 0) || (f[i] > 0 && f[i + 1] < 0))) continue;
        double low = x[i], high = x[i + 1], middle = low, at;
        for (int k = 0; k < 60; k++) {
            middle = 0.5 * (low + high);
            sk_ask(ask, 1, &middle, &at, NULL);
            *((at < 0) == (f[i] < 0) ? &low : &high) = middle;
        }
        out->x[out->count++] = middle;
    }
    return SOCK_OK;
}

static sock_status find_line(const sk_asker *ask, sk_fixed *out)
{
    const size_t n = SK_EXPLAIN_SCAN + 1;
    double *room = sk_doubles(ask->ctx, 2, n);
    out->x = sk_doubles(ask->ctx, n, 2);
    const sock_status status = room && out->x ? find_on_line(ask, room, room + n, out) : SOCK_ENOMEM;
    sk_free(room);
    return status;
}

/* ---- Several dimensions ---- */

static bool is_known(const sk_asker *ask, const sk_fixed *fixed, const double *x)
{
    for (size_t i = 0; i < fixed->count; i++) {
        double far = 0;
        for (size_t k = 0; k < ask->d; k++) far = fmax(far, fabs(fixed->x[i * ask->d + k] - x[k]) / width(ask, k));
        if (sk_explain_is_same(far)) return true;
    }
    return false;
}

/* Whether a fixed point is one by itself: no eigenvalue is 0. */
static sock_status stands_alone(newton *w, bool *out)
{
    const size_t d = w->ask->d;
    double least = (double)INFINITY, most = 0, *re = w->f, *im = w->step;
    SK_TRY(sk_eigenvalues(w->ask->ctx, d, w->jacobian, re, im));
    for (size_t k = 0; k < d; k++) {
        least = fmin(least, hypot(re[k], im[k]));
        most = fmax(most, hypot(re[k], im[k]));
    }
    *out = !sk_explain_is_marginal(least, most);
    return SOCK_OK;
}

static sock_status find_in_space(newton *w, uint64_t seed, sk_fixed *out)
{
    const sk_asker *ask = w->ask;
    const size_t d = ask->d, starts = sk_explain_starts(d);
    const sk_key key = {seed, SK_PURPOSE_EXPLAIN};
    for (size_t s = 0; s < starts; s++) {
        SK_TRY(sk_progress(ask->ctx, "fixed points", -1));
        sk_uniforms(key, s, 0, 0, d, w->x);
        for (size_t k = 0; k < d; k++) w->x[k] = ask->lower[k] + width(ask, k) * (s ? w->x[k] : 0.5);
        if (!newton_run(w) || is_known(ask, out, w->x)) continue;
        bool alone;
        SK_TRY(stands_alone(w, &alone));
        out->lines = out->lines || !alone;
        if (!alone) continue;
        memcpy(out->x + out->count++ * d, w->x, d * sizeof *w->x);
    }
    return SOCK_OK;
}

static int by_first_state(size_t d, const double *one, const double *other)
{
    for (size_t k = 0; k < d; k++)
        if (one[k] != other[k]) return one[k] < other[k] ? -1 : 1;
    return 0;
}

/* By their first state: the order of the starts says nothing. */
static void sort_points(size_t d, sk_fixed *fixed)
{
    if (!fixed->x) return; /* there are none */
    for (size_t i = 1; i < fixed->count; i++)
        for (size_t j = i; j > 0 && by_first_state(d, fixed->x + j * d, fixed->x + (j - 1) * d) < 0; j--)
            for (size_t k = 0; k < d; k++) {
                const double kept = fixed->x[j * d + k];
                fixed->x[j * d + k] = fixed->x[(j - 1) * d + k];
                fixed->x[(j - 1) * d + k] = kept;
            }
}

sock_status sk_fixed_find(const sk_asker *ask, uint64_t seed, sk_fixed *out)
{
    *out = (sk_fixed){0};
    if (ask->d == 1) return find_line(ask, out);
    newton w;
    SK_TRY(newton_new(ask, &w));
    out->x = sk_doubles(ask->ctx, sk_explain_starts(ask->d), ask->d);
    const sock_status status = out->x ? find_in_space(&w, seed, out) : SOCK_ENOMEM;
    sort_points(ask->d, out);
    newton_clear(&w);
    return status;
}

/* ---- What a fixed point is ---- */

/* Slowest last. */
static void sort_eigenvalues(size_t d, double *re, double *im)
{
    for (size_t i = 1; i < d; i++)
        for (size_t j = i; j > 0 && re[j] < re[j - 1]; j--) {
            const double r = re[j], m = im[j];
            re[j] = re[j - 1], im[j] = im[j - 1];
            re[j - 1] = r, im[j - 1] = m;
        }
}

/* A slope that is rounding beside the others, as that of a centre, tells no time. */
static bool falls_back(size_t d, const double *re, const double *im)
{
    double size = 0;
    for (size_t k = 0; k < d; k++) size = fmax(size, hypot(re[k], im[k]));
    return re[d - 1] < 0 && !sk_explain_is_marginal(re[d - 1], size);
}

/* On a line: the slope at the root of a cubic is rounding, and holds within no distance that matters: 0, -0 where f
 * falls. Such a point holds what is near, and no time says how fast. */
static double slope_of(const newton *w, double slope)
{
    const double far = BESIDE * width(w->ask, 0);
    const double points[2] = {w->x[0] - far, w->x[0] + far};
    double f[2];
    sk_ask(w->ask, 2, points, f, NULL);
    const double across = (f[1] - f[0]) / (2 * far);
    return fabs(slope) < FLAT * fabs(across) ? copysign(0, across) : slope;
}

sock_status sk_fixed_numbers(const sk_asker *ask, const double *x0, double *out)
{
    const size_t d = ask->d;
    newton w;
    SK_TRY(newton_new(ask, &w));
    memcpy(w.x, x0, d * sizeof *x0);
    for (size_t i = 0; i < 3 * d + 1; i++) out[i] = NAN;
    sock_status status = SOCK_OK;
    if (newton_run(&w)) {
        for (size_t k = 0; k < d; k++) out[k] = sk_not_rounding(ask, k, w.x[k]);
        status = sk_eigenvalues(ask->ctx, d, w.jacobian, out + d, out + 2 * d);
        if (status >= 0) sort_eigenvalues(d, out + d, out + 2 * d);
        if (status >= 0 && d == 1) out[1] = slope_of(&w, out[1]);
        if (status >= 0 && falls_back(d, out + d, out + 2 * d)) out[3 * d] = -1 / out[2 * d - 1];
    }
    newton_clear(&w);
    return status;
}

const char *sk_fixed_type(size_t d, const sk_told *re, const sk_told *im)
{
    double size = 0;
    size_t falls = 0, grows = 0;
    bool turns = false;
    if (d == 1) return signbit(re->value) ? "stable" : "unstable";
    for (size_t k = 0; k < d; k++) size = fmax(size, hypot(re[k].value, im[k].value));
    for (size_t k = 0; k < d; k++) {
        falls += re[k].value < 0 && !sk_explain_is_marginal(re[k].value, size);
        grows += re[k].value > 0 && !sk_explain_is_marginal(re[k].value, size);
        turns = turns || im[k].value != 0;
    }
    if (falls && grows) return "saddle";
    if (falls + grows < d) return turns && d == 2 ? "centre" : "marginal";
    if (turns) return falls ? "stable focus" : "unstable focus";
    return falls ? "stable node" : "unstable node";
}
