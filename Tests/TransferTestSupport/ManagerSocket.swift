internal import Foundation
internal import Glibc

/// The socket of a service manager (systemd's `NOTIFY_SOCKET`): a datagram socket whose reads the kernel limits in
/// time.
public final class ManagerSocket: Sendable {
    private let descriptor: Int32

    /// - Parameter name: A path, or an abstract name with a leading `@`.
    public init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(name.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        var length = 2 + bytes.count + 1
        if name.hasPrefix("@") {
            address.sun_path.0 = 0
            length -= 1
        }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        guard bound == 0 else { throw TestSupportError.system("bind \(name)", errno) }
    }

    deinit { close(descriptor) }

    /// Returns the next message; empty if none comes within 20 s. Blocks the thread.
    public func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Returns the next matching message, and skips others.
    ///
    /// - Throws: An error if none comes within 20 s.
    @discardableResult
    public func message(where matches: @escaping @Sendable (String) -> Bool) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            // The wait has a thread of its own: the threads of tasks are few, and other tests need them.
            Thread.detachNewThread { [self] in
                continuation.resume(with: Result { try blockingMessage(where: matches) })
            }
        }
    }

    private func blockingMessage(where matches: (String) -> Bool) throws -> String {
        var passed: [String] = []
        while true {
            let message = receive()
            if message.isEmpty { throw TestSupportError("the manager waited in vain; it heard \(passed)") }
            if matches(message) { return message }
            passed.append(message)
        }
    }
}
