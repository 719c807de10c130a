package import GRDB
import TransferCore
import TransferEngine
package import TransferStore

/// A process as the database has it, and what is known of its life.
package struct LeaseHolder: Sendable {
    package static let columns = "process.id AS holder, pid, started, boot, until, isLocked"

    package let generation: Int64
    package let identity: ProcessIdentity
    /// The end of its lease: milliseconds of `CLOCK_BOOTTIME`; `nil` where an earlier version registered it.
    package let until: Int64?
    /// Whether it holds a lock (``LeaseLocks``).
    package let isLocked: Bool

    package init(generation: Int64, identity: ProcessIdentity, until: Int64?, isLocked: Bool) {
        self.generation = generation
        self.identity = identity
        self.until = until
        self.isLocked = isLocked
    }

    /// - Returns: `nil` where the row has no process, as that of a batch that nobody works on.
    package init?(_ row: Row) {
        guard let generation: Int64 = row[stored: "holder"], let pid: Int32 = row[stored: "pid"] else { return nil }
        self.generation = generation
        identity = ProcessIdentity(pid: pid, started: row[stored: "started"], boot: row[stored: "boot"])
        until = row[stored: "until"]
        isLocked = row[stored: "isLocked"]
    }

    /// Whether its lease holds. A lock says for sure whether it lives. Where there is none, its number does, seen from where
    /// numbers of processes are the same; a process that can't be seen so has its lease to its end.
    ///
    /// - Parameter own: The lease of whoever asks.
    package func holds(_ locks: LeaseLocks, own: Int64, now: StoredWait.Now = .system) -> Bool {
        if generation == own { return true }
        guard identity.isOfThisBoot else { return false }
        if isLocked, let isHeld = locks.isHeld(generation) { return isHeld }
        if identity.isAlive { return true }
        guard isLocked, let until else { return false }
        return until > now.bootMilliseconds
    }
}
