/* battery.c - the nine tests. y is v, or (v^2 - 1) / sqrt 2 for what concerns the variance: both have mean 0 and
 * variance 1 at every step when the model is right. States are added up.
 *
 * Most of what fields miss is smooth: drift, diffusion and time are tested twice, by few columns and by all, and the
 * smaller p counts double. */
#define _DEFAULT_SOURCE
#include "check/check.h"

#include "check/checkrules.h"
#include "score/score.h"
#include "tune/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE, DISTRIBUTION, DRIFT, DIFFUSION, MEMORY, CYCLES, VOLATILITY, TIME, HORIZON };

static const char explained[] = "share of the variance that is explained";

static const struct {
    const char *name, *effect_of;
    double least;
} tests[SK_CHECK_TESTS] = {
    [SCALE] = {"scale", "mean square - 1", SK_CHECK_SCALE},
    [DISTRIBUTION] = {"distribution", "Kolmogorov distance", SK_CHECK_DISTANCE},
    [DRIFT] = {"drift", explained, SK_CHECK_SHARE},
    [DIFFUSION] = {"diffusion", explained, SK_CHECK_SHARE},
    [MEMORY] = {"memory", "lag-1 correlation", SK_CHECK_LAG1},
    [CYCLES] = {"cycles", explained, SK_CHECK_SHARE},
    [VOLATILITY] = {"volatility", explained, SK_CHECK_SHARE},
    [TIME] = {"time", explained, SK_CHECK_SHARE},
    [HORIZON] = {"horizon", "variance ratio - 1", SK_CHECK_RATIO},
};

typedef struct battery {
    sock_context *ctx;
    const sock_data *data;
    sk_check_spec spec;
    sk_check_path path, run_path;
    sk_check_steps steps, runs;
    sk_check_starts starts;
    sk_check_rows rows;
    sk_check_scores scores, run_scores;
    sk_fitted fitted;
    sock_check_test *test;
    sk_tally all[SK_CHECK_TESTS];
    sk_tally few[SK_CHECK_TESTS]; /* by few columns; no freedom: the test is made once */
    sk_calendar_season season[SK_CALENDAR_PERIODS];
    sk_tally dated[SK_CALENDAR_PERIODS];
    size_t seasons;
    sk_tally subjects; /* trajectories that are not alike; no freedom: it cannot be told */
    size_t pieces;     /* of trajectories; 0: too few to be told apart */
    sk_check_facts *facts;
    size_t n, d, in, waves;  /* in: states and inputs; waves: columns of `wave` */
    double *wave;            /* n x waves: cosines of the ranks of all states and inputs */
    double *rank;            /* n x in, in (0, 1) */
    double *normal;          /* n x in: the normal numbers of these ranks */
    double *columns;         /* n x the most columns of a test */
    double *y, *square;      /* n, of the state in work; 0 where there is no score */
    bool *used;              /* n */
    double *mean, *variance; /* what was fitted, for this state */
    size_t mean_columns, variance_columns;
    double smallest_ad, smallest_tails; /* p over the states */
    double largest_tails;               /* the normal number of the latter, without its sign */
} battery;

/* ---- Ranks and waves ---- */

typedef struct placed {
    double x;
    size_t i;
} placed;

static int by_value(const void *one, const void *other)
{
    const placed *a = one, *b = other;
    return (a->x > b->x) - (a->x < b->x); /* equal values have the same rank, whatever their order */
}

/* Ranks of one column in (0, 1); equal values have the same. */
static void rank_column(size_t n, size_t d, size_t k, const double *x, placed *order, double *rank)
{
    for (size_t i = 0; i < n; i++) order[i] = (placed){x[i * d + k], i};
    qsort(order, n, sizeof *order, by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && order[end].x == order[i].x;) end++;
        for (size_t j = i; j < end; j++) rank[order[j].i * d + k] = (double)(i + end) / (2 * (double)n);
    }
}

static void make_waves(battery *b, placed *order)
{
    const size_t each = sk_check_waves_of_state(b->in), states = b->waves / each;
    for (size_t k = 0; k < b->in; k++) rank_column(b->n, b->in, k, b->rows.z, order, b->rank);
    for (size_t i = 0; i < b->n * b->in; i++) b->normal[i] = sk_normal_quantile(b->rank[i]);
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < states; k++)
            for (size_t j = 0; j < each; j++)
                b->wave[i * b->waves + k * each + j] = cos(M_PI * (double)(j + 1) * b->rank[i * b->in + k]);
}

/* ---- Score tests ---- */

static const double SQUARE_KURTOSIS = 12; /* by theory: of (v^2 - 1) / sqrt 2, beyond a normal number's */

static sock_status add_to(const battery *b, bool for_mean, size_t w, sk_tally *tally)
{
    const sk_scored mean = {b->n, b->mean_columns, b->y, b->mean, 0};
    const sk_scored variance = {b->n, b->variance_columns, b->square, b->variance, SQUARE_KURTOSIS};
    return sk_score_test(b->ctx, for_mean ? &mean : &variance, w, b->columns, tally);
}

static sock_status add_score(battery *b, int test, bool for_mean, size_t w)
{
    return add_to(b, for_mean, w, &b->all[test]);
}

static sock_status add_few(battery *b, int test, bool for_mean, size_t w)
{
    return add_to(b, for_mean, w, &b->few[test]);
}

static void take_waves(battery *b)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < b->waves; j++) b->columns[i * b->waves + j] = b->used[i] ? b->wave[i * b->waves + j] : 0;
}

/* Hermite's polynomials of the normal numbers of a state's ranks: a line, a square and a cube, in which no far point
 * has the word. At most as many as it has waves; their number in all. */
static size_t take_curves(battery *b)
{
    const size_t each = sk_check_waves_of_state(b->in), taken = SK_MIN(each, (size_t)SK_CHECK_CURVES),
                 states = b->waves / each;
    const size_t width = states * taken;
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < states; k++) {
            const double z = b->normal[i * b->in + k], curve[SK_CHECK_CURVES] = {z, z * z - 1, z * (z * z - 3)};
            for (size_t j = 0; j < taken; j++) b->columns[i * width + k * taken + j] = b->used[i] ? curve[j] : 0;
        }
    return width;
}

static sock_status test_waves(battery *b, int test, bool for_mean)
{
    take_waves(b);
    SK_TRY(add_score(b, test, for_mean, b->waves));
    return add_few(b, test, for_mean, take_curves(b));
}

static void take_lags(battery *b, const double *y, size_t lags)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t l = 1; l <= lags; l++) {
            const bool there = b->used[i] && i >= l && b->steps.piece[i] == b->steps.piece[i - l];
            b->columns[i * lags + l - 1] = there ? y[i - l] : 0;
        }
}

/* Columns t and t^2, in units of the spread of the times. */
static void take_times(battery *b, size_t powers)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < b->n; i++) mean += b->rows.t[i] / (double)b->n;
    for (size_t i = 0; i < b->n; i++) square += pow(b->rows.t[i] - mean, 2) / (double)b->n;
    for (size_t i = 0; i < b->n; i++) {
        const double t = b->used[i] && square > 0 ? (b->rows.t[i] - mean) / sqrt(square) : 0;
        b->columns[i * powers] = t;
        if (powers > 1) b->columns[i * powers + 1] = b->used[i] && square > 0 ? t * t - 1 : 0;
    }
}

/* The part of `time` that says most, over the states, and which way it goes, without what was fitted: along the time,
 * or from early and late to the middle. */
static void note_change(battery *b, size_t k, sk_check_change change, double statistic, double *most)
{
    const bool variance = change == SK_CHANGE_NOISE;
    if (!(statistic > *most)) return;
    *most = statistic;
    take_times(b, 1);
    for (size_t i = 0; change == SK_CHANGE_BEND && i < b->n; i++)
        b->columns[i] = b->used[i] ? 1 - b->columns[i] * b->columns[i] : 0;
    const sk_scored rows = {b->n, variance ? b->variance_columns : b->mean_columns, variance ? b->square : b->y,
                            variance ? b->variance : b->mean, 0};
    b->facts->change = change;
    b->facts->change_state = k;
    b->facts->change_up = sk_score_slope(&rows, b->columns) > 0;
}

static sock_status test_time(battery *b, size_t k, double *most)
{
    const double before = b->all[TIME].statistic, few = b->few[TIME].statistic;
    take_times(b, 2);
    SK_TRY(add_score(b, TIME, true, 2));
    const double mean = b->all[TIME].statistic - before;
    take_times(b, 1);
    SK_TRY(add_score(b, TIME, false, 1));
    const double variance = b->all[TIME].statistic - before - mean;
    take_times(b, 1);
    SK_TRY(add_few(b, TIME, true, 1));
    const double trend = b->few[TIME].statistic - few;
    note_change(b, k, SK_CHANGE_TREND, trend, most);
    note_change(b, k, SK_CHANGE_BEND, mean - trend, most);
    note_change(b, k, SK_CHANGE_NOISE, variance, most);
    return SOCK_OK;
}

static sock_status score_tests(battery *b)
{
    SK_TRY(test_waves(b, DRIFT, true));
    SK_TRY(test_waves(b, DIFFUSION, false));
    take_lags(b, b->y, 1);
    SK_TRY(add_score(b, MEMORY, true, 1));
    take_lags(b, b->square, SK_CHECK_LAGS);
    return add_score(b, VOLATILITY, false, SK_CHECK_LAGS);
}

/* ---- The others ---- */

static double farther(double one, double other) { return fabs(other) > fabs(one) ? other : one; }

static double mean_square(const sk_check_scores *s, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double v = s->v[i * s->d + k];
        sum += isnan(v) ? 0 : v * v;
    }
    return sum / (double)SK_MAX(s->scored[k], 1);
}

static void test_scale(battery *b, size_t k)
{
    const double n = (double)b->scores.scored[k], off = mean_square(&b->scores, k) - 1;
    b->all[SCALE].statistic += off * off * n / 2;
    b->all[SCALE].freedom += 1;
    b->test[SCALE].effect = farther(b->test[SCALE].effect, off);
}

/* Squares of the runs of state k, and means of the squares of their steps, where all of them have a score; how many. */
static size_t take_runs(const battery *b, size_t k, double *many, double *each)
{
    const size_t reach = b->runs.reach;
    size_t count = 0;
    for (size_t r = 0; r < b->runs.count; r++) {
        const double *v = b->scores.v + b->runs.single[r] * b->d + k;
        double sum = 0;
        for (size_t i = 0; i < reach; i++) sum += pow(v[i * b->d], 2) / (double)reach;
        many[count] = pow(b->run_scores.v[r * b->d + k], 2);
        each[count] = sum;
        count += isfinite(sum) && isfinite(many[count]);
    }
    return count;
}

static void test_horizon(battery *b, size_t k)
{
    double *many = b->columns, *each = many + b->runs.count; /* there is room: runs are a part of the steps */
    const size_t runs = take_runs(b, k, many, each);
    if (!sk_check_has_runs(runs)) return;
    const double one = mean_square(&b->scores, k), ratio = mean_square(&b->run_scores, k) / one;
    b->all[HORIZON].statistic += sk_check_horizon(runs, b->runs.reach, many, each);
    b->all[HORIZON].freedom += 1;
    b->test[HORIZON].effect = farther(b->test[HORIZON].effect, ratio - 1);
}

static void note_lag1(battery *b, size_t k)
{
    const sk_check_series series = {b->n, b->d, b->scores.v + k, b->steps.piece};
    const double r = sk_check_lag1(&series);
    if (fabs(r) > fabs(b->test[MEMORY].effect)) b->facts->lag1_state = k;
    b->test[MEMORY].effect = farther(b->test[MEMORY].effect, r);
}

/* How much of the lag-1 correlation is that of the means of the trajectories: without them it is what is left, and a
 * mean of n steps takes about 1 / n. */
static void note_between(battery *b)
{
    const size_t k = b->facts->lag1_state;
    double *v = b->columns, shares = 0;
    for (size_t i = 0, end; i < b->n; i = end) {
        double sum = 0, count = 0;
        for (end = i; end < b->n && b->steps.piece[end] == b->steps.piece[i]; end++) {
            const double one = b->scores.v[end * b->d + k];
            sum += isnan(one) ? 0 : one;
            count += !isnan(one);
        }
        for (size_t q = i; q < end; q++) v[q] = b->scores.v[q * b->d + k] - sum / fmax(count, 1);
        shares += count > 0;
    }
    const sk_check_series series = {b->n, 1, v, b->steps.piece};
    const double within = sk_check_lag1(&series) + shares / (double)SK_MAX(b->n, 1);
    if (b->pieces && b->test[MEMORY].effect > 0) b->facts->between = 1 - fmax(within, 0) / b->test[MEMORY].effect;
}

/* Seasons of the calendar, in what was not fitted. */
static sock_status test_seasons(battery *b)
{
    for (size_t i = 0; i < b->seasons; i++) {
        sk_calendar_waves(&b->season[i], b->n, b->rows.t, b->used, b->columns);
        SK_TRY(add_to(b, true, 2 * b->season[i].waves, &b->dated[i]));
    }
    return SOCK_OK;
}

static void count_subjects(battery *b)
{
    size_t pieces = 0;
    for (size_t i = 0; i < b->n; i++) pieces += i == 0 || b->steps.piece[i] != b->steps.piece[i - 1];
    b->pieces = sk_check_has_subjects(b->data->trajectories, pieces) ? pieces : 0;
}

/* Whether the past of a trajectory tells more than its state. Waves of the states are taken out with what was fitted: a
 * dependence on the state is none on the past. Columns of few trajectories are few random numbers, in units of their
 * own length: the square of such a score has heavier tails than chi-square, those of F. */
static sock_status test_subjects(battery *b, size_t k)
{
    const size_t fitted = b->mean_columns, width = fitted + b->waves;
    double *z = sk_doubles(b->ctx, b->n, width), *columns = sk_doubles(b->ctx, b->n, SK_SUBJECT_COLUMNS);
    double *weight = sk_doubles(b->ctx, b->n, b->d);
    sk_tally own = {0};
    size_t rank = 0;
    sock_status status = z && columns && weight ? SOCK_OK : SOCK_ENOMEM;
    for (size_t i = 0; status >= 0 && i < b->n; i++) {
        memcpy(z + i * width, b->mean + i * fitted, fitted * sizeof *z);
        for (size_t j = 0; j < b->waves; j++) z[i * width + fitted + j] = b->used[i] ? b->wave[i * b->waves + j] : 0;
    }
    if (status >= 0) status = sk_orthonormal(b->ctx, b->n, width, width, z, &rank);
    if (status >= 0) {
        const sk_scored rows = {b->n, rank, b->y, z, 0};
        const sk_subjects past = {b->n, b->d, b->in, b->scores.v + k, b->rows.z + k, weight + k, b->steps.piece};
        for (size_t i = 0; i < b->n; i++) {
            const double variance = b->rows.variance[i * b->d + k];
            weight[i * b->d + k] = variance > 0 ? b->rows.h[i] / sqrt(variance) : 0;
        }
        sk_subject_columns(&past, columns);
        for (size_t i = 0; i < b->n * SK_SUBJECT_COLUMNS; i++)
            columns[i] = b->used[i / SK_SUBJECT_COLUMNS] ? columns[i] : 0;
        status = sk_score_test(b->ctx, &rows, SK_SUBJECT_COLUMNS, columns, &own);
    }
    b->subjects.statistic += sk_check_subjects_surprise(own.statistic, b->pieces);
    b->subjects.freedom += own.freedom;
    sk_free(z);
    sk_free(columns);
    sk_free(weight);
    return status;
}

/* The portmanteau of all states together; of the peaks the one least likely. */
static sock_status test_cycles(battery *b, size_t k, sk_cycle *all)
{
    SK_TRY(test_seasons(b));
    if (b->pieces) SK_TRY(test_subjects(b, k));
    const sk_check_series series = {b->n, b->d, b->scores.v + k, b->steps.piece};
    sk_cycle one;
    SK_TRY(sk_check_cycles(b->ctx, &series, &one));
    all->statistic += one.statistic;
    all->freedom += one.freedom;
    if (one.peak < all->peak) {
        all->peak = one.peak;
        all->period = one.period;
        all->share = one.share;
    }
    return SOCK_OK;
}

/* ---- Distribution ---- */

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double kolmogorov(size_t n, const double *sorted)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fmax(sorted[i] - (double)i / (double)n, (double)(i + 1) / (double)n - sorted[i]));
    return worst;
}

static double log_kurtosis(const sk_check_scores *s, size_t draw, size_t k)
{
    const double *power = s->power + (draw * s->d + k) * 2;
    return power[0] > 0 ? log(power[1] * (double)s->scored[k] / (power[0] * power[0])) : 0;
}

/* How far the kurtosis is from that of the replicates, which are few: a normal number, and its log over their mean. */
static double tails_of(const sk_check_scores *s, size_t k, double *ratio)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < s->draws; i++) mean += log_kurtosis(s, i, k) / (double)s->draws;
    for (size_t i = 0; i < s->draws; i++) square += pow(log_kurtosis(s, i, k) - mean, 2) / (double)(s->draws - 1);
    *ratio = log_kurtosis(s, s->draws, k) - mean;
    const double draws = (double)s->draws, t = square > 0 ? *ratio / sqrt(square * (1 + 1 / draws)) : 0;
    return sk_student_normal(t, draws - 1);
}

static void test_distribution(battery *b, size_t k)
{
    sock_check_test *t = &b->test[DISTRIBUTION];
    size_t n = 0;
    double ratio;
    for (size_t i = 0; i < b->n; i++)
        if (b->used[i]) b->columns[n++] = b->scores.pit[i * b->d + k];
    qsort(b->columns, n, sizeof *b->columns, by_size);
    const double a = sk_anderson_darling(n, b->columns), z = tails_of(&b->scores, k, &ratio);
    t->statistic = fmax(t->statistic, a);
    t->effect = fmax(t->effect, kolmogorov(n, b->columns));
    b->facts->tails = farther(b->facts->tails, ratio);
    b->smallest_ad = fmin(b->smallest_ad, sk_anderson_darling_tail(a));
    b->smallest_tails = fmin(b->smallest_tails, 2 * sk_normal_tail(fabs(z)));
    b->largest_tails = fmax(b->largest_tails, fabs(z));
}

static void note_wild(battery *b)
{
    for (size_t i = 0; i < b->n * b->d; i++) {
        if (!sk_check_is_wild(b->scores.far[i])) continue;
        const double t = b->rows.t[i / b->d];
        if (!b->facts->wild++ || t < b->facts->wild_time) b->facts->wild_time = t;
    }
}

/* ---- Where f or a misses ---- */

/* The tenth of the values of some state or input where the mean of y is farthest from 0. */
static void find_bin(const battery *b, size_t k, const double *y, double *worst, size_t *state, size_t *of, double *at)
{
    for (size_t l = 0; l < b->in; l++) {
        double sum[SK_CHECK_BINS] = {0}, count[SK_CHECK_BINS] = {0}, place[SK_CHECK_BINS] = {0};
        for (size_t i = 0; i < b->n; i++) {
            const size_t bin = sk_check_bin(b->rank[i * b->in + l]);
            sum[bin] += y[i];
            count[bin] += b->used[i];
            place[bin] += b->used[i] ? b->rows.z[i * b->in + l] : 0;
        }
        for (int i = 0; i < SK_CHECK_BINS; i++) {
            const double z = count[i] > 0 ? fabs(sum[i]) / sqrt(count[i]) : 0;
            if (!(z > *worst)) continue;
            *worst = z;
            *state = k;
            *of = l;
            *at = place[i] / count[i];
        }
    }
}

/* ---- All tests of one state ---- */

static void take_state(battery *b, size_t k)
{
    for (size_t i = 0; i < b->n; i++) {
        const double v = b->scores.v[i * b->d + k];
        b->used[i] = !isnan(v);
        b->y[i] = b->used[i] ? v : 0;
        b->square[i] = b->used[i] ? (v * v - 1) / M_SQRT2 : 0;
    }
}

static sock_status test_state(battery *b, size_t k, sk_cycle *cycle, double worst[3])
{
    sk_check_facts *f = b->facts;
    take_state(b, k);
    sock_status status = sk_fitted_mean(b->ctx, &b->fitted, &b->rows, k, b->used, &b->mean, &b->mean_columns);
    if (status >= 0)
        status = sk_fitted_variance(b->ctx, &b->fitted, &b->rows, k, b->used, &b->variance, &b->variance_columns);
    if (status >= 0) status = score_tests(b);
    if (status >= 0) status = test_time(b, k, &worst[2]);
    if (status >= 0) status = test_cycles(b, k, cycle);
    sk_free(b->mean);
    sk_free(b->variance);
    b->mean = b->variance = NULL;
    if (status < 0) return status;
    test_scale(b, k);
    test_horizon(b, k);
    test_distribution(b, k);
    note_lag1(b, k);
    find_bin(b, k, b->y, &worst[0], &f->drift.state, &f->drift.of, &f->drift.at);
    find_bin(b, k, b->square, &worst[1], &f->diffusion.state, &f->diffusion.of, &f->diffusion.at);
    return SOCK_OK;
}

/* ---- What follows for each test ---- */

/* What p is made of. */
static void set_chi_square(const sk_tally *tally, double ways, sock_check_test *t)
{
    const double stretch = sk_tally_stretch(tally);
    t->chi_square = tally->statistic / stretch;
    t->chi_df = tally->freedom / stretch;
    t->ways = ways;
}

void sk_check_by_few(const sk_tally *few, sock_check_test *t)
{
    if (!(few->freedom > 0 && few->freedom < t->df)) return;
    const double p = sk_tally_tail(few);
    t->ways = 2;
    if (p < t->p) {
        t->statistic = few->statistic;
        t->df = few->freedom;
        set_chi_square(few, 2, t);
    }
    t->p = fmin(2 * fmin(p, t->p), 1);
}

static void end_scores(battery *b)
{
    double scored = 0;
    for (size_t k = 0; k < b->d; k++) scored += (double)b->scores.scored[k];
    for (int i = 0; i < SK_CHECK_TESTS; i++) {
        sock_check_test *t = &b->test[i];
        if (i == DISTRIBUTION || i == CYCLES) continue;
        t->statistic = b->all[i].statistic;
        t->df = b->all[i].freedom;
        t->valid = t->df > 0;
        t->p = sk_tally_tail(&b->all[i]);
        if (t->valid) set_chi_square(&b->all[i], 1, t);
        sk_check_by_few(&b->few[i], t);
        if (strcmp(t->effect_of, explained) == 0) t->effect = fmin(fmax(t->statistic - t->df, 0) / fmax(scored, 1), 1);
    }
}

static void end_distribution(battery *b, double states)
{
    sock_check_test *t = &b->test[DISTRIBUTION];
    const double ad = fmin(states * b->smallest_ad, 1), tails = fmin(states * b->smallest_tails, 1);
    t->valid = 1;
    t->p = fmin(2 * fmin(ad, tails), 1);
    t->ways = 2 * states;
    if (tails < ad) {
        t->chi_square = b->largest_tails * b->largest_tails;
        t->chi_df = 1;
        t->effect = b->facts->tails;
        t->effect_least = SK_CHECK_TAILS;
        t->effect_of = "log of the kurtosis over the model's own";
    }
}

/* The season of the calendar that is least likely chance: NULL where there is none to be seen. *p: its chance, as the
 * least of all of them; *share: of the variance. */
static const sk_calendar_season *rarest_season(const battery *b, double states, double *p, double *share,
                                               const sk_tally **tally)
{
    const sk_calendar_season *found = NULL;
    *p = 1;
    for (size_t i = 0; i < b->seasons; i++) {
        const double tail = sk_tally_tail(&b->dated[i]);
        if (found && tail >= *p) continue;
        found = &b->season[i];
        *tally = &b->dated[i];
        *p = tail;
        *share = fmax(b->dated[i].statistic - b->dated[i].freedom, 0) / (states * (double)b->n);
    }
    *p = fmin(*p * (double)SK_MAX(b->seasons, 1), 1);
    return found;
}

/* Of many lags, and may be above 1; else of the variance. */
static void set_sum(const sk_tally *tally, double values, const char *of, sock_check_test *t)
{
    t->effect = fmax(tally->statistic - tally->freedom, 0) / values;
    t->effect_of = of;
}

/* The portmanteau, the highest peak, for dates the seasons of the calendar, and of several trajectories what tells them
 * apart: the least p counts for all. */
static void end_cycles(battery *b, const sk_cycle *all, double states)
{
    sock_check_test *t = &b->test[CYCLES];
    const sk_tally *rarest = NULL, portmanteau = {all->statistic, all->freedom, 0};
    double dated, share = 0, *gap = b->columns;
    const double wide = sk_chi_square_tail(all->statistic, all->freedom), peak = fmin(states * all->peak, 1);
    const double apart = sk_tally_tail(&b->subjects), values = states * (double)b->n;
    const sk_calendar_season *season = rarest_season(b, states, &dated, &share, &rarest);
    const double ways = 2 + (season != NULL) + (b->subjects.freedom > 0), named = b->spec.alpha / SK_CHECK_TESTS;
    const double rest = fmin(fmin(peak, wide), dated);
    t->valid = all->freedom > 0 || season || b->subjects.freedom > 0;
    t->statistic = all->statistic;
    t->df = all->freedom;
    if (!t->valid) return;
    t->p = fmin(ways * fmin(rest, apart), 1);
    if (apart < rest)
        set_chi_square(&b->subjects, ways, t);
    else if (rarest && dated < fmin(peak, wide))
        set_chi_square(rarest, ways * (double)b->seasons, t);
    else if (all->freedom > 0 && wide <= peak)
        set_chi_square(&portmanteau, ways, t);
    else
        t->ways = ways * states; /* a peak has another law */
    t->effect = fmin(dated < peak ? share : all->share, 1);
    if (apart < rest) {
        t->statistic = b->subjects.statistic;
        t->df = b->subjects.freedom;
        set_sum(&b->subjects, values, explained, t);
    } else if (all->freedom > 0 && wide <= rest) {
        set_sum(&portmanteau, values, "sum of squared autocorrelations, less that of chance", t);
    }
    memcpy(gap, b->rows.h, b->n * sizeof *gap);
    b->facts->apart = apart < fmin(peak, dated) && ways * apart < named;
    if (ways * peak < named && peak <= apart) b->facts->period = all->period * sk_median(b->n, gap);
    b->facts->season = sk_calendar_name(b->data->unit, b->facts->period);
    if (season && ways * dated < named && dated <= apart && (dated <= peak || !(b->facts->period > 0))) {
        b->facts->period = season->length;
        b->facts->season = season->says;
    }
}

static void end_facts(battery *b)
{
    sk_check_facts *f = b->facts;
    f->drift.state += b->rows.first; /* f and a are told of the velocity, whose they are */
    f->diffusion.state += b->rows.first;
    const size_t k = f->lag1_state;
    f->lag1 = b->test[MEMORY].effect;
    f->scale = 1 + b->test[SCALE].effect;
    f->variance_ratio = b->test[HORIZON].valid ? 1 + b->test[HORIZON].effect : (double)NAN;
    for (size_t i = 0; i < b->n; i++) b->columns[i] = b->rows.variance[i * b->d + k];
    f->noise = sqrt(fmax(-f->lag1, 0) * fmax(sk_median(b->n, b->columns), 0));
    f->lost = b->scores.lost + b->run_scores.lost;
    f->runs = b->runs.count;
    note_wild(b);
}

/* ---- Together ---- */

static sock_status take_space(battery *b)
{
    const size_t n = b->n, each = sk_check_waves_of_state(b->rows.in), states = sk_check_states_with_waves(b->rows.in);
    b->in = b->rows.in;
    b->waves = each * states;
    placed *order = sk_alloc(b->ctx, n, sizeof *order);
    b->wave = sk_doubles(b->ctx, n, b->waves);
    b->rank = sk_doubles(b->ctx, n, b->in);
    b->normal = sk_doubles(b->ctx, n, b->in);
    b->columns = sk_doubles(b->ctx, n, SK_MAX(b->waves, (size_t)SK_CHECK_LAGS));
    b->y = sk_doubles(b->ctx, n, 1);
    b->square = sk_doubles(b->ctx, n, 1);
    b->used = sk_alloc(b->ctx, n, sizeof *b->used);
    const bool good = order && b->wave && b->rank && b->normal && b->columns && b->y && b->square && b->used;
    if (good) make_waves(b, order);
    sk_free(order);
    return good ? SOCK_OK : SOCK_ENOMEM;
}

/* What is left of a state that mostly follows from others are the steps where the model knows it least. */
static bool is_tested(const battery *b, size_t k) { return sk_check_is_tested((double)b->scores.scored[k], b->n); }

static void find_seasons(battery *b)
{
    double first = (double)INFINITY, last = -(double)INFINITY;
    for (size_t i = 0; i < b->n; i++) {
        first = fmin(first, b->rows.t[i]);
        last = fmax(last, b->rows.t[i]);
    }
    memcpy(b->columns, b->rows.h, b->n * sizeof *b->columns);
    b->seasons = sk_calendar_seasons(b->data->unit, sk_median(b->n, b->columns), last - first, b->season);
    b->facts->unit = b->data->unit;
}

static sock_status all_states(battery *b)
{
    find_seasons(b);
    count_subjects(b);
    sk_cycle cycle = {.peak = 1};
    double worst[3] = {0}, states = 0;
    for (size_t k = 0; k < b->d; k++) {
        if (!is_tested(b, k)) continue;
        SK_TRY(sk_progress(b->ctx, "check", -1));
        SK_TRY(test_state(b, k, &cycle, worst));
        states++;
    }
    if (states == 0) return SOCK_OK;
    end_scores(b);
    end_distribution(b, states);
    end_cycles(b, &cycle, states);
    end_facts(b);
    note_between(b);
    return SOCK_OK;
}

static void release(battery *b)
{
    sk_check_steps_free(&b->steps);
    sk_check_steps_free(&b->runs);
    sk_check_starts_free(&b->starts);
    sk_check_rows_free(&b->rows);
    sk_check_scores_free(&b->scores);
    sk_check_scores_free(&b->run_scores);
    sk_fitted_free(&b->fitted);
    sk_free(b->wave);
    sk_free(b->rank);
    sk_free(b->normal);
    sk_free(b->columns);
    sk_free(b->y);
    sk_free(b->square);
    sk_free(b->used);
}

void sk_check_begin(sock_check_test test[SK_CHECK_TESTS], sk_check_facts *facts)
{
    for (int i = 0; i < SK_CHECK_TESTS; i++)
        test[i] = (sock_check_test){.name = tests[i].name,
                                    .p = 1,
                                    .p_adjusted = 1,
                                    .effect_of = tests[i].effect_of,
                                    .effect_least = tests[i].least};
    *facts = (sk_check_facts){.lag1 = (double)NAN,
                              .variance_ratio = (double)NAN,
                              .scale = (double)NAN,
                              .noise = (double)NAN,
                              .long_step = (double)NAN,
                              .exit_share = {(double)NAN, (double)NAN}};
}

/* Steps that could have a score: of second order the first of a trajectory says where the velocity is. */
static size_t count_steps(const sock_model *model, const sock_data *data)
{
    const size_t without = model->structure->order == 2 ? 2 : 1;
    size_t sum = 0;
    for (size_t j = 0; j < data->trajectories; j++) sum += SK_MAX(sk_data_length(data, j), without) - without;
    return sum;
}

/* How finely steps and runs are followed: alike, for they are compared. */
static void choose_paths(battery *b, double length)
{
    b->path = sk_check_path_of(length, SK_CHECK_INNER);
    b->path.heun = b->path.heun || b->rows.first; /* a position that is h^3 off shows beside noise of h^1.5 */
    b->run_path = sk_check_path_of(SK_CHECK_RUN * length, SK_CHECK_RUN_INNER);
    b->run_path.heun = b->path.heun;
}

size_t sk_check_most_steps(size_t most, double cost)
{
    const size_t least = SK_MIN(most, (size_t)SK_CHECK_QUICK_STEPS);
    return SK_MAX((size_t)((double)most / fmax(cost, 1)), least);
}

/* At most so many steps, where they start, and how finely they are followed. */
static sock_status take_steps(battery *b, const sock_model *model, size_t most)
{
    double lengths[2];
    sk_check_rows_free(&b->rows);
    sk_check_starts_free(&b->starts);
    sk_check_steps_free(&b->steps);
    SK_TRY(sk_check_choose(b->ctx, b->data, b->spec.skip, most, &b->steps));
    if (!b->steps.count) return SOCK_OK;
    if (model->structure->order == 2) {
        SK_TRY(sk_check_second_starts(b->ctx, model, b->data, &b->steps, &b->starts));
        b->steps.starts = &b->starts;
        if (!b->steps.count) return SOCK_OK;
    } else if (model->structure->noise) {
        SK_TRY(sk_check_starts_new(b->ctx, model, b->data, &b->steps, &b->starts));
        b->steps.starts = &b->starts;
    }
    SK_TRY(sk_check_rows_new(b->ctx, model, b->data, &b->steps, &b->rows));
    SK_TRY(sk_check_long_step(b->ctx, model, &b->rows, lengths));
    b->facts->long_step = lengths[0];
    choose_paths(b, lengths[1]);
    return SOCK_OK;
}

/* Long steps cost more: fewer of them. */
static sock_status choose_steps(battery *b, const sock_model *model)
{
    SK_TRY(take_steps(b, model, b->spec.most));
    const double cost = sk_check_cost(b->path.inner, b->run_path.inner, b->path.heun, b->rows.first > 0);
    const size_t most = sk_check_most_steps(b->spec.most, cost), whole = sk_check_most_steps(SK_CHECK_STEPS, cost);
    const bool quick = !b->spec.draws;
    if (b->steps.count > most) SK_TRY(take_steps(b, model, most));
    if (quick) b->spec.draws = sk_check_quick_draws(b->d, b->spec.tabled, b->steps.count, cost);
    b->facts->quick = quick && (b->spec.draws < SK_CHECK_DRAWS || (most < whole && most < b->facts->all_steps));
    b->facts->draws = b->spec.draws;
    b->facts->steps = b->n = b->steps.count;
    return SOCK_OK;
}

static sock_status score_singles(battery *b, const sock_model *model)
{
    return sk_check_ends(b->ctx, model, b->data, &b->steps, &b->spec, b->path, &b->scores);
}

/* And those of runs. */
static sock_status score_steps(battery *b, const sock_model *model)
{
    SK_TRY(score_singles(b, model));
    SK_TRY(sk_check_runs(b->ctx, &b->steps, SK_CHECK_RUN, &b->runs));
    return sk_check_ends(b->ctx, model, b->data, &b->runs, &b->spec, b->run_path, &b->run_scores);
}

sock_status sk_check_score_steps(sock_context *ctx, const sock_model *model, const sock_data *data,
                                 const sk_check_spec *spec, sock_step_scores *out)
{
    sk_check_facts facts;
    battery b = {.ctx = ctx, .data = data, .spec = *spec, .facts = &facts, .d = data->d};
    sock_status status;
    SK_GO(choose_steps(&b, model));
    SK_GO(score_singles(&b, model));
    SK_GO((b.columns = sk_doubles(ctx, SK_MAX(b.n, 1), 1)) ? SOCK_OK : SOCK_ENOMEM);
    if (b.n) find_seasons(&b);
    *out = (sock_step_scores){.count = b.steps.count,
                              .dim = b.d,
                              .all_steps = count_steps(model, data),
                              .v = b.scores.v,
                              .pit = b.scores.pit,
                              .x = b.rows.x,
                              .t = b.rows.t,
                              .piece = b.steps.piece,
                              .seasons = b.seasons};
    for (size_t i = 0; i < b.seasons; i++) {
        out->season[i] = b.season[i].length;
        out->season_name[i] = b.season[i].says;
    }
    if (b.rows.z == b.rows.x) b.rows.z = NULL;
    b.scores.v = b.scores.pit = b.rows.x = b.rows.t = NULL;
    b.steps.piece = NULL;
out:
    release(&b);
    return status;
}

sock_status sk_check_battery(sock_context *ctx, const sock_model *model, const sock_data *data,
                             const sk_check_spec *spec, sock_check_test test[SK_CHECK_TESTS], sk_check_facts *facts)
{
    battery b = {.ctx = ctx, .data = data, .spec = *spec, .test = test, .facts = facts, .d = data->d};
    b.smallest_ad = b.smallest_tails = 1;
    sock_status status;
    sk_check_begin(test, facts);
    facts->all_steps = count_steps(model, data);
    facts->draws = spec->draws;
    facts->alpha = spec->alpha;
    facts->flow = spec->flow;
    facts->left_out = spec->skipped;
    facts->noise_sought = spec->noise_sought;
    facts->second = spec->second;
    facts->angle = spec->angle;
    facts->drift_named = spec->drift_named;
    facts->diffusion_named = spec->diffusion_named;
    SK_GO(choose_steps(&b, model));
    if (b.n < SK_CHECK_LEAST) goto out;
    SK_GO(score_steps(&b, model));
    SK_GO(sk_fitted_new(ctx, model, &b.rows, spec->freedom, &b.fitted));
    SK_GO(take_space(&b));
    SK_GO(all_states(&b));
out:
    release(&b);
    return status;
}
