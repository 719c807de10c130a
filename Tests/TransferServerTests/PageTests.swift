import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The page in a real browser.
@Suite(.timeLimit(.minutes(5)), .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/chromedriver")))
struct PageTests {
    @Test func thePageShowsAndSteersTheQueue() async throws {
        try await withTestServer { server in
            server.serve("/large", .random(seed: 1, count: 1_000_000), etag: "\"1\"")
            server.serve("/large2", .random(seed: 1, count: 1_000_000), etag: "\"1\"")
            server.serve("/done1", .random(seed: 1, count: 1000))
            for name in ["/large", "/large2"] { server.script(name, [], afterwards: .stall(after: 300_000)) }
            try await withService(ServedPlace.options + ["--read-secret", "$READER"]) { place in
                let folder = try TemporaryFolder("page")
                // Many waiting jobs make the list long. One request takes at most 10,000.
                for page in 0..<(TransferCommand.runsHeavyTests ? 10 : 1) {
                    let names = (page * 10_000..<(page + 1) * 10_000).map {
                        job("http://127.0.0.1:1/\($0)", to: "many/\($0)")
                    }
                    let taken = try await place.ask(
                        "/api/v1/jobs?paused=1&batch=many", body: names.joined(separator: "\n"),
                        type: "application/x-ndjson")
                    #expect(taken.status == 201, "\(taken.text.prefix(500))")
                }
                let result = try await ChildProcess.start(
                    ChildProcess.Command(
                        "/usr/bin/python3",
                        [Self.script, place.url, place.secret, "only-looking", folder.path, server.url("/")],
                        environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path, "LANG": "C.UTF-8"],
                        timeout: .seconds(280))
                ).result()
                #expect(result.exitCode == 0, "\(result)")
                let seen = Dictionary(
                    result.lines.compactMap { line -> (String, Any)? in
                        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                        guard let object, let step = object["step"] as? String, let value = object["value"] else {
                            return nil
                        }
                        return (step, value)
                    }
                ) { $1 }
                #expect(seen["noscript"] as? Bool == true, "a sentence takes the place of the page")
                #expect(seen["wrong secret"] as? String == "The service does not know this secret.")
                #expect(seen["address"] as? Bool == false, "the secret leaves the address")
                #expect(seen["policy"] as? Bool == false, "a script without the number does not run")
                #expect(seen["running"] as? String == "large")
                #expect(seen["title"] as? String == "(2) transfer")
                #expect(seen["group"] as? String == "404 Not Found")
                #expect(seen["markup in a name runs"] as? Bool == false)
                #expect((seen["fault"] as? String)?.contains("is not beneath") == true)
                #expect(seen["sent"] as? [String] == [server.url("/up"), server.url("/up2")])
                let limits = seen["limits"] as? [String: Int]
                #expect(limits == ["concurrency": 50, "perHost": 50, "limitRate": 64 << 20])
                #expect(seen["order"] as? [String] == ["order2", "order3", "order0", "order1"])
                #expect(seen["asked"] as? Bool == true, "\(seen["asked"] ?? "")")
                #expect(seen["known to the queue"] as? Int == 1, "cleared jobs stay in the queue")
                let requests = try #require(seen["requests a second"] as? Double)
                #expect(requests <= 2)
                #expect(seen["rows"] as? Bool == true && seen["rows after scrolling"] as? Bool == true)
                #expect(seen["sorted"] as? String == "descending")
                #expect(seen["nameless buttons"] as? Int == 0)
                for tab in ["need", "run", "wait", "all"] {
                    #expect(seen["phone \(tab)"] as? Bool == true, "nothing is wider than a phone")
                }
                for step in ["covered", "covered on a phone", "a reader's phone"] {
                    #expect((seen[step] as? [String])?.isEmpty == true, "\(step): \(seen[step] ?? "")")
                }
                for step in ["accessibility", "accessibility of a reader's phone"] {
                    // axe-core is a peer from PyPI.
                    let isNeeded = ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required"
                    let faults = seen[step] as? [String] ?? (isNeeded ? ["axe-core is not installed"] : [])
                    #expect(faults.isEmpty, "\(step): \(faults)")
                }
                #expect(seen["dark"] as? String == "rgb(20, 23, 26)")
                for step in ["details", "paused", "changed by others", "cancelled", "why", "back", "reader"] {
                    #expect(seen[step] as? Bool == true, "\(step)")
                }
                #expect((seen["errors"] as? [Any])?.isEmpty == true, "\(seen["errors"] ?? "")")
            }
        }
    }

    private static var script: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Clients/page.py").path
    }
}

/// The metrics as Prometheus reads them.
@Suite(.timeLimit(.minutes(2))) struct MetricsTests {
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool")))
    func prometheusTakesTheMetrics() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            try await withService { place in
                let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
                _ = try await place.job(try #require(answer.json["gid"] as? String), becomes: "done")
                #expect(try await place.ask("/metrics", secret: nil).status == 401)
                let metrics = try await place.ask("/metrics")
                var command = ChildProcess.Command(
                    "/usr/bin/promtool", ["check", "metrics"], environment: ["PATH": "/usr/bin"])
                command.standardInput = .data(metrics.body)
                let result = try await ChildProcess.start(command).result()
                #expect(result.exitCode == 0, "\(result)")
                for name in [
                    #"transfer_jobs_ended_total{result="completed""#, "transfer_bytes_total{",
                    #"transfer_api_requests_total{route="/api/v1/jobs",method="POST",code="201"} 1"#,
                    "transfer_event_streams 0", "process_resident_memory_bytes",
                ] {
                    #expect(metrics.text.contains(name), "\(name)\n\(metrics.text)")
                }
            }
        }
    }
}

/// The command `transfer serve`.
@Suite(.timeLimit(.minutes(2))) struct ServeVerbTests {
    @Test func theCommandBecomesTheProgramBesideIt() async throws {
        let folder = try TemporaryFolder("verb")
        let files = try folder.folder("files")
        let words = ["serve", "--listen", "127.0.0.1:0", "--no-secret", "-d", files]
        let process = try TransferCommand(words, in: folder).start()
        let line = try await process.line(.standardOutput) { $0.hasPrefix("serving ") }
        #expect(line.hasPrefix("serving \(files) at http://127.0.0.1:"))
        process.kill(SIGTERM)
        #expect(try await process.result().exitCode == 0, "its signals are its own")
    }

    @Test func aMissingProgramIsReportedWithItsPackage() async throws {
        let folder = try TemporaryFolder("verb")
        let alone = folder.path("transfer")
        try FileManager.default.copyItem(atPath: try TransferCommand.binary(), toPath: alone)
        let result = try await ChildProcess.start(
            ChildProcess.Command(alone, ["serve"], environment: ["PATH": "/usr/bin", "HOME": folder.path])
        ).result()
        #expect(result.exitCode == 74 && result.standardError.contains("transfer-server"), "\(result)")
    }

    @Test func theQueuesOwnFilesAreNotServed() async throws {
        let folder = try TemporaryFolder("verb")
        let result = try await TransferCommand(["serve", "--listen", "127.0.0.1:0"], in: folder).run()
        #expect(result.exitCode == 65 && result.standardError.contains("--directory"), "\(result)")
    }

    @Test func helpIsTheProgramsOwn() async throws {
        let folder = try TemporaryFolder("verb")
        let result = try await TransferCommand(["serve", "--help"], in: folder).run()
        #expect(result.exitCode == 0 && result.standardOutput.contains("--allow-private"), "\(result)")
    }
}

/// Runs a verb of the command on a service, as on a folder.
@Suite(.timeLimit(.minutes(2))) struct RemoteVerbTests {
    private func transfer(_ arguments: [String], at place: ServedPlace) async throws -> ProcessResult {
        var command = TransferCommand(arguments, in: place.folder)
        command.environment["TRANSFER_SECRET"] = place.secret
        return try await command.run()
    }

    @Test func aServiceRunsAJobFileAndReportsItsResult() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            try await withService { place in
                let jobs = [job(server.url("/a"), to: "a"), job(server.url("/missing"), to: "b")]
                _ = try place.folder.write(
                    "{\"version\": 1, \"name\": \"nightly\", \"jobs\": [\(jobs.joined(separator: ", "))]}",
                    to: "jobs.json")
                let run = try await transfer(["--server", place.url, "run", "jobs.json"], at: place)
                #expect(run.exitCode == 1 && run.standardOutput == "nightly: 1 of 2 done, 1 failed\n", "\(run)")
                #expect(place.folder.size("files/a") == 1000)
                let status = try await transfer(["status", "--server", place.url], at: place)
                #expect(status.standardOutput.contains("nightly  finished  1/2"), "\(status)")
                let json = try await transfer(["status", "--json", "--server", place.url, "nightly"], at: place)
                #expect(json.standardOutput.contains(#""batch":"nightly","state":"finished","done":1"#), "\(json)")
            }
        }
    }

    @Test func batchesAndJobsAreSteeredThere() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 100_000), etag: "\"1\"")
            server.script("/a", [.stall(after: 50_000)])
            try await withService { place in
                let answer = try await place.ask("/api/v1/jobs?batch=b", json: job(server.url("/a"), to: "in/a"))
                let gid = try #require(answer.json["gid"] as? String)
                try await server.waitForHeld(1)
                let paused = try await transfer(["pause", "b/in/a", "--server", place.url], at: place)
                #expect(paused.standardOutput == "b/in/a: 1 job paused by \(place.url)\n", "\(paused)")
                _ = try await place.job(gid, becomes: "paused")
                server.script("/a", [])
                let resumed = try await transfer(["resume", "--all", "--server", place.url], at: place)
                #expect(resumed.exitCode == 0, "\(resumed)")
                _ = try await place.job(gid, becomes: "done")
            }
        }
    }

    @Test func refusalsOfTheServiceAreReported() async throws {
        try await withService { place in
            var command = TransferCommand(["status", "--server", place.url], in: place.folder)
            let without = try await command.run()
            #expect(without.exitCode == 74 && without.standardError.contains("a secret is required"), "\(without)")
            command.environment["TRANSFER_SECRET"] = place.secret
            _ = try place.folder.write(#"{"download": "http://127.0.0.1:1/a", "to": "../a"}"#, to: "jobs.jsonl")
            command.arguments = ["run", "--name", "b", "--server", place.url, "jobs.jsonl"]
            let outside = try await command.run()
            #expect(outside.exitCode == 74 && outside.standardError.contains("is not beneath"), "\(outside)")
        }
    }
}
