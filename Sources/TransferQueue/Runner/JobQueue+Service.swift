import TransferEventLoop
public import TransferWatch

extension JobQueue {
    /// The names of all batches, in the order in which they came.
    public func batchNames() async throws -> [String] {
        let store = store
        return try await reader.run { try store.batchNames() }
    }

    /// Tells a service's manager that this queue lives: from its own thread, so that it's silent when that hangs.
    ///
    /// - Returns: `nil` when the manager doesn't ask for signs of life. It ends with the queue.
    public func watchdog(_ notify: SystemdNotify) -> SystemdWatchdog? { SystemdWatchdog(notify, loop: runner.loop) }
}
