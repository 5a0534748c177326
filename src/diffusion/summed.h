/* summed.h - the convex problem of a plain fit through its sums: the rows of a rule are visited block by block, once
 * for G, c and zz (diffusionsums.h), and nothing that is made of them is kept. A diagonal a is d problems that share G;
 * of a map of rates only the products of each feature with itself are asked for, since a(x) = sum_m phi_m(x)^2 Q_m:
 * leaving out what stands between two features keeps Q positive and makes it smaller. */
#ifndef SK_SUMMED_H
#define SK_SUMMED_H

#include "diffusion/diffusionsums.h"

typedef struct sk_summed sk_summed;

/* z: n x d x d targets of the rule; rule, map and z are borrowed. */
sock_status sk_summed_new(sock_context *ctx, const sk_rule *rule, const sk_features *map, const double *z,
                          bool diagonal, sk_summed **out);
void sk_summed_free(sk_summed *summed);

/* Bytes that the sums of p features take. */
double sk_summed_bytes(size_t p, size_t d);

/* lambda in natural units. */
double sk_summed_unit(const sk_summed *summed);

/* As sk_psd_paths, by Newton's method. SOCK_PARTIAL: a device was to do it and could not, and there are no results. */
sock_status sk_summed_paths(sock_context *ctx, sk_summed *summed, const sk_psd_options *options, size_t count,
                            const double *lambda, sk_psd_result **out);

/* The dual point of the rows (n x d x d) for a result of each part: one more visit. */
sock_status sk_summed_beta(sock_context *ctx, const sk_summed *summed, sk_psd_result *const *part, double *beta);

#endif
