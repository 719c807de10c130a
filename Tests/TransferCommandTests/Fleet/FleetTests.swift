import Foundation
import Glibc
import Testing
import TransferTestSupport

/// `transfer work`, `transfer run --queue postgres://…` and the verbs that read the queue: real processes, a real
/// database, nginx.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(3))) struct FleetTests {
    private func serve(_ count: Int, rate: String? = nil) async throws -> NginxServer {
        var options = NginxServer.Options()
        options.limitRate = rate
        let server = try await NginxServer.start(options: options)
        for number in 0..<count {
            var bytes = SampleBytes(seed: UInt64(number))
            try bytes.next(2000 + number * 31).write(to: URL(fileURLWithPath: "\(server.root)/\(number)"))
        }
        return server
    }

    private func jobs(_ count: Int, _ server: NginxServer) -> [String] {
        (0..<count).map { download(server.url("/\($0)"), to: "in/\($0)", #""id": "j\#($0)""#) }
    }

    // MARK: The complete path

    @Test func twoWorkersEndTheJobsOfARunThatReportsEachEndOnce() async throws {
        let server = try await serve(80)
        let fleet = try await FleetPlace()
        try fleet.place.jobs(jobs(80, server))
        // Each worker starts one job at a time, so that neither can do all of them before the other one begins.
        let workers = [try fleet.worker("a", "-j", "2"), try fleet.worker("b", "-j", "2")]
        for worker in workers { try await worker.begins() }
        let run = try await fleet.run("run", "jobs.json", "--json", "--report", "report.jsonl")
        #expect(run.exitCode == 0, "\(run)")
        let ends = try run.events().ends
        #expect(ends.count == 80 && ends.values.allSatisfy { $0 == "finished" }, "\(ends)")
        #expect(try JSONLines.values(fleet.folder.text("report.jsonl")).ends == ends)
        #expect(run.standardError.contains("80 jobs in postgres://"))
        let reported = try await fleet.workers()
        #expect(reported.count == 2 && reported.allSatisfy { ($0["lease"]?.double ?? 0) > 0 }, "\(reported)")
        try await fleet.stop(workers[0], workers[1])
        await server.stop()
        let uris = try server.accessLog().map(\.uri)
        #expect(uris.count == 80 && Set(uris).count == 80)
        let files = try ["a/in", "b/in"].map { try fleet.folder.files(below: $0) }
        #expect(files.joined().count == 80 && Set(files.joined()).count == 80, "\(files)")
        for name in files.indices {
            for file in files[name] {
                let own = try fleet.folder.data("\(["a", "b"][name])/in/\(file)")
                #expect(try own == Data(contentsOf: URL(fileURLWithPath: "\(server.root)/\(file)")))
            }
        }
        #expect(try await fleet.workers().isEmpty, "both gave up their leases")
    }

    @Test func theJobsOfAKilledWorkerAreEndedByTheOtherOneAndRecordedOnce() async throws {
        // The rate is that of a network: both workers are busy when one is killed.
        let server = try await serve(24, rate: "2k")
        let fleet = try await FleetPlace()
        try fleet.place.jobs(jobs(24, server))
        let (one, other) = (try fleet.worker("a", "-j", "4"), try fleet.worker("b", "-j", "4"))
        try await one.begins()
        try await other.begins()
        try await fleet.bring()
        try await one.event("job.started")
        try await other.event("job.started")
        one.kill(SIGKILL)
        _ = try await one.result()
        let wait = try await fleet.run("wait", "batch")
        #expect(wait.exitCode == 0, "\(wait)")
        let batch = try #require(await fleet.batch())
        #expect(batch["done"]?.int == 24 && batch["failed"]?.int == 0, "\(batch)")
        let list = try await fleet.status("batch", "--jobs")
        #expect(list.count == 24 && list.allSatisfy { $0["state"]?.string == "done" }, "\(list)")
        try await fleet.stop(other)
        let workers = try await fleet.workers()
        #expect(workers.isEmpty, "the killed one's lease was taken over")
    }

    @Test func aStoppedWorkerReturnsItsJobsWithinSeconds() async throws {
        let server = try await serve(6, rate: "1k")
        let fleet = try await FleetPlace()
        try fleet.place.jobs(jobs(6, server))
        try await fleet.bring()
        let worker = try fleet.worker("a", "-j", "2")
        try await worker.event("job.started")
        let asked = ContinuousClock.now
        worker.kill(SIGTERM)
        let result = try await worker.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(ContinuousClock.now - asked < .seconds(5))
        let list = try await fleet.status("batch", "--jobs")
        #expect(list.allSatisfy { ["done", "queued"].contains($0["state"]?.string) }, "\(list)")
        let next = try fleet.worker("a")
        let wait = try await fleet.run("wait", "batch")
        #expect(wait.exitCode == 0, "\(wait)")
        try await fleet.stop(next)
    }

    // MARK: The progress display

    /// script(1) gives the command a terminal.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
    func aRunOnATerminalShowsTheTransfersOfWorkersWithTheirMachines() async throws {
        let server = try await serve(1, rate: "50k")
        var bytes = SampleBytes(seed: 5)
        try bytes.next(300_000).write(to: URL(fileURLWithPath: "\(server.root)/big"))
        let fleet = try await FleetPlace()
        try fleet.place.jobs([download(server.url("/big"), to: "in/big", #""id": "big""#)])
        let worker = try fleet.worker("a")
        try await worker.begins()
        let machine = try #require(await fleet.workers().first?["worker"]?.string)
        var environment = fleet.command([]).environment
        environment["TERM"] = "xterm"
        let line = "'\(try TransferCommand.binary())' run jobs.json --no-config --queue '\(fleet.queue)'"
        let screen = try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/script", ["-qefc", line, "/dev/null"], environment: environment,
                workingFolder: fleet.folder.path, timeout: .seconds(60)))
        _ = try await screen.line(.standardOutput) {
            $0.contains("big") && $0.contains("KiB/s") && $0.contains("  \(machine)")
        }
        _ = try await screen.line(.standardOutput) { $0.contains("1 active") }
        #expect(try await screen.result().exitCode == 0)
        try await fleet.stop(worker)
    }

    @Test func progressOfWorkersIsReportedAsJSONOnRequest() async throws {
        let server = try await serve(1, rate: "1k")
        let fleet = try await FleetPlace()
        try fleet.place.jobs([download(server.url("/0"), to: "in/0", #""id": "slow""#)])
        let worker = try fleet.worker("a")
        let run = try await fleet.run("run", "jobs.json", "--json=progress")
        let reported = try run.events().named("job.progress")
        #expect(run.exitCode == 0 && !reported.isEmpty, "\(run)")
        #expect(
            reported.allSatisfy { $0["id"]?.string == "slow" && $0["worker"]?.string?.isEmpty == false }, "\(reported)")
        try await fleet.stop(worker)
    }

    // MARK: The database is away

    @Test func aWorkerWaitsForTheDatabaseAndContinuesItsTransfers() async throws {
        let database = try await PostgresServer.start()
        let server = try await serve(10, rate: "1k")
        let fleet = try await FleetPlace(on: database)
        try fleet.place.jobs(jobs(10, server))
        try await fleet.bring()
        let worker = try fleet.worker("a", "-j", "2", "--lease", "60s")
        try await worker.event("job.started")
        try await database.kill()
        _ = try await worker.line { $0.contains("database is away, waiting for it") }
        let again = try await database.startAgain()
        _ = try await worker.line { $0.contains("database is back") }
        let wait = try await fleet.run("wait", "batch")
        #expect(wait.exitCode == 0, "\(wait)")
        try await fleet.stop(worker)
        await server.stop()
        let log = try server.accessLog()
        #expect(log.count == 10 && Set(log.map(\.uri)).count == 10, "no transfer was given up: \(log.map(\.uri))")
        await again.stop()
    }

    @Test func aWorkerWhoseLeaseEndsWhileTheDatabaseIsAwayBeginsAnew() async throws {
        let database = try await PostgresServer.start()
        let server = try await serve(6, rate: "1k")
        let fleet = try await FleetPlace(on: database)
        try fleet.place.jobs(jobs(6, server))
        try await fleet.bring()
        let worker = try fleet.worker("a", "-j", "2")
        try await worker.event("job.started")
        try await database.kill()
        _ = try await worker.line { $0.contains("begins anew") }
        let again = try await database.startAgain()
        let wait = try await fleet.run("wait", "batch")
        #expect(wait.exitCode == 0, "\(wait)")
        let batch = try #require(await fleet.batch())
        #expect(batch["done"]?.int == 6, "\(batch)")
        try await fleet.stop(worker)
        await again.stop()
    }

    /// The stop stands for a laptop that sleeps for the length of the lease.
    @Test func aWorkerThatSleptLongerThanItsLeaseRecordsNothingAndBeginsAnew() async throws {
        let server = try await serve(8, rate: "2k")
        let fleet = try await FleetPlace()
        try fleet.place.jobs(jobs(8, server))
        try await fleet.bring()
        let sleeper = try fleet.worker("a", "-j", "2")
        try await sleeper.event("job.started")
        sleeper.kill(SIGSTOP)
        let other = try fleet.worker("b")
        let wait = try await fleet.run("wait", "batch")
        #expect(wait.exitCode == 0, "\(wait)")
        sleeper.kill(SIGCONT)
        _ = try await sleeper.line { $0.contains("begins anew") }
        let list = try await fleet.status("batch", "--jobs")
        #expect(list.count == 8 && list.allSatisfy { $0["state"]?.string == "done" }, "\(list)")
        try await fleet.stop(sleeper, other)
    }

    // MARK: Jobs that a worker refuses

    @Test func aJobThatNamesPrivateFilesFailsAtTheWorker() async throws {
        let server = try await serve(1)
        let fleet = try await FleetPlace()
        try fleet.place.jobs([
            download(server.url("/0"), to: "in/0", #""id": "right""#),
            download(server.url("/0"), to: fleet.folder.path("elsewhere"), #""id": "outside""#),
            download(server.url("/0"), to: "in/1", #""id": "variable", "headers": {"X-Key": {"env": "HOME"}}"#),
        ])
        let worker = try fleet.worker("a")
        let run = try await fleet.run("run", "jobs.json", "--json")
        #expect(run.exitCode == 1, "\(run)")
        #expect(try run.events().ends == ["right": "finished", "outside": "failed", "variable": "failed"])
        #expect(!fleet.folder.exists("elsewhere"))
        try await fleet.stop(worker)
    }

    @Test func aSecretInAURLIsNotSubmittedToTheQueue() async throws {
        let fleet = try await FleetPlace()
        try fleet.place.jobs([download("https://h.example/x?X-Amz-Signature=abc&X-Amz-Credential=k", to: "x")])
        let run = try await fleet.run("run", "jobs.json")
        #expect(run.exitCode == 65 && run.standardError.contains("hold a secret"), "\(run)")
        #expect(!run.standardError.contains("abc"))
        #expect(try await fleet.batch() == nil)
    }

    /// The hook belongs to a job, a batch, or an option.
    @Test(arguments: [0, 1, 2]) func hooksAreNotSubmittedToTheQueue(_ place: Int) async throws {
        let fleet = try await FleetPlace()
        let hook = #""onFinish": "tell""#
        let job = download("https://h.example/x", to: "x", place == 0 ? hook : "")
        try fleet.folder.write("{\"version\": 1, \(place == 1 ? hook + "," : "") \"jobs\": [\(job)]}", to: "jobs.json")
        let options = place == 2 ? ["--on-finish", "true"] : ["--on-finish", "tell=true"]
        let run = try await fleet.command(["run", "jobs.json", "--queue", fleet.queue] + options).run()
        #expect(run.exitCode == [65, 65, 64][place] && run.standardError.contains("which workers refuse"), "\(run)")
        #expect(try await fleet.batch() == nil)
    }

    // MARK: Verbs

    @Test func verbsControlWorkers() async throws {
        let server = try await serve(4, rate: "1k")
        let fleet = try await FleetPlace()
        try fleet.place.jobs(jobs(4, server))
        try await fleet.bring()
        #expect(try await fleet.run("pause", "batch/j0").standardOutput.contains("1 job paused"))
        #expect(try await fleet.run("cancel", "batch/j1").standardOutput.contains("1 job cancelled"))
        let worker = try fleet.worker("a")
        try await worker.event("job.started")
        let why = try await fleet.run("why", "batch/j0")
        #expect(why.exitCode == 0 && why.standardOutput.contains("paused"), "\(why)")
        #expect(try await fleet.run("resume", "batch").exitCode == 0)
        #expect(try await fleet.run("retry", "batch/j1").exitCode == 0)
        #expect(try await fleet.run("wait", "batch").exitCode == 0)
        #expect(try await fleet.batch()?["done"]?.int == 4)
        try await fleet.stop(worker)
        let forget = try await fleet.run("forget", "batch")
        #expect(forget.standardOutput.contains("forgotten: batch"), "\(forget)")
        #expect(try await fleet.batch() == nil)
    }

    @Test func readingAMissingQueueCreatesNone() async throws {
        let fleet = try await FleetPlace()
        let status = try await fleet.run("status")
        #expect(status.exitCode == 74 && status.standardError.contains("there is no queue"), "\(status)")
    }

    @Test func optionsOfTheTransfersAreTheWorkers() async throws {
        let fleet = try await FleetPlace()
        try fleet.place.jobs([download("https://h.example/x", to: "x")])
        let run = try await fleet.run("run", "jobs.json", "-j", "4")
        #expect(run.exitCode == 64 && run.standardError.contains("transfer work takes that"), "\(run)")
        for words in [["work"], ["work", "--queue", "here"], ["status", "--queue", fleet.queue, "--state", "here"]] {
            let refused = try await fleet.command(words).run()
            #expect(refused.exitCode == 64, "\(refused)")
        }
        let password = try await fleet.command(["status", "--queue", "postgres://me:secret@db.example/x"]).run()
        #expect(password.exitCode == 64 && password.standardError.contains("pgpass"), "\(password)")
        #expect(!password.standardError.contains("secret@"))
    }
}
