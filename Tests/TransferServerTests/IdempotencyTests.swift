import Foundation
import Hummingbird
import Testing
import TransferQueue
import TransferTestServer
import TransferTestSupport

@testable import TransferServer

/// Requests that are repeated with the key of the first one.
@Suite(.timeLimit(.minutes(2))) struct IdempotencyTests {
    private let dead = "http://127.0.0.1:1/"

    private func jobs(_ names: [String]) -> String {
        "[\(names.map { job(dead + $0, to: $0) }.joined(separator: ", "))]"
    }

    private func key(_ text: String) -> [String] { ["Idempotency-Key: \(text)"] }

    @Test func theFirstAnswerComesAgain() async throws {
        try await withService { place in
            _ = try await place.ask("/api/v1/jobs", json: jobs(["b"]))
            let body = jobs(["a", "b"])
            let first = try await place.ask("/api/v1/jobs", json: body, headers: key(#""one""#))
            #expect(first.status == 201 && first.json["added"] as? Int == 1 && first.json["same"] as? Int == 1)
            let again = try await place.ask("/api/v1/jobs", json: body, headers: key(#""one""#))
            #expect(again.status == 201 && again.body == first.body, "the bytes themselves")
            // The key without its quotes is the same key.
            #expect(try await place.ask("/api/v1/jobs", json: body, headers: key("one")).body == first.body)
            let without = try await place.ask("/api/v1/jobs", json: body)
            #expect(without.json["added"] as? Int == 0)
        }
    }

    @Test func aSingleJobHasItsPlaceAgain() async throws {
        try await withService { place in
            let body = job(dead + "a", to: "a")
            let first = try await place.ask("/api/v1/jobs", json: body, headers: key("k"))
            let again = try await place.ask("/api/v1/jobs", json: body, headers: key("k"))
            #expect(again.body == first.body && again.json["added"] as? Int == 1)
            let location = try #require(again.field("Location"))
            #expect(location == first.field("Location"))
        }
    }

    @Test func aKeyStandsForOneRequestOnly() async throws {
        try await withService { place in
            let body = jobs(["a"])
            #expect(try await place.ask("/api/v1/jobs", json: body, headers: key("k")).status == 201)
            for (path, body) in [
                ("/api/v1/jobs", jobs(["b"])), ("/api/v1/jobs?batch=other", body), ("/api/v1/batches?name=x", body),
            ] {
                let answer = try await place.ask(path, json: body, headers: key("k"))
                #expect(answer.status == 422 && answer.json["code"] as? String == "keyReused", "\(answer.text)")
            }
            let other = try await place.ask("/api/v1/jobs", body: body, type: "application/x-ndjson", headers: key("k"))
            #expect(other.status == 422)
            #expect((try await place.ask("/api/v1/jobs").json["jobs"] as? [Any])?.count == 1, "nothing was taken")
        }
    }

    @Test(arguments: ["\"\"", "\"a", "\"a\"b", "\"a\", \"b\"", "a,b", #""a\n""#, String(repeating: "k", count: 256)])
    func aFieldThatNamesNoKeyIsRefused(_ text: String) async throws {
        #expect(IdempotencyKey.name(text) == nil)
    }

    @Test func aKeyIsWhatStandsBetweenTheQuotes() {
        #expect(IdempotencyKey.name(#""a \"b\\ c""#) == #"a "b\ c"#)
        #expect(IdempotencyKey.name("8e03978e-40d5-43e8-bc93-6894a57f9324")?.utf8.count == 36)
    }

    @Test func aBatchAndItsFurtherJobsAreAnsweredAgain() async throws {
        try await withService { place in
            let file = "{\"version\": 1, \"name\": \"nightly\", \"jobs\": \(jobs(["a"]))}"
            let first = try await place.ask("/api/v1/batches", json: file, headers: key("k"))
            #expect(first.status == 201, "\(first.text)")
            let again = try await place.ask("/api/v1/batches", json: file, headers: key("k"))
            #expect(again.status == 201 && again.json["added"] as? Int == 1 && again.json["same"] as? Int == 0)
            let name = try #require(again.json["key"] as? String)
            #expect(name == first.json["key"] as? String)
            let more = "{\"version\": 1, \"name\": \"nightly\", \"jobs\": \(jobs(["a", "b"]))}"
            for _ in 0..<2 {
                let answer = try await place.ask("/api/v1/batches", json: more, headers: key("l"))
                #expect(answer.status == 200 && answer.json["added"] as? Int == 1 && answer.json["same"] as? Int == 1)
            }
            let plan = try await place.ask("/api/v1/batches?dryRun=1", json: file, headers: key("k"))
            #expect(plan.status == 200, "a plan takes nothing, and needs no key")
        }
    }

    @Test func aRefusedRequestMayBeCorrectedUnderItsKey() async throws {
        try await withService { place in
            let faulty = try await place.ask("/api/v1/jobs", json: #"{"download": "x"}"#, headers: key("k"))
            #expect(faulty.status == 422)
            #expect(try await place.ask("/api/v1/jobs", json: jobs(["a"]), headers: key("k")).status == 201)
        }
    }

    @Test func theAnswerIsThereAfterTheServiceWasKilled() async throws {
        let place = try await ServedPlace.start()
        let body = jobs(["a", "b", "c"])
        let first = try await place.ask("/api/v1/jobs", json: body, headers: key("k"))
        #expect(first.json["added"] as? Int == 3)
        place.process.kill(SIGKILL)
        _ = try await place.process.result()
        let next = try await ServedPlace.start(in: place.folder)
        #expect(try await next.ask("/api/v1/jobs", json: body, headers: key("k")).body == first.body)
        #expect(try await next.ask("/api/v1/jobs", json: jobs(["d"]), headers: key("k")).status == 422)
        try await next.stop()
    }

    // MARK: Two at once

    private let noon = SubmissionKey("k", digest: "d")

    private func status(_ body: () async throws -> Response) async -> Int? {
        do { return try await body().status.code } catch { return (error as? any HTTPResponseError)?.status.code }
    }

    @Test func aKeyThatIsUnderWayIsAConflictAndFreeAfterwards() async throws {
        let requests = IdempotentRequests { _ in nil }
        let inner = await status {
            try await requests.answer(noon) { _ in
                let second = await status {
                    try await requests.answer(noon, first: { _ in .nothing }, again: { _ in .nothing })
                }
                #expect(second == 409)
                let other = await status {
                    try await requests.answer(
                        SubmissionKey("l", digest: "d"), first: { _ in .nothing }, again: { _ in .nothing })
                }
                #expect(other == 204)
                throw HTTPError(.badRequest)
            } again: { _ in
                .nothing
            }
        }
        #expect(inner == 400)
        let last = await status {
            try await requests.answer(noon, first: { _ in .nothing }, again: { _ in .nothing })
        }
        #expect(last == 204)
    }

    @Test func aKeyThatAnotherServiceTookMeanwhileGetsItsAnswer() async throws {
        let answers = AwaitedState<AnsweredSubmission?>(nil)
        let requests = IdempotentRequests { _ in answers.state }
        let known = AnsweredSubmission(key: noon, batch: 1, isNewBatch: true, added: 1, numbers: [7])
        var got: AnsweredSubmission?
        _ = try await requests.answer(noon) { _ in
            answers.change { $0 = known }
            throw SubmissionKeyTaken(name: "k")
        } again: { answer in
            got = answer
            return .nothing
        }
        #expect(got == known)
    }

    // MARK: The command

    @Test func theCommandAsksAgainForAnAnswerThatWasLost() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            try await withService { place in
                let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Clients/lossy.py"
                let between = try ChildProcess.start(
                    ChildProcess.Command(
                        "/usr/bin/python3", [script, place.port], environment: ["PATH": "/usr/bin:/bin"]))
                defer { between.kill(SIGKILL) }
                let port = try await between.line(.standardOutput) { $0.hasPrefix("port ") }.dropFirst(5)
                _ = try place.folder.write(
                    "{\"version\": 1, \"name\": \"nightly\", \"jobs\": [\(job(server.url("/a"), to: "a"))]}",
                    to: "jobs.json")
                var command = TransferCommand(
                    ["run", "--server", "http://127.0.0.1:\(port)", "jobs.json"], in: place.folder)
                command.environment["TRANSFER_SECRET"] = place.secret
                let run = try await command.run()
                #expect(run.exitCode == 0 && run.standardOutput == "nightly: 1 of 1 done, 0 failed\n", "\(run)")
                between.kill(SIGKILL)
                let keys = try await between.result().standardOutput.split(separator: "\n").dropFirst()
                #expect(keys.count == 2 && Set(keys).count == 1 && keys.first != "none", "\(keys)")
            }
        }
    }
}
