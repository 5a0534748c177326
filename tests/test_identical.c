/* test_identical.c - fields that say the same of the held-out rows are one part of an average. */
#include "searchcases.h"
#include "tune/identical.h"

#include "onecontext.h"

/* A trial that says these numbers of every row, those of the rows of one fold by the fit without it. */
static sk_trial *trial_of(const sk_transitions *rows, sk_field field, const double *said, double score)
{
    const size_t width = field == SK_DRIFT ? rows->d : rows->d * rows->d, size = rows->n * width;
    sk_trial *t = sk_alloc(ctx, 1, sizeof *t);
    *t = (sk_trial){.field = field, .d = rows->d, .folds = rows->folds, .score = score};
    t->rows = rows;
    t->held = sk_doubles(ctx, rows->folds + 1, size);
    for (size_t f = 0; f <= (field == SK_DRIFT ? rows->folds : 0); f++)
        memcpy(t->held + f * size, said, size * sizeof *said);
    return t;
}

static bool same(const case_bench *b, const sk_trial *one, const sk_trial *other)
{
    bool answer = false;
    assert_int_equal(sk_same_field(ctx, b->views, one, other, &answer), SOCK_OK);
    return answer;
}

/* One number of one row is moved by a share of the norm over the held-out rows; rows that are always in do not count.
 */
static void test_identical__fields_are_compared_on_held_out_rows(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++)
        for (int field = SK_DRIFT; field <= SK_DIFFUSION; field++) {
            sk_transitions *rows = case_rows(ctx, d, true);
            case_cut(ctx, rows, 7);
            const case_bench b = case_bench_of(ctx, rows, false, 0);
            const size_t width = field == SK_DRIFT ? d : d * d, held = rows->first[rows->folds] * width;
            double *said = sk_doubles(ctx, rows->n, width), norm = 0;
            sk_normals((sk_key){5, SK_PURPOSE_TEST}, 1, 0, 0, rows->n * width, said);
            for (size_t i = 0; i < held; i++) norm += said[i] * said[i];
            norm = sqrt(norm);
            sk_trial *one = trial_of(rows, (sk_field)field, said, -50);
            const size_t places[] = {0, held / 2, held - 1, held, rows->n * width - 1};
            for (size_t k = 0; k < 5; k++) {
                const double kept = said[places[k]];
                for (int far = 0; far < 2; far++) {
                    said[places[k]] = kept + (far ? 1.2e-7 : 0.8e-7) * norm;
                    sk_trial *other = trial_of(rows, (sk_field)field, said, -50);
                    assert_int_equal(same(&b, one, other), k > 2 || !far);
                    sk_trial_free(other);
                }
                said[places[k]] = kept;
            }
            sk_trial *other = trial_of(rows, (sk_field)field, said, -50 - 51 * 0.9e-5);
            assert_true(same(&b, one, other));
            other->score = -50 - 51 * 1.1e-5;
            assert_false(same(&b, one, other));
            sk_trial_free(one), sk_trial_free(other);
            sk_free(said);
            case_bench copy = b;
            case_bench_clear(&copy);
        }
}

enum { PARTS = 6 };

/* Kind, simplicity, share of each part; what becomes of the share, and of the best diffusion if it is that part. */
typedef struct part {
    int kind, simplicity;
    double share, joined;
    size_t best;
} part;

static const part parts[PARTS] = {
    {0, 3, 0.125, 0, 1},   {0, 1, 0.25, 0.625, 1}, {0, 1, 0.25, 0, 1},
    {1, 0, 0.25, 0.25, 3}, {0, 0, 0, 0, 0},        {1, 2, 0.125, 0, 3},
};

/* Under the simplest name, the first of equally simple ones; what has no share takes none; the rest stays. */
static void test_identical__parts_become_one_under_the_simplest_name(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    sk_search *s = &c->s;
    assert_int_equal(sk_renew_views(s), SOCK_OK);
    double *said[2];
    for (int kind = 0; kind < 2; kind++) {
        said[kind] = sk_doubles(ctx, s->rows->n, 1);
        sk_normals((sk_key){6, SK_PURPOSE_TEST}, (uint64_t)kind, 0, 0, s->rows->n, said[kind]);
    }
    for (size_t i = 0; i < PARTS; i++) {
        case_candidate(c, SK_DRIFT, "constant", parts[i].simplicity);
        case_candidate(c, SK_DIFFUSION, "constant", parts[i].simplicity);
        s->drift[i] = trial_of(s->rows, SK_DRIFT, said[parts[i].kind], -10);
        s->diffusion[i] = trial_of(s->rows, SK_DIFFUSION, said[parts[i].kind], -10);
    }
    for (size_t best = 0; best < PARTS; best++) {
        sk_choice choice = {.drift = 3};
        for (size_t i = 0; i < PARTS; i++) choice.drift_share[i] = choice.share[i] = parts[i].share;
        s->best_diffusion = best;
        s->best_drift = 5;
        assert_int_equal(sk_join_identical(s, &choice), SOCK_OK);
        for (size_t i = 0; i < PARTS; i++)
            if (parts[i].kind == 0) {
                assert_true(choice.drift_share[i] == parts[i].joined);
                assert_true(choice.share[i] == parts[i].joined);
            }
        assert_true(choice.drift_share[3] == 0.375 && choice.drift_share[5] == 0);
        assert_true(choice.share[3] == 0.375 && choice.share[5] == 0);
        assert_int_equal(choice.drift, 1);
        if (best != 4) assert_int_equal(s->best_diffusion, parts[best].best);
        assert_int_equal(s->best_drift, 5);
    }
    sk_free(said[0]), sk_free(said[1]);
    case_search_free(c);
}

/* Equal shares: the one that led still leads. */
static void test_identical__lead_changes_for_a_larger_share_only(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    sk_search *s = &c->s;
    assert_int_equal(sk_renew_views(s), SOCK_OK);
    double *said = sk_doubles(ctx, s->rows->n, 1);
    for (size_t i = 0; i < 3; i++) {
        case_candidate(c, SK_DRIFT, "constant", 1);
        case_candidate(c, SK_DIFFUSION, "constant", 1);
        for (size_t k = 0; k < s->rows->n; k++) said[k] = 1 + (double)i;
        s->drift[i] = trial_of(s->rows, SK_DRIFT, said, -10);
        s->diffusion[i] = trial_of(s->rows, SK_DIFFUSION, said, -10);
    }
    s->best_diffusion = 1;
    sk_choice choice = {.drift = 1, .drift_share = {0.375, 0.375, 0.25}, .share = {0.5, 0.5}};
    assert_int_equal(sk_join_identical(s, &choice), SOCK_OK);
    assert_int_equal(choice.drift, 1);
    assert_int_equal(s->best_diffusion, 1);
    choice.drift_share[2] = 0.5;
    assert_int_equal(sk_join_identical(s, &choice), SOCK_OK);
    assert_int_equal(choice.drift, 2);
    sk_free(said);
    case_search_free(c);
}

typedef struct two_trials {
    const case_bench *b;
    const sk_trial *one, *other;
} two_trials;

static sock_status compare_once(sock_context *context, void *arg)
{
    const two_trials *w = arg;
    bool answer = false;
    return sk_same_field(context, w->b->views, w->one, w->other, &answer);
}

static void test_identical__survives_failed_allocations(void **state)
{
    (void)state;
    case_bench b = case_bench_new(ctx, 1, false, false);
    double *said = sk_doubles(ctx, b.rows->n, 1);
    sk_trial *one = trial_of(b.rows, SK_DRIFT, said, -1), *other = trial_of(b.rows, SK_DRIFT, said, -1);
    two_trials w = {&b, one, other};
    assert_true(for_single_allocations(ctx, compare_once, &w) >= 2);
    sk_trial_free(one), sk_trial_free(other);
    sk_free(said);
    case_bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identical__fields_are_compared_on_held_out_rows),
        cmocka_unit_test(test_identical__parts_become_one_under_the_simplest_name),
        cmocka_unit_test(test_identical__lead_changes_for_a_larger_share_only),
        cmocka_unit_test(test_identical__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
