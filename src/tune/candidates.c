/* candidates.c - the lists of kernels: simple ones first, what costs too much is not tried. A candidate is a row of a
 * table; Gaussian ones stand for one row each length scale. */
#include "tune/candidates.h"

#include "tune/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One family of candidates. degree: of its polynomials. */
typedef struct row {
    const char *kernel;
    enum { POLYNOMIAL, HOMOGENEOUS, GAUSSIAN } family; /* homogeneous: without a constant; Gaussian: one each scale */
    unsigned degree;
    bool learned; /* a drift: learned weights; a diffusion: with learned weights too */
    int simplicity;
    unsigned roles;
} row;

static const row drift_rows[] = {
    {"affine", POLYNOMIAL, 1, true, 1, SK_ROLE_BASIC | SK_ROLE_SHORT | SK_ROLE_PLAIN},
    {"linear", HOMOGENEOUS, 1, false, 2, SK_ROLE_BASIC | SK_ROLE_SHORT | SK_ROLE_PLAIN},
    {"poly:degree=2", POLYNOMIAL, 2, true, 3, SK_ROLE_BASIC | SK_ROLE_SHORT},
    {"affine", POLYNOMIAL, 1, false, 4, SK_ROLE_PILOT | SK_ROLE_BASIC | SK_ROLE_SHORT | SK_ROLE_PLAIN | SK_ROLE_AFFINE},
    {"poly:degree=3", POLYNOMIAL, 3, true, 5, SK_ROLE_SHORT},
    {"poly:degree=2", POLYNOMIAL, 2, false, 6, SK_ROLE_PILOT | SK_ROLE_SHORT},
    {"poly:degree=3", POLYNOMIAL, 3, false, 7, 0},
    {"gauss", GAUSSIAN, 0, false, 8, 0},
};

/* The roles are those of the candidates without learned weights. BASIC: full, or constant. */
static const row diffusion_rows[] = {
    {"constant", POLYNOMIAL, 0, false, 0, SK_ROLE_PILOT | SK_ROLE_BASIC | SK_ROLE_PLAIN},
    {"affine", POLYNOMIAL, 1, true, 2, SK_ROLE_PILOT | SK_ROLE_BASIC},
    {"linear", HOMOGENEOUS, 1, true, 1, SK_ROLE_BASIC},
    {"poly:degree=2", POLYNOMIAL, 2, true, 3, 0},
    {"poly:degree=3", POLYNOMIAL, 3, true, 4, 0},
    {"gauss", GAUSSIAN, 0, false, 5, 0},
};

/* Where a state has a bound, beside the others: a vanishes there linearly, which no square of the above does. Gaussian
 * kernels of roots took up what is not there (notebook 42). */
static const row bounded_rows[] = {
    {"rates:degree=1", POLYNOMIAL, 1, false, 1, 0},        {"rates:degree=2", POLYNOMIAL, 2, false, 3, 0},
    {"rates:degree=2", POLYNOMIAL, 2, true, 2, 0},         {"rates:degree=3", POLYNOMIAL, 3, false, 4, 0},
    {"linear:in=root", HOMOGENEOUS, 1, false, 1, 0},       {"affine:in=root", POLYNOMIAL, 1, false, 2, 0},
    {"poly:degree=2,in=root", POLYNOMIAL, 2, false, 3, 0},
};

enum {
    BOUNDED_ROWS = sizeof bounded_rows / sizeof *bounded_rows,
    DRIFT_ROWS = sizeof drift_rows / sizeof *drift_rows,
    DIFFUSION_ROWS = sizeof diffusion_rows / sizeof *diffusion_rows
};

/* What the lists are made for. */
typedef struct maker {
    sock_context *ctx;
    const sk_tune_spec *spec;
    const sk_transitions *rows;
    bool pilot;
    double unit; /* of length scales */
    sk_candidates *out;
} maker;

size_t sk_free_constant(const sk_candidates *list)
{
    for (size_t i = 0; i < list->drifts; i++)
        if (list->drift[i].free) return i;
    return SK_MOST;
}

void sk_candidates_clear(sk_candidates *c)
{
    for (size_t i = 0; i < c->drifts; i++) sk_candidate_clear(&c->drift[i]);
    for (size_t i = 0; i < c->diffusions; i++) sk_candidate_clear(&c->diffusion[i]);
    sk_free(c->drift);
    sk_free(c->diffusion);
    *c = (sk_candidates){0};
}

/* C(d + degree, degree), cut at a million. d: coordinates, states and inputs. */
static double monomials(size_t d, size_t degree)
{
    double count = 1;
    /* beyond, rounding would begin to show */
    for (size_t i = 1; i <= degree && count < 1e6; i++) count = count * (double)(d + i) / (double)i;
    return count;
}

/* Root mean square distance of a coordinate from its mean. */
static double spread(const sk_transitions *t)
{
    double total = 0;
    for (size_t k = 0; k < t->d; k++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < t->n; i++) mean += t->y[i * t->d + k] / (double)t->n;
        for (size_t i = 0; i < t->n; i++) square += pow(t->y[i * t->d + k] - mean, 2) / (double)t->n;
        total += square / (double)t->d;
    }
    return total > 0 ? sqrt(total) : 1;
}

/* Kernels that know bounds are for diffusions of states that have some. */
static sock_status check_bounded(const maker *m, const char *option, const sk_kernel *kernel)
{
    if (!sk_kernel_is_bounded(kernel)) return SOCK_OK;
    if (strcmp(option, "drift") == 0) return sk_form_check(m->ctx, option, kernel, SK_FORM_AUTO);
    if (m->rows->bounds) return SOCK_OK;
    return sk_fail(m->ctx, SOCK_EUSAGE,
                   "diffusion is '%s', which needs a state with a bound, and none has one; give lower or upper",
                   m->spec->diffusion);
}

/* The kernel of a candidate, and about which zero it is: a sparse fit means that of the states too. */
static sock_status parse(const maker *m, const char *option, const char *text, sk_candidate *made)
{
    const sk_transitions *t = m->rows;
    SK_TRY(sk_kernel_parse(m->ctx, option, text, &made->kernel));
    char letters[SK_MOST_SIDES + 1];
    if (t->bounds && sk_bounds_letters(t->bounds, made->use, letters)) sk_kernel_set_sides(made->kernel, letters);
    double *own = NULL; /* points in the units of the data */
    const bool named = strcmp(text, strcmp(option, "drift") == 0 ? m->spec->drift : m->spec->diffusion) == 0;
    made->in_data_units = named && t->scale && sk_kernel_names_eta(made->kernel) && !sk_kernel_is_bounded(made->kernel);
    sock_status status = check_bounded(m, option, made->kernel);
    if (status >= 0 && made->in_data_units) status = sk_left_in_data_units(m->ctx, t, &own);
    if (status >= 0) status = sk_kernel_resolve(m->ctx, option, made->kernel, t->in, t->n, own ? own : t->left);
    sk_free(own);
    if (status >= 0) status = sk_kernel_means_zero(m->ctx, made->kernel, t->in, &made->own_zero);
    made->own_zero |= made->learned;
    if (status < 0) {
        sk_kernel_free(made->kernel);
        made->kernel = NULL;
    }
    return status;
}

/* made: all but kernel and name; taken over. */
static sock_status add(const maker *m, sk_candidate made, const char *text)
{
    sk_candidates *c = m->out;
    const bool drift = made.field == SK_DRIFT;
    const sk_inputs *inputs = m->spec->inputs;
    made.use = !inputs ? NULL : drift ? inputs->f : inputs->a;
    made.flat = inputs ? inputs->flat : NULL;
    sk_candidate **list = drift ? &c->drift : &c->diffusion;
    size_t *count = drift ? &c->drifts : &c->diffusions;
    SK_TRY(sk_grow(m->ctx, list, drift ? &c->drift_capacity : &c->diffusion_capacity, *count + 1, sizeof **list));
    SK_TRY(parse(m, drift ? "drift" : "diffusion", text, &made));
    char *canonical = drift && made.learned ? sk_strdup(m->ctx, text) : sk_kernel_format(m->ctx, made.kernel);
    if (canonical)
        made.name = sk_format(m->ctx, "%s%s%s%s", canonical, made.learned ? " learned" : "", made.own ? " own" : "",
                              made.diagonal ? " diagonal" : "");
    sk_free(canonical);
    if (!made.name) {
        sk_candidate_clear(&made);
        return SOCK_ENOMEM;
    }
    (*list)[(*count)++] = made;
    return SOCK_OK;
}

/* eta in units of the spread: wider where there are more dimensions, since distances are. */
static size_t length_scales(size_t d, double *out)
{
    static const double few[] = {0.5, 1, 2, 4}, many[] = {2, 4, 8};
    const size_t count = d <= 2 ? 4 : 3;
    memcpy(out, d <= 2 ? few : many, count * sizeof *out);
    return count;
}

/* The pilot's only length scale, in units of the spread. */
static const double PILOT_SCALE = 2;

/* ---- Drifts ---- */

static sock_status gauss_drifts(const maker *m, const row *r)
{
    char text[64];
    double eta[4];
    const size_t scales = length_scales(m->rows->in, eta);
    for (size_t i = 0; i < scales; i++) {
        if (m->pilot && eta[i] != PILOT_SCALE) continue;
        snprintf(text, sizeof text, "gauss:eta=%.6g", eta[i] * m->unit);
        const size_t rank = m->pilot ? SK_PILOT_RANK : sk_drift_rank(m->rows->d);
        SK_TRY(add(m, (sk_candidate){.field = SK_DRIFT, .simplicity = r->simplicity, .max_rank = rank}, text));
    }
    return SOCK_OK;
}

static sock_status drift_list(const maker *m)
{
    const size_t d = m->rows->d, in = m->rows->in;
    sk_candidate made = {.field = SK_DRIFT, .max_rank = sk_drift_rank(d)};
    if (strcmp(m->spec->drift, "auto") != 0) return add(m, made, m->spec->drift);
    for (const row *r = drift_rows; r < drift_rows + DRIFT_ROWS; r++) {
        if (r->family == GAUSSIAN) {
            SK_TRY(gauss_drifts(m, r));
            continue;
        }
        if ((m->pilot && !(r->roles & SK_ROLE_PILOT)) || (r->learned && !m->spec->learned)) continue;
        made.screened = r->learned && sk_drift_is_screened(r->degree, monomials(in, r->degree));
        if (r->degree > 1 && monomials(in, r->degree) > SK_DRIFT_FEATURES && !made.screened) continue;
        made.learned = r->learned;
        made.simplicity = r->simplicity;
        made.roles = r->roles;
        SK_TRY(add(m, made, r->kernel));
    }
    return SOCK_OK;
}

/* ---- Diffusions ---- */

/* A diagonal a is a step simpler; and basic only when it is constant. */
static sock_status add_diffusion(const maker *m, const row *r, const char *text, bool diagonal, bool learned)
{
    sk_candidate made = {.field = SK_DIFFUSION,
                         .diagonal = diagonal,
                         .learned = learned,
                         .simplicity = r->simplicity + (diagonal ? 0 : 1),
                         .max_rank = sk_diffusion_rank(m->rows->d),
                         .roles = r->roles};
    if (learned) made.roles = 0;
    if (diagonal && !(r->roles & SK_ROLE_PLAIN)) made.roles &= ~(unsigned)SK_ROLE_BASIC;
    return add(m, made, text);
}

/* In many dimensions: of a linear kernel those features of a component that are its own coordinate's. */
static sock_status add_own(const maker *m, const row *r, const char *text)
{
    const sk_candidate made = {.field = SK_DIFFUSION,
                               .diagonal = true,
                               .own = true,
                               .simplicity = r->simplicity,
                               .max_rank = sk_diffusion_rank(m->rows->d),
                               .roles = r->roles & SK_ROLE_PILOT};
    return add(m, made, text);
}

/* One kernel of p features as full and as diagonal, with and without learned weights, as far as it can be afforded. */
static sock_status both(const maker *m, const row *r, const char *text, double p)
{
    const size_t d = m->rows->d;
    const sk_tune_spec *spec = m->spec;
    const bool many = d > SK_MANY_DIMENSIONS, own = many && r->degree == 1 && *r->kernel && !spec->full_only;
    if (own) SK_TRY(add_own(m, r, text));
    if (p > SK_DIFFUSION_FEATURES || (own && m->pilot)) return SOCK_OK;
    const bool diagonal =
        d > 1 && !spec->full_only && sk_diffusion_affordable(d, p, true) && sk_diagonal_is_tried(m->rows->n, d, p);
    const bool full = d == 1 || (!spec->diagonal_only && sk_full_is_tried(m->rows->n, d, p));
    const bool learned = r->learned && spec->learned && !m->pilot && !many;
    if (many && diagonal)
        SK_TRY(add_diffusion(m, r, text, true, false)); /* what a spent budget ends with comes first */
    if (full) SK_TRY(add_diffusion(m, r, text, false, false));
    if (!many && diagonal) SK_TRY(add_diffusion(m, r, text, true, false));
    if (learned && d == 1) SK_TRY(add_diffusion(m, r, text, false, true));
    if (learned && diagonal) SK_TRY(add_diffusion(m, r, text, true, true));
    return SOCK_OK;
}

/* The kernel that the user named: its penalty is searched for, as far as its features can be afforded. */
static sock_status named_diffusion(const maker *m)
{
    static const row named = {"", POLYNOMIAL, 1, false, 0, 0};
    const char *text = m->spec->diffusion;
    sk_candidate made = {.field = SK_DIFFUSION};
    sk_features *map = NULL;
    SK_TRY(parse(m, "diffusion", text, &made));
    sock_status status = SOCK_OK;
    if (!sk_kernel_is_implicit(made.kernel)) status = sk_candidate_map(m->ctx, m->rows, &made, &map);
    const size_t p = map ? sk_features_count(map) : 1; /* gauss is cut at the rank that can be afforded */
    sk_features_free(map);
    sk_candidate_clear(&made);
    if (status < 0) return status;
    if (p > SK_DIFFUSION_FEATURES)
        return sk_fail(m->ctx, SOCK_EUSAGE,
                       "diffusion is '%s' with %zu features; allowed while tuning: at most %d (or give --no-tune)",
                       text, p, SK_DIFFUSION_FEATURES);
    return both(m, &named, text, 1);
}

static sock_status gauss_diffusions(const maker *m, const row *r)
{
    char text[64];
    double eta[4];
    const size_t scales = length_scales(m->rows->in, eta);
    for (size_t i = 0; i < scales; i++) {
        if (!sk_diffusion_reaches(m->rows->d, eta[i])) continue;
        snprintf(text, sizeof text, "gauss:eta=%.6g", eta[i] * m->unit);
        SK_TRY(both(m, r, text, (double)sk_diffusion_rank(m->rows->d)));
    }
    return SOCK_OK;
}

/* Features of a bounded row: those of its kernel with the letters of these bounds. */
static sock_status bounded_features(const maker *m, const row *r, double *p)
{
    sk_candidate made = {.use = m->spec->inputs ? m->spec->inputs->a : NULL};
    SK_TRY(parse(m, "diffusion", r->kernel, &made));
    *p = sk_kernel_features(made.kernel, m->rows->in, 0);
    sk_candidate_clear(&made);
    return SOCK_OK;
}

static sock_status bounded_list(const maker *m)
{
    const size_t d = m->rows->d;
    char letters[SK_MOST_SIDES + 1];
    if (!m->rows->bounds || !sk_bounds_letters(m->rows->bounds, NULL, letters) || m->pilot) return SOCK_OK;
    for (const row *r = bounded_rows; r < bounded_rows + BOUNDED_ROWS; r++) {
        double p = 0;
        if ((r->degree > 2 && d > 1) || (r->learned && !m->spec->learned)) continue;
        SK_TRY(bounded_features(m, r, &p));
        if (!sk_bounded_is_tried(d, p, r->learned || r->degree > 1)) continue;
        SK_TRY(add_diffusion(m, r, r->kernel, m->spec->diagonal_only && d > 1, r->learned));
    }
    return SOCK_OK;
}

static sock_status diffusion_list(const maker *m)
{
    const size_t in = m->rows->in;
    if (strcmp(m->spec->diffusion, "auto") != 0 && !m->pilot) return named_diffusion(m);
    for (const row *r = diffusion_rows; r < diffusion_rows + DIFFUSION_ROWS; r++) {
        if (m->pilot && !(r->roles & SK_ROLE_PILOT)) continue;
        if (r->degree > 2 && in > 1) continue;
        if (r->family == GAUSSIAN)
            SK_TRY(gauss_diffusions(m, r));
        else
            SK_TRY(both(m, r, r->kernel, r->family == HOMOGENEOUS ? (double)in : monomials(in, r->degree)));
    }
    return bounded_list(m);
}

/* Length scales of Gaussian candidates are texts, which may say 1e-100 to 1e100. */
static sock_status check_unit(const maker *m)
{
    const bool gaussian = strcmp(m->spec->drift, "auto") == 0 || strcmp(m->spec->diffusion, "auto") == 0;
    if (!gaussian || (m->unit > 1e-99 && m->unit < 1e99)) return SOCK_OK;
    return sk_fail(m->ctx, SOCK_EINPUT,
                   "the states spread by %.3g; allowed for the length scales of the search: 1e-99 to 1e99; rescale the "
                   "data, or leave out --scaling=no",
                   m->unit);
}

sock_status sk_candidates_new(sock_context *ctx, const sk_tune_spec *spec, const sk_transitions *all, bool pilot,
                              sk_candidates *out)
{
    const sk_transitions *rows = sk_transitions_in_memory(all);
    *out = (sk_candidates){0};
    maker m = {ctx, spec, rows, pilot, spread(rows), out};
    sock_status status = check_unit(&m);
    if (status >= 0) status = drift_list(&m);
    if (status >= 0) status = diffusion_list(&m);
    if (status < 0) sk_candidates_clear(out);
    return status;
}
