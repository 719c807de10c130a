import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A standard output that accepts no bytes, which is an error of every verb that prints, including help and version.
@Suite(.timeLimit(.minutes(2))) struct StandardOutputTests {
    /// Every command line that succeeds in a place with the batch `batch`, whose job `a` is complete.
    private static let lines = [
        "--help", "--version", "help", "help get", "get --help", "run --help", "watch --help", "serve --help",
        "serve --version", "status --version", "--generate-completion-script bash", "--experimental-dump-help",
        "status", "status --json", "status batch", "status batch --jobs", "status batch --failed", "why batch/a",
        "why batch/a --json", "verify batch", "verify batch --json", "network", "network --json", "config",
        "config --json", "validate jobs.json", "run jobs.json --json", "run jobs.json --dry-run",
        "get -n URL/a", "get URL/a -o - -q", "get URL/a -o other --json", "put jobs.json URL/up/ --json",
        "put -n jobs.json URL/up/", "copy URL/a URL/up/ --json", "copy -n URL/a URL/up/",
        "watch folder --to URL/up/{name} --once --json", "pause batch", "resume batch", "retry batch", "forget batch",
    ]

    @Test(arguments: lines) func anUnwritableStandardOutputIsAnError(_ line: String) async throws {
        try await withTestServer { server in
            server.serve("/a", .text("a"))
            server.handle("PUT", "/up/*") { _ in Response(status: 201) }
            for output in ["> /dev/full", ">&-"] {
                let place = try Workplace()
                try place.jobs([download(server.url("/a"), to: "a", #""id": "a""#)])
                let first = try await place.run("run", "jobs.json")
                #expect(first.exitCode == 0, "\(first)")
                try place.folder.write("x", to: "folder/x")
                let words = line.replacingOccurrences(of: "URL", with: server.url(""))
                let result = try await shell("\(words) \(output)", in: place)
                #expect(result.exitCode == 74, "\(words) \(output): \(result)")
                let reason = output == ">&-" ? "bad file descriptor" : "no space left on device"
                let reported = result.standardError.hasSuffix("standard output is incomplete: \(reason)\n")
                #expect(
                    reported || result.standardError.contains("cannot write standard output: \(reason)"), "\(result)")
            }
        }
    }

    private func shell(_ line: String, in place: Workplace) async throws -> ProcessResult {
        let template = place.command([])
        return try await ChildProcess.start(
            ChildProcess.Command(
                "/bin/sh", ["-c", "'\(try TransferCommand.binary())' \(line)"], environment: template.environment,
                workingFolder: template.workingFolder)
        ).result()
    }
}
