/* evidence.h - what several figures, and the words of a page, need of one model beside one data set: made when it is
 * first asked for, and once. Who draws one figure alone need not know of it: see fig_draw. */
#ifndef REPORT_EVIDENCE_H
#define REPORT_EVIDENCE_H

#include "companion.h"
#include "datalook.h"
#include "figures.h"
#include "page.h"
#include "whiteness.h"

/* Of a model with d states; NULL when out of memory. It belongs to the model, data, truth, seed and bounds of one
 * fig_input.
 */
evidence *evidence_new(size_t d);
void evidence_free(evidence *e);

/* Each answers from in->evidence, which owns what is given out. Negative: nothing was made. */

/* Of sock_model_info. */
sock_status evidence_info(sock_context *ctx, const fig_input *in, json_t **out);

/* All finite values of state k, sorted; at least one, or SOCK_ENOMEM. */
sock_status evidence_sorted(const fig_input *in, size_t k, const double **sorted, size_t *count);

/* From the least to the largest of them, widened by a share of its length. */
sock_status evidence_range(const fig_input *in, size_t k, double share, range *out);

/* The same of all but a few: where outliers would squeeze the rest, from the 0.5 % to the 99.5 % point; *outside: how
 * many values are then beyond. */
sock_status evidence_most(const fig_input *in, size_t k, double share, range *out, size_t *outside);

sock_status evidence_time(const fig_input *in, look_times *out);

/* Standardised residuals of the model, and what they look like. */
sock_status evidence_residuals(sock_context *ctx, const fig_input *in, const res_set **set,
                               const res_moments **moments);

/* The binned moments of sock_evidence, a list; NULL where there are none of this model. */
sock_status evidence_moments(sock_context *ctx, const fig_input *in, json_t **out);

/* Those of planes. */
sock_status evidence_planes(sock_context *ctx, const fig_input *in, json_t **out);

/* What sock_explain tells, with these data; NULL where there is nothing. */
sock_status evidence_meaning(sock_context *ctx, const fig_input *in, json_t **out);

/* The second half of long paths that nothing holds, and the share of it that is outside of the data, widened by a
 * quarter on each side: of the state that is there most, or of paths that were lost. */
sock_status evidence_long_run(sock_context *ctx, const fig_input *in, const companion **out, double *astray);

/* Paths in the data's place, by the model or by the truth, which must be known. */
sock_status evidence_model_paths(sock_context *ctx, const fig_input *in, const companion **out);
sock_status evidence_true_paths(sock_context *ctx, const fig_input *in, const companion **out);

#endif
