/* fitstream.c - a fit to files: in memory, or as a stream. */
#include "api/fitplan.h"
#include "base/comm.h"
#include "tune/streamrows.h"

#include <stdlib.h>
#include <string.h>

static sock_status fit_in_memory(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                                 sock_model **out)
{
    sock_data *data = NULL;
    SK_TRY(sock_data_read_files(ctx, count, path, opts, &data));
    const sock_status status = sock_fit(ctx, data, opts, out);
    sock_data_free(data);
    return status;
}

/* What needs all data in memory. */
static sock_status refuse(sock_context *ctx, const sock_options *opts)
{
    static const struct {
        const char *key, *allowed, *also;
    } only[] = {{"tune", "yes", NULL},
                {"preset", "default", NULL},
                {"order", "1", NULL},
                {"noise", "none", "auto"},
                {"substeps", "1", "auto"}};
    for (size_t i = 0; i < sizeof only / sizeof *only; i++) {
        const char *given = sk_option_text(opts, only[i].key), *also = only[i].also;
        if (strcmp(given, only[i].allowed) != 0 && (!also || strcmp(given, also) != 0))
            return sk_fail(ctx, SOCK_EUSAGE, "%s is '%s'; allowed where the data stream: %s%s%s", only[i].key, given,
                           only[i].allowed, also ? ", " : "", also ? also : "");
    }
    if (sk_option_validation(opts))
        return sk_fail(ctx, SOCK_EUSAGE,
                       "validation data and stream do not go together: a stream is judged on its own folds");
    if (sk_ranks(ctx) > 1 && sk_option_number(opts, "budget") > 0)
        return sk_fail(ctx, SOCK_EUSAGE,
                       "budget is '%s'; allowed with several processes, whose clocks differ: 0 (none)",
                       sk_option_text(opts, "budget"));
    return SOCK_OK;
}

const char *sk_scratch_folder(const sock_options *opts)
{
    const char *given = sk_option_text(opts, "scratch"), *usual = getenv("TMPDIR");
    return strcmp(given, "auto") != 0 ? given : usual && usual[0] ? usual : "/var/tmp";
}

/* NULL: the option is not given. */
static const char *file_option(const sock_options *opts, const char *key)
{
    const char *path = sk_option_text(opts, key);
    return strcmp(path, "none") == 0 ? NULL : path;
}

/* opts: of the fit; given: those of the caller, which say where files lie. file: the plan; its path is NULL where there
 * is none. */
static sock_status run_stream(sk_fit_job *job, size_t count, const char *const *path, const sock_options *given,
                              sk_plan_file *file, sock_model **out)
{
    sock_context *ctx = job->ctx;
    const sock_options *opts = job->opts;
    const double budget = sk_option_number(opts, "budget");
    const char *scratch = sk_scratch_folder(sk_option_is_set(given, "scratch") ? given : opts);
    sk_source *source = NULL;
    sock_status status;
    SK_TRY(sk_fit_device(ctx, given));
    SK_TRY(sk_files_check(ctx, count, path));
    SK_TRY(refuse(ctx, opts));
    if (budget > 0 && (file->path || job->save_plan))
        return sk_fail(ctx, SOCK_EUSAGE, "budget is '%s'; allowed with a plan: 0 (none)",
                       sk_option_text(opts, "budget"));
    SK_GO(sk_source_open(ctx, count, path, opts, scratch, &source));
    const size_t rows = sk_option_count(opts, "search-rows");
    SK_GO(sk_stream_new(ctx, source, scratch, rows, sk_option_count(opts, "folds"), &job->stream));
    job->data = sk_stream_sample(job->stream);
    if (budget > 0 && sk_seconds() - job->start > budget)
        SK_GO(sk_fail(ctx, SOCK_EUSAGE, "the budget of %g s is spent on reading the data; raise it", budget));
    if (file->path) SK_GO(sk_plan_check_data(ctx, file, job->stream));
    job->plan = file->path ? &file->plan : NULL;
    status = sk_fit_tuned(job, out);
out:
    sk_fit_release(job);
    sk_stream_free(job->stream);
    sk_source_free(source);
    return status;
}

/* With a plan: job->opts are the options in it; else the caller's, and that it is a stream. */
static sock_status fit_by(sk_fit_job *job, size_t count, const char *const *path, const sock_options *opts,
                          sock_model **out)
{
    sock_context *ctx = job->ctx;
    const char *plan = file_option(opts, "plan");
    sk_plan_file file = {0};
    sock_options *own = NULL;
    if (plan && job->save_plan)
        return sk_fail(ctx, SOCK_EUSAGE, "save-plan is '%s'; a fit by a plan has nothing more to save", job->save_plan);
    sock_status status = plan ? sk_plan_read(ctx, plan, &file) : sk_options_copy(ctx, opts, &own);
    if (status >= 0) status = plan ? sk_plan_options(ctx, &file, opts, &own) : SOCK_OK;
    if (status >= 0 && !plan) status = sock_options_set(ctx, own, "stream", "yes");
    job->opts = own;
    if (status >= 0) status = run_stream(job, count, path, opts, &file, out);
    sock_options_free(own);
    sk_plan_file_clear(&file);
    return status;
}

static bool is_stream(const sock_options *opts)
{
    return sk_option_flag(opts, "stream") || file_option(opts, "plan") || file_option(opts, "save-plan");
}

sock_status sock_fit_files(sock_context *ctx, size_t count, const char *const *paths, const sock_options *opts,
                           sock_model **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!paths || !out) return sk_fail(ctx, SOCK_EUSAGE, "paths and out must not be NULL");
    if (!is_stream(opts)) return fit_in_memory(ctx, count, paths, opts, out);
    sk_fit_job job = {.ctx = ctx, .save_plan = file_option(opts, "save-plan"), .start = sk_seconds()};
    const sock_status status = sk_leave_together(ctx, fit_by(&job, count, paths, opts, out));
    if (status >= 0) return status;
    sock_model_free(*out); /* another process failed at the end */
    *out = NULL;
    return status;
}

sock_status sock_plan_files(sock_context *ctx, size_t count, const char *const *paths, const sock_options *opts,
                            const char *path)
{
    sock_model *none = NULL;
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!paths || !path) return sk_fail(ctx, SOCK_EUSAGE, "paths and path must not be NULL");
    sk_fit_job job = {.ctx = ctx, .save_plan = path, .plan_only = true, .start = sk_seconds()};
    const sock_status status = fit_by(&job, count, paths, opts, &none);
    return status == SK_ENOUGH ? SOCK_OK : status;
}
