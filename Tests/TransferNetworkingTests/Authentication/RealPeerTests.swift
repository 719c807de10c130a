import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// nginx, and tinyproxy and microsocks where they are installed.
@Suite(.timeLimit(.minutes(2))) struct RealPeerTests {
    private static let tinyproxy = "/usr/bin/tinyproxy"
    private static let microsocks = "/usr/bin/microsocks"
    private static func exists(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    @Test func challengesAreAnsweredOverHTTP2() async throws {
        let folder = try TemporaryFolder("challenge")
        try folder.write("user:{PLAIN}pass\n", to: "users")
        var options = NginxServer.Options()
        options.certificate = try await ServerCertificate.make(in: folder)
        options.location = "auth_basic \"the realm\"; auth_basic_user_file \"\(folder.path("users"))\";"
        options.allowsWriting = true
        let server = try await NginxServer.start(options: options)
        let session = makeSession { $0.authorities = options.certificate?.path }
        let wrong = await session.upload(Data(count: 500_000), to: server.url("/up"), method: .put)
            .authenticate(username: "user", password: "no").serializingData().response
        #expect(wrong.response?.statusCode == 401)
        let sent = await session.upload(Data(count: 500_000), to: server.url("/up"), method: .put)
            .authenticate(username: "user", password: "pass").serializingData(emptyResponseCodes: [201]).response
        #expect(sent.response?.statusCode == 201, "\(String(describing: sent.error))")
        #expect(sent.metrics?.transactionMetrics.last?.networkProtocolName == "h2")
        let read = await session.request(server.url("/up")).authenticate(username: "user", password: "pass")
            .serializingData().response
        #expect(read.value?.count == 500_000)
    }

    /// Waits until the port is open, since the program does not report its start.
    private func waitForListener(_ port: UInt16) async throws {
        let session = makeSession { _ in }
        for _ in 0..<5_000 {
            let response = await session.request("http://127.0.0.1:\(port)/").serializingData().response
            let cause = (response.error?.underlyingError as? URLError)?.transferError
            if cause?.code != .cannotConnect { return }
        }
        Issue.record("nobody listens on \(port)")
    }

    @Test(.enabled(if: exists(tinyproxy))) func tinyproxyForwardsAfterItsChallenge() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("hello"))
            let folder = try TemporaryFolder("tinyproxy")
            let port = try LoopbackPort.free()
            try folder.write(
                "Port \(port)\nListen 127.0.0.1\nTimeout 60\nBasicAuth u secretword\nLogFile \"\(folder.path("log"))\"\n",
                to: "conf")
            let process = try ChildProcess.start(
                ChildProcess.Command(Self.tinyproxy, ["-d", "-c", folder.path("conf")], timeout: .seconds(60)))
            defer { process.kill(SIGKILL) }
            try await waitForListener(port)
            let session = makeSession { $0.proxy = "http://u:secretword@127.0.0.1:\(port)" }
            #expect(try await session.request(server.url("/x")).serializingString().value == "hello")
            // tinyproxy answers 401 to a wrong password, like a server. Only missing credentials can be distinguished.
            let refused = makeSession { $0.proxy = "http://127.0.0.1:\(port)" }
            let error = await refused.request(server.url("/x")).serializingString().response.error
            let cause = (error?.underlyingError as? URLError)?.transferError
            #expect(cause?.code == .proxyRefused, "\(String(describing: error))")
        }
    }

    @Test(.enabled(if: exists(microsocks))) func microsocksCarriesRequests() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("hello"))
            let port = try LoopbackPort.free()
            let process = try ChildProcess.start(
                ChildProcess.Command(
                    Self.microsocks, ["-i", "127.0.0.1", "-p", "\(port)", "-u", "u", "-P", "p"], timeout: .seconds(60)))
            defer { process.kill(SIGKILL) }
            try await waitForListener(port)
            for scheme in ["socks5", "socks5h"] {
                let session = makeSession { $0.proxy = "\(scheme)://u:p@127.0.0.1:\(port)" }
                let value = try await session.request("http://localhost:\(server.port)/x").serializingString().value
                #expect(value == "hello")
            }
        }
    }
}
