import Testing

@testable import TransferCore

/// What a program is told is free of the command's options. That the command has them is shown by its own tests.
@Suite struct CommandWordsTests {
    @Test func aProgramGetsNoWordsOfTheCommand() {
        #expect("true\(CommandPhrases.also("--create-folders")) makes it" == "true makes it")
        #expect(CommandPhrases.only(" with --state") == "")
        #expect(CommandPhrases.choose("transfer status", "statuses()") == "statuses()")
        #expect("\(CommandPhrases.retry) sends it again" == "a retry sends it again")
    }
}
