/* cmd_info.c - sock info: what is in a data file or a model. */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>

static const char *const keys[] = {"id", "time", "state", "group", "grouping", "dt", NULL};

/* A model file is a safetensors file: eight bytes of length, then the brace of a JSON header. */
static bool looks_like_model(const char *path)
{
    unsigned char start[9];
    FILE *file = fopen(path, "rb");
    size_t got = file ? fread(start, 1, sizeof start, file) : 0;
    if (file) fclose(file);
    return got == sizeof start && start[8] == '{' && start[7] == 0 && start[6] == 0;
}

/* Prints an object as lines "key  value"; objects inside are indented, lists stay on the line. */
static void print_object(json_t *object, int indent)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (json_is_object(value)) {
            printf("%*s%s\n", indent, "", key);
            print_object(value, indent + 2);
            continue;
        }
        char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(8));
        printf("%*s%-*s %s\n", indent, "", 24 - indent, key, text ? text : json_string_value(value));
        free(text);
    }
}

static int run(int count, char **arguments)
{
    cli c;
    sock_data *data = NULL;
    sock_model *model = NULL;
    char *text = NULL;
    int code = cli_begin(&c, &verb_info, NULL, count, arguments);
    if (code < 0) code = cli_operands(&c, 1);
    if (code >= 0) goto out;
    sock_status status;
    if (looks_like_model(c.operand[0])) {
        status = sock_model_load(c.ctx, c.operand[0], &model);
        if (status >= 0) status = sock_model_info(c.ctx, model, &text);
    } else {
        status = sock_data_read(c.ctx, c.operand[0], c.opts, &data);
        if (status >= 0) status = sock_data_summary(c.ctx, data, &text);
    }
    if (status < 0) {
        code = cli_fail(&c, status);
        goto out;
    }
    json_t *object = c.json ? NULL : json_loads(text, 0, NULL);
    if (object)
        print_object(object, 0);
    else
        printf("%s\n", text);
    json_decref(object);
    code = cli_finish_output(&c);
out:
    sock_string_free(text);
    sock_model_free(model);
    sock_data_free(data);
    cli_end(&c);
    return code;
}

const cli_verb verb_info = {"info",
                            "info FILE [options]",
                            "describe a data file or a model",
                            "  sock info train.csv\n  sock info model.sock",
                            keys,
                            run};
