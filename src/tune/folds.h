/* folds.h - from data to the rows of the search: who is held out when. */
#ifndef SK_FOLDS_H
#define SK_FOLDS_H

#include "tune/problem.h"
#include "tune/tune.h"

/* *full: all steps, by trajectory in folds (or, with a validation set, its steps held out and the data's always in).
 * One trajectory alone is cut into blocks, and the step between two blocks is left out. *screen: whole trajectories
 * with about screen_rows steps; *full itself where there are not many more. */
sock_status sk_folds_problem(sock_context *ctx, const sk_tune_spec *spec, size_t screen_rows, sk_problem **full,
                             sk_problem **screen);

#endif
