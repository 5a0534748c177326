/* equation.h - a fitted field as a formula, where its features have names. */
#ifndef SK_EQUATION_H
#define SK_EQUATION_H

#include "model/model.h"

/* Adds "equation" to the information: for each component the terms of the drift, the largest first, as a text; null
 * where the features are kernels at points and have no formula. Where some parts of an average (under "drifts") are
 * polynomials and some are not: "equation_part", the same of the polynomials alone, and "equation_part_share". */
sock_status sk_equation_add(sock_context *ctx, const sock_model *model, json_t *info);

#endif
