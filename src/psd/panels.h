/* panels.h - products with B (rows svec(M_i)) and B'B when B is too large to keep: panels of rows are made on the fly,
 * used and forgotten. Levels: the leading p features have the leading q = p (p + 1) / 2 columns of B. */
#ifndef SK_PANELS_H
#define SK_PANELS_H

#include "psdinner.h"

typedef struct sk_psd_panels sk_psd_panels;

/* Work space for arrays of up to `pairs` rows; refers to prepared. */
sock_status sk_psd_panels_new(sock_context *ctx, const sk_psd_prepared *prepared, size_t pairs, sk_psd_panels **out);
void sk_psd_panels_free(sk_psd_panels *panels);

/* Which product: the leading p features, arrays x (pairs x q) and y (pairs x n); pairs at most that of the work space.
 */
typedef struct sk_psd_shape {
    size_t p, pairs;
} sk_psd_shape;

/* out (pairs x q) = x B'B; single: the products in single precision. */
sock_status sk_psd_panels_gram(sock_context *ctx, sk_psd_panels *panels, sk_psd_shape shape, const double *x,
                               bool single, double *out);
/* y (pairs x n) = x B' */
sock_status sk_psd_panels_rows(sock_context *ctx, sk_psd_panels *panels, sk_psd_shape shape, const double *x,
                               double *y);
/* x (pairs x q) = y B */
sock_status sk_psd_panels_columns(sock_context *ctx, sk_psd_panels *panels, sk_psd_shape shape, const double *y,
                                  double *x);
/* g (h x h, both triangles): the listed rows and columns of B'B. */
sock_status sk_psd_panels_block(sock_context *ctx, sk_psd_panels *panels, size_t h, const unsigned *first,
                                const unsigned *second, double *g);

#endif
