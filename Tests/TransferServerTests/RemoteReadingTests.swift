import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `why`, `wait` and `forget` on a service have the output and effect that they have on a folder.
@Suite(.timeLimit(.minutes(2))) struct RemoteReadingTests {
    private func transfer(
        _ arguments: [String], at place: ServedPlace, isRemote: Bool = true
    ) async throws -> ProcessResult {
        let queue = isRemote ? ["--server", place.url] : ["--state", place.folder.path("state")]
        var command = TransferCommand(arguments + queue, in: place.folder)
        command.environment["TRANSFER_SECRET"] = place.secret
        return try await command.run()
    }

    private func shown(_ result: ProcessResult, _ place: ServedPlace) -> String {
        result.standardOutput.replacing("--server \(place.url)", with: "QUEUE")
            .replacing("--state \(place.folder.path("state"))", with: "QUEUE")
    }

    private func steer(_ action: String, _ batch: String, _ place: ServedPlace) async throws {
        let answer = try await place.ask(
            "/api/v1/steer", json: "{\"action\": \"\(action)\", \"select\": {\"batch\": \"\(batch)\"}}")
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test func whySaysTheSameOfEveryKindOfJob() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000), etag: "\"1\"")
            server.serve("/held", .random(seed: 1, count: 100_000), etag: "\"1\"")
            server.script("/held", [.stall(after: 50_000)])
            try await withService { place in
                let jobs = [
                    job(server.url("/a"), to: "in/a", #""id": "done""#),
                    job(server.url("/none"), to: "in/b", #""id": "failed""#),
                    job(server.url("/a"), to: "in/c", #""id": "skipped", "needs": ["failed"]"#),
                    job(server.url("/held"), to: "in/", #""id": "running", "priority": 5"#),
                    job(server.url("/a"), to: "in/d", #""id": "blocked", "needs": ["running"]"#),
                ].joined(separator: ", ")
                let made = try await place.ask("/api/v1/batches?name=n", json: "{\"version\": 1, \"jobs\": [\(jobs)]}")
                #expect(made.status == 201, "\(made.text)")
                let paused = try await place.ask(
                    "/api/v1/jobs?batch=p&paused=1", json: job(server.url("/a"), to: "p", #""id": "paused""#))
                #expect(paused.status == 201)
                let key = try #require(made.json["key"] as? String)
                try await server.waitForHeld(1)
                try await until("the others have ended") {
                    let batch = try await place.ask("/api/v1/batches/\(key)").json
                    return batch["done"] as? Int == 1 && batch["failed"] as? Int == 1 && batch["skipped"] as? Int == 1
                }
                // The record is updated once a second with the running jobs.
                try await until("it is told that one runs") {
                    try await transfer(["why", "n/running"], at: place).standardOutput.contains("under way, by")
                }
                for name in ["n/done", "n/failed", "n/skipped", "n/running", "n/blocked", "p/paused"] {
                    for options in [[], ["--json"]] {
                        // The state may change between the two commands.
                        try await until("both say the same of \(name)") {
                            let remote = try await transfer(["why", name] + options, at: place)
                            let own = try await transfer(["why", name] + options, at: place, isRemote: false)
                            #expect(remote.exitCode == 0 && own.exitCode == 0, "\(remote) \(own)")
                            return shown(remote, place) == shown(own, place)
                        }
                    }
                }
            }
        }
    }

    @Test func aFailedHookIsReportedToo() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 10))
            let folder = try TemporaryFolder("serve")
            try folder.write(
                #"{"version": 1, "commands": {"tell": ["/bin/false"]}, "serve": {"secret": {"env": "SECRET"}}}"#,
                to: "config.json")
            try folder.write(
                "{\"version\": 1, \"name\": \"own\", \"jobs\": [\(job(server.url("/a"), to: "a", #""onFinish": "tell""#))]}",
                to: "jobs.json")
            let place = try await ServedPlace.start(
                ["--config", folder.path("config.json"), folder.path("jobs.json")], in: folder)
            try await until("it is known that the command failed") {
                try await transfer(["why", "own/a"], at: place).standardOutput.contains("could not be called")
            }
            // The text counts the seconds to the next call, which pass between the two commands.
            try await until("both say the same") {
                let remote = try await transfer(["why", "own/a"], at: place)
                let own = try await transfer(["why", "own/a"], at: place, isRemote: false)
                return shown(remote, place) == shown(own, place) && remote.standardOutput.contains("onFinish: ")
            }
            try await place.stop()
        }
    }

    @Test func missingJobsAreReportedAlike() async throws {
        try await withService { place in
            _ = try await place.ask("/api/v1/jobs?batch=nightly&paused=1", json: job("http://127.0.0.1:1/a", to: "a"))
            for arguments in [
                ["why", "nihgtly/a"], ["why", "nightly/b"], ["why", "nightly"], ["wait", "none"], ["forget", "none"],
            ] {
                let remote = try await transfer(arguments, at: place)
                let own = try await transfer(arguments, at: place, isRemote: false)
                #expect(remote.exitCode == 64 && own.exitCode == 64, "\(remote) \(own)")
                let words = remote.standardError.replacing("--server \(place.url)", with: "QUEUE")
                #expect(
                    words == own.standardError.replacing("--state \(place.folder.path("state"))", with: "QUEUE"))
            }
        }
    }

    @Test func waitEndsWithTheBatchAndSaysHowItWent() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 100_000), etag: "\"1\"")
            server.script("/a", [.stall(after: 50_000)])
            try await withService { place in
                for (batch, url) in [("good", "/a"), ("bad", "/none")] {
                    _ = try await place.ask("/api/v1/jobs?batch=\(batch)", json: job(server.url(url), to: batch))
                }
                try await server.waitForHeld(1)
                #expect(try await transfer(["wait", "bad"], at: place).exitCode == 1)
                async let end = transfer(["wait", "good"], at: place)
                server.script("/a", [])
                try await steer("pause", "good", place)
                try await steer("resume", "good", place)
                #expect(try await end.exitCode == 0)
            }
        }
    }

    @Test func forgetForgetsABatchThatEndedAndNoneThatRuns() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            server.script("/held", [.holdHead])
            try await withService { place in
                for (batch, url) in [("ended", "/a"), ("old", "/a"), ("held", "/held")] {
                    _ = try await place.ask("/api/v1/jobs?batch=\(batch)", json: job(server.url(url), to: batch))
                }
                try await server.waitForHeld(1)
                for batch in ["ended", "old"] { #expect(try await transfer(["wait", batch], at: place).exitCode == 0) }
                let running = try await transfer(["forget", "held"], at: place)
                #expect(running.exitCode == 64 && running.standardError.contains("cancel it first"), "\(running)")
                let one = try await transfer(["forget", "ended"], at: place)
                #expect(one.exitCode == 0 && one.standardOutput == "forgotten: ended\n", "\(one)")
                let young = try await transfer(["forget"], at: place)
                #expect(young.exitCode == 0 && young.standardOutput.isEmpty, "\(young)")
                let old = try await transfer(["forget", "--older-than", "1ms"], at: place)
                #expect(old.standardOutput == "forgotten: old\n", "\(old)")
            }
        }
    }

    /// The address is one of documentation (RFC 5737), which is never connected to.
    @Test func aSecretIsNotSentToAnotherMachineWithoutTLS() async throws {
        let folder = try TemporaryFolder("plain")
        var command = TransferCommand(["status", "--server", "http://192.0.2.1:6800"], in: folder)
        command.environment["TRANSFER_SECRET"] = ServedPlace.secret
        let result = try await command.run()
        #expect(result.exitCode == 64 && result.standardError.contains("--plain-http"), "\(result)")
        #expect(!result.standardError.contains(ServedPlace.secret))
    }
}
