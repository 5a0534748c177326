/* svg.c - see svg.h. The picture is written to memory; an error of the stream is seen once, in svg_close. */
#define _GNU_SOURCE
#include "svg.h"

#include "assets.h"
#include "memtext.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct svg {
    FILE *out;
    memtext picture;
    const char *id;
    int clips;
    bool plain;  /* one of many in a page: written shortly */
    long pen[2]; /* plain: where a path is, in tenths */
};

const char *svg_style(void) { return asset_figure_css; }

/* ---- Text ---- */

/* The next character of UTF-8 text, and how many bytes it takes; U+FFFD for one byte that is not part of a valid
 * sequence (too short, too long a form, a surrogate, beyond U+10FFFF). */
static uint32_t next_character(const unsigned char *p, size_t *bytes)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = p[0] < 0x80             ? 1
                    : (p[0] & 0xe0) == 0xc0 ? 2
                    : (p[0] & 0xf0) == 0xe0 ? 3
                    : (p[0] & 0xf8) == 0xf0 ? 4
                                            : 0;
    *bytes = 1;
    if (length == 1) return p[0];
    if (length == 0) return 0xfffd;
    uint32_t value = p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0xfffd; /* also at the end of the text: 0 is no continuation */
        value = value << 6 | (p[i] & 0x3f);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0xfffd;
    *bytes = length;
    return value;
}

/* Control characters (XML forbids most of them), non-characters, and marks that turn the direction of writing, with
 * which a name could rearrange the text around it. */
static bool is_forbidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef) ||
           c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void put_character(FILE *out, uint32_t c, const unsigned char *raw, size_t bytes)
{
    switch (c) {
    case '&': fputs("&amp;", out); break;
    case '<': fputs("&lt;", out); break;
    case '>': fputs("&gt;", out); break;
    case '"': fputs("&quot;", out); break;
    case '\'': fputs("&#39;", out); break;
    case '\t':
    case '\n':
    case '\r': fputc(' ', out); break;
    default:
        if (is_forbidden(c) || c == 0xfffd)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(raw, 1, bytes, out);
    }
}

size_t svg_length(const char *text, size_t most)
{
    size_t count = 0, bytes;
    for (const unsigned char *p = (const unsigned char *)text; *p && (!most || count < most); p += bytes, count++)
        next_character(p, &bytes);
    return count;
}

void svg_escape(FILE *out, const char *text, size_t most)
{
    size_t length = svg_length(text, 0), kept = most && length > most ? most - 1 : length, bytes;
    const unsigned char *p = (const unsigned char *)text;
    for (size_t i = 0; i < kept; i++, p += bytes) {
        uint32_t c = next_character(p, &bytes);
        put_character(out, c, p, bytes);
    }
    if (kept < length) fputs("\xe2\x80\xa6", out);
}

void svg_escape_bytes(FILE *out, const char *text, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + bytes;
    for (size_t length; p < end; p += length) {
        const uint32_t c = next_character(p, &length);
        put_character(out, c, p, length);
    }
}

/* ---- The picture ---- */

static svg *start(const char *id, double width, double height, const char *title, const char *sheet)
{
    svg *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->id = id;
    s->plain = !sheet;
    s->out = memtext_open(&s->picture);
    if (!s->out) {
        free(s);
        return NULL;
    }
    fprintf(s->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sock\" role=\"img\" viewBox=\"0 0 %g %g\" "
            "width=\"%g\" height=\"%g\">\n<title>",
            width, height, width, height);
    svg_escape(s->out, title, 0);
    fputs("</title>\n", s->out);
    if (sheet) fprintf(s->out, "<style>\n%s</style>\n", sheet);
    fprintf(s->out, "<rect class=\"ground\" width=\"%g\" height=\"%g\"/>\n", width, height);
    return s;
}

svg *svg_new(const char *id, double width, double height, const char *title)
{
    return start(id, width, height, title, svg_style());
}

svg *svg_new_plain(const char *id, double width, double height, const char *title)
{
    return start(id, width, height, title, NULL);
}

char *svg_close(svg *s, size_t *size)
{
    fputs("</svg>\n", s->out);
    bool good = memtext_close(s->out, &s->picture) == 0;
    char *text = s->picture.text;
    *size = s->picture.size;
    free(s);
    if (good) return text;
    free(text);
    return NULL;
}

/* ---- Shapes ---- */

/* Far outside the picture the exact place does not matter, and readers have limits: 1e5 pixels are the end of the
 * world. */
static double within(double value) { return fmax(-1e5, fmin(1e5, value)); }

/* Two decimals, one in a page, without zeros at the end. */
static void put_number(svg *s, double value)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.*f", s->plain ? 1 : 2, within(value));
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
    if (length == 2 && text[0] == '-' && text[1] == '0') text[0] = '0', length = 1;
    fwrite(text, 1, (size_t)length, s->out);
}

static void put_attribute(svg *s, const char *name, double value)
{
    fprintf(s->out, " %s=\"", name);
    put_number(s, value);
    fputc('"', s->out);
}

static bool finite_point(const double at[2]) { return isfinite(at[0]) && isfinite(at[1]); }

static void put_point(svg *s, char command, const double at[2])
{
    fputc(command, s->out);
    put_number(s, at[0]);
    fputc(' ', s->out);
    put_number(s, at[1]);
}

/* Tenths of a pixel as "12", ".3", "-4.5"; first: nothing is before it that it has to be parted from. */
static void put_tenths(svg *s, long tenths, bool first)
{
    const long size = labs(tenths);
    if (tenths < 0)
        fputc('-', s->out);
    else if (!first)
        fputc(' ', s->out);
    if (size >= 10 || size == 0) fprintf(s->out, "%ld", size / 10);
    if (size % 10) fprintf(s->out, ".%ld", size % 10);
}

/* M to a place of the picture, or on by a difference, which what is drawn does not miss where it is nothing. */
static void put_short(svg *s, bool move, const double at[2])
{
    const long to[2] = {lround(10 * within(at[0])), lround(10 * within(at[1]))};
    const long by[2] = {move ? to[0] : to[0] - s->pen[0], move ? to[1] : to[1] - s->pen[1]};
    s->pen[0] = to[0], s->pen[1] = to[1];
    if (!move && !by[0] && !by[1]) return;
    if (move || (by[0] && by[1])) {
        fputc(move ? 'M' : 'l', s->out);
        put_tenths(s, by[0], true);
        put_tenths(s, by[1], false);
    } else {
        fputc(by[0] ? 'h' : 'v', s->out);
        put_tenths(s, by[0] ? by[0] : by[1], true);
    }
}

/* The next point of a path. */
static void put_next(svg *s, bool move, const double at[2])
{
    if (s->plain)
        put_short(s, move, at);
    else
        put_point(s, move ? 'M' : 'L', at);
}

static void path_begin(svg *s, const char *klass) { fprintf(s->out, "<path class=\"%s\" d=\"", klass); }

static void path_end(svg *s, bool closed) { fputs(closed ? "Z\"/>\n" : "\"/>\n", s->out); }

void svg_polyline(svg *s, const char *klass, size_t count, const double *xy)
{
    bool pen = false, any = false;
    for (size_t i = 0; i < count; i++) {
        const bool good = finite_point(xy + 2 * i);
        if (good && !any) path_begin(s, klass), any = true;
        if (good) put_next(s, !pen, xy + 2 * i);
        pen = good;
    }
    if (any) path_end(s, false);
}

void svg_line(svg *s, const char *klass, const double from[2], const double to[2])
{
    const double xy[4] = {from[0], from[1], to[0], to[1]};
    if (finite_point(from) && finite_point(to)) svg_polyline(s, klass, 2, xy);
}

void svg_polygon(svg *s, const char *klass, size_t count, const double *xy)
{
    size_t drawn = 0;
    for (size_t i = 0; i < count; i++) {
        if (!finite_point(xy + 2 * i)) continue;
        if (!drawn) path_begin(s, klass);
        put_next(s, !drawn++, xy + 2 * i);
    }
    if (drawn) path_end(s, true);
}

void svg_rect(svg *s, const char *klass, const double corner[2], const double size[2])
{
    if (!finite_point(corner) || !finite_point(size)) return;
    fprintf(s->out, "<rect class=\"%s\"", klass);
    put_attribute(s, "x", corner[0]);
    put_attribute(s, "y", corner[1]);
    put_attribute(s, "width", size[0]);
    put_attribute(s, "height", size[1]);
    fputs("/>\n", s->out);
}

void svg_boxes(svg *s, const char *klass, size_t count, const double *boxes)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const double *b = boxes + 4 * i, right = b[0] + b[2], foot = b[1] + b[3];
        if (!finite_point(b) || !finite_point(b + 2)) continue;
        if (!s->plain) {
            svg_rect(s, klass, b, b + 2);
            continue;
        }
        if (!any) path_begin(s, klass), any = true;
        put_short(s, true, b);
        put_short(s, false, (double[]){right, b[1]});
        put_short(s, false, (double[]){right, foot});
        put_short(s, false, (double[]){b[0], foot});
        fputc('z', s->out);
        s->pen[0] = lround(10 * within(b[0])), s->pen[1] = lround(10 * within(b[1]));
    }
    if (any) path_end(s, false);
}

void svg_dot(svg *s, const char *klass, const double at[2], double radius)
{
    if (!finite_point(at)) return;
    fprintf(s->out, "<circle class=\"%s\"", klass);
    put_attribute(s, "cx", at[0]);
    put_attribute(s, "cy", at[1]);
    put_attribute(s, "r", radius);
    fputs("/>\n", s->out);
}

/* One path has no shade where its own dots overlap: so there are several. */
void svg_dots(svg *s, const char *klass, size_t count, const double *xy, double radius)
{
    enum { TOGETHER = 50 };
    size_t drawn = 0;
    for (size_t i = 0; i < count; i++) {
        if (!finite_point(xy + 2 * i)) continue;
        if (!s->plain) {
            svg_dot(s, klass, xy + 2 * i, radius);
            continue;
        }
        if (drawn % TOGETHER == 0) {
            if (drawn) path_end(s, false);
            fprintf(s->out, "<path class=\"%s round\" d=\"", klass);
        }
        put_short(s, true, xy + 2 * i);
        fputs("h0", s->out);
        drawn++;
    }
    if (drawn) path_end(s, false);
}

/* A shaft with an open head a third as long, 3 to 7 pixels; what is too short for a direction is a dash. */
void svg_arrow(svg *s, const char *klass, const double from[2], const double to[2])
{
    const double dx = to[0] - from[0], dy = to[1] - from[1], length = hypot(dx, dy);
    if (!finite_point(from) || !finite_point(to)) return;
    path_begin(s, klass);
    put_next(s, true, from);
    put_next(s, false, to);
    if (length > 2) {
        const double head = fmax(3, fmin(7, length / 3)), ux = dx / length * head, uy = dy / length * head;
        const double left[2] = {to[0] - 0.9 * ux + 0.5 * uy, to[1] - 0.9 * uy - 0.5 * ux};
        const double right[2] = {to[0] - 0.9 * ux - 0.5 * uy, to[1] - 0.9 * uy + 0.5 * ux};
        put_next(s, true, left);
        put_next(s, false, to);
        put_next(s, false, right);
    }
    path_end(s, false);
}

void svg_ellipse(svg *s, const char *klass, const double at[2], const double radius[2], double degrees)
{
    if (!finite_point(at) || !finite_point(radius) || !isfinite(degrees)) return;
    fprintf(s->out, "<ellipse class=\"%s\"", klass);
    put_attribute(s, "rx", radius[0]);
    put_attribute(s, "ry", radius[1]);
    fputs(" transform=\"translate(", s->out);
    put_number(s, at[0]);
    fputc(' ', s->out);
    put_number(s, at[1]);
    fputs(") rotate(", s->out);
    put_number(s, degrees);
    fputs(")\"/>\n", s->out);
}

void svg_label(svg *s, const char *klass, const double at[2], svg_anchor anchor, size_t most, const char *text,
               const char *more)
{
    static const char *const names[] = {"start", "middle", "end"};
    if (!finite_point(at)) return;
    fprintf(s->out, "<text class=\"%s\" text-anchor=\"%s\"", klass, names[anchor]);
    put_attribute(s, "x", at[0]);
    put_attribute(s, "y", at[1]);
    fputc('>', s->out);
    svg_escape(s->out, text, most);
    svg_escape(s->out, more, 0);
    fputs("</text>\n", s->out);
}

void svg_name(svg *s, const char *klass, const double at[2], size_t most, const char *name)
{
    enum { TAIL = 3 };
    const size_t length = svg_length(name, 0);
    const unsigned char *tail = (const unsigned char *)name;
    size_t bytes;
    if (length <= most || most < 2 * TAIL) {
        svg_label(s, klass, at, SVG_START, most, name, "");
        return;
    }
    for (size_t i = 0; i < length - TAIL; i++, tail += bytes) next_character(tail, &bytes);
    svg_label(s, klass, at, SVG_START, most - TAIL, name, (const char *)tail);
}

void svg_text(svg *s, const char *klass, const double at[2], svg_anchor anchor, size_t most, const char *text)
{
    svg_label(s, klass, at, anchor, most, text, "");
}

void svg_text_up(svg *s, const char *klass, const double at[2], size_t most, const char *text)
{
    if (!finite_point(at)) return;
    fprintf(s->out, "<g transform=\"translate(");
    put_number(s, at[0]);
    fputc(' ', s->out);
    put_number(s, at[1]);
    fputs(") rotate(-90)\">", s->out);
    svg_text(s, klass, (double[]){0, 0}, SVG_MIDDLE, most, text);
    fputs("</g>\n", s->out);
}

void svg_clip_begin(svg *s, const double corner[2], const double size[2])
{
    fprintf(s->out, "<clipPath id=\"%s-clip%d\">", s->id, s->clips);
    svg_rect(s, "clip", corner, size);
    fprintf(s->out, "</clipPath>\n<g clip-path=\"url(#%s-clip%d)\">\n", s->id, s->clips);
    s->clips++;
}

void svg_clip_end(svg *s) { fputs("</g>\n", s->out); }
