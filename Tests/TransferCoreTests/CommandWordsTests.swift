import Testing

@testable import TransferCore

/// Messages to a program name none of the command's options. The tests of the command prove that the command has them.
@Suite struct CommandWordsTests {
    @Test func aProgramGetsNoWordsOfTheCommand() {
        #expect("true\(CommandPhrases.also("--create-folders")) makes it" == "true makes it")
        #expect(CommandPhrases.only(" with --state") == "")
        #expect(CommandPhrases.choose("transfer status", "statuses()") == "statuses()")
        #expect("\(CommandPhrases.retry) sends it again" == "a retry sends it again")
    }
}
