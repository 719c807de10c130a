import CTransferLinux
import Glibc
public import Logging
public import TransferCore
public import TransferJobs
public import TransferReachability

/// How a queue is opened.
public struct QueueConfiguration: Sendable {
    /// The folder that holds the queue; made (0700) when it's missing. Not on a network file system.
    public var state: String
    public var limits: BatchLimits
    /// Threads that carry transfers; 0 is one per core, at most 4. With fewer than three cores the queue's
    /// own carries small uploads then.
    public var loops = 0
    /// Of this machine.
    var cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    /// Sent as User-Agent unless a job sets its own.
    public var userAgent: String
    /// The proxies of jobs that name none.
    public var proxies = ProxyRule.none
    /// Where secrets that jobs name are read from.
    public var secrets = SecretSource()
    /// What the commands are that jobs and batches name as their `onFinish`.
    public var hooks = HookSettings()
    /// How the servers of webhooks (`onFinish`) are reached, beside what their jobs say: proxies, TLS, logins of sections.
    /// Jobs have theirs since they were read.
    public var configuration = Configuration()
    /// A private folder for the socket by which other processes ring this one (`XDG_RUNTIME_DIR`).
    public var runtimeFolder: String?
    /// Links that are metered by the user's word, beside those that NetworkManager or their kind says are.
    public var meteredRule = MeteredRule()
    /// Whether somebody keeps this machine's clock; the kernel's word by default. Where nobody does yet (a device that
    /// has just started), a certificate that isn't valid yet is waited for, and not a failure.
    public var isClockSynchronised: @Sendable () -> Bool = { transfer_clock_is_synchronised() != 0 }
    /// How long such a wait is, until the next look.
    public var clockInterval = Duration.seconds(10)
    /// Is told what happens, from the queue's own thread: failures for good as `warning`, waits of batches as `notice`,
    /// beginnings, ends and retries as `info`, single jobs as `debug`; with `batch`, `job`, `code`, `status`, `url` … as
    /// metadata. Secrets are redacted. Its level as the queue is opened decides whether there is anything to tell.
    public var logger: Logger
    /// How often jobs under way report their progress; `nil` for never.
    public var progressInterval: Duration? = .milliseconds(500)

    public init(state: String, limits: BatchLimits = BatchLimits(), logger: Logger = Logger(label: "TransferKit")) {
        self.state = state
        self.limits = limits
        self.logger = logger
        userAgent = "TransferKit/\(TransferVersion.current)"
    }
}
