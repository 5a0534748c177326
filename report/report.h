/* report.h - one HTML file that shows a model: what it is, how good it is, all figures, the numbers behind them. The
 * file needs nothing beside a browser, no network and no scripts; with scripts its series can be zoomed.
 *
 * This header is the entry for other programs; it stands on sock.h alone. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "sock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a report may know beside model and data. Zero in every field is a good beginning. */
typedef struct rep_settings {
    const sock_model *truth; /* what made the data, of the model's dimension; NULL: unknown */
    const char *truth_name;
    const sock_data *test; /* data that the fit has not seen, to score on; NULL: none */
    /* As the user called them, for the commands that the report shows; only text, never opened. NULL: not known */
    const char *model_path, *data_path, *test_path;
    uint64_t seed;               /* of simulated paths */
    sock_bounds bounds;          /* as in sock_simulation */
    const double *lower, *upper; /* d numbers each, or NULL */
    size_t pair[2];              /* the states of plane figures; both 0: the first two */
    /* Options of `sock report` that the commands shown should repeat, such as the names of columns: key and value in
     * turn, NULL at the end; only text. NULL: none */
    const char *const *options;
} rep_settings;

/* Writes the report, whole or not at all. data: what is drawn, usually the data that the model was fitted to, with the
 * states in the model's order. settings may be NULL. Negative: sock_message() says why, unless memory ran out. */
SOCK_API sock_status rep_write(sock_context *ctx, const sock_model *model, const sock_data *data,
                               const rep_settings *settings, const char *path);

/* One figure as SVG, by name. SOCK_EUSAGE for a name that rep_figure_name does not have, for dimensions that differ,
 * and where rep_figure_lack has a reason. */
SOCK_API sock_status rep_figure(sock_context *ctx, const sock_model *model, const sock_data *data,
                                const rep_settings *settings, const char *name, const char *path);

/* The names, from index 0 on; NULL beyond the end. And why a figure cannot be drawn of this model and these data, or
 * NULL. Static storage. */
SOCK_API const char *rep_figure_name(size_t index);
SOCK_API const char *rep_figure_lack(const sock_model *model, const sock_data *data, const char *name);

#ifdef __cplusplus
}
#endif
#endif
