/* test_csvslices.c - a CSV text in slices: the points that it has as a whole, whatever the slices; what is refused. */
#include "base/options.h"
#include "data/csvslices.h"
#include "data/readers.h"
#include "test.h"

static sock_context *ctx;

/* ---- A text that comes in parts ---- */

typedef struct written {
    const char *bytes;
    size_t size, at, part;
} written;

static sock_status more(sock_context *c, void *state, sk_text *text, bool *ended)
{
    written *w = state;
    const size_t count = SK_MIN(w->part, w->size - w->at);
    *ended = count == 0;
    SK_TRY(sk_text_put(c, text, w->bytes + w->at, count));
    w->at += count;
    return SOCK_OK;
}

/* ---- What comes out of it ---- */

typedef struct gathered {
    size_t points, trajectories, sets, pieces, rows;
    double t[4000], x[4000];
    size_t first[600];
    char id[600][24];
} gathered;

static sock_status gather(sock_context *c, void *arg, const sock_data *data, bool goes_on)
{
    (void)c;
    gathered *g = arg;
    assert_true(g->points + data->points <= 4000);
    for (size_t j = 0; j < data->trajectories; j++) {
        if (j == 0 && goes_on) continue;
        g->first[g->trajectories] = g->points + data->first[j];
        snprintf(g->id[g->trajectories++], sizeof g->id[0], "%s", data->id[j]);
    }
    memcpy(g->t + g->points, data->t, data->points * sizeof *data->t);
    memcpy(g->x + g->points, data->x, data->points * sizeof *data->x);
    g->points += data->points;
    g->rows += data->rows_read;
    g->pieces += goes_on;
    g->sets++;
    return SOCK_OK;
}

static size_t most; /* bytes that may be read whole; 0: any number */

static sock_status slices(sock_context *c, const char *bytes, size_t slice, const char *const *list, gathered *out)
{
    written w = {bytes, strlen(bytes), 0, slice / 3 + 1};
    const sk_csv_origin from = {"d.csv", &w, more};
    sock_options *opts = sock_options_new(c);
    if (!opts) return SOCK_ENOMEM;
    sock_status status = SOCK_OK;
    for (; status >= 0 && list && *list; list += 2) status = sock_options_set(c, opts, list[0], list[1]);
    *out = (gathered){0};
    sk_watch *watch = NULL;
    const sk_slicing how = {.slice = slice, .most = most, .watch = &watch};
    if (status >= 0) status = sk_csv_slices(c, &from, &how, opts, gather, out);
    sk_watch_free(watch);
    sock_options_free(opts);
    return status;
}

static gathered *read_so(const char *bytes, size_t slice, const char *const *list)
{
    static gathered g[2];
    gathered *out = &g[slice > 1000000];
    if (slices(ctx, bytes, slice, list, out) != SOCK_OK) fail_msg("slices of %zu: %s", slice, sock_message(ctx));
    return out;
}

/* The same points in the same trajectories, in more than one data set. */
static const gathered *assert_same(const char *bytes, size_t slice, const char *const *list)
{
    const gathered *whole = read_so(bytes, SIZE_MAX / 4, list), *some = read_so(bytes, slice, list);
    assert_int_equal(whole->sets, 1);
    assert_int_equal(some->points, whole->points);
    assert_int_equal(some->trajectories, whole->trajectories);
    assert_int_equal(some->rows, whole->rows);
    assert_memory_equal(some->t, whole->t, whole->points * sizeof *whole->t);
    assert_memory_equal(some->x, whole->x, whole->points * sizeof *whole->x);
    assert_memory_equal(some->first, whole->first, whole->trajectories * sizeof *whole->first);
    for (size_t j = 0; j < whole->trajectories; j++) assert_string_equal(some->id[j], whole->id[j]);
    return some;
}

static void refused(const char *bytes, size_t slice, const char *said)
{
    static gathered g;
    sk_begin(ctx);
    if (slices(ctx, bytes, slice, NULL, &g) != SOCK_EINPUT) fail_msg("not refused: '%s'", said);
    if (!strstr(sock_message(ctx), said)) fail_msg("'%s' is not in '%s'", said, sock_message(ctx));
}

/* ---- Texts ---- */

static char text[200000];
static size_t length;

static void begin(const char *header) { length = (size_t)snprintf(text, sizeof text, "%s", header); }

static void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
    assert_true(length < sizeof text);
}

static double draw(size_t i)
{
    double u;
    sk_uniforms((sk_key){18, SK_PURPOSE_TEST}, i, 0, 0, 1, &u);
    return u;
}

/* Trajectories of 1 to 40 points, with quotes, blank lines, missing values and times that fall. */
static void write_trajectories(size_t seed, const char *end)
{
    begin(seed % 2 ? "\xef\xbb\xbfname,t,x,note" : "name,t,x,note");
    put("%s", end);
    for (size_t j = 0, i = 1000 * seed; j < 60; j++)
        for (size_t k = 0, points = 1 + (size_t)((j % 7 == 3 ? 5 : 40) * draw(i++)); k < points; k++, i++) {
            const double x = draw(i) - 0.5;
            put(seed % 3 ? "r%zu," : "\"r \"\"%zu\"\", b\",", j);
            put("%zu,", j % 7 == 3 ? points - k : k);
            put(x > 0.45 ? "NA," : "%.17g,", x);
            put(x < -0.45 ? "\"two%slines\"%s" : "word%s", x < -0.45 ? "\n" : end, x < -0.45 ? end : "");
            if (x > 0.4) put("%s", end);
        }
}

static const char *const NAMED[] = {"id", "name", NULL};

static void prop_slices__do_not_show(void **state)
{
    (void)state;
    for (size_t seed = 0; seed < 12; seed++) {
        write_trajectories(seed, seed % 4 == 2 ? "\r\n" : "\n");
        static const size_t sizes[] = {400, 1000, 3000};
        for (size_t k = 0; k < 3; k++) assert_true(assert_same(text, sizes[k], NAMED)->sets > 2);
    }
}

static void prop_slices__a_long_trajectory_comes_in_pieces(void **state)
{
    (void)state;
    for (size_t named = 0; named < 2; named++) {
        begin(named ? "name,t,x\n" : "t,x\n");
        for (size_t j = 0; j < 1 + 2 * named; j++)
            for (size_t i = 0; i < (j == 1 ? 30 : 900); i++) {
                if (named) put("%c,", (int)('a' + j));
                put("%.2f,%.6f\n", 0.05 * (double)i, draw(1000 * j + i));
            }
        const gathered *some = assert_same(text, 2000, named ? NAMED : NULL);
        assert_true(some->pieces > 4);
        assert_int_equal(some->trajectories, 1 + 2 * named);
    }
}

/* What is counted from the first point of a trajectory, or told by all rows, waits for them. */
static void test_slices__what_needs_more_waits(void **state)
{
    (void)state;
    static const char *const timeless[] = {"dt", "0.1", NULL}, *const thin[] = {"every", "7", NULL};
    begin("x\n");
    for (size_t i = 0; i < 900; i++) put("%.6f\n", draw(i));
    assert_int_equal(assert_same(text, 1000, timeless)->sets, 1);
    begin("t,x\n");
    for (size_t i = 0; i < 900; i++) put("%zu,%.6f\n", i, draw(i));
    assert_int_equal(assert_same(text, 1000, thin)->sets, 1);
    begin("name,group,t,x\n");
    for (size_t i = 0; i < 900; i++) put("%zu,%zu,%zu,%.6f\n", i / 30, i / 30 % 3, i % 30, i % 30 ? draw(i) : 1);
    assert_int_equal(assert_same(text, 1000, NAMED)->sets, 1);
    begin("name,t,x\n");
    for (size_t i = 0; i < 900; i++) put("%zu,%zu,%.6f\n", i % 30, i / 30, draw(i)); /* one time after the other */
    assert_int_equal(assert_same(text, 1000, NAMED)->sets, 1);
    begin("name,t,x\n");
    for (size_t i = 0; i < 60; i++) put("%zu,%02zu/%02zu/2020,%.6f\n", i / 30, 1 + i / 28, 1 + i % 28, draw(i));
    assert_int_equal(assert_same(text, 300, NAMED)->sets, 1); /* that the first number is the month is told by row 13 */
}

/* The columns and the unit are those of the first slice. */
static void test_slices__the_first_decides(void **state)
{
    (void)state;
    begin("name,t,x,y\n");
    for (size_t i = 0; i < 900; i++)
        put("%zu,2020-01-%02zuT%02zu:00,%.6f,%s\n", i / 30, 1 + i % 30 / 2, 6 * (i % 2) + (i > 600 ? i % 3 : 0),
            draw(i), i > 600 ? "7" : "b");
    const gathered *some = read_so(text, 1000, NAMED);
    assert_true(some->sets > 3);
    assert_close(some->t[1] - some->t[0], 6, 1e-9, 1); /* hours, where later slices alone would have others */
    assert_close(some->t[some->first[29] + 1] - some->t[some->first[29]], 7, 1e-9, 1);
}

/* Rows at the end that lack every value are no error, as they are none in a file that is read whole (which counts
 * them). */
static void test_slices__rows_without_a_point_at_the_end(void **state)
{
    (void)state;
    static char table[40000];
    size_t at = (size_t)snprintf(table, sizeof table, "id,t,x\n");
    for (int i = 0; i < 900; i++)
        at += (size_t)snprintf(table + at, sizeof table - at, i < 500 ? "%d,%d,%g\n" : "%d,%d,\n", i / 50, i % 50,
                               sin(i));
    const gathered *some = read_so(table, 3000, NULL);
    assert_int_equal(some->points, 500);
    assert_int_equal(some->trajectories, 10);
    assert_true(some->sets > 1);
}

static void test_slices__what_is_refused(void **state)
{
    (void)state;
    begin("traj,t,x\n");
    for (size_t i = 0; i < 300; i++) put("%zu,%zu,%.6f\n", i / 30 == 9 ? 2 : i / 30, i, draw(i));
    refused(text, 1000, "line 272: trajectory '2' has rows in places far from each other");
    begin("t,x\n");
    for (size_t i = 0; i < 300; i++) put("%zu,%.6f\n", i == 250 ? 3 : i, draw(i));
    refused(text, 1000, "line 252: trajectory '0' has rows in places far from each other");
    begin("traj,t,x\n");
    for (size_t i = 0; i < 300; i++) put("%zu,%zu,%s\n", i / 30, i, i == 250 ? "no" : "1.5");
    refused(text, 1000, "d.csv: line 252, column 'x': 'no' is not a number");
    refused("", 1000, "d.csv");
    refused("t,x\n", 1000, "the file holds a header and no rows");
    refused("t,x\n0,\"1\n1,2\n", 6, "line 2");
}

/* Columns that are no states, for every reason; `of` changes what it is at row `at`. */
enum { COURSES = 8 };
static const char *const courses[COURSES] = {"dose", "weight", "second", "visit", "number", "event", "again", "later"};

static void write_courses(size_t of, size_t at)
{
    begin("id,t,x,dose,weight,second,visit,number,event,again,later\n");
    for (size_t i = 0; i < 900; i++) {
        const size_t j = i / 30, k = i % 30;
        const double t = (double)k + 0.1 * draw(i), x = draw(10000 + i);
        double value[COURSES] = {5, 50 + (double)j, 60 * t + (double)j, (double)k + 1, (double)i, i % 3 == 0, x, 0};
        if (i >= at && of < COURSES) value[of] += 0.25;
        if (i > at && of == 4) value[of] -= 0.25;
        put("%zu,%.17g,%.17g", j, t, x);
        for (size_t c = 0; c + 1 < COURSES; c++) put(",%.17g", value[c]);
        put(i >= at && of == 7 ? ",1\n" : ",NA\n");
    }
}

static void test_slices__what_was_left_out_is_watched(void **state)
{
    (void)state;
    write_courses(COURSES, 0);
    const gathered *some = assert_same(text, 12000, NULL);
    assert_true(some->sets > 4);
    for (size_t of = 0; of < COURSES; of++) {
        char said[120];
        write_courses(of, of == 5 ? 777 : 785); /* in the middle of a trajectory, far behind the first slice */
        snprintf(said, sizeof said, "line %d: column '%s' was left out by what the data begin with",
                 of == 5 ? 779 : 787, courses[of]);
        refused(text, 12000, said);
        assert_int_equal(read_so(text, SIZE_MAX / 4, (const char *const[]){"state", "x", NULL})->points, 900);
        assert_int_equal(read_so(text, 12000, (const char *const[]){"state", "x", NULL})->points, 900);
    }
    write_courses(1, 780); /* another weight, from one trajectory to the next, is none */
    assert_same(text, 12000, NULL);
}

/* The watched columns lie in one trajectory that comes in pieces; between two pieces they are compared, too. */
static void test_slices__pieces_are_watched(void **state)
{
    (void)state;
    for (size_t jump = 0; jump < 900; jump += 300) {
        begin("t,x,dose,second\n");
        for (size_t i = 0; i < 900; i++) put("%zu,%.6f,%d,%zu\n", i, draw(i), 7, 60 * i + (jump && i >= jump ? 1 : 0));
        if (!jump)
            assert_true(assert_same(text, 2000, NULL)->pieces > 4);
        else
            refused(text, 2000, jump == 300 ? "line 302: column 'second'" : "line 602: column 'second'");
    }
    for (size_t i = 100; i < 900; i += 7) { /* wherever the cut is */
        begin("t,x,dose\n");
        for (size_t k = 0; k < 900; k++) put("%zu,%.6f,%d\n", k, draw(k), k >= i ? 8 : 7);
        char said[60];
        snprintf(said, sizeof said, "line %zu: column 'dose'", i + 2);
        refused(text, 1000, said);
    }
}

static void test_slices__what_a_stream_does_not_read_whole(void **state)
{
    (void)state;
    static const char *const timeless[] = {"dt", "0.1", NULL}, *const thin[] = {"every", "7", NULL},
                             *const wide[] = {"wide", "yes", NULL};
    static const struct {
        const char *header;
        const char *const *options;
        const char *said;
    } shapes[] = {{"x\n", timeless, "one trajectory without times (--dt)"},
                  {"t,x\n", thin, "--every counts from the first row"},
                  {"id,group,t,x\n", NULL, "leave them out with --group none"},
                  {"id,t,x\n", NULL, "rows of several trajectories stand mixed"},
                  {"id,t,x\n", NULL, "write 2020-02-01"},
                  {"t,a,b\n", wide, "bring it into long form"}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        static gathered g;
        begin(shapes[s].header);
        for (size_t i = 0; i < 900; i++) {
            if (s == 1 || s == 5) put("%zu,", i);
            if (s == 2) put("%zu,%zu,%zu,", i / 9, i / 9 % 2, i % 9);
            if (s == 3) put("%zu,%zu,", i % 9, i / 9);
            if (s == 4) put("%zu,%02zu/20/2020,", i / 9, 1 + i % 9);
            put(s == 5 ? "%.6f,0.5\n" : "%.6f\n", s == 2 && i % 9 == 0 ? 0.5 : draw(i));
        }
        for (most = 4000; most; most = 0) {
            sk_begin(ctx);
            if (slices(ctx, text, 1000, shapes[s].options, &g) != SOCK_EINPUT) fail_msg("%s", shapes[s].said);
            if (!strstr(sock_message(ctx), shapes[s].said) || !strstr(sock_message(ctx), "sock convert"))
                fail_msg("'%s' is not in '%s'", shapes[s].said, sock_message(ctx));
        }
        read_so(text, 1000, shapes[s].options);
    }
    most = 4000; /* what comes in slices may be of any length */
    begin("id,t,x\n");
    for (size_t i = 0; i < 900; i++) put("%zu,%zu,%.6f\n", i / 9, i % 9, draw(i));
    assert_true(read_so(text, 1000, NULL)->sets > 4);
    most = 0;
}

static sock_status in_slices(sock_context *c, void *arg)
{
    static gathered g;
    (void)arg;
    return slices(c, text, 60, NULL, &g);
}

static void test_slices__every_failing_allocation_is_told(void **state)
{
    (void)state;
    begin("t,x,c\n");
    for (size_t i = 0; i < 20; i++) put("%zu,%zu.5,4\n", i, i * i % 7);
    assert_true(for_single_allocations(ctx, in_slices, NULL) > 60);
}

static int set_up(void **state)
{
    (void)state;
    ctx = sock_context_new();
    return ctx ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sock_context_free(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prop_slices__do_not_show),
        cmocka_unit_test(prop_slices__a_long_trajectory_comes_in_pieces),
        cmocka_unit_test(test_slices__what_needs_more_waits),
        cmocka_unit_test(test_slices__the_first_decides),
        cmocka_unit_test(test_slices__rows_without_a_point_at_the_end),
        cmocka_unit_test(test_slices__what_was_left_out_is_watched),
        cmocka_unit_test(test_slices__pieces_are_watched),
        cmocka_unit_test(test_slices__what_a_stream_does_not_read_whole),
        cmocka_unit_test(test_slices__what_is_refused),
        cmocka_unit_test(test_slices__every_failing_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
