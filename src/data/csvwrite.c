/* csvwrite.c - a data set as a long CSV file that reads back to the same numbers, or dates. */
#include "base/printable.h"
#include "base/safefile.h"
#include "data.h"
#include "dates.h"

#include <string.h>

/* Quoted when it would not read back as it is: delimiters, quotes, line ends, blanks at its edges. With an apostrophe
 * in front where a spreadsheet would take it for a formula. */
static void write_text(sk_file *file, const char *text)
{
    size_t length = strlen(text);
    const bool armed = sk_is_formula(text);
    bool edged = length == 0 || strchr(" \t", text[0]) || strchr(" \t", text[length - 1]);
    if (!edged && !strpbrk(text, ",\"\r\n")) {
        sk_write(file, "'", armed);
        sk_write(file, text, length);
        return;
    }
    sk_write(file, armed ? "\"'" : "\"", 1 + (size_t)armed);
    for (const char *p = text; *p; p++) {
        if (*p == '"') sk_write(file, "\"", 1);
        sk_write(file, p, 1);
    }
    sk_write(file, "\"", 1);
}

static void write_header(sk_file *file, const sock_data *data)
{
    sk_write(file, "traj,t", 6);
    for (size_t k = 0; k < data->d; k++) {
        sk_write(file, ",", 1);
        write_text(file, data->state[k]);
    }
    for (size_t k = 0; k + data->timed < data->inputs; k++) {
        sk_write(file, ",", 1);
        write_text(file, data->input[k]);
    }
    sk_write(file, "\n", 1);
}

static void write_number(sk_file *file, double value)
{
    char text[33] = ",";
    sk_write(file, text, 1 + sk_print_double(text + 1, value));
}

static void write_time(sk_file *file, const sock_data *data, bool dated, double t)
{
    char text[SK_DATE_ROOM];
    if (!dated) {
        write_number(file, t);
        return;
    }
    sk_time_text(data->unit, t, text);
    sk_write(file, ",", 1);
    sk_write(file, text, strlen(text));
}

static void write_trajectory(sk_file *file, const sock_data *data, bool dated, size_t j)
{
    for (size_t i = data->first[j]; i < data->first[j + 1]; i++) {
        write_text(file, data->id[j]);
        write_time(file, data, dated, data->t[i]);
        for (size_t k = 0; k < data->d; k++) write_number(file, data->x[i * data->d + k]);
        for (size_t k = 0; k + data->timed < data->inputs; k++) write_number(file, data->u[i * data->inputs + k]);
        sk_write(file, "\n", 1);
    }
}

sock_status sock_data_write(sock_context *ctx, const sock_data *data, const char *path)
{
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!data || !path) return sk_fail(ctx, SOCK_EUSAGE, "data and path must not be NULL");
    for (size_t k = 0; k < data->d; k++)
        if (strcmp(data->state[k], "traj") == 0 || strcmp(data->state[k], "t") == 0)
            return sk_fail(ctx, SOCK_EUSAGE, "%s: a state column is named '%s', which the file uses itself", path,
                           data->state[k]);
    for (size_t k = 0; k + data->timed < data->inputs; k++)
        if (strcmp(data->input[k], "traj") == 0 || strcmp(data->input[k], "t") == 0)
            return sk_fail(ctx, SOCK_EUSAGE, "%s: an input is named '%s', which the file uses itself", path,
                           data->input[k]);
    sk_file *file = NULL;
    sock_status status = SOCK_OK;
    const bool dated = sk_times_are_dates(data->unit, data->points, data->t);
    SK_TRY(sk_file_create(ctx, path, &file));
    write_header(file, data);
    for (size_t j = 0; j < data->trajectories; j++) {
        SK_GO(sk_progress(ctx, "writing", (double)j / (double)data->trajectories));
        write_trajectory(file, data, dated, j);
    }
    return sk_file_commit(ctx, file);
out:
    sk_file_abandon(file);
    return status;
}
