import GRDB

/// A job of a watched folder, as the ledger's rows lead to it.
struct OpenJob {
    let id: Int64
    let ledger: Int64
    let identity: String
    let state: JobState
    let fingerprint: Int64
    let mayHaveArrived: Bool
    let upload: String?
    let spec: String
    let hasSecrets: Bool

    static let columns = """
        job.id, job.ledger, job.identity, job.state, job.fingerprint,
        job.state = \(JobStates.failed) AND job.errorCode = 'mayHaveBeenSent', job.upload, job.spec, job.hasSecrets
        """

    init(_ row: Row) {
        id = row[0]
        ledger = row[1]
        identity = row[2]
        state = JobState(stored: row[3])
        fingerprint = row[4]
        mayHaveArrived = row[5] ?? false
        upload = row[6]
        spec = row[7]
        hasSecrets = row[8]
    }

    var isClaimed: Bool { state == .claimed }
    /// Whether it's only tried again when somebody says so.
    var isLeftAlone: Bool { state == .cancelled || mayHaveArrived }
    var isOpen: Bool { !state.hasEnded }
}
