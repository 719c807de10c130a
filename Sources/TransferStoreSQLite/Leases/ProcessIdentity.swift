import CTransferLinux
import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferStore

/// The properties that distinguish a process from every other, even after its number has been reused.
///
/// Without /proc, or where /proc hides other users' processes, the start of a process is unknown. A process with the
/// number then counts as the recorded one, so that its claims are left alone rather than done twice.
package struct ProcessIdentity: Sendable, Hashable {
    package let pid: Int32
    /// The start of the process in clock ticks since the boot, as proc(5) counts them. Without /proc it is a negative
    /// number of the process's own.
    package let started: Int64
    package let boot: String

    package static var current: ProcessIdentity {
        ProcessIdentity(pid: getpid(), started: startOfThis, boot: BootID.current)
    }

    /// Whether the process still exists.
    package var isAlive: Bool {
        if pid == getpid() { return boot == BootID.current && started == Self.startOfThis }
        return isAlive(as: Self.look(pid), in: BootID.current)
    }

    /// Whether the process may have started in the present boot of this machine.
    package var isOfThisBoot: Bool {
        boot == BootID.current || boot == BootID.unknown || BootID.current == BootID.unknown
    }

    /// The evidence whether a process number still belongs to the same process.
    package enum Sighting: Sendable, Hashable {
        case started(Int64)
        /// A process has the number, but its start is unknown.
        case unseen
        case gone
    }

    /// Returns whether the evidence about a process number means that this process lives.
    package func isAlive(as sighting: Sighting, in current: String) -> Bool {
        guard boot == current || boot == BootID.unknown || current == BootID.unknown else { return false }
        switch sighting {
        case .gone: return false
        case .unseen: return true
        case .started(let time): return time == started || started < 0
        }
    }

    private static let startOfThis: Int64 =
        if case .started(let time) = look(getpid()) { time } else { -max(1, MonotonicTime.now.nanoseconds) }

    private static func look(_ pid: Int32) -> Sighting {
        let descriptor = transfer_open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return kill(pid, 0) == 0 || errno == EPERM ? .unseen : .gone }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return .gone }
        // The second field is the program's name in parentheses and may contain anything, also parentheses.
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        guard let close = text.lastIndex(of: ")") else { return .gone }
        let fields = text[text.index(after: close)...].split(separator: " ")
        // A zombie (state Z) has ended; only its parent has not reaped it yet.
        guard fields.count > 19, fields[0] != "Z" else { return .gone }
        return Int64(fields[19]).map { .started($0) } ?? .unseen
    }
}
