/* policy.h - every number by which a fit decides, with the reason. Scores are log likelihoods of held-out rows, in
 * nats. Any room may read it; it reads nothing. Numbers that are rounding, speed or mathematics stay where they are
 * used (tools/check-policy knows them). A test of a decision fails when one of these changes (tools/mutants); what says
 * `speed only` is the most that is spent on what ends by itself before. */
#ifndef SK_POLICY_H
#define SK_POLICY_H

/* ---- Rows ---- */

#define SK_SCREEN_ROWS 2000   /* the screen tells the hopeless from the rest; more rows tell no more */
#define SK_SEARCH_ROWS 30000  /* kernels are chosen on so many; beyond, all rows fit what was chosen, */
#define SK_SEARCH_NUMBERS 8e7 /* or on so many over d^2: in a hundred dimensions a pass over 20 000 takes a minute */
#define SK_BUDGET_RATE 4e7    /* rows of a search in a second, times d^3: what a budget leaves of the two above, */
#define SK_BUDGET_LEAST 0.05  /* seconds: a smaller one counts as this */
#define SK_BUDGET_ROWS 200    /* at least so many */
#define SK_MANY_ROWS 1.5      /* a part of the rows is worth its trouble where there are so many times more */
#define SK_FEW_ROWS 250       /* below, scores say little about a model between and beyond the data */
#define SK_LEAST_ROWS 15    /* fewer say nothing about a model: constant coefficients, unless the user names kernels */
#define SK_PIVOT_ROWS 20000 /* pivots of Gaussian features are taken of so many */
#define SK_ROW_BYTES 64     /* a step takes at most so many for itself, */
#define SK_STATE_BYTES 48   /* and so many for each state: by these rows that do not fit are refused */
#define SK_KEPT_NUMBERS 8e6 /* features of rows are kept up to so many numbers, 64 MB */
#define SK_KEPT_BYTES 6.4e7 /* views of rows are kept up to this (speed only: they are made anew else), */
#define SK_KEPT_BYTES_MANY 2e8 /* and this in more than ten dimensions; speed only */
#define SK_JITTER_MANY 1e-2    /* of the median square increment: a may be singular in several dimensions */
#define SK_JITTER_ONE 1e-4     /* ... next to nothing in one */
#define SK_GRAIN_REPEATS 3     /* the smallest change recurs in so many steps where data are counted or rounded, */
#define SK_GRAIN_SHARE 0.01    /* and in this share of those that change, */
#define SK_GRAIN_WHOLE 0.9     /* and of these so many change by whole multiples of it, */
#define SK_GRAIN_OFF 1e-3      /* to so much of it: equal numbers in data that are not rounded have none */
#define SK_GRAIN_REST 0.8      /* where so many of all steps rest, the law of a step between them is not seen */
#define SK_ROUNDING_SHARE 0.04 /* of the typical square step made by rounding: noise is tried without a test, */
#define SK_ROUNDING_FOUND 0.25 /* and needs no evidence where so much of the variance of rounding is found */
#define SK_REACH 1e-3          /* of the standard deviation of a state: differences of f are taken over it */
#define SK_TYPICAL_ROWS 65536  /* the medians of large data are taken of so many */
#define SK_VARIANCE_SHARE 0.1  /* of the typical variance is added to a row's: one with none would outweigh all */
#define SK_JUDGE_SHARE 0.01    /* and this where drifts are judged: next to nothing where a is sane */
#define SK_SIZE_SHARE 0.3      /* of the median size of a: rows with next to no noise do not outweigh all others */

/* ---- Wild values ---- */

#define SK_WILD_CUT 5.0           /* robust deviations, the least that is looked at; what decides is the gap */
#define SK_WILD_MOST 0.03         /* of the steps: more are no exception. An outlier in 1 % of the points spoils 2 % */
#define SK_WILD_MOST_OF 134       /* of at least so many: two outliers spoil four steps of any data */
#define SK_WILD_LEAST_STEPS 60    /* with fewer nothing is known of the rest */
#define SK_WILD_BODY 3.0          /* deviations up to which a step belongs to the rest whatever the rest is */
#define SK_WILD_CHANCE 1e-4       /* that one of a data set with heavy tails is called wild */
#define SK_WILD_TAIL 50           /* steps below that tell the tail index, */
#define SK_WILD_TAIL_SHARE 0.005  /* or this share of all; of few data */
#define SK_WILD_TAIL_PART 5       /* one in so many, */
#define SK_WILD_TAIL_LEAST 12     /* at least these: the body has no tail index */
#define SK_WILD_WINDOW 16         /* steps to each side in time */
#define SK_WILD_ALONE 8           /* with fewer others in its trajectory a step is compared by its state alone */
#define SK_WILD_NEIGHBOURS 100    /* steps that begin near the same state, at most a quarter of all */
#define SK_WILD_SAMPLE 10000      /* steps among which neighbours are looked for */
#define SK_WILD_NUMBERS 100000    /* or so many numbers: in many dimensions, where all are far, fewer do */
#define SK_WILD_SAMPLE_LEAST 1000 /* and never fewer than this */
#define SK_WILD_RETURN 10         /* points of an excursion that ends where it began */
#define SK_WILD_STRETCH 20        /* steps of a stretch of far points that does */
#define SK_WILD_RESETS 2          /* far steps from one end of a state to one place are resets of it, */
#define SK_WILD_RESET_TIMES 3     /* where so many times as many steps begin there, with them */
#define SK_WILD_BURST 5           /* steps from one wild step to the next that make a burst */
#define SK_WILD_TAIL_ERRORS 1.5   /* standard errors by which the tail index is taken heavier */
#define SK_WILD_LOCAL 3           /* wild steps among the neighbours of one, */
#define SK_WILD_LOCAL_TIMES 5     /* and so many times their share of all steps: it is the state that makes them */
#define SK_WILD_NEAR 0.25         /* of a step: two places so near each other are one */
#define SK_WILD_LIVED 100         /* a place is lived in where one step in so many begins there, */
#define SK_WILD_BETWEEN 20        /* two are wells where one in so many of those begins between them; */
#define SK_WILD_LONELY 200        /* out of the way of all others is where fewer than one in so many begin */
#define SK_WILD_TOLD 20           /* wild steps that are named, the largest first */
#define SK_CLOCK_HOURS 3          /* of times like 959 and then 1000: so often an hour has to begin, */
#define SK_CLOCK_REGULAR 0.9      /* and this part of the steps to be alike in minutes */
#define SK_GAP_TIMES 20           /* median steps: a step that is longer is a gap, where such steps are an exception */
#define SK_CODE_REPEATS 3         /* a value that stands for a missing one recurs */
#define SK_CODE_VALUES 10         /* among others that are many, */
#define SK_CODE_RANGES 1.0        /* beyond a gap of so many ranges of the others */
#define SK_CODE_QUARTILES 5       /* and so many interquartile ranges */
#define SK_CODES 8                /* that are named of each coordinate */
#define SK_LEVELS_LEAST 3         /* an input of so many whole numbers, one for each trajectory, */
#define SK_LEVELS_MOST 12         /* up to so many, may be a code of groups */

/* ---- States that are none ---- */

#define SK_FOLLOWER_LEFT 1e-10 /* of the squares of its increments: a state that others leave less of follows them */
#define SK_FOLLOWER_STEPS 3    /* steps for each state, at least: fewer are a sum of each other by chance */
#define SK_SMOOTH_NOISE 1e-6   /* of the mean square step: noise with less is not seen, as in a drift of three digits */
#define SK_SMOOTH_ROWS 20000   /* windows that stand for all, */
#define SK_SMOOTH_LEAST_ROWS 30 /* and so many at least */

#define SK_ANGLE_STEP 0.125  /* of the range: the median step of an angle that is seen finely is shorter; */
#define SK_ANGLE_FAR 0.75    /* a jump is longer than this, and no step is between that and its complement: */
#define SK_ANGLE_NEAR 8      /* such steps at most is what a jump by the whole range leaves; */
#define SK_ANGLE_BETWEEN 0.1 /* for each jump: steps in between, or jumps that leave more; */
#define SK_ANGLE_JUMPS 3     /* so many jumps at least, */
#define SK_ANGLE_WITHIN 0.1  /* and so much of the points in the middle half, where a switch has none */

/* ---- Folds ---- */

#define SK_FOLDS 6             /* where the user names none */
#define SK_SCREEN_FOLDS 2      /* of them, in pilot and screen */
#define SK_FEW_TRAJECTORIES 3  /* fewer are cut into pieces */
#define SK_PIECES 2            /* of a trajectory for each fold */
#define SK_MOST_CLUSTERS 45000 /* each has its scores; with more, some of one fold are judged together */
#define SK_GAP_STEPS 4         /* a step between two pieces is left out where pieces have so many */
#define SK_LOT_DIGITS 1e4      /* lots are digits of the content beyond what all trajectories share: so many times it */

/* ---- Units ---- */

#define SK_ZERO_REACH                                                                                                  \
    3 /* the states' own zero is the roundest number within so many standard deviations of their mean: 0 where they    \
         surround it, */
#define SK_ZERO_ITSELF                                                                                                 \
    3.5 /* and up to so many: about 0 the equations of nature are shorter. The third state of Lorenz 63 has its mean   \
           at 3.0 to 3.3 */

/* ---- Candidates ---- */

#define SK_DRIFT_FEATURES 300     /* of a drift: a solution takes a second or so */
#define SK_MOST 64                /* of a field, at most */
#define SK_DRIFT_RANK_ONE 60      /* Gaussian features of a drift in one dimension; in up to three those above; */
#define SK_DRIFT_RANK_MANY 150    /* and beyond */
#define SK_PILOT_RANK 60          /* in the pilot */
#define SK_SCREENED_FEATURES 6000 /* of a learned quadratic drift in many dimensions: a hundred have 5151, */
#define SK_WORKING_SET 64         /* of which so many are left to each equation, a few times what equations have, */
#define SK_PURSUITS 4             /* a fourth of them at a time: what is left shows the next ones */
#define SK_DIFFUSION_FEATURES 44  /* of a diffusion: q = p (p + 1) / 2 unknowns in each pair */
#define SK_DIFFUSION_RANK_ONE 40  /* Gaussian features of a diffusion in one dimension */
#define SK_DIFFUSION_RANK_MANY 20 /* and beyond */
#define SK_DIFFUSION_RANK_LEAST 4 /* where even these cost too much */
#define SK_FULL_ORDER 120         /* order p d of Q of a full a */
#define SK_FULL_NUMBERS 2         /* beyond three states its steps have so many numbers for each unknown of Q, */
#define SK_DIAGONAL_NUMBERS                                                                                            \
    2                          /* and so many of each state for each unknown of that state's Q of a richer diagonal a  \
                                */
#define SK_AFFORDABLE 2.5e9    /* q^3, times d if diagonal: a decomposition for each fold, seconds */
#define SK_MANY_DIMENSIONS 10  /* beyond, a component of a diagonal a may depend on its own coordinate alone, */
#define SK_AFFORDABLE_MANY 3e8 /* and the others cost at most this */
#define SK_DRIFT_PIVOT 1e-10   /* residual at which Gaussian features are complete */
#define SK_DIFFUSION_PIVOT 1e-8
#define SK_JOINT_ORDER_FEW 1500 /* components are fitted jointly up to this order of the system in d <= 3, */
#define SK_JOINT_ORDER_MANY 400 /* this beyond: d^2 blocks */
#define SK_SHARED_FEATURES 100  /* more than so many in d > 3 share one system with the mean precision */
#define SK_FEW_DIMENSIONS 3

/* ---- Inputs ---- */

#define SK_INPUT_GAIN 3      /* nats held out by which an input joins f or a: an idle one gains less, mostly loses */
#define SK_INPUT_ERRORS 2    /* and so many paired errors: a few trajectories must not decide alone */
#define SK_INPUT_JUMPS 0.2   /* one that changes in a smaller share of the steps jumps: it holds its previous value */
#define SK_INPUT_COPY 0.9999 /* correlation beyond which an input is a copy of a state or of another input */

/* ---- Penalties ---- */

#define SK_DRIFT_LAMBDAS 14 /* 1e2 ... 1e-11 */
#define SK_FINE_LAMBDAS 11  /* of diffusions: 10 ... 1e-9, */
#define SK_THIN_LAMBDAS 5   /* 1, 1e-2, ... 1e-8 in the screen and beside noise, */
#define SK_PILOT_LAMBDAS 4  /* the first of them in the pilot, */
#define SK_OWN_LAMBDAS 4    /* 1e-2 ... 1e-8 where three unknowns for each component hardly need a penalty */
#define SK_ROWS_PER_FREEDOM                                                                                            \
    15                          /* with fewer for a degree of freedom, folds do not show what a drift does in between  \
                                 */
#define SK_PATH_LOSS 10         /* a penalty is past the best when it is worse by this many nats ... */
#define SK_PATH_SHARE 1e-3      /* ... and this share of the score; */
#define SK_PATH_REPEATS 2       /* so many times in a row, and smaller ones are not tried */
#define SK_EDGE_NATS 0.1        /* an end of the grid where the score is flat is no edge */
#define SK_TOLERANCE 1e-6       /* relative gap of convex problems */
#define SK_TOLERANCE_MANY 1e-4  /* in the search, in more than three dimensions */
#define SK_TOLERANCE_PILOT 1e-4 /* in the pilot */

/* ---- Screen ---- */

#define SK_SCREEN_ERRORS 1.5 /* survivors are within so many paired standard errors of the best, */
#define SK_SCREEN_NATS 4     /* drifts within so many nats as well: of two much alike the error says next to nothing; */
#define SK_SCREEN_DRIFTS 8   /* at most so many */
#define SK_SCREEN_DIFFUSIONS 8

/* ---- Rounds ---- */

#define SK_FINALISTS 3    /* diffusions that are confirmed under their own quadrature */
#define SK_NEAR_NATS 20   /* candidates this near the best go on */
#define SK_NEAR_POLISH 60 /* diffusions that may still be polished in several dimensions: the order may turn round; */
#define SK_NEAR_BEST 5    /* but the best few alone are polished, and one more may come to be among them */
#define SK_RIVAL_NATS 60  /* a drift of another kind this near is confirmed too: nodes of its own may turn the order */
#define SK_FINAL_ERRORS 3 /* a finalist is within the same or so many paired errors, for the same reason */
#define SK_ROUND_LOSS 1   /* a round that is worse than the last by this is rejected */
#define SK_BACK_NATS 20   /* drifts that were dropped come back where the next model lets the best gain this, */
#define SK_BACK_FEATURES                                                                                               \
    60 /* with more features only if the last model was no judge: behind constants, or drifts gain so differently; */
#define SK_BACK_BEHIND 12 /* and stay within so many nats, their freedom priced: at 9.2 they count for nothing */

#define SK_REFITS 4     /* the model is fitted with nodes and weights of its own at most so often, */
#define SK_REFIT_NATS 5 /* as long as that gains more than this: a little comes of rows that the nodes have seen */

/* ---- Drift ---- */

#define SK_SIMPLER_NATS                                                                                                \
    2 /* a simpler drift may be worse by a paired error, at most this (more where rows are few),                       \
       */
#define SK_FREEDOM_NATS 0.25 /* or by this for each degree of freedom that it saves, */
#define SK_FREEDOM_MOST 10   /* at most this or a standard error */
#define SK_TIE_NATS 1e-6     /* equal but for rounding is a tie */
#define SK_SHARE_LEAST 0.01  /* relative weight below which a part is not in an average */
#define SK_SHARE_NATS 2      /* weights are exp(score / this): a score is a draw with an error of about a nat */
#define SK_FREEDOM_PRICE 1   /* what a richer drift gains by following noise shows beyond the data, not in the score */
#define SK_IDLE_NATS                                                                                                   \
    2 /* of evidence: a term that costs less without which the others do as well goes again; the price of entry took   \
         weak true terms with it, */
#define SK_IDLE_STEPS                                                                                                  \
    1000 /* and with more steps half a nat more for each factor of e, as long as that is less than the price of entry: \
            of the terms of Lorenz 63 chance makes one in seven worth 2 nats */
#define SK_PRUNE_TERMS                                                                                                 \
    24                   /* terms in all from which the way back begins, too: some are worth something only together   \
                          */
#define SK_PRUNE_TRIED 3 /* terms with the least to say that are left out for a try, one at a time */

/* ---- Diffusion ---- */

#define SK_POLISHED 4         /* diffusions that are polished in a pass */
#define SK_POLISH_HOPELESS 20 /* one that loses so many nats by it is not polished again */
#define SK_POLISH_RANK 8      /* columns of the factor that is polished */
#define SK_POLISH_RATES 12    /* columns of the factors of rates that are polished, each of one feature */
#define SK_POLISH_SHARE 1e-6  /* of the largest eigenvalue: smaller ones are left out */
#define SK_POLISH_STEPS 60
#define SK_POLISH_JITTER_MANY 0.1 /* of the median square residual: a may be singular in several dimensions */
#define SK_POLISH_JITTER_ONE 1e-4
#define SK_AVERAGED 8              /* diffusions in an average */
#define SK_REWEIGHTINGS 4          /* of learned features by sqrt(Q_mm), each with a solution; */
#define SK_NEGLIGIBLE_FEATURE 1e-6 /* of the largest: left out then */
#define SK_SIMPLICITY_NATS 1       /* for each step in simplicity */

/* ---- Boundaries ---- */

#define SK_BOUND_SHARE 0.2   /* of the mean: a state >= 0 whose least value is below has the bound 0 */
#define SK_BOUND_LEFT 0.1    /* of its mean: such a bound stands where the leading a has no more left there, */
#define SK_BOUND_GONE 0.02   /* or the a of usual kernels, of the model that is delivered, no more than this, */
#define SK_BOUND_CLOSE 10    /* and, beside measurement noise, so many data lie within its deviation, none beyond */
#define SK_BOUND_POINTS 500  /* by about so many points */
#define SK_ROOT_ORDER 60     /* order p d of Q up to which poly of roots and learned rates are tried */
#define SK_RATE_PENALTY 1e-5 /* l at which sets of monomials are compared: next to none */
#define SK_RATE_ENTERS 3     /* nats held out: a monomial enters the rates with such a gain */
#define SK_RATE_LEAVES 1     /* and leaves them when it costs less than this */
#define SK_MOST_SKEWED 30.0  /* of two points near a bound: beyond, the far one is where nobody has been */

/* ---- Floor: c mean(a) 1 ---- */

#define SK_FLOORS 7       /* 0, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3 */
#define SK_USUAL_FLOORS 6 /* the last only where Euler's likelihood asks for it */
#define SK_SHRINKS 11     /* the parts give way to the floor by 0, a tenth, ... all of what it adds to their mean */
#define SK_FLOOR_NATS 2   /* the largest within one standard error of the best, at most this; */
#define SK_FLOOR_FEW 50   /* where rows are few, within this / n */

/* ---- Guards ---- */

#define SK_CLEAR_GAIN 100    /* such a gain is one over the best constants too */
#define SK_WORSE_NATS 2      /* a model that is worse than constants by this gives way */
#define SK_SLOPE_NATS 1.5    /* a drift that gains no more over a constant one tells nothing of x, */
#define SK_MEAN_NATS 0.5     /* beside what the mean of each state costs a prediction; */
#define SK_SLOPE_CLEAR 30    /* it is not asked again, under the final model, where it gains so much */
#define SK_GAIN_ERROR 7      /* nats: the most that the error of a gain asks for. More is how few trajectories differ */
#define SK_PLAIN_TRIED 3     /* models that a plain one was chosen among */
#define SK_RICHER_TOLD 1     /* what the guards gave up is told where it scored so much more */
#define SK_MOMENTS_COST 1e6  /* n d^3 up to which the moments of the step are asked */
#define SK_MOMENTS_FIRST 250 /* so many steps are asked first, */
#define SK_MOMENTS_CLEAR 2   /* and are enough where they gain so many times what is needed */

#define SK_FORM_SURE                                                                                                   \
    0.95 /* of the weight: with less the errors of an equation are told to be those of its form alone */

/* ---- States without noise of their own ---- */

#define SK_QUIET_SHARE                                                                                                 \
    1.25 /* residuals up to this times what the noise of others accounts for: f and a are not exact */
#define SK_QUIET_LEAST 1e-6     /* of the square increments: a drift of three digits */
#define SK_QUIET_LONGEST 1      /* h |J| of the steps that tell noise of order h^3 from noise of order h */
#define SK_QUIET_FOLLOWED 0.5   /* of what the others' residuals should say beforehand they must, and */
#define SK_QUIET_TURNED 0.25    /* of what rounding leaves this turns back at the next step, where 1/2 should, */
#define SK_QUIET_PAIRS 5        /* of so many neighbours at least */
#define SK_QUIET_ROWS 20000     /* steps that stand for all, */
#define SK_QUIET_NUMBERS 2e7    /* or as many as this has d^3, */
#define SK_QUIET_LEAST_ROWS 200 /* at least these */

/* ---- Noise and long steps ---- */

#define SK_OUTLIER 100       /* an innovation beyond so many times its variance says nothing about the drift */
#define SK_LEAST_TURN 1e-3   /* pivot of F below which a step has turned round: a first order says nothing of it */
#define SK_RUN_STEPS 200     /* a long trajectory is cut into runs of so many: a point in 200 is lost, folds are won */
#define SK_NOISE_MOST_DIM 10 /* dimensions with noise: its cost grows with the third power and more */
#define SK_STEP_LEAST (-1000.0) /* nats: a step counts at least this, lost ones too */
#define SK_FLOW_MARGIN 0.5      /* of the width of the data, on each side: the law of a step is followed in that box */
#define SK_SUBSTEPS_MOST 16     /* 1, 2, 4, ... of them are tried */
#define SK_SUBSTEPS_FALL 8      /* they fall again in the iterations where one in so many is enough */
#define SK_SUBSTEPS_ASKED 500   /* steps of the data that are asked how many are needed; */
#define SK_SUBSTEPS_FEW 0.1    /* this share of them may want more. They want more where twice as many change the law */
#define SK_SUBSTEPS_ERRORS 0.5 /* by so many standard errors of all data, */
#define SK_SUBSTEPS_ERRORS_LONG                                                                                        \
    0.25 /* where steps are surely long so many: at half of one a of OU at h = 1 was too large by half its error; */
#define SK_SUBSTEPS_FINE 0.005    /* kept between this relative change */
#define SK_SUBSTEPS_COARSE 0.05   /* and this */
#define SK_NOISE_TOLERANCE 1e-5   /* relative gap of convex problems in the iterations */
#define SK_NOISE_ORDER 400        /* of a drift's system, which couples all components */
#define SK_NOISE_DRIFT_NATS 4     /* a simpler drift may be worse by a paired error, at most this; */
#define SK_NOISE_DIFFUSION_NATS 2 /* a simpler diffusion by this */
#define SK_RICHER_NATS_LONG 3     /* over long steps it stays but for a gain of so many nats held out, */
#define SK_RICHER_ERRORS_LONG                                                                                          \
    1.5                         /* and so many errors: chance gave up to 4 +- 3, an a that varies 26 +- 8 and more     \
                                 */
#define SK_NOISE_RANK 25        /* Gaussian features of a diffusion, */
#define SK_NOISE_A_ORDER 60     /* and this over d at most where Q couples the states: its problems cost d^3 more */
#define SK_SWEEP_TOLERANCE 1e-4 /* relative gap of convex problems that only compare candidates */
#define SK_NOISE_BEHIND 30      /* nats: a candidate so far behind the best of a sweep is not tried in the next */
#define SK_NOISE_UNDER                                                                                                 \
    10 /* nats below the search's own score: an average may be so much better than one model, no more */
#define SK_NOISE_FLOOR 1e-3       /* of the mean a, coordinate by coordinate: least a within the iterations */
#define SK_NOISE_FLOOR_TRACE 1e-3 /* a coordinate counts at least so much of the trace there */
#define SK_LEAST_NOISE 1e-3       /* of the median square residual: least R at the start, */
#define SK_LEAST_LATER 0.1        /* and this share of it later */
#define SK_PILOT_RIDGE 1e-8       /* next to no penalty */
#define SK_PILOT_SHARE 0.1        /* of the squares of residuals: least that a constant a keeps beside the noise */
#define SK_PILOT_PASSES 12        /* of an affine pilot of long steps, at most; speed only */
#define SK_PILOT_STEPS 2000       /* that the pilot which only asks for substeps looks at */
#define SK_PILOT_GAIN 0.5         /* nats: a pass that gains less is the last */
#define SK_PILOT_ENOUGH 1.0    /* nats: a share of the way that gains more is taken without looking at shorter ones */
#define SK_FAR_OUT 10          /* residuals beyond so many medians say nothing about a pilot's a */
#define SK_NOISE_ITERATIONS 20 /* at most; 7 are usual, 12 to 20 where steps are long and noisy; speed only */
#define SK_NOISE_SWEEPS                                                                                                \
    {                                                                                                                  \
        1, 2, 4, 6                                                                                                     \
    } /* iterations in which candidates are compared, */
#define SK_NOISE_LAST_SWEEP 6
#define SK_NOISE_POLYNOMIALS 2 /* polynomials alone up to this one: a Gaussian that came first would stay */
#define SK_NOISE_HOPELESS                                                                                              \
    20 /* nats: a fit of long steps is given up so far behind the clean model after the first sweeps, or, begun at it, \
          not so far ahead */
#define SK_HOPELESS_EACH                                                                                               \
    0.1 /* nats for each value: so far behind, a fit with suspected noise is given up there, too; kernels are to come  \
         */
#define SK_NOISE_SETTLED 0.05 /* nats: no more iterations after the last sweep */
#define SK_NOISE_STALLED 3    /* of them that do not raise the likelihood by that: they go to and fro */
#define SK_TURN_LEAST 2       /* passes of one drift and diffusion before they may be settled */
#define SK_SWEEP_LOSS 20      /* a sweep may lower the training likelihood by this, */
#define SK_SWEEP_SHARE 0.01   /* or by this for each step: a richer kernel may go */
#define SK_SURELY_LONG 4      /* substeps: the fit of long steps is tried; with fewer if it promises a gain */
#define SK_CLEARED_STEPS 20   /* steps for each feature of the state that residuals are cleared of */
#define SK_NOISE_PAIRS 50     /* fewer pairs of neighbouring steps say nothing about noise */
#define SK_FLOW_NUMBERS                                                                                                \
    5e5 /* steps x substeps x d^2 of a fit of long steps: with more it is made on the rows of the screen, and a few    \
           passes on all rows end it */
#define SK_FLOW_STEPS 60 /* with fewer the law of long steps follows chance: 40 steps lost 4 nats each on others */
#define SK_NOISE_SUM 1   /* sum of the z-scores over sqrt(d) that lets a fit with noise be tried */
#define SK_LONG_GAIN 1   /* nats held out, or promised: of a fit of long steps; held out beyond its error, too */
#define SK_NOISE_GAIN 2  /* nats held out: R that is not there gains them in a set of 44, */
#define SK_NOISE_GAIN_EACH 0.7 /* and this more for each state but the first: its R is fitted to all rows; */
#define SK_NOISE_ERRORS 1      /* and so many paired errors. Where steps are long */
#define SK_NOISE_GAIN_LONG 2   /* as much: 1 let R in that is not there in 7 sets of 40, since fits differ by more; */
#define SK_NOISE_EACH_LONG 0.6 /* less for each state but the first; */
#define SK_NOISE_ERRORS_LONG 0.5
#define SK_VALLEY_NATS 10 /* held out, by which another start must win: the first one ended in a wrong valley */
#define SK_DOUBT_NATS                                                                                                  \
    0.8 /* R that gains nearly what is asked for over long steps is not excluded; with less clean sets suffer */
#define SK_DOUBT_AHEAD 0.05 /* nats for each value: a clean fit this far behind that of long steps is none */
#define SK_NOISE_HINT                                                                                                  \
    0.3 /* of that gain: R that promises less on the rows of the clean fit gets no fit. Of what more states add to it  \
           all, where steps are short: R of each gains a quarter of a nat by chance, 2.5 +- 1.8 in ten */
#define SK_HINT_LOSS                                                                                                   \
    3 /* times what the smallest R of the look costs a model without noise: where it costs more and 20 nats, none is   \
         looked for */
#define SK_HINT_STEPS 4 /* Newton steps by which it is found, */
#define SK_HINT_SHARES                                                                                                 \
    {                                                                                                                  \
        0.02, 0.1, 0.3, 0.6                                                                                            \
    } /* from these of the variance of a step */
#define SK_HINT_PACES                                                                                                  \
    {                                                                                                                  \
        1, 0.7, 0.5, 0.35                                                                                              \
    }                       /* and, where steps are long, from these of the drift */
#define SK_NOISE_SURE 4     /* z-score with which noise need gain only over the same model without it, */
#define SK_NOISE_AHEAD 10   /* while averages and polish of the clean model are ahead by no more nats than this */
#define SK_NOISE_SUBJECTS 5 /* nats by which trajectories that differ explain what noise seems to be, if also more */
#define SK_NOISE_CROSS 3    /* z-score of a correlation that lets a full R be tried */
#define SK_FULL_PASSES 6    /* of it: correlations go the slow way of EM */
#define SK_FULL_GAIN 2      /* nats held out over the diagonal R */
#define SK_CORRELATION_MOST 0.9 /* of R at its start: products of residuals are noisy */
#define SK_STEP_WORST 20        /* in that comparison a step counts at least so many nats below the median one */
#define SK_NOISE_LAST_PASSES 3  /* on all rows, where the fit was made on a part */
#define SK_NOISE_BYTES 1e9      /* of a pass that is kept whole: with more rows the fit stays that of the part */
#define SK_SMOOTH_PASSES 6      /* from a drift of bumps to a polynomial, which is compared with it held out */
#define SK_RIVAL_PASSES 2       /* without noise, from the noisy model */
#define SK_NEWTON_STEP 0.02     /* differences of log R and log a */
#define SK_NEWTON_FLAT 0.01     /* of the larger eigenvalue: a smaller one is raised to it */
#define SK_NEWTON_FACTOR 4      /* R and a move at most by this factor in a step */
#define SK_ASCENT_NUMBERS 16 /* of a model that goes up its likelihood as a whole: a filter pass for each and step, */
#define SK_ASCENT_PASSES 15  /* so many steps at most (speed only), */
#define SK_ASCENT_GAIN 0.02  /* nats: less promised, and it is there; */
#define SK_ASCENT_STEP 1e-4  /* differences, of a weight and of logarithms */
#define SK_ASCENT_LEAST 0.05 /* of the largest weight: differences of smaller ones are as for this */
#define SK_ASCENT_HALVES 5   /* of a step that gains nothing */
#define SK_RELAXED_MOST 8    /* steps of the diffusion are stretched at most so much */

/* ---- Second order ---- */

#define SK_SECOND_MOST_DIM 5    /* positions: the model has twice as many states, and noise is known in ten */
#define SK_SECOND_HEAD 3        /* points at least that only say how fast a path was, before it is compared; */
#define SK_SECOND_HEAD_SHARE 10 /* or one in so many: with noise a velocity takes longer to be known */
#define SK_INERTIA_REACH 1e-3   /* of the standard deviation: for differences of the force */
#define SK_INERTIA_MARGIN 1     /* of the width of the data on each side: beyond, a model is evaluated at the wall */
#define SK_INERTIA_CLIP 3       /* widths of that box: a position further out is brought back */
#define SK_INERTIA_SPEED 0.1    /* of the mean square of differences: less common to those two steps apart is chance */
#define SK_INERTIA_ROWS 30      /* fewer second differences say nothing about a force */
#define SK_INERTIA_VAGUE 1e6  /* variances of what two points say of a velocity: nothing is known of it, to rounding */
#define SK_INERTIA_SHIFT 0.02 /* of the typical variance: rows with next to no noise do not outweigh all others, */
#define SK_INERTIA_SHARE 0.1  /* nor do their squares */
#define SK_INERTIA_FAR 100    /* an innovation beyond so many times its variance says nothing */
#define SK_INERTIA_LEAST 1e-3 /* of the mean square second difference: least a at the start */
#define SK_INERTIA_BEGINS                                                                                              \
    2 /* iterations with polynomials and a constant a alone: velocities have to be found first                         \
       */
#define SK_INERTIA_SWEEPS                                                                                              \
    {                                                                                                                  \
        3, 5, 7                                                                                                        \
    } /* iterations in which candidates are compared */
#define SK_INERTIA_LAST_SWEEP 7
#define SK_INERTIA_ITERATIONS 16     /* at most; 9 are usual; speed only */
#define SK_INERTIA_CONSTANT_PASSES 4 /* for constant coefficients, which settle at once */
#define SK_ORDER_CORRELATION                                                                                           \
    0.1 /* of differences of what is left of increments: above it they go on smoothly; noise of first                  \
           order gives -1/2, a velocity 1/4, */
#define SK_ORDER_LEFT 0.5       /* where so much of their variance is left: else the states say how they go on */
#define SK_ORDER_KNOTS 24       /* hats that follow any function of one state; of more states monomials: */
#define SK_ORDER_QUARTIC 2      /* of degree 4 in up to so many, */
#define SK_ORDER_CUBIC 5        /* 3 in up to so many, */
#define SK_ORDER_QUADRATIC 15   /* 2 in up to so many, */
#define SK_ORDER_FEATURES 150   /* and at most so many of them */
#define SK_ORDER_ROWS 20000     /* increments that stand for all */
#define SK_ORDER_EACH 5         /* for each function, at least */
#define SK_ORDER_PAIRS 30       /* fewer pairs of differences say nothing */
#define SK_INERTIA_NOISE_GAIN 2 /* nats held out that noise must gain, beyond its error, for each state */

/* ---- Identical parts of an average ---- */

#define SK_IDENTICAL 1e-7       /* relative difference of what they say of the held-out rows */
#define SK_IDENTICAL_SCORE 1e-5 /* relative difference of scores beyond which they need not be looked at */

/* ---- Bands ---- */

#define SK_BAND_ROWS 50000         /* sums of information are made of so many: more say the same to a per cent */
#define SK_BAND_MEASURED 5000      /* steps of a filter for the same: each direction is a pass; */
#define SK_BAND_PASSES 1e6         /* so many at most over the number of weights that move, */
#define SK_BAND_MEASURED_LEAST 500 /* and at least these */
#define SK_BAND_LEAST_KNOWN 0.01   /* of what is known of f given R and a: so much is left of it beside them at least */
#define SK_BAND_OTHERS 60          /* columns of the laws of other drifts that are followed beside R and a */
#define SK_BAND_OTHER_PASSES 3e5   /* so many substeps of passes in all for these, */
#define SK_BAND_PIECE 250          /* in pieces of runs of so many steps: a filter forgets sooner */
#define SK_BAND_MOVE 0.05          /* standard deviations that a drift is moved by: less than its fields bend in */
#define SK_BAND_STEPS 1000         /* steps that are followed to see what a rule makes of them, */
#define SK_BAND_SUBSTEPS 4         /* in so many substeps at least */
#define SK_BAND_SURPLUS 4    /* a, at most, may a step be off: where f runs away beyond the data its moments do, too; */
#define SK_BAND_ENDS 500     /* steps that are simulated to see what the Gaussian of a long step misses, */
#define SK_BAND_PATHS 100    /* so often each: their number adds a hundredth to the variance of a, */
#define SK_BAND_FINER 2      /* in so many inner steps for each substep */
#define SK_BAND_NUMBERS 3e7  /* in the sums of one drift: a quarter of a gigabyte */
#define SK_BAND_UNKNOWNS 400 /* numbers of V whose law is kept: it is a matrix of their square */
#define SK_PRIOR_ROUNDS 12   /* of learned priors without a fold; speed only: more do not change one by a per mille */
#define SK_SMALL_COLUMN 1e-2 /* columns of V with less of the largest stay: they add less to a than its error */
#define SK_BAND_POINTS 200   /* of the data, where draws of f are compared with it, */
#define SK_BAND_TAIL 0.025   /* in the middle of each state's values: this share is left out on each side */
#define SK_BAND_FACTOR 1.1   /* wider than within and between say, for errors of weights and scores: by known systems */
#define SK_SUP_DRAWS 400     /* whose largest deviations from f make simultaneous bands */
#define SK_SIGMA_DRAWS 200   /* for the bands of sigma in several dimensions */
#define SK_BAND_MARGIN 0.1   /* of a state's range, on each side: beyond it is outside the data */
#define SK_BAND_LEAST_RATIO 1e-3 /* of a: a part with less counts as if it had it, its logarithm leads nowhere */

/* ---- All rows ---- */

#define SK_ALL_DIFFUSIONS 3     /* diffusions of the average that are fitted to all rows, those of the largest shares */
#define SK_JOINING_FEATURES 300 /* of the drifts that join the chosen ones there: what a pass over the rows costs */
#define SK_DENSITY_NATS 1e-5    /* accuracy of the density of a step, each row and dimension: below it drifts tie */

/* ---- Warnings and scores ---- */

#define SK_LAG1_LEAST 0.1      /* a smaller correlation of neighbouring residuals has no consequence */
#define SK_LAG1_ERRORS 4.0     /* and is chance up to so many 1/sqrt(n): fits are many, residuals not quite normal */
#define SK_LAG1_TOLD 3.0       /* of the data's own increments: by so many 1/sqrt(n) it is told */
#define SK_LAG1_BLIND 0.4      /* where this could not be told, nothing is said to be near 0 */
#define SK_LAG1_DEVIATIONS 5.0 /* residuals are cut there: one wild step is not memory */
#define SK_LAG1_PAIRS 20       /* with fewer a correlation says nothing */
#define SK_LAG2_ERRORS 4.0     /* by which long steps must differ from noise at lag 2, to be told from it */
#define SK_LAG_SWINGS 0.25     /* below minus this over longer steps a smooth path turns back */
#define SK_THIN_MOST 32        /* steps: thinnings 2, 4, ... whose correlations are told */
#define SK_SECOND_INERTIA (-0.125) /* second differences are correlated by up to 1/4 with a velocity, -1/2 without */
#define SK_GAIN_LEAST 2.0          /* nats ahead of constant coefficients, or behind: about what chance gives */
#define SK_MOMENTS_MOST 2.0        /* squared residuals over what a says, or the other way round */
#define SK_MOMENTS_MOST_DIM 20     /* dimensions with moments: the work grows with the third power and more */
#define SK_CONSTANT_VALUES 5       /* increments for each constant coefficient that is fitted to a test set */
#define SK_MMD_TRAJECTORIES 4000   /* that stand for all in the width of its kernel */
#define SK_MMD_STEPS 1e6           /* of a path: more are a slip, likely, */
#define SK_MMD_STEPS_CHOSEN 1e9    /* unless the step was named */

/* ---- Tables of fields of one coordinate ---- */

#define SK_TABLE_NEAR 1e-6 /* share of a field by which its table is off at most, or is not used */
#define SK_TABLE_WORTH 3e4 /* evaluations from which on one is made: it takes 6000 itself; speed only */

/* ---- Inner steps of a simulation ---- */

#define SK_INNER_PART 0.1 /* of the smallest gap between outputs, and of the time in which f changes by itself */
#define SK_INNER_PILOT 8  /* steps of a path by which that time is found: f may hardly change where a path begins */
#define SK_INNER_DIM 64   /* states up to which it is looked for */
#define SK_INNER_MOST 1e6 /* inner steps of a path, at most, for its sake: rates grow where a path runs off */

/* ---- Devices: work from which on one that was not named is asked (proposals until a bench on a card says) ---- */

#define SK_DEVICE_SUMS 1e11     /* rows times products of features squared; speed only */
#define SK_DEVICE_LEVELS 300    /* order of Q; speed only */
#define SK_DEVICE_EXACT 5000    /* rows of the exact drift; speed only */
#define SK_DEVICE_SIMULATE 1e10 /* steps times features times columns; speed only */
#define SK_DEVICE_WIDE                                                                                                 \
    20000 /* products of features up to which sums are made where a device has them: 3.2 GB; speed only */

/* ---- Plain fits and equations ---- */

#define SK_PLAIN_LAMBDA 1e-3 /* of the natural unit: penalty of a plain fit where none is named */
#define SK_PLAIN_ORDER 1000  /* order of its Q, by pivots of all nodes; */
#define SK_PLAIN_SUMS                                                                                                  \
    2500 /* products of features up to which it is solved from sums (speed only): their matrix is then 50 MB */
#define SK_PLAIN_RANK 20            /* pivots at least, */
#define SK_PLAIN_RANK_DIAGONAL 100  /* and of a diagonal a */
#define SK_EQUATION_TERMS 12        /* more are no equation to read */
#define SK_EQUATION_FEATURES 400    /* of a drift that is looked at for one */
#define SK_EQUATION_SHARE 0.05      /* of the average: parts with less are not worth an equation of their own */
#define SK_FAR_ROOT 10              /* units of the state: a root that far from the data is no way to write a line */
#define SK_POLYNOMIAL_DRIFT 1000    /* features of a drift up to which the polynomial is told, */
#define SK_POLYNOMIAL_DIFFUSION 120 /* and of a diffusion */
#define SK_REACTION_TRACE 0.01      /* of the trace of a: smaller rates are not told, */
#define SK_REACTION_ENTRY 0.005     /* nor are smaller entries of a vector whose largest is 1; */
#define SK_REACTION_SIGN 0.1        /* the last entry that is not smaller is positive */

/* ---- Check: is it the right model? ---- */

#define SK_CHECK_STEPS 20000      /* more steps show no fault that matters and these do not */
#define SK_CHECK_SEED 0           /* of the check that ends a fit: that of sock check where none is given */
#define SK_CHECK_QUICK_STEPS 1500 /* at the end of a fit, which it may lengthen by a fifth where it finds nothing, */
#define SK_CHECK_QUICK_STATES 10  /* in up to so many states, beyond with their square fewer, */
#define SK_CHECK_QUICK_LEAST 200  /* down to this; */
#define SK_CHECK_QUICK_DRAWS 19   /* so many ends for each; of fewer steps more, */
#define SK_CHECK_DRAWS 99         /* up to those of a whole check */
#define SK_CHECK_TABLED 8       /* where fields come from a table, which makes an end cost so much less, so many more */
#define SK_CHECK_QUICK_EXITS 10 /* and so many whole paths; */
#define SK_CHECK_QUICK_EXIT 0.5 /* where more of them leave the range, or one runs off, all are */
#define SK_CHECK_PIECES 8       /* where steps are chosen, pieces of a trajectory are at most this part of them */
#define SK_CHECK_INNER 4        /* Euler steps within a step, */
#define SK_CHECK_RUN_INNER 12   /* and within a run; */
#define SK_CHECK_SECOND 5       /* as dear is an end of second order, with positions and velocities; */
#define SK_CHECK_PER_RELAXATION 8 /* more where steps are long: so many for h |Jacobian of f| = 1, */
#define SK_CHECK_INNER_MOST 64    /* at most, */
#define SK_CHECK_HEUN 0.1         /* by Heun's rule from here on: Euler's variance is off by a part in 80 there */
#define SK_CHECK_RUN 4            /* steps of a run: memory and noise add up over it, chance does not */
#define SK_CHECK_RUNS_LEAST 30    /* fewer runs say nothing */
#define SK_CHECK_LEAST 15         /* fewer steps say nothing at all, */
#define SK_CHECK_FEW 100          /* fewer let only large errors show: a variance by a third, a correlation of 0.3 */
#define SK_CHECK_DETERMINED                                                                                            \
    0.1                  /* share of its a below which a state follows from those before it: no fit tells it from 0 */
#define SK_CHECK_FLOOR 2 /* a variance that is not so many times the floor's was put there, not found */
#define SK_CHECK_SCORED 0.5     /* a state that has a score in a smaller share of the steps is not tested */
#define SK_CHECK_SINGULAR 1e-10 /* share of the largest eigenvalue: fitted directions below are none */
#define SK_CHECK_LEFT 0.1       /* a column of a test of which less is left beside what was fitted is not tested */
#define SK_CHECK_FEATURES 12    /* more fitted features are replaced by their leading directions */
#define SK_CHECK_DIRECTIONS 40  /* at most, whatever the degrees of freedom */
#define SK_CHECK_CENTRES 100    /* centres of a kernel that stand for all */
#define SK_CHECK_WAVES_ONE 5    /* cosines of a state's rank, in one dimension, */
#define SK_CHECK_WAVES_MANY 4   /* and in several, */
#define SK_CHECK_WAVES 40       /* for all states together; */
#define SK_CHECK_CURVES                                                                                                \
    3                   /* and once more line, square and cube of its normal score: what is missed is mostly smooth    \
                         */
#define SK_CHECK_LAGS 5 /* of the squares */
#define SK_CHECK_CYCLE_LAGS 40     /* of the residuals: longest lag, at most a quarter of a piece */
#define SK_CHECK_SPECTRUM 4096     /* steps of which one spectrum is made */
#define SK_CHECK_WHITENED 0.95     /* more of the lag-1 correlation is not taken out before cycles are looked for */
#define SK_CHECK_LAG1 0.03         /* a smaller lag-1 correlation has no consequence, */
#define SK_CHECK_SUBJECTS 5        /* trajectories of which it can be told that they differ, */
#define SK_CHECK_SUBJECT_FREEDOM 4 /* of each, in the law of what tells them apart, */
#define SK_CHECK_SUBJECT_PRIOR 10  /* by the mean of their scores so far, with so many more that are 0; */
#define SK_CHECK_BETWEEN 0.3       /* where so much of the lag-1 correlation is in their means; */
#define SK_CHECK_RATIO 0.05        /* nor has a variance ratio this near 1, */
#define SK_CHECK_SCALE 0.05        /* a mean square, */
#define SK_CHECK_SHARE 0.005       /* a share of the variance that a test explains, */
#define SK_CHECK_DISTANCE 0.02     /* a Kolmogorov distance, */
#define SK_CHECK_TAILS 0.1         /* or the log of a ratio of kurtoses */
#define SK_CHECK_LONG 0.5          /* h |Jacobian of f| from which a step is long for the system */
#define SK_CHECK_RATHER_LONG 0.125 /* and from which on it may be, if scale, drift and horizon say so */
#define SK_CHECK_PERIODS 3         /* a cycle must be seen so many times to be one */
#define SK_CHECK_SEASON_STEPS                                                                                          \
    3 /* of the calendar: steps of a third of it show a wave, of a sixth its overtone, too;                            \
       */
#define SK_CHECK_SEASON_NEAR 0.02 /* a period this near has its name */
#define SK_CHECK_LINE_PARTS 20    /* a period is sought between two lines of the spectrum by so many parts */
#define SK_CHECK_OVERTONES 6      /* a season may show by a part of its period, down to this one, */
#define SK_CHECK_GROUND 0.1       /* where the period itself has a peak of this share of it, */
#define SK_CHECK_GROUND_RARE 1e-3 /* as high as chance makes one so seldom */
#define SK_CHECK_WILD 5           /* standard deviations of a step that no diffusion makes */
#define SK_CHECK_BINS 10          /* of a state's values: where f or a misses is told by one of them */
#define SK_CHECK_PLACES 200       /* of the data, where the Jacobian of f is taken */
#define SK_CHECK_NUDGE 1e-4       /* of the spread of a state: by differences over it */
#define SK_CHECK_EXIT_PATHS 100   /* whole paths that are simulated, */
#define SK_CHECK_EXIT_STEPS 1000  /* over so many steps at most */
#define SK_CHECK_EXIT_WIDER 0.5   /* of the data's range, on each side */
#define SK_CHECK_EXITS 0.9        /* of a random walk, which knows no range, seldom so many leave */
#define SK_CHECK_OFF 100          /* ranges of the data: paths that are so far away have run off; */
#define SK_CHECK_RUN_OFF 0.05     /* where so many do, the model is none of whole paths */
#define SK_CHECK_SPEAKS 0.5 /* of the surprise -log p of the strongest objection: a test with less is no headline */
#define SK_CHECK_LEAST_P                                                                                               \
    1e-30 /* smaller ones are alike: which is smallest depends on the form of a test, not on the cause */

/* ---- Explain: what an equation means ---- */

#define SK_EXPLAIN_DRAWS 200     /* models drawn for the errors: a standard error is then known to a twentieth */
#define SK_EXPLAIN_DRAWS_MANY 20 /* beyond two dimensions, where Newton's method takes most of the time */
#define SK_EXPLAIN_SHARE 0.5     /* of the draws must have a number for it to have an error */
#define SK_EXPLAIN_LEVEL 0.9     /* of the intervals, as of bands */
#define SK_EXPLAIN_ENDLESS 1e6   /* an interval that reaches so many times the value has no upper end worth a number */
#define SK_EXPLAIN_SCAN 400      /* points of a line between which f and the potential's slope change their sign */
#define SK_EXPLAIN_PANELS 200    /* pieces of a line, each with five nodes: OU's variance to 1e-9, */
#define SK_EXPLAIN_STEEP 0.5     /* more where 2 f / a changes the density by more than e to this in one, */
#define SK_EXPLAIN_PANELS_MOST 4000 /* at most */
#define SK_EXPLAIN_VANISHING 1e-6   /* share of the largest a on a line below which it vanishes at an end, */
#define SK_EXPLAIN_DIVIDES 1e-4  /* and of the largest on either side of a point below which paths hardly cross it; */
#define SK_EXPLAIN_SINGULAR 1e-9 /* in a plane: of its larger eigenvalue */
#define SK_EXPLAIN_HANGS 0.5     /* density at an end, over its largest, that makes all told of it hang on this end; */
#define SK_EXPLAIN_NEAR 0.05     /* of the range: a bound of the model so near to such an end is looked up to; */
#define SK_EXPLAIN_EDGES 0.02    /* in a plane: share in the outermost cells; a normal law cut at 1.4 sd has so much */
#define SK_EXPLAIN_DIP 0.1       /* wells between which the log density dips by less are one */
#define SK_EXPLAIN_ROUNDS                                                                                              \
    400 /* steps of the inverse iteration, at most (speed only): two or three wells alike need the most */
#define SK_EXPLAIN_TABLE 101       /* points of potential and density */
#define SK_EXPLAIN_STARTS 100      /* of Newton's method in several dimensions, */
#define SK_EXPLAIN_STARTS_LEAST 10 /* and so many where f has been asked too often: */
#define SK_EXPLAIN_ASKED 4e5       /* points */
#define SK_EXPLAIN_BEYOND 0.25     /* widths of the range: the nearest fixed point outside is sought so far out */
#define SK_EXPLAIN_STATES 64       /* in so many states it is told */
#define SK_EXPLAIN_NEWTON 40       /* steps from one start */
#define SK_EXPLAIN_SAME 1e-5       /* of the range: fixed points nearer to each other are one */
#define SK_EXPLAIN_MARGINAL                                                                                            \
    1e-6 /* of the largest eigenvalue: a smaller real part is 0, and with a smaller eigenvalue a fixed point is one of \
            a line of them */
#define SK_EXPLAIN_GRID                                                                                                \
    48 /* cells of a side of the plane, for draws and tables; the model is solved with twice as many, too */
#define SK_EXPLAIN_EMPTY 1e-10   /* of the largest density: in a cell with less, J J / p is rounding */
#define SK_EXPLAIN_NEGATIVE 1e-3 /* mass below 0 beyond which the grid does not bear the model */

/* ---- Evidence ---- */

#define SK_BINNED_STEPS 20000 /* steps times states that binned moments are made of: more would move no dot */
#define SK_BINNED_BINS 24     /* of equal width over the range of a state, */
#define SK_BINNED_SHARE 120   /* joined until each has its share of the steps */
#define SK_BINNED_LEAST 10    /* and not fewer than this: of fewer an error is no error */
#define SK_BINNED_LAGS 6      /* steps of 1, 2, 4, ... intervals */
#define SK_BINNED_ENOUGH 60   /* as long as so many are left */
#define SK_BINNED_TURN 3.0    /* slope times step beyond which an end knows next to nothing of its start */
#define SK_BINNED_BOXES 36    /* of a plane, halved until each has such a share of the steps */
#define SK_EVIDENCE_PLANES 4  /* the first so many states have planes of two, all pairs */
#define SK_EVIDENCE_STATES 12 /* the first so many have binned moments */
#define SK_BINNED_KEPT 0.98   /* share of a shift that a filter carries on, at most */

#endif
