/* test_battery.c - the nine tests again by slow loops over the scores: ranks by counting, score tests by Gram and
 * Schmidt, sums by their formulas. The models are functions, so that nothing was fitted but the level of a. */
#define _DEFAULT_SOURCE
#include "check/check.h"
#include "la/la.h"
#include "onecontext.h"
#include "truths.h"
#include "tune/policy.h"

enum { SCALE, DISTRIBUTION, DRIFT, DIFFUSION, MEMORY, CYCLES, VOLATILITY, TIME, HORIZON };
enum { MOST_ROWS = 640, MOST_COLUMNS = 24, BINS = 10 };

static const sk_key key = {11, SK_PURPOSE_TEST};

/* ---- Data and models ---- */

static sock_data *make_data(size_t d, size_t paths, const size_t *length, const double *t, const double *x)
{
    sock_data *data = NULL;
    sock_options *opts = sock_options_new(ctx);
    assert_int_equal(sock_options_set(ctx, opts, "grouping", "none"), SOCK_OK);
    assert_int_equal(sock_data_from_arrays(ctx, d, paths, length, t, x, NULL, NULL, opts, &data), SOCK_OK);
    sock_options_free(opts);
    return data;
}

/* What the data are made of: x -> x + h (drift x + push) + sqrt(h) size z, gaps of 0.8, 1 and 1.2 times `gap`. */
typedef struct recipe {
    size_t d, paths, length, stream;
    double gap, drift, size, wave, period,
        jump;               /* jump: of the last state, in the first path and, earlier, in the second */
    double coupling, noise; /* of the last state to the first; of the observation */
    double apart;           /* between the set points of eight paths */
} recipe;

static sock_data *made(const recipe *r)
{
    static double t[MOST_ROWS], x[2 * MOST_ROWS], z[4 * MOST_ROWS];
    size_t length[16];
    sk_normals(key, r->stream, 0, 0, 4 * MOST_ROWS, z);
    for (size_t j = 0; j < r->paths; j++) {
        length[j] = r->length;
        for (size_t i = 0, p = j * r->length; i < r->length; i++, p++) {
            t[p] = i ? t[p - 1] + r->gap * (0.8 + 0.2 * (double)(i % 3)) : 0.01 * (double)j;
            const double h = i ? t[p] - t[p - 1] : 0;
            const double push = r->wave * sin(2 * M_PI * (double)i / r->period) * sqrt(r->gap);
            for (size_t k = 0; k < r->d; k++) {
                const double before = i ? x[(p - 1) * r->d + k] : 0.5 * z[p * 2 + k];
                const double own = r->apart * ((double)(j * 3 % 8) - 3.5);
                const double pull = r->drift * (before - own) + (k && i ? r->coupling * pow(x[(p - 1) * r->d], 2) : 0);
                x[p * r->d + k] = before + h * pull + (i ? push + sqrt(h) * r->size * z[2 * p + k] : 0);
            }
            if (j < 2 && i == 40 - 20 * j) x[p * r->d + r->d - 1] += r->jump;
        }
    }
    for (size_t i = 0; i < r->paths * r->length * r->d; i++) x[i] += r->noise * z[2 * MOST_ROWS + i];
    return make_data(r->d, r->paths, length, t, x);
}

static void pull_back(void *user, size_t count, size_t d, const double *x, double *f)
{
    (void)user;
    for (size_t i = 0; i < count * d; i++) f[i] = -x[i];
}

/* Grows with the first state, a little. */
static void wavy(void *user, size_t count, size_t d, const double *x, double *a)
{
    (void)user;
    memset(a, 0, count * d * d * sizeof *a);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) a[(i * d + k) * d + k] = 1 + 0.2 * sin(x[i * d]);
}

/* The second state is the first, but for where the first is above *user: only there it has a score. */
static void partly_one(void *user, size_t count, size_t d, const double *x, double *a)
{
    const double *from = user;
    for (size_t i = 0; i < count; i++) {
        const double own = x[i * d] > *from ? 1 : 0;
        const double full[4] = {1, 1 - own, 1 - own, 1};
        memcpy(a + i * 4, full, sizeof full);
    }
}

/* ---- What the battery saw ---- */

typedef struct seen {
    size_t n, d;
    sk_check_steps steps, runs;
    sk_check_rows rows;
    sk_check_scores scores, run_scores;
    double lengths[2];
    double *y, *square; /* of the state in work */
    sock_check_test want[SK_CHECK_TESTS];
    double few[SK_CHECK_TESTS], few_df[SK_CHECK_TESTS];
    size_t tested; /* states */
} seen;

static void look(const sock_model *model, const sock_data *data, const sk_check_spec *spec, seen *s)
{
    *s = (seen){.d = data->d};
    assert_int_equal(sk_check_choose(ctx, data, spec->skip, spec->most, &s->steps), SOCK_OK);
    s->n = s->steps.count;
    assert_in_range(s->n, 15, MOST_ROWS);
    assert_int_equal(sk_check_rows_new(ctx, model, data, &s->steps, &s->rows), SOCK_OK);
    assert_int_equal(sk_check_long_step(ctx, model, &s->rows, s->lengths), SOCK_OK);
    const sk_check_path path = sk_check_path_of(s->lengths[1], SK_CHECK_INNER);
    assert_int_equal(sk_check_ends(ctx, model, data, &s->steps, spec, path, &s->scores), SOCK_OK);
    assert_int_equal(sk_check_runs(ctx, &s->steps, SK_CHECK_RUN, &s->runs), SOCK_OK);
    sk_check_path run = sk_check_path_of(SK_CHECK_RUN * s->lengths[1], SK_CHECK_RUN_INNER);
    run.heun = path.heun;
    assert_int_equal(sk_check_ends(ctx, model, data, &s->runs, spec, run, &s->run_scores), SOCK_OK);
    s->y = calloc(s->n, sizeof *s->y);
    s->square = calloc(s->n, sizeof *s->square);
}

static void forget(seen *s)
{
    sk_check_steps_free(&s->steps);
    sk_check_steps_free(&s->runs);
    sk_check_rows_free(&s->rows);
    sk_check_scores_free(&s->scores);
    sk_check_scores_free(&s->run_scores);
    free(s->y);
    free(s->square);
}

static bool scored(const seen *s, size_t i, size_t k) { return !isnan(s->scores.v[i * s->d + k]); }

static double farther(double one, double other) { return fabs(other) > fabs(one) ? other : one; }

/* ---- Score tests ---- */

static double basis[MOST_COLUMNS][MOST_ROWS];

/* The square of y along the columns (rows of `basis`) from `fitted` on, without those before; *df grows by their number
 * but for those that are 0. */
static double along(size_t n, size_t fitted, size_t columns, const double *y, double *df)
{
    double sum = 0;
    for (size_t j = 0; j < columns; j++) {
        for (int twice = 0; twice < 2; twice++)
            for (size_t k = 0; k < j; k++) sk_axpy(n, -sk_dot(n, basis[k], basis[j]), basis[k], basis[j]);
        const double norm = sk_norm(n, basis[j]);
        sk_scale(n, norm > 0 ? 1 / norm : 0, basis[j]);
        if (j >= fitted) sum += pow(sk_dot(n, basis[j], y), 2), *df += norm > 0;
    }
    return sum;
}

/* The level of a was fitted: the first row of the basis. */
static size_t put_level(const seen *s, size_t k)
{
    for (size_t i = 0; i < s->n; i++) basis[0][i] = scored(s, i, k);
    return 1;
}

/* The share of rows below, equal ones by half. */
static double rank_of(const seen *s, size_t i, size_t state)
{
    double below = 0;
    for (size_t j = 0; j < s->n; j++) {
        const double one = s->rows.x[j * s->d + state], other = s->rows.x[i * s->d + state];
        below += one < other ? 1 : one == other ? 0.5 : 0;
    }
    return below / (double)s->n;
}

/* Of a rank: cos(pi j r), or Hermite's polynomial by its recursion. */
static double curve_of(int few, size_t j, double rank)
{
    if (!few) return cos(M_PI * (double)j * rank);
    const double z = sk_normal_quantile(rank);
    double last = 1, now = z;
    for (size_t m = 1; m < j; m++) {
        const double next = z * now - (double)m * last;
        last = now;
        now = next;
    }
    return now;
}

static void add_waves(seen *s, size_t k, int test, const double *y, size_t fitted)
{
    const size_t most = s->d == 1 ? 5 : 4;
    for (int few = 0; few < 2; few++) {
        const size_t waves = few ? 3 : most;
        if (fitted) put_level(s, k);
        for (size_t i = 0; i < s->n; i++)
            for (size_t c = 0; c < waves * s->d; c++)
                basis[fitted + c][i] = scored(s, i, k) ? curve_of(few, c % waves + 1, rank_of(s, i, c / waves)) : 0;
        double *statistic = few ? &s->few[test] : &s->want[test].statistic;
        *statistic += along(s->n, fitted, fitted + waves * s->d, y, few ? &s->few_df[test] : &s->want[test].df);
    }
}

static void add_lags(seen *s, size_t k, int test, const double *y, size_t fitted, size_t lags)
{
    if (fitted) put_level(s, k);
    for (size_t i = 0; i < s->n; i++)
        for (size_t l = 1; l <= lags; l++) {
            const bool there = i >= l && s->steps.piece[i] == s->steps.piece[i - l] && scored(s, i, k);
            basis[fitted + l - 1][i] = there ? y[i - l] : 0;
        }
    s->want[test].statistic += along(s->n, fitted, fitted + lags, y, &s->want[test].df);
}

/* Time and its square, in units of its spread. */
static double along_time(const seen *s, size_t k, const double *y, size_t fitted, size_t powers, double *df)
{
    double mean = 0, spread = 0;
    for (size_t i = 0; i < s->n; i++) mean += s->rows.t[i] / (double)s->n;
    for (size_t i = 0; i < s->n; i++) spread += pow(s->rows.t[i] - mean, 2) / (double)s->n;
    if (fitted) put_level(s, k);
    for (size_t i = 0; i < s->n; i++) {
        const double t = (s->rows.t[i] - mean) / sqrt(spread);
        basis[fitted][i] = scored(s, i, k) ? t : 0;
        basis[fitted + 1][i] = scored(s, i, k) ? t * t - 1 : 0;
    }
    return along(s->n, fitted, fitted + powers, y, df);
}

static void add_times(seen *s, size_t k)
{
    s->want[TIME].statistic += along_time(s, k, s->y, 0, 2, &s->want[TIME].df);
    s->want[TIME].statistic += along_time(s, k, s->square, 1, 1, &s->want[TIME].df);
    s->few[TIME] += along_time(s, k, s->y, 0, 1, &s->few_df[TIME]);
}

/* ---- The others ---- */

static double mean_square(const sk_check_scores *scores, size_t k, double *count)
{
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < scores->count; i++) {
        const double v = scores->v[i * scores->d + k];
        if (!isnan(v)) sum += v * v, ++*count;
    }
    return sum / *count;
}

static void add_scale(seen *s, size_t k)
{
    double n, runs;
    const double one = mean_square(&s->scores, k, &n), many = mean_square(&s->run_scores, k, &runs);
    s->want[SCALE].statistic += n * pow(one - 1, 2) / 2;
    s->want[SCALE].df += 1;
    s->want[SCALE].effect = farther(s->want[SCALE].effect, one - 1);
    if (runs < SK_CHECK_RUNS_LEAST) return;
    s->want[HORIZON].df += 1;
    s->want[HORIZON].effect = farther(s->want[HORIZON].effect, many / one - 1);
}

static double log_kurtosis(const seen *s, size_t draw, size_t k)
{
    const double *power = s->scores.power + (draw * s->d + k) * 2;
    return log(power[1] / (double)s->scores.scored[k]) - 2 * log(power[0] / (double)s->scores.scored[k]);
}

/* Two-sided p of the kurtosis among those of the replicates, by Student's t, and the log of its ratio. */
static double tails_p(const seen *s, size_t k, double *ratio)
{
    const size_t draws = s->scores.draws;
    double mean = 0, square = 0;
    for (size_t i = 0; i < draws; i++) mean += log_kurtosis(s, i, k) / (double)draws;
    for (size_t i = 0; i < draws; i++) square += pow(log_kurtosis(s, i, k) - mean, 2) / (double)(draws - 1);
    *ratio = log_kurtosis(s, draws, k) - mean;
    const double t = *ratio / sqrt(square * (1 + 1 / (double)draws));
    return 2 * sk_normal_tail(fabs(sk_student_normal(t, (double)(draws - 1))));
}

/* The largest distance of the empirical law of the PIT from the uniform one, by counting at every value. */
static double kolmogorov(const seen *s, size_t k)
{
    double worst = 0;
    for (size_t i = 0; i < s->n; i++) {
        double below = 0, upto = 0, count = 0;
        const double at = s->scores.pit[i * s->d + k];
        if (!scored(s, i, k)) continue;
        for (size_t j = 0; j < s->n; j++) {
            if (!scored(s, j, k)) continue;
            below += s->scores.pit[j * s->d + k] < at;
            upto += s->scores.pit[j * s->d + k] <= at;
            count++;
        }
        worst = fmax(worst, fmax(at - below / count, upto / count - at));
    }
    return worst;
}

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double anderson_darling(const seen *s, size_t k)
{
    static double sorted[MOST_ROWS];
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (scored(s, i, k)) sorted[n++] = s->scores.pit[i * s->d + k];
    qsort(sorted, n, sizeof *sorted, by_size);
    return sk_anderson_darling(n, sorted);
}

static void compare_distribution(const seen *s, const bool *tested, const sock_check_test *t,
                                 const sk_check_facts *facts)
{
    double most = 0, ad = 1, tails = 1, distance = 0, ratio = 0;
    for (size_t k = 0; k < s->d; k++) {
        double own;
        if (!tested[k]) continue;
        most = fmax(most, anderson_darling(s, k));
        ad = fmin(ad, (double)s->tested * sk_anderson_darling_tail(anderson_darling(s, k)));
        tails = fmin(tails, (double)s->tested * tails_p(s, k, &own));
        distance = fmax(distance, kolmogorov(s, k));
        ratio = farther(ratio, own);
    }
    assert_true(t->valid);
    assert_close(t->statistic, most, 1e-9, 0);
    assert_close(t->p, fmin(2 * fmin(ad, tails), 1), 1e-7, 1e-12);
    assert_close(t->effect, tails < ad ? ratio : distance, 1e-9, 0);
    assert_close(t->effect_least, tails < ad ? SK_CHECK_TAILS : SK_CHECK_DISTANCE, 0, 1);
    assert_int_equal(strstr(t->effect_of, "kurtosis") != NULL, tails < ad);
    assert_close(facts->tails, ratio, 1e-9, 0);
}

static double median_gap(const seen *s)
{
    static double gap[MOST_ROWS];
    memcpy(gap, s->rows.h, s->n * sizeof *gap);
    qsort(gap, s->n, sizeof *gap, by_size);
    return (gap[s->n / 2] + gap[(s->n - 1) / 2]) / 2;
}

/* What is told of p gives p. */
static void compare_ways(const sock_check_test *test)
{
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) {
        const sock_check_test *t = &test[i];
        if (!t->valid || !(t->chi_df > 0)) continue;
        assert_close(t->p, fmin(t->ways * sk_chi_square_tail(t->chi_square, t->chi_df), 1), 1e-9, 1e-300);
    }
    for (int i = 0; i < SOCK_CHECK_TESTS; i++)
        if (i != DISTRIBUTION && i != CYCLES) assert_true(!test[i].valid || test[i].chi_df > 0);
}

/* What a trajectory was so far, beside waves of all states: the mean of its states less the state, and the sum of its
 * scores over their number and ten. */
static double along_pasts(const seen *s, size_t k, double *df)
{
    const size_t each = s->d == 1 ? 5 : 4, waves = each * s->d;
    static double y[MOST_ROWS];
    for (size_t i = 0; i < s->n; i++) {
        double states = 0, steps = 0, scores = 0, count = 0;
        for (size_t j = i + 1; j-- > 0 && s->steps.piece[j] == s->steps.piece[i];) {
            states += s->rows.x[j * s->d + k];
            steps++;
            if (j < i && scored(s, j, k)) scores += s->scores.v[j * s->d + k], count++;
        }
        for (size_t c = 0; c < waves; c++)
            basis[c][i] = scored(s, i, k) ? curve_of(0, c % each + 1, rank_of(s, i, c / each)) : 0;
        const double rate = s->rows.h[i] / sqrt(s->rows.variance[i * s->d + k]);
        basis[waves][i] = scored(s, i, k) ? (states / steps - s->rows.x[i * s->d + k]) * rate : 0;
        basis[waves + 1][i] = scored(s, i, k) ? scores / (count + 10) : 0;
        y[i] = scored(s, i, k) ? s->scores.v[i * s->d + k] : 0;
    }
    return along(s->n, waves, waves + 2, y, df);
}

static size_t pieces_of(const seen *s)
{
    size_t pieces = 1;
    for (size_t i = 1; i < s->n; i++) pieces += s->steps.piece[i] != s->steps.piece[i - 1];
    return pieces;
}

/* P(F > T / 2) with two and 4 J degrees of freedom, as that of a chi-square with two. */
static double rare(double statistic, double freedom) { return -2 * log(pow(1 + statistic / freedom, -freedom / 2)); }

static void compare_cycles(const seen *s, const sock_data *data, const bool *tested, const sk_check_spec *spec,
                           const sock_check_test *t, const sk_check_facts *facts)
{
    sk_cycle all = {.peak = 1}, one;
    for (size_t k = 0; k < s->d; k++) {
        if (!tested[k]) continue;
        const sk_check_series series = {s->n, s->d, s->scores.v + k, s->steps.piece};
        assert_int_equal(sk_check_cycles(ctx, &series, &one), SOCK_OK);
        const double statistic = all.statistic + one.statistic, freedom = all.freedom + one.freedom;
        if (one.peak < all.peak) all = one;
        all.statistic = statistic;
        all.freedom = freedom;
    }
    const size_t pieces = pieces_of(s);
    const bool several = data->trajectories >= 5 && pieces >= 5;
    double past = 0, df = 0;
    for (size_t k = 0; several && k < s->d; k++)
        past += tested[k] ? rare(along_pasts(s, k, &df), 4 * (double)pieces) : 0;
    const double wide = sk_chi_square_tail(all.statistic, all.freedom), peak = fmin((double)s->tested * all.peak, 1),
                 apart = several ? sk_chi_square_tail(past, df) : 1, ways = several ? 3 : 2;
    const double values = (double)s->tested * (double)s->n, explained = fmax(all.statistic - all.freedom, 0) / values;
    const bool differ = apart<fmin(wide, peak), any = all.freedom> 0 || several;
    assert_int_equal(t->valid, any);
    assert_close(t->statistic, differ ? past : all.statistic, 1e-7, 1);
    assert_close(t->df, differ ? df : all.freedom, 0, 1);
    assert_close(t->p, any ? fmin(ways * fmin(fmin(wide, peak), apart), 1) : 1, 1e-6, 1e-12);
    if (any && differ) assert_close(t->effect, fmax(past - df, 0) / values, 1e-6, 1e-9);
    if (any && !differ) assert_close(t->effect, peak < wide ? all.share : explained, 1e-9, 1e-9);
    if (any) assert_int_equal(strstr(t->effect_of, "autocorrelations") != NULL, peak >= wide && !differ);
    const double named = spec->alpha / SOCK_CHECK_TESTS;
    const bool stands_out = all.freedom > 0 && ways * peak < named && peak <= apart;
    assert_close(facts->period, stands_out ? all.period * median_gap(s) : 0, 1e-12, 0);
    assert_int_equal(facts->apart, several && ways * apart < named && apart < peak);
}

/* ---- Where ---- */

static void find_bin(const seen *s, size_t k, const double *y, double *worst, size_t where[2], double *at)
{
    for (size_t l = 0; l < s->d; l++)
        for (int bin = 0; bin < BINS; bin++) {
            double sum = 0, count = 0, place = 0;
            for (size_t i = 0; i < s->n; i++) {
                const double rank = rank_of(s, i, l) * BINS;
                if (!(rank >= bin && (rank < bin + 1 || bin == BINS - 1)) || !scored(s, i, k)) continue;
                sum += y[i], count++, place += s->rows.x[i * s->d + l];
            }
            if (count == 0 || !(fabs(sum) / sqrt(count) > *worst)) continue;
            *worst = fabs(sum) / sqrt(count);
            where[0] = k, where[1] = l;
            *at = place / count;
        }
}

static void compare_places(seen *s, const bool *tested, const sk_check_facts *f)
{
    double worst[2] = {0}, at[2] = {0};
    size_t where[2][2] = {{0}};
    for (size_t k = 0; k < s->d; k++) {
        if (!tested[k]) continue;
        for (size_t i = 0; i < s->n; i++) {
            s->y[i] = scored(s, i, k) ? s->scores.v[i * s->d + k] : 0;
            s->square[i] = scored(s, i, k) ? s->y[i] * s->y[i] - 1 : 0;
        }
        find_bin(s, k, s->y, &worst[0], where[0], &at[0]);
        find_bin(s, k, s->square, &worst[1], where[1], &at[1]);
    }
    assert_true(f->drift.state == where[0][0] && f->drift.of == where[0][1]);
    assert_true(f->diffusion.state == where[1][0] && f->diffusion.of == where[1][1]);
    assert_close(f->drift.at, at[0], 1e-9, 1);
    assert_close(f->diffusion.at, at[1], 1e-9, 1);
}

static void compare_wild(const seen *s, const sk_check_facts *f)
{
    size_t wild = 0;
    double first = (double)INFINITY;
    for (size_t i = 0; i < s->n * s->d; i++) {
        if (!(fabs(s->scores.far[i]) > 5)) continue;
        wild++;
        first = fmin(first, s->rows.t[i / s->d]);
    }
    assert_int_equal(f->wild, wild);
    if (wild) assert_close(f->wild_time, first, 0, 1);
}

/* Noise of variance R on the ends of steps of variance V gives the correlation -R / V. */
static void compare_lag1(const seen *s, const bool *tested, const sk_check_facts *f)
{
    static double variance[MOST_ROWS];
    double lag1 = 0;
    size_t which = 0;
    for (size_t k = 0; k < s->d; k++) {
        const sk_check_series series = {s->n, s->d, s->scores.v + k, s->steps.piece};
        if (!tested[k] || !(fabs(sk_check_lag1(&series)) > fabs(lag1))) continue;
        lag1 = sk_check_lag1(&series);
        which = k;
    }
    for (size_t i = 0; i < s->n; i++) variance[i] = s->rows.h[i] * s->rows.a[(i * s->d + which) * s->d + which];
    qsort(variance, s->n, sizeof *variance, by_size);
    const double median = (variance[s->n / 2] + variance[(s->n - 1) / 2]) / 2;
    assert_close(f->lag1, lag1, 1e-12, 0);
    assert_int_equal(f->lag1_state, which);
    assert_close(f->noise, lag1 < 0 ? sqrt(-lag1 * median) : 0, 1e-9, 0);
}

/* ---- All of it ---- */

static void add_state(seen *s, size_t k)
{
    for (size_t i = 0; i < s->n; i++) {
        s->y[i] = scored(s, i, k) ? s->scores.v[i * s->d + k] : 0;
        s->square[i] = scored(s, i, k) ? (s->y[i] * s->y[i] - 1) / sqrt(2) : 0;
    }
    add_waves(s, k, DRIFT, s->y, 0);
    add_waves(s, k, DIFFUSION, s->square, 1);
    add_lags(s, k, MEMORY, s->y, 0, 1);
    add_lags(s, k, VOLATILITY, s->square, 1, 5);
    add_times(s, k);
    add_scale(s, k);
}

/* Of a test that is made twice the less likely statistic; p where the statistic is one of normal numbers. */
static void compare_score(const seen *s, int i, const sock_check_test *t)
{
    const sock_check_test *want = &s->want[i];
    assert_int_equal(t->valid, want->df > 0);
    if (i == HORIZON) return;
    const bool all = fabs(t->df - want->df) < 0.5;
    assert_close(t->df, all ? want->df : s->few_df[i], 0, 1);
    assert_close(t->statistic, all ? want->statistic : s->few[i], 1e-8, 0);
    if (i != SCALE && i != MEMORY && i != DRIFT) return;
    const double p = sk_chi_square_tail(want->statistic, want->df),
                 other = s->few_df[i] > 0 ? sk_chi_square_tail(s->few[i], s->few_df[i]) : 1;
    assert_close(t->p, s->few_df[i] > 0 ? fmin(2 * fmin(p, other), 1) : p, 1e-7, 1e-300);
    assert_int_equal(all, !(other < p));
}

static void compare_effects(const seen *s, const sock_check_test *test, const sk_check_facts *f)
{
    static const int explained[] = {DRIFT, DIFFUSION, VOLATILITY, TIME};
    double count = 0;
    for (size_t k = 0; k < s->d; k++) count += (double)s->scores.scored[k];
    for (size_t i = 0; i < 4; i++) {
        const sock_check_test *t = &test[explained[i]];
        assert_close(t->effect, fmax(t->statistic - t->df, 0) / count, 1e-9, 1e-12);
    }
    assert_close(test[SCALE].effect, s->want[SCALE].effect, 1e-9, 1e-12);
    assert_close(f->scale, 1 + s->want[SCALE].effect, 1e-9, 1e-12);
    assert_close(test[MEMORY].effect, f->lag1, 1e-12, 0);
    const bool whole = test[HORIZON].valid && count == (double)(s->n * s->d); /* runs of steps that all have a score */
    if (whole) assert_close(test[HORIZON].effect, s->want[HORIZON].effect, 1e-9, 1e-12);
    if (test[HORIZON].valid) assert_close(f->variance_ratio, 1 + test[HORIZON].effect, 1e-12, 0);
    if (!test[HORIZON].valid) assert_true(isnan(f->variance_ratio));
}

static void compare_facts(const seen *s, const sock_data *data, const sk_check_spec *spec, const sk_check_facts *f)
{
    assert_int_equal(f->steps, s->n);
    assert_int_equal(f->all_steps, data->points - data->trajectories);
    assert_int_equal(f->draws, spec->draws);
    assert_int_equal(f->runs, s->runs.count);
    assert_int_equal(f->left_out, spec->skipped);
    assert_int_equal(f->lost, s->scores.lost + s->run_scores.lost);
    assert_close(f->long_step, s->lengths[0], 1e-12, 0);
    assert_close(f->alpha, spec->alpha, 0, 1);
}

/* Everything that the battery says of these data, made anew. Answers what it said. */
static sk_check_facts compare(const sock_model *model, const sock_data *data, const sk_check_spec *spec,
                              sock_check_test test[SK_CHECK_TESTS])
{
    sk_check_facts facts;
    seen s;
    bool tested[2] = {false};
    assert_int_equal(sk_check_battery(ctx, model, data, spec, test, &facts), SOCK_OK);
    look(model, data, spec, &s);
    for (size_t k = 0; k < s.d; k++) {
        double count;
        mean_square(&s.scores, k, &count);
        assert_close((double)s.scores.scored[k], count, 0, 1);
        tested[k] = count >= 15 && count >= 0.5 * (double)s.n;
        if (tested[k]) add_state(&s, k);
        s.tested += tested[k];
    }
    for (int i = 0; i < SK_CHECK_TESTS; i++)
        if (i != DISTRIBUTION && i != CYCLES) compare_score(&s, i, &test[i]);
    compare_distribution(&s, tested, &test[DISTRIBUTION], &facts);
    compare_cycles(&s, data, tested, spec, &test[CYCLES], &facts);
    compare_ways(test);
    compare_effects(&s, test, &facts);
    compare_lag1(&s, tested, &facts);
    compare_places(&s, tested, &facts);
    compare_wild(&s, &facts);
    compare_facts(&s, data, spec, &facts);
    forget(&s);
    return facts;
}

static sk_check_facts compare_fields(const recipe *r, sock_field_fn a, double from, const sk_check_spec *spec,
                                     sock_check_test test[SK_CHECK_TESTS])
{
    sock_data *data = made(r);
    sock_model *model = wrap_fields(ctx, r->d, pull_back, a, &from);
    const sk_check_facts facts = compare(model, data, spec, test);
    sock_model_free(model);
    sock_data_free(data);
    return facts;
}

static sk_check_facts compare_made(const recipe *r, const sk_check_spec *spec, sock_check_test test[SK_CHECK_TESTS])
{
    return compare_fields(r, wavy, 0, spec, test);
}

static const sk_check_spec usual = {.draws = 19, .most = 5000, .alpha = 0.05, .seed = 3, .freedom = (double)NAN};

static void test_battery__two_states_of_a_model_that_is_a_little_wrong(void **state)
{
    (void)state;
    sock_check_test test[SK_CHECK_TESTS];
    compare_made(&(recipe){2, 3, 90, 1, 0.01, -1, 1.2, 0, 1, 0, 0, 0, 0}, &usual, test);
    assert_true(test[SCALE].p < 0.01 && test[HORIZON].valid && test[SCALE].df == 2);
}

/* Times within 0.4 and times of hundreds: columns in units of their spread. */
static void test_battery__one_state_in_long_and_short_units_of_time(void **state)
{
    (void)state;
    sock_check_test test[SK_CHECK_TESTS];
    compare_made(&(recipe){1, 1, 200, 2, 0.002, 3, 1, 0, 1, 0, 0, 0, 0}, &usual, test);
    assert_true(test[TIME].valid && (test[TIME].df == 3 || test[TIME].df == 1));
    compare_made(&(recipe){1, 1, 200, 2, 2, -0.4, 0.8, 0, 1, 0, 0, 0, 0}, &usual, test);
    assert_true(test[TIME].valid);
}

static void test_battery__a_missing_drift_shows_in_few_waves(void **state)
{
    (void)state;
    sock_check_test test[SK_CHECK_TESTS];
    const sk_check_facts f = compare_made(&(recipe){2, 2, 250, 4, 0.05, -1, 1, 0, 1, 0, 3, 0, 0}, &usual, test);
    assert_true(test[DRIFT].p < 1e-3 && f.drift.state == 1);
}

static void test_battery__a_season_has_its_period_in_units_of_time(void **state)
{
    (void)state;
    sock_check_test test[SK_CHECK_TESTS];
    const sk_check_facts f = compare_made(&(recipe){1, 1, 240, 5, 0.02, -1, 1, 1.2, 12, 0, 0, 0, 0}, &usual, test);
    assert_close(f.period, 12 * 0.02, 0.05, 0);
    assert_true(test[CYCLES].p < 0.001);
    compare_made(&(recipe){2, 2, 90, 6, 0.02, -1, 1, 0.5, 9, 0, 0, 0, 0}, &usual, test);
}

static void test_battery__noise_and_a_jump(void **state)
{
    (void)state;
    sock_check_test test[SK_CHECK_TESTS];
    sk_check_facts f = compare_made(&(recipe){2, 2, 150, 7, 0.02, -1, 1, 0, 1, 0, 0, 0.08, 0}, &usual, test);
    assert_true(f.lag1 < -0.1 && f.noise > 0.04 && f.noise < 0.16);
    f = compare_made(&(recipe){2, 2, 150, 8, 0.02, -1, 1, 0, 1, 3, 0, 0, 0}, &usual, test);
    assert_true(f.wild >= 2 && f.wild_time < 21 * 0.02 * 1.2);
}

/* A step that is left out ends a piece; short pieces have no run of four steps, and no cycles. */
static void test_battery__pieces(void **state)
{
    (void)state;
    static bool skip[MOST_ROWS];
    sock_check_test test[SK_CHECK_TESTS];
    sk_check_spec spec = usual;
    for (size_t i = 0; i < MOST_ROWS; i++) skip[i] = i % 31 == 7 || i == 50;
    spec.skip = skip;
    spec.skipped = 9;
    compare_made(&(recipe){2, 1, 250, 9, 0.02, -1, 1, 0, 1, 0, 0, 0, 0}, &spec, test);
    for (size_t i = 0; i < MOST_ROWS; i++) skip[i] = i % 4 == 3;
    compare_made(&(recipe){1, 1, 100, 10, 0.02, -1, 1, 0, 1, 0, 0, 0, 0}, &spec, test);
    assert_false(test[HORIZON].valid || test[CYCLES].valid);
}

/* Paths about points of their own, under a model that knows one. Fewer than five are not compared, and of paths that
 * are alike nothing is said. */
static void test_battery__set_points_of_their_own(void **state)
{
    (void)state;
    sock_check_test test[SK_CHECK_TESTS];
    recipe r = {
        .d = 1, .paths = 8, .length = 60, .stream = 18, .gap = 0.2, .drift = -1, .size = 1, .period = 1, .apart = 0.5};
    assert_true(compare_made(&r, &usual, test).apart && test[CYCLES].p < 1e-6 && test[CYCLES].ways == 3);
    r.paths = 4;
    assert_false(compare_made(&r, &usual, test).apart);
    r.paths = 8;
    r.apart = 0;
    assert_false(compare_made(&r, &usual, test).apart);
    r.d = 2;
    assert_false(compare_made(&r, &usual, test).apart);
}

/* Thirty runs of four steps are enough, 29 are not. */
static void test_battery__how_many_runs_it_takes(void **state)
{
    (void)state;
    sock_check_test test[SK_CHECK_TESTS];
    compare_made(&(recipe){1, 1, 121, 17, 0.02, -1, 1, 0, 1, 0, 0, 0, 0}, &usual, test);
    assert_true(test[HORIZON].valid && test[HORIZON].df == 1);
    compare_made(&(recipe){1, 1, 120, 17, 0.02, -1, 1, 0, 1, 0, 0, 0, 0}, &usual, test);
    assert_false(test[HORIZON].valid);
}

/* The second state has a score in too few steps: one state is left, and p is not doubled for it. Where it has one in
 * most steps, it is tested over these. */
static void test_battery__a_state_of_few_scores_is_not_tested(void **state)
{
    (void)state;
    sock_check_test test[SK_CHECK_TESTS];
    const recipe r = {2, 2, 120, 12, 0.02, -1, 1, 0, 1, 0, 0, 0, 0};
    compare_fields(&r, partly_one, 0.4, &usual, test);
    assert_true(test[SCALE].df == 1);
    compare_fields(&r, partly_one, -0.4, &usual, test);
    assert_true(test[SCALE].df == 2);
}

/* Forty waves for all states together: of 21 each has one. */
static void test_battery__waves_of_many_states(void **state)
{
    (void)state;
    enum { MANY = 21, LENGTH = 101 };
    static double t[LENGTH], x[LENGTH * MANY], z[LENGTH * MANY];
    const size_t length = LENGTH;
    sock_check_test test[SK_CHECK_TESTS];
    sk_check_facts facts;
    sk_check_spec spec = usual;
    spec.draws = 40;
    sk_normals(key, 14, 0, 0, LENGTH * MANY, z);
    for (size_t i = 0; i < LENGTH; i++) {
        t[i] = 0.1 * (double)i;
        for (size_t k = i * MANY; k < (i + 1) * MANY; k++) x[k] = i ? 0.9 * x[k - MANY] + sqrt(0.1) * z[k] : z[k];
    }
    sock_data *data = make_data(MANY, 1, &length, t, x);
    sock_model *model = wrap_fields(ctx, MANY, pull_back, wavy, NULL);
    assert_int_equal(sk_check_battery(ctx, model, data, &spec, test, &facts), SOCK_OK);
    assert_close(test[SCALE].df, MANY, 0, 1);
    assert_close(test[DRIFT].df, MANY * MANY, 0, 1);
    sock_model_free(model);
    sock_data_free(data);
}

/* Fourteen steps are too few, fifteen are enough; all at one time: there is no test of time. */
static void test_battery__how_many_steps_it_takes(void **state)
{
    (void)state;
    enum { PATHS = 15 };
    const size_t length[PATHS] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    double t[2 * PATHS], x[2 * PATHS];
    sk_normals(key, 13, 0, 0, 2 * PATHS, x);
    for (size_t i = 0; i < 2 * PATHS; i++) t[i] = (double)(i % 2);
    sock_model *model = wrap_fields(ctx, 1, pull_back, wavy, NULL);
    for (size_t paths = PATHS - 1; paths <= PATHS; paths++) {
        sock_check_test test[SK_CHECK_TESTS];
        sk_check_facts facts;
        sock_data *data = make_data(1, paths, length, t, x);
        assert_int_equal(sk_check_battery(ctx, model, data, &usual, test, &facts), SOCK_OK);
        assert_int_equal(facts.steps, paths);
        assert_int_equal(test[SCALE].valid, paths == PATHS);
        assert_false(test[TIME].valid || test[HORIZON].valid);
        assert_int_equal(isnan(facts.lag1), paths < PATHS);
        sock_data_free(data);
    }
    sock_model_free(model);
}

typedef struct given {
    const sock_model *model;
    const sock_data *data;
} given;

static sock_status check_given(sock_context *context, void *arg)
{
    const given *g = arg;
    sock_check_test test[SK_CHECK_TESTS];
    sk_check_facts facts;
    sock_step_scores scores = {0};
    SK_TRY(sk_check_battery(context, g->model, g->data, &usual, test, &facts));
    const sock_status status = sk_check_score_steps(context, g->model, g->data, &usual, &scores);
    sock_step_scores_free(&scores);
    return status;
}

static void test_battery__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_data *data = made(&(recipe){2, 1, 40, 15, 0.02, -1, 1, 0, 1, 0, 0, 0, 0});
    sock_model *model = wrap_fields(ctx, 2, pull_back, wavy, NULL);
    sock_context *other = sock_context_new();
    assert_int_equal(sock_set_threads(other, 1), SOCK_OK);
    given g = {model, data};
    assert_true(for_single_allocations(other, check_given, &g) > 50);
    sock_context_free(other);
    sock_model_free(model);
    sock_data_free(data);
}

/* The scores that are given away are those of the battery. */
static void test_battery__scores_are_those_of_the_steps(void **state)
{
    (void)state;
    sock_data *data = made(&(recipe){2, 2, 30, 16, 0.02, -1, 1, 0, 1, 0, 0, 0, 0});
    sock_model *model = wrap_fields(ctx, 2, pull_back, wavy, NULL);
    sock_step_scores out = {0};
    seen s;
    look(model, data, &usual, &s);
    assert_int_equal(sk_check_score_steps(ctx, model, data, &usual, &out), SOCK_OK);
    assert_true(out.count == 58 && out.dim == 2 && out.all_steps == 58 && s.n == 58);
    assert_memory_equal(out.v, s.scores.v, 116 * sizeof *out.v);
    assert_memory_equal(out.pit, s.scores.pit, 116 * sizeof *out.pit);
    for (size_t i = 0; i < 58; i++) {
        const size_t at = i + i / 29;
        assert_true(out.t[i] == data->t[at] && out.x[2 * i + 1] == data->x[2 * at + 1] && out.piece[i] == i / 29);
    }
    assert_int_equal(out.seasons, 0); /* these times are numbers */
    sock_step_scores_free(&out);
    forget(&s);
    sock_model_free(model);
    sock_data_free(data);
}

/* ---- Ranks and decisions ---- */

/* A state without a score says nothing about the others: theirs are those of a ranking without it. */
static void prop_ends__a_state_without_a_score_is_not_there(void **state)
{
    (void)state;
    enum { DRAWS = 19 };
    const double a[9] = {1, 1, 0, 1, 1, 0, 0, 0, 1}, two[4] = {1, 0, 0, 1}, uniform[3] = {0.3, 0.6, 0.3};
    double z[(DRAWS + 1) * 3], pair[(DRAWS + 1) * 2], pit[3], alone[2], space[21];
    bool used[3];
    sk_normals(key, 20, 0, 0, (DRAWS + 1) * 3, z);
    for (size_t i = 0; i <= DRAWS; i++) {
        z[3 * i + 1] = z[3 * i] + 0.1 * z[3 * i + 1];
        z[3 * i + 2] += 0.5 * z[3 * i];
        pair[2 * i] = z[3 * i], pair[2 * i + 1] = z[3 * i + 2];
    }
    sk_check_rank(&(sk_check_ranking){3, DRAWS, a, NULL, uniform, space}, z, pit, used);
    assert_true(used[0] && !used[1] && used[2] && isnan(pit[1]));
    bool both[2];
    sk_check_rank(&(sk_check_ranking){2, DRAWS, two, NULL, (const double[]){0.3, 0.3}, space}, pair, alone, both);
    assert_close(pit[0], alone[0], 1e-14, 0);
    assert_close(pit[2], alone[1], 1e-14, 0);
    for (size_t i = 0; i <= DRAWS; i++) {
        assert_close(z[3 * i], pair[2 * i], 1e-10, 1);
        assert_close(z[3 * i + 2], pair[2 * i + 1], 1e-10, 1);
        assert_true(z[3 * i + 1] == 0);
    }
}

/* Both sides of alpha and of the least effect: below alpha, and at least the effect. */
static void test_verdict__objections_at_their_thresholds(void **state)
{
    (void)state;
    const struct {
        double p, effect;
        int objects, remark;
    } cases[] = {{0.05, 1, 0, 0},     {0.0499, 1, 1, 0},    {0.0499, 0.25, 1, 0}, {0.0499, -0.25, 1, 0},
                 {0.0499, 0.2, 0, 1}, {0.0499, -0.2, 0, 1}, {0.0501, 0.2, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sock_check_test test[SK_CHECK_TESTS] = {{0}};
        for (int k = 0; k < SK_CHECK_TESTS; k++) test[k] = (sock_check_test){.p = 1, .p_adjusted = 1};
        test[MEMORY] = (sock_check_test){.valid = 1, .p = cases[i].p, .effect = cases[i].effect, .effect_least = 0.25};
        sk_check_decide(0.05, test);
        assert_int_equal(test[MEMORY].objects, cases[i].objects);
        assert_int_equal(test[MEMORY].remark, cases[i].remark);
        assert_close(test[MEMORY].p_adjusted, cases[i].p, 0, 1);
        assert_false(test[SCALE].objects || test[SCALE].remark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_battery__two_states_of_a_model_that_is_a_little_wrong),
        cmocka_unit_test(test_battery__one_state_in_long_and_short_units_of_time),
        cmocka_unit_test(test_battery__a_missing_drift_shows_in_few_waves),
        cmocka_unit_test(test_battery__a_season_has_its_period_in_units_of_time),
        cmocka_unit_test(test_battery__noise_and_a_jump),
        cmocka_unit_test(test_battery__pieces),
        cmocka_unit_test(test_battery__set_points_of_their_own),
        cmocka_unit_test(test_battery__how_many_runs_it_takes),
        cmocka_unit_test(test_battery__a_state_of_few_scores_is_not_tested),
        cmocka_unit_test(test_battery__waves_of_many_states),
        cmocka_unit_test(test_battery__how_many_steps_it_takes),
        cmocka_unit_test(test_battery__survives_every_failed_allocation),
        cmocka_unit_test(test_battery__scores_are_those_of_the_steps),
        cmocka_unit_test(prop_ends__a_state_without_a_score_is_not_there),
        cmocka_unit_test(test_verdict__objections_at_their_thresholds),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
