// The parts of a program that must exist before its first line of Swift, or in place of a library's: see the files beside.
#pragma once

/// The number of words that this process was started with, as the kernel passed them. `CommandLine` of Swift reads them from
/// /proc, which some containers and chroots lack.
int transfer_argument_count(void);

/// One of these words, or NULL; the first is the program's name.
const char *transfer_argument(int index);

/// Gives threads a stack of 8 MiB where the limit of the first thread's stack is smaller, and reports a lack of memory in
/// words before the process ends. Where memory is limited, threads share its pools.
///
/// To be called before the first other thread exists. The first thread's stack is judged before any library begins, by
/// linking this target.
void transfer_limits_prepare(void);
