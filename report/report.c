/* report.c - see report.h. The page is made in memory and written at once:
 *
 *   1. facts: information of the model, summary of the data, terms, residuals, scores
 *   2. head: content security policy, styles; nothing is loaded from anywhere, and only the scripts that were built
 *      in may run, by their hashes: a name that smuggled a script in would not run it
 *   3. first screen: verdict, warnings, equation, fields with evidence; then what can be tried, figures in pieces with
 *      links to their numbers; in folds how it was found: words, search, coefficients, model card, commands
 *   4. the scripts, at the end: without them the page is complete */
#define _GNU_SOURCE
#include "report.h"

#include "assets.h"
#include "evidence.h"
#include "facts.h"
#include "lifted.h"
#include "live.h"
#include "meaning.h"
#include "memtext.h"
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first screen, below it, or in a fold. */
typedef enum chapter_place { FIRST, BODY, FOLD } chapter_place;

typedef struct chapter {
    const char *figure, *title, *menu, *shows, *read;
    chapter_place place;
} chapter;

/* What each figure shows, and how to read it, a sentence each for readers who have never seen one. */
static const chapter chapters[] = {
    {"fields", "Drift and diffusion", "Fields",
     "What was learned: the drift f, where the state tends to go, and the diffusion a, how strong the noise is.", "",
     FIRST},
    {"slices", "Along each state", "Slices",
     "Each component of the drift, and the strength of its noise, along its own state. The other states change along "
     "with it as they do in the data: a curve shows what comes with the state, not its effect alone.",
     "", FIRST},
    {"pairs", "Pairs of states", "Pairs", "Drift and noise in the planes of further pairs of states.", "", BODY},
    {"paths", "Simulated paths", "Paths", "Paths of the learned equation over the data.",
     "If the model is right, at each time half of the trajectories from this start are in the narrow band, nine of ten "
     "in "
     "the wide one; a single one may stay outside for long.",
     BODY},
    {"trajectories", "The data", "The data", "What the model was shown.",
     "Look for jumps, gaps and trends: the equation knows of none of them.", BODY},
    {"smooth", "Behind the measurements", "Smoothed",
     "What was measured is the state with noise; the line is where the states are, given all measurements.",
     "Measurements should lie in the wide band nine times of ten or more (each pulls the line towards itself), as "
     "often above the line as below.",
     BODY},
    {"density", "Where the states are", "Densities",
     "How often values occur in the data (bars) and in the model's own paths, measured as the data were (line).",
     "Line and bars should agree; the stationary density is where the model settles if it is left alone, and need not "
     "agree with data that have not settled, or that an input moves.",
     BODY},
    {"marginals", "States two by two", "Two by two",
     "How often pairs of values occur, in the data beneath the diagonal and in the "
     "model's paths above it.",
     "One half should be the mirror image of the other.", BODY},
    {"check", "The check", "The check",
     "Where the observed end of each step stands among simulated ones of the model (beyond all of them a score says "
     "that it is beyond, not how far): what the tests of the verdict are "
     "made of.",
     "A right model has an even histogram, points on the line, nine of ten bars within the dashed lines, and mean and "
     "spread that do not depend on the state.",
     BODY},
    {"search", "The search", "The search", "How well the candidates predict steps that they have not seen.",
     "Higher is better; curves that are flat at the top mean that the choice hardly matters.", FOLD}};
enum { CHAPTERS = sizeof chapters / sizeof *chapters };

/* Which of them this model and these data have. */
static sock_status choose_chapters(const fig_input *in, int wanted[CHAPTERS])
{
    for (size_t i = 0; i < CHAPTERS; i++) {
        const char *lack = fig_lack(fig_find(chapters[i].figure), in);
        if (lack == fig_no_memory) return SOCK_ENOMEM;
        wanted[i] = !lack;
    }
    return SOCK_OK;
}

/* ---- Pieces ---- */

/* What the data are called: their file without its folder and its ending, but "gbm/train" where that is what all are
 * called. Nothing where there is no file. */
static void put_name(FILE *out, const rep_facts *f)
{
    static const char *const common[] = {"train", "data", "test", "validation"};
    const char *path = f->settings->data_path ? f->settings->data_path : info_text(f->summary, "source");
    if (strncmp(path, "./", 2) == 0) path += 2;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *dot = strrchr(name, '.');
    const size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    int plain = 0;
    if (!length || strcmp(path, "arrays") == 0 || strcmp(path, "-") == 0) return;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        plain |= strlen(common[i]) == length && strncmp(name, common[i], length) == 0;
    const char *from = name;
    while (plain && from > path && (from == name || from[-1] != '/')) from--;
    svg_escape_bytes(out, from, (size_t)(name - from) + length);
    fputs(": ", out);
}

static void put_states(FILE *out, const rep_facts *f, size_t most)
{
    for (size_t k = 0; k < f->d && k < most; k++) {
        if (k) fputs(", ", out);
        page_text(out, sock_model_name(f->model, k));
    }
    if (f->d > most) fputs(", \xe2\x80\xa6", out);
}

static void put_head(FILE *out, const rep_facts *f)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "base-uri 'none'; form-action 'none'; script-src ",
          out);
    static const char *const hashes[] = {asset_uplot_js_sha256, asset_page_js_sha256, asset_model_js_sha256,
                                         asset_live_js_sha256};
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        if (i) fputc(' ', out);
        page_hash(out, hashes[i]);
    }
    fputs("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"sock ",
          out);
    page_text(out, sock_version());
    fputs("\">\n<title>", out);
    put_name(out, f);
    put_states(out, f, 4);
    fprintf(out, ": a model of sock</title>\n<style>\n%s\n%s\n%s</style>\n</head>\n", svg_style(), asset_uplot_css,
            asset_page_css);
}

static void put_top(FILE *out, const rep_facts *f)
{
    const int dates = json_is_object(json_object_get(f->summary, "dates"));
    fputs("<body", out);
    if (dates) fputs(" data-dates=\"", out), page_text(out, info_text(f->summary, "time_unit")), fputc('"', out);
    fputs(">\n<header>\n<p class=\"brand\">sock report</p>\n<h1>", out);
    put_name(out, f);
    put_states(out, f, 6);
    fputs("</h1>\n", out);
    words_data(out, f);
    fputs("</header>\n", out);
}

static void put_menu(FILE *out, const int wanted[CHAPTERS], int live, int meaning)
{
    fputs("<nav aria-label=\"contents\"><a href=\"#summary\">Verdict</a> ", out);
    for (size_t i = 0; i < CHAPTERS; i++) {
        if (wanted[i] && chapters[i].place == BODY)
            fprintf(out, "<a href=\"#%s\">%s</a> ", chapters[i].figure, chapters[i].menu);
        if (!i && live) fputs("<a href=\"#live\" hidden>Try it</a> ", out);
        if (!i && meaning) fputs("<a href=\"#meaning\">What it means</a> ", out);
    }
    fputs("<a href=\"#made\">How it was made</a></nav>\n", out);
}

static int put_links(FILE *out, const fig_tables *tables)
{
    int good = !tables->failed;
    if (!tables->count) return good;
    fputs("<p class=\"files\">Numbers: ", out);
    for (size_t i = 0; good && i < tables->count; i++) {
        if (i) fputs(" \xc2\xb7 ", out);
        good = page_table_link(out, tables->table[i]);
    }
    fputs("</p>\n", out);
    return good;
}

static void put_plot_command(FILE *out, const rep_facts *f, const char *figure)
{
    const rep_settings *s = f->settings;
    fputs("<p class=\"how\"><code>sock plot ", out);
    page_shell_word(out, s->model_path ? s->model_path : "model.sock");
    fputc(' ', out);
    page_shell_word(out, s->data_path ? s->data_path : "DATA");
    fprintf(out, " --figure %s", figure);
    if (s->truth_name) fputs(" --truth ", out), page_shell_word(out, s->truth_name);
    card_options(out, s);
    fprintf(out, " -o %s.svg</code></p>\n", figure);
}

/* How to read the fields: curves with evidence, or arrows and outlines. */
static const char
    dots_words[] = "Dots with bars of 90 % are what the data's own steps say. Bars that do not reach the "
                   "band of the curve are counted above, beside the number that chance gives of a right "
                   "model; many more, or a row of them on one side, speak against it.",
    bare_words[] = "Dots with bars of 90 % are what the data's own steps say: of a right model one in ten "
                   "leaves the curve by more than its bar; more, or a row of them on one side, speak "
                   "against it.",
    noisy_words[] = " What measurement noise and long steps add is taken out of the dots, so that a dot "
                    "of a may fall below 0.",
    plane_words[] =
        "An arrow ends where the drift alone would lead, an outline is one standard deviation "
        "of the noise, each in the time written above; a line where noise moves the states in one direction alone.",
    boxes_words[] =
        "An arrow ends where the drift alone would lead, an outline is one standard deviation of the "
        "noise, each in the time written above. Where a title asks whether the data's steps agree, each "
        "arrow or outline stands for a part of the data, all with about as many steps: by these steps "
        "alone the tip of the arrow is somewhere in the outline of the data, and the edge of the model's "
        "outline somewhere on their bar, nine times of ten. Misses are orange, and counted above beside the "
        "number that chance gives of a right model; many more speak against it.";

/* What of a figure was not observed. */
static const char *chapter_of_order_two(const chapter *c)
{
    if (strcmp(c->figure, "check") == 0)
        return " Positions are compared, each with what those before it let expect: velocities were not observed.";
    return " Velocities of the data are smoothed, not observed.";
}

/* The chapter with the curves of f and a. */
static int has_curves(const rep_facts *f, const chapter *c)
{
    return c->place == FIRST && strcmp(c->figure, f->d == 1 ? "fields" : "slices") == 0;
}

static int has_dots(const rep_facts *f, const chapter *c) { return f->seen == f->d && has_curves(f, c); }

static const char *chapter_shows(const rep_facts *f, const chapter *c)
{
    if (f->record.found.noise.used && strcmp(c->figure, "paths") == 0)
        return "Paths of the learned equation, with its measurement noise, over the data.";
    if (f->seen < f->d && strcmp(c->figure, "slices") == 0)
        return "The force and the strength of its noise along positions and velocities, with the other states where "
               "the data have them: a curve shows what comes with the state, not its effect alone. There are no dots: "
               "of positions alone the steps say nothing of the force by "
               "themselves; the "
               "check below compares them with what the model foretells.";
    return c->shows;
}

static const char *chapter_read(const rep_facts *f, const chapter *c, int dots, int boxes)
{
    look_starts starts;
    if (strcmp(c->figure, "paths") == 0 && f->has_check && !f->check.ok)
        return "At each time half of the model's paths are in the narrow band, nine of ten in the wide one. The "
               "verdict "
               "objects to the model: where the data stay outside for long, its paths are not theirs.";
    if (strcmp(c->figure, "paths") == 0 && f->d == 1 && look_start(f->data, &starts) >= 0 && starts.count > 1)
        return "Three starts, a picture for each: at each time half of the model's paths from there are in the narrow "
               "band, nine of ten in the wide one. The strong line is the data's trajectory from that start; a single "
               "one may stay outside for long.";
    if (sock_data_trajectories(f->data) == 1 && strcmp(c->figure, "paths") == 0)
        return "At each time half of the model's paths are in the narrow band, nine of ten in the wide one. The data "
               "are "
               "like one path: it need not follow the middle, and may stay outside for long.";
    if (has_dots(f, c))
        return !dots ? "These data are too few to say something by themselves, as dots with bars would."
               : sock_model_has_bands(f->model) ? dots_words
                                                : bare_words;
    if (strcmp(c->figure, "pairs") == 0) return "They are to be read as those of the first two, above.";
    if (f->d > 1 && strcmp(c->figure, "fields") == 0) return boxes ? boxes_words : plane_words;
    return c->read;
}

/* One figure with its words, its numbers and the command that draws it alone. */
static sock_status put_figure(sock_context *ctx, FILE *out, const rep_facts *f, fig_input *in, const chapter *c)
{
    const fig_figure *figure = fig_find(c->figure);
    fig_tables tables = {0};
    char *text = NULL;
    size_t size = 0;
    in->tables = &tables;
    sock_status status = fig_draw(ctx, figure, in, &text, &size);
    in->tables = NULL;
    if (status >= 0) {
        json_t *moments = NULL, *planes = NULL;
        status = evidence_moments(ctx, in, &moments);
        if (status >= 0) status = evidence_planes(ctx, in, &planes);
        const int boxes = json_array_size(json_object_get(json_array_get(planes, 0), "n")) > 0;
        const sk_noise_told *noise = &f->record.found.noise;
        const int dots = json_array_size(moments) > 0, mended = noise->used || noise->substeps > 1;
        const char *read = chapter_read(f, c, dots, boxes), *more = has_dots(f, c) && dots && mended ? noisy_words : "";
        const int first = c->place == FIRST; /* the picture comes first there, and how to read it after */
        fprintf(out, "<figure>\n<figcaption>%s%s%s%s%s</figcaption>\n", chapter_shows(f, c), first ? "" : " ",
                first ? "" : read, first ? "" : more,
                f->seen < f->d && c->place == BODY ? chapter_of_order_two(c) : "");
        fwrite(text, 1, size, out);
        if (first && *read) fprintf(out, "<p class=\"read-so\">%s%s</p>\n", read, more);
        if (has_curves(f, c)) words_trust(out, f, in);
        if (strcmp(c->figure, "search") == 0) search_table(out, f);
        if (strcmp(c->figure, "check") == 0) words_tests(out, f);
        if (!put_links(out, &tables)) status = SOCK_ENOMEM;
        put_plot_command(out, f, c->figure);
        fputs("</figure>\n", out);
    }
    free(text);
    tables_clear(&tables);
    return status < 0 ? status : SOCK_OK;
}

/* Those of a place that are wanted, each a section, or a fold. */
static sock_status put_chapters(sock_context *ctx, FILE *out, const rep_facts *f, fig_input *in, const int *wanted,
                                chapter_place place)
{
    sock_status status = SOCK_OK;
    for (size_t i = 0; status >= 0 && i < CHAPTERS; i++) {
        const chapter *c = &chapters[i];
        if (!wanted[i] || c->place != place) continue;
        if (place == FOLD)
            fprintf(out, "<details id=\"%s\">\n<summary>%s</summary>\n", c->figure, c->title);
        else
            fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", c->figure, c->title);
        status = put_figure(ctx, out, f, in, c);
        fputs(place == FOLD ? "</details>\n" : "</section>\n", out);
    }
    return status;
}

static int has_terms(const rep_facts *f)
{
    return json_array_size(json_object_get(f->terms, "drift")) ||
           json_array_size(json_object_get(f->terms, "diffusion"));
}

static int put_terms(FILE *out, const rep_facts *f)
{
    if (!has_terms(f)) return 1;
    const int f_too = json_array_size(json_object_get(f->terms, "drift")) > 0,
              a_too = json_array_size(json_object_get(f->terms, "diffusion")) > 0;
    fprintf(
        out,
        "<details id=\"terms\">\n<summary>Coefficients</summary>\n<p>%s: these are all %s terms, in the units of the "
        "data.</p>\n",
        f_too && a_too ? "Drift and diffusion are polynomials"
        : f_too        ? "The drift is a polynomial"
                       : "The diffusion is a polynomial, the drift is not",
        f_too && a_too ? "their" : "its");
    const int good = equation_table(out, f);
    fputs("</details>\n", out);
    return good;
}

static void put_information(FILE *out, const rep_facts *f)
{
    char *text = json_dumps(f->info, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    if (!text) {
        *f->failed = 1;
        return;
    }
    fputs("<p class=\"files\">All that the model file says of itself: ", out);
    page_link(out, &(page_file){.name = "model.json", .type = "application/json", .bytes = text, .size = strlen(text)});
    fputs("</p>\n", out);
    free(text);
}

static void put_end(FILE *out, const rep_facts *f)
{
    fputs("<details id=\"card\">\n<summary>Model card</summary>\n", out);
    card_write(out, f);
    put_information(out, f);
    fputs("</details>\n<details id=\"again\">\n<summary>Make it again</summary>\n", out);
    card_commands(out, f);
    fputs("</details>\n</section>\n</main>\n<footer><p>Made by sock ", out);
    page_text(out, sock_version());
    fputs(". Zoomable charts by uPlot, MIT licence, which stands in the source of this page.</p></footer>\n<!--\n",
          out);
    fputs(asset_uplot_licence, out);
    fprintf(
        out,
        "-->\n<script>%s</script>\n<script>%s</script>\n<script>%s</script>\n<script>%s</script>\n</body>\n</html>\n",
        asset_uplot_js, asset_page_js, asset_model_js, asset_live_js);
}

/* What a reader who has a minute sees. */
static void put_first(FILE *out, const rep_facts *f)
{
    fputs("<main>\n<section id=\"summary\">\n", out);
    words_verdict(out, f);
    words_warnings(out, f);
    words_driven(out, f);
    equation_write(out, f);
    words_logs(out, f);
    fputs("</section>\n", out);
}

/* How it was made, in folds. */
static sock_status put_made(sock_context *ctx, FILE *out, const rep_facts *f, fig_input *in, const int *wanted)
{
    size_t check = 0;
    while (strcmp(chapters[check].figure, "check") != 0) check++;
    fputs("<section id=\"made\">\n<h2>How it was made</h2>\n<details id=\"learned\">\n<summary>What was learned, and "
          "how well "
          "it predicts</summary>\n",
          out);
    words_summary(out, f);
    fputs("</details>\n", out);
    if (!wanted[check]) words_tests(out, f); /* else beneath its figure */
    sock_status status = put_chapters(ctx, out, f, in, wanted, FOLD);
    if (status >= 0 && !put_terms(out, f)) status = SOCK_ENOMEM;
    if (status >= 0) put_end(out, f);
    return status;
}

static sock_status put_page(sock_context *ctx, FILE *out, const rep_facts *f, fig_input *in)
{
    int wanted[CHAPTERS];
    char *live = NULL;
    int meaning = 0;
    sock_status status = choose_chapters(in, wanted);
    if (status >= 0) status = live_make(ctx, in, f, &live);
    if (status >= 0) status = meaning_has(ctx, in, &meaning);
    if (status < 0) return status;
    put_head(out, f);
    put_top(out, f);
    put_menu(out, wanted, live != NULL, meaning);
    put_first(out, f);
    status = network_write(ctx, out, f, in);
    if (status >= 0) status = put_chapters(ctx, out, f, in, wanted, FIRST);
    live_write(out, live, sock_model_inputs(f->model));
    free(live);
    if (status >= 0) status = meaning_write(ctx, out, f, in);
    if (status >= 0) status = put_chapters(ctx, out, f, in, wanted, BODY);
    return status < 0 ? status : put_made(ctx, out, f, in, wanted);
}

/* ---- The entries ---- */

/* Without the name of the time and without evidence. */
static sock_status input_of(const sock_model *model, const sock_data *data, const rep_settings *s, fig_input *out)
{
    if (!model || !data || lifted_seen(model) != sock_data_dim(data)) return SOCK_EUSAGE;
    if (s->truth && sock_model_dim(s->truth) != sock_model_dim(model)) return SOCK_EUSAGE;
    if (s->pair[0] >= sock_model_dim(model) || s->pair[1] >= sock_model_dim(model)) return SOCK_EUSAGE;
    if (!sock_data_points(data)) return SOCK_EINPUT;
    *out = (fig_input){.model = model,
                       .data = data,
                       .truth = s->truth,
                       .seed = s->seed,
                       .bounds = s->bounds,
                       .lower = s->lower,
                       .upper = s->upper,
                       .pair = {s->pair[0], s->pair[1]}};
    return SOCK_OK;
}

/* The page of an input that has evidence, in memory. */
static sock_status make_page(sock_context *ctx, fig_input *in, const rep_settings *s, memtext *page)
{
    rep_facts facts = {0};
    int failed = 0;
    sock_status status = facts_gather(ctx, in, s, &failed, &facts);
    FILE *out = status >= 0 ? memtext_open(page) : NULL;
    if (status >= 0 && !out) status = SOCK_ENOMEM;
    if (out) {
        char *time_name = look_time_name(ctx, in->data), *time_axis = look_time_axis(ctx, in->data);
        in->time_name = time_name, in->time_axis = time_axis;
        status = time_name && time_axis ? put_page(ctx, out, &facts, in) : SOCK_ENOMEM;
        in->time_name = in->time_axis = NULL;
        free(time_name), free(time_axis);
        if ((memtext_close(out, page) != 0 || failed) && status >= 0) status = SOCK_ENOMEM;
    }
    facts_free(&facts);
    return status;
}

sock_status rep_write(sock_context *ctx, const sock_model *model, const sock_data *data, const rep_settings *settings,
                      const char *path)
{
    static const rep_settings none;
    const rep_settings *s = settings ? settings : &none;
    fig_input in = {0};
    memtext page = {0};
    sock_data *lifted = NULL;
    sock_status status = input_of(model, data, s, &in);
    if (status >= 0) status = lifted_take(ctx, data, &in, &lifted);
    if (status < 0) return status;
    in.form = SHEET_PIECES;
    in.evidence = evidence_new(sock_model_dim(model)); /* of order 2 more than data have */
    status = in.evidence ? make_page(ctx, &in, s, &page) : SOCK_ENOMEM;
    if (status >= 0) status = sock_write_file(ctx, path, page.text, page.size);
    sock_data_free(lifted);
    free(page.text);
    evidence_free(in.evidence);
    return status;
}

sock_status rep_figure(sock_context *ctx, const sock_model *model, const sock_data *data, const rep_settings *settings,
                       const char *name, const char *path)
{
    static const rep_settings none;
    const fig_figure *figure = fig_find(name);
    fig_input in = {0};
    char *time_name = NULL, *time_axis = NULL, *text = NULL;
    sock_data *lifted = NULL;
    size_t size = 0;
    sock_status status = figure ? input_of(model, data, settings ? settings : &none, &in) : SOCK_EUSAGE;
    if (status >= 0 && !(in.time_name = time_name = look_time_name(ctx, data))) status = SOCK_ENOMEM;
    if (status >= 0 && !(in.time_axis = time_axis = look_time_axis(ctx, data))) status = SOCK_ENOMEM;
    if (status >= 0 && fig_lack(figure, &in)) status = SOCK_EUSAGE;
    if (status >= 0) status = lifted_take(ctx, data, &in, &lifted);
    if (status >= 0) status = fig_draw(ctx, figure, &in, &text, &size);
    if (status >= 0) status = sock_write_file(ctx, path, text, size);
    sock_data_free(lifted);
    free(text);
    free(time_name);
    free(time_axis);
    return status;
}

const char *rep_figure_name(size_t index) { return fig_at(index) ? fig_at(index)->name : NULL; }

const char *rep_figure_lack(const sock_model *model, const sock_data *data, const char *name)
{
    const fig_figure *figure = fig_find(name);
    return figure ? fig_lack(figure, &(fig_input){.model = model, .data = data}) : "there is no figure of that name";
}
