/* test_families.c - laws that every row of the table of families must keep, a new one without being named here: text
 * and back, symmetric and positive semi-definite, features that multiply to the kernel, their derivatives, their way
 * through a file, their number. */
#include "kernel/family.h"
#include "la/la.h"
#include "onecontext.h"

#include <string.h>

enum { N = 20, MAX_D = 3, FOURIER = 20000 };

/* ---- Every row, with every parameter it takes ---- */

typedef struct kase {
    const sk_family *row;
    sk_kernel *kernel;
    size_t d;
    const double *x; /* N x d */
} kase;

static void own_kernel(void *user, size_t d, const double *x, const double *y, double *out)
{
    (void)user;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d; l++) out[k * d + l] = x[k] * y[l] + (k == l);
}

/* Short enough that N points have full rank, long enough that they feel each other. */
static double eta_for(size_t d) { return d == 1 ? 0.1 : d == 2 ? 0.3 : 0.7; }

/* of: for those that take it, whose parameters count then; B where with_b says so. */
static void write_text(const sk_family *row, const sk_family *of, size_t d, bool with_b, char *text, size_t size)
{
    static const char *const b[] = {"[2]", "[2 1;1 2]", "[2 1 0;1 2 1;0 1 2]"};
    const unsigned keys = row->keys & (of ? of->keys | ~(SK_BIT(SK_KEY_ETA) | SK_BIT(SK_KEY_DEGREE)) : ~0u);
    size_t used = (size_t)snprintf(text, size, "%s:scale=0.7", row->name);
    if (keys & SK_BIT(SK_KEY_ETA)) used += (size_t)snprintf(text + used, size - used, ",eta=%g", eta_for(d));
    if (keys & SK_BIT(SK_KEY_DEGREE)) used += (size_t)snprintf(text + used, size - used, ",degree=3");
    if (keys & SK_BIT(SK_KEY_P)) used += (size_t)snprintf(text + used, size - used, ",p=%d", FOURIER);
    if (keys & SK_BIT(SK_KEY_M)) used += (size_t)snprintf(text + used, size - used, ",m=%d", N);
    if (of) used += (size_t)snprintf(text + used, size - used, ",of=%s", of->name);
    if (keys & SK_BIT(SK_KEY_SEED)) used += (size_t)snprintf(text + used, size - used, ",seed=7");
    if (with_b) snprintf(text + used, size - used, ",B=%s", b[d - 1]);
}

static sk_kernel *make_kernel(const sk_family *row, const sk_family *of, size_t d, bool with_b)
{
    sk_kernel *kernel = NULL;
    char text[256];
    if (!row->keys) {
        assert_int_equal(sk_kernel_from_callback(ctx, own_kernel, NULL, &kernel), SOCK_OK);
        return kernel;
    }
    write_text(row, of, d, with_b, text, sizeof text);
    if (sk_kernel_parse(ctx, "drift", text, &kernel) < 0) fail_msg("%s: %s", text, sock_message(ctx));
    return kernel;
}

static void check_one(void (*law)(const kase *), const sk_family *row, const sk_family *of, size_t d, bool with_b)
{
    double x[N * MAX_D];
    sk_normals((sk_key){.seed = 5, .purpose = SK_PURPOSE_TEST}, d, 0, 0, N * d, x);
    for (size_t i = 0; row->separate && i < N * d; i++) x[i] = fabs(x[i]) + 0.3; /* away from their bound */
    const kase c = {.row = row, .kernel = make_kernel(row, of, d, with_b), .d = d, .x = x};
    assert_true(c.kernel->term[0].family == row);
    if (sk_kernel_resolve(ctx, "drift", c.kernel, d, N, x) >= 0) law(&c); /* divfree is for 2 dimensions and more */
    sk_kernel_free(c.kernel);
}

/* Each row in 1 to 3 dimensions, of each kernel where it takes one, and with B where it takes that. */
static void for_every_row(void (*law)(const kase *))
{
    for (const sk_family *const *row = sk_families; *row; row++)
        for (size_t d = 1; d <= MAX_D; d++) {
            if (!sk_family_takes(*row, SK_KEY_OF)) check_one(law, *row, NULL, d, false);
            for (const sk_family *const *of = sk_families; sk_family_takes(*row, SK_KEY_OF) && *of; of++)
                if (sk_family_is_closed(*of)) check_one(law, *row, *of, d, false);
            if (sk_family_takes(*row, SK_KEY_B)) check_one(law, *row, NULL, d, true);
        }
}

/* ---- Rows do not contradict themselves ---- */

static void test_families__rows_are_whole(void **state)
{
    (void)state;
    for (const sk_family *const *at = sk_families; *at; at++) {
        const sk_family *row = *at;
        const bool closed = row->value, features = row->make, matrix = row->add_pair;
        assert_true(closed == (row->add_gradient != NULL) && closed == (row->tile != NULL));
        assert_true(closed || features || matrix);
        assert_false(matrix && (closed || features || row->count));
        assert_true((closed || features) == (row->count != NULL));
        assert_true(!row->load || features);
        assert_true(!row->polynomial || features);
        const bool approximates = row->stands_for || sk_family_takes(row, SK_KEY_OF);
        assert_true(approximates == (features && !closed && !row->separate));
        assert_true(!row->separate || sk_family_takes(row, SK_KEY_BOUNDS));
        if (row->stands_for) assert_true(sk_family_is_closed(row->stands_for));
        if (matrix || !closed) assert_false(sk_family_takes(row, SK_KEY_B));
        assert_true(!row->keys || sk_family_takes(row, SK_KEY_SCALE));
        for (const sk_family *const *other = sk_families; *other; other++)
            assert_true(*other == row || strcmp((*other)->name, row->name) != 0);
    }
}

/* ---- Text ---- */

static void same_term(const sk_term *a, const sk_term *b)
{
    assert_true(a->family == b->family && a->of == b->of && a->degree == b->degree && a->p == b->p);
    assert_true(a->seed == b->seed && a->scale == b->scale && a->b_dim == b->b_dim);
    assert_true(a->eta == b->eta || (isnan(a->eta) && isnan(b->eta)));
    assert_true(!a->b == !b->b);
    if (a->b) assert_memory_equal(a->b, b->b, a->b_dim * a->b_dim * sizeof *a->b);
}

static void reads_back(const kase *c)
{
    sk_kernel *again = NULL;
    char *text = sk_kernel_format(ctx, c->kernel);
    assert_non_null(text);
    const sock_status status = sk_kernel_parse(ctx, "drift", text, &again);
    assert_true(sk_kernel_has_text(c->kernel) == (c->row->keys != 0));
    if (c->row->keys) {
        assert_int_equal(status, SOCK_OK);
        assert_int_equal(again->terms, 1);
        same_term(&again->term[0], &c->kernel->term[0]);
        assert_true(sk_kernel_text_is_polynomial(text) == c->row->polynomial);
    } else {
        assert_int_equal(status, SOCK_EUSAGE);
    }
    sk_kernel_free(again);
    sk_free(text);
}

static void prop_every_row_reads_its_own_text(void **state)
{
    (void)state;
    for_every_row(reads_back);
}

/* ---- Values ---- */

static sk_features *features_of(const kase *c)
{
    sk_features *map = NULL;
    if (sk_features_new(ctx, "drift", c->kernel, c->d, N, c->x, &map) < 0) fail_msg("%s", sock_message(ctx));
    return map;
}

static double *eval(const sk_features *map, size_t n, const double *x)
{
    double *phi = sk_doubles(ctx, n, sk_features_count(map));
    assert_non_null(phi);
    assert_int_equal(sk_features_eval(ctx, map, n, x, phi, sk_features_count(map)), SOCK_OK);
    return phi;
}

static double *products(const sk_features *map, const double *x)
{
    const size_t p = sk_features_count(map);
    double *phi = eval(map, N, x), *out = sk_doubles(ctx, N, N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < p; k++) out[i * N + j] += phi[i * p + k] * phi[j * p + k];
    sk_free(phi);
    return out;
}

static double *block(const sk_kernel *kernel, size_t d, const double *x)
{
    double *out = sk_doubles(ctx, N, N), *space = sk_doubles(ctx, sk_kernel_space(d, N), 1);
    sk_kernel_block(ctx, kernel, d, N, x, N, x, out, N, space);
    sk_free(space);
    return out;
}

/* The kernel at all pairs: by its formula, scalar or matrix-valued, or by its features. */
static double *gram(const kase *c, size_t *order)
{
    *order = N * (sk_kernel_is_matrix(c->kernel) ? c->d : 1);
    if (sk_kernel_is_closed(c->kernel)) return block(c->kernel, c->d, c->x);
    if (sk_kernel_is_matrix(c->kernel)) {
        double *out = sk_doubles(ctx, *order, *order);
        sk_kernel_matrix_block(c->kernel, c->d, N, c->x, N, c->x, out, *order);
        return out;
    }
    sk_features *map = features_of(c);
    double *out = products(map, c->x);
    sk_features_free(map);
    return out;
}

static void is_a_kernel(const kase *c)
{
    size_t n;
    double *k = gram(c, &n), *values = sk_doubles(ctx, n, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) assert_close(k[i * n + j], k[j * n + i], 1e-14, 1);
    assert_int_equal(sk_eigh(ctx, n, k, n, values), SOCK_OK);
    assert_true(values[n - 1] > 0 && values[0] >= -1e-13 * values[n - 1]);
    sk_free(k), sk_free(values);
}

static void prop_every_row_is_symmetric_and_positive(void **state)
{
    (void)state;
    for_every_row(is_a_kernel);
}

/* The block, the diagonal and the block with K = k I are one function. */
static void agrees_with_itself(const kase *c)
{
    const size_t d = c->d;
    if (!sk_kernel_is_closed(c->kernel)) return;
    double *k = block(c->kernel, d, c->x), diagonal[N], pair[MAX_D * MAX_D];
    sk_kernel_diagonal(c->kernel, d, N, c->x, diagonal);
    for (size_t i = 0; i < N; i++) {
        assert_close(diagonal[i], k[i * N + i], 1e-13, 1);
        for (size_t j = 0; j < N; j++) {
            sk_kernel_matrix_block(c->kernel, d, 1, c->x + i * d, 1, c->x + j * d, pair, d);
            for (size_t q = 0; q < d * d; q++) assert_close(pair[q], q % (d + 1) ? 0 : k[i * N + j], 1e-13, 1);
        }
    }
    sk_free(k);
}

static void prop_block_diagonal_and_pairs_agree(void **state)
{
    (void)state;
    for_every_row(agrees_with_itself);
}

/* ---- Features ---- */

static bool has_map(const kase *c) { return c->row->make && !c->kernel->term[0].b; }

/* Random features have an error of 1 / sqrt(p); landmarks at all the points have none there. */
static void multiplies_to_the_kernel(const kase *c)
{
    if (!has_map(c) || c->row->separate) return; /* features without a kernel: test_rootcoordinates.c */
    sk_kernel *closed = NULL;
    assert_int_equal(sk_kernel_closed_form(ctx, c->kernel, &closed), SOCK_OK);
    assert_true(sk_kernel_is_closed(closed));
    sk_features *map = features_of(c);
    double *expected = block(closed, c->d, c->x), *found = products(map, c->x);
    const bool exact = sk_family_is_closed(c->row), random = sk_family_takes(c->row, SK_KEY_P);
    assert_all_close(N * N, found, expected, exact ? 1e-13 : random ? 6 / sqrt(FOURIER) : 1e-9);
    sk_features_free(map);
    sk_kernel_free(closed);
    sk_free(expected), sk_free(found);
}

static void prop_features_multiply_to_the_kernel(void **state)
{
    (void)state;
    for_every_row(multiplies_to_the_kernel);
}

static void survives_a_file(const kase *c)
{
    if (!has_map(c)) return;
    sk_features *map = features_of(c), *back = NULL;
    char *text;
    sk_array *arrays;
    size_t count;
    assert_int_equal(sk_features_export(ctx, map, &text, &arrays, &count), SOCK_OK);
    if (!sk_family_is_closed(c->row)) assert_true((count > 0) == (c->row->load != NULL));
    if (sk_family_is_closed(c->row)) assert_int_equal(count, 0); /* all of its features: the label says it all */
    if (sk_features_import(ctx, text, c->d, arrays, count, &back) < 0) fail_msg("%s", sock_message(ctx));
    assert_int_equal(sk_features_count(back), sk_features_count(map));
    double *phi = eval(map, N, c->x), *phi_back = eval(back, N, c->x);
    assert_memory_equal(phi, phi_back, N * sk_features_count(map) * sizeof *phi);
    sk_features_free(map), sk_features_free(back);
    sk_free(text), sk_free(arrays), sk_free(phi), sk_free(phi_back);
}

static void prop_saved_features_evaluate_equal(void **state)
{
    (void)state;
    for_every_row(survives_a_file);
}

/* The cost row says what comes out; an implicit kernel takes the rank it is given. */
static void counts_its_features(const kase *c)
{
    sk_features *map = NULL;
    if (has_map(c)) {
        map = features_of(c);
        assert_true(sk_kernel_features(c->kernel, c->d, 7) == (double)sk_features_count(map));
    } else if (sk_kernel_is_implicit(c->kernel)) {
        assert_int_equal(sk_features_pivoted(ctx, c->kernel, c->d, N, c->x, 1e-12, 7, false, &map, NULL, NULL),
                         SOCK_OK);
        assert_int_equal(sk_features_count(map), 7);
        assert_true(sk_kernel_features(c->kernel, c->d, 7) == 7);
    } else if (c->row->add_pair) {
        assert_true(sk_kernel_features(c->kernel, c->d, 7) == 0);
    }
    sk_features_free(map);
}

static void test_families__cost_is_the_number_of_features(void **state)
{
    (void)state;
    for_every_row(counts_its_features);
    sk_kernel *sum = NULL;
    assert_int_equal(sk_kernel_parse(ctx, "drift", "poly:degree=5+gauss:eta=1+linear+constant", &sum), SOCK_OK);
    assert_true(sk_kernel_features(sum, 10, 40) == 3003 + 40 + 10 + 1);
    sk_kernel_free(sum);
}

/* ---- Derivatives ---- */

/* Against central differences of fourth order, with steps small against the shortest length. */
static void check_jacobian(const sk_features *map, size_t d, const double *at)
{
    const double h = 3e-3 * eta_for(d), place[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    const size_t p = sk_features_count(map);
    double *found = sk_doubles(ctx, p, d), *expected = sk_doubles(ctx, p, d);
    for (size_t k = 0; k < d; k++)
        for (int s = 0; s < 4; s++) {
            double moved[MAX_D];
            memcpy(moved, at, d * sizeof *at);
            moved[k] += place[s] * h;
            double *phi = eval(map, 1, moved);
            for (size_t j = 0; j < p; j++) expected[j * d + k] += weight[s] * phi[j] / (12 * h);
            sk_free(phi);
        }
    assert_int_equal(sk_features_jacobian(ctx, map, at, found), SOCK_OK);
    for (size_t j = 0; j < p * d; j++) assert_close(found[j], expected[j], 1e-8, 1);
    sk_free(found), sk_free(expected);
}

/* Features of its own, and those of pivots, which take the gradient of the formula. */
static void has_derivatives(const kase *c)
{
    double at[MAX_D];
    for (size_t k = 0; k < c->d; k++) at[k] = c->x[k] + 0.3 * eta_for(c->d); /* near a landmark */
    sk_features *map = has_map(c) ? features_of(c) : NULL, *pivoted = NULL;
    if (map) check_jacobian(map, c->d, at);
    if (sk_kernel_is_closed(c->kernel)) {
        assert_int_equal(sk_features_pivoted(ctx, c->kernel, c->d, N, c->x, 1e-6, N, false, &pivoted, NULL, NULL),
                         SOCK_OK);
        check_jacobian(pivoted, c->d, at);
    }
    sk_features_free(map), sk_features_free(pivoted);
}

static void prop_jacobians_are_derivatives(void **state)
{
    (void)state;
    for_every_row(has_derivatives);
}

/* ---- What other rooms ask ---- */

static void test_families__answer_for_sums(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool formula, names_eta, open;
    } cases[] = {{"gauss", true, false, true},
                 {"gauss:eta=1", true, true, false},
                 {"gauss:eta=1+curlfree", true, true, true},
                 {"linear:B=[1]+divfree:eta=2", true, true, false},
                 {"poly+affine", true, false, false},
                 {"fourier+linear", false, false, true},
                 {"nystrom:of=poly", false, false, false},
                 {"nystrom:of=gauss,eta=3", false, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_kernel *k = NULL;
        assert_int_equal(sk_kernel_parse(ctx, "drift", cases[i].text, &k), SOCK_OK);
        assert_int_equal(sk_kernel_has_formula(k), cases[i].formula);
        assert_int_equal(sk_kernel_names_eta(k), cases[i].names_eta);
        assert_int_equal(sk_kernel_is_open(k), cases[i].open);
        assert_true(sk_kernel_has_text(k));
        sk_kernel_free(k);
    }
}

/* Exactly the names of its kind, in the order of the table. */
static void test_families__are_listed_by_kind(void **state)
{
    (void)state;
    for (sk_kind kind = SK_KIND_NAMED; kind <= SK_KIND_FIXED; kind++) {
        char names[SK_NAMES], expected[SK_NAMES] = "";
        for (const sk_family *const *row = sk_families; *row; row++) {
            const bool closed = (*row)->value, features = (*row)->make;
            const bool is[] = {[SK_KIND_NAMED] = *row != &sk_callback_family,
                               [SK_KIND_CLOSED] = closed,
                               [SK_KIND_EXPLICIT] = features,
                               [SK_KIND_IMPLICIT] = closed && !features,
                               [SK_KIND_MAPPED] = features && !closed,
                               [SK_KIND_FIXED] = features && *row != &sk_nystrom_family};
            const size_t used = strlen(expected);
            if (is[kind]) snprintf(expected + used, SK_NAMES - used, "%s%s", used ? " and " : "", (*row)->name);
        }
        assert_true(strlen(expected) > 0 && strlen(expected) < SK_NAMES - 1);
        assert_string_equal(sk_kernel_names(kind, " and ", names), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families__rows_are_whole),
        cmocka_unit_test(prop_every_row_reads_its_own_text),
        cmocka_unit_test(prop_every_row_is_symmetric_and_positive),
        cmocka_unit_test(prop_block_diagonal_and_pairs_agree),
        cmocka_unit_test(prop_features_multiply_to_the_kernel),
        cmocka_unit_test(prop_saved_features_evaluate_equal),
        cmocka_unit_test(test_families__cost_is_the_number_of_features),
        cmocka_unit_test(prop_jacobians_are_derivatives),
        cmocka_unit_test(test_families__answer_for_sums),
        cmocka_unit_test(test_families__are_listed_by_kind),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
