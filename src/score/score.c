/* score.c - the front door of the scores: checks what is given, computes what can be computed from it, and says of the
 * rest why it is missing. */
#include "score.h"

#include "score/scored.h"

#include "data/absorbed.h"

#include "base/options.h"
#include "tune/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void give(sock_value *value, double number)
{
    value->valid = 1;
    value->value = number;
}

/* Why there is no value. `asked`: it could have been computed from what was given, so its absence is a caveat. */
SK_PRINTF(3, 4) static void miss(sock_value *value, bool asked, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(value->reason, sizeof value->reason, format, args);
    va_end(args);
    value->valid = 0;
    value->value = 0;
    value->failed = asked;
}

/* ---- Likelihood and perplexity ---- */

/* One likelihood and what is made of it. */
typedef struct likelihood {
    const char *covariance; /* in messages */
    sock_value *loglik, *loglik_truth, *perplexity, *perplexity_raw;
} likelihood;

static likelihood by_euler(sock_scores *s)
{
    return (likelihood){"covariance h a + delta I", &s->loglik, &s->loglik_truth, &s->perplexity, &s->perplexity_raw};
}

static likelihood by_moments(sock_scores *s)
{
    return (likelihood){"covariance S + delta I", &s->loglik_moments, &s->loglik_moments_truth, &s->perplexity_moments,
                        &s->perplexity_moments_raw};
}

void sk_find_resting(const sock_data *data, bool *resting)
{
    for (size_t k = 0; k < data->d; k++)
        for (size_t j = 0; resting[k] && j < data->trajectories; j++)
            for (size_t i = data->first[j] + 1; resting[k] && i < data->first[j + 1]; i++)
                resting[k] = data->x[i * data->d + k] == data->x[(i - 1) * data->d + k];
}

/* Bytes of the text's first `most`, less a character of UTF-8 that would be cut. */
static int whole_characters(const char *text, size_t most)
{
    size_t length = SK_MIN(strlen(text), most);
    while (length && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
    return (int)length;
}

/* A column that never changes is what most often makes a covariance singular: name it. False where there is none. */
static bool miss_resting(const sk_loglik *l, const sk_scored *test, sock_value *value)
{
    size_t first = test->d, count = 0;
    for (size_t k = test->d; k-- > 0;)
        if (test->resting[k]) {
            first = k;
            count++;
        }
    if (!count) return false;
    char more[40] = "";
    if (count > 1) snprintf(more, sizeof more, " (and %zu more)", count - 1);
    miss(value, true, "column %.*s%s of the test data never changes: no density on %zu of %zu intervals; leave it out",
         whole_characters(test->state[first], 40), test->state[first], more, l->singular, l->intervals);
    return true;
}

/* The first state whose rows and columns of a are zero everywhere; d: none. */
static size_t quiet_state(const sock_model *model)
{
    size_t k = model->d;
    if (model->floor > 0 || !model->diffusion_terms) return k;
    for (k = 0; k < model->d; k++) {
        bool zero = true;
        for (size_t i = 0; i < model->diffusion_terms; i++) {
            const sk_diffusion_term *term = model->diffusion[i];
            const size_t block = sk_features_count(term->map) * term->rank;
            for (size_t j = k * block; j < (k + 1) * block; j++) zero = zero && term->v[j] == 0;
        }
        if (zero) break;
    }
    return k;
}

static bool miss_quiet(const sk_loglik *l, const sock_model *model, const sk_scored *test, sock_value *value)
{
    const size_t k = quiet_state(model);
    if (k == model->d) return false;
    miss(
        value, true,
        "%.*s has no noise of its own: no density on %zu of %zu intervals; loglik_moments has one, or give a delta > 0",
        whole_characters(test->state[k], 40), test->state[k], l->singular, l->intervals);
    return true;
}

static void likelihood_value(const sk_loglik *l, const sock_model *model, const sk_scored *test, const char *covariance,
                             sock_value *value)
{
    if (!l->intervals)
        miss(value, true, "the test set has no interval");
    else if (l->broken)
        miss(value, true, "the model is not finite on %zu of %zu intervals", l->broken, l->intervals);
    else if (l->unsettled)
        miss(value, true, "the moments change too fast to be followed on %zu of %zu intervals", l->unsettled,
             l->intervals);
    else if (l->singular && !model->has_diffusion)
        miss(value, true, "the model has no diffusion on %zu of %zu intervals; a delta > 0 makes it regular",
             l->singular, l->intervals);
    else if (l->singular && (miss_resting(l, test, value) || miss_quiet(l, model, test, value)))
        return;
    else if (l->singular)
        miss(value, true, "the %s is singular on %zu of %zu intervals; a delta > 0 makes it regular", covariance,
             l->singular, l->intervals);
    else
        give(value, l->value);
}

/* 100 exp(exponent): NA where it overflows. */
static void perplexity_value(double exponent, sock_value *value)
{
    double p = 100 * exp(exponent);
    if (isfinite(p))
        give(value, p);
    else
        miss(value, true, "100 exp(%.3g) overflows", exponent);
}

static void miss_likelihood(const likelihood *use, const char *reason)
{
    sock_value *const all[] = {use->loglik, use->loglik_truth, use->perplexity, use->perplexity_raw};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) miss(all[i], false, "%s", reason);
}

/* own, l_true: the sums of the model, and of the truth where there is one. */
static void tell_likelihood(const likelihood *use, const sock_model *model, const sk_scored *test,
                            const sock_model *truth, const sk_loglik *own, const sk_loglik *l_true)
{
    const double dn = (double)test->d * (double)own->intervals;
    likelihood_value(own, model, test, use->covariance, use->loglik);
    if (use->loglik->valid)
        perplexity_value(-own->value / dn, use->perplexity_raw);
    else
        miss(use->perplexity_raw, true, "%s", use->loglik->reason);
    if (!truth) {
        miss(use->loglik_truth, false, "no truth given");
        miss(use->perplexity, false, "no truth given");
        return;
    }
    likelihood_value(l_true, truth, test, use->covariance, use->loglik_truth);
    if (!use->loglik->valid)
        miss(use->perplexity, true, "%s", use->loglik->reason);
    else if (!use->loglik_truth->valid)
        miss(use->perplexity, true, "truth: %.140s", use->loglik_truth->reason);
    else
        perplexity_value((l_true->value - own->value) / dn, use->perplexity);
}

/* Constants that were fitted to the test set have an advantage of half a nat for each of their numbers, on average; a
 * model is called worse when it is behind by twice that and two nats more, in both likelihoods: with long steps the
 * Euler likelihood of a good model may be poor. */
static void judge_by_constants(const sk_loglik *l, sock_scores *out)
{
    const double d = (double)out->d, numbers = d + d * (d + 1) / 2;
    const sock_value *const own[] = {&out->loglik, &out->loglik_moments};
    double best = -(double)INFINITY;
    if (!l->intervals)
        miss(&out->loglik_constant, false, "the test set has no interval");
    else if ((double)l->intervals * d < SK_CONSTANT_VALUES * numbers)
        miss(&out->loglik_constant, false, "%zu intervals are too few to fit constant coefficients", l->intervals);
    else if (l->singular || l->broken)
        miss(&out->loglik_constant, false, "the covariance of the test steps is singular or not finite");
    else
        give(&out->loglik_constant, l->value);
    for (int i = 0; i < 2; i++)
        if (own[i]->valid) best = fmax(best, own[i]->value);
    out->worse_than_constant =
        out->loglik_constant.valid && isfinite(best) && best < out->loglik_constant.value - numbers - 2;
}

sock_status sk_step_sums(sock_context *ctx, const sock_model *model, const sock_data *test, const sock_model *truth,
                         double delta, sk_scored *out)
{
    SK_TRY(sk_log_likelihood(ctx, model, test, delta, &out->euler));
    if (truth) SK_TRY(sk_log_likelihood(ctx, truth, test, delta, &out->euler_truth));
    if (test->d > SK_MOMENTS_MOST_DIM) return SOCK_OK;
    SK_TRY(sk_moment_likelihood(ctx, model, test, delta, &out->moments));
    return truth ? sk_moment_likelihood(ctx, truth, test, delta, &out->moments_truth) : SOCK_OK;
}

void sk_tell_likelihoods(const sock_model *model, const sock_model *truth, const sk_scored *test, sock_scores *out)
{
    const likelihood euler = by_euler(out), moments = by_moments(out);
    tell_likelihood(&euler, model, test, truth, &test->euler, &test->euler_truth);
    out->intervals = test->euler.intervals;
    out->singular = test->euler.singular;
    if (test->d > SK_MOMENTS_MOST_DIM) {
        char reason[80];
        snprintf(reason, sizeof reason, "the moments are followed in up to %d dimensions", SK_MOMENTS_MOST_DIM);
        miss_likelihood(&moments, reason);
    } else {
        tell_likelihood(&moments, model, test, truth, &test->moments, &test->moments_truth);
    }
    judge_by_constants(&test->constant, out);
}

static sock_status score_likelihoods(sock_context *ctx, const sock_model *model, const sock_data *test,
                                     const sock_model *truth, sock_scores *out)
{
    sk_scored sums = {.d = test->d, .state = test->state, .resting = sk_alloc(ctx, test->d, sizeof(bool))};
    if (!sums.resting) return SOCK_ENOMEM;
    memset(sums.resting, true, test->d * sizeof(bool));
    sk_find_resting(test, sums.resting);
    sock_status status = sk_step_sums(ctx, model, test, truth, out->delta, &sums);
    if (status >= 0) status = sk_constant_likelihood(ctx, test, out->delta, &sums.constant);
    if (status >= 0) sk_tell_likelihoods(model, truth, &sums, out);
    sk_free(sums.resting);
    return status;
}

/* ---- The one number ---- */

/* By a log likelihood over dn numbers; where that has none, its reason is the score's, and nothing takes its place. */
static void tell_score(const sock_value *loglik, const char *name, double dn, sock_scores *out)
{
    out->score = *loglik;
    out->score.value = loglik->valid ? loglik->value / dn : 0;
    out->score_of = loglik->valid ? name : NULL;
}

/* By the law of the whole step where it is there: as right for short steps as Euler's, and for long ones the only one.
 */
static void tell_score_of_steps(sock_scores *out)
{
    const double dn = (double)out->d * (double)out->intervals;
    if (out->loglik_moments.valid)
        tell_score(&out->loglik_moments, "loglik_moments", dn, out);
    else
        tell_score(&out->loglik, "loglik", dn, out);
}

/* ---- Measurement noise ---- */

static void filter_value(const sk_loglik *l, sock_value *value)
{
    if (!l->intervals)
        miss(value, true, "the test set has no interval");
    else if (l->unsettled)
        miss(value, true, "the law of the state is lost on %zu of %zu intervals", l->unsettled, l->intervals);
    else
        give(value, l->value);
}

/* A perplexity, or the reason that one of its likelihoods has none. */
static void filter_perplexity(const sock_value *one, const sock_value *other, double exponent, sock_value *out)
{
    if (!one->valid)
        miss(out, one->failed, "%s", one->reason);
    else if (other && !other->valid)
        miss(out, other->failed, "truth: %.140s", other->reason);
    else
        perplexity_value(exponent, out);
}

/* By the filter that belongs to the order of a model. */
static sock_status by_filter(sock_context *ctx, const sock_model *model, const sock_data *test, const double *noise,
                             sk_loglik *out)
{
    return (model->structure->order == 2 ? sk_second_likelihood : sk_filter_likelihood)(ctx, model, test, noise, out);
}

/* The truth has the model's noise: nothing is known of another. */
static sock_status score_filter(sock_context *ctx, const sock_model *model, const sock_data *test,
                                const sock_model *truth, const double *noise, sock_scores *out)
{
    sk_loglik l = {0}, l_true = {0};
    SK_TRY(by_filter(ctx, model, test, noise, &l));
    const double dn = (double)test->d * (double)l.intervals;
    filter_value(&l, &out->loglik_filter);
    filter_perplexity(&out->loglik_filter, NULL, -l.value / dn, &out->perplexity_filter_raw);
    tell_score(&out->loglik_filter, "loglik_filter", dn, out);
    if (truth) {
        SK_TRY(by_filter(ctx, truth, test, noise, &l_true));
        filter_value(&l_true, &out->loglik_filter_truth);
    } else {
        miss(&out->loglik_filter_truth, false, "no truth given");
    }
    if (truth)
        filter_perplexity(&out->loglik_filter, &out->loglik_filter_truth, (l_true.value - l.value) / dn,
                          &out->perplexity_filter);
    else
        miss(&out->perplexity_filter, false, "no truth given");
    if (out->loglik_filter.valid && out->loglik_constant.valid && l.value > out->loglik_constant.value)
        out->worse_than_constant = 0; /* constants take observations for states, as the other likelihoods do */
    out->noisy = 1;
    return SOCK_OK;
}

static void miss_filter(const char *reason, sock_scores *out)
{
    sock_value *const all[] = {&out->loglik_filter, &out->loglik_filter_truth, &out->perplexity_filter,
                               &out->perplexity_filter_raw};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) miss(all[i], false, "%s", reason);
}

/* ---- Relative errors ---- */

static void relative_error(double difference, double norm, sock_value *value)
{
    if (!isfinite(difference) || !isfinite(norm))
        miss(value, true, "the model or the truth is not finite on the test points");
    else if (!(norm > 0))
        miss(value, true, "the truth is zero on the test points");
    else
        give(value, 100 * sqrt(difference / norm));
}

void sk_tell_errors(const sock_model *model, const sock_model *truth, const sk_field_errors *e, sock_scores *out)
{
    if (!truth) {
        miss(&out->re_f, false, "no truth given");
        miss(&out->re_a, false, "no truth given");
        return;
    }
    relative_error(e->f_difference, e->f_truth, &out->re_f);
    if (!model->has_diffusion || !truth->has_diffusion)
        miss(&out->re_a, false, "the %s has no diffusion", model->has_diffusion ? "truth" : "model");
    else
        relative_error(e->a_difference, e->a_truth, &out->re_a);
}

static sock_status score_errors(sock_context *ctx, const sock_model *model, const sock_data *test,
                                const sock_model *truth, sock_scores *out)
{
    sk_field_errors e = {0};
    if (truth && model->structure->order == 2)
        SK_TRY(sk_second_errors(ctx, model, truth, test, model->structure->noise, &e));
    else if (truth)
        SK_TRY(sk_relative_errors(ctx, model, truth, test, &e));
    sk_tell_errors(model, truth, &e, out);
    return SOCK_OK;
}

/* ---- MMD ---- */

static void miss_mmd(sock_scores *out, bool asked, const char *reason)
{
    miss(&out->mmd2, asked, "%s", reason);
    miss(&out->mmd2_truth, asked, "%s", reason);
}

/* What is scored: a model, or a source of paths when that is not NULL. */
typedef struct subject {
    const sock_model *model;
    sock_paths_fn source;
    void *user;
} subject;

static sock_status subject_mmd(sock_context *ctx, const subject *who, const sock_data *test, const sk_mmd_spec *spec,
                               sk_mmd_result *out)
{
    return who->source ? sk_mmd_of_paths(ctx, who->source, who->user, test, spec, out)
                       : sk_mmd(ctx, who->model, test, spec, out);
}

/* The longest time from the first point of a trajectory to its last. */
static double longest(const sock_data *data)
{
    double most = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        most = fmax(most, data->t[data->first[j + 1] - 1] - data->t[data->first[j]]);
    return most;
}

/* Whether a simulated path would take more steps than are allowed; reason says so. */
static bool is_out_of_reach(const sock_data *test, const sk_mmd_spec *spec, char reason[128])
{
    const double steps = longest(test) / spec->step;
    if (steps <= spec->most_steps) return false;
    snprintf(reason, 128, "a path takes %.3g inner steps of mmd-step %.3g, more than %g", steps, spec->step,
             spec->most_steps);
    return true;
}

/* Second order: positions are judged by their innovations; what takes them for states is not asked. */
static sock_status score_second(sock_context *ctx, const sock_model *model, const sock_data *test,
                                const sock_model *truth, bool noise, sock_scores *out)
{
    static const char reason[] = "the model is of order 2: positions are judged by their innovations (loglik_filter)";
    const likelihood euler = by_euler(out), moments = by_moments(out);
    miss_likelihood(&euler, reason);
    miss_likelihood(&moments, reason);
    miss(&out->loglik_constant, false, "%s", reason);
    for (size_t j = 0; j < test->trajectories; j++) out->intervals += sk_data_length(test, j) - 1;
    SK_TRY(score_filter(ctx, model, test, truth, noise ? model->structure->noise : NULL, out));
    return score_errors(ctx, model, test, truth, out);
}

/* Whether the MMD is not asked for, or cannot be; says why. */
static bool has_no_mmd(const subject *who, const sock_data *train, const sk_mmd_spec *spec, sock_scores *out)
{
    const char *reason = NULL;
    if (who->model && who->model->structure->order == 2 && !who->model->has_diffusion)
        reason = "the model of order 2 has no diffusion, which the law of a velocity needs";
    else if (!spec->paths)
        reason = "mmd-paths is 0";
    else if (!train)
        reason = "no training data given, whose distances set the scale";
    if (reason) miss_mmd(out, false, reason);
    return reason != NULL;
}

static sock_status score_truth(sock_context *ctx, const sock_model *truth, const sock_data *test,
                               const sk_mmd_spec *spec, const char *out_of_reach, sock_scores *out)
{
    sk_mmd_result result;
    if (!truth || out_of_reach) {
        miss(&out->mmd2_truth, truth != NULL, "%s", truth ? out_of_reach : "no truth given");
        return SOCK_OK;
    }
    if (truth->structure->order == 2 && !truth->has_diffusion) {
        miss(&out->mmd2_truth, true, "the truth of order 2 has no diffusion, which the law of a velocity needs");
        return SOCK_OK;
    }
    const sock_simulation said = {.bounds = spec->bounds, .lower = spec->lower, .upper = spec->upper};
    const sock_status inside = sk_data_inside(ctx, truth, test, &said);
    if (inside < 0 && inside != SOCK_EINPUT) return inside;
    if (inside < 0) {
        miss(&out->mmd2_truth, true, "truth: %.140s", sock_message(ctx));
        return SOCK_OK;
    }
    SK_TRY(sk_mmd(ctx, truth, test, spec, &result));
    give(&out->mmd2_truth, result.value);
    return SOCK_OK;
}

/* eta, of what is compared. */
static sock_status scale_of_paths(sock_context *ctx, const subject *who, const sock_data *train, double *eta,
                                  size_t *pairs)
{
    sock_data *tails = NULL;
    size_t *of = NULL;
    *pairs = 0;
    if (!who->model || who->model->structure->order != 2) return sk_mmd_eta(ctx, train, eta, pairs);
    sock_status status = sk_second_tails(ctx, train, &tails, &of);
    if (tails) status = sk_mmd_eta(ctx, tails, eta, pairs);
    sock_data_free(tails);
    sk_free(of);
    return status;
}

static sock_status score_mmd(sock_context *ctx, const subject *who, const sock_data *test, const sock_data *train,
                             const sock_model *truth, sk_mmd_spec *spec, sock_scores *out)
{
    size_t pairs;
    sk_mmd_result result;
    if (has_no_mmd(who, train, spec, out)) return SOCK_OK;
    SK_TRY(scale_of_paths(ctx, who, train, &spec->eta, &pairs));
    if (!pairs || !(spec->eta > 0) || !isfinite(spec->eta)) {
        miss_mmd(out, true,
                 pairs ? "the median distance of training trajectories is zero or not finite"
                       : "no two training trajectories share their times");
        return SOCK_OK;
    }
    char reason[128];
    const bool far = is_out_of_reach(test, spec, reason);
    if (far && !who->source) {
        miss_mmd(out, true, reason);
        return SOCK_OK;
    }
    out->mmd_eta = spec->eta;
    out->mmd_pairs = pairs;
    SK_TRY(subject_mmd(ctx, who, test, spec, &result));
    if (!result.starts) {
        miss_mmd(out, true,
                 who->model && who->model->structure->order == 2
                     ? "the test set has no trajectory of four points: the first three only start paths"
                     : "the test set has no trajectory of two points");
        return SOCK_OK;
    }
    give(&out->mmd2, result.value);
    out->mmd_starts = result.starts;
    out->mmd_lost = result.lost;
    return score_truth(ctx, truth, test, spec, far ? reason : NULL, out);
}

/* ---- All together ---- */

/* d: states of the model that data have, or of the test data where paths are scored. */
static sock_status check_dimensions(sock_context *ctx, const subject *who, size_t d, const sock_data *test,
                                    const sock_data *train, const sock_model *truth)
{
    if (who->model && truth && who->model->structure->order != truth->structure->order)
        return sk_fail(ctx, SOCK_EINPUT, "score: the model is of order %d, the truth of order %d",
                       who->model->structure->order, truth->structure->order);
    if (!who->model && truth && truth->structure->order == 2)
        return sk_fail(ctx, SOCK_EUSAGE,
                       "score: the truth is of order 2; paths alone are scored beside one of order 1");
    if (test->d != d)
        return sk_fail(ctx, SOCK_EINPUT, "score: the model has %zu states, the test data (%s) %zu", d, test->source,
                       test->d);
    if (train && train->d != d)
        return sk_fail(ctx, SOCK_EINPUT, "score: the model has %zu states, the training data (%s) %zu", d,
                       train->source, train->d);
    if (truth && sk_model_observed(truth) != d)
        return sk_fail(ctx, SOCK_EINPUT, "score: the model has %zu states, the truth %zu", d, sk_model_observed(truth));
    return SOCK_OK;
}

sock_status sk_scores_verdict(sock_context *ctx, const sock_scores *s)
{
    const struct {
        const char *name;
        const sock_value *value;
    } all[] = {{"loglik", &s->loglik},
               {"loglik_truth", &s->loglik_truth},
               {"perplexity", &s->perplexity},
               {"re_f", &s->re_f},
               {"re_a", &s->re_a},
               {"mmd2", &s->mmd2},
               {"loglik_moments", &s->loglik_moments},
               {"loglik_moments_truth", &s->loglik_moments_truth},
               {"perplexity_moments", &s->perplexity_moments},
               {"loglik_filter", &s->loglik_filter},
               {"loglik_filter_truth", &s->loglik_filter_truth},
               {"perplexity_filter", &s->perplexity_filter}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!all[i].value->valid && all[i].value->failed)
            return sk_fail(ctx, SOCK_PARTIAL, "%s could not be computed: %s", all[i].name, all[i].value->reason);
    return SOCK_OK;
}

/* The specification of the MMD from the options; d: states of the paths, bound: 2 x d numbers of room. */
static sock_status mmd_spec(sock_context *ctx, const sock_options *opts, size_t d, double *bound, sk_mmd_spec *spec)
{
    *spec = (sk_mmd_spec){.paths = sk_option_count(opts, "mmd-paths"),
                          .step = sk_option_number(opts, "mmd-step"),
                          .most_steps = sk_option_is_set(opts, "mmd-step") ? SK_MMD_STEPS_CHOSEN : SK_MMD_STEPS,
                          .seed = sk_option_count(opts, "seed"),
                          .lower = bound,
                          .upper = bound + d};
    return sk_bounds_from_options(ctx, opts, d, &spec->bounds, bound, bound + d);
}

void sk_tell_stream(sock_scores *out)
{
    tell_score_of_steps(out);
    miss_filter("a stream takes observations for states", out);
    miss_mmd(out, false, "the MMD needs all data in memory, and this is a stream");
}

/* Paths alone have no fields to score. */
static void miss_fields(const sock_data *test, sock_scores *out)
{
    static const char reason[] = "paths alone: there is no drift and no diffusion to score";
    const likelihood euler = by_euler(out), moments = by_moments(out);
    miss_likelihood(&euler, reason);
    miss_likelihood(&moments, reason);
    miss_filter(reason, out);
    miss(&out->loglik_constant, false, "%s", reason);
    miss(&out->score, false, "%s", reason);
    miss(&out->re_f, false, "%s", reason);
    miss(&out->re_a, false, "%s", reason);
    for (size_t j = 0; j < test->trajectories; j++) out->intervals += sk_data_length(test, j) - 1;
}

/* Without a delta steps at rest on a bound have no density, whoever is right: they are left out for all. *out: NULL
 * where there are none. */
static sock_status leave_absorbed(sock_context *ctx, const sock_model *model, const sock_data *test,
                                  const sock_model *truth, double delta, sock_data **out)
{
    const sock_model *who = sk_structure_is_bounded(model->structure) || !truth ? model : truth;
    *out = NULL;
    if (delta > 0 || !sk_structure_is_bounded(who->structure)) return SOCK_OK;
    return sk_absorbed_cut(ctx, test, who->structure->lower, who->structure->upper, out);
}

static sock_status score_fields(sock_context *ctx, const sock_model *model, const sock_data *test,
                                const sock_model *truth, bool noise, sock_scores *out)
{
    sock_data *cut = NULL;
    if (model->structure->order == 2) return score_second(ctx, model, test, truth, noise, out);
    SK_TRY(leave_absorbed(ctx, model, test, truth, out->delta, &cut));
    sock_status status = score_likelihoods(ctx, model, cut ? cut : test, truth, out);
    sk_absorbed_free(cut);
    if (status < 0) return status;
    tell_score_of_steps(out);
    if (model->structure->noise && noise)
        SK_TRY(score_filter(ctx, model, test, truth, model->structure->noise, out));
    else
        miss_filter(noise ? "the model knows of no measurement noise" : "noise is none", out);
    return score_errors(ctx, model, test, truth, out);
}

static sock_status score_subject(sock_context *ctx, const subject *who, const sock_data *test, const sock_data *train,
                                 const sock_model *truth, const sock_options *opts, sock_scores *out)
{
    const size_t d = who->model ? sk_model_observed(who->model) : test->d, width = who->model ? who->model->d : d;
    const bool noise = strcmp(sk_option_text(opts, "noise"), "none") != 0;
    const double begun = sk_seconds();
    sock_status status = SOCK_ENOMEM;
    sock_scores scores = {.d = d, .points = test->points, .delta = sk_option_number(opts, "delta")};
    sk_mmd_spec spec;
    SK_TRY(check_dimensions(ctx, who, d, test, train, truth));
    double *bound = sk_doubles(ctx, 2, width);
    if (!bound) return SOCK_ENOMEM;
    SK_GO(mmd_spec(ctx, opts, width, bound, &spec));
    spec.noise = who->model && noise ? who->model->structure->noise : NULL;
    if (who->model) {
        const sock_simulation said = {.bounds = spec.bounds, .lower = spec.lower, .upper = spec.upper};
        SK_GO(sk_data_inside(ctx, who->model, test, &said));
    }
    scores.mmd_paths = spec.paths;
    SK_GO(sk_progress(ctx, "score", 0));
    if (who->model)
        SK_GO(score_fields(ctx, who->model, test, truth, noise, &scores));
    else
        miss_fields(test, &scores);
    SK_GO(score_mmd(ctx, who, test, train, truth, &spec, &scores));
    scores.seconds = sk_seconds() - begun;
    *out = scores;
    status = sk_scores_verdict(ctx, out);
out:
    sk_free(bound);
    return status;
}

sock_status sock_score(sock_context *ctx, const sock_model *model, const sock_data *test, const sock_data *train,
                       const sock_model *truth, const sock_options *opts, sock_scores *out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!model || !test || !out)
        return sk_fail(ctx, SOCK_EUSAGE, "score: model, test data and output must not be NULL");
    return score_subject(ctx, &(subject){.model = model}, test, train, truth, opts, out);
}

sock_status sock_score_paths(sock_context *ctx, sock_paths_fn source, void *user, const sock_data *test,
                             const sock_data *train, const sock_model *truth, const sock_options *opts,
                             sock_scores *out)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!source || !test || !out)
        return sk_fail(ctx, SOCK_EUSAGE, "score: source, test data and output must not be NULL");
    return score_subject(ctx, &(subject){.source = source, .user = user}, test, train, truth, opts, out);
}
