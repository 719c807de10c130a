// The words that this process was started with, as the kernel handed them over. Swift's own `CommandLine` reads them from
// /proc, which isn't everywhere (chroot, small containers), and has none then.
#pragma once

int transfer_argument_count(void);

/// One of them, or NULL; the first is the program's name.
const char *transfer_argument(int index);
