import Glibc

/// The reader of requests from a socket, used only by the connection's thread.
final class ConnectionInput {
    private let socket: Socket
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var unread = 0..<0

    init(_ socket: Socket) {
        self.socket = socket
    }

    /// Reads the head of a request.
    ///
    /// - Throws: ``ConnectionEnded`` at the end of the connection, and for data that is not HTTP.
    func readHead() throws -> RequestHead {
        let words = try readLine().split(separator: " ").map(String.init)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { throw ConnectionEnded() }
        var headers = HeaderFields()
        while case let line = try readLine(), !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { throw ConnectionEnded() }
            headers.add(String(line[..<colon]), line[line.index(after: colon)...].trimmingSpaces)
        }
        return RequestHead(method: words[0], target: words[1], version: words[2], headers: headers)
    }

    /// Passes on the body in pieces that never cross one of the `stops`, so that the visitor is called at each of these
    /// counts.
    func readBody(
        _ length: BodyLength, stops: [Int64] = [], _ visit: (UnsafeRawBufferPointer, _ total: Int64) throws -> Void
    ) throws {
        var total: Int64 = 0
        func take(_ count: Int64) throws {
            var rest = count
            while rest > 0 {
                if unread.isEmpty { try fill() }
                let toStop = stops.filter { $0 > total }.map { $0 - total }.min() ?? .max
                let size = Int(min(Int64(unread.count), rest, toStop))
                total += Int64(size)
                rest -= Int64(size)
                let piece = unread.lowerBound..<unread.lowerBound + size
                unread = piece.upperBound..<unread.upperBound
                try buffer.withUnsafeBytes { try visit(UnsafeRawBufferPointer(rebasing: $0[piece]), total) }
            }
        }
        switch length {
        case .none: break
        case .count(let count): try take(count)
        case .chunked:
            while true {
                let digits = try readLine().prefix { $0.isHexDigit }
                guard let size = Int64(digits, radix: 16) else { throw ConnectionEnded() }
                if size == 0 { break }
                try take(size)
                _ = try readLine()
            }
            while try !readLine().isEmpty {}
        }
    }

    private func readLine() throws -> String {
        var line: [UInt8] = []
        while true {
            if unread.isEmpty { try fill() }
            if let end = buffer[unread].firstIndex(of: UInt8(ascii: "\n")) {
                line += buffer[unread.lowerBound..<end]
                unread = end + 1..<unread.upperBound
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                return String(decoding: line, as: UTF8.self)
            }
            line += buffer[unread]
            unread = 0..<0
            guard line.count < 1 << 20 else { throw ConnectionEnded() }
        }
    }

    private func fill() throws {
        unread = 0..<(try buffer.withUnsafeMutableBytes { try socket.receive(into: $0) })
    }
}

/// The length of a request's body (RFC 9112, section 6.3).
enum BodyLength: Equatable {
    case none
    case count(Int64)
    case chunked

    init(_ head: RequestHead) {
        if head.headers.listContains("Transfer-Encoding", token: "chunked") {
            self = .chunked
        } else if let count = head.headers["Content-Length"].flatMap({ Int64($0) }), count > 0 {
            self = .count(count)
        } else {
            self = .none
        }
    }
}

extension RequestHead {
    init(method: String, target: String, version: String, headers: HeaderFields) {
        var authority = headers["Host"] ?? ""
        var local = target
        if target.lowercased().hasPrefix("http://") {
            let rest = target.dropFirst(7)
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = String(rest[..<slash])
            local = slash == rest.endIndex ? "/" : String(rest[slash...])
        }
        let question = local.firstIndex(of: "?")
        self.init(
            method: method, target: target, path: String(local[..<(question ?? local.endIndex)]),
            query: question.map { String(local[local.index(after: $0)...]) },
            host: ResourceKey.hostName(authority), version: version, headers: headers)
    }

    var keepsAlive: Bool {
        !headers.listContains("Connection", token: "close")
            && (version != "HTTP/1.0" || headers.listContains("Connection", token: "keep-alive"))
    }
}
