#include <stddef.h>

#include "exec/backend/backend.h"

const mo_backend *const mo_backends[] = {
    &mo_backend_cpu,
    NULL,
};
