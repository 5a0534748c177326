/* featuremap.h - the inside of a feature map: parts, one behind the other. A kind of part is a table of functions and a
 * file of its own (polyfeatures.c, fourier.c, landmarks.c); features.c knows no kind. */
#ifndef SK_FEATUREMAP_H
#define SK_FEATUREMAP_H

#include "kernel/terms.h"

typedef struct sk_part sk_part;

typedef struct sk_part_kind {
    /* Doubles of work space for up to `block` points. */
    size_t (*space)(const sk_part *part, size_t block);
    /* p features of each point into phi (rows of length ld). */
    void (*eval)(sock_context *ctx, const sk_part *part, size_t count, const double *x, double *phi, size_t ld,
                 double *space);
    /* out (p x d); space for one point. */
    void (*jacobian)(sock_context *ctx, const sk_part *part, const double *x, double *out, double *space);
    /* phi_j = *weight times the text. */
    char *(*label)(sock_context *ctx, const sk_part *part, const char *const *names, size_t j, double *weight);
    /* phi_j = *weight times the product of x_k^power[k]; NULL: the features are no monomials. */
    void (*monomial)(const sk_part *part, size_t j, unsigned *power, double *weight);
} sk_part_kind;

typedef struct sk_monomial {
    uint32_t parent, variable; /* phi_j = phi_parent * x_variable * ratio */
    double ratio;
} sk_monomial;

struct sk_part {
    const sk_part_kind *kind;
    size_t d, p;
    sk_term term;          /* as given; b is NULL */
    const double *scale;   /* the map's, for labels; NULL: 1 */
    sk_monomial *monomial; /* poly: p of them, the last is 1 */
    double *omega, *beta;  /* fourier: p x d and p */
    sk_kernel *kernel;     /* landmarks: the kernel, */
    double *pivot;         /* p x d points */
    double *factor;        /* and the Cholesky factor of its matrix at the points, p x p, lower, zeros above */
};

struct sk_features {
    size_t d, p, parts;
    sk_part *part;
    sk_kernel *kernel; /* what was asked for */
    bool pivoted;      /* one part, from sk_features_pivoted */
    double *scale;     /* d units of the coordinates: the parts see x / scale; NULL: x */
};

/* Each fills *part, which is all zeros but for d and term; on failure the caller clears it. */
sock_status sk_poly_part(sock_context *ctx, const char *option, sk_part *part);
sock_status sk_fourier_part(sock_context *ctx, size_t stream, sk_part *part);
sock_status sk_nystrom_part(sock_context *ctx, const char *option, size_t count, const double *x, sk_part *part);

/* From stored arrays, which are copied: omega (p x d) and beta (p); pivot (p x d) and factor (p x p), already checked.
 */
sock_status sk_fourier_restore(sock_context *ctx, const double *omega, const double *beta, sk_part *part);
sock_status sk_landmark_restore(sock_context *ctx, const sk_kernel *kernel, size_t p, const double *pivot,
                                const double *factor, sk_part *part);

/* A map with empty parts: one for each term, or, pivoted, a single one for the whole kernel. SOCK_EUSAGE when the
 * kernel has no such features, or a parameter is open. */
sock_status sk_features_start(sock_context *ctx, const char *option, const sk_kernel *kernel, size_t d, bool pivoted,
                              sk_features **out);
/* Counts the features of a part that was made; SOCK_EUSAGE when all together are more than SK_MAX_FEATURES. To be
 * called part after part, so that a long sum of kernels is refused before it has taken the memory. */
sock_status sk_features_add(sock_context *ctx, const char *option, sk_features *map, const sk_part *part);

#endif
