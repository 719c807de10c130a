public import Dispatch
import Synchronization
import TransferCore
import TransferEventLoop

/// Tells whether the machine has a way to the network, and when that changes, as the kernel's route netlink says.
///
/// That a route exists doesn't mean that a host answers: never refuse to try because of it.
public final class NetworkReachabilityManager: Sendable {
    public enum NetworkReachabilityStatus: Sendable, Hashable {
        /// The kernel couldn't be asked.
        case unknown
        case notReachable
        case reachable(ConnectionType)

        public enum ConnectionType: Sendable, Hashable {
            case ethernetOrWiFi
            case cellular
        }
    }

    /// Takes each new status.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    public static let `default` = NetworkReachabilityManager()

    private struct Listening {
        let loop: EventLoop
        let queue: DispatchQueue
        let listener: Listener
        var last: NetworkReachabilityStatus?
    }

    private let listening = Mutex<Listening?>(nil)

    /// - Returns: `nil` where the kernel offers no netlink.
    public init?() {
        guard NetlinkSocket() != nil else { return nil }
    }

    deinit { stopListening() }

    /// Asks the kernel now.
    public var status: NetworkReachabilityStatus { NetlinkSocket()?.snapshot()?.status ?? .unknown }

    public var isReachable: Bool { isReachableOnCellular || isReachableOnEthernetOrWiFi }

    public var isReachableOnCellular: Bool { status == .reachable(.cellular) }

    public var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// Calls `listener` with the status of the moment and then with each other one; repeats are left out.
    ///
    /// A listener that was set before is replaced.
    ///
    /// - Parameter queue: Where the listener is called.
    /// - Returns: Whether the kernel will tell.
    @discardableResult
    public func startListening(onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener)
        -> Bool
    {
        stopListening()
        guard let loop = try? EventLoop(name: "reachability") else { return false }
        guard let source = NetlinkSocket(), source.subscribe() else {
            loop.stop()
            return false
        }
        let descriptor = source.descriptor
        listening.withLock { $0 = Listening(loop: loop, queue: queue, listener: listener) }
        let watch = LoopBound(source)
        loop.execute { [weak self] in
            // The registration keeps the socket, and goes with the loop.
            let source = watch.value
            loop.register(descriptor, for: .readable) { _ in
                source.drain()
                self?.report()
            }
            self?.report()
        }
        return true
    }

    public func stopListening() {
        let old = listening.withLock { $0.take() }
        old?.loop.stop()
    }

    private func report() {
        let status = status
        let tell = listening.withLock { listening -> Listening? in
            guard listening != nil, listening?.last != status else { return nil }
            listening?.last = status
            return listening
        }
        if let tell { tell.queue.async { tell.listener(status) } }
    }
}

/// Hands something to the one loop that uses it from then on.
///
/// `@unchecked Sendable`: made on one thread and read once, by the loop it's handed to.
private final class LoopBound<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
