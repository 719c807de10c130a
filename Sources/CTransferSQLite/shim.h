#pragma once
#if !__has_include(<sqlite3.h>)
#error "SQLite is missing: apt-get install libsqlite3-dev"
#endif
#include <sqlite3.h>

// Whether SQLite took it: not once it's in use.
static inline int transfer_sqlite_skip_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK;
}
