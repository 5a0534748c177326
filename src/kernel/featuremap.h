/* featuremap.h - the inside of a feature map: parts, one behind the other. A kind of part is a table of functions in
 * the file of the family that makes it (polyfeatures.c, fourier.c, landmarks.c); features.c and featurefile.c know no
 * kind.
 */
#ifndef SK_FEATUREMAP_H
#define SK_FEATUREMAP_H

#include "kernel/family.h"

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

enum { SK_PART_ARRAYS = 2 };

struct sk_part {
    const sk_part_kind *kind;
    size_t d, p;
    sk_term term;                 /* as given; b is NULL */
    const double *origin, *scale; /* the map's, for labels; NULL: 0 and 1 */
    size_t arrays;
    struct {
        const char *name;
        size_t rows, cols;
        double *values;
    } array[SK_PART_ARRAYS]; /* its numbers, which a file holds; freed with it */
    void *own;               /* what follows from the term alone: one block, freed with it */
    sk_kernel *kernel;       /* landmarks: the kernel at the points; else NULL */
};

/* Arrays of a part on landmarks: p x d points, and the Cholesky factor of the kernel's matrix at them, p x p, lower,
 * zeros above. */
enum { SK_LANDMARKS, SK_FACTOR };

struct sk_features {
    size_t d, p, parts;
    size_t inner; /* coordinates that the parts see: d, or those of roots */
    sk_part *part;
    sk_kernel *kernel; /* what was asked for */
    bool pivoted;      /* one part, from sk_features_pivoted */
    double *origin;    /* d, and behind them as many units of the coordinates: the parts see (x - origin) / scale */
    double *scale;     /* these units; both NULL: x */
};

/* The name of state k in labels: x, or (x - 300) where the map has that origin. NULL: out of memory. */
char *sk_part_state(sock_context *ctx, const sk_part *part, const char *const *names, size_t k);

/* A new array of the part, all zeros; the name is borrowed. NULL: out of memory. */
double *sk_part_array(sock_context *ctx, sk_part *part, const char *name, size_t rows, size_t cols);

/* The arrays of a file, while the part at `place` is read from them. */
struct sk_stored {
    sock_context *ctx;
    size_t place;
    const sk_array *arrays;
    size_t count, used;
};

/* Copies the array of that name into the part, after its shape and every number are checked. rows 0: any number from 1
 * to SK_MAX_FEATURES. SOCK_EINPUT with a reason. */
sock_status sk_stored_array(sk_stored *s, sk_part *part, const char *name, size_t rows, size_t cols);

/* Whether the file has that array of the part. */
bool sk_stored_has(const sk_stored *s, const char *name);

/* Makers that several families share: weighted monomials up to a degree, the coordinates alone, and pivots of a whole
 * kernel from a file. */
sock_status sk_monomials(const sk_making *m, size_t degree, sk_part *part);
sock_status sk_monomials_load(sk_stored *s, size_t degree, sk_part *part); /* all, or those that the file names */
sock_status sk_coordinates(const sk_making *m, sk_part *part);
sock_status sk_landmarks_load(sk_stored *s, const sk_kernel *kernel, sk_part *part);

/* A map with empty parts: one for each term, or, pivoted, a single one for the whole kernel. SOCK_EUSAGE when the
 * kernel has no such features, or a parameter is open. */
sock_status sk_features_start(sock_context *ctx, const char *option, const sk_kernel *kernel, size_t d, bool pivoted,
                              sk_features **out);
/* Counts the features of a part that was made; SOCK_EUSAGE when all together are more than SK_MAX_FEATURES. To be
 * called part after part, so that a long sum of kernels is refused before it has taken the memory. */
sock_status sk_features_add(sock_context *ctx, const char *option, sk_features *map, const sk_part *part);

#endif
