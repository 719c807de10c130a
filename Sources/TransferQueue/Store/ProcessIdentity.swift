import CTransferLinux
import Glibc
import TransferEngine

/// What tells a process from every other, also after its number has been given out again.
struct ProcessIdentity: Sendable, Hashable {
    let pid: Int32
    /// Clock ticks since the boot, as proc(5) counts them.
    let started: Int64
    let boot: String

    static var current: ProcessIdentity {
        ProcessIdentity(pid: getpid(), started: startTime(getpid()) ?? 0, boot: BootID.current)
    }

    var isAlive: Bool { boot == BootID.current && Self.startTime(pid) == started }

    private static func startTime(_ pid: Int32) -> Int64? {
        let descriptor = transfer_open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        // The second field is the program's name in parentheses and may contain anything, also parentheses.
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        guard let close = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: close)...].split(separator: " ")
        // A zombie (state Z) has ended; only its parent hasn't asked yet.
        guard fields.count > 19, fields[0] != "Z" else { return nil }
        return Int64(fields[19])
    }
}
