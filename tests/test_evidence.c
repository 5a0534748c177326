/* test_evidence.c - what figures share is made once, and is what each would make for itself. */
#define _GNU_SOURCE
#include "onecontext.h"

#include "report/evidence.h"
#include "report/report.h"

#include <unistd.h>

enum { PATHS = 12, TIMES = 41, POINTS = PATHS * TIMES };

/* A field that counts the points it is asked for. */
typedef struct law {
    double pull;
    size_t asked;
} law;

static void drift(void *user, size_t count, size_t d, const double *x, double *out)
{
    law *l = user;
    l->asked += count;
    for (size_t i = 0; i < count * d; i++) out[i] = -l->pull * x[i];
}

static void diffusion(void *user, size_t count, size_t d, const double *x, double *out)
{
    (void)user;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d * d; k++) out[i * d * d + k] = k % (d + 1) ? 0 : 0.2 + 0.1 * fabs(x[i * d]);
}

static sock_model *model_of(law *l, size_t d)
{
    sock_model *model = NULL;
    assert_int_equal(sock_set_threads(ctx, 1), SOCK_OK); /* for the count */
    assert_int_equal(sock_model_wrap(ctx, d, NULL, drift, diffusion, l, &model), SOCK_OK);
    return model;
}

static sock_data *data_of(const sock_model *model)
{
    const size_t d = sock_model_dim(model);
    double t[POINTS], times[TIMES], x[POINTS * 2];
    size_t length[PATHS];
    for (size_t i = 0; i < TIMES; i++) times[i] = 0.05 * (double)i;
    for (size_t i = 0; i < POINTS; i++) t[i] = times[i % TIMES];
    for (size_t j = 0; j < PATHS; j++) length[j] = TIMES;
    const sock_simulation spec = {
        .starts = 1, .x0 = (double[]){1, -0.5}, .paths = PATHS, .times = TIMES, .t = times, .step = 0.01, .seed = 4};
    assert_int_equal(sock_simulate(ctx, model, &spec, x, NULL, NULL), SOCK_OK);
    sock_data *data = NULL;
    assert_int_equal(sock_data_from_arrays(ctx, d, PATHS, length, t, x, NULL, NULL, NULL, &data), SOCK_OK);
    return data;
}

static void test_evidence__each_thing_is_made_once_and_right(void **state)
{
    (void)state;
    law l = {.pull = 1}, other = {.pull = 2};
    sock_model *model = model_of(&l, 2), *truth = model_of(&other, 2);
    sock_data *data = data_of(model);
    const fig_input in = {.model = model, .data = data, .truth = truth, .seed = 9, .evidence = evidence_new(2)};
    const res_set *set, *set_again;
    const res_moments *moments, *moments_again;
    const companion *paths, *paths_again, *true_paths;
    const double *sorted, *sorted_again;
    size_t count, count_again, own_count;
    look_times time, own_time;
    assert_non_null(in.evidence);
    assert_int_equal(evidence_residuals(ctx, &in, &set, &moments), SOCK_OK);
    assert_int_equal(evidence_model_paths(ctx, &in, &paths), SOCK_OK);
    assert_int_equal(evidence_true_paths(ctx, &in, &true_paths), SOCK_OK);
    const size_t asked = l.asked;
    assert_int_equal(evidence_residuals(ctx, &in, &set_again, &moments_again), SOCK_OK);
    assert_int_equal(evidence_model_paths(ctx, &in, &paths_again), SOCK_OK);
    assert_int_equal(l.asked, asked);
    assert_true(set == set_again && moments == moments_again && paths == paths_again && paths != true_paths);
    /* The same as made by hand. */
    res_set own;
    assert_int_equal(res_make(ctx, model, data, &own), SOCK_OK);
    const res_moments look = res_look(&own);
    assert_int_equal(own.steps, set->steps);
    assert_memory_equal(own.r, set->r, own.steps * 2 * sizeof *own.r);
    assert_memory_equal(&look, moments, sizeof look);
    const sock_model *const makers[] = {model, truth};
    const companion *const found[] = {paths, true_paths};
    for (int i = 0; i < 2; i++) {
        companion c;
        assert_int_equal(companion_make(ctx, &in, makers[i], &c), SOCK_OK);
        assert_int_equal(c.count, found[i]->count);
        assert_memory_equal(c.x, found[i]->x, c.count * 2 * sizeof *c.x);
        companion_free(&c);
    }
    for (size_t k = 0; k < 2; k++) {
        double *values = look_sorted(data, k, &own_count);
        range r;
        assert_int_equal(evidence_sorted(&in, k, &sorted, &count), SOCK_OK);
        assert_int_equal(evidence_sorted(&in, k, &sorted_again, &count_again), SOCK_OK);
        assert_true(sorted == sorted_again && count == own_count && count == POINTS);
        assert_memory_equal(sorted, values, count * sizeof *values);
        assert_int_equal(evidence_range(&in, k, 0.5, &r), SOCK_OK);
        const double length = values[count - 1] - values[0];
        assert_close(r.low, values[0] - 0.5 * length, 1e-15, 1);
        assert_close(r.high, values[count - 1] + 0.5 * length, 1e-15, 1);
        free(values);
    }
    assert_int_equal(look_time(data, &own_time), SOCK_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(evidence_time(&in, &time), SOCK_OK);
        assert_true(time.first == own_time.first && time.last == own_time.last && time.step == own_time.step);
    }
    res_free(&own);
    evidence_free(in.evidence);
    sock_model_free(model), sock_model_free(truth), sock_data_free(data);
}

/* Every figure beside the others is the figure drawn alone, byte for byte, with less work. */
static void prop_figures_that_share_are_figures_drawn_alone(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++) {
        law l = {.pull = 1}, other = {.pull = 2};
        sock_model *model = model_of(&l, d), *truth = model_of(&other, d);
        sock_data *data = data_of(model);
        const fig_input alone = {.model = model, .data = data, .truth = truth, .seed = 9};
        fig_input shared = alone;
        shared.evidence = evidence_new(d);
        size_t asked[2] = {0}, drawn = 0;
        for (size_t i = 0; fig_at(i); i++) {
            char *text[2] = {NULL};
            size_t size[2] = {0};
            assert_ptr_equal(fig_lack(fig_at(i), &alone), fig_lack(fig_at(i), &shared));
            if (fig_lack(fig_at(i), &alone)) continue;
            for (int s = 0; s < 2; s++) {
                const size_t before = l.asked;
                assert_int_equal(fig_draw(ctx, fig_at(i), s ? &shared : &alone, &text[s], &size[s]), SOCK_OK);
                asked[s] += l.asked - before;
            }
            assert_int_equal(size[0], size[1]);
            assert_memory_equal(text[0], text[1], size[0]);
            free(text[0]), free(text[1]);
            drawn++;
        }
        assert_true(drawn >= 7);
        assert_true(d == 1 ? asked[1] <= asked[0] : asked[1] < asked[0]); /* marginals take the paths of the density */
        evidence_free(shared.evidence);
        sock_model_free(model), sock_model_free(truth), sock_data_free(data);
    }
}

/* A page asks no more than its figures, its verdict and what the equation means do. */
static void test_evidence__a_page_asks_for_nothing_twice(void **state)
{
    (void)state;
    law l = {.pull = 1};
    sock_model *model = model_of(&l, 1);
    sock_data *data = data_of(model);
    char path[] = "/tmp/sock-evidence-XXXXXX";
    const int handle = mkstemp(path);
    assert_true(handle >= 0);
    close(handle);
    size_t figures = 0;
    for (size_t i = 0; fig_at(i); i++) {
        const fig_input in = {.model = model, .data = data};
        const char *name = fig_at(i)->name;
        char *text = NULL;
        size_t size = 0;
        if (fig_lack(fig_at(i), &in) || strstr("drift diffusion residuals", name)) continue; /* no chapters */
        l.asked = 0;
        assert_int_equal(fig_draw(ctx, fig_at(i), &in, &text, &size), SOCK_OK);
        figures += l.asked;
        free(text);
    }
    sock_checks checks;
    l.asked = 0;
    assert_int_equal(sock_check(ctx, model, data, NULL, &checks), SOCK_OK);
    figures += l.asked;
    char *meaning = NULL;
    l.asked = 0;
    assert_int_equal(sock_explain(ctx, model, data, NULL, NULL, &meaning), SOCK_OK);
    sock_string_free(meaning);
    figures += l.asked;
    l.asked = 0;
    assert_int_equal(rep_write(ctx, model, data, NULL, path), SOCK_OK);
    assert_true(l.asked <= figures && l.asked > figures / 2);
    unlink(path);
    sock_model_free(model), sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evidence__each_thing_is_made_once_and_right),
        cmocka_unit_test(prop_figures_that_share_are_figures_drawn_alone),
        cmocka_unit_test(test_evidence__a_page_asks_for_nothing_twice),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
