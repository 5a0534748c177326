/* library.h - the functions that a rival expands f and a in: monomials, Gaussians on a grid, random cosines; with their
 * first and second derivatives. Order: monomials (graded: 1, x1, x2, x1^2, x1 x2, x2^2, ...), Gaussians, cosines. */
#ifndef CMP_LIBRARY_H
#define CMP_LIBRARY_H

#include "base/base.h"

enum { CMP_MOST_FUNCTIONS = 2000 };

/* What to make; zero counts leave a kind out. */
typedef struct cmp_library_spec {
    size_t d;
    size_t first_degree, degree; /* monomials of these degrees; degree 0 with first_degree 1: none */
    size_t gaussians;            /* at most so many, on a grid of the box lower, upper */
    double width;                /* of the Gaussians in every coordinate; NaN: the spacing of the grid there ... */
    const double *least;         /* ... or this, if it is more: d numbers; NULL: none */
    const double *lower, *upper; /* d numbers each; for Gaussians */
    size_t cosines;              /* cos(omega.x + phase), omega from N(0, I / scale^2) */
    double scale;
    uint64_t seed;
} cmp_library_spec;

typedef struct cmp_library cmp_library;

/* SOCK_EUSAGE when it would hold more than CMP_MOST_FUNCTIONS. Freed with cmp_library_free (NULL is fine). */
sock_status cmp_library_new(sock_context *ctx, const cmp_library_spec *spec, cmp_library **out);
void cmp_library_free(cmp_library *library);
size_t cmp_library_size(const cmp_library *library); /* M */
size_t cmp_library_dim(const cmp_library *library);

/* How many monomials of degree 0 to `degree` there are in d variables; infinite rather than wrong. */
double cmp_monomial_count(size_t d, size_t degree);

/* Phi (count x M) at the points x (count x d). Allocates nothing; safe from several threads. */
void cmp_library_eval(const cmp_library *library, size_t count, const double *x, double *phi);

/* Function m at one point: gradient (d) and Hessian (d x d). */
void cmp_library_derivatives(const cmp_library *library, size_t m, const double *x, double *gradient, double *hessian);

/* The number of the monomial x_i (j = d), or x_i x_j; M when it is not there. */
size_t cmp_library_find(const cmp_library *library, size_t i, size_t j);

/* "1, x, x^2, x^3", "grid 5 x 4 of Gaussians, widths 0.3 0.2", ... */
void cmp_library_describe(const cmp_library *library, char *buffer, size_t size);

#endif
