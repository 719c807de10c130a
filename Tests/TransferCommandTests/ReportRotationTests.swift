import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `--report` and logrotate(8): the file is moved away, and a SIGHUP opens it anew.
@Suite(.timeLimit(.minutes(1))) struct ReportRotationTests {
    @Test func aRunContinuesInANewReportFile() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b"] { server.serve("/\(name)", .text(name)) }
            server.script("/b", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a"), download(server.url("/b"), to: "b")])
            let process = try place.startJobs("--report", "report.jsonl")
            try await process.event("job.finished", id: "a")
            try await server.waitForHeld(1)
            try await until("the end is in the report") {
                (try? place.folder.text("report.jsonl").contains(#""id":"a""#)) == true
            }
            #expect(rename(place.folder.path("report.jsonl"), place.folder.path("report.1")) == 0)
            process.kill(SIGHUP)
            try await until("it is there again") { access(place.folder.path("report.jsonl"), F_OK) == 0 }
            server.release()
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("report.1").split(separator: "\n").count == 1)
            let second = try place.folder.text("report.jsonl")
            #expect(second.contains(#""id":"b""#) && !second.contains(#""id":"a""#), "\(second)")
        }
    }

    /// The same signal makes the service read the job file again and open the report anew.
    @Test func aServiceReadsItsFileAgainAndRotates() async throws {
        try await withTestServer { server in
            let place = try WatchPlace(server)
            func configure(_ glob: String) throws {
                try place.folder.write(
                    #"{"version": 1, "watch": [{"folder": "out", "to": "\#(server.url("/in/"))", "settle": "50ms", "include": "\#(glob)"}]}"#,
                    to: "watch.json")
            }
            try configure("*.a")
            let process = try place.place.command(["run", "watch.json", "--json", "--report", "report.jsonl"]).start()
            try place.write("1", to: "x.a")
            try await process.confirmed("x.a")
            try await until("the end is in the report") {
                (try? place.folder.text("report.jsonl").contains("x.a")) == true
            }
            #expect(rename(place.folder.path("report.jsonl"), place.folder.path("report.1")) == 0)
            try configure("*.b")
            process.kill(SIGHUP)
            try await process.line(.standardError) { $0.contains("read again") }
            try place.write("2", to: "y.b")
            try await process.confirmed("y.b")
            try await place.stop(process)
            let (first, second) = (try place.folder.text("report.1"), try place.folder.text("report.jsonl"))
            #expect(first.contains("x.a") && !first.contains("y.b"), "\(first)")
            #expect(second.contains("y.b") && !second.contains("x.a"), "\(second)")
        }
    }

    @Test func aWatchWithoutAJobFileRotatesToo() async throws {
        try await withTestServer { server in
            let place = try WatchPlace(server)
            let process = try place.start("--report", "report.jsonl")
            try place.write("1", to: "x")
            try await process.confirmed("x")
            try await until("the end is in the report") {
                (try? place.folder.text("report.jsonl").contains("/x")) == true
            }
            #expect(rename(place.folder.path("report.jsonl"), place.folder.path("report.1")) == 0)
            process.kill(SIGHUP)
            try await until("it is there again") { access(place.folder.path("report.jsonl"), F_OK) == 0 }
            try place.write("2", to: "y")
            try await process.confirmed("y")
            try await place.stop(process)
            #expect(try place.folder.text("report.jsonl").contains("/y"))
        }
    }
}
