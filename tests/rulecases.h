/* rulecases.h - trials of candidates with given scores and errors, for the tests of the rules of the search. */
#ifndef SOCK_RULECASES_H
#define SOCK_RULECASES_H

#include "test.h"
#include "tune/rules.h"

enum { MANY = 16, CLUSTERS = 2 };

/* Trials of candidates with a score and a paired error to the first: with two clusters that error is the difference of
 * what the two differ by, so {error, 0} beside {0, 0}. */
typedef struct field {
    sk_candidate candidate[MANY];
    sk_trial trial[MANY];
    double cluster[MANY][CLUSTERS];
    sk_trial *list[MANY];
    sk_field_trials t;
} field;

/* The first is the best. error: NULL: none. Behind the last one there is another, better and simpler than all, which
 * must not be looked at. */
static inline void make(field *w, size_t count, const double *score, const double *error)
{
    *w = (field){.t = {count, CLUSTERS, w->candidate, w->list, 0}};
    for (size_t i = 0; i <= count; i++) {
        w->cluster[i][0] = error && i < count ? error[i] : 0;
        w->trial[i].score = i < count ? score[i] : 1e9;
        w->trial[i].cluster = w->cluster[i];
        w->list[i] = &w->trial[i];
    }
    w->candidate[count] = (sk_candidate){.simplicity = -99, .roles = SK_ROLE_BASIC};
}

/* Who is alive, as a text of + and -; nothing is written behind the last. */
static inline void assert_alive(const field *w, const bool *alive, const char *expected)
{
    char text[MANY + 1] = {0};
    for (size_t i = 0; i < w->t.count; i++) text[i] = alive[i] ? '+' : '-';
    assert_string_equal(text, expected);
    assert_false(alive[w->t.count]);
}

#endif
