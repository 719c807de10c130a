import Testing
import TransferTestSupport

/// Resources that end with the process.
@Suite(.timeLimit(.minutes(1))) struct ExitTests {
    /// Threads close their connections while exit(3) runs.
    @Test func openSSLCanBeUsedUntilTheProcessHasEnded() async throws {
        let probe = try ChildProcess.start(ChildProcess.Command(TransferCommand.builtProduct("link-probe"), ["late"]))
        let result = try await probe.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(
            result.standardOutput == "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n")
    }
}
