package import TransferJobs

/// The transitions of a job's stored state, by name.
package enum JobTransition: String, CaseIterable, Sendable {
    // MARK: Commands, for jobs that no process has claimed
    case pause
    case resume
    case cancel
    case retry
    case retryFailed
    /// A failed file of a watched folder is tried again automatically.
    case wakeFailed
    /// A job of a batch that is staged anew.
    case restage
    /// A job that was just staged is paused.
    case pauseStaged

    // MARK: Watched folders
    /// A job begins anew, under the present rules of its folder.
    case renew
    /// The same, for a job whose upload stays the same: the record of the upload stays.
    case renewSame

    // MARK: Claims and returns
    case claim
    /// A claimed job is given back unstarted.
    case release
    /// A process that ends gives its job back.
    case giveBack
    /// The job of a lost process is given back. Its files may have been changed.
    case recover
    case wake

    // MARK: Needs
    case block
    case unblock
    case skip
    /// A skipped job may start again, because no job that it needs has ended without success.
    case revive
    /// A job that is complete, or whose file was already present, is done again.
    case redo

    // MARK: Records of claimed jobs
    case step
    case complete
    /// The file was already complete. The known sources are those of its download.
    case keep
    case fail
    /// The source of an upload changed. The record of the upload stays, and the next attempt decides about it.
    case failOfChangedSource
    /// A claimed job is cancelled.
    case abort
    /// The process ended while a body that must not be sent twice was being sent.
    case interrupt

    package var change: JobChange { Self.changes[self] ?? JobChange(from: [], to: .given) }

    private static let changes = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.made) })

    private static let unclaimed = JobStates.unclaimedStates

    private var made: JobChange {
        switch self {
        case .pause: JobChange(from: QueueVerb.pause.states, to: .state(.paused))
        case .resume: JobChange(from: QueueVerb.resume.states, to: .readyOrBlocked, [.notBefore: .null])
        case .cancel:
            JobChange(
                from: QueueVerb.cancel.states, to: .state(.cancelled),
                [.ended: .now, .notBefore: .null, .endNumber: .nextEndNumber, .upload: .keptIfItContinues])
        case .retry: JobChange(from: QueueVerb.retry.states, to: .readyOrBlocked, isFreshStart: true)
        case .retryFailed: JobChange(from: QueueVerb.retryFailed.states, to: .readyOrBlocked, isFreshStart: true)
        case .wakeFailed: JobChange(from: [.failed], to: .state(.queued), isFreshStart: true)
        case .pauseStaged: JobChange(from: [.queued, .blocked], to: .state(.paused))
        case .claim:
            JobChange(
                from: [.queued], to: .state(.claimed), [.owner: .given, .claimed: .nowUnlessInterrupted])
        case .release:
            JobChange(from: [.claimed], to: .state(.queued), [.owner: .null, .isSending: .flag(false)])
        case .giveBack: JobChange(from: [.claimed], to: .state(.queued), [.owner: .null])
        case .recover:
            JobChange(from: [.claimed], to: .state(.queued), [.owner: .null, .wasInterrupted: .flag(true)])
        case .wake: JobChange(from: [.waiting], to: .state(.queued), [.notBefore: .null])
        case .block: JobChange(from: [.queued], to: .state(.blocked))
        case .unblock: JobChange(from: [.blocked], to: .state(.queued))
        case .skip:
            JobChange(
                from: Self.unclaimed, to: .state(.skipped),
                [.errorMessage: .given, .ended: .now, .endNumber: .nextEndNumber])
        case .revive: JobChange(from: [.skipped], to: .state(.queued), isFreshStart: true)
        case .redo:
            JobChange(
                from: [.done] + JobState.repairable, to: .state(.queued), [.recheck: .given], isFreshStart: true)
        case .restage: restaged
        case .renew: renewed([.upload: .null])
        case .renewSame: renewed([:])
        case .step, .complete, .keep, .fail, .failOfChangedSource, .abort, .interrupt: recorded
        }
    }

    private var restaged: JobChange {
        JobChange(
            from: JobState.allCases, to: .given,
            [
                .staging: .given, .line: .given, .place: .given, .width: .given, .number: .given, .priority: .given,
                .origin: .given, .network: .given, .destination: .given, .spec: .given, .isUpload: .given,
                .fingerprint: .given, .hasSecrets: .given, .networkPlaces: .given,
                .askedWait: .kept(if: .countContinues), .attempts: .kept(if: .countContinues),
                .endNumber: .kept(if: .staysEnded), .mirror: .number(0), .spentMirrors: .number(0),
                .notBefore: .kept(if: .stays), .needsLeft: .number(0), .wasInterrupted: .kept(if: .keepsInterruption),
                // Bytes of another source cannot be continued, and their digest is worthless.
                .resume: .kept(if: .isUnchanged), .upload: .kept(if: .isUnchanged), .digest: .kept(if: .isUnchanged),
                .validator: .kept(if: .isUnchanged),
            ])
    }

    /// Returns the change of a job of a watched folder that no process has claimed and that is not left alone.
    private func renewed(_ more: KeyValuePairs<JobColumn, JobChange.Value>) -> JobChange {
        JobChange(
            from: JobState.allCases.filter { $0 != .claimed && $0 != .cancelled }, to: .given,
            [
                .priority: .given, .origin: .given, .network: .given, .destination: .given, .spec: .given,
                .fingerprint: .given, .hasSecrets: .given, .follows: .given, .needsLeft: .given,
            ], isFreshStart: true
        ).adding(more)
    }

    private var recorded: JobChange {
        switch self {
        case .step:
            JobChange(
                from: [.claimed], to: .given,
                [
                    .owner: .null, .isSending: .flag(false), .attempts: .given, .mirror: .given,
                    .spentMirrors: .given, .notBefore: .given, .askedWait: .given, .origin: .given, .resume: .given,
                    .errorCode: .given, .errorMessage: .given,
                ])
        case .complete: complete([.sources: .given])
        case .keep: complete([:])
        case .fail: failed([.upload: .keptIfItContinues])
        case .failOfChangedSource: failed([:])
        case .abort:
            JobChange(
                from: [.claimed], to: .state(.cancelled),
                [
                    .owner: .null, .isSending: .flag(false), .endNumber: .nextEndNumber, .ended: .now,
                    .resume: .givenOrKept, .upload: .keptIfItContinues,
                ])
        default:
            JobChange(
                from: [.claimed], to: .state(.failed),
                [
                    .owner: .null, .isSending: .flag(false), .wasInterrupted: .flag(true), .errorCode: .given,
                    .errorMessage: .given, .endNumber: .nextEndNumber, .ended: .now, .upload: .keptIfItContinues,
                ])
        }
    }

    private func complete(_ more: KeyValuePairs<JobColumn, JobChange.Value>) -> JobChange {
        JobChange(
            from: [.claimed], to: .state(.done),
            [
                .owner: .null, .isSending: .flag(false), .wasInterrupted: .flag(false), .recheck: .number(0),
                .resume: .null, .upload: .null, .errorCode: .null, .errorMessage: .null, .path: .given, .size: .given,
                .modified: .given, .digest: .given, .validator: .given, .transferred: .given, .seconds: .given,
                .finalURL: .given, .status: .given, .response: .given, .attempts: .given, .unproven: .given,
                .lengthUnproven: .given, .proofs: .given, .endNumber: .nextEndNumber, .ended: .now,
                .sums: .givenOrKeptForSameFile,
            ]
        ).adding(more)
    }

    private func failed(_ more: KeyValuePairs<JobColumn, JobChange.Value>) -> JobChange {
        JobChange(
            from: [.claimed], to: .state(.failed),
            [
                .owner: .null, .isSending: .flag(false), .wasInterrupted: .flag(false), .errorCode: .given,
                .errorMessage: .given, .status: .given, .host: .given, .attempts: .given, .finalURL: .given,
                .endNumber: .nextEndNumber, .ended: .now, .notBefore: .given, .resume: .given, .sources: .given,
            ]
        ).adding(more)
    }
}

extension JobTransition {
    /// The transition of jobs that no process has claimed.
    package init(_ verb: QueueVerb) {
        self =
            switch verb {
            case .pause: .pause
            case .resume: .resume
            case .cancel: .cancel
            case .retry: .retry
            case .retryFailed: .retryFailed
            }
    }
}
