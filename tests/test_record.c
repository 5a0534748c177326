/* test_record.c - the record of a fit: its warnings on both sides of each threshold, its certificate, and its JSON,
 * which is read back without loss and bears anything. */
#include "api/record.h"
#include "tunefits.h"

#include <string.h>

/* ---- Decisions ---- */

static void test_record__lag1_needs_a_size_and_four_standard_errors(void **state)
{
    (void)state;
    static const struct {
        double correlation, n;
        sk_warning_code code;
    } cases[] = {{-0.1001, 1e6, SK_WARN_NOISE}, {-0.0999, 1e6, SK_WARN_NONE}, {0.1001, 1e6, SK_WARN_MEMORY},
                 {0.0999, 1e6, SK_WARN_NONE},   {-0.401, 100, SK_WARN_NOISE}, {-0.399, 100, SK_WARN_NONE},
                 {0.401, 100, SK_WARN_MEMORY},  {0.399, 100, SK_WARN_NONE},   {0.101, 1600, SK_WARN_MEMORY},
                 {0.9, 0, SK_WARN_NONE},        {-0.9, -2, SK_WARN_NONE},     {(double)NAN, 1e6, SK_WARN_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(sk_warn_lag1(cases[i].correlation, cases[i].n), cases[i].code);
}

/* Two nats and a paired error decide; an error that is not known counts as 0, one that is not to be had as no end. */
static void test_record__verdict_beside_constant_coefficients(void **state)
{
    (void)state;
    const double none = (double)NAN, infinite = (double)INFINITY;
    const struct {
        double gain, error;
        sk_verdict verdict;
    } cases[] = {{2, 0, SK_BETTER},       {1.999, 0, SK_SAME},   {-1.999, 0, SK_SAME},     {-2, 0, SK_WORSE},
                 {5, 5, SK_BETTER},       {4.999, 5, SK_SAME},   {-4.999, 5, SK_SAME},     {-5, 5, SK_WORSE},
                 {2, none, SK_BETTER},    {1.9, none, SK_SAME},  {-2, none, SK_WORSE},     {1e9, infinite, SK_SAME},
                 {0, 0, SK_SAME},         {none, 1, SK_UNKNOWN}, {infinite, 1, SK_BETTER}, {-infinite, 1, SK_WORSE},
                 {none, none, SK_UNKNOWN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(sk_against_constant(cases[i].gain, cases[i].error), cases[i].verdict);
    for (int v = 0; v < SK_VERDICTS; v++) assert_int_equal(sk_verdict_of(sk_verdict_name((sk_verdict)v)), v);
    assert_int_equal(sk_verdict_of("best"), SK_UNKNOWN);
}

/* The words of the verdict and the warning that stands beside them never say two things. */
static void test_record__verdict_and_warning_are_one(void **state)
{
    (void)state;
    static const sk_warning_code warning[SK_VERDICTS] = {
        [SK_BETTER] = SK_WARN_NONE, [SK_SAME] = SK_WARN_CONSTANT, [SK_WORSE] = SK_WARN_WORSE};
    for (int v = 0; v < SK_VERDICTS; v++) {
        const char *words = sk_verdict_words((sk_verdict)v),
                   *text = sk_warning_text(sk_warn_gain((sk_verdict)v, false));
        assert_int_equal(sk_warn_gain((sk_verdict)v, false), warning[v]);
        assert_int_equal(sk_warn_gain((sk_verdict)v, true), v == SK_SAME ? SK_WARN_EARLY : warning[v]);
        assert_int_equal(strstr(text, "worse") != NULL, strstr(words, "worse") != NULL);
        assert_int_equal(strstr(text, "no clear difference") != NULL, strstr(words, "no clear difference") != NULL);
        assert_null(strstr(text, "no better"));
    }
    assert_int_equal(
        sk_warning_of("the score is no better than that of constant coefficients: the data support no more"),
        SK_WARN_CONSTANT); /* of earlier versions */
}

static void test_record__a_within_a_factor_of_two_of_the_squared_residuals(void **state)
{
    (void)state;
    assert_int_equal(sk_warn_moments(2.001), SK_WARN_SMALL_A);
    assert_int_equal(sk_warn_moments(2), SK_WARN_NONE);
    assert_int_equal(sk_warn_moments(0.5), SK_WARN_NONE);
    assert_int_equal(sk_warn_moments(0.499), SK_WARN_LARGE_A);
    assert_int_equal(sk_warn_moments(0), SK_WARN_NONE);
    assert_int_equal(sk_warn_moments((double)NAN), SK_WARN_NONE);
    assert_int_equal(sk_warn_moments((double)INFINITY), SK_WARN_NONE);
}

static void test_record__a_sentence_has_its_code_and_severity(void **state)
{
    (void)state;
    for (int code = SK_WARN_NOISE; code < SK_WARN_OTHER; code++) {
        assert_int_equal(sk_warning_of(sk_warning_text((sk_warning_code)code)), code);
        for (int other = SK_WARN_NONE; other < code; other++)
            assert_string_not_equal(sk_warning_name((sk_warning_code)code), sk_warning_name((sk_warning_code)other));
    }
    assert_int_equal(sk_warning_of("what a later version says"), SK_WARN_OTHER);
    assert_int_equal(sk_warning_severity(SK_WARN_NOISE), SK_GRAVE);
    assert_int_equal(sk_warning_severity(SK_WARN_CONSTANT), SK_CAUTION);
    assert_int_equal(sk_warning_severity(SK_WARN_DRIFT_EDGE), SK_NOTE);
}

static void test_record__small_shares_are_not_nothing(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *text;
    } cases[] = {{1, "100"}, {0.372, "37"}, {0.00501, "1"}, {0.00499, "<1"}, {0, "<1"}};
    char buffer[16];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(sk_percent(cases[i].share, buffer), cases[i].text);
}

/* ---- What follows from the numbers of a search ---- */

/* One drift, and so many diffusions; all is well with them. */
static sk_record searched(size_t diffusions)
{
    static const char format[] =
        "{\"tuned\":true,\"steps\":10000,\"score\":50,\"score_constant\":10,\"calibration\":1,\"residual_lag1\":0,"
        "\"drifts\":[{\"kernel\":\"affine\",\"share\":1,\"l\":0.1,\"lambda\":0.2}],\"drift\":\"affine\","
        "\"drift_lambda\":0.2,\"diffusions\":[%s%s]}";
    static const char part[] = "{\"kernel\":\"constant\",\"share\":0.5,\"converged\":true,\"polished\":false,"
                               "\"relative_gap\":1e-7,\"primal\":3,\"dual\":2.5,\"gap\":0.5}";
    char text[1024], second[256];
    snprintf(second, sizeof second, ",%s", part);
    snprintf(text, sizeof text, format, part, diffusions > 1 ? second : "");
    sk_record record;
    assert_int_equal(sk_record_read(ctx, text, &record), SOCK_OK);
    assert_int_equal(record.found.diffusions.count, diffusions);
    return record;
}

static void expect_warnings(sk_record *record, size_t count, const sk_warning_code *code)
{
    assert_int_equal(sk_record_warn(ctx, record), SOCK_OK);
    assert_int_equal(record->warnings.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(record->warnings.text[i], sk_warning_text(code[i]));
        assert_true(sk_record_warns(record, code[i]));
    }
    sk_record_clear(record);
}

static void test_record__warnings_come_in_order_and_only_when_they_should(void **state)
{
    (void)state;
    sk_record well = searched(2), ill = searched(2), best = searched(2), early = searched(2);
    expect_warnings(&well, 0, NULL);
    ill.residual_lag1 = -0.3;
    ill.found.score = 11;
    ill.found.calibration = 3;
    ill.found.drifts.part[0].edge = true;
    ill.found.diffusions.part[0].edge = true;
    ill.found.diffusions.part[1].converged = false;
    expect_warnings(&ill, 6,
                    (const sk_warning_code[]){SK_WARN_NOISE, SK_WARN_CONSTANT, SK_WARN_SMALL_A, SK_WARN_DRIFT_EDGE,
                                              SK_WARN_DIFFUSION_EDGE, SK_WARN_UNSOLVED});
    early.found.score = 11;
    early.found.limited = true;
    expect_warnings(&early, 1, (const sk_warning_code[]){SK_WARN_EARLY});
    sk_record doubted = searched(2), other = searched(2);
    doubted.found.score = other.found.score = 11;
    assert_int_equal(sk_texts_add(ctx, &doubted.objections, "drift"), SOCK_OK);
    expect_warnings(&doubted, 1, (const sk_warning_code[]){SK_WARN_DOUBTED});
    assert_int_equal(sk_texts_add(ctx, &other.objections, "volatility"), SOCK_OK);
    expect_warnings(&other, 1, (const sk_warning_code[]){SK_WARN_BESIDE});
    best.found.diffusions.part[1].edge = true; /* of the best alone */
    expect_warnings(&best, 0, NULL);
}

static void test_record__certificate_is_told_where_a_is_the_answer_of_one_problem(void **state)
{
    (void)state;
    sk_record one = searched(1), polished = searched(1), learned = searched(1), average = searched(2);
    assert_int_equal(sk_record_certify(ctx, &one), SOCK_OK);
    assert_null(one.certificate.reason);
    assert_null(one.lambda_reason);
    assert_true(one.certificate.primal == 3 && one.certificate.dual == 2.5 && one.certificate.gap == 0.5);
    assert_string_equal(one.certificate.iterations_reason, "those of cross-validation are not counted");
    polished.found.diffusions.part[0].polished = true;
    polished.found.drifts.part[0].lambda = (double)NAN;
    assert_int_equal(sk_record_certify(ctx, &polished), SOCK_OK);
    assert_non_null(strstr(polished.certificate.reason, "polished"));
    assert_non_null(strstr(polished.lambda_reason, "learned"));
    learned.found.diffusions.part[0].learned = true;
    assert_int_equal(sk_record_certify(ctx, &learned), SOCK_OK);
    assert_non_null(strstr(learned.certificate.reason, "reweighted"));
    average.found.diffusions.part[1].relative_gap = 1e-3;
    average.found.diffusions.part[1].converged = false;
    assert_int_equal(sk_record_certify(ctx, &average), SOCK_OK);
    assert_non_null(strstr(average.certificate.reason, "average"));
    assert_true(isnan(average.certificate.primal));
    assert_true(average.certificate.relative_gap == 1e-3 && !average.certificate.converged);
    sk_record_clear(&one), sk_record_clear(&polished), sk_record_clear(&learned), sk_record_clear(&average);
}

/* ---- JSON ---- */

/* The reader leaves nothing out that the writer writes, and the writer writes what the fit wrote. */
static void expect_same_text(const sock_model *model)
{
    sk_record record;
    char *info = NULL, *seconds = NULL;
    assert_int_equal(sk_record_of_model(ctx, model, &record), SOCK_OK);
    assert_int_equal(sk_record_write(ctx, &record, &info, &seconds), SOCK_OK);
    assert_string_equal(info, model->info);
    sk_free(info), sk_free(seconds);
    sk_record_clear(&record);
}

static void prop_record_of_any_fit_is_read_back_without_loss(void **state)
{
    (void)state;
    static const char *const cases[][11] = {
        {"tune", "no", "drift", "linear", "diffusion", "poly:degree=2"},
        {"tune", "no", "drift", "gauss", "diffusion", "none"},
        {"tune", "no", "diffusion", "constant", "max-iterations", "1", "tolerance", "1e-12"},
        {"seed", "3", "learned", "no", "folds", "3"},
        {"diffusion", "poly:degree=2", "drift", "poly:degree=3"},
        {"budget", "1e-6"},
        {"preset", "paper", "budget", "1e-6"},
    };
    sock_data *data = data_of(1, 40, 6, 0.1, ou_paths(1, 40, 6, 0.1, 1, 14));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sock_model *model = fit(data, cases[i]);
        expect_same_text(model);
        sock_model_free(model);
    }
    sock_model *drift = fit(data, cases[1]), *given = NULL;
    sock_options *opts = options((const char *const[]){"diffusion", "constant", NULL});
    assert_true(sock_fit_diffusion(ctx, data, drift, opts, &given) >= 0);
    expect_same_text(given);
    assert_non_null(strstr(given->info, "{\"drift\":\"given\",\"diffusion\":\"constant\","));
    sock_options_free(opts);
    sock_model_free(drift), sock_model_free(given);
    sock_data_free(data);
}

/* Keys of a JSON object and of the first object of some of its lists, in order. */
static void add_keys(const char *text, json_t *object, char *out, size_t size)
{
    static const char *const lists[] = {"drifts", "diffusions", "search", NULL};
    const char *key;
    json_t *value;
    strncat(out, text, size - strlen(out) - 1);
    json_object_foreach(object, key, value)
    {
        strncat(out, key, size - strlen(out) - 1);
        strncat(out, " ", size - strlen(out) - 1);
    }
    for (const char *const *list = lists; *list; list++)
        if (json_object_get(object, *list))
            add_keys("| ", json_array_get(json_object_get(object, *list), 0), out, size);
}

/* A form that was named is the only one; of those that were searched the others have the rest: a draw is made of them
 * as often. */
static void test_record__the_weight_of_the_form(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 40, 6, 0.1, ou_paths(1, 40, 6, 0.1, 1, 14));
    static const char *const named[7] = {"drift", "linear", "diffusion", "constant"}, *const free_choice[7] = {NULL};
    sock_model *one = fit(data, named), *many = fit(data, free_choice);
    sk_record alone, among;
    assert_int_equal(sk_record_of_model(ctx, one, &alone), SOCK_OK);
    assert_int_equal(sk_record_of_model(ctx, many, &among), SOCK_OK);
    assert_true(alone.equation_weight == 1 && !sk_record_form_is_open(&alone));
    assert_true(among.equation.count == 1 && sk_record_form_is_open(&among));
    enum { DRAWS = 1000 };
    double same = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        double u[2] = {((double)i + 0.5) / DRAWS, 0.5};
        size_t candidate, law;
        if (sk_spread_who(many, u[0]) == many) {
            sk_spread_pick(many->spread, u, &candidate, &law);
            same += candidate < many->spread->drifts;
        }
    }
    assert_close(among.equation_weight, same / DRAWS, 2e-3, 1);
    sk_record_clear(&alone), sk_record_clear(&among);
    sock_model_free(one), sock_model_free(many);
    sock_data_free(data);
}

/* The order is part of the bytes of a model file. */
static void test_record__keys_come_in_the_order_of_the_format(void **state)
{
    (void)state;
    static const struct {
        const char *const pairs[7], *keys;
    } cases[] = {
        {{"tune", "no", "drift", "linear", "diffusion", "linear"},
         "drift drift_lambda drift_form drift_path drift_rank drift_dof diffusion diffusion_lambda diffusion_form "
         "diagonal features features_complete rank solver tolerance primal dual gap relative_gap iterations converged "
         "quadrature n points d status options data version bands f_sup "},
        {{"tune", "no", "drift", "linear", "diffusion", "none"},
         "drift drift_lambda drift_form drift_path drift_rank drift_dof diffusion quadrature n points d rank status "
         "options data version bands bands_reason "},
        {{"drift", "linear", "diffusion", "constant", "polish", "no"},
         "tuned drift drift_l drift_lambda drifts drift_dof drift_rank drift_edge drift_score drift_best diffusion "
         "diffusions floor score score_constant gain_error against_constant calibration noise folds steps limited "
         "left_out skipped search scale centre "
         "diffusion_lambda relative_gap converged rank primal dual gap iterations iterations_reason quadrature n "
         "points d status options data version equation equation_weight errors bands f_sup warnings score_loglik "
         "jitter residual_lag1 "
         "verdict pattern | kernel share l "
         "lambda dof score | "
         "kernel polished edge converged share l lambda score relative_gap primal dual gap | stage field kernel l "
         "score edge "},
        {{"preset", "paper", "drift", "linear", "diffusion", "constant"},
         "tuned preset drift drift_l drift_lambda drift_dof drift_rank drift_edge drift_form search_landmarks rounds "
         "search_rows search_tolerance delta drift_score diffusion diffusions floor scale score score_constant "
         "gain_error against_constant folds "
         "steps limited skipped left_out search diffusion_lambda relative_gap converged rank primal dual gap "
         "iterations quadrature n points d status options data version equation bands bands_reason warnings "
         "residual_lag1 | kernel "
         "polished edge converged share l lambda score relative_gap primal dual gap iterations | stage field kernel l "
         "lambda edge score "}};
    sock_data *data = data_of(1, 40, 6, 0.1, ou_paths(1, 40, 6, 0.1, 1, 14));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[2048] = "";
        sock_model *model = fit(data, cases[i].pairs);
        json_t *info = json_loads(model->info, 0, NULL);
        add_keys("", info, keys, sizeof keys);
        assert_string_equal(keys, cases[i].keys);
        json_decref(info);
        sock_model_free(model);
    }
    sock_data_free(data);
}

static void test_record__a_part_of_a_smaller_share_may_lead(void **state)
{
    (void)state;
    sk_record r;
    assert_int_equal(sk_record_read(ctx,
                                    "{\"tuned\":true,\"drift\":\"affine\",\"drift_edge\":true,\"n\":-7,"
                                    "\"certificate\":3,\"drifts\":[{\"kernel\":\"linear\"},"
                                    "{\"kernel\":\"affine\"}]}",
                                    &r),
                     SOCK_OK);
    assert_string_equal(sk_record_drift(&r)->kernel, "affine");
    assert_true(r.found.drifts.part[1].edge && !r.found.drifts.part[0].edge);
    assert_int_equal(r.n, 0); /* a count is never negative */
    assert_null(sk_record_diffusion(&r));
    sk_record_clear(&r);
}

static void test_record__what_a_search_told_is_typed(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 40, 6, 0.1, ou_paths(1, 40, 6, 0.1, 1, 14));
    sock_model *model = fit(data, (const char *const[]){"folds", "3", NULL});
    json_t *info = info_of(model), *search = json_object_get(info, "search"), *row = json_array_get(search, 5);
    sk_record r;
    assert_int_equal(sk_record_of_model(ctx, model, &r), SOCK_OK);
    assert_true(r.tuned && !r.found.paper);
    assert_int_equal(r.found.search.count, json_array_size(search));
    assert_string_equal(r.found.search.row[5].kernel, json_string_value(json_object_get(row, "kernel")));
    assert_true(r.found.search.row[5].score == json_number_value(json_object_get(row, "score")));
    assert_int_equal(r.found.folds, 3);
    assert_int_equal(r.points, 240);
    assert_string_equal(r.options.option[0].key, "folds");
    assert_string_equal(r.options.option[0].value, "3");
    assert_string_equal(r.data.source, "arrays");
    assert_string_equal(sk_record_drift(&r)->kernel, json_string_value(json_object_get(info, "drift")));
    assert_string_equal(sk_record_diffusion(&r)->kernel, json_string_value(json_object_get(info, "diffusion")));
    double seconds = 0, stages = 0;
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(json_object_get(info, "seconds"), "stages"), key, value)
    {
        stages += json_number_value(value);
    }
    for (size_t i = 0; i < r.found.search.count; i++) seconds += r.found.search.row[i].seconds;
    assert_close(seconds, stages, 1e-9, 1e-9);
    assert_true(r.seconds > 0);
    sk_record_clear(&r);
    json_decref(info);
    sock_model_free(model);
    sock_data_free(data);
}

/* Every key with every kind of value: it is read or not, and what was read can be written. */
static void test_record__bears_any_value_under_any_key(void **state)
{
    (void)state;
    static const char *const values[] = {"null",
                                         "true",
                                         "-7",
                                         "1e300",
                                         "\"text\"",
                                         "[]",
                                         "[null,3]",
                                         "[[1],[2,\"\"]]",
                                         "[{}]",
                                         "{}",
                                         "{\"search\":[1,2]}",
                                         "[{\"kernel\":3,\"share\":[],\"stage\":{},\"by_l\":[[],1,[2,3,4]]}]"};
    for (size_t i = 0; sk_record_key(i); i++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            for (int tuned = 0; tuned < 2; tuned++) {
                char text[256], *info = NULL, *seconds = NULL;
                sk_record record;
                snprintf(text, sizeof text, "{%s\"seconds\":%s,\"%s\":%s}", tuned ? "\"tuned\":true," : "", values[k],
                         sk_record_key(i), values[k]);
                assert_int_equal(sk_record_read(ctx, text, &record), SOCK_OK);
                assert_int_equal(sk_record_write(ctx, &record, &info, &seconds), SOCK_OK);
                sk_free(info), sk_free(seconds);
                sk_record_clear(&record);
            }
    sk_record record;
    assert_int_equal(sk_record_read(ctx, "[1", &record), SOCK_EINPUT);
    sk_record_clear(&record);
}

static void test_record__survives_failed_allocations(void **state)
{
    (void)state;
    sock_data *data = data_of(1, 40, 6, 0.1, ou_paths(1, 40, 6, 0.1, 1, 14));
    sock_model *model = fit(data, (const char *const[]){"budget", "1e-6", NULL});
    sock_status status = SOCK_ENOMEM;
    for (long k = 1; status < 0; k++) {
        sk_record record;
        char *info = NULL, *seconds = NULL;
        sk_record_init(&record);
        sk_fail_allocation(ctx, k);
        status = sk_record_of_model(ctx, model, &record);
        if (status >= 0) status = sk_record_write(ctx, &record, &info, &seconds);
        sk_fail_allocation(ctx, 0);
        assert_true(status >= 0 || status == SOCK_ENOMEM);
        sk_free(info), sk_free(seconds);
        sk_record_clear(&record);
    }
    sock_model_free(model);
    sock_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record__lag1_needs_a_size_and_four_standard_errors),
        cmocka_unit_test(test_record__verdict_beside_constant_coefficients),
        cmocka_unit_test(test_record__verdict_and_warning_are_one),
        cmocka_unit_test(test_record__a_within_a_factor_of_two_of_the_squared_residuals),
        cmocka_unit_test(test_record__a_sentence_has_its_code_and_severity),
        cmocka_unit_test(test_record__small_shares_are_not_nothing),
        cmocka_unit_test(test_record__warnings_come_in_order_and_only_when_they_should),
        cmocka_unit_test(test_record__certificate_is_told_where_a_is_the_answer_of_one_problem),
        cmocka_unit_test(prop_record_of_any_fit_is_read_back_without_loss),
        cmocka_unit_test(test_record__keys_come_in_the_order_of_the_format),
        cmocka_unit_test(test_record__the_weight_of_the_form),
        cmocka_unit_test(test_record__a_part_of_a_smaller_share_may_lead),
        cmocka_unit_test(test_record__what_a_search_told_is_typed),
        cmocka_unit_test(test_record__bears_any_value_under_any_key),
        cmocka_unit_test(test_record__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
