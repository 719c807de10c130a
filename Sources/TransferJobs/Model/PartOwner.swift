/// A process as the names of partial files tell it from others, on storage that several machines share.
package struct PartOwner: Sendable, Hashable {
    /// Part of a file's name: the process's number, and the machine with the time since it was started.
    package let text: String

    package init(text: String) { self.text = text }

    /// - Parameters:
    ///   - generation: The process's, which no other one has.
    ///   - bootID: The machine's since it was started last.
    package init(generation: Int64, bootID: String) {
        let machine = bootID.utf8.filter { $0 != UInt8(ascii: "-") }.prefix(8)
        text = "\(String(UInt64(bitPattern: generation), radix: 36))-\(String(decoding: machine, as: UTF8.self))"
    }

    /// Whether both are processes of one machine that hasn't been started anew between them: locks of files tell then which
    /// of them lives.
    package func isOnMachine(of other: PartOwner) -> Bool { machine == other.machine }

    private var machine: Substring { text[(text.lastIndex(of: "-") ?? text.startIndex)...] }
}

/// The processes that may have partial files of a job, of a queue that several machines share.
package struct PartOwners: Sendable, Hashable {
    /// The process that asks.
    package let own: PartOwner
    /// The processes that had the job before.
    package let earlier: [PartOwner]

    package init(own: PartOwner, earlier: [PartOwner]) {
        self.own = own
        self.earlier = earlier
    }
}
