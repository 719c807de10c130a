import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Command lines of curl, wget and aria2c have the same effect with `alias curl='transfer curl'`: the same files, bytes
/// and answers, the same requests that change something, and success or failure alike.
@Suite(.timeLimit(.minutes(10))) struct FrontDifferenceTests {
    @Test(.enabled(if: FrontPeers.hasCurl), arguments: FrontLines.curl)
    func aLineOfCurlHasTheSameEffect(_ row: FrontLineRow) async throws { try await compare(row, "curl") }

    @Test(.enabled(if: FrontPeers.hasWget), arguments: FrontLines.wget)
    func aLineOfWgetHasTheSameEffect(_ row: FrontLineRow) async throws { try await compare(row, "wget") }

    @Test(.enabled(if: FrontPeers.hasAria2), arguments: FrontLines.aria2)
    func aLineOfAria2HasTheSameEffect(_ row: FrontLineRow) async throws { try await compare(row, "aria2c") }

    /// A reader that has enough, such as head(1), is no fault.
    @Test(arguments: ["curl -s $U/big | head -c 10 > got", "wget -qO- $U/big | head -c 10 > got"])
    func aReaderThatEndsEarlyIsNoFault(_ line: String) async throws {
        let outcome = try await FrontStage().run(FrontLineRow(line), with: String(line.prefix { $0 != " " }))
        #expect(outcome.result.exitCode == 0 && outcome.result.standardError.isEmpty, "\(outcome.result)")
        #expect(outcome.files["got"] != nil)
    }

    private func compare(_ row: FrontLineRow, _ tool: String) async throws {
        let theirs = try await FrontStage().run(row, with: nil)
        #expect((theirs.result.exitCode == 0) == row.succeeds, "the tool itself: \(theirs.result)")
        let ours = try await FrontStage().run(row, with: tool)
        #expect((ours.result.exitCode == 0) == row.succeeds, "\(row): \(ours.result)")
        #expect(ours.result.exitCode != 64, "\(row): \(ours.result)")
        #expect(ours.files == theirs.files, "\(row): \(ours.result)")
        // aria2c talks on standard output, unless it is quiet.
        if tool != "aria2c" || row.line.contains(" -q") {
            #expect(ours.result.standardOutput == theirs.result.standardOutput, "\(row): \(ours.result)")
        }
        #expect(ours.changes == theirs.changes, "\(row)")
        // A file that must not be replaced needs no question here.
        #expect(ours.asked.isSubset(of: theirs.asked), "\(row)")
    }
}

/// The tools that are compared.
enum FrontPeers {
    static let hasCurl = isThere("curl", package: "curl")
    static let hasWget = isThere("wget", package: "wget")
    static let hasAria2 = isThere("aria2c", package: "aria2")

    private static func isThere(_ name: String, package: String) -> Bool {
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)") { return true }
        if ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required" { return true }
        let line = "SKIPPED: the lines of \(name), which is not installed (Debian's package \(package))\n"
        FileHandle.standardError.write(Data(line.utf8))
        return false
    }
}
