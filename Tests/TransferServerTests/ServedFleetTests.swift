import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A service on a queue that several machines share.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct ServedFleetTests {
    private func queue() async throws -> String {
        try await PostgresServer.shared.url(queue: "q\(UInt32.random(in: 0 ... .max))")
    }

    /// Starts a worker beside the service, with a folder of its own.
    private func worker(_ queue: String, _ folder: TemporaryFolder) throws -> ChildProcess {
        try TransferCommand(
            [
                "work", "--queue", queue, "--allow-private", "-d", try folder.folder("own"), "-j", "2", "--no-config",
                "--progress", "none",
            ], in: folder
        ).start()
    }

    @Test func theServiceAndAWorkerShareWhatAClientBrings() async throws {
        let queue = try await queue()
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            try await withService(ServedPlace.options + ["--queue", queue, "-j", "2"]) { place in
                let worker = try worker(queue, place.folder)
                _ = try await worker.line { $0.contains("working on postgres://") }
                let jobs = (0..<300).map { job(server.url("/\($0)"), to: "in/\($0)") }
                let file = #"{"version": 1, "name": "b", "jobs": [\#(jobs.joined(separator: ", "))]}"#
                let answer = try await place.ask("/api/v1/batches", json: file)
                #expect(answer.status == 201, "\(answer.text)")
                try await until("all are complete") {
                    let batches = try await place.ask("/api/v1/batches").json["batches"] as? [[String: Any]]
                    return batches?.first?["done"] as? Int == 300
                }
                let (own, others) = (files(place.folder.path("files/in")), files(place.folder.path("own/in")))
                #expect(own.count + others.count == 300 && own.isDisjoint(with: others))
                #expect(!own.isEmpty && !others.isEmpty, "\(own.count) and \(others.count)")
                // The service reports a job, whichever worker did it.
                let single = try await place.ask("/api/v1/jobs", json: job(server.url("/single"), to: "single"))
                let gid = try #require(single.json["gid"] as? String, "\(single.text)")
                _ = try await place.job(gid, becomes: "done")
                #expect(try await place.ask("/api/v1/jobs/\(gid)/receipt").json["bytes"] as? Int == 7)
                let stream = try ChildProcess.start(
                    ChildProcess.Command(
                        "/usr/bin/curl",
                        [
                            "-sSN", "--noproxy", "*", "-H", "Authorization: Bearer \(place.secret)", "-H",
                            "Last-Event-ID: 1", place.url + "/api/v1/events?types=job.",
                        ], environment: ["PATH": "/usr/bin:/bin"]))
                _ = try await stream.line(.standardOutput) { $0 == "id: 301" }
                stream.kill(SIGKILL)
                worker.kill(SIGTERM)
                #expect(try await worker.result().exitCode == 0)
                #expect(try await place.stop().exitCode == 0)
            }
        }
    }

    @Test func aLoginThatMaySubmitAndWorkServesTheQueue() async throws {
        let (folder, name) = (try TemporaryFolder("serve"), "q\(UInt32.random(in: 0 ... .max))")
        let database = try await PostgresServer.shared
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            // The owner makes the queue, and adds the first job.
            try folder.write(#"{"version": 1, "jobs": [\#(job(server.url("/a"), to: "in/a"))]}"#, to: "first.json")
            let words = ["run", "first.json", "--detach", "--no-config", "--queue", database.url(queue: name)]
            #expect(try await TransferCommand(words, in: folder).run().exitCode == 0)
            let login = try await database.login("submit", "work", in: name)
            let own = database.url(queue: name, login: login)
            try await withService(ServedPlace.options + ["--queue", own]) { place in
                let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/b"), to: "in/b"))
                let gid = try #require(answer.json["gid"] as? String, "\(answer.text)")
                _ = try await place.job(gid, becomes: "done")
                try await until("both are there") { files(place.folder.path("files/in")) == ["a", "b"] }
                #expect(try await place.ask("/api/v1/jobs/\(gid)/why").json["state"] as? String == "done")
                #expect(try await place.stop().exitCode == 0)
            }
        }
    }

    /// The login works on the queue and reads it, and adds nothing.
    @Test func everyRouteNamesTheRightThatTheLoginLacks() async throws {
        let (folder, name) = (try TemporaryFolder("serve"), "q\(UInt32.random(in: 0 ... .max))")
        let database = try await PostgresServer.shared
        try folder.write(#"{"version": 1, "jobs": [\#(job("http://127.0.0.1:1/a", to: "in/a"))]}"#, to: "first.json")
        let words = ["run", "first.json", "--detach", "--no-config", "--queue", database.url(queue: name)]
        #expect(try await TransferCommand(words, in: folder).run().exitCode == 0)
        let own = database.url(queue: name, login: try await database.login("work", in: name))
        try await withService(ServedPlace.options + ["--queue", own]) { place in
            let grant = "SELECT transfer_\(name).allow("
            let one = job("http://127.0.0.1:1/x", to: "x")
            for (path, method, body) in [
                ("/api/v1/jobs", "POST", one),
                ("/api/v1/batches?name=b", "POST", #"{"version": 1, "jobs": [\#(one)]}"#),
                ("/api/v1/steer", "POST", #"{"action": "pause", "select": "all"}"#),
                ("/api/v1/batches?olderThan=0", "DELETE", "{}"),
            ] {
                let answer = try await place.ask(path, method: method, json: body)
                #expect(
                    answer.status == 403 && answer.json["code"] as? String == "rightMissing", "\(path) \(answer.text)")
                #expect(answer.text.contains("may not submit") && answer.text.contains(grant), "\(path) \(answer.text)")
            }
            let call =
                #"{"id": 1, "method": "aria2.addUri", "params": ["token:\#(place.secret)", ["http://127.0.0.1:1/x"]]}"#
            let answer = try await place.ask("/jsonrpc", json: call)
            #expect(answer.status == 400 && answer.text.contains("may not submit"), "\(answer.text)")
        }
    }

    /// The lease is long enough for the service to stay.
    @Test func whileTheDatabaseIsAwayBothInterfacesSaySo() async throws {
        let database = try await PostgresServer.start()
        try await withService(ServedPlace.options + ["--queue", database.url(queue: "q")]) { place in
            try await database.kill()
            let listed = try await place.ask("/api/v1/jobs")
            #expect(listed.status == 503 && listed.field("Retry-After") == "5", "\(listed.head)")
            for method in ["tellActive", "getGlobalStat"] {
                let text = #"{"id": 1, "method": "aria2.\#(method)", "params": ["token:\#(place.secret)"]}"#
                let answer = try await place.ask("/jsonrpc", json: text)
                #expect(answer.status == 503 && answer.field("Retry-After") == "5", "\(answer.head)")
                #expect(answer.text.contains("\"error\"") && answer.text.contains("database"), "\(answer.text)")
            }
        }
        await database.stop()
    }

    @Test func theServiceSaysOnceWhatTheDatabaseMayLose() async throws {
        let database = try await PostgresServer.shared
        let login = "u\(UInt64.random(in: 0 ... .max))"
        // The new login makes a queue of its own, and owns its tables.
        try await database.ask("CREATE ROLE \(login) LOGIN; GRANT CREATE ON DATABASE postgres TO \(login)")
        try await database.ask("ALTER ROLE \(login) SET synchronous_commit = off")
        let queue = database.url(queue: "q\(UInt32.random(in: 0 ... .max))", login: login)
        try await withService(ServedPlace.options + ["--queue", queue]) { place in
            let result = try await place.stop()
            #expect(result.exitCode == 0)
            let said = result.standardError.components(separatedBy: "as synchronous_commit is off:").count - 1
            #expect(said == 1, "\(result)")
        }
    }

    /// The service is taken for dead, as after its machine was suspended for a night.
    @Test func aServiceWhoseLeaseIsLostBeginsAnew() async throws {
        let (database, name) = (try await PostgresServer.shared, "q\(UInt32.random(in: 0 ... .max))")
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            try await withService(ServedPlace.options + ["--queue", database.url(queue: name)]) { place in
                let first = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "in/a"))
                _ = try await place.job(try #require(first.json["gid"] as? String), becomes: "done")
                try await database.ask("DELETE FROM transfer_\(name).process")
                _ = try await place.process.line { $0.contains("taken for dead") && $0.contains("it begins anew") }
                // The kernel chooses a port again.
                let line = try await place.process.line(.standardOutput) {
                    $0.hasPrefix("serving ") && !$0.hasSuffix(place.url)
                }
                let anew = ServedPlace(
                    folder: place.folder, process: place.process, url: String(line.split(separator: " ").last ?? ""),
                    secret: place.secret)
                let next = try await anew.ask("/api/v1/jobs", json: job(server.url("/b"), to: "in/b"))
                _ = try await anew.job(try #require(next.json["gid"] as? String, "\(next.text)"), becomes: "done")
                #expect(try await anew.stop().exitCode == 0)
            }
        }
    }

    /// The rest of the lease has to expire first.
    @Test(.enabled(if: TransferCommand.runsHeavyTests, "it takes half a minute"))
    func aServiceThatWaitsForTheDatabaseEndsOnRequest() async throws {
        let database = try await PostgresServer.start()
        try await withService(ServedPlace.options + ["--queue", database.url(queue: "q")]) { place in
            try await database.kill()
            _ = try await place.process.line { $0.contains("it begins anew") }
            _ = try await place.process.line { $0.contains("is away, waiting for it") && $0.contains("it begins anew") }
            let begun = ContinuousClock.now
            let result = try await place.stop()
            #expect(result.exitCode == 0 && ContinuousClock.now - begun < .seconds(5), "\(result)")
        }
        await database.stop()
    }

    /// The unit gives the service 15 seconds. The machine of the database accepts connections, and nothing answers.
    @Test func aServiceWhoseDatabaseHangsEndsOnRequest() async throws {
        let database = try await PostgresServer.start()
        try await withService(ServedPlace.options + ["--queue", database.url(queue: "q")]) { place in
            try database.freeze()
            let begun = ContinuousClock.now
            let result = try await place.stop()
            #expect(result.exitCode == 0 && ContinuousClock.now - begun < .seconds(20), "\(result)")
        }
        try await database.kill()
        await database.stop()
    }

    /// The manager is told that the start lasts, and readiness only once clients are served.
    @Test func aServiceWaitsForADatabaseThatIsAwayAtItsStart() async throws {
        let (folder, database) = (try TemporaryFolder("serve"), try await PostgresServer.start())
        let address = database.url(queue: "q")
        try await database.kill()
        let path = folder.path("manager")
        let manager = try ManagerSocket(path)
        var command = try serving(address, in: folder)
        command.environment["NOTIFY_SOCKET"] = path
        let process = try ChildProcess.start(command)
        _ = try await process.line { $0.contains("the queue's database is away, waiting for it: ") }
        let first = try await manager.message { $0.contains("STATUS=waiting for the queue's database") }
        #expect(first.contains("EXTEND_TIMEOUT_USEC=") && !first.contains("READY"), "\(first)")
        let again = try await database.startAgain()
        _ = try await process.line(.standardOutput) { $0.hasPrefix("serving ") }
        try await manager.message { $0.contains("READY=1") }
        process.kill(SIGTERM)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.standardError.components(separatedBy: "waiting for it").count == 2, "\(result)")
        await again.stop()
    }

    @Test func aServiceThatWaitsAtItsStartEndsOnRequest() async throws {
        let folder = try TemporaryFolder("serve")
        let process = try ChildProcess.start(
            try serving("postgres://127.0.0.1:1/none?sslmode=disable", in: folder))
        _ = try await process.line { $0.contains("waiting for it") && $0.contains("127.0.0.1") }
        process.kill(SIGTERM)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
    }

    /// A person has to act, so the unit does not start the service again.
    @Test func aServiceWhoseLoginIsRefusedEndsAndNamesIt() async throws {
        let (folder, database) = (try TemporaryFolder("serve"), try await PostgresServer.shared)
        let address = database.url(queue: "q\(UInt32.random(in: 0 ... .max))", login: "no_such_login")
        let result = try await ChildProcess.start(try serving(address, in: folder)).result()
        #expect(result.exitCode == 78 && result.standardError.contains("no_such_login"), "\(result)")
    }

    /// The login is locked for a while, as during a change of its password, and the lease is lost meanwhile.
    @Test func aServiceThatHasServedWaitsForTheEndOfARefusal() async throws {
        let (folder, database) = (try TemporaryFolder("serve"), try await PostgresServer.shared)
        let (login, name) = ("u\(UInt64.random(in: 0 ... .max))", "q\(UInt32.random(in: 0 ... .max))")
        try await database.ask("CREATE ROLE \(login) LOGIN; GRANT CREATE ON DATABASE postgres TO \(login)")
        let process = try ChildProcess.start(try serving(database.url(queue: name, login: login), in: folder))
        let first = try await process.line(.standardOutput) { $0.hasPrefix("serving ") }
        try await database.ask("ALTER ROLE \(login) NOLOGIN")
        try await database.ask("DELETE FROM transfer_\(name).process")
        _ = try await process.line { $0.contains("waiting for it") && $0.contains("refuses the login") }
        try await database.ask("ALTER ROLE \(login) LOGIN")
        // The kernel chooses a port again.
        _ = try await process.line(.standardOutput) { $0.hasPrefix("serving ") && $0 != first }
        process.kill(SIGTERM)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
    }

    private func serving(_ queue: String, in folder: TemporaryFolder) throws -> ChildProcess.Command {
        var command = ChildProcess.Command(
            try TransferCommand.builtProduct("transfer-server"),
            ["--state", folder.path("state"), "--queue", queue, "--listen", "127.0.0.1:0"],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path("home")],
            workingFolder: try folder.folder("files"), timeout: .seconds(90))
        command.standardInput = .none
        return command
    }

    private func files(_ folder: String) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }
}
