/* jumps.c - systems whose data are not plain Euler-Maruyama on a grid: the SIR epidemic and a logistic population,
 * event by event, and the visits of the simulated amyloid study. */
#include "systems/systems.h"

#include "base/base.h"

#include <math.h>

/* Gillespie's direct method: with infection rate beta S I / population and recovery rate alpha I (in people), the
 * waiting time is exponential of their sum, and the event is drawn in their proportion. Two uniforms an event; at most
 * 2 * population events, for every event moves one person one step further. */
void sys_gillespie(const sys_instance *instance, const sys_path *path)
{
    const double beta = instance->parameter[0], alpha = instance->parameter[1], people = instance->parameter[2];
    const sk_key key = {instance->seed, SK_PURPOSE_SYSTEM};
    double susceptible = people - 1, infected = 1, clock = 0;
    uint64_t used = 0;
    size_t recorded = 0;
    while (recorded < path->points) {
        double infection = beta * susceptible * infected / people, recovery = alpha * infected, u[2];
        double total = infection + recovery, next = INFINITY;
        sk_uniforms(key, path->stream, SYS_STREAM_EVENTS, used, 2, u);
        used += 2;
        if (total > 0) next = clock - log(u[0]) / total;
        for (; recorded < path->points && path->t[recorded] < next; recorded++) {
            double *x = path->x + 3 * recorded;
            x[0] = susceptible / people;
            x[1] = infected / people;
            x[2] = (people - susceptible - infected) / people;
        }
        clock = next;
        if (u[1] * total < infection) {
            susceptible--;
            infected++;
        } else
            infected--;
    }
}

/* Births and deaths one at a time; the start is a whole number of individuals. */
void sys_logistic_jumps(const sys_instance *instance, const sys_path *path)
{
    const double birth = instance->parameter[0], death = instance->parameter[1], size = instance->parameter[2];
    const sk_key key = {instance->seed, SK_PURPOSE_SYSTEM};
    const sys_system *s = instance->system;
    double u[2], clock = 0;
    uint64_t used = 0;
    size_t recorded = 0;
    sk_uniforms(key, path->stream, SYS_STREAM_START, 0, 1, u);
    double count = floor(size * (s->low + (s->high - s->low) * u[0]));
    while (recorded < path->points) {
        const double up = birth * count, down = death * count * (1 + count / size);
        double next = INFINITY;
        sk_uniforms(key, path->stream, SYS_STREAM_EVENTS, used, 2, u);
        used += 2;
        if (up + down > 0) next = clock - log(u[0]) / (up + down);
        for (; recorded < path->points && path->t[recorded] < next; recorded++) path->x[recorded] = count / size;
        clock = next;
        count += u[1] * (up + down) < up ? 1 : -1;
    }
}

size_t sys_visit_count(double u)
{
    static const double up_to[] = {0.45, 0.73, 0.88, 0.98}; /* probabilities .45 .28 .15 .10 .02: mean 2.96 */
    size_t visits = 2;
    while (visits < SYS_MAX_VISITS && u > up_to[visits - 2]) visits++;
    return visits;
}

/* 2 to 6 visits with mean 2.96; gaps 1 + 2.6 u^2 years (1 to 3.6, mean 1.9), in days as a clinic records them. */
size_t sys_amyloid_visits(const sys_instance *instance, uint64_t stream, double *times)
{
    const sk_key key = {instance->seed, SK_PURPOSE_SYSTEM};
    double u[SYS_MAX_VISITS];
    sk_uniforms(key, stream, SYS_STREAM_TIMES, 0, SYS_MAX_VISITS, u);
    const size_t visits = sys_visit_count(u[0]);
    times[0] = 0;
    for (size_t i = 1; i < visits; i++) times[i] = times[i - 1] + round(365.25 * (1 + 2.6 * u[i] * u[i])) / 365.25;
    return visits;
}

/* Two in three start low (ratio near the base), one in three anywhere on the way up. */
double sys_amyloid_start(const sys_instance *instance, uint64_t stream)
{
    const sk_key key = {instance->seed, SK_PURPOSE_SYSTEM};
    const double base = instance->parameter[1], capacity = instance->parameter[2];
    double u[2];
    sk_uniforms(key, stream, SYS_STREAM_START, 0, 2, u);
    return u[0] < 2.0 / 3 ? base + 0.15 * capacity * u[1] : base + capacity * (0.15 + 0.85 * u[1]);
}
