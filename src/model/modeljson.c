/* modeljson.c - a model inside a JSON text: what a model file says of the terms, and its arrays as lists of rows.
 * Numbers have 17 digits, which read back as they were. */
#include "model/modelfile.h"

#include <string.h>

static json_t *write_array(const sk_tensor *tensor)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < tensor->rows; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < tensor->cols; k++)
            json_array_append_new(row, json_real(tensor->values[i * tensor->cols + k]));
        json_array_append_new(rows, row);
    }
    return rows;
}

sock_status sk_model_to_json(sock_context *ctx, const sock_model *model, json_t **out)
{
    sk_saving s = {.ctx = ctx};
    json_t *description = json_object(), *arrays = json_object(), *whole = json_object();
    sock_status status = sk_save_terms(&s, model, description);
    for (size_t i = 0; status >= 0 && i < s.tensors.count; i++)
        json_object_set_new(arrays, s.tensors.at[i].name, write_array(&s.tensors.at[i]));
    json_object_set_new(whole, "description", description);
    json_object_set_new(whole, "arrays", arrays);
    sk_saving_clear(&s);
    if (status < 0)
        json_decref(whole);
    else
        *out = whole;
    return status;
}

/* ---- Reading ---- */

/* Numbers of all arrays; SIZE_MAX: something is no list of rows with as many numbers each. */
static size_t count_numbers(json_t *arrays)
{
    const char *name;
    json_t *rows, *row;
    size_t i, count = 0;
    json_object_foreach(arrays, name, rows)
    {
        if (!json_is_array(rows)) return SIZE_MAX;
        json_array_foreach(rows, i, row)
        {
            if (!json_is_array(row) || json_array_size(row) != json_array_size(json_array_get(rows, 0)))
                return SIZE_MAX;
            count += json_array_size(row);
        }
    }
    return count;
}

/* A list without rows has no columns either: the weights of no features. */
static sock_status read_array(sk_loading *l, const char *name, json_t *rows, double *to)
{
    const size_t n = json_array_size(rows), m = json_array_size(json_array_get(rows, 0));
    if (strlen(name) >= sizeof l->tensors.at->name) return sk_bad_model(l, "a name is too long", NULL);
    for (size_t i = 0; i < n * m; i++) {
        const json_t *value = json_array_get(json_array_get(rows, i / m), i % m);
        if (!json_is_number(value)) return sk_bad_model(l, "something is no number", name);
        to[i] = json_number_value(value);
    }
    return sk_tensors_add(l->ctx, &l->tensors, name, n, m, to);
}

static sock_status read_arrays(sk_loading *l, json_t *arrays)
{
    const char *name;
    json_t *rows;
    const size_t count = count_numbers(arrays);
    if (!json_is_object(arrays) || count == SIZE_MAX)
        return sk_bad_model(l, "arrays are not lists of rows of numbers", NULL);
    double *at = l->tensors.storage = sk_doubles(l->ctx, count, 1);
    if (!at) return SOCK_ENOMEM;
    json_object_foreach(arrays, name, rows)
    {
        SK_TRY(read_array(l, name, rows, at));
        at += json_array_size(rows) * json_array_size(json_array_get(rows, 0));
    }
    return SOCK_OK;
}

sock_status sk_model_of_json(sock_context *ctx, const char *place, json_t *value, sock_model **out)
{
    sk_loading l = {.ctx = ctx, .path = place};
    json_t *description = json_object_get(value, "description");
    sock_status status = json_is_object(description) ? read_arrays(&l, json_object_get(value, "arrays"))
                                                     : sk_bad_model(&l, "there is no description", NULL);
    if (status >= 0) status = sk_load_terms(&l, description, json_object_get(description, "spread"));
    sk_tensors_clear(&l.tensors);
    if (status < 0)
        sock_model_free(l.model);
    else
        *out = l.model;
    return status;
}
