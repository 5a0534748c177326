/* choleskypanels.h - factorisations that look at the flag of an interrupt as they go. */
#ifndef SK_CHOLESKYPANELS_H
#define SK_CHOLESKYPANELS_H

#include "base/base.h"

/* sk_cholesky by panels of columns; what it does from some 2000 rows on. SOCK_ECANCELLED: A is half done. */
sock_status sk_cholesky_by_panels(sock_context *ctx, size_t n, double *a, size_t lda);

#endif
