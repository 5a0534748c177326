/* cmd_eval.c - sock eval: the fields of a model at points from a file or on a grid.
 *
 * Columns: the state, f_<name>, and with a diffusion a_<name>_<name> for k <= l, then sigma_<name>_<name> row by row.
 */
#define _GNU_SOURCE
#include "cli.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

typedef struct fields {
    size_t d, count;
    double *x, *f, *a, *sigma; /* a and sigma are NULL for a model of the drift alone */
} fields;

/* ---- Points ---- */

/* One axis "low:high:count", or a single number. */
static bool parse_axis(const char *text, double *low, double *high, size_t *count)
{
    char *end;
    *low = *high = strtod(text, &end);
    *count = 1;
    if (end == text || *low - *low != 0) return false;
    if (!*end) return true;
    if (*end != ':') return false;
    text = end + 1;
    *high = strtod(text, &end);
    if (end == text || *end != ':') return false;
    text = end + 1;
    unsigned long long points;
    if (!cli_whole(text, &end, &points)) return false;
    *count = (size_t)points;
    return !*end && points >= 1 && points <= 100000000 && *high - *high == 0;
}

/* "-2:2:101" (the same for every coordinate) or one axis for each, with commas between; the last coordinate varies
 * fastest. */
static int make_grid(const cli *c, const char *text, fields *at)
{
    size_t d = at->d, axes = 1, total = 1, *count = calloc(d, sizeof *count);
    double *low = calloc(d, sizeof *low), *high = calloc(d, sizeof *high);
    char *copy = strdup(text);
    int code = count && low && high && copy ? -1 : cli_fail(c, SOCK_ENOMEM);
    for (const char *p = text; *p; p++) axes += *p == ',';
    if (code < 0 && axes != 1 && axes != d)
        code = cli_usage_error(c, "--grid is '%s': it has %zu axes; allowed: 1 or %zu, each LOW:HIGH:COUNT", text, axes,
                               d);
    char *rest = copy;
    for (size_t k = 0; code < 0 && k < d; k++) {
        char *axis = axes == 1 ? copy : strsep(&rest, ",");
        if (!parse_axis(axis, &low[k], &high[k], &count[k]))
            code = cli_usage_error(c, "--grid is '%s': '%s' is not LOW:HIGH:COUNT with finite numbers and a count >= 1",
                                   text, axis);
        else if (total > 100000000 / count[k])
            code = cli_usage_error(c, "--grid is '%s': more than 100 million points", text);
        else
            total *= count[k];
    }
    if (code < 0) code = cli_check_memory(c, 8.0 * (double)(total * d), "the grid", "take fewer points");
    if (code < 0 && !(at->x = calloc(total * d, sizeof *at->x))) code = cli_fail(c, SOCK_ENOMEM);
    for (size_t i = 0; code < 0 && i < total; i++)
        for (size_t k = d, rank = i; k-- > 0; rank /= count[k]) {
            size_t step = rank % count[k];
            double share = count[k] > 1 ? (double)step / (double)(count[k] - 1) : 0;
            at->x[i * d + k] = low[k] + (high[k] - low[k]) * share;
        }
    at->count = total;
    free(count), free(low), free(high), free(copy);
    return code;
}

/* ---- Output ---- */

static void write_header(table *out, const sock_model *model, bool diffusion)
{
    size_t d = sock_model_dim(model);
    for (size_t k = 0; k < d; k++) table_name(out, "", sock_model_name(model, k), NULL);
    for (size_t k = 0; k < d; k++) table_name(out, "f_", sock_model_name(model, k), NULL);
    for (size_t k = 0; diffusion && k < d; k++)
        for (size_t l = k; l < d; l++) table_name(out, "a_", sock_model_name(model, k), sock_model_name(model, l));
    for (size_t k = 0; diffusion && k < d; k++)
        for (size_t l = 0; l < d; l++) table_name(out, "sigma_", sock_model_name(model, k), sock_model_name(model, l));
    table_end_row(out);
}

static void write_rows(table *out, const fields *at)
{
    size_t d = at->d;
    for (size_t i = 0; i < at->count; i++) {
        for (size_t k = 0; k < d; k++) table_number(out, at->x[i * d + k]);
        for (size_t k = 0; k < d; k++) table_number(out, at->f[i * d + k]);
        for (size_t k = 0; at->a && k < d; k++)
            for (size_t l = k; l < d; l++) table_number(out, at->a[(i * d + k) * d + l]);
        for (size_t k = 0; at->a && k < d * d; k++) table_number(out, at->sigma[i * d * d + k]);
        table_end_row(out);
    }
}

static sock_status evaluate(const cli *c, const sock_model *model, fields *at)
{
    size_t d = at->d, count = at->count;
    at->f = calloc(count * d + 1, sizeof *at->f);
    if (!at->f) return SOCK_ENOMEM;
    sock_status status = sock_model_drift(c->ctx, model, count, at->x, at->f);
    if (status < 0 || !sock_model_has_diffusion(model)) return status;
    at->a = calloc(count * d * d + 1, sizeof *at->a);
    at->sigma = calloc(count * d * d + 1, sizeof *at->sigma);
    if (!at->a || !at->sigma) return SOCK_ENOMEM;
    status = sock_model_diffusion(c->ctx, model, count, at->x, at->a);
    return status < 0 ? status : sock_model_sigma(c->ctx, model, count, at->x, at->sigma);
}

static int get_points(const cli *c, const sock_model *model, const char *file, const char *grid, fields *at)
{
    if (grid) return make_grid(c, grid, at);
    const char **names = calloc(at->d, sizeof *names);
    double *x = NULL;
    if (!names) return cli_fail(c, SOCK_ENOMEM);
    for (size_t k = 0; k < at->d; k++) names[k] = sock_model_name(model, k);
    sock_status status = sock_points_read(c->ctx, file, at->d, names, &at->count, &x);
    free(names);
    if (status < 0) return cli_fail(c, status);
    at->x = calloc(at->count * at->d + 1, sizeof *at->x);
    if (at->x && at->count) memcpy(at->x, x, at->count * at->d * sizeof *x);
    sock_array_free(x);
    return at->x ? -1 : cli_fail(c, SOCK_ENOMEM);
}

/* Numbers take 8 bytes, and 26 more as text, which is written whole. */
static int check_table(const cli *c, const fields *at, bool diffusion)
{
    double d = (double)at->d, columns = 2 * d + (diffusion ? 1.5 * d * d + 0.5 * d : 0);
    return cli_check_memory(c, 34 * columns * (double)at->count, "the table", "evaluate fewer points at a time");
}

static int run(int count, char **arguments)
{
    const char *output = NULL, *file = NULL, *grid = NULL;
    const cli_option own[] = {{"at", 0, &file, NULL, "FILE", "points: a CSV with the state's column names"},
                              {"grid", 0, &grid, NULL, "LOW:HIGH:COUNT",
                               "points on a grid; one axis for all coordinates, or one each with commas"},
                              {"output", 'o', &output, NULL, "FILE", "where the table goes (default: standard output)"},
                              {0}};
    cli c;
    sock_model *model = NULL;
    fields at = {0};
    int code = cli_begin(&c, &verb_eval, own, count, arguments);
    if (code < 0) code = cli_operands(&c, 1);
    if (code < 0 && !file == !grid)
        code = cli_usage_error(&c, "give the points: either --at FILE or --grid LOW:HIGH:COUNT");
    if (code >= 0) goto out;
    code = cli_check_output(&c, output);
    if (code >= 0) goto out;
    sock_status status = sock_model_load(c.ctx, c.operand[0], &model);
    if (status < 0) {
        code = cli_fail(&c, status);
        goto out;
    }
    at.d = sock_model_dim(model);
    code = get_points(&c, model, file, grid, &at);
    if (code < 0) code = check_table(&c, &at, sock_model_has_diffusion(model));
    if (code >= 0) goto out;
    status = evaluate(&c, model, &at);
    if (status < 0) {
        code = cli_fail(&c, status);
        goto out;
    }
    table out;
    code = table_open(&c, &out, output, c.json);
    if (code >= 0) goto out;
    write_header(&out, model, at.a != NULL);
    write_rows(&out, &at);
    code = table_close(&out);
out:
    sock_model_free(model);
    free(at.x), free(at.f), free(at.a), free(at.sigma);
    cli_end(&c);
    return code;
}

const cli_verb verb_eval = {"eval",
                            "eval MODEL (--at FILE | --grid LOW:HIGH:COUNT) [-o FILE]",
                            "evaluate the fields of a model at points",
                            "  sock eval model.sock --grid -2:2:101 -o fields.csv\n"
                            "  sock eval model.sock --at points.csv",
                            NULL,
                            run};
