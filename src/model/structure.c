/* structure.c - see structure.h. */
#include "model/structure.h"

#include <math.h>
#include <string.h>

/* ---- Making ---- */

sock_status sk_structure_new(sock_context *ctx, size_t d, const char *const *names, sk_structure **out)
{
    sk_structure *s = sk_alloc(ctx, 1, sizeof *s);
    if (!s) return SOCK_ENOMEM;
    *s = (sk_structure){.d = d, .order = 1};
    s->state = sk_alloc(ctx, d, sizeof *s->state);
    bool good = s->state;
    for (size_t k = 0; good && k < d; k++) {
        s->state[k] = names ? sk_strdup(ctx, names[k]) : sk_format(ctx, "x%zu", k);
        good = s->state[k];
    }
    if (!good) {
        sk_structure_free(s);
        return SOCK_ENOMEM;
    }
    *out = s;
    return SOCK_OK;
}

/* NULL stays NULL. */
static sock_status copy_numbers(sock_context *ctx, size_t count, const double *from, double **to)
{
    if (!from) return SOCK_OK;
    *to = sk_doubles(ctx, count, 1);
    if (!*to) return SOCK_ENOMEM;
    memcpy(*to, from, count * sizeof *from);
    return SOCK_OK;
}

static sock_status copy_absorbing(sock_context *ctx, const sk_structure *from, sk_structure *to)
{
    if (!from->absorbing) return SOCK_OK;
    to->absorbing = sk_alloc(ctx, from->d, sizeof *to->absorbing);
    if (!to->absorbing) return SOCK_ENOMEM;
    memcpy(to->absorbing, from->absorbing, from->d * sizeof *to->absorbing);
    return SOCK_OK;
}

static sock_status copy_inputs(sock_context *ctx, const sk_structure *from, sk_structure *to)
{
    if (!from->inputs) return SOCK_OK;
    to->input = sk_alloc(ctx, from->inputs, sizeof *to->input);
    if (!to->input) return SOCK_ENOMEM;
    for (; to->inputs < from->inputs; to->inputs++) {
        sk_input *input = &to->input[to->inputs];
        *input = from->input[to->inputs];
        input->name = sk_strdup(ctx, from->input[to->inputs].name);
        if (!input->name) return SOCK_ENOMEM;
    }
    return SOCK_OK;
}

sock_status sk_structure_set_inputs(sock_context *ctx, sk_structure *s, size_t inputs, const char *const *names,
                                    const sk_hold *hold, const double *usual)
{
    if (!inputs) return SOCK_OK;
    s->input = sk_alloc(ctx, inputs, sizeof *s->input);
    if (!s->input) return SOCK_ENOMEM;
    for (; s->inputs < inputs; s->inputs++) {
        const size_t k = s->inputs;
        s->input[k] = (sk_input){.hold = hold[k], .usual = usual ? usual[k] : 0};
        s->input[k].name = names ? sk_strdup(ctx, names[k]) : sk_format(ctx, "u%zu", k);
        if (!s->input[k].name) return SOCK_ENOMEM;
    }
    return SOCK_OK;
}

sock_status sk_structure_copy(sock_context *ctx, const sk_structure *structure, sk_structure **out)
{
    const size_t d = structure->d;
    sk_structure *copy = NULL;
    sock_status status = SOCK_OK;
    SK_GO(sk_structure_new(ctx, d, (const char *const *)structure->state, &copy));
    copy->order = structure->order;
    SK_GO(copy_numbers(ctx, d, structure->lower, &copy->lower));
    SK_GO(copy_numbers(ctx, d, structure->upper, &copy->upper));
    SK_GO(copy_numbers(ctx, d * d, structure->noise, &copy->noise));
    SK_GO(copy_absorbing(ctx, structure, copy));
    SK_GO(copy_inputs(ctx, structure, copy));
out:
    if (status < 0)
        sk_structure_free(copy);
    else
        *out = copy;
    return status;
}

void sk_structure_free(sk_structure *s)
{
    if (!s) return;
    for (size_t k = 0; s->state && k < s->d; k++) sk_free(s->state[k]);
    for (size_t k = 0; k < s->inputs; k++) sk_free(s->input[k].name);
    sk_free(s->state);
    sk_free(s->lower);
    sk_free(s->upper);
    sk_free(s->absorbing);
    sk_free(s->input);
    sk_free(s->noise);
    sk_free(s);
}

/* ---- Comparing ---- */

/* NULL stands for so many times the number `absent`. */
static bool same_numbers(size_t count, const double *one, const double *other, double absent)
{
    for (size_t i = 0; i < count; i++)
        if ((one ? one[i] : absent) != (other ? other[i] : absent)) return false;
    return true;
}

static bool same_absorbing(const sk_structure *one, const sk_structure *other)
{
    for (size_t k = 0; k < one->d; k++)
        if ((one->absorbing ? one->absorbing[k] : 0) != (other->absorbing ? other->absorbing[k] : 0)) return false;
    return true;
}

static bool same_names(const sk_structure *one, const sk_structure *other)
{
    if (one->d != other->d || one->inputs != other->inputs) return false;
    for (size_t k = 0; k < one->d; k++)
        if (strcmp(one->state[k], other->state[k]) != 0) return false;
    for (size_t k = 0; k < one->inputs; k++)
        if (one->input[k].hold != other->input[k].hold || one->input[k].usual != other->input[k].usual ||
            strcmp(one->input[k].name, other->input[k].name) != 0)
            return false;
    return true;
}

bool sk_structure_equal(const sk_structure *one, const sk_structure *other)
{
    return same_names(one, other) && one->order == other->order && same_absorbing(one, other) &&
           same_numbers(one->d, one->lower, other->lower, -(double)INFINITY) &&
           same_numbers(one->d, one->upper, other->upper, (double)INFINITY) &&
           same_numbers(one->d * one->d, one->noise, other->noise, 0);
}

bool sk_structure_absorbs(const sk_structure *s, const double *x)
{
    for (size_t k = 0; s->absorbing && k < s->d; k++) {
        if ((s->absorbing[k] & SK_ABSORBS_LOWER) && s->lower && x[k] == s->lower[k]) return true;
        if ((s->absorbing[k] & SK_ABSORBS_UPPER) && s->upper && x[k] == s->upper[k]) return true;
    }
    return false;
}

bool sk_structure_is_bounded(const sk_structure *s)
{
    return !same_numbers(s->d, s->lower, NULL, -(double)INFINITY) ||
           !same_numbers(s->d, s->upper, NULL, (double)INFINITY);
}

bool sk_structure_is_plain(const sk_structure *s)
{
    return !s->inputs && s->order == 1 && !sk_structure_is_bounded(s) && same_numbers(s->d * s->d, s->noise, NULL, 0);
}
