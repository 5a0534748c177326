/* page.c - see page.h. */
#define _GNU_SOURCE
#include "page.h"

#include "api/record.h"

#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void page_text(FILE *out, const char *text) { svg_escape(out, text, 0); }

void page_base64(FILE *out, size_t size, const unsigned char *bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned word = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)bytes[i + 2] : 0);
        fputc(digit[word >> 18], out);
        fputc(digit[word >> 12 & 63], out);
        fputc(left > 1 ? digit[word >> 6 & 63] : '=', out);
        fputc(left > 2 ? digit[word & 63] : '=', out);
    }
}

void page_hash(FILE *out, const char *hex)
{
    unsigned char bytes[32] = {0};
    for (size_t i = 0; i < sizeof bytes && hex[2 * i] && hex[2 * i + 1]; i++)
        bytes[i] = (unsigned char)strtoul((char[]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
    fputs("'sha256-", out);
    page_base64(out, sizeof bytes, bytes);
    fputc('\'', out);
}

void page_shell_word(FILE *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+-@%";
    const int quote = !*word || word[strspn(word, plain)] != 0;
    if (quote) page_text(out, "'");
    for (const char *rest = word; *rest;) {
        const size_t length = strcspn(rest, "'");
        svg_escape_bytes(out, rest, length);
        rest += length;
        if (*rest == '\'') page_text(out, "'\\''"), rest++;
    }
    if (quote) page_text(out, "'");
}

void page_option(FILE *out, const char *key, const char *value)
{
    fputs(" --", out);
    page_text(out, key);
    fputc('=', out);
    page_shell_word(out, value);
}

void page_link(FILE *out, const page_file *file)
{
    fprintf(out, "<a download=\"%s\"", file->name);
    if (file->chart) fprintf(out, " data-chart=\"%s\"", file->chart);
    fprintf(out, " href=\"data:%s;base64,", file->type);
    page_base64(out, file->size, file->bytes);
    fprintf(out, "\">%s</a>", file->name);
}

int page_table_link(FILE *out, const fig_table *table)
{
    char name[64];
    size_t size = 0;
    char *csv = table_csv(table, &size);
    if (!csv) return 0;
    snprintf(name, sizeof name, "%s.csv", table->name);
    page_link(out, &(page_file){.name = name, .type = "text/csv", .chart = table->chart, .bytes = csv, .size = size});
    if (table->every > 1) fprintf(out, " (one row in %zu)", table->every);
    free(csv);
    return 1;
}

void page_figures(FILE *out, double value, int figures)
{
    const double size = fabs(value);
    if (value < 0) fputs("\xe2\x88\x92", out);
    if (!(size >= pow(10, figures) && size < 1e7)) {
        fprintf(out, "%.*g", figures, size);
        return;
    }
    const double unit = fmax(1, pow(10, floor(log10(size)) + 1 - figures));
    fprintf(out, "%.0f", round(size / unit) * unit);
}

void page_times(FILE *out, double nats)
{
    const double away = fabs(nats);
    fprintf(out, "%.*f", away > 0 && away < 0.1 ? (int)fmin(6, 1 - floor(log10(away))) : 2, exp(nats));
}

void page_number(FILE *out, double value) { page_figures(out, value, 4); }

/* The last digit of `figures` of a number, as a power of ten; 0 of what is none. */
static int last_digit(double x, int figures)
{
    char text[32];
    if (!isfinite(x)) return 0;
    snprintf(text, sizeof text, "%.*e", figures - 1, fabs(x));
    return (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1 - figures;
}

/* Whether digits down to this one are written out. */
static int is_plain(double value, int digit) { return fabs(value) < 1e7 && digit > -7 && digit < 7; }

/* To a digit, with the zeros that belong to it. */
static void put_rounded(FILE *out, double value, int digit)
{
    const double unit = pow(10, digit > 0 ? digit : 0);
    char text[64];
    if (!is_plain(value, digit)) {
        page_number(out, value);
        return;
    }
    snprintf(text, sizeof text, "%.*f", digit < 0 ? -digit : 0,
             digit > 0 ? round(fabs(value) / unit) * unit : fabs(value));
    if (value < 0 && text[strspn(text, "0.")]) fputs("\xe2\x88\x92", out); /* there is no -0 */
    fputs(text, out);
}

void page_rounded(FILE *out, double value, double se)
{
    const int digit = last_digit(se, 2), plain = is_plain(value, digit) && is_plain(se, digit);
    put_rounded(out, value, plain ? digit : 7);
}

void page_measured(FILE *out, double value, double se)
{
    const int digit = last_digit(se, 2), plain = is_plain(value, digit) && is_plain(se, digit);
    page_rounded(out, value, se);
    fputs(" \xc2\xb1 ", out);
    if (plain)
        put_rounded(out, se, digit);
    else
        page_figures(out, se, 2);
}

/* To a digit, away from the other end; what is there but for rounding stays. */
static double outwards(double x, int digit, int up)
{
    const double unit = pow(10, digit), slack = 1e-9;
    const double end = (up ? ceil(x / unit - slack) : floor(x / unit + slack)) * unit;
    return x == 0 || !isfinite(end) ? x : end;
}

static int finer(double x, int digit)
{
    const int own = x == 0 ? digit : last_digit(x, 2);
    return own < digit ? own : digit;
}

void page_between(FILE *out, double value, double low, double high)
{
    const int digit = last_digit(isfinite(high) ? high - low : fabs(value - low), 2);
    if (!isfinite(low)) {
        page_number(out, value);
        return;
    }
    put_rounded(out, value, finer(value, digit));
    fputs(" (", out);
    put_rounded(out, outwards(low, finer(low, digit), 0), finer(low, digit));
    if (!isfinite(high)) {
        fputs(" or more)", out);
        return;
    }
    fputs(" to ", out);
    put_rounded(out, outwards(high, finer(high, digit), 1), finer(high, digit));
    fputc(')', out);
}

void page_share(FILE *out, double share)
{
    char text[16];
    page_text(out, sk_percent(share, text));
    fputs(" %", out);
}

json_t *info_parse(const char *text)
{
    enum { GROWTH = 48 }; /* bytes of JSON in memory for each byte of text */
    void *room = malloc(GROWTH * (strlen(text) + 1024));
    free(room);
    return room ? json_loads(text, 0, NULL) : NULL;
}

const char *info_text(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double info_number(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

long long info_count(json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}
