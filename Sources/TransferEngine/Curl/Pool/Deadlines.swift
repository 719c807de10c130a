import TransferCore

/// The exchanges that wait, each until a time of its own.
struct Deadlines {
    private var times: [ExchangeID: MonotonicTime] = [:]

    /// The end of the first wait; `nil` without waits.
    var next: MonotonicTime? { times.values.min() }

    mutating func set(_ id: ExchangeID, _ time: MonotonicTime) { times[id] = time }

    /// Ends an exchange's wait.
    ///
    /// - Returns: Whether the exchange waited.
    @discardableResult
    mutating func remove(_ id: ExchangeID) -> Bool { !times.isEmpty && times.removeValue(forKey: id) != nil }

    /// Removes and returns the exchanges whose time has come.
    mutating func takeDue(_ now: MonotonicTime) -> [ExchangeID] {
        let due = times.filter { $0.value <= now }.map(\.key)
        for id in due { times[id] = nil }
        return due
    }
}
