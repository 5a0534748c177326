/* kernel.h - kernels k(x, y), matrix-valued kernels K(x, y) and feature maps phi(x). One text grammar names them all:
 *
 *     kernel  = term { "+" term }
 *     term    = name [ ":" key "=" value { "," key "=" value } ]
 *
 *     gauss:eta=E            exp(-|x-y|^2 / (2 E^2))
 *     poly:degree=D          (x.y + 1)^D
 *     linear                 x.y
 *     affine                 x.y + 1
 *     constant               1
 *     fourier:p=P,eta=E,seed=S        P random Fourier features of the Gaussian
 *     nystrom:m=M,of=NAME,...,seed=S  the kernel NAME (with its own parameters) on M landmarks
 *     curlfree:eta=E, divfree:eta=E   matrix-valued Gaussian kernels of gradient / divergence-free fields
 *     rates:degree=D         a diffusion alone: one matrix Q_m >= 0 for each monomial of the bounded states
 *
 * linear, affine and poly take in=root: of the roots of bounded states in their place (rootcoordinates.c); they and
 * rates take bounds=LETTERS, a letter for each state: l (x >= 0), u (x <= 0), b (0 <= x <= 1), - (none), in the units
 * of the features. Left out, it comes from the bounds of the fit, and is l for all without them.
 *
 * Every term takes scale=C (a factor > 0, default 1); gauss, poly, linear, affine and constant take B=[b11 b12;b21 b22]
 * (d x d, symmetric, positive semi-definite), which makes the kernel matrix-valued: k(x, y) B. Left out, eta and m come
 * from the data, and degree=2, p=100, of=gauss, seed=0. fourier and nystrom have features and no formula: they join
 * with poly, linear, affine, constant and each other, and not with gauss or matrix-valued terms. */
#ifndef SK_KERNEL_H
#define SK_KERNEL_H

#include "base/base.h"

typedef struct sk_family sk_family; /* a row of the table in family.h */

enum { SK_MOST_SIDES = 64 }; /* coordinates of kernels that know bounds */

typedef struct sk_term {
    const sk_family *family;
    const sk_family *of;           /* of those that take it (nystrom): the kernel that the features are of */
    double eta;                    /* NaN: from the data */
    double scale;                  /* factor, 1 by default */
    size_t degree;                 /* poly */
    size_t p;                      /* fourier: features; nystrom: landmarks (0: automatic) */
    uint64_t seed;                 /* fourier, nystrom */
    size_t b_dim;                  /* 0, or the order of B */
    double *b;                     /* b_dim x b_dim, or NULL */
    bool root;                     /* of the roots of bounded states */
    char sides[SK_MOST_SIDES + 1]; /* of bounded families: a letter for each coordinate; "": left open, l for all */
    sock_matrix_kernel_fn callback;
    void *callback_user;
} sk_term;

typedef struct sk_kernel {
    size_t terms;
    sk_term *term;
} sk_kernel;

/* `option` names the source of the text in messages ("drift"). SOCK_EUSAGE names the place, the word and what is
 * allowed. */
sock_status sk_kernel_parse(sock_context *ctx, const char *option, const char *text, sk_kernel **out);
sock_status sk_kernel_from_callback(sock_context *ctx, sock_matrix_kernel_fn fn, void *user, sk_kernel **out);
sock_status sk_kernel_copy(sock_context *ctx, const sk_kernel *kernel, sk_kernel **out);
void sk_kernel_free(sk_kernel *kernel);

/* Text that parses back to the same kernel (17 digits). Freed with sk_free. */
char *sk_kernel_format(sock_context *ctx, const sk_kernel *kernel);

bool sk_kernel_is_matrix(const sk_kernel *kernel);   /* any term with B, curlfree, divfree, callback */
bool sk_kernel_is_closed(const sk_kernel *kernel);   /* scalar, and k(x, y) is a formula: no fourier, no nystrom */
bool sk_kernel_has_formula(const sk_kernel *kernel); /* the same, matrix-valued or not */
bool sk_kernel_is_implicit(
    const sk_kernel *kernel); /* has a gauss term (infinite features), and pivots, of points or of their roots */
bool sk_kernel_has_text(const sk_kernel *kernel);  /* sk_kernel_parse knows it: no function of the user's own */
bool sk_kernel_names_eta(const sk_kernel *kernel); /* a length scale is given */
/* The formula for a device: a term each; NULL where it has another form, or memory runs out. Freed with sk_free. */
struct sk_device_term *sk_kernel_device_terms(sock_context *ctx, const sk_kernel *kernel);

/* A map of one part of random Fourier features or monomials the same way; *whole := false for others. */
struct sk_device_piece;
typedef struct sk_features sk_features;
sock_status sk_features_for_device(sock_context *ctx, const sk_features *map, struct sk_device_piece *out, bool *whole);
void sk_device_piece_clear(struct sk_device_piece *piece);
bool sk_kernel_is_open(const sk_kernel *kernel);    /* a length scale is wanted and not given */
bool sk_kernel_is_bounded(const sk_kernel *kernel); /* knows bounds: rates, or in=root */

/* Fills in bounds that were left open: a letter for each state. */
void sk_kernel_set_sides(sk_kernel *kernel, const char *sides);

/* The letters of a bounded kernel in d dimensions into sides (d + 1 bytes). */
void sk_kernel_sides(const sk_kernel *kernel, size_t d, char *sides);

/* How many features it has in d dimensions; max_rank of them for an implicit term, 0 for a matrix-valued one. What
 * sk_features_count says, but for a choice of points with fewer. */
double sk_kernel_features(const sk_kernel *kernel, size_t d, size_t max_rank);

/* The kernel that fourier and nystrom terms stand for: their features have its diagonal, nearly. A copy. */
sock_status sk_kernel_closed_form(sock_context *ctx, const sk_kernel *kernel, sk_kernel **out);

/* For messages: the names of all families of a kind, between them the separator. buffer: SK_NAMES bytes; returned. */
typedef enum sk_kind {
    SK_KIND_NAMED,    /* all that have a name in the grammar */
    SK_KIND_CLOSED,   /* k(x, y) is a formula */
    SK_KIND_EXPLICIT, /* has finite features */
    SK_KIND_IMPLICIT, /* a formula and no finite features */
    SK_KIND_MAPPED,   /* finite features and no formula */
    SK_KIND_FIXED     /* has finite features that need no points */
} sk_kind;
enum { SK_NAMES = 256 };
const char *sk_kernel_names(sk_kind kind, const char *separator, char *buffer);

/* Whether it vanishes at the origin, so that the functions it makes all do (linear): it means the zero of the states.
 */
sock_status sk_kernel_means_zero(sock_context *ctx, const sk_kernel *kernel, size_t d, bool *means);

/* Whether a kernel's text begins with the name of a family of polynomials. */
bool sk_kernel_text_is_polynomial(const char *text);

/* Whether a kernel's text is of one that knows bounds. */
bool sk_kernel_text_is_bounded(const char *text);

/* Fills in what was left open (eta: the median distance; landmarks: 500, or all points) from the points x (count x d),
 * and checks the kernel against d (B, divfree on a line, a callback beyond 64 dimensions). */
sock_status sk_kernel_resolve(sock_context *ctx, const char *option, sk_kernel *kernel, size_t d, size_t count,
                              const double *x);

/* Length scales from the data: the median distance between points (at most 1000 of them, evenly taken); 1 when all
 * points coincide. */
sock_status sk_median_distance(sock_context *ctx, size_t d, size_t count, const double *x, double *out);

/* ---- Scalar kernels in closed form (sk_kernel_is_closed; fourier and nystrom go through sk_features) ---- */

/* out (nx x ny, rows of length ld) = [k(x_i, y_j)]. Distances are formed as differences, so data far from the origin
 * lose no digits. No Gaussian is less than exp(-600). On the calling thread; `space`: sk_kernel_space(d, ny) doubles
 * of the caller's (per thread; about 256 (d + 16), whatever ny is). Every eta must be known (sk_kernel_resolve). */
size_t sk_kernel_space(size_t d, size_t ny);
void sk_kernel_block(sock_context *ctx, const sk_kernel *kernel, size_t d, size_t nx, const double *x, size_t ny,
                     const double *y, double *out, size_t ld, double *space);
void sk_kernel_diagonal(const sk_kernel *kernel, size_t d, size_t nx, const double *x, double *out); /* k(x_i, x_i) */

/* ---- Matrix-valued kernels ---- */

/* out (nx d x ny d, rows of length ld): block (i, j) is K(x_i, y_j). Works for scalar kernels too (K = k I). */
void sk_kernel_matrix_block(const sk_kernel *kernel, size_t d, size_t nx, const double *x, size_t ny, const double *y,
                            double *out, size_t ld);

/* ---- Feature maps: k(x, y) = phi(x).phi(y), exactly or nearly ---- */

typedef struct sk_features sk_features;

/* Exact features (poly, linear, affine, constant), Fourier features, Nystrom features (landmarks taken from x, count x
 * d; pivoted, so a rank-deficient choice gives fewer), and their sums, one behind the other. x is needed for nystrom
 * alone. SOCK_EUSAGE: gauss and matrix-valued terms, an eta or m left open, more than a million features.
 *
 * Order of poly: degree D first, ..., 1 last; inside a degree x0^2, x0 x1, ..., x1^2, .... affine: x, then 1. */
sock_status sk_features_new(sock_context *ctx, const char *option, const sk_kernel *kernel, size_t d, size_t count,
                            const double *x, sk_features **out);

/* gamma(x) = L_pp^-1 k(y_piv, x) by a pivoted Cholesky of [k(x_a, x_b)]: isometric on the span of the points when
 * complete. tolerance and max_rank as in sk_pivoted_cholesky. phi (optional): receives count x p features of the
 * points themselves, allocated, freed with sk_free. *complete (optional). Scalar kernels with closed form only (gauss,
 * poly, linear, affine, constant and sums). SOCK_ENUMERIC when the kernel is zero at all points. */
sock_status sk_features_pivoted(sock_context *ctx, const sk_kernel *kernel, size_t d, size_t count, const double *x,
                                double tolerance, size_t max_rank, bool give_up_early, sk_features **out, double **phi,
                                bool *complete);

/* Pivoted features of m of the points, chosen at random by the seed (0: 500, at most all): the Nystrom form of a kernel
 * in closed form. A rank-deficient choice gives fewer features. */
sock_status sk_features_landmarks(sock_context *ctx, const sk_kernel *kernel, size_t d, size_t count, const double *x,
                                  size_t m, uint64_t seed, sk_features **out);

/* Of a polynomial kernel's monomials (map: all of them, or some) those at the places keep[0] < keep[1] < ... alone;
 * count > 0. In its units. */
sock_status sk_features_select(sock_context *ctx, const sk_features *map, size_t count, const size_t *keep,
                               sk_features **out);
void sk_features_free(sk_features *map);
size_t sk_features_count(const sk_features *map); /* p */
size_t sk_features_dim(const sk_features *map);   /* coordinates of a point */
size_t sk_features_inner(const sk_features *map); /* those that the features see: as many, or those of roots */

/* From now on the map takes x to what it was at (x - origin) / scale (d numbers each, copied; NULL: 0 and 1; scale
 * positive): features made of coordinates with a zero and units of their own. Values, derivatives, labels, copies and
 * files follow; pivots stay in the units of the features. */
sock_status sk_features_set_units(sock_context *ctx, sk_features *map, const double *origin, const double *scale);

/* Both of d numbers, or both NULL: x is taken as it is. */
const double *sk_features_origin(const sk_features *map);
const double *sk_features_scale(const sk_features *map);

/* Phi (nx x p, rows of length ld). In parallel over blocks of points. */
sock_status sk_features_eval(sock_context *ctx, const sk_features *map, size_t nx, const double *x, double *phi,
                             size_t ld);

/* The same on the calling thread without allocating: count <= block points, sk_features_space(map, block) doubles of
 * the caller's. */
size_t sk_features_space(const sk_features *map, size_t block);
void sk_features_block(sock_context *ctx, const sk_features *map, size_t count, const double *x, double *phi, size_t ld,
                       double *space);

/* d phi_j / d x_k at one point into out (p x d). */
sock_status sk_features_jacobian(sock_context *ctx, const sk_features *map, const double *x, double *out);

/* What feature j is, in the state's names, for equations: phi_j = *weight (optional) times the text, "x^2*y", "1",
 * "cos(0.5*x + 1.2)". A feature of pivots is named after the one it adds, "k(., pivot 3)"; in an equation use the
 * kernel and the pivots (below). Freed with sk_free. */
char *sk_features_label(sock_context *ctx, const sk_features *map, const char *const *names, size_t j, double *weight);

/* Puts the zero of bounded states exactly on their bounds (d each), which changes of units leave to rounding: what
 * vanishes at a bound is 0 there. For maps of kernels that know bounds, with units. */
void sk_features_snap(sk_features *map, const double *lower, const double *upper);

/* Whether the features are those of a kernel that knows bounds, and of rates. */
bool sk_features_bounded(const sk_features *map);
bool sk_features_separate(const sk_features *map);

/* The text of the monomial x^m whose root feature j of such rates is, "S*I", "1", "y*(1 - y)", in the state's own
 * units; *weight: phi_j^2 = *weight times it. Freed with sk_free. */
char *sk_features_rate(sock_context *ctx, const sk_features *map, const char *const *names, size_t j, double *weight);

/* Whether every feature is a monomial; and feature j of such a map: *weight times the product of x_k^power[k] over its
 * d states, or (x_k - origin_k)^power[k]. */
bool sk_features_polynomial(const sk_features *map);
void sk_features_monomial(const sk_features *map, size_t j, unsigned *power, double *weight);

/* For maps of one part on pivots (sk_features_pivoted, or nystrom alone): the r = p pivots (r x d), the factor L_pp (r
 * x r, lower) and the kernel; NULL for other maps. f(x) = gamma(x).w is then k((x - origin) / scale, pivots).c with c =
 * L_pp^-T w. */
const double *sk_features_pivots(const sk_features *map);
const double *sk_features_factor(const sk_features *map);
const sk_kernel *sk_features_kernel(const sk_features *map);

/* A map as text and named arrays, and back (for the model file). Names are unique in a map: "0.omega", "1.factor".
 * Export: the text and the list of arrays are freed with sk_free (the list may be empty); the values belong to the
 * map. */
typedef struct sk_array {
    char name[32];
    size_t rows, cols;
    const double *values; /* borrowed */
} sk_array;
sock_status sk_features_export(sock_context *ctx, const sk_features *map, char **text, sk_array **arrays,
                               size_t *count);

/* Takes copies. Checks the text, that the arrays are those of the text and no others, every size and every number;
 * SOCK_EINPUT with a reason. */
sock_status sk_features_import(sock_context *ctx, const char *text, size_t d, const sk_array *arrays, size_t count,
                               sk_features **out);
sock_status sk_features_copy(sock_context *ctx, const sk_features *map, sk_features **out);

#endif
