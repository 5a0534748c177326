/* systems.c - the table of known systems, and their trajectories by Euler-Maruyama with a small step. Counts, times and
 * steps of the paper's systems are those of its section on data sets; the initial box, which it does not give, is the
 * one that reproduces its figures. */
#include "fields.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

#define FIELDS(name) .drift = name##_drift, .diffusion = name##_diffusion, .noise = name##_noise
#define DRAWN ((double)NAN)

/* Names of a hundred states; a system takes the first d of them. */
#define TEN(t)                                                                                                         \
    "x" #t "0", "x" #t "1", "x" #t "2", "x" #t "3", "x" #t "4", "x" #t "5", "x" #t "6", "x" #t "7", "x" #t "8",        \
        "x" #t "9"
#define HUNDRED                                                                                                        \
    "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", TEN(1), TEN(2), TEN(3), TEN(4), TEN(5), TEN(6), TEN(7),      \
        TEN(8), TEN(9), "x100"

/* Lorenz 96 in more dimensions than the paper's ten. */
#define LORENZ96(dimensions, paths)                                                                                    \
    {                                                                                                                  \
        .name = "lorenz96-" #dimensions,                                                                               \
        .title = "Stochastic Lorenz 96 in " #dimensions " dimensions, " #paths " paths", .d = (dimensions),            \
        .names = {HUNDRED}, .parameters = {{"F", 8}, {"sigma", 0.3}}, .trajectories = {(paths), 5, 10}, .points = 101, \
        .horizon = 1, .box = 0.5, .tau = 1e-4, .delta = 1e-3, FIELDS(sys_lorenz96)                                     \
    }

/* Sizes of the systems whose noise vanishes at a bound, and the box their starts are from. */
#define BOUNDED(from, to)                                                                                              \
    .trajectories = {60, 10, 60}, .points = 51, .horizon = 5, .tau = 2e-3, .low = (from), .high = (to)

/* Systems of second order: 300 paths of 5 time units. */
#define OSCILLATOR                                                                                                     \
    .d = 2, .names = {"q", "v_q"}, .order = 2, .trajectories = {300, 20, 40}, .points = 51, .horizon = 5, .tau = 1e-3

static const sys_system table[] = {
    {.name = "gbm",
     .title = "Geometric Brownian motion: dx = x dt + 0.3 x dW",
     .d = 1,
     .names = {"x"},
     .parameters = {{"mu", 1}, {"sigma", 0.3}},
     .trajectories = {70, 10, 20},
     .points = 101,
     .horizon = 1,
     .box = 1,
     .tau = 1e-4,
     FIELDS(sys_gbm)},
    {.name = "expdyn",
     .title = "Exponential dynamics: dx = exp(-x^2) dt + 0.3 exp(-x^2) dW",
     .d = 1,
     .names = {"x"},
     .parameters = {{"sigma", 0.3}},
     .trajectories = {42, 6, 12},
     .points = 11,
     .horizon = 1,
     .box = 1,
     .tau = 1e-4,
     FIELDS(sys_expdyn)},
    {.name = "dense",
     .title = "Dense matrix-valued diffusion: dx = x dt + 0.3 A x b' dW, A and b uniform on (-1, 1) from the seed",
     .d = 2,
     .names = {"x1", "x2"},
     .parameters =
         {{"sigma", 0.3}, {"A11", DRAWN}, {"A12", DRAWN}, {"A21", DRAWN}, {"A22", DRAWN}, {"b1", DRAWN}, {"b2", DRAWN}},
     .trajectories = {70, 10, 20},
     .points = 11,
     .horizon = 1,
     .box = 1,
     .tau = 1e-4,
     .delta = 1e-3,
     FIELDS(sys_dense)},
    {.name = "lorenz96",
     .title = "Stochastic Lorenz 96 in ten dimensions: "
              "dx_i = ((x_{i+1} - x_{i-2}) x_{i-1} - x_i + 8) dt + 0.3 x_i dW_i",
     .d = 10,
     .names = {"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10"},
     .parameters = {{"F", 8}, {"sigma", 0.3}},
     .trajectories = {70, 10, 20},
     .points = 101,
     .horizon = 1,
     .box = 0.5,
     .tau = 1e-4,
     .delta = 1e-3,
     FIELDS(sys_lorenz96)},
    LORENZ96(20, 40),
    LORENZ96(40, 40),
    LORENZ96(100, 200),
    {.name = "sir",
     .title = "Stochastic SIR epidemic (Gillespie), proportions of 200 people, one infected at the start; the truth is "
              "its diffusion approximation",
     .d = 3,
     .names = {"S", "I", "R"},
     .parameters = {{"beta", 0.6}, {"alpha", 1.0 / 14}, {"population", 200}},
     .trajectories = {70, 50, 80},
     .points = 101,
     .horizon = 100,
     .delta = 1e-3,
     .approximate = 1,
     .drift = sys_sir_drift,
     .diffusion = sys_sir_diffusion,
     .jumps = sys_gillespie,
     .ends = SYS_POSITIVE},
    {.name = "ou",
     .title = "Ornstein-Uhlenbeck process: dx = -x dt + dW",
     .d = 1,
     .names = {"x"},
     .parameters = {{"theta", 1}, {"sigma", 1}},
     .trajectories = {70, 10, 20},
     .points = 101,
     .horizon = 5,
     .box = 1,
     .tau = 1e-4,
     FIELDS(sys_ou)},
    {.name = "doublewell",
     .title = "Double well: dx = (x - x^3) dt + 0.5 dW",
     .d = 1,
     .names = {"x"},
     .parameters = {{"sigma", 0.5}},
     .trajectories = {70, 10, 20},
     .points = 101,
     .horizon = 5,
     .box = 1,
     .tau = 1e-4,
     FIELDS(sys_doublewell)},
    {.name = "forced",
     .title = "Forced double well: dx = (x - x^3 + u) dt + 0.5 dW with the known input u = sin(2 pi t / 2.5 + phase); "
              "two more inputs, w and g, do nothing",
     .d = 1,
     .names = {"x"},
     .parameters = {{"sigma", 0.5}, {"period", 2.5}},
     .trajectories = {60, 10, 20},
     .points = 51,
     .horizon = 5,
     .box = 1.5,
     .tau = 1e-3,
     .inputs = 3,
     .needed = 1,
     .input_names = {"u", "w", "g"},
     .holds = {"linear", "linear", "previous"},
     .input = sys_forced_input,
     FIELDS(sys_forced)},
    {.name = "dose",
     .title = "Growth under a dose: dx = (x (1 - x) - 1.5 D / (D + 0.5) x) dt + (0.1 + 0.2 D) x dW, the known input D "
              "changes once; two more inputs, w and g, do nothing",
     .d = 1,
     .names = {"x"},
     .parameters = {{"effect", 1.5}, {"half", 0.5}, {"horizon", 5}},
     .trajectories = {60, 10, 20},
     .points = 51,
     .horizon = 5,
     .tau = 1e-3,
     .inputs = 3,
     .needed = 1,
     .input_names = {"D", "w", "g"},
     .holds = {"previous", "linear", "previous"},
     .input = sys_dose_input,
     FIELDS(sys_dose)},
    {.name = "amyloid",
     .title = "SIMULATED stand-in for a longitudinal amyloid study (no patient's data): logistic growth of an uptake "
              "ratio with state-dependent noise, time in years, 2 to 6 irregular visits",
     .d = 1,
     .names = {"amyloid"},
     .parameters = {{"rate", 0.2}, {"base", 1}, {"capacity", 1.2}, {"sigma", 0.03}},
     .trajectories = {208, 29, 61},
     .tau = 1e-3,
     FIELDS(sys_amyloid)},
    {.name = "harmonic",
     .title = "Harmonic oscillator from positions alone: dv = (-q - 0.5 v) dt + dW",
     OSCILLATOR,
     .parameters = {{"stiffness", 1}, {"friction", 0.5}, {"noise", 1}},
     .box = 1.5,
     FIELDS(sys_harmonic)},
    {.name = "pendulum",
     .title = "Pendulum with friction from angles alone: dv = (-4 sin q - 0.5 v) dt + 0.8 dW",
     OSCILLATOR,
     .parameters = {{"gravity", 4}, {"friction", 0.5}, {"noise", 0.64}},
     .box = 1.5,
     FIELDS(sys_pendulum)},
    {.name = "duffing",
     .title = "Duffing's double well from positions alone: dv = (q - q^3 - 0.7 v) dt + sqrt(0.2 + 0.4 q^2) dW",
     OSCILLATOR,
     .parameters = {{"friction", 0.7}, {"noise", 0.2}, {"growth", 0.4}},
     .box = 1.5,
     FIELDS(sys_duffing)},
    {.name = "vanderpol",
     .title = "Van der Pol's oscillator from positions alone: dv = (2 (1 - q^2) v - q) dt + dW",
     OSCILLATOR,
     .parameters = {{"damping", 2}, {"noise", 1}},
     .box = 1.5,
     FIELDS(sys_vanderpol)},
    {.name = "cir",
     .title = "Cox-Ingersoll-Ross process: dx = (1 - x) dt + sqrt(x) dW",
     .d = 1,
     .names = {"x"},
     .parameters = {{"theta", 1}, {"mu", 1}, {"sigma", 1}},
     BOUNDED(0.05, 2),
     .ends = SYS_POSITIVE,
     FIELDS(sys_cir)},
    {.name = "feller",
     .title = "Feller's branching diffusion, absorbed at 0: dx = 0.2 x dt + sqrt(0.5 x) dW",
     .d = 1,
     .names = {"x"},
     .parameters = {{"rate", 0.2}, {"noise", 0.5}},
     BOUNDED(0.2, 2),
     .ends = SYS_POSITIVE,
     FIELDS(sys_feller)},
    {.name = "logistic",
     .title =
         "Logistic population (Gillespie), in units of 50 individuals: births at rate 2 x, deaths at x (1 + x); the "
         "truth is its diffusion approximation",
     .d = 1,
     .names = {"x"},
     .parameters = {{"birth", 2}, {"death", 1}, {"size", 50}},
     .trajectories = {60, 10, 60},
     .points = 51,
     .horizon = 5,
     .low = 0.04,
     .high = 1.6,
     .approximate = 1,
     .drift = sys_logistic_drift,
     .diffusion = sys_logistic_diffusion,
     .jumps = sys_logistic_jumps,
     .ends = SYS_POSITIVE},
    {.name = "lotka-volterra",
     .title =
         "Lotka-Volterra as a chemical Langevin equation, in units of 60 individuals: prey born at rate x, eaten at "
         "rate x y, predators die at rate y",
     .d = 2,
     .names = {"x", "y"},
     .parameters = {{"size", 60}},
     BOUNDED(0.2, 2),
     .ends = SYS_POSITIVE,
     FIELDS(sys_lotka)},
    {.name = "wright-fisher",
     .title = "Wright-Fisher diffusion of a frequency: dx = (0.3 (1 - x) - 0.2 x) dt + sqrt(0.25 x (1 - x)) dW",
     .d = 1,
     .names = {"x"},
     .parameters = {{"to", 0.3}, {"from", 0.2}, {"noise", 0.25}},
     BOUNDED(0, 1),
     .ends = SYS_FRACTIONS,
     FIELDS(sys_wrightfisher)},
};

size_t sys_count(void) { return sizeof table / sizeof table[0]; }

const sys_system *sys_at(size_t index) { return index < sys_count() ? &table[index] : NULL; }

const sys_system *sys_find(const char *name)
{
    for (size_t i = 0; name && i < sys_count(); i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

size_t sys_parameters(const sys_system *system)
{
    size_t count = 0;
    while (count < SYS_MAX_PARAMETERS && system->parameters[count].name) count++;
    return count;
}

/* The field functions take a plain pointer; it comes back to the functions in fields.c, which only read. */
static void *as_user(const sys_instance *instance)
{
    union {
        const sys_instance *read;
        void *plain;
    } user = {instance};
    return user.plain;
}

static sk_key key_of(const sys_instance *instance) { return (sk_key){instance->seed, SK_PURPOSE_SYSTEM}; }

sock_status sys_new(sock_context *ctx, const sys_system *system, uint64_t seed, sys_instance **out)
{
    sk_begin(ctx);
    if (!system) return sk_fail(ctx, SOCK_EUSAGE, "no system given");
    sys_instance *instance = sk_alloc(ctx, 1, sizeof *instance);
    if (!instance) return SOCK_ENOMEM;
    instance->system = system;
    instance->seed = seed;
    instance->box = system->box;
    memcpy(instance->trajectories, system->trajectories, sizeof instance->trajectories);
    for (size_t i = 0; i < sys_parameters(system); i++) {
        double u;
        sk_uniforms(key_of(instance), 0, SYS_STREAM_PARAMETERS, i, 1, &u);
        double fallback = system->parameters[i].value;
        instance->parameter[i] = isnan(fallback) ? 2 * u - 1 : fallback;
    }
    *out = instance;
    return SOCK_OK;
}

void sys_free(sys_instance *instance) { sk_free(instance); }

/* ---- Trajectories ---- */

/* The sets are far apart in the counter, so that they never share numbers whatever their sizes. */
static uint64_t stream_of(sys_set set, size_t index) { return ((uint64_t)set << 48) + index; }

static void set_start(const sys_instance *instance, uint64_t stream, double *x)
{
    if (strcmp(instance->system->name, "amyloid") == 0) {
        x[0] = sys_amyloid_start(instance, stream);
        return;
    }
    const sys_system *s = instance->system;
    sk_uniforms(key_of(instance), stream, SYS_STREAM_START, 0, s->d, x);
    if (strcmp(s->name, "dose") == 0) {
        x[0] = 0.3 + 0.9 * x[0];
        return;
    }
    for (size_t k = 0; k < s->d; k++)
        x[k] = s->high > 0 ? s->low + (s->high - s->low) * x[k] : instance->box * (2 * x[k] - 1);
}

/* x += f(x) step + sigma(x) dw, sqrt(step) taken into dw. x: the states, and the inputs that the fields need. */
static void euler_step(const sys_instance *instance, double step, const double *normals, double *x)
{
    const sys_system *s = instance->system;
    double f[SYS_MAX_DIM], dw[SYS_MAX_DIM], noise[SYS_MAX_DIM], root = sqrt(step);
    s->drift(as_user(instance), 1, s->d, x, f);
    for (size_t k = 0; k < s->d; k++) dw[k] = root * normals[k];
    s->noise(instance, x, dw, noise);
    for (size_t k = 0; k < s->d; k++) {
        x[k] += step * f[k] + noise[k];
        if (s->ends != SYS_ENDLESS) x[k] = fmax(x[k], 0);
        if (s->ends == SYS_FRACTIONS) x[k] = fmin(x[k], 1);
    }
}

/* Euler-Maruyama with inner steps of tau (shortened so that they divide the gap), recorded at path->t. */
static void euler_maruyama(const sys_instance *instance, const sys_path *path)
{
    enum { CHUNK = 64 };
    const size_t d = instance->system->d;
    double normals[CHUNK * SYS_MAX_DIM], x[SYS_MAX_DIM + SYS_MAX_INPUTS];
    uint64_t used = 0;
    set_start(instance, path->stream, x);
    memcpy(path->x, x, d * sizeof *x);
    for (size_t i = 1; i < path->points; i++) {
        double gap = path->t[i] - path->t[i - 1];
        size_t steps = (size_t)ceil(gap / instance->system->tau - 1e-9);
        for (size_t done = 0; done < steps; done += CHUNK) {
            size_t now = SK_MIN(steps - done, (size_t)CHUNK);
            sk_normals(key_of(instance), path->stream, SYS_STREAM_BROWNIAN, used, now * d, normals);
            used += now * d;
            for (size_t k = 0; k < now; k++) {
                const double step = gap / (double)steps;
                if (instance->system->input)
                    instance->system->input(instance, path->stream, path->t[i - 1] + step * (double)(done + k), x + d);
                euler_step(instance, step, normals + k * d, x);
            }
        }
        memcpy(path->x + i * d, x, d * sizeof *x);
    }
}

typedef struct generation {
    const sys_instance *instance;
    sys_set set;
    const size_t *first; /* trajectories + 1 */
    const double *t;
    double *x;
} generation;

static sock_status generate_range(void *arg, size_t begin, size_t end, int worker)
{
    const generation *g = arg;
    const sys_system *s = g->instance->system;
    (void)worker;
    for (size_t j = begin; j < end; j++) {
        sys_path path = {stream_of(g->set, j), g->first[j + 1] - g->first[j], g->t + g->first[j],
                         g->x + g->first[j] * s->d};
        if (s->noise)
            euler_maruyama(g->instance, &path);
        else
            s->jumps(g->instance, &path);
    }
    return SOCK_OK;
}

/* Times of all trajectories; irregular ones are the amyloid visits. t has room for count * most points. */
static void set_times(const sys_instance *instance, sys_set set, size_t count, size_t *first, size_t *length, double *t)
{
    const sys_system *s = instance->system;
    for (size_t j = 0; j < count; j++) {
        double *times = t + first[j];
        length[j] = s->points ? s->points : sys_amyloid_visits(instance, stream_of(set, j), times);
        for (size_t i = 0; i < s->points; i++) times[i] = s->horizon * (double)i / (double)(s->points - 1);
        first[j + 1] = first[j] + length[j];
    }
}

/* The trajectories with columns for the inputs, which the options name. */
static sock_status with_inputs(sock_context *ctx, const generation *g, size_t count, const size_t *length,
                               sock_data **out)
{
    const sys_system *s = g->instance->system;
    const size_t width = s->d + s->inputs, points = g->first[count];
    const char *names[SYS_MAX_DIM + SYS_MAX_INPUTS];
    char list[200] = "";
    double *z = sk_doubles(ctx, points, width);
    sock_options *opts = sock_options_new(ctx);
    for (size_t k = 0; k < width; k++) names[k] = k < s->d ? s->names[k] : s->input_names[k - s->d];
    for (size_t k = 0; k < s->inputs; k++) {
        strncat(list, k ? "," : "", sizeof list - strlen(list) - 1);
        strncat(list, s->input_names[k], sizeof list - strlen(list) - 1);
    }
    for (size_t j = 0; z && j < count; j++)
        for (size_t i = g->first[j]; i < g->first[j + 1]; i++) {
            memcpy(z + i * width, g->x + i * s->d, s->d * sizeof *z);
            s->input(g->instance, stream_of(g->set, j), g->t[i], z + i * width + s->d);
        }
    sock_status status = z && opts ? sock_options_set(ctx, opts, "input", list) : SOCK_ENOMEM;
    if (status >= 0) status = sock_data_from_arrays(ctx, width, count, length, g->t, z, names, NULL, opts, out);
    sock_options_free(opts);
    sk_free(z);
    return status;
}

sock_status sys_generate(sock_context *ctx, const sys_instance *instance, sys_set set, sock_data **out)
{
    const sys_system *s = instance->system;
    const size_t count = instance->trajectories[set], most = SK_MAX(s->points, (size_t)SYS_MAX_VISITS);
    sk_begin(ctx);
    sock_status status = SOCK_ENOMEM;
    size_t total, *first = sk_alloc(ctx, count + 1, sizeof *first), *length = sk_alloc(ctx, count, sizeof *length);
    double *t = NULL, *x = NULL;
    if (!first || !length) goto out;
    SK_GO(sk_product(ctx, count, most, &total));
    status = SOCK_ENOMEM;
    if (!(t = sk_doubles(ctx, total, 1)) || !(x = sk_doubles(ctx, total, s->d))) goto out;
    set_times(instance, set, count, first, length, t);
    generation g = {instance, set, first, t, x};
    SK_GO(sk_parallel_for(ctx, count, 1, generate_range, &g));
    const size_t seen = s->order == 2 ? s->d / 2 : s->d; /* the others are velocities */
    for (size_t i = 0; seen < s->d && i < first[count]; i++) memmove(x + i * seen, x + i * s->d, seen * sizeof *x);
    status = s->inputs ? with_inputs(ctx, &g, count, length, out)
                       : sock_data_from_arrays(ctx, seen, count, length, t, x, s->names, NULL, NULL, out);
out:
    sk_free(x);
    sk_free(t);
    sk_free(length);
    sk_free(first);
    return status;
}

sock_status sys_truth(sock_context *ctx, const sys_instance *instance, sock_model **out)
{
    const sys_system *s = instance->system;
    double lower[SYS_MAX_DIM], upper[SYS_MAX_DIM];
    for (size_t k = 0; k < s->d; k++) {
        lower[k] = 0;
        upper[k] = s->ends == SYS_FRACTIONS ? 1 : (double)INFINITY;
    }
    sock_model *model = NULL;
    SK_TRY(sock_model_wrap(ctx, s->d, s->names, s->drift, s->diffusion, as_user(instance), &model));
    sock_status status = s->ends == SYS_ENDLESS ? SOCK_OK : sock_model_set_bounds(ctx, model, lower, upper);
    if (status >= 0 && s->order) status = sock_model_set_order(ctx, model, s->order);
    if (status >= 0 && s->needed) status = sock_model_set_inputs(ctx, model, s->needed, s->input_names, s->holds);
    if (status < 0)
        sock_model_free(model);
    else
        *out = model;
    return status;
}
