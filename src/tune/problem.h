/* problem.h - the rows that the search works on: single steps, their folds, and what the current model says about each
 * of them. Candidates are compared on these rows, by the likelihood of a second-order Gaussian transition,
 *
 *     next | y  ~  N(y + I f,  C),   C = F (I a) F' + eps I,   F = 1 + h/2 Jf(y),
 *
 * where I g is the conditional quadrature of g over the step. The jitter eps stands in the data term as well,
 * tr C^-1 (e e' + eps 1), so that it does not pull a down. */
#ifndef SK_PROBLEM_H
#define SK_PROBLEM_H

#include "model/model.h"
#include "occupation/steps.h"

/* A step that is in the training part of every fold. */
#define SK_ALWAYS SIZE_MAX

/* With fewer steps scores tell little about a model between and beyond the data, and simple ones are preferred more. */
enum { SK_FEW_ROWS = 250 };

typedef struct sk_problem {
    size_t n, d, folds, clusters;
    sk_steps *steps;
    size_t *fold;      /* n, not falling: the fold that holds the step out; SK_ALWAYS at the end */
    size_t *first;     /* folds + 2: steps first[f] .. first[f+1]-1 are fold f; the last range is SK_ALWAYS */
    size_t *cluster;   /* n: steps of one trajectory (or block) stand or fall together */
    bool *moves;       /* n: whether anything changes in the step; steps at rest say nothing about typical sizes */
    double resolution; /* mean square of the smallest change a coordinate can show; 0: as fine as you like */
    double eps;        /* jitter of the likelihood, at least that */
    double *scale;     /* d units of the steps, see scaling.h; NULL: those of the data */
    double density;    /* added to the score of a step, so that it is that of the data: - sum log scale */
    /* from the current model, see sk_problem_condition */
    bool conditional;
    bool
        weighted; /* rows of the drift weighted by precision, those of the diffusion by size; set before conditioning */
    bool diagonal;        /* the current a is, so the components can be weighted apart */
    sk_rule *rule, *ends; /* conditional rule; trapezoid of the two ends */
    double *left;         /* n x d x d: F */
    double *integral;     /* n x d x d: I a of the current model */
    double *precision;    /* n x d x d: weights of the drift's rows, (h a + 0.1 median)^-1 */
    double middle;        /* median of tr(h a) / d */
    double *size;         /* n: |h a|_F; row weights of a full diffusion */
    double *part;         /* n x d: (h a)_kk; row weights of a diagonal one */
    double *inverse;      /* n x d x d: C^-1 with the current a */
    double *offset;       /* n: the part of the score that the residual does not change */
} sk_problem;

/* Takes steps over (freed with the problem, also on failure). fold (not falling) and cluster: n each, copied. */
sock_status sk_problem_new(sock_context *ctx, sk_steps *steps, const size_t *fold, size_t folds, const size_t *cluster,
                           size_t clusters, sk_problem **out);
void sk_problem_free(sk_problem *p);

/* The steps listed in keep with their folds, and the same jitter; not yet conditioned. */
sock_status sk_problem_subset(sock_context *ctx, const sk_problem *p, size_t count, const size_t *keep,
                              sk_problem **out);

/* Rules, weights and score covariances from a model; NULL: the left point, weights 1 and the covariance of the
 * increments. diagonal: the model's a is. */
sock_status sk_problem_condition(sock_context *ctx, sk_problem *p, const sock_model *model, bool conditional,
                                 bool diagonal);

/* The median over the steps that move (over all where none does) of n numbers >= 0; where it is 0, the largest. */
sock_status sk_problem_middle(sock_context *ctx, const sk_problem *p, const double *value, double *out);

/* out (n x d x d) = I a for any model on the problem's rule. */
sock_status sk_problem_integrate(sock_context *ctx, const sk_problem *p, const sock_model *model, double *out);

/* Log likelihood of step i with residual e under the current a. */
double sk_problem_quick_score(const sk_problem *p, size_t i, const double *e);

/* log N(e; 0, C) - eps tr C^-1 / 2: the jitter eps that stands in C stands in the data too, so that it does not pull a
 * down. C is d x d, of which the lower half is read; -infinity where it is not positive definite. space: d^2 + d. */
double sk_log_density(size_t d, const double *c, const double *e, double eps, double *space);

/* Log likelihoods of the steps begin .. end-1, the numbers to be maximised, into score[0 .. end-begin-1]: -infinity
 * where a covariance is not positive definite. e (n x d) and integral (n x d x d): residuals and I a of all steps;
 * floor h 1 is added to each I a. space: sk_scores_space(d), aligned as sk_doubles does. */
size_t sk_scores_space(size_t d);
void sk_problem_scores(const sk_problem *p, size_t begin, size_t end, const double *e, const double *integral,
                       double floor, double *score, double *space);

/* The same for residuals 0 under the current a, and C^-1 of these steps into inverse (n x d x d). */
void sk_problem_inverses(const sk_problem *p, size_t begin, size_t end, double *offset, double *inverse, double *space);

#endif
