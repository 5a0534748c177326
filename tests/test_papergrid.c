/* test_papergrid.c - grids that grow: places that are tried, told by a trial whose best place is known. */
#include "onecontext.h"
#include "paper/paperstate.h"

#include <string.h>

enum { MOST = 200 };

static struct {
    size_t calls, count[MOST];
    double eta[MOST], first[MOST], last[MOST];
} tried;

static double best_eta, best_l;
static bool hopeless;

/* The farther in octaves and decades, the worse; a kernel without eta counts by l alone. */
static sock_status attempt(sk_paper *p, double eta, size_t count, const double *l, sk_paper_found *best)
{
    (void)p;
    tried.count[tried.calls] = count;
    tried.eta[tried.calls] = eta;
    tried.first[tried.calls] = l[0];
    tried.last[tried.calls++] = l[count - 1];
    for (size_t j = 0; j < count; j++) {
        const double far = isnan(eta) ? 0 : log2(eta / best_eta);
        const double score = hopeless ? -(double)INFINITY : -far * far - pow(log10(l[j] / best_l), 2);
        if (best->any && !(score > best->best.score)) continue;
        best->any = true;
        best->best = (sk_paper_place){.eta = eta, .l = l[j], .score = score};
    }
    return SOCK_OK;
}

static sk_paper_found search(const char *named, double eta, double l, const sk_paper_grid *grid, sock_status expected)
{
    const sk_tune_spec spec = {0};
    sk_paper p = {.ctx = ctx, .spec = &spec, .distance = 2};
    sk_paper_found best = {0};
    memset(&tried, 0, sizeof tried);
    best_eta = eta;
    best_l = l;
    assert_int_equal(sk_paper_search_grid(&p, named, attempt, grid, &best), expected);
    assert_false(p.limited);
    return best;
}

/* eta 0.5 .. 8, l 1 .. 1e-9 */
static const sk_paper_grid *const fine = &sk_paper_drift_grid;

static void test_papergrid__a_best_place_inside_is_found_at_once(void **state)
{
    (void)state;
    const sk_paper_found best = search("auto", 2, 1e-3, fine, SOCK_OK);
    assert_close(best.best.eta, 2, 1e-12, 0);
    assert_close(best.best.l, 1e-3, 1e-12, 0);
    assert_false(best.edge);
    assert_int_equal(tried.calls, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_close(tried.eta[i], 0.5 * pow(2, (double)i), 1e-12, 0);
        assert_close(tried.last[i], 1e-9, 1e-12, 0);
        assert_true(tried.first[i] == 1 && tried.count[i] == 10);
    }
}

static void test_papergrid__grows_at_the_ends_of_eta(void **state)
{
    (void)state;
    sk_paper_found best = search("auto", 0.3, 1e-3, fine, SOCK_OK); /* 0.25 is nearer than 0.5, and 0.125 is not */
    assert_close(best.best.eta, 0.25, 1e-12, 0);
    assert_false(best.edge);
    assert_int_equal(tried.calls, 7);
    assert_close(tried.eta[5], 0.25, 1e-12, 0);
    assert_close(tried.eta[6], 0.125, 1e-12, 0);
    best = search("auto", 1e-3, 1e-3, fine, SOCK_OK); /* three times at most */
    assert_close(best.best.eta, 0.0625, 1e-12, 0);
    assert_true(best.edge);
    assert_int_equal(tried.calls, 8);
    best = search("auto", 17, 1e-3, fine, SOCK_OK);
    assert_close(best.best.eta, 16, 1e-12, 0);
    assert_false(best.edge);
    assert_int_equal(tried.calls, 7);
    best = search("auto", 1e4, 1e-3, fine, SOCK_OK);
    assert_close(best.best.eta, 64, 1e-12, 0);
    assert_true(best.edge);
}

/* Of l only the lower end, by three places of the best eta; at the other one every fit is 0, and that is told. */
static void test_papergrid__grows_at_the_lower_end_of_l(void **state)
{
    (void)state;
    sk_paper_found best = search("auto", 4, 1e-11, fine, SOCK_OK);
    assert_close(best.best.l, 1e-11, 1e-9, 0);
    assert_false(best.edge);
    assert_int_equal(tried.calls, 6);
    assert_close(tried.eta[5], 4, 1e-12, 0);
    assert_close(tried.first[5], 1e-10, 1e-9, 0);
    assert_close(tried.last[5], 1e-12, 1e-9, 0);
    best = search("auto", 4, 1e-13, fine, SOCK_OK);
    assert_close(best.best.l, 1e-13, 1e-9, 0);
    assert_false(best.edge);
    best = search("auto", 4, 1e-30, fine, SOCK_OK);
    assert_close(best.best.l, 1e-18, 1e-9, 0);
    assert_true(best.edge);
    assert_int_equal(tried.calls, 8);
    best = search("auto", 4, 30, fine, SOCK_OK);
    assert_true(best.edge && best.best.l == 1);
    assert_int_equal(tried.calls, 5);
}

/* A kernel that the user named has one eta, its own. */
static void test_papergrid__a_named_kernel_has_l_alone(void **state)
{
    (void)state;
    sk_paper_found best = search("linear", 1, 1e-4, fine, SOCK_OK);
    assert_int_equal(tried.calls, 1);
    assert_true(isnan(tried.eta[0]) && isnan(best.best.eta) && !best.edge);
    best = search("linear", 1, 1e-10, fine, SOCK_OK);
    assert_int_equal(tried.calls, 2);
    assert_true(isnan(tried.eta[1]) && !best.edge);
    assert_close(best.best.l, 1e-10, 1e-9, 0);
}

/* Steps of two decades: the places between the best and its neighbours, but none above 1. */
static void test_papergrid__coarse_grids_are_refined(void **state)
{
    (void)state;
    bool large;
    const sk_paper_grid *coarse = sk_paper_grid_of(100, &large);
    sk_paper_found best = search("auto", 2, 1.6e-5, coarse, SOCK_OK);
    assert_close(best.best.l, 1e-5, 1e-9, 0);
    assert_int_equal(tried.calls, 6);
    assert_int_equal(tried.count[5], 2);
    assert_close(tried.first[5], 1e-3, 1e-9, 0);
    assert_close(tried.last[5], 1e-5, 1e-9, 0);
    best = search("auto", 2, 0.2, coarse, SOCK_OK);
    assert_close(best.best.l, 0.1, 1e-9, 0);
    assert_int_equal(tried.count[5], 1);
    assert_false(best.edge);
}

static void test_papergrid__no_score_is_a_failure(void **state)
{
    (void)state;
    hopeless = true;
    search("auto", 2, 1e-3, fine, SOCK_ENUMERIC);
    hopeless = false;
    assert_non_null(strstr(sock_message(ctx), "give --delta > 0"));
}

/* One eta is always tried; what is left out after it is counted: the other etas, then a growth, then the refinement. */
static void test_papergrid__ends_with_the_budget(void **state)
{
    (void)state;
    bool large;
    const sk_tune_spec spec = {.budget = 1};
    sk_paper p = {.ctx = ctx, .spec = &spec, .distance = 2, .start = sk_seconds() - 10};
    sk_paper_found best = {0};
    memset(&tried, 0, sizeof tried);
    best_eta = 2;
    best_l = 1e-4;
    assert_int_equal(sk_paper_search_grid(&p, "auto", attempt, sk_paper_grid_of(100, &large), &best), SOCK_OK);
    assert_int_equal(tried.calls, 1);
    assert_true(p.limited && p.skipped == 3 && best.edge);
    p.start = sk_seconds();
    p.limited = false;
    assert_false(sk_paper_out_of_time(&p) || p.limited);
}

/* ---- Which grid ---- */

static void test_papergrid__by_the_number_of_unknowns(void **state)
{
    (void)state;
    bool large;
    const sk_paper_grid *small = sk_paper_grid_of(150, &large), *medium = sk_paper_grid_of(151, &large);
    assert_false(large);
    assert_true(sk_paper_grid_of(1, &large) == small && sk_paper_grid_of(300, &large) == medium && !large);
    const sk_paper_grid *most = sk_paper_grid_of(301, &large);
    assert_true(large && most != medium && medium != small);
    const sk_paper_grid *const grid[] = {fine, small, medium, most};
    static const struct {
        size_t places, growths, grown;
        double least, largest, lowest; /* of eta in median distances, and of l */
    } told[] = {
        {50, 3, 3, 0.25, 4, 1e-9}, {25, 3, 1, 0.25, 4, 1e-8}, {12, 3, 1, 0.5, 4, 1e-4}, {12, 1, 1, 0.5, 4, 1e-4}};
    for (size_t i = 0; i < 4; i++) {
        const sk_paper_grid *g = grid[i];
        assert_int_equal(g->etas * g->lambdas, told[i].places);
        assert_true(g->growths == told[i].growths && g->grown == told[i].grown && g->least == told[i].least);
        assert_close(g->least * pow(2, (double)(g->etas - 1)), told[i].largest, 1e-12, 0);
        assert_close(pow(g->step, (double)(g->lambdas - 1)), told[i].lowest, 1e-9, 0);
    }
}

/* Half of it, it, twice it; a kernel without eta keeps its grid. */
static void test_papergrid__around_what_was_found(void **state)
{
    (void)state;
    bool large;
    const sk_paper_grid *grid = sk_paper_grid_of(100, &large);
    const sk_paper_grid near = sk_paper_grid_near(grid, 3, 2), same = sk_paper_grid_near(grid, (double)NAN, 2);
    search("auto", 3, 1e-4, &near, SOCK_OK);
    assert_int_equal(tried.calls, 4);
    for (size_t i = 0; i < 3; i++) assert_close(tried.eta[i], 1.5 * pow(2, (double)i), 1e-12, 0);
    assert_true(near.lambdas == grid->lambdas && near.step == grid->step);
    assert_true(same.etas == grid->etas && same.least == grid->least);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_papergrid__a_best_place_inside_is_found_at_once),
        cmocka_unit_test(test_papergrid__grows_at_the_ends_of_eta),
        cmocka_unit_test(test_papergrid__grows_at_the_lower_end_of_l),
        cmocka_unit_test(test_papergrid__a_named_kernel_has_l_alone),
        cmocka_unit_test(test_papergrid__coarse_grids_are_refined),
        cmocka_unit_test(test_papergrid__no_score_is_a_failure),
        cmocka_unit_test(test_papergrid__ends_with_the_budget),
        cmocka_unit_test(test_papergrid__by_the_number_of_unknowns),
        cmocka_unit_test(test_papergrid__around_what_was_found),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
