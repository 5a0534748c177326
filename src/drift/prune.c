/* prune.c - sparse Bayes backwards. The sequential search adds the term that gains most and so can keep one that a
 * later term has made idle: with both in, neither deletion alone by the marginal rule pays, as alpha of the idle one
 * has grown to fit. Here a deletion is judged with the others estimated anew.
 *
 *     log evidence = (g' (H + alpha)^-1 g - log det(1 + H alpha^-1)) / 2,    alpha <- gamma / mu^2 to SAME_ALPHA
 *
 * Nor does it find terms that are worth something only together: over long steps x and x^3 of a double well are nearly
 * the same, and neither alone explains anything. So where there are few terms in all, the way back from all of them is
 * gone too, and the better set is kept: that of more evidence, less the threshold for each term. (In clean rows only
 * for planes: of x^2 and x^3 beyond the data a joint fit promises more than it keeps.)
 *
 * Cost: |A|^4 for each deletion, A the active terms. */
#include "drift/sparsebayes.h"

#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { ESTIMATES = 50 };
static const double SAME_ALPHA = 1e-3, LARGEST_ALPHA = 1e6, FIRST_ALPHA = 1e-6; /* the latter two in units of H_jj */

/* A set of terms with all that is known of it. */
typedef struct terms {
    size_t count;
    size_t *index;
    double *alpha, *mean, *covariance; /* covariance: count x count */
    double evidence;
} terms;

static void terms_clear(terms *t)
{
    sk_free(t->index);
    sk_free(t->alpha);
    sk_free(t->mean);
    sk_free(t->covariance);
    *t = (terms){0};
}

/* Of `from` all but number `without` (count: all). */
static sock_status terms_copy(sock_context *ctx, const terms *from, size_t without, terms *out)
{
    const size_t n = from->count - (without < from->count);
    *out = (terms){
        n, sk_alloc(ctx, n, sizeof *out->index), sk_doubles(ctx, n, 1), sk_doubles(ctx, n, 1), sk_doubles(ctx, n, n),
        0};
    if (!out->index || !out->alpha || !out->mean || !out->covariance) {
        terms_clear(out);
        return SOCK_ENOMEM;
    }
    for (size_t i = 0, at = 0; i < from->count; i++) {
        if (i == without) continue;
        out->index[at] = from->index[i];
        out->alpha[at++] = from->alpha[i];
    }
    return SOCK_OK;
}

typedef struct problem {
    sock_context *ctx;
    const double *h, *g;
    size_t ld;
} problem;

/* Mean, covariance and evidence at the alpha of the terms; SOCK_ENUMERIC when H + alpha is not definite to rounding. */
static sock_status solve(const problem *p, terms *t)
{
    const size_t n = t->count;
    double *factor = sk_doubles(p->ctx, n, n);
    if (!factor) return SOCK_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) factor[i * n + k] = p->h[t->index[i] * p->ld + t->index[k]];
        factor[i * n + i] += t->alpha[i];
        t->mean[i] = p->g[t->index[i]];
    }
    sock_status status = sk_cholesky(p->ctx, n, factor, n);
    if (status >= 0) {
        memset(t->covariance, 0, n * n * sizeof *t->covariance);
        for (size_t i = 0; i < n; i++) t->covariance[i * n + i] = 1;
        sk_cholesky_solve(p->ctx, n, n, factor, n, t->covariance, n);
        sk_symmetrise(n, t->covariance, n);
        sk_cholesky_solve(p->ctx, n, 1, factor, n, t->mean, 1);
        t->evidence = 0;
        for (size_t i = 0; i < n; i++)
            t->evidence += 0.5 * p->g[t->index[i]] * t->mean[i] + 0.5 * log(t->alpha[i]) - log(factor[i * n + i]);
    }
    sk_free(factor);
    return status;
}

/* One estimate of every alpha; answers the largest change of a logarithm. */
static double estimate(const problem *p, terms *t)
{
    double most = 0;
    for (size_t i = 0; i < t->count; i++) {
        const double largest = LARGEST_ALPHA * p->h[t->index[i] * (p->ld + 1)];
        const double freedom = fmin(fmax(1 - t->alpha[i] * t->covariance[i * t->count + i], 1e-6), 1);
        const double next = fmin(freedom / fmax(t->mean[i] * t->mean[i], 1e-300), largest);
        most = fmax(most, fabs(log(next / t->alpha[i])));
        t->alpha[i] = next;
    }
    return most;
}

static sock_status settle(const problem *p, terms *t)
{
    SK_TRY(solve(p, t));
    for (int i = 0; i < ESTIMATES; i++) {
        const double change = estimate(p, t);
        SK_TRY(solve(p, t));
        if (change < SAME_ALPHA) break;
    }
    return SOCK_OK;
}

/* The evidence of the set without each of its terms at the same alpha: with mu and Sigma of the whole set the rest
 * loses (mu_j^2 / Sigma_jj + log(alpha_j Sigma_jj)) / 2. */
static double loss(const terms *t, size_t j)
{
    const double variance = t->covariance[j * t->count + j];
    return 0.5 * (t->mean[j] * t->mean[j] / variance + log(t->alpha[j] * variance));
}

/* The numbers of the few cheapest, in order. */
static size_t cheapest(const terms *t, size_t *list)
{
    size_t count = 0;
    for (size_t j = 0; j < t->count; j++) {
        size_t at = count < SK_PRUNE_TRIED ? count++ : SK_PRUNE_TRIED;
        for (; at > 0 && loss(t, list[at - 1]) > loss(t, j); at--)
            if (at < SK_PRUNE_TRIED) list[at] = list[at - 1];
        if (at < SK_PRUNE_TRIED) list[at] = j;
    }
    return count;
}

/* *gone: whether a term went. */
static sock_status drop_one(const problem *p, double threshold, terms *t, bool *gone)
{
    size_t list[SK_PRUNE_TRIED];
    const size_t count = cheapest(t, list);
    *gone = false;
    for (size_t i = 0; i < count && !*gone; i++) {
        terms rest = {0};
        SK_TRY(terms_copy(p->ctx, t, list[i], &rest));
        sock_status status = settle(p, &rest);
        *gone = status >= 0 && t->evidence - rest.evidence < threshold;
        if (*gone) {
            const terms last = *t;
            *t = rest;
            rest = last;
        }
        terms_clear(&rest);
        if (status == SOCK_ENOMEM) return status;
    }
    return SOCK_OK;
}

/* Until no term is left that costs less than the threshold, but for the last. */
static sock_status go_back(const problem *p, double threshold, terms *t)
{
    bool gone = true;
    SK_TRY(settle(p, t));
    while (gone && t->count > 1) SK_TRY(drop_one(p, threshold, t, &gone));
    return SOCK_OK;
}

/* All terms that the data say anything of, with next to no penalty. */
static sock_status take_all(const problem *p, size_t count, terms *out)
{
    *out = (terms){0,
                   sk_alloc(p->ctx, count, sizeof *out->index),
                   sk_doubles(p->ctx, count, 1),
                   sk_doubles(p->ctx, count, 1),
                   sk_doubles(p->ctx, count, count),
                   0};
    if (!out->index || !out->alpha || !out->mean || !out->covariance) return SOCK_ENOMEM;
    for (size_t j = 0; j < count; j++) {
        const double own = p->h[j * (p->ld + 1)];
        if (!(own > 0)) continue;
        out->alpha[out->count] = FIRST_ALPHA * own;
        out->index[out->count++] = j;
    }
    return SOCK_OK;
}

static double worth(const terms *t, double threshold) { return t->evidence - threshold * (double)t->count; }

/* t := what the way back from all terms leads to, where that is better; t may be empty. */
static sock_status try_all(const problem *p, size_t count, double threshold, terms *t)
{
    terms all = {0};
    sock_status status = take_all(p, count, &all);
    if (status >= 0 && all.count) status = go_back(p, threshold, &all);
    if (status >= 0 && all.count && worth(&all, threshold) > (t->count ? worth(t, threshold) : 0)) {
        const terms last = *t;
        *t = all;
        all = last;
    }
    terms_clear(&all);
    if (status != SOCK_ENUMERIC) return status;
    sk_begin(p->ctx); /* terms that depend on each other: the way there stands */
    return SOCK_OK;
}

/* Terms that are worth something only together leave much unexplained: an input that a state follows, neither of which
 * explains anything alone. Whether all terms explain more than those of the fit by the price of two and what chance
 * gives, half a nat for each. */
static sock_status hides_some(const problem *p, size_t count, const sk_sparse_bayes *fit, double threshold, bool *out)
{
    terms all = {0};
    sock_status status = take_all(p, count, &all);
    if (status >= 0 && all.count > fit->active + 1) {
        status = solve(p, &all);
        double more = 0;
        for (size_t i = 0; i < all.count; i++) more += 0.5 * p->g[all.index[i]] * all.mean[i];
        for (size_t i = 0; i < fit->active; i++) more -= 0.5 * p->g[fit->index[i]] * fit->mean[i];
        *out = status >= 0 && more > 2 * threshold + 0.5 * (double)(all.count - fit->active);
    }
    terms_clear(&all);
    return status;
}

/* The fit becomes what is left. */
static void give(terms *t, sk_sparse_bayes *fit)
{
    sk_free(fit->index);
    sk_free(fit->mean);
    sk_free(fit->alpha);
    sk_free(fit->covariance);
    fit->active = t->count;
    fit->index = t->index;
    fit->mean = t->mean;
    fit->alpha = t->alpha;
    fit->covariance = t->covariance;
    fit->gain = t->evidence;
    *t = (terms){0};
}

/* The terms of the fit, and what the way back from them leads to. */
static sock_status go_back_from(const problem *p, const sk_sparse_bayes *fit, double threshold, terms *t)
{
    const terms found = {.count = fit->active, .index = fit->index, .alpha = fit->alpha};
    SK_TRY(terms_copy(p->ctx, &found, fit->active, t));
    return go_back(p, threshold, t);
}

sock_status sk_sparse_bayes_trim(sock_context *ctx, size_t p, const double *h, size_t ld, const double *g,
                                 double threshold, double idle, sk_sparse_bayes **out)
{
    const problem q = {ctx, h, g, ld};
    sk_sparse_bayes *fit = NULL;
    terms t = {0};
    sock_status status = sk_sparse_bayes_fit(ctx, p, h, ld, g, threshold, 0, &fit);
    if (status >= 0 && fit->active > 1) {
        status = go_back_from(&q, fit, fmin(idle, threshold), &t);
        if (status >= 0 && t.count < fit->active) give(&t, fit);
        if (status == SOCK_ENUMERIC) { /* terms that depend on each other: the way there stands */
            sk_begin(ctx);
            status = SOCK_OK;
        }
    }
    terms_clear(&t);
    if (status >= 0) {
        *out = fit;
        fit = NULL;
    }
    sk_sparse_bayes_free(fit);
    return status;
}

/* The way back from all terms in place of the fit, where it is better. */
static sock_status take_together(const problem *p, size_t count, double threshold, sk_sparse_bayes *fit)
{
    terms t = {0};
    sock_status status = fit->active ? go_back_from(p, fit, threshold, &t) : SOCK_OK;
    const double before = t.count ? worth(&t, threshold) : 0;
    if (status >= 0) status = try_all(p, count, threshold, &t);
    if (status >= 0 && t.count && worth(&t, threshold) > before) give(&t, fit);
    terms_clear(&t);
    return status;
}

sock_status sk_sparse_bayes_join(sock_context *ctx, size_t p, const double *h, size_t ld, const double *g,
                                 double threshold, sk_sparse_bayes *fit)
{
    const problem q = {ctx, h, g, ld};
    bool hidden = false;
    sock_status status = hides_some(&q, p, fit, threshold, &hidden);
    if (status >= 0 && hidden) status = take_together(&q, p, threshold, fit);
    if (status != SOCK_ENUMERIC) return status;
    sk_begin(ctx); /* terms that depend on each other: the way there stands */
    return SOCK_OK;
}

sock_status sk_sparse_bayes_prune(sock_context *ctx, size_t p, const double *h, size_t ld, const double *g,
                                  double threshold, size_t max_active, sk_sparse_bayes **out)
{
    const problem q = {ctx, h, g, ld};
    sk_sparse_bayes *fit = NULL;
    terms t = {0};
    sock_status status;
    SK_GO(sk_sparse_bayes_fit(ctx, p, h, ld, g, threshold, max_active, &fit));
    if (fit->active) SK_GO(go_back_from(&q, fit, threshold, &t));
    if (p <= SK_PRUNE_TERMS && !max_active) SK_GO(try_all(&q, p, threshold, &t));
    if (t.count) give(&t, fit);
    *out = fit;
    fit = NULL;
out:
    terms_clear(&t);
    sk_sparse_bayes_free(fit);
    if (status == SOCK_ENUMERIC) sk_begin(ctx);
    return status;
}
