import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// A file system without extended attributes (ramfs here; sticks with FAT and sshfs are others). The queue's database
/// records the owner of a partial file, and its content.
@Suite(.enabled(if: PlainFileSystem.canMount, "needs a user namespace or root to mount a ramfs"))
struct PlainFileSystemTests {
    private let content = Content.random(seed: 71, count: 3_000_000)

    /// Runs the command with this number of kills while the server holds the rest, then to its end.
    private func run(_ server: TestServer, _ place: Workplace, kills: Int, by size: Int, foreign: String? = nil)
        async throws -> (names: String, during: String)
    {
        try place.jobs([download(server.url("/a"), to: "plain/a")])
        let script = """
            mount -t ramfs ramfs plain && mkfifo pipe || exit 99
            [ -z "$FOREIGN" ] || echo theirs > "plain/$FOREIGN"
            for kill in $(seq \(kills)); do
                touch begun
                "$@" > out 2>&1 &
                while kill -0 $! && [ -z "$(find plain -type f -newer begun -size +\(size - 1)c)" ]; do
                    read -r -t 0.02 _ <> pipe
                done 2> /dev/null
                kill -9 $!
                wait $! 2> /dev/null
            done
            echo $(ls plain) > during
            "$@" > out 2>&1 || { cat out; exit 1; }
            echo $(ls plain) > names
            cp plain/a a
            """
        mkdir(place.folder.path("plain"), 0o755)
        let result = try await PlainFileSystem.start(place, script, foreign: foreign, "run", "jobs.json").result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        return (try place.folder.text("names"), try place.folder.text("during"))
    }

    @Test func aPartialFileIsOursAfterKillsAndIsContinued() async throws {
        try await withTestServer { server in
            let place = try Workplace("plain")
            server.serve("/a", ServedFile(content, etag: "\"1\""))
            server.script("/a", [.stall(after: 1_000_000)])
            let (names, during) = try await run(server, place, kills: 1, by: 1_000_000)
            #expect(names == "a\n" && during == "a.part\n")
            let ranges = server.requests.map(\.range)
            #expect(ranges == [nil, "bytes=1000000-"], "\(ranges)")
        }
    }

    /// The files have no declared length, or are shorter than the files that are recorded elsewhere.
    @Test(arguments: [(true, 600_000), (false, 600_000), (true, 50_000), (false, 50_000)])
    func noKillLeavesAnUnownedFile(_ isChunked: Bool, _ size: Int64) async throws {
        try await withTestServer { server in
            let place = try Workplace("plain")
            server.serve("/a", ServedFile(content))
            let fault = isChunked ? Fault.chunked().and(.stall(after: size)) : .stall(after: size)
            server.script("/a", [fault, fault, fault])
            let (names, during) = try await run(server, place, kills: 3, by: Int(size) / 2)
            #expect(names == "a\n" && during == "a.part\n")
        }
    }

    @Test func aForeignPartFileStays() async throws {
        try await withTestServer { server in
            let place = try Workplace("plain")
            server.serve("/a", ServedFile(content, etag: "\"1\""))
            server.script("/a", [.stall(after: 1_000_000)])
            let (names, during) = try await run(server, place, kills: 1, by: 1_000_000, foreign: "a.part")
            #expect(names == "a a.part\n" && during == "a.1.part a.part\n")
            #expect(server.requests.map(\.range) == [nil, "bytes=1000000-"])
        }
    }

    /// The server is unreachable for a while: an attempt that changed nothing keeps the records of the bytes.
    @Test func attemptsWithoutAnAnswerForgetNothing() async throws {
        try await withTestServer { server in
            let place = try Workplace("plain")
            server.serve("/a", ServedFile(content, etag: "\"1\""))
            server.script("/a", [.cut(after: 1_000_000), .closeBeforeHead, .status(503), .closeBeforeHead])
            let (names, _) = try await run(server, place, kills: 0, by: 0)
            #expect(names == "a\n")
            #expect(server.requests.last?.range == "bytes=1000000-")
        }
    }
}

private enum PlainFileSystem {
    private static let unshare = ["--user", "--map-root-user", "--mount"]

    static var canMount: Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = unshare + ["mount", "-t", "ramfs", "ramfs", "/tmp"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    static func start(
        _ place: Workplace, _ script: String, foreign: String?, _ arguments: String...
    ) throws -> ChildProcess {
        let command = place.command(arguments)
        var environment = command.environment
        environment["FOREIGN"] = foreign ?? ""
        return try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/unshare",
                unshare + ["/bin/bash", "-c", script, "bash", try TransferCommand.binary()] + arguments,
                environment: environment, workingFolder: command.workingFolder, timeout: command.timeout))
    }
}
