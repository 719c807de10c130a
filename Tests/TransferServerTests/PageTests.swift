import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The page in a real browser.
@Suite(.timeLimit(.minutes(3)), .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/chromedriver")))
struct PageTests {
    @Test func thePageShowsAndSteersTheQueue() async throws {
        try await withTestServer { server in
            server.serve("/large", .random(seed: 1, count: 1_000_000), etag: "\"1\"")
            server.script("/large", [], afterwards: .stall(after: 300_000))
            try await withService { place in
                let folder = try TemporaryFolder("page")
                // Jobs that wait, so that the list is long.
                let names = (0..<10_000).map { job("http://127.0.0.1:1/\($0)", to: "many/\($0)") }
                let taken = try await place.ask(
                    "/api/v1/jobs?paused=1&batch=many", body: names.joined(separator: "\n"),
                    type: "application/x-ndjson")
                #expect(taken.status == 201, "\(taken.text.prefix(500))")
                let result = try await ChildProcess.start(
                    ChildProcess.Command(
                        "/usr/bin/python3", [Self.script, place.url, place.secret, folder.path, server.url("/")],
                        environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path, "LANG": "C.UTF-8"],
                        timeout: .seconds(150))
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
                #expect(seen["address"] as? Bool == false, "the secret leaves the address")
                #expect(seen["policy"] as? Bool == false, "a script without the number doesn't run")
                #expect(seen["running"] as? String == "large")
                #expect(seen["title"] as? String == "(2) transfer")
                #expect(seen["group"] as? String == "404 Not Found")
                #expect(seen["rows"] as? Bool == true && seen["rows after scrolling"] as? Bool == true)
                #expect(seen["nameless buttons"] as? Int == 0)
                #expect(seen["phone"] as? Bool == true, "nothing is wider than a phone")
                #expect(seen["dark"] as? String == "rgb(20, 23, 26)")
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

/// `transfer serve`.
@Suite(.timeLimit(.minutes(2))) struct ServeVerbTests {
    @Test func theCommandBecomesTheProgramBesideIt() async throws {
        let folder = try TemporaryFolder("verb")
        let process = try TransferCommand(["serve", "--listen", "127.0.0.1:0", "--no-secret"], in: folder).start()
        let line = try await process.line(.standardOutput) { $0.hasPrefix("serving ") }
        #expect(line.hasPrefix("serving \(folder.path) at http://127.0.0.1:"))
        process.kill(SIGTERM)
        #expect(try await process.result().exitCode == 0, "its signals are its own")
    }

    @Test func itSaysWhatToInstallWhereTheProgramIsMissing() async throws {
        let folder = try TemporaryFolder("verb")
        let alone = folder.path("transfer")
        try FileManager.default.copyItem(atPath: try TransferCommand.binary(), toPath: alone)
        let result = try await ChildProcess.start(
            ChildProcess.Command(alone, ["serve"], environment: ["PATH": "/usr/bin", "HOME": folder.path])
        ).result()
        #expect(result.exitCode == 74 && result.standardError.contains("transfer-server"), "\(result)")
    }

    @Test func helpIsTheProgramsOwn() async throws {
        let folder = try TemporaryFolder("verb")
        let result = try await TransferCommand(["serve", "--help"], in: folder).run()
        #expect(result.exitCode == 0 && result.standardOutput.contains("--allow-private"), "\(result)")
    }
}
