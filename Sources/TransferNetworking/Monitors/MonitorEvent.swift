/// An event on its way to the monitors.
struct MonitorEvent: Sendable {
    let deliver: @Sendable (any EventMonitor) -> Void
    init(_ deliver: @escaping @Sendable (any EventMonitor) -> Void) { self.deliver = deliver }
}
