import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Four writers, a server that restarts, and a command that is killed.
@Suite(.serialized) struct WatchCommandSoakTests {
    @Test(.timeLimit(.minutes(2))) func everyFinalVersionArrivesWhateverIsKilled() async throws {
        try await soak(files: 300)
    }

    @Test(.enabled(if: TransferCommand.runsHeavyTests), .timeLimit(.minutes(10)))
    func everyFinalVersionOfFiveThousandArrivesWhateverIsKilled() async throws {
        try await soak(files: 5000)
    }

    private func soak(files: Int) async throws {
        let place = try Workplace("soak")
        let watched = try place.folder.folder("out")
        let servers = try ServerSeries()
        defer { servers.stop() }
        let crew = WriterCrew(folder: watched, writers: 4, files: files)
        var command = place.command([
            "watch", "out", "--to", servers.url("/in/"), "--settle", "50ms", "--recursive", "--then", "move",
            place.folder.path("done"), "--json",
        ])
        command.timeout = .seconds(560)
        for round in 0..<3 {
            let process = try command.start()
            // The server restarts twice, the command is killed twice; each in the middle of uploads.
            try crew.work(part: round, of: 3) { if round != 1 { try servers.restart() } }
            guard round == 2 else {
                let soFar = servers.arrived
                try await until("uploads", within: .seconds(60)) { servers.arrived >= soFar + files / 20 }
                process.kill(SIGKILL)
                _ = try await process.result()
                continue
            }
            try crew.finish()
            try await until("all final versions", within: .seconds(300)) {
                WriterCrew.isEmpty(watched) && servers.contents == crew.finals
            }
            process.kill(SIGTERM)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result.standardError)")
        }
        #expect(servers.contents == crew.finals)
        // Twice only what was under way when something was killed, or had come and wasn't recorded: ends are made durable
        // in groups.
        #expect(servers.mostRepeated(crew.finals) <= 3)
        #expect(servers.count(of: crew.finals) <= crew.finals.count * 5 / 4 + 64)
        let moved = try place.folder.files(below: "done")
        #expect(Set(moved).isSuperset(of: crew.finals.keys))
        #expect(!moved.contains { $0.hasSuffix(".part") || $0.contains("deleted") || $0.contains(".transfer-") })
    }
}

/// One address, and servers that come and go behind it.
///
/// `@unchecked Sendable`: used by one test, one thing after another.
private final class ServerSeries: @unchecked Sendable {
    private var server: TestServer
    private var sinks: [UploadSink] = []

    init() throws {
        server = try TestServer()
        sinks.append(server.acceptUploads("/in/*"))
    }

    func url(_ path: String) -> String { server.url(path) }

    func restart() throws {
        let port = server.port
        server.stop()
        server = try TestServer(on: .ipv4(port: port))
        sinks.append(server.acceptUploads("/in/*"))
    }

    func stop() { server.stop() }

    /// Whole bodies, in the order of their ends.
    private var uploads: [(path: String, text: String)] {
        sinks.flatMap(\.uploads).filter(\.isComplete).map {
            (String($0.path.dropFirst("/in/".count)), String(decoding: $0.bytes, as: UTF8.self))
        }
    }

    var arrived: Int { sinks.reduce(0) { $0 + $1.uploads.count } }

    var contents: [String: String] { Dictionary(uploads.map { ($0.path, $0.text) }) { $1 } }

    func count(of finals: [String: String]) -> Int { uploads.count { finals[$0.path] == $0.text } }

    func mostRepeated(_ finals: [String: String]) -> Int {
        var counts: [String: Int] = [:]
        for upload in uploads where finals[upload.path] == upload.text { counts[upload.path, default: 0] += 1 }
        return counts.values.max() ?? 0
    }
}
