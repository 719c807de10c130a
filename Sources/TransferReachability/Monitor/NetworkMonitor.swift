public import Dispatch
import Synchronization
import TransferCore
public import TransferEventLoop

/// The monitor of the machine's network, which reports each change to its observers.
///
///     for await snapshot in NetworkMonitor.shared.snapshots() {
///         print(snapshot.status, snapshot.waysOut.map(\.name))
///     }
///
/// The monitor listens to route netlink (rtnetlink(7)) on an event loop while there are observers, and is idle
/// otherwise. It does not poll, and causes no wake-up while nothing changes. A single change is reported at once, and
/// further ones within 10 ms together, so that a burst of thousands yields a few snapshots. After lost messages
/// (`ENOBUFS`), all data is requested again.
///
/// A route does not mean that a host responds. Where the kernel cannot be asked (``NetworkSnapshot/isKnown`` is
/// `false`), there may be a network nevertheless.
public final class NetworkMonitor: Sendable {
    /// The options of a monitor.
    public struct Options: Sendable {
        /// The mount point of sysfs, which identifies Wi-Fi devices.
        public var sysfs = "/sys"
        /// The size in bytes of the socket's buffer; `nil` uses the kernel's default. Lost data is requested again, so
        /// the size does not affect correctness.
        public var receiveBuffer: Int?
        /// The user's statements about metered links.
        public var meteredRule = MeteredRule()
        /// Whether NetworkManager, where it runs, is asked about metered links and captive portals.
        public var usesNetworkManager = true

        /// Creates the default options.
        public init() {}
    }

    /// A closure that receives each new snapshot.
    public typealias Observer = @Sendable (NetworkSnapshot) -> Void

    /// The shared monitor with default options, on a thread of its own.
    public static let shared = NetworkMonitor()

    private struct Run {
        var watcher: NetworkWatcher?
        let loop: EventLoop
        /// The number that identifies late reports of an earlier run.
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

    /// Creates a monitor.
    ///
    /// - Parameter loop: The loop on which the monitor runs; `nil` uses a thread of its own.
    public init(loop: EventLoop? = nil, options: Options = Options()) {
        self.loop = loop
        self.options = options
    }

    /// The current network. With observers, this is the last snapshot published, at no cost. Otherwise the kernel is
    /// asked, which takes well under a millisecond on most machines.
    public var current: NetworkSnapshot {
        state.withLock { $0.run == nil ? nil : $0.snapshot } ?? .ofKernel(options) ?? .unknown
    }

    /// Returns the network as the kernel reports it now, never outdated; `nil` where the kernel cannot be asked.
    public func asked() -> NetworkSnapshot? { .ofKernel(options) }

    /// Calls `observer` with the current snapshot as soon as it is known, and then with each different one. A slow
    /// observer gets the newest snapshot and misses those in between.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the observer is called. With `nil` it is called on the monitor's loop, where it
    ///     must not block. Without netlink, it is then called before this function returns.
    /// - Returns: The observation, which retains the observer and the monitor. The observer is no longer called once it
    ///   is cancelled or released.
    public func observe(on queue: DispatchQueue? = nil, _ observer: @escaping Observer) -> NetworkObservation {
        let mailbox = Mailbox(queue: queue, observer: observer)
        let (id, run, known) = state.withLock { state -> (Int, Run?, NetworkSnapshot?) in
            state.lastObserver += 1
            state.observers[state.lastObserver] = mailbox
            if state.run == nil { start(&state) }
            return (state.lastObserver, state.run, state.snapshot)
        }
        if let known {
            // The loop keeps the order with its next snapshot, which is newer.
            if let run { run.loop.execute { mailbox.putFirst(known) } } else { mailbox.put(known) }
        }
        return NetworkObservation { [self] in remove(id) }
    }

    /// Returns the current snapshot as soon as it is known, and then each different one. A slow reader gets the newest
    /// snapshot.
    public func snapshots() -> AsyncStream<NetworkSnapshot> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let observation = observe { continuation.yield($0) }
            continuation.onTermination = { _ in observation.cancel() }
        }
    }

    // MARK: The watcher

    /// Starts a run under the lock, so that a later caller finds it active.
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

/// An observation of the network, which ends when it is cancelled or released.
public final class NetworkObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    init(end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

    deinit { cancel() }

    /// Ends the observation. The observer is not called afterwards, except for a call that is in progress on another
    /// thread.
    public func cancel() {
        let end = end.withLock { $0.take() }
        end?()
    }
}
