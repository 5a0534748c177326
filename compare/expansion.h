/* expansion.h - a model that is linear in its coefficients: f_k = phi.w_k, a_kl = phi.v_kl, with the functions of a
 * library; and how a method's parameters name the library. BISDE and gEDMD end as one of these. */
#ifndef CMP_EXPANSION_H
#define CMP_EXPANSION_H

#include "compare/compare.h"
#include "compare/library.h"
#include "compare/steprows.h"

typedef struct cmp_expansion {
    cmp_library *library; /* owned */
    size_t d;
    int commutator;    /* a_kl = phi.v_kl - f_k x_l - f_l x_k instead */
    double *drift;     /* M x d */
    double *diffusion; /* M x pairs (steprows.h) */
} cmp_expansion;

/* Zero coefficients; takes the library over in any case. */
sock_status cmp_expansion_new(sock_context *ctx, cmp_library *library, cmp_expansion **out);
void cmp_expansion_free(void *expansion); /* a cmp_expansion, or NULL */

/* The fields of the model, for sock_model_wrap: user is the expansion. */
void cmp_expansion_drift(void *user, size_t count, size_t d, const double *x, double *f);
void cmp_expansion_diffusion(void *user, size_t count, size_t d, const double *x, double *a);

/* How a regression fills the coefficients of the expansion from the steps: `rest` (CMP_REST_SIZE) gets its settings in
 * words, note (CMP_TEXT_SIZE) what a reader must know. */
enum { CMP_REST_SIZE = 200 };
typedef sock_status (*cmp_regression_fn)(sock_context *ctx, const cmp_spec *spec, const cmp_steps *steps,
                                         cmp_expansion *expansion, char *rest, char *note);

/* A whole fit of such a method: data by fit-on, steps, the library of the parameters (`wants`: see below), regression,
 * model. */
sock_status cmp_expansion_fit(sock_context *ctx, const cmp_spec *spec, const cmp_case *c, unsigned wants,
                              cmp_regression_fn regression, cmp_fitted *out);

/* The parameters that name a library. */
#define CMP_LIBRARY(library, degree)                                                                                   \
    {"library", library, CMP_CHOICE, 0, 0, "poly|gauss|fourier", "the functions that f and a are expanded in"},        \
        {"degree",                                                                                                     \
         degree,                                                                                                       \
         CMP_COUNT,                                                                                                    \
         0,                                                                                                            \
         20,                                                                                                           \
         "a whole number from 0 to 20, or auto",                                                                       \
         "of the monomials; auto: 3 in up to 3 dimensions, else 2, less where the data have too few steps"},           \
        {"count",                                                                                                      \
         "auto",                                                                                                       \
         CMP_COUNT,                                                                                                    \
         1,                                                                                                            \
         CMP_MOST_FUNCTIONS,                                                                                           \
         "a whole number from 1 to 2000, or auto",                                                                     \
         "of the Gaussians or Fourier features; auto: 20 or 100"},                                                     \
        {"width",                                                                                                      \
         "auto",                                                                                                       \
         CMP_NUMBER,                                                                                                   \
         1e-12,                                                                                                        \
         1e12,                                                                                                         \
         "a number > 0, or auto",                                                                                      \
         "of Gaussians (auto: see docs/compare.md) or length scale of Fourier features (auto: median distance)"},      \
    {                                                                                                                  \
        "seed", "0", CMP_COUNT, 0, 9007199254740992.0, "a whole number >= 0", "of the Fourier features"                \
    }

/* What a method wants of its library, added up. */
enum {
    CMP_APPEND = 1, /* Gaussians and cosines with the monomials x_i and x_i x_j beside them */
    CMP_WIDE = 2    /* Gaussians no narrower than the data's standard deviation: for regressions that choose among
                       overlapping functions; least squares on such are near singular */
};

/* The library of a spec with the parameters above, for the steps. */
sock_status cmp_library_of(sock_context *ctx, const cmp_spec *spec, const cmp_steps *steps, unsigned wants,
                           cmp_library **out);

#endif
