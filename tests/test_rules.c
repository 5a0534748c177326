/* test_rules.c - every rule of the search at both sides of its thresholds: penalties, who goes on, rows, candidates.
 * The numbers are written out: a change of policy.h, of a comparison or of a sign in rules.c must fail here or in its
 * neighbours test_ruleshares.c, test_rulefloor.c, test_rulenoise.c. */
#include "rulecases.h"

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

/* Within one and a half errors of the best; a drift within four nats, too. */
static void test_rules__screen_keeps_who_is_near(void **state)
{
    (void)state;
    static const double score[] = {0, -6, -6.01, -4, -4.01, -9}, error[] = {0, 4, 4, 1, 1, 20};
    field w;
    bool alive[MANY] = {false};
    make(&w, 6, score, error);
    w.list[5] = NULL;
    sk_screen_drifts(&w.t, alive);
    assert_alive(&w, alive, "++-+--");
    sk_screen_diffusions(&w.t, 1, alive);
    assert_alive(&w, alive, "++----");
}

/* Eight drifts, eight diffusions; equal ones at the border all go on, and who is not near takes nobody's place. */
static void test_rules__screen_keeps_the_best_few(void **state)
{
    (void)state;
    static const double fall[] = {0, -1, -2, -3, -4, -5, -6, -7, -8, -9},
                        tie[] = {0, -1, -2, -3, -4, -5, -6, -7, -7, -8};
    static const double wide[] = {0, 99, 99, 99, 99, 99, 99, 99, 99, 99},
                        steep[] = {0, -5, -6, -7, -8, -9, -10, -11, -12, -13};
    static const double far[] = {0, .1, 99, 99, 99, 99, 99, 99, 99, 99};
    field w;
    bool alive[MANY] = {false};
    make(&w, 10, fall, wide);
    sk_screen_drifts(&w.t, alive);
    assert_alive(&w, alive, "++++++++--");
    sk_screen_diffusions(&w.t, 2, alive);
    assert_alive(&w, alive, "++++++++--");
    memset(alive, 0, sizeof alive);
    make(&w, 10, tie, wide);
    sk_screen_drifts(&w.t, alive);
    assert_alive(&w, alive, "+++++++++-");
    make(&w, 10, steep, far);
    sk_screen_drifts(&w.t, alive);
    assert_alive(&w, alive, "+-+++++++-");
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

/* 20 nats, 60 where they may be polished and are among the best five, or an error; and three within 60 nats or three
 * errors. */
static void test_rules__near_diffusions_are_the_finalists_and_who_is_within_reach(void **state)
{
    (void)state;
    static const double score[] = {0, -1, -2, -19.9, -20, -30, -30, -59.9, -60, -65, -65};
    static const double error[] = {0, 0, 0, 0, 0, 30, 31, 0, 0, 65, 66}, far[] = {0, -60, -60.1, -90, -91};
    static const double errors[] = {0, 0, 0, 30, 30}, apart[] = {0, -1, -59.9, -60, -21, -59.9, -22};
    field w;
    bool alive[MANY] = {false};
    make(&w, 11, score, error);
    sk_near_diffusions(&w.t, false, alive);
    assert_alive(&w, alive, "++++--+---+");
    sk_near_diffusions(&w.t, true, alive);
    assert_alive(&w, alive, "+++++-+---+");
    memset(alive, 0, sizeof alive);
    make(&w, 7, apart, NULL);
    sk_near_diffusions(&w.t, true, alive);
    assert_alive(&w, alive, "+++-+++");
    memset(alive, 0, sizeof alive);
    make(&w, 5, far, errors);
    sk_near_diffusions(&w.t, false, alive);
    assert_alive(&w, alive, "++---");
    w.list[1] = w.list[2] = NULL;
    sk_near_diffusions(&w.t, false, alive);
    assert_alive(&w, alive, "+--+-");
    make(&w, 2, far, errors); /* fewer than there are finalists, and one of them is gone */
    w.list[1] = NULL;
    sk_near_diffusions(&w.t, true, alive);
    assert_alive(&w, alive, "+-");
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

/* Within 12 nats, a nat for each degree of freedom paid. */
static void test_rules__a_drift_that_came_back_stays_where_it_may_count(void **state)
{
    (void)state;
    static const double score[] = {-3, 0, -6, -6.1, -15, -14.9};
    static const double dof[] = {1, 5, 10, 10, 1, 1};
    field w;
    make(&w, 6, score, NULL);
    for (size_t i = 0; i < 6; i++) w.list[i]->dof = dof[i];
    for (size_t i = 0; i < 6; i++) assert_int_equal(sk_drift_stays(&w.t, i), i != 3);
    w.list[0] = NULL; /* the best by score, too: -5 */
    assert_true(sk_drift_stays(&w.t, 3) && !sk_drift_stays(&w.t, 0));
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
    assert_int_equal(sk_search_rows(1), 30000);
    assert_int_equal(sk_search_rows(51), 30000); /* 8e7 / 2601 = 30757 */
    assert_int_equal(sk_search_rows(100), 8000);
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

/* Three times and in a hundredth of the steps that move, and nine of ten are multiples. */
static void test_rules__grain(void **state)
{
    (void)state;
    assert_true(sk_is_grain(3, 3, 3) && sk_is_grain(3, 300, 300) && sk_is_grain(4, 360, 400));
    assert_false(sk_is_grain(2, 3, 3) || sk_is_grain(3, 301, 301) || sk_is_grain(10, 1001, 1001) ||
                 sk_is_grain(0, 0, 0));
    assert_false(sk_is_grain(4, 359, 400));
    assert_true(sk_is_multiple(0.7, 0.1) && sk_is_multiple(0.7 * 1.001 / 7, 0.1) && sk_is_multiple(12 * 2.5, 2.5));
    assert_false(sk_is_multiple(28.8, 27.2) || sk_is_multiple(0.1002, 0.1) || sk_is_multiple(0.0998, 0.1));
}

static void test_rules__own_zero(void **state)
{
    (void)state;
    assert_true(sk_own_zero(3.49, 1) == 0 && sk_own_zero(-3.49, 1) == 0);
    assert_true(sk_own_zero(3.51, 1) == 4 && sk_own_zero(-3.51, 1) == -4);
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

/* Of six states a linear a has a Q of order 42, 903 unknowns; a step has 21 numbers. In up to three states cost is no
 * matter, and a constant a is always tried. */
static void test_rules__full_diffusions_have_steps(void **state)
{
    (void)state;
    assert_true(sk_full_is_tried(86, 6, 7) && sk_full_is_tried(2, 6, 1) && sk_full_is_tried(2, 3, 40));
    assert_true(sk_full_is_tried(2, 1, 500) && sk_full_is_tried(100000, 6, 20));
    assert_false(sk_full_is_tried(85, 6, 7) || sk_full_is_tried(100000, 6, 21) || sk_full_is_tried(100000, 3, 41));
}

/* A quadratic a_kk of six states has 28 features, so 406 numbers; affine ones and three states ask for nothing, many
 * have the kernels of their own coordinate. */
static void test_rules__diagonal_diffusions_have_steps(void **state)
{
    (void)state;
    assert_true(sk_diagonal_is_tried(812, 6, 28) && sk_diagonal_is_tried(72, 6, 8) && sk_diagonal_is_tried(2, 6, 7));
    assert_false(sk_diagonal_is_tried(811, 6, 28) || sk_diagonal_is_tried(71, 6, 8));
    assert_true(sk_diagonal_is_tried(2, 6, 1) && sk_diagonal_is_tried(2, 3, 20) && sk_diagonal_is_tried(2, 11, 20));
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
    assert_int_equal(SK_FLOORS, 7);
}

/* Two nats for each position, and the gain's own error. */
static void test_rules__noise_on_positions_must_gain_beyond_its_error(void **state)
{
    (void)state;
    assert_true(sk_inertia_noise_gains(1, 2, 1.9));
    assert_false(sk_inertia_noise_gains(1, 1.9, 0.1));
    assert_false(sk_inertia_noise_gains(1, 5, 5.1));
    assert_false(sk_inertia_noise_gains(2, 3.9, 1));
    assert_true(sk_inertia_noise_gains(2, 4, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules__noise_on_positions_must_gain_beyond_its_error),
        cmocka_unit_test(test_rules__a_budget_takes_fewer_rows_in_many_dimensions),
        cmocka_unit_test(test_rules__grids),
        cmocka_unit_test(test_rules__place_of_a_penalty_is_the_first_not_above_it),
        cmocka_unit_test(test_rules__best_lambda_is_the_first_of_the_highest),
        cmocka_unit_test(test_rules__best_drift_lambda_has_rows_for_its_freedom),
        cmocka_unit_test(test_rules__edge_is_an_end_that_is_not_flat),
        cmocka_unit_test(test_rules__path_is_over_after_two_clear_losses),
        cmocka_unit_test(test_rules__coupling_by_order),
        cmocka_unit_test(test_rules__bands_of_a_drift_may_cost_too_much),
        cmocka_unit_test(test_rules__paired_error),
        cmocka_unit_test(test_rules__screen_keeps_who_is_near),
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
        cmocka_unit_test(test_rules__a_drift_that_came_back_stays_where_it_may_count),
        cmocka_unit_test(test_rules__a_pair_takes_over_by_its_gain_or_its_simpler_drift),
        cmocka_unit_test(test_rules__rival_of_a_drift_is_of_the_other_kind),
        cmocka_unit_test(test_rules__rows),
        cmocka_unit_test(test_rules__grain),
        cmocka_unit_test(test_rules__own_zero),
        cmocka_unit_test(test_rules__affordable_diffusions),
        cmocka_unit_test(test_rules__full_diffusions_have_steps),
        cmocka_unit_test(test_rules__diagonal_diffusions_have_steps),
        cmocka_unit_test(test_rules__ranks),
        cmocka_unit_test(test_rules__screened_drifts),
        cmocka_unit_test(test_rules__gaussians_that_reach),
        cmocka_unit_test(test_rules__efforts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
