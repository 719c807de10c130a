import CTransferLinux
import Glibc
public import Logging
public import TransferCore
import TransferEngine
import TransferEventLoop
public import TransferJobs
public import TransferReachability

/// The settings by which a queue is opened.
public struct QueueConfiguration: Sendable {
    /// The folder of the queue; it is made (0700) if it is missing. It must not be on a network file system.
    public var state: String
    /// The limits on concurrent transfers and their rates.
    public var limits: BatchLimits
    /// The number of threads that carry transfers; 0 means one per core, at most 4. With fewer than three cores, the
    /// queue's own thread then carries small uploads.
    public var loops = 0
    /// The number of cores of this machine.
    var cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    /// The source of random numbers from 0 up to 1, which spread the delays of retries.
    var random: @Sendable () -> Double = { .random(in: 0..<1) }
    /// The User-Agent of jobs that set none.
    public var userAgent: String
    /// The proxies of jobs that name none.
    public var proxies = ProxyRule.none
    /// The source of the secrets that jobs name.
    public var secrets = SecretSource()
    /// The key of secrets that the queue stores encrypted; `nil` where no such secrets can be read.
    public var sealingKey: SealingKey?
    /// The commands that jobs and batches may name as their `onFinish`.
    public var hooks = HookSettings()
    /// The connection settings of webhooks (`onFinish`), besides those of their jobs: proxies, TLS, and logins of its
    /// sections. Other requests ignore it, because jobs received their settings when they were read.
    public var configuration = Configuration()
    /// A private folder for the socket on which other processes ring this one (`XDG_RUNTIME_DIR`).
    public var runtimeFolder: String?
    /// The links that the user declares metered, besides those known as such from NetworkManager or their kind.
    public var meteredRule = MeteredRule()
    /// Whether this machine's clock is synchronized; by default as the kernel reports. While it is not (such as after a
    /// boot), a certificate that is not valid yet leads to a wait instead of a failure.
    public var isClockSynchronised: @Sendable () -> Bool = { transfer_clock_is_synchronised() != 0 }
    /// The time of such a wait until the next check.
    public var clockInterval = Duration.seconds(10)
    /// The logger of the queue, called from the queue's own thread. Final failures are `warning`, waits of batches
    /// `notice`, starts, ends and retries `info`, and single jobs `debug`. The metadata has `batch`, `job`, `code`,
    /// `status`, `url` and others, with secrets redacted. The logger's level at the opening decides which events are
    /// observed.
    public var logger: Logger
    /// The time between progress reports of jobs under way; `nil` for none.
    public var progressInterval: Duration? = .milliseconds(500)

    /// Creates settings with the default values for all other properties.
    ///
    /// - Parameters:
    ///   - state: The folder of the queue.
    ///   - limits: The limits on concurrent transfers and their rates.
    ///   - logger: The logger of the queue.
    public init(state: String, limits: BatchLimits = BatchLimits(), logger: Logger = Logger(label: "TransferKit")) {
        self.state = state
        self.limits = limits
        self.logger = logger
        userAgent = "TransferKit/\(TransferVersion.current)"
    }
}

extension QueueConfiguration {
    /// Makes the engine of a queue.
    ///
    /// - Parameter loop: The queue's own loop, which carries small uploads on few cores.
    func engine(sharing loop: EventLoop) throws -> ExchangeEngine {
        // On few cores, one more thread only hinders, since each job alternates between the queue and its transfer.
        let shares = loops == 0 && cores < 3
        return try ExchangeEngine(loops: loops > 0 ? loops : min(4, cores), sharing: shares ? loop : nil)
    }
}
