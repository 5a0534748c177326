/* workexact.c - the exact drift: W k(X, X) W' is made on the card from the points, factored in place and solved. */
#include "work.h"

int work_exact(void *state, const sk_device_system *problem, double *alpha)
{
    card *c = state;
    engine *e = c->engine;
    const size_t n = problem->n, entries = problem->row[n], right = n * problem->columns;
    const double bytes = 8.0 * (1.06 * (double)n * (double)n + 3 * (double)right) + 2e8;
    double *columns = NULL;
    engine_begin(e);
    if (engine_need(e, bytes, "the exact drift") != SK_DEVICE_DONE) return engine_state(e);
    double *l = engine_new(e, n * n * sizeof *l), *x = work_copy(e, problem->x, problem->nodes * problem->d * 8);
    double *weight = work_copy(e, problem->weight, entries * sizeof *weight);
    size_t *row = work_copy(e, problem->row, (n + 1) * sizeof *row);
    size_t *node = work_copy(e, problem->node, entries * sizeof *node);
    sk_device_term *term = work_copy(e, problem->term, problem->terms * sizeof *term);
    double *b = work_copy(e, problem->b, right * sizeof *b);
    columns = engine_new(e, right * sizeof *columns);
    element_args a = {.of.entry = {.n = n,
                                   .d = problem->d,
                                   .terms = problem->terms,
                                   .x = x,
                                   .weight = weight,
                                   .row = row,
                                   .node = node,
                                   .term = term,
                                   .shift = problem->shift,
                                   .l = l}};
    /* Rows on the host are columns here: b is columns x n, and is turned by a product with 1. */
    const double one = 1;
    double *unit = work_copy(e, &one, sizeof one);
    for (size_t k = 0; k < problem->columns; k++)
        engine_gemm(e, 1, 0, n, 1, 1, 1, b + k, problem->columns, unit, 1, 0, columns + k * n, n);
    engine_each(e, EACH_ENTRY, n * n, &a);
    if (!work_stops(c)) engine_cholesky(e, n, l);
    if (!work_stops(c)) engine_solve(e, n, problem->columns, l, columns);
    for (size_t k = 0; k < problem->columns; k++)
        engine_gemm(e, 0, 0, 1, n, 1, 1, unit, 1, columns + k * n, 1, 0, b + k, problem->columns);
    engine_get(e, alpha, b, right * sizeof *b);
    const int answer = engine_state(e);
    void *const all[] = {l, x, weight, row, node, term, b, columns, unit};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) engine_free(e, all[i]);
    return answer;
}
