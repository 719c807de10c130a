package import TransferJobs

/// A job of a watched folder, as the rules of the upload history need it.
package struct UploadHistoryJob: Sendable, Hashable {
    package let id: Int64
    /// The version that it uploads (``UploadHistoryEntry/id``).
    package let entry: Int64
    /// Empty for a job that isn't stored yet.
    package var identity: String
    package var state: JobState
    package var lane: Lane
    /// `JobSpec.destinationKey(directory:)`
    package var destination: String
    package var fingerprint: Int64
    /// The job that has to end before this one starts.
    package var follows: Int64?
    /// Whether the body may have reached the server.
    package var mayHaveArrived = false
    /// A job that failed, and is tried again at its own time.
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

    package var isClaimed: Bool { state == .claimed }
    package var isOpen: Bool { !state.hasEnded }
    /// Whether it's only tried again by a command.
    package var isLeftAlone: Bool { state == .cancelled || mayHaveArrived }

    /// The change of a stored job that goes on.
    package enum Change: Sendable, Hashable {
        /// The job follows another one, or none any longer; its state may be another.
        case order
        /// The job uploads the file under the file's new name.
        case renamed
        /// The job has another priority.
        case ranked
        /// The job begins anew, by the rules of today.
        ///
        /// - Parameter keepsUpload: What its server holds of it counts still.
        case renewed(keepsUpload: Bool)
    }
}
