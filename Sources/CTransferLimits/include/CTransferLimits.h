// Limits of a process (setrlimit(2)) that end it by a signal inside libraries: stack and memory. Linking this target has
// the stack of the first thread looked at before any library begins.
#pragma once

/// Gives threads a stack of 8 MiB where the limit of the first thread's stack is smaller, and has an end for lack of memory
/// reported in words. Where memory is limited, threads share its pools.
///
/// Call it before the first other thread exists.
void transfer_limits_prepare(void);
