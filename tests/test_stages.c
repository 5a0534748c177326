/* test_stages.c - the table of the stages, row by row, and the tolerances they are solved with. */
#include "test.h"
#include "tune/searchstate.h"

typedef struct expected {
    const char *name;
    sock_status (*run)(sk_search *s, const sk_stage *stage);
    int group;
    size_t folds;
    char grid; /* f fine, t thin, p the first four of thin */
    sk_care care;
    bool whole, curves, told; /* told: it says how far the search is */
} expected;

static const expected table[] = {
    {"pilot", sk_stage_pilot, 0, 2, 'p', SK_ROUGH, true, false, true},
    {"screen", sk_stage_screen, 0, 2, 't', SK_USUAL, false, false, true},
    {"round 1", sk_stage_near, 1, 0, 'f', SK_USUAL, true, true, true},
    {"confirm", sk_stage_confirm, 1, 0, 'f', SK_USUAL, true, true, false},
    {"round 2", sk_stage_round, 1, 0, 'f', SK_USUAL, true, true, true},
    {"confirm 2", sk_stage_confirm, 1, 0, 'f', SK_USUAL, true, true, false},
    {"final", sk_stage_final, 0, 0, 'f', SK_USUAL, true, true, true},
    {"refit", sk_stage_refit, 2, 0, 'f', SK_LAST, true, true, true},
    {"guards", sk_stage_guards, 0, 0, 't', SK_LAST, true, true, false},
    {"constant drift", sk_stage_constant_drift, 0, 0, 't', SK_LAST, true, true, false},
    {"all rows", sk_stage_all_rows, 3, 0, 'f', SK_LAST, true, true, true},
    {"guards of all rows", sk_stage_guards, 0, 0, 't', SK_LAST, true, true, false},
    {"constant drift of all rows", sk_stage_constant_drift, 0, 0, 't', SK_LAST, true, true, false},
};
enum { STAGES = sizeof table / sizeof *table };

static void assert_grid(const sk_grid *grid, char kind)
{
    static const double fine[] = {10, 1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    static const double thin[] = {1, 1e-2, 1e-4, 1e-6, 1e-8};
    assert_int_equal(grid->count, kind == 'f' ? 11 : kind == 't' ? 5 : 4);
    assert_memory_equal(grid->l, kind == 'f' ? fine : thin, grid->count * sizeof *fine);
}

static void test_stages__table(void **state)
{
    (void)state;
    assert_int_equal(sk_stage_count, STAGES);
    for (size_t i = 0; i < STAGES; i++) {
        const sk_stage *stage = &sk_stages[i];
        assert_string_equal(stage->name, table[i].name);
        assert_true(stage->run == table[i].run);
        assert_int_equal(stage->group, table[i].group);
        assert_int_equal(stage->folds, table[i].folds);
        assert_grid(&stage->grid, table[i].grid);
        assert_int_equal(stage->care, table[i].care);
        assert_int_equal(stage->whole, table[i].whole);
        assert_int_equal(stage->curves, table[i].curves);
        assert_true(stage->left == (i == 2 ? sk_retreat : NULL));
        assert_int_equal(stage->wanted != NULL, i == 7 || i >= 10);
    }
}

/* From stage to stage, and from drifts to diffusions; where nothing is told it is -1. */
static void test_stages__progress_rises(void **state)
{
    (void)state;
    double last = 0;
    for (size_t i = 0; i < STAGES; i++) {
        const sk_stage *stage = &sk_stages[i];
        if (!table[i].told) assert_true(stage->drift == -1 && stage->diffusion == -1);
        if (!table[i].told) continue;
        assert_true(stage->drift > last && stage->diffusion > stage->drift && stage->diffusion < 1);
        last = stage->diffusion;
    }
}

static void test_stages__refit_where_diffusions_are_polished(void **state)
{
    (void)state;
    sk_tune_spec spec = {.polish = true};
    const sk_search s = {.spec = &spec};
    assert_true(sk_stages[7].wanted(&s));
    spec.polish = false;
    assert_false(sk_stages[7].wanted(&s));
}

/* Not where the search had them all, nor where it ended with those of the screen. */
static void test_stages__all_rows_where_the_search_had_a_part(void **state)
{
    (void)state;
    sk_transitions all = {0}, part = {0}, few = {0};
    sk_search s = {.sets = {.all = &all, .search = &part, .screen = &few}, .rows = &part};
    assert_true(sk_stages[10].wanted(&s) && !sk_stages[11].wanted(&s));
    s.rows = &few;
    assert_true(!sk_stages[10].wanted(&s) && !sk_stages[11].wanted(&s));
    s.rows = &all;
    assert_true(!sk_stages[10].wanted(&s) && sk_stages[11].wanted(&s)); /* the guards after that stage */
    assert_true(sk_stages[12].wanted(&s));
    s.sets.search = s.sets.all;
    assert_false(sk_stages[12].wanted(&s));
    assert_true(!sk_stages[10].wanted(&s) && !sk_stages[11].wanted(&s));
}

static void test_stages__tolerances(void **state)
{
    (void)state;
    sk_transitions rows = {.d = 3};
    sk_tune_spec spec = {0};
    const sk_search s = {.spec = &spec, .rows = &rows};
    assert_true(sk_search_tolerance(&s, SK_ROUGH) == 1e-4);
    assert_true(sk_search_tolerance(&s, SK_USUAL) == 1e-6 && sk_search_tolerance(&s, SK_LAST) == 1e-6);
    rows.d = 4;
    assert_true(sk_search_tolerance(&s, SK_ROUGH) == 1e-4);
    assert_true(sk_search_tolerance(&s, SK_USUAL) == 1e-4 && sk_search_tolerance(&s, SK_LAST) == 1e-6);
    spec.tolerance = 1e-9;
    assert_true(sk_search_tolerance(&s, SK_ROUGH) == 1e-4);
    assert_true(sk_search_tolerance(&s, SK_USUAL) == 1e-9 && sk_search_tolerance(&s, SK_LAST) == 1e-9);
}

static void test_stages__one_of_each_is_the_whole_choice(void **state)
{
    (void)state;
    sk_choice choice = {.drift = 3, .drift_share = {0.5, 0.5}, .share = {1}, .floor = 2};
    sk_choose_one(2, 5, &choice);
    assert_true(choice.drift == 2 && choice.floor == 0);
    for (size_t i = 0; i < SK_MOST; i++) assert_true(choice.drift_share[i] == (i == 2) && choice.share[i] == (i == 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages__table),
        cmocka_unit_test(test_stages__progress_rises),
        cmocka_unit_test(test_stages__refit_where_diffusions_are_polished),
        cmocka_unit_test(test_stages__all_rows_where_the_search_had_a_part),
        cmocka_unit_test(test_stages__tolerances),
        cmocka_unit_test(test_stages__one_of_each_is_the_whole_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
