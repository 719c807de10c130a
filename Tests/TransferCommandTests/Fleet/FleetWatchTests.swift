import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `transfer watch --queue postgres://…`: folders whose files the processes of a fleet upload, each version once.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(3))) struct FleetWatchTests {
    private func watch(_ fleet: FleetPlace, _ server: TestServer, _ options: String...) throws -> ChildProcess {
        _ = try fleet.folder.folder("out")
        return try fleet.command(
            [
                "watch", "out", "--to", server.url("/in/"), "--queue", fleet.queue, "--settle", "10ms", "--lease", "3s",
                "--json",
            ] + options
        ).start()
    }

    private func names(_ numbers: Range<Int>) -> [String] { numbers.map { "f\($0)" } }

    private func write(_ fleet: FleetPlace, _ numbers: Range<Int>, _ content: String = "") throws {
        for name in names(numbers) { try fleet.folder.write(content + name, to: "out/\(name)") }
    }

    /// Waits until the given number of files has arrived.
    private func arrive(_ sink: UploadSink, _ count: Int) async throws {
        try await until("\(count) uploads", within: .seconds(90)) { sink.uploads.count >= count }
    }

    /// Another process asks the server about the uploads of a killed watcher, and does not send them again.
    @Test func twoWatchersAndAWorkerUploadEachVersionOnceAlsoWhenAWatcherIsKilled() async throws {
        var options = NginxServer.Options()
        options.allowsWriting = true
        let server = try await NginxServer.start(options: options)
        func puts() throws -> [String] {
            try server.accessLog().filter { $0.method == "PUT" && (200...204).contains($0.status) }
                .map { String($0.uri.dropFirst("/in/".count)) }
        }
        let fleet = try await FleetPlace()
        let folder = try fleet.folder.folder("out")
        let crew = WriterCrew(folder: folder, writers: 4, files: 200)
        let words = [
            "watch", "out", "--to", server.url("/in/"), "--queue", fleet.queue, "--settle", "50ms", "--recursive",
            "--lease", "3s", "--then", "delete", "--json",
        ]
        let (first, second) = (try fleet.command(words).start(), try fleet.command(words).start())
        let worker = try fleet.command(
            ["work", "--queue", fleet.queue, "-d", ".", "--allow-private", "--lease", "3s", "--json"]
        ).start()
        async let written: Void = crew.work(part: 0, of: 1) {}
        try await until("some uploads", within: .seconds(60)) { try puts().count > 40 }
        first.kill(SIGKILL)
        _ = try await first.result()
        try await written
        try crew.finish()
        try await until("all to be deleted", within: .seconds(100)) { WriterCrew.isEmpty(folder) }
        try await fleet.stop(worker, second)
        for (path, content) in crew.finals {
            #expect(try String(contentsOfFile: "\(server.root)/in/\(path)", encoding: .utf8) == content)
        }
        let counts = try puts().reduce(into: [:]) { $0[$1, default: 0] += 1 }
        let repeated = counts.filter { $1 > (crew.writtenOnce.contains($0) ? 1 : 3) }
        #expect(repeated.isEmpty)
    }

    @Test func aNewStartUploadsNothingTwice() async throws {
        try await withTestServer { server in
            let fleet = try await FleetPlace()
            let sink = server.acceptUploads("/in/*")
            try write(fleet, 0..<5)
            for _ in 0..<2 {
                let result = try await watch(fleet, server, "--once").result()
                #expect(result.exitCode == 0, "\(result)")
            }
            #expect(sink.uploads.map(\.path).sorted() == names(0..<5).map { "/in/\($0)" })
        }
    }

    @Test func aWorkerThatMayNotReadTheFolderLeavesItsFilesToTheWatcher() async throws {
        try await withTestServer { server in
            let fleet = try await FleetPlace()
            let sink = server.acceptUploads("/in/*")
            let worker = try fleet.worker("elsewhere")
            try await worker.begins()
            let watcher = try watch(fleet, server)
            try write(fleet, 0..<20)
            try await arrive(sink, 20)
            try await fleet.stop(worker, watcher)
            #expect(sink.uploads.map(\.path).sorted() == names(0..<20).map { "/in/\($0)" }.sorted())
        }
    }

    @Test func filesThatAWorkerUploadedAreDeletedByTheWatcher() async throws {
        try await withTestServer { server in
            let fleet = try await FleetPlace()
            let sink = server.acceptUploads("/in/*")
            let watchers = [try watch(fleet, server, "--then", "delete"), try watch(fleet, server, "--then", "delete")]
            let worker = try fleet.command(
                ["work", "--queue", fleet.queue, "-d", ".", "--allow-private", "--lease", "3s", "--json", "-v"]
            ).start()
            try await worker.begins()
            for watcher in watchers { try await watcher.event("watch.caughtUp") }
            try write(fleet, 0..<40)
            try await until("the folder is empty", within: .seconds(90)) {
                try sink.uploads.count >= 40 && fleet.folder.files(below: "out").isEmpty
            }
            try await fleet.stop(worker, watchers[0], watchers[1])
            #expect(sink.uploads.count == 40)
        }
    }

    @Test func secretsThatOtherMachinesLackAreRefused() async throws {
        let fleet = try await FleetPlace()
        _ = try fleet.folder.folder("out")
        let url = "http://h.example/in/{name}?X-Amz-Signature=word"
        let result = try await fleet.run("watch", "out", "--to", url)
        #expect(result.exitCode == 64 && result.standardError.contains("hold a secret"), "\(result)")
    }

    /// A worker does not have the environment variables that jobs of other processes need.
    @Test func filesWithAHeaderFromAVariableAreLeftToTheWatcher() async throws {
        try await withTestServer { server in
            let fleet = try await FleetPlace()
            let sink = server.acceptUploads("/in/*")
            try write(fleet, 0..<3)
            let worker = try fleet.command(
                ["work", "--queue", fleet.queue, "-d", ".", "--allow-private", "--json", "-v"]
            ).start()
            try await worker.begins()
            var command = fleet.command([
                "watch", "out", "--to", server.url("/in/"), "--queue", fleet.queue, "--settle", "10ms", "--once", "-H",
                "Authorization: $WORD",
            ])
            command.environment["WORD"] = "word"
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            try await fleet.stop(worker)
            #expect(sink.uploads.map(\.path).sorted() == names(0..<3).map { "/in/\($0)" })
        }
    }

    @Test func theOptionsOfASharedQueueAreChecked() async throws {
        let place = try Workplace("watch")
        _ = try place.folder.folder("out")
        let words = ["watch", "out", "--to", "http://h.example/in/"]
        for (options, said) in [
            (["--queue", "http://h.example"], "postgres://HOST/DATABASE"), (["--lease", "10s"], "--lease goes with"),
            (["--queue", "postgres://h.example/q", "--lease", "1s"], "3s to 1h"),
            (["--queue", "postgres://h.example/q", "--state", "s"], "without --state"),
        ] {
            let result = try await place.command(words + options).run()
            #expect(result.exitCode == 64 && result.standardError.contains(said), "\(result)")
        }
    }
}
