public import Dispatch
import Synchronization

/// Tells what ways to the network there are, under the name that Apple's Network framework has for it; over the kernel's
/// route netlink. ``NetworkMonitor`` tells more.
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

    /// Any interface counts.
    public convenience init() { self.init(.shared, rule: PathRule()) }

    /// Interfaces of one kind count.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(.shared, rule: PathRule(required: requiredInterfaceType))
    }

    /// Interfaces of other kinds count.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(.shared, rule: PathRule(prohibited: Set(prohibitedInterfaceTypes)))
    }

    /// Called with the path of the moment after ``start(queue:)``, and then with each other one.
    @preconcurrency
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { state.withLock { $0.handler } }
        set { state.withLock { $0.handler = newValue } }
    }

    /// The path that was told last; the kernel is asked where none was.
    public var currentPath: NWPath { state.withLock { $0.last } ?? rule.path(in: monitor.asked() ?? .unknown) }

    /// Begins to call the handler on `queue`. A monitor that was started tells until it's cancelled or gone.
    public func start(queue: DispatchQueue) {
        let observation = monitor.observe(on: queue) { [weak self] in self?.take($0) }
        state.withLock { $0.observation = observation }
    }

    /// The handler isn't called afterwards, but for a call that is under way.
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
