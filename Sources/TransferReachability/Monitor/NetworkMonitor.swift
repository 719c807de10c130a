public import Dispatch
import Synchronization
import TransferCore
public import TransferEventLoop

/// Keeps what the kernel says about the machine's network, and tells those who want to know of each change.
///
///     for await snapshot in NetworkMonitor.shared.snapshots() {
///         print(snapshot.status, snapshot.waysOut.map(\.name))
///     }
///
/// The monitor listens to route netlink (rtnetlink(7)) on an event loop while somebody observes, and does nothing
/// otherwise: there is no polling, and no wake-up while nothing changes. A single change is told at once; what follows
/// within 10 ms is told together, so that a burst of thousands costs a few snapshots. Messages that were lost
/// (`ENOBUFS`) are made up for by asking for everything anew.
///
/// That a route exists doesn't mean that a host answers, and where the kernel can't be asked
/// (``NetworkSnapshot/isKnown`` is `false`) there may be a network all the same.
public final class NetworkMonitor: Sendable {
    /// How to look at the network.
    public struct Options: Sendable {
        /// Where sysfs is mounted, which shows what is a Wi-Fi device.
        public var sysfs = "/sys"
        /// Bytes that the kernel keeps for the socket; its default when `nil`. What is lost for want of room is asked
        /// for anew, so this is no matter of being right.
        public var receiveBuffer: Int?
        /// The links that are metered by the user's word.
        public var meteredRule = MeteredRule()
        /// Whether NetworkManager is asked about metered links and captive portals, where it runs.
        public var usesNetworkManager = true

        public init() {}
    }

    /// Takes each new snapshot.
    public typealias Observer = @Sendable (NetworkSnapshot) -> Void

    /// The one for everybody who needs no options; on a thread of its own.
    public static let shared = NetworkMonitor()

    private struct Run {
        var watcher: NetworkWatcher?
        let loop: EventLoop
        /// Tells late words of an earlier run.
        let number: Int
    }

    private struct State {
        var run: Run?
        var runs = 0
        var snapshot: NetworkSnapshot?
        var observers: [Int: Mailbox] = [:]
        var lastObserver = 0
    }

    private let state = Mutex(State())
    private let loop: EventLoop?
    private let options: Options

    /// - Parameter loop: Where the monitor lives, for a program that has a loop already; a thread of its own when `nil`.
    public init(loop: EventLoop? = nil, options: Options = Options()) {
        self.loop = loop
        self.options = options
    }

    /// The network now. While somebody observes, this is the snapshot that was told last, and costs nothing; otherwise
    /// the kernel is asked, which takes well under a millisecond on most machines.
    public var current: NetworkSnapshot {
        state.withLock { $0.run == nil ? nil : $0.snapshot } ?? .ofKernel(options) ?? .unknown
    }

    /// The network as the kernel tells it when it's asked now, never behind the kernel's own state; `nil` when it can't
    /// be asked.
    public func asked() -> NetworkSnapshot? { .ofKernel(options) }

    /// Calls `observer` with the snapshot of the moment, as soon as it's known, and then with each that differs from the
    /// one before. An observer that is slow gets the newest and misses those between.
    ///
    /// - Parameters:
    ///   - queue: Where the observer is called; on the monitor's loop when `nil`, where it must not block (and
    ///     before this returns, where there is no netlink).
    /// - Returns: What keeps the observer, and the monitor: it's called no more once that is cancelled or gone.
    public func observe(on queue: DispatchQueue? = nil, _ observer: @escaping Observer) -> NetworkObservation {
        let mailbox = Mailbox(queue: queue, observer: observer)
        let (id, run, known) = state.withLock { state -> (Int, Run?, NetworkSnapshot?) in
            state.lastObserver += 1
            state.observers[state.lastObserver] = mailbox
            if state.run == nil { start(&state) }
            return (state.lastObserver, state.run, state.snapshot)
        }
        if let known {
            // In the loop's order with what it tells next, which is newer.
            if let run { run.loop.execute { mailbox.putFirst(known) } } else { mailbox.put(known) }
        }
        return NetworkObservation { [self] in remove(id) }
    }

    /// The snapshot of the moment, as soon as it's known, and then each that differs from the one before; a slow reader
    /// gets the newest.
    public func snapshots() -> AsyncStream<NetworkSnapshot> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = observe { continuation.yield($0) }
            continuation.onTermination = { _ in observation.cancel() }
        }
    }

    // MARK: The watcher

    /// Under the lock: whoever comes next finds it running.
    private func start(_ state: inout State) {
        guard let loop = loop ?? (try? EventLoop(name: "network")) else {
            state.snapshot = .unknown
            return
        }
        state.runs += 1
        let number = state.runs
        let watcher = NetworkWatcher(loop: loop, options: options) { [weak self] in self?.publish($0, of: number) }
        guard let watcher else {
            if self.loop == nil { loop.stop() }
            state.snapshot = .unknown
            return
        }
        state.snapshot = nil
        state.run = Run(watcher: watcher, loop: loop, number: number)
        loop.execute { watcher.start() }
    }

    private func publish(_ snapshot: NetworkSnapshot, of number: Int) {
        let mailboxes = state.withLock { state -> [Mailbox] in
            guard state.run?.number == number else { return [] }
            state.snapshot = snapshot
            return state.observers.sorted { $0.key < $1.key }.map(\.value)
        }
        for mailbox in mailboxes { mailbox.put(snapshot) }
    }

    private func remove(_ id: Int) {
        let (mailbox, run) = state.withLock { state -> (Mailbox?, Run?) in
            let mailbox = state.observers.removeValue(forKey: id)
            guard state.observers.isEmpty else { return (mailbox, nil) }
            state.snapshot = nil
            return (mailbox, state.run.take())
        }
        mailbox?.close()
        if let run { Self.end(run, ownsLoop: loop == nil) }
    }

    private static func end(_ run: Run, ownsLoop: Bool) {
        run.loop.execute { run.watcher?.end() }
        if ownsLoop { run.loop.stop() }
    }
}

/// Somebody who observes a network: until it's cancelled, or nobody holds it any more.
public final class NetworkObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    init(end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

    deinit { cancel() }

    /// The observer isn't called afterwards, but for a call that is under way on another thread.
    public func cancel() {
        let end = end.withLock { $0.take() }
        end?()
    }
}
