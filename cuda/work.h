/* work.h - the operations of the plugin, and what they share. */
#ifndef WORK_H
#define WORK_H

#include "engine.h"

typedef struct card {
    engine *engine;
    int (*cancelled)(void *user);
    void *user;
} card;

int work_sums_begin(void *state, const sk_device_shape *shape, void **sums);
int work_sums_add(void *state, void *sums, const sk_device_rows *rows);
int work_sums_end(void *state, void *sums, double *g, double *g_low, double *c, double *c_low);
void work_sums_drop(void *state, void *sums);
const double *work_sums_gram(const void *sums); /* that was read; NULL: there is none */
int work_levels(void *state, const sk_device_gram *problem, sk_device_answer *answer);
int work_exact(void *state, const sk_device_system *problem, double *alpha);
int work_simulate(void *state, const sk_device_paths *job);

/* Asked between pieces of work; then the engine is in that state. */
int work_stops(card *c);

/* A copy on the card; NULL, and the engine has failed, where there is no memory. */
void *work_copy(engine *e, const void *from, size_t bytes);

/* Features of each product of p: q of each. */
int work_pairs(engine *e, size_t p, unsigned **one, unsigned **other);

#endif
