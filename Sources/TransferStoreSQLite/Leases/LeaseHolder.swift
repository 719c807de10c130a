package import GRDB
import TransferCore
import TransferEngine
package import TransferStore

/// A process as the database has it, and the evidence of its life.
package struct LeaseHolder: Sendable {
    package static let columns = "process.id AS holder, pid, started, boot, until, isLocked"

    package let generation: Int64
    package let identity: ProcessIdentity
    /// The end of the process's lease, in milliseconds of `CLOCK_BOOTTIME`; `nil` where an earlier version registered
    /// it.
    package let until: Int64?
    /// Whether the process holds a lock (``LeaseLocks``).
    package let isLocked: Bool

    package init(generation: Int64, identity: ProcessIdentity, until: Int64?, isLocked: Bool) {
        self.generation = generation
        self.identity = identity
        self.until = until
        self.isLocked = isLocked
    }

    /// - Returns: `nil` where the row has no process, as that of a batch that no process works on.
    package init?(_ row: Row) {
        guard let generation: Int64 = row[stored: "holder"], let pid: Int32 = row[stored: "pid"] else { return nil }
        self.generation = generation
        identity = ProcessIdentity(pid: pid, started: row[stored: "started"], boot: row[stored: "boot"])
        until = row[stored: "until"]
        isLocked = row[stored: "isLocked"]
    }

    /// Returns whether the lease holds. A lock proves or refutes that the process lives. Without a lock its process
    /// number does, where both processes see the same numbers. A process that cannot be seen keeps its lease to the
    /// end.
    ///
    /// - Parameter own: The lease of the calling process.
    package func holds(_ locks: LeaseLocks, own: Int64, now: StoredWait.Now = .system) -> Bool {
        if generation == own { return true }
        // A container may have a boot ID of its own. Locks end with the boot, and all processes of this kernel see them.
        if isLocked, let isHeld = locks.isHeld(generation) { return isHeld }
        guard identity.isOfThisBoot else { return false }
        if identity.isAlive { return true }
        guard isLocked, let until else { return false }
        return until > now.bootMilliseconds
    }
}
