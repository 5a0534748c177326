/* test_hostile.c - files made to waste memory or time: each is refused, or read, in a moment. The cost of a file may
 * grow with its size and no faster; the bound on processor time is generous, for sanitizers. test_modeldamage.c has the
 * files that are wrong in one place. */
#include "test.h"

#include "data/readers.h"
#include "kernel/kernel.h"
#include "model/model.h"

#include <time.h>

enum { SECONDS = 10 };

typedef struct text {
    char *at;
    size_t length, capacity;
} text;

static void put(text *t, const char *words)
{
    size_t n = strlen(words);
    while (t->length + n + 1 > t->capacity) t->at = realloc(t->at, t->capacity = 2 * t->capacity + 4096);
    memcpy(t->at + t->length, words, n + 1);
    t->length += n;
}

/* The words `count` times, with `between` between; %zu becomes the number. */
static void put_many(text *t, size_t count, const char *before, const char *after, bool numbered, const char *between)
{
    char number[32] = "";
    for (size_t i = 0; i < count; i++) {
        if (numbered) snprintf(number, sizeof number, "%zu", i);
        if (i) put(t, between);
        put(t, before);
        put(t, number);
        put(t, after);
    }
}

/* A model file of that header (without metadata, may be ""), description and no numbers; refused with the reason, or
 * loaded where there is none. */
static void offer_model(const char *arrays, const char *description, const char *reason)
{
    sock_context *ctx = sock_context_new();
    sock_model *model = NULL;
    json_t *root = json_pack("{s:{s:s, s:s, s:s, s:s}}", "__metadata__", "format", "sock-model", "format_version", "1",
                             "model", description, "info", "{}");
    char *header = json_dumps(root, JSON_COMPACT);
    text file = {0};
    put(&file, "12345678");
    put(&file, header);
    if (arrays[0]) {
        file.length--; /* the closing brace */
        put(&file, ",");
        put(&file, arrays);
        put(&file, "}");
    }
    uint64_t length = file.length - 8;
    memcpy(file.at, &length, 8);
    clock_t start = clock();
    sock_status status = sk_model_parse(ctx, "bomb.sock", file.at, file.length, &model);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (status != (reason ? SOCK_EINPUT : SOCK_OK) || (reason && !strstr(sock_message(ctx), reason)))
        fail_msg("status %d, message '%.200s', wanted '%s'", status, sock_message(ctx), reason ? reason : "");
    if (seconds > SECONDS) fail_msg("%g seconds for a file of %zu bytes", seconds, file.length);
    sock_model_free(model);
    sock_context_free(ctx);
    json_decref(root);
    free(header), free(file.at);
}

static void test_hostile__a_hundred_thousand_states(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        text t = {0};
        put(&t, "{\"d\":100000,\"state\":[");
        put_many(&t, 99999, "\"x", "\"", true, ",");
        put(&t, twice ? ",\"x0\"" : ",\"y\"");
        put(&t, "],\"has_diffusion\":false,\"floor\":0,\"drift\":[],\"diffusion\":[]}");
        offer_model("", t.at, twice ? "two states have the name in x0" : NULL);
        free(t.at);
    }
}

static void test_hostile__thousands_of_empty_arrays(void **state)
{
    (void)state;
    text arrays = {0};
    put_many(&arrays, 50000, "\"drift.", ".weight\":{\"dtype\":\"F64\",\"shape\":[0,0],\"data_offsets\":[0,0]}", true,
             ",");
    offer_model(arrays.at, "{}", "more than 10000 arrays");
    free(arrays.at);
}

/* As many terms and arrays as the reader allows: looking each up must not take minutes. */
static void test_hostile__thousands_of_terms(void **state)
{
    (void)state;
    text arrays = {0}, model = {0};
    put_many(&arrays, 9000, "\"drift.", ".map.0.omega\":{\"dtype\":\"F64\",\"shape\":[0,1],\"data_offsets\":[0,0]}",
             true, ",");
    put(&model, "{\"d\":1,\"state\":[\"x\"],\"has_diffusion\":false,\"floor\":0,\"diffusion\":[],\"drift\":[");
    put_many(&model, 9000, "{\"features\":\"fourier:p=1,eta=1\"}", "", false, ",");
    put(&model, "]}");
    offer_model(arrays.at, model.at, "0.omega");
    free(arrays.at), free(model.at);
}

/* Each term has 62196 features, which need no array in the file: all together would take 10 GB. */
static void test_hostile__a_long_sum_of_polynomials(void **state)
{
    (void)state;
    text model = {0};
    put(&model,
        "{\"d\":3,\"state\":[\"x\",\"y\",\"z\"],\"has_diffusion\":false,\"floor\":0,\"diffusion\":[],\"drift\":[{"
        "\"features\":\"");
    put_many(&model, 10000, "poly:degree=70", "", false, "+");
    put(&model, "\"}]}");
    offer_model("", model.at, "at most 1000000");
    free(model.at);
}

static void test_hostile__deep_nesting(void **state)
{
    (void)state;
    text deep = {0}, arrays = {0};
    put_many(&deep, 1000000, "[", "", false, "");
    offer_model("", deep.at, "not JSON");
    put(&arrays, "\"a\":");
    put(&arrays, deep.at);
    offer_model(arrays.at, "{}", "not a JSON object");
    free(deep.at), free(arrays.at);
}

static void test_hostile__sizes_beyond_the_machine(void **state)
{
    (void)state;
    static const char form[] = "\"drift.0.weight\":{\"dtype\":\"F64\",\"shape\":[%s],\"data_offsets\":[%s]}";
    static const struct {
        const char *shape, *offsets, *reason;
    } list[] = {
        {"9223372036854775807,1", "0,8", "data_offsets do not fit the file"},
        {"9223372036854775808,1", "0,8", "not a JSON object"}, /* no whole number of 64 bits */
        {"4294967296,4294967296", "0,0", "data_offsets do not agree with the shape"},
        {"0,9223372036854775807", "0,0", "d and state do not agree"}, /* no bytes; what it is for is asked later */
        {"1e300,1", "0,0", "shape is not two sizes"},
        {"1,1", "-8,0", "data_offsets do not fit the file"},
        {"1,1", "9223372036854775800,9223372036854775807", "data_offsets do not fit the file"},
        {"0,0", "0,0,0", "data_offsets do not fit the file"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char arrays[256];
        snprintf(arrays, sizeof arrays, form, list[i].shape, list[i].offsets);
        offer_model(arrays, "{}", list[i].reason); /* shapes are compared with the bytes that are there: none */
    }
    offer_model("\"a\":{},\"a\":{}", "{}", "not a JSON object");
    offer_model("\"a\":7", "{}", "dtype is not F64 in a");
}

/* ---- Data ---- */

static void offer_csv(const text *t, sock_status wanted, const char *reason)
{
    sock_context *ctx = sock_context_new();
    sock_data *data = NULL;
    clock_t start = clock();
    sock_status status = sk_csv_parse(ctx, "bomb.csv", t->at, t->length, NULL, &data);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (status != wanted || !strstr(sock_message(ctx), reason))
        fail_msg("status %d, message '%.200s', wanted '%s'", status, sock_message(ctx), reason);
    if (seconds > SECONDS) fail_msg("%g seconds for a file of %zu bytes", seconds, t->length);
    sock_data_free(data);
    sock_context_free(ctx);
}

static void test_hostile__a_hundred_thousand_columns(void **state)
{
    (void)state;
    text t = {0};
    put(&t, "t,");
    put_many(&t, 100000, "x", "", true, ",");
    put(&t, "\n0,");
    put_many(&t, 100000, "1", "", false, ",");
    put(&t, "\n1,");
    put_many(&t, 100000, "2", "", false, ",");
    put(&t, "\n");
    offer_csv(&t, SOCK_OK, "");
    t.length = 0;
    put(&t, "t,");
    put_many(&t, 100000, "x", "", true, ",");
    put(&t, ",x7\n0,1\n");
    offer_csv(&t, SOCK_EINPUT, "x7");
    free(t.at);
}

static void test_hostile__a_cell_of_megabytes(void **state)
{
    (void)state;
    text t = {0};
    put(&t, "traj,t,x\n\"");
    put_many(&t, 4000000, "\"\"", "", false, "");
    put(&t, "\",0,1\n");
    offer_csv(&t, SOCK_OK, "");
    t.length = 0;
    put(&t, "t,x\n0,");
    put_many(&t, 4000000, "9", "", false, "");
    put(&t, "\n");
    offer_csv(&t, SOCK_EINPUT, "line 2, column 'x'");
    free(t.at);
}

/* Trajectories whose names fall anywhere in the table of names, all of one row. */
static void test_hostile__a_trajectory_for_each_row(void **state)
{
    (void)state;
    text t = {0};
    put(&t, "traj,t,x\n");
    put_many(&t, 200000, "run-", ",0,1\n", true, "");
    put(&t, "run-0,1,1\n");
    offer_csv(&t, SOCK_OK, "");
    free(t.at);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_hostile__a_hundred_thousand_states),
        TEST(test_hostile__thousands_of_empty_arrays),
        TEST(test_hostile__thousands_of_terms),
        TEST(test_hostile__a_long_sum_of_polynomials),
        TEST(test_hostile__deep_nesting),
        TEST(test_hostile__sizes_beyond_the_machine),
        TEST(test_hostile__a_hundred_thousand_columns),
        TEST(test_hostile__a_cell_of_megabytes),
        TEST(test_hostile__a_trajectory_for_each_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
