import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Jobs that arrive over HTTP are accepted, run and reported.
@Suite(.timeLimit(.minutes(2))) struct SubmissionTests {
    @Test func aJobThatWasPostedIsRunAndHasAReceipt() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 100_000))
            try await withService { place in
                let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "in/a"))
                #expect(answer.status == 201, "\(answer.text)")
                let gid = try #require(answer.json["gid"] as? String)
                #expect(answer.field("Location") == "/api/v1/jobs/\(gid)")
                let done = try await place.job(gid, becomes: "done")
                #expect(done["bytes"] as? Int == 100_000)
                let receipt = try await place.ask("/api/v1/jobs/\(gid)/receipt")
                #expect(receipt.json["path"] as? String == place.folder.path("files/in/a"))
                #expect(place.folder.size("files/in/a") == 100_000)
                #expect(try await place.ask("/api/v1/jobs/\(gid)/why").json["state"] as? String == "done")
            }
        }
    }

    @Test func theSameJobIsTakenOnceAndAnotherOneOfItsNameIsAConflict() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 10))
            try await withService { place in
                let first = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
                let again = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
                #expect(again.json["same"] as? Int == 1 && again.json["added"] as? Int == 0)
                #expect(again.json["gid"] as? String == first.json["gid"] as? String)
                let other = try await place.ask("/api/v1/jobs", json: job(server.url("/b"), to: "a"))
                #expect(other.status == 409 && other.json["code"] as? String == "conflict", "\(other.text)")
            }
        }
    }

    @Test func anArrayIsTakenWholeOrNotAtAll() async throws {
        try await withTestServer { server in
            try await withService { place in
                let faulty = try await place.ask(
                    "/api/v1/jobs", json: "[\(job(server.url("/a"), to: "a")), {\"download\": \"\(server.url("/b"))\"}]"
                )
                #expect(faulty.status == 422)
                let errors = try #require(faulty.json["errors"] as? [[String: Any]])
                #expect(errors.first?["pointer"] as? String == "/1")
                #expect((try await place.ask("/api/v1/jobs").json["jobs"] as? [Any])?.isEmpty == true)
                let lines = job(server.url("/a"), to: "a") + "\n" + job(server.url("/b"), to: "b") + "\n"
                let taken = try await place.ask("/api/v1/jobs", body: lines, type: "application/x-ndjson")
                #expect((taken.json["gids"] as? [String])?.count == 2)
            }
        }
    }

    @Test func aBatchIsNewOnceAndGetsItsFurtherJobs() async throws {
        try await withTestServer { server in
            for name in ["a", "b"] { server.serve("/\(name)", .random(seed: 1, count: 1000)) }
            try await withService { place in
                let file = "{\"version\": 1, \"name\": \"nightly\", \"jobs\": [\(job(server.url("/a"), to: "a"))]}"
                let plan = try await place.ask("/api/v1/batches?dryRun=1", json: file)
                #expect(plan.json["jobs"] as? Int == 1 && plan.json["isNew"] as? Bool == true)
                let first = try await place.ask("/api/v1/batches", json: file)
                #expect(first.status == 201, "\(first.text)")
                let key = try #require(first.json["key"] as? String)
                let again = try await place.ask("/api/v1/batches", json: file)
                #expect(again.status == 200 && again.json["same"] as? Int == 1)
                let more = "{\"version\": 1, \"name\": \"nightly\", \"jobs\": [\(job(server.url("/b"), to: "b"))]}"
                #expect(try await place.ask("/api/v1/batches", json: more).json["added"] as? Int == 1)
                try await until("the batch ends") {
                    try await place.ask("/api/v1/batches/\(key)").json["done"] as? Int == 2
                }
                #expect(try await place.ask("/api/v1/batches/\(key)", method: "DELETE").status == 204)
                #expect(try await place.ask("/api/v1/batches/\(key)").status == 404)
            }
        }
    }

    @Test func pausedJobsWaitAndCancelledOnesEnd() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 100_000), etag: "\"1\"")
            server.script("/a", [.stall(after: 50_000)])
            try await withService { place in
                let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
                let gid = try #require(answer.json["gid"] as? String)
                try await server.waitForHeld(1)
                let steered = try await place.ask(
                    "/api/v1/steer", json: "{\"action\": \"pause\", \"select\": {\"gids\": [\"\(gid)\"]}}")
                #expect(steered.json["changed"] as? Int == 1, "\(steered.text)")
                _ = try await place.job(gid, becomes: "paused")
                server.script("/a", [])
                _ = try await place.ask("/api/v1/steer", json: #"{"action": "resume", "select": "all"}"#)
                let done = try await place.job(gid, becomes: "done")
                #expect(done["bytes"] as? Int == 100_000)
                let nobody = try await place.ask("/api/v1/steer", json: #"{"action": "cancel", "select": {}}"#)
                #expect(nobody.status == 422, "all is written out")
            }
        }
    }

    @Test func pagesContinueWhereThePreviousOneEnded() async throws {
        try await withService { place in
            let jobs = (0..<25).map { job("http://127.0.0.1:1/\($0)", to: "\($0)") }.joined(separator: ", ")
            #expect(try await place.ask("/api/v1/jobs", json: "[\(jobs)]").status == 201)
            var path = "/api/v1/jobs?limit=10"
            var names: [String] = []
            while true {
                let page = try await place.ask(path)
                names += (page.json["jobs"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
                guard let link = page.field("Link") else { break }
                path = String(link.dropFirst().prefix { $0 != ">" })
            }
            #expect(names == (0..<25).map(String.init))
        }
    }
}
