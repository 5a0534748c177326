/* edgedata.c - see edgedata.h. Paths come from the library's own simulation of the true fields with a tenth of the gap;
 * starts from a Kronecker sequence, so that no random numbers are needed here. */
#include "experiments/edgedata.h"

#include "experiments/claimrows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Systems ---- */

static void constant_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    const edge_system *s = user;
    (void)x;
    for (size_t i = 0; i < count * d * d; i++) a[i] = i % (d * d) % (d + 1) == 0 ? s->a : 0;
}

static void ou_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i];
}

static void well_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = x[i] - x[i] * x[i] * x[i];
}

static void sine_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i] + 0.15 * sin(3 * x[i]);
}

static void gbm_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    memcpy(f, x, count * d * sizeof *f);
}

static void gbm_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) a[i] = 0.09 * x[i] * x[i];
}

static void vanderpol_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const double *y = x + i * d;
        f[i * d] = y[1];
        f[i * d + 1] = (1 - y[0] * y[0]) * y[1] - y[0];
    }
}

/* A position and its velocity: only the velocity is pushed. */
static void oscillator_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        f[i * d] = x[i * d + 1];
        f[i * d + 1] = -x[i * d] - 0.5 * x[i * d + 1];
    }
}

static void oscillator_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    const edge_system *s = user;
    (void)x;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count; i++) a[i * d * d + d * d - 1] = s->a;
}

static void lorenz96_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) {
            const double *y = x + i * d;
            f[i * d + k] = (y[(k + 1) % d] - y[(k + d - 2) % d]) * y[(k + d - 1) % d] - y[k] + 8;
        }
}

static void lorenz96_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) a[i * d * d + k * d + k] = 0.09 * x[i * d + k] * x[i * d + k];
}

/* Each drawn to rest and to its neighbours. */
static void chain_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) {
            const double *y = x + i * d;
            f[i * d + k] = -y[k] + (k > 0 ? 0.8 * (y[k - 1] - y[k]) : 0) + (k + 1 < d ? 0.8 * (y[k + 1] - y[k]) : 0);
        }
}

static const edge_system systems[] = {{"ou", 1, 0.05, 1, 0, ou_f, constant_a, 1},
                                      {"doublewell", 1, 0.05, 1.5, 0, well_f, constant_a, 0.25},
                                      {"sine", 1, 0.05, 1.5, 0, sine_f, constant_a, 1},
                                      {"gbm", 1, 0.01, 1, 0, gbm_f, gbm_a, 0},
                                      {"vanderpol", 2, 0.02, 2, 0, vanderpol_f, constant_a, 0.25},
                                      {"oscillator", 2, 0.02, 1, 0, oscillator_f, oscillator_a, 0.5},
                                      {"chain", 6, 0.05, 1, 0, chain_f, constant_a, 0.5},
                                      {"lorenz96", 0, 0.02, 0.5, 0, lorenz96_f, lorenz96_a, 0}};

const edge_system *edge_find(const char *name)
{
    for (size_t i = 0; i < COUNT(systems); i++)
        if (strcmp(systems[i].name, name) == 0) return &systems[i];
    return NULL;
}

/* ---- Paths ---- */

/* Numbers that fill (0, 1)^d evenly: multiples of powers of the root of z^(d + 1) = z + 1. */
static void set_starts(const edge_paths *p, uint64_t seed, double *x0)
{
    const size_t d = p->system.d;
    double root = 2;
    for (int i = 0; i < 60; i++) root = pow(1 + root, 1.0 / (double)(d + 1));
    for (size_t i = 0; i < p->paths * d; i++) {
        double u = fmod((double)(i / d + 1 + 1000 * (seed % 1000)) * pow(root, -(double)(i % d + 1)), 1);
        x0[i] = p->system.centre + p->system.spread * (2 * u - 1);
    }
}

static sock_status fill_paths(sock_context *ctx, edge_paths *p, uint64_t seed)
{
    double *x0 = malloc(p->paths * p->system.d * sizeof *x0);
    if (!x0) return SOCK_ENOMEM;
    set_starts(p, seed, x0);
    sock_simulation spec = {.starts = p->paths, .x0 = x0, .paths = 1, .times = p->points, .t = p->t, .seed = seed};
    sock_status status = sock_simulate(ctx, p->truth, &spec, p->x, NULL, NULL);
    free(x0);
    return status;
}

sock_status edge_simulate(sock_context *ctx, const char *name, size_t d, size_t paths, size_t points, uint64_t seed,
                          edge_paths *out)
{
    memset(out, 0, sizeof *out);
    out->system = *edge_find(name);
    if (out->system.d == 0) out->system.d = d;
    out->paths = paths;
    out->points = points;
    out->t = malloc(points * sizeof *out->t);
    out->x = malloc(paths * points * out->system.d * sizeof *out->x);
    sock_status status = out->t && out->x ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < points; i++) out->t[i] = (double)i * out->system.gap;
    if (status >= 0)
        status = sock_model_wrap(ctx, out->system.d, NULL, out->system.drift, out->system.diffusion, &out->system,
                                 &out->truth);
    if (status >= 0) status = fill_paths(ctx, out, seed);
    if (status < 0) edge_free(out);
    return status;
}

void edge_free(edge_paths *p)
{
    free(p->t);
    free(p->x);
    sock_model_free(p->truth);
    memset(p, 0, sizeof *p);
}

/* ---- Told in another way ---- */

static const double cosine = 0.86602540378443864676, sine = 0.5;

static double unit_of(edge_telling told) { return told.unit > 0 ? told.unit : 1; }

/* y = T x but for the shift: one vector. */
static void turn(edge_telling told, size_t d, const double *x, double *y)
{
    for (size_t k = 0; k < d; k++) y[k] = unit_of(told) * x[told.backwards ? d - 1 - k : k];
    if (!told.turned) return;
    double first = y[0], second = y[1];
    y[0] = cosine * first - sine * second;
    y[1] = sine * first + cosine * second;
}

/* x = T^-1 y. */
static void turn_back(edge_telling told, size_t d, const double *y, double *x)
{
    double straight[2] = {y[0], d > 1 ? y[1] : 0};
    if (told.turned) {
        straight[0] = cosine * y[0] + sine * y[1];
        straight[1] = -sine * y[0] + cosine * y[1];
    }
    for (size_t k = 0; k < d; k++) {
        const double value = k < 2 ? straight[k] : y[k];
        x[told.backwards ? d - 1 - k : k] = value / unit_of(told);
    }
}

static void tell_point(edge_telling told, size_t d, const double *x, double *room, double *y)
{
    for (size_t k = 0; k < d; k++) room[k] = x[k] + told.shift;
    turn(told, d, room, y);
}

typedef struct arrays {
    size_t trajectories, points;
    size_t *length;
    double *t, *y;
} arrays;

static void add_piece(arrays *to, const edge_paths *p, edge_telling told, size_t path, size_t begin, size_t end)
{
    const size_t d = p->system.d;
    double *room = to->y + (to->points + end - begin) * d; /* there is one point more than needed */
    for (size_t i = begin; i < end; i++) {
        to->t[to->points] = p->t[i];
        tell_point(told, d, p->x + (path * p->points + i) * d, room, to->y + to->points * d);
        to->points++;
    }
    to->length[to->trajectories++] = end - begin;
}

static void tell(const edge_paths *p, edge_telling told, arrays *to)
{
    for (size_t i = 0; i < p->paths; i++) {
        size_t path = told.reversed ? p->paths - 1 - i : i, middle = p->points / 2;
        if (told.cut && path == 0) {
            add_piece(to, p, told, path, 0, middle + 1);
            add_piece(to, p, told, path, middle, p->points);
        } else {
            add_piece(to, p, told, path, 0, p->points);
        }
    }
}

sock_status edge_data(sock_context *ctx, const edge_paths *p, edge_telling told, sock_data **out)
{
    const size_t room = p->paths * p->points + 2;
    arrays to = {.length = malloc((p->paths + 1) * sizeof *to.length),
                 .t = malloc(room * sizeof *to.t),
                 .y = malloc(room * p->system.d * sizeof *to.y)};
    sock_status status = to.length && to.t && to.y ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        tell(p, told, &to);
        status = sock_data_from_arrays(ctx, p->system.d, to.trajectories, to.length, to.t, to.y, NULL, NULL, NULL, out);
    }
    free(to.length);
    free(to.t);
    free(to.y);
    return status;
}

/* a = T^-1 b T^-T: the columns of b, then the rows of what they become. */
static void turn_back_matrix(edge_telling told, size_t d, double *b, double *room)
{
    double *in = room, *back = room + d;
    for (int side = 0; side < 2; side++)
        for (size_t k = 0; k < d; k++) {
            const size_t stride = side == 0 ? d : 1, first = side == 0 ? k : k * d;
            for (size_t l = 0; l < d; l++) in[l] = b[first + l * stride];
            turn_back(told, d, in, back);
            for (size_t l = 0; l < d; l++) b[first + l * stride] = back[l];
        }
}

sock_status edge_fields(sock_context *ctx, const sock_model *model, edge_telling told, size_t count, size_t d,
                        const double *x, double *f, double *a)
{
    double *y = calloc((count + 2) * d, sizeof *y), *room = y ? y + count * d : NULL;
    if (!y) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) tell_point(told, d, x + i * d, room, y + i * d);
    sock_status status = sock_model_drift(ctx, model, count, y, f);
    if (status >= 0) status = sock_model_diffusion(ctx, model, count, y, a);
    for (size_t i = 0; status >= 0 && i < count; i++) {
        turn_back(told, d, f + i * d, room);
        memcpy(f + i * d, room, d * sizeof *f);
        turn_back_matrix(told, d, a + i * d * d, room);
    }
    free(y);
    return status;
}

enum { MOST_POINTS = 4000 };

sock_status edge_change(sock_context *ctx, const edge_paths *p, const sock_model *reference, const sock_model *model,
                        edge_telling told, double *f, double *a)
{
    const size_t d = p->system.d, all = p->paths * p->points, by = 1 + all / MOST_POINTS, count = (all + by - 1) / by;
    double *x = malloc(count * (3 * d + 2 * d * d) * sizeof *x);
    if (!x) return SOCK_ENOMEM;
    double *f0 = x + count * d, *f1 = f0 + count * d, *a0 = f1 + count * d, *a1 = a0 + count * d * d;
    for (size_t i = 0; i < count; i++) memcpy(x + i * d, p->x + i * by * d, d * sizeof *x);
    sock_status status = edge_fields(ctx, reference, (edge_telling){0}, count, d, x, f0, a0);
    if (status >= 0) status = edge_fields(ctx, model, told, count, d, x, f1, a1);
    *f = claim_percent(count * d, f0, f1);
    *a = claim_percent(count * d * d, a0, a1);
    free(x);
    return status;
}
