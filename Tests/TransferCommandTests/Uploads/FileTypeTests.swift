import Testing
import TransferTestServer
import TransferTestSupport

/// The Content-Type of uploads, by the command.
@Suite(.timeLimit(.minutes(1))) struct FileTypeTests {
    /// - Parameter count: The size; from 4 MiB on a plain request is offered as resumable, by a different path through
    ///   the program.
    @Test(arguments: ["put", "post"], [1000, 5 << 20])
    func theTypeFollowsFromTheNameUnlessTheJobSetsIt(_ name: String, _ count: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace("type")
            try place.folder.write(count: count, seed: 3, to: "page.html")
            try place.folder.write(count: count, seed: 3, to: "data")
            let sink = server.acceptUploads("/*")
            let protocolMember = "\"protocol\": \"\(name)\""
            try place.jobs([
                upload("page.html", to: server.url("/a"), protocolMember),
                upload("data", to: server.url("/b.json"), protocolMember),
                upload("data", to: server.url("/c"), protocolMember),
                upload("page.html", to: server.url("/d"), protocolMember + #", "headers": {"content-type": "a/b"}"#),
                upload("page.html", to: server.url("/e?Signature=s&AWSAccessKeyId=k"), protocolMember),
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let types = Dictionary(
                server.requests.map { ($0.path, $0.headers["Content-Type"] ?? "none") }, uniquingKeysWith: { $0 + $1 })
            #expect(
                types == [
                    "/a": "text/html", "/b.json": "application/json", "/c": "none", "/d": "a/b", "/e": "none",
                ])
            #expect(sink.uploads.count == 5)
        }
    }
}
