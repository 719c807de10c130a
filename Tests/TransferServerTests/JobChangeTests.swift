import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Jobs and batches that are changed while they wait and run, and the reports of their attempts.
@Suite(.timeLimit(.minutes(2))) struct JobChangeTests {
    private func priorities(_ place: ServedPlace) async throws -> [Int] {
        let jobs = try await place.ask("/api/v1/jobs?batch=nightly").json["jobs"] as? [[String: Any]] ?? []
        return jobs.compactMap { $0["priority"] as? Int }
    }

    /// Most jobs of a new batch are claimed ahead, and some are running.
    @Test func allJobsOfABatchAreChangedWhetherTheyWaitOrRun() async throws {
        try await withTestServer { server in
            let names = (0..<40).map { "\($0)" }
            for name in names {
                server.serve("/\(name)", .random(seed: 1, count: 1000))
                server.script("/\(name)", [.holdHead])
            }
            try await withService { place in
                let jobs = names.map { job(server.url("/\($0)"), to: $0) }.joined(separator: ", ")
                let made = try await place.ask(
                    "/api/v1/batches?name=nightly", json: "{\"version\": 1, \"jobs\": [\(jobs)]}")
                let key = try #require(made.json["key"] as? String)
                try await server.waitForHeld(1)
                let changed = try await place.ask(
                    "/api/v1/batches/\(key)", method: "PATCH", json: #"{"priority": 5}"#)
                #expect(changed.status == 200 && changed.json["changed"] as? Int == 40, "\(changed.text)")
                #expect(try await priorities(place) == Array(repeating: 5, count: 40))
                for name in names { server.script("/\(name)", []) }
                server.release()
                try await until("the batch ends") {
                    try await place.ask("/api/v1/batches/\(key)").json["done"] as? Int == 40
                }
                let late = try await place.ask("/api/v1/batches/\(key)", method: "PATCH", json: #"{"priority": 1}"#)
                #expect(late.status == 409 && late.json["code"] as? String == "ended", "\(late.text)")
            }
        }
    }

    @Test func aJobThatWasClaimedAheadIsChangedAlone() async throws {
        try await withTestServer { server in
            for name in 0..<20 { server.script("/\(name)", [.holdHead]) }
            try await withService { place in
                let jobs = (0..<20).map { job(server.url("/\($0)"), to: "\($0)") }.joined(separator: ", ")
                _ = try await place.ask("/api/v1/batches?name=nightly", json: "{\"version\": 1, \"jobs\": [\(jobs)]}")
                try await server.waitForHeld(1)
                let page = try await place.ask("/api/v1/jobs?batch=nightly").json["jobs"] as? [[String: Any]]
                let gid = try #require(page?.last?["gid"] as? String)
                let changed = try await place.ask("/api/v1/jobs/\(gid)", method: "PATCH", json: #"{"priority": 7}"#)
                #expect(changed.status == 200 && changed.json["priority"] as? Int == 7, "\(changed.text)")
                #expect(try await priorities(place).filter { $0 == 7 }.count == 1)
            }
        }
    }

    @Test(arguments: [#"{"priority": 1.5}"#, #"{"limitRate": -1}"#, #"{"name": "x"}"#])
    func changesThatMakeADifferentJobAreRefused(_ patch: String) async throws {
        try await withService { place in
            let made = try await place.ask(
                "/api/v1/batches?name=b", json: "{\"version\": 1, \"jobs\": [\(job("http://127.0.0.1:1/a", to: "a"))]}")
            let key = try #require(made.json["key"] as? String)
            let answer = try await place.ask("/api/v1/batches/\(key)", method: "PATCH", json: patch)
            #expect(answer.status == 422 && answer.json["code"] as? String == "badChange", "\(answer.text)")
        }
    }

    // MARK: Attempts

    private func attempts(_ gid: String, _ place: ServedPlace) async throws -> [[String: Any]] {
        try await place.ask("/api/v1/jobs/\(gid)/attempts").json["attempts"] as? [[String: Any]] ?? []
    }

    @Test func eachAttemptIsReportedWithItsEnd() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            server.script("/a", [.status(503), .status(502)])
            let place = try await ServedPlace.start()
            let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
            let gid = try #require(answer.json["gid"] as? String)
            _ = try await place.job(gid, becomes: "done")
            let reported = try await attempts(gid, place)
            #expect(reported.compactMap { $0["result"] as? String } == ["retried", "retried", "done"], "\(reported)")
            #expect(reported.compactMap { $0["attempt"] as? Int } == [1, 2, 3])
            #expect(
                reported.compactMap { $0["status"] as? Int } == [503, 502] && reported.last?["bytes"] as? Int == 1000)
            let times = reported.flatMap { [$0["started"], $0["ended"]] }.compactMap { $0 as? String }
            #expect(times.count == 6 && times == times.sorted(), "\(times)")
            // The attempts of another process are known only from the record.
            try await place.stop()
            let next = try await ServedPlace.start(in: place.folder)
            let record = try await next.ask("/api/v1/jobs/\(gid)/attempts")
            let last = try #require((record.json["attempts"] as? [[String: Any]])?.first)
            #expect(last["result"] as? String == "done" && last["bytes"] as? Int == 1000, "\(record.text)")
            #expect(record.json["count"] as? Int == 3)
            try await next.stop()
        }
    }

    @Test func aPermanentlyFailedJobReportsItsReason() async throws {
        try await withTestServer { server in
            try await withService { place in
                let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/none"), to: "a"))
                let gid = try #require(answer.json["gid"] as? String)
                _ = try await place.job(gid, becomes: "failed")
                let last = try #require(try await attempts(gid, place).last)
                #expect(last["result"] as? String == "failed" && last["code"] as? String == "httpStatus", "\(last)")
                #expect(last["status"] as? Int == 404)
            }
        }
    }
}
