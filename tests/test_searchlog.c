/* test_searchlog.c - what the search tells: time that is left, stages left out, the table of its fits, what was chosen;
 * and the memory of it. */
#include "searchcases.h"

#include "onecontext.h"

static void test_searchlog__time_left(void **state)
{
    (void)state;
    sk_tune_spec spec = {0};
    sk_search s = {.ctx = ctx, .spec = &spec, .start = sk_seconds() - 3};
    assert_true(isinf(sk_search_seconds_left(&s)));
    spec.budget = 10;
    const double left = sk_search_seconds_left(&s);
    assert_true(left <= 7 && left > 6);
    spec.budget = 1;
    assert_true(sk_search_seconds_left(&s) <= -2);
}

static void test_searchlog__stages_left_out_are_told(void **state)
{
    (void)state;
    sk_tune_outcome told = {0};
    sk_tune_spec spec = {.budget = 1000};
    sk_search s = {.ctx = ctx, .spec = &spec, .told = &told, .start = sk_seconds()};
    assert_false(sk_search_leave_out(&s, "early"));
    assert_false(s.limited);
    s.start -= 2000;
    assert_true(sk_search_leave_out(&s, "late"));
    assert_true(sk_search_leave_out(&s, "later"));
    assert_true(s.limited);
    assert_int_equal(told.left_out.count, 2);
    assert_string_equal(told.left_out.text[0], "late");
    assert_string_equal(told.left_out.text[1], "later");
    assert_int_equal(told.search.status, 0);
    sk_fail_allocation(ctx, 1);
    assert_true(sk_search_leave_out(&s, "no memory"));
    sk_fail_allocation(ctx, 0);
    assert_int_equal(told.search.status, SOCK_ENOMEM);
    assert_int_equal(told.left_out.count, 2);
    sk_tune_outcome_clear(&told);
    assert_true(!told.left_out.text && told.left_out.count == 0 && told.search.status == 0);
}

static void test_searchlog__rows_of_the_table(void **state)
{
    (void)state;
    static const double grid[] = {1, 0.1, 0.01, 0.001};
    double by_l[] = {-7, -5, -(double)INFINITY, -6};
    sk_tune_outcome told = {0};
    sk_search s = {.ctx = ctx, .told = &told};
    sk_stage stage = {.name = "round", .curves = true};
    const sk_candidate drift = {.field = SK_DRIFT, .name = (char[]){"affine"}},
                       diffusion = {.field = SK_DIFFUSION, .name = (char[]){"constant"}};
    const sk_trial trial =
                       {.l = 0.1, .score = -5, .edge = true, .seconds = 2, .lambdas = 4, .grid = grid, .by_l = by_l},
                   learned = {.score = -4, .seconds = 1};
    sk_search_log_trial(&s, &stage, &drift, &trial);
    sk_search_log_trial(&s, &stage, &drift, &learned);
    sk_search_log_trial(&s, &stage, &diffusion, NULL);
    stage.curves = false;
    sk_search_log_trial(&s, &stage, &diffusion, &trial);
    assert_int_equal(told.search.count, 4);
    const sk_search_row *row = told.search.row;
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(row[i].stage, "round");
        assert_string_equal(row[i].field, i < 2 ? "drift" : "diffusion");
        assert_string_equal(row[i].kernel, i < 2 ? "affine" : "constant");
        assert_int_equal(row[i].edge, i == 0 || i == 3);
        assert_true(isnan(row[i].lambda));
        assert_true(i == 0 ? row[i].places == 3 : row[i].places == 0 && !row[i].curve);
    }
    assert_true(row[0].l == 0.1 && isnan(row[1].l) && isnan(row[2].l) && row[3].l == 0.1);
    assert_true(row[0].score == -5 && row[1].score == -4 && row[2].score == -(double)INFINITY && row[3].score == -5);
    assert_true(row[0].seconds == 2 && row[1].seconds == 1 && row[2].seconds == 0 && row[3].seconds == 2);
    static const double curve[] = {1, -7, 0.1, -5, 0.001, -6};
    assert_memory_equal(row[0].curve, curve, sizeof curve);
    sk_tune_outcome_clear(&told);
}

/* After memory ran out once the table takes no more, and says so. */
static void test_searchlog__a_table_without_memory_stays_as_it_is(void **state)
{
    (void)state;
    for (long k = 1; k <= 4; k++) {
        sk_tune_outcome told = {0};
        sk_search s = {.ctx = ctx, .told = &told};
        sk_fail_one_allocation(ctx, k);
        assert_null(sk_search_table_add(ctx, &told.search, "round", "drift", "affine"));
        sk_fail_allocation(ctx, 0);
        assert_int_equal(told.search.status, SOCK_ENOMEM);
        const size_t count = told.search.count;
        sk_search_log(&s, "round", "drift", "linear", 1, -2, false, 0);
        assert_int_equal(told.search.count, count);
        assert_int_equal(told.search.status, SOCK_ENOMEM);
        sk_tune_outcome_clear(&told);
    }
    static const double l = 1;
    double by_l = -2;
    sk_tune_outcome told = {0};
    sk_search s = {.ctx = ctx, .told = &told};
    const sk_stage stage = {.name = "round", .curves = true};
    const sk_candidate drift = {.field = SK_DRIFT, .name = (char[]){"affine"}};
    const sk_trial trial = {.l = 1, .score = -2, .lambdas = 1, .grid = &l, .by_l = &by_l};
    sk_fail_allocation(ctx, 5); /* the curve */
    sk_search_log_trial(&s, &stage, &drift, &trial);
    sk_fail_allocation(ctx, 0);
    assert_int_equal(told.search.status, SOCK_ENOMEM);
    sk_search_log_trial(&s, &stage, &drift, &trial);
    assert_int_equal(told.search.count, 1);
    sk_tune_outcome_clear(&told);
}

enum { PARTS = 5 };

typedef struct described {
    sk_transitions rows;
    sk_candidate drift[PARTS], diffusion[PARTS];
    sk_trial f[PARTS], a[PARTS], constant;
    double ours[2], theirs[2];
    sk_tune_outcome told;
    sk_search s;
} described;

static void describe_new(described *w)
{
    static char names[][2] = {"a", "b", "c", "d", "e"};
    *w = (described){.rows = {.folds = 7, .n = 90, .clusters = 2}, .ours = {1, 5}, .theirs = {2, 2}};
    w->s = (sk_search){.ctx = ctx, .told = &w->told, .rows = &w->rows, .best_drift = 4, .best_diffusion = 3};
    w->s.list = (sk_candidates){.drifts = PARTS, .drift = w->drift, .diffusions = PARTS, .diffusion = w->diffusion};
    w->s.told_constant = -30;
    w->s.final_score = -3;
    w->s.final_cluster = w->ours;
    w->constant.cluster = w->theirs;
    w->s.constant_diffusion = &w->constant; /* differences -1 and 3: their sum has the error 4 */
    w->s.calibration = 1.5;
    w->s.limited = true;
    w->s.skipped = 6;
    for (size_t i = 0; i < PARTS; i++) {
        const double k = (double)i;
        w->drift[i] = (sk_candidate){.name = names[i], .learned = i == 1};
        w->diffusion[i] = (sk_candidate){.name = names[PARTS - 1 - i], .learned = i == 2};
        w->f[i] = (sk_trial){.p = 20 + i, .l = i == 1 ? 0 : 0.1 + k, .lambda_scale = 3, .score = -9 - k};
        w->f[i].dof = 1 + k * k;
        w->f[i].edge = i == 3;
        w->a[i] = (sk_trial){.l = 0.2 + k, .lambda_scale = 5, .score = -5 - k, .gap = 1e-3 * k, .edge = i == 2};
        w->a[i].field = SK_DIFFUSION;
        w->s.judged[i] = -4 - k;
        w->a[i].polished = i == 0;
        w->a[i].converged = i == 2;
        w->a[i].whole = (sk_psd_bounds){.primal = 1 + k, .dual = 2 + k, .gap = 3 + k};
        w->s.drift[i] = &w->f[i];
        w->s.diffusion[i] = &w->a[i];
    }
}

/* Largest shares first, equal ones as they are listed. */
static void test_searchlog__what_was_chosen(void **state)
{
    (void)state;
    static const sk_choice choice = {.drift = 3, .drift_share = {0.2, 0.2, 0, 0.5, 0.1}, .share = {0.3, 0, 0.4, 0.3}};
    static const size_t drifts[] = {3, 0, 1, 4}, diffusions[] = {2, 0, 3};
    described w;
    describe_new(&w);
    assert_int_equal(sk_search_describe(&w.s, &choice), SOCK_OK);
    const sk_tune_outcome *told = &w.told;
    assert_int_equal(told->drifts.count, 4);
    assert_int_equal(told->diffusions.count, 3);
    for (size_t k = 0; k < 4; k++) {
        const sk_part *part = &told->drifts.part[k];
        const size_t i = drifts[k];
        assert_string_equal(part->kernel, w.drift[i].name);
        assert_true(part->share == choice.drift_share[i] && part->score == w.f[i].score && part->dof == w.f[i].dof);
        if (i == 1) assert_true(isnan(part->l) && isnan(part->lambda));
        if (i != 1) assert_true(part->l == w.f[i].l && part->lambda == 3 * w.f[i].l);
        assert_true(part->edge == (i == 3) && part->learned == (i == 1) && part->iterations == -1);
    }
    for (size_t k = 0; k < 3; k++) {
        const sk_part *part = &told->diffusions.part[k];
        const size_t i = diffusions[k];
        const sk_trial *a = &w.a[i];
        assert_string_equal(part->kernel, w.diffusion[i].name);
        assert_true(part->share == choice.share[i] && part->l == a->l && part->lambda == 5 * a->l);
        assert_true(part->score == w.s.judged[i] && isnan(part->dof) && part->edge == (i == 2) &&
                    part->iterations == -1);
        assert_true(part->learned == (i == 2) && part->polished == (i == 0) && part->converged == (i == 2));
        assert_true(part->relative_gap == a->gap && part->primal == a->whole.primal && part->dual == a->whole.dual);
        assert_true(part->gap == a->whole.gap);
    }
    assert_int_equal(told->lead, 0);
    assert_close(told->drift_dof, 0.2 * 1 + 0.2 * 2 + 0.5 * 10 + 0.1 * 17, 1e-15, 1);
    assert_int_equal(told->drift_rank, 23);
    assert_string_equal(told->drift_best, "e");
    assert_true(told->score == -3 && told->score_constant == -30 && told->calibration == 1.5);
    assert_close(told->gain_error, 4, 1e-15, 0);
    assert_true(told->folds == 7 && told->steps == 90 && told->limited && told->skipped == 6);
    sk_tune_outcome_clear(&w.told);
}

/* The drift that leads need not have the first place. */
static void test_searchlog__lead_is_the_chosen_drift(void **state)
{
    (void)state;
    static const sk_choice choice = {.drift = 2, .drift_share = {0, 0.5, 0.5}, .share = {1}};
    described w;
    describe_new(&w);
    w.s.limited = false;
    assert_int_equal(sk_search_describe(&w.s, &choice), SOCK_OK);
    assert_int_equal(w.told.lead, 1);
    assert_false(w.told.limited);
    sk_tune_outcome_clear(&w.told);
}

static sock_status describe(sock_context *context, void *arg)
{
    static const sk_choice choice = {.drift = 1, .drift_share = {0.5, 0.5}, .share = {0.5, 0.5}};
    described *w = arg;
    describe_new(w);
    w->s.ctx = context;
    const sock_status status = sk_search_describe(&w->s, &choice);
    sk_tune_outcome_clear(&w->told);
    return status;
}

static void test_searchlog__survives_failed_allocations(void **state)
{
    (void)state;
    described w;
    assert_int_equal(for_single_allocations(ctx, describe, &w), 7); /* two lists, four names, the best */
    sk_begin(ctx);
    describe_new(&w);
    w.told.search.status = SOCK_ENOMEM;
    static const sk_choice choice = {.drift_share = {1}, .share = {1}};
    assert_int_equal(sk_search_describe(&w.s, &choice), SOCK_ENOMEM);
    assert_non_null(strstr(sock_message(ctx), "the table of the search"));
    sk_tune_outcome_clear(&w.told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_searchlog__time_left),
        cmocka_unit_test(test_searchlog__stages_left_out_are_told),
        cmocka_unit_test(test_searchlog__rows_of_the_table),
        cmocka_unit_test(test_searchlog__a_table_without_memory_stays_as_it_is),
        cmocka_unit_test(test_searchlog__what_was_chosen),
        cmocka_unit_test(test_searchlog__lead_is_the_chosen_drift),
        cmocka_unit_test(test_searchlog__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
