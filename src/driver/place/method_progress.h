/*
 * place_news.h - what a method has so far: one line on a terminal, or a line
 * for every improvement where the user wants to hear of the work.
 */
#ifndef MO_DRIVER_PLACE_METHOD_PROGRESS_H
#define MO_DRIVER_PLACE_METHOD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/log.h"
#include "solvers/search/method.h"

typedef struct mo_place_news {
    const char *method;
    const mo_talk *talk;
    bool shows, lists; /* a line that is rewritten; or one for each */
    bool shown;
    double next_s;                 /* not before */
    int64_t makespan_ns, lower_ns; /* that were told */
} mo_place_news;

void mo_place_news_begin(mo_place_news *news, const char *method,
                         const mo_talk *talk);

/* As a mo_task wants it; context is the mo_place_news. */
void mo_place_news_tell(void *context, const mo_news *news);

/* Takes the line away. */
void mo_place_news_end(mo_place_news *news);

#endif
