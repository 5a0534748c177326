/* words.c - the summary of a report, in sentences: what the data are, what was learned, how far it can be trusted. */
#define _GNU_SOURCE
#include "evidence.h"
#include "facts.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROUNDING = 1e-15; /* a gap that is no larger is that of rounding */

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

/* Bold names with commas and an "and". */
static void put_bold(FILE *out, const char *const *name, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputs(!i ? "" : i + 1 == count ? " and " : ", ", out);
        fputs("<b>", out), page_text(out, name[i]), fputs("</b>", out);
    }
}

/* Inputs that were offered to a search and are in neither field. */
static void put_left(FILE *out, const rep_facts *f, const char **name, int some)
{
    const sk_inputs_told *told = &f->record.found.inputs;
    size_t left = 0;
    for (size_t i = 0; i < told->count; i++)
        if (!told->input[i].in_f && !told->input[i].in_a) name[left++] = told->input[i].name;
    if (!left) return;
    fputs(some ? " Also offered, and left out: " : " Inputs that were offered, and left out: ", out);
    put_bold(out, name, left);
    fprintf(out, ". With %s steps that a fit had not seen were not foretold clearly better.",
            left == 1 ? "it" : "any of them");
}

/* What drives from outside: known from the data, not learned. */
static void put_drivers(FILE *out, const rep_facts *f)
{
    const size_t m = sock_model_inputs(f->model), told = f->record.found.inputs.count;
    const char **name = calloc(m + told + 1, sizeof *name);
    size_t used = 0;
    int timed = 0;
    for (size_t k = 0; name && k < m; k++) {
        const int is_time = strcmp(sock_model_input_hold(f->model, k), "time") == 0;
        if (!is_time) name[used++] = sock_model_input_name(f->model, k);
        timed = timed || is_time;
    }
    if (!name) *f->failed = 1;
    if (timed) fputs(" Its law changes with the time itself.", out);
    if (used) {
        fputs(" It is driven by ", out);
        put_bold(out, name, used);
        fprintf(out, ", %s known from the data: the model does not tell how %s.", used == 1 ? "an input" : "inputs",
                used == 1 ? "it goes on" : "they go on");
    }
    if (name) put_left(out, f, name, used || timed);
    free(name);
}

void words_data(FILE *out, const rep_facts *f)
{
    json_t *dates = json_object_get(f->summary, "dates");
    char unit[48];
    unit_of_time(info_text(f->summary, "time_name"), sizeof unit, unit);
    if (*info_text(f->summary, "time_unit")) snprintf(unit, sizeof unit, "%.40ss", info_text(f->summary, "time_unit"));
    json_t *times = json_object_get(f->summary, "time_range"), *step = json_object_get(f->summary, "time_step");
    const long long paths = info_count(f->summary, "trajectories"), points = info_count(f->summary, "points");
    const double least = info_number(step, "min"), most = info_number(step, "max");
    fputs("<p class=\"sub\">This is a model of how ", out);
    put_names(out, f);
    fprintf(out,
            " change%s in time, a stochastic differential equation d<var>x</var> = <var>f</var>\xe2\x80\x89"
            "d<var>t</var> + <var>\xcf\x83</var>\xe2\x80\x89"
            "d<var>W</var>, shown with %lld trajector%s of %lld point%s%s",
            f->d == 1 ? "s" : "", paths, paths == 1 ? "y" : "ies", points, plural(points), paths == 1 ? "" : " in all");
    if (json_is_object(dates)) {
        fputs(", from ", out);
        page_text(out, info_text(dates, "first"));
        fputs(" to ", out);
        page_text(out, info_text(dates, "last"));
    } else {
        fprintf(out, ", from time %.6g to %.6g", info_number(times, "min"), info_number(times, "max"));
    }
    if (isfinite(most) && most - least <= 1e-9 * most)
        fprintf(out, " in steps of %.6g", most);
    else if (isfinite(most))
        fprintf(out, " in steps of %.4g to %.4g, typically %.4g", least, most, info_number(step, "median"));
    if (*unit && isfinite(most)) {
        const size_t length = strlen(unit);
        if (most == 1 && most == least && length > 3 && unit[length - 1] == 's') unit[length - 1] = 0; /* 1 year */
        fputc(' ', out), page_text(out, unit);
    }
    fputs(f->same_data ? ". They are the data it was fitted to.</p>\n"
                       : ". They are not the data it was fitted to.</p>\n",
          out);
}

void words_driven(FILE *out, const rep_facts *f)
{
    if (f->seen == f->d && !sock_model_inputs(f->model) && !f->record.found.inputs.count) return;
    fputs("<p>", out);
    if (f->seen < f->d) {
        fputs("It is of second order: positions were observed, velocities were not. <var>", out);
        page_text(out, sock_model_name(f->model, f->seen));
        fputs("</var> is the velocity of <var>", out);
        page_text(out, sock_model_name(f->model, 0));
        fputs("</var>; velocities of the figures are what a smoother finds, given all positions.", out);
    }
    put_drivers(out, f);
    fputs("</p>\n", out);
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
                           ? "Their convex problems were solved with proved relative gaps"
                           : "Its convex problem was solved with a proved relative gap";
    if (isfinite(gap) && gap < ROUNDING)
        fprintf(out, ". %s below 1e-15", said);
    else if (isfinite(gap))
        fprintf(out, ". %s of %s%.1e", said, f->record.found.diffusions.count > 1 ? "at most " : "", gap);
    fputs(".</p>\n", out);
}

/* The variance of the noise of state k over that of a step, h a_kk at the points of the data; NaN: not known. */
static double noise_share(const rep_facts *f, double sd, size_t k)
{
    const size_t n = f->points;
    look_times time;
    double mean = 0;
    if (!f->a || !n || look_time(f->data, &time) < 0) return (double)NAN;
    for (size_t i = 0; i < n; i++) mean += f->a[i * f->d + k] / (double)n;
    return sd * sd / (mean * time.step);
}

/* The x of log(x). */
static void put_user_name(FILE *out, const char *name)
{
    size_t length = 0;
    const char *inside = unit_inside_log(name, &length);
    if (inside)
        svg_escape_bytes(out, inside, length);
    else
        page_text(out, name);
}

/* Squared changes of a state over all steps of the data. */
static double squared_changes(const sock_data *data, size_t k)
{
    const size_t d = sock_data_dim(data);
    double sum = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *x;
        const size_t length = sock_data_trajectory(data, j, NULL, &x);
        for (size_t i = 1; i < length; i++) {
            const double change = x[i * d + k] - x[(i - 1) * d + k];
            if (isfinite(change)) sum += change * change;
        }
    }
    return sum;
}

/* What the steps that were left out are of all change: neither a nor simulated paths have it. */
static void wild_words(FILE *out, const rep_facts *f)
{
    const sk_oddities *odd = &f->record.odd;
    double most = 0;
    size_t worst = 0;
    if (!odd->wild_steps || odd->wilds < odd->wild_steps || !f->same_data) return;
    for (size_t k = 0; k < f->seen; k++) {
        const char *name = sock_model_name(f->model, k);
        double square = 0;
        for (size_t i = 0; i < odd->wilds; i++)
            if (odd->wild[i].state && strcmp(odd->wild[i].state, name) == 0)
                square += pow(odd->wild[i].to - odd->wild[i].from, 2);
        const double share = square / squared_changes(f->data, k);
        if (share > most) most = share, worst = k;
    }
    if (!(most > 0)) return;
    fprintf(out,
            " That is without the %zu wild step%s, which the fit left out: %.2g %% of the sum of squared changes of ",
            odd->wild_steps, plural((long long)odd->wild_steps), 100 * most);
    page_text(out, sock_model_name(f->model, worst));
    fputs(". Simulated paths have none.", out);
}

static double same(double x) { return x; }

/* Where a has no formula on the first screen: how large it is, as people think of noise. */
void words_size(FILE *out, const rep_facts *f)
{
    enum { STATES = 3 };
    const size_t n = f->points;
    double *sd = f->a && n && f->d <= STATES ? calloc(n, sizeof *sd) : NULL;
    if (!sd) return;
    size_t length, logs = 0;
    for (size_t k = 0; k < f->d; k++) logs += unit_inside_log(sock_model_name(f->model, k), &length) != NULL;
    fputs("<p class=\"note\">In ", out);
    page_text(out, f->time_unit);
    if (f->has_check && !f->check.ok) fputs(", if the equation were right,", out);
    fputs(logs ? " noise alone " : " noise alone moves ", out);
    for (size_t k = 0; k < f->d; k++) {
        for (size_t i = 0; i < n; i++) sd[i] = sqrt(f->a[i * f->d + k]);
        look_sort(n, sd);
        fputs(!k ? "" : k + 1 == f->d ? " and " : ", ", out);
        const char *name = sock_model_name(f->model, k);
        const int is_log = unit_inside_log(name, &length) != NULL;
        double (*const own)(double) = is_log ? exp : same;
        const double least = own(look_quantile(n, sd, 0.05)), most = own(look_quantile(n, sd, 0.95));
        if (logs) fputs(is_log ? "multiplies or divides " : "moves ", out);
        put_user_name(out, name);
        fprintf(out, " by about %.2g", own(look_quantile(n, sd, 0.5)));
        if (most - least > 0.1 * most) fprintf(out, " (from %.2g to %.2g across the data)", least, most);
    }
    fputs(": one standard deviation, \xe2\x88\x9a<var>a</var>", out);
    fputs(logs ? " (of a logarithm e to it)." : ".", out);
    wild_words(out, f);
    fputs("</p>\n", out);
    free(sd);
}

/* The standard deviation of one state's noise with its error, and how much of a step that is. */
static void deviation_words(FILE *out, const rep_facts *f, size_t k)
{
    const sk_noise_told *noise = &f->record.found.noise;
    const double sd = noise->sd.value[k], share = k < f->d ? noise_share(f, sd, k) : (double)NAN;
    const double error = k < noise->r_error.count ? noise->r_error.value[k] / (2 * sd) : (double)NAN;
    fprintf(out, "%s%.2g", k ? ", " : "", sd);
    if (error < sd) fprintf(out, " \xc2\xb1 %.1g", error);
    if (k >= noise->states.count) return;
    fputs(" (", out);
    page_text(out, noise->states.text[k]);
    if (share >= 1)
        fputs("; more than the state moves in a step", out);
    else if (isfinite(share))
        fprintf(out, "; its variance is %.*f %% of that of the noise of a step", share < 0.01, 100 * share);
    fputs(")", out);
}

/* What the signs mean, and what the observations are. */
void words_signs(FILE *out, const rep_facts *f)
{
    const sk_noise_told *noise = &f->record.found.noise;
    if (noise->used) {
        const int objects = f->has_check && !f->check.ok;
        fputs(objects ? "<p class=\"note\">The model takes what was measured for the state with noise of standard "
                        "deviation "
                      : "<p class=\"note\">What was measured is the state with noise of standard deviation ",
              out);
        for (size_t k = 0; k < noise->sd.count; k++) deviation_words(out, f, k);
        fputs(objects
                  ? ". The verdict objects to this model: the noise may be what the equation lacks, and says little "
                    "of how well was measured.</p>\n"
                  : "; the equation is that of the state itself.</p>\n",
              out);
    }
    if (f->record.errors.count || f->record.equation_part_errors.count)
        fputs("<p class=\"note\">\xc2\xb1 after a number is one standard error, if the form of the equation is right; "
              "bands, bars and brackets hold 90 "
              "%.</p>\n",
              out);
}

/* What is known of measurement noise: standard deviations by state, or how it was looked for. */
static void noise_words(FILE *out, const rep_facts *f)
{
    const sk_noise_told *noise = &f->record.found.noise;
    if (noise->used) fputs("<p>The observations are states with measurement noise of standard deviation ", out);
    for (size_t k = 0; noise->used && k < noise->sd.count; k++) deviation_words(out, f, k);
    if (noise->used && isfinite(noise->gain))
        fprintf(out, "; on steps that a fit had not seen the model is %.1f nats better for it", noise->gain);
    if (noise->used) fputs(". Fields and paths are those of the states themselves.</p>\n", out);
    if (noise->substeps > 1)
        fprintf(out, "<p>Steps are long: the law of each was followed in %zu substeps.</p>\n", noise->substeps);
}

int words_gave_up(const rep_facts *f) { return f->record.found.richer && !f->record.found.noise.used; }

void words_richer(FILE *out, const rep_facts *f)
{
    const double gain = f->record.found.richer_gain, error = f->record.found.richer_error;
    page_text(out, f->record.found.richer);
    fprintf(out, ", which scored %.2g nats more in all, ", gain);
    if (isnan(error))
        fputs("but no clear gain by Euler's likelihood", out);
    else if (error > gain)
        fprintf(out, "with an error of %.2g", error);
    else
        fputs("less than is asked of the best of many", out);
}

/* Held-out score of the search beside constant coefficients. */
static void search_words(FILE *out, const rep_facts *f)
{
    const sk_tune_outcome *found = &f->record.found;
    const double size = (double)found->steps * (double)f->seen, score = found->score / size;
    const double constant = found->score_constant / size;
    if (!isfinite(score) || !isfinite(constant) || sk_record_warns(&f->record, SK_WARN_FEW)) return;
    fprintf(
        out,
        "<p>On steps that a fit had not seen it scores %.4f nats a step and dimension, constant coefficients%s %.4f",
        score, found->noise.used ? " without noise" : "", constant);
    if (f->record.against_constant) fprintf(out, ": %s", sk_verdict_words(f->record.against_constant));
    if (f->record.against_constant == SK_BETTER) {
        fputs(glance_little(f) ? ", but by little: each step is " : ", each step is ", out),
            page_times(out, (score - constant) * (double)f->seen);
        fputs(" times as likely under the model", out);
    }
    if (f->record.against_constant != SK_BETTER && found->limited)
        fputs("; the budget ended the search before it found more", out);
    fputs(".", out);
    if (!found->noise.used && found->drifts.count == 1 && found->diffusions.count == 1 &&
        strcmp(found->drifts.part->kernel ? found->drifts.part->kernel : "", "constant") == 0 &&
        strcmp(found->diffusions.part->kernel ? found->diffusions.part->kernel : "", "constant") == 0)
        fputs(
            " The model is constant itself: both numbers are of constants, and how far they are apart is what two ways "
            "to fit them make.",
            out);
    fputs("</p>\n", out);
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
    if (!s->perplexity.valid && s->score.valid)
        fprintf(out, "%s score is %.4f nats a step and dimension", join, s->score.value);
    if (s->mmd2.valid)
        fprintf(out, "; simulated paths are at a squared distance (MMD) of %.3g from the data's", s->mmd2.value);
    if (s->mmd2.valid && s->mmd_lost)
        fprintf(out, "; <b>%zu of %zu of them left the finite numbers</b>", s->mmd_lost, s->mmd_starts * s->mmd_paths);
    if (s->mmd2.valid && s->mmd2_truth.valid) fprintf(out, ", those of the truth at %.3g", s->mmd2_truth.value);
    fputs(".</p>\n", out);
}

/* ---- The verdict ---- */

static void put_warning(FILE *out, const char *text)
{
    /* A sentence begins large, unless it begins with the field a. */
    const int small = *text >= 'a' && *text <= 'z' && strncmp(text, "a is ", 5) != 0;
    fputs("<li>", out);
    if (small) fputc(*text - 'a' + 'A', out);
    page_text(out, text + small);
    fputs(".</li>\n", out);
}

static void put_test(FILE *out, const sock_check_test *t)
{
    fprintf(out, "<tr><th scope=\"row\">%s</th>", t->name);
    if (!t->valid) {
        fputs("<td class=\"text\" colspan=\"7\">not made: too few steps, or states that cannot show it</td></tr>\n",
              out);
        return;
    }
    const int chi = t->chi_df > 0;
    fprintf(out, "<td>%s</td><td>%.3g</td><td>%.3f</td><td>%.4g</td><td>",
            t->objects  ? "objects"
            : t->remark ? "certain, and too small to matter"
                        : "no",
            t->p_adjusted, t->effect, chi ? t->chi_square : t->statistic);
    if (chi) fprintf(out, "%.4g", t->chi_df);
    fputs("</td><td>", out);
    if (chi || t->ways > 1) fprintf(out, "%.0f", t->ways);
    fprintf(out, "</td><td>%.3g</td></tr>\n", t->p);
}

/* Which steps, where not all were compared. */
static const char *which_steps(const rep_facts *f)
{
    if (f->check.steps >= f->check.all_steps) return "";
    if (f->check.steps + f->record.odd.wild_steps >= f->check.all_steps && f->same_data)
        return ", all but the wild ones,";
    if (f->check.steps + sock_data_trajectories(f->data) >= f->check.all_steps)
        return f->seen < f->d ? ", all but the first of each trajectory, before which no velocity is known,"
                              : ", all but those that nothing before them foretells,";
    return ", evenly chosen,";
}

void words_tests(FILE *out, const rep_facts *f)
{
    const sock_checks *c = &f->check;
    if (!f->has_check || !isfinite(c->lag1)) return; /* none was made */
    fprintf(out,
            "<details><summary>The tests: they compared %zu of %zu steps%s with %zu each that the model "
            "simulates</summary>\n"
            "<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\"><thead><tr>",
            c->steps, c->all_steps, which_steps(f), c->draws);
    static const char *const heads[] = {"test", "objection", "adjusted p", "effect", "statistic", "df", "ways", "p"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) fprintf(out, "<th scope=\"col\">%s</th>", heads[i]);
    fputs("</tr></thead><tbody>\n", out);
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) put_test(out, &c->test[i]);
    fprintf(
        out,
        "</tbody></table></div>\n<p class=\"note\">p is the chance of so large a statistic, chi-square with df degrees "
        "of freedom, times the number of ways in "
        "which the test looked (the least likely one is shown); degrees of freedom are broken where squares with heavy "
        "tails are tested. Without df: the statistic of Anderson and Darling, or a peak of the spectrum. Adjusted is p "
        "for all tests together, by Holm: a test objects where that is below %g and its effect is large enough to "
        "matter. Effects: of <em>drift</em>, <em>diffusion</em>, <em>volatility</em> and "
        "<em>time</em> the share of the variance (of scores or their squares) that is explained, of <em>cycles</em> "
        "that "
        "of one period or, where many lags object together, the sum of their squared correlations less that of chance, "
        "of <em>memory</em> the correlation of neighbouring scores, of <em>scale</em> and <em>horizon</em> how far a "
        "variance is from the "
        "model's (above 0: larger), of <em>distribution</em> the distance of two distributions, or for heavy tails the "
        "log of a "
        "ratio of kurtoses.</p></details>\n",
        c->alpha);
}

void words_verdict(FILE *out, const rep_facts *f)
{
    if (!f->has_check) return;
    const char *look = glance_class(f);
    if (!*look && f->record.against_constant && f->record.against_constant != SK_BETTER)
        look = " silent"; /* no objection to a model that is no better than constants is no praise */
    fprintf(out, "<div class=\"verdict%s\"><p><b>", look);
    page_text(out, f->check.verdict);
    fputs("</b>", out);
    if (f->check.advice[0]) fputs(" ", out), page_text(out, f->check.advice);
    fputs("</p>\n", out);
    glance_write(out, f);
    fputs("</div>\n", out);
}

/* Which states cannot leave their bounds. */
static void put_bounds(FILE *out, const rep_facts *f)
{
    double *low = calloc(2 * f->d, sizeof *low);
    size_t shown = 0;
    if (!low) *f->failed = 1;
    const int any = low && sock_model_bounds(f->model, low, low + f->d);
    for (size_t k = 0; any && k < 2 * f->d; k++) {
        if (!isfinite(low[k])) continue;
        fputs(shown++ ? ", " : " The model keeps to its bounds: ", out);
        fputs("<var>", out), page_text(out, sock_model_name(f->model, k % f->d));
        fputs(k < f->d ? "</var> \xe2\x89\xa5 " : "</var> \xe2\x89\xa4 ", out);
        page_number(out, low[k]);
    }
    if (shown) fputc('.', out);
    free(low);
}

/* The range of nearly all data, state by state. */
void words_trust(FILE *out, const rep_facts *f, const fig_input *in)
{
    enum { STATES = 6 };
    const double inside = 0.98;
    const int objects = f->has_check && !f->check.ok, silent = strcmp(glance_class(f), " silent") == 0;
    fputs(f->loose[0] >= 1
              ? "<p class=\"trust\">At most places where the data are the band of the drift is wider than the drift "
                "itself: there even its direction is open. 98 % of the data have "
          : silent
              ? "<p class=\"trust\">No test can tell whether the fields are right. They rest on the data, of which "
                "98 % have "
          : objects ? "<p class=\"trust\">The fields rest on the data, of which 98 % have "
                    : "<p class=\"trust\">Trust the fields where the data are, within their bands: 98 % of them have ",
          out);
    for (size_t k = 0; k < f->d && k < STATES; k++) {
        const double *sorted;
        size_t count;
        if (evidence_sorted(in, k, &sorted, &count) < 0) *f->failed = 1;
        if (*f->failed) break;
        fputs(!k ? "" : k + 1 == f->d ? " and " : ", ", out);
        const char *name = sock_model_name(f->model, k);
        put_user_name(out, name);
        fputs(" from ", out), page_figures(out, unit_value(name, look_quantile(count, sorted, (1 - inside) / 2)), 3);
        fputs(" to ", out), page_figures(out, unit_value(name, look_quantile(count, sorted, (1 + inside) / 2)), 3);
    }
    fputs(f->d > STATES ? ", and so on. " : ". ", out);
    fputs("Where few are near, curves are faint and a guess.", out);
    put_bounds(out, f);
    if (f->record.bands && f->record.bands_reason) {
        fputs(" Bands: ", out);
        page_text(out, f->record.bands_reason);
        fputs(".", out);
    }
    if (objects) fputs(" Since the verdict objects to the equation, the doubt is larger than the bands show.", out);
    fputs("</p>\n", out);
}

static void put_var(FILE *out, const char *name, size_t length)
{
    char *copy = strndup(name, length);
    fputs("<var>", out);
    if (copy) page_text(out, copy);
    fputs("</var>", out);
    free(copy);
}

void words_logs(FILE *out, const rep_facts *f)
{
    size_t count = 0, length;
    for (size_t k = 0; k < f->d; k++) {
        const char *x = unit_inside_log(sock_model_name(f->model, k), &length);
        if (!x) continue;
        fputs(
            count++
                ? "; of "
                : "<p class=\"note logs\">Fields and numbers here are of logarithms; axes show the states in their own "
                  "units, on a logarithmic scale. Of ",
            out);
        put_var(out, x, length);
        fputs(" itself (Ito's formula): drift ", out);
        put_var(out, x, length);
        fputs("\xe2\x80\x89(<var>f</var> + <var>a</var>/2), noise ", out);
        put_var(out, x, length);
        fputs("\xe2\x80\x89\xe2\x88\x9a<var>a</var>, with <var>f</var> and <var>a</var> those of its logarithm", out);
    }
    if (count)
        fputs(f->record.order == 2 ? ".</p>\n" : "; <code>sock eval --natural</code> tabulates them.</p>\n", out);
}

void words_summary(FILE *out, const rep_facts *f)
{
    drift_words(out, f);
    diffusion_words(out, f);
    noise_words(out, f);
    search_words(out, f);
    score_words(out, f);
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

static void list_sentences(FILE *out, const sk_texts *sentences)
{
    for (size_t i = 0; i < sentences->count; i++) {
        fputs("<li>", out);
        page_text(out, sentences->text[i]);
        fputs(".</li>\n", out);
    }
}

/* Codes for missing values and wild steps of the data of the fit, one by one. */
static void odd_words(FILE *out, const sk_record *record)
{
    const sk_oddities *odd = &record->odd;
    for (size_t i = 0; i < odd->codes; i++) {
        fprintf(out, "<li>%.10g occurs %zu times in ", odd->code[i].value, odd->code[i].count);
        page_text(out, odd->code[i].state ? odd->code[i].state : "");
        fprintf(out, ", far outside the rest; --missing %.10g leaves it out.</li>\n", odd->code[i].value);
    }
    if (odd->wild_steps)
        fprintf(out, "<li><details><summary>%zu wild step%s, the largest first</summary><ul>\n", odd->wild_steps,
                plural((long long)odd->wild_steps));
    for (size_t i = 0; odd->wild_steps && i < odd->wilds; i++) {
        fputs("<li>trajectory ", out);
        page_text(out, odd->wild[i].trajectory ? odd->wild[i].trajectory : "");
        char time[SK_RECORD_TIME_SIZE];
        sk_record_time(record->data.time_unit, odd->wild[i].time, time);
        fprintf(out, " at time %s: ", time);
        page_text(out, odd->wild[i].state ? odd->wild[i].state : "");
        fprintf(out, " from %.6g to %.6g</li>\n", odd->wild[i].from, odd->wild[i].to);
    }
    if (odd->wild_steps) fputs("</ul></details></li>\n", out);
    list_sentences(out, &odd->followers);
    list_sentences(out, &odd->angles);
}

/* What the check has said, an older fit need not say again, in other words. */
static int is_said(const rep_facts *f, const char *text)
{
    const sk_warning_code code = sk_warning_of(text);
    return f->has_check && (code == SK_WARN_NOISE || code == SK_WARN_MEMORY || code == SK_WARN_CONSTANT);
}

void words_warnings(FILE *out, const rep_facts *f)
{
    const sk_texts *warnings = &f->record.warnings;
    const int unsolved = !f->record.certificate.converged && !sk_record_warns(&f->record, SK_WARN_UNSOLVED);
    size_t said = 0;
    for (size_t i = 0; i < warnings->count; i++) said += is_said(f, warnings->text[i]) != 0;
    if (said == warnings->count && !f->record.odd.codes && !f->record.odd.wild_steps &&
        !f->record.odd.followers.count && !f->record.odd.angles.count && !unsolved && !f->record.found.limited &&
        !bad_scores(NULL, f))
        return;
    fputs("<div class=\"warnings\" role=\"note\"><h2>Warnings</h2>\n<ul>\n", out);
    bad_scores(out, f);
    for (size_t i = 0; i < warnings->count; i++)
        if (!is_said(f, warnings->text[i])) put_warning(out, warnings->text[i]);
    odd_words(out, &f->record);
    if (f->record.found.limited)
        put_warning(
            out,
            "the budget ended the search early: a longer one (--budget) may find a better model, so try that first");
    if (unsolved) put_warning(out, sk_warning_text(SK_WARN_UNSOLVED));
    fputs("</ul></div>\n", out);
}
