/* test_modeldamage.c - files that are cut, changed, or made to deceive: each is refused, by name and with the reason.
 */
#define _GNU_SOURCE
#include "modelcases.h"
#include "modelparts.h"

#include <sys/mman.h>

static void refused(fixture *f, const char *reason)
{
    sock_model *model = NULL;
    sock_status status = sock_model_load(f->ctx, f->path, &model);
    if (status != SOCK_EINPUT || model) fail_msg("%s: status %d, message '%s'", reason, status, sock_message(f->ctx));
    if (!strstr(sock_message(f->ctx), f->path) || !strstr(sock_message(f->ctx), reason))
        fail_msg("'%s' does not name the file and '%s'", sock_message(f->ctx), reason);
}

static void save_victim(fixture *f, size_t d)
{
    sock_model *model = model_by_hand(f, d);
    good(f, sock_model_save(f->ctx, model, f->path));
    sock_model_free(model);
}

/* The bytes of a good file; from here on f->path is a file in memory, so that thousands can be written. */
static unsigned char *take_to_memory(fixture *f, size_t *size, int *handle)
{
    save_victim(f, 1);
    unsigned char *bytes = read_bytes(f->path, size);
    unlink(f->path);
    *handle = memfd_create("victim", MFD_CLOEXEC);
    assert_true(*handle >= 0);
    snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", *handle);
    return bytes;
}

static void put_in_memory(int handle, const unsigned char *bytes, size_t size)
{
    assert_int_equal(ftruncate(handle, 0), 0);
    assert_int_equal(pwrite(handle, bytes, size, 0), size);
}

static void test_modeldamage__truncated_anywhere(void **state)
{
    fixture *f = *state;
    size_t size;
    int handle;
    unsigned char *bytes = take_to_memory(f, &size, &handle);
    for (size_t cut = 0; cut < size; cut++) {
        put_in_memory(handle, bytes, cut);
        refused(f, "not a valid model file");
    }
    memcpy(bytes + size, "more", 4);
    put_in_memory(handle, bytes, size + 4);
    refused(f, "belong to no array");
    close(handle);
    free(bytes);
}

/* Any byte changed in the header: the file is refused, or what it holds can be evaluated. */
static void test_modeldamage__damaged_anywhere(void **state)
{
    fixture *f = *state;
    size_t size;
    int handle;
    unsigned char *bytes = take_to_memory(f, &size, &handle);
    static const unsigned char bad[] = {0, '"', '9', 0xff};
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < sizeof bad; j++) {
            unsigned char old = bytes[i];
            sock_model *model = NULL;
            double x = 0.5, out = 0;
            bytes[i] = bad[j];
            put_in_memory(handle, bytes, size);
            sock_status status = sock_model_load(f->ctx, f->path, &model);
            if (status >= 0)
                status = sock_model_drift(f->ctx, model, 1, &x, &out);
            else
                assert_int_equal(status, SOCK_EINPUT);
            sock_model_free(model);
            bytes[i] = old;
        }
    close(handle);
    free(bytes);
}

static void raw(fixture *f, uint64_t length, const char *text, const char *reason)
{
    unsigned char bytes[512];
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, text, strlen(text));
    write_bytes(f->path, bytes, 8 + strlen(text));
    refused(f, reason);
}

static void test_modeldamage__broken_headers(void **state)
{
    fixture *f = *state;
    static const char none[] = "{\"__metadata__\":{}}", twice[] = "{\"__metadata__\":{},\"__metadata__\":{}}";
    raw(f, (uint64_t)1 << 63, none, "beyond the file");
    raw(f, UINT64_MAX, none, "beyond the file");
    raw(f, UINT64_MAX - 7, none, "beyond the file");
    raw(f, sizeof none, none, "beyond the file");
    raw(f, 0xf741414141414141, none, "this is text"); /* "AAAAAAA" and a letter of several bytes */
    raw(f, 0xf841414141414141, none, "beyond the file");
    raw(f, 0, none, "header");
    raw(f, 1, none, "header");
    raw(f, 5, none, "not a JSON object");
    raw(f, 2, "[]", "not a JSON object");
    raw(f, 2, "{}", "__metadata__");
    raw(f, 19, "{\"__metadata__\":12}", "__metadata__");
    raw(f, sizeof none - 1, none, "not written by sock");
    raw(f, sizeof twice - 1, twice, "not a JSON object");
    raw(f, 4, "\"\xff\xfe\"", "not a JSON object");
    char deep[401];
    memset(deep, '[', 400);
    deep[400] = 0;
    raw(f, 400, deep, "not a JSON object");
}

/* What to do to the parts of a good file, and what the refusal says. */
typedef struct damage {
    const char *name; /* of the array or key that is hit */
    void (*hit)(file_parts *p, const char *name);
    const char *reason;
} damage;

static json_t *entry(file_parts *p, const char *name)
{
    json_t *found = json_object_get(p->header, name);
    if (!found) fail_msg("the file has no array %s", name);
    return found;
}

static json_int_t offset(file_parts *p, const char *name, size_t end)
{
    return json_integer_value(json_array_get(json_object_get(entry(p, name), "data_offsets"), end));
}

static void drop_array(file_parts *p, const char *name) /* its bytes go too, so that the rest stays valid */
{
    json_int_t begin = offset(p, name, 0), end = offset(p, name, 1);
    memmove(p->data + begin, p->data + end, p->size - (size_t)end);
    p->size -= (size_t)(end - begin);
    json_object_del(p->header, name);
    const char *key;
    json_t *value;
    json_object_foreach(p->header, key, value)
    {
        if (strcmp(key, "__metadata__") == 0 || offset(p, key, 0) < end) continue;
        json_int_t from = offset(p, key, 0) - (end - begin), to = offset(p, key, 1) - (end - begin);
        json_object_set_new(value, "data_offsets", json_pack("[I,I]", from, to));
    }
}

static void add_array(file_parts *p, const char *name)
{
    memset(p->data + p->size, 0, 8);
    json_object_set_new(p->header, name,
                        json_pack("{s:s, s:[i,i], s:[I,I]}", "dtype", "F64", "shape", 1, 1, "data_offsets",
                                  (json_int_t)p->size, (json_int_t)p->size + 8));
    p->size += 8;
}

static void wrong_dtype(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "dtype", json_string("F32"));
}

static void swap_shape(file_parts *p, const char *name)
{
    json_t *shape = json_object_get(entry(p, name), "shape");
    json_t *rows = json_incref(json_array_get(shape, 0)), *cols = json_incref(json_array_get(shape, 1));
    json_array_set_new(shape, 0, cols);
    json_array_set_new(shape, 1, rows);
}

static void one_more_row(file_parts *p, const char *name)
{
    json_t *shape = json_object_get(entry(p, name), "shape");
    json_array_set_new(shape, 0, json_integer(json_integer_value(json_array_get(shape, 0)) + 1));
}

static void huge_shape(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "shape", json_pack("[I,I]", (json_int_t)1 << 62, (json_int_t)4));
}

static void negative_shape(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "shape", json_pack("[i,i]", -1, -1));
}

static void flat_shape(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "shape", json_pack("[I]", offset(p, name, 1) / 8));
}

static void set_entry(file_parts *p, const char *name, const char *key, json_t *value)
{
    json_object_set_new(entry(p, name), key, value);
}

static void no_shape(file_parts *p, const char *name) { json_object_del(entry(p, name), "shape"); }
static void no_offsets(file_parts *p, const char *name) { json_object_del(entry(p, name), "data_offsets"); }
static void no_dtype(file_parts *p, const char *name) { json_object_del(entry(p, name), "dtype"); }
static void not_an_entry(file_parts *p, const char *name) { json_object_set_new(p->header, name, json_integer(1)); }
static void broken_shape(file_parts *p, const char *name) { set_entry(p, name, "shape", json_pack("[f,i]", 1.5, 2)); }
static void broken_column(file_parts *p, const char *name) { set_entry(p, name, "shape", json_pack("[i,s]", 1, "2")); }
static void no_rows(file_parts *p, const char *name) { set_entry(p, name, "shape", json_pack("[i,i]", 0, 2)); }
static void no_columns(file_parts *p, const char *name) { set_entry(p, name, "shape", json_pack("[i,i]", 2, 0)); }

static void minus_offsets(file_parts *p, const char *name)
{
    set_entry(p, name, "data_offsets", json_pack("[i,i]", -8, 0));
}

static void odd_length(file_parts *p, const char *name)
{
    set_entry(p, name, "data_offsets", json_pack("[i,i]", 0, 7));
}

/* Many rows without a column, where the numbers were. */
static void huge_and_empty(file_parts *p, const char *name)
{
    drop_array(p, name);
    json_object_set_new(p->header, name,
                        json_pack("{s:s, s:[I,i], s:[I,I]}", "dtype", "F64", "shape", (json_int_t)1 << 62, 0,
                                  "data_offsets", (json_int_t)p->size, (json_int_t)p->size));
}

/* As many rows as there were, and no columns. */
static void rows_alone(file_parts *p, const char *name)
{
    json_int_t rows = json_integer_value(json_array_get(json_object_get(entry(p, name), "shape"), 0));
    huge_and_empty(p, name);
    set_entry(p, name, "shape", json_pack("[I,i]", rows, 0));
}

static void odd_place(file_parts *p, const char *name)
{
    set_entry(p, name, "shape", json_pack("[i,i]", 1, 1));
    set_entry(p, name, "data_offsets", json_pack("[i,i]", 4, 12));
}

static void overlap(file_parts *p, const char *name)
{
    json_int_t length = offset(p, name, 1) - offset(p, name, 0);
    json_object_set_new(entry(p, name), "data_offsets", json_pack("[I,I]", (json_int_t)0, length));
}

static void hole(file_parts *p, const char *name)
{
    (void)name;
    memmove(p->data + 8, p->data, p->size);
    p->size += 8;
    const char *key;
    json_t *value;
    json_object_foreach(p->header, key, value)
    {
        if (strcmp(key, "__metadata__") == 0) continue;
        json_object_set_new(value, "data_offsets", json_pack("[I,I]", offset(p, key, 0) + 8, offset(p, key, 1) + 8));
    }
}

static void beyond(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "data_offsets", json_pack("[I,I]", offset(p, name, 0), INT64_MAX));
}

static void backwards(file_parts *p, const char *name)
{
    json_object_set_new(entry(p, name), "data_offsets", json_pack("[I,I]", offset(p, name, 1), offset(p, name, 0)));
}

static void put_number(file_parts *p, const char *name, double value)
{
    memcpy(p->data + offset(p, name, 0), &value, 8);
}

static void put_nan(file_parts *p, const char *name) { put_number(p, name, NAN); }
static void put_infinity(file_parts *p, const char *name) { put_number(p, name, -INFINITY); }
static void put_half(file_parts *p, const char *name) { put_number(p, name, 0.5); }
static void put_nine(file_parts *p, const char *name) { put_number(p, name, 9); }
static void put_minus(file_parts *p, const char *name) { put_number(p, name, -1); }

static void drop_key(file_parts *p, const char *name) { json_object_del(p->model, name); }
static void text_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_string("1")); }
static void zero_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_integer(0)); }
static void three_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_integer(3)); }
static void minus_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_real(-0.5)); }
static void false_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_false()); }
static void list_key(file_parts *p, const char *name) { json_object_set_new(p->model, name, json_pack("[i]", 3)); }

static void same_names(file_parts *p, const char *name)
{
    json_object_set_new(p->model, name, json_pack("[s,s]", "x", "x"));
}
static void empty_name(file_parts *p, const char *name)
{
    json_object_set_new(p->model, name, json_pack("[s,s]", "x", ""));
}
static void number_name(file_parts *p, const char *name)
{
    json_object_set_new(p->model, name, json_pack("[s,i]", "x", 1));
}

static void metadata(file_parts *p, const char *key, json_t *value)
{
    json_object_set_new(json_object_get(p->header, "__metadata__"), key, value);
    if (strcmp(key, "model") != 0) return;
    json_decref(p->model); /* put_together would write it over the value */
    p->model = NULL;
}

static void other_format(file_parts *p, const char *name) { metadata(p, name, json_string("pt")); }
static void other_version(file_parts *p, const char *name) { metadata(p, name, json_string("999")); }
static void not_text(file_parts *p, const char *name) { metadata(p, name, json_integer(1)); }

static void nonsense(file_parts *p, const char *name) { metadata(p, name, json_string("{nonsense")); }

/* The text of term 0 of the drift, in a file whose drift is a kernel expansion or a feature map. */
static void set_text(file_parts *p, const char *key, const char *text)
{
    json_object_set_new(json_array_get(json_object_get(p->model, "drift"), 0), key, json_string(text));
}

static void features_nonsense(file_parts *p, const char *name) { set_text(p, "features", name); }
static void kernel_nonsense(file_parts *p, const char *name) { set_text(p, "kernel", name); }

static void drop_features(file_parts *p, const char *name)
{
    json_object_del(json_array_get(json_object_get(p->model, name), 0), "features");
}

static void drop_diagonal(file_parts *p, const char *name)
{
    json_object_del(json_array_get(json_object_get(p->model, name), 1), "diagonal");
}

static void text_diagonal(file_parts *p, const char *name)
{
    json_object_set_new(json_array_get(json_object_get(p->model, name), 1), "diagonal", json_string("yes"));
}

static void list_text(file_parts *p, const char *name) { metadata(p, name, json_string("[]")); }

/* Beyond the range of numbers: JSON has none that is not finite. */
static void huge_floor(file_parts *p, const char *name)
{
    char *text = json_dumps(p->model, JSON_COMPACT), *floor = strstr(text, "\"floor\":0.125");
    assert_non_null(floor);
    memcpy(floor + strlen("\"floor\":"), "1e999", 5);
    metadata(p, name, json_string(text));
    free(text);
}

static void drop_term(file_parts *p, const char *name) { json_array_remove(json_object_get(p->model, name), 0); }

static void run_damage(fixture *f, size_t count, const damage *list, void (*save)(fixture *f, size_t d))
{
    save(f, 2);
    assert_int_equal(rename(f->path, f->other), 0); /* saved once: a safe save waits for the disk */
    for (size_t i = 0; i < count; i++) {
        file_parts p = take_apart(f->other);
        list[i].hit(&p, list[i].name);
        put_together(f->path, &p);
        refused(f, list[i].reason);
    }
}

static void test_modeldamage__damaged_arrays(void **state)
{
    static const damage list[] = {
        {"drift.0.weight", drop_array, "drift.0.weight"},
        {"diffusion.0.v", drop_array, "diffusion.0.v"},
        {"diffusion.1.owner", drop_array, "diffusion.1.owner"},
        {"diffusion.0.map.0.omega", drop_array, "not a valid model file"},
        {"diffusion.1.map.0.factor", drop_array, "not a valid model file"},
        {"drift.1.weight", add_array, "belongs to no term"},
        {"drift.0.map.0.omega", add_array, "not a valid model file"},
        {"stranger", add_array, "belongs to no term"},
        {"drift.0.weight", wrong_dtype, "dtype is not F64 in drift.0.weight"},
        {"drift.0.weight", swap_shape, "wrong shape in drift.0.weight"},
        {"diffusion.0.v", swap_shape, "wrong shape in diffusion.0.v"},
        {"diffusion.1.map.0.landmarks", swap_shape, "not a valid model file"},
        {"drift.0.weight", one_more_row, "do not agree with the shape"},
        {"drift.0.weight", huge_shape, "data_offsets do not agree with the shape in drift.0.weight"},
        {"drift.0.weight", rows_alone, "wrong shape in drift.0.weight"},
        {"drift.0.weight", huge_and_empty, "wrong shape in drift.0.weight"},
        {"diffusion.0.v", huge_and_empty, "wrong shape in diffusion.0.v"},
        {"drift.0.weight", negative_shape, "shape is not two sizes in drift.0.weight"},
        {"drift.0.weight", flat_shape, "shape is not two sizes in drift.0.weight"},
        {"drift.0.weight", no_shape, "shape is not two sizes in drift.0.weight"},
        {"drift.0.weight", broken_shape, "shape is not two sizes in drift.0.weight"},
        {"drift.0.weight", broken_column, "shape is not two sizes in drift.0.weight"},
        {"drift.0.weight", no_rows, "data_offsets do not agree with the shape in drift.0.weight"},
        {"drift.0.weight", no_columns, "data_offsets do not agree with the shape in drift.0.weight"},
        {"drift.0.weight", odd_length, "data_offsets do not agree with the shape in drift.0.weight"},
        {"drift.0.weight", odd_place, "data_offsets do not agree with the shape in drift.0.weight"},
        {"drift.0.weight", no_offsets, "data_offsets do not fit the file in drift.0.weight"},
        {"drift.0.weight", minus_offsets, "data_offsets do not fit the file in drift.0.weight"},
        {"drift.0.weight", no_dtype, "dtype is not F64 in drift.0.weight"},
        {"drift.0.weight", not_an_entry, "dtype is not F64 in drift.0.weight"},
        {"a.name.that.is.far.longer.than.any.array.of.a.model.and.that.would.not.fit.into.the.place.for.it", add_array,
         "a name is too long"},
        {"diffusion.1.map.0.landmarks", drop_array, "a feature map has no array '0.landmarks'"},
        {"diffusion.0.map.0.beta", drop_array, "a feature map has no array '0.beta'"},
        {"diffusion.0.v", overlap, "overlap or leave a hole"},
        {"drift.0.weight", hole, "overlap or leave a hole"},
        {"drift.0.weight", beyond, "data_offsets"},
        {"drift.0.weight", backwards, "data_offsets"},
        {"drift.0.weight", put_nan, "not finite"},
        {"diffusion.0.v", put_infinity, "not finite"},
        {"diffusion.1.owner", put_half, "belongs to no component"},
        {"diffusion.1.owner", put_nine, "belongs to no component"},
        {"diffusion.1.owner", put_minus, "belongs to no component"},
        {"diffusion.1.map.0.factor", put_minus, "diagonal"},
    };
    run_damage(*state, sizeof list / sizeof list[0], list, save_victim);
}

static void test_modeldamage__damaged_description(void **state)
{
    static const damage list[] = {
        {"d", drop_key, "d and state"},
        {"d", zero_key, "d and state"},
        {"d", three_key, "d and state"},
        {"d", minus_key, "d and state"},
        {"d", text_key, "d and state"},
        {"state", drop_key, "d and state"},
        {"state", same_names, "two states have the name in x"},
        {"state", empty_name, "state name"},
        {"state", number_name, "state name"},
        {"drift", drop_key, "not a list"},
        {"diffusion", text_key, "not a list"},
        {"diffusion", drop_key, "not a list"},
        {"drift", text_key, "not a list"},
        {"drift", zero_key, "not a list"},
        {"diffusion", list_key, "a term has no features in diffusion"},
        {"diffusion", text_diagonal, "diagonal is not true or false in diffusion.1.v"},
        {"model", list_text, "its description is not JSON"},
        {"info", list_text, "its description is not JSON"},
        {"info", not_text, "its description is not JSON"},
        {"model", huge_floor, "its description is not JSON"},
        {"format_version", not_text, "format version '' is not known; this program reads versions 1 and 2"},
        {"drift", list_key, "features"},
        {"drift", drop_features, "features"},
        {"drift", drop_term, "belongs to no term"},
        {"diffusion", drop_term, "not a valid model file"},
        {"diffusion", drop_diagonal, "diagonal"},
        {"floor", drop_key, "floor"},
        {"floor", minus_key, "floor"},
        {"floor", text_key, "floor"},
        {"has_diffusion", drop_key, "has_diffusion"},
        {"has_diffusion", false_key, "has_diffusion"},
        {"has_diffusion", text_key, "has_diffusion"},
        {"format", other_format, "not written by sock"},
        {"format", not_text, "not written by sock"},
        {"format_version", other_version, "format version '999' is not known"},
        {"model", nonsense, "not JSON"},
        {"info", nonsense, "not JSON"},
        {"model", not_text, "not JSON"},
        {"", features_nonsense, "not a valid model file"},
        {"gauss:eta=1", features_nonsense, "not a valid model file"},
        {"poly:degree=3", features_nonsense, "wrong shape in drift.0.weight"},
        {"poly:degree=0", features_nonsense, "degree"},
        {"pivoted(", features_nonsense, "not a valid model file"},
        {"pivoted(gauss:eta=1)", features_nonsense, "not a valid model file"},
        {"no such kernel", features_nonsense, "unknown kernel 'no'"},
    };
    run_damage(*state, sizeof list / sizeof list[0], list, save_victim);
}

static void test_modeldamage__damaged_kernels(void **state)
{
    static const damage list[] = {
        {"", kernel_nonsense, "name is missing"},
        {"gauss", kernel_nonsense, "no eta"},
        {"gauss:eta=0", kernel_nonsense, "eta is '0'"},
        {"gauss:eta=1+curlfree", kernel_nonsense, "no eta"},
        {"divfree", kernel_nonsense, "a kernel has no eta in drift.0.centre"},
        {"gauss:eta=1,B=[1 0 0;0 1 0;0 0 1]", kernel_nonsense, "B"},
        {"gauss:eta=1,B=[1 2;2 1]", kernel_nonsense, "semi-definite"},
        {"fourier:p=3,eta=1", kernel_nonsense, "fourier"},
        {"nystrom:m=3,eta=1", kernel_nonsense, "fourier or nystrom"},
        {"callback", kernel_nonsense, "unknown kernel 'callback'"},
        {"gauss:eta=1;rm", kernel_nonsense, "eta is"},
        {"drift.0.centre", drop_array, "drift.0.centre"},
        {"drift.0.weight", drop_array, "drift.0.weight"},
        {"drift.0.centre", swap_shape, "wrong shape in drift.0.centre"},
        {"drift.0.centre", huge_and_empty, "wrong shape in drift.0.centre"},
        {"drift.0.weight", swap_shape, "drift.0.weight"},
    };
    run_damage(*state, sizeof list / sizeof list[0], list, save_expansion);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(test_modeldamage__truncated_anywhere),  MODEL_TEST(test_modeldamage__damaged_anywhere),
        MODEL_TEST(test_modeldamage__broken_headers),      MODEL_TEST(test_modeldamage__damaged_arrays),
        MODEL_TEST(test_modeldamage__damaged_description), MODEL_TEST(test_modeldamage__damaged_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
