/* cmd_explain.c - sock explain: what an equation means: where it rests, how it is spread, how long changes take. */
#include "inputvalues.h"
#include "modeldata.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *const keys[] = {"lower", "upper", "seed",    "id",  "time", "time-unit", "state",
                                   "group", "dt",    "missing", "log", "wide", "every",     NULL};

/* ---- Output: the object of the library in words ---- */

static double value_of(const json_t *told, const char *key)
{
    const json_t *number = json_object_get(told, key);
    return json_is_number(number) ? json_number_value(number) : (double)NAN;
}

/* "1.23 +- 0.04". */
static void print_told(const json_t *told)
{
    const double value = value_of(told, "value"), se = value_of(told, "se");
    if (isnan(value))
        printf("not known");
    else
        printf("%.4g", value);
    if (se > 0) printf(" +- %.2g", se);
}

/* An end of an interval in three figures, rounded outwards: 4128 is 4120 or 4130, not 4.13e+03. */
static void print_end(double x, double (*outwards)(double))
{
    const double unit = pow(10, floor(log10(fabs(x))) - 2), end = outwards(x / unit * (1 - 1e-12)) * unit;
    if (fabs(x) >= 1000 && fabs(x) < 1e6)
        printf("%.0f", end);
    else
        printf("%.3g", x == 0 || !isfinite(end) ? x : end);
}

/* "1.23 (1.1 to 1.4)": for what is never below 0 and far from normal. */
static void print_interval(const json_t *told)
{
    const double value = value_of(told, "value"), low = value_of(told, "low"), high = value_of(told, "high");
    if (isnan(value))
        printf("not known");
    else
        printf("%.4g", value);
    if (isnan(low)) return;
    printf(" ("), print_end(low, floor);
    if (!isnan(high)) printf(" to "), print_end(high, ceil);
    printf(isnan(high) ? " or more)" : ")");
}

/* The same of a time, with its unit where that is known. */
static void print_time(const json_t *all, const json_t *told)
{
    const char *unit = json_string_value(json_object_get(all, "time_unit"));
    print_interval(told);
    if (unit) printf(" %ss", unit);
}

static void print_point(const json_t *list)
{
    const size_t d = json_array_size(list);
    if (d > 1) printf("(");
    for (size_t k = 0; k < d; k++) {
        if (k) printf(", ");
        print_told(json_array_get(list, k));
    }
    if (d > 1) printf(")");
}

static const char *reason_of(const json_t *all, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "%s_reason", key);
    const char *reason = json_string_value(json_object_get(all, name));
    return reason ? reason : "not known";
}

static void print_range(json_t *all)
{
    const json_t *range = json_object_get(all, "range");
    json_t *inputs = json_object_get(all, "inputs");
    const char *from = json_string_value(json_object_get(range, "from"));
    const char *whose = !strcmp(from, "options") ? "as given" : !strcmp(from, "fit") ? "data of the fit" : "data";
    for (size_t k = 0; k < json_array_size(json_object_get(all, "states")); k++)
        printf("%-16s%s from %.6g to %.6g (%s)\n", k ? "" : "range",
               json_string_value(json_array_get(json_object_get(all, "states"), k)),
               json_number_value(json_array_get(json_object_get(range, "lower"), k)),
               json_number_value(json_array_get(json_object_get(range, "upper"), k)), whose);
    const char *unit = json_string_value(json_object_get(all, "time_unit"));
    if (unit) printf("%-16sin %ss; f, a and slopes are per %s\n", "time", unit, unit);
    for (void *at = json_object_iter(inputs); at; at = json_object_iter_next(inputs, at))
        printf("%-16s%s = %.6g\n", "input", json_object_iter_key(at), json_number_value(json_object_iter_value(at)));
}

static void print_eigenvalues(const json_t *list)
{
    const size_t d = json_array_size(list);
    printf(", eigenvalue%s", d > 1 ? "s" : "");
    for (size_t k = 0; k < d && k < 6; k++) {
        const double re = json_number_value(json_array_get(json_array_get(list, k), 0)),
                     im = json_number_value(json_array_get(json_array_get(list, k), 1));
        printf(" %.4g", re);
        if (im != 0) printf("%+.4gi", im);
    }
    if (d > 6) printf(" ...");
}

/* Of the draws that have it, where not all do. */
static void print_share(double share)
{
    if (share < 1) printf("; in %.0f %% of the draws", floor(100 * share));
}

/* The nearest one beyond the range, where the model is a guess. */
static void print_outside(const json_t *point)
{
    const json_t *x = json_object_get(point, "x");
    if (!json_is_object(point)) return;
    printf("%-16snearest outside, where the model is a guess: (", "");
    for (size_t k = 0; k < json_array_size(x); k++)
        printf("%s%.4g", k ? ", " : "", json_number_value(json_array_get(x, k)));
    printf(")  %s\n", json_string_value(json_object_get(point, "type")));
}

/* An error next to which `unit` is small is far from normal: a few draws make it. */
static void print_beside(const json_t *told, double unit)
{
    if (value_of(told, "se") > 0.5 * unit)
        print_interval(told);
    else
        print_told(told);
}

static void print_fixed(const json_t *all)
{
    const json_t *list = json_object_get(all, "fixed_points");
    const char *lines = json_string_value(json_object_get(all, "fixed_points_reason"));
    if (lines) printf("%-16s%s%s\n", "fixed points", json_array_size(list) ? "" : "none: ", lines);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *point = json_array_get(list, i), *slope = json_object_get(point, "slope"),
                     *time = json_object_get(point, "relaxation_time");
        const char *type = json_string_value(json_object_get(point, "type"));
        printf("%-16s", i || lines ? "" : "fixed points");
        print_point(json_object_get(point, "x"));
        printf("  %s", type ? type : "of unknown type");
        if (slope) {
            printf(", slope ");
            print_beside(slope, fabs(value_of(slope, "value")));
        } else {
            print_eigenvalues(json_object_get(point, "eigenvalues"));
        }
        if (json_is_object(time)) {
            printf(", relaxation time ");
            print_time(all, time);
        }
        print_share(value_of(point, "in_draws"));
        printf("\n");
    }
    print_outside(json_object_get(all, "fixed_point_outside"));
}

/* Mean and sd of each state, beside those of the data. */
static void print_moments(const json_t *all)
{
    const json_t *law = json_object_get(all, "stationary"), *data = json_object_get(all, "data");
    for (size_t k = 0; k < json_array_size(json_object_get(law, "mean")); k++) {
        printf("%-16s%s: mean ", k ? "" : "stationary",
               json_string_value(json_array_get(json_object_get(all, "states"), k)));
        const json_t *sd = json_array_get(json_object_get(law, "sd"), k);
        print_beside(json_array_get(json_object_get(law, "mean"), k), value_of(sd, "value"));
        printf(", sd ");
        print_beside(sd, value_of(sd, "value"));
        if (data)
            printf("; data: mean %.4g, sd %.4g", json_number_value(json_array_get(json_object_get(data, "mean"), k)),
                   json_number_value(json_array_get(json_object_get(data, "sd"), k)));
        printf("\n");
    }
}

static void print_ends(const json_t *law)
{
    const json_t *ends = json_object_get(law, "density_at_ends"), *share = json_object_get(law, "edge_share");
    printf("%-16sreflecting ends; ", "");
    if (ends)
        printf("the density there is %.3g %% and %.3g %% of its largest\n",
               100 * json_number_value(json_array_get(ends, 0)), 100 * json_number_value(json_array_get(ends, 1)));
    else
        printf("%.3g %% of it in the outermost cells of the grid\n", 100 * json_number_value(share));
}

static void print_wells(const json_t *all)
{
    const json_t *wells = json_object_get(all, "wells"), *escapes = json_object_get(all, "escapes");
    const double share = value_of(all, "wells_in_draws");
    printf("%-16s", "wells");
    for (size_t i = 0; i < json_array_size(wells); i++) {
        if (i) printf(", ");
        print_told(json_array_get(wells, i));
    }
    if (!json_array_size(wells)) printf("none: %s", reason_of(all, "wells"));
    if (!isnan(share)) printf("; %.0f %% of the draws have as many", 100 * share);
    printf("\n");
    if (json_is_null(escapes)) printf("%-16snot told: %s\n", "escape", reason_of(all, "escapes"));
    for (size_t i = 0; i < json_array_size(escapes); i++) {
        const json_t *way = json_array_get(escapes, i);
        printf("%-16sfrom %.4g over %.4g to %.4g: height ", i ? "" : "escape", value_of(way, "from"),
               value_of(way, "over"), value_of(way, "to"));
        print_told(json_object_get(way, "height"));
        printf(", mean time to the top ");
        print_time(all, json_object_get(way, "to_barrier"));
        printf(", to the next well ");
        print_time(all, json_object_get(way, "to_well"));
        printf("\n");
    }
}

/* Whether what follows from the stationary law is there. */
static bool is_told(const json_t *all)
{
    return json_is_array(json_object_get(all, "wells")) || json_is_object(json_object_get(all, "entropy_production"));
}

static void print_law(const json_t *all)
{
    const json_t *law = json_object_get(all, "stationary"), *entropy = json_object_get(all, "entropy_production");
    if (!json_is_object(law)) {
        printf("%-16snot told: %s\n", "stationary", reason_of(all, "stationary"));
        return;
    }
    const char *caveat = json_string_value(json_object_get(all, "stationary_caveat"));
    if (caveat && !is_told(all)) {
        printf("%-16snot told: %s\n%-16s(--lower and --upper ask for it between these ends)\n", "long run", caveat, "");
        return;
    }
    print_moments(all);
    print_ends(law);
    if (caveat) printf("%-16s%s\n", "", caveat);
    if (json_object_get(all, "wells")) print_wells(all);
    if (json_object_get(all, "relaxation_time")) {
        printf("%-16s", "relaxation time");
        print_time(all, json_object_get(all, "relaxation_time"));
        printf(", of the slowest mode\n");
    }
    if (entropy) {
        printf("%-16s", "entropy");
        print_interval(entropy);
        const char *unit = json_string_value(json_object_get(all, "time_unit"));
        printf(" nats produced in a%s %s; grid: +- %.2g\n", unit && *unit == 'h' ? "n" : "",
               unit ? unit : "unit of time", value_of(all, "entropy_production_grid_error"));
    }
}

static void print_text(json_t *all)
{
    print_range(all);
    print_fixed(all);
    print_law(all);
    const double draws = value_of(all, "draws");
    if (draws > 0)
        printf("%-16sstandard errors and %.0f %% intervals from %.0f draws of the model\n", "errors",
               100 * value_of(all, "level"), draws);
    else
        printf("%-16snone: %s\n", "errors", reason_of(all, "errors"));
}

static int print_result(const cli *c, char *text)
{
    if (c->json) {
        printf("%s\n", text);
        return cli_finish_output(c);
    }
    json_t *all = json_loads(text, 0, NULL);
    if (!all) return cli_fail(c, SOCK_ENOMEM);
    print_text(all);
    json_decref(all);
    return cli_finish_output(c);
}

static int run(int count, char **arguments)
{
    const char *values = NULL;
    const cli_option own[] = {
        {"input-value", 0, &values, NULL, "NAME=NUMBER,...", "value of an input of the model (default: its median)"},
        {0}};
    cli c;
    sock_model *model = NULL;
    sock_data *data = NULL;
    input_values given = {0};
    char *text = NULL;
    int code = cli_begin(&c, &verb_explain, own, count, arguments);
    if (code < 0 && c.operands != 2) code = cli_operands(&c, 1);
    if (code >= 0) goto out;
    sock_status status = sock_model_load(c.ctx, c.operand[0], &model);
    code = status < 0 ? cli_fail(&c, status) : input_values_read(&c, model, values, &given);
    if (code < 0 && c.operands == 2) code = model_states_read(&c, model, c.operand[1], &data);
    if (code >= 0) goto out;
    status = sock_explain(c.ctx, model, data, given.value, c.opts, &text);
    code = status < 0 ? cli_fail(&c, status) : print_result(&c, text);
out:
    sock_string_free(text);
    input_values_clear(&given);
    sock_data_free(data);
    sock_model_free(model);
    cli_end(&c);
    return code;
}

const cli_verb verb_explain = {"explain",
                               "explain MODEL [DATA] [options]",
                               "what an equation means: fixed points, wells, escape times, stationary law, currents",
                               "  sock explain model.sock\n"
                               "  sock explain model.sock train.csv --json\n"
                               "  sock explain model.sock --lower -2 --upper 2",
                               keys,
                               run};
