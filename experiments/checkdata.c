/* checkdata.c - see checkdata.h. Paths are simulated gap after gap with 20 inner steps, or as many as the scene says
 * (those of second order by `systems`); all normal numbers are increments of simulated Brownian motions, so that no
 * generator is needed here. */
#define _DEFAULT_SOURCE
#include "experiments/checkdata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INNER = 20, PATHS = 10, POINTS = 101 };

/* ---- Fields ---- */

static double forcing(const check_time *now)
{
    const check_scene *s = now->scene;
    const double end = s->gap * (double)(s->points - 1);
    const double season = s->period > 0 ? s->wave * sin(2 * M_PI * now->t / s->period) : 0;
    return s->slope * (now->t - end / 2) + season;
}

static void ou_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double push = forcing(user);
    for (size_t i = 0; i < count * d; i++) f[i] = push - x[i];
}

static void well_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    const double push = forcing(user);
    for (size_t i = 0; i < count * d; i++) f[i] = push + x[i] - x[i] * x[i] * x[i];
}

static void gbm_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    memcpy(f, x, count * d * sizeof *f);
}

static void flat_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user, (void)x;
    memset(f, 0, count * d * sizeof *f);
}

/* A position in the double well, pushed by its velocity alone, which forgets within 1 / FRICTION. */
static const double FRICTION = 20;

static void hidden_f(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const double *z = x + i * d;
        f[i * d] = z[1];
        f[i * d + 1] = FRICTION * (z[0] - z[0] * z[0] * z[0] - z[1]);
    }
}

static void hidden_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count; i++) a[i * d * d + d * d - 1] = FRICTION * FRICTION * 0.25;
}

static void constant_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    const check_time *now = user;
    (void)x;
    for (size_t i = 0; i < count * d; i++) a[i] = now->scene->a;
}

static void bowl_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) a[i] = 0.16 * (1 + 2 * x[i] * x[i]);
}

static void gbm_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) a[i] = 0.09 * x[i] * x[i];
}

static void unit_a(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user, (void)x;
    for (size_t i = 0; i < count * d; i++) a[i] = 1;
}

/* ---- The table ---- */

#define WELL .d = 1, .paths = PATHS, .points = POINTS, .gap = 0.05, .drift = well_f, .diffusion = constant_a, .a = 0.25
#define OU .d = 1, .paths = PATHS, .points = POINTS, .gap = 0.05, .drift = ou_f, .diffusion = constant_a, .a = 1
#define BOWL .d = 1, .paths = PATHS, .points = POINTS, .gap = 0.05, .drift = ou_f, .diffusion = bowl_a

#define SECOND                                                                                                         \
    .d = 1, .paths = 100, .points = 51, .gap = 0.1, .a = 1, .options = {"order", "2"}, .right = 1, .goal = 0.06,       \
    .pattern = "none"
#define SEEN .noise = 0.004 /* of h a with a = 1: a standard deviation of 0.02 */

/* clang-format off */
const check_scene check_scenes[] = {
    {"ou", "Ornstein-Uhlenbeck", OU, .right = 1, .goal = 0.06, .pattern = "none"},
    {"doublewell", "double well", WELL, .right = 1, .goal = 0.06, .pattern = "none"},
    {"gbm", "geometric Brownian motion", .d = 1, .paths = PATHS, .points = POINTS, .gap = 0.01, .drift = gbm_f,
     .diffusion = gbm_a, .right = 1, .goal = 0.06, .pattern = "none"},
    {"bowl", "a = 0.16 (1 + 2 x^2)", BOWL, .right = 1, .goal = 0.06, .pattern = "none"},
    {"one-path", "double well, one path of 3000 steps", .d = 1, .paths = 1, .points = 3001, .gap = 0.05, .drift = well_f,
     .diffusion = constant_a, .a = 0.25, .right = 1, .goal = 0.06, .pattern = "none"},
    {"noise-0.1", "noise of 0.1 h a on the points", WELL, .noise = 0.1, .options = {"noise", "none"},
     .goal = 0.25, .pattern = "noise"},
    {"noise-0.3", "noise of 0.3 h a on the points", WELL, .noise = 0.3, .options = {"noise", "none"},
     .goal = 0.8, .pattern = "noise"},
    {"hidden", "a position without its velocity", .d = 2, .paths = PATHS, .points = POINTS, .gap = 0.05, .drift = hidden_f,
     .diffusion = hidden_a, .goal = 0.95, .pattern = "memory"},
    {"jumps", "jumps N(0, 0.25) at rate 1", WELL, .jump = 0.5, .jump_rate = 1, .goal = 0.95, .pattern = "jumps"},
    {"tilt", "a push 0.2 (t - T/2)", WELL, .slope = 0.2, .goal = 0.6, .pattern = "time"},
    {"season", "a push 1.5 sin(2 pi t / 1.2), one path", .d = 1, .paths = 1, .points = 1001, .gap = 0.1, .drift = ou_f,
     .diffusion = constant_a, .a = 1, .wave = 1.5, .period = 1.2, .goal = 0.9, .pattern = "season"},
    {"stiff-f", "double well, drift linear", WELL, .options = {"drift", "linear"}, .goal = 0.9, .pattern = "drift"},
    {"stiff-a", "a = 0.16 (1 + 2 x^2), diffusion constant", BOWL, .options = {"diffusion", "constant"}, .goal = 0.6,
     .pattern = "diffusion"},
    {"long-steps", "double well, h = 1, by Euler's rule", .d = 1, .paths = PATHS, .points = POINTS, .gap = 1,
     .drift = well_f, .diffusion = constant_a, .a = 0.25,
     .options = {"substeps", "1", "quadrature", "left", "correction", "no"}, .goal = 0.9, .pattern = "long-steps"},
    {"autoregression", "Ornstein-Uhlenbeck, h = 1, one path: a clean autoregression", .d = 1, .paths = 1, .points = 1001,
     .gap = 1, .inner = 400, .drift = ou_f, .diffusion = constant_a, .a = 1, .right = 1, .goal = 0.06, .pattern = "none"},
    {"ou-long", "Ornstein-Uhlenbeck, h = 1", .d = 1, .paths = PATHS, .points = POINTS, .gap = 1, .inner = 400, .drift = ou_f,
     .diffusion = constant_a, .a = 1, .right = 1, .goal = 0.06, .pattern = "none"},
    {"well-long", "double well, h = 0.5", .d = 1, .paths = PATHS, .points = POINTS, .gap = 0.5, .inner = 200, .drift = well_f,
     .diffusion = constant_a, .a = 0.25, .right = 1, .goal = 0.06, .pattern = "none"},
    {"ou-noise", "Ornstein-Uhlenbeck, noise of 0.3 h a, fitted with it", OU, .noise = 0.3, .right = 1, .goal = 0.06,
     .pattern = "none"},
    {"well-noise", "double well, 30 paths, noise of 0.3 h a, fitted with it", .d = 1, .paths = 3 * PATHS, .points = POINTS,
     .gap = 0.05, .drift = well_f, .diffusion = constant_a, .a = 0.25, .noise = 0.3, .right = 1, .goal = 0.06,
     .pattern = "none"},
    {"harmonic", "harmonic oscillator, positions alone", "harmonic", SECOND},
    {"pendulum", "pendulum, positions alone", "pendulum", SECOND},
    {"duffing", "Duffing's oscillator, positions alone", "duffing", SECOND},
    {"vanderpol", "van der Pol's oscillator, positions alone", "vanderpol", SECOND},
    {"harmonic-noise", "its positions with noise of sd 0.02, fitted with it", "harmonic", SECOND, SEEN},
    {"pendulum-noise", "the same", "pendulum", SECOND, SEEN},
    {"duffing-noise", "the same", "duffing", SECOND, SEEN},
    {"vanderpol-noise", "the same", "vanderpol", SECOND, SEEN},
    {"subjects", "Ornstein-Uhlenbeck about set points of their own", .d = 1, .paths = 2 * PATHS, .points = 41, .gap = 0.25,
     .drift = ou_f, .diffusion = constant_a, .a = 1, .apart = 2, .goal = 0.8, .pattern = "subjects"},
};

const check_scene cover_scenes[] = {
    {"ou-noise", "Ornstein-Uhlenbeck, noise of 0.3 h a on the points", OU, .noise = 0.3},
    {"doublewell-noise", "double well, noise of 0.3 h a on the points", WELL, .noise = 0.3},
    {"ou-long", "Ornstein-Uhlenbeck, h = 1", .d = 1, .paths = PATHS, .points = POINTS, .gap = 1, .inner = 400,
     .drift = ou_f, .diffusion = constant_a, .a = 1},
    {"doublewell-long", "double well, h = 0.5", .d = 1, .paths = PATHS, .points = POINTS, .gap = 0.5, .inner = 200, .drift = well_f,
     .diffusion = constant_a, .a = 0.25},
};
/* clang-format on */
const size_t check_scene_count = sizeof check_scenes / sizeof *check_scenes;
const size_t cover_scene_count = sizeof cover_scenes / sizeof *cover_scenes;

const check_scene *check_find(const char *name)
{
    for (size_t i = 0; i < check_scene_count; i++)
        if (strcmp(check_scenes[i].name, name) == 0) return check_scenes + i;
    return NULL;
}

/* Each scene has random numbers of its own. */
static uint64_t number_of(const check_scene *s)
{
    for (size_t i = 0; i < check_scene_count; i++)
        if (s == check_scenes + i) return i;
    return 48 + (uint64_t)(s - cover_scenes);
}

/* ---- Simulation ---- */

typedef struct maker {
    sock_context *ctx;
    const check_scene *scene;
    uint64_t seed;
    check_time now;
    sock_model *model, *brownian;
    double *x, *next;           /* paths x d; paths x 2 x d */
    double *kept;               /* paths x points */
    double *noise, *size, *due; /* normal numbers: paths x points each */
} maker;

/* Normal numbers, paths x points, of a stream of their own. */
static sock_status normals(const maker *m, uint64_t stream, double *out)
{
    const check_scene *s = m->scene;
    const size_t points = s->points;
    double *t = calloc(points + 1, sizeof *t), *x0 = calloc(s->paths, sizeof *x0),
           *walk = calloc(s->paths * (points + 1), sizeof *walk);
    sock_status status = t && x0 && walk ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i <= points; i++) t[i] = (double)i;
    const sock_simulation spec = {.starts = s->paths,
                                  .x0 = x0,
                                  .paths = 1,
                                  .times = points + 1,
                                  .t = t,
                                  .step = 1,
                                  .seed = m->seed,
                                  .first_start = (stream + 1) << 40};
    if (status >= 0) status = sock_simulate(m->ctx, m->brownian, &spec, walk, NULL, NULL);
    for (size_t i = 0; status >= 0 && i < s->paths * points; i++) {
        const double *at = walk + i / points * (points + 1) + i % points;
        out[i] = at[1] - at[0];
    }
    free(t);
    free(x0);
    free(walk);
    return status;
}

/* One gap for all paths; jumps come at its end. */
static sock_status advance(maker *m, size_t i)
{
    const check_scene *s = m->scene;
    const double t[2] = {0, s->gap};
    const sock_simulation spec = {.starts = s->paths,
                                  .x0 = m->x,
                                  .paths = 1,
                                  .times = 2,
                                  .t = t,
                                  .step = s->gap / (s->inner > 0 ? s->inner : INNER),
                                  .seed = m->seed,
                                  .first_start = i * s->paths};
    m->now.t = s->gap * (double)i;
    const sock_status status = sock_simulate(m->ctx, m->model, &spec, m->next, NULL, NULL);
    for (size_t j = 0; status >= 0 && j < s->paths; j++) {
        memcpy(m->x + j * s->d, m->next + (2 * j + 1) * s->d, s->d * sizeof *m->x);
        const double chance = 0.5 * erfc(m->due[j * s->points + i] / M_SQRT2);
        if (chance < s->jump_rate * s->gap) m->x[j * s->d] += s->jump * m->size[j * s->points + i];
    }
    return status < 0 ? status : SOCK_OK;
}

/* Starts are spread over [-1, 1], a little apart for each seed. */
static void start(maker *m)
{
    const check_scene *s = m->scene;
    for (size_t j = 0; j < s->paths; j++) {
        const double at = fmod(0.5 + 0.618034 * (double)(j + 1) + 0.754878 * (double)m->seed, 1);
        m->x[j * s->d] = 2 * at - 1;
    }
}

static sock_status walk_paths(maker *m)
{
    const check_scene *s = m->scene;
    sock_status status = normals(m, 0, m->noise);
    if (status >= 0) status = normals(m, 1, m->size);
    if (status >= 0) status = normals(m, 2, m->due);
    if (status < 0) return status;
    start(m);
    for (size_t i = 0; status >= 0 && i < s->points; i++) {
        for (size_t j = 0; j < s->paths; j++)
            m->kept[j * s->points + i] = m->x[j * s->d] + s->apart * m->size[j * s->points] +
                                         sqrt(s->noise * s->gap * s->a) * m->noise[j * s->points + i];
        if (i + 1 < s->points) status = advance(m, i);
    }
    return status;
}

static sock_status as_data(const maker *m, sock_data **out)
{
    const check_scene *s = m->scene;
    size_t *length = calloc(s->paths, sizeof *length);
    double *t = calloc(s->paths * s->points, sizeof *t);
    const char *const names[] = {"x"};
    sock_options *opts = sock_options_new(m->ctx);
    sock_status status = length && t && opts ? sock_options_set(m->ctx, opts, "grouping", "none") : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < s->paths; j++) length[j] = s->points;
    for (size_t i = 0; status >= 0 && i < s->paths * s->points; i++) t[i] = s->gap * (double)(i % s->points);
    if (status >= 0) status = sock_data_from_arrays(m->ctx, 1, s->paths, length, t, m->kept, names, NULL, opts, out);
    sock_options_free(opts);
    free(length);
    free(t);
    return status;
}

/* ---- Second order ---- */

static sock_status instance_of(sock_context *ctx, const check_scene *s, uint64_t seed, sys_instance **out)
{
    const sock_status status = sys_new(ctx, sys_find(s->system), seed, out);
    if (status >= 0) (*out)->trajectories[SYS_TRAIN] = s->paths;
    return status;
}

/* Positions of the system's first paths, with noise. */
static sock_status take_positions(maker *m, uint64_t seed)
{
    const check_scene *s = m->scene;
    sys_instance *instance = NULL;
    sock_data *data = NULL;
    sock_status status = instance_of(m->ctx, s, seed, &instance);
    if (status >= 0) status = sys_generate(m->ctx, instance, SYS_TRAIN, &data);
    if (status >= 0) status = normals(m, 0, m->noise);
    for (size_t j = 0; status >= 0 && j < s->paths; j++) {
        const double *t, *x;
        sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i < s->points; i++)
            m->kept[j * s->points + i] = x[i] + sqrt(s->noise * s->gap * s->a) * m->noise[j * s->points + i];
    }
    sock_data_free(data);
    sys_free(instance);
    return status;
}

sock_status check_truth(sock_context *ctx, const check_scene *s, uint64_t seed, check_time *now,
                        sys_instance **instance, sock_model **out)
{
    *instance = NULL;
    if (!s->system) return sock_model_wrap(ctx, s->d, NULL, s->drift, s->diffusion, now, out);
    const sock_status status = instance_of(ctx, s, seed, instance);
    return status < 0 ? status : sys_truth(ctx, *instance, out);
}

static double *numbers(size_t count) { return calloc(count, sizeof(double)); }

sock_status check_data(sock_context *ctx, const check_scene *s, uint64_t seed, sock_data **out)
{
    const size_t all = s->paths * s->points;
    maker m = {.ctx = ctx, .scene = s, .seed = 64 * seed + number_of(s), .now = {s, 0}};
    m.x = numbers(s->paths * s->d);
    m.next = numbers(2 * s->paths * s->d);
    m.kept = numbers(all);
    m.noise = numbers(all);
    m.size = numbers(all);
    m.due = numbers(all);
    sock_status status = m.x && m.next && m.kept && m.noise && m.size && m.due ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && !s->system) status = sock_model_wrap(ctx, s->d, NULL, s->drift, s->diffusion, &m.now, &m.model);
    if (status >= 0) status = sock_model_wrap(ctx, 1, NULL, flat_f, unit_a, NULL, &m.brownian);
    if (status >= 0) status = s->system ? take_positions(&m, seed) : walk_paths(&m);
    if (status >= 0) status = as_data(&m, out);
    sock_model_free(m.model);
    sock_model_free(m.brownian);
    free(m.x);
    free(m.next);
    free(m.kept);
    free(m.noise);
    free(m.size);
    free(m.due);
    return status;
}
