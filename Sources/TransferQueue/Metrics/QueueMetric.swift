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
            gauge(
                "The number of jobs in the batches of this run. Jobs under way have a direction.", "state", "direction")
        case .jobsWaiting:
            gauge(
                "The number of jobs that wait, by the reason for which most jobs of the batch wait.", "reason")
        case .oldestQueued: gauge("The time when the oldest job that has not ended was first seen in the queue.")
        case .connections: gauge("The number of connections that carry a transfer.")
        case .hostsPaused: gauge("The number of hosts that get no requests during a pause.")
        case .linkUp: gauge("Whether servers can be reached over the link (1) or not (0).", "link", "kind")
        case .linkMetered: gauge("Whether the link is metered (1) or not (0).", "link")
        case .storeSize: gauge("The size of the queue's files, in bytes.")
        case .folderPending: gauge("The number of files that wait to be uploaded.", "folder")
        case .folderLastUpload: gauge("The time when a file was last uploaded.", "folder")
        case .jobsEnded: counter("The number of jobs that ended.", "result", "direction")
        case .failures: counter("The number of jobs that failed for good.", "code")
        case .bytes: counter("The number of bytes of files that were transferred.", "direction", "host")
        case .refetched: counter("The number of bytes that were discarded and transferred again.")
        case .attempts: counter("The number of attempts, by their outcome.", "protocol", "outcome")
        case .responses: counter("The number of answers that ended an attempt.", "class")
        case .throttled: counter("The number of attempts that a server throttled (429 or Retry-After).", "host")
        case .linkBytes: counter("The number of bytes of files, by the link that carried them.", "link", "direction")
        case .leasesLost: counter("The number of times that another process took over the jobs of this process.")
        case .hooks: counter("The number of attempts to call a hook (onFinish).", "outcome")
        case .folderUploads: counter("The number of uploads that ended.", "folder", "result")
        case .jobDuration: times("The duration of complete transfers.", Self.fromFilesToNights, "direction")
        case .firstByte:
            times(
                "The time from the start of a request, connection included, to the first byte of its answer.",
                Self.ofAnswers)
        case .storeCommit: times("The duration of transactions of the queue's database.", Self.ofCommits)
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
