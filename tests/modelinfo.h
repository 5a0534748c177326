/* modelinfo.h - what a model says of itself, by the context of the test program: included after a header with ctx. */
#ifndef SK_MODELINFO_H
#define SK_MODELINFO_H

#include "test.h"

#include <jansson.h>

static inline json_t *info_of(const sock_model *model)
{
    char *text = NULL;
    assert_int_equal(sock_model_info(ctx, model, &text), SOCK_OK);
    json_t *info = json_loads(text, 0, NULL);
    assert_non_null(info);
    sock_string_free(text);
    return info;
}

#endif
