/* diffusionpolish.c - the quasi-likelihood polish of a cross-validated candidate, and terms from results. */
#include "tune/diffusioncv.h"

#include "diffusion/polish.h"

#include <math.h>
#include <string.h>

enum { MOST_RANK = 8, STEPS = 60 };

/* Q (order x order) = U U' with the leading eigenvectors: U is order x *rank, rank <= most. Allocated. */
static sock_status leading_factor(sock_context *ctx, size_t order, const double *q, size_t most, double share,
                                  double **u, size_t *rank)
{
    double *vectors = sk_doubles(ctx, order, order), *values = sk_doubles(ctx, order, 1), *out = NULL;
    sock_status status = vectors && values ? SOCK_OK : SOCK_ENOMEM;
    if (status >= 0) {
        memcpy(vectors, q, order * order * sizeof *q);
        status = sk_eigh(ctx, order, vectors, order, values);
    }
    size_t kept = 0;
    while (status >= 0 && kept < SK_MIN(most, order) && values[order - 1 - kept] > share * values[order - 1]) kept++;
    if (status >= 0 && !(values[order - 1] > 0)) kept = 0;
    if (status >= 0 && !(out = sk_doubles(ctx, order, SK_MAX(kept, 1)))) status = SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < kept; j++)
        for (size_t i = 0; i < order; i++)
            out[i * kept + j] = sqrt(values[order - 1 - j]) * vectors[(order - 1 - j) * order + i];
    sk_free(vectors);
    sk_free(values);
    if (status < 0) return status;
    *u = out;
    *rank = kept;
    return SOCK_OK;
}

typedef struct polishing {
    sock_context *ctx;
    const sk_problem *p;
    const sk_leftover *leftover;
    const sk_diffusion_result *from;
    sk_diffusion_result *to;
    double *phi0, *phi1; /* n x p */
    double *own_z;       /* corrected residuals, when they are not those of the leftover */
    const double *z;     /* (folds + 1) x n x d */
} polishing;

/* What one thread works on. */
typedef struct desk {
    double *row0, *row1, *h, *e; /* the training rows of a fold */
    bool *moves;                 /* of these rows, see problem.h */
    double *value;               /* n */
} desk;

static sock_status desk_new(const polishing *w, desk *t)
{
    size_t n = w->p->n, pc = w->from->p;
    *t = (desk){.row0 = sk_doubles_unset(w->ctx, n, pc),
                .row1 = sk_doubles_unset(w->ctx, n, pc),
                .h = sk_doubles_unset(w->ctx, n, 1),
                .e = sk_doubles_unset(w->ctx, n, w->p->d),
                .moves = sk_alloc(w->ctx, n, sizeof(bool)),
                .value = sk_doubles_unset(w->ctx, n, 1)};
    return t->row0 && t->row1 && t->h && t->e && t->moves && t->value ? SOCK_OK : SOCK_ENOMEM;
}

static void desk_clear(desk *t)
{
    sk_free(t->row0);
    sk_free(t->row1);
    sk_free(t->h);
    sk_free(t->e);
    sk_free(t->moves);
    sk_free(t->value);
}

/* The rows of system s outside fold f. Answers how many. */
static size_t gather(const polishing *w, size_t s, size_t f, const desk *t)
{
    const sk_problem *p = w->p;
    size_t pc = w->from->p, d = p->d, width = w->from->systems > 1 ? 1 : d, count = 0;
    const double *z = w->z + f * p->n * d;
    for (size_t i = 0; i < p->n; i++) {
        if (f < p->folds && p->fold[i] == f) continue;
        memcpy(t->row0 + count * pc, w->phi0 + i * pc, pc * sizeof(double));
        memcpy(t->row1 + count * pc, w->phi1 + i * pc, pc * sizeof(double));
        t->h[count] = p->steps->h[i];
        t->moves[count] = p->moves[i];
        for (size_t k = 0; k < width; k++) t->e[count * width + k] = z[i * d + (width == 1 && d > 1 ? s : k)];
        count++;
    }
    return count;
}

/* The jitter: a tenth of the median square of the steps that move for several dimensions, where a may be singular; next
 * to nothing for one; never less than that of the score, which knows how finely the data are written. */
static double jitter(const polishing *w, size_t count, size_t width, const desk *t)
{
    double *square = t->value;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!t->moves[i]) continue;
        square[used] = 0;
        for (size_t k = 0; k < width; k++) square[used] += t->e[i * width + k] * t->e[i * width + k] / (double)width;
        used++;
    }
    double share = width > 1 ? 0.1 : 1e-4, middle = used ? sk_select(used, square, used / 2) : 0;
    return fmax(share * middle, w->p->resolution);
}

/* Matches the penalty of the convex problem: n lambda / (4 median(w |h a|^2)), with the weights in units of the median.
 */
static sock_status penalty(const polishing *w, size_t s, size_t count, const desk *t, double *mu)
{
    const sk_problem *p = w->p;
    double *value = t->value, middle;
    for (size_t i = 0; i < p->n; i++) value[i] = w->from->systems > 1 ? p->part[i * p->d + s] : p->size[i];
    SK_TRY(sk_problem_middle(w->ctx, p, value, &middle));
    double relative = middle * middle / (1.3 * 1.3);
    *mu = relative > 0 ? (double)count * w->from->l * w->from->lambda_scale / (4 * relative) : 0;
    return SOCK_OK;
}

static sock_status polish_one(const polishing *w, size_t s, size_t f, const desk *t)
{
    const sk_problem *p = w->p;
    const sk_diffusion_result *r = w->from;
    size_t order = r->order, width = r->systems > 1 ? 1 : p->d, rank = 0, count = gather(w, s, f, t);
    double *u = NULL, *q = w->to->q + (f * r->systems + s) * order * order;
    SK_TRY(leading_factor(w->ctx, order, q, MOST_RANK, 1e-6, &u, &rank));
    sk_polish_problem problem = {
        .n = count, .d = width, .p = r->p, .phi0 = t->row0, .phi1 = t->row1, .h = t->h, .e = t->e};
    problem.eps = jitter(w, count, width, t);
    sock_status status = penalty(w, s, count, t, &problem.mu);
    if (status >= 0 && rank) status = sk_polish(w->ctx, &problem, rank, u, STEPS, NULL, NULL);
    if (status >= 0) sk_gemm(w->ctx, SK_PLAIN, SK_TRANSPOSED, order, order, rank, 1, u, rank, u, rank, 0, q, order);
    sk_free(u);
    return status;
}

static sock_status copy_result(sock_context *ctx, const sk_problem *p, const sk_diffusion_result *from,
                               sk_diffusion_result **out)
{
    size_t q = (p->folds + 1) * from->systems * from->order * from->order, d2 = p->d * p->d;
    sk_diffusion_result *to = sk_alloc(ctx, 1, sizeof *to);
    if (!to) return SOCK_ENOMEM;
    *to = *from;
    to->map = NULL;
    to->polished = true;
    to->grid = NULL;
    to->cluster = sk_doubles(ctx, p->clusters, 1);
    to->by_l = sk_doubles(ctx, 1, 1);
    to->q = sk_doubles(ctx, q, 1);
    to->held = sk_doubles(ctx, p->n, d2);
    sock_status status =
        to->cluster && to->by_l && to->q && to->held ? sk_features_copy(ctx, from->map, &to->map) : SOCK_ENOMEM;
    if (status < 0) {
        sk_diffusion_result_free(to);
        return status;
    }
    memcpy(to->q, from->q, q * sizeof(double));
    *out = to;
    return SOCK_OK;
}

/* Everything without fold f (folds: from all rows), and what it says of the fold's steps. */
static sock_status polish_without(const polishing *w, size_t f, const desk *t)
{
    const sk_problem *p = w->p;
    sk_diffusion_result *to = w->to;
    sk_diffusion_term *term = NULL;
    SK_TRY(sk_progress(w->ctx, "polish", -1));
    for (size_t s = 0; s < to->systems; s++) SK_TRY(polish_one(w, s, f, t));
    if (f == p->folds) return SOCK_OK;
    sock_status status = sk_diffusion_result_term(w->ctx, to, f, p->d, 1, &term);
    if (status >= 0) status = sk_integrate_term(w->ctx, p, term, p->first[f], p->first[f + 1], to->held);
    sk_diffusion_term_free(term);
    return status;
}

static sock_status polish_folds(void *argument, size_t begin, size_t end, int worker)
{
    (void)worker;
    const polishing *w = argument;
    desk t;
    sock_status status = desk_new(w, &t);
    for (size_t f = begin; status >= 0 && f < end; f++) status = polish_without(w, f, &t);
    desk_clear(&t);
    return status;
}

static sock_status polish_all(polishing *w)
{
    sk_diffusion_result *to = w->to;
    double *space = sk_doubles(w->ctx, sk_scores_space(w->p->d), 1);
    sock_status status = space ? sk_parallel_for(w->ctx, w->p->folds + 1, 1, polish_folds, w) : SOCK_ENOMEM;
    if (status >= 0) to->score = to->by_l[0] = sk_diffusion_score(w->p, to->held, 0, w->leftover, to->cluster, space);
    if (status >= 0 && !isfinite(to->score))
        status = sk_fail(w->ctx, SOCK_ENUMERIC, "the polished diffusion has no finite score");
    sk_free(space);
    return status;
}

sock_status sk_diffusion_polish(sock_context *ctx, const sk_problem *p, const sk_leftover *leftover,
                                const sk_diffusion_result *from, sk_diffusion_result **out)
{
    size_t n = p->n, pc = from->p;
    polishing w = {.ctx = ctx, .p = p, .leftover = leftover, .from = from};
    double start = sk_seconds();
    w.phi0 = sk_doubles_unset(ctx, n, pc);
    w.phi1 = sk_doubles_unset(ctx, n, pc);
    sock_status status = w.phi0 && w.phi1 ? copy_result(ctx, p, from, &w.to) : SOCK_ENOMEM;
    if (status >= 0) status = sk_features_eval(ctx, from->map, n, p->steps->y, w.phi0, pc);
    if (status >= 0) status = sk_features_eval(ctx, from->map, n, p->steps->next, w.phi1, pc);
    if (status >= 0) status = sk_corrected_residuals(ctx, p, leftover, &w.own_z);
    w.z = w.own_z ? w.own_z : leftover->e;
    if (status >= 0) status = polish_all(&w);
    if (status >= 0) w.to->seconds = sk_seconds() - start;
    sk_free(w.phi0);
    sk_free(w.phi1);
    sk_free(w.own_z);
    if (status < 0) {
        sk_diffusion_result_free(w.to);
        return status;
    }
    *out = w.to;
    return SOCK_OK;
}

/* ---- Terms ---- */

/* Columns of every system side by side; Q = V V' up to eigenvalues that do not show. */
static sock_status put_columns(sock_context *ctx, const sk_diffusion_result *r, size_t f, double share,
                               sk_diffusion_term *term)
{
    size_t order = r->order, d = term->d;
    size_t systems = r->systems, *rank = sk_alloc(ctx, systems, sizeof *rank);
    double **u = sk_alloc(ctx, systems, sizeof *u);
    sock_status status = rank && u ? SOCK_OK : SOCK_ENOMEM;
    term->rank = 0;
    for (size_t s = 0; status >= 0 && s < systems; s++) {
        status = leading_factor(ctx, order, r->q + (f * systems + s) * order * order, order, 1e-12, &u[s], &rank[s]);
        term->rank += rank[s];
    }
    size_t width = SK_MAX(term->rank, 1), column = 0;
    if (status >= 0) {
        term->rank = width; /* a = 0 is one column of zeros */
        term->v = sk_doubles(ctx, d * r->p, width);
        term->owner = r->diagonal ? sk_alloc(ctx, width, sizeof *term->owner) : NULL;
        if (!term->v || (r->diagonal && !term->owner)) status = SOCK_ENOMEM;
    }
    for (size_t s = 0; status >= 0 && s < systems; s++)
        for (size_t j = 0; j < rank[s]; j++, column++) {
            for (size_t i = 0; i < order; i++)
                term->v[((r->diagonal ? s * r->p : 0) + i) * width + column] = sqrt(share) * u[s][i * rank[s] + j];
            if (term->owner) term->owner[column] = s;
        }
    for (size_t s = 0; u && s < systems; s++) sk_free(u[s]);
    sk_free(u);
    sk_free(rank);
    return status;
}

sock_status sk_diffusion_result_term(sock_context *ctx, const sk_diffusion_result *r, size_t f, size_t d, double share,
                                     sk_diffusion_term **out)
{
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    if (!term) return SOCK_ENOMEM;
    term->d = d;
    sock_status status = sk_features_copy(ctx, r->map, &term->map);
    if (status >= 0) status = put_columns(ctx, r, f, share, term);
    if (status < 0) {
        sk_diffusion_term_free(term);
        return status;
    }
    *out = term;
    return SOCK_OK;
}

sock_status sk_integrate_term(sock_context *ctx, const sk_problem *p, const sk_diffusion_term *term, size_t begin,
                              size_t end, double *out)
{
    enum { STEPS_AT_ONCE = 16 };
    const sk_rule *rule = p->rule;
    size_t d = p->d, nodes = STEPS_AT_ONCE * (rule->nodes / rule->n);
    double *a = sk_doubles(ctx, nodes, d * d), *space = sk_doubles(ctx, sk_diffusion_term_space(term, nodes), 1);
    if (!a || !space) {
        sk_free(a);
        sk_free(space);
        return SOCK_ENOMEM;
    }
    for (size_t at = begin; at < end; at += STEPS_AT_ONCE) {
        size_t last = SK_MIN(at + STEPS_AT_ONCE, end), first = rule->row[at], count = rule->row[last] - first;
        memset(a, 0, count * d * d * sizeof *a);
        sk_diffusion_term_add(ctx, term, count, rule->x + first * d, a, space);
        memset(out + at * d * d, 0, (last - at) * d * d * sizeof *out);
        for (size_t i = at; i < last; i++)
            for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++)
                sk_axpy(d * d, rule->weight[e], a + (e - first) * d * d, out + i * d * d);
    }
    sk_free(a);
    sk_free(space);
    return SOCK_OK;
}
