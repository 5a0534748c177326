/* fitplan.c - see fitplan.h. */
#include "api/fitplan.h"

#include "base/comm.h"

#include <string.h>

/* ---- Options ---- */

/* What may be given beside a plan: where files lie, and that it is a stream. */
static bool is_free(const char *key)
{
    static const char *const keys[] = {"plan", "scratch", "stream", "device"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

static sock_status compare(sock_context *ctx, const sk_plan_file *file, const sock_options *own,
                           const sock_options *given)
{
    for (size_t i = 0; i < sock_option_count(); i++) {
        const char *key = sock_option_describe(i).key;
        if (is_free(key) || !sk_option_is_set(given, key)) continue;
        if (strcmp(sk_option_text(given, key), sk_option_text(own, key)) != 0)
            return sk_fail(ctx, SOCK_EUSAGE, "%s is '%s'; the plan %s has '%s': leave it out, or make another plan",
                           key, sk_option_text(given, key), file->path, sk_option_text(own, key));
    }
    return SOCK_OK;
}

static sock_status set_one(sock_context *ctx, const sk_plan_file *file, const sk_option_given *option,
                           sock_options *out)
{
    char reason[512];
    const sock_status status = sock_options_set(ctx, out, option->key, option->value);
    if (status != SOCK_EUSAGE) return status;
    snprintf(reason, sizeof reason, "%s", sock_message(ctx));
    sk_begin(ctx);
    return sk_fail(ctx, SOCK_EINPUT, "%s: options: %s", file->path, reason);
}

sock_status sk_plan_options(sock_context *ctx, const sk_plan_file *file, const sock_options *given, sock_options **out)
{
    sock_options *own = sock_options_new(ctx);
    sock_status status = own ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < file->options.count; i++)
        status = set_one(ctx, file, &file->options.option[i], own);
    if (status >= 0) status = compare(ctx, file, own, given);
    if (status < 0)
        sock_options_free(own);
    else
        *out = own;
    return status;
}

/* ---- Data ---- */

static char *digest_of(sock_context *ctx, const sk_stream_told *told)
{
    return sk_format(ctx, "%016llx", (unsigned long long)told->digest);
}

/* "x, y and 3 more". */
static void list_names(size_t count, char *const *name, char *out, size_t room)
{
    enum { NAMED = 4 };
    size_t used = 0;
    out[0] = 0;
    for (size_t k = 0; k < count && k < NAMED && used < room; k++)
        used += (size_t)snprintf(out + used, room - used, "%s%.40s", k ? ", " : "", name[k]);
    if (count > NAMED && used < room) snprintf(out + used, room - used, " and %zu more", count - NAMED);
}

static sock_status check_states(sock_context *ctx, const sk_plan_file *file, const sock_data *data)
{
    const sk_texts *own = &file->plan.states;
    char planned[256], found[256];
    bool same = own->count == data->d;
    for (size_t k = 0; same && k < data->d; k++) same = strcmp(own->text[k], data->state[k]) == 0;
    if (same) return SOCK_OK;
    list_names(own->count, own->text, planned, sizeof planned);
    list_names(data->d, data->state, found, sizeof found);
    return sk_fail(ctx, SOCK_EINPUT, "%s: the plan is for the states %s; %s has %s", file->path, planned, data->source,
                   found);
}

sock_status sk_plan_check_data(sock_context *ctx, const sk_plan_file *file, const sk_stream *stream)
{
    const sk_plan *p = &file->plan;
    const sk_stream_told told = sk_stream_tell(stream);
    const char *source = sk_stream_sample(stream)->source;
    SK_TRY(check_states(ctx, file, sk_stream_sample(stream)));
    if (p->steps != told.steps || p->trajectories != told.trajectories)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: the plan is for other data, %zu steps in %zu trajectories; %s has %zu in %zu", file->path,
                       p->steps, p->trajectories, source, told.steps, told.trajectories);
    char *digest = digest_of(ctx, &told);
    if (!digest) return SOCK_ENOMEM;
    const bool same = strcmp(digest, p->digest) == 0 && p->sample == told.sampled && p->points == told.points;
    sk_free(digest);
    if (same) return SOCK_OK;
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: the plan is for other data: %s has as many steps, but other numbers or another order of files",
                   file->path, source);
}

/* ---- Saving ---- */

sock_status sk_fit_save_plan(void *keeper, sk_plan *plan)
{
    const sk_fit_job *job = keeper;
    const sk_stream_told told = sk_stream_tell(job->stream);
    sk_plan_file file = {.path = (char *)(uintptr_t)job->save_plan, .plan = *plan}; /* lent */
    file.plan.steps = told.steps;
    file.plan.points = told.points;
    file.plan.trajectories = told.trajectories;
    file.plan.sample = told.sampled;
    file.plan.digest = digest_of(job->ctx, &told);
    sock_status status = file.plan.digest ? sk_fit_tell_options(job, &file.options) : SOCK_ENOMEM;
    if (status >= 0 && sk_rank(job->ctx) == 0) status = sk_plan_write(job->ctx, &file);
    sk_options_given_clear(&file.options);
    sk_free(file.plan.digest);
    return status >= 0 && job->plan_only ? SK_ENOUGH : status;
}
