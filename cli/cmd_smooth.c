/* cmd_smooth.c - sock smooth: the states of measured trajectories, given all their observations.
 *
 * Columns: traj, t, the states, and sd_<name> for each: the standard deviation of what is not known of it. Of a model
 * of order 2 the states are positions and velocities. */
#include "api/record.h"
#include "modeldata.h"
#include "table.h"

#include <stdlib.h>

static const char *const keys[] = {"id",        "time", "state", "group", "dt", "missing",
                                   "time-unit", "log",  "wide",  "every", NULL};

static void write_time(table *out, const char *unit, double t)
{
    char text[SK_RECORD_TIME_SIZE];
    if (!*unit) {
        table_number(out, t);
        return;
    }
    sk_record_time(unit, t, text);
    table_text(out, text);
}

static void write_rows(table *out, const char *unit, size_t d, const sock_data *data, const double *mean,
                       const double *sd)
{
    size_t point = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t, *x;
        const size_t length = sock_data_trajectory(data, j, &t, &x);
        for (size_t i = 0; i < length; i++, point++) {
            table_number(out, (double)j);
            write_time(out, unit, t[i]);
            for (size_t k = 0; k < d; k++) table_number(out, mean[point * d + k]);
            for (size_t k = 0; k < d; k++) table_number(out, sd[point * d + k]);
            table_end_row(out);
        }
    }
}

static void write_header(table *out, const sock_model *model)
{
    const size_t d = sock_model_dim(model);
    table_name(out, "", "traj", NULL);
    table_name(out, "", "t", NULL);
    for (size_t k = 0; k < d; k++) table_name(out, "", sock_model_name(model, k), NULL);
    for (size_t k = 0; k < d; k++) table_name(out, "sd_", sock_model_name(model, k), NULL);
    table_end_row(out);
}

static int write_states(const cli *c, const sock_model *model, const sock_data *data, const char *path)
{
    const size_t d = sock_model_dim(model), numbers = sock_data_points(data) * d;
    char unit[UNIT_ROOM];
    model_unit(c, model, unit);
    if (!sk_record_has_dates(unit, data)) unit[0] = 0;
    double *mean = calloc(numbers, sizeof *mean), *sd = calloc(numbers, sizeof *sd);
    const sock_status status = mean && sd ? sock_smooth(c->ctx, model, data, mean, sd) : SOCK_ENOMEM;
    table out;
    int code = status < 0 ? cli_fail(c, status) : table_open(c, &out, path, c->json);
    if (code < 0) {
        write_header(&out, model);
        write_rows(&out, unit, d, data, mean, sd);
        code = table_close(&out);
    }
    free(mean);
    free(sd);
    return code;
}

static int run(int count, char **arguments)
{
    const char *output = NULL;
    const cli_option own[] = {{"output", 'o', &output, NULL, "FILE", "where the table goes (default: standard output)"},
                              {0}};
    cli c;
    sock_model *model = NULL;
    sock_data *data = NULL;
    int code = cli_begin(&c, &verb_smooth, own, count, arguments);
    if (code < 0) code = cli_operands(&c, 2);
    if (code < 0) code = cli_check_output(&c, output);
    if (code >= 0) goto out;
    const sock_status status = sock_model_load(c.ctx, c.operand[0], &model);
    code = status < 0 ? cli_fail(&c, status) : model_data_read(&c, model, c.operand[1], &data);
    if (code < 0) code = write_states(&c, model, data, output);
out:
    sock_data_free(data);
    sock_model_free(model);
    cli_end(&c);
    return code;
}

const cli_verb verb_smooth = {
    "smooth",
    "smooth MODEL DATA [-o FILE]",
    "the states behind measured trajectories, by a model with measurement noise or of order 2",
    "  sock smooth model.sock data.csv -o states.csv",
    keys,
    run};
