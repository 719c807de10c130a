import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The memory of requests, each measured in a process of its own (`Tests/request-load`).
@Suite("Memory of requests")
struct MemoryOfRequestsTests {
    private struct Report: Decodable {
        var before: Int64
        var after: Int64
        var isRight: Bool
        var protocolName: String?
        var growth: Int64 { after - before }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("load") }

    private func run(_ arguments: [String], authorities: String? = nil) async throws -> Report {
        var words = [try TransferCommand.builtProduct("request-load")] + arguments
        if let authorities { words = MountNamespace.words(trusting: authorities) + words }
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = try folder.folder("tmp")
        let result = try await ChildProcess.start(
            ChildProcess.Command(words[0], Array(words.dropFirst()), environment: environment)
        ).result()
        guard result.exitCode == 0 else { throw TestSupportError("\(result)") }
        return try JSONDecoder().decode(Report.self, from: result.standardOutputData)
    }

    /// Makes a file of `size` bytes that occupies no disk space.
    private func sparseFile(_ size: UInt64) throws -> String {
        let path = try folder.write("", to: "sparse.bin")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: size)
        try file.close()
        return path
    }

    // MARK: Many requests

    @Test(arguments: TransferCommand.runsHeavyTests ? [(5_000, 20_000)] : [(2_000, 4_000)])
    func memoryDoesNotGrowWithTheNumberOfRequests(first: Int, more: Int) async throws {
        let nginx = try await NginxServer.start()
        try Data(count: 200).write(to: URL(fileURLWithPath: nginx.root + "/x"))
        let report = try await run(["many", nginx.url("/x"), "\(first)", "\(more)"])
        #expect(report.isRight)
        #expect(report.growth < 4 << 20, "grew by \(report.growth) bytes")
    }

    // MARK: Large uploads

    @Test(arguments: TransferCommand.runsHeavyTests ? [UInt64(1 << 30)] : [128 << 20])
    func aLargeFormIsSentInBoundedMemory(size: UInt64) async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in", keepsBytes: false)
            let report = try await run(["form", server.url("/in"), try sparseFile(size)])
            #expect(report.isRight)
            #expect(report.after < 48_000_000, "a peak of \(report.after) bytes")
            let upload = try #require(sink.uploads.first)
            #expect(upload.isComplete)
            #expect(upload.count > Int64(size))
            #expect(upload.headers["Content-Length"] == "\(upload.count)")
            let left = try folder.files(below: "tmp")
            #expect(left.isEmpty)
        }
    }

    @Test func aStreamIsSentInBoundedMemory() async throws {
        let file = try folder.write(count: 256 << 20, seed: 3, to: "source.bin")
        var options = NginxServer.Options()
        options.allowsWriting = true
        let nginx = try await NginxServer.start(options: options)
        let report = try await run(["stream", nginx.url("/copy.bin"), file])
        #expect(report.isRight)
        #expect(report.growth < 2 << 20, "grew by \(report.growth) bytes")
        #expect(FileManager.default.contentsEqual(atPath: file, andPath: nginx.root + "/copy.bin"))
    }

    // MARK: A client that never reads

    static let unread = ["input-stream", "sequence", "queue", "suspended", "undecided"]
    /// The size of the answer, many times the bytes that may be held.
    static let unreadSize = TransferCommand.runsHeavyTests ? 256 << 20 : 64 << 20

    @Test func anUnreadAnswerStaysWithTheServer() async throws {
        let nginx = try await NginxServer.start()
        let file = try folder.write(count: Self.unreadSize, seed: 4, to: "large.bin")
        try FileManager.default.moveItem(atPath: file, toPath: nginx.root + "/large.bin")
        for kind in Self.unread {
            let report = try await run(["unread", kind, nginx.url("/large.bin"), nginx.root + "/large.bin"])
            #expect(report.isRight, "\(kind)")
            #expect(report.growth < 2 << 20, "\(kind): grew by \(report.growth) bytes")
        }
    }

    /// The receive window of a stream in libcurl is 32 MiB.
    @Test(.enabled(if: MountNamespace.isAllowed, "a session trusts the system's authorities only"))
    func anUnreadAnswerOverHTTP2IsBoundedByTheWindow() async throws {
        let certificate = try await TestCertificate.make(in: folder)
        let port = try LoopbackPort.free()
        var options = NginxServer.Options()
        options.http = """
            server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate "\(certificate.file)"; ssl_certificate_key "\(certificate.key)";
                root "\(folder.path)";
            }
            """
        let nginx = try await NginxServer.start(options: options)
        let file = try folder.write(count: Self.unreadSize, seed: 5, to: "large.bin")
        for kind in Self.unread {
            let report = try await run(
                ["unread", kind, "https://127.0.0.1:\(port)/large.bin", file], authorities: certificate.file)
            #expect(report.protocolName == "h2")
            #expect(report.isRight, "\(kind)")
            #expect(report.growth < 34 << 20, "\(kind): grew by \(report.growth) bytes")
        }
        withExtendedLifetime(nginx) {}
    }
}

/// A certificate that signs itself, for 127.0.0.1.
private struct TestCertificate {
    let file: String
    let key: String

    static func make(in folder: TemporaryFolder) async throws -> TestCertificate {
        let made = TestCertificate(file: folder.path("certificate.pem"), key: folder.path("key.pem"))
        let result = try await ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", made.key, "-out",
                    made.file,
                ])
        ).result()
        guard result.exitCode == 0 else { throw TestSupportError("openssl: \(result)") }
        return made
    }
}

/// Runs a program that sees another file at the path of the system's authorities.
private enum MountNamespace {
    static let system = "/etc/ssl/certs/ca-certificates.crt"

    /// Whether this user may make a mount namespace, and the system keeps its authorities at Debian's path.
    static let isAllowed: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["--user", "--map-root-user", "--mount", "test", "-f", system]
        process.standardError = nil
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    static func words(trusting file: String) -> [String] {
        [
            "/usr/bin/unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
            "mount --bind \"$0\" \(system) && exec \"$@\"", file,
        ]
    }
}
