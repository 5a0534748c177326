/* noiseclaims.h - the cases of the study of measurement noise and long steps. */
#ifndef EXP_NOISECLAIMS_H
#define EXP_NOISECLAIMS_H

#include "experiments/claimrows.h"

/* Goals that are not there are 0. */
typedef struct noise_case {
    const char *name, *system;
    size_t paths, points;
    double h;
    double ratio;            /* of the medians of RE_f, the fit's over the oracle's, every level */
    double a;                /* median of RE_a, every level */
    double clean_f, clean_a; /* medians without noise */
    double some_f, some_a;   /* medians with noise 0.3 */
    double full_a;           /* with noise 1 */
    double off;              /* median of |R-hat / R - 1| with noise 0.3 */
    double worse;            /* RE_f with noise 1 over that without */
    double plain; /* of the medians of RE_f and RE_a with noise 1, the fit's over those that know of nothing */
    int exact;    /* of clean data as many terms of the drift as the truth has, in 8 of 10 */
    int is_long;  /* steps are long against the dynamics: a small R cannot be found there */
} noise_case;

extern const noise_case noise_cases[];
extern const size_t noise_case_count;
extern const char *const noise_case_names[];  /* NULL at the end */
extern const char *const noise_level_names[]; /* R over a h, NULL at the end */

/* "noise 0.3". */
void noise_level_case(const char *level, char *out, size_t size);

/* All measures of one case at one level on one seed. */
sock_status noise_case_measure(sock_context *ctx, const claim_teller *to, const noise_case *c, const char *level);

#endif
