// Steps of a transfer at which a test kills the process: `Failpoint.reached(.downloadVerified)`.
//
// Only builds with `-Xcc -DTRANSFER_FAILPOINTS` have them (`make torture`); in all others the call is empty. An enum of
// C leaves nothing behind there; Swift would keep the names of its cases in the program.
#pragma once

// In the order in which jobs pass them. `TRANSFER_FAILPOINT=name` kills at the first passing, `name:n` at the n-th.
#define TRANSFER_EACH_FAILPOINT(point)                                                                                 \
    /* Every job. The job has a slot, and is this process's as far as the database knows. */                           \
    point(jobClaimed)                                                                                                  \
    /* libcurl has a request to make. */                                                                               \
    point(requestStarted)                                                                                              \
    /* An exchange is over, well or not, and only the engine knows. */                                                 \
    point(exchangeOver)                                                                                                \
    /* A job has ended, and that is about to be written. */                                                            \
    point(recordDue)                                                                                                   \
    /* Ends and steps of jobs are written, in a transaction that isn't committed. */                                   \
    point(recordUncommitted)                                                                                           \
    /* Ends and steps of jobs are committed, and nobody has been told. */                                              \
    point(recordCommitted)                                                                                             \
                                                                                                                       \
    /* Downloads. The partial file is open and judged. */                                                              \
    point(downloadPrepared)                                                                                            \
    /* The answer's head is there, and nothing of the partial file is changed yet. */                                  \
    point(headReceived)                                                                                                \
    /* Bytes that can't be continued are cut off, and a larger file has its name. */                                   \
    point(partBegun)                                                                                                   \
    /* Blocks for the whole file are reserved. */                                                                      \
    point(partReserved)                                                                                                \
    /* The partial file bears its first record. */                                                                     \
    point(partRecorded)                                                                                                \
    /* A piece of the body is in the partial file; passed for each piece. */                                           \
    point(bytesWritten)                                                                                                \
    /* Bytes so far are durable, and not recorded so. */                                                               \
    point(checkpointSynced)                                                                                            \
    /* Bytes so far are recorded as durable. */                                                                        \
    point(checkpointRecorded)                                                                                          \
    /* A file that several connections will fill has its map, and no record of that. */                                \
    point(segmentsPrepared)                                                                                            \
    /* A file bears that it has holes; nobody has written behind them. */                                              \
    point(segmentsRecorded)                                                                                            \
    /* A piece of a range is in the partial file, and not in its map; passed for each piece. */                        \
    point(segmentWritten)                                                                                              \
    /* An attempt broke off, and the partial file bears what it brought. */                                            \
    point(brokenOffRecorded)                                                                                           \
    /* The last byte is there; the file waits for others, to be made durable with them. */                             \
    point(downloadComplete)                                                                                            \
    /* The digest is right, where one is known. */                                                                     \
    point(downloadVerified)                                                                                            \
    /* The file bears its time and where it came from. */                                                              \
    point(downloadMarked)                                                                                              \
    /* The file's bytes are durable. */                                                                                \
    point(downloadDurable)                                                                                             \
    /* The file has its own name, which isn't durable. */                                                              \
    point(downloadNamed)                                                                                               \
    /* The file's name is durable. */                                                                                  \
    point(downloadFolderSynced)                                                                                        \
                                                                                                                       \
    /* Uploads. The source is open. */                                                                                 \
    point(uploadOpened)                                                                                                \
    /* The database knows that something is about to be sent that must not be sent twice. */                           \
    point(sendingMarked)                                                                                               \
    /* A piece of a body was handed over; passed for each piece. */                                                    \
    point(bodyProvided)                                                                                                \
    /* The last piece of a body was handed over. */                                                                    \
    point(bodyComplete)                                                                                                \
    /* A request of an upload that takes several is under way; passed for each: S3's create, parts and complete, */    \
    /* tus's creation and PATCHes, a resumable upload's creation and appends, a question after a PUT. */               \
    point(dialogueSent)                                                                                                \
    /* The answer to such a request is there, and nothing follows from it yet. */                                      \
    point(dialogueAnswered)                                                                                            \
    /* The way to what the server has is about to be written for the next attempt. */                                  \
    point(stateUnsaved)                                                                                                \
    /* The way to what the server has is written. */                                                                   \
    point(stateSaved)                                                                                                  \
    /* The server has confirmed the upload, and the source still is what was sent. */                                  \
    point(uploadConfirmed)                                                                                             \
                                                                                                                       \
    /* Watched folders. Versions of files are offered to the ledger. */                                                \
    point(filesOffered)                                                                                                \
    /* Rows and jobs of these files are written, in a transaction that isn't committed. */                             \
    point(ledgerUncommitted)                                                                                           \
    /* Rows and jobs of these files are committed. */                                                                  \
    point(filesTaken)                                                                                                  \
    /* A confirmed file is due to be moved or deleted, and still untouched. */                                         \
    point(fileDue)                                                                                                     \
    /* The confirmed file has its hidden name. */                                                                      \
    point(fileHidden)                                                                                                  \
    /* A copy on another file system is whole and durable, under a hidden name. */                                     \
    point(fileCopied)                                                                                                  \
    /* The copy has its name, and the file is still there. */                                                          \
    point(copyNamed)                                                                                                   \
    /* The file is moved or deleted, and the ledger doesn't know. */                                                   \
    point(fileSettled)                                                                                                 \
    /* The ledger knows. */                                                                                            \
    point(settlementNoted)

#define TRANSFER_FAILPOINT_CASE(name) TransferFailpoint_##name,
enum TransferFailpoint { TRANSFER_EACH_FAILPOINT(TRANSFER_FAILPOINT_CASE) }
__attribute__((enum_extensibility(closed))) __attribute__((swift_name("Failpoint")));
#undef TRANSFER_FAILPOINT_CASE

static inline void transfer_reached(enum TransferFailpoint point)
    __attribute__((swift_name("Failpoint.reached(_:)")));

#ifdef TRANSFER_FAILPOINTS
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void transfer_reached(enum TransferFailpoint point) {
#define TRANSFER_FAILPOINT_NAME(name) #name,
    static const char *const names[] = {TRANSFER_EACH_FAILPOINT(TRANSFER_FAILPOINT_NAME)};
#undef TRANSFER_FAILPOINT_NAME
    static int passings = 0;
    const char *wanted = getenv("TRANSFER_FAILPOINT");
    if (!wanted) return;
    size_t length = strcspn(wanted, ":");
    if (length != strlen(names[point]) || strncmp(wanted, names[point], length)) return;
    int number = wanted[length] ? atoi(wanted + length + 1) : 1;
    if (__atomic_add_fetch(&passings, 1, __ATOMIC_RELAXED) != number) return;
    kill(getpid(), SIGKILL);
    // The signal is there before the call returns; a thread that goes on regardless would do the next step.
    for (;;) pause();
}
#else
static inline void transfer_reached(enum TransferFailpoint point) { (void)point; }
#endif
