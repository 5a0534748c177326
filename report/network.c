/* network.c - see network.h.
 *
 * The strength with which state l drives state k is the root mean square of the slope d f_k / d x_l over points of the
 * data, in units of the states' standard deviations: s_kl = rms(J_kl) sd_l / sd_k, in 1 / time. Its error is the spread
 * of the same number over models drawn from what the fit leaves open. Told are strengths of so many errors that chance
 * makes one of d (d - 1) so large once in twenty times. */
#define _GNU_SOURCE
#include "network.h"

#include "curvepanel.h"
#include "driven.h"
#include "evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 120, DRAWS = 48, STATES_MOST = 40, LINKS_MOST = 60, ROWS = 20, ANSWERS = 6, GRID = 61, OPEN = 8 };

static const double CHANCE = 0.05;   /* that of no couplings at all some is told */
static const double WEAK = 0.05;     /* share of the strongest below which a link is not drawn */
static const double ONE_SIDED = 0.5; /* |mean| over root mean square from which on a slope has a sign */

typedef struct link {
    size_t from, to;
    double strength, error, sign;
} link;

typedef struct network {
    size_t d, points;
    const double *x; /* points x d */
    double sd[STATES_MOST], step[STATES_MOST], low[STATES_MOST], high[STATES_MOST], middle[STATES_MOST];
    size_t links; /* between different states, the strongest first */
    link *link;
    double sure; /* errors that a strength must have to be told */
    int has_errors;
} network;

/* Errors that the largest of `count` normal numbers has in size once in 1 / CHANCE times. */
static double errors_of_chance(size_t count)
{
    double low = 0, high = 10;
    for (int i = 0; i < 60; i++) {
        const double z = (low + high) / 2;
        *(erfc(z / sqrt(2)) * (double)count > CHANCE ? &low : &high) = z;
    }
    return high;
}

/* ---- Strengths ---- */

static sock_status measure(const fig_input *in, network *n)
{
    for (size_t k = 0; k < n->d; k++) {
        const double *sorted;
        size_t count;
        double mean = 0, square = 0;
        const sock_status status = evidence_sorted(in, k, &sorted, &count);
        if (status < 0) return status;
        for (size_t i = 0; i < count; i++) mean += sorted[i] / (double)count;
        for (size_t i = 0; i < count; i++) square += (sorted[i] - mean) * (sorted[i] - mean) / (double)count;
        n->sd[k] = square > 0 ? sqrt(square) : 1;
        n->step[k] = 1e-3 * n->sd[k];
        n->low[k] = look_quantile(count, sorted, 0.01), n->high[k] = look_quantile(count, sorted, 0.99);
        n->middle[k] = look_quantile(count, sorted, 0.5);
    }
    return SOCK_OK;
}

/* strength and mean (d x d, row k: driven) of one model. */
static sock_status strengths(sock_context *ctx, const sock_model *model, const sock_model *like, const network *n,
                             double *strength, double *mean)
{
    const size_t d = n->d, count = 2 * n->points;
    double *x = calloc(count * d, sizeof *x), *f = calloc(count * d, sizeof *f);
    sock_status status = x && f ? SOCK_OK : SOCK_ENOMEM;
    for (size_t l = 0; status >= 0 && l < d; l++) {
        for (size_t i = 0; i < count; i++) {
            memcpy(x + i * d, n->x + i / 2 * d, d * sizeof *x);
            x[i * d + l] += i % 2 ? n->step[l] : -n->step[l];
        }
        status = driven_drift(ctx, model, like, count, x, f);
        for (size_t k = 0; status >= 0 && k < d; k++) {
            double sum = 0, square = 0;
            for (size_t i = 0; i < n->points; i++) {
                const double slope = (f[(2 * i + 1) * d + k] - f[2 * i * d + k]) / (2 * n->step[l]);
                sum += slope / (double)n->points, square += slope * slope / (double)n->points;
            }
            strength[k * d + l] = sqrt(square) * n->sd[l] / n->sd[k];
            mean[k * d + l] = sum * n->sd[l] / n->sd[k];
        }
    }
    free(x);
    free(f);
    return status;
}

/* Root mean square deviations over draws into error (d x d). */
static sock_status spread(sock_context *ctx, const fig_input *in, const network *n, const double *strength,
                          double *error)
{
    const size_t d = n->d;
    double *drawn = calloc(2 * d * d, sizeof *drawn);
    sock_status status = drawn ? SOCK_OK : SOCK_ENOMEM;
    for (uint64_t i = 0; status >= 0 && i < DRAWS; i++) {
        sock_model *draw = NULL;
        status = sock_model_draw(ctx, in->model, in->seed, i, &draw);
        if (status >= 0) status = strengths(ctx, draw, in->model, n, drawn, drawn + d * d);
        for (size_t e = 0; status >= 0 && e < d * d; e++) error[e] += pow(drawn[e] - strength[e], 2) / DRAWS;
        sock_model_free(draw);
    }
    for (size_t e = 0; e < d * d; e++) error[e] = sqrt(error[e]);
    free(drawn);
    return status;
}

static int by_strength(const void *a, const void *b)
{
    const link *x = a, *y = b;
    return (x->strength < y->strength) - (x->strength > y->strength);
}

static sock_status make(sock_context *ctx, const fig_input *in, network *n)
{
    const size_t d = n->d;
    double *all = calloc(3 * d * d, sizeof *all), *mean = all ? all + d * d : NULL, *error = all ? mean + d * d : NULL;
    n->link = calloc(d * d, sizeof *n->link);
    sock_status status = all && n->link ? measure(in, n) : SOCK_ENOMEM;
    if (status >= 0) status = strengths(ctx, in->model, in->model, n, all, mean);
    n->has_errors = sock_model_has_bands(in->model);
    if (status >= 0 && n->has_errors) status = spread(ctx, in, n, all, error);
    n->sure = errors_of_chance(d * (d - 1));
    for (size_t e = 0; status >= 0 && e < d * d; e++) {
        if (e / d == e % d || !(all[e] > 0)) continue;
        const double sign = fabs(mean[e]) > ONE_SIDED * all[e] ? mean[e] : 0;
        const link l = {.from = e % d, .to = e / d, .strength = all[e], .error = error[e], .sign = sign};
        if (l.strength >= n->sure * l.error) n->link[n->links++] = l;
    }
    if (n->links) qsort(n->link, n->links, sizeof *n->link, by_strength);
    free(all);
    return status;
}

/* ---- The picture ---- */

enum { WIDE = 560, TALL = 400, ROUND = 150, SHORT_NAME = 8 }; /* short ones are larger on a telephone */

static void place_of(const network *n, size_t k, double reach, double out[2])
{
    const double angle = 6.283185307179586 * (double)k / (double)n->d - 1.5707963267948966;
    out[0] = WIDE / 2.0 + reach * cos(angle), out[1] = TALL / 2.0 + reach * sin(angle);
}

static const char *class_of(const link *l) { return l->sign > 0 ? "pushes" : l->sign < 0 ? "pulls" : "mixed"; }

/* From the rim of one state to that of the other, beside the straight line, so that both ways can be told apart. */
static void draw_link(svg *s, const network *n, const link *l)
{
    double from[2], to[2];
    place_of(n, l->from, ROUND, from), place_of(n, l->to, ROUND, to);
    const double dx = to[0] - from[0], dy = to[1] - from[1], length = hypot(dx, dy);
    const double u[2] = {dx / length, dy / length}, side[2] = {-3 * u[1], 3 * u[0]}, gap = 15;
    const int width = 1 + (int)floor(3.99 * sqrt(l->strength / n->link[0].strength));
    char klass[24];
    snprintf(klass, sizeof klass, "%s w%d", class_of(l), width > 4 ? 4 : width);
    svg_arrow(s, klass, (double[]){from[0] + gap * u[0] + side[0], from[1] + gap * u[1] + side[1]},
              (double[]){to[0] - gap * u[0] + side[0], to[1] - gap * u[1] + side[1]});
}

static int draw_network(FILE *out, const rep_facts *f, const network *n)
{
    svg *s = svg_new_plain("network", WIDE, TALL, "Which state drives which");
    if (!s) return 0;
    for (size_t i = n->links; i-- > 0;)
        if (i < LINKS_MOST && n->link[i].strength > WEAK * n->link[0].strength) draw_link(s, n, &n->link[i]);
    for (size_t k = 0; k < n->d; k++) {
        double at[2], name[2];
        place_of(n, k, ROUND, at), place_of(n, k, ROUND + 22, name);
        svg_dot(s, "moment", at, 6);
        const svg_anchor anchor = fabs(name[0] - WIDE / 2.0) < 30 ? SVG_MIDDLE
                                  : name[0] > WIDE / 2.0          ? SVG_START
                                                                  : SVG_END;
        svg_text(s, strlen(sock_model_name(f->model, k)) > SHORT_NAME ? "long" : "",
                 (double[]){name[0] - (anchor == SVG_START ? 8
                                       : anchor == SVG_END ? -8
                                                           : 0),
                            name[1] + 4},
                 anchor, 16, sock_model_name(f->model, k));
    }
    size_t size;
    char *text = svg_close(s, &size);
    if (text) fprintf(out, "<div class=\"panels alone\">\n%s</div>\n", text);
    free(text);
    return text != NULL;
}

/* ---- The table ---- */

static void put_links(FILE *out, const rep_facts *f, const network *n)
{
    fprintf(out, "<details%s><summary>The strongest couplings</summary>\n", n->links > OPEN ? "" : " open");
    fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"numbers\"><thead><tr><th scope=\"col\">driver</th><th "
          "scope=\"col\">driven</th><th "
          "scope=\"col\">strength</th><th scope=\"col\">with more of the driver</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < n->links && i < ROWS; i++) {
        const link *l = &n->link[i];
        fputs("<tr><th scope=\"row\">", out);
        page_text(out, sock_model_name(f->model, l->from));
        fputs("</th><td class=\"text\">", out);
        page_text(out, sock_model_name(f->model, l->to));
        fputs("</td><td>", out);
        if (l->error > 0)
            page_measured(out, l->strength, l->error);
        else
            page_number(out, l->strength);
        fprintf(out, "</td><td class=\"text\">%s</td></tr>\n",
                l->sign > 0   ? "the driven grows faster"
                : l->sign < 0 ? "the driven grows slower, or falls"
                              : "one or the other, as the states are");
    }
    fprintf(out, "</tbody></table></div>\n");
    if (n->links > ROWS) fprintf(out, "<p class=\"note\">and %zu weaker ones.</p>\n", n->links - ROWS);
    fprintf(out, "</details>\n");
}

/* ---- Answers ---- */

typedef struct answer {
    double x[GRID], f[GRID], band[2 * GRID];
    int outside[GRID], banded;
    const double *sorted;
    size_t values;
} answer;

/* f_to along x_from, the other states at their medians. */
static sock_status ask(sock_context *ctx, const fig_input *in, const network *n, const link *l, answer *a)
{
    const size_t d = n->d;
    double *x = calloc(GRID * d, sizeof *x), *f = calloc(GRID * d, sizeof *f), *low = calloc(2 * GRID * d, sizeof *low);
    sock_status status = x && f && low ? evidence_sorted(in, l->from, &a->sorted, &a->values) : SOCK_ENOMEM;
    for (size_t g = 0; status >= 0 && g < GRID; g++) {
        memcpy(x + g * d, n->middle, d * sizeof *x);
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): a network has NETWORK_LEAST states and more
        a->x[g] = x[g * d + l->from] = n->low[l->from] + (n->high[l->from] - n->low[l->from]) * (double)g / (GRID - 1);
    }
    if (status >= 0) status = driven_drift(ctx, in->model, in->model, GRID, x, f);
    for (size_t g = 0; status >= 0 && g < GRID; g++) a->f[g] = f[g * d + l->to];
    if (status >= 0 && n->has_errors) {
        status = driven_bands(ctx, in->model, GRID, x, 0.9,
                              &(sock_bands){.f_low = low, .f_high = low + GRID * d, .outside = a->outside});
        for (size_t g = 0; status >= 0 && g < 2 * GRID; g++) a->band[g] = low[g * d + l->to];
        a->banded = status >= 0;
    }
    free(x), free(f), free(low);
    return status;
}

static curve_set set_of(const answer *a)
{
    return (curve_set){.count = GRID,
                       .x = a->x,
                       .model = a->f,
                       .band = a->banded ? a->band : NULL,
                       .outside = a->outside,
                       .values = a->values,
                       .sorted = a->sorted};
}

static sock_status put_answers(sock_context *ctx, FILE *out, const rep_facts *f, const fig_input *in, const network *n)
{
    const size_t count = n->links < ANSWERS ? n->links : ANSWERS;
    const sheet_plan plan = {.id = "answers",
                             .heading = "How the driven states answer",
                             .form = SHEET_PIECES,
                             .panels = count,
                             .columns = 2,
                             .wide = 312,
                             .tall = 140,
                             .strip = CURVE_STRIP};
    answer *a = calloc(count + 1, sizeof *a);
    sheet *s = a ? sheet_new(&plan) : NULL;
    sock_status status = s ? SOCK_OK : SOCK_ENOMEM;
    int good = s != NULL;
    curve_key has = {.band = n->has_errors};
    for (size_t i = 0; status >= 0 && i < count; i++) {
        status = ask(ctx, in, n, &n->link[i], &a[i]);
        if (status < 0) break;
        const curve_set set = set_of(&a[i]);
        has.guess = has.guess || curve_guesses(&set);
    }
    if (status >= 0) curve_keys(s, &has);
    for (size_t i = 0; status >= 0 && good && i < count; i++) {
        const link *l = &n->link[i];
        const curve_set set = set_of(&a[i]);
        char title[120];
        snprintf(title, sizeof title, "drift of %.40s", sock_model_name(f->model, l->to));
        good = curve_panel(s, &set, title, sock_model_name(f->model, l->from));
    }
    size_t size = 0;
    char *text = s ? sheet_close(s, good && status >= 0, &size) : NULL;
    if (text) fwrite(text, 1, size, out);
    if (!text && status >= 0) status = SOCK_ENOMEM;
    free(text);
    free(a);
    return status;
}

/* ---- The section ---- */

static const char network_words[] =
    "<figure>\n<figcaption>An arrow leads from a state to one whose drift depends on it. The thicker, the stronger: by "
    "how many of its standard deviations the driven state moves in a unit of time when the driver is one of its own "
    "larger, as a root mean square over the data. ";
static const char network_keys[] =
    "<p class=\"keys\"><span class=\"key pushes\">speeds up</span> <span class=\"key pulls\">slows down</span> <span "
    "class=\"key mixed\">either, as other states are</span></p>\n";

/* Nothing is told. Of the noise nothing is asked here. */
static void put_none(FILE *out, const network *n)
{
    fprintf(out,
            "<figure>\n<figcaption>These data do not show that the <em>drift</em> of one state depends on another: of "
            "%zu couplings in the drift none is beyond %.1f standard errors, which chance alone would make in one page "
            "of twenty",
            n->d * (n->d - 1), n->sure);
    fputs(". The noise of states may go together all the same: that is asked of <var>a</var>.</figcaption>\n", out);
}

static void put_couplings(FILE *out, const rep_facts *f, const network *n)
{
    fputs(network_words, out);
    if (f->has_check && !f->check.ok)
        fprintf(
            out,
            "Of %zu couplings those below %.1f standard errors are left out. <b>The verdict objects to this equation, "
            "and so to these arrows: a state that moves along may stand for the true one.</b></figcaption>\n",
            n->d * (n->d - 1), n->sure);
    else if (n->has_errors)
        fprintf(out,
                "Of %zu couplings those below %.1f standard errors are left out: chance alone would make one so large "
                "in one page of twenty.</figcaption>\n",
                n->d * (n->d - 1), n->sure);
    else
        fputs("The model tells no errors.</figcaption>\n", out);
    fputs(network_keys, out);
}

static sock_status put_network(sock_context *ctx, FILE *out, const rep_facts *f, const fig_input *in, const network *n)
{
    sock_status status = SOCK_OK;
    fputs("<section id=\"network\">\n<h2>Which state drives which</h2>\n", out);
    if (n->links) {
        put_couplings(out, f, n);
        status = draw_network(out, f, n) ? SOCK_OK : SOCK_ENOMEM;
        put_links(out, f, n);
        fputs("<p>An arrow says how the change of one state depends on another in these data: it is no proof of a "
              "cause. Where none is drawn none was found; there may be one.</p>\n",
              out);
    } else
        put_none(out, n);
    equation_largest(out, f, n->sd);
    if (status >= 0 && n->links) {
        fputs(
            "<h3>How the driven states answer</h3>\n<p>The drift of a driven state along its driver, the other states "
            "at their medians; where the band holds a level line, the answer may be none.</p>\n",
            out);
        status = put_answers(ctx, out, f, in, n);
    }
    fputs("</figure>\n</section>\n", out);
    return status;
}

sock_status network_write(sock_context *ctx, FILE *out, const rep_facts *f, const fig_input *in)
{
    if (f->d < NETWORK_LEAST || f->d > STATES_MOST || !f->points) return SOCK_OK;
    network *n = calloc(1, sizeof *n);
    double *points = calloc(POINTS * f->d, sizeof *points);
    sock_status status = n && points ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        const size_t count = f->points < POINTS ? f->points : POINTS;
        for (size_t i = 0; i < count; i++)
            memcpy(points + i * f->d, f->point + i * f->points / count * f->d, f->d * sizeof *points);
        *n = (network){.d = f->d, .points = count, .x = points};
        status = make(ctx, in, n);
    }
    if (status >= 0) status = put_network(ctx, out, f, in, n);
    if (n) free(n->link);
    free(n);
    free(points);
    return status < 0 ? status : SOCK_OK;
}
