internal import Glibc

/// A request that nginx answers after it has written the log entries of earlier requests.
///
/// nginx writes a line when a request ends, a moment after the client has the last byte. Its only worker process
/// handles one event after the other, and sends the last byte and writes the line in the same event.
enum NginxLogBarrier {
    static func socket(in folder: String) -> String { folder + "/log.sock" }

    /// Returns once the lines are written, or at once if the server has ended.
    static func pass(in folder: String) {
        guard let descriptor = UnixSocket.connected(socket(in: folder)) else { return }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let request = "GET / HTTP/1.0\r\n\r\n"
        guard send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL)) > 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 1024)
        while read(descriptor, &buffer, buffer.count) > 0 {}
    }
}
