/* secondstarts.c - where paths of a model of second order start when they are compared with observed positions.
 *
 * Problem: y_0, y_1, ... are positions of a path (with noise of variance R), its velocity is not known, and paths of a
 * model are wanted that have the same law as the rest of it if the model is right. They must not know that rest.
 *
 *  1. The first k points only start paths: k is SK_SECOND_HEAD, or a tenth of the trajectory.
 *  2. (q, v) at the time of the last of them ~ N(m, P), the law of the model's filter given y_0 ... y_{k-1}: a draw of
 *     it for each path, which then goes on by itself.
 *  3. What is compared: y_{k-1}, y_k, ... and y_{k-1}, q(t_k) + e_k, ... with e ~ N(0, R). The first is given to both.
 *
 * Under the true model both have the law of the data given y_0 ... y_{k-1}, as far as the filter's is Gaussian. (The
 * law of a smoother would know where the path goes, and paths would follow the data too closely.) */
#include "score/inertia.h"
#include "score/score.h"

#include "la/la.h"
#include "tune/policy.h"

#include <math.h>
#include <string.h>

/* Step 1. */
size_t sk_second_head(size_t points) { return SK_MAX((size_t)SK_SECOND_HEAD, points / SK_SECOND_HEAD_SHARE); }

sock_status sk_second_tails(sock_context *ctx, const sock_data *data, sock_data **out, size_t **of)
{
    size_t count = 0;
    sock_status status = SOCK_ENOMEM;
    sk_piece *piece = sk_alloc(ctx, data->trajectories, sizeof *piece);
    size_t *from = sk_alloc(ctx, data->trajectories, sizeof *from);
    *out = NULL;
    *of = NULL;
    if (!piece || !from) goto out;
    for (size_t j = 0; j < data->trajectories; j++) {
        const size_t head = sk_second_head(sk_data_length(data, j)), length = sk_data_length(data, j);
        if (length <= head) continue;
        from[count] = j;
        piece[count++] = (sk_piece){j, head - 1, length - head + 1, NULL};
    }
    status = count ? sk_data_pieces(ctx, data, piece, count, out) : SOCK_OK;
    if (*out) {
        *of = from;
        from = NULL;
    }
out:
    sk_free(piece);
    sk_free(from);
    return status;
}

void sk_second_starts_clear(sk_second_starts *s)
{
    sk_free(s->m);
    sk_free(s->root);
    sk_free(s->noise);
    sk_free(s->known);
    *s = (sk_second_starts){0};
}

static void take_law(const sk_pass *laws, size_t point, size_t tail, const sk_second_starts *s)
{
    const size_t w = 2 * s->d;
    double *m = s->m + tail * w, *root = s->root + tail * w * w;
    memcpy(m, laws->m + point * w, w * sizeof *m);
    s->known[tail] = sk_all_finite(w, m) && sk_all_finite(w * w, laws->p + point * w * w);
    if (s->known[tail]) sk_factor_copy(w, 1e-14, laws->p + point * w * w, root);
    s->known[tail] = s->known[tail] && sk_all_finite(w * w, root);
    if (s->known[tail]) return;
    memset(m, 0, w * sizeof *m); /* any state would do: the paths are lost */
    memset(root, 0, w * w * sizeof *root);
}

static sock_status take_noise(sock_context *ctx, const double *noise, sk_second_starts *s)
{
    const size_t d = s->d;
    if (!noise) return SOCK_OK;
    double *r = sk_doubles(ctx, d, d);
    s->noise = sk_doubles(ctx, d, d);
    for (size_t k = 0; r && s->noise && k < d * d; k++) r[k] = noise[k / d * 2 * d + k % d];
    if (r && s->noise) sk_factor_copy(d, 1e-14, r, s->noise);
    sk_free(r);
    return r && s->noise ? SOCK_OK : SOCK_ENOMEM;
}

sock_status sk_second_starts_new(sock_context *ctx, const sock_model *model, const sock_data *data, const size_t *of,
                                 const sock_data *tails, const double *noise, sk_second_starts *out)
{
    const size_t n = tails->trajectories, w = 2 * data->d;
    sk_pass laws = {0};
    sock_status status = SOCK_ENOMEM;
    *out = (sk_second_starts){data->d, sk_doubles(ctx, n, w), sk_doubles(ctx, n, w * w), NULL,
                              sk_alloc(ctx, n, sizeof *out->known)};
    if (!out->m || !out->root || !out->known) goto out;
    SK_GO(take_noise(ctx, noise, out));
    SK_GO(sk_second_laws(ctx, model, data, noise, &laws));
    for (size_t i = 0; i < n; i++)
        take_law(&laws, data->first[of[i]] + sk_second_head(sk_data_length(data, of[i])) - 1, i, out);
out:
    sk_pass_clear(&laws);
    if (status < 0) sk_second_starts_clear(out);
    return status;
}

void sk_second_draw(const sk_second_starts *s, size_t tail, uint64_t seed, size_t cell, size_t path, double *x)
{
    const size_t w = 2 * s->d;
    double z[2 * SK_SECOND_MOST_DIM];
    sk_normals((sk_key){seed, SK_PURPOSE_SPEED}, cell, path, 0, w, z);
    for (size_t k = 0; k < w; k++) x[k] = s->m[tail * w + k] + sk_dot(k + 1, s->root + (tail * w + k) * w, z);
}

void sk_second_observe(const sk_second_starts *s, uint64_t seed, size_t cell, size_t path, size_t times,
                       const double *states, const double *first, double *out)
{
    const size_t d = s->d;
    double e[SK_SECOND_MOST_DIM];
    memcpy(out, first, d * sizeof *out);
    for (size_t i = 1; i < times; i++) {
        if (s->noise) sk_normals((sk_key){seed, SK_PURPOSE_OBSERVE}, cell, path, i * d, d, e);
        for (size_t k = 0; k < d; k++)
            out[i * d + k] = states[i * 2 * d + k] + (s->noise ? sk_dot(k + 1, s->noise + k * d, e) : 0);
    }
}
