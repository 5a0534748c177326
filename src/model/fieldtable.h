/* fieldtable.h - f and a of a model of one coordinate as a table over a range, for samplers that are asked at far more
 * places than a table has: cubic pieces through their own values. A piece that is not near them (SK_TABLE_NEAR) is not
 * used; there, and beyond the range, the sampler is asked. */
#ifndef SK_FIELDTABLE_H
#define SK_FIELDTABLE_H

#include "model/sampler.h"

typedef struct sk_field_table sk_field_table;

/* Borrows the sampler. */
sock_status sk_field_table_new(sock_context *ctx, const sk_sampler *sampler, double low, double high,
                               sk_field_table **out);
void sk_field_table_free(sk_field_table *table);

/* As sk_sampler_space and sk_sampler_fields. */
size_t sk_field_table_space(const sk_field_table *table, size_t block);
void sk_field_table_fields(sock_context *ctx, const sk_field_table *table, size_t count, const double *x, double *f,
                           double *a, double *space);

#endif
