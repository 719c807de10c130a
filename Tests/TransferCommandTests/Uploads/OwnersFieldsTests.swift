import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The requests of an upload that carry a job's `headers`.
@Suite(.timeLimit(.minutes(1))) struct OwnersFieldsTests {
    /// nginx answers a HEAD with the condition by 304, as it does for an unchanged file.
    @Test func aPUTOfSomethingNewWhoseAnswerWasLostIsFoundToHaveArrived() async throws {
        let bench = try await UploadConformanceTests.Bench(
            .plainPut, more: #", "headers": {"If-None-Match": "*"}"#)
        bench.relay.script([.loseAnswer(after: Int64(UploadConformanceTests.size))])
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
        #expect(bench.relay.bytesUp < Int64(UploadConformanceTests.size) * 5 / 4, "it was sent again")
    }

    @Test(arguments: ["PUT", "POST"]) func fieldsOfTheWholeAreNotSentWithItsParts(_ method: String) async throws {
        try await withTestServer { server in
            let served = server.serve("/*", ResumableService())
            let place = try Workplace("fields")
            try place.folder.write(count: 300_000, seed: 7, to: "f")
            let headers = #"""
                {"X-Team": "media", "Content-Encoding": "x-own", "Content-Disposition": "attachment; filename=\"own\""}
                """#
            try place.jobs([
                upload(
                    "f", to: server.url("/in/f"),
                    #""protocol": "resumable", "method": "\#(method)", "chunkSize": 100000, "headers": \#(headers)"#)
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let names = ["X-Team", "Content-Encoding", "Content-Disposition"]
            let fields = server.requests.map { request in [request.method] + names.map { request.headers[$0] ?? "" } }
            let part = ["PATCH", "media", "", ""]
            #expect(fields == [[method, "media", "x-own", #"attachment; filename="own""#], part, part, part])
            // The target gets exactly the job's fields.
            #expect(served.with { $0.finished.map { $0.headers["Content-Encoding"] } } == ["x-own"])
        }
    }
}
