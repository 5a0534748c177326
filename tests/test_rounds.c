/* test_rounds.c - pilot, screen and rounds of a search: what each leaves behind, against the same trials made one by
 * one. */
#include "searchcases.h"

#include "onecontext.h"

static size_t best_of(const case_search *c, const char *stage, const char *field, const sk_candidates *list)
{
    const bool drift = strcmp(field, "drift") == 0;
    size_t best = SK_MOST, at = 0;
    double score = -(double)INFINITY;
    for (size_t i = 0; i < c->told.search.count; i++) {
        const sk_search_row *row = &c->told.search.row[i];
        if (strcmp(row->stage, stage) != 0 || strcmp(row->field, field) != 0) continue;
        assert_string_equal(row->kernel, (drift ? list->drift : list->diffusion)[at].name);
        if (row->score > score) best = at, score = row->score;
        at++;
    }
    assert_int_equal(at, drift ? list->drifts : list->diffusions);
    return best;
}

static void assert_fields(const sock_model *one, const sock_model *other)
{
    for (double at = -1; at <= 1; at += 0.5) {
        const size_t d = one->d;
        const double x[] = {at, at + 0.2, -at};
        double f[2][3], a[2][9];
        assert_int_equal(sk_model_evaluate(ctx, one, 1, x, f[0], a[0]), SOCK_OK);
        assert_int_equal(sk_model_evaluate(ctx, other, 1, x, f[1], a[1]), SOCK_OK);
        assert_all_close(d, f[0], f[1], 1e-8);
        assert_all_close(d * d, a[0], a[1], 1e-8);
    }
}

/* ---- Pilot and screen ---- */

/* The best of the pilot's candidates on the rows of the screen, at the left point; diffusions on what the best drift
 * leaves. */
static void check_pilot(size_t d)
{
    case_search *c = case_search_new(ctx, d, 150, 5, 90);
    sk_search *s = &c->s;
    const sk_stage stage = {.name = "pilot", .folds = 2, .grid = {4, case_grid}, .care = SK_ROUGH, .whole = true};
    assert_true(s->sets.screen->n < s->sets.search->n && s->sets.search->n < s->sets.all->n);
    assert_int_equal(sk_stage_pilot(s, &stage), SOCK_OK);
    sk_candidates few;
    assert_int_equal(sk_candidates_new(ctx, &c->spec, s->sets.screen, true, &few), SOCK_OK);
    const size_t i = best_of(c, "pilot", "drift", &few), j = best_of(c, "pilot", "diffusion", &few);
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    sk_trial *f = NULL, *a = NULL;
    sock_model *model = NULL;
    const sk_diffusion_options options = {2, case_grid, 4, 1e-4, true, {false, false}, 0};
    assert_int_equal(sk_search_views(s, s->sets.screen, NULL, false, &views), SOCK_OK);
    assert_int_equal(sk_try_drift(ctx, views, &few.drift[i], 2, &f), SOCK_OK);
    assert_int_equal(sk_search_remains(s, views, &f, &remains), SOCK_OK);
    assert_true(sk_try_diffusion(ctx, remains, &few.diffusion[j], &options, &a) >= 0);
    assert_int_equal(sk_model_of_two(s, f, a, &model), SOCK_OK);
    assert_fields(s->model, model);
    assert_int_equal(s->model_diagonal, a->diagonal);
    sock_model_free(model);
    sk_trial_free(f), sk_trial_free(a);
    sk_remains_free(remains);
    sk_views_free(views);
    sk_candidates_clear(&few);
    case_search_free(c);
}

/* In up to three dimensions the components are weighted together. */
static void test_rounds__pilot_is_the_model_of_the_best_two(void **state)
{
    (void)state;
    check_pilot(1);
    check_pilot(3);
}

/* All candidates for the rows of the search, tried on those of the screen under the current model; the rules say who
 * goes on. */
static void test_rounds__screen_tells_who_goes_on(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 150, 5, 90);
    sk_search *s = &c->s;
    const sk_stage stage = {.name = "screen", .folds = 2, .grid = {2, case_grid + 1}, .care = SK_USUAL};
    sk_search_take_model(s, case_model(ctx, 1, NULL), false);
    s->best_drift = s->best_diffusion = SK_MOST;
    assert_int_equal(sk_stage_screen(s, &stage), SOCK_OK);
    assert_true(s->list.drifts > 3 && s->list.diffusions > 3);
    assert_int_equal(s->best_drift, best_of(c, "screen", "drift", &s->list));
    assert_int_equal(s->best_diffusion, best_of(c, "screen", "diffusion", &s->list));
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    sk_trial *f[SK_MOST] = {0}, *a[SK_MOST] = {0};
    const sk_diffusion_options options = {2, case_grid + 1, 2, 1e-6, false, {false, false}, 0};
    bool alive[SK_MOST];
    assert_int_equal(sk_search_views(s, s->sets.screen, s->model, false, &views), SOCK_OK);
    for (size_t i = 0; i < s->list.drifts; i++) {
        assert_true(sk_tolerate(sk_try_drift(ctx, views, &s->list.drift[i], 2, &f[i])) >= 0);
        assert_true(case_logged(c, "screen", s->list.drift[i].name) != NULL);
    }
    sk_field_trials drifts = sk_drift_trials(s);
    drifts.trial = f;
    sk_screen_drifts(&drifts, alive);
    assert_memory_equal(alive, s->drifts, s->list.drifts * sizeof *alive);
    assert_int_equal(sk_search_remains(s, views, &f[s->best_drift], &remains), SOCK_OK);
    for (size_t i = 0; i < s->list.diffusions; i++)
        assert_true(sk_tolerate(sk_try_diffusion(ctx, remains, &s->list.diffusion[i], &options, &a[i])) >= 0);
    sk_field_trials diffusions = sk_diffusion_trials(s);
    diffusions.trial = a;
    sk_screen_diffusions(&diffusions, 1, alive);
    assert_memory_equal(alive, s->diffusions, s->list.diffusions * sizeof *alive);
    sk_begin(ctx);
    sk_remains_free(remains);
    sk_views_free(views);
    sk_clear_trials(f), sk_clear_trials(a);
    case_search_free(c);
}

/* ---- Rounds ---- */

static case_search *begun(void)
{
    case_search *c = case_search_new(ctx, 1, 150, 5, 0);
    case_candidates(c);
    sk_search_take_model(&c->s, case_model(ctx, 1, NULL), false);
    return c;
}

/* Diffusions are fitted to what the best drift leaves, corrected. */
static void test_rounds__round_on_what_the_best_drift_leaves(void **state)
{
    (void)state;
    for (int correct = 0; correct < 2; correct++) {
        case_search *c = begun();
        sk_search *s = &c->s;
        const sk_stage stage = case_stage();
        c->spec.correct = correct;
        assert_true(sk_stage_round(s, &stage) >= 0);
        assert_int_equal(s->best_drift, best_of(c, "stage", "drift", &s->list));
        assert_int_equal(s->best_diffusion, best_of(c, "stage", "diffusion", &s->list));
        sk_remains *remains = NULL;
        sk_trial *a = NULL;
        static const double one = 1;
        const sk_mixture drift = {1, &s->drift[s->best_drift], &one};
        const sk_diffusion_options options = {3, case_grid, CASE_LAMBDAS, 1e-6, true, {false, false}, 0};
        assert_int_equal(sk_remains_new(ctx, s->views, &drift, correct, &remains), SOCK_OK);
        assert_true(sk_try_diffusion(ctx, remains, &s->list.diffusion[2], &options, &a) >= 0);
        assert_close(s->diffusion[2]->score, a->score, 1e-10, 1);
        sk_trial_free(a);
        sk_remains_free(remains);
        case_search_free(c);
    }
}

/* The reach is larger in several dimensions where diffusions may still be polished. */
static void test_rounds__near_ones_go_on(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++)
        for (int polish = 0; polish < 2; polish++) {
            case_search *c = case_search_new(ctx, d, 400, 10, 0);
            sk_search *s = &c->s;
            const sk_stage stage = case_stage();
            bool alive[SK_MOST];
            case_candidates(c);
            case_candidate(c, SK_DIFFUSION, "gauss:eta=0.8", 1); /* in two dimensions 20 to 60 nats behind */
            sk_search_take_model(s, case_model(ctx, d, NULL), false);
            c->spec.polish = polish;
            assert_true(sk_stage_near(s, &stage) >= 0);
            const sk_field_trials drifts = sk_drift_trials(s), diffusions = sk_diffusion_trials(s);
            sk_near_drifts(&drifts, alive);
            assert_memory_equal(alive, s->drifts, 3);
            sk_lost_drifts(&drifts, alive);
            assert_memory_equal(alive, s->lost, 3);
            sk_near_diffusions(&diffusions, polish && d > 1, alive);
            assert_memory_equal(alive, s->diffusions, 4);
            if (d == 2) assert_int_equal(s->diffusions[3], polish);
            case_search_free(c);
        }
}

static void test_rounds__retreat_to_the_rows_of_the_screen(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 150, 5, 90);
    sk_search *s = &c->s;
    assert_int_equal(sk_constant_score(s), SOCK_OK);
    const double before = s->constant_score;
    assert_int_equal(sk_retreat(s), SOCK_OK);
    assert_ptr_equal(s->rows, s->sets.screen);
    const double after = s->constant_score;
    assert_true(after != before);
    s->constant_score = 5;
    assert_int_equal(sk_retreat(s), SOCK_OK); /* nothing is left to do */
    assert_true(s->constant_score == 5 && s->rows == s->sets.screen);
    case_search_free(c);
}

/* ---- Drifts that come back ---- */

/* The affine drift alone is alive and has a score from before; the others are asked where that has risen by 20 nats, on
 * the same rows. Who is near the best stays alive. */
static void check_return(double gained, bool same_rows, bool expected)
{
    case_search *c = begun();
    sk_search *s = &c->s;
    const sk_stage stage = case_stage();
    sk_trial *all[SK_MOST] = {0};
    size_t best = SK_MOST;
    assert_int_equal(sk_renew_views(s), SOCK_OK);
    assert_int_equal(sk_run_drifts(s, &stage, s->views, &s->list, s->drifts, all, &best), SOCK_OK);
    s->drifts[0] = s->drifts[2] = false;
    s->best_drift = 1;
    s->drift[1] = sk_alloc(ctx, 1, sizeof *s->drift[1]);
    s->drift[1]->score = all[1]->score - gained;
    s->drift[1]->rows = same_rows ? s->rows : NULL;
    assert_int_equal(sk_judge_drifts(s, &stage), SOCK_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(s->drift[i] != NULL, i == 1 || expected);
        if (s->drift[i]) assert_close(s->drift[i]->score, all[i]->score, 1e-12, 1);
        assert_int_equal(s->drifts[i], expected ? all[best]->score - all[i]->score < 20 : i == 1);
    }
    assert_int_equal(s->best_drift, expected ? best : 1);
    sk_clear_trials(all);
    case_search_free(c);
}

static void test_rounds__drifts_dropped_under_a_bad_model_come_back(void **state)
{
    (void)state;
    check_return(20.1, true, true);
    check_return(19.9, true, false);
    check_return(1000, false, false);
}

/* ---- Confirm ---- */

typedef struct confirmed {
    sk_trial *f, *a;
    double score; /* with a floor: test_ending.c has it row by row */
} confirmed;

/* A finalist under its own model, at its penalty and the one before it in the grid. */
static confirmed slow_confirm(const case_search *c, size_t j, size_t place)
{
    const sk_search *s = &c->s;
    const size_t first = place ? place - 1 : 0;
    const sk_diffusion_options options = {3, case_grid + first, place - first + 1, 1e-6, true, {false, false}, 0};
    sock_model *model = NULL;
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    confirmed r = {0};
    assert_int_equal(sk_model_of_two(s, s->drift[s->best_drift], s->diffusion[j], &model), SOCK_OK);
    assert_int_equal(sk_search_views(s, s->rows, model, false, &views), SOCK_OK);
    assert_int_equal(sk_try_drift(ctx, views, &s->list.drift[s->best_drift], 3, &r.f), SOCK_OK);
    assert_int_equal(sk_search_remains(s, views, &r.f, &remains), SOCK_OK);
    assert_true(sk_try_diffusion(ctx, remains, &s->list.diffusion[j], &options, &r.a) >= 0);
    assert_int_equal(sk_floored_score(s, remains, r.a, &r.score), SOCK_OK);
    assert_true(r.score >= r.a->score);
    sk_remains_free(remains);
    sk_views_free(views);
    sock_model_free(model);
    return r;
}

/* The best of three is taken unless it is worse than the last model by a nat. ahead: of the last score. */
static void check_confirm(double ahead, const size_t *place)
{
    case_search *c = begun();
    sk_search *s = &c->s;
    sk_stage stage = case_stage();
    assert_true(sk_stage_round(s, &stage) >= 0);
    confirmed r[3];
    size_t best = 0;
    for (size_t j = 0; j < 3; j++) {
        s->diffusion[j]->l = case_grid[place[j]] * (j == 0 ? 1.005 : 0.995);
        r[j] = slow_confirm(c, j, place[j]);
        if (r[j].score > r[best].score) best = j;
    }
    sock_model *last = s->model, *expected = NULL;
    assert_int_equal(sk_model_of_two(s, r[best].f, r[best].a, &expected), SOCK_OK);
    s->score = r[best].score - ahead;
    s->model_diagonal = true;
    const size_t before = s->best_diffusion;
    const double score = s->score;
    stage.name = "confirm 2";
    assert_true(sk_stage_confirm(s, &stage) >= 0);
    for (size_t j = 0; j < 3; j++) {
        const sk_search_row *row = case_logged(c, "confirm 2", s->list.diffusion[j].name);
        assert_string_equal(row->field, "both");
        assert_close(row->score, r[j].score, 1e-9, 1);
        assert_true(row->l == s->diffusion[j]->l && !row->edge);
    }
    if (ahead > -1) {
        assert_fields(s->model, expected);
        assert_true(!s->model_diagonal && s->best_diffusion == best);
        assert_close(s->score, ahead > 0 ? r[best].score : score, 1e-12, 1);
        assert_true((s->under != NULL) == (ahead > 0)); /* whose nodes the best score was had with */
    } else {
        assert_ptr_equal(s->model, last);
        assert_true(s->model_diagonal && s->best_diffusion == before && s->score == score);
    }
    for (size_t j = 0; j < 3; j++) sk_trial_free(r[j].f), sk_trial_free(r[j].a);
    sock_model_free(expected);
    case_search_free(c);
}

static void test_rounds__confirmed_unless_it_is_worse(void **state)
{
    (void)state;
    static const size_t places[][3] = {{0, 3, 6}, {1, 6, 2}};
    static const double ahead[] = {5, -0.999, -1.001};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) check_confirm(ahead[k], places[i]);
}

/* The first finalist is confirmed in any case, the others as long as there is time. */
static void test_rounds__confirms_one_without_time(void **state)
{
    (void)state;
    case_search *c = begun();
    sk_search *s = &c->s;
    sk_stage stage = case_stage();
    assert_true(sk_stage_round(s, &stage) >= 0);
    c->spec.budget = 1;
    s->start -= 10;
    const size_t before = c->told.search.count, best = s->best_diffusion;
    stage.name = "confirm";
    assert_true(sk_stage_confirm(s, &stage) >= 0);
    assert_int_equal(c->told.search.count, before + 1);
    assert_non_null(case_logged(c, "confirm", s->list.diffusion[best].name));
    assert_int_equal(s->best_diffusion, best);
    case_search_free(c);
}

/* Of equal finalists the first wins. */
static void test_rounds__first_of_equal_finalists(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 150, 5, 0);
    sk_search *s = &c->s;
    const sk_stage stage = case_stage();
    case_candidate(c, SK_DRIFT, "affine", 0);
    for (size_t i = 0; i < 2; i++) case_candidate(c, SK_DIFFUSION, "affine", 0);
    sk_search_take_model(s, case_model(ctx, 1, NULL), false);
    assert_true(sk_stage_round(s, &stage) >= 0);
    assert_true(s->diffusion[0]->score == s->diffusion[1]->score && s->best_diffusion == 0);
    assert_true(sk_stage_confirm(s, &stage) >= 0);
    assert_int_equal(s->best_diffusion, 0);
    case_search_free(c);
}

static void test_rounds__nobody_to_confirm(void **state)
{
    (void)state;
    case_search *c = begun();
    const sk_stage stage = case_stage();
    assert_true(sk_stage_round(&c->s, &stage) >= 0);
    sk_clear_trials(c->s.diffusion);
    assert_int_equal(sk_stage_confirm(&c->s, &stage), SOCK_ENUMERIC);
    assert_non_null(strstr(sock_message(ctx), "no diffusion could be fitted"));
    sk_begin(ctx);
    case_search_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds__pilot_is_the_model_of_the_best_two),
        cmocka_unit_test(test_rounds__screen_tells_who_goes_on),
        cmocka_unit_test(test_rounds__round_on_what_the_best_drift_leaves),
        cmocka_unit_test(test_rounds__near_ones_go_on),
        cmocka_unit_test(test_rounds__retreat_to_the_rows_of_the_screen),
        cmocka_unit_test(test_rounds__drifts_dropped_under_a_bad_model_come_back),
        cmocka_unit_test(test_rounds__confirmed_unless_it_is_worse),
        cmocka_unit_test(test_rounds__confirms_one_without_time),
        cmocka_unit_test(test_rounds__first_of_equal_finalists),
        cmocka_unit_test(test_rounds__nobody_to_confirm),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
