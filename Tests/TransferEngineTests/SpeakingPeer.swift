import Foundation
import Glibc
import Synchronization
import TransferTestSupport

/// A server that numbers its answers, and that sends an unsolicited message on demand.
final class SpeakingPeer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())
    /// The answer to each request; `nil` numbers the answers.
    private let answer: String?

    private struct State {
        var connections: [Int32] = []
        var answers = 0
    }

    init(answer: String? = nil) throws {
        self.answer = answer
        let listening = try LoopbackListener(backlog: 8)
        let socket = listening.descriptor
        (listener, port) = (socket, listening.port)
        // `accept` and `recv` block, and a thread of the tests must not block.
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(socket, nil, nil)
                guard client >= 0 else { return }
                state.withLock { $0.connections.append(client) }
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        state.withLock { for client in $0.connections { shutdown(client, Int32(SHUT_RDWR)) } }
    }

    var url: String { "http://127.0.0.1:\(port)/f" }
    var connections: Int { state.withLock { $0.connections.count } }

    /// Sends a text over the newest connection. On loopback the text has arrived when this returns.
    func speak(_ text: String) {
        guard let client = state.withLock({ $0.connections.last }) else { return }
        _ = text.withCString { send(client, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }

    private func serve(_ client: Int32) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let blank = Array("\r\n\r\n".utf8)
        while true {
            let received = recv(client, &buffer, buffer.count, 0)
            guard received > 0 else { break }
            bytes += buffer[..<received]
            guard let head = bytes.firstRange(of: blank) else { continue }
            let fields = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).lowercased().split(
                separator: "\r\n")
            let length = fields.first { $0.hasPrefix("content-length:") }?.split(separator: " ").last.flatMap {
                Int($0)
            }
            guard bytes.count >= head.upperBound + (length ?? 0) else { continue }
            bytes.removeFirst(head.upperBound + (length ?? 0))
            let number = state.withLock { state in
                state.answers += 1
                return state.answers
            }
            let answer = answer ?? "HTTP/1.1 201 Created\r\nX-Number: \(number)\r\nContent-Length: 0\r\n\r\n"
            _ = answer.withCString { send(client, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        }
    }
}
