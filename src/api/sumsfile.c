/* sumsfile.c - see sumsfile.h. */
#include "api/sumsfile.h"

#include "base/safefile.h"

#include <string.h>

static const char MAGIC[8] = {'S', 'O', 'C', 'K', 'S', 'U', 'M', 'S'};
enum { VERSION = 1, WORD = sizeof(uint64_t) };
enum { OF_FORMAT, OF_PLAN, OF_PART, OF_PARTS, OF_ROUNDS, OF_NOTHING, HEAD }; /* words behind the first */

void sk_sums_file_clear(sk_sums_file *file)
{
    for (size_t i = 0; i < file->rounds; i++) sk_free(file->round[i].pair);
    sk_free(file->round);
    *file = (sk_sums_file){0};
}

sock_status sk_sums_file_add(sock_context *ctx, sk_sums_file *file)
{
    SK_TRY(sk_grow(ctx, &file->round, &file->room, file->rounds + 1, sizeof *file->round));
    file->round[file->rounds++] = (sk_round){0};
    return SOCK_OK;
}

sock_status sk_round_put(sock_context *ctx, sk_round *round, size_t count, const double *sum, const double *low)
{
    SK_TRY(sk_grow(ctx, &round->pair, &round->room, 2 * (round->count + count), sizeof *round->pair));
    for (size_t i = 0; i < count; i++) {
        round->pair[2 * (round->count + i)] = sum[i];
        round->pair[2 * (round->count + i) + 1] = low ? low[i] : 0;
    }
    round->count += count;
    return SOCK_OK;
}

/* ---- Write ---- */

typedef struct writing {
    sk_file *file;
    uint64_t hash;
} writing;

static void put(writing *w, const void *bytes, size_t size)
{
    w->hash = sk_hash(w->hash, bytes, size);
    sk_write(w->file, bytes, size);
}

static void put_word(writing *w, uint64_t word) { put(w, &word, sizeof word); }

sock_status sk_sums_write(sock_context *ctx, const sk_sums_file *file, const char *path)
{
    writing w = {.hash = SK_HASH_START};
    SK_TRY(sk_file_create(ctx, path, &w.file));
    put(&w, MAGIC, sizeof MAGIC);
    const uint64_t head[HEAD] = {VERSION, file->plan, file->part, file->parts, file->rounds, 0};
    for (size_t i = 0; i < HEAD; i++) put_word(&w, head[i]);
    for (size_t i = 0; i < file->rounds; i++) {
        put_word(&w, file->round[i].failed);
        put_word(&w, file->round[i].count);
        put(&w, file->round[i].pair, 2 * file->round[i].count * sizeof(double));
    }
    const uint64_t hash = w.hash;
    sk_write(w.file, &hash, sizeof hash);
    return sk_file_commit(ctx, w.file);
}

/* ---- Read ---- */

bool sk_is_sums_file(const char *bytes, size_t size)
{
    return size >= sizeof MAGIC && memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
}

typedef struct reading {
    sock_context *ctx;
    const char *path, *at;
    size_t left; /* bytes before the hash */
} reading;

static sock_status bad(const reading *r, const char *reason)
{
    return sk_fail(r->ctx, SOCK_EINPUT, "%s: not a whole file of sums: %s", r->path, reason);
}

static bool take_word(reading *r, uint64_t *out)
{
    if (r->left < WORD) return false;
    memcpy(out, r->at, WORD);
    r->at += WORD;
    r->left -= WORD;
    return true;
}

static sock_status read_round(reading *r, sk_sums_file *out)
{
    uint64_t failed, count;
    if (!take_word(r, &failed) || !take_word(r, &count) || failed > 1 || count > r->left / (2 * WORD) ||
        (failed && count))
        return bad(r, "a round does not fit in it");
    SK_TRY(sk_sums_file_add(r->ctx, out));
    sk_round *round = &out->round[out->rounds - 1];
    const size_t bytes = (size_t)count * 2 * WORD;
    round->failed = failed;
    round->pair = sk_doubles_unset(r->ctx, (size_t)count, 2);
    if (!round->pair) return SOCK_ENOMEM;
    round->count = (size_t)count;
    round->room = 2 * round->count;
    memcpy(round->pair, r->at, bytes);
    r->at += bytes;
    r->left -= bytes;
    return SOCK_OK;
}

static sock_status read_all(reading *r, sk_sums_file *out)
{
    uint64_t head[HEAD] = {0};
    r->at += sizeof MAGIC;
    r->left -= sizeof MAGIC;
    for (size_t i = 0; i < HEAD; i++)
        if (!take_word(r, &head[i])) return bad(r, "it is too short");
    if (head[OF_FORMAT] != VERSION) return bad(r, "its version is not 1, the one that this program reads");
    *out = (sk_sums_file){.plan = head[OF_PLAN], .part = (size_t)head[OF_PART], .parts = (size_t)head[OF_PARTS]};
    if (!head[OF_PARTS] || head[OF_PART] > head[OF_PARTS] || head[OF_NOTHING]) return bad(r, "its part is none");
    for (uint64_t i = 0; i < head[OF_ROUNDS]; i++) SK_TRY(read_round(r, out));
    if (r->left) return bad(r, "there is more behind its end");
    return out->rounds ? SOCK_OK : bad(r, "it has no sums");
}

sock_status sk_sums_parse(sock_context *ctx, const char *path, const char *bytes, size_t size, sk_sums_file *out)
{
    uint64_t hash;
    reading r = {ctx, path, bytes, size - WORD};
    *out = (sk_sums_file){0};
    if (size < sizeof MAGIC + WORD || !sk_is_sums_file(bytes, size)) return bad(&r, "it does not begin as one");
    memcpy(&hash, bytes + size - WORD, WORD);
    if (hash != sk_hash(SK_HASH_START, bytes, size - WORD)) return bad(&r, "it was cut or changed");
    const sock_status status = read_all(&r, out);
    if (status < 0) sk_sums_file_clear(out);
    return status;
}

sock_status sk_sums_read(sock_context *ctx, const char *path, sk_sums_file *out)
{
    char *bytes = NULL;
    size_t size = 0;
    SK_TRY(sk_file_read(ctx, path, &bytes, &size));
    const sock_status status = sk_sums_parse(ctx, path, bytes, size, out);
    sk_free(bytes);
    return status;
}
