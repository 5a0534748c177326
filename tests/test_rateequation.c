/* test_rateequation.c - a as reactions: texts of models whose rates are known, and which part they are taken of. */
#include "api/rateequation.h"
#include "onecontext.h"

#include <string.h>

enum { S2, SI, I2, S, I, ONE, FEATURES }; /* of rates:degree=2 in two states; weights 1, 2, 1, 2, 2, 1 */

static sk_features *features(const char *text, size_t d)
{
    sk_kernel *kernel = NULL;
    sk_features *map = NULL;
    if (sk_kernel_parse(ctx, "diffusion", text, &kernel) < 0) fail_msg("%s: %s", text, sock_message(ctx));
    if (sk_features_new(ctx, "diffusion", kernel, d, 0, NULL, &map) < 0) fail_msg("%s: %s", text, sock_message(ctx));
    sk_kernel_free(kernel);
    return map;
}

/* One column of V: feature m, and what it does to each state. */
typedef struct column {
    size_t m;
    double v[2];
} column;

static void add_term(sock_model *model, const char *kernel, double share, size_t rank, const column *columns)
{
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    term->d = model->d;
    term->rank = rank;
    term->map = features(kernel, model->d);
    const size_t p = sk_features_count(term->map);
    term->v = sk_doubles(ctx, model->d * p, rank);
    for (size_t c = 0; c < rank; c++)
        for (size_t k = 0; k < model->d; k++)
            term->v[(k * p + columns[c].m) * rank + c] = sqrt(share) * columns[c].v[k];
    assert_int_equal(sk_model_add_diffusion(ctx, model, term), SOCK_OK);
}

static sock_model *new_model(size_t d)
{
    sock_model *model = NULL;
    assert_int_equal(sk_model_new(ctx, d, (const char *const[]){"S", "I"}, &model), SOCK_OK);
    return model;
}

/* Means over the data: of S and I 2, of S I 3, of S^2 5, of I^2 5. */
static sock_data *points(size_t d)
{
    const size_t length = 2;
    const double t[] = {0, 1}, both[] = {1, 3, 3, 1}, one[] = {1, 3};
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, d, 1, &length, t, d == 1 ? one : both, NULL, NULL, NULL, &data),
                     SOCK_OK);
    return data;
}

static sk_record record_of(const char *parts)
{
    sk_record record;
    char text[512];
    snprintf(text, sizeof text, "{\"tuned\":true,\"diffusions\":[%s]}", parts);
    assert_int_equal(sk_record_read(ctx, text, &record), SOCK_OK);
    return record;
}

/* The equation of the model, beside these parts; NULL: it must have none. Frees the model. */
static void expect(sock_model *model, const char *parts, const char *equation, double share)
{
    sock_data *data = points(model->d);
    sk_record record = record_of(parts);
    assert_int_equal(sk_rate_equation_add(ctx, model, data, &record), SOCK_OK);
    if (equation) {
        assert_non_null(record.diffusion_equation);
        assert_string_equal(record.diffusion_equation, equation);
        assert_close(record.diffusion_equation_share, share, 1e-15, 0);
    } else
        assert_null(record.diffusion_equation);
    sk_record_clear(&record);
    sock_data_free(data);
    sock_model_free(model);
}

static const char *const whole = "{\"kernel\":\"rates:degree=2\",\"share\":1}";

/* c m(x) v v', v scaled to largest entry 1 and its last one positive: 2 * 0.01 of S I, 2 * 0.25 of I, 4 of 1. */
static void test_rateequation__is_a_of_known_reactions(void **state)
{
    (void)state;
    const column columns[] = {{SI, {0.1, -0.1}}, {I, {0, -0.5}}, {ONE, {2, 0}}};
    sock_model *model = new_model(2);
    add_term(model, "rates:degree=2", 1, 3, columns);
    expect(model, whole, "a = 4*[1 0]' + 0.5*I*[0 1]' + 0.02*S*I*[-1 1]'", 1);
    const column one[] = {{0, {3}}, {2, {1}}}; /* S^2 and 1 of one state: no vectors */
    model = new_model(1);
    add_term(model, "rates:degree=2", 1, 2, one);
    expect(model, whole, "a = 9*S^2 + 1", 1);
}

/* Two columns of one feature: the eigenvectors of Q, and those of tiny eigenvalues are none. Q = [5 4; 4 5] has 9 along
 * (1, 1) / sqrt 2 and 1 along (1, -1) / sqrt 2. */
static void test_rateequation__reactions_of_one_rate_are_eigenvectors(void **state)
{
    (void)state;
    const column columns[] = {{I, {2, 1}}, {I, {1, 2}}};
    sock_model *model = new_model(2);
    add_term(model, "rates:degree=2", 1, 2, columns);
    expect(model, whole, "a = 9*I*[1 1]' + 1*I*[-1 1]'", 1);
}

/* By their part of the trace over the data, not by their coefficients: S^2 has the mean 5, 1 the mean 1. */
static void test_rateequation__the_largest_part_of_the_trace_first(void **state)
{
    (void)state;
    const column columns[] = {{S, {0.1, 0}}, {ONE, {0.3, 0}}, {S2, {0.2, 0}}, {I2, {0, 0.25}}};
    sock_model *model = new_model(2);
    add_term(model, "rates:degree=2", 1, 4, columns);
    expect(model, whole, "a = 0.0625*I^2*[0 1]' + 0.04*S^2*[1 0]' + 0.09*[1 0]' + 0.02*S*[1 0]'", 1);
}

/* Below a hundredth of the trace: left out, whatever the size of all of it. */
static void test_rateequation__what_is_small_beside_the_others_is_left_out(void **state)
{
    (void)state;
    const struct {
        double size;
        const char *text;
    } cases[] = {{sqrt(1.03e-2 * 4e-3), "a = 0.002*I*[0 1]' + 4.12e-05*[1 0]'"},
                 {sqrt(0.98e-2 * 4e-3), "a = 0.002*I*[0 1]'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const column columns[] = {{I, {0, sqrt(1e-3)}}, {ONE, {cases[i].size, 0}}}; /* traces 4e-3 and size^2 */
        sock_model *model = new_model(2);
        add_term(model, "rates:degree=2", 1, 2, columns);
        expect(model, whole, cases[i].text, 1);
    }
}

/* Entries to two digits behind the point, nothing below 0.005; which one is the last of size. */
static void test_rateequation__vectors(void **state)
{
    (void)state;
    const struct {
        double v[2];
        const char *text;
    } cases[] = {{{1, -0.254}, "a = 1*[-1 0.25]'"},
                 {{-2, 0.0098}, "a = 4*[1 0]'"}, /* -0.0049 */
                 {{1, 0.0051}, "a = 1*[1 0.01]'"},
                 {{-1, 0.099}, "a = 1*[1 -0.1]'"}, /* below a tenth: the first is the last of size */
                 {{-1, 0.101}, "a = 1*[-1 0.1]'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const column one = {ONE, {cases[i].v[0], cases[i].v[1]}};
        sock_model *model = new_model(2);
        add_term(model, "rates:degree=2", 1, 1, &one);
        expect(model, whole, cases[i].text, 1);
    }
}

/* Of an average the rates that were learned, else those of the largest share, divided by it; the terms are told apart
 * by their number of features, and of two alike the learned one has fewer. */
static void test_rateequation__which_part(void **state)
{
    (void)state;
    const struct {
        const char *parts, *text;
        double share;
    } cases[] = {{"{\"kernel\":\"constant\",\"share\":0.5},{\"kernel\":\"rates:degree=2\",\"share\":0.3},"
                  "{\"kernel\":\"rates:degree=2 learned\",\"share\":0.2,\"learned\":true}",
                  "a = 18*I*[0 1]'", 0.2},
                 {"{\"kernel\":\"rates:degree=2\",\"share\":0.3},"
                  "{\"kernel\":\"rates:degree=2 learned\",\"share\":0.049,\"learned\":true}",
                  "a = 8*S*[1 0]' + 1*[0 1]'", 0.3},
                 {"{\"kernel\":\"rates:degree=1\",\"share\":0.06}", "a = 16*S*[0 1]'", 0.06},
                 {"{\"kernel\":\"rates:degree=1\",\"share\":0.05},{\"kernel\":\"rates:degree=2\",\"share\":0.05}",
                  "a = 16*S*[0 1]'", 0.05},
                 {"{\"kernel\":\"rates:degree=2\",\"share\":0.0499},{\"kernel\":\"linear\",\"share\":0.9}", NULL, 0},
                 {"{\"kernel\":\"rates:degree=3\",\"share\":0.5}", NULL, 0}, /* no term has its features */
                 {"{\"kernel\":\"affine\",\"share\":1}", NULL, 0},
                 {"", NULL, 0}};
    const column first[] = {{S, {2, 0}}, {ONE, {0, 1}}}, learned = {I, {0, 3}}, low = {0, {0, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int turned = 0; turned < 2; turned++) {
            sock_model *model = new_model(2);
            const double share = cases[i].share > 0 ? cases[i].share : 1;
            add_term(model, "poly:degree=2", 1, 1, &learned);
            if (turned) add_term(model, "rates:degree=2", share, 1, &learned);
            add_term(model, "rates:degree=2", share, 2, first);
            if (!turned) add_term(model, "rates:degree=2", share, 1, &learned);
            add_term(model, "rates:degree=1", share, 1, &low);
            expect(model, cases[i].parts, cases[i].text, share);
        }
}

typedef struct given {
    const sock_model *model;
    const sock_data *data;
} given;

static sock_status add_equation(sock_context *context, void *arg)
{
    const given *g = arg;
    sk_record record = record_of(whole);
    const sock_status status = sk_rate_equation_add(context, g->model, g->data, &record);
    sk_record_clear(&record);
    return status;
}

static void test_rateequation__survives_every_failed_allocation(void **state)
{
    (void)state;
    const column columns[] = {{SI, {0.1, -0.1}}, {ONE, {2, 0}}};
    sock_model *model = new_model(2);
    sock_data *data = points(2);
    sock_context *other = sock_context_new();
    add_term(model, "rates:degree=2", 1, 2, columns);
    given g = {model, data};
    assert_true(for_single_allocations(other, add_equation, &g) > 8);
    sock_context_free(other);
    sock_data_free(data);
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rateequation__is_a_of_known_reactions),
        cmocka_unit_test(test_rateequation__reactions_of_one_rate_are_eigenvectors),
        cmocka_unit_test(test_rateequation__the_largest_part_of_the_trace_first),
        cmocka_unit_test(test_rateequation__what_is_small_beside_the_others_is_left_out),
        cmocka_unit_test(test_rateequation__vectors),
        cmocka_unit_test(test_rateequation__which_part),
        cmocka_unit_test(test_rateequation__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
