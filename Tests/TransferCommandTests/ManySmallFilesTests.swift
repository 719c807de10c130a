import Foundation
import Testing
import TransferTestSupport

@Suite struct ManySmallFilesTests {
    static let counts = [500] + (TransferCommand.runsHeavyTests ? [10_000] : [])

    @Test(arguments: counts) func manySmallFilesNeedLittleMemory(_ count: Int) async throws {
        let place = try Workplace("many")
        let server = try await NginxServer.start()
        for index in 0..<count {
            var bytes = SampleBytes(seed: UInt64(index))
            let folder = "\(server.root)/\(index / 1000)"
            if index % 1000 == 0 {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            try bytes.next(4096).write(to: URL(fileURLWithPath: "\(folder)/\(index)"))
        }
        let lines = (0..<count).map { download(server.url("/\($0 / 1000)/\($0)"), to: "in/\($0 / 1000)/\($0)") }
        try place.folder.write(lines.joined(separator: "\n") + "\n", to: "jobs.jsonl")
        try place.folder.write(download(server.url("/0/0"), to: "one/0") + "\n", to: "one.jsonl")
        var command = place.command(["run", "one.jsonl", "--name", "one", "--json"])
        command.measuresMemory = true
        // The program's own code is most of the memory that the kernel counts: a run with one file measures it. Both
        // peaks are sampled every 10 ms, and a short run's last moments may be missed.
        let code = try #require(try await command.run().peakMemory)
        command.arguments = ["run", "jobs.jsonl", "--name", "many", "--json"]
        command.timeout = .seconds(300)
        let result = try await command.run()
        #expect(result.exitCode == 0, "\(result)")
        let memory = try #require(result.peakMemory)
        #expect(memory - code < (count > 500 ? 21 : 12) << 20, "\(memory >> 20) MiB, \(code >> 20) MiB with one file")
        #expect(try result.events().named("job.finished").count == count)
        #expect(try server.accessLog().count >= count - 1)
        let difference = try await ChildProcess.start(
            ChildProcess.Command("/usr/bin/diff", ["-r", server.root, place.folder.path("in")])
        ).result()
        #expect(difference.exitCode == 0, "\(difference)")

        // The second run asks no server.
        let before = try server.accessLog().count
        let again = try await command.run()
        #expect(again.exitCode == 0)
        #expect(try again.events().named("job.kept").count == count)
        await server.stop()
        #expect(try server.accessLog().count <= before + 1)
    }

    @Test func connectionsAreReused() async throws {
        let place = try Workplace("many")
        let server = try await NginxServer.start()
        for index in 0..<200 { try Data("x".utf8).write(to: URL(fileURLWithPath: "\(server.root)/\(index)")) }
        try place.jobs((0..<200).map { download(server.url("/\($0)"), to: "\($0)") })
        #expect(try await place.runJobs("-j", "8").exitCode == 0)
        await server.stop()
        let log = try server.accessLog()
        #expect(log.count == 200)
        #expect(Set(log.map(\.connection)).count <= 40, "\(Set(log.map(\.connection)).count) connections")
    }

    @Test func limitsHold() async throws {
        let place = try Workplace("many")
        try await withTestServerLimits(place, options: ["--per-host", "3"], atMost: 3)
        try await withTestServerLimits(try Workplace("many"), options: ["-j", "2"], atMost: 2)
    }
}
