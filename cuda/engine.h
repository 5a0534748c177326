/* engine.h - what the operations of the plugin (work*.c) are made of: memory of the card, products, factorisations, and
 * one function (elements.h) for each of many elements. cudaengine.cu does it on a card; tests/hostengine.c with the
 * processor, so that all but that one file is tested without a card.
 *
 * Column-major. An engine that has failed does nothing more until engine_begin: callers look at engine_state at the end
 * of a run of calls. */
#ifndef ENGINE_H
#define ENGINE_H

#include "base/device.h"
#include "elements.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct engine engine;

/* SK_DEVICE_DONE, or SK_DEVICE_NONE with the reason in about. */
int engine_open(int number, engine **out, char name[32], char about[160], double *memory);
void engine_close(engine *e);

/* A new operation: earlier failures are forgotten. */
void engine_begin(engine *e);
int engine_state(engine *e); /* waits for all that was asked for */
int engine_asked(engine *e); /* whether it could be asked for: does not wait */
int engine_fail(engine *e, int state, const char *reason);
const char *engine_error(const engine *e);

/* SK_DEVICE_MEMORY, with how much, where fewer bytes are free. */
int engine_need(engine *e, double bytes, const char *what);

/* What is asked for from here on goes aside: beside what is asked for after engine_back, which waits for nothing.
 * Behind engine_join all waits for what is aside. */
void engine_aside(engine *e);
void engine_back(engine *e);
void engine_join(engine *e);

void *engine_new(engine *e, size_t bytes);
void engine_free(engine *e, void *at);
void engine_put(engine *e, void *to, const void *from, size_t bytes); /* from the host */
void engine_get(engine *e, void *to, const void *from, size_t bytes); /* to the host */
void engine_copy(engine *e, void *to, const void *from, size_t bytes);
void engine_zero(engine *e, void *at, size_t bytes);

/* C (m x n) = alpha op(A) op(B) + beta C; lower triangle of C (n x n) = A A' + beta C with A n x k. */
void engine_gemm(engine *e, int ta, int tb, size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
                 const double *b, size_t ldb, double beta, double *c, size_t ldc);
void engine_syrk(engine *e, size_t n, size_t k, const double *a, double beta, double *c);
double engine_dot(engine *e, size_t n, const double *x, const double *y);
void engine_axpy(engine *e, size_t n, double alpha, const double *x, double *y);
void engine_scale(engine *e, size_t n, double alpha, double *x);

/* The lower triangle of A (n x n): A := eigenvectors in columns, w ascending; A = L L'; A := its inverse by L (lower);
 * B (n x m) := A^-1 B by L. Not positive definite: SK_DEVICE_NUMERIC. */
void engine_eigen(engine *e, size_t n, double *a, double *w);
void engine_cholesky(engine *e, size_t n, double *a);
void engine_invert(engine *e, size_t n, double *l);
void engine_solve(engine *e, size_t n, size_t m, const double *l, double *b);

/* element_of(kind, args, 0 .. count - 1). */
void engine_each(engine *e, int kind, size_t count, const element_args *args);

#ifdef __cplusplus
}
#endif

#endif
