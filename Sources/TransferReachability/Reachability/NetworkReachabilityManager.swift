public import Dispatch
import Synchronization
import TransferCore

/// Tells whether the machine has a way to the network, or to one host, and when that changes, as the kernel's route
/// netlink says.
///
///     let manager = NetworkReachabilityManager(host: "www.example.org")
///     manager?.startListening { status in
///         print("Network Status Changed: \(status)")
///     }
///
/// Keep the manager, or it tells nothing any more. That a route exists doesn't mean that a host answers: never refuse to
/// try because of it. ``NetworkMonitor`` tells more: links, addresses and routes.
public final class NetworkReachabilityManager: Sendable {
    public enum NetworkReachabilityStatus: Sendable, Hashable {
        /// The kernel couldn't be asked, or a host's name is still being looked up.
        case unknown
        case notReachable
        case reachable(ConnectionType)

        public enum ConnectionType: Sendable, Hashable {
            case ethernetOrWiFi
            /// Over modems only, also where a tunnel lies over one.
            case cellular
        }
    }

    /// Takes each new status.
    @preconcurrency
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// The machine's way to the network; `nil` where the kernel offers no netlink.
    public static let `default` = NetworkReachabilityManager()

    /// Where each change is looked at, before listeners are told.
    public let reachabilityQueue = DispatchQueue(label: "transferkit.reachability")
    private let monitor: NetworkMonitor
    private let host: HostRoute?
    private let listening = Mutex<Listening?>(nil)

    /// For any way out.
    ///
    /// - Returns: `nil` where the kernel offers no netlink.
    public convenience init?() { self.init(monitor: .shared, host: nil) }

    /// For the way to one host: the kernel is asked for its route. Loopback destinations are always reachable, and so is
    /// a neighbour without a default route.
    ///
    /// The name is looked up in the background, and once more whenever the network changes while it isn't known.
    ///
    /// - Parameter host: A name or an address, without a scheme or a port.
    /// - Returns: `nil` where the kernel offers no netlink, or when `host` is empty.
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

    /// The status of the moment. Asks the kernel, which takes well under a millisecond on most machines; what a manager
    /// that listens was told last is at hand.
    ///
    /// A host is `unknown` until its name was found; nothing waits for that here.
    public var status: NetworkReachabilityStatus {
        if let reported = listening.withLock({ $0 })?.last { return reported }
        guard let snapshot = monitor.asked() else { return .unknown }
        guard let host else { return snapshot.status }
        host.lookUp()
        return host.status(in: snapshot)
    }

    /// The ``status`` in the form of Apple's SystemConfiguration; `nil` while it's unknown.
    public var flags: SCNetworkReachabilityFlags? { SCNetworkReachabilityFlags(status) }

    /// Whether there is a way of any kind.
    public var isReachable: Bool { if case .reachable = status { true } else { false } }

    /// Whether modems are the only way.
    public var isReachableOnCellular: Bool { status == .reachable(.cellular) }

    /// Whether there is a way that is no modem.
    public var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// Calls `listener` with the status of the moment and then with each other one; repeats are left out.
    ///
    /// A listener that was set before is replaced.
    ///
    /// - Parameter queue: Where the listener is called.
    /// - Returns: Whether the kernel will tell.
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

    /// The listener isn't called afterwards, but for a call that is under way.
    public func stopListening() {
        let old = listening.withLock { $0.take() }
        old?.stop()
    }
}

/// One listener and what it was told.
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
        // Before the report: a name that is found in between is in that.
        host?.lookUp { [weak self] in self?.report() }
        report()
    }

    private func report() {
        // All of it under the lock: two threads report, and the later word must be the newer one.
        state.withLock { state in
            guard !state.isStopped, let snapshot = state.snapshot else { return }
            let status = host?.status(in: snapshot) ?? snapshot.status
            guard state.last != status else { return }
            state.last = status
            queue.async { [self] in if !self.state.withLock({ $0.isStopped }) { listener(status) } }
        }
    }
}
