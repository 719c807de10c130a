#pragma once
#if !__has_include(<libpq-fe.h>)
#error "libpq is missing: apt-get install libpq-dev"
#endif
#include <libpq-fe.h>
#ifndef LIBPQ_HAS_PIPELINING
#error "libpq is too old: 14 or newer"
#endif
