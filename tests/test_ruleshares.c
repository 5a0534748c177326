/* test_ruleshares.c - which drifts and diffusions an average is made of, and what all rows may change; see
 * test_rules.c. */
#include "rulecases.h"

/* ---- Shares ---- */

/* A paired error, at most two nats (more where rows are below 250), or a quarter of a nat for each degree of freedom,
 * at most 10 or the error. */
static void test_ruleshares__drift_allowance(void **state)
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

static void test_ruleshares__simplest_drift_is_within_its_allowance(void **state)
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

static void test_ruleshares__bytes_of_rows(void **state)
{
    (void)state;
    assert_true(sk_rows_bytes(1000, 1) == 112e3 && sk_rows_bytes(10, 3) == 2080);
}

static void test_ruleshares__density_of_long_data(void **state)
{
    (void)state;
    assert_true(sk_density_allowance(100, 1) == 0 && sk_density_allowance(30000, 3) == 0);
    assert_close(sk_density_allowance(130000, 1), 1, 1e-12, 0);
    assert_close(sk_density_allowance(1030000, 2), 20, 1e-12, 0);
}

/* A nat for each degree of freedom more, none for fewer, and one and a half errors. */
static void test_ruleshares__lost_drifts_are_behind_by_more_than_noise(void **state)
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
static void test_ruleshares__drifts_join_on_all_rows_as_they_have_room(void **state)
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

static void test_ruleshares__simplest_drift_of_several(void **state)
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
static void test_ruleshares__drift_shares_follow_scores_and_freedom(void **state)
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
static void test_ruleshares__largest_drift_share_leads(void **state)
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

static void test_ruleshares__a_short_equation_or_no_average_is_one_drift(void **state)
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
static void test_ruleshares__diffusion_shares_follow_scores_and_simplicity(void **state)
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

static void test_ruleshares__eight_diffusions_are_averaged(void **state)
{
    (void)state;
    static const double score[] = {0, -.1, -.2, -.3, -.4, -.5, -.6, -.7, -.8, -.9};
    field w;
    double share[MANY];
    make(&w, 10, score, NULL);
    sk_diffusion_shares(&w.t, true, share);
    for (size_t i = 0; i < 10; i++) assert_int_equal(share[i] > 0, i < 8);
}

static void test_ruleshares__three_diffusions_are_fitted_to_all_rows(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ruleshares__drift_allowance),
        cmocka_unit_test(test_ruleshares__simplest_drift_is_within_its_allowance),
        cmocka_unit_test(test_ruleshares__simplest_drift_of_several),
        cmocka_unit_test(test_ruleshares__bytes_of_rows),
        cmocka_unit_test(test_ruleshares__density_of_long_data),
        cmocka_unit_test(test_ruleshares__lost_drifts_are_behind_by_more_than_noise),
        cmocka_unit_test(test_ruleshares__drifts_join_on_all_rows_as_they_have_room),
        cmocka_unit_test(test_ruleshares__drift_shares_follow_scores_and_freedom),
        cmocka_unit_test(test_ruleshares__largest_drift_share_leads),
        cmocka_unit_test(test_ruleshares__a_short_equation_or_no_average_is_one_drift),
        cmocka_unit_test(test_ruleshares__diffusion_shares_follow_scores_and_simplicity),
        cmocka_unit_test(test_ruleshares__eight_diffusions_are_averaged),
        cmocka_unit_test(test_ruleshares__three_diffusions_are_fitted_to_all_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
