/* test_modelintegral.c - integrals of a model's a from the moments of nodes, against a at the nodes; and which models
 * have them. */
#include "model/modelintegral.h"
#include "tunecases.h"

#include "onecontext.h" /* its ctx comes after functions that have one of their own */

enum { D = 12 };

/* A term with the kernel's features; columns of a diagonal one have two entries each. */
static sk_diffusion_term *term_of(const char *text, bool diagonal)
{
    sk_diffusion_term *term = sk_alloc(ctx, 1, sizeof *term);
    sk_kernel *kernel = case_kernel(ctx, text);
    assert_int_equal(sk_features_new(ctx, "diffusion", kernel, D, 0, NULL, &term->map), SOCK_OK);
    sk_kernel_free(kernel);
    double origin[D];
    for (size_t k = 0; k < D; k++) origin[k] = 0.1 * (double)k - 0.3;
    if (strstr(text, "linear")) assert_int_equal(sk_features_set_units(ctx, term->map, origin, NULL), SOCK_OK);
    const size_t p = sk_features_count(term->map), rank = diagonal ? D : 3;
    term->d = D;
    term->rank = rank;
    term->v = sk_doubles(ctx, D * p, rank);
    term->owner = diagonal ? sk_alloc(ctx, rank, sizeof *term->owner) : NULL;
    if (!diagonal) sk_normals((sk_key){9, SK_PURPOSE_TEST}, 0, 0, 0, D * p * rank, term->v);
    for (size_t k = 0; diagonal && k < D; k++) {
        term->owner[k] = k;
        term->v[(k * p + k % p) * rank + k] = 0.7 + 0.1 * (double)k;
        term->v[(k * p + p - 1) * rank + k] -= 0.4;
    }
    return term;
}

static sock_model *model_of(size_t count, const char *const *text, const bool *diagonal)
{
    sock_model *model = NULL;
    assert_int_equal(sk_model_new(ctx, D, NULL, &model), SOCK_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sk_model_add_diffusion(ctx, model, term_of(text[i], diagonal[i])), SOCK_OK);
    model->floor = 0.03;
    return model;
}

static void prop_integrals_are_those_of_the_nodes(void **state)
{
    (void)state;
    static const char *const texts[] = {"constant", "affine", "linear", "affine:scale=0.5"};
    static const bool diagonal[] = {false, true, true, true};
    sk_transitions *rows = case_rows(ctx, D, false);
    case_bench b = case_bench_of(ctx, rows, true, 0);
    const sk_rule *rule = b.v->rule;
    sock_model *model = model_of(4, texts, diagonal);
    double *out = sk_doubles(ctx, rule->n, D * D), *a = sk_doubles(ctx, rule->nodes, D * D), expected[D * D];
    bool done = false;
    assert_int_equal(sk_model_integrate(ctx, model, rule, out, &done), SOCK_OK);
    assert_true(done);
    assert_int_equal(sk_model_evaluate(ctx, model, rule->nodes, rule->x, NULL, a), SOCK_OK);
    for (size_t i = 0; i < rule->n; i++) {
        memset(expected, 0, sizeof expected);
        for (size_t e = rule->row[i]; e < rule->row[i + 1]; e++)
            for (size_t k = 0; k < D * D; k++) expected[k] += rule->weight[e] * a[rule->node[e] * D * D + k];
        assert_all_close(D * D, out + i * D * D, expected, 1e-12);
    }
    sk_free(out), sk_free(a);
    sock_model_free(model);
    case_bench_clear(&b);
}

/* Not of quadratic features, of full terms that vary, or of functions. */
static void test_modelintegral__other_models_are_asked_node_by_node(void **state)
{
    (void)state;
    static const char *const texts[][2] = {{"constant", "poly:degree=2"}, {"affine", "constant"}};
    static const bool diagonal[][2] = {{false, true}, {false, false}};
    bool yes = true;
    sk_transitions *rows = case_rows(ctx, D, false);
    case_bench b = case_bench_of(ctx, rows, true, 0);
    for (size_t c = 0; c < 3; c++) {
        sock_model *model = c < 2 ? model_of(2, texts[c], diagonal[c]) : case_model(ctx, D, &yes);
        bool done = true;
        assert_int_equal(sk_model_integrate(ctx, model, b.v->rule, NULL, &done), SOCK_OK);
        assert_false(done);
        sock_model_free(model);
    }
    case_bench_clear(&b);
}

typedef struct trying {
    const sock_model *model;
    const sk_rule *rule;
    double *out;
} trying;

static sock_status integrate(sock_context *own, void *arg)
{
    const trying *t = arg;
    bool done;
    return sk_model_integrate(own, t->model, t->rule, t->out, &done);
}

static void test_modelintegral__survives_every_failed_allocation(void **state)
{
    (void)state;
    static const char *const texts[] = {"constant", "affine"};
    static const bool diagonal[] = {false, true};
    sk_transitions *rows = case_rows(ctx, D, false);
    case_bench b = case_bench_of(ctx, rows, true, 0);
    sock_model *model = model_of(2, texts, diagonal);
    trying t = {model, b.v->rule, sk_doubles(ctx, b.v->n, D * D)};
    assert_true(for_each_allocation(ctx, integrate, &t) > 10);
    sk_free(t.out);
    sock_model_free(model);
    case_bench_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_integrals_are_those_of_the_nodes),
        cmocka_unit_test(test_modelintegral__other_models_are_asked_node_by_node),
        cmocka_unit_test(test_modelintegral__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
