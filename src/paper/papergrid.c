/* papergrid.c - step 4 of the paper's protocol: grids of eta and lambda that grow. */
#include "paper/paperstate.h"

#include <math.h>
#include <string.h>

/* Beyond so many unknowns pd the diffusion has a smaller grid. */
enum { MEDIUM_ORDER = 150, LARGE_ORDER = 300 };

/* etas, the least, lambdas, their step, growths, lambdas grown by */
const sk_paper_grid sk_paper_drift_grid = {5, 0.25, 10, 0.1, 3, 3};
static const sk_paper_grid small_grid = {5, 0.25, 5, 0.01, 3, 1};
static const sk_paper_grid medium_grid = {4, 0.5, 3, 0.01, 3, 1};
static const sk_paper_grid large_grid = {4, 0.5, 3, 0.01, 1, 1};

const sk_paper_grid *sk_paper_grid_of(size_t unknowns, bool *large)
{
    *large = unknowns > LARGE_ORDER;
    return *large ? &large_grid : unknowns > MEDIUM_ORDER ? &medium_grid : &small_grid;
}

sk_paper_grid sk_paper_grid_near(const sk_paper_grid *grid, double eta, double distance)
{
    sk_paper_grid near = *grid;
    if (!isnan(eta)) near.etas = 3, near.least = 0.5 * eta / distance;
    return near;
}

bool sk_paper_out_of_time(sk_paper *p)
{
    if (!(p->spec->budget > 0) || sk_seconds() - p->start < p->spec->budget) return false;
    p->limited = true;
    p->skipped++;
    return true;
}

static sock_status attempt_lambdas(sk_paper *p, sk_paper_trial attempt, double eta, const sk_paper_grid *g,
                                   double first, size_t count, sk_paper_found *best)
{
    double l[SK_PAPER_LAMBDAS];
    for (size_t j = 0; j < count; j++) l[j] = first * pow(g->step, (double)j);
    return attempt(p, eta, count, l, best);
}

/* Between the places of a grid with steps of more than a decade. */
static sock_status refine(sk_paper *p, sk_paper_trial attempt, const sk_paper_grid *g, sk_paper_found *best)
{
    if (g->step > 0.05 || !isfinite(best->best.score) || sk_paper_out_of_time(p)) return SOCK_OK;
    double root = sqrt(g->step), l[] = {best->best.l / root, best->best.l * root};
    bool whole = best->best.l < 0.99; /* above l = 1 every fit tends to zero */
    return attempt(p, best->best.eta, whole ? 2 : 1, whole ? l : l + 1, best);
}

/* The ends that a grid has by now. */
typedef struct ends {
    double least, most; /* eta; NaN: it is not free */
    double lowest;      /* l */
} ends;

/* Which of them the best place is on, but for rounding. */
typedef struct edge {
    bool low, high, end;
} edge;

static edge edge_of(const sk_paper_place *best, const ends *at)
{
    return (edge){best->eta<1.01 * at->least, best->eta> 0.99 * at->most, best->l < 1.01 * at->lowest};
}

static bool on_edge(edge e) { return e.low || e.high || e.end; }

static sock_status grow(sk_paper *p, sk_paper_trial attempt, const sk_paper_grid *g, edge e, ends *at,
                        sk_paper_found *best)
{
    if (e.low) SK_TRY(attempt_lambdas(p, attempt, at->least /= 2, g, 1, g->lambdas, best));
    if (e.high) SK_TRY(attempt_lambdas(p, attempt, at->most *= 2, g, 1, g->lambdas, best));
    if (e.end) {
        SK_TRY(attempt_lambdas(p, attempt, best->best.eta, g, at->lowest * g->step, g->grown, best));
        at->lowest *= pow(g->step, (double)g->grown);
    }
    return SOCK_OK;
}

/* The grid of eta grows at both ends, that of l downwards: above l = 1 every fit tends to zero, and that is told. */
sock_status sk_paper_search_grid(sk_paper *p, const char *named, sk_paper_trial attempt, const sk_paper_grid *g,
                                 sk_paper_found *best)
{
    const bool free_eta = strcmp(named, "auto") == 0;
    const double least = free_eta ? g->least * p->distance : (double)NAN;
    ends at = {least, least * pow(2, (double)(g->etas - 1)), pow(g->step, (double)(g->lambdas - 1))};
    for (size_t i = 0; i < (free_eta ? g->etas : 1); i++) {
        if (best->any && sk_paper_out_of_time(p)) break;
        SK_TRY(attempt_lambdas(p, attempt, least * pow(2, (double)i), g, 1, g->lambdas, best));
    }
    for (size_t growth = 0; growth < g->growths; growth++) {
        const edge e = edge_of(&best->best, &at);
        if (!on_edge(e) || sk_paper_out_of_time(p)) break;
        SK_TRY(grow(p, attempt, g, e, &at, best));
    }
    SK_TRY(refine(p, attempt, g, best));
    best->edge = on_edge(edge_of(&best->best, &at)) || best->best.l > 0.99;
    if (!isfinite(best->best.score))
        return sk_fail(p->ctx, SOCK_ENUMERIC,
                       "no candidate gives the validation data a density; give --delta > 0 for a singular diffusion");
    return SOCK_OK;
}
