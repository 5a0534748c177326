/* simulate.c - the front door of simulation: checks the specification, chooses the inner step, deals blocks of paths
 * out to the threads in waves, so that progress is told in between. */
#include "simulate.h"

#include "base/options.h"
#include "euler.h"
#include "innerstep.h"
#include "la/la.h"
#include "model/draw.h"
#include "model/modelinputs.h"

#include <math.h>
#include <string.h>

static sock_status check_times(sock_context *ctx, const sock_simulation *spec)
{
    if (!spec->t || !spec->times) return sk_fail(ctx, SOCK_EUSAGE, "simulate: no output times given");
    for (size_t i = 0; i < spec->times; i++) {
        if (!isfinite(spec->t[i]))
            return sk_fail(ctx, SOCK_EUSAGE, "simulate: output time %zu is not a finite number", i + 1);
        if (i && !(spec->t[i] > spec->t[i - 1]))
            return sk_fail(ctx, SOCK_EUSAGE, "simulate: output times must grow; time %zu is %g after %g", i + 1,
                           spec->t[i], spec->t[i - 1]);
    }
    return SOCK_OK;
}

/* What was given, or, where that is open, the model's. */
static double bound_of(const double *given, const double *own, size_t k, double none)
{
    if (given && !isnan(given[k])) return given[k];
    return own ? own[k] : none;
}

static double lower_of(const sock_model *model, const sock_simulation *spec, size_t k)
{
    return bound_of(spec->lower, model->structure->lower, k, -(double)INFINITY);
}

static double upper_of(const sock_model *model, const sock_simulation *spec, size_t k)
{
    return bound_of(spec->upper, model->structure->upper, k, (double)INFINITY);
}

sock_simulation sk_settle_bounds(const sock_model *model, const sock_simulation *spec, double *bound)
{
    const size_t d = model->d;
    sock_simulation out = *spec;
    const bool silent = spec->bounds == SOCK_BOUNDS_NONE && !spec->lower && !spec->upper;
    bool any = false;
    for (size_t k = 0; k < d; k++) {
        bound[k] = lower_of(model, spec, k);
        bound[d + k] = upper_of(model, spec, k);
        any = any || isfinite(bound[k]) || isfinite(bound[d + k]);
    }
    if (silent || spec->bounds == SOCK_BOUNDS_AUTO) out.bounds = any ? SOCK_BOUNDS_CLIP : SOCK_BOUNDS_NONE;
    out.lower = bound;
    out.upper = bound + d;
    return out;
}

sock_status sk_data_inside(sock_context *ctx, const sock_model *model, const sock_data *data,
                           const sock_simulation *spec)
{
    static const char beyond[] = "the model knows nothing beyond; bounds = none takes the data as they are";
    double *bound = sk_doubles(ctx, model->d, 2);
    if (!bound) return SOCK_ENOMEM;
    const sock_simulation settled = sk_settle_bounds(model, spec, bound);
    sock_status status = SOCK_OK;
    if (settled.bounds != SOCK_BOUNDS_NONE)
        status = sk_data_within(ctx, data, settled.lower, settled.upper, (const char *const[]){beyond, beyond});
    sk_free(bound);
    return status;
}

sock_status sock_model_holds(sock_context *ctx, const sock_model *model, const sock_data *data,
                             const sock_options *opts)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !data) return sk_fail(ctx, SOCK_EUSAGE, "model and data must not be NULL");
    if (data->d > model->d)
        return sk_fail(ctx, SOCK_EINPUT, "the model has %zu states, the data (%s) %zu", model->d, data->source,
                       data->d);
    sock_simulation said = {.bounds = SOCK_BOUNDS_NONE};
    double *bound = sk_doubles(ctx, 2, model->d);
    if (!bound) return SOCK_ENOMEM;
    said.lower = bound;
    said.upper = bound + model->d;
    sock_status status = sk_bounds_from_options(ctx, opts, model->d, &said.bounds, bound, bound + model->d);
    if (status >= 0) status = sk_data_inside(ctx, model, data, &said);
    sk_free(bound);
    return status;
}

static sock_status check_bounds(sock_context *ctx, const sock_model *model, const sock_simulation *spec)
{
    const size_t d = model->d;
    for (size_t k = 0; k < d; k++) {
        const double low = lower_of(model, spec, k), high = upper_of(model, spec, k);
        if (!(low <= high))
            return sk_fail(ctx, SOCK_EUSAGE, "simulate: bounds of state %zu are %g and %g; lower must not exceed upper",
                           k + 1, low, high);
        for (size_t s = 0; s < spec->starts; s++)
            if (!(spec->x0[s * d + k] >= low && spec->x0[s * d + k] <= high))
                return sk_fail(ctx, SOCK_EUSAGE,
                               "simulate: start %zu has state %zu (%s) at %g, outside its bounds %g to %g; bounds = "
                               "none lets paths begin and go there",
                               s + 1, k + 1, model->structure->state[k], spec->x0[s * d + k], low, high);
    }
    return SOCK_OK;
}

static sock_status check_inputs(sock_context *ctx, const sock_model *model, const sock_simulation *spec)
{
    const size_t m = model->structure->inputs, count = spec->starts * spec->input_times;
    if (!m || (!spec->u && m == 1 && model->structure->input[0].hold == SK_HOLD_TIME)) return SOCK_OK;
    if (!spec->u || !spec->input_t || !spec->input_times)
        return sk_fail(ctx, SOCK_EUSAGE, "simulate: the model has the input %s%s; its values are needed",
                       model->structure->input[0].name, m > 1 ? " and more" : "");
    for (size_t i = 0; i < spec->input_times; i++)
        if (!isfinite(spec->input_t[i]) || (i && !(spec->input_t[i] > spec->input_t[i - 1])))
            return sk_fail(ctx, SOCK_EUSAGE, "simulate: times of inputs must be finite and grow; time %zu is %g", i + 1,
                           spec->input_t[i]);
    for (size_t i = 0; i < count * m; i++)
        if (!isfinite(spec->u[i]))
            return sk_fail(ctx, SOCK_EUSAGE, "simulate: start %zu, input %s, time %zu: the value is not finite",
                           i / m / spec->input_times + 1, model->structure->input[i % m].name,
                           i / m % spec->input_times + 1);
    return SOCK_OK;
}

/* Times a million years apart with a step of a second would be simulated for ever: that is a slip, and said. */
static sock_status check_steps(sock_context *ctx, const sock_simulation *spec)
{
    const double step = sk_widest_step(spec), most = 1e9;
    double steps = 0;
    for (size_t i = 1; i < spec->times; i++) steps += (spec->t[i] - spec->t[i - 1]) / step;
    if (steps <= most) return SOCK_OK;
    return sk_fail(ctx, SOCK_EUSAGE,
                   "simulate: a path would take %.3g inner steps of %.3g; allowed: at most %g, with a larger step or "
                   "other times",
                   steps, step, most);
}

sock_status sk_simulation_check(sock_context *ctx, const sock_model *model, const sock_simulation *spec)
{
    if (!spec->starts || !spec->x0) return sk_fail(ctx, SOCK_EUSAGE, "simulate: no start given");
    if (!spec->paths) return sk_fail(ctx, SOCK_EUSAGE, "simulate: paths is 0; allowed: 1 or more");
    if (!(spec->step >= 0) || !isfinite(spec->step))
        return sk_fail(ctx, SOCK_EUSAGE, "simulate: step is %g; allowed: a number > 0, or 0 for automatic", spec->step);
    if (spec->bounds < SOCK_BOUNDS_NONE || spec->bounds > SOCK_BOUNDS_AUTO)
        return sk_fail(ctx, SOCK_EUSAGE, "simulate: bounds is %d; allowed: none, clip, reflect, auto",
                       (int)spec->bounds);
    for (size_t i = 0; i < spec->starts * model->d; i++)
        if (!isfinite(spec->x0[i]))
            return sk_fail(ctx, SOCK_EUSAGE, "simulate: start %zu is not finite", i / model->d + 1);
    if (spec->uncertain) SK_TRY(sk_need_spread(ctx, model, "simulate"));
    SK_TRY(check_times(ctx, spec));
    SK_TRY(check_steps(ctx, spec));
    SK_TRY(check_inputs(ctx, model, spec));
    const bool told = spec->bounds == SOCK_BOUNDS_NONE && (spec->lower || spec->upper); /* that there are none */
    return told ? SOCK_OK : check_bounds(ctx, model, spec);
}

/* "none" or "auto". Answers its length, or 0. */
static size_t word_at(const char *text, double none, double *value)
{
    const bool no_bound = strncmp(text, "none", 4) == 0, open = strncmp(text, "auto", 4) == 0;
    if (no_bound || open) *value = open ? (double)NAN : none;
    return no_bound || open ? 4 : 0;
}

sock_status sk_read_bound(sock_context *ctx, const sock_options *opts, const char *key, size_t d, double none,
                          double *out)
{
    const char *text = sk_option_text(opts, key), *p = text, *end;
    size_t count = 0;
    bool good = true, more = true;
    while (good && more) {
        double value = 0;
        const size_t word = word_at(p, none, &value);
        end = p + word;
        if (!word) value = sk_parse_double(p, &end);
        good = end != p && (!*end || *end == ',') && count < d;
        if (good) out[count++] = value;
        more = *end == ',';
        p = end + 1;
    }
    if (!good || (count != d && count != 1))
        return sk_fail(ctx, SOCK_EUSAGE,
                       "%s is '%s'; allowed: a number for all states, or %zu with commas between, each a number, none "
                       "or auto",
                       key, text, d);
    for (size_t k = count; k < d; k++) out[k] = out[0];
    return SOCK_OK;
}

sock_status sk_bounds_from_options(sock_context *ctx, const sock_options *opts, size_t d, sock_bounds *mode,
                                   double *lower, double *upper)
{
    const char *text = sk_option_text(opts, "bounds");
    *mode = strcmp(text, "clip") == 0      ? SOCK_BOUNDS_CLIP
            : strcmp(text, "reflect") == 0 ? SOCK_BOUNDS_REFLECT
            : strcmp(text, "auto") == 0    ? SOCK_BOUNDS_AUTO
                                           : SOCK_BOUNDS_NONE;
    SK_TRY(sk_read_bound(ctx, opts, "lower", d, -(double)INFINITY, lower));
    return sk_read_bound(ctx, opts, "upper", d, (double)INFINITY, upper);
}

sock_status sock_simulation_bounds(sock_context *ctx, const sock_options *opts, size_t d, sock_bounds *mode,
                                   double *lower, double *upper)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!d || !mode || !lower || !upper) return sk_fail(ctx, SOCK_EUSAGE, "mode, lower and upper must not be NULL");
    return sk_bounds_from_options(ctx, opts, d, mode, lower, upper);
}

typedef struct wave {
    sock_context *ctx;
    const sk_euler *job;
    size_t first_block, total; /* total: paths */
    double *space;             /* of all workers */
    size_t space_each;
    atomic_size_t lost;
} wave;

static sock_status run_blocks(void *arg, size_t begin, size_t end, int worker)
{
    wave *w = arg;
    for (size_t i = begin; i < end; i++) {
        size_t first = (w->first_block + i) * SK_EULER_BLOCK, lost;
        SK_TRY(sk_euler_block(w->ctx, w->job, first, SK_MIN(w->total - first, (size_t)SK_EULER_BLOCK),
                              w->space + (size_t)worker * w->space_each, &lost));
        atomic_fetch_add(&w->lost, lost);
    }
    return SOCK_OK;
}

/* About 40 waves at most, each with work for every thread. */
static sock_status run_waves(sock_context *ctx, wave *w)
{
    const size_t blocks = (w->total - 1) / SK_EULER_BLOCK + 1, workers = (size_t)sk_workers(ctx);
    const size_t each = ((blocks - 1) / 40 / workers + 1) * workers; /* speed only */
    for (w->first_block = 0; w->first_block < blocks; w->first_block += each) {
        SK_TRY(sk_progress(ctx, "simulate", (double)w->first_block / (double)blocks));
        SK_TRY(sk_parallel_for(ctx, SK_MIN(each, blocks - w->first_block), 1, run_blocks, w));
    }
    return SOCK_OK;
}

static sock_status run_here(sock_context *ctx, const sock_model *model, const sk_euler *job, size_t *lost)
{
    wave w = {.ctx = ctx, .job = job};
    atomic_init(&w.lost, 0);
    SK_TRY(sk_product(ctx, job->spec->starts, job->spec->paths, &w.total));
    w.space_each = (sk_euler_space(job->sampler, model->d, sk_model_in(model)) + 7) / 8 * 8; /* whole cache lines */
    w.space = sk_doubles(ctx, (size_t)sk_workers(ctx), w.space_each);
    const sock_status status = w.space ? run_waves(ctx, &w) : SOCK_ENOMEM;
    *lost = atomic_load(&w.lost);
    sk_free(w.space);
    return status;
}

/* All paths under the one model. */
static sock_status run_paths(sock_context *ctx, const sock_model *model, sk_euler *job, size_t *lost)
{
    sk_sampler *sampler = NULL;
    bool done = false;
    SK_TRY(sk_sampler_new(ctx, model, &sampler));
    job->sampler = sampler;
    sock_status status = sk_simulate_elsewhere(ctx, model, job, lost, &done);
    if (status >= 0 && !done) status = run_here(ctx, model, job, lost);
    sk_sampler_free(sampler);
    return status;
}

/* Starts begin .. end-1 of a specification, whose numbers in the random stream stay. */
static sock_simulation part_of(const sock_model *model, const sock_simulation *spec, size_t begin, size_t end)
{
    sock_simulation part = *spec;
    part.starts = end - begin;
    part.x0 += begin * model->d;
    part.first_start += begin;
    if (part.u) part.u += begin * spec->input_times * model->structure->inputs;
    return part;
}

/* All paths, those of neighbouring starts with the same inner step at a time. */
static sock_status run_all(sock_context *ctx, const sock_model *model, const sk_sampler *sampler,
                           const sock_simulation *spec, const double *step, double *out, double *lost_at, size_t *lost)
{
    sock_status status = SOCK_OK;
    for (size_t begin = 0, end; status >= 0 && begin < spec->starts; begin = end) {
        for (end = begin + 1; end < spec->starts && step[end] == step[begin];) end++;
        const sock_simulation part = part_of(model, spec, begin, end);
        const size_t first = begin * spec->paths;
        size_t some = 0;
        sk_euler job = {model, sampler, &part,          step[begin], out + first * spec->times * model->d,
                        NULL,  0,       sampler != NULL};
        if (lost_at) job.lost_at = lost_at + first;
        status = sampler           ? run_here(ctx, model, &job, &some)
                 : spec->uncertain ? sk_simulate_draws(ctx, model, &job, &some)
                                   : run_paths(ctx, model, &job, &some);
        *lost += some;
    }
    return status;
}

static void fill_report(const sock_simulation *spec, const double *step, size_t lost, sock_simulation_report *report)
{
    *report = (sock_simulation_report){.paths = spec->starts * spec->paths, .lost = lost, .step = INFINITY};
    for (size_t s = 0; s < spec->starts; s++) report->step = fmin(report->step, step[s]);
    for (size_t i = 1; i < spec->times; i++) report->steps += sk_inner_steps(spec->t[i] - spec->t[i - 1], report->step);
}

static sock_status simulate(sock_context *ctx, const sock_model *model, const sk_sampler *sampler,
                            const sock_simulation *spec, double *out, double *lost_at, sock_simulation_report *report)
{
    const double begun = sk_seconds();
    double *bound = sk_doubles(ctx, model->d, 2), *step = sk_doubles(ctx, spec->starts, 1);
    size_t total, lost = 0;
    sock_status status = bound && step ? sk_product(ctx, spec->starts, spec->paths, &total) : SOCK_ENOMEM;
    if (status >= 0) {
        const sock_simulation settled = sk_settle_bounds(model, spec, bound);
        status = sk_choose_inner_steps(ctx, model, &settled, step);
        if (status >= 0) status = run_all(ctx, model, sampler, &settled, step, out, lost_at, &lost);
    }
    if (status >= 0 && report) {
        fill_report(spec, step, lost, report);
        report->seconds = sk_seconds() - begun;
    }
    sk_free(bound);
    sk_free(step);
    if (status < 0) return status;
    return lost ? SOCK_PARTIAL : SOCK_OK;
}

sock_status sk_simulate(sock_context *ctx, const sock_model *model, const sock_simulation *spec, double *out,
                        double *lost_at, sock_simulation_report *report)
{
    return simulate(ctx, model, NULL, spec, out, lost_at, report);
}

sock_status sk_simulate_by(sock_context *ctx, const sock_model *model, const sk_sampler *sampler,
                           const sock_simulation *spec, double *out, sock_simulation_report *report)
{
    return simulate(ctx, model, sampler, spec, out, NULL, report);
}

/* Adds the model's measurement noise to what is written: a stream for each path, as the paths have. */
static sock_status observe(sock_context *ctx, const sock_model *model, const sock_simulation *spec, double *out)
{
    const size_t d = model->d, times = spec->times;
    const double *noise = model->structure->noise;
    if (!noise) return SOCK_OK;
    double *c = sk_doubles(ctx, d, d), *e = sk_doubles(ctx, times, d);
    sock_status status = c && e ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) sk_factor_copy(d, 1e-14, noise, c);
    for (size_t i = 0; status >= 0 && i < spec->starts * spec->paths; i++) {
        sk_normals((sk_key){spec->seed, SK_PURPOSE_OBSERVE}, spec->first_start + i / spec->paths, i % spec->paths, 0,
                   times * d, e);
        for (size_t t = 0; t < times; t++)
            for (size_t k = 0; k < d; k++) out[(i * times + t) * d + k] += sk_dot(k + 1, c + k * d, e + t * d);
    }
    sk_free(c);
    sk_free(e);
    return status;
}

sock_status sock_simulate(sock_context *ctx, const sock_model *model, const sock_simulation *spec, double *out,
                          double *lost_at, sock_simulation_report *report)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !spec || !out) return sk_fail(ctx, SOCK_EUSAGE, "model, specification and output must not be NULL");
    SK_TRY(sk_simulation_check(ctx, model, spec));
    sock_simulation_report own;
    sock_status status = sk_simulate(ctx, model, spec, out, lost_at, report ? report : &own);
    if (status >= 0 && spec->observed) SK_TRY(observe(ctx, model, spec, out));
    if (status != SOCK_PARTIAL) return status;
    const sock_simulation_report *r = report ? report : &own;
    return sk_fail(ctx, SOCK_PARTIAL, "%zu of %zu paths left the finite numbers and are NaN from there on", r->lost,
                   r->paths);
}
