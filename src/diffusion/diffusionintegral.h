/* diffusionintegral.h - integrals of a summand of a over the nodes of a rule's rows, from their moments: in many
 * dimensions, where a at 2 d + 1 nodes is most of the work. */
#ifndef SK_DIFFUSIONINTEGRAL_H
#define SK_DIFFUSIONINTEGRAL_H

#include "diffusion/diffusion.h"

typedef struct sk_term_integral sk_term_integral;

/* *out is NULL where there is no such form: the features are not linear in x, or they are and the term is neither
 * diagonal nor constant, or there are few dimensions. Borrows the term. */
sock_status sk_term_integral_new(sock_context *ctx, const sk_diffusion_term *term, sk_term_integral **out);
void sk_term_integral_free(sk_term_integral *integral);

/* a (d x d) += the integral, by the moments of a row (sk_row_moments). */
void sk_term_integral_add(const sk_term_integral *integral, const double *moments, double *a);

#endif
