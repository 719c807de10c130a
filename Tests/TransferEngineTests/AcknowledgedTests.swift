import Glibc
import Testing

@testable import TransferEngine

/// The bytes that were acknowledged before the request distinguish an early answer from an answer to the request (RFC
/// 9112 §9.2).
@Suite(.timeLimit(.minutes(1))) struct AcknowledgedTests {
    @Test func anEarlierAcknowledgementDoesNotCoverTheRequest() throws {
        let listening = try LoopbackListener(backlog: 1)
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        address.sin_port = listening.port.bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
        let server = accept(listening.descriptor, nil, nil)
        defer { for descriptor in [client, server, listening.descriptor] { close(descriptor) } }
        let before = try #require(PlainSockets.Acknowledged(client))
        #expect(send(server, "early", 5, 0) == 5)
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(recv(client, &buffer, 16, 0) == 5)
        #expect(!before.hasGrown)
        #expect(send(client, "question", 8, 0) == 8)
        #expect(recv(server, &buffer, 16, 0) == 8)
        #expect(send(server, "answer", 6, 0) == 6)
        #expect(recv(client, &buffer, 16, 0) == 6)
        #expect(before.hasGrown)
    }

    @Test func aMissingConnectionIsNotJudged() {
        let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(datagrams) }
        #expect(PlainSockets.Acknowledged(datagrams) == nil)
    }
}
