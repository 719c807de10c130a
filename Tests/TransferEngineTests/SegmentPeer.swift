import Foundation
import Glibc
import TransferTestSupport

/// A server for one request, which reports the number of its segments.
final class SegmentPeer: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let listening = try LoopbackListener(backlog: 1)
        (descriptor, port) = (listening.descriptor, listening.port)
    }

    deinit { close(descriptor) }

    /// Answers 201 once `count` bytes of a body have come.
    ///
    /// - Returns: The request, and the number of data segments in which it came.
    func answer(afterBody count: Int) async throws -> (request: String, segments: Int) {
        try await withCheckedThrowingContinuation { continuation in
            // `accept` and `recv` block, and a thread of the tests must not block.
            Thread.detachNewThread { continuation.resume(with: Result { try self.answerNow(afterBody: count) }) }
        }
    }

    private func answerNow(afterBody count: Int) throws -> (request: String, segments: Int) {
        let client = accept(descriptor, nil, nil)
        guard client >= 0 else { throw TestSupportError("accept: \(errno)") }
        defer { close(client) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let blank = Array("\r\n\r\n".utf8)
        while true {
            if let head = bytes.firstRange(of: blank), bytes.count >= head.upperBound + count { break }
            let received = recv(client, &buffer, buffer.count, 0)
            guard received > 0 else { throw TestSupportError("recv: \(errno)") }
            bytes += buffer[..<received]
        }
        let segments = Self.dataSegments(client)
        let response = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        _ = response.withCString { send(client, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        return (String(decoding: bytes, as: UTF8.self), segments)
    }

    /// `tcpi_data_segs_in` of linux/tcp.h, a field that is missing from the shorter `tcp_info` of glibc.
    private static func dataSegments(_ socket: Int32) -> Int {
        var info = [UInt32](repeating: 0, count: 64)
        var length = socklen_t(info.count * MemoryLayout<UInt32>.size)
        guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, length >= 156 else { return -1 }
        return Int(info[38])
    }
}
