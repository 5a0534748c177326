/* lengthscale.c - what a kernel leaves open comes from the data: eta is the median distance between points. */
#include "kernel/family.h"

#include <math.h>
#include <string.h>

enum { MAX_POINTS = 1000, AUTOMATIC_LANDMARKS = 500 };

static double distance(size_t d, const double *x, const double *y)
{
    double square = 0;
    for (size_t k = 0; k < d; k++) square += (x[k] - y[k]) * (x[k] - y[k]);
    return sqrt(square);
}

static size_t keep_positive(size_t n, double *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (a[i] > 0) a[kept++] = a[i];
    return kept;
}

/* When more than half of the pairs coincide the median is 0, which is no length: then the median of the others. */
sock_status sk_median_distance(sock_context *ctx, size_t d, size_t count, const double *x, double *out)
{
    size_t used = SK_MIN(count, MAX_POINTS), pairs = 0;
    double *all = sk_doubles_unset(ctx, used ? used * (used - 1) / 2 : 0, 1);
    if (!all) return SOCK_ENOMEM;
    for (size_t i = 0; i < used; i++)
        for (size_t j = 0; j < i; j++) all[pairs++] = distance(d, x + i * count / used * d, x + j * count / used * d);
    double value = pairs ? sk_median(pairs, all) : 0;
    if (!(value > 0)) {
        pairs = keep_positive(pairs, all);
        value = pairs ? sk_median(pairs, all) : 1;
    }
    sk_free(all);
    *out = value;
    return SOCK_OK;
}

static sock_status check_dimension(sock_context *ctx, const char *option, const sk_term *term, size_t d)
{
    if (term->b && term->b_dim != d)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: B of %s is %zu x %zu; allowed: %zu x %zu, the dimension of the state",
                       option, term->family->name, term->b_dim, term->b_dim, d, d);
    if (sk_term_is_bounded(term) && d > SK_MOST_SIDES)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: %s knows bounds of at most %d states; these are %zu", option,
                       term->family->name, SK_MOST_SIDES, d);
    if (term->sides[0] && strlen(term->sides) != d)
        return sk_fail(ctx, SOCK_EUSAGE, "%s: bounds of %s are '%s'; allowed: %zu letters, one for each state", option,
                       term->family->name, term->sides, d);
    return term->family->check ? term->family->check(ctx, option, d) : SOCK_OK;
}

sock_status sk_kernel_resolve(sock_context *ctx, const char *option, sk_kernel *kernel, size_t d, size_t count,
                              const double *x)
{
    double eta = (double)NAN;
    for (size_t i = 0; i < kernel->terms; i++) {
        sk_term *term = &kernel->term[i];
        SK_TRY(check_dimension(ctx, option, term, d));
        if (sk_family_takes(term->family, SK_KEY_M) && !term->p)
            term->p = SK_MAX(SK_MIN(count, AUTOMATIC_LANDMARKS), 1);
        if (!sk_term_needs_eta(term) || !isnan(term->eta)) continue;
        if (term->root) { /* bounded states have units of their own, in which they are about 1 */
            term->eta = 1;
            continue;
        }
        if (isnan(eta)) SK_TRY(sk_median_distance(ctx, d, count, x, &eta));
        if (!(eta >= 1e-100 && eta <= 1e100))
            return sk_fail(ctx, SOCK_EINPUT,
                           "%s: the median distance between the points is %g and cannot serve as "
                           "eta; give eta, or data in other units",
                           option, eta);
        term->eta = eta;
    }
    return SOCK_OK;
}
