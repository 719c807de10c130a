import Testing
import TransferTestServer
import TransferTestSupport

/// Lengths and offsets that an FTP server declares without a proof.
@Suite(.timeLimit(.minutes(2))) struct FileServerLengthTests {
    private static let content = Content.random(seed: 8, count: 3_000_000).bytes()

    private func withServer(_ body: (FTPScriptServer, Workplace) async throws -> Void) async throws {
        let server = try FTPScriptServer()
        defer { server.stop() }
        server.serve("/f", Self.content)
        try await body(server, try Workplace())
    }

    private func get(_ server: FTPScriptServer, _ place: Workplace, _ more: String...) async throws -> ProcessResult {
        try await place.command(
            ["get", server.url("/f"), "-o", "f", "--retry", "3", "--retry-delay", "1ms"] + more
        ).run()
    }

    @Test func aFileArrivesWhole() async throws {
        try await withServer { server, place in
            let result = try await get(server, place)
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.content("f") == Self.content)
        }
    }

    /// The length in the answer to SIZE × the number of bytes that RETR sends.
    @Test(arguments: [(3_000_000, 0), (3_000_000, 1), (3_000_001, 3_000_000), (2_900_000, 3_000_000), (1, 0)])
    func aFileWithADifferentDeclaredLengthIsNeverComplete(_ reported: Int, _ sent: Int) async throws {
        try await withServer { server, place in
            server.script("SIZE", [], afterwards: .reply("213 \(reported)"))
            if sent < Self.content.count { server.script("RETR", [], afterwards: .short(after: Int64(sent))) }
            let result = try await get(server, place)
            #expect(result.exitCode == 1, "\(result)")
            #expect(!place.folder.exists("f"))
        }
    }

    @Test func anEmptyFileIsComplete() async throws {
        try await withServer { server, place in
            server.serve("/f", [])
            let result = try await get(server, place)
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.content("f") == [])
        }
    }

    /// The server accepts REST, and refuses RETR behind it.
    @Test(arguments: ["550 no restart", "554 no restart", "451 f: Append/Restart not permitted, try again"])
    func aRestartThatIsRefusedLateIsAnsweredByTheWholeFile(_ reply: String) async throws {
        try await withServer { server, place in
            server.script("RETR", [.short(after: 1_000_000), .reply(reply)])
            let result = try await get(server, place)
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.content("f") == Self.content)
        }
    }

    /// The bytes before the offset are sent once more, and differ from the file's beginning.
    @Test func aResumeThatBeginsAnewIsDetectedAndTheFileIsRight() async throws {
        try await withServer { server, place in
            server.script("RETR", [.short(after: 1_000_000)])
            server.ignoreOffsets()
            let result = try await get(server, place, "--retry", "6")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.content("f") == Self.content)
        }
    }

    @Test func severalConnectionsNeverJoinRepeatedBeginnings() async throws {
        let server = try FTPScriptServer()
        defer { server.stop() }
        let place = try Workplace()
        let content = Content.random(seed: 5, count: 24_000_000).bytes()
        server.serve("/f", content)
        server.ignoreOffsets()
        let result = try await get(server, place, "--segments", "6")
        #expect(result.exitCode == 0, "\(result)")
        #expect(try place.content("f") == content)
    }

    @Test func severalConnectionsFetchAFileOfAnHonestServer() async throws {
        let server = try FTPScriptServer()
        defer { server.stop() }
        let place = try Workplace()
        let content = Content.random(seed: 6, count: 24_000_000).bytes()
        server.serve("/f", content)
        let result = try await get(server, place, "--segments", "6", "--retry", "0")
        #expect(result.exitCode == 0, "\(result)")
        #expect(try place.content("f") == content)
    }
}
