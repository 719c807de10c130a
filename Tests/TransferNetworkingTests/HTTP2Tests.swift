import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

/// HTTP/2 over TLS, with a real nginx.
@Suite("HTTP/2", .timeLimit(.minutes(2)))
struct HTTP2Tests {
    private func withServer(
        location: String = "", _ body: (NginxServer, Session, TemporaryFolder) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder("http2")
        var options = NginxServer.Options()
        options.certificate = try await ServerCertificate.make(in: folder)
        options.location = location
        let server = try await NginxServer.start(options: options)
        var settings = SessionSettings()
        settings.authorities = options.certificate?.path
        settings.loops = 1
        // The server ends with its last reference.
        try await body(server, Session(settings), folder)
    }

    @Test func requestsShareOneConnectionAndTheirMetricsSayH2() async throws {
        try await withServer { server, session, _ in
            try Data("hello".utf8).write(to: URL(fileURLWithPath: server.root + "/x"))
            let first = await session.request(server.url("/x")).serializingString().response
            #expect(first.value == "hello")
            let transaction = try #require(first.metrics?.transactionMetrics.first)
            #expect(transaction.networkProtocolName == "h2" && !transaction.isReusedConnection)
            #expect(transaction.secureConnectionEndDate != nil && transaction.remotePort == Int(server.port))
            // More requests than the limit of connections run at once, as streams of one connection.
            let responses = await withTaskGroup(of: AFDataResponse<String>.self) { group in
                for _ in 0..<40 {
                    group.addTask { await session.request(server.url("/x")).serializingString().response }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(responses.allSatisfy { $0.value == "hello" })
            #expect(responses.allSatisfy { $0.metrics?.transactionMetrics.first?.isReusedConnection == true })
        }
    }

    @Test func anUntrustedServerIsRefused() async throws {
        try await withServer { server, _, _ in
            let response = await Session().request(server.url("/x")).serializingData().response
            #expect((response.error?.underlyingError as? URLError)?.code == .serverCertificateUntrusted)
            let log = try server.accessLog()
            #expect(log.isEmpty)
        }
    }

    @Test func aDownloadAndAnUploadGoOverIt() async throws {
        try await withServer(
            location: "dav_methods PUT; create_full_put_path on; client_max_body_size 0;"
        ) { server, session, folder in
            let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let source = URL(fileURLWithPath: folder.path("source"))
            try bytes.write(to: source)
            let sent = await session.upload(source, to: server.url("/up"), method: .put).serializingData(
                emptyResponseCodes: [201]
            ).response
            #expect(sent.response?.statusCode == 201)
            let url = try await session.download(server.url("/up")).serializingDownloadedFileURL().value
            #expect(try Data(contentsOf: url) == bytes)
            try? FileManager.default.removeItem(at: url)
        }
    }

    @Test func anUnreadStreamIsHeldAndContinues() async throws {
        try await withServer { server, session, _ in
            let bytes = Data((0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            try bytes.write(to: URL(fileURLWithPath: server.root + "/x"))
            let input = try #require(session.streamRequest(server.url("/x")).asInputStream())
            // Another stream of the same connection is not delayed by it.
            let small = Data("small".utf8)
            try small.write(to: URL(fileURLWithPath: server.root + "/s"))
            let other = try await session.request(server.url("/s")).serializingData().value
            #expect(other == small)
            input.open()
            var read = Data()
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            while true {
                let count = input.read(&buffer, maxLength: buffer.count)
                guard count > 0 else { break }
                read.append(contentsOf: buffer[..<count])
            }
            #expect(read == bytes)
        }
    }
}
