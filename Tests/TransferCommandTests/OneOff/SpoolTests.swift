import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Standard input is kept until it has arrived, and no longer than somebody may want to send it.
@Suite(.timeLimit(.minutes(1))) struct SpoolTests {
    private func failed(_ place: Workplace, _ url: String) async throws -> ProcessResult {
        var command = place.command(["put", "-", url])
        command.standardInput = .data(Data("from a pipe".utf8))
        let result = try await command.run()
        #expect(result.exitCode == 1 && result.standardError.contains("standard input is kept in "), "\(result)")
        return result
    }

    private func spools(_ place: Workplace) throws -> [String] {
        try place.folder.files().filter { $0.contains("streams/input-") }
    }

    @Test func theCommandThatIsToldSendsItAndNothingStays() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/f")
            server.script("/in/f", [.status(403)])
            let result = try await failed(place, server.url("/in/f"))
            let words = try #require(
                result.standardError.firstMatch(of: #/; transfer (put .*) goes on with it/#)?.output.1)
            let again = try await place.command(words.split(separator: " ").map(String.init)).run()
            #expect(again.exitCode == 0, "\(words): \(again)")
            #expect(sink.uploads.last?.bytes == Array("from a pipe".utf8))
            #expect(try spools(place) == [])
        }
    }

    @Test(arguments: ["forget", "cancel"]) func aBatchThatIsGoneTakesItAlong(verb: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/in/f", [.status(403)])
            _ = try await failed(place, server.url("/in/f"))
            #expect(try !spools(place).isEmpty)
            let name = try #require(try await place.status().compactMap { $0["batch"]?.string }.first)
            if verb == "cancel" {
                #expect(try await place.run("retry", name).exitCode == 0)
            }
            let gone = try await place.run(verb, name)
            #expect(gone.exitCode == 0, "\(gone)")
            #expect(try spools(place) == [])
        }
    }
}
