import Foundation
import Glibc
import TransferCore

/// A name server with a few records (RFC 1035), over UDP and TCP.
struct NameServer: Sendable {
    let address: String
    let records: [(name: String, addresses: [IPAddress])]

    /// Parses a record in the form `NAME=ADDRESS,ADDRESS`.
    static func record(_ text: String) throws -> (name: String, addresses: [IPAddress]) {
        let parts = text.split(separator: "=").map(String.init)
        guard parts.count == 2 else { throw ProbeError("no record: \(text)") }
        return (parts[0], parts[1].split(separator: ",").compactMap { IPAddress($0) })
    }

    func run() throws {
        let (datagrams, listener) = (try socket(SOCK_DGRAM), try socket(SOCK_STREAM))
        guard listen(listener, 16) == 0 else { throw ProbeError("listen: \(errno)") }
        say("ready")
        Thread.detachNewThread { serveStreams(listener) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var (peer, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            let count = withSocketAddress(&peer) { recvfrom(datagrams, &buffer, buffer.count, 0, $0, &size) }
            guard count > 0 else { continue }
            guard let answer = answer(Array(buffer[..<count]), "udp", peer) else { continue }
            _ = withSocketAddress(&peer) { sendto(datagrams, answer, answer.count, 0, $0, size) }
        }
    }

    private func serveStreams(_ listener: Int32) {
        while true {
            var (peer, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            let stream = withSocketAddress(&peer) { accept(listener, $0, &size) }
            guard stream >= 0 else { continue }
            while let head = read(2, stream), let question = read(Int(head[0]) << 8 | Int(head[1]), stream),
                let answer = answer(question, "tcp", peer)
            {
                let message = [UInt8(answer.count >> 8), UInt8(answer.count & 0xFF)] + answer
                _ = write(stream, message, message.count)
            }
            close(stream)
        }
    }

    private func read(_ count: Int, _ stream: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return recv(stream, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
    }

    /// Prints the question and its sender.
    private func answer(_ question: [UInt8], _ transport: String, _ peer: sockaddr_in) -> [UInt8]? {
        var (labels, index) = ([String](), 12)
        while index < question.count, question[index] > 0 {
            let end = index + 1 + Int(question[index])
            guard end < question.count else { return nil }
            labels.append(String(decoding: question[(index + 1)..<end], as: UTF8.self))
            index = end
        }
        guard index + 4 < question.count else { return nil }
        let name = labels.joined(separator: ".").lowercased()
        let type = Int(question[index + 1]) << 8 | Int(question[index + 2])
        let from = withUnsafeBytes(of: peer.sin_addr) { $0.map { String($0) }.joined(separator: ".") }
        say("\(transport) \(type == 28 ? "AAAA" : "A") \(name) \(from)")
        guard labels.first != "dead" else { return nil }
        let isTruncated = labels.first == "big" && transport == "udp"
        let known = records.first { $0.name == name }
        let found = isTruncated ? [] : known?.addresses.filter { $0.isVersion6 == (type == 28) } ?? []
        // An authoritative answer with recursion available; NXDOMAIN for an unknown name.
        var answer = Array(question[..<2]) + [isTruncated ? 0x87 : 0x85, known == nil ? 0x83 : 0x80]
        answer += [0, 1, 0, UInt8(found.count), 0, 0, 0, 0] + question[12..<(index + 5)]
        for address in found {
            // A pointer to the question's name, the type, the class, and a lifetime of one minute.
            answer += [0xC0, 12, 0, UInt8(type), 0, 1, 0, 0, 0, 60, 0, UInt8(address.bytes.count)] + address.bytes
        }
        return answer
    }

    private func socket(_ type: __socket_type) throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(type.rawValue), 0)
        var local = sockaddr_in()
        local.sin_family = sa_family_t(AF_INET)
        local.sin_port = in_port_t(53).bigEndian
        inet_pton(AF_INET, address, &local.sin_addr)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withSocketAddress(&local, { bind(socket, $0, size) }) == 0 else { throw ProbeError("bind: \(errno)") }
        return socket
    }

    private func withSocketAddress<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
