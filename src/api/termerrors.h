/* termerrors.h - how far the coefficients of a polynomial drift can be trusted. */
#ifndef SK_TERMERRORS_H
#define SK_TERMERRORS_H

#include "api/monomials.h"

/* Of the drift terms that `wanted` takes, about the origin of the sum: sum of share (c^2 + v) for each monomial and
 * component, c the coefficient of a term as a drift of its own and v its variance. The model has a spread. With peers,
 * each with a coefficient c_p of variance v_p, the sum has its part of that, and weight_p (c^2 + v_p + (c_p - c)^2);
 * but where some term is not wanted, since a part does not compare with whole drifts. */
sock_status sk_drift_squares(const sock_model *model, bool (*wanted)(const sk_drift_term *term),
                             sk_monomial_sum *squares);

/* The standard error of a coefficient, from its mean and such a sum, the shares of which add up to one. */
double sk_term_error(double mean, double square);

#endif
