package import GRDB
package import TransferJobs
import TransferStore

/// A job of a watched folder, found by a row of the upload history.
package struct OpenJob {
    package let id: Int64
    package let history: Int64
    package let identity: String
    package let state: JobState
    package let fingerprint: Int64
    package let mayHaveArrived: Bool
    package let upload: String?
    package let spec: String
    package let hasSecrets: Bool

    package static let columns = """
        job.id, job.ledger, job.identity, job.state, job.fingerprint,
        job.state = \(JobStates.failed) AND job.errorCode = 'mayHaveBeenSent', job.upload, job.spec, job.hasSecrets
        """

    package init(_ row: Row) {
        id = row[stored: 0]
        history = row[stored: 1]
        identity = row[stored: 2]
        state = JobState(stored: row[stored: 3])
        fingerprint = row[stored: 4]
        mayHaveArrived = row[stored: 5] ?? false
        upload = row[stored: 6]
        spec = row[stored: 7]
        hasSecrets = row[stored: 8]
    }

    package var isClaimed: Bool { state == .claimed }
    /// Whether the job is tried again only by command.
    package var isLeftAlone: Bool { state == .cancelled || mayHaveArrived }
    package var isOpen: Bool { !state.hasEnded }
}
