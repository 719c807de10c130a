import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Four writers, an nginx that restarts, and a command that is killed.
@Suite(.serialized) struct WatchCommandSoakTests {
    @Test(.timeLimit(.minutes(2))) func everyFinalVersionArrivesOnceDespiteKills() async throws {
        try await soak(files: 300)
    }

    @Test(.enabled(if: TransferCommand.runsHeavyTests), .timeLimit(.minutes(10)))
    func everyFinalVersionOfFiveThousandArrivesOnceDespiteKills() async throws {
        try await soak(files: 5000)
    }

    private func soak(files: Int) async throws {
        let place = try Workplace("soak")
        let watched = try place.folder.folder("out")
        let servers = try await ServerSeries()
        let crew = WriterCrew(folder: watched, writers: 4, files: files)
        var command = place.command([
            "watch", "out", "--to", servers.url("/in/"), "--settle", "50ms", "--recursive", "--then", "move",
            place.folder.path("done"), "--json",
        ])
        command.timeout = .seconds(560)
        for round in 0..<3 {
            let process = try command.start()
            // The server restarts twice, the command is killed twice; each time in the middle of uploads.
            let before = try servers.puts().count
            async let written: Void = crew.work(part: round, of: 3) {}
            if round != 1 {
                try await until("some uploads", within: .seconds(60)) { try servers.puts().count > before + files / 20 }
                try await servers.restart()
            }
            if round < 2 {
                try await until("more uploads", within: .seconds(60)) { try servers.puts().count > before + files / 10 }
                process.kill(SIGKILL)
                _ = try await process.result()
            }
            try await written
            guard round == 2 else { continue }
            try crew.finish()
            try await until("all to be moved", within: .seconds(300)) { WriterCrew.isEmpty(watched) }
            process.kill(SIGTERM)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result.standardError)")
        }
        #expect(try servers.contents() == crew.finals)
        // After any kill, the server was queried about its files, and received none of them again.
        var counts: [String: Int] = [:]
        for path in try servers.puts() { counts[path, default: 0] += 1 }
        let repeated = counts.filter { $1 > (crew.writtenOnce.contains($0) ? 1 : 3) }
        #expect(repeated.isEmpty)
        let moved = try place.folder.files(below: "done")
        #expect(Set(moved).isSuperset(of: crew.finals.keys))
        #expect(!moved.contains { $0.hasSuffix(".part") || $0.contains("deleted") || $0.contains(".transfer-") })
    }
}

/// One address and one folder, and servers that come and go behind it.
///
/// `@unchecked Sendable`: used by one test, one thing after another.
private final class ServerSeries: @unchecked Sendable {
    private let relay: FaultRelay
    private let options: NginxServer.Options
    private var servers: [NginxServer]

    init() async throws {
        var options = NginxServer.Options()
        options.allowsWriting = true
        self.options = options
        let server = try await NginxServer.start(options: options)
        servers = [server]
        relay = try FaultRelay(to: server.port)
    }

    deinit { relay.stop() }

    func url(_ path: String) -> String { "http://127.0.0.1:\(relay.port)\(path)" }

    func restart() async throws {
        await servers[servers.count - 1].stop()
        let server = try await NginxServer.start(root: servers[0].root, options: options)
        servers.append(server)
        relay.aim(at: server.port)
    }

    /// Returns the paths of the accepted files.
    func puts() throws -> [String] {
        try servers.flatMap { try $0.accessLog() }.filter { $0.method == "PUT" && (200...204).contains($0.status) }
            .map { String($0.uri.dropFirst("/in/".count)) }
    }

    func contents() throws -> [String: String] {
        let root = servers[0].root + "/in"
        var contents: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root) {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            contents[path] = try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
        }
        return contents
    }
}
