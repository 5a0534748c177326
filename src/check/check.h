/* check.h - is such an SDE the right model at all? Every observed step is compared with what the model itself does over
 * that step, so that long steps raise no false alarm:
 *
 *  starts.c     with measurement noise, or positions alone: what the observations up to the start of a step say of the
 *               state there
 *  ends.c       simulated ends of every step; v = normal score of the observed one: standard normal, independent
 *  fitted.c     Z: the directions in which v and v^2 were fitted
 *  scoretest.c  T = |B'y|^2 ~ chi^2, B an orthonormal basis of the columns W without Z
 *  horizon.c    runs of steps against the steps that they are made of
 *  battery.c    nine tests of v, with sizes of effect; cycles.c, calendar.c, exits.c: what they need
 *  verdict.c    Holm, objections, and one sentence with what to do about it
 *
 * Random numbers belong to the point where a step starts: nothing depends on threads or on which steps are chosen. */
#ifndef SK_CHECK_H
#define SK_CHECK_H

#include "data/data.h"
#include "model/model.h"
#include "model/sampler.h"

typedef struct sk_check_spec {
    size_t draws; /* simulated ends for each step; 0: those of the quick form */
    size_t most;  /* steps that are looked at */
    bool tabled;  /* the quick form has fields from a table, and so more ends */
    double alpha;
    uint64_t seed;
    double freedom;                    /* degrees of freedom of the drift; NaN: not known */
    const double *floor;               /* d: the floor of a; NULL: there is none */
    bool flow;                         /* the fit followed long steps through: f and a are those of the process */
    bool noise_sought;                 /* the fit looked for measurement noise, and took what it found */
    bool second;                       /* the data look like positions whose velocities were not observed */
    size_t angle;                      /* 1 + the state that looks like an angle which is cut; 0: none */
    const bool *skip;                  /* points: wild steps that begin there are left out; NULL: none */
    size_t skipped;                    /* of them */
    size_t exits;                      /* whole paths that are simulated, too */
    bool drift_named, diffusion_named; /* the user named the kernels of the fit */
    sock_bounds bounds;
    const double *lower, *upper; /* d numbers each, or NULL */
} sk_check_spec;

/* ---- laws.c ---- */

double sk_normal_tail(double z);                    /* P(Z > z) */
double sk_student_normal(double t, double freedom); /* the normal number as rare as t, by Wallace's formula */
double sk_chi_square_tail(double statistic, double freedom);

/* The statistic of n sorted numbers in (0, 1), and the chance of a larger one when they are uniform. */
double sk_anderson_darling(size_t n, const double *sorted);
double sk_anderson_darling_tail(double statistic);

/* ---- starts.c ---- */

typedef struct sk_check_steps sk_check_steps;

/* The law of the state at the start of every step given the observations of its piece up to there, N(m, C C'), by the
 * filter of the model; and what a shift of it becomes. */
typedef struct sk_check_lifted sk_check_lifted;
typedef struct sk_check_starts {
    size_t w;     /* numbers of a state: d, or positions and velocities */
    double *m;    /* n x w */
    double *root; /* n x w x w: C, lower */
    double *end;  /* n x d: variances of the observation at the end, given those before */
    double *kept; /* n x d: of a shift of state k at the end of the step before, before it was observed there, what is
                     left at the end of this one; 0 where a piece begins. NULL: `lifted` knows */
    double *r;    /* d x d: the Cholesky factor of R; NULL: there is no noise */
    sk_check_lifted *lifted; /* of second order: the pass of the filter, of which rows of a fit are made; else NULL */
} sk_check_starts;

/* Single steps of a model with measurement noise. */
sock_status sk_check_starts_new(sock_context *ctx, const sock_model *model, const sock_data *data,
                                const sk_check_steps *steps, sk_check_starts *out);
void sk_check_starts_free(sk_check_starts *starts);

/* Of positions, by a model of order 2. The first step of a piece is left out of `steps`: it says where the velocity is.
 */
sock_status sk_check_second_starts(sock_context *ctx, const sock_model *model, const sock_data *data,
                                   sk_check_steps *steps, sk_check_starts *out);

/* What `width` numbers at the nodes of the filter's steps do to the prediction of an observation, or to its variance:
 * rows (n x width) of the steps. fill: writes them (count x width) for points (count x w); they are averaged. */
#define SK_CHECK_NODE_POINTS(d) (6 * (d)) /* points that it is called with at most */
typedef sock_status (*sk_check_fill)(void *arg, size_t count, const double *points, double *out);
sock_status sk_check_lift(sock_context *ctx, const sk_check_starts *starts, size_t n, size_t width, bool squared,
                          sk_check_fill fill, void *arg, double *rows);

/* ---- ends.c ---- */

/* Steps from the point from[i] to the point from[i] + reach; those of one piece follow one another. */
struct sk_check_steps {
    size_t count, reach;
    size_t *from;
    size_t *piece;                 /* number of the piece of a trajectory */
    size_t *single;                /* the single step that it begins with */
    const sk_check_starts *starts; /* by single step, borrowed; NULL: a step starts at the observation */
};

/* At most about `most` steps: all, or pieces evenly chosen; a step that is left out (skip, by point; may be NULL) ends
 * a piece. reach > 1: those of `single` that start a run of so many in one piece, without overlap. */
sock_status sk_check_choose(sock_context *ctx, const sock_data *data, const bool *skip, size_t most,
                            sk_check_steps *out);
sock_status sk_check_runs(sock_context *ctx, const sk_check_steps *single, size_t reach, sk_check_steps *out);
void sk_check_steps_free(sk_check_steps *steps);

/* Steps of the quick form in d dimensions, where each costs more; and ends for each of them: of few steps as many as
 * `sock check` makes, so that both say the same. cost: of an end, as a multiple of that of a short step; tabled: fields
 * come from a table. */
size_t sk_check_quick_steps(size_t d, bool tabled);
size_t sk_check_quick_draws(size_t d, bool tabled, size_t steps, double cost);

/* Of `most` steps those that cost as much as so many short ones; not below those of the quick form. */
size_t sk_check_most_steps(size_t most, double cost);

/* What the steps of a model are among its own simulated ones. */
typedef struct sk_check_scores {
    size_t count, d, draws;
    double *v;      /* count x d normal scores; NaN: the state has none in this step */
    double *pit;    /* count x d, in (0, 1) */
    double *far;    /* count x d: distance of the observed end from the others' mean in their standard deviations */
    double *power;  /* (draws + 1) x d x 2: sums of u^2 and u^4 over the steps, the observed one last */
    size_t *scored; /* d: steps that have a score */
    size_t lost;    /* simulated ends that left the finite numbers */
} sk_check_scores;

/* How an end is reached: Euler steps, or, where steps are long, those of Heun's rule for the drift, whose error is of
 * the second order in the step. */
typedef struct sk_check_path {
    size_t inner;
    bool heun;
} sk_check_path;

/* For steps, or runs, of h |Jacobian of f| = length; not fewer than `least`. */
sk_check_path sk_check_path_of(double length, size_t least);

/* The model's fields, by a table where so many evaluations are worth one. */
sock_status sk_check_sampler(sock_context *ctx, const sock_model *model, const sock_data *data, double evaluations,
                             sk_sampler **out);

sock_status sk_check_ends(sock_context *ctx, const sock_model *model, const sock_data *data,
                          const sk_check_steps *steps, const sk_check_spec *spec, sk_check_path path,
                          sk_check_scores *out);
void sk_check_scores_free(sk_check_scores *scores);

/* The scores of one step: ends (draws + 1) x d, the observed one last, which become u. used[k]: whether state k has a
 * score. That is decided by a at the start alone, so that the observed end has no say in it: a state that follows from
 * the ones before has none, nor one whose variance, given them, is mostly the floor's. */
typedef struct sk_check_ranking {
    size_t d, draws;
    const double *a;       /* d x d; NULL: all states have scores */
    const double *floor;   /* d: what was put on the diagonal of a without being fitted; NULL: nothing */
    const double *uniform; /* d */
    double *space;         /* 2 d^2 + d */
} sk_check_ranking;
void sk_check_rank(const sk_check_ranking *r, double *ends, double *pit, bool *used);

/* ---- scoretest.c ---- */

/* Z (n x q) becomes an orthonormal basis (n x *rank) of its leading directions, at most `most`; columns count alike. */
sock_status sk_orthonormal(sock_context *ctx, size_t n, size_t q, size_t most, double *z, size_t *rank);

/* y, whose entries are independent with mean 0 and variance 1 under the null, and the orthonormal columns Z (n x q)
 * that were fitted. */
typedef struct sk_scored {
    size_t n, q;
    const double *y, *z;
    double kurtosis; /* of an entry of y, beyond that of a normal number */
} sk_scored;

/* A statistic that is added up over the states: a chi-square with so many degrees of freedom, but for a variance that
 * is larger by `excess`. */
typedef struct sk_tally {
    double statistic, freedom, excess;
} sk_tally;

/* The chance of a larger one, by the gamma law of the same mean and variance. */
double sk_tally_stretch(const sk_tally *tally); /* by which statistic and freedom are divided there */
double sk_tally_tail(const sk_tally *tally);

/* Which way y goes along one column: its product with what is left of the column. */
double sk_score_slope(const sk_scored *rows, const double *column);

/* The score test of the columns W (n x w, destroyed) for y: adds to the tally. */
sock_status sk_score_test(sock_context *ctx, const sk_scored *rows, size_t w, double *W, sk_tally *tally);

/* ---- horizon.c ---- */

/* many: squares of the scores of `runs` runs of `reach` steps; each: means of the squares over the steps of a run. The
 * statistic, chi-square with one degree of freedom, of whether both have the same mean. */
double sk_check_horizon(size_t runs, size_t reach, const double *many, const double *each);

/* ---- fitted.c ---- */

/* Points of the steps and the fields there. */
typedef struct sk_check_rows {
    size_t n, d, in;     /* in: coordinates of a point of the model, states and inputs */
    size_t first;        /* of its states the one whose noise is that of the first observed: d for positions, else 0 */
    double *x, *h, *t;   /* n x d, n, n; x: the mean of the state where it is not observed */
    double *z;           /* n x in: the points of the model; x where there are no inputs */
    double *a;           /* n x d x d: of second order that of the velocities */
    double *variance;    /* n x d: of the end: h a_kk, or with measurement noise that of the observation there */
    const double *kept;  /* n x d, as in sk_check_starts; NULL: without noise nothing is kept */
    const size_t *piece; /* n, borrowed as well */
    const sk_check_starts *starts; /* alike; NULL: states are observed */
} sk_check_rows;

sock_status sk_check_rows_new(sock_context *ctx, const sock_model *model, const sock_data *data,
                              const sk_check_steps *steps, sk_check_rows *out);
void sk_check_rows_free(sk_check_rows *rows);

/* Features of the leading drift (their number is p; 0: nothing was fitted) and of the leading diffusion. */
typedef struct sk_fitted {
    size_t p, q;
    double *drift, *diffusion; /* n x p, n x q */
    size_t freedom;            /* directions that are taken of many features */
    const sock_model *model;
} sk_fitted;

sock_status sk_fitted_new(sock_context *ctx, const sock_model *model, const sk_check_rows *rows, double freedom,
                          sk_fitted *out);
void sk_fitted_free(sk_fitted *fitted);

/* Orthonormal columns for the mean and for the variance of state k; *z is allocated. used: n, rows with a score. */
sock_status sk_fitted_mean(sock_context *ctx, const sk_fitted *fitted, const sk_check_rows *rows, size_t k,
                           const bool *used, double **z, size_t *columns);
sock_status sk_fitted_variance(sock_context *ctx, const sk_fitted *fitted, const sk_check_rows *rows, size_t k,
                               const bool *used, double **z, size_t *columns);

/* ---- cycles.c ---- */

/* v without its lag-1 correlation, in pieces. */
typedef struct sk_check_series {
    size_t count, stride;
    const double *v;     /* count of them, spaced by the stride; NaN counts as 0 */
    const size_t *piece; /* count */
} sk_check_series;

typedef struct sk_cycle {
    double statistic, freedom; /* portmanteau: lags 2 to the longest that is useful */
    double size;               /* the largest of its correlations */
    double peak;               /* chance of a peak of the spectrum as high as the highest */
    double period;             /* of that peak, in steps; 0: it is not seen twice */
    double share;              /* of the variance that the peak explains */
} sk_cycle;

sock_status sk_check_cycles(sock_context *ctx, const sk_check_series *series, sk_cycle *out);

/* Lag-1 correlation within pieces: sum of products over the number of scores. */
double sk_check_lag1(const sk_check_series *series);

/* ---- calendar.c ---- */

enum { SK_CALENDAR_PERIODS = 3 };

/* A season of the calendar, in units of time, and the waves that steps are short enough to show. */
typedef struct sk_calendar_season {
    double length;
    const char *says;
    size_t waves;
} sk_calendar_season;

/* Those that data with such a median step and such a span can show; unit: that of dates, NULL where times were numbers.
 * Answers how many. */
size_t sk_calendar_seasons(const char *unit, double step, double span, sk_calendar_season out[SK_CALENDAR_PERIODS]);

/* "12 months" for a period that is one; NULL: none of the calendar. */
const char *sk_calendar_name(const char *unit, double period);

/* Cosines and sines at times t, out: n x 2 waves; 0 where not used. */
void sk_calendar_waves(const sk_calendar_season *season, size_t n, const double *t, const bool *used, double *out);

/* ---- battery.c ---- */

enum { SK_CHECK_TESTS = SOCK_CHECK_TESTS };

/* How a law changes over time: its mean in one direction, its mean there and back, its noise. */
typedef enum sk_check_change { SK_CHANGE_TREND, SK_CHANGE_BEND, SK_CHANGE_NOISE } sk_check_change;

/* Numbers that the verdict speaks of. NaN: not known. */
typedef struct sk_check_facts {
    size_t steps, all_steps, draws, lost, runs;
    double alpha;
    double lag1, variance_ratio, scale; /* of the state where they are farthest from 0, 1 and 1 */
    size_t lag1_state;
    double noise;                    /* standard deviation that the lag-1 correlation would be explained by */
    double long_step;                /* median of h |Jacobian of f| */
    double between;                  /* share of a lag-1 correlation above 0 that is in means of trajectories */
    bool apart;                      /* the past of a trajectory tells what its state does not */
    bool quick;                      /* `sock check` would take more ends, or more steps */
    bool flow, noise_sought, second; /* as in the specification */
    size_t angle, left_out;          /* alike */
    double period;                   /* in units of time; 0: none stands out */
    const char *season, *unit;       /* its name in the calendar, and the unit of times that were dates; NULL: none */
    double tails;                    /* log of kurtosis over that of the replicates, where it is largest */
    size_t wild;                     /* steps beyond all simulated ones by far */
    double wild_time;                /* of the first */
    struct {
        size_t state, of; /* what misses, and on what it depends: a state, or from d on an input */
        double at;
    } drift, diffusion;
    sk_check_change change; /* what says most about `time`: of which state, and whether it grows */
    size_t change_state;
    bool change_up;
    double exit_share[2]; /* of whole paths: beyond the range of the data, and off */
    bool drift_named, diffusion_named;
} sk_check_facts;

sock_status sk_check_battery(sock_context *ctx, const sock_model *model, const sock_data *data,
                             const sk_check_spec *spec, sock_check_test test[SK_CHECK_TESTS], sk_check_facts *facts);

/* What all tests begin with: their names, and the effect from which on each matters; nothing is known. */
void sk_check_begin(sock_check_test test[SK_CHECK_TESTS], sk_check_facts *facts);

/* The scores of single steps alone, with where they start; of too few steps for a test, too. */
sock_status sk_check_score_steps(sock_context *ctx, const sock_model *model, const sock_data *data,
                                 const sk_check_spec *spec, sock_step_scores *out);

/* A test that was made by few of its columns, too: the less likely of both is kept, and its p counts double. */
void sk_check_by_few(const sk_tally *few, sock_check_test *test);

/* Shares of so many simulated paths that leave the range of the data, widened by half on each side, and that run off;
 * NaN: none was made. */
sock_status sk_check_exits(sock_context *ctx, const sock_model *model, const sock_data *data, const sk_check_spec *spec,
                           size_t paths, double share[2]);

/* Median and ninth decile of h |J|, J the Jacobian of f in units of the states' spread, |J| its root mean square
 * singular value. */
sock_status sk_check_long_step(sock_context *ctx, const sock_model *model, const sk_check_rows *rows, double out[2]);

/* ---- verdict.c ---- */

/* Holm's adjusted p over the tests that could be run, and which of them object. */
void sk_check_decide(double alpha, sock_check_test test[SK_CHECK_TESTS]);

/* The sentence: the first row of the table that fits. */
void sk_check_verdict(const sock_model *model, const sk_check_facts *facts, const sock_check_test test[SK_CHECK_TESTS],
                      sock_checks *out);

/* All of it. */
sock_status sk_check(sock_context *ctx, const sock_model *model, const sock_data *data, const sk_check_spec *spec,
                     sock_checks *out);

#endif
