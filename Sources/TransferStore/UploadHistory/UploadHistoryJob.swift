package import TransferJobs

/// A job of a watched folder, with the values that the rules of the upload history need.
package struct UploadHistoryJob: Sendable, Hashable {
    package let id: Int64
    /// The version that the job uploads (``UploadHistoryEntry/id``).
    package let entry: Int64
    /// The identity of the job in its batch, empty for a job that is not stored yet.
    package var identity: String
    package var state: JobState
    package var lane: Lane
    /// The key of the job's destination (`JobSpec.destinationKey(directory:)`).
    package var destination: String
    package var fingerprint: Int64
    /// The job that has to end before this one starts.
    package var follows: Int64?
    /// Whether the body may have reached the server.
    package var mayHaveArrived = false
    /// Whether the job failed and is tried again at a time of its own.
    package var keepsTime = false

    package init(
        id: Int64, entry: Int64, identity: String, state: JobState, lane: Lane, destination: String,
        fingerprint: Int64 = 0, follows: Int64? = nil, mayHaveArrived: Bool = false, keepsTime: Bool = false
    ) {
        self.id = id
        self.entry = entry
        self.identity = identity
        self.state = state
        self.lane = lane
        self.destination = destination
        self.fingerprint = fingerprint
        self.follows = follows
        self.mayHaveArrived = mayHaveArrived
        self.keepsTime = keepsTime
    }

    /// The columns that a new job is stored with, beside those of its batch and its version.
    package static let stagedColumns: [JobColumn] = [
        .identity, .staging, .state, .priority, .origin, .network, .destination, .spec, .isUpload, .fingerprint,
        .hasSecrets, .follows, .needsLeft,
    ]

    /// Returns the value that a column gets when the job is staged, changed, or renewed (``JobTransition/renew``).
    ///
    /// - Parameters:
    ///   - spec: The specification by the present rules.
    ///   - rank: The priority among the jobs of the folder.
    package func value(_ column: JobColumn, _ spec: JobSpec, rank: Int) -> JobValue {
        switch column {
        case .identity: .text(spec.identity)
        case .staging: .number(0)
        case .state: JobValue(state.rawValue)
        case .isUpload: .flag(true)
        case .priority: JobValue(rank)
        case .origin: .text(lane.origin)
        case .network: .text(lane.network)
        case .destination: .text(destination)
        case .spec: .text(spec.redacted.canonicalJSON)
        case .fingerprint: .number(spec.fingerprint)
        case .hasSecrets: .flag(JobSecrets(spec) != nil)
        case .follows: JobValue(follows)
        // The followed job is counted as a need, so that a resumed job is blocked again.
        case .needsLeft: .number(follows == nil ? 0 : 1)
        default: .null
        }
    }

    package var isClaimed: Bool { state == .claimed }
    package var isOpen: Bool { !state.hasEnded }
    /// Whether only a command starts the job again.
    package var isLeftAlone: Bool { state == .cancelled || mayHaveArrived }

    /// A change of a stored job that continues.
    package enum Change: Sendable, Hashable {
        /// The job follows another job, or no job any longer. Its state may have changed too.
        case order
        /// The job uploads the file under the file's new name.
        case renamed
        /// The job has another priority.
        case ranked
        /// The job begins anew, under the current rules.
        ///
        /// - Parameter keepsUpload: Whether the data that the server already holds of the upload still counts.
        case renewed(keepsUpload: Bool)

        /// The columns that the change sets, where no ``JobTransition`` sets them.
        package var columns: [JobColumn] {
            switch self {
            case .order: [.follows]
            case .renamed: [.destination, .spec, .fingerprint]
            case .ranked: [.priority]
            case .renewed: []
            }
        }
    }
}
