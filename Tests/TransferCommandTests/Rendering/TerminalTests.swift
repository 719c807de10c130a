import Testing

@testable import transfer

@Suite struct TerminalTests {
    func terminal(_ environment: [String: String], isTerminal: Bool = true) -> Terminal {
        Terminal(descriptor: -1, isTerminal: isTerminal, stream: "8:42", environment: environment)
    }

    @Test func theFirstLocaleThatIsSetDecides() {
        #expect(terminal(["TERM": "xterm", "LANG": "de_DE.UTF-8"]).charset == .utf8)
        #expect(terminal(["TERM": "xterm", "LANG": "de_DE.UTF-8", "LC_CTYPE": "C"]).charset == .ascii)
        #expect(terminal(["TERM": "xterm", "LC_ALL": "", "LC_CTYPE": "C.utf8"]).charset == .utf8)
        #expect(terminal(["TERM": "xterm"]).charset == .ascii)
        #expect(terminal(["TERM": "xterm", "LANG": "ca_ES.UTF-8@valencia"]).charset == .utf8)
    }

    @Test func aDumbTerminalGetsNeitherCursorMovementNorColours() {
        let dumb = terminal(["TERM": "dumb", "LANG": "C.UTF-8"])
        #expect(!dumb.canMoveCursor && !dumb.hasColors && dumb.charset == .ascii)
    }

    @Test func coloursAreForTerminalsThatSupportThem() {
        #expect(terminal(["TERM": "xterm"]).hasColors)
        #expect(!terminal(["TERM": "xterm", "NO_COLOR": "1"]).hasColors)
        #expect(terminal(["TERM": "xterm", "NO_COLOR": ""]).hasColors)
        #expect(!terminal(["TERM": "xterm"], isTerminal: false).hasColors)
    }

    @Test func theJournalIsKnownByItsInode() {
        #expect(terminal(["JOURNAL_STREAM": "8:42"], isTerminal: false).isJournal)
        #expect(terminal(["JOURNAL_STREAM": "8:42"], isTerminal: false).charset == .utf8)
        #expect(!terminal(["JOURNAL_STREAM": "8:43"], isTerminal: false).isJournal)
        #expect(!terminal([:], isTerminal: false).isJournal)
    }

    @Test func withoutAScreenTheSizeIsNamedOrUsual() {
        #expect(terminal(["COLUMNS": "132", "LINES": "50"]).size == .init(width: 132, height: 50))
        #expect(terminal(["COLUMNS": "x"]).size == .init(width: 80, height: 24))
    }

    @Test func aScreenIsShownOnlyWhereItCanBe() {
        let able = terminal(["TERM": "xterm"])
        let dumb = terminal(["TERM": "dumb"])
        let file = terminal(["TERM": "xterm"], isTerminal: false)
        #expect(ReporterOptions().showsScreen(on: able, sharesScreen: false))
        #expect(!ReporterOptions().showsScreen(on: able, sharesScreen: true))
        #expect(!ReporterOptions().showsScreen(on: dumb, sharesScreen: false))
        #expect(!ReporterOptions(progress: .bar).showsScreen(on: file, sharesScreen: false))
        #expect(!ReporterOptions(progress: .plain).showsScreen(on: able, sharesScreen: false))
        #expect(!ReporterOptions(isQuiet: true).showsScreen(on: able, sharesScreen: false))
    }
}
