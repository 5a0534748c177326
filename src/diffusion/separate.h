/* separate.h - the convex problem of rates, a(x) = sum_m phi_m(x)^2 Q_m with Q_m >= 0 of order d for each feature:
 *
 *     minimise (1/n) sum_i w_i | sum_m B_im Q_m - z_i |^2 + lambda sum_m |Q_m|^2,   B_im = W phi_m^2 of row i.
 *
 * It is the usual problem with rows that have the entries (m, m) of svec alone: leaving out what stands between two
 * features keeps Q positive and makes it smaller, so the solution has nothing there. Solver and certificate are those
 * of the usual problem. */
#ifndef SK_SEPARATE_H
#define SK_SEPARATE_H

#include "occupation/occupation.h"
#include "psd/psd.h"

typedef struct sk_separate_rows {
    const sk_rule *rule;
    const double *phi; /* nodes x p */
    size_t p;
    const double *row_weight; /* n, or NULL */
} sk_separate_rows;

/* As sk_psd_paths, of the options tolerance and max_iterations. */
sock_status sk_separate_paths(sock_context *ctx, const sk_separate_rows *rows, const sk_psd_targets *targets,
                              const sk_psd_options *options, size_t count, const double *lambda, sk_psd_result **out);

#endif
