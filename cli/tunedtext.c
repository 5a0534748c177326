/* tunedtext.c - see tunedtext.h. */
#include "tunedtext.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EQUATIONS = 10 };

static const char *told(const char *text) { return text ? text : ""; }

/* Name, share in an average, penalty (with full: in units of the kernel, too). */
static void print_part(const sk_part *part, bool many, bool full)
{
    char share[16];
    printf("%s", part->kernel);
    if (many) printf(", share %s %%", sk_percent(part->share, share));
    if (isfinite(part->l)) printf(", penalty l = %.0e", part->l);
    if (full && isfinite(part->lambda)) printf(", lambda %.6g", part->lambda);
}

/* Of the coefficients of an equation, in their order. */
static void print_errors(const sk_numbers *errors, int width)
{
    if (!errors->count) return;
    printf("%*serrors", width, "");
    for (size_t i = 0; i < errors->count;
         i++) { /* 0: the number was not estimated, as the origin of a short equation */
        if (errors->value[i] > 0)
            printf("%s +- %.2g", i ? "," : "", errors->value[i]);
        else
            printf("%s fixed", i ? "," : "");
    }
    putchar('\n');
}

/* Ito's formula, for "dlog(x)/dt = RHS": what x itself does. */
static void print_unlogged(const char *text, int width)
{
    const char *end = strstr(text, ")/dt = ");
    if (strncmp(text, "dlog(", 5) != 0 || !end) return;
    const int length = (int)(end - text) - 5;
    const char *x = text + 5;
    printf("%*sd%.*s/dt = %.*s*(%s + a/2), a that of log(%.*s); noise of %.*s: %.*s*sqrt(a)\n", width, "", length, x,
           length, x, end + 7, length, x, length, x, length, x);
}

static void print_list(const sk_texts *equations, const sk_number_lists *errors, int width)
{
    for (size_t i = 0; i < equations->count && i < MOST_EQUATIONS; i++) {
        printf("%*s%s\n", width, "", equations->text[i]);
        if (i < errors->count) print_errors(&errors->list[i], width);
        print_unlogged(equations->text[i], width);
    }
    if (equations->count > MOST_EQUATIONS)
        printf("%*sand %zu more equations: see --json\n", width, "", equations->count - MOST_EQUATIONS);
}

/* That of f; of an average with kernels that have none, that of the others; or how to come by one. */
static void print_equations(const sk_record *r, int width)
{
    char share[16];
    print_list(&r->equation, &r->errors, width);
    if (r->equation.count && r->errors.count && sk_record_form_is_open(r))
        printf("%*serrors hold if this form is right; the bands count other forms, too\n", width, "");
    if (r->equation_part.count) {
        printf("%*sno equation, since not all of its kernels have one; that of the polynomials alone (%s %%):\n", width,
               "", sk_percent(r->equation_part_share, share));
        print_list(&r->equation_part, &r->equation_part_errors, width);
    } else if (!r->equation.count && !r->found.paper) {
        printf("%*sno equation, since its kernels have none; --drift poly:degree=3 would give one\n", width, "");
    }
}

/* What the states of a model of second order are. */
static void print_order(const sk_record *r, int width)
{
    if (r->order == 2)
        printf("%-*s2: the states of the data are positions; their velocities were not observed\n", width, "order");
}

/* One kernel, or the average of those that did nearly as well. */
static void print_drift(const sk_record *r, int width, bool full)
{
    const sk_parts *list = &r->found.drifts;
    const bool many = list->count > 1;
    for (size_t i = 0; i < list->count; i++) {
        printf("%-*s", width, i ? "" : "drift");
        print_part(&list->part[i], many, full);
        if (isfinite(list->part[i].dof)) printf(", %.1f degrees of freedom", list->part[i].dof);
        if (!full && i + 1 == list->count) printf(", %s quadrature", told(r->quadrature));
        putchar('\n');
    }
    print_equations(r, width);
    if (!full) return;
    printf("%*s%s quadrature, rank %zu", width, "", told(r->quadrature), r->found.drift_rank);
    if (many) printf("; %.1f degrees of freedom on average", r->found.drift_dof);
    putchar('\n');
}

static void print_numbers(const char *before, size_t count, const double *value)
{
    printf("%s", before);
    for (size_t k = 0; k < count; k++) printf("%s %.3g", k ? "," : "", value[k]);
}

/* Part of a on the diagonal alone; one number when all states have the same. */
static void print_floor(const sk_numbers *floor, int width)
{
    bool same = true;
    double largest = 0;
    for (size_t k = 0; k < floor->count; k++) {
        same = same && floor->value[k] == floor->value[0];
        largest = floor->value[k] > largest ? floor->value[k] : largest;
    }
    if (!(largest > 0)) return;
    printf("%*s", width, "");
    print_numbers("plus the floor", same ? 1 : floor->count, floor->value);
    printf(" on the diagonal of a\n");
}

static void print_quiet(const sk_texts *quiet, int width)
{
    if (!quiet->count) return;
    printf("%-*s", width, "noise");
    for (size_t i = 0; i < quiet->count; i++) printf("%s%s", i ? ", " : "", quiet->text[i]);
    printf(" %s no noise of %s own: the rows and columns of a are zero\n", quiet->count > 1 ? "have" : "has",
           quiet->count > 1 ? "their" : "its");
}

static void print_clocks(const sk_texts *clock, int width)
{
    if (!clock->count) return;
    printf("%-*s", width, "clock");
    for (size_t i = 0; i < clock->count; i++) printf("%s%s", i ? ", " : "", clock->text[i]);
    printf(", exactly\n");
}

void bounds_print(const sk_record *r, int width)
{
    for (size_t i = 0; i < r->bounds.count; i++)
        printf("%-*s%s%s", i ? 0 : width, i ? "" : "bounds", i ? ", " : "", r->bounds.text[i]);
    if (r->bounds.count) putchar('\n');
}

/* Where the states end, and what came to rest there; a as reactions. */
static void print_bounds(const sk_record *r, int width)
{
    char percent[16];
    if (r->diffusion_equation) {
        printf("%*s%s", width, "", r->diffusion_equation);
        if (r->diffusion_equation_share < 0.995)
            printf("  (the rates alone, share %s %%)", sk_percent(r->diffusion_equation_share, percent));
        putchar('\n');
    }
    bounds_print(r, width);
    if (r->absorbed)
        printf("%-*s%zu step%s at the end of trajectories, at rest on a bound: left out of the fit, and simulated "
               "paths rest there\n",
               width, "absorbed", r->absorbed, r->absorbed == 1 ? "" : "s");
}

/* Each part of a is the answer of a convex problem of its own. */
static void print_certificates(const sk_record *r, int width, bool full)
{
    const sk_parts *list = &r->found.diffusions;
    const bool many = list->count > 1;
    if (!full) {
        printf("%-*srelative duality gap %.2g of the convex problem%s%s\n", width, "certificate",
               r->certificate.relative_gap, many ? "s, the largest" : "",
               r->certificate.converged ? "" : ": NOT within the tolerance");
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        const sk_part *part = &list->part[i];
        printf("%-*srelative duality gap %.2g%s%s%s%s\n", width, i ? "" : "certificate", part->relative_gap,
               many ? " of " : "", many ? part->kernel : "", part->polished ? ", before the polish" : "",
               part->converged ? "" : ": NOT within the tolerance");
    }
}

/* One kernel, or the average of those that did nearly as well. */
static void print_diffusion(const sk_record *r, int width, bool full)
{
    const sk_parts *list = &r->found.diffusions;
    for (size_t i = 0; i < list->count; i++) {
        printf("%-*s", width, i ? "" : "diffusion");
        print_part(&list->part[i], list->count > 1, full);
        printf("%s\n", list->part[i].polished ? ", polished" : "");
    }
    print_bounds(r, width);
    print_floor(&r->found.floor, width);
    print_quiet(&r->quiet, width);
    print_clocks(&r->clock, width);
    print_certificates(r, width, full);
}

/* The standard deviation of one state's noise with its error; or that this is as large. */
static void print_deviation(const sk_noise_told *noise, size_t k)
{
    const double sd = noise->sd.value[k], error = k < noise->r_error.count ? noise->r_error.value[k] : (double)NAN;
    if (sd > 0)
        printf("sd %.2g", sd);
    else
        printf("none");
    if (error < sd * sd) printf(" +- %.1g", error / (2 * sd));
    if (error >= sd * sd && sd > 0) printf(", within its error");
    if (k < noise->states.count) printf(" (%s)", noise->states.text[k]);
}

static void print_correlations(const sk_noise_told *noise)
{
    const size_t d = noise->sd.count;
    for (size_t k = 0; noise->r.count == d * d && k < d; k++)
        for (size_t l = 0; l < k; l++)
            if (noise->r.value[k * d + l] != 0)
                printf(", correlation %.2g (%s, %s)",
                       noise->r.value[k * d + l] / (noise->sd.value[k] * noise->sd.value[l]),
                       l < noise->states.count ? noise->states.text[l] : "",
                       k < noise->states.count ? noise->states.text[k] : "");
}

/* What is known of measurement noise and long steps. */
static void print_stream(const sk_record *r, int width)
{
    if (!r->sample) return;
    printf("%-*schosen on a sample of %zu steps, fitted to all", width, "stream", r->sample);
    if (r->left_out) printf("; %zu steps left out: wild, or at rest on a bound", r->left_out);
    putchar('\n');
}

static void print_noise(const sk_record *r, int width)
{
    const sk_noise_told *noise = &r->found.noise;
    if (!noise->mode) return;
    printf("%-*s", width, "measurement");
    for (size_t k = 0; noise->used && k < noise->sd.count; k++) {
        printf("%s", k ? ", " : "noise of ");
        print_deviation(noise, k);
    }
    if (noise->used) print_correlations(noise);
    printf("%s%s", noise->used ? "; " : "noise: ", noise->reason ? noise->reason : "not looked for");
    if (noise->substeps > 1) printf("; %zu substeps a step", noise->substeps);
    putchar('\n');
}

/* Where an input stands, and what it gains there. */
static void print_gain(const char *field, double gain, bool in)
{
    if (isfinite(gain))
        printf(", %s %s %.3g nats", field, in ? "+" : "left out: it would gain", fabs(gain) < 0.005 ? 0 : gain);
    else
        printf(", %s: not tried", field);
}

static void print_inputs(const sk_record *r, int width)
{
    const sk_inputs_told *list = &r->found.inputs;
    for (size_t i = 0; i < list->count; i++) {
        const sk_input_told *one = &list->input[i];
        printf("%-*s%s (%s)", width, i ? "" : "inputs", told(one->name), told(one->hold));
        print_gain("f", one->gain_f, one->in_f);
        print_gain("a", one->gain_a, one->in_a);
        putchar('\n');
        if (one->hold && strcmp(one->hold, "time") == 0 && (one->in_f || one->in_a))
            printf("%*swhat the model says beyond the last time of the data is a guess\n", width, "");
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
static void print_scale(const sk_record *r, int width)
{
    const sk_tune_outcome *found = &r->found;
    const bool chosen = (has_eta(&found->drifts) && !is_named(r, "drift")) ||
                        (has_eta(&found->diffusions) && !is_named(r, "diffusion"));
    if (!found->scale.value || !chosen) return;
    printf("%-*s", width, "units");
    print_numbers("states were searched in units of", found->scale.count, found->scale.value);
    printf("; an eta that it chose is in these units, all else in those of the data\n");
}

/* The units of those that have one, in the order of the states. */
static void print_grain(const sk_numbers *grain)
{
    size_t rounded = 0;
    for (size_t k = 0; k < grain->count; k++) rounded += grain->value[k] > 0;
    printf(": the data are counted or rounded to");
    for (size_t k = 0; k < grain->count; k++) {
        if (grain->value[k] > 0)
            printf("%s %.3g", k ? "," : "", grain->value[k]);
        else
            printf("%s -", k ? "," : "");
    }
    if (rounded < grain->count) printf(" (-: no unit recurs)");
}

/* What a density of these data cannot resolve, and the number that sock score has to be compared with. */
static void print_jitter(const sk_record *r, int width, bool full)
{
    const sk_tune_outcome *found = &r->found;
    const sk_numbers *jitter = &found->jitter;
    bool same = true;
    if (!jitter->count || (!found->grain.count && !full) || found->noise.used) return; /* the filter adds none */
    for (size_t k = 0; k < jitter->count; k++) same = same && jitter->value[k] == jitter->value[0];
    printf("%-*s", width, "jitter");
    print_numbers("the search adds the variance", same ? 1 : jitter->count, jitter->value);
    printf(" to each step");
    if (found->grain.count) print_grain(&found->grain);
    putchar('\n');
    if (same && isfinite(found->loglik))
        printf("%*s%.4f nats a step and dimension as sock score --delta %.9g counts them (loglik)\n", width, "",
               found->loglik / ((double)found->steps * (double)r->d), jitter->value[0]);
}

static void print_left_out(const sk_record *r, int width)
{
    const sk_tune_outcome *found = &r->found;
    if (!found->limited) return;
    printf("%-*s%zu fits", width, "left out", found->skipped);
    for (size_t i = 0; i < found->left_out.count; i++) printf("%s%s", i ? ", " : "; stages ", found->left_out.text[i]);
    printf(": the budget was spent");
    if (found->steps < r->n) printf("; fitted to %zu of the steps", found->steps);
    putchar('\n');
}

/* A model that a guard for simplicity gave up. */
static void print_richer(const sk_record *r, int width)
{
    if (!r->found.richer || r->found.noise.used) return;
    const double gain = r->found.richer_gain, error = r->found.richer_error;
    printf("%-*s%s scored %.2g nats more in all, ", width, "given up", r->found.richer, gain);
    if (isnan(error))
        printf("but no clear gain by Euler's likelihood");
    else if (error > gain)
        printf("with an error of %.2g", error);
    else
        printf("as the best of many does by chance");
    puts(": the simpler model is taken");
}

/* Fewer than were asked for are told as such: each holds a step, or a trajectory, at least. */
static void print_folds(const sk_record *r)
{
    printf("held out in %zu folds", r->found.folds);
    for (size_t i = 0; i < r->options.count; i++)
        if (strcmp(r->options.option[i].key, "folds") == 0 &&
            strtoul(r->options.option[i].value, NULL, 10) > r->found.folds)
            printf(" (of %s: no more can be made of these data)", r->options.option[i].value);
}

static void print_score(const sk_record *r, int width)
{
    const sk_tune_outcome *found = &r->found;
    const double size = (double)found->steps * (double)r->d;
    if (sk_record_warns(r, SK_WARN_FEW)) { /* folds of a step or two say nothing */
        printf("%-*snone: too few steps to hold some out\n", width, "score");
        return;
    }
    printf("%-*s%.4f nats a step and dimension, ", width, "score", found->score / size);
    if (found->folds > 1)
        print_folds(r);
    else
        printf("on held-out data");
    printf("; constant coefficients%s %.4f", found->noise.used ? " without noise" : "", found->score_constant / size);
    printf("%s%s\n", r->against_constant ? ": " : "", sk_verdict_words(r->against_constant));
}

static void print_search(const sk_record *r, int width, bool full)
{
    const sk_tune_outcome *found = &r->found;
    print_score(r, width);
    if (full && isfinite(found->calibration))
        printf("%-*s%.3g: squared residuals of held-out steps over what a says; near 1 is good\n", width, "calibration",
               found->calibration);
    print_richer(r, width);
    print_jitter(r, width, full);
    printf("%-*s%zu fits%s; %s\n", width, "search", found->search.count, found->paper ? " of the paper's protocol" : "",
           full ? "--json lists them" : "sock fit --search-log FILE writes them");
    print_left_out(r, width);
}

/* How the grids of the paper's protocol were searched. */
static void print_protocol(const sk_tune_outcome *found, int width)
{
    printf("%-*s%zu round%s, the diffusion's grid on %zu rows to a relative gap of %.2g", width, "protocol",
           found->rounds, found->rounds == 1 ? "" : "s", found->search_rows, found->search_tolerance);
    if (found->landmarks) printf(", the drift's with %zu landmarks", found->landmarks);
    if (found->drift_form) printf("; %s form of the last drift", found->drift_form);
    printf("; delta %.3g\n", found->delta);
}

void odd_print(const sk_record *record, int width)
{
    enum { SHOWN = 5 };
    const sk_oddities *odd = &record->odd;
    for (size_t i = 0; i < odd->codes; i++)
        printf("%-*s%.10g occurs %zu times in %s, far outside the rest; --missing %.10g leaves it out\n", width,
               i ? "" : "codes", odd->code[i].value, odd->code[i].count, told(odd->code[i].state), odd->code[i].value);
    for (size_t i = 0; i < odd->wilds && i < SHOWN; i++) {
        char time[SK_RECORD_TIME_SIZE];
        sk_record_time(record->data.time_unit, odd->wild[i].time, time);
        printf("%-*strajectory %s at time %s: %s from %.6g to %.6g, %.3g deviations\n", width, i ? "" : "wild steps",
               told(odd->wild[i].trajectory), time, told(odd->wild[i].state), odd->wild[i].from, odd->wild[i].to,
               odd->wild[i].deviations);
    }
    if (odd->wild_steps > odd->wilds || odd->wilds > SHOWN)
        printf("%*s%zu steps in all%s\n", width, "", odd->wild_steps, odd->wilds > SHOWN ? "; --json names more" : "");
    for (size_t i = 0; i < odd->followers.count; i++)
        printf("%-*s%s\n", width, i ? "" : "no process", odd->followers.text[i]);
    for (size_t i = 0; i < odd->angles.count; i++) printf("%-*s%s\n", width, i ? "" : "angle", odd->angles.text[i]);
    for (size_t i = 0; i < record->warnings.count; i++) printf("%-*s%s\n", width, "warning", record->warnings.text[i]);
}

/* How far the fields can be trusted. */
static void print_bands(const sk_record *r, int width)
{
    if (isfinite(r->f_sup))
        printf("%-*ssock eval --bands; one that holds all of f in 90 %% takes %.2f standard deviations\n", width,
               "bands", r->f_sup);
    if (r->bands_reason) printf("%-*s%s%s\n", width, "bands", r->bands ? "" : "none: ", r->bands_reason);
}

/* Of the quick form. */
static void print_verdict(const sk_record *record, int width)
{
    if (!record->verdict) return;
    printf("%-*s%s\n", width, "verdict", record->verdict);
    printf("%-*s%s\n", width, "",
           record->advice ? record->advice : "sock check MODEL DATA shows the tests one by one.");
}

void tuned_print(const sk_record *record, int width, bool full)
{
    print_order(record, width);
    print_drift(record, width, full);
    print_diffusion(record, width, full);
    print_stream(record, width);
    print_noise(record, width);
    print_inputs(record, width);
    print_scale(record, width);
    print_search(record, width, full);
    if (full) print_bands(record, width);
    if (full && record->found.paper) print_protocol(&record->found, width);
    odd_print(record, width);
    print_verdict(record, width);
}
