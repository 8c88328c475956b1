#include <stdio.h>

#include "exec/discover/discover_internal.h"

void mo_survey_gpus(mo_survey *survey)
{
    snprintf(survey->no_gpu, sizeof survey->no_gpu,
             "this program was built without CUDA");
}
