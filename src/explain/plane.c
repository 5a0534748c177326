/* plane.c - see explain.h. The stationary Fokker-Planck equation div J = 0, J_i = f_i p - sum_j d_j (a_ij p) / 2, on
 * n x n cells of the range, whose ends nothing crosses. Lengths are shares of the range. Across the face between cells
 * L and R, with q = a_ii p and v = f_i / a_ii taken there (Scharfetter and Gummel; exact for constant v):
 *
 *     J = (B(-2 v h) q_L - B(2 v h) q_R) / (2 h) - d_j (a_ij p) / 2,     B(z) = z / (e^z - 1)
 *
 * the last term from the corners of the face, each the mean of the cells around it. The columns of the system sum to 0,
 * so it has a solution, and mass is kept to rounding. Entropy production: sum over cells of 2 J' a^-1 J / p. */
#include "explain/explain.h"

#include "explain/explainrules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REASON = 200 };

typedef struct plane {
    const sk_asker *ask;
    size_t n;
    double width[2];
    double *a;       /* cells x 4: a at the centres */
    double *face[2]; /* f_i, a_ii at faces across i: (n + 1) x n or n x (n + 1) points, two numbers each */
    double *p;       /* cells */
    double *flux[2]; /* faces */
    double *x, *f, *four;
    sk_band *band;
} plane;

static size_t cell(const plane *s, size_t i, size_t j) { return i * s->n + j; }

/* Face across state `axis` at the lower side of cell (i, j); i or j may be n. */
static size_t face_of(const plane *s, int axis, size_t i, size_t j) { return axis ? i * (s->n + 1) + j : i * s->n + j; }

static double bernoulli(double z)
{
    if (fabs(z) < 1e-4) return 1 - z / 2 + z * z / 12;
    return z / expm1(z);
}

/* ---- Fields ---- */

static void plane_clear(plane *s)
{
    double *const all[] = {s->a, s->face[0], s->face[1], s->p, s->flux[0], s->flux[1], s->x, s->f, s->four};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sk_free(all[i]);
    sk_band_free(s->band);
}

static sock_status plane_new(const sk_asker *ask, size_t n, plane *s)
{
    sock_context *ctx = ask->ctx;
    const size_t cells = n * n, faces = n * (n + 1);
    *s = (plane){.ask = ask, .n = n};
    for (size_t k = 0; k < 2; k++) s->width[k] = ask->upper[k] - ask->lower[k];
    double **const by_face[] = {&s->flux[0], &s->flux[1]};
    bool good = (s->a = sk_doubles(ctx, cells, 4)) && (s->p = sk_doubles(ctx, cells, 1)) &&
                (s->x = sk_doubles(ctx, faces, 2)) && (s->f = sk_doubles(ctx, faces, 2)) &&
                (s->four = sk_doubles(ctx, faces, 4));
    for (size_t k = 0; k < 2 && good; k++)
        good = (*by_face[k] = sk_doubles(ctx, faces, 1)) && (s->face[k] = sk_doubles(ctx, faces, 2));
    sock_status status = good ? sk_band_new(ctx, cells, n + 1, &s->band) : SOCK_ENOMEM;
    if (status < 0) plane_clear(s);
    return status;
}

static void ask_centres(plane *s)
{
    const size_t n = s->n, cells = n * n;
    for (size_t c = 0; c < cells; c++) {
        s->x[2 * c] = s->ask->lower[0] + s->width[0] * ((double)(c / n) + 0.5) / (double)n;
        s->x[2 * c + 1] = s->ask->lower[1] + s->width[1] * ((double)(c % n) + 0.5) / (double)n;
    }
    sk_ask(s->ask, cells, s->x, NULL, s->a);
    for (size_t i = 0; i < 4 * cells; i++) s->a[i] /= s->width[i % 4 / 2] * s->width[i % 2];
}

static void ask_faces(plane *s, int axis)
{
    const size_t n = s->n, faces = n * (n + 1), rows = axis ? n + 1 : n;
    for (size_t c = 0; c < faces; c++) {
        const double i = (double)(c / rows) + (axis ? 0.5 : 0), j = (double)(c % rows) + (axis ? 0 : 0.5);
        s->x[2 * c] = s->ask->lower[0] + s->width[0] * i / (double)n;
        s->x[2 * c + 1] = s->ask->lower[1] + s->width[1] * j / (double)n;
    }
    sk_ask(s->ask, faces, s->x, s->f, s->four);
    for (size_t c = 0; c < faces; c++) {
        s->face[axis][2 * c] = s->f[2 * c + (size_t)axis] / s->width[axis];
        s->face[axis][2 * c + 1] = s->four[4 * c + 3 * (size_t)axis] / (s->width[axis] * s->width[axis]);
    }
}

/* Finite, and a positive definite at every centre and face inside. */
static bool is_regular(const plane *s, char *reason)
{
    const size_t cells = s->n * s->n;
    for (size_t c = 0; c < cells; c++) {
        const double *a = s->a + 4 * c, half = 0.5 * (a[0] + a[3]), radius = hypot(0.5 * (a[0] - a[3]), a[1]);
        if (!sk_explain_is_singular(half - radius, half + radius)) continue;
        snprintf(reason, REASON, "the diffusion is singular within the range, at (%.6g, %.6g)",
                 s->ask->lower[0] + s->width[0] * ((double)(c / s->n) + 0.5) / (double)s->n,
                 s->ask->lower[1] + s->width[1] * ((double)(c % s->n) + 0.5) / (double)s->n);
        return false;
    }
    for (size_t i = 0; i < 4 * s->n * (s->n + 1); i++) {
        const double value = s->face[i % 2][i / 2];
        if (!isfinite(value)) {
            snprintf(reason, REASON, "f or a is not finite within the range");
            return false;
        }
    }
    return true;
}

/* ---- Fluxes as sums over cells ---- */

enum { MOST_PARTS = 10 };

/* A flux: sum of weight times p of cells. */
typedef struct sum {
    size_t count, cell[MOST_PARTS];
    double weight[MOST_PARTS];
} sum;

static void add_part(sum *to, size_t c, double weight)
{
    to->cell[to->count] = c;
    to->weight[to->count++] = weight;
}

/* The corner of a face at distance `side` (0 or 1) along the other axis: a_01 p, the mean of the cells around it, times
 * weight. At an end of the range it is the mean of the two cells beside the face. */
static void add_corner(const plane *s, int axis, size_t i, size_t j, size_t side, double weight, sum *to)
{
    const size_t n = s->n, along = (axis ? i : j) + side;
    const size_t low = along > 0 ? along - 1 : 0, high = along < n ? along : n - 1;
    for (size_t k = 0; k < 2; k++)
        for (size_t across = 0; across < 2; across++) {
            const size_t other = k ? high : low, own = (axis ? j : i) - across;
            const size_t c = axis ? cell(s, other, own) : cell(s, own, other);
            add_part(to, c, 0.25 * weight * s->a[4 * c + 1]);
        }
}

/* The flux across the lower side of cell (i, j), which is not an end of the range. */
static sum flux_of(const plane *s, int axis, size_t i, size_t j)
{
    const double h = 1 / (double)s->n, *at = s->face[axis] + 2 * face_of(s, axis, i, j), z = 2 * h * at[0] / at[1];
    const size_t right = cell(s, i, j), left = axis ? cell(s, i, j - 1) : cell(s, i - 1, j);
    const size_t own = 3 * (size_t)axis;
    sum flux = {0};
    add_part(&flux, left, bernoulli(-z) * s->a[4 * left + own] / (2 * h));
    add_part(&flux, right, -bernoulli(z) * s->a[4 * right + own] / (2 * h));
    add_corner(s, axis, i, j, 1, -0.5 / h, &flux);
    add_corner(s, axis, i, j, 0, 0.5 / h, &flux);
    return flux;
}

/* ---- The system ---- */

static void assemble_face(plane *s, int axis, size_t i, size_t j)
{
    const sum flux = flux_of(s, axis, i, j);
    const size_t right = cell(s, i, j), left = axis ? cell(s, i, j - 1) : cell(s, i - 1, j);
    for (size_t k = 0; k < flux.count; k++) {
        *sk_band_at(s->band, left, flux.cell[k]) += flux.weight[k];
        *sk_band_at(s->band, right, flux.cell[k]) -= flux.weight[k];
    }
}

/* The outflow of every cell, and a little of the identity: it has an inverse then, and inverse iteration finds the
 * vector that it nearly sends to 0. */
static void assemble(plane *s)
{
    const size_t n = s->n;
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            if (i > 0) assemble_face(s, 0, i, j);
            if (j > 0) assemble_face(s, 1, i, j);
        }
    for (size_t c = 0; c < n * n; c++) largest = fmax(largest, fabs(*sk_band_at(s->band, c, c)));
    for (size_t c = 0; c < n * n; c++) *sk_band_at(s->band, c, c) += 1e-14 * largest;
}

static double total(size_t count, const double *x)
{
    double all = 0;
    for (size_t i = 0; i < count; i++) all += x[i];
    return all;
}

/* p with mean 1 over the cells: a density in shares of the range. */
static void iterate(plane *s)
{
    const size_t cells = s->n * s->n;
    for (size_t c = 0; c < cells; c++) s->p[c] = 1;
    for (int i = 0; i < 4; i++) {
        sk_band_solve(s->band, s->p);
        const double mean = total(cells, s->p) / (double)cells;
        for (size_t c = 0; c < cells; c++) s->p[c] /= mean;
    }
}

static bool is_density(const plane *s, char *reason)
{
    double negative = 0;
    for (size_t c = 0; c < s->n * s->n; c++) negative += fmax(-s->p[c], 0) / (double)(s->n * s->n);
    if (sk_explain_grid_bears(negative)) return true;
    snprintf(reason, REASON, "no density on a grid of %zu x %zu cells: f is too steep for them, or a too correlated",
             s->n, s->n);
    return false;
}

static void find_fluxes(plane *s)
{
    for (int axis = 0; axis < 2; axis++)
        for (size_t i = axis ? 0 : 1; i < s->n; i++)
            for (size_t j = axis ? 1 : 0; j < s->n; j++) {
                const sum flux = flux_of(s, axis, i, j);
                double *to = s->flux[axis] + face_of(s, axis, i, j);
                for (size_t k = 0; k < flux.count; k++) *to += flux.weight[k] * s->p[flux.cell[k]];
            }
}

/* ---- Numbers ---- */

/* The current at the centre of a cell, from its faces. */
static void current_at(const plane *s, size_t i, size_t j, double *current)
{
    current[0] = 0.5 * (s->flux[0][face_of(s, 0, i, j)] + s->flux[0][face_of(s, 0, i + 1, j)]);
    current[1] = 0.5 * (s->flux[1][face_of(s, 1, i, j)] + s->flux[1][face_of(s, 1, i, j + 1)]);
}

/* 2 J' a^-1 J / p. */
static double production(const double *a, const double *j, double p)
{
    const double det = a[0] * a[3] - a[1] * a[1];
    return 2 * (a[3] * j[0] * j[0] - 2 * a[1] * j[0] * j[1] + a[0] * j[1] * j[1]) / (det * p);
}

static void tell_moments(const plane *s, double *out)
{
    const size_t n = s->n, cells = n * n;
    double first[2] = {0}, second[3] = {0}, edges = 0;
    for (size_t c = 0; c < cells; c++) {
        const double share = s->p[c] / (double)cells, x = ((double)(c / n) + 0.5) / (double)n,
                     y = ((double)(c % n) + 0.5) / (double)n;
        first[0] += share * x, first[1] += share * y;
        second[0] += share * x * x, second[1] += share * y * y, second[2] += share * x * y;
        if (c / n == 0 || c / n + 1 == n || c % n == 0 || c % n + 1 == n) edges += share;
    }
    double sd[2];
    for (size_t k = 0; k < 2; k++) {
        sd[k] = sqrt(second[k] - first[k] * first[k]);
        out[SK_PLANE_MEAN + k] = s->ask->lower[k] + s->width[k] * first[k];
        out[SK_PLANE_SD + k] = s->width[k] * sd[k];
    }
    out[SK_PLANE_CORRELATION] = (second[2] - first[0] * first[1]) / (sd[0] * sd[1]);
    out[SK_PLANE_EDGES] = edges;
}

static void tell_entropy(const plane *s, double *out)
{
    const size_t n = s->n, cells = n * n;
    double top = 0, entropy = 0;
    for (size_t c = 0; c < cells; c++) top = fmax(top, s->p[c]);
    for (size_t c = 0; c < cells; c++) {
        double j[2];
        current_at(s, c / n, c % n, j);
        if (!sk_explain_is_empty(s->p[c], top)) entropy += production(s->a + 4 * c, j, s->p[c]) / (double)cells;
    }
    out[SK_PLANE_ENTROPY] = entropy;
}

/* In the units of the states. */
static void give_fields(const plane *s, const sk_plane_fields *fields)
{
    const double area = s->width[0] * s->width[1];
    for (size_t c = 0; fields && c < s->n * s->n; c++) {
        double j[2];
        current_at(s, c / s->n, c % s->n, j);
        fields->p[c] = s->p[c] / area;
        for (size_t k = 0; k < 2; k++) fields->j[k][c] = j[k] * s->width[k] / area;
    }
}

static sock_status solve(plane *s, double *out, const sk_plane_fields *fields, char *reason)
{
    ask_centres(s);
    ask_faces(s, 0);
    ask_faces(s, 1);
    if (!is_regular(s, reason)) return SOCK_OK;
    assemble(s);
    SK_TRY(sk_progress(s->ask->ctx, "Fokker-Planck", -1));
    SK_TRY(sk_band_factor(s->ask->ctx, s->band));
    iterate(s);
    if (!is_density(s, reason)) return SOCK_OK;
    find_fluxes(s);
    tell_moments(s, out);
    tell_entropy(s, out);
    give_fields(s, fields);
    return SOCK_OK;
}

sock_status sk_plane_numbers(const sk_asker *ask, size_t n, double *out, const sk_plane_fields *fields, char *reason)
{
    plane s;
    char unheard[REASON];
    for (size_t i = 0; i < SK_PLANE_NUMBERS; i++) out[i] = NAN;
    SK_TRY(plane_new(ask, n, &s));
    const sock_status status = solve(&s, out, fields, reason ? reason : unheard);
    plane_clear(&s);
    return status;
}
