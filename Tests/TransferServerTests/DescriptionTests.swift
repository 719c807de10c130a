import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The service against its own description: schemathesis sends all requests that the description permits, and more.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Client.isThere("schemathesis"))) struct DescriptionTests {
    @Test func theServiceAnswersAsItsDescriptionSays() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            try await withService { place in
                // The queue has jobs to show: one that is done, and one that failed.
                for name in ["a", "missing"] {
                    _ = try await place.ask("/api/v1/jobs", json: job(server.url("/\(name)"), to: name))
                }
                let result = try await Client.tool(
                    "schemathesis",
                    [
                        "run", place.url + "/openapi.json", "--url", place.url, "-H",
                        "Authorization: Bearer \(place.secret)",
                        // An event stream has no end.
                        "--exclude-path", "/api/v1/events", "--phases", "examples,coverage,fuzzing", "--max-examples",
                        "10",
                        "--workers", "1", "--no-color", "--seed", "37", "--checks",
                        "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
                            + "response_headers_conformance",
                    ], in: place.folder.path)
                #expect(result.exitCode == 0, "\(result)")
                #expect(place.process.isRunning)
            }
        }
    }
}

/// The description itself, without a service.
@Suite struct DescribedAnswerTests {
    /// A shared queue's database may be away during each request.
    @Test func everyOperationMayBeUnavailable() throws {
        let file = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/TransferServer/API/openapi.json")
        let description = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let paths = try #require(description?["paths"] as? [String: [String: Any]])
        var count = 0
        for (path, operations) in paths where path != "/healthz" {
            for (method, operation) in operations where method != "parameters" {
                let answers = (operation as? [String: Any])?["responses"] as? [String: [String: Any]]
                // A stream of events is also refused while too many are open.
                let name = path == "/api/v1/events" ? "Problem" : "Unavailable"
                let answer = answers?["503"]?["$ref"] as? String
                #expect(answer == "#/components/responses/\(name)", "\(method) \(path)")
                count += 1
            }
        }
        #expect(count > 20)
    }
}
