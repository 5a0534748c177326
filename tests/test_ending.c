/* test_ending.c - the last pass of a search: polish that is kept where it gains, shares, the floor and its scores,
 * recomputed row by row; and the same kernels on all rows. */
#include "searchcases.h"

#include "onecontext.h"

/* Trials of all candidates under the true model. */
static void try_all(case_search *c)
{
    const sk_stage stage = case_stage();
    sk_search *s = &c->s;
    double share[SK_MOST] = {0, 1};
    if (!s->model) sk_search_take_model(s, case_model(ctx, s->rows->d, NULL), false);
    assert_int_equal(sk_renew_views(s), SOCK_OK);
    assert_int_equal(sk_run_drifts(s, &stage, s->views, &s->list, s->drifts, s->drift, &s->best_drift), SOCK_OK);
    assert_int_equal(sk_renew_remains(s, share), SOCK_OK);
    assert_true(sk_run_diffusions(s, &stage, s->remains, &s->list, s->diffusions, s->diffusion, &s->best_diffusion) >=
                0);
}

/* The steps of a second set are held out, those of the first are always in. */
static void with_validation(case_search *c, sock_data *other)
{
    sk_row_sets_clear(&c->s.sets);
    c->spec.validation = other;
    assert_int_equal(sk_row_sets_new(ctx, &c->spec, 10000, 10000, &c->s.sets), SOCK_OK);
    c->s.rows = c->s.sets.all;
}

/* ---- Floor ---- */

typedef struct slow_floor {
    double trace, time, squares, variance, one;
    double score[SK_FLOORS], *cluster, euler[SK_FLOORS], *euler_cluster, level[SK_FLOORS];
} slow_floor;

/* I a of the average of the diffusions on a view. */
static double *average(const sk_search *s, const sk_choice *choice, const sk_view *v)
{
    const size_t size = v->n * v->d * v->d;
    double *held = sk_doubles(ctx, size, 1), *part = sk_doubles(ctx, size, 1);
    for (size_t i = 0; i < s->list.diffusions; i++) {
        if (!(choice->share[i] > 0)) continue;
        assert_int_equal(sk_trial_held(ctx, s->diffusion[i], v, part), SOCK_OK);
        for (size_t k = 0; k < size; k++) held[k] += choice->share[i] * part[k];
    }
    sk_free(part);
    return held;
}

/* tr F A F' */
static double spread(const sk_view *v, size_t i, const double *a)
{
    const size_t d = v->d;
    const double *f = v->left + i * d * d;
    double sum = 0;
    for (size_t r = 0; r < d; r++)
        for (size_t k = 0; k < d; k++)
            for (size_t l = 0; l < d; l++) sum += f[r * d + k] * a[k * d + l] * f[r * d + l];
    return sum;
}

static void slow_row(slow_floor *w, const sk_block *block, size_t i, const double *a)
{
    const sk_view *v = block->view;
    const size_t d = v->d;
    const double *e = block->e + (v->fold * v->n + i) * d;
    for (size_t g = 0; g < SK_FLOORS; g++) {
        double c[4];
        for (size_t k = 0; k < d * d; k++) c[k] = a[k] + (k % (d + 1) ? 0 : w->level[g] * v->h[i]);
        const double value = v->spec.density + dense_score(v, i, e, c);
        w->score[g] += value;
        w->cluster[g * v->of->clusters + v->cluster[i]] += value;
    }
    double identity[4];
    for (size_t k = 0; k < d * d; k++) identity[k] = k % (d + 1) ? 0 : v->h[i];
    for (size_t k = 0; k < d; k++) w->squares += e[k] * e[k];
    w->variance += spread(v, i, a);
    w->one += spread(v, i, identity);
}

/* Of the rows that are held out; pass 0: traces; pass 1: scores. */
static void slow_floors(const sk_search *s, const sk_choice *choice, slow_floor *w)
{
    const sk_held_model model = sk_chosen(s, choice);
    *w = (slow_floor){.cluster = sk_doubles(ctx, SK_FLOORS, s->rows->clusters)};
    w->euler_cluster = sk_doubles(ctx, SK_FLOORS, s->rows->clusters);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t b = 0; b < s->rows->blocks; b++) {
            sk_block block;
            assert_int_equal(sk_remains_take(ctx, s->remains, b, &block), SOCK_OK);
            const sk_view *v = block.view;
            double *held = average(s, choice, v);
            for (size_t i = 0; i < v->n; i++) {
                const double *a = held + i * v->d * v->d;
                if (v->fold == v->folds) continue;
                if (pass == 0) w->time += v->h[i];
                for (size_t k = 0; pass == 0 && k < v->d; k++) w->trace += a[k * v->d + k] / (double)v->d;
                if (pass == 1) slow_row(w, &block, i, a);
            }
            sk_free(held);
            sk_remains_give(s->remains, &block);
        }
        for (size_t g = 0; g < SK_FLOORS; g++) w->level[g] = sk_floors[g] * w->trace / w->time;
    }
    assert_int_equal(
        sk_euler_score(ctx, s->rows, &s->sets.look, &model, SK_FLOORS, w->level, w->euler, w->euler_cluster), SOCK_OK);
}

/* The score of keep times the parts and a floor, by cluster too. */
static double slow_form(const sk_search *s, const sk_choice *choice, double keep, double level, double *cluster)
{
    double score = 0;
    memset(cluster, 0, s->rows->clusters * sizeof *cluster);
    for (size_t b = 0; b < s->rows->blocks; b++) {
        sk_block block;
        assert_int_equal(sk_remains_take(ctx, s->remains, b, &block), SOCK_OK);
        const sk_view *v = block.view;
        const size_t d = v->d;
        double *held = average(s, choice, v), c[4];
        for (size_t i = 0; v->fold < v->folds && i < v->n; i++) {
            for (size_t k = 0; k < d * d; k++) c[k] = keep * held[i * d * d + k] + (k % (d + 1) ? 0 : level * v->h[i]);
            const double value = v->spec.density + dense_score(v, i, block.e + (v->fold * v->n + i) * d, c);
            score += value;
            cluster[v->cluster[i]] += value;
        }
        sk_free(held);
        sk_remains_give(s->remains, &block);
    }
    return score;
}

/* The floor by the rule; the parts give way to it in tenths, by the best score, the first of equal ones. */
static void check_floor(case_search *c)
{
    sk_search *s = &c->s;
    const size_t clusters = s->rows->clusters;
    sk_choice choice = {.drift = 1, .drift_share = {0, 1}, .share = {0.4, 0.6}};
    double *cluster = sk_doubles(ctx, 2, clusters), *euler = cluster + clusters, best = 0, ignored;
    size_t tenths = 0;
    slow_floor w;
    slow_floors(s, &choice, &w);
    const sk_floor_scores scores = {s->rows->n, clusters,        w.score,           w.cluster,
                                    w.euler,    w.euler_cluster, s->constant_euler, false};
    const size_t chosen = sk_pick_floor(&scores);
    const double share = sk_floors[chosen];
    for (size_t k = 0; k <= (share > 0 ? 10 : 0); k++) {
        const double score = slow_form(s, &choice, 1 - share * (double)k / 10, w.level[chosen], cluster);
        if (k == 0 || score > best) best = score, tenths = k;
    }
    slow_form(s, &choice, 1 - share * (double)tenths / 10, w.level[chosen], cluster);
    assert_int_equal(sk_choose_floor(s, s->remains, &choice), SOCK_OK);
    assert_close(choice.floor, w.level[chosen], 1e-12, 0);
    assert_close(choice.shrink, share * (double)tenths / 10, 1e-12, 1);
    const sk_held_model model = sk_chosen(s, &choice);
    assert_true(model.shrink == choice.shrink);
    assert_int_equal(sk_euler_score(ctx, s->rows, &s->sets.look, &model, 1, &choice.floor, &ignored, euler), SOCK_OK);
    assert_close(s->final_score, best, 1e-10, 1);
    assert_all_close(clusters, s->final_cluster, cluster, 1e-10);
    assert_all_close(clusters, s->final_cluster + clusters, euler, 1e-10);
    const double expected = (1 - choice.shrink) * w.variance + choice.floor * w.one;
    assert_close(s->calibration, w.squares / expected, 1e-10, 0);
    sk_free(w.cluster), sk_free(w.euler_cluster), sk_free(cluster);
}

static void prop_floor_and_its_scores_are_sums_over_rows(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 2; d++)
        for (int always = 0; always < 2; always++)
            for (int kept = 0; kept < 2; kept++) {
                case_search *c = case_search_new(ctx, d, 80, 5, 0);
                sock_data *other = always ? case_data(ctx, 30, d, 5, 99) : NULL;
                if (always) with_validation(c, other);
                case_candidates(c);
                c->s.sets.look.density = 0.25;
                c->s.sets.look.keep = kept ? 0 : 1;
                case_cut(ctx, c->s.sets.all, 9);
                try_all(c);
                c->s.constant_euler = kept ? -1e9 : 1e9;
                check_floor(c);
                case_search_free(c);
                sock_data_free(other);
            }
}

/* No calibration where a says there is no noise. */
static void test_ending__no_calibration_without_a_variance(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    sk_search *s = &c->s;
    case_candidates(c);
    try_all(c);
    for (size_t i = 0; i < 2; i++) {
        memset(s->diffusion[i]->solution, 0, 4 * s->diffusion[i]->size * sizeof(double));
        sk_free(s->diffusion[i]->held);
        s->diffusion[i]->held = NULL;
    }
    sk_choice choice = {.drift = 1, .drift_share = {0, 1}, .share = {0.4, 0.6}};
    assert_int_equal(sk_choose_floor(s, s->remains, &choice), SOCK_OK);
    assert_true(choice.floor == 0 && isnan(s->calibration));
    case_search_free(c);
}

static void test_ending__diagonal_where_all_parts_are(void **state)
{
    (void)state;
    sk_trial full = {0}, diagonal = {.diagonal = true};
    sk_search s = {.list = {.diffusions = 3}, .diffusion = {&full, &diagonal, &diagonal}};
    const sk_choice parts[] = {
        {.share = {0, 0.5, 0.5}}, {.share = {0.5, 0.5, 0}}, {.share = {0, 0, 1}}, {.share = {1}}};
    for (size_t i = 0; i < 4; i++) assert_int_equal(sk_all_diagonal(&s, &parts[i]), i % 2 == 0);
}

/* ---- Polish ---- */

static void test_ending__polish_is_kept_where_it_gains(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 90, 6, 0);
    sk_search *s = &c->s;
    case_candidates(c);
    try_all(c);
    for (int gains = 0; gains < 2; gains++) {
        sk_trial *alone = NULL, *before = s->diffusion[1];
        assert_true(sk_try_polish(ctx, s->remains, s->remains, before, &alone) >= 0);
        before->score = alone->score + (gains ? -3 : 3);
        double gain = 7;
        assert_int_equal(sk_polish_trial(s, "some", s->remains, s->remains, &s->diffusion[1], &gain), SOCK_OK);
        assert_close(gain, gains ? 3 : -3, 1e-6, 1);
        assert_int_equal(s->diffusion[1]->polished, gains);
        if (gains) assert_close(s->diffusion[1]->score, alone->score, 1e-9, 1);
        if (!gains) assert_ptr_equal(s->diffusion[1], before);
        const sk_search_row *row = case_logged(c, "polish", "some");
        assert_string_equal(row->field, "diffusion");
        assert_close(row->score, alone->score, 1e-9, 1);
        assert_true(row->l == s->diffusion[1]->l && !row->edge);
        sk_trial_free(alone);
    }
    assert_int_equal(c->told.search.count, 8);
    case_search_free(c);
}

/* ---- Passes ---- */

/* Diffusions as they are after the polish, each with the score of its own best floor. */
typedef struct judged {
    sk_trial trial[3], *list[SK_MOST];
} judged;

static sk_field_trials judge(const sk_search *s, judged *j)
{
    sk_field_trials trials = sk_diffusion_trials(s);
    *j = (judged){0};
    trials.best = SK_MOST;
    for (size_t i = 0; i < 3; i++) {
        sk_choice alone = s->choice;
        slow_floor w;
        if (!s->diffusion[i]) continue;
        for (size_t k = 0; k < 3; k++) alone.share[k] = k == i;
        slow_floors(s, &alone, &w);
        j->trial[i] = *s->diffusion[i];
        j->trial[i].score = w.score[sk_best_lambda(6, w.score)];
        j->list[i] = &j->trial[i];
        if (trials.best == SK_MOST || j->trial[i].score > j->trial[trials.best].score) trials.best = i;
        sk_free(w.cluster), sk_free(w.euler_cluster);
    }
    trials.trial = j->list;
    return trials;
}

/* Shares by the rules. */
static void check_shares(const sk_search *s)
{
    judged j;
    const sk_field_trials drifts = sk_drift_trials(s), diffusions = judge(s, &j);
    double share[SK_MOST] = {0};
    size_t lead;
    sk_drift_shares(&drifts, s->rows->n, s->spec->average, share, &lead);
    assert_int_equal(s->choice.drift, lead);
    for (size_t i = 0; i < 3; i++) assert_close(s->choice.drift_share[i], share[i], 1e-12, 1);
    assert_int_equal(s->best_diffusion, diffusions.best);
    sk_diffusion_shares(&diffusions, s->spec->average, share);
    for (size_t i = 0; i < 3; i++) assert_close(s->choice.share[i], share[i], 1e-9, 1);
}

static size_t polishes_of(const case_search *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->told.search.count; i++) count += strcmp(c->told.search.row[i].stage, "polish") == 0;
    return count;
}

static void test_ending__last_pass(void **state)
{
    (void)state;
    for (int polish = 0; polish < 2; polish++)
        for (int average = 0; average < 2; average++) {
            case_search *c = case_search_new(ctx, 1, 90, 6, 0);
            sk_search *s = &c->s;
            const sk_stage stage = case_stage();
            case_candidates(c);
            c->spec.polish = polish;
            c->spec.average = average;
            sk_search_take_model(s, case_model(ctx, 1, NULL), false);
            assert_int_equal(sk_constant_score(s), SOCK_OK);
            const size_t before = polishes_of(c);
            assert_true((polish ? sk_last_pass : sk_stage_final)(s, &stage) >= 0);
            check_shares(s);
            assert_int_equal(polishes_of(c), before + (polish ? 3 : 0));
            double sum = 0;
            for (size_t i = 0; i < 3; i++) sum += s->choice.share[i];
            assert_close(sum, 1, 1e-12, 1);
            const sk_choice last = s->choice;
            slow_floor w;
            slow_floors(s, &last, &w);
            assert_int_equal(sk_choose_floor(s, s->remains, &s->choice), SOCK_OK);
            assert_close(s->choice.floor, last.floor, 1e-12, 1e-6);
            sk_free(w.cluster), sk_free(w.euler_cluster);
            case_search_free(c);
        }
}

/* Of equal diffusions the first is the best, polished or not. */
static void test_ending__first_of_equal_diffusions(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 90, 6, 0);
    const sk_stage stage = case_stage();
    case_candidate(c, SK_DRIFT, "affine", 0);
    for (size_t i = 0; i < 2; i++) case_candidate(c, SK_DIFFUSION, "affine", 0);
    sk_search_take_model(&c->s, case_model(ctx, 1, NULL), false);
    assert_true(sk_last_pass(&c->s, &stage) >= 0);
    assert_true(c->s.diffusion[0]->score == c->s.diffusion[1]->score && c->s.best_diffusion == 0);
    case_search_free(c);
}

/* Who lost by it before is not polished again; nobody is when the budget is spent. */
static void test_ending__polish_of_the_hopeless_and_without_time(void **state)
{
    (void)state;
    bool hopeless = false;
    for (int late = 0; late < 2; late++) {
        case_search *c = case_search_new(ctx, 1, 90, 9, 0);
        sk_search *s = &c->s;
        const sk_stage stage = case_stage();
        case_candidates(c);
        s->unpolished[1] = true;
        if (late) c->spec.budget = 1, s->start -= 10;
        assert_true(sk_last_pass(s, &stage) >= 0);
        assert_int_equal(polishes_of(c), late ? 0 : 2);
        assert_true(!case_logged(c, "polish", "affine"));
        assert_int_equal(c->told.left_out.count, late);
        if (late) assert_string_equal(c->told.left_out.text[0], "polish");
        for (size_t i = 0; i < 3; i += 2) {
            const char *name = s->list.diffusion[i].name;
            const sk_search_row *before = case_logged(c, "stage", name), *after = case_logged(c, "polish", name);
            assert_int_equal(s->unpolished[i], after && after->score - before->score < -20);
            hopeless = hopeless || s->unpolished[i];
        }
        case_search_free(c);
    }
    assert_true(hopeless);
}

/* ---- All rows ---- */

/* The diffusions of `all` polished on the rows of another search's part, kept where they gain; shares and floor anew.
 */
static void polish_on(case_search *w, const sk_transitions *few)
{
    sk_search *all = &w->s;
    const sk_mixture drift = {all->list.drifts, all->drift, all->choice.drift_share};
    sk_views *views = NULL;
    sk_remains *remains = NULL;
    assert_int_equal(sk_search_views(all, few, all->model, all->model_diagonal, &views), SOCK_OK);
    assert_int_equal(sk_remains_new(ctx, views, &drift, true, &remains), SOCK_OK);
    for (size_t i = 1; i < 3; i++) {
        double gain;
        const char *name = all->list.diffusion[i].name;
        assert_int_equal(sk_polish_trial(all, name, remains, all->remains, &all->diffusion[i], &gain), SOCK_OK);
    }
    judged j;
    const sk_field_trials diffusions = judge(all, &j);
    all->best_diffusion = diffusions.best;
    sk_diffusion_shares(&diffusions, true, all->choice.share);
    assert_int_equal(sk_choose_floor(all, all->remains, &all->choice), SOCK_OK);
    sk_remains_free(remains);
    sk_views_free(views);
}

/* The kernels of the choice on all rows, under its model, as a pass over all rows would fit them; only the polish looks
 * at the rows of the search. */
static void prop_all_rows_are_fitted_as_one_pass_would(void **state)
{
    (void)state;
    for (int polish = 0; polish < 2; polish++) {
        case_search *c = case_search_new(ctx, 1, 400, 5, 120), *w = case_search_new(ctx, 1, 400, 5, 0);
        sk_search *s = &c->s, *all = &w->s;
        const sk_stage stage = case_stage();
        case_candidates(c);
        case_candidates(w);
        c->spec.polish = w->spec.polish = polish;
        assert_true(s->sets.search->n < 200 && s->sets.all->n == all->rows->n);
        try_all(c);
        s->lost[0] = true;
        s->choice = (sk_choice){.drift = 1, .drift_share = {0, 0.5, 0.5}, .share = {0, 0.75, 0.25}, .floor = 0.01};
        sock_model *model = NULL;
        assert_int_equal(sk_search_mixture(s, &s->choice, &model), SOCK_OK);
        sk_search_take_model(all, model, false);
        all->drifts[0] = all->diffusions[0] = false;
        for (size_t i = 1; i < 3; i++) { /* the windows of penalties begin where the search ended */
            all->diffusion[i] = sk_alloc(ctx, 1, sizeof *all->diffusion[i]);
            all->diffusion[i]->l = s->diffusion[i]->l;
        }
        assert_int_equal(sk_constant_score(all), SOCK_OK);
        const double constant = all->constant_score;
        assert_true(sk_stage_all_rows(s, &stage) >= 0);
        w->spec.polish = false;
        assert_true(sk_last_pass(all, &stage) >= 0);
        if (polish) polish_on(w, s->sets.search);
        assert_ptr_equal(s->rows, s->sets.all);
        assert_close(s->constant_score, constant, polish ? 0.5 : 0, 1); /* the polish is on other rows */
        assert_true(!s->drift[0] && !s->diffusion[0]);
        for (size_t i = 1; i < 3; i++) {
            const char *name = s->list.diffusion[i].name;
            if (polish)
                assert_close(case_logged(c, "polish", name)->score, case_logged(w, "polish", name)->score, 1e-10, 1);
            assert_close(s->drift[i]->score, all->drift[i]->score, 1e-10, 1);
            assert_close(s->diffusion[i]->score, all->diffusion[i]->score, 1e-10, 1);
            assert_all_close(s->drift[i]->size, s->drift[i]->solution, all->drift[i]->solution, 1e-9);
            assert_int_equal(s->diffusion[i]->polished, all->diffusion[i]->polished);
            assert_all_close(s->diffusion[i]->size, s->diffusion[i]->solution, all->diffusion[i]->solution, 1e-9);
            assert_close(s->choice.share[i], all->choice.share[i], 1e-9, 1);
            assert_close(s->choice.drift_share[i], all->choice.drift_share[i], 1e-9, 1);
        }
        assert_close(s->choice.floor, all->choice.floor, 1e-10, 0);
        case_search_free(c);
        case_search_free(w);
    }
}

/* A drift that the part of the rows could not tell from the best is asked again; one that is lost is not. */
static void test_ending__drifts_join_on_all_rows(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 400, 5, 120);
    sk_search *s = &c->s;
    const sk_stage stage = case_stage();
    case_candidates(c);
    try_all(c);
    sk_choose_one(0, 0, &s->choice);
    s->lost[1] = true;
    assert_true(sk_stage_all_rows(s, &stage) >= 0);
    assert_true(s->drift[0] && !s->drift[1] && s->drift[2]);
    assert_true(s->drift[2]->score > s->drift[0]->score); /* the data do pull back */
    assert_int_equal(s->choice.drift, 2);
    assert_ptr_equal(s->drift[2]->rows, s->sets.all);
    case_search_free(c);
}

/* Constants that were taken are fitted to all rows as they are: without a floor, and their score is the constant one.
 */
static void test_ending__all_rows_of_constants(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 400, 5, 120);
    sk_search *s = &c->s;
    const sk_stage stage = case_stage();
    case_candidates(c);
    try_all(c);
    assert_int_equal(sk_constant_score(s), SOCK_OK);
    sk_fall_back(s);
    s->constant_score = 77;
    assert_true(sk_stage_all_rows(s, &stage) >= 0);
    assert_true(s->choice.floor == 0 && s->choice.share[0] == 1 && s->choice.drift_share[0] == 1);
    assert_true(s->constant_score == s->diffusion[0]->score && s->constant_score != 77);
    assert_ptr_equal(s->rows, s->sets.all);
    case_search_free(c);
}

static sock_status choose_once(sock_context *context, void *arg)
{
    (void)context;
    sk_search *s = &((case_search *)arg)->s;
    sk_choice choice = {.drift = 1, .drift_share = {0, 1}, .share = {0.4, 0.6}};
    return sk_choose_floor(s, s->remains, &choice);
}

static void test_ending__survives_failed_allocations(void **state)
{
    (void)state;
    case_search *c = case_search_new(ctx, 1, 60, 5, 0);
    case_candidates(c);
    try_all(c);
    sock_set_threads(ctx, 1);
    assert_true(for_single_allocations(ctx, choose_once, c) > 20);
    case_search_free(c);
}

/* ---- Bounds that nobody named ---- */

static bool vanishes(case_search *c, size_t diffusion, double lower, double upper)
{
    double low[] = {lower}, high[] = {upper};
    const sk_bounds bounds = {.d = 1, .lower = low, .upper = high, .in = 1};
    sk_transitions rows = *c->s.rows;
    bool answer = false;
    rows.bounds = &bounds;
    sk_search s = c->s;
    s.rows = &rows;
    assert_int_equal(sk_vanishes_at_bounds(&s, c->s.diffusion[diffusion], &answer), SOCK_OK);
    return answer;
}

/* a = c x^2 vanishes at 0, as a lower or an upper bound, and nowhere else; a constant never. */
static void test_bounds__stand_where_a_vanishes(void **state)
{
    (void)state;
    const double none = (double)INFINITY;
    case_search *c = case_search_new(ctx, 1, 300, 30, 0);
    case_candidate(c, SK_DRIFT, "linear", 0);
    case_candidate(c, SK_DRIFT, "affine", 1);
    case_candidate(c, SK_DIFFUSION, "constant", 0);
    case_candidate(c, SK_DIFFUSION, "linear", 1);
    try_all(c);
    assert_true(vanishes(c, 1, 0, none) && vanishes(c, 1, -none, 0));
    assert_true(!vanishes(c, 1, -50, none) && !vanishes(c, 1, -none, none) && vanishes(c, 1, 0, 50));
    assert_true(!vanishes(c, 0, 0, none) && !vanishes(c, 0, -none, 0));
    case_search_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds__stand_where_a_vanishes),
        cmocka_unit_test(prop_floor_and_its_scores_are_sums_over_rows),
        cmocka_unit_test(test_ending__no_calibration_without_a_variance),
        cmocka_unit_test(test_ending__diagonal_where_all_parts_are),
        cmocka_unit_test(test_ending__polish_is_kept_where_it_gains),
        cmocka_unit_test(test_ending__last_pass),
        cmocka_unit_test(test_ending__first_of_equal_diffusions),
        cmocka_unit_test(test_ending__polish_of_the_hopeless_and_without_time),
        cmocka_unit_test(prop_all_rows_are_fitted_as_one_pass_would),
        cmocka_unit_test(test_ending__drifts_join_on_all_rows),
        cmocka_unit_test(test_ending__all_rows_of_constants),
        cmocka_unit_test(test_ending__survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
