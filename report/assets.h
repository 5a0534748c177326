/* assets.h - files that the build puts into the program (cmake/Embed.cmake): styles and scripts of the report, each
 * with the SHA-256 of its bytes in hexadecimal digits. */
#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

extern const char asset_figure_css[], asset_figure_css_sha256[];
extern const char asset_page_css[], asset_page_css_sha256[];
extern const char asset_model_js[], asset_model_js_sha256[];
extern const char asset_live_js[], asset_live_js_sha256[];
extern const char asset_page_js[], asset_page_js_sha256[];
extern const char asset_uplot_css[], asset_uplot_css_sha256[];
extern const char asset_uplot_js[], asset_uplot_js_sha256[];
extern const char asset_uplot_licence[], asset_uplot_licence_sha256[];

#endif
