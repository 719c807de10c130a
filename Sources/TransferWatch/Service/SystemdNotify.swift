import Glibc
public import TransferCore

/// The notifications of a service to its manager: sd_notify(3), datagrams to the socket in `NOTIFY_SOCKET`.
public struct SystemdNotify: Sendable {
    /// A message to the manager.
    public enum Message: Sendable, Hashable {
        /// The service has started, or has read its configuration again.
        case ready
        /// A line for `systemctl status`.
        case status(String)
        /// The service is alive.
        case watchdog
        /// The service reads its configuration again, which ends with `ready`. The value is the present time by
        /// `CLOCK_MONOTONIC` (sd_notify(3)).
        case reloading(at: MonotonicTime)
        case stopping
        /// The start, the reload or the end takes this time from now on, even if the manager's own limit is shorter
        /// (`EXTEND_TIMEOUT_USEC`, sd_notify(3)).
        case extendTimeout(Duration)

        var text: String {
            switch self {
            case .ready: "READY=1"
            // A line break would begin another message.
            case .status(let line): "STATUS=" + String(line.map { $0.isNewline ? " " : $0 })
            case .watchdog: "WATCHDOG=1"
            case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time.nanoseconds / 1000)"
            case .stopping: "STOPPING=1"
            case .extendTimeout(let time): "EXTEND_TIMEOUT_USEC=\(Int64(max(0, time / .microseconds(1))))"
            }
        }
    }

    /// The time between ``Message/watchdog`` messages: half the time after which the manager considers the service dead
    /// (`WATCHDOG_USEC`, sd_watchdog_enabled(3)). `nil` if it does not watch this process.
    public let watchdogInterval: Duration?
    private let address: [UInt8]

    /// Finds the manager's socket.
    ///
    /// - Parameters:
    ///   - environment: The environment of the process.
    ///   - processID: The process that `WATCHDOG_PID` has to name if it is set; `nil` for the calling process.
    /// - Returns: `nil` if no manager listens.
    public init?(environment: [String: String], processID: Int32? = nil) {
        guard let name = environment["NOTIFY_SOCKET"], name.hasPrefix("/") || name.hasPrefix("@") else { return nil }
        address = Array(name.utf8)
        guard address.count > 1, address.count <= Self.room else { return nil }
        let isForUs = environment["WATCHDOG_PID"].map { $0 == String(processID ?? getpid()) } ?? true
        if isForUs, let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 {
            watchdogInterval = .microseconds(max(1, microseconds / 2))
        } else {
            watchdogInterval = nil
        }
    }

    /// The size of a path in `sockaddr_un` in bytes, without the terminating zero.
    private static let room = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Sends the messages as one datagram. If the manager does not read, this waits up to a second. A sole sign of life
    /// does not wait, because another will follow.
    ///
    /// - Returns: Whether the manager's socket has accepted it.
    @discardableResult
    public func send(_ messages: Message...) -> Bool {
        let text = messages.map(\.text).joined(separator: "\n")
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard connect(descriptor) else { return false }
        for _ in 0..<2 {
            if Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) >= 0 { return true }
            guard errno == EAGAIN, messages != [.watchdog] else { return false }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&waiting, 1, 1000)
        }
        return false
    }

    private func connect(_ descriptor: Int32) -> Bool {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        // An abstract name begins with a zero, and its length matters.
        if address.first == UInt8(ascii: "@") { name.sun_path.0 = 0 }
        let isAbstract = name.sun_path.0 == 0
        let length = MemoryLayout<sa_family_t>.size + address.count + (isAbstract ? 0 : 1)
        return withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(length)) == 0
            }
        }
    }
}
