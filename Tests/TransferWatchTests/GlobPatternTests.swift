import Testing
import TransferCore

@testable import TransferWatch

@Suite struct GlobPatternTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var pattern: String
        var matching: [String]
        var others: [String] = []
        var testDescription: String { pattern }
    }

    static let rows = [
        Row(
            pattern: "*.mp4", matching: ["a.mp4", ".mp4", "deep/er/b.mp4"],
            others: ["a.mp4x", "mp4", "a.MP4", "x.mp4/b"]),
        Row(pattern: "a?c", matching: ["abc", "aéc", "x/a c"], others: ["ac", "abbc"]),
        Row(pattern: "[a-c]1", matching: ["a1", "b1", "c1"], others: ["d1", "A1", "-1"]),
        Row(pattern: "[!a-c]1", matching: ["d1", "A1"], others: ["a1", "1"]),
        Row(pattern: "[^a]", matching: ["b"], others: ["a", ""]),
        Row(pattern: "[]x]", matching: ["]", "x"], others: ["[", "a"]),
        Row(pattern: "[a-]", matching: ["a", "-"], others: ["b"]),
        Row(pattern: "[{,}]", matching: ["{", ",", "}"], others: ["a"]),
        Row(pattern: "*.{jpg,jp?g}", matching: ["a.jpg", "a.jpeg"], others: ["a.jpxxg", "a.{jpg,jp?g}"]),
        Row(pattern: "{a,b{1,2}}x", matching: ["ax", "b1x", "b2x"], others: ["bx", "x"]),
        Row(pattern: "{,not-}so", matching: ["so", "not-so"], others: ["-so"]),
        Row(pattern: #"\*.txt"#, matching: ["*.txt"], others: ["a.txt"]),
        Row(pattern: #"\{a,b}"#, matching: ["{a,b}"], others: ["a", "b"]),
        Row(pattern: "in/*.txt", matching: ["in/a.txt"], others: ["a.txt", "in/sub/a.txt", "x/in/a.txt"]),
        Row(pattern: "/a.txt", matching: ["a.txt"], others: ["b/a.txt"]),
        Row(pattern: "**/raw/*", matching: ["raw/a", "x/raw/a", "x/y/raw/a"], others: ["raw", "x/raw/y/a"]),
        Row(pattern: "raw/**", matching: ["raw/a", "raw/b/c"], others: ["raw", "x/raw/a"]),
        Row(pattern: "a/**/z", matching: ["a/z", "a/b/z", "a/b/c/z"], others: ["a/b", "az"]),
        Row(pattern: "**", matching: ["a", "a/b"]),
        Row(pattern: "a*b*c", matching: ["abc", "aXbYc", "abbcc", "abcbc"], others: ["acb", "ab"]),
        Row(pattern: "e\u{301}*", matching: ["e\u{301}x"], others: ["\u{e9}x"]),
    ]

    @Test(arguments: rows) func matchesAsShellsDo(row: Row) throws {
        let pattern = try GlobPattern(row.pattern)
        for path in row.matching { #expect(pattern.matches(path), "\(path)") }
        for path in row.others { #expect(!pattern.matches(path), "\(path)") }
    }

    @Test(arguments: ["", "/", "[a", "{a,b", "x{a,{b}", "[z-a]"]) func invalidPatternsAreRefused(text: String) {
        let error = #expect(throws: TransferError.self) { try GlobPattern(text) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("\"\(text)\"") == true)
    }

    @Test func refusesBracesThatStandForTooMany() {
        let text = String(repeating: "{a,b}", count: 9)
        #expect(throws: TransferError.self) { try GlobPattern(text) }
    }

    @Test func takesNoLongerForAPatternThatIsMeantToBeSlow() throws {
        let pattern = try GlobPattern(String(repeating: "*a", count: 40) + "b")
        let took = ContinuousClock().measure {
            let isMatch = pattern.matches(String(repeating: "a", count: 250))
            #expect(!isMatch)
        }
        #expect(took < .seconds(1))
    }
}

@Suite struct WatchRulesTests {
    @Test(arguments: [
        "a.part", "a.PART", "b.tmp", "c~", ".hidden", "d.filepart", "e.crdownload", ".part", "x/y.tmp",
        "~$Plan.docx", ".~lock.Calc.ods#", "#notes#", ".#notes", "big.iso.aria2",
    ])
    func leavesTemporaryNamesAlone(path: String) {
        #expect(!WatchRules().accepts(file: path))
    }

    @Test(arguments: ["a.parts", "tmp", "a.tmp.mp4", "part", "~a", "x.y/file", "#1.jpg", "a#", "$a", "#"])
    func takesOrdinaryNames(path: String) {
        #expect(WatchRules().accepts(file: path))
    }

    @Test func includedAndNotExcludedFilesAreTaken() throws {
        let rules = WatchRules(
            include: [try GlobPattern("*.mp4"), try GlobPattern("raw/*")], exclude: [try GlobPattern("draft*")])
        #expect(rules.accepts(file: "a.mp4") && rules.accepts(file: "raw/x") && rules.accepts(file: "b/c.mp4"))
        #expect(
            !rules.accepts(file: "a.txt") && !rules.accepts(file: "draft.mp4") && !rules.accepts(file: "raw/draft1"))
    }

    /// Rows: the pattern, a path, and whether the pattern matches.
    @Test(arguments: [
        (".env", ".env", true), (".env", "a/.env", true), (".*", ".htaccess", true), ("*.part", "x.part", true),
        ("*.PART", "x.PART", true), ("*.{tmp,part}", "x.tmp", true), ("*.[pt]art", "x.part", true),
        ("*~", "x~", true), ("~$*", "~$Plan.docx", true), ("#*#", "#a#", true), ("*", ".env", false),
        ("*.docx", "~$Plan.docx", false), ("*", "x.part", false), ("*.part", ".x.part", false),
        (".*.part", ".x.part", true), ("?env", ".env", false), (".transfer-*", ".transfer-1-2", false),
        (".*", ".transfer-1-2", false), (".transfer-*", ".transfer-x", true),
    ])
    func aPatternThatWritesTheMarkTakesUnfinishedNames(pattern: String, path: String, isTaken: Bool) throws {
        #expect(WatchRules(include: [try GlobPattern(pattern)], isRecursive: true).accepts(file: path) == isTaken)
    }

    @Test func aPatternThatWritesAFoldersMarkEntersIt() throws {
        let rules = WatchRules(
            include: [try GlobPattern(".well-known/**"), try GlobPattern("*.txt")], isRecursive: true)
        #expect(rules.takes(file: ".well-known/acme/x") && rules.takes(file: "a/b.txt"))
        #expect(!rules.takes(file: ".git/a.txt") && !rules.takes(file: "a/.well-known/x"))
    }

    @Test func excludeOverridesInclude() throws {
        let rules = WatchRules(include: [try GlobPattern(".*")], exclude: [try GlobPattern(".env")])
        #expect(rules.accepts(file: ".htaccess") && !rules.accepts(file: ".env"))
    }

    @Test func aFolderThatIsSentAsItIsHasNoUnfinishedNames() throws {
        let rules = WatchRules(exclude: [try GlobPattern("*.tmp")], isRecursive: true, leavesUnfinished: false)
        for path in [".htaccess", ".well-known/acme", "a.part", "README~"] { #expect(rules.takes(file: path)) }
        #expect(!rules.takes(file: "x.tmp"))
    }

    @Test func excludedFoldersAreNotEntered() throws {
        let rules = WatchRules(exclude: [try GlobPattern("build"), try GlobPattern("cache/")], isRecursive: true)
        #expect(rules.enters(folder: "src") && rules.enters(folder: "src/a"))
        #expect(!rules.enters(folder: "src/build") && !rules.enters(folder: "cache"))
        #expect(rules.takes(file: "src/a/x") && !rules.takes(file: "src/build/a/x") && !rules.takes(file: "a/../x"))
        // A pattern with a trailing slash matches folders only.
        #expect(rules.accepts(file: "cache") && !rules.accepts(file: "build"))
    }

    @Test func entersNoFolderUnlessRecursiveAndNoTemporaryOne() {
        #expect(!WatchRules().enters(folder: "a") && !WatchRules().takes(file: "a/x") && WatchRules().takes(file: "x"))
        let rules = WatchRules(isRecursive: true)
        #expect(!rules.enters(folder: ".git") && !rules.enters(folder: "a/new.tmp") && rules.enters(folder: "a/new"))
    }
}
