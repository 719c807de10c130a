import Foundation
import Testing
import TransferTestSupport

@testable import transfer

/// The completion scripts that the command writes.
@Suite(.timeLimit(.minutes(5))) struct CompletionScriptTests {
    private static let hasFish = FileManager.default.isExecutableFile(atPath: "/usr/bin/fish")

    /// A line, and the offers that it must have.
    static let lines: [(String, [String])] = [
        ("transfer ", ["get", "status", "top"]), ("transfer sta", ["status"]),
        ("transfer get --if-ex", ["--if-exists"]), ("transfer get --if-exists ", ["skip", "rename"]),
        ("transfer get --http1.1 --if-exists s", ["skip"]), ("transfer put --protocol t", ["tus"]),
        ("transfer put rep", ["report.pdf"]), ("transfer get -k --cacert rep", ["report.pdf"]),
        ("transfer run rep", ["report.pdf"]), ("transfer watch fol", ["folder/"]),
        ("transfer network --fol", ["--follow"]),
    ]

    @Test func theScriptOfFishHasAnEndForEachLine() async throws {
        let script = try await Workplace().run("--generate-completion-script", "fish").standardOutput
        #expect(script.contains("$unparsed_tokens 2> /dev/null; or break\n"))
        #expect(script.contains("    __transfer_may_mean \"$expected_commands\"; or return 1\n"))
        // argparse(1) of fish 3.6 takes no name with a dot.
        let specifications = script.split(separator: "\n").filter { $0.contains("__transfer_parse_subcommand -") }
        #expect(!specifications.isEmpty && specifications.allSatisfy { !$0.contains("http1.1") })
        #expect(script.contains("-l 'http1.1'"))
    }

    @Test func scriptsOfOtherShellsStayAsTheyAre() {
        #expect(CompletionScript.corrected("#!/bin/bash\ncomplete\n") == "#!/bin/bash\ncomplete\n")
    }

    @Test(.enabled(if: hasFish), arguments: lines.indices)
    func fishOffersWhatFits(_ index: Int) async throws {
        let (line, offers) = Self.lines[index]
        let place = try Workplace()
        let script = try await place.run("--generate-completion-script", "fish").standardOutput
        try place.folder.write(script, to: "transfer.fish")
        try place.folder.write("x", to: "report.pdf")
        try FileManager.default.createDirectory(
            atPath: place.folder.path("folder"), withIntermediateDirectories: true)
        // fish reads the token under the cursor, which a line without a terminal does not have: no custom entry is asked.
        let command = ChildProcess.Command(
            "/usr/bin/fish", ["--no-config", "-c", "source transfer.fish; complete -C '\(line)'"],
            environment: ["PATH": "/usr/bin:/bin", "HOME": place.folder.path, "LANG": "C.UTF-8"],
            workingFolder: place.folder.path)
        let result = try await ChildProcess.start(command).result()
        let found = Set(result.standardOutput.split(separator: "\n").map { $0.prefix { $0 != "\t" } }.map(String.init))
        #expect(Set(offers).isSubset(of: found), "\(line): \(result)")
    }
}
