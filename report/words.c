/* words.c - the summary of a report, in sentences: what the data are, what was learned, how far it can be trusted. */
#define _GNU_SOURCE
#include "facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *plural(long long count) { return count == 1 ? "" : "s"; }

static void put_names(FILE *out, const rep_facts *f)
{
    const size_t shown = f->d < 6 ? f->d : 5;
    for (size_t k = 0; k < shown; k++) {
        fputs(!k ? "" : k + 1 == f->d ? " and " : ", ", out);
        fputs("<b>", out);
        page_text(out, sock_model_name(f->model, k));
        fputs("</b>", out);
    }
    if (shown < f->d) fprintf(out, " and %zu more", f->d - shown);
}

static void data_words(FILE *out, const rep_facts *f)
{
    json_t *times = json_object_get(f->summary, "time_range"), *step = json_object_get(f->summary, "time_step");
    const long long paths = info_count(f->summary, "trajectories"), points = info_count(f->summary, "points");
    const double least = info_number(step, "min"), most = info_number(step, "max");
    fputs("<p>This is a model of how ", out);
    put_names(out, f);
    fprintf(out, " change%s in time, shown with %lld trajector%s of %lld point%s in all", f->d == 1 ? "s" : "", paths,
            paths == 1 ? "y" : "ies", points, plural(points));
    fprintf(out, ", from time %.6g to %.6g", info_number(times, "min"), info_number(times, "max"));
    if (isfinite(most) && most - least <= 1e-9 * most)
        fprintf(out, " in steps of %.6g", most);
    else if (isfinite(most))
        fprintf(out, " in steps of %.4g to %.4g, typically %.4g", least, most, info_number(step, "median"));
    fputs(f->same_data ? ". They are the data it was fitted to.</p>\n"
                       : ". They are not the data it was fitted to.</p>\n",
          out);
}

static void put_kernel(FILE *out, const char *kernel)
{
    fputs("<code>", out);
    page_text(out, kernel);
    fputs("</code>", out);
}

/* The kernel, or the one that leads an average. */
static void put_kind(FILE *out, size_t parts, const sk_part *lead)
{
    if (parts > 1)
        fprintf(out, "an average of %zu kernels that did about equally well on held-out data, led by ", parts);
    else
        fputs("of the kind ", out);
    put_kernel(out, lead ? lead->kernel : "");
    if (parts > 1 && lead) fputs(" (", out), page_share(out, lead->share), fputs(")", out);
}

static void drift_words(FILE *out, const rep_facts *f)
{
    const sk_part *lead = sk_record_drift(&f->record);
    const size_t parts = f->record.found.drifts.count;
    const double dof = f->record.found.drift_dof;
    if (!lead) return;
    fputs("<p>The drift, where the states tend to go, is ", out);
    put_kind(out, parts, lead);
    if (parts > 1 && isfinite(dof)) fputs(",", out);
    if (isfinite(dof)) fprintf(out, " with %.1f effective degrees of freedom", dof);
    fputs(json_is_array(json_object_get(f->terms, "drift")) ? "; it is a polynomial, written out below. " : ". ", out);
}

static void diffusion_words(FILE *out, const rep_facts *f)
{
    const double gap = f->record.certificate.relative_gap;
    if (!sock_model_has_diffusion(f->model)) {
        fputs("It has no diffusion: only the drift was fitted, and simulated paths are not random.</p>\n", out);
        return;
    }
    fputs("The diffusion, the strength of the noise, is ", out);
    put_kind(out, f->record.found.diffusions.count, sk_record_diffusion(&f->record));
    const char *said = f->record.found.diffusions.count > 1
                           ? "Their convex problems were solved with proved relative gaps of at most"
                           : "Its convex problem was solved with a proved relative gap of";
    if (isfinite(gap)) fprintf(out, ". %s %.1e", said, gap);
    fputs(".</p>\n", out);
}

/* Residuals that take observations for states and a step for a short one say nothing about a model that knows better.
 */
static int follows_steps(const rep_facts *f)
{
    const sk_noise_told *noise = &f->record.found.noise;
    return noise->used || noise->substeps > 1;
}

/* What is known of measurement noise: standard deviations by state, or how it was looked for. */
static void noise_words(FILE *out, const rep_facts *f)
{
    const sk_noise_told *noise = &f->record.found.noise;
    if (noise->used) fputs("<p>The observations are states with measurement noise of standard deviation ", out);
    for (size_t k = 0; noise->used && k < noise->sd.count; k++) {
        fprintf(out, "%s%.2g", k ? ", " : "", noise->sd.value[k]);
        if (k >= noise->states.count) continue;
        fputs(" (", out);
        page_text(out, noise->states.text[k]);
        fputs(")", out);
    }
    if (noise->used && isfinite(noise->gain))
        fprintf(out, "; on steps that a fit had not seen the model is %.1f nats better for it", noise->gain);
    if (noise->used) fputs(". Fields and paths are those of the states themselves.</p>\n", out);
    if (noise->substeps > 1)
        fprintf(out, "<p>Steps are long: the law of each was followed in %zu substeps.</p>\n", noise->substeps);
}

/* Held-out score of the search beside constant coefficients. */
static void search_words(FILE *out, const rep_facts *f)
{
    const sk_tune_outcome *found = &f->record.found;
    const double size = (double)found->steps * (double)f->d, score = found->score / size;
    const double constant = found->score_constant / size;
    if (!isfinite(score) || !isfinite(constant)) return;
    fprintf(out,
            "<p>On steps that a fit had not seen it scores %.4f nats a step and dimension, constant coefficients %.4f",
            score, constant);
    if (f->record.against_constant) fprintf(out, ": %s", sk_verdict_words(f->record.against_constant));
    if (f->record.against_constant == SK_BETTER)
        fprintf(out, ", each step is %.2f times as likely under the model", exp((score - constant) * (double)f->d));
    if (f->record.against_constant != SK_BETTER && found->limited)
        fputs("; the budget ended the search before it found more", out);
    fputs(".</p>\n", out);
}

static void score_words(FILE *out, const rep_facts *f)
{
    const sock_scores *s = &f->scores;
    if (!f->has_scores) return;
    fprintf(out, "<p>On %s of %zu steps", f->settings->test ? "test data" : "these data", s->intervals);
    const char *join = " its";
    if (s->perplexity.valid)
        fprintf(out, "%s perplexity is %.2f (100 is as good as the truth)", join, s->perplexity.value), join = ", its";
    if (s->re_f.valid)
        fprintf(out, "%s drift is off by %.2f %%", join, s->re_f.value), join = s->re_a.valid ? " and its" : ", its";
    if (s->re_a.valid) fprintf(out, "%s diffusion by %.2f %%", join, s->re_a.value), join = ", its";
    if (!s->perplexity.valid && s->loglik.valid) fprintf(out, "%s log likelihood is %.5g", join, s->loglik.value);
    if (s->mmd2.valid)
        fprintf(out, "; simulated paths are at a squared distance (MMD) of %.3g from the data's", s->mmd2.value);
    if (s->mmd2.valid && s->mmd_lost)
        fprintf(out, "; <b>%zu of %zu of them left the finite numbers</b>", s->mmd_lost, s->mmd_starts * s->mmd_paths);
    if (s->mmd2.valid && s->mmd2_truth.valid) fprintf(out, ", those of the truth at %.3g", s->mmd2_truth.value);
    fputs(".</p>\n", out);
}

/* ---- Residuals ---- */

static void put_warning(FILE *out, const char *text)
{
    /* A sentence begins large, unless it begins with the field a. */
    const int small = *text >= 'a' && *text <= 'z' && strncmp(text, "a is ", 5) != 0;
    fputs("<li>", out);
    if (small) fputc(*text - 'a' + 'A', out);
    page_text(out, text + small);
    fputs(".</li>\n", out);
}

/* The fit looked at the neighbours of these residuals itself: its word stands among its warnings. */
static int fit_told(const rep_facts *f) { return f->same_data && isfinite(f->record.residual_lag1); }

static sk_warning_code lag1_warning(const rep_facts *f)
{
    if (fit_told(f)) return sk_warn_lag1(f->record.residual_lag1, (double)f->record.found.steps);
    return sk_warn_lag1(f->residuals.lag[1], (double)f->residuals.count / (double)f->d);
}

/* What the residuals have against the model, as list items; the number of them. out may be NULL. An objection is
 * raised beyond three standard errors of white noise only: 1/sqrt(n) for the mean, 1/sqrt(2n) for the standard
 * deviation, sqrt(24/n) for the kurtosis; that to correlation by the rule of the fit. */
static int objections(FILE *out, const rep_facts *f)
{
    const res_moments *m = &f->residuals;
    const sk_warning_code lag1 = lag1_warning(f);
    const double size = (double)(m->count ? m->count : 1), chance = 3 / sqrt(size),
                 width = fmax(0.08, chance / M_SQRT2);
    int count = 0;
    if (follows_steps(f)) return 0;
#define OBJECT(...)                                                                                                    \
    do {                                                                                                               \
        if (out) fprintf(out, __VA_ARGS__);                                                                            \
        count++;                                                                                                       \
    } while (0)
    if (fabs(m->mean) > fmax(0.05, chance))
        OBJECT("<li>The residuals have mean %.3f instead of 0: the drift misses a trend.</li>\n", m->mean);
    if (m->sd > 1 + width)
        OBJECT(
            "<li>The residuals are wider than they should be (%.2f instead of 1): the noise is larger than the model "
            "says, or time steps are too long for it.</li>\n",
            m->sd);
    if (m->sd < 1 - width)
        OBJECT("<li>The residuals are narrower than they should be (%.2f instead of 1): the model has more noise than "
               "the data.</li>\n",
               m->sd);
    if (m->kurtosis > fmax(4.5, 3 + 3 * sqrt(24 / size)))
        OBJECT(
            "<li>The residuals have heavy tails (kurtosis %.1f instead of 3): jumps, outliers, or noise that changes "
            "faster with the state than the model knows.</li>\n",
            m->kurtosis);
    if (lag1 != SK_WARN_NONE) count++;
    if (lag1 != SK_WARN_NONE && out && !fit_told(f)) put_warning(out, sk_warning_text(lag1));
#undef OBJECT
    return count;
}

static void residual_words(FILE *out, const rep_facts *f)
{
    const res_moments *m = &f->residuals;
    if (!f->has_residuals) return;
    fprintf(out,
            "<p>Its standardised residuals have mean %.3f, standard deviation %.3f, kurtosis %.2f and lag-1 "
            "correlation %.3f",
            m->mean, m->sd, m->kurtosis, m->lag[1]);
    if (follows_steps(f)) {
        fputs(
            ". They take observations for states and steps for short ones, which the model does not, so they need not "
            "be white.</p>\n",
            out);
        return;
    }
    const size_t few = 100; /* the standard deviation is then known to a fifteenth, and less than that shows nothing */
    if (objections(NULL, f))
        fputs("; white noise would have 0, 1, 3 and 0: see the warnings.</p>\n", out);
    else if (m->count < few)
        fprintf(out,
                "; white noise would have 0, 1, 3 and 0, but %zu residual%s would not show much that speaks against "
                "the model.</p>\n",
                m->count, plural((long long)m->count));
    else
        fputs(", close to the 0, 1, 3 and 0 of white noise: nothing speaks against the model.</p>\n", out);
}

void words_summary(FILE *out, const rep_facts *f)
{
    data_words(out, f);
    drift_words(out, f);
    diffusion_words(out, f);
    noise_words(out, f);
    search_words(out, f);
    score_words(out, f);
    residual_words(out, f);
}

/* What the scores have against the model, as list items; the number of them. out may be NULL. */
static int bad_scores(FILE *out, const rep_facts *f)
{
    const sock_scores *s = &f->scores;
    const char *where = f->settings->test ? "the test data" : "these data";
    if (!f->has_scores) return 0;
    if (s->worse_than_constant && out) {
        const int by_moments =
            !s->loglik.valid || (s->loglik_moments.valid && s->loglik_moments.value > s->loglik.value);
        fprintf(out,
                "<li>On %s the model is worse than constant coefficients (log likelihood%s %.5g, theirs %.5g): are "
                "they of the same process, in the same units, within the range that the model was fitted to?</li>\n",
                where, by_moments ? " by moments" : "", by_moments ? s->loglik_moments.value : s->loglik.value,
                s->loglik_constant.value);
    }
    if (s->worse_than_constant) return 1;
    if (s->loglik.valid || !s->loglik.failed || s->loglik_moments.valid) return 0;
    if (out) {
        fprintf(out, "<li>On %s the model has no likelihood: ", where);
        page_text(out, s->loglik.reason);
        fputs(".</li>\n", out);
    }
    return 1;
}

/* Codes for missing values and wild steps of the data of the fit, one by one. */
static void odd_words(FILE *out, const sk_oddities *odd)
{
    for (size_t i = 0; i < odd->codes; i++) {
        fprintf(out, "<li>%.10g occurs %zu times in ", odd->code[i].value, odd->code[i].count);
        page_text(out, odd->code[i].state ? odd->code[i].state : "");
        fprintf(out, ", far outside the rest; --missing %.10g leaves it out.</li>\n", odd->code[i].value);
    }
    if (odd->wild_steps)
        fprintf(out, "<li>%zu wild step%s, the largest first:<ul>\n", odd->wild_steps,
                plural((long long)odd->wild_steps));
    for (size_t i = 0; odd->wild_steps && i < odd->wilds; i++) {
        fputs("<li>trajectory ", out);
        page_text(out, odd->wild[i].trajectory ? odd->wild[i].trajectory : "");
        fprintf(out, " at time %.6g: ", odd->wild[i].time);
        page_text(out, odd->wild[i].state ? odd->wild[i].state : "");
        fprintf(out, " from %.6g to %.6g</li>\n", odd->wild[i].from, odd->wild[i].to);
    }
    if (odd->wild_steps) fputs("</ul></li>\n", out);
}

void words_warnings(FILE *out, const rep_facts *f)
{
    const sk_texts *warnings = &f->record.warnings;
    const int against = f->has_residuals ? objections(NULL, f) : 0;
    const int unsolved = !f->record.certificate.converged && !sk_record_warns(&f->record, SK_WARN_UNSOLVED);
    if (!warnings->count && !f->record.odd.codes && !f->record.odd.wild_steps && !against && !unsolved &&
        !bad_scores(NULL, f))
        return;
    fputs("<div class=\"warnings\" role=\"note\"><h2>Warnings</h2>\n<ul>\n", out);
    bad_scores(out, f);
    for (size_t i = 0; i < warnings->count; i++) put_warning(out, warnings->text[i]);
    odd_words(out, &f->record.odd);
    if (unsolved) put_warning(out, sk_warning_text(SK_WARN_UNSOLVED));
    if (against) objections(out, f);
    fputs("</ul></div>\n", out);
}
