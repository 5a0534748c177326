/* warnings.h - what speaks against a fit: when, how gravely, and in which words. The decisions are functions of a few
 * numbers; their thresholds stand in tune/policy.h. */
#ifndef SK_WARNINGS_H
#define SK_WARNINGS_H

#include "base/base.h"

/* A model beside constant coefficients, by held-out scores. */
typedef enum sk_verdict {
    SK_UNKNOWN, /* they are not told */
    SK_BETTER,  /* clearly */
    SK_SAME,    /* no clear difference */
    SK_WORSE,   /* clearly */
    SK_VERDICTS
} sk_verdict;

typedef enum sk_severity { SK_NOTE, SK_CAUTION, SK_GRAVE } sk_severity;

typedef enum sk_warning_code {
    SK_WARN_NONE,
    SK_WARN_NOISE,          /* residuals swing back: noise on the states */
    SK_WARN_MEMORY,         /* residuals go on: memory, a hidden state */
    SK_WARN_CONSTANT,       /* no clear difference from constant coefficients */
    SK_WARN_DOUBTED,        /* ... while a test objects to f or a, */
    SK_WARN_BESIDE,         /* ... or to something else in the steps */
    SK_WARN_WORSE,          /* worse than they are */
    SK_WARN_SMALL_A,        /* less than the squared residuals say */
    SK_WARN_LARGE_A,        /* more than they say */
    SK_WARN_DRIFT_EDGE,     /* the penalty is at the edge of its grid */
    SK_WARN_DIFFUSION_EDGE, /* alike */
    SK_WARN_UNSOLVED,       /* a convex problem stopped before its tolerance */
    SK_WARN_EARLY,          /* no better than constant coefficients when the budget was spent */
    SK_WARN_FEW,            /* too few steps to choose a model */
    SK_WARN_WILD,           /* wild steps were left out */
    SK_WARN_WILD_KEPT,      /* ... or not */
    SK_WARN_GAPS,           /* steps across gaps in time were left out */
    SK_WARN_GAPS_KEPT,      /* ... or not */
    SK_WARN_CLOCK,          /* times look like those of a clock, 959 and then 1000 */
    SK_WARN_TIME_STATE,     /* a state is called like a time */
    SK_WARN_CODE,           /* a value looks like a code for a missing one */
    SK_WARN_QUIET,          /* a state has no noise of its own */
    SK_WARN_FOLLOWER,       /* a state follows from others, or from the time */
    SK_WARN_SMOOTH,         /* the states are smooth: there is no noise */
    SK_WARN_ANGLE,          /* a state looks like an angle that is cut at a full turn */
    SK_WARN_LEVELS,         /* an input may be a code of groups */
    SK_WARN_MANY,           /* as many states as steps */
    SK_WARN_OTHER,          /* a sentence that this version does not know */
    SK_WARNINGS
} sk_warning_code;

/* The sentence, without an end; how grave it is; a short name ("noise"). */
const char *sk_warning_text(sk_warning_code code);
sk_severity sk_warning_severity(sk_warning_code code);
const char *sk_warning_name(sk_warning_code code);

/* The code of a sentence; SK_WARN_OTHER for one that is not known. */
sk_warning_code sk_warning_of(const char *text);

/* What the lag-1 correlation of n residuals (or increments) says; SK_WARN_NONE when it is chance, or not finite. The
 * one rule of the fit, the report and the program. */
sk_warning_code sk_warn_lag1(double correlation, double n);

/* What the correlations of the increments of a state say, all of n pairs: at lag 1 and 2, of second differences at lag
 * 1, and at lag 1 over 2, 4, 8.. steps (NaN: not known). See data/lags.h. */
typedef enum sk_lag_kind {
    SK_LAG_DIFFUSION,
    SK_LAG_FEW,   /* perhaps not */
    SK_LAG_CYCLE, /* 0 at lag 1 alone */
    SK_LAG_NOISE,
    SK_LAG_LONG,    /* steps long against the dynamics */
    SK_LAG_FAST,    /* against a part of them, or noise has a memory */
    SK_LAG_EITHER,  /* noise or long steps: independent observations look alike */
    SK_LAG_INERTIA, /* the path has a velocity, */
    SK_LAG_SWING,   /* or a season */
    SK_LAG_SMOOTH,  /* it is smooth, but the states say how it goes on */
    SK_LAG_MEMORY,  /* or a trend */
    SK_LAG_KINDS
} sk_lag_kind;

typedef struct sk_lags {
    double one, two, second;
    size_t thinnings;
    const double *thinned;
} sk_lags;

sk_lag_kind sk_lags_say(const sk_lags *lags, double n);
const char *sk_lag_words(sk_lag_kind kind);

/* The first of the thinnings 2, 4, 8.. beyond which increments are no longer correlated; 0: none of them. */
size_t sk_lags_end(const sk_lags *lags, double n);

/* The verdict on a gain over constant coefficients in nats with its paired standard error (NaN: not known, then it
 * counts as 0): the one place that decides it. Its name in JSON ("better", NULL: unknown), the verdict of a name, and
 * the words for a sentence ("clearly better", "": unknown). */
sk_verdict sk_against_constant(double gain, double error);
const char *sk_verdict_name(sk_verdict verdict);
sk_verdict sk_verdict_of(const char *name);
const char *sk_verdict_words(sk_verdict verdict);

/* What it has against the fit. limited: the budget ended the search, so that it is not the data that support no more.
 */
sk_warning_code sk_warn_gain(sk_verdict verdict, bool limited);

/* The calibration: squared residuals of held-out steps over what a says; not finite or 0: not known. */
sk_warning_code sk_warn_moments(double calibration);

#endif
