/* datarules.c - see datarules.h. */
#include "data/datarules.h"

#include "base/base.h"
#include "tune/policy.h"

#include <math.h>

/* ---- Wild steps: what a step is compared with ---- */

bool sk_wild_has_steps(size_t steps) { return steps >= SK_WILD_LEAST_STEPS; }

size_t sk_wild_sample(size_t d)
{
    return SK_MIN(SK_WILD_SAMPLE, SK_MAX(SK_WILD_SAMPLE_LEAST, SK_WILD_NUMBERS / SK_MAX(d, 1)));
}

size_t sk_wild_neighbours(size_t sample) { return SK_MIN(SK_WILD_NEIGHBOURS, sample / 4); }

void sk_wild_around(size_t s, size_t begin, size_t end, size_t *from, size_t *to)
{
    const size_t wide = 2 * SK_WILD_WINDOW + 1;
    *from = SK_MAX(begin, s > SK_WILD_WINDOW ? s - SK_WILD_WINDOW : 0);
    *to = SK_MIN(*from + wide, end);
    *from = SK_MAX(begin, *to > wide ? *to - wide : 0);
}

bool sk_wild_is_alone(size_t steps) { return steps <= SK_WILD_ALONE; }

bool sk_wild_is_body(double deviation) { return !(deviation > SK_WILD_BODY); }

bool sk_wild_is_looked_at(double deviation) { return deviation > SK_WILD_CUT; }

bool sk_wild_is_exception(size_t far, size_t n)
{
    return (double)far <= SK_WILD_MOST * (double)SK_MAX(n, SK_WILD_MOST_OF);
}

bool sk_is_gap(double step, double median) { return step > SK_GAP_TIMES * median; }

bool sk_reads_clock(size_t leaps, size_t regular, size_t steps)
{
    return leaps >= SK_CLOCK_HOURS && (double)regular >= SK_CLOCK_REGULAR * (double)steps;
}

size_t sk_wild_tail(size_t count)
{
    const size_t few = SK_MAX(SK_WILD_TAIL_LEAST, count / SK_WILD_TAIL_PART);
    return SK_MAX(SK_MIN(SK_WILD_TAIL, few), (size_t)(SK_WILD_TAIL_SHARE * (double)count));
}

/* From its spacings: j ln(z_j / z_j+1) is exponential of mean 1 / index for every place j of a power law (Renyi). */
double sk_wild_tail_index(size_t count, const double *size, size_t a)
{
    const size_t most = sk_wild_tail(count);
    size_t m = 0;
    double sum = 0;
    for (; m < most && a + m + 1 < count && size[a + m + 1] > 0; m++)
        sum += (double)(a + m + 1) * log(size[a + m] / size[a + m + 1]);
    return sum > 0 ? (double)m / sum * (1 - SK_WILD_TAIL_ERRORS / sqrt((double)m)) : 0;
}

/* ---- Wild steps: what a state does by itself ---- */

bool sk_wild_is_near(double place, double other, double step)
{
    return fabs(place - other) < SK_WILD_NEAR * fabs(step);
}

bool sk_wild_is_lived_in(size_t inhabitants, size_t sample) { return SK_WILD_LIVED * inhabitants > sample; }

bool sk_wild_is_lonely(size_t inhabitants, size_t sample) { return SK_WILD_LONELY * inhabitants < sample; }

bool sk_wild_lies_between(size_t inhabitants, size_t well) { return SK_WILD_BETWEEN * inhabitants < well; }

bool sk_wild_are_many(size_t far) { return far > SK_WILD_NEIGHBOURS; }

bool sk_wild_are_resets(size_t alike, size_t beyond)
{
    return alike >= SK_WILD_RESETS && beyond <= SK_WILD_RESET_TIMES * alike;
}

bool sk_wild_in_stretch(size_t apart) { return apart <= SK_WILD_STRETCH; }

bool sk_wild_in_burst(size_t apart) { return apart <= SK_WILD_BURST; }

bool sk_wild_in_excursion(size_t apart) { return apart < SK_WILD_RETURN; }

/* ---- Codes ---- */

bool sk_code_others_vary(size_t different) { return different >= SK_CODE_VALUES; }

bool sk_code_is_apart(double gap, double range, double middle)
{
    return gap > SK_CODE_RANGES * range && gap > SK_CODE_QUARTILES * middle;
}

bool sk_code_recurs(size_t same) { return same >= SK_CODE_REPEATS; }

/* ---- Courses ---- */

bool sk_course_follows(double left, double all) { return left <= SK_FOLLOWER_LEFT * all; }

bool sk_course_has_steps(size_t steps, size_t columns) { return steps >= SK_FOLLOWER_STEPS * columns; }

bool sk_course_is_smooth(double noise, size_t windows)
{
    return windows >= SK_SMOOTH_LEAST_ROWS && noise <= SK_SMOOTH_NOISE;
}

/* ---- Angles ---- */

bool sk_angle_is_seen(double usual) { return usual <= SK_ANGLE_STEP; }

bool sk_angle_jumps(double size) { return size > SK_ANGLE_FAR; }

bool sk_angle_between(double size) { return size > 1 - SK_ANGLE_FAR && size <= SK_ANGLE_FAR; }

bool sk_angle_closes(double size, double usual) { return sk_angle_jumps(size) && 1 - size <= SK_ANGLE_NEAR * usual; }

bool sk_angle_found(size_t far, size_t between, size_t closed, size_t within, size_t points)
{
    if (far < SK_ANGLE_JUMPS || (double)between > SK_ANGLE_BETWEEN * (double)far) return false;
    if ((double)closed < (1 - SK_ANGLE_BETWEEN) * (double)far) return false;
    return (double)within >= SK_ANGLE_WITHIN * (double)points;
}
