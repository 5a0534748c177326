/* noiseclaims.c - see noiseclaims.h. Errors are those at clean points of another path. */
#define _GNU_SOURCE
#include "experiments/noiseclaims.h"

#include "api/record.h"
#include "experiments/noiseoracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- The table ---- */

#define CASES(CASE)                                                                                                    \
    CASE(ourot, "ourot", 1, 10000, 0.02, .ratio = 1.15, .a = 5)                                                        \
    CASE(well, "well", 1, 10000, 0.02, .ratio = 1.3, .a = 4)                                                           \
    CASE(lorenz63, "lorenz63", 10, 1000, 0.01, .clean_f = 0.8, .worse = 1.5, .exact = 1)                               \
    CASE(maier, "maier", 1, 10000, 0.02, .ratio = 0)                                                                   \
    CASE(ou2, "ou2", 40, 61, 0.05, .worse = 2, .some_a = 15, .full_a = 25, .off = 0.25)                                \
    CASE(vdp, "vdp", 40, 61, 0.05, .worse = 1.5, .some_f = 3, .some_a = 15, .full_a = 25, .off = 0.25)                 \
    CASE(wellvar, "wellvar", 60, 101, 0.05, .ratio = 0)                                                                \
    CASE(gbm, "gbm", 100, 51, 0.02, .ratio = 0)                                                                        \
    CASE(exp, "exp", 60, 11, 0.1, .ratio = 0)                                                                          \
    CASE(lorenz96, "lorenz96", 40, 41, 0.03, .ratio = 0)                                                               \
    CASE(cir, "cir", 40, 101, 0.05, .ratio = 0)                                                                        \
    CASE(neuron, "neuron", 20, 201, 0.05, .ratio = 0)                                                                  \
    CASE(pendulum, "pendulum", 30, 101, 0.05, .ratio = 0)                                                              \
    CASE(prey, "prey", 20, 151, 0.05, .ratio = 0)                                                                      \
    CASE(chain6, "chain6", 10, 301, 0.05, .ratio = 0)                                                                  \
    CASE(chain10, "chain10", 10, 201, 0.05, .ratio = 0)                                                                \
    CASE(ourot_5, "ourot", 1, 5000, 0.1, .ratio = 0)                                                                   \
    CASE(well_5, "well", 1, 5000, 0.1, .ratio = 0)                                                                     \
    CASE(well_long, "well", 1, 3000, 0.5, .clean_f = 12, .clean_a = 8, .plain = 1, .is_long = 1)                       \
    CASE(ou_long, "ou", 1, 3000, 1, .clean_f = 6, .clean_a = 6, .plain = 1, .is_long = 1)                              \
    CASE(ourot_half, "ourot", 60, 21, 0.5, .clean_a = 12, .is_long = 1)                                                \
    CASE(ourot_long, "ourot", 60, 21, 1, .clean_f = 20, .is_long = 1)                                                  \
    CASE(vdp_long, "vdp", 60, 21, 0.4, .is_long = 1)                                                                   \
    CASE(wellvar_long, "wellvar", 60, 21, 0.4, .is_long = 1)

#define ROW(name, ...) {#name, __VA_ARGS__},
#define NAME(name, ...) #name,

const noise_case noise_cases[] = {CASES(ROW)};
const size_t noise_case_count = COUNT(noise_cases);
const char *const noise_case_names[] = {CASES(NAME) NULL};
const char *const noise_level_names[] = {"0", "0.1", "0.3", "1", NULL};

void noise_level_case(const char *level, char *out, size_t size) { snprintf(out, size, "noise %s", level); }

/* ---- Fits ---- */

typedef struct attempt {
    sock_model *model;
    double f, a; /* relative errors, percent */
    double seconds;
} attempt;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* plain: neither noise nor substeps. */
static sock_status fit(sock_context *ctx, const sock_data *data, int plain, attempt *out)
{
    const double begun = cpu_seconds();
    sock_options *opts = sock_options_new(ctx);
    sock_status status = opts ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0 && plain) status = sock_options_set(ctx, opts, "noise", "none");
    if (status >= 0 && plain) status = sock_options_set(ctx, opts, "substeps", "1");
    if (status >= 0) status = sock_fit(ctx, data, opts, &out->model);
    sock_options_free(opts);
    out->seconds = cpu_seconds() - begun;
    return status;
}

/* ---- Errors ---- */

enum { MOST_POINTS = 4000 };

/* At points of the path. */
static sock_status errors(sock_context *ctx, const noise_paths *at, const sock_model *truth, attempt *t)
{
    const size_t d = at->system->d, all = at->paths * at->points, by = 1 + all / MOST_POINTS;
    const size_t count = (all + by - 1) / by, each = d + d * d;
    double *room = malloc(count * (d + 2 * each) * sizeof *room), *x = room, *one = x + count * d;
    double *other = one + count * each;
    if (!room) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) memcpy(x + i * d, at->x + i * by * d, d * sizeof *x);
    sock_status status = sock_model_drift(ctx, truth, count, x, one);
    if (status >= 0) status = sock_model_diffusion(ctx, truth, count, x, one + count * d);
    if (status >= 0) status = sock_model_drift(ctx, t->model, count, x, other);
    if (status >= 0) status = sock_model_diffusion(ctx, t->model, count, x, other + count * d);
    t->f = claim_percent(count * d, one, other);
    t->a = claim_percent(count * d * d, one + count * d, other + count * d);
    free(room);
    return status;
}

/* Whether both models have the same f and a at points of the path, to the last bit. */
static sock_status compare_bits(sock_context *ctx, const noise_paths *at, const sock_model *one,
                                const sock_model *other, double *unlike)
{
    const size_t d = at->system->d, count = at->paths * at->points, each = d + d * d;
    double *f[2], *room = malloc(2 * count * each * sizeof *room);
    sock_status status = room ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < 2; i++) {
        f[i] = room + i * count * each;
        status = sock_model_drift(ctx, i ? other : one, count, at->x, f[i]);
        if (status >= 0) status = sock_model_diffusion(ctx, i ? other : one, count, at->x, f[i] + count * d);
    }
    if (status >= 0) *unlike = memcmp(f[0], f[1], count * each * sizeof *room) != 0;
    free(room);
    return status;
}

/* ---- One case ---- */

typedef struct scene {
    const noise_case *c;
    const char *level;
    double variance[NOISE_MOST_DIM]; /* of the noise */
    noise_paths paths, other;        /* other: where errors are taken */
    double *y;
    sock_data *data;
    noise_instance true_weights, best_weights;
    sock_model *truth;
    attempt found, plain, oracle;
} scene;

static void scene_clear(scene *s)
{
    noise_free(&s->paths);
    noise_free(&s->other);
    free(s->y);
    sock_data_free(s->data);
    sock_model_free(s->truth);
    sock_model_free(s->found.model);
    sock_model_free(s->plain.model);
    sock_model_free(s->oracle.model);
}

static int is_clean(const scene *s) { return strcmp(s->level, "0") == 0; }

static sock_status set_scene(sock_context *ctx, scene *s, uint64_t seed)
{
    enum { OTHER = 1000000, NOISE = 2000000 }; /* seeds of their own */
    const noise_system *system = noise_find(s->c->system);
    s->paths = s->other = (noise_paths){system, s->c->paths, s->c->points, s->c->h, NULL};
    s->true_weights.system = system;
    memcpy(s->true_weights.weight, system->weight, sizeof system->weight);
    sock_status status = noise_simulate(ctx, &s->paths, seed);
    if (status >= 0) status = noise_simulate(ctx, &s->other, seed + OTHER);
    if (status < 0) return status;
    noise_step_variances(&s->paths, s->variance);
    for (size_t k = 0; k < system->d; k++) s->variance[k] *= strtod(s->level, NULL);
    s->y = malloc(s->c->paths * s->c->points * system->d * sizeof *s->y);
    status = s->y ? noise_measure(ctx, &s->paths, s->variance, seed + NOISE, s->y) : SOCK_ENOMEM;
    if (status >= 0) status = noise_data(ctx, &s->paths, s->y, &s->data);
    return status < 0 ? status : noise_wrap(ctx, &s->true_weights, &s->truth);
}

static sock_status fit_scene(sock_context *ctx, scene *s)
{
    sock_status status = fit(ctx, s->data, 0, &s->found);
    if (status >= 0) status = fit(ctx, s->data, 1, &s->plain);
    if (status >= 0) status = noise_oracle(&s->paths, s->y, is_clean(s) ? NULL : s->variance, &s->best_weights);
    if (status >= 0) status = noise_wrap(ctx, &s->best_weights, &s->oracle.model);
    if (status >= 0) status = errors(ctx, &s->other, s->truth, &s->found);
    if (status >= 0) status = errors(ctx, &s->other, s->truth, &s->plain);
    return status < 0 ? status : errors(ctx, &s->other, s->truth, &s->oracle);
}

/* ---- What is told ---- */

/* Whether the drift has another number of terms than the truth has weights. */
static sock_status wrong_terms(sock_context *ctx, const sock_model *model, size_t terms, double *out)
{
    char *text = NULL;
    sock_status status = sock_model_terms(ctx, model, &text);
    json_t *all = status >= 0 ? json_loads(text, 0, NULL) : NULL;
    const json_t *drift = json_object_get(all, "drift");
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(drift); i++) {
        const json_t *by = json_object_get(json_array_get(drift, i), "coefficients");
        for (size_t k = 0; k < json_array_size(by); k++) count += fabs(json_number_value(json_array_get(by, k))) > 1e-6;
    }
    *out = count != terms;
    json_decref(all);
    sock_string_free(text);
    return status;
}

/* Geometric mean of R-hat / R over the states. */
static double noise_ratio(const scene *s)
{
    const size_t d = s->paths.system->d;
    double r[NOISE_MOST_DIM * NOISE_MOST_DIM], sum = 0;
    sock_model_noise(s->found.model, r);
    for (size_t k = 0; k < d; k++) sum += log(r[k * (d + 1)] / s->variance[k]) / (double)d;
    return exp(sum);
}

/* Of the test; NaN: it was not made. */
static double largest_z(const sk_record *r)
{
    const sk_numbers *z = &r->found.noise.z;
    double largest = z->count ? -(double)INFINITY : (double)NAN;
    for (size_t k = 0; k < z->count; k++) largest = fmax(largest, z->value[k]);
    return largest;
}

typedef struct measure {
    const char *name;
    double value, goal; /* goal 0: none */
    const char *of;
} measure;

static sock_status tell_all(const claim_teller *to, const char *name, size_t count, const measure *m)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < count; i++)
        if (!isnan(m[i].value))
            status = claim_tell(to, name, m[i].name, m[i].value, m[i].goal, m[i].goal > 0 ? m[i].of : CLAIM_NONE);
    return status;
}

typedef struct case_goals {
    double f, a, off;
} case_goals;

static case_goals goals_of(const noise_case *c, const char *level)
{
    const double share = strtod(level, NULL);
    case_goals goal = {0, c->a, 0};
    if (share == 0) goal.f = c->clean_f;
    if (share == 0.3) goal = (case_goals){c->some_f, c->a, c->off};
    const double own = share == 0 ? c->clean_a : share == 0.3 ? c->some_a : share == 1 ? c->full_a : 0;
    if (!(goal.a > 0)) goal.a = own;
    return goal;
}

static sock_status tell(sock_context *ctx, const claim_teller *to, const scene *s)
{
    const noise_case *c = s->c;
    const int clean = is_clean(s),
              found = sock_model_noise(s->found.model, (double[NOISE_MOST_DIM * NOISE_MOST_DIM]){0});
    const double none = (double)NAN, cost = s->found.seconds / s->plain.seconds;
    double wrong = none, unlike = none;
    char name[40];
    sk_record r;
    sock_status status = sk_record_of_model(ctx, s->found.model, &r);
    if (status >= 0 && c->exact && clean) status = wrong_terms(ctx, s->found.model, s->paths.system->drifts, &wrong);
    if (status >= 0 && clean && !found && r.found.noise.substeps <= 1)
        status = compare_bits(ctx, &s->other, s->found.model, s->plain.model, &unlike);
    const double hint = clean || c->is_long || strcmp(s->level, "0.1") != 0 ? 0 : 0.1;
    const case_goals goal = goals_of(c, s->level);
    const double ratio = !clean && found ? noise_ratio(s) : none;
    const measure all[] = {
        {"RE_f, %", s->found.f, goal.f, CLAIM_MEDIAN},
        {"RE_a, %", s->found.a, goal.a, CLAIM_MEDIAN},
        {"oracle RE_f, %", s->oracle.f, 0, NULL},
        {"oracle RE_a, %", s->oracle.a, 0, NULL},
        {"plain RE_f, %", s->plain.f, 0, NULL},
        {"plain RE_a, %", s->plain.a, 0, NULL},
        {"wrong terms", wrong, 0.2, CLAIM_MEAN},
        {"false alarm", clean ? found : none, 0, NULL},
        {"unlike --noise none", unlike, 1e-9, CLAIM_MEAN},
        {"missed", clean ? none : !found, hint, CLAIM_MEAN},
        {"R over truth", ratio, 0, NULL},
        {"R off by", fabs(ratio - 1), goal.off, CLAIM_MEDIAN},
        {"z", largest_z(&r), 0, NULL},
        {"gain, nats", r.found.noise.gain, 0, NULL},
        {"substeps", (double)r.found.noise.substeps, 0, NULL},
        {"cpu s", s->found.seconds, 0, NULL},
        {"cost, nothing found", r.found.noise.substeps <= 1 && !found ? cost : none, 0, NULL},
        {"cost, found", r.found.noise.substeps > 1 || found ? cost : none, 0, NULL},
    };
    noise_level_case(s->level, name, sizeof name);
    if (status >= 0) status = tell_all(to, name, COUNT(all), all);
    sk_record_clear(&r);
    return status;
}

sock_status noise_case_measure(sock_context *ctx, const claim_teller *to, const noise_case *c, const char *level)
{
    scene s = {.c = c, .level = level};
    sock_status status = set_scene(ctx, &s, to->seed);
    if (status >= 0) status = fit_scene(ctx, &s);
    if (status >= 0) status = tell(ctx, to, &s);
    scene_clear(&s);
    return status;
}
