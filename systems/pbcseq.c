/* pbcseq.c - repeated visits of real patients, in the shape of the paper's amyloid data.
 *
 *   1. R prints patient, day and bilirubin of every visit; the rows of a patient stand together, days grow.
 *   2. Patients with two visits or more are shuffled by the seed and dealt to the three sets.
 *   3. Of each the first visit is kept and, drawn by the seed, so many others that there are 2 to 6, about three on
 *      average (fewer where the patient has fewer). */
#define _GNU_SOURCE
#include "systems/systems.h"

#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char command[] =
    "Rscript --vanilla -e 'd <- survival::pbcseq; cat(sprintf(\"%d,%d,%.17g\\n\", d$id, d$day, d$bili), sep = \"\")' "
    "2>/dev/null";

/* Of the whole study and of a patient, against a program that is not R. */
enum { VISITS_MOST = 100000, PATIENT_MOST = 1000 };

typedef struct visit {
    long patient, day;
    double bilirubin;
} visit;

typedef struct study {
    visit *visit;
    size_t visits;
    size_t *first, *count, patients; /* with two visits or more: their first row and how many */
} study;

/* ---- Step 1 ---- */

static sock_status no_study(sock_context *ctx, const char *why)
{
    return sk_fail(ctx, SOCK_EIO, "pbcseq needs R's survival package: %s", why);
}

static bool follows(const visit *now, const visit *before)
{
    return now->patient != before->patient || now->day > before->day;
}

static sock_status read_visits(sock_context *ctx, FILE *from, study *s)
{
    char line[128];
    while (fgets(line, sizeof line, from)) {
        visit v;
        // NOLINTNEXTLINE(cert-err34-c): three numbers or not; those out of order are refused beneath
        if (s->visits == VISITS_MOST || sscanf(line, "%ld,%ld,%lf", &v.patient, &v.day, &v.bilirubin) != 3 ||
            !(v.bilirubin > 0) || !isfinite(v.bilirubin) || (s->visits && !follows(&v, &s->visit[s->visits - 1])))
            return no_study(ctx, "Rscript printed something else than visits");
        s->visit[s->visits++] = v;
    }
    return SOCK_OK;
}

static sock_status ask_r(sock_context *ctx, study *s)
{
    fflush(NULL);
    FILE *from = popen(command, "r"); // NOLINT(cert-env33-c): a constant text, nothing of the user's
    if (!from) return no_study(ctx, "Rscript cannot be started");
    sock_status status = read_visits(ctx, from, s);
    const int ended = pclose(from);
    if (status >= 0 && (ended != 0 || s->visits == 0))
        status = no_study(ctx, "there is no Rscript on the PATH, or the package is not installed");
    return status;
}

static void find_patients(study *s)
{
    for (size_t i = 0, end; i < s->visits; i = end) {
        for (end = i + 1; end < s->visits && s->visit[end].patient == s->visit[i].patient; end++) continue;
        if (end - i < 2) continue;
        s->first[s->patients] = i;
        s->count[s->patients++] = end - i;
    }
}

/* ---- Steps 2 and 3 ---- */

/* Kept rows of a patient, in order, as times and states; answers how many. */
static size_t thin(const study *s, sk_key key, size_t patient, double *t, double *x)
{
    const size_t count = s->count[patient];
    const visit *all = s->visit + s->first[patient];
    size_t order[PATIENT_MOST], kept = 0;
    bool keep[PATIENT_MOST] = {false};
    double u;
    sk_uniforms(key, patient, SYS_STREAM_TIMES, 0, 1, &u);
    const size_t others = SK_MIN(count, (size_t)PATIENT_MOST) - 1, wanted = SK_MIN(sys_visit_count(u) - 1, others);
    sk_shuffle(key, patient, SYS_STREAM_EVENTS, others, order);
    for (size_t i = 0; i < wanted; i++) keep[order[i] + 1] = true;
    keep[0] = true;
    for (size_t i = 0; i <= others; i++) {
        if (!keep[i]) continue;
        t[kept] = (double)(all[i].day - all[0].day) / 365.25;
        x[kept++] = log(all[i].bilirubin);
    }
    return kept;
}

/* So many patients of the order as a data set. */
static sock_status make_set(sock_context *ctx, const study *s, sk_key key, const size_t *order, size_t count,
                            sock_data **out)
{
    static const char *const names[] = {"log_bilirubin"};
    size_t points = 0, *length = sk_alloc(ctx, count, sizeof *length);
    double *t = sk_doubles(ctx, count, SYS_MAX_VISITS), *x = sk_doubles(ctx, count, SYS_MAX_VISITS);
    sock_status status = length && t && x ? SOCK_OK : SOCK_ENOMEM;
    for (size_t j = 0; status >= 0 && j < count; j++)
        points += length[j] = thin(s, key, order[j], t + points, x + points);
    if (status >= 0) status = sock_data_from_arrays(ctx, 1, count, length, t, x, names, NULL, NULL, out);
    sk_free(x);
    sk_free(t);
    sk_free(length);
    return status;
}

static sock_status deal(sock_context *ctx, const study *s, uint64_t seed, sock_data *out[SYS_SETS])
{
    const sk_key key = {seed, SK_PURPOSE_SYSTEM};
    const size_t end[SYS_SETS + 1] = {0, s->patients * 208 / 298, s->patients * 237 / 298, s->patients};
    if (s->patients < 12) return no_study(ctx, "Rscript printed too few patients");
    size_t *order = sk_alloc(ctx, s->patients, sizeof *order);
    if (!order) return SOCK_ENOMEM;
    sk_shuffle(key, 0, SYS_STREAM_PATIENTS, s->patients, order);
    sock_data *made[SYS_SETS] = {NULL};
    sock_status status = SOCK_OK;
    for (int i = 0; status >= 0 && i < SYS_SETS; i++)
        status = make_set(ctx, s, key, order + end[i], end[i + 1] - end[i], &made[i]);
    for (int i = 0; i < SYS_SETS; i++)
        if (status >= 0)
            out[i] = made[i];
        else
            sock_data_free(made[i]);
    sk_free(order);
    return status;
}

sock_status sys_pbcseq(sock_context *ctx, uint64_t seed, sock_data *out[SYS_SETS])
{
    sk_begin(ctx);
    study s = {.visit = sk_alloc(ctx, VISITS_MOST, sizeof *s.visit),
               .first = sk_alloc(ctx, VISITS_MOST, sizeof *s.first),
               .count = sk_alloc(ctx, VISITS_MOST, sizeof *s.count)};
    sock_status status = s.visit && s.first && s.count ? ask_r(ctx, &s) : SOCK_ENOMEM;
    if (status >= 0) find_patients(&s);
    if (status >= 0) status = deal(ctx, &s, seed, out);
    sk_free(s.count);
    sk_free(s.first);
    sk_free(s.visit);
    return status;
}
