internal import Foundation
internal import Glibc
internal import Synchronization

/// A name server (RFC 1035, over UDP) in the peer, whose names the test defines.
public final class TestNameServer: Sendable {
    public struct Query: Sendable, Hashable {
        public var name: String
        /// The type of the question: 1 is A, 28 AAAA.
        public var type: UInt16
        /// The address of the client.
        public var source: String
    }

    private struct State {
        var addresses: [String: [String]] = [:]
        var answers = true
        var queries: [Query] = []
    }

    private let state = Mutex(State())

    fileprivate init() {}

    /// Sets the addresses of a name, of both versions.
    public func set(_ name: String, _ addresses: [String]) { state.withLock { $0.addresses[name] = addresses } }

    /// Whether the server answers. If not, questions are lost without a trace, as with a server that is down.
    public var answers: Bool {
        get { state.withLock { $0.answers } }
        set { state.withLock { $0.answers = newValue } }
    }

    /// The questions so far, including the unanswered ones.
    public var queries: [Query] { state.withLock { $0.queries } }

    fileprivate func reply(to question: [UInt8], from source: String) -> [UInt8]? {
        guard question.count > 12, let (name, end) = Self.name(in: question), end + 4 <= question.count else {
            return nil
        }
        let type = UInt16(question[end]) << 8 | UInt16(question[end + 1])
        let known: [String]?? = state.withLock { state in
            state.queries.append(Query(name: name, type: type, source: source))
            return state.answers ? .some(state.addresses[name]) : nil
        }
        guard let known else { return nil }
        let records = (known ?? []).compactMap { Self.record($0, type: type) }
        // Fields: the same ID; an authoritative answer with recursion available; NXDOMAIN for an unknown name.
        var reply =
            Array(question[0..<2]) + [0x85, known == nil ? 0x83 : 0x80, 0, 1, 0, UInt8(records.count), 0, 0, 0, 0]
        reply += question[12..<(end + 4)]
        for record in records {
            // Fields: the name of the question, the type, the class Internet, and a lifetime of five minutes.
            reply += [0xC0, 12, 0, UInt8(type), 0, 1, 0, 0, 1, 44, 0, UInt8(record.count)] + record
        }
        return reply
    }

    /// Returns the name of the first question, and its end.
    private static func name(in message: [UInt8]) -> (String, Int)? {
        var labels: [String] = []
        var index = 12
        while index < message.count, message[index] != 0 {
            let end = index + 1 + Int(message[index])
            guard message[index] < 64, end < message.count else { return nil }
            labels.append(String(decoding: message[(index + 1)..<end], as: UTF8.self).lowercased())
            index = end
        }
        return (labels.joined(separator: "."), index + 1)
    }

    private static func record(_ address: String, type: UInt16) -> [UInt8]? {
        let isVersion6 = address.contains(":")
        guard type == (isVersion6 ? 28 : 1) else { return nil }
        var bytes = [UInt8](repeating: 0, count: isVersion6 ? 16 : 4)
        return inet_pton(isVersion6 ? AF_INET6 : AF_INET, address, &bytes) == 1 ? bytes : nil
    }
}

extension TestNetwork {
    /// Starts a name server at the addresses of the peer's name servers, and configures the client to use it.
    public func startNameServer() async throws -> TestNameServer {
        let addresses = [Self.nameServer, Self.nameServerVersion6]
        let descriptors = try await peer.onThread { try addresses.map(NameSocket.bound) }
        let server = TestNameServer()
        let loop = try DatagramLoop(descriptors) { index in
            NameSocket.answerOne(descriptors[index]) { server.reply(to: $0, from: $1) }
        }
        atEnd { loop.stop() }
        try client.setNameServers(addresses)
        return server
    }
}

/// UDP sockets on port 53.
private enum NameSocket {
    static func bound(to address: String) throws -> Int32 {
        let isVersion6 = address.contains(":")
        let descriptor = socket(
            isVersion6 ? AF_INET6 : AF_INET,
            Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            0)
        guard descriptor >= 0 else { throw TestSupportError.system("socket", errno) }
        var storage = sockaddr_storage()
        let code = withUnsafeMutablePointer(to: &storage) { pointer -> Int32 in
            let raw = UnsafeMutableRawPointer(pointer)
            let size: Int
            if isVersion6 {
                let inet = raw.assumingMemoryBound(to: sockaddr_in6.self)
                inet.pointee.sin6_family = sa_family_t(AF_INET6)
                inet.pointee.sin6_port = UInt16(53).bigEndian
                _ = inet_pton(AF_INET6, address, &inet.pointee.sin6_addr)
                size = MemoryLayout<sockaddr_in6>.size
            } else {
                let inet = raw.assumingMemoryBound(to: sockaddr_in.self)
                inet.pointee.sin_family = sa_family_t(AF_INET)
                inet.pointee.sin_port = UInt16(53).bigEndian
                _ = inet_pton(AF_INET, address, &inet.pointee.sin_addr)
                size = MemoryLayout<sockaddr_in>.size
            }
            return bind(descriptor, raw.assumingMemoryBound(to: sockaddr.self), socklen_t(size)) == 0 ? 0 : errno
        }
        guard code == 0 else {
            close(descriptor)
            throw TestSupportError.system("bind \(address)", code)
        }
        return descriptor
    }

    static func answerOne(_ descriptor: Int32, _ reply: ([UInt8], String) -> [UInt8]?) {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var buffer = [UInt8](repeating: 0, count: 4096)
        withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let count = recvfrom(descriptor, &buffer, buffer.count, 0, address, &size)
                guard count > 0 else { return }
                var host = [CChar](repeating: 0, count: 64)
                getnameinfo(address, size, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
                let source = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                guard let answer = reply(Array(buffer[..<count]), source) else { return }
                sendto(descriptor, answer, answer.count, 0, address, size)
            }
        }
    }
}
