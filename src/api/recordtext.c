/* recordtext.c - the record of a fit in words: what the program says after a fit and of a model file, and what Python
 * and R say of a model. */
#define _GNU_SOURCE
#include "api/record.h"
#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EQUATIONS = 10 };

static const char *told(const char *text) { return text ? text : ""; }

/* Name, share in an average, penalty (with full: in units of the kernel, too). */
static void print_part(FILE *out, const sk_part *part, bool many, bool full)
{
    char share[16];
    fprintf(out, "%s", part->kernel);
    if (many) fprintf(out, ", share %s %%", sk_percent(part->share, share));
    if (isfinite(part->l)) fprintf(out, ", penalty l = %.0e", part->l);
    if (full && isfinite(part->lambda)) fprintf(out, ", lambda %.6g", part->lambda);
}

/* Of the coefficients of an equation, in their order. 0: the number was not estimated, the zero of a kernel in
 * "-0.7*(x - 14)", or the 1 of a velocity. */
static void print_errors(FILE *out, const char *equation, const sk_numbers *errors, int width)
{
    const char *zero = strstr(equation, "*(") ? "not estimated (a round zero)" : "fixed";
    if (!errors->count) return;
    fprintf(out, "%*serrors", width, "");
    for (size_t i = 0; i < errors->count; i++) {
        if (errors->value[i] > 0)
            fprintf(out, "%s +- %.2g", i ? "," : "", errors->value[i]);
        else
            fprintf(out, "%s %s", i ? "," : "", zero);
    }
    fputc('\n', out);
}

/* Ito's formula, for "dlog(x)/dt = RHS": what x itself does. */
static void print_unlogged(FILE *out, const char *text, int width)
{
    const char *end = strstr(text, ")/dt = ");
    if (strncmp(text, "dlog(", 5) != 0 || !end) return;
    const int length = (int)(end - text) - 5;
    const char *x = text + 5;
    fprintf(out, "%*sd%.*s/dt = %.*s*(%s + a/2), a that of log(%.*s); noise of %.*s: %.*s*sqrt(a)\n", width, "", length,
            x, length, x, end + 7, length, x, length, x, length, x);
}

static void print_list(FILE *out, const sk_texts *equations, const sk_number_lists *errors, int width)
{
    for (size_t i = 0; i < equations->count && i < MOST_EQUATIONS; i++) {
        fprintf(out, "%*s%s\n", width, "", equations->text[i]);
        if (i < errors->count) print_errors(out, equations->text[i], &errors->list[i], width);
        print_unlogged(out, equations->text[i], width);
    }
    if (equations->count > MOST_EQUATIONS)
        fprintf(out, "%*sand %zu more equations: see --json\n", width, "", equations->count - MOST_EQUATIONS);
}

/* That of f; of an average with kernels that have none, that of the others; or how to come by one. */
static void print_equations(FILE *out, const sk_record *r, int width)
{
    char share[16];
    print_list(out, &r->equation, &r->errors, width);
    if (r->equation.count && r->errors.count && sk_record_form_is_open(r))
        fprintf(out, "%*serrors hold if this form is right; the bands count other forms, too\n", width, "");
    if (r->equation_part.count) {
        fprintf(out, "%*sno equation, since not all of its kernels have one; that of the polynomials alone (%s %%):\n",
                width, "", sk_percent(r->equation_part_share, share));
        print_list(out, &r->equation_part, &r->equation_part_errors, width);
    } else if (!r->equation.count && !r->found.paper) {
        fprintf(out, "%*sno equation, since its kernels have none; --drift poly:degree=3 would give one\n", width, "");
    }
}

/* What the states of a model of second order are. */
static void print_order(FILE *out, const sk_record *r, int width)
{
    if (r->order == 2)
        fprintf(out, "%-*s2: the states of the data are positions; their velocities were not observed\n", width,
                "order");
}

/* One kernel, or the average of those that did nearly as well. */
static void print_drift(FILE *out, const sk_record *r, int width, bool full)
{
    const sk_parts *list = &r->found.drifts;
    const bool many = list->count > 1;
    for (size_t i = 0; i < list->count; i++) {
        fprintf(out, "%-*s", width, i ? "" : "drift");
        print_part(out, &list->part[i], many, full);
        if (isfinite(list->part[i].dof)) fprintf(out, ", %.1f degrees of freedom", list->part[i].dof);
        if (!full && i + 1 == list->count) fprintf(out, ", %s quadrature", told(r->quadrature));
        fputc('\n', out);
    }
    print_equations(out, r, width);
    if (!full) return;
    fprintf(out, "%*s%s quadrature, rank %zu", width, "", told(r->quadrature), r->found.drift_rank);
    if (many) fprintf(out, "; %.1f degrees of freedom on average", r->found.drift_dof);
    fputc('\n', out);
}

static void print_numbers(FILE *out, const char *before, size_t count, const double *value)
{
    fprintf(out, "%s", before);
    for (size_t k = 0; k < count; k++) fprintf(out, "%s %.3g", k ? "," : "", value[k]);
}

/* Part of a on the diagonal alone; one number when all states have the same. */
static void print_floor(FILE *out, const sk_numbers *floor, int width)
{
    bool same = true;
    double largest = 0;
    for (size_t k = 0; k < floor->count; k++) {
        same = same && floor->value[k] == floor->value[0];
        largest = floor->value[k] > largest ? floor->value[k] : largest;
    }
    if (!(largest > 0)) return;
    fprintf(out, "%*s", width, "");
    print_numbers(out, "plus the floor", same ? 1 : floor->count, floor->value);
    fprintf(out, " on the diagonal of a\n");
}

static void print_quiet(FILE *out, const sk_texts *quiet, int width)
{
    if (!quiet->count) return;
    fprintf(out, "%-*s", width, "noise");
    for (size_t i = 0; i < quiet->count; i++) fprintf(out, "%s%s", i ? ", " : "", quiet->text[i]);
    fprintf(out, " %s no noise of %s own: the rows and columns of a are zero\n", quiet->count > 1 ? "have" : "has",
            quiet->count > 1 ? "their" : "its");
}

static void print_clocks(FILE *out, const sk_texts *clock, int width)
{
    if (!clock->count) return;
    fprintf(out, "%-*s", width, "clock");
    for (size_t i = 0; i < clock->count; i++) fprintf(out, "%s%s", i ? ", " : "", clock->text[i]);
    fprintf(out, ", exactly\n");
}

static void print_limits(FILE *out, const sk_record *r, int width)
{
    for (size_t i = 0; i < r->bounds.count; i++)
        fprintf(out, "%-*s%s%s", i ? 0 : width, i ? "" : "bounds", i ? ", " : "", r->bounds.text[i]);
    if (r->bounds.count) fputc('\n', out);
}

/* Where the states end, and what came to rest there; a as reactions. */
static void print_bounds(FILE *out, const sk_record *r, int width)
{
    char percent[16];
    if (r->diffusion_equation) {
        fprintf(out, "%*s%s", width, "", r->diffusion_equation);
        if (r->diffusion_equation_share < 0.995)
            fprintf(out, "  (the rates alone, share %s %%)", sk_percent(r->diffusion_equation_share, percent));
        fputc('\n', out);
    }
    print_limits(out, r, width);
    if (r->absorbed)
        fprintf(out,
                "%-*s%zu step%s at the end of trajectories, at rest on a bound: left out of the fit, and simulated "
                "paths rest there\n",
                width, "absorbed", r->absorbed, r->absorbed == 1 ? "" : "s");
}

/* Each part of a is the answer of a convex problem of its own. */
static void print_certificates(FILE *out, const sk_record *r, int width, bool full)
{
    const sk_parts *list = &r->found.diffusions;
    const bool many = list->count > 1;
    if (!full) {
        fprintf(out, "%-*srelative duality gap %.2g of the convex problem%s%s\n", width, "certificate",
                r->certificate.relative_gap, many ? "s, the largest" : "",
                r->certificate.converged ? "" : ": NOT within the tolerance");
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        const sk_part *part = &list->part[i];
        fprintf(out, "%-*srelative duality gap %.2g%s%s%s%s\n", width, i ? "" : "certificate", part->relative_gap,
                many ? " of " : "", many ? part->kernel : "", part->polished ? ", before the polish" : "",
                part->converged ? "" : ": NOT within the tolerance");
    }
}

/* One kernel, or the average of those that did nearly as well. */
static void print_diffusion(FILE *out, const sk_record *r, int width, bool full)
{
    const sk_parts *list = &r->found.diffusions;
    for (size_t i = 0; i < list->count; i++) {
        fprintf(out, "%-*s", width, i ? "" : "diffusion");
        print_part(out, &list->part[i], list->count > 1, full);
        fprintf(out, "%s\n", list->part[i].polished ? ", polished" : "");
    }
    print_bounds(out, r, width);
    print_floor(out, &r->found.floor, width);
    print_quiet(out, &r->quiet, width);
    print_clocks(out, &r->clock, width);
    print_certificates(out, r, width, full);
}

/* The standard deviation of one state's noise with its error; or that this is as large. */
static void print_deviation(FILE *out, const sk_noise_told *noise, size_t k)
{
    const double sd = noise->sd.value[k], error = k < noise->r_error.count ? noise->r_error.value[k] : (double)NAN;
    if (sd > 0)
        fprintf(out, "sd %.2g", sd);
    else
        fprintf(out, "none");
    if (error < sd * sd) fprintf(out, " +- %.1g", error / (2 * sd));
    if (error >= sd * sd && sd > 0) fprintf(out, ", within its error");
    if (k < noise->states.count) fprintf(out, " (%s)", noise->states.text[k]);
}

static void print_correlations(FILE *out, const sk_noise_told *noise)
{
    const size_t d = noise->sd.count;
    for (size_t k = 0; noise->r.count == d * d && k < d; k++)
        for (size_t l = 0; l < k; l++)
            if (noise->r.value[k * d + l] != 0)
                fprintf(out, ", correlation %.2g (%s, %s)",
                        noise->r.value[k * d + l] / (noise->sd.value[k] * noise->sd.value[l]),
                        l < noise->states.count ? noise->states.text[l] : "",
                        k < noise->states.count ? noise->states.text[k] : "");
}

/* What is known of measurement noise and long steps. */
static void print_stream(FILE *out, const sk_record *r, int width)
{
    if (!r->sample) return;
    fprintf(out, "%-*schosen on a sample of %zu steps, fitted to all", width, "stream", r->sample);
    if (r->left_out) fprintf(out, "; %zu steps left out: wild, or at rest on a bound", r->left_out);
    fputc('\n', out);
}

static void print_noise(FILE *out, const sk_record *r, int width)
{
    const sk_noise_told *noise = &r->found.noise;
    if (!noise->mode) return;
    fprintf(out, "%-*s", width, "measurement");
    for (size_t k = 0; noise->used && k < noise->sd.count; k++) {
        fprintf(out, "%s", k ? ", " : "noise of ");
        print_deviation(out, noise, k);
    }
    if (noise->used) print_correlations(out, noise);
    fprintf(out, "%s%s", noise->used ? "; " : "noise: ", noise->reason ? noise->reason : "not looked for");
    if (noise->substeps > 1) fprintf(out, "; %zu substeps a step", noise->substeps);
    fputc('\n', out);
}

/* Where an input stands, and what it gains there. */
static void print_gain(FILE *out, const char *field, double gain, bool in)
{
    if (isfinite(gain))
        fprintf(out, ", %s %s %.3g nats", field, in ? "+" : "left out: it would gain", fabs(gain) < 0.005 ? 0 : gain);
    else
        fprintf(out, ", %s: not tried", field);
}

static void print_inputs(FILE *out, const sk_record *r, int width)
{
    const sk_inputs_told *list = &r->found.inputs;
    for (size_t i = 0; i < list->count; i++) {
        const sk_input_told *one = &list->input[i];
        fprintf(out, "%-*s%s (%s)", width, i ? "" : "inputs", told(one->name), told(one->hold));
        print_gain(out, "f", one->gain_f, one->in_f);
        print_gain(out, "a", one->gain_a, one->in_a);
        fputc('\n', out);
        if (one->hold && strcmp(one->hold, "time") == 0 && (one->in_f || one->in_a))
            fprintf(out, "%*swhat the model says beyond the last time of the data is a guess\n", width, "");
    }
}

static bool has_eta(const sk_parts *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (strstr(list->part[i].kernel, "eta=")) return true;
    return false;
}

/* Whether the user named a kernel for a field: an eta of it is in the units of the data. */
static bool is_named(const sk_record *r, const char *field)
{
    for (size_t i = 0; i < r->options.count; i++)
        if (strcmp(r->options.option[i].key, field) == 0) return strcmp(r->options.option[i].value, "auto") != 0;
    return false;
}

/* Every search is in units of the standard deviations; who reads an eta that it chose must know them. */
static void print_scale(FILE *out, const sk_record *r, int width)
{
    const sk_tune_outcome *found = &r->found;
    const bool chosen = (has_eta(&found->drifts) && !is_named(r, "drift")) ||
                        (has_eta(&found->diffusions) && !is_named(r, "diffusion"));
    if (!found->scale.value || !chosen) return;
    fprintf(out, "%-*s", width, "units");
    print_numbers(out, "states were searched in units of", found->scale.count, found->scale.value);
    fprintf(out, "; an eta that it chose is in these units, all else in those of the data\n");
}

/* The units of those that have one, in the order of the states. */
static void print_grain(FILE *out, const sk_numbers *grain)
{
    size_t rounded = 0;
    for (size_t k = 0; k < grain->count; k++) rounded += grain->value[k] > 0;
    fprintf(out, ": the data are counted or rounded to");
    for (size_t k = 0; k < grain->count; k++) {
        if (grain->value[k] > 0)
            fprintf(out, "%s %.3g", k ? "," : "", grain->value[k]);
        else
            fprintf(out, "%s -", k ? "," : "");
    }
    if (rounded < grain->count) fprintf(out, " (-: no unit recurs)");
}

/* What a density of these data cannot resolve, and the number that sock score has to be compared with. */
static void print_jitter(FILE *out, const sk_record *r, int width, bool full)
{
    const sk_tune_outcome *found = &r->found;
    const sk_numbers *jitter = &found->jitter;
    bool same = true;
    if (!jitter->count || (!found->grain.count && !full) || found->noise.used) return; /* the filter adds none */
    for (size_t k = 0; k < jitter->count; k++) same = same && jitter->value[k] == jitter->value[0];
    fprintf(out, "%-*s", width, "jitter");
    print_numbers(out, "the search adds the variance", same ? 1 : jitter->count, jitter->value);
    fprintf(out, " to each step");
    if (found->grain.count) print_grain(out, &found->grain);
    fputc('\n', out);
    if (same && isfinite(found->loglik))
        fprintf(out, "%*s%.4f nats a step and dimension as a score with --delta %.9g counts them (loglik)\n", width, "",
                found->loglik / ((double)found->steps * (double)r->d), jitter->value[0]);
}

static void print_left_out(FILE *out, const sk_record *r, int width)
{
    const sk_tune_outcome *found = &r->found;
    if (!found->limited) return;
    fprintf(out, "%-*s%zu fits", width, "left out", found->skipped);
    for (size_t i = 0; i < found->left_out.count; i++)
        fprintf(out, "%s%s", i ? ", " : "; stages ", found->left_out.text[i]);
    fprintf(out, ": the budget was spent");
    if (found->steps < r->n) fprintf(out, "; fitted to %zu of the steps", found->steps);
    fputc('\n', out);
}

/* A model that a guard for simplicity gave up. */
static void print_richer(FILE *out, const sk_record *r, int width)
{
    if (!r->found.richer || r->found.noise.used) return;
    const double gain = r->found.richer_gain, error = r->found.richer_error;
    fprintf(out, "%-*s%s scored %.2g nats more in all, ", width, "given up", r->found.richer, gain);
    if (isnan(error))
        fprintf(out, "but no clear gain by Euler's likelihood");
    else if (error > gain)
        fprintf(out, "with an error of %.2g", error);
    else
        fprintf(out, "less than is asked of the best of many");
    fputs(": the simpler model is taken\n", out);
}

/* Fewer than were asked for are told as such: each holds a step, or a trajectory, at least. */
static void print_folds(FILE *out, const sk_record *r)
{
    fprintf(out, "held out in %zu folds", r->found.folds);
    for (size_t i = 0; i < r->options.count; i++)
        if (strcmp(r->options.option[i].key, "folds") == 0 &&
            strtoul(r->options.option[i].value, NULL, 10) > r->found.folds)
            fprintf(out, " (of %s: no more can be made of these data)", r->options.option[i].value);
}

static void print_score(FILE *out, const sk_record *r, int width)
{
    const sk_tune_outcome *found = &r->found;
    const double size = (double)found->steps * (double)r->d;
    if (sk_record_warns(r, SK_WARN_FEW)) { /* folds of a step or two say nothing */
        fprintf(out, "%-*snone: too few steps to hold some out\n", width, "score");
        return;
    }
    fprintf(out, "%-*s%.4f nats a step and dimension, ", width, "score", found->score / size);
    if (found->folds > 1)
        print_folds(out, r);
    else
        fprintf(out, "on held-out data");
    fprintf(out, "; constant coefficients%s %.4f", found->noise.used ? " without noise" : "",
            found->score_constant / size);
    fprintf(out, "%s%s\n", r->against_constant ? ": " : "", sk_verdict_words(r->against_constant));
}

static void print_search(FILE *out, const sk_record *r, int width, sk_listener listener)
{
    const bool full = listener == SK_LISTENER_INFO;
    const sk_tune_outcome *found = &r->found;
    print_score(out, r, width);
    if (full && isfinite(found->calibration))
        fprintf(out, "%-*s%.3g: squared residuals of held-out steps over what a says; near 1 is good\n", width,
                "calibration", found->calibration);
    print_richer(out, r, width);
    print_jitter(out, r, width, full);
    fprintf(out, "%-*s%zu fits%s%s\n", width, "search", found->search.count,
            found->paper ? " of the paper's protocol" : "",
            full                          ? "; --json lists them"
            : listener == SK_LISTENER_FIT ? "; sock fit --search-log FILE writes them"
                                          : "");
    print_left_out(out, r, width);
}

/* How the grids of the paper's protocol were searched. */
static void print_protocol(FILE *out, const sk_tune_outcome *found, int width)
{
    fprintf(out, "%-*s%zu round%s, the diffusion's grid on %zu rows to a relative gap of %.2g", width, "protocol",
            found->rounds, found->rounds == 1 ? "" : "s", found->search_rows, found->search_tolerance);
    if (found->landmarks) fprintf(out, ", the drift's with %zu landmarks", found->landmarks);
    if (found->drift_form) fprintf(out, "; %s form of the last drift", found->drift_form);
    fprintf(out, "; delta %.3g\n", found->delta);
}

static void print_odd(FILE *out, const sk_record *record, int width)
{
    enum { SHOWN = 5 };
    const sk_oddities *odd = &record->odd;
    for (size_t i = 0; i < odd->codes; i++)
        fprintf(out, "%-*s%.10g occurs %zu times in %s, far outside the rest; --missing %.10g leaves it out\n", width,
                i ? "" : "codes", odd->code[i].value, odd->code[i].count, told(odd->code[i].state), odd->code[i].value);
    for (size_t i = 0; i < odd->wilds && i < SHOWN; i++) {
        char time[SK_RECORD_TIME_SIZE];
        sk_record_time(record->data.time_unit, odd->wild[i].time, time);
        fprintf(out, "%-*strajectory %s at time %s: %s from %.6g to %.6g, %.3g deviations\n", width,
                i ? "" : "wild steps", told(odd->wild[i].trajectory), time, told(odd->wild[i].state), odd->wild[i].from,
                odd->wild[i].to, odd->wild[i].deviations);
    }
    if (odd->wild_steps > odd->wilds || odd->wilds > SHOWN)
        fprintf(out, "%*s%zu steps in all%s\n", width, "", odd->wild_steps,
                odd->wilds > SHOWN ? "; --json names more" : "");
    for (size_t i = 0; i < odd->followers.count; i++)
        fprintf(out, "%-*s%s\n", width, i ? "" : "no process", odd->followers.text[i]);
    for (size_t i = 0; i < odd->angles.count; i++)
        fprintf(out, "%-*s%s\n", width, i ? "" : "angle", odd->angles.text[i]);
    for (size_t i = 0; i < record->warnings.count; i++)
        fprintf(out, "%-*s%s\n", width, "warning", record->warnings.text[i]);
}

/* How far the fields can be trusted. */
static void print_bands(FILE *out, const sk_record *r, int width)
{
    if (isfinite(r->f_sup))
        fprintf(out, "%-*ssock eval --bands; one that holds all of f in 90 %% takes %.2f standard deviations\n", width,
                "bands", r->f_sup);
    if (r->bands_reason) fprintf(out, "%-*s%s%s\n", width, "bands", r->bands ? "" : "none: ", r->bands_reason);
}

/* Of the quick form. */
static void print_verdict(FILE *out, const sk_record *record, int width, sk_listener listener)
{
    if (!record->verdict) return;
    fprintf(out, "%-*s%s\n", width, "verdict", record->verdict);
    if (record->advice)
        fprintf(out, "%*s%s\n", width, "", record->advice);
    else if (listener != SK_LISTENER_GUEST) /* a guest has a call of its own for it */
        fprintf(out, "%*ssock check MODEL DATA shows the tests one by one.\n", width, "");
}

/* A plain fit, after it; sock info has more to say of one. */
static void print_plain(FILE *out, const sk_record *r, int width)
{
    const sk_part *drift = sk_record_drift(r), *part = sk_record_diffusion(r);
    if (drift)
        fprintf(out, "%-*s%s\n%*slambda %.6g, %s form, %s, rank %zu, %s quadrature\n", width, "drift", drift->kernel,
                width, "", drift->lambda, told(r->found.drift_form), told(r->drift_path), r->found.drift_rank,
                told(r->quadrature));
    if (!part) {
        fprintf(out, "%-*snot fitted\n", width, "diffusion");
        return;
    }
    fprintf(out, "%-*s%s\n", width, "diffusion", part->kernel);
    fprintf(out, "%*slambda %.6g, %s form%s, %zu features, rank %zu\n", width, "", part->lambda,
            told(r->diffusion_form), r->diagonal ? ", diagonal" : "", r->features, r->rank);
    fprintf(out, "%-*srelative duality gap %.2g after %ld iterations of %s%s\n", width, "certificate",
            r->certificate.relative_gap, r->certificate.iterations, told(r->solver),
            r->certificate.converged ? "" : ": NOT within the tolerance");
}

void sk_record_write_words(FILE *out, const sk_record *record, int width, sk_listener listener)
{
    const bool full = listener == SK_LISTENER_INFO;
    if (!record->tuned) {
        if (!full) print_plain(out, record, width);
        print_limits(out, record, width);
        print_odd(out, record, width);
        print_verdict(out, record, width, listener);
        return;
    }
    print_order(out, record, width);
    print_drift(out, record, width, full);
    print_diffusion(out, record, width, full);
    print_stream(out, record, width);
    print_noise(out, record, width);
    print_inputs(out, record, width);
    print_scale(out, record, width);
    print_search(out, record, width, listener);
    if (full) print_bands(out, record, width);
    if (full && record->found.paper) print_protocol(out, &record->found, width);
    print_odd(out, record, width);
    print_verdict(out, record, width, listener);
}

void sk_record_write_data(FILE *out, const sk_record *r, int width)
{
    const size_t steps = r->points - r->data.trajectories;
    fprintf(out, "%-*s%zu steps, %zu points, dimension %zu", width, "data", steps, r->points, r->d);
    if (steps > r->n && !r->tuned) /* a search takes each realisation for itself */
        fprintf(out, ", groups that count as %zu steps", r->n);
    if (r->data.time_unit) fprintf(out, ", time in %ss", r->data.time_unit);
    fputc('\n', out);
}

/* ---- As a text ---- */

enum { SUMMARY_WIDTH = 13, SUMMARY_SIZE = 1 << 14, SUMMARY_MOST = 1 << 28 };

/* NULL: it has no place in `size` bytes, or there is no memory. */
static char *in_room(sock_context *ctx, const sk_record *record, size_t size)
{
    char *text = sk_alloc(ctx, size, 1);
    FILE *out = text ? fmemopen(text, size, "w") : NULL;
    bool whole = out != NULL;
    if (out) {
        if (record->points) {
            sk_record_write_data(out, record, SUMMARY_WIDTH);
            sk_record_write_words(out, record, SUMMARY_WIDTH, SK_LISTENER_GUEST);
        } else {
            fprintf(out, "%-*snone: a draw of a model, or fields that were given\n", SUMMARY_WIDTH, "fit");
        }
        whole = fflush(out) == 0 && !ferror(out) && ftell(out) < (long)size;
        if (fclose(out) != 0) whole = false;
    }
    if (whole) return text;
    sk_free(text);
    return NULL;
}

sock_status sock_model_summary(sock_context *ctx, const sock_model *model, char **text)
{
    sk_record record;
    *text = NULL;
    sock_status status = sk_record_of_model(ctx, model, &record);
    if (status >= 0) status = sk_reserve(ctx, SUMMARY_SIZE);
    for (size_t size = SUMMARY_SIZE; status >= 0 && !*text && size <= SUMMARY_MOST; size *= 4)
        *text = in_room(ctx, &record, size);
    sk_record_clear(&record);
    return status < 0 ? status : *text ? SOCK_OK : SOCK_ENOMEM;
}
