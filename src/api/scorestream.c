/* scorestream.c - scores of files that stay on the disk: sums over the steps, chunk by chunk, in three passes.
 *
 *   1. points, steps, their mean rate; is the model for such points?
 *   2. likelihoods and errors of the model and of the truth; the covariance of constants
 *   3. the likelihood of constants */
#include "api/fitjob.h"
#include "data/source.h"
#include "score/scored.h"

#include <string.h>

typedef struct scoring {
    const sock_model *model, *truth;
    sock_simulation bounds;
    double delta;
    size_t points;
    sk_scored sums;
    sk_constants constants;
    sk_field_errors errors;
} scoring;

static sock_status refuse(sock_context *ctx, const sock_model *model, const sock_model *truth, const sock_options *opts)
{
    const sk_structure *s = model->structure;
    const bool bounded = sk_structure_is_bounded(s) || (truth && sk_structure_is_bounded(truth->structure));
    const char *noise = sk_option_text(opts, "noise"), *why = NULL;
    if (s->order == 2) why = "the model is of order 2, whose filter needs whole trajectories";
    if (s->inputs) why = "the model has inputs";
    if (s->noise && strcmp(noise, "none") != 0)
        why = "the model has measurement noise, whose filter needs whole trajectories; --noise none takes observations "
              "for states";
    if (bounded && !(sk_option_number(opts, "delta") > 0))
        why = "the model has bounds, and only all data at once show which steps rest there; give a delta > 0";
    for (size_t k = 0; k < model->d; k++)
        if (strncmp(s->state[k], "log(", 4) == 0) why = "a state is a logarithm, whose unit needs all data";
    if (why) return sk_fail(ctx, SOCK_EUSAGE, "stream is 'yes'; allowed here: no (%s)", why);
    if (!truth || truth->d == model->d) return SOCK_OK;
    return sk_fail(ctx, SOCK_EINPUT, "score: the model has %zu states, the truth %zu", model->d, truth->d);
}

/* ---- Passes ---- */

/* The data without a point that an earlier piece had. first: two numbers of room. */
static sock_data own_points(const sk_chunk *chunk, size_t first[2])
{
    sock_data own = *chunk->data;
    if (!chunk->shared) return own;
    first[0] = 0;
    first[1] = own.points - 1;
    own.first = first;
    own.points--;
    own.x += own.d;
    own.t++;
    return own;
}

static sock_status look(sock_context *ctx, void *arg, const sk_chunk *chunk)
{
    scoring *s = arg;
    const sock_data *data = chunk->data;
    if (data->d != s->sums.d)
        return sk_fail(ctx, SOCK_EINPUT, "score: the model has %zu states, the test data (%s) %zu", s->sums.d,
                       data->source, data->d);
    SK_TRY(sk_data_inside(ctx, s->model, data, &s->bounds));
    s->points += data->points - chunk->shared;
    sk_find_resting(data, s->sums.resting);
    sk_constants_add(data, &s->constants);
    return SOCK_OK;
}

static void join(const sk_loglik *part, sk_loglik *to)
{
    to->intervals += part->intervals;
    to->singular += part->singular;
    to->broken += part->broken;
    to->unsettled += part->unsettled;
    to->value += part->value;
}

static sock_status add_errors(sock_context *ctx, const scoring *s, const sk_chunk *chunk, sk_field_errors *to)
{
    size_t first[2];
    sk_field_errors part = {0};
    const sock_data own = own_points(chunk, first);
    SK_TRY(sk_relative_errors(ctx, s->model, s->truth, &own, &part));
    to->f_difference += part.f_difference;
    to->f_truth += part.f_truth;
    to->a_difference += part.a_difference;
    to->a_truth += part.a_truth;
    return SOCK_OK;
}

static sock_status add_scores(sock_context *ctx, void *arg, const sk_chunk *chunk)
{
    scoring *s = arg;
    sk_scored part = {0};
    SK_TRY(sk_step_sums(ctx, s->model, chunk->data, s->truth, s->delta, &part));
    join(&part.euler, &s->sums.euler);
    join(&part.euler_truth, &s->sums.euler_truth);
    join(&part.moments, &s->sums.moments);
    join(&part.moments_truth, &s->sums.moments_truth);
    sk_constants_add_square(chunk->data, &s->constants);
    return s->truth ? add_errors(ctx, s, chunk, &s->errors) : SOCK_OK;
}

static sock_status add_constants(sock_context *ctx, void *arg, const sk_chunk *chunk)
{
    scoring *s = arg;
    return sk_constants_likelihood(ctx, chunk->data, s->delta, &s->constants, &s->sums.constant);
}

static sock_status visit(sock_context *ctx, const sk_source *source, scoring *s)
{
    SK_TRY(sk_source_each(ctx, source, "score: points", false, look, s));
    sk_constants_mean(&s->constants);
    SK_TRY(sk_source_each(ctx, source, "score: steps", false, add_scores, s));
    return sk_source_each(ctx, source, "score: constants", false, add_constants, s);
}

/* ---- The call ---- */

static sock_status score_source(sock_context *ctx, const sk_source *source, const sock_options *opts, scoring *s,
                                sock_scores *out)
{
    const size_t d = s->model->d;
    const double begun = sk_seconds();
    double *bound = sk_doubles(ctx, 2, d);
    sock_bounds mode;
    s->sums = (sk_scored){.d = d, .state = s->model->structure->state, .resting = sk_alloc(ctx, d, sizeof(bool))};
    sock_status status = bound && s->sums.resting ? sk_constants_new(ctx, d, &s->constants) : SOCK_ENOMEM;
    if (status >= 0) status = sk_bounds_from_options(ctx, opts, d, &mode, bound, bound + d);
    if (status >= 0) {
        memset(s->sums.resting, true, d * sizeof(bool));
        s->bounds = (sock_simulation){.bounds = mode, .lower = bound, .upper = bound + d};
        status = visit(ctx, source, s);
    }
    if (status >= 0) {
        *out = (sock_scores){.d = d, .points = s->points, .delta = s->delta};
        out->mmd_paths = sk_option_count(opts, "mmd-paths");
        sk_tell_likelihoods(s->model, s->truth, &s->sums, out);
        sk_tell_errors(s->model, s->truth, &s->errors, out);
        sk_tell_stream(out);
        out->seconds = sk_seconds() - begun;
        status = sk_scores_verdict(ctx, out);
    }
    sk_constants_clear(&s->constants);
    sk_free(s->sums.resting);
    sk_free(bound);
    return status;
}

sock_status sock_score_files(sock_context *ctx, const sock_model *model, size_t count, const char *const *paths,
                             const sock_model *truth, const sock_options *opts, sock_scores *out)
{
    sk_source *source = NULL;
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !paths || !out) return sk_fail(ctx, SOCK_EUSAGE, "score: model, paths and output must not be NULL");
    SK_TRY(refuse(ctx, model, truth, opts));
    SK_TRY(sk_files_check(ctx, count, paths));
    scoring s = {.model = model, .truth = truth, .delta = sk_option_number(opts, "delta")};
    SK_TRY(sk_source_open(ctx, count, paths, opts, sk_scratch_folder(opts), &source));
    const sock_status status = score_source(ctx, source, opts, &s, out);
    sk_source_free(source);
    return status;
}
