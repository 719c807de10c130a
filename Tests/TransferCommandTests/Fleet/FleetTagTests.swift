import Foundation
import Testing
import TransferTestSupport

/// `transfer work --tags`: jobs that only some workers may do.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(3))) struct FleetTagTests {
    @Test func jobsWithTagsAreDoneByWorkersThatHaveThemAndWaitWithoutOne() async throws {
        let server = try await NginxServer.start()
        for name in ["any", "eu", "both"] {
            try Data(name.utf8).write(to: URL(fileURLWithPath: "\(server.root)/\(name)"))
        }
        let fleet = try await FleetPlace()
        try fleet.place.jobs([
            download(server.url("/any"), to: "in/any", #""id": "any""#),
            download(server.url("/eu"), to: "in/eu", #""id": "eu", "worker": {"tags": ["eu"]}"#),
            download(server.url("/both"), to: "in/both", #""id": "both", "worker": {"tags": ["gpu", "eu"]}"#),
        ])
        let (plain, eu) = (try fleet.worker("plain"), try fleet.worker("eu", "--tags", "eu"))
        try await fleet.bring()
        try await eu.event("job.finished")
        let why = try await fleet.run("why", "batch/both")
        #expect(
            why.standardOutput.contains("waiting for a worker with the tags eu, gpu; none of the 2 workers has them"),
            "\(why)")
        #expect(try await fleet.run("why", "batch/both", "--json").events().first?["for"]?.string == "worker")
        let status = try await fleet.run("status")
        #expect(status.standardOutput.contains("batch: 1 waits for a worker with the tags eu, gpu"), "\(status)")
        #expect(try await fleet.workers().compactMap { $0["tags"]?.array?.count }.sorted() == [0, 1])
        let gpu = try fleet.worker("gpu", "--tags", "gpu,eu")
        #expect(try await fleet.run("wait", "batch").exitCode == 0)
        try await fleet.stop(plain, eu, gpu)
        #expect(fleet.folder.exists("gpu/in/both"))
        #expect(!fleet.folder.exists("plain/in/eu"))
    }

    @Test func oneMachineRefusesAJobThatAsksForTags() async throws {
        let place = try Workplace("tags")
        try place.jobs([download("https://h.example/x", to: "x", #""worker": {"tags": ["eu"]}"#)])
        let validated = try await place.command(["validate", "jobs.json"]).run()
        #expect(validated.exitCode == 0, "\(validated)")
        let run = try await place.command(["run", "jobs.json"]).run()
        #expect(run.exitCode == 65 && run.standardError.contains("transfer work --tags eu"), "\(run)")
        let dry = try await place.command(["run", "jobs.json", "-n"]).run()
        #expect(dry.exitCode == 65 && dry.standardError == run.standardError, "\(dry)")
        let shared = try await place.command(["run", "jobs.json", "-n", "--queue", "postgres://h.example/x"]).run()
        #expect(shared.exitCode == 0 && shared.standardOutput.contains("1 job"), "\(shared)")
        let wrong = try await place.command(["work", "--queue", "postgres://h.example/x", "--tags", "EU"]).run()
        #expect(wrong.exitCode == 64 && wrong.standardError.contains("it takes tags such as gpu,eu"), "\(wrong)")
    }
}
