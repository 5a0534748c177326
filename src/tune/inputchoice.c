/* inputchoice.c - see inputchoice.h.
 *
 *   1. A pilot model without inputs, for weights and nodes: with all of them it may be wild where rows are few.
 *   2. Drift: the score without inputs; the input with the largest gain joins while it is clear (sk_input_joins). A
 * score is the best of learned polynomials of degree 1, 2, 3 in the states and the inputs that have joined.
 *   3. Diffusion: the same on what the best drift of 2 leaves, with features of degree 0, 1, 2, each with its best
 *      floor: an a that is almost zero in a few places would be judged by these alone.
 *   4. Where a needs inputs, 2 and 3 once more under the model that they gave.
 *
 * Cost: at most m^2 / 2 rounds of a few small fits for each field. */
#include "tune/inputchoice.h"

#include <math.h>
#include <string.h>

/* ---- Holds ---- */

sk_hold sk_usual_hold(size_t changes, size_t steps)
{
    return (double)changes < SK_INPUT_JUMPS * (double)steps || !changes ? SK_HOLD_PREVIOUS : SK_HOLD_LINEAR;
}

sk_hold sk_choose_hold(const sock_data *data, size_t k, const char *option)
{
    const size_t m = data->inputs;
    size_t steps = 0, changes = 0;
    if (data->timed && k + 1 == m) return SK_HOLD_TIME;
    if (strcmp(option, "auto") != 0) return strcmp(option, "linear") == 0 ? SK_HOLD_LINEAR : SK_HOLD_PREVIOUS;
    for (size_t j = 0; j < data->trajectories; j++)
        for (size_t i = data->first[j]; i + 1 < data->first[j + 1]; i++, steps++)
            changes += data->u[(i + 1) * m + k] != data->u[i * m + k];
    return sk_usual_hold(changes, steps);
}

/* ---- Inputs that nothing can be learned from ---- */

/* A column of a data set. */
typedef struct column {
    const double *value;
    size_t stride;
    const char *name;
} column;

static column column_of(const sock_data *data, size_t k)
{
    if (k < data->d) return (column){data->x + k, data->d, data->state[k]};
    return (column){data->u + (k - data->d), data->inputs, data->input[k - data->d]};
}

static double correlation(size_t n, column one, column other)
{
    double mean[2] = {0}, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mean[0] += one.value[i * one.stride] / (double)n;
        mean[1] += other.value[i * other.stride] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        const double x = one.value[i * one.stride] - mean[0], y = other.value[i * other.stride] - mean[1];
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx) / sqrt(yy) : 0;
}

static sock_status check_input(sock_context *ctx, const sock_data *data, size_t k)
{
    const column own = column_of(data, data->d + k);
    bool moves = false;
    for (size_t i = 1; i < data->points; i++) moves = moves || own.value[i * own.stride] != own.value[0];
    if (!moves)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: the input %s is %.6g everywhere: nothing can be learned of it; leave it out", data->source,
                       own.name, own.value[0]);
    for (size_t l = 0; l < data->d + k; l++) {
        const column other = column_of(data, l);
        const double r = correlation(data->points, own, other);
        if (fabs(r) > SK_INPUT_COPY)
            return sk_fail(ctx, SOCK_EINPUT, "%s: the input %s is a copy of %s (correlation %.6f): leave it out",
                           data->source, own.name, other.name, r);
    }
    return SOCK_OK;
}

/* How many trajectories go on through a time. */
static size_t spans(const sock_data *data, double time)
{
    size_t count = 0;
    for (size_t j = 0; j < data->trajectories; j++)
        count += data->t[data->first[j]] < time && time < data->t[data->first[j + 1] - 1];
    return count;
}

/* Held-out pieces of one long trajectory would be judged by what lies beyond their times. */
static sock_status check_time(sock_context *ctx, const sock_data *data)
{
    size_t most = 0;
    for (size_t j = 0; j < data->trajectories && most < SK_FEW_TRAJECTORIES; j++)
        most = SK_MAX(most, spans(data, 0.5 * (data->t[data->first[j]] + data->t[data->first[j + 1] - 1])));
    if (most >= SK_FEW_TRAJECTORIES) return SOCK_OK;
    return sk_fail(ctx, SOCK_EINPUT,
                   "%s: time-dependent needs at least %d trajectories over the same times: what depends on the time "
                   "cannot be told from what happened once",
                   data->source, SK_FEW_TRAJECTORIES);
}

sock_status sk_inputs_check(sock_context *ctx, const sock_data *data)
{
    for (size_t k = 0; k < data->inputs; k++) SK_TRY(check_input(ctx, data, k));
    return data->timed ? check_time(ctx, data) : SOCK_OK;
}

/* No value but two. */
static bool is_two_valued(const sock_data *data, size_t k)
{
    const column own = column_of(data, data->d + k);
    double other = own.value[0];
    for (size_t i = 1; i < data->points; i++) {
        const double value = own.value[i * own.stride];
        if (value == own.value[0] || value == other) continue;
        if (other != own.value[0]) return false;
        other = value;
    }
    return true;
}

/* ---- Memory ---- */

void sk_inputs_clear(sk_inputs *inputs)
{
    sk_free(inputs->hold);
    sk_free(inputs->flat);
    sk_free(inputs->f);
    sk_free(inputs->a);
    *inputs = (sk_inputs){0};
}

static sock_status begin(sock_context *ctx, const sk_tune_spec *spec, sk_inputs *out)
{
    const size_t m = spec->data->inputs;
    *out = (sk_inputs){.count = m,
                       .hold = sk_alloc(ctx, m, sizeof *out->hold),
                       .flat = sk_alloc(ctx, m, sizeof *out->flat),
                       .f = sk_alloc(ctx, m, sizeof *out->f),
                       .a = sk_alloc(ctx, m, sizeof *out->a)};
    if (!out->hold || !out->flat || !out->f || !out->a) return SOCK_ENOMEM;
    for (size_t k = 0; k < m; k++) {
        out->hold[k] = sk_choose_hold(spec->data, k, spec->hold);
        out->flat[k] = is_two_valued(spec->data, k);
    }
    return SOCK_OK;
}

static sock_status tell(sock_context *ctx, const sock_data *data, const sk_inputs *inputs, sk_inputs_told *told)
{
    static const char *const hold[] = {"previous", "linear", "time"};
    told->input = sk_alloc(ctx, inputs->count, sizeof *told->input);
    if (!told->input) return SOCK_ENOMEM;
    for (; told->count < inputs->count; told->count++) {
        const size_t k = told->count;
        sk_input_told *one = &told->input[k];
        *one = (sk_input_told){.gain_f = (double)NAN, .gain_a = (double)NAN};
        one->name = sk_strdup(ctx, data->input[k]);
        one->hold = one->name ? sk_strdup(ctx, hold[inputs->hold[k]]) : NULL;
        if (!one->hold) {
            sk_free(one->name);
            return SOCK_ENOMEM;
        }
    }
    return SOCK_OK;
}

static bool is_needed(const sk_inputs *inputs, size_t k) { return inputs->f[k] || inputs->a[k]; }

sock_status sk_inputs_part(sock_context *ctx, const sock_data *data, const sk_inputs *inputs, sock_data **part)
{
    bool *use = sk_alloc(ctx, inputs->count, sizeof *use);
    for (size_t k = 0; use && k < inputs->count; k++) use[k] = is_needed(inputs, k);
    const sock_status status = use ? sk_data_keep_inputs(ctx, data, use, part) : SOCK_ENOMEM;
    sk_free(use);
    return status;
}

void sk_inputs_shrink(sk_inputs *inputs)
{
    size_t kept = 0;
    for (size_t k = 0; k < inputs->count; k++) {
        if (!is_needed(inputs, k)) continue;
        inputs->hold[kept] = inputs->hold[k];
        inputs->flat[kept] = inputs->flat[k];
        inputs->f[kept] = inputs->f[k];
        inputs->a[kept++] = inputs->a[k];
    }
    inputs->count = kept;
}

/* ---- Selection ---- */

bool sk_input_joins(double gain, double error) { return gain > fmax(SK_INPUT_GAIN, SK_INPUT_ERRORS * error); }

/* What one field is tried by. */
typedef struct attempt {
    sk_search *s;
    sk_field field;
    const sk_views *views;
    const sk_remains *remains; /* of a diffusion */
    const bool *flat;
    bool *use;       /* those that have joined, */
    double *gain;    /* and what each gained, or would */
    sk_trial **best; /* the best trial with them */
} attempt;

static const char *const drift_kernels[] = {"affine", "poly:degree=2", "poly:degree=3"};
static const char *const diffusion_kernels[] = {"constant", "affine", "poly:degree=2"};
enum { KERNELS = 3 };

static sock_status try_drift(const attempt *t, const sk_candidate *c, sk_trial **out)
{
    return sk_try_drift(t->s->ctx, t->views, c, t->s->rows->folds, out);
}

static sock_status try_diffusion(const attempt *t, const sk_candidate *c, sk_trial **out)
{
    const sk_diffusion_options options = {.folds = t->s->rows->folds,
                                          .l = sk_constant_grid.l,
                                          .lambdas = sk_constant_grid.count,
                                          .tolerance = sk_search_tolerance(t->s, SK_ROUGH),
                                          .solve_all = true};
    return sk_try_diffusion(t->s->ctx, t->remains, c, &options, out);
}

/* The score of one kernel over the states and the inputs in use; -infinity where it cannot be fitted or has too many
 * features. The trial goes to *best if it is better than *score. */
static sock_status try_kernel(const attempt *t, const char *text, sk_trial **best, double *score)
{
    const sk_transitions *rows = t->s->rows;
    const bool drift = t->field == SK_DRIFT;
    sk_candidate c = {.field = t->field,
                      .learned = drift,
                      .own_zero = drift,
                      .diagonal = !drift && rows->d > 1,
                      .use = t->use,
                      .flat = t->flat};
    sk_trial *made = NULL;
    sock_status status = sk_kernel_parse(t->s->ctx, "input", text, &c.kernel);
    if (status >= 0) c.name = sk_strdup(t->s->ctx, text);
    const size_t most = drift ? SK_DRIFT_FEATURES : SK_DIFFUSION_FEATURES;
    const bool small = status >= 0 && sk_kernel_features(c.kernel, rows->in, most) <= (double)most;
    if (small) status = c.name ? (drift ? try_drift : try_diffusion)(t, &c, &made) : SOCK_ENOMEM;
    double found = made ? made->score : -(double)INFINITY;
    if (status >= 0 && made && !drift) /* its scores by cluster become those with the floor */
        status = sk_floored_clusters(t->s, t->remains, made, &found, made->cluster);
    if (status >= 0 && made && found > *score) {
        *score = found;
        sk_replace(best, made);
        made = NULL;
    }
    sk_trial_free(made);
    sk_candidate_clear(&c);
    return sk_tolerate(status);
}

static sock_status try_all(const attempt *t, sk_trial **best, double *score)
{
    const char *const *kernels = t->field == SK_DRIFT ? drift_kernels : diffusion_kernels;
    *score = -(double)INFINITY;
    for (size_t i = 0; i < KERNELS; i++) SK_TRY(try_kernel(t, kernels[i], best, score));
    return SOCK_OK;
}

/* The gain of every input that has not joined; *next: the best of them, or m; *error: the paired error of its gain. */
static sock_status try_each(const attempt *t, double current, size_t m, size_t *next, double *error)
{
    const size_t clusters = t->s->rows->clusters;
    *next = m;
    for (size_t k = 0; k < m; k++) {
        double score;
        sk_trial *one = NULL;
        if (t->use[k]) continue;
        t->use[k] = true;
        sock_status status = try_all(t, &one, &score);
        t->use[k] = false;
        t->gain[k] = score - current;
        if (one && (*next == m || t->gain[k] > t->gain[*next])) {
            *next = k;
            *error = sk_paired_error(clusters, one->cluster, (*t->best)->cluster);
        }
        sk_trial_free(one);
        if (status < 0) return status;
    }
    return SOCK_OK;
}

static sock_status select_inputs(const attempt *t, size_t m)
{
    double current, error = 0;
    size_t next = 0;
    SK_TRY(try_all(t, t->best, &current));
    if (!isfinite(current)) return sk_fail(t->s->ctx, SOCK_ENUMERIC, "no field could be fitted to choose inputs by");
    while (next < m) {
        SK_TRY(sk_progress(t->s->ctx, "inputs", -1));
        SK_TRY(try_each(t, current, m, &next, &error));
        if (next == m || !sk_input_joins(t->gain[next], error)) return SOCK_OK;
        t->use[next] = true;
        SK_TRY(try_all(t, t->best, &current));
    }
    return SOCK_OK;
}

/* One field; the inputs that it needs, gains, and its best trial. */
static sock_status select_field(attempt *t, size_t m, sk_field field, bool *use, double *gain, sk_trial **best)
{
    t->field = field;
    t->use = use;
    t->gain = gain;
    t->best = best;
    sk_replace(best, NULL);
    memset(use, 0, m * sizeof *use);
    return select_inputs(t, m);
}

/* Both fields under the current model, which is then that of the best of both. gain: m of f, then m of a. */
static sock_status select_both(sk_search *s, sk_inputs *out, double *gain)
{
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    sk_trial *f = NULL, *a = NULL;
    sock_model *model = NULL;
    sock_status status;
    attempt t = {.s = s, .flat = out->flat};
    SK_GO(sk_search_views(s, s->rows, s->model, s->model_diagonal, &views));
    t.views = views;
    SK_GO(select_field(&t, out->count, SK_DRIFT, out->f, gain, &f));
    SK_GO(sk_search_remains(s, views, &f, &remains));
    t.remains = remains;
    SK_GO(select_field(&t, out->count, SK_DIFFUSION, out->a, gain + out->count, &a));
    SK_GO(sk_model_of_two(s, f, a, &model));
    sk_search_take_model(s, model, a->diagonal);
out:
    sk_remains_free(remains);
    sk_views_free(views);
    sk_trial_free(f);
    sk_trial_free(a);
    return status;
}

static bool any(size_t count, const bool *flag)
{
    while (count && !flag[count - 1]) count--;
    return count;
}

/* Under a pilot without inputs; once more under what that found, where a needs some: rows are weighted by a, and what
 * is small beside the noise of other rows may be clear among its own. */
static sock_status select_twice(sk_search *s, sk_inputs *out, double *gain)
{
    SK_TRY(sk_stage_pilot(s, &sk_stages[0]));
    SK_TRY(select_both(s, out, gain));
    return any(out->count, out->a) ? select_both(s, out, gain) : SOCK_OK;
}

sock_status sk_choose_inputs(sock_context *ctx, const sk_tune_spec *spec, sk_inputs *out, sk_inputs_told *told)
{
    const size_t m = spec->data->inputs;
    sk_tune_spec all = *spec;
    sk_tune_outcome scratch = {0};
    sk_search *s = NULL;
    double *gain = sk_doubles(ctx, 2, m);
    sock_status status = gain ? SOCK_OK : SOCK_ENOMEM;
    SK_GO(status);
    SK_GO(begin(ctx, spec, out));
    SK_GO(tell(ctx, spec->data, out, told));
    all.inputs = out;
    SK_GO(sk_search_new(ctx, &all, &scratch, &s));
    if (sk_too_few(s->rows->n)) goto out; /* constants will be taken */
    SK_GO(select_twice(s, out, gain));
    SK_GO(sk_search_logged(s));
    for (size_t k = 0; k < m; k++) {
        told->input[k].gain_f = gain[k];
        told->input[k].gain_a = gain[m + k];
        told->input[k].in_f = out->f[k];
        told->input[k].in_a = out->a[k];
    }
out:
    sk_search_free(s);
    sk_tune_outcome_clear(&scratch);
    sk_free(gain);
    return status;
}
