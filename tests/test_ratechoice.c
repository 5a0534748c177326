/* test_ratechoice.c - which monomials are in the rates: by scores that are known. */
#include "onecontext.h"
#include "tune/policy.h"
#include "tune/ratechoice.h"

#include <string.h>

enum { P = 6 };

/* The score of a set: what each adds, and what two of them add together. */
typedef struct law {
    double own[P], pair;
    size_t one, other;
    size_t asked;
} law;

static sock_status score(void *user, const sk_choice_of_rates *of, double *out)
{
    law *l = user;
    bool first = false, second = false;
    l->asked++;
    *out = -100;
    for (size_t i = 0; i < of->count; i++) {
        if (i) assert_true(of->feature[i] > of->feature[i - 1]);
        *out += l->own[of->feature[i]];
        first = first || of->feature[i] == l->one;
        second = second || of->feature[i] == l->other;
    }
    if (first && second) *out += l->pair;
    return SOCK_OK;
}

static void expect(law l, size_t count, const size_t *expected)
{
    size_t feature[P];
    sk_choice_of_rates chosen = {.feature = feature};
    assert_int_equal(sk_choose_rates(ctx, P, score, &l, &chosen), SOCK_OK);
    assert_int_equal(chosen.count, count);
    assert_memory_equal(feature, expected, count * sizeof *feature);
}

/* What gains enough enters, what does not stays out. */
static void test_ratechoice__takes_what_gains_enough(void **state)
{
    (void)state;
    const law l = {.own = {1, 20, SK_RATE_ENTERS - 0.01, 30, SK_RATE_ENTERS + 0.01, -5}};
    expect(l, 3, (const size_t[]){1, 3, 4});
}

/* One that stands for two of them goes when both are there. */
static void test_ratechoice__leaves_what_costs_next_to_nothing(void **state)
{
    (void)state;
    law l = {.own = {40, 0, 25, 0, 0, 0}, .pair = -24.5, .one = 0, .other = 2};
    l.own[1] = 30; /* enters second; then 2 gains 0.5 with 0 */
    expect(l, 2, (const size_t[]){0, 1});
    law stand_in = {.own = {50, 45, 0, 0, 0, 0}, .pair = -44.5 + SK_RATE_ENTERS, .one = 0, .other = 1};
    expect(stand_in, 2, (const size_t[]){0, 1}); /* each costs more than a nat by now */
}

static sock_status waning(void *user, const sk_choice_of_rates *of, double *out)
{
    bool has[P] = {false};
    (void)user;
    for (size_t i = 0; i < of->count; i++) has[of->feature[i]] = true;
    *out = has[0] && !has[1] && !has[2] ? 10 : has[1] && has[2] ? 40 : has[0] + has[1] + has[2] ? 9 : -50;
    if (has[0] && (has[1] != has[2])) *out = 20; /* 0 leads to 1 and 2, and is not needed any more */
    return SOCK_OK;
}

static void test_ratechoice__goes_back(void **state)
{
    (void)state;
    size_t feature[P];
    sk_choice_of_rates chosen = {.feature = feature};
    assert_int_equal(sk_choose_rates(ctx, P, waning, NULL, &chosen), SOCK_OK);
    assert_int_equal(chosen.count, 2);
    assert_true(feature[0] == 1 && feature[1] == 2 && chosen.score == 40);
}

static sock_status hopeless(void *user, const sk_choice_of_rates *of, double *out)
{
    (void)user, (void)of;
    *out = -(double)INFINITY;
    return SOCK_OK;
}

/* There is always one. */
static void test_ratechoice__is_never_empty(void **state)
{
    (void)state;
    size_t feature[P];
    sk_choice_of_rates chosen = {.feature = feature};
    assert_int_equal(sk_choose_rates(ctx, P, hopeless, NULL, &chosen), SOCK_OK);
    assert_int_equal(chosen.count, 1);
    assert_int_equal(feature[0], P - 1);
    expect((law){.own = {-1, -2, -3, -4, -5, -6}}, 1, (const size_t[]){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratechoice__takes_what_gains_enough),
        cmocka_unit_test(test_ratechoice__leaves_what_costs_next_to_nothing),
        cmocka_unit_test(test_ratechoice__goes_back),
        cmocka_unit_test(test_ratechoice__is_never_empty),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
