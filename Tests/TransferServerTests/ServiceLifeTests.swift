import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Starts and ends of the service.
@Suite(.timeLimit(.minutes(2))) struct ServiceLifeTests {
    @Test func acknowledgedJobsSurviveAKill() async throws {
        try await withTestServer { server in
            let names = (0..<20).map { "f\($0)" }
            for name in names { server.serve("/\(name)", .random(seed: 1, count: 5000)) }
            let place = try await ServedPlace.start(ServedPlace.options + ["-j", "1"])
            var gids: [String] = []
            for name in names {
                let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/\(name)"), to: name))
                #expect(answer.status == 201)
                gids.append(try #require(answer.json["gid"] as? String))
            }
            place.process.kill(SIGKILL)
            _ = try? await place.process.result()
            let again = try await ServedPlace.start(in: place.folder)
            for (name, gid) in zip(names, gids) {
                let job = try await again.job(gid, becomes: "done")
                #expect(job["id"] as? String == name, "a gid stays its job's")
            }
            let all = try await again.ask("/api/v1/jobs").json["jobs"] as? [Any]
            #expect(all?.count == names.count, "each once")
            try await again.stop()
        }
    }

    @Test func aTerminationSavesRunningJobs() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 100_000), etag: "\"1\"")
            server.script("/a", [.stall(after: 50_000)])
            let place = try await ServedPlace.start()
            let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
            let gid = try #require(answer.json["gid"] as? String)
            try await server.waitForHeld(1)
            let result = try await place.stop()
            #expect(result.exitCode == 0, "\(result)")
            server.script("/a", [])
            let again = try await ServedPlace.start(in: place.folder)
            _ = try await again.job(gid, becomes: "done")
            #expect(server.requests.last?.range == "bytes=50000-")
            try await again.stop()
        }
    }

    @Test func theSecretIsMadeOnceAndIsItsUsersAlone() async throws {
        let place = try await ServedPlace.start(["--allow-private"])
        let line = try await place.process.line(.standardOutput) { $0.contains("/#token=") }
        let token = try #require(line.split(separator: "=").last.map(String.init))
        #expect(try await place.ask("/api/v1/status", secret: token).status == 200)
        #expect(try await place.ask("/api/v1/status", secret: token + "x").status == 401)
        let mode = try FileManager.default.attributesOfItem(atPath: place.folder.path("state/serve.secret"))[
            .posixPermissions]
        #expect(mode as? Int == 0o600)
        try await place.stop()
        let again = try await ServedPlace.start(["--allow-private"], in: place.folder)
        #expect(try await again.ask("/api/v1/status", secret: token).status == 200)
        let result = try await again.stop()
        #expect(!result.standardOutput.contains(token) && !result.standardError.contains(token), "told once")
    }

    @Test func aUnixSocketIsItsUsersAlone() async throws {
        let folder = try TemporaryFolder("serve")
        let path = folder.path("s.sock")
        let place = try await ServedPlace.start(in: folder, listen: "unix:" + path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let asked = ServedPlace(folder: folder, process: place.process, url: "http://localhost", secret: place.secret)
        #expect(try await asked.ask("/api/v1/status", curl: ["--unix-socket", path]).status == 200)
        try await place.stop()
        #expect(!folder.exists("s.sock"))
    }

    @Test(arguments: ["0.0.0.0:0", "192.0.2.1:6800", "[::]:0"]) func theNetworkIsNotListenedTo(address: String)
        async throws
    {
        let folder = try TemporaryFolder("serve")
        let command = ChildProcess.Command(
            try TransferCommand.builtProduct("transfer-server"),
            ["--listen", address, "--state", folder.path("state")], environment: ["PATH": "/usr/bin"],
            workingFolder: folder.path)
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode != 0 && result.standardError.contains("reverse proxy"), "\(result)")
    }

    @Test func aPortThatIsTakenNamesItsHolder() async throws {
        try await withService { place in
            let port = try #require(place.url.split(separator: ":").last.map(String.init))
            let command = ChildProcess.Command(
                try TransferCommand.builtProduct("transfer-server"),
                [
                    "--listen", "127.0.0.1:\(port)", "--state", place.folder.path("other"), "-d",
                    place.folder.path("files"),
                ],
                environment: ["PATH": "/usr/bin"], workingFolder: place.folder.path)
            let result = try await ChildProcess.start(command).result()
            #expect(result.standardError.contains("process \(place.process.processID)"), "\(result)")
        }
    }
}
