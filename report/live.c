/* live.c - see live.h. */
#define _GNU_SOURCE
#include "live.h"

#include "evidence.h"
#include "memtext.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MOST = 500000, STEPS_MOST = 1000 }; /* letters of a model; data steps over which paths are shown */

/* The longest trajectory, in time. */
static double longest_of(const sock_data *data)
{
    double longest = 0;
    for (size_t j = 0; j < sock_data_trajectories(data); j++) {
        const double *t;
        const size_t length = sock_data_trajectory(data, j, &t, NULL);
        if (length > 1) longest = fmax(longest, t[length - 1] - t[0]);
    }
    return longest;
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* The bounds that paths keep: those given, or the model's. */
static void set_bounds(const fig_input *in, json_t *frame)
{
    static const char *const mode[] = {"none", "clip", "reflect"};
    const size_t d = sock_model_dim(in->model);
    if (in->bounds != SOCK_BOUNDS_AUTO) json_object_set_new(frame, "bounds", json_string(mode[in->bounds]));
    double *own = calloc(2 * d, sizeof *own);
    if (!own) return;
    sock_model_bounds(in->model, own, own + d);
    for (int side = 0; side < 2; side++) {
        const double *given = side ? in->upper : in->lower;
        json_t *list = given ? json_array() : NULL;
        for (size_t k = 0; given && k < d; k++)
            json_array_append_new(list, number(isnan(given[k]) ? own[(size_t)side * d + k] : given[k]));
        if (given) json_object_set_new(frame, side ? "upper" : "lower", list);
    }
    free(own);
}

static json_t *frame_of(const fig_input *in, sock_status *status)
{
    const size_t d = sock_model_dim(in->model);
    look_times time;
    look_starts starts;
    *status = evidence_time(in, &time);
    if (*status >= 0) *status = look_start(in->data, &starts);
    json_t *start = json_array(), *low = json_array(), *high = json_array();
    for (size_t k = 0; *status >= 0 && k < d; k++) {
        const double *sorted, *x = NULL;
        size_t count = 0;
        *status = evidence_sorted(in, k, &sorted, &count);
        if (*status < 0) break;
        if (starts.count) sock_data_trajectory(in->data, starts.trajectory[starts.count / 2], NULL, &x);
        json_array_append_new(start, json_real(x ? x[k] : look_quantile(count, sorted, 0.5)));
        json_array_append_new(low, json_real(sorted[0]));
        json_array_append_new(high, json_real(sorted[count - 1]));
    }
    json_t *frame = json_object();
    json_object_set_new(frame, "time", json_string(fig_time_name(in)));
    json_object_set_new(frame, "start", start);
    json_object_set_new(frame, "low", low);
    json_object_set_new(frame, "high", high);
    if (*status >= 0) {
        json_object_set_new(frame, "step", json_real(time.step));
        json_object_set_new(frame, "span", json_real(fmin(longest_of(in->data), STEPS_MOST * time.step)));
        set_bounds(in, frame);
    }
    return frame;
}

/* {"model": ..., "frame": ..., "fixed": ..., "moments": ...} */
static char *join(const char *model, json_t *frame, json_t *fixed, json_t *moments)
{
    memtext text;
    FILE *out = memtext_open(&text);
    json_t *part[] = {frame, fixed, moments};
    static const char *const key[] = {"frame", "fixed", "moments"};
    int good = out != NULL;
    if (!out) return NULL;
    fprintf(out, "{\"model\":%s", model);
    for (size_t i = 0; i < 3; i++) {
        char *made = part[i] ? json_dumps(part[i], JSON_COMPACT | JSON_REAL_PRECISION(i ? 5 : 9))
                             : NULL; /* but for the frame, they are drawn alone */
        if (part[i] && !made) good = 0;
        if (made) fprintf(out, ",\"%s\":%s", key[i], made);
        free(made);
    }
    fputc('}', out);
    if (memtext_close(out, &text) != 0) return NULL;
    if (good) return text.text;
    free(text.text);
    return NULL;
}

sock_status live_make(sock_context *ctx, const fig_input *in, const rep_facts *f, char **made)
{
    char *model = NULL;
    json_t *meaning = NULL, *moments = NULL;
    *made = NULL;
    sock_status status = sock_model_features(ctx, f->model, &model);
    if (status == SOCK_EUSAGE || (status >= 0 && strlen(model) > SIZE_MOST) || longest_of(in->data) <= 0) {
        sock_string_free(model);
        return status == SOCK_EUSAGE ? SOCK_OK : status;
    }
    if (status >= 0) status = evidence_meaning(ctx, in, &meaning);
    if (status >= 0) status = evidence_moments(ctx, in, &moments);
    json_t *frame = status >= 0 ? frame_of(in, &status) : NULL;
    if (frame && strcmp(glance_class(f), " bad") == 0) json_object_set_new(frame, "refused", json_true());
    if (status >= 0) {
        *made = join(model, frame, json_object_get(meaning, "fixed_points"), moments);
        if (!*made) status = SOCK_ENOMEM;
    }
    json_decref(frame);
    sock_string_free(model);
    return status < 0 ? status : SOCK_OK;
}

void live_write(FILE *out, const char *made, size_t inputs)
{
    if (!made) return;
    fprintf(
        out,
        "<section id=\"live\" hidden>\n<h2>Try it</h2>\n<p>The learned equation runs in this page, by the law of "
        "<code>sock "
        "simulate</code>. Start it among the data: what leaves them, or does what they never do, is where the model is "
        "wrong or was not taught.%s</p>\n<div class=\"stage\"></div>\n<div class=\"thinning\">\n<h3>Does it hold for "
        "longer "
        "steps?</h3>\n<p>Dots, with bars of 90 %%, are the plain means and variances of the data's own steps: of every "
        "point, or "
        "with the slider of every second, fourth and so on. The line is what the model expects of these very steps, "
        "with "
        "measurement noise, the length of the steps and the spread of other states in them. Where the model is right "
        "it "
        "follows the dots at every thinning.</p>\n</div>\n<p class=\"files\">Numbers: ",
        inputs ? " Inputs do not move here: they are held at the values typed beneath." : "");
    fputs("<a download=\"live.json\" data-live=\"model\" href=\"data:application/json;base64,", out);
    page_base64(out, strlen(made), (const unsigned char *)made);
    fputs("\">live.json</a></p>\n</section>\n", out);
}
