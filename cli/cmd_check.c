/* cmd_check.c - sock check: is such a model right for these data at all? */
#include "modeldata.h"

#include <math.h>

static const char *const keys[] = {"draws",     "alpha", "seed",  "bounds", "lower", "upper",
                                   "id",        "time",  "state", "group",  "dt",    "missing",
                                   "time-unit", "log",   "wide",  "every",  "files", NULL};

/* ---- Output ---- */

static const char *mark(const sock_check_test *t) { return t->objects ? "objects" : t->remark ? "too small" : ""; }

static void print_test(const sock_check_test *t)
{
    printf("%-14s", t->name);
    if (!t->valid) {
        printf("  %10s  not made: too few steps, or states that cannot show it\n", "NA");
        return;
    }
    printf("  %10.4g", t->statistic);
    if (t->df > 0)
        printf("  %5g", t->df);
    else
        printf("  %5s", "");
    printf("  %9.2g  %9.2g  %8.3f", t->p, t->p_adjusted, t->effect);
    printf("  %-9s  %s\n", mark(t), t->effect_of);
}

static void print_table(const sock_checks *c, const char *unit)
{
    printf("verdict         %s\n", c->verdict);
    if (c->advice[0]) printf("                %s\n", c->advice);
    printf("steps           %zu of %zu, %zu simulated ends for each, %zu lost%s\n\n", c->steps, c->all_steps, c->draws,
           c->lost, unit);
    printf("%-14s  %10s  %5s  %9s  %9s  %8s\n", "test", "statistic", "df", "p", "adjusted", "effect");
    for (int i = 0; i < SOCK_CHECK_TESTS; i++) print_test(&c->test[i]);
    printf("\n");
    if (isfinite(c->exit_share))
        printf("%.0f %% of simulated paths leave the range of the data, widened by half on each side\n",
               100 * c->exit_share);
    printf("time: %.3f s\n", c->seconds);
}

static int print_json(const cli *c, const sock_checks *checks)
{
    char *text = NULL;
    const sock_status status = sock_checks_json(c->ctx, checks, &text);
    if (status < 0) return cli_fail(c, status);
    printf("%s\n", text);
    sock_string_free(text);
    return -1;
}

static int run(int count, char **arguments)
{
    const cli_option own[] = {{0}};
    cli c;
    sock_model *model = NULL;
    sock_data *data = NULL;
    sock_checks checks;
    int code = cli_begin(&c, &verb_check, own, count, arguments);
    if (code < 0) code = cli_operands_least(&c, 2);
    if (code >= 0) goto out;
    sock_status status = sock_model_load(c.ctx, c.operand[0], &model);
    const char *const *files = (const char *const *)c.operand + 1;
    code = status < 0 ? cli_fail(&c, status) : models_files_read(&c, model, NULL, (size_t)c.operands - 1, files, &data);
    if (code >= 0) goto out;
    status = sock_check(c.ctx, model, data, c.opts, &checks);
    code = status < 0 ? cli_fail(&c, status) : -1;
    if (code < 0 && c.json) code = print_json(&c, &checks);
    if (code >= 0) goto out;
    char unit[UNIT_ROOM];
    if (!c.json) print_table(&checks, model_unit_words(&c, model, unit));
    code = cli_finish_output(&c);
out:
    sock_data_free(data);
    sock_model_free(model);
    cli_end(&c);
    return code;
}

const cli_verb verb_check = {"check",
                             "check MODEL DATA... [options]",
                             "test whether a model is right for data, and say what to do",
                             "  sock check model.sock train.csv\n"
                             "  sock check model.sock new.csv --draws 199 --json",
                             keys,
                             run};
