/// A column of a job in every store: the only list of their names and types.
///
/// A store may spell a column in another way and may have further columns. `JobColumnTests` compares the list with the
/// tables of both stores.
package enum JobColumn: String, CaseIterable, Sendable {
    case id, batch, identity
    /// The count of the staging that named the job last.
    case staging
    case line, place, width, number, state, priority, origin, network, destination, spec, fingerprint
    case isUpload = "is_upload"
    case hasSecrets = "has_secrets"
    case networkPlaces = "network_places"
    /// The count of the jobs that the job still waits for.
    case needsLeft = "needs_left"
    /// The job of a watched folder that has to end before this one starts.
    case follows
    /// The process that has claimed the job, and the time of the claim.
    case owner, claimed
    case isSending = "is_sending"
    case wasInterrupted = "was_interrupted"
    /// The raw value of a `DestinationRule.Recheck`.
    case recheck
    case attempts
    case askedWait = "asked_wait"
    case mirror
    case spentMirrors = "spent_mirrors"
    /// The end of the job's wait.
    case notBefore = "not_before"
    case resume, upload, path, size, modified, digest, validator, transferred, seconds
    case finalURL = "final_url"
    case status, response, unproven
    case lengthUnproven = "length_unproven"
    case proofs, sums, sources
    case errorCode = "error_code"
    case errorMessage = "error_message"
    case host
    case endNumber = "end_number"
    case ended

    package enum Kind: Sendable {
        case number, flag, real, text, bytes
        /// The end of a wait, which a store may keep as several numbers.
        case wait
        /// An `UploadRecord` as text, with the parts of its rules that a store keeps.
        case upload
    }

    package var kind: Kind {
        switch self {
        case .isUpload, .hasSecrets, .isSending, .wasInterrupted, .lengthUnproven: .flag
        case .seconds: .real
        case .identity, .origin, .network, .destination, .spec, .networkPlaces, .resume, .path, .digest, .validator,
            .finalURL, .response, .proofs, .sources, .errorCode, .errorMessage, .host:
            .text
        case .sums: .bytes
        case .notBefore: .wait
        case .upload: .upload
        case .id, .batch, .staging, .line, .place, .width, .number, .state, .priority, .fingerprint, .needsLeft,
            .follows, .owner, .claimed, .recheck, .attempts, .askedWait, .mirror, .spentMirrors, .size, .modified,
            .transferred,
            .status, .unproven, .endNumber, .ended:
            .number
        }
    }

    /// Whether a job may have no value in the column.
    package var mayBeNull: Bool {
        switch self {
        case .id, .batch, .identity, .staging, .state, .priority, .origin, .network, .destination, .spec, .fingerprint,
            .isUpload, .hasSecrets, .needsLeft, .isSending, .wasInterrupted, .recheck, .attempts, .askedWait, .mirror,
            .spentMirrors:
            false
        default: true
        }
    }

    /// The columns that a fresh start resets: the count of attempts and the values that belong to it, the wait, and the
    /// end.
    package static let forgottenByFreshStart: [JobColumn] = [
        .attempts, .askedWait, .mirror, .spentMirrors, .notBefore, .endNumber, .errorCode, .errorMessage,
    ]

    /// The value of the column for a job without an attempt.
    package var neutral: JobChange.Value {
        switch self {
        case .attempts, .askedWait, .mirror, .spentMirrors, .needsLeft, .recheck: .number(0)
        case .isSending, .wasInterrupted: .flag(false)
        default: .null
        }
    }
}
