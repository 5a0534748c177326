/* partcalls.c - passes over a part of the steps, by processes that do not know each other, and their sums put together.
 */
#include "api/partcomm.h"
#include "base/options.h"
#include "base/safefile.h"
#include "base/sums.h"
#include "model/model.h"

#include <string.h>

enum { MOST_PARTS = 1 << 16 };

static sock_status hash_file(sock_context *ctx, const char *path, uint64_t *out)
{
    char *bytes = NULL;
    size_t size = 0;
    SK_TRY(sk_file_read(ctx, path, &bytes, &size));
    *out = sk_hash(SK_HASH_START, bytes, size);
    sk_free(bytes);
    return SOCK_OK;
}

static sock_status of_another_plan(sock_context *ctx, const char *path, const char *plan)
{
    return sk_fail(ctx, SOCK_EINPUT, "%s: these sums belong to another plan than %s", path, plan);
}

/* ---- Pass ---- */

/* What all have summed up so far, if there is anything. */
static sock_status read_before(sock_context *ctx, const char *sums, const char *plan, size_t parts, sk_sums_file *out)
{
    uint64_t hash;
    SK_TRY(hash_file(ctx, plan, &hash));
    if (sums) SK_TRY(sk_sums_read(ctx, sums, out));
    if (sums && out->plan != hash) return of_another_plan(ctx, sums, plan);
    if (sums && out->part)
        return sk_fail(ctx, SOCK_EINPUT,
                       "%s: these are the sums of part %zu; a pass begins with those of all, of sock merge", sums,
                       out->part);
    if (sums && out->parts != parts)
        return sk_fail(ctx, SOCK_EINPUT, "%s: these are sums of %zu parts, and this is one of %zu", sums, out->parts,
                       parts);
    out->plan = hash;
    return SOCK_OK;
}

/* The fit, up to the first sum that is not known. */
static sock_status run(sk_part_comm *p, const char *plan, size_t count, const char *const *paths,
                       const sock_options *opts, sock_model **out)
{
    sock_options *own = NULL;
    SK_TRY(sk_options_copy(p->ctx, opts, &own));
    sock_status status = sock_options_set(p->ctx, own, "plan", plan);
    sk_comm *before = sk_comm_swap(p->ctx, &p->comm);
    if (status >= 0) status = sock_fit_files(p->ctx, count, paths, own, out);
    sk_comm_swap(p->ctx, before);
    sock_options_free(own);
    return status;
}

/* Sums of a part lead anywhere: only what has nothing to do with them is a failure once they are made. */
static bool is_trouble(sock_status status)
{
    return status == SOCK_ENOMEM || status == SOCK_EIO || status == SOCK_ECANCELLED;
}

static sock_status finish(const sk_part_comm *p, sock_status status, const sock_model *model, const char *plan,
                          const char *sums, const char *out)
{
    if (p->failure < 0) return p->failure;
    if (p->foreign) {
        sk_begin(p->ctx);
        return sk_fail(p->ctx, SOCK_EINPUT, "%s: these sums are not those that a fit by %s makes of these data", sums,
                       plan);
    }
    if (!p->recording) return status < 0 ? status : sock_model_save(p->ctx, model, out);
    if (is_trouble(status)) return status;
    sk_begin(p->ctx);
    return sk_sums_write(p->ctx, p->file, out);
}

sock_status sock_pass(sock_context *ctx, const char *plan, const char *sums, size_t count, const char *const *paths,
                      const sock_options *opts, size_t part, size_t parts, const char *out)
{
    sk_sums_file file = {0};
    sk_part_comm comm;
    sock_model *model = NULL;
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!plan || !paths || !out) return sk_fail(ctx, SOCK_EUSAGE, "plan, paths and out must not be NULL");
    if (!part || part > parts || parts > MOST_PARTS)
        return sk_fail(ctx, SOCK_EUSAGE, "part is %zu/%zu; allowed: 1/1 to 65536/65536, the first not above the second",
                       part, parts);
    sock_status status = read_before(ctx, sums, plan, parts, &file);
    if (status >= 0) {
        sk_part_comm_begin(&comm, ctx, &file, part, parts);
        status = run(&comm, plan, count, paths, opts, &model);
        status = finish(&comm, status, model, plan, sums, out);
    }
    sock_model_free(model);
    sk_sums_file_clear(&file);
    return status;
}

/* ---- Merge ---- */

typedef struct merging {
    sock_context *ctx;
    const char *plan, *first; /* file names; first: of the sums that the others are compared with */
    uint64_t hash;
    sk_sums_file sum;  /* of those that were read */
    const char **from; /* parts: the file of each; NULL: not yet */
} merging;

static bool same_round(const sk_round *a, const sk_round *b)
{
    return a->failed == b->failed && a->count == b->count &&
           (!a->count || memcmp(a->pair, b->pair, 2 * a->count * sizeof *a->pair) == 0);
}

/* Whether a part can stand beside the first one. */
static sock_status compare(const merging *m, const sk_sums_file *file, const char *path)
{
    const sk_round *own = &file->round[file->rounds - 1], *first = &m->sum.round[m->sum.rounds - 1];
    bool same = file->rounds == m->sum.rounds;
    if (file->parts != m->sum.parts)
        return sk_fail(m->ctx, SOCK_EINPUT, "%s: this is one of %zu parts, and %s one of %zu", path, file->parts,
                       m->first, m->sum.parts);
    for (size_t i = 0; same && i + 1 < file->rounds; i++) same = same_round(&file->round[i], &m->sum.round[i]);
    if (!same)
        return sk_fail(m->ctx, SOCK_EINPUT,
                       "%s: this part and %s are not of the same pass: give those of one to sock merge", path,
                       m->first);
    if (m->from[file->part - 1])
        return sk_fail(m->ctx, SOCK_EINPUT, "part %zu is there twice: %s and %s", file->part, m->from[file->part - 1],
                       path);
    if (own->failed || first->failed || own->count == first->count) return SOCK_OK;
    return sk_fail(m->ctx, SOCK_EINPUT, "%s: it has %zu sums, and %s %zu: they are not of the same fit", path,
                   own->count, m->first, first->count);
}

/* A round in which nothing could be fitted by one has failed for all. */
static void join(const sk_round *own, sk_round *to)
{
    to->failed = to->failed || own->failed;
    if (to->failed) to->count = 0;
    for (size_t i = 0; i < to->count; i++)
        sk_sums_join(1, own->pair + 2 * i, own->pair + 2 * i + 1, to->pair + 2 * i, to->pair + 2 * i + 1);
}

static sock_status check_part(const merging *m, const sk_sums_file *file, const char *path)
{
    if (file->plan != m->hash) return of_another_plan(m->ctx, path, m->plan);
    if (file->part && file->parts <= MOST_PARTS) return SOCK_OK;
    return sk_fail(m->ctx, SOCK_EINPUT, "%s: these are the sums of all parts, not those of one", path);
}

static sock_status take_part(merging *m, const char *path)
{
    sk_sums_file file = {0};
    SK_TRY(sk_sums_read(m->ctx, path, &file));
    sock_status status = check_part(m, &file, path);
    if (status >= 0 && m->from) {
        status = compare(m, &file, path);
        if (status >= 0) join(&file.round[file.rounds - 1], &m->sum.round[m->sum.rounds - 1]);
    } else if (status >= 0) {
        m->from = sk_alloc(m->ctx, file.parts, sizeof *m->from);
        if (!m->from) status = SOCK_ENOMEM;
        m->first = path;
        m->sum = file;
    }
    if (status >= 0) m->from[file.part - 1] = path;
    if (m->first != path) sk_sums_file_clear(&file);
    return status;
}

static sock_status merge_sums(merging *m, size_t count, const char *const *part, const char *next)
{
    for (size_t i = 0; i < count; i++) SK_TRY(take_part(m, part[i]));
    for (size_t k = 0; k < m->sum.parts; k++)
        if (!m->from[k]) return sk_fail(m->ctx, SOCK_EINPUT, "part %zu of %zu is missing", k + 1, m->sum.parts);
    m->sum.part = 0;
    return sk_sums_write(m->ctx, &m->sum, next);
}

/* After the last pass the parts are the model, all the same. */
static sock_status merge_models(sock_context *ctx, size_t count, const char *const *part, const char *bytes,
                                size_t size, const char *out)
{
    sock_model *model = NULL;
    sk_file *file = NULL;
    SK_TRY(sk_model_parse(ctx, part[0], bytes, size, &model));
    sock_model_free(model);
    for (size_t i = 1; i < count; i++) {
        char *other = NULL;
        size_t length = 0;
        SK_TRY(sk_file_read(ctx, part[i], &other, &length));
        const bool same = length == size && memcmp(other, bytes, size) == 0;
        sk_free(other);
        if (!same)
            return sk_fail(ctx, SOCK_EINPUT, "%s: this is not the model that %s is: give the parts of one pass",
                           part[i], part[0]);
    }
    SK_TRY(sk_file_create(ctx, out, &file));
    sk_write(file, bytes, size);
    return sk_file_commit(ctx, file);
}

sock_status sock_merge(sock_context *ctx, const char *plan, size_t count, const char *const *parts, const char *next,
                       const char *out, int *done)
{
    char *bytes = NULL;
    size_t size = 0;
    if (!ctx) return SOCK_EUSAGE;
    sk_begin(ctx);
    if (!plan || !parts || !count || !next || !out || !done)
        return sk_fail(ctx, SOCK_EUSAGE, "plan, parts, next, out and done must not be NULL");
    merging m = {.ctx = ctx, .plan = plan};
    SK_TRY(hash_file(ctx, plan, &m.hash));
    SK_TRY(sk_file_read(ctx, parts[0], &bytes, &size));
    *done = !sk_is_sums_file(bytes, size);
    sock_status status = *done ? merge_models(ctx, count, parts, bytes, size, out) : merge_sums(&m, count, parts, next);
    sk_sums_file_clear(&m.sum);
    sk_free(m.from);
    sk_free(bytes);
    return status;
}
