import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

extension WatchCommandTests {
    @Test func theQueuesVerbsKnowItsBatch() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let batch = "watch:" + watch.path
            let process = try watch.start()
            try await process.event("watch.found")
            let row = try #require(try await watch.place.status(batch).first)
            #expect(row["state"]?.string == "watching" && row["pid"]?.int == Int64(process.processID))
            server.script("/in/a.txt", [], afterwards: .status(503))
            try watch.write("x", to: "a.txt")
            let id = try #require(try await process.event("job.retrying")["id"]?.string)
            let why = try await watch.place.run("why", "\(batch)/\(id)")
            #expect(why.exitCode == 0 && why.standardOutput.hasPrefix("\(batch)/\(id): "), "\(why)")
            let paused = try await watch.place.run("pause", batch)
            #expect(paused.exitCode == 0, "\(paused)")
            try await process.event("job.waiting", id: id) { $0["for"]?.string == "paused" }
            server.script("/in/a.txt", [])
            #expect(try await watch.place.run("resume", batch).exitCode == 0)
            try await process.confirmed("a.txt")
            try await watch.stop(process)
            #expect(try await watch.place.status(batch).first?["state"]?.string != "watching")
        }
    }

    @Test func aPausedFolderIsReportedAtTheNextStart() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let batch = "watch:" + watch.path
            var process = try watch.start()
            try await process.event("watch.found")
            #expect(try await watch.place.run("pause", batch).exitCode == 0)
            try await process.event("batch.commanded") { $0["verb"]?.string == "pause" }
            try watch.write("x", to: "a.txt")
            try await process.event("watch.backlog") { $0["waiting"]?.int == 1 }
            let first = try await watch.stop(process)
            #expect(first.standardError.contains("1 file left, paused; after transfer resume "), "\(first)")

            process = try watch.start()
            try await process.event("watch.paused")
            try await process.event("watch.caughtUp")
            #expect(try await watch.place.run("resume", batch).exitCode == 0)
            try await process.confirmed("a.txt")
            let second = try await watch.stop(process)
            #expect(second.standardError.contains("paused, nothing is uploaded until transfer resume "), "\(second)")
        }
    }

    /// A new name is no reason to upload the file after all; a user's command uploads it under that name.
    @Test func aCancelledFileThatIsRenamedStaysCancelled() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let batch = "watch:" + watch.path
            server.script("/in/a.txt", [], afterwards: .status(503))
            try watch.write("x", to: "a.txt")
            let process = try watch.start()
            let id = try #require(try await process.event("job.retrying")["id"]?.string)
            #expect(try await watch.place.run("cancel", "\(batch)/\(id)").exitCode == 0)
            try await process.event("job.cancelled", id: id)
            rename(watch.folder.path("out/a.txt"), watch.folder.path("out/b.txt"))
            try watch.write("y", to: "c.txt")
            try await process.confirmed("c.txt")
            #expect(watch.bodies("b.txt") == [])
            #expect(try await watch.place.run("retry", "\(batch)/\(id)").exitCode == 0)
            try await process.confirmed("b.txt")
            try await watch.stop(process)
            #expect(watch.bodies("b.txt") == ["x"])
        }
    }

    @Test func anotherTargetIsReported() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            try watch.write("x", to: "a.txt")
            var process = try watch.start()
            try await process.caughtUp(confirming: 1)
            try await watch.stop(process)
            process = try watch.place.command([
                "watch", "out", "--to", server.url("/other/"), "--settle", "100ms", "--json",
            ]).start()
            let event = try await process.event("watch.retargeted")
            #expect(event["from"]?.string == server.url("/in/{name}"))
            try await process.event("watch.caughtUp")
            let result = try await watch.stop(process)
            #expect(result.standardError.contains("its files went to \(server.url("/in/{name}")) before"), "\(result)")
            #expect(server.requests.count == 1)
        }
    }
}
