/* cmd_eval.c - sock eval: the fields of a model at points from a file or on a grid.
 *
 * Columns: the state, the inputs if there are some, f_<name>, and with a diffusion a_<name>_<name> for k <= l, then
 * sigma_<name>_<name> row by row.
 * With --natural states that are logarithms are shown as what they are the logarithms of (naturalunits.h).
 * With --bands each is followed by its _lo and _hi, and the last column is `outside`. */
#define _GNU_SOURCE
#include "api/record.h"
#include "cli.h"
#include "inputvalues.h"
#include "naturalunits.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fields {
    size_t d, inputs, count;
    double *x, *u, *f, *a, *sigma; /* a and sigma are NULL for a model of the drift alone */
    bool banded, a_banded;         /* with bands; those of a as well */
    sock_bands band;               /* as many numbers each */
    bool natural;
    natural_units units; /* with natural */
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

/* A name and, with bands, those of its ends. */
static void write_name(table *out, const char *prefix, const char *first, const char *second, bool banded)
{
    static const char *const end[] = {"lo", "hi"};
    table_name(out, prefix, first, second);
    for (size_t i = 0; banded && i < 2; i++) {
        char *both = NULL;
        if (!second)
            table_name(out, prefix, first, end[i]);
        else if (asprintf(&both, "%s_%s", second, end[i]) >= 0)
            table_name(out, prefix, first, both);
        else
            out->failed = true;
        if (second) free(both);
    }
}

static const char *name_of(const sock_model *model, const fields *at, size_t k)
{
    return at->natural ? at->units.name[k] : sock_model_name(model, k);
}

static void write_header(table *out, const sock_model *model, const fields *at)
{
    const size_t d = at->d;
    const bool diffusion = at->a != NULL;
    for (size_t k = 0; k < d; k++) table_name(out, "", name_of(model, at, k), NULL);
    for (size_t k = 0; k < at->inputs; k++) table_name(out, "", sock_model_input_name(model, k), NULL);
    for (size_t k = 0; k < d; k++) write_name(out, "f_", name_of(model, at, k), NULL, at->banded);
    for (size_t k = 0; diffusion && k < d; k++)
        for (size_t l = k; l < d; l++)
            write_name(out, "a_", name_of(model, at, k), name_of(model, at, l), at->a_banded);
    for (size_t k = 0; diffusion && k < d; k++)
        for (size_t l = 0; l < d; l++)
            write_name(out, "sigma_", name_of(model, at, k), name_of(model, at, l), at->a_banded);
    if (at->banded) table_name(out, "", "outside", NULL);
    table_end_row(out);
}

/* low, high: NULL without bands. */
static void write_number(table *out, size_t i, const double *value, const double *low, const double *high)
{
    table_number(out, value[i]);
    if (low) table_number(out, low[i]);
    if (high) table_number(out, high[i]);
}

static void write_rows(table *out, const fields *at)
{
    const size_t d = at->d;
    const sock_bands *b = &at->band;
    for (size_t i = 0; i < at->count; i++) {
        for (size_t k = 0; k < d; k++) table_number(out, at->x[i * d + k]);
        for (size_t k = 0; k < at->inputs; k++) table_number(out, at->u[i * at->inputs + k]);
        for (size_t k = 0; k < d; k++) write_number(out, i * d + k, at->f, b->f_low, b->f_high);
        for (size_t k = 0; at->a && k < d; k++)
            for (size_t l = k; l < d; l++) write_number(out, (i * d + k) * d + l, at->a, b->a_low, b->a_high);
        for (size_t k = 0; at->a && k < d * d; k++)
            write_number(out, i * d * d + k, at->sigma, b->sigma_low, b->sigma_high);
        if (at->banded) table_number(out, b->outside[i]);
        table_end_row(out);
    }
}

/* Bands of all that is shown, or of f alone where the model has no more. */
static sock_status evaluate_bands(const cli *c, const sock_model *model, double level, fields *at)
{
    const size_t small = at->count * at->d + 1, large = at->count * at->d * at->d + 1;
    sock_bands *b = &at->band;
    double **const f[] = {&b->f_low, &b->f_high}, **const a[] = {&b->a_low, &b->a_high, &b->sigma_low, &b->sigma_high};
    sk_record record;
    sock_status status = sk_record_of_model(c->ctx, model, &record);
    at->a_banded = status >= 0 && at->a && record.bands && !record.bands_reason;
    if (status >= 0 && at->a && record.bands && record.bands_reason) cli_note(c, "bands: %s", record.bands_reason);
    sk_record_clear(&record);
    if (status < 0) return status;
    bool good = (b->outside = calloc(small, sizeof *b->outside)) != NULL;
    for (size_t i = 0; i < 2; i++) good = (*f[i] = calloc(small, sizeof(double))) && good;
    for (size_t i = 0; at->a_banded && i < 4; i++) good = (*a[i] = calloc(large, sizeof(double))) && good;
    return good ? sock_model_bands_at(c->ctx, model, at->count, at->x, at->u, level, b) : SOCK_ENOMEM;
}

static sock_status evaluate(const cli *c, const sock_model *model, fields *at)
{
    const size_t d = at->d, count = at->count;
    const bool noisy = sock_model_has_diffusion(model);
    at->f = calloc(count * d + 1, sizeof *at->f);
    at->a = noisy ? calloc(count * d * d + 1, sizeof *at->a) : NULL;
    at->sigma = noisy ? calloc(count * d * d + 1, sizeof *at->sigma) : NULL;
    if (!at->f || (noisy && (!at->a || !at->sigma))) return SOCK_ENOMEM;
    sock_status status = sock_model_evaluate_at(c->ctx, model, count, at->x, at->u, at->f, at->a);
    return status < 0 || !noisy ? status : sock_model_sigma_at(c->ctx, model, count, at->x, at->u, at->sigma);
}

/* Columns of a file, states and the inputs without a given value. */
static int read_points(const cli *c, const sock_model *model, const char *file, const input_values *given, fields *at)
{
    const size_t d = at->d, m = at->inputs, width = d + m - given->given;
    double *z = NULL;
    const char **names = calloc(width, sizeof *names);
    if (!names) return cli_fail(c, SOCK_ENOMEM);
    for (size_t k = 0; k < d; k++) names[k] = sock_model_name(model, k);
    for (size_t k = 0, to = d; k < m; k++)
        if (isnan(given->value[k])) names[to++] = sock_model_input_name(model, k);
    sock_status status = sock_points_read(c->ctx, file, width, names, &at->count, &z);
    free((void *)names);
    if (status < 0) return cli_fail(c, status);
    at->x = calloc(at->count * d + 1, sizeof *at->x);
    at->u = calloc(at->count * m + 1, sizeof *at->u);
    for (size_t i = 0; at->x && at->u && i < at->count; i++) {
        for (size_t k = 0; k < d; k++) at->x[i * d + k] = z[i * width + k];
        for (size_t k = 0, from = d; k < m; k++)
            at->u[i * m + k] = isnan(given->value[k]) ? z[i * width + from++] : given->value[k];
    }
    sock_array_free(z);
    return at->x && at->u ? -1 : cli_fail(c, SOCK_ENOMEM);
}

/* A grid of the states at one value of each input. */
static int grid_points(const cli *c, const sock_model *model, const char *grid, const input_values *given, fields *at)
{
    int code = input_values_check(c, model, given, true, "give --input-value NAME=NUMBER,... with --grid");
    if (code < 0) code = make_grid(c, grid, at);
    if (code < 0 && at->natural) code = natural_points(c, &at->units, "--grid", at->count, at->x);
    if (code >= 0) return code;
    at->u = calloc(at->count * at->inputs + 1, sizeof *at->u);
    if (!at->u) return cli_fail(c, SOCK_ENOMEM);
    for (size_t i = 0; i < at->count * at->inputs; i++) at->u[i] = given->value[i % at->inputs];
    return -1;
}

/* Numbers take 8 bytes, and 26 more as text, which is written whole. */
static int check_table(const cli *c, const fields *at, bool diffusion)
{
    double d = (double)at->d, columns = 2 * d + (diffusion ? 1.5 * d * d + 0.5 * d : 0);
    if (at->banded) columns *= 3;
    return cli_check_memory(c, 34 * columns * (double)at->count, "the table", "evaluate fewer points at a time");
}

/* --level, and that it belongs to bands. */
static int parse_level(const cli *c, const char *text, const fields *at, double *level)
{
    char *end;
    *level = 0.9;
    if (!at->banded && (text || at->band.simultaneous))
        return cli_usage_error(c, "%s belongs to bands: give --bands, too", text ? "--level" : "--simultaneous");
    if (!text) return -1;
    *level = strtod(text, &end);
    if (end == text || *end || !(*level > 0 && *level < 1))
        return cli_usage_error(c, "--level is '%s'; allowed: a number between 0 and 1", text);
    return -1;
}

static void fields_clear(fields *at)
{
    sock_bands *b = &at->band;
    free(at->x), free(at->u), free(at->f), free(at->a), free(at->sigma);
    free(b->f_low), free(b->f_high), free(b->a_low), free(b->a_high), free(b->sigma_low), free(b->sigma_high);
    free(b->outside);
    natural_units_clear(&at->units);
}

/* What the options say. */
typedef struct asked {
    const char *output, *file, *grid, *level, *values;
    bool simultaneous;
} asked;

/* Data in the place of the model are named as such, before what else is missing. */
static int check_model(const cli *c)
{
    sock_model *model = NULL;
    if (access(c->operand[0], R_OK) != 0) return -1;
    const sock_status status = sock_model_load(c->ctx, c->operand[0], &model);
    sock_model_free(model);
    return status < 0 ? cli_fail(c, status) : -1;
}

static int check_asked(const cli *c, const asked *a, fields *at, double *level)
{
    int code = cli_operands(c, 1);
    if (code < 0 && !a->file == !a->grid) code = check_model(c);
    if (code < 0 && !a->file == !a->grid)
        code = cli_usage_error(c, "give the points: either --at FILE or --grid LOW:HIGH:COUNT");
    at->band.simultaneous = a->simultaneous;
    if (code < 0 && at->natural && at->banded)
        code = cli_usage_error(c, "--bands are those of the logarithms: leave --natural out");
    if (code < 0) code = parse_level(c, a->level, at, level);
    return code < 0 ? cli_check_output(c, a->output) : code;
}

/* The points, and the fields there. */
static int make_fields(cli *c, const asked *a, const sock_model *model, double level, fields *at)
{
    input_values given = {0};
    at->d = sock_model_dim(model);
    at->inputs = sock_model_inputs(model);
    int code = at->natural ? natural_units_of(c, model, &at->units) : -1;
    if (code < 0) code = input_values_read(c, model, a->values, &given);
    if (code < 0) code = (a->file ? read_points : grid_points)(c, model, a->file ? a->file : a->grid, &given, at);
    if (code < 0) code = check_table(c, at, sock_model_has_diffusion(model));
    input_values_clear(&given);
    if (code >= 0) return code;
    sock_status status = evaluate(c, model, at);
    if (status >= 0 && at->banded) status = evaluate_bands(c, model, level, at);
    if (status >= 0 && at->natural) natural_fields(&at->units, at->count, at->x, at->f, at->a, at->sigma);
    return status < 0 ? cli_fail(c, status) : -1;
}

static int write_fields(cli *c, const char *output, const sock_model *model, const fields *at)
{
    table out;
    const int code = table_open(c, &out, output, c->json);
    if (code >= 0) return code;
    write_header(&out, model, at);
    write_rows(&out, at);
    return table_close(&out);
}

static int run(int count, char **arguments)
{
    asked a = {0};
    double level;
    fields at = {0};
    const cli_option own[] = {
        {"at", 0, &a.file, NULL, "FILE", "points: a CSV with the state's column names"},
        {"grid", 0, &a.grid, NULL, "LOW:HIGH:COUNT",
         "points on a grid; one axis for all coordinates, or one each with commas"},
        {"bands", 0, NULL, &at.banded, NULL, "with each field the ends of its band"},
        {"level", 0, &a.level, NULL, "P", "probability of the bands (default: 0.9)"},
        {"simultaneous", 0, NULL, &a.simultaneous, NULL, "bands of f that hold the whole curve, not each point"},
        {"natural", 0, NULL, &at.natural, NULL,
         "points and fields of x itself where a state is log(x) (Ito's formula)"},
        {"input-value", 0, &a.values, NULL, "NAME=NUMBER,...", "value of an input of the model, in place of a column"},
        {"output", 'o', &a.output, NULL, "FILE", "where the table goes (default: standard output)"},
        {0}};
    cli c;
    sock_model *model = NULL;
    int code = cli_begin(&c, &verb_eval, own, count, arguments);
    if (code < 0) code = check_asked(&c, &a, &at, &level);
    if (code < 0) {
        const sock_status status = sock_model_load(c.ctx, c.operand[0], &model);
        if (status < 0) code = cli_fail(&c, status);
    }
    if (code < 0) code = make_fields(&c, &a, model, level, &at);
    if (code < 0) code = write_fields(&c, a.output, model, &at);
    sock_model_free(model);
    fields_clear(&at);
    cli_end(&c);
    return code;
}

const cli_verb verb_eval = {"eval",
                            "eval MODEL (--at FILE | --grid LOW:HIGH:COUNT) [--bands | --natural] [-o FILE]",
                            "evaluate the fields of a model at points",
                            "  sock eval model.sock --grid -2:2:101 -o fields.csv\n"
                            "  sock eval model.sock --at points.csv\n"
                            "  sock eval model.sock --grid -2:2:101 --bands --level 0.95",
                            NULL,
                            run};
