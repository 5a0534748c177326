/* truths.h - known systems as models, for the tests that simulate and score. */
#ifndef SK_TRUTHS_H
#define SK_TRUTHS_H

#include "systems/systems.h"
#include "test.h"

typedef struct truth {
    sys_instance *instance;
    sock_model *model;
} truth;

static inline truth truth_of(sock_context *context, const char *name)
{
    truth t = {0};
    assert_int_equal(sys_new(context, sys_find(name), 1, &t.instance), SOCK_OK);
    assert_int_equal(sys_truth(context, t.instance, &t.model), SOCK_OK);
    return t;
}

static inline void truth_free(truth t)
{
    sock_model_free(t.model);
    sys_free(t.instance);
}

static inline sock_model *wrap_fields(sock_context *context, size_t d, sock_field_fn f, sock_field_fn a, void *user)
{
    sock_model *model = NULL;
    assert_int_equal(sock_model_wrap(context, d, NULL, f, a, user, &model), SOCK_OK);
    return model;
}

/* A data file of tests/data whose trajectories are the groups (one realisation each) or, by id "real", not. */
static inline sock_data *read_data(sock_context *context, const char *name, const char *id, const char *state)
{
    char path[512];
    sock_data *data = NULL;
    sock_options *opts = sock_options_new(context);
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    assert_int_equal(sock_options_set(context, opts, "id", id), SOCK_OK);
    assert_int_equal(sock_options_set(context, opts, "state", state), SOCK_OK);
    if (sock_data_read(context, path, opts, &data) < 0) fail_msg("%s", sock_message(context));
    sock_options_free(opts);
    return data;
}

#endif
