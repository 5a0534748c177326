/* test_rules.c - every rule of the search at both sides of its thresholds. The numbers are written out: a change of
 * policy.h, of a comparison or of a sign in rules.c must fail here. */
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
static void make(field *w, size_t count, const double *score, const double *error)
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
static void assert_alive(const field *w, const bool *alive, const char *expected)
{
    char text[MANY + 1] = {0};
    for (size_t i = 0; i < w->t.count; i++) text[i] = alive[i] ? '+' : '-';
    assert_string_equal(text, expected);
    assert_false(alive[w->t.count]);
}

/* ---- Penalties ---- */

static void test_rules__grids(void **state)
{
    (void)state;
    static const double lambdas[] = {1e2, 1e1, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11};
    static const double floors[] = {0, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3};
    assert_int_equal(sizeof sk_drift_lambdas, sizeof lambdas);
    assert_memory_equal(sk_drift_lambdas, lambdas, sizeof lambdas);
    static const double fine[] = {10, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    static const double thin[] = {1, 1e-2, 1e-4, 1e-6, 1e-8}, own[] = {1e-2, 1e-4, 1e-6, 1e-8};
    assert_int_equal(sizeof sk_fine_lambdas, sizeof fine);
    assert_memory_equal(sk_fine_lambdas, fine, sizeof fine);
    assert_int_equal(sizeof sk_thin_lambdas, sizeof thin);
    assert_memory_equal(sk_thin_lambdas, thin, sizeof thin);
    assert_int_equal(sizeof sk_own_lambdas, sizeof own);
    assert_memory_equal(sk_own_lambdas, own, sizeof own);
    assert_int_equal(sizeof sk_floors, sizeof floors);
    assert_memory_equal(sk_floors, floors, sizeof floors);
}

static void test_rules__place_of_a_penalty_is_the_first_not_above_it(void **state)
{
    (void)state;
    static const double grid[] = {1, 1e-2, 1e-4};
    assert_int_equal(sk_lambda_place(3, grid, 1e-2), 1);
    assert_int_equal(sk_lambda_place(3, grid, 1e-2 * (1 - 1e-9)), 1); /* but for rounding */
    assert_int_equal(sk_lambda_place(3, grid, 1e-3), 2);
    assert_int_equal(sk_lambda_place(3, grid, 5), 0);
    assert_int_equal(sk_lambda_place(3, grid, 1e-9), 2);
    assert_int_equal(sk_lambda_place(1, grid, 1e-9), 0);
}

static void test_rules__best_lambda_is_the_first_of_the_highest(void **state)
{
    (void)state;
    static const double a[] = {1, 3, 2, 3}, b[] = {5, 1};
    assert_int_equal(sk_best_lambda(4, a), 1);
    assert_int_equal(sk_best_lambda(2, b), 0);
    assert_int_equal(sk_best_lambda(1, a), 0);
    assert_int_equal(sk_best_lambda(0, a), 0);
}

/* 15 rows for each degree of freedom; the largest penalty is there in any case. */
static void test_rules__best_drift_lambda_has_rows_for_its_freedom(void **state)
{
    (void)state;
    static const double by_l[] = {1, 2, 3, 99}, equal[] = {1, 1, 1, 1}; /* the last is not looked at */
    static const double fits[] = {1, 9, 10, 0}, beyond[] = {1, 10, 10.01, 0}, never[] = {99, 98, 97, 0};
    assert_int_equal(sk_best_drift_lambda(3, by_l, fits, 150), 2);
    assert_int_equal(sk_best_drift_lambda(3, by_l, beyond, 150), 1);
    assert_int_equal(sk_best_drift_lambda(3, by_l, never, 150), 0);
    assert_int_equal(sk_best_drift_lambda(3, equal, fits, 150), 0);
}

static void test_rules__edge_is_an_end_that_is_not_flat(void **state)
{
    (void)state;
    static const double falls[] = {0.101, 0, 0}, flat[] = {0.099, 0, 0}, rises[] = {0, 0.01, 0.111};
    static const double even[] = {0, 0.02, 0.119}, middle[] = {0, 5, 0}, alone[] = {5, 0}, down[] = {1, 0};
    static const double up[] = {0, 1};
    static const double equal[] = {0.1, 0, 0}, next[] = {0.05, 0, -5};
    assert_true(sk_at_edge(3, falls, 0));
    assert_false(sk_at_edge(3, equal, 0) || sk_at_edge(3, next, 0));
    assert_false(sk_at_edge(3, flat, 0));
    assert_true(sk_at_edge(3, rises, 2));
    assert_false(sk_at_edge(3, even, 2));
    assert_false(sk_at_edge(3, middle, 1));
    assert_false(sk_at_edge(1, alone, 0));
    assert_true(sk_at_edge(2, down, 0));
    assert_true(sk_at_edge(2, up, 1));
}

/* Twice in a row more than 10 nats and a thousandth of the score below the best. */
static void test_rules__path_is_over_after_two_clear_losses(void **state)
{
    (void)state;
    static const double lost[] = {0, -10.1, -10.1, -3}, at[] = {0, -10, -10}, broken[] = {0, -11, -5, -11};
    static const double later[] = {-50, 0, -11, -11}, back[] = {0, -11, -11, 1};
    static const double high[] = {1000, 988.9, 988.9}, near[] = {1000, 989.1, 989.1};
    static const double low[] = {-1000, -1011.1, -1011.1}, above[] = {-1000, -1010.9, -1010.9};
    assert_false(sk_path_is_over(0, lost) || sk_path_is_over(1, lost) || sk_path_is_over(2, lost));
    assert_true(sk_path_is_over(3, lost));
    assert_false(sk_path_is_over(4, lost));
    assert_false(sk_path_is_over(3, at));
    assert_false(sk_path_is_over(4, broken));
    assert_true(sk_path_is_over(4, later));
    assert_true(sk_path_is_over(3, back));
    assert_false(sk_path_is_over(4, back));
    assert_true(sk_path_is_over(3, high) && sk_path_is_over(3, low));
    assert_false(sk_path_is_over(3, near) || sk_path_is_over(3, above));
}

static void test_rules__coupling_by_order(void **state)
{
    (void)state;
    assert_int_equal(sk_drift_coupling(1500, 1, false, false), SK_JOINT);
    assert_int_equal(sk_drift_coupling(1501, 1, false, false), SK_APART);
    assert_int_equal(sk_drift_coupling(500, 3, false, false), SK_JOINT);
    assert_int_equal(sk_drift_coupling(501, 3, false, true), SK_APART);
    assert_int_equal(sk_drift_coupling(134, 3, false, false), SK_JOINT);
    assert_int_equal(sk_drift_coupling(100, 4, false, false), SK_JOINT);
    assert_int_equal(sk_drift_coupling(1, 401, false, false), SK_APART);
    assert_int_equal(sk_drift_coupling(101, 4, false, false), SK_SHARED);
    assert_int_equal(sk_drift_coupling(101, 4, false, true), SK_APART);
    assert_int_equal(sk_drift_coupling(100, 4, true, false), SK_APART);
    assert_int_equal(sk_drift_coupling(101, 4, true, false), SK_SHARED);
    assert_int_equal(sk_drift_coupling(200, 3, true, false), SK_APART);
}

/* 3e7 numbers: two sums, of one system or of one for each component. */
static void test_rules__bands_of_a_drift_may_cost_too_much(void **state)
{
    (void)state;
    assert_true(sk_bands_affordable(3872, 1, false) && !sk_bands_affordable(3873, 1, false));
    assert_true(sk_bands_affordable(387, 100, false) && !sk_bands_affordable(388, 100, false));
    assert_true(sk_bands_affordable(38, 100, true) && !sk_bands_affordable(39, 100, true));
}

/* ---- Who goes on ---- */

static void test_rules__paired_error(void **state)
{
    (void)state;
    static const double a[] = {1, 2, 3}, zero[] = {0, 0, 0}, c[] = {5, 1}, e[] = {2, 0};
    assert_close(sk_paired_error(3, a, zero), 1.7320508075688772, 1e-15, 1);
    assert_close(sk_paired_error(2, c, e), 2, 1e-15, 1);
    assert_true(sk_paired_error(2, zero, zero) == 0);
    assert_true(isinf(sk_paired_error(1, a, zero)));
}

/* Within one and a half errors of the best. */
static void test_rules__screen_keeps_who_is_near_by_errors(void **state)
{
    (void)state;
    static const double score[] = {0, -3, -3.01, -1.5, -1.51, -9}, error[] = {0, 2, 2, 1, 1, 20};
    field w;
    bool alive[MANY] = {false};
    make(&w, 6, score, error);
    w.list[5] = NULL;
    sk_screen_drifts(&w.t, alive);
    assert_alive(&w, alive, "++-+--");
    sk_screen_diffusions(&w.t, 1, alive);
    assert_alive(&w, alive, "++-+--");
}

/* Six drifts, eight diffusions; equal ones at the border all go on, and who is not near takes nobody's place. */
static void test_rules__screen_keeps_the_best_few(void **state)
{
    (void)state;
    static const double fall[] = {0, -1, -2, -3, -4, -5, -6, -7, -8, -9}, tie[] = {0, -1, -2, -3, -4, -5, -5, -6};
    static const double wide[] = {0, 99, 99, 99, 99, 99, 99, 99, 99, 99}, far[] = {0, .1, 99, 99, 99, 99, 99, 99};
    field w;
    bool alive[MANY] = {false};
    make(&w, 10, fall, wide);
    sk_screen_drifts(&w.t, alive);
    assert_alive(&w, alive, "++++++----");
    sk_screen_diffusions(&w.t, 2, alive);
    assert_alive(&w, alive, "++++++++--");
    memset(alive, 0, sizeof alive);
    make(&w, 8, tie, wide);
    sk_screen_drifts(&w.t, alive);
    assert_alive(&w, alive, "+++++++-");
    make(&w, 8, fall, far);
    sk_screen_drifts(&w.t, alive);
    assert_alive(&w, alive, "+-+++++-");
}

static void test_rules__screen_keeps_basic_ones(void **state)
{
    (void)state;
    static const double score[] = {0, -1000, -1000, -1000};
    field w;
    bool alive[MANY] = {false};
    make(&w, 4, score, NULL);
    w.candidate[1].roles = SK_ROLE_BASIC | SK_ROLE_PILOT;
    w.candidate[2].roles = SK_ROLE_PILOT | SK_ROLE_SHORT | SK_ROLE_PLAIN | SK_ROLE_AFFINE;
    w.candidate[3].roles = SK_ROLE_BASIC;
    w.list[3] = NULL;
    sk_screen_drifts(&w.t, alive);
    assert_alive(&w, alive, "++--");
    sk_screen_diffusions(&w.t, 3, alive);
    assert_alive(&w, alive, "++--");
    sk_screen_diffusions(&w.t, 4, alive);
    assert_alive(&w, alive, "+---");
}

static void test_rules__near_drifts_are_within_20_nats(void **state)
{
    (void)state;
    static const double score[] = {7, -12.99, -13, 6, 5}, error[] = {0, 99, 99, 99, 99};
    field w;
    bool alive[MANY] = {false};
    make(&w, 5, score, error);
    w.list[3] = NULL;
    sk_near_drifts(&w.t, alive);
    assert_alive(&w, alive, "++--+");
}

/* 20 nats, 60 where they may be polished, or an error; and three within 60 nats or three errors. */
static void test_rules__near_diffusions_are_the_finalists_and_who_is_within_reach(void **state)
{
    (void)state;
    static const double score[] = {0, -1, -2, -19.9, -20, -30, -30, -59.9, -60, -65, -65};
    static const double error[] = {0, 0, 0, 0, 0, 30, 31, 0, 0, 65, 66}, far[] = {0, -60, -60.1, -90, -91};
    static const double errors[] = {0, 0, 0, 30, 30};
    field w;
    bool alive[MANY] = {false};
    make(&w, 11, score, error);
    sk_near_diffusions(&w.t, false, alive);
    assert_alive(&w, alive, "++++--+---+");
    sk_near_diffusions(&w.t, true, alive);
    assert_alive(&w, alive, "++++++++--+");
    memset(alive, 0, sizeof alive);
    make(&w, 5, far, errors);
    sk_near_diffusions(&w.t, false, alive);
    assert_alive(&w, alive, "++---");
    w.list[1] = w.list[2] = NULL;
    sk_near_diffusions(&w.t, false, alive);
    assert_alive(&w, alive, "+--+-");
}

static void test_rules__finalists_and_polished_ones_are_the_best_few(void **state)
{
    (void)state;
    static const double score[] = {1, 5, 9, 5, 3, 4, 2};
    static const bool none[MANY] = {false}, hopeless[MANY] = {false, true}, all[MANY] = {1, 1, 1, 1, 1, 1, 1};
    static const size_t first[] = {1, 3, 5, 4}, others[] = {3, 5, 4, 6};
    field w;
    size_t list[MANY];
    make(&w, 7, score, NULL);
    w.list[2] = NULL;
    assert_int_equal(sk_finalists(&w.t, list), 3);
    assert_memory_equal(list, first, 3 * sizeof *list);
    assert_int_equal(sk_to_polish(&w.t, none, list), 4);
    assert_memory_equal(list, first, sizeof first);
    assert_int_equal(sk_to_polish(&w.t, hopeless, list), 4);
    assert_memory_equal(list, others, sizeof others);
    assert_int_equal(sk_to_polish(&w.t, all, list), 0);
    w.t.count = 2;
    assert_int_equal(sk_finalists(&w.t, list), 2);
    assert_true(list[0] == 1 && list[1] == 0);
}

/* Within 60 nats or three paired errors; the best in any case. */
static void test_rules__finalists_are_not_far_behind(void **state)
{
    (void)state;
    static const double score[] = {0, -60.1, -60, -90, -91}, error[] = {0, 20, 0, 30, 30};
    static const size_t expected[] = {0, 2, 3};
    field w;
    size_t list[MANY];
    make(&w, 5, score, error);
    assert_int_equal(sk_finalists(&w.t, list), 3);
    assert_memory_equal(list, expected, sizeof expected);
    w.list[2] = w.list[3] = NULL;
    assert_int_equal(sk_finalists(&w.t, list), 1);
    assert_int_equal(list[0], 0);
}

static void test_rules__a_polish_that_loses_20_nats_is_hopeless(void **state)
{
    (void)state;
    assert_true(sk_polish_is_hopeless(-20.1));
    assert_false(sk_polish_is_hopeless(-20) || sk_polish_is_hopeless(0) || sk_polish_is_hopeless(20.1));
}

static void test_rules__a_round_may_lose_less_than_a_nat(void **state)
{
    (void)state;
    assert_true(sk_round_accepted(-100.99, -100) && sk_round_accepted(5, -(double)INFINITY));
    assert_false(sk_round_accepted(-101, -100));
}

static void test_rules__a_refit_goes_on_above_five_nats(void **state)
{
    (void)state;
    assert_true(sk_worth_refitting(5.01) && !sk_worth_refitting(5) && !sk_worth_refitting(-5));
    assert_int_equal(SK_REFITS, 4);
}

/* last: scores under the model before; the first is the best of them. constant: of constant coefficients then. Two more
 * drifts were dropped, of 60 and of 61 features: who of all is asked again. */
static const char *asked_again(const double *last, double constant, const double *now)
{
    static char text[6];
    static const bool alive[MANY] = {true, true, true};
    field w;
    bool back[MANY] = {false};
    double scores[5] = {now[0], now[1], now[2]};
    sock_context *ctx = sock_context_new();
    sk_judgement j = {last[0], constant, {0}};
    make(&w, 5, scores, NULL);
    for (size_t i = 0; i < SK_MOST; i++) j.score[i] = i < 3 ? last[i] : (double)NAN;
    for (size_t i = 3; i < 5; i++) {
        w.list[i] = NULL;
        w.candidate[i].max_rank = 57 + i;
        assert_int_equal(sk_kernel_parse(ctx, "drift", "gauss:eta=1", &w.candidate[i].kernel), SOCK_OK);
    }
    sk_drifts_back(&j, &w.t, 2, alive, back);
    for (size_t i = 3; i < 5; i++) sk_kernel_free(w.candidate[i].kernel);
    sock_context_free(ctx);
    for (size_t i = 0; i < 5; i++) text[i] = back[i] ? '+' : '-';
    return text;
}

static void test_rules__dropped_drifts_come_back_where_the_last_model_was_no_judge(void **state)
{
    (void)state;
    static const double now[] = {-100, -101, -119}, alike[] = {-500, -501, -520}, unlike[] = {-500, -501, -540};
    static const double near[] = {-120, -121, -170}, far[] = {-120.1, -121, -170};
    static const double unknown[] = {-500, NAN, NAN}, none[] = {INFINITY, NAN, NAN};
    assert_string_equal(asked_again(alike, -501, now), "---+-"); /* a better a lifts all drifts by 399 to 401 nats */
    assert_string_equal(asked_again(alike, -500, now), "---+-");
    assert_string_equal(asked_again(alike, -499, now), "---++");  /* behind constants */
    assert_string_equal(asked_again(unlike, -501, now), "---++"); /* by 421 the one, by 400 the others */
    assert_string_equal(asked_again(near, -500, now), "-----");   /* the best does not gain clearly, */
    assert_string_equal(asked_again(near, -50, now), "-----");    /* whatever the last model was */
    assert_string_equal(asked_again(far, -500, now), "---++");
    assert_string_equal(asked_again(unknown, -501, now), "---+-"); /* what was not judged says nothing */
    assert_string_equal(asked_again(unknown, -499, now), "---++");
    assert_string_equal(asked_again(none, 0, now), "-----");
}

static void test_rules__a_pair_takes_over_by_its_gain_or_its_simpler_drift(void **state)
{
    (void)state;
    assert_true(sk_takes_over(0.01, false) && !sk_takes_over(0, false));
    assert_true(sk_takes_over(-1.99, true) && !sk_takes_over(-2, true));
}

/* The best of the other kind, within 60 nats or one and a half paired errors. */
static void test_rules__rival_of_a_drift_is_of_the_other_kind(void **state)
{
    (void)state;
    static const struct {
        const char *kernel[4];
        double score[4], error[4];
        size_t rival;
    } cases[] = {
        {{"gauss:eta=1", "gauss:eta=2", "affine", "poly:degree=3"}, {0, -1, -60, -50}, {0}, 3},
        {{"affine", "gauss:eta=2", "gauss:eta=1", "linear"}, {0, -60, -61, -1}, {0}, 1},
        {{"affine", "gauss:eta=2", "gauss:eta=1", "linear"}, {0, -60.1, -61, -1}, {0}, SK_MOST},
        {{"affine", "gauss:eta=2", "poly:degree=2", "linear"}, {0, -74, -1, -1}, {0, 50}, 1},
        {{"affine", "gauss:eta=2", "poly:degree=2", "linear"}, {0, -76, -1, -1}, {0, 50}, SK_MOST},
        {{"affine", "linear", "poly:degree=2", "constant"}, {0, -1, -1, -1}, {0}, SK_MOST},
    };
    sock_context *ctx = sock_context_new();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        field w;
        make(&w, 4, cases[k].score, cases[k].error);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(sk_kernel_parse(ctx, "drift", cases[k].kernel[i], &w.candidate[i].kernel), SOCK_OK);
        assert_int_equal(sk_rival_drift(&w.t), cases[k].rival);
        for (size_t i = 0; i < 4; i++) sk_kernel_free(w.candidate[i].kernel);
    }
    sock_context_free(ctx);
}

/* ---- Shares ---- */

/* A paired error, at most two nats (more where rows are below 250), or a quarter of a nat for each degree of freedom,
 * at most 10 or the error. */
static void test_rules__drift_allowance(void **state)
{
    (void)state;
    assert_true(sk_drift_allowance(1.5, 0, 480) == 1.5 && sk_drift_allowance(5, 0, 480) == 2);
    assert_true(sk_drift_allowance(60, 0, 251) == 2 && sk_drift_allowance(60, 0, 250) == 2);
    assert_true(sk_drift_allowance(60, 0, 125) == 4 && sk_drift_allowance(60, 0, 10) == 50);
    assert_true(sk_drift_allowance(40, 0, 10) == 40 && sk_drift_allowance(0, 4, 1000) == 1);
    assert_true(sk_drift_allowance(3, 32, 480) == 8 && sk_drift_allowance(20, 32, 480) == 8);
    assert_true(sk_drift_allowance(3, 400, 480) == 10 && sk_drift_allowance(15, 400, 480) == 15);
    assert_true(sk_drift_allowance(1, -3, 480) == 1 && sk_drift_allowance(0, 0, 480) == 0);
}

/* Who is chosen of the best, of simplicity 5, and another. */
static size_t chosen_of(double score, double error, double saved, int simplicity, size_t rows)
{
    const double scores[] = {0, score}, errors[] = {0, error};
    field w;
    make(&w, 2, scores, errors);
    w.candidate[0].simplicity = 5;
    w.candidate[1].simplicity = simplicity;
    w.trial[0].dof = 10;
    w.trial[1].dof = 10 - saved;
    w.trial[0].d = 2;
    return sk_simplest_drift(&w.t, rows);
}

static void test_rules__simplest_drift_is_within_its_allowance(void **state)
{
    (void)state;
    assert_int_equal(chosen_of(-0.7e-6, 0, 0, 4, 1000), 1); /* a tie */
    assert_int_equal(chosen_of(-1e-6, 0, 0, 4, 1000), 1);
    assert_int_equal(chosen_of(-1.5e-6, 0, 0, 4, 1000), 0);
    assert_int_equal(chosen_of(-2, 0, 8, 4, 1000), 1);
    assert_int_equal(chosen_of(-2.1, 0, 8, 4, 1000), 0);
    assert_int_equal(chosen_of(-1, 1, 0, 4, 1000), 1);
    assert_int_equal(chosen_of(-1, 1, 0, 5, 1000), 0); /* not simpler */
    assert_int_equal(chosen_of(-1, 1, 0, 6, 1000), 0);
    assert_int_equal(chosen_of(-10, 10, 0, 4, 1000), 0);
    assert_int_equal(chosen_of(-10, 10, 0, 4, 25), 1); /* few rows */
    assert_int_equal(chosen_of(-19.9, 0, 0, 4, 1030000), 1);
    assert_int_equal(chosen_of(-20.1, 0, 0, 4, 1030000), 0); /* 1e-5 for each row and dimension of long data */
    assert_int_equal(chosen_of(-0.1, 0, 0, 4, 30000), 0);
}

/* ---- All rows ---- */

static void test_rules__bytes_of_rows(void **state)
{
    (void)state;
    assert_true(sk_rows_bytes(1000, 1) == 112e3 && sk_rows_bytes(10, 3) == 2080);
}

static void test_rules__density_of_long_data(void **state)
{
    (void)state;
    assert_true(sk_density_allowance(100, 1) == 0 && sk_density_allowance(30000, 3) == 0);
    assert_close(sk_density_allowance(130000, 1), 1, 1e-12, 0);
    assert_close(sk_density_allowance(1030000, 2), 20, 1e-12, 0);
}

/* A nat for each degree of freedom more, none for fewer, and one and a half errors. */
static void test_rules__lost_drifts_are_behind_by_more_than_noise(void **state)
{
    (void)state;
    static const double score[] = {0, -2.9, -3.1, -5.9, -6.1, -0.1, -9}, error[] = {0, 0, 0, 2, 2, 0, 0};
    static const double dof[] = {4, 7, 7, 7, 7, 1, 99};
    bool lost[MANY] = {false};
    field w;
    make(&w, 7, score, error);
    for (size_t i = 0; i < 7; i++) w.trial[i].dof = dof[i];
    w.list[6] = NULL;
    lost[6] = true;
    sk_lost_drifts(&w.t, lost);
    assert_alive(&w, lost, "--+-++-");
}

/* The features of the drifts that join; p of a trial, or what a kernel may have: affine, in d dimensions, d + 1. */
static void test_rules__drifts_join_on_all_rows_as_they_have_room(void **state)
{
    (void)state;
    static const double score[] = {0, -1, -2, -3, -4, -5, 0, 0};
    static const double share[] = {0.5, 0, 0, 0, 0, 0.5, 0, 0};
    static const size_t p[] = {900, 100, 150, 51, 49, 900, 0, 0};
    static const struct {
        size_t d, third;
        bool lost;
        const char *expected;
    } cases[] = {{1, 51, false, "+++-++--"}, {1, 48, false, "++++-++-"}, {1, 46, false, "++++-+++"},
                 {3, 46, false, "++++-++-"}, {4, 46, false, "++++-+--"}, {1, 51, true, "+-++++++"}};
    sock_context *ctx = sock_context_new();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bool alive[MANY] = {false}, lost[MANY] = {false};
        field w;
        make(&w, 8, score, NULL);
        for (size_t i = 0; i < 8; i++) w.trial[i].p = p[i];
        w.trial[3].p = cases[k].third;
        lost[1] = cases[k].lost;
        for (size_t i = 6; i < 8; i++) {
            w.list[i] = NULL;
            assert_int_equal(sk_kernel_parse(ctx, "drift", "affine", &w.candidate[i].kernel), SOCK_OK);
        }
        sk_drifts_for_all(&w.t, cases[k].d, share, lost, alive);
        assert_alive(&w, alive, cases[k].expected);
        for (size_t i = 6; i < 8; i++) sk_kernel_free(w.candidate[i].kernel);
    }
    sock_context_free(ctx);
}

static void test_rules__simplest_drift_of_several(void **state)
{
    (void)state;
    static const double score[] = {0, -1, -1, -1, -50, 0}, error[] = {0, 2, 2, 2, 2, 2};
    static const int simplicity[] = {8, 3, 2, 2, 1, 0};
    field w;
    make(&w, 6, score, error);
    for (size_t i = 0; i < 6; i++) w.candidate[i].simplicity = simplicity[i];
    w.list[5] = NULL;
    assert_int_equal(sk_simplest_drift(&w.t, 1000), 2);
}

/* Shares of drifts that are no short equations; the first is the best, of simplicity 8. Nothing is written behind the
 * last. */
static void drift_shares(field *w, size_t count, const double *score, const double *dof, double *share, size_t *lead)
{
    make(w, count, score, NULL);
    share[count] = 7;
    for (size_t i = 0; i < count; i++) {
        w->trial[i].dof = dof[i];
        w->candidate[i].simplicity = 8;
    }
    sk_drift_shares(&w->t, 1000, true, share, lead);
    assert_true(share[count] == 7);
    w->candidate[0].roles = SK_ROLE_SHORT;
    double alone[MANY];
    size_t first;
    alone[count] = 7;
    sk_drift_shares(&w->t, 1000, true, alone, &first);
    assert_true(alone[0] == 1 && alone[count] == 7);
    w->candidate[0].roles = 0;
}

/* exp((score - dof) / 2), of a hundredth at least. */
static void test_rules__drift_shares_follow_scores_and_freedom(void **state)
{
    (void)state;
    static const double score[] = {0, -2}, dof[] = {1, 3}, wide[] = {0, -9.2, -9.22}, same[] = {4, 4, 4};
    field w;
    double share[MANY];
    size_t lead;
    drift_shares(&w, 2, score, dof, share, &lead);
    assert_close(share[0], 0.88079707797788243, 1e-14, 1);
    assert_close(share[1], 0.11920292202211756, 1e-14, 1);
    assert_int_equal(lead, 0);
    drift_shares(&w, 3, wide, same, share, &lead);
    assert_close(share[1], 0.0099518018669043241, 1e-14, 1); /* 0.010051835744633586 of 1.0100518... */
    assert_true(share[2] == 0);
    drift_shares(&w, 3, same, same, share, &lead);
    assert_int_equal(lead, 0);
    drift_shares(&w, 3, wide, same, share, &lead);
    w.list[0] = NULL;
    w.t.best = 1;
    sk_drift_shares(&w.t, 1000, true, share, &lead);
    assert_true(share[0] == 0 && lead == 1);
    assert_close(share[1], 0.50249997916687496, 1e-14, 1); /* 0.02 nats apart */
}

/* The largest share leads, whatever is simplest. */
static void test_rules__largest_drift_share_leads(void **state)
{
    (void)state;
    static const double score[] = {0, -1}, error[] = {0, 2};
    field w;
    double share[MANY];
    size_t lead;
    for (int rich = 0; rich < 2; rich++) {
        make(&w, 2, score, error);
        w.candidate[0].simplicity = 8;
        w.candidate[1].simplicity = 7;
        w.trial[0].dof = 5;
        w.trial[1].dof = rich ? 8 : 1;
        sk_drift_shares(&w.t, 1000, true, share, &lead);
        assert_int_equal(lead, rich ? 0 : 1);
        assert_close(share[lead], rich ? 0.88079707797788243 : 0.81757447619364365, 1e-14, 1); /* 4 and 3 nats */
    }
}

static void test_rules__a_short_equation_or_no_average_is_one_drift(void **state)
{
    (void)state;
    static const double score[] = {0, -1, -1}, error[] = {0, 2, 2};
    field w;
    double share[MANY];
    size_t lead;
    for (int average = 0; average < 2; average++) {
        make(&w, 3, score, error);
        w.candidate[0].simplicity = 8;
        w.candidate[1].simplicity = 8;
        w.candidate[2].simplicity = 7;
        w.candidate[2].roles = average ? SK_ROLE_SHORT : SK_ROLE_BASIC | SK_ROLE_PILOT;
        sk_drift_shares(&w.t, 1000, average, share, &lead);
        assert_int_equal(lead, 2);
        assert_true(share[0] == 0 && share[1] == 0 && share[2] == 1);
    }
    w.candidate[2].roles = SK_ROLE_BASIC | SK_ROLE_PILOT | SK_ROLE_PLAIN | SK_ROLE_AFFINE;
    sk_drift_shares(&w.t, 1000, true, share, &lead);
    assert_true(share[0] > 0 && share[1] > 0 && share[2] > 0);
}

/* exp((score + simpler) / 2), of a hundredth at least. */
static void test_rules__diffusion_shares_follow_scores_and_simplicity(void **state)
{
    (void)state;
    static const double score[] = {3, -1, -6.2, -6.22, 3}, alone[] = {1, 0, 0, 0, 0};
    static const int simplicity[] = {3, 1, 3, 3, 0};
    field w;
    double share[MANY];
    make(&w, 5, score, NULL);
    for (size_t i = 0; i < 5; i++) w.candidate[i].simplicity = simplicity[i];
    w.list[4] = NULL;
    share[5] = -7;
    sk_diffusion_shares(&w.t, true, share);
    assert_true(share[5] == -7);
    assert_close(share[1] / share[0], 0.36787944117144233, 1e-14, 1);
    assert_close(share[2] / share[0], 0.010051835744633586, 1e-13, 1);
    assert_true(share[3] == 0 && share[4] == 0);
    assert_close(share[0] + share[1] + share[2], 1, 1e-15, 1);
    sk_diffusion_shares(&w.t, false, share);
    assert_memory_equal(share, alone, sizeof alone);
}

static void test_rules__eight_diffusions_are_averaged(void **state)
{
    (void)state;
    static const double score[] = {0, -.1, -.2, -.3, -.4, -.5, -.6, -.7, -.8, -.9};
    field w;
    double share[MANY];
    make(&w, 10, score, NULL);
    sk_diffusion_shares(&w.t, true, share);
    for (size_t i = 0; i < 10; i++) assert_int_equal(share[i] > 0, i < 8);
}

static void test_rules__three_diffusions_are_fitted_to_all_rows(void **state)
{
    (void)state;
    static const double share[] = {0.4, 0.1, 0.3, 0.15, 0.05, 1}, two[] = {0.9, 0.1, 0, 1, 1, 1},
                        tie[] = {0.3, 0.2, 0.1, 0.2, 0.2, 0};
    static const bool largest[] = {1, 0, 1, 1, 0}, both[] = {1, 1, 0}, tied[] = {1, 1, 0, 1, 1};
    bool alive[MANY] = {false};
    sk_largest_shares(5, share, alive);
    assert_memory_equal(alive, largest, sizeof largest);
    assert_false(alive[5]);
    sk_largest_shares(3, two, alive);
    assert_memory_equal(alive, both, sizeof both);
    sk_largest_shares(5, tie, alive);
    assert_memory_equal(alive, tied, sizeof tied);
}

/* ---- Polish ---- */

static void test_rules__polish_jitter_and_penalty(void **state)
{
    (void)state;
    assert_close(sk_polish_jitter(1, 2, 0), 2e-4, 1e-15, 0);
    assert_close(sk_polish_jitter(2, 2, 0), 0.2, 1e-15, 0);
    assert_true(sk_polish_jitter(2, 2, 0.5) == 0.5 && sk_polish_jitter(1, 2, 0.5) == 0.5);
    assert_close(sk_polish_penalty(100, 0.02, 2, 1.3), 1, 1e-14, 0);
    assert_close(sk_polish_penalty(100, 0.02, 2, 2.6), 0.25, 1e-14, 0);
    assert_close(sk_polish_penalty(50, 0.02, 6, 1.3), 1.5, 1e-14, 0);
    assert_true(sk_polish_penalty(100, 0.02, 2, 0) == 0);
}

/* ---- Floor and guards ---- */

enum { FLOORS = 7 };

/* The floor for these scores; errors are those of the difference to a floor with error 0. */
static size_t floor_of(size_t rows, const double *score, const double *error, const double *euler,
                       const double *euler_error, double constant)
{
    double cluster[2 * FLOORS][CLUSTERS] = {{0}}, euler_cluster[2 * FLOORS][CLUSTERS] = {{0}};
    for (size_t g = 0; g < FLOORS; g++) {
        cluster[g][0] = euler_cluster[g][0] = 1e3; /* not to be looked at */
        cluster[FLOORS + g][0] = error[g];
        euler_cluster[FLOORS + g][0] = euler_error[g];
    }
    const sk_floor_scores s = {rows, CLUSTERS, score, cluster[FLOORS], euler, euler_cluster[FLOORS], constant, false};
    return sk_pick_floor(&s);
}

/* The same where the leading part vanishes at a bound; errors are those of the difference to no floor. */
static size_t floor_at_bound(const double *score, const double *error)
{
    double cluster[2 * FLOORS][CLUSTERS] = {{0}};
    for (size_t g = 0; g < FLOORS; g++) cluster[FLOORS + g][0] = error[g];
    const sk_floor_scores s = {1000, CLUSTERS, score, cluster[FLOORS], score, cluster[FLOORS], -1, true};
    return sk_pick_floor(&s);
}

static const double zeros[FLOORS] = {0};

/* There is none unless one gains a standard error over it. */
static void test_rules__floor_at_a_bound_must_earn_its_error(void **state)
{
    (void)state;
    static const double level[FLOORS] = {0, -0.5, -1.9, -2, -2.01, -9, -9}, gains[FLOORS] = {0, 2.5, 1, 0, 0, 0, 0};
    static const double wide[FLOORS] = {0, 9, 9, 9, 9, 9, 9}, narrow[FLOORS] = {0, 1, 1, 1, 1, 1, 1};
    assert_int_equal(floor_at_bound(level, wide), 0);
    assert_int_equal(floor_at_bound(gains, wide), 0);
    assert_true(floor_at_bound(gains, narrow) >= 1);
}

/* 0 is the bound of what never falls below it and comes near it, a fifth of its mean. */
static void test_rules__bounds_show_in_the_data(void **state)
{
    (void)state;
    assert_true(sk_has_bound(0, 1) && sk_has_bound(0.199, 1) && !sk_has_bound(0.201, 1));
    assert_true(!sk_has_bound(-1e-9, 1) && !sk_has_bound(0, 0) && !sk_has_bound(0, -1));
    assert_true(sk_has_bound(1.9, 10) && !sk_has_bound(4, 5));
}

/* Up to 44 features and orders of 60 (120 of the simple ones). */
static void test_rules__kernels_of_bounds_are_affordable(void **state)
{
    (void)state;
    assert_true(sk_bounded_is_tried(1, 44, true) && !sk_bounded_is_tried(1, 45, false));
    assert_true(sk_bounded_is_tried(4, 15, true) && !sk_bounded_is_tried(4, 15.5, true));
    assert_true(sk_bounded_is_tried(4, 30, false) && !sk_bounded_is_tried(4, 30.5, false));
}

/* The largest within an error of the best, two nats at most; the last is none of them. */
static void test_rules__floor_is_the_largest_that_is_not_worse(void **state)
{
    (void)state;
    static const double score[FLOORS] = {0, -0.5, -1.9, -2, -2.01, -9, 50}, last[FLOORS] = {0, 0, 0, 0, 0, 9, 99};
    static const double later[FLOORS] = {-5, 0, -0.5, -1.9, -2.1, -9, 50};
    static const double some[FLOORS] = {0, 1.95, 1.95, 1.95, 1.95, 1.95, 1.95}, none[FLOORS] = {0, 0, 0, 0, 0, 0, 0};
    static const double wide[FLOORS] = {0, 99, 99, 99, 99, 99, 99}, shifted[FLOORS] = {9, 3, 4.8, 4.8, 4.8, 4.8, 4.8};
    assert_int_equal(floor_of(1000, score, some, zeros, zeros, -1), 2);
    assert_int_equal(floor_of(1000, score, wide, zeros, zeros, -1), 3);
    assert_int_equal(floor_of(1000, score, none, zeros, zeros, -1), 0);
    assert_int_equal(floor_of(1000, later, shifted, zeros, zeros, -1), 2);
    assert_int_equal(floor_of(1000, last, none, zeros, zeros, -1), 5);
}

/* 50 / n nats where there are fewer than 250 rows. */
static void test_rules__floor_where_rows_are_few(void **state)
{
    (void)state;
    static const double score[FLOORS] = {0, -0.2, -0.49, -0.51, -9, -9, -9};
    assert_int_equal(floor_of(250, score, zeros, zeros, zeros, -1), 0);
    assert_int_equal(floor_of(249, score, zeros, zeros, zeros, -1), 1);
    assert_int_equal(floor_of(100, score, zeros, zeros, zeros, -1), 2);
    assert_int_equal(floor_of(98, score, zeros, zeros, zeros, -1), 3);
}

/* Euler's likelihood asks for another by more than two nats and an error, where rows are few or it is not above that of
 * constants: then the best by the sum of both. */
static void test_rules__floor_that_eulers_likelihood_asks_for(void **state)
{
    (void)state;
    static const double score[FLOORS] = {0, -3, -3, -3, -9, -9, -9}, asks[FLOORS] = {0, 0, 0, 5, 6, 0, 0};
    static const double hardly[FLOORS] = {0, 0, 0, 2, 0, 0, 0}, just[FLOORS] = {0, 0, 0, 2.01, 0, 0, 0};
    static const double last[FLOORS] = {0, 0, 0, 0, 0, 0, 50}, low[FLOORS] = {0, -2.1, -9, -9, -9, -9, -9};
    static const double here[FLOORS] = {0, 0, 0, 0, 6.01, 0, 0}, unsure[FLOORS] = {0, 0, 0, 0, 6, 0, 0};
    static const double sure[FLOORS] = {0, 9, 9, 9, 5.9, 9, 9}, none[FLOORS] = {-(double)INFINITY, 0, 1, 0, 0, 0, 0};
    assert_int_equal(floor_of(1000, score, zeros, asks, zeros, -1), 0);
    assert_int_equal(floor_of(1000, score, zeros, asks, zeros, 0), 3);
    assert_int_equal(floor_of(1000, score, zeros, asks, zeros, 1), 3);
    assert_int_equal(floor_of(250, score, zeros, asks, zeros, -1), 0);
    assert_int_equal(floor_of(249, score, zeros, asks, zeros, -1), 3);
    assert_int_equal(floor_of(1000, score, zeros, asks, unsure, 0), 0);
    assert_int_equal(floor_of(1000, score, zeros, asks, here, 0), 0);
    assert_int_equal(floor_of(1000, score, zeros, asks, sure, 0), 3);
    assert_int_equal(floor_of(1000, low, zeros, hardly, zeros, 0), 0);
    assert_int_equal(floor_of(1000, low, zeros, just, zeros, 0), 0); /* asked, but the sum is best at 0 */
    assert_int_equal(floor_of(1000, zeros, zeros, last, zeros, 0), 6);
    assert_int_equal(floor_of(1000, score, zeros, none, zeros, -1), 2);
    static const double even[FLOORS] = {0, -2, -2, -2, -9, -9, -9}, two[FLOORS] = {0, 0, 0, 2.01, 0, 0, 0};
    assert_int_equal(floor_of(1000, even, zeros, two, zeros, 0), 3);
    assert_int_equal(floor_of(1000, even, zeros, hardly, zeros, 0), 0);
    static const double same[FLOORS] = {0, -2, -2, -2, -2, -9, -9}, twice[FLOORS] = {0, 0, 0, 5, 5, 0, 0};
    static const double worse[FLOORS] = {0, 0, 0, 0, 9, 0, 0};
    assert_int_equal(floor_of(1000, same, zeros, twice, zeros, 0), 3); /* the first of equal ones */
    assert_int_equal(floor_of(1000, same, zeros, twice, worse, 0), 3);
}

static void test_rules__guards(void **state)
{
    (void)state;
    assert_close(sk_needed_gain(1, 100), 4.6051701859880914, 1e-15, 1);
    assert_true(sk_needed_gain(7, 100) == 7 && sk_needed_gain(0, 1) == 0);
    assert_true(sk_worse_than_constant(-102.01, -100));
    assert_false(sk_worse_than_constant(-102, -100));
    assert_int_equal(sk_models_tried(true, 5, 7), 3);
    assert_int_equal(sk_models_tried(false, 5, 7), 35);
    assert_true(sk_worth_sharpening(100) && sk_worth_sharpening(-5));
    assert_false(sk_worth_sharpening(100.01));
}

/* n d^3 up to a million, in up to 20 dimensions. */
static void test_rules__moments_are_asked_while_cheap(void **state)
{
    (void)state;
    assert_true(sk_moments_affordable(1000000, 1) && sk_moments_affordable(1000, 10) && sk_moments_affordable(125, 20));
    assert_false(sk_moments_affordable(1000001, 1) || sk_moments_affordable(1001, 10) ||
                 sk_moments_affordable(126, 20) || sk_moments_affordable(1, 21));
}

static void test_rules__identical_is_to_rounding(void **state)
{
    (void)state;
    assert_true(sk_same_score(0, 1e-5) && sk_same_score(0, -0.9e-5) && sk_same_score(-999, -999.0099));
    assert_false(sk_same_score(0, 1.1e-5) || sk_same_score(0, -1.1e-5) || sk_same_score(-999, -999.0101));
    assert_true(sk_is_rounding(0.9e-14, 1) && sk_is_rounding(3.9e-14, 4) && sk_is_rounding(0, 0));
    assert_false(sk_is_rounding(1.1e-14, 1) || sk_is_rounding(4.1e-14, 4));
}

/* ---- Rows ---- */

static void test_rules__a_budget_takes_fewer_rows_in_many_dimensions(void **state)
{
    (void)state;
    assert_int_equal(sk_budget_rows(0, 50, 30000), 30000); /* none */
    assert_int_equal(sk_budget_rows(10, 50, 30000), 3200);
    assert_int_equal(sk_budget_rows(0.7, 50, 30000), 224);
    assert_int_equal(sk_budget_rows(0.001, 50, 30000), 200);
    assert_int_equal(sk_budget_rows(0.001, 1, 30000), 30000);
    assert_int_equal(sk_budget_rows(0.06, 10, 2000), 2000);
    assert_int_equal(sk_budget_rows(0.08, 10, 30000), 3200);
    assert_int_equal(sk_budget_rows(0.001, 10, 30000), 2000);
    assert_int_equal(sk_budget_rows(1e-9, 20, 30000), 250);
}

static void test_rules__rows(void **state)
{
    (void)state;
    assert_true(sk_too_few(14) && !sk_too_few(15));
    assert_true(sk_take_part(3001, 2000) && sk_keep_numbers(1000, 8000));
    assert_false(sk_take_part(3000, 2000) || sk_keep_numbers(1000, 8001) || sk_keep_numbers(8001, 1000));
    assert_close(sk_jitter(1, 3, 0), 3e-4, 1e-15, 0);
    assert_close(sk_jitter(2, 3, 0), 3e-2, 1e-15, 0);
    assert_true(sk_jitter(2, 3, 1) == 1 && sk_jitter(1, 3, 1) == 1);
}

/* Three times and in a hundredth of the steps that move. */
static void test_rules__grain(void **state)
{
    (void)state;
    assert_true(sk_is_grain(3, 3) && sk_is_grain(3, 300) && sk_is_grain(4, 400));
    assert_false(sk_is_grain(2, 3) || sk_is_grain(3, 301) || sk_is_grain(10, 1001) || sk_is_grain(0, 0));
}

static void test_rules__own_zero(void **state)
{
    (void)state;
    assert_true(sk_own_zero(2.99, 1) == 0 && sk_own_zero(-2.99, 1) == 0);
    assert_true(sk_own_zero(3.01, 1) == 3 && sk_own_zero(-3.01, 1) == -3);
    assert_true(sk_own_zero(301.2, 0.9) == 300 && sk_own_zero(303, 0.9) == 303);
}

/* ---- Candidates ---- */

static void test_rules__affordable_diffusions(void **state)
{
    (void)state;
    assert_true(sk_diffusion_affordable(1, 51, false) && sk_diffusion_affordable(10, 34, true));
    assert_false(sk_diffusion_affordable(1, 52, false) || sk_diffusion_affordable(10, 35, true));
    assert_true(sk_diffusion_affordable(11, 36, false) && sk_diffusion_affordable(24, 21, true) &&
                sk_diffusion_affordable(300000, 4, true));
    assert_false(sk_diffusion_affordable(11, 37, false) || sk_diffusion_affordable(25, 21, true) ||
                 sk_diffusion_affordable(300001, 4, true));
}

static void test_rules__ranks(void **state)
{
    (void)state;
    static const size_t d[] = {1, 2, 3, 4, 32, 33, 88888, 88889, 10000000};
    static const size_t drift[] = {60, 300, 300, 150, 150, 150, 150, 150, 150};
    static const size_t diffusion[] = {40, 20, 20, 20, 20, 19, 5, 4, 4};
    for (size_t i = 0; i < sizeof d / sizeof *d; i++) {
        assert_int_equal(sk_drift_rank(d[i]), drift[i]);
        assert_int_equal(sk_diffusion_rank(d[i]), diffusion[i]);
    }
}

/* Quadratic drifts between 300 and 6000 features. */
static void test_rules__screened_drifts(void **state)
{
    (void)state;
    assert_true(sk_drift_is_screened(2, 301) && sk_drift_is_screened(2, 6000));
    assert_false(sk_drift_is_screened(2, 300) || sk_drift_is_screened(2, 6001) || sk_drift_is_screened(3, 301) ||
                 sk_drift_is_screened(1, 301));
    assert_true(SK_WORKING_SET == 64 && SK_PURSUITS == 4);
}

/* eta^2 >= d beyond ten dimensions. */
static void test_rules__gaussians_that_reach(void **state)
{
    (void)state;
    assert_true(sk_diffusion_reaches(10, 0.5) && sk_diffusion_reaches(16, 4) && sk_diffusion_reaches(64, 8));
    assert_false(sk_diffusion_reaches(11, 3.3) || sk_diffusion_reaches(17, 4) || sk_diffusion_reaches(65, 8));
}

/* ---- Numbers that are handed on as they are ---- */

static void test_rules__efforts(void **state)
{
    (void)state;
    assert_true(SK_SCREEN_ROWS == 2000 && SK_SEARCH_ROWS == 30000);
    assert_true(sk_polish_has_room(8) && !sk_polish_has_room(9));
    assert_true(SK_POLISH_RANK == 8 && SK_POLISH_SHARE == 1e-6 && SK_POLISH_STEPS == 60);
    assert_int_equal(SK_FLOORS, FLOORS);
}

/* ---- Noise ---- */

static void test_rules__a_full_R_is_tried_for_a_clear_correlation(void **state)
{
    (void)state;
    const double weak[] = {9, 2.9, 2.9, 9}, strong[] = {0, -3.1, -3.1, 0}, one[] = {9};
    assert_false(sk_noise_correlated(2, weak));
    assert_true(sk_noise_correlated(2, strong));
    assert_false(sk_noise_correlated(1, one));
}

static void test_rules__long_steps_are_tried_where_many_substeps_or_a_gain_ask(void **state)
{
    (void)state;
    assert_false(sk_long_steps_worth(1000, 1, 100));
    assert_false(sk_long_steps_worth(1000, 2, 0.9));
    assert_true(sk_long_steps_worth(1000, 2, 1));
    assert_true(sk_long_steps_worth(60, 4, 0));
    assert_false(sk_long_steps_worth(59, 4, 0));
}

/* A nat, and the gain's own error; one substep is no long step. */
static void test_rules__long_steps_win_by_a_gain_beyond_its_error(void **state)
{
    (void)state;
    assert_true(sk_long_steps_win(2, 1, 0.5));
    assert_false(sk_long_steps_win(2, 0.99, 0.5));
    assert_true(sk_long_steps_win(8, 7, 7));
    assert_false(sk_long_steps_win(8, 6.9, 7));
    assert_false(sk_long_steps_win(1, 100, 1));
}

static void test_rules__a_grain_as_coarse_as_the_jitter_rules(void **state)
{
    (void)state;
    assert_true(sk_grain_rules(0.2, sk_jitter(1, 1e-3, 0.2)));
    assert_false(sk_grain_rules(1e-9, sk_jitter(1, 1, 1e-9)));
    assert_false(sk_grain_rules(0, sk_jitter(2, 1, 0)));
}

/* 20 nats, or a tenth for each value. */
static void test_rules__a_fit_with_suspected_noise_is_given_up_far_behind(void **state)
{
    (void)state;
    assert_close(sk_noise_least(7, 100, 1), -13, 1e-12, 1);
    assert_close(sk_noise_least(7, 100, 3), -23, 1e-12, 1);
}

static void test_rules__noise_is_suspected_by_its_largest_score_or_their_sum(void **state)
{
    (void)state;
    const double below[] = {0.98}, above[] = {1.001}, two[] = {1.45, -1.4}, sum[] = {0.75, 0.75}, none[] = {1.3, -0.2};
    assert_false(sk_noise_suspected(1, below));
    assert_true(sk_noise_suspected(1, above));
    assert_true(sk_noise_suspected(2, two));
    assert_true(sk_noise_suspected(2, sum));
    assert_false(sk_noise_suspected(2, none));
}

static void test_rules__noise_on_more_states_must_gain_more(void **state)
{
    (void)state;
    assert_close(sk_noise_gain_asked(1), 1, 1e-12, 0);
    assert_close(sk_noise_gain_asked(4), 2.8, 1e-12, 0);
}

static void test_rules__noise_is_taken_for_a_gain_or_where_it_is_sure(void **state)
{
    (void)state;
    assert_true(sk_noise_gains(&(sk_noise_evidence){1, 1, 1.1, 1.1}));
    assert_false(sk_noise_gains(&(sk_noise_evidence){2, 9, 1.5, 30}));
    assert_false(sk_noise_gains(&(sk_noise_evidence){1, 9, 30, 0.9})); /* a better drift is no noise */
    assert_true(sk_noise_is_sure(&(sk_noise_evidence){2, 5, -5, 30}));
    assert_false(sk_noise_is_sure(&(sk_noise_evidence){2, 3.9, -5, 30}));
    assert_false(sk_noise_is_sure(&(sk_noise_evidence){2, 5, -11, 30}));
    assert_false(sk_noise_is_sure(&(sk_noise_evidence){2, 5, -5, 1.5}));
}

static void test_rules__who_is_far_behind_in_a_sweep_stays_out(void **state)
{
    sk_trial near = {.score = -29}, far = {.score = -31}, best = {.score = 0};
    sk_trial *trial[] = {&far, NULL, &near, &best};
    bool out[] = {false, false, true, false};
    (void)state;
    sk_noise_leave_behind(&(sk_field_trials){4, 0, NULL, trial, 0}, out);
    assert_true(out[0]);
    assert_false(out[1]); /* was not tried */
    assert_true(out[2]);  /* was out before */
    assert_false(out[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules__a_budget_takes_fewer_rows_in_many_dimensions),
        cmocka_unit_test(test_rules__a_full_R_is_tried_for_a_clear_correlation),
        cmocka_unit_test(test_rules__long_steps_are_tried_where_many_substeps_or_a_gain_ask),
        cmocka_unit_test(test_rules__long_steps_win_by_a_gain_beyond_its_error),
        cmocka_unit_test(test_rules__a_grain_as_coarse_as_the_jitter_rules),
        cmocka_unit_test(test_rules__a_fit_with_suspected_noise_is_given_up_far_behind),
        cmocka_unit_test(test_rules__noise_is_suspected_by_its_largest_score_or_their_sum),
        cmocka_unit_test(test_rules__noise_on_more_states_must_gain_more),
        cmocka_unit_test(test_rules__noise_is_taken_for_a_gain_or_where_it_is_sure),
        cmocka_unit_test(test_rules__who_is_far_behind_in_a_sweep_stays_out),
        cmocka_unit_test(test_rules__grids),
        cmocka_unit_test(test_rules__place_of_a_penalty_is_the_first_not_above_it),
        cmocka_unit_test(test_rules__best_lambda_is_the_first_of_the_highest),
        cmocka_unit_test(test_rules__best_drift_lambda_has_rows_for_its_freedom),
        cmocka_unit_test(test_rules__edge_is_an_end_that_is_not_flat),
        cmocka_unit_test(test_rules__path_is_over_after_two_clear_losses),
        cmocka_unit_test(test_rules__coupling_by_order),
        cmocka_unit_test(test_rules__bands_of_a_drift_may_cost_too_much),
        cmocka_unit_test(test_rules__paired_error),
        cmocka_unit_test(test_rules__screen_keeps_who_is_near_by_errors),
        cmocka_unit_test(test_rules__screen_keeps_the_best_few),
        cmocka_unit_test(test_rules__screen_keeps_basic_ones),
        cmocka_unit_test(test_rules__near_drifts_are_within_20_nats),
        cmocka_unit_test(test_rules__near_diffusions_are_the_finalists_and_who_is_within_reach),
        cmocka_unit_test(test_rules__finalists_and_polished_ones_are_the_best_few),
        cmocka_unit_test(test_rules__finalists_are_not_far_behind),
        cmocka_unit_test(test_rules__a_polish_that_loses_20_nats_is_hopeless),
        cmocka_unit_test(test_rules__a_round_may_lose_less_than_a_nat),
        cmocka_unit_test(test_rules__a_refit_goes_on_above_five_nats),
        cmocka_unit_test(test_rules__dropped_drifts_come_back_where_the_last_model_was_no_judge),
        cmocka_unit_test(test_rules__a_pair_takes_over_by_its_gain_or_its_simpler_drift),
        cmocka_unit_test(test_rules__rival_of_a_drift_is_of_the_other_kind),
        cmocka_unit_test(test_rules__drift_allowance),
        cmocka_unit_test(test_rules__simplest_drift_is_within_its_allowance),
        cmocka_unit_test(test_rules__simplest_drift_of_several),
        cmocka_unit_test(test_rules__bytes_of_rows),
        cmocka_unit_test(test_rules__density_of_long_data),
        cmocka_unit_test(test_rules__lost_drifts_are_behind_by_more_than_noise),
        cmocka_unit_test(test_rules__drifts_join_on_all_rows_as_they_have_room),
        cmocka_unit_test(test_rules__drift_shares_follow_scores_and_freedom),
        cmocka_unit_test(test_rules__largest_drift_share_leads),
        cmocka_unit_test(test_rules__a_short_equation_or_no_average_is_one_drift),
        cmocka_unit_test(test_rules__diffusion_shares_follow_scores_and_simplicity),
        cmocka_unit_test(test_rules__eight_diffusions_are_averaged),
        cmocka_unit_test(test_rules__three_diffusions_are_fitted_to_all_rows),
        cmocka_unit_test(test_rules__polish_jitter_and_penalty),
        cmocka_unit_test(test_rules__floor_is_the_largest_that_is_not_worse),
        cmocka_unit_test(test_rules__floor_at_a_bound_must_earn_its_error),
        cmocka_unit_test(test_rules__bounds_show_in_the_data),
        cmocka_unit_test(test_rules__kernels_of_bounds_are_affordable),
        cmocka_unit_test(test_rules__floor_where_rows_are_few),
        cmocka_unit_test(test_rules__floor_that_eulers_likelihood_asks_for),
        cmocka_unit_test(test_rules__guards),
        cmocka_unit_test(test_rules__moments_are_asked_while_cheap),
        cmocka_unit_test(test_rules__identical_is_to_rounding),
        cmocka_unit_test(test_rules__rows),
        cmocka_unit_test(test_rules__grain),
        cmocka_unit_test(test_rules__own_zero),
        cmocka_unit_test(test_rules__affordable_diffusions),
        cmocka_unit_test(test_rules__ranks),
        cmocka_unit_test(test_rules__screened_drifts),
        cmocka_unit_test(test_rules__gaussians_that_reach),
        cmocka_unit_test(test_rules__efforts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
