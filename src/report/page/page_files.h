/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_files.h - style, body and script of the page, as lines; each list ends
 * with NULL. Made from the files in src/report/page/view by the build.
 */
#ifndef MO_REPORT_PAGE_PAGE_FILES_H
#define MO_REPORT_PAGE_PAGE_FILES_H

extern const char *const mo_page_style[];
extern const char *const mo_page_body[];
extern const char *const mo_page_script[];

#endif
