public import Dispatch
import Synchronization

/// The monitor of routes to the network, with the API of Apple's Network framework, based on the kernel's route
/// netlink. ``NetworkMonitor`` offers more.
public final class NWPathMonitor: Sendable {
    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var observation: NetworkObservation?
        var last: NWPath?
    }

    private let monitor: NetworkMonitor
    private let rule: PathRule
    private let state = Mutex(State())

    init(_ monitor: NetworkMonitor, rule: PathRule) {
        self.monitor = monitor
        self.rule = rule
    }

    /// Creates a monitor for which all interfaces count.
    public convenience init() { self.init(.shared, rule: PathRule()) }

    /// Creates a monitor for which only interfaces of one type count.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(.shared, rule: PathRule(required: requiredInterfaceType))
    }

    /// Creates a monitor for which only interfaces of other types count.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(.shared, rule: PathRule(prohibited: Set(prohibitedInterfaceTypes)))
    }

    /// The closure that receives the current path after ``start(queue:)``, and then each different one.
    @preconcurrency
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { state.withLock { $0.handler } }
        set { state.withLock { $0.handler = newValue } }
    }

    /// The last path reported; where there is none, the kernel is asked.
    public var currentPath: NWPath { state.withLock { $0.last } ?? rule.path(in: monitor.asked() ?? .unknown) }

    /// Begins to call the handler on `queue`. A started monitor reports until it is cancelled or released.
    public func start(queue: DispatchQueue) {
        let observation = monitor.observe(on: queue) { [weak self] in self?.take($0) }
        state.withLock { $0.observation = observation }
    }

    /// Ends the monitoring. The handler is not called afterwards, except for a call that is in progress.
    public func cancel() {
        let observation = state.withLock { state in
            state.handler = nil
            return state.observation.take()
        }
        observation?.cancel()
    }

    private func take(_ snapshot: NetworkSnapshot) {
        let path = rule.path(in: snapshot)
        let handler = state.withLock { state -> (@Sendable (NWPath) -> Void)? in
            guard state.last != path else { return nil }
            state.last = path
            return state.handler
        }
        handler?(path)
    }
}
