/* test_card.c - the plugin for a card against the one of the tests, operation by operation, where there is a card; else
 * it says so. CARD_PLUGIN in the environment names another plugin, such as that of the tests itself. */
#include "base/device.h"
#include "test.h"

#include <dlfcn.h>

enum { SKIPPED = 77 };

static sk_device host, card;

static int never(void *user)
{
    (void)user;
    return 0;
}

static int open_one(const char *path, sk_device *out)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    sk_device_open_fn begin = NULL;
    if (!library) {
        snprintf(out->about, sizeof out->about, "%.150s", dlerror());
        return SK_DEVICE_NONE;
    }
    void *symbol = dlsym(library, "sock_device_open");
    memcpy(&begin, &symbol, sizeof begin);
    *out = (sk_device){.cancelled = never};
    return begin ? begin(SK_DEVICE_ABI, sizeof *out, 0, out) : SK_DEVICE_NONE;
}

static double *normals(uint64_t number, size_t count)
{
    double *x = calloc(count + 1, sizeof *x);
    sk_normals((sk_key){3210, SK_PURPOSE_TEST}, number, 0, 0, count, x);
    return x;
}

static void both(int one, int other, const sk_device *d)
{
    if (one != other) fail_msg("%d here, %d there: %s", one, other, d->error(d->state));
}

/* Rows of two nodes each. */
typedef struct rows {
    size_t *row, *node;
    double *weight;
} rows;

static rows make_rows(size_t n)
{
    rows r = {calloc(n + 1, sizeof(size_t)), calloc(2 * n, sizeof(size_t)), normals(9, 2 * n)};
    for (size_t i = 0; i < 2 * n; i++) r.node[i] = i;
    for (size_t i = 0; i <= n; i++) r.row[i] = 2 * i;
    return r;
}

static void free_rows(rows *r) { free(r->row), free(r->node), free(r->weight); }

static const size_t sizes[] = {1, 31, 32, 33, 1000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* ---- Sums ---- */

static void sum_on(const sk_device *d, const sk_device_shape *shape, const sk_device_rows *part, size_t count,
                   double *g, double *c, double *low)
{
    void *sums = NULL;
    assert_int_equal(d->sums_begin(d->state, shape, &sums), SK_DEVICE_DONE);
    for (size_t i = 0; i < count; i++) assert_int_equal(d->sums_add(d->state, sums, &part[i]), SK_DEVICE_DONE);
    assert_int_equal(d->sums_end(d->state, sums, g, low, c, low), SK_DEVICE_DONE);
    d->sums_drop(d->state, sums);
}

static void prop_sums_agree(void **state)
{
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        const size_t n = sizes[s], p = n < 100 ? n : 40, q = p * (p + 1) / 2, columns = 3;
        const sk_device_shape shape = {.p = p, .systems = 2, .parts = 2, .sides = 2, .columns = columns, .rows = 2 * n};
        rows r = make_rows(n);
        double *phi = normals(1, 2 * n * p), *w = normals(2, 2 * n), *z = normals(3, 2 * n * columns);
        for (size_t i = 0; i < 2 * n; i++) w[i] *= w[i];
        const double *side[] = {z, z + n * columns}, *one[] = {z, NULL};
        sk_device_rows part[2] = {{.n = n,
                                   .nodes = 2 * n,
                                   .phi = phi,
                                   .row = r.row,
                                   .node = r.node,
                                   .weight = r.weight,
                                   .part = 0,
                                   .w = w,
                                   .z = side}};
        part[1] = part[0];
        part[1].part = 1;
        part[1].z = one;
        double *g = calloc(8 * q * q, sizeof *g), *c = calloc(4 * columns * q, sizeof *c),
               *low = calloc(4 * q * q + 2 * columns * q, sizeof *low);
        double *again = calloc(8 * q * q, sizeof *again), *c2 = calloc(2 * columns * q, sizeof *c2);
        sum_on(&host, &shape, part, 2, g, c, low);
        sum_on(&card, &shape, part, 2, g + 4 * q * q, c + 2 * columns * q, low);
        assert_all_close(4 * q * q, g + 4 * q * q, g, 1e-12);
        assert_all_close(2 * columns * q, c + 2 * columns * q, c, 1e-12);
        sum_on(&card, &shape, part, 2, again, c2, low); /* the same bytes each time */
        assert_memory_equal(again, g + 4 * q * q, 4 * q * q * sizeof *g);
        free(phi), free(w), free(z), free(g), free(c), free(low), free(again), free(c2);
        free_rows(&r);
    }
}

/* ---- Levels ---- */

/* gx = G x, a column of G for each pair. */
static void check_products(size_t pairs, size_t q, const double *g, const double *x, const double *gx)
{
    double *own = calloc(pairs * q, sizeof *own);
    for (size_t u = 0; u < pairs; u++)
        for (size_t v = 0; v < q; v++)
            for (size_t w = 0; w < q; w++) own[u * q + v] += g[v * q + w] * x[u * q + w];
    assert_all_close(pairs * q, gx, own, 1e-9);
    free(own);
}

/* <svec S, svec Q> = <S, Q>, Q = S_+ / (2 lambda): blocks of S are symmetric. */
static void check_answer(const sk_device_gram *problem, const sk_device_answer *answer)
{
    const size_t p = problem->p, d = problem->d, length = d * (d + 1) / 2 * p * (p + 1) / 2;
    double product = 0, own = 0;
    for (size_t j = 0; j < p * d; j++)
        own += answer->values[j] > 0 ? answer->values[j] * answer->values[j] / (2 * problem->lambda) : 0;
    for (size_t j = 0; j < length; j++)
        product += answer->x[j] * 2 / (double)problem->n * (problem->c[j] - answer->gx0[j]);
    assert_close(product, own, 1e-9, 0);
}

static void prop_levels_agree(void **state)
{
    (void)state;
    static const size_t orders[][2] = {{1, 1}, {2, 1}, {8, 2}, {11, 3}, {16, 2}, {33, 1}, {20, 5}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const size_t p = orders[i][0], d = orders[i][1], q = p * (p + 1) / 2, pairs = d * (d + 1) / 2, order = p * d,
                     n = 3 * q;
        double *b = normals(4, n * q), *z = normals(5, n * pairs), *g = calloc(q * q, sizeof *g),
               *c = calloc(pairs * q, sizeof *c);
        double zz = 0, primal[2];
        for (size_t r = 0; r < n; r++) {
            for (size_t u = 0; u < q * q; u++) g[u] += b[r * q + u / q] * b[r * q + u % q];
            for (size_t u = 0; u < pairs * q; u++) c[u] += z[r * pairs + u / q] * b[r * q + u % q];
        }
        for (size_t u = 0; u < n * pairs; u++) zz += z[u] * z[u];
        const sk_device_gram problem = {
            .n = n, .p = p, .d = d, .g = g, .c = c, .zz = zz, .lambda = 1e-3, .tolerance = 1e-8, .most = 100};
        for (int k = 0; k < 2; k++) {
            const sk_device *on = k ? &card : &host;
            double *x0 = calloc(pairs * q, sizeof *x0), *values = calloc(order, sizeof *values),
                   *e = calloc(order * order, sizeof *e);
            double *rest = calloc(3 * pairs * q, sizeof *rest);
            sk_device_answer answer = {
                .x0 = x0, .gx0 = rest, .x = rest + pairs * q, .gx = rest + 2 * pairs * q, .values = values, .e = e};
            both(SK_DEVICE_DONE, on->levels(on->state, &problem, &answer), on);
            primal[k] = 0; /* the dual value: the same for both to the gap */
            for (size_t j = 0; j < order; j++)
                primal[k] += values[j] > 0 ? values[j] * values[j] / (4 * problem.lambda) : 0;
            for (size_t u = 0; u < pairs; u++)
                for (size_t v = 0; v < q; v++)
                    for (size_t w = 0; w < q; w++)
                        primal[k] += x0[u * q + v] * g[v * q + w] * x0[u * q + w] / (double)n;
            check_products(pairs, q, g, x0, rest);
            check_products(pairs, q, g, rest + pairs * q, rest + 2 * pairs * q);
            check_answer(&problem, &answer);
            free(x0), free(rest), free(values), free(e);
        }
        assert_close(primal[1], primal[0], 1e-6, zz / (double)n);
        free(b), free(z), free(g), free(c);
    }
}

/* ---- Exact ---- */

static void prop_exact_drifts_agree(void **state)
{
    (void)state;
    const sk_device_term terms[] = {{.scale = 1, .factor = -0.5, .gauss = 1, .degree = 1},
                                    {.scale = 0.3, .shift = 1, .degree = 2}};
    for (size_t s = 0; s < SIZES; s++)
        for (size_t d = 1; d < 4; d += 2) {
            const size_t n = sizes[s];
            rows r = make_rows(n);
            double *x = normals(6, 2 * n * d), *b = normals(7, n * d), *one = calloc(n * d, sizeof *one),
                   *other = calloc(n * d, sizeof *other);
            sk_device_system system = {.n = n,
                                       .nodes = 2 * n,
                                       .d = d,
                                       .columns = d,
                                       .x = x,
                                       .row = r.row,
                                       .node = r.node,
                                       .weight = r.weight,
                                       .terms = 2,
                                       .term = terms,
                                       .shift = 0.1,
                                       .b = b};
            both(host.exact(host.state, &system, one), card.exact(card.state, &system, other), &card);
            assert_all_close(n * d, other, one, 1e-9);
            system.shift = -1e6; /* not positive definite: an answer, not a crash */
            assert_int_equal(card.exact(card.state, &system, other), SK_DEVICE_NUMERIC);
            free(x), free(b), free(one), free(other);
            free_rows(&r);
        }
}

/* ---- Simulate ---- */

/* Of rank 3 each path goes by itself, of rank 40 features are multiplied for all. */
static void walk_on(const sk_device *on, size_t rank, size_t paths, double *out, double *lost)
{
    enum { D = 2, P = 20 };
    double *omega = normals(11, P * D), *beta = normals(12, P), *c = normals(13, P * (D + D * rank)),
           *point = normals(14, P * D);
    for (size_t i = 0; i < P * (D + D * rank); i++) c[i] *= 0.2;
    const unsigned power[3 * D] = {0, 0, 1, 0, 1, 1};
    const double weight[3] = {1, 1, 0.5}, own[3 * D] = {0.1, 0, -1, 0.2, 0.1, -0.3}, unit[D] = {1, 2},
                 origin[D] = {0.1, 0};
    const sk_device_term term = {.scale = 1, .factor = -0.5, .gauss = 1, .degree = 1};
    const sk_device_piece pieces[] = {{.kind = SK_DEVICE_FOURIER,
                                       .p = P,
                                       .columns = D * rank,
                                       .coefficient = c,
                                       .omega = omega,
                                       .beta = beta,
                                       .size = 0.3,
                                       .frequency = 0.7},
                                      {.kind = SK_DEVICE_MONOMIALS,
                                       .p = 3,
                                       .columns = D,
                                       .coefficient = own,
                                       .power = power,
                                       .beta = weight,
                                       .drift = 1},
                                      {.kind = SK_DEVICE_KERNEL,
                                       .p = P,
                                       .columns = D,
                                       .coefficient = c,
                                       .origin = origin,
                                       .unit = unit,
                                       .point = point,
                                       .terms = 1,
                                       .term = &term,
                                       .drift = 1}};
    const sk_device_factor factor = {.piece = 0, .first = 0, .rank = rank};
    const double x0[] = {0.1, 0.2, -0.5, 0.5}, t[] = {0, 0.1, 0.25}, lower[] = {-1, -INFINITY}, upper[] = {1, INFINITY};
    const size_t steps[] = {4, 6};
    const sk_device_paths job = {.d = D,
                                 .starts = 2,
                                 .paths = paths,
                                 .times = 3,
                                 .x0 = x0,
                                 .t = t,
                                 .steps = steps,
                                 .seed = 3211,
                                 .purpose = 4,
                                 .pieces = 3,
                                 .factors = 1,
                                 .piece = pieces,
                                 .factor = &factor,
                                 .noisy = 1,
                                 .floor = 1e-4,
                                 .bounds = 2,
                                 .lower = lower,
                                 .upper = upper,
                                 .out = out,
                                 .lost_at = lost};
    both(SK_DEVICE_DONE, on->simulate(on->state, &job), on);
    free(omega), free(beta), free(c), free(point);
}

static void prop_paths_agree(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2 * SIZES; s++) {
        const size_t paths = sizes[s % SIZES], numbers = 2 * paths * 3 * 2, rank = s < SIZES ? 3 : 40;
        double *one = calloc(numbers, sizeof *one), *other = calloc(numbers, sizeof *other),
               *lost = calloc(2 * paths, sizeof *lost);
        walk_on(&host, rank, paths, one, lost);
        walk_on(&card, rank, paths, other, lost);
        assert_all_close(numbers, other, one, 1e-9);
        free(one), free(other), free(lost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_sums_agree),
        cmocka_unit_test(prop_levels_agree),
        cmocka_unit_test(prop_exact_drifts_agree),
        cmocka_unit_test(prop_paths_agree),
    };
    const char *other = getenv("CARD_PLUGIN");
    if (open_one(other ? other : CARD_PLUGIN_BUILT, &card) != SK_DEVICE_DONE) {
        printf("no card: skipped (%s)\n", card.about);
        return SKIPPED;
    }
    printf("card: %s (%s)\n", card.name, card.about);
    if (open_one(PLUGINS "/host/libsock-cuda.so", &host) != SK_DEVICE_DONE) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    card.close(card.state);
    host.close(host.state);
    return failed;
}
