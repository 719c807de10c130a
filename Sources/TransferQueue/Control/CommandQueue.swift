import TransferJobs

/// The commands of other processes to this one. They are performed one after the other, because the effect of one lasts
/// until the next.
struct CommandQueue {
    /// The socket on which other processes ring.
    var socket: ControlSocket?
    private var waiting: [QueueCommand] = []
    /// The command that is being performed.
    private(set) var current: QueueCommand?

    var isIdle: Bool { current == nil && waiting.isEmpty }

    mutating func add(_ commands: [QueueCommand]) { waiting += commands }

    /// Begins with the next command.
    ///
    /// - Returns: `nil` while a command is being performed, or if there is none.
    mutating func next() -> QueueCommand? {
        guard current == nil, !waiting.isEmpty else { return nil }
        current = waiting.removeFirst()
        return current
    }

    mutating func finished() { current = nil }
}
