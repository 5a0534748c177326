/* options.c - the options table and the values set. */
#include "options.h"

#include "nearest.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum kind { TEXT, NUMBER, NUMBER0, COUNT, FLAG, CHOICE, LIST } kind; /* NUMBER0: 0 is allowed */

static const char *const kind_name[] = {"text", "number", "number", "count", "flag", "choice", "numbers"};

typedef struct row {
    const char *key;
    kind type;
    const char *fallback; /* "auto" is allowed exactly where it is the default */
    double low, high;     /* low <= value <= high; NUMBER: and not 0 */
    const char *allowed;  /* CHOICE: the words, with | between; elsewhere a description */
    const char *help;
} row;

/* clang-format off */
static const row table[] = {
    /* data */
    {"id",       TEXT,   "auto", 0, 0, "column names with commas between", "column with the trajectory's name, or several that hold it together (auto: id, traj or trajectory in any case; none: one trajectory)"},
    {"time",     TEXT,   "auto", 0, 0, "a column name", "column with the time, numbers or dates like 2024-01-31T12:00 or 31.01.2024 (auto: t or time in any case; else date, timestamp, day, year and the like)"},
    {"time-unit", CHOICE, "auto", 0, 0, "auto|second|minute|hour|day|week|year", "unit of a time column that holds dates (auto: the largest but week that the median step is not shorter than); counted from 1970-01-01"},
    {"state",    TEXT,   "auto", 0, 0, "column names with commas between", "state columns (auto: all other numeric columns that change within a trajectory)"},
    {"group",    TEXT,   "auto", 0, 0, "a column name", "column with the group: realisations with the same start and times, not a group of subjects, which is an input (auto: group, where there is one; none: do not use it)"},
    {"input",    TEXT,   "none", 0, 0, "column names with commas between, or none", "columns that are known inputs u(t), not states: forcing, dose, treatment arm"},
    {"time-dependent", FLAG, "no", 0, 0, "yes|no", "the time is an input too: f and a may depend on it"},
    {"grouping", CHOICE, "auto", 0, 0, "auto|none", "auto: trajectories with the same start, times and inputs form a group; none: each stands alone"},
    {"dt",       NUMBER, "auto", 0, 1e300, "a number > 0, or auto", "time step of a .npy array, and of a table that has no column for the time"},
    {"log",      TEXT,   "none", 0, 0, "names of states with commas between, or none", "states that are taken by their logarithm: log(x) in place of x, for values above 0 (docs/data.md)"},
    {"wide",     FLAG,   "no",   0, 0, "yes|no", "wide form: with a time column every other column is a trajectory, without one every row is, and names of columns hold the times (docs/data.md)"},
    {"every",    COUNT,  "1",    1, 1e9, "a whole number >= 1", "thin: of each trajectory the first point and every so many-th after it"},
    {"files",    CHOICE, "apart", 0, 0, "apart|joined", "several data files: names of trajectories and groups are each file's own (apart), or hold for all, so that a trajectory may go on in another file (joined)"},
    {"stream",   FLAG,   "no",   0, 0, "yes|no", "the data stay on the disk; fit: kernels are chosen on a sample of whole trajectories, and passes over all steps fit what was chosen; score: sums over chunks (docs/scale.md)"},
    {"search-rows", COUNT, "auto", 1000, 1e7, "a whole number from 1000 to 10^7, or auto", "stream: steps of the sample (auto: 30000)"},
    {"scratch",  TEXT,   "auto", 0, 0, "a folder", "stream: where the steps are kept while it goes on (auto: TMPDIR, or /var/tmp)"},
    {"save-plan", TEXT,  "none", 0, 0, "a file that is made, or none", "stream: where what the search on the sample decided is written, for later passes with plan (docs/scale.md)"},
    {"plan",     TEXT,   "none", 0, 0, "a file, or none", "stream: what the search on the sample of the same data decided before (save-plan): passes alone, and no search; it has all options of the fit (docs/scale.md)"},
    {"missing",  LIST,   "none", 0, 0, "numbers with commas between, or none", "values of states and inputs that stand for a missing one, for example 999 or -9,-99"},
    /* fit */
    {"tune",         FLAG,   "yes",  0, 0, "yes|no", "choose kernels and penalties by cross-validation; no: the plain estimator with what is given"},
    {"preset",       CHOICE, "default", 0, 0, "default|paper", "tuning: this program's own search, or the paper's protocol (gauss drift, fourier diffusion, trapezoid, grid on validation data)"},
    {"folds",        COUNT,  "auto", 2, 1000, "a whole number >= 2, or auto", "folds of the cross-validation (auto: 6, fewer with few trajectories)"},
    {"budget",       NUMBER, "auto", 0, 1e9, "seconds > 0, or auto", "time after which the search takes no new stage (auto: no limit)"},
    {"weights",      FLAG,   "yes",  0, 0, "yes|no", "tuning: weight steps by the precision that the current model gives them"},
    {"learned",      FLAG,   "yes",  0, 0, "yes|no", "tuning: try learned feature weights (automatic relevance)"},
    {"correction",   FLAG,   "yes",  0, 0, "yes|no", "tuning: correct the residuals to second order in the step"},
    {"polish",       FLAG,   "yes",  0, 0, "yes|no", "tuning: polish the best diffusions by quasi-likelihood"},
    {"scaling",      FLAG,   "yes",  0, 0, "yes|no", "tuning: bring every state to mean 0 and standard deviation 1 for the search"},
    {"wild",         CHOICE, "leave", 0, 0, "leave|keep", "tuning: steps that are far larger than all around them, jumps and outliers (leave: out of the fit; keep: in it); they are named in either case"},
    {"average",      FLAG,   "yes",  0, 0, "yes|no", "tuning: average the kernels that do about equally well (the drift where no short equation does)"},
    {"hold",         CHOICE, "auto", 0, 0, "auto|previous|linear", "an input between two of its values: the one before (doses, groups) or on the line between them (forcing, temperature); auto: previous where it changes in fewer than one step of five"},
    {"noise",        CHOICE, "auto", 0, 0, "auto|none|diag|full", "tuning: measurement noise of covariance R: auto where it is found and predicts better, none, a diagonal R, a full one; score: none takes observations for states"},
    {"order",        CHOICE, "1",    0, 0, "1|2", "tuning: 1: dx = f dt + noise; 2: the states are positions whose velocities are not observed, dv = F(x, v) dt + noise (docs/second-order.md)"},
    {"substeps",     COUNT,  "auto", 1, 16, "a whole number from 1 to 16, or auto", "tuning: substeps in which the law of a step is followed (auto: as many as the data show)"},
    {"bands",        FLAG,   "yes",  0, 0, "yes|no", "tell how far the fields can be trusted: bands, standard errors, draws (docs/uncertainty.md)"},
    {"drift",        TEXT,   "auto", 0, 0, "a kernel, see docs/kernels.md", "kernel of the drift, for example gauss:eta=0.8 or poly:degree=2 (auto: chosen, or gauss without tuning)"},
    {"drift-lambda", NUMBER, "auto", 0, 1e300, "a number > 0, or auto", "ridge penalty of the drift"},
    {"drift-form",   CHOICE, "auto", 0, 0, "auto|implicit|explicit|nystrom", "how the drift is computed (auto: follows from the kernel)"},
    {"drift-path",   CHOICE, "auto", 0, 0, "auto|pivoted|exact", "implicit form: low-rank pivoted features, or the full system (auto: pivoted when the rank is small)"},
    {"diffusion",        TEXT,   "auto", 0, 0, "a scalar kernel, see docs/kernels.md, or none", "kernel of the diffusion a = sigma sigma' (auto: chosen, or gauss without tuning; none: the drift alone, without tuning)"},
    {"diffusion-lambda", NUMBER, "auto", 0, 1e300, "a number > 0, or auto", "penalty of the diffusion"},
    {"diffusion-form",   CHOICE, "auto", 0, 0, "auto|implicit|explicit|nystrom", "how the diffusion is computed (auto: follows from the kernel)"},
    {"diffusion-rank",   COUNT,  "auto", 1, 1e6, "a whole number >= 1, or auto", "implicit form: most features (auto: 1000 / dimension, at least 20, or 100 with a diagonal a)"},
    {"diagonal",         FLAG,   "no",   0, 0, "yes|no", "a(x) is diagonal: one problem for each coordinate"},
    {"solver",           CHOICE, "newton", 0, 0, "newton|lbfgs|fista|fista-restart|projgrad|projgrad-accelerated", "method for the convex problem of the diffusion"},
    {"tolerance",        NUMBER, "1e-6", 0, 1, "a number > 0, at most 1", "relative duality gap at which the solver stops"},
    {"max-iterations",   COUNT,  "auto", 1, 1e9, "a whole number >= 1, or auto", "most iterations of the solver"},
    {"max-seconds",      NUMBER, "auto", 0, 1e300, "a number > 0, or auto", "most seconds of the solver (auto: no limit); what is reached by then is used, its gap is stated"},
    {"compression",      CHOICE, "yes",  0, 0, "yes|no", "reduce the convex problem exactly before solving it"},
    {"landmarks",    COUNT,  "auto", 1, 1e9, "a whole number >= 1, or auto", "number of Nystrom landmarks"},
    {"quadrature",   CHOICE, "auto", 0, 0, "auto|trapezoid|left|conditional", "rule for the time integral: the paper's trapezoid, the left point (no bias with one realisation), or the conditional trapezoid of second order (auto: conditional when tuning, else left)"},
    /* simulate and score */
    {"bounds",    CHOICE, "auto",  0, 0, "auto|none|clip|reflect", "what simulated paths do at lower and upper: nothing, stop there, or turn back (auto: clip where the model has bounds or some are given, else none; none: data and starts beyond are taken, too)"},
    {"lower",     TEXT,   "auto",  0, 0, "a number for all states, or one for each with commas between, or none, or auto", "lower bound of the states (auto: fit: 0 where all values are >= 0 and come near it; elsewhere the model's); explain: where the range begins (auto: as far as the data)"},
    {"upper",     TEXT,   "auto",  0, 0, "a number for all states, or one for each with commas between, or none, or auto", "upper bound of the states (auto: fit: none; elsewhere the model's); explain: where the range ends (auto: as far as the data)"},
    {"delta",     NUMBER0, "0",    0, 1e300, "a number >= 0", "added to the diagonal of a step's covariance in the likelihood; regular where a is singular"},
    {"mmd-paths", COUNT,  "500",   0, 1e7, "a whole number from 0 to 10^7", "simulated paths for each distinct start of the test set (0: no MMD)"},
    {"mmd-step",  NUMBER, "0.001", 0, 1e300, "a number > 0", "largest inner step of these paths"},
    /* check */
    {"check", FLAG,   "yes",  0, 0, "yes|no", "tuning: at the end compare some steps with simulated ones of the model, and say what speaks against it (sock check does so with all)"},
    {"draws", COUNT,  "99",   19, 9999, "a whole number from 19 to 9999", "check: simulated ends for each step"},
    {"alpha", NUMBER, "0.05", 0, 0.5, "a number > 0, at most 0.5", "check: chance of an objection to a model that is right"},
    {"device",       TEXT,   "cpu",  0, 0, "cpu, auto, cuda or cuda:N", "where large sums, convex problems, exact drifts and paths are computed: auto: a GPU where there is a plugin with a card and it pays (docs/scale.md)"},
    {"seed",         COUNT,  "0",    0, 9007199254740992.0, "a whole number from 0 to 2^53", "seed of all random choices"},
};
/* clang-format on */

enum { ROWS = sizeof table / sizeof table[0] };

struct sock_options {
    char *value[ROWS]; /* NULL: the default */
    sock_matrix_kernel_fn drift_kernel;
    void *drift_kernel_user;
    const sock_data *validation;
};

static const row *find(const char *key)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(table[i].key, key) == 0) return &table[i];
    return NULL;
}

size_t sock_option_count(void) { return ROWS; }

sock_option_info sock_option_describe(size_t index)
{
    if (index >= ROWS) return (sock_option_info){0};
    const row *r = &table[index];
    return (sock_option_info){r->key, kind_name[r->type], r->fallback, r->allowed, r->help};
}

sock_options *sock_options_new(sock_context *ctx)
{
    if (!ctx) return NULL;
    sk_begin(ctx);
    return sk_alloc(ctx, 1, sizeof(sock_options));
}

void sock_options_free(sock_options *opts)
{
    if (!opts) return;
    for (size_t i = 0; i < ROWS; i++) sk_free(opts->value[i]);
    sk_free(opts);
}

sock_status sk_options_copy(sock_context *ctx, const sock_options *opts, sock_options **out)
{
    sock_options *copy = sk_alloc(ctx, 1, sizeof *copy);
    if (!copy) return SOCK_ENOMEM;
    for (size_t i = 0; opts && i < ROWS; i++) {
        if (!opts->value[i] || (copy->value[i] = sk_strdup(ctx, opts->value[i]))) continue;
        sock_options_free(copy);
        return SOCK_ENOMEM;
    }
    if (opts) {
        copy->drift_kernel = opts->drift_kernel;
        copy->drift_kernel_user = opts->drift_kernel_user;
        copy->validation = opts->validation;
    }
    *out = copy;
    return SOCK_OK;
}

static bool is_choice(const char *allowed, const char *value)
{
    size_t length = strcspn(value, "|");
    if (value[length]) return false; /* two words are not one of them */
    for (const char *p = allowed; length; p++) {
        if (strncmp(p, value, length) == 0 && (p[length] == '|' || !p[length])) return true;
        p = strchr(p, '|');
        if (!p) break;
    }
    return false;
}

/* Numbers with commas between. */
static bool is_list(const char *value)
{
    for (const char *at = value, *end;; at = end + 1) {
        at += strspn(at, " ");
        const double number = sk_parse_double(at, &end);
        if (end == at || !isfinite(number)) return false;
        end += strspn(end, " ");
        if (*end != ',') return !*end;
    }
}

static bool fits(const row *r, const char *value)
{
    if (strcmp(value, "auto") == 0 && strcmp(r->fallback, "auto") == 0) return true;
    if (r->type == TEXT) return value[0] != 0;
    if (r->type == LIST) return strcmp(value, r->fallback) == 0 || is_list(value);
    if (r->type == CHOICE) return is_choice(r->allowed, value);
    if (r->type == FLAG) return is_choice("yes|no", value);
    const char *end;
    double number = sk_parse_double(value, &end);
    if (end == value || *end || !isfinite(number) || number < r->low || number > r->high) return false;
    if (r->type == COUNT) return number == floor(number);
    return r->type == NUMBER0 || number != 0;
}

static sock_status unknown_key(sock_context *ctx, const char *key)
{
    char known[768] = "", meant[SK_MEANT_ROOM];
    sk_nearest near = sk_nearest_to(key, strlen(key));
    for (size_t i = 0; i < ROWS; i++) sk_nearest_try(&near, table[i].key);
    for (size_t i = 0, used = 0; i < ROWS && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", table[i].key);
    return sk_fail(ctx, SOCK_EUSAGE, "unknown option '%.100s'%s; allowed: %s", key, sk_meant(&near, meant), known);
}

static sock_status refuse_value(sock_context *ctx, const row *r, const char *value)
{
    char meant[SK_MEANT_ROOM];
    sk_nearest near = sk_nearest_to(value, strlen(value));
    if (r->type == CHOICE || r->type == FLAG) sk_nearest_try_list(&near, r->allowed, '|');
    return sk_fail(ctx, SOCK_EUSAGE, "%s is '%s'%s; allowed: %s", r->key, value, sk_meant(&near, meant), r->allowed);
}

sock_status sock_options_set(sock_context *ctx, sock_options *opts, const char *key, const char *value)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!opts || !key || !value) return sk_fail(ctx, SOCK_EUSAGE, "options, key and value must not be NULL");
    const row *r = find(key);
    if (!r) return unknown_key(ctx, key);
    if (!fits(r, value)) return refuse_value(ctx, r, value);
    char *copy = sk_strdup(ctx, value);
    if (!copy) return SOCK_ENOMEM;
    sk_free(opts->value[r - table]);
    opts->value[r - table] = copy;
    return SOCK_OK;
}

const char *sock_options_get(const sock_options *opts, const char *key)
{
    const row *r = key ? find(key) : NULL;
    if (!r) return NULL;
    return opts && opts->value[r - table] ? opts->value[r - table] : r->fallback;
}

const char *sk_option_text(const sock_options *opts, const char *key)
{
    const char *value = sock_options_get(opts, key);
    assert(value);
    return value;
}

double sk_option_number(const sock_options *opts, const char *key)
{
    const char *value = sk_option_text(opts, key), *end;
    return strcmp(value, "auto") == 0 ? (double)NAN : sk_parse_double(value, &end);
}

size_t sk_option_count(const sock_options *opts, const char *key)
{
    double number = sk_option_number(opts, key);
    return isnan(number) ? 0 : (size_t)number;
}

bool sk_option_flag(const sock_options *opts, const char *key) { return strcmp(sk_option_text(opts, key), "yes") == 0; }

bool sk_option_is_set(const sock_options *opts, const char *key)
{
    const row *r = find(key);
    assert(r);
    return opts && opts->value[r - table];
}

sock_status sock_options_set_drift_kernel(sock_context *ctx, sock_options *opts, sock_matrix_kernel_fn kernel,
                                          void *user)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!opts) return sk_fail(ctx, SOCK_EUSAGE, "options must not be NULL");
    opts->drift_kernel = kernel;
    opts->drift_kernel_user = user;
    return SOCK_OK;
}

sock_matrix_kernel_fn sk_option_drift_kernel(const sock_options *opts, void **user)
{
    if (user) *user = opts ? opts->drift_kernel_user : NULL;
    return opts ? opts->drift_kernel : NULL;
}

sock_status sock_options_set_validation(sock_context *ctx, sock_options *opts, const sock_data *validation)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!opts) return sk_fail(ctx, SOCK_EUSAGE, "options must not be NULL");
    opts->validation = validation;
    return SOCK_OK;
}

const sock_data *sk_option_validation(const sock_options *opts) { return opts ? opts->validation : NULL; }
