/* equation.h - a fitted field as a formula, where its features have names. */
#ifndef SK_EQUATION_H
#define SK_EQUATION_H

#include "api/record.h"
#include "model/model.h"

/* Adds the equation to the record: for each component the terms of the drift, the largest first, as a text; none where
 * the features are kernels at points and have no formula. Where some parts of an average are polynomials and some are
 * not: the same of the polynomials alone, and their share. */
sock_status sk_equation_add(sock_context *ctx, const sock_model *model, sk_record *record);

#endif
