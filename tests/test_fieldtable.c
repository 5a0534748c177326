/* test_fieldtable.c - fields from a table are those of the model to a millionth, at every place: within cells, across
 * kinks, beyond the range; so are the laws of steps; and there is none where it would not pay or not be right. */
#include "model/flow.h"
#include "onecontext.h"
#include "truths.h"
#include "tune/policy.h"
#include "tune/stepsurplus.h"

#include <math.h>
#include <string.h>

enum { POINTS = 4000, PATHS = 10 };
static const double MANY = 1e6;

static sock_model *plain_fit(const char *system, size_t paths, const char *const *pairs)
{
    sock_options *opts = sock_options_new(ctx);
    sock_data *data = NULL;
    sock_model *model = NULL;
    truth t = truth_of(ctx, system);
    t.instance->trajectories[SYS_TRAIN] = paths;
    assert_int_equal(sys_generate(ctx, t.instance, SYS_TRAIN, &data), SOCK_OK);
    for (; *pairs; pairs += 2) assert_true(sock_options_set(ctx, opts, pairs[0], pairs[1]) >= 0);
    if (sock_fit(ctx, data, opts, &model) < 0) fail_msg("%s", sock_message(ctx));
    sock_options_free(opts);
    sock_data_free(data);
    truth_free(t);
    return model;
}

static const char *const smooth[] = {"tune", "no", "drift", "gauss:eta=0.8", "diffusion", "gauss:eta=1", NULL};
static const char *const rooted[] = {"tune",           "no",    "drift", "affine", "diffusion",
                                     "affine:in=root", "lower", "0",     NULL};

typedef struct values {
    double x[POINTS], f[POINTS], a[POINTS];
} values;

/* At POINTS places over [low, high], the last of them no number; by a table over [from, to] where it pays. */
static void evaluate(const sock_model *model, double low, double high, double from, double to, double evaluations,
                     values *out)
{
    sk_sampler *sampler = NULL;
    assert_int_equal(sk_sampler_new(ctx, model, &sampler), SOCK_OK);
    assert_int_equal(sk_sampler_tabulate(ctx, sampler, from, to, evaluations), SOCK_OK);
    double *space = sk_doubles(ctx, sk_sampler_space(sampler, POINTS), 1);
    sk_uniforms((sk_key){7, SK_PURPOSE_TEST}, 0, 0, 0, POINTS, out->x);
    for (size_t i = 0; i < POINTS; i++) out->x[i] = low + (high - low) * out->x[i];
    out->x[POINTS - 1] = (double)NAN;
    sk_sampler_fields(ctx, sampler, POINTS, out->x, out->f, out->a, space);
    sk_free(space);
    sk_sampler_free(sampler);
}

static values exact, found;

/* How far the table is off, in shares of the fields; f beside a typical one of its own. */
static double worst(size_t *differing)
{
    double typical = 0, most = 0;
    *differing = 0;
    for (size_t i = 0; i + 1 < POINTS; i++) typical += fabs(exact.f[i]) / POINTS;
    for (size_t i = 0; i + 1 < POINTS; i++) {
        most = fmax(most, fabs(found.f[i] - exact.f[i]) / (fabs(exact.f[i]) + typical));
        most = fmax(most, fabs(found.a[i] - exact.a[i]) / fabs(exact.a[i]));
        assert_true(found.a[i] >= 0);
        *differing += found.f[i] != exact.f[i];
    }
    assert_true(isnan(exact.f[POINTS - 1]) && isnan(found.f[POINTS - 1]));
    assert_true(isnan(exact.a[POINTS - 1]) == isnan(found.a[POINTS - 1]));
    return most;
}

static void compare(const sock_model *model, double low, double high, double from, double to)
{
    evaluate(model, low, high, from, to, 0, &exact);
    evaluate(model, low, high, from, to, MANY, &found);
}

static void prop_table__is_the_model_to_a_millionth(void **state)
{
    (void)state;
    size_t differing;
    sock_model *model = plain_fit("doublewell", PATHS, smooth);
    compare(model, -2.5, 2.5, -2, 2); /* and a fifth of the places beyond the table */
    assert_true(worst(&differing) < 2 * SK_TABLE_NEAR);
    assert_in_range(differing, POINTS * 7 / 10, POINTS * 17 / 20);
    sock_model_free(model);
}

/* a of a model with a lower bound is that at the bound from there on down: a kink, whose cell is not used. */
static void prop_table__has_no_cell_across_a_kink(void **state)
{
    (void)state;
    size_t differing;
    sock_model *model = plain_fit("cir", PATHS, rooted);
    compare(model, -0.1, 0.4, -1.0003, 3);
    assert_true(worst(&differing) < 2 * SK_TABLE_NEAR);
    assert_true(differing > POINTS / 2);
    sock_model_free(model);
}

/* Cells wider than the kernel: none is near, so every place is asked for. */
static void prop_table__too_coarse_is_not_used(void **state)
{
    (void)state;
    size_t differing;
    sock_model *model = plain_fit("doublewell", PATHS, smooth);
    compare(model, -2.5, 2.5, -2000, 2000);
    assert_true(worst(&differing) == 0 && differing == 0);
    sock_model_free(model);
}

static void test_table__is_made_where_it_pays_alone(void **state)
{
    (void)state;
    truth known = truth_of(ctx, "ou");
    sock_model *model = plain_fit("doublewell", PATHS, smooth);
    assert_true(sk_model_has_tables(model));
    assert_false(sk_model_has_tables(known.model)); /* functions of the user are asked as they are */
    compare(model, -2.5, 2.5, -2, 2);
    evaluate(model, -2.5, 2.5, -2, 2, SK_TABLE_WORTH, &found);
    assert_memory_equal(found.f, exact.f, sizeof found.f);
    evaluate(model, -2.5, 2.5, 2, 2, MANY, &found); /* no range */
    assert_memory_equal(found.f, exact.f, sizeof found.f);
    evaluate(model, -2.5, 2.5, -2, (double)INFINITY, MANY, &found);
    assert_memory_equal(found.f, exact.f, sizeof found.f);
    sock_model_free(model);
    truth_free(known);
}

enum { STARTS = 50 };

typedef struct laws {
    double mean[STARTS], cov[STARTS], slope[STARTS];
} laws;

/* Long steps from all over the data, with a sampler that is to serve so many. */
static void flow_of(const sock_model *model, const sk_flow_spec *spec, size_t served, laws *out)
{
    double m[STARTS], p[STARTS], h[STARTS];
    const sk_flow_starts starts = {STARTS, m, p, h};
    const sk_flow_ends ends = {.mean = out->mean, .cov = out->cov, .slope = out->slope};
    sk_sampler *sampler = NULL;
    sk_flow *flow = NULL;
    for (size_t i = 0; i < STARTS; i++) {
        m[i] = -1.5 + 3 * (double)i / STARTS;
        p[i] = i % 2 ? 0.01 : 0;
        h[i] = 0.5;
    }
    assert_int_equal(sk_flow_sampler(ctx, model, spec, served, &sampler), SOCK_OK);
    assert_int_equal(sk_flow_new(ctx, model, sampler, spec, STARTS, &flow), SOCK_OK);
    sk_flow_run(ctx, flow, &starts, &ends);
    sk_flow_free(flow);
    sk_sampler_free(sampler);
}

/* Slopes are differences over a thousandth of the data, so they lose three digits of the table's. */
static void prop_table__flows_are_those_of_the_model(void **state)
{
    (void)state;
    const double low = -2.5, high = 2.5, reach = 1e-3;
    const sk_flow_spec spec = {{8, true}, &reach, &low, &high}, open = {{8, true}, &reach, NULL, NULL};
    sock_model *model = plain_fit("doublewell", PATHS, smooth);
    laws by_model, by_table;
    size_t differing = 0;
    flow_of(model, &spec, 1, &by_model);
    flow_of(model, &spec, 3000, &by_table);
    for (size_t i = 0; i < STARTS; i++) {
        assert_close(by_table.mean[i], by_model.mean[i], 1e-8, 1e-9);
        assert_close(by_table.cov[i], by_model.cov[i], 1e-8, 1e-9);
        assert_close(by_table.slope[i], by_model.slope[i], 1e-6, 1e-6);
        differing += by_table.mean[i] != by_model.mean[i];
    }
    assert_true(differing > STARTS / 2); /* there was a table */
    flow_of(model, &open, 1, &by_model);
    flow_of(model, &open, 3000, &by_table); /* without a box there is no range */
    assert_memory_equal(&by_table, &by_model, sizeof by_table);
    sock_model_free(model);
}

/* What a rule makes of many steps is asked of a table; of one step it is not. */
static void test_table__of_steps_and_their_rule(void **state)
{
    (void)state;
    enum { MANY_STEPS = 600 };
    double y[MANY_STEPS], h[MANY_STEPS], f[MANY_STEPS], a[MANY_STEPS], alone[MANY_STEPS], shared[MANY_STEPS];
    sk_sampler *sampler = NULL;
    sock_model *model = plain_fit("doublewell", PATHS, smooth);
    for (size_t i = 0; i < MANY_STEPS; i++) {
        y[i] = -1.5 + 3 * (double)i / MANY_STEPS;
        h[i] = 0.1;
    }
    assert_int_equal(sk_model_evaluate(ctx, model, MANY_STEPS, y, f, a), SOCK_OK);
    for (size_t i = 0; i < MANY_STEPS; i++) {
        f[i] *= h[i];
        a[i] *= h[i];
    }
    assert_int_equal(sk_surplus_sampler(ctx, model, MANY_STEPS, y, &sampler), SOCK_OK);
    for (size_t i = 0; i < MANY_STEPS; i++) { /* each by itself, without a table */
        const sk_surplus_rows row = {1, 1, y + i, h + i, f + i, a + i, NULL, NULL};
        const sk_surplus_rows same = {1, 1, y + i, h + i, f + i, a + i, NULL, sampler};
        assert_int_equal(sk_step_surplus(ctx, model, &row, alone + i), SOCK_OK);
        assert_int_equal(sk_step_surplus(ctx, model, &same, shared + i), SOCK_OK);
        assert_close(shared[i], alone[i], 10 * SK_TABLE_NEAR, a[i]);
    }
    assert_memory_not_equal(shared, alone, sizeof shared);
    sk_sampler_free(sampler);
    sock_model_free(model);
}

static sock_status tabulate_and_free(sock_context *c, void *arg)
{
    sk_sampler *sampler = NULL;
    sock_status status = sk_sampler_new(c, arg, &sampler);
    if (status >= 0) status = sk_sampler_tabulate(c, sampler, -2, 2, MANY);
    sk_sampler_free(sampler);
    return status;
}

static void test_table__survives_every_failed_allocation(void **state)
{
    (void)state;
    sock_model *model = plain_fit("doublewell", PATHS, smooth);
    assert_true(for_each_allocation(ctx, tabulate_and_free, model) > 8);
    sock_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_table__is_the_model_to_a_millionth),
        cmocka_unit_test(prop_table__has_no_cell_across_a_kink),
        cmocka_unit_test(prop_table__too_coarse_is_not_used),
        cmocka_unit_test(test_table__is_made_where_it_pays_alone),
        cmocka_unit_test(prop_table__flows_are_those_of_the_model),
        cmocka_unit_test(test_table__of_steps_and_their_rule),
        cmocka_unit_test(test_table__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
