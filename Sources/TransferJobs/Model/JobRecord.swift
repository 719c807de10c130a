package import TransferCore
import TransferEngine

/// A job from the store: its description and the results of earlier attempts.
package struct JobRecord: Sendable {
    package let id: Int64
    package let batch: Int64
    package let identity: String
    @Shared package var spec: JobSpec
    /// The number of attempts so far that count as retries.
    package var attempts: Int
    /// The total time of waits that servers asked for since the last byte became durable.
    package var askedWait = Duration.zero
    /// The index of the download's URL that is tried now.
    package var mirror: Int
    /// The URLs that failed permanently, one bit each.
    package var spentMirrors: UInt64
    /// The last attempt's record, where the file system cannot store it with the file.
    package var resume: ResumeData?
    /// The record of an interrupted upload.
    package var upload: UploadRecord?
    /// The destination's metadata when this job last wrote it.
    package var facts: FileStamp?
    /// The checksum that was recorded at that time.
    package var digest: Checksum?
    package var validator: String?
    /// The sums of the file's pieces, for a job that is to repair the file.
    package let sums: PieceSumList?
    /// The resource from which the sums came.
    package var place: AnsweredPlace?
    /// Whether a process died while it had claimed this job.
    package var wasInterrupted: Bool
    /// The time of the claim, in milliseconds since 1970; after the death of a process, the time of that process's
    /// claim.
    package var claimed: Int64
    /// The reason why a job that was complete is done again.
    package var recheck: DestinationRule.Recheck
    /// The version to upload, for a file in a watched folder; no other version counts as this job.
    package var watched: WatchedVersion?
    /// The processes that may have left partial files; `nil` where no other process works on the queue.
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
    /// Whether only the version of the source with which the job began may be sent. For a watched file, the upload
    /// history has that version.
    package var keepsVersion: Bool { watched == nil && spec.failsIfChanged }

    package func hasSpent(_ mirror: Int) -> Bool { spentMirrors & (1 << UInt64(min(63, mirror))) != 0 }

    /// Creates the record of a job that has not been tried.
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

/// A version of a file in a watched folder, as recorded in the upload history.
package struct WatchedVersion: Sendable, Hashable {
    package let history: Int64
    package let stamp: FileStamp
    package let digest: Checksum?
    /// Whether the server is asked for the digest of the uploaded file.
    package let verifies: Bool
    /// The number of permanent failures.
    package var failures = 0
    /// The fingerprint of the file's bytes (``SourceFile/fingerprint(isStopped:)``), once they have been read.
    package var fingerprint: UInt64?
    /// Whether an attempt may have sent the file. Its identity is then checked by the bytes, not by the file's times.
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

/// The end of a job, for the store and for listeners.
package struct JobEnd: Sendable {
    package let id: Int64
    package let batch: Int64
    package let identity: String
    package var outcome: Outcome
    /// The change time (`st_ctim`) of an upload's source at which its bytes were known to be those sent, in nanoseconds
    /// since 1970.
    package var sourceChanged: Int64?
    /// The fingerprint of the bytes sent from the source.
    package var sourceFingerprint: UInt64?
    /// Whether the job was for a version of a watched folder's file.
    package var isWatched = false
    /// The delay of the automatic retry, for a failed file of a watched folder.
    package var again: Duration?
    /// The record of the partial file, for a download that was not completed.
    package var resume: ResumeData?
    /// The upload record that the last attempt left. A complete job has none.
    package var upload = UploadChange.none
    package var route: JobRoute?
    /// Whether a hook is to be called (`onFinish`).
    package var tellsHook = false
    /// The last URL requested, for a failed job; without secrets.
    package var finalURL: String?
    /// The reports on the URLs of a failed download that had several.
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

    /// The outcome, stored behind a reference because an end is passed on many times.
    package indirect enum Outcome: Sendable {
        case done(JobReceipt, FileStamp?)
        /// The job was complete before, so no transfer was needed.
        case kept(JobReceipt, FileStamp?)
        case failed(TransferError, attempts: Int, host: String?)
        case cancelled
        /// A watched file is no longer to be uploaded, because it is gone or has another version.
        case dropped(isChanged: Bool)
    }

    /// The receipt and the metadata of a completed job; `nil` for any other end.
    package var completion: (receipt: JobReceipt, facts: FileStamp?)? {
        switch outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts): (receipt, facts)
        case .failed, .cancelled, .dropped: nil
        }
    }

    package var wasCancelled: Bool {
        if case .cancelled = outcome { true } else { false }
    }

    /// Whether nothing was transferred, because the file was complete before.
    package var wasKept: Bool {
        if case .kept = outcome { true } else { false }
    }
}

/// A change of a job that has not ended.
package struct JobStep: Sendable {
    package let id: Int64
    package var state: JobState
    package var attempts: Int
    package var mirror: Int
    package var spentMirrors: UInt64
    /// The value of ``JobRecord/askedWait``.
    package var askedWait = Duration.zero
    /// The end of the wait, for the state `waiting`.
    package var due: MonotonicTime?
    package var origin: String
    package var resume: ResumeData?
    /// The upload record that the attempt left.
    package var upload = UploadChange.none
    package let batch: Int64
    package let identity: String
    /// The value of ``Lane/network``.
    package let network: String
    /// The value of ``Lane/tags``.
    package var tags = ""
    /// The part that a watched folder has in the job.
    package var watch = Watch.none
    /// Whether a server asked for the wait.
    package var isAsked = false
    /// The error of the last attempt, where that is the reason for the wait.
    package var error: TransferError?
    package var route: JobRoute?
    /// The value of ``JobEnd/tellsHook``, for a job that is cancelled before its step is recorded.
    package var tellsHook = false

    package enum Watch: Sendable, Hashable {
        case none
        /// The job is for a version of a watched folder's file.
        case version
        /// The job is left to the processes that watch its folder, because this process cannot reach its file.
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
