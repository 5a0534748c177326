/* test_verdict.c - which sentence speaks, at both sides of each threshold: facts and objections in, the pattern out. */
#include "check/check.h"

#include "test.h"

#include <math.h>
#include <string.h>

static const char *names[SK_CHECK_TESTS] = {"scale",  "distribution", "drift", "diffusion", "memory",
                                            "cycles", "volatility",   "time",  "horizon"};

/* A thousand steps of one state, to which nothing objects. */
static sk_check_facts usual(void) { return (sk_check_facts){.steps = 1000, .all_steps = 1000}; }

static void no_objection(sock_check_test test[SK_CHECK_TESTS])
{
    for (int i = 0; i < SK_CHECK_TESTS; i++)
        test[i] = (sock_check_test){.name = names[i], .valid = 1, .p = 1, .p_adjusted = 1};
}

static void object(sock_check_test test[SK_CHECK_TESTS], const char *name, double p, double effect)
{
    for (int i = 0; i < SK_CHECK_TESTS; i++)
        if (strcmp(names[i], name) == 0) {
            test[i].objects = 1;
            test[i].p = test[i].p_adjusted = p;
            test[i].effect = effect;
        }
}

static void assert_pattern(const sk_check_facts *facts, const sock_check_test test[SK_CHECK_TESTS], const char *pattern)
{
    char *state[] = {"x"};
    sk_structure about = {.d = 1, .order = 1, .state = state};
    const sock_model model = {.d = 1, .structure = &about};
    sock_checks said = {0};
    sk_check_verdict(&model, facts, test, &said);
    assert_string_equal(said.pattern, pattern);
}

static void assert_quiet(const sk_check_facts *facts, const char *pattern)
{
    sock_check_test test[SK_CHECK_TESTS];
    no_objection(test);
    assert_pattern(facts, test, pattern);
}

/* Fewer than a hundred steps are few; a step is long from half of h |J| on; nine of ten paths may leave, and four of a
 * hundred may run off. */
static void test_verdict__without_an_objection(void **state)
{
    sk_check_facts facts = usual();
    (void)state;
    facts.steps = 99;
    assert_quiet(&facts, "none-few");
    facts.steps = 100;
    assert_quiet(&facts, "none");
    facts.long_step = 0.49;
    assert_quiet(&facts, "none");
    facts.long_step = 0.51;
    assert_quiet(&facts, "none-long");
    facts.exit_share[0] = 0.89;
    assert_quiet(&facts, "none-long");
    facts.exit_share[0] = 0.91;
    assert_quiet(&facts, "paths");
    facts.exit_share[0] = 0.5;
    facts.exit_share[1] = 0.04;
    assert_quiet(&facts, "none-long");
    facts.exit_share[1] = 0.05;
    assert_quiet(&facts, "paths");
    facts.steps = 99;
    assert_quiet(&facts, "paths");
}

/* Paths that leave do not speak for tests that could not be made. */
static void test_verdict__nothing_is_said_of_few_steps(void **state)
{
    char x[] = "x", *name[] = {x};
    sk_structure about = {.d = 1, .order = 1, .state = name};
    const sock_model model = {.d = 1, .structure = &about};
    sk_check_facts facts = usual();
    sock_check_test test[SK_CHECK_TESTS];
    sock_checks said = {0};
    (void)state;
    no_objection(test);
    for (int i = 0; i < SK_CHECK_TESTS; i++) test[i].valid = 0;
    facts.steps = 11;
    facts.exit_share[0] = 0.95;
    facts.exit_share[1] = 0.5;
    sk_check_verdict(&model, &facts, test, &said);
    assert_string_equal(said.pattern, "few");
    assert_int_equal(said.ok, 1);
}

/* What long steps do to f and a makes them long from an eighth on. */
static void test_verdict__rather_long_steps_shrink_the_models_own(void **state)
{
    sk_check_facts facts = usual();
    sock_check_test test[SK_CHECK_TESTS];
    (void)state;
    no_objection(test);
    object(test, "scale", 1e-9, -0.2);
    object(test, "drift", 1e-9, 0.1);
    object(test, "horizon", 1e-9, -0.2);
    facts.long_step = 0.12;
    assert_pattern(&facts, test, "drift");
    facts.long_step = 0.13;
    assert_pattern(&facts, test, "long-steps");
}

/* Noise does not add up over four steps, memory does. */
static void test_verdict__noise_and_memory_differ_at_the_horizon(void **state)
{
    const sk_check_facts facts = usual();
    sock_check_test test[SK_CHECK_TESTS];
    (void)state;
    no_objection(test);
    object(test, "memory", 1e-9, -0.2);
    object(test, "horizon", 1e-9, 0.049);
    assert_pattern(&facts, test, "noise");
    object(test, "horizon", 1e-9, 0.051);
    assert_pattern(&facts, test, "other");
    object(test, "memory", 1e-9, 0.2);
    object(test, "horizon", 1e-9, -0.049);
    assert_pattern(&facts, test, "memory");
    object(test, "horizon", 1e-9, -0.051);
    assert_pattern(&facts, test, "other");
}

/* An objection of horizon says which way, and by how much. */
static void test_verdict__a_horizon_has_a_direction(void **state)
{
    static const struct {
        double effect;
        const char *says;
    } cases[] = {{0.481, "move it more than single ones let expect: their mean square is 48 % larger."},
                 {-0.2, "move it less than single ones let expect: their mean square is 20 % smaller."}};
    char *names_of[] = {"x"};
    sk_structure about = {.d = 1, .order = 1, .state = names_of};
    const sock_model model = {.d = 1, .structure = &about};
    const sk_check_facts facts = usual();
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        sock_check_test test[SK_CHECK_TESTS];
        sock_checks said = {0};
        no_objection(test);
        sk_check_verdict(&model, &facts, test, &said);
        assert_null(strstr(said.verdict, "Several steps"));
        object(test, "horizon", 1e-9, cases[i].effect);
        sk_check_verdict(&model, &facts, test, &said);
        assert_non_null(strstr(said.verdict, cases[i].says));
    }
}

/* Kurtosis a tenth above the model's own. */
static void test_verdict__jumps_have_heavy_tails(void **state)
{
    sk_check_facts facts = usual();
    sock_check_test test[SK_CHECK_TESTS];
    (void)state;
    no_objection(test);
    object(test, "distribution", 1e-9, 0.1);
    facts.wild = 2;
    facts.tails = 0.11;
    assert_pattern(&facts, test, "jumps");
    facts.tails = 0.09;
    assert_pattern(&facts, test, "shape");
}

/* One that is half as surprising as the strongest speaks; what is rarer than 1e-30 is alike. */
static void test_verdict__a_weak_objection_is_no_headline(void **state)
{
    const sk_check_facts facts = usual();
    sock_check_test test[SK_CHECK_TESTS];
    (void)state;
    no_objection(test);
    object(test, "drift", 1e-3, 0.1);
    object(test, "scale", 1.1e-6, 0.1);
    assert_pattern(&facts, test, "drift");
    object(test, "scale", 0.9e-6, 0.1);
    assert_pattern(&facts, test, "scale");
    object(test, "drift", 0.9e-15, 0.1);
    object(test, "scale", 1e-200, 0.1);
    assert_pattern(&facts, test, "drift");
    object(test, "drift", 1.1e-15, 0.1);
    assert_pattern(&facts, test, "scale");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdict__without_an_objection),
        cmocka_unit_test(test_verdict__nothing_is_said_of_few_steps),
        cmocka_unit_test(test_verdict__rather_long_steps_shrink_the_models_own),
        cmocka_unit_test(test_verdict__noise_and_memory_differ_at_the_horizon),
        cmocka_unit_test(test_verdict__a_horizon_has_a_direction),
        cmocka_unit_test(test_verdict__jumps_have_heavy_tails),
        cmocka_unit_test(test_verdict__a_weak_objection_is_no_headline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
