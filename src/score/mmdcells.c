/* mmdcells.c - MMD of a model, or of a source of paths, over a test set. The test trajectories are sorted into cells,
 * one for each pair of distinct start and time grid; for each cell paths are made from its start on its grid, observed
 * as the data were, and compared with its trajectories. Cells of one grid are made together, as many as fit in a slab
 * of memory. */
#include "model/modelinputs.h"
#include "score.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

enum { SLAB = 1 << 23 }; /* doubles of simulated paths held at once: 64 MB */

typedef struct cells {
    size_t count;
    size_t *grid;   /* count: which grid */
    size_t *begin;  /* count + 1: member[begin[c]] .. */
    size_t *member; /* trajectories */
    size_t grids, largest;
} cells;

static void cells_clear(cells *c)
{
    sk_free(c->grid);
    sk_free(c->begin);
    sk_free(c->member);
}

/* Cells numbered by grid, then by appearance: a cell's number is its start's number in the random stream. Labels of
 * grid and start are in order of appearance, so counting sorts both: labels by their grid, trajectories by their cell.
 */
static void sort_into_cells(size_t n, size_t found, const size_t *grid, const size_t *label, size_t *scratch, cells *c)
{
    size_t *grid_of = scratch, *from = grid_of + n, *cell_of = from + n + 1, *next = cell_of + n;
    for (size_t j = 0; j < n; j++)
        if (label[j] != SIZE_MAX) grid_of[label[j]] = grid[j];
    for (size_t l = 0; l < found; l++) from[grid_of[l] + 1]++;
    for (size_t g = 0; g < c->grids; g++) from[g + 1] += from[g];
    for (size_t l = 0; l < found; l++) {
        cell_of[l] = from[grid_of[l]]++;
        c->grid[cell_of[l]] = grid_of[l];
    }
    c->count = found;
    for (size_t j = 0; j < n; j++)
        if (label[j] != SIZE_MAX) c->begin[cell_of[label[j]] + 1]++;
    for (size_t i = 0; i < found; i++) {
        c->largest = SK_MAX(c->largest, c->begin[i + 1]);
        c->begin[i + 1] += c->begin[i];
        next[i] = c->begin[i];
    }
    for (size_t j = 0; j < n; j++)
        if (label[j] != SIZE_MAX) c->member[next[cell_of[label[j]]]++] = j;
}

/* each: every trajectory is a cell of its own, since what starts paths is not its first point alone. */
static void part_cells(size_t n, size_t *label, size_t *found)
{
    *found = 0;
    for (size_t j = 0; j < n; j++)
        if (label[j] != SIZE_MAX) label[j] = (*found)++;
}

static sock_status make_cells(sock_context *ctx, const sock_data *data, bool each, cells *c)
{
    const size_t n = data->trajectories;
    sock_status status = SOCK_ENOMEM;
    size_t found, *scratch = sk_alloc(ctx, 6 * n + 1, sizeof *scratch);
    *c = (cells){.grid = sk_alloc(ctx, n, sizeof *c->grid),
                 .begin = sk_alloc(ctx, n + 1, sizeof *c->begin),
                 .member = sk_alloc(ctx, n, sizeof *c->member)};
    if (!scratch || !c->grid || !c->begin || !c->member) goto out;
    size_t *grid = scratch, *label = grid + n;
    SK_GO(sk_label_trajectories(ctx, data, false, grid, &c->grids));
    SK_GO(sk_label_trajectories(ctx, data, true, label, &found));
    if (each) part_cells(n, label, &found);
    sort_into_cells(n, found, grid, label, label + n, c);
out:
    sk_free(scratch);
    return status;
}

/* Where paths come from: a model's simulation, or a source. */
typedef struct origin {
    const sock_model *model;        /* NULL: the source */
    const sk_second_starts *starts; /* of order 2: the laws that each trajectory starts paths with; else NULL */
    sock_paths_fn source;
    void *user;
} origin;

typedef struct batch {
    sock_context *ctx;
    const origin *from;
    const sock_data *data;
    const cells *c;
    const sk_mmd_spec *spec;
    size_t first;    /* cell */
    size_t times;    /* of the grid */
    const double *t; /* of the grid */
    double *paths;   /* cells x spec->paths x times x d */
    double *space;
    size_t space_each;
    const double **pointer; /* of all workers, paths + largest cell each */
    double *value;          /* of each cell of the test set */
} batch;

static sock_status compare_range(void *arg, size_t begin, size_t end, int worker)
{
    const batch *b = arg;
    const size_t P = b->spec->paths, d = b->data->d;
    const double **model = b->pointer + (size_t)worker * (P + b->c->largest), **test = model + P;
    for (size_t i = begin; i < end; i++) {
        size_t cell = b->first + i, from = b->c->begin[cell], members = b->c->begin[cell + 1] - from;
        for (size_t p = 0; p < P; p++) model[p] = b->paths + (i * P + p) * b->times * d;
        for (size_t m = 0; m < members; m++) test[m] = b->data->x + b->data->first[b->c->member[from + m]] * d;
        sk_samples samples = {b->times, d, b->t, b->spec->eta, {P, members}, {model, test}};
        b->value[cell] = sk_mmd2(b->ctx, &samples, b->space + (size_t)worker * b->space_each);
    }
    return SOCK_OK;
}

static const double *start_of(const batch *b, size_t cell)
{
    return b->data->x + b->data->first[b->c->member[b->c->begin[cell]]] * b->data->d;
}

/* Inputs of the cells of a batch, at the times of their grid: count x times x inputs of the model; NULL: none. */
static sock_status inputs_of(const batch *b, size_t count, double **out)
{
    const sock_model *model = b->from->model;
    const size_t m = model->structure->inputs;
    size_t *place = NULL;
    *out = NULL;
    if (!m) return SOCK_OK;
    SK_TRY(sk_inputs_find(b->ctx, model, b->data, &place));
    double *u = sk_doubles_unset(b->ctx, count * b->times, m);
    for (size_t i = 0; u && i < count * b->times; i++) {
        const size_t example = b->c->member[b->c->begin[b->first + i / b->times]];
        sk_inputs_at(model, place, b->data, b->data->first[example] + i % b->times, 0, u + i * m);
    }
    sk_free(place);
    *out = u;
    return u ? SOCK_OK : SOCK_ENOMEM;
}

static sock_simulation simulation_of(const batch *b)
{
    const sk_mmd_spec *spec = b->spec;
    return (sock_simulation){.times = b->times,
                             .t = b->t,
                             .step = spec->step,
                             .seed = spec->seed,
                             .bounds = spec->bounds,
                             .lower = spec->lower,
                             .upper = spec->upper};
}

/* A model simulates all cells of the batch in one call. */
static sock_status simulate_batch(const batch *b, size_t count, size_t *lost)
{
    const sk_mmd_spec *spec = b->spec;
    const size_t d = b->data->d;
    double *x0 = sk_doubles(b->ctx, count, d), *u = NULL;
    if (!x0) return SOCK_ENOMEM;
    for (size_t i = 0; i < count; i++) memcpy(x0 + i * d, start_of(b, b->first + i), d * sizeof *x0);
    sock_simulation simulation = simulation_of(b);
    simulation.starts = count;
    simulation.x0 = x0;
    simulation.paths = spec->paths;
    simulation.first_start = b->first;
    sock_simulation_report report;
    sock_status status;
    SK_GO(inputs_of(b, count, &u));
    simulation.input_times = b->times;
    simulation.input_t = b->t;
    simulation.u = u;
    SK_GO(sk_simulation_check(b->ctx, b->from->model, &simulation));
    SK_GO(sk_simulate(b->ctx, b->from->model, &simulation, b->paths, NULL, &report));
    *lost += report.lost;
    status = SOCK_OK; /* lost paths are counted */
out:
    sk_free(u);
    sk_free(x0);
    return status;
}

/* ---- Observed with noise ---- */

/* The errors of measurement of a path: times x d, with the factor c of R. */
static void draw_errors(const batch *b, size_t path, size_t times, const double *c, double *e)
{
    const size_t d = b->data->d, P = b->spec->paths;
    double z[SK_NOISE_MOST_DIM];
    for (size_t i = 0; i < times; i++) {
        sk_normals((sk_key){b->spec->seed, SK_PURPOSE_OBSERVE}, b->first + path / P, path % P, i * d, d, z);
        for (size_t k = 0; k < d; k++) e[i * d + k] = sk_dot(k + 1, c + k * d, z);
    }
}

/* Where the data have errors with covariance R, so have the paths; each starts where its first observation, that of the
 * data, is from: N(y_0, R). */
static sock_status simulate_noisy(const batch *b, size_t count, size_t *lost)
{
    const size_t d = b->data->d, P = b->spec->paths, all = count * P, width = b->times * d;
    double *x0 = sk_doubles(b->ctx, all, d), *c = sk_doubles(b->ctx, d, d), *e = sk_doubles(b->ctx, b->times, d);
    double *bound = sk_doubles(b->ctx, 2, d);
    sock_simulation simulation = simulation_of(b);
    sock_simulation_report report;
    sock_status status = SOCK_ENOMEM;
    if (!x0 || !c || !e || !bound) goto out;
    const sock_simulation settled = sk_settle_bounds(b->from->model, &simulation, bound);
    sk_factor_copy(d, 1e-14, b->spec->noise, c);
    for (size_t i = 0; i < all; i++) {
        draw_errors(b, i, 1, c, e);
        for (size_t k = 0; k < d; k++) x0[i * d + k] = start_of(b, b->first + i / P)[k] - e[k];
        if (settled.bounds != SOCK_BOUNDS_NONE)
            sk_keep_within(d, settled.bounds, settled.lower, settled.upper, x0 + i * d);
    }
    simulation.starts = all;
    simulation.paths = 1;
    simulation.first_start = b->first * P;
    simulation.x0 = x0;
    SK_GO(sk_simulation_check(b->ctx, b->from->model, &simulation));
    SK_GO(sk_simulate(b->ctx, b->from->model, &simulation, b->paths, NULL, &report));
    *lost += report.lost;
    for (size_t i = 0; i < all; i++) {
        draw_errors(b, i, b->times, c, e);
        for (size_t k = d; k < width; k++) b->paths[i * width + k] += e[k];
        memcpy(b->paths + i * width, start_of(b, b->first + i / P), d * sizeof *e);
    }
    status = SOCK_OK; /* lost paths are counted */
out:
    sk_free(bound);
    sk_free(e);
    sk_free(c);
    sk_free(x0);
    return status;
}

/* ---- Order 2 ---- */

/* What was observed of the paths of a cell; those of a law that is not finite are lost. */
static void observe_second(const batch *b, size_t cell, const double *states, double *out)
{
    const size_t d = b->data->d, P = b->spec->paths, tail = b->c->member[b->c->begin[cell]];
    const sk_second_starts *s = b->from->starts;
    for (size_t p = 0; p < P; p++)
        sk_second_observe(s, b->spec->seed, cell, p, b->times, states + p * b->times * 2 * d, start_of(b, cell),
                          out + p * b->times * d);
    for (size_t i = 0; !s->known[tail] && i < P * b->times * d; i++) out[i] = (double)NAN;
}

/* Of order 2 every path has a start of its own. */
static sock_status simulate_second(const batch *b, size_t count)
{
    const size_t d = b->data->d, P = b->spec->paths, each = P * b->times;
    double *x0 = sk_doubles(b->ctx, count * P, 2 * d), *states = sk_doubles_unset(b->ctx, count * each, 2 * d);
    double bound[4 * SK_SECOND_MOST_DIM];
    sock_simulation simulation = simulation_of(b);
    const sock_simulation settled = sk_settle_bounds(b->from->model, &simulation, bound);
    sock_simulation_report report;
    sock_status status = SOCK_ENOMEM;
    if (!x0 || !states) goto out;
    for (size_t i = 0; i < count * P; i++) {
        const size_t cell = b->first + i / P;
        sk_second_draw(b->from->starts, b->c->member[b->c->begin[cell]], b->spec->seed, cell, i % P, x0 + i * 2 * d);
        if (settled.bounds != SOCK_BOUNDS_NONE)
            sk_keep_within(2 * d, settled.bounds, settled.lower, settled.upper, x0 + i * 2 * d);
    }
    simulation.starts = count * P;
    simulation.paths = 1;
    simulation.first_start = b->first * P;
    simulation.x0 = x0;
    SK_GO(sk_simulation_check(b->ctx, b->from->model, &simulation));
    SK_GO(sk_simulate(b->ctx, b->from->model, &simulation, states, NULL, &report));
    for (size_t i = 0; i < count; i++)
        observe_second(b, b->first + i, states + i * each * 2 * d, b->paths + i * each * d);
    status = SOCK_OK; /* lost paths are counted */
out:
    sk_free(states);
    sk_free(x0);
    return status;
}

/* A source makes one cell a call. */
static sock_status source_range(void *arg, size_t begin, size_t end, int worker)
{
    const batch *b = arg;
    const sk_mmd_spec *spec = b->spec;
    const size_t d = b->data->d;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const size_t cell = b->first + i, from = b->c->begin[cell], points = spec->paths * b->times;
        double *paths = b->paths + i * points * d;
        sock_path_request request = {.start = cell,
                                     .seed = spec->seed,
                                     .d = d,
                                     .paths = spec->paths,
                                     .x0 = start_of(b, cell),
                                     .times = b->times,
                                     .t = b->t,
                                     .members = b->c->begin[cell + 1] - from,
                                     .member = b->c->member + from};
        SK_TRY(b->from->source(b->from->user, &request, paths));
        for (size_t p = 0; p < points && spec->bounds != SOCK_BOUNDS_NONE; p++)
            sk_keep_within(d, spec->bounds, spec->lower, spec->upper, paths + p * d);
    }
    return SOCK_OK;
}

static size_t count_lost(const batch *b, size_t count)
{
    const size_t length = b->times * b->data->d;
    size_t lost = 0;
    for (size_t p = 0; p < count * b->spec->paths; p++) {
        bool finite = true;
        for (size_t i = 0; i < length && finite; i++) finite = isfinite(b->paths[p * length + i]);
        lost += !finite;
    }
    return lost;
}

/* Makes and compares the paths of cells first .. first + count - 1, which share their grid. */
static sock_status run_batch(batch *b, size_t count, size_t *lost)
{
    sock_context *ctx = b->ctx;
    const size_t d = b->data->d, P = b->spec->paths, workers = (size_t)sk_workers(ctx);
    sock_status status = SOCK_ENOMEM;
    sk_samples most = {.times = b->times, .d = d, .paths = {P, b->c->largest}};
    b->paths = sk_doubles(ctx, count * P, b->times * d);
    b->space_each = sk_mmd_space(&most);
    b->space = sk_doubles(ctx, workers, b->space_each);
    b->pointer = sk_alloc(ctx, workers * (P + b->c->largest), sizeof *b->pointer);
    if (!b->paths || !b->space || !b->pointer) goto out;
    if (b->from->starts)
        SK_GO(simulate_second(b, count));
    else if (b->from->model && b->spec->noise)
        SK_GO(simulate_noisy(b, count, lost));
    else if (b->from->model)
        SK_GO(simulate_batch(b, count, lost));
    else
        SK_GO(sk_parallel_for(ctx, count, 1, source_range, b));
    if (b->from->starts || !b->from->model) *lost += count_lost(b, count);
    SK_GO(sk_parallel_for(ctx, count, 1, compare_range, b));
out:
    sk_free(b->pointer);
    sk_free(b->space);
    sk_free(b->paths);
    return status;
}

/* The cells from `first` on that go into one batch. */
static size_t cells_of_batch(const cells *c, size_t first, size_t doubles_each)
{
    const size_t at_once = SLAB / doubles_each + 1;
    size_t same = 1;
    while (first + same < c->count && c->grid[first + same] == c->grid[first]) same++;
    return SK_MIN(same, at_once);
}

static sock_status mmd_over_cells(sock_context *ctx, const origin *from, const sock_data *test, const sk_mmd_spec *spec,
                                  sk_mmd_result *out)
{
    cells c;
    double *value = NULL;
    sock_status status;
    SK_GO(make_cells(ctx, test, from->starts != NULL, &c));
    sk_mmd_result result = {.starts = c.count};
    if (!(value = sk_doubles(ctx, c.count, 1))) {
        status = SOCK_ENOMEM;
        goto out;
    }
    for (size_t first = 0, count; first < c.count; first += count) {
        size_t example = c.member[c.begin[first]], times = test->first[example + 1] - test->first[example];
        count = cells_of_batch(&c, first, spec->paths * times * test->d * (from->starts ? 3 : 1));
        batch b = {.ctx = ctx,
                   .from = from,
                   .data = test,
                   .c = &c,
                   .spec = spec,
                   .first = first,
                   .times = times,
                   .value = value};
        b.t = test->t + test->first[example];
        SK_GO(run_batch(&b, count, &result.lost));
    }
    for (size_t i = 0; i < c.count; i++) result.value += value[i] / (double)c.count;
    *out = result;
    status = SOCK_OK;
out:
    sk_free(value);
    cells_clear(&c);
    return status;
}

/* Over what is behind the first points. */
static sock_status mmd_of_second(sock_context *ctx, const sock_model *model, const sock_data *test,
                                 const sk_mmd_spec *spec, sk_mmd_result *out)
{
    sock_data *tails = NULL;
    size_t *of = NULL;
    sk_second_starts starts = {0};
    sock_status status;
    *out = (sk_mmd_result){0};
    SK_GO(sk_second_tails(ctx, test, &tails, &of));
    if (!tails) goto out;
    SK_GO(sk_second_starts_new(ctx, model, test, of, tails, spec->noise, &starts));
    const origin from = {.model = model, .starts = &starts};
    SK_GO(mmd_over_cells(ctx, &from, tails, spec, out));
out:
    sk_second_starts_clear(&starts);
    sk_free(of);
    sock_data_free(tails);
    return status;
}

sock_status sk_mmd(sock_context *ctx, const sock_model *model, const sock_data *test, const sk_mmd_spec *spec,
                   sk_mmd_result *out)
{
    if (model->structure->order == 2) return mmd_of_second(ctx, model, test, spec, out);
    const origin from = {.model = model};
    return mmd_over_cells(ctx, &from, test, spec, out);
}

sock_status sk_mmd_of_paths(sock_context *ctx, sock_paths_fn source, void *user, const sock_data *test,
                            const sk_mmd_spec *spec, sk_mmd_result *out)
{
    const origin from = {.source = source, .user = user};
    return mmd_over_cells(ctx, &from, test, spec, out);
}
