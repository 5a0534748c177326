/* verdict.c - from nine tests to one sentence, and what to do about it. The table is read from above: the first row
 * whose pattern fits speaks, if what it tells of is among the strongest objections. An advice names only what the
 * program has. */
#include "check/check.h"

#include "check/checkrules.h"
#include "data/dates.h"
#include "tune/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Decisions ---- */

/* Holm: the i-th smallest of m values of p times m - i, never below those before it. */
static void adjust(sock_check_test test[SK_CHECK_TESTS])
{
    double last = 0;
    size_t left = 0;
    bool done[SK_CHECK_TESTS] = {false};
    for (int i = 0; i < SK_CHECK_TESTS; i++) left += test[i].valid != 0;
    for (; left > 0; left--) {
        int least = -1;
        for (int i = 0; i < SK_CHECK_TESTS; i++)
            if (test[i].valid && !done[i] && (least < 0 || test[i].p < test[least].p)) least = i;
        last = fmax(last, fmin((double)left * test[least].p, 1));
        test[least].p_adjusted = last;
        done[least] = true;
    }
}

void sk_check_decide(double alpha, sock_check_test test[SK_CHECK_TESTS])
{
    adjust(test);
    for (int i = 0; i < SK_CHECK_TESTS; i++) {
        const bool certain = test[i].valid && test[i].p_adjusted < alpha;
        const bool matters = fabs(test[i].effect) >= test[i].effect_least;
        test[i].objects = certain && matters;
        test[i].remark = certain && !matters;
    }
}

/* ---- Patterns ---- */

typedef struct scene {
    const sock_model *model;
    const sk_check_facts *facts;
    const sock_check_test *test;
} scene;

/* Whoever asks knows the names. */
static const sock_check_test *find(const scene *s, const char *name)
{
    int i = 0;
    while (i + 1 < SK_CHECK_TESTS && strcmp(s->test[i].name, name) != 0) i++;
    return &s->test[i];
}

static bool objects(const scene *s, const char *name) { return find(s, name)->objects != 0; }

static size_t objections(const scene *s)
{
    size_t count = 0;
    for (int i = 0; i < SK_CHECK_TESTS; i++) count += s->test[i].objects != 0;
    return count;
}

/* How surprising an objection is; what numbers cannot tell apart is alike. */
static double surprise(const sock_check_test *t)
{
    return t->objects ? -log(fmax(fmin(t->p_adjusted, 1), SK_CHECK_LEAST_P)) : 0;
}

/* Whether one of these tests is among the strongest objections: a weak one is not the headline beside a strong one,
 * whatever else it fits. */
static bool speaks(const scene *s, const char *names)
{
    double most = 0, own = 0;
    for (int i = 0; i < SK_CHECK_TESTS; i++) {
        const double value = surprise(&s->test[i]);
        most = fmax(most, value);
        if (strstr(names, s->test[i].name)) own = fmax(own, value);
    }
    return own >= SK_CHECK_SPEAKS * most;
}

static bool was_run(const scene *s)
{
    for (int i = 0; i < SK_CHECK_TESTS; i++)
        if (s->test[i].valid) return true;
    return false;
}

/* A fit that followed them through has f and a of the process, however long they are. */
static bool steps_are_long(const scene *s) { return !s->facts->flow && s->facts->long_step > SK_CHECK_LONG; }

static bool is_few(const scene *s) { return !was_run(s); }
static bool is_good(const scene *s) { return !objections(s) && !steps_are_long(s); }
static bool is_good_of_few(const scene *s) { return is_good(s) && s->facts->steps < SK_CHECK_FEW; }
static bool is_long_of_few(const scene *s) { return !objections(s) && s->facts->steps < SK_CHECK_FEW; }

/* Tests look at steps, one or four at a time: whole paths may go elsewhere. */
static bool run_off(const scene *s)
{
    return was_run(s) && !objections(s) && s->facts->exit_share[1] >= SK_CHECK_RUN_OFF;
}
static bool is_elsewhere(const scene *s)
{
    return was_run(s) && !objections(s) && s->facts->exit_share[0] > SK_CHECK_EXITS;
}
static bool is_good_and_long(const scene *s) { return !objections(s); }
/* How much a test explains where it objects. */
static double weight(const scene *s, const char *name)
{
    const double effect = objects(s, name) ? find(s, name)->effect : 0;
    return strcmp(name, "memory") == 0 ? effect * effect : effect;
}

/* Fields that are too stiff leave memory, cycles and trends behind, too: the larger effect has the word. */
static bool leads(const scene *s, const char *name)
{
    return objects(s, name) && weight(s, name) >= fmax(weight(s, "drift"), weight(s, "diffusion"));
}

static bool is_angle(const scene *s) { return s->facts->angle > 0; }

static bool is_season(const scene *s) { return s->facts->period > 0 && leads(s, "cycles"); }

/* A velocity that is no state makes residuals go on; it may look like a cycle, a trend or long steps as well. A season
 * is smooth, too: it says more of distant residuals than neighbours say of each other. */
static bool is_inertia(const scene *s)
{
    return s->facts->second && objects(s, "memory") && find(s, "memory")->effect > 0 &&
           !(is_season(s) && weight(s, "cycles") > weight(s, "memory"));
}

static bool is_trend(const scene *s) { return leads(s, "time") && weight(s, "time") > weight(s, "memory"); }

/* What long steps do to f and a shrinks the steps of the model's own simulations, over four steps once more. */
static bool is_long(const scene *s)
{
    const bool shrunk = objects(s, "scale") && objects(s, "drift") && objects(s, "horizon") &&
                        find(s, "scale")->effect < 0 && find(s, "horizon")->effect < 0;
    return steps_are_long(s) || (shrunk && !s->facts->flow && s->facts->long_step > SK_CHECK_RATHER_LONG);
}

static bool is_noise(const scene *s)
{
    return leads(s, "memory") && find(s, "memory")->effect < 0 && !(find(s, "horizon")->effect > SK_CHECK_RATIO);
}

/* Noise that the model knows of, or that was looked for and gained nothing, is not named as if it were new. */
static bool is_more_noise(const scene *s) { return is_noise(s) && s->model->structure->noise; }
static bool is_like_noise(const scene *s) { return is_noise(s) && s->facts->noise_sought; }

/* Of order 2 velocities are followed, and the noise is not in units of a step. */
static bool is_second(const scene *s) { return s->model->structure->order == 2; }
static bool is_second_noise(const scene *s)
{
    return is_second(s) && is_noise(s) && !s->model->structure->noise && !s->facts->noise_sought;
}
static bool is_second_more_noise(const scene *s) { return is_second(s) && is_noise(s); }

static bool is_memory(const scene *s)
{
    return leads(s, "memory") && find(s, "memory")->effect > 0 && !(find(s, "horizon")->effect < -SK_CHECK_RATIO);
}

static bool is_second_memory(const scene *s) { return is_second(s) && is_memory(s); }

/* An a that varies more than the model's makes heavy tails, too. */
static bool is_jumps(const scene *s)
{
    return objects(s, "distribution") && !(objects(s, "diffusion") && speaks(s, "diffusion")) && s->facts->wild > 0 &&
           s->facts->tails > SK_CHECK_TAILS;
}

/* Loud and quiet times make heavy tails of their own. */
static bool is_bursts(const scene *s) { return is_jumps(s) && objects(s, "volatility"); }

static bool is_drift(const scene *s) { return objects(s, "drift"); }
static bool is_diffusion(const scene *s) { return objects(s, "diffusion"); }
static bool is_volatility(const scene *s) { return objects(s, "volatility"); }
/* Trajectories with set points of their own look like noise, memory or something slow, by what the fit makes of them;
 * only memory from step to step says more of neighbours than of all that a trajectory was. */
static bool is_apart(const scene *s)
{
    return s->facts->apart && objects(s, "cycles") && surprise(find(s, "cycles")) > surprise(find(s, "memory"));
}

static bool is_slow(const scene *s) { return objects(s, "cycles"); }
static bool is_shape(const scene *s) { return objects(s, "distribution"); }
static bool is_scale(const scene *s) { return objects(s, "scale"); }
static bool is_other(const scene *s)
{
    (void)s;
    return true;
}

/* ---- Sentences ---- */

/* Percent by which noise makes a too large: with R = -r h a of the fitted a, the true one is a - 2 R / h. */
static double inflation(double r) { return r < 0 && r > -0.5 ? -200 * r / (1 + 2 * r) : 0; }

/* What the placeholders of a sentence stand for. */
static void put_number(char *out, size_t size, double value) { snprintf(out, size, "%.3g", value); }

static void put_time(char *out, size_t size, const sk_check_facts *f)
{
    char text[SK_DATE_ROOM];
    sk_time_text(f->unit, f->wild_time, text);
    snprintf(out, size, "%s", text);
}

static void put_steps(char *out, size_t size, const sk_check_facts *f)
{
    if (f->steps < f->all_steps)
        snprintf(out, size, "%zu of %zu steps", f->steps, f->all_steps);
    else
        snprintf(out, size, "%zu steps", f->steps);
}

/* Bytes of a name that are shown, whole characters of UTF-8. */
static int shown(const char *text)
{
    size_t length = SK_MIN(strlen(text), (size_t)40);
    while (length && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
    return (int)length;
}

/* A state, or from d on an input. */
static void put_name(char *out, size_t size, const scene *s, size_t k)
{
    const sk_structure *about = s->model->structure;
    const char *name = k < about->d ? about->state[k] : about->input[k - about->d].name;
    snprintf(out, size, "%.*s", shown(name), name);
}

/* "12 months" of the calendar, "9.6 years" where times were dates, else a number. */
static void put_period(char *out, size_t size, const sk_check_facts *f)
{
    if (f->season)
        snprintf(out, size, "%s", f->season);
    else if (f->unit)
        snprintf(out, size, "%.3g %ss", f->period, f->unit);
    else
        put_number(out, size, f->period);
}

static void put_change(char *out, size_t size, const scene *s)
{
    static const struct {
        const char *before, *down, *up;
    } says[] = {
        [SK_CHANGE_TREND] = {"a trend, steps of ", " are above the model early and below it late",
                             " are below the model early and above it late"},
        [SK_CHANGE_BEND] = {"residuals of ", " go down and come back", " go up and come back"},
        [SK_CHANGE_NOISE] = {"the noise of ", " is loud early and quiet late", " is quiet early and loud late"},
    };
    const sk_check_facts *f = s->facts;
    char name[200];
    put_name(name, sizeof name, s, f->change_state);
    snprintf(out, size, "%s%s%s", says[f->change].before, name,
             f->change_up ? says[f->change].up : says[f->change].down);
}

/* {N}: steps, {n}: name of the state where lag 1 is largest, {g}: the angle, {R}: noise, {W}: wild steps, {t}: time of
 * the first, {P}: period, {J}: h |J|, {f} {x} {v}: f misses a dependence of state f on x, most at v; {a} {y} {w}: the
 * same of a; {s}: scale, {C}: how the law changes over time, {L}: a quick look, {T}: the tests that object. */
/* An advice goes on with "dd ...". */
static void put_named(char *out, size_t size, bool named, const char *option)
{
    if (named)
        snprintf(out, size, "Leave the kernels to the search, without %s; else a", option);
    else
        snprintf(out, size, "A");
}

static void put_tests_made(char *out, size_t size, const scene *s)
{
    int made = 0;
    for (int i = 0; i < SK_CHECK_TESTS; i++) made += s->test[i].valid != 0;
    snprintf(out, size, "%d", made);
}

static void put_placeholder(char *out, size_t size, const scene *s, char what)
{
    const sk_check_facts *f = s->facts;
    switch (what) {
    case 'N': put_steps(out, size, f); break;
    case 'n': put_name(out, size, s, f->lag1_state); break;
    case 'g': put_name(out, size, s, f->angle - 1); break;
    case 'R': put_number(out, size, f->noise); break;
    case 'A': put_number(out, size, inflation(f->lag1)); break;
    case 'W': snprintf(out, size, "%zu", f->wild); break;
    case 't': put_time(out, size, f); break;
    case 'C': put_change(out, size, s); break;
    case 'P': put_period(out, size, f); break;
    case 'J': put_number(out, size, f->long_step); break;
    case 'f': put_name(out, size, s, f->drift.state); break;
    case 'x': put_name(out, size, s, f->drift.of); break;
    case 'v': put_number(out, size, f->drift.at); break;
    case 'a': put_name(out, size, s, f->diffusion.state); break;
    case 'y': put_name(out, size, s, f->diffusion.of); break;
    case 'w': put_number(out, size, f->diffusion.at); break;
    case 's': put_number(out, size, f->scale); break;
    case 'L': snprintf(out, size, "%s", f->quick ? " at a quick look" : ""); break;
    case 'M': put_tests_made(out, size, s); break;
    case 'E': snprintf(out, size, "%.0f", 100 * f->exit_share[0]); break;
    case 'D': put_named(out, size, f->drift_named, "--drift"); break;
    case 'Q': put_named(out, size, f->diffusion_named, "--diffusion"); break;
    default:
        for (int i = 0, first = 1; i < SK_CHECK_TESTS; i++) {
            if (!s->test[i].objects) continue;
            const size_t used = strlen(out);
            snprintf(out + used, size - used, "%s%s", first ? "" : ", ", s->test[i].name);
            first = 0;
        }
    }
}

static void tell_left_out(const sk_check_facts *f, char *out)
{
    const size_t used = strlen(out);
    if (f->left_out)
        snprintf(out + used, SOCK_VERDICT_SIZE - used, " Left out: %zu wild step%s.", f->left_out,
                 f->left_out == 1 ? "" : "s");
}

/* Objections that the headline does not tell of. */
static void tell_others(const scene *s, const char *told, char *out)
{
    bool first = true;
    for (int i = 0; i < SK_CHECK_TESTS; i++) {
        const size_t used = strlen(out);
        if (!s->test[i].objects || strstr(told, s->test[i].name)) continue;
        snprintf(out + used, SOCK_VERDICT_SIZE - used, "%s%s", first ? " Other tests object, too: " : ", ",
                 s->test[i].name);
        first = false;
    }
    const size_t used = strlen(out);
    if (!first) snprintf(out + used, SOCK_VERDICT_SIZE - used, ".");
}

/* Memory within trajectories and differences between them look alike at lag 1; how much is in their means is told. */
static void tell_between(const scene *s, char *out)
{
    const size_t used = strlen(out);
    if (objects(s, "memory") && s->facts->between >= SK_CHECK_BETWEEN)
        snprintf(
            out + used, SOCK_VERDICT_SIZE - used,
            " %.0f %% of the correlation of neighbouring residuals is in the means of trajectories: these may not be "
            "alike.",
            100 * fmin(s->facts->between, 1));
}

/* "horizon" alone does not say which way. */
static void tell_horizon(const scene *s, char *out)
{
    const size_t used = strlen(out);
    const double effect = find(s, "horizon")->effect;
    if (objects(s, "horizon"))
        snprintf(out + used, SOCK_VERDICT_SIZE - used,
                 " Several steps together move it %s than single ones let expect: their mean square is %.0f %% %s.",
                 effect < 0 ? "less" : "more", 100 * fabs(effect), effect < 0 ? "smaller" : "larger");
}

static void tell_off(const sk_check_facts *f, char *out)
{
    const size_t used = strlen(out);
    if (f->exit_share[1] > 0)
        snprintf(out + used, SOCK_VERDICT_SIZE - used,
                 " %.0f %% of simulated paths run off, beyond %g times the range of the data.", 100 * f->exit_share[1],
                 (double)SK_CHECK_OFF);
}

static void fill(char *out, const char *text, const scene *s)
{
    size_t used = 0;
    for (; *text && used + 1 < SOCK_VERDICT_SIZE; text++) {
        char word[200] = "";
        if (text[0] != '{' || !text[1] || text[2] != '}') {
            out[used++] = *text;
            continue;
        }
        put_placeholder(word, sizeof word, s, text[1]);
        const size_t length = SK_MIN(strlen(word), SOCK_VERDICT_SIZE - 1 - used);
        memcpy(out + used, word, length);
        used += length;
        text += 2;
    }
    out[used] = 0;
}

/* ---- The table ---- */

static const struct {
    const char *pattern;
    bool (*fits)(const scene *s);
    const char *tests; /* what it tells of or explains, one of which must be among the strongest; "": it speaks anyway.
                        * Noise of measurement makes steps larger, and four of them not so much */
    const char *sentence, *advice;
} table[] = {
    {"few", is_few, "", "Nothing can be said: {N} are too few to test a model by.", ""},
    {"paths", run_off, "",
     "Single steps look right, none of {M} tests objects over {N}; but the model's own paths do not stay with the "
     "data.",
     "Use the model for single steps, not for paths; fit longer data, or name bounds (--lower, --upper)."},
    {"paths", is_elsewhere, "",
     "Single steps look right, none of {M} tests objects over {N}; but {E} % of the model's own paths leave the range "
     "of "
     "the data, widened by half on each side.",
     "Use the model for single steps, not for paths; fit longer data, or name bounds (--lower, --upper)."},
    {"none-few", is_good_of_few, "", "No objection, but {N} are few: even a large error of the model need not show.",
     ""},
    {"none-few", is_long_of_few, "",
     "No objection, but {N} are few: even a large error of the model need not show; steps are long for this system (h "
     "|f'| "
     "= {J}), so f and a are those of the sampled process.",
     ""},
    {"none", is_good, "", "No objection{L}: none of {M} tests objects, over {N}.", ""},
    {"none-long", is_good_and_long, "",
     "No objection{L}: none of {M} tests objects, over {N}; steps are long for this system (h |f'| = {J}), so f and a "
     "are "
     "those of the sampled process.",
     ""},
    {"angle", is_angle, "",
     "{g} goes from one end of its range to the other in single steps, as an angle does that is cut at a full turn, or "
     "a "
     "counter that is reset: these are no steps of a diffusion.",
     "Join the turns, or take cosine and sine as states, and fit again."},
    {"inertia", is_inertia, "memory",
     "Neighbouring residuals go the same way, and increments go on smoothly in a way that the states do not tell: {n} "
     "looks like a position of second order, whose velocity was not observed.",
     "Fit with --order 2."},
    {"season", is_season, "cycles",
     "The residuals come and go with a period of {P}: a season, or a cycle that the states do not hold.",
     "Add states that follow it; where it comes from outside, take it out of the data."},
    {"time", is_trend, "time", "The law changes over time: {C}.",
     "Fit pieces of the time apart, take the trend out, or add what drives it as a state."},
    {"subjects", is_apart, "cycles",
     "Trajectories differ by more than chance: what one was so far tells its next steps beyond its state, as set "
     "points "
     "of their own would.",
     "Add a column that tells them apart as an input (--input), or fit each by itself; a slow state that is missing "
     "looks alike. Noise and memory that were found may be these differences."},
    {"long-steps", is_long, "",
     "Steps are long for this system (h |f'| = {J}): f and a are those of the sampled process, and do not tell what "
     "happens "
     "within a step ({T}).",
     "Use the model for such steps only, or sample more often."},
    {"noise", is_second_noise, "memory scale horizon",
     "Neighbouring innovations of {n} cancel, as measurement noise would make them.",
     "Fit with --order 2 --noise diag, which tells such noise from diffusion."},
    {"noise-more", is_second_more_noise, "memory scale horizon",
     "Neighbouring innovations of {n} cancel more than the model makes them: noise that depends on the state or on the "
     "noise before, or steps that the velocity does not survive.",
     "Thin the data (every second or fourth point) and fit again, with --order 1 too."},
    {"memory", is_second_memory, "memory",
     "Neighbouring innovations of {n} go the same way: there is memory beyond the velocity, by a hidden variable or a "
     "force that is known in time.",
     "Add what is missing as a state of order 1, or thin the data until the memory is gone."},
    {"noise-more", is_more_noise, "memory scale horizon",
     "Neighbouring residuals cancel more than the measurement noise of the model makes them: noise that depends on the "
     "state, or on "
     "the noise before.",
     "Fit with --noise full, or thin the data (every second or fourth point) and fit again."},
    {"noise-like", is_like_noise, "memory scale horizon",
     "Neighbouring residuals of {n} cancel, as measurement noise of a standard deviation of about {R} would make them; "
     "but a "
     "model with such noise predicted no better when this one was fitted.",
     "Thin the data (every second or fourth point) and fit again; compare with a fit with --noise diag."},
    {"noise", is_noise, "memory scale horizon",
     "Neighbouring residuals cancel: measurement noise, of a standard deviation of about {R} in {n}; a is too large by "
     "about "
     "{A} %.",
     "Fit with --noise diag, which tells such noise from diffusion."},
    {"memory", is_memory, "memory",
     "Neighbouring residuals go the same way: the state has memory, by a hidden variable, or because {n} is the "
     "position of "
     "something with inertia.",
     "Add what is missing as a state (for a position its velocity), or thin the data until the memory is gone."},
    {"bursts", is_bursts, "distribution volatility",
     "Steps have heavier tails than the model makes, {W} of them beyond 5 standard deviations (first at time {t}), and "
     "large ones "
     "stand together: the noise is now loud, now quiet, in a way that the states do not tell.",
     "Add what the noise depends on as a state; f and its errors hold as means over loud and quiet times."},
    {"jumps", is_jumps, "distribution",
     "Steps have heavier tails than the model makes: jumps or outliers, {W} of them beyond 5 standard deviations "
     "(first "
     "at time {t}).",
     "Look at these steps; leave outliers out, cut trajectories at jumps."},
    {"drift", is_drift, "drift", "f of {f} misses a dependence on {x}, most near {x} = {v}.",
     "{D}dd a state that f lacks, or more data."},
    {"diffusion", is_diffusion, "diffusion", "a of {a} misses a dependence on {y}, most near {y} = {w}.",
     "{Q}dd a state that a lacks, or more data."},
    {"volatility", is_volatility, "volatility",
     "The noise is now loud, now quiet, in a way that the states do not tell.",
     "Add what the noise depends on as a state."},
    {"slow", is_slow, "cycles",
     "Residuals some steps apart are correlated: something slow that the states do not hold.",
     "Take slow cycles out of the data, or add what drives them as a state."},
    {"shape", is_shape, "distribution", "Steps are distributed in another way than the model's own.",
     "Look for outliers, counted or rounded values and bounds of the states."},
    {"scale", is_scale, "scale",
     "Steps are not as large as the model says: their mean square is {s} of what it should be.",
     "Look for other units, gaps in time, or data of another process."},
    {"other", is_other, "", "The data do not look like the model's own simulations ({T}).",
     "Look at the tests one by one."},
};

void sk_check_verdict(const sock_model *model, const sk_check_facts *facts, const sock_check_test test[SK_CHECK_TESTS],
                      sock_checks *out)
{
    const scene s = {model, facts, test};
    size_t row = 0;
    while (!table[row].fits(&s) || (table[row].tests[0] && !speaks(&s, table[row].tests))) row++;
    out->ok = objections(&s) == 0 && !is_elsewhere(&s) && !run_off(&s);
    snprintf(out->pattern, sizeof out->pattern, "%s", table[row].pattern);
    fill(out->verdict, table[row].sentence, &s);
    if (table[row].tests[0]) tell_others(&s, table[row].tests, out->verdict);
    tell_horizon(&s, out->verdict);
    tell_between(&s, out->verdict);
    tell_off(facts, out->verdict);
    tell_left_out(facts, out->verdict);
    fill(out->advice, table[row].advice, &s);
}

/* A few of them at a quick look, and all where many of these leave or one runs off; what a few say is not told. A check
 * that is whole but for its paths is whole. */
static sock_status look_at_paths(sock_context *ctx, const sock_model *model, const sock_data *data,
                                 const sk_check_spec *spec, bool quick, double share[2])
{
    const size_t paths = spec->draws || quick ? spec->exits : SK_CHECK_EXIT_PATHS;
    if (!paths) return SOCK_OK;
    SK_TRY(sk_check_exits(ctx, model, data, spec, paths, share));
    if (paths >= SK_CHECK_EXIT_PATHS) return SOCK_OK;
    if (sk_check_asks_all_paths(share)) return sk_check_exits(ctx, model, data, spec, SK_CHECK_EXIT_PATHS, share);
    share[0] = share[1] = (double)NAN;
    return SOCK_OK;
}

sock_status sk_check(sock_context *ctx, const sock_model *model, const sock_data *data, const sk_check_spec *spec,
                     sock_checks *out)
{
    const double start = sk_seconds();
    sock_checks made = {0};
    sk_check_facts facts;
    SK_TRY(sk_check_battery(ctx, model, data, spec, made.test, &facts));
    SK_TRY(look_at_paths(ctx, model, data, spec, facts.quick, facts.exit_share));
    sk_check_decide(spec->alpha, made.test);
    sk_check_verdict(model, &facts, made.test, &made);
    made.steps = facts.steps;
    made.all_steps = facts.all_steps;
    made.draws = facts.draws;
    made.lost = facts.lost;
    made.alpha = facts.alpha;
    made.lag1 = facts.lag1;
    made.variance_ratio = facts.variance_ratio;
    made.scale = facts.scale;
    made.long_step = facts.long_step;
    made.period = facts.period;
    made.exit_share = facts.exit_share[0];
    made.seconds = sk_seconds() - start;
    *out = made;
    return SOCK_OK;
}
