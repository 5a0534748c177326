/* landscape.c - see explain.h. With G = int 2 f / a the stationary density between reflecting ends is p = e^G / a up to
 * a factor, Phi = -log p. The mean time from x to b > x is (Gardiner, section 5.5)
 *
 *     T = 2 int_x^b e^-G(y) int_lower^y e^G(z) / a(z) dz dy
 *
 * and the slowest relaxation is the largest eigenvalue of (-L)^-1, L u = (e^G u')' a e^-G / 2: with the mean of u under
 * p at 0, v = (-L)^-1 u has v'(y) = -2 e^-G(y) int_lower^y u e^G / a dz. Two quadratures are one step of the inverse
 * iteration, so all is as exact as the panels are. */
#include "explain/explain.h"

#include "explain/explainrules.h"
#include "tune/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TABLE = SK_EXPLAIN_TABLE, SCAN = SK_EXPLAIN_SCAN, REASON = 200 };

/* Points nearer to each end than the first of the scan, each half as far as the one before: a density may live within
 * a thousandth of the range, next to an end. */
enum { NEAR = 14, SCANNED = SCAN + 2 * NEAR };

/* Extremes of Phi, rising: wells and barriers by turns, a well first and last. */
typedef struct extremes {
    size_t count; /* odd, or 0 */
    double x[SCANNED + 1], phi[SCANNED + 1];
} extremes;

typedef struct landscape {
    sk_panels *line;
    double *p;              /* nodes: density */
    double mass, largest;   /* of e^(G - largest) / a */
    double phi[TABLE];      /* potential at the table's points, 0 at its least */
    double x[TABLE], least; /* where; what was subtracted from -G + log a */
    extremes turns;
} landscape;

static double at_share(const sk_asker *ask, double share)
{
    return ask->lower[0] + (ask->upper[0] - ask->lower[0]) * share;
}

/* ---- Extremes ---- */

/* Share i of the range at which the density's slope is asked, rising. */
static double scan_share(size_t i)
{
    const double first = 0.5 / SCAN;
    if (i < NEAR) return ldexp(first, (int)i - NEAR);
    if (i >= NEAR + SCAN) return 1 - ldexp(first, NEAR + SCAN - 1 - (int)i);
    return ((double)(i - NEAR) + 0.5) / SCAN;
}

/* h = f - a'/2, of the sign of p'. x: n points inside. */
static void density_slope(const sk_asker *ask, size_t n, const double *x, double *h)
{
    for (size_t i = 0; i < n; i++) {
        const double room = fmin(x[i] - ask->lower[0], ask->upper[0] - x[i]),
                     by = fmin(1e-5 * (ask->upper[0] - ask->lower[0]), 0.1 * room);
        const double point[3] = {x[i], fmax(x[i] - by, ask->lower[0]), fmin(x[i] + by, ask->upper[0])};
        double f[3], a[3];
        sk_ask(ask, 3, point, f, a);
        h[i] = f[0] - 0.5 * (a[2] - a[1]) / (point[2] - point[1]);
    }
}

static double turn_between(const sk_asker *ask, double low, double high, bool rises)
{
    double middle = low, h;
    for (int i = 0; i < 50; i++) {
        middle = 0.5 * (low + high);
        density_slope(ask, 1, &middle, &h);
        *((h > 0) == rises ? &low : &high) = middle;
    }
    return middle;
}

/* Where the density turns: from a rise to a fall first (a well), and a well last. */
static void find_turns(const sk_asker *ask, extremes *out)
{
    double x[SCANNED], h[SCANNED];
    for (size_t i = 0; i < SCANNED; i++) x[i] = at_share(ask, scan_share(i));
    density_slope(ask, SCANNED, x, h);
    out->count = 0;
    for (size_t i = 0; i + 1 < SCANNED; i++) {
        const bool well = h[i] > 0 && h[i + 1] <= 0, barrier = h[i] < 0 && h[i + 1] >= 0;
        if (!well && !(barrier && out->count)) continue;
        if (well == (out->count % 2 != 0)) continue; /* h was 0 between */
        out->x[out->count++] = turn_between(ask, x[i], x[i + 1], well);
    }
    if (out->count % 2 == 0 && out->count) out->count--;
}

static void drop_two(extremes *e, size_t from)
{
    for (size_t i = from; i + 2 < e->count; i++) e->x[i] = e->x[i + 2], e->phi[i] = e->phi[i + 2];
    e->count -= 2;
}

/* Wells with next to no dip between them become one: the deeper. */
static void merge_shallow(extremes *e)
{
    while (e->count > 1) {
        size_t worst = 0;
        for (size_t i = 0; i + 1 < e->count; i++)
            if (fabs(e->phi[i + 1] - e->phi[i]) < fabs(e->phi[worst + 1] - e->phi[worst])) worst = i;
        if (sk_explain_is_dip(e->phi[worst + 1] - e->phi[worst])) return;
        drop_two(e, worst);
    }
}

/* ---- Panels ---- */

/* A share of the range that panels are laid along: dense at ends where a vanishes. */
static double lay(double s, const bool *vanishes)
{
    const double low = s * s * s * s, high = (1 - s) * (1 - s) * (1 - s) * (1 - s);
    if (vanishes[0] && vanishes[1]) return low / (low + high);
    return vanishes[0] ? low : vanishes[1] ? 1 - high : s;
}

static void sort_up(size_t n, double *x)
{
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < n; i++)
            for (size_t j = i; j >= gap && x[j] < x[j - gap]; j -= gap) {
                const double kept = x[j];
                x[j] = x[j - gap], x[j - gap] = kept;
            }
}

/* What the fields are like on a first look. */
typedef struct look {
    double most;      /* the largest a */
    double steep;     /* int |2 f / a| over the middle */
    bool vanishes[2]; /* a, at the lower and at the upper end */
} look;

/* The point inside where a is lowest beside what it reaches on both sides, if it nearly vanishes there; else 0. */
static size_t dividing_point(const double *a)
{
    double left = a[0], right[SCAN + 1];
    size_t lowest = 0;
    right[SCAN] = a[SCAN];
    for (size_t i = SCAN; i-- > 0;) right[i] = fmax(right[i + 1], a[i]);
    for (size_t i = 1; i < SCAN; i++) {
        left = fmax(left, a[i]);
        if (sk_explain_divides(a[i], left, right[i]) && (!lowest || a[i] < a[lowest])) lowest = i;
    }
    return lowest;
}

/* reason: why there is no landscape, or "". */
static void look_at(const sk_asker *ask, look *out, char *reason)
{
    double x[SCAN + 1], f[SCAN + 1], a[SCAN + 1];
    *out = (look){0};
    for (size_t i = 0; i <= SCAN; i++) x[i] = at_share(ask, (double)i / SCAN);
    sk_ask(ask, SCAN + 1, x, f, a);
    for (size_t i = 0; i <= SCAN; i++) {
        if (!isfinite(f[i]) || !isfinite(a[i]))
            snprintf(reason, REASON, "f or a is not finite at %.6g, within the range", x[i]);
        out->most = fmax(out->most, a[i]);
    }
    const size_t lowest = dividing_point(a);
    if (lowest && !reason[0])
        snprintf(reason, REASON, "the diffusion nearly vanishes within the range, at %.6g: paths hardly cross it",
                 x[lowest]);
    for (size_t i = 1; i < SCAN && !reason[0]; i++)
        out->steep = fmax(out->steep, fabs(2 * f[i] / a[i]) * (ask->upper[0] - ask->lower[0]));
    for (size_t side = 0; side < 2; side++) out->vanishes[side] = sk_explain_vanishes(a[side * SCAN], out->most);
}

/* Where a vanishes, p goes as a power of the distance: it must be above -1. */
static void look_at_end(const sk_asker *ask, size_t side, char *reason)
{
    const double width = ask->upper[0] - ask->lower[0], by = 1e-6 * width, end = side ? ask->upper[0] : ask->lower[0];
    const double sign = side ? -1 : 1, x[3] = {end + sign * by, end + sign * 0.9 * by, end + sign * 1.1 * by};
    double f[3], a[3];
    sk_ask(ask, 3, x, f, a);
    const double power = sign * by * 2 * f[0] / a[0] - (log(a[2]) - log(a[1])) / (log(1.1) - log(0.9));
    if (!(power > -0.999)) /* NaN: a is 0 there altogether */
        snprintf(reason, REASON, "the diffusion vanishes at the %s end, %.6g, and paths gather there: no density",
                 side ? "upper" : "lower", end);
}

static void look_at_bounds(const sk_asker *ask, char *reason)
{
    const sk_structure *s = ask->model->structure;
    const unsigned absorbing = s->absorbing ? s->absorbing[0] : 0;
    const bool low = (absorbing & SK_ABSORBS_LOWER) && ask->lower[0] <= s->lower[0],
               high = (absorbing & SK_ABSORBS_UPPER) && ask->upper[0] >= s->upper[0];
    if (low || high)
        snprintf(reason, REASON, "the bound %.6g is never left again: all paths end there",
                 low ? s->lower[0] : s->upper[0]);
}

static void find_reason(const sk_asker *ask, look *seen, char *reason)
{
    reason[0] = 0;
    look_at_bounds(ask, reason);
    if (!reason[0]) look_at(ask, seen, reason);
    for (size_t side = 0; side < 2 && !reason[0]; side++)
        if (seen->vanishes[side]) look_at_end(ask, side, reason);
}

/* Edges: laid along the range, at the table's points, near the ends and at the extremes. */
static sock_status make_panels(const sk_asker *ask, const look *seen, landscape *l)
{
    const size_t laid = sk_explain_panels(seen->steep), all = laid + 1 + TABLE - 2 + 2 * NEAR + l->turns.count;
    double *edge = sk_doubles(ask->ctx, all, 1), *to = edge;
    if (!edge) return SOCK_ENOMEM;
    for (size_t i = 0; i <= laid; i++) *to++ = at_share(ask, lay((double)i / (double)laid, seen->vanishes));
    for (size_t i = 1; i + 1 < TABLE; i++) *to++ = l->x[i];
    for (size_t i = 0; i < NEAR; i++) {
        *to++ = at_share(ask, scan_share(i));
        *to++ = at_share(ask, scan_share(SCANNED - 1 - i));
    }
    memcpy(to, l->turns.x, l->turns.count * sizeof *to);
    sort_up(all, edge);
    const sock_status status = sk_panels_new(ask, all - 1, edge, &l->line);
    sk_free(edge);
    return status;
}

/* The edge at x: it is one. */
static size_t edge_at(const sk_panels *line, double x)
{
    size_t low = 0, high = line->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (line->edge[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Density ---- */

/* -G + log a at an edge. */
static double raw_potential(const sk_asker *ask, const sk_panels *line, double x)
{
    double a;
    sk_ask(ask, 1, &x, NULL, &a);
    return log(a) - line->level[edge_at(line, x)];
}

static sock_status make_density(const sk_asker *ask, landscape *l)
{
    const sk_panels *line = l->line;
    const size_t nodes = line->count * SK_PANEL_NODES;
    l->p = sk_doubles(ask->ctx, nodes, 1);
    if (!l->p) return SOCK_ENOMEM;
    l->largest = -(double)INFINITY;
    for (size_t i = 0; i < nodes; i++) {
        l->p[i] = line->level[i / SK_PANEL_NODES] + line->inner[i] - log(line->a[i]);
        l->largest = fmax(l->largest, l->p[i]);
    }
    for (size_t i = 0; i < nodes; i++) l->p[i] = exp(l->p[i] - l->largest);
    l->mass = sk_panels_sum(line, l->p, 0, line->count);
    for (size_t i = 0; i < nodes; i++) l->p[i] /= l->mass;
    return SOCK_OK;
}

static void make_potential(const sk_asker *ask, landscape *l)
{
    l->least = -l->largest;
    for (size_t i = 0; i < TABLE; i++) l->phi[i] = raw_potential(ask, l->line, l->x[i]);
    for (size_t i = 0; i < l->turns.count; i++) {
        l->turns.phi[i] = raw_potential(ask, l->line, l->turns.x[i]);
        l->least = fmin(l->least, l->turns.phi[i]);
    }
    for (size_t i = 0; i < TABLE; i++) l->phi[i] -= l->least;
    for (size_t i = 0; i < l->turns.count; i++) l->turns.phi[i] -= l->least;
    merge_shallow(&l->turns);
}

static void landscape_clear(landscape *l)
{
    if (!l) return;
    sk_panels_free(l->line);
    sk_free(l->p);
    sk_free(l);
}

static sock_status landscape_new(const sk_asker *ask, const look *seen, landscape **out)
{
    landscape *l = sk_alloc(ask->ctx, 1, sizeof *l);
    if (!l) return SOCK_ENOMEM;
    for (size_t i = 0; i < TABLE; i++) l->x[i] = at_share(ask, (double)i / (TABLE - 1));
    find_turns(ask, &l->turns);
    sock_status status = make_panels(ask, seen, l);
    if (status >= 0) status = make_density(ask, l);
    if (status < 0) {
        landscape_clear(l);
        return status;
    }
    make_potential(ask, l);
    *out = l;
    return SOCK_OK;
}

/* ---- Numbers ---- */

static void tell_density(landscape *l, double *out, double *room)
{
    const sk_panels *line = l->line;
    const size_t nodes = line->count * SK_PANEL_NODES;
    for (size_t i = 0; i < nodes; i++) room[i] = l->p[i] * line->x[i];
    const double mean = sk_panels_sum(line, room, 0, line->count);
    for (size_t i = 0; i < nodes; i++) room[i] = l->p[i] * (line->x[i] - mean) * (line->x[i] - mean);
    out[SK_LINE_MEAN] = mean;
    out[SK_LINE_SD] = sqrt(sk_panels_sum(line, room, 0, line->count));
    double *phi = out + SK_LINE_TABLE, *p = phi + TABLE, top = 0;
    for (size_t i = 0; i < nodes; i++) top = fmax(top, l->p[i]);
    for (size_t i = 0; i < TABLE; i++) {
        phi[i] = l->phi[i];
        p[i] = exp(-(l->phi[i] + l->least) - l->largest) / l->mass;
    }
    for (size_t i = 0; i < 2; i++) out[SK_LINE_ENDS + i] = fmin(p[i * (TABLE - 1)] / top, 1);
}

/* u := u - its mean under p. */
static void centre(const landscape *l, double *u, double *room)
{
    const size_t nodes = l->line->count * SK_PANEL_NODES;
    for (size_t i = 0; i < nodes; i++) room[i] = l->p[i] * u[i];
    const double mean = sk_panels_sum(l->line, room, 0, l->line->count);
    for (size_t i = 0; i < nodes; i++) u[i] -= mean;
}

static double product(const landscape *l, const double *u, const double *v, double *room)
{
    for (size_t i = 0; i < l->line->count * SK_PANEL_NODES; i++) room[i] = l->p[i] * u[i] * v[i];
    return sk_panels_sum(l->line, room, 0, l->line->count);
}

/* The panel where p is largest: inner integrals go there from either end, so that nothing cancels in a tail. */
static size_t summit(const landscape *l)
{
    size_t best = 0;
    for (size_t i = 0; i < l->line->count * SK_PANEL_NODES; i++)
        if (l->p[i] > l->p[best]) best = i;
    return best / SK_PANEL_NODES;
}

/* v = (-L)^-1 u. */
static void invert(const landscape *l, size_t top, const double *u, double *v, double *room)
{
    const sk_panels *line = l->line;
    const size_t nodes = line->count * SK_PANEL_NODES;
    for (size_t i = 0; i < nodes; i++) room[i] = u[i] / line->a[i];
    sk_panels_carry(line, room, 0, top, false, v);
    sk_panels_carry(line, room, top, line->count, true, v);
    for (size_t i = 0; i < nodes; i++) room[i] = (i < top * SK_PANEL_NODES ? -2 : 2) * v[i];
    sk_panels_primitive(line, room, top,
                        v); /* from where p is: far off v may be so large that its rounding hides it there */
    centre(l, v, room);
}

/* u over its norm under p; over its largest number first, whose square may be too large. */
static void to_unit(const landscape *l, double *u, double *room)
{
    const size_t nodes = l->line->count * SK_PANEL_NODES;
    double largest = 0;
    for (size_t k = 0; k < nodes; k++) largest = fmax(largest, fabs(u[k]));
    for (size_t k = 0; k < nodes; k++) u[k] /= largest;
    const double norm = sqrt(product(l, u, u, room));
    for (size_t k = 0; k < nodes; k++) u[k] /= norm;
}

/* room: 3 numbers for each node. */
static double relaxation(const landscape *l, double *room)
{
    const size_t nodes = l->line->count * SK_PANEL_NODES, top = summit(l);
    double *u = room + nodes, *v = room + 2 * nodes, time = NAN, before = 0;
    memcpy(u, l->line->x, nodes * sizeof *u);
    centre(l, u, room);
    for (int i = 0; i < SK_EXPLAIN_ROUNDS && !(fabs(time - before) <= 1e-12 * fabs(time)); i++) {
        before = time;
        to_unit(l, u, room);
        invert(l, top, u, v, room);
        time = product(l, u, v, room);
        double *kept = u;
        u = v, v = kept;
        if (!(time > 0) || !isfinite(time)) return time > 0 ? time : (double)NAN;
    }
    return time;
}

/* From the extreme `from` to that one, next to it or beyond: 2 int S. s: S from the end behind the start. */
static double escape_time(const landscape *l, size_t from, size_t to, const double *s)
{
    const size_t one = edge_at(l->line, l->turns.x[SK_MIN(from, to)]),
                 other = edge_at(l->line, l->turns.x[SK_MAX(from, to)]);
    return 2 * sk_panels_sum(l->line, s, one, other);
}

/* room: 2 numbers for each node. */
static void tell_escapes(const landscape *l, size_t wells, double *out, double *room)
{
    const sk_panels *line = l->line;
    const size_t nodes = line->count * SK_PANEL_NODES;
    for (size_t i = 0; i < nodes; i++) room[i] = 1 / line->a[i];
    for (int down = 0; down < 2; down++) {
        sk_panels_carry(line, room, 0, line->count, down, room + nodes);
        for (size_t i = 0; i + 1 < wells; i++) {
            const size_t top = 2 * i + 1, from = down ? top + 1 : top - 1, to = down ? top - 1 : top + 1;
            double *escape = out + sk_line_escape(wells, i, down);
            escape[SK_ESCAPE_HEIGHT] = l->turns.phi[top] - l->turns.phi[from];
            escape[SK_ESCAPE_TO_BARRIER] = escape_time(l, from, top, room + nodes);
            escape[SK_ESCAPE_TO_WELL] = escape_time(l, from, to, room + nodes);
        }
    }
}

size_t sk_line_wells(void) { return SK_LINE_TABLE + 2 * TABLE; }

size_t sk_line_escape(size_t wells, size_t i, bool down)
{
    return sk_line_wells() + (wells ? 2 * wells - 1 : 0) + (2 * i + (down ? 1 : 0)) * SK_ESCAPE_NUMBERS;
}

size_t sk_line_size(size_t wells) { return sk_line_escape(wells, wells ? wells - 1 : 0, false); }

static sock_status tell_all(const sk_asker *ask, landscape *l, size_t wells, double *out)
{
    double *room = sk_doubles(ask->ctx, 3, l->line->count * SK_PANEL_NODES), *well = out + sk_line_wells();
    if (!room) return SOCK_ENOMEM;
    tell_density(l, out, room);
    out[SK_LINE_RELAXATION] = relaxation(l, room);
    if (l->turns.count == (wells ? 2 * wells - 1 : 0)) {
        for (size_t i = 0; i < wells; i++) well[i] = sk_not_rounding(ask, 0, l->turns.x[2 * i]);
        for (size_t i = 0; i + 1 < wells; i++) well[wells + i] = sk_not_rounding(ask, 0, l->turns.x[2 * i + 1]);
        tell_escapes(l, wells, out, room);
    }
    sk_free(room);
    return SOCK_OK;
}

sock_status sk_line_numbers(const sk_asker *ask, size_t wells, double *out)
{
    char reason[REASON];
    look seen = {0};
    landscape *l = NULL;
    for (size_t i = 0; i < sk_line_size(wells); i++) out[i] = NAN;
    find_reason(ask, &seen, reason);
    if (reason[0]) return SOCK_OK;
    SK_TRY(landscape_new(ask, &seen, &l));
    const sock_status status = tell_all(ask, l, wells, out);
    landscape_clear(l);
    return status;
}

sock_status sk_line_look(const sk_asker *ask, size_t *wells, char *reason)
{
    look seen = {0};
    landscape *l = NULL;
    *wells = 0;
    find_reason(ask, &seen, reason);
    if (reason[0]) return SOCK_OK;
    SK_TRY(landscape_new(ask, &seen, &l));
    *wells = (l->turns.count + 1) / 2;
    if (!isfinite(l->mass) || !(l->mass > 0))
        snprintf(reason, REASON, "the density cannot be normalised within the range");
    landscape_clear(l);
    return SOCK_OK;
}
