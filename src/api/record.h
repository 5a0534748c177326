/* record.h - what a fit tells of itself. */
#ifndef SK_RECORD_H
#define SK_RECORD_H

#include "tune/tune.h"

/* The outcome of a search as a JSON object: the keys of a model's information, and under "search_seconds" the seconds
 * of the rows of the search. */
json_t *sk_outcome_json(const sk_tune_outcome *told);

#endif
