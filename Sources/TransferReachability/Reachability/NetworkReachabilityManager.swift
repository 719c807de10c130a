public import Dispatch
import Synchronization
import TransferCore

/// The observation of whether the machine has a route to the network, or to one host, based on the kernel's route
/// netlink.
///
///     let manager = NetworkReachabilityManager(host: "www.example.org")
///     manager?.startListening { status in
///         print("Network Status Changed: \(status)")
///     }
///
/// A released manager reports nothing, so keep a reference to it. A route does not mean that a host responds: never
/// refuse an attempt because of it. ``NetworkMonitor`` reports more: links, addresses and routes.
public final class NetworkReachabilityManager: Sendable {
    /// The reachability of the network, or of one host.
    public enum NetworkReachabilityStatus: Sendable, Hashable {
        /// The kernel could not be asked, or a host's name is still being resolved.
        case unknown
        /// There is no route.
        case notReachable
        /// There is a route.
        case reachable(ConnectionType)

        /// The type of the connection.
        public enum ConnectionType: Sendable, Hashable {
            /// At least one route uses no modem.
            case ethernetOrWiFi
            /// All routes use modems, possibly beneath a tunnel.
            case cellular
        }
    }

    /// A closure that receives each new status.
    @preconcurrency
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// The manager for the network as a whole; `nil` where the kernel offers no netlink.
    public static let `default` = NetworkReachabilityManager()

    /// The queue on which each change is evaluated before listeners are called.
    public let reachabilityQueue = DispatchQueue(label: "transferkit.reachability")
    private let monitor: NetworkMonitor
    private let host: HostRoute?
    private let listening = Mutex<Listening?>(nil)

    /// Creates a manager for the network as a whole.
    ///
    /// - Returns: `nil` where the kernel offers no netlink.
    public convenience init?() { self.init(monitor: .shared, host: nil) }

    /// Creates a manager for one host, for whose route the kernel is asked. Loopback destinations are always reachable,
    /// and neighbours need no default route.
    ///
    /// The name is resolved in the background, and again at each change of the network while it is unknown.
    ///
    /// - Parameter host: A name or an address, without a scheme or a port.
    /// - Returns: `nil` where the kernel offers no netlink, or where `host` is empty.
    public convenience init?(host: String) {
        guard !host.isEmpty else { return nil }
        self.init(monitor: .shared, host: HostRoute(host: host))
    }

    init?(monitor: NetworkMonitor, host: HostRoute?) {
        guard NetlinkSocket() != nil else { return nil }
        self.monitor = monitor
        self.host = host
        host?.lookUp()
    }

    deinit { stopListening() }

    /// The current status. The kernel is asked, which takes well under a millisecond on most machines; a listening
    /// manager returns its last report.
    ///
    /// A host is `unknown` until its name has been resolved, for which this property does not wait.
    public var status: NetworkReachabilityStatus {
        if let reported = listening.withLock({ $0 })?.last { return reported }
        guard let snapshot = monitor.asked() else { return .unknown }
        guard let host else { return snapshot.status }
        host.lookUp()
        return host.status(in: snapshot)
    }

    /// The ``status`` in the form of Apple's SystemConfiguration; `nil` while it is unknown.
    public var flags: SCNetworkReachabilityFlags? { SCNetworkReachabilityFlags(status) }

    /// Whether there is any route.
    public var isReachable: Bool { if case .reachable = status { true } else { false } }

    /// Whether modems provide the only routes.
    public var isReachableOnCellular: Bool { status == .reachable(.cellular) }

    /// Whether there is a route without a modem.
    public var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// Calls `listener` with the current status, and then with each different one.
    ///
    /// The listener replaces an earlier one.
    ///
    /// - Parameter queue: The queue on which the listener is called.
    /// - Returns: Whether the kernel will report changes.
    @preconcurrency
    @discardableResult
    public func startListening(onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener)
        -> Bool
    {
        stopListening()
        guard NetlinkSocket() != nil else { return false }
        let listening = Listening(host: host, queue: queue, listener: listener)
        let old = self.listening.withLock { exchange(&$0, with: listening) }
        old?.stop()
        listening.start(monitor, on: reachabilityQueue)
        return true
    }

    /// Stops the reports. The listener is not called afterwards, except for a call that is in progress.
    public func stopListening() {
        let old = listening.withLock { $0.take() }
        old?.stop()
    }
}

/// A listener with its last report.
private final class Listening: Sendable {
    private struct State {
        var observation: NetworkObservation?
        var snapshot: NetworkSnapshot?
        var last: NetworkReachabilityManager.NetworkReachabilityStatus?
        var isStopped = false
    }

    private let host: HostRoute?
    private let queue: DispatchQueue
    private let listener: NetworkReachabilityManager.Listener
    private let state = Mutex(State())

    init(host: HostRoute?, queue: DispatchQueue, listener: @escaping NetworkReachabilityManager.Listener) {
        self.host = host
        self.queue = queue
        self.listener = listener
    }

    var last: NetworkReachabilityManager.NetworkReachabilityStatus? { state.withLock { $0.last } }

    func start(_ monitor: NetworkMonitor, on queue: DispatchQueue) {
        let observation = monitor.observe(on: queue) { [weak self] in self?.take($0) }
        let isStopped = state.withLock { state in
            state.observation = observation
            return state.isStopped
        }
        if isStopped { observation.cancel() }
    }

    func stop() {
        let observation = state.withLock { state in
            state.isStopped = true
            return state.observation.take()
        }
        observation?.cancel()
    }

    private func take(_ snapshot: NetworkSnapshot) {
        state.withLock { $0.snapshot = snapshot }
        // The resolution starts before the report, which then includes a name resolved meanwhile.
        host?.lookUp { [weak self] in self?.report() }
        report()
    }

    private func report() {
        // The lock covers the whole report: two threads report, and the later report must be the newer one.
        state.withLock { state in
            guard !state.isStopped, let snapshot = state.snapshot else { return }
            let status = host?.status(in: snapshot) ?? snapshot.status
            guard state.last != status else { return }
            state.last = status
            queue.async { [self] in if !self.state.withLock({ $0.isStopped }) { listener(status) } }
        }
    }
}
