import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A complete file and an answer that is not its next version: each command that asks again × each answer.
@Suite(.timeLimit(.minutes(2))) struct ReplacementMatrixTests {
    private static let content = Content.random(seed: 31, count: 300_000)
    private static let page = Content.text("<html>please log in</html>")

    /// The commands that request a complete file again.
    enum Way: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case get, refresh, update, repair, segmentedRefresh
        var testDescription: String { rawValue }
    }

    enum Answer: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case page, pageWithAVersion, redirectToAPage, empty, emptyInChunks, bytesWithoutAVersion, partWithoutAVersion
        case newVersionInACoding, sameVersionInACoding, sameVersionShorter

        var testDescription: String { rawValue }

        func give(_ server: TestServer) {
            let html: HeaderFields = ["Content-Type": "text/html"]
            let fault: Fault =
                switch self {
                case .page: .status(200, headers: html, body: ReplacementMatrixTests.page)
                case .pageWithAVersion:
                    .status(
                        200, headers: ["Content-Type": "text/html", "ETag": "\"p\""], body: ReplacementMatrixTests.page)
                case .redirectToAPage: .redirect(to: "/login")
                case .empty: .status(200)
                case .emptyInChunks: Fault.status(200).and(.chunked())
                case .bytesWithoutAVersion: .status(200, body: .random(seed: 4, count: 300_000))
                case .partWithoutAVersion:
                    .status(206, headers: ["Content-Range": "bytes 0-4/5"], body: .text("other"))
                case .newVersionInACoding:
                    .status(
                        200, headers: ["ETag": "\"v2\"", "Content-Encoding": "gzip"],
                        body: .random(seed: 5, count: 9000))
                case .sameVersionInACoding:
                    .status(
                        200, headers: ["ETag": "\"v1\"", "Content-Encoding": "gzip"],
                        body: .random(seed: 5, count: 9000))
                case .sameVersionShorter:
                    .status(200, headers: ["ETag": "\"v1\""], body: .random(seed: 31, count: 200_000))
                }
            server.handle("GET", "/login") { _ in Response(headers: html, body: ReplacementMatrixTests.page) }
            server.script("/f", [], afterwards: fault)
        }
    }

    private func ask(_ way: Way, _ server: TestServer, _ place: Workplace) async throws -> ProcessResult {
        let get = ["get", "-o", "f", "--state", "st", "--retry", "1", "--retry-delay", "1ms", server.url("/f")]
        switch way {
        case .get: return try await place.command(get).run()
        case .update: return try await place.command(get + ["--if-exists", "update"]).run()
        case .refresh, .segmentedRefresh:
            return try await place.run("run", "jobs.json", "--refresh", "--state", "st")
        case .repair: return try await place.run("verify", "batch", "--repair", "--state", "st")
        }
    }

    private func fetch(_ way: Way, _ server: TestServer, _ place: Workplace) async throws {
        server.serve("/f", ServedFile(Self.content, etag: "\"v1\"", lastModified: 1_600_000_000))
        let segments = way == .segmentedRefresh ? #""segments": 4, "# : ""
        try place.jobs([
            download(server.url("/f"), to: "f", segments + #""id": "f", "retry": {"limit": 1, "scale": "1ms"}"#)
        ])
        let first =
            switch way {
            case .get, .update: try await ask(way, server, place)
            case .refresh, .repair, .segmentedRefresh: try await place.run("run", "jobs.json", "--state", "st")
            }
        #expect(first.exitCode == 0, "\(first)")
    }

    @Test(arguments: Way.allCases, Answer.allCases)
    func theFileStaysAndTheExitStatusReportsIt(_ way: Way, _ answer: Answer) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try await fetch(way, server, place)
            if way == .repair {
                let file = try FileHandle(forUpdating: URL(fileURLWithPath: place.folder.path("f")))
                try file.write(contentsOf: Data("damage".utf8))
                try file.close()
            }
            let before = try place.content("f")
            answer.give(server)
            let result = try await ask(way, server, place)
            #expect(result.exitCode == 1, "\(result)")
            #expect(try place.content("f") == before, "\(result)")
            // The same command succeeds once the server is repaired.
            server.script("/f", [])
            let again = try await ask(way, server, place)
            #expect(again.exitCode == 0, "\(again)")
            #expect(try place.content("f") == Self.content.bytes())
        }
    }

    @Test(arguments: [Way.get, .update, .refresh])
    func anotherVersionTakesItsPlace(_ way: Way) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try await fetch(way, server, place)
            server.serve("/f", ServedFile(.text("newer"), etag: "\"v2\""))
            let result = try await ask(way, server, place)
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("f") == "newer")
        }
    }
}
