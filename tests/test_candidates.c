/* test_candidates.c - the lists of candidates, written out: names, simplicities, roles, ranks. A line is a candidate:
 *
 *     name, simplicity, roles (p pilot, b basic, s short, l plain, a affine), most pivoted features
 */
#include "onecontext.h"
#include "tune/candidates.h"

#include <stdio.h>

/* n rows in d dimensions at -unit and unit in turn: their spread is the unit. */
static sk_transitions *some_rows(size_t n, size_t d, double unit)
{
    sk_transitions *t = calloc(1, sizeof *t);
    t->n = n;
    t->d = t->in = d;
    t->y = t->left = calloc(n * d, sizeof *t->y);
    for (size_t i = 0; i < n * d; i++) t->y[i] = i / d % 2 ? unit : -unit;
    return t;
}

static void put_list(char *text, size_t room, size_t count, const sk_candidate *list, sk_field field)
{
    static const unsigned role[] = {1, 2, 4, 8, 16};
    for (size_t i = 0; i < count; i++) {
        char roles[6] = "-----", *end = text + strlen(text);
        for (int k = 0; k < 5; k++)
            if (list[i].roles & role[k]) roles[k] = "pbsla"[k];
        assert_int_equal(list[i].field, field);
        assert_int_equal(list[i].learned, strstr(list[i].name, " learned") != NULL);
        assert_int_equal(list[i].diagonal, strstr(list[i].name, " diagonal") != NULL);
        assert_int_equal(list[i].own, strstr(list[i].name, " own") != NULL);
        assert_non_null(list[i].kernel);
        assert_int_equal(list[i].own_zero, list[i].learned || strncmp(list[i].name, "linear", 6) == 0);
        snprintf(end, room - strlen(text), "%s %d %s %zu\n", list[i].name, list[i].simplicity, roles, list[i].max_rank);
    }
}

enum { ROOM = 4096 };

typedef struct lists {
    char drifts[ROOM], diffusions[ROOM];
} lists;

static const sk_tune_spec usual = {.drift = "auto", .diffusion = "auto", .learned = true};

static void lists_of(const sk_tune_spec *spec, size_t n, size_t d, double unit, bool pilot, lists *out)
{
    sk_transitions *t = some_rows(n, d, unit);
    sk_candidates c;
    *out = (lists){{0}, {0}};
    if (sk_candidates_new(ctx, spec, t, pilot, &c) < 0) fail_msg("%s", sock_message(ctx));
    put_list(out->drifts, ROOM, c.drifts, c.drift, SK_DRIFT);
    put_list(out->diffusions, ROOM, c.diffusions, c.diffusion, SK_DIFFUSION);
    sk_candidates_clear(&c);
    free(t->y), free(t);
}

/* ---- What is expected; R: rank ---- */

#define DRIFTS_OF_DEGREE_1(R) "affine learned 1 -bsl- " R "\nlinear 2 -bsl- " R "\naffine 4 pbsla " R "\n"
#define DRIFTS_OF_DEGREE_2(R)                                                                                          \
    "affine learned 1 -bsl- " R "\nlinear 2 -bsl- " R "\npoly:degree=2 learned 3 -bs-- " R "\naffine 4 pbsla " R       \
    "\npoly:degree=2 6 p-s-- " R "\n"
#define DRIFTS_SCREENED(R)                                                                                             \
    "affine learned 1 -bsl- " R "\nlinear 2 -bsl- " R "\npoly:degree=2 learned 3 -bs-- " R "\naffine 4 pbsla " R "\n"
#define DRIFTS_OF_DEGREE_3(R)                                                                                          \
    "affine learned 1 -bsl- " R "\nlinear 2 -bsl- " R "\npoly:degree=2 learned 3 -bs-- " R "\naffine 4 pbsla " R       \
    "\npoly:degree=3 learned 5 --s-- " R "\npoly:degree=2 6 p-s-- " R "\npoly:degree=3 7 ----- " R "\n"
#define FOUR_DRIFTS(R)                                                                                                 \
    "gauss:eta=0.5 8 ----- " R "\ngauss:eta=1 8 ----- " R "\ngauss:eta=2 8 ----- " R "\ngauss:eta=4 8 ----- " R "\n"
#define THREE_DRIFTS(R) "gauss:eta=2 8 ----- " R "\ngauss:eta=4 8 ----- " R "\ngauss:eta=8 8 ----- " R "\n"
#define PILOT_DRIFTS(R) "affine 4 pbsla " R "\npoly:degree=2 6 p-s-- " R "\ngauss:eta=2 8 ----- 60\n"

#define CONSTANT "constant 1 pb-l- 20\nconstant diagonal 0 pb-l- 20\n"
#define AFFINE "affine 3 pb--- 20\n"
#define AFFINE_DIAGONAL "affine diagonal 2 p---- 20\naffine learned diagonal 2 ----- 20\n"
#define LINEAR "linear 2 -b--- 20\n"
#define LINEAR_DIAGONAL "linear diagonal 1 ----- 20\nlinear learned diagonal 1 ----- 20\n"
#define SQUARE "poly:degree=2 4 ----- 20\n"
#define SQUARE_DIAGONAL "poly:degree=2 diagonal 3 ----- 20\npoly:degree=2 learned diagonal 3 ----- 20\n"
#define GAUSS(ETA) "gauss:eta=" ETA " 6 ----- 20\n"
#define GAUSS_DIAGONAL(ETA) "gauss:eta=" ETA " diagonal 5 ----- 20\n"
#define GAUSS_BOTH(ETA) GAUSS(ETA) GAUSS_DIAGONAL(ETA)
#define GAUSS_DIAGONALS GAUSS_DIAGONAL("2") GAUSS_DIAGONAL("4") GAUSS_DIAGONAL("8")
#define CONSTANT_OF(R) "constant diagonal 0 pb-l- " R "\nconstant 1 pb-l- " R "\n"
#define OWN_OF(R) "affine own diagonal 2 p---- " R "\nlinear own diagonal 1 ----- " R "\n"
#define AFFINE_OWN "affine own diagonal 2 p---- 20\n"
#define LINEAR_OWN "linear own diagonal 1 ----- 20\n"
#define BOTH_OWN AFFINE_OWN "affine diagonal 2 p---- 20\n" LINEAR_OWN "linear diagonal 1 ----- 20\n"
#define POLYNOMIALS CONSTANT AFFINE AFFINE_DIAGONAL LINEAR LINEAR_DIAGONAL SQUARE SQUARE_DIAGONAL

#define ONE_DIFFUSIONS                                                                                                 \
    "constant 1 pb-l- 40\naffine 3 pb--- 40\naffine learned 3 ----- 40\nlinear 2 -b--- 40\nlinear learned 2 ----- "    \
    "40\n"                                                                                                             \
    "poly:degree=2 4 ----- 40\npoly:degree=2 learned 4 ----- 40\npoly:degree=3 5 ----- 40\n"                           \
    "poly:degree=3 learned 5 ----- 40\ngauss:eta=0.5 6 ----- 40\ngauss:eta=1 6 ----- 40\ngauss:eta=2 6 ----- 40\n"     \
    "gauss:eta=4 6 ----- 40\n"

/* ---- Dimensions ---- */

typedef struct expected {
    size_t d;
    const char *drifts, *diffusions;
} expected;

/* Beside round numbers those where a limit is met: 300 monomials, 6000 of a screen, order 120 of a full a, 2.5e9 for a
 * decomposition, 3e8 beyond ten dimensions, length scales of sqrt(d). */
static const expected whole[] = {
    {1, DRIFTS_OF_DEGREE_3("60") FOUR_DRIFTS("60"), ONE_DIFFUSIONS},
    {2, DRIFTS_OF_DEGREE_3("300") FOUR_DRIFTS("300"),
     POLYNOMIALS GAUSS_BOTH("0.5") GAUSS_BOTH("1") GAUSS_BOTH("2") GAUSS_BOTH("4")},
    {3, DRIFTS_OF_DEGREE_3("300") THREE_DRIFTS("300"), POLYNOMIALS GAUSS_BOTH("2") GAUSS_BOTH("4") GAUSS_BOTH("8")},
    {4, DRIFTS_OF_DEGREE_3("150") THREE_DRIFTS("150"), POLYNOMIALS GAUSS_BOTH("2") GAUSS_BOTH("4") GAUSS_BOTH("8")},
    {5, DRIFTS_OF_DEGREE_3("150") THREE_DRIFTS("150"), POLYNOMIALS GAUSS_BOTH("2") GAUSS_BOTH("4") GAUSS_BOTH("8")},
    {6, DRIFTS_OF_DEGREE_3("150") THREE_DRIFTS("150"),
     CONSTANT AFFINE AFFINE_DIAGONAL LINEAR LINEAR_DIAGONAL SQUARE_DIAGONAL GAUSS_BOTH("2") GAUSS_BOTH("4")
         GAUSS_BOTH("8")},
    {7, DRIFTS_OF_DEGREE_3("150") THREE_DRIFTS("150"),
     CONSTANT AFFINE AFFINE_DIAGONAL LINEAR LINEAR_DIAGONAL SQUARE_DIAGONAL GAUSS_DIAGONALS},
    {8, DRIFTS_OF_DEGREE_3("150") THREE_DRIFTS("150"),
     CONSTANT AFFINE AFFINE_DIAGONAL LINEAR LINEAR_DIAGONAL GAUSS_DIAGONALS},
    {10, DRIFTS_OF_DEGREE_3("150") THREE_DRIFTS("150"),
     CONSTANT AFFINE AFFINE_DIAGONAL LINEAR LINEAR_DIAGONAL GAUSS_DIAGONALS},
    {11, DRIFTS_OF_DEGREE_2("150") THREE_DRIFTS("150"),
     CONSTANT_OF("20") BOTH_OWN GAUSS_DIAGONAL("4") GAUSS_DIAGONAL("8")},
    {20, DRIFTS_OF_DEGREE_2("150") THREE_DRIFTS("150"), CONSTANT_OF("20") BOTH_OWN GAUSS_DIAGONAL("8")},
    {23, DRIFTS_OF_DEGREE_2("150") THREE_DRIFTS("150"), CONSTANT_OF("20") AFFINE_OWN LINEAR_OWN GAUSS_DIAGONAL("8")},
    {24, DRIFTS_SCREENED("150") THREE_DRIFTS("150"), CONSTANT_OF("20") AFFINE_OWN LINEAR_OWN GAUSS_DIAGONAL("8")},
    {32, DRIFTS_SCREENED("150") THREE_DRIFTS("150"), CONSTANT_OF("20") AFFINE_OWN LINEAR_OWN GAUSS_DIAGONAL("8")},
    {65, DRIFTS_SCREENED("150") THREE_DRIFTS("150"), CONSTANT_OF("17") OWN_OF("17")},
    {108, DRIFTS_SCREENED("150") THREE_DRIFTS("150"), CONSTANT_OF("16") OWN_OF("16")},
    {109, DRIFTS_OF_DEGREE_1("150") THREE_DRIFTS("150"), CONSTANT_OF("16") OWN_OF("16")},
    {120, DRIFTS_OF_DEGREE_1("150") THREE_DRIFTS("150"), CONSTANT_OF("15") OWN_OF("15")},
    {300, DRIFTS_OF_DEGREE_1("150") THREE_DRIFTS("150"), "constant diagonal 0 pb-l- 13\n" OWN_OF("13")},
};

static const expected pilot[] = {
    {1, PILOT_DRIFTS("60"), "constant 1 pb-l- 40\naffine 3 pb--- 40\n"},
    {2, PILOT_DRIFTS("300"), CONSTANT AFFINE "affine diagonal 2 p---- 20\n"},
    {3, PILOT_DRIFTS("300"), CONSTANT AFFINE "affine diagonal 2 p---- 20\n"},
    {5, PILOT_DRIFTS("150"), CONSTANT AFFINE "affine diagonal 2 p---- 20\n"},
    {10, PILOT_DRIFTS("150"), CONSTANT AFFINE "affine diagonal 2 p---- 20\n"},
    {20, PILOT_DRIFTS("150"), CONSTANT_OF("20") AFFINE_OWN},
    {40, "affine 4 pbsla 150\ngauss:eta=2 8 ----- 60\n", CONSTANT_OF("19") "affine own diagonal 2 p---- 19\n"},
};

static void assert_lists(const sk_tune_spec *spec, size_t n, bool first, const expected *e)
{
    lists made;
    lists_of(spec, n, e->d, 1, first, &made);
    assert_string_equal(made.drifts, e->drifts);
    assert_string_equal(made.diffusions, e->diffusions);
}

static void test_candidates__by_dimension(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) assert_lists(&usual, 2000, false, &whole[i]);
    for (size_t i = 0; i < sizeof pilot / sizeof *pilot; i++) assert_lists(&usual, 2000, true, &pilot[i]);
}

static void test_candidates__are_the_same_for_any_number_of_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_lists(&usual, 2, false, &whole[i]);
        assert_lists(&usual, 100000, false, &whole[i]);
        assert_lists(&usual, 100000, true, &pilot[i]);
    }
}

/* In six digits, as texts; of rows that do not move, in units of 1. */
static void test_candidates__length_scales_are_in_units_of_the_spread(void **state)
{
    (void)state;
    static const struct {
        double unit;
        const char *eta[4];
    } cases[] = {{3, {"1.5", "3", "6", "12"}},
                 {0.1234568, {"0.0617284", "0.123457", "0.246914", "0.493827"}},
                 {0, {"0.5", "1", "2", "4"}}};
    for (size_t i = 0; i < 3; i++) {
        lists made, first;
        char drifts[ROOM], diffusions[ROOM];
        const char *const *eta = cases[i].eta;
        lists_of(&usual, 50, 1, cases[i].unit, false, &made);
        lists_of(&usual, 50, 1, cases[i].unit, true, &first);
        snprintf(drifts, ROOM,
                 "gauss:eta=%s 8 ----- 60\ngauss:eta=%s 8 ----- 60\ngauss:eta=%s 8 ----- 60\n"
                 "gauss:eta=%s 8 ----- 60\n",
                 eta[0], eta[1], eta[2], eta[3]);
        snprintf(diffusions, ROOM,
                 "gauss:eta=%s 6 ----- 40\ngauss:eta=%s 6 ----- 40\ngauss:eta=%s 6 ----- 40\n"
                 "gauss:eta=%s 6 ----- 40\n",
                 eta[0], eta[1], eta[2], eta[3]);
        assert_string_equal(strstr(made.drifts, "gauss"), drifts);
        assert_string_equal(strstr(made.diffusions, "gauss"), diffusions);
        snprintf(drifts, ROOM, "gauss:eta=%s 8 ----- 60\n", eta[2]);
        assert_string_equal(strstr(first.drifts, "gauss"), drifts);
    }
}

/* The root of the mean over the coordinates of their variances: of 0, 1 and 8 it is the root of 3. */
static void test_candidates__spread_is_that_of_the_mean_coordinate(void **state)
{
    (void)state;
    double y[] = {5, 1, -sqrt(8), 5, 3, sqrt(8)};
    const sk_transitions t = {.n = 2, .d = 3, .y = y, .in = 3, .left = y};
    sk_candidates c;
    assert_int_equal(sk_candidates_new(ctx, &usual, &t, true, &c), SOCK_OK);
    assert_string_equal(c.drift[c.drifts - 1].name, "gauss:eta=3.4641"); /* twice */
    sk_candidates_clear(&c);
}

/* ---- Options ---- */

static void test_candidates__without_learned_weights(void **state)
{
    (void)state;
    sk_tune_spec spec = usual;
    spec.learned = false;
    assert_lists(&spec, 50, false,
                 &(expected){1,
                             "linear 2 -bsl- 60\naffine 4 pbsla 60\npoly:degree=2 6 p-s-- 60\npoly:degree=3 7 ----- "
                             "60\n" FOUR_DRIFTS("60"),
                             "constant 1 pb-l- 40\naffine 3 pb--- 40\nlinear 2 -b--- 40\npoly:degree=2 4 ----- 40\n"
                             "poly:degree=3 5 ----- 40\ngauss:eta=0.5 6 ----- 40\ngauss:eta=1 6 ----- 40\n"
                             "gauss:eta=2 6 ----- 40\ngauss:eta=4 6 ----- 40\n"});
    assert_lists(&spec, 50, false,
                 &(expected){11,
                             "linear 2 -bsl- 150\naffine 4 pbsla 150\npoly:degree=2 6 p-s-- 150\n" THREE_DRIFTS("150"),
                             CONSTANT_OF("20") BOTH_OWN GAUSS_DIAGONAL("4") GAUSS_DIAGONAL("8")});
}

static void test_candidates__full_or_diagonal_only(void **state)
{
    (void)state;
    sk_tune_spec full = usual, diagonal = usual;
    full.full_only = true;
    diagonal.diagonal_only = true;
    assert_lists(&full, 50, false, &whole[0]);
    assert_lists(&diagonal, 50, false, &whole[0]);
    assert_lists(
        &full, 50, false,
        &(expected){3, whole[2].drifts, "constant 1 pb-l- 20\n" AFFINE LINEAR SQUARE GAUSS("2") GAUSS("4") GAUSS("8")});
    assert_lists(
        &diagonal, 50, false,
        &(expected){3, whole[2].drifts,
                    "constant diagonal 0 pb-l- 20\n" AFFINE_DIAGONAL LINEAR_DIAGONAL SQUARE_DIAGONAL GAUSS_DIAGONALS});
    assert_lists(&full, 50, true, &(expected){3, pilot[2].drifts, "constant 1 pb-l- 20\n" AFFINE});
    assert_lists(&diagonal, 50, true,
                 &(expected){3, pilot[2].drifts, "constant diagonal 0 pb-l- 20\naffine diagonal 2 p---- 20\n"});
}

/* A named diffusion has the pilot of all; a named drift is in the pilot alone. */
static void test_candidates__named_kernels(void **state)
{
    (void)state;
    sk_tune_spec spec = usual;
    spec.drift = "poly:degree=4";
    spec.diffusion = "gauss:eta=1.5";
    assert_lists(&spec, 50, false, &(expected){1, "poly:degree=4 0 ----- 60\n", "gauss:eta=1.5 1 ----- 40\n"});
    assert_lists(
        &spec, 50, false,
        &(expected){4, "poly:degree=4 0 ----- 150\n", "gauss:eta=1.5 1 ----- 20\ngauss:eta=1.5 diagonal 0 ----- 20\n"});
    assert_lists(&spec, 50, false,
                 &(expected){100, "poly:degree=4 0 ----- 150\n",
                             "gauss:eta=1.5 diagonal 0 ----- 16\ngauss:eta=1.5 1 ----- 16\n"});
    assert_lists(&spec, 50, true, &(expected){2, "poly:degree=4 0 ----- 300\n", pilot[1].diffusions});
    spec.diagonal_only = true;
    assert_lists(&spec, 50, false,
                 &(expected){4, "poly:degree=4 0 ----- 150\n", "gauss:eta=1.5 diagonal 0 ----- 20\n"});
}

/* 44 at most. */
static void test_candidates__named_diffusion_with_too_many_features(void **state)
{
    (void)state;
    sk_tune_spec spec = usual;
    sk_transitions *t = some_rows(50, 1, 1);
    sk_candidates c;
    spec.diffusion = "poly:degree=43";
    assert_int_equal(sk_candidates_new(ctx, &spec, t, false, &c), SOCK_OK);
    assert_int_equal(c.diffusions, 1);
    assert_string_equal(c.diffusion[0].name, "poly:degree=43");
    sk_candidates_clear(&c);
    spec.diffusion = "poly:degree=44";
    assert_int_equal(sk_candidates_new(ctx, &spec, t, false, &c), SOCK_EUSAGE);
    assert_non_null(strstr(sock_message(ctx), "'poly:degree=44' with 45 features; allowed while tuning: at most 44"));
    assert_true(c.drifts == 0 && !c.drift && c.diffusions == 0 && !c.diffusion);
    free(t->y), free(t);
}

static void assert_refused(size_t d, const char *drift, const char *diffusion, const char *words)
{
    sk_tune_spec spec = usual;
    sk_transitions *t = some_rows(50, d, 1);
    sk_candidates c;
    spec.drift = drift;
    spec.diffusion = diffusion;
    sk_begin(ctx);
    assert_true(sk_candidates_new(ctx, &spec, t, false, &c) < 0);
    if (!strstr(sock_message(ctx), words)) fail_msg("%s", sock_message(ctx));
    assert_true(c.drifts == 0 && !c.drift && c.diffusions == 0 && !c.diffusion);
    free(t->y), free(t);
}

/* A kernel that these dimensions do not have, and one with more features than fit anywhere. */
static void test_candidates__what_cannot_be_made_is_refused(void **state)
{
    (void)state;
    assert_refused(1, "divfree:eta=1", "auto", "drift");
    assert_refused(1, "auto", "divfree:eta=1", "diffusion");
    assert_refused(40, "auto", "poly:degree=30", "diffusion");
}

static sock_status make_some(sock_context *context, void *arg)
{
    sk_candidates c;
    SK_TRY(sk_candidates_new(context, &usual, arg, false, &c));
    sk_candidates_clear(&c);
    return SOCK_OK;
}

/* A length scale is a text of 1e-100 to 1e100: states beyond are refused by their spread, not by a text of our own. */
static void test_candidates__states_that_no_length_scale_fits(void **state)
{
    (void)state;
    static const double unit[] = {2e99, 5e-100, 5e98, 2e-99};
    for (size_t i = 0; i < 4; i++)
        for (int named = 0; named < 2; named++) {
            sk_begin(ctx);
            sk_transitions *rows = some_rows(8, 1, unit[i]);
            sk_tune_spec spec = {.drift = named ? "affine" : "auto", .diffusion = named ? "constant" : "auto"};
            sk_candidates list;
            const sock_status status = sk_candidates_new(ctx, &spec, rows, false, &list);
            assert_int_equal(status, i < 2 && !named ? SOCK_EINPUT : SOCK_OK);
            if (status < 0 && !strstr(sock_message(ctx), i ? "spread by 5e-100" : "spread by 2e+99"))
                fail_msg("%s", sock_message(ctx));
            sk_begin(ctx);
            sk_candidates_clear(&list);
            free(rows->y), free(rows);
        }
}

static void test_candidates__any_allocation_may_fail(void **state)
{
    (void)state;
    sk_transitions *t = some_rows(10, 2, 1);
    assert_true(for_each_allocation(ctx, make_some, t) > 50);
    free(t->y), free(t);
}

/* ---- Bounds ---- */

/* What is tried beside the rest for rows with these bounds. */
static void bounded_of(size_t d, double lower, double upper, bool diagonal, char *out)
{
    sk_transitions *t = some_rows(8, d, 1);
    double low[8], high[8];
    sk_tune_spec spec = usual;
    sk_candidates c;
    for (size_t k = 0; k < d; k++) low[k] = lower, high[k] = upper;
    spec.diagonal_only = diagonal;
    sk_bounds *bounds = NULL;
    assert_int_equal(sk_bounds_new(ctx, d, low, high, 8, t->y, &bounds), SOCK_OK);
    t->bounds = bounds;
    assert_int_equal(sk_candidates_new(ctx, &spec, t, false, &c), SOCK_OK);
    *out = 0;
    for (size_t i = 0; i < c.diffusions; i++)
        if (sk_kernel_is_bounded(c.diffusion[i].kernel)) {
            assert_true(!c.diffusion[i].roles && !c.diffusion[i].own_zero == !c.diffusion[i].learned);
            snprintf(out + strlen(out), ROOM - strlen(out), "%s %d\n", c.diffusion[i].name, c.diffusion[i].simplicity);
        }
    sk_candidates_clear(&c);
    assert_int_equal(sk_candidates_new(ctx, &spec, t, true, &c), SOCK_OK);
    for (size_t i = 0; i < c.diffusions; i++) assert_false(sk_kernel_is_bounded(c.diffusion[i].kernel));
    sk_candidates_clear(&c);
    sk_bounds_free(bounds);
    free(t->y), free(t);
}

static void test_candidates__of_bounded_states(void **state)
{
    (void)state;
    const double none = (double)INFINITY;
    char text[ROOM];
    bounded_of(1, -2, none, false, text);
    assert_string_equal(text, "rates:degree=1 2\nrates:degree=2 4\nrates:degree=2 learned 3\nrates:degree=3 5\n"
                              "linear:in=root 2\naffine:in=root 3\npoly:degree=2,in=root 4\n");
    bounded_of(1, -2, 2, false, text);
    assert_string_equal(text,
                        "rates:degree=1,bounds=b 2\nrates:degree=2,bounds=b 4\nrates:degree=2,bounds=b learned 3\n"
                        "rates:degree=3,bounds=b 5\nlinear:in=root,bounds=b 2\naffine:in=root,bounds=b 3\n"
                        "poly:degree=2,in=root,bounds=b 4\n");
    bounded_of(3, -2, none, false, text);
    assert_string_equal(text, "rates:degree=1 2\nrates:degree=2 4\nrates:degree=2 learned 3\nlinear:in=root 2\n"
                              "affine:in=root 3\npoly:degree=2,in=root 4\n");
    bounded_of(3, -2, none, true, text);
    assert_non_null(strstr(text, "rates:degree=2 learned diagonal 2\n"));
    bounded_of(8, -2, none, false, text); /* degree 2 costs too much */
    assert_string_equal(text, "rates:degree=1 2\nlinear:in=root 2\naffine:in=root 3\n");
    bounded_of(2, -none, none, false, text);
    assert_string_equal(text, "");
}

static void refuse(const char *drift, const char *diffusion, const char *why)
{
    sk_tune_spec spec = usual;
    sk_transitions *t = some_rows(8, 1, 1);
    sk_candidates c;
    spec.drift = drift;
    spec.diffusion = diffusion;
    sk_begin(ctx);
    assert_int_equal(sk_candidates_new(ctx, &spec, t, false, &c), SOCK_EUSAGE);
    if (!strstr(sock_message(ctx), why)) fail_msg("%s", sock_message(ctx));
    free(t->y), free(t);
}

static void test_candidates__kernels_of_bounds_need_bounds(void **state)
{
    (void)state;
    refuse("auto", "rates:degree=2", "needs a state with a bound");
    refuse("auto", "linear:in=root", "needs a state with a bound");
    refuse("rates:degree=2", "auto", "are for the diffusion");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidates__by_dimension),
        cmocka_unit_test(test_candidates__are_the_same_for_any_number_of_rows),
        cmocka_unit_test(test_candidates__length_scales_are_in_units_of_the_spread),
        cmocka_unit_test(test_candidates__spread_is_that_of_the_mean_coordinate),
        cmocka_unit_test(test_candidates__without_learned_weights),
        cmocka_unit_test(test_candidates__full_or_diagonal_only),
        cmocka_unit_test(test_candidates__named_kernels),
        cmocka_unit_test(test_candidates__named_diffusion_with_too_many_features),
        cmocka_unit_test(test_candidates__what_cannot_be_made_is_refused),
        cmocka_unit_test(test_candidates__states_that_no_length_scale_fits),
        cmocka_unit_test(test_candidates__any_allocation_may_fail),
        cmocka_unit_test(test_candidates__of_bounded_states),
        cmocka_unit_test(test_candidates__kernels_of_bounds_need_bounds),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
