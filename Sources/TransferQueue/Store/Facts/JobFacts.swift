import TransferCore

/// What the store knows of a job that somebody asks about.
struct JobFacts: Sendable {
    var batch: String
    var directory = ""
    var source: String?
    /// The process that runs the batch, when it's alive.
    var pid: Int32?
    /// Transfers of the batch that are under way.
    var active = 0
    /// Why the network keeps the whole batch.
    var batchWait: String?
    var identity: String
    var state: JobState
    var spec: JobSpec
    var attempts = 0
    var mirror = 0
    /// What is left of the wait for its next attempt, or until a failed file is tried again by itself.
    var remaining: Duration?
    /// Whether the last report of the process that runs it has its transfer among those under way.
    var isUnderWay = false
    var origin = ""
    /// ``Lane/network``.
    var network = ""
    var places = NetworkPlaces()
    var path: String?
    var upload: UploadRecord?
    var errorCode: String?
    var errorMessage: String?
    var host: String?
    var needs: [JobExplanation.Need] = []
    /// What a server asked for, whichever process heard it.
    var pause: StoredPause?
    /// The pause of the job's origin, as the running process has it.
    var hostWait: HostWait?
    /// Since when the running process keeps what has the job's rules waiting.
    var networkWait: (since: WallTime, reason: String)?
    /// What metered links carried.
    var usage = MeteredUsage()
    var silentLinks: [String: LinkHealth.Suspicion] = [:]
}
