import Testing

@testable import TransferCore

/// What a program is told is free of the command's options. That the command has them is shown by its own tests.
@Suite struct CommandWordsTests {
    @Test func aProgramGetsNoWordsOfTheCommand() {
        #expect("true\(CommandWords.also("--create-folders")) makes it" == "true makes it")
        #expect(CommandWords.only(" with --state") == "")
        #expect(CommandWords.choose("transfer status", "statuses()") == "statuses()")
        #expect("\(CommandWords.retry) sends it again" == "a retry sends it again")
    }
}
