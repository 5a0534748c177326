/* odddata.h - odd data sets by number: what real tables hold when something is wrong with them, and what nobody meant.
 * Case c has the recipe c % ODD_RECIPES; sizes, scales and noise follow from c by the counter-based stream. */
#ifndef SK_ODDDATA_H
#define SK_ODDDATA_H

#include "test.h"

typedef struct odd_set {
    const char *recipe;
    size_t d, trajectories, points;
    size_t *length; /* of each trajectory */
    double *t, *x;  /* points, points x d */
} odd_set;

static inline double odd_uniform(uint64_t number, uint64_t place)
{
    double u;
    sk_uniforms((sk_key){number, SK_PURPOSE_TEST}, 1, 0, place, 1, &u);
    return u;
}

static inline size_t odd_size(uint64_t number, uint64_t place, size_t low, size_t high)
{
    return low + (size_t)(odd_uniform(number, place) * (double)(high - low + 1));
}

/* m random walks of n points in d dimensions, towards the origin, steps of 0.1: the start of every recipe. */
static inline odd_set odd_walks(uint64_t number, size_t d, size_t m, size_t n)
{
    odd_set s = {"walk", d, m, m * n, calloc(m, sizeof(size_t)), NULL, NULL};
    s.t = calloc(s.points, sizeof(double));
    s.x = calloc(s.points * d, sizeof(double));
    double *noise = calloc(s.points * d, sizeof(double));
    sk_normals((sk_key){number, SK_PURPOSE_TEST}, 0, 0, 0, s.points * d, noise);
    for (size_t j = 0; j < m; j++) {
        s.length[j] = n;
        for (size_t i = 0; i < n; i++) {
            size_t at = j * n + i;
            s.t[at] = 0.1 * (double)i;
            for (size_t k = 0; k < d; k++)
                s.x[at * d + k] = i ? 0.95 * s.x[(at - 1) * d + k] + 0.2 * noise[at * d + k] : noise[at * d + k];
        }
    }
    free(noise);
    return s;
}

static inline void odd_clear(odd_set *s) { free(s->length), free(s->t), free(s->x); }

#define EACH_X(s) for (size_t i = 0; i < (s)->points * (s)->d; i++)
#define EACH_T(s) for (size_t i = 0; i < (s)->points; i++)

static inline void odd_constant(odd_set *s, uint64_t c)
{
    double value = c % 3 ? 0 : 7.5;
    EACH_X(s) if (c % 2 || i % s->d == 0) s->x[i] = value;
}
static inline void odd_duplicates(odd_set *s, uint64_t c)
{
    (void)c;
    size_t n = s->length[0];
    EACH_X(s) s->x[i] = s->x[i % (n * s->d)];
}
static inline void odd_collinear(odd_set *s, uint64_t c)
{
    EACH_X(s) if (i % s->d) s->x[i] = (c % 2 ? 2 : -1e-3) * s->x[i - 1];
}
static inline void odd_huge(odd_set *s, uint64_t c) { EACH_X(s) s->x[i] *= pow(10, (double)(c % 150)); }
static inline void odd_tiny(odd_set *s, uint64_t c) { EACH_X(s) s->x[i] *= pow(10, -(double)(c % 150)); }
static inline void odd_units(odd_set *s, uint64_t c)
{
    EACH_X(s) s->x[i] *= pow(10, (i % s->d ? -1 : 1) * (double)(c % 12));
}
static inline void odd_offset(odd_set *s, uint64_t c) { EACH_X(s) s->x[i] += pow(10, (double)(c % 17)); }
static inline void odd_gaps(odd_set *s, uint64_t c)
{
    EACH_T(s) s->t[i] *= i % 7 == 6 ? 1 : 1e-6;
    double last = -1;
    for (size_t j = 0, at = 0; j < s->trajectories; last = -1, j++)
        for (size_t i = 0; i < s->length[j]; i++, at++) {
            s->t[at] = last + (i % 5 == 4 ? pow(10, (double)(c % 9)) : 1e-4);
            last = s->t[at];
        }
}
static inline void odd_missing(odd_set *s, uint64_t c)
{
    size_t first = odd_size(c, 50, 0, s->length[0] - 2);
    EACH_T(s) if (i != first && i != first + 1) for (size_t k = 0; k < s->d; k++) s->x[i * s->d + k] = (double)NAN;
}
static inline void odd_holes(odd_set *s, uint64_t c)
{
    EACH_X(s) if (odd_uniform(c, 100 + i) < 0.4) s->x[i] = (double)NAN;
}
static inline void odd_same_start(odd_set *s, uint64_t c)
{
    (void)c;
    size_t n = s->length[0];
    for (size_t j = 0; j < s->trajectories; j++)
        for (size_t k = 0; k < s->d; k++) s->x[j * n * s->d + k] = 1;
}
static inline void odd_noiseless(odd_set *s, uint64_t c)
{
    EACH_T(s) for (size_t k = 0; k < s->d; k++) s->x[i * s->d + k] = (double)(k + 1 + c % 3) * exp(-s->t[i]);
}
static inline void odd_white(odd_set *s, uint64_t c)
{
    sk_normals((sk_key){c, SK_PURPOSE_TEST}, 2, 0, 0, s->points * s->d, s->x);
}
static inline void odd_wild(odd_set *s, uint64_t c)
{
    EACH_X(s) if (odd_uniform(c, 1000 + i) < 0.1) s->x[i] += tan(3.14159 * (odd_uniform(c, 5000 + i) - 0.5)) * 1e3;
}
static inline void odd_coarse(odd_set *s, uint64_t c) { EACH_X(s) s->x[i] = floor(s->x[i] * (double)(1 + c % 4)); }
static inline void odd_clock(odd_set *s, uint64_t c) { EACH_T(s) s->t[i] = (c % 2 ? 1e9 : -1e6) + s->t[i]; }
static inline void odd_fast(odd_set *s, uint64_t c) { EACH_T(s) s->t[i] *= pow(10, -(double)(c % 100)); }
static inline void odd_slow(odd_set *s, uint64_t c) { EACH_T(s) s->t[i] *= pow(10, (double)(c % 100)); }
static inline void odd_clusters(odd_set *s, uint64_t c)
{
    size_t n = s->length[0] * s->d;
    EACH_X(s) s->x[i] += i / n % 2 ? pow(10, (double)(c % 8)) : 0;
}
static inline void odd_alternating(odd_set *s, uint64_t c)
{
    EACH_X(s) s->x[i] = (i / s->d % 2 ? 1.0 : -1.0) * (double)(1 + c % 5);
}
static inline void odd_exploding(odd_set *s, uint64_t c)
{
    EACH_T(s) for (size_t k = 0; k < s->d; k++) s->x[i * s->d + k] = exp((double)(c % 90) * s->t[i]);
}
static inline void odd_subnormal(odd_set *s, uint64_t c)
{
    (void)c;
    EACH_X(s) s->x[i] = s->x[i] > 0 ? 5e-324 : 0;
}
static inline void odd_largest(odd_set *s, uint64_t c) { EACH_X(s) s->x[i] = s->x[i] > 0 ? 1e308 : c % 2 ? 0 : -1e308; }
static inline void odd_still(odd_set *s, uint64_t c)
{
    size_t one = odd_size(c, 60, 1, s->length[0] - 1);
    EACH_T(s) for (size_t k = 0; k < s->d; k++) s->x[i * s->d + k] = i < one ? 0 : 1;
}
static inline void odd_rotation(odd_set *s, uint64_t c)
{
    EACH_T(s)
    for (size_t k = 0; k < s->d; k++) s->x[i * s->d + k] = cos(s->t[i] * (double)(1 + c % 20) - 1.5707963 * (double)k);
}
static inline void odd_nothing(odd_set *s, uint64_t c) { (void)s, (void)c; }

/* Name, dimensions, trajectories, points of each (ranges), and what is then done. */
typedef struct odd_recipe {
    const char *name;
    size_t d[2], m[2], n[2];
    void (*spoil)(odd_set *s, uint64_t c);
} odd_recipe;

static const odd_recipe odd_recipes[] = {
    {"constant", {1, 3}, {1, 4}, {5, 20}, odd_constant},
    {"duplicated trajectories", {1, 2}, {2, 6}, {5, 20}, odd_duplicates},
    {"collinear coordinates", {2, 4}, {1, 4}, {10, 30}, odd_collinear},
    {"huge scale", {1, 2}, {2, 4}, {8, 20}, odd_huge},
    {"tiny scale", {1, 2}, {2, 4}, {8, 20}, odd_tiny},
    {"unequal units", {2, 3}, {2, 4}, {8, 20}, odd_units},
    {"far from the origin", {1, 2}, {2, 4}, {8, 20}, odd_offset},
    {"one interval", {1, 3}, {1, 1}, {2, 2}, odd_nothing},
    {"one point", {1, 2}, {1, 3}, {1, 1}, odd_nothing},
    {"two intervals", {1, 3}, {1, 2}, {2, 3}, odd_nothing},
    {"long gaps", {1, 2}, {1, 3}, {8, 20}, odd_gaps},
    {"all missing but two", {1, 2}, {1, 3}, {8, 20}, odd_missing},
    {"many holes", {1, 3}, {2, 4}, {10, 20}, odd_holes},
    {"many realisations", {1, 2}, {200, 1000}, {3, 5}, odd_same_start},
    {"many dimensions", {20, 50}, {1, 3}, {10, 20}, odd_nothing},
    {"no noise", {1, 2}, {1, 4}, {8, 20}, odd_noiseless},
    {"white noise", {1, 2}, {1, 4}, {10, 30}, odd_white},
    {"wild values", {1, 2}, {2, 4}, {10, 30}, odd_wild},
    {"coarse values", {1, 2}, {2, 4}, {10, 30}, odd_coarse},
    {"times far from zero", {1, 2}, {1, 3}, {8, 20}, odd_clock},
    {"short times", {1, 2}, {1, 3}, {8, 20}, odd_fast},
    {"long times", {1, 2}, {1, 3}, {8, 20}, odd_slow},
    {"two clusters", {1, 2}, {2, 6}, {8, 20}, odd_clusters},
    {"alternating", {1, 2}, {1, 3}, {8, 20}, odd_alternating},
    {"exploding", {1, 2}, {1, 2}, {8, 20}, odd_exploding},
    {"subnormal numbers", {1, 2}, {1, 3}, {8, 20}, odd_subnormal},
    {"largest numbers", {1, 2}, {1, 3}, {8, 20}, odd_largest},
    {"one move", {1, 2}, {1, 3}, {8, 20}, odd_still},
    {"rotation", {2, 3}, {1, 2}, {20, 40}, odd_rotation},
    {"one long walk", {1, 1}, {1, 1}, {300, 900}, odd_nothing},
};
enum { ODD_RECIPES = sizeof odd_recipes / sizeof odd_recipes[0] };

static inline odd_set odd_make(uint64_t c)
{
    const odd_recipe *r = &odd_recipes[c % ODD_RECIPES];
    const size_t d = odd_size(c, 1, c < 60 && r->d[0] > 9 ? 9 : r->d[0],
                              c < 60 && r->d[1] > 9 ? 9 : r->d[1]); /* the first ones are quick */
    odd_set s = odd_walks(c, d, odd_size(c, 2, r->m[0], r->m[1]), odd_size(c, 3, r->n[0], r->n[1]));
    s.recipe = r->name;
    r->spoil(&s, c / ODD_RECIPES);
    return s;
}

#endif
