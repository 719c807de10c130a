import Glibc
import TransferTestServer

/// A client that sends and receives exact bytes. Reads end after 20 seconds, so that a fault fails a test instead of
/// blocking it.
final class RawClient {
    enum End: Equatable {
        case fin, reset, timeout
    }

    struct Failure: Error {
        let operation: String
        let code: Int32
    }

    struct Reply {
        var head = ""
        var body: [UInt8] = []
        var end = End.fin

        var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }
        func header(_ name: String) -> String? {
            let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            return line.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private let descriptor: Int32

    init(_ server: TestServer) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = server.port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(operation: "connect", code: errno) }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(operation: "send", code: errno) }
            done += count
        }
    }

    func request(_ method: String = "GET", _ target: String, _ headers: HeaderFields = [:], body: String = "") throws {
        var text = "\(method) \(target) HTTP/1.1\r\n"
        if headers["Host"] == nil { text += "Host: test\r\n" }
        for field in headers.fields { text += "\(field.name): \(field.value)\r\n" }
        try send(text + "\r\n" + body)
    }

    /// Reads up to `count` bytes, or fewer if the connection ends before.
    func read(_ count: Int) -> ([UInt8], End?) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < count {
            let received = recv(descriptor, &buffer, min(buffer.count, count - bytes.count), 0)
            if received > 0 {
                bytes += buffer[..<received]
            } else {
                return (bytes, received == 0 ? .fin : errno == ECONNRESET ? .reset : .timeout)
            }
        }
        return (bytes, nil)
    }

    func readHead() -> Reply {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let (byte, end) = read(1)
            if let end { return Reply(head: String(decoding: head, as: UTF8.self), end: end) }
            head += byte
        }
        return Reply(head: String(decoding: head, as: UTF8.self))
    }

    /// Reads a response whose body has the length that its head declares.
    func readReply() -> Reply {
        var reply = readHead()
        reply.body = read(Int(reply.header("Content-Length") ?? "") ?? 0).0
        return reply
    }

    func readToEnd() -> Reply {
        var reply = readHead()
        guard reply.head.hasSuffix("\r\n\r\n") else { return reply }
        let (body, end) = read(.max)
        reply.body = body
        reply.end = end ?? .timeout
        return reply
    }
}

extension TestServer {
    /// Sends one request on a connection of its own, and reads until the server closes it.
    func get(_ target: String, _ headers: HeaderFields = [:], method: String = "GET") throws -> RawClient.Reply {
        let client = try RawClient(self)
        try client.request(method, target, headers.overridden(by: ["Connection": "close"]))
        return client.readToEnd()
    }
}
