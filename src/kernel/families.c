/* families.c - the table of families, and what a kernel is by the rows of its terms. */
#include "kernel/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ADDRESS(name) &sk_##name##_family,
const sk_family *const sk_families[] = {SK_FAMILIES(ADDRESS) NULL};
#undef ADDRESS

/* ---- Families ---- */

bool sk_family_is_closed(const sk_family *family) { return family->value != NULL; }

bool sk_family_takes(const sk_family *family, sk_key_name key) { return (family->keys & SK_BIT(key)) != 0; }

bool sk_family_is(const sk_family *family, sk_kind kind)
{
    switch (kind) {
    case SK_KIND_NAMED: return family->keys != 0;
    case SK_KIND_CLOSED: return family->value != NULL;
    case SK_KIND_EXPLICIT: return family->make != NULL;
    case SK_KIND_IMPLICIT: return family->value && !family->make;
    case SK_KIND_MAPPED: return family->make && !family->value;
    default: return family->make && !sk_family_takes(family, SK_KEY_OF);
    }
}

const char *sk_kernel_names(sk_kind kind, const char *separator, char *buffer)
{
    size_t used = 0;
    buffer[0] = 0;
    for (const sk_family *const *row = sk_families; *row; row++) {
        if (!sk_family_is(*row, kind)) continue;
        int n = snprintf(buffer + used, SK_NAMES - used, "%s%s", used ? separator : "", (*row)->name);
        used = SK_MIN(used + (size_t)n, (size_t)SK_NAMES - 1);
    }
    return buffer;
}

bool sk_kernel_text_is_polynomial(const char *text)
{
    for (const sk_family *const *row = sk_families; *row; row++)
        if ((*row)->polynomial && strncmp(text, (*row)->name, strlen((*row)->name)) == 0) return true;
    return false;
}

/* ---- Terms ---- */

const sk_family *sk_term_base(const sk_term *term)
{
    if (sk_family_takes(term->family, SK_KEY_OF)) return term->of;
    return term->family->stands_for ? term->family->stands_for : term->family;
}

bool sk_term_needs_eta(const sk_term *term) { return sk_family_takes(sk_term_base(term), SK_KEY_ETA); }

static bool is_matrix(const sk_term *term) { return term->b || term->family->add_pair; }

/* The formula of a kernel of roots is that of other points: it serves through its features alone. */
static bool is_closed(const sk_term *term) { return sk_family_is_closed(term->family) && !term->b && !term->root; }

/* Of points, or of their roots. */
static bool has_pivots(const sk_term *term) { return sk_family_is_closed(term->family) && !term->b; }

static bool has_formula(const sk_term *term)
{
    return (sk_family_is_closed(term->family) && !term->root) || term->family->add_pair;
}

static bool is_implicit(const sk_term *term) { return sk_family_is(term->family, SK_KIND_IMPLICIT); }

static bool has_text(const sk_term *term) { return sk_family_is(term->family, SK_KIND_NAMED); }

static bool names_eta(const sk_term *term) { return isfinite(term->eta); }

static bool is_open(const sk_term *term) { return sk_term_needs_eta(term) && isnan(term->eta); }

/* ---- Kernels ---- */

static bool any(const sk_kernel *kernel, bool (*holds)(const sk_term *))
{
    for (size_t i = 0; i < kernel->terms; i++)
        if (holds(&kernel->term[i])) return true;
    return false;
}

static bool all(const sk_kernel *kernel, bool (*holds)(const sk_term *))
{
    for (size_t i = 0; i < kernel->terms; i++)
        if (!holds(&kernel->term[i])) return false;
    return true;
}

bool sk_kernel_is_matrix(const sk_kernel *kernel) { return any(kernel, is_matrix); }
bool sk_kernel_is_closed(const sk_kernel *kernel) { return all(kernel, is_closed); }
bool sk_kernel_has_formula(const sk_kernel *kernel) { return all(kernel, has_formula); }
bool sk_kernel_is_implicit(const sk_kernel *kernel) { return any(kernel, is_implicit) && all(kernel, has_pivots); }
bool sk_kernel_has_text(const sk_kernel *kernel) { return all(kernel, has_text); }
bool sk_kernel_names_eta(const sk_kernel *kernel) { return any(kernel, names_eta); }
bool sk_kernel_is_open(const sk_kernel *kernel) { return any(kernel, is_open); }
bool sk_kernel_is_bounded(const sk_kernel *kernel) { return any(kernel, sk_term_is_bounded); }

double sk_kernel_features(const sk_kernel *kernel, size_t d, size_t max_rank)
{
    double count = 0;
    for (size_t i = 0; i < kernel->terms; i++) {
        const sk_term *term = &kernel->term[i];
        if (term->family->count) count += term->family->count(term, d, max_rank);
    }
    return count;
}

sock_status sk_kernel_closed_form(sock_context *ctx, const sk_kernel *kernel, sk_kernel **out)
{
    SK_TRY(sk_kernel_copy(ctx, kernel, out));
    for (size_t i = 0; i < kernel->terms; i++) (*out)->term[i].family = sk_term_base(&kernel->term[i]);
    return SOCK_OK;
}
