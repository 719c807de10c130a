import TransferJobs

/// What other processes asked of this one: one after the other, as what a command asks for holds until the next one.
struct CommandQueue {
    /// By which others ring.
    var socket: ControlSocket?
    private var waiting: [QueueCommand] = []
    /// The one that is being done.
    private(set) var current: QueueCommand?

    var isIdle: Bool { current == nil && waiting.isEmpty }

    mutating func add(_ commands: [QueueCommand]) { waiting += commands }

    /// Begins with the next one.
    ///
    /// - Returns: `nil` while one is being done, and when there is none.
    mutating func next() -> QueueCommand? {
        guard current == nil, !waiting.isEmpty else { return nil }
        current = waiting.removeFirst()
        return current
    }

    mutating func finished() { current = nil }
}
