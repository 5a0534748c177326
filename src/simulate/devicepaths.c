/* devicepaths.c - paths by a device: the sampler's pieces, the steps of each gap and the key of the random numbers go
 * there, so that a path there is a path here but for rounding. */
#include "base/plugins.h"
#include "euler.h"
#include "simulate.h"
#include "tune/policy.h"

#include <math.h>

/* Steps of a path; those of each gap. */
static sock_status list_steps(sock_context *ctx, const sk_euler *job, size_t **out, double *total)
{
    const sock_simulation *spec = job->spec;
    *total = 0;
    *out = sk_alloc(ctx, spec->times, sizeof **out);
    if (!*out) return SOCK_ENOMEM;
    for (size_t i = 1; i < spec->times; i++) {
        (*out)[i - 1] = sk_inner_steps(spec->t[i] - spec->t[i - 1], job->step);
        *total += (double)(*out)[i - 1];
    }
    return SOCK_OK;
}

static sock_status ask(sock_context *ctx, const sock_model *model, const sk_euler *job, sk_plugin *plugin,
                       const sk_sampler_export *fields, const size_t *steps, size_t *lost, bool *done)
{
    const sock_simulation *spec = job->spec;
    const size_t paths = spec->starts * spec->paths;
    double *own = job->lost_at ? NULL : sk_doubles_unset(ctx, paths, 1), *lost_at = own ? own : job->lost_at;
    if (!lost_at) return SOCK_ENOMEM;
    const sk_device_paths work = {.d = model->d,
                                  .starts = spec->starts,
                                  .paths = spec->paths,
                                  .times = spec->times,
                                  .x0 = spec->x0,
                                  .t = spec->t,
                                  .steps = steps,
                                  .seed = spec->seed,
                                  .purpose = SK_PURPOSE_SIMULATE,
                                  .first_start = spec->first_start,
                                  .pieces = fields->pieces,
                                  .factors = fields->factors,
                                  .piece = fields->piece,
                                  .factor = fields->factor,
                                  .noisy = model->has_diffusion,
                                  .floor = model->floor,
                                  .bounds = spec->bounds == SOCK_BOUNDS_CLIP      ? 1
                                            : spec->bounds == SOCK_BOUNDS_REFLECT ? 2
                                                                                  : 0,
                                  .lower = spec->lower,
                                  .upper = spec->upper,
                                  .out = job->out,
                                  .lost_at = lost_at};
    const sk_device *d = sk_device_begin(plugin, SK_SIMULATE);
    const sock_status status = sk_device_end(ctx, plugin, SK_SIMULATE, d->simulate(d->state, &work));
    *done = status == SOCK_OK;
    for (size_t i = 0; *done && i < paths; i++) *lost += isfinite(lost_at[i]);
    sk_free(own);
    return status == SOCK_PARTIAL ? SOCK_OK : status;
}

sock_status sk_simulate_elsewhere(sock_context *ctx, const sock_model *model, const sk_euler *job, size_t *lost,
                                  bool *done)
{
    const double paths = (double)job->spec->starts * (double)job->spec->paths;
    sk_sampler_export fields = {0};
    size_t *steps = NULL;
    double each;
    bool whole = false;
    *done = false;
    sock_status status = SOCK_OK;
    if (!sk_device_for(ctx, SK_SIMULATE, 1, 0)) return SOCK_OK;
    SK_GO(list_steps(ctx, job, &steps, &each));
    SK_GO(sk_sampler_for_device(ctx, job->sampler, &fields, &whole));
    sk_plugin *plugin = whole ? sk_device_for(ctx, SK_SIMULATE, paths * each * fields.work, SK_DEVICE_SIMULATE) : NULL;
    if (plugin) SK_GO(sk_progress(ctx, "simulate", -1));
    if (plugin) status = ask(ctx, model, job, plugin, &fields, steps, lost, done);
out:
    sk_sampler_export_clear(&fields);
    sk_free(steps);
    return status;
}
