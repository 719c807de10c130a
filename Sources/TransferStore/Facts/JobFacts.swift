import TransferCore

/// The store's facts about one job.
struct JobFacts: Sendable {
    let batch: String
    let identity: String
    var state: JobState
    var spec: JobSpec
    /// The folder that the batch's relative paths start from.
    var directory = ""
    /// The job file that the batch came from.
    var source: String?
    var origin = ""
    /// ``Lane/network``.
    var network = ""
    /// The places in the job file that name its network rules.
    var places = NetworkPlaces()
    /// The rest of the wait for its next attempt, or until a failed file is tried again by itself.
    var remaining: Duration?
    var upload: UploadRecord?
    var attempts = Attempts()
    var needs: [JobExplanation.Need] = []
    /// The process that runs the batch; `nil` when none that is alive does.
    var run: Run?
    /// The pause that a server asked for, whichever process heard it.
    var pause: StoredPause?
    var links = Links()

    /// The results of the attempts so far.
    struct Attempts: Sendable {
        var count = 0
        var mirror = 0
        /// The file, once it's complete.
        var path: String?
        var errorCode: String?
        var errorMessage: String?
        var host: String?
    }

    /// A process that lives, and what it said last of the batch and of the job.
    struct Run: Sendable {
        let pid: Int32
        /// Transfers of the batch that are under way.
        var active = 0
        /// Why the network keeps the whole batch.
        var batchWait: String?
        /// Whether the job's transfer is among those under way.
        var isUnderWay = false
        /// The pause of the job's origin.
        var hostWait: HostWait?
        /// Since when it keeps what has the job's rules waiting.
        var networkWait: (since: WallTime, reason: String)?
    }

    /// The knowledge about this machine's links.
    struct Links: Sendable {
        /// The bytes that metered links carried.
        var usage = MeteredUsage()
        var silent: [String: LinkHealth.Suspicion] = [:]
    }
}
