/// The identity of a process in the names of partial files, on storage that several machines share.
package struct PartOwner: Sendable, Hashable {
    /// A part of a file's name: the number of the process, and the machine with its boot.
    package let text: String

    package init(text: String) { self.text = text }

    /// Creates the identity of a process.
    ///
    /// - Parameters:
    ///   - generation: The number of the process, which no other process has.
    ///   - bootID: The ID of the machine's current boot.
    package init(generation: Int64, bootID: String) {
        let machine = bootID.utf8.filter { $0 != UInt8(ascii: "-") }.prefix(8)
        text = "\(String(UInt64(bitPattern: generation), radix: 36))-\(String(decoding: machine, as: UTF8.self))"
    }

    /// Returns whether both processes belong to the same boot of one machine. File locks then show which of them is
    /// alive.
    package func isOnMachine(of other: PartOwner) -> Bool { machine == other.machine }

    private var machine: Substring { text[(text.lastIndex(of: "-") ?? text.startIndex)...] }
}

/// The processes that may have partial files of a job, in a queue that several machines share.
package struct PartOwners: Sendable, Hashable {
    /// The process that makes the query.
    package let own: PartOwner
    /// The processes that claimed the job before.
    package let earlier: [PartOwner]

    package init(own: PartOwner, earlier: [PartOwner]) {
        self.own = own
        self.earlier = earlier
    }
}
