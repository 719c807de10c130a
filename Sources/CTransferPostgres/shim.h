#pragma once
#if !__has_include(<libpq-fe.h>)
#error "libpq is missing: apt-get install libpq-dev"
#endif
#include <libpq-fe.h>
