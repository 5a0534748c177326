/* test_crowd.c - all candidates of a field side by side: each as it would be alone, the best of them, windows of
 * penalties around the last one, and what the budget leaves out. */
#include "searchcases.h"

#include "onecontext.h"

/* Views that are kept, or made on each visit. */
static void look_at(case_search *c, bool kept)
{
    c->s.sets.look.keep = kept ? 0 : 1;
    assert_int_equal(sk_renew_views(&c->s), SOCK_OK);
    assert_int_equal(sk_views_kept(c->s.views), kept);
}

static void run_drifts(case_search *c, const sk_stage *stage)
{
    sk_search *s = &c->s;
    if (sk_run_drifts(s, stage, s->views, &s->list, s->drifts, s->drift, &s->best_drift) < 0)
        fail_msg("%s", sock_message(ctx));
}

/* What the second drift leaves. */
static void leave(case_search *c)
{
    const double share[SK_MOST] = {0, 1};
    if (!c->s.drift[1])
        assert_int_equal(sk_try_drift(ctx, c->s.views, &c->s.list.drift[1], 3, &c->s.drift[1]), SOCK_OK);
    assert_int_equal(sk_renew_remains(&c->s, share), SOCK_OK);
}

static void run_diffusions(case_search *c, const sk_stage *stage)
{
    sk_search *s = &c->s;
    if (sk_run_diffusions(s, stage, s->remains, &s->list, s->diffusions, s->diffusion, &s->best_diffusion) < 0)
        fail_msg("%s", sock_message(ctx));
}

static void assert_same_trial(const sk_trial *one, const sk_trial *other)
{
    assert_true(one->folds == other->folds && one->p == other->p && one->lambdas == other->lambdas);
    assert_true(one->l == other->l && one->edge == other->edge);
    assert_close(one->score, other->score, 1e-9, 1);
    assert_int_equal(one->solution != NULL, other->solution != NULL);
}

static void prop_drifts_are_as_each_would_be_alone(void **state)
{
    (void)state;
    for (int kept = 0; kept < 2; kept++)
        for (size_t folds = 0; folds <= 2; folds += 2) {
            case_search *c = case_search_new(ctx, 1, 90, 6, 0);
            sk_search *s = &c->s;
            sk_stage stage = case_stage();
            stage.folds = folds;
            case_candidates(c);
            s->drifts[0] = false;
            look_at(c, kept);
            run_drifts(c, &stage);
            assert_null(s->drift[0]);
            for (size_t i = 1; i < 3; i++) {
                sk_trial *alone = NULL;
                assert_int_equal(sk_try_drift(ctx, s->views, &s->list.drift[i], folds ? 2 : 3, &alone), SOCK_OK);
                assert_same_trial(s->drift[i], alone);
                const sk_search_row *row = case_logged(c, "stage", s->list.drift[i].name);
                assert_string_equal(row->field, "drift");
                assert_true(row->score == s->drift[i]->score && row->places > 0);
                sk_trial_free(alone);
            }
            assert_int_equal(c->told.search.count, 2);
            assert_int_equal(s->best_drift, s->drift[2]->score > s->drift[1]->score ? 2 : 1);
            assert_false(s->limited);
            case_search_free(c);
        }
}

/* Without a penalty from before: all of the grid. */
static void prop_diffusions_are_as_each_would_be_alone(void **state)
{
    (void)state;
    sock_set_threads(ctx, 2); /* the one that takes longer than all others is computed first, for itself */
    for (int kept = 0; kept < 2; kept++)
        for (size_t folds = 0; folds <= 2; folds += 2) {
            case_search *c = case_search_new(ctx, 1, 90, 6, 0);
            sk_search *s = &c->s;
            sk_stage stage = case_stage();
            stage.folds = folds;
            stage.whole = folds == 0;
            case_candidates(c);
            look_at(c, kept);
            leave(c);
            run_diffusions(c, &stage);
            const sk_diffusion_options options = {folds ? 2 : 3,  case_grid, CASE_LAMBDAS, 1e-6, stage.whole,
                                                  {false, false}, 0};
            size_t best = 0;
            for (size_t i = 0; i < 3; i++) {
                sk_trial *alone = NULL;
                assert_true(sk_try_diffusion(ctx, s->remains, &s->list.diffusion[i], &options, &alone) >= 0);
                assert_same_trial(s->diffusion[i], alone);
                if (alone->score > s->diffusion[best]->score) best = i;
                assert_string_equal(case_logged(c, "stage", s->list.diffusion[i].name)->field, "diffusion");
                sk_trial_free(alone);
            }
            assert_int_equal(s->best_diffusion, best);
            case_search_free(c);
        }
}

/* The trial on the places begin .. end of the grid. */
static sk_trial *on_window(const case_search *c, size_t i, size_t begin, size_t end)
{
    const sk_diffusion_options options = {3, case_grid + begin, end - begin + 1, 1e-6, true, {false, false}, 0};
    sk_trial *trial = NULL;
    assert_true(sk_try_diffusion(ctx, c->s.remains, &c->s.list.diffusion[i], &options, &trial) >= 0);
    return trial;
}

static size_t place_of(double l)
{
    for (size_t at = 0; at < CASE_LAMBDAS; at++)
        if (fabs(l / case_grid[at] - 1) < 1e-9) return at;
    fail_msg("%g is not of the grid", l);
    return 0;
}

/* A place to both sides of the last penalty. Where the best is at the end of that window and not of the grid, the
 * window moves there, three times at most; then the whole grid is tried. */
static void prop_window_of_one_place_moves_with_the_best(void **state)
{
    (void)state;
    for (size_t start = 0; start < CASE_LAMBDAS; start++) {
        case_search *c = case_search_new(ctx, 1, 90, 6, 0);
        sk_search *s = &c->s;
        const sk_stage stage = case_stage();
        case_candidates(c);
        look_at(c, true);
        leave(c);
        for (size_t i = 0; i < 3; i++) {
            s->diffusion[i] = sk_alloc(ctx, 1, sizeof *s->diffusion[i]);
            s->diffusion[i]->l = case_grid[start] * (i == 0 ? 1.005 : i == 1 ? 0.995 : 1);
        }
        run_diffusions(c, &stage);
        for (size_t i = 0; i < 3; i++) {
            sk_trial *expected = NULL;
            size_t at = start, move = 0;
            for (; !expected && move < 4; move++) {
                expected = on_window(c, i, at > 0 ? at - 1 : 0, at + 1 < CASE_LAMBDAS ? at + 1 : at);
                const size_t best = place_of(expected->l);
                if (!expected->edge || best == at || best == 0 || best + 1 == CASE_LAMBDAS) break;
                at = best;
                sk_trial_free(expected);
                expected = NULL;
            }
            if (!expected) expected = on_window(c, i, 0, CASE_LAMBDAS - 1);
            assert_same_trial(s->diffusion[i], expected);
            sk_trial_free(expected);
        }
        case_search_free(c);
    }
}

/* Where all go through the blocks together: two places to both sides, and an end of the window inside the grid is no
 * edge. */
static void prop_window_of_two_places_stays(void **state)
{
    (void)state;
    bool inner_edge = false;
    for (size_t start = 0; start < CASE_LAMBDAS; start++) {
        case_search *c = case_search_new(ctx, 1, 90, 6, 0);
        sk_search *s = &c->s;
        const sk_stage stage = case_stage();
        case_candidates(c);
        s->diffusions[1] = false;
        look_at(c, false);
        leave(c);
        s->diffusion[2] = sk_alloc(ctx, 1, sizeof *s->diffusion[2]);
        s->diffusion[2]->l = case_grid[start];
        run_diffusions(c, &stage);
        assert_null(s->diffusion[1]);
        const size_t last = CASE_LAMBDAS - 1;
        for (size_t i = 0; i < 3; i += 2) {
            sk_trial *expected = i ? on_window(c, i, start > 2 ? start - 2 : 0, start + 2 < last ? start + 2 : last)
                                   : on_window(c, i, 0, last);
            const size_t best = place_of(expected->l);
            if (best > 0 && best < last) {
                inner_edge = inner_edge || expected->edge;
                expected->edge = false;
            }
            assert_same_trial(s->diffusion[i], expected);
            sk_trial_free(expected);
        }
        case_search_free(c);
    }
    assert_true(inner_edge);
}

/* Alone is what is needed: the best of an earlier stage, if it is alive, else the first one that is. */
static void test_crowd__a_spent_budget_leaves_one(void **state)
{
    (void)state;
    static const struct {
        size_t last;
        bool alive[3];
        size_t left;
    } cases[] = {{SK_MOST, {true, true, true}, 0}, {SK_MOST, {false, true, true}, 1}, {2, {true, true, true}, 2},
                 {2, {false, true, false}, 1},     {0, {true, true, false}, 0},       {1, {false, false, true}, 2}};
    for (int kept = 0; kept < 2; kept++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            case_search *c = case_search_new(ctx, 1, 60, 5, 0);
            sk_search *s = &c->s;
            const sk_stage stage = case_stage();
            size_t alive = 0;
            case_candidates(c);
            look_at(c, kept);
            for (size_t i = 0; i < 3; i++) alive += s->drifts[i] = s->diffusions[i] = cases[k].alive[i];
            s->best_drift = s->best_diffusion = cases[k].last;
            c->spec.budget = 1;
            s->start -= 10;
            run_drifts(c, &stage);
            for (size_t i = 0; i < 3; i++) assert_int_equal(s->drift[i] != NULL, i == cases[k].left);
            assert_int_equal(s->best_drift, cases[k].left);
            assert_int_equal(s->skipped, alive - 1);
            assert_int_equal(s->limited, alive > 1);
            leave(c);
            run_diffusions(c, &stage);
            for (size_t i = 0; i < 3; i++) assert_int_equal(s->diffusion[i] != NULL, i == cases[k].left);
            assert_int_equal(s->best_diffusion, cases[k].left);
            assert_int_equal(s->skipped, 2 * (alive - 1));
            assert_int_equal(c->told.search.count, 2); /* what was left out is no row */
            case_search_free(c);
        }
}

/* Time enough: nothing is left out. */
static void test_crowd__a_large_budget_leaves_all(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    const sk_stage stage = case_stage();
    case_candidates(c);
    look_at(c, true);
    c->spec.budget = 1000;
    run_drifts(c, &stage);
    for (size_t i = 0; i < 3; i++) assert_non_null(c->s.drift[i]);
    assert_true(c->s.skipped == 0 && !c->s.limited);
    case_search_free(c);
}

/* A candidate that cannot be fitted drops out; when all do, the search is told which field. */
static void test_crowd__nothing_can_be_fitted(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    sk_search *s = &c->s;
    sk_stage stage = case_stage();
    case_candidates(c);
    look_at(c, true);
    leave(c);
    for (size_t i = 0; i < 3; i++) s->drifts[i] = s->diffusions[i] = false;
    assert_int_equal(sk_run_drifts(s, &stage, s->views, &s->list, s->drifts, s->drift, &s->best_drift), SOCK_ENUMERIC);
    assert_non_null(strstr(sock_message(ctx), "no drift could be fitted"));
    sk_begin(ctx);
    assert_int_equal(
        sk_run_diffusions(s, &stage, s->remains, &s->list, s->diffusions, s->diffusion, &s->best_diffusion),
        SOCK_ENUMERIC);
    assert_non_null(strstr(sock_message(ctx), "no diffusion could be fitted"));
    assert_int_equal(s->best_diffusion, SK_MOST);
    sk_begin(ctx);
    case_search_free(c);
}

typedef struct heard {
    char stage[2][48];
    double share[2];
    size_t count;
} heard;

static int listen(void *user, const char *stage, double share)
{
    heard *h = user;
    if (share >= 0.25 && h->count < 2) {
        snprintf(h->stage[h->count], sizeof h->stage[0], "%s", stage);
        h->share[h->count++] = share;
    }
    return 0;
}

static void test_crowd__tells_how_far_it_is(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    sk_stage stage = case_stage();
    stage.drift = 0.25;
    stage.diffusion = 0.5;
    case_candidates(c);
    look_at(c, true);
    heard h = {.count = 0};
    sock_set_monitor(ctx, listen, &h);
    run_drifts(c, &stage);
    assert_int_equal(h.count, 1);
    leave(c);
    run_diffusions(c, &stage);
    sock_set_monitor(ctx, NULL, NULL);
    assert_string_equal(h.stage[0], "stage: drift");
    assert_string_equal(h.stage[1], "stage: diffusion");
    assert_true(h.share[0] == 0.25 && h.share[1] == 0.5);
    case_search_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_drifts_are_as_each_would_be_alone),
        cmocka_unit_test(prop_diffusions_are_as_each_would_be_alone),
        cmocka_unit_test(prop_window_of_one_place_moves_with_the_best),
        cmocka_unit_test(prop_window_of_two_places_stays),
        cmocka_unit_test(test_crowd__a_spent_budget_leaves_one),
        cmocka_unit_test(test_crowd__a_large_budget_leaves_all),
        cmocka_unit_test(test_crowd__nothing_can_be_fitted),
        cmocka_unit_test(test_crowd__tells_how_far_it_is),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
