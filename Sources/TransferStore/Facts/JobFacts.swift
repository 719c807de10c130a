import TransferCore
package import TransferJobs
package import TransferScheduling

/// The store's facts about one job.
package struct JobFacts: Sendable {
    package let batch: String
    package let identity: String
    package var state: JobState
    package var spec: JobSpec
    /// The folder that the batch's relative paths start from.
    package var directory = ""
    /// The job file that the batch came from.
    package var source: String?
    package var origin = ""
    /// The key of the job's network rules (``/TransferJobs/Lane/network``).
    package var network = ""
    /// The places in the job file that name its network rules.
    package var places = NetworkPlaces()
    /// The rest of the wait for the next attempt, which a failed file of a watched folder may have, too.
    package var remaining: Duration?
    package var upload: UploadRecord?
    package var attempts = Attempts()
    package var needs: [JobExplanation.Need] = []
    /// The process that runs the batch; `nil` when none that is alive does.
    package var run: Run?
    /// The pause that a server asked for, whichever process received the request.
    package var pause: StoredPause?
    /// The lack of a worker that may do the job; `nil` where there is such a worker.
    package let lack: WorkerLack?
    package var links = Links()
    /// The work of each URL of a download, now or in the run that ended it.
    package var sources: [JobSource] = []

    package init(batch: String, identity: String, state: JobState, spec: JobSpec, lack: WorkerLack? = nil) {
        self.lack = lack
        self.batch = batch
        self.identity = identity
        self.state = state
        self.spec = spec
    }

    /// The results of the attempts so far.
    package struct Attempts: Sendable {
        package var count = 0
        package var mirror = 0
        /// The path of the file, once it is complete.
        package var path: String?
        package var errorCode: String?
        package var errorMessage: String?
        package var host: String?
        /// The URL that was asked last, of a job that has ended.
        package var finalURL: String?
        /// The time at which the file is moved or deleted (``JobExplanation/settles``).
        package var settles: Int64?

        package init(
            count: Int = 0, mirror: Int = 0, path: String? = nil, errorCode: String? = nil,
            errorMessage: String? = nil, host: String? = nil, finalURL: String? = nil
        ) {
            self.count = count
            self.mirror = mirror
            self.path = path
            self.errorCode = errorCode
            self.errorMessage = errorMessage
            self.host = host
            self.finalURL = finalURL
        }
    }

    /// A live process, and its last report on the batch and on the job.
    package struct Run: Sendable {
        package let pid: Int32
        /// The number of the batch's transfers under way.
        package var active = 0
        /// The reason why the network keeps the whole batch waiting; `nil` where it does not.
        package var batchWait: String?
        /// Whether the job's transfer is among those under way.
        package var isUnderWay = false
        /// The pause of the job's origin.
        package var hostWait: HostWait?
        /// The network's reason for keeping jobs with this job's rules waiting, and the time since when it does.
        package var networkWait: (since: WallTime, reason: String)?

        package init(
            pid: Int32, active: Int = 0, batchWait: String? = nil, isUnderWay: Bool = false,
            hostWait: HostWait? = nil, networkWait: (since: WallTime, reason: String)? = nil
        ) {
            self.pid = pid
            self.active = active
            self.batchWait = batchWait
            self.isUnderWay = isUnderWay
            self.hostWait = hostWait
            self.networkWait = networkWait
        }
    }

    /// The facts about this machine's links.
    package struct Links: Sendable {
        /// The bytes that metered links carried.
        package var usage = MeteredUsage()
        package var silent: [String: LinkHealth.Suspicion] = [:]

        package init(usage: MeteredUsage = MeteredUsage(), silent: [String: LinkHealth.Suspicion] = [:]) {
            self.usage = usage
            self.silent = silent
        }
    }
}
