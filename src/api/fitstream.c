/* fitstream.c - a fit to files: in memory, or as a stream. */
#include "api/fitjob.h"
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
        const char *key, *allowed;
    } only[] = {{"tune", "yes"}, {"preset", "default"}, {"order", "1"}};
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        if (strcmp(sk_option_text(opts, only[i].key), only[i].allowed) != 0)
            return sk_fail(ctx, SOCK_EUSAGE, "%s is '%s'; allowed where the data stream: %s", only[i].key,
                           sk_option_text(opts, only[i].key), only[i].allowed);
    if (sk_option_validation(opts))
        return sk_fail(ctx, SOCK_EUSAGE,
                       "validation data and stream do not go together: a stream is judged on its own folds");
    if (sk_ranks(ctx) > 1 && sk_option_number(opts, "budget") > 0)
        return sk_fail(ctx, SOCK_EUSAGE,
                       "budget is '%s'; allowed with several processes, whose clocks differ: 0 (none)",
                       sk_option_text(opts, "budget"));
    return SOCK_OK;
}

static const char *scratch_folder(const sock_options *opts)
{
    const char *given = sk_option_text(opts, "scratch"), *usual = getenv("TMPDIR");
    return strcmp(given, "auto") != 0 ? given : usual && usual[0] ? usual : "/var/tmp";
}

static sock_status fit_stream(sock_context *ctx, size_t count, const char *const *path, const sock_options *opts,
                              sock_model **out)
{
    const double budget = sk_option_number(opts, "budget");
    sk_source *source = NULL;
    sk_fit_job job = {.ctx = ctx, .opts = opts, .start = sk_seconds()};
    sock_status status;
    SK_TRY(sk_files_check(ctx, count, path));
    SK_TRY(refuse(ctx, opts));
    SK_GO(sk_source_open(ctx, count, path, opts, scratch_folder(opts), &source));
    const size_t rows = sk_option_count(opts, "search-rows");
    SK_GO(sk_stream_new(ctx, source, scratch_folder(opts), rows, sk_option_count(opts, "folds"), &job.stream));
    job.data = sk_stream_sample(job.stream);
    if (budget > 0 && sk_seconds() - job.start > budget)
        SK_GO(sk_fail(ctx, SOCK_EUSAGE, "the budget of %g s is spent on reading the data; raise it", budget));
    status = sk_fit_tuned(&job, out);
out:
    sk_fit_release(&job);
    sk_stream_free(job.stream);
    sk_source_free(source);
    return status;
}

sock_status sock_fit_files(sock_context *ctx, size_t count, const char *const *paths, const sock_options *opts,
                           sock_model **out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!paths || !out) return sk_fail(ctx, SOCK_EUSAGE, "paths and out must not be NULL");
    if (!sk_option_flag(opts, "stream")) return fit_in_memory(ctx, count, paths, opts, out);
    const sock_status status = sk_leave_together(ctx, fit_stream(ctx, count, paths, opts, out));
    if (status >= 0) return status;
    sock_model_free(*out); /* another process failed at the end */
    *out = NULL;
    return status;
}
