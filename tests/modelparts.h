/* modelparts.h - a model file taken apart, to look at or to damage, and put together again. */
#ifndef SK_MODELPARTS_H
#define SK_MODELPARTS_H

#include "modelcases.h"

/* A file taken apart: its header and the description inside as JSON, the numbers as bytes. */
typedef struct file_parts {
    json_t *header, *model;
    unsigned char *data;
    size_t size;
} file_parts;

static inline file_parts take_apart(const char *path)
{
    file_parts p;
    size_t size;
    unsigned char *bytes = read_bytes(path, &size);
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--) length = length << 8 | bytes[i];
    assert_true(length <= size - 8);
    p.header = json_loadb((const char *)bytes + 8, length, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(p.header);
    p.size = size - 8 - length;
    p.data = malloc(p.size + 64);
    memcpy(p.data, bytes + 8 + length, p.size);
    free(bytes);
    json_t *metadata = json_object_get(p.header, "__metadata__");
    p.model = json_loads(json_string_value(json_object_get(metadata, "model")), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(p.model);
    return p;
}

static inline void put_together(const char *path, file_parts *p)
{
    json_t *metadata = json_object_get(p->header, "__metadata__");
    if (p->model && json_is_object(metadata) && json_object_get(metadata, "model")) {
        char *text = json_dumps(p->model, JSON_COMPACT | JSON_ENCODE_ANY);
        json_object_set_new(metadata, "model", json_string(text));
        free(text);
    }
    char *text = json_dumps(p->header, JSON_COMPACT | JSON_ENCODE_ANY);
    uint64_t length = strlen(text);
    unsigned char *bytes = malloc(8 + length + p->size);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, text, length);
    memcpy(bytes + 8 + length, p->data, p->size);
    write_bytes(path, bytes, 8 + length + p->size);
    free(text), free(bytes), free(p->data);
    json_decref(p->header), json_decref(p->model);
}

static inline void save_expansion(fixture *f, size_t d)
{
    sock_data *data = make_data(f, d);
    sock_model *model = fit(f, data, "gauss:eta=1", "implicit", "exact");
    good(f, sock_model_save(f->ctx, model, f->path));
    sock_model_free(model);
    sock_data_free(data);
}

#endif
