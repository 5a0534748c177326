/* card.c - the model card: data, choice, certificate, scores, and the commands that make model and report again. */
#define _GNU_SOURCE
#include "facts.h"
#include "searchlook.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES = 12 };

static void row(FILE *out, const char *label) { fprintf(out, "<tr><th scope=\"row\">%s</th><td>", label); }
static void end(FILE *out) { fputs("</td></tr>\n", out); }

static void head(FILE *out, const char *title)
{
    fprintf(out, "<tr class=\"part\"><th colspan=\"2\" scope=\"rowgroup\">%s</th></tr>\n", title);
}

/* ", WORD after": words of a model file are a user's text too. */
static void word(FILE *out, const char *text, const char *after)
{
    if (!text || !*text) return;
    fputs(", ", out);
    page_text(out, text);
    fputs(after, out);
}

static void code(FILE *out, const char *text)
{
    fputs("<code>", out);
    page_text(out, text ? text : "");
    fputs("</code>", out);
}

/* ---- Data ---- */

static void put_states(FILE *out, const rep_facts *f)
{
    static const char *const column[] = {"min", "max", "mean", "sd"};
    json_t *ranges = json_object_get(f->summary, "state");
    row(out, "states");
    fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\"><thead><tr><th scope=\"col\">state</th>"
          "<th scope=\"col\">min</th><th scope=\"col\">max</th><th scope=\"col\">mean</th>"
          "<th scope=\"col\">deviation</th></tr></thead><tbody>\n",
          out);
    for (size_t k = 0; k < f->d; k++) {
        fputs("<tr><th scope=\"row\">", out);
        page_text(out, sock_model_name(f->model, k));
        fputs("</th>", out);
        for (int c = 0; c < 4; c++) {
            const double value = info_number(json_array_get(ranges, k), column[c]);
            fputs("<td>", out);
            if (isfinite(value))
                page_number(out, value);
            else
                fputs(f->seen < f->d ? "not observed" : "\xe2\x80\x93", out);
            fputs("</td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>", out);
    end(out);
}

static void put_data(FILE *out, const rep_facts *f)
{
    const sk_provenance *fitted = &f->record.data;
    json_t *dropped = json_object_get(f->summary, "dropped");
    const long long missing = info_count(dropped, "missing_points");
    head(out, "Data");
    row(out, "shown here");
    code(out, f->settings->data_path ? f->settings->data_path : info_text(f->summary, "source"));
    const long long paths = info_count(f->summary, "trajectories"), groups = info_count(f->summary, "groups");
    fprintf(out, ": %lld trajector%s in %lld group%s, %lld points, %lld steps, hash ", paths, paths == 1 ? "y" : "ies",
            groups, groups == 1 ? "" : "s", info_count(f->summary, "points"), info_count(f->summary, "steps"));
    code(out, info_text(f->summary, "hash"));
    if (missing) fprintf(out, "; %lld point%s with a missing value left out", missing, missing == 1 ? "" : "s");
    end(out);
    if (fitted->source || fitted->hash) {
        row(out, "fitted to");
        code(out, fitted->source);
        if (f->same_data)
            fputs(": the same data", out);
        else
            fprintf(out, ": %zu trajector%s, %zu points, hash ", fitted->trajectories,
                    fitted->trajectories == 1 ? "y" : "ies", f->record.points);
        if (!f->same_data) code(out, fitted->hash);
        end(out);
    }
    put_states(out, f);
}

/* ---- Choice ---- */

static void put_drift(FILE *out, const rep_facts *f)
{
    const sk_part *lead = sk_record_drift(&f->record);
    const sk_parts *list = &f->record.found.drifts;
    const double dof = f->record.found.drift_dof;
    const int average = list->count > 1;
    if (!lead) return;
    row(out, "drift");
    for (size_t i = 0; i < list->count; i++) {
        if (i) fputs(", ", out);
        code(out, list->part[i].kernel);
        if (average) fputs(i ? " (" : " (share ", out), page_share(out, list->part[i].share), fputs(")", out);
    }
    if (average) fputs("; the first", out);
    if (isfinite(lead->l)) fprintf(out, ", penalty l = %.0e", lead->l);
    if (isfinite(lead->lambda)) fprintf(out, ", lambda %.4g", lead->lambda);
    word(out, f->record.found.drift_form, " form");
    if (isfinite(dof)) fprintf(out, "%s %.1f degrees of freedom", average ? "; the average has" : ",", dof);
    word(out, f->record.quadrature, " quadrature");
    end(out);
}

static void put_part(FILE *out, const sk_part *part, int many)
{
    fputs("<li>", out);
    code(out, part->kernel);
    if (many) fputs(": share ", out), page_share(out, part->share);
    fprintf(out, ", penalty l = %.0e, lambda %.4g, gap %.1e%s%s</li>\n", part->l, part->lambda, part->relative_gap,
            part->polished ? ", then polished by likelihood" : "", part->converged ? "" : ": NOT within the tolerance");
}

static void put_diffusion(FILE *out, const rep_facts *f)
{
    const sk_record *r = &f->record;
    const sk_parts *list = &r->found.diffusions;
    row(out, "diffusion");
    if (!sock_model_has_diffusion(f->model)) {
        fputs("none", out);
    } else if (r->tuned) {
        fputs("<ul>\n", out);
        for (size_t i = 0; i < list->count; i++) put_part(out, &list->part[i], list->count > 1);
        fputs("</ul>", out);
    } else if (list->count) {
        code(out, list->part->kernel);
        fprintf(out, ", lambda %.4g", list->part->lambda);
        word(out, r->diffusion_form, " form");
        fprintf(out, ", %s, %zu features, rank %zu", r->diagonal ? "diagonal" : "full matrix", r->features, r->rank);
    }
    end(out);
}

static void put_certificate(FILE *out, const rep_facts *f)
{
    const sk_certificate *c = &f->record.certificate;
    if (!isfinite(c->relative_gap)) return;
    row(out, "certificate");
    fprintf(out, "relative duality gap %.2g of the convex problem%s", c->relative_gap,
            f->record.found.diffusions.count > 1 ? "s, the largest" : "");
    if (isfinite(c->primal)) fprintf(out, "; primal %.8g, dual %.8g", c->primal, c->dual);
    if (isfinite(c->primal) && c->iterations >= 0) fprintf(out, ", %ld iterations", c->iterations);
    word(out, f->record.solver, " solver");
    if (!c->converged) fputs(": NOT within the tolerance", out);
    end(out);
}

static void put_search(FILE *out, const rep_facts *f)
{
    const sk_tune_outcome *found = &f->record.found;
    const double size = (double)found->steps * (double)f->seen;
    if (!found->search.count) return;
    row(out, "search");
    fprintf(out, "%zu fits, ", found->search.count);
    if (found->folds > 1)
        fprintf(out, "cross-validation in %zu folds", found->folds);
    else
        fputs("judged on held-out data", out);
    if (found->paper) fputs(", the paper's protocol", out);
    if (found->limited) fputs(", ended early by the budget", out);
    if (found->limited && found->steps < f->record.n) fprintf(out, ", fitted to %zu of the steps", found->steps);
    end(out);
    row(out, "held-out score");
    fprintf(out, "%.4f nats a step and dimension; constant coefficients%s %.4f", found->score / size,
            found->noise.used ? " without noise" : "", found->score_constant / size);
    if (f->record.against_constant) fprintf(out, ": %s", sk_verdict_words(f->record.against_constant));
    if (glance_little(f)) fputs(", but by little", out);
    end(out);
}

/* ---- Scores ---- */

static void put_value(FILE *out, const char *label, const sock_value *value, const char *format, const char *after)
{
    row(out, label);
    if (value->valid) {
        char text[64];
        snprintf(text, sizeof text, "%.5g%s", value->value, format);
        page_text(out, text);
        fputs(after, out);
    } else {
        fputs("not known: ", out);
        page_text(out, value->reason);
    }
    end(out);
}

static void put_scores(FILE *out, const rep_facts *f)
{
    const sock_scores *s = &f->scores;
    if (!f->has_scores) return;
    head(out, f->settings->test ? "Scores on test data" : "Scores on the data shown");
    if (f->settings->test_path) row(out, "test data"), code(out, f->settings->test_path), end(out);
    row(out, "steps");
    fprintf(out, "%zu", s->intervals);
    end(out);
    put_value(out, "log likelihood", &s->loglik, "", "");
    put_value(out, "of constants fitted to them", &s->loglik_constant, "", "");
    if (f->settings->truth) {
        put_value(out, "of the truth", &s->loglik_truth, "", "");
        put_value(out, "perplexity P", &s->perplexity, "", " (100: as good as the truth)");
        put_value(out, "PM, by the moments of the steps", &s->perplexity_moments, "", "");
        put_value(out, "error of the drift", &s->re_f, " %", "");
        put_value(out, "error of the diffusion", &s->re_a, " %", "");
    } else {
        put_value(out, "perplexity P\xe2\x80\xb2", &s->perplexity_raw, "", "");
        put_value(out, "PM\xe2\x80\xb2, by the moments of the steps", &s->perplexity_moments_raw, "", "");
    }
    if (f->settings->test) put_value(out, "MMD\xc2\xb2 of paths", &s->mmd2, "", "");
    if (f->settings->test && f->settings->truth) put_value(out, "of the truth's paths", &s->mmd2_truth, "", "");
}

void card_write(FILE *out, const rep_facts *f)
{
    fputs("<table class=\"card\"><colgroup><col class=\"label\"><col></colgroup><tbody>\n", out);
    put_data(out, f);
    head(out, "Model");
    row(out, "file");
    code(out, f->settings->model_path ? f->settings->model_path : "not saved");
    fputs(", written by sock ", out);
    page_text(out, f->record.version ? f->record.version : "");
    end(out);
    put_drift(out, f);
    put_diffusion(out, f);
    put_certificate(out, f);
    put_search(out, f);
    put_scores(out, f);
    fputs("</tbody></table>\n", out);
}

/* ---- Commands ---- */

static int was_given(const sk_options_given *given, const char *key)
{
    size_t i = 0;
    while (i < given->count && strcmp(given->option[i].key, key) != 0) i++;
    return i < given->count;
}

/* How the file is read, where the fit was handed data that were read before and so does not know it. */
static void reading_options(FILE *out, const rep_facts *f)
{
    static const char *const reading[] = {"id", "time", "state", "group", "dt", "missing"};
    for (const char *const *o = f->settings->options; o && *o; o += 2)
        for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
            if (strcmp(*o, reading[i]) == 0 && !was_given(&f->record.options, *o)) page_option(out, o[0], o[1]);
}

static void fit_command(FILE *out, const rep_facts *f)
{
    const sk_options_given *given = &f->record.options;
    const char *source = f->record.data.source ? f->record.data.source : "";
    const int no_file = !*source || (!f->settings->data_path && strcmp(source, "arrays") == 0);
    fputs("sock fit ", out);
    page_shell_word(out, no_file ? "DATA" : source);
    for (size_t i = 0; i < given->count; i++) page_option(out, given->option[i].key, given->option[i].value);
    if (f->same_data && f->settings->data_path && strcmp(source, f->settings->data_path) == 0) reading_options(out, f);
    fputs(" -o ", out);
    page_shell_word(out, f->settings->model_path ? f->settings->model_path : "model.sock");
    fputc('\n', out);
}

void card_options(FILE *out, const rep_settings *s)
{
    if (s->seed) fprintf(out, " --seed=%llu", (unsigned long long)s->seed);
    for (const char *const *o = s->options; o && *o; o += 2) page_option(out, o[0], o[1]);
}

void card_commands(FILE *out, const rep_facts *f)
{
    const rep_settings *s = f->settings;
    fputs("<pre class=\"commands\" tabindex=\"0\">", out);
    fit_command(out, f);
    fputs("sock report ", out);
    page_shell_word(out, s->model_path ? s->model_path : "model.sock");
    fputc(' ', out);
    page_shell_word(out, s->data_path ? s->data_path : "DATA");
    if (s->truth_name) fputs(" --truth ", out), page_shell_word(out, s->truth_name);
    if (s->test_path) fputs(" --test ", out), page_shell_word(out, s->test_path);
    card_options(out, s);
    fputs(" -o report.html</pre>\n", out);
    if (f->record.found.search.count && f->record.found.folds <= 1)
        fputs("<p class=\"note\">The search was judged on held-out data: where they came from a file, add "
              "<code>--validation FILE</code> to the fit.</p>\n",
              out);
}

/* ---- The candidates ---- */

/* A kernel that is part of the model; NULL: it is not. */
static const sk_part *part_named(const sk_parts *list, const char *kernel)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->part[i].kernel && strcmp(list->part[i].kernel, kernel) == 0) return &list->part[i];
    return NULL;
}

/* A row up to its numbers. */
static void begin_row(FILE *out, const char *field, const char *kernel, const sk_parts *list, const sk_part *part)
{
    fprintf(out, "<tr><th scope=\"row\">%s</th><td>", field);
    if (part && list->count > 1)
        page_share(out, part->share);
    else if (part)
        fputs("yes", out);
    fputs("</td><td class=\"text\">", out);
    code(out, kernel);
    fputs("</td><td>", out);
}

/* What is in the model and not among the first candidates of the table. */
static void other_rows(FILE *out, const sk_parts *list, const search_look *look, const char *field)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *kernel = list->part[i].kernel ? list->part[i].kernel : "";
        size_t j = 0;
        while (j < look->count && j < CANDIDATES && strcmp(look->entry[j].kernel, kernel) != 0) j++;
        if (j < look->count && j < CANDIDATES) continue;
        begin_row(out, field, kernel, list, &list->part[i]);
        fputs("</td><td></td><td class=\"text\"></td></tr>\n", out);
    }
}

static void field_rows(FILE *out, const rep_facts *f, const char *field)
{
    const sk_tune_outcome *found = &f->record.found;
    const sk_parts *list = strcmp(field, "drift") == 0 ? &found->drifts : &found->diffusions;
    search_look look;
    if (!search_read(&f->record.found.search, field, &look)) {
        *f->failed = 1;
        return;
    }
    search_by_stage(&look);
    for (size_t i = 0; i < look.count && i < CANDIDATES; i++) {
        const search_entry *e = &look.entry[i];
        begin_row(out, field, e->kernel, list, part_named(list, e->kernel));
        if (e->l > 0) fprintf(out, "%.0e", e->l);
        fputs("</td><td>", out);
        page_number(out, e->best - e->front);
        fputs("</td><td class=\"text\">", out);
        page_text(out, e->stage);
        fputs("</td></tr>\n", out);
    }
    other_rows(out, list, &look, field);
    if (look.count > CANDIDATES)
        fprintf(out, "<tr><th scope=\"row\">%s</th><td class=\"text\" colspan=\"5\">and %zu more</td></tr>\n", field,
                look.count - CANDIDATES);
    search_free(&look);
}

void search_table(FILE *out, const rep_facts *f)
{
    if (!f->record.found.search.count) return;
    fputs("<details><summary>The candidates as a table</summary>\n<div class=\"scroll\" tabindex=\"0\">"
          "<table class=\"numbers\"><thead><tr><th scope=\"col\">field</th><th scope=\"col\">used</th>"
          "<th scope=\"col\">kernel</th><th scope=\"col\">penalty l</th><th scope=\"col\">nats</th>"
          "<th scope=\"col\">last stage</th></tr></thead><tbody>\n",
          out);
    field_rows(out, f, "drift");
    field_rows(out, f, "diffusion");
    fputs(
        "</tbody></table></div>\n<p class=\"note\">Nats are from the best of the last stage that a candidate reached, "
        "with "
        "the rest of the model as it was then, and compare within that stage alone; the last stage stands "
        "first. What is in the model need not be the best of a stage. Of drifts that chance cannot tell apart a short "
        "equation is taken alone, else they share by their score less a price for each degree of freedom. Diffusions "
        "share by scores of whole models with a floor under <var>a</var>, which are not in this table: one that is "
        "nearly 0 somewhere is far behind here, and may be near with the floor.",
        out);
    if (words_gave_up(f)) {
        fputs(" Given up for the simpler model: ", out);
        words_richer(out, f);
        fputc('.', out);
    }
    if (f->record.found.noise.used || f->record.found.noise.substeps > 1)
        fputs(" Measurement noise and long steps are asked after at the very end, by fits of their own that this table "
              "does not list.",
              out);
    fputs("</p></details>\n", out);
}
