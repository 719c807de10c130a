/// The metrics of a queue. Their names and labels are the same in every output.
package enum QueueMetric: String, Sendable, Hashable, CaseIterable {
    case buildInfo = "transfer_build_info"
    case jobs = "transfer_jobs"
    case jobsWaiting = "transfer_jobs_waiting"
    case oldestQueued = "transfer_oldest_queued_timestamp_seconds"
    case connections = "transfer_connections"
    case hostsPaused = "transfer_hosts_paused"
    case linkUp = "transfer_link_up"
    case linkMetered = "transfer_link_metered"
    case storeSize = "transfer_store_size_bytes"
    case folderPending = "transfer_folder_pending_files"
    case folderLastUpload = "transfer_folder_last_upload_timestamp_seconds"
    case jobsEnded = "transfer_jobs_ended_total"
    case failures = "transfer_failures_total"
    case bytes = "transfer_bytes_total"
    case refetched = "transfer_refetched_bytes_total"
    case attempts = "transfer_attempts_total"
    case responses = "transfer_responses_total"
    case throttled = "transfer_throttled_total"
    case linkBytes = "transfer_link_bytes_total"
    case leasesLost = "transfer_leases_lost_total"
    case hooks = "transfer_hooks_total"
    case folderUploads = "transfer_folder_uploads_total"
    case jobDuration = "transfer_job_duration_seconds"
    case firstByte = "transfer_first_byte_seconds"
    case storeCommit = "transfer_store_commit_duration_seconds"

    /// The names of a metric's labels, its kind, and its meaning.
    package struct Entry: Sendable {
        package let kind: MetricFamily.Kind
        package let labels: [String]
        package let help: String
        /// The bounds of a histogram, in seconds.
        package var bounds: [Double] = []
    }

    package var labels: [String] { entry.labels }

    package var entry: Entry {
        switch self {
        case .buildInfo: gauge("The versions of this program and of libcurl.", "version", "libcurl")
        case .jobs:
            gauge("Jobs of the batches of this run; the direction is told of those under way.", "state", "direction")
        case .jobsWaiting: gauge("Jobs that wait, by what most of their batch waits for.", "reason")
        case .oldestQueued: gauge("When the oldest job that hasn't ended was first seen in the queue.")
        case .connections: gauge("Connections that carry a transfer.")
        case .hostsPaused: gauge("Hosts that are left alone for a while.")
        case .linkUp: gauge("Whether the link is a way out.", "link", "kind")
        case .linkMetered: gauge("Whether the link's traffic is paid for.", "link")
        case .storeSize: gauge("The size of the queue's files.")
        case .folderPending: gauge("Files that wait to be uploaded.", "folder")
        case .folderLastUpload: gauge("When a file was last uploaded.", "folder")
        case .jobsEnded: counter("Ends of jobs.", "result", "direction")
        case .failures: counter("Jobs that failed for good.", "code")
        case .bytes: counter("Bytes of files that were moved.", "direction", "host")
        case .refetched: counter("Bytes that were given up and moved again.")
        case .attempts: counter("Attempts, by how they ended.", "protocol", "outcome")
        case .responses: counter("Answers that ended an attempt.", "class")
        case .throttled: counter("Attempts that a server put off.", "host")
        case .linkBytes: counter("Bytes of files by the link that they went over.", "link", "direction")
        case .leasesLost: counter("Times that another process took over what this one had.")
        case .hooks: counter("Attempts to tell a hook (onFinish).", "outcome")
        case .folderUploads: counter("Ends of uploads.", "folder", "result")
        case .jobDuration: times("How long complete transfers took.", Self.fromFilesToNights, "direction")
        case .firstByte:
            times("From a request's start, with its connection, to the first byte of its answer.", Self.ofAnswers)
        case .storeCommit: times("How long transactions of the queue's database took.", Self.ofCommits)
        }
    }

    private func gauge(_ help: String, _ labels: String...) -> Entry { Entry(kind: .gauge, labels: labels, help: help) }

    private func counter(_ help: String, _ labels: String...) -> Entry {
        Entry(kind: .counter, labels: labels, help: help)
    }

    private func times(_ help: String, _ bounds: [Double], _ labels: String...) -> Entry {
        Entry(kind: .histogram, labels: labels, help: help, bounds: bounds)
    }

    /// Bounds from a small file of a near server to a whole night.
    private static let fromFilesToNights = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400]
    private static let ofAnswers = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
    private static let ofCommits = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
}
