package import TransferCore
import TransferEngine

/// A job as the store hands it out: its description and what earlier attempts left behind.
package struct JobRecord: Sendable {
    package let id: Int64
    package let batch: Int64
    package let identity: String
    @Shared package var spec: JobSpec
    /// Attempts that counted against the budget so far.
    package var attempts: Int
    /// What waits took that servers asked for, since the last byte that was made durable.
    package var askedWait = Duration.zero
    /// Which of the download's URLs is tried now.
    package var mirror: Int
    /// The URLs that failed for good, one bit each.
    package var spentMirrors: UInt64
    /// The last attempt's record, where the file system can't carry it.
    package var resume: ResumeData?
    /// What an upload that was broken off left behind.
    package var upload: UploadRecord?
    /// How the destination looked when this job last wrote it.
    package var facts: FileStamp?
    /// The checksum recorded then.
    package var digest: Checksum?
    package var validator: String?
    /// The sums of the file's pieces, of a job that is to make it whole again.
    package let sums: PieceSumList?
    /// The resource that gave them.
    package var place: AnsweredPlace?
    /// Whether a process died while it had this job.
    package var wasInterrupted: Bool
    /// When it was taken, in milliseconds since 1970; where a process died with it, by that one.
    package var claimed: Int64
    /// Why the job, which was complete, is done again.
    package var recheck: DestinationRule.Recheck
    /// The version to upload, of a file in a watched folder: no other one counts as this job.
    package var watched: WatchedVersion?
    /// The processes whose partial files there may be; `nil` where no other one works on the queue.
    package let partOwners: PartOwners?

    package init(
        id: Int64, batch: Int64, identity: String, spec: JobSpec, attempts: Int, askedWait: Duration = Duration.zero,
        mirror: Int, spentMirrors: UInt64, resume: ResumeData? = nil, upload: UploadRecord? = nil,
        facts: FileStamp? = nil, digest: Checksum? = nil, validator: String? = nil, sums: PieceSumList? = nil,
        place: AnsweredPlace? = nil, wasInterrupted: Bool, claimed: Int64, recheck: DestinationRule.Recheck,
        watched: WatchedVersion? = nil,
        partOwners: PartOwners? = nil
    ) {
        self.id = id
        self.batch = batch
        self.identity = identity
        self.spec = spec
        self.attempts = attempts
        self.askedWait = askedWait
        self.mirror = mirror
        self.spentMirrors = spentMirrors
        self.resume = resume
        self.upload = upload
        self.facts = facts
        self.digest = digest
        self.validator = validator
        self.sums = sums
        self.place = place
        self.wasInterrupted = wasInterrupted
        self.claimed = claimed
        self.recheck = recheck
        self.watched = watched
        self.partOwners = partOwners
    }
}

extension JobRecord {
    /// Whether no other version of its source may be sent than the one it began with; of a watched file the ledger says
    /// which one that is.
    package var keepsVersion: Bool { watched == nil && spec.failsIfChanged }

    package func hasSpent(_ mirror: Int) -> Bool { spentMirrors & (1 << UInt64(min(63, mirror))) != 0 }

    /// A job that nobody has tried yet.
    package init(id: Int64, batch: Int64, identity: String, spec: Shared<JobSpec>, claimed: Int64) {
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
        sums = nil
        partOwners = nil
    }
}

/// A version of a file in a watched folder, as the ledger has it.
package struct WatchedVersion: Sendable, Hashable {
    package let history: Int64
    package let stamp: FileStamp
    package let digest: Checksum?
    /// Whether the server is asked for the digest of what it has.
    package let verifies: Bool
    /// How often it failed for good.
    package var failures = 0
    /// Of its bytes (``SourceFile/fingerprint(isStopped:)``), once they have been read.
    package var fingerprint: UInt64?
    /// An attempt may have sent it: whether these are the same bytes is asked of them, not of the file's times.
    package var mustProve = false

    package init(
        history: Int64, stamp: FileStamp, digest: Checksum?, verifies: Bool, failures: Int = 0,
        fingerprint: UInt64? = nil, mustProve: Bool = false
    ) {
        self.history = history
        self.stamp = stamp
        self.digest = digest
        self.verifies = verifies
        self.failures = failures
        self.fingerprint = fingerprint
        self.mustProve = mustProve
    }
}

/// How a job ended, for the store and for whoever listens.
package struct JobEnd: Sendable {
    package let id: Int64
    package let batch: Int64
    package let identity: String
    package var outcome: Outcome
    /// Of an upload's source, when its bytes were known to be what was sent (`st_ctim`): nanoseconds since 1970.
    package var sourceChanged: Int64?
    /// Of what was sent of it.
    package var sourceFingerprint: UInt64?
    /// Whether the job was for a version of a watched folder's file.
    package var isWatched = false
    /// Of one that failed in a watched folder: when it's tried again by itself.
    package var again: Duration?
    /// What is left of the file, of a download that didn't come to its end.
    package var resume: ResumeData?
    package var route: JobRoute?
    /// Whether somebody is told of it (`onFinish`).
    package var tellsHook = false
    /// The URL that was asked last, of one that failed; redacted.
    package var finalURL: String?
    /// What each URL of a download did that failed, where there were several.
    package var sources: [JobSource] = []

    package init(
        id: Int64, batch: Int64, identity: String, outcome: Outcome, sourceChanged: Int64? = nil,
        sourceFingerprint: UInt64? = nil, again: Duration? = nil, resume: ResumeData? = nil
    ) {
        self.id = id
        self.batch = batch
        self.identity = identity
        self.outcome = outcome
        self.sourceChanged = sourceChanged
        self.sourceFingerprint = sourceFingerprint
        self.again = again
        self.resume = resume
    }

    /// Behind one reference: an end goes through many hands.
    package indirect enum Outcome: Sendable {
        case done(JobReceipt, FileStamp?)
        /// Complete before: no transfer was needed.
        case kept(JobReceipt, FileStamp?)
        case failed(TransferError, attempts: Int, host: String?)
        case cancelled
        /// Of a watched folder: there is nothing to upload any more, as the file is gone or is another version.
        case dropped(isChanged: Bool)
    }

    /// What there is to say of a job that is complete; `nil` for any other end.
    package var completion: (receipt: JobReceipt, facts: FileStamp?)? {
        switch outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts): (receipt, facts)
        case .failed, .cancelled, .dropped: nil
        }
    }

    package var wasCancelled: Bool {
        if case .cancelled = outcome { true } else { false }
    }

    /// Whether nothing was moved, as the file was complete before.
    package var wasKept: Bool {
        if case .kept = outcome { true } else { false }
    }
}

/// A change of a job that goes on.
package struct JobStep: Sendable {
    package let id: Int64
    package var state: JobState
    package var attempts: Int
    package var mirror: Int
    package var spentMirrors: UInt64
    /// ``JobRecord/askedWait``
    package var askedWait = Duration.zero
    /// The end of its wait; for `waiting`.
    package var due: MonotonicTime?
    package var origin: String
    package var resume: ResumeData?
    package let batch: Int64
    package var identity = ""
    /// ``Lane/network``.
    package var network = ""
    /// ``Lane/tags``.
    package var tags = ""
    /// The part of a watched folder in it.
    package var watch = Watch.none
    /// Whether a server asked for the wait.
    package var isAsked = false
    /// What the last attempt came to, where that is why it waits.
    package var error: TransferError?
    package var route: JobRoute?

    package enum Watch: Sendable, Hashable {
        case none
        /// The job is for a version of a watched folder's file.
        case version
        /// The job is left to the processes that watch its folder, as this one can't reach its file.
        case leftToWatchers
    }

    package var isWatched: Bool { watch != .none }
    package var isForWatcher: Bool { watch == .leftToWatchers }

    package init(
        id: Int64, state: JobState, attempts: Int, mirror: Int, spentMirrors: UInt64,
        askedWait: Duration = Duration.zero, due: MonotonicTime? = nil, origin: String, resume: ResumeData? = nil,
        batch: Int64, identity: String = "", network: String = "", isAsked: Bool = false, error: TransferError? = nil
    ) {
        self.id = id
        self.state = state
        self.attempts = attempts
        self.mirror = mirror
        self.spentMirrors = spentMirrors
        self.askedWait = askedWait
        self.due = due
        self.origin = origin
        self.resume = resume
        self.batch = batch
        self.identity = identity
        self.network = network
        self.isAsked = isAsked
        self.error = error
    }
}
