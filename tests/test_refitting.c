/* test_refitting.c - the model under its own nodes and weights: once, again while it gains, undone where it loses. */
#include "searchcases.h"

#include "onecontext.h"

/* Trials of all candidates under the true model, and a choice among them. */
static case_search *chosen(void)
{
    case_search *c = case_search_new(ctx, 1, 90, 6, 0);
    sk_search *s = &c->s;
    const sk_stage stage = case_stage();
    double share[SK_MOST] = {0, 1};
    case_candidates(c);
    sk_search_take_model(s, case_model(ctx, 1, NULL), false);
    assert_int_equal(sk_renew_views(s), SOCK_OK);
    assert_int_equal(sk_run_drifts(s, &stage, s->views, &s->list, s->drifts, s->drift, &s->best_drift), SOCK_OK);
    assert_int_equal(sk_renew_remains(s, share), SOCK_OK);
    assert_true(sk_run_diffusions(s, &stage, s->remains, &s->list, s->diffusions, s->diffusion, &s->best_diffusion) >=
                0);
    s->choice = (sk_choice){.drift = 1, .drift_share = {0.25, 0.75}, .share = {0.5, 0, 0.5}, .floor = 0.125};
    s->calibration = 7;
    return c;
}

/* f and a at a point. */
static void fields(const sock_model *model, double *two)
{
    static const double x = 0.7;
    assert_int_equal(sk_model_evaluate(ctx, model, 1, &x, two, two + 1), SOCK_OK);
}

/* One pass under the model of the choice with the diffusions that are in it: its held-out score. */
static double one_pass(double *two)
{
    case_search *c = chosen();
    sk_search *s = &c->s;
    const sk_stage stage = case_stage();
    sock_model *model = NULL;
    assert_int_equal(sk_search_mixture(s, &s->choice, &model), SOCK_OK);
    assert_true(model->floor == 0.125);
    fields(model, two);
    sk_search_take_model(s, model, false);
    s->diffusions[1] = false;
    assert_true(sk_last_pass(s, &stage) >= 0);
    const double score = s->final_score;
    case_search_free(c);
    return score;
}

static size_t passes(const case_search *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->told.search.count; i++) {
        const sk_search_row *row = &c->told.search.row[i];
        count += strcmp(row->field, "drift") == 0 && strcmp(row->kernel, "affine") == 0;
    }
    return count - 1; /* that of the trials before */
}

static void test_refitting__is_under_the_chosen_model(void **state)
{
    (void)state;
    double expected[2], two[2];
    const double score = one_pass(expected);
    const sk_stage stage = case_stage();
    for (int k = 0; k < 2; k++) { /* a nat less is not a loss, five are not worth another pass */
        case_search *c = chosen();
        sk_search *s = &c->s;
        s->final_score = score + (k ? 0.99 : -4.99);
        assert_true(sk_stage_refit(s, &stage) >= 0);
        fields(s->model, two);
        assert_true(two[0] == expected[0] && two[1] == expected[1] && !s->model_diagonal);
        assert_true(s->diffusion[0] && !s->diffusion[1] && s->diffusion[2]);
        assert_close(s->final_score, score, 1e-10, 1);
        assert_int_equal(passes(c), 1);
        case_search_free(c);
    }
}

static void test_refitting__goes_on_while_it_gains(void **state)
{
    (void)state;
    double ignored[2];
    const double score = one_pass(ignored);
    const sk_stage stage = case_stage();
    for (int late = 0; late < 2; late++) {
        case_search *c = chosen();
        c->s.final_score = score - 5.01;
        if (late) c->spec.budget = 1, c->s.start -= 10;
        assert_true(sk_stage_refit(&c->s, &stage) >= 0);
        assert_true(late ? passes(c) <= 1 : passes(c) >= 2 && passes(c) <= 4);
        case_search_free(c);
    }
}

/* What was before a pass that loses is all there again. */
static void test_refitting__one_that_loses_is_undone(void **state)
{
    (void)state;
    double ignored[2];
    const double score = one_pass(ignored);
    const sk_stage stage = case_stage();
    case_search *c = chosen();
    sk_search *s = &c->s;
    s->final_score = score + 1.01;
    const sk_search before = *s;
    assert_true(sk_stage_refit(s, &stage) >= 0);
    assert_int_equal(passes(c), 1);
    assert_memory_equal(s->drift, before.drift, sizeof s->drift);
    assert_memory_equal(s->diffusion, before.diffusion, sizeof s->diffusion);
    assert_true(s->model == before.model && s->views == before.views && s->remains == before.remains);
    assert_true(s->final_score == before.final_score && s->calibration == 7 && !s->final_cluster);
    assert_memory_equal(s->choice.share, before.choice.share, sizeof s->choice.share);
    assert_true(s->choice.floor == 0.125 && s->best_diffusion == before.best_diffusion);
    case_search_free(c);
}

/* A last pass that falls behind what was confirmed is done again under the model that had been confirmed under; the
 * better of the two stays. */
static void test_refitting__final_pass_under_the_model_of_the_best_score(void **state)
{
    (void)state;
    const sk_stage stage = case_stage();
    double score = 0;
    for (int behind = 0; behind < 2; behind++) {
        case_search *c = chosen();
        sk_search *s = &c->s;
        s->under = case_model(ctx, 1, NULL);
        const sock_model *under = s->under;
        s->score = behind ? 1e6 : -1e6;
        assert_true(sk_stage_final(s, &stage) >= 0);
        assert_int_equal(passes(c), behind ? 2 : 1);
        if (behind) assert_true(!s->under && s->model == under && fabs(s->final_score - score) < 1);
        if (!behind) assert_ptr_equal(s->under, under);
        score = s->final_score; /* the two models are the same; only the penalties begin elsewhere */
        case_search_free(c);
    }
}

static sock_status refit_once(sock_context *context, void *arg)
{
    (void)context;
    (void)arg;
    const sk_stage stage = case_stage();
    case_search *c = arg;
    return sk_stage_refit(&c->s, &stage);
}

static void test_refitting__survives_failed_allocations(void **state)
{
    (void)state;
    for (long k = 1; k < 40; k += 3) {
        case_search *c = chosen();
        c->s.final_score = -1e300;
        sk_begin(ctx);
        sk_fail_allocation(ctx, k);
        const sock_status status = refit_once(ctx, c);
        sk_fail_allocation(ctx, 0);
        assert_int_equal(status, SOCK_ENOMEM);
        assert_true(c->s.final_score == -1e300 && c->s.diffusion[1] != NULL);
        case_search_free(c);
    }
    sk_begin(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refitting__is_under_the_chosen_model),
        cmocka_unit_test(test_refitting__goes_on_while_it_gains),
        cmocka_unit_test(test_refitting__one_that_loses_is_undone),
        cmocka_unit_test(test_refitting__final_pass_under_the_model_of_the_best_score),
        cmocka_unit_test(test_refitting__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
