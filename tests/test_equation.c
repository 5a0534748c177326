/* test_equation.c - the equation that a model prints is the model's drift, also when that is an average of polynomials.
 */
#include "api/equation.h"
#include "tune/heldmodel.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

#include <stdlib.h>

/* By the left point, without a model. */
static sk_views *left_views(const sk_transitions *rows)
{
    sk_view_spec look = case_look(NULL, false);
    look.conditional = false;
    return case_views(ctx, rows, &look);
}

static sk_trial *drift_of(const sk_views *views, const char *kernel)
{
    sk_candidate candidate = {.name = sk_strdup(ctx, kernel), .kernel = case_kernel(ctx, kernel), .max_rank = 20};
    sk_trial *r = NULL;
    if (sk_try_drift(ctx, views, &candidate, sk_views_rows(views)->folds, &r) < 0) fail_msg("%s", sock_message(ctx));
    sk_candidate_clear(&candidate);
    return r;
}

/* The value of "dx0/dt = 1.5 - 0.2*x0^2*x1 + ..." at x, the sum of the terms' sizes, and their number. */
static double value_at(const char *text, const double *x, double *size, size_t *terms)
{
    double sum = 0;
    *size = 0;
    *terms = 0;
    text = strstr(text, " = ") + 3;
    for (double sign = 1; *text; ++*terms) {
        char *end;
        double one = sign * strtod(text, &end);
        for (text = end; *text == '*';) {
            assert_int_equal(text[1], 'x');
            size_t k = (size_t)strtoul(text + 2, &end, 10);
            double power = *end == '^' ? strtod(end + 1, &end) : 1;
            one *= pow(x[k], power);
            text = end;
        }
        sum += one;
        *size += fabs(one);
        if (!*text) continue;
        assert_int_equal(text[0], ' ');
        sign = text[1] == '-' ? -1 : 1;
        text += 3;
    }
    return sum;
}

/* Affine and quadratic share the terms 1, x0 and x1: six terms are printed, not nine, and they are f. */
static void prop_equation_of_an_average_is_its_drift(void **state)
{
    (void)state;
    static const double share[] = {0.25, 0.75}, x[] = {0.3, -1.1, 1.7, 0.4, -0.6, -0.2};
    sk_transitions *rows = case_rows(ctx, 2, false);
    sk_views *views = left_views(rows);
    sk_trial *f[] = {drift_of(views, "affine"), drift_of(views, "poly:degree=2")};
    const sk_held_model held = {.drift = {2, f, share}};
    sock_model *model = NULL;
    double truth[6];
    sk_record record;
    sk_record_init(&record);
    assert_int_equal(sk_held_model_without(ctx, &held, rows->folds, NULL, &model), SOCK_OK);
    assert_int_equal(sk_model_evaluate(ctx, model, 3, x, truth, NULL), SOCK_OK);
    assert_int_equal(sk_equation_add(ctx, model, &record), SOCK_OK);
    assert_int_equal(record.equation.count, 2);
    for (size_t i = 0; i < 6; i++) {
        const char *text = record.equation.text[i % 2];
        double size;
        size_t terms;
        double value = value_at(text, x + i - i % 2, &size, &terms);
        assert_int_equal(terms, 6);
        assert_close(value, truth[i], 5e-4, size); /* four digits are printed */
    }
    sk_record_clear(&record);
    sock_model_free(model);
    sk_trial_free(f[0]), sk_trial_free(f[1]);
    sk_views_free(views);
    sk_transitions_free(rows);
}

static sk_record parts_of(const char *first, double share)
{
    sk_record record;
    char text[256];
    snprintf(text, sizeof text,
             "{\"drifts\":[{\"kernel\":\"gauss:eta=1\",\"share\":%.17g},{\"kernel\":\"%s\",\"share\":%.17g},"
             "{\"kernel\":\"poly:degree=2 learned\",\"share\":0.03}]}",
             1 - share - 0.03, first, share);
    assert_int_equal(sk_record_read(ctx, text, &record), SOCK_OK);
    return record;
}

/* A kernel at points has no formula, nor has an average with one. What is printed then is the average of the others:
 * the drift that is left when the Gaussian is taken away and the shares add up to one again. */
static void test_equation__of_an_average_with_a_gaussian_is_that_of_the_polynomials(void **state)
{
    (void)state;
    static const double share[] = {0.57, 0.4, 0.03}, others[] = {0, 0.4 / 0.43, 0.03 / 0.43}, x[] = {0.3, -1.1, 1.7};
    sk_transitions *rows = case_rows(ctx, 1, false);
    sk_views *views = left_views(rows);
    sk_trial *f[] = {drift_of(views, "gauss:eta=1"), drift_of(views, "affine"), drift_of(views, "poly:degree=2")};
    const sk_held_model held = {.drift = {3, f, share}}, rest = {.drift = {3, f, others}};
    sock_model *model = NULL, *left = NULL;
    double expected[3], size;
    size_t terms;
    sk_record record = parts_of("affine", 0.4), small = parts_of("affine", 0.01), unknown = parts_of("custom", 0.4);
    assert_int_equal(sk_held_model_without(ctx, &held, rows->folds, NULL, &model), SOCK_OK);
    assert_int_equal(sk_held_model_without(ctx, &rest, rows->folds, NULL, &left), SOCK_OK);
    assert_int_equal(sk_equation_add(ctx, model, &record), SOCK_OK);
    assert_int_equal(record.equation.count, 0);
    assert_int_equal(record.equation_part.count, 1);
    assert_close(record.equation_part_share, 0.43, 1e-12, 0);
    assert_int_equal(sk_model_evaluate(ctx, left, 3, x, expected, NULL), SOCK_OK);
    for (size_t i = 0; i < 3; i++) {
        double value = value_at(record.equation_part.text[0], x + i, &size, &terms);
        assert_int_equal(terms, 3);
        assert_close(value, expected[i], 5e-4, size);
    }
    assert_int_equal(sk_equation_add(ctx, model, &small), SOCK_OK);
    assert_int_equal(small.equation_part.count, 0);
    assert_int_equal(sk_equation_add(ctx, model, &unknown), SOCK_OK);
    assert_int_equal(unknown.equation_part.count, 0);
    sk_record_clear(&record), sk_record_clear(&small), sk_record_clear(&unknown);
    sock_model_free(model), sock_model_free(left);
    for (size_t i = 0; i < 3; i++) sk_trial_free(f[i]);
    sk_views_free(views);
    sk_transitions_free(rows);
}

/* What the drift of one state is, text for text, by the origin and units of its features. */
static void check_text(const char *kernel, const double *weight, double origin, double unit, const char *text)
{
    sock_model *model = NULL;
    sk_drift_term *term = sk_alloc(ctx, 1, sizeof *term);
    sk_kernel *parsed = case_kernel(ctx, kernel);
    sk_record record;
    sk_record_init(&record);
    assert_int_equal(sk_features_new(ctx, "drift", parsed, 1, 0, NULL, &term->map), SOCK_OK);
    const size_t p = sk_features_count(term->map);
    term->d = 1;
    term->weight = sk_doubles(ctx, p, 1);
    memcpy(term->weight, weight, p * sizeof *weight);
    assert_int_equal(sk_features_set_units(ctx, term->map, &origin, &unit), SOCK_OK);
    assert_int_equal(sk_model_new(ctx, 1, (const char *const[]){"x"}, &model), SOCK_OK);
    assert_int_equal(sk_model_add_drift(ctx, model, term), SOCK_OK);
    assert_int_equal(sk_equation_add(ctx, model, &record), SOCK_OK);
    assert_string_equal(record.equation.text[0], text);
    sk_kernel_free(parsed);
    sk_record_clear(&record);
    sock_model_free(model);
}

/* affine: the weights of x and 1; poly:degree=2: of x^2, sqrt(2) x and 1. */
static void test_equation__far_from_zero_is_centred(void **state)
{
    (void)state;
    static const double root = 0.70710678118654752;
    check_text("affine", (const double[]){-1.3, 0.52}, 300, 1, "dx/dt = -1.3*(x - 300.4)");
    check_text("affine", (const double[]){-2.6, 0.52}, 300, 2, "dx/dt = -1.3*(x - 300.4)");
    check_text("affine", (const double[]){-1.3, 0.52}, -300, 1, "dx/dt = -1.3*(x + 299.6)");
    check_text("affine", (const double[]){-1.3, 0.52}, 0, 1, "dx/dt = -1.3*x + 0.52");
    check_text("affine", (const double[]){-1.3, 0}, 300, 1, "dx/dt = -1.3*(x - 300)");
    check_text("affine", (const double[]){-0.01, 3}, 300, 1, "dx/dt = 3 - 0.01*(x - 300)"); /* the root is far */
    check_text("linear", (const double[]){-1.3}, 300, 1, "dx/dt = -1.3*(x - 300)");
    check_text("affine", (const double[]){-1.3, 1e-13}, 0, 1, "dx/dt = -1.3*x"); /* what cancels leaves rounding */
    check_text("affine", (const double[]){-1.3, 1e-11}, 0, 1, "dx/dt = -1.3*x + 1e-11");
    check_text("affine", (const double[]){-1.3, 0.5}, 300.1234567, 1, "dx/dt = -1.3*(x - 300.508)");
    check_text("affine", (const double[]){-1.3, 0.5}, 0.1234567, 1, "dx/dt = -1.3*x + 0.6605");
    check_text("poly:degree=2", (const double[]){2, -1.5 * root, 0.25}, 300, 1,
               "dx/dt = 2*(x - 300)^2 - 1.5*(x - 300) + 0.25");
    check_text("poly:degree=2", (const double[]){1, 0, 0}, 0.1234567, 1, "dx/dt = 1*x^2 - 0.2469*x + 0.01524");
}

/* Random features have a text as well: each with its weight, its amplitude and its cosine, the largest first. */
static void test_equation__of_cosines(void **state)
{
    (void)state;
    const char *const names[] = {"x"};
    sk_kernel *kernel = case_kernel(ctx, "fourier:p=2,eta=1");
    sk_features *map = NULL;
    char text[512];
    double weight[2];
    assert_int_equal(sk_features_new(ctx, "drift", kernel, 1, 0, NULL, &map), SOCK_OK);
    char *label[] = {sk_features_label(ctx, map, names, 0, &weight[0]),
                     sk_features_label(ctx, map, names, 1, &weight[1])};
    snprintf(text, sizeof text, "dx/dt = -%.4g*%s + %.4g*%s", 3 * weight[1], label[1], 0.5 * weight[0], label[0]);
    check_text("fourier:p=2,eta=1", (const double[]){0.5, -3}, 0, 1, text);
    sk_free(label[0]), sk_free(label[1]);
    sk_features_free(map);
    sk_kernel_free(kernel);
}

/* Fifteen terms of x^14 .. 1, the largest in the middle of the list: twelve are shown, the largest first. */
static void test_equation__of_many_terms_shows_the_largest(void **state)
{
    (void)state;
    sk_kernel *kernel = case_kernel(ctx, "poly:degree=14");
    sk_features *map = NULL;
    double weight[15], scale;
    unsigned power;
    assert_int_equal(sk_features_new(ctx, "drift", kernel, 1, 0, NULL, &map), SOCK_OK);
    char text[512] = "dx/dt = ";
    for (size_t j = 0; j < 15; j++) { /* sizes 8, 9, .. 14, 15, 1, 2, .. 7 of x^14, x^13, .. */
        sk_features_monomial(map, j, &power, &scale);
        assert_int_equal(power, 14 - j);
        weight[j] = (double)((j + 7) % 15 + 1) / scale;
    }
    for (size_t size = 15; size > 3; size--) {
        const size_t used = strlen(text);
        sk_features_monomial(map, (size + 7) % 15, &power, &scale);
        snprintf(text + used, sizeof text - used, "%s%zu%s", size < 15 ? " + " : "", size, power ? "*x" : "");
        if (power > 1) snprintf(text + strlen(text), sizeof text - strlen(text), "^%u", power);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), " + 3 smaller terms");
    check_text("poly:degree=14", weight, 0, 1, text);
    check_text("affine", (const double[]){0, 0}, 0, 1, "dx/dt = 0");
    sk_features_free(map);
    sk_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_equation_of_an_average_is_its_drift),
        cmocka_unit_test(test_equation__of_an_average_with_a_gaussian_is_that_of_the_polynomials),
        cmocka_unit_test(test_equation__far_from_zero_is_centred), cmocka_unit_test(test_equation__of_cosines),
        cmocka_unit_test(test_equation__of_many_terms_shows_the_largest)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
