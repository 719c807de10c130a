import TransferCore
import TransferEngine

/// A job as the store hands it out: its description and what earlier attempts left behind.
struct JobRecord: Sendable {
    let id: Int64
    let batch: Int64
    let identity: String
    @Shared var spec: JobSpec
    /// Attempts that counted against the budget so far.
    var attempts: Int
    /// What waits took that servers asked for, since the last byte that was made durable.
    var askedWait = Duration.zero
    /// Which of the download's URLs is tried now.
    var mirror: Int
    /// The URLs that failed for good, one bit each.
    var spentMirrors: UInt64
    /// The last attempt's record, where the file system can't carry it.
    var resume: ResumeData?
    /// What an upload that was broken off left behind.
    var upload: UploadRecord?
    /// How the destination looked when this job last wrote it.
    var facts: FileStamp?
    /// The checksum recorded then.
    var digest: Checksum?
    var validator: String?
    /// The resource that gave them.
    var place: AnsweredPlace?
    /// Whether a process died while it had this job.
    var wasInterrupted: Bool
    /// When it was taken, in milliseconds since 1970; where a process died with it, by that one.
    var claimed: Int64
    /// Why the job, which was complete, is done again.
    var recheck: DestinationRule.Recheck
    /// The version to upload, of a file in a watched folder: no other one counts as this job.
    var watched: WatchedVersion?
}

extension JobRecord {
    /// Whether no other version of its source may be sent than the one it began with; of a watched file the ledger says
    /// which one that is.
    var keepsVersion: Bool { watched == nil && spec.failsIfChanged }

    func hasSpent(_ mirror: Int) -> Bool { spentMirrors & (1 << UInt64(min(63, mirror))) != 0 }

    /// A job that nobody has tried yet.
    init(id: Int64, batch: Int64, identity: String, spec: Shared<JobSpec>, claimed: Int64) {
        self.id = id
        self.batch = batch
        self.identity = identity
        _spec = spec
        attempts = 0
        mirror = 0
        spentMirrors = 0
        wasInterrupted = false
        self.claimed = claimed
        recheck = .no
    }
}

/// A version of a file in a watched folder, as the ledger has it.
struct WatchedVersion: Sendable, Hashable {
    let ledger: Int64
    let stamp: FileStamp
    let digest: Checksum?
    /// Whether the server is asked for the digest of what it has.
    let verifies: Bool
    /// How often it failed for good.
    var failures = 0
    /// Of its bytes (``SourceFile/fingerprint(isStopped:)``), once they have been read.
    var fingerprint: UInt64?
    /// An attempt may have sent it: whether these are the same bytes is asked of them, not of the file's times.
    var mustProve = false
}

/// How a job ended, for the store and for whoever listens.
struct JobEnd: Sendable {
    let id: Int64
    let batch: Int64
    let identity: String
    var outcome: Outcome
    /// Of an upload's source, when its bytes were known to be what was sent (`st_ctim`): nanoseconds since 1970.
    var sourceChanged: Int64?
    /// Of what was sent of it.
    var sourceFingerprint: UInt64?
    /// Of one that failed in a watched folder: when it's tried again by itself.
    var again: Duration?
    /// What is left of the file, of a download that didn't come to its end.
    var resume: ResumeData?

    /// Behind one reference: an end goes through many hands.
    indirect enum Outcome: Sendable {
        case done(JobReceipt, FileStamp?)
        /// Complete before: no transfer was needed.
        case kept(JobReceipt, FileStamp?)
        case failed(TransferError, attempts: Int, host: String?)
        case cancelled
        /// Of a watched folder: there is nothing to upload any more, as the file is gone or is another version.
        case dropped(isChanged: Bool)
    }

    /// What there is to say of a job that is complete; `nil` for any other end.
    var completion: (receipt: JobReceipt, facts: FileStamp?)? {
        switch outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts): (receipt, facts)
        case .failed, .cancelled, .dropped: nil
        }
    }

    var wasCancelled: Bool {
        if case .cancelled = outcome { true } else { false }
    }
}

/// A change of a job that goes on.
struct JobStep: Sendable {
    let id: Int64
    var state: JobState
    var attempts: Int
    var mirror: Int
    var spentMirrors: UInt64
    /// ``JobRecord/askedWait``
    var askedWait = Duration.zero
    /// The end of its wait; for `waiting`.
    var due: MonotonicTime?
    var origin: String
    var resume: ResumeData?
    let batch: Int64
    var identity = ""
    /// ``Lane/network``.
    var network = ""
    /// Whether a server asked for the wait.
    var isAsked = false
    /// What the last attempt came to, where that is why it waits.
    var error: TransferError?
}
