import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Files in forms, by the command: the server's received form, and the cases in which it is sent again.
@Suite(.timeLimit(.minutes(2))) struct FormUploadTests {
    @Test func theFieldsComeInTheirOrderAndTheFileLast() async throws {
        try await withTestServer { server in
            let place = try place(as: "o \"t.bin")
            try place.folder.write("from a file", to: "note")
            let sink = server.acceptUploads("/in", answer: Response(status: 201, body: .text("{\"id\": 7}")))
            let fields = #""fields": {"title": "Straße \"7\"", "note": {"file": "note"}, "a": ""}, "fileField": "doc""#
            try place.jobs([
                upload(#"o \"t.bin"#, to: server.url("/in"), #""id": "up", "protocol": "multipart", "# + fields)
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let received = try #require(sink.uploads.first)
            #expect(received.method == "POST" && received.isComplete && server.requests.count == 1)
            #expect(received.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
            #expect(received.headers["Content-Length"] == "\(received.count)")
            let parts = try received.form().parts
            #expect(parts.map(\.name) == ["title", "note", "a", "doc"])
            let texts = parts.dropLast().map { String(decoding: $0.body, as: UTF8.self) }
            #expect(texts == ["Straße \"7\"", "from a file", ""])
            #expect(parts.map(\.fileName) == [nil, nil, nil, "o \"t.bin"])
            #expect(parts.last?.contentType == "application/octet-stream")
            #expect(try parts.last.map { Array($0.body) } == place.content("o \"t.bin"))
            let end = try result.events().of("up").named("job.finished").first
            #expect(end?["response"]?.string == "{\"id\": 7}" && end?["status"]?.int == 201)
        }
    }

    @Test func anEmptyFileIsAPartToo() async throws {
        try await withTestServer { server in
            let place = try place(0)
            let sink = server.acceptUploads("/in")
            try place.jobs([upload("out.bin", to: server.url("/in"), #""protocol": "multipart""#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let parts = try #require(sink.uploads.first).form().parts
            #expect(parts.map(\.name) == ["file"] && parts.map(\.fileName) == ["out.bin"])
            #expect(parts.allSatisfy { $0.body.isEmpty })
        }
    }

    /// A gateway may have answered while the server behind it stored the file.
    @Test func a503LeavesTheArrivalOfASentFormOpen() async throws {
        try await withTestServer { server in
            let place = try place()
            server.acceptUploads("/in")
            server.script("/in", [.status(503)])
            try place.jobs([upload("out.bin", to: server.url("/in"), #""id": "up", "protocol": "multipart""#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(server.requests.count == 1)
            let end = try result.events().of("up").named("job.failed").first
            #expect(end?["code"]?.string == "mayHaveBeenSent" && end?["attempts"]?.int == 1, "\(result)")
        }
    }

    @Test(arguments: [Fault.status(503), .loseAnswer, .cutUpload(after: 50_000)])
    func theWholeFormIsSentAgainWhenTheJobAllowsIt(_ fault: Fault) async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/in")
            server.script("/in", [fault])
            let members = #""id": "up", "protocol": "multipart", "fields": {"a": "b"}"#
            let retry = #", "retry": {"methods": ["POST"], "scale": 0}"#
            try place.jobs([upload("out.bin", to: server.url("/in"), members + retry)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.count == 2)
            let parts = try #require(sink.uploads.last).form().parts
            #expect(parts.map(\.name) == ["a", "file"])
            #expect(try parts.last.map { Array($0.body) } == place.content("out.bin"))
        }
    }

    @Test func aFormUnderWayAtAKillIsNotSentAgainAutomatically() async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/in")
            server.script("/in", [.stallUpload(after: 50_000)])
            try place.jobs([upload("out.bin", to: server.url("/in"), #""id": "up", "protocol": "multipart""#)])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            process.kill(SIGKILL)
            _ = try await process.result()

            let again = try await place.runJobs()
            #expect(again.exitCode == 1, "\(again)")
            let end = try again.events().of("up").named("job.failed").first
            #expect(end?["code"]?.string == "mayHaveBeenSent", "\(again)")
            #expect(server.requests.count == 1)
            // A person who runs it again has read the message, and wants it sent.
            let third = try await place.runJobs()
            #expect(third.exitCode == 0, "\(third)")
            #expect(sink.uploads.filter(\.isComplete).count == 1)
        }
    }

    private func place(_ count: Int = 200_000, as name: String = "out.bin") throws -> Workplace {
        let place = try Workplace("form")
        try place.folder.write(count: count, seed: 3, to: name)
        return place
    }
}
