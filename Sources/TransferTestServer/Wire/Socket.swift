import Glibc

/// A connected stream socket. Its owner closes it; any thread may call ``shutdown()``.
struct Socket: Sendable {
    let descriptor: Int32

    enum Departure {
        case left, woken, timedOut
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return count }
            if count == 0 || errno != EINTR { throw ConnectionEnded() }
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno != EINTR {
                throw ConnectionEnded()
            }
        }
    }

    func shutdown() {
        Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Closes the socket. It sends FIN even where a child process holds a copy of the descriptor, and RST after
    /// ``resetOnClose()``.
    func close() {
        var option = linger()
        var size = socklen_t(MemoryLayout<linger>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, &size)
        if option.l_onoff == 0 { shutdown() }
        Glibc.close(descriptor)
    }

    /// Closes the socket after a response to an unread request. Closing at once would reset the connection and could
    /// discard the response. The rest of the request is therefore read and ignored until the client ends its side.
    func lingeringClose() {
        Glibc.shutdown(descriptor, Int32(SHUT_WR))
        var scrap = [UInt8](repeating: 0, count: 1 << 16)
        while scrap.withUnsafeMutableBytes({ (try? receive(into: $0)) != nil }) {}
    }

    /// Makes the next `close` send RST. The kernel then drops unsent data, so the function first waits until all data
    /// has been acknowledged. No event reports that, so it checks once a millisecond.
    func resetOnClose() {
        var unsent: Int32 = 0
        while ioctl(descriptor, UInt(TIOCOUTQ), &unsent) == 0, unsent > 0,
            case .timedOut = waitForDeparture(timeout: .milliseconds(1))
        {}
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Waits until the client closes its side, `wake` becomes readable, or the timeout has passed.
    func waitForDeparture(wake: Int32 = -1, timeout: Duration? = nil) -> Departure {
        // POLLRDHUP is missing in Glibc's module, because its header requires _GNU_SOURCE.
        let pollPeerClosed: Int16 = 0x2000
        var watched = [
            pollfd(fd: descriptor, events: pollPeerClosed, revents: 0),
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = timeout.map { Int32(clamping: ($0 / .milliseconds(1)).rounded(.up)) } ?? -1
        while true {
            let count = poll(&watched, 2, milliseconds)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return .timedOut }
            return watched[1].revents != 0 ? .woken : .left
        }
    }
}

extension Int32 {
    fileprivate init(clamping value: Double) { self = value < Double(Int32.max) ? Int32(value) : .max }
}
