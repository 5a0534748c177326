/* svg.h - a small writer of SVG pictures: shapes in pixels, colours by class, light and dark by the reader's setting.
 *
 * Text that comes from a user (column and file names) reaches the picture through svg_text and the title alone, and
 * both go through one function, svg_escape. Classes and identifiers are the program's own and are written as they are.
 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include <stddef.h>
#include <stdio.h>

typedef struct svg svg;

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

/* A picture of width x height pixels. id: a word of letters that no other picture of the same page has; title: what a
 * screen reader says. NULL when out of memory. */
svg *svg_new(const char *id, double width, double height, const char *title);

/* The same without its own style sheet, for a page that has svg_style() once for all its pictures. */
svg *svg_new_plain(const char *id, double width, double height, const char *title);
const char *svg_style(void);

/* Ends the picture and frees s. The text (freed with free()) and its length; NULL when memory ran out on the way. */
char *svg_close(svg *s, size_t *size);

/* Class: words of the style sheet assets/figure.css: model, truth, data, grid, spine, fan90, fan50, bar, ... Points
 * that are not finite are left out; they break a line. */
void svg_line(svg *s, const char *klass, const double from[2], const double to[2]);
void svg_polyline(svg *s, const char *klass, size_t count, const double *xy);
void svg_polygon(svg *s, const char *klass, size_t count, const double *xy);
void svg_rect(svg *s, const char *klass, const double corner[2], const double size[2]);

/* Many boxes of one class, x y width height each; in a page they are one path. */
void svg_boxes(svg *s, const char *klass, size_t count, const double *boxes);
void svg_dot(svg *s, const char *klass, const double at[2], double radius);

/* Many dots of one class; in a page they are paths of points with round ends, to which the class gives a stroke of
 * twice the radius. */
void svg_dots(svg *s, const char *klass, size_t count, const double *xy, double radius);

void svg_arrow(svg *s, const char *klass, const double from[2], const double to[2]);

/* An ellipse with half axes radius[0] and radius[1]; the first points to `degrees`, clockwise from the x axis. */
void svg_ellipse(svg *s, const char *klass, const double at[2], const double radius[2], double degrees);

/* Escaped, and cut with an ellipsis beyond `most` characters (0: never cut); `more` follows whole. svg_name keeps the
 * last characters too, by which names of many states differ. */
void svg_name(svg *s, const char *klass, const double at[2], size_t most, const char *name);
void svg_label(svg *s, const char *klass, const double at[2], svg_anchor anchor, size_t most, const char *text,
               const char *more);
void svg_text(svg *s, const char *klass, const double at[2], svg_anchor anchor, size_t most,
              const char *text); /* more = "" */

/* The same, centred and turned to read upwards. */
void svg_text_up(svg *s, const char *klass, const double at[2], size_t most, const char *text);

/* What is drawn between the two is cut off at the box. */
void svg_clip_begin(svg *s, const double corner[2], const double size[2]);
void svg_clip_end(svg *s);

/* Writes text so that it is character data in XML and HTML wherever it stands, in an attribute or an element: markup
 * becomes entities; what XML forbids, broken UTF-8 and characters that turn the direction of writing become U+FFFD. At
 * most `most` characters, then an ellipsis; 0: all. */
void svg_escape(FILE *out, const char *text, size_t most);

/* The first `bytes` bytes of the text, all of them. */
void svg_escape_bytes(FILE *out, const char *text, size_t bytes);

/* Characters of a UTF-8 text, at most `most` (0: all), for a guess at its width. */
size_t svg_length(const char *text, size_t most);

#endif
