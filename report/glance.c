/* glance.c - three questions that a reader has before all others, each with one answer: is the equation right, is it
 * better than constants, how sure are its curves? Every number is one of the check, the search or the bands.
 *
 * How wrong it is: the scores of the check are the model's own noise, told from the data. What of their variance the
 * state, the time or the score before foretells (an r^2: of a lag-1 correlation r its square) is no noise. The effect
 * of cycles is no such share: it sums over lags, which see one wave many times. */
#define _GNU_SOURCE
#include "driven.h"
#include "evidence.h"
#include "facts.h"
#include "memtext.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 200 };

static const double part = 0.05, /* of its errors' variance: when so much can be foretold, it is right in part, or,
                                    where that is worth more than all that it gains over constants, wrong, */
    wrong = 0.25,                /* and from here on it is wrong in any case */
    off = 0.25, /* so far are the variances of single or of several steps from the model's where it is right in part */
    near = 0.2, /* an adjusted p that is told though nothing objects */
    one_sign = 0.05, /* of the places may have the other sign */
    sure = 0.25;     /* a drift whose band is at most so much of its size, to each side, is well known */

typedef enum grade { GOOD, PARTLY, BAD, UNKNOWN } grade;

/* ---- Is it right? ---- */

typedef struct foretold {
    double share;
    const char *by;
} foretold;

static foretold foretold_share(const sock_checks *c)
{
    static const struct {
        const char *test, *by;
        int square;
    } of[] = {{"drift", "from the state", 0}, {"time", "from the time", 0}, {"memory", "from the step before", 1}};
    foretold most = {0, NULL};
    for (int i = 0; i < SOCK_CHECK_TESTS; i++)
        for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
            if (!c->test[i].objects || strcmp(c->test[i].name, of[k].test) != 0) continue;
            const double share = of[k].square ? c->test[i].effect * c->test[i].effect : c->test[i].effect;
            if (share > most.share) most = (foretold){share, of[k].by};
        }
    return most;
}

static size_t objecting(const sock_checks *c, size_t *made)
{
    size_t count = 0;
    *made = 0;
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) {
        *made += c->test[i].valid != 0;
        count += c->test[i].objects != 0;
    }
    return count;
}

/* What a normal law gains, in nats a step, by what can be foretold of the model's errors. */
static double left_to_foretell(const rep_facts *f)
{
    const double share = f->has_check ? foretold_share(&f->check).share : 0;
    return -0.5 * log1p(-fmin(share, 0.999));
}

/* Over constants, in nats a held-out step; NaN: not compared. */
static double gain_of(const rep_facts *f)
{
    const sk_tune_outcome *found = &f->record.found;
    return f->record.against_constant ? (found->score - found->score_constant) / (double)found->steps : (double)NAN;
}

/* More can be foretold than what it knows beyond constants. */
static int misses_most(const rep_facts *f)
{
    const double share = foretold_share(&f->check).share, gain = gain_of(f);
    return share >= part && left_to_foretell(f) > gain;
}

int glance_little(const rep_facts *f)
{
    return f->record.against_constant == SK_BETTER && left_to_foretell(f) > gain_of(f);
}

static grade grade_of(const rep_facts *f)
{
    if (!f->has_check || !isfinite(f->check.lag1)) return UNKNOWN; /* no test was made: silence is no praise */
    if (f->check.ok) return strcmp(f->check.pattern, "none-few") == 0 ? UNKNOWN : GOOD;
    return foretold_share(&f->check).share >= wrong || misses_most(f) ? BAD : PARTLY;
}

/* Whether variances are off by a quarter and more. */
static int is_far_off(const sock_checks *c)
{
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) {
        const sock_check_test *t = &c->test[i];
        if (t->objects && (strcmp(t->name, "scale") == 0 || strcmp(t->name, "horizon") == 0) && fabs(t->effect) >= off)
            return 1;
    }
    return 0;
}

/* The test that is nearest to an objection. */
static void put_nearest(FILE *out, const sock_checks *c)
{
    const sock_check_test *least = NULL;
    for (int i = 0; i < SOCK_CHECK_TESTS; i++)
        if (c->test[i].valid && (!least || c->test[i].p_adjusted < least->p_adjusted)) least = &c->test[i];
    if (least && least->remark)
        fprintf(out, "; what %s sees is certain, but too small to matter (%s %.2g)", least->name, least->effect_of,
                least->effect);
    else if (least && least->p_adjusted < near)
        fprintf(out, "; nearest to an objection is %s, at an adjusted p of %.3g (it objects below %.2g)", least->name,
                least->p_adjusted, c->alpha);
}

/* Tests that would object if each were the only one. */
static void put_signs(FILE *out, const sock_checks *c)
{
    size_t told = 0;
    for (int i = 0; i < SOCK_CHECK_TESTS; i++)
        if (c->test[i].valid && c->test[i].p < c->alpha)
            fprintf(out, "%s%s", told++ ? ", " : " Weak signs against it: ", c->test[i].name);
    if (told) fprintf(out, " (p below %.2g, %s).", c->alpha, told == 1 ? "by itself" : "each by itself");
}

static void put_right(FILE *out, const rep_facts *f, grade g)
{
    const sock_checks *c = &f->check;
    const foretold what = f->has_check ? foretold_share(c) : (foretold){0, NULL};
    size_t made, count = f->has_check ? objecting(c, &made) : (made = 0);
    if (g == UNKNOWN) {
        fputs(!made ? "<b>Not tested.</b>" : "<b>Cannot be told</b> from so few steps.", out);
        if (made) put_signs(out, c);
    } else if (g == GOOD) {
        fprintf(out, "<b>As far as %zu tests see</b>", made);
        put_nearest(out, c);
        fputs(f->same_data ? ". They look at the data it was fitted to: that is no proof." : ".", out);
    } else {
        fprintf(out, "<b>%s</b> ",
                g == BAD                                        ? "No."
                : what.share >= part || is_far_off(c) || !count ? "In part."
                                                                : "Not quite.");
        if (count) fprintf(out, "%zu of %zu tests object%s", count, made, count == 1 ? "s" : "");
        if (what.by && what.share > 0.95)
            fprintf(out, ": nearly all of its errors can be foretold, %s", what.by);
        else if (what.by)
            fprintf(out, ": its next error can be foretold to %.2g %% of its variance, %s", 100 * what.share, what.by);
        if (what.by && misses_most(f)) fputs(", worth more than all that it gains over a random walk", out);
        if (!count) fputs("Single steps are, whole paths are not", out);
        fputs(g == BAD ? ". Do not use it as it stands." : ".", out);
    }
}

/* ---- Better than constants? ---- */

static int has_memory(const rep_facts *f)
{
    for (int i = 0; f->has_check && i < SOCK_CHECK_TESTS; i++)
        if (f->check.test[i].objects && strcmp(f->check.test[i].name, "memory") == 0) return 1;
    return 0;
}

static int is_constant(const sk_parts *parts)
{
    return parts->count == 1 && parts->part->kernel && strcmp(parts->part->kernel, "constant") == 0;
}

/* Short steps say little each, and much together. */
static void put_together(FILE *out, double gain, size_t steps)
{
    const double all = gain * (double)steps / log(10);
    if (gain < log(10) && all >= 3)
        fprintf(out, "; all %zu together are 10<sup>%.0f</sup> times as likely", steps, floor(all));
    else if (gain < log(10))
        fprintf(out,
                all > 1 ? "; all %zu together are %.0f times as likely" : "; all %zu together are %.2g times as likely",
                steps, pow(10, all));
    fputc('.', out);
}

/* g: whether it is right. */
static grade put_better(FILE *out, const rep_facts *f, grade g)
{
    const sk_tune_outcome *found = &f->record.found;
    const double gain = gain_of(f);
    const char *than = found->noise.used ? "a random walk (constant drift and noise, none of measurement)"
                                         : "a random walk (constant drift and noise)";
    if (!isfinite(gain)) {
        fputs("<b>Not compared.</b> The fit made no search.", out);
        return UNKNOWN;
    }
    const double rest = left_to_foretell(f);
    const int little = glance_little(f);
    if (f->record.against_constant == SK_BETTER) {
        fprintf(out, "<b>%s</b> A step that a fit had not seen is ", little ? "Clearly, but by little." : "Yes.");
        if (gain < log(10))
            page_times(out, gain), fputs(" times", out);
        else
            fprintf(out, "more than %.0f times", pow(10, floor(fmin(gain, 20) / log(10))));
        fprintf(out, " as likely as under %s%s", than, g == BAD ? ", which is wrong, too" : "");
        put_together(out, gain, found->steps);
        if (little)
            fprintf(out, " What could be foretold besides is worth %.2g times as much, step by step.", rest / gain);
        return g == BAD || little ? PARTLY : GOOD;
    }
    if (sk_record_warns(&f->record, SK_WARN_FEW)) {
        fputs("<b>It is one itself</b>, with constant drift and noise: the steps are too few to hold some out.", out);
        return UNKNOWN;
    }
    if (is_constant(&found->drifts) && is_constant(&found->diffusions)) {
        fputs("<b>It is one itself</b>, with constant drift and noise. On steps that a fit had not seen ", out);
        if (words_gave_up(f)) {
            fputs("a richer one was found: ", out), words_richer(out, f);
            fputs("; it was given up, since that is no clear gain", out);
        } else
            fputs("no other drift or noise did clearly better", out);
        fputs(has_memory(f) ? "; none of them knows the step before." : ".", out);
        return UNKNOWN;
    }
    fprintf(out, "<b>No.</b> On steps that a fit had not seen %s does %s%s.", than,
            f->record.against_constant == SK_WORSE ? "better" : "as well",
            found->limited ? "; the budget ended the search early" : "");
    return PARTLY;
}

/* ---- How sure? ---- */

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

typedef struct sample {
    size_t n, d, m;
    double *x, *value, *low, *high; /* n x d, else n x d x d */
    double *room;                   /* n */
    double *u;                      /* n x m: the inputs that the data have there */
} sample;

static double middle(const sample *s)
{
    qsort(s->room, s->n, sizeof *s->room, by_size);
    return s->room[s->n / 2];
}

/* Of a field that keeps its sign: the share of it that half the width of the band is, in the middle. */
static double share_of(const sample *s, size_t each, size_t place)
{
    for (size_t i = 0; i < s->n; i++) {
        const size_t at = i * each + place;
        const double size = fabs(s->value[at]);
        s->room[i] = size > 0 ? (s->high[at] - s->low[at]) / 2 / size : (double)INFINITY;
    }
    return middle(s);
}

static int keeps_its_sign(const sample *s, size_t k)
{
    size_t below = 0;
    for (size_t i = 0; i < s->n; i++) below += s->value[i * s->d + k] < 0;
    const size_t fewer = below < s->n - below ? below : s->n - below;
    return (double)fewer <= one_sign * (double)s->n;
}

/* Where f has both signs each place near its zero is loose by itself: half the width over the size of f, both as most
 * places have them, since a few of a large f say nothing of the others. The size is the median of |f| over that of a
 * standard normal variable: where a state stays about one place the root mean square; and never more than this. */
static double looseness_of_f(const sample *s, size_t k)
{
    const double normal_median = 0.6744897501960817;
    double square = 0;
    if (keeps_its_sign(s, k)) return share_of(s, s->d, k);
    for (size_t i = 0; i < s->n; i++) {
        s->room[i] = fabs(s->value[i * s->d + k]);
        square += s->room[i] * s->room[i] / (double)s->n;
    }
    const double size = fmin(middle(s) / normal_median, sqrt(square));
    for (size_t i = 0; i < s->n; i++) s->room[i] = (s->high[i * s->d + k] - s->low[i * s->d + k]) / 2;
    return size > 0 ? middle(s) / size : (double)INFINITY;
}

/* Of the states from `first` on the worst. */
static sock_status look_at_field(sock_context *ctx, const sock_model *model, const sample *s, int is_a, size_t first,
                                 double *most, size_t *worst)
{
    const size_t d = s->d;
    const sock_bands want =
        is_a ? (sock_bands){.a_low = s->low, .a_high = s->high} : (sock_bands){.f_low = s->low, .f_high = s->high};
    sock_status status = sock_model_bands_at(ctx, model, s->n, s->x, s->u, 0.9, &want);
    if (status < 0) return status;
    status = sock_model_evaluate_at(ctx, model, s->n, s->x, s->u, is_a ? NULL : s->value, is_a ? s->value : NULL);
    *most = 0;
    for (size_t k = first; status >= 0 && k < d; k++) {
        const double loose = is_a ? share_of(s, d * d, k * (d + 1)) : looseness_of_f(s, k);
        if (loose > *most) *most = loose, *worst = k;
    }
    return status;
}

/* Evenly chosen points of the data with their inputs. */
static int take_points(const fig_input *in, sample *s)
{
    const size_t points = sock_data_points(in->data), every = points / PLACES + 1, d = s->d, m = s->m;
    size_t number = 0;
    int failed = 0;
    for (size_t j = 0; !failed && j < sock_data_trajectories(in->data); j++) {
        const double *x;
        const size_t length = sock_data_trajectory(in->data, j, NULL, &x);
        double *u = driven_inputs(in->model, in->data, j, &failed);
        for (size_t i = 0; !failed && i < length; i++) {
            if (number++ % every || !look_finite(d, x + i * d) || !look_finite(u ? m : 0, u + i * m)) continue;
            memcpy(s->x + s->n * d, x + i * d, d * sizeof *x);
            if (u) memcpy(s->u + s->n * m, u + i * m, m * sizeof *u);
            s->n++;
        }
        free(u);
    }
    return failed;
}

sock_status glance_look(sock_context *ctx, const fig_input *in, rep_facts *f)
{
    const size_t d = f->d, m = sock_model_inputs(f->model);
    f->loose[0] = f->loose[1] = (double)NAN;
    if (!sock_model_has_bands(f->model)) return SOCK_OK;
    double *room = calloc(PLACES * (3 * d * d + d + m + 1), sizeof *room);
    if (!room) return SOCK_ENOMEM;
    double *value = room + PLACES * d;
    sample s = {.d = d,
                .m = m,
                .x = room,
                .value = value,
                .low = value + PLACES * d * d,
                .high = value + 2 * PLACES * d * d,
                .room = value + 3 * PLACES * d * d,
                .u = value + PLACES * (3 * d * d + 1)};
    sock_status status = take_points(in, &s) ? SOCK_ENOMEM : SOCK_OK;
    if (status >= 0 && s.n) status = look_at_field(ctx, f->model, &s, 0, d - f->seen, &f->loose[0], &f->worst[0]);
    if (status >= 0 && s.n) status = look_at_field(ctx, f->model, &s, 1, d - f->seen, &f->loose[1], &f->worst[1]);
    free(room);
    return status == SOCK_EUSAGE ? SOCK_OK : status; /* a may have no bands */
}

/* "the drift of x": of several states the worst is named. */
static void put_field(FILE *out, const rep_facts *f, int is_a)
{
    fputs(is_a ? "the noise a" : "the drift", out);
    if (f->seen > 1) fputs(" of ", out), page_text(out, sock_model_name(f->model, f->worst[is_a]));
}

static void put_loose(FILE *out, const rep_facts *f, int is_a)
{
    put_field(out, f, is_a);
    if (f->loose[is_a] < 1)
        fprintf(out, " is known to \xc2\xb1 %.2g %%%s", 100 * f->loose[is_a], is_a ? "" : " of its size");
    else
        fputs(is_a ? " could be twice as strong, or next to none" : " could be twice as large, or none", out);
}

static grade put_sure(FILE *out, const rep_facts *f)
{
    const double loose_f = f->loose[0], loose_a = f->loose[1];
    if (!isfinite(loose_f)) {
        fputs("<b>Not known.</b> The model has no bands.", out);
        return UNKNOWN;
    }
    const int objects = f->has_check && !f->check.ok, narrow = loose_f < sure;
    const grade g = narrow && !objects ? GOOD : loose_f < 1 ? PARTLY : BAD;
    fputs(g == GOOD     ? "<b>Well known.</b> "
          : narrow      ? "<b>Narrow bands</b> around an equation that is not right. "
          : g == PARTLY ? "<b>Roughly.</b> "
                        : "<b>Hardly.</b> ",
          out);
    fputs("Where the data are, ", out), put_loose(out, f, 0);
    if (isfinite(loose_a)) fputs(", ", out), put_loose(out, f, 1);
    fputs(f->seen > 1 ? " (bands of 90 %, other forms of the equation in them; all others are known better)"
                      : " (bands of 90 %, other forms of the equation in them)",
          out);
    fputs(f->has_check && !f->check.ok ? ", if the equation were right."
          : grade_of(f) == UNKNOWN     ? ", if the equation is right, which is not known."
                                       : ".",
          out);
    return g;
}

/* ---- The three ---- */

static void put_row(FILE *out, const char *question, grade g, const char *answer)
{
    static const char *const name[] = {"good", "partly", "bad", "unknown"};
    static const char *const sign[] = {"\xe2\x9c\x93", "~", "\xe2\x9c\x97", "?"};
    fprintf(out, "<div class=\"%s\"><dt><span class=\"sign\" aria-hidden=\"true\">%s</span>%s</dt><dd>%s</dd></div>\n",
            name[g], sign[g], question, answer);
}

const char *glance_class(const rep_facts *f)
{
    static const char *const name[] = {"", " objects", " bad", " silent"};
    return name[grade_of(f)];
}

static int row_of(FILE *out, const rep_facts *f, int which)
{
    static const char *const question[] = {"Is it right?", "Better than a random walk?", "How sure?"};
    memtext text;
    FILE *words = memtext_open(&text);
    grade g = UNKNOWN;
    if (!words) return 0;
    if (which == 0) put_right(words, f, g = grade_of(f));
    if (which == 1) g = put_better(words, f, grade_of(f));
    if (which == 2) g = put_sure(words, f);
    const int good = memtext_close(words, &text) == 0;
    if (good) put_row(out, question[which], g, text.text);
    free(text.text);
    return good;
}

void glance_write(FILE *out, const rep_facts *f)
{
    if (!f->has_check) return;
    fputs("<dl class=\"glance\">\n", out);
    for (int i = 0; i < 3; i++)
        if (!row_of(out, f, i)) *f->failed = 1;
    fputs("</dl>\n", out);
}
